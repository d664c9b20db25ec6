"""What a picture shows, as text and numbers."""

import numpy as np
from matplotlib.colors import to_hex


def plain(text):
    return text.replace("\n", " ").replace("\N{MINUS SIGN}", "-").replace("\N{EN SPACE}", " ")


def written(ax):
    """The values beside marks."""
    return [plain(text.get_text()) for text in ax.texts]


def row_names(ax):
    return [plain(label.get_text()) for label in ax.get_yticklabels()]


def explained(ax):
    """What the lines below a panel say, with their colours."""
    texts = ax.get_legend().get_texts()
    return {plain(text.get_text()): to_hex(text.get_color()) for text in texts}


def marks(ax):
    """Values of means with intervals."""
    return [float(bar.lines[0].get_xdata()[0]) for bar in ax.containers]


def mark_colours(ax):
    return [bar.lines[0].get_color() for bar in ax.containers]


def intervals(ax):
    """Intervals of means; NaN if none is drawn."""
    found = []
    for bar in ax.containers:
        segment = bar.lines[2][0].get_segments()[0]
        found.append(segment[:, 0].tolist() if len(segment) else [np.nan, np.nan])
    return found


def highlighted(ax):
    """The rows with a band."""
    # Matplotlib before 3.9 draws bands as polygons.
    lower_ends = [band.get_extents().transformed(ax.transData.inverted()) for band in ax.patches]
    return [round(min(box.y0, box.y1) + 0.5) for box in lower_ends]


def widths(ax):
    """Lengths of bars."""
    return [bar.get_width() for bar in ax.patches]


def edges(ax):
    """Both ends of each histogram."""
    return [tuple(area.get_data().edges[[0, -1]]) for area in ax.patches]


def tick_texts(axis):
    return [label.get_text() for label in axis.get_ticklabels()]

"""Axes, colours and labels that all displays share."""

from __future__ import annotations

from typing import Any

# Colours of Okabe and Ito (2008), which colour-blind readers can tell apart; with them go markers or line styles, so
# that a print in grey can be read too. Their yellow is too pale for lines on white and left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINE_STYLES = ("-", "--", "-.", ":")


def axes(display: Any, ax: Any, **figure: Any) -> Any:
    """Take the axes given or those of a new figure, and note both in the display, as scikit-learn's displays do."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            f"{type(display).__name__}.plot needs matplotlib (pip install matplotlib); the attributes of the "
            "display hold what it would draw."
        ) from None
    if ax is None:
        ax = plt.subplots(layout="constrained", **figure)[1]
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def next_curve(ax: Any) -> int:
    """Count the curves that other displays drew into the axes, so that the next one looks different."""
    return len(ax.get_lines())


def add_legend(ax: Any, **where: Any) -> None:
    """Name the curves, where any has a name."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, **where)


def with_direction(label: str, greater_is_better: bool) -> str:
    """Add to the label of an axis where smaller values are better."""
    return label if greater_is_better else f"{label} (lower is better)"

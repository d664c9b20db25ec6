"""The look of all pictures, decided in one place: themes, type, grid, panels, rows of names and direct labels."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._output.table import visible

# Width of new figures, and below which panels are stacked, in inches.
WIDTH, _NARROW = 8.0, 6.0
# Heights in inches: a row, a line of a name, a line of smaller text, and the axis below the rows.
_ROW, _LINE, _SMALL_LINE, _AXIS = 0.34, 0.195, 0.17, 0.65
# Longer names are wrapped, in wide and in narrow pictures; longer labels of axes and lines below a panel, too.
_NAME_WIDTHS, _LABEL_WIDTH, BELOW_WIDTH = (36, 17), 36, 31
WEIGHTS = {True: "bold", False: "normal"}
# Added to labels of axes; the name of a metric does not tell which values are better.
DIRECTION = {True: "", False: "\n(lower is better)"}


@dataclass(frozen=True)
class Theme:
    """Colours for light or dark backgrounds, with the same meaning in all pictures and on pages.

    Their contrast with the background is at least 3:1, and 4.5:1 for those of text: ``ink`` and ``soft``.
    """

    ink: str
    soft: str  # labels of axes, and what is worse
    rule: str  # the grid
    best: str  # what is best, or cannot be distinguished from it
    alarm: str  # losses and leaks
    second: str  # further curves
    third: str

    @property
    def curves(self) -> tuple[str, ...]:
        """Colours of curves, the best first, which remain distinct with each kind of colour blindness."""
        return self.best, self.second, self.third


LIGHT = Theme("#1a1a1a", "#5c5c5c", "#dedede", "#0072b2", "#c44e00", "#7b1e86", "#5b21d6")
DARK = Theme("#e8e8e8", "#a6a6a6", "#3d4148", "#56b4e9", "#f0954a", "#2bead2", "#d946ef")


def theme() -> Theme:
    """Colours that suit the background, which is dark if matplotlib's text is light."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    ink = rcParams["text.color"]
    is_dark = sum(to_rgb(ink)) > 1.5
    return replace(DARK if is_dark else LIGHT, ink=ink)


def settings(look: Theme) -> dict[str, Any]:
    """Settings of matplotlib that belong to a theme."""
    return dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), look.ink)


def variables(look: Theme) -> dict[str, str]:
    """Variables of CSS with the colours of a theme."""
    return {f"--skrank-{name}": colour for name, colour in asdict(look).items()}


class _Canvas(NamedTuple):
    """What new figures are for."""

    width: float = WIDTH
    is_titled: bool = True
    is_hidden: bool = False  # for a file or a page, and not shown


_SHOWN = _Canvas()
_canvas: ContextVar[_Canvas] = ContextVar("canvas", default=_SHOWN)


@contextmanager
def offscreen(width: float, look: Theme = LIGHT, *, titled: bool = True) -> Iterator[None]:
    """Draw in this width in inches and this theme, into figures that no window or notebook shows."""
    from matplotlib import rc_context

    token = _canvas.set(_Canvas(width, titled, is_hidden=True))
    try:
        # Text stays text, and is as wide as that of common fonts of pages at most.
        rc: Any = {
            **settings(look),
            "svg.fonttype": "none",
            "svg.hashsalt": f"skrank {width}",  # ids of two drawings on a page differ
            "font.size": 10,
        }
        with rc_context(rc):
            yield
    finally:
        _canvas.reset(token)


def new_figure(height: float, stacked_height: float, n_panels: float) -> Any:
    """An empty figure, of one of these heights in inches, and wider for more than three panels of usual width."""
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    width, _, is_hidden = _canvas.get()
    if is_narrow():
        height = stacked_height
    else:
        width *= max(1, 0.4 + 0.2 * n_panels)
    # A figure made by pyplot would be shown by notebooks, and stay in memory until it is closed.
    make = Figure if is_hidden else plt.figure
    return make(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))


def is_narrow() -> bool:
    """Whether the picture is drawn for a phone."""
    return _canvas.get().width < _NARROW


def polish(ax: Any, grid: str = "x") -> Theme:
    """Draw a light grid in place of the frame, behind the data, on the background of the figure."""
    look = theme()
    ax.patch.set_visible(False)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    ax.grid(visible=True, axis=grid, color=look.rule, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(length=0, labelsize="small", labelcolor=look.soft)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=look.soft, size="small")
    return look


# Text


def plain(text: str) -> str:
    """A text that matplotlib draws as it is, without control characters and formulas."""
    # matplotlib reads what is between two dollar signs as a formula.
    return visible(text).replace("$", r"\$")


def spelled(number: float, spec: str = "z.4f") -> str:
    """A number with the digits of the tables, and a true minus sign."""
    return format(number, spec).replace("-", "\N{MINUS SIGN}")


def signed(number: float) -> str:
    """The same with its sign."""
    return spelled(number, "+z.4f")


class _Wrapper(textwrap.TextWrapper):
    # Long words are broken after punctuation and between the words of class names.
    wordsep_simple_re = re.compile(r"(\s+|(?<=[=,/_])(?=\w)|(?<=[a-z])(?=[A-Z]))")


def broken(text: str, width: int = _LABEL_WIDTH) -> str:
    """A text on several lines if it is long, broken at spaces, and in longer words at other places."""
    # textwrap would treat line breaks of the text as blanks.
    lines = list[str]()
    for line in text.split("\n"):
        for part in textwrap.wrap(
            plain(line), width, break_long_words=False, break_on_hyphens=False
        ):
            lines += _Wrapper(width, break_on_hyphens=False).wrap(part)
    return "\n".join(lines)


def wrapped(names: Sequence[str]) -> list[str]:
    """Names of rows."""
    return [broken(name, _NAME_WIDTHS[is_narrow()]) for name in names]


def height_of(names: Sequence[str], row: float = _ROW) -> float:
    """Height of a figure with one row per name, each of this height or as high as the longest name needs, in inches."""
    most_lines = max(1 + name.count("\n") for name in wrapped(names))
    return _AXIS + len(names) * max(row, 0.1 + _LINE * most_lines)


def height_below(texts: Sequence[str]) -> float:
    """Height of a legend with these texts, in inches."""
    return _SMALL_LINE * sum(1 + text.count("\n") for text in texts)


def height_of_title(text: str) -> float:
    """Height of a title of a figure of usual width, in inches; 0 on pages, which have their own."""
    if not (text and _canvas.get().is_titled):
        return 0.0
    return _LINE * (2 + _title(text, WIDTH).count("\n"))


def entitle(figure: Any, text: str) -> None:
    """Put a title above the panels, flush left."""
    if height_of_title(text):
        figure.suptitle(_title(text, figure.get_figwidth()), x=0.012, ha="left", size="medium")


def _title(text: str, width: float) -> str:
    return textwrap.fill(plain(text), int(11 * width))


# Marks


def draw_rows(
    ax: Any, names: Sequence[str], colours: Sequence[str] = (), *, bold: Sequence[int] = ()
) -> None:
    """Put the names beside their rows, the first on top."""
    from matplotlib.ticker import MaxNLocator

    ax.set_yticks(range(len(names)), wrapped(names))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", labelsize="medium")
    inks = colours or [theme().ink] * len(names)
    for row, label in enumerate(ax.get_yticklabels()):
        label.set(color=inks[row], weight=WEIGHTS[row in bold])
    ax.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))


def mark_mean(ax: Any, mean: float, row: float, ends: tuple[float, float], **look: Any) -> None:
    """Mark a mean, with its interval if it has one."""
    ax.errorbar(mean, row, xerr=np.abs(np.subtract(ends, mean))[:, None], fmt="o", **look)


def write_beside(
    ax: Any,
    place: tuple[float, float],
    text: str,
    colour: str,
    *,
    is_bold: bool = False,
    **options: Any,
) -> None:
    """Write a value beside its mark."""
    look = {"color": colour, "size": "small", "weight": WEIGHTS[is_bold]}
    look |= {"ha": "left", "va": "center"}
    ax.annotate(
        text,
        place,
        xytext=(7, 0),
        textcoords="offset points",
        annotation_clip=False,
        **look,
        **options,
    )


def explain_below(ax: Any) -> None:
    """Put the labels of what was drawn below the panel, each in its colour."""
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(0, 0),
        frameon=False,
        fontsize="small",
        labelcolor="linecolor",
        handlelength=0,
        markerscale=0,
        handletextpad=0,
        borderaxespad=0.3,
    )


def label_ends(ax: Any, lines: Mapping[str, Any], bold: Sequence[str]) -> None:
    """Write the name of each line beside its end, apart from the other names."""
    from matplotlib import rcParams

    ends = {name: float(line.get_ydata()[-1]) for name, line in lines.items() if name}
    names = sorted(ends, key=ends.__getitem__)
    low, high = ax.get_ylim()
    points = ax.get_position(original=True).height * ax.figure.bbox.height * 72 / ax.figure.dpi
    # In units of the axis.
    line_height = 1.45 * 0.833 * float(rcParams["font.size"]) * (high - low) / points
    texts = wrapped(names)
    heights = np.array([line_height * (1 + text.count("\n")) for text in texts])
    # Where the middle of each name is if all are stacked.
    above = np.cumsum(heights) - heights / 2
    # Empty arrays would be of integers.
    wanted = np.array([ends[name] for name in names], dtype=float) - above
    shifts = np.clip(np.maximum.accumulate(wanted), low, high - heights.sum())
    for name, text, y in zip(names, texts, shifts + above, strict=True):
        colour, beside = lines[name].get_color(), ("axes fraction", "data")
        write_beside(ax, (1, y), text, colour, is_bold=name in bold, xycoords=beside)

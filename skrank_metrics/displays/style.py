"""The look of all pictures, decided in one place: themes, type, grid, panels, rows of names and direct labels."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from skrank_metrics._output.table import visible

# Width of new figures, and below which panels are stacked, in inches.
WIDTH, _NARROW = 8.0, 6.0
# Heights in inches: a row, a line of a name, a line of smaller text, and the axis below the rows.
_ROW, _LINE, _SMALL_LINE, _AXIS = 0.34, 0.195, 0.17, 0.65
# Longer names are wrapped, in wide and in narrow pictures.
_NAME_WIDTHS, _BELOW_WIDTH = (36, 17), 34
# More digits than in the tables are shown only if all digits there are 0.
_DIGITS, _MOST_DIGITS = 4, 8
_HUMP = re.compile("(?<=_)(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])")
# Added to labels of axes; the name of a metric does not tell which values are better.
DIRECTION = {True: "", False: " (lower is better)"}
# Width of new figures, whether they have a title, and whether they are for a file or a page and not shown.
_canvas: ContextVar[tuple[float, bool, bool]] = ContextVar("canvas", default=(WIDTH, True, False))


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
        """Colours of curves of equal rank, which remain distinct with each kind of colour blindness."""
        return self.best, self.alarm, self.second, self.third


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


@contextmanager
def offscreen(width: float, look: Theme = LIGHT, *, titled: bool = True) -> Iterator[None]:
    """Draw in this width in inches and this theme, into figures that no window or notebook shows."""
    from matplotlib import rc_context

    token = _canvas.set((width, titled, True))
    try:
        # Text stays text, and is as wide as that of common fonts of pages at most.
        rc: Any = {
            **settings(look),
            "svg.fonttype": "none",
            "svg.hashsalt": "skrank",
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
    make = Figure if is_hidden else plt.figure
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return make(figsize=(width, height), layout=layout)


def is_narrow() -> bool:
    """Whether the picture is drawn for a phone."""
    return _canvas.get()[0] < _NARROW


def polish(ax: Any, grid: str = "x") -> Theme:
    """Draw a light grid in place of the frame, and labels that stay behind the data."""
    look = theme()
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    ax.grid(visible=True, axis=grid, color=look.rule, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(length=0, labelsize="small", labelcolor=look.soft)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=look.soft, size="small")
    return look


def plain(text: str) -> str:
    """A text that matplotlib draws as it is, without control characters and formulas."""
    return visible(text).replace("$", r"\$")


def wrapped(names: Sequence[str], width: int | None = None) -> list[str]:
    """Names on several lines where they are long, broken at spaces, and longer words after punctuation."""
    width = width or _NAME_WIDTHS[is_narrow()]
    return ["\n".join(_filled(plain(line), width) for line in name.split("\n")) for name in names]


def _filled(line: str, width: int) -> str:
    # A NUL is a place to break without a space: in long words after punctuation, in long parts at humps, too.
    line = re.sub(
        rf"\S{{{width},}}", lambda word: re.sub(r"(?<=[(=,/])(?=\w)", "\0", word[0]), line
    )
    line = re.sub(rf"[^\s\0]{{{width},}}", lambda part: _HUMP.sub("\0", part[0]), line)
    wrapper = textwrap.TextWrapper(width, break_on_hyphens=False)
    wrapper.wordsep_simple_re = re.compile(r"([ \0]+)")
    return wrapper.fill(line).replace("\0", "")


def height_of(names: Sequence[str], row: float = _ROW) -> float:
    """Height of a figure with one row per name, of this height or as high as two neighbours need, in inches."""
    n_lines = [1 + name.count("\n") for name in wrapped(names)]
    # There is some room above and below.
    needed = 0.8 * max(n_lines[0], n_lines[-1])
    for neighbours in pairwise(n_lines):
        needed = max(needed, sum(neighbours) / 2)
    return _AXIS + len(names) * max(row, 0.1 + _LINE * needed)


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
        label.set(color=inks[row], weight="bold" if row in bold else "normal")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))


def mark_mean(ax: Any, mean: float, row: float, ends: tuple[float, float], **look: Any) -> None:
    """Mark a mean, with its interval if it has one."""
    ax.errorbar(mean, row, xerr=np.abs(np.subtract(ends, mean))[:, None], fmt="o", **look)


def write_beside(
    ax: Any, place: tuple[float, float], text: str, colour: str, **options: Any
) -> None:
    """Write a value beside its mark."""
    look = {
        "color": colour,
        "size": "small",
        "ha": "left",
        "va": "center",
        "annotation_clip": False,
    }
    ax.annotate(text, place, xytext=(7, 0), textcoords="offset points", **look, **options)


def write_below(ax: Any, lines: Sequence[tuple[str, str]]) -> None:
    """Write lines of text, each with its colour, in place of the label of the horizontal axis."""
    from matplotlib import rcParams

    size, below = 0.833 * float(rcParams["font.size"]), 6.0
    for text, colour in lines:
        (text,) = wrapped([text], _BELOW_WIDTH)
        place = {
            "xytext": (0, -below),
            "textcoords": "offset points",
            "va": "top",
            "annotation_clip": False,
        }
        ax.annotate(text, (0, 0), xycoords="axes fraction", color=colour, size="small", **place)
        below += 1.45 * size * (1 + text.count("\n"))


def height_below(texts: Sequence[str]) -> float:
    """Height of lines that write_below writes, in inches."""
    return _SMALL_LINE * sum(1 + text.count("\n") for text in wrapped(texts, _BELOW_WIDTH))


def height_of_title(text: str) -> float:
    """Height of a title of a figure of usual width, in inches; 0 on pages, which have their own."""
    _, is_titled, _ = _canvas.get()
    if not (text and is_titled):
        return 0.0
    return _LINE * (2 + _title(text, WIDTH).count("\n"))


def entitle(figure: Any, text: str) -> None:
    """Put a title above the panels, flush left."""
    if height_of_title(text):
        figure.suptitle(_title(text, figure.get_figwidth()), x=0.012, ha="left", size="medium")


def _title(text: str, width: float) -> str:
    return textwrap.fill(plain(text), int(11 * width))


def highlight(ax: Any, row: int, *, across: bool) -> None:
    """Put a band behind a row, on request across the figure, behind its other panels, too."""
    from matplotlib.transforms import blended_transform_factory

    band = ax.axhspan(row - 0.5, row + 0.5, color=theme().best, alpha=0.1, linewidth=0, zorder=0)
    if across:
        place = blended_transform_factory(ax.figure.transSubfigure, ax.transData)
        band.set(transform=place, clip_on=False, in_layout=False)
        for panel in ax.figure.axes:
            panel.patch.set_visible(False)  # it would cover the band


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
        weight = "bold" if name in bold else "normal"
        place = {"xycoords": ("axes fraction", "data"), "weight": weight}
        write_beside(ax, (1, y), text, lines[name].get_color(), **place)


def count_ticks(first: float, last: float) -> list[float]:
    """Ticks at round ranks, and at 1 if they start there."""
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=8, steps=[1, 2, 5, 10], integer=True)
    ticks = {float(tick) for tick in locator.tick_values(first, last) if first <= tick <= last}
    if first == 1:
        ticks.add(1.0)
    return sorted(ticks)


def spell(*numbers: float, signed: bool = False) -> Callable[[float], str]:
    """Format of numbers with true minus signs and enough digits to show the sign of each that is not 0."""
    digits = _DIGITS
    for number in numbers:
        if number and math.isfinite(number):
            digits = max(digits, math.ceil(-math.log10(abs(number))))
    digits = min(digits, _MOST_DIGITS)
    sign = "+" if signed else ""
    return lambda number: f"{number:{sign}z.{digits}f}".replace("-", "\N{MINUS SIGN}")

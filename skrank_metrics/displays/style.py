"""The look of all pictures, decided in one place: themes, type, grid, panels, rows of names and direct labels."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from skrank_metrics._output.result import visible

# Width of new figures, in inches.
WIDTH = 8.0
# Heights in inches: a row, a line of text, and the axis below the rows.
_ROW, _LINE, _AXIS = 0.34, 0.195, 0.65
# Longer names and labels of axes are wrapped.
LONGEST = 36
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


LIGHT: Theme = Theme("#1a1a1a", "#5c5c5c", "#dedede", "#0072b2", "#c44e00", "#7b1e86", "#5b21d6")
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


# True while drawing to a file or a page; otherwise, windows or notebooks show the figures.
_is_hidden: ContextVar[bool] = ContextVar("is_hidden", default=False)


@contextmanager
def offscreen(look: Theme = LIGHT) -> Iterator[None]:
    """Draw in this theme, into figures that no window or notebook shows."""
    from matplotlib import rc_context

    token = _is_hidden.set(True)
    try:
        # Text stays text, and is as wide as that of common fonts of pages at most.
        rc: Any = {
            **settings(look),
            "svg.fonttype": "none",
            "svg.hashsalt": "skrank",  # the same ids each time
            "font.size": 10,
        }
        with rc_context(rc):
            yield
    finally:
        _is_hidden.reset(token)


def new_panels(height: float, n_panels: int, title: str) -> list[Any]:
    """Axes in a new figure, with panels of this height in inches below a title; wider for more than three panels."""
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # A figure made by pyplot would be shown by notebooks, and stay in memory until it is closed.
    make = Figure if _is_hidden.get() else plt.figure
    width = WIDTH * max(1, n_panels / 3)
    text = textwrap.fill(plain(title), int(11 * width))
    if title:
        height += height_of_lines([text])
    figure = make(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
    figure.suptitle(text, x=0.012, ha="left", size="medium")
    axes = figure.subplots(1, n_panels, sharey="row", squeeze=False)
    return list(axes.flat)


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


def with_sign(number: float) -> str:
    """The same with its sign."""
    return spelled(number, "+z.4f")


def broken(text: str) -> str:
    """A text on several lines if it is long."""
    # Wrapping would treat line breaks of the text as blanks.
    lines = list[str]()
    for line in text.split("\n"):
        lines += wrapped(plain(line), LONGEST)
    return "\n".join(lines)


class _Wrapper(textwrap.TextWrapper):
    # Class names may also break between their words.
    wordsep_simple_re = re.compile(r"(\s+|(?<=[a-z])(?=[A-Z]))")


def wrapped(text: str, width: int) -> list[str]:
    """Lines of a text; words that are longer are broken."""
    return _Wrapper(width, break_on_hyphens=False).wrap(text)


def height_of(names: Sequence[str], row: float = _ROW) -> float:
    """Height of a figure with one row per name, each of this height or as high as the longest name needs, in inches."""
    highest = max(height_of_lines([broken(name)]) for name in names)
    return _AXIS + len(names) * max(row, 0.1 + highest)


def height_of_lines(texts: Sequence[str]) -> float:
    """Height of texts below each other, in inches."""
    return _LINE * sum(1 + text.count("\n") for text in texts)


def height_below(labels: Sequence[str]) -> float:
    """What labels of axes side by side need below the rows, beyond their first line, in inches."""
    n_lines = max(1 + label.count("\n") for label in labels)
    return 0.2 + _LINE * (n_lines - 2)


# Marks


def draw_rows(ax: Any, names: Sequence[str], colours: Sequence[str] = ()) -> None:
    """Put the names beside their rows, the first on top."""
    from matplotlib.ticker import MaxNLocator

    ax.set_yticks(range(len(names)), map(broken, names))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", labelsize="medium", labelcolor=theme().ink)
    for label, colour in zip(ax.get_yticklabels(), colours, strict=False):
        label.set_color(colour)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))


def mark(
    ax: Any, row: float, value: float, ends: tuple[float, float], colour: str, shape: str = "o"
) -> None:
    """Mark a value, with its interval if it has one."""
    xerr = np.abs(np.subtract(ends, value))[:, None]
    ax.errorbar(value, row, xerr=xerr, fmt=shape, color=colour, markersize=5, elinewidth=2)


def mark_mean(
    ax: Any, row: float, mean: float, ends: tuple[float, float], colour: str, **look: Any
) -> None:
    """Mark a mean, and write it beside the mark."""
    mark(ax, row, mean, ends, colour)
    write_beside(ax, (np.nanmax([mean, *ends]), row), spelled(mean), colour, **look)


def write_beside(ax: Any, place: tuple[float, float], text: str, colour: str, **look: Any) -> None:
    """Write a value beside its mark."""
    look = {"size": "small", "va": "center", "annotation_clip": False, **look}
    ax.annotate(text, place, xytext=(7, 0), textcoords="offset points", color=colour, **look)


def write_above(ax: Any, place: float, text: str, colour: str) -> None:
    """Write what a vertical line stands for above it."""
    look = {"size": "small", "ha": "center", "va": "bottom", "annotation_clip": False}
    ax.annotate(text, (place, 1), xycoords=("data", "axes fraction"), color=colour, **look)


def explain(ax: Any) -> None:
    """Put the labels of what was drawn beside the panel, each in its colour."""
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1, 1),
        frameon=False,
        fontsize="small",
        labelcolor="linecolor",
        handlelength=1.2,
        handletextpad=0.5,
        borderaxespad=0.3,
    )

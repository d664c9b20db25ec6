"""Base of all displays: axes, styles, labels, reports of estimators, and shared parameter descriptions."""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from skrank_metrics._output.docstrings import SHARED, Text, entry, parameters, section
from skrank_metrics._sklearn_internals import warn_of_fitted
from skrank_metrics.model_selection.scorers import predict_scores
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport

# Each colour has a contrast of at least 3:1 on white and on backgrounds up to #1e1e1e, and any two remain distinct with
# each kind of colour blindness, as simulated by Machado et al. (2009). The first two are from Okabe and Ito (2008).
COLOURS = ("#0072B2", "#D55E00", "#00A69B", "#A67AFF", "#A64E59", "#9021FF")
# The same contrast, for less prominent parts.
GREY = "#808080"
# Curves of the same colour differ in the second property, since 5 and 7 have no factor in common with the 6 colours. It
# also keeps curves distinct when printed in grey. Neighbouring markers share a colour, so they differ most.
_CYCLES: dict[str, tuple[Any, ...]] = {
    "color": COLOURS,
    "marker": ("o", "^", "s", "X", "D", "P", "v"),
    "linestyle": ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1))),
}
# More digits than in the tables are shown only if all digits there are 0.
DIGITS, MOST_DIGITS = 4, 8
# Width of a character, and of a line with its gaps, per size of the font; height of a line likewise.
_CHARACTER, _HANDLE, _LINE = 0.58, 5.0, 1.5
# How much wider than usual new figures are, since legends are beside the axes.
WIDER = 1.25
# Font sizes of a legend, and the share of the width that it may take; the first that fits is used.
_SIZES = ((1.0, 0.4), (0.85, 0.45), (0.75, 0.5), (0.65, 0.55), (0.55, 0.55), (0.45, 0.55))

_TEXTS = SHARED | {
    "ax": (
        "matplotlib Axes",
        "Axes to draw into. None creates a new figure. A figure "
        "without a layout engine gets the constrained layout if it needs room beside the axes.",
    ),
    "line_kw": ("dict", "Properties of the line, a matplotlib ``Line2D``, such as color and linewidth."),
    "name": ("str", "Name of the model in the legend."),
    "names": ("tuple of str", "Names of the two models, which must differ."),
    "metric": ("str, metric function or bound metric", "Metric to compute, as in get_metric."),
    "report": ("RankingReport", "Report from evaluate or cross_evaluate."),
    "estimator": (
        "estimator object",
        "Fitted estimator. Ranks by the first of decision_function, predict_proba and predict that it has.",
    ),
    "X": ("array-like of shape (n_documents, n_features)", "Features."),
    "y": ("array-like of shape (n_documents,)", "Relevance labels, finite and >= 0."),
}
_INVALID_DATA = (
    "TypeError: If 1-D labels come without query ids, or an argument has the wrong type.",
    "ValueError: If the data, the metric or another argument is invalid.",
)
_NOT_INSTALLED = "ImportError: If matplotlib is not installed."

Method = TypeVar("Method", bound=Callable[..., Any])


def documented(*errors: str, **own: Text) -> Callable[[Method], Method]:
    """Complete the docstring of a method from its signature, with ``errors`` and ``own`` texts of this method."""

    def complete(method: Method) -> Method:
        signature = inspect.signature(method)
        display, _, name = method.__qualname__.partition(".")
        invalid = _INVALID_DATA if "qid" in signature.parameters else ()
        sections = (
            inspect.cleandoc(method.__doc__ or ""),
            parameters(signature, _TEXTS | own),
            section(
                "Returns", entry(f"display : {display}", "This object." if name == "plot" else "The drawn display.")
            ),
            section("Raises", *(entry(*error.split(": ", 1)) for error in (*errors, *invalid, _NOT_INSTALLED))),
        )
        method.__doc__ = "\n\n".join(sections) + "\n"
        return method

    return complete


def use_axes(display: Any, ax: Any, *, figsize: tuple[float, float] | None = None) -> Any:
    """Use the given axes or create a new figure, and store both in the display, as scikit-learn's displays do."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"{type(display).__name__}.plot needs matplotlib (pip install matplotlib).") from None
    if ax is None:
        width, height = plt.rcParams["figure.figsize"]
        ax = plt.subplots(layout="constrained", figsize=figsize or (WIDER * width, height))[1]
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def ink() -> str:
    """Colour of the text, which contrasts with the background in every style."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def next_style(ax: Any, second: str) -> dict[str, Any]:
    """Colour, and a second property, of the next curve; they differ from those of the curves already in the axes."""
    number = len(ax.get_lines())
    style = {name: _CYCLES[name][number % len(_CYCLES[name])] for name in ("color", second)}
    if second != "linestyle" and number >= len(COLOURS):  # a colour comes again, so with another line
        style["linestyle"] = _CYCLES["linestyle"][number // len(COLOURS) % len(_CYCLES["linestyle"])]
    return style


def legend_name(name: str | None) -> str | None:
    """A name for the legend, where matplotlib leaves out names that start with an underscore."""
    return f" {name}" if name and name.startswith("_") else name


def legend(ax: Any) -> None:
    """Put a legend beside the axes if any artist has a name. There, it covers nothing, and no title covers it.

    Names are wrapped, and the font shrinks until all of them fit into the height of the axes.
    """
    handles, names = ax.get_legend_handles_labels()
    if not names:
        return
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    room, figure = ax.get_position(original=True), ax.figure
    sides = room.width * figure.bbox.width, room.height * figure.bbox.height
    width, height = (72 / figure.dpi * side for side in sides)
    size, names = _fit(names, width, height, FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points())
    if not ax.get_subplotspec():  # no layout moves axes outside a grid
        ax.legend(handles, names, frameon=False, fontsize=size, loc="best")
        return
    ax.legend(handles, names, frameon=False, fontsize=size, loc="upper left", bbox_to_anchor=(1, 1))
    _make_room(figure)


def beside(ax: Any, texts: Sequence[str]) -> list[Any]:
    """Put one text per row to the right of the axes, where it covers nothing."""
    place = {"xycoords": ("axes fraction", "data"), "annotation_clip": False, "va": "center", "ha": "right"}
    offset = {"xytext": (7 * max(map(len, texts)), 0), "textcoords": "offset points"}
    found = [ax.annotate(text, (1, row), **place, **offset) for row, text in enumerate(texts)]
    _make_room(ax.figure)
    return found


def _make_room(figure: Any) -> None:
    if figure.figure.get_layout_engine() is None:
        figure.figure.set_layout_engine("constrained")


def _fit(names: list[str], width: float, height: float, usual: float) -> tuple[float, list[str]]:
    """Size of a legend's font and its wrapped names, for axes of this width and height in points."""
    for size, share in ((usual * smaller, share) for smaller, share in _SIZES):
        wrapper = _Wrapper(max(12, int((share * width / size - _HANDLE) / _CHARACTER)), break_on_hyphens=False)
        wrapped = [wrapper.fill(name) for name in names]
        if sum(1 + name.count("\n") for name in wrapped) * size * _LINE <= height:
            break
    return size, wrapped


class _Wrapper(textwrap.TextWrapper):
    # Names of models may also break after punctuation, such as in "Ranker(num_leaves=31,learning_rate=0.1)".
    wordsep_simple_re = re.compile(r"(\s+|(?<=[(=,/_])(?=\w))")


def count_ticks(first: float, last: float) -> list[float]:
    """Ticks at round numbers of ranks or folds, and at 1 if they start there."""
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=8, steps=[1, 2, 5, 10], integer=True)
    between = [float(tick) for tick in locator.tick_values(first, last) if max(1, first) < tick <= last]
    return [1.0, *between] if first == 1 else between


def decimals(*numbers: float) -> int:
    """Number of decimals that show the first digit, and hence the sign, of every number except 0."""
    nonzero = [abs(number) for number in numbers if number and math.isfinite(number)]
    return min(MOST_DIGITS, max([DIGITS, *(math.ceil(-math.log10(number)) for number in nonzero)]))


def with_direction(label: str, greater_is_better: bool) -> str:
    """Add to the label of an axis that smaller values are better, if they are."""
    return label if greater_is_better else f"{label} (lower is better)"


def report_of_estimator(estimator: Any, X: Any, y: Any, *, qid: Any, metrics: Any) -> tuple[RankingReport, str]:
    """Evaluate a fitted estimator, and name it; warn if it was fitted on some of the queries, as the scorers do."""
    scores = predict_scores(estimator, X)
    report = evaluate(y, scores, qid=qid, metrics=metrics)
    warn_of_fitted(scores, report.qid, report.documents[0])
    # Name it after the class of the model inside a search, a Pipeline or a QueryRanker.
    while hasattr(estimator, "steps") or hasattr(estimator, "estimator"):
        estimator = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator.estimator
    return report, type(estimator).__name__

"""What all displays share: axes, styles, labels, reports of estimators and the texts of their parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from skrank_metrics._output.docstrings import SHARED, Text, entry, parameters, section
from skrank_metrics._sklearn_internals import warn_of_fitted
from skrank_metrics.model_selection.scorers import predict_scores
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport

# Okabe and Ito (2008) chose these colours for colour-blind readers; markers and line styles keep curves distinct in a
# grey print too. Their yellow is left out, as it is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_CYCLES = {
    "color": COLOURS,
    "marker": ("o", "s", "^", "D", "v", "P", "X"),
    "linestyle": ("-", "--", "-.", ":"),
}

_TEXTS = SHARED | {
    "ax": ("matplotlib Axes", "Axes to draw into. None creates a new figure."),
    "line_kw": ("dict", "Properties of the line, a matplotlib ``Line2D``, such as color and linewidth."),
    "name": ("str", "Name of the model in the legend."),
    "names": ("tuple of str", "Names of the two models, which must differ."),
    "metric": ("str, metric function or bound metric", "Metric to compute, as get_metric takes it."),
    "report": ("RankingReport", "Report from evaluate or cross_evaluate."),
    "estimator": (
        "estimator object",
        "Fitted estimator. Documents are ranked by its decision_function, predict_proba or predict, the first it has.",
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
    """Complete the docstring of a method from its signature; ``errors`` and ``own`` texts are those of this method."""

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


def use_axes(display: Any, ax: Any, **figure: Any) -> Any:
    """Take the given axes or those of a new figure, and keep both in the display, as scikit-learn's displays do."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"{type(display).__name__}.plot needs matplotlib (pip install matplotlib).") from None
    if ax is None:
        ax = plt.subplots(layout="constrained", **figure)[1]
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def next_style(ax: Any, second: str) -> dict[str, Any]:
    """Colour, and a second property, of the next curve; they differ from those of the curves already in the axes."""
    number = len(ax.get_lines())
    return {name: _CYCLES[name][number % len(_CYCLES[name])] for name in ("color", second)}


def legend(ax: Any, **where: Any) -> None:
    """Add a legend if any curve has a name."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, **where)


def with_direction(label: str, greater_is_better: bool) -> str:
    """Add to the label of an axis that smaller values are better, if so."""
    return label if greater_is_better else f"{label} (lower is better)"


def report_of_estimator(estimator: Any, X: Any, y: Any, *, qid: Any, metrics: Any) -> tuple[RankingReport, str]:
    """Evaluate a fitted estimator, and name it; warn if it was fitted on some of the queries, as the scorers do."""
    scores = predict_scores(estimator, X)
    report = evaluate(y, scores, qid=qid, metrics=metrics)
    warn_of_fitted(scores, report.qid, report.documents[0])
    # The class says most of the model inside a search, a Pipeline or a QueryRanker.
    while hasattr(estimator, "steps") or hasattr(estimator, "estimator"):
        estimator = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator.estimator
    return report, type(estimator).__name__

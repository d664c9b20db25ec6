"""Two rankings of the same queries, query by query."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.result import counted
from skrank_metrics.displays._base import (
    COLOURS,
    decimals,
    documented,
    ink,
    legend,
    report_of_estimator,
    use_axes,
    with_direction,
)
from skrank_metrics.reports.compare import compare
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport

# Names of models can be longer than an axis.
LABEL_WIDTH = 48


class ComparisonDisplay:
    """Differences of a metric between two models, sorted, with their mean and its interval.

    Create it with ``from_predictions``, ``from_estimator`` or ``from_comparison``. The area above zero shows the
    queries for which the first model has the larger value, the area below zero those for which the second does.

    Parameters
    ----------
    differences : array-like of float of shape (n_queries,)
        Value of the first model minus that of the second for each query.
    mean : float
        Mean of the differences.
    interval : tuple of float
        Lower and upper end of the interval of the mean.
    metric : str
        Name of the metric.
    names : tuple of str, default=("first", "second")
        Names of the models.
    greater_is_better : bool, default=True
        Whether larger values are better.
    confidence : float, default=0.95
        Confidence level of the interval, for the legend.

    Attributes
    ----------
    areas_ : list of matplotlib PolyCollection
        Differences in favour of the first model and of the second.
    line_ : matplotlib Line2D
        Line at the mean.
    band_ : matplotlib Polygon
        Band of the interval.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    compare : Compare any number of models, in numbers.

    Examples
    --------
    The relevant document of query "b" is at rank 1 for the first model and at rank 2 for the second:

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import ComparisonDisplay
    >>> y, qid = [1, 0, 1, 0], ["a", "a", "b", "b"]
    >>> display = ComparisonDisplay.from_predictions(y, [2, 1, 2, 1], [2, 1, 1, 2], qid=qid, metric="mrr")
    >>> display.differences, display.mean
    (array([0. , 0.5]), 0.25)
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        differences: Any,
        mean: float,
        interval: tuple[float, float],
        *,
        metric: str,
        names: tuple[str, str] = ("first", "second"),
        greater_is_better: bool = True,
        confidence: float = 0.95,
    ) -> None:
        self.differences: FloatArray = np.asarray(differences, dtype=np.float64)
        self.mean = mean
        self.interval = interval
        self.metric = metric
        self.names = names
        self.greater_is_better = greater_is_better
        self.confidence = confidence

    @documented()
    def plot(self, ax: Any = None, *, line_kw: Mapping[str, Any] | None = None) -> ComparisonDisplay:
        """Draw the differences, with a line at their mean."""
        ax = use_axes(self, ax)
        first, second = self.names
        heights = np.sort(self.differences)[::-1]
        better = heights if self.greater_is_better else -heights
        self.areas_ = []
        for name, colour, shown in ((first, COLOURS[0], better > 0), (second, COLOURS[1], better < 0)):
            label = f"{name} better: {counted(int(shown.sum()), 'query')}"
            steps = np.append(np.where(shown, heights, 0.0), 0.0)  # the last query is as wide as the others
            area = {"step": "post", "color": colour, "linewidth": 0, "label": label}
            self.areas_.append(ax.fill_between(range(len(steps)), steps, **area))
        if n_equal := int((heights == 0).sum()):
            ax.plot([], [], linestyle="none", label=f"equal: {counted(n_equal, 'query')}")
        self.line_ = ax.axhline(
            self.mean, **{"color": ink(), "linewidth": 1.2, "label": self._verdict, **(line_kw or {})}
        )
        low, high = self.interval
        self.band_ = ax.axhspan(low, high, color=self.line_.get_color(), alpha=0.25, linewidth=0)
        ylabel = with_direction(f"{self.metric}: {first} minus {second}", self.greater_is_better)
        ylabel = textwrap.fill(ylabel, LABEL_WIDTH)
        ax.set(xlabel="queries, sorted by difference", ylabel=ylabel, xlim=(0, len(heights)))
        ax.xaxis.get_major_locator().set_params(integer=True)
        legend(ax)
        return self

    @property
    def _verdict(self) -> str:
        """The mean and its interval, with enough digits to show their signs."""
        low, high = self.interval
        spec = f"+z.{decimals(self.mean, low, high)}f"
        ends = "" if np.isnan(low) else f", {100 * self.confidence:g}% interval [{low:{spec}}, {high:{spec}}]"
        return f"mean {self.mean:{spec}}{ends}"

    @classmethod
    @documented(
        "ValueError: If the comparison has no such pair.",
        comparison=("Comparison", "Result of compare."),
        first=("str", "Name of the first model. None, for both, takes the first pair of the comparison."),
        second=("str", "Name of the second model, whose values are subtracted."),
    )
    def from_comparison(
        cls,
        comparison: Comparison,
        first: str | None = None,
        second: str | None = None,
        *,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> ComparisonDisplay:
        """Draw one pair of a comparison."""
        pair = comparison.pair(first, second)
        display = cls(
            pair.differences,
            pair.difference,
            pair.interval,
            metric=comparison.metric,
            names=(pair.first, pair.second),
            greater_is_better=comparison.greater_is_better,
            confidence=comparison.confidence,
        )
        return display.plot(ax, line_kw=line_kw)

    @classmethod
    @documented(
        first_score=("array-like of the shape of y_true", "Scores of the first model, largest first."),
        second_score=("array-like of the shape of y_true", "Scores of the second model, whose values are subtracted."),
    )
    def from_predictions(
        cls,
        y_true: Any,
        first_score: Any,
        second_score: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg@10",
        names: tuple[str, str] = ("first", "second"),
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> ComparisonDisplay:
        """Compute the differences between two rankings, and draw them."""
        reports = [evaluate(y_true, scores, qid=qid, metrics=[metric]) for scores in (first_score, second_score)]
        return cls._from_reports(reports, names, ax, line_kw)

    @classmethod
    @documented(
        first=("estimator object", "Fitted estimator, ranked by its decision_function, predict_proba or predict."),
        second=("estimator object", "Fitted estimator whose values are subtracted, ranked likewise."),
    )
    def from_estimator(
        cls,
        first: Any,
        second: Any,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg@10",
        names: tuple[str, str] | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> ComparisonDisplay:
        """Rank by the predictions of two fitted estimators, and draw the differences.

        The names default to the classes of the estimators, or to "first" and "second" if the classes are the same.
        """
        one, other = (report_of_estimator(model, X, y, qid=qid, metrics=[metric]) for model in (first, second))
        classes = one[1], other[1]
        names = names or (classes if len(set(classes)) == 2 else ("first", "second"))
        return cls._from_reports([one[0], other[0]], names, ax, line_kw)

    @classmethod
    def _from_reports(cls, reports: list[RankingReport], names: Any, ax: Any, line_kw: Any) -> ComparisonDisplay:
        if isinstance(names, str) or len(names) != 2 or len(set(names)) != 2:
            raise ValueError(f"names must be two different names; got {names!r}.")
        metric = next(iter(reports[0].mean))
        # The picture shows no p-value, so the cheapest test will do.
        comparison = compare(dict(zip(names, reports, strict=True)), metric, test="t")
        return cls.from_comparison(comparison, *names, ax=ax, line_kw=line_kw)

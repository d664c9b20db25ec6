"""The distribution of a metric over queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays._base import (
    decimals,
    documented,
    legend,
    legend_name,
    next_style,
    report_of_estimator,
    use_axes,
    with_direction,
)
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport


class QueryScoreDisplay:
    """Cumulative distribution of a metric: the share of queries with at most each value.

    Create it with ``from_predictions``, ``from_estimator`` or ``from_report``. Unlike a histogram, it needs no bins and
    shows how many queries are at exactly 0 or 1. To draw several models into one picture, pass the ``ax_`` of the first
    display to the others as ``ax``; they get different colours and line styles.

    Parameters
    ----------
    values : array-like of float of shape (n_queries,)
        Value of each query; NaN is left out.
    mean : float
        Mean to show in the legend.
    metric : str
        Name of the metric.
    weights : array-like of float of shape (n_queries,), default=None
        Weights of the queries.
    greater_is_better : bool, default=True
        Whether larger values are better. If not, the label of the axis says so.
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Curve of the distribution.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    ComparisonDisplay : The differences between two models, query by query.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import QueryScoreDisplay
    >>> y, qid = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> display = QueryScoreDisplay.from_predictions(y, [2, 1, 2, 1], qid=qid, metric="mrr")
    >>> display.values
    array([1. , 0.5])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        values: Any,
        mean: float,
        *,
        metric: str,
        weights: Any = None,
        greater_is_better: bool = True,
        name: str | None = None,
    ) -> None:
        self.values: FloatArray = np.asarray(values, dtype=np.float64)
        self.mean = mean
        self.metric = metric
        self.weights: FloatArray | None = None if weights is None else np.asarray(weights, dtype=np.float64)
        self.greater_is_better = greater_is_better
        self.name = name

    @documented("ValueError: If no query has a value.")
    def plot(
        self, ax: Any = None, *, name: str | None = None, line_kw: Mapping[str, Any] | None = None
    ) -> QueryScoreDisplay:
        """Draw the distribution. The name defaults to that of the display."""
        defined = ~np.isnan(self.values)
        if not defined.any():
            raise ValueError(f"values must hold a number for at least one query; {self.metric} is NaN for all.")
        ax, title = use_axes(self, ax), name or self.name
        mean = f"mean {self.mean:.{decimals(self.mean)}f}"
        label = mean if title is None else legend_name(f"{title} ({mean})")
        style = {**next_style(ax, "linestyle"), "label": label, **(line_kw or {})}
        self.line_ = ax.ecdf(self.values[defined], None if self.weights is None else self.weights[defined], **style)
        xlabel = with_direction(f"{self.metric} per query", self.greater_is_better)
        ax.set(xlabel=xlabel, ylabel="share of queries with at most this value")
        legend(ax)
        return self

    @classmethod
    @documented(
        "ValueError: If the report does not have the metric, or no query has a value.",
        metric=("str, metric function or bound metric", "Metric of the report. None means the first."),
    )
    def from_report(
        cls,
        report: RankingReport,
        *,
        metric: Any = None,
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> QueryScoreDisplay:
        """Draw the distribution of a metric of a report."""
        metric = next(iter(report.mean)) if metric is None else check_column(metric, report.metrics)
        display = cls(
            report.per_query[metric],
            report.mean[metric],
            metric=metric,
            weights=report.weights,
            greater_is_better=report.metrics[metric].greater_is_better,
            name=name,
        )
        return display.plot(ax, line_kw=line_kw)

    @classmethod
    @documented()
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg@10",
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> QueryScoreDisplay:
        """Compute a metric for each query, and draw its distribution."""
        report = evaluate(y_true, y_score, qid=qid, metrics=[metric])
        return cls.from_report(report, name=name, ax=ax, line_kw=line_kw)

    @classmethod
    @documented()
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg@10",
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> QueryScoreDisplay:
        """Rank by the predictions of a fitted estimator, and draw the distribution of a metric.

        The name defaults to the class of the estimator.
        """
        report, own_name = report_of_estimator(estimator, X, y, qid=qid, metrics=[metric])
        return cls.from_report(report, name=name or own_name, ax=ax, line_kw=line_kw)

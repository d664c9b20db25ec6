"""A metric against the cutoff rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, check_int
from skrank_metrics.displays._base import (
    count_ticks,
    documented,
    legend,
    legend_name,
    next_style,
    report_of_estimator,
    use_axes,
)
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport

# Longer curves have a marker at every second cutoff, or fewer.
MOST_MARKERS = 25
# Opacity of a band, and of all bands together, which would otherwise hide the curves if there are many models.
OPACITY, LARGEST_OPACITY = 0.15, 0.45

_METRIC = ("str, metric function or bound metric", "Metric without a cutoff, as in get_metric.")
_K = ("int or sequence of int", "Largest cutoff, at least 2, or a sequence of at least two cutoffs.")


class MetricAtKDisplay:
    """Curve of a metric against the cutoff rank k, with the 95% interval of its mean over queries.

    Create it with ``from_predictions``, ``from_estimator`` or ``from_report``. To draw several models into one picture,
    pass the ``ax_`` of the first display to the others as ``ax``; they get different colours and markers.

    Parameters
    ----------
    k : array-like of int of shape (n_cutoffs,)
        Cutoff ranks in ascending order.
    mean : array-like of float of shape (n_cutoffs,)
        Mean of the metric over queries at each cutoff.
    lower, upper : array-like of float of shape (n_cutoffs,)
        Ends of the intervals of the means.
    metric : str
        Name of the metric without a cutoff, such as "ndcg".
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Curve of the means.
    band_ : matplotlib PolyCollection
        Band of the intervals.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    QueryScoreDisplay : The distribution of a metric over queries.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import MetricAtKDisplay
    >>> y, qid = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> display = MetricAtKDisplay.from_predictions(y, [2, 1, 2, 1], qid=qid, metric="recall", k=[1, 2])
    >>> display.mean
    array([0.5, 1. ])
    >>> plt.close(display.figure_)
    """

    def __init__(self, k: Any, mean: Any, lower: Any, upper: Any, *, metric: str, name: str | None = None) -> None:
        self.k: IntArray = np.asarray(k, dtype=np.intp)
        self.mean: FloatArray = np.asarray(mean, dtype=np.float64)
        self.lower: FloatArray = np.asarray(lower, dtype=np.float64)
        self.upper: FloatArray = np.asarray(upper, dtype=np.float64)
        self.metric = metric
        self.name = name

    @documented()
    def plot(
        self, ax: Any = None, *, name: str | None = None, line_kw: Mapping[str, Any] | None = None
    ) -> MetricAtKDisplay:
        """Draw the curve. The name defaults to that of the display."""
        ax = use_axes(self, ax)
        every = max(1, len(self.k) // MOST_MARKERS)
        own = {"markersize": 5, "markevery": every, "label": legend_name(name or self.name)}
        style = next_style(ax, "marker") | own | dict(line_kw or {})
        (self.line_,) = ax.plot(self.k, self.mean, **style)
        colour = self.line_.get_color()
        self.band_ = ax.fill_between(self.k, self.lower, self.upper, color=colour, linewidth=0, gid="interval")
        bands = [band for band in ax.collections if band.get_gid() == "interval"]
        for band in bands:
            band.set_alpha(min(OPACITY, LARGEST_OPACITY / len(bands)))
        ax.set_xticks(count_ticks(*ax.dataLim.intervalx))
        ax.set(xlabel="cutoff rank k", ylabel=f"{self.metric}@k, mean over queries with 95% interval")
        legend(ax)
        return self

    @classmethod
    @documented("ValueError: If metric has a cutoff, or the report has fewer than two cutoffs of it.", metric=_METRIC)
    def from_report(
        cls,
        report: RankingReport,
        *,
        metric: Any = "ndcg",
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> MetricAtKDisplay:
        """Draw a metric at all cutoffs that a report has of it."""
        whole = str(_without_cutoff(metric))
        # Found by the name in the report, as a convention may have changed the parameters, or by the metric itself.
        names = {
            m.k: name
            for name, m in report.metrics.items()
            if m.k and whole in (name.removesuffix(f"@{m.k}"), str(m.replace(k=None)))
        }
        if len(names) < 2:
            raise ValueError(
                f"report must hold {whole} at two or more cutoffs, such as {whole}@1 and {whole}@10; got "
                f"{', '.join(report.mean)}."
            )
        k, intervals = sorted(names), report.intervals()
        lower, upper = zip(*(intervals[names[cutoff]] for cutoff in k), strict=True)
        display = cls(k, [report.mean[names[cutoff]] for cutoff in k], lower, upper, metric=whole, name=name)
        return display.plot(ax, line_kw=line_kw)

    @classmethod
    @documented(metric=_METRIC, k=_K)
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg",
        k: int | Sequence[int] = 20,
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> MetricAtKDisplay:
        """Compute a metric at several cutoffs from one ranking, and draw it."""
        report = evaluate(y_true, y_score, qid=qid, metrics=_at(metric, k))
        return cls.from_report(report, metric=metric, name=name, ax=ax, line_kw=line_kw)

    @classmethod
    @documented(metric=_METRIC, k=_K)
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg",
        k: int | Sequence[int] = 20,
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> MetricAtKDisplay:
        """Rank by the predictions of a fitted estimator, and draw a metric at several cutoffs.

        The name defaults to the class of the estimator.
        """
        report, own_name = report_of_estimator(estimator, X, y, qid=qid, metrics=_at(metric, k))
        return cls.from_report(report, metric=metric, name=name or own_name, ax=ax, line_kw=line_kw)


def _without_cutoff(metric: Any) -> BoundMetric:
    bound = get_metric(metric)
    if not bound.record.has_cutoff:
        raise ValueError(f"metric must be one that takes a cutoff, such as ndcg; got {bound}.")
    if bound.k is not None:
        raise ValueError(f"metric must be passed without a cutoff, as {bound.replace(k=None)}; got {bound}.")
    return bound


def _at(metric: Any, k: Any) -> list[BoundMetric]:
    bound = _without_cutoff(metric)
    cutoffs = list(k) if isinstance(k, Sequence | np.ndarray | range) else range(1, 1 + (check_int(k, "k", 2) or 0))
    if len(set(cutoffs)) < 2:
        raise ValueError(f"k must be an int >= 2 or hold at least two cutoffs; got {k!r}.")
    return [bound.replace(k=cutoff) for cutoff in dict.fromkeys(cutoffs)]

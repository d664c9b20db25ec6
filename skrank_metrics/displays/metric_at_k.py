"""A metric against the cutoff rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, check_int
from skrank_metrics.displays._drawing import COLOURS, MARKERS, add_legend, axes, next_curve
from skrank_metrics.displays._reports import name_of, report_of_estimator
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport


class MetricAtKDisplay:
    """Curve of a metric against the cutoff rank k, with the 95 % interval of its mean over queries.

    Made by ``from_predictions``, ``from_estimator`` or ``from_report``. Several models go into one picture where the
    ``ax_`` of the first is passed to the others as ``ax``: colours and markers then differ.

    Parameters
    ----------
    k : array-like of int of shape (n_cutoffs,)
        Cutoff ranks, ascending.
    mean : array-like of float of shape (n_cutoffs,)
        Mean of the metric over queries at each cutoff.
    lower : array-like of float of shape (n_cutoffs,)
        Lower ends of the intervals.
    upper : array-like of float of shape (n_cutoffs,)
        Upper ends of the intervals.
    metric : str
        Name of the metric without a cutoff, such as "ndcg".
    name : str, default=None
        Name of the model, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib PolyCollection
        The intervals.
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure with the axes.

    See Also
    --------
    QueryScoreDisplay : The distribution at one cutoff.

    Examples
    --------
    The relevant document is at rank 1 in query "a", at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import MetricAtKDisplay
    >>> display = MetricAtKDisplay.from_predictions(
    ...     [1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metric="recall", k=[1, 2]
    ... )
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

    def plot(
        self, ax: Any = None, *, name: str | None = None, line_kw: Mapping[str, Any] | None = None
    ) -> MetricAtKDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name of the model, for the legend; None takes that of the display.
        line_kw : dict, default=None
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        display : MetricAtKDisplay
            This object.

        Raises
        ------
        ImportError
            Where matplotlib is not installed.
        """
        ax = axes(self, ax)
        number = next_curve(ax)
        style = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": 4,
            "label": name or self.name,
            **(line_kw or {}),
        }
        (self.line_,) = ax.plot(self.k, self.mean, **style)
        band = {"color": self.line_.get_color(), "alpha": 0.15, "linewidth": 0}
        self.band_ = ax.fill_between(self.k, self.lower, self.upper, **band)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="cutoff rank k", ylabel=f"{self.metric}@k, mean over queries and 95 % interval")
        add_legend(ax, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        return self

    @classmethod
    def from_report(
        cls,
        report: RankingReport,
        *,
        metric: Any = "ndcg",
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> MetricAtKDisplay:
        """Draw the cutoffs of a metric that a report has, for example one of cross_evaluate.

        Parameters
        ----------
        report : RankingReport
            With the metric at two cutoffs at least, such as "ndcg@1" and "ndcg@10".
        metric : str, metric function or bound metric, default="ndcg"
            The metric, without a cutoff, by its name in the report.
        name : str, default=None
            Name of the model, for the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        display : MetricAtKDisplay
            Computed and drawn.

        Raises
        ------
        ValueError
            Where the report has fewer than two cutoffs of the metric.
        """
        whole = str(_without_cutoff(metric))
        # By its name in the report, where a convention may have changed the parameters, or by what it is.
        names = {
            m.k: name
            for name, m in report.metrics.items()
            if m.k and whole in (name.removesuffix(f"@{m.k}"), str(m.replace(k=None)))
        }
        if len(names) < 2:
            raise ValueError(
                f"report must have two cutoffs of {whole} at least, such as {whole}@1 and {whole}@10; got "
                f"{', '.join(report.mean)}."
            )
        k, intervals = sorted(names), report.intervals()
        lower, upper = zip(*(intervals[names[cutoff]] for cutoff in k), strict=True)
        display = cls(k, [report.mean[names[cutoff]] for cutoff in k], lower, upper, metric=whole, name=name)
        return display.plot(ax, line_kw=line_kw)

    @classmethod
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
        """Compute the metric at all cutoffs from one ranking, and draw it.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels, finite and >= 0. In 2-D each row is a query, and qid must be left out.
        y_score : array-like of the shape of y_true
            Scores to rank by, the largest first.
        qid : array-like of shape (n_documents,), default=None
            Query ids; None takes them from the index of ``y_true``, see with_qid.
        metric : str, metric function or bound metric, default="ndcg"
            The metric, without a cutoff, as in get_metric.
        k : int or sequence of int, default=20
            The largest cutoff, at least 2, or all of them.
        name : str, default=None
            Name of the model, for the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        display : MetricAtKDisplay
            Computed and drawn.

        Raises
        ------
        TypeError
            Where a 1-D y_true comes without query ids, or an argument is of the wrong type.
        ValueError
            Where the data, the metric or the cutoffs are not valid.
        """
        report = evaluate(y_true, y_score, qid=qid, metrics=_at(metric, k))
        return cls.from_report(report, metric=metric, name=name, ax=ax, line_kw=line_kw)

    @classmethod
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
        """Rank by the predictions of a fitted estimator, and draw the metric at all cutoffs.

        Parameters
        ----------
        estimator : estimator object
            Fitted; ranked by the first that it has of decision_function, predict_proba and predict.
        X : array-like of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,)
            Relevance labels.
        qid : array-like of shape (n_documents,), default=None
            Query ids; None takes them from the index of ``y``, see with_qid.
        metric : str, metric function or bound metric, default="ndcg"
            The metric, without a cutoff, as in get_metric.
        k : int or sequence of int, default=20
            The largest cutoff, at least 2, or all of them.
        name : str, default=None
            Name of the model, for the legend; None takes the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``plot``.

        Returns
        -------
        display : MetricAtKDisplay
            Computed and drawn.

        Raises
        ------
        TypeError
            Where the query ids are missing, or an argument is of the wrong type.
        ValueError
            Where the data, the metric or the cutoffs are not valid.
        """
        report = report_of_estimator(estimator, X, y, qid=qid, metrics=_at(metric, k))
        return cls.from_report(report, metric=metric, name=name or name_of(estimator), ax=ax, line_kw=line_kw)


def _without_cutoff(metric: Any) -> BoundMetric:
    bound = get_metric(metric)
    if not bound.metric.has_cutoff:
        raise ValueError(f"metric must have a cutoff rank; got {bound}, which is of whole lists.")
    if bound.k is not None:
        raise ValueError(f"metric must come without a cutoff, as k says which are drawn; got {bound}.")
    return bound


def _at(metric: Any, k: Any) -> list[BoundMetric]:
    bound = _without_cutoff(metric)
    cutoffs = list(k) if isinstance(k, Sequence | np.ndarray | range) else range(1, 1 + (check_int(k, "k", 2) or 0))
    if len(set(cutoffs)) < 2:
        raise ValueError(f"k must hold at least two cutoffs, or be the largest one; got {k!r}.")
    return [bound.replace(k=cutoff) for cutoff in dict.fromkeys(cutoffs)]

"""How a metric is distributed over queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays._drawing import COLOURS, LINE_STYLES, add_legend, axes, next_curve, with_direction
from skrank_metrics.displays._reports import name_of, only_metric, report_of_estimator
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport


class QueryScoreDisplay:
    """Share of the queries that reach each value of a metric at most: its cumulative distribution.

    Made by ``from_predictions``, ``from_estimator`` or ``from_report``. Unlike bars, it needs no width to be chosen,
    shows how many queries are at exactly 0 or 1, and several models can be told apart in one picture: pass the ``ax_``
    of the first to the others as ``ax``.

    Parameters
    ----------
    values : array-like of float of shape (n_queries,)
        Value of each query; NaN is left out.
    mean : float
        What the legend names.
    metric : str
        Name of the metric.
    weights : array-like of float of shape (n_queries,), default=None
        Weights of the queries.
    greater_is_better : bool, default=True
        Whether larger values are better; the axis says so where they are not.
    name : str, default=None
        Name of the model, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure with the axes.

    See Also
    --------
    ComparisonDisplay : The differences of two models, query by query.

    Examples
    --------
    The relevant document is at rank 1 in query "a", at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import QueryScoreDisplay
    >>> display = QueryScoreDisplay.from_predictions(
    ...     [1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metric="mrr"
    ... )
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

    def plot(
        self, ax: Any = None, *, name: str | None = None, line_kw: Mapping[str, Any] | None = None
    ) -> QueryScoreDisplay:
        """Draw the distribution.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name of the model, for the legend; None takes that of the display.
        line_kw : dict, default=None
            Keywords of matplotlib's ``ecdf``.

        Returns
        -------
        display : QueryScoreDisplay
            This object.

        Raises
        ------
        ImportError
            Where matplotlib is not installed.
        ValueError
            Where no query has a value.
        """
        defined = ~np.isnan(self.values)
        if not defined.any():
            raise ValueError(f"values must hold a number for some query; {self.metric} is undefined for all of them.")
        ax = axes(self, ax)
        number, title = next_curve(ax), name or self.name
        style = {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": LINE_STYLES[number % len(LINE_STYLES)],
            "label": f"mean {self.mean:.3f}" if title is None else f"{title} (mean {self.mean:.3f})",
            **(line_kw or {}),
        }
        self.line_ = ax.ecdf(self.values[defined], None if self.weights is None else self.weights[defined], **style)
        ax.set(
            xlabel=with_direction(f"{self.metric} of a query", self.greater_is_better),
            ylabel="share of queries with this value or less",
        )
        add_legend(ax)
        return self

    @classmethod
    def from_report(
        cls,
        report: RankingReport,
        *,
        metric: str | None = None,
        name: str | None = None,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> QueryScoreDisplay:
        """Draw the distribution of a metric of a report.

        Parameters
        ----------
        report : RankingReport
            What evaluate and cross_evaluate give.
        metric : str, default=None
            Which metric of the report; None means the first.
        name : str, default=None
            Name of the model, for the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``ecdf``.

        Returns
        -------
        display : QueryScoreDisplay
            Computed and drawn.

        Raises
        ------
        ValueError
            Where the report lacks the metric, or no query has a value.
        """
        metric = only_metric(report, metric)
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
        """Compute a metric query by query, and draw its distribution.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels, finite and >= 0. In 2-D each row is a query, and qid must be left out.
        y_score : array-like of the shape of y_true
            Scores to rank by, the largest first.
        qid : array-like of shape (n_documents,), default=None
            Query ids; None takes them from the index of ``y_true``, see with_qid.
        metric : str, metric function or bound metric, default="ndcg@10"
            What to compute, as in get_metric.
        name : str, default=None
            Name of the model, for the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``ecdf``.

        Returns
        -------
        display : QueryScoreDisplay
            Computed and drawn.

        Raises
        ------
        TypeError
            Where a 1-D y_true comes without query ids, or an argument is of the wrong type.
        ValueError
            Where the data or the metric are not valid.
        """
        report = evaluate(y_true, y_score, qid=qid, metrics=[metric])
        return cls.from_report(report, name=name, ax=ax, line_kw=line_kw)

    @classmethod
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
        metric : str, metric function or bound metric, default="ndcg@10"
            What to compute, as in get_metric.
        name : str, default=None
            Name of the model, for the legend; None takes the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``ecdf``.

        Returns
        -------
        display : QueryScoreDisplay
            Computed and drawn.

        Raises
        ------
        TypeError
            Where the query ids are missing, or an argument is of the wrong type.
        ValueError
            Where the data or the metric are not valid.
        """
        report = report_of_estimator(estimator, X, y, qid=qid, metrics=[metric])
        return cls.from_report(report, name=name or name_of(estimator), ax=ax, line_kw=line_kw)

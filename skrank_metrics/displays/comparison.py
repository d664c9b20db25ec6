"""Two rankings of the same queries, query by query."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays._drawing import COLOURS, add_legend, axes, with_direction
from skrank_metrics.displays._reports import name_of, report_of_estimator
from skrank_metrics.reports.compare import Comparison, compare
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport

# Names of models can be longer than an axis.
LABEL_WIDTH = 48


class ComparisonDisplay:
    """Differences of a metric between two models, sorted, with their mean and its interval.

    Made by ``from_predictions``, ``from_estimator`` or ``from_comparison``. The area above zero is what the first model
    gains on the queries where it has the larger value, that below zero what the second does.

    Parameters
    ----------
    differences : array-like of float of shape (n_queries,)
        Value of the first model minus that of the second, for each query.
    mean : float
        Mean of the differences.
    interval : tuple of float
        Lower and upper end of its interval.
    metric : str
        Name of the metric.
    names : tuple of str, default=("first", "second")
        Names of the models.
    greater_is_better : bool, default=True
        Whether larger values are better.
    confidence : float, default=0.95
        Of the interval, for the legend.

    Attributes
    ----------
    areas_ : list of matplotlib PolyCollection
        Differences in favour of the first model and of the second.
    line_ : matplotlib Line2D
        The mean.
    band_ : matplotlib Polygon
        The interval.
    ax_ : matplotlib Axes
        Axes with the differences.
    figure_ : matplotlib Figure
        Figure with the axes.

    See Also
    --------
    compare : The numbers, for any number of models.

    Examples
    --------
    The relevant document of query "b" is at rank 1 for the first model, at rank 2 for the second:

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

    def plot(self, ax: Any = None, *, line_kw: Mapping[str, Any] | None = None) -> ComparisonDisplay:
        """Draw the differences.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``axhline``, which draws the mean.

        Returns
        -------
        display : ComparisonDisplay
            This object.

        Raises
        ------
        ImportError
            Where matplotlib is not installed.
        """
        ax = axes(self, ax)
        first, second = self.names
        heights = np.sort(self.differences)[::-1]
        better = heights if self.greater_is_better else -heights
        self.areas_ = []
        for name, colour, counted in ((first, COLOURS[0], better > 0), (second, COLOURS[1], better < 0)):
            n_queries = int(counted.sum())
            label = f"{name} better: {n_queries} {'query' if n_queries == 1 else 'queries'}"
            steps = np.append(np.where(counted, heights, 0.0), 0.0)  # the last query is as wide as the others
            self.areas_.append(
                ax.fill_between(
                    range(len(steps)), steps, step="post", color=colour, alpha=0.6, linewidth=0, label=label
                )
            )
        low, high = self.interval
        ends = "" if np.isnan(low) else f", {self.confidence:.0%} interval [{low:+z.3f}, {high:+z.3f}]"
        style = {"color": "black", "linewidth": 1.2, "label": f"mean {self.mean:+z.3f}{ends}", **(line_kw or {})}
        self.line_ = ax.axhline(self.mean, **style)
        self.band_ = ax.axhspan(low, high, color=self.line_.get_color(), alpha=0.25, linewidth=0)
        ylabel = with_direction(f"{self.metric}: {first} minus {second}", self.greater_is_better)
        ylabel = textwrap.fill(ylabel, LABEL_WIDTH)
        ax.set(xlabel="queries, sorted by the difference", ylabel=ylabel, xlim=(0, len(heights)))
        # Inside, there is room for it only where the first model is better on many queries.
        add_legend(ax, loc="lower left", bbox_to_anchor=(0, 1))
        return self

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        first: str | None = None,
        second: str | None = None,
        *,
        ax: Any = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> ComparisonDisplay:
        """Draw a pair of a comparison.

        Parameters
        ----------
        comparison : Comparison
            What compare gives.
        first : str, default=None
            Name of the one model; None takes the first pair.
        second : str, default=None
            Name of the other model, which is subtracted.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``axhline``, which draws the mean.

        Returns
        -------
        display : ComparisonDisplay
            Computed and drawn.

        Raises
        ------
        ValueError
            Where the comparison has no such pair.
        """
        pairs = {(pair.first, pair.second): (pair, 1) for pair in comparison.pairs}
        pairs |= {(pair.second, pair.first): (pair, -1) for pair in comparison.pairs}
        names = next(iter(pairs)) if first is None and second is None else (first, second)
        if names not in pairs:
            known = ", ".join(map(str, comparison.names))
            raise ValueError(f"first and second must be two of {known}; got {first!r} and {second!r}.")
        pair, sign = pairs[names]
        low, high = (sign * end for end in pair.interval[::sign])
        display = cls(
            sign * pair.differences,
            sign * pair.difference,
            (low, high),
            metric=comparison.metric,
            names=names,
            greater_is_better=comparison.greater_is_better,
            confidence=comparison.confidence,
        )
        return display.plot(ax, line_kw=line_kw)

    @classmethod
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
        """Compute the differences of two rankings, and draw them.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels, finite and >= 0. In 2-D each row is a query, and qid must be left out.
        first_score : array-like of the shape of y_true
            Scores of the first model, the largest first.
        second_score : array-like of the shape of y_true
            Scores of the second model, whose values are subtracted.
        qid : array-like of shape (n_documents,), default=None
            Query ids; None takes them from the index of ``y_true``, see with_qid.
        metric : str, metric function or bound metric, default="ndcg@10"
            What to compute, as in get_metric.
        names : tuple of str, default=("first", "second")
            Names of the models, two different ones.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``axhline``, which draws the mean.

        Returns
        -------
        display : ComparisonDisplay
            Computed and drawn.

        Raises
        ------
        TypeError
            Where a 1-D y_true comes without query ids, or an argument is of the wrong type.
        ValueError
            Where the data, the metric or the names are not valid.
        """
        reports = [evaluate(y_true, scores, qid=qid, metrics=[metric]) for scores in (first_score, second_score)]
        return cls._from_reports(reports, names, ax, line_kw)

    @classmethod
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

        Parameters
        ----------
        first : estimator object
            Fitted; ranked by the first that it has of decision_function, predict_proba and predict.
        second : estimator object
            The other, whose values are subtracted.
        X : array-like of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,)
            Relevance labels.
        qid : array-like of shape (n_documents,), default=None
            Query ids; None takes them from the index of ``y``, see with_qid.
        metric : str, metric function or bound metric, default="ndcg@10"
            What to compute, as in get_metric.
        names : tuple of str, default=None
            Names of the models, two different ones; None takes their classes where these differ, else "first" and
            "second".
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        line_kw : dict, default=None
            Keywords of matplotlib's ``axhline``, which draws the mean.

        Returns
        -------
        display : ComparisonDisplay
            Computed and drawn.

        Raises
        ------
        TypeError
            Where the query ids are missing, or an argument is of the wrong type.
        ValueError
            Where the data, the metric or the names are not valid.
        """
        reports = [report_of_estimator(estimator, X, y, qid=qid, metrics=[metric]) for estimator in (first, second)]
        classes = name_of(first), name_of(second)
        names = names or (classes if len(set(classes)) == 2 else ("first", "second"))
        return cls._from_reports(reports, names, ax, line_kw)

    @classmethod
    def _from_reports(cls, reports: list[RankingReport], names: Any, ax: Any, line_kw: Any) -> ComparisonDisplay:
        if isinstance(names, str) or len(set(names)) != 2:
            raise ValueError(f"names must be two different names; got {names!r}.")
        metric = next(iter(reports[0].mean))
        # The picture needs no p-value; that of the t test costs nothing.
        comparison = compare(dict(zip(names, reports, strict=True)), metric, test="t")
        return cls.from_comparison(comparison, *names, ax=ax, line_kw=line_kw)

"""The distribution of metrics over queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import name_of_slice

N_BINS, MOST_SLICES = 25, 12
# Height of a row in inches; shares of it that the largest bar takes, and places of bars and mean below its middle.
ROW, HEIGHT, BASE, MEAN = 0.55, 0.6, 0.2, 0.33


class QueryScoreDisplay(Display):
    """Distribution of metrics over queries, one row per metric, slice or model, with the mean and its interval.

    Each row is a histogram of the values of the queries, scaled to the same height, above its mean and interval. Many
    queries at exactly 0 or 1 are visible as the first and last bars.

    Parameters
    ----------
    values : sequence of array-like of float of shape (n_queries,)
        Values of the queries in each row; NaN is left out.
    means : array-like of float of shape (n_rows,)
        Means to show.
    intervals : array-like of float of shape (n_rows, 2)
        Lower and upper ends of the intervals of the means; NaN if there is none.
    names : sequence of str
        Names of the rows.
    label : str
        Label of the axis.
    weights : sequence of array-like of float, default=None
        Weights of the queries in each row.
    further : sequence of int, default=()
        Rows that are drawn in grey, such as those of slices.

    Attributes
    ----------
    areas_ : list of matplotlib StepPatch
        Histograms.
    means_ : list of matplotlib ErrorbarContainer
        Means and intervals.
    texts_ : list of matplotlib Annotation
        Means as text.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    ComparisonDisplay : Means of several models, and which is best.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import evaluate
    >>> display = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr").plot()
    >>> display.names, display.values
    (['mrr'], [array([1. , 0.5])])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        values: Sequence[Any],
        means: Any,
        intervals: Any,
        names: Sequence[str],
        *,
        label: str,
        weights: Sequence[Any] | None = None,
        further: Sequence[int] = (),
    ) -> None:
        self.values: list[FloatArray] = [np.asarray(row, dtype=np.float64) for row in values]
        self.means: FloatArray = np.asarray(means, dtype=np.float64)
        self.intervals: FloatArray = np.asarray(intervals, dtype=np.float64)
        self.names = list(names)
        self.label = label
        self.weights = weights
        self.further = set(further)

    def _draw(self, ax: Any) -> None:
        (ax,) = self._panels(ax, [style.height_of(self.names, ROW)])
        look, edges, spelled = style.polish(ax), self._edges(), style.spell(*self.means)
        self.areas_, self.means_, self.texts_ = [], [], []
        for row, (values, mean, ends) in enumerate(zip(self.values, self.means, self.intervals, strict=True)):
            defined = ~np.isnan(values)
            weights = None if self.weights is None else np.asarray(self.weights[row])[defined]
            counts = np.histogram(values[defined], edges, weights=weights)[0]
            heights = row + BASE - HEIGHT * counts / max(counts.max(), 1e-300)
            colour = look.soft if row in self.further else look.best
            self.areas_.append(ax.stairs(heights, edges, baseline=row + BASE, fill=True, color=colour, alpha=0.45))
            marks = {"fmt": "o", "markersize": 4, "color": colour, "elinewidth": 1.5}
            self.means_.append(ax.errorbar(mean, row + MEAN, xerr=np.abs(ends - mean)[:, None], **marks))
            right = np.nanmax([mean, ends[1]])
            self.texts_.append(style.write_beside(ax, right, row + MEAN, spelled(mean), colour=colour))
        style.draw_rows(ax, self.names, [look.soft if row in self.further else look.ink for row in range(len(heights))])
        ax.set_xlabel(self.label)

    def _edges(self) -> FloatArray:
        found = np.concatenate(self.values)
        found = found[np.isfinite(found)]
        if not len(found):
            raise ValueError("values must hold a number for at least one query; all are NaN.")
        low, high = found.min(), found.max()
        if _is_share(found):
            low, high = (0.0 if low >= 0 else -1.0), 1.0
        return np.linspace(low, high if high > low else low + 1, N_BINS + 1)

    @classmethod
    def from_result(
        cls, result: RankingReport | Comparison, *, metric: Any = None, ax: Any = None
    ) -> QueryScoreDisplay:
        """Draw the metrics of a report, the first one in each slice, too; or one metric of each model of a comparison.

        Parameters
        ----------
        result : RankingReport or Comparison
            Result of evaluate, compare, leaderboard or similar.
        metric : str, metric function or bound metric, default=None
            A metric of the result. None means the first and, for a report, all others that have its range.
        ax : matplotlib Axes, default=None
            Axes to draw into. None creates a new figure.

        Returns
        -------
        display : QueryScoreDisplay
            The drawn display.
        """
        reports: dict[str, RankingReport] = getattr(result, "reports", None) or {"": result}
        report = next(iter(reports.values()))
        first = next(iter(report.mean)) if metric is None else check_column(metric, report.metrics)
        if report is result:
            rows = [(name, name, report) for name in _drawn_with(report, first)] if metric is None else []
            rows = rows or [(first, first, report)]
            largest = sorted(report.slices.values(), key=lambda part: -part.n_queries)[:MOST_SLICES]
            shown = {value: part for value, part in report.slices.items() if part in largest}
            slices = [(name_of_slice(value), first, part) for value, part in shown.items()]
            rows[1:1] = slices
        else:
            slices, rows = [], [(name, first, reports[name]) for name in result.names]
        greater = report.metrics[first].greater_is_better
        display = cls(
            [part.per_query[name] for _, name, part in rows],
            [part.mean[name] for _, name, part in rows],
            [part.intervals()[name] for _, name, part in rows],
            [label for label, *_ in rows],
            label=style.with_direction("value per query, and mean with 95% interval", greater),
            weights=None if report.weights is None else [part.weights for *_, part in rows],
            further=range(1, 1 + len(slices)),
        )
        return display.plot(ax)


def _is_share(values: FloatArray) -> bool:
    return bool(np.all(np.abs(values[~np.isnan(values)]) <= 1))


def _drawn_with(report: RankingReport, first: str) -> list[str]:
    """The metrics that can be drawn on the axis of the first."""
    same = _is_share(report.per_query[first])
    return [name for name, values in report.per_query.items() if name == first or (same and _is_share(values))]

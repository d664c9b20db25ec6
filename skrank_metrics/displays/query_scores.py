"""The picture of the values of queries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.displays.metric_at_k import reports_of
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.ranking_report import RankingReport

N_BINS = 25
# Height of a row in inches; shares of it that the largest bar takes, and places of bars and mean below its middle.
ROW, HEIGHT, BASE, MEAN = 0.55, 0.6, 0.2, 0.33
TINY = 1e-300  # instead of a count of 0, to divide by


class _Row(NamedTuple):
    """Values of a metric in a report, which may be that of a slice."""

    name: str
    metric: str
    report: RankingReport
    is_slice: bool = False

    @property
    def values(self) -> FloatArray:
        """One value per query."""
        return self.report.per_query[self.metric]


class QueryScoreDisplay(Display):
    """Distribution of metrics over queries, one row per metric and slice, or per model of a comparison.

    Each row is a histogram of the values of the queries, scaled to the same height, above its mean and interval.

    Parameters
    ----------
    result : RankingReport or Comparison
        Result of evaluate, compare or similar.
    metric : str, metric function or bound metric, default=None
        A metric of the result. None means the first and, for a report, all others that have its range.

    See Also
    --------
    ComparisonDisplay : Means of several models, and which is best.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> from skrank_metrics import evaluate
    >>> display = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr").plot()
    >>> [text.get_text() for text in display.ax_.texts]
    ['0.7500']
    """

    def __init__(self, result: RankingReport | Comparison, *, metric: Any = None) -> None:
        super().__init__(result)
        reports = reports_of(result)
        self._report = next(iter(reports.values()))
        metrics = self._report.metrics
        self._metric = next(iter(metrics)) if metric is None else check_column(metric, metrics)
        if isinstance(result, RankingReport):
            self._rows = _rows_of_report(result, self._metric, all_metrics=metric is None)
        else:
            self._rows = [_Row(name, self._metric, report) for name, report in reports.items()]

    def _draw(self, ax: Any) -> None:
        names = [row.name for row in self._rows]
        edges = self._edges()
        ax = self.panel(ax, style.height_of(names, ROW))
        look = style.polish(ax)
        inks = []
        for place, row in enumerate(self._rows):
            ink, colour = look.ink, look.best
            if row.is_slice:
                ink = colour = look.soft
            inks.append(ink)
            heights = place + BASE - HEIGHT * _shares(row, edges)
            ax.stairs(heights, edges, baseline=place + BASE, fill=True, color=colour, alpha=0.45)
            mean, ends = row.report.mean[row.metric], row.report.intervals()[row.metric]
            y = place + MEAN
            style.mark_mean(ax, mean, y, ends, color=colour, markersize=4, elinewidth=1.5)
            style.write_beside(ax, (np.nanmax([mean, ends[1]]), y), style.spelled(mean), colour)
        style.draw_rows(ax, names, inks)
        direction = style.DIRECTION[self._report.metrics[self._metric].greater_is_better]
        ax.set_xlabel(f"value per query, and mean with 95% interval{direction}")

    def _edges(self) -> FloatArray:
        found = np.concatenate([row.values for row in self._rows])
        found = found[np.isfinite(found)]
        if not len(found):
            raise ValueError(f"There is nothing to draw: {self._metric} is NaN for all queries.")
        low, high = found.min(), found.max()
        if _is_share(found):  # from 0 or -1, so that pictures of several results have the same axis
            low, high = np.floor(min(low, 0.0)), 1.0
        return np.histogram_bin_edges(found, N_BINS, (low, high))


def _rows_of_report(report: RankingReport, metric: str, *, all_metrics: bool) -> list[_Row]:
    """The metric with its slices below it, then others that can be drawn on its axis."""
    rows = [_Row(metric, metric, report)]
    for name, part in report.shown_slices.items():
        rows.append(_Row(name, metric, part, is_slice=True))
    if all_metrics and _is_share(report.per_query[metric]):
        for other, values in report.per_query.items():
            if other != metric and _is_share(values):
                rows.append(_Row(other, other, report))
    return rows


def _shares(row: _Row, edges: FloatArray) -> FloatArray:
    """Counts of values between the edges, relative to the largest; NaN is in none."""
    # Weighted like the mean that is drawn below the histogram.
    counts, _ = np.histogram(row.values, edges, weights=row.report.weights)
    shares: FloatArray = counts / max(counts.max(), TINY)
    return shares


def _is_share(values: FloatArray) -> bool:
    return bool(np.all(np.abs(values[~np.isnan(values)]) <= 1))

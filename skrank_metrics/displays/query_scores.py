"""The picture of the values of queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.displays.metric_at_k import reports_of
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.ranking_report import RankingReport, shown_slices

N_BINS = 25
# Height of a row in inches; share of it that the largest bar takes, and places of bars and mean below its middle.
ROW, HEIGHT, BASE, MEAN = 0.55, 0.6, 0.2, 0.33
# Slices stand below their metric.
BELOW = "\N{BOX DRAWINGS LIGHT UP AND RIGHT} "
TINY = 1e-300  # instead of a count of 0, to divide by


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
        # The reports of rows by their names, with the metric of each.
        self._rows = [(name or self._metric, self._metric, own) for name, own in reports.items()]
        if isinstance(result, RankingReport):
            for name, part in shown_slices(result).items():
                self._rows.append((f"{BELOW}{name}", self._metric, part))
            if metric is None:
                self._rows += [(other, other, result) for other in _others(result, self._metric)]

    def _draw(self, ax: Any) -> None:
        names = [name for name, _, _ in self._rows]
        edges = self._edges()
        ax = self.panel(ax, style.height_of(names, ROW))
        colour = style.polish(ax).best
        for place, (_, metric, report) in enumerate(self._rows):
            # Weighted like the mean that is drawn below the histogram. NaN is between no edges.
            values = report.per_query[metric]
            counts, _ = np.histogram(values, edges, weights=report.weights)
            heights = place + BASE - HEIGHT * counts / max(counts.max(), TINY)
            ax.stairs(heights, edges, baseline=place + BASE, fill=True, color=colour, alpha=0.45)
            mean, ends = report.mean[metric], report.intervals()[metric]
            style.mark_mean(ax, place + MEAN, mean, ends, colour)
        style.draw_rows(ax, names)
        direction = style.DIRECTION[self._report.metrics[self._metric].greater_is_better]
        ax.set_xlabel(f"value per query, and mean with 95% interval{direction}")

    def _edges(self) -> FloatArray:
        found = np.concatenate([report.per_query[metric] for _, metric, report in self._rows])
        found = found[np.isfinite(found)]
        if not len(found):
            raise ValueError(f"There is nothing to draw: {self._metric} is NaN for all queries.")
        low, high = found.min(), found.max()
        if _is_share(found):  # from 0 or -1, so that pictures of several results have the same axis
            low, high = np.floor(min(low, 0.0)), 1.0
        return np.histogram_bin_edges(found, N_BINS, (low, high))


def _others(report: RankingReport, metric: str) -> list[str]:
    """Other metrics that can be drawn on the axis of a metric."""
    shares = [name for name, values in report.per_query.items() if _is_share(values)]
    return [name for name in shares if name != metric and metric in shares]


def _is_share(values: FloatArray) -> bool:
    return not np.any(np.abs(values) > 1)

"""The distribution of metrics over queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.ranking_report import RankingReport

N_BINS = 25
# Height of a row in inches; shares of it that the largest bar takes, and places of bars and mean below its middle.
ROW, HEIGHT, BASE, MEAN = 0.55, 0.6, 0.2, 0.33


class QueryScoreDisplay(Display):
    """Distribution of metrics over queries, one row per metric and slice, or per model of a comparison.

    Each row is a histogram of the values of the queries, scaled to the same height, above its mean and interval. Many
    queries at exactly 0 or 1 are visible as the first and last bars.

    Parameters
    ----------
    result : RankingReport or Comparison
        Result of evaluate, compare, leaderboard or similar.
    metric : str, metric function or bound metric, default=None
        A metric of the result. None means the first and, for a report, all others that have its range.

    See Also
    --------
    ComparisonDisplay : Means of several models, and which is best.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import evaluate
    >>> display = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr").plot()
    >>> [text.get_text() for text in display.ax_.texts]
    ['0.7500']
    >>> plt.close(display.figure_)
    """

    def __init__(self, result: RankingReport | Comparison, *, metric: Any = None) -> None:
        super().__init__(result)
        reports: dict[str, RankingReport] = getattr(result, "reports", {"": result})
        self._report = next(iter(reports.values()))
        metrics = self._report.metrics
        self._metric = next(iter(metrics)) if metric is None else check_column(metric, metrics)
        # Rows, as their name, metric and report; the slices are below the metric.
        self._slices = range(0)
        if len(reports) > 1 or "" not in reports:
            self._rows = [(name, self._metric, report) for name, report in reports.items()]
            return
        of_queries = self._report.per_query
        alike = metric is None and _is_share(of_queries[self._metric])  # others can be drawn on its axis
        names = [name for name in metrics if name == self._metric or (alike and _is_share(of_queries[name]))]
        shown = [(name, self._metric, part) for name, part in self._report._shown_slices]
        self._rows, self._slices = [(name, name, self._report) for name in names], range(1, 1 + len(shown))
        self._rows[1:1] = shown

    def _draw(self, ax: Any) -> None:
        names, edges = [name for name, *_ in self._rows], self._edges()
        (ax,) = self._panels(ax, [style.height_of(names, ROW)])
        look, spelled = style.polish(ax), style.spell(*(report.mean[metric] for _, metric, report in self._rows))
        for row, (_, metric, report) in enumerate(self._rows):
            values, mean, ends = report.per_query[metric], report.mean[metric], report.intervals()[metric]
            defined = ~np.isnan(values)
            weights = None if report.weights is None else report.weights[defined]
            counts = np.histogram(values[defined], edges, weights=weights)[0]
            heights = row + BASE - HEIGHT * counts / max(counts.max(), 1e-300)
            colour = look.soft if row in self._slices else look.best
            ax.stairs(heights, edges, baseline=row + BASE, fill=True, color=colour, alpha=0.45)
            style.mark_mean(ax, mean, row + MEAN, ends, color=colour, markersize=4, elinewidth=1.5)
            style.write_beside(ax, (np.nanmax([mean, ends[1]]), row + MEAN), spelled(mean), colour)
        style.draw_rows(ax, names, [look.soft if row in self._slices else look.ink for row in range(len(names))])
        greater = self._report.metrics[self._metric].greater_is_better
        ax.set_xlabel(style.with_direction("value per query, and mean with 95% interval", greater))

    def _edges(self) -> FloatArray:
        found = np.concatenate([report.per_query[metric] for _, metric, report in self._rows])
        found = found[np.isfinite(found)]
        if not len(found):
            raise ValueError(f"There is nothing to draw: {self._metric} is NaN for all queries.")
        low, high = found.min(), found.max()
        if _is_share(found):
            low, high = (0.0 if low >= 0 else -1.0), 1.0
        return np.linspace(low, high if high > low else low + 1, N_BINS + 1)


def _is_share(values: FloatArray) -> bool:
    return bool(np.all(np.abs(values[~np.isnan(values)]) <= 1))

"""Several rankings: how good each is, which are the best, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import check_int
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.standings import Pair, Standing

# Panels with means, and the height of that with queries in inches.
MOST_METRICS, QUERIES_HEIGHT = 3, 1.7
# Steps in the panel with queries; of more queries, as many of their quantiles are drawn.
MOST_STEPS = 300
# Models that may be chosen have the colour of the best; those that are worse are grey.
GOOD, WORSE = ("best", "leads", "may be best", "better", "not worse"), "worse"


class ComparisonDisplay(Display):
    """Models with the best highlighted: their means, and their differences from the best other or from the baseline.

    Blue models may be the best, grey ones are worse. With a baseline, blue models are better or not worse than it, and
    black ones are undecided. The intervals of the differences are simultaneous, so they agree with these colours and
    with the verdict, the title of a new figure. Two models get a further panel: the differences of the single queries.

    Parameters
    ----------
    result : Comparison
        Result of leaderboard, compare, cross_evaluate or search_report.
    metric : str, metric function or bound metric, default=None
        A metric of the comparison. None means the first and, for more than two models, the means of two others.
    n_models : int, default=20
        Number of models to draw, the best ones.

    See Also
    --------
    leaderboard : Compare models by their scores, in numbers.
    compare : Compare reports, in numbers.

    Examples
    --------
    The relevant document of query "b" is at rank 1 for the first model and at rank 2 for the second:

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import leaderboard
    >>> scores = {"one": [2, 1, 2, 1], "other": [2, 1, 1, 2]}
    >>> display = leaderboard([1, 0, 1, 0], scores, qid=["a", "a", "b", "b"], metrics="mrr").plot()
    >>> [text.get_text() for text in display.axes_[2].texts]
    ['1 query: one is better', '0 queries: other is better', '1 query: equal']
    >>> plt.close(display.figure_)
    """

    def __init__(self, result: Comparison, *, metric: Any = None, n_models: int = 20) -> None:
        super().__init__(result)
        check_int(n_models, "n_models", 1)
        chosen = result.metrics if metric is None else (check_column(metric, result.reports[result.names[0]].metrics),)
        two = len(result.names) == 2
        self._metrics = chosen[: 1 if two else MOST_METRICS]
        self._board = result.by_metric(chosen[0])
        self._pair = result.pair(metric=chosen[0]) if two and self._board.tested else None
        self._names = [row.name for row in self._board.rows][:n_models]

    def _draw(self, ax: Any) -> None:
        title = self._board.verdict if self._board.tested else ""
        height = 0.2 + style.height_of(self._names) + style.height_of_title(title)  # labels have two lines
        panels: list[tuple[float, float, Callable[[Any], None]]]
        panels = [(height, 1.0, partial(self._draw_means, metric)) for metric in self._metrics]
        if self._board.tested:
            panels.append((height, 1.3, self._draw_differences))
        if self._pair:
            texts = [f"{self._pair.n_queries} queries: {name} is better" for name in self._names[:2]]
            height = max(height, QUERIES_HEIGHT) + style.height_below(texts)
            panels.append((height, 1.8, partial(self._draw_queries, self._pair)))
        heights, widths, functions = zip(*panels, strict=True)
        for panel, function in zip(self._panels(ax, heights, widths), functions, strict=True):
            function(panel)
        if ax is None:
            style.entitle(self.figure_, title)

    def _draw_means(self, metric: str, ax: Any) -> None:
        own, confidence = self.result.by_metric(metric), self.result.confidence
        found = {row.name: row for row in own.rows}
        rows = [found[name] for name in self._names]  # in the order of the first metric
        ends = [self.result.reports[name].intervals(confidence)[metric] for name in self._names]
        spelled = style.spell(*(row.mean for row in rows))
        self._draw_rows(ax, rows, [row.mean for row in rows], ends, [spelled(row.mean) for row in rows])
        label = style.with_direction(metric, own.greater_is_better)
        ax.set_xlabel(f"{label}\nmean, {100 * confidence:g}% interval")

    def _draw_differences(self, ax: Any) -> None:
        result, look = self.result, style.theme()
        rows = self._board.rows[: len(self._names)]
        spelled = style.spell(*(row.difference for row in rows), signed=True)
        # The baseline, which has no difference, is at 0.
        texts = [
            row.status if isnan(row.difference) else f"{spelled(row.difference)}\u2002{row.status}" for row in rows
        ]
        values = [0.0 if isnan(row.difference) else row.difference for row in rows]
        self._draw_rows(ax, rows, values, [row.interval for row in rows], texts, aligned=True)
        ax.axvline(0, color=look.ink, linewidth=1, zorder=1)
        if result.margin is not None:
            limit = -result.margin if self._board.greater_is_better else result.margin
            ax.axvline(limit, color=look.alarm, linewidth=1, linestyle="--", zorder=1)
        level = f"simultaneous {100 * result.confidence:g}% intervals"
        ax.set_xlabel(f"difference from {style.plain(result.baseline or 'the best other')},\n{level}")

    def _draw_rows(
        self,
        ax: Any,
        rows: Sequence[Standing],
        values: Sequence[float],
        ends: Sequence[tuple[float, float]],
        texts: Sequence[str],
        *,
        aligned: bool = False,
    ) -> None:
        """Marks with intervals and texts in the colour of the status, on a band for models that may be chosen."""
        look = style.polish(ax)
        colours = [look.best if one.status in GOOD else look.soft if one.status == WORSE else look.ink for one in rows]
        for row, (value, interval, text, colour) in enumerate(zip(values, ends, texts, colours, strict=True)):
            if colour == look.best:
                ax.axhspan(row - 0.5, row + 0.5, color=colour, alpha=0.1, linewidth=0, zorder=0)
            style.mark_mean(ax, value, row, interval, color=colour, markersize=6, elinewidth=2)
            place = (1, row) if aligned else (np.nanmax([value, *interval]), row)
            style.write_beside(ax, place, text, colour, xycoords=("axes fraction", "data") if aligned else "data")
        first = ax is self.ax_ or style.is_narrow()
        inks = [look.soft if one.status == WORSE else look.ink for one in rows]
        bold = [row for row, one in enumerate(rows) if one.status in ("best", "better")]
        style.draw_rows(ax, self._names if first else len(rows) * [""], inks, bold=bold)
        ax.locator_params(axis="x", nbins=4 if len(self.axes_) < 3 else 2)

    def _draw_queries(self, pair: Pair, ax: Any) -> None:
        look, greater = style.polish(ax, "y"), self._board.greater_is_better
        heights = np.sort(pair.differences)[::-1]
        shown = heights[np.linspace(0, len(heights) - 1, min(len(heights), MOST_STEPS)).round().astype(int)]
        edges, lines = np.linspace(0, len(heights), len(shown) + 1), []
        for name, colour, up in (pair.first, look.best, greater), (pair.second, look.alarm, not greater):
            part, n_better = (shown > 0, heights > 0) if up else (shown < 0, heights < 0)
            ax.stairs(np.where(part, shown, 0.0), edges, fill=True, color=colour, linewidth=0)
            lines.append((f"{counted(int(n_better.sum()), 'query')}: {name} is better", colour))
        if n_equal := int((heights == 0).sum()):
            lines.append((f"{counted(n_equal, 'query')}: equal", look.soft))
        ax.axhline(0, color=look.ink, linewidth=1)
        ax.set(xlim=(0, len(heights)), xticks=[])
        style.write_below(ax, lines)

"""Several rankings: how good each is, which are the best, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
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
    pair : tuple of str, default=None
        Two models, to draw the differences of the single queries, too. None draws them if there are no others.
    n_models : int, default=20
        Number of models to draw, the best ones.

    Attributes
    ----------
    levels_ : list of list of matplotlib ErrorbarContainer
        Mean and interval of each model, one list per metric.
    differences_ : list of matplotlib ErrorbarContainer
        Difference and interval of each model.
    texts_ : list of matplotlib Annotation
        Differences as text, with what is known about the model.
    areas_ : list of matplotlib StepPatch
        Queries in which the first and the second of two models is better.

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

    def __init__(
        self, result: Comparison, *, metric: Any = None, pair: tuple[str, str] | None = None, n_models: int = 20
    ) -> None:
        super().__init__(result)
        check_int(n_models, "n_models", 1)
        columns, reports = result.metrics, result.reports
        found = columns if metric is None else (check_column(metric, reports[result.names[0]].metrics),)
        only = pair or (len(reports) == 2 and (None, None))
        self._metrics = found[: 1 if only else MOST_METRICS]
        self._tested = len(reports) > 1 and result.by_metric(self._metrics[0]).tested
        self._pair = result.pair(only[0], only[1], metric=self._metrics[0]) if only and self._tested else None
        self._names = [row.name for row in result.standings(self._metrics[0])][:n_models]
        # Rows of the panels, in the order of the first metric.
        rows = {name: {row.name: row for row in result.standings(name)} for name in self._metrics}
        self._rows = {name: [found[model] for model in self._names] for name, found in rows.items()}

    def _draw(self, ax: Any) -> None:
        title = self.result.by_metric(self._metrics[0]).verdict if self._tested else ""
        height = 0.2 + style.height_of(self._names) + style.height_of_title(title)  # labels have two lines
        heights, widths = len(self._metrics) * [height], len(self._metrics) * [1.0]
        if self._tested:
            heights, widths = [*heights, height], [*widths, 1.3]
        if self._pair:
            texts = [f"{self._pair.n_queries} queries: {name} is better" for name in self._names[:2]]
            heights = [*heights, max(height, QUERIES_HEIGHT) + style.height_below(texts)]
            widths = [*widths, 1.8]
        panels = iter(self._panels(ax, heights, widths))
        self.levels_ = [self._draw_means(next(panels), metric) for metric in self._metrics]
        self.differences_, self.texts_ = self._draw_differences(next(panels)) if self._tested else ([], [])
        self.areas_ = self._draw_queries(next(panels), self._pair) if self._pair else []
        if ax is None:
            style.entitle(self.figure_, title)

    def _draw_means(self, ax: Any, metric: str) -> list[Any]:
        rows, confidence = self._rows[metric], self.result.confidence
        ends = [self.result.reports[row.name].intervals(confidence)[metric] for row in rows]
        spelled = style.spell(*(row.mean for row in rows))
        bars, _ = self._draw_rows(ax, rows, [row.mean for row in rows], ends, [spelled(row.mean) for row in rows])
        label = style.with_direction(metric, self.result.by_metric(metric).greater_is_better)
        ax.set_xlabel(f"{label}\nmean, {100 * confidence:g}% interval")
        return bars

    def _draw_differences(self, ax: Any) -> tuple[list[Any], list[Any]]:
        result, metric = self.result, self._metrics[0]
        rows = self._rows[metric]
        spelled = style.spell(*(row.difference for row in rows), signed=True)
        texts = [
            row.status if np.isnan(row.difference) else f"{spelled(row.difference)}\N{EN SPACE}{row.status}"
            for row in rows
        ]
        # The baseline, which has no difference, is at 0.
        values = [0.0 if np.isnan(row.difference) else row.difference for row in rows]
        drawn = self._draw_rows(ax, rows, values, [row.interval for row in rows], texts, aligned=True)
        look = style.theme()
        ax.axvline(0, color=look.ink, linewidth=1, zorder=1)
        if result.margin is not None:
            limit = -result.margin if result.by_metric(metric).greater_is_better else result.margin
            ax.axvline(limit, color=look.alarm, linewidth=1, linestyle="--", zorder=1)
        level = f"simultaneous {100 * result.confidence:g}% intervals"
        ax.set_xlabel(f"difference from {style.plain(result.baseline or 'the best other')},\n{level}")
        return drawn

    def _draw_rows(
        self,
        ax: Any,
        rows: Sequence[Standing],
        values: Sequence[float],
        ends: Sequence[tuple[float, float]],
        texts: Sequence[str],
        *,
        aligned: bool = False,
    ) -> tuple[list[Any], list[Any]]:
        """Marks with intervals and texts in the colour of the status, on a band for models that may be chosen."""
        look, bars, written = style.polish(ax), [], []
        colours = [look.best if one.status in GOOD else look.soft if one.status == WORSE else look.ink for one in rows]
        across = self._own_figure and (style.is_narrow() or self._pair is None)
        for row, (value, interval, text, colour) in enumerate(zip(values, ends, texts, colours, strict=True)):
            if colour == look.best and (ax is self.ax_ or style.is_narrow() or not across):
                style.highlight(ax, row, across=across)
            marks = {"fmt": "o", "markersize": 6, "elinewidth": 2, "color": colour}
            bars.append(ax.errorbar(value, row, xerr=np.abs(np.subtract(interval, value))[:, None], **marks))
            place = (1, row) if aligned else (np.nanmax([value, *interval]), row)
            coordinates = ("axes fraction", "data") if aligned else "data"
            written.append(style.write_beside(ax, place, text, colour, xycoords=coordinates))
        first = ax is self.ax_ or style.is_narrow()
        inks = [look.soft if one.status == WORSE else look.ink for one in rows]
        bold = [row for row, one in enumerate(rows) if one.status in ("best", "better")]
        style.draw_rows(ax, self._names if first else len(rows) * [""], inks, bold=bold)
        ax.locator_params(axis="x", nbins=4 if len(self.axes_) < 3 else 2)
        return bars, written

    def _draw_queries(self, ax: Any, pair: Pair) -> list[Any]:
        look, greater = style.polish(ax, "y"), self.result.by_metric(self._metrics[0]).greater_is_better
        heights = np.sort(pair.differences)[::-1]
        shown = heights[np.linspace(0, len(heights) - 1, min(len(heights), MOST_STEPS)).round().astype(int)]
        edges = np.linspace(0, len(heights), len(shown) + 1)
        areas, lines = [], []
        for name, colour, up in (pair.first, look.best, greater), (pair.second, look.alarm, not greater):
            part, n_better = (shown > 0, heights > 0) if up else (shown < 0, heights < 0)
            areas.append(ax.stairs(np.where(part, shown, 0.0), edges, fill=True, color=colour, linewidth=0))
            lines.append((f"{counted(int(n_better.sum()), 'query')}: {name} is better", colour))
        if n_equal := int((heights == 0).sum()):
            lines.append((f"{counted(n_equal, 'query')}: equal", look.soft))
        ax.axhline(0, color=look.ink, linewidth=1)
        ax.set(xlim=(0, len(heights)), xticks=[])
        style.write_below(ax, lines)
        return areas

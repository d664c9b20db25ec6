"""The picture of a comparison: all rankings by several metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.families import Interval
from skrank_metrics.reports.outcome import Pair, Status
from skrank_metrics.reports.verdict import some_of

# Panels with means, and the height of that with queries in inches.
MOST_METRICS, QUERIES_HEIGHT = 3, 1.7
# Steps in the panel with queries; of more queries, as many of their quantiles are drawn.
MOST_STEPS = 300
# Models that may be chosen.
GOOD: tuple[Status, ...] = ("best", "leads", "may be best", "better", "not worse")


class ComparisonDisplay(Display):
    """Models with the best highlighted: their means, and their differences from the best other or from baselines.

    In each panel, a band is behind the models that may be the best by its metric, or that are better or not worse than
    the baseline, and the best mean is bold. A model has one colour in all panels: blue if it is in the band of each,
    grey if it is worse by each metric, and black if metrics disagree or nothing is known. The intervals of the
    differences are simultaneous, so they agree with the bands and with the verdict, the title. Two models get a further
    panel: the differences of the single queries.

    Parameters
    ----------
    result : Comparison
        Result of evaluate of several models, compare, cross_evaluate or search_report.
    metric : str, metric function or bound metric, default=None
        A metric of the comparison. None means the first and, for more than two models, the means of two others.
    n_models : int, default=20
        Number of models to draw, the best ones.

    See Also
    --------
    evaluate : Compare models by their scores, in numbers.
    compare : Compare reports, in numbers.
    QueryPairDisplay : One model against another, query by query.

    Examples
    --------
    The relevant document of query "b" is at rank 1 for the first model and at rank 2 for the second:

    >>> from skrank_metrics import evaluate
    >>> scores = {"one": [2, 1, 2, 1], "other": [2, 1, 1, 2]}
    >>> display = evaluate([1, 0, 1, 0], scores, qid=["a", "a", "b", "b"], metrics="mrr").plot()
    >>> [text.get_text() for text in display.axes_[2].get_legend().get_texts()]
    ['1 query: one is better', '0 queries: other is better', '1 query: equal']
    """

    result: Comparison

    def __init__(self, result: Comparison, *, metric: Any = None, n_models: int = 20) -> None:
        super().__init__(result)
        check_int(n_models, "n_models", 1)
        self._board = result.by_metric(result.metrics[0] if metric is None else metric)
        self._is_tested = self._board.tested
        self._pair: Pair | None = None
        n_metrics = MOST_METRICS
        if len(result.names) == 2:
            n_metrics = 1  # which leaves room for the queries
            if self._is_tested:
                self._pair = self._board.pair()
        if metric is not None:
            n_metrics = 1
        self._metrics = self._board.metrics[:n_metrics]
        self._rows = self._board.standings()[:n_models]
        self._names = [row.name for row in self._rows]
        # By metric and name.
        self._statuses = {name: _statuses_by(result.by_metric(name)) for name in self._metrics}

    def _draw(self, ax: Any) -> None:
        # Metrics that are no means over queries, such as medians, have no verdict.
        title = self._board.verdict if self._is_tested else ""
        # Labels below the rows have two lines.
        height = 0.2 + style.height_of(self._names) + style.height_of_title(title)
        heights, widths = [height] * len(self._metrics), [1.0] * len(self._metrics)
        if self._is_tested:
            heights.append(height)
            widths.append(1.3)
        if self._pair is not None:
            below = style.height_below(outcomes_of_queries(self._pair))
            heights.append(max(height, QUERIES_HEIGHT) + below)
            widths.append(1.8)
        panels = self.panels(ax, heights, widths)
        for metric in self._metrics:
            self._draw_means(metric, panels.pop(0))
        if self._is_tested:
            self._draw_differences(panels.pop(0))
        if self._pair is not None:
            self._draw_queries(self._pair, panels.pop(0))
        if ax is None:
            style.entitle(self.figure_, title)

    def _draw_means(self, metric: str, ax: Any) -> None:
        board, confidence = self.result.by_metric(metric), self.result.plan.confidence
        means = board.means()
        best = board.outcome().ranked[0]
        self._draw_rows(ax, self._statuses[metric])
        for row, name in enumerate(self._names):
            ends = self.result.reports[name].intervals(confidence)[metric]
            colour = self._mark(ax, row, means[name], ends)
            end = float(np.nanmax([means[name], *ends]))
            text = style.spelled(means[name])
            style.write_beside(ax, (end, row), text, colour, is_bold=name == best)
        label = style.broken(f"{metric}{style.DIRECTION[board.greater_is_better]}")
        ax.set_xlabel(f"{label}\nmean, {100 * confidence:g}% interval")

    def _draw_differences(self, ax: Any) -> None:
        plan, look, outcome = self.result.plan, style.theme(), self._board.outcome()
        self._draw_rows(ax, self._statuses[self._board.metrics[0]])
        for row, standing in enumerate(self._rows):
            text = style.broken(outcome.status_of(standing))
            if standing.name not in plan.baselines:
                versus = f" vs {standing.rival}" if len(plan.baselines) > 1 else ""
                text = f"{style.signed(standing.difference)}{versus}\N{EN SPACE}{text}"
            # A baseline differs by 0 from itself, for which it has NaN.
            difference = float(np.nan_to_num(standing.difference))
            colour = self._mark(ax, row, difference, standing.interval)
            style.write_beside(ax, (1, row), text, colour, xycoords=("axes fraction", "data"))
        ax.axvline(0, color=look.ink, linewidth=1, zorder=1)
        margin = outcome.margin
        if margin is not None:
            limit = -margin if self._board.greater_is_better else margin
            ax.axvline(limit, color=look.alarm, linewidth=1, linestyle="--", zorder=1)
        others = some_of(plan.baselines, "or") if plan.baselines else "the best other"
        label = style.broken(f"difference from {others},")
        ax.set_xlabel(f"{label}\nsimultaneous {100 * plan.confidence:g}% intervals")

    def _draw_rows(self, ax: Any, statuses: dict[str, Status]) -> None:
        """Rows with names, if there is room for them, and bands behind models that may be chosen."""
        look = style.polish(ax)
        for row, name in enumerate(self._names):
            if statuses[name] in GOOD:
                ax.axhspan(row - 0.5, row + 0.5, color=look.best, alpha=0.1, linewidth=0, zorder=0)
        # Names are black unless their marks are grey, as blue text on a page would look like a link.
        inks = {look.best: look.ink}
        colours = [self._colour_of(name) for name in self._names]
        bold = [n for n, row in enumerate(self._rows) if row.status in ("best", "better")]
        style.draw_rows(ax, self._names, [inks.get(one, one) for one in colours], bold=bold)
        if ax is not self.ax_ and not style.is_narrow():
            ax.tick_params(labelleft=False)  # the names of the first panel are those of all
        ax.locator_params(axis="x", nbins=4 if len(self.axes_) < 3 else 2)

    def _mark(self, ax: Any, row: int, value: float, ends: Interval) -> str:
        """Mark a value with its interval in the colour of the model, which is returned."""
        colour = self._colour_of(self._names[row])
        style.mark_mean(ax, value, row, ends, color=colour, markersize=6, elinewidth=2)
        return colour

    def _colour_of(self, name: str) -> str:
        """The colour of a model in all panels."""
        look = style.theme()
        # Metrics that cannot be tested, such as medians, say nothing about it.
        known = {of_names[name] for of_names in self._statuses.values()} - {""}
        if known == {"worse"}:
            return look.soft
        if known and known <= set(GOOD):
            return look.best
        return look.ink

    def _draw_queries(self, pair: Pair, ax: Any) -> None:
        look = style.polish(ax, "y")
        edges, steps = _steps(np.sort(pair.differences)[::-1])
        first, second = np.maximum(steps, 0), np.minimum(steps, 0)
        if not self._board.greater_is_better:
            first, second = second, first
        colours = [self._colour_of(pair.first), self._colour_of(pair.second)]
        # Equal models have one colour, but their queries must be distinguishable.
        if colours[0] == colours[1]:
            colours[1] = look.soft
        texts = outcomes_of_queries(pair)
        ax.stairs(first, edges, fill=True, color=colours[0], linewidth=0, label=texts[0])
        ax.stairs(second, edges, fill=True, color=colours[1], linewidth=0, label=texts[1])
        ax.plot([], color=look.soft, label=texts[2])
        ax.axhline(0, color=look.ink, linewidth=1)
        # Queries are sorted by their difference, so ranks on the axis would say nothing.
        ax.set(xlim=(0, edges[-1]), xticks=[])
        style.explain_below(ax)


def outcomes_of_queries(pair: Pair) -> tuple[str, str, str]:
    """On how many queries which model is better, and on how many none is."""
    wins = f"{counted(pair.wins, 'query')}: {pair.first} is better"
    losses = f"{counted(pair.losses, 'query')}: {pair.second} is better"
    ties = f"{counted(pair.ties, 'query')}: equal"
    return style.broken(wins, style.BELOW_WIDTH), style.broken(losses, style.BELOW_WIDTH), ties


def _statuses_by(board: Comparison) -> dict[str, Status]:
    return {row.name: row.status for row in board.standings()}


def _steps(heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Edges and heights of steps: one for each query, or quantiles of many queries."""
    n_steps = min(len(heights), MOST_STEPS)
    places = np.linspace(0, len(heights) - 1, n_steps).round().astype(int)
    return np.linspace(0, len(heights), n_steps + 1), heights[places]

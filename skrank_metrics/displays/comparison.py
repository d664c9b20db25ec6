"""The picture of a comparison: all rankings by several metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.decisions.decide import Status
from skrank_metrics.decisions.words import some_of, status_of
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display

# Panels with means, and rows, of the best models.
MOST_METRICS, MOST_MODELS = 3, 20
# Models that may be chosen.
GOOD: tuple[Status, ...] = (
    "best",
    "highest",
    "may be as good",
    "better",
    "equivalent",
    "not worse",
    "small loss",
)


class ComparisonDisplay(Display):
    """Models with the best highlighted: their means, and their differences from the best other or from the baseline.

    In each panel, a band is behind the models that may be the best by its metric, or that are better or not worse than
    the baseline, and the best mean is bold. A model has one colour in all panels: blue if it is in the band of each,
    grey if it is worse by each metric, and black if metrics disagree or nothing is known. The intervals of the
    differences are simultaneous, so they agree with the bands and with the verdict, the title. Of many models, the best
    20 are drawn.

    Parameters
    ----------
    result : Comparison
        Result of evaluate of several models, compare, cross_evaluate or search_report.
    metric : str, metric function or bound metric, default=None
        A metric of the comparison. None means the first, and the means of two others.

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
    >>> [text.get_text() for text in display.ax_.texts]
    ['1.0000', '0.7500']
    """

    result: Comparison

    def __init__(self, result: Comparison, *, metric: Any = None) -> None:
        super().__init__(result)
        board = result.by_metric(result.metrics[0] if metric is None else metric)
        self._outcome = board.outcome()
        self._verdict = board.verdict
        n_metrics = MOST_METRICS if metric is None else 1
        self._boards = [board, *map(board.by_metric, board.metrics[1:n_metrics])]
        self._rows = board.standings()[:MOST_MODELS]
        self._names = [row.name for row in self._rows]
        self._labels = [result.labels().get(name, name) for name in self._names]
        self._statuses = [_statuses_by(board) for board in self._boards]
        # Every metric that guards a release shows what it decides by.
        guards = [own for own in self._boards[1:] if own.outcome().margin is not None]
        self._decided = [own for own in (board, *guards) if own.tested]

    def _draw(self, ax: Any) -> None:
        # Metrics that are no means over queries, such as medians, have no verdict and no tests.
        is_tested = self._outcome.tested
        labels = [
            *map(_label_of_means, self._boards),
            *map(self._label_of_differences, self._decided),
        ]
        height = style.height_of(self._labels) + style.height_below(labels)
        n_panels = len(self._boards) + len(self._decided)
        panels = self.panels(ax, height, n_panels, self._verdict if is_tested else "")
        for board, statuses, panel in zip(self._boards, self._statuses, panels, strict=False):
            self._draw_rows(panel, statuses)
            self._draw_means(board, panel)
        for board, panel in zip(self._decided, panels[len(self._boards) :], strict=True):
            self._draw_rows(panel, _statuses_by(board))
            self._draw_differences(board, panel)

    def _draw_means(self, board: Comparison, ax: Any) -> None:
        metric, confidence, means = board.metrics[0], board.plan.confidence, board.means()
        best = board.outcome().ranked[0]
        for row, name in enumerate(self._names):
            ends = board.reports[name].intervals(confidence)[metric]
            colour, weight = self._colour_of(name), style.WEIGHTS[name == best]
            style.mark_mean(ax, row, means[name], ends, colour, weight=weight)
        ax.set_xlabel(_label_of_means(board))

    def _draw_differences(self, board: Comparison, ax: Any) -> None:
        outcome, look = board.outcome(), style.theme()
        standings = {row.name: row for row in outcome.standings}
        for row, name in enumerate(self._names):
            standing = standings[name]
            text = style.broken(status_of(outcome, standing))
            if standing.reference:
                text = f"{style.with_sign(standing.difference)}\N{EN SPACE}{text}"
            # A baseline differs by 0 from itself, for which it has NaN.
            difference = float(np.nan_to_num(standing.difference))
            colour = self._colour_of(standing.name)
            # Colour alone does not distinguish them for all readers.
            shape = "s" if colour == look.soft else "o"
            style.mark(ax, row, difference, standing.interval, colour, shape)
            style.write_beside(ax, (1, row), text, colour, xycoords=("axes fraction", "data"))
        ax.axvline(0, color=look.ink, linewidth=1, zorder=1)
        margin = outcome.margin
        if margin is not None:
            limit = -margin if board.greater_is_better else margin
            ax.axvline(limit, color=look.alarm, linewidth=1, linestyle="--", zorder=1)
            style.write_above(ax, limit, f"margin {margin:g}", look.alarm)
        ax.set_xlabel(self._label_of_differences(board))

    def _label_of_differences(self, board: Comparison) -> str:
        outcome, plan = board.outcome(), self.result.plan
        others = some_of(plan.baselines, "or") if plan.baselines else outcome.ranked[0]
        label = style.broken(f"{outcome.metric} minus that of {others}")
        better = "better \N{RIGHTWARDS ARROW}"
        if not board.greater_is_better:
            better = "\N{LEFTWARDS ARROW} better"
        return f"{label}\n{100 * plan.confidence:g}% intervals, {better}"

    def _draw_rows(self, ax: Any, statuses: Mapping[str, Status]) -> None:
        """Rows with names, and bands behind models that may be chosen."""
        look = style.polish(ax)
        for row, name in enumerate(self._names):
            if statuses[name] in GOOD:
                ax.axhspan(row - 0.5, row + 0.5, color=look.best, alpha=0.1, linewidth=0, zorder=0)
        style.draw_rows(ax, self._labels)
        ax.locator_params(axis="x", nbins=4 if len(self.axes_) < 3 else 2)

    def _colour_of(self, name: str) -> str:
        """The colour of a model in all panels."""
        look = style.theme()
        # Metrics that cannot be tested, such as medians, say nothing about it.
        known = {statuses[name] for statuses in self._statuses} - {""}
        if known == {"worse"}:
            return look.soft
        if known and known <= set(GOOD):
            return look.best
        return look.ink


def _statuses_by(board: Comparison) -> dict[str, Status]:
    return {row.name: row.status for row in board.standings()}


def _label_of_means(board: Comparison) -> str:
    label = style.broken(f"{board.metrics[0]}{style.DIRECTION[board.greater_is_better]}")
    return f"{label}\nmean, {100 * board.plan.confidence:g}% interval"

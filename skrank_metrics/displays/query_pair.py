"""The picture of two rankings, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.displays.comparison import outcomes_of_queries
from skrank_metrics.reports.comparison import Comparison

# Of more queries than this, points are smaller and fainter, as many cover each other.
FEW_POINTS = 200
FEW, MANY = {"markersize": 5, "alpha": 0.6}, {"markersize": 3, "alpha": 0.35}
PAIR_HEIGHT = 4.1


class QueryPairDisplay(Display):
    """One model against another: a point for each query, at its values for the two models.

    The diagonal is where both are equal. Create it with ``from_result``.

    Parameters
    ----------
    result : Comparison
        Result of evaluate of several models, compare or similar.
    first, second : str, default=None
        Names of the two models. None means the best, and the next best or the baseline.
    metric : str, metric function or bound metric, default=None
        A metric of the comparison. None means the first.

    See Also
    --------
    ComparisonDisplay : Means of several models, and which may be the best.

    Examples
    --------
    The relevant document of query "b" is at rank 1 for the first model and at rank 2 for the second:

    >>> from skrank_metrics import evaluate
    >>> from skrank_metrics.displays import QueryPairDisplay
    >>> scores = {"one": [2, 1, 2, 1], "other": [2, 1, 1, 2]}
    >>> board = evaluate([1, 0, 1, 0], scores, qid=["a", "a", "b", "b"], metrics="mrr")
    >>> display = QueryPairDisplay.from_result(board)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['1 query: one is better', '0 queries: other is better', '1 query: equal']
    """

    result: Comparison

    def __init__(
        self,
        result: Comparison,
        *,
        first: str | None = None,
        second: str | None = None,
        metric: Any = None,
    ) -> None:
        super().__init__(result)
        self._board = result.by_metric(result.metrics[0] if metric is None else metric)
        self._pair = self._board.pair(first, second)

    def _draw(self, ax: Any) -> None:
        pair, look = self._pair, style.theme()
        texts = outcomes_of_queries(pair)
        # What is below takes the place of the label of the horizontal axis.
        above = style.broken(f"{pair.metric} of {pair.second}, per query")
        ax = self.panel(ax, PAIR_HEIGHT + style.height_below([above, *texts]))
        style.polish(ax, "both")
        one, other = pair.values
        lead = pair.differences if self._board.greater_is_better else -pair.differences
        points: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0}
        points |= MANY if len(one) > FEW_POINTS else FEW
        ax.axline((0, 0), slope=1, color=look.ink, linewidth=1)
        colours = (look.best, look.second, look.soft)
        for where, colour, text in zip(
            (lead > 0, lead < 0, lead == 0), colours, texts, strict=True
        ):
            ax.plot(other[where], one[where], color=colour, label=text, **points)
        low, high = _limits(np.concatenate([one, other]))
        ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        ax.locator_params(nbins=5)
        ax.set_title(above, loc="left", size="small", color=look.soft)
        ax.xaxis.tick_top()
        ax.tick_params(axis="x", length=0)
        direction = style.DIRECTION[self._board.greater_is_better]
        ax.set_ylabel(style.broken(f"{pair.metric} of {pair.first}{direction}"))
        style.explain_below(ax)


def _limits(values: FloatArray) -> tuple[float, float]:
    """Ends of both axes, with some room; from 0 to 1 for shares."""
    low, high = float(values.min()), float(values.max())
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    room = 0.03 * ((high - low) or 1.0)
    return low - room, high + room

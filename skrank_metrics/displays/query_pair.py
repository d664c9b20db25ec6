"""The picture of two rankings, query by query."""

from __future__ import annotations

from typing import Any

from skrank_metrics._output.result import counted
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display

HEIGHT = 4.1  # in inches


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
        pair, is_better = self._pair, self._board.greater_is_better
        ax = self.panel(ax, HEIGHT)
        look = style.polish(ax, "both")
        ax.axline((0, 0), slope=1, color=look.ink, linewidth=1)
        lead = pair.differences if is_better else -pair.differences
        kinds = (
            (lead > 0, "o", look.best, f"{counted(pair.wins, 'query')}: {pair.first} is better"),
            (
                lead < 0,
                "^",
                look.second,
                f"{counted(pair.losses, 'query')}: {pair.second} is better",
            ),
            (lead == 0, "s", look.soft, f"{counted(pair.ties, 'query')}: equal"),
        )
        one, other = pair.values
        points: Any = {"linestyle": "none", "markersize": 4, "alpha": 0.5}
        # Colour alone does not distinguish them for all readers.
        for where, shape, colour, text in kinds:
            label = style.broken(text)
            ax.plot(other[where], one[where], shape, color=colour, label=label, **points)
        ax.set_aspect("equal")
        ax.set_xlabel(style.broken(f"{pair.metric} of {pair.second}{style.DIRECTION[is_better]}"))
        ax.set_ylabel(style.broken(f"{pair.metric} of {pair.first}{style.DIRECTION[is_better]}"))
        style.explain(ax)

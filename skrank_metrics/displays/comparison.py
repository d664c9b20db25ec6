"""Pictures of comparisons: all rankings by several metrics, and two rankings query by query."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.families import Interval
from skrank_metrics.reports.outcome import Pair, Standing, Status

# Panels with means, and the height of that with queries in inches.
MOST_METRICS, QUERIES_HEIGHT = 3, 1.7
# Steps in the panel with queries; of more queries, as many of their quantiles are drawn.
MOST_STEPS = 300
# Models that may be chosen have the colour of the best; those that are worse are grey.
GOOD: tuple[Status, ...] = ("best", "leads", "may be best", "better", "not worse")


class Mark(NamedTuple):
    """A value with its interval and a text, in the row of a model."""

    value: float
    interval: Interval
    text: str
    is_bold: bool = False


class Panel(NamedTuple):
    """A part of the picture, its size in inches and in shares of the width, and what draws it."""

    height: float
    width: float
    draw: Callable[[Any], None]


def colour_of(status: Status, look: style.Theme) -> str:
    """Colour of a model: blue if it may be chosen, grey if it is worse, and black if nothing is known."""
    if status in GOOD:
        return look.best
    return look.soft if status == "worse" else look.ink


class ComparisonDisplay(Display):
    """Models with the best highlighted: their means, and their differences from the best other or from the baseline.

    Blue models may be the best by the first metric that is drawn, grey ones are worse. With a baseline, blue models are
    better or not worse than it, and black ones are undecided. A model has one colour in all panels; the best mean of
    each panel is bold. The intervals of the differences are simultaneous, so they agree with these colours and with the
    verdict, the title. Two models get a further panel: the differences of the single queries.

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
    >>> [text.get_text() for text in display.axes_[2].texts]
    ['1 query: one is better', '0 queries: other is better', '1 query: equal']
    """

    result: Comparison

    def __init__(self, result: Comparison, *, metric: Any = None, n_models: int = 20) -> None:
        super().__init__(result)
        check_int(n_models, "n_models", 1)
        chosen = chosen_metrics(result, metric)
        has_two = len(result.names) == 2
        self._metrics = chosen[: 1 if has_two else MOST_METRICS]
        self._board = result.by_metric(chosen[0])
        self._pair = self._board.pair() if has_two and self._board.tested else None
        self._rows: Sequence[Standing] = self._board.standings()[:n_models]
        self._names = [row.name for row in self._rows]

    def _draw(self, ax: Any) -> None:
        title = self._board.verdict if self._board.tested else ""
        panels = self._planned(title)
        heights = [panel.height for panel in panels]
        widths = [panel.width for panel in panels]
        for place, panel in zip(self._panels(ax, heights, widths), panels, strict=True):
            panel.draw(place)
        if ax is None:
            style.entitle(self.figure_, title)

    def _planned(self, title: str) -> list[Panel]:
        # Labels below the rows have two lines.
        height = 0.2 + style.height_of(self._names) + style.height_of_title(title)
        panels = [Panel(height, 1.0, partial(self._draw_means, name)) for name in self._metrics]
        if self._board.tested:
            panels.append(Panel(height, 1.3, self._draw_differences))
        if self._pair is not None:
            texts = [
                f"{self._pair.n_queries} queries: {name} is better" for name in self._names[:2]
            ]
            height = max(height, QUERIES_HEIGHT) + style.height_below(texts)
            panels.append(Panel(height, 1.8, partial(self._draw_queries, self._pair)))
        return panels

    def _draw_means(self, metric: str, ax: Any) -> None:
        own, confidence = self.result.by_metric(metric), self.result.plan.confidence
        means = own.means()
        best = own.outcome().ranked[0]
        spelled = style.spell(*(means[name] for name in self._names))
        marks = []
        for name in self._names:
            interval = self.result.reports[name].intervals(confidence)[metric]
            marks.append(Mark(means[name], interval, spelled(means[name]), name == best))
        self._draw_rows(ax, marks)
        direction = style.DIRECTION[own.greater_is_better]
        ax.set_xlabel(f"{metric}{direction}\nmean, {100 * confidence:g}% interval")

    def _draw_differences(self, ax: Any) -> None:
        plan, look = self.result.plan, style.theme()
        spelled = style.spell(*(row.difference for row in self._rows), signed=True)
        marks = []
        for row in self._rows:
            if math.isnan(row.difference):  # as that of the baseline is
                marks.append(Mark(0.0, row.interval, row.status))
            else:
                text = f"{spelled(row.difference)}\N{EN SPACE}{row.status}"
                marks.append(Mark(row.difference, row.interval, text))
        self._draw_rows(ax, marks, aligned=True)
        ax.axvline(0, color=look.ink, linewidth=1, zorder=1)
        margin = self._board.outcome().margin
        if margin is not None:
            limit = -margin if self._board.greater_is_better else margin
            ax.axvline(limit, color=look.alarm, linewidth=1, linestyle="--", zorder=1)
        other = style.plain(plan.baseline or "the best other")
        level = f"simultaneous {100 * plan.confidence:g}% intervals"
        ax.set_xlabel(f"difference from {other},\n{level}")

    def _draw_rows(self, ax: Any, marks: Sequence[Mark], *, aligned: bool = False) -> None:
        """Marks with intervals and texts in the colours of the models, on a band for those that may be chosen."""
        look = style.polish(ax)
        has_names = ax is self.ax_ or style.is_narrow()
        across = self._own_figure and (style.is_narrow() or self._pair is None)
        for row, (standing, mark) in enumerate(zip(self._rows, marks, strict=True)):
            colour = colour_of(standing.status, look)
            if standing.status in GOOD and (has_names or not across):
                style.highlight(ax, row, across=across)
            style.mark_mean(
                ax, mark.value, row, mark.interval, color=colour, markersize=6, elinewidth=2
            )
            end = 1.0 if aligned else float(np.nanmax([mark.value, *mark.interval]))
            coordinates = ("axes fraction", "data") if aligned else "data"
            weight = "bold" if mark.is_bold else "normal"
            style.write_beside(
                ax, (end, row), mark.text, colour, xycoords=coordinates, weight=weight
            )
        inks = [look.soft if row.status == "worse" else look.ink for row in self._rows]
        bold = [n for n, row in enumerate(self._rows) if row.status in ("best", "better")]
        names = self._names if has_names else [""] * len(marks)
        style.draw_rows(ax, names, inks, bold=bold)
        ax.locator_params(axis="x", nbins=4 if len(self.axes_) < 3 else 2)

    def _draw_queries(self, pair: Pair, ax: Any) -> None:
        look = style.polish(ax, "y")
        heights = np.sort(pair.differences)[::-1]
        edges, steps = _steps(heights)
        is_up = self._board.greater_is_better
        first, second = self._colours_of(pair, look)
        lines = []
        for name, colour, wins_up in (
            (pair.first, first, is_up),
            (pair.second, second, not is_up),
        ):
            n_better = int((heights > 0).sum() if wins_up else (heights < 0).sum())
            wins = np.maximum(steps, 0) if wins_up else np.minimum(steps, 0)
            ax.stairs(wins, edges, fill=True, color=colour, linewidth=0)
            lines.append((f"{counted(n_better, 'query')}: {name} is better", colour))
        n_equal = int((heights == 0).sum())
        if n_equal:
            lines.append((f"{counted(n_equal, 'query')}: equal", look.soft))
        ax.axhline(0, color=look.ink, linewidth=1)
        ax.set(xlim=(0, len(heights)), xticks=[])
        style.write_below(ax, lines)

    def _colours_of(self, pair: Pair, look: style.Theme) -> tuple[str, str]:
        """The colours of both models, as in the other panels; grey for the second if they have the same."""
        of_name = {row.name: colour_of(row.status, look) for row in self._board.standings()}
        first, second = of_name[pair.first], of_name[pair.second]
        return (first, look.soft) if first == second else (first, second)


def chosen_metrics(result: Comparison, metric: Any) -> tuple[str, ...]:
    """All metrics of a comparison, or the one that is asked for."""
    if metric is None:
        return result.metrics
    report = result.reports[result.names[0]]
    return (check_column(metric, {name: report.metrics[name] for name in result.metrics}),)


def _steps(heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Edges and heights of steps: one for each query, or quantiles of many queries."""
    n_steps = min(len(heights), MOST_STEPS)
    places = np.linspace(0, len(heights) - 1, n_steps).round().astype(int)
    return np.linspace(0, len(heights), n_steps + 1), heights[places]


# Of more queries than this, points are smaller and fainter.
FEW_POINTS = 200
PAIR_HEIGHT = 4.2


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
    >>> [text.get_text() for text in display.ax_.texts]
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
        (chosen, *_) = chosen_metrics(result, metric)
        self._board = result.by_metric(chosen)
        self._pair = self._board.pair(first, second)

    def _draw(self, ax: Any) -> None:
        pair, look = self._pair, style.theme()
        texts = [
            (f"{counted(pair.wins, 'query')}: {pair.first} is better", look.best),
            (f"{counted(pair.losses, 'query')}: {pair.second} is better", look.second),
            (f"{counted(pair.ties, 'query')}: equal", look.soft),
        ]
        below = style.height_below([text for text, _ in texts])
        (ax,) = self._panels(ax, [PAIR_HEIGHT + below])
        style.polish(ax, "both")
        one, other = pair.values
        lead = pair.differences if self._board.greater_is_better else -pair.differences
        is_many = len(one) > FEW_POINTS
        ax.scatter(
            other,
            one,
            s=10 if is_many else 24,
            c=np.select([lead > 0, lead < 0], [look.best, look.second], look.soft),
            alpha=0.35 if is_many else 0.6,
            linewidth=0,
            zorder=3,
        )
        ax.axline((0, 0), slope=1, color=look.ink, linewidth=1)
        low, high = _limits(np.concatenate([one, other]))
        ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        ax.locator_params(nbins=5)
        # The lines below take the place of the label of the horizontal axis.
        above = f"{pair.metric} of {style.plain(pair.second)}, per query"
        ax.set_title(above, loc="left", size="small", color=look.soft)
        ax.xaxis.tick_top()
        ax.tick_params(axis="x", length=0)
        direction = style.DIRECTION[self._board.greater_is_better]
        ax.set_ylabel(f"{pair.metric} of {style.plain(pair.first)}{direction}")
        style.write_below(ax, texts[: 3 if pair.ties else 2])


def _limits(values: FloatArray) -> tuple[float, float]:
    """Ends of both axes, with some room; from 0 to 1 for shares."""
    low, high = float(values.min()), float(values.max())
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    room = 0.03 * ((high - low) or 1.0)
    return low - room, high + room

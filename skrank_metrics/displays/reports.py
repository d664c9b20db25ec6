"""Pictures of reports, of comparisons, and of the gap between two conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from math import ceil, isnan
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import check_column, get_metric
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.explain_difference import Difference
from skrank_metrics.reports.outcome import Pair, Standing
from skrank_metrics.reports.ranking_report import RankingReport

# Panels with means, and the height of that with queries in inches.
MOST_METRICS, QUERIES_HEIGHT = 3, 1.7
# Steps in the panel with queries; of more queries, as many of their quantiles are drawn.
MOST_STEPS = 300
# Models that may be chosen have the colour of the best; those that are worse are grey.
GOOD, WORSE = ("best", "leads", "may be best", "better", "not worse"), "worse"
# A model, and what is drawn of it: a value with its interval, and a text.
Mark: TypeAlias = tuple[Standing, float, tuple[float, float], str]


class ComparisonDisplay(Display):
    """Models with the best highlighted: their means, and their differences from the best other or from the baseline.

    Blue models may be the best, grey ones are worse. With a baseline, blue models are better or not worse than it, and
    black ones are undecided. The intervals of the differences are simultaneous, so they agree with these colours and
    with the verdict, the title. Two models get a further panel: the differences of the single queries.

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

    >>> from skrank_metrics import leaderboard
    >>> scores = {"one": [2, 1, 2, 1], "other": [2, 1, 1, 2]}
    >>> display = leaderboard([1, 0, 1, 0], scores, qid=["a", "a", "b", "b"], metrics="mrr").plot()
    >>> [text.get_text() for text in display.axes_[2].texts]
    ['1 query: one is better', '0 queries: other is better', '1 query: equal']
    """

    def __init__(self, result: Comparison, *, metric: Any = None, n_models: int = 20) -> None:
        super().__init__(result)
        check_int(n_models, "n_models", 1)
        chosen = (
            result.metrics
            if metric is None
            else (check_column(metric, result.reports[result.names[0]].metrics),)
        )
        two = len(result.names) == 2
        self._metrics = chosen[: 1 if two else MOST_METRICS]
        self._board = result.by_metric(chosen[0])
        self._pair = self._board.pair() if two and self._board.tested else None
        self._names = [row.name for row in self._board.standings()][:n_models]

    def _draw(self, ax: Any) -> None:
        title = self._board.verdict if self._board.tested else ""
        height = (
            0.2 + style.height_of(self._names) + style.height_of_title(title)
        )  # labels have two lines
        panels: list[tuple[float, float, Callable[[Any], None]]]
        panels = [(height, 1.0, partial(self._draw_means, metric)) for metric in self._metrics]
        if self._board.tested:
            panels.append((height, 1.3, self._draw_differences))
        if self._pair:
            texts = [
                f"{self._pair.n_queries} queries: {name} is better" for name in self._names[:2]
            ]
            height = max(height, QUERIES_HEIGHT) + style.height_below(texts)
            panels.append((height, 1.8, partial(self._draw_queries, self._pair)))
        heights, widths, functions = zip(*panels, strict=True)
        for panel, function in zip(self._panels(ax, heights, widths), functions, strict=True):
            function(panel)
        if ax is None:
            style.entitle(self.figure_, title)

    def _draw_means(self, metric: str, ax: Any) -> None:
        own, confidence = self.result.by_metric(metric), self.result.plan.confidence
        found = {row.name: row for row in own.standings()}
        rows = [found[name] for name in self._names]  # in the order of the first metric
        spelled = style.spell(*(row.mean for row in rows))
        ends = [self.result.reports[row.name].intervals(confidence)[metric] for row in rows]
        self._draw_rows(
            ax,
            [
                (row, row.mean, pair, spelled(row.mean))
                for row, pair in zip(rows, ends, strict=True)
            ],
        )
        ax.set_xlabel(
            f"{metric}{style.DIRECTION[own.greater_is_better]}\nmean, {100 * confidence:g}% interval"
        )

    def _draw_differences(self, ax: Any) -> None:
        result, look, rows = self.result, style.theme(), self._board.standings()[: len(self._names)]
        spelled, marks = style.spell(*(row.difference for row in rows), signed=True), []
        for row in rows:
            known = not isnan(row.difference)  # as that of the baseline is
            text = f"{spelled(row.difference)}\N{EN SPACE}{row.status}" if known else row.status
            marks.append((row, row.difference if known else 0.0, row.interval, text))
        self._draw_rows(ax, marks, aligned=True)
        ax.axvline(0, color=look.ink, linewidth=1, zorder=1)
        if result.plan.margin is not None:
            limit = -result.plan.margin if self._board.greater_is_better else result.plan.margin
            ax.axvline(limit, color=look.alarm, linewidth=1, linestyle="--", zorder=1)
        level = f"simultaneous {100 * result.plan.confidence:g}% intervals"
        ax.set_xlabel(
            f"difference from {style.plain(result.plan.baseline or 'the best other')},\n{level}"
        )

    def _draw_rows(self, ax: Any, marks: Sequence[Mark], *, aligned: bool = False) -> None:
        """Marks with intervals and texts in the colour of the status, on a band for models that may be chosen."""
        look, first = style.polish(ax), ax is self.ax_ or style.is_narrow()
        across = self._own_figure and (style.is_narrow() or not self._pair)
        for row, (one, value, interval, text) in enumerate(marks):
            colour = (
                look.best if one.status in GOOD else look.soft if one.status == WORSE else look.ink
            )
            if colour == look.best and (first or not across):
                style.highlight(ax, row, across=across)
            style.mark_mean(ax, value, row, interval, color=colour, markersize=6, elinewidth=2)
            place = (1, row) if aligned else (np.nanmax([value, *interval]), row)
            style.write_beside(
                ax, place, text, colour, xycoords=("axes fraction", "data") if aligned else "data"
            )
        inks = [look.soft if one.status == WORSE else look.ink for one, *_ in marks]
        bold = [row for row, (one, *_) in enumerate(marks) if one.status in ("best", "better")]
        style.draw_rows(ax, self._names if first else len(marks) * [""], inks, bold=bold)
        ax.locator_params(axis="x", nbins=4 if len(self.axes_) < 3 else 2)

    def _draw_queries(self, pair: Pair, ax: Any) -> None:
        look, greater = style.polish(ax, "y"), self._board.greater_is_better
        heights = np.sort(pair.differences)[::-1]
        shown = heights[
            np.linspace(0, len(heights) - 1, min(len(heights), MOST_STEPS)).round().astype(int)
        ]
        edges, lines = np.linspace(0, len(heights), len(shown) + 1), []
        for name, colour, up in (
            (pair.first, look.best, greater),
            (pair.second, look.alarm, not greater),
        ):
            part, n_better = (shown > 0, heights > 0) if up else (shown < 0, heights < 0)
            ax.stairs(np.where(part, shown, 0.0), edges, fill=True, color=colour, linewidth=0)
            lines.append((f"{counted(int(n_better.sum()), 'query')}: {name} is better", colour))
        if n_equal := int((heights == 0).sum()):
            lines.append((f"{counted(n_equal, 'query')}: equal", look.soft))
        ax.axhline(0, color=look.ink, linewidth=1)
        ax.set(xlim=(0, len(heights)), xticks=[])
        style.write_below(ax, lines)


# Longer curves have a marker at every second cutoff, or fewer.
MOST_MARKERS = 25
# If there are more models, only the first is highlighted.
MOST_COLOURED, MOST_BANDS = 4, 3
CURVES_HEIGHT = 3.8  # in inches, if the names need no more


class MetricAtKDisplay(Display):
    """Curves of a metric against the cutoff rank k, with 95% intervals of the means over queries.

    Create it with ``from_result``. The name of each model of a comparison is beside the end of its curve. At most three
    models have bands; of more than four, only the best is highlighted, and the others are grey lines.

    Parameters
    ----------
    result : RankingReport or Comparison
        Result of evaluate, compare, leaderboard or similar, with a metric at two or more cutoffs, such as
        "ndcg@1,5,10".
    metric : str, metric function or bound metric, default=None
        One of its metrics; the cutoff does not matter. None means the first that has several.

    See Also
    --------
    QueryScoreDisplay : The distribution of a metric over queries.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> from skrank_metrics import evaluate
    >>> from skrank_metrics.displays import MetricAtKDisplay
    >>> report = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="recall@1,2")
    >>> display = MetricAtKDisplay.from_result(report)
    >>> display.ax_.get_lines()[0].get_ydata().tolist()
    [0.5, 1.0]
    """

    def __init__(self, result: RankingReport | Comparison, *, metric: Any = None) -> None:
        super().__init__(result)
        self._reports: dict[str, RankingReport] = getattr(result, "reports", {"": result})
        self._metric, self._columns = _columns_at_k(next(iter(self._reports.values())), metric)

    def _draw(self, ax: Any) -> None:
        names, k = list(self._reports), list(self._columns)
        (ax,) = self._panels(ax, [max(CURVES_HEIGHT, 1 + style.height_below(names))])
        look, coloured = style.polish(ax, "y"), names if len(names) <= MOST_COLOURED else names[:1]
        lines = {}
        for name, report in reversed(self._reports.items()):  # the best is drawn last, on top
            line = {"color": look.soft, "linewidth": 0.9}
            if name in coloured:
                line = {
                    "color": look.curves[coloured.index(name)],
                    "linewidth": 2,
                    "marker": "o",
                    "markersize": 3.5,
                }
                line["markevery"] = ceil(len(k) / MOST_MARKERS)
            (lines[name],) = ax.plot(
                k, [report.mean[column] for column in self._columns.values()], **line, zorder=2
            )
            if name in coloured and len(coloured) <= MOST_BANDS:
                intervals = report.intervals()
                ends = zip(*(intervals[column] for column in self._columns.values()), strict=True)
                ax.fill_between(k, *ends, color=line["color"], alpha=0.14, linewidth=0)
        ax.set_xticks(style.count_ticks(k[0], k[-1]))
        ax.margins(x=0.02)
        ax.set(
            xlabel="cutoff rank k", ylabel=f"{self._metric}@k, mean over queries with 95% interval"
        )
        style.label_ends(ax, lines, bold=coloured)


def _columns_at_k(report: RankingReport, metric: Any) -> tuple[str, dict[int, str]]:
    """The metric without its cutoff as text, and the columns of the report by cutoff, smallest first."""
    found: dict[str, dict[int, str]] = {}
    for column, bound in report.metrics.items():
        # By the name in the report, as a convention may have changed the parameters, and by the metric itself.
        for whole in (
            (column.removesuffix(f"@{bound.k}"), str(bound.replace(k=None))) if bound.k else ()
        ):
            found.setdefault(whole, {})[bound.k or 0] = column
    chosen = None if metric is None else get_metric(metric)
    wanted = chosen and str(chosen.replace(k=None) if chosen.k else chosen)
    for whole, columns in found.items():
        if len(columns) > 1 and wanted in (None, whole):
            return whole, dict(sorted(columns.items()))
    what = f"{wanted or 'a metric'} at two or more cutoffs, such as {wanted or 'ndcg'}@1,5,10"
    raise ValueError(f"result must hold {what}; got {', '.join(report.mean)}.")


N_BINS = 25
# Height of a row in inches; shares of it that the largest bar takes, and places of bars and mean below its middle.
ROW, HEIGHT, BASE, MEAN = 0.55, 0.6, 0.2, 0.33


class QueryScoreDisplay(Display):
    """Distribution of metrics over queries, one row per metric and slice, or per model of a comparison.

    Each row is a histogram of the values of the queries, scaled to the same height, above its mean and interval.

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

    >>> from skrank_metrics import evaluate
    >>> display = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr").plot()
    >>> [text.get_text() for text in display.ax_.texts]
    ['0.7500']
    """

    def __init__(self, result: RankingReport | Comparison, *, metric: Any = None) -> None:
        super().__init__(result)
        reports: dict[str, RankingReport] = getattr(result, "reports", {"": result})
        self._report = next(iter(reports.values()))
        metrics = self._report.metrics
        self._metric = next(iter(metrics)) if metric is None else check_column(metric, metrics)
        # Rows, as their name, metric and report; the slices are below the metric.
        self._rows, self._slices = (
            [(name, self._metric, report) for name, report in reports.items()],
            range(0),
        )
        if "" not in reports:
            return
        of_queries = self._report.per_query
        alike = metric is None and _is_share(
            of_queries[self._metric]
        )  # others can be drawn on its axis
        names = [
            name
            for name in metrics
            if name == self._metric or (alike and _is_share(of_queries[name]))
        ]
        shown = [(name, self._metric, part) for name, part in self._report._shown_slices]
        self._rows, self._slices = (
            [(name, name, self._report) for name in names],
            range(1, 1 + len(shown)),
        )
        self._rows[1:1] = shown

    def _draw(self, ax: Any) -> None:
        names, edges = [name for name, *_ in self._rows], self._edges()
        (ax,) = self._panels(ax, [style.height_of(names, ROW)])
        look, spelled = (
            style.polish(ax),
            style.spell(*(report.mean[metric] for _, metric, report in self._rows)),
        )
        for row, (_, metric, report) in enumerate(self._rows):
            values, mean, ends = (
                report.per_query[metric],
                report.mean[metric],
                report.intervals()[metric],
            )
            defined = ~np.isnan(values)
            weights = None if report.weights is None else report.weights[defined]
            counts = np.histogram(values[defined], edges, weights=weights)[0]
            heights = row + BASE - HEIGHT * counts / max(counts.max(), 1e-300)
            colour = look.soft if row in self._slices else look.best
            ax.stairs(heights, edges, baseline=row + BASE, fill=True, color=colour, alpha=0.45)
            style.mark_mean(ax, mean, row + MEAN, ends, color=colour, markersize=4, elinewidth=1.5)
            style.write_beside(ax, (np.nanmax([mean, ends[1]]), row + MEAN), spelled(mean), colour)
        style.draw_rows(
            ax, names, [look.soft if row in self._slices else look.ink for row in range(len(names))]
        )
        direction = style.DIRECTION[self._report.metrics[self._metric].greater_is_better]
        ax.set_xlabel(f"value per query, and mean with 95% interval{direction}")

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


class DifferenceDisplay(Display):
    """Waterfall from the value of one convention to that of another, one step per cause.

    Steps up are blue, steps down are orange, and each has its effect beside it.

    Parameters
    ----------
    result : Difference
        Result of explain_difference.

    See Also
    --------
    explain_difference : Attribute the gap to its causes, in numbers.

    Examples
    --------
    Query "b" has no relevant document and counts as 0 or 1, which changes the mean by 1/2:

    >>> from skrank_metrics import explain_difference
    >>> y, scores, qid = [1, 0, 0], [2, 1, 0], ["a", "a", "b"]
    >>> display = explain_difference(y, scores, qid=qid).plot()
    >>> [float(bar.get_width()) for bar in display.ax_.patches]
    [0.0, 0.0, 0.5]
    """

    result: Difference

    def _draw(self, ax: Any) -> None:
        found = self.result
        causes = [cause.shown.replace("->", "\N{RIGHTWARDS ARROW}") for cause in found.causes]
        names = [found.conventions[0], *causes, found.conventions[1]]
        effects = [cause.effect for cause in found.causes]
        levels = list(accumulate(effects, initial=found.start))
        (ax,) = self._panels(ax, [style.height_of(names)])
        look, last = style.polish(ax), len(names) - 1
        ax.use_sticky_edges = False  # of bars, which leave no margin
        value, change = (style.spell(*effects, *levels, signed=signed) for signed in (False, True))
        for row, (effect, before, after) in enumerate(
            zip(effects, levels, levels[1:], strict=False), start=1
        ):
            colour = look.best if effect >= 0 else look.alarm
            ax.barh(row, effect, left=before, height=0.55, color=colour)
            style.write_beside(ax, (max(before, after), row), change(effect), colour)
        for row, level in enumerate(levels):  # from each step to the next
            ax.plot([level, level], [row, row + 1], color=look.soft, linewidth=0.8, zorder=0)
        for row, level in ((0, levels[0]), (last, levels[-1])):
            ax.plot(level, row, linestyle="none", marker="D", markersize=6, color=look.ink)
            style.write_beside(ax, (level, row), value(level), look.ink)
        style.draw_rows(ax, names, bold=(0, last))
        ax.set_xlabel(found.metric)

"""Several rankings: how good each is, which are the best, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.comparison import Comparison

# Panels with means, and the height of that with queries in inches.
MOST_METRICS, QUERIES_HEIGHT = 3, 1.7
# Steps in the panel with queries; of more queries, as many of their quantiles are drawn.
MOST_STEPS = 300
# Models that may be chosen have the colour of the best; those that are worse are grey.
GOOD = ("best", "leads", "may be best", "better", "not worse")


class ComparisonDisplay(Display):
    """Models with the best highlighted: their means, and their differences from the best other or from the baseline.

    Create it with ``from_result``. Blue models may be the best, grey ones are worse. With a baseline, blue models are
    better or not worse than it, and black ones are undecided. The intervals of the differences are simultaneous, so
    they agree with these colours and with the verdict. Two models get a further panel: the differences of the single
    queries.

    Parameters
    ----------
    names : sequence of str
        Names of the models, the best one first.
    means : dict of str to array-like of float of shape (n_models,)
        Means by name of the metric, the first of which decides.
    intervals : dict of str to array-like of float of shape (n_models, 2)
        Lower and upper ends of the intervals of these means; NaN if there is none.
    statuses : dict of str to sequence of str
        By name of the metric, what is known about each model: "best", "leads", "may be best" or "worse"; with a
        baseline "baseline", "better", "not worse", "worse" or "undecided"; "" if nothing was tested.
    differences : array-like of float of shape (n_models,), default=None
        Differences in the first metric. None, as for a single model, draws the means only.
    ends : array-like of float of shape (n_models, 2), default=None
        Lower and upper ends of the simultaneous intervals of these differences; NaN if there is none.
    reference : str, default="the best other"
        What the models are compared with.
    by_query : array-like of float of shape (n_queries,), default=None
        Differences of the single queries between two models.
    pair : tuple of str, default=("first", "second")
        Names of these two models.
    margin : float, default=None
        Largest acceptable loss, drawn as a line.
    lower_is_better : sequence of str, default=()
        Metrics of which smaller values are better.
    confidence : float, default=0.95
        Confidence level of the intervals.
    verdict : str, default=""
        Title of a new figure.

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
    axes_ : list of matplotlib Axes
        The panels.
    ax_, figure_ : matplotlib Axes and Figure
        The first panel, and the figure that it is in.

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
    >>> display.names, display.differences.tolist()
    (['one', 'other'], [0.25, -0.25])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        names: Sequence[str],
        means: Mapping[str, Any],
        intervals: Mapping[str, Any],
        statuses: Mapping[str, Sequence[str]],
        *,
        differences: Any = None,
        ends: Any = None,
        reference: str = "the best other",
        by_query: Any = None,
        pair: tuple[str, str] = ("first", "second"),
        margin: float | None = None,
        lower_is_better: Sequence[str] = (),
        confidence: float = 0.95,
        verdict: str = "",
    ) -> None:
        self.names = list(names)
        self.means: dict[str, FloatArray] = {name: np.asarray(row, dtype=np.float64) for name, row in means.items()}
        self.intervals: dict[str, FloatArray] = {name: np.asarray(rows) for name, rows in intervals.items()}
        self.statuses = {name: list(row) for name, row in statuses.items()}
        self.differences: FloatArray | None = None if differences is None else np.asarray(differences, dtype=np.float64)
        self.ends: FloatArray = np.full((len(self.names), 2), np.nan) if ends is None else np.asarray(ends)
        self.reference = reference
        self.by_query: FloatArray | None = None if by_query is None else np.asarray(by_query, dtype=np.float64)
        self.pair = pair
        self.margin = margin
        self.lower_is_better = set(lower_is_better)
        self.confidence = confidence
        self.verdict = verdict

    def _draw(self, ax: Any) -> None:
        height = 0.2 + style.height_of(self.names) + style.height_of_title(self.verdict)  # labels have two lines
        heights, widths = len(self.means) * [height], len(self.means) * [1.0]
        if self.differences is not None:
            heights, widths = [*heights, height], [*widths, 1.3]
        if self.by_query is not None:
            texts = [f"{len(self.by_query)} queries: {name} is better" for name in self.pair]
            heights, widths = [*heights, max(height, QUERIES_HEIGHT + style.height_below(texts))], [*widths, 1.5]
        panels = iter(self._panels(ax, heights, widths))
        self.levels_ = [self._draw_means(next(panels), metric) for metric in self.means]
        self.differences_: list[Any] = []
        self.texts_: list[Any] = []
        if self.differences is not None:
            self._draw_differences(next(panels), self.differences)
        self.areas_ = [] if self.by_query is None else self._draw_queries(next(panels), self.by_query)
        if ax is None:
            style.entitle(self.figure_, self.verdict)

    def _draw_means(self, ax: Any, metric: str) -> list[Any]:
        means, statuses = self.means[metric], self.statuses[metric]
        bars, _ = self._draw_rows(ax, means, self.intervals[metric], statuses, list(map(style.spell(*means), means)))
        label = style.with_direction(metric, metric not in self.lower_is_better)
        ax.set_xlabel(f"{label}\nmean, {100 * self.confidence:g}% interval")
        return bars

    def _draw_differences(self, ax: Any, differences: FloatArray) -> None:
        spelled, statuses = style.spell(*differences, signed=True), next(iter(self.statuses.values()))
        texts = [
            status if np.isnan(difference) else f"{spelled(difference)}\N{EN SPACE}{status}".rstrip()
            for difference, status in zip(differences, statuses, strict=True)
        ]
        shown = np.nan_to_num(differences)  # the baseline, which has no difference, is at 0
        self.differences_, self.texts_ = self._draw_rows(ax, shown, self.ends, statuses, texts, aligned=True)
        look, metric = style.theme(), next(iter(self.means))
        ax.axvline(0, color=look.ink, linewidth=1, zorder=1)
        if self.margin is not None:
            limit = self.margin if metric in self.lower_is_better else -self.margin
            ax.axvline(limit, color=look.alarm, linewidth=1, linestyle="--", zorder=1)
        ax.set_xlabel(f"difference from {self.reference},\nsimultaneous {100 * self.confidence:g}% intervals")

    def _draw_rows(
        self,
        ax: Any,
        values: FloatArray,
        ends: FloatArray,
        statuses: Sequence[str],
        texts: Sequence[str],
        *,
        aligned: bool = False,
    ) -> tuple[list[Any], list[Any]]:
        """Marks with intervals and texts in the colour of the status, on a band for models that may be chosen."""
        look, bars, written = style.polish(ax), [], []
        colours = [look.best if word in GOOD else look.soft if word == "worse" else look.ink for word in statuses]
        across = self._own_figure and (style.is_narrow() or self.by_query is None)
        for row, (value, interval, text, colour) in enumerate(zip(values, ends, texts, colours, strict=True)):
            if colour == look.best and (ax is self.ax_ or style.is_narrow() or not across):
                style.highlight(ax, row, across=across)
            marks = {"fmt": "o", "markersize": 6, "elinewidth": 2, "color": colour}
            bars.append(ax.errorbar(value, row, xerr=np.abs(interval - value)[:, None], **marks))
            place = (1, row) if aligned else (np.nanmax([value, *interval]), row)
            coordinates = ("axes fraction", "data") if aligned else "data"
            written.append(style.write_beside(ax, *place, text, colour=colour, xycoords=coordinates))
        first = ax is self.ax_ or style.is_narrow()
        inks = [look.soft if word == "worse" else look.ink for word in statuses]
        bold = [row for row, word in enumerate(statuses) if word in ("best", "better")]
        style.draw_rows(ax, self.names if first else len(self.names) * [""], inks, bold=bold)
        ax.locator_params(axis="x", nbins=4 if len(self.axes_) < 3 else 2)
        return bars, written

    def _draw_queries(self, ax: Any, by_query: FloatArray) -> list[Any]:
        look, lower = style.polish(ax, "y"), next(iter(self.means)) in self.lower_is_better
        heights = np.sort(by_query)[::-1]
        shown = heights[np.linspace(0, len(heights) - 1, min(len(heights), MOST_STEPS)).round().astype(int)]
        edges = np.linspace(0, len(heights), len(shown) + 1)
        areas, lines = [], []
        for name, colour, up in (self.pair[0], look.best, not lower), (self.pair[1], look.alarm, lower):
            part, n_better = (shown > 0, heights > 0) if up else (shown < 0, heights < 0)
            areas.append(ax.stairs(np.where(part, shown, 0.0), edges, fill=True, color=colour, linewidth=0))
            lines.append((f"{counted(int(n_better.sum()), 'query')}: {name} is better", colour))
        if n_equal := int((heights == 0).sum()):
            lines.append((f"{counted(n_equal, 'query')}: equal", look.soft))
        ax.axhline(0, color=look.ink, linewidth=1)
        ax.set(xlim=(0, len(heights)), xticks=[])
        style.write_below(ax, lines)
        return areas

    @classmethod
    def from_result(
        cls,
        result: Comparison,
        *,
        metric: Any = None,
        pair: tuple[str, str] | None = None,
        n_models: int = 20,
        ax: Any = None,
    ) -> ComparisonDisplay:
        """Draw a comparison.

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
        ax : matplotlib Axes, default=None
            Axes to divide into panels. None creates a new figure.

        Returns
        -------
        display : ComparisonDisplay
            The drawn display.
        """
        check_int(n_models, "n_models", 1)
        metrics = (
            list(result.metrics) if metric is None else [check_column(metric, result.reports[result.names[0]].metrics)]
        )
        only = pair or len(result.names) == 2
        metrics, first = metrics[: 1 if only else MOST_METRICS], metrics[0]
        rows = {name: {row.name: row for row in result.standings(name)} for name in metrics}
        names = list(rows[first])[:n_models]
        ends = {name: result.reports[name].intervals(result.confidence) for name in names}
        tested = result.tested(first) and len(rows[first]) > 1
        one = result.pair(*(pair or (None, None)), metric=first) if only and tested else None
        display = cls(
            names,
            {name: [rows[name][model].mean for model in names] for name in metrics},
            {name: [ends[model][name] for model in names] for name in metrics},
            {name: [rows[name][model].status for model in names] for name in metrics},
            differences=[rows[first][model].difference for model in names] if tested else None,
            ends=[rows[first][model].interval for model in names] if tested else None,
            reference=result.baseline or "the best other",
            by_query=None if one is None else one.differences,
            pair=("", "") if one is None else (one.first, one.second),
            margin=result.margin,
            lower_is_better=[name for name in metrics if not result.greater_is_better(name)],
            confidence=result.confidence,
            verdict=result.verdict_of(first) if tested else "",
        )
        return display.plot(ax)

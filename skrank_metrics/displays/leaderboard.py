"""The picture of a leaderboard: models against the best, with paired intervals."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics._output.result import counted
from skrank_metrics.displays._base import COLOURS, GREY, decimals, documented, ink, legend, use_axes, with_direction
from skrank_metrics.reports.board import Leaderboard
from skrank_metrics.reports.comparison import Comparison

# Longer names of models, and labels of the axis, are wrapped.
NAME_WIDTH, LABEL_WIDTH = 36, 60
_BARS = ("dict", "Properties of the intervals and their dots, as for matplotlib's ``errorbar``.")


class LeaderboardDisplay:
    """Models compared with the best: the mean difference of each, with its paired interval, as a forest plot.

    Create it with ``from_leaderboard`` or ``from_comparison``. The intervals are not adjusted for the number of models;
    the colours show which models are significantly different after the correction.

    Parameters
    ----------
    models : sequence of str
        Names of the models, the best one first.
    differences : array-like of float of shape (n_models - 1,)
        Mean of each other model minus that of the best.
    intervals : array-like of float of shape (n_models - 1, 2)
        Lower and upper ends of their intervals; NaN if there is none.
    different : array-like of bool of shape (n_models - 1,)
        Whether each is significantly different from the best.
    metric : str
        Name of the metric.
    greater_is_better : bool, default=True
        Whether larger values are better.
    confidence : float, default=0.95
        Confidence level of the intervals, for the label.

    Attributes
    ----------
    bars_ : list of matplotlib ErrorbarContainer
        Models that are not significantly different from the best, and those that are.
    best_ : matplotlib Line2D
        Mark of the best.
    line_ : matplotlib Line2D
        Vertical line at 0.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    leaderboard : Rank the models, in numbers.
    ComparisonDisplay : The differences between two models, query by query.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import LeaderboardDisplay, leaderboard
    >>> scores = {"one": [2, 1, 2, 1], "other": [2, 1, 1, 2]}
    >>> board = leaderboard([1, 0, 1, 0], scores, qid=["a", "a", "b", "b"], metrics="mrr")
    >>> display = LeaderboardDisplay.from_leaderboard(board)
    >>> display.models, display.differences
    (['one', 'other'], array([-0.25]))
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        models: Any,
        differences: Any,
        intervals: Any,
        different: Any,
        *,
        metric: str,
        greater_is_better: bool = True,
        confidence: float = 0.95,
    ) -> None:
        self.models = list(models)
        self.differences: FloatArray = np.asarray(differences, dtype=np.float64)
        self.intervals: FloatArray = np.asarray(intervals, dtype=np.float64)
        self.different: Mask = np.asarray(different, dtype=bool)
        self.metric = metric
        self.greater_is_better = greater_is_better
        self.confidence = confidence

    @documented(errorbar_kw=_BARS)
    def plot(self, ax: Any = None, *, errorbar_kw: Mapping[str, Any] | None = None) -> LeaderboardDisplay:
        """Draw the models one below the other; the height of a new figure follows from their number."""
        labels = self._labels()
        n_lines = sum(1 + label.count("\n") for label in labels)
        ax = use_axes(self, ax, figsize=(9, 1.6 + 0.16 * n_lines + 0.14 * len(labels)))
        self.line_ = ax.axvline(0, color=ink(), linewidth=1, zorder=0)
        star = {"linestyle": "none", "marker": "*", "markersize": 12, "color": COLOURS[1], "label": "best"}
        (self.best_,) = ax.plot([0], [0], zorder=3, **star)
        self.bars_ = [self._plot_bars(ax, different, errorbar_kw or {}) for different in (False, True)]
        what = f"{self.metric} minus that of {self.models[0]}, mean and paired {100 * self.confidence:g}% interval"
        label = textwrap.fill(with_direction(f"{what}, not adjusted", self.greater_is_better), LABEL_WIDTH)
        ax.set(xlabel=label, ylim=(len(labels) - 0.5, -0.5))
        ax.set_yticks(range(len(labels)), labels, fontsize="small")
        legend(ax)
        return self

    def _plot_bars(self, ax: Any, different: bool, errorbar_kw: Mapping[str, Any]) -> Any:
        shown = np.flatnonzero(self.different == different)
        ends = np.abs(self.intervals[shown] - self.differences[shown, None]).T
        label = f"{counted(len(shown), 'model')} {'' if different else 'not '}significantly different"
        style: dict[str, Any] = {"fmt": "s", "color": GREY} if different else {"fmt": "o", "color": COLOURS[0]}
        style |= {"elinewidth": 2, "label": label if len(shown) else "_none", **errorbar_kw}
        return ax.errorbar(self.differences[shown], 1 + shown, xerr=ends, **style)

    def _labels(self) -> list[str]:
        """Names with their differences, with enough digits to show the signs."""
        spec = f"+z.{decimals(*self.differences)}f"
        texts = ["", *(f"  {difference:{spec}}" for difference in self.differences)]
        names = [textwrap.fill(name, NAME_WIDTH, break_on_hyphens=False) for name in self.models]
        return [name + text for name, text in zip(names, texts, strict=True)]

    @classmethod
    @documented(
        "ValueError: If the metric is missing or is not a mean over queries.",
        board=("Leaderboard", "Result of leaderboard."),
        metric=("str, metric function or bound metric", "A metric of the leaderboard. None means the first."),
        errorbar_kw=_BARS,
    )
    def from_leaderboard(
        cls,
        board: Leaderboard,
        metric: Any = None,
        *,
        ax: Any = None,
        errorbar_kw: Mapping[str, Any] | None = None,
    ) -> LeaderboardDisplay:
        """Draw the models of a leaderboard."""
        return cls.from_comparison(board.compare(metric), ax=ax, errorbar_kw=errorbar_kw)

    @classmethod
    @documented(comparison=("Comparison", "Result of compare."), errorbar_kw=_BARS)
    def from_comparison(
        cls, comparison: Comparison, *, ax: Any = None, errorbar_kw: Mapping[str, Any] | None = None
    ) -> LeaderboardDisplay:
        """Draw the rankings of a comparison relative to the best."""
        best, *others = comparison.ranking
        pairs = [comparison.pair(other, best) for other in others]
        display = cls(
            comparison.ranking,
            [pair.difference for pair in pairs],
            [pair.interval for pair in pairs],
            [pair.p_adjusted <= comparison.level for pair in pairs],
            metric=comparison.metric,
            greater_is_better=comparison.greater_is_better,
            confidence=comparison.confidence,
        )
        return display.plot(ax, errorbar_kw=errorbar_kw)

"""The gap between two conventions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays._base import COLOURS, GREY, beside, decimals, documented, ink, use_axes
from skrank_metrics.reports.explain_difference import Difference, explain_difference

# Longer causes leave no room for the bars.
LABEL_WIDTH = 36


class DifferenceDisplay:
    """Waterfall from the value of one convention to that of another, one step per cause.

    Create it with ``from_predictions`` or ``from_difference``. Steps up and down have different colours, and the
    effects are printed beside the axes.

    Parameters
    ----------
    start : float
        Value by the first convention.
    effects : array-like of float of shape (n_causes,)
        Effects of the causes, which lead from the first value to the second.
    causes : sequence of str
        Names of the causes.
    metric : str
        Name of the metric.
    conventions : tuple of str
        Names of the two conventions.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per cause, from the value before it to the value with it.
    ends_ : matplotlib Line2D
        Marks of the two values.
    texts_ : list of matplotlib Annotation
        Values and effects beside the axes.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    explain_difference : Attribute the gap to its causes, in numbers.

    Examples
    --------
    Query "b" has no relevant document and counts as 0 or 1, which changes the mean by 1/2:

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import DifferenceDisplay
    >>> y, scores, qid = [1, 0, 0], [2, 1, 0], ["a", "a", "b"]
    >>> display = DifferenceDisplay.from_predictions(y, scores, qid=qid)
    >>> display.start, display.effects.tolist()
    (0.5, [0.0, 0.0, 0.5])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, start: float, effects: Any, causes: Sequence[str], *, metric: str, conventions: tuple[str, str]
    ) -> None:
        self.start = start
        self.effects: FloatArray = np.asarray(effects, dtype=np.float64)
        self.causes = list(causes)
        self.metric = metric
        self.conventions = conventions

    @documented()
    def plot(self, ax: Any = None) -> DifferenceDisplay:
        """Draw the steps one below the other; the height of a new figure follows from their number."""
        levels = list(accumulate(self.effects.tolist(), initial=self.start))
        last = len(self.causes) + 1
        ax = use_axes(self, ax, figsize=(8, 1.2 + 0.4 * (last + 1)))
        ax.use_sticky_edges = False  # of bars, which leave no margin
        colours = [COLOURS[0] if effect >= 0 else COLOURS[1] for effect in self.effects]
        self.bars_ = ax.barh(range(1, last), self.effects, left=levels[:-1], height=0.6, color=colours)
        for row, level in enumerate(levels):  # from each step to the next
            ax.plot([level, level], [row, row + 1], color=GREY, linewidth=1, zorder=0)
        style = {"linestyle": "none", "marker": "D", "color": ink()}
        (self.ends_,) = ax.plot([levels[0], levels[-1]], [0, last], **style)
        spec = f"z.{decimals(*self.effects, *levels)}f"
        values = [f"{levels[0]:{spec}}", *(f"{effect:+{spec}}" for effect in self.effects), f"{levels[-1]:{spec}}"]
        self.texts_ = beside(ax, values)
        names = [self.conventions[0], *self.causes, self.conventions[1]]
        ax.set_yticks(range(last + 1), [textwrap.fill(name, LABEL_WIDTH) for name in names])
        ax.set(xlabel=self.metric, ylim=(last + 0.5, -0.5))
        return self

    @classmethod
    @documented(difference=("Difference", "Result of explain_difference."))
    def from_difference(cls, difference: Difference, *, ax: Any = None) -> DifferenceDisplay:
        """Draw a gap that explain_difference attributed to its causes."""
        return cls(
            difference.start,
            [cause.effect for cause in difference.causes],
            [f"{cause.cause}: {cause.change}" for cause in difference.causes],
            metric=difference.metric,
            conventions=difference.conventions,
        ).plot(ax)

    @classmethod
    @documented(conventions=("tuple of two str", "Names of conventions, as in evaluate."))
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg@10",
        conventions: tuple[str, str] = ("sklearn", "lightgbm"),
        ax: Any = None,
    ) -> DifferenceDisplay:
        """Attribute the gap between two conventions to its causes, and draw it."""
        difference = explain_difference(y_true, y_score, qid=qid, metric=metric, conventions=conventions)
        return cls.from_difference(difference, ax=ax)

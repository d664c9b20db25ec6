"""The gap between two conventions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.reports.explain_difference import Difference


class DifferenceDisplay(Display):
    """Waterfall from the value of one convention to that of another, one step per cause.

    Steps up are blue, steps down are orange, and each has its effect beside it.

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
        Values and effects beside their marks.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    explain_difference : Attribute the gap to its causes, in numbers.

    Examples
    --------
    Query "b" has no relevant document and counts as 0 or 1, which changes the mean by 1/2:

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import explain_difference
    >>> y, scores, qid = [1, 0, 0], [2, 1, 0], ["a", "a", "b"]
    >>> display = explain_difference(y, scores, qid=qid).plot()
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

    def _draw(self, ax: Any) -> None:
        names = [self.conventions[0], *self.causes, self.conventions[1]]
        levels = list(accumulate(self.effects.tolist(), initial=self.start))
        (ax,) = self._panels(ax, [style.height_of(names)])
        look, last = style.polish(ax), len(names) - 1
        ax.use_sticky_edges = False  # of bars, which leave no margin
        colours = [look.best if effect >= 0 else look.alarm for effect in self.effects]
        self.bars_ = ax.barh(range(1, last), self.effects, left=levels[:-1], height=0.55, color=colours)
        for row, level in enumerate(levels):  # from each step to the next
            ax.plot([level, level], [row, row + 1], color=look.soft, linewidth=0.8, zorder=0)
        marks = {"linestyle": "none", "marker": "D", "markersize": 6, "color": look.ink}
        (self.ends_,) = ax.plot([levels[0], levels[-1]], [0, last], **marks)
        value, effect = (style.spell(*self.effects, *levels, signed=signed) for signed in (False, True))
        rights = np.maximum(levels[:-1], levels[1:])
        steps = zip(rights, range(1, last), map(effect, self.effects), colours, strict=True)
        texts = [(levels[0], 0, value(levels[0]), look.ink), *steps, (levels[-1], last, value(levels[-1]), look.ink)]
        self.texts_ = [style.write_beside(ax, *place, text, colour=colour) for *place, text, colour in texts]
        style.draw_rows(ax, names, bold=(0, last))
        ax.set_xlabel(self.metric)

    @classmethod
    def _of(cls, result: Difference) -> DifferenceDisplay:
        return cls(
            result.start,
            [cause.effect for cause in result.causes],
            [f"{cause.cause}: {cause.change}".replace("->", "\N{RIGHTWARDS ARROW}") for cause in result.causes],
            metric=result.metric,
            conventions=result.conventions,
        )

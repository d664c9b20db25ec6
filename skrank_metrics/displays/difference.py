"""The gap between two conventions."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.reports.explain_difference import Difference


class DifferenceDisplay(Display):
    """Waterfall from the value of one convention to that of another, one step per cause.

    Steps up are blue, steps down are orange, and each has its effect beside it.

    Parameters
    ----------
    result : Difference
        Result of explain_difference.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per cause, from the value before it to the value with it.
    ends_ : matplotlib Line2D
        Marks of the two values.
    texts_ : list of matplotlib Annotation
        Values and effects beside their marks.

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
    >>> [text.get_text() for text in display.texts_]
    ['0.5000', '+0.0000', '+0.0000', '+0.5000', '1.0000']
    >>> plt.close(display.figure_)
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
        colours = [look.best if effect >= 0 else look.alarm for effect in effects]
        self.bars_ = ax.barh(range(1, last), effects, left=levels[:-1], height=0.55, color=colours)
        for row, level in enumerate(levels):  # from each step to the next
            ax.plot([level, level], [row, row + 1], color=look.soft, linewidth=0.8, zorder=0)
        marks = {"linestyle": "none", "marker": "D", "markersize": 6, "color": look.ink}
        (self.ends_,) = ax.plot([levels[0], levels[-1]], [0, last], **marks)
        value, effect = (style.spell(*effects, *levels, signed=signed) for signed in (False, True))
        shown = [
            (levels[0], value(levels[0])),
            *zip(map(max, levels[:-1], levels[1:]), map(effect, effects), strict=True),
        ]
        shown.append((levels[-1], value(levels[-1])))
        inks = [look.ink, *colours, look.ink]
        self.texts_ = [
            style.write_beside(ax, (right, row), text, colour)
            for row, ((right, text), colour) in enumerate(zip(shown, inks, strict=True))
        ]
        style.draw_rows(ax, names, bold=(0, last))
        ax.set_xlabel(found.metric)

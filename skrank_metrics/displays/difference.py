"""The picture of the gap between two conventions."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from skrank_metrics.conventions._explain_difference import Difference
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display


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

    >>> from skrank_metrics.conventions import explain_difference
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
        ax = self.panel(ax, style.height_of(names))
        look, rows = style.polish(ax), range(1, len(effects) + 1)
        ax.use_sticky_edges = False  # of bars, which leave no margin
        colours = [look.best if effect >= 0 else look.alarm for effect in effects]
        ax.barh(rows, effects, left=levels[:-1], height=0.55, color=colours)
        for row, effect, colour in zip(rows, effects, colours, strict=True):
            end = max(levels[row - 1], levels[row])
            style.write_beside(ax, (end, row), style.with_sign(effect), colour)
        # These lines connect each step with the next.
        ax.vlines(
            levels, range(len(levels)), [*rows, len(names) - 1], look.soft, linewidth=0.8, zorder=0
        )
        for row, level in ((0, found.start), (len(names) - 1, found.end)):
            ax.plot(level, row, linestyle="none", marker="D", markersize=6, color=look.ink)
            style.write_beside(ax, (level, row), style.spelled(level), look.ink)
        style.draw_rows(ax, names)
        ax.set_xlabel(style.broken(found.metric))

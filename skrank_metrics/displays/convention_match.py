"""Ways of computing a metric beside a known value."""

from __future__ import annotations

from typing import Any

from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.reports.match_convention import ConventionMatch

MOST_WAYS = 10


class ConventionMatchDisplay(Display):
    """Values of a metric by the nearest ways of computing it, with a line at the target value.

    Parameters
    ----------
    result : ConventionMatch
        Result of match_convention, of which at most ten ways are drawn.

    Attributes
    ----------
    points_ : list of matplotlib Line2D
        Mark of each way.
    line_ : matplotlib Line2D
        Line at the target value.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    match_convention : Find these ways, in numbers.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import match_convention
    >>> found = match_convention([1, 0, 0], [2, 1, 0], qid=["a", "a", "b"], value=0.5, metric="mrr")
    >>> found.plot().ax_.get_xlabel()
    'mrr'
    >>> plt.close()
    """

    result: ConventionMatch

    def _draw(self, ax: Any) -> None:
        found, matches = self.result, {id(way) for way in self.result.matches}
        ways = found.ways[:MOST_WAYS]
        names = ["target value", *(", ".join(way.peers) or str(way.metric) for way in ways)]
        (ax,) = self._panels(ax, [style.height_of(names)])
        look, spelled = style.polish(ax), style.spell(*(way.distance for way in ways))
        colours = [look.ink, *(look.best if id(way) in matches else look.soft for way in ways)]
        (self.line_,) = ax.plot([found.value, found.value], [0, len(ways)], color=look.ink, linewidth=0.8)
        self.points_ = []
        for row, (value, colour) in enumerate(zip([found.value, *(w.value for w in ways)], colours, strict=True)):
            self.points_ += ax.plot(value, row, marker="o" if row else "D", markersize=6, color=colour)
            style.write_beside(ax, (value, row), spelled(value) if row else f"{value:.10g}", colour)
        style.draw_rows(ax, names, [look.soft if colour == look.soft else look.ink for colour in colours], bold=(0,))
        ax.set_xlabel(found.metric)

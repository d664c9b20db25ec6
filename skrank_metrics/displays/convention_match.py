"""Ways of computing a metric beside a known value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.reports.match_convention import ConventionMatch

MOST_WAYS = 10


class ConventionMatchDisplay(Display):
    """Values of a metric by the nearest ways of computing it, with a line at the target value.

    Parameters
    ----------
    values : array-like of float of shape (n_ways,)
        Value by each way.
    ways : sequence of str
        Names of the ways.
    matches : array-like of bool of shape (n_ways,)
        Whether each way gives the target value within the tolerance.
    target : float
        The target value.
    metric : str
        Name of the metric.

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
    >>> from skrank_metrics.displays import ConventionMatchDisplay
    >>> display = ConventionMatchDisplay([0.5, 0.75], ["linear", "exp2"], [False, True], target=0.75, metric="ndcg")
    >>> display.plot().line_.get_xdata()
    [0.75, 0.75]
    >>> plt.close(display.figure_)
    """

    def __init__(self, values: Any, ways: Sequence[str], matches: Any, *, target: float, metric: str) -> None:
        self.values: FloatArray = np.asarray(values, dtype=np.float64)
        self.ways = list(ways)
        self.matches: Mask = np.asarray(matches, dtype=bool)
        self.target = target
        self.metric = metric

    def _draw(self, ax: Any) -> None:
        names = ["target value", *self.ways]
        (ax,) = self._panels(ax, [style.height_of(names)])
        look, spelled = style.polish(ax), style.spell(*(self.values - self.target))
        colours = [look.ink, *(look.best if match else look.soft for match in self.matches)]
        (self.line_,) = ax.plot([self.target, self.target], [0, len(self.ways)], color=look.ink, linewidth=0.8)
        self.points_ = []
        for row, (value, colour) in enumerate(zip([self.target, *self.values], colours, strict=True)):
            self.points_ += ax.plot(value, row, marker="o" if row else "D", markersize=6, color=colour)
            style.write_beside(ax, value, row, spelled(value) if row else f"{value:.10g}", colour=colour)
        style.draw_rows(ax, names, [look.ink, *(look.ink if match else look.soft for match in self.matches)], bold=(0,))
        ax.set_xlabel(self.metric)

    @classmethod
    def _of(cls, result: ConventionMatch) -> ConventionMatchDisplay:
        nearest, known = result.ways[:MOST_WAYS], {id(way) for way in result.matches}
        names = [", ".join(way.peers) or str(way.metric) for way in nearest]
        matches = [id(way) in known for way in nearest]
        values = [way.value for way in nearest]
        return cls(values, names, matches, target=result.value, metric=result.metric)

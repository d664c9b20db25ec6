"""Base of all displays: their methods, and the axes that they draw into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from skrank_metrics.displays import style


class Display(ABC):
    """A picture of a result, after the convention of scikit-learn's displays.

    ``from_result`` makes and draws it; ``plot`` draws it again. The numbers are those of the result. The list ``axes_``
    has the Axes of its panels, ``ax_`` is the first of them, and ``figure_`` the Figure that they are in.
    """

    def __init__(self, result: Any) -> None:
        self.result = result

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; pictures of several panels divide it. None creates a new figure, whose height follows
            from what is drawn.

        Returns
        -------
        display : Display
            This object.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        try:
            import matplotlib.pyplot  # noqa: F401
        except ImportError:
            raise ImportError(
                f"{type(self).__name__}.plot needs matplotlib (pip install matplotlib)."
            ) from None
        self._draw(ax)
        return self

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw a result, as its method ``plot`` does.

        Parameters
        ----------
        result : result of this package
            What to draw.
        ax : matplotlib Axes, default=None
            Axes to draw into, as in ``plot``.
        **options
            Parameters of the class.

        Returns
        -------
        display : Display
            The drawn display.
        """
        return cls(result, **options).plot(ax)

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw into the axes or a new figure, and store them and what was drawn."""

    def panel(self, ax: Any, height: float) -> Any:
        """Axes of a picture of one panel, with the height of a new figure in inches."""
        return self.panels(ax, [height])[0]

    def panels(
        self, ax: Any, heights: Sequence[float], widths: Sequence[float] = (1,)
    ) -> list[Any]:
        """Axes of the panels: side by side, or one below the other in narrow pictures.

        A given axes makes room for all panels, as in scikit-learn's ``PartialDependenceDisplay``.
        """
        if ax is None:
            # A phone has no room for panels side by side.
            stacked = style.is_narrow()
            figure = style.new_figure(max(heights), sum(heights), sum(widths))
            ratios = {"height_ratios": heights} if stacked else {"width_ratios": widths}
            shape = (len(heights), 1) if stacked else (1, len(heights))
            self.axes_ = figure.subplots(*shape, squeeze=False, gridspec_kw=ratios).ravel().tolist()
        elif len(heights) == 1:
            self.axes_ = [ax]
        elif ax.get_subplotspec() is None:
            raise ValueError("ax must be in a grid of subplots, as it is divided into panels.")
        else:
            grid = ax.get_subplotspec().subgridspec(1, len(heights), width_ratios=widths)
            ax.set_axis_off()
            self.axes_ = [ax.figure.add_subplot(place) for place in grid]
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return list(self.axes_)

"""Base of all displays: their methods, and the axes that they draw into."""

from __future__ import annotations

from abc import ABC, abstractmethod
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
        return self.panels(ax, height)[0]

    def panels(self, ax: Any, height: float, n_panels: int = 1, title: str = "") -> list[Any]:
        """Axes of panels side by side, which share their rows.

        A given axes makes room for all panels, as in scikit-learn's ``PartialDependenceDisplay``. A new figure has the
        height in inches, and a title above its panels.
        """
        if ax is None:
            self.axes_ = style.new_panels(height, n_panels, title)
        elif n_panels == 1:
            self.axes_ = [ax]
        else:
            if ax.get_subplotspec() is None:
                raise ValueError("ax must be in a grid of subplots, as it is divided into panels.")
            ax.set_axis_off()
            grid = ax.get_subplotspec().subgridspec(1, n_panels)
            self.axes_ = list(grid.subplots(sharey="row"))
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return self.axes_

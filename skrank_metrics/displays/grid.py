"""The picture of the scores of a search over the values of one or two parameters."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.parameters import check_choice
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.displays.searched import read_search

CURVE_HEIGHT, CELL = 3.2, 0.5  # in inches


class GridDisplay(Display):
    """Scores of a search over the values of one parameter, as a curve, or of two, as a heat map.

    Create it with ``from_result(search)``. Each point or cell is the best mean over all other parameters, and the best
    of all is blue. Thin lines beside a curve are the scores in the folds. Candidates that failed in a fold, or that a
    race dropped, are left out.

    Parameters
    ----------
    result : GridSearchCV, RandomizedSearchCV, RacingSearchCV or similar
        Fitted search.
    params : list of one or two str, default=None
        Names of parameters of the search. None means those that it varies.
    metric : str, metric function or bound metric, default=None
        Metric of the search. None means the one used for ``refit``.

    See Also
    --------
    CVResultsDisplay : Candidates with their scores in each fold.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrank_metrics.displays import GridDisplay
    >>> grid = {"strategy": ["constant"], "constant": [0, 1, 2]}
    >>> search = GridSearchCV(DummyRegressor(), grid, cv=2, scoring="neg_mean_squared_error")
    >>> display = GridDisplay.from_result(search.fit([[0]] * 4, [1, 1, 1, 1]))
    >>> display.scores.mean(axis=-1).tolist()
    [-1.0, 0.0, -1.0]
    """

    def __init__(
        self, result: Any, *, params: Sequence[str] | None = None, metric: Any = None
    ) -> None:
        super().__init__(result)
        found = read_search(result, metric)
        self._metric = found.metric
        candidates = result.cv_results_["params"]
        self._names = _chosen_params(candidates, params)
        self._values = [_values_of(candidates, name) for name in self._names]
        shape = [len(values) for values in self._values]
        self.scores: FloatArray = np.full((*shape, found.scores.shape[1]), np.nan)
        # The best comes last, and stays.
        for own, scores in zip(found.params[::-1], found.scores[::-1], strict=True):
            spelled = [_spelled(own.get(name)) for name in self._names]
            self._best = tuple(map(list.index, self._values, spelled))
            self.scores[self._best] = scores

    def _draw(self, ax: Any) -> None:
        *rows, columns = self._values
        ax = self.panel(ax, 1 + CELL * len(rows[0]) if rows else CURVE_HEIGHT)
        look = style.polish(ax, "y")
        means = self.scores.mean(axis=-1)
        *row_labels, label = [style.broken(name.rpartition("__")[2]) for name in self._names]
        ax.set_xticks(range(len(columns)), map(style.broken, columns))
        if rows:
            self._draw_cells(ax, means, look)
            ax.set_yticks(range(len(rows[0])), map(style.broken, rows[0]))
            ax.set_ylabel(*row_labels)
            ax.set_xlabel(f"{label}\n{style.broken(f'{self._metric}, mean over folds')}")
        else:
            self._draw_curve(ax, means, look)
            ax.set_xlabel(label)
            ax.set_ylabel(style.broken(f"{self._metric}, mean and each fold"))

    def _draw_curve(self, ax: Any, means: FloatArray, look: style.Theme) -> None:
        (best,) = self._best
        ax.plot(self.scores, color=look.soft, linewidth=0.7, alpha=0.5)
        ax.plot(means, color=look.ink, linewidth=2, marker="o", markersize=5)
        ax.plot(best, means[best], marker="o", markersize=8, color=look.best, zorder=3)
        style.write_beside(ax, (best, means[best]), style.spelled(means[best]), look.best)

    def _draw_cells(self, ax: Any, means: FloatArray, look: style.Theme) -> None:
        from matplotlib.colors import LinearSegmentedColormap, to_rgba

        # The text on the cells has the colour of other text, so they stay pale.
        shades = [to_rgba(look.best, alpha) for alpha in (0.05, 0.45)]
        ax.grid(visible=False)
        ax.imshow(means, cmap=LinearSegmentedColormap.from_list("means", shades), aspect="auto")
        for row, column in np.argwhere(np.isfinite(means)).tolist():
            is_best = (row, column) == self._best
            centred = {"ha": "center", "va": "center", "weight": style.WEIGHTS[is_best]}
            text = style.spelled(means[row, column])
            ax.annotate(text, (column, row), size="small", color=look.ink, **centred)


def _chosen_params(
    candidates: Sequence[Mapping[str, Any]], params: Sequence[str] | None
) -> list[str]:
    """Names of one or two parameters: those that vary, or those that are asked for."""
    known = list(dict.fromkeys(name for candidate in candidates for name in candidate))
    if params is None:
        params = [name for name in known if len(_values_of(candidates, name)) > 1]
    chosen = [check_choice(name, "params", known) for name in dict.fromkeys(params)]
    if len(chosen) not in (1, 2):
        what = f"one or two parameters of {', '.join(known)}"
        raise ValueError(f"params must name {what}; got {', '.join(chosen) or 'none'}.")
    return chosen


def _values_of(candidates: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """The values of a parameter as text: numbers by size, anything else in the order of the candidates."""
    values = [candidate.get(name) for candidate in candidates]
    # Values of different types, such as None and 5, have no order.
    if all(isinstance(value, numbers.Real) for value in values):
        values.sort()
    return list(dict.fromkeys(map(_spelled, values)))


def _spelled(value: object) -> str:
    """A value as text; estimators by their class alone."""
    from skrank_metrics.model_selection._fitted_search import spelled_params

    return spelled_params({"": value}).removeprefix("=")

"""Pictures of searches: candidates with their folds, and scores over the values of one or two parameters."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_choice, check_int
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display

NO_SCORES = "search must have a candidate with a score in every fold; each has NaN in some fold."
# Height of a row in inches, and places of the marks and of the mean below and above its middle, in rows.
ROW, MARKS, TEXT = 0.44, 0.14, -0.24


@dataclass(frozen=True)
class _Search:
    """What a fitted search found by one of its metrics. Failed candidates have NaN in a fold that they ran."""

    params: Sequence[Mapping[str, Any]]
    scores: FloatArray  # (n_candidates, n_folds)
    ranked: Sequence[int]  # candidates, best first
    n_ran: IntArray  # folds that each candidate ran; a race drops some before the last
    metric: str  # as it is called in the picture

    @property
    def has_scores(self) -> Mask:
        """Which candidates have a score in every fold that they ran."""
        n_scores = np.sum(~np.isnan(self.scores), axis=1)
        found: Mask = (self.n_ran > 0) & (self.n_ran == n_scores)
        return found


def _searched(search: Any, metric: Any) -> _Search:
    from skrank_metrics.model_selection import fitted_search as fitted  # imports scikit-learn

    fitted.check_search(search)
    found, metrics = search.cv_results_, fitted.scored_metrics(search)
    key = fitted.metric_of(search, metrics, metric)
    scores = fitted.fold_scores(found, key)
    n_candidates, n_folds = scores.shape
    n_ran = np.asarray(found.get("dropped_after", np.full(n_candidates, np.nan)), dtype=float)
    n_ran = np.nan_to_num(n_ran, nan=n_folds).astype(int)
    ranked = fitted.ranked_rows(found, key)
    return _Search(found["params"], scores, ranked, n_ran, str(metrics[key] or key))


class CVResultsDisplay(Display):
    """Candidates of a search, the best on top, with their scores in each fold, and the mean above its mark.

    Create it with ``from_result(search)``. A few folds can hardly tell which candidates are worse; see search_report.

    Candidates that failed in a fold are left out. In a halving search, each candidate is shown on its last rung.
    Candidates that a race dropped come last, with the mean over the folds that they ran, which is not comparable with
    means over other folds.

    Parameters
    ----------
    result : GridSearchCV, RandomizedSearchCV, RacingSearchCV or a halving search
        Fitted search.
    metric : str, metric function or bound metric, default=None
        Metric of the search. None means the one used for ``refit``.
    n_candidates : int, default=10
        Number of candidates to draw, the best ones.

    See Also
    --------
    search_report : Test which candidates are significantly worse than the best.
    GridDisplay : Scores over the values of one or two parameters.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrank_metrics.displays import CVResultsDisplay
    >>> search = GridSearchCV(DummyRegressor(), {"strategy": ["mean", "median"]}, cv=2).fit([[0]] * 4, [1, 0, 1, 0])
    >>> display = CVResultsDisplay.from_result(search)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['#1 strategy=mean', '#2 strategy=median']
    """

    def __init__(self, result: Any, *, metric: Any = None, n_candidates: int = 10) -> None:
        super().__init__(result)
        check_int(n_candidates, "n_candidates", 1)
        found = _searched(result, metric)
        shown = [row for row in found.ranked if found.has_scores[row]][:n_candidates]
        if not shown:
            raise ValueError(NO_SCORES)
        self.candidates = [_name_of(found, row) for row in shown]
        self.scores: FloatArray = found.scores[shown]
        n_folds = found.scores.shape[1]
        self._label = f"{found.metric}, mean and each of {n_folds} folds"
        if len(shown) < len(found.ranked):
            self._label += f", best {len(shown)} of {len(found.ranked)} candidates"

    def _draw(self, ax: Any) -> None:
        (ax,) = self._panels(ax, [style.height_of(self.candidates, ROW)])
        look = style.polish(ax)
        means = np.nanmean(self.scores, axis=1).tolist()
        spelled = style.spell(*means)
        for row, (scores, mean) in enumerate(zip(self.scores, means, strict=True)):
            colour = look.soft if row else look.best
            y = row + MARKS
            ax.plot(
                scores,
                np.full(len(scores), y),
                linestyle="none",
                marker="|",
                markersize=8,
                color=look.soft,
                alpha=0.7,
            )
            # Means over different folds are not comparable.
            filled = "none" if np.isnan(scores).any() else colour
            ax.plot(mean, y, marker="o", color=colour, markerfacecolor=filled)
            ax.annotate(
                spelled(mean),
                (mean, row + TEXT),
                color=colour,
                size="small",
                ha="center",
                va="center",
            )
        ax.set_xlabel(self._label)
        style.draw_rows(ax, self.candidates, bold=(0,))


def _name_of(found: _Search, row: int) -> str:
    """The number of a candidate as in search_report, its parameters, and when it was dropped."""
    from skrank_metrics.model_selection.fitted_search import spelled_params

    name = f"#{row + 1} {spelled_params(found.params[row]) or 'defaults'}"
    if found.n_ran[row] < found.scores.shape[1]:
        name += f"\ndropped after fold {found.n_ran[row]}"
    return name


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
        found = _searched(result, metric)
        n_folds = found.scores.shape[1]
        whole = found.has_scores & (found.n_ran == n_folds)
        rows = [row for row in found.ranked if whole[row]]
        if not rows:
            raise ValueError(NO_SCORES)
        self._metric = found.metric
        self._names = _chosen_params(found.params, params)
        self._values = [_values_of(found.params, name) for name in self._names]
        shape = [len(values) for values in self._values]
        self.scores: FloatArray = np.full((*shape, n_folds), np.nan)
        for row in reversed(rows):  # the best comes last, and stays
            place = tuple(
                values.index(_spelled(found.params[row].get(name)))
                for name, values in zip(self._names, self._values, strict=True)
            )
            self.scores[place] = found.scores[row]
        self._best = place

    def _draw(self, ax: Any) -> None:
        is_curve = len(self._names) == 1
        (ax,) = self._panels(ax, [CURVE_HEIGHT if is_curve else 1 + CELL * len(self._values[0])])
        look = style.polish(ax, "y")
        means = self.scores.mean(axis=-1)
        across = style.plain(self._names[-1].rpartition("__")[2])
        ax.set_xticks(range(len(self._values[-1])), style.wrapped(self._values[-1]))
        if is_curve:
            self._draw_curve(ax, means, look)
            ax.set(xlabel=across, ylabel=f"{self._metric}, mean and each fold")
        else:
            self._draw_cells(ax, means, look)
            ax.set_yticks(range(len(self._values[0])), style.wrapped(self._values[0]))
            ax.set_ylabel(style.plain(self._names[0].rpartition("__")[2]))
            ax.set_xlabel(f"{across}\n{self._metric}, mean over folds")

    def _draw_curve(self, ax: Any, means: FloatArray, look: style.Theme) -> None:
        (best,) = self._best
        text = style.spell(means[best])(means[best])
        ax.plot(self.scores, color=look.soft, linewidth=0.7, alpha=0.5)
        ax.plot(means, color=look.ink, linewidth=2, marker="o", markersize=5)
        ax.plot(best, means[best], marker="o", markersize=8, color=look.best, zorder=3)
        look_of_text = {"color": look.best, "size": "small", "weight": "bold", "ha": "center"}
        above = {"xytext": (0, 9), "textcoords": "offset points"}
        ax.annotate(text, (best, means[best]), **above, **look_of_text)

    def _draw_cells(self, ax: Any, means: FloatArray, look: style.Theme) -> None:
        from matplotlib.colors import LinearSegmentedColormap, to_rgba

        # The text on the cells has the colour of other text, so they stay pale.
        shades = [to_rgba(look.best, alpha) for alpha in (0.05, 0.45)]
        ax.grid(visible=False)
        ax.imshow(means, cmap=LinearSegmentedColormap.from_list("means", shades), aspect="auto")
        spelled = style.spell(*means.ravel().tolist())
        for row, column in np.argwhere(np.isfinite(means)).tolist():
            is_best = (row, column) == self._best
            ax.annotate(
                spelled(means[row, column]),
                (column, row),
                color=look.ink,
                size="small",
                ha="center",
                va="center",
                weight="bold" if is_best else "normal",
            )
        row, column = self._best
        corners = np.array([[-0.5, 0.5, 0.5, -0.5, -0.5], [-0.5, -0.5, 0.5, 0.5, -0.5]])
        ax.plot(column + corners[0], row + corners[1], color=look.best, linewidth=2.5)


def _chosen_params(
    candidates: Sequence[Mapping[str, Any]], params: Sequence[str] | None
) -> list[str]:
    """Names of one or two parameters: those that vary, or those that are asked for."""
    known = list(dict.fromkeys(name for candidate in candidates for name in candidate))
    if params is None:
        chosen = [name for name in known if len(_values_of(candidates, name)) > 1]
    else:
        chosen = [check_choice(name, "params", known) for name in params]
    if len(set(chosen)) not in (1, 2) or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"params must name one or two different parameters of {', '.join(known)}; got "
            f"{', '.join(chosen) or 'none'}."
        )
    return chosen


def _values_of(candidates: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """The values of a parameter as text: numbers by size, anything else in the order of the candidates."""
    values = [candidate.get(name) for candidate in candidates]
    if all(isinstance(value, numbers.Real) for value in values):
        values.sort()
    return list(dict.fromkeys(map(_spelled, values)))


def _spelled(value: object) -> str:
    """A value as text; estimators by their class alone."""
    from skrank_metrics.model_selection.fitted_search import spelled_params

    return spelled_params({"": value}).removeprefix("=")

"""Pictures of searches: candidates with their folds, and scores over the values of one or two parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_int
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display

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
    from skrank_metrics.model_selection import search_report as fitted  # imports scikit-learn

    fitted.check_search(search)
    found, metrics = search.cv_results_, fitted.scored_metrics(search)
    key = fitted.metric_of(search, metrics, metric)
    scores = fitted.fold_scores(found, key)
    n_candidates, n_folds = scores.shape
    n_ran = np.asarray(found.get("dropped_after", np.full(n_candidates, np.nan)), dtype=float)
    n_ran = np.nan_to_num(n_ran, nan=n_folds).astype(int)
    ranked = fitted.ranked_rows(search, key)
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
    ['strategy=mean', 'strategy=median']
    """

    def __init__(self, result: Any, *, metric: Any = None, n_candidates: int = 10) -> None:
        super().__init__(result)
        check_int(n_candidates, "n_candidates", 1)
        found = _searched(result, metric)
        shown = [row for row in found.ranked if found.has_scores[row]][:n_candidates]
        if not shown:
            raise ValueError(
                "search must have a candidate with a score in every fold; each has NaN in some fold."
            )
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
    """The parameters of a candidate, and when it was dropped."""
    from skrank_metrics.model_selection.search_report import spelled_params

    name = spelled_params(found.params[row]) or "defaults"
    if found.n_ran[row] < found.scores.shape[1]:
        name += f"\ndropped after fold {found.n_ran[row]}"
    return name


# Values of a parameter with a ratio of the largest to the smallest above this are on a logarithmic axis.
LARGEST_RATIO = 50.0
CURVE_HEIGHT, CELL = 3.2, 0.5


class GridDisplay(Display):
    """Scores of a search over the values of one parameter, as a curve, or of two, as a heat map.

    Create it with ``from_result(search)``. Each point or cell is the best mean over all other parameters. The best
    candidate is blue. Candidates that failed in a fold, or that a race dropped, are left out.

    Parameters
    ----------
    result : GridSearchCV, RandomizedSearchCV, RacingSearchCV or similar
        Fitted search.
    params : str or sequence of one or two str, default=None
        Names of parameters; the part after the last "__" is enough. None means those that the search varies, of which
        there must be one or two.
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
    >>> display.ax_.get_lines()[0].get_ydata().tolist()
    [-1.0, 0.0, -1.0]
    """

    def __init__(self, result: Any, *, params: Any = None, metric: Any = None) -> None:
        super().__init__(result)
        found = _searched(result, metric)
        whole = found.has_scores & (found.n_ran == found.scores.shape[1])
        rows = [row for row in found.ranked if whole[row]]
        if not rows:
            raise ValueError(
                "search must have a candidate with a score in every fold; each has NaN in some fold."
            )
        self._metric = found.metric
        self._names = _chosen_params(found.params, params)
        self._values = [_values_of(found.params, name) for name in self._names]
        shape = [len(values) for values in self._values]
        self.means: FloatArray = np.full(shape, np.nan)
        self._ends: dict[tuple[int, ...], tuple[float, float]] = {}  # lowest and highest fold
        for row in reversed(rows):  # the best comes last, and stays
            place = tuple(
                values.index(_spelled(found.params[row].get(name)))
                for name, values in zip(self._names, self._values, strict=True)
            )
            self.means[place] = found.scores[row].mean()
            self._ends[place] = (float(found.scores[row].min()), float(found.scores[row].max()))
        self._best = place
        self._numbers = [_numbers_of(found.params, name) for name in self._names]

    def _draw(self, ax: Any) -> None:
        if len(self._names) == 1:
            self._draw_curve(ax)
        else:
            self._draw_cells(ax)

    def _draw_curve(self, ax: Any) -> None:
        (ax,) = self._panels(ax, [CURVE_HEIGHT])
        look = style.polish(ax, "y")
        places = self._places(ax)
        ax.plot(places, self.means, color=look.soft, linewidth=1.2, marker="o", zorder=2)
        drawn = sorted(place for (place,) in self._ends)
        lows = [self._ends[(place,)][0] for place in drawn]
        highs = [self._ends[(place,)][1] for place in drawn]
        within = [places[place] for place in drawn]
        ax.fill_between(within, lows, highs, color=look.soft, alpha=0.14, linewidth=0)
        (best,) = self._best
        mean = float(self.means[best])
        ax.plot(places[best], mean, marker="o", markersize=8, color=look.best, zorder=3)
        ax.annotate(
            style.spell(mean)(mean),
            (places[best], mean),
            xytext=(0, 9),
            textcoords="offset points",
            color=look.best,
            size="small",
            weight="bold",
            ha="center",
        )
        ax.margins(y=0.12)
        ax.set_xlabel(style.plain(self._names[0].rpartition("__")[2]))
        ax.set_ylabel(f"{style.plain(self._metric)}, mean and range of folds")

    def _places(self, ax: Any) -> list[float]:
        """Where the values of the only parameter are: numbers to scale, anything else at equal distances."""
        numbers = self._numbers[0]
        if numbers is None:
            ax.set_xticks(range(len(self._values[0])), self._values[0])
            return [float(place) for place in range(len(self._values[0]))]
        if numbers[0] > 0 and numbers[-1] / numbers[0] > LARGEST_RATIO:
            ax.set_xscale("log")
        return numbers

    def _draw_cells(self, ax: Any) -> None:
        upper, across = self._values
        (ax,) = self._panels(ax, [1.0 + CELL * len(upper)])
        look = style.polish(ax)
        ax.grid(visible=False)
        ax.imshow(self._shades(look), aspect="auto")
        spelled = style.spell(*self.means[np.isfinite(self.means)].tolist())
        for place in self._ends:
            is_best = place == self._best
            ax.annotate(
                spelled(float(self.means[place])),
                place[::-1],
                color=look.ink,
                size="small",
                ha="center",
                va="center",
                weight="bold" if is_best else "normal",
            )
        row, column = self._best
        edges = {"fill": False, "edgecolor": look.best, "linewidth": 2.5}
        ax.add_patch(_rectangle((column - 0.5, row - 0.5), **edges))
        ax.set_xticks(range(len(across)), style.wrapped(across))
        ax.set_yticks(range(len(upper)), style.wrapped(upper))
        ax.set_ylabel(style.plain(self._names[0].rpartition("__")[2]))
        name = style.plain(self._names[1].rpartition("__")[2])
        ax.set_xlabel(f"{name}\n{style.plain(self._metric)}, mean over folds")

    def _shades(self, look: style.Theme) -> FloatArray:
        """Colours of cells with an opacity that grows with the mean; text on them stays legible."""
        from matplotlib.colors import to_rgb

        low, high = np.nanmin(self.means), np.nanmax(self.means)
        share = (self.means - low) / ((high - low) or 1.0)
        shades: FloatArray = np.empty((*self.means.shape, 4))
        shades[..., :3] = to_rgb(look.best)
        shades[..., 3] = np.nan_to_num(0.05 + 0.4 * share, nan=0.0)
        return shades


def _rectangle(corner: tuple[float, float], **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 1, 1, **look)


def _chosen_params(candidates: Sequence[Mapping[str, Any]], params: Any) -> list[str]:
    """Names of one or two parameters: those that vary, or those that are asked for."""
    known = list(dict.fromkeys(name for candidate in candidates for name in candidate))
    if params is None:
        varied = [name for name in known if len(_values_of(candidates, name)) > 1]
        if len(varied) not in (1, 2):
            raise ValueError(
                f"params must name one or two parameters, as the search varies {counted(len(varied), 'parameter')}: "
                f"{', '.join(varied) or 'none'}."
            )
        return varied
    wanted = [params] if isinstance(params, str) else list(params)
    if len(wanted) not in (1, 2):
        raise ValueError(f"params must name one or two parameters; got {len(wanted)}.")
    chosen = []
    for word in wanted:
        found = [name for name in known if word in (name, name.rpartition("__")[2])]
        if len(found) != 1:
            raise ValueError(
                f"params must hold parameters of the search: {', '.join(known)}; got {word!r}."
            )
        chosen += found
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"params must name different parameters; got {', '.join(wanted)}.")
    return chosen


def _values_of(candidates: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """The values of a parameter as text: numbers by size, anything else in the order of the candidates."""
    values = [candidate.get(name) for candidate in candidates]
    if all(_is_number(value) for value in values):
        values.sort(key=float)  # type: ignore[arg-type]
    return list(dict.fromkeys(_spelled(value) for value in values))


def _numbers_of(candidates: Sequence[Mapping[str, Any]], name: str) -> list[float] | None:
    """The values of a parameter as numbers, in the same order; None if some are no numbers."""
    values = [candidate.get(name) for candidate in candidates]
    if not all(_is_number(value) for value in values):
        return None
    by_text = {_spelled(value): float(value) for value in values if value is not None}
    return sorted(by_text.values())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _spelled(value: object) -> str:
    """A value as text; estimators by their class alone."""
    from skrank_metrics.model_selection.search_report import spelled_params

    return spelled_params({"": value}).removeprefix("=")

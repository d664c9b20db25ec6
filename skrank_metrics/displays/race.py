"""The course of a race."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.result import counted
from skrank_metrics.displays._base import COLOURS, GREY, count_ticks, documented, legend, use_axes
from skrank_metrics.model_selection._fitted_search import (
    check_search,
    fold_scores,
    is_race,
    metric_of,
    metric_of_scorer,
    scored_metrics,
    spelled,
)


class RaceDisplay:
    """The race of a RacingSearchCV: one line per candidate, which ends where the candidate left.

    Create it with ``from_estimator``. There is no ``from_predictions``, since a search does not keep the predictions of
    its candidates.

    Parameters
    ----------
    scores : array-like of float of shape (n_candidates, n_folds)
        Score of each candidate in each fold, in the order of the race; NaN for folds that it did not run.
    best : int
        Number of the candidate that won.
    metric : str, default="score"
        Name of the metric.
    name : str, default=None
        Name of the winner in the legend.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        Means over the folds so far, one line per candidate.
    ends_ : matplotlib Line2D
        Crosses where candidates left.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    CVResultsDisplay : Scores in each fold.

    Examples
    --------
    The second candidate left after the first of three folds:

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import RaceDisplay
    >>> display = RaceDisplay([[0.8, 0.6, 0.7], [0.5, float("nan"), float("nan")]], 0).plot()
    >>> [line.get_xdata().tolist() for line in display.lines_]
    [[1, 2, 3], [1]]
    >>> plt.close(display.figure_)
    """

    def __init__(self, scores: Any, best: int, *, metric: str = "score", name: str | None = None) -> None:
        self.scores: FloatArray = np.asarray(scores, dtype=np.float64)
        self.best = best
        self.metric = metric
        self.name = name

    @documented(line_kw=("dict", "Properties of the lines, matplotlib ``Line2D``, such as alpha and linewidth."))
    def plot(self, ax: Any = None, *, line_kw: Mapping[str, Any] | None = None) -> RaceDisplay:
        """Draw the means over the folds so far."""
        ax = use_axes(self, ax, figsize=(8.5, 4.5))
        n_candidates, n_folds = self.scores.shape
        ran = (~np.isnan(self.scores)).sum(axis=1)
        labels = {
            (True, True): self.name or "winner",
            (True, False): counted(int(np.sum(ran == n_folds)) - 1, "other candidate") + " that ran all folds",
            (False, False): counted(int(np.sum(ran < n_folds)), "candidate") + " that left",
        }
        self.lines_, ends = [], []
        for candidate in range(n_candidates):
            folds, wins = np.arange(1, ran[candidate] + 1), candidate == self.best
            means = np.cumsum(self.scores[candidate, : len(folds)]) / folds
            style = self._style(finished=len(folds) == n_folds, wins=wins)
            # An underscore hides a label that is already in the legend.
            label = labels.pop((len(folds) == n_folds, wins), "_")
            self.lines_ += ax.plot(folds, means, **(style | {"label": label} | dict(line_kw or {})))
            ends += [(folds[-1], means[-1])] if 0 < len(folds) < n_folds else []
        places = np.reshape(ends, (-1, 2)).T
        (self.ends_,) = ax.plot(*places, linestyle="none", marker="x", color=COLOURS[1], zorder=3, label="_ends")
        share = f"{int(ran.sum())} of {n_candidates * n_folds} fits"
        ax.set(xlabel=f"folds ({share})", ylabel=f"{self.metric}, mean over folds so far")
        ax.set_xticks(count_ticks(1, n_folds))
        legend(ax)
        return self

    @staticmethod
    def _style(*, finished: bool, wins: bool) -> dict[str, Any]:
        if wins:
            return {"color": COLOURS[0], "linewidth": 2.5, "zorder": 4, "marker": "o"}
        colour, line = (COLOURS[2], "-") if finished else (GREY, "--")
        return {"color": colour, "linewidth": 1, "linestyle": line, "marker": "."}

    @classmethod
    @documented(
        "TypeError: If search is not a RacingSearchCV.",
        "NotFittedError: If the search is not fitted.",
        "ValueError: If the search does not have the metric or has a single fold.",
        search=("RacingSearchCV", "Fitted search."),
        metric=(
            "str, metric function or bound metric",
            "Metric of the search. None means the one that the candidates raced by.",
        ),
        line_kw=("dict", "Properties of the lines, matplotlib ``Line2D``, such as alpha and linewidth."),
    )
    def from_estimator(
        cls, search: Any, *, metric: Any = None, ax: Any = None, line_kw: Mapping[str, Any] | None = None
    ) -> RaceDisplay:
        """Draw the race of a fitted RacingSearchCV."""
        check_search(search)
        if not is_race(search):
            raise TypeError(
                f"search must be a fitted RacingSearchCV; got {type(search).__name__}. CVResultsDisplay draws other "
                "searches."
            )
        found = search.cv_results_
        key = metric_of(search, scored_metrics(search), metric)
        ranking = metric_of_scorer(search.scorer_)
        best = spelled(search.best_params_) or "defaults"
        label = key if ranking is None else str(ranking)
        display = cls(fold_scores(found, key), search.best_index_, metric=label, name=f"winner: {best}")
        return display.plot(ax, line_kw=line_kw)

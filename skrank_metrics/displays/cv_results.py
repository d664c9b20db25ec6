"""The candidates of a search."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics.displays._drawing import COLOURS, add_legend, axes
from skrank_metrics.model_selection.search_report import check_search, metric_of, metric_of_scorer, ranked_rows, spelled
from skrank_metrics.model_selection.within_noise import fold_scores

# Longer names of candidates leave no room for the values.
NAME_WIDTH = 44


class CVResultsDisplay:
    """Candidates of a search, the best on top, with their scores in each fold.

    Made by ``from_estimator``, from the results that a fitted search holds. It has no ``from_predictions``, as the
    predictions of a search are those of its best candidate alone.

    Parameters
    ----------
    scores : array-like of float of shape (n_candidates, n_folds)
        Score of each candidate in each fold, the best candidate first.
    candidates : sequence of str
        Names of the candidates.
    metric : str, default="score"
        Name of the metric.
    n_searched : int, default=None
        Number of candidates that were searched, of which these are the best; None means that these are all.

    Attributes
    ----------
    folds_ : matplotlib Line2D
        The scores in each fold.
    means_ : matplotlib ErrorbarContainer
        The means over folds, and one standard deviation to either side.
    ax_ : matplotlib Axes
        Axes with the scores.
    figure_ : matplotlib Figure
        Figure with the axes.

    See Also
    --------
    search_report : Which of the candidates can be told apart.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import CVResultsDisplay
    >>> display = CVResultsDisplay([[0.8, 0.7], [0.7, 0.6]], ["depth=3", "depth=2"], metric="ndcg@10").plot()
    >>> [float(round(mean, 2)) for mean in display.means_.lines[0].get_xdata()]
    [0.75, 0.65]
    >>> plt.close(display.figure_)
    """

    def __init__(self, scores: Any, candidates: Any, *, metric: str = "score", n_searched: int | None = None) -> None:
        self.scores: FloatArray = np.asarray(scores, dtype=np.float64)
        self.candidates = list(candidates)
        self.metric = metric
        self.n_searched = n_searched

    def plot(self, ax: Any = None, *, errorbar_kw: Mapping[str, Any] | None = None) -> CVResultsDisplay:
        """Draw the candidates, one below the other.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure, the higher the more candidates there are.
        errorbar_kw : dict, default=None
            Keywords of matplotlib's ``errorbar``, which draws the means.

        Returns
        -------
        display : CVResultsDisplay
            This object.

        Raises
        ------
        ImportError
            Where matplotlib is not installed.
        """
        names = [textwrap.fill(name, NAME_WIDTH) for name in self.candidates]
        n_lines = 1 + max(name.count("\n") for name in names)
        ax = axes(self, ax, figsize=(8, 1.1 + (0.16 * n_lines + 0.14) * len(names)))
        n_folds = self.scores.shape[1]
        places = np.arange(len(names))
        (self.folds_,) = ax.plot(
            self.scores.ravel(),
            np.repeat(places, n_folds),
            linestyle="none",
            marker="|",
            markersize=9,
            color="0.3",
            zorder=2,
            label=f"each of {n_folds} folds",
        )
        # The bars lie under the marks of the folds.
        style = {
            "fmt": "o",
            "zorder": 1,
            "color": COLOURS[0],
            "elinewidth": 3,
            "ecolor": "#9CC6E3",
            "label": "mean and standard deviation over folds",
        }
        means, spreads = self.scores.mean(axis=1), self.scores.std(axis=1)
        self.means_ = ax.errorbar(means, places, xerr=spreads, **{**style, **(errorbar_kw or {})})
        left_out = self.n_searched is not None and self.n_searched > len(names)
        ax.set(
            xlabel=f"{self.metric} (the best {len(names)} of {self.n_searched} candidates)"
            if left_out
            else self.metric,
            ylim=(len(names) - 0.5, -0.5),
        )
        ax.set_yticks(places, names, fontsize="small")
        add_legend(ax, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
        return self

    @classmethod
    def from_estimator(
        cls,
        search: Any,
        *,
        metric: str | None = None,
        n_candidates: int = 10,
        ax: Any = None,
        errorbar_kw: Mapping[str, Any] | None = None,
    ) -> CVResultsDisplay:
        """Draw the candidates of a fitted search.

        Parameters
        ----------
        search : GridSearchCV, RandomizedSearchCV or a halving search
            Fitted.
        metric : str, default=None
            Which of several metrics; None means the one that the search was refitted by.
        n_candidates : int, default=10
            How many to draw, the best ones. Those that failed in a fold are left out; of halving, candidates are drawn
            as they were on their last rung.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure, the higher the more candidates there are.
        errorbar_kw : dict, default=None
            Keywords of matplotlib's ``errorbar``, which draws the means.

        Returns
        -------
        display : CVResultsDisplay
            Computed and drawn.

        Raises
        ------
        TypeError
            Where it is no search.
        NotFittedError
            Where the search is not fitted.
        ValueError
            Where the search has no such metric or does not say which, has a single fold or candidate, or all failed.
        """
        check_search(search)
        check_int(n_candidates, "n_candidates", 1)
        found = search.cv_results_
        names = [name.removeprefix("mean_test_") for name in found if name.startswith("mean_test_")]
        key = metric_of(search, dict.fromkeys(names), metric)
        scores = fold_scores(found, key)
        ranked = ranked_rows(search, key)
        best = [row for row in ranked if not np.isnan(scores[row]).any()][:n_candidates]
        if not best:
            raise ValueError("search must have a candidate with a score in every fold; got NaN for all of them.")
        # Of a single scorer, only the function knows the name of its metric.
        ranking, function = metric_of_scorer(search.scorer_), getattr(search.scorer_, "_score_func", None)
        label = getattr(function, "__name__", key) if ranking is None else str(ranking)
        candidates = [spelled(found["params"][candidate]) or "defaults" for candidate in best]
        display = cls(scores[best], candidates, metric=label, n_searched=len(ranked))
        return display.plot(ax, errorbar_kw=errorbar_kw)

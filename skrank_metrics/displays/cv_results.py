"""The candidates of a search."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics._sklearn_internals import score_function
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display


class CVResultsDisplay(Display):
    """Candidates of a search, the best on top, with their scores in each fold.

    Create it with ``from_result(search)``. Scores of a few folds can hardly tell which candidates are worse;
    ``search_report(search, X, y).plot()`` shows which ones are.

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

    Attributes
    ----------
    folds_ : matplotlib Line2D
        Marks of the scores in each fold.
    means_ : list of matplotlib Line2D
        Mean of each candidate over its folds; hollow if it did not run all of them.
    texts_ : list of matplotlib Annotation
        Means as text.

    See Also
    --------
    search_report : Test which candidates are significantly worse than the best.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrank_metrics.displays import CVResultsDisplay
    >>> search = GridSearchCV(DummyRegressor(), {"strategy": ["mean", "median"]}, cv=2).fit([[0]] * 4, [1, 0, 1, 0])
    >>> display = CVResultsDisplay.from_result(search)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['strategy=mean', 'strategy=median']
    >>> plt.close(display.figure_)
    """

    def __init__(self, result: Any, *, metric: Any = None, n_candidates: int = 10) -> None:
        from skrank_metrics.model_selection import search_report as fitted  # imports scikit-learn

        super().__init__(result)
        check_int(n_candidates, "n_candidates", 1)
        fitted.check_search(result)
        found = result.cv_results_
        key = fitted.metric_of(result, fitted.scored_metrics(result), metric)
        scores, ranked = fitted.fold_scores(found, key), fitted.ranked_rows(result, key)
        after = found.get("dropped_after", np.full(len(scores), np.nan))
        # Candidates that were dropped lack folds. They failed only if they lack the score of a fold that they ran.
        ran = np.arange(scores.shape[1]) < np.nan_to_num(after, nan=np.inf)[:, None]
        best = [row for row in ranked if ran[row].any() and not np.isnan(scores[row][ran[row]]).any()][:n_candidates]
        if not best:
            raise ValueError("search must have a candidate with a score in every fold; each has NaN in some fold.")
        # Only the function of a single scorer knows the name of its metric.
        ranking, function = fitted.metric_of_scorer(result.scorer_), score_function(result.scorer_)
        label = getattr(function, "__name__", key) if ranking is None else str(ranking)
        dropped = {row: f"\ndropped after fold {after[row]:.0f}" for row in best if not np.isnan(after[row])}
        self.candidates = [
            (fitted.spelled_params(found["params"][row]) or "defaults") + dropped.get(row, "") for row in best
        ]
        self.scores: FloatArray = scores[best]
        note = f", best {len(best)} of {len(ranked)} candidates" if len(best) < len(ranked) else ""
        self._label = f"{label}, mean and each of {scores.shape[1]} folds{note}"

    def _draw(self, ax: Any) -> None:
        (ax,) = self._panels(ax, [style.height_of(self.candidates)])
        look, n_folds = style.polish(ax), self.scores.shape[1]
        rows, means = np.arange(len(self.scores)), np.nanmean(self.scores, axis=1)
        marks = {"linestyle": "none", "marker": "|", "markersize": 8, "color": look.soft, "alpha": 0.7}
        (self.folds_,) = ax.plot(self.scores.ravel(), np.repeat(rows, n_folds), **marks)
        self.means_, self.texts_ = [], []
        spelled = style.spell(*means)
        for row, mean in enumerate(means.tolist()):
            colour = look.soft if row else look.best
            whole = not np.isnan(self.scores[row]).any()  # means over different folds are not comparable
            mark = {"marker": "o", "color": colour, "markerfacecolor": colour if whole else "none"}
            self.means_ += ax.plot(mean, row, **mark)
            place = np.nanmax(self.scores[row]), row
            self.texts_.append(style.write_beside(ax, place, spelled(mean), colour))
        ax.set_xlabel(self._label)
        style.draw_rows(ax, self.candidates, bold=(0,))

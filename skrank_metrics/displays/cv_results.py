"""The picture of the candidates of a search with their folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.displays.searched import read_search

# Candidates that are drawn, the best ones.
MOST_CANDIDATES = 10
# Height of a row in inches, and places of the marks and of the mean below and above its middle, in rows.
ROW, MARKS, TEXT = 0.44, 0.14, -0.24


class CVResultsDisplay(Display):
    """The ten best candidates of a search with their scores in each fold, and the mean above its mark.

    Create it with ``from_result(search)``. A few folds can hardly tell which candidates are worse; see search_report.

    Candidates that failed in a fold, or that a race dropped, are left out. In a halving search, each candidate is shown
    on its last rung.

    Parameters
    ----------
    result : GridSearchCV, RandomizedSearchCV, RacingSearchCV or a halving search
        Fitted search.
    metric : str, metric function or bound metric, default=None
        Metric of the search. None means the one used for ``refit``.

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

    def __init__(self, result: Any, *, metric: Any = None) -> None:
        super().__init__(result)
        found = read_search(result, metric)
        self.scores: FloatArray = found.scores[:MOST_CANDIDATES]
        n_shown, n_folds = self.scores.shape
        self.candidates = list(map(_name_of, found.rows[:n_shown], found.params))
        self._label = f"{found.metric}, mean and each of {n_folds} folds"
        if n_shown < found.n_tried:
            self._label += f",\nbest {n_shown} of {found.n_tried} candidates"

    def _draw(self, ax: Any) -> None:
        ax = self.panel(ax, style.height_of(self.candidates, ROW))
        look = style.polish(ax)
        folds = {"linestyle": "none", "marker": "|", "markersize": 8, "alpha": 0.7}
        for row, scores in enumerate(self.scores):
            mean = float(np.mean(scores))
            colour = look.soft if row else look.best
            ax.plot(scores, [row + MARKS] * len(scores), color=look.soft, **folds)
            ax.plot(mean, row + MARKS, marker="o", color=colour)
            centred = {"size": "small", "ha": "center", "va": "center"}
            ax.annotate(style.spelled(mean), (mean, row + TEXT), color=colour, **centred)
        ax.set_xlabel(style.broken(self._label))
        style.draw_rows(ax, self.candidates)


def _name_of(row: int, params: Mapping[str, Any]) -> str:
    """The number of a candidate, as in search_report, and its parameters."""
    from skrank_metrics.model_selection._fitted_search import spelled_params

    return f"#{row + 1} {spelled_params(params) or 'defaults'}"

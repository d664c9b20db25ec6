"""Pictures of searches and splitters."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.splitters.audit import SplitReport


class CVResultsDisplay(Display):
    """Candidates of a search, the best on top, with their scores in each fold.

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
        from skrank_metrics.model_selection import search_report as fitted  # imports scikit-learn

        super().__init__(result)
        check_int(n_candidates, "n_candidates", 1)
        fitted.check_search(result)
        found, metrics = result.cv_results_, fitted.scored_metrics(result)
        key = fitted.metric_of(result, metrics, metric)
        scores, ranked = fitted.fold_scores(found, key), fitted.ranked_rows(result, key)
        n_folds = scores.shape[1]
        # Candidates that were dropped lack folds. They failed only if they lack the score of a fold that they ran.
        n_ran = np.nan_to_num(
            found.get("dropped_after", np.full(len(scores), n_folds)), nan=n_folds
        ).astype(int)
        best = [row for row in ranked if 0 < n_ran[row] == (~np.isnan(scores[row])).sum()][
            :n_candidates
        ]
        if not best:
            raise ValueError(
                "search must have a candidate with a score in every fold; each has NaN in some fold."
            )
        self.candidates = [
            (fitted.spelled_params(found["params"][row]) or "defaults")
            + (f"\ndropped after fold {n_ran[row]}" if n_ran[row] < n_folds else "")
            for row in best
        ]
        self.scores: FloatArray = scores[best]
        note = f", best {len(best)} of {len(ranked)} candidates" if len(best) < len(ranked) else ""
        self._label = f"{metrics[key] or key}, mean and each of {n_folds} folds{note}"

    def _draw(self, ax: Any) -> None:
        (ax,) = self._panels(ax, [style.height_of(self.candidates)])
        look, means = style.polish(ax), np.nanmean(self.scores, axis=1).tolist()
        spelled = style.spell(*means)
        for row, (scores, mean) in enumerate(zip(self.scores, means, strict=True)):
            colour = look.soft if row else look.best
            marks = {
                "linestyle": "none",
                "marker": "|",
                "markersize": 8,
                "color": look.soft,
                "alpha": 0.7,
            }
            ax.plot(scores, np.full(len(scores), row), **marks)
            whole = not np.isnan(scores).any()  # means over different folds are not comparable
            ax.plot(
                mean, row, marker="o", color=colour, markerfacecolor=colour if whole else "none"
            )
            style.write_beside(ax, (np.nanmax(scores), row), spelled(mean), colour)
        ax.set_xlabel(self._label)
        style.draw_rows(ax, self.candidates, bold=(0,))


# Longer texts of splitters are cut off, such as those of lists of rows.
MOST_NAMED = 120


class SplitDisplay(Display):
    """Test parts of folds: their queries, documents and share of relevant documents, with leaks marked.

    In folds of equal size and composition, the bars of each panel are equally long. The names of folds that leak are
    orange and count the leaks.

    Parameters
    ----------
    result : SplitReport
        Result of audit_splits.

    See Also
    --------
    audit_splits : Audit a splitter, in numbers, with the ids of the queries that leak.

    Examples
    --------
    KFold cuts query "b" in the middle:

    >>> from sklearn.model_selection import KFold
    >>> from skrank_metrics import audit_splits
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> display = audit_splits(KFold(2), X, y, qid=qid).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['fold 0: 1 leak', 'fold 1: 1 leak']
    """

    result: SplitReport

    def _draw(self, ax: Any) -> None:
        table = self.result.table
        leaks = np.sum([table[kind] for kind in self.result.ids], axis=0).tolist()
        names = [
            f"fold {fold}" + (f": {counted(leak, 'leak')}" if leak else "")
            for fold, leak in enumerate(leaks)
        ]
        shown = {
            "queries": (table["queries"], "{:,}"),
            "documents": (table["documents"], "{:,}"),
            "share of relevant documents": (table["share_relevant"], "{:.1%}"),
        }
        panels = self._panels(ax, 3 * [style.height_of(names)], (1, 1, 1))
        for number, (panel, (label, (values, spec))) in enumerate(
            zip(panels, shown.items(), strict=True)
        ):
            look = style.polish(panel)
            panel.barh(range(len(names)), values, height=0.55, color=look.best)
            for row, value in enumerate(values.tolist()):
                style.write_beside(panel, (value, row), spec.format(value), look.ink)
            inks = [look.alarm if leak else look.ink for leak in leaks]
            style.draw_rows(
                panel, names if not number or style.is_narrow() else len(names) * [""], inks
            )
            panel.set(xlabel=label, xticks=[])
        title = textwrap.fill(textwrap.shorten(self.result.splitter, MOST_NAMED), 60)
        self.ax_.set_title(title, loc="left", size="small", color=look.soft)

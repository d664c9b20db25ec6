"""The candidates of a search."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_int
from skrank_metrics._output.result import counted
from skrank_metrics._sklearn_internals import score_function
from skrank_metrics.displays._base import COLOURS, GREY, documented, ink, legend, use_axes
from skrank_metrics.model_selection._fitted_search import (
    check_search,
    fold_scores,
    metric_of,
    metric_of_scorer,
    ranked_rows,
    scored_metrics,
    spelled,
)
from skrank_metrics.model_selection.search_report import SearchReport

# Longer names of candidates leave no room for the values.
NAME_WIDTH = 44
_BARS = ("dict", "Keyword arguments for matplotlib's ``errorbar``, which draws the means.")


class CVResultsDisplay:
    """Candidates of a search, the best on top, with their scores in each fold.

    Create it with ``from_estimator``. There is no ``from_predictions``, since a search does not keep the predictions of
    its candidates.

    Parameters
    ----------
    scores : array-like of float of shape (n_candidates, n_folds)
        Score of each candidate in each fold, the best candidate first. NaN for folds that a candidate did not run.
    candidates : sequence of str
        Names of the candidates.
    metric : str, default="score"
        Name of the metric.
    n_searched : int, default=None
        Number of candidates in the search, if only the best of them are drawn.
    worse : array-like of bool of shape (n_candidates,), default=None
        Whether each candidate is significantly worse than the first, by a test per query. If None, this is not shown,
        since the scores of a few folds can hardly tell.

    Attributes
    ----------
    folds_ : matplotlib Line2D
        Marks of the scores in each fold.
    means_ : matplotlib ErrorbarContainer
        Means over folds.
    best_ : matplotlib Line2D
        Star at the mean of the best.
    kept_ : matplotlib Line2D or None
        Marks of the candidates that ran all folds and are not significantly worse than the best; None if that is not
        known.
    line_ : matplotlib Line2D
        Vertical line at the mean of the best.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    search_report : Test which candidates are significantly different from the best.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import CVResultsDisplay
    >>> display = CVResultsDisplay([[0.8, 0.7], [0.7, 0.6]], ["depth=3", "depth=2"], metric="ndcg@10").plot()
    >>> [float(round(mean, 2)) for mean in display.means_.lines[0].get_xdata()]
    [0.75, 0.65]
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, scores: Any, candidates: Any, *, metric: str = "score", n_searched: int | None = None, worse: Any = None
    ) -> None:
        self.scores: FloatArray = np.asarray(scores, dtype=np.float64)
        self.candidates = list(candidates)
        self.metric = metric
        self.n_searched = n_searched
        self.worse: Mask | None = None if worse is None else np.asarray(worse, dtype=bool)

    @documented(errorbar_kw=_BARS)
    def plot(self, ax: Any = None, *, errorbar_kw: Mapping[str, Any] | None = None) -> CVResultsDisplay:
        """Draw the candidates one below the other; the height of a new figure follows from their number."""
        names = ["\n".join(textwrap.fill(line, NAME_WIDTH) for line in name.split("\n")) for name in self.candidates]
        n_lines = 1 + max(name.count("\n") for name in names)
        ax = use_axes(self, ax, figsize=(10, 1.6 + (0.16 * n_lines + 0.14) * len(names)))
        n_folds = self.scores.shape[1]
        places = np.arange(len(names))
        marks = {"linestyle": "none", "marker": "|", "markersize": 9, "color": ink(), "zorder": 2}
        label = f"score in each of {n_folds} folds"
        (self.folds_,) = ax.plot(self.scores.ravel(), np.repeat(places, n_folds), **marks, label=label)
        self._plot_means(ax, places, errorbar_kw or {})
        some = self.n_searched is not None and self.n_searched > len(names)
        note = f" (best {len(names)} of {self.n_searched} candidates)" if some else ""
        ax.set(xlabel=self.metric + note, ylim=(len(names) - 0.5, -0.5))
        ax.set_yticks(places, names, fontsize="small")
        legend(ax)
        return self

    def _plot_means(self, ax: Any, places: IntArray, errorbar_kw: Mapping[str, Any]) -> None:
        means = np.nanmean(self.scores, axis=1)
        style = {"fmt": "o", "zorder": 1, "color": GREY, "label": "mean", **errorbar_kw}
        self.means_ = ax.errorbar(means, places, **style)
        self.line_ = ax.axvline(means[0], color=COLOURS[1], linewidth=1, zorder=0)
        style = {"linestyle": "none", "zorder": 3, "marker": "*", "markersize": 12, "color": COLOURS[1]}
        (self.best_,) = ax.plot(means[:1], places[:1], **style, label="best")
        self.kept_ = None
        if self.worse is not None and len(means) > 1:
            # Means over different folds are not comparable.
            kept = ~np.isnan(self.scores).any(axis=1) & ~self.worse & (places > 0)
            style |= {"marker": "o", "markersize": None, "color": COLOURS[0]}
            label = f"{counted(int(kept.sum()), 'other')} not significantly worse"
            (self.kept_,) = ax.plot(means[kept], places[kept], **style, label=label)

    @classmethod
    @documented(
        "TypeError: If search is not a GridSearchCV or similar.",
        "NotFittedError: If the search is not fitted.",
        "ValueError: If the search lacks the metric, has several metrics but refit names none, has a single fold or "
        "candidate, or if every candidate failed.",
        search=("GridSearchCV, RandomizedSearchCV, RacingSearchCV or a halving search", "Fitted search."),
        metric=(
            "str, metric function or bound metric",
            "Metric of the search. None means the one used for ``refit``.",
        ),
        n_candidates=("int", "Number of candidates to draw, the best ones."),
        report=(
            "SearchReport",
            "Result of search_report for this search and metric. Its tests per query show which candidates are "
            "significantly worse. None draws the scores only.",
        ),
        errorbar_kw=_BARS,
    )
    def from_estimator(
        cls,
        search: Any,
        *,
        metric: Any = None,
        n_candidates: int = 10,
        report: SearchReport | None = None,
        ax: Any = None,
        errorbar_kw: Mapping[str, Any] | None = None,
    ) -> CVResultsDisplay:
        """Draw the candidates of a fitted search.

        Candidates that failed in a fold are left out. In a halving search, each candidate is shown on its last rung.
        Candidates that left a race come last, with the mean over the folds that they ran, which is not comparable with
        means over other folds.
        """
        check_search(search)
        check_int(n_candidates, "n_candidates", 1)
        found = search.cv_results_
        key = metric_of(search, scored_metrics(search), metric)
        scores = fold_scores(found, key)
        ranked = ranked_rows(search, key)
        after = found.get("dropped_after", np.full(len(scores), np.nan))
        # Candidates that left a race lack folds. They failed only if they lack the score of a fold that they ran.
        ran = np.arange(scores.shape[1]) < np.nan_to_num(after, nan=np.inf)[:, None]
        best = [row for row in ranked if ran[row].any() and not np.isnan(scores[row][ran[row]]).any()][:n_candidates]
        if not best:
            raise ValueError("search must have a candidate with a score in every fold; each has NaN in some fold.")
        # Only the function of a single scorer knows the name of its metric.
        ranking, function = metric_of_scorer(search.scorer_), score_function(search.scorer_)
        label = getattr(function, "__name__", key) if ranking is None else str(ranking)
        left = {row: f"\nleft after fold {after[row]:.0f}" for row in best if not np.isnan(after[row])}
        candidates = [(spelled(found["params"][row]) or "defaults") + left.get(row, "") for row in best]
        worse = None if report is None else _worse(report, (label, key), ranked, best)
        display = cls(scores[best], candidates, metric=label, n_searched=len(ranked), worse=worse)
        return display.plot(ax, errorbar_kw=errorbar_kw)


def _worse(report: SearchReport, metrics: tuple[str, str], ranked: list[int], drawn: list[int]) -> list[bool]:
    """Whether each candidate is significantly worse in a report, which must be of the same search."""
    known = {candidate.index: candidate for candidate in report.candidates}
    if report.metric not in metrics or list(known) != ranked:
        raise ValueError(
            f"report must be the result of search_report for this search and metric; got one by {report.metric} of "
            f"{counted(len(known), 'candidate')}, for {metrics[0]} of {len(ranked)}."
        )
    if untested := [row for row in drawn[1:] if known[row].pair is None and not known[row].left]:
        raise ValueError(
            f"n_candidates must be at most the number that the report tested; got {len(drawn)}, of which "
            f"{len(untested)} were not tested. Pass n_candidates={len(drawn) - len(untested)}, or test more."
        )
    return [known[row].verdict == "worse" for row in drawn]

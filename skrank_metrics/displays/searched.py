"""What a fitted search found, read for its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray

NO_SCORES = "search must have a candidate with a score in every fold; each has NaN in some fold."


@dataclass(frozen=True)
class Searched:
    """Candidates of a search that have a score by a metric in every fold that they ran, the best first."""

    rows: Sequence[int]  # of the candidates in cv_results_
    params: Sequence[Mapping[str, Any]]
    scores: FloatArray  # (n_candidates, n_folds), NaN in folds that did not run
    n_ran: IntArray  # folds that each candidate ran; a race drops some before the last
    n_tried: int  # candidates, with those that failed
    metric: str  # as it is called in the picture


def read_search(search: Any, metric: Any) -> Searched:
    """Read the results of a fitted search by one of its metrics."""
    from skrank_metrics.model_selection import fitted_search as fitted  # imports scikit-learn

    fitted.check_search(search)
    found, metrics = search.cv_results_, fitted.scored_metrics(search)
    key = fitted.metric_of(search, metrics, metric)
    scores = fitted.fold_scores(found, key)
    n_candidates, n_folds = scores.shape
    n_ran = np.full(n_candidates, n_folds)
    if "dropped_after" in found:
        n_ran = np.nan_to_num(found["dropped_after"], nan=n_folds).astype(int)
    n_scores = np.sum(~np.isnan(scores), axis=1)
    is_whole = (n_ran > 0) & (n_ran == n_scores)
    ranked = fitted.ranked_rows(found, key)
    rows = [row for row in ranked if is_whole[row]]
    if not rows:
        raise ValueError(NO_SCORES)
    params = [found["params"][row] for row in rows]
    name = str(metrics[key] or key)
    return Searched(rows, params, scores[rows], n_ran[rows], len(ranked), name)

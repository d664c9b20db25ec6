"""What a fitted search found, read for its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skrank_metrics._input.arrays import FloatArray


@dataclass(frozen=True)
class Searched:
    """Candidates of a search that have a score by a metric in every fold, the best first."""

    rows: Sequence[int]  # of the candidates in cv_results_
    params: Sequence[Mapping[str, Any]]
    scores: FloatArray  # (n_candidates, n_folds)
    n_tried: int  # candidates, with those that failed or that a race dropped
    metric: str  # as it is called in the picture


def read_search(search: Any, metric: Any) -> Searched:
    """Read the results of a fitted search by one of its metrics."""
    from skrank_metrics.model_selection import _fitted_search as fitted  # imports scikit-learn

    fitted.check_search(search)
    found, metrics = search.cv_results_, fitted.scored_metrics(search)
    key = fitted.metric_of(search, metrics, metric)
    scores = fitted.fold_scores(found, key)
    ranked = fitted.ranked_rows(found, key)
    rows = fitted.whole_rows(found, key)
    params = [found["params"][row] for row in rows]
    return Searched(rows, params, scores[rows], len(ranked), str(metrics[key] or key))

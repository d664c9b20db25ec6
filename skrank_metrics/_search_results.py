"""What a fitted search of scikit-learn says of its candidates."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrank_metrics._metric import BoundMetric
from skrank_metrics._validation import check_choice
from skrank_metrics.scorers import RankingScore

# Longer values of parameters leave no room for the numbers of a table.
VALUE_WIDTH = 40


def check_search(search: Any) -> None:
    """Refuse what is no search, or not fitted."""
    if not hasattr(search, "refit"):
        raise TypeError(f"search must be a search such as GridSearchCV; got {type(search).__name__}.")
    check_is_fitted(search, "cv_results_")


def metrics_of(search: Any) -> dict[str, BoundMetric]:
    """Metrics by the names that the search has for them."""
    scorers = search.scorer_ if isinstance(search.scorer_, Mapping) else {"score": search.scorer_}
    metrics = {}
    for name, scorer in scorers.items():
        metric = metric_of_scorer(scorer)
        if metric is None:
            raise ValueError(
                f"search must be scored by scorers of skrank_metrics; got {scorer!r}. Pass "
                "scoring=ranking_scorers(...)."
            )
        metrics[name] = metric
    return metrics


def metric_of_scorer(scorer: Any) -> BoundMetric | None:
    """Metric of a scorer of this package, the negative of a distance as in the results; None of other scorers."""
    score = getattr(scorer, "_score_func", None)
    if not isinstance(score, RankingScore):
        return None
    return score.metric if score.metric.greater_is_better else replace(score.metric, negative=True)


def metric_of(search: Any, metrics: Mapping[str, Any], metric: str | None) -> str:
    """Name of the metric to rank by, that of ``refit`` where none is asked for."""
    if metric is None:
        chosen = search.refit if isinstance(search.refit, str) else getattr(search.refit, "metric", None)
        metric = chosen if chosen in metrics else next(iter(metrics))
        if chosen is None and len(metrics) > 1:
            raise ValueError(f"metric must name one of {list(metrics)}, as the search does not say; got None.")
    return str(check_choice(metric, "metric", metrics))


def ranked_rows(search: Any, metric: str) -> list[int]:
    """Rows of the results from the best to the worst, of halving those of the last rung of each; failed ones last."""
    found = search.cv_results_
    rungs = np.asarray(found.get("iter", np.zeros(len(found["params"]), dtype=int)))
    resource = getattr(search, "resource", None)
    last = {
        repr(sorted((name, value) for name, value in params.items() if name != resource)): row
        for row, params in enumerate(found["params"])
    }
    rows = np.array(list(last.values()))
    means = found[f"mean_test_{metric}"][rows]
    if len(rows) < 2:
        raise ValueError(f"search must have at least two candidates to tell apart; got {len(rows)}.")
    return [int(row) for row in rows[np.lexsort((-means, -rungs[rows], np.isnan(means)))]]


def candidate_of(search: Any, row: int, rank: int, metrics: Mapping[str, BoundMetric]) -> dict[str, Any]:
    """What the results say of a candidate."""
    found = search.cv_results_
    return {
        "rank": rank,
        "params": found["params"][row],
        "mean": {str(metric): float(found[f"mean_test_{name}"][row]) for name, metric in metrics.items()},
        "std": {str(metric): float(found[f"std_test_{name}"][row]) for name, metric in metrics.items()},
        "index": row,
        "pair": None,
    }


def spelled(params: Mapping[str, Any]) -> str:
    """A candidate as text."""
    # A value may be an estimator, whose text has several lines.
    values = [textwrap.shorten(str(value), VALUE_WIDTH, placeholder=" ...") for value in params.values()]
    return ", ".join(f"{name.rpartition('__')[2]}={value}" for name, value in zip(params, values, strict=True))

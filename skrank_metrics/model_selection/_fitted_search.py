"""What a fitted search says: its metrics, its scores, and its candidates in order, with their names."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrank_metrics._input.arrays import FloatArray, nearest
from skrank_metrics._sklearn_internals import score_function
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import check_column
from skrank_metrics.model_selection.scorers import RankingScore

# Longer parameter values and names of candidates would leave no room for numbers in a table.
VALUE_WIDTH, NAME_WIDTH = 40, 60


def check_search(search: Any) -> None:
    """Refuse anything but a fitted search."""
    if not hasattr(search, "refit"):
        raise TypeError(f"search must be a fitted GridSearchCV or similar; got {type(search).__name__}.")
    check_is_fitted(search, "cv_results_")


def scorers_of(search: Any) -> Mapping[str, Any]:
    """Scorers by their names in the results."""
    return search.scorer_ if isinstance(search.scorer_, Mapping) else {"score": search.scorer_}


def metric_of_scorer(scorer: Any) -> BoundMetric | None:
    """Metric of a scorer of this package, with distances negated as in the results; None for other scorers."""
    score = score_function(scorer)
    if not isinstance(score, RankingScore):
        return None
    return score.metric if score.metric.greater_is_better else replace(score.metric, negative=True)


def scored_metrics(search: Any) -> dict[str, BoundMetric | None]:
    """Metrics by the names of the scorers in the results; None for scorers of other packages."""
    names = [name.removeprefix("mean_test_") for name in search.cv_results_ if name.startswith("mean_test_")]
    scorers = scorers_of(search)
    return {name: metric_of_scorer(scorers[name]) if name in scorers else None for name in names}


def metric_of(search: Any, metrics: Mapping[str, BoundMetric | None], metric: Any) -> str:
    """Key of the metric to rank by, by default that of ``refit``."""
    if metric is None:
        chosen = search.refit if isinstance(search.refit, str) else getattr(search.refit, "metric", None)
        metric = chosen if chosen in metrics else next(iter(metrics))
        if chosen is None and len(metrics) > 1:
            raise ValueError(f"metric must be one of {list(metrics)} if refit did not name one; got None.")
    return check_column(metric, metrics)


def fold_scores(cv_results: Mapping[str, Any], metric: str) -> FloatArray:
    """Scores with one row per candidate and one column per fold."""
    numbers = itertools.takewhile(lambda fold: f"split{fold}_test_{metric}" in cv_results, itertools.count())
    columns = [cv_results[f"split{fold}_test_{metric}"] for fold in numbers]
    if len(columns) < 2:
        known = [name.removeprefix("split0_test_") for name in cv_results if name.startswith("split0_test_")]
        others = [name for name in known if name != metric]
        hint = " Leave metric out, or pass 'score'." if others == ["score"] else nearest(metric, others)
        raise ValueError(
            f"metric must be scored by the search, on at least two folds; got {metric!r} and a search by "
            f"{', '.join(known)}.{hint}"
        )
    return np.column_stack(columns)


def ranked_rows(search: Any, metric: str) -> list[int]:
    """Rows of the results, best first and failed ones last; of a halving search, those of the last rung.

    In a race, dropped candidates follow the others, the last to be dropped first.
    """
    found = search.cv_results_
    means, last = found[f"mean_test_{metric}"], np.zeros(len(found["params"]))
    if "dropped_after" in found:
        means, last = mean_so_far(fold_scores(found, metric)), np.nan_to_num(found["dropped_after"], nan=np.inf)
    rungs = np.asarray(found.get("iter", np.zeros(len(last))))
    order = np.lexsort((-means, -last, np.isnan(means)))
    return [int(row) for row in order if rungs[row] == rungs.max()]


def mean_so_far(folds: FloatArray) -> FloatArray:
    """Mean over the folds that each candidate ran without failing; NaN if there are none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(folds, axis=1) / np.sum(~np.isnan(folds), axis=1))


def candidate_names(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Candidates by the parameters that vary, or by number if that is too long or not unique."""
    names = dict.fromkeys(name for params in candidates for name in params)
    values = {name: {repr(params[name]) if name in params else None for params in candidates} for name in names}
    varying = [{n: value for n, value in params.items() if len(values[n]) > 1} for params in candidates]
    texts = [spelled_params(params) or "defaults" for params in varying]
    counts = Counter(texts)
    return [
        text if counts[text] == 1 and len(text) <= NAME_WIDTH else f"candidate {number}"
        for number, text in enumerate(texts, start=1)
    ]


def spelled_params(params: Mapping[str, Any]) -> str:
    """Parameters as text; estimators by their class alone."""
    return ", ".join(
        type(value).__name__ if hasattr(value, "get_params") else f"{name.rpartition('__')[2]}={_short(value)}"
        for name, value in params.items()
    )


def _short(value: Any) -> str:
    """One line of a value; that of an object may take several."""
    text = getattr(value, "__name__", None) or str(value)
    if isinstance(value, float) and float(f"{value:g}") == value:
        text = f"{value:g}"
    text = " ".join(text.split())
    return text if len(text) <= VALUE_WIDTH else f"{text[: VALUE_WIDTH - 3]}..."

"""Read a fitted search: its scorers, metrics, scores and candidates."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._sklearn_internals import score_function
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import check_column
from skrank_metrics.model_selection.scorers import RankingScore

# Longer parameter values would leave no room for other columns of a table.
VALUE_WIDTH = 40


def check_search(search: Any) -> None:
    """Refuse anything but a fitted search."""
    if not hasattr(search, "refit"):
        raise TypeError(
            f"search must be a fitted GridSearchCV or similar; got {type(search).__name__}."
        )
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
    scorers = scorers_of(search)
    found = {}
    for column in search.cv_results_:
        name = column.removeprefix("mean_test_")
        if name != column:
            found[name] = metric_of_scorer(scorers.get(name))
    return found


def metric_of(search: Any, metrics: Mapping[str, BoundMetric | None], metric: Any) -> str:
    """Key of the metric to rank by, by default that of ``refit``."""
    if metric is not None:
        return check_column(metric, metrics)
    key = named_by(search.refit, metrics)
    if key is None and len(metrics) > 1:
        raise ValueError(
            f"metric must be one of {list(metrics)} if refit did not name one; got None."
        )
    return key or next(iter(metrics))


def named_by(refit: Any, scorers: Mapping[str, Any]) -> str | None:
    """The scorer that ``refit`` names: by a string, or the attribute ``metric`` of a callable, as within_noise has."""
    key = getattr(refit, "metric", refit)
    # A callable can have an attribute of that name that means something else.
    return key if key in scorers else None


def fold_scores(cv_results: Mapping[str, Any], metric: str) -> FloatArray:
    """Scores with one row per candidate and one column per fold."""
    columns = _columns_of_folds(cv_results, metric)
    if len(columns) < 2:
        raise ValueError(
            f"metric must be scored by the search, on at least two folds; got {metric!r}. The name of a single scorer "
            "is 'score'."
        )
    return np.column_stack(columns)


def _columns_of_folds(cv_results: Mapping[str, Any], metric: str) -> list[Any]:
    names = (f"split{fold}_test_{metric}" for fold in itertools.count())
    return [cv_results[name] for name in itertools.takewhile(cv_results.__contains__, names)]


def ranked_rows(cv_results: Mapping[str, Any], metric: str) -> list[int]:
    """Rows of the results, by the number of folds with a score, most first, and then by the mean of these.

    Of a halving search, only the last rung is ranked.
    """
    folds = np.column_stack(_columns_of_folds(cv_results, metric))
    n_scored = np.count_nonzero(~np.isnan(folds), axis=1)
    means = np.nansum(folds, axis=1) / np.maximum(n_scored, 1)
    rungs = np.asarray(cv_results.get("iter", np.zeros(len(means))))
    order = np.lexsort((-means, -n_scored))
    return [int(row) for row in order if rungs[row] == rungs.max()]


def whole_rows(cv_results: Mapping[str, Any], metric: str) -> list[int]:
    """Rows of the candidates with a score in every fold, the best mean first; an error if there are none.

    Means over some of the folds are not comparable with the others.
    """
    folds = fold_scores(cv_results, metric)
    rows = [row for row in ranked_rows(cv_results, metric) if not np.isnan(folds[row]).any()]
    if not rows:
        where = " on its last rung" if "iter" in cv_results else ""
        raise ValueError(
            f"search must have a candidate with a score in every fold{where}; got none for {metric!r}."
        )
    return rows


def spelled_params(params: Mapping[str, Any]) -> str:
    """Parameters as text; estimators by their class alone."""
    parts = []
    for name, value in params.items():
        if hasattr(value, "get_params"):
            parts.append(type(value).__name__)
        else:
            parts.append(f"{name.rpartition('__')[2]}={spelled_value(value)}")
    return ", ".join(parts)


def spelled_value(value: Any) -> str:
    """One line of a value; that of an object may take several."""
    text = getattr(value, "__name__", None) or str(value)
    # Large and small numbers are shorter with an exponent, if no digit is lost.
    if isinstance(value, float) and float(f"{value:g}") == value:
        text = f"{value:g}"
    text = " ".join(text.split())
    if len(text) <= VALUE_WIDTH:
        return text
    return f"{text[: VALUE_WIDTH - 3]}..."

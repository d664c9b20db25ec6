"""Early stopping of boosters on whole held-out queries."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import check_int, check_number
from skrank_metrics.rankers._fit_arguments import SortedRows, accepted_by_fit, way_of_queries
from skrank_metrics.rankers.booster_metrics import lightgbm_metric
from skrank_metrics.splitters._base import random_source

# Watched if the estimator sets no metric; the one of QueryRanker.score.
METRIC = "ndcg@10"


def check_early_stopping(estimator: Any, fraction: Any, rounds: Any) -> bool:
    """Whether to stop early. It takes both parameters, and a ranker that supports it."""
    if fraction is None and rounds is None:
        return False
    if fraction is None or rounds is None:
        raise ValueError(
            "validation_fraction and early_stopping_rounds must be given together, or neither; got "
            f"validation_fraction={fraction!r} and early_stopping_rounds={rounds!r}."
        )
    check_number(fraction, "validation_fraction", "(0, 1)")
    check_int(rounds, "early_stopping_rounds", 1)
    if way_of_queries(estimator) is None or "eval_set" not in accepted_by_fit(estimator):
        raise TypeError(
            "estimator must be LGBMRanker, XGBRanker or CatBoostRanker to stop early; got "
            f"{type(estimator).__name__}. Leave out validation_fraction and early_stopping_rounds."
        )
    return True


def hold_back(rows: SortedRows, fraction: float, random_state: Any) -> tuple[SortedRows, SortedRows]:
    """Draw whole queries for validation; the rows to train on, and those to validate on."""
    n_queries = len(rows.sizes)
    n_validation = round(fraction * n_queries)
    if not 0 < n_validation < n_queries:
        raise ValueError(
            "validation_fraction must leave queries on both sides; got "
            f"{n_validation} of {n_queries} queries for validation with validation_fraction={fraction}. Fit on more "
            "queries, or set another fraction."
        )
    held_back = np.zeros(n_queries, dtype=bool)
    held_back[random_source(random_state).permutation(n_queries)[:n_validation]] = True
    return rows.of_queries(~held_back), rows.of_queries(held_back)


def early_stopping_arguments(estimator: Any, rows: SortedRows, rounds: int) -> dict[str, Any]:
    """Keywords of ``fit`` to validate on these rows; sets parameters of the estimator if needed."""
    way = way_of_queries(estimator)
    make = {"group_id": _catboost_arguments, "qid": _xgboost_arguments, "group": _lightgbm_arguments}
    return make[str(way)](estimator, rows, int(rounds))


def _lightgbm_arguments(estimator: Any, rows: SortedRows, rounds: int) -> dict[str, Any]:
    lightgbm = importlib.import_module("lightgbm")
    arguments: dict[str, Any] = {"eval_group": [rows.sizes]}
    if "eval_X" in accepted_by_fit(estimator):  # then eval_set is deprecated
        arguments |= {"eval_X": (rows.X,), "eval_y": (rows.y,)}
    else:
        arguments["eval_set"] = [(rows.X, rows.y)]
    weights, parameters = rows.weights, estimator.get_params()
    if all(parameters.get(name) is None for name in ("metric", "metrics", "metric_types")):
        estimator.set_params(metric="None")
        arguments["eval_metric"] = lightgbm_metric(METRIC)
        # LightGBM weights rows, and its own metrics take the mean for the query.
        weights = rows.mean_weights
    if weights is not None:
        arguments["eval_sample_weight"] = [weights]
    return {**arguments, "callbacks": [lightgbm.early_stopping(rounds, verbose=False)]}


def _xgboost_arguments(estimator: Any, rows: SortedRows, rounds: int) -> dict[str, Any]:
    if estimator.get_params().get("eval_metric") is None:
        estimator.set_params(eval_metric=METRIC)
    estimator.set_params(early_stopping_rounds=rounds)
    arguments: dict[str, Any] = {"eval_set": [(rows.X, rows.y)], "eval_qid": [rows.codes]}
    if rows.weights is not None:
        arguments["sample_weight_eval_set"] = [rows.weights_of_queries]
    return {**arguments, "verbose": False}


def _catboost_arguments(estimator: Any, rows: SortedRows, rounds: int) -> dict[str, Any]:
    pool = importlib.import_module("catboost").Pool
    parameters = estimator.get_params()
    if parameters.get("eval_metric") is None:
        estimator.set_params(eval_metric="NDCG:top=10;type=Base")
    columns = {name: parameters.get(name) for name in ("cat_features", "text_features", "embedding_features")}
    validation = pool(rows.X, rows.y, group_id=rows.codes, group_weight=rows.weights, **columns)
    return {"eval_set": validation, "early_stopping_rounds": rounds}


def best_iteration(estimator: Any) -> int:
    """Number of boosting rounds with the best validation; LightGBM counts from 1, the others from 0."""
    if hasattr(estimator, "best_iteration_"):
        return int(estimator.best_iteration_) + (way_of_queries(estimator) == "group_id")
    return int(estimator.best_iteration) + 1

"""Validation sets: the rows that users pass to ``fit``, and the keywords by which boosters take them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from sklearn.utils import check_consistent_length

from skrank_metrics._input.parameters import check_int, check_number
from skrank_metrics._input.query_ids import carried, group_by_query
from skrank_metrics.rankers._fitting import (
    METRIC,
    FittedQueries,
    SortedRows,
    label_column,
    sorted_rows,
    taken_by_fit,
    way_of_queries,
)
from skrank_metrics.rankers.booster_metrics import lightgbm_metric

_HOW_TO_PASS = "Pass eval_set=[(X_val, with_qid(y_val, qid_val))]."


def takes_queries_of_validation(estimator: Any) -> bool:
    """Whether this is a ranker whose way to take the queries of validation sets is known."""
    accepted = taken_by_fit(estimator)
    is_catboost = way_of_queries(estimator) == "group_id"
    return "eval_set" in accepted and (
        is_catboost or not accepted.isdisjoint({"eval_group", "eval_qid"})
    )


def given_sets(eval_set: Any, X_val: Any, y_val: Any) -> list[tuple[Any, Any]]:
    """The pairs of rows and labels that were passed, in either of two ways."""
    if X_val is not None or y_val is not None:
        if eval_set is not None:
            raise ValueError(
                "Pass a validation set as eval_set or as X_val and y_val, not as both."
            )
        if X_val is None:
            raise TypeError("X_val must hold the rows of y_val; got None.")
        return [(X_val, y_val)]
    pairs = [] if eval_set is None else list(eval_set)
    for number, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"eval_set[{number}] must be a pair of rows and labels; got "
                f"{type(pair).__name__}. {_HOW_TO_PASS}"
            )
    return pairs


def sorted_set(estimator: Any, pair: tuple[Any, Any], name: str) -> SortedRows:
    """A validation set with its rows sorted by query; the ids and weights are in the index of the labels."""
    X, y = pair
    labels = label_column(y)
    check_consistent_length(X, labels)
    caller = f"QueryRanker.fit with {name}"
    grouping = group_by_query(len(labels), caller, hint=_HOW_TO_PASS, X=X, y=y)
    weights = carried(y, sample_weight=None)["sample_weight"]
    return sorted_rows(estimator, X, labels, grouping, weights, {})


def check_new_queries(fitted: FittedQueries, rows: SortedRows) -> None:
    """Refuse early stopping on queries of the training rows, which never stops in time."""
    n_shared = fitted.shared(rows.ids, rows.sizes)[0]
    if n_shared:
        raise ValueError(
            f"eval_set shares {n_shared} of its {len(rows.ids)} queries with the training rows, so "
            "it cannot tell when to stop. If these are other queries, give them other ids."
        )


# What boosters call the number of rounds without improvement.
_PATIENCE = ("early_stopping_rounds", "early_stopping_round", "early_stopping", "od_wait")


def _check_patience(booster: Any, rounds: int) -> None:
    """Refuse a booster with another number of rounds, of which LightGBM would take the smaller."""
    given = booster.get_params(deep=False)
    for name in _PATIENCE:
        if given.get(name) not in (None, rounds):
            raise ValueError(
                f"early_stopping_rounds must not contradict {name} of the estimator; got {rounds} and "
                f"{given[name]!r}. Leave out one of them."
            )


def check_early_stopping(ranker: Any, n_sets: int, *, takes_sets: bool) -> int | None:
    """Number of rounds without improvement after which to stop; None for never.

    If there is one, exactly one set of queries must decide when to stop.
    """
    fraction, rounds = ranker.validation_fraction, ranker.early_stopping_rounds
    if rounds is None:
        if fraction is not None:
            raise ValueError(
                "validation_fraction requires early_stopping_rounds; got "
                f"validation_fraction={fraction!r} and early_stopping_rounds=None."
            )
        return None
    check_int(rounds, "early_stopping_rounds", 1)
    if not takes_sets:
        raise TypeError(
            "estimator must be LGBMRanker, XGBRanker or CatBoostRanker to stop early; got "
            f"{type(ranker.estimator).__name__}. Leave out validation_fraction and early_stopping_rounds."
        )
    _check_patience(ranker.estimator, rounds)
    if (fraction is not None) + n_sets != 1:
        raise ValueError(
            "early_stopping_rounds requires either validation_fraction or exactly one validation set, "
            f"eval_set=[(X_val, with_qid(y_val, qid_val))]; got validation_fraction={fraction} and {n_sets} sets."
        )
    if fraction is not None:
        check_number(fraction, "validation_fraction", "(0, 1)")
    return int(rounds)


def validation_arguments(
    estimator: Any, sets: Sequence[SortedRows], rounds: int | None, given: dict[str, Any]
) -> dict[str, Any]:
    """Add the keywords for validation on these sets, and early stopping after ``rounds`` without improvement.

    To stop early, a metric is set on the estimator if it has none.
    """
    make = {
        "group_id": _catboost_arguments,
        "qid": _xgboost_arguments,
        "group": _lightgbm_arguments,
    }
    return make[str(way_of_queries(estimator))](estimator, sets, rounds, given)


def _lightgbm_arguments(
    estimator: Any, sets: Sequence[SortedRows], rounds: int | None, given: dict[str, Any]
) -> dict[str, Any]:
    weights = [rows.weights for rows in sets]
    arguments = dict(given)
    if rounds is not None:
        lightgbm = importlib.import_module("lightgbm")
        stop = lightgbm.early_stopping(rounds, verbose=False)
        arguments["callbacks"] = [*given.get("callbacks", ()), stop]
        parameters = estimator.get_params()
        if all(parameters.get(name) is None for name in ("metric", "metrics", "metric_types")):
            estimator.set_params(metric="None")
            arguments.setdefault("eval_metric", lightgbm_metric(METRIC))
            # LightGBM's own metrics weight queries by the mean of their rows.
            weights = [rows.weights_of_queries_by_row for rows in sets]
    arguments["eval_group"] = [rows.sizes for rows in sets]
    arguments["eval_sample_weight"] = weights
    arguments["eval_init_score"] = [rows.further.get("init_score") for rows in sets]
    # Versions of LightGBM with eval_X warn of eval_set.
    if "eval_X" in taken_by_fit(estimator):
        arguments["eval_X"] = tuple(rows.X for rows in sets)
        arguments["eval_y"] = tuple(rows.y for rows in sets)
    else:
        arguments["eval_set"] = [(rows.X, rows.y) for rows in sets]
    return arguments


def _xgboost_arguments(
    estimator: Any, sets: Sequence[SortedRows], rounds: int | None, given: dict[str, Any]
) -> dict[str, Any]:
    if rounds is not None:
        if estimator.get_params().get("eval_metric") is None:
            estimator.set_params(eval_metric=METRIC)
        estimator.set_params(early_stopping_rounds=rounds)
        # XGBoost would print every round.
        given = {"verbose": False} | given
    return given | {
        "eval_set": [(rows.X, rows.y) for rows in sets],
        "eval_qid": [rows.codes for rows in sets],
        "sample_weight_eval_set": [rows.weights_of_queries for rows in sets],
        "base_margin_eval_set": [rows.further.get("base_margin") for rows in sets],
    }


def _catboost_arguments(
    estimator: Any, sets: Sequence[SortedRows], rounds: int | None, given: dict[str, Any]
) -> dict[str, Any]:
    # Only a Pool carries the queries of validation rows.
    pool = importlib.import_module("catboost").Pool
    parameters = {**estimator.get_params(), **given}
    columns = {
        name: parameters.get(name)
        for name in ("cat_features", "text_features", "embedding_features")
    }
    pools = []
    for rows in sets:
        per_row = {name: rows.further.get(name) for name in ("baseline", "subgroup_id")}
        queries = {"group_id": rows.codes, "group_weight": rows.weights}
        pools.append(pool(rows.X, rows.y, **queries, **columns, **per_row))
    arguments = {**given, "eval_set": pools if len(pools) > 1 else pools[0]}
    if rounds is not None:
        if parameters.get("eval_metric") is None:
            estimator.set_params(eval_metric="NDCG:top=10;type=Base")
        arguments["early_stopping_rounds"] = rounds
    return arguments

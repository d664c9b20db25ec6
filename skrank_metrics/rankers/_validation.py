"""Validation sets: the rows that users pass to ``fit``, and the keywords by which boosters take them."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from skrank_metrics._input.arrays import count_rows
from skrank_metrics._input.parameters import check_int, check_number
from skrank_metrics._input.query_ids import carried, group_by_query
from skrank_metrics._sklearn_internals import fits_fold, is_first_warning
from skrank_metrics.rankers._fitting import (
    METRIC,
    FittedQueries,
    SortedRows,
    label_column,
    library_of,
    sorted_rows,
    taken_by_fit,
)
from skrank_metrics.rankers.booster_metrics import lightgbm_metric

_HOW_TO_PASS = "Pass eval_set=[(X_val, with_qid(y_val, qid_val))]."


def given_sets(eval_set: Any, X_val: Any, y_val: Any) -> list[tuple[Any, Any]]:
    """The pairs of rows and labels that were passed, in either of two ways."""
    if X_val is not None or y_val is not None:
        if X_val is None or y_val is None or eval_set is not None:
            raise TypeError("Pass a validation set either as eval_set, or as X_val and y_val.")
        return [(X_val, y_val)]
    if eval_set is None:
        return []
    # A Pool of CatBoost is no pair, which the error says.
    pairs = eval_set if isinstance(eval_set, list | tuple) else [eval_set]
    for number, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"eval_set[{number}] must be a pair of rows and labels; got {type(pair).__name__}. {_HOW_TO_PASS}"
            )
    return list(pairs)


def sorted_set(ranker: Any, pair: tuple[Any, Any], name: str) -> SortedRows:
    """A validation set with its rows sorted by query; the ids and weights are in the index of the labels."""
    X, y = pair
    labels = label_column(y)
    check_consistent_length(X, labels)
    check_columns_of_fit(ranker, X, name)
    caller = f"QueryRanker.fit with {name}"
    grouping = group_by_query(len(labels), caller, hint=_HOW_TO_PASS, X=X, y=y)
    weights = carried(y, sample_weight=None)["sample_weight"]
    return sorted_rows(ranker.estimator_, X, labels, grouping, grouping, weights, {})


def check_columns_of_fit(ranker: Any, X: Any, name: str) -> None:
    """Refuse a validation set with other columns than the rows of the fit, as predict does; boosters may not look."""
    try:
        validate_data(ranker, X, reset=False, skip_check_array=True)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def check_sets_of_lightgbm(ranker: Any, given: dict[str, Any]) -> None:
    """Check the sets of its regressors, too; the other libraries compare the names of columns themselves."""
    if library_of(ranker.estimator) != "lightgbm":
        return
    sets = [pair[0] for pair in given.get("eval_set", ()) if isinstance(pair, tuple)]
    further = given.get("eval_X", ())
    sets += further if isinstance(further, tuple) else [further]
    for X in sets:
        check_columns_of_fit(ranker, X, "a validation set")


def check_unsplit(X_val: Any, X: Any) -> None:
    """Refuse a set that scikit-learn may have split, as it splits whatever is as long as X."""
    if X_val is not None and fits_fold() and count_rows(X_val) == count_rows(X):
        raise ValueError(
            "X_val must not have as many rows as X in a search, which splits what does. Pass "
            "eval_set=[(X_val, y_val)], which stays whole."
        )


def check_new_queries(fitted: FittedQueries, rows: SortedRows) -> None:
    """Refuse early stopping on queries of the training rows, which never stops in time."""
    n_shared = fitted.shared(rows.ids, rows.sizes)[0]
    if n_shared:
        raise ValueError(
            f"eval_set shares {n_shared} of its {len(rows.ids)} queries with the training rows, so "
            "it cannot tell when to stop. If these are other queries, give them other ids."
        )


# What boosters call the number of rounds without improvement.
_PATIENCE = (
    "early_stopping_rounds",
    "early_stopping_round",
    "early_stopping",
    "n_iter_no_change",
    "od_wait",
)
# Settings with which predictions do not use the best number of trees, or other trees than those that were monitored.
_WITHOUT_BEST = ("boosting_type", "boosting", "boost", "booster", "use_best_model")


def _check_can_stop(booster: Any, rounds: int, given: dict[str, Any]) -> None:
    """Refuse settings of a booster that contradict early stopping after this number of rounds."""
    settings = {**booster.get_params(deep=False), **given}
    for name in _PATIENCE:
        if settings.get(name) not in (None, rounds):
            raise ValueError(
                f"early_stopping_rounds must not contradict {name} of the estimator; got {rounds} and "
                f"{settings[name]!r}. Leave out one of them."
            )
    for callback in settings.get("callbacks") or ():
        if "EarlyStopping" in type(callback).__name__:
            raise ValueError(
                "early_stopping_rounds and a callback both say when to stop. Leave out one of them."
            )
    for name in _WITHOUT_BEST:
        if settings.get(name) in ("dart", "gblinear", False):
            raise ValueError(
                f"early_stopping_rounds must be None with {name}={settings[name]!r}, whose predictions do not use the "
                "best number of trees."
            )
    if "xgb_model" in given:
        raise ValueError(
            "early_stopping_rounds must be None with xgb_model, after which XGBoost miscounts the best round."
        )


def _check_has_set(booster: Any, given: dict[str, Any]) -> None:
    """Refuse a booster that is told to stop early, but has no validation set; CatBoost would use all rounds."""
    settings = booster.get_params(deep=False)
    # CatBoost's eval_fraction holds out some rows, whatever their queries.
    for name in (*_PATIENCE, "eval_fraction"):
        if settings.get(name) and given.keys().isdisjoint(("eval_set", "eval_X")):
            raise ValueError(
                f"{name} of the estimator needs a validation set: pass eval_set, or set early_stopping_rounds and "
                "validation_fraction of QueryRanker instead."
            )


# HistGradientBoosting stops early by itself if it has more rows.
_MOST_ROWS_WITHOUT_STOP = 10_000


def own_fraction(estimator: Any, n_rows: int) -> float | None:
    """The share of queries to hold out for an estimator that would hold out rows, if it takes a validation set.

    If it takes none, this is an error, or a warning if nobody asked for it.
    """
    for inner in (estimator, *estimator.get_params().values()):
        settings: dict[str, Any] = getattr(inner, "get_params", dict)()
        # GradientBoosting has only a patience.
        name = "early_stopping" if "early_stopping" in settings else "n_iter_no_change"
        value, fraction = settings.get(name), settings.get("validation_fraction")
        is_off = value == "auto" and n_rows <= _MOST_ROWS_WITHOUT_STOP
        if not value or is_off or fraction is None:
            continue
        if inner is estimator and "X_val" in taken_by_fit(estimator):
            return float(fraction)
        message = (
            f"{type(inner).__name__} with {name}={value!r} holds out single rows, and not queries, so it stops too "
            "late. Turn this off, and search for the number of iterations."
        )
        if value != "auto":
            raise ValueError(message)
        if is_first_warning():
            warnings.warn(message, UserWarning, stacklevel=3)
    return None


def check_early_stopping(
    ranker: Any, n_sets: int, given: dict[str, Any], *, takes_sets: bool
) -> int | None:
    """Number of rounds without improvement after which to stop; None for never.

    If there is one, exactly one set of queries must decide when to stop.
    """
    fraction, rounds = ranker.validation_fraction, ranker.early_stopping_rounds
    if rounds is None and fraction is None:
        if library_of(ranker.estimator) and not n_sets:
            _check_has_set(ranker.estimator, given)
        return None
    # validation_fraction requires it.
    check_int(rounds, "early_stopping_rounds", 1)
    if not takes_sets:
        raise TypeError(
            "estimator must be LGBMRanker, XGBRanker or CatBoostRanker to stop early; got "
            f"{type(ranker.estimator).__name__}. Leave out validation_fraction and early_stopping_rounds."
        )
    _check_can_stop(ranker.estimator, rounds, given)
    if (fraction is not None) + n_sets != 1:
        raise ValueError(
            "early_stopping_rounds requires either validation_fraction or exactly one validation set, "
            f"eval_set=[(X_val, with_qid(y_val, qid_val))]; got validation_fraction={fraction} and {n_sets} sets."
        )
    if fraction is not None:
        check_number(fraction, "validation_fraction", "(0, 1)")
    return int(rounds)


def _scikit_learn_arguments(
    estimator: Any, sets: Sequence[SortedRows], rounds: int | None, given: dict[str, Any]
) -> dict[str, Any]:
    # "auto" may not stop with the rows that are left.
    estimator.set_params(early_stopping=True)
    (rows,) = sets
    return {**given, "X_val": rows.X, "y_val": rows.y, "sample_weight_val": rows.weights}


# None, and LightGBM's words for it.
_NO_METRIC = {"None", "na", "null", "custom"}


def _lightgbm_arguments(
    estimator: Any, sets: Sequence[SortedRows], rounds: int | None, given: dict[str, Any]
) -> dict[str, Any]:
    arguments = dict(given)
    if rounds is not None:
        estimator.set_params(early_stopping_round=rounds)
        parameters = estimator.get_params()
        metrics = {str(parameters.get(name)) for name in ("metric", "metrics", "metric_types")}
        if metrics <= _NO_METRIC:
            estimator.set_params(metric="None")
            arguments.setdefault("eval_metric", lightgbm_metric(METRIC))
    weights = []
    for rows in sets:
        # Its own metrics weight queries by the mean of their rows, those of this package by a single weight.
        of_queries = rows.weights_of_queries
        weights.append(None if of_queries is None else of_queries[rows.codes])
    arguments |= {
        "eval_group": [rows.sizes for rows in sets],
        "eval_sample_weight": weights,
        "eval_init_score": [rows.further.get("init_score") for rows in sets],
    }
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
        metric = estimator.get_params().get("eval_metric") or METRIC
        estimator.set_params(eval_metric=metric, early_stopping_rounds=rounds)
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
    names = ("cat_features", "text_features", "embedding_features")
    columns = {name: parameters.get(name) for name in names}
    pools = []
    for rows in sets:
        queries = {"group_id": rows.codes, "group_weight": rows.weights}
        pools.append(pool(rows.X, rows.y, **queries, **columns, **rows.further))
    arguments = {**given, "eval_set": pools}
    if rounds is not None:
        if parameters.get("eval_metric") is None:
            estimator.set_params(eval_metric="NDCG:top=10;type=Base")
        arguments["early_stopping_rounds"] = rounds
    return arguments


# Each adds the keywords for validation on some sets, and early stopping after ``rounds`` without improvement. To stop
# early, a metric is set on the estimator if it has none.
ARGUMENTS_OF_VALIDATION = {
    "lightgbm": _lightgbm_arguments,
    "xgboost": _xgboost_arguments,
    "catboost": _catboost_arguments,
    None: _scikit_learn_arguments,
}

"""Candidates that differ only in their number of trees: the first trees of one model are the smaller models.

Everything here was tried: dropout (dart) rescales earlier trees, early stopping cuts the model, CatBoost derives its
default learning rate, and for Logloss the number of leaf iterations, from the number of trees.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skrank_metrics._input.arrays import check_int

# Parameters of ``fit`` that can end or continue the training of a model.
_OF_TRAINING = re.compile(r"callback|early|eval|init_model|monitor|snapshot|xgb_model")
# The same for parameters of LightGBM and XGBoost that their signatures do not name, and other names of their own.
_OTHER_NAMES = re.compile(r"boost|early|estimators|iter|model|process|round|snapshot|tree|updat")
# Losses for which no default of CatBoost depends on the number of trees.
_RANKING_LOSSES = re.compile(r"(YetiRank|PairLogit)(Pairwise)?\b|QueryRMSE\b")
_OF_CATBOOST = re.compile(
    r"^(od_|early_stop|use_best|best_model|langevin|diffusion|posterior|model_shrink|.*snapshot)"
)
_COUNTS_OF_CATBOOST = ("iterations", "n_estimators", "num_boost_round", "num_trees")


@dataclass(frozen=True)
class Trees:
    """How a class of estimators grows trees."""

    parameters: tuple[str, ...]  # names of the number of trees
    first: Callable[[Any, int], Any]  # a model of the first trees of a fitted one
    grows: Callable[
        [Any], bool
    ]  # whether more trees leave the first ones as they are, before and after the fit


def _shadow(model: Any, **attributes: Any) -> Any:
    """A copy of a fitted model that shares its contents, but for some attributes or methods."""
    copied = object.__new__(type(model))
    vars(copied).update(vars(model), **attributes)
    return copied


def _with_argument(name: str, argument: Callable[[int], Any], model: Any, n_trees: int) -> Any:
    responses = {
        method: getattr(model, method)
        for method in ("predict", "predict_proba")
        if hasattr(model, method)
    }
    given = {name: argument(n_trees)}
    return _shadow(
        model,
        **{name: update_wrapper(partial(call, **given), call) for name, call in responses.items()},
    )


def _truncated(name: str, model: Any, n_trees: int) -> Any:
    counts = {name: n_trees for name in ("n_estimators", "n_estimators_") if hasattr(model, name)}
    return _shadow(model, **{name: getattr(model, name)[:n_trees]}, **counts)


def _has_other_names(model: Any) -> bool:
    """Whether a parameter that is set, but that no signature names, can change how trees grow."""
    own = (vars(base)["__init__"] for base in type(model).__mro__ if "__init__" in vars(base))
    named = {name for function in own for name in inspect.signature(function).parameters}
    given = model.get_params().items()
    return any(
        _OTHER_NAMES.search(name)
        for name, value in given
        if name not in named and value is not None
    )


def _lightgbm_grows(model: Any) -> bool:
    params = model.get_params()
    kind = params["boosting_type"] in ("gbdt", "goss", "rf") and not callable(params["objective"])
    return kind and not _has_other_names(model)


def _xgboost_grows(model: Any) -> bool:
    params = model.get_params()
    stops = params["early_stopping_rounds"] is not None or bool(params["callbacks"])
    kind = params["booster"] in (None, "gbtree") and not callable(params["objective"])
    return kind and not stops and not _has_other_names(model)


def _catboost_grows(model: Any) -> bool:
    params = {name: value for name, value in model.get_params().items() if value is not None}
    loss = params.get(
        "loss_function", "YetiRank" if type(model).__name__ == "CatBoostRanker" else None
    )
    if (
        not isinstance(loss, str | None)
        or params.get("task_type") == "GPU"
        or any(map(_OF_CATBOOST.match, params))
    ):
        return False
    if loss is not None and _RANKING_LOSSES.match(loss):
        return True
    is_rmse = loss == "RMSE" or (loss is None and type(model).__name__ == "CatBoostRegressor")
    return "learning_rate" in params and (is_rmse or "leaf_estimation_iterations" in params)


def _histogram_grows(model: Any) -> bool:
    # "auto" depends on the number of rows, so only the fitted model tells.
    stops = getattr(model, "do_early_stopping_", model.early_stopping not in (False, "auto"))
    return not stops and not model.warm_start


def _boosting_grows(model: Any) -> bool:
    return (
        model.n_iter_no_change is None and not model.warm_start and model.random_state is not None
    )


def _forest_grows(model: Any) -> bool:
    # Threads add up predictions in any order.
    return model.n_jobs in (None, 1) and not model.warm_start and model.random_state is not None


_FAMILIES = {
    "lightgbm.LGBM": Trees(
        ("n_estimators",), partial(_with_argument, "num_iteration", int), _lightgbm_grows
    ),
    "xgboost.XGB": Trees(
        ("n_estimators",),
        partial(_with_argument, "iteration_range", lambda n: (0, n)),
        _xgboost_grows,
    ),
    "catboost.CatBoost": Trees(
        _COUNTS_OF_CATBOOST, partial(_with_argument, "ntree_end", int), _catboost_grows
    ),
    # Staged predictions are equal, too, but laid out otherwise, so that products with them differ in the last bit.
    "sklearn.HistGradientBoosting": Trees(
        ("max_iter",), partial(_truncated, "_predictors"), _histogram_grows
    ),
    "sklearn.GradientBoosting": Trees(
        ("n_estimators",), partial(_truncated, "estimators_"), _boosting_grows
    ),
    "sklearn.RandomForest": Trees(
        ("n_estimators",), partial(_truncated, "estimators_"), _forest_grows
    ),
    "sklearn.ExtraTrees": Trees(
        ("n_estimators",), partial(_truncated, "estimators_"), _forest_grows
    ),
}
# By library and class; subclasses may predict otherwise.
TABLE = {
    f"{family}{kind}": trees
    for family, trees in _FAMILIES.items()
    for kind in ("Ranker", "Regressor", "Classifier")
}


def _inner(model: Any, *, fitted: bool = False) -> tuple[str, Any] | None:
    """The end of a pipeline, or the estimator inside a QueryRanker, after its name; None for other models."""
    if isinstance(model, Pipeline):
        return tuple(model.steps[-1])
    names = getattr(type(model), "_wraps", None)
    return names and (names[fitted], getattr(model, names[fitted]))


def _leaf(model: Any, *, fitted: bool = False) -> tuple[str, Any]:
    """The prefix of the parameters of the estimator at the end of pipelines and rankers, and the estimator."""
    prefix = ""
    while named := _inner(model, fitted=fitted):
        stops_early = getattr(model, "validation_fraction", None) is not None
        prefix, model = f"{prefix}{named[0]}__", None if stops_early else named[1]
    return prefix, model


def _trees(leaf: Any) -> Trees | None:
    return TABLE.get(f"{type(leaf).__module__.partition('.')[0]}.{type(leaf).__name__}")


def n_trees_of(model: Any) -> int:
    """Number of trees that a fitted model was told to grow; 0 if the table does not have it."""
    leaf = _leaf(model, fitted=True)[1]
    trees = _trees(leaf)
    counts = [leaf.get_params().get(name) for name in trees.parameters] if trees else []
    return next((count for count in counts if count is not None), 0)


def first_trees(model: Any, n_trees: int) -> Any:
    """A fitted model that predicts with its first trees; None if these are not those of a smaller model."""
    if named := _inner(model, fitted=True):
        name, inner = named[0], first_trees(named[1], n_trees)
        changed = (
            {"steps": [*model.steps[:-1], (name, inner)]}
            if isinstance(model, Pipeline)
            else {name: inner}
        )
        return None if inner is None else _shadow(model, **changed)
    trees = _trees(model)
    return trees.first(model, n_trees) if trees and trees.grows(model) else None


@dataclass(frozen=True)
class Candidate:
    """A candidate of a search: its parameters, and its number of trees if one of these is that, else 0."""

    params: Mapping[str, Any]
    n_trees: int = 0
    path: Any = None  # equal for candidates that differ only in the number of trees
    kind: str = ""  # class of the estimator with trees


def candidates_of(
    estimator: Any, params: Sequence[Mapping[str, Any]], fit_params: Mapping[str, Any]
) -> list[Candidate]:
    """Find the candidates that differ only in the number of trees."""
    alone = any(map(_OF_TRAINING.search, fit_params))
    return [Candidate(one) if alone else _candidate(estimator, one) for one in params]


def _candidate(estimator: Any, params: Mapping[str, Any]) -> Candidate:
    try:
        prefix, leaf = _leaf(clone(estimator).set_params(**clone(dict(params), safe=False)))
        trees = _trees(leaf)
        names = (
            [prefix + name for name in trees.parameters if prefix + name in params] if trees else []
        )
        if trees is None or len(names) != 1 or not trees.grows(leaf):
            return Candidate(params)
        check_int(params[names[0]], names[0], 1)
        path = joblib.hash(
            (names[0], {name: value for name, value in params.items() if name != names[0]})
        )
    except Exception:  # of parameters that do not exist, which the fit tells, or that have no hash
        return Candidate(params)
    return Candidate(params, int(params[names[0]]), path, type(leaf).__name__)


def groups_of(
    candidates: Sequence[Candidate], rows: Iterable[int] | None = None
) -> list[list[int]]:
    """Rows of the candidates of each path, the one with the most trees first; other candidates are on their own."""
    groups: dict[Any, list[int]] = {}
    for row in sorted(
        range(len(candidates)) if rows is None else rows, key=lambda row: -candidates[row].n_trees
    ):
        groups.setdefault(candidates[row].path or row, []).append(row)
    return sorted(groups.values(), key=min)

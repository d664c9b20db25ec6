"""Models whose first trees are the smaller models: which classes, with which parameters, and how to cut them.

Only what is known to be safe is listed, since a parameter that depends on the number of trees gives other scores
without an error: dropout (dart) rescales earlier trees, early stopping and ``eval_fraction`` cut the model, CatBoost
derives its default learning rate, and for Logloss the number of leaf iterations, from the number of trees. So a class,
a parameter, an alias or a value that is not listed is fitted on its own. A test compares random parameters with
separate fits.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any, NoReturn

Parameters = Mapping[str, Any]  # those that are set
Check = Callable[[Any], bool]  # whether a value of a parameter is known to be safe
Allowed = Mapping[str, Check]


@dataclass(frozen=True)
class Family:
    """Classes that grow trees one after the other, in the same way."""

    counts: tuple[str, ...]  # names of the number of trees
    allowed: Allowed  # all other parameters that may be set
    first: Callable[[Any, int], Any]  # a model of the first trees of a fitted one
    together: Callable[[Parameters], bool] = bool  # whether parameters are safe in combination

    def count(self, model: Any) -> int:
        """Number of trees that a model was told to grow; 0 if it does not say so."""
        params = model.get_params()
        return next((params[name] for name in self.counts if params.get(name) is not None), 0)

    def is_safe(self, model: Any) -> bool:
        """Whether more trees are known to leave the first ones as they are; of a fitted model, too."""
        params = {name: one for name, one in model.get_params().items() if one is not None}
        others = {name: value for name, value in params.items() if name not in self.counts}
        if len(params) - len(others) > 1:  # two names of the number of trees
            return False
        # A fitted histogram model tells whether it stopped early; before, "auto" leaves it open.
        stopped_early = getattr(model, "do_early_stopping_", False)
        if stopped_early or not others.keys() <= self.allowed.keys():
            return False
        safe_alone = all(self.allowed[name](value) for name, value in others.items())
        return safe_alone and self.together(others)


def family_of(model: Any) -> Family | None:
    """The family of a model of exactly one of its classes; subclasses may predict otherwise."""
    kind = type(model)
    library = sys.modules.get(kind.__module__.partition(".")[0])
    public = (
        sys.modules.get("sklearn.ensemble") if kind.__module__.startswith("sklearn.") else library
    )
    if getattr(public, kind.__name__, None) is not kind:
        return None
    return FAMILIES.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}")


# Which values are safe


def _any_value(names: str) -> dict[str, Check]:
    return dict.fromkeys(names.split(), lambda value: True)


def _one_of(*values: Any) -> Check:
    return lambda value: any(value is one or value == one for one in values)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


_LIGHTGBM: Allowed = {
    **_any_value(
        "class_weight colsample_bytree importance_type max_depth min_child_samples min_child_weight "
        "min_split_gain n_jobs num_leaves random_state reg_alpha reg_lambda subsample subsample_freq "
        "subsample_for_bin"
    ),
    # Not among the parameters of the signature; their aliases are left out, as two of them may contradict.
    **_any_value(
        "deterministic extra_trees feature_fraction_bynode force_col_wise force_row_wise label_gain "
        "lambdarank_norm lambdarank_truncation_level max_bin min_data_in_bin other_rate path_smooth "
        "sigmoid top_rate verbose verbosity"
    ),
    "boosting_type": _one_of("gbdt", "goss", "rf"),
    "data_sample_strategy": _one_of("bagging", "goss"),
    "learning_rate": _is_number,
    "objective": _is_text,
}

_XGBOOST: Allowed = {
    **_any_value(
        "base_score colsample_bylevel colsample_bynode colsample_bytree enable_categorical eval_metric "
        "feature_types gamma grow_policy importance_type interaction_constraints max_bin "
        "max_cat_threshold max_cat_to_onehot max_delta_step max_depth max_leaves min_child_weight "
        "missing monotone_constraints n_jobs num_parallel_tree random_state reg_alpha reg_lambda "
        "scale_pos_weight subsample validate_parameters verbosity"
    ),
    **_any_value("lambdarank_num_pair_per_sample lambdarank_pair_method ndcg_exp_gain"),
    "booster": _one_of("gbtree"),
    "device": _one_of("cpu"),
    "learning_rate": _is_number,
    "objective": _is_text,
    "sampling_method": _one_of("uniform"),
    "tree_method": _one_of("auto", "exact", "approx", "hist"),
}

_CATBOOST: Allowed = {
    **_any_value(
        "allow_writing_files bagging_temperature border_count bootstrap_type boosting_type depth "
        "feature_border_type grow_policy l2_leaf_reg leaf_estimation_iterations leaf_estimation_method "
        "logging_level max_depth max_leaves min_data_in_leaf nan_mode random_seed random_state "
        "random_strength rsm score_function subsample thread_count train_dir verbose"
    ),
    "learning_rate": _is_number,
    "loss_function": _is_text,
    "task_type": _one_of("CPU"),
}
# Losses for which no default of CatBoost depends on the number of trees.
_RANKING_LOSSES = re.compile(r"(YetiRank|PairLogit)(Pairwise)?\b|QueryRMSE\b")


def _catboost_together(kind: str, params: Parameters) -> bool:
    """Whether the learning rate and the iterations of leaves do not depend on the number of trees."""
    loss = params.get("loss_function", {"Ranker": "YetiRank", "Regressor": "RMSE"}.get(kind, ""))
    if _RANKING_LOSSES.match(loss):
        return True
    return "learning_rate" in params and (loss == "RMSE" or "leaf_estimation_iterations" in params)


_HISTOGRAM: Allowed = {
    **_any_value(
        "categorical_features class_weight interaction_cst l2_regularization learning_rate max_bins "
        "max_depth max_features max_leaf_nodes min_samples_leaf monotonic_cst quantile random_state "
        "verbose"
    ),
    # These have an effect only with early stopping.
    **_any_value("n_iter_no_change scoring tol validation_fraction"),
    "early_stopping": _one_of(False, "auto"),
    "loss": _is_text,
    "warm_start": _one_of(False),
}

_OF_TREES = _any_value(
    "ccp_alpha criterion max_depth max_features max_leaf_nodes min_impurity_decrease "
    "min_samples_leaf min_samples_split min_weight_fraction_leaf random_state verbose"
)
_BOOSTING: Allowed = {
    **_OF_TREES,
    **_any_value("alpha learning_rate subsample tol validation_fraction"),
    "init": _one_of("zero"),
    "loss": _is_text,
    "warm_start": _one_of(False),
}
_FOREST: Allowed = {
    **_OF_TREES,
    **_any_value("bootstrap class_weight max_samples monotonic_cst"),
    "n_jobs": _one_of(1),  # threads add up predictions in any order
    "oob_score": _one_of(False),
    "warm_start": _one_of(False),
}


def _has_seed(params: Parameters) -> bool:
    return "random_state" in params


# How to cut a model


# Methods that depend on no trees, which a model uses itself.
_HARMLESS = ("get_params", "is_fitted")


def copy_with(model: Any, **attributes: Any) -> Any:
    """A copy of a fitted model that shares its contents, but for some attributes or methods."""
    copied = object.__new__(type(model))
    vars(copied).update(vars(model), **attributes)
    return copied


def _with_argument(name: str, argument: Callable[[int], Any], model: Any, n_trees: int) -> Any:
    """A copy whose predictions take the first trees, and whose other methods, which may not, raise an error."""
    methods: dict[str, Any] = dict.fromkeys(_public_methods(model), _refuse)
    for method in ("predict", "predict_proba"):
        if method in methods:
            call = getattr(model, method)
            methods[method] = update_wrapper(partial(call, **{name: argument(n_trees)}), call)
    return copy_with(model, **methods)


def _public_methods(model: Any) -> Iterable[str]:
    kind = type(model)
    names = (name for name in dir(kind) if not name.startswith("_"))
    return (name for name in names if callable(getattr(kind, name, None)) and name not in _HARMLESS)


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError("It is not known whether this method can use the first trees only.")


def _truncated(name: str, model: Any, n_trees: int) -> Any:
    counts = {name: n_trees for name in ("n_estimators", "n_estimators_") if hasattr(model, name)}
    return copy_with(model, **{name: getattr(model, name)[:n_trees]}, **counts)


_COUNT = ("n_estimators",)
_LIGHTGBM_TREES = Family(_COUNT, _LIGHTGBM, partial(_with_argument, "num_iteration", int))
_XGBOOST_TREES = Family(
    _COUNT, _XGBOOST, partial(_with_argument, "iteration_range", lambda n_trees: (0, n_trees))
)
# Staged predictions are equal, too, but laid out otherwise, so that products with them differ in the last bit.
_HISTOGRAM_TREES = Family(("max_iter",), _HISTOGRAM, partial(_truncated, "_predictors"))
_BOOSTED_TREES = Family(_COUNT, _BOOSTING, partial(_truncated, "estimators_"), _has_seed)
_FOREST_TREES = Family(_COUNT, _FOREST, partial(_truncated, "estimators_"), _has_seed)


def _catboost_trees(kind: str) -> Family:
    counts = ("iterations", "n_estimators", "num_boost_round", "num_trees")
    first = partial(_with_argument, "ntree_end", int)
    return Family(counts, _CATBOOST, first, partial(_catboost_together, kind))


# By library and class.
FAMILIES: dict[str, Family] = {}
for _kind in ("Ranker", "Regressor", "Classifier"):
    FAMILIES[f"lightgbm.LGBM{_kind}"] = _LIGHTGBM_TREES
    FAMILIES[f"xgboost.XGB{_kind}"] = _XGBOOST_TREES
    FAMILIES[f"catboost.CatBoost{_kind}"] = _catboost_trees(_kind)
for _kind in ("Regressor", "Classifier"):
    FAMILIES[f"sklearn.HistGradientBoosting{_kind}"] = _HISTOGRAM_TREES
    FAMILIES[f"sklearn.GradientBoosting{_kind}"] = _BOOSTED_TREES
    FAMILIES[f"sklearn.RandomForest{_kind}"] = _FOREST_TREES
    FAMILIES[f"sklearn.ExtraTrees{_kind}"] = _FOREST_TREES

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

# Those that are set.
Parameters = Mapping[str, Any]
# Whether a value of a parameter is known to be safe.
Check = Callable[[Any], bool]
Allowed = Mapping[str, Check]


@dataclass(frozen=True)
class Family:
    """Classes that grow trees one after the other, in the same way."""

    counts: tuple[str, ...]  # names of the number of trees
    allowed: Allowed  # all other parameters that may be set
    first: Callable[[Any, int], Any]  # a model of the first trees of a fitted one
    # Whether parameters are safe in combination.
    together: Callable[[Parameters], bool] = lambda params: True

    def count(self, model: Any) -> int:
        """Number of trees that a model was told to grow; 0 if it does not say so."""
        params = model.get_params()
        return next((params[name] for name in self.counts if params.get(name) is not None), 0)

    def is_safe(self, model: Any) -> bool:
        """Whether more trees are known to leave the first ones as they are; of a fitted model, too."""
        others, n_counts = {}, 0
        for name, value in model.get_params().items():
            if name in self.counts:
                n_counts += value is not None
            elif value is not None:
                others[name] = value
        # Two names of the number of trees may contradict each other. A fitted histogram model tells whether it stopped
        # early; before, "auto" leaves it open.
        if n_counts > 1 or getattr(model, "do_early_stopping_", False):
            return False
        if not others.keys() <= self.allowed.keys():
            return False
        safe_alone = all(self.allowed[name](value) for name, value in others.items())
        return safe_alone and self.together(others)


def family_of(model: Any) -> Family | None:
    """The family of a model of exactly one of its classes; subclasses may predict otherwise."""
    kind = type(model)
    library = kind.__module__.partition(".")[0]
    public = sys.modules.get("sklearn.ensemble" if library == "sklearn" else library)
    # A subclass may have the name of its base.
    if getattr(public, kind.__name__, None) is not kind:
        return None
    return FAMILIES.get(f"{library}.{kind.__name__}")


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


def _first_iterations(model: Any, n_trees: int) -> Any:
    """A copy of a histogram model with its first iterations.

    Staged predictions are equal, too, but laid out otherwise, so that products with them differ in the last bit.
    """
    return copy_with(model, _predictors=model._predictors[:n_trees])


# By library and class.
FAMILIES: dict[str, Family] = {}
for _kind in ("Ranker", "Regressor", "Classifier"):
    FAMILIES[f"lightgbm.LGBM{_kind}"] = Family(
        ("n_estimators",), _LIGHTGBM, partial(_with_argument, "num_iteration", int)
    )
    FAMILIES[f"xgboost.XGB{_kind}"] = Family(
        ("n_estimators",),
        _XGBOOST,
        partial(_with_argument, "iteration_range", lambda n_trees: (0, n_trees)),
    )
    FAMILIES[f"catboost.CatBoost{_kind}"] = Family(
        ("iterations", "n_estimators", "num_boost_round", "num_trees"),
        _CATBOOST,
        partial(_with_argument, "ntree_end", int),
        partial(_catboost_together, _kind),
    )
for _kind in ("Regressor", "Classifier"):
    FAMILIES[f"sklearn.HistGradientBoosting{_kind}"] = Family(
        ("max_iter",), _HISTOGRAM, _first_iterations
    )

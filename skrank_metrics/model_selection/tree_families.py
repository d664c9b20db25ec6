"""Models whose first trees are the smaller models: which classes, with which parameters, and how to use these trees.

Only what is known to be safe is listed, since a parameter that depends on the number of trees gives other scores
without an error: dropout (dart) rescales earlier trees, and early stopping cuts the model. So a class, a parameter, an
alias or a value that is not listed is fitted on its own, and so are functions, which may remember earlier calls. A test
compares random parameters with separate fits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Family:
    """Classes that grow trees one after the other, in the same way."""

    module: str  # that offers them
    count: str  # name of the number of trees
    free: str  # names of other parameters that are safe, whatever their value
    limited: Mapping[str, tuple[Any, ...]]  # those that are safe with these values only
    use_first: Callable[[Any, int], None]  # let a fitted model predict with its first trees

    def is_safe(self, model: Any) -> bool:
        """Whether more trees are known to leave the first ones as they are; of a fitted model, too."""
        # A fitted histogram model tells whether it stopped early; before, "auto" leaves it open.
        if getattr(model, "do_early_stopping_", False):
            return False
        for name, value in model.get_params().items():
            if value is None or name == self.count:
                continue
            is_free = name in self.free.split() and not callable(value)
            if not is_free and value not in self.limited.get(name, ()):
                return False
        return True


def family_of(model: Any) -> Family | None:
    """The family of a model of exactly one of its classes; subclasses may predict otherwise."""
    kind = type(model)
    family = FAMILIES.get(kind.__name__)
    # A subclass may have the name of its base.
    if family and getattr(sys.modules.get(family.module), kind.__name__, None) is kind:
        return family
    return None


def _use_first_of_lightgbm(model: Any, n_trees: int) -> None:
    # Predictions use as many trees unless told otherwise.
    model.booster_.best_iteration = n_trees


def _use_first_of_xgboost(model: Any, n_trees: int) -> None:
    # It counts from 0.
    model.get_booster().set_attr(best_iteration=str(n_trees - 1))


def _use_first_of_histogram(model: Any, n_trees: int) -> None:
    # Staged predictions are equal, too, but laid out otherwise, so that products with them differ in the last bit.
    trees = vars(model).setdefault("_all_predictors", model._predictors)
    model._predictors = trees[:n_trees]


_LIGHTGBM = Family(
    "lightgbm",
    "n_estimators",
    (
        "class_weight colsample_bytree importance_type learning_rate max_depth min_child_samples "
        "min_child_weight min_split_gain n_jobs num_leaves objective random_state reg_alpha reg_lambda "
        "subsample subsample_freq subsample_for_bin "
        # Not among the parameters of the signature; their aliases are left out, as two of them may contradict.
        "deterministic extra_trees feature_fraction_bynode force_col_wise force_row_wise label_gain "
        "lambdarank_norm lambdarank_truncation_level max_bin min_data_in_bin other_rate path_smooth "
        "sigmoid top_rate verbose verbosity"
    ),
    {"boosting_type": ("gbdt", "goss", "rf"), "data_sample_strategy": ("bagging", "goss")},
    _use_first_of_lightgbm,
)
_XGBOOST = Family(
    "xgboost",
    "n_estimators",
    (
        "base_score colsample_bylevel colsample_bynode colsample_bytree enable_categorical eval_metric "
        "feature_types gamma grow_policy importance_type interaction_constraints lambdarank_pair_method "
        "lambdarank_num_pair_per_sample learning_rate max_bin max_cat_threshold max_cat_to_onehot "
        "max_delta_step max_depth max_leaves min_child_weight missing monotone_constraints n_jobs "
        "ndcg_exp_gain num_parallel_tree objective random_state reg_alpha reg_lambda scale_pos_weight "
        "subsample validate_parameters verbosity"
    ),
    {
        "booster": ("gbtree",),
        "device": ("cpu",),
        "sampling_method": ("uniform",),
        "tree_method": ("auto", "exact", "approx", "hist"),
    },
    _use_first_of_xgboost,
)
_HISTOGRAM = Family(
    "sklearn.ensemble",
    "max_iter",
    (
        "categorical_features class_weight interaction_cst l2_regularization learning_rate loss max_bins "
        "max_depth max_features max_leaf_nodes min_samples_leaf monotonic_cst quantile random_state "
        # These have an effect only with early stopping.
        "n_iter_no_change scoring tol validation_fraction verbose"
    ),
    {"early_stopping": (False, "auto"), "warm_start": (False,)},
    _use_first_of_histogram,
)
# By class.
FAMILIES = {
    "LGBMRanker": _LIGHTGBM,
    "LGBMRegressor": _LIGHTGBM,
    "LGBMClassifier": _LIGHTGBM,
    "XGBRanker": _XGBOOST,
    "XGBRegressor": _XGBOOST,
    "XGBClassifier": _XGBOOST,
    "HistGradientBoostingRegressor": _HISTOGRAM,
    "HistGradientBoostingClassifier": _HISTOGRAM,
}

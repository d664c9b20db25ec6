"""Candidates that differ only in their number of trees: the first trees of one model are the smaller models.

``FAMILIES`` lists for which classes, and with which parameters, this is known to be safe, since a parameter that
depends on the number of trees gives other scores without an error: dropout (dart) rescales earlier trees, and early
stopping cuts the model. A class, a parameter, an alias or a value that is not listed is fitted on its own, and so are
functions, which may remember earlier calls. A test compares random parameters with separate fits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skrank_metrics._input.parameters import check_int
from skrank_metrics._sklearn_internals import response_method, score_function
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS

# Parameters of ``fit`` that neither end nor continue the training of a model.
_SAFE_IN_FIT = {"qid", "groups", "sample_weight", "retrieved", "judged", "documents"}


@dataclass(frozen=True)
class TreeFamily:
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


def family_of(model: Any) -> TreeFamily | None:
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


_LIGHTGBM = TreeFamily(
    "lightgbm",
    "n_estimators",
    (
        "class_weight colsample_bytree importance_type learning_rate max_depth min_child_samples "
        "min_child_weight min_split_gain n_jobs num_leaves objective random_state reg_alpha reg_lambda "
        "subsample subsample_freq subsample_for_bin "
        # These are not in the signature; their aliases are left out, as two of them may contradict.
        "deterministic extra_trees feature_fraction_bynode force_col_wise force_row_wise label_gain "
        "lambdarank_norm lambdarank_truncation_level max_bin min_data_in_bin other_rate path_smooth "
        "sigmoid top_rate verbose verbosity"
    ),
    {"boosting_type": ("gbdt", "goss", "rf"), "data_sample_strategy": ("bagging", "goss")},
    _use_first_of_lightgbm,
)
_XGBOOST = TreeFamily(
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
_HISTOGRAM = TreeFamily(
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
# Each class has the parameters of its library.
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


def trees_of(model: Any, *, fitted: bool = False) -> tuple[str, Any, TreeFamily] | None:
    """The model of trees at the end of pipelines and rankers, if more trees are known to leave the first as they are.

    Before it comes the name of the parameter for their number, and after it its family. Subclasses of pipelines and
    rankers may fit or predict otherwise.
    """
    prefix = ""
    while True:
        if type(model) is Pipeline:
            name, model = model.steps[-1]
        # QueryRanker says so, as this folder must not import rankers. If it stops early, it sets a parameter of its
        # fitted model that is not safe.
        elif "_scored_by" in vars(type(model)):
            name, model = "estimator", model.estimator_ if fitted else model.estimator
        else:
            break
        prefix += f"{name}__"
    family = family_of(model)
    if family is None or not family.is_safe(model):
        return None
    return f"{prefix}{family.count}", model, family


@dataclass(frozen=True)
class Candidate:
    """A candidate of a search: its parameters, and its number of trees if one of these is that, else 0."""

    params: Mapping[str, Any]
    n_trees: int = 0
    path: str | None = None  # equal for candidates that differ only in the number of trees


def candidates_of(
    estimator: Any,
    params: Sequence[Mapping[str, Any]],
    fit_params: Mapping[str, Any],
    scorers: Iterable[Any],
) -> list[Candidate]:
    """Find the candidates that differ only in the number of trees, if these can be fitted and scored together."""
    # Steps of a Pipeline take parameters after a prefix.
    names = {name.rpartition("__")[2] for name in fit_params}
    if names <= _SAFE_IN_FIT and all(map(_predicts_as_known, scorers)):
        return [_candidate(estimator, one) for one in params]
    return [Candidate(one) for one in params]


def _predicts_as_known(scorer: Any) -> bool:
    """Whether a scorer sees only predictions, of methods that can use the first trees."""
    if score_function(scorer) is None:
        return False
    methods = response_method(scorer)
    known = {methods} if isinstance(methods, str) else set(methods)
    return known <= set(RESPONSE_METHODS)


def _candidate(estimator: Any, params: Mapping[str, Any]) -> Candidate:
    try:
        trees = trees_of(clone(estimator).set_params(**clone(dict(params), safe=False)))
        if trees is None or trees[0] not in params:
            return Candidate(params)
        others = dict(params)
        # The fit of an invalid number raises an error of its own.
        n_trees = check_int(others.pop(trees[0]), trees[0], 1) or 0
        return Candidate(params, n_trees, joblib.hash(others))
    except Exception:
        # The parameters do not exist, which the fit will say, or they have no hash.
        return Candidate(params)


def groups_of(candidates: Sequence[Candidate], rows: Iterable[int]) -> list[list[int]]:
    """Rows of the candidates of each path, the one with the most trees first; other candidates are on their own."""
    groups: dict[Any, list[int]] = {}
    for row in sorted(rows, key=lambda row: -candidates[row].n_trees):
        groups.setdefault(candidates[row].path or row, []).append(row)
    # A grid search fits candidates in this order, too.
    return sorted(groups.values(), key=min)

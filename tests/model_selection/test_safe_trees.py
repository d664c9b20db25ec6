"""Only candidates that are known to be safe share a fit: with any parameters, scores are those of GridSearchCV."""

import dataclasses
import re
import warnings

import numpy as np
import pytest
from catboost import CatBoostClassifier, CatBoostRanker, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from support.searches import assert_same_results
from xgboost import XGBClassifier, XGBRanker, XGBRegressor

from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, with_qid
from skrank_metrics.datasets import make_ranking
from skrank_metrics.model_selection import RacingSearchCV
from skrank_metrics.model_selection._tree_paths import FAMILIES, family_of

X, grades, QID = make_ranking(30, random_state=0)
Y = np.minimum(grades, 2)  # each class of a classifier is fitted on its own
LABELS = with_qid(Y, QID)
CV = QueryKFold(2)

# Per library, the classes, what all models get, the name of the number of trees, and values of parameters: those that
# the tables list, aliases, and others that change how trees grow.
LIBRARIES = {
    "lightgbm": (
        (LGBMRanker, LGBMRegressor, LGBMClassifier),
        {"verbose": -1, "n_jobs": 1, "min_child_samples": 2},
        "n_estimators",
        {
            "boosting_type": ["gbdt", "goss", "rf", "dart"],
            "boosting": ["dart"],
            "booster": ["dart"],
            "num_leaves": [3, 7],
            "max_leaves": [4],
            "learning_rate": [0.05, 0.5],
            "eta": [0.2],
            "subsample": [0.5],
            "bagging_fraction": [0.6],
            "subsample_freq": [1],
            "colsample_bytree": [0.5],
            "extra_trees": [True],
            "linear_tree": [True],
            "data_sample_strategy": ["goss"],
            "num_iterations": [9],
            "early_stopping_min_delta": [0.1],
            "drop_rate": [0.5],
            "max_delta_step": [0.1],
            "objective": ["regression_l1", "huber", "rank_xendcg", "poisson"],
            "path_smooth": [1.0],
            "random_state": [3],
        },
    ),
    "xgboost": (
        (XGBRanker, XGBRegressor, XGBClassifier),
        {"n_jobs": 1},
        "n_estimators",
        {
            "booster": ["gbtree", "dart", "gblinear"],
            "rate_drop": [0.5],
            "max_depth": [2, 4],
            "learning_rate": [0.1, 0.9],
            "eta": [0.3],
            "subsample": [0.5],
            "colsample_bynode": [0.5],
            "tree_method": ["exact", "approx", "hist"],
            "num_parallel_tree": [2],
            "grow_policy": ["lossguide"],
            "process_type": ["default"],
            "lambdarank_pair_method": ["mean", "topk"],
            "lambdarank_unbiased": [True],
            "objective": ["rank:pairwise", "reg:absoluteerror", "reg:squarederror"],
            "base_score": [0.3],
            "random_state": [3],
            "max_delta_step": [1],
        },
    ),
    "catboost": (
        (CatBoostRanker, CatBoostRegressor, CatBoostClassifier),
        {"verbose": False, "thread_count": 1, "allow_writing_files": False},
        "iterations",
        {
            "eval_fraction": [0.3],
            "objective": ["RMSE", "QueryRMSE", "MAE"],
            "loss_function": ["RMSE", "QueryRMSE", "YetiRank", "QuerySoftMax", "MAE"],
            "learning_rate": [0.1, 0.5],
            "eta": [0.2],
            "depth": [2, 4],
            "max_depth": [3],
            "random_seed": [3],
            "random_state": [4],
            "rsm": [0.5],
            "subsample": [0.5],
            "bootstrap_type": ["Bernoulli", "MVS", "Bayesian"],
            "boosting_type": ["Ordered", "Plain"],
            "leaf_estimation_iterations": [2],
            "model_shrink_rate": [0.2],
            "langevin": [True],
            "od_type": ["Iter"],
            "use_best_model": [True],
            "early_stopping_rounds": [2],
            "grow_policy": ["Lossguide", "Depthwise"],
            "posterior_sampling": [True],
            "n_estimators": [5],
        },
    ),
    "histogram": (
        (HistGradientBoostingRegressor, HistGradientBoostingClassifier),
        {"min_samples_leaf": 3},
        "max_iter",
        {
            "early_stopping": [True, False, "auto"],
            "validation_fraction": [0.3],
            "n_iter_no_change": [1],
            "learning_rate": [0.05, 0.5],
            "max_leaf_nodes": [3, 8],
            "max_features": [0.5],
            "max_bins": [16],
            "warm_start": [True],
            "l2_regularization": [1.0],
            "random_state": [0, 7],
            "loss": ["absolute_error", "poisson"],
        },
    ),
}


def results(make, model, grid, **options):
    """Results of a search; the message if every fit fails."""
    options = {"scoring": "ndcg@5", "cv": CV, "refit": False, **options}
    if make is GridSearchCV:
        options["scoring"] = make_ranking_scorer(options["scoring"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make(model, grid, **options).fit(X, LABELS)
        except Exception as error:  # as of parameters that contradict each other
            return re.sub(r"\d+", "n", str(error).split("Below are")[0])


def assert_as_grid_search(model, grid, **options):
    found = results(RacingSearchCV, model, grid, confidence=None, **options)
    expected = results(GridSearchCV, model, grid, **options)
    if isinstance(expected, str):
        assert found == expected
        return None
    assert_same_results(found, expected)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("library", LIBRARIES)
def test_random_parameters_score_as_in_a_grid_search(library, seed):
    kinds, given, count, values = LIBRARIES[library]
    rng = np.random.default_rng(seed)
    kind = kinds[rng.integers(len(kinds))]
    names = rng.choice(list(values), size=rng.integers(1, 5), replace=False)
    drawn = {name: values[name][rng.integers(len(values[name]))] for name in names}
    if library == "histogram":
        drawn.setdefault("random_state", 0)
    varied, *fixed = drawn
    grid = {f"estimator__{count}": [4, 12, 8]}
    if rng.random() < 0.5 or drawn[varied] == given.get(varied):
        fixed.append(varied)
    else:  # some candidates set it, others do not
        grid = [grid, {**grid, f"estimator__{varied}": [drawn[varied]]}]
    model = kind(**given, **{name: drawn[name] for name in fixed})
    # Some models hold out queries at random.
    assert_as_grid_search(QueryRanker(model, random_state=0), grid)


UNSAFE = [
    LGBMRegressor(**LIBRARIES["lightgbm"][1], objective=lambda y, scores: (scores - y, y * 0 + 1)),
    LGBMRegressor(**LIBRARIES["lightgbm"][1], some_new_parameter=1),
    XGBRegressor(n_jobs=1, sampling_method="gradient_based"),
    HistGradientBoostingRegressor(warm_start=True),
]


@pytest.mark.parametrize("model", UNSAFE, ids=lambda model: type(model).__name__)
def test_what_is_not_listed_is_not_safe(model):
    family = family_of(model)
    assert family is not None
    assert not family.is_safe(model)


def test_only_the_very_classes_of_the_libraries_have_a_family():
    class LGBMRanker2(LGBMRanker):
        pass

    same_name = type("LGBMRanker", (LGBMRanker,), {"__module__": "lightgbm.sklearn"})
    assert family_of(LGBMRanker()) is FAMILIES["LGBMRanker"]
    assert family_of(LGBMRanker2()) is None
    assert family_of(same_name()) is None
    assert family_of(None) is None


class OtherRanker(QueryRanker):
    """May predict otherwise."""


class OtherPipeline(Pipeline):
    """Likewise."""


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (OtherRanker(LGBMRegressor(verbose=-1, n_jobs=1)), "estimator__n_estimators"),
        (OtherPipeline([("m", LGBMRegressor(verbose=-1, n_jobs=1))]), "m__n_estimators"),
    ],
    ids=["ranker", "pipeline"],
)
def test_subclasses_of_wrappers_are_fitted_alone(model, name):
    assert assert_as_grid_search(model, {name: [3, 6]}).n_fits_ == 2 * 2


@pytest.mark.parametrize("method", ["predict_log_proba", "predict_proba", "predict"])
def test_response_methods_that_are_not_known_are_not_shared(method):
    labels = with_qid(Y > 1, QID)
    model = LGBMClassifier(**LIBRARIES["lightgbm"][1])
    grid = {"n_estimators": [2, 20]}
    scorer = make_ranking_scorer("ndcg@5", response_method=[method, "predict"])
    options = {"scoring": scorer, "cv": CV, "refit": False}
    race = RacingSearchCV(model, grid, confidence=None, **options)
    race.fit(X, labels)
    expected = GridSearchCV(model, grid, **options).fit(X, labels)
    assert_same_results(race, expected)
    assert race.n_fits_ == (2 * 2 if method == "predict_log_proba" else 2 + 1)


def test_every_path_is_checked():
    """Only the last of three paths has first trees that are not the smaller model."""
    seen = []
    family = FAMILIES["LGBMRegressor"]

    def off(model, n_trees):
        seen.append(model.num_leaves)
        family.use_first(model, n_trees + (model.num_leaves == 5 and n_trees == 3))

    changed = dataclasses.replace(family, use_first=off)
    model = LGBMRegressor(verbose=-1, n_jobs=1, min_child_samples=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FAMILIES, "LGBMRegressor", changed)
        found = RacingSearchCV(
            model,
            {"num_leaves": [2, 3, 5], "n_estimators": [3, 9]},
            scoring="ndcg@5",
            cv=CV,
            refit=False,
            confidence=None,
        )
        with pytest.warns(UserWarning, match="The first 3 trees of a model do not predict"):
            found.fit(X, LABELS)
    assert set(seen) == {2, 3, 5}
    grid = results(GridSearchCV, model, found.param_grid)
    assert_same_results(found, grid)


# Folds in which all candidates fail


class Fails(RegressorMixin, BaseEstimator):
    """Fails to fit, or predicts NaN, if the training rows are those without query 0."""

    def __init__(self, how="fit", power=1):
        self.how, self.power = how, power

    def fit(self, X, y):
        self.fails_ = 0 not in X[:, -1]
        if self.fails_ and self.how == "fit":
            raise RuntimeError("no query 0")
        return self

    def predict(self, X):
        return np.full(len(X), np.nan) if self.fails_ else X[:, 0] ** self.power


class FailingScaler(StandardScaler):
    def fit(self, X, y=None, sample_weight=None):
        if 0 not in X[:, -1]:
            raise RuntimeError("no query 0")
        return super().fit(X, y)


MARKED = np.column_stack([X, QID])


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize("error_score", [np.nan, 0.0])
@pytest.mark.parametrize("how", ["fit", "predict"])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.option("RacingSearchCV.error_score")
def test_a_fold_in_which_all_fail_ends_no_search(how, error_score, confidence):
    grid = {"power": [1, 2, 3]}
    options = {"cv": QueryKFold(3), "refit": False}
    options |= {"scoring": make_ranking_scorer("ndcg@5"), "error_score": error_score}
    found = RacingSearchCV(Fails(how), grid, confidence=confidence, min_queries=1000, **options)
    expected = GridSearchCV(Fails(how), grid, **options).fit(MARKED, LABELS)
    assert_same_results(found.fit(MARKED, LABELS), expected)
    assert found.n_fits_ == 9


@pytest.mark.filterwarnings("ignore")
def test_fits_that_share_trees_and_all_fail_in_a_fold():
    model = make_pipeline(FailingScaler(), LGBMRegressor(verbose=-1, n_jobs=1))
    grid = {"lgbmregressor__n_estimators": [2, 6, 4]}
    options = {"cv": QueryKFold(3), "refit": False, "scoring": make_ranking_scorer("ndcg@5")}
    found = RacingSearchCV(model, grid, confidence=None, **options)
    with pytest.warns(match=r"3 fits failed out of a total of 9(?s:.*)no query 0"):
        found.fit(MARKED, LABELS)
    assert_same_results(found, GridSearchCV(model, grid, **options).fit(MARKED, LABELS))
    assert np.isnan(found.cv_results_["split2_test_score"]).all()
    assert not np.isnan(found.cv_results_["split1_test_score"]).any()


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_all_fits_of_a_search_fail(confidence):
    model = LGBMRegressor(verbose=-1, n_jobs=1, num_leaves=1)
    grid = {"n_estimators": [3, 9]}
    options = {"scoring": "ndcg@5", "cv": CV}
    with pytest.raises(ValueError, match=r"All the \d+ fits failed(?s:.*)num_leaves"):
        RacingSearchCV(model, grid, confidence=confidence, **options).fit(X, LABELS)

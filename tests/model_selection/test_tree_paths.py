"""Candidates that differ only in the number of trees share a fit, and have the results of GridSearchCV to the bit."""

import dataclasses
import functools
import inspect
import itertools
import warnings

import numpy as np
import pytest
from catboost import CatBoostRanker
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.searches import assert_same_results
from xgboost import XGBClassifier, XGBRanker, XGBRegressor
from xgboost.callback import LearningRateScheduler

from skrank_metrics import QueryKFold, QueryRanker, ranking_scorers, with_qid
from skrank_metrics.datasets import make_ranking
from skrank_metrics.model_selection import RacingSearchCV, _tree_paths

X, grades, QID = make_ranking(30, random_state=0)
Y = np.minimum(grades, 2)  # each class of a classifier is fitted on its own
LABELS = with_qid(Y, QID)
COUNTS = [3, 12, 7]
SCORING = {**ranking_scorers("ndcg@5", "mrr"), "seconds": make_scorer(mean_squared_error)}
LGB = {"min_child_samples": 2, "verbose": -1, "n_jobs": 1}
CAT = {"verbose": False, "thread_count": 1, "allow_writing_files": False}
SHARED = [
    LGBMRanker(**LGB),
    LGBMRanker(**LGB, subsample=0.5, subsample_freq=2, colsample_bytree=0.5),
    LGBMRanker(**LGB, data_sample_strategy="goss"),
    LGBMRanker(**LGB, boosting_type="rf", subsample=0.5, subsample_freq=1),
    LGBMRegressor(**LGB),
    LGBMClassifier(**LGB),
    XGBRanker(n_jobs=1),
    XGBRanker(
        n_jobs=1,
        subsample=0.5,
        num_parallel_tree=2,
        lambdarank_pair_method="mean",
        booster="gbtree",
    ),
    XGBRegressor(n_jobs=1),
    XGBClassifier(n_jobs=1),
    HistGradientBoostingRegressor(random_state=0),
    HistGradientBoostingClassifier(),
]
ALONE = [
    LGBMRanker(**LGB, boosting_type="dart"),
    LGBMRanker(**LGB, boosting="dart"),
    XGBRanker(n_jobs=1, booster="dart", rate_drop=0.5),
    XGBRanker(n_jobs=1, callbacks=[LearningRateScheduler(lambda epoch: 0.5 / (1 + epoch))]),
    CatBoostRanker(**CAT),
    HistGradientBoostingRegressor(early_stopping=True, random_state=0),
    RandomForestRegressor(random_state=0),
    QueryRanker(
        LGBMRanker(**LGB), validation_fraction=0.3, early_stopping_rounds=2, random_state=0
    ),
]


def count_of(model):
    """Name of the parameter for the number of trees."""
    leaf = model.estimator if isinstance(model, QueryRanker) else model
    kind = type(leaf).__name__
    return (
        "iterations"
        if kind.startswith("Cat")
        else "max_iter"
        if kind.startswith("Hist")
        else "n_estimators"
    )


def named(model):
    leaf = model.estimator if isinstance(model, QueryRanker) else model
    params = leaf.get_params(deep=False)
    shown = [f"{name}={value}" for name, value in params.items() if value is not None]
    return f"{type(leaf).__name__} {shown[-3:]}"


def wrapped(model):
    # Some models hold out queries at random.
    return model if isinstance(model, QueryRanker) else QueryRanker(model, random_state=0)


def searched(make, model, grid, *, fit_params=None, **options):
    options = {
        "scoring": SCORING,
        "refit": "ndcg@5",
        "cv": QueryKFold(3),
        "error_score": "raise",
    } | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(model, grid, **options).fit(X, LABELS, **(fit_params or {}))


def unraced(model, grid, **options):
    """A search without a race, after checking that its results are those of GridSearchCV."""
    found = searched(RacingSearchCV, model, grid, confidence=None, **options)
    options.pop("n_jobs", None)
    expected = searched(GridSearchCV, model, grid, **options)
    assert_same_results(found, expected)
    if options.get("refit", True):
        assert found.best_params_ == expected.best_params_
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("model", SHARED, ids=named)
def test_first_trees_are_the_smaller_model(model):
    found = unraced(
        wrapped(model), {f"estimator__{count_of(model)}": COUNTS}, return_train_score=True
    )
    assert found.n_fits_ == 3 + 1, "one per fold, and one to check"


@pytest.mark.slow
@pytest.mark.parametrize("model", ALONE, ids=named)
def test_other_candidates_are_fitted_one_by_one(model):
    takes_validation_set = "X_val" in inspect.signature(model.fit).parameters
    if getattr(model, "early_stopping", False) is True and not takes_validation_set:
        pytest.skip(
            "Before scikit-learn 1.7, its own early stopping holds out rows, which is refused."
        )
    grid = {f"estimator__{count_of(model)}": COUNTS}
    assert unraced(wrapped(model), grid, refit=False).n_fits_ == 9


GRID = {"n_estimators": COUNTS, "num_leaves": [2, 5]}
INNER = make_pipeline(StandardScaler(), LGBMRegressor(**LGB))
WRAPPERS = {
    "bare": ("", LGBMRegressor(**LGB)),
    "ranker": ("estimator__", QueryRanker(LGBMRanker(**LGB))),
    "pipeline": (
        "queryranker__estimator__",
        make_pipeline(StandardScaler(), QueryRanker(LGBMRanker(**LGB))),
    ),
    "inner pipeline": ("estimator__lgbmregressor__", QueryRanker(INNER)),
}


@pytest.mark.parametrize(("prefix", "model"), WRAPPERS.values(), ids=WRAPPERS)
def test_through_pipelines_and_rankers(prefix, model):
    grid = {prefix + name: values for name, values in GRID.items()}
    assert unraced(model, grid).n_fits_ == 2 * 3 + 2


@pytest.mark.option("RacingSearchCV.confidence")
def test_a_race_fits_the_largest_that_remains():
    grid = {**GRID, "learning_rate": [0.05, 0.3]}
    options = {"scoring": "ndcg@5", "refit": False, "min_queries": 2}
    search = functools.partial(searched, RacingSearchCV, LGBMRegressor(**LGB), grid, **options)
    raced = search(confidence=0.5)
    expected = search(confidence=None)
    found = raced.cv_results_
    dropped = np.nan_to_num(found["dropped_after"], nan=3)
    n_fits = 4
    for fold in range(3):
        ran, largest = dropped > fold, {}
        for params in itertools.compress(found["params"], ran):
            path = params["num_leaves"], params["learning_rate"]
            largest[path] = max(largest.get(path, 0), params["n_estimators"])
        n_fits += len(largest)
        column = f"split{fold}_test_score"
        np.testing.assert_array_equal(found[column][ran], expected.cv_results_[column][ran])
    assert 0 < sum(dropped < 3) < 12
    assert raced.n_fits_ == n_fits


@pytest.mark.parametrize(
    ("grid", "n_fits"),
    [
        ({"n_estimators": [3, 3, 7]}, 4),  # twice the same
        ({"n_estimators": [5]}, 3),
        (
            [
                {"n_estimators": [3, 7]},
                {"n_estimators": [5], "num_leaves": [4]},
                {"num_leaves": [4]},
            ],
            10,
        ),
    ],
)
def test_grids_that_hold_other_things_than_paths(grid, n_fits):
    assert unraced(LGBMRegressor(**LGB, n_estimators=4), grid).n_fits_ == n_fits


ODD_COUNTS = [3, 0, -1, 2.5, "4", None, True, np.int64(4), 5]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [LGBMRegressor(**LGB), HistGradientBoostingRegressor(random_state=0)],
    ids=named,
)
def test_numbers_of_trees_that_not_all_models_can_have(model):
    grid = {count_of(model): ODD_COUNTS}
    found = unraced(model, grid, error_score=np.nan, refit=False)
    scores = found.cv_results_["split2_test_mrr"]
    assert np.isfinite(scores[[0, -2, -1]]).all()
    assert found.n_fits_ == 3 * 6 + 3 + 1, "six on their own, the others at once, and one to check"


def test_estimators_among_the_parameters_have_their_own_paths():
    models = [
        LGBMRanker(**LGB),
        LGBMRanker(**LGB, num_leaves=3),
        LGBMRanker(**LGB, boosting_type="dart"),
    ]
    found = unraced(
        QueryRanker(LGBMRanker()),
        {"estimator": models, "estimator__n_estimators": [3, 7]},
        refit=False,
    )
    assert found.n_fits_ == 2 * 3 + 2 + 2 * 3


def test_parameters_of_fit_that_can_stop_training_leave_no_paths():
    fit_params = {"callbacks": [lambda step: None]}
    found = unraced(LGBMRegressor(**LGB), {"n_estimators": [3, 7]}, fit_params=fit_params)
    assert found.n_fits_ == 6


def test_scorers_that_see_the_model_get_the_very_model():
    seen = []

    def trees(model, X, y):
        seen.append(model.booster_.num_trees())
        return 0.0

    scoring = {**ranking_scorers("ndcg@5"), "trees": trees}
    found = searched(
        RacingSearchCV,
        LGBMRegressor(**LGB),
        {"n_estimators": [3, 7]},
        confidence=None,
        scoring=scoring,
    )
    assert found.n_fits_ == 6
    assert set(seen) == {3, 7}


@pytest.fixture
def wrong_table(monkeypatch):
    """A version of LightGBM whose first trees are those of another model."""
    family = _tree_paths.FAMILIES["LGBMRegressor"]

    def off(model, n_trees):
        family.use_first(model, n_trees + 1)

    changed = dataclasses.replace(family, use_first=off)
    monkeypatch.setitem(_tree_paths.FAMILIES, "LGBMRegressor", changed)


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_the_check_gives_paths_up(wrong_table, confidence):
    options = {"scoring": ranking_scorers("ndcg@5")["ndcg@5"], "cv": QueryKFold(3), "refit": False}
    search = RacingSearchCV(LGBMRegressor(**LGB), GRID, confidence=confidence, **options)
    with pytest.warns(
        UserWarning,
        match="The first 3 trees of a model do not predict what a model of as many",
    ):
        search.fit(X, LABELS)
    grid = searched(GridSearchCV, LGBMRegressor(**LGB), GRID, **options)
    ran = ~np.isnan(search.cv_results_["split2_test_score"])
    for column in (f"split{fold}_test_score" for fold in range(3)):
        np.testing.assert_array_equal(
            search.cv_results_[column][ran], grid.cv_results_[column][ran]
        )
    assert search.n_fits_ == 6 * 3 or confidence


class Other(LGBMRegressor):
    """Not in the table."""


def test_subclasses_may_predict_otherwise():
    options = {"confidence": None, "refit": False}
    assert searched(RacingSearchCV, Other(**LGB), {"n_estimators": [3, 7]}, **options).n_fits_ == 6


@pytest.mark.parametrize(
    ("method", "fails"), [("fit", lambda n: n > 10), ("predict", lambda n: n < 5)]
)
def test_models_of_a_path_that_fail(monkeypatch, method, fails):
    original = getattr(LGBMRegressor, method)

    @functools.wraps(original)  # scorers call a method by its name
    def limited(self, *rows, **given):
        n_trees = self.booster_.best_iteration if method == "predict" else 0
        if fails(n_trees or self.n_estimators):
            raise MemoryError("too many or too few trees")
        return original(self, *rows, **given)

    monkeypatch.setattr(LGBMRegressor, method, limited)
    found = unraced(LGBMRegressor(**LGB), GRID, error_score=np.nan, refit=False)
    assert np.isnan(found.cv_results_["split0_test_mrr"]).sum() == 2


@pytest.mark.slow
def test_in_parallel_workers_score_first_trees():
    found = unraced(LGBMRegressor(**LGB), GRID, n_jobs=2)
    assert found.n_fits_ == 2 * 3 + 2
    assert_same_results(clone(found).set_params(n_jobs=None).fit(X, LABELS), found)

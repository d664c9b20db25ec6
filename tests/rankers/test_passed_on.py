"""Parameters of the booster's ``fit``: passed on, sorted along with the rows, held out with them, or refused."""

import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost
from catboost import CatBoostRanker, CatBoostRegressor
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from support.by_hand import fit as fit_by_hand
from support.rankers import RANKERS, RECORDED, of_name
from xgboost import XGBRanker

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    get_metric,
    ndcg_score,
    ranking_scorers,
    with_qid,
)

LIGHTGBM, XGBOOST, CATBOOST = RANKERS
START = {"LGBMRanker": "init_score", "XGBRanker": "base_margin", "CatBoostRanker": "baseline"}
SCORERS = ranking_scorers("ndcg@10")
STOP = {"validation_fraction": 0.25, "early_stopping_rounds": 5, "random_state": 0}


def start_of(model):
    """Its name for scores to start from."""
    return START[type(model).__name__.removeprefix("Recorded")]


def sizes(qid):
    return np.unique(qid, return_counts=True)[1]


def queries(model, qid):
    """Sorted ids in the booster's own form."""
    if isinstance(model, LGBMRanker):
        return {"group": sizes(qid)}
    return {"qid": qid} if isinstance(model, XGBRanker) else {"group_id": qid}


@pytest.fixture(scope="module")
def words(problem):
    """A frame with a column of few integers, which tell something if they are taken for categories."""
    X, y, qid = problem
    category = np.random.default_rng(5).integers(0, 6, len(y))
    effects = np.array([2, 0, 1, 0, 2, 0])
    labels = np.clip(y + effects[category], 0, 3)
    return pd.DataFrame(X, columns=list("abcd")).assign(word=category), labels, qid


@pytest.mark.parametrize("as_given", [np.asarray, list, pd.Series], ids=["array", "list", "Series"])
@pytest.mark.parametrize("model", RANKERS, **of_name)
@pytest.mark.option("QueryRanker.fit.**fit_params")
def test_values_of_rows_are_sorted_along(model, as_given, shuffled):
    X, y, qid = shuffled
    start = X[:, 1] - 2 * X[:, 0]
    codes = pd.factorize(qid)[0]  # in order of first appearance
    order = np.argsort(codes, kind="stable")
    by_hand = clone(model).fit(
        X[order], y[order], **queries(model, codes[order]), **{start_of(model): start[order]}
    )
    ranker = QueryRanker(model).fit(X, y, qid=qid, **{start_of(model): as_given(start)})
    np.testing.assert_array_equal(ranker.predict(X), by_hand.predict(X))
    without_start = QueryRanker(model).fit(X, y, qid=qid)
    assert (ranker.predict(X) != without_start.predict(X)).any()


@pytest.mark.parametrize("model", RANKERS, **of_name)
@pytest.mark.parametrize("way", ["groups", "qid", "index of y"])
@pytest.mark.slow
def test_a_search_gives_each_fold_its_part(way, model, shuffled):
    X, y, qid = shuffled
    start = X[:, 1] - 2 * X[:, 0]
    pipeline = make_pipeline(StandardScaler(), QueryRanker(model))
    grid = {"queryranker__estimator__learning_rate": [0.3]}
    options = {"cv": QueryKFold(3), "error_score": "raise"}
    search = GridSearchCV(pipeline, grid, scoring=SCORERS, refit="ndcg@10", **options)
    if way == "index of y":
        passed = {f"queryranker__{start_of(model)}": start}
        found = search.fit(X, with_qid(y, qid), **passed)
    else:
        with sklearn.config_context(enable_metadata_routing=True):
            found = search.fit(X, y, **{way: qid, start_of(model): start})
    for number, (train, test) in enumerate(QueryKFold(3).split(X, qid=qid)):
        given = {"queryranker__qid": qid[train], f"queryranker__{start_of(model)}": start[train]}
        fitted = (
            clone(pipeline)
            .set_params(queryranker__estimator__learning_rate=0.3)
            .fit(X[train], y[train], **given)
        )
        expected = ndcg_score(y[test], fitted.predict(X[test]), qid=qid[test], k=10)
        assert found.cv_results_[f"split{number}_test_ndcg@10"][0] == pytest.approx(
            expected, abs=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "name"), [(LIGHTGBM, "categorical_feature"), (CATBOOST, "cat_features")]
)
def test_columns_are_passed_as_they_are(model, name, words):
    X, y, qid = words
    fitted = clone(model).fit(X, y, **queries(model, qid), **{name: ["word"]})
    expected = fitted.predict(X)
    np.testing.assert_array_equal(
        QueryRanker(model).fit(X, y, qid=qid, **{name: ["word"]}).predict(X), expected
    )
    assert (QueryRanker(model).fit(X, y, qid=qid).predict(X) != expected).any()
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            QueryRanker(model), {}, scoring=SCORERS, refit="ndcg@10", cv=QueryKFold(2)
        )
        search.fit(X, y, groups=qid, **{name: ["word"]})
    np.testing.assert_array_equal(search.predict(X), expected)


@pytest.mark.parametrize("model", [XGBOOST, CATBOOST], **of_name)
def test_progress_of_early_stopping_is_shown_if_asked_for(model, problem, capfd):
    X, y, qid = problem
    QueryRanker(model, **STOP).fit(X, y, qid=qid)
    assert capfd.readouterr().out == ""
    QueryRanker(model, **STOP).fit(X, y, qid=qid, verbose=True)
    assert len(capfd.readouterr().out.splitlines()) > 2


@pytest.mark.parametrize("model", RECORDED, **of_name)
def test_values_of_rows_are_held_out_with_them(model, problem):
    X, y, qid = problem
    start = 3 * X[:, 1]
    ranker = QueryRanker(clone(model).set_params(learning_rate=1e-6), **STOP)
    fitted = ranker.fit(X, y, qid=qid, **{start_of(model): start}).estimator_
    held = np.isin(X[:, 0].astype(np.float32), fitted.validation_rows)
    first = next(iter(fitted.curve().values()))[0]
    conventions = {"LGBMRanker": "sklearn", "XGBRanker": "xgboost", "CatBoostRanker": "catboost"}
    metric = get_metric(
        "ndcg@10", convention=conventions[type(model).__name__.removeprefix("Recorded")]
    )
    # With steps that small, the model ranks by where it starts.
    of_start = metric(y[held], start[held], qid=qid[held])
    assert first == pytest.approx(of_start, abs=1e-6)


def test_early_stopping_beside_callbacks_and_another_metric(problem):
    X, y, qid = problem
    calls = []
    named = {"eval_names": ["held out"]}
    ranker = QueryRanker(clone(LIGHTGBM).set_params(n_estimators=200), **STOP)
    ranker.fit(
        X,
        y,
        qid=qid,
        callbacks=[lambda step: calls.append(step.iteration)],
        **named,
        eval_metric="map",
        eval_at=[3],
    )
    values = ranker.estimator_.evals_result_["held out"]
    assert list(values) == ["map@3"]
    assert ranker.best_iteration_ == np.argmax(values["map@3"]) + 1 == len(calls) - 5


def test_early_stopping_with_categories_told_to_fit(words):
    X, y, qid = words
    told = QueryRanker(CATBOOST, **STOP).fit(X, y, qid=qid, cat_features=["word"])
    set_before = QueryRanker(clone(CATBOOST).set_params(cat_features=("word",)), **STOP).fit(
        X, y, qid=qid
    )
    np.testing.assert_array_equal(told.predict(X), set_before.predict(X))
    assert told.best_iteration_ == set_before.best_iteration_


class Listwise(BaseEstimator):
    """Of no library that is known here."""

    def fit(self, X, y, *, qid, propensity=None, feature_weights=None, eval_set=None):
        self.given_ = {
            "propensity": propensity,
            "feature_weights": feature_weights,
            "eval_set": eval_set,
        }
        return self


def test_of_unknown_rankers_what_is_as_long_as_the_rows_belongs_to_them():
    X = np.eye(4)
    y = [1, 0, 1, 0]
    qid = ["a", "b", "a", "b"]
    far = [(X, y)] * 4
    given = {"propensity": (0.1, 0.2, 0.3, 0.4), "feature_weights": np.arange(4.0), "eval_set": far}
    found = QueryRanker(Listwise()).fit(X, y, qid=qid, **given).estimator_.given_
    assert list(found["propensity"]) == [0.1, 0.3, 0.2, 0.4]  # a, a, b, b
    assert list(found["feature_weights"]) == [0, 1, 2, 3]
    assert found["eval_set"] is far
    assert (
        QueryRanker(Listwise()).fit(X, y, qid=qid, propensity=None).estimator_.given_["propensity"]
        is None
    )


def test_a_pipeline_takes_parameters_of_its_steps(words):
    X, y, qid = words
    inner = make_pipeline(
        CatBoostRegressor(iterations=5, verbose=False, allow_writing_files=False, thread_count=1)
    )
    ranker = QueryRanker(inner).fit(X, y, qid=qid, catboostregressor__cat_features=["word"])
    assert ranker.estimator_[-1].get_cat_feature_indices() == [4]


def test_routing_requests_what_the_estimator_requests(problem):
    X, y, qid = problem
    with sklearn.config_context(enable_metadata_routing=True):
        inner = clone(XGBOOST).set_fit_request(base_margin="start", feature_weights=False)
        requests = QueryRanker(inner).get_metadata_routing().fit.requests
        assert (requests["base_margin"], requests["feature_weights"], requests["verbose"]) == (
            "start",
            False,
            True,
        )
        assert "group" not in requests
        aliased = {"groups": qid, "start": X[:, 1]}
        by_name = {"groups": qid, "base_margin": X[:, 1]}
        options = {"cv": QueryKFold(3), "error_score": "raise"}
        found = cross_val_score(QueryRanker(inner), X, y, params=aliased, **options)
        np.testing.assert_array_equal(
            found, cross_val_score(QueryRanker(XGBOOST), X, y, params=by_name, **options)
        )
        with pytest.raises(TypeError, match="base_margin"):
            cross_val_score(QueryRanker(inner), X, y, params=by_name)


EARLY = "To stop early, set early_stopping_rounds of QueryRanker, and either validation_fraction"


@pytest.mark.parametrize(
    ("model", "further", "way_out"),
    [
        (XGBOOST, "early_stopping_rounds", EARLY),
        (CATBOOST, "early_stopping_rounds", EARLY),
        (CATBOOST, "group_id", "Pass query ids as qid"),
        (CATBOOST, "group_weight", "Pass one weight per document as sample_weight"),
        (CATBOOST, "pairs", "It holds row numbers, which change when rows are sorted"),
    ],
)
def test_what_fit_does_not_take_names_the_way_out(model, further, way_out, problem):
    X, y, qid = problem
    # Of others, the estimator says that it does not take them.
    message = f"unexpected (keyword argument|parameter) '{further}'.*{way_out}"
    with pytest.raises(TypeError, match=message):
        QueryRanker(model).fit(X, y, qid=qid, **{further: [1]})
    with pytest.raises(ValueError, match=f"All the 5 fits failed(?s:.*){message}"):
        cross_val_score(QueryRanker(model), X, with_qid(y, qid), params={further: 1})


def test_values_that_do_not_fit(words):
    X, y, qid = words
    with pytest.raises(
        ValueError, match=r"init_score must hold one value per document.*got shape \(\)"
    ):
        QueryRanker(LIGHTGBM).fit(X, y, qid=qid, init_score=0.5)
    with pytest.raises(TypeError, match=r"unknown name.*categorical_feature"):
        QueryRanker(LIGHTGBM).fit(X, y, qid=qid, categorical_feature=["wort"])


def test_values_of_rows_must_have_the_labels_of_the_rows(problem):
    X, y, qid = problem
    margin = pd.Series(X[:, 1], index=np.arange(len(y))[::-1])
    with pytest.raises(ValueError, match="base_margin must have the same index as X"):
        QueryRanker(XGBOOST).fit(
            pd.DataFrame(X, index=np.arange(len(y))), y, qid=qid, base_margin=margin
        )
    with pytest.raises(ValueError, match="base_margin must not be masked"):
        QueryRanker(XGBOOST).fit(X, y, qid=qid, base_margin=np.ma.array(margin, mask=y > 0))


def test_catboost_may_have_lists_among_its_parameters(words):
    X, y, qid = words
    inner = {
        "iterations": 10,
        "verbose": False,
        "allow_writing_files": False,
        "thread_count": 1,
        "random_seed": 0,
    }
    own = type("Own", (CatBoostRanker,), {})
    lists, tuples = (
        QueryRanker(own(cat_features=kind(["word"]), **inner)) for kind in (list, tuple)
    )
    expected = tuples.fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(lists.fit(X, y, qid=qid).predict(X), expected)
    copied = clone(make_pipeline("passthrough", lists.set_params(random_state=7)))[-1]
    assert copied.estimator is not lists.estimator
    assert (copied.random_state, copied.estimator.get_params()) == (7, lists.estimator.get_params())
    assert not hasattr(copied, "estimator_")


def by_hand_importances(model, X, y, qid):
    fitted = fit_by_hand(model, X, y, qid)
    if isinstance(model, CatBoostRanker):
        return fitted.get_feature_importance(type="PredictionValuesChange")
    return getattr(fitted, "coef_" if isinstance(model, Ridge) else "feature_importances_")


@pytest.mark.parametrize("model", [*RANKERS, Ridge()], **of_name)
def test_importances_are_those_of_the_fitted_estimator(model, problem):
    X, y, qid = problem
    expected = by_hand_importances(model, X, y, qid)
    name, other = ("coef_", "feature_importances_")[:: 1 if isinstance(model, Ridge) else -1]
    ranker = QueryRanker(model)
    assert not hasattr(ranker, name)
    np.testing.assert_array_equal(getattr(ranker.fit(X, y, qid=qid), name), expected)
    assert not hasattr(ranker, other)
    selected = SelectFromModel(ranker, prefit=True, threshold=-np.inf, max_features=2).transform(X)
    np.testing.assert_array_equal(
        selected, X[:, np.sort(np.argsort(-np.abs(expected), kind="stable")[:2])]
    )


def test_an_estimator_without_importances(problem):
    X, y, qid = problem
    ranker = QueryRanker(SVR()).fit(X, y, qid=qid)
    assert not hasattr(ranker, "feature_importances_")
    assert not hasattr(ranker, "coef_")


class Report(xgboost.callback.TrainingCallback):
    def __init__(self):
        self.rounds = []

    def after_iteration(self, model, epoch, evals_log):
        self.rounds.append(epoch)
        return False


def test_callbacks_report_to_the_user(problem):
    X, y, qid = problem
    for wrap in (QueryRanker, lambda model: QueryRanker(make_pipeline("passthrough", model))):
        report = Report()
        kind = XGBRanker if wrap is QueryRanker else xgboost.XGBRegressor
        ranker = wrap(kind(n_estimators=4, n_jobs=1, callbacks=[report])).fit(X, y, qid=qid)
        assert report.rounds == [0, 1, 2, 3]
        # scikit-learn's clones have callbacks of their own, as fits in parallel need.
        clone(ranker).fit(X, y, qid=qid)
        assert report.rounds == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("model", "name", "count"),
    [
        (LIGHTGBM, "init_model", lambda booster: booster.booster_.current_iteration()),
        (XGBOOST, "xgb_model", lambda booster: booster.get_booster().num_boosted_rounds()),
        (CATBOOST, "init_model", lambda booster: booster.tree_count_),
    ],
)
def test_a_training_goes_on_from_a_ranker(model, name, count, problem):
    X, y, qid = problem
    before = QueryRanker(model).fit(X, y, qid=qid)
    after = QueryRanker(model).fit(X, y, qid=qid, **{name: before})
    assert count(after.estimator_) == 10 + 10

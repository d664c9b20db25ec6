import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from catboost import CatBoostError
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingClassifier
from sklearn.feature_selection import RFE
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from support.by_hand import fit as fit_by_hand
from support.rankers import RANKERS, of_name
from xgboost import XGBClassifier, XGBModel, XGBRanker, XGBRegressor, XGBRFRegressor

from skrank_metrics import QueryKFold, QueryRanker, ndcg_score, ranking_scorers, with_qid
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics.model_selection import RacingSearchCV

MODELS = [
    *RANKERS,
    Ridge(),
    LogisticRegression(max_iter=1000),
    DecisionTreeClassifier(max_depth=3, random_state=0),
]


def pa_table(X):
    return pa.table(dict(zip("abcd", X.T, strict=True)))


@pytest.mark.parametrize("model", RANKERS, **of_name)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.option("QueryRanker.fit.sample_weight")
def test_a_ranker_gets_what_it_asks_for(model, weighted, problem):
    X, y, qid = problem
    weights = np.where(qid % 3 == 0, 4.0, 0.5) if weighted else None
    expected = fit_by_hand(model, X, y, qid, weights).predict(X)
    ranker = QueryRanker(model).fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    assert len(np.unique(expected)) > 10
    if weighted:
        assert (expected != fit_by_hand(model, X, y, qid).predict(X)).any()


@pytest.mark.parametrize("model", RANKERS, **of_name)
@pytest.mark.option("QueryRanker.fit.qid", "QueryRanker.fit.groups")
def test_rows_may_be_interleaved_and_ids_strings(model, shuffled):
    X, y, qid = shuffled
    codes = pd.factorize(qid)[0]  # in order of first appearance
    order = np.argsort(codes, kind="stable")
    expected = fit_by_hand(model, X[order], y[order], codes[order]).predict(X)
    for ids in ({"qid": qid}, {"groups": qid.astype(object)}):
        np.testing.assert_array_equal(QueryRanker(model).fit(X, y, **ids).predict(X), expected)
    np.testing.assert_array_equal(QueryRanker(model).fit(X, with_qid(y, qid)).predict(X), expected)


class Wrapped(XGBRanker):
    """Hands on whatever its fit is given."""

    def fit(self, X, y, **kwargs):
        return super().fit(X, y, **kwargs)


def test_a_ranker_that_hands_on_keywords_gets_the_queries(problem):
    X, y, qid = problem
    weights = np.where(qid % 3 == 0, 4.0, 0.5)
    expected = (
        QueryRanker(XGBRanker(n_estimators=5)).fit(X, y, qid=qid, sample_weight=weights).predict(X)
    )
    ranker = QueryRanker(Wrapped(n_estimators=5)).fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_array_equal(ranker.predict(X), expected)


def test_a_pipeline_that_ends_in_a_ranker_belongs_outside(problem):
    X, y, qid = problem
    with pytest.raises(TypeError, match="got Pipeline with LGBMRanker inside"):
        QueryRanker(make_pipeline(StandardScaler(), RANKERS[0])).fit(X, y, qid=qid)
    model = QueryRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, y, qid=qid)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(
        model.predict(X), Ridge().fit(scaled, y).predict(scaled), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    "container",
    [
        pa_table,
        pd.DataFrame,
        lambda X: pl.DataFrame(X, schema=list("abcd")),
        sparse.coo_array,
        np.ndarray.tolist,
    ],
)
def test_rows_in_any_container(container, shuffled):
    X, y, qid = shuffled
    ranker = QueryRanker(KNeighborsRegressor())
    expected = ranker.fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(
        ranker.fit(container(X), y, qid=qid).predict(container(X)), expected
    )


@pytest.mark.parametrize("model", MODELS, **of_name)
@pytest.mark.option("QueryRanker.score.qid", "QueryRanker.score.groups")
def test_scores_are_ndcg_at_10(model, shuffled):
    X, y, qid = shuffled
    ranker = QueryRanker(model).fit(X, y, qid=qid)
    expected = ndcg_score(y, ranker.predict(X), qid=qid, k=10)
    assert ranker.score(X, y, qid=qid) == ranker.score(X, y, groups=qid) == expected
    assert (
        ranker.score(X, with_qid(y, qid))
        == expected
        > ndcg_score(y, np.zeros(len(y)), qid=qid, k=10)
    )


@pytest.mark.option("QueryRanker.score.sample_weight")
def test_weights_of_a_score_weight_its_queries(problem):
    X, y, qid = problem
    ranker = QueryRanker(Ridge()).fit(X, y, qid=qid)
    values = ndcg_score(y, ranker.predict(X), qid=qid, k=10, average=None)
    weights = 1.0 + np.arange(30) % 4
    expected = (weights * values).sum() / weights.sum()
    assert ranker.score(X, y, qid=qid, sample_weight=weights[qid]) == pytest.approx(
        expected, rel=1e-12
    )
    assert expected != pytest.approx(values.mean(), rel=1e-3)


def test_a_regressor_predicts_as_it_does_alone(shuffled):
    X, y, qid = shuffled
    weights = np.random.default_rng(2).random(
        len(y)
    )  # a regressor knows no queries, so that weights may vary within
    expected = LinearRegression().fit(X, y, sample_weight=weights).predict(X)
    ranker = QueryRanker(LinearRegression()).fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-12)


def test_a_classifier_ranks_by_expected_label(problem):
    X, y, qid = problem
    model = LogisticRegression(max_iter=1000)
    probabilities = clone(model).fit(X, y).predict_proba(X)
    expected = probabilities @ [0, 1, 2, 3]
    np.testing.assert_allclose(
        QueryRanker(model).fit(X, y, qid=qid).predict(X), expected, rtol=1e-12
    )


def test_a_classifier_of_two_labels_ranks_by_the_higher(problem):
    X, y, qid = problem
    binary = np.where(y > 0, 3, 0)
    svc = LinearSVC(random_state=0).fit(X, binary)
    ranker = QueryRanker(LinearSVC(random_state=0)).fit(X, binary, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X), svc.decision_function(X))
    tree = QueryRanker(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, binary, qid=qid)
    of_higher = tree.estimator_.predict_proba(X)[:, 1]
    np.testing.assert_allclose(tree.predict(X), 3 * of_higher)


def test_a_classifier_without_probabilities_cannot_rank_several_labels(problem):
    X, y, qid = problem
    with pytest.raises(
        TypeError, match="estimator must have predict_proba to rank by 4 labels; got LinearSVC"
    ):
        QueryRanker(LinearSVC()).fit(X, y, qid=qid).predict(X)


def test_frames_reach_the_estimator_as_frames(shuffled):
    X, y, qid = shuffled
    ranker = QueryRanker(Ridge()).fit(pd.DataFrame(X, columns=list("abcd")), y, qid=qid)
    assert (
        ranker.estimator_.feature_names_in_.tolist()
        == ranker.feature_names_in_.tolist()
        == list("abcd")
    )
    assert ranker.n_features_in_ == 4


CLASS = (
    r"estimator must be an estimator object with fit and get_params, such as LGBMRanker\(\); got "
)


@pytest.mark.parametrize("other", [LGBMRanker, "LGBMRanker", None, 7])
def test_what_is_no_estimator(other, problem):
    X, y, qid = problem
    ranker = QueryRanker(other)
    assert "LGBMRanker" in repr(ranker) or other in (None, 7)
    with pytest.raises(TypeError, match=CLASS):
        ranker.fit(X, y, qid=qid)
    with pytest.raises(TypeError, match=CLASS):
        GridSearchCV(ranker, {"estimator__num_leaves": [7, 15]}, cv=QueryKFold(3)).fit(
            X, with_qid(y, qid)
        )


@pytest.mark.parametrize(
    ("model", "weights", "error", "message"),
    [
        (
            Ridge(),
            lambda n: np.ones(9),
            ValueError,
            "sample_weight must hold one weight per document",
        ),
        (RANKERS[1], np.arange, ValueError, "sample_weight must be constant within a query"),
        (RANKERS[2], np.arange, ValueError, "sample_weight must be constant within a query"),
        (
            KNeighborsRegressor(),
            np.ones,
            TypeError,
            "sample_weight must be None, since KNeighborsR",
        ),
    ],
)
def test_bad_weights(model, weights, error, message, problem):
    X, y, qid = problem
    with pytest.raises(error, match=message):
        QueryRanker(model).fit(X, y, qid=qid, sample_weight=weights(len(y)))


def scored_by(model, X, y, qid, scorer):
    if scorer is None:
        return model.score(X, y, qid=qid)
    return scorer(model, X, with_qid(y, qid))


@pytest.mark.parametrize(
    "scorer", [None, *ranking_scorers("ndcg@10", "map").values()], ids=["score", "ndcg", "map"]
)
@pytest.mark.parametrize(
    "wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)]
)
def test_scores_of_queries_of_the_fit_warn(scorer, wrap, shuffled):
    X, y, qid = shuffled
    model = QueryRanker(Ridge()) if scorer is None else wrap(QueryRanker(Ridge()))
    train = qid < "q20"
    model.fit(X[train], with_qid(y[train], qid[train]))
    scored_by(model, X[train], y[train], qid[train], scorer)
    scored_by(model, X[~train], y[~train], qid[~train], scorer)
    with pytest.warns(
        UserWarning, match="20 of the 30 scored queries were also in the training set"
    ):
        scored_by(model, X, y, qid, scorer)
    late = qid >= "q15"
    with pytest.warns(UserWarning, match="5 of the 15 scored queries"):
        scored_by(model, X[late], y[late], qid[late], scorer)


@pytest.mark.parametrize(
    "scoring", [None, ranking_scorers("ndcg@10", "map")], ids=["score", "scorers"]
)
def test_folds_warn_where_they_cut_queries_and_only_there(scoring, shuffled):
    X, y, qid = shuffled
    labels = with_qid(y, qid)
    params = {"scoring": scoring, "return_train_score": True, "error_score": "raise"}
    cross_validate(QueryRanker(Ridge()), X, labels, cv=QueryKFold(3), **params)
    search = GridSearchCV(
        QueryRanker(Ridge()), {"estimator__alpha": [1, 9]}, cv=QueryKFold(3), scoring=scoring
    )
    search.set_params(refit="map" if scoring else True).fit(X, labels).score(X, labels)
    with pytest.warns(UserWarning, match="The folds cut queries: a training set has"):
        cross_validate(QueryRanker(Ridge()), X, labels, cv=KFold(2), **params)
    # The same queries on both sides, cut in two: the numbers of documents tell.
    few = np.arange(len(y)) % 3
    odd = np.arange(len(y)) % 2 == 1
    model = QueryRanker(Ridge()).fit(X[odd], y[odd], qid=few[odd])
    n_scored = len(y) // 3
    with pytest.warns(UserWarning, match="3 of the 3"):
        model.score(X[:n_scored], y[:n_scored], qid=few[:n_scored])


def test_predictions_that_are_not_a_rankers_own_are_not_judged(shuffled):
    X, y, qid = shuffled
    train = qid < "q20"
    model = TransformedTargetRegressor(QueryRanker(Ridge()), check_inverse=False)
    ridge = Ridge().fit(X[train], y[train])
    expected = ndcg_score(y, ridge.predict(X), qid=qid, k=10)
    scorer = ranking_scorers("ndcg@10")["ndcg@10"]
    assert scorer(
        model.fit(X[train], y[train], qid=qid[train]), X, with_qid(y, qid)
    ) == pytest.approx(expected)


@pytest.mark.parametrize("grade", [0, 2])
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(),
        LGBMClassifier(verbose=-1, n_jobs=1),
        GaussianNB(),
        DecisionTreeClassifier(),
    ],
    **of_name,
)
def test_a_classifier_of_a_single_label_ranks_all_documents_the_same(model, grade, problem):
    X, _, qid = problem
    y = np.full(len(qid), grade)
    ranker = QueryRanker(model).fit(X, y, qid=qid)
    all_the_same = np.full(len(X), float(grade))
    np.testing.assert_array_equal(ranker.predict(X), all_the_same)
    assert ranker.score(X, y, qid=qid) == pytest.approx(float(grade > 0), abs=1e-12)


COLUMNS = {
    "reordered": (
        lambda frame: frame[list("dcba")],
        "must be in the same order as they were in fit",
    ),
    "renamed": (
        lambda frame: frame.rename(columns={"a": "z"}),
        r"unseen at fit time:\n- z\n.*now missing:\n- a",
    ),
    "missing": (lambda frame: frame[list("abc")], r"now missing:\n- d"),
    "added": (lambda frame: frame.assign(e=0.0), r"unseen at fit time:\n- e"),
}


@pytest.mark.parametrize(("change", "message"), COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize(
    "model", [*RANKERS, Ridge(), LGBMRegressor(n_estimators=2, verbose=-1)], **of_name
)
@pytest.mark.parametrize(
    "library", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=columns)], ids=["pd", "pl"]
)
def test_columns_must_be_those_of_the_fit(library, model, change, message, problem):
    X, y, qid = problem
    frame = pd.DataFrame(X, columns=list("abcd"))
    if not hasattr(Ridge().fit(library(X, columns=list("abcd")), y), "feature_names_in_"):
        pytest.skip("this scikit-learn does not read the names of these columns")
    other = change(frame)
    try:
        ranker = QueryRanker(model).fit(library(X, columns=list("abcd")), y, qid=qid)
    except CatBoostError:
        pytest.skip("this CatBoost does not take polars")
    with pytest.raises(
        ValueError, match=f"(?s)The feature names should match those that were passed.*{message}"
    ):
        ranker.predict(library(other.to_numpy(), columns=list(other)))
    # The order of a frame in memory can change the last digit of a product.
    same = ranker.predict(library(X, columns=list("abcd")))
    np.testing.assert_allclose(same, ranker.predict(frame), rtol=1e-12, atol=1e-12)


def test_a_pipeline_may_select_columns_by_name(problem):
    X, y, qid = problem
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(ColumnTransformer([("scale", StandardScaler(), ["a", "c"])]), Ridge())
    ranker = QueryRanker(model).fit(frame, y, qid=qid)
    np.testing.assert_array_equal(
        ranker.predict(frame[list("dcba")].assign(e=1.0)), ranker.predict(frame)
    )


def test_a_pickle_does_not_reveal_the_ids_of_the_fit(problem):
    X, y, qid = problem
    ids = np.array([f"person{number}@example.org" for number in qid])
    ranker = QueryRanker(Ridge()).fit(X, y, qid=ids)
    data = pickle.dumps(ranker)
    assert b"example" not in data
    assert all(
        int(value).to_bytes(8, "little") not in data for value in hash_ids(np.unique(ids))
    ), "and are salted"
    assert data == pickle.dumps(QueryRanker(Ridge()).fit(X, y, qid=ids))
    again = pickle.loads(data)
    assert again.n_queries_ == 30
    with pytest.warns(
        UserWarning, match="15 of the 15 scored queries were also in the training set"
    ):
        again.score(X[qid < 15], y[qid < 15], qid=ids[qid < 15])
    many = QueryRanker(Ridge()).fit(
        np.ones((10_000, 1)), np.ones(10_000), qid=np.char.mod("%040d", np.arange(10_000))
    )
    assert len(pickle.dumps(many)) < 20 * 10_000


def kernel(X, other):
    return np.exp(-((X[:, None] - other) ** 2).sum(axis=2))


@pytest.mark.parametrize("weighted", [False, True])
def test_precomputed_kernels(shuffled, weighted):
    X, y, qid = shuffled
    model = KernelRidge(kernel="precomputed")
    K = kernel(X, X)
    train = qid < "q20"
    weights = np.where(qid < "q10", 1.0, 3.0) if weighted else None
    of_train = None if weights is None else weights[train]
    expected = (
        clone(model)
        .fit(K[train][:, train], y[train], sample_weight=of_train)
        .predict(K[~train][:, train])
    )
    ranker = QueryRanker(model).fit(
        K[train][:, train], y[train], qid=qid[train], sample_weight=of_train
    )
    np.testing.assert_allclose(ranker.predict(K[~train][:, train]), expected, rtol=1e-9)


@pytest.mark.parametrize("make", [GridSearchCV, RacingSearchCV])
def test_searches_with_precomputed_kernels(shuffled, make):
    X, y, qid = shuffled
    options = {
        "scoring": ranking_scorers("map")["map"],
        "cv": QueryKFold(3),
        "error_score": "raise",
    }
    models = (
        QueryRanker(KernelRidge(kernel="precomputed")),
        QueryRanker(KernelRidge(kernel="rbf", gamma=1.0)),
    )
    found, expected = (make(model, {"estimator__alpha": [1.0, 9.0]}, **options) for model in models)
    found.fit(kernel(X, X), with_qid(y, qid))
    for name, values in expected.fit(X, with_qid(y, qid)).cv_results_.items():
        if name.startswith("split"):
            np.testing.assert_allclose(found.cv_results_[name], values, rtol=1e-9)


@pytest.mark.parametrize("deep", [False, True])
def test_a_parameter_of_the_booster_without_its_prefix_is_named(deep, problem):
    X, y, qid = problem
    ranker = QueryRanker(LGBMRanker(n_jobs=1))
    grid = {"num_leaves": [4, 8]}
    if deep:
        ranker, grid = make_pipeline(ranker), {"queryranker__num_leaves": [4, 8]}
    message = "no parameter 'num_leaves', but LGBMRanker has: write 'estimator__num_leaves'"
    with pytest.raises(ValueError, match=message):
        GridSearchCV(ranker, grid, cv=QueryKFold(2)).fit(X, with_qid(y, qid))
    with pytest.raises(ValueError, match="Invalid parameter 'leaves'"):
        QueryRanker(LGBMRanker()).set_params(leaves=3)
    with pytest.raises(ValueError, match=message):
        QueryRanker(Ridge()).set_params(estimator=LGBMRanker(), num_leaves=3)
    changed = QueryRanker(Ridge()).set_params(estimator=LGBMRanker(), estimator__num_leaves=5)
    assert changed.estimator.num_leaves == 5


@pytest.mark.parametrize("kind", [XGBRegressor, XGBClassifier, XGBRFRegressor, XGBModel])
@pytest.mark.filterwarnings("ignore:.XGBRFRegressor. is deprecated:FutureWarning")
def test_an_objective_that_ranks_needs_a_ranker(kind, problem):
    X, y, qid = problem
    message = f"objective='rank:pairwise' needs XGBRanker; {kind.__name__} ignores the queries"
    with pytest.raises(TypeError, match=message):
        QueryRanker(kind(objective="rank:pairwise")).fit(X, y, qid=qid)
    with pytest.raises(TypeError, match="needs XGBRanker; Pipeline ignores"):
        QueryRanker(make_pipeline(kind(objective="rank:pairwise"))).fit(X, y, qid=qid)


class OwnRanker(RegressorMixin, BaseEstimator):
    """Ranks by the first feature, and keeps what it is given."""

    def fit(self, X, y, *, qid, sample_weight=None):
        self.given_ = {"y": y, "qid": qid, "sample_weight": sample_weight}
        return self

    def predict(self, X):
        return X[:, :1]


def test_another_ranker_gets_one_number_per_row(shuffled):
    X, y, qid = shuffled
    weights = 1.0 + np.arange(len(y)) % 3
    ranker = QueryRanker(OwnRanker()).fit(X, y, qid=qid, sample_weight=weights)
    codes = pd.factorize(qid)[0]  # in order of first appearance
    order = np.argsort(codes, kind="stable")
    expected = {"y": y[order], "qid": codes[order], "sample_weight": weights[order]}
    assert ranker.estimator_.given_.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(ranker.estimator_.given_[name], value)


def test_predictions_in_one_column_are_scores(problem):
    X, y, qid = problem
    ranker = QueryRanker(OwnRanker()).fit(X, y, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X), X[:, 0])
    assert ranker.score(X, y, qid=qid) == ndcg_score(y, X[:, 0], qid=qid, k=10)


def with_queries_as(name):
    """A ranker of an unknown library whose fit takes queries by this name."""
    fit = {}
    exec(f"def fit(self, X, y, *, {name}): raise AssertionError", fit)
    return type("Unknown", (BaseEstimator,), {"fit": fit["fit"]})()


@pytest.mark.parametrize("name", ["group", "groups", "query_id", "group_id", "group_sizes"])
def test_names_that_may_mean_ids_or_sizes_are_refused(name, problem):
    X, y, qid = problem
    message = rf"Unknown\.fit takes {name}, which may mean ids or sizes.*fit\(X, y, qid=\)"
    with pytest.raises(TypeError, match=message):
        QueryRanker(with_queries_as(name)).fit(X, y, qid=qid)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: TransformedTargetRegressor(regressor=model),
        lambda model: BaggingRegressor(model),
        lambda model: GridSearchCV(model, {}),
        lambda model: RFE(model),
        lambda model: QueryRanker(model),
    ],
)
@pytest.mark.parametrize("model", [*RANKERS, OwnRanker()], **of_name)
def test_a_ranker_inside_another_estimator_is_refused(model, wrap, problem):
    X, y, qid = problem
    outer = wrap(model)
    message = f"got {type(outer).__name__} with {type(model).__name__} inside"
    with pytest.raises(TypeError, match=message):
        QueryRanker(outer).fit(X, y, qid=qid)

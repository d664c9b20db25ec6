"""Early stopping on queries that are held out: which ones, by which metric, and when it stops."""

import inspect

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostRanker, CatBoostRegressor
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.by_hand import fit as fit_by_hand
from support.rankers import RANKERS, RECORDED, of_name

from skrank_metrics import QueryKFold, QueryRanker, get_metric, with_qid

WATCHED = {
    "RecordedLGBMRanker": ("ndcg@10", get_metric("ndcg@10")),
    "RecordedXGBRanker": ("ndcg@10", get_metric("ndcg@10", convention="xgboost")),
    "RecordedCatBoostRanker": (
        "NDCG:top=10;type=Base",
        get_metric("ndcg@10", convention="catboost"),
    ),
}


def stopping(model, **params):
    """Stops within 200 rounds, on a quarter of the queries."""
    rounds = {"iterations": 200} if isinstance(model, CatBoostRanker) else {"n_estimators": 200}
    params = {"validation_fraction": 0.25, "early_stopping_rounds": 5, "random_state": 0} | params
    return QueryRanker(clone(model).set_params(**rounds), **params)


def held_out(fitted, X, qid):
    """The queries that the booster validated on, from the rows that it was given."""
    booster = fitted.estimator_
    found = np.isin(X[:, 0].astype(np.float32), booster.validation_rows)
    assert sorted(X[found, 0].astype(np.float32)) == sorted(booster.validation_rows)
    assert sorted(X[~found, 0].astype(np.float32)) == sorted(booster.fitted_rows)
    queries = set(qid[found].tolist())
    assert not queries & set(qid[~found].tolist()), "queries are held out as a whole"
    return queries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", RECORDED, **of_name)
def test_the_validation_curve_is_the_metric_of_the_queries_held_out_with_their_weights(
    model, weighted, problem
):
    X, y, qid = problem
    weights = np.where(qid % 3 == 0, 4.0, 0.5) if weighted else None
    fitted = stopping(model).fit(X, y, qid=qid, sample_weight=weights)
    held = np.isin(qid, list(held_out(fitted, X, qid)))
    booster = fitted.estimator_
    name, metric = WATCHED[type(model).__name__]
    curve = booster.curve()[name]
    first = np.unique(qid[held], return_index=True)[1]
    best = fitted.best_iteration_  # the boosters drop later trees
    staged = np.array(
        [metric(y[held], s, qid=qid[held], average=None) for s in booster.staged(X[held], best)]
    )
    of_query = np.ones(len(first)) if weights is None else weights[held][first]
    expected = staged @ of_query / of_query.sum()
    np.testing.assert_allclose(curve[:best], expected, rtol=0, atol=1e-6)
    assert best == curve.argmax() + 1
    if weighted:
        assert abs(curve[:best] - staged.mean(axis=1)).max() > 1e-3


@pytest.mark.option("QueryRanker.early_stopping_rounds")
@pytest.mark.parametrize("rounds", [1, 4, 12])
@pytest.mark.parametrize("model", RECORDED, **of_name)
def test_stops_after_so_many_rounds_without_a_better_value(model, rounds, problem):
    X, y, qid = problem
    fitted = stopping(model, early_stopping_rounds=rounds).fit(X, y, qid=qid)
    name_of_metric = WATCHED[type(model).__name__][0]
    curve = fitted.estimator_.curve()[name_of_metric]
    rounds_run = np.arange(len(curve))
    best_so_far = [curve[: i + 1].argmax() for i in rounds_run]
    since_best = rounds_run - best_so_far
    assert since_best.tolist().index(rounds) == len(curve) - 1, "the first time, and the end"
    assert fitted.best_iteration_ == len(curve) - rounds


@pytest.mark.option("QueryRanker.validation_fraction")
@pytest.mark.parametrize(
    ("fraction", "n_queries"), [(0.1, 3), (0.25, 8), (0.5, 15), (np.float32(0.8), 24)]
)
def test_the_share_held_out_is_one_of_queries(fraction, n_queries, problem):
    X, y, qid = problem
    fitted = stopping(RECORDED[0], validation_fraction=fraction).fit(X, y, qid=qid)
    assert len(held_out(fitted, X, qid)) == n_queries  # of 30
    assert fitted.n_queries_ == 30, "they took part in the fit"


@pytest.mark.slow
@pytest.mark.option("QueryRanker.random_state")
@pytest.mark.parametrize(
    "source", [int, np.random.RandomState, np.random.default_rng], ids=lambda one: one.__name__
)
def test_the_random_state_decides_which_queries_are_held_out(source, problem):
    X, y, qid = problem

    def drawn(seed):
        ranker = stopping(RECORDED[0], random_state=source(seed))
        return held_out(ranker.fit(X, y, qid=qid), X, qid)

    assert drawn(0) == drawn(0) != drawn(1)
    if source is int:
        anew = [stopping(RECORDED[0], random_state=None).fit(X, y, qid=qid) for _ in range(3)]
        assert len({frozenset(held_out(fitted, X, qid)) for fitted in anew}) > 1


@pytest.mark.parametrize("model", RECORDED, **of_name)
@pytest.mark.slow
def test_early_stopping_is_a_fit_of_the_booster_on_the_other_queries(model, problem):
    X, y, qid = problem
    weights = np.where(qid % 3 == 0, 4.0, 0.5)
    ranker = stopping(clone(model).set_params(learning_rate=0.1)).fit(
        X, y, qid=qid, sample_weight=weights
    )
    fitted = ~np.isin(qid, list(held_out(ranker, X, qid)))
    rounds = {
        "iterations"
        if isinstance(model, CatBoostRanker)
        else "n_estimators": ranker.best_iteration_
    }
    by_hand = clone(RANKERS[RECORDED.index(model)]).set_params(learning_rate=0.1, **rounds)
    expected = fit_by_hand(by_hand, X[fitted], y[fitted], qid[fitted], weights[fitted])
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))
    unweighted = stopping(model).fit(X, y, qid=qid)
    assert (unweighted.predict(X) != ranker.predict(X)).any()


@pytest.mark.parametrize("model", RANKERS, **of_name)
def test_early_stopping_on_a_frame_is_that_on_its_array(model, shuffled):
    X, y, qid = shuffled
    ranker = stopping(model).fit(pd.DataFrame(X, columns=list("abcd")), y, qid=qid)
    expected = stopping(model).fit(X, y, qid=qid)
    np.testing.assert_array_equal(
        ranker.predict(pd.DataFrame(X, columns=list("abcd"))), expected.predict(X)
    )
    assert ranker.best_iteration_ == expected.best_iteration_


@pytest.mark.parametrize(
    ("model", "metric", "name", "expected"),
    [
        (RECORDED[0], {"metric": "map"}, "map@3", get_metric("map@3", convention="lightgbm")),
        (RECORDED[0], {"metrics": "map"}, "map@3", get_metric("map@3", convention="lightgbm")),
        (RECORDED[1], {"eval_metric": "map@3"}, "map@3", get_metric("map@3", convention="xgboost")),
        (
            RECORDED[2],
            {"eval_metric": "MRR:top=3"},
            "MRR:top=3",
            get_metric("mrr@3", convention="catboost"),
        ),
    ],
    ids=["LGBMRanker", "LGBMRanker by its other name", "XGBRanker", "CatBoostRanker"],
)
def test_the_metric_that_the_booster_names_is_watched(model, metric, name, expected, problem):
    X, y, qid = problem
    relevant = (y > 1).astype(int)
    fitted = stopping(model).set_params(
        **{f"estimator__{key}": value for key, value in metric.items()}
    )
    booster = fitted.fit(X, relevant, qid=qid).estimator_
    held = np.isin(qid, list(held_out(fitted, X, qid)))
    best = fitted.best_iteration_
    values = [
        expected(relevant[held], scores, qid=qid[held]) for scores in booster.staged(X[held], best)
    ]
    np.testing.assert_allclose(booster.curve()[name][:best], values, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"early_stopping_rounds": None},
            TypeError,
            "early_stopping_rounds must be an int >= 1; got None",
        ),
        (
            {"validation_fraction": None},
            ValueError,
            "early_stopping_rounds requires either validation_fraction or exactly one validation set.*0 sets",
        ),
        (
            {"validation_fraction": 1.0},
            ValueError,
            r"validation_fraction must be a number in \(0, 1\); got 1.0",
        ),
        (
            {"validation_fraction": 0},
            ValueError,
            r"validation_fraction must be a number in \(0, 1\); got 0",
        ),
        (
            {"validation_fraction": "0.1"},
            TypeError,
            "validation_fraction must be a number in \\(0, 1\\); got '0.1'",
        ),
        (
            {"early_stopping_rounds": 0},
            ValueError,
            "early_stopping_rounds must be an int >= 1; got 0",
        ),
        (
            {"early_stopping_rounds": 2.5},
            TypeError,
            r"early_stopping_rounds must be an int >= 1; got 2.5 \(float\)",
        ),
        (
            {"estimator": Ridge()},
            TypeError,
            "must be LGBMRanker, XGBRanker or CatBoostRanker to stop early; got Ridge",
        ),
        (
            {"validation_fraction": 0.01},
            ValueError,
            "got 0 of 30 for validation. Fit on more",
        ),
        ({"validation_fraction": 0.99}, ValueError, "got 30 of 30 for validation"),
    ],
)
def test_early_stopping_that_cannot_be(params, error, message, problem):
    X, y, qid = problem
    with pytest.raises(error, match=message):
        stopping(RANKERS[0]).set_params(**params).fit(X, y, qid=qid)


@pytest.mark.parametrize("metric", [None, "ndcg"])
def test_rows_of_a_query_may_weigh_differently_in_lightgbm_when_it_stops_early(metric, problem):
    X, y, qid = problem
    weights = np.random.default_rng(0).integers(1, 9, len(y)) / 4
    model = stopping(RECORDED[0]).set_params(estimator__metric=metric)
    fitted = model.fit(X, y, qid=qid, sample_weight=weights)
    found = fitted.estimator_
    held = np.isin(qid, list(held_out(fitted, X, qid)))
    # LightGBM's own: a query weighs as much as its documents do on average.
    of_query = np.array([weights[qid == query].mean() for query in qid])
    watched = (
        get_metric("ndcg@10") if metric is None else get_metric("ndcg@5", convention="lightgbm")
    )
    scores = found.predict(X[held])
    expected = watched(y[held], scores, qid=qid[held], sample_weight=of_query[held])
    assert found.best_score_["valid_0"][f"ndcg@{watched.k}"] == pytest.approx(expected, rel=1e-6)


def test_which_queries_are_held_out_does_not_depend_on_the_order_of_rows(problem):
    X, y, qid = problem
    ids = np.char.mod("q%d", qid)
    model = stopping(RECORDED[0])
    expected = held_out(model.fit(X, y, qid=ids), X, ids)
    for order in (np.arange(len(y))[::-1], np.random.default_rng(0).permutation(len(y))):
        assert held_out(model.fit(X[order], y[order], qid=ids[order]), X, ids) == expected


def test_a_later_fit_without_early_stopping_has_no_best_iteration(problem):
    X, y, qid = problem
    ranker = stopping(RANKERS[0]).fit(X, y, qid=qid)
    assert hasattr(ranker, "best_iteration_")
    ranker.set_params(validation_fraction=None, early_stopping_rounds=None).fit(X, y, qid=qid)
    assert not hasattr(ranker, "best_iteration_")


PATIENCE = ("early_stopping_round", "early_stopping_rounds", "od_wait")


@pytest.mark.parametrize(("model", "parameter"), [*zip(RANKERS, PATIENCE, strict=True)])
def test_two_different_numbers_of_rounds_are_refused(model, parameter, problem):
    X, y, qid = problem
    booster = clone(model).set_params(**{parameter: 2})
    message = f"must not contradict {parameter} of the estimator; got 5 and 2"
    with pytest.raises(ValueError, match=message):
        stopping(booster).fit(X, y, qid=qid)
    assert stopping(booster, early_stopping_rounds=2).fit(X, y, qid=qid)


USED = {
    "rounds before, LightGBM": (RANKERS[0], "init_model", {}),
    "rounds before, CatBoost": (RANKERS[2], "init_model", {}),
    "at least so many, CatBoost": (RANKERS[2], None, {"best_model_min_trees": 30}),
}


@pytest.mark.parametrize(("model", "go_on_from", "params"), USED.values(), ids=USED)
def test_best_iteration_counts_the_rounds_that_predictions_use(model, go_on_from, params, problem):
    X, y, qid = problem
    before = {}
    if go_on_from:
        before[go_on_from] = QueryRanker(clone(model)).fit(X, y, qid=qid)
    fitted = stopping(clone(model).set_params(**params)).fit(X, y, qid=qid, **before)
    booster, best = fitted.estimator_, fitted.best_iteration_
    assert best >= 10
    if isinstance(model, CatBoostRanker):
        with_so_many = [booster.predict(X, ntree_end=n) for n in (best - 1, best)]
    else:
        with_so_many = [booster.booster_.predict(X, num_iteration=n) for n in (best - 1, best)]
    np.testing.assert_array_equal(fitted.predict(X), with_so_many[1])
    assert (fitted.predict(X) != with_so_many[0]).any()


WITHOUT_BEST = [
    (RANKERS[0], {"boosting": "dart"}, {}),
    (RANKERS[0], {"boosting_type": "dart"}, {}),
    (RANKERS[1], {"booster": "gblinear"}, {}),
    (RANKERS[1], {"booster": "dart"}, {}),
    (RANKERS[2], {"use_best_model": False}, {}),
    (RANKERS[2], {}, {"use_best_model": False}),
]


@pytest.mark.parametrize(("model", "params", "given"), WITHOUT_BEST)
def test_a_booster_whose_predictions_do_not_use_the_best_round_does_not_stop(
    model, params, given, problem
):
    X, y, qid = problem
    ((name, value),) = {**params, **given}.items()
    message = f"must be None with {name}={value!r}, whose predictions do not use the best"
    with pytest.raises(ValueError, match=message):
        stopping(clone(model).set_params(**params)).fit(X, y, qid=qid, **given)


def test_xgboost_does_not_stop_when_it_goes_on_from_another_model(problem):
    X, y, qid = problem
    before = QueryRanker(RANKERS[1]).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="must be None with xgb_model"):
        stopping(RANKERS[1]).fit(X, y, qid=qid, xgb_model=before)
    longer = QueryRanker(RANKERS[1]).fit(X, y, qid=qid, xgb_model=before).estimator_
    assert longer.get_booster().num_boosted_rounds() == 10 + 10


@pytest.mark.parametrize("model", RECORDED, **of_name)
def test_groups_are_held_out_whole(model, problem):
    X, y, qid = problem
    user = np.char.mod("user %d", qid % 7)
    ranker = stopping(model, validation_fraction=0.4)
    fitted = ranker.fit(X, y, qid=qid, groups=user)
    queries = held_out(fitted, X, qid)
    users = {f"user {query % 7}" for query in queries}
    assert queries == set(qid[np.isin(user, list(users))].tolist())
    assert len(users) == 3  # of 7
    assert fitted.n_queries_ == 30
    order = np.random.default_rng(0).permutation(len(y))
    again = ranker.fit(X[order], y[order], qid=qid[order], groups=user[order])
    assert held_out(again, X, qid) == queries
    in_labels = ranker.fit(X, with_qid(y, qid), groups=user)
    assert held_out(in_labels, X, qid) == queries


def test_a_group_that_cuts_a_query_cannot_be_held_out(problem):
    X, y, qid = problem
    half = np.arange(len(y)) % 2
    with pytest.raises(ValueError, match="groups must be constant within a query"):
        stopping(RANKERS[0]).fit(X, y, qid=qid, groups=half)
    assert QueryRanker(RANKERS[0]).fit(X, y, qid=qid, groups=half)


def test_a_callback_that_stops_early_contradicts(problem):
    X, y, qid = problem
    message = "early_stopping_rounds and a callback both say when to stop"
    with pytest.raises(ValueError, match=message):
        stopping(RANKERS[0]).fit(X, y, qid=qid, callbacks=[lightgbm.early_stopping(2)])
    model = clone(RANKERS[1]).set_params(callbacks=[xgboost.callback.EarlyStopping(rounds=3)])
    with pytest.raises(ValueError, match=message):
        stopping(model).fit(X, y, qid=qid)


def test_an_alias_of_the_patience_contradicts(problem):
    X, y, qid = problem
    model = clone(RANKERS[0]).set_params(n_iter_no_change=3)
    with pytest.raises(ValueError, match="must not contradict n_iter_no_change of the estimator"):
        stopping(model).fit(X, y, qid=qid)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RANKERS[0], "early_stopping_round"),
        (RANKERS[1], "early_stopping_rounds"),
        (RANKERS[2], "od_wait"),
        (RANKERS[2], "eval_fraction"),
        (CatBoostRegressor(verbose=0, allow_writing_files=False), "early_stopping_rounds"),
    ],
    ids=["LightGBM", "XGBoost", "CatBoost", "CatBoost by rows", "CatBoost as regressor"],
)
def test_a_booster_that_stops_needs_a_set(model, name, problem):
    X, y, qid = problem
    value = 0.2 if name == "eval_fraction" else 3
    with pytest.raises(ValueError, match=f"{name} of the estimator needs a validation set"):
        QueryRanker(clone(model).set_params(**{name: value})).fit(X, y, qid=qid)


@pytest.mark.parametrize("word", ["None", "null"])
def test_a_booster_without_metrics_of_its_own_is_watched_by_ndcg(word, problem):
    X, y, qid = problem
    expected = stopping(RANKERS[0]).fit(X, y, qid=qid)
    fitted = stopping(clone(RANKERS[0]).set_params(metric=word)).fit(X, y, qid=qid)
    assert fitted.estimator_.evals_result_ == expected.estimator_.evals_result_


# Estimators that hold out rows themselves


class Histogram(HistGradientBoostingRegressor):
    """Keeps what it is given."""

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        self.given_ = {"fit": X[:, 0], "X_val": X_val, "y_val": y_val, "weights": sample_weight_val}
        sets = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        return super().fit(X, y, sample_weight, **sets)


class OlderHistogram(HistGradientBoostingRegressor):
    """Has the interface of scikit-learn 1.6."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


takes_sets = pytest.mark.skipif(
    "X_val" not in inspect.signature(HistGradientBoostingRegressor.fit).parameters,
    reason="this scikit-learn takes no validation set",
)


@takes_sets
@pytest.mark.parametrize(("share", "n_queries"), [(0.2, 6), (0.5, 15)])
def test_histogram_boosting_holds_out_queries(share, n_queries, problem):
    X, y, qid = problem
    weights = np.where(qid % 3 == 0, 4.0, 0.5)
    order = np.random.default_rng(0).permutation(len(y))
    model = Histogram(early_stopping=True, validation_fraction=share, max_iter=300, random_state=0)
    ranker = QueryRanker(model, random_state=0)
    given = {"qid": qid[order], "sample_weight": weights[order]}
    fitted = ranker.fit(X[order], y[order], **given).estimator_
    held = np.isin(X[:, 0], fitted.given_["X_val"][:, 0])
    queries = set(qid[held])
    assert queries.isdisjoint(qid[~held])
    assert len(queries) == n_queries  # of 30
    in_order = order[np.isin(order, np.flatnonzero(held))]
    np.testing.assert_array_equal(fitted.given_["y_val"], y[in_order])
    np.testing.assert_array_equal(fitted.given_["weights"], weights[in_order])
    np.testing.assert_array_equal(np.sort(fitted.given_["fit"]), np.sort(X[~held, 0]))
    assert fitted.n_iter_ < 300


@takes_sets
def test_the_seed_of_histogram_boosting_makes_its_hold_out_reproducible(problem):
    X, y, qid = problem

    def held(seed):
        model = Histogram(early_stopping=True, max_iter=2, random_state=seed)
        return QueryRanker(model).fit(X, y, qid=qid).estimator_.given_["X_val"][:, 0].tolist()

    assert held(0) == held(0) != held(1)


@takes_sets
@pytest.mark.slow
def test_histogram_boosting_stops_on_new_queries_above_10_000_rows():
    random = np.random.default_rng(0)
    n = 10_400
    qid = np.repeat(np.arange(n // 40), 40)
    X = random.normal(size=(n, 5))
    effects = random.normal(size=n // 40)
    y = np.clip(np.round(X[:, 0] + effects[qid] + random.normal(size=n)), 0, 4)
    X[:, 1] = qid  # lets a model learn the effect of a query that it has seen
    fitted = QueryRanker(Histogram(random_state=0)).fit(X, y, qid=qid).estimator_
    assert set(fitted.given_["X_val"][:, 1]).isdisjoint(fitted.given_["fit"])
    alone = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    assert fitted.do_early_stopping_
    assert fitted.n_iter_ < alone.n_iter_
    few = QueryRanker(Histogram(random_state=0)).fit(X[:8000], y[:8000], qid=qid[:8000])
    assert few.estimator_.given_["X_val"] is None


OWN_HOLD_OUT = [
    OlderHistogram(early_stopping=True),
    MLPRegressor(early_stopping=True),
    SGDRegressor(early_stopping=True),
    GradientBoostingRegressor(n_iter_no_change=3),
    make_pipeline(StandardScaler(), HistGradientBoostingRegressor(early_stopping=True)),
    BaggingRegressor(SGDRegressor(early_stopping=True)),
]


@pytest.mark.parametrize("model", OWN_HOLD_OUT, **of_name)
def test_an_estimator_that_holds_out_rows_is_refused(model, problem):
    X, y, qid = problem
    with pytest.raises(
        ValueError, match=r"with .*=(True|3) holds out single rows, and not queries"
    ):
        QueryRanker(model).fit(X, y, qid=qid)


def test_an_estimator_may_stop_without_holding_out_rows(problem):
    X, y, qid = problem
    for model in (
        OlderHistogram(early_stopping=True, validation_fraction=None, max_iter=3),
        OlderHistogram(max_iter=3),
        SGDRegressor(),
        GradientBoostingRegressor(n_estimators=3),
    ):
        QueryRanker(model).fit(X, y, qid=qid)


def test_a_default_that_holds_out_rows_warns_once_in_a_search():
    random = np.random.default_rng(0)
    X = random.normal(size=(21_000, 1))
    qid = np.repeat(np.arange(2100), 10)
    labels = with_qid((X[:, 0] > 0).astype(int), qid)
    model = QueryRanker(OlderHistogram(max_iter=2, max_leaf_nodes=3))
    grid = {"estimator__max_iter": [1, 2]}
    with pytest.warns(UserWarning, match="early_stopping='auto' holds out single rows") as found:
        GridSearchCV(model, grid, cv=QueryKFold(3), refit=False).fit(X, labels)
    assert len([one for one in found if "single rows" in str(one.message)]) == 1

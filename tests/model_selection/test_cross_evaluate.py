import json
import tracemalloc
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from catboost import CatBoostRanker
from joblib import parallel_config
from lightgbm import LGBMRanker
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, PredefinedSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRanker

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    compare,
    cross_evaluate,
    evaluate,
    make_metric,
    ndcg_score,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.datasets import make_ranking
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.metrics import get_metrics
from skrank_metrics.reports.ranking_report import with_queries

X, Y, QID = make_ranking(60, random_state=0)
CV = QueryKFold(3)
MODELS = {
    "ridge": Ridge(),
    "lightgbm": QueryRanker(LGBMRanker(n_estimators=10, verbose=-1, n_jobs=1)),
    "pipeline": make_pipeline(StandardScaler(), QueryRanker(LogisticRegression())),
}


REVENUE = make_metric(lambda y_true, price: price[0], name="revenue", documents=["price"])


@pytest.fixture(scope="module")
def result():
    return cross_evaluate(MODELS, X, Y, qid=QID, cv=CV)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_folds_are_those_of_cross_validate(result, name):
    options = {
        "cv": CV,
        "scoring": ranking_scorers("ndcg@10", "map", "mrr"),
        "params": {"groups": QID},
    }
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(MODELS[name], X, Y, **options)
    for metric in result.metrics:
        np.testing.assert_allclose(
            result.by_metric(metric).fold_means()[name], found[f"test_{metric}"], atol=1e-12
        )


@pytest.mark.option("cross_evaluate.cv", "cross_evaluate.qid")
def test_each_query_is_scored_by_the_model_that_did_not_see_it(result):
    for number, (train, test) in enumerate(CV.split(X, Y, QID)):
        scores = Ridge().fit(X[train], Y[train]).predict(X[test])
        np.testing.assert_allclose(result.scores["ridge"][test], scores)
        expected = evaluate(Y[test], scores, qid=QID[test])
        report = result.reports["ridge"]
        inside = result.folds == number
        values = dict(zip(report.qid[inside], report.per_query["map"][inside], strict=True))
        assert values == pytest.approx(
            dict(zip(expected.qid, expected.per_query["map"], strict=True))
        )


def test_both_aggregates_are_shown_and_named(result):
    means = result.by_metric("map").fold_means()["ridge"]
    row = result.to_frame().loc["ridge"]
    assert row["map"] == result.reports["ridge"].mean["map"]
    assert "ridge is best in " in " ".join(str(result).split())
    text = " ".join(str(result.details()).split())
    of_metrics = [result.by_metric(metric).fold_means()["ridge"] for metric in result.metrics]
    cells = [f"{own.mean():.4f} ± {own.std():.4f}" for own in of_metrics]
    assert f"ridge {' '.join(cells)}" in text
    assert result.to_dict()["ridge"]["map"]["mean"] == row["map"]
    assert row["map"] == pytest.approx(means.mean(), abs=0.01)
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()
    assert repr(result) == "<CrossEvaluation: 3 rankings by ndcg@10, map, mrr, 60 queries>"


def test_means_over_folds_of_many_metrics():
    metrics = ["ndcg@10", "map", "mrr", "recall@5", "precision@5", "err", "rbp"]
    found = cross_evaluate(MODELS["ridge"], X, Y, qid=QID, cv=CV, metrics=metrics)
    text = " ".join(str(found.details()).split())
    assert all(
        f"{found.by_metric(metric).fold_means()['Ridge'].mean():.4f} ±" in text
        for metric in metrics
    )
    assert max(map(len, str(found.details()).splitlines())) <= 80


def test_negative_labels_if_only_their_order_counts():
    means = [
        cross_evaluate(
            MODELS["ridge"], X, y, qid=QID, cv=CV, metrics=["spearman", "kendall_tau"]
        ).means()["Ridge"]
        for y in (Y, Y - 2.0)
    ]
    assert means[0] == pytest.approx(means[1])


def test_a_single_model_is_reported_without_a_verdict(result):
    found = cross_evaluate(MODELS["ridge"], X, Y, qid=QID, cv=CV)
    assert found.verdict == ""
    assert str(found).startswith("1 model, 60 queries, 3 folds")
    assert ", 3 folds\n" in str(found)
    np.testing.assert_array_equal(found.fold_means()["Ridge"], result.fold_means()["ridge"])


def test_models_are_compared_as_compare_does(result):
    expected = compare(result.reports, ["ndcg@10", "map", "mrr"])
    for pair in expected.by_metric("map").pairs():
        own = result.by_metric("map").pair(pair.first, pair.second)
        assert own.difference == pair.difference
        assert own.p_value == pair.p_value, "folds belong to reports"


def test_compare_keeps_the_class_folds_and_scores(result):
    gate = compare(result, "map", baseline="ridge", margin=0.01)
    assert type(gate) is type(result)
    assert gate.scores is result.scores
    assert gate.folds.tolist() == result.folds.tolist()
    assert gate.plan == Plan("ridge", 0.01)
    standings = result.by_metric("map").standings()
    assert gate.metrics == ("map",)
    assert gate.names[0] == standings[0].name


def test_folds_that_vary_more_than_queries_decide():
    # Every query of a fold has the same difference, of another size in each fold.
    qid = np.repeat(np.arange(90), 2)
    y = np.tile([1, 0], 90)
    fold = qid % 3
    known_later = np.where(fold > 0, y, 0)
    X_of = np.column_stack([y, known_later]).astype(float)
    splits = PredefinedSplit(fold)

    class Column(Ridge):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return X[:, int(self.alpha)]

    models = {"a": Column(0), "b": Column(1)}
    found = cross_evaluate(models, X_of, y, qid=qid, cv=splits, metrics="mrr")
    means = found.fold_means()
    assert means["a"] == pytest.approx([1, 1, 1])
    assert means["b"] == pytest.approx([0.75, 1, 1])
    assert found.folds_won == {"a": 1, "b": 0}, "nobody wins a tie"
    without = {name: with_queries(report, folds=None) for name, report in found.reports.items()}
    assert compare(without).pair().p_value < 0.001
    assert found.pair().p_value > 0.3
    assert compare(found.reports).pair().p_value == found.pair().p_value
    assert "Results vary more between folds than chance explains" in " ".join(str(found).split())


@pytest.mark.option("cross_evaluate.groups", "cross_evaluate.by")
@pytest.mark.option("cross_evaluate.convention", "cross_evaluate.metrics")
def test_reports_are_those_of_evaluate(result):
    users = QID // 4
    kind = QID % 2
    price = np.arange(len(Y))
    cost = make_metric(lambda y_true, price: price[0], name="cost", documents=["price"])
    metrics = get_metrics("ndcg@10", cost, ties="worst", replace_undefined_by=0.5)
    options = {"convention": "lightgbm", "metrics": metrics, "by": kind}
    is_judged = np.arange(len(Y)) % 5 > 0
    carried = {"documents": {"price": price}, "judged": is_judged}
    labels = with_qid(Y, QID, **carried)
    found = cross_evaluate(Ridge(), X, labels, cv=CV, groups=users, **options)
    expected = evaluate(Y, found.scores["Ridge"], qid=QID, groups=users, **options, **carried)
    report = found.reports["Ridge"]
    for name, values in expected.per_query.items():
        np.testing.assert_array_equal(report.per_query[name], values)
    assert report.by.tolist() == expected.by.tolist()
    assert report.groups.tolist() == expected.groups.tolist()
    user_of_query = found.qid // 4
    by_user = [set(found.folds[user_of_query == user]) for user in set(users)]
    assert all(len(folds) == 1 for folds in by_user), "users are kept together"
    assert result.reports["ridge"].groups is None


@pytest.mark.parametrize("ids", ["qid", "index", "shuffled"])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_containers_and_ways_of_ids(result, container, ids):
    order = np.arange(len(Y))
    if ids == "shuffled":
        order = np.random.default_rng(0).permutation(len(Y))
    rows = container(X[order])
    y, qid = Y[order], QID[order]
    if ids == "index":
        y, qid = with_qid(y, qid), None
    model = Ridge(solver="lsqr", tol=1e-12)
    found = cross_evaluate(model, rows, y, qid=qid, cv=CV)
    assert found.reports["Ridge"].mean == pytest.approx(result.reports["ridge"].mean, abs=1e-6)


@pytest.mark.option("cross_evaluate.n_jobs", "cross_evaluate.verbose")
@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_jobs_and_progress(n_jobs, result, capsys):
    options = {"qid": QID, "cv": CV, "n_jobs": n_jobs}
    for verbose in (None, 0, 1):
        with parallel_config("threading"):
            found = cross_evaluate(Ridge(), X, Y, verbose=verbose, **options)
        np.testing.assert_array_equal(found.scores["Ridge"], result.scores["ridge"])
        done = "3 of 3 models fitted (100%), 0 s left\n"
        assert capsys.readouterr() == ("", done if verbose else "")


def test_progress_counts_the_fits_of_all_models_and_repetitions(capsys):
    models = {"one": Ridge(), "other": Ridge(9)}
    cv = RepeatedQueryKFold(3, n_repeats=2)
    cross_evaluate(models, X, Y, qid=QID, cv=cv, verbose=1)
    assert capsys.readouterr().err == "12 of 12 models fitted (100%), 0 s left\n"


def test_queries_that_are_never_tested_are_left_out():
    retrieved = np.arange(len(Y)) % 3 > 0
    documents = {"price": np.arange(len(Y))}  # left out with the queries
    y = with_qid(Y, QID, retrieved=retrieved, documents=documents)
    found = cross_evaluate(Ridge(), X, y, cv=QueryTimeSeriesSplit(3), metrics="map")
    tested = ~np.isnan(found.scores["Ridge"])
    assert 0 < tested.sum() < len(Y)
    expected = evaluate(
        Y[tested],
        found.scores["Ridge"][tested],
        qid=QID[tested],
        retrieved=retrieved[tested],
        metrics="map",
    )
    np.testing.assert_array_equal(
        found.reports["Ridge"].per_query["map"], expected.per_query["map"]
    )
    assert np.unique(found.folds).tolist() == [0, 1, 2]


def test_names_of_models_become_text():
    found = cross_evaluate({1: Ridge(), None: Ridge(1e5)}, X, Y, qid=QID, cv=CV, metrics="map")
    assert sorted(found.reports) == sorted(found.scores) == ["1", "None"]
    with pytest.raises(
        ValueError, match="estimators must have different names; got '1' more than once"
    ):
        cross_evaluate({1: Ridge(), "1": Ridge()}, X, Y, qid=QID, cv=CV)


@pytest.mark.option("cross_evaluate.params")
def test_params_go_to_those_who_request_them():
    weights = np.where(QID < 30, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True)
    found = cross_evaluate(model, X, Y, qid=QID, cv=CV, params={"sample_weight": weights})
    train, test = next(CV.split(X, Y, QID))
    weighted = Ridge().fit(X[train], Y[train], sample_weight=weights[train])
    expected = weighted.predict(X[test])
    np.testing.assert_allclose(found.scores["Ridge"][test], expected)


def test_a_validation_set_as_long_as_the_rows_stays_whole():
    X_val, labels = X[::-1].copy(), with_qid(Y[::-1], QID[::-1] + 1000)
    booster = LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1)
    ranker = QueryRanker(booster, early_stopping_rounds=3)
    options = {"qid": QID, "cv": CV, "metrics": "ndcg@10"}
    two = cross_evaluate(ranker, X, Y, params={"X_val": X_val, "y_val": labels}, **options)
    one = cross_evaluate(ranker, X, Y, params={"eval_set": [(X_val, labels)]}, **options)
    np.testing.assert_array_equal(two.scores["QueryRanker"], one.scores["QueryRanker"])


@pytest.mark.option("cross_evaluate.response_method", "cross_evaluate.metrics")
def test_response_method_and_weights_of_the_reports():
    binary = (Y > 1).astype(int)
    weights = np.where(QID < 30, 4.0, 0.5)
    model = LogisticRegression(max_iter=1000)
    options = {"response_method": "predict_proba", "metrics": "ndcg@10"}
    labels = with_qid(binary, QID, sample_weight=weights)
    found = cross_evaluate(model, X, labels, cv=CV, **options)
    folds = []
    for train, test in CV.split(X, binary, QID):
        fitted = clone(model).fit(X[train], binary[train])
        scores = fitted.predict_proba(X[test])[:, 1]
        np.testing.assert_array_equal(found.scores["LogisticRegression"][test], scores)
        folds.append(
            ndcg_score(binary[test], scores, qid=QID[test], k=10, sample_weight=weights[test])
        )
    np.testing.assert_allclose(found.fold_means()["LogisticRegression"], folds, rtol=1e-12)


def test_values_that_are_no_columns_are_passed_on_whole():
    class Recorder(Ridge):
        given: ClassVar[list] = []

        def fit(self, X, y, *, eval_set=None, callbacks=None, row_cost=None):
            self.given.append((eval_set, callbacks, row_cost))
            return super().fit(X, y)

    with sklearn.config_context(enable_metadata_routing=True):
        model = Recorder().set_fit_request(eval_set=True, callbacks=True, row_cost=True)
    params = {
        "eval_set": [(X[:5], Y[:5])],
        "callbacks": [print] * len(X),
        "row_cost": list(range(len(X))),
    }
    cross_evaluate(model, X, Y, qid=QID, cv=CV, params=params)
    for (eval_set, callbacks, row_cost), (train, _) in zip(
        Recorder.given, CV.split(X, Y, QID), strict=True
    ):
        assert eval_set is params["eval_set"]
        assert callbacks is params["callbacks"]
        assert row_cost == train.tolist()


def test_rows_of_further_columns_are_checked_by_their_labels_or_taken_by_position():
    column = pd.Series(np.where(QID < 30, 1.0, 0.1))
    frame = pd.DataFrame(X).set_axis(3 * np.arange(len(X)))
    given = {"by": column, "params": {"sample_weight": column}}
    model = QueryRanker(Ridge(1e4))
    options = {"qid": QID, "cv": CV, "metrics": "map"}
    found = cross_evaluate(model, frame, Y, **given, **options).scores["QueryRanker"]
    expected = cross_evaluate(
        model, X, Y, params={"sample_weight": column.to_numpy()}, **options
    ).scores["QueryRanker"]
    np.testing.assert_allclose(found, expected)
    column.index = frame.index[::-1]
    for name, value in given.items():
        with pytest.raises(ValueError, match="must have the same index as X"):
            cross_evaluate(model, frame, Y, **{name: value}, **options)


def test_a_bare_ranker_takes_its_ids():
    with sklearn.config_context(enable_metadata_routing=True):
        model = XGBRanker(n_estimators=5, n_jobs=1).set_fit_request(qid=True)
    bare = cross_evaluate(model, X, Y, qid=QID, cv=CV)
    wrapped = cross_evaluate(QueryRanker(XGBRanker(n_estimators=5, n_jobs=1)), X, Y, qid=QID, cv=CV)
    np.testing.assert_array_equal(bare.scores["XGBRanker"], wrapped.scores["QueryRanker"])


def test_ids_can_be_groups_alone(result):
    found = cross_evaluate(Ridge(), X, Y, cv=CV, groups=QID)
    np.testing.assert_array_equal(found.scores["Ridge"], result.scores["ridge"])
    assert found.reports["Ridge"].mean == result.reports["ridge"].mean
    users = cross_evaluate(Ridge(), X, with_qid(Y, QID), cv=CV, groups=QID // 4)
    assert users.reports["Ridge"].qid.tolist() == result.reports["ridge"].qid.tolist()
    splits = list(CV.split(X, groups=QID))
    with pytest.raises(ValueError, match="every query whole; got an iterable of"):
        cross_evaluate(Ridge(), X, Y, qid=QID, cv=splits, groups=QID // 4)


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("this was to be noticed before anything is fitted")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"estimators": {}},
            TypeError,
            "estimators must be an estimator or a dict of estimators; got {}",
        ),
        (
            {"estimators": [Ridge()]},
            TypeError,
            r"an estimator or a dict of estimators; got \[Ridge",
        ),
        ({"qid": None}, TypeError, "cross_evaluate needs the query id of each document"),
        ({"qid": QID[:-1]}, ValueError, "qid must have the same length as y; got"),
        (
            {"cv": KFold(3)},
            ValueError,
            r"cv must keep every query whole; got KFold\(n_splits=3.*fold 0 has",
        ),
        (
            {"cv": QueryShuffleSplit(3, random_state=0)},
            ValueError,
            "cv must test all queries equally often; got query .* tested less often than query",
        ),
        (
            {
                "cv": [
                    (np.flatnonzero(QID >= 5), np.flatnonzero(np.isin(QID, range(n))))
                    for n in (5, 3)
                ]
            },
            ValueError,
            "got query 3, tested less often than query 0",
        ),
        (
            {"response_method": "rank"},
            ValueError,
            "The 'response_method' parameter .* must be .* Got 'rank'",
        ),
        (
            {"metrics": REVENUE},
            ValueError,
            r"metric 'revenue' needs documents=\.\.\. with the column 'price'",
        ),
        ({"y": -Y}, ValueError, "y_true contains -2"),
        ({"metrics": "ndgc"}, ValueError, "Did you mean 'ndcg'"),
        (
            {"estimators": make_pipeline(XGBRanker())},
            TypeError,
            "take query ids in fit; got XGBRanker",
        ),
        ({"estimators": CatBoostRanker()}, TypeError, "take query ids in fit; got CatBoostRanker"),
        (
            {"params": {"sampel_weight": Y}},
            TypeError,
            "unexpected keyword argument 'sampel_weight'",
        ),
        (
            {"estimators": LogisticRegression()},
            ValueError,
            "one score per document; got 5 columns, one per",
        ),
    ],
)
def test_bad_input_is_noticed_before_anything_is_fitted(change, error, message):
    with pytest.raises(error, match=message):
        cross_evaluate(**{"estimators": NeverFitted(), "X": X, "y": Y, "qid": QID, **change})


@pytest.mark.option("cross_evaluate.cv")
def test_repeated_folds_average_the_values_of_each_query():
    cv = RepeatedQueryKFold(3, n_repeats=2, random_state=0)
    splits = list(cv.split(X, Y, qid=QID))
    metrics = ["ndcg@3", "precision@2"]
    models = {"ridge": Ridge(), "flat": Ridge(1e9)}
    options = {"qid": QID, "metrics": metrics}
    found = cross_evaluate(models, X, Y, cv=cv, **options)
    once = cross_evaluate(models, X, Y, cv=splits[:3], **options)
    again = cross_evaluate(models, X, Y, cv=splits[3:], **options)
    for name in models:
        for metric in metrics:
            both = [one.reports[name].per_query[metric] for one in (once, again)]
            values = found.reports[name].per_query[metric]
            assert values == pytest.approx(np.mean(both, axis=0), nan_ok=True)
        assert not np.array_equal(once.scores[name], again.scores[name])
        mean = (once.scores[name] + again.scores[name]) / 2
        assert found.scores[name] == pytest.approx(mean)
    np.testing.assert_array_equal(found.folds, once.folds)
    first, second = found.pair().first, found.pair().second
    differences = [one.pair(first, second).difference for one in (once, again)]
    assert found.pair().difference == pytest.approx(np.mean(differences))
    assert "2 models" in str(found)


class Declines(Ridge):
    """Returns the documents above the mean of those that it was fitted on."""

    def fit(self, X, y, sample_weight=None):
        self.mean_ = X[:, 0].mean()
        return super().fit(X, y)

    def predict(self, X):
        scores = X[:, 0]
        return np.where(scores < self.mean_, np.nan, scores)


def test_pooled_values_of_repeated_folds_weigh_queries_by_what_all_repetitions_returned():
    cv = RepeatedQueryKFold(3, n_repeats=3, random_state=0)
    metric = "precision(divisor=retrieved, average=micro)"
    scorers = ranking_scorers(metric, retrieved="scored")
    found = cross_evaluate(Declines(), X, Y, qid=QID, cv=cv, metrics=scorers)
    report = found.reports["Declines"]
    n_returned, n_relevant = np.zeros((2, 3, len(report.qid)))
    for number, (train, test) in enumerate(cv.split(X, Y, qid=QID)):
        is_returned = X[test, 0] >= X[train, 0].mean()
        for place, query in enumerate(report.qid):
            own = is_returned & (QID[test] == query)
            n_returned[number // 3, place] += own.sum()
            n_relevant[number // 3, place] += (Y[test][own] > 0).sum()
    values = np.divide(n_relevant, n_returned, out=np.zeros_like(n_relevant), where=n_returned > 0)
    assert np.ptp(n_returned, axis=0).any()
    expected = np.average(values.mean(axis=0), weights=n_returned.mean(axis=0))
    assert next(iter(report.mean.values())) == pytest.approx(expected)


class Nothing(Ridge):
    """Copies no rows."""

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return X[:, 0]


@pytest.mark.parametrize(("is_sorted", "largest"), [(True, 0.9), (False, 1.7)])
def test_rows_are_copied_only_for_a_fold_and_to_sort_them(is_sorted, largest):
    n_rows = 5_000
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_rows // 10), 10)
    qid = qid if is_sorted else rng.permutation(qid)
    rows = rng.random((n_rows, 500))
    labels = np.tile([1, 0], n_rows // 2)
    options = {"qid": qid, "cv": QueryKFold(5), "metrics": "ndcg@10"}
    cross_evaluate(
        QueryRanker(Nothing()), rows[:100], labels[:100], **{**options, "qid": qid[:100]}
    )
    tracemalloc.start()
    cross_evaluate(QueryRanker(Nothing()), rows, labels, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Four fifths of the rows are training rows; if shuffled, they are copied once more.
    assert peak < largest * rows.nbytes

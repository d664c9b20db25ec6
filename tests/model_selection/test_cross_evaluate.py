import threading
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
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRanker

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    compare,
    cross_evaluate,
    evaluate,
    ndcg_score,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.datasets import make_ranking

X, Y, QID = make_ranking(60, random_state=0)
CV = QueryKFold(3)
MODELS = {
    "ridge": Ridge(),
    "lightgbm": QueryRanker(LGBMRanker(n_estimators=10, verbose=-1, n_jobs=1)),
    "pipeline": make_pipeline(StandardScaler(), QueryRanker(LogisticRegression())),
}


@pytest.fixture(scope="module")
def result():
    return cross_evaluate(MODELS, X, Y, qid=QID, cv=CV)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_folds_are_those_of_cross_validate(result, name):
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            MODELS[name], X, Y, cv=CV, scoring=ranking_scorers("ndcg@10", "map", "mrr"), params={"groups": QID}
        )
    for metric, values in result.folds[name].items():
        np.testing.assert_allclose(values, found[f"test_{metric}"], atol=1e-12)


@pytest.mark.option("cross_evaluate.cv", "cross_evaluate.qid")
def test_each_query_is_scored_by_the_model_that_did_not_see_it(result):
    for number, (train, test) in enumerate(CV.split(X, Y, QID)):
        scores = Ridge().fit(X[train], Y[train]).predict(X[test])
        np.testing.assert_allclose(result.scores["ridge"][test], scores)
        expected = evaluate(Y[test], scores, qid=QID[test])
        inside = result.fold == number
        assert set(result.reports["ridge"].qid[inside]) == set(QID[test])
        values = dict(zip(expected.qid, expected.per_query["map"], strict=True))
        np.testing.assert_allclose(
            result.reports["ridge"].per_query["map"][inside],
            [values[query] for query in result.reports["ridge"].qid[inside]],
        )


def test_both_aggregates_are_shown_and_named(result):
    report = result.reports["ridge"]
    frame = result.to_frame().set_index(["model", "metric"])
    assert frame.loc[("ridge", "map"), "mean over queries"] == report.mean["map"]
    assert frame.loc[("ridge", "map"), "mean over folds"] == result.folds["ridge"]["map"].mean()
    lines = str(result).splitlines()
    assert " ".join(str(result).split()).startswith(result.leaderboard.verdict)
    assert "60 queries out of fold, 3 folds" in lines
    low, high = report.intervals()["map"]
    folds = result.folds["ridge"]["map"]
    assert ["ridge", "map", f"{folds.mean():.4f}", f"{folds.std():.4f}"] in [line.split() for line in lines]
    assert frame.loc[("ridge", "map"), ["low", "high"]].tolist() == [low, high]
    assert frame.loc[("ridge", "map"), "std over folds"] == folds.std()
    assert f"{report.mean['map']:.4f}" in result._repr_html_()


def test_results_can_be_compared(result):
    ranked = {name: result.reports[name] for name in result.leaderboard.reports}
    expected = compare(ranked, "map", random_state=0)
    assert result.leaderboard.compare("map").to_frame().equals(expected.to_frame())
    assert [pair.n_queries for pair in compare(result.reports, "map").pairs] == [60] * 3


@pytest.mark.parametrize("ids", ["qid", "index", "shuffled"])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_containers_and_ways_of_ids(result, container, ids):
    y, qid = (with_qid(Y, QID), None) if ids == "index" else (Y, QID)
    order = np.random.default_rng(0).permutation(len(Y)) if ids == "shuffled" else np.arange(len(Y))
    qid = None if qid is None else qid[order]
    y = y.iloc[order] if ids == "index" else y[order]
    found = cross_evaluate(Ridge(solver="lsqr", tol=1e-12), container(X[order]), y, qid=qid, cv=CV)
    assert found.reports["Ridge"].mean == pytest.approx(result.reports["ridge"].mean, abs=1e-6)


@pytest.mark.slow
def test_processes_give_the_same(result):
    found = cross_evaluate({"lightgbm": MODELS["lightgbm"]}, X, Y, qid=QID, cv=CV, n_jobs=2)
    np.testing.assert_array_equal(found.scores["lightgbm"], result.scores["lightgbm"])


class InThread(Ridge):
    """Notes the thread that it is fitted in."""

    threads: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.threads.append(threading.get_ident())
        return super().fit(X, y, sample_weight)


@pytest.mark.option("cross_evaluate.n_jobs")
def test_jobs_run_beside_each_other(result):
    for n_jobs, elsewhere in ((1, False), (None, False), (2, True)):
        InThread.threads.clear()
        with parallel_config("threading"):
            found = cross_evaluate(InThread(), X, Y, qid=QID, cv=CV, n_jobs=n_jobs)
        assert len(InThread.threads) == 3  # folds
        assert (threading.get_ident() not in InThread.threads) == elsewhere
        np.testing.assert_array_equal(found.scores["InThread"], result.scores["ridge"])


def test_queries_that_are_never_tested_are_left_out():
    found = cross_evaluate(Ridge(), X, Y, qid=QID, cv=QueryTimeSeriesSplit(3), metrics="map")
    tested = ~np.isnan(found.scores["Ridge"])
    assert 0 < tested.sum() < len(Y)
    expected = evaluate(Y[tested], found.scores["Ridge"][tested], qid=QID[tested], metrics="map")
    np.testing.assert_array_equal(found.reports["Ridge"].per_query["map"], expected.per_query["map"])
    assert np.unique(found.fold).tolist() == [0, 1, 2]


def test_names_of_models_become_text():
    found = cross_evaluate({1: Ridge(), None: Ridge(1e5)}, X, Y, qid=QID, cv=CV, metrics="map")
    assert list(found.reports) == list(found.scores) == ["1", "None"]
    assert "Ship " in str(found)
    with pytest.raises(ValueError, match="estimators must have different names; got '1' more than once"):
        cross_evaluate({1: Ridge(), "1": Ridge()}, X, Y, qid=QID, cv=CV)


@pytest.mark.option("cross_evaluate.params")
def test_params_go_to_those_who_request_them():
    weights = np.where(QID < 30, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True)
    found = cross_evaluate(model, X, Y, qid=QID, cv=CV, params={"sample_weight": weights})
    train, test = next(CV.split(X, Y, QID))
    expected = Ridge().fit(X[train], Y[train], sample_weight=weights[train]).predict(X[test])
    np.testing.assert_allclose(found.scores["Ridge"][test], expected)


def test_the_table_says_why_there_is_no_interval_and_that_it_is_weighted():
    # Every query has one document and the label 1, so all values are equal; DCG has no bound above.
    X, y, qid = np.ones((6, 1)), np.ones(6), np.arange(6)
    options = {"qid": qid, "cv": QueryKFold(3), "metrics": ["dcg", "mrr"]}
    plain = cross_evaluate(Ridge(), X, y, **options)
    weighted = cross_evaluate(Ridge(), X, y, sample_weight=[0, 1, 0, 1, 2, 2], **options)
    reason = "none for fewer than two queries with a value, or for an unbounded metric with equal values."
    method = "Intervals: Student's t over queries; they ignore the variance from retraining"
    for found in (plain, weighted):
        text = " ".join(str(found).split())
        assert "dcg 1.0000 none 1.0000 0.0000" in text
        assert f"{method}; {reason}" in text
    assert "Weighted" not in str(plain)
    assert str(weighted).endswith("Weighted by sample_weight, 2 queries with weight 0.")
    fold_without_weight = cross_evaluate(Ridge(), X, y, sample_weight=[0, 1, 1, 0, 2, 2], **options)
    assert "Means over folds are nan if a fold has no value with a weight above 0." in str(fold_without_weight)
    assert "nan" not in str(weighted)
    assert "none" not in str(cross_evaluate(Ridge(), X, y, **{**options, "metrics": "mrr"}))


@pytest.mark.option("cross_evaluate.response_method", "cross_evaluate.sample_weight", "cross_evaluate.metrics")
def test_response_method_and_weights_of_the_reports():
    binary, weights = (Y > 1).astype(int), np.where(QID < 30, 4.0, 0.5)
    model = LogisticRegression(max_iter=1000)
    options = {"response_method": "predict_proba", "sample_weight": weights, "metrics": "ndcg@10"}
    found = cross_evaluate(model, X, binary, qid=QID, cv=CV, **options)
    folds = []
    for train, test in CV.split(X, binary, QID):
        scores = clone(model).fit(X[train], binary[train]).predict_proba(X[test])[:, 1]
        np.testing.assert_array_equal(found.scores["LogisticRegression"][test], scores)
        folds.append(ndcg_score(binary[test], scores, qid=QID[test], k=10, sample_weight=weights[test]))
    np.testing.assert_allclose(found.folds["LogisticRegression"]["ndcg@10"], folds, rtol=1e-12)
    with pytest.raises(ValueError, match="sample_weight must be constant within a query"):
        cross_evaluate(NeverFitted(), X, Y, qid=QID, cv=CV, sample_weight=np.arange(1.0, len(Y) + 1))


def test_groups_are_what_is_kept_together():
    users = QID // 4
    found = cross_evaluate(Ridge(), X, Y, qid=QID, cv=CV, params={"groups": users})
    folds_of_users = [set(found.fold[found.reports["Ridge"].qid // 4 == user]) for user in set(users)]
    assert all(len(folds) == 1 for folds in folds_of_users)


def test_a_bare_ranker_takes_its_ids():
    with sklearn.config_context(enable_metadata_routing=True):
        model = XGBRanker(n_estimators=5, n_jobs=1).set_fit_request(qid=True)
    bare = cross_evaluate(model, X, Y, qid=QID, cv=CV)
    wrapped = cross_evaluate(QueryRanker(XGBRanker(n_estimators=5, n_jobs=1)), X, Y, qid=QID, cv=CV)
    np.testing.assert_array_equal(bare.scores["XGBRanker"], wrapped.scores["QueryRanker"])


def test_ids_can_be_groups_alone(result):
    for params in ({"groups": QID}, {"qid": QID}):
        given = dict(params)
        found = cross_evaluate(Ridge(), X, Y, cv=CV, params=params)
        assert params == given, "they are passed again by the next call"
        np.testing.assert_array_equal(found.scores["Ridge"], result.scores["ridge"])
        assert found.reports["Ridge"].mean == result.reports["ridge"].mean
    users = cross_evaluate(Ridge(), X, with_qid(Y, QID), cv=CV, params={"groups": QID // 4})
    assert users.reports["Ridge"].qid.tolist() == result.reports["ridge"].qid.tolist()
    with pytest.raises(ValueError, match="qid must be passed once"):
        cross_evaluate(Ridge(), X, Y, qid=QID, params={"qid": QID})
    with pytest.raises(ValueError, match="every query and group whole; got an iterable of"):
        cross_evaluate(Ridge(), X, Y, qid=QID, cv=list(CV.split(X, groups=QID)), params={"groups": QID // 4})


@pytest.mark.parametrize("ranker", [LGBMRanker(), XGBRanker(), CatBoostRanker(), make_pipeline(LGBMRanker())], ids=type)
def test_a_bare_ranker_that_gets_no_ids_is_refused_before_anything_is_fitted(ranker):
    kind = "LGBMRanker" if hasattr(ranker, "steps") else type(ranker).__name__
    with pytest.raises(
        TypeError, match=rf"got {kind} as 'bare', which does not\. Pass QueryRanker\({kind}\(\.\.\.\)\)"
    ):
        cross_evaluate({"first": NeverFitted(), "bare": ranker}, X, Y, qid=QID)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"estimators": {}}, ValueError, "estimators must hold at least one estimator; got none"),
        ({"estimators": [Ridge()]}, TypeError, "estimators must be an estimator or a dict of estimators; got list"),
        ({"qid": None}, TypeError, "cross_evaluate needs the query id of each document"),
        ({"qid": QID[:-1]}, ValueError, "qid must have the same length as y; got"),
        ({"cv": KFold(3)}, ValueError, r"cv must keep every query whole; got KFold\(n_splits=3.*fold 0 has"),
        ({"cv": RepeatedQueryKFold(n_splits=3)}, ValueError, "cv must test every query at most once; got query"),
        ({"metrics": "ndgc"}, ValueError, "Did you mean 'ndcg'"),
        ({"estimators": LogisticRegression()}, ValueError, "one score per document; got 5 columns, one per"),
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        cross_evaluate(**{"estimators": Ridge(), "X": X, "y": Y, "qid": QID, **change})


def test_rows_that_were_shuffled_without_the_others():
    X_frame, y, qid = pd.DataFrame(X), pd.Series(Y), pd.Series(QID)
    with pytest.raises(ValueError, match="qid must have the same index as X; got the same labels in different orders"):
        cross_evaluate(Ridge(), X_frame, y, qid=qid[::-1], cv=CV)
    with pytest.raises(ValueError, match="y must have the same index as X; got the same labels in different orders"):
        cross_evaluate(Ridge(), X_frame, y[::-1], qid=qid[::-1], cv=CV)


def test_a_model_that_fails_ends_it():
    with pytest.raises(ValueError, match="alpha"):
        cross_evaluate(Ridge(alpha=-1), X, Y, qid=QID)


@pytest.mark.option("cross_evaluate.verbose")
def test_progress_is_that_of_joblib(capsys):
    cross_evaluate(Ridge(), X, Y, qid=QID, cv=CV)
    assert capsys.readouterr() == ("", "")
    cross_evaluate(Ridge(), X, Y, qid=QID, cv=CV, verbose=10)
    assert "3 out of   3" in capsys.readouterr().err


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("this was to be noticed before anything is fitted")


@pytest.mark.parametrize("change", [{"metrics": "ndgc"}, {"qid": QID[:-1]}, {"y": -Y}])
def test_bad_input_is_noticed_before_anything_is_fitted(change):
    with pytest.raises(ValueError, match=r"ndcg|length|finite"):
        cross_evaluate(**{"estimators": NeverFitted(), "X": X, "y": Y, "qid": QID, **change})


def test_queries_of_the_first_fold_that_are_tested_again():
    few = [(np.flatnonzero(QID >= 5), np.flatnonzero(QID < 5))]
    with pytest.raises(ValueError, match="query 0 in fold 0 and in fold 1"):
        cross_evaluate(Ridge(), X, Y, qid=QID, cv=2 * few)

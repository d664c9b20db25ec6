"""What people combine: shuffled frames with string ids, weights in searches, polars, splitting by user."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from lightgbm import LGBMRanker
from sklearn.model_selection import GridSearchCV, cross_validate
from xgboost import XGBRanker

from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, ndcg_score, with_qid
from skrank_metrics.datasets import load_digits_retrieval


@pytest.fixture(scope="module")
def digits():
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(qid < 60))
    return X[rows], y[rows], np.char.mod("query-%03d", qid[rows])


def ranker():
    return QueryRanker(LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1))


def by_hand(model, X, y, qid, weights=None):
    scores = []
    for train, test in QueryKFold(3).split(X, groups=qid):
        weight = {} if weights is None else {"sample_weight": weights[train]}
        fitted = sklearn.base.clone(model).fit(X[train], y[train], qid=qid[train], **weight)
        weight = {} if weights is None else {"sample_weight": weights[test]}
        scores.append(ndcg_score(y[test], fitted.predict(X[test]), qid=qid[test], k=10, **weight))
    return scores


def search_scores(X, y, **keywords):
    search = GridSearchCV(
        ranker(), {"estimator__num_leaves": [31]}, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(3)
    ).fit(X, y, **keywords)
    return [search.cv_results_[f"split{split}_test_score"][0] for split in range(3)]


@pytest.mark.slow
def test_a_shuffled_frame_of_pandas(digits):
    X, y, qid = digits
    frame = pd.DataFrame(X).add_prefix("f").assign(grade=y, query=qid).set_axis(np.arange(len(y))[::-1])
    features = frame.filter(like="f")
    expected = by_hand(ranker(), X, y, qid)
    assert search_scores(features, with_qid(frame["grade"], frame["query"])) == expected
    with sklearn.config_context(enable_metadata_routing=True):
        assert search_scores(features, frame["grade"], groups=frame["query"]) == expected


@pytest.mark.slow
def test_frames_of_polars(digits):
    X, y, qid = digits
    frame = pl.DataFrame(X, schema=[f"f{i}" for i in range(X.shape[1])]).with_columns(grade=y, query=qid)
    features, grade, query = frame.drop("grade", "query"), frame["grade"], frame["query"]
    model = QueryRanker(sklearn.linear_model.Ridge())
    expected = by_hand(model, X, y, qid)
    scorer = make_ranking_scorer("ndcg@10")
    off = cross_validate(model, features, with_qid(grade, query), scoring=scorer, cv=QueryKFold(3))["test_score"]
    np.testing.assert_allclose(off, expected, rtol=0, atol=1e-12)
    with sklearn.config_context(enable_metadata_routing=True):
        params = {"groups": query}
        on = cross_validate(model, features, grade, scoring=scorer, cv=QueryKFold(3), params=params)["test_score"]
    np.testing.assert_array_equal(on, off)


@pytest.mark.slow
@pytest.mark.parametrize("model", [LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1), XGBRanker(n_estimators=5)])
def test_weights_reach_fit_and_score(model, digits):
    X, y, qid = digits
    weights = np.where(qid < "query-030", 5.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = QueryRanker(model).set_fit_request(sample_weight=True)
        scorer = make_ranking_scorer("ndcg@10").set_score_request(qid=True, groups=True, sample_weight=True)
        params = {"groups": qid, "sample_weight": weights}
        found = cross_validate(weighted, X, y, scoring=scorer, cv=QueryKFold(3), params=params)["test_score"]
    np.testing.assert_allclose(found, by_hand(QueryRanker(model), X, y, qid, weights), rtol=0, atol=1e-12)
    assert (found != by_hand(QueryRanker(model), X, y, qid)).all()

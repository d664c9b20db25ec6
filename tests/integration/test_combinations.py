"""What people combine: shuffled frames with string ids, weights in searches, polars, worker processes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from joblib import parallel_backend
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate

import skrank_metrics as package
from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, ndcg_score, with_qid
from skrank_metrics.datasets import load_digits_retrieval


@pytest.fixture(scope="module")
def digits():
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(qid < 60))
    return X[rows], y[rows], np.char.mod("query-%03d", qid[rows])


LIGHTGBM = LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1)


def by_hand(model, X, y, qid, weights=None):
    scores = []
    weights = np.ones(len(y)) if weights is None else weights
    for train, test in QueryKFold(3).split(X, groups=qid):
        fitted = sklearn.base.clone(model).fit(
            X[train], y[train], qid=qid[train], sample_weight=weights[train]
        )
        given = {"qid": qid[test], "sample_weight": weights[test]}
        scores.append(ndcg_score(y[test], fitted.predict(X[test]), k=10, **given))
    return scores


def as_pandas(X, y, qid):
    frame = (
        pd.DataFrame(X).add_prefix("f").assign(grade=y, query=qid).set_axis(np.arange(len(y))[::-1])
    )
    return frame.filter(like="f"), frame["grade"], frame["query"]


def as_polars(X, y, qid):
    return (
        pl.DataFrame(X, schema=[f"f{i}" for i in range(X.shape[1])]),
        pl.Series(y),
        pl.Series(qid),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("model", "as_frame"), [(LIGHTGBM, as_pandas), (Ridge(), as_polars)])
def test_shuffled_frames_and_weights(model, as_frame, digits):
    features, grade, query = as_frame(*digits)
    options = {"scoring": make_ranking_scorer("ndcg@10"), "cv": QueryKFold(3)}
    off = cross_validate(QueryRanker(model), features, with_qid(grade, query), **options)[
        "test_score"
    ]
    np.testing.assert_allclose(off, by_hand(QueryRanker(model), *digits), rtol=0, atol=1e-12)
    weights = np.where(digits[2] < "query-030", 5.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        on = cross_validate(
            QueryRanker(model), features, grade, params={"groups": query}, **options
        )["test_score"]
        weighted = QueryRanker(model).set_fit_request(sample_weight=True)
        options["scoring"].set_score_request(qid=True, groups=True, sample_weight=True)
        params = {"groups": query, "sample_weight": weights}
        found = cross_validate(weighted, features, grade, params=params, **options)["test_score"]
    np.testing.assert_array_equal(on, off)
    np.testing.assert_allclose(
        found, by_hand(QueryRanker(model), *digits, weights), rtol=0, atol=1e-12
    )
    assert (found != off).all()


@pytest.mark.slow
@pytest.mark.clusters
def test_two_worker_processes_give_identical_results(on_dask, digits):
    X, y, qid = digits
    names = ("ndcg@10", "map", "mrr")
    options = {
        "scoring": package.ranking_scorers(*names),
        "refit": False,
        "cv": QueryKFold(3),
        "error_score": "raise",
    }
    grid = {"estimator__num_leaves": [7, 15]}
    searches = [
        kind(QueryRanker(LIGHTGBM), grid, **options)
        for kind in (GridSearchCV, package.model_selection.RacingSearchCV)
    ]
    here = [search.fit(X, with_qid(y, qid)).cv_results_ for search in searches]
    with parallel_backend("dask"):
        there = [search.fit(X, with_qid(y, qid)).cv_results_ for search in searches]
    for one, other in zip(here, there, strict=True):
        for name in [f"split{split}_test_{name}" for name in names for split in range(3)]:
            np.testing.assert_array_equal(other[name], one[name])

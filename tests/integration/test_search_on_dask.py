"""A search spread over worker processes gives the numbers of a search in this one."""

import numpy as np
import pytest
from joblib import parallel_backend
from lightgbm import LGBMRanker
from sklearn.model_selection import GridSearchCV

from skrank_metrics import QueryKFold, QueryRanker, RacingSearchCV, ranking_scorers, with_qid
from skrank_metrics.datasets import load_digits_retrieval

NAMES = ("ndcg@10", "map", "mrr")


@pytest.mark.slow
@pytest.mark.clusters
def test_two_worker_processes_give_identical_results(on_dask):
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    rows = qid < 40
    options = {"scoring": ranking_scorers(*NAMES), "refit": False, "cv": QueryKFold(3), "error_score": "raise"}
    model, grid = QueryRanker(LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1)), {"estimator__num_leaves": [7, 15]}
    searches = [kind(model, grid, **options) for kind in (GridSearchCV, RacingSearchCV)]
    labels = with_qid(y[rows], qid[rows])
    here = [search.fit(X[rows], labels).cv_results_ for search in searches]
    with parallel_backend("dask"):
        there = [search.fit(X[rows], labels).cv_results_ for search in searches]
    for one, other in zip(here, there, strict=True):
        for name in NAMES:
            for split in range(3):
                np.testing.assert_array_equal(other[f"split{split}_test_{name}"], one[f"split{split}_test_{name}"])

"""A search spread over worker processes gives the numbers of a search in this one."""

import numpy as np
import pytest
from joblib import parallel_backend
from lightgbm import LGBMRanker
from sklearn.model_selection import GridSearchCV

from skrank_metrics import QueryKFold, QueryRanker, ranking_scorers, with_qid
from skrank_metrics.datasets import load_digits_retrieval

distributed = pytest.importorskip("distributed")

NAMES = ("ndcg@10", "map", "mrr")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # what a cluster warns of while it starts and stops is its own
def test_two_worker_processes_give_identical_results():
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    rows = qid < 40
    search = GridSearchCV(
        QueryRanker(LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1)),
        {"estimator__num_leaves": [7, 15]},
        scoring=ranking_scorers(*NAMES),
        refit=False,
        cv=QueryKFold(3),
        error_score="raise",
    )
    labels = with_qid(y[rows], qid[rows])
    here = search.fit(X[rows], labels).cv_results_
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        parallel_backend("dask"),
    ):
        there = search.fit(X[rows], labels).cv_results_
    for name in NAMES:
        for split in range(3):
            np.testing.assert_array_equal(there[f"split{split}_test_{name}"], here[f"split{split}_test_{name}"])

"""Searches of LightGBM over rows of many features, for the guard of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from lightgbm import LGBMRanker
from sklearn.model_selection import GridSearchCV

from skrank_metrics import QueryKFold, QueryRanker, cross_evaluate, make_ranking_scorer, with_qid

N_FEATURES, N_TREES, RATES = 136, 10, (0.05, 0.1)


def rows(n_rows: int, *, is_sorted: bool) -> tuple[Any, Any, Any]:
    """Queries of about 100 documents, sorted by query or shuffled."""
    rng = np.random.default_rng(0)
    qid = np.sort(rng.integers(0, n_rows // 100, n_rows))
    if not is_sorted:
        rng.shuffle(qid)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    y = np.clip(np.round(X[:, 0] + rng.standard_normal(n_rows)), 0, 4)
    return X, y, qid


def search(way: str, X: Any, y: Any, qid: Any) -> None:
    """Fit two candidates on five folds, in a search of scikit-learn or by ``cross_evaluate``."""
    ranker = QueryRanker(LGBMRanker(n_estimators=N_TREES, verbose=-1, n_jobs=1))
    if way == "cross_evaluate":
        models = {str(rate): ranker for rate in RATES}
        cross_evaluate(models, X, y, qid=qid, cv=QueryKFold(5), metrics="ndcg@10")
        return
    grid = {"estimator__learning_rate": list(RATES)}
    scorer = make_ranking_scorer("ndcg@10")
    GridSearchCV(ranker, grid, scoring=scorer, cv=QueryKFold(5), refit=False).fit(
        X, with_qid(y, qid)
    )

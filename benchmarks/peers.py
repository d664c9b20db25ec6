"""What others take for the same number: each builds its structures first, so that only the evaluation is timed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Call = Callable[[], object]


def lightgbm(y_true: Array, y_score: Array, qid: Array) -> Call:
    import lightgbm

    sizes = np.unique(qid, return_counts=True)[1]
    rows = lightgbm.Dataset(np.zeros((len(qid), 1)), y_true, group=sizes, init_score=y_score, free_raw_data=False)
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": 10, "num_threads": 1, "verbose": -1}
    booster = lightgbm.Booster({**params, "feature_pre_filter": False}, rows)
    return booster.eval_train


def xgboost(y_true: Array, y_score: Array, qid: Array) -> Call:
    import xgboost

    rows = xgboost.DMatrix(np.zeros((len(qid), 1)), y_true, qid=qid, base_margin=y_score, nthread=1)
    params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": 1, "base_score": 0.0}
    booster = xgboost.train(params, rows, num_boost_round=0)
    booster.eval(rows)  # fills the cache of predictions
    return lambda: booster.eval(rows)


def catboost(y_true: Array, y_score: Array, qid: Array) -> Call:
    from catboost.utils import eval_metric

    return lambda: eval_metric(y_true, y_score, "NDCG:top=10", group_id=qid, thread_count=1)


def scikit_learn_loop(y_true: Array, y_score: Array, qid: Array) -> Call:
    from sklearn.metrics import ndcg_score

    starts = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]])
    lists = list(zip(np.split(y_true, starts[1:]), np.split(y_score, starts[1:]), strict=True))
    return lambda: np.mean([ndcg_score([y], [s], k=10) for y, s in lists if len(y) > 1])


AVAILABLE = [
    peer
    for peer in (lightgbm, xgboost, catboost, scikit_learn_loop)
    if peer is scikit_learn_loop or importlib.util.find_spec(peer.__name__)
]

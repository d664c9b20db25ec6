"""What others take for the same number: each builds its structures first, so that only the evaluation is timed."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Rows
from benchmarks.timing import Call

Array = NDArray[Any]


def lightgbm(rows: Rows) -> Call:
    import lightgbm

    y_true, y_score, qid = rows
    sizes = np.unique(qid, return_counts=True)[1]
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": 10,
        "num_threads": 1,
        "verbose": -1,
    }
    features = np.arange(len(qid))[:, None] % 7
    data = lightgbm.Dataset(
        features, y_true, group=sizes, init_score=y_score, params={"verbose": -1, "num_threads": 1}
    )
    return lightgbm.Booster(params, data).eval_train


def xgboost(rows: Rows, metric: str = "ndcg@10") -> Call:
    import xgboost

    y_true, y_score, qid = rows
    labels = y_true if metric.startswith("ndcg") else (y_true > 0).astype(float)
    data = xgboost.DMatrix(np.zeros((len(qid), 1)), labels, qid=qid, base_margin=y_score, nthread=1)
    params = {"objective": "rank:ndcg", "eval_metric": metric, "nthread": 1, "base_score": 0.0}
    booster = xgboost.train(params, data, num_boost_round=0)
    booster.eval(data)  # fills the cache of predictions
    return lambda: booster.eval(data)


def catboost(rows: Rows) -> Call:
    from catboost.utils import eval_metric

    y_true, y_score, qid = rows
    return lambda: eval_metric(y_true, y_score, "NDCG:top=10", group_id=qid, thread_count=1)


def pytrec_eval(rows: Rows) -> Call:
    import pytrec_eval

    labels, scores = _dicts(rows[0].astype(int), rows[2]), _dicts(rows[1], rows[2])
    evaluator = pytrec_eval.RelevanceEvaluator(labels, {"ndcg_cut.10"})
    return lambda: evaluator.evaluate(scores)


def ranx(rows: Rows) -> Call:
    from ranx import Qrels, Run, evaluate

    labels, run = Qrels(_dicts(rows[0].astype(int), rows[2])), Run(_dicts(rows[1], rows[2]))
    evaluate(labels, run, "ndcg@10", threads=1)  # compiles
    return lambda: evaluate(labels, run, "ndcg@10", threads=1)


def scikit_learn_loop(rows: Rows) -> Call:
    from sklearn.metrics import ndcg_score

    y_true, y_score, qid = rows
    ends = np.flatnonzero(qid[1:] != qid[:-1]) + 1
    lists = list(zip(np.split(y_true, ends), np.split(y_score, ends), strict=True))
    return lambda: np.mean([ndcg_score([y], [s], k=10) for y, s in lists if len(y) > 1])


def c_kernel(rows: Rows) -> Call:
    """A plain scalar loop, compiled on the spot."""
    source = Path(__file__).with_name("kernel.c")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        subprocess.run(
            [
                _compiler() or "cc",
                "-O3",
                "-march=native",
                "-shared",
                "-fPIC",
                "-o",
                library,
                source,
            ],
            check=True,
        )
        mean_ndcg = ctypes.CDLL(str(library)).mean_ndcg
    mean_ndcg.restype = ctypes.c_double
    y_true, y_score, qid = rows[0].astype(np.float64), *rows[1:]
    starts = np.concatenate([[0], np.flatnonzero(qid[1:] != qid[:-1]) + 1, [len(qid)]])
    weights = 1 / np.log2(np.arange(2.0, 12.0))
    pointers = [
        array.ctypes.data_as(ctypes.c_void_p) for array in (y_true, y_score, starts, weights)
    ]
    return lambda: mean_ndcg(*pointers[:3], ctypes.c_ssize_t(len(starts) - 1), 10, pointers[3])


def _dicts(values: Array, qid: Array) -> dict[str, dict[str, Any]]:
    ends = np.flatnonzero(qid[1:] != qid[:-1]) + 1
    return {
        f"q{query}": {f"d{document}": value for document, value in enumerate(part.tolist())}
        for query, part in enumerate(np.split(values, ends))
    }


def _compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def available() -> list[tuple[str, Callable[[Rows], Call]]]:
    """Names and builders of the peers that are installed here."""
    peers = {
        "LightGBM": lightgbm,
        "XGBoost": xgboost,
        "CatBoost": catboost,
        "pytrec_eval": pytrec_eval,
        "ranx": ranx,
    }
    found: list[tuple[str, Callable[[Rows], Call]]] = [
        (name, peer) for name, peer in peers.items() if importlib.util.find_spec(peer.__name__)
    ]
    if _compiler():
        found.append(("a plain C loop", c_kernel))
    return [*found, ("a loop over scikit-learn's ndcg_score", scikit_learn_loop)]

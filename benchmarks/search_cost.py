"""``python -m benchmarks.search_cost [--rows N]``: memory and time of a search beyond boosting, against a loop by hand.

Each way runs in a process of its own: two candidates on five folds, LightGBM, 136 features in float32. "Beyond
boosting" is the processor time outside of LightGBM's ``fit`` and ``predict``.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMRanker
from sklearn.model_selection import GridSearchCV

from benchmarks.timing import machine
from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    RacingSearchCV,
    cross_evaluate,
    make_ranking_scorer,
    ndcg_score,
    with_qid,
)

N_FEATURES, N_TREES, RATES = 136, 10, (0.05, 0.1)
WAYS = ("hand", "grid", "race", "cross_evaluate")
boosting = 0.0  # seconds


class Timed(LGBMRanker):
    """Adds up the processor time of boosting."""

    def fit(self, X: Any, y: Any, **given: Any) -> Any:  # type: ignore[override]
        """Fit, and count the time."""
        return timed(super().fit, X, y, **given)

    def predict(self, X: Any, **given: Any) -> Any:  # type: ignore[override]
        """Predict, and count the time."""
        return timed(super().predict, X, **given)


def timed(call: Callable[..., Any], *arguments: Any, **given: Any) -> Any:
    global boosting
    started = time.process_time()
    result = call(*arguments, **given)
    boosting += time.process_time() - started
    return result


def data(n_rows: int, *, is_sorted: bool) -> tuple[Any, Any, Any]:
    """Queries of about 100 documents, sorted by query or shuffled."""
    rng = np.random.default_rng(0)
    qid = np.sort(rng.integers(0, n_rows // 100, n_rows))
    if not is_sorted:
        rng.shuffle(qid)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    y = np.clip(np.round(X[:, 0] + rng.standard_normal(n_rows)), 0, 4)
    return X, y, qid


def by_hand(X: Any, y: Any, qid: Any) -> list[float]:
    """The loop that people write: sort all rows by query, and score each fold."""
    if (np.diff(qid) < 0).any():
        order = np.argsort(qid, kind="stable")
        X, y, qid = X[order], y[order], qid[order]
    fold_of_query = np.random.default_rng(0).integers(0, 5, qid.max() + 1)
    scores = []
    for rate in RATES:
        for fold in range(5):
            test = fold_of_query[qid] == fold
            sizes = np.unique(qid[~test], return_counts=True)[1]
            model = Timed(n_estimators=N_TREES, learning_rate=rate, verbose=-1, n_jobs=1)
            model.fit(X[~test], y[~test], group=sizes)
            scores.append(ndcg_score(y[test], model.predict(X[test]), qid=qid[test], k=10))
    return scores


def run(way: str, X: Any, y: Any, qid: Any) -> None:
    ranker = QueryRanker(Timed(n_estimators=N_TREES, verbose=-1, n_jobs=1))
    if way == "hand":
        by_hand(X, y, qid)
    elif way == "cross_evaluate":
        models = {str(rate): ranker for rate in RATES}
        cross_evaluate(models, X, y, qid=qid, cv=QueryKFold(5), metrics="ndcg@10")
    else:
        kind = {"grid": GridSearchCV, "race": RacingSearchCV}[way]
        options = {"scoring": make_ranking_scorer("ndcg@10"), "cv": QueryKFold(5), "refit": False}
        search = kind(ranker, {"estimator__learning_rate": list(RATES)}, **options)
        search.fit(X, with_qid(y, qid))


def peak() -> float:
    """Largest memory of this process so far, in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s*([0-9]+) kB", status)
    return int(found[1]) / 1024 if found else float("nan")


def measure(way: str, n_rows: int, *, is_sorted: bool) -> None:
    """Print the memory above that of the data, seconds beyond boosting, and of boosting."""
    X, y, qid = data(n_rows, is_sorted=is_sorted)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    base, started = peak(), time.process_time()
    run(way, X, y, qid)
    total = time.process_time() - started
    print(json.dumps([peak() - base, total - boosting, boosting]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--shuffled", action="store_true")
    given = parser.parse_args()
    if given.way:
        measure(given.way, given.rows, is_sorted=not given.shuffled)
        return
    print(machine())
    print(
        f"\n{given.rows:,} rows x {N_FEATURES} float32, {given.rows * N_FEATURES * 4 / 2**20:.0f} MB\n"
    )
    print("| rows | way | MB above the data | beyond boosting, s | of boosting |")
    print("|---|---|--:|--:|--:|")
    for order in ([], ["--shuffled"]):
        for way in WAYS:
            command = [sys.executable, "-m", "benchmarks.search_cost", "--way", way, *order]
            command += ["--rows", str(given.rows)]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            memory, beyond, trees = json.loads(found)
            name = "shuffled" if order else "sorted"
            share = f"{beyond / trees:.1%}"
            print(f"| {name} | {way} | {memory:.0f} | {beyond:.2f} | {share} |", flush=True)


if __name__ == "__main__":
    main()

"""``python -m benchmarks``: time NDCG@10 against the C++ of the boosters and scikit-learn's loop, on one thread."""

from __future__ import annotations

import os

# Before NumPy is imported: every competitor gets one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

from benchmarks import peers
from benchmarks.data import msl_like
from skrank_metrics import ndcg_score

ROUNDS = 15


def interleaved(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median time of each call in ms; calls take turns, so that noise of the machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            times[name].append(1e3 * (time.perf_counter() - started))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    y_true, y_score, qid = msl_like()
    print(
        f"{len(y_true):,} documents, {qid[-1] + 1:,} queries; one thread; {platform.processor() or platform.machine()}"
    )
    print("versions: " + ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "skrank-metrics")))
    shuffled = np.random.default_rng(1).permutation(len(y_true))
    calls: dict[str, Callable[[], object]] = {
        "skrank_metrics": lambda: ndcg_score(y_true, y_score, qid=qid, k=10),
        "skrank_metrics, ties in every query": lambda: ndcg_score(y_true, y_score.round(1), qid=qid, k=10),
        "skrank_metrics, rows shuffled": lambda: ndcg_score(
            y_true[shuffled], y_score[shuffled], qid=qid[shuffled], k=10
        ),
        "reading both arrays": lambda: y_true.sum() + y_score.sum(),
    }
    for peer in peers.AVAILABLE:
        calls[peer.__name__] = peer(y_true, y_score, qid)
    medians = interleaved(calls, ROUNDS)
    ours = medians["skrank_metrics"]
    print(f"\n{'NDCG@10, median of ' + str(ROUNDS):<38}      ms   times ours")
    for name, median in sorted(medians.items(), key=lambda item: item[1]):
        print(f"{name:<38}{median:>8.1f}{median / ours:>13.2f}")


if __name__ == "__main__":
    main()

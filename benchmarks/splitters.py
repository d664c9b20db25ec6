"""``python -m benchmarks.splitters``: time and balance of folds against scikit-learn's, on heavy-tailed queries."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from skrank_metrics import QueryKFold

ROUNDS = 5
Array = NDArray[Any]


def heavy_tailed(n_queries: int = 30_000, mean: int = 100, seed: int = 0) -> tuple[Array, Array]:
    """Labels and sorted ids; the longest queries have thousands of documents, and many have nothing relevant."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(1, rng.lognormal(np.log(mean) - 1.2**2 / 2, 1.2, n_queries).astype(int))
    chance = np.repeat(rng.beta(0.6, 3, n_queries), sizes)
    return (rng.random(len(chance)) < chance).astype(int), np.repeat(np.arange(n_queries), sizes)


def balance(tests: list[Array], y: Array, qid: Array) -> tuple[float, int, float, float]:
    """How far folds are off at most: documents in %, queries, share relevant in %, share of empty queries in points."""
    n_queries = qid[-1] + 1
    documents = np.array([len(test) for test in tests])
    present = [np.bincount(qid[test], minlength=n_queries) > 0 for test in tests]
    queries = np.array([p.sum() for p in present])
    relevant = np.array([y[test].mean() for test in tests])
    empty = np.bincount(qid, weights=y) == 0
    without = np.array([empty[p].mean() for p in present])
    return (
        100 * float(abs(documents / documents.mean() - 1).max()),
        int(np.ptp(queries)),
        100 * float(abs(relevant / y.mean() - 1).max()),
        100 * float(abs(without - empty.mean()).max()),
    )


def measured(splitter: Any, y: Array, qid: Array, rounds: int) -> tuple[float, list[Array]]:
    """Shortest time in ms, and the test parts."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        tests = [test for _, test in splitter.split(y, y, groups=qid)]
        times.append(1e3 * (time.perf_counter() - started))
    return min(times), tests


def main() -> None:
    y, qid = heavy_tailed()
    print(
        f"{len(y):,} documents, {qid[-1] + 1:,} queries, the longest of {np.bincount(qid).max():,}; five folds\n"
    )
    ours = {
        s: QueryKFold(5, stratify=s, shuffle=True, random_state=0)
        for s in (None, "relevance", "size", "both")
    }
    splitters = {
        "GroupKFold": (GroupKFold(5), ROUNDS),
        "StratifiedGroupKFold": (StratifiedGroupKFold(5, shuffle=True, random_state=0), 1),
        **{f"QueryKFold, stratify={name!r}": (splitter, ROUNDS) for name, splitter in ours.items()},
    }
    print(f"{'largest difference from the mean, or (queries) between folds':>72}")
    print(f"{'':<34}{'ms':>8}  documents %  queries  relevant %  without relevant, points")
    for name, (splitter, rounds) in splitters.items():
        milliseconds, tests = measured(splitter, y, qid, rounds)
        documents, queries, relevant, without = balance(tests, y, qid)
        print(
            f"{name:<34}{milliseconds:>8.0f}{documents:>13.3f}{queries:>9}{relevant:>12.3f}{without:>26.3f}"
        )


if __name__ == "__main__":
    main()

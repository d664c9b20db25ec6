"""``python -m benchmarks.guard``: fails where a workload takes many more sorts of its scores, or memory, than it did.

Seconds differ between machines; the ratio to a stable sort of the same scores, in the same run, does much less. (The
default sort takes a tenth of the time on some processors.) The limits are two to three times what was measured, so that
only a regression reaches them. The memory that Python allocates is the same in every run, so one more copy of the test
rows exceeds its limits.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pyarrow

from benchmarks import data, searches
from benchmarks.timing import Call, medians
from benchmarks.workloads import TEN, ours
from skrank_metrics import evaluate, evaluate_run

ROUNDS = 9


def _lists_of_integers(n_users: int, first: int) -> Call:
    """Items of users, both numbered from ``first``, in which different pairs have the same sum and difference."""
    rng = np.random.default_rng(0)
    users = first + np.arange(n_users)
    liked = {
        "user": np.repeat(users, 5),
        "item": first + (rng.integers(0, 9000, (n_users, 1)) + np.arange(0, 500, 100)).ravel(),
    }
    run = first + rng.integers(0, 9000, (n_users, 1)) + rng.permutation(500)[:20]
    qrels = pyarrow.table(liked)
    return lambda: evaluate_run(qrels, run, ["ndcg@10"], queries=users)


# A search holds the training rows and, in scikit-learn's searches, the test rows of a fold: 0.8 + 0.2. Rows that are
# not sorted by query are copied once more to sort them. The rest is query ids, row numbers and what LightGBM allocates.
MEMORY = {
    ("grid", True): 1.35,
    ("grid", False): 2.15,
    ("cross_evaluate", True): 1.1,
    ("cross_evaluate", False): 1.92,
}


def memory_of_searches() -> Iterator[tuple[str, float, float]]:
    """What was searched, the largest memory beside the features as a multiple of them, and its limit."""
    for (way, is_sorted), limit in MEMORY.items():
        # The first search loads modules.
        for n_rows in (1_000, 20_000):
            X, y, qid = searches.rows(n_rows, is_sorted=is_sorted)
            tracemalloc.start()
            searches.search(way, X, y, qid)
            largest = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        yield f"{way}, {'sorted' if is_sorted else 'shuffled'} rows", largest / X.nbytes, limit


def _exceeds(name: str, ratio: float, unit: str, limit: float) -> bool:
    """Print a ratio, and tell whether it exceeds its limit."""
    exceeds = ratio > limit
    print(f"{name:<34}{ratio:6.2f} {unit} (limit {limit:g}){'  EXCEEDED' * exceeds}")
    return exceeds


def main() -> int:
    rows = data.msl_like(2_000)
    y_true, y_score, qid = rows
    workloads: dict[str, tuple[Call, float]] = {
        "NDCG@10": (ours("ndcg@10", rows), 0.6),
        "NDCG@10, scores of one decimal": (ours("ndcg@10", data.tied(rows, 1)), 0.6),
        "NDCG@10, rows in random order": (ours("ndcg@10", data.shuffled(rows)), 1.1),
        "MAP, all ranks": (ours("map", rows), 1.1),
        "ERR, scores of one decimal": (ours("err", data.tied(rows, 1)), 4.0),
        "lists by id, integers from 0": (_lists_of_integers(20_000, 0), 7.0),
        "ten metrics": (lambda: evaluate(y_true, y_score, qid=qid, metrics=TEN), 3.0),
    }
    sort, *times = medians(
        [lambda: np.sort(y_score, kind="stable"), *(call for call, _ in workloads.values())], ROUNDS
    )
    failed = 0
    for (name, (_, limit)), milliseconds in zip(workloads.items(), times, strict=True):
        failed += _exceeds(name, milliseconds / sort, "sorts of the scores", limit)
    # A hash of a pair that is made of those of its ids would be the same for many pairs of small integers.
    small, large = medians([_lists_of_integers(20_000, first) for first in (0, 10**9)], ROUNDS)
    failed += _exceeds("lists by id, integers from 0", small / large, "of those from 10^9", 1.5)
    for name, multiple, limit in memory_of_searches():
        failed += _exceeds(name, multiple, "times the features", limit)
    return failed


if __name__ == "__main__":
    sys.exit(main())

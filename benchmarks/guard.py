"""``python -m benchmarks.guard``: fails where a workload takes many more sorts of its scores than it did.

Seconds differ between machines; the ratio to ``np.sort`` of the same scores, in the same run, does much less. The
limits are two to three times what was measured, so that only a regression reaches them.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow

from benchmarks import data
from benchmarks.timing import Call, medians
from benchmarks.workloads import TEN, ours
from skrank_metrics import evaluate, evaluate_run

ROUNDS = 9


def _lists_of_integers(n_users: int) -> Call:
    """Items of users, both numbered from 0, in which different pairs have the same sum and the same difference."""
    rng = np.random.default_rng(0)
    users = np.arange(n_users)
    liked = {
        "user": np.repeat(users, 5),
        "item": (rng.integers(0, 9000, (n_users, 1)) + np.arange(0, 500, 100)).ravel(),
    }
    run = rng.integers(0, 9000, (n_users, 1)) + rng.permutation(500)[:20]
    qrels = pyarrow.table(liked)
    return lambda: evaluate_run(qrels, run, ["ndcg@10"], queries=users)


def main() -> int:
    rows = data.msl_like(2_000)
    y_true, y_score, qid = rows
    workloads: dict[str, tuple[Call, float]] = {
        "NDCG@10": (ours("ndcg@10", rows), 7.0),
        "NDCG@10, scores of one decimal": (ours("ndcg@10", data.tied(rows, 1)), 8.0),
        "NDCG@10, rows in random order": (ours("ndcg@10", data.shuffled(rows)), 23.0),
        "MAP, all ranks": (ours("map", rows), 11.0),
        "ERR, scores of one decimal": (ours("err", data.tied(rows, 1)), 40.0),
        "lists by id, integers from 0": (_lists_of_integers(20_000), 100.0),
        "ten metrics": (lambda: evaluate(y_true, y_score, qid=qid, metrics=TEN), 22.0),
    }
    sort, *times = medians(
        [lambda: np.sort(y_score), *(call for call, _ in workloads.values())], ROUNDS
    )
    failed = 0
    for (name, (_, limit)), milliseconds in zip(workloads.items(), times, strict=True):
        ratio = milliseconds / sort
        failed += ratio > limit
        print(
            f"{name:<34}{ratio:6.2f} sorts of the scores (limit {limit:g}){'  EXCEEDED' * (ratio > limit)}"
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())

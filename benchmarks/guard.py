"""``python -m benchmarks.guard``: fails where a workload takes many more sorts of its scores, or memory, than it did.

Seconds differ between machines; the ratio to a stable sort of the same scores, in the same run, does much less. (The
default sort takes a tenth of the time on some processors.) The limits are two to three times what was measured, so that
only a regression reaches them. The memory that Python allocates is the same in every run, so one more copy of the test
rows exceeds its limits.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow
from sklearn.linear_model import Ridge

from benchmarks import data, lists_by_id, searches
from benchmarks.timing import Call, medians
from benchmarks.workloads import TEN, containers_of_ids, ours
from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    evaluate,
    evaluate_run,
    make_ranking_scorer,
    ndcg_score,
    with_qid,
)

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


# Multiples of the time of integers. Strings and categories of polars once took eight times as long.
LIMITS_OF_IDS = {"strings": 4.5, "categories": 2.5}


def against_integers() -> Iterator[tuple[str, float, float]]:
    """What was computed of 20,000 queries of 20 rows, by kind of ids; its time as a multiple of that of integers."""
    qid = np.repeat(np.arange(20_000), 20)
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 5, len(qid)), rng.random(len(qid))
    X = np.zeros((len(qid), 1))
    ways: dict[str, Callable[[Any], Call]] = {
        "NDCG@10": lambda ids: partial(ndcg_score, y_true, y_score, qid=ids, k=10),
        "by=": lambda ids: partial(evaluate, y_true, y_score, qid=qid, by=ids, metrics="mrr"),
        "QueryKFold": lambda ids: lambda: list(QueryKFold(5).split(X, groups=ids)),
    }
    containers = containers_of_ids(qid)
    for way, call in ways.items():
        calls = [call(ids) for ids, _ in containers.values()]
        integers, *times = medians([call(qid), *calls], 5)
        for name, milliseconds in zip(containers, times, strict=True):
            yield f"{way}, {name}", milliseconds / integers, LIMITS_OF_IDS[name.partition(",")[0]]


def other_ratios() -> Iterator[tuple[str, str, float, float]]:
    """Calls that once lost their speed without notice, what they are compared with, and the limit of the ratio."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20_000), 20)
    order = rng.permutation(len(qid))
    X = np.zeros((len(qid), 1))

    def folds(groups: Any) -> Any:
        return list(QueryKFold(5).split(X, groups=groups))

    sorted_rows, shuffled = medians([partial(folds, qid), partial(folds, qid[order])], 5)
    yield "QueryKFold, rows in random order", "of sorted rows", shuffled / sorted_rows, 1.8
    short = np.repeat(np.arange(100_000), 3)
    labels, features = rng.integers(0, 3, len(short)), rng.random((len(short), 1))
    ranker = QueryRanker(Ridge()).fit(features, labels, qid=short)
    carried, scorer = with_qid(labels, short), make_ranking_scorer("ndcg@10")
    alone, scored = medians(
        [
            partial(ndcg_score, labels, features[:, 0], qid=short, k=10),
            lambda: scorer(ranker, features, carried),
        ],
        5,
    )
    yield "a scorer, 100,000 queries of 3", "of ndcg_score", scored / alone, 2.5
    qrels, run = lists_by_id.frames(1_000)
    dicts = lists_by_id.to_dicts(qrels, "label"), lists_by_id.to_dicts(run, "score")
    with TemporaryDirectory() as folder:
        paths = lists_by_id.write_trec(qrels, run, Path(folder))
        of_dicts, of_files, split = medians(
            [
                partial(evaluate_run, *dicts, "ndcg@10"),
                partial(evaluate_run, *paths, "ndcg@10"),
                lambda: lists_by_id.read_trec(paths[1], 4, float),
            ],
            5,
        )
    yield "evaluate_run, dicts", "of splitting the lines of its run", of_dicts / split, 2.0
    yield "evaluate_run, TREC files", "of splitting the lines of its run", of_files / split, 4.0


def _exceeds(name: str, ratio: float, unit: str, limit: float) -> bool:
    """Print a ratio, and tell whether it exceeds its limit."""
    exceeds = ratio > limit
    print(f"{name:<40}{ratio:6.2f} {unit} (limit {limit:g}){'  EXCEEDED' * exceeds}")
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
    for name, multiple, limit in against_integers():
        failed += _exceeds(name, multiple, "times integers", limit)
    for name, against, multiple, limit in other_ratios():
        failed += _exceeds(name, multiple, f"times that {against}", limit)
    for name, multiple, limit in memory_of_searches():
        failed += _exceeds(name, multiple, "times the features", limit)
    return failed


if __name__ == "__main__":
    sys.exit(main())

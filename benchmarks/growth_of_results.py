"""``python -m benchmarks.growth_of_results``: how time and memory grow with rows, queries, rankings and slices.

Each row of the table doubles one number and leaves the others alone. An exponent of 1 means that time or memory is
proportional to it; the tests of all pairs of rankings grow with the square of their number.
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks import data
from benchmarks.growth import exponent
from benchmarks.timing import Call, machine
from skrank_metrics import Comparison, compare, evaluate, evaluate_run

METRICS = ["ndcg@10", "map", "mrr"]
ROUNDS = 3


@dataclass(frozen=True)
class Growth:
    """A call, and the number that it grows with."""

    name: str
    of: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Call]  # what the call needs is not measured


def evaluate_rows(n_queries: int) -> Call:
    y_true, y_score, qid = data.msl_like(n_queries)
    return lambda: evaluate(y_true, y_score, qid=qid, metrics=METRICS)


def evaluate_ids(n_users: int) -> Call:
    rng = np.random.default_rng(0)
    items = np.argsort(rng.random((n_users, 100)), axis=1)[:, :25]
    users = np.arange(n_users)
    truth = pd.DataFrame({"query": np.repeat(users, 5), "document": items[:, :5].ravel()})
    run = pd.DataFrame({"query": np.repeat(users, 20), "document": items[:, 3:23].ravel()})
    run["score"] = np.tile(-np.arange(20.0), n_users)
    return lambda: evaluate_run(truth, run, metrics=METRICS)


def comparison(n_queries: int, n_rankings: int) -> Comparison:
    labels, scores, qid = data.rows_of(np.full(n_queries, 10))
    rng = np.random.default_rng(0)
    rankings = {
        f"model {i}": scores + 0.1 * rng.normal(size=len(scores)) for i in range(n_rankings)
    }
    return evaluate(labels, rankings, qid=qid, metrics=METRICS)


def compare_by_queries(n_queries: int) -> Call:
    result = comparison(n_queries, 6)
    return lambda: str(compare(result, test="permutation"))


def compare_by_rankings(n_rankings: int) -> Call:
    result = comparison(2_000, n_rankings)
    return lambda: str(compare(result, test="permutation"))


def compare_to_baseline(n_rankings: int) -> Call:
    result = comparison(2_000, n_rankings)
    return lambda: str(compare(result, baseline="model 0"))


def print_slices(n_slices: int) -> Call:
    n_queries = 40_000
    labels, scores, qid = data.rows_of(np.full(n_queries, 3))
    other = scores + np.random.default_rng(0).normal(size=len(scores))
    by = {"shop": qid % n_slices}
    return lambda: str(
        evaluate(labels, {"a": scores, "b": other}, qid=qid, metrics="ndcg@3", by=by).slices
    )


GROWTHS = (
    Growth("evaluate", "rows", (500, 1_000, 2_000, 4_000, 8_000, 16_000), evaluate_rows),
    Growth("evaluate_run", "rows", (5_000, 10_000, 20_000, 40_000, 80_000), evaluate_ids),
    Growth(
        "compare and print", "queries", (2_000, 4_000, 8_000, 16_000, 32_000), compare_by_queries
    ),
    Growth("compare and print, all pairs", "rankings", (4, 8, 16, 32), compare_by_rankings),
    Growth("compare with a baseline and print", "rankings", (4, 8, 16, 32), compare_to_baseline),
    Growth(
        "evaluate two rankings, print slices",
        "slices",
        (500, 1_000, 2_000, 4_000, 8_000),
        print_slices,
    ),
)


def seconds(growth: Growth, size: int) -> float:
    """Median processor time of a call; results keep what they computed, so each call gets new ones."""
    times = []
    for _ in range(ROUNDS):
        call = growth.prepare(size)
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return statistics.median(times)


def megabytes(call: Call) -> float:
    """Peak of the memory that a call takes on top of its input."""
    gc.collect()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    print(machine())
    print(
        "\n| call | grows with | s, smallest and largest | exponent | MB, smallest and largest | exponent |"
    )
    print("|---|---|--:|--:|--:|--:|")
    for growth in GROWTHS:
        sizes = list(growth.sizes)
        times = [seconds(growth, size) for size in sizes]
        memory = [megabytes(growth.prepare(size)) for size in sizes]
        print(
            f"| {growth.name} | {growth.of}, {sizes[0]:,} to {sizes[-1]:,} | {times[0]:.2f}, {times[-1]:.2f} | "
            f"{exponent(sizes, times):.2f} | {memory[0]:.0f}, {memory[-1]:.0f} | {exponent(sizes, memory):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""``python -m benchmarks.footprint``: memory on top of the inputs, and the time of an import."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

from benchmarks import data
from benchmarks.timing import Call, Comparison, print_table
from skrank_metrics import get_metric

NUMPY_AND_SCIPY = "import numpy, scipy.sparse"
ONE_METRIC = "import skrank_metrics; skrank_metrics.ndcg_score([2, 0, 1], [0.1, 0.2, 0.3], qid=[7, 7, 8])"


def memory(metric: str, rows: data.Rows) -> float:
    """Largest memory during a call, as a multiple of the inputs."""
    y_true, y_score, qid = rows
    bound = get_metric(metric)
    bound(y_true, y_score, qid=qid)
    tracemalloc.start()
    bound(y_true, y_score, qid=qid)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / sum(array.nbytes for array in rows)


def in_a_fresh_process(code: str) -> Call:
    """Run code in an interpreter of its own."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def main() -> bool:
    print("\nMemory, as a multiple of the inputs (target: ≤ 2)\n")
    metrics = ("ndcg@10", "map", "err", "kendall_tau")
    print(f"| documents | rows | {' | '.join(metrics)} |\n|--:|---|{'--:|' * len(metrics)}")
    largest = 0.0
    for n_queries in (85, 850, 8_500, 42_500):
        rows = data.msl_like(n_queries)
        for name, made in {
            "sorted": rows,
            "one decimal": data.tied(rows, 1),
            "all scores equal": data.tied(rows, None),
            "random order": data.shuffled(rows),
        }.items():
            peaks = [memory(metric, made) for metric in metrics]
            largest = max(largest, *peaks)
            print(f"| {len(rows[0]):,} | {name} | {' | '.join(f'{peak:.2f}' for peak in peaks)} |", flush=True)
    print("\nImport and one call, each in a fresh process\n")
    ours, theirs = in_a_fresh_process(ONE_METRIC), in_a_fresh_process(NUMPY_AND_SCIPY)
    imports = Comparison("import skrank_metrics, one NDCG", ours, NUMPY_AND_SCIPY, theirs, target=1.4, rounds=11)
    return print_table([imports]) and largest <= 2


if __name__ == "__main__":
    main()

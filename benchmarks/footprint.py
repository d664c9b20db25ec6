"""``python -m benchmarks.footprint``: memory on top of the inputs, and the time that an import takes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tracemalloc

from benchmarks import data
from skrank_metrics import get_metric

IMPORT = """
import time, sklearn.metrics, sklearn.model_selection
started = time.perf_counter()
import skrank_metrics
print(1e3 * (time.perf_counter() - started))
"""


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


def import_time(rounds: int = 7) -> float:
    """Median time in ms of the import, scikit-learn's own not counted."""
    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True) for _ in range(rounds)]
    return statistics.median(float(run.stdout) for run in runs)


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
    milliseconds = import_time()
    print(f"\nImport on top of sklearn.metrics and sklearn.model_selection: {milliseconds:.0f} ms (target: ≤ 60)")
    return largest <= 2 and milliseconds <= 60


if __name__ == "__main__":
    main()

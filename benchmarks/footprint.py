"""``python -m benchmarks.footprint``: memory on top of the inputs, and the time of an import."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import tracemalloc

import numpy as np

from benchmarks import data
from benchmarks.timing import Call, Comparison, print_table
from skrank_metrics import get_metric

NUMPY_AND_SCIPY = "import numpy, scipy.sparse"
ONE_METRIC = (
    "import skrank_metrics; skrank_metrics.ndcg_score([2, 0, 1], [0.1, 0.2, 0.3], qid=[7, 7, 8])"
)


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


LABELS = """
import resource, sys, time
import numpy as np
from skrank_metrics import get_metric
columns = [np.load(file) for file in sys.argv[1:]]
metric, pages, times = get_metric("ndcg@10"), [], []
for _ in range(15):
    pages.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
    started = time.perf_counter()
    metric(*columns[:2], qid=columns[2])
    times.append(1e3 * (time.perf_counter() - started))
print(sorted(times)[7], sorted(np.diff(pages))[7])
"""


def labels_in_fresh_processes() -> bool:
    """Times of int64 and of float64 labels in processes that have freed nothing before, and new pages per call."""
    y_true, y_score, qid = data.msl_like()
    found: dict[str, list[tuple[float, int]]] = {"int64": [], "float64": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, column in {
            "int64": y_true.astype(np.int64),
            "float64": y_true,
            "s": y_score,
            "q": qid,
        }.items():
            np.save(f"{folder}/{name}.npy", column)
        for _ in range(5):
            for kind, results in found.items():
                files = [f"{folder}/{name}.npy" for name in (kind, "s", "q")]
                out = subprocess.run(
                    [sys.executable, "-c", LABELS, *files],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                milliseconds, new_pages = out.stdout.split()
                results.append((float(milliseconds), int(float(new_pages))))
    integers, floats = (
        statistics.median(time for time, _ in results) for results in found.values()
    )
    pages = max(new_pages for results in found.values() for _, new_pages in results)
    print(
        "\nLabels in a fresh process\n\n| int64, ms | float64, ms | ratio | target | new pages per call, at most |"
    )
    print(
        f"|--:|--:|--:|--:|--:|\n| {integers:.1f} | {floats:.1f} | {integers / floats:.2f} | ≤ 1.10 | {pages} |"
    )
    return integers <= 1.1 * floats


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
            print(
                f"| {len(rows[0]):,} | {name} | {' | '.join(f'{peak:.2f}' for peak in peaks)} |",
                flush=True,
            )
    print("\nImport and one call, in a fresh process\n")
    ours, theirs = in_a_fresh_process(ONE_METRIC), in_a_fresh_process(NUMPY_AND_SCIPY)
    imports = Comparison(
        "import skrank_metrics, one NDCG", ours, NUMPY_AND_SCIPY, theirs, target=1.4, rounds=11
    )
    return all([print_table([imports]), labels_in_fresh_processes(), largest <= 2])


if __name__ == "__main__":
    main()

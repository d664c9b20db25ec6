"""``python -m benchmarks.batches [--rows N]``: speed and peak memory of evaluate_batches, from Parquet.

The targets are for 50 million rows. What it is compared with reads the whole file and calls evaluate, in one thread.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.timing import machine

PIECE = 5_000_000


@dataclass(frozen=True)
class Case:
    """A call, the speed that it must reach and the memory that it may take."""

    name: str
    kind: str  # of rows
    order: str
    n_threads: int
    speed: float | None  # millions of rows per second
    memory: int  # MB


CASES = (
    Case("contiguous", "contiguous", "check", 1, 12, 400),
    Case("contiguous, two threads", "contiguous", "check", 2, 12, 400),
    Case("random order", "random", "shuffle", 1, None, 500),
    Case("random order, two threads", "random", "shuffle", 2, 5, 500),
    Case("random order, string ids, two threads", "strings", "shuffle", 2, 2, 500),
)
# A process of its own each, so that the peak is that of one call.
MEASURE = """
import json, re, sys, time
from skrank_metrics import evaluate
from skrank_metrics.sources import evaluate_batches
path, order, n_threads = sys.argv[1:]
wall, cpu = time.perf_counter(), time.process_time()
if order == "in memory":
    import pyarrow.parquet as pq
    table = pq.read_table(path, use_threads=False)
    qid = table["qid"] if table["qid"].type == "string" else table["qid"].to_numpy()
    report = evaluate(table["label"].to_numpy(), table["score"].to_numpy(), qid=qid, metrics=["ndcg@10", "map", "mrr"])
else:
    report = evaluate_batches(path, label="label", score="score", qid="qid", order=order, n_threads=int(n_threads))
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
# Unlike ru_maxrss, this one does not begin with the peak of the process that started this one.
peak = int(re.search("VmHWM: *([0-9]+) kB", open("/proc/self/status").read().replace("\\t", " "))[1]) / 1024
print(json.dumps([report.n_documents, wall, cpu, peak]))
"""


def write(path: Path, kind: str, n_rows: int) -> None:
    """Queries of 104 documents on average, written piece by piece."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_rows // 104 + 1), rng.integers(8, 201, n_rows // 104 + 1))[:n_rows]
    if kind != "contiguous":
        rng.shuffle(qid)
    writer = None
    for first in range(0, len(qid), PIECE):
        ids = pa.array(qid[first : first + PIECE])
        label = rng.choice(np.arange(5, dtype=np.int8), len(ids), p=[0.5, 0.3, 0.13, 0.05, 0.02])
        score = 0.3 * label + rng.normal(size=len(ids))
        if kind == "strings":
            ids = pc.binary_join_element_wise("query", ids.cast(pa.string()), "-")
        table = pa.table({"qid": ids, "label": label, "score": score})
        writer = writer or pq.ParquetWriter(path, table.schema, use_dictionary=["label"])
        writer.write_table(table, row_group_size=1_000_000)
    if writer:
        writer.close()


def measure(path: Path, order: str, n_threads: int) -> tuple[int, float, float, float]:
    """Rows, seconds, CPU seconds and peak memory in MB of a process."""
    command = [sys.executable, "-c", MEASURE, str(path), order, str(n_threads)]
    n_rows, wall, cpu, peak = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    )
    return n_rows, wall, cpu, peak


def row(case: Case, path: Path, in_memory: float) -> str:
    """A row of the table; ``in_memory`` are the seconds of evaluate."""
    n_rows, wall, cpu, peak = measure(path, case.order, case.n_threads)
    speed = n_rows / wall / 1e6
    fast = "" if case.speed is None else f"≥ {case.speed}{' missed' if speed < case.speed else ''}"
    small = f"≤ {case.memory}{' missed' if peak > case.memory else ''}"
    compared = f"{in_memory:.1f} | {wall / in_memory:.2f}"
    return f"| {case.name} | {speed:.1f} | {fast} | {n_rows / cpu / 1e6:.1f} | {peak:.0f} | {small} | {compared} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--folder", help="where to put the files, about 2 GB for 50 M rows")
    chosen = parser.parse_args()
    print(machine())
    print(
        "\n| rows | M rows/s | target | M rows per CPU second | peak MB | target | in memory, s | ratio of times |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    in_memory: dict[Path, float] = {}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for case in CASES:
            path = Path(folder) / f"{case.kind}.parquet"
            if path not in in_memory:
                write(path, case.kind, chosen.rows)
                in_memory[path] = measure(path, "in memory", 1)[1]
            print(row(case, path, in_memory[path]), flush=True)


if __name__ == "__main__":
    main()

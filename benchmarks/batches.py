"""``python -m benchmarks.batches [--rows N]``: rows per second and peak memory of evaluate_batches, from Parquet."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import machine

PIECE = 5_000_000
CASES = {
    "contiguous": ("contiguous", "check", 1),
    "contiguous, two threads": ("contiguous", "check", 2),
    "random order": ("random", "shuffle", 1),
    "random order, two threads": ("random", "shuffle", 2),
    "random order, string ids, two threads": ("strings", "shuffle", 2),
}
# A process of its own each, so that the peak is that of one call.
MEASURE = """
import json, re, sys, time
from skrank_metrics import evaluate_batches
path, order, n_threads = sys.argv[1:]
wall, cpu = time.perf_counter(), time.process_time()
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--folder", help="where to put the files, about 2 GB for 50 M rows")
    chosen = parser.parse_args()
    print(machine())
    print("\n| rows | M rows/s | M rows per CPU second | peak MB |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for name, (kind, order, n_threads) in CASES.items():
            path = Path(folder) / f"{kind}.parquet"
            if not path.exists():
                write(path, kind, chosen.rows)
            command = [sys.executable, "-c", MEASURE, str(path), order, str(n_threads)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            n_rows, wall, cpu, peak = json.loads(printed)
            print(f"| {name} | {n_rows / wall / 1e6:.1f} | {n_rows / cpu / 1e6:.1f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()

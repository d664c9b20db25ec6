"""``python -m benchmarks.clusters [--rows N]``: Dask and Spark, two workers on this machine, against memory.

Rows are read from 16 Parquet files: in random order, or with whole queries in each file, which need no shuffle. Times
include reading.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.timing import machine
from skrank_metrics import dask, evaluate, spark
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.sources import evaluate_batches
from skrank_metrics.sources.accumulator import TableEvaluation
from skrank_metrics.sources.columns import TableColumns
from skrank_metrics.splitters import query_fold

NAMES: dict[str, Any] = {"label": "label", "score": "score", "qid": "qid"}
METRICS = ["ndcg@10", "map", "mrr"]
N_FILES = 16


def write(folder: Path, n_rows: int, kind: str) -> Path:
    """Rows of 13 bytes, in queries of 104 documents on average."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_rows // 104 + 1), rng.integers(8, 201, n_rows // 104 + 1))[:n_rows]
    label = rng.choice(np.arange(5, dtype=np.int8), len(qid), p=[0.5, 0.3, 0.13, 0.05, 0.02])
    score = (0.3 * label + rng.normal(size=len(qid))).astype(np.float32)
    table = pa.table({"qid": qid, "label": label, "score": score})
    files = rng.integers(0, N_FILES, len(qid)) if kind == "random" else query_fold(qid, N_FILES)
    order = rng.permutation(len(qid)) if kind == "random" else np.arange(len(qid))
    (folder / kind).mkdir()
    for number in range(N_FILES):
        pq.write_table(
            table.take(order[files[order] == number]), folder / kind / f"{number:02}.parquet"
        )
    return folder / kind


def in_memory(folder: Path) -> Any:
    """Read everything, then evaluate."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder, use_threads=False)
    label, score, qid = (table[name].to_numpy() for name in NAMES.values())
    return evaluate(label, score, qid=qid, metrics=METRICS)


def in_batches(folder: Path) -> Any:
    """Read batches, shuffled through temporary files unless queries are whole."""
    order = "shuffle" if folder.name == "random" else "check"
    return evaluate_batches(
        sorted(folder.iterdir()), **NAMES, metrics=METRICS, order=cast(Any, order), n_threads=2
    )


def best(call: Callable[[], Any], expected: Any, rounds: int) -> tuple[float, float]:
    """Shortest time, and the CPU time of all processes meanwhile; the first of several calls warms up."""
    import psutil

    def cpu() -> float:
        family = [psutil.Process(), *psutil.Process().children(recursive=True)]
        return sum(sum(one.cpu_times()[:2]) for one in family)

    found = []
    for _ in range(rounds + 1):
        wall, used = time.perf_counter(), cpu()
        report = call()
        found.append((time.perf_counter() - wall, cpu() - used))
        np.testing.assert_allclose(
            [report.mean[name] for name in METRICS], expected, rtol=0, atol=1e-12
        )
    return min(found[1:] or found)


def row(name: str, n_rows: int, times: tuple[float, float]) -> None:
    wall, cpu = times
    print(
        f"| {name} | {n_rows / wall / 1e6:.2f} | {n_rows / cpu / 1e6:.2f} | {wall:.1f} |",
        flush=True,
    )


def measure_dask(folder: Path, n_rows: int, expected: Any, rounds: int) -> None:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster):
        for kind in ("random", "whole"):
            frame, order = (
                dd.read_parquet(folder / kind),
                "shuffle" if kind == "random" else "check",
            )
            times = best(
                partial(dask.evaluate, frame, **NAMES, metrics=METRICS, order=cast(Any, order)),
                expected,
                rounds,
            )
            row(f"Dask, {kind}", n_rows, times)


def measure_spark(folder: Path, n_rows: int, expected: Any, rounds: int) -> float:
    """Measure Spark; return the bytes that its last shuffle wrote per row."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    for name in ("ui.enabled", "ui.showConsoleProgress"):
        builder = builder.config(f"spark.{name}", "false")
    session = builder.getOrCreate()
    for kind in ("whole", "random"):
        frame, order = (
            session.read.parquet(str(folder / kind)),
            "shuffle" if kind == "random" else "check",
        )
        times = best(
            partial(spark.evaluate, frame, **NAMES, metrics=METRICS, order=cast(Any, order)),
            expected,
            rounds,
        )
        row(f"Spark, {kind}", n_rows, times)
    per_row = _shuffled_bytes(session) / (rounds + 1) / n_rows
    session.stop()
    return per_row


def _shuffled_bytes(session: Any) -> int:
    """Bytes that all stages so far wrote for others to read."""
    stages, total = session.sparkContext._jsc.sc().statusStore(), 0
    for number in itertools.count():
        try:
            total += stages.lastStageAttempt(number).shuffleWriteBytes()
        except Exception:  # Java's, for a stage that is not there
            break
    return total


def result_bytes(folder: Path) -> float:
    """Bytes per query that come back from a partition."""
    import pyarrow.parquet as pq

    metrics = bind_metrics(METRICS, "sklearn")
    evaluation = TableEvaluation(metrics, False, TableColumns(**NAMES))
    part = evaluation.of_partition(pq.read_table(folder / "whole" / "00.parquet"))
    return len(pickle.dumps(part)) / len(part)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clusters", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument(
        "--rounds", type=int, default=3, help="calls that count; 0 measures the first one"
    )
    parser.add_argument("--folder", help="where to put the files, 20 bytes per row")
    chosen = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        for kind in ("random", "whole"):
            write(folder, chosen.rows, kind)
        report = in_memory(folder / "random")
        expected = [report.mean[name] for name in METRICS]
        print("\n| rows | M rows/s | M rows per CPU second | s |\n|---|--:|--:|--:|")
        for kind in ("random", "whole"):
            for name, way in (("in memory", in_memory), ("batches", in_batches)):
                times = best(partial(way, folder / kind), expected, chosen.rounds)
                row(f"{name}, {kind}", chosen.rows, times)
        measure_dask(folder, chosen.rows, expected, chosen.rounds)
        shuffled = measure_spark(folder, chosen.rows, expected, chosen.rounds)
        print(f"\nSpark's shuffle writes {shuffled:.1f} bytes per row.")
        print(f"{result_bytes(folder):.0f} bytes per query come back.")


if __name__ == "__main__":
    main()

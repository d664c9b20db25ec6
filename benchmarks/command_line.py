"""``python -m benchmarks.command_line``: five measures of a run of TREC, as whole processes, against the peers'."""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.timing import machine

MEASURES = ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100")
NAMES_OF_IR_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
TARGET = 1.3  # of the CPU time of a C program and its script
PYTREC_EVAL = f"""
import sys
import pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
results = pytrec_eval.RelevanceEvaluator(qrels, {set(MEASURES)}).evaluate(run)
for name in {MEASURES}:
    print(name, pytrec_eval.compute_aggregated_measure(name, [values[name] for values in results.values()]))
"""


def write(folder: Path, n_lines: int, n_ranked: int = 1000, n_judged: int = 100) -> list[str]:
    """Judgments and a run, of topics of equal size, as files."""
    rng = random.Random(0)
    with (folder / "qrels.txt").open("w") as qrels, (folder / "run.txt").open("w") as run:
        for topic in range(1, n_lines // n_ranked + 1):
            documents = [
                f"FT{number // 1000:03d}-{number % 1000:05d}"
                for number in rng.sample(range(10**6), n_ranked)
            ]
            scores = sorted((rng.gauss(10, 3) for _ in documents), reverse=True)
            for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1):
                run.write(f"{topic} Q0 {document} {rank} {score:.6f} tag\n")
            for document in rng.sample(documents, n_judged):
                qrels.write(f"{topic} 0 {document} {rng.choice([0, 0, 0, 1, 2])}\n")
    return [str(folder / "qrels.txt"), str(folder / "run.txt")]


def seconds(command: Sequence[str]) -> tuple[float, float]:
    """Elapsed and CPU seconds of a process."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after, elapsed = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - started
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.command_line", description=__doc__)
    parser.add_argument("--lines", type=int, default=500_000, help="of the run")
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # programs are installed with their bytecode
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), chosen.lines)
        commands = {
            "skrank-metrics evaluate": [
                sys.executable,
                "-m",
                "skrank_metrics",
                "evaluate",
                *files,
                *MEASURES,
            ],
            "ir_measures": [sys.executable, "-m", "ir_measures", *files, *NAMES_OF_IR_MEASURES],
            "a script with pytrec_eval": [sys.executable, "-c", PYTREC_EVAL, *files],
        }
        for command in commands.values():
            seconds(command)
        # Processes take turns, so that noise of the machine hits all alike.
        rounds = [
            {name: seconds(command) for name, command in commands.items()}
            for _ in range(chosen.rounds)
        ]
    _print(rounds)


def _print(rounds: list[dict[str, tuple[float, float]]]) -> None:
    print(machine())
    print(
        "\n| whole process | elapsed s | CPU s | our CPU s / theirs | target |\n|---|--:|--:|--:|--:|"
    )
    ours, *_ = rounds[0]
    for name in rounds[0]:
        elapsed, cpu = (statistics.median(found[name][kind] for found in rounds) for kind in (0, 1))
        ratio = statistics.median(found[ours][1] / found[name][1] for found in rounds)
        compared = (
            "| |"
            if name == ours
            else f"{ratio:.2f} | ≤ {TARGET:.1f}{' missed' if ratio > TARGET else ''} |"
        )
        print(f"| {name} | {elapsed:.2f} | {cpu:.2f} | {compared}")


if __name__ == "__main__":
    main()

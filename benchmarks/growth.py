"""``python -m benchmarks.growth [--plot FILE]``: how the time grows from 10^4 to 10^7 documents."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks import data
from benchmarks.timing import Call, machine, medians
from benchmarks.workloads import TEN, ours
from skrank_metrics import evaluate

QUERIES = (84, 266, 842, 2_660, 8_420, 26_600, 84_200)  # of about 119 documents


def calls(rows: data.Rows) -> dict[str, Call]:
    y_true, y_score, qid = rows
    return {
        "NDCG@10": ours("ndcg@10", rows),
        "NDCG@10, rows in random order": ours("ndcg@10", data.shuffled(rows)),
        "MAP, all ranks": ours("map", rows),
        "ten metrics": lambda: evaluate(y_true, y_score, qid=qid, metrics=TEN),
    }


def exponent(documents: list[int], times: list[float]) -> float:
    """Slope of the logarithms: 1 where the time is proportional to the documents."""
    return float(np.polyfit(np.log(documents), np.log(times), 1)[0])


def plot(documents: list[int], times: dict[str, list[float]], file: str) -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for marker, (name, values) in zip("osDv", times.items(), strict=True):
        ax.loglog(
            documents,
            values,
            marker=marker,
            label=f"{name} (exponent {exponent(documents, values):.2f})",
        )
    ax.set(xlabel="documents", ylabel="median time in ms, one thread")
    ax.grid(alpha=0.3)
    ax.legend()
    figure.savefig(file, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="where to draw it, as PNG or SVG")
    file = parser.parse_args().plot
    print(machine())
    documents: list[int] = []
    times: dict[str, list[float]] = {}
    for n_queries in QUERIES:
        rows = data.msl_like(n_queries)
        documents.append(len(rows[0]))
        of_names = calls(rows)
        for name, median in zip(of_names, medians(of_names.values(), 7), strict=True):
            times.setdefault(name, []).append(median)
    print(f"\n| ms for documents | {' | '.join(f'{n:,}' for n in documents)} | exponent |")
    print(f"|---|{'--:|' * (len(documents) + 1)}")
    for name, values in times.items():
        cells = " | ".join(f"{value:.1f}" for value in values)
        print(f"| {name} | {cells} | {exponent(documents, values):.2f} |")
    if file:
        plot(documents, times, file)


if __name__ == "__main__":
    main()

"""Times of calls that take turns, and a table of their ratios."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

Call = Callable[[], object]
PACKAGES = "numpy scipy scikit-learn skrank-metrics lightgbm xgboost xgboost-cpu catboost pytrec-eval-terrier ranx"


@dataclass(frozen=True)
class Comparison:
    """A call, what it is compared with, and how much of the other's time it may take."""

    name: str
    call: Call
    against: str
    other: Call
    target: float | None = None
    documents: float = 1.0  # how many times more documents the call has: the ratio is then one of times per document
    rounds: int = 9


def medians(calls: Iterable[Call], rounds: int) -> list[float]:
    """Median time of each call in ms; calls take turns, so that noise of the machine hits all alike."""
    pairs: list[tuple[Call, list[float]]] = [(call, []) for call in calls]
    for _ in range(rounds):
        for call, times in pairs:
            started = time.perf_counter()
            call()
            times.append(1e3 * (time.perf_counter() - started))
    return [statistics.median(times) for _, times in pairs]


def machine() -> str:
    """What the times belong to."""
    cores = f"{os.cpu_count()} cores" if os.cpu_count() != 1 else "one core"
    found = []
    for name in PACKAGES.split():
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"{_processor()}, {cores}, one thread each; Python {platform.python_version()}, {', '.join(found)}."


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(
                line.split(":")[1].strip() for line in file if line.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def print_table(comparisons: Iterable[Comparison]) -> bool:
    """Measure, print a row each as soon as it is there, and tell whether all targets were met."""
    print("| workload | ms | compared with | ms | ratio | target |")
    print("|---|--:|---|--:|--:|--:|")
    met = True
    for c in comparisons:
        ours, theirs = medians([c.call, c.other], c.rounds)
        ratio = ours / theirs / c.documents
        missed = c.target is not None and ratio > c.target
        met = met and not missed
        target = "" if c.target is None else f"≤ {c.target:.2f}{' missed' if missed else ''}"
        print(
            f"| {c.name} | {ours:.1f} | {c.against} | {theirs:.1f} | {ratio:.2f} | {target} |",
            flush=True,
        )
    return met

"""``python -m benchmarks``: all workloads against peers and against each other, interleaved, on one thread."""

from __future__ import annotations

import os

# Before NumPy is imported: every competitor gets one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks import footprint, workloads
from benchmarks.timing import Comparison, machine, print_table


def main() -> None:
    print(machine())
    met = [print_section(title, make()) for title, make in workloads.SECTIONS.items()]
    met.append(footprint.main())
    print(f"\n{'All targets are met.' if all(met) else 'At least one target is missed.'}")


def print_section(title: str, comparisons: list[Comparison]) -> bool:
    print(f"\n{title}\n")
    return print_table(comparisons)


if __name__ == "__main__":
    main()

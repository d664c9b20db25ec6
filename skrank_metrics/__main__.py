"""Command line: ``python -m skrank_metrics demo`` and ``python -m skrank_metrics metrics``."""

from __future__ import annotations

import argparse
from pathlib import Path

from skrank_metrics._output.table import Table


def main(arguments: list[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m skrank_metrics", description="Ranking metrics for scikit-learn.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="tune and compare ranking models on data that ships with scikit-learn")
    demo.add_argument("--picture", type=Path, default=Path("ranking.png"), help="where to draw (default: %(default)s)")
    commands.add_parser("metrics", help="list the metrics")
    chosen = parser.parse_args(arguments)
    if chosen.command == "metrics":
        print(_metrics().as_text())
        return
    if not chosen.picture.parent.is_dir():
        demo.error(f"--picture must lie in a folder that exists; got {chosen.picture}")
    from skrank_metrics import _demo

    _demo.run(chosen.picture)


def _metrics() -> Table:
    """Names of the metrics in strings, with their functions and ranges."""
    from skrank_metrics.metrics._registry import REGISTRY

    rows = [
        (function.record.name + "@k" * function.record.has_cutoff, function.__name__, function.record.bounds)
        for _, function in sorted(REGISTRY.items())
    ]
    return Table(("name", "function", "range"), rows)


if __name__ == "__main__":
    main()

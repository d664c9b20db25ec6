"""Command line: ``python -m skrank_metrics demo`` and ``python -m skrank_metrics metrics``."""

from __future__ import annotations

import argparse
from pathlib import Path

from skrank_metrics._table import conventions_table, metrics_page, metrics_table


def main(arguments: list[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m skrank_metrics", description="Ranking metrics for scikit-learn.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="tune and compare ranking models on data that ships with scikit-learn")
    demo.add_argument("--picture", type=Path, default=Path("ranking.png"), help="where to draw (default: %(default)s)")
    metrics = commands.add_parser("metrics", help="print the table of metrics as Markdown")
    metrics.add_argument("--page", action="store_true", help="print a section for each metric instead")
    metrics.add_argument("--conventions", action="store_true", help="print what each peer counts differently instead")
    chosen = parser.parse_args(arguments)
    if chosen.command == "metrics":
        part = metrics_page if chosen.page else conventions_table if chosen.conventions else metrics_table
        print(part())
        return
    if not chosen.picture.parent.is_dir():
        demo.error(f"--picture must lie in a folder that exists; got {chosen.picture}")
    from skrank_metrics import _demo

    _demo.run(chosen.picture)


if __name__ == "__main__":
    main()

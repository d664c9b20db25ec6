"""Command line: ``python -m skrank_metrics`` with the commands evaluate, compare, metrics and demo."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run a command."""
    try:
        from skrank_metrics._cli import commands
    except KeyboardInterrupt:  # while modules load
        sys.exit(130)
    commands.run_command(arguments)


if __name__ == "__main__":
    main()

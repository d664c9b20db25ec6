"""Command line: ``python -m skrank_metrics`` with the commands evaluate, compare, metrics and demo."""

from __future__ import annotations

from skrank_metrics._cli import commands


def main(arguments: list[str] | None = None) -> None:
    """Run a command."""
    commands.run(arguments)


if __name__ == "__main__":
    main()

"""Progress of a long task, as a line on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

# Seconds between two lines: on a terminal, where a line replaces the previous one, and elsewhere.
ON_A_TERMINAL, ELSEWHERE = 0.2, 10.0
REPLACE = "\r\x1b[K"  # return to the start of the line, and clear it


class Progress:
    """Reports progress on standard error; if ``shown`` is None, only on a terminal, where the line is removed."""

    def __init__(self, shown: bool | None) -> None:
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self.shown = sys.stderr is not None and (self._terminal if shown is None else shown)
        self._started = self._last = time.monotonic()
        self._written = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._written and self._terminal:
            print(REPLACE, end="", file=sys.stderr, flush=True)

    def count_rows(self, tables: Iterable[Any], n_rows: int | None = None) -> Iterator[Any]:
        """Pass tables on, and report the number of rows so far."""
        done = 0
        for table in tables:
            yield table
            done += len(table)
            per_second = done / max(time.monotonic() - self._started, 1e-9)
            share = f" of {n_rows:,} ({done / n_rows:.0%})" if n_rows else ""
            self.say(f"{done:,}{share} rows, {per_second / 1e6:.2f} million per second", last=done == n_rows)

    def say(self, text: str, *, last: bool = False) -> None:
        """Write a line, unless the previous one is recent."""
        now, apart = time.monotonic(), ON_A_TERMINAL if self._terminal else ELSEWHERE
        if not self.shown or (now - self._last < apart and (self._terminal or not last)):
            return
        self._last, self._written = now, True
        # A file name can hold codes that move the cursor of a terminal.
        text = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
        before, end = (REPLACE, "") if self._terminal else ("", "\n")
        print(before + text, end=end, file=sys.stderr, flush=True)

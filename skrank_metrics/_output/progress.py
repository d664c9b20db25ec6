"""Progress of long work on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

from skrank_metrics._input.arrays import check_int

T = TypeVar("T")

# Seconds between two lines: on a terminal or in a notebook, where a line replaces the previous one, and elsewhere.
ON_A_TERMINAL, ELSEWHERE = 0.2, 10.0
REPLACE = "\r\x1b[K"  # return to the start of the line, and clear it


class Progress:
    """Says what was done, how much of how much, and how long the rest takes.

    ``verbose`` is 0 or False for silence, larger or True for lines; None shows progress on terminals and in notebooks
    only. There, a line replaces the previous one, and none is left at the end.
    """

    def __init__(self, verbose: int | None) -> None:
        if not isinstance(verbose, bool):
            check_int(verbose, "verbose", 0, or_none=True)
        # A line replaces the one before, so that the output does not fill with them.
        self._replaces_lines = _is_terminal_or_notebook(sys.stderr)
        self.shown = self._replaces_lines
        if verbose is not None:
            self.shown = bool(verbose) and sys.stderr is not None
        # The time of day may be set while the work goes on.
        self._started = self._last = time.monotonic()
        self._said = (0, "")
        self._written = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._written and self._replaces_lines:
            print(REPLACE, end="", file=sys.stderr, flush=True)

    def count(self, parts: Iterable[T], n_parts: int, what: str) -> Iterator[T]:
        """Pass parts on, and say their number so far."""
        for number, part in enumerate(parts, start=1):
            yield part
            self.say_done(number, n_parts, what)

    def say_done(self, done: int, total: int | None, what: str) -> None:
        """Say how much is done, such as "rows"; a total of None is not known."""
        if not done or (done, what) == self._said:  # joblib says the end twice
            return
        self._said = (done, what)
        elapsed = time.monotonic() - self._started
        if not total:
            self._say(f"{done:,} {what}, {elapsed:.0f} s")
            return
        left = elapsed / done * (total - done)
        text = f"{done:,} of {total:,} {what} ({done / total:.0%})"
        self._say(f"{text}, {left:.0f} s left", is_last=done == total)

    def _say(self, text: str, *, is_last: bool = False) -> None:
        """Write a line, unless the previous one is recent."""
        now = time.monotonic()
        before, end, apart = "", "\n", ELSEWHERE
        if self._replaces_lines:
            before, end, apart = REPLACE, "", ON_A_TERMINAL
        is_due = now - self._last >= apart or (is_last and not self._replaces_lines)
        if self.shown and is_due:
            self._last, self._written = now, True
            print(before + text, end=end, file=sys.stderr, flush=True)


def _is_terminal_or_notebook(stream: TextIO | None) -> bool:
    # Programs without a console have no standard error.
    if stream is None:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")

"""Progress of long work on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

from skrank_metrics._input.parameters import check_int
from skrank_metrics._output.result import WIDTH

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

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._last > self._started and self._replaces_lines:
            self._write(REPLACE)

    def count(self, parts: Iterable[T], n_parts: int, what: str) -> Iterator[T]:
        """Pass parts on, and say their number so far."""
        for number, part in enumerate(parts, start=1):
            yield part
            self.say_done(number, n_parts, what)

    def say_done(self, done: int, total: int | None, what: str, further: str = "") -> None:
        """Say how much is done, such as "rows", unless it was said lately; a total of None is not known."""
        now = time.monotonic()
        is_due = now - self._last >= (ON_A_TERMINAL if self._replaces_lines else ELSEWHERE)
        is_last = done == total and not self._replaces_lines
        # joblib says the end twice.
        is_new = done > 0 and (done, what) != self._said
        if not (self.shown and is_new and (is_due or is_last)):
            return
        self._said, self._last = (done, what), now
        elapsed = now - self._started
        text = f"{done:,} {what}, {elapsed:.0f} s"
        if total:
            left = elapsed / done * (total - done)
            text = f"{done:,} of {total:,} {what} ({done / total:.0%}), {left:.0f} s left"
        text += further
        # If a line were wider than the terminal, only its end would be replaced.
        self._write(f"{REPLACE}{text[: WIDTH - 1]}" if self._replaces_lines else f"{text}\n")

    def _write(self, text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


def _is_terminal_or_notebook(stream: TextIO | None) -> bool:
    # Programs without a console have no standard error.
    if stream is None:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")

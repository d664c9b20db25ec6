"""Progress of long work, on terminals or if it is asked for."""

import io
import sys

import numpy as np
import pytest
from support.terminal import Terminal

from skrank_metrics._output import progress
from skrank_metrics._output.progress import REPLACE, Progress

HALF = "5 of 10 models fitted (50%), 8 s left"
WHOLE = "10 of 10 models fitted (100%), 0 s left"


@pytest.fixture
def clock(monkeypatch):
    """The time in seconds, which stands still until a test moves it."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def said(stream, verbose, clock, monkeypatch):
    """What is written by work that is half done after 8 seconds, whole after 16, and says so twice."""
    monkeypatch.setattr(sys, "stderr", stream)
    clock[0] = 0.0
    with Progress(verbose) as shown:
        for done, seconds in ((5, 8.0), (10, 16.0), (10, 18.0)):
            clock[0] = seconds
            shown.say_done(done, 10, "models fitted")
    return stream.getvalue()


def test_a_terminal_shows_one_line_that_is_removed(clock, monkeypatch):
    for verbose in (None, 1, True, 10):
        written = said(Terminal(), verbose, clock, monkeypatch)
        assert written == f"{REPLACE}{HALF}{REPLACE}{WHOLE}{REPLACE}"


class Notebook(io.StringIO):
    __module__ = "ipykernel.iostream"


def test_a_notebook_shows_what_a_terminal_shows(clock, monkeypatch):
    written = said(Notebook(), None, clock, monkeypatch)
    assert written == f"{REPLACE}{HALF}{REPLACE}{WHOLE}{REPLACE}"
    assert said(Notebook(), 0, clock, monkeypatch) == ""


def test_elsewhere_lines_are_rare_and_on_request(clock, monkeypatch):
    assert said(io.StringIO(), None, clock, monkeypatch) == ""
    assert said(io.StringIO(), 1, clock, monkeypatch) == f"{WHOLE}\n", "8 s are too soon"


def test_it_can_be_turned_off(clock, monkeypatch):
    for verbose in (0, False):
        assert said(Terminal(), verbose, clock, monkeypatch) == ""


def test_lines_on_a_terminal_are_apart(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(None) as shown:
        for number in shown.count(range(1, 13), 12, "parts"):
            clock[0] = number / 16
    lines = sys.stderr.getvalue().split(REPLACE)[1:-1]
    assert [line.partition(" ")[0] for line in lines] == ["4", "8", "12"], (
        "after 1/4 s each, as 3/16 are less than 0.2"
    )


def test_a_line_on_a_terminal_is_not_wider_than_it(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(None) as shown:
        clock[0] = 8.0
        shown.say_done(5, 10, "models fitted", "; further " + "x" * 200)
    said = f"{HALF}; further "
    line = said + "x" * (79 - len(said))
    assert sys.stderr.getvalue() == f"{REPLACE}{line}{REPLACE}"


def test_an_unknown_total_has_no_time_left(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress(None) as shown:
        shown.say_done(0, None, "rows")
        clock[0] = 3.0
        shown.say_done(12_000, None, "rows")
    assert sys.stderr.getvalue() == f"{REPLACE}12,000 rows, 3 s{REPLACE}"


LINE = "{done:,} of {total:,} rows ({share:.0%}), {left:.0f} s left{further}"
LINE_WITHOUT_TOTAL = "{done:,} rows, {elapsed:.0f} s{further}"


@pytest.mark.parametrize("seed", range(20))
def test_lines_of_random_work(seed, clock, monkeypatch):
    """A line for each message that is new and late enough, and on request for the last one, too."""
    random = np.random.default_rng(seed)
    on_terminal = bool(seed % 2)
    stream = Terminal() if on_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    verbose = [None, 0, 1, True][random.integers(4)]
    total = [None, 5000][random.integers(2)]
    further = ["", ", best 0.5"][random.integers(2)]
    said = [0]
    expected = []
    now = 0.0
    last_line = 0.0
    with Progress(verbose) as shown:
        for done in [0, 700, 700, 2500, 4100, 5000, 5000]:
            now += random.choice([0.1, 0.3, 4.0, 11.0])
            clock[0] = now
            shown.say_done(done, total, "rows", further)
            is_late = now - last_line >= (0.2 if on_terminal else 10)
            is_last = done == total and not on_terminal
            if done == said[-1] or not (is_late or is_last):
                continue
            said.append(done)
            last_line = now
            values = {"done": done, "further": further, "elapsed": now}
            text = LINE_WITHOUT_TOTAL
            if total is not None:
                values |= {"total": total, "share": done / total}
                values["left"] = now / done * (total - done)
                text = LINE
            expected.append(text.format(**values))
    is_shown = on_terminal if verbose is None else bool(verbose)
    if not is_shown:
        assert stream.getvalue() == ""
    elif on_terminal:
        ends = [REPLACE] if expected else []
        assert stream.getvalue() == "".join([*[REPLACE + line for line in expected], *ends])
    else:
        assert stream.getvalue().splitlines() == expected


def test_programs_without_a_console_show_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Progress(1) as shown:
        shown.say_done(1, 2, "rows")


@pytest.mark.parametrize("verbose", ["1", 1.0, -1])
def test_other_values_of_verbose_are_refused(verbose):
    with pytest.raises((TypeError, ValueError), match="verbose must be an int >= 0 or None; got"):
        Progress(verbose)

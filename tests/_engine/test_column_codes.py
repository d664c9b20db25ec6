"""Numbers of the entries of a column: equal for what is alike, and the same in every process."""

import datetime
import enum
import os
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from skrank_metrics._engine.label_orders import codes_by_value

Colour = enum.Enum("Colour", ["RED", "BLUE"])


@dataclass(frozen=True)
class Topics:
    names: frozenset


class Plain:
    def __init__(self, value):
        self.value = value


class Titles(list):
    pass


def column_of(entries):
    column = np.empty(len(entries), dtype=object)
    for row, entry in enumerate(entries):
        column[row] = entry
    return column


def sets_of(number):
    return {f"topic {number}", "both", "x" * number}


KINDS = {
    "strings": lambda number: f"title {number}",
    "sets": sets_of,
    "dicts": lambda number: dict.fromkeys(sets_of(number), number),
    "tuples of sets": lambda number: (frozenset(sets_of(number)), None),
    "lists of lists": lambda number: [[number], ["both"]],
    "arrays": lambda number: np.array([number, 0.5]),
    "objects": lambda number: Plain(sets_of(number)),
    "dataclasses": lambda number: Topics(frozenset(sets_of(number))),
    "lists of a subclass": lambda number: Titles([number, "both"]),
    "dates": lambda number: datetime.date(2026, 1, 1 + number),
    "fractions": lambda number: Fraction(number, 7),
    "paths": lambda number: Path(f"documents/{number}"),
    "functions": lambda number: (len, sum, max)[number],
}


@pytest.mark.parametrize("kind", KINDS)
def test_equal_entries_have_equal_codes_in_any_order_of_rows(kind):
    entries = [KINDS[kind](number) for number in (0, 1, 2, 1, 0)]
    codes = codes_by_value(column_of(entries))
    assert codes[0] == codes[4]
    assert codes[1] == codes[3]
    assert sorted(set(codes.tolist())) == [0, 1, 2]
    turned = codes_by_value(column_of(entries[::-1]))
    np.testing.assert_array_equal(turned[::-1], codes)


def test_different_values_have_different_codes():
    entries = ["1", 1, b"1", {"1"}, ["1"], 10, 0.5, None, Colour.RED, Colour.BLUE, np.nan]
    codes = codes_by_value(column_of([*entries, float("nan")]))
    assert codes[-1] == codes[-2]
    assert len({*codes.tolist()}) == len(entries)


def test_entries_that_show_nothing_count_as_different():
    entries = column_of([(number for number in range(3)), "b", "b"])
    assert codes_by_value(entries).tolist() == [0, 1, 2]


SCRIPT = """
import numpy as np
from skrank_metrics import make_metric
from _engine.test_column_codes import KINDS, Plain, Topics, column_of

def first(labels, topics):
    found = [getattr(entry, "names", None) or getattr(entry, "value", entry) for entry in topics]
    return sum(len(str(sorted(map(str, own)))) / rank**2 for rank, own in enumerate(found, 1))

metric = make_metric(first, documents=["topics"])
for kind in ("sets", "dicts", "objects", "dataclasses"):
    column = column_of([KINDS[kind](number) for number in range(9)])
    print(kind, metric([1] * 9, [0] * 9, qid=[0] * 9, documents={"topics": column}))
"""


@pytest.mark.slow
def test_drawn_orders_do_not_depend_on_the_process():
    printed = set()
    for seed in "012":
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        printed.add(done.stdout)
    assert len(printed) == 1
    assert printed.pop().count("\n") == 4

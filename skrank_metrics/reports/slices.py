"""Parts of the queries of a report: slices from ``by``, their order and their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import group_rows
from skrank_metrics._input.interface import on_command_line
from skrank_metrics._input.query_ids import as_python

# Number of slices shown: the largest ones, since the mean of a few queries says little.
MOST_SLICES = 20
# Name of all queries together, beside slices.
ALL = "all"


class Slice(Protocol):
    """A report or a comparison of some of the queries."""

    @property
    def n_queries(self) -> int:
        """Number of queries."""


T = TypeVar("T", bound=Slice)


def queries_of_slices(by: NDArray[Any]) -> list[tuple[Any, IntArray]]:
    """Slices with the positions of their queries, sorted if they have an order, missing values last."""
    slices = group_rows(by)
    numbered = list(enumerate(as_python(slices.ids)))
    try:
        numbered.sort(key=lambda item: [(part is None, part) for part in _as_tuple(item[1])])
    except (TypeError, ValueError):
        numbered.sort(key=lambda item: item[1] is None)
    return [(name, np.flatnonzero(slices.codes == number)) for number, name in numbered]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def name_of_slice(value: Any) -> str:
    """A slice as text: "missing" for a missing value, and the values of several columns in one line."""
    return ", ".join("missing" if part is None else str(part) for part in _as_tuple(value))


def names_of_slices(values: Iterable[Any]) -> dict[Any, str]:
    """A distinct name for each slice, also different from that of all queries, and the same everywhere.

    If 1 and "1" are both slices, the second becomes "1 (2)".
    """
    names: dict[Any, str] = {}
    taken = {ALL}
    for value in values:
        name = unused = name_of_slice(value)
        number = 1
        while unused in taken:
            number += 1
            unused = f"{name} ({number})"
        taken.add(unused)
        names[value] = unused
    return names


def largest(slices: Mapping[Any, T]) -> dict[Any, T]:
    """The slices to show in their order: if there are many, the largest."""
    shown = set(sorted(slices, key=lambda value: -slices[value].n_queries)[:MOST_SLICES])
    return {value: part for value, part in slices.items() if value in shown}


def note_on_largest(n_shown: int, n_all: int, everywhere: str) -> list[str]:
    """Say where all slices are in Python; no sentence if all are shown."""
    if n_shown == n_all:
        return []
    if on_command_line():
        everywhere = "--output json"
    return [f"These are the largest {n_shown} of {n_all}; {everywhere} has all."]


def flat_slice(value: Any) -> str:
    """Spell a slice with letters, digits and underscores, as described in to_dict."""
    parts = [name_of_slice(part) for part in _as_tuple(value)]
    # An underscore is encoded only if it would begin a code.
    return "_x_".join(re.sub(r"[^A-Za-z0-9_]|_(?=x)", _code, part) for part in parts)


def _code(found: re.Match[str]) -> str:
    return f"_x{ord(found[0]):x}_"

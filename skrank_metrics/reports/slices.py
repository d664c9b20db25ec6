"""Parts of the queries of a report: slices from ``by``, their order and their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import Grouping, concatenate_ranges, group_codes, group_rows
from skrank_metrics._input.query_ids import (
    as_python,
    check_aligned,
    check_order_of_queries,
    group_ids,
    id_per_query,
    to_id_array,
)
from skrank_metrics.metrics._record import flat_name

# Number of slices shown: the largest ones, since the mean of a few queries says little.
MOST_SLICES = 20
# Name of all queries together, beside slices.
ALL = "all"

T = TypeVar("T")


def part_of(lists: QueryLists, queries: IntArray) -> QueryLists:
    """The documents of some of the queries."""
    grouping = lists.grouping
    rows = concatenate_ranges(grouping.starts[queries], grouping.sizes[queries])
    part = Grouping(grouping.ids[queries], grouping.sizes[queries], None)
    return lists.take(rows, part, None if lists.weights is None else lists.weights[queries])


def slices_and_groups(
    rows: Grouping,
    y_true: Any = None,
    *,
    by: Any = None,
    groups: Any = None,
    by_query: bool = False,
) -> dict[str, Any]:
    """The slice and the group of each query, from one value per row; if ``by_query``, rows are queries."""
    rows = Grouping(rows.ids, np.ones_like(rows.sizes), None) if by_query else rows
    given = {name: own for name, own in {"by": by, "groups": groups}.items() if own is not None}
    return {
        name: slice_of_query(own, rows, y_true=y_true, name=name) for name, own in given.items()
    }


def slice_of_query(
    given: Any,
    rows: Grouping | None = None,
    *,
    ids: Any = None,
    y_true: Any = None,
    name: str = "by",
) -> NDArray[Any]:
    """One slice per query, or one group, from one value per row of ``y_true``, or per query with one of the ids.

    A missing slice is None, one of several columns a tuple; groups must not be missing.
    """
    columns, lengths = _labelled(given, name), {} if ids is None else {len(ids): "query"}
    if y_true is not None:
        check_aligned(y_true=y_true, **dict(columns))
    if rows is not None:
        lengths.setdefault(
            n_rows := int(rows.sizes.sum()), "query" if n_rows == len(rows.ids) else "document"
        )
    shapes = {np.shape(column) for _, column in columns}
    if len(shapes) != 1 or not shapes <= {(length,) for length in lengths}:
        needed = ", or per ".join(f"{what}, {length} in all" for length, what in lengths.items())
        got = " and ".join(f"shape {shape}" for shape in sorted(shapes)) or "no columns"
        got = repr(given) if isinstance(given, str) else got
        raise ValueError(f"{name} must hold one value per {needed}; got {got}.")
    ((length,),) = shapes
    values = _group([column for _, column in columns], length, name)
    if rows is None or (ids is not None and length == len(ids)):
        for label, column in columns:
            check_order_of_queries(column, ids, label)
        return values.ids[values.codes]
    return id_per_query(values, rows, name, "Pass the same value for all documents of a query.")


def frame_columns(frame: Any) -> list[tuple[Any, Any]]:
    """Names and columns of a data frame or a dict; empty for anything else."""
    if hasattr(frame, "column_names"):  # of pyarrow
        return list(zip(frame.column_names, frame.columns, strict=True))
    if hasattr(frame, "get_columns"):  # of polars
        return [(column.name, column) for column in frame.get_columns()]
    return list(frame.items()) if isinstance(frame, Mapping) or hasattr(frame, "columns") else []


def _labelled(given: Any, name: str) -> list[tuple[str, Any]]:
    """Columns by their names in errors."""
    if isinstance(given, list | tuple):
        given = to_id_array(given, name)  # NumPy would make a second dimension of tuples
    named = [(f"{name}[{key!r}]", own) for key, own in frame_columns(given)]
    if not named and not isinstance(given, Mapping):
        named = [(name, own) for own in _parts_of_tuples(given) or [given]]
    return [
        (label, to_id_array(own, name) if isinstance(own, list | tuple) else own)
        for label, own in named
    ]


def _parts_of_tuples(given: Any) -> list[Any]:
    """Split tuples into columns, so that one missing part does not make the whole slice missing."""
    if str(getattr(given, "dtype", "")) != "object" or np.ndim(given) != 1:
        return []
    if not isinstance(
        next(iter(given), None), tuple
    ):  # most slices are strings, of millions of rows
        return []
    lengths = {len(value) if isinstance(value, tuple) else 0 for value in given}
    alike = len(lengths) == 1 and min(lengths) > 1
    return (
        [object_array(column, len(column)) for column in zip(*given, strict=True)] if alike else []
    )


def _group(columns: Sequence[Any], n_rows: int, name: str) -> Grouping:
    first, *others = (
        group_ids(column, n_rows, name, may_be_missing=name == "by") for column in columns
    )
    if not others:
        return first
    codes, parts = first.codes, [first, *others]
    for other in others:
        codes = group_codes(codes * len(other.ids) + other.codes)[1].codes
    places, grouping = group_codes(codes)
    names = [as_python(part.ids[part.codes[places]]) for part in parts]
    return replace(grouping, ids=object_array(zip(*names, strict=True), len(places)))


def object_array(values: Iterable[Any], n: int) -> NDArray[Any]:
    """An array of objects; np.array would make a second dimension of tuples."""
    return np.fromiter(values, dtype=object, count=n)


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
    """A distinct name for each slice, also different from that of all queries, and the same everywhere."""
    return _numbered({value: name_of_slice(value) for value in values}, {ALL}, "{} ({})")


def flat_names(metrics: Iterable[str]) -> dict[str, str]:
    """Flat names of metrics, which could not be taken for each other or for a part or a slice of another."""
    flat = {name: flat_name(name).replace("_slice", "_slices") for name in metrics}
    return _numbered(flat, set(), "{}_{}", _ENDINGS)


def _numbered(
    names: Mapping[T, str], taken: set[str], form: str, endings: Sequence[str] = ("",)
) -> dict[T, str]:
    """Number the names of which one is taken already: if 1 and "1" are both slices, the second becomes "1 (2)"."""
    found = {}
    for key, name in names.items():
        unused, number = name, 2
        while not taken.isdisjoint(all_ := {unused + ending for ending in endings}):
            unused, number = form.format(name, number), number + 1
        taken |= all_
        found[key] = unused
    return found


def largest(slices: Mapping[Any, T], sizes: Mapping[Any, int]) -> dict[Any, T]:
    """The slices to show in their order: if there are many, the largest."""
    shown = set(sorted(slices, key=lambda value: -sizes[value])[:MOST_SLICES])
    return {value: part for value, part in slices.items() if value in shown}


def flat_slice(value: Any) -> str:
    """Spell a slice with letters, digits and underscores, as described in to_dict, so that different ones differ."""
    parts = value if isinstance(value, tuple) and len(value) > 1 else [value]
    return "_x_".join(
        _ENCODED.sub(lambda found: f"_x{ord(found[0]):x}_", _flat_text(part)) for part in parts
    )


def _flat_text(value: Any) -> str:
    if isinstance(value, str):
        return "'" * bool(_NOT_TEXT.match(value)) + value
    return (
        name_of_slice(value) if isinstance(value, bool | int | float | type(None)) else f"={value}"
    )


# Of what is known of a metric, in the names of a flat dict.
_ENDINGS = ("", "_low", "_high", "_std", "_n_undefined")
# Text that needs an apostrophe, and characters that are encoded; an underscore only if it would begin a code.
_NOT_TEXT = re.compile(r"['=]|[+-]?[0-9.]|[+-]?(nan|inf)$|(missing|True|False)$", re.DOTALL)
_ENCODED = re.compile(r"[^A-Za-z0-9_]|_(?=x)")

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
from skrank_metrics._input.codes import without_nulls
from skrank_metrics._input.grouping import Grouping, concatenate_ranges, group_codes, group_rows
from skrank_metrics._input.query_ids import (
    as_python,
    check_aligned,
    check_ids,
    check_order_of_queries,
    find_missing,
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
    return replace(
        lists,
        grouping=Grouping(grouping.ids[queries], grouping.sizes[queries], None),
        given_labels=lists.given_labels[rows],
        scores=lists.scores[rows],
        weights=None if lists.weights is None else lists.weights[queries],
        retrieved=None if lists.retrieved is None else lists.retrieved[rows],
        judged=None if lists.judged is None else lists.judged[rows],
        documents={name: column[rows] for name, column in lists.documents.items()},
    )


def slices_and_groups(
    rows: Grouping, y_true: Any = None, *, by: Any = None, groups: Any = None, by_query: bool = False
) -> dict[str, Any]:
    """The slice and the group of each query, from one value per row; if ``by_query``, rows are queries."""
    given = {"by": by, "groups": groups}
    if y_true is not None:
        for name, own in given.items():
            check_aligned(y_true=y_true, **_named(own, name))
    if by_query:
        rows = Grouping(rows.ids, np.ones_like(rows.sizes), None)
    return {name: None if own is None else slice_of_query(own, rows, name=name) for name, own in given.items()}


def slice_of_query(
    given: Any, rows: Grouping | None = None, *, ids: NDArray[Any] | None = None, name: str = "by"
) -> NDArray[Any]:
    """One slice per query, or one group, which must not be missing, from one value per row or per query with an id.

    A missing slice is None, and one of several columns a tuple.
    """
    columns = _columns(given, name)
    lengths = {} if ids is None else {"query": len(ids)}
    if rows is not None:
        n_rows = int(rows.sizes.sum())
        lengths.setdefault("query" if n_rows == len(rows.ids) else "document", n_rows)
    shapes = {np.shape(column) for column in columns}
    if len(shapes) != 1 or not shapes <= {(length,) for length in lengths.values()}:
        needed = ", or per ".join(f"{what}, {length} in all" for what, length in lengths.items())
        got = " and ".join(f"shape {shape}" for shape in sorted(shapes)) or "no columns"
        got = repr(given) if isinstance(given, str) else got
        raise ValueError(f"{name} must hold one value per {needed}; got {got}.")
    n_values = len(columns[0])
    values = _group(columns, n_values, name)
    if ids is not None and n_values == len(ids):
        for label, column in _named(given, name).items():
            check_order_of_queries(column, ids, label)
        return values.ids[values.codes]
    assert rows is not None
    return id_per_query(values, rows, name, "Pass the same value for all documents of a query.")


def _named(given: Any, name: str) -> dict[str, Any]:
    """The objects that have an index, by their names in errors."""
    return {f"{name}[{key!r}]": own for key, own in given.items()} if isinstance(given, Mapping) else {name: given}


def columns_of(frame: Any) -> list[Any]:
    """The columns of a data frame; empty if it is none."""
    if hasattr(frame, "column_names"):  # of pyarrow
        return list(frame.columns)
    if hasattr(frame, "get_columns"):  # of polars
        return list(frame.get_columns())
    return [column for _, column in frame.items()] if hasattr(frame, "columns") else []


def _columns(given: Any, name: str) -> list[Any]:
    """The columns of slices, as arrays."""
    if isinstance(given, Mapping):
        return [to_id_array(own, name) if isinstance(own, list | tuple) else own for own in given.values()]
    if isinstance(given, list | tuple):
        given = to_id_array(given, name)  # NumPy would make a second dimension of tuples
    return columns_of(given) or _parts_of_tuples(given) or [given]


def _parts_of_tuples(by: Any) -> list[Any]:
    """Split tuples into columns, so that one missing part does not make the whole slice missing."""
    if str(getattr(by, "dtype", "")) != "object" or np.ndim(by) != 1:
        return []
    if not isinstance(next(iter(by), None), tuple):  # most slices are strings, of millions of rows
        return []
    values = list(by)
    lengths = {len(value) if isinstance(value, tuple) else 0 for value in values}
    if len(lengths) != 1 or min(lengths) < 2:
        return []
    return [_objects(column, len(values)) for column in zip(*values, strict=True)]


def _group(columns: Sequence[Any], n_rows: int, name: str) -> Grouping:
    """Rows grouped by slice."""
    first, *others = (_group_column(column, n_rows, name) for column in columns)
    if not others:
        return first
    codes, parts = first.codes, [first, *others]
    for other in others:
        codes = group_codes(codes * len(other.ids) + other.codes)[1].codes
    places, grouping = group_codes(codes)
    names = [as_python(part.ids[part.codes[places]]) for part in parts]
    return Grouping(_objects(zip(*names, strict=True), len(places)), grouping.sizes, grouping.shuffled)


def _group_column(column: Any, n_rows: int, name: str) -> Grouping:
    try:
        return group_ids(column, n_rows, name)
    except ValueError:
        if name == "groups":
            raise
        present, missing = without_nulls(column)
        array, others = find_missing(to_id_array(present, "by"), "by")
        if np.any(others):
            array, missing[~missing] = array[~others], others
        if not missing.any():
            raise
    named = group_rows(check_ids(array, n_rows - int(missing.sum()), "by")) if not missing.all() else None
    codes = np.full(n_rows, 0 if named is None else len(named.ids))
    if named is not None:
        codes[~missing] = named.codes
    first, grouping = group_codes(codes)
    names = [*(() if named is None else as_python(named.ids)), None]
    return Grouping(_objects((names[code] for code in codes[first]), len(first)), grouping.sizes, grouping.shuffled)


def _objects(values: Iterable[Any], n: int) -> NDArray[Any]:
    array = np.empty(n, dtype=object)  # np.array would make a second dimension of tuples
    for place, value in enumerate(values):
        array[place] = value
    return array


def queries_of_slices(by: NDArray[Any]) -> list[tuple[Any, IntArray]]:
    """Slices with the positions of their queries, sorted if they have an order, missing values last."""
    slices = group_rows(by)
    numbered = list(enumerate(as_python(slices.ids)))
    try:
        numbered.sort(key=lambda item: _order(item[1]))
    except (TypeError, ValueError):
        numbered.sort(key=lambda item: item[1] is None)
    return [(name, np.flatnonzero(slices.codes == number)) for number, name in numbered]


def _order(name: Any) -> Any:
    if isinstance(name, tuple):
        return (0, tuple(map(_order, name)))
    return (1, 0) if name is None else (0, name)


def name_of_slice(value: Any) -> str:
    """A slice as text: "missing" for a missing value, and the values of several columns in one line."""
    if isinstance(value, tuple):
        return ", ".join(map(name_of_slice, value))
    return "missing" if value is None else str(value)


def names_of_slices(values: Iterable[Any]) -> dict[Any, str]:
    """A distinct name for each slice, also different from that of all queries, and the same everywhere."""
    names, taken = {}, {ALL}
    for value in values:  # if 1 and "1" are both slices, the second becomes "1 (2)"
        name, number = name_of_slice(value), 2
        unused = name
        while unused in taken:
            unused, number = f"{name} ({number})", number + 1
        names[value] = unused
        taken.add(unused)
    return names


def largest(slices: Mapping[Any, T], sizes: Mapping[Any, int]) -> dict[Any, T]:
    """The slices to show in their order: if there are many, the largest."""
    shown = set(sorted(slices, key=lambda value: -sizes[value])[:MOST_SLICES])
    return {value: part for value, part in slices.items() if value in shown}


def flat_slice(value: Any) -> str:
    """Spell a slice with letters, digits and underscores, so that different slices are spelled differently.

    Other characters become "_x", their code in hexadecimal digits and "_": "C++" is "C_x2b__x2b_". The values of
    several columns are joined by "_x_". Text that could be taken for a number, a bool or a missing value is preceded by
    an apostrophe, and values of other types by "=", before this is done.
    """
    parts = value if isinstance(value, tuple) and len(value) > 1 else [value]
    return "_x_".join(_ENCODED.sub(lambda found: f"_x{ord(found[0]):x}_", _flat_text(part)) for part in parts)


def _flat_text(value: Any) -> str:
    if isinstance(value, str):
        return "'" * bool(_NOT_TEXT.match(value)) + value
    return name_of_slice(value) if isinstance(value, bool | int | float | type(None)) else f"={value}"


def flat_names(names: Mapping[str, Any]) -> dict[str, str]:
    """Flat names of metrics, numbered if one would repeat or could be taken for a part of another."""
    found, taken = dict[str, str](), set[str]()
    for name in names:
        short, number = flat_name(name), 2
        unused = short
        while not taken.isdisjoint(keys := {unused, *(f"{unused}_{kind}" for kind in _KINDS)}):
            unused, number = f"{short}_{number}", number + 1
        taken |= keys
        found[name] = unused
    return found


# What is known of a metric besides its mean.
_KINDS = ("low", "high", "std", "n_undefined")
# Text that needs an apostrophe, and characters that are encoded; an underscore only if it would begin a code.
_NOT_TEXT = re.compile(r"['=]|[+-]?[0-9.]|[+-]?(nan|inf)$|(missing|True|False)$", re.DOTALL)
_ENCODED = re.compile(r"[^A-Za-z0-9_]|_(?=x)")


def column_of_slices(by: NDArray[Any]) -> Any:
    """The slices of queries as a column of a frame: one value, or text, per query."""
    if by.dtype != object:
        return by
    values = as_python(by)
    return list(map(name_of_slice, values)) if any(isinstance(value, tuple) for value in values) else values

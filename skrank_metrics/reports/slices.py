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


def group_of_query(groups: Any, grouping: Grouping, *, two_dimensional: bool) -> NDArray[Any]:
    """One group per query, such as its user, which must not be missing."""
    n_expected = len(grouping.ids) if two_dimensional else int(grouping.sizes.sum())
    units = group_ids(groups, n_expected, "groups")
    if two_dimensional:
        return units.ids[units.codes]
    return id_per_query(units, grouping, "groups", "Pass the same group for all documents of a query.")


def check_by_aligned(y_true: Any, by: Any) -> None:
    """Refuse slices whose index does not name the rows of the labels in the same order."""
    check_aligned(y_true=y_true, **_named(by))


def _named(by: Any) -> dict[str, Any]:
    """The objects that have an index, by their names in errors."""
    if isinstance(by, Mapping):
        return {f"by[{name!r}]": column for name, column in by.items()}
    return {"by": by}


def slice_of_query(by: Any, grouping: Grouping, *, two_dimensional: bool) -> NDArray[Any]:
    """One slice per query from ``by``."""
    what, n_expected = ("query", len(grouping.ids)) if two_dimensional else ("document", int(grouping.sizes.sum()))
    columns = columns_of(by)
    if {np.shape(column) for column in columns} != {(n_expected,)}:
        raise ValueError(f"by must be an array with one value per {what}, {n_expected} in all; got {what_came(by)}.")
    slices = _group(columns, n_expected)
    if two_dimensional:
        return slices.ids[slices.codes]
    return id_per_query(slices, grouping, "by", "Pass the same value for all documents of a query.")


def check_slices(by: Any, ids: NDArray[Any]) -> NDArray[Any]:
    """One slice per query from one value per query, None if it is missing, a tuple if there are several columns."""
    for name, column in _named(by).items():
        check_order_of_queries(column, ids, name)
    slices = _group(columns_of(by), len(ids))
    return slices.ids[slices.codes]


def shapes_of(by: Any) -> set[tuple[int, ...]]:
    """Shapes of the columns of ``by``."""
    return {np.shape(column) for column in columns_of(by)}


def what_came(by: Any) -> str:
    """The shapes of ``by`` for an error, or the word that was passed."""
    if isinstance(by, str):
        return repr(by)
    return " and ".join(f"shape {shape}" for shape in sorted(shapes_of(by))) or "no columns"


def columns_of(by: Any) -> list[Any]:
    """The columns of slices, or of a data frame."""
    if isinstance(by, Mapping):
        return [to_id_array(column, "by") if isinstance(column, list | tuple) else column for column in by.values()]
    if isinstance(by, list | tuple):
        by = to_id_array(by, "by")  # NumPy would make a second dimension of tuples
    if hasattr(by, "column_names"):  # of pyarrow
        return [by.column(place) for place in range(len(by.column_names))]
    if len(np.shape(by)) == 2 and hasattr(by, "columns"):
        return [by.iloc[:, place] if hasattr(by, "iloc") else by.to_series(place) for place in range(len(by.columns))]
    return _parts_of_tuples(by) or [by]


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


def _group(columns: Sequence[Any], n_rows: int) -> Grouping:
    """Rows grouped by slice."""
    first, *others = (_group_column(column, n_rows) for column in columns)
    if not others:
        return first
    codes, parts = first.codes, [first, *others]
    for other in others:
        codes = group_codes(codes * len(other.ids) + other.codes)[1].codes
    places, grouping = group_codes(codes)
    names = [as_python(part.ids[part.codes[places]]) for part in parts]
    return Grouping(_objects(zip(*names, strict=True), len(places)), grouping.sizes, grouping.shuffled)


def _group_column(column: Any, n_rows: int) -> Grouping:
    try:
        return group_ids(column, n_rows, "by")
    except ValueError:
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

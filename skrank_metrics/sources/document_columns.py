"""Values by the ids of documents or queries: columns for custom metrics, weights, slices and groups."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import as_numpy, refuse_rounded, to_objects
from skrank_metrics._input.columns import document_columns
from skrank_metrics._input.id_types import refuse_unlike
from skrank_metrics._output.result import counted
from skrank_metrics.sources.column_roles import ColumnNames, find_column
from skrank_metrics.sources.lists import Ids


def values_by_id(values: Any, ids: Sequence[Any], name: str, what: str = "query") -> list[Any]:
    """One value per query or document, from values by its id."""
    table = values
    if hasattr(values, "iloc") and values.ndim == 1:
        if not values.index.is_unique:
            raise ValueError(f"{name} has a {what} twice in its index.")
        table = values.to_dict()
    if not isinstance(table, Mapping):
        raise TypeError(
            f"{name} must be a dict, or a Series with the {what} ids as index; got {type(values).__name__}."
        )
    # A dict counts each id once, and keeps their order.
    absent = dict.fromkeys(one for one in ids if one not in table)
    if absent:
        first = next(iter(absent))
        raise ValueError(
            f"{name} has no value for {counted(len(absent), what)}, such as {first!r}."
        )
    refuse_unlike(name, table, f"there is the {what}", ids)
    return [table[one] for one in ids]


def columns_by_id(
    documents: Any, names: ColumnNames, ids: Sequence[Any]
) -> dict[str, NDArray[Any]]:
    """The entries of documents, with the given ids, in each column."""
    columns = document_columns(documents)
    if isinstance(documents, Mapping):
        found = {}
        for name, column in columns.items():
            holder = f"documents[{name!r}]"
            found[name] = to_column(values_by_id(column, ids, holder, "document"), holder)
        return found
    given = _ids_of_frame(documents, columns, names)
    table = {one: place for place, one in enumerate(Ids.from_column(given, "documents").tolist())}
    if len(table) < len(given):
        raise ValueError("documents has a document twice.")
    places = np.array(values_by_id(table, ids, "documents", "document"), dtype=np.intp)
    return {
        name: _entries(column, f"documents[{name!r}]")[places] for name, column in columns.items()
    }


def _ids_of_frame(documents: Any, columns: dict[str, Any], names: ColumnNames) -> Any:
    """The column of ids, which is taken out of the columns, or the index."""
    chosen = find_column("document", list(columns), names, "documents")
    if chosen is not None:
        return columns.pop(chosen)
    index = getattr(documents, "index", None)
    if index is None:
        raise ValueError(
            "documents has no column 'document' of ids; name it with columns={'document': ...}."
        )
    return index


def _entries(column: Any, name: str) -> NDArray[Any]:
    """The entries of a column; lists and other objects stay what they are."""
    if hasattr(column, "to_pylist"):  # pyarrow's nulls would turn integers into floats
        return to_column(column.to_pylist(), name)
    array = as_numpy(column)
    refuse_rounded(column, array, name)
    # NumPy would cut longer strings, if some are replaced.
    return array.astype(object) if array.dtype.kind in "US" else array


def to_column(values: list[Any], name: str) -> NDArray[Any]:
    """Numbers and times as an array, arrays as rows, and anything else as objects."""
    kinds = set(map(type, values))
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    if arrays and len(arrays) == len(values) and len({value.shape for value in arrays}) == 1:
        return np.stack(arrays)
    # Of mixed types, NumPy would make strings.
    if kinds and all(issubclass(kind, numbers.Number | np.bool_) for kind in kinds):
        array = np.array(values)
        refuse_rounded(values, array, name)
        return array
    if kinds == {np.datetime64}:
        return np.array(values)
    return to_objects(values)

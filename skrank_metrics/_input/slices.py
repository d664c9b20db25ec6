"""Values of queries, such as slices and groups, from columns of rows or of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import refuse_name, to_objects
from skrank_metrics._input.columns import frame_columns
from skrank_metrics._input.grouping import Grouping, group_codes
from skrank_metrics._input.query_ids import (
    as_python,
    check_aligned,
    check_order_of_queries,
    group_ids,
    id_per_query,
    to_id_array,
)


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
    refuse_name(given, name)
    columns = _labelled(given, name)
    if y_true is not None:
        check_aligned(y_true=y_true, **dict(columns))
    length = _common_length(columns, rows, ids, name)
    values = _group([column for _, column in columns], length, name)
    if rows is None or (ids is not None and length == len(ids)):
        for label, column in columns:
            check_order_of_queries(column, ids, label)
        return values.ids[values.codes]
    return id_per_query(values, rows, name, "Pass the same value for all documents of a query.")


def _common_length(
    columns: Sequence[tuple[str, Any]], rows: Grouping | None, ids: Any, name: str
) -> int:
    """The length of all columns, which must be that of the queries or of the rows."""
    allowed = {} if ids is None else {len(ids): "query"}
    if rows is not None:
        n_rows = int(rows.sizes.sum())
        allowed.setdefault(n_rows, "query" if n_rows == len(rows.ids) else "document")
    shapes = {np.shape(column) for _, column in columns}
    for length in allowed:
        if shapes == {(length,)}:
            return length
    needed = ", or per ".join(f"{what}, {length} in all" for length, what in allowed.items())
    raise ValueError(f"{name} must hold one value per {needed}; got shapes {sorted(shapes)}.")


def _labelled(given: Any, name: str) -> list[tuple[str, Any]]:
    """Columns by their names in errors."""
    named = [(f"{name}[{key!r}]", own) for key, own in frame_columns(given, name)]
    if not named and not isinstance(given, Mapping):
        named = [(name, given)]
    # NumPy would make a second dimension of tuples.
    return [
        (label, to_id_array(own, name) if isinstance(own, list | tuple) else own)
        for label, own in named
    ]


def _group(columns: Sequence[Any], n_rows: int, name: str) -> Grouping:
    first, *others = (
        group_ids(column, n_rows, name, may_be_missing=name == "by") for column in columns
    )
    if not others:
        return first
    codes = first.codes
    for other in others:
        # Numbered anew after each column, since the product of all lengths may overflow.
        codes = group_codes(codes * len(other.ids) + other.codes)[1].codes
    places, grouping = group_codes(codes)
    names = [as_python(column.ids[column.codes[places]]) for column in (first, *others)]
    return replace(grouping, ids=to_objects(list(zip(*names, strict=True))))

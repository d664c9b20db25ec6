"""Column types that differ between batches or files: numbers become the wider type, other kinds are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np


def widened(schema: Any, table: Any, numbers: Iterable[str], place: Callable[[], str]) -> Any:
    """The schema that can hold the values of the previous tables and of one more, which is at ``place()``."""
    import pyarrow as pa

    fields, numbers = [], set(numbers)
    for field in table.schema:
        before, now = schema.field(field.name).type, field.type
        kind = before if now == before else (_wider_number if field.name in numbers else _wider)(before, now)
        if kind is None:
            raise ValueError(
                f"column {field.name!r} must have one type in all batches and files; it is of type {now} in {place()}, "
                f"but {before} before. Convert the column, for example to strings everywhere."
            )
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def cast(table: Any, schema: Any) -> Any:
    """Convert a table to the wider types of a schema; a value that they cannot hold is an error."""
    import pyarrow as pa

    if table.schema.equals(schema):
        return table
    columns = []
    for field in schema:
        try:
            columns.append(table[field.name].cast(field.type))
        except pa.ArrowException as error:
            raise ValueError(
                f"column {field.name!r} must have values that {field.type} can hold, since its type differs in other "
                f"batches or files; {error}"
            ) from error
    return pa.table(columns, schema=schema)


def joined(tables: Sequence[Any]) -> Any:
    """Join tables, the last of which has the widest types."""
    import pyarrow as pa

    return pa.concat_tables([cast(table, tables[-1].schema) for table in tables])


def _wider_number(one: Any, other: Any) -> Any:
    import pyarrow as pa

    return pa.from_numpy_dtype(np.promote_types(one.to_pandas_dtype(), other.to_pandas_dtype()))


def _wider(one: Any, other: Any) -> Any:
    """The type that holds ids of both types; None if they are of different kinds: 7 and "7" are different ids."""
    import pyarrow as pa

    if _kind(one) != _kind(other):
        return None
    fields = [pa.schema([pa.field("id", kind)]) for kind in (one, other)]
    try:
        return pa.unify_schemas(fields, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None


def _kind(kind: Any) -> Any:
    from pyarrow import types

    checks = (types.is_integer, types.is_floating, types.is_string, types.is_large_string, types.is_temporal)
    names = ("integer", "float", "string", "string", "time")
    return next((name for check, name in zip(checks, names, strict=True) if check(kind)), kind)

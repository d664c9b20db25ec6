"""Rows of files, Arrow streams and iterators of batches, as pyarrow tables with checked columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER
from skrank_metrics.sources.columns import NUMBERS, Columns
from skrank_metrics.sources.files import SUFFIXES, TableFile, format_of, readable

# The values that are ignored if a mask is False.
_MASKED = {"label": "judged", "score": "retrieved"}


class _Part(NamedTuple):
    """Tables of one file or stream."""

    holder: str
    tables: Iterable[Any]
    place: Callable[[int], str]  # a row in words
    lent: bool = False  # whether the memory may be used again by whoever yields the tables


def tables_of(source: Any, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
    """Tables of at most ``batch_rows`` rows with the chosen columns and valid values."""
    schema, empty = None, True
    for part in _tables_by_source(source, columns, batch_rows, use_threads):
        first = 0
        for table in part.tables:
            chosen = selected(table, columns, part.holder)
            if not len(chosen):
                continue
            if found := bad_cell(chosen, columns):
                row, what = found
                raise ValueError(f"{what} in {part.place(first + row)}.")
            chosen = _copied(chosen) if part.lent else chosen
            schema = chosen.schema if schema is None else _widened(schema, chosen, columns, partial(part.place, first))
            chosen, empty = _cast(chosen, schema), False
            yield from (chosen.slice(start, batch_rows) for start in range(0, len(chosen), batch_rows))
            first += len(chosen)
    if empty:
        raise ValueError(f"{_holder_of(source)} must hold at least one document; got none.")


def _holder_of(source: Any) -> str:
    return source.name if isinstance(source, TableFile) else "source"


def selected(table: Any, columns: Columns, holder: str) -> Any:
    """The chosen columns, checked, with plain values."""
    columns.check(table.schema, holder)
    return _plain_columns(table.select(columns.names))


def _plain_columns(table: Any) -> Any:
    import pyarrow as pa

    found = [pa.chunked_array([*map(plain_array, one.chunks)], _plain_kind(one.type)) for one in table.columns]
    return pa.table(found, table.column_names)


def _plain_kind(kind: Any) -> Any:
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if "view" in str(kind) else kind


def plain_array(array: Any) -> Any:
    """Replace categories, whose codes differ between batches, and view types by plain values."""
    import pyarrow as pa

    kind = _plain_kind(array.type)
    if pa.types.is_dictionary(array.type):  # pyarrow cannot decode views
        array = pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(kind)).dictionary_decode()
    return array.cast(kind)


def bad_cell(table: Any, columns: Columns) -> tuple[int, str] | None:
    """The row of the first null or invalid number of a column, and what is wrong; None if all are valid."""
    for name in columns.names:
        if table[name].null_count:
            return int(np.argmax(table[name].is_null().to_numpy())), f"column {name!r} must not hold nulls; got one"
    for argument, name in columns.by_argument:
        if argument not in NUMBERS:
            continue
        values = table[name].to_numpy()
        signed = argument == "score" or (argument == "label" and columns.signed)
        finite, low, least = argument != "score", -np.inf if signed else 0, "" if signed else " >= 0"
        if values.dtype.kind == "f":
            high = np.finfo(values.dtype).max if finite else np.inf
            low = -high if finite and signed else low
            expected = f"finite numbers{least}" if finite else "numbers"
        else:
            low, high = max(low, -LARGEST_EXACT_INTEGER), LARGEST_EXACT_INTEGER
            expected = EXACT_INTEGERS if signed else f"numbers >= 0, and {EXACT_INTEGERS}"
        if values.min() >= low and values.max() <= high:  # NaN fails both
            continue
        bad = ~((values >= low) & (values <= high))
        if (mask := columns.others.get(_MASKED.get(argument, ""))) is not None:
            bad &= table[mask].to_numpy()
        if bad.any():
            row = int(np.argmax(bad))
            if np.isnan(values[row]):
                return row, f"column {name!r} contains NaN, first"
            return row, f"column {name!r} must hold {expected}; got {values[row]}"
    return None


def _widened(schema: Any, table: Any, columns: Columns, place: Callable[[], str]) -> Any:
    """The schema that can hold the values of the previous tables and of one more, which starts at ``place()``."""
    import pyarrow as pa

    fields = []
    for field in table.schema:
        before, now, kind = schema.field(field.name).type, field.type, None
        if now == before:
            kind = now
        elif field.name in columns.numbers:
            kind = pa.from_numpy_dtype(np.promote_types(before.to_pandas_dtype(), now.to_pandas_dtype()))
        elif pa.types.is_binary(before) == pa.types.is_binary(now):  # b"7" and "7" are different ids
            try:
                both = [pa.schema([("id", one)]) for one in (before, now)]
                kind = pa.unify_schemas(both, promote_options="permissive").field(0).type
            except pa.ArrowException:
                kind = None
        if kind is None:
            raise ValueError(
                f"column {field.name!r} must have one type in all batches and files; it is of type {now} in {place()}, "
                f"but {before} before. Convert the column, for example to strings everywhere."
            )
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def _cast(table: Any, schema: Any) -> Any:
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

    return pa.concat_tables([_cast(table, tables[-1].schema) for table in tables])


def array_of(column: Any) -> Any:
    """Convert to a NumPy array, except strings: pyarrow groups them faster."""
    import pyarrow as pa

    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else pa.concat_arrays(array.chunks)
    strings = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    return array if strings else array.to_numpy(zero_copy_only=False)


def n_rows(source: Any) -> int | None:
    """Number of rows, if the source tells it."""
    if hasattr(source, "num_rows"):
        return int(source.num_rows)
    counts = [file.n_rows() for file in _files_of(source)]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def _files_of(source: Any) -> list[TableFile]:
    """The files if the source is a path or a list of paths."""
    given = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, list | tuple) or not all(isinstance(one, str | os.PathLike) for one in given):
        return []
    paths, seen = [str(os.fspath(one)) for one in given], set()
    for path in paths:
        if not os.path.isfile(path):
            raise FileNotFoundError(f"source must be an existing file, or a list of files; got {path!r}.")
        if format_of(path) is None:
            raise ValueError(f"source must end in {', '.join(chain(*SUFFIXES.values()))}; got {path!r}.")
        info = os.stat(path)
        if (key := (info.st_dev, info.st_ino)) in seen:
            raise ValueError(f"source must name each file once; {path!r} comes again.")
        seen.add(key)
    return [TableFile(path, str(format_of(path))) for path in paths]


def _tables_by_source(source: Any, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[_Part]:
    """The tables of each file or stream, and how to name their rows."""
    _refuse_engines(source)
    source, place = with_stream(source), "row {} of the source".format
    if files := [source] if isinstance(source, TableFile) else _files_of(source):
        for file in files:
            yield _Part(file.name, file.tables(columns, batch_rows, use_threads), file.place)
    elif hasattr(source, "__arrow_c_stream__"):
        # A table stays as it is; a reader may pass on arrays that are used again.
        yield _Part("the source", _of_stream(source), place, lent=not hasattr(source, "__len__"))
    elif isinstance(source, Iterable) and not isinstance(source, str | bytes | Mapping | np.ndarray):
        if isinstance(source, list | tuple) and len(set(map(id, source))) < len(source):
            raise ValueError("source must hold each batch once; one comes again, and its rows would count twice.")
        yield _Part("the source", (_of_batch(batch, columns) for batch in source), place, lent=True)
    else:
        raise TypeError(
            "source must be a path, a list of paths, an object with __arrow_c_stream__ such as a table of pyarrow or a "
            f"frame of polars, or an iterator of batches; got {type(source).__name__}."
        )


def _refuse_engines(source: Any) -> None:
    for engine, package in (("spark", "pyspark"), ("dask", "dask")):
        if type(source).__module__.partition(".")[0] == package:
            raise TypeError(
                f"source must not be a {engine.title()} frame, whose rows would all go through this process; pass it "
                f"to skrank_metrics.{engine}.evaluate."
            )


def with_stream(frame: Any) -> Any:
    """Convert frames of older versions, which do not support Arrow streams, to pyarrow tables."""
    import pyarrow as pa

    if not hasattr(frame, "columns") or hasattr(frame, "__arrow_c_stream__"):
        return frame
    if hasattr(frame, "to_arrow"):  # polars
        return frame.to_arrow()
    return pa.Table.from_pandas(frame, preserve_index=False) if hasattr(frame, "iloc") else frame


def _of_stream(source: Any) -> Iterator[Any]:
    import pyarrow as pa

    with readable("source"):
        for batch in pa.RecordBatchReader.from_stream(source):
            yield pa.Table.from_batches([batch])


def _of_batch(batch: Any, columns: Columns) -> Any:
    import pyarrow as pa

    if isinstance(batch, pa.RecordBatch):
        return pa.Table.from_batches([batch])
    batch = with_stream(batch)
    if hasattr(batch, "__arrow_c_stream__"):
        return pa.table(batch)
    if isinstance(batch, tuple):
        if len(batch) != len(columns.names):
            raise ValueError(
                f"source must yield tuples of {len(columns.names)} arrays, {', '.join(columns.names)}; got "
                f"{len(batch)} entries."
            )
        batch = dict(zip(columns.names, batch, strict=True))
    if not isinstance(batch, Mapping):
        raise TypeError(f"source must yield dicts, tuples or tables; got {type(batch).__name__}.")
    with readable("source"):
        return pa.table({name: pa.array(batch[name]) for name in columns.names if name in batch})


def _copied(table: Any) -> Any:
    """Copy a table, since pyarrow shares memory with NumPy's arrays."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()

"""Files, Arrow streams and iterators of batches, as pyarrow tables with checked columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._input.codes import holds_strings
from skrank_metrics.sources.columns import Columns, check_column_names
from skrank_metrics.sources.files import SUFFIXES, format_of
from skrank_metrics.sources.table_files import TableFile, readable


class Part(NamedTuple):
    """Tables of one origin."""

    holder: str  # that errors name
    tables: Iterable[Any]
    is_lent: bool  # whether whoever yields the tables may use their memory again


def tables_of(source: Any, columns: Columns, batch_rows: int, *, signed: bool) -> Iterator[Any]:
    """Tables of at most ``batch_rows`` rows with the chosen columns and valid values."""
    schema = None
    for part in _parts_of(source, columns, batch_rows):
        first = 0
        for given in part.tables:
            table = selected(given, columns, part.holder)
            if not len(table):
                continue
            # Before anything is computed, since later nobody knows the row of the file.
            bad = columns.bad_cell(table, signed=signed)
            if bad is not None:
                row, what = bad
                raise ValueError(f"{what} in row {first + row} of {part.holder}.")
            if part.is_lent:
                # pyarrow shares the memory of NumPy's arrays.
                table = table.take(np.arange(len(table)))
            place = f"row {first} of {part.holder}"
            schema = table.schema if schema is None else _widened(schema, table.schema, place)
            # Later batches may be wider, float64 after float32, but never narrower.
            table = table.cast(schema)
            for start in range(0, len(table), batch_rows):
                yield table.slice(start, batch_rows)
            first += len(table)
    if schema is None:
        given = source.name if isinstance(source, TableFile) else "source"
        raise ValueError(f"{given} must hold at least one document; got none.")


def selected(table: Any, columns: Columns, holder: str) -> Any:
    """The chosen columns, checked, with plain values."""
    import pyarrow as pa

    check_column_names(columns.by_argument, table.schema.names, holder)
    found = {name: _plain_column(table[name]) for name in columns.names}
    label = columns.label
    # Labels of other batches may be numbers.
    if label and pa.types.is_boolean(found[label].type):
        found[label] = found[label].cast(pa.int8())
    return pa.table(found)


def _plain_column(column: Any) -> Any:
    """Plain values in place of categories, whose codes differ between batches, and of view types."""
    import pyarrow as pa

    kind = column.type
    is_dictionary = pa.types.is_dictionary(kind)
    if is_dictionary:
        kind = kind.value_type
    kind = {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(kind), kind)
    if is_dictionary:
        # pyarrow cannot decode dictionaries of views.
        column = column.cast(pa.dictionary(column.type.index_type, kind)).cast(kind)
    return column.cast(kind)


def _widened(schema: Any, other: Any, place: str) -> Any:
    """The schema that can hold the values of two, the other of which starts at a place."""
    import pyarrow as pa

    try:
        for one, two in zip(schema, other, strict=True):
            # b"7" and "7" are different ids.
            if pa.types.is_binary(one.type) != pa.types.is_binary(two.type):
                raise pa.ArrowTypeError(
                    f"Field {one.name} has incompatible types: {one.type} vs {two.type}"
                )
        return pa.unify_schemas([schema, other], promote_options="permissive")
    except pa.ArrowException as error:
        raise ValueError(
            f"A column must have one type in all batches and files; {error} in {place}. Convert the column, for "
            "example to strings everywhere."
        ) from None


def joined(tables: Sequence[Any]) -> Any:
    """Join tables, the last of which has the widest types."""
    import pyarrow as pa

    return pa.concat_tables([table.cast(tables[-1].schema) for table in tables])


def array_of(column: Any) -> Any:
    """Convert to a NumPy array, except strings: pyarrow groups them faster."""
    array = column.combine_chunks()
    return array if holds_strings(array) else array.to_numpy(zero_copy_only=False)


def n_rows(source: Any) -> int | None:
    """Number of rows, if the source tells it."""
    if hasattr(source, "num_rows"):
        return int(source.num_rows)
    total = 0
    for file in _files_of(source):
        of_file = file.n_rows()
        if of_file is None:
            return None
        total += of_file
    # Of a source that is no file, nothing is known.
    return total or None


def _files_of(source: Any) -> list[TableFile]:
    """The files if the source is a path or a list of paths."""
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(paths, list | tuple):
        return []
    if not all(isinstance(path, str | os.PathLike) for path in paths):
        return []
    files = []
    for path in map(str, map(os.fspath, paths)):
        if not os.path.isfile(path):
            raise FileNotFoundError(
                f"source must be an existing file, or a list of files; got {path!r}."
            )
        form = format_of(path)
        if form is None:
            suffixes = ", ".join(chain(*SUFFIXES.values()))
            raise ValueError(f"source must end in {suffixes}; got {path!r}.")
        files.append(TableFile(path, form))
    # A link, symbolic or hard, is another name of the same file.
    if len({(info.st_dev, info.st_ino) for info in map(os.stat, paths)}) < len(files):
        raise ValueError(f"source must name each file once; got {[file.name for file in files]}.")
    return files


def _parts_of(source: Any, columns: Columns, batch_rows: int) -> Iterator[Part]:
    # By the name of the module, as importing Spark only to compare types takes seconds.
    engine = {"pyspark": "spark", "dask": "dask"}.get(type(source).__module__.partition(".")[0])
    if engine:
        raise TypeError(
            f"source must not be a {engine.title()} frame, whose rows would all go through this process; pass it to "
            f"skrank_metrics.{engine}.evaluate."
        )
    source = with_stream(source)
    files = [source] if isinstance(source, TableFile) else _files_of(source)
    for file in files:
        yield Part(file.name, file.tables(columns, batch_rows), is_lent=False)
    if files:
        return
    if hasattr(source, "__arrow_c_stream__"):
        # A table stays as it is; a reader may pass on arrays that are used again.
        yield Part("the source", _of_stream(source), is_lent=not hasattr(source, "__len__"))
        return
    is_iterable = isinstance(source, Iterable)
    if not is_iterable or isinstance(source, str | bytes | Mapping | np.ndarray):
        raise TypeError(
            "source must be a path, a list of paths, an object with __arrow_c_stream__ such as a table of pyarrow or a "
            f"frame of polars, or an iterator of batches; got {type(source).__name__}."
        )
    # Of an iterator, nobody can know; it may well yield one object with other content.
    if isinstance(source, list | tuple) and len(set(map(id, source))) < len(source):
        raise ValueError(
            "source must hold each batch once; one comes again, and its rows would count twice."
        )
    yield Part("the source", (_of_batch(batch, columns) for batch in source), is_lent=True)


def with_stream(frame: Any) -> Any:
    """Convert frames of older versions, which do not support Arrow streams, to pyarrow tables."""
    import pyarrow as pa

    if hasattr(frame, "__arrow_c_stream__"):
        return frame
    if hasattr(frame, "iloc"):
        return pa.Table.from_pandas(frame, preserve_index=False)
    return frame.to_arrow() if hasattr(frame, "to_arrow") else frame


def _of_stream(source: Any) -> Iterator[Any]:
    import pyarrow as pa

    with readable("source"):
        for batch in pa.RecordBatchReader.from_stream(source):
            yield pa.Table.from_batches([batch])


def _of_batch(batch: Any, columns: Columns) -> Any:
    import pyarrow as pa

    batch = with_stream(batch)
    if hasattr(batch, "__arrow_c_stream__"):
        return pa.table(batch)
    if not isinstance(batch, Mapping):
        raise TypeError(f"source must yield dicts or tables; got {type(batch).__name__}.")
    with readable("source"):
        return pa.table({name: pa.array(batch[name]) for name in columns.names if name in batch})

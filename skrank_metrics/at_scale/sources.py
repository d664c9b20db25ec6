"""Files, Arrow streams and iterators of batches as tables of pyarrow, with their columns checked."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import nearest
from skrank_metrics._input.formats import DELIMITERS, SUFFIXES, format_of
from skrank_metrics.at_scale.progress import Progress

ROWS_AT_ONCE = 1_000_000
NUMBERS = ("label", "score", "sample_weight")
# Only an empty cell is a missing value: "NA" can be an id.
NULLS = {"null_values": [""], "strings_can_be_null": True}


def import_arrow(what: str = "evaluate_batches") -> Any:
    """pyarrow, or an error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} needs pyarrow: pip install 'skrank-metrics[arrow]'.") from None
    return pyarrow


@dataclass(frozen=True)
class Content:
    """A file of a known format: its bytes, such as the standard input, or None for those that its name stands for."""

    name: str
    data: bytes | None
    form: str

    def opened(self) -> Any:
        """The file from its beginning."""
        return self.name if self.data is None else io.BytesIO(self.data)


@dataclass(frozen=True)
class Columns:
    """Names of the columns, by what they are."""

    label: str
    scores: tuple[str, ...]
    qid: str
    others: Mapping[str, str]  # by argument: sample_weight, retrieved, judged, by
    holder: str = "source"  # the argument that has them, or the name of a file
    lines: bool = False  # whether it is a text, with a header

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys([self.label, *self.scores, self.qid, *self.others.values()]))

    @property
    def numbers(self) -> list[str]:
        """Columns of labels, scores and weights."""
        return [name for argument, name in self._by_argument if argument in NUMBERS]

    @property
    def _by_argument(self) -> list[tuple[str, str]]:
        return [
            ("label", self.label),
            *(("score", name) for name in self.scores),
            ("qid", self.qid),
            *self.others.items(),
        ]

    def place(self, row: int) -> str:
        """Where a row is."""
        return f"line {row + 2} of {self.holder}" if self.lines else f"row {row} of {self._the_holder}"

    @property
    def _the_holder(self) -> str:
        return f"the {self.holder}" if self.holder in ("source", "frame") else self.holder

    def check_names(self, names: list[Any]) -> None:
        """Refuse columns that are missing."""
        for argument, name in self._by_argument:
            if (times := names.count(name)) != 1:
                got = f"got {times} of them" if times else f"it has {', '.join(map(repr, names[:20]))}"
                hint = "" if times else nearest(name, names)
                raise ValueError(f"{argument} must be a column of {self._the_holder}; {name!r} is not: {got}.{hint}")

    def check(self, schema: Any, table: Any = None, first: int = 0) -> None:
        """Refuse columns that are missing or of the wrong type; the rows of a table, from ``first`` on, show why."""
        from pyarrow import types

        self.check_names(schema.names)
        for argument, name in self._by_argument:
            kind, what = schema.field(name).type, ""
            if types.is_null(kind):  # such as of a file without rows
                continue
            if argument in NUMBERS:
                number = types.is_integer(kind) or types.is_floating(kind)
                what = "" if number or (argument == "label" and types.is_boolean(kind)) else "numbers"
            elif argument in ("retrieved", "judged"):
                what = "" if types.is_boolean(kind) else "True and False"
            elif types.is_nested(kind):
                what = "integers, strings or other ids"
            if what:
                word = _first_word(table[name]) if table is not None and what == "numbers" else None
                shown = "" if word is None else f", such as {word[1]!r} in {self.place(first + word[0])}"
                raise TypeError(f"{argument} must be a column of {what}; {name!r} is of type {kind}{shown}.")


def _first_word(column: Any) -> tuple[int, str] | None:
    """The first string that is no number, and its row."""
    for row, value in enumerate(column.to_pylist()):
        try:
            float(value or 0)
        except (TypeError, ValueError):
            return (row, value) if isinstance(value, str) else None
    return None


def columns_of(
    label: Any, score: Any, qid: Any, others: Mapping[str, Any], holder: str = "source", *, lines: bool = False
) -> Columns:
    """Names of columns as users give them; those of ``others`` may be None."""
    if not isinstance(score, str | list | tuple):
        raise TypeError(f"score must be the name of a column or a list of names; got {score!r}.")
    given = {argument: name for argument, name in others.items() if name is not None}
    columns = Columns(label, (score,) if isinstance(score, str) else tuple(score), qid, given, holder, lines)
    if not columns.scores:
        raise ValueError("score must name at least one column; got none.")
    for name in columns.names:
        if not isinstance(name, str):
            raise TypeError(f"columns must be named by strings; got {name!r}.")
    if len(set(columns.scores)) < len(columns.scores):
        raise ValueError(f"score must name different columns; got {list(columns.scores)}.")
    return columns


def tables_of(source: Any, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
    """Tables of at most ``batch_rows`` rows with the columns in question, without nulls."""
    schema, first = None, 0
    for table in _tables(source, columns, batch_rows, use_threads):
        chosen = selected(table, columns, first)
        if schema is None:
            schema = chosen.schema
        elif chosen.schema != schema:
            chosen = _cast(chosen, schema)
        for start in range(0, len(chosen), batch_rows):
            part = chosen.slice(start, batch_rows)
            if null := first_null(part):
                name, row = null
                raise ValueError(f"column {name!r} must not hold nulls; got one in {columns.place(first + row)}.")
            first += len(part)
            yield part.replace_schema_metadata(None)
    if not first:
        raise ValueError(f"{columns.holder} must hold at least one document; got none.")


def read_columns(source: Any, columns: Columns) -> dict[str, Any]:
    """All rows of a source, as an array per column; shows progress on a terminal."""
    import pyarrow as pa

    with Progress(None) as progress:
        table = pa.concat_tables(progress.count_rows(tables_of(source, columns, ROWS_AT_ONCE, use_threads=True)))
    return {name: array_of(table[name]) for name in columns.names}


def selected(table: Any, columns: Columns, first: int | None = None) -> Any:
    """The columns in question, checked; ``first`` is the number of the first row, None if rows have none."""
    columns.check(table.schema, None if first is None else table, first or 0)
    return _plain(table.select(columns.names))


def _cast(table: Any, schema: Any) -> Any:
    import pyarrow as pa

    try:
        return table.cast(schema)
    except pa.ArrowException as error:
        raise ValueError(f"source must have columns of the types of its first batch; {error}") from error


def _plain(table: Any) -> Any:
    """Values instead of categories, whose numbers differ between batches, and of views, which have no fixed order."""
    import pyarrow as pa

    fields = []
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        views = {pa.string_view(): pa.string()} if hasattr(pa, "string_view") else {}
        fields.append(pa.field(field.name, views.get(kind, kind)))
    return table.cast(pa.schema(fields))


def first_null(table: Any) -> tuple[str, int] | None:
    """A column with nulls and the row of its first, if there is one."""
    for name in table.column_names:
        if table[name].null_count:
            return name, int(np.argmax(table[name].is_null().to_numpy()))
    return None


def array_of(column: Any) -> Any:
    """An array of NumPy; strings stay in pyarrow, which groups them faster."""
    import pyarrow as pa

    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else pa.concat_arrays(array.chunks)
    strings = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    return array if strings else array.to_numpy(zero_copy_only=False)


def n_rows(source: Any) -> int | None:
    """Number of rows, if the source says so."""
    if hasattr(source, "num_rows"):
        return int(source.num_rows)
    paths = _paths(source)
    if not paths or not all(format_of(path.name) == "parquet" for path in paths):
        return None
    import pyarrow.parquet as pq

    with readable(paths[0]):
        return sum(pq.read_metadata(path).num_rows for path in paths)


def _paths(source: Any) -> list[Path]:
    given = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, list | tuple) or not all(isinstance(one, str | os.PathLike) for one in given):
        return []
    return [Path(one) for one in given]


def _tables(source: Any, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
    import pyarrow as pa

    _refuse_engines(source)
    source = _with_stream(source)
    if isinstance(source, Content):
        with readable(source.name, f"{source.name} must be a file of {source.form}; reading it failed"):
            yield from _of_file(source.opened, source.form, columns, batch_rows, use_threads)
    elif paths := _paths(source):
        for path in paths:
            if not path.is_file():
                raise FileNotFoundError(f"source must be an existing file, or a list of files; got {str(path)!r}.")
            with readable(path):
                yield from _of_file(partial(str, path), _form_of(path), columns, batch_rows, use_threads)
    elif hasattr(source, "__arrow_c_stream__"):
        with readable("source"):
            for batch in pa.RecordBatchReader.from_stream(source):
                yield pa.Table.from_batches([batch])
    elif isinstance(source, Iterable) and not isinstance(source, str | bytes | Mapping | np.ndarray):
        for batch in source:
            yield _of_batch(batch, columns)
    else:
        raise TypeError(
            "source must be a path, a list of paths, an object with __arrow_c_stream__ such as a table of pyarrow or a "
            f"frame of polars, or an iterator of batches; got {type(source).__name__}."
        )


def _refuse_engines(source: Any) -> None:
    for engine, package in (("spark", "pyspark"), ("dask", "dask")):
        if type(source).__module__.partition(".")[0] == package:
            raise TypeError(
                f"source must not be a frame of {engine.title()}, whose rows would all go through this process; "
                f"skrank_metrics.{engine}.evaluate takes it."
            )


def _with_stream(frame: Any) -> Any:
    """A table of pyarrow for frames of older versions, which are no streams yet."""
    import pyarrow as pa

    if not hasattr(frame, "columns") or hasattr(frame, "__arrow_c_stream__"):
        return frame
    if hasattr(frame, "to_arrow"):  # polars
        return frame.to_arrow()
    return pa.Table.from_pandas(frame, preserve_index=False) if hasattr(frame, "iloc") else frame


def _form_of(path: Path) -> str:
    if form := format_of(path.name):
        return form
    raise ValueError(f"source must end in {', '.join(chain(*SUFFIXES.values()))}; got {path.name!r}.")


def _of_file(
    opened: Callable[[], Any], form: str, columns: Columns, batch_rows: int, use_threads: bool
) -> Iterator[Any]:
    """Tables of a file, which ``opened`` gives anew, as a path or as an open file."""
    import pyarrow as pa

    if form == "parquet":
        import pyarrow.parquet as pq

        # Buffers that are read ahead stay in memory until the file is closed.
        with pq.ParquetFile(opened(), pre_buffer=False) as file:
            columns.check(file.schema_arrow)
            for batch in file.iter_batches(batch_rows, columns=columns.names, use_threads=use_threads):
                yield pa.Table.from_batches([batch])
    elif form == "arrow":
        with pa.memory_map(opened()) as mapped, pa.ipc.open_file(mapped) as file:
            for number in range(file.num_record_batches):
                yield pa.Table.from_batches([file.get_batch(number)], file.schema)
    else:
        yield from _of_text(opened, DELIMITERS[form], columns, use_threads)


def _of_text(opened: Callable[[], Any], delimiter: str, columns: Columns, use_threads: bool) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    options = {"parse_options": csv.ParseOptions(delimiter=delimiter)}
    with csv.open_csv(opened(), convert_options=csv.ConvertOptions(**NULLS), **options) as reader:
        schema = reader.schema
    columns.check_names(schema.names)
    # Types are those of the first block: whole numbers may have decimals later.
    whole = {name: pa.float64() for name in columns.numbers if pa.types.is_integer(schema.field(name).type)}
    convert = csv.ConvertOptions(include_columns=columns.names, column_types=whole, **NULLS)
    read = csv.ReadOptions(use_threads=use_threads)
    with csv.open_csv(opened(), convert_options=convert, read_options=read, **options) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _of_batch(batch: Any, columns: Columns) -> Any:
    import pyarrow as pa

    if isinstance(batch, pa.RecordBatch):
        return pa.Table.from_batches([batch])
    batch = _with_stream(batch)
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


@contextmanager
def readable(path: Any, what: str = "") -> Iterator[None]:
    """Name the file that cannot be read, such as one that was cut."""
    import pyarrow as pa

    what = what or f"source must be readable; reading {str(path)!r} failed"
    try:
        yield
    except (pa.ArrowException, EOFError) as error:
        raise ValueError(f"{what}: {error}") from error
    except OSError as error:
        if error.errno is not None or isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{what}: {error}") from error

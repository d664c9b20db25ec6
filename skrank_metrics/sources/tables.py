"""Files, Arrow streams and iterators of batches as pyarrow tables with checked columns."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import nearest
from skrank_metrics._input.formats import DELIMITERS, PACKED, SUFFIXES, format_of, line_of_row
from skrank_metrics.sources import texts
from skrank_metrics.sources.progress import Progress
from skrank_metrics.sources.schemas import cast, joined, widened

ROWS_AT_ONCE = 1_000_000
NUMBERS = ("label", "score", "sample_weight")


def import_arrow(what: str = "evaluate_batches") -> Any:
    """Import pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} needs pyarrow: pip install 'skrank-metrics[arrow]'.") from None
    return pyarrow


@dataclass(frozen=True)
class Content:
    """A file of a known format; its bytes are None if they are to be read from the file with its name."""

    name: str
    data: bytes | None
    form: str

    def opened(self) -> Any:
        """The file from its beginning."""
        return self.name if self.data is None else io.BytesIO(self.data)


@dataclass(frozen=True)
class Columns:
    """Names of the columns by role."""

    label: str
    scores: tuple[str, ...]
    qid: str
    others: Mapping[str, str]  # by argument: sample_weight, retrieved, judged, by
    holder: str = "source"  # the argument that holds them, or the name of a file
    lines: bool = False  # whether it is a text file with a header
    line_of: Callable[[int], int] | None = None  # the line of a row, if some lines may be blank

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys([self.label, *self.scores, self.qid, *self.others.values()]))

    @property
    def numbers(self) -> list[str]:
        """Columns of labels, scores and weights."""
        return [name for argument, name in self._by_argument if argument in NUMBERS]

    @property
    def ids(self) -> list[str]:
        """Columns of query ids and slices, unless they are numbers as well."""
        chosen = dict.fromkeys(name for argument, name in self._by_argument if argument in ("qid", "by"))
        return [name for name in chosen if name not in self.numbers]

    @property
    def _by_argument(self) -> list[tuple[str, str]]:
        return [
            ("label", self.label),
            *(("score", name) for name in self.scores),
            ("qid", self.qid),
            *self.others.items(),
        ]

    def place(self, row: int) -> str:
        """The place of a row, in words."""
        return f"{self._number(row)} of {self._the_holder}"

    def start(self, row: int) -> str:
        """The place of all rows from a given one on, in words."""
        return f"{self._the_holder} from {self._number(row)} on"

    def _number(self, row: int) -> str:
        if not self.lines:
            return f"row {row}"
        return f"line {self.line_of(row) if self.line_of else row + 2}"

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
        """Refuse columns that are missing or have the wrong type; errors quote a table that starts at row ``first``."""
        from pyarrow import types

        self.check_names(schema.names)
        for argument, name in self._by_argument:
            kind, what = schema.field(name).type, ""
            if types.is_null(kind):  # as in a file without rows
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
    """The first string that is not a number, and its row."""
    for row, value in enumerate(column.to_pylist()):
        try:
            float(value or 0)
        except (TypeError, ValueError):
            return (row, value) if isinstance(value, str) else None
    return None


def columns_of(
    label: Any, score: Any, qid: Any, others: Mapping[str, Any], holder: str = "source", *, lines: bool = False
) -> Columns:
    """Columns with the names passed by users; those in ``others`` may be None."""
    scores = (score,) if isinstance(score, str) else score
    if not isinstance(scores, list | tuple) or not all(isinstance(name, str) for name in scores):
        raise TypeError(f"score must be the name of a column or a list of names; got {score!r}.")
    given = {argument: name for argument, name in others.items() if name is not None}
    for argument, name in {"label": label, "qid": qid, **given}.items():
        if not isinstance(name, str):
            raise TypeError(f"{argument} must be the name of a column; got {name!r}.")
    columns = Columns(label, tuple(scores), qid, given, holder, lines)
    if not columns.scores:
        raise ValueError("score must name at least one column; got none.")
    if len(set(columns.scores)) < len(columns.scores):
        raise ValueError(f"score must name different columns; got {list(columns.scores)}.")
    return columns


def tables_of(source: Any, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
    """Tables of at most ``batch_rows`` rows with the chosen columns, without nulls."""
    schema, n_all = None, 0
    for place, tables in _parts(source, columns, batch_rows, use_threads):
        first = 0
        for table in tables:
            chosen = selected(table, place, first)
            if not len(chosen):
                continue
            if null := first_null(chosen):
                name, row = null
                raise ValueError(f"column {name!r} must not hold nulls; got one in {place.place(first + row)}.")
            plain = chosen.schema.remove_metadata()
            schema = plain if schema is None else widened(schema, chosen, columns.numbers, partial(place.start, first))
            chosen = cast(chosen.replace_schema_metadata(None), schema)
            yield from (chosen.slice(start, batch_rows) for start in range(0, len(chosen), batch_rows))
            first, n_all = first + len(chosen), n_all + len(chosen)
    if not n_all:
        raise ValueError(f"{columns.holder} must hold at least one document; got none.")


def read_columns(source: Any, columns: Columns) -> dict[str, Any]:
    """Read all rows of a source into one array per column; shows progress on a terminal."""
    with Progress(None) as progress:
        table = joined(list(progress.count_rows(tables_of(source, columns, ROWS_AT_ONCE, use_threads=True))))
    return {name: array_of(table[name]) for name in columns.names}


def selected(table: Any, columns: Columns, first: int | None = None) -> Any:
    """The chosen columns, checked; ``first`` is the number of the first row, None if rows have no numbers."""
    columns.check(table.schema, None if first is None else table, first or 0)
    return _plain(table.select(columns.names))


def _plain(table: Any) -> Any:
    """Replace categories, whose codes differ between batches, and view types by plain values."""
    import pyarrow as pa

    fields = []
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        views = {pa.string_view(): pa.string()} if hasattr(pa, "string_view") else {}
        fields.append(pa.field(field.name, views.get(kind, kind)))
    return table.cast(pa.schema(fields))


def first_null(table: Any) -> tuple[str, int] | None:
    """A column with nulls, and the row of its first null; None if there are no nulls."""
    for name in table.column_names:
        if table[name].null_count:
            return name, int(np.argmax(table[name].is_null().to_numpy()))
    return None


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


def _parts(source: Any, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[tuple[Columns, Any]]:
    """The tables of each file or stream, with columns that know their place."""
    _refuse_engines(source)
    source = _with_stream(source)
    if isinstance(source, Content):
        what = f"{source.name} must be a file of {source.form}; reading it failed"
        files = [_File(source.opened, source.form, replace(columns, holder=source.name), what)]
        yield from _of_files(files, batch_rows, use_threads)
    elif paths := _paths(source):
        yield from _of_files([_file_of(path, columns) for path in paths], batch_rows, use_threads)
    elif hasattr(source, "__arrow_c_stream__"):
        yield columns, _of_stream(source)
    elif isinstance(source, Iterable) and not isinstance(source, str | bytes | Mapping | np.ndarray):
        yield columns, (_of_batch(batch, columns) for batch in source)
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


def _with_stream(frame: Any) -> Any:
    """Convert frames of older versions, which do not support Arrow streams, to pyarrow tables."""
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


@dataclass(frozen=True)
class _File:
    """A file, which ``opened`` gives anew, as a path or as an open file."""

    opened: Callable[[], Any]
    form: str
    columns: Columns
    failed: str = ""  # what an error begins with


def _file_of(path: Path, columns: Columns) -> _File:
    if not path.is_file():
        raise FileNotFoundError(f"source must be an existing file, or a list of files; got {str(path)!r}.")
    import pyarrow as pa

    form = _form_of(path)
    # pyarrow only knows the extensions of paths in lower case.
    packed = path.name.lower().endswith(PACKED)
    opened = partial(pa.input_stream, str(path), compression="gzip") if packed else partial(str, path)
    line_of = partial(_line, opened, DELIMITERS[form]) if form in DELIMITERS else None
    return _File(opened, form, replace(columns, holder=str(path), lines=line_of is not None, line_of=line_of))


def _line(opened: Callable[[], Any], delimiter: str, row: int) -> int:
    file = opened()
    return line_of_row(open(file, "rb") if isinstance(file, str) else file, delimiter, row)


def _of_files(files: list[_File], batch_rows: int, use_threads: bool) -> Iterator[tuple[Columns, Any]]:
    strings: set[str] = set()  # ids are strings in all text files if they are in one
    for file in files:
        if file.form in DELIMITERS:
            with readable(file.columns.holder, file.failed):
                strings |= texts.strings_of(file.opened, DELIMITERS[file.form], file.columns.ids, file.columns.holder)
    for file in files:
        yield file.columns, _of_file(file, strings, batch_rows, use_threads)


def _of_file(file: _File, strings: set[str], batch_rows: int, use_threads: bool) -> Iterator[Any]:
    with readable(file.columns.holder, file.failed):
        if file.form in DELIMITERS:
            delimiter = DELIMITERS[file.form]
            yield from texts.tables_of_text(file.opened, delimiter, file.columns, strings, use_threads=use_threads)
        else:
            yield from _of_arrow(file, batch_rows, use_threads)


def _of_arrow(file: _File, batch_rows: int, use_threads: bool) -> Iterator[Any]:
    import pyarrow as pa

    if file.form == "parquet":
        import pyarrow.parquet as pq

        # Buffers read ahead stay in memory until the file is closed.
        with pq.ParquetFile(file.opened(), pre_buffer=False) as rows:
            file.columns.check(rows.schema_arrow)
            for batch in rows.iter_batches(batch_rows, columns=file.columns.names, use_threads=use_threads):
                yield pa.Table.from_batches([batch])
    else:
        with pa.memory_map(file.opened()) as mapped, pa.ipc.open_file(mapped) as rows:
            for number in range(rows.num_record_batches):
                yield pa.Table.from_batches([rows.get_batch(number)], rows.schema)


def _of_stream(source: Any) -> Iterator[Any]:
    import pyarrow as pa

    with readable("source"):
        for batch in pa.RecordBatchReader.from_stream(source):
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
    """Name the file that cannot be read, such as a truncated one."""
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

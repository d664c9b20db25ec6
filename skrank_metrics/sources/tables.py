"""Files, Arrow streams and iterators of batches, as pyarrow tables with checked columns."""

from __future__ import annotations

import bz2
import errno
import glob
import gzip
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from os import PathLike, fspath
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, is_rounded
from skrank_metrics._input.columns import PAGE
from skrank_metrics._input.id_types import holds_strings, is_zoned
from skrank_metrics._input.parameters import shown
from skrank_metrics.sources.columns import MASKS, NAMING, NUMBERS, TableColumns, check_column_names

# Bytes and lines of files, and what they hold. Their content decides it, not their names.

# What packed files begin with.
PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
# What files of rows begin with, unless they are texts.
BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
# What separates the cells of a header; the first that occurs in it counts.
DELIMITERS = {"tsv": "\t", "csv": ",", "csv with semicolons": ";"}
NO_TABLES = ("json", "lines")
# The mark that Windows writes at the beginning of UTF-8.
_MARK = b"\xef\xbb\xbf"
# In folders, other files describe the data.
_TABLE_NAME = re.compile(r"[^_.].*\.(parquet|pq|arrow|feather|ipc|csv|tsv)(\.\w+)?", re.IGNORECASE)


def file_of(source: Any, argument: str = "path") -> SourceFile:
    """The file of a path, "-" for standard input, or an open file."""
    data = None
    if isinstance(source, SourceFile):
        return source
    if isinstance(source, str | PathLike):
        name = str(fspath(source))
        if name == "-":
            data, name = sys.stdin.buffer.read(), "standard input"
    elif hasattr(source, "read"):
        data, name = source.read(), str(getattr(source, "name", "file"))
    else:
        raise TypeError(
            f"{argument} must be a path, '-' or an open file; got {type(source).__name__}."
        )
    if isinstance(data, str):
        try:
            data = data.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{argument} must hold text; got half a character, {error.object[error.start]!r}."
            ) from None
    with _unpacked(name, data) as file:
        head = file.readline().removeprefix(_MARK)
        # Comments and blank lines come before the first line of TREC files.
        while head and (not head.strip() or head.startswith(b"#")):
            head = file.readline()
    if not head:
        raise ValueError(f"{name} must hold at least one line; got none, or only comments.")
    # Old programs of the Mac end lines with this alone.
    head = head.partition(b"\r")[0]
    return SourceFile(name, _form_of(head), head, data)


def _form_of(head: bytes) -> str:
    """What a file holds, given its first line: rows of some format, JSON, or lines of fields separated by blanks."""
    for start, form in BINARY.items():
        if head.startswith(start):
            return form
    text = head.removeprefix(_MARK).lstrip()
    if text.startswith((b"{", b"[")):
        return "json"
    found = (form for form, delimiter in DELIMITERS.items() if delimiter.encode() in text)
    return next(found, "lines")


def files_of(source: Any, argument: str = "source") -> list[SourceFile]:
    """The files of a path or a list of paths, of which each may be a folder or a pattern; empty for anything else."""
    paths = source if isinstance(source, list | tuple) else [source]
    if not all(isinstance(path, str | PathLike | SourceFile) for path in paths):
        return []
    files: list[SourceFile] = []
    for path in paths:
        files += (
            [path]
            if isinstance(path, SourceFile)
            else map(file_of, _files_at(fspath(path), argument))
        )
    # A link, symbolic or hard, is another name of the same file.
    places = [os.stat(file.name) for file in files if file.data is None]
    if len({(place.st_dev, place.st_ino) for place in places}) < len(places):
        raise ValueError(f"source must name each file once; got {[file.name for file in files]}.")
    return files


def _files_at(path: str, argument: str) -> list[str]:
    """The file at a path, those of a folder, as Spark writes it, or those of a pattern such as "rows/*.parquet"."""
    if os.path.isfile(path) or path == "-":
        return [path]
    if os.path.isdir(path):
        inside = glob.glob("**", root_dir=path, recursive=True)
        found = [
            os.path.join(path, name)
            for name in inside
            if _TABLE_NAME.fullmatch(os.path.basename(name))
        ]
    else:
        found = glob.glob(path, recursive=True)
    if not found:
        raise FileNotFoundError(
            errno.ENOENT, f"There is no such file, or folder of tables, for {argument}", path
        )
    return sorted(found)


@contextmanager
def _unpacked(name: str, data: bytes | None) -> Iterator[IO[bytes]]:
    """The bytes of a file, or of its data if they were read already."""
    with ExitStack() as stack:
        file: Any = BytesIO(data or b"")
        if data is None:
            file = stack.enter_context(open(name, "rb"))
        start = file.read(max(map(len, PACKED)))
        file.seek(0)
        packing = next((form for sign, form in PACKED.items() if start.startswith(sign)), None)
        try:
            if packing is not None:
                file = stack.enter_context(_OPEN[packing](file))
            yield file
        except (zlib.error, EOFError, lzma.LZMAError, OSError) as error:
            # Errors of the system and of other files have their own words.
            if packing is None or getattr(error, "errno", None) is not None:
                raise
            raise ValueError(
                f"{name} must be a complete {packing} file, since it starts like one; got: {error}."
            ) from None


def _open_zstd(file: IO[bytes]) -> Any:
    pa = import_arrow("Reading zstd")
    # pyarrow's stream has no lines.
    return BytesIO(pa.CompressedInputStream(file, "zstd").read())


_OPEN: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zstd": _open_zstd,
}


def read_text(file: SourceFile) -> bytes:
    """The unpacked bytes of a file, which must be a text in UTF-8."""
    with _unpacked(file.name, file.data) as opened:
        # Other encodings would give ids that do not match those of other files.
        data = opened.read().removeprefix(_MARK)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        refuse_at(file.name, data, error.start, "text in UTF-8")
    return data


def refuse_at(name: str, data: bytes, place: int, expected: str) -> NoReturn:
    """Raise an error that shows the line at a place."""
    number = data.count(b"\n", 0, place)
    refuse(name, number + 1, data.split(b"\n")[number], expected)


def refuse(name: str, number: int, line: bytes, expected: str) -> NoReturn:
    """Raise an error that shows a line."""
    text = line.decode(errors="backslashreplace").rstrip("\r")
    raise ValueError(f"{name}, line {number}: expected {expected}; got {shown(text)}.")


def to_number(word: bytes) -> float:
    """A decimal number, which may be infinite; anything else raises ValueError."""
    value = float(word)
    # float accepts 1_0.
    if np.isnan(value) or b"_" in word:
        raise ValueError
    return value


# Files of rows (Parquet, Arrow, CSV and TSV) as batches of pyarrow.


def import_arrow(what: str) -> Any:
    """Import pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} needs pyarrow: pip install pyarrow") from None
    # pyarrow would import pandas later, and ignore Ctrl-C meanwhile.
    with suppress(ImportError):
        import pandas  # noqa: F401
    return pyarrow


@contextmanager
def reading(name: str, expected: str = "readable") -> Iterator[None]:
    """Name the file or the source that cannot be read, such as a truncated file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        # The system's own errors name the file already.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name} must be {expected}: {error}") from error


@dataclass(frozen=True)
class SourceFile:
    """A file, and what it holds."""

    name: str
    form: str
    head: bytes  # its first line
    data: bytes | None = None  # of standard input and open files, which can be read only once

    @property
    def is_text(self) -> bool:
        """Whether its rows are lines of a text."""
        return self.form in DELIMITERS

    def column_names(self) -> list[str]:
        """Names of all columns."""
        with self._rows() as rows:
            return list(rows.schema_arrow.names if self.form == "parquet" else rows.schema.names)

    def tables(self, columns: TableColumns, batch_rows: int) -> Iterator[Any]:
        """The rows in batches, with the chosen columns and possibly others."""
        holder = f"The header of {self.name}, its first line," if self.is_text else self.name
        # Readers of Parquet pass over columns that are not there.
        check_column_names(columns.by_argument, self.column_names(), holder)
        import pyarrow as pa

        with self._rows(columns.names) as rows:
            batches = rows
            if self.form == "parquet":
                batches = rows.iter_batches(batch_rows, columns=columns.names)
            elif self.form == "arrow":
                batches = map(rows.get_batch, range(rows.num_record_batches))
            for batch in batches:
                table = pa.Table.from_batches([batch])
                yield self._converted(table, columns) if self.is_text else table

    @contextmanager
    def _rows(self, names: Sequence[str] = ()) -> Iterator[Any]:
        """A reader of pyarrow, of strings in the named columns if the file is a text."""
        pa = import_arrow(f"Reading {self.name}")
        import pyarrow.parquet as pq

        if self.form in NO_TABLES:
            raise ValueError(
                f"{self.name} must be a file of Parquet, Arrow, CSV or TSV with a header; its first line is "
                f"{shown(self.head.decode(errors='backslashreplace').rstrip())}. {PAGE}"
            )
        encoding = " in UTF-8" if self.is_text else ""
        expected = f"a file of {self.form}{encoding}; reading it failed"
        with reading(self.name, expected), _unpacked(self.name, self.data) as file:
            if self.form == "parquet":
                # Buffers read ahead stay in memory until the file is closed.
                reader = pq.ParquetFile(
                    self.name if self.data is None else file,
                    pre_buffer=False,
                    page_checksum_verification=True,
                )
            elif self.form == "arrow":
                reader = pa.ipc.open_file(pa.memory_map(self.name) if self.data is None else file)
            elif self.form == "arrow stream":
                reader = pa.ipc.open_stream(file)
            else:
                reader = _open_text(file, self.form, names)
            with reader:
                yield reader

    def _converted(self, table: Any, columns: TableColumns) -> Any:
        """The cells of a text as numbers, masks and ids."""
        import pyarrow as pa

        found = {name: table[name] for name in columns.names}
        naming = [name for role in NAMING for name in columns.of(role)]
        for argument, name in columns.by_argument:
            if not pa.types.is_string(found[name].type):
                continue
            if argument in (*NUMBERS, *MASKS):
                found[name] = _typed(found[name], argument, f"{name!r} of {self.name}")
            elif argument == "documents" and name not in naming:
                # Custom metrics compute with prices, but topics may be text; batches of both are refused.
                with suppress(TypeError, ValueError):
                    found[name] = _typed(found[name], argument, name)
        return pa.table(found)


def _open_text(file: IO[bytes], form: str, names: Sequence[str]) -> Any:
    """A reader of text, whose cells are strings, so that types do not depend on the first rows."""
    import pyarrow as pa
    from pyarrow import csv

    # TSV has no quotes: a title may begin with one. Cells of CSV may hold lines.
    quoted = form != "tsv"
    return csv.open_csv(
        file,
        parse_options=csv.ParseOptions(
            delimiter=DELIMITERS[form],
            quote_char='"' if quoted else False,
            newlines_in_values=quoted,
        ),
        # Only an empty cell is a missing value, since "NA" can be an id.
        convert_options=csv.ConvertOptions(
            include_columns=names,
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


def _typed(words: Any, argument: str, name: str) -> Any:
    """Words as numbers or as True and False, which labels can be as well."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, what = pa.float64(), "numbers"
    if argument in MASKS:
        kind, what = pa.bool_(), "True and False"
    # pyarrow refuses numbers with blanks, which spreadsheets and people write.
    words = pc.utf8_trim_whitespace(words)
    if argument == "label" and len(words) and str(words[0]).lower() in ("true", "false"):
        kind = pa.bool_()
    try:
        cells = words.cast(kind)
    except pa.ArrowInvalid as error:
        raise TypeError(f"{argument} must be a column of {what}; {name} is not: {error}") from None
    largest = pc.max(pc.abs(cells.cast(pa.float64()))).as_py() or 0
    # Only the words tell whether a number was rounded.
    rounded = largest >= LARGEST_EXACT_INTEGER and list(filter(is_rounded, words.to_pylist()))
    if rounded:
        raise ValueError(
            f"column {name} must hold {EXACT_INTEGERS}; got {rounded[0]}. Subtract an offset or pass ranks."
        )
    return cells


# Files, Arrow streams and iterators of batches, as pyarrow tables with checked columns.


class Part(NamedTuple):
    """Tables of one origin."""

    holder: str  # that errors name
    tables: Iterable[Any]
    is_lent: bool  # whether whoever yields the tables may use their memory again


def checked_tables(
    source: Any, columns: TableColumns, batch_rows: int, *, signed: bool
) -> Iterator[Any]:
    """Tables of at most ``batch_rows`` rows with the chosen columns and valid values."""
    schema = None
    for part in _parts_of(source, columns, batch_rows):
        first = 0
        for given in part.tables:
            table = selected(given, columns, part.holder)
            if not len(table):
                continue
            # Cells are checked before anything is computed, since later nobody knows the row of the file.
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
        given = source if isinstance(source, str) else "source"
        raise ValueError(f"{given} must hold at least one document; got none.")


def selected(table: Any, columns: TableColumns, holder: str) -> Any:
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
    """Convert to a NumPy array, except strings, which pyarrow groups faster, and times with a zone."""
    array = column.combine_chunks()
    if holds_strings(array) or is_zoned(array):
        return array
    return array.to_numpy(zero_copy_only=False)


def _parts_of(source: Any, columns: TableColumns, batch_rows: int) -> Iterator[Part]:
    # The name of the module tells enough, as importing Spark only to compare types takes seconds.
    engine = type(source).__module__.partition(".")[0].removeprefix("py")
    if engine in ("spark", "dask"):
        raise TypeError(
            f"source must not be a {engine.title()} frame, whose rows would all go through this process; pass it to "
            f"skrank_metrics.{engine}.evaluate."
        )
    files = files_of(source)
    for file in files:
        yield Part(file.name, file.tables(columns, batch_rows), is_lent=False)
    if files:
        return
    source = with_stream(source)
    if hasattr(source, "__arrow_c_stream__"):
        # A table stays as it is; a reader may pass on arrays that are used again.
        yield Part("the source", _of_stream(source), is_lent=not hasattr(source, "__len__"))
        return
    is_iterable = isinstance(source, Iterable)
    if not is_iterable or isinstance(source, str | bytes | Mapping | np.ndarray):
        raise TypeError(
            "source must be a path, a list of paths, an object with __arrow_c_stream__ such as a table of pyarrow or a "
            f"frame of polars, or an iterator of batches; got {type(source).__name__}. {PAGE}"
        )
    # An iterator cannot be checked; it may well yield one object with other content.
    if isinstance(source, list | tuple) and len(set(map(id, source))) < len(source):
        raise ValueError("source must hold each batch once; one comes again.")
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

    with reading("source"):
        for batch in pa.RecordBatchReader.from_stream(source):
            yield pa.Table.from_batches([batch])


def _of_batch(batch: Any, columns: TableColumns) -> Any:
    import pyarrow as pa

    batch = with_stream(batch)
    if hasattr(batch, "__arrow_c_stream__"):
        return pa.table(batch)
    if not isinstance(batch, Mapping):
        raise TypeError(f"source must yield dicts or tables; got {type(batch).__name__}.")
    if not all(_is_column(batch[name]) for name in columns.names if name in batch):
        raise TypeError(
            "source must yield batches, not rows; of an IterableDataset, pass dataset.iter(batch_size=100_000)."
        )
    with reading("source"):
        return pa.table({name: pa.array(batch[name]) for name in columns.names if name in batch})


def _is_column(values: Any) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str | bytes)

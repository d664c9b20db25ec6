"""Files, Arrow streams and iterators of batches, as pyarrow tables with checked columns."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath
from typing import Any, NamedTuple, NoReturn

import numpy as np

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, is_rounded
from skrank_metrics._input.id_types import holds_strings
from skrank_metrics._input.parameters import shown
from skrank_metrics.sources.columns import MASKS, NAMING, NUMBERS, TableColumns, check_column_names

# Bytes and lines of files, and their formats.

SUFFIXES = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "arrow": (".arrow", ".feather", ".ipc"),
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
PACKED = ".gz"
_GZIP = b"\x1f\x8b"  # first bytes of gzip files


def format_of(name: str) -> str | None:
    """The format of a table by its extension, in any case; text files may be gzipped."""
    lower = name.lower()
    for form, suffixes in SUFFIXES.items():
        if (lower.removesuffix(PACKED) if form in DELIMITERS else lower).endswith(suffixes):
            return form
    return None


def read_bytes(source: Any, *, text: bool = False, argument: str = "path") -> tuple[bytes, str]:
    """The decompressed bytes of a file, and its name; text must be in UTF-8 and not blank."""
    if isinstance(source, str | PathLike):
        name = str(fspath(source))
        if name == "-":
            data, name = sys.stdin.buffer.read(), "standard input"
        else:
            with open(name, "rb") as file:
                data = file.read()
    elif hasattr(source, "read"):
        data, name = source.read(), str(getattr(source, "name", "file"))
    else:
        raise TypeError(
            f"{argument} must be a path, '-' or an open file; got {type(source).__name__}."
        )
    if isinstance(data, str):
        data = data.encode()
    # By content, since standard input has no extension.
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(
                f"{name} must be a complete gzip file, since it starts like one; got: {error}."
            ) from None
    return _check_text(data, name) if text else data, name


def _check_text(data: bytes, name: str) -> bytes:
    """Refuse other encodings than UTF-8, in which ids would not match those of other files."""
    # The mark that Windows writes at the beginning of UTF-8.
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise ValueError(f"{name} must hold at least one line; got an empty file.")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        refuse_at(name, data, error.start, "text in UTF-8")
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
def readable(name: str, expected: str = "readable") -> Iterator[None]:
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
class TableFile:
    """A file of rows."""

    name: str
    form: str

    def column_names(self) -> list[str]:
        """Names of all columns."""
        with self._readable(), self._reader() as rows:
            return list(rows.schema_arrow.names if self.form == "parquet" else rows.schema.names)

    def n_rows(self) -> int | None:
        """Number of rows, if the file tells it."""
        if self.form != "parquet":
            return None
        with self._readable(), self._reader() as rows:
            return int(rows.metadata.num_rows)

    def tables(self, columns: TableColumns, batch_rows: int) -> Iterator[Any]:
        """The rows in batches, with the chosen columns and possibly others."""
        import pyarrow as pa

        # Readers of Parquet pass over columns that are not there.
        check_column_names(columns.by_argument, self.column_names(), self.name)
        with self._readable(), self._reader(columns.names) as rows:
            batches = rows
            if self.form == "parquet":
                batches = rows.iter_batches(batch_rows, columns=columns.names)
            elif self.form == "arrow":
                batches = map(rows.get_batch, range(rows.num_record_batches))
            for batch in batches:
                table = pa.Table.from_batches([batch])
                yield self._converted(table, columns) if self.form in DELIMITERS else table

    def _readable(self) -> Any:
        encoding = " in UTF-8" if self.form in DELIMITERS else ""
        return readable(self.name, f"a file of {self.form}{encoding}; reading it failed")

    def _reader(self, names: list[str] | None = None) -> Any:
        """A reader of pyarrow, of strings in the named columns if the file is a text."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.form == "parquet":
            # Buffers read ahead stay in memory until the file is closed.
            return pq.ParquetFile(self.name, pre_buffer=False, page_checksum_verification=True)
        if self.form == "arrow":
            return pa.ipc.open_file(pa.memory_map(self.name))
        packed = self.name.lower().endswith(PACKED)
        return _open_text(
            pa.input_stream(self.name, compression="gzip" if packed else None),
            DELIMITERS[self.form],
            names or [],
            # TSV has no quotes: a title may begin with one. Cells of CSV may hold lines.
            quoted=self.form == "csv",
        )

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


def _open_text(stream: Any, delimiter: str, names: list[str], *, quoted: bool) -> Any:
    """A reader of text, whose cells are strings, so that types do not depend on the first rows."""
    import pyarrow as pa
    from pyarrow import csv

    return csv.open_csv(
        stream,
        parse_options=csv.ParseOptions(
            delimiter=delimiter, quote_char='"' if quoted else False, newlines_in_values=quoted
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
    largest = pc.max(pc.abs(cells.cast(pa.float64()))).as_py()
    if largest is None or largest < LARGEST_EXACT_INTEGER:
        return cells
    # Only the words tell whether a number was rounded.
    for word in words.to_pylist():
        if word and is_rounded(word):
            raise ValueError(
                f"column {name} must hold {EXACT_INTEGERS}; got {word}. Subtract an offset or pass ranks."
            )
    return cells


# Files, Arrow streams and iterators of batches, as pyarrow tables with checked columns.


class Part(NamedTuple):
    """Tables of one origin."""

    holder: str  # that errors name
    tables: Iterable[Any]
    is_lent: bool  # whether whoever yields the tables may use their memory again


def tables_of(
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


def _parts_of(source: Any, columns: TableColumns, batch_rows: int) -> Iterator[Part]:
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


def _of_batch(batch: Any, columns: TableColumns) -> Any:
    import pyarrow as pa

    batch = with_stream(batch)
    if hasattr(batch, "__arrow_c_stream__"):
        return pa.table(batch)
    if not isinstance(batch, Mapping):
        raise TypeError(f"source must yield dicts or tables; got {type(batch).__name__}.")
    with readable("source"):
        return pa.table({name: pa.array(batch[name]) for name in columns.names if name in batch})

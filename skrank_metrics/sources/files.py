"""Files: their formats, their bytes, and the rows of Parquet, CSV, TSV and Arrow files as pyarrow tables."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike, fspath
from typing import IO, Any, Literal, NoReturn

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, is_rounded
from skrank_metrics.sources.columns import Columns

SUFFIXES = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "arrow": (".arrow", ".feather", ".ipc"),
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
PACKED = ".gz"
_GZIP = b"\x1f\x8b"  # first bytes of gzip files
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
IN_MEMORY = " Pass dicts and frames to skrank_metrics.evaluate_run."


def format_of(name: str) -> str | None:
    """The format of a file by its extension, in any case; text files may be gzipped."""
    lower = name.lower()
    for form, suffixes in SUFFIXES.items():
        if lower.endswith(suffixes) or (form in DELIMITERS and lower.endswith(tuple(s + PACKED for s in suffixes))):
            return form
    return None


def import_arrow(what: str = "evaluate_batches") -> Any:
    """Import pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} needs pyarrow: pip install pyarrow") from None
    return pyarrow


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
        expected = f"{argument} must be a path, '-' or an open file"
        raise TypeError(f"{expected}; got {type(source).__name__}.{way_out(source, argument)}")
    if isinstance(data, str):
        data = data.encode()
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{name} must be a complete gzip file, since it starts like one; got: {error}.") from None
    return _check_text(data, name) if text else data, name


def way_out(source: Any, argument: str) -> str:
    """How to pass the content of a file, or columns, if the source seems to be one of these."""
    if isinstance(source, bytes | bytearray | memoryview):
        return f" Pass io.BytesIO({argument}) to read bytes as a file."
    if isinstance(source, list | tuple) and source and all(isinstance(line, str) for line in source):
        return f" Pass io.StringIO('\\n'.join({argument})) to read lines as a file."
    return IN_MEMORY if isinstance(source, Mapping) or hasattr(source, "columns") else ""


def _check_text(data: bytes, name: str) -> bytes:
    """Refuse other encodings than UTF-8, in which ids would not match those of other files."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise ValueError(f"{name} must hold at least one line; got an empty file.")
    _refuse_utf_16(data, name)
    if not data.isascii():
        refuse_encoding(io.BytesIO(data), name)
    return data


def _refuse_utf_16(start: bytes, name: str) -> None:
    if start.startswith(_UTF_16):
        raise ValueError(f"{name} must be in UTF-8; it starts like a file in UTF-16. Save it as UTF-8.")


def refuse_encoding(lines: IO[bytes], name: str) -> None:
    """Raise an error that shows the first line that is not in UTF-8, if there is one."""
    for number, line in enumerate(lines, start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            refuse(name, number, line.rstrip(b"\n"), "text in UTF-8")


def refuse(name: str, number: int, line: bytes, expected: str) -> NoReturn:
    """Raise an error that shows a line."""
    shown = line.decode(errors="backslashreplace").rstrip("\r")
    shown = shown if len(shown) <= 100 else shown[:100] + "..."
    raise ValueError(f"{name}, line {number}: expected {expected}; got {shown!r}.")


@dataclass(frozen=True)
class TableFile:
    """A file of rows; its decompressed bytes are None if they are to be read from the file with its name."""

    name: str
    form: str
    data: bytes | None = None

    @classmethod
    def opened(cls, name: str, form: str) -> TableFile:
        """A file, or "-" for standard input; compressed Parquet and Arrow files are read whole."""
        if name != "-" and (form in DELIMITERS or not _is_packed(name)):
            return cls(name, form)
        data, name = read_bytes(name)
        return cls(name, form, data)

    def n_rows(self) -> int | None:
        """Number of rows, if the file tells it."""
        if self.form != "parquet" or self.data is not None:
            return None
        import pyarrow.parquet as pq

        with readable(self.name, self.form):
            return int(pq.read_metadata(self.name).num_rows)

    def column_names(self) -> list[str]:
        """Names of all columns."""
        with readable(self.name, self.form):
            if self.form in DELIMITERS:
                with self._utf_8(), self._cells() as reader:
                    return list(reader.schema.names)
            import pyarrow as pa
            import pyarrow.parquet as pq

            with pa.memory_map(self.name) if self.data is None else pa.BufferReader(self.data) as opened:
                if self.form == "parquet":
                    return list(pq.read_schema(opened).names)
                with pa.ipc.open_file(opened) as rows:
                    return list(rows.schema.names)

    def tables(self, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
        """The chosen columns in batches."""
        with readable(self.name, self.form):
            if self.form in DELIMITERS:
                yield from self._of_text(columns, use_threads)
            elif self.form == "parquet":
                yield from self._of_parquet(columns, batch_rows, use_threads)
            else:
                yield from self._of_arrow()

    def place(self, row: int) -> str:
        """A row in words: the line of a text file on which it begins."""
        if self.form not in DELIMITERS:
            return f"row {row} of {self.name}"
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.form == "csv" else csv.QUOTE_NONE
        left = row + 1  # the header
        # csv raises an error for cells of more than 128 KiB.
        with io.TextIOWrapper(self._lines(), "utf-8", "replace", newline="") as lines, suppress(csv.Error):
            rows = csv.reader(lines, delimiter=DELIMITERS[self.form], quoting=quoting)
            for cells in rows:
                left -= bool(cells)  # blank lines are not rows
                if left < 0:
                    return f"line {rows.line_num - ''.join(cells).count(chr(10))} of {self.name}"
        return f"line {row + 2} of {self.name}"

    def _place_after(self, first: int, row: int) -> str:
        return self.place(first + row)

    def _lines(self) -> Any:
        """The decompressed bytes as a file of Python."""
        if self.data is not None:
            return io.BytesIO(self.data)
        return (gzip.open if _is_packed(self.name) else open)(self.name, "rb")

    def _of_parquet(self, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        source = self.name if self.data is None else pa.BufferReader(self.data)
        # Buffers read ahead stay in memory until the file is closed.
        with pq.ParquetFile(source, pre_buffer=False, page_checksum_verification=True) as rows:
            columns.check(rows.schema_arrow, self.name)
            for batch in rows.iter_batches(batch_rows, columns=columns.names, use_threads=use_threads):
                yield pa.Table.from_batches([batch])

    def _of_arrow(self) -> Iterator[Any]:
        import pyarrow as pa

        source = pa.memory_map(self.name) if self.data is None else pa.BufferReader(self.data)
        with source, pa.ipc.open_file(source) as rows:
            for number in range(rows.num_record_batches):
                yield pa.Table.from_batches([rows.get_batch(number)], rows.schema)

    def _of_text(self, columns: Columns, use_threads: bool) -> Iterator[Any]:
        """Read all cells as strings, so that types do not depend on the first rows, and convert the numbers."""
        with self._utf_8():
            with self._cells() as reader:
                names = reader.schema.names  # raises an error here if the bytes are not in UTF-8
            columns.check_names(names, self.name)
            first = 0
            with self._cells(columns.names, use_threads=use_threads) as reader:
                for batch in reader:
                    yield _converted(batch, columns, partial(self._place_after, first))
                    first += len(batch)

    def _cells(self, names: list[str] | None = None, *, use_threads: bool = False) -> Any:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        packed = self.data is None and _is_packed(self.name)
        given = self.name if self.data is None else pa.BufferReader(self.data)
        stream = pa.input_stream(given, compression="gzip" if packed else None)
        # TSV has no quotes: a title may begin with one. Cells of CSV may hold lines.
        quoted = self.form == "csv"
        return arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(use_threads=use_threads),
            parse_options=arrow_csv.ParseOptions(
                delimiter=DELIMITERS[self.form], quote_char='"' if quoted else False, newlines_in_values=quoted
            ),
            # Only an empty cell is a missing value, since "NA" can be an id.
            convert_options=arrow_csv.ConvertOptions(
                include_columns=names,
                column_types=dict.fromkeys(names or (), pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )

    @contextmanager
    def _utf_8(self) -> Iterator[None]:
        """Show the line of a text file that is in another encoding."""
        import pyarrow as pa

        with self._lines() as lines:
            start = lines.read(4)
        if not start:
            raise ValueError(f"{self.name} must hold at least one line; got an empty file.")
        _refuse_utf_16(start, self.name)
        try:
            yield
        except (UnicodeDecodeError, pa.ArrowInvalid):
            with self._lines() as lines:
                refuse_encoding(lines, self.name)
            raise


def _is_packed(name: str) -> bool:
    with open(name, "rb") as start:
        return start.read(len(_GZIP)) == _GZIP


@contextmanager
def readable(name: str, form: str = "") -> Iterator[None]:
    """Name the file or the source that cannot be read, such as a truncated file."""
    import pyarrow as pa

    what = f"{name} must be a file of {form}; reading it failed" if form else f"{name} must be readable"
    try:
        yield
    except (pa.ArrowException, EOFError, zlib.error) as error:
        raise ValueError(f"{what}: {error}") from error
    except OSError as error:
        if error.errno is not None and not isinstance(error, gzip.BadGzipFile):
            raise
        raise ValueError(f"{what}: {error}") from error


def _converted(batch: Any, columns: Columns, place: Callable[[int], str]) -> Any:
    """The cells of a text file as numbers, masks and ids."""
    import pyarrow as pa

    table = pa.Table.from_batches([batch])
    for argument, name in columns.by_argument:
        cells = table[name]
        if argument in ("retrieved", "judged"):
            try:
                cells = cells.cast(pa.bool_())
            except pa.ArrowInvalid as error:
                raise TypeError(f"{argument} must be a column of True and False; {name!r} is not: {error}") from None
        elif name in columns.numbers:
            cells = pa.chunked_array([_to_numbers(cells.combine_chunks(), argument, name, place)])
        table = table.set_column(table.schema.get_field_index(name), name, cells)
    return table


def _to_numbers(cells: Any, argument: str, name: str, place: Callable[[int], str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(cells.type):  # a column with two roles
        return cells
    words = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    try:
        numbers = words.cast(pa.float64())
    except pa.ArrowInvalid:  # such as blanks around a number, or a word
        found = enumerate(words.to_pylist())
        numbers = pa.array([_to_number(word, argument, name, row, place) for row, word in found], pa.float64())
    ends = pc.min_max(numbers).as_py().values()
    if any(end is not None and abs(end) >= LARGEST_EXACT_INTEGER for end in ends):
        for row, word in enumerate(words.to_pylist()):
            if word and is_rounded(word):
                raise ValueError(
                    f"column {name!r} must hold {EXACT_INTEGERS}; got {word} in {place(row)}. Subtract an offset or "
                    "pass ranks."
                )
    return numbers


def _to_number(word: str | None, argument: str, name: str, row: int, place: Callable[[int], str]) -> float | None:
    if word is None:
        return None
    text = word.strip().lower()
    if argument == "label" and text in ("true", "false"):
        return float(text == "true")
    with suppress(ValueError):
        if "_" not in text:  # float accepts 1_0
            return float(text)
    raise TypeError(f"{argument} must be a column of numbers; {name!r} has {word!r} in {place(row)}.")

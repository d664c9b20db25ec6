"""Files of rows (Parquet, Arrow, CSV and TSV) as batches of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, is_rounded
from skrank_metrics.sources.columns import MASKS, NAMING, NUMBERS, Columns, check_column_names
from skrank_metrics.sources.files import DELIMITERS, PACKED


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

    def tables(self, columns: Columns, batch_rows: int) -> Iterator[Any]:
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

    def _converted(self, table: Any, columns: Columns) -> Any:
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

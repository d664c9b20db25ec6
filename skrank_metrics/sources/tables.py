"""Rows of files, Arrow streams and iterators of batches, as pyarrow tables with checked columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, is_rounded, nearest
from skrank_metrics.sources.files import DELIMITERS, PACKED, SUFFIXES, format_of, read_bytes

NUMBERS, MASKS = ("label", "score", "sample_weight"), ("retrieved", "judged")
# The values that are ignored if a mask is False.
_MASKED = {"label": "judged", "score": "retrieved"}


def import_arrow(what: str = "evaluate_batches") -> Any:
    """Import pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} needs pyarrow: pip install pyarrow") from None
    with suppress(ImportError):
        import pandas  # noqa: F401  pyarrow would import it, and ignore Ctrl-C meanwhile
    return pyarrow


def check_column_names(
    named: Iterable[tuple[str, str | None]], names: Sequence[Any], holder: str
) -> None:
    """Refuse arguments that do not name exactly one column."""
    for argument, name in named:
        times = list(names).count(name)
        if name is not None and times != 1:
            found = (
                f"has {times} columns {name!r}"
                if times
                else f"has no column {name!r}; name it with {argument}="
            )
            hint = "" if times else nearest(name, names)
            raise ValueError(
                f"{holder} {found}. Columns: {', '.join(map(repr, names[:20]))}.{hint}"
            )


@dataclass(frozen=True)
class Columns:
    """Names of columns by role."""

    label: str | None
    scores: Sequence[str]
    qid: str
    others: Mapping[str, str] = field(
        default_factory=dict
    )  # by argument: sample_weight, retrieved, judged, by, groups
    documents: Sequence[str] = ()  # columns for own metrics
    signed: bool = False  # whether labels may be negative

    @classmethod
    def of(
        cls, label: Any, score: Any, qid: Any, others: Mapping[str, Any], documents: Any = None
    ) -> Columns:
        """Columns with the names passed by users; those in ``others`` may be None."""
        given = {argument: name for argument, name in others.items() if name is not None}
        for argument, name in {"label": label, "qid": qid, **given}.items():
            if not isinstance(name, str):
                raise TypeError(f"{argument} must be the name of a column; got {name!r}.")
        found = {"score": score, "documents": [] if documents is None else documents}
        for argument, names in found.items():
            found[argument] = listed = [names] if isinstance(names, str) else names
            if not isinstance(listed, list | tuple) or not all(
                isinstance(name, str) for name in listed
            ):
                raise TypeError(
                    f"{argument} must be the name of a column or a list of names; got {names!r}."
                )
            if len(set(listed)) < len(listed):
                raise ValueError(f"{argument} must name different columns; got {list(listed)}.")
        if not found["score"]:
            raise ValueError("score must name at least one column; got none.")
        return cls(label, found["score"], qid, given, found["documents"])

    @property
    def by_argument(self) -> list[tuple[str, str]]:
        """The argument and the name of each column, in the order of tuples in batches."""
        labels = [] if self.label is None else [("label", self.label)]
        scores, own = (
            [("score", name) for name in self.scores],
            [("documents", name) for name in self.documents],
        )
        return [*labels, *scores, ("qid", self.qid), *self.others.items(), *own]

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys(name for _, name in self.by_argument))

    def check(self, schema: Any, holder: str) -> None:
        """Refuse columns that are missing or have the wrong type."""
        from pyarrow import types

        check_column_names(self.by_argument, schema.names, holder)
        for argument, name in self.by_argument:
            kind = schema.field(name).type
            if argument in NUMBERS:
                number = types.is_integer(kind) or types.is_floating(kind)
                valid, what = number or (argument == "label" and types.is_boolean(kind)), "numbers"
            elif argument in MASKS:
                valid, what = types.is_boolean(kind), "True and False"
            else:
                valid, what = not types.is_nested(kind), "integers, strings or other ids"
            if not valid and not types.is_null(kind):  # as in a file without rows
                raise TypeError(
                    f"{argument} must be a column of {what}; {name!r} is of type {kind}."
                )


@contextmanager
def readable(name: str, form: str = "") -> Iterator[None]:
    """Name the file or the source that cannot be read, such as a truncated file."""
    import pyarrow as pa

    what = (
        f"be a file of {form}{' in UTF-8' * (form in DELIMITERS)}; reading it failed"
        if form
        else "be readable"
    )
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name} must {what}: {error}") from error


@dataclass(frozen=True)
class TableFile:
    """A file of rows; its decompressed bytes are None if they are to be read from the file with its name."""

    name: str
    form: str
    data: bytes | None = None

    @classmethod
    def opened(cls, name: str, form: str) -> TableFile:
        """A file, or "-" for standard input; gzipped files are read whole."""
        if name != "-" and not name.lower().endswith(PACKED):
            return cls(name, form)
        data, name = read_bytes(name)
        return cls(name, form, data)

    def column_names(self) -> list[str]:
        """Names of all columns."""
        with readable(self.name, self.form), self.reader() as rows:
            return list(rows.schema_arrow.names if self.form == "parquet" else rows.schema.names)

    def tables(self, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
        """The chosen columns in batches."""
        import pyarrow as pa

        with readable(self.name, self.form):
            if self.form in DELIMITERS:
                # All cells are read as strings, so that types do not depend on the first rows.
                check_column_names(columns.by_argument, self.column_names(), self.name)
                with self.reader(columns.names, use_threads=use_threads) as rows:
                    for batch in rows:
                        yield _converted(pa.Table.from_batches([batch]), columns, self.name)
                return
            with self.reader() as rows:
                if self.form == "parquet":
                    columns.check(rows.schema_arrow, self.name)
                    batches = rows.iter_batches(
                        batch_rows, columns=columns.names, use_threads=use_threads
                    )
                else:
                    batches = map(rows.get_batch, range(rows.num_record_batches))
                yield from (pa.Table.from_batches([batch]) for batch in batches)

    def reader(self, names: list[str] | None = None, *, use_threads: bool = False) -> Any:
        """A reader of pyarrow, of strings in the named columns if the file is a text."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv
        import pyarrow.parquet as pq

        given: Any = self.name if self.data is None else pa.BufferReader(self.data)
        if self.form == "parquet":
            # Buffers read ahead stay in memory until the file is closed.
            return pq.ParquetFile(given, pre_buffer=False, page_checksum_verification=True)
        if self.form == "arrow":
            return pa.ipc.open_file(pa.memory_map(self.name) if self.data is None else given)
        packed = self.data is None and self.name.lower().endswith(PACKED)
        # TSV has no quotes: a title may begin with one. Cells of CSV may hold lines.
        quoted = self.form == "csv"
        return arrow_csv.open_csv(
            pa.input_stream(given, compression="gzip" if packed else None),
            read_options=arrow_csv.ReadOptions(use_threads=use_threads),
            parse_options=arrow_csv.ParseOptions(
                delimiter=DELIMITERS[self.form],
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
            ),
            # Only an empty cell is a missing value, since "NA" can be an id.
            convert_options=arrow_csv.ConvertOptions(
                include_columns=names,
                column_types=dict.fromkeys(names or (), pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


def _converted(table: Any, columns: Columns, file: str) -> Any:
    """The cells of a text file as numbers, masks and ids."""
    import pyarrow as pa

    found = {name: table[name] for name in columns.names}
    for argument, name in columns.by_argument:
        if argument in (*NUMBERS, *MASKS) and pa.types.is_string(
            found[name].type
        ):  # a column may have two roles
            found[name] = _typed(found[name], argument, f"{name!r} of {file}")
    return pa.table(found)


def _typed(words: Any, argument: str, name: str) -> Any:
    """Words as numbers or as True and False, which labels can be as well."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, what = (pa.bool_(), "True and False") if argument in MASKS else (pa.float64(), "numbers")
    words = pc.utf8_trim_whitespace(words)
    if argument == "label" and len(words) and str(words[0]).lower() in ("true", "false"):
        kind = pa.bool_()
    try:
        cells = words.cast(kind)
    except pa.ArrowInvalid as error:
        raise TypeError(f"{argument} must be a column of {what}; {name} is not: {error}") from None
    ends = pc.min_max(cells).as_py().values()
    if any(end is not None and abs(end) >= LARGEST_EXACT_INTEGER for end in ends):
        for word in words.to_pylist():
            if word and is_rounded(word):
                raise ValueError(
                    f"column {name} must hold {EXACT_INTEGERS}; got {word}. Subtract an offset or pass ranks."
                )
    return cells


def tables_of(source: Any, columns: Columns, batch_rows: int, use_threads: bool) -> Iterator[Any]:
    """Tables of at most ``batch_rows`` rows with the chosen columns and valid values."""
    schema, empty = None, True
    for holder, tables, lent in _tables_by_source(source, columns, batch_rows, use_threads):
        first = 0
        for table in tables:
            chosen = selected(table, columns, holder)
            if not len(chosen):
                continue
            found = bad_cell(chosen, columns)
            if found is not None:
                row, what = found
                raise ValueError(f"{what} in row {first + row} of {holder}.")
            if lent:  # pyarrow shares the memory of NumPy's arrays, which may be used again
                chosen = chosen.take(np.arange(len(chosen)))
            schema = (
                chosen.schema
                if empty
                else _widened(schema, chosen.schema, f"row {first} of {holder}")
            )
            chosen, empty = chosen.cast(schema), False
            yield from (
                chosen.slice(start, batch_rows) for start in range(0, len(chosen), batch_rows)
            )
            first += len(chosen)
    if empty:
        given = source.name if isinstance(source, TableFile) else "source"
        raise ValueError(f"{given} must hold at least one document; got none.")


def selected(table: Any, columns: Columns, holder: str) -> Any:
    """The chosen columns, checked, with plain values."""
    import pyarrow as pa

    columns.check(table.schema, holder)
    given = {name: table[name] for name in columns.names}
    found = {
        n: pa.chunked_array([*map(plain_array, one.chunks)], _plain_kind(one.type))
        for n, one in given.items()
    }
    if columns.label and pa.types.is_boolean(
        found[columns.label].type
    ):  # labels of other batches may be numbers
        found[columns.label] = found[columns.label].cast(pa.int8())
    return pa.table(found)


def _plain_kind(kind: Any) -> Any:
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(kind), kind)


def plain_array(array: Any) -> Any:
    """Replace categories, whose codes differ between batches, and view types by plain values."""
    import pyarrow as pa

    kind = _plain_kind(array.type)
    if pa.types.is_dictionary(array.type):  # pyarrow cannot decode views
        array = pa.DictionaryArray.from_arrays(
            array.indices, array.dictionary.cast(kind)
        ).dictionary_decode()
    return array.cast(kind)


def bad_cell(table: Any, columns: Columns) -> tuple[int, str] | None:
    """The row of the first null or invalid number of a column, and what is wrong; None if all are valid."""
    for name in columns.names:
        if table[name].null_count:
            return int(
                np.argmax(table[name].is_null().to_numpy())
            ), f"column {name!r} must not hold nulls; got one"
    for argument, name in columns.by_argument:
        if argument not in NUMBERS:
            continue
        values = table[name].to_numpy()
        signed = argument == "score" or (argument == "label" and columns.signed)
        high, expected = (
            (np.inf, "numbers") if argument == "score" else (np.finfo(float).max, "finite numbers")
        )
        exactly = ""
        if values.dtype.kind != "f":
            high, expected, exactly = LARGEST_EXACT_INTEGER, "numbers", f", and {EXACT_INTEGERS}"
        expected += ("" if signed else " >= 0") + exactly
        low = -high if signed else 0
        if values.min() >= low and values.max() <= high:  # NaN fails both
            continue
        bad = ~((values >= low) & (values <= high))
        mask = columns.others.get(_MASKED.get(argument, ""))
        if mask is not None:
            bad &= table[mask].to_numpy()
        if bad.any():
            row = int(np.argmax(bad))
            what = (
                "contains NaN, first"
                if np.isnan(values[row])
                else f"must hold {expected}; got {values[row]}"
            )
            return row, f"column {name!r} {what}"
    return None


def _widened(schema: Any, other: Any, place: str) -> Any:
    """The schema that can hold the values of two, the other of which starts at a place."""
    import pyarrow as pa

    try:
        for one, two in zip(schema, other, strict=True):
            if pa.types.is_binary(one.type) != pa.types.is_binary(
                two.type
            ):  # b"7" and "7" are different ids
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
    files, known = _files_of(source), 0
    for file in files:
        if file.form != "parquet":
            return None
        with readable(file.name, file.form), file.reader() as rows:
            known += rows.metadata.num_rows
    return known if files else None


def _files_of(source: Any) -> list[TableFile]:
    """The files if the source is a path or a list of paths."""
    given = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, list | tuple) or not all(
        isinstance(one, str | os.PathLike) for one in given
    ):
        return []
    files, seen = [], set()
    for path in map(str, map(os.fspath, given)):
        if not os.path.isfile(path):
            raise FileNotFoundError(
                f"source must be an existing file, or a list of files; got {path!r}."
            )
        form = format_of(path)
        if form is None:
            raise ValueError(
                f"source must end in {', '.join(chain(*SUFFIXES.values()))}; got {path!r}."
            )
        info = os.stat(path)
        key = (info.st_dev, info.st_ino)
        if key in seen:
            raise ValueError(f"source must name each file once; {path!r} comes again.")
        seen.add(key)
        files.append(TableFile(path, form))
    return files


def _tables_by_source(
    source: Any, columns: Columns, batch_rows: int, use_threads: bool
) -> Iterator[tuple[str, Iterable[Any], bool]]:
    """What holds tables, the tables, and whether whoever yields them may use their memory again."""
    if engine := {"pyspark": "spark", "dask": "dask"}.get(
        type(source).__module__.partition(".")[0]
    ):
        raise TypeError(
            f"source must not be a {engine.title()} frame, whose rows would all go through this process; pass it to "
            f"skrank_metrics.{engine}.evaluate."
        )
    source = with_stream(source)
    files = [source] if isinstance(source, TableFile) else _files_of(source)
    if files:
        for file in files:
            yield file.name, file.tables(columns, batch_rows, use_threads), False
    elif hasattr(source, "__arrow_c_stream__"):
        # A table stays as it is; a reader may pass on arrays that are used again.
        yield "the source", _of_stream(source), not hasattr(source, "__len__")
    elif isinstance(source, Iterable) and not isinstance(
        source, str | bytes | Mapping | np.ndarray
    ):
        if isinstance(source, list | tuple) and len(set(map(id, source))) < len(source):
            raise ValueError(
                "source must hold each batch once; one comes again, and its rows would count twice."
            )
        yield "the source", (_of_batch(batch, columns) for batch in source), True
    else:
        raise TypeError(
            "source must be a path, a list of paths, an object with __arrow_c_stream__ such as a table of pyarrow or a "
            f"frame of polars, or an iterator of batches; got {type(source).__name__}."
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

    batch, names = with_stream(batch), columns.names
    if hasattr(batch, "__arrow_c_stream__") or isinstance(batch, pa.RecordBatch):
        return (
            pa.table(batch)
            if hasattr(batch, "__arrow_c_stream__")
            else pa.Table.from_batches([batch])
        )
    if isinstance(batch, tuple):
        if len(batch) != len(names):
            raise ValueError(
                f"source must yield tuples of {len(names)} arrays, {', '.join(names)}; got {len(batch)}."
            )
        batch = dict(zip(names, batch, strict=True))
    if not isinstance(batch, Mapping):
        raise TypeError(f"source must yield dicts, tuples or tables; got {type(batch).__name__}.")
    with readable("source"):
        return pa.table({name: pa.array(batch[name]) for name in names if name in batch})

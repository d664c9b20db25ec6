"""CSV and TSV files as tables, in which ids are strings unless all of them are integers as Python writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, is_rounded

# Only an empty cell is a missing value, since "NA" can be an id.
NULLS = {"null_values": [""], "strings_can_be_null": True}

Opened = Callable[[], Any]


def strings_of(opened: Opened, delimiter: str, ids: list[str], name: str) -> set[str]:
    """The columns of ids that are not all integers: "001" is not "1", and "1.10" is not "1.1".

    As long as all ids are integers, all rows are read, since one of the last may not be one.
    """
    import pyarrow as pa

    with in_utf8(name):
        ids = [column for column in ids if column in _schema(opened, delimiter).names]
        strings: set[str] = set()
        if not ids:
            return strings
        with _open(opened, delimiter, include_columns=ids, column_types=dict.fromkeys(ids, pa.string())) as reader:
            for batch in reader:
                strings |= {column for column in ids if not _are_integers(batch[column])}
                if len(strings) == len(set(ids)):
                    break
        return strings


def tables_of_text(
    opened: Opened, delimiter: str, columns: Any, strings: set[str], *, use_threads: bool
) -> Iterator[Any]:
    """Tables of a text file, with the types of numbers and ids decided beforehand."""
    import pyarrow as pa
    from pyarrow import csv

    with in_utf8(columns.holder):
        schema = _schema(opened, delimiter)
        columns.check_names(schema.names)
        # pyarrow takes types from the first block, but whole numbers may have decimals later.
        types = {name: pa.float64() for name in columns.numbers if pa.types.is_integer(schema.field(name).type)}
        types |= {name: pa.string() if name in strings else pa.int64() for name in columns.ids}
        read = csv.ReadOptions(use_threads=use_threads)
        with _open(opened, delimiter, read, include_columns=columns.names, column_types=types) as reader:
            unchecked = set(columns.numbers)
            for batch in reader:
                for name in [name for name in unchecked if _may_be_rounded(batch[name])]:
                    _refuse_rounded(opened, delimiter, name, columns)
                    unchecked.remove(name)
                yield pa.Table.from_batches([batch])


def _may_be_rounded(numbers: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(numbers.type):  # words, which are refused later
        return False
    ends = pc.min_max(numbers).as_py().values()
    return any(end is not None and abs(end) >= LARGEST_EXACT_INTEGER for end in ends)


def _refuse_rounded(opened: Opened, delimiter: str, name: str, columns: Any) -> None:
    """Refuse integers that are not what is written once they are floats."""
    import pyarrow as pa

    first = 0
    with _open(opened, delimiter, include_columns=[name], column_types={name: pa.string()}) as reader:
        for batch in reader:
            for row, word in enumerate(batch[name].to_pylist(), start=first):
                if word and is_rounded(word):
                    raise ValueError(
                        f"column {name!r} must hold {EXACT_INTEGERS}; got {word} in {columns.place(row)}. Subtract an "
                        "offset or pass ranks."
                    )
            first += len(batch)


@contextmanager
def in_utf8(name: str) -> Iterator[None]:
    """Name the file that has another encoding."""
    import pyarrow as pa

    try:
        yield
    except (UnicodeDecodeError, pa.ArrowInvalid) as error:
        if isinstance(error, pa.ArrowInvalid) and "UTF8" not in str(error):
            raise
        raise ValueError(f"{name} must be a text file in UTF-8; {error}. Save it as UTF-8.") from error


def _schema(opened: Opened, delimiter: str) -> Any:
    with _open(opened, delimiter) as reader:
        schema = reader.schema
    _ = schema.names  # raises an error here if the bytes are not UTF-8
    return schema


def _open(opened: Opened, delimiter: str, read: Any = None, **convert: Any) -> Any:
    from pyarrow import csv

    return csv.open_csv(
        opened(),
        read_options=read or csv.ReadOptions(),
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(**NULLS, **convert),
    )


def _are_integers(ids: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        written = ids.cast(pa.int64()).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return bool(pc.all(pc.equal(ids, written), min_count=0).as_py())

"""Ids of documents as 64-bit keys: strings as bytes in one buffer, integers, and numbers that stand for other ids."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray, Mask
from skrank_metrics._input.query_ids import check_ids
from skrank_metrics.sources.tables import plain_array

Keys: TypeAlias = NDArray[np.uint64]

WORD = 8
SLAB = 2**15  # rows whose temporaries stay in the cache
END = b"\0" * WORD  # words of 8 bytes are read at any byte
# Item n keeps the first n of 8 bytes.
_FIRST = np.where(np.arange(8) < np.arange(9)[:, None], 255, 0).astype(np.uint8).view(np.uint64).ravel()


@dataclass(frozen=True)
class Strings:
    """Strings in UTF-8. Long ones take no more memory than they need."""

    data: NDArray[np.uint8]  # with 8 bytes after the last string
    starts: NDArray[np.integer[Any]]
    sizes: NDArray[np.integer[Any]]

    @classmethod
    def of(cls, strings: Sequence[str]) -> Strings:
        """The strings of a list."""
        data = "\0".join(strings).encode("utf-8", "surrogatepass")
        codes = np.frombuffer(data + END, dtype=np.uint8)
        ends = np.flatnonzero(codes[: len(data) + 1] == 0)  # much faster than a length for each
        if len(ends) == len(strings):
            starts = np.concatenate(([0], ends[:-1] + 1))
            return cls(codes, starts, ends - starts)
        parts = [one.encode("utf-8", "surrogatepass") for one in strings]  # with NUL, or there are none
        sizes = np.fromiter(map(len, parts), np.intp, len(parts))
        return cls(np.frombuffer(b"".join((*parts, END)), dtype=np.uint8), np.cumsum(sizes) - sizes, sizes)

    @classmethod
    def of_arrow(cls, array: Any) -> Strings:
        """The strings of a pyarrow array of strings without nulls."""
        _, offsets, data = array.buffers()
        width = np.int64 if str(array.type) == "large_string" else np.int32
        ends = np.frombuffer(offsets, dtype=width)[array.offset : array.offset + len(array) + 1]
        part = b"" if data is None else memoryview(data)[int(ends[0]) : int(ends[-1])]
        narrow = np.int32 if len(part) < 2**31 else np.int64
        starts, sizes = (ends[:-1] - ends[0]).astype(narrow), np.diff(ends).astype(np.int32)
        return cls(np.frombuffer(b"".join((part, END)), dtype=np.uint8), starts, sizes)

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: Any) -> Strings:
        """Some of the strings."""
        return replace(self, starts=self.starts[rows], sizes=self.sizes[rows])

    def tolist(self) -> list[str]:
        """The strings as Python's."""
        data, ends = self.data.tobytes(), (self.starts.astype(np.intp) + self.sizes).tolist()
        return [
            data[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip(self.starts.tolist(), ends, strict=True)
        ]

    def words(self, number: int, rows: Any) -> Keys:
        """The given word of 8 bytes of some strings, padded with 0."""
        every = np.ndarray(len(self.data) - WORD + 1, dtype=np.uint64, buffer=self.data.data, strides=(1,))
        rest = self.sizes[rows] - WORD * number
        # Strings that ended before have no bytes left; their places may be beyond the data.
        places = np.minimum(self.starts[rows].astype(np.intp) + WORD * number, len(every) - 1)
        return every[places] & _FIRST[np.minimum(np.maximum(rest, 0), WORD)]

    @cached_property
    def keys(self) -> Keys:
        """A hash of each string; different strings are unlikely to have the same one."""
        keys = np.empty(len(self), dtype=np.uint64)
        for rows in slabs(len(self)):
            keys[rows] = self.take(rows)._hashed()
        return keys

    def _hashed(self) -> Keys:
        mixed, number = self.sizes.astype(np.uint64), 0
        rows: Any = slice(None)
        while len(mixed[rows]):  # most strings are done after a few words
            mixed[rows] = mix(mixed[rows] ^ self.words(number, rows))
            number += 1
            more = self.sizes[rows] > WORD * number
            rows = rows if more.all() else np.arange(len(mixed))[rows][more]
        return mixed

    def equals(self, other: Any) -> Mask:
        """Whether the strings are those of the other, one by one."""
        same = self.sizes == other.sizes
        rows, number = np.flatnonzero(same), 0
        while len(rows):
            same[rows] = self.words(number, rows) == other.words(number, rows)
            number += 1
            rows = rows[same[rows] & (self.sizes[rows] > WORD * number)]
        return same

    def order_within(self, groups: IntArray) -> IntArray:
        """Order by group, and within a group by bytes, descending."""
        strings = self.tolist()  # Python compares code points, which are in the order of their bytes in UTF-8
        order = np.array(sorted(range(len(strings)), key=strings.__getitem__, reverse=True), dtype=np.intp)
        return order[np.argsort(groups[order], kind="stable")]


@dataclass(frozen=True)
class Numbers:
    """Integers, or the places of other ids in ``names``."""

    values: NDArray[np.int64]
    names: Sequence[Any] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Any) -> Numbers:
        """Some of the ids."""
        return replace(self, values=self.values[rows])

    def tolist(self) -> list[Any]:
        """The ids as Python's objects."""
        values = self.values.tolist()
        return values if self.names is None else [self.names[value] for value in values]

    @property
    def keys(self) -> Keys:
        """Different numbers for different ids."""
        return mix(self.values.view(np.uint64))

    def equals(self, other: Any) -> Mask:
        """Whether the ids are those of the other, one by one."""
        return np.asarray(self.values == other.values)


Ids: TypeAlias = Strings | Numbers


@dataclass(frozen=True)
class Objects:
    """Ids of any type in several lists, of which some rows may be chosen; converted only if they are needed."""

    lists: Sequence[Collection[Any]]
    rows: IntArray
    name: str

    def take(self, rows: Any) -> Objects:
        """Some of the ids."""
        return replace(self, rows=self.rows[rows])

    def tolist(self) -> list[Any]:
        """The ids as they are."""
        values = list(chain.from_iterable(self.lists))
        whole = len(self.rows) == len(values) and (self.rows == np.arange(len(values))).all()
        return values if whole else [values[row] for row in self.rows.tolist()]

    @cached_property
    def converted(self) -> Ids:
        """The ids as strings or numbers."""
        return ids_of(self.tolist(), self.name)


def ids_of(column: Any, name: str) -> Ids:
    """Ids of documents of any kind, none of which may be missing."""
    if (strings := _arrow_strings(column)) is not None:
        return strings
    array = np.asarray(column) if hasattr(column, "dtype") or hasattr(column, "type") else None
    if array is not None and array.dtype.kind in "iu" and (array.dtype != np.uint64 or array.max(initial=0) < 2**63):
        return Numbers(array.astype(np.int64, copy=False))
    values = array.tolist() if array is not None and array.dtype.kind in "USOT" else list(column)
    kinds = set(map(type, values))
    if kinds <= {str}:
        return Strings.of(values)
    if kinds == {int} and min(values) >= -(2**63) and max(values) < 2**63:
        return Numbers(np.array(values, dtype=np.int64))
    objects = np.fromiter(values, dtype=object, count=len(values))  # NumPy would make rows of tuples
    return numbered([check_ids(objects, len(values), name).tolist()])[0]


def _arrow_strings(column: Any) -> Strings | None:
    """Strings of a library without an object of Python for each; None if these are no strings, or some are missing."""
    library = type(column).__module__.partition(".")[0]
    if library not in ("pandas", "polars", "pyarrow") or str(getattr(column, "dtype", "")) in ("object", "int64"):
        return None
    try:
        import pyarrow as pa

        arrow = column.to_arrow() if library == "polars" else column if library == "pyarrow" else pa.array(column)
        arrow = plain_array(arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow)
    except (ImportError, TypeError, ValueError):  # pyarrow's errors are among these
        return None
    strings = pa.types.is_string(arrow.type) or pa.types.is_large_string(arrow.type)
    return Strings.of_arrow(arrow) if strings and len(arrow) and not arrow.null_count else None


def comparable(given: Sequence[Ids | Objects]) -> list[Ids]:
    """The same ids, such that equal ones have equal keys in all columns."""
    columns = [column.converted if isinstance(column, Objects) else column for column in given]
    plain = all(isinstance(column, Numbers) and column.names is None for column in columns)
    if plain or all(isinstance(column, Strings) for column in columns):
        return list(columns)
    return [*numbered(column.tolist() for column in columns)]


def numbered(columns: Iterable[Sequence[Any]]) -> list[Numbers]:
    """Ids of any types, numbered such that ids that are equal in Python have one number in all columns."""
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    values = [np.fromiter(map(numbers.__getitem__, column), np.int64, len(column)) for column in columns]
    names = list(numbers)
    return [Numbers(one, names) for one in values]


def slabs(n: int) -> Iterator[slice]:
    """Consecutive rows, few enough for temporaries to be small."""
    return (slice(start, start + SLAB) for start in range(0, n, SLAB))


def mix(keys: Keys) -> Keys:
    """Spread keys over 64 bits, one to one."""
    keys = keys * np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(32)
    keys *= np.uint64(0xD6E8FEB86659FD93)
    keys ^= keys >> np.uint64(29)
    return keys


def pair_keys(codes: IntArray, documents: Ids) -> Keys:
    """A hash for each pair of a query and a document; different pairs are unlikely to have the same one."""
    keys, found = np.empty(len(codes), dtype=np.uint64), documents.keys
    for rows in slabs(len(codes)):
        keys[rows] = mix(found[rows] ^ mix(codes[rows].astype(np.uint64)))
    return keys


def find(wanted: Keys, among: Keys) -> tuple[IntArray, IntArray]:
    """Positions in ``wanted`` of keys that occur in ``among``, and their positions there."""
    # Most keys occur in only one of the two, which a table of their last bits shows faster than a search.
    table = np.zeros(2 ** min(max(len(among).bit_length() + 4, 16), 24), dtype=bool)
    last = np.uint64(len(table) - 1)
    table[among & last] = True
    found_in = [np.flatnonzero(table[wanted[part] & last]) + part.start for part in slabs(len(wanted))]
    rows: IntArray = np.concatenate([*found_in, np.empty(0, dtype=np.intp)])
    order = np.argsort(among)
    among = among[order]
    places = np.minimum(np.searchsorted(among, wanted[rows]), len(order) - 1)
    found: Mask = among[places] == wanted[rows]
    return rows[found], order[places[found]]


@dataclass(frozen=True)
class Pairs:
    """Pairs of a query and a document."""

    codes: IntArray
    ids: Ids

    @cached_property
    def keys(self) -> Keys:
        """A hash of each pair."""
        return pair_keys(self.codes, self.ids)

    def tolist(self) -> list[tuple[int, Any]]:
        """The pairs as tuples."""
        return list(zip(self.codes.tolist(), self.ids.tolist(), strict=True))

    def take(self, rows: Any) -> Pairs:
        """Some of the pairs."""
        found = Pairs(self.codes[rows], self.ids.take(rows))
        vars(found)["keys"] = self.keys[rows]
        return found

    def repeated(self) -> int | None:
        """The row of a pair that an earlier row has; None if there is none."""
        keys = np.sort(self.keys)
        if not (keys[1:] == keys[:-1]).any():
            return None
        seen: set[Any] = set()
        for row, pair in enumerate(self.tolist()):
            if pair in seen:
                return row
            seen.add(pair)
        return None  # different pairs with one key

    def match(self, other: Pairs) -> tuple[IntArray, IntArray]:
        """Rows with pairs that the other has, and their rows there."""
        rows, places = find(self.keys, other.keys)
        same = (self.codes[rows] == other.codes[places]) & self.ids.take(rows).equals(other.ids.take(places))
        if same.all():
            return rows, places
        table = {pair: place for place, pair in enumerate(other.tolist())}  # different pairs have one key
        found = np.array([table.get(pair, -1) for pair in self.tolist()], dtype=np.intp)
        rows = np.flatnonzero(found >= 0)
        return rows, found[rows]

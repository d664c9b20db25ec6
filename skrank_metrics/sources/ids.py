"""Ids of documents as 64-bit keys: strings as bytes in one buffer, integers, and numbers that stand for other ids."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray, Mask

Keys: TypeAlias = NDArray[np.uint64]

WORD = 8
END = b"\0" * WORD  # words of 8 bytes are read at any byte
# Item n keeps the first n of 8 bytes.
_FIRST = np.where(np.arange(8) < np.arange(9)[:, None], 255, 0).astype(np.uint8).view(np.uint64).ravel()


@dataclass(frozen=True)
class Strings:
    """Strings in UTF-8. Long ones take no more memory than they need."""

    data: NDArray[np.uint8]  # with 8 bytes after the last string
    starts: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, strings: Sequence[str]) -> Strings:
        """The strings of a list."""
        text = "".join(strings)
        if text.isascii():
            data, sizes = text.encode(), np.fromiter(map(len, strings), np.intp, len(strings))
        else:
            parts = [one.encode("utf-8", "surrogatepass") for one in strings]
            data, sizes = b"".join(parts), np.fromiter(map(len, parts), np.intp, len(parts))
        return cls(np.frombuffer(data + END, dtype=np.uint8), np.cumsum(sizes) - sizes, sizes)

    @classmethod
    def of_arrow(cls, array: Any) -> Strings:
        """The strings of a pyarrow array of strings without nulls."""
        _, offsets, data = array.buffers()
        width = np.int64 if str(array.type) == "large_string" else np.int32
        ends = np.frombuffer(offsets, dtype=width)[array.offset : array.offset + len(array) + 1].astype(np.intp)
        part = b"" if data is None else memoryview(data)[int(ends[0]) : int(ends[-1])]
        return cls(np.frombuffer(b"".join((part, END)), dtype=np.uint8), ends[:-1] - ends[0], np.diff(ends))

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: Any) -> Strings:
        """Some of the strings."""
        return replace(self, starts=self.starts[rows], sizes=self.sizes[rows])

    def tolist(self) -> list[str]:
        """The strings as Python's."""
        data, ends = self.data.tobytes(), (self.starts + self.sizes).tolist()
        return [
            data[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip(self.starts.tolist(), ends, strict=True)
        ]

    def _words(self, number: int, rows: Any) -> Keys:
        """The given word of 8 bytes of some strings, padded with 0."""
        every = np.ndarray(len(self.data) - WORD + 1, dtype=np.uint64, buffer=self.data.data, strides=(1,))
        places = self.starts[rows] + WORD * number
        return every[places] & _FIRST[np.clip(self.sizes[rows] - WORD * number, 0, WORD)]

    @cached_property
    def keys(self) -> Keys:
        """A hash of each string; different strings are unlikely to have the same one."""
        mixed, rows, number = self.sizes.astype(np.uint64), np.arange(len(self)), 0
        while len(rows):  # most strings are done after a few words
            mixed[rows] = mix(mixed[rows] ^ self._words(number, rows))
            number += 1
            rows = rows[self.sizes[rows] > WORD * number]
        return mixed

    def equals(self, other: Any) -> Mask:
        """Whether the strings are those of the other, one by one."""
        same = self.sizes == other.sizes
        rows, number = np.flatnonzero(same), 0
        while len(rows):
            same[rows] = self._words(number, rows) == other._words(number, rows)
            number += 1
            rows = rows[same[rows] & (self.sizes[rows] > WORD * number)]
        return same

    def order_within(self, groups: IntArray) -> IntArray:
        """Order by group, and within a group by bytes, descending. Strings must differ within a group."""
        order = np.argsort(groups, kind="stable")
        first = np.concatenate(([True], np.diff(groups[order]) > 0))
        ranks = np.empty_like(order)
        ranks[order] = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        rows, number = np.arange(len(order)), 0
        while len(rows):
            # As big-endian numbers, words compare like bytes. Inverting them puts the last one first.
            words, of_group = ~self._words(number, rows).view(">u8").astype(np.uint64), ranks[rows]
            within = np.lexsort((words, of_group))
            rows, words, of_group = rows[within], words[within], of_group[within]
            new_group = np.concatenate(([True], of_group[1:] != of_group[:-1]))
            new = new_group | np.concatenate(([True], words[1:] != words[:-1]))
            places = np.arange(len(rows))
            starts = (np.maximum.accumulate(np.where(one, places, 0)) for one in (new, new_group))
            ranks[rows] += next(starts) - next(starts)
            tied = ~new | ~np.concatenate((new[1:], [True]))
            rows, number = rows[tied], number + 1
        return np.argsort(ranks)


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


def comparable(columns: Sequence[Ids]) -> list[Ids]:
    """The same ids, such that equal ones have equal keys in all columns."""
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


def mix(keys: Keys) -> Keys:
    """Spread keys over 64 bits, one to one."""
    keys = keys * np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(32)
    keys *= np.uint64(0xD6E8FEB86659FD93)
    return keys ^ (keys >> np.uint64(29))


def pair_keys(codes: IntArray, documents: Ids) -> Keys:
    """A hash for each pair of a query and a document; different pairs are unlikely to have the same one."""
    return mix(documents.keys ^ mix(codes.astype(np.uint64)))


def find(wanted: Keys, among: Keys) -> tuple[IntArray, IntArray]:
    """Positions in ``wanted`` of keys that occur in ``among``, and their positions there."""
    # Most keys occur in only one of the two, which a table of their last bits shows faster than a search.
    table = np.zeros(2**20, dtype=bool)
    last = np.uint64(len(table) - 1)
    table[among & last] = True
    rows: IntArray = np.flatnonzero(table[wanted & last])
    order = np.argsort(among)
    among = among[order]
    places = np.minimum(np.searchsorted(among, wanted[rows]), len(order) - 1)
    found: Mask = among[places] == wanted[rows]
    return rows[found], order[places[found]]


def match_pairs(one: tuple[IntArray, Ids], other: tuple[IntArray, Ids]) -> tuple[IntArray, IntArray]:
    """Rows of two columns of queries and documents that have the same pair, which occurs once in each."""
    (codes, ids), (other_codes, other_ids) = one, other
    rows, places = find(pair_keys(*one), pair_keys(*other))
    same = (codes[rows] == other_codes[places]) & ids.take(rows).equals(other_ids.take(places))
    if same.all():
        return rows, places
    # Different pairs with one key.
    pairs = numbered(list(zip(codes.tolist(), ids.tolist(), strict=True)) for codes, ids in (one, other))
    table = {value: place for place, value in enumerate(pairs[1].values.tolist())}
    found = np.array([table.get(value, -1) for value in pairs[0].values.tolist()], dtype=np.intp)
    rows = np.flatnonzero(found >= 0)
    return rows, found[rows]

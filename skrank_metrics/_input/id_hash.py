"""A 64-bit hash per id, the same in every process and for every dtype and library, and strings in one buffer.

Integers are mixed by a bijection, so different integers have different hashes. Other ids collide by chance, with
probability n^2 / 2^65: about once in 3,700 runs with 10^8 different ids.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import Mask

Hashes: TypeAlias = NDArray[np.uint64]

# Ids of different kinds differ, whatever their bits.
_SEEDS = {
    name: np.uint64(0x9E3779B97F4A7C15 * (place + 1) % 2**64)
    for place, name in enumerate(("float", "large", "str", "bytes", "time", "duration"))
}
_INT64 = 2.0**63

WORD = 8
SLAB = 2**15  # rows whose temporaries stay in the cache
END = b"\0" * WORD  # words of 8 bytes are read at any byte
# Item n keeps the first n of 8 bytes.
_FIRST = (
    np.where(np.arange(8) < np.arange(9)[:, None], 255, 0).astype(np.uint8).view(np.uint64).ravel()
)


def hash_ids(ids: NDArray[Any], name: str = "qid") -> Hashes:
    """Hashes that are equal if the ids are equal in Python; ids must be valid, without missing ones."""
    kind = ids.dtype.kind
    if kind in "bi":
        return mix(ids.astype(np.int64).view(np.uint64))
    if kind == "u":
        wide = ids.astype(np.uint64)
        return mix(np.where(wide < 2**63, wide, wide ^ _SEEDS["large"]))
    if kind == "f":
        return _of_floats(ids.astype(np.float64))
    if kind in "mM":
        return _of_times(ids)
    return _of_objects(ids.tolist(), name)


def hash_arrow(ids: Any, name: str = "qid") -> Hashes:
    """Hashes of a pyarrow array, without one Python object per id."""
    import pyarrow as pa

    if pa.types.is_dictionary(ids.type):
        return hash_arrow(ids.dictionary, name)[ids.indices.to_numpy()]
    if pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type):
        return Strings.of_arrow(ids).hashes()
    return hash_ids(ids.to_numpy(zero_copy_only=False), name)


def _of_floats(values: NDArray[np.float64]) -> Hashes:
    whole = (values == np.rint(values)) & (values >= -_INT64) & (values < _INT64)
    large = (values == np.rint(values)) & (values >= _INT64) & (values < 2 * _INT64)
    bits = np.where(
        whole,
        np.where(whole, values, 0).astype(np.int64).view(np.uint64),
        values.view(np.uint64) ^ _SEEDS["float"],
    )
    return mix(
        np.where(large, np.where(large, values, 0).astype(np.uint64) ^ _SEEDS["large"], bits)
    )


def _of_times(values: NDArray[Any]) -> Hashes:
    """Hash times as whole microseconds, or as nanoseconds for the few that have them."""
    seed = _SEEDS["time" if values.dtype.kind == "M" else "duration"]
    in_microseconds = values.astype(f"{values.dtype.kind}8[us]")
    finer = in_microseconds != values
    ticks = np.where(finer, ~values.view(np.int64), in_microseconds.view(np.int64))
    return mix(mix(ticks.view(np.uint64)) ^ seed)


def _of_objects(ids: list[Any], name: str) -> Hashes:
    if all(type(one) is str for one in ids):
        return Strings.of(ids).hashes()
    return np.fromiter((_of_object(one, name) for one in ids), dtype=np.uint64, count=len(ids))


def _of_object(one: Any, name: str) -> int:
    if isinstance(one, tuple):
        parts = np.array([_of_object(part, name) for part in one], dtype=np.uint64)
        return int.from_bytes(
            hashlib.blake2b(parts.tobytes(), digest_size=8, key=b"other").digest(), "little"
        )
    if isinstance(one, str):
        return int(Strings.of([one]).hashes()[0])
    if isinstance(one, bytes):
        whole = Strings(
            np.frombuffer(one + END, dtype=np.uint8), np.array([0]), np.array([len(one)])
        )
        return int(whole.hashes("bytes")[0])
    if hasattr(one, "to_numpy"):  # times of pandas, with nanoseconds
        one = one.to_numpy()
    if isinstance(one, datetime.datetime) and one.tzinfo is not None:
        one = one.astimezone(datetime.UTC).replace(tzinfo=None)
    times = {datetime.date: "M8[us]", datetime.timedelta: "m8[us]"}
    array = np.array(
        [one], dtype=next((unit for kind, unit in times.items() if isinstance(one, kind)), None)
    )
    if array.dtype.kind in "biufmM" and array.dtype.itemsize <= 8 and array.ndim == 1:
        return int(hash_ids(array)[0])
    raise TypeError(
        f"{name} must hold strings, integers of 64 bits, floats, dates or tuples of these, to be recognized in other "
        f"batches and processes; got {type(one).__name__}. Pass str(id)."
    )


@dataclass(frozen=True)
class Strings:
    """Strings in UTF-8, used like an array. Long ones take no more memory than they need."""

    data: NDArray[np.uint8]  # with 8 bytes after the last string
    starts: NDArray[np.integer[Any]]
    sizes: NDArray[np.integer[Any]]

    @classmethod
    def of(cls, strings: Sequence[str]) -> Strings:
        """The strings of a list."""
        data = "\0".join(strings).encode("utf-8", "surrogatepass")
        codes = np.frombuffer(data + END, dtype=np.uint8)
        ends = np.flatnonzero(codes[: len(data) + 1] == 0)  # much faster than a length for each
        if len(ends) != len(strings):  # some hold NUL, or there are none
            parts = [one.encode("utf-8", "surrogatepass") for one in strings]
            ends = np.cumsum([len(part) + 1 for part in parts], dtype=np.intp) - 1
        starts = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
        return cls(codes, starts, ends - starts)

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

    def __getitem__(self, rows: Any) -> Strings:
        return replace(self, starts=self.starts[rows], sizes=self.sizes[rows])

    def tolist(self) -> list[str]:
        """The strings as Python's."""
        data, ends = self.data.tobytes(), (self.starts.astype(np.intp) + self.sizes).tolist()
        return [
            data[a:b].decode("utf-8", "surrogatepass")
            for a, b in zip(self.starts.tolist(), ends, strict=True)
        ]

    def words(self, number: int, rows: Any) -> Hashes:
        """The given word of 8 bytes of some strings, padded with 0."""
        every = np.ndarray(
            len(self.data) - WORD + 1, dtype=np.uint64, buffer=self.data.data, strides=(1,)
        )
        rest = self.sizes[rows] - WORD * number
        # Strings that ended before have no bytes left; their places may be beyond the data.
        places = np.minimum(self.starts[rows].astype(np.intp) + WORD * number, len(every) - 1)
        return every[places] & _FIRST[np.minimum(np.maximum(rest, 0), WORD)]

    def hashes(self, kind: str = "str") -> Hashes:
        """A hash of each string; different strings are unlikely to have the same one."""
        found = [self[rows]._hashed(_SEEDS[kind]) for rows in slabs(len(self))]
        return np.concatenate([*found, np.empty(0, np.uint64)])

    def _hashed(self, seed: np.uint64) -> Hashes:
        mixed, number = mix(self.sizes.astype(np.uint64) ^ seed), 0
        rows: Any = np.flatnonzero(self.sizes)
        rows = slice(None) if len(rows) == len(mixed) else rows
        while len(mixed[rows]):  # most strings are done after a few words
            unused = 8 * np.maximum(WORD * (number + 1) - self.sizes[rows], 0).astype(np.uint64)
            word = self.words(number, rows) << unused
            mixed[rows] = mix(mixed[rows] ^ word) * np.uint64(0x9E3779B97F4A7C15)
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


def slabs(n: int) -> Iterator[slice]:
    """Consecutive rows, few enough for temporaries to be small."""
    return (slice(start, start + SLAB) for start in range(0, n, SLAB))


def mix(bits: Hashes) -> Hashes:
    """SplitMix64's finalizer, a bijection (Steele, Lea & Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))

"""A 64-bit hash per id, the same in every process and for every dtype and library.

Integers are mixed by a bijection, so different integers have different hashes. Other ids collide by chance, with
probability n^2 / 2^65: about once in 3,700 runs with 10^8 different ids.
"""

from __future__ import annotations

import datetime
import hashlib
import uuid
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import ordinal_codes
from skrank_metrics._input.id_types import holds_strings, is_zoned

Hashes: TypeAlias = NDArray[np.uint64]

# Fractions, which are labels, and integers from 2**63 on are no integers of the same bits.
_FRACTION, _LARGE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x3C6EF372FE94F82A)
_INT64 = 2**63
_EPOCH = datetime.datetime(1970, 1, 1)


def hash_ids(ids: NDArray[Any]) -> Hashes:
    """Hashes that are equal if the ids are equal in Python; ids must be valid, without missing ones."""
    kind = ids.dtype.kind
    # True equals 1 in Python, so their hashes are equal as well.
    if kind in "bi":
        return mix(ids.astype(np.int64).view(np.uint64))
    if kind == "u":
        wide = ids.astype(np.uint64)
        return mix(np.where(wide < _INT64, wide, wide ^ _LARGE))
    if kind == "f":
        values = ids.astype(np.float64)
        # 2.0 equals 2 in Python, so a whole float is hashed as the integer.
        is_whole = (values == np.rint(values)) & (np.abs(values) < _INT64)
        bits = values.view(np.uint64) ^ _FRACTION
        bits[is_whole] = values[is_whole].astype(np.int64).view(np.uint64)
        hashes = mix(bits)
        is_large = (np.abs(values) >= _INT64) & (np.abs(values) < np.inf)
        hashes[is_large] = _of_objects(values[is_large].tolist())
        return hashes
    if kind in "mM":
        different, places = np.unique(ids), ordinal_codes(ids)
        return _of_objects(list(different))[places]
    return _of_objects(ids.tolist())


def hash_arrow(ids: Any) -> Hashes:
    """Hashes of a pyarrow array, without one Python object per id."""
    if holds_strings(ids) or is_zoned(ids):
        ids = ids.dictionary_encode()
    if not hasattr(ids, "dictionary"):
        return hash_ids(ids.to_numpy(zero_copy_only=False))
    different = np.fromiter(ids.dictionary.to_pylist(), object, len(ids.dictionary))
    return hash_ids(different)[ids.indices.to_numpy()]


def _of_objects(ids: list[Any]) -> Hashes:
    return np.fromiter(map(_of_object, ids), dtype=np.uint64, count=len(ids))


def _of_object(one: Any) -> int:
    """The hash of an id of Python."""
    # Ids may hold lone surrogates, which plain UTF-8 refuses.
    if isinstance(one, str):
        return _digest(b"text", one.encode("utf-8", "surrogatepass"))
    if isinstance(one, tuple):
        parts = [_of_object(part).to_bytes(8, "little") for part in one]
        return _digest(b"tuple", b"".join(parts))
    if isinstance(one, bytes):
        return _digest(b"bytes", one)
    if isinstance(one, uuid.UUID):
        return _digest(b"uuid", one.bytes)
    if isinstance(one, datetime.date | datetime.timedelta | np.datetime64 | np.timedelta64):
        return _of_time(one)
    if hasattr(one, "freqstr"):  # a period of pandas
        return _digest(b"period", f"{one.freqstr} {one.ordinal}".encode())
    return _of_integer(int(one))


def _of_integer(one: int) -> int:
    if -_INT64 <= one < _INT64:
        return int(hash_ids(np.array([one]))[0])
    if 0 < one < 2 * _INT64:
        return int(hash_ids(np.array([one], dtype=np.uint64))[0])
    return _digest(b"integer", one.to_bytes(one.bit_length() // 8 + 1, "little", signed=True))


def _of_time(one: Any) -> int:
    """Times as nanoseconds since 1970, which those of pandas and NumPy have; those with a zone are instants."""
    nanoseconds = getattr(one, "nanosecond", getattr(one, "nanoseconds", 0))
    if isinstance(one, np.datetime64 | np.timedelta64):
        kind = one.dtype.kind
        is_fine = np.datetime_data(one.dtype)[0] in ("ns", "ps", "fs", "as")
        # Python has no finer times than microseconds.
        if is_fine:
            nanoseconds = int(one.astype(f"{kind}8[ns]").astype(np.int64))
            one = one.dtype.type(0, "us")
        one = one.astype(f"{kind}8[us]").item()
    if isinstance(one, datetime.timedelta):
        return _of_ticks(b"time span", one, nanoseconds)
    if not isinstance(one, datetime.datetime):
        one = datetime.datetime(one.year, one.month, one.day)
    # Those of pandas overflow.
    one = one.to_pydatetime(warn=False) if hasattr(one, "to_pydatetime") else one
    if one.tzinfo is None:
        return _of_ticks(b"time", one - _EPOCH, nanoseconds)
    one = one.astimezone(datetime.UTC).replace(tzinfo=None)
    return _of_ticks(b"instant", one - _EPOCH, nanoseconds)


def _of_ticks(kind: bytes, since: datetime.timedelta, nanoseconds: int) -> int:
    seconds = 86_400 * since.days + since.seconds
    ticks = (1_000_000 * seconds + since.microseconds) * 1_000 + nanoseconds
    return _digest(kind, str(ticks).encode())


def _digest(kind: bytes, content: bytes) -> int:
    """A hash by kind and content; ids of different kinds differ, whatever their bytes."""
    return int.from_bytes(hashlib.blake2b(content, digest_size=8, key=kind).digest(), "little")


def mix(bits: Hashes) -> Hashes:
    """SplitMix64's finalizer, a bijection (Steele, Lea & Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))

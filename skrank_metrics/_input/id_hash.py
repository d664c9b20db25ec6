"""A 64-bit hash per id: the same in every process, and for every dtype and library that can hold the id.

Integers are mixed by a bijection, so different integers have different hashes. Other ids collide by chance, with
probability n^2 / 2^65: about once in 3,700 runs with 10^8 different ids.
"""

from __future__ import annotations

import datetime
import hashlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Hashes: TypeAlias = NDArray[np.uint64]

# Ids of different kinds differ, whatever their bits.
_SEEDS = {
    name: np.uint64(0x9E3779B97F4A7C15 * (place + 1) % 2**64)
    for place, name in enumerate(("float", "large", "str", "bytes", "time", "duration"))
}
_INT64 = 2.0**63


def hash_ids(ids: NDArray[Any], name: str = "qid") -> Hashes:
    """Hashes that are equal if the ids are equal in Python; ids must be valid, without missing ones."""
    kind = ids.dtype.kind
    if kind in "bi":
        return _mix(ids.astype(np.int64).view(np.uint64))
    if kind == "u":
        wide = ids.astype(np.uint64)
        return _mix(np.where(wide < 2**63, wide, wide ^ _SEEDS["large"]))
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
        _, offsets, data = ids.buffers()
        width = np.int32 if pa.types.is_string(ids.type) else np.int64
        ends = np.frombuffer(offsets, dtype=width)[ids.offset : ids.offset + len(ids) + 1].astype(np.int64)
        return _of_bytes(np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8), ends, _SEEDS["str"])
    return hash_ids(ids.to_numpy(zero_copy_only=False), name)


def _mix(bits: Hashes) -> Hashes:
    """SplitMix64's finalizer, a bijection (Steele, Lea & Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _of_floats(values: NDArray[np.float64]) -> Hashes:
    whole = (values == np.rint(values)) & (values >= -_INT64) & (values < _INT64)
    large = (values == np.rint(values)) & (values >= _INT64) & (values < 2 * _INT64)
    bits = np.where(
        whole, np.where(whole, values, 0).astype(np.int64).view(np.uint64), values.view(np.uint64) ^ _SEEDS["float"]
    )
    return _mix(np.where(large, np.where(large, values, 0).astype(np.uint64) ^ _SEEDS["large"], bits))


def _of_times(values: NDArray[Any]) -> Hashes:
    """Hash times as whole microseconds, or as nanoseconds for the few that have them."""
    seed = _SEEDS["time" if values.dtype.kind == "M" else "duration"]
    in_microseconds = values.astype(f"{values.dtype.kind}8[us]")
    finer = in_microseconds != values
    ticks = np.where(finer, ~values.view(np.int64), in_microseconds.view(np.int64))
    return _mix(_mix(ticks.view(np.uint64)) ^ seed)


def _of_bytes(data: NDArray[np.uint8], ends: NDArray[np.int64], seed: np.uint64) -> Hashes:
    """Mix the words of 8 bytes of each string, one after the other, into its length."""
    starts, sizes = ends[:-1], np.diff(ends)
    padded = np.zeros(int(ends[-1] - ends[0]) + 16, dtype=np.uint8)
    padded[: len(padded) - 16] = data[ends[0] : ends[-1]]
    # Words at any byte; bytes beyond the end of a string are shifted out.
    words = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    hashes = _mix(sizes.astype(np.uint64) ^ seed)
    rest, places, rows = sizes, starts - ends[0], np.arange(len(sizes))
    while len(rows := rows[(longer := rest > 0)]):
        rest, places = rest[longer], places[longer]
        unused = np.uint64(8) * np.maximum(8 - rest, 0).astype(np.uint64)
        word = words[places].astype(np.uint64, copy=False) << unused  # little-endian: the bytes that follow are on top
        hashes[rows] = _mix(hashes[rows] ^ word) * np.uint64(0x9E3779B97F4A7C15)
        rest, places = rest - 8, places + 8
    return hashes


def _of_objects(ids: list[Any], name: str) -> Hashes:
    if all(type(one) is str for one in ids):
        return _of_texts([one.encode("utf-8", "surrogatepass") for one in ids], _SEEDS["str"])
    return np.fromiter((_of_object(one, name) for one in ids), dtype=np.uint64, count=len(ids))


def _of_texts(texts: list[bytes], seed: np.uint64) -> Hashes:
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    return _of_bytes(np.frombuffer(b"".join(texts), dtype=np.uint8), ends, seed)


def _of_object(one: Any, name: str) -> int:
    if isinstance(one, tuple):
        parts = np.array([_of_object(part, name) for part in one], dtype=np.uint64)
        return int.from_bytes(hashlib.blake2b(parts.tobytes(), digest_size=8, key=b"other").digest(), "little")
    if isinstance(one, str):
        return int(_of_texts([one.encode("utf-8", "surrogatepass")], _SEEDS["str"])[0])
    if isinstance(one, bytes):
        return int(_of_texts([one], _SEEDS["bytes"])[0])
    if hasattr(one, "to_numpy"):  # times of pandas, with nanoseconds
        one = one.to_numpy()
    if isinstance(one, datetime.datetime) and one.tzinfo is not None:
        one = one.astimezone(datetime.UTC).replace(tzinfo=None)
    times = {datetime.date: "M8[us]", datetime.timedelta: "m8[us]"}
    array = np.array([one], dtype=next((unit for kind, unit in times.items() if isinstance(one, kind)), None))
    if array.dtype.kind in "biufmM" and array.dtype.itemsize <= 8 and array.ndim == 1:
        return int(hash_ids(array)[0])
    raise TypeError(
        f"{name} must hold strings, integers of 64 bits, floats, dates or tuples of these, to be recognized in other "
        f"batches and processes; got {type(one).__name__}. Pass str(id)."
    )

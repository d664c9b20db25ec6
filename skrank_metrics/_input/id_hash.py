"""A 64-bit hash per id, the same in every process and for every dtype and library.

Integers are mixed by a bijection, so different integers have different hashes. Other ids collide by chance, with
probability n^2 / 2^65: about once in 3,700 runs with 10^8 different ids.
"""

from __future__ import annotations

import datetime
import hashlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import lengths
from skrank_metrics._input.grouping import starts_of
from skrank_metrics._input.id_types import holds_strings

Hashes: TypeAlias = NDArray[np.uint64]

# Ids of different kinds differ, whatever their bits.
_SEEDS = {
    name: np.uint64(0x9E3779B97F4A7C15 * (place + 1) % 2**64)
    for place, name in enumerate(("float", "large", "str", "bytes", "time", "duration"))
}
_INT64 = 2.0**63

WORD = 8  # bytes


def hash_ids(ids: NDArray[Any], name: str = "qid") -> Hashes:
    """Hashes that are equal if the ids are equal in Python; ids must be valid, without missing ones."""
    kind = ids.dtype.kind
    # True equals 1 in Python, so their hashes are equal as well.
    if kind in "bi":
        return mix(ids.astype(np.int64).view(np.uint64))
    if kind == "u":
        wide = ids.astype(np.uint64)
        # From 2**63 on, the bits are those of negative integers, which are other ids.
        return mix(np.where(wide < 2**63, wide, wide ^ _SEEDS["large"]))
    if kind == "f":
        return _of_floats(ids.astype(np.float64))
    if kind in "mM":
        return _of_times(ids)
    return _of_objects(ids.tolist(), name)


def hash_arrow(ids: Any) -> Hashes:
    """Hashes of a pyarrow array, without one Python object per id."""
    import pyarrow as pa

    if holds_strings(ids):
        ids = ids.dictionary_encode()
    if pa.types.is_dictionary(ids.type):
        different = ids.dictionary.to_numpy(zero_copy_only=False)
        return hash_ids(different)[ids.indices.to_numpy()]
    return hash_ids(ids.to_numpy(zero_copy_only=False))


def _of_floats(values: NDArray[np.float64]) -> Hashes:
    bits = values.view(np.uint64) ^ _SEEDS["float"]
    is_whole = values == np.rint(values)
    # 2.0 equals 2 in Python, so a whole float is hashed as the integer.
    small = is_whole & (values >= -_INT64) & (values < _INT64)
    bits[small] = values[small].astype(np.int64).view(np.uint64)
    large = is_whole & (values >= _INT64) & (values < 2 * _INT64)
    bits[large] = values[large].astype(np.uint64) ^ _SEEDS["large"]
    return mix(bits)


def _of_times(values: NDArray[Any]) -> Hashes:
    """Hash times as whole microseconds, or as nanoseconds for the few that have them."""
    seed = _SEEDS["time" if values.dtype.kind == "M" else "duration"]
    in_microseconds = values.astype(f"{values.dtype.kind}8[us]")
    finer = in_microseconds != values
    ticks = np.where(finer, ~values.view(np.int64), in_microseconds.view(np.int64))
    return mix(mix(ticks.view(np.uint64)) ^ seed)


def _of_objects(ids: list[Any], name: str) -> Hashes:
    if all(type(one) is str for one in ids):
        return _of_texts(_encoded(ids))
    return np.fromiter((_of_object(one, name) for one in ids), dtype=np.uint64, count=len(ids))


def _of_object(one: Any, name: str) -> int:
    if isinstance(one, tuple):
        parts = np.array([_of_object(part, name) for part in one], dtype=np.uint64)
        return int.from_bytes(
            hashlib.blake2b(parts.tobytes(), digest_size=8, key=b"other").digest(), "little"
        )
    if isinstance(one, str):
        return int(_of_texts(_encoded([one]))[0])
    if isinstance(one, bytes):
        return int(_of_texts([one], "bytes")[0])
    # Times of pandas have nanoseconds.
    if hasattr(one, "to_numpy"):
        one = one.to_numpy()
    # Times with a zone are equal in Python if they are the same instant, whatever the zone.
    if isinstance(one, datetime.datetime) and one.tzinfo is not None:
        one = one.astimezone(datetime.UTC).replace(tzinfo=None)
    unit = None
    if isinstance(one, datetime.date):
        unit = "M8[us]"
    elif isinstance(one, datetime.timedelta):
        unit = "m8[us]"
    array = np.array([one], dtype=unit)
    if array.dtype.kind in "biufmM" and array.dtype.itemsize <= 8 and array.ndim == 1:
        return int(hash_ids(array)[0])
    raise TypeError(
        f"{name} must hold strings, integers of 64 bits, floats, dates or tuples of these, to be recognized in other "
        f"batches and processes; got {type(one).__name__}. Pass str(id)."
    )


def _of_texts(texts: list[bytes], kind: str = "str") -> Hashes:
    """A hash of each text; different ones are unlikely to have the same."""
    sizes = lengths(texts).astype(np.uint64)
    words = np.frombuffer(b"".join(text + bytes(-len(text) % WORD) for text in texts), np.uint64)
    n_words = (sizes + np.uint64(WORD - 1)) // np.uint64(WORD)
    starts = starts_of(n_words)
    hashes = mix(sizes ^ _SEEDS[kind])
    longer = np.arange(len(texts))
    for number in range(int(n_words.max(initial=0))):
        longer = longer[n_words[longer] > number]
        # Bits that a text does not fill are dropped, so that its end does not look like NUL.
        end = np.uint64(WORD * (number + 1))
        unfilled = end - np.minimum(sizes[longer], end)
        word = words[starts[longer] + np.uint64(number)] << np.uint64(8) * unfilled
        hashes[longer] = mix(hashes[longer] ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return hashes


def _encoded(strings: list[str]) -> list[bytes]:
    # Ids may hold lone surrogates, which plain UTF-8 refuses.
    return [one.encode("utf-8", "surrogatepass") for one in strings]


def mix(bits: Hashes) -> Hashes:
    """SplitMix64's finalizer, a bijection (Steele, Lea & Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))

"""Random signs of queries, or of groups of them, and sums of values with these signs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.query_ids import as_python

# Number of sign vectors, the observed one included (Phipson & Smyth 2010), so no p-value is below 1 / 10,000.
N_SIGNS = 10_000
# All sign vectors are used for at most this many units that differ: 2^13 < 10,000.
MOST_ENUMERATED = 13
# More units than this are merged at random. Flipping them together has the same level, and nearly the same power: the
# largest difference counts more, but this is less than 1% of the norm.
MOST_UNITS = 4_096
# Signs of this many units fit into the caches.
UNITS_AT_A_TIME = 128


def hash_units(ids: NDArray[Any]) -> Hashes:
    """A number per query or group that does not depend on its place, if the ids can be recognized anywhere."""
    try:
        return hash_ids(ids)
    except (TypeError, ValueError):
        known = given = as_python(ids)
        with suppress(TypeError):  # of different types
            known = sorted(given)
        numbers = {one: number for number, one in enumerate(known)}
        return hash_ids(np.array([numbers[one] for one in given]))


def merged_units(units: Hashes) -> Hashes:
    """The units, or fewer if there are too many."""
    if len(units) <= MOST_UNITS:
        return units
    return hash_ids(units) % np.uint64(MOST_UNITS)


def random_bits(hashes: Hashes, n_bits: int, seed: int) -> NDArray[np.uint8]:
    """Bits of each unit, by its hash and the seed only: a stream of SplitMix64 (Steele, Lea & Flood 2014)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    salt = hash_ids(np.array([seed], dtype=np.uint64) + golden)
    start = hash_ids(hash_ids(hashes ^ salt))
    n_words = -(-n_bits // 64)
    words = hash_ids(start[:, None] + golden * np.arange(n_words, dtype=np.uint64))
    as_bytes = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=n_bits)


def all_signs(n_units: int) -> FloatArray:
    """All vectors of signs, of which e and -e give the same |sum|, so one of them is enough; the first is all +."""
    numbers = np.arange(2 ** max(0, n_units - 1))
    bits = numbers[:, None] >> np.arange(n_units) & 1
    return np.asarray(1.0 - 2.0 * bits)


def sums_with_signs(sums: FloatArray, hashes: Hashes, seed: int, *, enumerates: bool) -> FloatArray:
    """Sums of columns with random signs of the rows, of shape (n_columns, n_signs).

    The first signs are all +. If few rows differ, all signs are used, unless several sets of rows are to share them.
    """
    if enumerates and len(sums) <= MOST_ENUMERATED:
        return np.asarray(sums.T @ all_signs(len(sums)).T)
    # sum of e x = sum of x - 2 (sum of those x that have a minus)
    total = np.repeat(sums.sum(axis=0)[:, None], N_SIGNS, axis=1)
    is_minus = np.empty((UNITS_AT_A_TIME, N_SIGNS))
    for start in range(0, len(sums), UNITS_AT_A_TIME):
        block = slice(start, start + UNITS_AT_A_TIME)
        bits = is_minus[: len(hashes[block])]
        bits[...] = random_bits(hashes[block], N_SIGNS, seed)
        bits[:, 0] = 0.0
        total -= (2 * sums[block].T) @ bits
    return total

"""Count pairs of documents without visiting each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.ties import TieGroups, ties_with_previous
from skrank_metrics._input.arrays import FloatArray, IntArray


def count_inversions(codes: IntArray) -> FloatArray:
    """Number of pairs in each row whose first code is smaller than the second.

    Documents that are sorted by code are put back in their order by one merge per bit, in which a code passes all
    larger ones that come before it. A table of all pairs would take the square of the length.
    """
    n_rows = len(codes)
    n_bits = int(codes.max()).bit_length()
    # Each row from its end, so that larger codes come before.
    codes = (np.arange(n_rows)[:, None] << n_bits | codes[:, ::-1]).ravel()
    place = np.argsort(codes, kind="stable")
    codes = codes[place]
    counts = np.zeros(n_rows)
    for bit in range(1, n_bits + 1):
        # Codes that agree in all bits from this one on, in two halves. This kind of sort merges what is in order.
        order = np.argsort((codes >> bit) * len(codes) + place, kind="stable")
        n_passed = np.maximum(np.arange(len(codes)) - order, 0)
        codes, place = codes[order], place[order]
        counts += np.bincount(codes >> n_bits, weights=n_passed)
    return counts


def average_ranks(values: FloatArray, padding: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Rank of each value in its row, largest first, and the number of pairs of equal values.

    Equal values share their mean rank. Padding has rank 0 and is in no pair.
    """
    keys = np.where(padding, np.inf, -values)
    order = np.argsort(keys, axis=1)
    keys = np.take_along_axis(keys, order, axis=1)
    groups = TieGroups.from_tied(ties_with_previous(keys))
    first = groups.starts % keys.shape[1] + 1
    mean = groups.spread(first + (groups.sizes - 1) / 2)
    ranks = np.empty_like(mean)
    np.put_along_axis(ranks, order, mean, axis=1)
    pairs = groups.spread((groups.sizes - 1) / 2).sum(axis=1)
    return np.where(padding, 0.0, ranks), pairs

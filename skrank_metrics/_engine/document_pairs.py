"""Count pairs of documents without visiting each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.ties import TieGroups, ties_with_previous
from skrank_metrics._input.arrays import FloatArray, IntArray


def count_inversions(codes: IntArray) -> FloatArray:
    """Number of pairs in each row whose first code is smaller than the second.

    There is one pass per bit: a bit decides the pairs that agree in all higher bits. A table of all pairs would take
    the square of the length.
    """
    n_rows, width = codes.shape
    row, codes = np.repeat(np.arange(n_rows), width), codes.ravel()
    counts = np.zeros(n_rows)
    n_bits = int(codes.max()).bit_length()
    for bit in range(n_bits):
        # A piece holds the codes of a row that agree in all higher bits, in their order.
        piece = (row << n_bits) + (codes >> bit + 1)
        order = np.argsort(piece, kind="stable")
        starts = np.flatnonzero(np.diff(piece[order], prepend=-1))
        has_bit = codes[order] >> bit & 1
        # Counted in all pieces so far, from which those before the piece are taken off.
        zeros_before = np.cumsum(1 - has_bit)
        before_piece = zeros_before[starts] - (1 - has_bit[starts])
        zeros_before -= np.repeat(before_piece, np.diff(starts, append=len(codes)))
        counts += np.bincount(row[order], weights=has_bit * zeros_before, minlength=n_rows)
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

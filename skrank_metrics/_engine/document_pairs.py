"""Count pairs of documents without visiting each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.ties import TieGroups, ties_with_previous
from skrank_metrics._input.arrays import FloatArray, IntArray


def count_inversions(codes: IntArray) -> FloatArray:
    """Number of pairs in each row whose first code is smaller than the second.

    There is one pass per bit, from the highest: a bit decides the pairs that agree in all higher bits. A stable sort by
    the bits so far keeps such codes next to each other. A table of all pairs would take the square of the length.
    """
    n_rows, width = codes.shape
    largest = int(codes.max())
    values, row = codes.ravel(), np.repeat(np.arange(n_rows), width)
    counts = np.zeros(n_rows)
    for bit in reversed(range(largest.bit_length())):
        # A piece holds the codes of a row that agree in all higher bits.
        n_pieces = (largest >> bit + 1) + 1
        piece = row * n_pieces + (values >> bit + 1)
        starts = np.flatnonzero(np.diff(piece, prepend=-1))
        sizes = np.diff(starts, append=len(values))
        has_bit = values >> bit & 1
        is_zero = 1 - has_bit
        # Counted in all pieces so far, from which those before the piece are taken off.
        zeros_before = np.cumsum(is_zero) - is_zero
        zeros_before -= np.repeat(zeros_before[starts], sizes)
        counts += np.bincount(row, weights=has_bit * zeros_before, minlength=n_rows)
        # In each piece, codes without the bit come before the others.
        n_zeros = np.repeat(np.add.reduceat(is_zero, starts), sizes)
        ones_before = np.arange(len(values)) - np.repeat(starts, sizes) - zeros_before
        place = np.where(has_bit == 1, n_zeros + ones_before, zeros_before)
        sorted_values = np.empty_like(values)
        sorted_values[np.repeat(starts, sizes) + place] = values
        values = sorted_values
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

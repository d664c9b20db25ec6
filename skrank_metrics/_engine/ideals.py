"""Ideal orders of other sets than all documents: of those returned, or of the first ranks alone."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from skrank_metrics._engine import ties as _ties
from skrank_metrics._input.arrays import FloatArray, IntArray

# If a tie at the cutoff can end in more different sets of documents than this, some are drawn at random.
MOST_SETS, N_DRAWN = 5000, 1000


def best_sums(gains: FloatArray, weights: FloatArray, n_ranks: IntArray) -> FloatArray:
    """Largest sum of gain times weight over the first ranks, one number of ranks and one value per query.

    Rows of ``gains`` are in any order, and end in zeros after the last document.
    """
    n_weighted = min(gains.shape[1], len(weights))
    best = -np.sort(-gains, axis=1)[:, :n_weighted]
    sums = np.zeros((len(gains), n_weighted + 1))
    np.cumsum(best * weights[:n_weighted], axis=1, out=sums[:, 1:])
    return sums[np.arange(len(gains)), np.minimum(n_ranks, n_weighted)]


def share_of_best_order(
    gains: FloatArray, groups: _ties.TieGroups | None, weights: FloatArray
) -> FloatArray:
    """DCG of the first ranks, relative to that of the same documents in their best order; one value per query.

    Which documents these are is random if a tie group reaches beyond the last of these ranks: then, the value is the
    expectation over all sets of its documents, since all are equally likely.
    """
    depth = len(weights)
    mean_gains = _ties.mean_gains(gains, groups)[:, :depth]
    dcg = mean_gains @ weights
    best = best_sums(gains[:, :depth], weights, np.full(len(gains), depth))
    shares = _shares(dcg, best)
    for row, first, last in _straddling(groups, gains.shape[1], depth):
        dcg_of_head = float(mean_gains[row, :first] @ weights[:first])
        head, tied = gains[row, :first], gains[row, first:last]
        shares[row] = _expected_share(dcg_of_head, head, tied, weights)
    return shares


def _shares(dcg: FloatArray, best: FloatArray) -> FloatArray:
    """A list without gains has no better order, and shares of 0."""
    shares = np.zeros(len(dcg))
    # The two sums are rounded differently.
    np.divide(dcg.clip(max=best), best, out=shares, where=best > 0)
    return shares


def _straddling(
    groups: _ties.TieGroups | None, width: int, depth: int
) -> list[tuple[int, int, int]]:
    """Row, first and last column of the tie groups that begin within the depth and end beyond it."""
    if groups is None:
        return []
    rows, firsts = np.divmod(groups.starts, width)
    lasts = firsts + groups.sizes
    found = np.flatnonzero((firsts < depth) & (lasts > depth))
    columns = (rows[found].tolist(), firsts[found].tolist(), lasts[found].tolist())
    return list(zip(*columns, strict=True))


def _expected_share(
    dcg_of_head: float, head: FloatArray, tied: FloatArray, weights: FloatArray
) -> float:
    """The mean share over the sets of tied documents that fill the ranks after the head."""
    n_open = len(weights) - len(head)
    tied_gains, n_tied = np.unique(tied, return_counts=True)
    chosen, probabilities = _sets(n_tied.tolist(), n_open, seed=zlib.crc32(tied_gains.tobytes()))
    # Within a set, every order is equally likely, so each rank has the mean gain of the set.
    mean_gains = chosen @ tied_gains / n_open
    dcg = dcg_of_head + mean_gains * weights[len(head) :].sum()
    # In the best order, documents of equal gains fill a range of ranks.
    values = np.unique(np.concatenate([head, tied_gains]))[::-1]
    n_in_head = np.array([np.count_nonzero(head == value) for value in values])
    counts = np.tile(n_in_head, (len(chosen), 1))
    counts[:, np.searchsorted(-values, -tied_gains)] += chosen
    ends = np.cumsum(counts, axis=1)
    sums = np.concatenate(([0.0], np.cumsum(weights)))
    best = (sums[ends] - sums[ends - counts]) @ values
    return float(probabilities @ _shares(dcg, best))


def _sets(n_of_kind: Sequence[int], size: int, seed: int) -> tuple[IntArray, FloatArray]:
    """How many documents of each kind a random set of this size holds, and the probability of each such set."""
    found: list[tuple[int, ...]] = [()]
    for place, n in enumerate(n_of_kind):
        n_after = sum(n_of_kind[place + 1 :])
        longer = list[tuple[int, ...]]()
        for chosen in found:
            left = size - sum(chosen)
            fewest, most = max(0, left - n_after), min(n, left)
            longer += [(*chosen, taken) for taken in range(fewest, most + 1)]
        found = longer
        if len(found) > MOST_SETS:
            draw = np.random.default_rng(seed).multivariate_hypergeometric
            drawn = draw(n_of_kind, size, N_DRAWN)
            return drawn, np.full(N_DRAWN, 1 / N_DRAWN)
    # Numbers of sets are exact integers, and may be far beyond the range of float64.
    n_sets = math.comb(sum(n_of_kind), size)
    ways = [math.prod(map(math.comb, n_of_kind, chosen)) for chosen in found]
    return np.array(found), np.array([way / n_sets for way in ways])

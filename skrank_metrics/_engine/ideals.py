"""Ideal orders of other sets than all documents: of those returned, or of the first ranks alone."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence

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
    shares = _shares(mean_gains, gains[:, :depth], weights)
    if groups is None:
        return shares
    last = groups.at_column(depth - 1)
    firsts = groups.starts[last] % groups.shape[1]
    ends = firsts + groups.sizes[last]
    for row in np.flatnonzero(ends > depth).tolist():
        head, tied = gains[row, : firsts[row]], gains[row, firsts[row] : ends[row]]
        of_sets, probabilities = _sets(tied, depth - len(head))
        # Within a set, every order is equally likely, so each rank has the mean gain of the set.
        expected = np.tile(mean_gains[row], (len(of_sets), 1))
        expected[:, len(head) :] = of_sets.mean(axis=1, keepdims=True)
        shown = np.hstack([np.tile(head, (len(of_sets), 1)), of_sets])
        shares[row] = probabilities @ _shares(expected, shown, weights)
    return shares


def _shares(expected: FloatArray, gains: FloatArray, weights: FloatArray) -> FloatArray:
    """Sums of expected gain times weight, relative to those of the best order."""
    dcg = expected @ weights
    best = best_sums(gains, weights, np.full(len(gains), len(weights)))
    # A list without gains has no better order, and a share of 0.
    shares = np.zeros(len(dcg))
    # The two sums are rounded differently.
    np.divide(dcg.clip(max=best), best, out=shares, where=best > 0)
    return shares


def _sets(gains: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """The gains of the documents in each different set of this size, and its probability."""
    kinds, counts = np.unique(gains, return_counts=True)
    n_of_kind = counts.tolist()
    chosen = np.array(list(itertools.islice(_numbers(n_of_kind, size), MOST_SETS + 1)))
    if len(chosen) > MOST_SETS:
        rng = np.random.default_rng(zlib.crc32(kinds.tobytes()))
        chosen = rng.multivariate_hypergeometric(n_of_kind, size, N_DRAWN)
        probabilities = np.full(N_DRAWN, 1 / N_DRAWN)
    else:
        # Numbers of sets are exact integers, and may be far beyond the range of float64.
        n_sets = math.comb(len(gains), size)
        ways = [math.prod(map(math.comb, n_of_kind, one)) for one in chosen.tolist()]
        probabilities = np.array([way / n_sets for way in ways])
    return np.array([np.repeat(kinds, one) for one in chosen]), probabilities


def _numbers(n_of_kind: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """How many documents of each kind a set of this size can hold."""
    if not n_of_kind:
        yield ()
        return
    n, *others = n_of_kind
    for taken in range(max(0, size - sum(others)), min(n, size) + 1):
        for of_others in _numbers(others, size - taken):
            yield taken, *of_others

"""Corrections of p-values for the number of tests, and what p-values of pairs of rankings imply for each other."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray


def adjust(p_values: FloatArray, correction: Literal["holm", "bh"]) -> FloatArray:
    """Correct p-values for the number of tests (Holm: family-wise error, BH: false discovery rate)."""
    n = len(p_values)
    order = np.argsort(p_values, kind="stable")
    ascending = p_values[order]
    adjusted = np.empty(n)
    if correction == "holm":
        adjusted[order] = np.maximum.accumulate(ascending * np.arange(n, 0, -1))
    else:
        scaled = ascending * n / np.arange(1, n + 1)
        adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    # Rounding can make a product smaller than the p-value itself.
    return np.clip(adjusted, p_values, 1.0)


def tail(null: FloatArray, z: FloatArray) -> FloatArray:
    """Shares of a null distribution that are at least z."""
    n_smaller = np.searchsorted(np.sort(null), z, side="left")
    return np.asarray((len(null) - n_smaller) / len(null))


def transitive(p_values: FloatArray, totals: FloatArray) -> FloatArray:
    """Raise p-values of pairs until "significantly better" is transitive at every level.

    If A is better than B, and B than C, but A is not known to be better than C, since their difference varies more,
    then C would leave the set of the best, though it is not known to be worse than A, which alone is in it. The larger
    of the two p-values is raised to that of A and C, as raising does not make errors more frequent.
    """
    best_first = np.argsort(-totals, kind="stable")
    found = p_values[np.ix_(best_first, best_first)]
    while True:
        raised = _raised(found)
        if np.array_equal(raised, found, equal_nan=True):
            return _in_order(found, best_first)
        found = raised


def _raised(found: FloatArray) -> FloatArray:
    """One step, in which all chains of three rankings count at once, so that their order does not matter."""
    raised = found.copy()
    for middle in range(1, len(found) - 1):
        above = slice(middle)
        below = slice(middle + 1, None)
        from_above = found[above, middle, None]
        to_below = found[middle, None, below]
        direct = found[above, below]
        needed = np.where(direct > np.maximum(from_above, to_below), direct, 0.0)
        # The larger of the two is raised, or both if they are equal.
        least_from_above = np.where(from_above >= to_below, needed, 0.0).max(axis=1)
        least_to_below = np.where(to_below >= from_above, needed, 0.0).max(axis=0)
        raised[above, middle] = np.maximum(raised[above, middle], least_from_above)
        raised[middle, below] = np.maximum(raised[middle, below], least_to_below)
    return raised


def implied(p_values: FloatArray, totals: FloatArray) -> FloatArray:
    """Lower p-values to the largest along a chain of rankings, each better than the next, where this is smaller."""
    best_first = np.argsort(-totals, kind="stable")
    found = p_values[np.ix_(best_first, best_first)]
    # In order of the middle, longer chains are made of shorter ones (Floyd 1962).
    for middle in range(1, len(found) - 1):
        above = slice(middle)
        below = slice(middle + 1, None)
        of_chain = np.maximum(found[above, middle, None], found[middle, None, below])
        found[above, below] = np.minimum(found[above, below], of_chain)
    return _in_order(found, best_first)


def _in_order(found: FloatArray, best_first: NDArray[Any]) -> FloatArray:
    """A symmetric matrix in the original order, from the part above the diagonal in another order."""
    above_diagonal = np.triu(np.ones(found.shape, dtype=bool))
    symmetric = np.where(above_diagonal, found, found.T)
    places = np.argsort(best_first)
    return np.asarray(symmetric[np.ix_(places, places)])

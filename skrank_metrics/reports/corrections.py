"""Corrections of p-values for the number of tests, and what p-values of pairs of rankings imply for each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray


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


def make_transitive(p_values: FloatArray, totals: FloatArray) -> None:
    """Raise p-values of pairs until "significantly better" is transitive at every level.

    If A is better than B, and B than C, but A is not known to be better than C, since their difference varies more,
    then C would leave the set of the best, though it is not known to be worse than A, which alone is in it. The larger
    of the two p-values is raised to that of A and C, as raising does not make errors more frequent.
    """
    before = np.zeros_like(p_values)
    while not np.array_equal(p_values, before, equal_nan=True):
        before = p_values.copy()
        # All chains of three rankings count at once, so that their order does not matter.
        for above, middle, below in _chains(totals):
            from_above, to_below = before[above, middle], before[middle, below]
            direct = before[above, below]
            needed = np.where(direct > np.maximum(from_above, to_below), direct, 0.0)
            # The larger of the two is raised, or both if they are equal.
            least_from_above = np.where(from_above >= to_below, needed, 0.0).max(
                axis=1, initial=0.0
            )
            least_to_below = np.where(to_below >= from_above, needed, 0.0).max(axis=0, initial=0.0)
            _set(
                p_values,
                above,
                middle,
                np.maximum(p_values[above, middle], least_from_above[:, None]),
            )
            _set(p_values, middle, below, np.maximum(p_values[middle, below], least_to_below))


def lower_by_chains(p_values: FloatArray, totals: FloatArray) -> None:
    """Lower p-values to the largest along a chain of rankings, each better than the next, where this is smaller."""
    # One middle after the other, so that longer chains are made of shorter ones (Floyd 1962).
    for above, middle, below in _chains(totals):
        of_chain = np.maximum(p_values[above, middle], p_values[middle, below])
        _set(p_values, above, below, np.minimum(p_values[above, below], of_chain))


def _chains(totals: FloatArray) -> Iterator[tuple[IntArray, int, IntArray]]:
    """Each ranking with those that are better, as a column, and those that are worse."""
    for middle, total in enumerate(totals):
        yield np.flatnonzero(totals > total)[:, None], middle, np.flatnonzero(totals < total)


def _set(p_values: FloatArray, rows: Any, columns: Any, values: FloatArray) -> None:
    """Set entries of a symmetric matrix."""
    p_values[rows, columns] = values
    p_values[columns, rows] = values

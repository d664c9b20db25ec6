"""Pairs of rankings that are tested together: corrections, simultaneous intervals, and the set that contains the best.

One matrix of adjusted p-values decides everything that is said about rankings. Its rows and columns are rankings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics.decisions.plan import Correction
from skrank_metrics.decisions.sign_flips import SignFlips, hull, place_of_critical
from skrank_metrics.reports.mean_intervals import special

Interval = tuple[float, float]

SMALLEST = float(np.finfo(np.float64).tiny)


class BestSet(NamedTuple):
    """The rankings that may be the best, those that none is significantly better than, and how each compares.

    Each ranking is compared with a rival. It is the best other one in the set; for a ranking that has left the set, the
    best one that is significantly better.
    """

    inside: Mask
    rivals: IntArray
    regret: FloatArray  # the most that choosing it loses


class TestedPair(NamedTuple):
    """One ranking minus another."""

    p_value: float
    p_adjusted: float
    interval: Interval  # for this pair alone
    simultaneous: Interval  # which holds together with those of all other pairs


class _Tests(NamedTuple):
    """What the random signs say about all pairs, (n_parts, n_pairs)."""

    p_values: FloatArray  # of each pair alone
    critical: FloatArray  # what the statistic of each pair alone must exceed to be significant
    of_largest: FloatArray  # p-values adjusted by the largest statistic
    largest: FloatArray  # null distribution of the largest statistic of the family, (n_signs,)


@dataclass
class Family:
    """Pairs of rankings that are corrected together, in one set of queries or in several slices.

    Two rankings are a single pair, of which nothing is corrected.
    """

    parts: Sequence[SignFlips]
    level: float
    correction: Correction | None = "max"
    baselines: Sequence[int] = ()  # compared with all others; without any, all pairs are compared

    @cached_property
    def of_all_pairs(self) -> Family:
        """The same without baselines."""
        return replace(self, baselines=()) if self.baselines else self

    @cached_property
    def indices(self) -> tuple[IntArray, IntArray]:
        """All pairs of rankings, also those that are not in the family."""
        return np.triu_indices(self.parts[0].n_rankings, 1)

    @cached_property
    def members(self) -> Mask:
        """Which of the pairs are in the family."""
        # To be better than all baselines, a ranking would need no correction for their number (Berger 1982). But all
        # pairs with a baseline count, so that what is said about a single baseline holds, too.
        one, other = np.isin(self.indices, self.baselines)
        return (one != other) | (not self.baselines)

    @property
    def n_tests(self) -> int:
        """Number of p-values that are corrected together."""
        return int(self.members.sum()) * len(self.parts)

    @property
    def is_corrected(self) -> bool:
        """Whether there is anything to correct for."""
        return self.correction is not None and self.n_tests > 1

    def _matrices(self, of_pairs: FloatArray) -> FloatArray:
        """Numbers of pairs, (n_parts, n_pairs), as symmetric matrices with NaN on the diagonal."""
        one, other = self.indices
        n_rankings = self.parts[0].n_rankings
        found = np.full((len(of_pairs), n_rankings, n_rankings), np.nan)
        found[:, one, other] = found[:, other, one] = of_pairs
        return found

    # Tests

    @cached_property
    def _tests(self) -> _Tests:
        """Go through the random signs of all parts once, as they are not kept."""
        one, other = self.indices
        shape = (len(self.parts), len(one))
        p_values, critical, stepped_down = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        z = np.array([part.statistics.least_z[self.indices] for part in self.parts])
        largest = np.zeros(1)
        for number, part in enumerate(self.parts):
            flipped = part.flipped()
            place = place_of_critical(flipped.shape[1], self.level)
            ascending = np.argsort(z[number], kind="stable")
            for pair in ascending:
                null = part.null(one[pair], other[pair], flipped)
                p_values[number, pair] = np.mean(null >= z[number, pair])
                critical[number, pair] = np.partition(null, place)[place]
                # Each is compared with the largest of those that are not larger (Westfall & Young 1993).
                if self.members[pair]:
                    largest = np.maximum(largest, null)
                    stepped_down[number, pair] = np.mean(largest >= z[number, pair])
            descending = ascending[::-1]
            stepped_down[number, descending] = np.maximum.accumulate(
                stepped_down[number, descending]
            )
            p_values[number] = np.maximum(p_values[number], part.statistics.least_p[self.indices])
            if part.test == "t":
                p_values[number] = 2 * special().ndtr(-part.statistics.z[self.indices])
                critical[number] = -special().ndtri(self.level / 2)
        # Stepping down needs the signs of all parts at once, so slices are corrected in one step.
        of_largest = stepped_down if len(self.parts) == 1 else tail(largest, z)
        return _Tests(p_values, critical, of_largest, largest)

    @cached_property
    def critical(self) -> float:
        """What the statistics of simultaneous intervals must exceed; if not corrected, the most for any pair alone."""
        # The most for any pair: planning must not promise too much for any of them.
        if not self.is_corrected:
            return float(self._tests.critical[:, self.members].max())
        largest = self._tests.largest
        place = place_of_critical(len(largest), self.level)
        return float(np.partition(largest, place)[place])

    @cached_property
    def p_values(self) -> FloatArray:
        """P-values of each pair alone, of shape (n_parts, n_rankings, n_rankings)."""
        return self._matrices(self._tests.p_values)

    @cached_property
    def p_adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_rankings, n_rankings); NaN outside the family."""
        adjusted = np.where(self.members, self._tests.p_values, np.nan)
        if self.correction == "max" and self.is_corrected:
            adjusted = np.maximum(adjusted, self._tests.of_largest)
        elif self.correction in ("holm", "bh"):
            alone = adjusted[:, self.members]
            adjusted[:, self.members] = adjust(alone.ravel(), self.correction).reshape(alone.shape)
        found = self._matrices(adjusted)
        # Beside baselines, no pair is implied by two others.
        if not self.baselines:
            for part, p_values in zip(self.parts, found, strict=True):
                make_transitive(p_values, part.totals)
        return found

    def deciding_p_values(self, part: int = 0) -> FloatArray:
        """P-values that decide which rankings of a part differ; NaN on the diagonal.

        They are the adjusted ones of all pairs. Baselines have smaller ones for their pairs; and a ranking that is
        better than a baseline is better than those that are worse than the baseline.
        """
        found = self.of_all_pairs.p_adjusted[part]
        if not self.baselines:
            return found
        # The family of baselines has NaN for all other pairs, which fmin passes over.
        found = np.fmin(found, self.p_adjusted[part])
        lower_by_chains(found, self.parts[part].totals)
        return found

    # Intervals

    @cached_property
    def intervals(self) -> list[FloatArray]:
        """Intervals of each pair for itself in each part, (n_rankings, n_rankings, 2)."""
        return [self._intervals(*numbered, together=False) for numbered in enumerate(self.p_values)]

    @cached_property
    def simultaneous(self) -> list[FloatArray]:
        """Intervals that hold together in each part; NaN outside the family."""
        found = []
        for part, p_values in enumerate(self.p_adjusted):
            ends = self._intervals(part, p_values, together=True)
            ends[np.isnan(p_values)] = np.nan
            found.append(ends)
        return found

    def pair(self, part: int, i: int, j: int) -> TestedPair:
        """One ranking minus another."""
        at = part, i, j
        low, high = self.intervals[part][i, j].tolist()
        ends = self.simultaneous[part][i, j].tolist()
        return TestedPair(
            float(self.p_values[at]), float(self.p_adjusted[at]), (low, high), (ends[0], ends[1])
        )

    def _intervals(self, part: int, p_values: FloatArray, *, together: bool) -> FloatArray:
        """Intervals of all pairs, which exclude 0 exactly if these p-values are significant.

        They hold together with those of all other pairs, or each for its pair alone.
        """
        flips = self.parts[part]
        critical = self._matrices(self._tests.critical)[part]
        ends = flips.intervals(critical, self.level)
        if together and self.is_corrected:
            # Intervals for all pairs contain those for one, though counts, and the residuals of a t-test, do not bound
            # both in the same way.
            larger = np.maximum(critical, self.critical)
            ends = hull(ends, flips.intervals(larger, self.level, self.n_tests))
        return _excluding_zero(ends, p_values <= self.level, flips.statistics.total)

    # The best

    def best_set(self, part: int = 0) -> BestSet:
        """The rankings of a part that may be the best.

        One leaves the set if another is significantly better. If the correction bounds the probability of any wrong
        difference, the truly best ranking stays with probability >= confidence, and intervals and regret hold.
        """
        totals = self.parts[part].totals
        p_values = self.deciding_p_values(part)
        # The ranking of a row, by that of a column.
        rejected: Mask = np.logical_and(p_values <= self.level, totals > totals[:, None])
        inside: Mask = np.logical_not(rejected.any(axis=1))

        # Beside baselines, too, any other ranking may be the best one.
        simultaneous = self.of_all_pairs._intervals(part, p_values, together=True)
        is_other = ~np.eye(len(inside), dtype=bool)
        candidates = np.where(inside[:, None], inside, rejected) & is_other
        # The best one, alone in the set, is compared with the second best.
        candidates |= is_other & ~candidates.any(axis=1, keepdims=True)
        rivals = np.where(candidates, totals, -np.inf).argmax(axis=1)
        return BestSet(inside, rivals, _regret(simultaneous, inside))


def _regret(simultaneous: FloatArray, inside: Mask) -> FloatArray:
    """The largest upper end of a ranking that may be the best minus each; 0 only for the best one alone."""
    # A loss that is unknown may be of any size.
    low_ends = simultaneous[:, inside, 0]  # of each minus one of the set
    losses = np.where(np.isnan(low_ends), np.inf, 0.0 - low_ends)
    is_other = ~np.eye(len(inside), dtype=bool)[:, inside]
    # Above 0, since a regret of 0 would say that no other ranking can be better.
    regret = np.max(losses, axis=1, initial=SMALLEST, where=is_other)
    if inside.sum() == 1:
        regret[inside] = 0.0
    return np.asarray(regret)


def _excluding_zero(ends: FloatArray, rejected: Mask, total: FloatArray) -> FloatArray:
    """Make intervals exclude 0 exactly if the test rejects, despite rounding and corrections that reject more.

    If it rejects, and there is no interval, the sign is known, and nothing else.
    """
    # fmax and fmin replace NaN, minimum and maximum keep it.
    low, high = ends[..., 0], ends[..., 1]
    floor = np.where(total > 0, SMALLEST, -np.inf)
    ceiling = np.where(total < 0, -SMALLEST, np.inf)
    lowest = np.where(rejected, np.fmax(low, floor), np.minimum(low, 0.0))
    highest = np.where(rejected, np.fmin(high, ceiling), np.maximum(high, 0.0))
    return np.stack([lowest, highest], axis=-1)


# Corrections of p-values for the number of tests, and what p-values of pairs imply for each other


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

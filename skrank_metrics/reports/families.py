"""Pairs of rankings that are tested together: corrections, simultaneous intervals, and the set that contains the best.

One matrix of adjusted p-values decides everything that is said about rankings. Its rows and columns are rankings.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics.reports.plan import Correction
from skrank_metrics.reports.sign_flips import SignFlips, hull, place_of_critical

Interval = tuple[float, float]

SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class BestSet:
    """The rankings that may be the best, those that none is significantly better than, and how each compares.

    Each ranking is compared with a rival. It is the best other one in the set; for a ranking that has left the set, the
    best one that is significantly better.
    """

    inside: Mask
    rivals: IntArray
    p_values: FloatArray  # adjusted, of each and its rival
    intervals: FloatArray  # (n_rankings, 2), simultaneous, of each minus its rival
    regret: FloatArray  # the most that choosing it loses
    critical: FloatArray  # what the statistic of each must exceed against another one


@dataclass
class Family:
    """Pairs of rankings that are corrected together, in one set of queries or in several slices."""

    parts: Sequence[SignFlips]
    level: float
    correction: Correction | None = "max"
    baseline: int | None = None  # compared with all others; None compares all pairs

    @cached_property
    def of_all_pairs(self) -> Family:
        """The same without a baseline."""
        return self if self.baseline is None else replace(self, baseline=None)

    @property
    def n_rankings(self) -> int:
        """Number of rankings, the same in each part."""
        return int(self.parts[0].sums.shape[1])

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, the same in each part."""
        rankings = range(self.n_rankings)
        if self.baseline is not None:
            return [(i, self.baseline) for i in rankings if i != self.baseline]
        return list(itertools.combinations(rankings, 2))

    @property
    def n_tests(self) -> int:
        """Number of p-values that are corrected together."""
        return len(self.pairs) * len(self.parts)

    # Tests

    @cached_property
    def _survey(self) -> tuple[FloatArray, FloatArray]:
        """Null distribution of the largest statistic of the family, and p-values of pairs adjusted step-down.

        The latter are NaN in several parts: their sums with random signs would all have to be kept.
        """
        rankings = range(self.n_rankings) if self.baseline is None else [self.baseline]
        largest = np.zeros(1)
        stepped = np.full(len(self.pairs), np.nan)
        for part in self.parts:
            flipped = part.flipped()
            part.alone(self.level, flipped)
            for i in rankings:
                largest = np.maximum(largest, part.nulls(i, flipped).max(axis=0))
            if len(self.parts) == 1 and self.correction == "max":
                stepped = self._step_down(part, flipped)
        return largest, stepped

    def _step_down(self, part: SignFlips, flipped: FloatArray) -> FloatArray:
        """P-values adjusted by the maximum over the pairs that are not yet rejected (Westfall & Young 1993)."""
        z = np.array([part.row(i).least_z[j] for i, j in self.pairs])
        adjusted = np.empty(len(z))
        largest = np.zeros(flipped.shape[1])
        ascending = np.argsort(z, kind="stable")
        for place in ascending:
            i, j = self.pairs[place]
            norm = part.row(i).norm[j]
            if norm > 0:
                np.maximum(largest, np.abs(flipped[i] - flipped[j]) / norm, out=largest)
            adjusted[place] = np.mean(largest >= z[place])
        descending = ascending[::-1]
        adjusted[descending] = np.maximum.accumulate(adjusted[descending])
        return adjusted

    @cached_property
    def critical(self) -> float:
        """What the statistics of simultaneous intervals must exceed."""
        if self.n_tests == 1:
            return float(self.parts[0].alone(self.level)[1][self.pairs[0]])
        largest, _ = self._survey
        place = place_of_critical(len(largest), self.level)
        return float(np.partition(largest, place)[place])

    @cached_property
    def p_adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_rankings, n_rankings); NaN outside the family."""
        one, other = np.array(self.pairs).T
        largest, stepped = self._survey
        alone = np.stack([part.alone(self.level)[0][one, other] for part in self.parts])
        if self.n_tests == 1 or self.correction is None:
            adjusted = alone
        elif self.correction != "max":
            adjusted = adjust(alone.ravel(), self.correction).reshape(alone.shape)
        elif len(self.parts) == 1:
            adjusted = np.maximum(alone, stepped)
        else:
            z = np.array([[part.row(i).least_z[j] for i, j in self.pairs] for part in self.parts])
            adjusted = np.maximum(alone, tail(largest, z))
        shape = (len(self.parts), self.n_rankings, self.n_rankings)
        found = np.full(shape, np.nan)
        found[:, one, other] = found[:, other, one] = adjusted
        if self.baseline is not None:
            return found
        return np.stack(
            [
                transitive(p_values, part.sums.sum(axis=0))
                for p_values, part in zip(found, self.parts, strict=True)
            ]
        )

    def decided(self, part: int = 0) -> FloatArray:
        """P-values that decide which rankings of a part differ; NaN on the diagonal.

        They are the adjusted ones of all pairs. A baseline has smaller ones for its pairs; and a ranking that is better
        than the baseline is better than those that are worse than the baseline.
        """
        found = self.of_all_pairs.p_adjusted[part]
        if self.baseline is None:
            return found
        found = np.fmin(found, self.p_adjusted[part])
        return implied(found, self.parts[part].sums.sum(axis=0))

    # Intervals

    def tested(self, part: int, i: int, j: int) -> tuple[float, float, Interval, Interval]:
        """P-value and adjusted p-value, interval and simultaneous interval of one ranking minus another."""
        p = float(self.parts[part].alone(self.level)[0][i, j])
        adjusted = float(self.p_adjusted[part, i, j])
        interval = self._ends(part, i, alone=True)[j]
        if np.isnan(adjusted):
            return p, adjusted, _as_interval(interval), (np.nan, np.nan)
        simultaneous = self._simultaneous(part, i, self.p_adjusted[part, i])[j]
        return p, adjusted, _as_interval(interval), _as_interval(simultaneous)

    def _ends(self, part: int, i: int, *, alone: bool) -> FloatArray:
        """Intervals of a ranking minus each other one, for each pair alone, or for all pairs together."""
        flips = self.parts[part]
        p_values, critical = flips.alone(self.level)
        ends = flips.intervals(i, critical[i], self.level)
        if alone:
            return _excluding_zero(ends, p_values[i] <= self.level, flips.row(i).total)
        if self.correction is None or self.n_tests == 1:
            return ends
        # Intervals for all pairs contain those for one, though counts, and the residuals of a t-test, do not bound both
        # in the same way.
        larger = np.maximum(critical[i], self.critical)
        together = flips.intervals(i, larger, self.level, self.n_tests)
        return hull(ends, together)

    def _simultaneous(self, part: int, i: int, p_values: FloatArray) -> FloatArray:
        """Simultaneous intervals of a ranking minus each other one, which exclude 0 exactly if these p-values do."""
        ends = self._ends(part, i, alone=False)
        return _excluding_zero(ends, p_values <= self.level, self.parts[part].row(i).total)

    # The best

    def best_set(self, part: int = 0) -> BestSet:
        """The rankings of a part that may be the best.

        One leaves the set if another is significantly better. If the correction bounds the probability of any wrong
        difference, the truly best ranking stays with probability >= confidence, and intervals and regret hold.
        """
        flips, whole = self.parts[part], self.of_all_pairs
        n = self.n_rankings
        decided = self.decided(part)
        totals = flips.sums.sum(axis=0)
        rivals_are_better = totals[:, None] < totals
        rejected = (decided <= self.level) & rivals_are_better
        inside = ~rejected.any(axis=1)
        simultaneous = np.stack([whole._simultaneous(part, i, decided[i]) for i in range(n)])
        rivals = _rivals(rejected, inside, totals)
        each = np.arange(n)
        return BestSet(
            inside,
            rivals,
            p_values=decided[each, rivals],
            intervals=simultaneous[each, rivals],
            regret=_regret(simultaneous, inside),
            critical=np.full(n, whole.critical),
        )


def _rivals(rejected: Mask, inside: Mask, totals: FloatArray) -> IntArray:
    """The ranking that each is compared with."""
    best_first = np.argsort(-totals, kind="stable")
    found = np.empty(len(totals), dtype=np.int64)
    for i in range(len(totals)):
        others = best_first[best_first != i]
        candidates = others[inside[others]] if inside[i] else others[rejected[i, others]]
        # No other is in the set: the best one is compared with the second best.
        found[i] = candidates[0] if len(candidates) else others[0]
    return found


def _regret(simultaneous: FloatArray, inside: Mask) -> FloatArray:
    """The largest upper end of a ranking that may be the best minus each; 0 only for the best one alone."""
    losses = 0.0 - simultaneous[:, inside, 0]  # low ends of each minus one of the set
    is_other = ~np.eye(len(inside), dtype=bool)[:, inside]
    losses[np.isnan(losses)] = np.inf
    regret = np.max(losses, axis=1, initial=SMALLEST, where=is_other)
    return np.where(inside & (inside.sum() == 1), 0.0, regret)


def _excluding_zero(ends: FloatArray, rejected: Mask, total: FloatArray) -> FloatArray:
    """Make intervals exclude 0 exactly if the test rejects, despite rounding and corrections that reject more.

    If it rejects, and there is no interval, the sign is known, and nothing else.
    """
    ahead = rejected & (total > 0)
    behind = rejected & (total < 0)
    is_known = ~np.isnan(ends).any(axis=1)
    low = np.where(is_known, ends[:, 0], -np.inf)
    high = np.where(is_known, ends[:, 1], np.inf)
    low = np.where(ahead, np.maximum(low, SMALLEST), np.where(behind, low, np.minimum(low, 0.0)))
    high = np.where(
        behind, np.minimum(high, -SMALLEST), np.where(ahead, high, np.maximum(high, 0.0))
    )
    found = np.stack([low, high], axis=1)
    found[~is_known & ~rejected] = np.nan
    return found


def _as_interval(ends: FloatArray) -> Interval:
    low, high = ends.tolist()
    return low, high


# Corrections


def transitive(p_values: FloatArray, totals: FloatArray) -> FloatArray:
    """Raise p-values until "significantly better" is transitive at every level.

    If A is better than B, and B than C, but A is not known to be better than C, since their difference varies more,
    then C would leave the set of the best, though it is not known to be worse than A, which alone is in it. The larger
    of the two p-values is raised to that of A and C, as raising does not make errors more frequent.
    """
    best_first = np.argsort(-totals, kind="stable")
    found = p_values[np.ix_(best_first, best_first)]
    while True:
        raised = found.copy()
        for middle in range(1, len(found) - 1):
            upper, lower = found[:middle, middle, None], found[middle, None, middle + 1 :]
            outer = found[:middle, middle + 1 :]
            needed = np.where(outer > np.maximum(upper, lower), outer, 0.0)
            upper_needed = np.where(upper >= lower, needed, 0.0).max(axis=1)
            lower_needed = np.where(lower >= upper, needed, 0.0).max(axis=0)
            np.maximum(raised[:middle, middle], upper_needed, out=raised[:middle, middle])
            np.maximum(raised[middle, middle + 1 :], lower_needed, out=raised[middle, middle + 1 :])
        if np.array_equal(raised, found, equal_nan=True):
            break
        found = raised
    upper_triangle = np.triu(np.ones_like(found, dtype=bool))
    found = np.where(upper_triangle, found, found.T)
    places = np.argsort(best_first)
    return found[np.ix_(places, places)]


def implied(p_values: FloatArray, totals: FloatArray) -> FloatArray:
    """Lower p-values to the largest along a chain of rankings, each better than the next, where this is smaller."""
    best_first = np.argsort(-totals, kind="stable")
    found = p_values[np.ix_(best_first, best_first)]
    for middle in range(1, len(found) - 1):
        chain = np.maximum(found[:middle, middle, None], found[middle, None, middle + 1 :])
        found[:middle, middle + 1 :] = np.minimum(found[:middle, middle + 1 :], chain)
    upper_triangle = np.triu(np.ones_like(found, dtype=bool))
    found = np.where(upper_triangle, found, found.T)
    places = np.argsort(best_first)
    return found[np.ix_(places, places)]


def adjust(p_values: FloatArray, correction: Correction) -> FloatArray:
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

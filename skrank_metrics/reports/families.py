"""Pairs of rankings that are tested together: corrections, simultaneous intervals, and the set that contains the best.

One matrix of adjusted p-values decides everything that is said about rankings. Its rows and columns are rankings.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics.reports.corrections import adjust, implied, tail, transitive
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


class TestedPair(NamedTuple):
    """One ranking minus another."""

    p_value: float
    p_adjusted: float
    interval: Interval  # for this pair alone
    simultaneous: Interval  # which holds together with those of all other pairs


class _Maxima(NamedTuple):
    """What the random signs of a family say."""

    largest: FloatArray  # null distribution of the largest statistic
    stepped: FloatArray | None  # p-values by pair, adjusted step-down; not for several parts


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
    def _maxima(self) -> _Maxima:
        """Go through the random signs of all parts once, as they are not kept."""
        rankings = range(self.n_rankings) if self.baseline is None else [self.baseline]
        largest = np.zeros(1)
        stepped = None
        for part in self.parts:
            flipped = part.flipped()
            part.alone(self.level, flipped)
            for i in rankings:
                of_ranking = part.nulls(i, flipped).max(axis=0)
                largest = np.maximum(largest, of_ranking)
            if len(self.parts) == 1 and self.correction == "max":
                stepped = self._step_down(part, flipped)
        return _Maxima(largest, stepped)

    def _step_down(self, part: SignFlips, flipped: FloatArray) -> FloatArray:
        """P-values adjusted by the maximum over the pairs that are not yet rejected (Westfall & Young 1993)."""
        z = self._statistics(part)
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
        """What the statistics of simultaneous intervals must exceed; if not corrected, the most for any pair alone."""
        if self.correction is None or self.n_tests == 1:
            one, other = np.array(self.pairs).T
            alone = [part.alone(self.level)[1][one, other] for part in self.parts]
            return float(np.max(alone))
        largest = self._maxima.largest
        place = place_of_critical(len(largest), self.level)
        return float(np.partition(largest, place)[place])

    @cached_property
    def p_adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_rankings, n_rankings); NaN outside the family."""
        one, other = np.array(self.pairs).T
        found = np.full((len(self.parts), self.n_rankings, self.n_rankings), np.nan)
        adjusted = self._adjusted()
        found[:, one, other] = adjusted
        found[:, other, one] = adjusted
        if self.baseline is None:
            for number, part in enumerate(self.parts):
                found[number] = transitive(found[number], part.totals)
        return found

    def _adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_pairs)."""
        maxima = self._maxima  # which also makes the p-values that are not corrected
        one, other = np.array(self.pairs).T
        alone = np.stack([part.alone(self.level)[0][one, other] for part in self.parts])
        if self.n_tests == 1 or self.correction is None:
            return alone
        if self.correction != "max":
            return adjust(alone.ravel(), self.correction).reshape(alone.shape)
        if maxima.stepped is not None:
            return np.maximum(alone, maxima.stepped)
        z = np.stack([self._statistics(part) for part in self.parts])
        return np.maximum(alone, tail(maxima.largest, z))

    def _statistics(self, part: SignFlips) -> FloatArray:
        return np.array([part.row(i).least_z[j] for i, j in self.pairs])

    def decided(self, part: int = 0) -> FloatArray:
        """P-values that decide which rankings of a part differ; NaN on the diagonal.

        They are the adjusted ones of all pairs. A baseline has smaller ones for its pairs; and a ranking that is better
        than the baseline is better than those that are worse than the baseline.
        """
        found = self.of_all_pairs.p_adjusted[part]
        if self.baseline is None:
            return found
        found = np.fmin(found, self.p_adjusted[part])
        return implied(found, self.parts[part].totals)

    # Intervals

    def tested(self, part: int, i: int, j: int) -> TestedPair:
        """One ranking minus another."""
        p_value = float(self.parts[part].alone(self.level)[0][i, j])
        p_adjusted = float(self.p_adjusted[part, i, j])
        interval = _as_interval(self._alone(part, i)[j])
        if np.isnan(p_adjusted):
            return TestedPair(p_value, p_adjusted, interval, (np.nan, np.nan))
        simultaneous = self._simultaneous(part, i, self.p_adjusted[part, i])
        return TestedPair(p_value, p_adjusted, interval, _as_interval(simultaneous[j]))

    def _alone(self, part: int, i: int) -> FloatArray:
        """Intervals of a ranking minus each other one, for each pair alone."""
        flips = self.parts[part]
        p_values, critical = flips.alone(self.level)
        ends = flips.intervals(i, critical[i], self.level)
        return _excluding_zero(ends, p_values[i] <= self.level, flips.row(i).total)

    def _simultaneous(self, part: int, i: int, p_values: FloatArray) -> FloatArray:
        """Simultaneous intervals of a ranking minus each other one, which exclude 0 exactly if these p-values do."""
        flips = self.parts[part]
        _, critical = flips.alone(self.level)
        ends = flips.intervals(i, critical[i], self.level)
        if self.correction is not None and self.n_tests > 1:
            # Intervals for all pairs contain those for one, though counts, and the residuals of a t-test, do not bound
            # both in the same way.
            larger = np.maximum(critical[i], self.critical)
            together = flips.intervals(i, larger, self.level, self.n_tests)
            ends = hull(ends, together)
        return _excluding_zero(ends, p_values <= self.level, flips.row(i).total)

    # The best

    def best_set(self, part: int = 0) -> BestSet:
        """The rankings of a part that may be the best.

        One leaves the set if another is significantly better. If the correction bounds the probability of any wrong
        difference, the truly best ranking stays with probability >= confidence, and intervals and regret hold.
        """
        totals = self.parts[part].totals
        p_values = self.decided(part)
        is_better = totals > totals[:, None]
        rejected: Mask = np.logical_and(
            p_values <= self.level, is_better
        )  # the ranking of a row, by that of a column
        inside: Mask = np.logical_not(rejected.any(axis=1))

        rankings = list(range(self.n_rankings))
        whole = self.of_all_pairs
        simultaneous = np.stack([whole._simultaneous(part, i, p_values[i]) for i in rankings])
        best_first = np.argsort(-totals, kind="stable")
        rivals = np.array([_rival(i, best_first, rejected, inside) for i in rankings])
        return BestSet(
            inside,
            rivals,
            p_values=p_values[rankings, rivals],
            intervals=simultaneous[rankings, rivals],
            regret=_regret(simultaneous, inside),
        )


def _rival(i: int, best_first: IntArray, rejected: Mask, inside: Mask) -> int:
    """The ranking that a ranking is compared with."""
    others = best_first[best_first != i]
    candidates = others[inside[others]]
    if not inside[i]:
        candidates = others[rejected[i, others]]
    if not len(candidates):  # the best one, alone in the set, is compared with the second best
        candidates = others
    return int(candidates[0])


def _regret(simultaneous: FloatArray, inside: Mask) -> FloatArray:
    """The largest upper end of a ranking that may be the best minus each; 0 only for the best one alone."""
    low_ends = simultaneous[:, inside, 0]  # of each minus one of the set
    losses = np.where(np.isnan(low_ends), np.inf, 0.0 - low_ends)
    is_other = ~np.eye(len(inside), dtype=bool)[:, inside]
    regret = np.max(losses, axis=1, initial=SMALLEST, where=is_other)
    if inside.sum() == 1:
        regret[inside] = 0.0
    return np.asarray(regret)


def _excluding_zero(ends: FloatArray, rejected: Mask, total: FloatArray) -> FloatArray:
    """Make intervals exclude 0 exactly if the test rejects, despite rounding and corrections that reject more.

    If it rejects, and there is no interval, the sign is known, and nothing else.
    """
    ahead = rejected & (total > 0)
    behind = rejected & (total < 0)
    undecided = ~rejected
    is_unknown = np.isnan(ends).any(axis=1)
    low = np.where(is_unknown, -np.inf, ends[:, 0])
    high = np.where(is_unknown, np.inf, ends[:, 1])
    low[undecided] = np.minimum(low[undecided], 0.0)
    high[undecided] = np.maximum(high[undecided], 0.0)
    low[ahead] = np.maximum(low[ahead], SMALLEST)
    high[behind] = np.minimum(high[behind], -SMALLEST)
    found = np.stack([low, high], axis=1)
    found[is_unknown & undecided] = np.nan
    return found


def _as_interval(ends: FloatArray) -> Interval:
    low, high = ends.tolist()
    return low, high

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
    baselines: Sequence[int] = ()  # compared with all others; without any, all pairs are compared

    @cached_property
    def of_all_pairs(self) -> Family:
        """The same without a baseline."""
        return replace(self, baselines=()) if self.baselines else self

    @property
    def n_rankings(self) -> int:
        """Number of rankings, the same in each part."""
        return int(self.parts[0].sums.shape[1])

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, the same in each part."""
        rankings = range(self.n_rankings)
        if not self.baselines:
            return list(itertools.combinations(rankings, 2))
        # To be better than all baselines, a ranking would need no correction for their number (Berger 1982). But all
        # pairs count, so that what is said about a single baseline holds, too.
        candidates = [i for i in rankings if i not in self.baselines]
        return list(itertools.product(candidates, self.baselines))

    @property
    def n_tests(self) -> int:
        """Number of p-values that are corrected together."""
        return len(self.pairs) * len(self.parts)

    @property
    def is_corrected(self) -> bool:
        """Whether there is anything to correct for."""
        return self.correction is not None and self.n_tests > 1

    def _of_pairs(self, matrices: Sequence[FloatArray]) -> FloatArray:
        """Entries of the pairs of this family, of shape (n_parts, n_pairs), from a matrix for each part."""
        one, other = np.array(self.pairs).T
        return np.stack([matrix[one, other] for matrix in matrices])

    # Tests

    @cached_property
    def _maxima(self) -> _Maxima:
        """Go through the random signs of all parts once, as they are not kept."""
        one, other = np.array(self.pairs).T
        largest = np.zeros(1)
        stepped = None
        for part in self.parts:
            flipped = part.flipped()
            part.alone(self.level, flipped)  # which keeps what it needs of them
            for j in np.unique(other):
                of_ranking = part.nulls(j, flipped, one[other == j]).max(axis=0)
                largest = np.maximum(largest, of_ranking)
            # Stepping down needs the signs of all parts at once, so slices are corrected in one step.
            if len(self.parts) == 1 and self.correction == "max":
                stepped = self._step_down(part, flipped)
        return _Maxima(largest, stepped)

    def _step_down(self, part: SignFlips, flipped: FloatArray) -> FloatArray:
        """P-values adjusted by the maximum over the pairs that are not yet rejected (Westfall & Young 1993)."""
        z = self._statistics()[0]
        adjusted = np.empty(len(z))
        largest = np.zeros(flipped.shape[1])
        ascending = np.argsort(z, kind="stable")
        for place in ascending:
            i, j = self.pairs[place]
            norm = part.row(i).norm[j]
            if norm > 0:
                np.maximum(largest, np.abs(flipped[i] - flipped[j]) / norm, out=largest)
            adjusted[place] = np.count_nonzero(largest >= z[place]) / len(largest)
        descending = ascending[::-1]
        adjusted[descending] = np.maximum.accumulate(adjusted[descending])
        return adjusted

    def _statistics(self) -> FloatArray:
        """Statistics, of shape (n_parts, n_pairs)."""
        return np.array([[part.row(i).least_z[j] for i, j in self.pairs] for part in self.parts])

    @cached_property
    def critical(self) -> float:
        """What the statistics of simultaneous intervals must exceed; if not corrected, the most for any pair alone."""
        # The most for any pair: planning must not promise too much for any of them.
        if not self.is_corrected:
            return float(self._of_pairs([part.alone(self.level)[1] for part in self.parts]).max())
        largest = self._maxima.largest
        place = place_of_critical(len(largest), self.level)
        return float(np.partition(largest, place)[place])

    @cached_property
    def p_adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_rankings, n_rankings); NaN outside the family."""
        one, other = np.array(self.pairs).T
        found = np.full((len(self.parts), self.n_rankings, self.n_rankings), np.nan)
        found[:, one, other] = self._adjusted()
        found[:, other, one] = found[:, one, other]
        # Beside baselines, no pair is implied by two others.
        if not self.baselines:
            for number, part in enumerate(self.parts):
                found[number] = transitive(found[number], part.totals)
        return found

    def _adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_pairs)."""
        maxima = self._maxima  # which also makes the p-values that are not corrected
        alone = self._of_pairs([part.alone(self.level)[0] for part in self.parts])
        if self.correction is None or not self.is_corrected:
            return alone
        if self.correction != "max":
            return adjust(alone.ravel(), self.correction).reshape(alone.shape)
        if maxima.stepped is not None:
            return np.maximum(alone, maxima.stepped)
        return np.maximum(alone, tail(maxima.largest, self._statistics()))

    def decided(self, part: int = 0) -> FloatArray:
        """P-values that decide which rankings of a part differ; NaN on the diagonal.

        They are the adjusted ones of all pairs. A baseline has smaller ones for its pairs; and a ranking that is better
        than the baseline is better than those that are worse than the baseline.
        """
        found = self.of_all_pairs.p_adjusted[part]
        if not self.baselines:
            return found
        # The family of baselines has NaN for all other pairs, which fmin passes over.
        found = np.fmin(found, self.p_adjusted[part])
        return implied(found, self.parts[part].totals)

    # Intervals

    def tested(self, part: int, i: int, j: int) -> TestedPair:
        """One ranking minus another."""
        p_values, adjusted = self.parts[part].alone(self.level)[0][i], self.p_adjusted[part, i]
        alone = self._intervals(part, i, p_values, together=False)
        simultaneous = self._intervals(part, i, adjusted, together=True)
        simultaneous[np.isnan(adjusted)] = np.nan  # not in the family
        return TestedPair(
            float(p_values[j]),
            float(adjusted[j]),
            _as_interval(alone[j]),
            _as_interval(simultaneous[j]),
        )

    def _intervals(self, part: int, i: int, p_values: FloatArray, *, together: bool) -> FloatArray:
        """Intervals of a ranking minus each other one, which exclude 0 exactly if these p-values are significant.

        They hold together with those of all other pairs, or each for its pair alone.
        """
        flips = self.parts[part]
        critical = flips.alone(self.level)[1][i]
        ends = flips.intervals(i, critical, self.level)
        if together and self.is_corrected:
            # Intervals for all pairs contain those for one, though counts, and the residuals of a t-test, do not bound
            # both in the same way.
            larger = np.maximum(critical, self.critical)
            ends = hull(ends, flips.intervals(i, larger, self.level, self.n_tests))
        return _excluding_zero(ends, p_values <= self.level, flips.row(i).total)

    # The best

    def best_set(self, part: int = 0) -> BestSet:
        """The rankings of a part that may be the best.

        One leaves the set if another is significantly better. If the correction bounds the probability of any wrong
        difference, the truly best ranking stays with probability >= confidence, and intervals and regret hold.
        """
        totals = self.parts[part].totals
        p_values = self.decided(part)
        # The ranking of a row, by that of a column.
        rejected: Mask = np.logical_and(p_values <= self.level, totals > totals[:, None])
        inside: Mask = np.logical_not(rejected.any(axis=1))

        rankings = list(range(self.n_rankings))
        # Beside a baseline, too, any other ranking may be the best one.
        whole = self.of_all_pairs
        intervals = [whole._intervals(part, i, p_values[i], together=True) for i in rankings]
        simultaneous = np.stack(intervals)
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
    low, high = ends.T
    floor = np.where(total > 0, SMALLEST, -np.inf)
    ceiling = np.where(total < 0, -SMALLEST, np.inf)
    lowest = np.where(rejected, np.fmax(low, floor), np.minimum(low, 0.0))
    highest = np.where(rejected, np.fmin(high, ceiling), np.maximum(high, 0.0))
    return np.stack([lowest, highest], axis=1)


def _as_interval(ends: FloatArray) -> Interval:
    low, high = ends.tolist()
    return low, high

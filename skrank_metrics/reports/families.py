"""Tests that are corrected together: adjusted p-values, simultaneous intervals, and the set that contains the best.

Arrays in, arrays out: rankings are numbers, and larger values are better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics.reports.sign_flips import SignFlips, critical_value, tail

SMALLEST = float(np.finfo(np.float64).tiny)
Interval = tuple[float, float]


@dataclass(frozen=True)
class BestSet:
    """The rankings that may be the best (Hsu 1984, https://doi.org/10.1214/aos/1176346732)."""

    p_values: FloatArray  # that each is the best
    inside: Mask
    intervals: FloatArray  # (n_rankings, 2), of each minus the best other
    regret: FloatArray  # the most that choosing it loses


@dataclass
class Family:
    """Pairs of rankings that are corrected together, in one set of queries or in several slices."""

    parts: Sequence[SignFlips]
    level: float
    correction: str | None = "max"
    baseline: int | None = None  # compared with all others; None compares all pairs

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, the same in each part."""
        n = self.parts[0].sums.shape[1]
        if self.baseline is not None:
            return [(i, self.baseline) for i in range(n) if i != self.baseline]
        return [(i, j) for i in range(n) for j in range(i + 1, n)]

    @property
    def n_tests(self) -> int:
        """Number of p-values that are corrected together."""
        return len(self.pairs) * len(self.parts)

    @cached_property
    def _null(self) -> FloatArray:
        """Null distribution of the largest statistic of the family."""
        if self.baseline is None:
            return self._null_of_all
        return np.max([part.row_maximum(self.baseline) for part in self.parts], axis=0)

    @cached_property
    def _null_of_all(self) -> FloatArray:
        """The same for all pairs in all parts."""
        found = np.zeros(self.parts[0].flipped.shape[1])
        for part in self.parts:
            for i in range(part.sums.shape[1]):
                np.maximum(found, part.row_maximum(i), out=found)
        return found

    @cached_property
    def critical(self) -> float:
        """Critical value of the simultaneous intervals."""
        if self.n_tests == 1:
            return self.parts[0].critical(*self.pairs[0], self.level)
        return critical_value(self._null, self.level)

    @cached_property
    def _p_values(self) -> FloatArray:
        """P-values of single pairs, of shape (n_parts, n_pairs)."""
        return np.array([[part.p_value(i, j) for i, j in self.pairs] for part in self.parts])

    @cached_property
    def p_adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_rankings, n_rankings); NaN outside the family."""
        n = self.parts[0].sums.shape[1]
        adjusted, found = self._adjusted(), np.full((len(self.parts), n, n), np.nan)
        for number, (i, j) in enumerate(self.pairs):
            found[:, i, j] = found[:, j, i] = adjusted[:, number]
        return found

    def _adjusted(self) -> FloatArray:
        alone = self._p_values
        if self.n_tests == 1 or self.correction is None:
            return alone
        if self.correction != "max":
            return adjust(alone.ravel(), self.correction).reshape(alone.shape)
        if len(self.parts) == 1:
            return np.maximum(alone, self.parts[0].step_down(self.pairs))
        z = np.array([[part.row(i).z[j] - part.row(i).tolerance[j] for i, j in self.pairs] for part in self.parts])
        return np.maximum(alone, tail(self._null, z))

    def tested(self, part: int, i: int, j: int) -> tuple[float, float, Interval, Interval]:
        """P-value and adjusted p-value, interval and simultaneous interval of one ranking minus another."""
        flips = self.parts[part]
        p, adjusted = flips.p_value(i, j), float(self.p_adjusted[part, i, j])
        ahead = flips.row(i).total[j] > 0
        alone = flips.intervals(i, flips.critical(i, j, self.level), self.level)[j]
        interval = agreeing(alone, rejected=p <= self.level, ahead=ahead)
        if np.isnan(adjusted):  # outside the family
            return p, adjusted, interval, (np.nan, np.nan)
        if self.correction is None:
            return p, adjusted, interval, interval
        together = flips.intervals(i, self.critical, self.level, self.n_tests)[j]
        return p, adjusted, interval, agreeing(together, rejected=adjusted <= self.level, ahead=ahead)

    def best_set(self, part: int = 0) -> BestSet:
        """The rankings that may be the best in a part.

        Each ranking is compared with all others by the maximum over these. It leaves the set if it is significantly
        worse than one of them, so the truly best one stays with probability >= confidence. The intervals and the regret
        hold together with this, as all follow from the comparisons of the truly best one.
        """
        flips = self.parts[part]
        found = [self._against_all(flips, i) for i in range(flips.sums.shape[1])]
        critical, p_values = (np.array(column) for column in zip(*found, strict=True))
        n, inside = len(found), p_values > self.level
        # Upper ends of each ranking (row) minus each other (column).
        upper = np.stack([flips.intervals(i, critical[i], self.level, n - 1)[:, 1] for i in range(n)])
        np.fill_diagonal(upper, np.nan)
        upper[np.isnan(upper) & ~np.eye(n, dtype=bool)] = np.inf
        regret = np.fmax(0.0, np.fmax.reduce(np.where(inside[:, None], upper, np.nan), axis=0, initial=0.0))
        alone = inside & (inside.sum() == 1)
        regret = np.where(alone, 0.0, np.maximum(regret, SMALLEST))
        most = np.fmin.reduce(upper, axis=1)
        intervals = np.stack([0.0 - regret, np.where(inside, np.maximum(most, SMALLEST), 0.0)], axis=1)
        return BestSet(p_values, inside, np.where(np.isinf(intervals), np.nan, intervals), regret)

    def _against_all(self, flips: SignFlips, i: int) -> tuple[float, float]:
        """Critical value of one ranking against all others, and the p-value of its being the best."""
        row = flips.row(i)
        rivals = row.total < 0
        if len(rivals) == 2 and len(self.parts) == 1:
            return flips.critical(i, 1 - i, self.level), flips.p_value(i, 1 - i) if rivals.any() else 1.0
        null = flips.row_maximum(i) if len(self.parts) == 1 else self._null_of_all
        p = np.maximum(tail(null, row.z - row.tolerance), flips.least_p(i))
        return critical_value(null, self.level), float(p[rivals].min(initial=1.0))


def agreeing(interval: FloatArray, *, rejected: bool, ahead: bool) -> Interval:
    """Cut an interval at 0 if the test rejects, or extend it to 0 if not.

    This removes the effect of rounding, and of corrections that reject more than simultaneous intervals show.
    """
    low, high = interval.tolist()
    if not rejected:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, SMALLEST), high) if ahead else (low, min(high, -SMALLEST))


def adjust(p_values: FloatArray, correction: str) -> FloatArray:
    """Correct p-values for the number of tests (Holm: family-wise error, BH: false discovery rate)."""
    n, order = len(p_values), np.argsort(p_values, kind="stable")
    adjusted = np.empty(n)
    if correction == "holm":
        adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(n, 0, -1))
    else:
        adjusted[order] = np.minimum.accumulate((p_values[order] * n / np.arange(1, n + 1))[::-1])[::-1]
    return adjusted.clip(max=1)

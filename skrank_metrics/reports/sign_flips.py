"""Paired tests of rankings by one matrix of random signs, their corrections, and the set that contains the best.

Rankings are numbers or columns; larger values are better. Units, queries or groups of them, flip together.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.reports.fold_error import FoldVariation, WeightedSums, standard_error
from skrank_metrics.reports.mean_intervals import ROUNDING

Interval = tuple[float, float]

# Number of sign vectors, the observed one included (Phipson & Smyth 2010), so no p-value is below 1 / 10,000.
N_SIGNS = 10_000
# All sign vectors are used for at most this many units that differ: 2^13 < 10,000.
MOST_ENUMERATED = 13
# More units than this are merged at random. Flipping them together has the same level, and the power of this many.
MOST_UNITS = 16_384
# Signs of this many units fit into the caches.
UNITS_AT_A_TIME = 128
SMALLEST = float(np.finfo(np.float64).tiny)


def without_rounding(values: FloatArray) -> FloatArray:
    """Make the values in a row equal if they differ by rounding only: each run of them takes its smallest value."""
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    steps = np.diff(ascending, axis=1, prepend=-np.inf)
    starts = steps > ROUNDING * np.maximum(np.abs(ascending), np.roll(np.abs(ascending), 1, axis=1))
    places = np.maximum.accumulate(np.where(starts, np.arange(values.shape[1]), 0), axis=1)
    found = np.empty_like(values)
    np.put_along_axis(found, order, np.take_along_axis(ascending, places, axis=1), axis=1)
    return found


def hash_units(ids: NDArray[Any]) -> Hashes:
    """A number per query or group that does not depend on its place, if the ids can be recognized anywhere."""
    try:
        return hash_ids(ids)
    except (TypeError, ValueError):
        known = given = as_python(ids)
        with suppress(TypeError):  # of different types
            known = sorted(given)
        numbers = {one: number for number, one in enumerate(known)}
        return hash_ids(np.array([numbers[one] for one in given]))


def random_bits(hashes: Hashes, n_bits: int, seed: int) -> NDArray[np.uint8]:
    """Bits of each unit, by its hash and the seed only: a stream of SplitMix64 (Steele, Lea & Flood 2014)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    start = hash_ids(hash_ids(hashes ^ hash_ids(np.array([seed], dtype=np.uint64) + golden)))
    words = hash_ids(start[:, None] + golden * np.arange(-(-n_bits // 64), dtype=np.uint64))
    return np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), axis=1, count=n_bits)


@dataclass(frozen=True)
class Row:
    """One ranking minus each of the others, one entry per other ranking."""

    total: FloatArray  # weighted sum of the differences
    squares: FloatArray  # of the weighted differences of units
    cross: FloatArray  # their products with the weights of the units
    largest: FloatArray
    counts: IntArray  # number of units that lose and that win, of shape (n_rankings, 2)
    error: FloatArray  # standard error of the mean, from units
    fold_error: FloatArray  # the same out of fold if that is larger, else 0
    fold_degrees: FloatArray  # degrees of freedom of that
    norm: FloatArray  # by which sums with random signs are divided
    z: FloatArray
    least_z: FloatArray  # z less the rounding in sums
    least_p: FloatArray  # smallest p-values possible with so many units that differ: all positive or all negative


@dataclass
class SignFlips:
    """Tests of all pairs of rankings over the same queries.

    The notes of ``compare`` define the statistic. Pairs of unlike spread share one maximum, as flips do not change its
    norm. With test="t", it is Student's t as a normal quantile, and signs flip the residuals.
    """

    values: FloatArray  # (n_queries, n_rankings), finite
    weights: FloatArray  # (n_queries,), above 0
    units: Hashes  # (n_queries,); equal for queries that flip together
    seed: int
    test: str = "permutation"
    span: float = np.inf  # largest difference possible
    folds: IntArray | None = None
    enumerates: bool = True  # False: random signs, which the tests of several slices can share
    _rows: dict[int, Row] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        # Values can exceed the bounds of the metric, if it replaces undefined values.
        self.span = max(self.span, float(np.ptp(self.values, axis=1).max(initial=0.0)))
        values = without_rounding(self.values)
        values = values - values.mean(
            axis=1, keepdims=True
        )  # keeps the differences, and sums lose fewer digits
        # Scaling by a power of two is exact, and keeps squares from overflowing or vanishing.
        exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
        self.scale = 2.0**exponent
        weights = self.weights / self.weights.max()
        weighted = np.ldexp(values, -exponent) * weights[:, None]
        units = (
            self.units
            if len(self.units) <= MOST_UNITS
            else hash_ids(self.units) % np.uint64(MOST_UNITS)
        )
        self.hashes, self.sums, self.masses = _summed(weighted, weights, units)
        self.variation: FoldVariation | None = None
        if self.folds is not None and np.ptp(self.folds) > 0:
            _, *of_folds = _summed(weighted, weights, self.folds)
            of_queries = WeightedSums(self.sums, self.masses)
            self.variation = FoldVariation(WeightedSums(*of_folds), of_queries)
        self.total_mass, self.square_mass = (
            float(self.masses.sum()),
            float(self.masses @ self.masses),
        )
        # Number of units of equal weight that would be as informative (Kish 1965).
        self.n_effective = self.total_mass**2 / self.square_mass

    @property
    def fits_vary(self) -> bool:
        """Whether differences vary more between folds than queries explain."""
        return self.variation is not None and self.variation.fits_vary

    def row(self, i: int) -> Row:
        """Statistics of one ranking against each of the others."""
        if i in self._rows:
            return self._rows[i]
        d = self.sums[:, i, None] - self.sums
        total, squares, cross = d.sum(axis=0), (d * d).sum(axis=0), self.masses @ d
        error = standard_error(d, self.masses)
        counts, largest = (
            np.stack([(d < 0).sum(axis=0), (d > 0).sum(axis=0)], axis=1),
            np.abs(d).max(axis=0),
        )
        if self.test == "t":
            norm = error * self.total_mass * np.sqrt(1 - 1 / self.n_effective)
            z = _as_normal(_divided(np.abs(total) / self.total_mass, error), self.n_effective - 1)
            least_p = np.where(counts.any(axis=1), 0.0, 1.0)
        else:
            norm = np.sqrt(squares)
            z = _divided(np.abs(total), np.sqrt(squares + largest**2 / 2))
            least_p = np.minimum(1.0, 2.0 ** (1.0 - counts.sum(axis=1)))
        fold_error = np.zeros_like(error)
        fold_degrees = np.ones_like(error)
        if self.variation is not None:
            out_of_fold = self.variation.error(i)
            fold_error, fold_degrees = out_of_fold.error, out_of_fold.n_degrees
            t = _divided(np.abs(total) / self.total_mass, fold_error)
            z = np.where(fold_error > 0, np.fmin(z, _as_normal(t, fold_degrees)), z)
        sizes = np.abs(self.sums).sum(axis=0)
        least_z = z - (1e-9 + _divided(1e-14 * (sizes[i] + sizes), norm))
        self._rows[i] = Row(
            total,
            squares,
            cross,
            largest,
            counts,
            error,
            fold_error,
            fold_degrees,
            norm,
            z,
            least_z,
            least_p,
        )
        return self._rows[i]

    @cached_property
    def flipped(self) -> FloatArray:
        """Sums of each ranking with random signs, of shape (n_rankings, n_signs); the first signs are all +."""
        sums = self.sums
        if self.test == "t":
            sums = sums - self.masses[:, None] * (sums.sum(axis=0) / self.total_mass)
        changed = np.ptp(sums, axis=1) > 0
        sums, hashes = sums[changed], self.hashes[changed]
        if len(sums) <= MOST_ENUMERATED and self.enumerates:
            numbers = np.arange(2 ** max(0, len(sums) - 1))[
                :, None
            ]  # both of e and -e give the same |sum|
            signs = 1.0 - 2.0 * (numbers >> np.arange(len(sums)) & 1)
            return sums.T @ signs.T
        total = np.repeat(sums.sum(axis=0)[:, None], N_SIGNS, axis=1)
        minus = np.empty((UNITS_AT_A_TIME, N_SIGNS))
        for start in range(0, len(sums), UNITS_AT_A_TIME):
            part = slice(start, start + UNITS_AT_A_TIME)
            bits = minus[: len(hashes[part])]
            bits[...] = random_bits(hashes[part], N_SIGNS, self.seed)
            bits[:, 0] = 0.0
            total -= (2 * sums[part].T) @ bits
        return total

    def null(self, i: int, j: int) -> FloatArray:
        """Null distribution of the statistic of a pair."""
        return np.abs(self.flipped[i] - self.flipped[j]) * _divided(
            1.0, self.row(i).norm[j : j + 1]
        )

    def row_maximum(self, i: int) -> FloatArray:
        """Null distribution of the largest statistic of one ranking against all others."""
        t = np.abs(self.flipped - self.flipped[i])
        t *= _divided(1.0, self.row(i).norm)[:, None]
        return t.max(axis=0)

    def p_value(self, i: int, j: int) -> float:
        """Two-sided p-value of a pair."""
        row = self.row(i)
        if self.test == "t":
            return float(2 * special.ndtr(-row.z[j]))
        return float(max(np.mean(self.null(i, j) >= row.least_z[j]), row.least_p[j]))

    def critical(self, i: int, j: int, level: float) -> float:
        """Value that the statistic of a pair must exceed for its p-value to be at most ``level``."""
        return float(
            -special.ndtri(level / 2)
            if self.test == "t"
            else critical_value(self.null(i, j), level)
        )

    def intervals(
        self, i: int, critical: FloatArray | float, level: float, n_tests: int = 1
    ) -> FloatArray:
        """Intervals of one ranking minus each of the others, (n_rankings, 2), by inverting the test.

        A shift x of the mean is in the interval if |total - x mass| <= c sqrt(sum (d - x w)^2 + L^2 / 2). If too few
        units differ for the test to reject, it follows from wins and losses alone.
        """
        row = self.row(i)
        c = critical + (row.z - row.least_z)
        mass, mean = self.total_mass, row.total / self.total_mass
        with np.errstate(all="ignore"):
            if self.test == "t":
                half = _as_student(c, self.n_effective - 1) * row.error
                ends = np.stack([mean - half, mean + half], axis=1)
                ends[(row.error == 0) | (self.n_effective <= 1)] = np.nan
            else:
                a = mass**2 - c**2 * self.square_mass
                b = row.total * mass - c**2 * row.cross
                half = (
                    np.sqrt(
                        np.fmax(
                            b**2 - a * (row.total**2 - c**2 * (row.squares + row.largest**2 / 2)), 0
                        )
                    )
                    / a
                )
                ends = np.stack([b / a - half, b / a + half], axis=1)
                few = (a <= 0) | (row.least_p > level)
                ends[few] = self._by_counts(row, level / n_tests)[few]
            if row.fold_error.any():
                half = _as_student(c, row.fold_degrees) * row.fold_error
                half[row.fold_error == 0] = -np.inf
                ends = np.stack(
                    [np.minimum(ends[:, 0], mean - half), np.maximum(ends[:, 1], mean + half)],
                    axis=1,
                )
        return np.clip(self.scale * ends, -self.span, self.span)

    def _by_counts(self, row: Row, level: float) -> FloatArray:
        """Bounds from the shares of wins and losses, each at most Clopper and Pearson's limit, times the span."""
        shares = special.betaincinv(
            row.counts + 1, np.fmax(self.n_effective - row.counts, 1e-9), 1 - level / 2
        )
        span = self.span if np.isfinite(self.span) else np.nan
        return np.array([-span, span]) / self.scale * shares


@dataclass(frozen=True)
class BestSet:
    """The rankings that may be the best (Hsu 1984, https://doi.org/10.1214/aos/1176346732)."""

    p_values: FloatArray  # that each is the best
    critical: FloatArray  # that each must exceed against another one
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
    def of_all_pairs(self) -> Family:
        """The same without a baseline."""
        return self if self.baseline is None else replace(self, baseline=None)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, the same in each part."""
        rankings = range(self.parts[0].sums.shape[1])
        if self.baseline is not None:
            return [(i, self.baseline) for i in rankings if i != self.baseline]
        return list(itertools.combinations(rankings, 2))

    @property
    def n_tests(self) -> int:
        """Number of p-values that are corrected together."""
        return len(self.pairs) * len(self.parts)

    @cached_property
    def _null(self) -> FloatArray:
        """Null distribution of the largest statistic of the family."""
        found = np.zeros(self.parts[0].flipped.shape[1])
        rankings = range(self.parts[0].sums.shape[1]) if self.baseline is None else [self.baseline]
        for part, i in itertools.product(self.parts, rankings):
            np.maximum(found, part.row_maximum(i), out=found)
        return found

    @cached_property
    def critical(self) -> float:
        """Critical value of the simultaneous intervals."""
        if self.n_tests == 1:
            return self.parts[0].critical(*self.pairs[0], self.level)
        return critical_value(self._null, self.level)

    @cached_property
    def p_adjusted(self) -> FloatArray:
        """Adjusted p-values, of shape (n_parts, n_rankings, n_rankings); NaN outside the family."""
        adjusted = np.array([[part.p_value(i, j) for i, j in self.pairs] for part in self.parts])
        if self.n_tests > 1 and self.correction == "max":
            z = np.array([[part.row(i).least_z[j] for i, j in self.pairs] for part in self.parts])
            adjusted = np.maximum(
                adjusted, self._step_down(z[0]) if len(z) == 1 else tail(self._null, z)
            )
        elif self.n_tests > 1 and self.correction is not None:
            adjusted = adjust(adjusted.ravel(), self.correction).reshape(adjusted.shape)
        n, (one, other) = self.parts[0].sums.shape[1], np.array(self.pairs).T
        found = np.full((len(self.parts), n, n), np.nan)
        found[:, one, other] = found[:, other, one] = adjusted
        return found

    def _step_down(self, z: FloatArray) -> FloatArray:
        """P-values adjusted by the maximum over the pairs that are not yet rejected (Westfall & Young 1993)."""
        running, adjusted = np.zeros(self.parts[0].flipped.shape[1]), np.empty(len(z))
        order = np.argsort(z, kind="stable")
        for place in order:
            np.maximum(running, self.parts[0].null(*self.pairs[place]), out=running)
            adjusted[place] = np.mean(running >= z[place])
        descending = order[::-1]
        adjusted[descending] = np.maximum.accumulate(adjusted[descending])
        return adjusted

    def tested(self, part: int, i: int, j: int) -> tuple[float, float, Interval, Interval]:
        """P-value and adjusted p-value, interval and simultaneous interval of one ranking minus another."""
        flips = self.parts[part]
        p, adjusted, ahead = (
            flips.p_value(i, j),
            float(self.p_adjusted[part, i, j]),
            flips.row(i).total[j] > 0,
        )
        alone = flips.intervals(i, flips.critical(i, j, self.level), self.level)[j]
        interval = _cut_at_zero(alone, rejected=p <= self.level, ahead=ahead)
        if np.isnan(adjusted) or self.correction is None:  # outside the family, or not corrected
            return p, adjusted, interval, (np.nan, np.nan) if np.isnan(adjusted) else interval
        together = flips.intervals(i, self.critical, self.level, self.n_tests)[j]
        return (
            p,
            adjusted,
            interval,
            _cut_at_zero(together, rejected=adjusted <= self.level, ahead=ahead),
        )

    def best_set(self, part: int = 0) -> BestSet:
        """The rankings that may be the best in a part.

        One leaves the set if it is significantly worse than another, by the maximum over all others, so the truly best
        one stays with probability >= confidence. Intervals and regret hold together with this.
        """
        flips, whole, n = self.parts[part], self.of_all_pairs, self.parts[part].sums.shape[1]
        critical, p_values, upper = (
            np.empty(n),
            np.empty(n),
            np.empty((n, n)),
        )  # upper ends of a row minus a column
        for i, row in enumerate(map(flips.row, range(n))):
            if whole.n_tests == 1:
                critical[i], p = whole.critical, np.full(n, flips.p_value(i, 1 - i))
            else:
                null = flips.row_maximum(i) if len(self.parts) == 1 else whole._null
                critical[i], p = (
                    critical_value(null, self.level),
                    np.maximum(tail(null, row.least_z), row.least_p),
                )
            p_values[i] = p[row.total < 0].min(initial=1.0)
            upper[i] = flips.intervals(i, critical[i], self.level, n - 1)[:, 1]
        inside = p_values > self.level
        upper[np.isnan(upper)] = np.inf
        np.fill_diagonal(upper, np.nan)
        regret = np.fmax(
            0.0, np.fmax.reduce(np.where(inside[:, None], upper, np.nan), axis=0, initial=0.0)
        )
        regret = np.where(inside & (inside.sum() == 1), 0.0, np.maximum(regret, SMALLEST))
        least = np.where(inside, np.maximum(np.fmin.reduce(upper, axis=1), SMALLEST), 0.0)
        intervals = np.stack([0.0 - regret, least], axis=1)
        return BestSet(
            p_values, critical, inside, np.where(np.isinf(intervals), np.nan, intervals), regret
        )


def _cut_at_zero(interval: FloatArray, *, rejected: bool, ahead: bool) -> Interval:
    """Make an interval exclude 0 exactly if the test rejects, despite rounding and corrections that reject more."""
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
        adjusted[order] = np.minimum.accumulate((p_values[order] * n / np.arange(1, n + 1))[::-1])[
            ::-1
        ]
    return adjusted.clip(max=1)


def tail(null: FloatArray, z: Any) -> Any:
    """Shares of a null distribution that are at least z."""
    return (len(null) - np.searchsorted(np.sort(null), z, side="left")) / len(null)


def critical_value(null: FloatArray, level: float) -> float:
    """Value that a statistic must exceed for its tail to be at most ``level``."""
    place = len(null) - 1 - int(np.floor(level * len(null) + 1e-9))
    return float(np.partition(null, place)[place])


def _summed(
    values: FloatArray, weights: FloatArray, codes: NDArray[Any]
) -> tuple[Hashes, FloatArray, FloatArray]:
    """Distinct codes in ascending order, and sums of values and weights by code."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=codes[order[:1]] + codes.dtype.type(1)))
    return (
        codes[order][starts],
        np.add.reduceat(values[order], starts),
        np.add.reduceat(weights[order], starts),
    )


def _divided(a: FloatArray | float, b: FloatArray) -> FloatArray:
    """Divide; 0 where the divisor is 0."""
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)


def _as_normal(t: FloatArray, n_degrees: FloatArray | float) -> FloatArray:
    """The normal quantile with the tail of Student's t."""
    return np.asarray(np.fmin(-special.ndtri(special.stdtr(np.fmax(n_degrees, 1e-9), -t)), 38.0))


def _as_student(z: FloatArray, n_degrees: FloatArray | float) -> FloatArray:
    return np.asarray(-special.stdtrit(np.fmax(n_degrees, 1e-9), special.ndtr(-z)))

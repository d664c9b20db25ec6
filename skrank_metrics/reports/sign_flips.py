"""Paired tests of rankings by one matrix of random signs, their corrections, and the set that contains the best.

Rankings are numbers or columns; larger values are better. Units, queries or groups of them, flip together.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.reports.fold_error import FoldVariation, WeightedSums, standard_error
from skrank_metrics.reports.mean_intervals import ROUNDING
from skrank_metrics.reports.plan import Test

# Number of sign vectors, the observed one included (Phipson & Smyth 2010), so no p-value is below 1 / 10,000.
N_SIGNS = 10_000
# All sign vectors are used for at most this many units that differ: 2^13 < 10,000.
MOST_ENUMERATED = 13
# More units than this are merged at random. Flipping them together has the same level, and the power of this many.
MOST_UNITS = 16_384
# Signs of this many units fit into the caches.
UNITS_AT_A_TIME = 128
# A standard normal variable exceeds this with the smallest probability that float64 can hold.
LARGEST_Z = 38.0


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
    test: Test = "permutation"
    span: float = np.inf  # largest difference possible
    folds: IntArray | None = None
    enumerates: bool = True  # False: random signs, which the tests of several slices can share
    noise: FloatArray | None = field(default=None, init=False)
    _rows: dict[int, Row] = field(default_factory=dict, init=False)
    _alone: dict[float, tuple[FloatArray, FloatArray]] = field(default_factory=dict, init=False)

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
        if len(self.hashes) < len(weighted):
            # Wins and losses within a unit that cancel each other leave what rounding makes of 0.
            self.noise = ROUNDING * _summed(np.abs(weighted), weights, units)[1]
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
        d = self.differences(i)
        total, squares, cross = d.sum(axis=0), (d * d).sum(axis=0), self.masses @ d
        sizes = np.abs(self.sums).sum(axis=0)
        rounding = 1e-14 * (sizes[i] + sizes)
        total[np.abs(total) <= rounding] = 0.0  # so that it has no sign
        error = standard_error(d, self.masses)
        counts, largest = (
            np.stack([(d < 0).sum(axis=0), (d > 0).sum(axis=0)], axis=1),
            np.abs(d).max(axis=0),
        )
        if self.test == "t":
            norm = error * self.total_mass * np.sqrt(1 - 1 / self.n_effective)
            z = _as_normal(_divided(np.abs(total) / self.total_mass, error), self.n_effective - 1)
            least_p = np.where(counts.any(axis=1), 0.0, 1.0)
            # Equal differences show no spread, so t is infinite even for two queries. That all of n units have the same
            # sign is decided by the signs alone.
            equal = (error == 0) & (total != 0)
            of_signs = np.minimum(1.0, 2.0 ** (1.0 - counts.sum(axis=1)))
            least_p[equal] = of_signs[equal]
            z[equal] = np.minimum(-special.ndtri(of_signs[equal] / 2), LARGEST_Z)
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
        least_z = z - (1e-9 + _divided(rounding, norm))
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

    def differences(self, i: int) -> FloatArray:
        """Weighted differences of units between one ranking and each of the others."""
        found = self.sums[:, i, None] - self.sums
        if self.noise is not None:
            found[np.abs(found) <= self.noise[:, i, None] + self.noise] = 0.0
        return found

    def flipped(self) -> FloatArray:
        """Sums of each ranking with random signs, of shape (n_rankings, n_signs); the first signs are all +.

        They are not kept, as there can be thousands of slices.
        """
        sums = self.sums
        if self.test == "t":
            sums = sums - self.masses[:, None] * (sums.sum(axis=0) / self.total_mass)
        spreads = np.ptp(sums, axis=1)
        changed = spreads > ROUNDING * spreads.max(initial=0.0)
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

    def nulls(self, i: int, flipped: FloatArray) -> FloatArray:
        """Null distributions of the statistics of one ranking against each of the others."""
        scale = _divided(1.0, self.row(i).norm)
        found = np.abs(flipped - flipped[i])
        found *= scale[:, None]
        return found

    def alone(
        self, level: float, flipped: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """P-values of all pairs, not corrected, and what their statistics must exceed to be significant at a level."""
        if level not in self._alone:
            self._alone[level] = self._tested_alone(level, flipped)
        return self._alone[level]

    def _tested_alone(
        self, level: float, flipped: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        n = self.sums.shape[1]
        p_values = np.ones((n, n))
        critical = np.full((n, n), -special.ndtri(level / 2))
        if self.test == "t":
            for i in range(n):
                p_values[i] = 2 * special.ndtr(-self.row(i).z)
            return p_values, critical
        flipped = self.flipped() if flipped is None else flipped
        place = place_of_critical(flipped.shape[1], level)
        for i in range(n):
            row = self.row(i)
            nulls = self.nulls(i, flipped)
            shares = np.mean(nulls >= row.least_z[:, None], axis=1)
            p_values[i] = np.maximum(shares, row.least_p)
            critical[i] = np.partition(nulls, place, axis=1)[:, place]
        return p_values, critical

    def intervals(
        self, i: int, critical: FloatArray | float, level: float, n_tests: int = 1
    ) -> FloatArray:
        """Intervals of one ranking minus each of the others, (n_rankings, 2), by inverting the test.

        A shift x of the mean is in the interval if |total - x mass| <= c sqrt(sum (d - x w)^2 + L^2 / 2). If too few
        units differ for the test to reject, it follows from wins and losses alone.
        """
        row = self.row(i)
        c = critical + (row.z - row.least_z)
        mean = row.total / self.total_mass
        with np.errstate(all="ignore"):
            if self.test == "t":
                half = _as_student(c, self.n_effective - 1) * row.error
                ends = np.stack([mean - half, mean + half], axis=1)
                without_spread = row.error == 0
                ends[without_spread] = self._by_flips(row, c, level, n_tests)[without_spread]
            else:
                ends = self._by_flips(row, c, level, n_tests)
            if row.fold_error.any():
                half = _as_student(c, row.fold_degrees) * row.fold_error
                half[row.fold_error == 0] = -np.inf
                ends = np.stack(
                    [np.minimum(ends[:, 0], mean - half), np.maximum(ends[:, 1], mean + half)],
                    axis=1,
                )
        return np.clip(self.scale * _leaning(ends, row.total), -self.span, self.span)

    def _by_flips(self, row: Row, c: FloatArray, level: float, n_tests: int) -> FloatArray:
        """Intervals in scaled units by inverting the sign-flip test, or by counts if it cannot reject."""
        mass = self.total_mass
        # The two roots of a x^2 - 2 b x + rest = 0.
        a = mass**2 - c**2 * self.square_mass
        b = row.total * mass - c**2 * row.cross
        rest = row.total**2 - c**2 * (row.squares + row.largest**2 / 2)
        half = np.sqrt(np.fmax(b**2 - a * rest, 0)) / a
        ends = np.stack([b / a - half, b / a + half], axis=1)
        few = (a <= 0) | (row.least_p > level)
        ends[few] = self._by_counts(row, level / n_tests)[few]
        return ends

    def _by_counts(self, row: Row, level: float) -> FloatArray:
        """Bounds from the shares of wins and losses, each at most Clopper and Pearson's limit, times the span."""
        shares = special.betaincinv(
            row.counts + 1, np.fmax(self.n_effective - row.counts, 1e-9), 1 - level / 2
        )
        span = self.span if np.isfinite(self.span) else np.nan
        return np.array([-span, span]) / self.scale * shares


def place_of_critical(n_signs: int, level: float) -> int:
    """Place in ascending order of what a statistic must exceed for its tail to be at most ``level``."""
    return n_signs - 1 - int(np.floor(level * n_signs + 1e-9))


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


def _leaning(ends: FloatArray, total: FloatArray) -> FloatArray:
    """Widen intervals so that the one ahead has at least as much to win as to lose.

    Counts of wins and losses, and unequal weights, can make more room on the other side, and then the one that leads
    would be the greater risk.
    """
    low, high = ends.T
    lowest = np.where(total <= 0, np.minimum(low, 0.0 - high), low)
    highest = np.where(total >= 0, np.maximum(high, 0.0 - low), high)
    return np.stack([lowest, highest], axis=1)


def _divided(a: FloatArray | float, b: FloatArray) -> FloatArray:
    """Divide; 0 where the divisor is 0."""
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)


def _as_normal(t: FloatArray, n_degrees: FloatArray | float) -> FloatArray:
    """The normal quantile with the tail of Student's t."""
    return np.asarray(
        np.fmin(-special.ndtri(special.stdtr(np.fmax(n_degrees, 1e-9), -t)), LARGEST_Z)
    )


def _as_student(z: FloatArray, n_degrees: FloatArray | float) -> FloatArray:
    return np.asarray(-special.stdtrit(np.fmax(n_degrees, 1e-9), special.ndtr(-z)))

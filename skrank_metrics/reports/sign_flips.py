"""Paired tests of all pairs of rankings by one matrix of random signs, in one set of queries.

Rankings are numbers or columns; larger values are better. Units, queries or groups of them, flip together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._input.id_hash import Hashes
from skrank_metrics.reports.fold_error import (
    NO_FOLDS,
    FoldError,
    FoldVariation,
    WeightedSums,
    standard_error,
)
from skrank_metrics.reports.mean_intervals import ROUNDING, special
from skrank_metrics.reports.plan import Test
from skrank_metrics.reports.signs import merged_units, sums_with_signs

# A standard normal variable exceeds this with the smallest probability that float64 can hold.
LARGEST_Z = 38.0
# Smaller differences are rounding, relative to the weights and the largest value.
SMALLEST_DIFFERENCE = 1e-14


def without_rounding(values: FloatArray) -> FloatArray:
    """Make the values in a row equal if they differ by rounding only: each run of them takes its smallest value."""
    ascending = np.sort(values, axis=1)
    steps = np.diff(ascending, axis=1)
    sizes = np.abs(ascending[:, [0, -1]]).max(axis=1, initial=0.0)
    # Hardly a row has such values, and what follows takes long.
    close = (steps > 0) & (steps <= ROUNDING * sizes[:, None])
    rows = np.flatnonzero(close.any(axis=1))
    if not len(rows):
        return values
    found = values.copy()
    found[rows] = _with_equal_runs(values[rows])
    return found


def _with_equal_runs(values: FloatArray) -> FloatArray:
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    steps = np.diff(ascending, axis=1)
    sizes = np.maximum(np.abs(ascending[:, 1:]), np.abs(ascending[:, :-1]))
    continues = steps <= ROUNDING * sizes
    for place in range(steps.shape[1]):
        rows = continues[:, place]
        ascending[rows, place + 1] = ascending[rows, place]
    found = np.empty_like(values)
    np.put_along_axis(found, order, ascending, axis=1)
    return found


@dataclass(frozen=True)
class Row:
    """One ranking minus each of the others, one entry per other ranking."""

    total: FloatArray  # weighted sum of the differences
    squares: FloatArray  # of the weighted differences of units
    cross: FloatArray  # their products with the weights of the units
    largest: FloatArray
    counts: IntArray  # number of units that lose and that win, of shape (n_rankings, 2)
    error: FloatArray  # standard error of the mean, from units
    of_folds: FoldError
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
    # Computed from these:
    scale: float = field(init=False)  # values are divided by it
    hashes: Hashes = field(init=False)  # of the units
    sums: FloatArray = field(init=False)  # (n_units, n_rankings), weighted and centred per query
    masses: FloatArray = field(init=False)  # (n_units,), sums of weights
    totals: FloatArray = field(init=False)  # weighted sums of the rankings, up to a constant
    variation: FoldVariation | None = field(init=False)
    n_units: int = field(init=False)  # before they are merged
    n_effective: float = field(init=False)  # number of units of equal weight as informative
    _rows: dict[int, Row] = field(default_factory=dict, init=False)
    _alone: dict[float, tuple[FloatArray, FloatArray]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        # Values can exceed the bounds of the metric, if it replaces undefined values.
        widest = np.ptp(self.values, axis=1).max(initial=0.0)
        self.span = max(self.span, float(widest))
        values = without_rounding(self.values)
        # This keeps the differences, and sums lose fewer digits.
        values = values - values.mean(axis=1, keepdims=True)
        # Scaling by a power of two is exact, and keeps squares from overflowing or vanishing.
        exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
        self.scale = 2.0**exponent
        weights = self.weights / self.weights.max()
        weighted = np.ldexp(values, -exponent)
        weighted *= weights[:, None]
        self._set_units(weighted, weights)
        self.variation = self._variation_of_folds(weighted, weights)

    def _set_units(self, weighted: FloatArray, weights: FloatArray) -> None:
        distinct, unit_of = np.unique(self.units, return_inverse=True)
        self.n_units = len(distinct)
        masses = np.bincount(unit_of, weights)
        self.n_effective = float(masses.sum() ** 2 / (masses @ masses))  # Kish 1965
        merged = merged_units(distinct)
        self.hashes, self.sums, self.masses = _summed(weighted, weights, merged[unit_of])
        self.totals = self.sums.sum(axis=0)
        self.total_mass = float(self.masses.sum())
        self.square_mass = float(self.masses @ self.masses)

    def _variation_of_folds(
        self, weighted: FloatArray, weights: FloatArray
    ) -> FoldVariation | None:
        if self.folds is None or np.ptp(self.folds) == 0:
            return None
        _, sums, masses = _summed(weighted, weights, self.folds)
        return FoldVariation(WeightedSums(sums, masses), WeightedSums(self.sums, self.masses))

    @property
    def fits_vary(self) -> bool:
        """Whether differences vary more between folds than queries explain."""
        return self.variation is not None and self.variation.fits_vary

    # Statistics

    def row(self, i: int) -> Row:
        """Statistics of one ranking against each of the others."""
        if i not in self._rows:
            self._rows[i] = self._row(i)
        return self._rows[i]

    def _row(self, i: int) -> Row:
        d, rounding = self._differences(i), self._rounding(i)
        total = d.sum(axis=0)
        total[np.abs(total) <= rounding] = 0.0  # so that it has no sign
        squares = np.einsum("ij,ij->j", d, d)
        largest = np.abs(d).max(axis=0)
        counts = np.stack([(d < 0).sum(axis=0), (d > 0).sum(axis=0)], axis=1)
        error = standard_error(d, self.masses)
        z = _divided(np.abs(total), np.sqrt(squares + largest**2 / 2))
        norm, least_p = np.sqrt(squares), _least_p(counts)
        if self.test == "t":
            z, norm, least_p = self._student(total, error, counts)
        of_folds = NO_FOLDS
        if self.variation is not None:
            # What varies is pooled over the rankings, but without any difference there is nothing to vary.
            of_folds = self.variation.error(i, counts.sum(axis=1) > 0)
            t = _divided(np.abs(total) / self.total_mass, of_folds.error)
            lower = np.fmin(z, _as_normal(t, of_folds.n_degrees))
            z = np.where(of_folds.error > 0, lower, z)
        return Row(
            total,
            squares,
            cross=self.masses @ d,
            largest=largest,
            counts=counts,
            error=error,
            of_folds=of_folds,
            norm=norm,
            z=z,
            # Random signs that give the same sum but for rounding must count as reaching it.
            least_z=z - (1e-9 + _divided(rounding, norm)),
            least_p=least_p,
        )

    def _student(
        self, total: FloatArray, error: FloatArray, counts: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Student's t as a normal quantile, the norm of sums with random signs, and the smallest p-values."""
        t = _divided(np.abs(total) / self.total_mass, error)
        z = _as_normal(t, self.n_effective - 1)
        least_p = np.where(counts.any(axis=1), 0.0, 1.0)
        # Equal differences show no spread, so t is infinite even for two queries. That all of n units have the same
        # sign is decided by the signs alone.
        equal = (error == 0) & (total != 0)
        least_p[equal] = _least_p(counts)[equal]
        z[equal] = np.minimum(-special().ndtri(least_p[equal] / 2), LARGEST_Z)
        # The standard error has n - 1 for n in its divisor, the norm has not.
        n_sums = self.total_mass**2 / self.square_mass
        return z, error * self.total_mass * np.sqrt(1 - 1 / n_sums), least_p

    def _differences(self, i: int) -> FloatArray:
        """Weighted differences of units between one ranking and each of the others."""
        found = self.sums[:, i, None] - self.sums
        # Wins and losses within a group that cancel each other leave what rounding makes of 0; values are at most 1.
        found[np.abs(found) <= SMALLEST_DIFFERENCE * self.masses[:, None]] = 0.0
        return found

    def _rounding(self, i: int) -> FloatArray:
        """How far totals can be off."""
        sizes = np.abs(self.sums).sum(axis=0)
        return np.asarray(1e-14 * (sizes[i] + sizes))

    # Null distributions

    def flipped(self) -> FloatArray:
        """Sums of each ranking with random signs, of shape (n_rankings, n_signs); the first signs are all +.

        They are not kept, as there can be thousands of slices.
        """
        sums = self.sums
        if self.test == "t":
            means = sums.sum(axis=0) / self.total_mass
            sums = sums - self.masses[:, None] * means
        spreads = np.ptp(sums, axis=1)
        differs: Mask = spreads > ROUNDING * spreads.max(initial=0.0)
        return sums_with_signs(
            sums[differs], self.hashes[differs], self.seed, enumerates=self.enumerates
        )

    def nulls(self, i: int, flipped: FloatArray, others: slice | IntArray) -> FloatArray:
        """Null distributions of the statistics of one ranking against some others."""
        scale = _divided(1.0, self.row(i).norm[others])
        found = np.abs(flipped[others] - flipped[i])
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
        n_rankings = self.sums.shape[1]
        p_values = np.ones((n_rankings, n_rankings))
        critical = np.full((n_rankings, n_rankings), -special().ndtri(level / 2))
        if self.test == "t":
            for i in range(n_rankings):
                p_values[i] = 2 * special().ndtr(-self.row(i).z)
            return p_values, critical
        if flipped is None:
            flipped = self.flipped()
        place = place_of_critical(flipped.shape[1], level)
        for i in range(n_rankings - 1):
            row = self.row(i)
            others = slice(i + 1, None)
            nulls = self.nulls(i, flipped, others)
            reached = np.count_nonzero(nulls >= row.least_z[others, None], axis=1)
            shares = reached / flipped.shape[1]
            p_values[i, others] = p_values[others, i] = np.maximum(shares, row.least_p[others])
            nulls.partition(place, axis=1)
            critical[i, others] = critical[others, i] = nulls[:, place]
        return p_values, critical

    # Intervals

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
            ends = self._by_flips(row, c, level, n_tests)
            if self.test == "t":
                half = _as_student(c, self.n_effective - 1) * row.error
                varies = (row.error > 0)[:, None]
                ends = np.where(varies, _around(mean, half), ends)
            if row.of_folds.error.any():
                half = _as_student(c, row.of_folds.n_degrees) * row.of_folds.error
                half[row.of_folds.error == 0] = -np.inf
                ends = hull(ends, _around(mean, half))
        return np.clip(self.scale * _leaning(ends, row.total), -self.span, self.span)

    def _by_flips(self, row: Row, c: FloatArray, level: float, n_tests: int) -> FloatArray:
        """Intervals in scaled units by inverting the sign-flip test, or by counts if it cannot reject."""
        # The two roots of a x^2 - 2 b x + rest = 0.
        a = self.total_mass**2 - c**2 * self.square_mass
        b = row.total * self.total_mass - c**2 * row.cross
        rest = row.total**2 - c**2 * (row.squares + row.largest**2 / 2)
        # Rounding can make the difference negative, although there are roots.
        root = np.sqrt(np.fmax(b**2 - a * rest, 0))
        ends = _around(b / a, root / a)
        few = (a <= 0) | (row.least_p > level)
        if few.any():
            ends[few] = self._by_counts(row, level / n_tests)[few]
        return ends

    def _by_counts(self, row: Row, level: float) -> FloatArray:
        """Bounds from the shares of wins and losses, each at most Clopper and Pearson's limit, times the span."""
        # If differences have no bound, counts of wins and losses do not bound their mean.
        if np.isinf(self.span):
            return np.full(row.counts.shape, np.nan)
        # The beta distribution needs a parameter above 0, even if all units win or all lose.
        n_others = np.fmax(self.n_effective - row.counts, 1e-9)
        shares = special().betaincinv(row.counts + 1, n_others, 1 - level / 2)
        return np.array([-self.span, self.span]) / self.scale * shares


def place_of_critical(n_signs: int, level: float) -> int:
    """Place in ascending order of what a statistic must exceed for its tail to be at most ``level``."""
    # A product such as 0.29 * 100 is rounded to slightly less than the whole number.
    return n_signs - 1 - int(np.floor(level * n_signs + 1e-9))


def hull(one: FloatArray, other: FloatArray) -> FloatArray:
    """Intervals that contain those of both."""
    lows = np.minimum(one[:, 0], other[:, 0])
    highs = np.maximum(one[:, 1], other[:, 1])
    return np.stack([lows, highs], axis=1)


def _around(middle: FloatArray, half: FloatArray) -> FloatArray:
    return np.stack([middle - half, middle + half], axis=1)


def _summed(
    values: FloatArray, weights: FloatArray, codes: NDArray[Any]
) -> tuple[NDArray[Any], FloatArray, FloatArray]:
    """Distinct codes in ascending order, and sums of values and weights by code."""
    # Stable, so that the values of a unit are always added in the order of the queries.
    order = np.argsort(codes, kind="stable")
    ascending = codes[order]
    is_first = np.ones(len(codes), dtype=bool)
    is_first[1:] = ascending[1:] != ascending[:-1]
    starts = np.flatnonzero(is_first)
    sums = np.add.reduceat(values[order], starts)
    masses = np.add.reduceat(weights[order], starts)
    return ascending[starts], sums, masses


def _least_p(counts: IntArray) -> FloatArray:
    """The p-value of a sign-flip test if all units have the same sign."""
    return np.asarray(np.minimum(1.0, 2.0 ** (1.0 - counts.sum(axis=1))))


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
    # A single unit has no degrees of freedom, for which SciPy returns NaN.
    # A tail that vanishes in float64 has an infinite quantile, so the quantile is limited.
    tail = special().stdtr(np.fmax(n_degrees, 1e-9), -t)
    return np.asarray(np.fmin(-special().ndtri(tail), LARGEST_Z))


def _as_student(z: FloatArray, n_degrees: FloatArray | float) -> FloatArray:
    """The quantile of Student's t with the tail of a standard normal variable."""
    tail = special().ndtr(-z)
    return np.asarray(-special().stdtrit(np.fmax(n_degrees, 1e-9), tail))

"""Paired tests of all pairs of rankings by one matrix of random signs, in one set of queries.

Rankings are numbers, or rows and columns; larger values are better. Units, queries or groups of them, flip together.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.decisions.fold_error import FoldErrors, fold_errors
from skrank_metrics.decisions.plan import Test
from skrank_metrics.reports.mean_intervals import ROUNDING, n_effective, special, standard_error

# A standard normal variable exceeds this with the smallest probability that float64 can hold.
LARGEST_Z = 38.0
# Smaller differences are rounding, relative to the weights and the largest value.
SMALLEST_DIFFERENCE = 1e-14
# Number of sign vectors, the observed one included (Phipson & Smyth 2010), so no p-value of signs is below 1 / 10,000.
N_SIGNS = 10_000
# For at most this many units that differ, all sign vectors are used, of which half give the same sums as the others.
MOST_ENUMERATED = 13
# More units than this are merged at random. Flipping them together has the same level, and nearly the same power: the
# largest difference counts more, but this is less than 1% of the norm.
MOST_UNITS = 4_096
# Signs of this many units fit into the caches.
UNITS_AT_A_TIME = 128


def without_rounding(values: FloatArray) -> FloatArray:
    """Make the values in a row equal if they differ by rounding only: each run of them takes its smallest value."""
    ascending = np.sort(values, axis=1)
    right = ascending[:, 1:]
    steps = np.diff(ascending, axis=1)
    continues = steps <= ROUNDING * np.abs(right)
    # Hardly a row has such values, and what follows takes long.
    rows = np.flatnonzero((continues & (steps > 0)).any(axis=1))
    right[continues] = -np.inf
    smallest = np.maximum.accumulate(ascending[rows], axis=1)
    order = np.argsort(values[rows], axis=1, kind="stable")
    np.put_along_axis(smallest, order, smallest.copy(), axis=1)
    found = values.copy()
    found[rows] = smallest
    return found


class PairStatistics(NamedTuple):
    """Rankings of rows minus those of columns, (n_rankings, n_rankings)."""

    total: FloatArray  # weighted sum of the differences
    squares: FloatArray  # of the weighted differences of units
    cross: FloatArray  # their products with the weights of the units
    largest: FloatArray
    counts: FloatArray  # numbers of units that lose and that win, (n_rankings, n_rankings, 2)
    error: FloatArray  # standard error of the mean, from units
    of_folds: FoldErrors
    norm: FloatArray  # by which sums with random signs are divided
    z: FloatArray
    least_z: FloatArray  # z less the rounding in sums
    least_p: FloatArray  # smallest p-values possible with so many units that differ: all positive or all negative


@dataclass
class SignFlips:
    """Tests of all pairs of rankings over the same queries.

    With d the weighted differences of the units and L the largest of them, the statistic of a pair is
    |sum d| / sqrt(sum d^2 + L^2 / 2), as if half a win and half a loss of that size had been seen, too. It is compared
    with |sum e d| / sqrt(sum d^2) for vectors e of random signs, so that pairs of unlike spread share one maximum, as
    signs do not change the norm. With test="t", it is Student's t as a normal quantile, and signs flip the residuals.
    """

    values: FloatArray  # (n_queries, n_rankings), finite
    weights: FloatArray  # (n_queries,), above 0
    units: Hashes  # (n_queries,); equal for queries that flip together
    seed: int
    test: Test = "permutation"
    span: float = np.inf  # largest difference possible
    folds: IntArray | None = None
    enumerates: bool = True  # False: random signs, which the tests of several slices can share

    def __post_init__(self) -> None:
        # Values can exceed the bounds of the metric, if it replaces undefined values.
        widest = np.ptp(self.values, axis=1).max(initial=0.0)
        self.span = max(self.span, float(widest))
        values = without_rounding(self.values)
        # This keeps the differences, and sums lose fewer digits.
        values -= values.mean(axis=1, keepdims=True)
        # Scaling by a power of two is exact, and keeps squares from overflowing or vanishing.
        exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
        self.scale = 2.0**exponent  # values are divided by it
        weights = self.weights / self.weights.max()
        weighted = np.ldexp(values, -exponent)
        weighted *= weights[:, None]

        distinct, unit_of = np.unique(self.units, return_inverse=True)
        self.n_units = len(distinct)  # before they are merged
        # Number of units of equal weight as informative.
        self.n_effective = n_effective(np.bincount(unit_of, weights).astype(float))
        merged = merged_units(distinct)[unit_of]
        # Of units: sums of values, (n_units, n_rankings), weighted and centred per query, and sums of weights.
        self.hashes, self.sums, self.masses = _summed(weighted, weights, merged)
        self.totals = self.sums.sum(axis=0)  # of the rankings, up to a constant
        self.total_mass = float(self.masses.sum())
        self.square_mass = float(self.masses @ self.masses)
        # Sums and masses of several folds.
        self.by_fold: tuple[FloatArray, FloatArray] | None = None
        if self.folds is not None and np.ptp(self.folds) > 0:
            _, sums, masses = _summed(weighted, weights, self.folds)
            self.by_fold = sums, masses

    @property
    def n_rankings(self) -> int:
        """Number of rankings."""
        return int(self.sums.shape[1])

    # Statistics

    @cached_property
    def statistics(self) -> PairStatistics:
        """Statistics of all pairs."""
        rows = [self._sums_of_row(i) for i in range(self.n_rankings)]
        total, squares, cross, largest, n_lost, n_won, error = np.stack(rows, axis=1)
        counts = np.stack([n_lost, n_won], axis=2)
        sizes = np.abs(self.sums).sum(axis=0)
        rounding = 1e-14 * (sizes[:, None] + sizes)
        total[np.abs(total) <= rounding] = 0.0  # so that it has no sign
        differs = n_lost + n_won > 0
        least_p = np.minimum(1.0, 2.0 ** (1.0 - n_lost - n_won))
        norm = np.sqrt(squares)
        z = divided(np.abs(total), np.sqrt(squares + largest**2 / 2))
        if self.test == "t":
            z = self._student(total, error, least_p)
            # The standard error has n - 1 for n in its divisor, the norm has not.
            norm = error * self.total_mass * np.sqrt(1 - 1 / n_effective(self.masses))
            # Equal differences alone are decided by the signs.
            least_p = np.where((error == 0) & (total != 0), least_p, ~differs)
        # What varies is pooled over the rankings, but without any difference there is nothing to vary.
        of_folds = FoldErrors(np.zeros_like(z), np.ones_like(z), fits_vary=False)
        if self.by_fold is not None:
            of_folds = fold_errors(error, n_effective(self.masses), *self.by_fold, differs)
        t = divided(np.abs(total) / self.total_mass, of_folds.error)
        lower = np.fmin(z, _as_normal(t, of_folds.n_degrees))
        z = np.where(of_folds.error > 0, lower, z)
        # Random signs that give the same sum but for rounding must count as reaching it.
        least_z = z - (1e-9 + divided(rounding, norm))
        return PairStatistics(
            total, squares, cross, largest, counts, error, of_folds, norm, z, least_z, least_p
        )

    def _sums_of_row(self, i: int) -> FloatArray:
        """Sums over units of one ranking minus each."""
        d = self.sums[:, i, None] - self.sums
        # Wins and losses within a group that cancel each other leave what rounding makes of 0; values are at most 1.
        d[np.abs(d) <= SMALLEST_DIFFERENCE * self.masses[:, None]] = 0.0
        return np.stack(
            [
                d.sum(axis=0),
                np.einsum("ij,ij->j", d, d),
                self.masses @ d,
                np.abs(d).max(axis=0),
                (d < 0).sum(axis=0),
                (d > 0).sum(axis=0),
                standard_error(d, self.masses),
            ]
        )

    def _student(self, total: FloatArray, error: FloatArray, least_p: FloatArray) -> FloatArray:
        """Student's t as a normal quantile."""
        t = divided(np.abs(total) / self.total_mass, error)
        z = _as_normal(t, self.n_effective - 1)
        # Equal differences show no spread, so t is infinite even for two queries. That all of n units have the same
        # sign is decided by the signs alone.
        equal = (error == 0) & (total != 0)
        z[equal] = np.minimum(-special().ndtri(least_p[equal] / 2), LARGEST_Z)
        return z

    # Null distributions

    def flipped(self) -> FloatArray:
        """Sums of each ranking with random signs, of shape (n_rankings, n_signs); the first signs are all +.

        They are not kept, as there can be thousands of slices.
        """
        sums = self.sums
        if self.test == "t":
            means = self.totals / self.total_mass
            sums = sums - self.masses[:, None] * means
        spreads = np.ptp(sums, axis=1)
        differs: Mask = spreads > ROUNDING * spreads.max(initial=0.0)
        return sums_with_signs(
            sums[differs], self.hashes[differs], self.seed, enumerates=self.enumerates
        )

    def null(self, i: int, j: int, flipped: FloatArray) -> FloatArray:
        """Null distribution of the statistic of one pair."""
        norm = self.statistics.norm[i, j]
        return np.abs(flipped[i] - flipped[j]) * (1.0 / norm if norm > 0 else 0.0)

    # Intervals

    def intervals(self, critical: FloatArray | float, level: float, n_tests: int = 1) -> FloatArray:
        """Intervals of the means of all pairs, (n_rankings, n_rankings, 2), by inverting the test.

        A shift x of the mean is in the interval if |total - x mass| <= c sqrt(sum (d - x w)^2 + L^2 / 2). If too few
        units differ for the test to reject, it follows from wins and losses alone.
        """
        pairs, of_folds = self.statistics, self.statistics.of_folds
        c = critical + (pairs.z - pairs.least_z)
        mean = pairs.total / self.total_mass
        with np.errstate(all="ignore"):
            ends = self._by_flips(c, level, n_tests)
            if self.test == "t":
                half = _as_student(c, self.n_effective - 1) * pairs.error
                varies = (pairs.error > 0)[..., None]
                ends = np.where(varies, _around(mean, half), ends)
            if of_folds.error.any():
                half = _as_student(c, of_folds.n_degrees) * of_folds.error
                half[of_folds.error == 0] = -np.inf
                ends = hull(ends, _around(mean, half))
        return np.clip(self.scale * _leaning(ends, pairs.total), -self.span, self.span)

    def _by_flips(self, c: FloatArray, level: float, n_tests: int) -> FloatArray:
        """Intervals in scaled units by inverting the sign-flip test, or by counts if it cannot reject."""
        pairs = self.statistics
        # The two roots of a x^2 - 2 b x + rest = 0.
        a = self.total_mass**2 - c**2 * self.square_mass
        b = pairs.total * self.total_mass - c**2 * pairs.cross
        rest = pairs.total**2 - c**2 * (pairs.squares + pairs.largest**2 / 2)
        # Rounding can make the difference negative, although there are roots.
        root = np.sqrt(np.fmax(b**2 - a * rest, 0))
        ends = _around(b / a, root / a)
        few = (a <= 0) | (pairs.least_p > level)
        ends[few] = self._by_counts(pairs.counts[few], level / n_tests)
        return ends

    def _by_counts(self, counts: FloatArray, level: float) -> FloatArray:
        """Bounds from the shares of losses and wins, each at most Clopper and Pearson's limit, times the span."""
        # If differences have no bound, counts of wins and losses do not bound their mean.
        if np.isinf(self.span):
            return np.full(counts.shape, np.nan)
        # The beta distribution needs a parameter above 0, even if all units win or all lose.
        n_others = np.fmax(self.n_effective - counts, 1e-9)
        shares = special().betaincinv(counts + 1, n_others, 1 - level / 2)
        return np.array([-self.span, self.span]) / self.scale * shares


def place_of_critical(n_signs: int, level: float) -> int:
    """Place in ascending order of what a statistic must exceed for its tail to be at most ``level``."""
    # A product such as 0.29 * 100 is rounded to slightly less than the whole number.
    return n_signs - 1 - int(np.floor(level * n_signs + 1e-9))


def hull(one: FloatArray, other: FloatArray) -> FloatArray:
    """Intervals that contain those of both."""
    lows = np.minimum(one[..., 0], other[..., 0])
    highs = np.maximum(one[..., 1], other[..., 1])
    return np.stack([lows, highs], axis=-1)


def _around(middle: FloatArray, half: FloatArray) -> FloatArray:
    return np.stack([middle - half, middle + half], axis=-1)


def _summed(
    values: FloatArray, weights: FloatArray, codes: NDArray[Any]
) -> tuple[NDArray[Any], FloatArray, FloatArray]:
    """Distinct codes in ascending order, and sums of values and weights by code."""
    # Stable, so that the values of a unit are always added in the order of the queries.
    order = np.argsort(codes, kind="stable")
    distinct, starts = np.unique(codes[order], return_index=True)
    sums = np.add.reduceat(values[order], starts)
    return distinct, sums, np.add.reduceat(weights[order], starts)


def _leaning(ends: FloatArray, total: FloatArray) -> FloatArray:
    """Widen intervals so that the one ahead has at least as much to win as to lose.

    Counts of wins and losses, and unequal weights, can make more room on the other side, and then the one that leads
    would be the greater risk.
    """
    turned = 0.0 - ends[..., ::-1]
    is_side = np.stack([total <= 0, total >= 0], axis=-1)
    return np.where(is_side, hull(ends, turned), ends)


def divided(a: FloatArray | float, b: FloatArray) -> FloatArray:
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


# Random signs of queries, or of groups of them


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


def merged_units(units: Hashes) -> Hashes:
    """The units, or fewer if there are too many."""
    if len(units) <= MOST_UNITS:
        return units
    return hash_ids(units) % np.uint64(MOST_UNITS)


def random_bits(hashes: Hashes, n_bits: int, seed: int) -> NDArray[np.uint8]:
    """Bits of each unit, by its hash and the seed only: a stream of SplitMix64 (Steele, Lea & Flood 2014)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    salt = hash_ids(np.array([seed], dtype=np.uint64) + golden)
    start = hash_ids(hash_ids(hashes ^ salt))
    n_words = -(-n_bits // 64)
    words = hash_ids(start[:, None] + golden * np.arange(n_words, dtype=np.uint64))
    as_bytes = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=n_bits)


def all_signs(n_units: int) -> FloatArray:
    """All vectors of signs, of which e and -e give the same |sum|, so one of them is enough; the first is all +."""
    numbers = np.arange(2 ** max(0, n_units - 1))
    bits = numbers[:, None] >> np.arange(n_units) & 1
    return np.asarray(1.0 - 2.0 * bits)


def sums_with_signs(sums: FloatArray, hashes: Hashes, seed: int, *, enumerates: bool) -> FloatArray:
    """Sums of columns with random signs of the rows, of shape (n_columns, n_signs).

    The first signs are all +. If few rows differ, all signs are used, unless several sets of rows are to share them.
    """
    if enumerates and len(sums) <= MOST_ENUMERATED:
        return np.asarray(sums.T @ all_signs(len(sums)).T)
    # sum of e x = sum of x - 2 (sum of those x that have a minus)
    total = np.repeat(sums.sum(axis=0)[:, None], N_SIGNS, axis=1)
    is_minus = np.empty((UNITS_AT_A_TIME, N_SIGNS))
    for start in range(0, len(sums), UNITS_AT_A_TIME):
        block = slice(start, start + UNITS_AT_A_TIME)
        bits = is_minus[: len(hashes[block])]
        bits[...] = random_bits(hashes[block], N_SIGNS, seed)
        bits[:, 0] = 0.0
        total -= (2 * sums[block].T) @ bits
    return total

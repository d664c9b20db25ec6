"""Tests of all pairs of rankings by random signs of units, which are queries or groups of them, in one sample.

Arrays of pairs have one entry per pair, in the order of ``np.triu_indices(n_rankings, 1)``; the second ranking is
subtracted. Larger values are better.

With d the weighted differences of the units and L the largest of them, the statistic of a pair is
|sum d| / sqrt(sum d^2 + L^2 / 2), as if half a win and half a loss of that size had been seen, too. It is compared with
|sum e d| / sqrt(sum d^2) for vectors e of random signs, which all pairs share. The sum is linear in d and the root is a
norm of d, so if A is better than B and B than C, the statistic of A and C is at least the smaller of the other two:
with one critical value, "significantly better" is transitive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics.reports.mean_intervals import ROUNDING, n_effective, special, standard_error

# A standard normal variable exceeds this with the smallest probability that float64 can hold.
LARGEST_Z = 38.0
# Random signs that give the same sum but for rounding must count as reaching it.
TIED = 1e-9
# The share of the variance over queries that all fits have in common, which no difference between folds shows. Measured
# with real fits, see docs/measurements.md; it is (F - 1) / F times this for F folds.
SHARED = 5 / 4
# Number of sign vectors, the observed one included (Phipson & Smyth 2010), so no p-value of signs is below 1 / 10,000.
N_SIGNS = 10_000
# For at most this many units that differ, all sign vectors are used, of which half give the same sums as the others.
MOST_ENUMERATED = 13
# More units than this are merged at random. Flipping them together has the same level, and nearly the same power: the
# largest difference counts more, but this is less than 1% of the norm.
MOST_UNITS = 4_096
# Signs of this many units fit into the caches.
UNITS_AT_A_TIME = 128


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


@dataclass(frozen=True, eq=False)
class Sample:
    """Values of all rankings on the same queries, of which larger ones are better."""

    values: FloatArray  # (n_queries, n_rankings), finite
    means: FloatArray  # (n_rankings,), as they are reported
    weights: FloatArray  # (n_queries,), above 0
    units: Hashes  # (n_queries,); equal for queries that change their sign together
    bounds: tuple[float, float] = (0.0, 1.0)  # of the metric
    folds: IntArray | None = None  # in which each query was tested


# Units


class Units(NamedTuple):
    """Sums over the queries of each unit, which may also be a fold."""

    codes: NDArray[Any]  # distinct, ascending
    sums: FloatArray  # (n_units, n_rankings), weighted
    masses: FloatArray  # (n_units,), sums of weights


def sum_units(values: FloatArray, weights: FloatArray, codes: NDArray[Any]) -> Units:
    """Add up weighted values, one row per query, and weights, by the code of the query."""
    # A stable sort adds the values of a unit in the order of the queries, always the same.
    order = np.argsort(codes, kind="stable")
    distinct, starts = np.unique(codes[order], return_index=True)
    sums = np.add.reduceat(values[order], starts)
    return Units(distinct, sums, np.add.reduceat(weights[order], starts))


# Pairs


class Pairs(NamedTuple):
    """Sums over units of the differences of each pair, (n_pairs,)."""

    total: FloatArray  # sum of the weighted differences
    sizes: FloatArray  # of their absolute values
    squares: FloatArray
    cross: FloatArray  # of their products with the masses
    largest: FloatArray  # largest absolute value
    n_lost: FloatArray  # number of units that lose
    n_won: FloatArray
    error: FloatArray  # standard error of the mean difference
    asymmetry: FloatArray  # skewness divided by the root of the number of units


def sum_pairs(units: Units) -> Pairs:
    """Compare all rankings over units of which no value is larger than the mass."""
    n_rankings = units.sums.shape[1]
    rows = [_sum_row(units, i) for i in range(n_rankings - 1)]
    return Pairs(*np.concatenate(rows, axis=1))


def _sum_row(units: Units, i: int) -> FloatArray:
    """Sums of one ranking minus each that follows, (n_sums, n_following)."""
    d = units.sums[:, i, None] - units.sums[:, i + 1 :]
    d[np.abs(d) <= ROUNDING * units.masses[:, None]] = 0.0
    absolute = np.abs(d)
    sizes = absolute.sum(axis=0)
    total = d.sum(axis=0)
    total[np.abs(total) <= ROUNDING * sizes] = 0.0  # so that it has no sign
    return np.stack(
        [
            total,
            sizes,
            np.einsum("ij,ij->j", d, d),
            units.masses @ d,
            absolute.max(axis=0),
            (d < 0).sum(axis=0),
            (d > 0).sum(axis=0),
            standard_error(d, units.masses),
            _asymmetry(d, units.masses),
        ]
    )


def _asymmetry(d: FloatArray, masses: FloatArray) -> FloatArray:
    residuals = d - masses[:, None] * (d.sum(axis=0) / masses.sum())
    squares = np.einsum("ij,ij->j", residuals, residuals)
    cubes = np.einsum("ij,ij,ij->j", residuals, residuals, residuals)
    varies = squares > ROUNDING**2 * np.einsum("ij,ij->j", d, d)
    return np.where(varies, divided(cubes, squares**1.5), 0.0)


def null_statistics(
    units: Units, pairs: Pairs, seed: int, *, enumerates: bool
) -> Iterator[FloatArray]:
    """Statistics with random signs of the pairs of each ranking and those that follow, (n_following, n_signs)."""
    spreads = np.ptp(units.sums, axis=1)
    differs = spreads > ROUNDING * units.masses
    flipped = sums_with_signs(
        units.sums[differs], units.codes[differs], seed, enumerates=enumerates
    )
    inverse = divided(np.ones_like(pairs.squares), np.sqrt(pairs.squares))
    start = 0
    for i in range(len(flipped) - 1):
        null = np.abs(flipped[i] - flipped[i + 1 :])
        null *= inverse[start : start + len(null), None]
        start += len(null)
        yield null


# Out of fold


class FoldErrors(NamedTuple):
    """Standard errors of all pairs out of fold, (n_pairs,), with their degrees of freedom."""

    error: FloatArray
    n_degrees: float
    vary: bool  # whether differences vary more between folds than queries explain


def fold_errors(pairs: Pairs, units: Units, folds: Units) -> FoldErrors:
    """Standard errors that allow for other training data, pooled over the rankings.

    With q the standard error over queries, f the one over the means of F folds, Q^2 and M^2 the means of q^2 and f^2
    over all pairs,

        error^2 = (1 + 5/4 (F - 1) / F) max(q^2, (q^2 + f^2 + max(0, M^2 - Q^2)) / 2)

    Half of what varies over folds is that of the pair, half that of all pairs, since a few folds estimate a variance
    badly. The factor counts what all fits have in common (Nadeau & Bengio 2003,
    https://doi.org/10.1023/A:1024068626366). The error is a norm of the differences, and all pairs have the same
    degrees of freedom (Satterthwaite 1946), so that "significantly better" is transitive.
    """
    n_folds, n_rankings = folds.sums.shape
    one, other = np.triu_indices(n_rankings, 1)
    of_queries = pairs.error**2
    of_folds = standard_error(folds.sums[:, one] - folds.sums[:, other], folds.masses) ** 2
    all_queries, all_folds = float(of_queries.mean()), float(of_folds.mean())
    added = max(0.0, all_folds - all_queries)
    total = np.maximum(of_queries, (of_queries + of_folds + added) / 2)

    n_degrees = max(n_effective(units.masses) - 1, ROUNDING)
    # With one query per fold both are equal but for rounding, on which degrees of freedom must not depend.
    vary = added > ROUNDING * all_queries
    if vary:
        of_fits = _n_degrees(n_effective(folds.masses), n_rankings)
        uncertainty = all_queries**2 / n_degrees + all_folds**2 / of_fits
        n_degrees = float(total.mean()) ** 2 / uncertainty
    factor = 1 + SHARED * (n_folds - 1) / n_folds
    # Without any difference, there is nothing to vary.
    error = np.where(pairs.largest > 0, np.sqrt(factor * total), 0.0)
    return FoldErrors(error, n_degrees, vary)


def _n_degrees(n_folds: float, n_rankings: int) -> float:
    """Degrees of freedom of a variance that is half of a pair and half of all pairs.

    The pair itself is one of n_rankings - 1 independent parts of all pairs.
    """
    n_degrees = max(n_folds - 1, ROUNDING)
    if n_rankings == 2:
        return n_degrees
    of_pair = (1 + 1 / (n_rankings - 1)) / 2
    of_others = 1 - of_pair
    return n_degrees / (of_pair**2 + of_others**2 / (n_rankings - 2))


# All of it


class PairTests:
    """Tests of all pairs in one sample. Values are divided by ``scale``, which makes them at most 1."""

    def __init__(self, sample: Sample) -> None:
        values = sample.values
        range_of_metric = sample.bounds[1] - sample.bounds[0]
        # Values can exceed the bounds, if undefined ones are replaced.
        self.span = max(range_of_metric, float(np.ptp(values, axis=1).max()))
        self.largest_loss = float(values.max() - values.min(initial=sample.bounds[0]))
        is_extreme = (values == values.min()) | (values == values.max())
        self.step = float(np.ptp(values)) if is_extreme.all() else 0.0
        # What is rounding is judged against the range of the metric. A power of two keeps all digits.
        largest = np.abs(values).max()
        if np.isfinite(range_of_metric):
            largest = max(largest, range_of_metric)
        exponent = int(np.frexp(largest)[1])
        self.scale = 2.0**exponent
        scaled = np.ldexp(values, -exponent)
        # This keeps the differences, and sums lose fewer digits.
        scaled -= scaled.mean(axis=1, keepdims=True)
        self._add_up(scaled, sample)
        self._test()

    def _add_up(self, scaled: FloatArray, sample: Sample) -> None:
        """Sums over units and pairs."""
        weights = sample.weights / sample.weights.max()
        weighted = scaled * weights[:, None]
        distinct, unit_of = np.unique(sample.units, return_inverse=True)
        self.n_queries, self.n_units = len(scaled), len(distinct)
        self.n_effective = n_effective(np.bincount(unit_of, weights).astype(float))
        self.units = sum_units(weighted, weights, merged_units(distinct)[unit_of])
        self.pairs = sum_pairs(self.units)
        self.mass = float(self.units.masses.sum())
        self.square_mass = float(self.units.masses @ self.units.masses)
        self.mean = self.pairs.total / self.mass
        no_error = np.zeros_like(self.mean)
        self.out_of_fold = FoldErrors(no_error, 1.0, vary=False)
        if sample.folds is not None and np.ptp(sample.folds) > 0:
            self.out_of_fold = fold_errors(
                self.pairs, self.units, sum_units(weighted, weights, sample.folds)
            )

    def _test(self) -> None:
        """Statistics of all pairs, less the rounding in sums."""
        # The smallest p-value with so many units that differ: all win or all lose.
        self.least_p = np.minimum(1.0, 2.0 ** (1.0 - self.pairs.n_lost - self.pairs.n_won))
        sizes = np.abs(self.units.sums).sum(axis=0)
        one, other = np.triu_indices(len(sizes), 1)
        rounding = 1e-14 * (sizes[one] + sizes[other])
        self.tolerance = TIED + divided(rounding, np.sqrt(self.pairs.squares))
        # The norm is that of the units, and of half a win and half a loss of the largest size.
        self.norm = np.sqrt(self.pairs.squares + self.pairs.largest**2 / 2)
        self.z_of_signs = divided(np.abs(self.pairs.total), self.norm)
        # A larger one rejects also shifts away from 0, so that the sign is unknown; only unequal weights allow it.
        most = np.sqrt(self.mass**2 / self.square_mass)
        z = np.minimum(self.z_of_signs, most)
        error, n_degrees, _ = self.out_of_fold
        tail = special().stdtr(n_degrees, -divided(np.abs(self.mean), error))
        z_of_folds = np.minimum(-special().ndtri(tail), LARGEST_Z)
        self.least_z = np.where(error > 0, np.minimum(z, z_of_folds), z) - self.tolerance

    def intervals(
        self, critical: float, level: float, n_tests: int
    ) -> tuple[FloatArray, FloatArray]:
        """Low and high ends of the means, which exclude 0 exactly if ``least_z`` exceeds the critical value.

        They hold all shifts that are not rejected. If too few units differ for the test to reject at all, they also
        hold what the numbers of wins and losses allow. Ends are infinite if nothing is known.
        """
        low, high = self._by_signs(critical)
        few = self.least_p > level
        lowest, highest = self._by_counts(level / n_tests)
        low[few] = np.minimum(low, lowest)[few]
        high[few] = np.maximum(high, highest)[few]
        error, n_degrees, _ = self.out_of_fold
        if error.any():
            tail = special().ndtr(-critical - self.tolerance)
            half = -special().stdtrit(n_degrees, tail) * error
            half[error == 0] = 0.0
            low, high = np.minimum(low, self.mean - half), np.maximum(high, self.mean + half)
        low, high = np.clip([self.scale * low, self.scale * high], -self.span, self.span)
        return low, high

    def _by_signs(self, critical: float) -> tuple[FloatArray, FloatArray]:
        """Shifts x with |total - x mass| <= c sqrt(sum (d - x w)^2 + L^2 / 2): a x^2 - 2 b x + rest <= 0."""
        pairs, z = self.pairs, self.z_of_signs
        c = critical + self.tolerance
        a = self.mass**2 - c**2 * self.square_mass
        b = pairs.total * self.mass - c**2 * pairs.cross
        # The test computes z - c in the same way, so that its sign is the same to the last digit.
        rest = self.norm**2 * (z - self.tolerance - critical) * (z + c)
        with np.errstate(all="ignore"):
            # The root that is farther from 0 loses no digits, and gives the other one.
            far = b + np.copysign(np.sqrt(np.fmax(b**2 - a * rest, 0.0)), b)
            roots = np.sort([far / a, divided(rest, far)], axis=0)
        unknown = a <= 0
        return np.where(unknown, -np.inf, roots[0]), np.where(unknown, np.inf, roots[1])

    def _by_counts(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Clopper and Pearson's limits of the shares of units that lose and that win, times the largest difference."""
        counts = np.stack([self.pairs.n_lost, self.pairs.n_won])
        # The beta distribution needs a parameter above 0, even if all units win or all lose.
        n_others = np.fmax(self.n_effective - counts, TIED)
        shares = special().betaincinv(counts + 1, n_others, 1 - level / 2)
        lost, won = self.span / self.scale * shares
        return 0.0 - lost, won

    def facts(self) -> dict[str, Any]:
        """The fields of a decision that do not depend on other samples."""
        pairs, scale = self.pairs, self.scale
        difference = scale * self.mean
        spread = scale * self.n_effective**0.5 * pairs.error
        # This turns sums of units into values of units of mean mass.
        unit = scale * len(self.units.masses) / self.mass
        largest = unit * pairs.largest
        gain = unit * divided((pairs.sizes + pairs.total) / 2, pairs.n_won)
        loss = unit * divided((pairs.sizes - pairs.total) / 2, pairs.n_lost)
        fold_error = scale * self.out_of_fold.error
        return {
            "difference": square(difference, 0.0 - difference, 0.0),
            "spread": square(spread, spread, 0.0),
            "largest": square(largest, largest, 0.0),
            "n_won": square(pairs.n_won, pairs.n_lost, 0.0),
            "gain": square(gain, loss, 0.0),
            "asymmetry": square(pairs.asymmetry, 0.0 - pairs.asymmetry, 0.0),
            "fold_error": square(fold_error, fold_error, 0.0),
            "n_queries": self.n_queries,
            "n_units": self.n_units,
            "n_effective": self.n_effective,
            "n_degrees": self.out_of_fold.n_degrees,
            "folds_vary": self.out_of_fold.vary,
            "span": self.span,
            "largest_loss": self.largest_loss,
            "tie": scale * ROUNDING,
            "step": self.step if self.n_units == self.n_queries else 0.0,
        }


def square(above: FloatArray, below: FloatArray, diagonal: float) -> FloatArray:
    """Numbers of pairs, (n_pairs,), above a diagonal, and those of the reversed pairs below."""
    n_rankings = round((1 + (1 + 8 * len(above)) ** 0.5) / 2)
    is_above = np.tri(n_rankings, k=-1, dtype=np.bool_).T
    found = np.full((n_rankings, n_rankings), diagonal)
    found[is_above] = above
    found.T[is_above] = below
    return found


def divided(a: FloatArray, b: FloatArray) -> FloatArray:
    """Divide; 0 where the divisor is 0."""
    return np.divide(a, b, out=np.zeros_like(b), where=b != 0)

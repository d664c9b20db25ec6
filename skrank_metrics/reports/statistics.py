"""Confidence intervals of means over queries, and paired tests."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, check_number
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports._student import two_sided_quantile

METHOD = "Student's t over queries"
NONE = "; none for fewer than two queries with a value, or for an unbounded metric with equal values"
# Averages to which Student's t does not apply.
NO_INTERVAL = ("median", "geometric")


def weighting(weights: FloatArray | None) -> list[str]:
    """Say that values are weighted; no sentence if they are not."""
    if weights is None:
        return []
    n_zero = int((weights == 0).sum())
    return [f"Weighted by sample_weight, {counted(n_zero, 'query') if n_zero else 'no query'} with weight 0."]


# Values that differ by less, relative to their size, differ by rounding only.
ROUNDING = 1e-12


def _stats() -> Any:
    """SciPy's distributions and tests. They take half a second to load, so reports do without them."""
    from scipy import stats

    return stats


@dataclass(frozen=True)
class Moments:
    """Mean and spread of the defined values of queries, and the precision of the mean."""

    mean: float
    std: float  # of these queries
    n_effective: float  # number of queries of equal weight that would be as informative
    error: float  # standard error of the mean
    extremes: tuple[float, float]  # smallest and largest value

    @property
    def sample_std(self) -> float:
        """Standard deviation of the population, estimated from the queries as a sample."""
        n = self.n_effective
        return self.std * (n / (n - 1)) ** 0.5 if n > 1 else np.nan

    @property
    def effect_size(self) -> float:
        """The mean in standard deviations; infinite if all values are equal and not 0."""
        std = self.sample_std
        return self.mean / std if std else float(np.sign(self.mean)) * np.inf if self.mean else 0.0


def moments(values: Any, weights: Any = None) -> Moments:
    """Mean and spread; NaN if there are too few values.

    Weights express importance, not counts: the standard error is that of a ratio estimate, and the effective number of
    queries is (sum w)^2 / sum w^2 (Kish 1965). Equal weights give the usual formulas.
    """
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    counted = ~np.isnan(values) & (weights > 0)
    values, weights = values[counted], weights[counted]
    if not len(values):
        return Moments(np.nan, np.nan, 0.0, np.nan, (np.nan, np.nan))
    shares = weights / weights.max()
    shares /= shares.sum()
    # Scaling by a power of two is exact, and keeps squares from overflowing or vanishing.
    exponent = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -exponent)
    mean, n = float(shares @ values), 1 / float(shares @ shares)
    low, high = float(values.min()), float(values.max())
    squares = (values - mean) ** 2 * (high - low > ROUNDING * max(-low, high))
    error = float(np.sqrt(shares**2 @ squares * n / (n - 1))) if n > 1 else np.nan
    mean, std, error, low, high = np.ldexp((mean, np.sqrt(shares @ squares), error, low, high), exponent).tolist()
    return Moments(mean, std, n, error, (low, high))


def mean_interval(
    found: Moments, bounds: tuple[float, float] = (-np.inf, np.inf), confidence: float = 0.95, *, share: float = 1.0
) -> tuple[float, float]:
    """Interval of a mean over queries by Student's t, within the bounds of the values; (nan, nan) if there is none.

    If the values are bounded on both sides, half an observation is added at each bound, or at a ``share`` of it (after
    Agresti & Coull 1998), since nearly equal values on a few queries do not show how much other queries may differ.
    """
    n, mean, error = found.n_effective, found.mean, found.error
    # Values can exceed the bounds: for undefined queries, or if gains fall with the label.
    low, high = np.fmin(bounds[0], found.extremes[0]), np.fmax(bounds[1], found.extremes[1])
    if n > 1 and np.isfinite([low, high]).all():
        unit = 2.0 ** (int(np.frexp(max(-low, high))[1]) - 1)  # squares of large values overflow
        centre, smallest, largest = mean / unit, share * low / unit, share * high / unit
        middle = (n * centre + (smallest + largest) / 2) / (n + 1)
        squares = (n - 1) * n * (error / unit) ** 2 + n * (centre - middle) ** 2
        squares += ((smallest - middle) ** 2 + (largest - middle) ** 2) / 2
        n, mean, error = n + 1, unit * middle, unit * (squares / (n * (n + 1))) ** 0.5
    if not error > 0:
        return np.nan, np.nan
    half = two_sided_quantile(1 - confidence, n - 1) * error
    return max(float(low), float(mean - half)), min(float(high), float(mean + half))


def difference_interval(found: Moments, bound: float, confidence: float) -> tuple[float, float]:
    """Interval of the mean difference of values per query that differ by at most ``bound``.

    Most differences are small compared with the bound. Therefore, half an observation is added on either side at the
    geometric mean of the bound and the largest observed difference, if any.
    """
    largest = float(np.abs(found.extremes).max())
    share = (largest / bound) ** 0.5 if 0 < largest < bound < np.inf else 1.0
    return mean_interval(found, (-bound, bound), confidence, share=share)


def bounds_of(metric: BoundMetric) -> tuple[float, float]:
    """Range of a metric."""
    record = metric.record
    # A normalized count is a ratio.
    upper = 1.0 if isinstance(record.pooled, str) and metric.get(record.pooled) else record.upper
    return (0.0 - upper, 0.0 - record.lower) if metric.negative else (record.lower, upper)


def why_none(intervals: Iterable[tuple[BoundMetric, tuple[float, float]]]) -> str:
    """Say why some metrics have no interval; empty if all have one."""
    averages = {metric.average for metric, (low, _) in intervals if np.isnan(low)}
    none = NONE if averages.difference(NO_INTERVAL) else ""
    return none + ("; none for medians and geometric means" if averages.intersection(NO_INTERVAL) else "")


def check_confidence(confidence: Any) -> float:
    """Check a confidence level, in (0, 1)."""
    return float(check_number(confidence, "confidence", "(0, 1)"))


TESTS = {
    "permutation": "paired sign-flip permutation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", None: ""}

# Up to this many differences, the Wilcoxon test counts all combinations of signs; counts up to 2^50 are exact in
# float64.
N_COUNTED = 50
# A random byte looks up the sum of eight differences with random signs.
BITS = 8
# This many tables of 256 sums (128 KiB) stay in the second-level cache.
TABLES = 64
# Signs are applied to a few rankings at a time, so that the sums of many rankings fit into memory.
AT_A_TIME = 9_999


def p_value(differences: FloatArray, test: str, n_resamples: int, random: Any) -> float:
    """Two-sided p-value of a mean (Wilcoxon: centre) of 0; 1 if no query differs, NaN if the test needs a spread."""
    changed = differences[differences != 0]
    if len(differences) < 2 or not len(changed):
        return 1.0
    if test == "permutation":
        return sign_flip_p(changed, n_resamples, random)
    if test == "wilcoxon":
        return signed_rank_p(np.sign(changed) * _stats().rankdata(np.abs(changed)))
    return float(_stats().ttest_1samp(differences, 0).pvalue) if np.ptp(differences) else np.nan


def smallest_p(n_changed: int, test: str, n_resamples: int) -> float:
    """Smallest p-value possible with this many nonzero differences."""
    if test == "t":
        return 0.0
    all_signs = 2.0 ** min(0, 1 - n_changed)  # all positive or all negative
    return all_signs if test == "wilcoxon" or 2**n_changed <= n_resamples else 1 / (n_resamples + 1)


def signed_rank_p(ranks: FloatArray) -> float:
    """Two-sided p-value of the sum of signed ranks, exact for few ranks, else by the normal approximation.

    Tied differences share their mean rank in both. SciPy's choice between the two, and its handling of ties, depend on
    its version.
    """
    if len(ranks) > N_COUNTED:
        # The variance of the sum with random signs; ties reduce it.
        return float(2 * _stats().norm.sf(abs(ranks.sum()) / np.sqrt((ranks**2).sum())))
    doubled = np.rint(2 * ranks).astype(np.intp)  # mean ranks are multiples of 1/2
    total = int(np.abs(doubled).sum())
    n_signs = np.zeros(total + 1)  # by the sum of the positive ranks
    n_signs[0] = 1
    for rank in np.abs(doubled):
        n_signs[rank:] += n_signs[:-rank].copy()
    as_extreme = np.abs(2 * np.arange(total + 1) - total) >= abs(int(doubled.sum()))
    return float(n_signs[as_extreme].sum() / n_signs.sum())


def without_rounding(differences: FloatArray, sizes: FloatArray) -> FloatArray:
    """Give differences the same absolute value, or 0, if they differ only by the rounding of values of these sizes."""
    order = np.argsort(np.abs(differences), kind="stable")
    ascending, tolerance = np.append(0, np.abs(differences)[order]), ROUNDING * np.append(0, sizes[order])
    # Each group takes its smallest absolute value.
    starts = np.diff(ascending, prepend=-np.inf) > tolerance
    smallest = ascending[np.maximum.accumulate(np.where(starts, np.arange(len(ascending)), 0))]
    rounded = np.empty_like(differences)
    rounded[order] = np.copysign(smallest[1:], differences[order])
    return rounded + 0.0


def sign_flip_p(differences: FloatArray, n_resamples: int, random: Any) -> float:
    """Share of the sums with random signs that are at least as far from 0; all signs are used if they are few enough.

    The observed signs count as one of the random ones (Phipson & Smyth 2010), so p is never 0.
    """
    # Scale by a power of two, so that no sum overflows.
    differences = np.ldexp(differences, -int(np.frexp(np.abs(differences).max())[1]))
    # Values per query take few distinct values, so sums often tie; sums that differ by rounding only count as equal.
    observed = abs(differences.sum()) - 1e-12 * np.abs(differences).sum()
    if 2 ** len(differences) <= n_resamples:
        return float((np.abs(_all_sums(differences)) >= observed).mean())
    (sums,) = _random_sums(differences[None], n_resamples, random)
    return (int((np.abs(sums) >= observed).sum()) + 1) / (n_resamples + 1)


def sign_flip_ps(values: FloatArray, pairs: IntArray, n_resamples: int, random: Any) -> FloatArray:
    """Compute the same for differences between rows of values, with the same random signs for all pairs of rows.

    The sum of differences is a difference of sums, so values are summed once per row, not once per pair.
    """
    values = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
    values = values - values.mean(axis=0)  # keeps the differences, and their sums lose fewer digits
    first, second = pairs.T
    totals, sizes = values.sum(axis=1), np.abs(values).sum(axis=1)
    observed = np.abs(totals[first] - totals[second]) - 1e-12 * (sizes[first] + sizes[second])
    n_as_extreme = np.zeros(len(pairs), dtype=np.intp)
    for start in range(0, n_resamples, AT_A_TIME):
        sums = _random_sums(values, min(AT_A_TIME, n_resamples - start), random)
        for number, (one, other) in enumerate(pairs):
            n_as_extreme[number] += np.count_nonzero(np.abs(sums[one] - sums[other]) >= observed[number])
    return (n_as_extreme + 1) / (n_resamples + 1)


def _all_sums(differences: FloatArray) -> FloatArray:
    """Sums of the differences with all 2^n combinations of signs, along the last axis."""
    sums = np.zeros((*differences.shape[:-1], 1))
    for difference in np.moveaxis(differences, -1, 0):
        sums = np.concatenate((sums - difference[..., None], sums + difference[..., None]), axis=-1)
    return sums


def _random_sums(rows: FloatArray, n_resamples: int, random: Any) -> FloatArray:
    """Sums of each row with random signs, the same for all rows."""
    padded = np.pad(rows, ((0, 0), (0, -rows.shape[1] % BITS)))
    groups = padded.reshape(len(rows), -1, BITS)
    sums = np.zeros((len(rows), n_resamples))
    for first in range(0, groups.shape[1], TABLES):
        n_tables = min(TABLES, groups.shape[1] - first)
        signs = np.frombuffer(random.bytes(n_resamples * n_tables), dtype=np.uint8).reshape(n_resamples, n_tables)
        places = signs + (1 << BITS) * np.arange(n_tables)
        for row, total in zip(groups, sums, strict=True):
            total += _all_sums(row[first : first + TABLES]).ravel().take(places).sum(axis=1)
    return sums


def adjust(p_values: FloatArray, correction: str | None) -> FloatArray:
    """Correct p-values for the number of tests (Holm: family-wise error, BH: false discovery rate), ignoring NaN."""
    tested = np.flatnonzero(~np.isnan(p_values))
    adjusted, order = p_values.copy(), tested[np.argsort(p_values[tested])]
    if correction == "holm":
        adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)).clip(max=1)
    elif correction == "bh":
        adjusted[tested] = _stats().false_discovery_control(p_values[tested], method="bh")
    return adjusted


# In standard deviations of the differences; smaller effects can be due to rounding.
NO_EFFECT = 1e-9
# The t distribution is normal here, and the noncentral one is slow and inexact.
MANY_QUERIES = 100_000
# In standard deviations of the differences; SciPy's noncentral distributions lose digits at larger effects.
LARGE_EFFECT = 1e4
# Two queries detect larger effects at any power and confidence that float64 can tell from 1.
HUGE_EFFECT = 1e17


def n_for_power(effect_size: float, power: float, confidence: float) -> int:
    """Smallest number of queries at which a two-sided paired t-test detects a mean of this many standard deviations."""
    effect_size, level = abs(effect_size), 1 - confidence
    if effect_size > HUGE_EFFECT:
        return 2
    quantiles = _stats().norm.ppf(1 - level / 2) + _stats().norm.ppf(power)
    n = max(2, int(np.ceil((max(0.0, quantiles) / effect_size) ** 2)))
    if n >= MANY_QUERIES:
        return n
    return bisect_left(range(2 * n + 100), power, lo=2, key=lambda n: _power_of_t(n, effect_size, level))


def _power_of_t(n: int, effect_size: float, level: float) -> float:
    limit = _stats().t.isf(level / 2, n - 1)
    if effect_size > LARGE_EFFECT:  # the mean varies little relative to its size, so only the variance matters
        return float(_stats().chi2.cdf((n - 1) * n * (effect_size / limit) ** 2, n - 1))
    # Both tails of t are the upper tail of t squared. SciPy's noncentral t distribution returns NaN if a tail is tiny.
    return float(_stats().ncf.sf(limit**2, 1, n - 1, n * effect_size**2))

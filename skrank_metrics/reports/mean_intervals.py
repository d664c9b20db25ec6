"""Means over queries: their spread, standard errors and confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric

# Averages to which Student's t does not apply.
AVERAGES_WITHOUT_INTERVAL = ("median", "geometric")
# Outside, an interval says nothing, or is finer than the random signs of a test can tell.
CONFIDENCES = "[0.01, 0.9999]"
# Values that differ by less, relative to their size, differ by rounding only.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Moments:
    """Mean and spread of the defined values of queries, and the precision of the mean."""

    mean: float
    std: float  # of these queries
    n_effective: float  # number of queries of equal weight that would be as informative
    error: float  # standard error of the mean
    extremes: tuple[float, float]  # smallest and largest value


def moments(values: Any, weights: Any = None) -> Moments:
    """Mean and spread; NaN if there are too few values.

    Weights express importance, not counts: the standard error is that of a ratio estimate (Kish 1965).
    """
    values, weights = _that_count(values, weights)
    if not len(values):
        return Moments(np.nan, np.nan, 0.0, np.nan, (np.nan, np.nan))
    # Weights are first divided by the largest, since the sum of huge weights overflows.
    shares = weights / weights.max()
    shares /= shares.sum()
    n_effective = 1 / float(shares @ shares)

    # Scaling by a power of two is exact, and keeps squares from overflowing or vanishing.
    exponent = int(np.frexp(np.abs(values).max())[1])
    scaled = np.ldexp(values, -exponent)
    mean = float(shares @ scaled)
    low = float(scaled.min())
    high = float(scaled.max())
    squares = (scaled - mean) ** 2
    # The mean of equal values is rounded, too, but must not give them a spread.
    if high - low <= ROUNDING * max(-low, high):
        squares[:] = 0.0
    std = float(shares @ squares) ** 0.5
    error = np.nan
    if n_effective > 1:
        variance = float(shares**2 @ squares) * n_effective / (n_effective - 1)
        error = variance**0.5

    unscaled = np.ldexp([mean, std, error, low, high], exponent)
    mean, std, error, low, high = unscaled.tolist()
    return Moments(mean, std, n_effective, error, (low, high))


def _that_count(values: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
    """The defined values with a weight above 0, and their weights, 1 unless there are others."""
    values = np.asarray(values, dtype=np.float64)
    if weights is None:
        weights = np.ones_like(values)
    weights = np.asarray(weights, dtype=np.float64)
    counts = ~np.isnan(values) & (weights > 0)
    return values[counts], weights[counts]


def n_effective(masses: FloatArray) -> float:
    """Number of sums of equal mass that would be as informative (Kish 1965)."""
    return float(masses.sum() ** 2 / (masses @ masses))


def standard_error(differences: FloatArray, masses: FloatArray) -> FloatArray:
    """Standard errors of ratio estimates; 0 if all differences are equal, or there is only one."""
    mass, n = masses.sum(), n_effective(masses)
    if n <= 1 + ROUNDING:
        return np.zeros(differences.shape[1])
    residuals = differences - masses[:, None] * (differences.sum(axis=0) / mass)
    squares = (residuals * residuals).sum(axis=0)
    squares[squares <= ROUNDING**2 * (differences * differences).sum(axis=0)] = 0.0
    return np.asarray(np.sqrt(squares * n / (n - 1)) / mass)


def mean_interval(
    found: Moments, bounds: tuple[float, float] = (-np.inf, np.inf), confidence: float = 0.95
) -> tuple[float, float]:
    """Student's t interval of a mean over queries, within the bounds of the values; (nan, nan) if there is none.

    Half an observation is added at each of two finite bounds, since nearly equal values on a few queries do not show
    how much other queries may differ. If all values are at the bounds, it is the interval of Agresti & Coull (1998,
    https://doi.org/10.1080/00031305.1998.10480550), the normal one with z^2 / 2 observations added at each bound.
    """
    # Values can exceed the bounds: for undefined queries, or if gains fall with the label.
    low = float(np.fmin(bounds[0], found.extremes[0]))
    high = float(np.fmax(bounds[1], found.extremes[1]))
    mean, error, n_degrees = found.mean, found.error, found.n_effective - 1
    if found.n_effective > 1 and np.isfinite([low, high]).all():
        mean, error, n_degrees = _with_added_observations(found, low, high, confidence)
    if not error > 0:
        return np.nan, np.nan
    half = quantile(confidence, n_degrees) * error
    return max(low, mean - half), min(high, mean + half)


def _with_added_observations(
    found: Moments, low: float, high: float, confidence: float
) -> tuple[float, float, float]:
    """Mean and standard error with observations added at both bounds, and degrees of freedom, infinite if normal."""
    n, mean, variance = found.n_effective, found.mean, found.std**2
    # No other values between these bounds and with this mean vary as much as those at the bounds.
    largest_variance = (high - mean) * (mean - low)
    are_at_bounds = abs(variance - largest_variance) <= ROUNDING * (high - low) ** 2

    n_added, divisor, n_degrees = 1.0, n, n
    if are_at_bounds:
        n_added = quantile(confidence, np.inf) ** 2
        divisor, n_degrees = n + n_added, np.inf
    middle = (n * mean + n_added * (low + high) / 2) / (n + n_added)
    squares = (n - 1) * n * found.error**2
    squares += n * (mean - middle) ** 2
    squares += n_added * ((low - middle) ** 2 + (high - middle) ** 2) / 2
    error = (squares / (divisor * (n + n_added))) ** 0.5
    # One observation more than n, less one for the mean.
    return middle, error, n_degrees


@cache
def special() -> ModuleType:
    """Load scipy.special when it is used, as that takes longer than most reports."""
    from scipy import special as module

    return module


def quantile(confidence: float, n_degrees: float) -> float:
    """The absolute value that Student's t, or normal, variable exceeds with probability 1 - confidence."""
    level = (1 - confidence) / 2
    if np.isinf(n_degrees):
        return float(-special().ndtri(level))
    return float(-special().stdtrit(n_degrees, level))


def bounds_of(metric: BoundMetric) -> tuple[float, float]:
    """Range of a metric."""
    record = metric.record
    # A normalized count is a ratio.
    is_normalized = isinstance(record.pooled, str) and metric.get(record.pooled)
    upper = record.upper
    if is_normalized:
        upper = 1.0
    if metric.negative:
        return 0.0 - upper, 0.0 - record.lower
    return record.lower, upper


def check_by_query(name: str, metric: BoundMetric) -> None:
    """Refuse metrics that are not means over queries."""
    if not is_mean(metric):
        raise ValueError(
            f"metric must be a mean over queries; got {name!r}, which has average={metric.average!r} and cannot be "
            "compared per query. Evaluate without this average."
        )


def is_mean(metric: BoundMetric) -> bool:
    """Whether a metric is a mean over queries."""
    return metric.average in ("macro", None)


def weighting(weights: FloatArray | None) -> list[str]:
    """Say that values are weighted, and how many queries do not count; no sentence if they are not."""
    if weights is None:
        return []
    n_left_out = int((weights == 0).sum())
    if not n_left_out:
        return ["Weighted by sample_weight."]
    return [f"Weighted by sample_weight, {counted(n_left_out, 'query')} with weight 0."]

"""Confidence intervals of means over queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric

# Averages to which Student's t does not apply.
NO_INTERVAL = ("median", "geometric")
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
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    used = ~np.isnan(values) & (weights > 0)
    values, weights = values[used], weights[used]
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
    mean, std, error, low, high = np.ldexp(
        (mean, np.sqrt(shares @ squares), error, low, high), exponent
    ).tolist()
    return Moments(mean, std, n, error, (low, high))


def mean_interval(
    found: Moments, bounds: tuple[float, float] = (-np.inf, np.inf), confidence: float = 0.95
) -> tuple[float, float]:
    """Student's t interval of a mean over queries, within the bounds of the values; (nan, nan) if there is none.

    Half an observation is added at each of two finite bounds, since nearly equal values on a few queries do not show
    how much other queries may differ. If all values are at the bounds, it is the interval of Agresti & Coull (1998,
    https://doi.org/10.1080/00031305.1998.10480550), the normal one with z^2 / 2 observations added at each bound.
    """
    n, mean, error = found.n_effective, found.mean, found.error
    # Values can exceed the bounds: for undefined queries, or if gains fall with the label.
    low, high = np.fmin(bounds[0], found.extremes[0]), np.fmax(bounds[1], found.extremes[1])
    n_degrees = n - 1
    if n > 1 and np.isfinite([low, high]).all():
        unit = 2.0 ** (int(np.frexp(max(-low, high))[1]) - 1)  # squares of large values overflow
        centre, spread, low_, high_ = np.array([mean, error, low, high]) / unit
        squares = (n - 1) * n * spread**2
        # No other values between these bounds and with this mean vary as much.
        at_bounds = (
            abs((found.std / unit) ** 2 - (high_ - centre) * (centre - low_))
            <= ROUNDING * (high_ - low_) ** 2
        )
        added = quantile(confidence, np.inf) ** 2 if at_bounds else 1.0
        middle = (n * centre + added * (low_ + high_) / 2) / (n + added)
        squares += (
            n * (centre - middle) ** 2 + added * ((low_ - middle) ** 2 + (high_ - middle) ** 2) / 2
        )
        n_degrees, divisor = (np.inf, n + added) if at_bounds else (n, n)
        mean, error = unit * middle, unit * (squares / (divisor * (n + added))) ** 0.5
    if not error > 0:
        return np.nan, np.nan
    half = quantile(confidence, n_degrees) * error
    return max(float(low), float(mean - half)), min(float(high), float(mean + half))


def quantile(confidence: float, n_degrees: float) -> float:
    """The absolute value that Student's t, or normal, variable exceeds with probability 1 - confidence."""
    from scipy import special  # takes longer to load than most reports to compute

    level = (1 - confidence) / 2
    return float(
        -special.ndtri(level) if np.isinf(n_degrees) else -special.stdtrit(n_degrees, level)
    )


def bounds_of(metric: BoundMetric) -> tuple[float, float]:
    """Range of a metric."""
    record = metric.record
    # A normalized count is a ratio.
    upper = 1.0 if isinstance(record.pooled, str) and metric.get(record.pooled) else record.upper
    return (0.0 - upper, 0.0 - record.lower) if metric.negative else (record.lower, upper)


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
    """Say that values are weighted; no sentence if they are not."""
    if weights is None:
        return []
    n_zero = int((weights == 0).sum())
    return [
        f"Weighted by sample_weight, {counted(n_zero, 'query') if n_zero else 'no query'} with weight 0."
    ]

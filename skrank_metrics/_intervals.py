"""Confidence intervals of means over queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from skrank_metrics._validation import check_number

METHOD = "Student's t over queries"


def mean_interval(values: Any, weights: Any = None, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a mean over queries by Student's t; (nan, nan) where fewer than two values are defined.

    Weights are of importance, not counts: the variance is that of a ratio estimate, and the degrees of freedom follow
    from the number of equally weighted queries that would be as informative, (sum w)^2 / sum w^2 (Kish 1965).
    """
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    counted = ~np.isnan(values) & (weights > 0)
    values, weights = values[counted], weights[counted]
    if len(values) < 2:
        return np.nan, np.nan
    shares = weights / weights.sum()
    mean = float(shares @ values)
    n = 1 / float(shares @ shares)
    variance = float(shares**2 @ (values - mean) ** 2) * n / (n - 1)
    if variance == 0:
        return mean, mean
    low, high = stats.t.interval(confidence, n - 1, loc=mean, scale=np.sqrt(variance))
    return float(low), float(high)


def check_confidence(confidence: Any) -> float:
    """A share of intervals that shall cover, in (0, 1)."""
    number = check_number(confidence, "confidence", "a number in (0, 1)")
    if not 0 < number < 1:
        raise ValueError(f"confidence must be a number in (0, 1); got {confidence!r}.")
    return number

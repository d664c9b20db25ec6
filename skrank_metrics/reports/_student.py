"""Quantiles of Student's t, without SciPy's distributions, which take longer to load than most reports to compute."""

from __future__ import annotations

import math
from collections.abc import Callable

# From this many degrees of freedom, four terms of the expansion at the normal quantile are exact to rounding.
MANY = 1000.0
# Largest logarithm of t, so that squares do not overflow; larger quantiles count as infinite.
LARGEST_EXPONENT = 350.0


def two_sided_quantile(level: float, n_degrees: float) -> float:
    """The t that a variable with Student's distribution exceeds in absolute value with probability ``level``."""
    # Start where exp(-t^2 / 2), an upper bound of the normal tail, equals the level.
    normal = _solve(_normal, math.sqrt(-2 * math.log(level)), level)
    if n_degrees >= MANY:
        return _expansion(normal, n_degrees)
    return _solve(lambda t: _student(t, n_degrees), normal, level)


def _solve(distribution: Callable[[float], tuple[float, float]], start: float, level: float) -> float:
    """Find the t with a given tail probability by Newton's method on the logarithms of both.

    Their relation is concave, so the first step leads to the right of the solution, and the next ones approach it.
    """
    log_t = math.log(start)
    for _ in range(100):
        if log_t > LARGEST_EXPONENT:
            return math.inf
        density, tail = distribution(math.exp(log_t))
        step = tail * math.log(tail / level) / (2 * density)
        log_t += step
        if abs(step) < 1e-15:
            break
    return math.exp(log_t)


def _normal(t: float) -> tuple[float, float]:
    """The normal density at t, times t, and the two-sided tail probability, as in ``_student``."""
    return t * math.exp(-t * t / 2) / math.sqrt(2 * math.pi), math.erfc(t / math.sqrt(2))


def _expansion(z: float, n: float) -> float:
    """The Cornish-Fisher expansion, as in Abramowitz and Stegun 26.7.5."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / n**power for power, term in enumerate(terms, start=1))


def _student(t: float, n: float) -> tuple[float, float]:
    """The density at t, times t, and the probability of a larger absolute value, an incomplete beta function."""
    a, b, share = n / 2, 0.5, t * t / (n + t * t)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    density = math.exp(-a * math.log1p(t * t / n) + b * math.log(share) - log_beta)
    if 1 - share < (a + 1) / (a + b + 2):
        return density, density / a * _fraction(a, b, n / (n + t * t))
    return density, 1 - density / b * _fraction(b, a, share)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for term in (even, odd):
            d, c = 1 / (1 + term * d), 1 + term / c
            value *= d * c
        if value == before:
            break
    return value

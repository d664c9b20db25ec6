"""Which differences queries can show, and how many queries a difference needs."""

from __future__ import annotations

import math

import numpy as np

from skrank_metrics.decisions.outcome import Outcome
from skrank_metrics.decisions.pair import Pair
from skrank_metrics.reports.mean_intervals import quantile

# Power for the smallest detectable difference.
POWER = 0.8
# With fewer queries that differ, their spread is too uncertain to plan with.
FEW_CHANGED = 30
# On fewer queries, no permutation test rejects at a level of 0.05.
LEAST_QUERIES = 6.0


def detectable(outcome: Outcome) -> float:
    """The difference that these queries detect with a power of 0.8; NaN if unknown.

    It is the critical value and the normal quantile of the power, times the standard error: the median over the
    comparisons of the best ranking, or of the baselines, with all others.
    """
    if not outcome.tested:
        return math.nan
    pairs = outcome.flips.statistics
    is_compared = np.isin(outcome.names, outcome.plan.baselines or outcome.ranked[:1])
    compared = np.ix_(is_compared, ~is_compared)
    # Out of fold, differences must also show through the variation of fits.
    errors = np.maximum(pairs.error, pairs.of_folds.error)[compared]
    # If the test cannot reject, as too few queries differ, no difference is known to be detected.
    is_known = (errors > 0) & (pairs.least_p[compared] <= outcome.plan.level)
    if not is_known.any():
        return math.nan
    noise = outcome.flips.scale * float(np.median(errors[is_known]))
    return (outcome.tests.family.critical + _normal(POWER)) * noise


def queries_needed(outcome: Outcome, pair: Pair, difference: float, power: float = POWER) -> int:
    """The number of queries on which a difference between two rankings would be detected."""
    flips = outcome.flips
    if difference > flips.span:
        raise ValueError(
            f"difference must be at most {flips.span:g}, the range of {pair.metric}; got {difference}."
        )
    spread = _spread(outcome, pair)
    if not spread:
        raise ValueError(
            f"{pair.first!r} and {pair.second!r} must differ by different amounts on different queries; all "
            f"{pair.n_queries} differences are equal. Compare over more queries."
        )
    effect = difference / spread
    largest = float(np.abs(pair.differences).max()) / spread
    critical = outcome.tests.family.critical
    needed = LEAST_QUERIES
    for _ in range(100):  # the statistic, and so the number of units, depends on their number
        noise = critical * (1 + effect**2 + largest**2 / (2 * needed)) ** 0.5
        needed = max(LEAST_QUERIES, (noise + _normal(power)) ** 2 / effect**2)
    return math.ceil(needed * pair.n_queries / flips.n_effective)


def _spread(outcome: Outcome, pair: Pair) -> float:
    """Standard deviation of the differences of units; 0 if all are equal."""
    flips = outcome.flips
    first, second = outcome.names.index(pair.first), outcome.names.index(pair.second)
    return float(flips.statistics.error[first, second]) * flips.scale * flips.n_effective**0.5


def _normal(power: float) -> float:
    """The normal quantile of a power."""
    return quantile(2 * power - 1, math.inf)


def queries_to_decide(outcome: Outcome, pair: Pair) -> int | None:
    """The number of queries that would show that a ranking is not worse by more than the margin, if both are equal.

    None if there is no margin, if the number cannot be trusted because few queries differ, or if it is not larger.
    """
    margin, span = outcome.margin, outcome.flips.span
    n_changed = pair.wins + pair.losses
    if not margin or margin >= span:
        return None
    needed = 0
    if n_changed >= FEW_CHANGED and _spread(outcome, pair):
        needed = queries_needed(outcome, pair, margin)
    # Of an unbounded metric, no number of equal queries shows what another one could lose.
    elif not n_changed and math.isfinite(span):
        # So many exclude that more than this share of queries differs, if none does.
        level = outcome.plan.level / outcome.tests.family.n_tests / 2
        units = math.log(level) / math.log1p(-margin / span)
        needed = math.ceil(units * pair.n_queries / outcome.flips.n_effective)
    return needed if needed > pair.n_queries else None

"""Which differences queries can show, and how many queries a difference needs, by the quantiles that intervals use."""

from __future__ import annotations

import math

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics.decisions.decide import Decision
from skrank_metrics.reports.mean_intervals import special

# Power for the smallest detectable difference.
POWER = 0.8
# With fewer units that differ, their spread is too uncertain to plan with.
FEW_CHANGED = 30


def detectable(decision: Decision) -> float:
    """The difference that these queries detect with a power of 0.8; NaN if unknown.

    It is the median over the rankings that are compared with the leader or a baseline and are undecided; if there are
    none, over all that are compared.
    """
    rows = np.flatnonzero(np.arange(len(decision.means)) != decision.references)
    rows = np.setdiff1d(rows, decision.baselines)
    differs = decision.p_adjusted[rows, decision.references[rows]] <= decision.level
    if not differs.all():
        rows = rows[~differs]
    at = rows, decision.references[rows]
    # If the test cannot reject, as too few units differ, no difference is known to be detected.
    is_known = (decision.spread[at] > 0) & (decision.n_changed[at] >= decision.least_units)
    n = decision.n_effective
    # No larger difference is asked for, even of a metric that has no bound.
    high = np.minimum(decision.span, 1e3 * decision.largest[at])
    is_known &= _noise(decision, at, high, n, POWER) <= high * n**0.5
    low = np.zeros(len(rows))
    for _ in range(100):
        middle = (low + high) / 2
        is_detected = _noise(decision, at, middle, n, POWER) <= middle * n**0.5
        low = np.where(is_detected, low, middle)
        high = np.where(is_detected, middle, high)
    found = np.maximum(high, _fold_quantile(decision, POWER) * decision.fold_error[at])
    is_known &= found < decision.span
    return float(np.median(found[is_known])) if is_known.any() else math.nan


def queries_needed(
    decision: Decision, first: int, second: int, difference: float, power: float = POWER
) -> int:
    """The number of queries on which a difference between two rankings would be detected."""
    at = np.array([first]), np.array([second])
    effect = np.array([difference])
    needed = least = float(decision.least_units)
    for _ in range(100):  # what the largest difference counts depends on the number of units
        noise = float(_noise(decision, at, effect, needed, power)[0])
        needed = max(least, (noise / difference) ** 2)
    of_folds = _fold_quantile(decision, power) * float(decision.fold_error[at][0])
    needed = max(needed, (of_folds / difference) ** 2 * decision.n_effective)
    return math.ceil(needed * decision.n_queries / decision.n_effective)


def _noise(
    decision: Decision,
    at: tuple[IntArray, IntArray],
    differences: FloatArray,
    n: float,
    power: float,
) -> FloatArray:
    """What differences times the root of the number of units must exceed, for pairs ``at`` rows and columns."""
    variance = decision.spread[at] ** 2
    squares = variance + differences**2
    # If there are two values only, a difference is the share of queries that change, and more may have to change.
    if decision.step:
        squares = np.maximum(
            variance + decision.difference[at] ** 2, np.abs(differences) * decision.step
        )
        variance = np.maximum(squares - differences**2, 0.0)
    critical = decision.critical * np.sqrt(squares + decision.largest[at] ** 2 / (2 * n))
    return np.asarray(critical + special().ndtri(power) * np.sqrt(variance))


def _fold_quantile(decision: Decision, power: float) -> float:
    """Number of standard errors out of fold that a difference must have."""
    n_degrees = decision.n_degrees
    critical = -special().stdtrit(n_degrees, special().ndtr(-decision.critical))
    return float(critical + special().stdtrit(n_degrees, power))


def queries_to_decide(decision: Decision, first: int, second: int) -> int | None:
    """The number of queries that would show that a ranking is not worse by more than the margin, if both are equal.

    None if there is no margin, if the number cannot be trusted because few queries differ, or if it is not larger.
    """
    margin, span = decision.margin, decision.span
    if not margin or margin >= span:
        return None
    n_changed = decision.n_changed[first, second]
    needed = 0
    if n_changed >= FEW_CHANGED and decision.spread[first, second]:
        needed = queries_needed(decision, first, second, margin)
    # If a metric is unbounded, no number of equal queries shows what another one could lose.
    elif not n_changed and math.isfinite(span):
        # So many exclude that more than this share of queries differs, if none does.
        level = decision.level / decision.n_tests / 2
        units = math.log(level) / math.log1p(-margin / span)
        needed = math.ceil(units * decision.n_queries / decision.n_effective)
    return needed if needed > decision.n_queries else None


def check_difference(decision: Decision, metric: str, at: tuple[int, int], wanted: float) -> None:
    """Refuse a difference that is larger than possible, and rankings that show no spread."""
    if wanted > decision.span:
        raise ValueError(
            f"difference must be at most {decision.span:g}, the range of {metric}; got {wanted:g}."
        )
    if not decision.spread[at]:
        raise ValueError(
            "first and second must differ by different amounts on different queries; all "
            f"{decision.n_queries} differences are equal. Compare over more queries."
        )

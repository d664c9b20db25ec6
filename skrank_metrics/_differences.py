"""Two rankings compared, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._alignment import Aligned
from skrank_metrics._intervals import Moments, mean_interval, moments
from skrank_metrics._paired_tests import p_value
from skrank_metrics._validation import FloatArray

# Values that differ by less are sums of the same terms in another order.
ROUNDING = 1e-12


@dataclass(frozen=True)
class How:
    """How pairs are tested."""

    test: str
    confidence: float
    n_resamples: int
    random: Any


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared; see Comparison."""

    first: str
    second: str
    difference: float
    interval: tuple[float, float]
    p_value: float
    p_adjusted: float
    wins: int
    ties: int
    losses: int
    effect_size: float
    n_queries: int
    differences: FloatArray
    qid: NDArray[Any]


def compare_two(aligned: Aligned, first: str, second: str, how: How) -> Pair:
    """All that is known of two rankings but the p-value that accounts for the others."""
    differences = aligned.values[first] - aligned.values[second]
    defined = ~np.isnan(differences)
    if not defined.any():
        raise ValueError(f"reports must have a query with a value in both; got none for {first!r} and {second!r}.")
    differences = differences[defined]
    differences[np.abs(differences) < ROUNDING] = 0.0
    weights = None if aligned.weights is None else aligned.weights[defined]
    weighted = differences if weights is None else weights * differences
    found = moments(differences, weights)
    better = differences if aligned.greater_is_better else -differences
    return Pair(
        first,
        second,
        difference=found.mean,
        interval=mean_interval(differences, weights, how.confidence),
        p_value=p_value(weighted, how.test, how.n_resamples, how.random),
        p_adjusted=np.nan,
        wins=int((better > 0).sum()),
        ties=int((better == 0).sum()),
        losses=int((better < 0).sum()),
        effect_size=_effect_size(found),
        n_queries=len(differences),
        differences=differences,
        qid=aligned.qid[defined],
    )


def _effect_size(found: Moments) -> float:
    if found.std > 0 or np.isnan(found.std):
        return found.mean / found.std
    return float(np.copysign(np.inf, found.mean)) if found.mean else 0.0

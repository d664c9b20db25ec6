"""What each rank adds to the value of a query."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._bound import BoundMetric

# Tie transforms of the metrics whose numerator is a sum over ranks.
_SUMS = ("gains", "hazards", "products", "misses")
# Differences of sums that are smaller than this share of them are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Contributions:
    """What each of the first ranks adds to the values of queries, and what all ranks below add together.

    Attributes
    ----------
    added : ndarray of shape (n_queries, depth)
        One row per query, one column per rank.
    rest : ndarray of shape (n_queries,)
        What all further ranks add, up to the cutoff.
    """

    added: FloatArray
    rest: FloatArray

    @property
    def values(self) -> FloatArray:
        """The values, NaN for queries for which the metric is undefined."""
        return self.added.sum(axis=1) + self.rest


def adds_up(metric: BoundMetric) -> bool:
    """Whether the value of a query is a sum of non-negative contributions of its ranks."""
    # The mean precision over the hits found can fall when another hit is found.
    mean_over_hits = metric.computation.options.get("normalizer") == "hits"
    grows = metric.record.greater_is_better and metric.record.lower >= 0
    return metric.record.transform in _SUMS and grows and not mean_over_hits


def contributions(lists: QueryLists, metric: BoundMetric, depth: int) -> Contributions:
    """Compute the metric at the cutoffs 1, 2, ..., depth, divided as at its own cutoff."""
    whole = metric.computation
    *cut, total = per_query(lists, [*(replace(whole, k=k) for k in range(1, depth + 1)), whole])
    sums = np.stack([np.zeros(lists.n_queries), *(result.numerators for result in cut)], axis=1)
    # A query may have gains, but none above a cutoff.
    sums = np.where(np.isnan(sums) & ~np.isnan(total.numerators)[:, None], 0.0, sums)
    steps = np.diff(np.column_stack([sums, total.numerators]), axis=1)
    steps[np.abs(steps) <= _ROUNDING * np.abs(total.numerators)[:, None]] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = steps / total.denominators[:, None]
    return Contributions(steps[:, :-1], steps[:, -1])


def ideal_contributions(lists: QueryLists, metric: BoundMetric, depth: int) -> Contributions:
    """Contributions in the ideal order, in which all documents are ranked, the largest gain first."""
    gain = metric.computation.options.get("gain")
    best_first = gain(lists.labels) if callable(gain) else lists.labels
    return contributions(replace(lists, scores=best_first, retrieved=None), metric, depth)

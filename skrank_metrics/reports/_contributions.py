"""What each rank adds to the value of a query."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skrank_metrics._engine.per_query import per_query, seen_lists
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
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
    """Contributions in the ideal order, the best documents first; NaN if labels define none.

    All documents are ranked, except in queries whose divisor depends on how many are, such as precision without a
    cutoff: there, the value is compared with that of as many of the best documents.
    """
    seen = seen_lists(lists, metric.computation.unjudged)
    if not _has_ideal(seen, metric):
        unknown = np.full((lists.n_queries, depth), np.nan)
        return Contributions(unknown, unknown[:, 0])
    everything = replace(seen, scores=_goodness(seen, metric), retrieved=None)
    best = contributions(everything, metric, depth)
    if seen.retrieved is None:
        return best
    given, ideal = (per_query(each, [metric.computation])[0].denominators for each in (seen, everything))
    as_many = contributions(replace(everything, retrieved=_best(everything, seen.n_retrieved)), metric, depth)
    alike = given == ideal
    return Contributions(np.where(alike[:, None], best.added, as_many.added), np.where(alike, best.rest, as_many.rest))


def _has_ideal(lists: QueryLists, metric: BoundMetric) -> bool:
    """Whether no order has a larger value than the one with the best documents first."""
    if metric.record.unjudged == "counted":  # whatever their labels
        return False
    gain = metric.computation.options.get("gain")
    return metric.record.monotone or (callable(gain) and bool((np.diff(gain(lists.distinct_labels)) >= 0).all()))


def _goodness(lists: QueryLists, metric: BoundMetric) -> FloatArray:
    """What the ideal order sorts by: gains if the metric is a sum of them, else labels."""
    gain = metric.computation.options.get("gain")
    return gain(lists.labels) if callable(gain) and metric.record.transform == "gains" else lists.labels


def _best(lists: QueryLists, numbers: IntArray) -> Mask:
    """Mask of as many documents of each query as given, those with the largest scores."""
    starts, sizes = lists.grouping.starts, lists.grouping.sizes
    order = np.lexsort((-lists.scores, np.repeat(np.arange(len(sizes)), sizes)))
    mask = np.empty(len(order), dtype=bool)
    mask[order] = np.arange(len(order)) < np.repeat(starts + numbers, sizes)
    return mask

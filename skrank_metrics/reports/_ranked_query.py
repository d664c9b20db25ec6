"""The documents of single queries in the order of their ranking, with what each rank adds to a metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports._contributions import adds_up, contributions, ideal_contributions
from skrank_metrics.reports._evaluation import Evaluation

# Number of ranks shown, unless the cutoff of the metric is smaller or the caller passes a number.
MOST_RANKS = 20


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """The first ranks of one query by one ranking.

    Attributes
    ----------
    qid : object
        Query id.
    ranking : str
        Name of the ranking, "" if there is only one.
    value : float
        Value of the metric; undefined values are replaced as in the report.
    is_defined : bool
        Whether the metric is defined for the query.
    ideal_value : float
        Value of the ideal order, in which all documents are ranked, or as many as in the ranking if the metric divides
        by their number; NaN if the metric is undefined, not a sum over ranks, or has no ideal order by label.
    rows : ndarray of shape (n_ranks,) or None
        Row of each document in the evaluated arrays; None if unknown.
    labels, scores : ndarray of shape (n_ranks,)
        Label and score at each rank; the label is NaN if nobody judged the document.
    tied : ndarray of shape (n_ranks,)
        Whether another document of the ranking has the same score.
    discounts : ndarray of shape (n_ranks,) or None
        What gains are divided by; None if the metric has no discounts.
    added, ideal : ndarray of shape (n_ranks,)
        What each rank adds to the value, NaN if ``rest`` is, and what it adds in the ideal order, NaN if
        ``ideal_value`` is.
    rest : float
        What all further ranks add; NaN if the metric is undefined or not a sum over ranks.
    documents : list of str
        Text of each document; empty if no documents were given.
    n_ranked, n_relevant, n_unranked : int
        Number of ranked documents, of relevant ones, and of relevant ones that are not ranked.
    missed : list of int
        Ranks of the relevant documents that are ranked further down.
    """

    qid: Any
    ranking: str
    value: float
    is_defined: bool
    ideal_value: float
    rows: IntArray | None
    labels: FloatArray
    scores: FloatArray
    tied: Mask
    discounts: FloatArray | None
    added: FloatArray
    ideal: FloatArray
    rest: float
    documents: list[str]
    n_ranked: int
    n_relevant: int
    n_unranked: int
    missed: list[int]


def ranked_queries(
    name: str, evaluation: Evaluation, column: str, places: IntArray, n_ranks: int | None
) -> list[RankedQuery]:
    """The first ranks of some queries, given by their positions in a report."""
    metric, part = evaluation.metrics[column], evaluation.part(places)
    depth = min(n_ranks or min(metric.k or MOST_RANKS, MOST_RANKS), int(part.lists.grouping.sizes.max()))
    values, defined = part.per_query(column), ~np.isnan(part.results[column].values)
    orders = [_Order(part, metric, number) for number in range(len(places))]
    sums = _sums(part, metric, depth, [min(depth, len(order.order)) for order in orders])
    return [
        RankedQuery(
            qid=query,
            ranking=name,
            value=float(values[number]),
            is_defined=bool(defined[number]),
            **_first_ranks(orders[number], metric, depth, evaluation, place),
            **of_query,
            documents=[],
        )
        for number, (query, place, of_query) in enumerate(zip(as_python(part.ids), places.tolist(), sums, strict=True))
    ]


def _sums(part: Evaluation, metric: BoundMetric, depth: int, lengths: Sequence[int]) -> Iterator[dict[str, Any]]:
    """What the first ranks add in each query; NaN if the metric is not a sum over ranks."""
    if not adds_up(metric):
        for n in lengths:
            nowhere = np.full(n, np.nan)
            yield {"added": nowhere, "ideal": nowhere, "rest": np.nan, "ideal_value": np.nan}
        return
    found, best = contributions(part.lists, metric, depth), ideal_contributions(part.lists, metric, depth)
    for n, added, rest, ideal, value in zip(lengths, found.added, found.rest, best.added, best.values, strict=True):
        yield {"added": added[:n], "rest": float(rest), "ideal": ideal[:n], "ideal_value": float(value)}


def _first_ranks(order: _Order, metric: BoundMetric, depth: int, evaluation: Evaluation, place: int) -> dict[str, Any]:
    first = order.order[:depth]
    discount = metric.computation.options.get("discount")
    relevant = order.relevant[order.order]
    return {
        "rows": None if evaluation.is_part else evaluation.rows_of(place)[first],
        "labels": np.where(order.judged, order.labels, np.nan)[first],
        "scores": order.scores[first],
        "tied": order.tied[:depth],
        "discounts": discount(np.arange(1.0, len(first) + 1)) if callable(discount) and len(first) else None,
        "n_ranked": len(order.order),
        "n_relevant": int(order.relevant.sum()),
        "n_unranked": int(order.relevant.sum() - relevant.sum()),
        "missed": (np.flatnonzero(relevant[depth:]) + depth + 1).tolist(),
    }


class _Order:
    """The documents of one query, which of them are relevant, and the order of those that are ranked."""

    order: IntArray
    tied: NDArray[np.bool_]

    def __init__(self, part: Evaluation, metric: BoundMetric, number: int) -> None:
        lists = part.lists
        start, size = lists.grouping.starts[number], lists.grouping.sizes[number]
        cells, everything = slice(start, start + size), np.ones(int(size), dtype=bool)
        self.labels, self.scores = lists.labels[cells], lists.scores[cells]
        self.judged = everything if lists.judged is None else lists.judged[cells]
        ranked = everything if lists.retrieved is None else lists.retrieved[cells]
        if metric.record.unjudged == "left out" or (lists.condense and metric.record.unjudged != "counted"):
            ranked = ranked & self.judged
        threshold = lists.comparable(metric.computation.options).get("relevance_threshold")
        self.relevant = self.judged & (self.labels > 0 if threshold is None else self.labels >= threshold)
        by_label = {"best": -self.labels, "worst": self.labels}.get(metric.computation.ties, np.zeros(int(size)))
        order = np.lexsort((by_label, -self.scores))  # stable
        self.order = order[ranked[order]]
        # Not by differences: those of infinite scores are NaN.
        ordered = self.scores[self.order]
        equal = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
        self.tied = (equal[1:] | equal[:-1])[: len(ordered)]

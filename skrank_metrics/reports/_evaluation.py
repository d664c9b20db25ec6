"""The contents of a report: metrics, their results, and the documents that they were computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.grouping import Grouping, concatenate_ranges
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics.metrics._bound import BoundMetric


@dataclass(frozen=True)
class Evaluation:
    """Metrics with their results."""

    metrics: Mapping[str, BoundMetric]
    results: Mapping[str, PerQuery]
    lists: QueryLists
    is_part: bool = False  # only some of the queries; then the original rows are not known
    left_out: tuple[str, ...] = ()  # findings about queries of the source that are not here

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.lists.n_queries

    @property
    def ids(self) -> NDArray[Any]:
        """Query ids in order of first appearance."""
        return self.lists.grouping.ids

    @property
    def weights(self) -> FloatArray | None:
        """Weights of the queries, if any."""
        return self.lists.weights

    @property
    def n_documents(self) -> int:
        """Number of documents of all queries."""
        return self.lists.n_documents

    @property
    def n_undefined(self) -> dict[str, int]:
        """Number of queries for which each metric is undefined."""
        return {name: int(np.isnan(result.values).sum()) for name, result in self.results.items()}

    def without_caches(self) -> Evaluation:
        """A copy without intermediate results."""
        return replace(self, lists=self.lists.without_caches())

    @property
    def condensed(self) -> bool:
        """Whether documents that nobody judged were left out of the lists."""
        return self.lists.condense

    @property
    def digests(self) -> NDArray[np.uint64]:
        """A number per query that depends on the labels of its judged documents, but not on their order."""
        lists = self.lists
        if lists.grades is None:
            mixed = hash_ids(lists.labels)
        else:
            mixed = hash_ids(np.arange(lists.largest_label + 1))[lists.grades]
        if lists.judged is not None:
            mixed = np.where(lists.judged, mixed, np.uint64(0))
        return np.add.reduceat(mixed, lists.grouping.starts)

    def part(self, queries: IntArray) -> Evaluation:
        """Select some of the queries."""
        lists = self.lists
        rows = concatenate_ranges(lists.grouping.starts[queries], lists.grouping.sizes[queries])
        return Evaluation(
            self.metrics,
            {name: PerQuery(r.numerators[queries], r.denominators[queries]) for name, r in self.results.items()},
            QueryLists(
                Grouping(lists.grouping.ids[queries], lists.grouping.sizes[queries], None),
                lists.given_labels[rows],
                lists.scores[rows],
                None if lists.weights is None else lists.weights[queries],
                None if lists.retrieved is None else lists.retrieved[rows],
                lists.label_type,
                None if lists.judged is None else lists.judged[rows],
                lists.condense,
            ),
            is_part=True,
        )

    def rows_of(self, query: int) -> IntArray:
        """The original rows of a query, in the order of the lists."""
        grouping = self.lists.grouping
        if grouping.shuffled is not None:
            return np.flatnonzero(grouping.shuffled == query)
        return grouping.starts[query] + np.arange(grouping.sizes[query])

    def mean(self, name: str) -> float:
        """Value over all queries."""
        return float(self.metrics[name].aggregate(self.results[name], self.lists.weights))

    def per_query(self, name: str) -> FloatArray:
        """One value per query, undefined ones replaced."""
        return np.asarray(self.metrics[name].aggregate(self.results[name], None, average=None))

    def with_ties(self, ties: str, queries: IntArray) -> Evaluation:
        """Compute the metrics with another order of ties; only the given queries have ties."""
        if not len(queries):
            return self
        metrics = {name: metric.replace(ties=ties) for name, metric in self.metrics.items()}
        if len(queries) == self.n_queries:
            return evaluate_lists(self.lists, metrics)
        changed, results = evaluate_lists(self.part(queries).lists, metrics).results, {}
        for name, result in self.results.items():
            results[name] = PerQuery(result.numerators.copy(), result.denominators.copy())
            results[name].numerators[queries] = changed[name].numerators
            results[name].denominators[queries] = changed[name].denominators
        return Evaluation(metrics, results, self.lists)


def evaluate_lists(lists: QueryLists, metrics: Mapping[str, BoundMetric]) -> Evaluation:
    """Compute metrics in one pass."""
    results = per_query(lists, [metric.computation for metric in metrics.values()])
    return Evaluation(metrics, dict(zip(metrics, results, strict=True)), lists)

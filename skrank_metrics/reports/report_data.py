"""What a report is computed from: the values of its queries, and their documents, if these were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skrank_metrics._engine.documents import DocumentCounts, Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.id_hash import Hashes
from skrank_metrics.reports.health import Health


@dataclass(frozen=True, eq=False)
class ReportData:
    """Queries with their values, and what is known of their documents."""

    queries: Queries
    results: Mapping[str, PerQuery]
    # The evaluated ranking, with all documents; `places` says which of its queries are here, None that all are.
    ranking: Ranking | None = None
    places: IntArray | None = None
    # What is known without documents.
    recorded_counts: DocumentCounts | None = None
    recorded_health: Health | None = None
    # Findings about queries and documents that are not here.
    left_out: tuple[str, ...] = ()

    @property
    def has_documents(self) -> bool:
        """Whether the labels and scores were kept."""
        return self.ranking is not None

    # The ranking is made when it is needed: there may be thousands of slices, most of them only asked for their means.
    @cached_property
    def own_ranking(self) -> Ranking:
        """The ranking of the documents of these queries."""
        if self.ranking is None:
            raise ValueError(
                "Labels and scores are needed, but this report keeps no labels or scores, since it was made in batches "
                "or from values per query, or loaded. Read the rows of these queries, and call evaluate."
            )
        if self.places is None:
            return self.ranking
        return self.ranking.take(self.places)

    def rows_of(self, place: int) -> IntArray:
        """The evaluated rows of the query at a position, in the order of its documents."""
        # Rows are those that were passed to evaluate, so a slice looks them up in the whole.
        ranking = self.ranking or self.own_ranking
        if self.places is not None:
            place = self.places[place]
        return np.flatnonzero(ranking.documents.grouping.codes == place)

    @property
    def grouping(self) -> Grouping | None:
        """The evaluated rows, grouped by query; None if they were not kept."""
        if not self.has_documents:
            return None
        return self.own_ranking.documents.grouping

    @cached_property
    def counts(self) -> DocumentCounts | None:
        """Numbers of documents of each query, and digests of their labels; None if unknown."""
        if self.has_documents:
            return self.own_ranking.documents.counts
        return self.recorded_counts

    @property
    def row_labels(self) -> Any:
        """The index of the evaluated rows; None if they had none, or were not kept."""
        if self.ranking is None:
            return None
        return self.ranking.documents.row_labels

    def id_digests(self, *, in_this_process: bool) -> Hashes | None:
        """A number per query that depends on the ids and labels of its judged documents; None if unknown.

        Only in this process, there are also digests of ids that are objects of a class of the user.
        """
        if not self.has_documents:
            return None if self.recorded_counts is None else self.recorded_counts.id_digests
        return self.own_ranking.documents.id_digests(in_this_process=in_this_process)

    def take(self, places: IntArray) -> ReportData:
        """The data of some of the queries, by position, without slices."""
        counts = self.recorded_counts
        return replace(
            self,
            queries=replace(self.queries.take(places), by=None),
            results={name: result.take(places) for name, result in self.results.items()},
            places=places if self.places is None else self.places[places],
            recorded_counts=None if counts is None else counts.take(places),
            # Both are about all queries; without documents, what was counted cannot be divided.
            recorded_health=None,
            left_out=(),
        )


def data_of(report: Any) -> ReportData:
    """What a report is computed from, which is no part of its public interface."""
    data: ReportData = report._data
    return data

"""The evaluation of runs against one truth: queries without lists, exclusions, the join, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._input.arrays import check_weights
from skrank_metrics._input.query_ids import to_id_array
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.evaluate import evaluate_ranking
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.column_roles import ColumnNames
from skrank_metrics.sources.document_columns import columns_by_id, values_by_id
from skrank_metrics.sources.join import Duplicates, join_documents, with_parents
from skrank_metrics.sources.lists import Lists
from skrank_metrics.sources.matching import (
    check_types,
    find_no_hit,
    find_unmatched_queries,
    find_unused_exclusions,
)
from skrank_metrics.sources.ranking_by_id import rank_lists

Missing: TypeAlias = Literal["zero", "skip", "error"]


@dataclass(frozen=True)
class RunEvaluation:
    """What to compute, and the truth; the arguments of ``evaluate_run``."""

    metrics: Mapping[str, BoundMetric]
    judged: Lists
    excluded: Lists
    in_trec_eval: bool
    missing: Missing
    duplicates: Duplicates
    parents: Any
    condense: bool
    documents: Any
    document_names: ColumnNames
    sample_weight: Any
    by: Any
    groups: Any

    def report(self, returned: Lists) -> RankingReport:
        """The report of a run."""
        returned = self._of_documents(returned)
        findings = find_unmatched_queries(self.judged, returned, self.missing)
        check_types(self.judged, returned, self.excluded)
        ids = self.judged.queries
        if self.missing == "skip":
            with_list = set(returned.queries)
            ids = [query for query in ids if query in with_list]
        listed = returned.of_queries(ids)
        ranked, labels, others = join_documents(
            self.judged.of_queries(ids), listed, self.excluded.of_queries(ids), self.duplicates
        )
        # The finding costs a look at each document.
        if len(self.excluded):
            findings += find_unused_exclusions(self.excluded, self.judged, returned)
        if (labels[: len(ranked)] < 0).all():
            findings += find_no_hit(self.judged, returned)
        del returned, listed  # as large as the input
        columns = {}
        if self.documents is not None:
            # Columns are looked up for documents that were returned or judged, not for a whole catalogue.
            names = [*ranked.documents.tolist(), *others.documents.tolist()]
            columns = columns_by_id(self.documents, self.document_names, names)
        stable = any(metric.get("ties") == "stable" for metric in self.metrics.values())
        ranking = rank_lists(
            ranked,
            labels,
            others,
            columns,
            self._described(ids),
            condense=self.condense,
            by_id=self.in_trec_eval and stable,
        )
        del ranked, labels, others
        return evaluate_ranking(ranking, self.metrics, left_out=tuple(findings))

    def _of_documents(self, returned: Lists) -> Lists:
        """The lists with scores as they are compared, and documents in place of passages."""
        score_type = returned.score_type or ("float32" if self.in_trec_eval else "float64")
        # Ranks would tie beyond 2^24.
        if score_type == "float32" and not returned.ranked:
            # Beyond float32, scores are infinite.
            with np.errstate(over="ignore"):
                rounded = returned.values.astype(np.float32).astype(np.float64)
            returned = replace(returned, values=rounded)
        if self.parents is None:
            return returned
        return with_parents(returned, self.parents, self.duplicates)

    def _described(self, ids: list[Any]) -> Queries:
        """The queries with their weights, slices and groups."""
        query_ids = to_id_array(ids, "queries")
        weights = None
        if self.sample_weight is not None:
            given = values_by_id(self.sample_weight, ids, "sample_weight")
            weights = check_weights(given, len(ids), "query")
        found: dict[str, NDArray[Any]] = {}
        for name, values in (("by", self.by), ("groups", self.groups)):
            if values is not None:
                column = values_by_id(values, ids, name)
                found[name] = slice_of_query(column, ids=query_ids, name=name)
        return Queries(query_ids, weights, **found)

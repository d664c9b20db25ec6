"""The evaluation of runs against one truth: queries without lists, exclusions, the join, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._input.arrays import check_weights
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.interface import setting
from skrank_metrics._input.query_ids import to_id_array
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.evaluate import evaluate_ranking
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.column_roles import ColumnNames
from skrank_metrics.sources.document_columns import columns_by_id, values_by_id
from skrank_metrics.sources.id_types import (
    OTHER_TYPES,
    kinds_of,
    refuse_look_alikes,
    refuse_other_types,
)
from skrank_metrics.sources.join import (
    Duplicates,
    join_documents,
    share_no_document,
    with_parents,
)
from skrank_metrics.sources.lists import Lists
from skrank_metrics.sources.ranking_by_id import rank_lists

Missing: TypeAlias = Literal["zero", "skip", "error"]


@dataclass(frozen=True)
class RunEvaluation:
    """What to compute, and the truth; the arguments of ``evaluate_run``."""

    metrics: Mapping[str, BoundMetric]
    judged: Lists
    excluded: Lists | None
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
        score_type = returned.score_type or ("float32" if self.in_trec_eval else "float64")
        if score_type == "float32" and not returned.ranked:
            returned = _in_float32(returned)
        if self.parents is not None:
            returned = with_parents(returned, self.parents, self.duplicates)
        self._check_types(returned)
        ids, findings = _evaluated_queries(self.judged, returned, self.missing)
        excluded = None
        if self.excluded is not None:
            excluded = self.excluded.of_queries(ids)
        listed = returned.of_queries(ids)
        ranked, labels, others = join_documents(
            self.judged.of_queries(ids), listed, excluded, self.duplicates
        )
        if self.excluded is not None and (len(ranked) == len(listed) or self.duplicates != "error"):
            findings = (*findings, *_find_unused_exclusions(self.excluded, self.judged, returned))
        if (labels < 0).all():
            findings = (*findings, *_find_no_hit(self.judged, returned))
        del returned, listed, excluded  # as large as the input
        columns = {}
        if self.documents is not None:
            names = [*ranked.documents.tolist(), *others.documents.tolist()]
            columns = columns_by_id(self.documents, self.document_names, names)
        stable = any(metric.get("ties") == "stable" for metric in self.metrics.values())
        ranking = rank_lists(
            ranked,
            np.concatenate((labels, others.values)),
            others,
            columns,
            _described(ids, self.sample_weight, self.by, self.groups),
            condense=self.condense,
            by_id=self.in_trec_eval and stable,
        )
        del ranked, labels, others
        return evaluate_ranking(ranking, self.metrics, left_out=findings)

    def _check_types(self, returned: Lists) -> None:
        """Refuse documents that cannot match because their ids are of different types."""
        lists = [one for one in (self.judged, returned, self.excluded) if one is not None]
        if len(set.union(*(one.documents.kinds() for one in lists))) == 1:
            return  # almost always; all that follows looks at each id
        judged, given = self.judged.documents.different()[0], returned.documents.different()[0]
        if judged and given and kinds_of(judged).isdisjoint(kinds_of(given)):
            example = _first_documents(returned, self.judged)
            raise ValueError(f"run and qrels share no document: {example} {OTHER_TYPES}")
        refuse_look_alikes("run", given, "qrels has the document", judged)
        refuse_look_alikes("qrels", judged, "run has the document", given)
        if self.excluded is not None:
            excluded = self.excluded.documents.different()[0]
            refuse_other_types(
                "exclude", excluded, "qrels and run have documents", [*given, *judged]
            )


def _described(ids: list[Any], sample_weight: Any, by: Any, groups: Any) -> Queries:
    """The queries with their weights, slices and groups."""
    query_ids = to_id_array(ids, "queries")
    weights = None
    if sample_weight is not None:
        given = values_by_id(sample_weight, ids, "sample_weight")
        weights = check_weights(given, len(ids), "query")
    one_each = Grouping(query_ids, np.ones(len(ids), dtype=np.intp), None)
    found: dict[str, NDArray[Any]] = {}
    for name, values in (("by", by), ("groups", groups)):
        if values is not None:
            column = values_by_id(values, ids, name)
            found[name] = slice_of_query(column, one_each, name=name)
    return Queries(query_ids, weights, **found)


def _in_float32(lists: Lists) -> Lists:
    """Scores that are equal if they agree to about seven digits; ranks would tie beyond 2^24."""
    with np.errstate(over="ignore"):  # beyond float32, scores are infinite
        return replace(lists, values=lists.values.astype(np.float32).astype(np.float64))


def check_excluded_queries(excluded: Lists, others: Sequence[Lists]) -> None:
    """Refuse exclusions for queries that neither qrels nor any run has."""
    queries = [query for lists in others for query in lists.queries]
    if excluded.queries and queries and set(queries).isdisjoint(excluded.queries):
        raise ValueError(
            f"exclude and run share no query: {excluded.queries[0]!r} ... against {queries[0]!r} ..."
        )
    refuse_other_types("exclude", excluded.queries, "qrels and run have queries", queries)


def _find_unused_exclusions(excluded: Lists, judged: Lists, returned: Lists) -> tuple[str, ...]:
    """A finding if no excluded document occurs, as in a run without them."""
    others = [lists for lists in (returned, judged) if len(lists)]
    if not others or not all(share_no_document(excluded, lists) for lists in others):
        return ()
    example = _first_documents(excluded, others[0])
    return (f"Nothing excluded: no document of exclude is in run or qrels, {example}",)


def _find_no_hit(judged: Lists, returned: Lists) -> tuple[str, ...]:
    """A finding if no returned document was judged for any query."""
    if not share_no_document(judged, returned):
        return ()
    example = _first_documents(returned, judged)
    return (f"No document in common: run and qrels share none, {example}, so no list has a hit.",)


def _first_documents(one: Lists, other: Lists) -> str:
    """The first document of each of two lists, in words."""
    first, second = (lists.documents[np.array([0])].tolist()[0] for lists in (one, other))
    return f"{first!r} ... against {second!r} ..."


def _evaluated_queries(
    judged: Lists, returned: Lists, missing: str
) -> tuple[list[Any], tuple[str, ...]]:
    """The queries to evaluate, in the order of qrels, and findings about others; words before a colon are a kind."""
    known, ranked = set(judged.queries), set(returned.queries)
    if known.isdisjoint(ranked):
        one, other = ([*lists.queries, None][0] for lists in (returned, judged))
        raise ValueError(f"run and qrels share no query: {one!r} ... against {other!r} ...")
    refuse_look_alikes("run", returned.queries, "qrels has the query", judged.queries)
    refuse_look_alikes("qrels", judged.queries, "run has the query", returned.queries)
    absent = [query for query in judged.queries if query not in ranked]
    if absent and missing == "error":
        raise ValueError(
            f"run has no list for {counted(len(absent), 'query')} of qrels, such as {absent[0]!r}."
        )
    found = []
    if absent:
        fate = "counted as empty lists."
        if missing == "skip":
            fate = f"left out; {setting('missing', 'zero')} counts them as 0."
        found.append(f"Queries without a list: {len(absent)}, {fate}")
    unjudged = len(ranked - known)
    if unjudged:
        found.append(f"Queries without judgments: {unjudged}, ignored.")
    if missing == "skip":
        return [query for query in judged.queries if query in ranked], tuple(found)
    return judged.queries, tuple(found)

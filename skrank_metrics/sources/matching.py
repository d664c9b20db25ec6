"""What of judgments, runs and exclusions does not match: an error, or a finding of the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skrank_metrics._input.interface import setting
from skrank_metrics._output.result import counted
from skrank_metrics.sources.id_types import (
    OTHER_TYPES,
    refuse_look_alikes,
    refuse_other_types,
)
from skrank_metrics.sources.lists import Lists


def check_excluded_queries(excluded: Lists, others: Sequence[Lists]) -> None:
    """Refuse exclusions for queries that neither qrels nor any run has."""
    queries = [query for lists in others for query in lists.queries]
    refuse_other_types("exclude", excluded.queries, "qrels and run have queries", queries)
    if excluded.queries and queries and set(queries).isdisjoint(excluded.queries):
        raise ValueError(
            f"exclude and run share no query: {excluded.queries[0]!r} ... against {queries[0]!r} ..."
        )


def check_types(judged: Lists, returned: Lists, excluded: Lists) -> None:
    """Refuse documents that cannot match because their ids are of different types."""
    kinds = [lists.documents.kinds for lists in (judged, returned, excluded)]
    if len(frozenset[str]().union(*kinds)) == 1:
        return  # almost always; all that follows looks at each id
    known, given = judged.documents.different()[0], returned.documents.different()[0]
    if known and given and kinds[0].isdisjoint(kinds[1]):
        example = _first_documents(returned, judged)
        raise ValueError(f"run and qrels share no document: {example} {OTHER_TYPES}")
    refuse_look_alikes("run", given, "qrels has the document", known)
    refuse_look_alikes("qrels", known, "run has the document", given)
    excluded_ids = excluded.documents.different()[0]
    refuse_other_types("exclude", excluded_ids, "qrels and run have documents", [*given, *known])


def find_unmatched_queries(judged: Lists, returned: Lists, missing: str) -> list[str]:
    """Findings about queries of one of the two; words before a colon are a kind."""
    known, ranked = set(judged.queries), set(returned.queries)
    refuse_look_alikes("run", returned.queries, "qrels has the query", judged.queries)
    refuse_look_alikes("qrels", judged.queries, "run has the query", returned.queries)
    if known.isdisjoint(ranked):
        one, other = (next(iter(lists.queries), None) for lists in (returned, judged))
        raise ValueError(f"run and qrels share no query: {one!r} ... against {other!r} ...")
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
    # Files of judgments often cover only some queries of a run, so this is no error.
    if not ranked <= known:
        found.append(f"Queries without judgments: {len(ranked - known)}, ignored.")
    return found


def find_unused_exclusions(excluded: Lists, judged: Lists, returned: Lists) -> list[str]:
    """A finding if no excluded document occurs, as in a run without them."""
    # Whoever excludes judged documents has the right ids, too.
    others = [lists for lists in (returned, judged) if len(lists)]
    if not others or not all(_share_none(excluded, lists) for lists in others):
        return []
    example = _first_documents(excluded, others[0])
    return [f"Nothing excluded: no document of exclude is in run or qrels, {example}"]


def find_no_hit(judged: Lists, returned: Lists) -> list[str]:
    """A finding if no returned document was judged for any query."""
    if not _share_none(judged, returned):
        return []
    example = _first_documents(returned, judged)
    return [f"No document in common: run and qrels share none, {example}, so no list has a hit."]


def _share_none(one: Lists, other: Lists) -> bool:
    """Whether no document is in both, in lists of any query; never for lists without documents."""
    if not len(one) or not len(other):
        return False
    return set(one.documents.different()[0]).isdisjoint(other.documents.different()[0])


def _first_documents(one: Lists, other: Lists) -> str:
    """The first document of each of two lists, in words."""
    first, second = (lists.documents[np.array([0])].tolist()[0] for lists in (one, other))
    return f"{first!r} ... against {second!r} ..."

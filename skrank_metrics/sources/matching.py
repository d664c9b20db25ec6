"""What of judgments, runs and exclusions does not match: an error, or a finding of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skrank_metrics._input.id_types import refuse_unlike
from skrank_metrics._input.interface import setting
from skrank_metrics._output.result import counted
from skrank_metrics.sources.lists import Lists


def check_excluded_queries(excluded: Lists, others: Sequence[Lists]) -> None:
    """Refuse exclusions for queries that neither qrels nor any run has."""
    queries = [query for lists in others for query in lists.queries]
    others_have = "qrels and run have queries such as"
    refuse_unlike("exclude", excluded.queries, others_have, queries, whole_kind=True)
    example = _apart(excluded.queries, queries)
    if example:
        raise ValueError(f"exclude and run share no query: {example}")


def check_types(judged: Lists, returned: Lists, excluded: Lists) -> None:
    """Refuse documents that cannot match because their ids are of different types."""
    kinds = [lists.documents.kinds for lists in (judged, returned, excluded)]
    if len(frozenset[str]().union(*kinds)) == 1:
        return  # almost always
    known, given = judged.documents.different(), returned.documents.different()
    unlike = kinds[0].isdisjoint(kinds[1])
    refuse_unlike("run", given, "qrels has the document", known, whole_kind=unlike)
    refuse_unlike("qrels", known, "run has the document", given)
    names = excluded.documents.different()
    others_have = "qrels and run have documents such as"
    refuse_unlike("exclude", names, others_have, [*given, *known], whole_kind=True)


def find_unmatched_queries(judged: Lists, returned: Lists, missing: str) -> list[str]:
    """Findings about queries of one of the two; words before a colon are a kind."""
    known, ranked = set(judged.queries), set(returned.queries)
    refuse_unlike("run", returned.queries, "qrels has the query", judged.queries)
    refuse_unlike("qrels", judged.queries, "run has the query", returned.queries)
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
    known = [*returned.documents.different(), *judged.documents.different()]
    example = _apart(excluded.documents.different(), known)
    if not example:
        return []
    return [f"Nothing excluded: no document of exclude is in run or qrels, {example}"]


def find_no_hit(judged: Lists, returned: Lists) -> list[str]:
    """A finding if no returned document was judged for any query."""
    example = _apart(returned.documents.different(), judged.documents.different())
    if not example:
        return []
    return [f"No document in common: run and qrels share none, {example}, so no list has a hit."]


def _apart(ids: Sequence[Any], others: Sequence[Any]) -> str:
    """The first of each if they share none, in words; "" if they share one, or one has none."""
    if not ids or not others or not set(others).isdisjoint(ids):
        return ""
    return f"{ids[0]!r} ... against {others[0]!r} ..."

"""Returned documents joined with judgments and exclusions, by the ids of queries and documents."""

from __future__ import annotations

import numbers
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, repeat
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import DocumentIds, Documents, Queries, compact
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    as_numpy,
    places_in,
    refuse_rounded,
    to_objects,
)
from skrank_metrics._input.columns import ColumnNames, document_columns, find_column
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.id_types import refuse_unlike
from skrank_metrics._output.result import counted
from skrank_metrics.reports.health import named_ids
from skrank_metrics.sources.lists import IdColumn, JoinedLists, equal_to_next, number_alike

# Values by the ids of documents or queries: columns for custom metrics, weights, slices and groups.


def values_by_id(values: Any, ids: Sequence[Any], name: str, what: str = "query") -> list[Any]:
    """One value per query or document, from values by its id."""
    table = values
    if hasattr(values, "iloc") and values.ndim == 1:
        if not values.index.is_unique:
            raise ValueError(f"{name} has a {what} twice in its index.")
        table = values.to_dict()
    if not isinstance(table, Mapping):
        raise TypeError(
            f"{name} must be a dict, or a Series with the {what} ids as index; got {type(values).__name__}."
        )
    # A dict counts each id once, and keeps their order.
    absent = dict.fromkeys(one for one in ids if one not in table)
    if absent:
        first = next(iter(absent))
        raise ValueError(
            f"{name} has no value for {counted(len(absent), what)}, such as {first!r}."
        )
    refuse_unlike(name, table, f"there is the {what}", ids)
    return [table[one] for one in ids]


def columns_by_id(
    documents: Any, names: ColumnNames, ids: Sequence[Any]
) -> dict[str, NDArray[Any]]:
    """The entries of documents, with the given ids, in each column."""
    columns = document_columns(documents)
    if isinstance(documents, Mapping):
        found = {}
        for name, column in columns.items():
            holder = f"documents[{name!r}]"
            found[name] = to_column(values_by_id(column, ids, holder, "document"), holder)
        return found
    given = _ids_of_frame(documents, columns, names)
    table = {
        one: place for place, one in enumerate(IdColumn.from_column(given, "documents").tolist())
    }
    if len(table) < len(given):
        raise ValueError("documents has a document twice.")
    places = np.array(values_by_id(table, ids, "documents", "document"), dtype=np.intp)
    return {
        name: _entries(column, f"documents[{name!r}]")[places] for name, column in columns.items()
    }


def _ids_of_frame(documents: Any, columns: dict[str, Any], names: ColumnNames) -> Any:
    """The column of ids, which is taken out of the columns, or the index."""
    chosen = find_column("document", list(columns), names, "documents")
    if chosen is not None:
        return columns.pop(chosen)
    index = getattr(documents, "index", None)
    if index is None:
        raise ValueError(
            "documents has no column 'document' of ids; name it with columns={'document': ...}."
        )
    return index


def _entries(column: Any, name: str) -> NDArray[Any]:
    """The entries of a column; lists and other objects stay what they are."""
    if hasattr(column, "to_pylist"):  # pyarrow's nulls would turn integers into floats
        return to_column(column.to_pylist(), name)
    array = as_numpy(column)
    refuse_rounded(column, array, name)
    # NumPy would cut longer strings, if some are replaced.
    return array.astype(object) if array.dtype.kind in "US" else array


def to_column(values: list[Any], name: str) -> NDArray[Any]:
    """Numbers and times as an array, arrays as rows, and anything else as objects."""
    kinds = set(map(type, values))
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    if arrays and len(arrays) == len(values) and len({value.shape for value in arrays}) == 1:
        return np.stack(arrays)
    # NumPy would turn values of mixed types into strings.
    if kinds and all(issubclass(kind, numbers.Number | np.bool_) for kind in kinds):
        array = np.array(values)
        refuse_rounded(values, array, name)
        return array
    if kinds == {np.datetime64}:
        return np.array(values)
    return to_objects(values)


# Returned documents joined with judgments and exclusions, by the ids of queries and documents.

Keys: TypeAlias = NDArray[np.int64]
Duplicates: TypeAlias = Literal["error", "first", "best"]


def join_documents(
    judged: JoinedLists, returned: JoinedLists, excluded: JoinedLists, duplicates: Duplicates
) -> tuple[JoinedLists, NDArray[Any], JoinedLists]:
    """Returned documents that are not excluded, the documents that were only judged, and between them, all labels.

    All lists number the same queries alike. Labels are below 0 if nobody judged a document.
    """
    if judged.given is not None and returned.given is not None and not len(excluded):
        places = _look_up(judged.queries, judged.given, returned.given)
        rows = np.flatnonzero(places >= 0)
        found = places[rows]
    else:
        of_judged, of_returned, of_excluded = pair_keys([judged, returned, excluded])
        judged, of_judged = without_duplicates(judged, of_judged, duplicates)
        returned, of_returned = without_duplicates(returned, of_returned, duplicates)
        if len(excluded):
            rows, _ = _find(of_returned, np.sort(of_excluded, kind="stable"))
            kept = np.delete(np.arange(len(returned)), rows)
            returned, of_returned = returned.take(kept), of_returned[kept]
        # Judgments are few, so these are sorted, and the run is searched in its own order.
        order = np.argsort(of_judged, kind="stable")
        rows, places = _find(of_returned, of_judged[order])
        found = order[places]
    values = _narrow(judged.values)
    labels = np.full(len(returned), -1, dtype=values.dtype)
    unranked = judged.values >= 0
    labels[rows] = values[found]
    unranked[found] = False
    return (
        returned,
        np.concatenate((labels, values[unranked])),
        judged.take(np.flatnonzero(unranked)),
    )


def _narrow(labels: FloatArray) -> NDArray[Any]:
    """Labels in an eighth of the memory if they are small whole numbers, as nearly always."""
    small = np.clip(labels, -1, 100).astype(np.int8)
    return small if (small == labels).all() else labels


def _look_up(
    queries: list[Any],
    judged: Mapping[Any, Collection[Any]],
    returned: Mapping[Any, Collection[Any]],
) -> IntArray:
    """The place of each returned document among those that were judged for its query, -1 if it is not there.

    This takes half of the time of numbering all documents.
    """
    places = list[int]()
    first = 0
    for query in queries:
        place_of = dict(zip(judged[query], count(first)))
        first += len(place_of)
        places += map(place_of.get, returned.get(query, ()), repeat(-1))
    return np.fromiter(places, np.intp, len(places))


def _find(wanted: Keys, ordered: Keys) -> tuple[IntArray, IntArray]:
    """The rows of keys that are among sorted ones, and their places there."""
    if not len(ordered):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    found = places_in(ordered, wanted)
    known = np.flatnonzero(ordered[found] == wanted)
    return known, found[known]


def pair_keys(lists: Sequence[JoinedLists]) -> list[Keys]:
    """An integer for each pair of a query and a document; the same pair has the same one in all lists."""
    # With query * n + document, different pairs have different keys, which hashes do not promise.
    numbers = number_alike([one.documents for one in lists])
    n_queries = max(len(one.queries) for one in lists)
    ends = [end for column in numbers if len(column) for end in (column.min(), column.max())]
    low, high = int(min(ends, default=0)), int(max(ends, default=0))
    if (high - low + 1) * n_queries >= 2**63:
        # Integers that are far apart get numbers without gaps.
        different, compact = np.unique(np.concatenate(numbers), return_inverse=True)
        sizes = [len(column) for column in numbers]
        numbers = np.split(compact, np.cumsum(sizes)[:-1])
        low, high = 0, len(different) - 1
    keys = []
    for one, column in zip(lists, numbers, strict=True):
        # These are changed in place, since they are as long as the lists.
        of_rows: Keys = one.codes.astype(np.int64)
        of_rows *= high - low + 1
        of_rows += column
        of_rows -= low
        keys.append(of_rows)
    return keys


def without_duplicates(
    lists: JoinedLists, keys: Keys, duplicates: Duplicates
) -> tuple[JoinedLists, Keys]:
    """Refuse documents that are twice in a list, or keep the first or the best of each; with their keys."""
    # Hardly any list has duplicates. Rows are in the order of their queries, for which a stable sort is the fastest.
    if not equal_to_next(np.sort(keys, kind="stable")).any():
        return lists, keys
    # The rows of a pair are in the order in which they came, or the best comes first.
    by_pair = np.argsort(keys, kind="stable")
    if duplicates == "best":
        by_pair = np.lexsort((-lists.values, keys))
    repeated = by_pair[1:][equal_to_next(keys[by_pair])]
    if duplicates == "error":
        refuse_twice(lists.argument, lists.pair(int(repeated.min())))
    kept = np.delete(np.arange(len(keys)), repeated)
    return lists.take(kept), keys[kept]


def refuse_twice(holder: str, pair: str) -> NoReturn:
    """Raise an error for a document that is twice in a list."""
    raise ValueError(
        f"{holder} has {pair} twice. evaluate_run keeps one with duplicates='first' or duplicates='best', such as the "
        "best label of several subtopics; if the run has passages of documents, pass parents=."
    )


def with_parents(lists: JoinedLists, parents: Any, duplicates: Duplicates) -> JoinedLists:
    """Passages replaced by their documents; the best passage of a document stands for it."""
    # A passage may not be twice in a list, but its document may.
    (keys,) = pair_keys([lists])
    lists, _ = without_duplicates(lists, keys, duplicates)
    passages, places = lists.documents.numbered()
    of_passages = parents
    if callable(parents):
        of_passages = {passage: parents(passage) for passage in passages}
    found = values_by_id(of_passages, passages, "parents", "passage")
    documents = IdColumn.from_values(found, "parents")
    lists = replace(lists, documents=documents[places], given=None)
    (keys,) = pair_keys([lists])
    return without_duplicates(lists, keys, "best")[0]


# What ends the id of a passage, as in doc-1::0 and doc-1#2.
_LAST_PART = re.compile(r"[^0-9A-Za-z]+[0-9A-Za-z]+$")

# What of judgments, runs and exclusions does not match: an error, or a finding of the report.


def check_excluded_queries(excluded: JoinedLists, others: Sequence[JoinedLists]) -> None:
    """Refuse exclusions for queries that neither qrels nor any run has."""
    queries = [query for lists in others for query in lists.queries]
    others_have = "qrels and run have queries such as"
    refuse_unlike("exclude", excluded.queries, others_have, queries, whole_kind=True)
    example = _apart(excluded.queries, queries)
    if example:
        raise ValueError(f"exclude and run share no query: {example}")


def check_types(judged: JoinedLists, returned: JoinedLists, excluded: JoinedLists) -> None:
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


def find_unmatched_queries(
    judged: JoinedLists, returned: JoinedLists, missing: str, *, is_only: bool = True
) -> list[str]:
    """Findings about queries of one of the two; words before a colon are a kind.

    Runs that lack different queries cannot be compared without them, so only a single run has the advice to skip them.
    """
    known, ranked = set(judged.queries), set(returned.queries)
    for lists in (judged, returned):
        if not lists.queries:
            raise ValueError(f"{lists.argument} is empty: it has no query.")
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
        is_one = len(absent) == 1
        are, count, them = ("is", "counts", "it") if is_one else ("are", "count", "them")
        advice = f"; missing='skip' leaves {them} out" if is_only else ""
        fate = f"{count} as 0{advice}."
        if missing == "skip":
            fate = f"{are} left out; missing='zero' counts {them} as 0."
        queries = counted(len(absent), "query") + named_ids(to_objects(absent))
        found.append(f"{queries} {are} not in the run and {fate}")
    # Files of judgments often cover only some queries of a run, so this is no error.
    if not ranked <= known:
        others = ranked - known
        have, are = ("has", "is") if len(others) == 1 else ("have", "are")
        queries = counted(len(others), "query") + named_ids(to_objects(others))
        found.append(f"{queries} of the run {have} no judgments and {are} ignored.")
    return found


def find_exclusions(excluded: JoinedLists, judged: JoinedLists, returned: JoinedLists) -> list[str]:
    """A finding if no excluded document occurs, as in a run without them."""
    # Whoever excludes judged documents has the right ids, too.
    known = [*returned.documents.different(), *judged.documents.different()]
    example = _apart(excluded.documents.different(), known)
    if not example:
        return []
    return [f"Nothing excluded: no document of exclude is in run or qrels, {example}"]


def find_lost(excluded: JoinedLists, judged: JoinedLists, duplicates: Duplicates) -> list[str]:
    """A finding if relevant documents are excluded. Both lists number the same queries alike."""
    of_judged, of_excluded = pair_keys([judged, excluded])
    judged, of_judged = without_duplicates(judged, of_judged, duplicates)
    of_relevant = of_judged[judged.values > 0]
    n_lost = int(np.isin(of_relevant, of_excluded).sum())
    if not n_lost:
        return []
    return [
        f"Relevant documents excluded: {n_lost} of {len(of_relevant)} cannot be returned, but count as relevant. "
        "Remove them from qrels if they should not count."
    ]


def find_no_hit(judged: JoinedLists, returned: JoinedLists) -> list[str]:
    """A finding if no returned document was judged for any query."""
    names, known = returned.documents.different(), judged.documents.different()
    example = _apart(names, known)
    if not example:
        return []
    found = f"No document in common: run and qrels share none, {example}, so no list has a hit."
    judged_names = set(map(str, known))
    for passage in map(str, names):
        document = _LAST_PART.sub("", passage)
        if document != passage and document in judged_names:
            found += f" If {passage!r} is a passage of {document!r}, pass parents=."
            break
    return [found]


def _apart(ids: Sequence[Any], others: Sequence[Any]) -> str:
    """The first of each if they share none, in words; "" if they share one, or one has none."""
    if not ids or not others or not set(others).isdisjoint(ids):
        return ""
    return f"{ids[0]!r} ... against {others[0]!r} ..."


# The ranking of documents that were joined by id: those that were returned, and those that were only judged.


def rank_lists(
    returned: JoinedLists,
    labels: NDArray[Any],
    others: JoinedLists,
    columns: Mapping[str, NDArray[Any]],
    queries: Queries,
    *,
    condense: bool,
    in_float32: bool,
) -> Ranking:
    """The documents by query: those that were returned, in their order, and the others.

    Labels, like columns, are those of the returned documents and then of the others; they are below 0 if nobody judged
    a document.
    """
    n_queries = len(queries)
    codes = np.concatenate((returned.codes, others.codes))
    # A query without documents gets one that was neither returned nor judged.
    sizes = np.bincount(codes, minlength=n_queries)
    empty = np.flatnonzero(sizes == 0)
    codes = np.concatenate((codes, empty), dtype=np.int32)
    order = np.argsort(codes, kind="stable")
    del codes
    # Documents that were not returned get any score, which spares a copy.
    scores = _filled(returned.values, 1 - len(returned), 0).take(order, mode="clip")
    # The report keeps the order.
    order = order.astype(np.min_scalar_type(len(order)))
    sizes[empty] = 1
    retrieved = order < len(returned)
    labels = _filled(labels, len(empty), -1)[order]
    judged = labels >= 0
    np.maximum(labels, 0, out=labels)
    # Labels that nobody judged are below 0 only up to here.
    lookup = partial(_names_at, returned.documents, others.documents)
    documents = Documents(
        Grouping(queries.ids, sizes, None),
        compact(labels),
        queries,
        judged=None if judged.all() else judged,
        condense=condense,
        # Queries without documents get any value.
        columns={name: _filled(column, len(empty), 0)[order] for name, column in columns.items()},
        document_ids=DocumentIds(lookup, order, in_float32),
    )
    return Ranking(documents, scores, None if retrieved.all() else retrieved)


def _names_at(returned: IdColumn, others: IdColumn, rows: IntArray) -> list[Any]:
    """Ids of rows of the returned documents, then of the others, then of queries without documents, which have none."""
    names = np.full(len(rows), None, dtype=object)
    first = 0
    for ids in (returned, others):
        within = np.flatnonzero((rows >= first) & (rows < first + len(ids)))
        names[within] = to_objects(ids[rows[within] - first].tolist())
        first += len(ids)
    return names.tolist()


def _filled(values: NDArray[Any], n_more: int, filler: Any) -> NDArray[Any]:
    """Values, followed by fillers."""
    if n_more <= 0:
        return values
    fillers = np.full((n_more, *values.shape[1:]), filler, dtype=values.dtype)
    return np.concatenate((values, fillers))

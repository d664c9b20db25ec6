"""Returned documents joined with judgments and exclusions, by the ids of queries and documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count, repeat
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, places_in
from skrank_metrics._input.interface import on_command_line, setting
from skrank_metrics.sources.document_columns import values_by_id
from skrank_metrics.sources.lists import Ids, Lists, equal_to_next, number_alike

Keys: TypeAlias = NDArray[np.int64]
Duplicates: TypeAlias = Literal["error", "first", "best"]


def join_documents(
    judged: Lists, returned: Lists, excluded: Lists, duplicates: Duplicates
) -> tuple[Lists, NDArray[Any], Lists]:
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


def pair_keys(lists: Sequence[Lists]) -> list[Keys]:
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
        # In place, since these are as long as the lists.
        of_rows: Keys = one.codes.astype(np.int64)
        of_rows *= high - low + 1
        of_rows += column
        of_rows -= low
        keys.append(of_rows)
    return keys


def without_duplicates(lists: Lists, keys: Keys, duplicates: Duplicates) -> tuple[Lists, Keys]:
    """Refuse documents that are twice in a list, or keep the first or the best of each; with their keys."""
    # Hardly any list has duplicates. Rows are in the order of their queries, for which a stable sort is the fastest.
    if not equal_to_next(np.sort(keys, kind="stable")).any():
        return lists, keys
    # Rows of a pair in the order in which they came, or the best first.
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
    first, best = setting("duplicates", "first"), setting("duplicates", "best")
    passages = "" if on_command_line() else "; if the run has passages of documents, pass parents="
    raise ValueError(f"{holder} has {pair} twice. Keep one with {first} or {best}{passages}.")


def with_parents(lists: Lists, parents: Any, duplicates: Duplicates) -> Lists:
    """Passages replaced by their documents; the best passage of a document stands for it."""
    # A passage may not be twice in a list, but its document may.
    (keys,) = pair_keys([lists])
    lists, _ = without_duplicates(lists, keys, duplicates)
    passages, places = lists.documents.numbered()
    of_passages = parents
    if callable(parents):
        of_passages = {passage: parents(passage) for passage in passages}
    found = values_by_id(of_passages, passages, "parents", "passage")
    documents = Ids.from_values(found, "parents")
    lists = replace(lists, documents=documents[places], given=None)
    (keys,) = pair_keys([lists])
    return without_duplicates(lists, keys, "best")[0]

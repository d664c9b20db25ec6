"""The ranking of documents that were joined by id: those that were returned, and those that were only judged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import DocumentIds, Documents, Queries, compact
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import IntArray, to_objects
from skrank_metrics._input.grouping import Grouping
from skrank_metrics.sources.lists import Ids, Lists, equal_to_next


def rank_lists(
    returned: Lists,
    labels: NDArray[Any],
    others: Lists,
    columns: Mapping[str, NDArray[Any]],
    queries: Queries,
    *,
    condense: bool,
    by_id: bool,
) -> Ranking:
    """The documents by query: those that were returned, in their order or by score and id, and the others.

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
    if by_id:
        # Sorting by query is stable, so this order remains within each query.
        rows = np.concatenate((_by_score_and_id(returned), np.arange(len(returned), len(codes))))
        order = rows[np.argsort(codes[rows], kind="stable")]
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
    documents = Documents(
        Grouping(queries.ids, sizes, None),
        compact(labels),
        queries,
        judged=None if judged.all() else judged,
        condense=condense,
        # Queries without documents get any value.
        columns={name: _filled(column, len(empty), 0)[order] for name, column in columns.items()},
        document_ids=DocumentIds(partial(_names_at, returned.documents, others.documents), order),
    )
    return Ranking(documents, scores, None if retrieved.all() else retrieved)


def _names_at(returned: Ids, others: Ids, rows: IntArray) -> list[Any]:
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


def _by_score_and_id(lists: Lists) -> IntArray:
    """Rows in order of query, score descending, and id descending as text."""
    order = np.arange(len(lists))
    codes, scores = lists.codes, lists.values
    descends = (codes[1:] > codes[:-1]) | ((codes[1:] == codes[:-1]) & (scores[1:] <= scores[:-1]))
    # Most runs are in this order already.
    if not descends.all():
        order = np.lexsort((-scores, codes))
        codes, scores = codes[order], scores[order]
    with_next = equal_to_next(codes, scores)
    tied = np.zeros(len(order), dtype=bool)
    tied[:-1] |= with_next
    tied[1:] |= with_next
    # Most documents are not tied, and need no text.
    rows = order[tied]
    # Python compares code points, which are in the order of their bytes in UTF-8.
    names = list(map(str, lists.documents[rows].tolist()))
    places = np.empty(len(rows), dtype=np.intp)
    places[sorted(range(len(rows)), key=names.__getitem__, reverse=True)] = np.arange(len(rows))
    order[tied] = rows[np.lexsort((places, -scores[tied], codes[tied]))]
    return order

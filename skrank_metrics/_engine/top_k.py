"""The documents that can be among the first ranks, many queries at a time; the others need no order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._engine.rectangles import SLAB, blocks_of, windows
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.grouping import Grouping

# Steps on few documents take about as long as on many, so padding is cheaper than further steps.
WIDE_RATIO = 2.5


@dataclass(frozen=True)
class TopDocuments:
    """Documents of some queries that can be among the first ranks; within a query, they keep their given order."""

    queries: IntArray
    keys: FloatArray  # -inf is padding
    columns: IntArray | None  # their positions within the query; None if all documents are present


def top_documents(ranking: Ranking, depth: int | None) -> Iterator[TopDocuments]:
    """Yield the documents that can be among the first ``depth``, for many queries at a time."""
    documents, keys = ranking.documents, ranking.keys()
    if depth is None:
        every = np.arange(documents.n_queries)
        return _in_blocks(_whole(documents, keys, every), documents.block_cells)
    return _in_blocks(_first(documents, keys, depth), documents.block_cells)


def _first(documents: Documents, keys: FloatArray, depth: int) -> Iterator[TopDocuments]:
    starts, sizes = documents.grouping.starts, documents.grouping.sizes
    # Groups of four rows that lie within each query.
    first, end = -(-starts // 4), (starts + sizes) // 4
    # Sorting all documents of a shorter list is faster than choosing some.
    is_long = end - first > depth
    yield from _whole(documents, keys, np.flatnonzero(~is_long))
    if is_long.any():
        long = np.flatnonzero(is_long)
        # Shorter lists have no bound: no key reaches NaN, while +inf reaches +inf.
        bounds = np.full(len(sizes), np.nan)
        largest = _largest_of_four(keys)
        bounds[long] = _lower_bounds(largest, first[long], end[long] - first[long], depth)
        yield from _reaching(documents, keys, long, bounds)


def _whole(documents: Documents, keys: FloatArray, queries: IntArray) -> Iterator[TopDocuments]:
    """All documents of some queries."""
    for block in blocks_of(documents.grouping.sizes[queries], documents.block_cells):
        yield TopDocuments(
            queries[block], documents.windows(keys, queries[block], -np.inf), columns=None
        )


def _largest_of_four(keys: FloatArray) -> FloatArray:
    largest = np.empty(len(keys) // 4)
    for first in range(0, len(largest), SLAB // 4):
        slab = largest[first : first + SLAB // 4]
        fours = keys[4 * first : 4 * (first + len(slab))].reshape(-1, 4)
        first_two = np.maximum(fours[:, 0], fours[:, 1])
        last_two = np.maximum(fours[:, 2], fours[:, 3])
        np.maximum(first_two, last_two, out=slab)
    return largest


def _lower_bounds(largest: FloatArray, first: IntArray, sizes: IntArray, depth: int) -> FloatArray:
    """Keys that at least ``depth`` documents of a query reach, and few more: the depth-th largest of group maxima."""
    bounds = np.empty(len(first))
    for block in blocks_of(sizes, SLAB, WIDE_RATIO):
        of_queries = windows(largest, first[block], sizes[block], -np.inf)
        place = of_queries.shape[1] - depth
        bounds[block] = np.partition(of_queries, place, axis=1)[:, place]
    return np.maximum(bounds, -np.finfo(np.float64).max)  # padding never counts


@dataclass(frozen=True)
class _Chosen:
    """Documents of some queries that reach the bound of their query."""

    queries: IntArray
    counts: IntArray  # of each query
    keys: FloatArray
    columns: IntArray


def _reaching(
    documents: Documents, keys: FloatArray, queries: IntArray, bounds: FloatArray
) -> Iterator[TopDocuments]:
    """The documents that reach the bound of their query, from as many queries at once as stay in the cache."""
    n_documents = np.cumsum(documents.grouping.sizes[queries])
    slabs = np.split(queries, np.flatnonzero(np.diff(n_documents // SLAB)) + 1)
    tied: list[IntArray] = [queries[:0]]
    waiting: list[_Chosen] = []
    for number, slab in enumerate(slabs, start=1):
        chosen = _choose(documents.grouping, keys, slab, bounds)
        if chosen is None:
            tied.append(slab)
        else:
            waiting.append(chosen)
        n_waiting = sum(len(one.columns) for one in waiting)
        if waiting and (number == len(slabs) or n_waiting > documents.block_cells):
            yield from _as_rectangles(waiting, documents.block_cells)
    yield from _whole(documents, keys, np.concatenate(tied))


def _choose(
    grouping: Grouping, keys: FloatArray, queries: IntArray, bounds: FloatArray
) -> _Chosen | None:
    """The documents that reach the bounds of some queries; None if most do."""
    every = slice(queries[0], queries[-1] + 1)  # with short lists in between, which have no bound
    starts, sizes = grouping.starts[every], grouping.sizes[every]
    keys = keys[starts[0] : starts[-1] + sizes[-1]]
    places = np.flatnonzero(keys >= np.repeat(bounds[every], sizes))
    if 2 * len(places) > len(keys):
        return None
    first = starts[queries - queries[0]] - starts[0]
    ends = np.searchsorted(places, first + grouping.sizes[queries])
    counts = np.diff(ends, prepend=0)
    return _Chosen(queries, counts, keys.take(places), places - np.repeat(first, counts))


def _as_rectangles(waiting: list[_Chosen], block_cells: int) -> Iterator[TopDocuments]:
    """Chosen documents of many queries; queries with similar numbers of them share a rectangle."""
    queries = np.concatenate([chosen.queries for chosen in waiting])
    counts = np.concatenate([chosen.counts for chosen in waiting])
    keys = np.concatenate([chosen.keys for chosen in waiting])
    columns = np.concatenate([chosen.columns for chosen in waiting])
    waiting.clear()  # frees memory
    starts = np.cumsum(counts) - counts
    for block in blocks_of(counts, block_cells, WIDE_RATIO):
        first, sizes = starts[block], counts[block]
        yield TopDocuments(
            queries[block],
            windows(keys, first, sizes, -np.inf),
            windows(columns, first, sizes, 0),
        )


def _in_blocks(tops: Iterable[TopDocuments], block_cells: int) -> Iterator[TopDocuments]:
    """Join neighbours up to the size of a block, since the cost of a step depends little on the number of documents."""
    waiting: list[TopDocuments] = []
    n_queries = width = 0
    for top in tops:
        n_queries += len(top.queries)
        width = max(width, top.keys.shape[1])
        if waiting and n_queries * width > block_cells:
            yield _joined(waiting)
            n_queries, width = top.keys.shape
        waiting.append(top)
    yield _joined(waiting)


def _joined(waiting: list[TopDocuments]) -> TopDocuments:
    """Join documents of several queries, and empty their list to free memory."""
    if len(waiting) == 1:
        return waiting.pop()
    queries = np.concatenate([top.queries for top in waiting])
    keys = np.full((len(queries), max(top.keys.shape[1] for top in waiting)), -np.inf)
    columns = np.zeros(keys.shape, dtype=np.intp)
    first = 0
    for top in waiting:
        width = top.keys.shape[1]
        rows = slice(first, first + len(top.queries))
        keys[rows, :width] = top.keys
        columns[rows, :width] = np.arange(width) if top.columns is None else top.columns
        first += len(top.queries)
    waiting.clear()
    return TopDocuments(queries, keys, columns)

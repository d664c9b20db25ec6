"""The documents that can be among the first ranks, many queries at a time; the others need no order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._engine.rectangles import blocks_of, windows
from skrank_metrics._input.arrays import FloatArray, IntArray

# Few documents of each query are chosen, so that a block can have more queries, of more different lengths.
BLOCKS_AT_ONCE, WIDE_RATIO = 4, 2.0
# Sorting all documents of a shorter list is faster than choosing some.
LEAST_TIMES_DEPTH = 4


@dataclass(frozen=True)
class TopDocuments:
    """Documents of some queries that can be among the first ranks; within a query, they keep their given order."""

    queries: IntArray
    keys: FloatArray  # -inf is padding
    columns: IntArray | None  # their positions within the query; None if all documents are present


def top_documents(ranking: Ranking, depth: int | None) -> Iterator[TopDocuments]:
    """Yield the documents that can be among the first ``depth``, for many queries at a time."""
    documents = ranking.documents
    blocks = documents.blocks()
    if depth is not None:
        block_cells = BLOCKS_AT_ONCE * documents.block_cells
        blocks = blocks_of(documents.grouping.sizes, block_cells, WIDE_RATIO)
    return _in_blocks(_first(ranking, blocks, depth), documents.block_cells)


def _first(
    ranking: Ranking, blocks: Iterator[IntArray], depth: int | None
) -> Iterator[TopDocuments]:
    keys = ranking.keys()
    for queries in blocks:
        of_queries = ranking.documents.windows(keys, queries, -np.inf)
        if depth is None or of_queries.shape[1] < LEAST_TIMES_DEPTH * depth:
            yield TopDocuments(queries, of_queries, columns=None)
        else:
            yield from _chosen(queries, of_queries, depth)


def _chosen(queries: IntArray, keys: FloatArray, depth: int) -> Iterator[TopDocuments]:
    """The documents that reach the bound of their query; queries with similar numbers of them share a block."""
    places = np.flatnonzero(keys >= _lower_bounds(keys, depth)[:, None])
    rows, columns = np.divmod(places, keys.shape[1])
    counts = np.bincount(rows, minlength=len(keys))
    starts = np.cumsum(counts) - counts
    keys = keys.take(places)
    for block in blocks_of(counts, keys.size, WIDE_RATIO):
        first, sizes = starts[block], counts[block]
        of_queries = windows(keys, first, sizes, -np.inf)
        yield TopDocuments(queries[block], of_queries, windows(columns, first, sizes, 0))


def _lower_bounds(keys: FloatArray, depth: int) -> FloatArray:
    """Keys that at least ``depth`` documents of a query reach, and few more: the depth-th largest maximum of four."""
    quarter = keys.shape[1] // 4
    first_two = np.maximum(keys[:, :quarter], keys[:, quarter : 2 * quarter])
    last_two = np.maximum(keys[:, 2 * quarter : 3 * quarter], keys[:, 3 * quarter : 4 * quarter])
    largest = np.maximum(first_two, last_two)
    # Each maximum is the key of another document, so depth maxima are reached by depth documents.
    largest.partition(quarter - depth, axis=1)
    # Padding never counts.
    return np.maximum(largest[:, quarter - depth], -np.finfo(np.float64).max)


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

"""The documents that can be among the first ranks, many queries at a time; the others need no order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._engine.rectangles import blocks_of, windows
from skrank_metrics._input.arrays import FloatArray, IntArray

# Few documents of each query are chosen, so that a block can have more queries, of more different lengths.
BLOCKS_AT_ONCE = 4
# Sorting all documents of a shorter list is faster than choosing some.
LEAST_TIMES_DEPTH = 4


@dataclass(frozen=True)
class TopDocuments:
    """Documents of some queries that can be among the first ranks; within a query, they keep their given order."""

    queries: IntArray
    keys: FloatArray  # -inf is padding
    starts: IntArray  # of each query, among the chosen documents
    chosen: IntArray | None  # their positions in grouped order; None if these are all documents

    def positions(self, columns: IntArray) -> IntArray:
        """Positions in grouped order of documents in some columns of each row."""
        places = self.starts[:, None] + columns
        # If no document of all these lists was ranked, none is chosen, and any place is padding.
        if self.chosen is None or not self.chosen.size:
            return places
        return self.chosen.take(places, mode="clip")


def top_documents(ranking: Ranking, depth: int | None) -> Iterator[TopDocuments]:
    """Yield the documents that can be among the first ``depth``, for many queries at a time."""
    keys, grouping = ranking.keys(), ranking.documents.grouping
    starts, sizes = grouping.starts, grouping.sizes
    block_cells = ranking.documents.block_cells
    if depth is None:
        depth = len(keys)
    else:
        block_cells *= BLOCKS_AT_ONCE
    # No key reaches NaN.
    bounds = np.full(len(sizes), np.nan)
    for queries in blocks_of(sizes, block_cells):
        of_queries = windows(keys, starts[queries], sizes[queries], -np.inf)
        if of_queries.shape[1] < LEAST_TIMES_DEPTH * depth:
            yield TopDocuments(queries, of_queries, starts[queries], chosen=None)
        else:
            bounds[queries] = _lower_bounds(of_queries, depth)
    long = np.flatnonzero(~np.isnan(bounds))
    if not long.size:
        return
    chosen = np.flatnonzero(keys >= np.repeat(bounds, sizes))
    keys = keys[chosen]
    starts = np.searchsorted(chosen, starts[long])
    sizes = np.diff(starts, append=len(chosen))
    for block in blocks_of(sizes, ranking.documents.block_cells):
        of_queries = windows(keys, starts[block], sizes[block], -np.inf)
        yield TopDocuments(long[block], of_queries, starts[block], chosen)


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

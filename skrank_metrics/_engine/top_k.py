"""The documents that can be among the first ranks, many queries at a time; the others need no order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._engine.query_lists import SLAB, QueryLists, blocks_of, windows
from skrank_metrics._input.arrays import FloatArray, IntArray

# Steps on few documents take about as long as on many, so padding is cheaper than further steps.
WIDE_RATIO = 2.5


@dataclass(frozen=True)
class TopDocuments:
    """Documents of some queries that can be among the first ranks; within a query, they keep their given order."""

    queries: IntArray
    keys: FloatArray  # -inf is padding
    columns: IntArray | None  # their positions within the query; None if all documents are present


def top_documents(lists: QueryLists, depth: int | None) -> Iterator[TopDocuments]:
    """Yield the documents that can be among the first ``depth``, for many queries at a time."""
    return _in_blocks(_parts(lists, depth), lists.block_cells)


def _parts(lists: QueryLists, depth: int | None) -> Iterator[TopDocuments]:
    if depth is None:
        yield from _whole(lists, np.arange(lists.n_queries))
        return
    starts, sizes = lists.grouping.starts, lists.grouping.sizes
    first, end = (
        -(-starts // 4),
        (starts + sizes) // 4,
    )  # groups of four rows that lie within each query
    # Sorting all documents of a shorter list is faster than choosing some.
    long = np.flatnonzero(end - first > depth)
    yield from _whole(lists, np.flatnonzero(end - first <= depth))
    if len(long):
        bounds = np.full(
            len(sizes), np.nan
        )  # shorter lists have none: no key reaches NaN, while +inf reaches +inf
        bounds[long] = _lower_bounds(
            _largest_of_four(lists.keys), first[long], end[long] - first[long], depth
        )
        yield from _reaching(lists, long, bounds)


def _whole(lists: QueryLists, queries: IntArray) -> Iterator[TopDocuments]:
    """All documents of some queries."""
    for block in blocks_of(lists.grouping.sizes[queries], lists.block_cells):
        yield TopDocuments(queries[block], lists.windows(lists.keys, queries[block], -np.inf), None)


def _largest_of_four(keys: FloatArray) -> FloatArray:
    largest = np.empty(len(keys) // 4)
    for first in range(0, len(largest), SLAB // 4):
        part = largest[first : first + SLAB // 4]
        fours = keys[4 * first : 4 * (first + len(part))].reshape(-1, 4)
        np.maximum(
            np.maximum(fours[:, 0], fours[:, 1]), np.maximum(fours[:, 2], fours[:, 3]), out=part
        )
    return largest


def _lower_bounds(largest: FloatArray, first: IntArray, sizes: IntArray, depth: int) -> FloatArray:
    """Keys that at least ``depth`` documents of a query reach, and few more: the depth-th largest of group maxima."""
    bounds = np.empty(len(first))
    for block in blocks_of(sizes, SLAB, WIDE_RATIO):
        of_queries = windows(largest, first[block], sizes[block], -np.inf)
        place = of_queries.shape[1] - depth
        bounds[block] = np.partition(of_queries, place, axis=1)[:, place]
    return np.maximum(bounds, -np.finfo(np.float64).max)  # padding never counts


def _reaching(lists: QueryLists, queries: IntArray, bounds: FloatArray) -> Iterator[TopDocuments]:
    """The documents that reach the bound of their query, from as many queries at once as stay in the cache."""
    documents = np.cumsum(lists.grouping.sizes[queries])
    slabs = np.split(queries, np.flatnonzero(np.diff(documents // SLAB)) + 1)
    tied: list[IntArray] = [queries[:0]]
    group: list[tuple[Any, ...]] = []
    for slab in slabs:
        chosen = _choose(lists, slab, bounds)
        if chosen is None:
            tied.append(slab)
        else:
            group.append((slab, *chosen))
        if group and (
            slab is slabs[-1] or sum(len(columns) for *_, columns in group) > lists.block_cells
        ):
            yield from _rectangles(group, lists.block_cells)
    yield from _whole(lists, np.concatenate(tied))


def _choose(
    lists: QueryLists, queries: IntArray, bounds: FloatArray
) -> tuple[IntArray, FloatArray, IntArray] | None:
    """For each query, the number of documents that reach its bound, with their keys and columns; None if most do."""
    every = slice(queries[0], queries[-1] + 1)  # with short lists in between, which have no bound
    starts, sizes = lists.grouping.starts[every], lists.grouping.sizes[every]
    keys = lists.keys[starts[0] : starts[-1] + sizes[-1]]
    places = np.flatnonzero(keys >= np.repeat(bounds[every], sizes))
    if 2 * len(places) > len(keys):
        return None
    own = starts[queries - queries[0]] - starts[0]
    counts = np.diff(np.searchsorted(places, own + lists.grouping.sizes[queries]), prepend=0)
    return counts, keys.take(places), places - np.repeat(own, counts)


def _rectangles(group: list[tuple[Any, ...]], block_cells: int) -> Iterator[TopDocuments]:
    """Chosen documents of many queries; queries with similar numbers of them share a rectangle."""
    queries, counts, keys, columns = (np.concatenate(parts) for parts in zip(*group, strict=True))
    group.clear()  # frees memory
    starts = np.cumsum(counts) - counts
    for block in blocks_of(counts, block_cells, WIDE_RATIO):
        where = starts[block], counts[block]
        yield TopDocuments(
            queries[block], windows(keys, *where, -np.inf), windows(columns, *where, 0)
        )


def _in_blocks(parts: Iterable[TopDocuments], block_cells: int) -> Iterator[TopDocuments]:
    """Join neighbours up to the size of a block, since the cost of a step depends little on the number of documents."""
    group: list[TopDocuments] = []
    n_queries = width = 0
    for part in parts:
        n_queries, width = n_queries + len(part.queries), max(width, part.keys.shape[1])
        if group and n_queries * width > block_cells:
            yield _one_block(group)
            n_queries, width = part.keys.shape
        group.append(part)
    yield _one_block(group)


def _one_block(parts: list[TopDocuments]) -> TopDocuments:
    """Join the parts, and empty their list to free memory."""
    if len(parts) == 1:
        return parts.pop()
    queries = np.concatenate([part.queries for part in parts])
    keys = np.full((len(queries), max(part.keys.shape[1] for part in parts)), -np.inf)
    columns = np.zeros(keys.shape, dtype=np.intp)
    first = 0
    for part in parts:
        here = slice(first, first + len(part.queries)), slice(part.keys.shape[1])
        keys[here] = part.keys
        columns[here] = np.arange(part.keys.shape[1]) if part.columns is None else part.columns
        first += len(part.queries)
    parts.clear()
    return TopDocuments(queries, keys, columns)

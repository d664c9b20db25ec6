"""The documents that can be among the first ranks, block by block; the others need no order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.grouping import places_within


@dataclass(frozen=True)
class TopDocuments:
    """Documents of some queries that can be among the first ranks, those of each query in the given order."""

    queries: IntArray
    keys: FloatArray  # -inf is padding
    columns: IntArray | None  # their places within the query; None if all documents are present


def top_documents(lists: QueryLists, depth: int | None) -> Iterator[TopDocuments]:
    """Yield the documents that can be among the first ``depth``, for many queries at a time."""
    return _joined((_choose(lists, queries, depth) for queries in lists.blocks()), lists.block_cells)


def _choose(lists: QueryLists, queries: IntArray, depth: int | None) -> TopDocuments:
    """Choose the first ``depth`` documents of each query and all that tie with the last of them."""
    keys = lists.windows(lists.keys, queries, -np.inf)
    n_queries, width = keys.shape
    if depth is None or depth >= width:
        return TopDocuments(queries, keys, None)
    # Partitioning values to find the last key that counts is four times faster than argpartition.
    last = np.partition(keys, width - depth, axis=1)[:, width - depth]
    last = np.maximum(last, -np.finfo(np.float64).max)  # padding never counts
    chosen = np.flatnonzero(keys >= last[:, None])
    if len(chosen) > keys.size / 2:  # nearly all tie
        return TopDocuments(queries, keys, None)
    chosen_keys = keys.ravel()[chosen]
    if len(chosen) == n_queries * depth:
        columns = chosen.reshape(-1, depth) - np.arange(n_queries)[:, None] * width
        if columns.min() >= 0 and columns.max() < width:  # depth of each row, so nothing ties at the cutoff
            return TopDocuments(queries, chosen_keys.reshape(-1, depth), columns)
    row, column = np.divmod(chosen, width)
    counts = np.bincount(row, minlength=n_queries)
    place = places_within(counts)
    columns = np.zeros((n_queries, max(1, counts.max())), dtype=np.intp)
    columns[row, place] = column
    top = np.full(columns.shape, -np.inf)
    top[row, place] = chosen_keys
    return TopDocuments(queries, top, columns)


def _joined(parts: Iterable[TopDocuments], block_cells: int) -> Iterator[TopDocuments]:
    """Join neighbours up to the size of a block, as the cost of a step depends little on the number of documents."""
    group: list[TopDocuments] = []
    n_queries = width = 0
    for part in parts:
        n_queries, width = n_queries + len(part.queries), max(width, part.keys.shape[1])
        if group and n_queries * width > block_cells:
            yield _join(group)
            group, (n_queries, width) = [], part.keys.shape
        group.append(part)
    yield _join(group)


def _join(parts: list[TopDocuments]) -> TopDocuments:
    if len(parts) == 1:
        return parts[0]
    queries = np.concatenate([part.queries for part in parts])
    keys = np.full((len(queries), max(part.keys.shape[1] for part in parts)), -np.inf)
    columns = np.zeros(keys.shape, dtype=np.intp)
    first = 0
    for part in parts:
        here = slice(first, first + len(part.queries)), slice(part.keys.shape[1])
        keys[here] = part.keys
        columns[here] = np.arange(part.keys.shape[1]) if part.columns is None else part.columns
        first += len(part.queries)
    return TopDocuments(queries, keys, columns)

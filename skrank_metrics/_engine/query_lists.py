"""Rows grouped into one list per query, in blocks of lists of similar length."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from skrank_metrics._engine.column_codes import codes_by_value
from skrank_metrics._engine.gains import CallableGain, DiscountFunction, GainFunction, TabulatedGain
from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    Mask,
    check_arrays,
    check_document_column,
    check_labels,
    check_weights,
    document_columns,
    to_array,
)
from skrank_metrics._input.grouping import Grouping, query_weights
from skrank_metrics._input.query_ids import (
    carried,
    check_aligned,
    check_documents_aligned,
    ids_in_index,
    named_columns,
    query_ids,
)

T = TypeVar("T", bound=np.generic)

# The lengths of queries in a block differ by at most this factor: a compromise between padding and number of blocks.
BUCKET_RATIO = 1.25
# A block of 512 KiB and its temporaries stay in the caches. For small inputs, a block has an eighth of all cells, so
# that temporaries are smaller than the input.
BLOCK_CELLS, LEAST_BLOCK_CELLS = 65_536, 2_048
# This many documents at a time stay in the cache.
SLAB = 131_072
# glibc keeps freed memory, up to twice the largest block that it ever returned to the system. Thanks to this block,
# which is never touched, the next call reuses the pages of the temporaries of the previous one.
np.empty(2**23, dtype=np.uint8)
# More distinct grades than this are faster to sort than to count one by one.
MAX_COUNTED_GRADE = 16
# Cached results that depend only on labels and masks.
_OF_LABELS = (
    "labels",
    "largest_label",
    "distinct_labels",
    "grades",
    "n_retrieved",
    "n_judged",
    "_narrow",
    "_slabs",
)


@dataclass(frozen=True)
class QueryLists:
    """Validated documents grouped by query, queries in order of first appearance."""

    grouping: Grouping
    given_labels: NDArray[Any]  # in grouped order
    scores: FloatArray  # in grouped order
    weights: FloatArray | None  # one per query
    retrieved: Mask | None  # in grouped order; the others were judged but are not ranked
    label_type: type[np.floating[Any]] = np.float64  # original type of the labels
    judged: Mask | None = None  # in grouped order; the others have the label 0
    condense: bool = False  # leave out the documents that were not judged
    documents: Mapping[str, NDArray[Any]] = field(
        default_factory=dict
    )  # columns for own metrics, in grouped order
    negative: str = (
        ""  # where the first negative label is, for the error of metrics that need labels >= 0
    )
    _counts: dict[float, IntArray] = field(default_factory=dict, init=False)
    _ideals: dict[Hashable, FloatArray] = field(default_factory=dict, init=False)
    _tables: dict[GainFunction, FloatArray] = field(default_factory=dict, init=False)
    _codes: dict[str, IntArray] = field(default_factory=dict, init=False)
    _parts: dict[Hashable, QueryLists] = field(default_factory=dict, init=False)

    def without_caches(self) -> QueryLists:
        """The same lists without intermediate results, which would stay in memory as long as they do."""
        return replace(self)  # fields that are not arguments are reset

    def with_scores(self, scores: FloatArray) -> QueryLists:
        """The same documents with other scores, in grouped order; results that depend on labels only are shared."""
        other = replace(self, scores=scores)
        vars(other).update(
            {name: found for name, found in vars(self).items() if name in _OF_LABELS}
        )
        other._counts.update(self._counts)
        other._ideals.update(self._ideals)
        other._tables.update(self._tables)
        return other

    @property
    def n_queries(self) -> int:
        return len(self.grouping.sizes)

    @property
    def n_documents(self) -> int:
        return len(self.given_labels)

    @cached_property
    def labels(self) -> FloatArray:
        """The labels as float64; NDCG and others need only their ``grades``."""
        return self.given_labels.astype(np.float64, copy=False)

    @cached_property
    def largest_label(self) -> float:
        return float(self.given_labels.max())

    @cached_property
    def keys(self) -> FloatArray:
        """Keys to rank documents by, largest first; always above -inf, which marks padding."""
        keys = self.scores
        if keys.min() == -np.inf:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.float64)
        return keys if self.retrieved is None else np.where(self.retrieved, keys, -np.inf)

    @cached_property
    def n_retrieved(self) -> IntArray:
        """Number of ranked documents of each query."""
        return self._count_in(self.retrieved)

    @cached_property
    def n_judged(self) -> IntArray:
        """Number of judged documents of each query, ranked or not."""
        return self._count_in(self.judged)

    def _count_in(self, mask: Mask | None) -> IntArray:
        return (
            self.grouping.sizes
            if mask is None
            else np.add.reduceat(mask, self.grouping.starts, dtype=np.intp)
        )

    def seen(self, unjudged: str = "zero") -> QueryLists:
        """The lists that a metric gets, given how it treats documents that nobody judged; see ``Computation``.

        A query that loses all documents keeps one that is neither ranked nor judged.
        """
        masks = ("judged",) if self.condense or unjudged == "left out" else ("judged", "retrieved")
        if unjudged == "counted" or any(getattr(self, name) is None for name in masks):
            return self
        if masks not in self._parts:
            seen = np.logical_or.reduce([getattr(self, name) for name in masks])
            sizes, kept = self._count_in(seen), seen.copy()
            kept[self.grouping.starts[sizes == 0]] = True
            part = replace(
                self,
                retrieved=seen if self.retrieved is None else seen & self.retrieved,
                condense=False,
            )
            grouping = Grouping(self.grouping.ids, np.maximum(sizes, 1), None)
            self._parts[masks] = part.take(kept, grouping, self.weights)
        return self._parts[masks]

    def take(
        self, rows: IntArray | Mask, grouping: Grouping, weights: FloatArray | None
    ) -> QueryLists:
        """Some of the documents, with their queries and the weights of these."""
        masks = (None if mask is None else mask[rows] for mask in (self.retrieved, self.judged))
        retrieved, judged = (None if mask is None or mask.all() else mask for mask in masks)
        return replace(
            self,
            grouping=grouping,
            given_labels=self.given_labels[rows],
            scores=self.scores[rows],
            weights=weights,
            retrieved=retrieved,
            judged=judged,
            documents={name: column[rows] for name, column in self.documents.items()},
        )

    def comparable(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Round the threshold among the options to the type of the labels, as NumPy does: float32(0.7) reaches 0.7."""
        rounded = dict(options)
        if threshold := options.get("relevance_threshold"):
            with np.errstate(over="ignore"):
                nearest = float(self.label_type(threshold))
            # The float64 next to a number is how a convention says "above" it.
            if 0 < nearest < np.inf and np.nextafter(nearest, 1e308) != threshold:
                rounded["relevance_threshold"] = nearest
        return rounded

    def count(self, threshold: float) -> IntArray:
        """Number of documents of each query with a label of at least ``threshold``."""
        # Comparing 8-bit grades with the next whole number is faster.
        labels, lowest = (
            (self.labels, threshold) if self.grades is None else (self.grades, math.ceil(threshold))
        )
        if lowest not in self._counts:
            # Summing small integers takes a third of the time of bool, but NumPy would convert all of them at once.
            counts = np.empty(self.n_queries, dtype=self._narrow)
            for queries, rows, places in self._slabs:
                reached = (labels[rows] >= lowest).view(np.uint8)
                np.add.reduceat(reached, places, dtype=self._narrow, out=counts[queries])
            self._counts[lowest] = counts.astype(np.intp)
        return self._counts[lowest]

    @cached_property
    def _narrow(self) -> np.dtype[Any]:
        """The smallest type that counts the documents of every query."""
        return np.min_scalar_type(self.grouping.sizes.max())

    @cached_property
    def _slabs(self) -> list[tuple[slice, slice, IntArray]]:
        """Consecutive queries, their rows, and the start of each query among these."""
        starts, found, first = self.grouping.starts, [], 0
        while first < len(starts):
            end = max(first + 1, int(np.searchsorted(starts, starts[first] + SLAB)))
            rows = slice(starts[first], starts[end] if end < len(starts) else None)
            found.append((slice(first, end), rows, starts[first:end] - starts[first]))
            first = end
        return found

    def n_relevant(self, relevance_threshold: float | None) -> IntArray:
        """Number of relevant documents of each query: labels >= threshold, or > 0 if it is None."""
        return self.count(
            np.nextafter(0.0, 1.0) if relevance_threshold is None else relevance_threshold
        )

    def gains(self, gain: GainFunction, labels: FloatArray) -> FloatArray:
        """Gains of some of the labels; those of padding are meaningless."""
        if gain not in self._tables:
            # Gains other than these two grow with the label, so it is enough to check the largest.
            all_matter = isinstance(gain, CallableGain | TabulatedGain)
            table = gain(self.distinct_labels if all_matter else np.array([self.largest_label]))
            if table.max() > np.finfo(np.float64).max / (n := int(self.grouping.sizes.max())):
                raise ValueError(
                    f"gain must stay finite when summed over {n} documents; got a largest gain of {table.max():g}. "
                    "Rescale the labels."
                )
            self._tables[gain] = table
        if not isinstance(gain, CallableGain):
            return gain(labels)
        # A custom function may fail on labels that do not occur.
        places = np.searchsorted(self.distinct_labels, labels)
        return self._tables[gain][np.minimum(places, len(self.distinct_labels) - 1)]

    @cached_property
    def distinct_labels(self) -> FloatArray:
        """All labels that occur, ascending, ranked or not."""
        if self.grades is not None:
            counted = [
                self.count(float(grade)).sum() for grade in range(1, int(self.largest_label) + 1)
            ]
            return np.flatnonzero(np.diff([self.n_documents, *counted, 0])).astype(np.float64)
        return np.unique(self.labels)

    @cached_property
    def grades(self) -> NDArray[np.uint8] | None:
        """The labels, if they are whole numbers small enough to be counted grade by grade."""
        if self.largest_label > MAX_COUNTED_GRADE or self.negative:
            return None
        grades = np.empty(self.n_documents, dtype=np.uint8)
        for first in range(0, self.n_documents, BLOCK_CELLS):
            part = slice(first, first + BLOCK_CELLS)
            grades[part] = self.given_labels[part]
            if (grades[part] != self.given_labels[part]).any():
                return None
        return grades

    def document_codes(self, name: str) -> IntArray:
        """Equal numbers for documents with equal entries in a column."""
        if name not in self._codes:
            self._codes[name] = codes_by_value(self.documents[name])
        return self._codes[name]

    def labels_at(self, places: IntArray) -> FloatArray:
        """Labels of documents at given positions; positions after the last one are padding."""
        # 8-bit labels are more likely to be in the cache.
        labels = self.labels if self.grades is None else self.grades
        return labels.take(places, mode="clip").astype(np.float64, copy=False)

    def ideal(self, gain: GainFunction, discount: DiscountFunction, k: int | None) -> FloatArray:
        """Largest sum of gain / discount over the first k ranks of any order of each query."""
        key = (gain, discount, k)
        if key not in self._ideals:
            steps = np.full(1, -1.0)
            if self.grades is not None and not isinstance(gain, CallableGain):
                steps = np.diff(gain(np.arange(self.largest_label + 1)), prepend=0.0)
            if (steps >= 0).all():
                self._ideals[key] = self._count_ideal(steps, discount, k)
            else:
                self._ideals[key] = self._sort_ideal(gain, discount, k)
        return self._ideals[key]

    def _count_ideal(
        self, steps: FloatArray, discount: DiscountFunction, k: int | None
    ) -> FloatArray:
        # Nothing is sorted: with c_g documents of grade g or better and D[m] the sum of the first m weights, it is the
        # sum over grades of (gain(g) - gain(g - 1)) * D[min(k, c_g)].
        depth = int(self.grouping.sizes.max())
        depth = depth if k is None else min(k, depth)
        sums = np.concatenate(([0.0], np.cumsum(1 / discount(np.arange(1.0, depth + 1)))))
        ideal = np.zeros(self.n_queries)
        for grade in np.flatnonzero(steps):
            ideal += steps[grade] * sums[np.minimum(self.count(float(grade)), depth)]
        return ideal

    def _sort_ideal(
        self, gain: GainFunction, discount: DiscountFunction, k: int | None
    ) -> FloatArray:
        gains, ideal = self.gains(gain, self.labels), np.zeros(self.n_queries)
        for queries in self.blocks():
            best = -np.sort(-self.windows(gains, queries, 0.0), axis=1)[:, :k]
            ideal[queries] = best @ (1 / discount(np.arange(1.0, best.shape[1] + 1)))
        return ideal

    def windows(self, values: NDArray[T], queries: IntArray, fill: float) -> NDArray[T]:
        """Entries of each query as rows of a rectangle, with ``fill`` after the last document."""
        return windows(values, self.grouping.starts[queries], self.grouping.sizes[queries], fill)

    @property
    def block_cells(self) -> int:
        """Largest number of cells of a block of several queries."""
        return min(BLOCK_CELLS, max(LEAST_BLOCK_CELLS, self.n_documents // 8))

    def blocks(self) -> Iterator[IntArray]:
        """Yield the numbers of queries of similar length, each query once."""
        return blocks_of(self.grouping.sizes, self.block_cells)


def blocks_of(sizes: IntArray, block_cells: int, ratio: float = BUCKET_RATIO) -> Iterator[IntArray]:
    """Yield the numbers of lists of similar length, each list once."""
    by_size = np.argsort(sizes, kind="stable")
    sizes = sizes[by_size]
    first = 0
    while first < len(sizes):
        # An integer, since NumPy would otherwise convert all sizes to float.
        end = int(np.searchsorted(sizes, int(sizes[first] * ratio), side="right"))
        end = min(end, first + max(1, block_cells // max(1, int(sizes[end - 1]))))
        yield by_size[first:end]
        first = end


def windows(values: NDArray[T], starts: IntArray, sizes: IntArray, fill: float) -> NDArray[T]:
    """Ranges of an array as rows of a rectangle, with ``fill`` after the last entry; read-only if nothing is copied."""
    width = max(1, int(sizes.max()))
    first, end = int(starts[0]), int(starts[0]) + len(starts) * width
    if starts[-1] == end - width and (np.diff(starts) == width).all() and sizes.min() == width:
        rectangle = values[first:end].reshape(-1, width)
        rectangle.flags.writeable = False
        return rectangle
    if width > len(values):
        return np.full((len(sizes), width), fill, dtype=values.dtype)
    # Copying rows of a strided view takes a third of the time of indexing each cell.
    last = len(values) - width
    view = as_strided(values, (last + 1, width), values.strides * 2, writeable=False)
    rows: NDArray[T] = view[np.minimum(starts, last)]
    for row in np.flatnonzero(starts > last):
        rows[row, : sizes[row]] = values[starts[row] : starts[row] + sizes[row]]
    shortest = int(sizes.min())
    rows[:, shortest:][np.arange(shortest, width) >= sizes[:, None]] = fill
    return rows


def query_lists(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
    condense: bool = False,
    documents: Any = None,
    X: Any = None,
    who: str = "A 1-D y_true",
    ways_out: str = "",
) -> QueryLists:
    """Validate the input and group it by query: 1-D rows with ids in any order, or 2-D with one query per row.

    ``documents`` are columns for own metrics, by name: a dict or a frame of arrays of any type, of the shape of y_true.
    It is ``per_query`` that raises an error for a metric whose columns are missing, or that needs labels >= 0.
    """
    given = to_array(y_true, "y_true")
    columns = carried(y_true, sample_weight=sample_weight, retrieved=retrieved, judged=judged)
    if condense and columns["judged"] is None:
        raise ValueError("condense=True requires judged=.")
    labels, scores, *masks = check_arrays(given, y_score, columns["retrieved"], columns["judged"])
    negative = check_labels(labels, may_be_negative=columns["judged"] is None)
    if labels.ndim == 2 and (qid is not None or ids_in_index(y_true) is not None):
        raise ValueError(
            f"Leave out qid if y_true is 2-D, since each row is a query; got y_true of shape {labels.shape}."
        )
    own = document_columns(documents)
    columns = named_columns(y_score=y_score, **columns, documents=own)
    own = {
        name: check_document_column(column, name, labels.shape).ravel()
        for name, column in own.items()
    }
    if labels.ndim == 2:
        grouping, weights = _grouped_2d(labels.shape, y_true=y_true, **columns)
    else:
        ids = {"qid": qid, "groups": groups, "ways_out": ways_out}
        grouping = query_ids(len(labels), who, y=y_true, rows_of="y_true", **ids, X=X, **columns)
        weights = (
            None
            if columns["sample_weight"] is None
            else query_weights(columns["sample_weight"], grouping)
        )
    label_type = given.dtype.type if given.dtype.kind == "f" else np.float64
    retrieved, judged = (None if mask is None else grouping.sort(mask.ravel()) for mask in masks)
    return QueryLists(
        grouping,
        grouping.sort(labels.ravel()),
        grouping.sort(scores.ravel()),
        weights,
        retrieved,
        label_type,
        judged,
        condense,
        {name: grouping.sort(column) for name, column in own.items()},
        negative,
    )


def _grouped_2d(shape: tuple[int, int], **columns: Any) -> tuple[Grouping, FloatArray | None]:
    """One query per row, and its weight."""
    n_queries, n_documents = shape
    check_aligned(**columns)
    check_documents_aligned(**columns)
    weights = columns["sample_weight"]
    weights = None if weights is None else check_weights(weights, n_queries, "query")
    return Grouping(
        np.arange(n_queries), np.full(n_queries, n_documents, dtype=np.intp), None
    ), weights

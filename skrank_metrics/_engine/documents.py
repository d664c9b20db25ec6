"""The truth: documents grouped by query, with their labels, checked once and shared by all rankings."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.gains import CallableGain, DiscountFunction, GainFunction, GradeGains
from skrank_metrics._engine.label_orders import codes_by_value
from skrank_metrics._engine.rectangles import blocks_of_queries, largest_block, windows
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, places_in, to_objects
from skrank_metrics._input.grouping import Grouping, concatenate_ranges
from skrank_metrics._input.id_hash import Hashes, hash_ids, mix

T = TypeVar("T", bound=np.generic)

# More distinct grades than this are faster to sort than to count one by one.
MAX_COUNTED_GRADE = 16


def compact(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as 8-bit grades if they are small whole numbers, which are faster to count and gather; else as float64."""
    if labels.min() >= 0 and labels.max() <= MAX_COUNTED_GRADE:
        grades = labels.astype(np.uint8)
        if (grades == labels).all():
            return grades
    return labels.astype(np.float64, copy=False)


def taken(column: NDArray[T] | None, places: IntArray | Mask) -> NDArray[T] | None:
    """Some entries of a column that there need not be."""
    return None if column is None else column[places]


@dataclass(frozen=True, eq=False)
class OfQueries:
    """Arrays with one entry per query, or None."""

    def take(self, places: IntArray) -> Self:
        """What belongs to some of the queries, by position."""
        of_each = [getattr(self, one.name) for one in fields(self)]
        return type(self)(*(taken(column, places) for column in of_each))


@dataclass(frozen=True, eq=False)
class Queries(OfQueries):
    """What belongs to the queries, None if nothing was given."""

    ids: NDArray[Any]
    weights: FloatArray | None = None
    by: NDArray[Any] | None = None  # slices
    groups: NDArray[Any] | None = None  # of queries that may depend on each other
    folds: IntArray | None = None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class DocumentCounts(OfQueries):
    """What is known of documents that were not kept."""

    n_documents: IntArray
    n_judged: IntArray
    digests: Hashes  # of the labels of judged documents
    id_digests: Hashes | None = None  # of their ids and labels; None if rows have no ids


@dataclass(frozen=True, eq=False)
class DocumentIds:
    """Ids of documents, which are looked up only if they are shown."""

    lookup: Callable[[IntArray], list[Any]]
    rows: IntArray  # of each document, for the lookup, in the order of the run
    in_float32: bool = (
        True  # whether libraries that break ties by ids compare the scores in float32
    )

    def take(self, places: IntArray | Mask) -> DocumentIds:
        """Those of some of the documents."""
        return replace(self, rows=self.rows[places])

    def tolist(self) -> list[Any]:
        """One id per document."""
        return self.lookup(self.rows)


@dataclass(frozen=True, eq=False)
class Documents:
    """Validated documents grouped by query, queries in order of first appearance. They know no score.

    Nothing in here depends on a ranking, so whatever is computed from labels is kept, and all rankings of the same
    documents share it.
    """

    grouping: Grouping
    compact_labels: NDArray[Any]  # in grouped order, see ``compact``
    queries: Queries
    judged: Mask | None = None  # in grouped order; the others have the label 0
    condense: bool = False  # leave documents that were not judged out of all rankings
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # in grouped order
    label_type: type[np.floating[Any]] = np.float64  # original type of the labels
    # Where the first negative label is, for the error of metrics that need labels >= 0.
    negative: str = ""
    document_ids: DocumentIds | None = None  # in grouped order; None if rows have no ids
    shape: tuple[int, ...] | None = None  # of the rows as given; None if there were none
    row_labels: Any = None  # the index of the rows as given, if they had one
    _counts: dict[float, IntArray] = field(default_factory=dict, init=False)
    _ideals: dict[Hashable, FloatArray] = field(default_factory=dict, init=False)
    _tables: dict[GainFunction, FloatArray] = field(default_factory=dict, init=False)
    _codes: dict[str, IntArray] = field(default_factory=dict, init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # What was computed is left out, since gains may be functions that cannot be pickled.
        return Documents, tuple(getattr(self, one.name) for one in fields(self) if one.init)

    @property
    def n_queries(self) -> int:
        return len(self.grouping.sizes)

    @property
    def n_documents(self) -> int:
        return len(self.compact_labels)

    @property
    def weights(self) -> FloatArray | None:
        """One weight per query; None if there are none."""
        return self.queries.weights

    @property
    def counts(self) -> DocumentCounts:
        """What remains known without the documents."""
        return DocumentCounts(self.grouping.sizes, self.n_judged, self.digests)

    def detached(self) -> Documents:
        """The same with arrays of its own, since callers may use theirs again while a report keeps the documents."""
        # Sorting has copied them.
        if self.grouping.order is not None:
            return self
        own = self.subset(np.arange(self.n_documents), self.grouping, self.queries)
        return replace(own, shape=self.shape, row_labels=self.row_labels)

    # Subsets

    def take(self, places: IntArray) -> Documents:
        """The documents of some of the queries, by position."""
        grouping = self.grouping
        kept = Grouping(grouping.ids[places], grouping.sizes[places], None)
        return self.subset(self.rows_of(places), kept, self.queries.take(places))

    def rows_of(self, places: IntArray) -> IntArray:
        """Positions of the documents of some of the queries, in grouped order."""
        return concatenate_ranges(self.grouping.starts[places], self.grouping.sizes[places])

    def subset(self, rows: IntArray | Mask, grouping: Grouping, queries: Queries) -> Documents:
        """Some of the documents, grouped as told."""
        judged = taken(self.judged, rows)
        return replace(
            self,
            grouping=grouping,
            compact_labels=self.compact_labels[rows],
            queries=queries,
            judged=None if judged is None or judged.all() else judged,
            columns={name: column[rows] for name, column in self.columns.items()},
            document_ids=None if self.document_ids is None else self.document_ids.take(rows),
            shape=None,
            row_labels=None,
        )

    def restricted(self, kept: Mask) -> tuple[Mask, Documents]:
        """The documents of a mask, and the mask with one document of each query that would lose all of them."""
        sizes = self.count_in(kept)
        kept = kept.copy()
        # NumPy's reduceat has no empty ranges: it would return an entry of the next query.
        kept[self.grouping.starts[sizes == 0]] = True
        grouping = Grouping(self.grouping.ids, np.maximum(sizes, 1), None)
        return kept, replace(self.subset(kept, grouping, self.queries), condense=False)

    @cached_property
    def only_judged(self) -> tuple[Mask, Documents]:
        """The judged documents, and their mask, with one document of each query that has none."""
        judged = self.judged
        if judged is None:
            judged = np.ones(self.n_documents, dtype=bool)
        return self.restricted(judged)

    # Labels

    @cached_property
    def labels(self) -> FloatArray:
        """The labels as float64."""
        return self.compact_labels.astype(np.float64, copy=False)

    @property
    def are_grades(self) -> bool:
        """Whether labels are whole numbers small enough to be counted grade by grade."""
        return self.compact_labels.dtype == np.uint8

    @cached_property
    def largest_label(self) -> float:
        return float(self.compact_labels.max())

    @cached_property
    def distinct_labels(self) -> FloatArray:
        """All labels that occur, ascending, ranked or not."""
        return np.unique(self.compact_labels).astype(np.float64)

    def labels_at(self, places: IntArray) -> FloatArray:
        """Labels of documents at given positions; positions after the last one are padding."""
        return self.compact_labels.take(places, mode="clip").astype(np.float64, copy=False)

    @cached_property
    def digests(self) -> Hashes:
        """A number per query that depends on the labels of its judged documents, but not on their order."""
        if self.are_grades:
            mixed = hash_ids(np.arange(MAX_COUNTED_GRADE + 1))[self.compact_labels]
        else:
            mixed = hash_ids(self.compact_labels)
        if self.judged is not None:
            mixed = np.where(self.judged, mixed, np.uint64(0))
        # A sum is the same in any order, and unsigned integers wrap around without an error.
        return np.add.reduceat(mixed, self.grouping.starts)

    def id_digests(self, *, in_this_process: bool) -> Hashes | None:
        """A number per query that depends on the ids and labels of its judged documents; None without ids.

        Numbers for this process only, by Python's own hashes, take a tenth of the time.
        """
        if self.document_ids is None:
            return None
        judged = np.arange(self.n_documents)
        if self.judged is not None:
            judged = np.flatnonzero(self.judged)
        ids = self.document_ids.take(judged).tolist()
        hashed = to_objects(ids)
        if in_this_process:
            # Python's hashes of -1 and -2 are the same, as are those of "a" and b"a".
            unlike = [hash((one == -1, isinstance(one, bytes), one)) for one in ids]
            hashed = np.array(unlike, dtype=np.int64)
        hashes = hash_ids(hashed)
        mixed = np.zeros(self.n_documents, dtype=np.uint64)
        # Mixed together, so that exchanging the labels of two documents changes the sum.
        mixed[judged] = mix(hashes ^ hash_ids(self.labels[judged]))
        return np.add.reduceat(mixed, self.grouping.starts)

    def with_rounded_threshold(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Round the threshold among the options to the type of the labels, as NumPy does: float32(0.7) reaches 0.7."""
        threshold = options.get("relevance_threshold")
        if not threshold:
            return dict(options)
        with np.errstate(over="ignore"):
            nearest = float(self.label_type(threshold))
        # The float64 next to a number is how a convention says "above" it.
        is_next = np.nextafter(nearest, 1e308) == threshold
        if is_next or not 0 < nearest < np.inf:
            return dict(options)
        return {**options, "relevance_threshold": nearest}

    # Counts

    @cached_property
    def n_judged(self) -> IntArray:
        """Number of judged documents of each query, ranked or not."""
        return self.count_in(self.judged)

    def count_in(self, mask: Mask | None) -> IntArray:
        """Number of documents of each query in a mask; None is all."""
        if mask is None:
            return self.grouping.sizes
        return np.add.reduceat(mask, self.grouping.starts, dtype=np.intp)

    def n_relevant(self, relevance_threshold: float | None) -> IntArray:
        """Number of relevant documents of each query: labels >= threshold, or > 0 if it is None."""
        return self.count(relevance_threshold or math.ulp(0.0))

    def count(self, threshold: float) -> IntArray:
        """Number of documents of each query with a label of at least ``threshold``."""
        # Comparing 8-bit grades with the next whole number is faster.
        lowest = math.ceil(threshold) if self.are_grades else threshold
        if lowest not in self._counts:
            # Sums of the smallest integers that can hold them take half of the time.
            reached = (self.compact_labels >= lowest).view(np.uint8)
            narrow = np.min_scalar_type(self.grouping.sizes.max())
            counts = np.add.reduceat(reached, self.grouping.starts, dtype=narrow)
            self._counts[lowest] = counts.astype(np.intp)
        return self._counts[lowest]

    # Gains and ideals

    def gains(self, gain: GainFunction, labels: FloatArray) -> FloatArray:
        """Gains of some of the labels; those of padding are meaningless."""
        if gain not in self._tables:
            self._tables[gain] = self._checked_table(gain)
        if not isinstance(gain, CallableGain):
            return gain(labels)
        # A custom function may fail on labels that do not occur.
        return self._tables[gain][places_in(self.distinct_labels, labels)]

    def _checked_table(self, gain: GainFunction) -> FloatArray:
        """Gains of the labels that occur, whose sum over a query is finite."""
        # Other gains grow with the label, so it is enough to check the largest.
        labels = self.distinct_labels if _is_custom(gain) else np.array([self.largest_label])
        table = gain(labels)
        n = int(self.grouping.sizes.max())
        if table.max() > np.finfo(np.float64).max / n:
            raise ValueError(
                f"gain must stay finite when summed over {n} documents; got a largest gain of {table.max():g}. "
                "Rescale the labels."
            )
        return table

    def ideal(self, gain: GainFunction, discount: DiscountFunction, k: int | None) -> FloatArray:
        """Largest sum of gain / discount over the first k ranks of any order of each query."""
        key = (gain, discount, k)
        if key not in self._ideals:
            longest = int(self.grouping.sizes.max())
            depth = longest if k is None else min(k, longest)
            weights = 1 / discount(np.arange(1.0, depth + 1))
            steps = self._gain_steps(gain)
            if steps is None:
                self._ideals[key] = self._sort_ideal(gain, weights)
            else:
                self._ideals[key] = self._count_ideal(*steps, weights)
        return self._ideals[key]

    def _gain_steps(self, gain: GainFunction) -> tuple[FloatArray, FloatArray] | None:
        """Grades, and what each gains over the one below; None if labels are no grades, or a higher one gains less."""
        if not self.are_grades:
            return None
        grades = self.distinct_labels if _is_custom(gain) else np.arange(self.largest_label + 1)
        steps = np.diff(gain(grades), prepend=0.0)
        return (grades, steps) if (steps >= 0).all() else None

    def _count_ideal(
        self, grades: FloatArray, steps: FloatArray, weights: FloatArray
    ) -> FloatArray:
        # Nothing is sorted: with c_g documents of grade g or better and D[m] the sum of the first m weights, it is the
        # sum over grades of (gain(g) - gain(g - 1)) * D[min(k, c_g)].
        sums = np.cumsum(np.append(0.0, weights))
        ideal = np.zeros(self.n_queries)
        for place in np.flatnonzero(steps):
            n_reached = np.minimum(self.count(float(grades[place])), len(weights))
            ideal += steps[place] * sums[n_reached]
        return ideal

    def _sort_ideal(self, gain: GainFunction, weights: FloatArray) -> FloatArray:
        gains = self.gains(gain, self.labels)
        ideal = np.zeros(self.n_queries)
        for queries in self.blocks():
            best = -np.sort(-self.windows(gains, queries, 0.0), axis=1)[:, : len(weights)]
            ideal[queries] = best @ weights[: best.shape[1]]
        return ideal

    # Columns and blocks

    def column_codes(self, name: str) -> IntArray:
        """Equal numbers for documents with equal entries in a column."""
        if name not in self._codes:
            self._codes[name] = codes_by_value(self.columns[name])
        return self._codes[name]

    def windows(self, values: NDArray[T], queries: IntArray, fill: float) -> NDArray[T]:
        """Entries of each query as rows of a rectangle, with ``fill`` after the last document."""
        return windows(values, self.grouping.starts[queries], self.grouping.sizes[queries], fill)

    @property
    def block_cells(self) -> int:
        """Largest number of cells of a block of several queries."""
        return largest_block(self.n_documents)

    def blocks(self) -> Iterator[IntArray]:
        """Yield the numbers of queries of similar length, each query once."""
        return blocks_of_queries(self.grouping.sizes, self.block_cells)


def _is_custom(gain: GainFunction) -> bool:
    """Whether a gain may fail for labels that do not occur, or fall with the label."""
    return isinstance(gain, CallableGain | GradeGains)

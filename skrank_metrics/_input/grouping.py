"""Rows grouped by query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, check_weights, ordinal_codes
from skrank_metrics._input.id_types import codes_of_objects

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Grouping:
    """Rows grouped by query: queries in order of first appearance, the rows of a query in their given order."""

    ids: NDArray[Any]  # one id per query
    sizes: IntArray  # documents per query
    # The number of the query of each row, in a small type; None if the rows of each query are contiguous.
    shuffled: NDArray[np.integer[Any]] | None

    @cached_property
    def starts(self) -> IntArray:
        """Position of the first document of each query in grouped order."""
        return starts_of(self.sizes)

    @property
    def codes(self) -> IntArray:
        """The number of the query of each row, in the given order."""
        return self.spread(np.arange(len(self.ids), dtype=np.intp))

    @cached_property
    def order(self) -> NDArray[np.integer[Any]] | None:
        """The rows sorted by query; None if the rows of each query are contiguous already."""
        return None if self.shuffled is None else stable_order(self.shuffled)

    @property
    def first_rows(self) -> IntArray:
        """The first row of each query, in the given order."""
        return self.starts if self.order is None else self.order[self.starts].astype(np.intp)

    def spread(self, values: NDArray[T]) -> NDArray[T]:
        """Repeat one entry per query for each of its rows, in the given order."""
        return np.repeat(values, self.sizes) if self.shuffled is None else values[self.shuffled]

    def sort(self, rows: NDArray[T]) -> NDArray[T]:
        """Put one entry per row into grouped order, without a copy if the order is the same."""
        return rows if self.order is None else rows[self.order]


def group_rows(ids: NDArray[Any]) -> Grouping:
    """Group rows by id. Contiguous ids cost one comparison per row."""
    first, grouping = group_codes(ids)
    return replace(grouping, ids=ids[first])


def group_codes(codes: NDArray[Any]) -> tuple[IntArray, Grouping]:
    """The first row of each query, and the rows grouped by numbers that stand for the ids."""
    changes = codes[1:] != codes[:-1]
    # Shuffled rows, and very short queries, have hardly fewer runs than rows.
    if 2 * np.count_nonzero(changes) > len(codes):
        numbers, first = _number_by_first_appearance(codes)
        sizes = np.bincount(numbers)
        return first, Grouping(
            first, sizes, None if len(first) == len(codes) else _small(numbers, len(first))
        )
    # There are far fewer runs than rows to number.
    run_starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    numbers, first_runs = _number_by_first_appearance(codes[run_starts])
    first, run_sizes = run_starts[first_runs], np.diff(run_starts, append=len(codes))
    if len(first) == len(numbers):
        return first, Grouping(first, run_sizes, None)
    numbers = np.repeat(numbers, run_sizes)
    return first, Grouping(first, np.bincount(numbers), _small(numbers, len(first)))


def _small(numbers: IntArray, largest: int) -> NDArray[np.integer[Any]]:
    """Numbers of rows or queries in the smallest type that can hold them, since reports keep them."""
    return numbers.astype(np.min_scalar_type(largest))


def stable_order(codes: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Rows sorted by code, in their given order within a code."""
    # NumPy sorts 16-bit numbers by counting, in a fifth of the time of wider ones: so 16 bits at a time, lowest first.
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    for shift in range(16, int(codes.max()).bit_length(), 16):
        bits = (codes >> shift).astype(np.uint16)
        order = order[np.argsort(bits[order], kind="stable")]
    return _small(order, len(order))


def _number_by_first_appearance(values: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Number of each value in order of first appearance, and the positions of the first appearances."""
    codes = _compact_codes(values)
    first = np.full(codes.max() + 1, len(codes))
    # The last of several assignments to the same position wins.
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    seen = np.flatnonzero(first < len(codes))
    by_appearance = seen[np.argsort(first[seen])]
    numbers = np.empty_like(first)
    numbers[by_appearance] = np.arange(len(seen))
    return numbers[codes], first[by_appearance]


def _compact_codes(values: NDArray[Any]) -> IntArray:
    """Equal numbers >= 0 for equal values, not many more than there are values."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        # A table with gaps is ten times as fast as sorting.
        if high - low < 4 * len(values):
            # Differences of small integers overflow; those modulo 2**64 do not.
            offsets = values.astype(np.uint64)
            offsets -= np.uint64(low % 2**64)
            return offsets.view(np.int64).astype(np.intp, copy=False)
    if values.dtype.kind in "biufmM":
        return ordinal_codes(values)
    # Sorting strings is ten times as slow, and ids of mixed types have no order.
    return codes_of_objects(values).astype(np.intp, copy=False)


def starts_of(sizes: NDArray[Any]) -> NDArray[Any]:
    """Where each range of these sizes begins if one follows the other."""
    return np.cumsum(sizes) - sizes


def concatenate_ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """``[start, start + 1, ..., start + size - 1]`` for all pairs, concatenated."""
    return np.repeat(starts, sizes) + places_within(sizes)


def places_within(sizes: IntArray) -> IntArray:
    """``[0, 1, ..., size - 1]`` for all sizes, concatenated."""
    return np.arange(int(sizes.sum())) - np.repeat(starts_of(sizes), sizes)


def query_weights(
    sample_weight: Any, grouping: Grouping, *, may_be_zero: bool = False
) -> FloatArray:
    """One weight per query from one weight per document, constant within each query."""
    n_rows = int(grouping.sizes.sum())
    unit = "query" if n_rows == len(grouping.ids) else "document"
    rows = check_weights(sample_weight, n_rows, unit, may_be_zero=may_be_zero)
    return one_per_query(
        rows, grouping, "sample_weight", "Pass the same weight for all documents of a query."
    )


def one_per_query(
    rows: NDArray[Any],
    grouping: Grouping,
    name: str,
    hint: str,
    meanings: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """One value per query from one value per document, constant within each query.

    If the values are codes, such as those of ids, errors show their ``meanings``.
    """
    values = rows[grouping.first_rows]
    differs: NDArray[np.bool_] = rows != grouping.spread(values)
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        query = int(grouping.codes[row])
        one, other = values[query], rows[row]
        if meanings is not None:
            one, other = meanings[one], meanings[other]
        raise ValueError(
            f"{name} must be constant within a query; got {one} and {other} in query "
            f"{grouping.ids.tolist()[query]!r}. {hint}"
        )
    return values

"""The possible orders of a query with tied scores, for functions of a single ranked list."""

from __future__ import annotations

import itertools
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, ordinal_codes
from skrank_metrics._input.query_ids import of_python

# Numbers for the entries of a column of documents, equal for documents that are alike.


def codes_by_value(column: NDArray[Any]) -> IntArray:
    """Equal numbers for equal entries, in an order that depends on what they hold, not on rows or memory.

    If an entry does not show what it holds, as an open file, all count as different, in the order of rows.
    """
    if column.dtype.kind != "O":
        return ordinal_codes(column)
    try:
        texts = [_text(entry) for entry in column.tolist()]
    except (TypeError, ValueError, RecursionError):
        return np.arange(len(column))
    return ordinal_codes(np.array(texts, dtype=object))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_shown)


def _shown(value: Any) -> Any:
    """What a value holds, for types that JSON does not have.

    The texts of objects hold addresses, and sets iterate in the order of hashes, which are salted for strings: both
    differ from process to process.
    """
    name = type(value).__name__
    if isinstance(value, set | frozenset):
        return {name: sorted(map(_text, value))}
    if isinstance(value, np.ndarray):
        return {name: value.tolist()}
    text = repr(value)
    # Texts of dataclasses hold those of sets.
    if " at 0x" in text or is_dataclass(value):
        return {name: vars(value)}
    return {name: text}


# The possible orders of a query with tied scores, for functions of a single ranked list.

# If the documents of a query have more different orders than this, some are drawn at random.
MOST_ORDERS, N_DRAWN = 720, 100


@dataclass(eq=False)
class TiedQuery:
    """The documents of one query in ranked order, and which of them are tied."""

    qid: Any
    labels: FloatArray
    tied: Sequence[slice]  # ranks of equal scores, with documents that differ
    unranked: FloatArray  # labels of documents that were judged but not ranked
    columns: Mapping[str, NDArray[Any]]  # of the ranked documents, then of the unranked ones
    # Equal numbers for documents that are alike: the labels, or codes if there are columns.
    kinds: IntArray | FloatArray

    @property
    def shown_id(self) -> str:
        """The id as shown in error messages."""
        return repr(of_python(self.qid))

    @property
    def enumerable(self) -> bool:
        """Whether there are few enough different orders to use all of them."""
        n_orders = 1
        for ranks in self.tied:
            left = ranks.stop - ranks.start
            # The number of orders is a multinomial coefficient, a product of binomial ones.
            for count in np.unique(self.kinds[ranks], return_counts=True)[1].tolist():
                n_orders, left = n_orders * math.comb(left, count), left - count
                if n_orders > MOST_ORDERS:
                    return False
        return True

    def orders(self) -> Iterator[tuple[FloatArray, dict[str, NDArray[Any]]]]:
        """Yield labels and columns in equally likely orders, read-only: all different ones, or some drawn at random.

        The draw depends only on documents and ties, not on the order of rows or queries.
        """
        n_ranked = len(self.labels)
        rows = np.arange(n_ranked + len(self.unranked))
        for _ in self._in_all_orders(rows) if self.enumerable else self._in_random_orders(rows):
            columns = {name: _read_only(column[rows]) for name, column in self.columns.items()}
            yield _read_only(self.labels[rows[:n_ranked]]), columns

    def _by_kind(self, ranks: slice) -> IntArray:
        """Tied documents, in order of their kind."""
        return ranks.start + np.argsort(self.kinds[ranks], kind="stable")

    def _in_all_orders(self, rows: IntArray) -> Iterator[None]:
        """Put the tied among the rows in one order after the other: all combinations of those of the groups."""
        # Each order of the kinds corresponds to the same number of orders of the documents.
        each = [_distinct_orders(self.kinds[ranks]) for ranks in self.tied]
        for orders in itertools.product(*each):
            for ranks, order in zip(self.tied, orders, strict=True):
                rows[ranks] = ranks.start + order
            yield

    def _in_random_orders(self, rows: IntArray) -> Iterator[None]:
        """Put the tied among the rows in random orders, one after the other."""
        for ranks in self.tied:
            rows[ranks] = self._by_kind(ranks)
        ascending = rows[: len(self.labels)]
        # Python's own hash of bytes differs from process to process.
        seed = zlib.crc32(self.labels[ascending].tobytes())
        if self.columns:
            seed = zlib.crc32(self.kinds[ascending].tobytes(), seed)
        rng = np.random.default_rng(seed)
        tied = np.concatenate([ascending[ranks] for ranks in self.tied])
        group = np.repeat(
            np.arange(len(self.tied)), [ranks.stop - ranks.start for ranks in self.tied]
        )
        for _ in range(N_DRAWN):
            # Draws are below 1, so no document leaves its group.
            rows[np.sort(tied)] = tied[np.argsort(group + rng.random(len(tied)))]
            yield


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    # Views of an array that is read-only and owns its entries cannot be made writeable.
    values.flags.writeable = False
    return values[:]


def _distinct_orders(kinds: IntArray | FloatArray) -> list[IntArray]:
    """Each order of the kinds once, as positions."""
    orders = [np.full(len(kinds), -1)]
    for kind in np.unique(kinds):
        members = np.flatnonzero(kinds == kind)
        longer = []
        for order in orders:
            for places in itertools.combinations(np.flatnonzero(order < 0), len(members)):
                longer.append(order.copy())
                longer[-1][list(places)] = members
        orders = longer
    return orders

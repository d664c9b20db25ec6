"""The possible orders of a query with tied scores, for functions of a single ranked list."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray

# If the documents of a query have more different orders than this, some are drawn at random.
MOST_ORDERS, N_DRAWN = 720, 100


@dataclass(frozen=True)
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
        return repr(self.qid.item() if isinstance(self.qid, np.generic) else self.qid)

    @cached_property
    def enumerable(self) -> bool:
        """Whether there are few enough different orders to use all of them."""
        n_orders = 1
        for ranks in self.tied:
            left = ranks.stop - ranks.start
            for count in np.unique(self.kinds[ranks], return_counts=True)[1].tolist():
                n_orders, left = n_orders * math.comb(left, count), left - count
                if n_orders > MOST_ORDERS:
                    return False
        return True

    def orders(self) -> Iterator[tuple[FloatArray, dict[str, NDArray[Any]]]]:
        """Yield labels and columns in equally likely orders, read-only: all different ones, or some drawn at random.

        The draw depends only on documents and ties, not on the order of rows or queries.
        """
        if not self.tied:
            yield (
                _read_only(self.labels.copy()),
                {name: _read_only(column) for name, column in self.columns.items()},
            )
            return
        order = np.arange(
            len(self.kinds)
        )  # ranks of the documents, with tied ones in order of their kind
        for group in self.tied:
            order[group] = group.start + np.argsort(self.kinds[group], kind="stable")
        ranks = np.concatenate([np.arange(group.start, group.stop) for group in self.tied])
        orders = self._all_orders(order) if self.enumerable else self._random_orders(order, ranks)
        rows = np.arange(len(self.labels) + len(self.unranked))
        for rows[ranks] in orders:
            columns = {name: _read_only(column[rows]) for name, column in self.columns.items()}
            yield _read_only(self.labels[rows[: len(order)]]), columns

    def _all_orders(self, ascending: IntArray) -> Iterator[IntArray]:
        """Combine the orders of the tied groups, side by side."""
        # Each order of the kinds corresponds to the same number of orders of the documents.
        each = [
            ascending[ranks][_distinct_orders(self.kinds[ascending[ranks]].tolist())]
            for ranks in self.tied
        ]
        return map(np.concatenate, itertools.product(*each))

    def _random_orders(self, ascending: IntArray, ranks: IntArray) -> Iterator[IntArray]:
        tied, seed = ascending[ranks], zlib.crc32(self.labels[ascending].tobytes())
        seed = zlib.crc32(self.kinds[ascending].tobytes(), seed) if self.columns else seed
        group = np.repeat(
            np.arange(len(self.tied)), [of_group.stop - of_group.start for of_group in self.tied]
        )
        rng = np.random.default_rng(seed)
        rows = max(
            1, 1_000_000 // len(tied)
        )  # in one step, since a query may have a million documents
        for first in range(0, N_DRAWN, rows):
            yield from tied[
                np.argsort(group + rng.random((min(rows, N_DRAWN - first), len(tied))), axis=1)
            ]


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    # Views of an array that is read-only and owns its entries cannot be made writeable.
    values.flags.writeable = False
    return values[:]


def _distinct_orders(kinds: list[float]) -> list[list[int]]:
    """Each order of ascending kinds once, in lexicographic order, as positions."""
    order, last, found = list(range(len(kinds))), len(kinds) - 1, []
    while True:
        found.append(order.copy())
        rise = next(
            (i for i in range(last - 1, -1, -1) if kinds[order[i]] < kinds[order[i + 1]]), -1
        )
        if rise < 0:
            return found
        above = next(i for i in range(last, rise, -1) if kinds[order[i]] > kinds[order[rise]])
        order[rise], order[above] = order[above], order[rise]
        order[rise + 1 :] = order[:rise:-1]

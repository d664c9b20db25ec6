"""The orders of one query whose scores tie, for functions of a single ranked list."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray

# At most so many different orders of the labels of a query are enumerated; of more, so many are drawn.
N_ORDERS = 720


@dataclass(frozen=True)
class RankedQuery:
    """The labels of one query in ranked order, and which of them are tied."""

    qid: Any
    labels: FloatArray
    tied: Sequence[slice]  # ranks of equal scores and different labels
    unranked: FloatArray  # labels of documents that were judged but not ranked

    @property
    def shown_id(self) -> str:
        """The id as in error messages."""
        return repr(self.qid.item() if isinstance(self.qid, np.generic) else self.qid)

    @cached_property
    def enumerable(self) -> bool:
        """Whether there are few enough different orders to take them all."""
        n_orders = 1
        for ranks in self.tied:
            left = ranks.stop - ranks.start
            for count in np.unique(self.labels[ranks], return_counts=True)[1].tolist():
                n_orders, left = n_orders * math.comb(left, count), left - count
                if n_orders > N_ORDERS:
                    return False
        return True

    def orders(self) -> Iterator[FloatArray]:
        """Yield the labels, read-only, in equally likely orders: all that differ, or a fixed number drawn at random.

        What is drawn depends on labels and ties alone, not on the order of rows or queries.
        """
        if not self.tied:
            yield _read_only(self.labels.copy())
            return
        ascending = self.labels.copy()
        for ranks in self.tied:
            ascending[ranks].sort()
        for parts in self._all_orders(ascending) if self.enumerable else self._random_orders(ascending):
            order = ascending.copy()
            for ranks, part in zip(self.tied, parts, strict=True):
                order[ranks] = part
            yield _read_only(order)

    def _all_orders(self, ascending: FloatArray) -> Iterator[Sequence[Any]]:
        # Each order of the labels stands for equally many orders of the documents.
        return product(*(list(_distinct_orders(ascending[ranks].tolist())) for ranks in self.tied))

    def _random_orders(self, ascending: FloatArray) -> Iterator[Sequence[Any]]:
        generator = np.random.default_rng(zlib.crc32(ascending.tobytes()))
        for _ in range(N_ORDERS):
            yield [generator.permutation(ascending[ranks]) for ranks in self.tied]


def _distinct_orders(labels: list[float]) -> Iterator[tuple[float, ...]]:
    """Yield each order of ascending labels once, in lexicographic order."""
    order, last = labels.copy(), len(labels) - 1
    while True:
        yield tuple(order)
        rise = next((i for i in range(last - 1, -1, -1) if order[i] < order[i + 1]), -1)
        if rise < 0:
            return
        above = next(i for i in range(last, rise, -1) if order[i] > order[rise])
        order[rise], order[above] = order[above], order[rise]
        order[rise + 1 :] = order[:rise:-1]


def _read_only(labels: FloatArray) -> FloatArray:
    labels.flags.writeable = False
    # A view of an array that is read-only cannot be made writeable.
    return labels.view()

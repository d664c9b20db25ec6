"""The possible orders of a query with tied scores, for functions of a single ranked list."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray

# If the labels of a query have more different orders than this, some are drawn at random.
MOST_ORDERS, N_DRAWN = 720, 100


@dataclass(frozen=True)
class RankedQuery:
    """The labels of one query in ranked order, and which of them are tied."""

    qid: Any
    labels: FloatArray
    tied: Sequence[slice]  # ranks of equal scores and different labels
    unranked: FloatArray  # labels of documents that were judged but not ranked

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
            for count in np.unique(self.labels[ranks], return_counts=True)[1].tolist():
                n_orders, left = n_orders * math.comb(left, count), left - count
                if n_orders > MOST_ORDERS:
                    return False
        return True

    def orders(self) -> FloatArray:
        """Labels in equally likely orders, one per row and read-only: all different ones, or some drawn at random.

        The draw depends only on labels and ties, not on the order of rows or queries.
        """
        ascending = self.labels.copy()
        for ranks in self.tied:
            ascending[ranks].sort()
        parts = self._all_orders(ascending) if self.enumerable else self._random_orders(ascending)
        orders = np.repeat(ascending[None], len(parts), axis=0)
        orders[:, self._tied_ranks] = parts
        # Rows of an array that is read-only and owns its entries cannot be made writeable.
        orders.flags.writeable = False
        return orders

    @property
    def _tied_ranks(self) -> IntArray:
        return np.concatenate([np.arange(0), *(np.arange(ranks.start, ranks.stop) for ranks in self.tied)])

    def _all_orders(self, ascending: FloatArray) -> FloatArray:
        """Combine the orders of the tied groups, side by side, one combination per row."""
        # Each order of the labels corresponds to the same number of orders of the documents.
        if not self.tied:
            return np.empty((1, 0))
        each = [np.array(list(_distinct_orders(ascending[ranks].tolist()))) for ranks in self.tied]
        numbers = np.indices([len(orders) for orders in each]).reshape(len(each), -1)
        return np.hstack([orders[chosen] for orders, chosen in zip(each, numbers, strict=True)])

    def _random_orders(self, ascending: FloatArray) -> FloatArray:
        tied = ascending[self._tied_ranks]
        group = np.repeat(np.arange(len(self.tied)), [ranks.stop - ranks.start for ranks in self.tied])
        keys = group + np.random.default_rng(zlib.crc32(ascending.tobytes())).random((N_DRAWN, len(tied)))
        return tied[np.argsort(keys, axis=1)]


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

"""Splits of whole queries in time order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import Mask, check_int
from skrank_metrics._input.grouping import Grouping
from skrank_metrics.splitters._base import QuerySplitter


class QueryTimeSeriesSplit(QuerySplitter):
    """Train on past queries, and test on those that follow.

    This is the counterpart of scikit-learn's TimeSeriesSplit. Rows must be in time order: queries are ordered by their
    first row, and the rows of a query need not be contiguous. The query ids are found as in QueryKFold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 2.
    gap : int, default=0
        Number of queries to leave out between the training and the test part.
    max_train_size : int, default=None
        Maximum number of queries in a training part; the latest ones are kept. If None, all past queries.
    test_size : int, default=None
        Number of queries in each test part. If None, the number of queries // (n_splits + 1).

    Examples
    --------
    Four queries "a" to "d", the first with two rows:

    >>> from skrank_metrics import QueryTimeSeriesSplit
    >>> splitter = QueryTimeSeriesSplit(2, test_size=1)
    >>> for train, test in splitter.split([[0]] * 5, qid=["a", "a", "b", "c", "d"]):
    ...     print(train, test)
    [0 1 2] [3]
    [0 1 2 3] [4]
    """

    def __init__(
        self, n_splits: int = 5, *, gap: int = 0, max_train_size: int | None = None, test_size: int | None = None
    ) -> None:
        check_int(n_splits, "n_splits", 2)
        check_int(gap, "gap", 0)
        check_int(max_train_size, "max_train_size", 1, or_none=True)
        check_int(test_size, "test_size", 1, or_none=True)
        self.n_splits: int = int(n_splits)
        self.gap: int = gap
        self.max_train_size: int | None = max_train_size
        self.test_size: int | None = test_size

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        n_queries = len(grouping.ids)
        size = n_queries // (self.n_splits + 1) if self.test_size is None else self.test_size
        if size < 1 or n_queries - self.n_splits * size - self.gap < 1:
            # Without a test_size, test parts grow with the number of queries and must outgrow the gap.
            least = (self.gap + 1) * (self.n_splits + 1)
            enough = least if self.test_size is None else self.n_splits * size + self.gap + 1
            raise ValueError(
                "n_splits, test_size and gap must leave a query to train on in the first split; got n_splits="
                f"{self.n_splits}, test_size={self.test_size} and gap={self.gap} with {n_queries} queries; {enough} "
                "queries are always enough. Lower one of the parameters or add queries."
            )
        numbers = np.arange(n_queries)
        for first in range(n_queries - self.n_splits * size, n_queries, size):
            end = first - self.gap
            start = 0 if self.max_train_size is None else max(0, end - self.max_train_size)
            yield (start <= numbers) & (numbers < end), (first <= numbers) & (numbers < first + size)

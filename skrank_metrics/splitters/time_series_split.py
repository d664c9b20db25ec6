"""Splits of whole queries in time order."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from skrank_metrics._input.arrays import IntArray, Mask, check_times
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.parameters import check_int
from skrank_metrics._input.query_ids import TIME, carried
from skrank_metrics._input.types import Ids
from skrank_metrics.splitters._base import QuerySplitter, canonical_order, mask_at


class QueryTimeSeriesSplit(QuerySplitter):
    """Train on past queries, and test on those that follow.

    With times, queries are ordered by their earliest time, and a query is trained on only if its latest time is
    before the earliest time of the test part. Without them, rows must be in time order: queries are ordered by their
    first row. The query ids are found as in QueryKFold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 2.
    gap : int, str or timedelta, default=0
        What to leave out between the training and the test part: a number of queries, or with dates as ``time`` a
        duration, such as "7D".
    max_train_size, test_size : int, default=None
        Numbers of queries, as the numbers of rows in scikit-learn's TimeSeriesSplit.
    time : array-like of shape (n_documents,), default=None
        Time of each row that is split, dates or numbers. In a search, where the number of rows is not known, None, and
        the labels carry the times: ``with_qid(y, qid, time=time)``.

    Examples
    --------
    Rows in any order, with a week between training and testing; query "c" starts five days after "b":

    >>> from skrank_metrics import QueryTimeSeriesSplit
    >>> days = ["2026-03-20", "2026-03-12", "2026-03-01", "2026-03-07"]
    >>> splitter = QueryTimeSeriesSplit(2, test_size=1, gap="7D", time=days)
    >>> for train, test in splitter.split([[0]] * 4, qid=["d", "c", "a", "b"]):
    ...     print(train, test)
    [2] [1]
    [1 2 3] [0]
    """

    _per_row: ClassVar[str] = "time"

    def __init__(
        self,
        n_splits: int = 5,
        *,
        gap: Any = 0,
        max_train_size: int | None = None,
        test_size: int | None = None,
        time: Ids | None = None,
    ) -> None:
        check_int(n_splits, "n_splits", 2)
        if not isinstance(gap, str | datetime.timedelta | np.timedelta64):
            gap = check_int(gap, "gap", 0)
        elif not _duration(gap) >= np.timedelta64(0, "s"):
            raise ValueError(f"gap must be a number of queries, or a duration >= 0; got {gap!r}.")
        check_int(max_train_size, "max_train_size", 1, or_none=True)
        check_int(test_size, "test_size", 1, or_none=True)
        self.n_splits: int = int(n_splits)
        self.gap: Any = gap
        self.max_train_size: int | None = max_train_size
        self.test_size: int | None = test_size
        self.time: Any = time

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        order, starts, ends = self._in_order(grouping, carried(y, **{TIME: self.time})[TIME])
        n_left_out = self.gap if isinstance(self.gap, int) else 0
        by_place = TimeSeriesSplit(self.n_splits, gap=n_left_out, test_size=self.test_size)
        for before, following in by_place.split(order):
            past = order[before]
            tested = order[following]
            # Queries overlap in time, so a past one may still go on when the test part begins.
            if starts is not None:
                begin = starts[tested].min()
                latest = begin
                if not isinstance(self.gap, int):
                    latest = begin - _duration(self.gap)
                past = past[ends[past] < latest]
            if not past.size:
                raise ValueError(
                    "gap and test_size must leave a query that ends before each test part begins; got "
                    f"gap={self.gap!r} and a part that begins at {begin}."
                )
            if self.max_train_size is not None:
                past = past[-self.max_train_size :]
            yield mask_at(past, len(order)), mask_at(tested, len(order))

    def _in_order(self, grouping: Grouping, time: Any) -> tuple[IntArray, Any, Any]:
        """Queries in time order, and the earliest and latest time of each, if there are times."""
        times = None if time is None else grouping.sort(check_times(time, len(grouping.codes)))
        is_number = isinstance(self.gap, int)
        if not is_number and (times is None or times.dtype.kind != "M"):
            raise ValueError(
                f"gap must be a number of queries unless time= holds dates; got {self.gap!r}."
            )
        if times is None:
            return np.arange(len(grouping.ids)), None, None
        starts = np.minimum.reduceat(times, grouping.starts)
        ends = np.maximum.reduceat(times, grouping.starts)
        # Queries that start at the same time are ordered by id, so that the order of rows does not matter.
        by_id = canonical_order(grouping.ids)
        return by_id[np.argsort(starts[by_id], kind="stable")], starts, ends


def _duration(gap: Any) -> Any:
    import pandas as pd

    # What is no duration becomes NaT, of which every comparison is False.
    return pd.to_timedelta([gap], errors="coerce").to_numpy()[0]

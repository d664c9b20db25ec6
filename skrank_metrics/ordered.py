"""Splits of whole queries that the data themselves prescribe: by time, or in parts that others have made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._folds import canonical_order
from skrank_metrics._grouping import NumberedRows, number_rows
from skrank_metrics._ids import check_ids
from skrank_metrics._query_splitter import QuerySplitter, check_whole, query_grouping
from skrank_metrics._validation import IntArray, Mask, check_int

__all__ = ["PredefinedQuerySplit", "QueryTimeSeriesSplit"]


class QueryTimeSeriesSplit(QuerySplitter):
    """Train on the queries of the past, test on those that came next.

    The counterpart of scikit-learn's TimeSeriesSplit. Rows have to be in the order of time, as queries count in the
    order in which their first rows appear; rows of one query need not be together. The query ids are found as in
    QueryKFold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 2.
    gap : int, default=0
        Number of queries to leave out between those trained on and those tested on.
    max_train_size : int, default=None
        Number of queries to train on at most, the latest ones; None means all that came before.
    test_size : int, default=None
        Number of queries to test on in each split; None means the number of queries // (n_splits + 1).

    Raises
    ------
    TypeError
        Where an argument is of the wrong type or, in ``split``, the query ids are missing.
    ValueError
        Where an argument is out of range or, in ``split``, there are too few queries, or a query of ``qid`` is in two
        ``groups``.

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

    def _sides(self, grouping: NumberedRows, y: Any) -> Iterator[tuple[Mask, Mask]]:
        n_queries = len(grouping.ids)
        size = n_queries // (self.n_splits + 1) if self.test_size is None else self.test_size
        if size < 1 or n_queries - self.n_splits * size - self.gap < 1:
            # Without a test_size, test parts grow with the number of queries, and have to outgrow the gap.
            least = (self.gap + 1) * (self.n_splits + 1)
            enough = least if self.test_size is None else self.n_splits * size + self.gap + 1
            raise ValueError(
                f"n_splits, test_size and gap must leave a query to train on in the first split; got n_splits="
                f"{self.n_splits}, test_size={self.test_size} and gap={self.gap}, for which {enough} queries are "
                f"enough, and {n_queries} queries. Lower one of them or bring more queries."
            )
        numbers = np.arange(n_queries)
        for first in range(n_queries - self.n_splits * size, n_queries, size):
            end = first - self.gap
            start = 0 if self.max_train_size is None else max(0, end - self.max_train_size)
            yield (start <= numbers) & (numbers < end), (first <= numbers) & (numbers < first + size)


class PredefinedQuerySplit(QuerySplitter):
    """Rotate over parts of the queries that are already made, such as the five parts of MSLR-WEB.

    Every part in turn is the test part, in ascending order. The part before it, which for the first one is the last,
    can be held back for validation; all others are trained on. These are the folds of MSLR-WEB: that which tests on
    S5 validates on S4 and trains on S1, S2 and S3. The query ids are found as in QueryKFold, to make sure that no
    query is in two parts.

    Parameters
    ----------
    parts : array-like of shape (n_documents,)
        Number or name of the part of each row, two parts or more; three with ``validation=True``. Unlike in
        scikit-learn's PredefinedSplit, -1 is a part like any other.
    validation : bool, default=False
        Whether ``split`` leaves the validation part out of training. ``split_in_three`` gives it in any case.

    Raises
    ------
    TypeError
        Where an argument is of the wrong type or, in ``split``, the query ids are missing.
    ValueError
        Where there are too few parts, or one is missing or, in ``split``, lengths differ or a query is in two parts.

    Examples
    --------
    Three queries in three parts, as they are tested on:

    >>> from skrank_metrics import PredefinedQuerySplit
    >>> X, qid = [[0]] * 4, ["a", "a", "b", "c"]
    >>> for train, test in PredefinedQuerySplit([1, 1, 2, 3]).split(X, qid=qid):
    ...     print(train, test)
    [2 3] [0 1]
    [0 1 3] [2]
    [0 1 2] [3]

    With validation=True, the last of these trains on part 1 alone, as part 2 is the one before part 3:

    >>> list(PredefinedQuerySplit([1, 1, 2, 3], validation=True).split(X, qid=qid))[-1]
    (array([0, 1]), array([3]))
    """

    def __init__(self, parts: Any, *, validation: bool = False) -> None:
        if not isinstance(validation, bool):
            raise TypeError(f"validation must be True or False; got {validation!r}.")
        if isinstance(parts, str) or not hasattr(parts, "__len__"):
            raise TypeError(f"parts must hold the part of each row; got {parts!r} ({type(parts).__name__}).")
        self.parts: Any = parts
        self.validation: bool = validation
        self.n_splits: int = len(self._grouped_parts().ids)
        least = 3 if validation else 2
        if self.n_splits < least:
            raise ValueError(
                f"parts must hold {least} different parts or more where validation={validation}, "
                f"so that something is left to train on; got {self.n_splits}."
            )

    def split_in_three(
        self, X: Any, y: Any = None, groups: Any = None, qid: Any = None
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Generate the rows of the training, the validation and the test part of each split.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Only its length is used.
        y : array-like of shape (n_documents,), default=None
            May carry the query ids in an index level named "qid".
        groups : array-like of shape (n_documents,), default=None
            Id of the unit that has to be in one part; comes before ``qid``.
        qid : array-like of shape (n_documents,), default=None
            Query ids.

        Yields
        ------
        train, validation, test : ndarray of int
            Row numbers, ascending.

        Raises
        ------
        TypeError
            Where the ids are missing.
        ValueError
            Where there are fewer than three parts, lengths differ or a query is in two parts.

        Examples
        --------
        >>> from skrank_metrics import PredefinedQuerySplit
        >>> for triple in PredefinedQuerySplit(["S1", "S2", "S3"]).split_in_three([[0]] * 3, qid=["a", "b", "c"]):
        ...     print(*triple)
        [1] [2] [0]
        [2] [0] [1]
        [0] [1] [2]
        """
        if self.n_splits < 3:
            raise ValueError(f"parts must hold 3 different parts or more to split in three; got {self.n_splits}.")
        grouping = query_grouping(X, y, groups, qid)
        part_of_row = self._part_of_query(grouping)[grouping.codes]
        for test in range(self.n_splits):
            validation = (test - 1) % self.n_splits
            train = (part_of_row != test) & (part_of_row != validation)
            yield np.flatnonzero(train), np.flatnonzero(part_of_row == validation), np.flatnonzero(part_of_row == test)

    def _sides(self, grouping: NumberedRows, y: Any) -> Iterator[tuple[Mask, Mask]]:
        parts = self._part_of_query(grouping)
        for test in range(self.n_splits):
            train = parts != test
            if self.validation:
                train &= parts != (test - 1) % self.n_splits
            yield train, parts == test

    def _part_of_query(self, grouping: NumberedRows) -> IntArray:
        """Place of the part of each query among the sorted parts."""
        parts = self._grouped_parts()
        if len(parts.codes) != len(grouping.codes):
            raise ValueError(
                f"parts must have the same length as X; got {len(parts.codes)} and {len(grouping.codes)}. "
                "Where rows were selected, select those of parts too."
            )
        check_whole(grouping, parts, "parts", "part", "")
        rank = np.empty(self.n_splits, dtype=np.intp)
        rank[canonical_order(parts.ids)] = np.arange(self.n_splits)
        of_query = np.empty(len(grouping.ids), dtype=np.intp)
        of_query[grouping.codes] = rank[parts.codes]
        return of_query

    def _grouped_parts(self) -> NumberedRows:
        array: NDArray[Any] = check_ids(self.parts, len(self.parts), "parts", "X")
        if not len(array):
            raise ValueError("parts must hold the part of each row; got none.")
        return number_rows(array)

"""Splits in parts of the queries that others have made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray, Mask
from skrank_metrics._input.grouping import Grouping, group_rows
from skrank_metrics._input.query_ids import check_ids, check_whole
from skrank_metrics.splitters._base import QuerySplitter, canonical_order, units_of


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
        grouping = units_of(X, y, groups, qid)
        part_of_row = self._part_of_query(grouping)[grouping.codes]
        for test in range(self.n_splits):
            validation = (test - 1) % self.n_splits
            train = (part_of_row != test) & (part_of_row != validation)
            yield np.flatnonzero(train), np.flatnonzero(part_of_row == validation), np.flatnonzero(part_of_row == test)

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        parts = self._part_of_query(grouping)
        for test in range(self.n_splits):
            train = parts != test
            if self.validation:
                train &= parts != (test - 1) % self.n_splits
            yield train, parts == test

    def _part_of_query(self, grouping: Grouping) -> IntArray:
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

    def _grouped_parts(self) -> Grouping:
        array: NDArray[Any] = check_ids(self.parts, len(self.parts), "parts", "X")
        if not len(array):
            raise ValueError("parts must hold the part of each row; got none.")
        return group_rows(array)

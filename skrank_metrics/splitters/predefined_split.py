"""Splits by predefined parts of the queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from skrank_metrics._input.arrays import IntArray, Mask
from skrank_metrics._input.grouping import Grouping, one_per_query
from skrank_metrics._input.parameters import check_bool
from skrank_metrics._input.query_ids import group_ids
from skrank_metrics.splitters._base import QuerySplitter, canonical_order


class PredefinedQuerySplit(QuerySplitter):
    """Rotate over predefined parts of the queries, such as the five parts of MSLR-WEB.

    Each part in turn is the test part, in ascending order. The part before it (for the first one, the last) can be held
    out for validation, and all others are for training. The query ids, as in QueryKFold, must not be in two parts.

    Parameters
    ----------
    parts : array-like of shape (n_documents,)
        Number or name of the part of each row. There must be at least two parts, or three with ``validation=True``.
        Unlike in scikit-learn's PredefinedSplit, -1 is a part like any other.
    validation : bool, default=False
        Whether ``split`` leaves out the validation part, which ``split_in_three`` yields.

    Examples
    --------
    Three queries in three parts:

    >>> from skrank_metrics import PredefinedQuerySplit
    >>> X, qid = [[0]] * 4, ["a", "a", "b", "c"]
    >>> for train, test in PredefinedQuerySplit([1, 1, 2, 3]).split(X, qid=qid):
    ...     print(train, test)
    [2 3] [0 1]
    [0 1 3] [2]
    [0 1 2] [3]
    """

    _per_row: ClassVar[str] = "parts"

    def __init__(self, parts: Any, *, validation: bool = False) -> None:
        self.parts: Any = parts
        self.validation: bool = check_bool(validation, "validation")
        if not (hasattr(parts, "__len__") and len(parts)):
            raise ValueError(f"parts must hold the part of each row; got {parts!r}.")
        self.n_splits: int = len(group_ids(parts, len(parts), "parts", "X").ids)
        least = 3 if validation else 2
        if self.n_splits < least:
            raise ValueError(
                f"parts must hold at least {least} different parts if validation={validation}; got {self.n_splits}."
            )

    def split_in_three(
        self, X: Any, y: Any = None, groups: Any = None, qid: Any = None
    ) -> Iterator[tuple[IntArray, ...]]:
        """Generate the row numbers of the training, validation and test part of each split.

        Parameters
        ----------
        X, y, groups, qid : object
            As in ``split``, which also describes the errors.

        Yields
        ------
        train, validation, test : ndarray of int
            Row numbers, ascending.
        """
        # With two parts, the one before the test part is the only one to train on.
        if self.n_splits < 3:
            raise ValueError(
                f"parts must hold at least 3 different parts to split in three; got {self.n_splits}."
            )
        yield from self._rows(self._thirds, X, y, groups, qid)

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        for train, _, test in self._thirds(grouping, y):
            yield train if self.validation else ~test, test

    def _thirds(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask, Mask]]:
        parts = group_ids(self.parts, len(self.parts), "parts", "X")
        hint = "Put all rows of a query in one part."
        of_query = one_per_query(parts.codes, grouping, "parts", hint, meanings=parts.ids)
        place = np.argsort(canonical_order(parts.ids))[of_query]
        for number in range(self.n_splits):
            test = place == number
            validation = place == (number - 1) % self.n_splits
            yield ~(test | validation), validation, test

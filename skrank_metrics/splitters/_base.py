"""What all query-aware splitters share: where ids come from, and how whole queries become row numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length

from skrank_metrics._input.arrays import IntArray, Mask
from skrank_metrics._input.grouping import NumberedRows, number_rows
from skrank_metrics._input.query_ids import check_aligned, check_ids, missing_ids_message, resolve_ids


class QuerySplitter(BaseCrossValidator):  # type: ignore[misc]
    """Base of the splitters: subclasses say which queries are on which side, this class which rows that are."""

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}

    n_splits: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Give the number of splits.

        Parameters
        ----------
        X, y, groups, qid : object, default=None
            Not used; here for the conventions of scikit-learn.

        Returns
        -------
        n_splits : int
            Number of pairs of a training and a test part.
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None, qid: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate the rows of the training and the test part of each split.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Only its length is used.
        y : array-like of shape (n_documents,), default=None
            Relevance labels, which only stratification by relevance looks at. May carry the query ids in an index
            level named "qid".
        groups : array-like of shape (n_documents,), default=None
            Id of the unit to keep together; comes before ``qid``.
        qid : array-like of shape (n_documents,), default=None
            Query ids.

        Yields
        ------
        train, test : ndarray of int
            Row numbers, ascending.

        Raises
        ------
        TypeError
            Where the ids are missing.
        ValueError
            Where there are too few queries, lengths differ, or a query is in two groups.
        """
        grouping = query_grouping(X, y, groups, qid)
        for train, test in self._sides(grouping, y):
            yield np.flatnonzero(train[grouping.codes]), np.flatnonzero(test[grouping.codes])

    @abstractmethod
    def _sides(self, grouping: NumberedRows, y: Any) -> Iterator[tuple[Mask, Mask]]:
        """Masks of the queries to train on and to test on."""


def query_grouping(X: Any, y: Any, groups: Any, qid: Any) -> NumberedRows:
    """Rows grouped by the unit to keep together, which is ``groups``, else ``qid``, else the index of ``y``."""
    ids, name = resolve_ids(y, groups=groups, qid=qid)
    if ids is None:
        raise TypeError(missing_ids_message("A query-aware split").replace("qid=<", "groups=<", 1))
    check_consistent_length(X, y)
    check_aligned(X=X, y=y, **{name: ids})
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    grouping = number_rows(check_ids(ids, n_rows, name, "X"))
    queries = resolve_ids(y, qid=qid)[0]
    if name == "groups" and queries is not None and queries is not groups:
        check_whole(
            number_rows(check_ids(queries, n_rows, "qid", "X")), grouping, "groups", "group", ", or pass groups=qid"
        )
    return grouping


def check_whole(queries: NumberedRows, units: NumberedRows, name: str, noun: str, way_out: str) -> None:
    """Refuse units, such as groups, that cut a query."""
    first = np.empty(len(queries.ids), dtype=np.intp)
    first[queries.codes[::-1]] = units.codes[::-1]  # of several assignments to a place the last one stays
    expected = first[queries.codes]
    cut = np.flatnonzero(units.codes != expected)
    if len(cut):
        row = cut[0]
        query, one, other = queries.ids[queries.codes[row]], units.ids[expected[row]], units.ids[units.codes[row]]
        raise ValueError(
            f"{name} must hold all rows of a query in one {noun}; got query {query!s} in {noun} {one!s} and "
            f"{noun} {other!s}. Put its rows together{way_out}."
        )


def canonical_order(ids: NDArray[Any]) -> IntArray:
    """Queries in an order that depends on their ids alone."""
    try:
        return np.argsort(ids, kind="stable")
    except TypeError:  # ids of several types have no order of their own
        return np.array(sorted(range(len(ids)), key=lambda i: (type(ids[i]).__name__, repr(ids[i]))))

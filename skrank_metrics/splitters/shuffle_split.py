"""Random splits of whole queries."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from skrank_metrics._input.arrays import (
    Mask,
    check_int,
    check_number,
    check_seed,
    count_rows,
    take_rows,
)
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import group_by_query, ids_in_index
from skrank_metrics._input.types import Ids, Seed
from skrank_metrics.splitters._base import QuerySplitter, canonical_order, mask_at, random_source


class QueryShuffleSplit(QuerySplitter):
    """Draw whole queries for training and testing, independently for each split.

    The test parts of different splits may overlap. The draws depend on the seed and the ids, not on the order of rows.
    The query ids are found as in QueryKFold.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size, train_size : float or int, default=None
        Sizes of the parts: a float in (0, 1) is a share of all queries, rounded up for testing and down for training;
        an int is a number of queries. None means what the other leaves, and a test part of 0.1 if both are None.
    random_state : int, RandomState or Generator instance or None, default=None
        Controls the random splits.

    Examples
    --------
    >>> from skrank_metrics import QueryShuffleSplit
    >>> splitter = QueryShuffleSplit(1, test_size=0.25, random_state=0)
    >>> for train, test in splitter.split([[0]] * 5, qid=["a", "b", "c", "c", "d"]):
    ...     print(train, test)
    [0 1 4] [2 3]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: Seed = None,
    ) -> None:
        check_int(n_splits, "n_splits", 1)
        _check_sizes(test_size, train_size)
        check_seed(random_state)
        self.n_splits: int = int(n_splits)
        self.test_size: float | None = test_size
        self.train_size: float | None = train_size
        self.random_state: Seed = random_state

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        random = random_source(self.random_state)
        for _ in range(self.n_splits):
            yield _draw_sides(grouping, self.test_size, self.train_size, 0.1, random)


def query_train_test_split(
    *arrays: Any,
    qid: Ids | None = None,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: Seed = None,
) -> list[Any]:
    """Split arrays into a training and a test part of whole queries, drawn at random; rows keep their order.

    Parameters
    ----------
    *arrays : sequence of indexables of length n_documents
        Lists, arrays, sparse matrices, DataFrames or Series, also the query ids to split these as well.
    qid : array-like of shape (n_documents,), default=None
        Query ids. Optional if one of the arrays has an index level named "qid".
    test_size, train_size : float or int, default=None
        Sizes of the parts, as in QueryShuffleSplit, but a test part of 0.25 if both are None.
    random_state : int, RandomState or Generator instance or None, default=None
        Controls the random split.

    Returns
    -------
    parts : list of length 2 * len(arrays)
        The training and the test part of each array.

    Raises
    ------
    TypeError, ValueError
        If there are no arrays or no ids, lengths differ, ids disagree, a size is invalid, or a part would be empty.

    Examples
    --------
    >>> from skrank_metrics import query_train_test_split
    >>> X, y, qid = [[1], [2], [3]], [0, 1, 2], ["a", "b", "a"]
    >>> X_train, X_test, qid_train, qid_test = query_train_test_split(X, qid, qid=qid, test_size=1, random_state=0)
    >>> qid_train, qid_test
    (['a', 'a'], ['b'])
    """
    if not arrays:
        raise TypeError("query_train_test_split needs at least one array to split; got none.")
    _check_sizes(test_size, train_size)
    random = random_source(random_state)
    columns = {f"arrays[{place}]": array for place, array in enumerate(arrays)}
    # scikit-learn's check of lengths ignores None.
    for name, array in columns.items():
        if array is None:
            raise TypeError(f"{name} must have one row per document; got None. Leave it out.")
    check_consistent_length(*arrays)
    sources = (qid, *map(ids_in_index, arrays))
    ids = next((found for found in sources if found is not None), None)
    grouping = group_by_query(
        count_rows(arrays[0]), "query_train_test_split", qid=ids, rows_of="the arrays", **columns
    )
    sides = _draw_sides(grouping, test_size, train_size, 0.25, random)
    train, test = (np.flatnonzero(side[grouping.codes]) for side in sides)
    return [take_rows(array, rows) for array in arrays for rows in (train, test)]


def _draw_sides(
    grouping: Grouping, test_size: Any, train_size: Any, default: float, random: Any
) -> tuple[Mask, Mask]:
    n_queries = len(grouping.ids)
    if test_size is None and train_size is None:
        test_size = default
    n_test = _number(test_size, n_queries, math.ceil)
    n_train = _number(train_size, n_queries, math.floor)
    if n_test is None:
        n_test = n_queries - n_train
    if n_train is None:
        n_train = n_queries - n_test
    if n_train < 1 or n_test < 1 or n_train + n_test > n_queries:
        raise ValueError(
            "test_size and train_size must leave at least one query on each side and add up to at most all queries; "
            f"got test_size={test_size} and train_size={train_size}, or {n_test} and {n_train} of {n_queries} queries."
        )
    # In an order of the ids, so that the order of the rows does not matter.
    drawn = random.permutation(canonical_order(grouping.ids))
    test = drawn[:n_test]
    train = drawn[n_test : n_test + n_train]
    return mask_at(train, n_queries), mask_at(test, n_queries)


def _number(size: Any, n_queries: int, rounded: Any) -> Any:
    if size is None or isinstance(size, numbers.Integral):
        return size
    # In float64, 0.28 * 25 is more than 7; that must not add or drop a query.
    return rounded(round(size * n_queries, 9))


def _check_sizes(test_size: Any, train_size: Any) -> None:
    shares = 0.0
    for name, size in (("test_size", test_size), ("train_size", train_size)):
        if isinstance(size, numbers.Integral):
            check_int(size, name, 1)
        elif size is not None:
            shares += round(check_number(size, name, "(0, 1)", other="an int >= 1 (queries)"), 9)
    if shares > 1:
        raise ValueError(
            f"test_size and train_size must add up to at most 1; got {test_size} and {train_size}."
        )

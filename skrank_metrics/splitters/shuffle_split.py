"""Random splits of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit
from sklearn.utils import check_consistent_length

from skrank_metrics._input.arrays import Mask, count_rows, take_rows
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.parameters import check_int, check_seed
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
        Sizes of the parts, as in scikit-learn's ShuffleSplit: a float in (0, 1) is a share of all queries, rounded up
        for testing and down for training; an int is a number of queries. None means what the other leaves, and a test
        part of 0.1 if both are None.
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
        check_seed(random_state)
        self.n_splits: int = int(n_splits)
        self.test_size: float | None = test_size
        self.train_size: float | None = train_size
        self.random_state: Seed = random_state

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        return _draw_sides(
            grouping, self.n_splits, self.test_size, self.train_size, self.random_state
        )


def query_train_test_split(
    *arrays: Any,
    qid: Ids | None = None,
    groups: Ids | None = None,
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
    groups : array-like of shape (n_documents,), default=None
        Units to keep together, such as the users of the queries.
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
    columns = {f"arrays[{place}]": array for place, array in enumerate(arrays)}
    # scikit-learn's check of lengths ignores None.
    for name, array in columns.items():
        if array is None:
            raise TypeError(f"{name} must have one row per document; got None. Leave it out.")
    check_consistent_length(*arrays)
    sources = (qid, *map(ids_in_index, arrays))
    ids = next((found for found in sources if found is not None), None)
    grouping = group_by_query(
        count_rows(arrays[0]),
        "query_train_test_split",
        qid=ids,
        groups=groups,
        unit=True,
        rows_of="the arrays",
        **columns,
    )
    if test_size is None and train_size is None:
        test_size = 0.25
    (sides,) = _draw_sides(grouping, 1, test_size, train_size, random_state)
    train, test = (np.flatnonzero(side[grouping.codes]) for side in sides)
    return [take_rows(array, rows) for array in arrays for rows in (train, test)]


def _draw_sides(
    grouping: Grouping, n_splits: int, test_size: Any, train_size: Any, random_state: Any
) -> Iterator[tuple[Mask, Mask]]:
    # In an order of the ids, so that the order of the rows does not matter.
    order = canonical_order(grouping.ids)
    random = random_source(random_state)
    if isinstance(random, np.random.Generator):
        # scikit-learn takes no other.
        random = np.random.RandomState(random.bit_generator)
    draws = ShuffleSplit(n_splits, test_size=test_size, train_size=train_size, random_state=random)
    for train, test in draws.split(order):
        yield mask_at(order[train], len(order)), mask_at(order[test], len(order))

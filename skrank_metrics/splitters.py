"""Cross-validation that keeps the documents of a query together."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length, check_random_state

from skrank_metrics._ids import Grouping, check_aligned, check_ids, group_rows, missing_ids_message, resolve_ids
from skrank_metrics._validation import IntArray

__all__ = ["QueryKFold"]

# Queries are dealt out from the longest to the shortest in steps of this factor. Inside a step lengths still differ,
# which is what evens the folds out, and the order is free to be drawn at random.
STEP_RATIO = 1.25
# Where folds are drawn at random, the queries of so many turns may change places whatever their lengths.
SHUFFLED_TURNS = 4


class QueryKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds of whole queries, balanced in documents as well as in queries.

    The numbers of queries of the folds differ by one at most, and those of documents by little: queries are dealt out
    from the longest to the shortest, one to each fold in turn, the longest of a turn to the fold with the fewest
    documents. Which fold a query is in depends on the ids and lengths of the queries, not on the order of rows.

    The query ids are found in ``groups`` (the unit to keep together, where that is not the query) or ``qid``, both of
    which are requested where metadata routing is enabled, or else in the index level "qid" of ``y``, see with_qid.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to draw the folds at random, from those balanced like this.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw. Only with shuffle=True.

    Raises
    ------
    TypeError
        Where an argument is of the wrong type or, in ``split``, the query ids are missing.
    ValueError
        Where n_splits is below 2 or, in ``split``, above the number of queries.

    Examples
    --------
    Query "a" has three documents, "b" two and "c" one:

    >>> from skrank_metrics import QueryKFold
    >>> for train, test in QueryKFold(2).split([[0]] * 6, groups=["a", "b", "a", "c", "b", "a"]):
    ...     print(train, test)
    [1 3 4] [0 2 5]
    [0 2 5] [1 3 4]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        if isinstance(n_splits, bool) or not isinstance(n_splits, numbers.Integral):
            raise TypeError(f"n_splits must be an int >= 2; got {n_splits!r} ({type(n_splits).__name__}).")
        if n_splits < 2:
            raise ValueError(f"n_splits must be an int >= 2; got {n_splits}.")
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle must be True or False; got {shuffle!r}.")
        if random_state is not None and not shuffle:
            raise ValueError(
                f"random_state must be None where shuffle=False, as nothing is drawn; got {random_state}. "
                "Set shuffle=True or leave it out."
            )
        self.n_splits: int = int(n_splits)
        self.shuffle: bool = shuffle
        self.random_state: Any = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Give the number of folds.

        Parameters
        ----------
        X, y, groups, qid : object, default=None
            Not used; here for the conventions of scikit-learn.

        Returns
        -------
        n_splits : int
            Number of folds.
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None, qid: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate the rows of the training and the test part of each fold.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Only its length is used.
        y : array-like of shape (n_documents,), default=None
            May carry the query ids in an index level named "qid".
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
            Where there are fewer queries than folds, or lengths differ.
        """
        grouping = _query_grouping(X, y, groups, qid)
        if len(grouping.ids) < self.n_splits:
            raise ValueError(
                f"n_splits must be at most the number of queries; got n_splits={self.n_splits} and "
                f"{len(grouping.ids)} queries."
            )
        fold_of_row = self._folds(grouping)[grouping.codes]
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)

    def _folds(self, grouping: Grouping) -> IntArray:
        """Fold of each query."""
        order, sizes = _canonical_order(grouping.ids), grouping.sizes
        random = check_random_state(self.random_state)
        if self.shuffle:
            order = random.permutation(order)
        steps = np.floor(np.log(sizes[order]) / np.log(STEP_RATIO))
        order = order[np.argsort(-steps, kind="stable")]
        if self.shuffle:  # where lengths are all different, too
            windows = np.arange(len(order)) // (SHUFFLED_TURNS * self.n_splits)
            order = order[np.lexsort((random.random_sample(len(order)), windows))]
        folds, documents = np.empty(len(order), dtype=np.intp), np.zeros(self.n_splits, dtype=np.intp)
        for first in range(0, len(order), self.n_splits):
            turn = order[first : first + self.n_splits]
            turn = turn[np.argsort(-sizes[turn], kind="stable")]
            lightest = np.argsort(documents, kind="stable")[: len(turn)]
            folds[turn] = lightest
            documents[lightest] += sizes[turn]
        return folds


def _query_grouping(X: Any, y: Any, groups: Any, qid: Any) -> Grouping:
    ids, name = resolve_ids(y, groups=groups, qid=qid)
    if ids is None:
        raise TypeError(missing_ids_message("A query-aware split").replace("qid=<", "groups=<", 1))
    check_consistent_length(X, y)
    check_aligned(X=X, y=y, **{name: ids})
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    return group_rows(check_ids(ids, n_rows, name, "X"))


def _canonical_order(ids: NDArray[Any]) -> IntArray:
    try:
        return np.argsort(ids, kind="stable")
    except TypeError:  # ids of several types have no order of their own
        return np.array(sorted(range(len(ids)), key=lambda i: (type(ids[i]).__name__, repr(ids[i]))))

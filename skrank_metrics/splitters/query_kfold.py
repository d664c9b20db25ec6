"""Cross-validation that keeps the documents of a query together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_random_state

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_choice, check_int, check_label_column
from skrank_metrics._input.grouping import Grouping
from skrank_metrics.splitters._base import QuerySplitter, canonical_order

STRATIFY = (None, "relevance", "size", "both")


class QueryKFold(QuerySplitter):
    """K folds of whole queries, balanced in documents as well as in queries.

    The numbers of queries of the folds differ by one at most, and those of documents by little: queries are dealt out
    from the longest to the shortest, one to each fold in turn, the longest of a turn to the fold with the fewest
    documents. Which fold a query is in depends on the ids, lengths and, where asked for, labels of the queries, not on
    the order of rows.

    The query ids are found in ``groups`` (the unit to keep together, where that is not the query) or ``qid``, both of
    which are requested where metadata routing is enabled, or else in the index level "qid" of ``y``, see with_qid.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    stratify : {None, "relevance", "size", "both"}, default=None
        What else to balance. "relevance": the share of relevant rows, those with a label above 0, and the number of
        queries without any, which differs by one at most; needs ``y``. "size": the distribution of lengths; of
        the queries of any length or longer, no fold has more than one more than another, or a few with shuffle=True.
        "both" balances all of these, lengths separately for queries with relevant documents and without.
    shuffle : bool, default=False
        Whether to draw the folds at random, from those balanced like this.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw. Only with shuffle=True.

    Raises
    ------
    TypeError
        Where an argument is of the wrong type or, in ``split``, the query ids or the labels to stratify by are missing.
    ValueError
        Where n_splits is below 2, an argument is none of those allowed or, in ``split``, there are fewer queries than
        folds, or a query of ``qid`` is in two ``groups``.

    See Also
    --------
    audit_splits : What is in each fold, and whether queries leak.

    Examples
    --------
    Query "a" has three documents, "b" two and "c" one:

    >>> from skrank_metrics import QueryKFold
    >>> for train, test in QueryKFold(2).split([[0]] * 6, groups=["a", "b", "a", "c", "b", "a"]):
    ...     print(train, test)
    [1 3 4] [0 2 5]
    [0 2 5] [1 3 4]

    Of four queries of one document, the first two have a relevant one; each fold gets one of these:

    >>> for train, test in QueryKFold(2, stratify="relevance").split([[0]] * 4, [1, 1, 0, 0], qid=["a", "b", "c", "d"]):
    ...     print(train, test)
    [1 3] [0 2]
    [0 2] [1 3]
    """

    def __init__(
        self, n_splits: int = 5, *, stratify: str | None = None, shuffle: bool = False, random_state: Any = None
    ) -> None:
        check_int(n_splits, "n_splits", 2)
        check_choice(stratify, "stratify", STRATIFY)
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle must be True or False; got {shuffle!r}.")
        if random_state is not None and not shuffle:
            raise ValueError(
                f"random_state must be None where shuffle=False, as nothing is drawn; got {random_state}. "
                "Set shuffle=True or leave it out."
            )
        self.n_splits: int = int(n_splits)
        self.stratify: str | None = stratify
        self.shuffle: bool = shuffle
        self.random_state: Any = random_state

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        random = check_random_state(self.random_state) if self.shuffle else None
        folds = _fold_of_query(grouping, y, self.n_splits, self.stratify, random)
        for fold in range(self.n_splits):
            yield folds != fold, folds == fold


class RepeatedQueryKFold(QuerySplitter):
    """QueryKFold with shuffle=True, several times over, each time with other folds.

    The query ids are found as in QueryKFold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of times that folds are drawn, at least 1.
    stratify : {None, "relevance", "size", "both"}, default=None
        What to balance besides queries and documents, as in QueryKFold.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Raises
    ------
    TypeError
        As QueryKFold does.
    ValueError
        As QueryKFold does, and where n_repeats is below 1.

    Examples
    --------
    Twice two folds; over each two, every one of the six rows is tested on once:

    >>> import numpy as np
    >>> from skrank_metrics import RepeatedQueryKFold
    >>> splits = RepeatedQueryKFold(2, n_repeats=2, random_state=0).split([[0]] * 6, qid=[1, 1, 2, 3, 4, 4])
    >>> np.bincount(np.concatenate([test for train, test in splits]))
    array([2, 2, 2, 2, 2, 2])
    """

    def __init__(
        self, n_splits: int = 5, *, n_repeats: int = 10, stratify: str | None = None, random_state: Any = None
    ) -> None:
        check_int(n_splits, "n_splits", 2)
        check_int(n_repeats, "n_repeats", 1)
        check_choice(stratify, "stratify", STRATIFY)
        self.n_splits: int = int(n_splits)
        self.n_repeats: int = int(n_repeats)
        self.stratify: str | None = stratify
        self.random_state: Any = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Give the number of splits, over all repeats.

        Parameters
        ----------
        X, y, groups, qid : object, default=None
            Not used; here for the conventions of scikit-learn.

        Returns
        -------
        n_splits : int
            Number of folds times number of repeats.
        """
        return self.n_splits * self.n_repeats

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        random = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            folds = _fold_of_query(grouping, y, self.n_splits, self.stratify, random)
            for fold in range(self.n_splits):
                yield folds != fold, folds == fold


def _fold_of_query(grouping: Grouping, y: Any, n_folds: int, stratify: str | None, random: Any) -> IntArray:
    n_queries, sizes = len(grouping.ids), grouping.sizes
    if n_queries < n_folds:
        raise ValueError(
            f"n_splits must be at most the number of queries; got n_splits={n_folds} and {n_queries} queries. "
            "Lower n_splits or bring more queries."
        )
    amounts = [sizes.astype(float)]
    strata = np.zeros(n_queries, dtype=np.intp)
    if stratify in ("relevance", "both"):
        relevant = _relevant_documents(grouping, y)
        amounts.append(relevant)
        strata = (relevant == 0).astype(np.intp)
    by_size = stratify in ("size", "both")
    order = dealing_order(grouping.ids, sizes, strata, by_size=by_size, n_folds=n_folds, random=random)
    return deal(order, np.column_stack(amounts), n_folds)


def _relevant_documents(grouping: Grouping, y: Any) -> FloatArray:
    """Number of relevant documents of each query."""
    if y is None:
        raise TypeError(
            "y must hold the relevance labels where folds are stratified by relevance; got None. "
            'Pass y, or set stratify=None or "size".'
        )
    labels = check_label_column(y)
    return np.bincount(grouping.codes[labels > 0], minlength=len(grouping.ids)).astype(np.float64)


# Queries are dealt out from the longest to the shortest in steps of this factor. Inside a step lengths still differ,
# which is what evens the folds out, and the order is free to be drawn at random.
STEP_RATIO = 1.25
# Where folds are drawn at random, the queries of so many turns may change places whatever their lengths.
SHUFFLED_TURNS = 4
# An assignment looks at every pair of a query and a fold; with more folds than this, amounts are added up instead.
MOST_FOLDS_TO_ASSIGN = 256


def dealing_order(
    ids: NDArray[Any], sizes: IntArray, strata: IntArray, *, by_size: bool, n_folds: int, random: Any
) -> IntArray:
    """Queries in the order in which they are dealt out: by stratum, the longest of each first.

    ``by_size`` sorts by length and not by steps of length. With ``random``, places are drawn inside these limits and
    then among the queries of a few turns; without it the ids decide, so that rows may be in any order.
    """
    order = canonical_order(ids)
    if random is not None:
        order = random.permutation(order)
    lengths = sizes[order] if by_size else np.floor(np.log(sizes[order]) / np.log(STEP_RATIO))
    order = order[np.lexsort((-lengths, strata[order]))]
    if random is not None:  # where lengths are all different, too
        windows = np.arange(len(order)) // (SHUFFLED_TURNS * n_folds)
        order = order[np.lexsort((random.random_sample(len(order)), strata[order], windows))]
    return order


def deal(order: IntArray, amounts: FloatArray, n_folds: int) -> IntArray:
    """Fold of each query, for queries dealt out in ``order``, so that every column of ``amounts`` is even over folds.

    In each turn every fold gets one query, in the way that leaves the least sum of squares of what the folds hold:
    a linear assignment, and for one amount simply the most to the fold that has the least.
    """
    # One amount stays in whole numbers, so that folds that hold the same are seen to.
    scaled = amounts / amounts.sum(axis=0).clip(min=1) if amounts.shape[1] > 1 else amounts
    if n_folds > MOST_FOLDS_TO_ASSIGN:
        scaled = scaled.sum(axis=1, keepdims=True)
    assign = _assign_one_amount if scaled.shape[1] == 1 else _assign
    folds, loads = np.empty(len(order), dtype=np.intp), np.zeros((n_folds, scaled.shape[1]))
    for first in range(0, len(order), n_folds):
        turn = order[first : first + n_folds]
        places, chosen = assign(scaled[turn], loads)
        turn = turn[places]
        folds[turn] = chosen
        loads[chosen] += scaled[turn]
    return folds


def _assign_one_amount(amounts: FloatArray, loads: FloatArray) -> tuple[IntArray, IntArray]:
    most = np.argsort(-amounts[:, 0], kind="stable")
    return most, np.argsort(loads[:, 0], kind="stable")[: len(most)]


def _assign(amounts: FloatArray, loads: FloatArray) -> tuple[IntArray, IntArray]:
    # Of the sum of squares of load + amount only the mixed term depends on who gets what.
    places, chosen = linear_sum_assignment(amounts @ loads.T)
    return places, chosen

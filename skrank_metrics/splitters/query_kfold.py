"""K folds of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_label_column
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.parameters import check_bool, check_choice, check_int, check_seed
from skrank_metrics._input.types import Seed
from skrank_metrics.splitters._base import (
    QuerySplitter,
    canonical_order,
    count_by_query,
    random_source,
)

# Queries are dealt from the longest to the shortest in steps of this factor. Within a step, lengths still differ, which
# helps to even out the folds, and the order can be drawn at random.
STEP_RATIO = 1.25
# If folds are drawn at random, the queries of this many turns are shuffled regardless of their lengths.
SHUFFLED_TURNS = 4


Stratify: TypeAlias = Literal["relevance", "size", "both"] | None


class QueryKFold(QuerySplitter):
    """K folds of whole queries, balanced in queries and in documents.

    Folds differ by at most one query, and by few documents. The order of the rows does not matter.

    The query ids are taken from ``groups`` (the unit to keep together, if that is not the query), ``qid``, or the index
    level "qid" of ``y`` (see with_qid). If metadata routing is enabled, the splitter requests ``groups`` and ``qid``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    stratify : {None, "relevance", "size", "both"}, default=None
        What else to balance. "relevance" balances the share of relevant rows (label above 0) and the number of queries
        without any, which differs by at most one; it needs ``y``. "size" balances the distribution of lengths, "both"
        all of these.
    shuffle : bool, default=False
        Whether to draw the folds at random, balanced in the same way.
    random_state : int, RandomState or Generator instance or None, default=None
        Controls the random folds. Only with shuffle=True.

    Examples
    --------
    Query "a" has three documents, "b" two and "c" one:

    >>> from skrank_metrics import QueryKFold
    >>> for train, test in QueryKFold(2).split([[0]] * 6, groups=["a", "b", "a", "c", "b", "a"]):
    ...     print(train, test)
    [1 3 4] [0 2 5]
    [0 2 5] [1 3 4]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        stratify: Stratify = None,
        shuffle: bool = False,
        random_state: Seed = None,
    ) -> None:
        check_int(n_splits, "n_splits", 2)
        check_choice(stratify, "stratify", (None, "relevance", "size", "both"))
        shuffle = check_bool(shuffle, "shuffle")
        check_seed(random_state)
        if random_state is not None and not shuffle:
            raise ValueError(
                f"random_state must be None if shuffle=False, since it would have no effect; got {random_state}. "
                "Set shuffle=True or leave out random_state."
            )
        self.n_splits: int = int(n_splits)
        self.stratify: Stratify = stratify
        self.shuffle: bool = shuffle
        self.random_state: Seed = random_state

    def _sides(self, grouping: Grouping, y: Any) -> Iterator[tuple[Mask, Mask]]:
        random = random_source(self.random_state) if self.shuffle else None
        n_queries = len(grouping.ids)
        # A fold without queries could not be scored.
        if n_queries < self.n_splits:
            raise ValueError(
                f"n_splits must be at most the number of queries; got n_splits={self.n_splits} and "
                f"{n_queries} queries."
            )
        # What folds should hold equal shares of, one column each.
        amounts = [grouping.sizes]
        strata = np.zeros(n_queries, dtype=np.intp)
        if self.stratify in ("relevance", "both"):
            is_relevant = check_label_column(y) > 0
            relevant = count_by_query(grouping, is_relevant)
            amounts.append(relevant)
            strata = (relevant == 0).astype(np.intp)
        balanced = np.column_stack(amounts).astype(float)
        if len(amounts) > 1:
            balanced /= balanced.sum(axis=0).clip(min=1)
            # More than what the shares of a turn can add up to: queries without a relevant row come first.
            balanced = np.column_stack((balanced, 2.0 * strata))
        for _ in range(self.n_repeats):
            order = self._order(grouping, strata, random)
            folds = deal(order, balanced, self.n_splits)
            for fold in range(self.n_splits):
                yield folds != fold, folds == fold

    def _order(self, grouping: Grouping, strata: IntArray, random: Any) -> IntArray:
        """Queries in the order in which they are dealt: by stratum, the longest first, then at random or by id."""
        order = canonical_order(grouping.ids)
        if random is not None:
            order = random.permutation(order)
        lengths = grouping.sizes[order]
        if self.stratify not in ("size", "both"):
            lengths = np.floor(np.log(lengths) / np.log(STEP_RATIO))
        order = order[np.lexsort((-lengths, strata[order]))]
        if random is None:
            return order
        # If all lengths differ, only one order is possible so far.
        windows = np.arange(len(order)) // (SHUFFLED_TURNS * self.n_splits)
        draws = random.random(len(order))
        return order[np.lexsort((draws, strata[order], windows))]


class RepeatedQueryKFold(QueryKFold):
    """QueryKFold with shuffle=True, repeated with different folds.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of times to draw the folds, at least 1.
    stratify, random_state : object, default=None
        As in QueryKFold.

    Examples
    --------
    >>> from skrank_metrics import RepeatedQueryKFold
    >>> len(list(RepeatedQueryKFold(2, n_repeats=3).split([[0]] * 4, qid=[1, 1, 2, 3])))
    6
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_repeats: int = 10,
        stratify: Stratify = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(n_splits, stratify=stratify, shuffle=True, random_state=random_state)
        check_int(n_repeats, "n_repeats", 1)
        self.n_repeats: int = int(n_repeats)


def deal(order: IntArray, amounts: FloatArray, n_folds: int) -> IntArray:
    """Fold of each query, for queries dealt in ``order``, such that the folds are even in every column of ``amounts``.

    In each turn, every fold gets one query. The linear assignment minimizes the sum of squares of the amounts that the
    folds hold. For a single amount, this deals the largest to the fold that holds the least.
    """
    is_single = amounts.shape[1] == 1
    folds = np.empty(len(order), dtype=np.intp)
    loads = np.zeros((n_folds, amounts.shape[1]))
    for first in range(0, len(order), n_folds):
        turn = order[first : first + n_folds]
        if is_single:
            turn = turn[np.argsort(-amounts[turn, 0], kind="stable")]
            chosen = np.argsort(loads[:, 0], kind="stable")[: len(turn)]
        else:
            # In the sum of squares of load + amount, only the cross term depends on the assignment.
            places, chosen = linear_sum_assignment(amounts[turn] @ loads.T)
            turn = turn[places]
        folds[turn] = chosen
        loads[chosen] += amounts[turn]
    return folds

"""Which fold each query goes to: queries are dealt out like cards, one to each fold a turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skrank_metrics._validation import FloatArray, IntArray

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


def canonical_order(ids: NDArray[Any]) -> IntArray:
    """Queries in an order that depends on their ids alone."""
    try:
        return np.argsort(ids, kind="stable")
    except TypeError:  # ids of several types have no order of their own
        return np.array(sorted(range(len(ids)), key=lambda i: (type(ids[i]).__name__, repr(ids[i]))))

"""Folds by a stable hash of the query id, the same in every process and on every engine."""

from __future__ import annotations

import numpy as np

from skrank_metrics._input.arrays import IntArray, count_rows
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics._input.parameters import check_int
from skrank_metrics._input.query_ids import group_ids
from skrank_metrics._input.types import Ids


def query_fold(qid: Ids, n_folds: int, seed: int = 0) -> IntArray:
    """Assign each document to a fold by a hash of its query id.

    Parts of the data on different machines are split alike. In return, fold sizes are random; QueryKFold balances them.

    Parameters
    ----------
    qid : array-like of shape (n_documents,)
        Query id of each document: integers, strings, dates, or tuples of these.
    n_folds : int
        Number of folds, at least 2.
    seed : int, default=0
        Seed of the hash, at least 0.

    Returns
    -------
    folds : ndarray of int of shape (n_documents,)
        Fold of each document, from 0 to n_folds - 1.

    Raises
    ------
    TypeError, ValueError
        If ids are missing, or an argument has the wrong type or is out of range.

    Examples
    --------
    The type of the ids does not matter:

    >>> from skrank_metrics.splitters import query_fold
    >>> query_fold([7, 7, 8, 9, 10], 3), query_fold([7.0, 8.0], 3)
    (array([2, 2, 2, 2, 0]), array([2, 2]))
    """
    check_int(n_folds, "n_folds", 2)
    check_int(seed, "seed", 0)
    if max(n_folds, seed) >= 2**32:
        raise ValueError(f"n_folds and seed must be below 2**32; got {n_folds} and {seed}.")
    n_rows = count_rows(qid) if np.iterable(qid) else 0
    queries = group_ids(qid, n_rows)
    hashes = hash_ids(queries.ids) ^ hash_ids(np.array([seed]))
    # Hash once more, so that the folds of two seeds are independent.
    mixed = hash_ids(hashes)
    # The upper half of the bits is a fraction of 2**32, whose product with n_folds fits into 64 bits.
    half = np.uint64(32)
    folds = (mixed >> half) * np.uint64(n_folds) >> half
    return folds.astype(np.intp)[queries.codes]

"""Query ids in the index of labels, and from group sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._input.arrays import IntArray, to_array, to_float64
from skrank_metrics._input.query_ids import (
    carried,
    check_columns,
    query_ids,
    row_labels,
)


def with_qid(
    y: Any, qid: Any, *, retrieved: Any = None, judged: Any = None, sample_weight: Any = None
) -> Any:
    """Put query ids into the index of labels, which carries them through scikit-learn.

    scikit-learn slices ``y`` in every fold and keeps its index, so that no metadata routing is needed. An index that
    ``y`` had stays as a further level, to compare rows with those of ``X``.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        Relevance labels.
    qid : array-like of shape (n_documents,)
        Query id of each document. pandas categories stay categories, which makes folds faster than strings.
    retrieved, judged, sample_weight : array-like of shape (n_documents,), default=None
        Masks, and weights of the queries in means, not in fits, as in the metric functions: further index levels.

    Returns
    -------
    pandas.Series of shape (n_documents,)
        The labels, with the ids in an index level named "qid".

    Raises
    ------
    ImportError, TypeError, ValueError
        Without pandas; if lengths or indexes differ, something is invalid, or ``y`` already carries others.

    Examples
    --------
    >>> from skrank_metrics import with_qid
    >>> y = with_qid([1, 0, 2], ["a", "a", "b"])
    >>> list(y.index.get_level_values("qid"))
    ['a', 'a', 'b']
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "with_qid needs pandas. Without it, enable metadata routing and pass groups=qid."
        ) from None
    if qid is None:
        raise TypeError("qid must hold one query id per document; got None.")
    labels = to_array(y, "y")
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D, one label per document; got shape {labels.shape}.")
    columns = carried(y, retrieved=retrieved, judged=judged, sample_weight=sample_weight)
    queries = query_ids(len(labels), "with_qid", y=y, qid=qid, **columns)
    categories = isinstance(
        getattr(qid, "dtype", None), pd.CategoricalDtype
    )  # their codes are reused in each fold
    index = pd.Index(qid if categories else queries.spread(queries.ids), name="qid")
    kept = row_labels(y)
    others = [] if kept is None else [kept.get_level_values(level) for level in range(kept.nlevels)]
    levels = [
        pd.Index(column, name=name) for name, column in check_columns(columns, queries).items()
    ]
    if levels or others:
        index = pd.MultiIndex.from_arrays([index, *levels, *others])
    return pd.Series(labels, index=index, name=getattr(y, "name", None))


def qid_from_sizes(sizes: Any) -> IntArray:
    """Make query ids from the group sizes that boosters use.

    Parameters
    ----------
    sizes : array-like of int of shape (n_queries,)
        Number of documents of each query, in the order of the rows, as in ``group=`` of LightGBM.

    Returns
    -------
    qid : ndarray of int of shape (n_documents,)
        Query id of each document, from 0. Add ``len(train_sizes)`` to those of a test set, so that no ids are shared.

    Raises
    ------
    TypeError, ValueError
        If sizes are not 1-D, empty, or not whole numbers >= 0.

    Examples
    --------
    >>> from skrank_metrics import qid_from_sizes
    >>> qid_from_sizes([2, 3])
    array([0, 0, 1, 1, 1])
    """
    counts = to_float64(sizes, "sizes")
    if (
        counts.ndim != 1
        or not ((counts >= 0) & (counts < np.inf) & (counts == np.floor(counts))).all()
    ):
        raise ValueError(
            f"sizes must be 1-D and hold whole numbers >= 0, one per query; got {sizes!r}."
        )
    return np.repeat(np.arange(len(counts)), counts.astype(np.intp))

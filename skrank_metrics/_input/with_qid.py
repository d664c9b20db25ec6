"""Query ids in the index of labels, and from group sizes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrank_metrics._input.arrays import (
    IntArray,
    check_times,
    refuse_name,
    refuse_rounded,
    to_array,
    to_float64,
)
from skrank_metrics._input.columns import check_document_column, document_columns
from skrank_metrics._input.query_ids import (
    OF_DOCUMENTS,
    TIME,
    carried,
    carried_documents,
    check_columns,
    counts_rows,
    group_by_query,
    named_columns,
    row_labels,
    to_id_array,
)
from skrank_metrics._input.types import Columns, Ids, Numbers


def with_qid(
    y: ArrayLike,
    qid: Ids,
    *,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    documents: Columns | None = None,
    time: Ids | None = None,
) -> Any:
    """Put query ids into the index of labels, which carries them through scikit-learn.

    What else belongs to the rows can go with them: masks, weights, and columns for custom metrics. scikit-learn slices
    ``y`` in every fold and keeps its index, so that no metadata routing is needed. An index that ``y`` had stays as a
    further level, to compare rows with those of ``X``.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        Relevance labels.
    qid : array-like of shape (n_documents,)
        Query id of each document. pandas categories stay categories, which makes folds faster than strings.
    retrieved, judged, sample_weight : array-like of shape (n_documents,), default=None
        Masks, and weights of the queries in means, not in fits, as in the metric functions: further index levels.
    documents : dict of arrays of shape (n_documents,), or frame with one row per document, default=None
        Columns for custom metrics, such as prices, see make_metric: index levels such as "documents.price". Entries
        must be hashable.
    time : array-like of shape (n_documents,), default=None
        Dates or numbers, for QueryTimeSeriesSplit inside a search: the index level "qid.time".

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

    A metric of labels and prices finds the prices wherever labels go:

    >>> from skrank_metrics import make_metric, make_ranking_scorer
    >>> def revenue(labels, price, k=None):
    ...     return float((labels * price)[:k].sum())

    >>> metric = make_metric(revenue, documents=["price"], undefined="no document")
    >>> y = with_qid([1, 0, 1], ["a", "a", "b"], documents={"price": [5.0, 9.0, 2.0]})
    >>> metric(y, [2.0, 1.0, 0.0], k=1)
    3.5
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "with_qid needs pandas: pip install 'skrank-metrics[pandas]'. Without it, call "
            "sklearn.set_config(enable_metadata_routing=True), and pass groups=qid instead."
        ) from None
    labels = _labels(y, qid)
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D, one label per document; got shape {labels.shape}.")
    columns = carried(y, retrieved=retrieved, judged=judged, sample_weight=sample_weight)
    further = carried_documents(y, document_columns(documents))
    times = carried(y, **{TIME: time})[TIME]
    aligned = named_columns(**columns, documents=further, time=times)
    queries = group_by_query(len(labels), "with_qid", y=y, qid=qid, **aligned)
    _warn_if_swapped(labels, queries.ids)
    # The codes of categories are reused in each fold.
    if isinstance(getattr(qid, "dtype", None), pd.CategoricalDtype):
        ids = pd.Index(qid, name="qid")
    else:
        # pandas converts ids one by one, so each only once.
        ids = pd.Index(queries.ids, name="qid").take(queries.codes)
    levels = [ids]
    for name, column in check_columns(columns, queries).items():
        levels.append(pd.Index(column, name=name))
    if times is not None:
        levels.append(pd.Index(check_times(times, len(labels)), name=TIME))
    for name, column in further.items():
        levels.append(_level_of_documents(name, column, labels.shape))
    kept = row_labels(y)
    if kept is not None:
        levels.extend(kept.get_level_values(level) for level in range(kept.nlevels))
    index = levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels)
    return pd.Series(labels, index=index, name=getattr(y, "name", None))


def _labels(y: Any, qid: Any) -> NDArray[Any]:
    """Labels as an array; refuse ids that are none, the name of a column, or numbers beside labels that are text."""
    if qid is None:
        raise TypeError("qid must hold one query id per document; got None.")
    refuse_name(qid, "qid")
    labels = to_array(y, "y")
    if labels.dtype.kind == "O":
        # Numbers in an array of objects are numbers.
        numbers = np.array(labels.tolist())
        refuse_rounded(labels.tolist(), numbers, "y")
        labels = numbers if numbers.dtype.kind in "biuf" else labels
    is_text = labels.size > 0 and isinstance(labels.item(0), str | bytes)
    if is_text and to_id_array(qid, "qid").dtype.kind in "biuf":
        raise TypeError(
            "y must hold relevance labels, which are numbers, and qid the query ids; got text and numbers. Call "
            "with_qid(y, qid), the labels first."
        )
    return labels


# More grades than this are rare.
_MOST_GRADES = 10


def _warn_if_swapped(labels: NDArray[Any], ids: NDArray[Any]) -> None:
    """Warn if ids are few small whole numbers, and labels many different ones."""
    if labels.dtype.kind not in "iu" or ids.dtype.kind not in "iuf":
        return
    if ids.min() < 0 or ids.max() > _MOST_GRADES:
        return
    n_labels = len(np.unique(labels))
    if n_labels > 4 * (_MOST_GRADES + 1):
        warnings.warn(
            f"qid has only {len(ids)} different values, as grades do, and y has {n_labels}, as query ids do. If they "
            "are swapped, call with_qid(y, qid), the labels first.",
            UserWarning,
            stacklevel=3,
        )


def _level_of_documents(name: str, column: Any, shape: tuple[int, ...]) -> Any:
    """A column of documents as a level of an index."""
    import pandas as pd

    values = check_document_column(column, name, shape)
    # pandas has no index of this type.
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    level = pd.Index(values, name=f"{OF_DOCUMENTS}{name}", tupleize_cols=False)
    try:
        level.is_unique  # noqa: B018  hashes the entries
    except TypeError:
        raise TypeError(
            f"documents[{name!r}] must hold hashable entries, as numbers, strings, tuples or frozensets; got "
            f"{type(values[0]).__name__}."
        ) from None
    return level


def qid_from_sizes(sizes: Numbers) -> IntArray:
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
        If sizes are not 1-D or not whole numbers >= 0, or have an index of ids, as counts of pandas have.

    Examples
    --------
    >>> from skrank_metrics import qid_from_sizes
    >>> qid_from_sizes([2, 3])
    array([0, 0, 1, 1, 1])
    """
    index: Any = getattr(sizes, "index", None)
    # Counts by pandas are in the order of the ids or of the sizes, not in that of the rows.
    if hasattr(index, "names") and (index.names != [None] or not counts_rows(index)):
        raise ValueError(
            "sizes has an index, as the counts of groupby and value_counts have. It holds query ids, which may be in "
            "another order than the rows. Pass these ids as qid, one per row; or sizes.to_numpy() if the order is "
            "that of the rows."
        )
    counts = to_float64(sizes, "sizes")
    if (
        counts.ndim != 1
        or not ((counts >= 0) & (counts < np.inf) & (counts == np.floor(counts))).all()
    ):
        raise ValueError(
            f"sizes must be 1-D and hold whole numbers >= 0, one per query; got {sizes!r}."
        )
    return np.repeat(np.arange(len(counts)), counts.astype(np.intp))

"""Labels that carry their query ids through scikit-learn."""

from __future__ import annotations

from typing import Any

from skrank_metrics._input.arrays import to_array
from skrank_metrics._input.query_ids import check_aligned, check_ids


def with_qid(y: Any, qid: Any) -> Any:
    """Labels that carry their query ids through scikit-learn, in the index of a pandas Series.

    scikit-learn slices ``y`` in every fold and keeps its index, so that scorers, splitters and rankers of this
    package find the ids there without metadata routing. The ids take the place of the index that ``y`` had, so nothing
    can tell any more whether the rows of a DataFrame ``X`` are in the same order: sort or shuffle all rows before.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        Relevance labels.
    qid : array-like of shape (n_documents,)
        Query id of each document, in the row order of ``y``.

    Returns
    -------
    pandas.Series of shape (n_documents,)
        The labels, with the ids in an index level named "qid".

    Raises
    ------
    ImportError
        Where pandas is not installed.
    ValueError
        Where lengths differ, an id is missing, or ``y`` and ``qid`` are Series with their index in different orders.

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
            "with_qid needs pandas (pip install pandas). Without it, enable metadata routing and pass groups=qid."
        ) from None
    if qid is None:
        raise TypeError("qid must hold one query id a document; got None.")
    labels = to_array(y, "y")
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D, one label a document; got shape {labels.shape}.")
    ids = check_ids(qid, len(labels), "qid", "y")
    check_aligned(y=y, qid=qid)
    return pd.Series(labels, index=pd.Index(ids, name="qid"), name=getattr(y, "name", None))

"""Labels that carry their query ids through scikit-learn."""

from __future__ import annotations

from typing import Any

from skrank_metrics._input.arrays import to_array
from skrank_metrics._input.query_ids import check_ids, counts_rows, query_ids, row_labels


def with_qid(y: Any, qid: Any) -> Any:
    """Put query ids into the index of labels, which carries them through scikit-learn.

    scikit-learn slices ``y`` in every fold and keeps its index, where the scorers, splitters and rankers of this
    package find the ids without metadata routing. An index that ``y`` had is kept as a further level, by which the rows
    of a DataFrame ``X`` are checked; the default one, which counts 0 to n - 1, is dropped.

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
        If pandas is not installed.
    ValueError
        If lengths differ, an id is missing, ``y`` and ``qid`` are Series with different indexes, or ``y`` already
        carries other ids.

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
        raise TypeError("qid must hold one query id per document; got None.")
    labels = to_array(y, "y")
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D, one label per document; got shape {labels.shape}.")
    query_ids(len(labels), "with_qid", y=y, qid=qid)
    index, kept = pd.Index(check_ids(qid, len(labels), "qid", "y"), name="qid"), row_labels(y)
    if kept is not None and not counts_rows(kept):
        index = pd.MultiIndex.from_arrays([index, *(kept.get_level_values(level) for level in range(kept.nlevels))])
    return pd.Series(labels, index=index, name=getattr(y, "name", None))

"""Evaluation of Dask DataFrames, partition by partition."""

from __future__ import annotations

from typing import Any

from skrank_metrics.sources.partitions import Reports, evaluate_partition, reports_of_frame
from skrank_metrics.sources.tables import readable

FAN_IN = 16  # parts that a task merges


def evaluate(
    frame: Any,
    *,
    label: str,
    score: Any,
    qid: str,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    convention: str = "sklearn",
    ties: str | None = None,
    replace_undefined_by: float | None = None,
    sample_weight: str | None = None,
    retrieved: str | None = None,
    judged: str | None = None,
    by: str | None = None,
    shuffle: bool = True,
) -> Any:
    """Evaluate the rows of a Dask DataFrame on the workers that hold them.

    Rows are shuffled by query id, each partition is evaluated by the worker that has it, and only values per query are
    returned. They equal those of evaluate up to rounding in the last digits. Needs dask and pyarrow, and this package
    on all workers.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        One row per document. Only the columns named below are read and shuffled.
    label : str
        Column of relevance labels.
    score : str or list of str
        Column of scores, or several, one per model.
    qid : str
        Column of query ids.
    metrics : sequence of str, metric functions or bound metrics, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate.
    convention : str, default="sklearn"
        Library whose defaults apply, as in evaluate.
    ties : {"average", "best", "worst", "stable"}, default=None
        How documents with equal scores are ordered, as in evaluate. "stable", also if set by a convention, needs
        shuffle=False, since a shuffle loses the order of rows.
    replace_undefined_by : float, default=None
        Value of undefined queries, as in evaluate.
    sample_weight : str, default=None
        Column of weights, which must not vary within a query.
    retrieved : str, default=None
        Column that is False for documents that were judged but not ranked.
    judged : str, default=None
        Column that is False for documents that nobody judged.
    by : str, default=None
        Column of slices, which must not vary within a query.
    shuffle : bool, default=True
        Whether to shuffle the rows by query. Pass False if all rows of a query are already in one partition. This is
        checked: a query in two partitions is an error.

    Returns
    -------
    report : RankingReport, or dict of str to RankingReport
        The report, with queries in no particular order. If score is a list, one report per score column.

    Raises
    ------
    ImportError
        If dask.dataframe or pyarrow is not installed.
    TypeError
        If frame is not a Dask DataFrame, or a column has the wrong type.
    ValueError
        If a column is missing or holds nulls or invalid values, or a query is in two partitions.

    See Also
    --------
    skrank_metrics.spark.evaluate : Evaluate a Spark DataFrame.
    evaluate_batches : Evaluate files on one machine.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b", so MRR is (1 + 1/2) / 2:

    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> import skrank_metrics.dask
    >>> rows = pd.DataFrame({"q": ["a", "b", "a", "b"], "y": [1, 0, 0, 1], "s": [2.0, 2.0, 1.0, 1.0]})
    >>> frame = dd.from_pandas(rows, npartitions=2)
    >>> skrank_metrics.dask.evaluate(frame, label="y", score="s", qid="q", metrics="mrr").mean
    {'mrr': 0.75}
    """
    dask = _import_dask()
    options = {"convention": convention, "ties": ties, "replace_undefined_by": replace_undefined_by}
    others = {"sample_weight": sample_weight, "retrieved": retrieved, "judged": judged, "by": by}
    total = reports_of_frame(label, score, qid, metrics=metrics, options=options, others=others, shuffle=shuffle)
    if not isinstance(frame, dask.dataframe.DataFrame):
        raise TypeError(f"frame must be a Dask DataFrame; got {type(frame).__module__}.{type(frame).__name__}.")
    total.columns.check(_schema(frame._meta))
    rows = frame[total.columns.names]
    empty = dask.delayed(total)
    parts = [dask.delayed(_evaluate)(empty, part) for part in (rows.shuffle(on=qid) if shuffle else rows).to_delayed()]
    while len(parts) > 1:
        parts = [dask.delayed(_merge)(parts[first : first + FAN_IN]) for first in range(0, len(parts), FAN_IN)]
    return total.merge(dask.compute(*parts)[0]).results(score)


def _import_dask() -> Any:
    try:
        import dask.dataframe
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"dask.evaluate needs dask.dataframe: pip install 'skrank-metrics[dask]'. ({error})"
        ) from None
    return dask


def _schema(meta: Any) -> Any:
    import pyarrow as pa

    return pa.Schema.from_pandas(meta, preserve_index=False)


def _evaluate(empty: Reports, rows: Any) -> Reports:
    import pyarrow as pa

    with readable("a partition"):
        table = pa.Table.from_pandas(rows, preserve_index=False)
    return evaluate_partition(empty, table)


def _merge(parts: list[Reports]) -> Reports:
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total

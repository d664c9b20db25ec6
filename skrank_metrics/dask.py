"""Evaluation of Dask DataFrames, partition by partition."""

from __future__ import annotations

from copy import deepcopy
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
    condense: bool = False,
    documents: Any = None,
    by: str | None = None,
    groups: str | None = None,
    order: str = "shuffle",
) -> Any:
    """Evaluate the rows of a Dask DataFrame on the workers that hold them.

    Rows are shuffled by query id, each partition is evaluated by the process that has it, and only values per query are
    returned. They equal those of evaluate up to rounding in the last digits. Needs Dask and pyarrow, and this package
    on all workers.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        One row per document. Only the columns named below are read and shuffled.
    label, score, qid, metrics, convention : as in evaluate_batches
        Columns, metrics and their defaults.
    ties : {"average", "best", "worst", "stable"}, default=None
        How documents with equal scores are ordered, as in evaluate. "stable", also if set by a convention, needs
        order="check", since a shuffle loses the order of rows.
    replace_undefined_by, sample_weight, retrieved, judged, condense, documents, by, groups : as in evaluate_batches
        Value of undefined queries, and optional columns.
    order : {"shuffle", "check"}, default="shuffle"
        With "shuffle", rows are first shuffled by query id. Pass "check" if all rows of a query are already in one
        partition; a query in two partitions is an error.

    Returns
    -------
    report : RankingReport, or dict of str to RankingReport
        The report, with queries in no particular order. If score is a list, one report per score column.

    Raises
    ------
    ImportError
        If Dask or pyarrow is not installed.
    TypeError
        If frame is not a Dask DataFrame, or a column has the wrong type.
    ValueError
        If a column is missing or holds nulls or invalid values, or a query is in two partitions.

    See Also
    --------
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
    total = reports_of_frame(locals())
    dask = _import_dask()
    if not isinstance(frame, dask.dataframe.DataFrame):
        raise TypeError(f"frame must be a Dask DataFrame; got {type(frame).__module__}.{type(frame).__name__}.")
    total.columns.check(_schema_of(frame._meta), "the frame")
    rows = frame[total.columns.names]
    rows = rows.shuffle(on=qid) if order == "shuffle" else rows
    empty = dask.delayed(total)
    parts = [dask.delayed(_evaluate_pandas)(empty, part) for part in rows.to_delayed()]
    while len(parts) > 1:
        parts = [dask.delayed(_merge)(parts[first : first + FAN_IN]) for first in range(0, len(parts), FAN_IN)]
    return total.merge(dask.compute(*parts)[0]).results(score, "frame")


def _import_dask() -> Any:
    try:
        import dask.dataframe
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"dask.evaluate needs dask.dataframe: pip install 'skrank-metrics[dask]'. ({error})"
        ) from None
    return dask


def _schema_of(meta: Any) -> Any:
    import pyarrow as pa

    return pa.Schema.from_pandas(meta, preserve_index=False)


def _evaluate_pandas(empty: Reports, rows: Any) -> Reports:
    import pyarrow as pa

    with readable("a partition"):
        table = pa.Table.from_pandas(rows, preserve_index=False)
    return evaluate_partition(empty, table)


def _merge(parts: list[Reports]) -> Reports:
    total = deepcopy(parts[0])
    for part in parts[1:]:
        total.merge(part)
    return total

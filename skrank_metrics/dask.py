"""Evaluation of Dask DataFrames, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, overload

from skrank_metrics._input.types import Order
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.accumulator import TableEvaluation, check_frame
from skrank_metrics.sources.columns import TableColumns, TableOptions, check_column_names


@overload
def evaluate(
    frame: Any, *, label: str, score: str, qid: str, **options: Unpack[TableOptions]
) -> RankingReport: ...


@overload
def evaluate(
    frame: Any, *, label: str, score: list[str], qid: str, **options: Unpack[TableOptions]
) -> Comparison: ...


def evaluate(
    frame: Any,
    *,
    label: str,
    score: str | list[str],
    qid: str,
    metrics: Metrics = ("ndcg@10", "map", "mrr"),
    convention: ConventionName = "sklearn",
    sample_weight: str | None = None,
    retrieved: str | None = None,
    judged: str | None = None,
    condense: bool = False,
    documents: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    groups: str | None = None,
    order: Order = "shuffle",
) -> RankingReport | Comparison:
    """Evaluate the rows of a Dask DataFrame on the workers that hold them.

    Rows are shuffled by query id, each partition is evaluated by the process that has it, and only values per query are
    returned. They equal those of evaluate up to rounding in the last digits. Needs Dask and pyarrow, and this package
    on all workers.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        One row per document. Only the columns named below are read and shuffled.
    label, score, qid, metrics, convention : as in evaluate_batches
        ``ties="stable"``, also of a convention, needs ``order="check"``, since a shuffle loses the order of rows.
    sample_weight, retrieved, judged, condense, documents, by, groups : as in evaluate_batches
        Optional columns.
    order : {"shuffle", "check"}, default="shuffle"
        Pass "check" if all rows of a query are already in one partition; a query in two partitions is an error.

    Returns
    -------
    report : RankingReport, or Comparison of several score columns
        The report, with queries in no particular order. If score is a list, their Comparison.

    Raises
    ------
    ImportError
        If Dask or pyarrow is not installed.
    TypeError, ValueError
        As in evaluate_batches, and if a query is in two partitions.

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
    evaluation = TableEvaluation(
        bind_metrics(metrics, convention),
        condense,
        TableColumns(
            label, score, qid, sample_weight, retrieved, judged, documents, by=by, groups=groups
        ),
    )
    evaluation.check_shuffle(order)
    import dask.dataframe

    check_frame(frame, dask.dataframe.DataFrame, "Dask")
    check_column_names(evaluation.columns.by_argument, list(frame.columns), "the frame")
    rows = frame[evaluation.columns.names]
    if order == "shuffle":
        rows = rows.shuffle(on=qid)
    # It holds no Dask collections, for which dask.delayed would otherwise search it.
    on_workers = dask.delayed(evaluation, traverse=False)
    parts = map(on_workers.of_partition, rows.to_delayed())
    return evaluation.result_of(dask.compute(*parts))

"""Evaluation of Spark DataFrames, partition by partition."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
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
    """Evaluate the rows of a Spark DataFrame on the executors that hold them.

    Rows are shuffled by query id, each partition is evaluated by the process that has it, and only values per query are
    returned. They equal those of evaluate up to rounding in the last digits. Needs Spark and pyarrow, and this package
    on all executors.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
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
        If Spark or pyarrow is not installed.
    TypeError, ValueError
        As in evaluate_batches, and if a query is in two partitions.

    See Also
    --------
    evaluate_batches : Evaluate files on one machine.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b", so MRR is (1 + 1/2) / 2:

    >>> from pyspark.sql import SparkSession
    >>> import skrank_metrics.spark
    >>> session = SparkSession.builder.getOrCreate()
    >>> rows = [("a", 1, 2.0), ("b", 0, 2.0), ("a", 0, 1.0), ("b", 1, 1.0)]
    >>> frame = session.createDataFrame(rows, "q string, y int, s double")
    >>> skrank_metrics.spark.evaluate(frame, label="y", score="s", qid="q", metrics="mrr").mean
    {'mrr': 0.75}
    """
    evaluation = TableEvaluation(
        bind_metrics(metrics, convention),
        condense,
        TableColumns(
            label, score, qid, sample_weight, retrieved, judged, documents, by=by, groups=groups
        ),
    )
    # This check comes first, so that wrong options are refused before Spark does any work.
    evaluation.check_shuffle(order)
    from pyspark.sql import DataFrame

    check_frame(frame, DataFrame, "Spark")
    names = evaluation.columns.names
    check_column_names(evaluation.columns.by_argument, frame.columns, "the frame")
    # Without quotes, a dot in a name means a field of a struct.
    quoted = ["`" + name.replace("`", "``") + "`" for name in names]
    rows = frame.select(*quoted)
    # mapInArrow knows no quotes, so the columns get plain names.
    plain = [f"c{number}" for number in range(len(names))]
    rows = rows.toDF(*plain)
    if order == "shuffle":
        # The column is chosen by position, since columns no longer have their own names.
        rows = rows.repartition(rows[names.index(qid)])
    parts = []
    for (pickled,) in rows.mapInArrow(_in_arrow(evaluation), "part binary").collect():
        part = pickle.loads(pickled)
        if isinstance(part, Exception):
            raise part
        parts.append(part)
    return evaluation.result_of(parts)


def _in_arrow(evaluation: TableEvaluation) -> Any:
    """A function that evaluates the batches of a partition."""

    def evaluate_rows(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        # Batches are joined, since Spark may cut a query between two batches of a partition.
        received = list(batches)
        # A shuffle of few queries leaves partitions empty, and a table of no batches has no schema.
        if not received:
            return
        table = pa.Table.from_batches(received).rename_columns(evaluation.columns.names)
        result: Any
        try:
            result = evaluation.of_partition(table)
        except (TypeError, ValueError) as error:
            # If it is raised here, Spark retries and buries it in a Java traceback.
            result = error
        # Arrow has no type for results, so they travel as bytes.
        yield pa.record_batch({"part": [pickle.dumps(result)]})

    return evaluate_rows

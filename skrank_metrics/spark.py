"""Evaluation of Spark DataFrames, partition by partition."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

from skrank_metrics.sources.partitions import Reports, evaluate_partition, reports_of_frame


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
    """Evaluate the rows of a Spark DataFrame on the executors that hold them.

    Rows are shuffled by query id, each partition is evaluated by the executor that has it, and only values per query
    are returned. They equal those of evaluate up to rounding in the last digits. Needs pyspark and pyarrow, and this
    package on all executors.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
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
        If pyspark or pyarrow is not installed.
    TypeError
        If frame is not a Spark DataFrame, or a column has the wrong type.
    ValueError
        If a column is missing or holds nulls or invalid values, or a query is in two partitions.

    See Also
    --------
    skrank_metrics.dask.evaluate : Evaluate a Dask DataFrame.
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
    pyspark = _import_pyspark()
    if not hasattr(frame, "mapInArrow"):
        raise TypeError(f"frame must be a Spark DataFrame; got {type(frame).__module__}.{type(frame).__name__}.")
    options = {"convention": convention, "ties": ties, "replace_undefined_by": replace_undefined_by}
    others = {"sample_weight": sample_weight, "retrieved": retrieved, "judged": judged, "by": by}
    total = reports_of_frame(label, score, qid, metrics=metrics, options=options, others=others, shuffle=shuffle)
    total.columns.check_names(frame.columns)
    names = total.columns.names
    rows = frame.select(*map(_quoted, names))
    total.columns.check(pyspark.sql.pandas.types.to_arrow_schema(rows.schema))
    # mapInArrow reads a dot in a name as access to a struct field.
    rows = rows.toDF(*(f"c{number}" for number in range(len(names))))
    if shuffle:
        rows = rows.repartition(rows[names.index(qid)])
    for (part,) in rows.mapInArrow(_evaluation(total), "part binary").collect():
        result = pickle.loads(part)
        if isinstance(result, Exception):
            raise result
        total.merge(result)
    return total.results(score)


def _import_pyspark() -> Any:
    try:
        import pyarrow  # noqa: F401
        import pyspark.sql.pandas.types
    except ImportError as error:
        raise ImportError(f"spark.evaluate needs pyspark: pip install 'skrank-metrics[spark]'. ({error})") from None
    return pyspark


def _quoted(name: str) -> str:
    """Quote a column name, in which a dot would otherwise mean a struct field."""
    return "`" + name.replace("`", "``") + "`"


def _evaluation(empty: Reports) -> Any:
    def evaluate_rows(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        result: Reports | Exception
        if not (received := list(batches)):
            return
        try:
            result = evaluate_partition(empty, pa.Table.from_batches(received).rename_columns(empty.columns.names))
        except (TypeError, ValueError) as error:
            result = error  # if raised here, Spark would retry and bury it in a Java traceback
        yield pa.record_batch({"part": [pickle.dumps(result)]})

    return evaluate_rows

"""Reports of files and streams that do not fit into memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import IO, Any, Unpack, overload

import numpy as np

from skrank_metrics._input.grouping import starts_of
from skrank_metrics._input.id_hash import Hashes, hash_arrow
from skrank_metrics._input.parameters import check_int
from skrank_metrics._input.types import Order
from skrank_metrics._output.progress import Progress
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.accumulator import PartialValues, TableEvaluation, check_order
from skrank_metrics.sources.columns import BatchOptions, TableColumns
from skrank_metrics.sources.tables import (
    array_of,
    checked_tables,
    files_of,
    import_arrow,
    joined,
)

# Number of temporary files, a power of 2, since the hash of an id is cut by bits: enough for each to fit into memory,
# but not more than a process may have open.
N_FILES = 64


@overload
def evaluate_batches(
    source: Any, *, label: str, score: str, qid: str, **options: Unpack[BatchOptions]
) -> RankingReport: ...


@overload
def evaluate_batches(
    source: Any, *, label: str, score: list[str], qid: str, **options: Unpack[BatchOptions]
) -> Comparison: ...


def evaluate_batches(
    source: Any,
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
    order: Order = "check",
    batch_rows: int = 262_144,
    n_threads: int = 1,
    verbose: int | None = None,
) -> RankingReport | Comparison:
    """Compute the report of a file or a stream in batches, for data that do not fit into memory.

    Needs pyarrow. The values equal those of evaluate up to rounding in the last digits. Labels and scores are not kept,
    so the report does not count ties.

    Parameters
    ----------
    source : path, list of paths, Arrow stream, or iterable of batches
        Parquet, CSV or TSV with a header, or Arrow files, as their content says, also packed (gzip, bz2, xz, zstd); a
        folder or a pattern of these, such as ``"rows/*.parquet"``; any object with ``__arrow_c_stream__``, such as
        tables and readers of pyarrow, frames of polars and pandas, and relations of DuckDB; or an iterable of such
        objects, or of dicts of arrays by column. In CSV and TSV, ids and slices are strings, an empty cell is null, and
        text is in UTF-8; CSV may have quoted cells, TSV has none.
    label, score, qid : str
        Columns of relevance labels, scores and query ids; ``score`` may be a list of columns, one per model.
    metrics, convention : as in evaluate
        Metrics to compute, and their defaults.
    sample_weight, retrieved, judged, condense, documents, by, groups : as in evaluate
        Names of columns in place of arrays; ``documents`` and ``by`` may be lists of names.
    order : {"check", "shuffle"}, default="check"
        With "check", the rows of a query must be contiguous, also across files. With "shuffle", rows may be in any
        order: they are first distributed over temporary files by a hash of the query id, which takes about as much
        disk space as the columns take in memory. They are in the folder that the environment variable TMPDIR names, or
        the usual one, and none are left behind, even if the process is killed.
    batch_rows : int, default=262144
        Number of rows to process at a time; more if the longest query has more.
    n_threads : int, default=1
        Threads that compute if order="shuffle".
    verbose : int, default=None
        Whether to say on standard error how many rows were read; 0 is silent. If None, only on a terminal or in a
        notebook, where the line is removed at the end.

    Returns
    -------
    report : RankingReport, or Comparison of several score columns
        The report. If score is a list, their Comparison.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    TypeError
        If a column has the wrong type.
    ValueError
        If a column is missing or holds nulls or invalid values, a file cannot be read, or a query comes back.

    See Also
    --------
    RankingAccumulator : Evaluate arrays that you read yourself.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b", so MRR is (1 + 1/2) / 2:

    >>> from skrank_metrics.sources import evaluate_batches
    >>> batches = [{"y": [1, 0], "s": [2.0, 1.0], "q": ["a", "a"]}, {"y": [0, 1], "s": [2.0, 1.0], "q": ["b", "b"]}]
    >>> evaluate_batches(batches, label="y", score="s", qid="q", metrics="mrr").mean
    {'mrr': 0.75}
    """
    evaluation = TableEvaluation(
        bind_metrics(metrics, convention),
        condense,
        TableColumns(
            label, score, qid, sample_weight, retrieved, judged, documents, by=by, groups=groups
        ),
    )
    # A shuffle keeps the order of the rows of a query, so ties="stable" may remain.
    check_order(order)
    import_arrow("evaluate_batches")
    check_int(batch_rows, "batch_rows", 1)
    check_int(n_threads, "n_threads", 1)
    source = files_of(source) or source
    tables = checked_tables(source, evaluation.columns, batch_rows, signed=evaluation.signed)
    try:
        with Progress(verbose) as progress, ExitStack() as stack:
            tables = _count_rows(tables, progress)
            if order == "check":
                whole = _whole_queries(tables, qid, batch_rows)
                return evaluation.result_of(
                    evaluation.of_table(table, contiguous=True) for table in whole
                )
            parts = _evaluate_shuffled(evaluation, tables, n_threads, stack)
            return evaluation.result_of(progress.count(*parts, "parts evaluated"))
    except MemoryError as error:
        raise MemoryError(
            "Not enough memory. All rows of a query must fit into memory at once, as must those of a batch or a "
            "temporary file."
        ) from error


def _evaluate_shuffled(
    evaluation: TableEvaluation,
    tables: Iterator[Any],
    n_threads: int,
    stack: ExitStack,
) -> tuple[Iterable[PartialValues], int]:
    """The values of temporary files of whole queries, and their number."""
    files = _write_by_query(tables, evaluation.columns.qid, N_FILES, stack)
    pool = stack.enter_context(ThreadPoolExecutor(n_threads))
    # After an error or Ctrl-C, nobody waits for files that have not begun.
    stack.callback(pool.shutdown, cancel_futures=True)
    evaluate_file = partial(_evaluate_file, evaluation)
    # The first file is evaluated in this thread, and imports what the others need: if Ctrl-C interrupts an import while
    # another thread waits for it, Python can hang.
    first = evaluate_file(files[0])
    others = (map if n_threads == 1 else pool.map)(evaluate_file, files[1:])
    return chain([first], others), len(files)


def _count_rows(tables: Iterable[Any], progress: Progress) -> Iterator[Any]:
    """Pass tables on, and say how many rows were read."""
    done = 0
    for table in tables:
        yield table
        done += len(table)
        progress.say_done(done, None, "rows")


def _whole_queries(tables: Iterable[Any], qid: str, batch_rows: int) -> Iterator[Any]:
    """Tables that end with a query; its rows are carried over to the next if more may follow."""
    waiting: list[Any] = []
    enough = batch_rows
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) < enough:
            continue
        table = joined(waiting)
        # Hashes are compared instead of ids, since they are numbers of one type.
        hashes = _hash_column(table[qid])
        start = len(hashes) - int(np.argmin(np.append(hashes[::-1] == hashes[-1], False)))
        if start:
            yield table.slice(0, start)
        waiting = [table.slice(start)]
        # Rows of a long query are not looked at again with every batch.
        enough = max(batch_rows, 2 * len(waiting[0]))
    yield joined(waiting)


def _write_by_query(
    tables: Iterator[Any], qid: str, n_files: int, stack: ExitStack
) -> list[IO[bytes]]:
    """Distribute the rows over temporary files by a hash of their query; return those that are not empty."""
    import pyarrow as pa

    shift = np.uint64(64 - (n_files - 1).bit_length())
    files: list[IO[bytes]] = []
    for _ in range(n_files):
        files.append(stack.enter_context(tempfile.TemporaryFile()))  # noqa: PERF401, SIM115
    for table in tables:
        numbers = (_hash_column(table[qid]) >> shift).astype(np.uint16)
        # Rows of a file become one slice, and a stable sort keeps their order within a query.
        ordered = table.take(np.argsort(numbers, kind="stable")).combine_chunks()
        sizes = np.bincount(numbers, minlength=n_files)
        starts = starts_of(sizes)
        for number in np.flatnonzero(sizes):
            rows = ordered.slice(starts[number], sizes[number])
            # Each slice is a new stream, since later tables may have wider types.
            sink = pa.PythonFile(files[number], "w")
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(rows)
    return [file for file in files if file.tell()]


def _hash_column(column: Any) -> Hashes:
    return np.concatenate([hash_arrow(chunk) for chunk in column.chunks])


def _evaluate_file(evaluation: TableEvaluation, file: IO[bytes]) -> PartialValues:
    import pyarrow as pa

    end, tables = file.tell(), []
    with file:
        file.seek(0)
        while file.tell() < end:
            with pa.ipc.open_stream(pa.PythonFile(file, "r")) as reader:
                tables.append(reader.read_all())
    return evaluation.of_table(joined(tables))


def read_columns(source: Any, columns: TableColumns, *, signed: bool = False) -> dict[str, Any]:
    """Read all rows of a source into one array per column."""
    table = joined(list(checked_tables(source, columns, 1_000_000, signed=signed)))
    return {name: array_of(table[name]) for name in columns.names}

"""Reports of files and streams that do not fit into memory."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import check_bool, check_choice, check_int
from skrank_metrics._input.id_hash import hash_arrow
from skrank_metrics.sources.partitions import ORDERS, Reports
from skrank_metrics.sources.progress import Progress
from skrank_metrics.sources.tables import import_arrow, joined, n_rows, tables_of

# Number of temporary files: enough for each to fit into memory, but not more than a process may have open.
FEWEST_PARTS, MOST_PARTS, ROWS_OF_A_PART = 64, 512, 1_000_000


def evaluate_batches(
    source: Any,
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
    order: str = "check",
    batch_rows: int = 262_144,
    temp_dir: Any = None,
    n_threads: int = 1,
    verbose: bool | None = None,
) -> Any:
    """Compute the report of a file or a stream in batches, for data that do not fit into memory.

    Needs pyarrow. The values equal those of evaluate up to rounding in the last digits. Labels and scores are not kept,
    so the report does not count ties.

    Parameters
    ----------
    source : path, list of paths, Arrow stream, or iterable of batches
        Parquet (.parquet, .pq), CSV or TSV with a header (.csv, .tsv, also gzipped) or Arrow files (.arrow,
        .feather, .ipc); any object with ``__arrow_c_stream__``, such as tables and readers of pyarrow, frames of
        polars and pandas, and relations of DuckDB; or an iterable that yields such objects, dicts of arrays by
        column, or tuples of arrays in the order of the arguments: label, score, qid, then the others that are
        passed. In CSV and TSV, ids and slices are strings, an empty cell is a null, and text is in UTF-8; CSV may
        have quoted cells, TSV has none.
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
        How documents with equal scores are ordered, as in evaluate.
    replace_undefined_by : float, default=None
        Value of undefined queries, as in evaluate.
    sample_weight : str, default=None
        Column of weights, which must not vary within a query.
    retrieved : str, default=None
        Column that is False for documents that were judged but not ranked.
    judged : str, default=None
        Column that is False for documents that nobody judged.
    condense : bool, default=False
        Whether to remove the documents that nobody judged, as in evaluate. Requires judged.
    documents : str or list of str, default=None
        Columns for own metrics that declare them; see make_metric.
    by : str, default=None
        Column of slices, which must not vary within a query.
    groups : str, default=None
        Column of groups of queries, such as users, as in evaluate.
    order : {"check", "shuffle"}, default="check"
        With "check", the rows of a query must be contiguous, also across files; a query that comes back is an
        error. With "shuffle", rows may be in any order: they are first distributed over temporary files by a hash
        of the query id, which takes about as much disk space as the columns take in memory.
    batch_rows : int, default=262144
        Number of rows to process at a time; more if the longest query has more.
    temp_dir : path, default=None
        Folder for temporary files. None means that of the system. The files have no names, so none are left
        behind, even if the process is killed.
    n_threads : int, default=1
        Number of threads for computing if order="shuffle". With more than one, the next batch is read in the
        meantime, with all threads of pyarrow.
    verbose : bool, default=None
        Whether to report on standard error how many rows were read, and how many per second. If None, only on a
        terminal, where the line is removed at the end.

    Returns
    -------
    report : RankingReport, or dict of str to RankingReport
        The report. If score is a list, one report per score column.

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

    >>> from skrank_metrics import evaluate_batches
    >>> batches = [{"y": [1, 0], "s": [2.0, 1.0], "q": ["a", "a"]}, {"y": [0, 1], "s": [2.0, 1.0], "q": ["b", "b"]}]
    >>> evaluate_batches(batches, label="y", score="s", qid="q", metrics="mrr").mean
    {'mrr': 0.75}
    """
    given = dict(locals())
    import_arrow()
    check_choice(order, "order", ORDERS)
    check_int(batch_rows, "batch_rows", 1)
    check_int(n_threads, "n_threads", 1)
    shown = None if verbose is None else check_bool(verbose, "verbose")
    total = Reports(given, complete=order == "shuffle")
    tables = tables_of(source, total.columns, batch_rows, use_threads=n_threads > 1)
    tables = tables if n_threads == 1 else _read_ahead(tables)
    with Progress(shown) as progress:
        known = n_rows(source) if progress.shown or order == "shuffle" else None
        tables = progress.count_rows(tables, known)
        if order == "check":
            for table in _whole_queries(tables, qid, batch_rows):
                total.add(table, contiguous=True)
        else:
            n_parts = min(max(FEWEST_PARTS, 2 ** ((known or 0) // ROWS_OF_A_PART).bit_length()), MOST_PARTS)
            _add_shuffled(total, tables, n_parts, temp_dir, n_threads, progress)
    return total.results(score)


def _read_ahead(tables: Iterator[Any]) -> Iterator[Any]:
    """Read the next table in another thread; the first one in this thread, which thereby imports what reading needs.

    If Ctrl-C interrupts an import while another thread waits for it, Python can hang.
    """
    if (first := next(tables, None)) is None:
        return
    yield first
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, tables, None)
        while (table := coming.result()) is not None:
            coming = pool.submit(next, tables, None)
            yield table


def _whole_queries(tables: Iterable[Any], qid: str, batch_rows: int) -> Iterator[Any]:
    """Tables that end with a query; its rows are carried over to the next if more may follow."""
    waiting: list[Any] = []
    enough = batch_rows
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) < enough:
            continue
        table = joined(waiting)
        start = _start_of_last_query(table[qid])
        if start:
            yield table.slice(0, start)
        waiting = [table.slice(start)]
        # Rows of a long query are not looked at again with every batch.
        enough = max(batch_rows, 2 * len(waiting[0]))
    yield joined(waiting)


def _start_of_last_query(ids: Any) -> int:
    hashes = _hashes(ids)
    others = np.flatnonzero(hashes != hashes[-1])
    return int(others[-1]) + 1 if len(others) else 0


def _add_shuffled(
    total: Reports, tables: Iterator[Any], n_parts: int, temp_dir: Any, n_threads: int, progress: Progress
) -> None:
    with ExitStack() as stack:
        with _name_full_disk(temp_dir):
            files = [stack.enter_context(tempfile.TemporaryFile(dir=temp_dir)) for _ in range(n_parts)]
            used, empty = _distribute(tables, total.columns.qid, files), deepcopy(total)

        def evaluate_part(number: int) -> Reports:
            reports = deepcopy(empty)
            reports.add(_read(files[number]))
            files[number].close()
            return reports

        done: Iterator[Reports] = map(evaluate_part, used)
        if n_threads > 1:
            pool = stack.enter_context(ThreadPoolExecutor(n_threads))
            stack.callback(pool.shutdown, cancel_futures=True)
            # The first part is evaluated here, and imports what the threads need; see _read_ahead.
            done = chain(map(evaluate_part, used[:1]), _in_threads(pool, evaluate_part, used[1:]))
        for number, reports in enumerate(done, start=1):
            total.merge(reports)
            progress.say(f"evaluated {number} of {len(used)} parts", last=number == len(used))


def _in_threads(pool: ThreadPoolExecutor, function: Callable[[int], Reports], numbers: list[int]) -> Iterator[Reports]:
    """Start the threads when the first result is asked for."""
    yield from pool.map(function, numbers)


@contextmanager
def _name_full_disk(temp_dir: Any) -> Iterator[None]:
    """Name the folder and the argument if temporary files do not fit."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT) or error.filename is not None:
            raise
        folder = str(temp_dir or tempfile.gettempdir())
        raise OSError(error.errno, f"{error.strerror}; pass temp_dir=, a folder with more space", folder) from error


def _distribute(tables: Iterable[Any], qid: str, files: Sequence[IO[bytes]]) -> list[int]:
    """Write the rows of each query into one of the files; return the numbers of the files that are not empty."""
    import pyarrow as pa

    shift, writers, used = np.uint64(64 - (len(files) - 1).bit_length()), list[Any](), set[int]()
    schema = pa.schema([])
    for table in tables:
        if not table.schema.equals(schema):  # wider types need another stream in the same file
            _close(writers)
            schema, writers = (
                table.schema,
                [pa.ipc.new_stream(pa.PythonFile(file, "w"), table.schema) for file in files],
            )
        parts = (_hashes(table[qid]) >> shift).astype(np.uint16)
        ends = np.concatenate(([0], np.cumsum(np.bincount(parts, minlength=len(files)))))
        ordered = table.take(pa.array(np.argsort(parts, kind="stable"))).combine_chunks()
        for number in np.flatnonzero(np.diff(ends)).tolist():
            writers[number].write_table(ordered.slice(ends[number], ends[number + 1] - ends[number]))
            used.add(number)
    _close(writers)
    return sorted(used)


def _close(writers: Iterable[Any]) -> None:
    for writer in writers:
        writer.close()


def _hashes(column: Any) -> NDArray[np.uint64]:
    return np.concatenate([hash_arrow(chunk) for chunk in column.chunks])


def _read(file: IO[bytes]) -> Any:
    import pyarrow as pa

    end, tables = file.tell(), []
    file.seek(0)
    while file.tell() < end:
        with pa.ipc.open_stream(pa.PythonFile(file, "r")) as reader:
            tables.append(reader.read_all())
    return joined(tables)

"""Judgments, ranked lists and exclusions of any kind, read into lists by id."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain
from numbers import Real
from os import PathLike
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    Mask,
    holds_masked,
    lengths,
    python_list,
    refuse_lazy,
    to_float64,
    to_objects,
)
from skrank_metrics._input.columns import PAGE, USUAL, ColumnNames, find_column, role_of
from skrank_metrics._input.grouping import places_within
from skrank_metrics._input.parameters import by_text, shown
from skrank_metrics._input.query_ids import as_python, group_ids, is_missing
from skrank_metrics.reports.facts import ReadFile
from skrank_metrics.sources.columns import TableColumns, find_roles, has_columns
from skrank_metrics.sources.join import Duplicates
from skrank_metrics.sources.lists import (
    IdColumn,
    JoinedLists,
    check_counted,
    from_ranks,
    lists_of_documents,
    plain_column,
    python_ids,
    valid_ids,
)
from skrank_metrics.sources.tables import (
    SourceFile,
    checked_tables,
    file_of,
    files_of,
    joined,
    read_text,
)
from skrank_metrics.sources.trec_lines import FORMS, are_lines, read_lines

# Rows of a file that are checked at a time.
ROWS_AT_ONCE = 1_000_000
SHAPES = {
    "qrels": "dicts of labels or of relevant documents, a frame, a sparse matrix, what "
    "trec.read_qrels returns, or a path",
    "run": "dicts of scores or ranked lists, a frame, an array with queries=, what trec.read_run returns, or a path",
    "exclude": "a dict of documents by query, pairs of a query and a document, a frame, a sparse matrix, or a "
    "path to a table",
}


def read_lists(
    source: Any,
    argument: str,
    names: ColumnNames,
    ids: str = "given",
    *,
    duplicates: Duplicates = "error",
    queries: Any = None,
    negative: bool = False,
) -> JoinedLists:
    """Judgments, ranked lists or pairs to exclude, from anything that can hold them.

    ``negative`` is whether negative labels mean that a document was not judged, as they do in files of TREC.
    """
    refuse_lazy(source, argument)
    known = getattr(source, "lists", None)
    # Arrays can be anything, and only queries= says that one is a run.
    if argument == "run" and queries is not None:
        lists = _from_array(source, queries)
    elif isinstance(known, JoinedLists) and known.argument == argument:
        lists = known
    elif hasattr(source, "tocoo") and argument != "run":
        lists = _from_sparse(source, argument)
    elif isinstance(source, Mapping) and not hasattr(source, "tocoo"):  # some matrices are dicts
        lists = _from_dict(source, argument)
    elif has_columns(source):
        lists = _from_frame(source, argument, names, argument)
    elif isinstance(source, str | PathLike) or hasattr(source, "read"):
        lists = _from_files(source, argument, names, duplicates)
    elif argument == "exclude" and isinstance(source, Iterable) and not isinstance(source, bytes):
        lists = _from_pairs(list(source))
    else:
        raise TypeError(
            f"{argument} must be {SHAPES[argument]}; {_instead(source, argument)}. {PAGE}"
        )
    _check_values(lists, negative or lists.in_trec)
    return lists.as_text() if ids == "text" else lists


def _instead(source: Any, argument: str) -> str:
    """What to pass instead of something else, or what it is."""
    if argument == "run" and hasattr(source, "shape"):
        return "pass queries=, the query id of each row"
    if isinstance(source, list) and source and isinstance(source[0], list):
        return f"pass dict(enumerate({argument})), the lists by their number"
    return f"got {type(source).__name__}"


def _check_values(lists: JoinedLists, negative: bool) -> None:
    """Refuse labels and scores that are NaN, and labels that are negative or infinite."""
    values = lists.values
    what, low, high = "score", -np.inf, np.inf
    if lists.argument == "qrels":
        what, high = "label", float(np.finfo(float).max)
        low = -np.inf if negative else 0.0
    # NaN fails both comparisons.
    valid = (values >= low) & (values <= high)
    if valid.all():
        return
    row = int(np.argmin(valid))
    pair = lists.pair(row)
    if np.isnan(values[row]):
        raise ValueError(f"{lists.argument} has no {what} for {pair}: NaN.")
    raise ValueError(
        f"Labels must be finite and >= 0; got {values[row]:g} for {pair} in qrels. In the conventions 'trec_eval', "
        "'ir_measures', 'beir' and 'ranx', negative labels mean 'not judged'."
    )


# --- Dicts and pairs


def _from_dict(source: Mapping[Any, Any], argument: str) -> JoinedLists:
    if len(source) <= len(USUAL) and {"query", "document"} <= set(map(role_of, source)):
        raise TypeError(
            f"{argument} looks like a dict of columns. Pass pandas.DataFrame({argument})."
        )
    queries = valid_ids(source, f"queries of {argument}")
    rows: list[Any] = list(source.values())
    kinds = set(map(type, rows))
    hold_values = {issubclass(kind, Mapping) for kind in kinds}
    if len(hold_values) > 1:
        raise TypeError(f"{argument} must have dicts for all queries, or for none.")
    are_dicts = any(hold_values)
    # Most are lists, which need no look at each.
    if not are_dicts and kinds != {list}:
        rows = [_as_list(row, argument, query) for query, row in zip(queries, rows, strict=True)]
    names = list(chain.from_iterable(rows))
    sizes = lengths(rows)
    if argument == "run" and isinstance(next(iter(names), None), Mapping):
        return _from_hits(queries, sizes, names)
    if argument == "run" and not are_dicts and _are_scored(names):
        holder = f"run[{next(query for query, row in zip(queries, rows, strict=True) if row)!r}]"
        raise TypeError(f"{holder} holds pairs of an id and a number; pass dict({holder}).")
    documents = IdColumn.from_values(names, argument)
    lists = lists_of_documents(argument, queries, sizes, documents)
    if are_dicts and argument != "exclude":
        values = _to_values(list(chain.from_iterable(row.values() for row in rows)), argument)
        lists = replace(lists, values=values, ranked=False)
    n_different = len(names) if are_dicts else sum(map(len, map(set, rows)))
    # NumPy's times were converted, so the rows do not hold them.
    if n_different < len(names) or not documents.kinds.isdisjoint({"time", "time span"}):
        return lists
    return replace(lists, given=dict(zip(queries, rows, strict=True)))


def _are_scored(names: list[Any]) -> bool:
    """Whether all entries are pairs of an id and a score; tuples with whole numbers can be ids."""
    if not names or not isinstance(names[0], tuple):  # almost always
        return False
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in names):
        return False
    ids, scores = zip(*names, strict=True)
    are_ids = all(isinstance(one, str | int | np.integer) for one in ids)
    if not are_ids or not all(isinstance(score, Real) for score in scores):
        return False
    return any(math.isfinite(score) and score % 1 for score in scores)


def _from_hits(queries: list[Any], sizes: IntArray, hits: list[Any]) -> JoinedLists:
    """Lists of dicts with ids and scores, as vector databases return them."""
    try:
        documents = [hit["id"] for hit in hits]
        scores = [hit["score"] for hit in hits]
    except (LookupError, TypeError):
        raise TypeError(
            f"run must have dicts with 'id' and 'score' in its lists; got {hits[0]!r}. {PAGE}"
        ) from None
    lists = lists_of_documents("run", queries, sizes, IdColumn.from_values(documents, "run"))
    return replace(lists, values=_to_values(scores, "run"), ranked=False)


def _as_list(row: Any, argument: str, query: Any) -> Collection[Any]:
    """The documents of a query as Python's objects."""
    if isinstance(row, np.ndarray) and row.ndim == 1:
        # Masked entries are padding.
        return as_python(row.compressed() if isinstance(row, np.ma.MaskedArray) else row)
    # A ranked list has an order.
    if isinstance(row, list | tuple) or (argument != "run" and isinstance(row, AbstractSet)):
        return row
    if isinstance(row, str):
        refuse_text(argument, query, row)
    expected = "a dict or the documents"
    if argument == "run":
        expected = "a dict of scores or a ranked list"
    raise TypeError(
        f"{argument} must have {expected} for each query; got {type(row).__name__} for {query!r}."
    )


def refuse_text(argument: str, query: Any, text: str) -> NoReturn:
    """Refuse a text in the place of a list."""
    holder = f"{argument}[{query!r}]"
    raise TypeError(f"{holder} is the text {shown(text)}. Pass a list: {holder}.split().")


def _from_pairs(pairs: list[Any]) -> JoinedLists:
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise TypeError(f"exclude must be {SHAPES['exclude']}; got others than tuples of two ids.")
    lists = defaultdict[Any, list[Any]](list)
    for query, document in pairs:
        lists[query].append(document)
    return _from_dict(lists, "exclude")


# --- Arrays and matrices


def _from_array(source: Any, queries: Any) -> JoinedLists:
    """An array of ids, one row per query, as searches for nearest neighbors return them."""
    array = _rectangular(source)
    if isinstance(source, Mapping) or has_columns(source) or array.ndim != 2:
        raise TypeError(
            "queries= applies only to a run that is a 2-D array of document ids, one row per query."
        )
    grouping = group_ids(queries, len(array), "queries", "run")
    if len(grouping.ids) < len(array):
        twice = as_python(grouping.ids[np.bincount(grouping.codes) > 1])[0]
        raise ValueError(f"queries has {twice!r} twice.")
    filled = _is_document(array)
    if isinstance(source, np.ma.MaskedArray) or holds_masked(source):
        filled &= ~np.ma.getmaskarray(np.ma.array(source))
    documents = IdColumn.from_column(array[filled], "run")
    return lists_of_documents("run", python_ids(grouping.ids), filled.sum(axis=1), documents)


def _rectangular(source: Any) -> NDArray[Any]:
    """An array of ids, of which those in lists stay different: NumPy makes ["1", "a"] of [1, "a"]."""
    try:
        array = np.asarray(source)
    except ValueError:
        raise ValueError(
            "run must have rows of the same length with queries=; pad them with None, or pass a dict of lists by query."
        ) from None
    # Lists may have mixed types, or integers beyond 2**53 beside None.
    if isinstance(source, list | tuple) and array.dtype.kind in "USf":
        return np.array(source, dtype=object)
    return array


def _is_document(array: NDArray[Any]) -> Mask:
    """Which entries of an array are ids, rather than -1, NaN or None."""
    kind = array.dtype.kind
    if kind == "O":
        found = (not is_missing(one) and one != -1 for one in array.flat)
        return np.fromiter(found, np.bool_, array.size).reshape(array.shape)
    if kind == "u" and (array == np.iinfo(array.dtype).max).any():
        raise ValueError(
            f"run has {np.iinfo(array.dtype).max} in an array of {array.dtype}, which may be an id or -1; pass "
            "run.astype(np.int64), with -1 for padding, or a masked array."
        )
    if kind in "if":
        return (array != -1) & ~np.isnan(array)
    return np.ones(array.shape, dtype=bool)


def _from_sparse(matrix: Any, argument: str) -> JoinedLists:
    """Entries of a sparse matrix: rows are the queries 0, 1, ..., columns the documents."""
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    if argument == "exclude":
        # A label of 0 is a judgment, but nothing is excluded by a 0.
        rows.eliminate_zeros()
    entries = rows.tocoo()
    return _from_columns(argument, entries.row, entries.col, entries.data)


# --- Frames and files


def _from_files(
    source: Any, argument: str, names: ColumnNames, duplicates: Duplicates
) -> JoinedLists:
    """Lines of TREC, a dict in JSON, or rows, as the content says; ids are strings in a text."""
    files = [file_of(source, argument)] if hasattr(source, "read") else files_of(source, argument)
    file = files[0]
    if file.form == "json":
        lists = _from_dict(_read_json(file), argument)
        return replace(lists, read=ReadFile(file.name, "a dict in JSON", len(lists.queries)))
    if argument in FORMS and are_lines(file):
        return read_lines(file, argument, argument, duplicates=duplicates)[0]
    header = file.column_names()
    if file.is_text and not names and not any(map(role_of, header)):
        raise ValueError(
            f"{file.name}: the first line was read as the header: {', '.join(map(repr, header))}. If it has none, "
            "add a line such as 'query,document,score'. If this is it, name its columns, as in "
            f"columns={ {'query': header[0]} }. {PAGE}"
        )
    roles = find_roles(header, argument, names, file.name)
    # Like groups, ids of documents may have any type, and are not converted.
    columns = TableColumns(roles.value, roles.rank, roles.query, groups=roles.document)
    if argument == "run":
        values = [name for name in (roles.value, roles.rank) if name is not None]
        columns = replace(columns, label=None, score=values)
    # _check_values knows whether labels may be negative.
    table = joined(list(checked_tables(files, columns, ROWS_AT_ONCE, signed=True)))
    lists = _from_frame(table, argument, names, file.name)
    return replace(lists, read=ReadFile(file.name, roles.in_words, len(lists.queries)))


def _read_json(file: SourceFile) -> dict[str, Any]:
    """A dict in JSON."""
    name = file.name
    try:
        found = json.loads(read_text(file), object_pairs_hook=_without_repeated)
    except ValueError as error:
        raise ValueError(f"{name} must hold one dict in JSON: {error}.") from None
    if not isinstance(found, dict):
        raise TypeError(f"{name} must hold one dict in JSON; got a {type(found).__name__}. {PAGE}")
    return found


def _without_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The items of an object of JSON, of which Python alone would keep the last of two with one key."""
    return by_text(pairs, "An object")


def _from_frame(frame: Any, argument: str, names: ColumnNames, holder: str) -> JoinedLists:
    columns = list(getattr(frame, "column_names", None) or frame.columns)
    document = find_column("document", columns, names, holder)
    if document is not None and _holds_lists(frame[document]):
        frame = _one_document_per_row(frame, columns, document, argument)
        columns = list(frame)
    roles = find_roles(columns, argument, names, holder)
    value = roles.rank if roles.value is None else roles.value
    values = None if value is None else frame[value]
    lists = _from_columns(argument, frame[roles.query], frame[roles.document], values)
    if roles.rank is None:
        return lists
    if roles.value is None:
        if "rank" not in names:
            check_counted(lists, roles.rank)
        return from_ranks(lists, roles.rank)
    # Two sources of the order may not contradict each other.
    order = np.lexsort((_to_values(frame[roles.rank], argument), lists.codes))
    scores, codes = lists.values[order], lists.codes[order]
    rises = (scores[1:] > scores[:-1]) & (codes[1:] == codes[:-1])
    if rises.any():
        pair = lists.pair(int(order[1:][rises][0]))
        by_score = f"columns={ {'score': roles.value} }"
        by_rank = f"columns={ {'rank': roles.rank} }"
        raise ValueError(
            f"Scores and ranks of {holder} disagree, first for {pair}. Choose {by_score} or {by_rank}."
        )
    return lists


def _holds_lists(column: Any) -> bool:
    """Whether a column holds the documents of one query in each row."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    first = next(iter(column), None) if kind == "object" else None
    return "list" in kind or isinstance(first, list | np.ndarray)


def _one_document_per_row(
    frame: Any, columns: list[Any], document: Any, argument: str
) -> dict[Any, Any]:
    """The columns of a frame with lists of documents, and their ranks if nothing else orders them."""
    sizes = lengths(python_list(frame[document]))
    found: dict[Any, Any] = {}
    for name in columns:
        cells = python_list(frame[name])
        if not _holds_lists(frame[name]):
            found[name] = to_objects(cells).repeat(sizes)
            continue
        if not np.array_equal(lengths(cells), sizes):
            raise ValueError(
                f"{argument} must have lists of equal lengths in each row of {name!r} and {document!r}."
            )
        found[name] = list(chain.from_iterable(cells))
    if argument == "run" and {"score", "rank"}.isdisjoint(map(role_of, columns)):
        found["rank"] = places_within(sizes) + 1
    return found


def _from_columns(argument: str, queries: Any, documents: Any, values: Any) -> JoinedLists:
    """Lists from one id of a query, one of a document, and one value per row; values of None are 1."""
    if not len(queries):
        return JoinedLists.empty(argument)
    name = f"queries of {argument}"
    grouping = group_ids(plain_column(queries), len(queries), name, argument)
    return JoinedLists(
        argument,
        python_ids(grouping.ids),
        grouping.codes.astype(np.int32),
        IdColumn.from_column(documents, f"documents of {argument}"),
        np.ones(len(queries)) if values is None else _to_values(values, argument),
    )


def _to_values(values: Any, argument: str) -> FloatArray:
    """Labels or scores as float64."""
    if not len(values):
        return np.empty(0)
    return to_float64(values, f"{'labels' if argument == 'qrels' else 'scores'} of {argument}")

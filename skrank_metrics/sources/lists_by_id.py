"""Judgments and ranked lists of any kind as columns: query ids, document ids and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain
from os import PathLike, fspath
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._input.arrays import FloatArray, to_float64
from skrank_metrics._input.query_ids import as_python, group_ids
from skrank_metrics.sources.batches import read_columns
from skrank_metrics.sources.files import format_of
from skrank_metrics.sources.ids import Keys, Lists, ids_of
from skrank_metrics.sources.tables import Columns, TableFile, check_column_names, import_arrow
from skrank_metrics.sources.trec_lines import FORMS, read_lines

KINDS = {
    "qrels": "dicts of labels or of relevant documents, a frame, what trec.read_qrels returns, or a path",
    "run": "dicts of scores or ranked lists, a frame, an array with queries=, what trec.read_run returns, or a path",
    "exclude": "a dict of documents by query, pairs of a query and a document, a frame, or a path to a table",
}


Names: TypeAlias = Mapping[
    str, str | None
]  # of columns of frames, by argument; those that are None have defaults


def lists_of(
    source: Any, argument: str, names: Names, queries: Any = None, *, negative: bool = False
) -> Lists:
    """Judgments, ranked lists or pairs to exclude, from anything that can hold them.

    ``negative`` is whether negative labels mean that a document was not judged, as they do in files of TREC.
    """
    lists, is_path = getattr(source, "_lists", None), isinstance(source, str | PathLike)
    if argument == "run" and queries is not None:
        found = _of_array(source, queries)
    elif isinstance(lists, Lists) and lists.argument == argument:
        found = lists
    elif isinstance(source, Mapping):
        found = _of_dict(source, argument)
    elif hasattr(source, "columns") or hasattr(source, "column_names"):
        found = _of_frame(source, argument, names)
    elif is_path and (form := format_of(fspath(source))):
        found = _of_table(fspath(source), form, argument, names)
    elif argument in FORMS and (is_path or hasattr(source, "read")):
        found = read_lines(source, argument, argument)[0]
    elif (
        argument == "exclude"
        and isinstance(source, Iterable)
        and not isinstance(source, str | bytes | PathLike)
    ):
        found = _of_pairs(list(source))
    else:
        array = argument == "run" and hasattr(source, "shape")
        got = "pass queries=, the query id of each row" if array else f"got {type(source).__name__}"
        raise TypeError(f"{argument} must be {KINDS[argument]}; {got}.")
    _check_values(found, negative or found.in_trec)
    return found


def _check_values(lists: Lists, negative: bool) -> None:
    """Refuse labels and scores that are NaN, and labels that are negative or infinite."""
    values, labels = lists.values, lists.argument == "qrels"
    low = 0.0 if labels and not negative else -np.inf
    if not len(values) or (
        values.min() >= low and (values.max() < np.inf or not labels)
    ):  # NaN fails both
        return
    bad = ~(values >= low) | (labels & (values == np.inf))
    row = int(np.argmax(bad))
    if np.isnan(values[row]):
        raise ValueError(
            f"{lists.argument} has no {'label' if labels else 'score'} for {lists.pair(row)}: NaN."
        )
    hint = (
        ""
        if values[row] == np.inf
        else " Only in the convention 'trec_eval', it means 'not judged'."
    )
    raise ValueError(
        f"Labels must be finite and >= 0; got {values[row]:g} for {lists.pair(row)} in qrels.{hint}"
    )


def _of_dict(source: Mapping[Any, Any], argument: str) -> Lists:
    lists = list(source.values())
    scored = [isinstance(one, dict | Mapping) for one in lists]
    if any(scored) and not all(scored):
        raise TypeError(f"{argument} must have dicts for all queries, or for none.")
    dicts = source if all(scored) else None
    if dicts is None:
        for query, one in source.items():
            unordered = argument == "run" and isinstance(one, AbstractSet)
            if (
                isinstance(one, str | bytes)
                or unordered
                or not hasattr(one, "__len__")
                or hasattr(one, "iloc")
            ):
                what = (
                    "a dict of scores or a ranked list"
                    if argument == "run"
                    else "a dict or the documents"
                )
                raise TypeError(
                    f"{argument} must have {what} for each query; got {type(one).__name__} for {query!r}."
                )
        lists = [one.tolist() if hasattr(one, "tolist") else one for one in lists]
    elif any(None in one for one in lists):
        raise ValueError(f"{argument} must not hold missing ids; got None.")
    sizes = np.fromiter(map(len, lists), np.intp, len(lists))
    codes = np.repeat(np.arange(len(lists)), sizes)
    values = np.ones(len(codes))
    # Ids that can be looked up are converted only if they are compared with others.
    documents = ids_of(list(chain.from_iterable(lists)), argument) if dicts is None else Keys(lists)
    if dicts is not None and argument != "exclude":
        values = _to_values(list(chain.from_iterable(one.values() for one in lists)), argument)
    elif argument == "run":
        values = -np.fromiter(
            chain.from_iterable(map(range, sizes.tolist())), np.float64, len(codes)
        )
    return Lists(
        argument, list(source), codes, documents, values, unique=dicts is not None, dicts=dicts
    )


def _of_pairs(pairs: list[Any]) -> Lists:
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise TypeError(f"exclude must be {KINDS['exclude']}; got others than tuples of two ids.")
    lists: dict[Any, list[Any]] = {}
    for query, document in pairs:
        lists.setdefault(query, []).append(document)
    return _of_dict(lists, "exclude")


def _of_array(source: Any, queries: Any) -> Lists:
    """An array of ids, one row per query, as searches for nearest neighbours return them."""
    array = np.asarray(source)
    if isinstance(source, Mapping) or hasattr(source, "columns") or array.ndim != 2:
        raise TypeError(
            "queries= applies only to a run that is a 2-D array of document ids, one row per query."
        )
    grouping = group_ids(queries, len(array), "queries", "run")
    if len(grouping.ids) < len(array):
        twice = as_python(grouping.ids[np.bincount(grouping.codes) > 1])[0]
        raise ValueError(f"queries has {twice!r} twice.")
    numbers = array.dtype.kind in "if"
    filled = (
        (array >= 0) | (array < -1)
        if numbers
        else np.vectorize(lambda one: one is not None, [bool])(array)
    )
    rows, ranks = np.nonzero(filled)
    return Lists(
        "run",
        as_python(grouping.ids),
        rows,
        ids_of(array[rows, ranks], "run"),
        -ranks.astype(np.float64),
    )


def _of_table(path: str, form: str, argument: str, names: Names) -> Lists:
    """Rows of a Parquet, CSV, TSV or Arrow file, whose ids are strings if it is a text."""
    pa = import_arrow(f"Reading {path}")
    file = TableFile.opened(path, form)
    (_, query), (_, document), (_, value) = _named_columns(
        file.column_names(), argument, names, path
    )
    columns = Columns(None, [] if value is None else [value], query, documents=[document])
    return _of_frame(pa.table(read_columns(file, columns)), argument, names)


def _of_frame(frame: Any, argument: str, names: Names) -> Lists:
    columns = list(getattr(frame, "column_names", None) or frame.columns)
    (_, query), (_, document), (option, value) = _named_columns(columns, argument, names, argument)
    n_rows = len(frame)
    queries: list[Any] = []
    codes, values = np.zeros(n_rows, dtype=np.intp), np.ones(n_rows)
    if n_rows:
        grouping = group_ids(frame[query], n_rows, f"{argument}[{query!r}]", argument)
        queries, codes = as_python(grouping.ids), grouping.codes
        values = values if value is None else _to_values(frame[value], argument)
    documents = ids_of(frame[document], f"{argument}[{document!r}]")
    lists = Lists(argument, queries, codes, documents, -values if option == "rank" else values)
    if (
        option == "rank"
        and (row := replace(lists, documents=values.view(np.int64)).repeated()) is not None
    ):
        raise ValueError(f"{argument} has rank {values[row]:g} twice, again for {lists.pair(row)}.")
    return lists


def _named_columns(
    columns: list[Any], argument: str, names: Names, holder: str
) -> list[tuple[str, Any]]:
    """The arguments and columns of queries, of documents, and of labels, scores or ranks, if there are any."""
    option = "label"
    if argument == "run":
        if names["score"] is not None and names["rank"] is not None:
            raise ValueError(
                "Pass either score= or rank=, since one of them orders the documents; got both."
            )
        ranks = names["rank"] is not None or (
            names["score"] is None and "rank" in columns and "score" not in columns
        )
        option = "rank" if ranks else "score"
    value = names[option] or option
    # Without labels, all documents of two columns are relevant.
    no_labels = (
        argument == "qrels"
        and names["label"] is None
        and "label" not in columns
        and len(columns) == 2
    )
    none = argument == "exclude" or no_labels
    found = [
        ("query", names["query"]),
        ("document", names["document"]),
        (option, None if none else value),
    ]
    check_column_names(found, columns, holder)
    return found


def _to_values(values: Any, argument: str) -> FloatArray:
    """Labels or scores as float64."""
    if not len(values):
        return np.empty(0)
    return to_float64(values, f"{'labels' if argument == 'qrels' else 'scores'} of {argument}")

"""Judgments and ranked lists of any kind as columns: query ids, document ids and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, nearest, to_float64
from skrank_metrics._input.query_ids import as_python, group_ids
from skrank_metrics.sources.files import format_of, way_out
from skrank_metrics.sources.ids import Ids, Numbers, Objects, Pairs, ids_of
from skrank_metrics.sources.trec_lines import QRELS, RUN, TrecLines, read_lines

TREC_FORMS = {"qrels": QRELS, "run": RUN}
KINDS = {
    "qrels": "dicts of labels or of relevant documents, a frame, what trec.read_qrels returns, or a path",
    "run": "dicts of scores or ranked lists, a frame, an array with queries=, what trec.read_run returns, or a path",
    "exclude": "a dict of documents by query, pairs of a query and a document, or a frame",
}


@dataclass(frozen=True)
class ColumnNames:
    """Names of the columns of frames, by argument; those that are None have defaults."""

    query: str
    document: str
    label: str | None
    score: str | None
    rank: str | None


@dataclass(frozen=True)
class Lists:
    """Documents of queries with their labels or scores, one row each."""

    argument: str  # that they came as
    queries: list[Any]  # different ids, also of queries without rows
    codes: IntArray  # the number of the query of each row
    documents: Ids | Objects
    values: FloatArray
    negative: bool = False  # whether negative labels mean that a document was not judged
    in_trec: bool = False  # whether they came in the format of TREC
    unique: bool = False  # whether no document can be twice in a list
    ranks: bool = False  # whether the values are from a column of ranks
    dicts: Mapping[Any, Mapping[Any, Any]] | None = None  # the source, if it has a dict for each query

    def take(self, rows: IntArray | Mask) -> Lists:
        """Some of the rows."""
        return replace(self, codes=self.codes[rows], documents=self.documents.take(rows), values=self.values[rows])

    def of_queries(self, queries: list[Any]) -> Lists:
        """The rows of some queries, which are numbered in the given order."""
        if queries == self.queries:
            return self
        place = {query: number for number, query in enumerate(queries)}
        new = np.array([place.get(query, -1) for query in self.queries], dtype=np.intp)
        codes = new[self.codes]
        found = replace(self, queries=queries, codes=codes)
        return found if not len(codes) or codes.min() >= 0 else found.take(codes >= 0)

    def pair(self, row: int) -> str:
        """The query and the document of a row, in words."""
        rows = slice(row, row + 1)
        document = self.documents.take(rows).tolist()[0]
        return f"document {document!r} of query {self.queries[self.codes[row]]!r}"

    def check(self) -> Lists:
        """Refuse NaN, and ranks that repeat."""
        if np.isnan(self.values.sum()) and (bad := np.isnan(self.values)).any():  # inf - inf is NaN as well
            what = "label" if self.argument == "qrels" else "rank" if self.ranks else "score"
            raise ValueError(f"{self.argument} has no {what} for {self.pair(int(np.argmax(bad)))}: it is NaN.")
        if self.argument == "qrels":
            self._check_labels()
        if self.ranks and (row := Pairs(self.codes, Numbers(self.values.view(np.int64))).repeated()) is not None:
            raise ValueError(f"{self.argument} has rank {-self.values[row]:g} twice, again for {self.pair(row)}.")
        return self

    def pairs(self, ids: Ids) -> Pairs:
        """The queries with their documents, comparable with others, none of which is twice in a list."""
        pairs = Pairs(self.codes, ids)
        if not self.unique and (row := pairs.repeated()) is not None:
            raise ValueError(f"{self.argument} has {self.pair(row)} twice.")
        return pairs

    def _check_labels(self) -> None:
        bad = self.values == np.inf if self.negative else ~((self.values >= 0) & (self.values < np.inf))
        if bad.any():
            row = int(np.argmax(bad))
            hint = "" if self.values[row] == np.inf else " Only in the convention 'trec_eval', it means 'not judged'."
            raise ValueError(
                f"Labels must be finite and >= 0; got {self.values[row]:g} for {self.pair(row)} in qrels.{hint}"
            )


def lists_of(source: Any, argument: str, names: ColumnNames, queries: Any = None, *, negative: bool = False) -> Lists:
    """Judgments, ranked lists or pairs to exclude, from anything that can hold them."""
    lines = getattr(source, "_lines", None)
    if argument == "run" and queries is not None:
        found = _of_array(source, queries)
    elif isinstance(lines, TrecLines):
        found = _of_lines(lines, argument)
    elif isinstance(source, Mapping):
        found = _of_dict(source, argument)
    elif hasattr(source, "columns") or hasattr(source, "column_names"):
        found = _of_frame(source, argument, names)
    elif argument != "exclude" and (isinstance(source, str | PathLike) or hasattr(source, "read")):
        if isinstance(source, str | PathLike) and (form := format_of(str(source))):
            raise ValueError(
                f"{argument} is a {form} file; read it with pandas, polars or pyarrow, and pass the frame."
            )
        found = _of_lines(read_lines(source, TREC_FORMS[argument], argument), argument)
    elif argument == "exclude" and isinstance(source, Iterable) and not isinstance(source, str | bytes):
        found = _of_pairs(list(source))
    else:
        array = argument == "run" and hasattr(source, "shape")
        got = "pass queries=, the query id of each row" if array else f"got {type(source).__name__}"
        raise TypeError(f"{argument} must be {KINDS[argument]}; {got}.{way_out(source, argument)}")
    return replace(found, negative=found.negative or negative).check()


def _of_lines(lines: TrecLines, argument: str) -> Lists:
    if argument == "exclude" or lines.form is not TREC_FORMS[argument]:
        raise TypeError(f"{argument} must be {KINDS[argument]}; got the lines of {lines.name}, which are others.")
    topics = [topic.decode() for topic in lines.topics]
    return Lists(argument, topics, lines.codes, lines.documents, lines.values, negative=True, in_trec=True, unique=True)


def _of_dict(source: Mapping[Any, Any], argument: str) -> Lists:
    lists = list(source.values())
    scored = [isinstance(one, dict | Mapping) for one in lists]
    if all(scored):
        return _of_dicts(source, lists, argument)
    if any(scored):
        raise TypeError(f"{argument} must have dicts for all queries, or for none.")
    for query, one in source.items():
        unordered = argument == "run" and isinstance(one, AbstractSet)
        if isinstance(one, str | bytes) or unordered or not hasattr(one, "__len__") or hasattr(one, "iloc"):
            what = "a dict of scores or a ranked list" if argument == "run" else "a dict or the documents"
            raise TypeError(f"{argument} must have {what} for each query; got {type(one).__name__} for {query!r}.")
    lists = [one.tolist() if hasattr(one, "tolist") else one for one in lists]
    sizes = np.fromiter(map(len, lists), np.intp, len(lists))
    documents = list(chain.from_iterable(lists))
    if argument == "run":
        values = -np.fromiter(chain.from_iterable(map(range, sizes.tolist())), np.float64, len(documents))
    else:
        values = np.ones(len(documents))
    codes = np.repeat(np.arange(len(lists)), sizes)
    return Lists(argument, list(source), codes, ids_of(documents, argument), values)


def _of_dicts(source: Mapping[Any, Any], lists: list[Mapping[Any, Any]], argument: str) -> Lists:
    """Dicts of labels or scores by document."""
    if any(None in one for one in lists):
        raise ValueError(f"{argument} must not hold missing ids; got None.")
    sizes = np.fromiter(map(len, lists), np.intp, len(lists))
    codes = np.repeat(np.arange(len(lists)), sizes)
    values, documents = np.ones(len(codes)), Objects(lists, np.arange(len(codes)), argument)
    if argument != "exclude":
        values = _to_values(list(chain.from_iterable(one.values() for one in lists)), argument)
    return Lists(argument, list(source), codes, documents, values, unique=True, dicts=source)


def _of_pairs(pairs: list[Any]) -> Lists:
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise TypeError(f"exclude must be {KINDS['exclude']}; got others than tuples of two ids.")
    lists: dict[Any, list[Any]] = {}
    for query, document in pairs:
        lists.setdefault(query, []).append(document)
    return replace(_of_dict(lists, "exclude"), unique=True)  # pairs may be repeated


def _of_array(source: Any, queries: Any) -> Lists:
    """An array of ids, one row per query, as searches for nearest neighbours return them."""
    array = np.asarray(source)
    if isinstance(source, Mapping) or hasattr(source, "columns") or array.ndim != 2:
        raise TypeError("queries= applies only to a run that is a 2-D array of document ids, one row per query.")
    grouping = group_ids(queries, len(array), "queries", "run")
    if len(grouping.ids) < len(array):
        twice = as_python(grouping.ids[np.bincount(grouping.codes) > 1])[0]
        raise ValueError(f"queries has {twice!r} twice.")
    padding = array == -1 if array.dtype.kind in "if" else np.array([[one is None for one in row] for row in array])
    if array.dtype.kind == "f":
        padding |= np.isnan(array)
    rows, ranks = np.nonzero(~padding.reshape(array.shape))
    return Lists("run", as_python(grouping.ids), rows, ids_of(array[rows, ranks], "run"), -ranks.astype(np.float64))


def _of_frame(frame: Any, argument: str, names: ColumnNames) -> Lists:
    columns = list(getattr(frame, "column_names", None) or frame.columns)
    value, ranks = _value_column(columns, argument, names)
    for option, name in (("query", names.query), ("document", names.document), ("label", value)):
        if name is not None and name not in columns:
            option = option if option != "label" or argument == "qrels" else "rank" if ranks else "score"
            raise ValueError(f"{argument} has no column {name!r}; name it with {option}=.{nearest(name, columns)}")
    n_rows = len(frame)
    queries: list[Any] = []
    codes, values = np.zeros(n_rows, dtype=np.intp), np.ones(n_rows)
    if n_rows:
        grouping = group_ids(frame[names.query], n_rows, f"{argument}[{names.query!r}]", argument)
        queries, codes = as_python(grouping.ids), grouping.codes
        values = values if value is None else _to_values(frame[value], argument)
    documents = ids_of(frame[names.document], f"{argument}[{names.document!r}]")
    return Lists(argument, queries, codes, documents, -values if ranks else values, ranks=ranks)


def _value_column(columns: list[Any], argument: str, names: ColumnNames) -> tuple[str | None, bool]:
    """The column of labels, scores or ranks, and whether it holds ranks."""
    if argument == "exclude":
        return None, False
    if argument == "qrels":
        if names.label is None and "label" not in columns:
            if len(columns) == 2:
                return None, False  # all of these documents are relevant
            raise ValueError(
                "qrels has no column 'label'; name it with label=, or pass only the columns of queries and documents "
                f"if all of these documents are relevant. Columns: {', '.join(map(repr, columns[:20]))}."
            )
        return names.label or "label", False
    if names.score is not None and names.rank is not None:
        raise ValueError("Pass either score= or rank=, since one of them orders the documents; got both.")
    if names.score is None and (names.rank is not None or ("rank" in columns and "score" not in columns)):
        return names.rank or "rank", True
    return names.score or "score", False


def _to_values(values: Any, argument: str) -> FloatArray:
    """Labels or scores as float64."""
    if not len(values):
        return np.empty(0)
    return to_float64(values, f"{'labels' if argument == 'qrels' else 'scores'} of {argument}")

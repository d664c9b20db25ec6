"""Lists by id: the documents of queries with their labels or scores, and ids as numbers."""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, refuse_masked, to_objects
from skrank_metrics._input.grouping import places_within, stable_order, starts_of
from skrank_metrics._input.id_types import PLAIN, holds_strings, in_arrow, is_zoned, kinds_of
from skrank_metrics._input.query_ids import TO_LIST, as_python, group_ids
from skrank_metrics.reports.facts import ReadFile


@dataclass(frozen=True)
class IdColumn:
    """Ids, one per row."""

    places: NDArray[Any]  # of the ids among the names, or the ids themselves if they are integers
    names: Sequence[Any] | None = None
    kinds: Set[str] = frozenset()  # of the ids; those of different kinds are never equal

    @classmethod
    def from_values(cls, values: list[Any], name: str) -> IdColumn:
        """Ids of Python, one per row, which may be repeated."""
        types = set(map(type, values))
        if types == {int}:
            # Larger integers remain those of Python.
            with suppress(OverflowError):
                return cls.from_integers(np.fromiter(values, np.int64, len(values)))
        names = values if types <= PLAIN else valid_ids(values, name)
        return cls(np.arange(len(values)), names, kinds_of(names))

    @classmethod
    def from_integers(cls, integers: NDArray[np.integer[Any]]) -> IdColumn:
        """Integers, in half of the memory if they are small enough."""
        low, high = integers.min(), integers.max()
        narrow = -(2**31) <= low <= high < 2**31
        return cls(integers.astype(np.int32 if narrow else np.int64), kinds={"number"})

    @classmethod
    def from_column(cls, column: Any, name: str) -> IdColumn:
        """Ids of any library, none of which may be missing."""
        refuse_masked(column, name)
        if not len(column):
            return cls(np.arange(0))
        column = plain_column(column)
        kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
        if "int" in kind:
            array = np.asarray(column)
            if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.max() < 2**63):
                return cls.from_integers(array)
        grouping = group_ids(column, len(column), name)
        names = python_ids(grouping.ids)
        return cls(grouping.codes, names, kinds_of(names))

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: IntArray) -> IdColumn:
        return replace(self, places=self.places[rows])

    def tolist(self) -> list[Any]:
        """One id per row."""
        if self.names is None:
            return self.places.tolist()
        return list(map(self.names.__getitem__, self.places.tolist()))

    def different(self) -> Sequence[Any]:
        """All ids, each at least once."""
        return self.numbered()[0]

    def numbered(self) -> tuple[Sequence[Any], IntArray]:
        """All ids, each at least once, and the place of each row's id among them."""
        if self.names is not None:
            return self.names, self.places
        ids, places = np.unique(self.places, return_inverse=True)
        return ids.tolist(), places


def valid_ids(values: Iterable[Any], name: str) -> list[Any]:
    """Ids that can be compared, none of which may be missing."""
    ids = list(values)
    if not set(map(type, ids)) <= PLAIN:
        group_ids(to_objects(ids), len(ids), name)
    return comparable(ids)


def is_from(value: Any, library: str) -> bool:
    """Whether a value is an object of a library."""
    return type(value).__module__.partition(".")[0] == library


def plain_column(column: Any) -> Any:
    """Values that NumPy does not have or would change, such as times with a zone, as pyarrow's or Python's."""
    column = in_arrow(column)
    # NumPy has no integers of 128 bits.
    if str(getattr(column, "dtype", "")) in TO_LIST:
        return column.to_list()
    if not is_from(column, "pyarrow"):
        return column
    from pyarrow import types

    # All other types become objects of Python, since NumPy gives scalars that equal nothing else.
    kept = types.is_integer(column.type) and not column.null_count
    grouped = holds_strings(column) or is_zoned(column) or types.is_dictionary(column.type)
    if kept or grouped:
        return column
    return column.to_pylist()


def python_ids(ids: NDArray[Any]) -> list[Any]:
    """Ids as objects of Python that equal those of other libraries."""
    return comparable(as_python(ids))


def comparable(ids: list[Any]) -> list[Any]:
    """Ids that equal the same ids of other libraries; times of NumPy have a type for each resolution."""
    if set(map(type, ids)) <= PLAIN or "pandas" not in sys.modules:
        return ids
    pandas = sys.modules["pandas"]
    kinds = {np.datetime64: pandas.Timestamp, np.timedelta64: pandas.Timedelta}
    converted = list(ids)
    for place, one in enumerate(ids):
        if type(one) in kinds:
            converted[place] = kinds[type(one)](one)
    return converted


def number_alike(columns: Sequence[IdColumn]) -> list[NDArray[Any]]:
    """Numbers that are equal exactly if the ids are equal in Python."""
    if all(ids.names is None for ids in columns):
        return [ids.places for ids in columns]
    # Each id that the table does not have yet gets the next number.
    table: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    numbered = []
    for ids in columns:
        names, places = ids.numbered()
        numbers = np.fromiter(map(table.__getitem__, names), np.intp, len(names))
        numbered.append(numbers[places])
    return numbered


@dataclass(frozen=True)
class JoinedLists:
    """Documents of queries with their labels or scores, one row each."""

    argument: str  # that they came as
    queries: list[Any]  # different ids, also of queries without rows
    codes: NDArray[np.int32]  # the number of the query of each row
    documents: IdColumn
    values: FloatArray
    # The documents of these queries, and perhaps of others, in Python's lists or dicts; None if one is twice.
    given: Mapping[Any, Collection[Any]] | None = None
    in_trec: bool = False  # whether they came in the format of TREC
    ranked: bool = False  # whether values are negative ranks instead of scores
    score_type: str | None = None  # in which scores are to be compared
    read: ReadFile | None = None  # from a file

    @classmethod
    def empty(cls, argument: str) -> JoinedLists:
        """No lists at all."""
        empty = np.empty(0)
        return cls(argument, [], empty.astype(np.int32), IdColumn(empty.astype(np.int64)), empty)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: IntArray) -> JoinedLists:
        """Some of the rows."""
        return replace(
            self,
            codes=self.codes[rows],
            documents=self.documents[rows],
            values=self.values[rows],
            given=None,
        )

    def of_queries(self, queries: list[Any]) -> JoinedLists:
        """The rows of some queries, in the order of these queries."""
        # Queries of the run that are not in qrels come last, and lose their rows.
        place = dict(zip(queries, itertools.count()))
        places = map(place.get, self.queries, itertools.repeat(len(queries)))
        codes = np.fromiter(places, np.int32, len(self.queries))[self.codes]
        lists = replace(self, queries=queries, codes=codes)
        n_kept = np.count_nonzero(codes < len(queries))
        if n_kept == len(codes) and (codes[1:] >= codes[:-1]).all():
            return lists
        taken = lists.take(stable_order(codes)[:n_kept].astype(np.intp))
        # All documents of these queries are still there, in their order.
        return replace(taken, given=self.given)

    def as_text(self) -> JoinedLists:
        """The same lists with text as ids."""
        names, places = self.documents.numbered()
        queries = list(map(_text, self.queries))
        if len(set(queries)) < len(queries):
            query = max(queries, key=queries.count)
            raise ValueError(f"{self.argument} has different query ids that are {query!r} as text.")
        documents = IdColumn(places, list(map(_text, names)), {"text"})
        return replace(self, queries=queries, documents=documents, given=None)

    def pair(self, row: int) -> str:
        """The query and the document of a row, in words."""
        (document,) = self.documents[np.array([row])].tolist()
        return f"document {document!r} of query {self.queries[self.codes[row]]!r}"


def _text(one: Any) -> str:
    if isinstance(one, bytes):
        return one.decode()
    # Whole numbers are the same ids in all types.
    is_whole = isinstance(one, Number) and one == int(one)  # type: ignore[call-overload]
    return str(int(one) if is_whole else one)


def lists_of_documents(
    argument: str, queries: list[Any], sizes: IntArray, documents: IdColumn
) -> JoinedLists:
    """Lists of the documents in their order, which is that of the ranks of a run; otherwise, each has the value 1."""
    codes = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    if argument != "run":
        return JoinedLists(argument, queries, codes, documents, np.ones(len(codes)))
    ranks = places_within(sizes).astype(np.float64)
    return JoinedLists(argument, queries, codes, documents, -ranks, ranked=True)


def equal_to_next(*columns: NDArray[Any]) -> Mask:
    """Whether each row but the last equals the next one in all columns."""
    equal: Mask = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
    return equal


def from_ranks(lists: JoinedLists, column: Any) -> JoinedLists:
    """Lists whose values are ranks, since the column is named as such; none may be twice in a list."""
    order = np.lexsort((lists.values, lists.codes))
    repeated = order[1:][equal_to_next(lists.codes[order], lists.values[order])]
    if len(repeated):
        row = int(repeated.min())
        raise ValueError(f"run has rank {lists.values[row]:g} twice, again for {lists.pair(row)}.")
    lowest = lists.values.min(initial=0)
    if lowest < 0:
        raise ValueError(
            f"run has rank {lowest:g}, but 1 is the first rank. If the largest number is the best, pass "
            f"columns={ {'score': column} }."
        )
    return replace(lists, values=-lists.values, ranked=True)


def check_counted(lists: JoinedLists, column: Any) -> None:
    """Refuse a column that looks like ranks, but could hold scores: its values do not count in each list."""
    order = stable_order(lists.codes)
    sizes = np.bincount(lists.codes)
    ranks = lists.values[order]
    # The first rank is 1 or 0.
    first = ranks[starts_of(sizes)] > 0
    wrong = order[ranks != places_within(sizes) + np.repeat(first, sizes)]
    # Whatever has no rank has an error of its own.
    if len(wrong) and not np.isnan(ranks).any():
        row = int(wrong[0])
        raise ValueError(
            f"Column {column!r} of the run could hold ranks or scores: it does not count 1, 2, 3, ... from row to row "
            f"in each list, as {lists.values[row]:g} for {lists.pair(row)} shows. Pass columns={ {'rank': column} } if "
            f"the smallest number is the best, columns={ {'score': column} } if the largest is."
        )

"""Documents of queries: ids as strings, integers or objects, and pairs matched by 64-bit keys."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._input.id_hash import Hashes, Strings, mix, slabs
from skrank_metrics._input.query_ids import group_ids
from skrank_metrics.sources.tables import plain_array


@dataclass(frozen=True)
class Keys:
    """The keys of dicts, in an array only if some are needed."""

    dicts: Sequence[Collection[Any]]

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self._array[rows]

    def tolist(self) -> list[Any]:
        """The keys of all dicts."""
        return list(chain.from_iterable(self.dicts))

    @cached_property
    def _array(self) -> NDArray[Any]:
        return np.fromiter(
            chain.from_iterable(self.dicts), dtype=object, count=sum(map(len, self.dicts))
        )


Ids: TypeAlias = Strings | NDArray[Any] | Keys  # arrays of 64-bit integers or of objects


def ids_of(column: Any, name: str) -> Ids:
    """Ids of documents of any kind, none of which may be missing."""
    if (strings := _arrow_strings(column)) is not None:
        return strings
    array = np.asarray(column) if hasattr(column, "dtype") or hasattr(column, "type") else None
    if (
        array is not None
        and array.dtype.kind in "iu"
        and (array.dtype != np.uint64 or array.max(initial=0) < 2**63)
    ):
        return array.astype(np.int64, copy=False)
    values = array.tolist() if array is not None and array.dtype.kind in "USOT" else list(column)
    kinds = set(map(type, values))
    if kinds <= {str}:
        return Strings.of(values)
    if kinds == {int} and min(values) >= -(2**63) and max(values) < 2**63:
        return np.array(values, dtype=np.int64)
    objects = np.fromiter(
        values, dtype=object, count=len(values)
    )  # NumPy would make rows of tuples
    grouping = group_ids(objects, len(values), name)
    return grouping.spread(grouping.ids)


def _arrow_strings(column: Any) -> Strings | None:
    """Strings of a library without an object of Python for each; None if these are no strings, or some are missing."""
    library = type(column).__module__.partition(".")[0]
    if library not in ("pandas", "polars", "pyarrow") or str(getattr(column, "dtype", "")) in (
        "object",
        "int64",
    ):
        return None
    try:
        import pyarrow as pa

        arrow = (
            column.to_arrow()
            if library == "polars"
            else column
            if library == "pyarrow"
            else pa.array(column)
        )
        arrow = plain_array(arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow)
    except (ImportError, TypeError, ValueError):  # pyarrow's errors are among these
        return None
    strings = pa.types.is_string(arrow.type) or pa.types.is_large_string(arrow.type)
    return Strings.of_arrow(arrow) if strings and len(arrow) and not arrow.null_count else None


@dataclass(frozen=True)
class Lists:
    """Documents of queries with their labels or scores, one row each."""

    argument: str  # that they came as
    queries: list[Any]  # different ids, also of queries without rows
    codes: IntArray  # the number of the query of each row
    documents: Ids
    values: FloatArray
    in_trec: bool = False  # whether they came in the format of TREC
    unique: bool = False  # whether no document can be twice in a list
    dicts: Mapping[Any, Mapping[Any, Any]] | None = (
        None  # the source, if it has a dict for each query
    )

    def __getitem__(self, rows: Any) -> Lists:
        found = replace(
            self, codes=self.codes[rows], documents=self.documents[rows], values=self.values[rows]
        )
        if "keys" in vars(self):
            vars(found)["keys"] = self.keys[rows]
        return found

    def of_queries(self, queries: list[Any]) -> Lists:
        """The rows of some queries, which are numbered in the given order."""
        if queries == self.queries:
            return self
        place = {query: number for number, query in enumerate(queries)}
        codes = np.array([place.get(query, -1) for query in self.queries], dtype=np.intp)[
            self.codes
        ]
        found = replace(self, queries=queries, codes=codes)
        return found if codes.min(initial=0) >= 0 else found[codes >= 0]

    def converted(self) -> Lists:
        """The same lists; ids of one type are strings or integers."""
        if not _holds_objects(self.documents):
            return self
        return replace(self, documents=ids_of(self.documents.tolist(), self.argument))

    def pair(self, row: int) -> str:
        """The query and the document of a row, in words."""
        return f"document {self.documents[[row]].tolist()[0]!r} of query {self.queries[self.codes[row]]!r}"

    @cached_property
    def keys(self) -> Hashes:
        """A hash for each pair of a query and a document; different pairs are unlikely to have the same one."""
        keys = np.empty(len(self.codes), dtype=np.uint64)
        ids: Any = self.documents
        found = ids.hashes() if isinstance(ids, Strings) else mix(ids.view(np.uint64))
        for rows in slabs(len(keys)):
            keys[rows] = mix(found[rows] ^ mix(self.codes[rows].astype(np.uint64)))
        return keys

    def repeated(self) -> int | None:
        """The row of a pair that an earlier row has; None if there is none."""
        keys = np.sort(self.keys)
        if not (keys[1:] == keys[:-1]).any():
            return None
        seen: set[Any] = set()
        for row, pair in enumerate(zip(self.codes.tolist(), self.documents.tolist(), strict=True)):
            if pair in seen:
                return row
            seen.add(pair)
        return None  # different pairs with one key

    def match(self, other: Lists) -> tuple[IntArray, IntArray]:
        """Rows with pairs that the other has, and their rows there."""
        rows, places = find(self.keys, other.keys)
        ids, others = self.documents[rows], other.documents[places]
        equal = ids.equals(others) if isinstance(ids, Strings) else ids == others
        if (equal & (self.codes[rows] == other.codes[places])).all():
            return rows, places
        # Different pairs have one key.
        pairs, among = (
            zip(part.codes.tolist(), part.documents.tolist(), strict=True) for part in (self, other)
        )
        table = {pair: place for place, pair in enumerate(among)}
        places = np.array([table.get(pair, -1) for pair in pairs], dtype=np.intp)
        rows = np.flatnonzero(places >= 0)
        return rows, places[rows]


def comparable(parts: Sequence[Lists]) -> list[Lists]:
    """The same lists, such that equal documents have equal ids of one type, strings or integers."""
    parts = [part.converted() for part in parts]
    columns = [part.documents for part in parts]
    if len(set(map(type, columns))) == 1 and not any(map(_holds_objects, columns)):
        return parts
    # Ids that are equal in Python have one number.
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    lists = [ids.tolist() for ids in columns]
    found = [np.fromiter(map(numbers.__getitem__, ids), np.int64, len(ids)) for ids in lists]
    return [replace(part, documents=ids) for part, ids in zip(parts, found, strict=True)]


def _holds_objects(ids: Ids) -> bool:
    return isinstance(ids, Keys) or (isinstance(ids, np.ndarray) and ids.dtype != np.int64)


def find(wanted: Hashes, among: Hashes) -> tuple[IntArray, IntArray]:
    """Positions in ``wanted`` of keys that occur in ``among``, and their positions there."""
    # Most keys occur in only one of the two, which a table of their last bits shows faster than a search.
    table = np.zeros(2 ** min(max(len(among).bit_length() + 4, 16), 24), dtype=bool)
    last = np.uint64(len(table) - 1)
    table[among & last] = True
    found_in = [
        np.flatnonzero(table[wanted[part] & last]) + part.start for part in slabs(len(wanted))
    ]
    rows: IntArray = np.concatenate([*found_in, np.empty(0, dtype=np.intp)])
    order = np.argsort(among)
    among = among[order]
    places = np.minimum(np.searchsorted(among, wanted[rows]), len(order) - 1)
    found: Mask = among[places] == wanted[rows]
    return rows[found], order[places[found]]

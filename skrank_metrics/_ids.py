"""Query ids: where they come from, what they may be, and how rows are grouped by them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skrank_metrics._validation import IntArray, refuse_masked, to_array


def resolve_ids(y: Any, **sources: Any) -> tuple[Any, str]:
    """Query ids and the name of where they were found: the first source given, else the index of ``y``.

    The order of the keywords is the order of precedence. ``(None, "")`` where there are none.
    """
    for name, ids in sources.items():
        if ids is not None:
            return ids, name
    index = getattr(y, "index", None)
    if "qid" in (getattr(index, "names", None) or ()):
        return index.get_level_values("qid"), "qid"  # type: ignore[union-attr]
    return None, ""


def missing_ids_message(who: str, *, in_search: bool = True) -> str:
    """Say that a query id is needed and none was given, and what to do."""
    message = (
        f"{who} needs the query id of each document (qid), and got none. Pass qid=<one query id a document>, or let y "
        "carry the ids in an index level named 'qid': with_qid(y, qid)."
    )
    hint = (
        " Inside scikit-learn's model selection with_qid always works; groups= and qid= arrive everywhere only with "
        "sklearn.set_config(enable_metadata_routing=True)."
    )
    return message + (hint if in_search else "")


def check_aligned(**columns: Any) -> None:
    """Refuse pandas objects with the same index labels in different orders.

    Rows are taken by position, as scikit-learn does. Equal labels in another order mean that one of two columns was
    sorted or shuffled without the other, or that an index was carried along that means nothing: no guess is safe.
    """
    indexes = {n: column.index for n, column in columns.items() if hasattr(getattr(column, "index", None), "equals")}
    for (first, one), (second, other) in itertools.pairwise(indexes.items()):
        if len(one) == len(other) and not one.equals(other) and set(one) == set(other):
            raise ValueError(
                f"{second} must have the same index as {first}; got the same labels in different orders, while rows "
                f"are taken by position. Align the two, or pass {second}.to_numpy() where the positions do match."
            )


def check_ids(ids: Any, n_rows: int, name: str = "qid", rows_of: str = "y_true") -> NDArray[Any]:
    """Ids as a 1-D array with one id a row and none missing, of whatever type they are."""
    refuse_masked(ids, name)
    array = _to_id_array(ids, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, one query id a document; got {array.ndim} dimensions.")
    if len(array) != n_rows:
        raise ValueError(f"{name} must have the same length as {rows_of}; got {len(array)} and {n_rows}.")
    kind = array.dtype.kind
    if kind not in "biufOUSMmT":
        raise TypeError(f"{name} must hold integers, strings or other ids; got dtype {array.dtype}.")
    if kind == "T":
        array = array.astype(object)
    missing = np.zeros(0, dtype=bool)
    if kind == "f":
        missing = np.isnan(array)
    elif kind in "mM":
        missing = np.isnat(array)
    elif array.dtype.kind == "O":
        missing = _missing_objects(array, name)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(f"{name} must not hold missing ids; got {array[row]} at row {row}.")
    return array


def _to_id_array(ids: Any, name: str) -> NDArray[Any]:
    # np.asarray turns [1, "1"] into two equal strings and [2**60, 0.5] into floats: two queries would become one.
    if isinstance(ids, list | tuple) and len({type(value) for value in ids}) > 1:
        array = np.empty(len(ids), dtype=object)
        array[:] = ids
        return array
    try:
        return np.asarray(ids)
    except ValueError:
        raise ValueError(f"{name} must be 1-D, one query id a document; got rows of different lengths.") from None


def _missing_objects(array: NDArray[Any], name: str) -> NDArray[np.bool_]:
    # Different values are few; only where one of them is missing is every row looked at.
    try:
        different = dict.fromkeys(array.tolist())
    except TypeError:
        raise TypeError(f"{name} must hold hashable ids such as integers or strings; got unhashable ones.") from None
    if not any(map(_is_missing, different)):
        return np.zeros(0, dtype=bool)
    return np.fromiter(map(_is_missing, array), dtype=bool, count=len(array))


def _is_missing(value: Any) -> bool:
    # pandas' NA refuses bool(NA != NA); it and NaT are known by the name of their type, without importing pandas.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


@dataclass(frozen=True)
class Grouping:
    """Rows grouped by query, queries in order of first appearance, rows of a query in their given order."""

    ids: NDArray[Any]  # one id a query
    sizes: IntArray  # documents of each query
    order: IntArray | None  # the rows with each query in one piece; None where they are so already

    @cached_property
    def starts(self) -> IntArray:
        """Place of the first document of each query once rows are in ``order``."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def codes(self) -> IntArray:
        """The number of the query of each row, rows as they were given."""
        codes = np.repeat(np.arange(len(self.ids)), self.sizes)
        if self.order is not None:
            codes[self.order] = codes.copy()
        return codes


def group_rows(ids: NDArray[Any]) -> Grouping:
    """Group rows by id; sorted or otherwise contiguous ids cost one comparison a row."""
    different, codes, run_sizes = _number_runs(ids)
    if len(different) == len(codes):
        return Grouping(different, run_sizes, None)
    codes = np.repeat(codes, run_sizes)
    return Grouping(different, np.bincount(codes), _stable_order(codes))


def _stable_order(codes: IntArray) -> IntArray:
    """Rows with equal codes in one piece, codes ascending, in their given order within a piece."""
    # With one entry a row of a sparse matrix, the change to columns is a counting sort: three times as fast as sorting.
    n = len(codes)
    index = np.int32 if n < np.iinfo(np.int32).max else np.int64
    matrix = sparse.csr_array((np.ones(n, dtype=np.int8), codes.astype(index), np.arange(n + 1, dtype=index)))
    return matrix.tocsc().indices.astype(np.intp)


@dataclass(frozen=True)
class NumberedRows:
    """Rows with the number of their query, for those who need no grouping: shuffled rows then cost no sort of all."""

    ids: NDArray[Any]  # one id a query, in order of first appearance
    sizes: IntArray  # documents of each query
    codes: IntArray  # the number of the query of each row


def number_rows(ids: NDArray[Any]) -> NumberedRows:
    """Number the queries of rows in order of first appearance."""
    different, codes, run_sizes = _number_runs(ids)
    codes = np.repeat(codes, run_sizes)
    return NumberedRows(different, np.bincount(codes), codes)


def _number_runs(ids: NDArray[Any]) -> tuple[NDArray[Any], IntArray, IntArray]:
    """Different ids in order of first appearance, and number and length of each run of equal ids."""
    # Runs are what has to be numbered, not rows: there are few unless the rows are shuffled.
    run_starts = np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1))
    codes, first_runs = _number_by_first_appearance(ids[run_starts])
    return ids[run_starts[first_runs]], codes, np.diff(run_starts, append=len(ids))


def _number_by_first_appearance(values: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Number of each value in order of first appearance, and the places of these appearances."""
    codes = _codes(values)
    first = np.full(codes.max() + 1, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several assignments to a place the last one stays
    seen = np.flatnonzero(first < len(codes))
    by_appearance = seen[np.argsort(first[seen])]
    numbers = np.empty_like(first)
    numbers[by_appearance] = np.arange(len(seen))
    return numbers[codes], first[by_appearance]


def _codes(values: NDArray[Any]) -> IntArray:
    """Equal numbers >= 0 for equal values, not many more than there are values."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values):  # a table with holes is ten times as fast as sorting
            wide = np.uint64 if values.dtype.kind == "u" else np.int64  # differences of small integers overflow
            return (values.astype(wide, copy=False) - wide(low)).astype(np.intp, copy=False)
    return np.unique(values, return_inverse=True)[1] if values.dtype.kind in "biufmM" else _hash_codes(values)


def _hash_codes(values: NDArray[Any]) -> IntArray:
    # Sorting strings is ten times slower, and ids of mixed types have no order.
    codes: dict[Any, int] = {}
    return np.fromiter((codes.setdefault(v, len(codes)) for v in values.tolist()), dtype=np.intp, count=len(values))


def concatenate_ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """``[start, start + 1, ..., start + size - 1]`` of every pair, one after the other."""
    shifts = starts - (np.cumsum(sizes) - sizes)
    return np.repeat(shifts, sizes) + np.arange(int(sizes.sum()))


def with_qid(y: Any, qid: Any) -> Any:
    """Labels that carry their query ids through scikit-learn, in the index of a pandas Series.

    scikit-learn slices ``y`` in every fold and keeps its index, so that scorers, splitters and rankers of this
    package find the ids there without metadata routing.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        Relevance labels.
    qid : array-like of shape (n_documents,)
        Query id of each document, in the row order of ``y``.

    Returns
    -------
    pandas.Series of shape (n_documents,)
        The labels, with the ids in an index level named "qid".

    Raises
    ------
    ImportError
        Where pandas is not installed.
    ValueError
        Where lengths differ, an id is missing, or ``y`` and ``qid`` are Series with their index in different orders.

    Examples
    --------
    >>> from skrank_metrics import with_qid
    >>> y = with_qid([1, 0, 2], ["a", "a", "b"])
    >>> list(y.index.get_level_values("qid"))
    ['a', 'a', 'b']
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "with_qid needs pandas (pip install pandas). Without it, enable metadata routing and pass groups=qid."
        ) from None
    if qid is None:
        raise TypeError("qid must hold one query id a document; got None.")
    labels = to_array(y, "y")
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D, one label a document; got shape {labels.shape}.")
    ids = check_ids(qid, len(labels), "qid", "y")
    check_aligned(y=y, qid=qid)
    return pd.Series(labels, index=pd.Index(ids, name="qid"), name=getattr(y, "name", None))

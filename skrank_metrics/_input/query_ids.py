"""Query ids: where they come from and what they may be."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import refuse_masked


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

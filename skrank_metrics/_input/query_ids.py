"""Query ids: their sources and valid values."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import (
    Mask,
    as_numpy,
    check_mask,
    refuse_lazy,
    refuse_masked,
    refuse_name,
    to_objects,
)
from skrank_metrics._input.columns import lists_as_objects
from skrank_metrics._input.grouping import (
    Grouping,
    group_codes,
    group_rows,
    one_per_query,
    query_weights,
)
from skrank_metrics._input.id_types import (
    PLAIN,
    check_ids,
    codes_of_library,
    codes_of_objects,
    in_arrow,
    plain_list,
    refuse_alike,
)

T = TypeVar("T")

# Levels of an index of labels that are columns of the data, besides "qid"; all others are labels of rows.
CARRIED = ("retrieved", "judged", "sample_weight")
# The level for the times by which queries are split.
TIME = "qid.time"
# Levels that begin like this are columns of documents for custom metrics.
OF_DOCUMENTS = "documents."


# Rows that show whether equal ids follow each other.
SAMPLE = 1_000

HOW_TO_PASS_IDS = (
    "Pass qid=<one query id per document>, or labels that carry the ids: with_qid(y, qid)."
)


def group_by_query(
    n_rows: int,
    caller: str,
    *,
    y: Any = None,
    qid: Any = None,
    groups: Any = None,
    unit: bool = False,
    rows_of: str = "y",
    hint: str = "",
    X: Any = None,
    **columns: Any,
) -> Grouping:
    """Group rows by query, after checking that all sources of ids and all columns agree.

    The ids are ``qid``, else the index level "qid" of ``y``, else ``groups``; with ``unit=True`` first ``groups``, that
    a split must keep together and that must not cut a query. ``caller`` needs the ids, ``rows_of`` names the argument
    with ``n_rows`` rows, and ``hint`` says how to pass ids if not to a function.
    """
    labels = "y_true" if rows_of == "y_true" else "y"
    columns = {"X": X, labels: y, **columns}
    check_aligned(**columns, qid=qid, groups=groups)
    queries = None
    if qid is not None or ids_in_index(y) is not None:
        carried = {
            f"the index level 'qid' of {name}": ids_in_index(columns[name])
            for name in (labels, *columns)
        }
        queries = _agreeing({"qid": qid, **carried}, n_rows, rows_of)
    if queries is not None and (groups is None or groups is qid or not unit):
        return queries
    if groups is None:
        hint = hint or HOW_TO_PASS_IDS
        raise TypeError(f"{caller} needs the query id of each document (qid), and got none. {hint}")
    units = group_ids(groups, n_rows, "groups", rows_of)
    refuse_alike("groups", units.ids)
    if queries is not None:
        id_per_query(
            units, queries, "groups", "Put all rows of a query in one group, or pass groups=qid."
        )
    return units


def _agreeing(sources: dict[str, Any], n_rows: int, rows_of: str) -> Grouping:
    """Group rows by the first source of ids, with which all others must agree."""
    groupings = {
        name: group_ids(ids, n_rows, "qid", rows_of) for name, ids in _without_none(sources).items()
    }
    first, *others = groupings
    queries = groupings[first]
    refuse_alike(first, queries.ids)
    for name in others:
        hint = "Pass one of the two."
        id_per_query(groupings[name], queries, f"{first} must agree with {name}, which", hint)
        id_per_query(queries, groupings[name], f"{name} must agree with {first}, which", hint)
    return queries


def ids_in_index(y: Any) -> Any:
    """Ids in the index level "qid" of a pandas object, else None."""
    return _level(y, "qid")


def _level(y: Any, name: str) -> Any:
    index: Any = getattr(y, "index", None)
    return index.get_level_values(name) if name in _names_of_levels(y) else None


def _names_of_levels(y: Any) -> Any:
    return getattr(getattr(y, "index", None), "names", None) or ()


def carried(y: Any, **columns: Any) -> dict[str, Any]:
    """Columns as given, or else from the index level of that name of 1-D labels; the two must agree."""
    return {name: _carried_column(y, name, column) for name, column in columns.items()}


def carried_documents(y: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of documents as given, and those in the index of 1-D labels; the same column must agree."""
    found = dict(columns)
    for level in _names_of_levels(y):
        if isinstance(level, str) and level.startswith(OF_DOCUMENTS):
            name = level.removeprefix(OF_DOCUMENTS)
            found[name] = _carried_column(y, level, columns.get(name))
    return found


def _carried_column(y: Any, name: str, given: Any) -> Any:
    level = _level(y, name)
    if level is None or getattr(y, "ndim", 1) != 1:
        return given
    level = as_numpy(level)
    if given is None:
        return level
    if not np.array_equal(as_numpy(lists_as_objects(given)), level):
        raise ValueError(
            f"{name} must agree with the index level {name!r} of the labels. Pass one of the two."
        )
    return given


def check_columns(columns: Mapping[str, Any], queries: Grouping) -> dict[str, NDArray[Any]]:
    """Check masks and weights of the rows of y, and leave out those that are None."""
    checked = _without_none(columns)
    for name, column in checked.items():
        if name == "sample_weight":
            checked[name] = query_weights(column, queries)[queries.codes]
        else:
            checked[name] = check_mask(column, name, queries.codes.shape, "y")
    return checked


def named_columns(**given: Any) -> dict[str, Any]:
    """Columns by their names in errors; a dict holds several."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            found |= {f"{name}[{key!r}]": column for key, column in value.items()}
        else:
            found[name] = value
    return found


def check_aligned(**columns: Any) -> None:
    """Refuse pandas objects whose indexes do not name the same rows in the same order.

    Rows are taken by position, as in scikit-learn: other labels, or another order, may mean that one column was sorted
    or filtered without the other. A default index, 0 to n - 1, is not compared with other labels, and not at all for
    predictions in a new Series; integers, which may be part of one, are not compared with labels of other types.
    """
    labelled = _without_none({name: row_labels(column) for name, column in columns.items()})
    for (first, one), (second, other) in itertools.combinations(labelled.items(), 2):
        # Columns of different lengths get an error about the lengths, which says more.
        if len(one) != len(other) or one.equals(other):
            continue
        is_reordered = _same_labels(one, other)
        counting = [name for name, index in ((first, one), (second, other)) if counts_rows(index)]
        if any(_is_prediction(name, columns[name]) for name in counting):
            continue
        unlike = _holds_integers(one) != _holds_integers(other)
        if (counting or unlike) and not is_reordered:
            continue
        raise _unaligned(second, first, "index", "rows", is_reordered)


def _is_prediction(name: str, column: Any) -> bool:
    """Whether scores were put into a new Series, which has no name, unlike a column of a frame."""
    return name.startswith(("y_score", "scores[")) and getattr(column, "name", None) is None


def _unaligned(name: str, other: str, labels: str, what: str, is_reordered: bool) -> ValueError:
    got = "different labels"
    if is_reordered:
        got = "the same labels in different orders"
    return ValueError(
        f"{name} must have the same {labels} as {other}; got {got}, while {what} are taken by position. Align the two, "
        f"or pass {name}.to_numpy() if the positions do match."
    )


def _without_none(values: Mapping[str, T | None]) -> dict[str, T]:
    return {name: value for name, value in values.items() if value is not None}


def check_documents_aligned(**frames: Any) -> None:
    """Refuse frames with one query per row whose columns do not name the same documents in the same order.

    Columns are taken by position. Default names, and names that the other frame does not have, are not compared.
    """
    named = _without_none({name: _columns_of(frame) for name, frame in frames.items()})
    for (first, one), (second, other) in itertools.combinations(named.items(), 2):
        if one != other and not set(one).isdisjoint(other):
            raise _unaligned(second, first, "columns", "columns", set(one) == set(other))


def check_order_of_queries(column: Any, ids: NDArray[Any], name: str) -> None:
    """Refuse a pandas object with one value per query whose index holds the ids of the queries in another order.

    Any other index is not compared, since it may be that of rows, one per query; the default one says nothing.
    """
    index = getattr(column, "index", None)
    if not hasattr(index, "get_level_values") or counts_rows(index):
        return
    labels = ids_in_index(column)
    named = as_python(np.asarray(index if labels is None else labels))
    known = as_python(ids)
    if named != known and set(named) == set(known):
        raise ValueError(
            f"{name} must be in the order of report.qid; got the same ids in different orders, while values are taken "
            f"by position. Pass {name}.loc[report.qid], or {name}.set_axis(report.qid) if the positions do match."
        )


def _columns_of(frame: Any) -> list[Any] | None:
    attribute = "column_names" if hasattr(frame, "to_batches") else "columns"
    columns = getattr(frame, attribute, None)
    if columns is None or counts_rows(columns):
        return None
    return list(columns)


def row_labels(column: Any) -> Any:
    """Index of a pandas object without the levels that are columns of the data, such as query ids, else None."""
    index: Any = getattr(column, "index", None)
    if not hasattr(index, "get_level_values"):
        return None
    columns = [level for level, name in enumerate(index.names) if _is_column(name)]
    return None if len(columns) == index.nlevels else index.droplevel(columns)


def _is_column(level: Any) -> bool:
    if not isinstance(level, str):
        return False
    return level in ("qid", TIME, *CARRIED) or level.startswith(OF_DOCUMENTS)


def without_labels(column: Any) -> Any:
    """A column without the labels of its rows, but with the query ids and other columns in its index."""
    if row_labels(column) is None:
        return column
    others = [level for level, name in enumerate(column.index.names) if not _is_column(name)]
    return np.asarray(column) if len(others) == column.index.nlevels else column.droplevel(others)


def counts_rows(index: Any) -> bool:
    """Whether an index is the default one of pandas, 0 to n - 1."""
    return _holds_integers(index) and bool(index.equals(type(index)(range(len(index)))))


def _holds_integers(index: Any) -> bool:
    return getattr(getattr(index, "dtype", None), "kind", "") in ("i", "u")


def _same_labels(one: Any, other: Any) -> bool:
    return bool(one.isin(other).all() and other.isin(one).all())


def group_ids(
    ids: Any,
    n_rows: int,
    name: str = "qid",
    rows_of: str = "y_true",
    *,
    may_be_missing: bool = False,
) -> Grouping:
    """Group rows by ids, or by slices, which may be missing and have any type.

    All missing slices are one with the id None, as are missing parts of tuples.
    """
    refuse_name(ids, name)
    refuse_masked(ids, name)
    ids = in_arrow(ids)
    codes = codes_of_library(ids)
    is_from_library = codes is not None
    if codes is None:
        ids = _one_per_row(to_id_array(ids, name), name)
        codes = _codes_of_array(ids, name)
    if len(codes) != n_rows:
        raise ValueError(
            f"{name} must have the same length as {rows_of}; got {len(codes)} and {n_rows}."
        )
    if not n_rows:
        raise ValueError(f"{name} must hold at least one value; got none.")
    first, grouping = group_codes(codes)
    different = ids.gather(first) if hasattr(ids, "gather") else ids.take(first)
    if is_from_library:
        different = to_id_array(plain_list(different), name)
    different, missing = _comparable(different)
    if missing.any():
        place = int(np.argmax(missing))
        if not may_be_missing:
            raise ValueError(
                f"{name} must not hold missing ids; got {different[place]} at row {first[place]}."
            )
        different = to_objects(list(map(_none_if_missing, as_python(different))))
    if not may_be_missing:
        check_ids(different, name)
    # Libraries distinguish some ids that are equal in Python.
    if different.dtype.kind != "O" or len(set(different)) == len(different):
        return replace(grouping, ids=different)
    equal = group_rows(different)
    _, merged = group_codes(equal.codes[grouping.codes])
    return replace(merged, ids=equal.ids)


def _codes_of_array(ids: NDArray[Any], name: str) -> NDArray[Any]:
    """Equal numbers for equal ids; ids that compare by themselves need none."""
    if ids.dtype.kind != "O":
        return ids
    try:
        # To compare text with the row before takes half the time of hashing it, if most rows are like that row.
        first = ids[:SAMPLE].tolist()
        if 2 * len(set(first)) < len(first) and set(map(type, ids.tolist())) <= PLAIN:
            return ids
        return codes_of_objects(ids)
    except TypeError:
        raise TypeError(
            f"{name} must hold hashable values such as integers or strings; got unhashable ones."
        ) from None


def _one_per_row(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.ndim == 0:
        refuse_lazy(array.item(), name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, one value per document; got shape {array.shape}.")
    # pandas has no index of float16.
    if array.dtype.kind not in "biufOUSMm" or array.dtype == np.float16:
        raise TypeError(
            f"{name} must hold integers, strings or other ids; got dtype {array.dtype}."
        )
    return array


def _comparable(ids: NDArray[Any]) -> tuple[NDArray[Any], Mask]:
    """Ids that are equal only if their hashes are, and a mask of the missing ones."""
    if ids.dtype.kind != "O":
        # NaN and NaT are unlike themselves.
        return ids, ids != ids
    # This takes a tenth of the time of looking at each.
    if set(map(type, ids)) <= PLAIN:
        return ids, np.zeros(len(ids), dtype=bool)
    # np.int64(2**53 + 1) == np.float64(2**53), but their hashes differ.
    ids = to_objects(list(map(of_python, ids)))
    return ids, np.fromiter(map(is_missing, ids), dtype=bool, count=len(ids))


def id_per_query(ids: Grouping, grouping: Grouping, name: str, hint: str) -> NDArray[Any]:
    """One id per query, such as its slice, from rows grouped by these ids, which must be constant within a query."""
    return ids.ids[one_per_query(ids.codes, grouping, name, hint, ids.ids)]


# Types of polars that NumPy does not have.
TO_LIST = ("Int128", "UInt128")


def to_id_array(ids: Any, name: str) -> NDArray[Any]:
    """Convert ids to an array in which different ids stay different."""
    # NumPy would turn integers of polars with nulls into floats.
    has_nulls = type(ids).__module__.startswith("polars.series") and ids.null_count()
    if has_nulls or str(getattr(ids, "dtype", "")) in TO_LIST:
        ids = ids.to_list()
    try:
        array = to_objects(ids) if _would_change(ids) else np.asarray(ids)
    except ValueError:
        raise ValueError(
            f"{name} must be 1-D, one value per document; got rows of different lengths."
        ) from None
    # The variable-width strings of NumPy 2 have a type that grouping and hashing do not know.
    return array.astype(object) if array.dtype.kind == "T" else array


def _would_change(ids: Any) -> bool:
    r"""Whether np.asarray would turn different ids into equal ones.

    It turns [1, "1"] and ["a", "a\0"] into equal strings, and [2**60, 0.5] and [2**63, -1] into floats.
    """
    if not isinstance(ids, list | tuple):
        return False
    kinds = set(map(type, ids))
    # It keeps only the first characters of subclasses of str. A tuple is one id, a list a row.
    if len(kinds) > 1 or not all(issubclass(kind, _KEPT) for kind in kinds):
        return True
    are_integers = any(issubclass(kind, int) for kind in kinds)
    return are_integers and max(ids) >= 2**63


# What np.asarray does not change.
_KEPT = (int, float, np.number, np.bool_, np.datetime64, list, np.ndarray)


def as_python(ids: NDArray[Any]) -> list[Any]:
    """Ids or slices as Python's own objects, which can be keys and print as expected."""
    if ids.dtype.kind in "mM" and np.datetime_data(ids.dtype)[0] in ("ns", "ps", "fs", "as"):
        # tolist turns nanoseconds into integers.
        in_microseconds = ids.astype(f"{ids.dtype.kind}8[us]")
        is_exact = np.array_equal(in_microseconds, ids, equal_nan=True)
        return in_microseconds.tolist() if is_exact else list(ids)
    values: list[Any] = ids.tolist()
    # Only objects can hold numbers or texts of NumPy that Python has, too; it has no long doubles.
    return list(map(of_python, values)) if ids.dtype.kind == "O" else values


def of_python(value: Any) -> Any:
    """Python's number or text in place of one of NumPy, which prints as np.str_('DE')."""
    # np.timedelta64 is a subclass of np.integer.
    is_time = isinstance(value, np.timedelta64 | np.datetime64)
    return value.item() if isinstance(value, np.generic) and not is_time else value


def _none_if_missing(value: Any) -> Any:
    """None for a missing value, and for the missing parts of a tuple."""
    if isinstance(value, tuple):
        return tuple(map(_none_if_missing, value))
    return None if is_missing(value) else value


def is_missing(value: Any) -> bool:
    """Whether an id is None, NaN, NA or NaT, or a tuple or set with one of these."""
    # These compare NaN by identity.
    if isinstance(value, tuple | frozenset):
        return any(map(is_missing, value))
    # pandas' NA refuses bool(NA != NA); it and NaT are recognized by the name of their type, without importing pandas.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value

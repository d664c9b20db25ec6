"""Checks of arrays, and the wording of their errors."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

# float64 represents every integer up to here; beyond, different scores would become ties.
LARGEST_EXACT_INTEGER = 2**53
EXACT_INTEGERS = "integers within +-2**53, which float64 holds exactly"

UNJUDGED = "Mark unjudged documents with judged= or leave them out; a label that means 'not relevant' is 0."


class NaNScoreError(ValueError):
    """A model predicted NaN. This concerns one candidate of a search; other invalid input concerns all."""


def to_judged_labels(given: NDArray[Any], judged: Mask | None) -> NDArray[Any]:
    """Labels as numbers, of which ``check_labels`` checks the values; those of unjudged documents become 0."""
    # Other types have no 0 to put in place of a label, and are refused below.
    if judged is not None and given.dtype.kind in "biufO":
        given = np.where(judged, given, 0)
    return to_real(given, "y_true")


def check_scores(
    y_score: Any, shape: tuple[int, ...], ranked: Mask | None = None, name: str = "y_score"
) -> FloatArray:
    """Check scores, which must have the shape of the labels, and convert them to float64.

    NaN is refused, except for documents that are not ranked, whose scores are replaced, as they are ignored.
    """
    scores = to_float64(y_score, name)
    hint = " Pass one score per document, not one per class; of several models, pass a dict to evaluate."
    check_shape(scores, name, shape, "y_true", hint)
    if ranked is not None:
        scores = np.where(ranked, scores, 0.0)
    # The minimum passes NaN on, and needs no mask of the size of the scores.
    if np.isnan(scores.min()):
        raise NaNScoreError(f"{_first(name, scores, np.isnan(scores))}.")
    return scores


def check_mask(values: Any, name: str, shape: tuple[int, ...], rows_of: str = "y_true") -> Mask:
    """Check a mask of True and False, which must have the shape of the argument ``rows_of``."""
    mask = to_array(values, name)
    if mask.dtype.kind != "b":
        raise TypeError(
            f"{name} must be a mask of True and False; got an array of dtype {mask.dtype}."
        )
    check_shape(mask, name, shape, rows_of)
    return mask


def check_shape(
    array: NDArray[Any], name: str, shape: tuple[int, ...], rows_of: str, hint: str = ""
) -> None:
    """Refuse an array of another shape than that of the argument ``rows_of``."""
    if array.shape != shape:
        raise ValueError(
            f"{name} must have the same shape as {rows_of}; got {array.shape} and {shape}.{hint}"
        )


def check_label_column(y: Any) -> FloatArray:
    """Check relevance labels ``y``, one per row, and convert them to float64."""
    labels = to_float64(y, "y")
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D, one label per document; got shape {labels.shape}.")
    check_labels(labels, "y", may_be_negative=True)
    return labels


def check_labels(
    labels: NDArray[Any], name: str = "y_true", *, may_be_negative: bool = False
) -> str:
    """Refuse relevance labels that are negative or not finite.

    If they may be negative, return where the first negative label is; "" if there is none.
    """
    # NaN fails both comparisons, and each bound takes only one pass over memory.
    if labels.min() >= 0 and labels.max() < np.inf:
        return ""
    labels = labels.astype(np.float64)
    if not np.isfinite(labels).all():
        raise ValueError(f"{_first(name, labels, ~np.isfinite(labels))}. {UNJUDGED}")
    negative = _first(name, labels, labels < 0)
    if not may_be_negative:
        raise ValueError(f"{negative}. Labels must be >= 0. {UNJUDGED}")
    return negative


def check_weights(
    sample_weight: Any,
    n_expected: int,
    what: str,
    *,
    may_be_zero: bool = False,
) -> FloatArray:
    """Check weights: 1-D, one per document or query, finite and >= 0, and not all zero unless more will follow."""
    weights = to_float64(sample_weight, "sample_weight")
    if weights.shape != (n_expected,):
        raise ValueError(
            f"sample_weight must hold one weight per {what}, {n_expected} in all; got shape "
            f"{weights.shape}."
        )
    valid = (weights >= 0) & (weights < np.inf)
    if not valid.all():
        raise ValueError(
            f"{_first('sample_weight', weights, ~valid)}. Weights must be finite and >= 0."
        )
    if not may_be_zero and not weights.any():
        raise ValueError("sample_weight must not be zero everywhere.")
    return weights


def to_float64(values: Any, name: str) -> FloatArray:
    """Convert a non-empty 1-D or 2-D array of real numbers to float64, without a copy if it is float64 already."""
    return to_real(values, name).astype(np.float64, copy=False)


def to_real(values: Any, name: str) -> NDArray[Any]:
    """Check a non-empty 1-D or 2-D array of numbers, and give it a type that converts to float64 exactly."""
    array = to_array(values, name)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must be 1-D (one entry per document) or 2-D; got {array.ndim} dimensions."
        )
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one document; got shape {array.shape}.")
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got an array of dtype {array.dtype}.")
    # Narrower integers are all within +-2**53.
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        _check_exact(array.min(), array.max(), name)
    if array.dtype.itemsize <= 8:
        return array
    # Long doubles beyond the range of float64 would become ties.
    try:
        with np.errstate(over="raise"):
            return array.astype(np.float64)
    except FloatingPointError:
        raise ValueError(
            f"{name} must hold numbers within the range of float64, up to 1.8e308. Rescale them or pass ranks."
        ) from None


def refuse_name(given: Any, name: str) -> None:
    """Refuse the name of a column in the place of the column."""
    if isinstance(given, str):
        raise TypeError(f"{name} got the text {given!r}. Pass the column, df[{given!r}].")


def to_array(values: Any, name: str) -> NDArray[Any]:
    """Convert an array-like, and refuse masked and ragged arrays, scalars and columns; large integers stay integers."""
    refuse_name(values, name)
    refuse_masked(values, name)
    try:
        array = as_numpy(values)
    except ValueError:
        raise ValueError(
            f"{name} must be a rectangular array; got rows of different lengths. Join them and pass qid=, the query id "
            "of each document."
        ) from None
    if array.ndim == 0:
        refuse_lazy(values, name)
        raise TypeError(
            f"{name} must be an array with one entry per document; got {type(array.item()).__name__}."
        )
    # Taken as queries, its rows would hold one document each, which any model ranks perfectly.
    if array.ndim == 2 and array.shape[1] == 1 < len(array):
        raise ValueError(
            f"{name} must not be a column, since each row of a 2-D array is a query; got shape {array.shape}. "
            f"Pass a 1-D {name}, as returned by .ravel(), and the query ids as qid."
        )
    refuse_rounded(values, array, name)
    return array


def check_times(time: Any, n_rows: int) -> NDArray[Any]:
    """Check one time per row, and convert them to datetime64, or to float64 if they are numbers."""
    times = to_array(time, "time")
    if times.shape != (n_rows,):
        raise ValueError(
            f"time must hold one time per row; got shape {times.shape} with {n_rows} rows."
        )
    if times.dtype.kind in "biu":
        times = to_float64(times, "time")
    elif times.dtype.kind not in "fM":
        import pandas as pd

        # Times of other zones become UTC.
        times = np.asarray(pd.to_datetime(times, format="ISO8601", utc=True), dtype="M8[ns]")
    missing = np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    if missing.any():
        raise ValueError(
            f"time must not be missing; got {times[missing][0]} at row {missing.argmax()}."
        )
    return times


def as_numpy(values: Any) -> NDArray[Any]:
    """NumPy's array of an array-like. Nullable numbers of pandas with missing ones are floats, as NumPy's are."""
    array = np.asarray(values)
    nullable: Any = getattr(values, "dtype", None)
    # Sparse arrays become objects, too, but have a type of NumPy.
    if array.dtype.kind != "O" or isinstance(nullable, np.dtype):
        return array
    if getattr(nullable, "kind", "O") not in ("b", "i", "u", "f"):
        return array
    # pandas before 2.2 makes objects of all of these, later versions only of missing booleans.
    if not values.isna().any():
        return array.astype(nullable.numpy_dtype)
    if nullable.kind == "b":
        return array
    return np.asarray(values.astype(np.float64))


def _as_objects(values: Any) -> NDArray[Any]:
    """The entries of an array-like as objects, before NumPy, or a frame of integers and floats, rounds them."""
    if hasattr(values, "astype"):
        values = values.astype(object)
    elif hasattr(values, "rows"):  # a frame of polars
        values = values.rows()
    elif not hasattr(values, "columns"):
        values = python_list(values)
    return np.array(values, dtype=object)


def to_objects(values: Collection[Any]) -> NDArray[Any]:
    """Values as objects, one each; np.array would make a second dimension of tuples and lists."""
    return np.fromiter(values, dtype=object, count=len(values))


def lengths(values: Collection[Any]) -> IntArray:
    """The length of each value."""
    return np.fromiter(map(len, values), np.intp, len(values))


def places_in(ascending: Sequence[Any] | NDArray[Any], values: Any) -> IntArray:
    """Where sorted numbers hold each value, if they do; the value there may be another."""
    # Beyond the end, any place will do, since it is compared.
    return np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)


def ordinal_codes(values: NDArray[Any]) -> IntArray:
    """Small whole numbers in the same order, equal for equal values."""
    # NumPy's versions differ in the shape of the inverse.
    return np.unique(values, return_inverse=True)[1].reshape(values.shape)


def python_list(column: Any) -> Any:
    """The entries of a column of pandas, polars, pyarrow or NumPy as Python's; anything else as it is."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, method):
            return getattr(column, method)()
    return column


def refuse_rounded(values: Any, array: NDArray[Any], name: str) -> None:
    """Refuse large integers that became floats, as in [2**53 + 1, 0.5] or in columns with missing ones."""
    if array.dtype.kind != "f" or isinstance(getattr(values, "dtype", None), np.dtype):
        return
    if np.any(np.abs(array) >= LARGEST_EXACT_INTEGER):
        _check_exact_among(_as_objects(values).ravel().tolist(), name)


def _check_exact_among(values: list[Any], name: str) -> None:
    exact = [value for value in values if isinstance(value, numbers.Rational)]
    if exact:
        _check_exact(min(exact), max(exact), name)


def refuse_lazy(source: Any, argument: str) -> None:
    """Refuse frames that are not in memory."""
    # Frames of Dask have a length, too, but have to compute it.
    if hasattr(source, "__len__") and not hasattr(source, "dask"):
        return
    for method in ("toPandas", "collect", "compute"):
        if hasattr(source, method):
            raise TypeError(
                f"{argument} must be in memory; got a {type(source).__name__}. Pass {argument}.{method}()."
            )


def refuse_masked(values: Any, name: str) -> None:
    """Refuse masked entries, which would count as soon as the mask is lost."""
    rows = values if holds_masked(values) else [values]
    n_masked = sum(np.ma.getmaskarray(row).sum() for row in rows if np.ma.isMA(row))
    if n_masked:
        raise ValueError(f"{name} must not be masked; got {n_masked} masked entries.")


def holds_masked(values: Any) -> bool:
    """Whether a list has masked rows or entries, whose masks NumPy drops when it makes an array of the list."""
    if not isinstance(values, list | tuple):
        return False
    return any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, values)))


def _from_objects(array: NDArray[Any], name: str) -> NDArray[np.longdouble]:
    values = array.ravel().tolist()
    for place, value in enumerate(values):
        if not isinstance(value, numbers.Real):
            raise TypeError(
                f"{name} must hold real numbers; got {value!r} ({type(value).__name__}) at {_position(place, array)}."
            )
    _check_exact_among(values, name)
    # Wider than float64, so that numbers beyond its range are still found by the caller.
    return array.astype(np.longdouble)


def is_rounded(word: str) -> bool:
    """Whether a word is an integer beyond those that float64 holds exactly."""
    digits = word.strip().lstrip("+-").lstrip("0")
    # Python converts no more than 4,300 digits.
    return digits.isdecimal() and (len(digits) > 16 or int(digits) > LARGEST_EXACT_INTEGER)


def _check_exact(low: Any, high: Any, name: str) -> None:
    if low < -LARGEST_EXACT_INTEGER or high > LARGEST_EXACT_INTEGER:
        raise ValueError(
            f"{name} must hold {EXACT_INTEGERS}; got {low} to {high}. Subtract an offset or pass ranks."
        )


def _first(name: str, array: FloatArray, bad: Mask) -> str:
    place = int(np.flatnonzero(bad)[0])
    value = array.flat[place]
    found = "NaN" if np.isnan(value) else value
    return f"{name} contains {found}, first at {_position(place, array)}"


def _position(place: int, array: NDArray[Any]) -> str:
    row, *column = np.unravel_index(place, array.shape)
    return f"row {row}" + "".join(f", column {number}" for number in column)


def count_rows(X: Any) -> int:
    """Number of rows of an array-like."""
    if X is None:
        raise TypeError("X must have one row per document; got None.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def is_column(value: Any, n_rows: int) -> bool:
    """Whether a value has one entry per row, rather than as many callbacks or pairs of arrays as there are rows."""
    if isinstance(value, list | tuple):
        return len(value) == n_rows and _are_numbers_or_text(value)
    return np.shape(value)[:1] == (n_rows,)


def _are_numbers_or_text(values: Sequence[Any]) -> bool:
    try:
        return np.asarray(values).dtype.kind != "O"
    except ValueError:  # rows of different lengths
        return False


def take_rows(X: Any, rows: IntArray) -> Any:
    """Take rows by position, keeping the type of arrays and frames; a list of those of anything else."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "to_batches"):  # a table of pyarrow
        return X.take(rows)
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]

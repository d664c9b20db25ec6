"""What ids may be, which of them can match at all, and numbers for those of other libraries."""

from __future__ import annotations

import datetime
import functools
import itertools
import math
import numbers
import uuid
from collections import defaultdict
from collections.abc import Collection
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import python_list

# None of these can be missing, and numbers of different types are equal if their values are.
PLAIN = frozenset((str, int, bytes))

# Ids as numbers, with the means of their library: it hashes strings in an eighth of the time of Python's objects.

Codes = NDArray[np.integer[Any]]


def in_arrow(ids: Any) -> Any:
    """Text and times with a zone of polars in pyarrow, or in a list without it: NumPy's have no zone."""
    kind = getattr(ids, "dtype", None)
    is_zoned = getattr(kind, "time_zone", None) is not None
    if not hasattr(ids, "to_arrow") or not (is_zoned or str(kind) == "String"):
        return ids
    try:
        return ids.to_arrow()
    except ImportError:
        return ids.to_list()


def codes_of_library(ids: Any) -> Codes | None:
    """Numbers for ids of pandas, polars or pyarrow, different if the ids are; None for others."""
    if hasattr(ids, "to_physical"):
        return _of_polars(ids)
    if hasattr(ids, "factorize") and not isinstance(ids.dtype, np.dtype):
        return _of_pandas(ids)
    return _of_arrow(ids) if hasattr(ids, "dictionary_encode") else None


def _of_polars(ids: Any) -> Codes | None:
    if not str(ids.dtype).startswith(("Categorical", "Enum")) or ids.null_count():
        return None
    codes: Codes = ids.to_physical().to_numpy()
    return codes


def _of_pandas(ids: Any) -> Codes | None:
    import pandas as pd

    if isinstance(ids.dtype, pd.CategoricalDtype):
        return np.asarray(getattr(ids, "cat", ids).codes)
    if isinstance(ids.dtype, pd.StringDtype) and not _tells_nul_apart():
        return None
    codes: Codes = ids.factorize()[0]
    return codes


@functools.cache
def _tells_nul_apart() -> bool:
    """Whether this version of pandas hashes strings beyond a NUL; older versions do not."""
    import pandas as pd

    return len(pd.factorize(np.array(["a", "a\0"], dtype=object))[1]) == 2


def _of_arrow(ids: Any) -> Codes | None:
    import pyarrow as pa

    is_dictionary = pa.types.is_dictionary(ids.type)
    integers_with_nulls = pa.types.is_integer(ids.type) and ids.null_count
    if not (is_dictionary or holds_strings(ids) or is_zoned(ids) or integers_with_nulls):
        return None
    array = ids.combine_chunks() if hasattr(ids, "combine_chunks") else ids
    # Indices may be unsigned, as those of polars are.
    codes: Codes = array.dictionary_encode().indices.cast(pa.int64()).fill_null(-1).to_numpy()
    return codes


def plain_list(column: Any) -> Any:
    """The entries of a column as Python's; pyarrow decodes dictionaries in a hundred times the time."""
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if not hasattr(column, "dictionary"):
        return python_list(column)
    entries = column.dictionary.to_pylist()
    return [None if place is None else entries[place] for place in column.indices.to_pylist()]


def holds_strings(column: Any) -> bool:
    """Whether a column of pyarrow holds strings."""
    return str(column.type) in ("string", "large_string")


def is_zoned(column: Any) -> bool:
    """Whether a column of pyarrow holds times with a zone."""
    return getattr(column.type, "tz", None) is not None


def codes_of_objects(ids: NDArray[Any]) -> Codes:
    """Equal numbers for objects or strings that are equal in Python; a TypeError if some cannot be hashed."""
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    return np.fromiter(map(numbers.__getitem__, ids.tolist()), dtype=np.intp, count=len(ids))


# What ids may be

_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def check_ids(ids: NDArray[Any], name: str) -> None:
    """Refuse ids that are not the same everywhere: sets and objects are compared by inclusion, or by their address."""
    if ids.dtype.kind not in "fO":
        return
    if ids.dtype.kind == "f":
        ids = ids[(ids != np.floor(ids)) | np.isinf(ids)]
    values = ids.tolist()
    if set(map(type, values)) <= PLAIN:
        return
    for one in values:
        if not _is_id(one):
            raise TypeError(
                f"{name} must hold integers, text, times, UUIDs or tuples of these; got {one!r} "
                f"({type(one).__name__}). Pass str(id)."
            )


def _is_id(one: Any) -> bool:
    if isinstance(one, tuple):
        return all(map(_is_id, one))
    # NumPy counts time spans as integers.
    if isinstance(one, (*_TIMES, str, bytes, uuid.UUID, np.bool_)):
        return True
    if isinstance(one, numbers.Rational):
        return one.denominator == 1
    if isinstance(one, numbers.Real | Decimal):
        return math.isfinite(one) and one == math.floor(one)
    return type(one).__name__ == "Period"  # of pandas


# Which ids can match at all: ids of different types are never equal, even if they look alike.

# NumPy counts time spans as integers, so they come before numbers.
KINDS: dict[str, Any] = {
    "time span": (datetime.timedelta, np.timedelta64),
    "number": (numbers.Number, np.bool_),
    "time": (datetime.datetime, np.datetime64),
    "text": str,
    "bytes": bytes,
    "tuple": tuple,
}


def kind_of(one: Any) -> str:
    """The kind of an id; ids of different kinds are never equal."""
    if getattr(one, "tzinfo", None) is not None:
        return "time with a zone"
    for kind, types in KINDS.items():
        if isinstance(one, types):
            return kind
    return type(one).__name__


def kinds_of(ids: Collection[Any]) -> set[str]:
    """The kinds of some ids."""
    # One id of each type stands for all, except for times, some of which may have a zone.
    kinds = set(map(kind_of, dict(zip(map(type, ids), ids, strict=True)).values()))
    return kinds if kinds.isdisjoint({"time", "time with a zone"}) else set(map(kind_of, ids))


def refuse_unlike(
    name: str,
    ids: Collection[Any],
    of_others: str,
    others: Collection[Any],
    *,
    whole_kind: bool = False,
) -> None:
    """Refuse 1 among ids if the others have only "1"; of a whole kind, also ids that look like none of the others."""
    known = kinds_of(others)
    # This is nearly always so, and all that follows looks at each id.
    if not known or kinds_of(ids) <= known:
        return
    texts = {_text(other): other for other in others}
    for one in ids:
        if kind_of(one) in known:
            continue
        if whole_kind or _text(one) in texts:
            example = texts.get(_text(one), next(iter(others)))
            way_out = ", or pass ids='text'" if name in ("qrels", "run", "exclude") else ""
            raise ValueError(
                f"{name} has {one!r}, but {of_others} {example!r}. The ids are of different types; convert one of the "
                f"two{way_out}."
            )


def refuse_alike(name: str, ids: NDArray[Any]) -> None:
    """Refuse 1 beside "1" among the ids of one column, which would be two queries."""
    if ids.dtype.kind == "O" and len(set(map(type, ids))) > 1:
        others = [one for one in ids if not isinstance(one, str)]
        refuse_unlike(name, set(ids).difference(others), "also", others)


def _text(one: Any) -> str:
    try:
        return str(one)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        return f"id {id(one)}"

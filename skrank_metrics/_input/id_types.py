"""Which ids can match at all: ids of different types are never equal, even if they look alike."""

from __future__ import annotations

import datetime
import functools
import itertools
import numbers
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Ids as numbers, with the means of their library: it hashes strings in an eighth of the time of Python's objects.

Codes = NDArray[np.integer[Any]]


def codes_of_library(ids: Any) -> Codes | None:
    """Numbers for ids of pandas or pyarrow, different if the ids are; None for others."""
    if hasattr(ids, "factorize") and not isinstance(ids.dtype, np.dtype):
        return _of_pandas(ids)
    return _of_arrow(ids) if hasattr(ids, "dictionary_encode") else None


def _of_pandas(ids: Any) -> Codes | None:
    import pandas as pd

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
    from pyarrow import types

    integers_with_nulls = types.is_integer(ids.type) and ids.null_count
    if not holds_strings(ids) and not types.is_dictionary(ids.type) and not integers_with_nulls:
        return None
    array = ids.combine_chunks() if hasattr(ids, "combine_chunks") else ids
    codes: Codes = array.dictionary_encode().indices.fill_null(-1).to_numpy()
    return codes


def holds_strings(column: Any) -> bool:
    """Whether a column of pyarrow holds strings."""
    return str(column.type) in ("string", "large_string")


def codes_of_objects(ids: NDArray[Any]) -> Codes:
    """Equal numbers for objects or strings that are equal in Python; a TypeError if some cannot be hashed."""
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    return np.fromiter(map(numbers.__getitem__, ids.tolist()), dtype=np.intp, count=len(ids))


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


def kind_of(one: type) -> str:
    """The kind of the ids of a type; ids of different kinds are never equal."""
    for kind, types in KINDS.items():
        if issubclass(one, types):
            return kind
    return one.__name__


def kinds_of(types: Iterable[type]) -> set[str]:
    """The kinds of the ids of some types."""
    return set(map(kind_of, set(types)))


def refuse_unlike(
    name: str,
    ids: Collection[Any],
    of_others: str,
    others: Collection[Any],
    *,
    whole_kind: bool = False,
) -> None:
    """Refuse 1 among ids if the others have only "1"; of a whole kind, also ids that look like none of the others."""
    known = kinds_of(map(type, others))
    # Almost always; all that follows looks at each id.
    if not known or kinds_of(map(type, ids)) <= known:
        return
    texts = {_text(other): other for other in others}
    for one in ids:
        if kind_of(type(one)) in known:
            continue
        if whole_kind or _text(one) in texts:
            example = texts.get(_text(one), next(iter(others)))
            raise ValueError(
                f"{name} has {one!r}, but {of_others} {example!r}. The ids are of different types; convert "
                "one of the two."
            )


def refuse_alike(name: str, ids: NDArray[Any]) -> None:
    """Refuse 1 beside "1" among the ids of one column, which would be two queries."""
    if ids.dtype.kind == "O":
        others = [one for one in ids if not isinstance(one, str)]
        refuse_unlike(name, set(ids).difference(others), "also", others)


def _text(one: Any) -> str:
    try:
        return str(one)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        return f"id {id(one)}"

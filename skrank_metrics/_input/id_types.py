"""Which ids can match at all: ids of different types are never equal, even if they look alike."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

"""Which ids can match at all: ids of different types are never equal, even if they look alike."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

OTHER_TYPES = "The ids are of different types; convert one of the two."

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


def refuse_other_types(
    name: str, ids: Collection[Any], of_others: str, others: Collection[Any]
) -> None:
    """Refuse ids of a kind that none of the others has, since they would match nothing."""
    known = kinds_of(map(type, others))
    if not known or kinds_of(map(type, ids)) <= known:
        return
    unlike = next(one for one in ids if kind_of(type(one)) not in known)
    raise ValueError(
        f"{name} has {unlike!r}, but {of_others} such as {next(iter(others))!r}. {OTHER_TYPES}"
    )


def refuse_look_alikes(
    name: str, ids: Collection[Any], of_others: str, others: Collection[Any]
) -> None:
    """Refuse 1 among ids if the others have only "1"; a kind alone may be that of further ids."""
    known = kinds_of(map(type, others))
    if kinds_of(map(type, ids)) <= known:
        return
    texts = {_text(other): other for other in others}
    for one in ids:
        if kind_of(type(one)) not in known and _text(one) in texts:
            raise ValueError(
                f"{name} has {one!r}, but {of_others} {texts[_text(one)]!r}. {OTHER_TYPES}"
            )


def _text(one: Any) -> str:
    try:
        return str(one)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        return f"id {id(one)}"

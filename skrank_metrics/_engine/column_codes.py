"""Numbers for the entries of a column of documents, equal for documents that are alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray

# What an entry holds, in a form that sorts the same way in every process.
_Key: TypeAlias = tuple[Any, ...]


def codes_by_value(column: NDArray[Any]) -> IntArray:
    """Equal numbers for equal entries, in an order that depends on what they hold, not on rows or memory.

    If an entry does not show what it holds, as an open file, all count as different, in the order of rows.
    """
    if column.dtype.kind != "O":
        return np.unique(column, return_inverse=True)[1].reshape(-1)
    try:
        keys = [_key(entry) for entry in column.tolist()]
    except (TypeError, ValueError, AttributeError, RecursionError):
        return np.arange(len(column))
    code_of = {key: code for code, key in enumerate(sorted(set(keys)))}
    return np.array([code_of[key] for key in keys])


def _key(value: Any) -> _Key:
    """What a value holds, as nested tuples of strings.

    The texts of objects hold addresses, and sets iterate in the order of hashes, which are salted for strings: both
    differ from process to process.
    """
    if isinstance(value, str | bytes):
        return type(value).__name__, repr(value)
    if value is None or isinstance(value, bool | int | float | np.bool_ | np.number):
        return "number", _text_of_number(value)
    if isinstance(value, set | frozenset):
        return "set", *sorted(_key(entry) for entry in value)
    if isinstance(value, Mapping):
        return "dict", *sorted((_key(name), _key(entry)) for name, entry in value.items())
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), repr(value.shape), *map(_key, value.ravel().tolist())
    if isinstance(value, list | tuple):
        return type(value).__name__, *map(_key, value)
    return _key_of_object(value)


def _text_of_number(value: Any) -> str:
    """The same text for equal numbers, such as 1, 1.0 and True."""
    if value is None:
        return "None"
    number = value.item() if isinstance(value, np.generic) else value
    is_whole = isinstance(number, float) and math.isfinite(number) and number.is_integer()
    if is_whole or isinstance(number, bool):
        return repr(int(number))
    return repr(number)


def _key_of_object(value: Any) -> _Key:
    text = repr(value)
    # Texts of dataclasses hold those of sets.
    if " at 0x" not in text and not is_dataclass(value):
        return type(value).__name__, text
    # All that is left is an address, which differs from process to process.
    if not getattr(value, "__dict__", None):
        raise ValueError
    return type(value).__name__, _key(vars(value))

"""Numbers for the entries of a column of documents, equal for documents that are alike."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray, ordinal_codes


def codes_by_value(column: NDArray[Any]) -> IntArray:
    """Equal numbers for equal entries, in an order that depends on what they hold, not on rows or memory.

    If an entry does not show what it holds, as an open file, all count as different, in the order of rows.
    """
    if column.dtype.kind != "O":
        return ordinal_codes(column)
    try:
        texts = [_text(entry) for entry in column.tolist()]
    except (TypeError, ValueError, RecursionError):
        return np.arange(len(column))
    return ordinal_codes(np.array(texts, dtype=object))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_shown)


def _shown(value: Any) -> Any:
    """What a value holds, for types that JSON does not have.

    The texts of objects hold addresses, and sets iterate in the order of hashes, which are salted for strings: both
    differ from process to process.
    """
    name = type(value).__name__
    if isinstance(value, set | frozenset):
        return {name: sorted(map(_text, value))}
    if isinstance(value, np.ndarray):
        return {name: value.tolist()}
    text = repr(value)
    # Texts of dataclasses hold those of sets.
    if " at 0x" in text or is_dataclass(value):
        return {name: vars(value)}
    return {name: text}

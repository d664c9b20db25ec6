"""Values in files: versioned JSON with a checksum, for types that JSON has and for those of ids and columns."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skrank_metrics
from skrank_metrics._input.arrays import to_objects
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.page import write_whole

# Raised by one whenever older versions of the package could not read what is written.
FORMAT_VERSION = 1
# Kinds of arrays whose values are written as bytes.
_NUMERIC = "biufmM"
# Types of arrays that are written. A file must not name others, which could be of any size.
_DTYPES = re.compile(
    r"object|str|bool|u?int(8|16|32|64)|float(16|32|64)|\|?S\d+|(datetime|timedelta)64(\[\d*\w+\])?"
)


def write_saved(kind: str, body: Mapping[str, Any], path: Any) -> None:
    """Write JSON of some kind, such as "report", with the version of the format and a checksum of the contents."""
    text = json.dumps(body, allow_nan=False)
    head = {
        "format": f"skrank_metrics {kind}",
        "version": FORMAT_VERSION,
        "written_by": f"skrank_metrics {skrank_metrics.__version__}",
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    write_whole(f'{json.dumps(head)[:-1]}, "contents":\n{text}}}\n', path)


def read_saved(kind: str, path: Any) -> dict[str, Any]:
    """Read what ``write_saved`` wrote, and refuse anything else."""
    with open(os.fspath(path), "rb") as file:
        data = file.read()
    try:
        found = json.loads(data)
        text = json.dumps(found["contents"])  # independent of blanks and line breaks in the file
        is_whole = found["sha256"] == hashlib.sha256(text.encode()).hexdigest()
        is_sound = is_whole and found["format"] == f"skrank_metrics {kind}"
        version, writer = found["version"], found["written_by"]
    except (ValueError, LookupError, TypeError, RecursionError):
        is_sound = False
    if not is_sound:
        raise ValueError(f"{path} is not a saved {kind}, as written by save(), or it is damaged.")
    # Only now, since the version in a damaged file means nothing.
    if version != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}, written by {writer}; this is skrank_metrics "
            f"{skrank_metrics.__version__}, which reads version {FORMAT_VERSION}. Update skrank_metrics."
        )
    try:
        body: dict[str, Any] = json.loads(text, object_hook=_restored)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} holds values that save() does not write: {error}.") from None
    return body


def check_fields(found: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse fields that this version of the package does not know, and miss none that it does."""
    differing = sorted(set(known) ^ set(found))
    if differing:
        raise ValueError(
            f"The file holds a {what} with unknown or missing fields: {', '.join(differing)}. This is skrank_metrics "
            f"{skrank_metrics.__version__}; update it."
        )


def saved(value: Any) -> Any:
    """A value as JSON's types; others are a dict of one item, whose key begins with a dollar sign."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    if isinstance(value, Mapping) and all(map(_is_plain, value)):
        return {name: saved(own) for name, own in value.items()}
    if isinstance(value, list):
        return list(map(saved, value))
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    for kind, name, write, _ in _WRITTEN:
        # Times of pandas are datetimes, which have no nanoseconds.
        if isinstance(value, kind) and not getattr(value, "nanosecond", 0):
            return {name: write(value)}
    raise TypeError(
        f"A file cannot hold {value!r}, of type {type(value).__name__}. Evaluate with str(id)."
    )


def saved_or_text(value: Any) -> Any:
    """A value as JSON's types; what a file cannot hold, such as an estimator, as its text."""
    if isinstance(value, Mapping) and all(map(_is_plain, value)):
        return {name: saved_or_text(own) for name, own in value.items()}
    try:
        return saved(value)
    except TypeError:
        return repr(value)


def _is_plain(name: object) -> bool:
    """Whether a key is text that is not taken for the name of a type."""
    return isinstance(name, str) and not name.startswith("$")


def _restored(value: dict[str, Any]) -> Any:
    for _, name, _, read in _WRITTEN:
        if value.keys() == {name}:
            return read(value[name])
    return value


def _saved_array(array: NDArray[Any]) -> list[Any]:
    """The type of an array and its values; numbers as base64, which is three times as fast as digits."""
    if array.dtype.kind in _NUMERIC:
        # The file may be read on a machine with another order of bytes.
        little_endian = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        return [array.dtype.name, base64.b64encode(little_endian.tobytes()).decode()]
    dtype = "str" if array.dtype.kind == "U" else str(array.dtype)
    return [dtype, saved(as_python(array))]


def _restored_array(written: list[Any]) -> NDArray[Any]:
    dtype, values = written
    if not _DTYPES.fullmatch(dtype):
        raise TypeError(f"{dtype[:40]!r} is no type of columns")
    if isinstance(values, str):
        little_endian = np.dtype(dtype).newbyteorder("<")
        # Otherwise, characters that base64 does not have would be skipped without an error.
        data = base64.b64decode(values, validate=True)
        # Without a copy, the array would be read-only, like the bytes that it is made from.
        return np.frombuffer(data, little_endian).astype(dtype)
    # In an array of strings, each would take the memory of the longest.
    if dtype in ("object", "str"):
        return to_objects(values)
    return np.array(values, dtype=dtype)


def _saved_pairs(pairs: Mapping[Any, Any]) -> list[Any]:
    return [[saved(name), saved(value)] for name, value in pairs.items()]


# How values are written that JSON does not have, by type.
_WRITTEN: tuple[tuple[type, str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (float, "$float", str, float),  # infinity and NaN
    (tuple, "$tuple", lambda values: saved(list(values)), tuple),
    (dict, "$pairs", _saved_pairs, dict),  # gains by grade, as keys of JSON are strings
    (bytes, "$bytes", bytes.hex, bytes.fromhex),
    (datetime.datetime, "$datetime", datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    (datetime.date, "$date", datetime.date.isoformat, datetime.date.fromisoformat),
    (np.ndarray, "$array", _saved_array, _restored_array),
)

"""Bytes and lines of files, and their formats."""

from __future__ import annotations

import gzip
import sys
import zlib
from os import PathLike, fspath
from typing import Any, NoReturn

import numpy as np

from skrank_metrics._input.interface import shown

SUFFIXES = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "arrow": (".arrow", ".feather", ".ipc"),
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
PACKED = ".gz"
_GZIP = b"\x1f\x8b"  # first bytes of gzip files


def format_of(name: str) -> str | None:
    """The format of a table by its extension, in any case; text files may be gzipped."""
    lower = name.lower()
    for form, suffixes in SUFFIXES.items():
        if (lower.removesuffix(PACKED) if form in DELIMITERS else lower).endswith(suffixes):
            return form
    return None


def read_bytes(source: Any, *, text: bool = False, argument: str = "path") -> tuple[bytes, str]:
    """The decompressed bytes of a file, and its name; text must be in UTF-8 and not blank."""
    if isinstance(source, str | PathLike):
        name = str(fspath(source))
        if name == "-":
            data, name = sys.stdin.buffer.read(), "standard input"
        else:
            with open(name, "rb") as file:
                data = file.read()
    elif hasattr(source, "read"):
        data, name = source.read(), str(getattr(source, "name", "file"))
    else:
        raise TypeError(
            f"{argument} must be a path, '-' or an open file; got {type(source).__name__}."
        )
    if isinstance(data, str):
        data = data.encode()
    # By content, since standard input has no extension.
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(
                f"{name} must be a complete gzip file, since it starts like one; got: {error}."
            ) from None
    return _check_text(data, name) if text else data, name


def _check_text(data: bytes, name: str) -> bytes:
    """Refuse other encodings than UTF-8, in which ids would not match those of other files."""
    # The mark that Windows writes at the beginning of UTF-8.
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise ValueError(f"{name} must hold at least one line; got an empty file.")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        refuse_at(name, data, error.start, "text in UTF-8")
    return data


def refuse_at(name: str, data: bytes, place: int, expected: str) -> NoReturn:
    """Raise an error that shows the line at a place."""
    number = data.count(b"\n", 0, place)
    refuse(name, number + 1, data.split(b"\n")[number], expected)


def refuse(name: str, number: int, line: bytes, expected: str) -> NoReturn:
    """Raise an error that shows a line."""
    text = line.decode(errors="backslashreplace").rstrip("\r")
    raise ValueError(f"{name}, line {number}: expected {expected}; got {shown(text)}.")


def to_number(word: bytes) -> float:
    """A decimal number, which may be infinite; anything else raises ValueError."""
    value = float(word)
    # float accepts 1_0.
    if np.isnan(value) or b"_" in word:
        raise ValueError
    return value

"""File formats of tables."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from typing import IO

SUFFIXES = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "arrow": (".arrow", ".feather", ".ipc"),
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
PACKED = ".gz"


def format_of(name: str) -> str | None:
    """The format of a file by its extension, in any case; text files may be gzipped."""
    lower = name.lower()
    for form, suffixes in SUFFIXES.items():
        if lower.endswith(suffixes) or (form in DELIMITERS and lower.endswith(tuple(s + PACKED for s in suffixes))):
            return form
    return None


def line_of_row(text: bytes | IO[bytes], delimiter: str, row: int) -> int:
    """The line (from 1) on which a row (from 0) of csv or tsv begins; closes a file."""
    file = io.BytesIO(text) if isinstance(text, bytes) else text
    left = row + 1  # the header
    # csv raises an error for cells of more than 128 KiB.
    with io.TextIOWrapper(file, "utf-8", "replace", newline="") as lines, suppress(csv.Error):
        rows = csv.reader(lines, delimiter=delimiter)
        for cells in rows:
            left -= bool(cells)  # blank lines are not rows
            if left < 0:
                return rows.line_num - "".join(cells).count("\n")
    return row + 2

"""Formats of tables in files."""

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
    """The format of a file, by the ending of its name in any case; texts may be packed by gzip."""
    lower = name.lower()
    for form, suffixes in SUFFIXES.items():
        if lower.endswith(suffixes) or (form in DELIMITERS and lower.endswith(tuple(s + PACKED for s in suffixes))):
            return form
    return None


def line_of_row(text: bytes | IO[bytes], delimiter: str, row: int) -> int:
    """The line on which a row of csv or tsv begins, lines from 1 and rows from 0; closes a file."""
    file = io.BytesIO(text) if isinstance(text, bytes) else text
    left = row + 1  # the header
    # An error of csv is a cell of more than 128 KiB.
    with io.TextIOWrapper(file, "utf-8", "replace", newline="") as lines, suppress(csv.Error):
        rows = csv.reader(lines, delimiter=delimiter)
        for cells in rows:
            left -= bool(cells)  # blank lines are no rows
            if left < 0:
                return rows.line_num - "".join(cells).count("\n")
    return row + 2

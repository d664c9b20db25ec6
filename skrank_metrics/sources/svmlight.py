"""Labels and query ids of svmlight files, and the scores of their rows in other files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, FloatArray, is_rounded
from skrank_metrics.sources.files import read_bytes, refuse

SUFFIXES = (".svm", ".libsvm", ".svmlight")
_QID = b"qid:"


def read_svmlight(path: Any) -> tuple[FloatArray, list[str]]:
    """Labels and query ids of "label qid:id feature:value ..." lines.

    Unlike scikit-learn's loader, this keeps no features, takes any ids, and names the line of an error.
    """
    labels, ids = [], []
    for where, line in _lines_of(path):
        if row := line.partition(b"#")[0].split(None, 2):
            if len(row) < 2 or not row[1].startswith(_QID) or len(row[1]) == len(_QID):
                refuse(*where, line, "a row as 'label qid:id feature:value ...'")
            labels.append(_in_line(row[0], where, line, "a finite label >= 0", least=0))
            ids.append(row[1].removeprefix(_QID).decode())
    if not labels:
        raise ValueError(f"{path} has only comments, and no rows.")
    return np.array(labels), ids


def read_scores(path: Any, n_rows: int, rows: str) -> FloatArray:
    """One score per line, as many as the file named ``rows`` has rows."""
    scores = np.array([_in_line(line.strip(), where, line, "a number") for where, line in _lines_of(path)])
    if len(scores) != n_rows:
        raise ValueError(f"{path} must hold one score per row of {rows}; got {len(scores)} scores for {n_rows} rows.")
    return scores


def _lines_of(path: Any) -> Iterator[tuple[tuple[str, int], bytes]]:
    """The lines of a text file that are not blank, with the name of the file and their numbers."""
    data, name = read_bytes(path, text=True)
    return (((name, number), line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip())


def _in_line(field: bytes, where: tuple[str, int], line: bytes, expected: str, least: float = -np.inf) -> float:
    """A number in a line. If ``least`` is given, as for labels, the number must be finite."""
    try:
        value = float(field)
    except ValueError:
        value = np.nan
    if np.isnan(value) or b"_" in field or value < least or (value == np.inf and least == 0):
        refuse(*where, line, expected)
    if abs(value) >= LARGEST_EXACT_INTEGER and is_rounded(field.decode()):
        refuse(*where, line, f"{expected}, and {EXACT_INTEGERS}")
    return value

"""Lines of fields separated by whitespace, as in TREC files, as columns.

A file is read in blocks that stay in the cache, without a Python loop over lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER, FloatArray, IntArray
from skrank_metrics._input.id_hash import END, WORD, Strings
from skrank_metrics.sources.files import read_bytes, refuse, to_number
from skrank_metrics.sources.ids import Lists

Bytes: TypeAlias = NDArray[np.uint8]

BLOCK = 2**18
PADDING = 2 * WORD
LONGEST_NUMBER = 4  # words


class Form(NamedTuple):
    """The fields of the lines of a file."""

    fields: tuple[str, ...]
    value: int  # the place of the number; topics are the first field, documents the third
    expected: str  # a number, in words
    whole: bool  # whether the number must be an integer
    more: bool  # whether further fields are ignored


# As in trec_eval, a tag may hold blanks, but judgments have nothing after the label.
FORMS = {
    "qrels": Form(
        ("topic", "iteration", "document", "label"),
        3,
        "a whole number as label",
        whole=True,
        more=False,
    ),
    "run": Form(
        ("topic", "Q0", "document", "rank", "score", "tag"),
        4,
        "a number as score",
        whole=False,
        more=True,
    ),
}


# Consecutive lines: topics without repetitions, the lines of each, starts and sizes of documents in the file, values.
_Block: TypeAlias = tuple[list[bytes], IntArray, IntArray, IntArray, FloatArray]


class _LineError(Exception):
    """The number of a line of a block, and what is expected there."""


def read_lines(source: Any, kind: str, argument: str = "path") -> tuple[Lists, str]:
    """Read qrels or a run: a path, "-" for standard input, or an open file. Also returns the name of the file.

    Errors name the argument that it came as.
    """
    data, name = read_bytes(source, text=True, argument=argument)
    blocks = list(_read_blocks(data, FORMS[kind], name))
    if not blocks:
        raise ValueError(f"{name} must hold at least one line; got only comments.")
    topics: dict[bytes, int] = {}
    numbers = [topics.setdefault(topic, len(topics)) for block in blocks for topic in block[0]]
    sizes, starts, lengths, values = (
        np.concatenate(part) for part in zip(*(block[1:] for block in blocks), strict=True)
    )
    documents = Strings(np.frombuffer(data + END, dtype=np.uint8), starts, lengths)
    codes, queries = np.repeat(numbers, sizes), [topic.decode() for topic in topics]
    lists = Lists(kind, queries, codes, documents, values, in_trec=True, unique=True)
    if (row := lists.repeated()) is not None:
        raise ValueError(f"{name} has {lists.pair(row)} twice.")
    return lists, name


def _read_blocks(data: bytes, form: Form, name: str) -> Iterator[_Block]:
    """Read whole lines, some at a time; the first that is wrong is shown in an error."""
    start, n_before = 0, 1
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        part = data[start:end]
        try:
            block = _read_block(part, form, start)
        except _LineError as error:
            number, expected = error.args
            refuse(name, n_before + number, part.split(b"\n")[number], expected)
        if len(block[-1]):
            yield block
        start, n_before = end, n_before + part.count(b"\n")


def _read_block(data: bytes, form: Form, offset: int) -> _Block:
    """Read lines that begin at ``offset`` of the file."""
    # Words of 8 bytes are read around the fields, so the block needs bytes around it.
    codes = np.frombuffer(b"".join((b"\n" * PADDING, data, b"\n" * PADDING)), dtype=np.uint8)
    starts, ends, lines = _fields(codes, form)
    if b"\0" in data:
        raise _LineError(data.count(b"\n", 0, data.index(b"\0")), "text without NUL")
    topics = Strings(codes, starts[:, 0], ends[:, 0] - starts[:, 0])
    first = np.flatnonzero(np.concatenate(([True], ~topics[1:].equals(topics[:-1])))[: len(starts)])
    names = [
        codes[a:b].tobytes()
        for a, b in zip(starts[first, 0].tolist(), ends[first, 0].tolist(), strict=True)
    ]
    values = _numbers(codes, starts[:, form.value], ends[:, form.value])
    bad = np.isnan(values)
    if form.whole:
        bad |= (values != np.floor(values)) | (np.abs(values) > LARGEST_EXACT_INTEGER)
    if bad.any():
        raise _LineError(int(lines[np.argmax(bad)]), form.expected)
    lengths = ends[:, 2] - starts[:, 2]
    return (
        names,
        np.diff(first, append=len(starts)),
        starts[:, 2] + (offset - PADDING),
        lengths,
        values,
    )


def _fields(codes: Bytes, form: Form) -> tuple[IntArray, IntArray, IntArray]:
    """The start and end of the fields of each line that is not blank or a comment, and the number of the line."""
    # As in C and Python, fields end at a blank, and at no control characters but those from \t to \r.
    blank = (codes == ord(" ")) | (
        codes - np.uint8(ord("\t")) <= ord("\r") - ord("\t")
    )  # differences wrap around
    edges, n_fields = np.flatnonzero(blank[1:] != blank[:-1]) + 1, len(form.fields)
    if len(edges) and not len(edges) % (2 * n_fields):
        regular = edges.reshape(-1, 2 * n_fields)
        starts, ends, lines = regular[:, ::2], regular[:, 1::2], np.arange(len(regular))
        breaks = np.flatnonzero(codes == ord("\n"))[PADDING:]
        between = (ends[:, -1] <= breaks[: len(lines)]).all() and (
            breaks[: len(lines) - 1] <= starts[1:, 0]
        ).all()
        if between and not (codes[starts[:, 0]] == ord("#")).any():  # most files
            return starts, ends, lines
    starts, ends = edges[::2], edges[1::2]
    lines = np.cumsum(codes == ord("\n"))[starts] - PADDING
    first = np.flatnonzero(np.diff(lines, prepend=-1))
    sizes = np.diff(first, append=len(starts))
    data = codes[starts[first]] != ord("#")
    first, sizes = first[data], sizes[data]
    wrong = (sizes < n_fields) | ((sizes > n_fields) & (not form.more))
    if wrong.any():
        raise _LineError(
            int(lines[first[np.argmax(wrong)]]), f"{n_fields} fields ({' '.join(form.fields)})"
        )
    fields = first[:, None] + np.arange(n_fields)
    return starts[fields], ends[fields], lines[first]


def _numbers(codes: Bytes, starts: IntArray, ends: IntArray) -> FloatArray:
    """Decimal numbers, rounded like Python's float; NaN for fields that are none."""
    fields, width = (
        Strings(codes, starts, ends - starts),
        -(-int((ends - starts).max(initial=1)) // WORD),
    )
    if width <= LONGEST_NUMBER:  # else all would take the memory of the longest
        words = np.stack([fields.words(number, slice(None)) for number in range(width)], axis=1)
        text = words.view(f"S{WORD * width}").ravel()
        if b"_" not in text.tobytes():  # float accepts 1_0
            with suppress(ValueError):
                return text.astype(np.float64)
    found = (
        to_number(codes[a:b].tobytes()) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    )
    return np.array([np.nan if value is None else value for value in found])

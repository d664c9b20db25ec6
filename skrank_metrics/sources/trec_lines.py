"""Lines of fields separated by whitespace, as in TREC files, as columns.

A file is read in blocks that stay in the cache. A block whose lines all have the same number of fields is read without
a Python loop; one with anything else, such as a comment or a blank line, is first rewritten to such lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER, FloatArray, IntArray
from skrank_metrics.sources.files import read_bytes, refuse, to_number
from skrank_metrics.sources.ids import END, WORD, Lists, Strings

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
    "qrels": Form(("topic", "iteration", "document", "label"), 3, "a whole number as label", whole=True, more=False),
    "run": Form(("topic", "Q0", "document", "rank", "score", "tag"), 4, "a number as score", whole=False, more=True),
}


class _Block(NamedTuple):
    """Consecutive lines."""

    topics: list[bytes]  # without repetitions in consecutive lines
    sizes: IntArray  # lines per topic
    starts: IntArray  # of the documents, in the file and the lines that were made regular
    lengths: IntArray
    values: FloatArray


class _IrregularError(Exception):
    """A block cannot be read the fast way."""


def read_lines(source: Any, kind: str, argument: str = "path") -> tuple[Lists, str]:
    """Read qrels or a run: a path, "-" for standard input, or an open file. Also returns the name of the file.

    Errors name the argument that it came as.
    """
    data, name = read_bytes(source, text=True, argument=argument)
    blocks, buffers, size, line, form = [], [data], len(data), 1, FORMS[kind]
    for start, end in _blocks_of_lines(data):
        try:
            blocks.append(_read_block(data[start:end], form, start))
        except _IrregularError:
            if regular := _regular(data[start:end], form, name, line):
                blocks.append(_read_block(regular, form, size))
                buffers.append(regular)
                size += len(regular)
        line += data.count(b"\n", start, end)
    if not blocks:
        raise ValueError(f"{name} must hold at least one line; got only comments.")
    topics: dict[bytes, int] = {}
    numbers = [topics.setdefault(topic, len(topics)) for block in blocks for topic in block.topics]
    sizes, starts, lengths, values = (
        np.concatenate(part) for part in zip(*(block[1:] for block in blocks), strict=True)
    )
    documents = Strings(np.frombuffer(b"".join((*buffers, END)), dtype=np.uint8), starts, lengths)
    codes, queries = np.repeat(numbers, sizes), [topic.decode() for topic in topics]
    lists = Lists(kind, queries, codes, documents, values, in_trec=True, unique=True)
    if (row := lists.repeated()) is not None:
        raise ValueError(f"{name} has {lists.pair(row)} twice.")
    return lists, name


def _blocks_of_lines(data: bytes) -> Iterator[tuple[int, int]]:
    """Blocks of whole lines."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        yield start, end
        start = end


def _read_block(data: bytes, form: Form, offset: int) -> _Block:
    """Read lines that all have the same number of fields, and begin at ``offset`` of all bytes."""
    # Words of 8 bytes are read around the fields, so the block needs bytes around it.
    codes = np.frombuffer(b"".join((b"\n" * PADDING, data, b"\n" * PADDING)), dtype=np.uint8)
    starts, ends = _fields(codes, len(form.fields))
    if b"\0" in data or (codes[starts[:, 0]] == ord("#")).any():
        raise _IrregularError
    topics = Strings(codes, starts[:, 0], ends[:, 0] - starts[:, 0])
    first = np.flatnonzero(np.concatenate(([True], ~topics[1:].equals(topics[:-1]))))
    names = [codes[a:b].tobytes() for a, b in zip(starts[first, 0].tolist(), ends[first, 0].tolist(), strict=True)]
    values = _numbers(codes, starts[:, form.value], ends[:, form.value])
    if form.whole and not ((values == np.floor(values)) & (np.abs(values) <= LARGEST_EXACT_INTEGER)).all():
        raise _IrregularError
    lengths = ends[:, 2] - starts[:, 2]
    return _Block(names, np.diff(first, append=len(starts)), starts[:, 2] + (offset - PADDING), lengths, values)


def _fields(codes: Bytes, n_fields: int) -> tuple[IntArray, IntArray]:
    """The start and end of the fields of each line."""
    # As in C and Python, fields end at a blank, and at no control characters but those from \t to \r.
    blank = (codes == ord(" ")) | (codes - np.uint8(ord("\t")) <= ord("\r") - ord("\t"))  # differences wrap around
    changes = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if not len(changes) or len(changes) % (2 * n_fields):
        raise _IrregularError
    edges = changes.reshape(-1, 2 * n_fields)
    breaks = np.flatnonzero(codes == ord("\n"))[PADDING : PADDING + len(edges)]
    # The fields of a line are between two line breaks.
    if len(breaks) < len(edges) or (edges[:, -1] > breaks).any() or (breaks[:-1] > edges[1:, 0]).any():
        raise _IrregularError
    return edges[:, ::2], edges[:, 1::2]


def _numbers(codes: Bytes, starts: IntArray, ends: IntArray) -> FloatArray:
    """Decimal numbers, rounded like Python's float."""
    fields, width = Strings(codes, starts, ends - starts), -(-int((ends - starts).max()) // WORD)
    if width > LONGEST_NUMBER:  # all would take the memory of the longest
        raise _IrregularError
    words = np.stack([fields.words(number, slice(None)) for number in range(width)], axis=1)
    text = words.view(f"S{WORD * width}").ravel()
    try:
        values = text.astype(np.float64)
    except ValueError:
        raise _IrregularError from None
    if np.isnan(values).any() or b"_" in text.tobytes():  # float accepts 1_0
        raise _IrregularError
    return values


def _regular(data: bytes, form: Form, name: str, first: int) -> bytes:
    """Lines of the fields of the form, with short numbers and without blank lines and comments."""
    rows, n_fields = [], len(form.fields)
    for number, line in enumerate(data.split(b"\n"), start=first):
        row = line.split()
        if not row or row[0].startswith(b"#"):
            continue
        if len(row) < n_fields or (len(row) > n_fields and not form.more) or b"\0" in line:
            refuse(name, number, line, f"{n_fields} fields ({' '.join(form.fields)})")
        value = to_number(row[form.value])
        if value is None or (form.whole and not (value.is_integer() and abs(value) <= LARGEST_EXACT_INTEGER)):
            refuse(name, number, line, form.expected)
        row[form.value] = b"%r" % value
        rows.append(b" ".join(row[:n_fields]))
    return b"\n".join(rows)

"""Lines of fields separated by whitespace, as in TREC files, as columns.

A file is read in blocks that stay in the cache. A block whose lines all have the same number of fields is read without
a Python loop; one with anything else, such as a comment or a blank line, is first rewritten to such lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER, FloatArray, IntArray
from skrank_metrics.sources.files import read_bytes, refuse
from skrank_metrics.sources.ids import END, WORD, Pairs, Strings

Bytes: TypeAlias = NDArray[np.uint8]

BLOCK = 2**18
PADDING = 2 * WORD
# Bytes that are neither whitespace nor part of a field.
CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r"))
LONGEST_NUMBER = 4  # words


@dataclass(frozen=True)
class Form:
    """The fields of the lines of a file."""

    fields: tuple[str, ...]
    value: str  # the field that is a number; topics are the first field, documents the third
    whole: bool  # whether the number must be an integer
    more: bool  # whether further fields are ignored


# As in trec_eval, a tag may hold blanks, but judgments have nothing after the label.
QRELS = Form(("topic", "iteration", "document", "label"), "label", whole=True, more=False)
RUN = Form(("topic", "Q0", "document", "rank", "score", "tag"), "score", whole=False, more=True)


@dataclass(frozen=True)
class TrecLines:
    """The lines of a file, in its order."""

    name: str  # of the file
    form: Form
    topics: tuple[bytes, ...]  # in order of first appearance
    codes: IntArray  # the number of the topic of each line
    documents: Strings
    values: FloatArray


@dataclass(frozen=True)
class _Block:
    """Consecutive lines."""

    topics: list[bytes]  # without repetitions in consecutive lines
    sizes: IntArray  # lines per topic
    starts: IntArray  # of the documents, in the file and the lines that were made regular
    lengths: IntArray
    values: FloatArray


class _IrregularError(Exception):
    """A block cannot be read the fast way."""


def read_lines(source: Any, form: Form, argument: str = "path") -> TrecLines:
    """Read a file: a path, "-" for standard input, or an open file. Errors name the argument that it came as."""
    data, name = read_bytes(source, text=True, argument=argument)
    blocks, buffers, size, line = [], [data], len(data), 1
    for start, end in _blocks_of_lines(data):
        try:
            blocks.append(_read_block(data[start:end], form, start))
        except _IrregularError:
            if regular := _regular(data[start:end], form, name, line):
                try:
                    blocks.append(_read_block(regular, form, size))
                except _IrregularError:
                    _refuse_line(data[start:end], form, name, line)
                buffers.append(regular)
                size += len(regular)
        line += data.count(b"\n", start, end)
    topics: dict[bytes, int] = {}
    if not blocks:
        raise ValueError(f"{name} must hold at least one line; got only comments.")
    codes = [np.repeat([topics.setdefault(topic, len(topics)) for topic in b.topics], b.sizes) for b in blocks]
    starts, lengths, values = (
        np.concatenate(part)
        for part in zip(*((block.starts, block.lengths, block.values) for block in blocks), strict=True)
    )
    documents = Strings(np.frombuffer(b"".join((*buffers, END)), dtype=np.uint8), starts, lengths)
    lines = TrecLines(name, form, tuple(topics), np.concatenate(codes).astype(np.intp), documents, values)
    if Pairs(lines.codes, documents).repeated() is not None:
        _refuse_repeated(data, name)
    return lines


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
    if (codes[starts[:, 0]] == ord("#")).any():
        raise _IrregularError
    topics = Strings(codes, starts[:, 0], ends[:, 0] - starts[:, 0])
    changes = ~topics.take(slice(1, None)).equals(topics.take(slice(-1)))
    first = np.flatnonzero(np.concatenate(([True], changes)))
    names = [codes[a:b].tobytes() for a, b in zip(starts[first, 0].tolist(), ends[first, 0].tolist(), strict=True)]
    place = form.fields.index(form.value)
    values = _numbers(codes, starts[:, place], ends[:, place])
    if form.whole and not _are_whole(values):
        raise _IrregularError
    lengths = ends[:, 2] - starts[:, 2]
    return _Block(names, np.diff(first, append=len(starts)), starts[:, 2] + (offset - PADDING), lengths, values)


def _fields(codes: Bytes, n_fields: int) -> tuple[IntArray, IntArray]:
    """The start and end of the fields of each line."""
    if ((codes < ord(" ")) & (codes - np.uint8(ord("\t")) > ord("\r") - ord("\t"))).any():  # differences wrap around
        raise _IrregularError
    blank = codes <= ord(" ")
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
        return _floats([codes[a:b].tobytes() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
    words = np.stack([fields.words(number, slice(None)) for number in range(width)], axis=1)
    return _floats(words.view(f"S{WORD * width}").ravel())


def _floats(fields: list[bytes] | NDArray[np.bytes_]) -> FloatArray:
    try:
        values = np.array(list(map(float, fields))) if isinstance(fields, list) else fields.astype(np.float64)
    except ValueError:
        raise _IrregularError from None
    text = b" ".join(fields) if isinstance(fields, list) else fields.tobytes()
    if np.isnan(values).any() or b"_" in text:  # float accepts 1_0
        raise _IrregularError
    return values


def _are_whole(values: FloatArray) -> bool:
    return bool(((values == np.floor(values)) & (np.abs(values) <= LARGEST_EXACT_INTEGER)).all())


def _regular(data: bytes, form: Form, name: str, first: int) -> bytes:
    """Lines of the fields of the form, without blank lines and comments."""
    rows = [row for row in map(bytes.split, data.split(b"\n")) if row and row[0][:1] != b"#"]
    n_fields, lengths = len(form.fields), set(map(len, rows)) or {len(form.fields)}
    if min(lengths) < n_fields or (max(lengths) > n_fields and not form.more) or _has_control(data):
        _refuse_line(data, form, name, first)
    return b"".join(b" ".join(row[:n_fields]) + b"\n" for row in rows)


def _refuse_line(data: bytes, form: Form, name: str, first: int) -> NoReturn:
    """Raise an error that shows the first line that is wrong."""
    for number, line in enumerate(data.split(b"\n"), start=first):
        _check_line(line, form, (name, number, line))
    raise AssertionError


def _has_control(text: bytes) -> bool:
    return len(text.translate(None, CONTROL)) < len(text)


def _check_line(line: bytes, form: Form, where: tuple[str, int, bytes]) -> None:
    row, n_fields = line.split(), len(form.fields)
    if not row or row[0][:1] == b"#":
        return
    if len(row) < n_fields or (len(row) > n_fields and not form.more) or _has_control(line):
        refuse(*where, f"{n_fields} fields ({' '.join(form.fields)})")
    try:
        value = float(_floats([row[form.fields.index(form.value)]])[0])
    except _IrregularError:
        value = np.nan
    if form.whole and not _are_whole(np.array(value)):
        refuse(*where, f"a whole number as {form.value}")
    if np.isnan(value):
        refuse(*where, f"a number as {form.value}")


def _refuse_repeated(data: bytes, name: str) -> None:
    """Raise an error that shows the first line with the topic and document of another, if there is one."""
    seen: dict[tuple[bytes, bytes], int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if (row := line.split()) and row[0][:1] != b"#":
            key = row[0], row[2]
            if key in seen:
                refuse(name, number, line, f"each document once per topic, and line {seen[key]} has this one")
            seen[key] = number

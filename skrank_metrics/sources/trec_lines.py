"""Read lines of fields separated by whitespace, as in TREC files, without a Python loop over the lines.

A file is read in blocks that stay in the cache. If anything is irregular, such as a blank line, the file is read again
line by line, which is slow but finds the line of an error.
"""

from __future__ import annotations

import gzip
import itertools
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER, FloatArray, IntArray, Mask

Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]  # eight bytes each, of shape (n_ids, n_words)

IN_MEMORY = (
    " Pass labels and scores in memory to skrank_metrics.evaluate, with qid, retrieved, judged and "
    "convention='trec_eval'."
)
GZIP = b"\x1f\x8b"  # first bytes of gzip files
BLOCK = 2**18
WORD = 8
PADDING = 2 * WORD
# Longer ids would take more memory than the file, since all ids of a file have the width of the longest.
LONGEST_ID = 512
# Numbers with more characters may have more digits than float64 can hold.
LONGEST_NUMBER = 15
_PLACES = 10.0 ** np.arange(15, -1, -1)
_POWERS = 10 ** np.arange(17)
# Row n keeps the last n of 16 bytes.
_LAST = np.where(np.arange(16) >= 16 - np.arange(17)[:, None], 255, 0).astype(np.uint8).view(np.uint64)
# Item n keeps the first n of 8 bytes.
_FIRST = np.where(np.arange(8) < np.arange(9)[:, None], 255, 0).astype(np.uint8).view(np.uint64).ravel()


@dataclass(frozen=True)
class Form:
    """The fields of the lines of a file."""

    fields: tuple[str, ...]
    value: str  # the field that is a number; topics are the first field, documents the third
    whole: bool  # whether the number must be an integer


QRELS = Form(("topic", "iteration", "document", "label"), "label", True)
RUN = Form(("topic", "Q0", "document", "rank", "score", "tag"), "score", False)


@dataclass(frozen=True)
class TrecLines:
    """The lines of a file, in its order."""

    name: str  # of the file
    topics: tuple[bytes, ...]  # in order of first appearance
    codes: IntArray  # the number of the topic of each line
    words: Words  # ids of documents, in native byte order, padded with 0
    values: FloatArray

    def take(self, rows: IntArray) -> TrecLines:
        """Some of the lines."""
        return replace(self, codes=self.codes[rows], words=self.words[rows], values=self.values[rows])

    def documents(self, rows: Any = slice(None)) -> NDArray[np.bytes_]:
        """Ids of the documents of some lines."""
        words = np.ascontiguousarray(self.words[rows])
        return words.view(f"S{WORD * words.shape[1]}").ravel()


class _IrregularError(Exception):
    """The input cannot be read the fast way."""


def read_lines(source: Any, form: Form, argument: str = "path") -> TrecLines:
    """Read a file: a path, "-" for standard input, or an open file. Errors name the argument that it came as."""
    data, name = read_bytes(source, text=True, argument=argument)
    try:
        parts = [_read_block(data[start:end], form) for start, end in _cut(data)]
    except _IrregularError:
        parts = [_read_slowly(data, name, form)]
    topics: dict[bytes, int] = {}
    codes = [
        np.repeat([topics.setdefault(topic, len(topics)) for topic in found], sizes) for found, sizes, _, _ in parts
    ]
    width = max(words.shape[1] for _, _, words, _ in parts)
    all_words, values = (
        np.concatenate([_widen(part[2], width) for part in parts]),
        np.concatenate([part[3] for part in parts]),
    )
    lines = TrecLines(name, tuple(topics), np.concatenate(codes), all_words, values)
    if has_repeated(hashes(lines.codes, lines.words)):
        _read_slowly(data, name, form)  # raises, unless different documents have the same hash
    return lines


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
        expected = f"{argument} must be a path, '-' or an open file"
        raise TypeError(f"{expected}; got {type(source).__name__}.{_way_out(source, argument)}")
    if isinstance(data, str):
        data = data.encode()
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{name} must be a complete gzip file, since it starts like one; got: {error}.") from None
    return _check_text(data, name) if text else data, name


def _way_out(source: Any, argument: str) -> str:
    """How to pass the content of a file, or columns, if the source seems to be one of these."""
    if isinstance(source, bytes | bytearray | memoryview):
        return f" Pass io.BytesIO({argument}) to read bytes as a file."
    if isinstance(source, list | tuple) and source and all(isinstance(line, str) for line in source):
        return f" Pass io.StringIO('\\n'.join({argument})) to read lines as a file."
    return IN_MEMORY if isinstance(source, Mapping) or hasattr(source, "columns") else ""


def _check_text(data: bytes, name: Any) -> bytes:
    """Refuse other encodings than UTF-8, in which ids would not match those of other files."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise ValueError(f"{name} must hold at least one line; got an empty file.")
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            refuse(name, data.count(b"\n", 0, error.start) + 1, data, "text in UTF-8")
    return data


def refuse(name: Any, number: int, line: bytes, expected: str) -> NoReturn:
    """Raise an error that shows a line; ``line`` may be the whole file."""
    if b"\n" in line:
        line = line.split(b"\n")[number - 1]
    shown = line.decode(errors="backslashreplace").rstrip("\r")
    shown = shown if len(shown) <= 100 else shown[:100] + "..."
    raise ValueError(f"{name}, line {number}: expected {expected}; got {shown!r}.")


def _cut(data: bytes) -> Iterator[tuple[int, int]]:
    """Blocks of whole lines."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        yield start, end
        start = end


_Part: TypeAlias = tuple[list[bytes], IntArray, Words, FloatArray]


def _read_block(data: bytes, form: Form) -> _Part:
    """Topics of consecutive lines with their numbers of lines, ids of documents, and values."""
    # Words of 8 bytes are read around the fields, so the block needs bytes around it.
    codes = np.frombuffer(b"".join((b"\n" * PADDING, data, b"\n" * LONGEST_ID)), dtype=np.uint8)
    starts, ends = _fields(codes, len(form.fields))
    topics = _gather(codes, starts[:, 0], ends[:, 0])
    first = np.flatnonzero(np.concatenate(([True], (topics[1:] != topics[:-1]).any(axis=1))))
    names = [codes[a:b].tobytes() for a, b in zip(starts[first, 0].tolist(), ends[first, 0].tolist(), strict=True)]
    place = form.fields.index(form.value)
    values = _numbers(codes, starts[:, place], ends[:, place])
    if form.whole and not _are_whole(values):
        raise _IrregularError
    return names, np.diff(first, append=len(starts)), _gather(codes, starts[:, 2], ends[:, 2]), values


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


def _gather(codes: Bytes, starts: IntArray, ends: IntArray) -> Words:
    """Fields as words of 8 bytes, padded with 0."""
    sizes = ends - starts
    longest = int(sizes.max())
    if longest > LONGEST_ID:
        raise _IrregularError
    every = np.ndarray(len(codes) - WORD + 1, dtype=np.uint64, buffer=codes.data, strides=(1,))
    words = np.empty((len(starts), -(-longest // WORD)), dtype=np.uint64)
    for number in range(words.shape[1]):
        kept = _FIRST[np.clip(sizes - WORD * number, 0, WORD)]
        np.bitwise_and(every[starts + WORD * number], kept, out=words[:, number])
    return words


def _numbers(codes: Bytes, starts: IntArray, ends: IntArray) -> FloatArray:
    """Decimal numbers, rounded like Python's float."""
    first = codes[starts]
    signed = (first == ord("-")) | (first == ord("+"))
    sizes = ends - starts - signed
    if sizes.max() <= LONGEST_NUMBER and sizes.min() > 0:
        every = np.ndarray(len(codes) - WORD + 1, dtype=np.uint64, buffer=codes.data, strides=(1,))
        words = np.stack([every[ends - 2 * WORD], every[ends - WORD]], axis=1) & _LAST[sizes]
        values = _decimals(words.view(np.uint8), sizes)
        if values is not None:
            return np.where(first == ord("-"), -values, values)
    fields = [codes[a:b].tobytes() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    return _floats(fields)


def _decimals(characters: Bytes, sizes: IntArray) -> FloatArray | None:
    """Numbers of digits and at most one point, right-aligned in 16 characters; None if there are others.

    An integer below 2^53, divided by a power of ten up to 10^22, is rounded only once, and thus correctly.
    """
    digits = characters - np.uint8(ord("0"))
    is_digit, is_point = digits < 10, characters == ord(".")
    if not (is_digit | is_point | (characters == 0)).all():
        return None
    values = (digits * is_digit).astype(np.float64) @ _PLACES
    if not is_point.any():
        return values
    # The highest byte of such a product is a weighted sum of all bytes of the word.
    first, second = is_point.view("<u8").T
    n_points = ((first + second) * np.uint64(0x0101010101010101)) >> np.uint64(56)
    if n_points.max() > 1 or (n_points == sizes).any():
        return None
    decimals = (first * np.uint64(0x0F0E0D0C0B0A0908) + second * np.uint64(0x0706050403020100)) >> np.uint64(56)
    # The digits before the point are one place too far to the left.
    above = _POWERS[decimals + n_points]
    exact = values.astype(np.int64)
    return (exact - (exact // above) * (above - _POWERS[decimals])) / _POWERS[decimals]


def _floats(fields: list[bytes]) -> FloatArray:
    try:
        values = np.array(list(map(float, fields)))
    except ValueError:
        raise _IrregularError from None
    if np.isnan(values).any() or b"_" in b" ".join(fields):  # float accepts 1_0
        raise _IrregularError
    return values


def _read_slowly(data: bytes, name: str, form: Form) -> _Part:
    """Read line by line, and raise at the first line that is wrong."""
    seen: dict[tuple[bytes, bytes], int] = {}
    topics, values = [], []
    for number, line in enumerate(data.split(b"\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != len(form.fields) or any(byte < ord(" ") and byte not in b"\t\v\f\r" for byte in line):
            refuse(name, number, line, f"{len(form.fields)} fields ({' '.join(form.fields)})")
        if max(len(fields[0]), len(fields[2])) > LONGEST_ID:
            refuse(name, number, line, f"ids of at most {LONGEST_ID} bytes")
        key = fields[0], fields[2]
        if key in seen:
            refuse(name, number, line, f"each document once per topic, and line {seen[key]} has this one")
        seen[key] = number
        topics.append(fields[0])
        values.append(_value(fields[form.fields.index(form.value)], form, (name, number, line)))
    documents = np.array([document for _, document in seen])
    width = -(-documents.dtype.itemsize // WORD)
    words = np.ascontiguousarray(documents.astype(f"S{WORD * width}")).view(np.uint64).reshape(-1, width)
    return topics, np.ones(len(topics), dtype=np.intp), words, np.array(values)


def _are_whole(values: FloatArray) -> bool:
    return bool(((values == np.floor(values)) & (np.abs(values) <= LARGEST_EXACT_INTEGER)).all())


def _value(field: bytes, form: Form, where: tuple[str, int, bytes]) -> float:
    try:
        value = float(_floats([field])[0])
    except _IrregularError:
        value = np.nan
    if form.whole and not _are_whole(np.array(value)):
        refuse(*where, f"a whole number as {form.value}")
    if np.isnan(value):
        refuse(*where, f"a number as {form.value}")
    return value


def hashes(codes: IntArray, words: Words) -> Words:
    """A hash of each document of a topic; different documents are unlikely to have the same one."""
    mixed = codes.astype(np.uint64)
    for column in words.T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(0xD6E8FEB86659FD93)


def has_repeated(values: Words) -> bool:
    """Whether a value occurs twice."""
    ordered = np.sort(values)
    return bool((ordered[1:] == ordered[:-1]).any())


def match(first: TrecLines, second: TrecLines) -> tuple[IntArray, IntArray]:
    """Lines of two files with the same topics that agree in topic and document."""
    width = max(first.words.shape[1], second.words.shape[1])
    one, other = (hashes(lines.codes, _widen(lines.words, width)) for lines in (first, second))
    rows, places = _find(one, other)
    if (_widen(first.words[rows], width) == _widen(second.words[places], width)).all():
        return rows, places
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    for lines in (first, second):
        pairs = zip(lines.codes.tolist(), lines.documents().tolist(), strict=True)
        one, other = other, np.array([numbers[pair] for pair in pairs], dtype=np.uint64)
    return _find(one, other)


def _widen(words: Words, width: int) -> Words:
    return words if words.shape[1] == width else np.pad(words, ((0, 0), (0, width - words.shape[1])))


def _find(wanted: Words, among: Words) -> tuple[IntArray, IntArray]:
    """Positions in ``wanted`` of values that occur in ``among``, and their positions there."""
    # Most values occur in only one of the two, which a table of their last bits shows faster than a search.
    table = np.zeros(2**20, dtype=bool)
    last = np.uint64(len(table) - 1)
    table[among & last] = True
    rows: IntArray = np.flatnonzero(table[wanted & last])
    order = np.argsort(among)
    among = among[order]
    places = np.minimum(np.searchsorted(among, wanted[rows]), len(order) - 1)
    found: Mask = among[places] == wanted[rows]
    return rows[found], order[places[found]]

"""Lines of fields separated by whitespace, as in TREC files, as dicts of documents by topic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER, lengths
from skrank_metrics.sources.join import refuse_twice
from skrank_metrics.sources.lists import Ids, Lists, from_ranks, listed
from skrank_metrics.sources.tables import read_bytes, refuse, refuse_at, to_number


class Form(NamedTuple):
    """The fields of the lines of a file; topics are the first."""

    fields: tuple[str, ...]
    document: int  # the place of the document
    value: int  # the place of the number
    expected: str  # the number, in words
    whole: bool  # whether the number must be an integer
    more: bool  # whether further fields are ignored
    ranks: bool = False  # whether the number is a rank, of which 1 is the best


# As in trec_eval, a tag may hold blanks, but judgments have nothing after the label.
FORMS = {
    "qrels": Form(
        ("topic", "iteration", "document", "label"),
        2,
        3,
        "a whole number as label",
        whole=True,
        more=False,
    ),
    "run": Form(
        ("topic", "Q0", "document", "rank", "score", "tag"),
        2,
        4,
        "a number as score",
        whole=False,
        more=True,
    ),
    # As in MS MARCO.
    "ranks": Form(
        ("topic", "document", "rank"),
        1,
        2,
        "a whole number as rank",
        whole=True,
        more=False,
        ranks=True,
    ),
}


def read_lines(
    source: Any, kind: str, argument: str = "path", *, duplicates: str = "error"
) -> tuple[Lists, str]:
    """Read qrels or a run: a path, "-" for standard input, or an open file. Also returns the name of the file.

    Errors name the argument that it came as. A run of lines with three fields has ranks instead of scores if it did
    not come as a path to ``trec.read_run``.
    """
    data, name = read_bytes(source, text=True, argument=argument)
    # Such a file is binary or UTF-16, in which ids would match nothing.
    if b"\0" in data:
        refuse_at(name, data, data.index(b"\0"), "text without NUL")
    ranked = argument == "run" and _n_fields(data) == len(FORMS["ranks"].fields)
    form = FORMS["ranks" if ranked else kind]
    topics = _read_topics(data, form, name, duplicates)
    if not topics:
        raise ValueError(f"{name} must hold at least one line; got only comments.")
    # Lines of a topic may be apart; dicts bring them together.
    sizes = lengths(topics.values())
    names = list(chain.from_iterable(topics.values()))
    found = chain.from_iterable(row.values() for row in topics.values())
    values = np.fromiter(found, np.float64, len(names))
    lists = listed(kind, list(topics), sizes, Ids(np.arange(len(names)), names, {"text"}))
    lists = replace(lists, values=values, given=topics, in_trec=not ranked, ranked=False)
    return from_ranks(lists) if ranked else lists, name


def _n_fields(data: bytes) -> int:
    """Number of fields of the first line that is not blank or a comment."""
    for line in BytesIO(data):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            return len(fields)
    return 0


def _read_topics(
    data: bytes, form: Form, name: str, duplicates: str
) -> dict[str, dict[str, float]]:
    """The numbers of the documents of each topic; the first line that is wrong is shown in an error."""
    topics: dict[str, dict[str, float]] = {}
    topic, documents = b"", dict[str, float]()
    n_expected, place, place_of_value = len(form.fields), form.document, form.value
    convert = _converter(data, form)
    # What follows the last field that matters is not split.
    most = n_expected - 1 if form.more else n_expected
    for number, line in enumerate(data.split(b"\n"), start=1):
        # Of the control characters, bytes are split only at those that are blanks in C, too.
        fields = line.split(None, most)
        if len(fields) != n_expected or fields[0] != topic:
            if not fields or fields[0].startswith(b"#"):
                continue
            if len(fields) != n_expected:
                refuse(name, number, line, f"{n_expected} fields ({' '.join(form.fields)})")
            topic = fields[0]
            documents = topics.setdefault(topic.decode(), {})
        try:
            value = convert(fields[place_of_value])
        except ValueError:
            refuse(name, number, line, form.expected)
        # A blank in an id would make the rank the score. Without further fields, anything may stand for the rank.
        if form.more and fields[3].strip(b"+-.0123456789") and len(fields[5].split()) > 1:
            refuse(name, number, line, "a rank as fourth field, and no blanks in ids")
        document = fields[place].decode()
        if document not in documents:
            documents[document] = value
            continue
        if duplicates == "error":
            refuse_twice(name, f"document {document!r} of query {topic.decode()!r}")
        if duplicates == "best":
            documents[document] = (min if form.ranks else max)(documents[document], value)
    return topics


def _converter(data: bytes, form: Form) -> Callable[[bytes], float]:
    """A function that converts the numbers of a file, or raises ValueError."""
    if form.whole:
        return _whole_number
    # A call of a function of Python takes as long as the rest of the line.
    plain = b"_" not in data and b"nan" not in data.lower()
    return float if plain else to_number


def _whole_number(word: bytes) -> float:
    value = to_number(word)
    if abs(value) > LARGEST_EXACT_INTEGER or value != int(value):
        raise ValueError
    return value

"""Lines of fields separated by whitespace, as in TREC files, as dicts of documents by topic."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER, lengths
from skrank_metrics.reports.facts import ReadFile
from skrank_metrics.sources.join import refuse_twice
from skrank_metrics.sources.lists import IdColumn, JoinedLists, lists_of_documents
from skrank_metrics.sources.tables import (
    SourceFile,
    file_of,
    read_text,
    refuse,
    refuse_at,
    to_number,
)


class Form(NamedTuple):
    """The fields of the lines of a file; topics are the first."""

    name: str  # for the print of a report
    fields: tuple[str, ...]
    document: int  # the place of the document
    value: int  # the place of the number
    expected: str  # the number, in words
    whole: bool = False  # whether the number must be an integer
    ranks: bool = False  # whether the number is a rank, of which 1 is the best


FORMS = {
    "qrels": Form(
        "TREC judgments",
        ("topic", "iteration", "document", "label"),
        2,
        3,
        "a whole number as label",
        whole=True,
    ),
    "run": Form(
        "a TREC run",
        ("topic", "Q0", "document", "rank", "score", "tag"),
        2,
        4,
        "a number as score",
    ),
    # The files of MS MARCO look like this.
    "ranks": Form(
        "query, document, rank",
        ("topic", "document", "rank"),
        1,
        2,
        "a number as rank",
        ranks=True,
    ),
}


# Seconds since 1970 are larger.
_LARGEST_GRADE = 10**6


def read_lines(
    source: Any, kind: str, argument: str = "path", *, duplicates: str = "error"
) -> tuple[JoinedLists, str]:
    """Read qrels or a run: a path, "-" for standard input, or an open file. Also returns the name of the file.

    Errors name the argument that it came as. A run of lines with three fields has ranks instead of scores if it did
    not come as a path to ``trec.read_run``.
    """
    file = file_of(source, argument)
    data, name = read_text(file), file.name
    # Old programs of the Mac end lines like this.
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # Such a file is binary or UTF-16, in which ids would match nothing.
    if b"\0" in data:
        refuse_at(name, data, data.index(b"\0"), "text without NUL")
    ranked = argument == "run" and len(file.head.split()) == len(FORMS["ranks"].fields)
    form = FORMS["ranks" if ranked else kind]
    topics = _read_topics(data, form, name, duplicates)
    # Lines of a topic may be apart; dicts bring them together.
    sizes = lengths(topics.values())
    names = list(chain.from_iterable(topics.values()))
    found = chain.from_iterable(row.values() for row in topics.values())
    values = np.fromiter(found, np.float64, len(names))
    if kind == "qrels" and values.max() > _LARGEST_GRADE:
        raise ValueError(
            f"{name} has the label {values.max():.0f}. Are its lines 'user item rating timestamp'? Judgments "
            "are 'topic iteration document label'. Read the file with pandas, and name its columns."
        )
    lists = lists_of_documents(
        kind, list(topics), sizes, IdColumn(np.arange(len(names)), names, {"text"})
    )
    lists = replace(
        lists,
        values=-values if ranked else values,
        given=topics,
        in_trec=not ranked,
        ranked=ranked,
        read=ReadFile(name, form.name, len(topics)),
    )
    return lists, name


def are_lines(file: SourceFile) -> bool:
    """Whether a file holds lines of fields rather than a table: its first line has a number where these have one."""
    fields = file.head.split()
    place = {3: FORMS["ranks"].value, 4: FORMS["qrels"].value}.get(len(fields), FORMS["run"].value)
    with suppress(ValueError, IndexError):
        to_number(fields[place])
        return file.is_text or file.form == "lines"
    return file.form == "lines"


def _read_topics(
    data: bytes, form: Form, name: str, duplicates: str
) -> dict[str, dict[str, float]]:
    """The numbers of the documents of each topic; the first line that is wrong is shown in an error."""
    topics: dict[str, dict[str, float]] = {}
    topic, documents = b"", dict[str, float]()
    next_ranks: dict[bytes, float] = {}
    n_expected, place, place_of_value = len(form.fields), form.document, form.value
    convert = _converter(data, form)
    for number, line in enumerate(data.split(b"\n"), start=1):
        # Of the control characters, bytes are split only at those that are blanks in C, too.
        fields = line.split()
        if len(fields) != n_expected or fields[0] != topic:
            if not fields or fields[0].startswith(b"#"):
                continue
            if len(fields) != n_expected:
                _check_tag(fields, form, name, number, line)
            topic = fields[0]
            documents = topics.setdefault(topic.decode(), {})
        try:
            value = convert(fields[place_of_value])
        except ValueError:
            refuse(name, number, line, form.expected)
        if form.ranks:
            # The first rank is 1 or 0.
            expected = next_ranks.get(topic, float(value > 0))
            next_ranks[topic] = expected + 1
            if value != expected:
                refuse(name, number, line, _RANK.format(expected))
        document = fields[place].decode()
        if document in documents:
            if duplicates == "error":
                refuse_twice(name, f"document {document!r} of query {topic.decode()!r}")
            value = _chosen(documents[document], value, duplicates, form)
        documents[document] = value
    return topics


def _chosen(first: float, second: float, duplicates: str, form: Form) -> float:
    """The value of a document that is twice in a list."""
    if duplicates == "first":
        return first
    return min(first, second) if form.ranks else max(first, second)


# A score in the place of a rank would turn the order round.
_RANK = (
    "rank {:g}, since lines of three fields are 'query document rank', with ranks that count 1, 2, 3, ... in each list "
    "(scores need lines of six fields, 'topic Q0 document rank score tag')"
)


def _check_tag(fields: list[bytes], form: Form, name: str, number: int, line: bytes) -> None:
    """Refuse a wrong number of fields, unless it is certain that only the tag of a run has blanks, as in trec_eval."""
    expected = f"{len(form.fields)} fields ({' '.join(form.fields)})"
    if form is not FORMS["run"] or len(fields) < len(form.fields):
        refuse(name, number, line, expected)
    # If two other numbers stood before a tag, the document could have blanks, or a line end could be missing.
    are_numbers = [_is_number(field) for field in fields]
    last = len(fields) - len(("rank", "score", "tag"))
    places = [place for place in range(3, last + 1) if all(are_numbers[place : place + 2])]
    if places != [form.fields.index("rank")]:
        refuse(name, number, line, f"{expected}, with blanks only in the tag")


def _is_number(word: bytes) -> bool:
    try:
        to_number(word)
    except ValueError:
        return False
    return True


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

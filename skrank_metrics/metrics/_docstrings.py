"""Docstrings of metric functions: what all metrics share is written here, once."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

from skrank_metrics.metrics._record import Metric

_DATA = {
    "y_true": (
        "array-like of shape (n_documents,) or (n_queries, n_documents)",
        "Relevance labels, finite and >= 0. In 2-D each row is a query, and qid must be left out.",
    ),
    "y_score": (
        "array-like of the shape of y_true",
        "Scores to rank by, the largest first. May be infinite, not NaN.",
    ),
}
_SHARED = {
    "qid": (
        "array-like of shape (n_documents,)",
        "Query id of each document, of any type and in any order. May be left out where y_true is 2-D or is a Series "
        "with an index level named 'qid', see with_qid.",
    ),
    "k": ("int or None", "Cutoff rank: only the first k documents of each ranking count. None means all."),
    "ties": (
        '{"average", "best", "worst", "stable"}',
        "Order of documents with equal scores: the expectation over all their orders, the best label first, the worst "
        "first, or the order of rows.",
    ),
    "replace_undefined_by": (
        "float",
        "Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.",
    ),
    "sample_weight": (
        "array-like of shape (n_documents,) or, in 2-D, (n_queries,)",
        "Weights, finite and >= 0, which must not vary within a query: a query counts as one.",
    ),
    "retrieved": (
        "array-like of bool, of the shape of y_true",
        "False for documents that were judged but not ranked: they count in R and in the ideal order, never in the "
        "ranking, and their scores are ignored. None means that all were ranked.",
    ),
    "average": (
        '{"macro", "micro", None}',
        "Mean over queries, ratio pooled over documents, or one value a query in order of first appearance.",
    ),
}
_RAISES = """Raises
------
TypeError
    Where a 1-D y_true comes without query ids, or an argument is of the wrong type.
ValueError
    Where labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary within
    a query, or an option has no such value.
"""
_BACK_MATTER = ("Notes", "Examples")


def public_docstring(record: Metric, defaults: Mapping[str, Any]) -> str:
    """Complete the docstring of a kernel with all sections that can be told from the record.

    ``defaults`` names the keywords of the function in order.
    """
    front, back = _split(inspect.cleandoc(record.kernel.__doc__ or ""))
    if record.undefined:
        front += f" Undefined for a query with {record.undefined}."
    entries = [f"{name} : {kind}\n{_indent(text)}" for name, (kind, text) in _DATA.items()]
    for name, default in defaults.items():
        option = record.options.get(name)
        kind, text = (option.kind, option.doc) if option else _SHARED[name]
        spelled = f'"{default}"' if isinstance(default, str) else default
        entries.append(f"{name} : {kind}, default={spelled}\n{_indent(text)}")
    returns = f"score : float or ndarray of shape (n_queries,)\n    In {record.bounds}. An array where average=None."
    reference = f"{_wrap(record.reference.text)}\n{record.reference.url}"
    sections = [
        front,
        _section("Parameters", "\n".join(entries)),
        _section("Returns", returns),
        _RAISES.strip(),
        _section("References", reference),
        back,
    ]
    return "\n\n".join(sections) + "\n"


def _section(title: str, body: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{body}"


def _split(doc: str) -> tuple[str, str]:
    lines = doc.splitlines()
    for number, line in enumerate(lines):
        if line in _BACK_MATTER:
            return "\n".join(lines[:number]), "\n".join(lines[number:])
    return doc, ""


def _indent(text: str) -> str:
    return textwrap.indent(_wrap(text), "    ")


def _wrap(text: str) -> str:
    return textwrap.fill(text, width=106, break_long_words=False)

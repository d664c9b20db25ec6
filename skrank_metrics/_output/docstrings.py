"""Docstrings completed from signatures, so that shared descriptions are written only once."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Mapping
from typing import Any, TypeAlias

# Type and description of a parameter.
Text: TypeAlias = tuple[str, str]

SHARED: dict[str, Text] = {
    "y_true": (
        "array-like of shape (n_documents,) or (n_queries, n_documents)",
        "Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.",
    ),
    "y_score": ("array-like of the shape of y_true", "Scores to rank by, largest first. May be infinite, but not NaN."),
    "qid": (
        "array-like of shape (n_documents,)",
        "Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with an "
        "index level named 'qid', see with_qid.",
    ),
}


def parameters(signature: inspect.Signature, texts: Mapping[str, Text]) -> str:
    """Build the Parameters section in the order of the signature, with defaults."""
    return section(
        "Parameters",
        *(
            entry(f"{name} : {texts[name][0]}{_default(parameter.default)}", texts[name][1])
            for name, parameter in signature.parameters.items()
        ),
    )


def section(title: str, *entries: str) -> str:
    """Join entries under an underlined title."""
    return "\n".join([title, "-" * len(title), *entries])


@functools.cache  # metrics share most of their descriptions
def entry(head: str, text: str) -> str:
    """Build an entry of a section: its head, with the text wrapped and indented below."""
    return f"{head}\n{textwrap.indent(textwrap.fill(text, width=106, break_long_words=False), '    ')}"


def _default(default: Any) -> str:
    return "" if default is inspect.Parameter.empty else f", default={default!r}".replace("'", '"')

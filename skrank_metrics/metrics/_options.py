"""The options that kernels share: how each is checked and what the documentation says of it, in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from skrank_metrics._engine.gains import check_discount, check_gain
from skrank_metrics._input.arrays import check_choice, check_number


@dataclass(frozen=True)
class Option:
    """An own parameter of a metric."""

    check: Callable[[Any], Any]  # from what the user passed to what the kernel gets
    kind: str  # the type, as a docstring has it
    annotation: str  # the type, as the stub has it
    doc: str


def choice(name: str, doc: str, *words: str) -> Option:
    """Build an option that is one of a few words."""
    return Option(
        lambda value: check_choice(value, name, words),
        "{" + ", ".join(f'"{word}"' for word in words) + "}",
        "Literal[" + ", ".join(f'"{word}"' for word in words) + "]",
        doc,
    )


def number(name: str, doc: str, interval: str, *, or_none: bool = False) -> Option:
    """Build an option that is a number in an interval."""
    return Option(
        lambda value: check_number(value, name, interval, or_else=None if or_none else 0.0),
        "float or None" if or_none else f"float in {interval}",
        "float | None" if or_none else "float",
        doc,
    )


# mypy checks the arithmetic of kernels; what reaches an option is checked at run time, before any data is.
Gain = Annotated[
    Any,
    Option(
        check_gain,
        '"linear", "exp2", callable or sequence of float',
        "_Gain",
        "Gain of a label: the label itself, 2^label - 1, a function of an array of labels, or the gains of the "
        "grades 0, 1, 2, ...",
    ),
]
Discount = Annotated[
    Any,
    Option(
        check_discount,
        '"log2", "reciprocal" or callable',
        "_Discount",
        "What the gain at a rank is divided by: log2(rank + 1), the rank, or a function of an array of ranks.",
    ),
]
Probabilities = Annotated[
    Any,
    choice(
        "gain",
        "Probability that a document satisfies its reader: 1 if relevant, else 0; the label itself, which must lie in "
        "[0, 1]; or (2^label - 1) / 2^max_grade.",
        "binary",
        "linear",
        "exp2",
    ),
]
MaxGrade = Annotated[Any, number("max_grade", 'Largest grade there can be. Only for gain="exp2".', "(0, 1000]")]
Persistence = Annotated[
    Any, number("p", "Probability that a reader who is not satisfied goes on to the next rank.", "(0, 1]")
]
RelevanceThreshold = Annotated[
    Any,
    number(
        "relevance_threshold",
        "A document is relevant if its label is at least this; None means if it is above 0.",
        "(0, inf)",
        or_none=True,
    ),
]

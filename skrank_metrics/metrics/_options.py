"""The options that kernels share, with their checks and documentation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from skrank_metrics._engine.gains import check_discount, check_gain
from skrank_metrics._input.parameters import check_bool, check_choice, check_number

# A denominator for values of 0, since 0 / 0 is undefined.
ABOVE_ZERO = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Option:
    """A parameter that is specific to a metric."""

    doc: str
    check: Callable[
        [Any, str], Any
    ]  # takes the value and the name of the parameter; returns what the kernel gets
    kind: str  # the type in docstrings
    annotation: str  # the type in the stub
    gain: str | None = None  # the only gain with which it has an effect, if the metric has gains


def choice(doc: str, words: tuple[str, ...]) -> Option:
    """Build an option with a few allowed words."""
    spelled = ", ".join(f'"{word}"' for word in words)
    return Option(
        doc,
        # Words are checked when a metric is bound, before any data is seen.
        lambda value, name: check_choice(value, name, words),
        f"{{{spelled}}}",
        f"Literal[{spelled}]",
    )


def number(doc: str, interval: str, gain: str | None = None) -> Option:
    """Build an option that is a number in an interval."""
    kind = f"float in {interval}"
    return Option(doc, lambda value, name: check_number(value, name, interval), kind, "float", gain)


def switch(doc: str) -> Option:
    """Build an option that is True or False."""
    return Option(doc, check_bool, "bool", "bool")


# mypy checks the arithmetic of kernels. The values of options are checked at run time, before any data.
Gain = Annotated[
    Any,
    Option(
        "Gain of a label: the label itself, 2^label - 1, 1 if it is above 0, a function of an array of labels, the "
        "gains of the grades 0, 1, 2, ..., or a dict of gains by grade.",
        lambda value, name: check_gain(value),
        '"linear", "exp2", "binary", callable, sequence of float or dict',
        "_Gain",
    ),
]
Discount = Annotated[
    Any,
    Option(
        "Divisor of the gain at a rank: log2(rank + 1); the rank; log2(rank), but 1 at ranks 1 and 2, as in the first "
        "paper on DCG; or a function of an array of ranks.",
        lambda value, name: check_discount(value),
        '"log2", "reciprocal", "jarvelin" or callable',
        "_Discount",
    ),
]
IDEALS = ("judged", "shown", "all", "retrieved", "top")


def _check_ideal(value: Any, name: str) -> str | float:
    """One of the words, or a grade."""
    if isinstance(value, str):
        return check_choice(value, name, IDEALS)
    # Grade 0 gains nothing, so no list of it is ideal.
    grade = check_number(value, name, "(0, inf)")
    return float(grade)


Ideal = Annotated[
    Any,
    Option(
        "Documents of the ideal order, cut at k: all judged ones; as many of these as the list shows; all, without the "
        "cutoff; only those that were retrieved; only the first k retrieved ones, unless ties are averaged; or "
        "documents of a given grade, whose gain no label may exceed.",
        _check_ideal,
        '"judged", "shown", "all", "retrieved", "top" or float',
        "_Ideal",
    ),
]
Probabilities = Annotated[
    Any,
    choice(
        "Probability that a document satisfies the reader: 1 if relevant, else 0; the label itself, which must be in "
        "[0, 1]; or (2^label - 1) / 2^max_grade.",
        ("binary", "linear", "exp2"),
    ),
]
MaxGrade = Annotated[
    Any, number('Largest possible grade. Only for gain="exp2".', "(0, 1000]", "exp2")
]
Persistence = Annotated[
    Any, number("Probability that an unsatisfied reader goes on to the next rank.", "(0, 1]")
]
RelevanceThreshold = Annotated[
    Any,
    Option(
        "Smallest label of a relevant document. If None, labels above 0 are relevant.",
        lambda value, name: check_number(value, name, "(0, inf)", other="None"),
        "float or None",
        "float | None",
        "binary",
    ),
]

"""The options that kernels share: how each is checked and what the documentation says of it, in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

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


def _check_threshold(value: Any) -> float | None:
    if value is None:
        return None
    threshold = check_number(value, "relevance_threshold", "a number > 0 or None")
    if not 0 < threshold < np.inf:
        raise ValueError(f"relevance_threshold must be a number > 0 or None; got {value!r}.")
    return threshold


def _check_max_grade(value: Any) -> float:
    grade = check_number(value, "max_grade", "a number > 0")
    if not 0 < grade <= 1000:
        raise ValueError(f"max_grade must be > 0 and at most 1000; got {value!r}.")
    return grade


def _check_persistence(value: Any) -> float:
    p = check_number(value, "p", "a number in (0, 1]")
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1]; got {value!r}.")
    return p


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
MaxGrade = Annotated[
    Any, Option(_check_max_grade, "float", "float", 'Largest grade there can be. Only for gain="exp2".')
]
Persistence = Annotated[
    Any,
    Option(
        _check_persistence, "float in (0, 1]", "float", "Probability to go on to the next rank, once not satisfied."
    ),
]
RelevanceThreshold = Annotated[
    Any,
    Option(
        _check_threshold,
        "float or None",
        "float | None",
        "A document is relevant where its label is at least this; None means where it is above 0.",
    ),
]

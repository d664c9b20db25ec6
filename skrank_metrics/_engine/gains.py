"""Gains of labels and discounts of ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._input.arrays import FloatArray, places_in, to_float64
from skrank_metrics._input.parameters import check_choice, shown

GainFunction: TypeAlias = Callable[[FloatArray], FloatArray]
DiscountFunction: TypeAlias = Callable[[FloatArray], FloatArray]


def linear_gain(labels: FloatArray) -> FloatArray:
    """The label itself."""
    return labels


def exp2_gain(labels: FloatArray) -> FloatArray:
    """2^label - 1."""
    # The check names the label whose gain is infinite, which a warning of NumPy would not.
    with np.errstate(over="ignore"):
        return _check_gains(_exp2_minus_1(labels), labels, "'exp2'")


def _exp2_minus_1(labels: FloatArray) -> FloatArray:
    gains: FloatArray = np.exp2(labels) - 1
    fractions = (labels > 0) & (labels < 1)
    if fractions.any():
        # The difference of two numbers near 1 loses digits, below 1e-16 all of them.
        gains[fractions] = np.expm1(labels[fractions] * np.log(2))
    return gains


@dataclass(frozen=True)
class GradeGains:
    """The gain of each of some grades, as a function of labels."""

    grades: tuple[float, ...]  # ascending
    gains: tuple[float, ...]

    def __call__(self, labels: FloatArray) -> FloatArray:
        places = places_in(self.grades, labels)
        missing = labels[np.asarray(self.grades)[places] != labels]
        if missing.size:
            raise ValueError(
                f"gain must have an entry for each label; got gains of the grades {shown(self.grades)} and the label "
                f"{missing[0]:g}."
            )
        return np.asarray(self.gains)[places]


@dataclass(frozen=True)
class CallableGain:
    """A custom gain function."""

    function: Callable[[FloatArray], Any]

    def __call__(self, labels: FloatArray) -> FloatArray:
        gains = _call(self.function, labels, "gain")
        return _check_gains(gains, labels, f"{self.function!r}")


def _check_gains(gains: FloatArray, labels: FloatArray, name: str) -> FloatArray:
    valid = (gains >= 0) & (gains < np.inf)
    if valid.all():
        return gains
    place = valid.argmin()
    raise ValueError(
        f"gain must be finite and >= 0; gain={name} gives {gains.flat[place]} for the label {labels.flat[place]:g}. "
        "Map the labels to a few grades, or pass the gain of each grade as a sequence."
    )


@dataclass(frozen=True)
class RelevanceGain:
    """1 for relevant documents, 0 for others."""

    relevance_threshold: float | None

    def __call__(self, labels: FloatArray) -> FloatArray:
        if self.relevance_threshold is None:
            return (labels > 0).astype(np.float64)
        return (labels >= self.relevance_threshold).astype(np.float64)


@dataclass(frozen=True)
class Probability:
    """The probability that a document satisfies the reader, given its label."""

    gain: str
    max_grade: float
    relevance_threshold: float | None

    def __call__(self, labels: FloatArray) -> FloatArray:
        if self.gain == "binary":
            return RelevanceGain(self.relevance_threshold)(labels)
        if self.gain == "linear":
            self._refuse_above(1.0, labels, "Use gain='exp2'")
            return labels
        self._refuse_above(self.max_grade, labels, f"Set max_grade={labels.max():g}")
        return _exp2_minus_1(labels) / 2.0**self.max_grade

    def _refuse_above(self, limit: float, labels: FloatArray, way_out: str) -> None:
        if labels.max() > limit:
            raise ValueError(
                f"y_true must be at most {limit:g} for gain={self.gain!r} to be a probability; got "
                f"{labels.max():g}. {way_out}, or rescale the labels."
            )


def check_gain(gain: Any) -> GainFunction:
    """Resolve the ``gain`` argument of the DCG family."""
    if callable(gain):
        return CallableGain(gain)
    if isinstance(gain, str) or not isinstance(gain, Mapping | Sequence | np.ndarray):
        return _GAINS[check_choice(gain, "gain", _GAINS)]
    table = gain if isinstance(gain, Mapping) else dict(enumerate(gain))
    # Grade 0 gains nothing unless the table says otherwise: it is also that of documents that nobody judged.
    grades = to_float64([0, *table], "gain")
    gains = to_float64([table.get(0, 0), *table.values()], "gain")
    known, places = np.unique(grades, return_index=True)
    valid = (grades >= 0) & (grades < np.inf) & (gains >= 0) & (gains < np.inf)
    if gains.ndim != 1 or not valid.all():
        raise ValueError(f"gain must hold one finite gain >= 0 for each grade >= 0; got {gain!r}.")
    return GradeGains(tuple(known.tolist()), tuple(gains[places].tolist()))


@dataclass(frozen=True)
class CallableDiscount:
    """A custom discount function."""

    function: Callable[[FloatArray], Any]

    def __call__(self, ranks: FloatArray) -> FloatArray:
        discounts = _call(self.function, ranks, "discount")
        # NaN fails every comparison.
        valid = (discounts > 0) & (discounts < np.inf)
        if not valid.all() or (np.diff(discounts) < 0).any():
            raise ValueError(
                "discount must be finite, > 0 and never fall with the rank, since gains are divided by it; got "
                f"{discounts[:4].tolist()} for the first ranks. To weight gains, return the reciprocal of the weight."
            )
        return discounts


def check_discount(discount: Any) -> DiscountFunction:
    """Resolve the ``discount`` argument of the DCG family."""
    if callable(discount):
        return CallableDiscount(discount)
    return _DISCOUNTS[check_choice(discount, "discount", _DISCOUNTS)]


def _call(function: Callable[[FloatArray], Any], values: FloatArray, name: str) -> FloatArray:
    # Callers check the values.
    with np.errstate(over="warn"):
        # The function gets a copy, since it may work in place.
        result = np.asarray(function(values.copy()), dtype=np.float64)
    if result.shape != values.shape:
        raise ValueError(
            f"{name} must return one number for each entry of its argument; got shape {result.shape} for "
            f"{values.shape}."
        )
    return result


_GAINS: dict[str, GainFunction] = {
    "linear": linear_gain,
    "exp2": exp2_gain,
    "binary": RelevanceGain(None),
}
_DISCOUNTS: dict[str, DiscountFunction] = {
    "log2": lambda ranks: np.log2(ranks + 1),
    "reciprocal": lambda ranks: ranks,
    # In the first paper on DCG, the first two ranks count in full.
    "jarvelin": lambda ranks: np.log2(np.maximum(ranks, 2)),
}

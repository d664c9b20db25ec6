"""Sums of floats without rounding, which do not depend on the order of their terms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray

# Every float64 is a multiple of this power of two.
_UNIT = 1126
# Number of half mantissas, of 27 bits each, to add at a time, so that their sums stay below 2^53.
_CHUNK = 2**22


@dataclass
class ExactSum:
    """The sum of any number of float64, as a whole number of units of 2^-1126."""

    units: int = 0

    def add(self, values: FloatArray) -> None:
        """Add finite numbers."""
        for first in range(0, len(values), _CHUNK):
            self.units += _units(values[first : first + _CHUNK])

    def __iadd__(self, other: ExactSum) -> ExactSum:
        self.units += other.units
        return self

    def __float__(self) -> float:
        """The nearest float64, as by ``math.fsum``."""
        return self.units / (1 << _UNIT)

    @property
    def fraction(self) -> Fraction:
        """The exact sum."""
        return Fraction(self.units, 1 << _UNIT)


def exact_sum(values: FloatArray) -> float:
    """The float64 nearest to the sum of finite numbers; if they are many, three times as fast as ``math.fsum``."""
    if len(values) < 1000:
        return math.fsum(values.tolist())
    total = ExactSum()
    total.add(values)
    return float(total)


def _units(values: FloatArray) -> int:
    if not np.isfinite(values).all():
        raise OverflowError
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = int(exponents.min())
    places = exponents - lowest
    high, low = (np.bincount(places, weights=half) for half in (whole >> 26, whole & (2**26 - 1)))
    used = np.flatnonzero((high != 0) | (low != 0))
    sums = ((int(high[place]) << 26) + int(low[place]) << lowest + int(place) + _UNIT - 53 for place in used)
    return sum(sums)


def products(terms: list[FloatArray], factor: FloatArray) -> list[FloatArray]:
    """Terms whose sum is exactly the sum of the given terms times a factor (Dekker 1971)."""
    return [part for term in terms for part in _product(term, factor)]


def _product(a: FloatArray, b: FloatArray) -> tuple[Any, Any]:
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _split(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    mantissas, exponents = np.frexp(a)  # so that nothing overflows
    high = np.ldexp(np.rint(np.ldexp(mantissas, 26)), exponents - 26)
    return high, a - high

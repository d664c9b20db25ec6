"""Checks of single parameters: numbers, flags, words, seeds and names, and the words of their errors."""

from __future__ import annotations

import difflib
import numbers
import re
from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

import numpy as np

# Longer values are cut in messages.
LONGEST_SHOWN = 240

T = TypeVar("T")

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|nan|[+-]?inf")


def check_int(value: Any, name: str, least: int, *, or_none: bool = False) -> int | None:
    """Check an integer of at least ``least``, or None if that is allowed."""
    if value is None and or_none:
        return None
    expected = f"{name} must be an int >= {least}"
    if or_none:
        expected += " or None"
    _check_type(value, numbers.Integral, expected)
    if value < least:
        raise ValueError(f"{expected}; got {value}.")
    if value >= 2**63:
        raise ValueError(
            f"{expected} and below 2**63; got an integer of {len(hex(value)) - 2} digits in base 16."
        )
    return int(value)


def check_number(value: Any, name: str, interval: str = "(-inf, inf)", *, other: str = "") -> Any:
    """Check a number in an interval such as "(0, 1]", or the ``other`` value that is allowed, "None" or "nan"."""
    if value is None and other == "None":
        return None
    expected = f"{name} must be a number in {interval}"
    if interval == "(-inf, inf)":
        expected = f"{name} must be a finite number"
    if other:
        expected += f" or {other}"
    _check_type(value, numbers.Real, expected)
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{expected}; got a number beyond 1.8e308.") from None
    if np.isnan(number) and other == "nan":
        return number
    low, high = map(float, interval[1:-1].split(","))
    is_low_end = number == low and "[" in interval
    is_high_end = number == high and "]" in interval
    if not (low < number < high or is_low_end or is_high_end):
        raise ValueError(f"{expected}; got {value!r}.")
    return number


def _check_type(value: Any, kind: type, expected: str) -> None:
    # True is an integer in Python, but where a number is meant, it is a mistake.
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
        raise TypeError(f"{expected}; got {value!r} ({type(value).__name__}).")


def read_number(text: str) -> float:
    """Read a number as it is written in data; Python also reads 0_01, which is 1."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text)


def check_bool(value: Any, name: str) -> bool:
    """Check a bool, which may be NumPy's."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_choice(value: Any, name: str, choices: Iterable[Any]) -> Any:
    """Check that a value is one of the given words."""
    words = list(choices)
    # Arrays have no hash: == of an array is an array.
    if not isinstance(value, Hashable) or value not in words:
        hint = nearest(value, words)
        known = ", ".join(map(shown, words))
        raise ValueError(f"{name} must be one of [{known}]; got {shown(value)}.{hint}")
    return value


def check_random_state(value: Any) -> Any:
    """Random number generator: a new one from a seed, or the given one."""
    seed = check_seed(value)
    return seed if isinstance(seed, np.random.RandomState) else np.random.default_rng(seed)


def check_seed(value: Any) -> Any:
    """Check a seed for RandomState, a random number generator, or None."""
    if value is None or isinstance(value, np.random.RandomState | np.random.Generator):
        return value
    seed = check_int(value, "random_state", least=0)
    if seed is not None and seed >= 2**32:
        raise ValueError(f"random_state must be below 2**32; got {seed}.")
    return seed


def by_text(named: Iterable[tuple[Any, T]], argument: str, hint: str = "") -> dict[str, T]:
    """Models or columns by their names as text, which must differ."""
    pairs = [(str(name), value) for name, value in named]
    by_name = dict(pairs)
    if len(by_name) == len(pairs):
        return by_name
    names = [name for name, _ in pairs]
    repeated = max(by_name, key=names.count)
    raise ValueError(
        f"{argument} must have different names; got {shown(repeated)} more than once.{hint}"
    )


def nearest(value: Any, words: Iterable[Any], ending: str = "") -> str:
    """The words most similar to a value, for the end of an error message."""
    known = {str(word).lower(): str(word) for word in words}
    # difflib takes quadratic time, and a value may be as long as a file.
    word = str(value)[:64].lower()
    # Letters in another order, ngcd for ndcg, are the same letters to us, but hardly similar to difflib.
    swapped = [other for other in known if sorted(other) == sorted(word)]
    close = swapped or difflib.get_close_matches(word, known, n=3, cutoff=0.6)
    meant = " or ".join(repr(known[word] + ending) for word in close)
    return f" Did you mean {meant}?" if close else ""


def shown(value: object) -> str:
    """A value as Python writes it, for messages; names may be as long as files."""
    text = repr(value)
    if len(text) > LONGEST_SHOWN:
        return text[:LONGEST_SHOWN] + "..."
    return text

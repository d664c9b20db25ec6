"""The call that made a result, as text for its page."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from skrank_metrics._output.result import Result

P = ParamSpec("P")
R = TypeVar("R")

# Longer values are data, which are described by their type and size.
MOST_ITEMS, MOST_CHARACTERS = 12, 80


def records_call(function: Callable[P, R]) -> Callable[P, R]:
    """Record in the result of a function how it was called; other return values stay unchanged."""
    parameters = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def recorded(*args: P.args, **kwargs: P.kwargs) -> R:
        result = function(*args, **kwargs)
        if isinstance(result, Result):
            given = {**dict(zip(parameters, args, strict=False)), **kwargs}
            arguments = [f"{name}={_spelled(value)}" for name, value in given.items() if name not in ("self", "cls")]
            # Results are frozen.
            object.__setattr__(result, "_call", f"{function.__qualname__}({', '.join(arguments)})")
        return result

    return recorded


def _spelled(value: Any) -> str:
    """A value as code if it is short, else its type and size; printing it must not compute anything."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str):
        return repr(value if len(value) <= MOST_CHARACTERS else value[: MOST_CHARACTERS - 3] + "...")
    if isinstance(value, list | tuple | Mapping) and len(value) <= MOST_ITEMS:
        return _spelled_items(value)
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {value.shape}>"
    if isinstance(value, list | tuple | Mapping):
        return f"<{type(value).__name__} of length {len(value)}>"
    # Metrics and functions have names; the text of a model may be long, and reports compute before they print.
    return getattr(value, "__name__", f"<{type(value).__name__}>")


def _spelled_items(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_spelled(key)}: {_spelled(item)}" for key, item in value.items()) + "}"
    items = ", ".join(map(_spelled, value))
    if isinstance(value, list):
        return f"[{items}]"
    return f"({items},)" if len(value) == 1 else f"({items})"

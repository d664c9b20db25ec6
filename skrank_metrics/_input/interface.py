"""How messages name arguments: as in Python, or as the options of the command line while a command runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

# Longer values are cut in messages.
LONGEST_SHOWN = 240

_options: ContextVar[Mapping[str, str] | None] = ContextVar("options", default=None)


@contextmanager
def naming_options(options: Mapping[str, str] | None) -> Iterator[None]:
    """Name arguments by the options of the command line that set them; for None, as in Python."""
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)


def on_command_line() -> bool:
    """Whether the reader of messages typed a command."""
    return _options.get() is not None


def argument(name: str) -> str:
    """The name of an argument, such as ``margin``, or the option ``--margin``."""
    options = _options.get() or {}
    return options.get(name, name)


def setting(name: str, value: object) -> str:
    """An argument with a value, such as ``missing='zero'``, or the option ``--missing zero``."""
    options = _options.get() or {}
    if name not in options:
        return f"{name}={value!r}"
    if isinstance(value, Mapping):
        value = " ".join(f"{key}={item}" for key, item in value.items())
    return f"{options[name]} {value}"


def shown(value: object) -> str:
    """A value as Python writes it, for messages; names may be as long as files."""
    text = repr(value)
    if len(text) > LONGEST_SHOWN:
        return text[:LONGEST_SHOWN] + "..."
    return text

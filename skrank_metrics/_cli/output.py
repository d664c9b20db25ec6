"""Results as text, JSON or an HTML page."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from skrank_metrics._cli.parsing import Chosen
from skrank_metrics._output.page import write_whole
from skrank_metrics._output.result import Result, page_of

Record: TypeAlias = dict[str, Any]


def show(chosen: Chosen, result: Result, content: Callable[[], Record]) -> None:
    """Write a result as chosen; only JSON has its content."""
    text = _text_of(chosen.output, result, content)
    if chosen.output_file is not None:
        write_whole(text, chosen.output_file)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids may have characters that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text, end="")


def _text_of(output: str, result: Result, content: Callable[[], Record]) -> str:
    # The text ends with one line break, as that of other commands.
    if output == "table":
        return f"{result}\n"
    if output == "html":
        return page_of(result)
    # JSON has no NaN and infinity, and other programs fail to read them.
    finite = json.loads(json.dumps(content(), default=_plain), parse_constant=lambda _: None)
    # ASCII, without control characters
    return json.dumps(finite, indent=2) + "\n"


def _plain(value: Any) -> Any:
    """What json does not know: NumPy's numbers as numbers, and anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)

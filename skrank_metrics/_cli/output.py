"""Results as text, JSON or an HTML page."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable, Mapping
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
    # ASCII, without control characters, NaN and infinity
    return json.dumps(_jsonable(content()), indent=2, allow_nan=False, default=str) + "\n"


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _jsonable(item) for name, item in value.items()}
    if isinstance(value, list):
        return list(map(_jsonable, value))
    # json does not know NumPy's integers, and default=str would write them as text.
    if hasattr(value, "item"):
        value = value.item()
    # JSON has no NaN, and other programs fail to read it.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

"""Results as text, JSON or an HTML page."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from skrank_metrics._cli.parsing import Chosen
from skrank_metrics._output.page import write_whole
from skrank_metrics._output.result import (
    Part,
    Result,
    headline_of,
    page_of,
    parts_of,
)
from skrank_metrics._output.table import Table
from skrank_metrics.reports.ranking_report import RankingReport


class ByQuery(Result):
    """A report with the values per query."""

    def __init__(self, report: RankingReport) -> None:
        self._report = report

    def _parts(self) -> Sequence[Part]:
        # As text, since floats print with four decimals, in which different ids may agree.
        ids = map(str, self._report.qid)
        values = self._report.per_query
        rows = list(zip(ids, *values.values(), strict=True))
        return [*parts_of(self._report), Table(("qid", *values), rows)]

    def _headline(self) -> str:
        return headline_of(self._report)


Record: TypeAlias = dict[str, Any]


def records(columns: Mapping[str, Any], **keys: str) -> list[Record]:
    """Rows of columns, each with the same keys before it."""
    rows = zip(*columns.values(), strict=True)
    return [{**keys, **dict(zip(columns, row, strict=True))} for row in rows]


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

"""Results as text, tab-separated values, JSON or an HTML page."""

from __future__ import annotations

import csv
import io
import json
import math
import numbers
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from skrank_metrics._cli.parsing import Chosen
from skrank_metrics._output.page import write_whole
from skrank_metrics._output.result import (
    Part,
    Result,
    counted,
    headline_of,
    page_of,
    parts_of,
)
from skrank_metrics._output.table import Table, visible
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import ALL

# Spreadsheets compute cells that start with one of these.
_FORMULAS = ("=", "+", "-", "@")


class Rankings(Result):
    """Several reports side by side, or one; on request with the values per query."""

    def __init__(self, reports: Mapping[str, RankingReport], *, by_query: bool) -> None:
        self._reports, self._by_query = reports, by_query
        self._first = next(iter(reports.values()))

    def _parts(self) -> Sequence[Part]:
        parts = [*(self._side_by_side() if len(self._reports) > 1 else parts_of(self._first))]
        if not self._by_query:
            return parts
        for name, report in self._reports.items():
            # As text, since floats print with four decimals, in which different ids may agree.
            ids = map(str, report.qid)
            rows = list(zip(ids, *report.per_query.values(), strict=True))
            parts.append(f"{name}, {counted(len(rows), 'query')}")
            parts.append(Table(("qid", *report.per_query), rows))
        return parts

    def _headline(self) -> str:
        return "" if len(self._reports) > 1 else headline_of(self._first)

    def _side_by_side(self) -> list[Part]:
        """The means, one row per ranking and slice."""
        blocks = {
            name: {ALL: report, **report.shown_slices} for name, report in self._reports.items()
        }
        # Rankings may have different slices if some were saved; each slice stands once.
        slices = dict.fromkeys(value for of_slices in blocks.values() for value in of_slices)
        rows = []
        for value in slices:
            for name, of_slices in blocks.items():
                if value in of_slices:
                    report = of_slices[value]
                    rows.append((value, name, report.n_queries, *report.mean.values()))
        heads = ("slice", "ranking", "queries", *self._first.mean)
        # Without slices, the column would hold the same word in every row.
        if len(slices) == 1:
            heads, rows = heads[1:], [row[1:] for row in rows]
        table = Table(heads, rows)
        notes = [*self._first.note_on_slices(), *self._notes()]
        return [counted(len(self._reports), "ranking"), table, *notes]

    def _notes(self) -> list[str]:
        """What was left out, each sentence once with the rankings that it is about."""
        rankings: dict[str, list[str]] = {}
        for name, report in self._reports.items():
            for sentence in report.left_out:
                rankings.setdefault(sentence, []).append(name)
        return [f"{', '.join(names)}: {sentence}" for sentence, names in rankings.items()]


Record: TypeAlias = dict[str, Any]


def records(columns: Mapping[str, Any], **keys: str) -> list[Record]:
    """Rows of columns, each with the same keys before it."""
    rows = zip(*columns.values(), strict=True)
    return [{**keys, **dict(zip(columns, row, strict=True))} for row in rows]


def show(chosen: Chosen, result: Result, content: Callable[[], Record]) -> None:
    """Write a result as chosen; TSV has the rows of its content, and JSON the whole content."""
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
    if output == "tsv":
        return _as_tsv(content()["rows"])
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


def _as_tsv(rows: Sequence[Record]) -> str:
    """Rows under the names of all their columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t", lineterminator="\n")
    writer.writerow(map(_tsv_cell, names))
    for row in rows:
        writer.writerow(_tsv_cell(row.get(name, "")) for name in names)
    return file.getvalue()


def _tsv_cell(value: object) -> object:
    """A value that a spreadsheet takes as it is: text that looks like a formula is preceded by an apostrophe."""
    if isinstance(value, numbers.Real):
        return value
    text = visible(str(value))
    # Text of a number, such as an id -5, is no formula.
    with suppress(ValueError):
        float(text)
        return text
    return f"'{text}" if text.startswith(_FORMULAS) else text

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
from typing import Any

from skrank_metrics._cli.parsing import Chosen
from skrank_metrics._output.page import write_whole
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Table, visible
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import ALL

# Spreadsheets compute cells that start with one of these.
_FORMULAS = ("=", "+", "-", "@")


class Rankings(Result):
    """Several reports side by side, or one; on request with the values per query."""

    def __init__(self, reports: Mapping[str, RankingReport], *, by_query: bool) -> None:
        self.reports, self.by_query = reports, by_query

    def _parts(self) -> Sequence[Part]:
        first = next(iter(self.reports.values()))
        parts = list(self._side_by_side() if len(self.reports) > 1 else first._parts())
        for name, report in self.reports.items() if self.by_query else ():
            rows = list(zip(map(str, report.qid), *report.per_query.values(), strict=True))
            parts += [
                f"{name}, {counted(len(rows), 'query')}",
                Table(("qid", *report.per_query), rows),
            ]
        return parts

    def _headline(self) -> str:
        return "" if len(self.reports) > 1 else next(iter(self.reports.values()))._headline()

    def _side_by_side(self) -> list[Part]:
        """The means, one row per ranking and slice."""
        parts = [dict([(ALL, report), *report._shown_slices]) for report in self.reports.values()]
        rows = [
            (value, name, own[value].n_queries, *own[value].mean.values())
            for value in dict.fromkeys(value for own in parts for value in own)
            for name, own in zip(self.reports, parts, strict=True)
            if value in own
        ]
        first = 0 if any(len(own) > 1 for own in parts) else 1
        heads = ("slice", "ranking", "queries", *next(iter(self.reports.values())).mean)
        notes: dict[str, list[str]] = {}
        for name, report in self.reports.items():
            for sentence in report.left_out:
                notes.setdefault(sentence, []).append(name)
        table = Table(heads[first:], [row[first:] for row in rows])
        return [
            counted(len(self.reports), "ranking"),
            table,
            *(f"{', '.join(own)}: {note}" for note, own in notes.items()),
        ]


def records(columns: Mapping[str, Any], **keys: str) -> list[dict[str, Any]]:
    """Rows of columns, each with the same keys before it."""
    return [
        {**keys, **dict(zip(columns, row, strict=True))}
        for row in zip(*columns.values(), strict=True)
    ]


def show(chosen: Chosen, result: Result, content: Callable[[], dict[str, Any]]) -> None:
    """Write a result as chosen; TSV has the rows of its content, and JSON the whole content."""
    if chosen.output == "table":
        text = f"{result}\n"
    elif chosen.output == "html":
        text = result._page()
    elif chosen.output == "tsv":
        text = _as_tsv(content()["rows"])
    else:  # ASCII, without control characters, NaN and infinity
        text = json.dumps(_jsonable(content()), indent=2, allow_nan=False, default=str) + "\n"
    if chosen.output_file is not None:
        write_whole(text, chosen.output_file)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids may have characters that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text, end="")


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _jsonable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_jsonable(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_tsv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows under the names of all their columns."""
    names, file = list(dict.fromkeys(name for row in rows for name in row)), io.StringIO()
    writer = csv.writer(file, delimiter="\t", lineterminator="\n")
    writer.writerow(map(_tsv_cell, names))
    writer.writerows([_tsv_cell(row.get(name, "")) for name in names] for row in rows)
    return file.getvalue()


def _tsv_cell(value: Any) -> Any:
    """A value that a spreadsheet takes as it is: text that looks like a formula is preceded by an apostrophe."""
    if isinstance(value, numbers.Real):
        return value
    text = visible(str(value))
    with suppress(ValueError):
        float(text)
        return text
    return f"'{text}" if text.startswith(_FORMULAS) else text

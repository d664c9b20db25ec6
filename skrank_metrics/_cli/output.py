"""Results as text, tab-separated values, JSON or an HTML page."""

from __future__ import annotations

import csv
import io
import json
import math
import numbers
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.page import page, write_whole
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Table, visible
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import ALL

if TYPE_CHECKING:
    from skrank_metrics.reports.comparison import Comparison

# Spreadsheets compute cells that start with one of these.
_FORMULAS = ("=", "+", "-", "@")


def show_reports(reports: Mapping[str, RankingReport], output: str, *, by_query: bool) -> str:
    """The means of all rankings and, on request, the values per query."""
    if output == "json":
        return _as_json({name: _of_report(report, by_query=by_query) for name, report in reports.items()})
    if output == "tsv":
        return _as_tsv({(name,): own._columns() if by_query else own._summary() for name, own in reports.items()})
    several = len(reports) > 1
    shown: dict[str, Result] = {"": _Sections([*_side_by_side(reports)]) if several else next(iter(reports.values()))}
    shown |= reports if several and output == "html" else {}
    for name, report in reports.items() if by_query else ():
        rows = list(zip(map(str, report.qid), *report.per_query.values(), strict=True))
        shown[f"{name}, per query"] = _Sections([counted(len(rows), "query"), Table(("qid", *report.per_query), rows)])
    return _as_page(shown, output)


def show_comparison(comparison: Comparison, output: str) -> str:
    """The verdict and the rankings; in TSV, all pairs."""
    if output == "json":
        return _as_json(_of_comparison(comparison))
    if output == "tsv":
        from skrank_metrics.reports.verdict import columns_of_pairs  # loads what only comparisons need

        parts = {ALL: comparison, **comparison._named_slices()}
        return _as_tsv({(name,): columns_of_pairs(part) for name, part in parts.items()}, ("slice",))
    return _as_page({"": comparison}, output)


def show_results(results: Mapping[tuple[str, str], Result], output: str) -> str:
    """Results of any kind, by ranking and metric."""
    if output == "tsv":
        return _as_tsv({key: result._columns() for key, result in results.items()}, ("ranking", "metric"))
    if output == "json":
        found: dict[str, dict[str, Any]] = {}
        for (ranking, metric), result in results.items():
            plain = {name: own for name, own in vars(result).items() if isinstance(own, str | float | int | tuple)}
            found.setdefault(ranking, {})[metric] = {**plain, "rows": _records(result._columns())}
        return _as_json(found)
    return _as_page({", ".join(key) if len(results) > 1 else "": own for key, own in results.items()}, output)


@dataclass(frozen=True, repr=False)
class _Sections(Result):
    """Sentences and tables as they are."""

    parts: Sequence[Part]

    def _parts(self) -> Sequence[Part]:
        return self.parts


def _side_by_side(reports: Mapping[str, RankingReport]) -> Iterator[Part]:
    """The means, one row per ranking and slice."""
    parts = [dict([(ALL, report), *report._shown_slices]) for report in reports.values()]
    rows = [
        (value, name, own[value].n_queries, *own[value].mean.values())
        for value in dict.fromkeys(value for own in parts for value in own)
        for name, own in zip(reports, parts, strict=True)
        if value in own
    ]
    sliced = any(len(own) > 1 for own in parts)
    heads = ("slice", "ranking", "queries", *next(iter(reports.values())).mean)
    yield counted(len(reports), "ranking")
    yield Table(heads, rows) if sliced else Table(heads[1:], [row[1:] for row in rows])
    found = {name: report._left_out for name, report in reports.items()}
    common = len(set(found.values())) == 1
    for name, sentences in list(found.items())[: 1 if common else None]:
        yield from (sentence if common else f"{name}: {sentence}" for sentence in sentences)


def _of_report(report: RankingReport, *, by_query: bool) -> dict[str, Any]:
    found = {"n_queries": report.n_queries, "n_documents": report.n_documents, "metrics": report.to_dict()}
    if by_query:
        ids = list(map(str, as_python(report.qid)))
        found["per_query"] = {m: dict(zip(ids, v.tolist(), strict=True)) for m, v in report.per_query.items()}
    return found | {"findings": report.health.findings}


def _of_comparison(comparison: Comparison) -> dict[str, Any]:
    """What is known by each metric, the rows of the frames, and the same for the slices."""
    from skrank_metrics.reports.verdict import columns_of_pairs

    found: dict[str, Any] = {name: getattr(comparison, name) for name in ("n_queries", "baseline", "margin")}
    found["verdicts"] = {metric: comparison.by_metric(metric).verdict for metric in comparison.metrics}
    found |= {"rankings": _records(comparison._columns()), "pairs": _records(columns_of_pairs(comparison))}
    return found | {"slices": {name: _of_comparison(part) for name, part in comparison._named_slices().items()}}


def _records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _as_json(values: Any) -> str:
    """JSON in ASCII, without NaN, infinity and NumPy numbers."""
    return json.dumps(_jsonable(values), indent=2, allow_nan=False) + "\n"


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_tsv(parts: Mapping[tuple[str, ...], Mapping[str, Any]], keys: tuple[str, ...] = ("ranking",)) -> str:
    """The rows of several results with their keys, and empty cells in columns that some results lack."""
    names = tuple(dict.fromkeys(name for columns in parts.values() for name in columns if name not in keys))
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t", lineterminator="\n")
    writer.writerow(map(_tsv_cell, keys + names))
    for key, columns in parts.items():
        for row in _records(columns):
            writer.writerow(map(_tsv_cell, (*key, *(row.get(name, "") for name in names))))
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


def _as_page(results: Mapping[str, Result], output: str) -> str:
    """Text, or an HTML page whose heading is that of the first result, unless that has a name."""
    if output == "table":
        return "\n\n".join(f"{visible(name)}\n{own}" if name else str(own) for name, own in results.items()) + "\n"
    first = results.get("")
    title = (first._headline() or str(first._parts()[0])) if first else "Rankings"
    blocks: list[str] = []
    for name, result in results.items():
        parts = result._parts()
        blocks += [f"<h2>{escape(visible(name))}</h2>"] if name else []
        blocks += result._blocks(parts[1:] if parts[0] == title else parts)
    return page(visible(title), blocks)


def write(text: str, path: Path | None) -> None:
    """Print, or replace a file by a new one that is complete."""
    if path is not None:
        write_whole(text, path)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids may have characters that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text, end="")

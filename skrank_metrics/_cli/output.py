"""Reports and comparisons as a table, tab-separated values, JSON or HTML."""

from __future__ import annotations

import csv
import io
import json
import math
import numbers
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any, cast

from skrank_metrics._cli.sources import left_out
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.page import page, write_whole
from skrank_metrics._output.result import Part, Result, counted, text_of
from skrank_metrics._output.table import Table, visible
from skrank_metrics.reports.ranking_report import RankingReport

OUTPUTS = ("table", "tsv", "json", "html")
# Spreadsheets compute cells that start with one of these.
_FORMULAS = ("=", "+", "-", "@")


def show_reports(reports: Mapping[str, RankingReport], output: str, *, by_query: bool, call: str) -> str:
    """The means of all rankings and, on request, the values per query."""
    if output == "json":
        return _as_json({name: _values(report, by_query=by_query) for name, report in reports.items()})
    if output == "tsv":
        return _as_tsv(("ranking", "metric", "qid", "value"), _rows(reports, by_query=by_query))
    if output == "html":
        return _as_html(
            reports, call, {name: _of_queries(report) for name, report in reports.items()} if by_query else None
        )
    parts = [str(next(iter(reports.values()))) if len(reports) == 1 else text_of(_side_by_side(reports))]
    if by_query:
        for name, report in reports.items():
            names = [name] if len(reports) > 1 else []
            parts += ["", *names, _of_queries(report).as_text()]
    return "\n".join(parts) + "\n"


def _of_queries(report: RankingReport) -> Table:
    """A row per query, with its values."""
    rows = zip(map(str, as_python(report.qid)), *(v.tolist() for v in report.per_query.values()), strict=True)
    return Table(("qid", *report.per_query), list(rows))


def _side_by_side(reports: Mapping[str, RankingReport]) -> Iterator[Part]:
    """The means, one row per ranking, and those of the slices by metric, one column per ranking."""
    first = next(iter(reports.values()))
    means = [(name, counted(len(report.qid), "query"), *report.mean.values()) for name, report in reports.items()]
    yield Table(("ranking", "queries", *first.mean), means)
    findings = {name: left_out(report) for name, report in reports.items()}
    if len(set(findings.values())) == 1:
        yield from left_out(first)
    else:
        yield from (f"{name}: {finding}" for name, found in findings.items() for finding in found)
    parts = [report._shown_slices for report in reports.values()] if first.slices else []
    for metric in first.mean if parts else ():
        rows = [
            (of_rankings[0][0], of_rankings[0][1].n_queries, *(part.mean[metric] for _, part in of_rankings))
            for of_rankings in zip(*parts, strict=True)
        ]
        yield from ("", metric, Table(("slice", "queries", *reports), rows))


def _values(report: RankingReport, *, by_query: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"n_queries": len(report.qid), "n_documents": report.n_documents}
    found["metrics"] = {name: dict(values) for name, values in report.to_dict().items()}
    for values in found["metrics"].values():
        values.pop("slices", None)  # these follow below
    if report.slices:
        found["slices"] = {str(value): _values(part, by_query=False) for value, part in report.slices.items()}
    if by_query:
        ids = list(map(str, as_python(report.qid)))
        found["per_query"] = {m: dict(zip(ids, v.tolist(), strict=True)) for m, v in report.per_query.items()}
    found["findings"] = list(report.health.findings)
    return found


def _rows(reports: Mapping[str, RankingReport], *, by_query: bool) -> Iterable[tuple[Any, ...]]:
    for name, report in reports.items():
        for metric, mean in report.mean.items():
            if by_query:
                values = zip(as_python(report.qid), report.per_query[metric].tolist(), strict=True)
                yield from ((name, metric, qid, value) for qid, value in values)
            yield from ((name, metric, f"all:{value}", part.mean[metric]) for value, part in report.slices.items())
            yield name, metric, "all", mean


def show_comparison(comparisons: Mapping[str, Result], output: str, *, call: str) -> str:
    """Tests of all pairs by each metric."""
    if output == "html":
        return _as_html(comparisons, call)
    if output == "table":
        return "\n\n".join(map(str, comparisons.values())) + "\n"
    names, rows = _joined(("metric",), {(metric,): comparison for metric, comparison in comparisons.items()})
    if output == "tsv":
        return _as_tsv(names, rows)
    return _as_json([dict(zip(names, row, strict=True)) for row in rows])


def show_results(results: Mapping[tuple[str, str], Result], output: str, *, call: str) -> str:
    """Results of any kind, by ranking and metric."""
    if output == "html":
        return _as_html({", ".join(names): result for names, result in results.items()}, call)
    if output == "tsv":
        return _as_tsv(*_joined(("ranking", "metric"), results))
    rankings = list(dict.fromkeys(ranking for ranking, _ in results))
    if output == "table":
        heads = {ranking: f"{ranking}\n" if len(rankings) > 1 else "" for ranking in rankings}
        return "\n\n".join(f"{heads[ranking]}{result}" for (ranking, _), result in results.items()) + "\n"
    found: dict[str, dict[str, Any]] = {ranking: {} for ranking in rankings}
    for (ranking, metric), result in results.items():
        found[ranking][metric] = _as_records(result)
    return _as_json(found)


def _joined(heads: tuple[str, ...], results: Mapping[Any, Result]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The rows of several results, with their keys in front, and empty cells in columns that some results lack."""
    columns = {names: dict(result._columns()) for names, result in results.items()}
    all_names = tuple(dict.fromkeys(name for found in columns.values() for name in found if name not in heads))
    rows = [
        (*names, *(found[name][row] if name in found else "" for name in all_names))
        for names, found in columns.items()
        for row in range(len(next(iter(found.values()), ())))
    ]
    return (*heads, *all_names), rows


def _as_records(result: Result) -> dict[str, Any]:
    """The plain attributes of a result, and the rows of its frame."""
    plain = {field.name: getattr(result, field.name) for field in fields(cast(Any, result))}
    kept = {name: value for name, value in plain.items() if isinstance(value, str | float | int | tuple)}
    columns = dict(result._columns())
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {**kept, "rows": rows}


def _as_tsv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Tab-separated lines, in which text that looks like a formula is preceded by an apostrophe."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t", lineterminator="\n")
    writer.writerow(map(_cell, names))
    writer.writerows(map(_cell, row) for row in rows)
    return file.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, numbers.Real):
        return value
    text = visible(str(value))
    return f"'{text}" if text.startswith(_FORMULAS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_json(values: Any) -> str:
    """JSON in ASCII, without NaN, infinity and NumPy numbers."""
    return json.dumps(_plain(values), indent=2, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_html(results: Mapping[str, Result], call: str, tables: Mapping[str, Table] | None = None) -> str:
    """A page of several results, each with an optional further table."""
    blocks: list[str] = []
    for name, result in results.items():
        title, *parts = result._parts()
        parts += [tables[name]] if tables else []
        blocks += [f"<h2>{escape(name)}</h2>", f"<p>{escape(str(title))}</p>", *result._blocks(parts)]
    return page("Rankings", blocks)


def write(text: str, path: Path | None) -> None:
    """Print, or replace a file by a new one that is complete."""
    if path is not None:
        write_whole(text, path)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids may have characters that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text, end="")

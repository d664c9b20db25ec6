"""Reports and comparisons as a table, tab-separated values, JSON or HTML."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Result, counted
from skrank_metrics._output.table import Table
from skrank_metrics.reports.ranking_report import RankingReport

OUTPUTS = ("table", "tsv", "json", "html")


def show_reports(reports: Mapping[str, RankingReport], output: str, *, by_query: bool) -> str:
    """The means of all rankings, and the values of their queries if asked."""
    if output == "json":
        return _as_json({name: _values(report, by_query=by_query) for name, report in reports.items()})
    if output == "tsv":
        return _as_tsv(("ranking", "metric", "qid", "value"), _rows(reports, by_query=by_query))
    if output == "html":
        return _as_html(reports)
    parts = [str(next(iter(reports.values()))) if len(reports) == 1 else _side_by_side(reports)]
    if by_query:
        for name, report in reports.items():
            names = [name] if len(reports) > 1 else []
            rows = zip(map(str, as_python(report.qid)), *(v.tolist() for v in report.per_query.values()), strict=True)
            parts += ["", *names, Table(("qid", *report.per_query), list(rows)).as_text()]
    return "\n".join(parts) + "\n"


def _side_by_side(reports: Mapping[str, RankingReport]) -> str:
    first = next(iter(reports.values()))
    rows = [(name, counted(len(report.qid), "query"), *report.mean.values()) for name, report in reports.items()]
    return Table(("ranking", "queries", *first.mean), rows).as_text()


def _values(report: RankingReport, *, by_query: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"n_queries": len(report.qid), "n_documents": report.n_documents}
    found["metrics"] = {name: dict(values) for name, values in report.to_dict().items()}
    for values in found["metrics"].values():
        values.pop("slices", None)  # which follow
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


def show_comparison(comparisons: Mapping[str, Result], output: str) -> str:
    """Tests of all pairs by each metric."""
    if output == "html":
        return _as_html(comparisons)
    if output == "table":
        return "\n\n".join(map(str, comparisons.values())) + "\n"
    columns = {metric: dict(comparison._columns()) for metric, comparison in comparisons.items()}
    names = list(next(iter(columns.values())))
    rows = [(m, *row) for m, found in columns.items() for row in zip(*found.values(), strict=True)]
    if output == "tsv":
        return _as_tsv(("metric", *names), rows)
    return _as_json([dict(zip(("metric", *names), row, strict=True)) for row in rows])


def _as_tsv(names: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = ["\t".join(str(cell).replace("\t", " ").replace("\n", " ") for cell in row) for row in rows]
    return "\n".join(["\t".join(names), *lines]) + "\n"


def _as_json(values: Any) -> str:
    return json.dumps(_plain(values), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """What JSON knows: no NaN or infinity, and no numbers of NumPy."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_html(results: Mapping[str, Result]) -> str:
    parts = [f"<h2>{escape(name)}</h2>\n{result._repr_html_()}" for name, result in results.items()]
    head = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>skrank_metrics</title></head><body>'
    return "\n".join([head, *parts, "</body></html>"]) + "\n"


def write(text: str, path: Path | None) -> None:
    """Print, or replace a file by a new one that is complete."""
    if path is None:
        print(text, end="")
        return
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)

"""NamedReports of the files and metrics that a command names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skrank_metrics._cli.options import COMMANDS, Chosen
from skrank_metrics._cli.output import (
    STANDARD_INPUT,
    check_options,
    check_outputs,
    is_saved,
    short_names,
    split_words,
)
from skrank_metrics._input.columns import find_column
from skrank_metrics._input.parameters import by_text
from skrank_metrics.decisions._evaluate import evaluate
from skrank_metrics.metrics.names import column_of, get_metrics
from skrank_metrics.reports.facts import DEFAULT_CONVENTION
from skrank_metrics.reports.ranking_report import RankingReport, with_metrics
from skrank_metrics.sources._evaluate_run import RunPlan, report_runs
from skrank_metrics.sources.batches import read_columns
from skrank_metrics.sources.columns import TableColumns
from skrank_metrics.sources.tables import NO_TABLES, files_of
from skrank_metrics.sources.trec_lines import are_lines

NamedReports = dict[str, RankingReport]


def read_reports(chosen: Chosen) -> NamedReports:
    """One report per ranking in the order of the files, by the names of the files or by column."""
    metrics, files = split_words(chosen)
    saved = {file: RankingReport.load(file) for file in files if is_saved(file)}
    others = [file for file in files if file not in saved]
    check_options(others, chosen)
    check_outputs(files, chosen)
    several = len(chosen.score or []) > 1
    if chosen.command == "compare" and not chosen.baseline and saved and several:
        # Files and --score are passed apart, so nothing tells which ranking comes first.
        raise ValueError(
            "Name the baseline with --baseline, beside saved reports and several columns."
        )
    for report in saved.values():
        # A gate against a saved report is by the metrics that were chosen when it was saved.
        metrics = metrics or [*report.metrics]
    metrics = metrics or COMMANDS[chosen.command].metrics.split()
    by_file = {file: {file: _selected(saved[file], file, metrics)} for file in saved}
    if chosen.label:
        by_file |= _reports_of_tables(others, metrics, chosen)
    elif others:
        by_file |= _reports_of_runs(others, metrics, chosen)
    pairs = [pair for file in files for pair in by_file[file].items()]
    reports = by_text(pairs, "Rankings")
    _check_slices(reports, chosen)
    # The scores of a single table are named by their columns, which are no paths.
    columns = chosen.score if len(others) == 1 and chosen.score else []
    short = short_names([name for name in reports if name not in columns], columns)
    # A baseline may be named by its whole path, too.
    if chosen.baseline is not None:
        chosen.baseline = [short.get(name, name) for name in chosen.baseline]
    return {short.get(name, name): report for name, report in reports.items()}


def _reports_of_runs(
    files: Sequence[str], metrics: Sequence[str], chosen: Chosen
) -> dict[str, NamedReports]:
    """NamedReports of runs, which follow the judgments."""
    options = chosen.given("missing", "exclude", "duplicates", "convention", "condense", "ids")
    if chosen.columns:
        options["columns"] = _columns_by_file(chosen.columns)
    judgments, *runs = files
    if judgments != STANDARD_INPUT:
        _refuse_rows(judgments, options.get("columns", {}), chosen.command)
    found = report_runs(judgments, {run: run for run in runs}, metrics, RunPlan(**options))
    return {judgments: {}} | {run: {run: report} for run, report in found.items()}


def _refuse_rows(path: str, columns: Mapping[str, Any], command: str) -> None:
    """Refuse judgments with scores: a run, or the first of several tables of rows."""
    file = files_of(path, "qrels")[0]
    if are_lines(file) and len(file.head.split()) == 6:
        raise ValueError(
            f"{path} looks like a run (6 fields); judgments come first: {command} QRELS RUN [RUN ...]."
        )
    if "label" in columns or "qrels" in columns or file.form in NO_TABLES:
        return
    names = file.column_names()
    label, score = (find_column(role, names, {}, path) for role in ("label", "score"))
    if label is not None and score is not None:
        raise ValueError(
            f"The first file must hold judgments; {path} also has scores, {score!r}. If each file has the labels and "
            f"the scores of one ranking, pass --label {label}, --score and --qid. If it holds judgments, pass "
            f"--columns label={label}."
        )


def _columns_by_file(named: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Names of columns for all files, and those for one, as qrels.query."""
    # If two columns are given for one role, neither may be ignored.
    columns = by_text(named, "--columns", " Name one column per role.")
    found: dict[str, Any] = {}
    for key, name in columns.items():
        side, _, role = key.rpartition(".")
        holder = found.setdefault(side, {}) if side else found
        holder[role] = name
    return found


def _reports_of_tables(
    files: Sequence[str], metrics: Sequence[str], chosen: Chosen
) -> dict[str, NamedReports]:
    """NamedReports of columns of scores, by their names if there is one table, or by those of the tables."""
    found: dict[str, NamedReports] = {}
    for file in files:
        found[file] = {}
        for score, report in _reports_of_rows(file, metrics, chosen).items():
            name = f"{file}: {score}"
            if len(files) == 1:
                name = score
            elif len(chosen.score or []) == 1:
                name = file
            found[file][name] = report
    return found


def _reports_of_rows(file: str, metrics: Sequence[str], chosen: Chosen) -> NamedReports:
    """NamedReports of the columns of scores of a table, by their names."""
    columns = TableColumns(
        chosen.label,
        chosen.score,
        chosen.qid or "qid",
        sample_weight=chosen.weight,
        retrieved=chosen.retrieved,
        judged=chosen.judged,
        by=chosen.by,
        groups=chosen.groups,
    )
    bound = get_metrics(*metrics, convention=chosen.convention or DEFAULT_CONVENTION)
    # Labels are read once for all metrics, so negative ones must suit each of them.
    signed = all(metric.computation.signed for metric in bound.values())
    # Documents that nobody judged have labels that do not count, so all must be valid.
    arrays = read_columns(file, columns, signed=signed and not chosen.judged)
    given = {
        name: columns.take(name, arrays)
        for name in ("qid", "sample_weight", "retrieved", "judged", "by", "groups")
    }
    # Errors name arguments and rows, to which the file is added.
    try:
        found = evaluate(
            columns.take("label", arrays),
            columns.take("score", arrays),
            metrics=bound,
            condense=bool(chosen.condense),
            **given,
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {error}") from None
    # A comparison puts the best first, but the first one that is named is the baseline.
    return {name: found.reports[name] for name in columns.of("score")}


def _check_slices(reports: NamedReports, chosen: Chosen) -> None:
    """Saved reports must have the slices that are asked for; without, a comparison would have none."""
    for name, report in reports.items():
        if chosen.by and report.by is None:
            raise ValueError(
                f"--by must be the same for all rankings; {name} was evaluated without it."
            )


def _selected(report: RankingReport, name: str, metrics: Sequence[str]) -> RankingReport:
    """A saved report, of the chosen metrics."""
    columns = {}
    for metric in metrics:
        column = column_of(metric, report.metrics)
        if not column:
            held = ", ".join(report.metrics)
            raise ValueError(f"Metric {metric!r} is missing from {name}, which has {held}.")
        # Columns get the names of this command, as a saved report may spell parameters in another order.
        columns[metric] = column
    return with_metrics(report, columns)

"""Reports of the files and metrics that a command names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skrank_metrics._cli.options import COMMANDS, LISTS, TABLES, Chosen
from skrank_metrics._cli.output import (
    check_outputs,
    format_of_files,
    is_saved,
    short_paths,
    split_words,
)
from skrank_metrics._input.columns import find_column
from skrank_metrics._input.parameters import by_text
from skrank_metrics.decisions._evaluate import evaluate
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import column_of, get_metrics
from skrank_metrics.reports.facts import DEFAULT_CONVENTION
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources._evaluate_run import RunPlan, report_runs
from skrank_metrics.sources.batches import read_columns
from skrank_metrics.sources.columns import TableColumns
from skrank_metrics.sources.tables import TableFile, format_of, import_arrow

Reports = dict[str, RankingReport]
Metrics = Mapping[str, BoundMetric]


def read_reports(chosen: Chosen) -> Reports:
    """One report per ranking in the order of the files, by what differs in its paths, or by column."""
    metrics, files = split_words(chosen)
    form = format_of_files(files, chosen)
    check_outputs(files, chosen)
    saved = {file: RankingReport.load(file) for file in files if is_saved(file)}
    others = [file for file in files if not is_saved(file)]
    # Files and --score are passed apart, so nothing tells which ranking comes first.
    several = form in TABLES and len(chosen.score or []) > 1
    if chosen.margin and not chosen.baseline and saved and others and several:
        raise ValueError(
            "Name the baseline with --baseline, beside saved reports and several columns."
        )
    if not metrics:
        metrics = _default_metrics(saved, chosen)
    by_file = {file: {file: _selected(saved[file], file, metrics)} for file in saved}
    if others:
        by_file |= (_reports_of_runs if form in LISTS else _reports_of_tables)(
            others, metrics, chosen
        )
    pairs = [pair for file in files for pair in by_file[file].items()]
    reports = by_text(pairs, "Rankings")
    if not reports:
        raise ValueError("Pass a ranking: runs after the judgments, --score, or saved reports.")
    _check_slices(reports, chosen)
    if form in TABLES and len(others) == 1:  # columns, which are no paths
        return reports
    short = short_paths([*reports])
    # A baseline may be named by its whole path, too.
    if chosen.baseline is not None:
        chosen.baseline = [short.get(name, name) for name in chosen.baseline]
    return {short[name]: report for name, report in reports.items()}


def _default_metrics(saved: Reports, chosen: Chosen) -> list[str]:
    """The metrics of the first saved report, or those of the command."""
    # A gate against a saved report is by the metrics that were chosen when it was saved.
    for report in saved.values():
        return [*report.metrics]
    return COMMANDS[chosen.command].metrics.split()


def _reports_of_runs(
    files: Sequence[str], metrics: list[str], chosen: Chosen
) -> dict[str, Reports]:
    """Reports of runs, which follow the judgments."""
    options = chosen.given("missing", "exclude", "duplicates", "convention", "condense")
    if chosen.columns:
        # Of two columns for one role, neither may be ignored.
        options["columns"] = by_text(chosen.columns, "--columns", " Name one column per role.")
    judgments, *runs = files
    form = format_of(judgments)
    if form is not None:
        _refuse_rows(TableFile(judgments, form), options.get("columns", {}))
    found = report_runs(judgments, {run: run for run in runs}, metrics, RunPlan(**options))
    return {judgments: {}} | {run: {run: report} for run, report in found.items()}


def _refuse_rows(table: TableFile, columns: Mapping[str, str]) -> None:
    """Refuse judgments with scores: the first of several tables of rows is not a file of judgments."""
    names = table.column_names()
    label = find_column("label", names, columns, table.name)
    score = find_column("score", names, columns, table.name)
    if "label" not in columns and label is not None and score is not None:
        raise ValueError(
            f"The first file must hold judgments; {table.name} also has scores, {score!r}. If each file has the labels "
            f"and the scores of one ranking, pass --label {label}, --score and --qid. If it holds judgments, pass "
            f"--columns label={label}."
        )


def _reports_of_tables(
    files: Sequence[str], metrics: list[str], chosen: Chosen
) -> dict[str, Reports]:
    """Reports of columns of scores, by their names if there is one table, or by those of the tables."""
    bound = get_metrics(*metrics, convention=chosen.convention or DEFAULT_CONVENTION)
    found: dict[str, Reports] = {}
    for file in files:
        found[file] = {}
        for score, report in _reports_of_rows(file, bound, chosen).items():
            name = f"{file}: {score}"
            if len(files) == 1:
                name = score
            elif len(chosen.score or []) == 1:
                name = file
            found[file][name] = report
    return found


def _reports_of_rows(file: str, metrics: Metrics, chosen: Chosen) -> Reports:
    """Reports of the columns of scores of a table, by their names."""
    # First, so that the error without pyarrow names the file that needs it.
    import_arrow(f"Reading {file}")
    table = TableFile(file, str(format_of(file)))
    columns = _columns_of(table, file, chosen)
    # Labels are read once for all metrics, so negative ones must suit each of them.
    signed = all(metric.computation.signed for metric in metrics.values())
    # Documents that nobody judged have labels that do not count, so all must be valid.
    arrays = read_columns(table, columns, signed=signed and not chosen.judged)
    given = {
        name: columns.take(name, arrays)
        for name in ("qid", "sample_weight", "retrieved", "judged", "by", "groups")
    }
    # Errors name arguments and rows, to which the file is added.
    try:
        found = evaluate(
            columns.take("label", arrays),
            columns.take("score", arrays),
            metrics=metrics,
            condense=bool(chosen.condense),
            **given,
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {error}") from None
    # A comparison puts the best first, but the first one that is named is the baseline of a gate.
    return {name: found.reports[name] for name in columns.of("score")}


def _columns_of(table: TableFile, file: str, chosen: Chosen) -> TableColumns:
    """The columns that were chosen; a table of rows needs labels and scores."""
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
    missing = [f"--{name}" for name in ("label", "score") if not columns.of(name)]
    if missing:
        known = ", ".join(map(repr, table.column_names()))
        raise ValueError(f"{file} needs {' and '.join(missing)}. Columns: {known}.")
    return columns


def _check_slices(reports: Reports, chosen: Chosen) -> None:
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
        # By the names of this command, as a saved report may spell its parameters in another order.
        columns[metric] = column
    return report.with_metrics(columns)

"""Reports of the files and metrics that a command names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skrank_metrics._cli.options import COMMANDS, LISTS, TABLES
from skrank_metrics._cli.parsing import Chosen
from skrank_metrics._cli.table_rows import Rows, read_table
from skrank_metrics._cli.words import (
    check_outputs,
    format_of_files,
    hint_of_commas,
    is_saved,
    short_paths,
    split_words,
)
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import column_of, get_metrics
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.evaluate_run import evaluate_run
from skrank_metrics.sources.files import format_of, read_scores, read_svmlight
from skrank_metrics.trec import Qrels, Run, read_qrels, read_run

Reports = dict[str, RankingReport]
Metrics = Mapping[str, BoundMetric]


def read_reports(chosen: Chosen) -> Reports:
    """One report per ranking, by what differs in its paths, or by column; what needs no reading is checked first."""
    metrics, files = split_words(chosen)
    form = format_of_files(files, chosen)
    saved = [file for file in files if is_saved(file)]
    others = [file for file in files if not is_saved(file)]
    names = _names_of_rankings(form, files, others, chosen)
    inputs = [*files]
    if form == "svmlight":
        inputs += chosen.score or []
    if chosen.exclude:
        inputs.append(chosen.exclude)
    check_outputs(inputs, chosen)

    loaded = {file: RankingReport.load(file) for file in saved}
    if not metrics:
        metrics = _default_metrics(loaded, chosen)
    reports = {name: _selected(report, name, metrics) for name, report in loaded.items()}
    chosen.convention = chosen.convention or ("trec_eval" if form == "trec" else "sklearn")
    if form in LISTS:
        reports |= _reports_of_runs(others, _bound(metrics, chosen), chosen)
    elif form != "saved":
        for file in others:
            found = _reports_of_rows(file, form, _bound(metrics, chosen), chosen)
            reports |= {_name(file, score, others, chosen): found[score] for score in found}
    _check_slices_and_groups(reports, chosen)
    if form in TABLES and len(others) == 1:  # columns, which are no paths
        return {name: reports[name] for name in names}
    short = short_paths(names)
    if chosen.baseline is not None:
        chosen.baseline = short.get(chosen.baseline, chosen.baseline)
    return {short[name]: reports[name] for name in names}


def _names_of_rankings(
    form: str, files: Sequence[str], others: Sequence[str], chosen: Chosen
) -> list[str]:
    """The names in the order of the files: of saved reports, of runs after the judgments, and of scores."""
    scores = chosen.score or []
    if form == "svmlight" and len(others) > 1:
        raise ValueError(f"Pass a single file of rows; got {len(others)}: {', '.join(others)}.")
    names = list[str]()
    for file in files:
        if is_saved(file) or form in LISTS:
            names.append(file)
        else:
            names += [_name(file, score, others, chosen) for score in scores]
    if form in LISTS:
        names.remove(others[0])  # the judgments
    least, what = (2, "two or more rankings") if chosen.command == "compare" else (1, "a ranking")
    # A table without --score gets an error that names its columns.
    is_named_later = form in TABLES and not chosen.score
    if len(names) < least and not is_named_later:
        how = "runs after the judgments, --score, or saved reports"
        got = ", ".join(names) or "none"
        raise ValueError(f"Pass {what}: {how}; got {got}.{hint_of_commas(scores)}")
    if len(set(names)) < len(names):
        raise ValueError(f"Rankings must have different names; got {', '.join(names)}.")
    _check_first_is_known(form, files, others, chosen)
    return names


def _check_first_is_known(
    form: str, files: Sequence[str], others: Sequence[str], chosen: Chosen
) -> None:
    """Refuse a gate whose baseline would be the first ranking if files and --score name rankings beside each other.

    A table with one column of scores is a ranking itself, so files alone tell the order.
    """
    if chosen.margin is None or chosen.baseline is not None or form in LISTS:
        return
    saved = [file for file in files if is_saved(file)]
    is_named_by_file = form in TABLES and len(chosen.score or []) == 1
    if saved and others and not is_named_by_file:
        raise ValueError(
            f"Name the baseline with --baseline: the first ranking may be {saved[0]} or one of --score."
        )


def _name(file: str, score: str, files: Sequence[str], chosen: Chosen) -> str:
    """The name of scores in a table: their column if there is one table, the table if it has one column, or both."""
    if len(files) == 1:
        return score
    return file if len(chosen.score or []) == 1 else f"{file}: {score}"


def _default_metrics(loaded: Reports, chosen: Chosen) -> list[str]:
    """The metrics of the first saved report, or those of the command."""
    for report in loaded.values():
        return [*report.metrics]
    return COMMANDS[chosen.command].metrics.split()


def _bound(metrics: Sequence[str], chosen: Chosen) -> Metrics:
    """The metrics with the options that are meant for all of them."""
    given = {"ties": chosen.ties, "replace_undefined_by": chosen.replace_undefined_by}
    params = {name: value for name, value in given.items() if value is not None}
    return get_metrics(*metrics, convention=chosen.convention or "sklearn", **params)


def _reports_of_runs(files: Sequence[str], metrics: Metrics, chosen: Chosen) -> Reports:
    """Reports of runs, which follow the judgments."""
    given = {
        "missing": chosen.missing,
        "exclude": chosen.exclude,
        "duplicates": chosen.duplicates,
    }
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    options["convention"] = chosen.convention
    options["condense"] = bool(chosen.condense)
    if chosen.columns:
        options["columns"] = dict(chosen.columns)
    judgments, *runs = files
    truth: str | Qrels = judgments
    if format_of(judgments) is None:
        truth = read_qrels(judgments)  # once for all runs
    reports: Reports = {}
    for name in runs:
        run: str | Run = name
        if chosen.score_type is not None:
            run = read_run(name, score_type=chosen.score_type)
        reports[name] = evaluate_run(truth, run, metrics, **options)
    return reports


def _reports_of_rows(file: str, form: str, metrics: Metrics, chosen: Chosen) -> Reports:
    """Reports of rows that are all in one file, except for scores of svmlight rows."""
    if form == "svmlight":
        labels, qid = read_svmlight(file)
        scores = {path: read_scores(path, len(labels), file) for path in chosen.score or []}
        rows = Rows(labels, qid, scores)
    else:
        signed = all(metric.computation.signed for metric in metrics.values())
        rows = read_table(file, form, chosen, signed=signed)
    try:
        return {
            name: evaluate(
                rows.labels,
                scores,
                qid=rows.qid,
                metrics=metrics,
                convention=chosen.convention or "sklearn",
                condense=bool(chosen.condense),
                **rows.others,
            )
            for name, scores in rows.scores.items()
        }
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {error}") from None


def _check_slices_and_groups(reports: Reports, chosen: Chosen) -> None:
    """Saved reports must have the slices and groups that are asked for."""
    for option, given in (("groups", chosen.groups), ("by", chosen.by)):
        if not given:
            continue
        for name, report in reports.items():
            if getattr(report, option) is None:
                raise ValueError(
                    f"--{option} must be the same for all rankings; "
                    f"{name} was evaluated without it."
                )


def _selected(report: RankingReport, name: str, metrics: Sequence[str]) -> RankingReport:
    """A saved report, of the chosen metrics."""
    columns = dict[str, str]()
    for metric in metrics:
        column = column_of(metric, report.metrics)
        if not column:
            held = ", ".join(report.metrics)
            raise ValueError(f"Metric {metric!r} is missing from {name}, which has {held}.")
        columns[metric] = column
    own, results = report.metrics, report.results
    return replace(
        report,
        metrics={metric: own[column] for metric, column in columns.items()},
        results={metric: results[column] for metric, column in columns.items()},
    )

"""Reports of the files and metrics that a command names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class Inputs:
    """The files of a command, and the rankings that they and --score name."""

    chosen: Chosen
    files: list[str]
    form: str  # of the files that are not saved reports

    @property
    def scores(self) -> list[str]:
        """Columns of scores, or files of them."""
        return self.chosen.score or []

    @property
    def saved(self) -> list[str]:
        """Files with saved reports."""
        return [file for file in self.files if is_saved(file)]

    @property
    def others(self) -> list[str]:
        """Judgments and runs, or rows."""
        return [file for file in self.files if not is_saved(file)]

    @property
    def all_files(self) -> list[str]:
        """Files that are read, so that no output may replace them."""
        files = [*self.files]
        # There, --score names files; for tables, it names columns.
        if self.form == "svmlight":
            files += self.scores
        if self.chosen.exclude:
            files.append(self.chosen.exclude)
        return files

    def names(self) -> list[str]:
        """The names of the rankings, in the order of the files."""
        names = list[str]()
        for file in self.files:
            if is_saved(file) or self.form in LISTS:
                names.append(file)
            else:
                names += [self.name(file, score) for score in self.scores]
        if self.form in LISTS:
            names.remove(self.others[0])  # the judgments
        return names

    def name(self, file: str, score: str) -> str:
        """The name of scores: their column if there is one table, the table if it has one column, or both."""
        if len(self.others) == 1:
            return score
        return file if len(self.scores) == 1 else f"{file}: {score}"

    def check(self) -> None:
        """Refuse too few rankings, equal names, and outputs that would overwrite an input."""
        names = self.names()
        # A file of scores has one score per row, so it belongs to a single file of rows.
        if self.form == "svmlight" and len(self.others) > 1:
            got = ", ".join(self.others)
            raise ValueError(f"Pass a single file of rows; got {len(self.others)}: {got}.")
        least, what = 1, "a ranking"
        if self.chosen.command == "compare":
            least, what = 2, "two or more rankings"
        # A table without --score gets an error that names its columns.
        is_named_later = self.form in TABLES and not self.scores
        if len(names) < least and not is_named_later:
            how = "runs after the judgments, --score, or saved reports"
            got = ", ".join(names) or "none"
            raise ValueError(f"Pass {what}: {how}; got {got}.{hint_of_commas(self.scores)}")
        # Reports are held by name, where one of two with the same name would be lost.
        if len(set(names)) < len(names):
            raise ValueError(f"Rankings must have different names; got {', '.join(names)}.")
        self._check_first_is_known()
        check_outputs(self.all_files, self.chosen)

    def _check_first_is_known(self) -> None:
        """Refuse a gate whose baseline would be the first ranking if files and --score name rankings."""
        if self.chosen.margin is None or self.chosen.baseline is not None or self.form in LISTS:
            return
        # A table with one column of scores is a ranking itself, so files alone tell the order.
        is_named_by_file = self.form in TABLES and len(self.scores) == 1
        # Files and --score are passed apart, so nothing tells which ranking comes first.
        if self.saved and self.others and not is_named_by_file:
            raise ValueError(
                f"Name the baseline with --baseline: the first ranking may be {self.saved[0]} or one of --score."
            )


def read_reports(chosen: Chosen) -> Reports:
    """One report per ranking, by what differs in its paths, or by column; what needs no reading is checked first."""
    metrics, files = split_words(chosen)
    inputs = Inputs(chosen, files, format_of_files(files, chosen))
    inputs.check()
    loaded = {file: RankingReport.load(file) for file in inputs.saved}
    if not metrics:
        metrics = _default_metrics(loaded, chosen)
    reports = {name: _selected(report, name, metrics) for name, report in loaded.items()}
    # Not a default of the option, which would be refused for saved reports as one that does not
    # apply to them. Users of TREC files expect the values of trec_eval.
    if chosen.convention is None:
        chosen.convention = "trec_eval" if inputs.form == "trec" else "sklearn"
    if inputs.form in LISTS:
        reports |= _reports_of_runs(inputs.others, _bound(metrics, chosen), chosen)
    elif inputs.form != "saved":
        for file in inputs.others:
            found = _reports_of_rows(file, inputs.form, _bound(metrics, chosen), chosen)
            reports |= {inputs.name(file, score): found[score] for score in found}
    _check_slices_and_groups(reports, chosen)
    names = inputs.names()
    if inputs.form in TABLES and len(inputs.others) == 1:  # columns, which are no paths
        return {name: reports[name] for name in names}
    short = short_paths(names)
    # The baseline may be named by its whole path, too.
    if chosen.baseline is not None:
        chosen.baseline = [short.get(name, name) for name in chosen.baseline]
    return {short[name]: reports[name] for name in names}


def _default_metrics(loaded: Reports, chosen: Chosen) -> list[str]:
    """The metrics of the first saved report, or those of the command."""
    # A gate against a saved report is by the metrics that were chosen when it was saved.
    for report in loaded.values():
        return [*report.metrics]
    return COMMANDS[chosen.command].metrics.split()


def _bound(metrics: Sequence[str], chosen: Chosen) -> Metrics:
    """The metrics with the options that are meant for all of them."""
    params = chosen.given("ties", "replace_undefined_by")
    return get_metrics(*metrics, convention=chosen.convention or "sklearn", **params)


def _reports_of_runs(files: Sequence[str], metrics: Metrics, chosen: Chosen) -> Reports:
    """Reports of runs, which follow the judgments."""
    options = chosen.given("missing", "exclude", "duplicates", "convention")
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
        # Labels are read once for all metrics, so negative ones must suit each of them.
        signed = all(metric.computation.signed for metric in metrics.values())
        rows = read_table(file, form, chosen, signed=signed)
    options = rows.others | chosen.given("convention")
    options["condense"] = bool(chosen.condense)
    # Errors name arguments and rows, to which the file is added.
    try:
        found = evaluate(rows.labels, rows.scores, qid=rows.qid, metrics=metrics, **options)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {error}") from None
    return found.reports


def _check_slices_and_groups(reports: Reports, chosen: Chosen) -> None:
    """Saved reports must have the slices and groups that are asked for."""
    # A saved report has no rows from which slices or groups could still be found.
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
    # By the names of this command, as a saved report may spell its parameters in another order.
    bound = {metric: report.metrics[column] for metric, column in columns.items()}
    results = {metric: report.results[column] for metric, column in columns.items()}
    return replace(report, metrics=bound, results=results)

"""Reports of the files and metrics that a command names."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from skrank_metrics._cli.options import COMMANDS, OPTIONS, TABLES
from skrank_metrics._input.arrays import nearest
from skrank_metrics.metrics.names import bind, column_of, expand
from skrank_metrics.reports.evaluate import bind_metrics, evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.evaluate_run import evaluate_run
from skrank_metrics.sources.files import PACKED, SVMLIGHT, format_of, read_scores, read_svmlight
from skrank_metrics.sources.progress import Progress
from skrank_metrics.sources.tables import Columns, TableFile, import_arrow, read_columns
from skrank_metrics.trec import read_qrels

SAVED = ".json"
MOST_NAMED = 20  # columns in a message


def read_reports(chosen: Namespace) -> dict[str, RankingReport]:
    """One report per ranking, by the name of its file or column; what needs no reading is checked first."""
    form = _form(chosen)
    for option in OPTIONS:
        if getattr(chosen, option.attribute) not in (None, False) and form not in option.formats:
            raise ValueError(f"--{option.name} does not apply to {form} files.")
    chosen.convention = chosen.convention or ("trec_eval" if form == "trec" else "sklearn")
    files, metrics = _files_and_metrics(chosen)
    rows, names = [file for file in files if not _is_saved(file)], [*files, *(chosen.score or [])]
    _check_outputs(names if form == "svmlight" else files, chosen)
    if rows:
        names.remove(rows[0])
    _check_number(chosen, form, rows, names, metrics)
    found = {file: RankingReport.load(file) for file in files if _is_saved(file)}
    saved = next(iter(found.values())).metrics if found else COMMANDS[chosen.command][1].split()
    metrics = metrics or [*saved]
    found = {name: _selected(report, name, metrics) for name, report in found.items()}
    options = {name: getattr(chosen, name) for name in ("convention", "ties", "replace_undefined_by")}
    options |= {"metrics": metrics, "condense": bool(chosen.condense)}
    if form == "trec":
        found |= _of_runs(rows[0], rows[1:], chosen, options)
    elif form != "saved":
        found |= _of_rows(rows[0], form, chosen, options)
    for part in ("groups", "by"):
        lacking = [name for name, report in found.items() if getattr(chosen, part) and getattr(report, part) is None]
        if lacking:
            raise ValueError(f"--{part} must be the same for all rankings; {lacking[0]} was evaluated without it.")
    return {name: found[name] for name in names}


def _of_runs(qrels: str, runs: Sequence[str], chosen: Namespace, options: dict[str, Any]) -> dict[str, RankingReport]:
    """Evaluate runs one by one; a terminal shows the current one."""
    given = {name: value for name in ("missing", "exclude", "score_type") if (value := getattr(chosen, name))}
    judgments, found = read_qrels(qrels), {}
    with Progress(None) as progress:
        for number, name in enumerate(runs, start=1):
            progress.say(f"{name}, {number} of {len(runs)}")
            found[name] = evaluate_run(judgments, name, **given, **options)
    return found


def _of_rows(file: str, form: str, chosen: Namespace, options: dict[str, Any]) -> dict[str, RankingReport]:
    if form == "svmlight":
        labels, options["qid"] = read_svmlight(file)
        scores: dict[str, Any] = {path: read_scores(path, len(labels), file) for path in chosen.score}
    else:
        signed = all(
            metric.computation.signed for metric in bind_metrics(options["metrics"], chosen.convention).values()
        )
        labels, scores, others = _read_table(file, form, chosen, signed)
        options |= others
    try:
        return {name: evaluate(labels, score, **options) for name, score in scores.items()}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {error}") from None


def _read_table(file: str, form: str, chosen: Namespace, signed: bool) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Labels, scores by name of the column, and what else ``evaluate`` takes."""
    import_arrow(f"Reading {file}")
    table = TableFile.opened(file, form)
    chosen.qid, by = chosen.qid or "qid", chosen.by or []
    _check_named_columns(table, chosen)
    named = {name: getattr(chosen, name) for name in ("retrieved", "judged", "groups")}
    others = {argument: name for argument, name in {"sample_weight": chosen.weight, **named}.items() if name}
    columns = Columns.of(chosen.label, chosen.score, chosen.qid, others | {f"by {name}": name for name in by})
    arrays = read_columns(table, replace(columns, signed=signed and not chosen.judged))
    found = {argument: arrays[name] for argument, name in {**others, "qid": chosen.qid}.items()}
    if by:
        found["by"] = {name: arrays[name] for name in by} if len(by) > 1 else arrays[by[0]]
    scores = {name: arrays[name] for name in chosen.score}
    return arrays[chosen.label], scores, found


def _check_named_columns(table: TableFile, chosen: Namespace) -> None:
    """Name all options that are missing or name no column, with the columns."""
    known, wrong = table.column_names(), dict[str, list[str]]()
    for option in OPTIONS:
        given = getattr(chosen, option.attribute) if option.kind == "COLUMN" else None
        names = [given] if isinstance(given, str) else given or []
        unknown = [name for name in names if name not in known]
        if unknown or (not names and option.name in ("label", "score")):
            wrong[f"--{option.name}"] = unknown
    if not wrong:
        return
    absent = list(dict.fromkeys(chain(*wrong.values())))
    lacks = f" has no column {', '.join(map(repr, absent))}. Pass" if absent else " needs"
    hint = nearest(absent[0], known) if len(absent) == 1 else ""
    if any(_is_metric(name, chosen.convention) for name in absent):
        hint = " Metrics come before --score, or after another option."
    shown = ", ".join(known[:MOST_NAMED]) + ", ..." * (len(known) > MOST_NAMED)
    raise ValueError(f"{table.name}{lacks} {', '.join(wrong)}; columns: {shown}.{hint}")


def _form(chosen: Namespace) -> str:
    """The format of the first file, which is a saved report only if all are."""
    words = [word for word in chosen.words if not _is_saved(word)]
    if chosen.format:
        return str(chosen.format)
    if len(words) < len(chosen.words) and all(_is_metric(word, "trec_eval") for word in words):
        return "saved"
    name = words[0].lower().removesuffix(PACKED)
    if form := format_of(name):
        return form
    if chosen.label:
        raise ValueError(f"Pass --format to say what {words[0]} is: {', '.join(TABLES)}.")
    return "svmlight" if chosen.score or name.endswith(SVMLIGHT) else "trec"


def _is_saved(file: str) -> bool:
    return file.lower().endswith(SAVED)


def _files_and_metrics(chosen: Namespace) -> tuple[list[str], list[str]]:
    """The files, which come first, and the names of metrics; a word that can be either is a metric."""
    words, convention = chosen.words, chosen.convention
    n_files = next((place for place, word in enumerate(words) if not _is_file(word, convention)), len(words))
    files, metrics = words[:n_files], words[n_files:]
    for word in metrics:
        if _is_file(word, convention):
            raise ValueError(f"Files come before metrics; got {word} after {metrics[0]}.")
        _check_metric(word, convention)
    if files.count("-") > 1:
        raise ValueError("Standard input can be read only once.")
    return files, metrics


def _check_metric(word: str, convention: str) -> None:
    """Refuse a word that is neither a metric nor a file, with similar names."""
    try:
        for name in expand([word], convention):
            bind(name, convention)
    except ValueError as error:
        folder = Path(word).parent
        hint = nearest(word, [str(folder / other.name) for other in folder.iterdir()]) if folder.is_dir() else ""
        if hint or any(sign in word.partition("(")[0] for sign in "./"):
            raise ValueError(f"File not found: {word}.{hint}") from None
        raise ValueError(f"{word} is not a file. {error}") from None


def _is_file(word: str, convention: str) -> bool:
    return word == "-" or (Path(word).exists() and not _is_metric(word, convention))


def _is_metric(word: str, convention: str) -> bool:
    try:
        return bool([bind(name, convention) for name in expand([word], convention)])
    except ValueError:
        return False


def _check_outputs(files: Sequence[str], chosen: Namespace) -> None:
    """Refuse outputs that would overwrite an input, and reports under a name by which they would not be found."""
    if chosen.save and not _is_saved(chosen.save):
        raise ValueError(f"--save must name a file that ends in {SAVED}; got {chosen.save}.")
    for output in filter(None, (chosen.output_file, chosen.save)):
        if any(Path(output).exists() and file != "-" and Path(output).samefile(file) for file in files):
            raise ValueError(f"{output} is an input, and would be overwritten. Choose another file for the output.")


def _check_number(chosen: Namespace, form: str, rows: list[str], names: list[str], metrics: list[str]) -> None:
    """Check the number of files and rankings, and that their names differ."""
    found = [word for word in metrics if Path(word).exists()]
    shadowed = f" {found[0]!r} is taken as a metric; write ./{found[0]} for the file." if found else ""
    if form in (*TABLES, "svmlight") and len(rows) != 1:
        raise ValueError(f"Pass a single file of rows; got {len(rows)}: {', '.join(rows)}.{shadowed}")
    least, what = (2, "two or more rankings") if chosen.command == "compare" else (1, "a ranking")
    if len(names) < least and (chosen.score or form not in TABLES):
        how = "runs after the judgments, --score, or saved reports"
        raise ValueError(f"Pass {what}: {how}; got {', '.join(names) or 'none'}.{shadowed}")
    if len(set(names)) < len(names):
        raise ValueError(f"Rankings must have different names; got {', '.join(names)}.")


def _selected(report: RankingReport, name: str, metrics: Sequence[str]) -> RankingReport:
    """A saved report, of the chosen metrics."""
    columns = {metric: str(column_of(metric, report.metrics)) for metric in metrics}
    for metric, column in columns.items():
        if column not in report.metrics:
            raise ValueError(f"Metric {metric!r} is missing from {name}, which has {', '.join(report.metrics)}.")
    results = {metric: report._results[column] for metric, column in columns.items()}
    return replace(report, metrics={m: report.metrics[column] for m, column in columns.items()}, _results=results)


def rows_of_report(report: RankingReport) -> dict[str, Any]:
    """The rows of a report as arguments of evaluate; rows with equal scores are in the order of "stable"."""
    lists = report._lists
    qid = np.repeat(lists.grouping.ids, lists.grouping.sizes)
    masks = {"retrieved": lists.retrieved, "judged": lists.judged}
    return {"y_true": lists.given_labels, "y_score": lists.scores, "qid": qid, **masks}

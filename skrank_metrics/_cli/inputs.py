"""Reports of the files and metrics that a command names."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import nearest
from skrank_metrics.metrics.names import bind, column_of, expand
from skrank_metrics.reports.evaluate import bind_metrics, evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.columns import columns_of
from skrank_metrics.sources.evaluate_run import evaluate_run
from skrank_metrics.sources.files import PACKED, SUFFIXES, TableFile, format_of, import_arrow
from skrank_metrics.sources.progress import Progress
from skrank_metrics.sources.svmlight import SUFFIXES as SVMLIGHT
from skrank_metrics.sources.svmlight import read_scores, read_svmlight
from skrank_metrics.sources.tables import read_columns
from skrank_metrics.trec import read_qrels

TABLES = tuple(SUFFIXES)
FORMATS = ("trec", *TABLES, "svmlight")
SAVED = ".json"
COLUMNS = ("label", "score", "qid", "weight", "retrieved", "judged", "groups", "by")
# The formats that an option applies to, if not to all; reports that were saved are what they are.
APPLIES = {
    **dict.fromkeys(COLUMNS, TABLES),
    "score": (*TABLES, "svmlight"),
    "condense": ("trec", *TABLES),
    **dict.fromkeys(("missing", "score_type"), ("trec",)),
    **dict.fromkeys(("convention", "ties", "replace_undefined_by"), FORMATS),
}
MOST_NAMED = 20  # columns in a message
_METRICS_FIRST = " Metrics come before --score, or after another option."


def read_reports(chosen: Namespace) -> dict[str, RankingReport]:
    """One report per ranking, by the name of its file or column; what needs no reading is checked first."""
    form = _form(chosen)
    for name, forms in APPLIES.items():
        if getattr(chosen, name) not in (None, False) and form not in forms:
            raise ValueError(f"{_as_typed(name)} does not apply to {form} files.")
    chosen.convention = chosen.convention or ("trec_eval" if form == "trec" else "sklearn")
    files, metrics = _files_and_metrics(chosen, form)
    if chosen.save and not _is_saved(chosen.save.name):
        raise ValueError(f"--save must name a file that ends in {SAVED}; got {chosen.save}.")
    scores, rows = chosen.score or [], [file for file in files if not _is_saved(file)]
    names = [*files, *scores]
    if rows:
        names.remove(rows[0])
    _check_number(chosen, form, rows, names, metrics)
    _check_files([*files, *scores] if form == "svmlight" else files, chosen)
    found = {file: RankingReport.load(file) for file in files if _is_saved(file)}
    metrics = metrics or ([*next(iter(found.values())).metrics] if found else list(chosen.default_metrics))
    found = {name: _selected(report, name, metrics) for name, report in found.items()}
    options = {name: getattr(chosen, name) for name in ("convention", "ties", "replace_undefined_by")}
    options["metrics"] = metrics
    if form == "trec":
        found |= _of_runs(rows[0], rows[1:], chosen, options)
    elif form != "saved":
        found |= _of_rows(rows[0], form, chosen, options)
    for part in ("groups", "by") if chosen.by else ("groups",):
        lacking = [name for name, report in found.items() if getattr(report, part) is None]
        if 0 < len(lacking) < len(found):
            raise ValueError(f"--{part} must be the same for all rankings; {lacking[0]} was evaluated without it.")
    return {name: found[name] for name in names}


def _of_runs(qrels: str, runs: Sequence[str], chosen: Namespace, options: dict[str, Any]) -> dict[str, RankingReport]:
    """Evaluate runs one by one; a terminal shows the current one."""
    given = {name: value for name in ("missing", "score_type", "condense") if (value := getattr(chosen, name))}
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
        signed = all(metric.computation.signed for metric in bind_metrics(**options).values())
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
    named = {
        "sample_weight": chosen.weight,
        **{name: getattr(chosen, name) for name in ("retrieved", "judged", "groups")},
    }
    others = {argument: name for argument, name in named.items() if name}
    columns = columns_of(chosen.label, chosen.score, chosen.qid, others | {f"by {name}": name for name in by})
    arrays = read_columns(table, replace(columns, signed=signed and not chosen.judged))
    found = {argument: arrays[name] for argument, name in {**others, "qid": chosen.qid}.items()}
    if by:
        found["by"] = {name: arrays[name] for name in by} if len(by) > 1 else arrays[by[0]]
    scores = {name: arrays[name] for name in chosen.score}
    return arrays[chosen.label], scores, found | {"condense": chosen.condense}


def _check_named_columns(table: TableFile, chosen: Namespace) -> None:
    """Name all options that are missing or name no column, with the columns."""
    known, wrong, absent = table.column_names(), [], dict[str, None]()
    for name in COLUMNS:
        given = getattr(chosen, name) or []
        unknown = [column for column in ([given] if isinstance(given, str) else given) if column not in known]
        absent |= dict.fromkeys(unknown)
        if unknown or (not given and name in ("label", "score")):
            wrong.append(_as_typed(name))
    if wrong:
        from skrank_metrics.reports.verdict import listed  # which loads SciPy

        lacks = f" has no column {listed([*map(repr, absent)], 'or')}. Pass" if absent else " needs"
        hint = nearest(next(iter(absent)), known) if len(absent) == 1 else ""
        hint = _METRICS_FIRST if any(_is_metric(column, chosen.convention) for column in absent) else hint
        shown = ", ".join(known[:MOST_NAMED]) + ", ..." * (len(known) > MOST_NAMED)
        raise ValueError(f"{table.name}{lacks} {listed(wrong)}; columns: {shown}.{hint}")


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


def _files_and_metrics(chosen: Namespace, form: str) -> tuple[list[str], list[str]]:
    """The files, which come first, and the names of metrics; a word that can be either is a metric."""
    words, convention = chosen.words, chosen.convention
    n_files = 0
    while n_files < len(words) and _is_file(words[n_files], convention):
        n_files += 1
    files, metrics = words[:n_files], words[n_files:]
    # A word that can be neither is a file if one is needed here, or if it has the name of one.
    needed = {"trec": 1 + chosen.least, "saved": chosen.least}.get(form, 1)
    for metric in metrics:
        if _is_metric(metric, convention):
            needed = 0
        elif len(files) < needed or any(sign in metric.partition("(")[0] for sign in "./"):
            _refuse_missing(metric)
        elif Path(metric).exists():
            raise ValueError(f"Files come before metrics; got {metric} after {metrics[0]}.")
        for name in expand([metric], convention):
            bind(name, convention)  # says what is wrong with the name
    if files.count("-") > 1:
        raise ValueError("Standard input can be read only once.")
    return files, metrics


def _is_file(word: str, convention: str) -> bool:
    return word == "-" or (Path(word).exists() and not _is_metric(word, convention))


def _is_metric(word: str, convention: str) -> bool:
    try:
        return bool([bind(name, convention) for name in expand([word], convention)])
    except ValueError:
        return False


def _refuse_missing(file: str, hint: str = "") -> None:
    """Raise an error if there is no such file, with the names of similar ones."""
    if file == "-" or Path(file).exists():
        return
    folder = Path(file).parent
    others = [str(folder / other.name) for other in folder.iterdir()] if folder.is_dir() else []
    raise ValueError(f"File not found: {file}.{hint or nearest(file, others)}")


def _check_files(files: Sequence[str], chosen: Namespace) -> None:
    """Refuse files that are not there, and outputs that would overwrite one."""
    for file in files:
        _refuse_missing(file, _METRICS_FIRST if _is_metric(file, chosen.convention) else "")
        for output in (chosen.output_file, chosen.save):
            if output is not None and output.exists() and file != "-" and output.samefile(file):
                raise ValueError(f"{output} is an input, and would be overwritten. Choose another file for the output.")


def _check_number(chosen: Namespace, form: str, rows: list[str], names: list[str], metrics: list[str]) -> None:
    """Check the number of files and rankings, and that their names differ."""
    found = [word for word in metrics if Path(word).exists()]
    shadowed = f" {found[0]!r} is taken as a metric; write ./{found[0]} for the file." if found else ""
    if form not in ("trec", "saved") and len(rows) != 1:
        raise ValueError(f"Pass a single file of rows; got {len(rows)}: {', '.join(rows)}.{shadowed}")
    if tables := [name for name in rows[1:] if form == "trec" and format_of(name)]:
        raise ValueError(f"{tables[0]} is a table, but {rows[0]} is not: pass TREC files, or one table with all rows.")
    if len(names) < chosen.least and (chosen.score or form not in TABLES):
        what = {"trec": "QRELS RUN [RUN ...]", "svmlight": "--score FILE [FILE ...]", "saved": "saved reports"}
        several = "two or more rankings" if chosen.least > 1 else "one or more rankings"
        spelled = what.get(form, "--score COLUMN [COLUMN ...]")
        raise ValueError(f"Pass {several}, as {spelled}; got {', '.join(names) or 'none'}.{shadowed}")
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


def _as_typed(name: str) -> str:
    return "--" + name.replace("_", "-")


def rows_of_report(report: RankingReport) -> dict[str, Any]:
    """The rows of a report as arguments of evaluate; rows with equal scores are in the order of "stable"."""
    lists = report._lists
    qid = np.repeat(lists.grouping.ids, lists.grouping.sizes)
    masks = {"retrieved": lists.retrieved, "judged": lists.judged}
    return {"y_true": lists.given_labels, "y_score": lists.scores, "qid": qid, **masks}

"""Reports of the files and metrics that a command names."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from skrank_metrics._cli.options import COMMANDS, OPTIONS, TABLES
from skrank_metrics._input.arrays import nearest
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import bind, column_of, expand, get_metrics
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.batches import read_columns
from skrank_metrics.sources.evaluate_run import evaluate_run
from skrank_metrics.sources.files import PACKED, SVMLIGHT, format_of, read_scores, read_svmlight
from skrank_metrics.sources.tables import Columns, TableFile, import_arrow
from skrank_metrics.trec import read_qrels

SAVED = ".json"
MOST_NAMED = 20  # columns in a message


def read_reports(chosen: Namespace) -> dict[str, RankingReport]:
    """One report per ranking, by the name of its file or column; what needs no reading is checked first."""
    metrics = [word for word in chosen.words if _error_of_metric(word, chosen) is None]
    files = [word for word in chosen.words if word not in metrics]
    for file in files:
        _check_exists(file, chosen)
    form = _form(files, chosen)
    for option in OPTIONS:
        given = getattr(chosen, option.attribute)
        if given is not None and given is not False and form not in option.formats:  # 0 is given
            raise ValueError(f"--{option.name} does not apply to {form} files.")
    rows = [file for file in files if not _is_saved(file)]
    names = [file for file in (*files, *(chosen.score or [])) if file not in rows[:1]]
    _check_outputs(
        [*files, *filter(None, (names if form == "svmlight" else [chosen.exclude]))], chosen
    )
    _check_rankings(chosen, form, rows, names)
    found = {file: RankingReport.load(file) for file in files if _is_saved(file)}
    saved = next(iter(found.values())).metrics if found else COMMANDS[chosen.command][1].split()
    metrics = metrics or [*saved]
    found = {name: _selected(report, name, metrics) for name, report in found.items()}
    chosen.convention = chosen.convention or ("trec_eval" if form == "trec" else "sklearn")
    options = {"convention": chosen.convention, "condense": bool(chosen.condense)}
    if form != "saved":
        options["metrics"] = _with_options(metrics, chosen)
    if form == "trec":
        options |= {
            name: value
            for name in ("missing", "exclude", "score_type")
            if (value := getattr(chosen, name))
        }
        judgments = read_qrels(rows[0])
        found |= {run: evaluate_run(judgments, run, **options) for run in rows[1:]}
    elif form != "saved":
        found |= _of_rows(rows[0], form, chosen, options)
    for part in ("groups", "by"):
        lacking = [
            name
            for name, report in found.items()
            if getattr(chosen, part) and getattr(report, part) is None
        ]
        if lacking:
            raise ValueError(
                f"--{part} must be the same for all rankings; {lacking[0]} was evaluated without it."
            )
    return {name: found[name] for name in names}


def _with_options(metrics: list[str], chosen: Namespace) -> dict[str, BoundMetric]:
    """The metrics with the options that are meant for all of them."""
    given = {"ties": chosen.ties, "replace_undefined_by": chosen.replace_undefined_by}
    params = {name: value for name, value in given.items() if value is not None}
    return get_metrics(*metrics, convention=chosen.convention, **params)


def _of_rows(
    file: str, form: str, chosen: Namespace, options: dict[str, Any]
) -> dict[str, RankingReport]:
    if form == "svmlight":
        labels, options["qid"] = read_svmlight(file)
        scores: dict[str, Any] = {
            path: read_scores(path, len(labels), file) for path in chosen.score
        }
    else:
        bound = options["metrics"].values()
        arrays = _read_table(
            file, form, chosen, signed=all(metric.computation.signed for metric in bound)
        )
        scores, labels = arrays.pop("scores"), arrays.pop("labels")
        options |= arrays
    try:
        return {name: evaluate(labels, score, **options) for name, score in scores.items()}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {error}") from None


def _read_table(file: str, form: str, chosen: Namespace, *, signed: bool) -> dict[str, Any]:
    """Labels, scores by name of the column, and what else ``evaluate`` takes."""
    import_arrow(f"Reading {file}")
    table = TableFile.opened(file, form)
    chosen.qid, by = chosen.qid or "qid", chosen.by or []
    _check_named_columns(table, chosen)
    named = {name: getattr(chosen, name) for name in ("retrieved", "judged", "groups")}
    others = {
        argument: name
        for argument, name in {"sample_weight": chosen.weight, **named}.items()
        if name
    }
    columns = Columns.of(
        chosen.label, chosen.score, chosen.qid, others | {f"by {name}": name for name in by}
    )
    arrays = read_columns(table, replace(columns, signed=signed and not chosen.judged))
    found = {
        argument: arrays[name]
        for argument, name in {**others, "labels": chosen.label, "qid": chosen.qid}.items()
    }
    if by:
        found["by"] = {name: arrays[name] for name in by} if len(by) > 1 else arrays[by[0]]
    return {**found, "scores": {name: arrays[name] for name in chosen.score}}


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
    if any(_error_of_metric(name, chosen) is None for name in absent):
        hint = " Metrics come before --score, or after another option."
    shown = ", ".join(known[:MOST_NAMED]) + ", ..." * (len(known) > MOST_NAMED)
    raise ValueError(f"{table.name}{lacks} {', '.join(wrong)}; columns: {shown}.{hint}")


def _form(files: Sequence[str], chosen: Namespace) -> str:
    """The format of the first file that is not a saved report."""
    if not files:
        raise ValueError(f"Pass files beside the metrics; got {', '.join(chosen.words)}.")
    name = next((file for file in files if not _is_saved(file)), None)
    if name is None:
        return "saved"
    if chosen.format:
        return str(chosen.format)
    lower = name.lower().removesuffix(PACKED)
    if form := format_of(lower):
        return form
    if chosen.label:
        raise ValueError(f"Pass --format to say what {name} is: {', '.join(TABLES)}.")
    return "svmlight" if chosen.score or lower.endswith(SVMLIGHT) else "trec"


def _is_saved(file: str) -> bool:
    return file.lower().endswith(SAVED)


def _error_of_metric(word: str, chosen: Namespace) -> ValueError | None:
    """Why a word is no metric; by default, names of trec_eval are metrics, too."""
    convention = chosen.convention or "trec_eval"
    try:
        for name in expand([word], convention):
            bind(name, convention)
    except ValueError as error:
        return error
    return None


def _check_exists(word: str, chosen: Namespace) -> None:
    """Refuse a word that is neither a metric nor a file, with similar names."""
    if word == "-" or Path(word).exists():
        return
    folder = Path(word).parent
    hint = (
        nearest(word, [str(folder / other.name) for other in folder.iterdir()])
        if folder.is_dir()
        else ""
    )
    if hint or any(sign in word.partition("(")[0] for sign in "./"):
        raise ValueError(f"File not found: {word}.{hint}")
    raise ValueError(f"{word} is not a file. {_error_of_metric(word, chosen)}")


def _check_outputs(files: Sequence[str], chosen: Namespace) -> None:
    """Refuse outputs that would overwrite an input, and reports under a name by which they would not be found."""
    if chosen.save and not _is_saved(chosen.save):
        raise ValueError(f"--save must name a file that ends in {SAVED}; got {chosen.save}.")
    for output in filter(None, (chosen.output_file, chosen.save)):
        if any(
            Path(output).exists() and file != "-" and Path(output).samefile(file) for file in files
        ):
            raise ValueError(
                f"{output} is an input, and would be overwritten. Choose another file for the output."
            )


def _check_rankings(chosen: Namespace, form: str, rows: list[str], names: list[str]) -> None:
    """Check the number of files and rankings, and that their names differ."""
    if chosen.words.count("-") > 1:
        raise ValueError("Standard input can be read only once.")
    if form in (*TABLES, "svmlight") and len(rows) != 1:
        raise ValueError(f"Pass a single file of rows; got {len(rows)}: {', '.join(rows)}.")
    least, what = (2, "two or more rankings") if chosen.command == "compare" else (1, "a ranking")
    if len(names) < least and (chosen.score or form not in TABLES):
        how = "runs after the judgments, --score, or saved reports"
        raise ValueError(f"Pass {what}: {how}; got {', '.join(names) or 'none'}.")
    if len(set(names)) < len(names):
        raise ValueError(f"Rankings must have different names; got {', '.join(names)}.")


def _selected(report: RankingReport, name: str, metrics: Sequence[str]) -> RankingReport:
    """A saved report, of the chosen metrics."""
    columns = {metric: column_of(metric, report.metrics) or "" for metric in metrics}
    if missing := [metric for metric, column in columns.items() if not column]:
        raise ValueError(
            f"Metric {missing[0]!r} is missing from {name}, which has {', '.join(report.metrics)}."
        )
    own, results = report.metrics, report._results
    return replace(
        report,
        metrics={metric: own[column] for metric, column in columns.items()},
        _results={metric: results[column] for metric, column in columns.items()},
    )

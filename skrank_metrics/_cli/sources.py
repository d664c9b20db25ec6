"""Reports of files: TREC files, tables, and svmlight files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import EXACT_INTEGERS, LARGEST_EXACT_INTEGER, is_rounded
from skrank_metrics.metrics.names import bind, expand
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.evaluate_run import evaluate_run
from skrank_metrics.sources.files import (
    PACKED,
    SUFFIXES,
    TableFile,
    format_of,
    import_arrow,
    read_bytes,
    refuse,
)
from skrank_metrics.sources.progress import Progress
from skrank_metrics.trec import read_qrels

LABEL, NUMBER = "a finite label >= 0", "a number"
TABLES = tuple(SUFFIXES)
FORMATS = ("trec", *TABLES, "svmlight")
# Parameters in messages of functions, and the options that set them.
OPTIONS = {"align='intersection'": "--align intersection", "missing='zero'": "--missing zero"}
_SVMLIGHT = (".svm", ".libsvm", ".svmlight")


def read_reports(chosen: Namespace) -> dict[str, RankingReport]:
    """Evaluate all rankings, keyed by the name of the run file, the score file or the score column."""
    form = chosen.format or _recognise(chosen)
    chosen.convention = convention = chosen.convention or ("trec_eval" if form == "trec" else "sklearn")
    files, metrics = _files_and_metrics(chosen.words, convention)
    options = {"metrics": metrics or chosen.default_metrics, "convention": convention, "ties": chosen.ties}
    _check_format(chosen, form)
    if form == "trec":
        if len(files) < 1 + chosen.least:
            wanted = "two or more runs to compare: QRELS RUN RUN" if chosen.least > 1 else "one or more runs: QRELS RUN"
            raise ValueError(f"Pass a file of judgments and {wanted} [RUN ...].{_shadowed(metrics)}")
        qrels, names = read_qrels(files[0]), _different(files[1:])
        how = {"missing": chosen.missing or "zero", "score_type": chosen.score_type}
        return {name: _rephrase_findings(evaluate_run(qrels, name, **options, **how)) for name in _with_progress(names)}
    if len(files) != 1:
        raise ValueError(f"Pass a single file of rows; got {len(files)}: {', '.join(files)}.{_shadowed(metrics)}")
    columns, scores = (_svmlight if form == "svmlight" else _table)(files[0], form, chosen)
    try:
        return {name: evaluate(columns["y"], score, **options, qid=columns["qid"], by=columns.get("by"))
                for name, score in scores.items()}  # fmt: skip
    except (ValueError, TypeError) as error:
        raise ValueError(f"{files[0]}: {error}") from None


def _with_progress(names: Sequence[str]) -> Iterator[str]:
    """Names one by one; a terminal shows the current one."""
    with Progress(None) as progress:
        for number, name in enumerate(names, start=1):
            progress.say(f"{name}, {number} of {len(names)}")
            yield name


def name_options(text: str) -> str:
    """Text that names options of the command line instead of parameters."""
    for parameter, option in OPTIONS.items():
        text = text.replace(parameter, option)
    return text


def _rephrase_findings(report: RankingReport) -> RankingReport:
    """The same report, whose findings name options."""
    findings = tuple(map(name_options, left_out(report)))
    return replace(report, _left_out=findings)


def left_out(report: RankingReport) -> tuple[str, ...]:
    """Findings about topics that are not in a report."""
    return report._left_out


def rows_of_report(report: RankingReport) -> dict[str, Any]:
    """The rows of a report as arguments of evaluate; rows with equal scores are in the order of "stable"."""
    lists = report._lists
    qid = np.repeat(lists.grouping.ids, lists.grouping.sizes)
    masks = {"retrieved": lists.retrieved, "judged": lists.judged}
    return {"y_true": lists.given_labels, "y_score": lists.scores, "qid": qid, **masks}


def _recognise(chosen: Namespace) -> str:
    name = chosen.words[0].lower().removesuffix(PACKED)
    if form := format_of(name):
        return form
    if chosen.scores or name.endswith(_SVMLIGHT):
        return "svmlight"
    if chosen.label or chosen.score:
        raise ValueError(f"--format must say what {chosen.words[0]} is: {', '.join(TABLES)}.")
    return "trec"


def _check_format(chosen: Namespace, form: str) -> None:
    """Refuse options that do not apply to the format, and require those that it needs."""
    needed = {"trec": (), "svmlight": ("scores",)}.get(form, ("label", "score"))
    allowed = {*needed, *(("missing", "align") if form == "trec" else ("by",) if form in TABLES else ())}
    for name in needed:
        if not getattr(chosen, name):
            raise ValueError(f"--{name} is required for {form} files.")
    for name in ("label", "score", "scores", "missing", "align", "by"):
        if getattr(chosen, name, None) and name not in allowed:
            raise ValueError(f"--{name} does not apply to {form} files.")
    for name, what in (("score", "columns"), ("scores", "files")):
        given = getattr(chosen, name)
        if given and len(given) < chosen.least:
            raise ValueError(f"--{name} must name two or more {what} to compare; got {given[0]}.")


def _files_and_metrics(words: Sequence[str], convention: str) -> tuple[list[str], list[str]]:
    """The files, which come first, and the names of metrics; a word that can be either is a metric."""
    is_file = [word == "-" or (Path(word).exists() and not _is_metric(word, convention)) for word in words]
    n_files = [*is_file, False].index(False)
    files, metrics = list(words[:n_files]), list(words[n_files:])
    if files.count("-") > 1:
        raise ValueError("Standard input can be read only once.")
    for metric in metrics:
        for name in expand([metric], convention):
            try:
                bind(name, convention)
            except ValueError as error:
                raise ValueError(f"{metric!r} is neither an existing file nor a metric. {error}") from None
    return files, metrics


def _is_metric(word: str, convention: str) -> bool:
    try:
        return bool([bind(name, convention) for name in expand([word], convention)])
    except ValueError:
        return False


def _shadowed(words: Sequence[str]) -> str:
    """Say how to pass files that have the names of metrics, if there are any."""
    found = [word for word in words if Path(word).exists()]
    return f" {found[0]!r} is taken as a metric; write ./{found[0]} for the file." if found else ""


def _different(names: Sequence[str]) -> Sequence[str]:
    if len(set(names)) < len(names):
        raise ValueError(f"Rankings must have different names; got {', '.join(names)}.")
    return names


def _table(file: str, form: str, chosen: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Labels, ids and slices of a table, and its scores."""
    from skrank_metrics.sources.columns import columns_of
    from skrank_metrics.sources.tables import read_columns

    import_arrow(f"Reading {file}")
    columns = columns_of(chosen.label, chosen.score, chosen.qid, {"by": getattr(chosen, "by", None)})
    try:
        arrays = read_columns(TableFile.opened(file, form), columns)
    except ValueError as error:
        metrics = [score for score in chosen.score if f"{score!r} is not: " in str(error)]
        raise ValueError(f"{error}{_hint_at_metrics(metrics, '--score', chosen.convention)}") from None
    found = {"y": arrays[columns.label], "qid": arrays[columns.qid]}
    found |= {argument: arrays[column] for argument, column in columns.others.items()}
    return found, {score: arrays[score] for score in columns.scores}


def _hint_at_metrics(words: Sequence[str], option: str, convention: str) -> str:
    """Say what to do if metrics were taken for values of an option."""
    if any(_is_metric(word, convention) for word in words):
        return f" Metrics come before {option}, or after another option."
    return ""


def _svmlight(file: str, form: str, chosen: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Labels and ids of "label qid:id feature:value ..." lines, and the scores of other files.

    Unlike scikit-learn's loader, this keeps no features, takes any ids, and names the line of an error.
    """
    for path in chosen.scores:
        if path != "-" and not Path(path).exists():
            hint = _hint_at_metrics([path], "--scores", chosen.convention)
            raise ValueError(f"--scores must be existing files; got {path!r}.{hint}")
    labels, ids = [], []
    for where, line in _lines_of(file):
        if row := line.partition(b"#")[0].split(None, 2):
            if len(row) < 2 or not row[1].startswith(b"qid:") or len(row[1]) == len(b"qid:"):
                refuse(*where, line, "a row as 'label qid:id feature:value ...'")
            labels.append(_number_in_line(row[0], where, line, LABEL, least=0))
            ids.append(row[1].removeprefix(b"qid:").decode())
    if not labels:
        raise ValueError(f"{file} must hold at least one row; got only comments.")
    scores = {path: _scores(path, len(labels), file) for path in _different(chosen.scores)}
    return {"y": np.array(labels), "qid": ids}, scores


def _lines_of(path: str) -> Iterator[tuple[tuple[str, int], bytes]]:
    """The lines of a text file that are not blank, with the name of the file and their numbers."""
    data, name = read_bytes(path, text=True)
    return (((name, number), line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip())


def _scores(path: str, n_rows: int, rows_of: str) -> NDArray[Any]:
    scores = np.array([_number_in_line(line.strip(), where, line, NUMBER) for where, line in _lines_of(path)])
    if len(scores) != n_rows:
        raise ValueError(f"{path} must hold one score per row of {rows_of}; got {len(scores)} and {n_rows}.")
    return scores


def _number_in_line(field: bytes, where: tuple[str, int], line: bytes, expected: str, least: float = -np.inf) -> float:
    """A number in a line. If ``least`` is given, as for labels, the number must be finite."""
    try:
        value = float(field)
    except ValueError:
        value = np.nan
    if np.isnan(value) or b"_" in field or value < least or (value == np.inf and least == 0):
        refuse(*where, line, expected)
    if abs(value) >= LARGEST_EXACT_INTEGER and is_rounded(field.decode()):
        refuse(*where, line, f"{expected}, and {EXACT_INTEGERS}")
    return value

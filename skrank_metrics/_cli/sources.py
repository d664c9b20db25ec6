"""Files as reports: those of TREC, tables of rows, and rows of svmlight."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.trec_lines import read_bytes, refuse
from skrank_metrics.at_scale.progress import Progress
from skrank_metrics.metrics.names import bind, expand
from skrank_metrics.reports._evaluation import Evaluation
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.trec import evaluate_run, read_qrels

FORMATS = ("trec", "parquet", "csv", "tsv", "svmlight")
TABLES = ("parquet", "csv", "tsv")
_SUFFIXES = {"svm": "svmlight", "libsvm": "svmlight", **{name: name for name in (*TABLES, "svmlight")}}
_ROW = re.compile(rb"\s*(\S+)\s+qid:(\S+)(?:\s|$)")


def read_reports(chosen: Namespace) -> dict[str, RankingReport]:
    """Evaluate all rankings, by name: of the file of the run or scores, or of the column of scores."""
    form = chosen.format or _recognise(chosen)
    chosen.convention = convention = chosen.convention or ("trec_eval" if form == "trec" else "sklearn")
    files, metrics = _split(chosen.words, convention)
    options = {"metrics": metrics or chosen.default_metrics, "convention": convention, "ties": chosen.ties}
    _check_options(chosen, form)
    if form == "trec":
        if len(files) < 2:
            raise ValueError("A file of judgments and one or more runs are needed: QRELS RUN [RUN ...].")
        qrels, names = read_qrels(files[0]), _different(files[1:])
        how = {"complete": chosen.complete, "score_type": chosen.score_type}
        return {name: evaluate_run(qrels, name, **options, **how) for name in _shown(names)}
    if len(files) != 1:
        raise ValueError(f"One file of rows is needed; got {len(files)}: {', '.join(files)}.")
    columns, scores = (_svmlight if form == "svmlight" else _table)(files[0], form, chosen)
    try:
        return {name: evaluate(columns["y"], score, **options, qid=columns["qid"], by=columns.get("by"))
                for name, score in scores.items()}  # fmt: skip
    except (ValueError, TypeError) as error:
        raise ValueError(f"{files[0]}: {error}") from None


def _shown(names: Sequence[str]) -> Iterator[str]:
    """Names one by one; on a terminal, the present one is shown."""
    with Progress(None) as progress:
        for number, name in enumerate(names, start=1):
            progress.say(f"{name}, {number} of {len(names)}")
            yield name


def rows_of(report: RankingReport) -> dict[str, Any]:
    """The rows of a report as arguments of evaluate; those of equal scores in the order of "stable"."""
    lists = cast(Evaluation, report._evaluation).lists
    qid = np.repeat(lists.grouping.ids, lists.grouping.sizes)
    masks = {"retrieved": lists.retrieved, "judged": lists.judged}
    return {"y_true": lists.given_labels, "y_score": lists.scores, "qid": qid, **masks}


def _recognise(chosen: Namespace) -> str:
    suffix = chosen.words[0].lower().removesuffix(".gz").rpartition(".")[2]
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if chosen.scores:
        return "svmlight"
    if chosen.label or chosen.score:
        raise ValueError(f"--format must say what {chosen.words[0]} is: {', '.join(TABLES)}.")
    return "trec"


def _check_options(chosen: Namespace, form: str) -> None:
    """Refuse options that the format has no use for, and ask for those that it needs."""
    needed = {"trec": (), "svmlight": ("scores",)}.get(form, ("label", "score"))
    allowed = {*needed, *(("complete",) if form == "trec" else ("by",) if form in TABLES else ())}
    for name in needed:
        if not getattr(chosen, name):
            raise ValueError(f"--{name} is needed for rows of {form}.")
    for name in ("label", "score", "scores", "complete", "by"):
        if getattr(chosen, name, None) and name not in allowed:
            raise ValueError(f"--{name} has no meaning for files of {form}.")


def _split(words: Sequence[str], convention: str) -> tuple[list[str], list[str]]:
    """The files, which come first, and the names of metrics."""
    n_files = next((n for n, word in enumerate(words) if word != "-" and not Path(word).exists()), len(words))
    files, metrics = list(words[:n_files]), list(words[n_files:])
    if files.count("-") > 1:
        raise ValueError("The standard input can be read only once.")
    for metric in metrics:
        for name in expand([metric]):
            try:
                bind(name, convention)
            except ValueError as error:
                raise ValueError(f"{metric!r} is neither a file that exists nor a metric. {error}") from None
    return files, metrics


def _different(names: Sequence[str]) -> Sequence[str]:
    if len(set(names)) < len(names):
        raise ValueError(f"Each ranking must be given once; got {', '.join(names)}.")
    return names


def _table(file: str, form: str, chosen: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Labels, ids and slices of a table, and its scores."""
    from skrank_metrics.at_scale.sources import DELIMITERS, Content, columns_of, import_arrow, read_columns

    import_arrow(f"Reading {file}", "files")
    data, name = read_bytes(file, text=form in DELIMITERS)
    others = {"by": getattr(chosen, "by", None)}
    columns = columns_of(chosen.label, chosen.score, chosen.qid, others, holder=name, lines=form in DELIMITERS)
    arrays = read_columns(Content(name, data, form), columns)
    given = {"y": arrays[columns.label], "qid": arrays[columns.qid]}
    given |= {argument: arrays[column] for argument, column in columns.others.items()}
    return given, {score: arrays[score] for score in columns.scores}


def _svmlight(file: str, form: str, chosen: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Labels and ids of "label qid:id feature:value ..." lines, and the scores of other files."""
    (data, name), labels, ids = read_bytes(file, text=True), [], []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.partition(b"#")[0].strip():
            match = _ROW.match(line)
            if match is None:
                refuse(name, number, line, "a row as 'label qid:id feature:value ...'")
            labels.append(_number(match[1], (name, number, line)))
            ids.append(match[2].decode())
    scores = {path: _scores(path, len(labels), name) for path in _different(chosen.scores)}
    return {"y": np.array(labels), "qid": np.array(ids)}, scores


def _scores(path: str, n_rows: int, rows_of: str) -> NDArray[Any]:
    data, name = read_bytes(path, text=True)
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    scores = [_number(line.strip(), (name, number, line)) for number, line in lines]
    if len(scores) != n_rows:
        raise ValueError(f"{name} must hold one score per row of {rows_of}; got {len(scores)} and {n_rows}.")
    return np.array(scores)


def _number(field: bytes, where: tuple[str, int, bytes]) -> float:
    try:
        value = float(field)
    except ValueError:
        value = np.nan
    if np.isnan(value) or b"_" in field:
        refuse(*where, "a number")
    return value

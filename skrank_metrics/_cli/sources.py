"""Files as reports: those of TREC, tables of rows, and rows of svmlight."""

from __future__ import annotations

import importlib
import io
import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.trec_lines import read_bytes, refuse
from skrank_metrics.metrics.names import bind, expand
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.trec import evaluate_run, read_qrels

FORMATS = ("trec", "parquet", "csv", "tsv", "svmlight")
TABLES = ("parquet", "csv", "tsv")
_SUFFIXES = {"svm": "svmlight", "libsvm": "svmlight", **{name: name for name in (*TABLES, "svmlight")}}
_ROW = re.compile(rb"\s*(\S+)\s+qid:(\S+)(?:\s|$)")
_INSTALL = 'pip install "skrank-metrics[files]"'


def read_reports(chosen: Namespace) -> dict[str, RankingReport]:
    """Evaluate all rankings, by name: of the file of the run or scores, or of the column."""
    form = chosen.format or _recognise(chosen)
    convention = chosen.convention or ("trec_eval" if form == "trec" else "sklearn")
    files, metrics = _split(chosen.words, convention)
    options = {"metrics": metrics or ("ndcg@10", "map", "mrr"), "convention": convention, "ties": chosen.ties}
    _check_options(chosen, form)
    if form == "trec":
        if len(files) < 2:
            raise ValueError("A file of judgments and one or more runs are needed: QRELS RUN [RUN ...].")
        qrels, names = read_qrels(files[0]), _different(files[1:])
        how = {"complete": chosen.complete, "score_type": chosen.score_type}
        return {name: evaluate_run(qrels, name, **options, **how) for name in names}
    if len(files) != 1:
        raise ValueError(f"One file of rows is needed; got {len(files)}: {', '.join(files)}.")
    columns, scores = (_svmlight if form == "svmlight" else _table)(files[0], form, chosen)
    try:
        return {name: evaluate(columns["y"], score, **options, qid=columns["qid"], by=columns.get("by"))
                for name, score in scores.items()}  # fmt: skip
    except (ValueError, TypeError) as error:
        raise ValueError(f"{files[0]}: {error}") from None


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
    wanted = [
        chosen.label,
        chosen.qid,
        *_different(chosen.score),
        *([chosen.by] if getattr(chosen, "by", None) else []),
    ]
    table = (_read_parquet if form == "parquet" else _read_text)(file, form)
    for name in wanted:
        if name not in table:
            raise ValueError(f"{file} must have a column {name!r}; it has {', '.join(map(repr, table))}.")
    columns = {"y": _numbers(table, chosen.label, file), "qid": _complete(table, chosen.qid, file)}
    if getattr(chosen, "by", None):
        columns["by"] = _complete(table, chosen.by, file)
    return columns, {name: _numbers(table, name, file) for name in chosen.score}


def _read_parquet(file: str, form: str) -> dict[str, list[Any] | NDArray[Any]]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(f"Reading {file} needs pyarrow: {_INSTALL}.") from None
    data, _ = read_bytes(file)
    try:
        return _columns_of(parquet.read_table(io.BytesIO(data)))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} must be a file of parquet; got: {error}") from None


def _read_text(file: str, form: str) -> dict[str, list[Any] | NDArray[Any]]:
    delimiter, (data, _) = "," if form == "csv" else "\t", read_bytes(file, text=True)
    try:
        csv = importlib.import_module("pyarrow.csv")
    except ImportError:
        return _read_with_pandas(file, data, delimiter)
    options = {
        "parse_options": csv.ParseOptions(delimiter=delimiter),
        "convert_options": csv.ConvertOptions(null_values=[""], strings_can_be_null=True),  # "NA" can be an id
    }
    try:
        return _columns_of(csv.read_csv(io.BytesIO(data), **options))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} must be a table of {form}; got: {error}") from None


def _read_with_pandas(file: str, data: bytes, delimiter: str) -> dict[str, list[Any] | NDArray[Any]]:
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise ImportError(f"Reading {file} needs pyarrow or pandas: {_INSTALL}.") from None
    frame = pandas.read_csv(io.BytesIO(data), sep=delimiter, low_memory=False, keep_default_na=False, na_values=[""])
    return {name: frame[name].to_numpy() for name in frame.columns}


def _columns_of(table: Any) -> dict[str, list[Any] | NDArray[Any]]:
    """Columns as arrays; those with nulls, and all but numbers, as lists of Python's objects."""
    columns = {name: table.column(name) for name in table.column_names}
    return {
        name: column.to_pylist() if column.null_count or not _is_number(column) else column.to_numpy()
        for name, column in columns.items()
    }


def _is_number(column: Any) -> bool:
    return str(column.type).startswith(("int", "uint", "float", "double", "halffloat"))


def _complete(table: Any, name: str, file: str) -> Any:
    """A column without missing values."""
    column = table[name]
    missing = [row for row, value in enumerate(column) if value is None or value != value]
    if missing:
        raise ValueError(f"{file}, row {missing[0] + 1}: expected a value in column {name!r}; got none.")
    return column


def _numbers(table: Any, name: str, file: str) -> NDArray[Any]:
    column = table[name]
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        _complete(table, name, file)
        return column
    for row, value in enumerate(column):
        if isinstance(value, str | bytes) or not isinstance(value, int | float | bool):
            got = "none" if value is None else repr(value)
            raise ValueError(f"{file}, row {row + 1}: expected a number in column {name!r}; got {got}.")
    return np.array(column)


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

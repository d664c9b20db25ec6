"""Reports in files, as versioned JSON with a checksum, and the columns of reports that come from frames."""

from __future__ import annotations

import base64
import datetime
import hashlib
import importlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skrank_metrics
from skrank_metrics._engine.documents import DocumentCounts, Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import by_text, check_choice, check_weights, to_float64
from skrank_metrics._input.query_ids import as_python, check_aligned, group_ids
from skrank_metrics._input.slices import frame_columns, object_array, slice_of_query
from skrank_metrics._output.page import write_whole
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metric
from skrank_metrics.metrics.conventions import ConventionName, own_spelling
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.health import Health
from skrank_metrics.reports.mean_intervals import bounds_of

# Raised by one whenever older versions of the package could not read what is written.
FORMAT_VERSION = 1
# Values may exceed the bounds of their metric by this much, due to rounding.
_ROUNDING = 1e-9


# --- Files


def write_saved(kind: str, body: Mapping[str, Any], path: Any) -> None:
    """Write JSON of some kind, such as "report", with the version of the format and a checksum of the contents."""
    text = json.dumps(body, allow_nan=False)
    head = {
        "format": f"skrank_metrics {kind}",
        "version": FORMAT_VERSION,
        "written_by": f"skrank_metrics {skrank_metrics.__version__}",
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    write_whole(f'{json.dumps(head)[:-1]}, "contents":\n{text}}}\n', path)


def read_saved(kind: str, path: Any) -> dict[str, Any]:
    """Read what ``write_saved`` wrote, and refuse anything else."""
    with open(os.fspath(path), "rb") as file:
        data = file.read()
    try:
        found = json.loads(data)
        text = json.dumps(found["contents"])  # independent of blanks and line breaks in the file
        sound = found["sha256"] == hashlib.sha256(text.encode()).hexdigest()
        known, version, writer = (
            found["format"] == f"skrank_metrics {kind}",
            found["version"],
            found["written_by"],
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        sound = known = False
    if not (sound and known):
        raise ValueError(f"{path} is not a saved {kind}, as written by save(), or it is damaged.")
    if version != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}, written by {writer}; this is skrank_metrics "
            f"{skrank_metrics.__version__}, which reads version {FORMAT_VERSION}. Update skrank_metrics."
        )
    try:
        body: dict[str, Any] = json.loads(text, object_hook=_restored)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} holds values that save() does not write: {error}.") from None
    return body


_REPORT_FIELDS = (
    *("qid", "weights", "by", "groups", "folds", "condensed"),
    *("metrics", "values", "kept", "health"),
)


def saved_fields(report: Any) -> dict[str, Any]:
    """The fields of a report as JSON's types."""
    values = {
        name: [own.numerators, None if (own.denominators == 1).all() else own.denominators]
        for name, own in report.results.items()
    }
    metrics = {name: _known_of(metric) for name, metric in report.metrics.items()}
    fields = {
        name: getattr(report, name)
        for name in ("qid", "weights", "by", "groups", "condensed", "folds")
    }
    counts = report.counts
    kept = None
    if counts is not None:
        kept = (counts.n_documents, counts.n_judged, counts.digests, report.id_digests)
    found: dict[str, Any] = _saved(
        {
            **fields,
            "metrics": metrics,
            "values": values,
            "kept": kept,
            "health": asdict(report.health),
        }
    )
    return found


def restored_fields(saved: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a report from what ``read_saved`` gives."""
    try:
        fields = _restored_fields(saved)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"The file holds no report as save() writes it: {error}.") from None
    queries, counts = fields["queries"], fields["recorded_counts"]
    columns = [queries.weights, queries.by, queries.groups, queries.folds]
    for result in fields["results"].values():
        columns += [result.numerators, result.denominators]
    if counts is not None:
        columns += [counts.n_documents, counts.n_judged, counts.digests]
    n_queries = np.shape(queries.ids)
    for column in columns:
        if column is not None and np.shape(column) != n_queries:
            raise ValueError("The file holds a report whose columns differ in length.")
    _check_queries(queries)
    for name, result in fields["results"].items():
        _check_values(result, name, fields["metrics"][name])
    return fields


def _check_queries(queries: Queries) -> None:
    """Refuse ids and weights that evaluate would refuse."""
    n_queries = len(queries)
    if len(group_ids(queries.ids, n_queries).ids) < n_queries:
        raise ValueError("The file holds a report whose query ids repeat.")
    if queries.weights is not None:
        check_weights(queries.weights, n_queries, "query", may_be_zero=True)


def _check_values(result: PerQuery, name: str, metric: BoundMetric) -> None:
    """Refuse values that the metric cannot have."""
    is_infinite = np.isinf(result.numerators) | np.isinf(result.denominators)
    if is_infinite.any():
        raise ValueError(f"The file holds a report with infinite values of {name}.")
    if isinstance(metric.function, RecordedMetric):
        return
    # Values are saved with the sign of the metric itself, of which neg_ has the negative.
    low, high = bounds_of(replace(metric, negative=False))
    values = result.values
    is_outside = (values < low - _ROUNDING) | (values > high + _ROUNDING)
    if is_outside.any():
        value = values[is_outside][0]
        raise ValueError(
            f"The file holds a report with {value:g} for {name}, outside its range, {low:g} to {high:g}."
        )


def _restored_fields(saved: Mapping[str, Any]) -> dict[str, Any]:
    check_fields(saved, _REPORT_FIELDS, "report")
    fields = dict(saved)
    values, kept, health = (fields.pop(name) for name in ("values", "kept", "health"))
    check_fields(values, saved["metrics"], "report")
    results = {}
    for name, columns in values.items():
        if len(columns) != 2 or not all(map(_is_numbers, columns)):
            raise TypeError(f"the values of {name!r} are no columns of numbers")
        numerators, denominators = columns
        results[name] = PerQuery(
            numerators, np.ones(len(numerators)) if denominators is None else denominators
        )
    fields["metrics"] = {name: _metric_from(known) for name, known in saved["metrics"].items()}
    ids, *others = (fields.pop(name) for name in ("qid", "weights", "by", "groups", "folds"))
    return {
        **fields,
        "queries": Queries(ids, *others),
        "results": results,
        "recorded_counts": None if kept is None else DocumentCounts(*kept),
        "recorded_health": Health(**health),
    }


def _is_numbers(column: Any) -> bool:
    return column is None or (isinstance(column, np.ndarray) and column.dtype.kind in "biuf")


def _saved(value: Any) -> Any:
    """A value as JSON's types; others are a dict of one item, whose key begins with a dollar sign."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {"$" * name.startswith("$") + name: _saved(own) for name, own in value.items()}
    if isinstance(value, list):
        return list(map(_saved, value))
    if (
        value is None
        or isinstance(value, bool | int | str)
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    for kind, name, write, _ in _WRITTEN:
        if isinstance(value, kind) and not getattr(value, "nanosecond", 0):
            return {name: write(value)}
    raise TypeError(
        f"A file cannot hold {value!r}, of type {type(value).__name__}. Evaluate with str(id)."
    )


def _restored(saved: dict[str, Any]) -> Any:
    for _, name, _, read in _WRITTEN:
        if saved.keys() == {name}:
            return read(saved[name])
    return {name.removeprefix("$"): own for name, own in saved.items()}


def _saved_array(array: NDArray[Any]) -> list[Any]:
    """The type of an array and its values; numbers as base64, which is three times as fast as digits."""
    if array.dtype.kind in _NUMERIC:
        little_endian = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        return [str(array.dtype), base64.b64encode(little_endian.tobytes()).decode()]
    values = as_python(array)
    return ["str" if array.dtype.kind == "U" else str(array.dtype), _saved(values)]


def _restored_array(saved: list[Any]) -> NDArray[Any]:
    dtype, values = saved
    if not _DTYPES.fullmatch(dtype):
        raise TypeError(f"{dtype[:40]!r} is no type of columns")
    if isinstance(values, str):
        numbers = np.dtype(dtype).newbyteorder("<")
        return np.frombuffer(base64.b64decode(values, validate=True), numbers).astype(dtype)
    if dtype == "str" and len(values) * max(map(len, values), default=0) > _MOST_CHARACTERS:
        dtype = "object"  # as all strings of an array take the memory of the longest
    if dtype == "object":
        return object_array(values, len(values))
    return np.array(values, dtype="S" if "S" in dtype else dtype)


# Kinds of arrays whose values are written as bytes.
_NUMERIC = "biufmM"
# Types of arrays that are written. A file must not name others, which could be of any size.
_DTYPES = re.compile(
    r"object|str|bool|u?int(8|16|32|64)|float(16|32|64)|\|?S\d+|(datetime|timedelta)64(\[\d*\w+\])?"
)
_MOST_CHARACTERS = 50_000_000


# How values are written that JSON does not have, by type.
_WRITTEN: tuple[tuple[Any, str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (float, "$float", str, float),  # infinity and NaN
    (tuple, "$tuple", lambda one: list(map(_saved, one)), tuple),
    # Gains by grade: keys of JSON are strings.
    (dict, "$pairs", lambda one: [[_saved(name), _saved(own)] for name, own in one.items()], dict),
    (bytes, "$bytes", bytes.hex, bytes.fromhex),
    (datetime.datetime, "$datetime", datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    (datetime.date, "$date", datetime.date.isoformat, datetime.date.fromisoformat),
    (np.ndarray, "$array", _saved_array, _restored_array),
)


# --- Comparisons

# Classes of comparisons that are saved, with the modules that hold them. They are higher in the package, and are
# loaded by name, like pictures.
_CLASSES = {
    "Comparison": "reports.comparison",
    "CrossEvaluation": "model_selection.cross_evaluate",
    "SearchReport": "model_selection.search_report",
}
# Fields of a report that the reports of a comparison usually share, so that they are written once.
_SHARED = ("qid", "weights", "by", "groups", "folds", "kept")


def saved_reports(reports: Mapping[str, Any]) -> list[list[Any]]:
    """Names and fields of reports; what is the same as in the first is left out."""
    written: list[list[Any]] = []
    for name, report in reports.items():
        saved = saved_fields(report)
        first = written[0][1] if written else None
        if first is not None:
            for shared in _SHARED:
                if saved[shared] == first[shared]:
                    del saved[shared]
        written.append([name, saved])
    return written


def restored_reports(saved: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """The fields of reports by name."""
    first = saved[0][1]
    shared = {name: first[name] for name in _SHARED}
    return {name: restored_fields({**shared, **fields}) for name, fields in saved}


def saved_or_text(value: Any) -> Any:
    """A value as JSON's types; what a file cannot hold, such as an estimator, as its text."""
    if isinstance(value, Mapping):
        return {
            "$" * name.startswith("$") + name: saved_or_text(own) for name, own in value.items()
        }
    try:
        return _saved(value)
    except TypeError:
        return repr(value)


def class_of_comparison(name: str) -> Any:
    """The class of a saved comparison."""
    module = _CLASSES[check_choice(name, "The class of a saved comparison", _CLASSES)]
    return getattr(importlib.import_module(f"skrank_metrics.{module}"), name)


def check_fields(found: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse fields that this version of the package does not know, and miss none that it does."""
    unknown = sorted(set(found) - set(known))
    missing = sorted(set(known) - set(found))
    if unknown:
        raise ValueError(
            f"The file holds a {what} with {unknown[0]!r}, which skrank_metrics {skrank_metrics.__version__} does not "
            "know. Update skrank_metrics."
        )
    if missing:
        raise ValueError(
            f"The file holds a {what} without {missing[0]!r}, so save() did not write it."
        )


# --- Metrics


@dataclass(frozen=True)
class RecordedMetric:
    """A metric of which only values are known: its function was not written to the file, or it came from a frame."""

    name: str
    bounds: tuple[float, float] = (-math.inf, math.inf)
    greater_is_better: bool = True
    pooled: bool = False

    def __post_init__(self) -> None:
        low, high = self.bounds
        record = Metric(
            self.name, self, {}, {}, "", "own", reference=None, lower=low, upper=high,
            undefined="no value", has_cutoff=False, pooled=self.pooled, greater_is_better=self.greater_is_better,
        )  # fmt: skip
        vars(self).update(record=record, __name__=self.name)

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse to compute."""
        raise ValueError(
            f"{self.name} has recorded values only, and cannot be computed. Evaluate with the metric."
        )


def _known_of(metric: BoundMetric) -> dict[str, Any]:
    """The name of a metric with its parameters, or what is known of its values if a file cannot hold them."""
    with suppress(TypeError, ValueError):
        name = str(BoundMetric(metric.function, {}, metric.negative))
        _saved(metric.params)  # raises an error for functions
        if get_metric(name).replace(**metric.params).definition == metric.definition:
            return {"name": name, "params": metric.params}
    record, shared = (
        metric.record,
        {"average": metric.average, "replace_undefined_by": metric.replace_undefined_by},
    )
    recorded = (
        str(metric),
        (record.lower, record.upper),
        record.greater_is_better,
        metric.average == "micro",
    )
    return {"recorded": recorded, "negative": metric.negative, "params": shared}


def _metric_from(known: Mapping[str, Any]) -> BoundMetric:
    if "name" in known:
        return get_metric(known["name"]).replace(**known["params"])
    own: Any = RecordedMetric(*known["recorded"])
    return BoundMetric(own, known["params"], known["negative"])


# --- Frames


def frame_fields(frame: Any, metrics: Any, named: Mapping[str, str | None]) -> dict[str, Any]:
    """The fields of a report from a frame with one row per query; ``named`` are the columns that are not metrics."""
    columns = by_text(frame_columns(frame, "frame"), "frame", " Rename the columns.")
    if not columns:
        raise TypeError(f"frame must be a frame or a dict of columns; got {type(frame).__name__}.")
    usual = {name: name for name in columns} | {"groups": "group" if "group" in columns else None}
    names = {name: own or usual.get(name) for name, own in named.items()}
    given = {
        name: columns[check_choice(own, name, columns)]
        for name, own in names.items()
        if own is not None
    }
    ids = given.get("qid", getattr(frame, "index", None))
    if ids is None:
        raise TypeError(
            "qid must name the column of the query ids; the frame has no column 'qid' and no index."
        )
    if len({np.shape(ids), *map(np.shape, columns.values())}) > 1:
        raise ValueError(
            "frame must hold one value per query in each column; got columns of different lengths."
        )
    check_aligned(**columns)
    chosen = (
        [name for name in columns if name not in names.values()] if metrics is None else metrics
    )
    chosen = [chosen] if isinstance(chosen, str) else chosen
    held = chosen if isinstance(chosen, Mapping) else {}
    bound = {
        str(name): get_metric(held[name]) if name in held else _metric_of(name) for name in chosen
    }
    if not bound or not len(ids):
        raise ValueError("frame must have at least one query and one column of values; got none.")
    qid = group_ids(ids, len(ids)).ids
    if len(qid) < len(ids):
        raise ValueError(
            "frame must have one row per query, but query ids repeat. Average the rows of a query first."
        )
    weights = None
    if "weight" in given:
        weights = check_weights(given["weight"], len(qid), "query").copy()
    slices = {
        name: slice_of_query(given[name], ids=qid, name=name)
        for name in ("by", "groups")
        if name in given
    }
    return {
        "metrics": bound,
        "queries": Queries(qid, weights, **slices),
        "results": {
            name: _result_of(columns[check_choice(name, "metrics", columns)], name, metric)
            for name, metric in bound.items()
        },
    }


def _metric_of(name: Any) -> BoundMetric:
    """The metric that a column is named like, or one of which only values are known."""
    spelled = own_spelling(str(name), "trec_eval")
    # Values under trec_eval's name for a metric, such as "recip_rank", were computed as it does.
    convention: ConventionName = "sklearn" if spelled in (None, name) else "trec_eval"
    with suppress(ValueError):
        return get_metric(str(name), convention=convention)
    own: Any = RecordedMetric(str(name))
    return BoundMetric(own, {"replace_undefined_by": math.nan})


def _result_of(column: Any, name: Any, metric: BoundMetric) -> PerQuery:
    values = to_float64(column, str(name))
    low, high = bounds_of(metric)
    outside = np.flatnonzero(
        (values < low - _ROUNDING) | (values > high + _ROUNDING) | np.isinf(values)
    )
    if len(outside):
        hint = " Divide percentages by 100." if high == 1 and 1 < values[outside[0]] <= 100 else ""
        raise ValueError(
            f"Column {name!r} holds {values[outside[0]]:g}, outside the range of {metric}, {low:g} to {high:g}.{hint} "
            "Rename the column if it is another metric."
        )
    return PerQuery(0.0 - values if metric.negative else values.copy(), np.ones(len(values)))

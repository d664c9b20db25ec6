"""Reports in files, as versioned JSON with a checksum, and the columns of reports that come from frames."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skrank_metrics
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import IntArray, check_weights, to_float64
from skrank_metrics._input.grouping import group_rows
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.query_ids import as_python, check_ids
from skrank_metrics._output.page import write_whole
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metric
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.health import Health
from skrank_metrics.reports.mean_intervals import bounds_of
from skrank_metrics.reports.slices import slice_of_query

# Raised by one whenever older versions of the package could not read what is written.
FORMAT_VERSION = 1
# Values may exceed the bounds of their metric by this much, due to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Kept:
    """What is known of the documents of each query if they were not kept."""

    sizes: IntArray
    n_judged: IntArray
    digests: Hashes
    health: Health

    def part(self, queries: IntArray) -> Kept:
        """Select some of the queries."""
        sizes = self.sizes[queries]
        return Kept(sizes, self.n_judged[queries], self.digests[queries], Health(len(queries), int(sizes.sum())))


def digests_of(lists: QueryLists) -> Hashes:
    """A number per query that depends on the labels of its judged documents, but not on their order."""
    if lists.grades is None:
        mixed = hash_ids(lists.labels)
    else:
        mixed = hash_ids(np.arange(lists.largest_label + 1))[lists.grades]
    if lists.judged is not None:
        mixed = np.where(lists.judged, mixed, np.uint64(0))
    return np.add.reduceat(mixed, lists.grouping.starts)


def write_saved(kind: str, body: Mapping[str, Any], path: Any) -> None:
    """Write JSON of some kind, such as "report", with the version of the format and a checksum of the contents."""
    text = _spelled(body)
    head = {
        "format": f"skrank_metrics {kind}",
        "version": FORMAT_VERSION,
        "written_by": f"skrank_metrics {skrank_metrics.__version__}",
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    write_whole(f'{_spelled(head)[:-1]}, "contents":\n{text}}}\n', path)


def read_saved(kind: str, path: Any) -> dict[str, Any]:
    """Read what ``write_saved`` wrote, and refuse anything else."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a file name; got {path!r}.")
    with open(path, "rb") as file:
        data = file.read()
    try:
        found = json.loads(data)
    except ValueError:
        what = "is truncated or damaged" if data.startswith(b'{"format": "skrank_metrics ') else "is not JSON"
        raise ValueError(f"{path} {what}; a saved {kind} is needed, as written by save().") from None
    name = found.get("format") if isinstance(found, dict) else None
    if name != f"skrank_metrics {kind}":
        raise ValueError(f"{path} is not a saved {kind}, but {'other JSON' if name is None else f'a {name}'}.")
    if found.get("version") != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {found.get('version')}, written by {found.get('written_by')}; this is "
            f"skrank_metrics {skrank_metrics.__version__}, which reads version {FORMAT_VERSION}. Update skrank_metrics."
        )
    body: dict[str, Any] = found.get("contents")
    if hashlib.sha256(_spelled(body).encode()).hexdigest() != found.get("sha256"):
        raise ValueError(f"{path} is damaged: its contents do not match the checksum.")
    return body


def _spelled(values: Any) -> str:
    return json.dumps(values, allow_nan=False)


def saved_fields(report: Any) -> dict[str, Any]:
    """The fields of a report as JSON's types."""
    digests, health = report.label_digests, asdict(report.health)
    kept = None
    if digests is not None:
        sizes = report._sizes.tolist()
        kept = [sizes, digests[0].tolist(), digests[1].tolist(), health]
    return {
        "metrics": {name: _saved_metric(metric) for name, metric in report.metrics.items()},
        "values": {name: _saved_result(report._results[name]) for name in report.metrics},
        "qid": _saved_ids(report.qid, "qid"),
        "weights": None if report.weights is None else report.weights.tolist(),
        "by": _saved_ids(report.by, "by"),
        "groups": _saved_ids(report.groups, "groups"),
        "condensed": report.condensed,
        "kept": kept,
    }


def restored_fields(saved: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a report from JSON's types."""
    kept = None
    if saved["kept"] is not None:
        sizes, n_judged, digests, known = saved["kept"]
        ends = {name: tuple(pair) for name, pair in known["tie_means"].items()}
        health = Health(**known | {"tie_means": ends, "findings": tuple(known["findings"])})
        n_documents, n_labels = (np.array(counts, dtype=np.intp) for counts in (sizes, n_judged))
        kept = Kept(n_documents, n_labels, np.array(digests, dtype=np.uint64), health)
    return {
        "metrics": {name: _restored_metric(metric) for name, metric in saved["metrics"].items()},
        "qid": _restored_ids(saved["qid"]),
        "weights": None if saved["weights"] is None else np.array(saved["weights"], dtype=np.float64),
        "by": _restored_ids(saved["by"]),
        "groups": _restored_ids(saved["groups"]),
        "condensed": saved["condensed"],
        "_results": {name: _restored_result(values) for name, values in saved["values"].items()},
        "_kept": kept,
    }


def _saved_result(result: PerQuery) -> list[Any]:
    """Numerators, NaN as null, and the denominators unless all are 1."""
    numerators = [None if value != value else value for value in result.numerators.tolist()]
    return [numerators, None if (result.denominators == 1).all() else result.denominators.tolist()]


def _restored_result(saved: list[Any]) -> PerQuery:
    numerators = np.array(saved[0], dtype=np.float64)  # null becomes NaN
    return PerQuery(numerators, np.ones(len(numerators)) if saved[1] is None else np.array(saved[1], dtype=np.float64))


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
            self.name, self, {}, {}, "", "own", graded=True, reference=None, lower=low, upper=high,
            undefined="no value", has_cutoff=False, pooled=self.pooled, greater_is_better=self.greater_is_better,
        )  # fmt: skip
        vars(self).update(record=record, __name__=self.name)

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse to compute."""
        raise ValueError(f"{self.name} has recorded values only, and cannot be computed. Evaluate with the metric.")


def _saved_metric(metric: BoundMetric) -> dict[str, Any]:
    """The metric with its parameters if JSON can hold them, and what is known of its values."""
    record = metric.record
    known = {
        "metric": str(metric),
        "bounds": [_plain(record.lower), _plain(record.upper)],
        "greater_is_better": record.greater_is_better,
        "negative": metric.negative,
        "average": metric.average,
        "replace_undefined_by": _plain(metric.replace_undefined_by),
    }
    try:
        params = {name: _plain(value) for name, value in metric.params.items()}
        saved = known | {"name": str(BoundMetric(metric.function, {}, metric.negative)), "params": params}
        same = _restored_metric(json.loads(_spelled(saved)))
    except (TypeError, ValueError):
        return known
    return saved if (same.definition, same.average) == (metric.definition, metric.average) else known


def _restored_metric(saved: Mapping[str, Any]) -> BoundMetric:
    with suppress(ValueError):  # a metric that is not registered here
        if "name" in saved:
            return get_metric(saved["name"]).replace(**{key: _unplain(value) for key, value in saved["params"].items()})
    low, high = map(_unplain, saved["bounds"])
    own: Any = RecordedMetric(saved["metric"], (low, high), saved["greater_is_better"], saved["average"] == "micro")
    params = {"average": saved["average"], "replace_undefined_by": _unplain(saved["replace_undefined_by"])}
    return BoundMetric(own, params, saved["negative"])


# --- Values that JSON does not have

# How they are written, by type.
_WRITTEN: tuple[tuple[Any, str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (float, "float", str, float),  # infinity and NaN
    (tuple, "tuple", lambda one: list(map(_plain, one)), lambda one: tuple(map(_unplain, one))),
    (bytes, "bytes", bytes.hex, bytes.fromhex),
    (datetime.datetime, "datetime", datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    (datetime.date, "date", datetime.date.isoformat, datetime.date.fromisoformat),
    (
        datetime.timedelta,
        "timedelta",
        lambda one: [one.days, one.seconds, one.microseconds],
        lambda one: datetime.timedelta(*one),
    ),
)


def _plain(value: Any) -> Any:
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool | int | list) or (isinstance(value, float) and math.isfinite(value)):
        return value
    for kind, name, write, _ in _WRITTEN:
        if isinstance(value, kind) and not getattr(value, "nanosecond", 0) and not getattr(value, "nanoseconds", 0):
            return {name: write(value)}
    raise TypeError(
        f"holds {value!r}, of type {type(value).__name__}, which a file cannot hold. Evaluate with str(id)."
    )


def _unplain(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((name, written),) = value.items()
    return next(read(written) for _, kind, _, read in _WRITTEN if kind == name)


def _saved_ids(ids: NDArray[Any] | None, name: str) -> dict[str, Any] | None:
    """Ids with the type of their array."""
    if ids is None:
        return None
    try:
        values = ids.view(np.int64).tolist() if ids.dtype.kind in "mM" else list(map(_plain, as_python(ids)))
    except TypeError as error:
        raise TypeError(f"{name} {error}") from None
    return {"dtype": "str" if ids.dtype.kind == "U" else str(ids.dtype), "values": values}


def _restored_ids(saved: Mapping[str, Any] | None) -> NDArray[Any] | None:
    if saved is None:
        return None
    values = list(map(_unplain, saved["values"]))
    if saved["dtype"] != "object":
        return np.array(values, dtype=saved["dtype"])
    ids = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        ids[place] = value
    return ids


# --- Frames


def frame_fields(frame: Any, metrics: Any, named: Mapping[str, str | None]) -> dict[str, Any]:
    """The fields of a report from a frame with one row per query; ``named`` are the columns that are not metrics."""
    names = getattr(frame, "column_names" if hasattr(frame, "to_batches") else "columns", None)
    if names is None and not isinstance(frame, Mapping):
        raise TypeError(f"frame must be a frame or a dict of columns; got {type(frame).__name__}.")
    columns = list(frame if names is None else names)
    found = {argument: _column(frame, columns, name, argument) for argument, name in named.items()}
    others = {name for name, _ in found.values()}
    index = getattr(frame, "index", None)
    ids = index if found["qid"][1] is None and hasattr(index, "get_level_values") else found["qid"][1]
    if ids is None:
        raise TypeError("qid must name the column of the query ids; the frame has no column 'qid' and no index.")
    chosen = [name for name in columns if name not in others] if metrics is None else metrics
    chosen = [chosen] if isinstance(chosen, str) else chosen
    bound = {name: _metric_of(name, chosen[name] if isinstance(chosen, Mapping) else None) for name in chosen}
    qid = check_ids(ids, len(ids))
    if not bound or not len(qid):
        raise ValueError("frame must have at least one query and one column of values; got none.")
    if len(group_rows(qid).ids) < len(qid):
        raise ValueError("frame must have one row per query, but query ids repeat. Average the rows of a query first.")
    weight, by, groups = (found[argument][1] for argument in ("weight", "by", "groups"))
    return {
        "metrics": bound,
        "qid": qid,
        "weights": None if weight is None else check_weights(weight, len(qid), "query"),
        "by": None if by is None else slice_of_query(by, ids=qid),
        "groups": None if groups is None else slice_of_query(groups, ids=qid, name="groups"),
        "_results": {name: _result_of(frame, columns, name, metric) for name, metric in bound.items()},
    }


def _column(frame: Any, columns: Sequence[Any], name: Any, argument: str) -> tuple[Any, Any]:
    """A column by its name, or the one that a frame of a report has for the argument."""
    if name is None:
        usual = "group" if argument == "groups" else argument
        return (usual, frame[usual]) if usual in columns else (None, None)
    if name not in columns:
        raise ValueError(f"The frame has no column {name!r} for {argument}=; columns: {', '.join(map(str, columns))}.")
    return name, frame[name]


def _metric_of(name: Any, metric: Any) -> BoundMetric:
    """The metric that a column holds, by its name unless it is given."""
    if metric is not None:
        return get_metric(metric)
    for convention in ("sklearn", "trec_eval"):
        with suppress(ValueError):
            return get_metric(str(name), convention=convention)
    own: Any = RecordedMetric(str(name))
    return BoundMetric(own, {"replace_undefined_by": math.nan})


def _result_of(frame: Any, columns: Sequence[Any], name: Any, metric: BoundMetric) -> PerQuery:
    if name not in columns:
        raise ValueError(f"The frame has no column {name!r}; columns: {', '.join(map(str, columns))}.")
    values = to_float64(frame[name], str(name))
    low, high = bounds_of(metric)
    outside = np.flatnonzero((values < low - _ROUNDING) | (values > high + _ROUNDING) | np.isinf(values))
    if len(outside):
        hint = " Divide percentages by 100." if high == 1 and 1 < values[outside[0]] <= 100 else ""
        raise ValueError(
            f"Column {name!r} holds {values[outside[0]]:g}, outside the range of {metric}, {low:g} to {high:g}.{hint} "
            "Rename the column if it is another metric."
        )
    return PerQuery(0.0 - values if metric.negative else values, np.ones(len(values)))

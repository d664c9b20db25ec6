"""The fields of reports and comparisons in files."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skrank_metrics
from skrank_metrics._engine.documents import DocumentCounts, Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import to_objects
from skrank_metrics._input.parameters import check_choice
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.page import write_whole
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metric
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import get_metric, own_spelling
from skrank_metrics.reports.health import Health
from skrank_metrics.reports.report_data import ReportData

# Values in files: versioned JSON with a checksum, for types that JSON has and for those of ids and columns.

# The version is raised by one whenever its reader could not read what is written; the old version then gets a reader
# of its own in _READERS, where all stay. Fields that come and go need no new version: see current_fields.
FORMAT_VERSION = 1
# Kinds of arrays whose values are written as bytes.
_NUMERIC = "biufmM"
# Types of arrays that are written. A file must not name others, which could be of any size.
_DTYPES = re.compile(
    r"object|str|bool|u?int(8|16|32|64)|float(16|32|64)|\|?S\d+|(datetime|timedelta)64(\[\d*\w+\])?"
)


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


def read_saved(kind: str, path: Any) -> tuple[dict[str, Any], str]:
    """Read what ``write_saved`` wrote, by which version of the package, and refuse anything else."""
    with open(os.fspath(path), "rb") as file:
        data = file.read()
    try:
        found = json.loads(data)
        text = json.dumps(found["contents"])  # independent of blanks and line breaks in the file
        is_whole = found["sha256"] == hashlib.sha256(text.encode()).hexdigest()
        is_sound = is_whole and found["format"] == f"skrank_metrics {kind}"
        version, writer = found["version"], found["written_by"]
    except (ValueError, LookupError, TypeError, RecursionError):
        is_sound = False
    if not is_sound:
        raise ValueError(f"{path} is not a saved {kind}, as written by save(), or it is damaged.")
    # The version comes after the checksum, since it means nothing in a damaged file.
    if version not in _READERS:
        raise ValueError(
            f"{path} has format version {version}, written by {writer}; this is skrank_metrics "
            f"{skrank_metrics.__version__}, which reads versions up to {FORMAT_VERSION}. Update skrank_metrics."
        )
    try:
        body: dict[str, Any] = json.loads(text, object_hook=_READERS[version])
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} holds values that save() does not write: {error}.") from None
    return body, writer


def current_fields(
    found: Mapping[str, Any],
    defaults: Mapping[str, Any],
    what: str,
    writer: str,
    gone: Mapping[str, tuple[Any, str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """The fields that this version has, given those that a file holds.

    Fields that the file does not have get their defaults, unless these are MISSING. Fields that this version no longer
    has are in ``gone``, with the only value that changes nothing, and with advice if the file has another one.
    """
    fields = dict(found)
    versions = (
        f"The file was written by {writer}, and this is skrank_metrics {skrank_metrics.__version__}"
    )
    for name, (default, advice) in gone.items():
        value = fields.pop(name, default)
        if value != default:
            raise ValueError(
                f"{versions}, which no longer has {name}={value!r} in a {what} (see CHANGELOG.md). {advice}"
            )
    unknown = sorted(fields.keys() - defaults.keys())
    if unknown:
        raise ValueError(
            f"{versions}, which does not know these fields of a {what}: {', '.join(unknown)}. Update skrank_metrics."
        )
    complete = {**defaults, **fields}
    missing = [name for name, value in complete.items() if value is MISSING]
    if missing:
        raise ValueError(f"{versions}, which needs these fields of a {what}: {', '.join(missing)}.")
    return complete


def defaults_of(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that files hold, with their defaults; MISSING if a field has none."""
    defaults = {}
    for one in dataclasses.fields(kind):
        if not one.name.startswith("_"):
            made = one.default_factory
            defaults[one.name] = one.default if made is MISSING else made()
    return defaults


def saved(value: Any) -> Any:
    """A value as JSON's types; others are a dict of one item, whose key begins with a dollar sign."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    if isinstance(value, Mapping) and all(map(_is_plain, value)):
        return {name: saved(own) for name, own in value.items()}
    if isinstance(value, list):
        return list(map(saved, value))
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    for kind, name, write, _ in _WRITTEN:
        # Times of pandas are datetimes, which have no nanoseconds.
        if isinstance(value, kind) and not getattr(value, "nanosecond", 0):
            return {name: write(value)}
    raise TypeError(
        f"A file cannot hold {value!r}, of type {type(value).__name__}. Evaluate with str(id)."
    )


def saved_or_text(value: Any) -> Any:
    """A value as JSON's types; what a file cannot hold, such as an estimator, as its text."""
    if isinstance(value, Mapping) and all(map(_is_plain, value)):
        return {name: saved_or_text(own) for name, own in value.items()}
    try:
        return saved(value)
    except TypeError:
        return repr(value)


def _is_plain(name: object) -> bool:
    """Whether a key is text that is not taken for the name of a type."""
    return isinstance(name, str) and not name.startswith("$")


def _restored(value: dict[str, Any]) -> Any:
    for _, name, _, read in _WRITTEN:
        if value.keys() == {name}:
            return read(value[name])
    return value


# Each version of the format has its reader.
_READERS = {1: _restored}


def _saved_array(array: NDArray[Any]) -> list[Any]:
    """The type of an array and its values; numbers as base64, which is three times as fast as digits."""
    if array.dtype.kind in _NUMERIC:
        # The file may be read on a machine with another order of bytes.
        little_endian = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        return [array.dtype.name, base64.b64encode(little_endian.tobytes()).decode()]
    dtype = str(array.dtype)
    if array.dtype.kind == "U":
        dtype = "str"
    return [dtype, saved(as_python(array))]


def _restored_array(written: list[Any]) -> NDArray[Any]:
    dtype, values = written
    if not _DTYPES.fullmatch(dtype):
        raise TypeError(f"{dtype[:40]!r} is no type of columns")
    if isinstance(values, str):
        little_endian = np.dtype(dtype).newbyteorder("<")
        # Otherwise, characters that base64 does not have would be skipped without an error.
        data = base64.b64decode(values, validate=True)
        # Without a copy, the array would be read-only, like the bytes that it is made from.
        return np.frombuffer(data, little_endian).astype(dtype)
    # In an array of strings, each would take the memory of the longest.
    if dtype in ("object", "str"):
        return to_objects(values)
    return np.array(values, dtype=dtype)


def _saved_pairs(pairs: Mapping[Any, Any]) -> list[Any]:
    return [[saved(name), saved(value)] for name, value in pairs.items()]


# How values are written that JSON does not have, by type.
_WRITTEN: tuple[tuple[type, str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (float, "$float", str, float),  # infinity and NaN
    (tuple, "$tuple", lambda values: saved(list(values)), tuple),
    (dict, "$pairs", _saved_pairs, dict),  # gains by grade, as keys of JSON are strings
    (bytes, "$bytes", bytes.hex, bytes.fromhex),
    (datetime.datetime, "$datetime", datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    (datetime.date, "$date", datetime.date.isoformat, datetime.date.fromisoformat),
    (np.ndarray, "$array", _saved_array, _restored_array),
)


# Metrics of values that were computed elsewhere: in files, and in columns of frames.


@dataclass(frozen=True)
class RecordedMetric:
    """A metric of which only values are known: its function was not written to the file, or it came from a frame."""

    name: str
    bounds: tuple[float, float] = (-math.inf, math.inf)
    greater_is_better: bool = True
    pooled: bool = False
    # What becomes of values per query.
    defaults: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def __name__(self) -> str:
        return self.name

    @cached_property
    def record(self) -> Metric:
        """What is known of the metric."""
        low, high = self.bounds
        return Metric(
            self.name, self, {}, self.defaults, "", "own", reference=None, lower=low, upper=high,
            undefined="no value", has_cutoff=False, pooled=self.pooled, greater_is_better=self.greater_is_better,
        )  # fmt: skip

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse to compute."""
        raise ValueError(
            f"{self.name} has recorded values only, and cannot be computed. Evaluate with the metric."
        )


def metric_in_file(metric: BoundMetric) -> dict[str, Any]:
    """The name of a metric with its parameters, or what is known of its values if a file cannot hold its functions."""
    # A name is preferred, since such metrics can be computed and compared after loading.
    with suppress(TypeError, ValueError):
        name = str(BoundMetric(metric.function, {}, metric.negative))
        known = {"name": name, "params": metric.params}
        saved(known)  # raises an error for functions
        if metric_from_file(known).definition == metric.definition:
            return known
    record = metric.record
    bounds = (record.lower, record.upper)
    is_pooled = metric.average == "micro"
    shared = {"average": metric.average, "replace_undefined_by": metric.replace_undefined_by}
    return {
        "recorded": (str(metric), bounds, record.greater_is_better, is_pooled),
        "negative": metric.negative,
        "params": shared,
    }


def metric_from_file(known: Mapping[str, Any]) -> BoundMetric:
    """The metric that ``metric_in_file`` described."""
    if "name" in known:
        return get_metric(known["name"]).replace(**known["params"])
    given = [*known["recorded"], known["params"]]
    recorded: Any = RecordedMetric(*given)
    return BoundMetric(recorded, {}, known["negative"])


def metric_of_column(name: str) -> BoundMetric:
    """The metric that a column is named like, or one of which only values are known."""
    spelled = own_spelling(name, "trec_eval")
    # Values under trec_eval's name for a metric, such as "recip_rank", were computed as it does.
    convention: ConventionName = "sklearn"
    if spelled not in (None, name):
        convention = "trec_eval"
    with suppress(ValueError):
        return get_metric(name, convention=convention)
    recorded: Any = RecordedMetric(name, defaults={"replace_undefined_by": math.nan})
    return BoundMetric(recorded, {})


# The fields of reports and comparisons in files.

_OF_QUERIES = ("qid", "weights", "by", "groups", "folds")
# Fields of a report, with the values that they have if a file does not have them.
_REPORT_FIELDS = {
    "qid": MISSING,
    "weights": None,
    "by": None,
    "groups": None,
    "folds": None,
    "condensed": False,
    "metrics": MISSING,
    "values": MISSING,
    "kept": None,
    "health": {"findings": ()},
}
# Fields of a report that the reports of a comparison usually share, so that they are written once.
_SHARED = (*_OF_QUERIES, "kept")
# Classes of comparisons that are saved.
_CLASSES = ("Comparison", "CrossEvaluation", "SearchReport")


def saved_fields(
    metrics: Mapping[str, BoundMetric],
    queries: Queries,
    results: Mapping[str, PerQuery],
    condensed: bool,
    counts: DocumentCounts | None,
    health: Health,
) -> dict[str, Any]:
    """The fields of a report as JSON's types."""
    values = {}
    for name, result in results.items():
        # Denominators are needed to pool ratios only. They would double the size of a file.
        numbers = [result.values, None]
        if metrics[name].average == "micro":
            numbers = [result.numerators, result.denominators]
        values[name] = numbers
    kept = None
    if counts is not None:
        kept = (counts.n_documents, counts.n_judged, counts.digests, counts.id_digests)
    fields = {
        "qid": queries.ids,
        "weights": queries.weights,
        "by": queries.by,
        "groups": queries.groups,
        "condensed": condensed,
        "folds": queries.folds,
        "metrics": {name: metric_in_file(metric) for name, metric in metrics.items()},
        "values": values,
        "kept": kept,
        "health": asdict(health),
    }
    return {name: saved(value) for name, value in fields.items()}


def restored_fields(fields: Mapping[str, Any], writer: str) -> dict[str, Any]:
    """The fields of a report from what ``read_saved`` gives.

    The checksum says that save() wrote the file, so values are not checked again, only what would fail obscurely.
    """
    try:
        return _restored_fields(current_fields(fields, _REPORT_FIELDS, "report", writer))
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"The file holds no report as save() writes it: {error}.") from None


def _restored_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    results = {}
    for name in fields["metrics"]:
        numerators, denominators = fields["values"][name]
        if denominators is None:
            denominators = np.ones(len(numerators))
        results[name] = PerQuery(numerators, denominators)
    kept = fields["kept"]
    metrics = {name: metric_from_file(metric) for name, metric in fields["metrics"].items()}
    return {
        "metrics": metrics,
        "_data": ReportData(
            Queries(*(fields[name] for name in _OF_QUERIES)),
            results,
            recorded_counts=None if kept is None else DocumentCounts(*kept),
            recorded_health=Health(fields["health"]["findings"]),
        ),
        "condensed": fields["condensed"],
    }


def without_repetitions(reports: Mapping[str, dict[str, Any]]) -> list[list[Any]]:
    """Names and fields of reports; what is the same as in the first is left out."""
    (name, first), *others = reports.items()
    written = [[name, first]]
    for name, fields in others:
        repeated = {field for field in _SHARED if fields[field] == first[field]}
        own = {field: value for field, value in fields.items() if field not in repeated}
        written.append([name, own])
    return written


def restored_reports(written: Sequence[Any], writer: str) -> dict[str, dict[str, Any]]:
    """The fields of reports by name."""
    first = written[0][1]
    shared = {name: first[name] for name in _SHARED if name in first}
    return {name: restored_fields({**shared, **fields}, writer) for name, fields in written}


def class_of_comparison(name: str) -> Any:
    """The class of a saved comparison."""
    check_choice(name, "The class of a saved comparison", _CLASSES)
    # They are higher in the package, and two of them load scikit-learn.
    if name == "CrossEvaluation":
        from skrank_metrics.model_selection._cross_evaluate import CrossEvaluation

        return CrossEvaluation
    if name == "SearchReport":
        from skrank_metrics.model_selection._search_report import SearchReport

        return SearchReport
    from skrank_metrics.decisions.comparison import Comparison

    return Comparison

"""The fields of reports and comparisons in files."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from skrank_metrics._engine.documents import DocumentCounts, Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.parameters import check_choice
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.health import Health
from skrank_metrics.reports.recorded_metrics import metric_from_file, metric_in_file
from skrank_metrics.reports.saved_values import check_fields, saved

_OF_QUERIES = ("qid", "weights", "by", "groups", "folds")
_REPORT_FIELDS = (*_OF_QUERIES, "condensed", "metrics", "values", "kept", "health")
# Fields of a report that the reports of a comparison usually share, so that they are written once.
_SHARED = (*_OF_QUERIES, "kept")
# Classes of comparisons that are saved, with the modules that hold them. They are higher in the package, and are
# loaded by name, like pictures.
_CLASSES = {
    "Comparison": "reports.comparison",
    "CrossEvaluation": "model_selection.cross_evaluate",
    "SearchReport": "model_selection.search_report",
}


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


def restored_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a report from what ``read_saved`` gives.

    The checksum says that save() wrote the file, so values are not checked again, only what would fail obscurely.
    """
    try:
        return _restored_fields(fields)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"The file holds no report as save() writes it: {error}.") from None


def _restored_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    check_fields(fields, _REPORT_FIELDS, "report")
    check_fields(fields["values"], fields["metrics"], "report")
    results = {}
    for name, (numerators, denominators) in fields["values"].items():
        if denominators is None:
            denominators = np.ones(len(numerators))
        results[name] = PerQuery(numerators, denominators)
    kept = fields["kept"]
    metrics = {name: metric_from_file(metric) for name, metric in fields["metrics"].items()}
    return {
        "metrics": metrics,
        "queries": Queries(*(fields[name] for name in _OF_QUERIES)),
        "results": results,
        "condensed": fields["condensed"],
        "recorded_counts": None if kept is None else DocumentCounts(*kept),
        "recorded_health": Health(fields["health"]["findings"]),
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


def restored_reports(written: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """The fields of reports by name."""
    first = written[0][1]
    shared = {name: first[name] for name in _SHARED}
    return {name: restored_fields({**shared, **fields}) for name, fields in written}


def class_of_comparison(name: str) -> Any:
    """The class of a saved comparison."""
    module = _CLASSES[check_choice(name, "The class of a saved comparison", _CLASSES)]
    return getattr(importlib.import_module(f"skrank_metrics.{module}"), name)

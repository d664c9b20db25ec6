"""Everything that a report or a comparison says, as plain values that can be compared."""

from dataclasses import asdict, fields

import numpy as np
import pytest


def said_by(report):
    """All that a report says by attribute and method, slices and single documents left out."""
    found = {name: getattr(report, name) for name in ("qid", "weights", "by", "groups", "folds")}
    for name in ("condensed", "n_queries", "n_documents", "mean", "std", "n_undefined"):
        found[name] = getattr(report, name)
    found["per_query"] = report.per_query
    found["intervals"] = report.intervals(0.8)
    for name, metric in report.metrics.items():
        kind = (str(metric), metric.negative, metric.greater_is_better, metric.average)
        record = metric.record
        found[f"metric {name}"] = (*kind, metric.replace_undefined_by, record.lower, record.upper)
        found[f"worst by {name}"] = dict(report.worst(3, name))
    found["dict"] = report.to_dict()
    for library in ("pandas", "polars"):
        found[f"values in {library}"] = columns_of(report.to_frame(library))
        found[f"means in {library}"] = columns_of(report.to_frame("means", library))
    found["health"] = report.health.findings
    found["slices"] = list(report.slices)
    found["text"] = str(report)
    return found


def said_by_comparison(comparison):
    """All that a comparison says, and its class, fields and slices, but not the reports themselves."""
    found = {
        "class": type(comparison),
        "plan": asdict(comparison.plan),
        "names": comparison.names,
        "metrics": comparison.metrics,
        "folds": comparison.folds,
        "qid": comparison.qid,
    }
    for one in fields(comparison):
        if one.name not in ("reports", "plan", "_outcomes"):
            found[one.name] = getattr(comparison, one.name)
    views = {metric: comparison.by_metric(metric) for metric in comparison.metrics}
    views |= {f"slice {name}": part for name, part in comparison.named_slices.items()}
    for name, view in views.items():
        found[f"{name}: text"] = str(view)
        found[f"{name}: details"] = str(view.details())
        found[f"{name}: notes"] = view.notes()
        found[f"{name}: frame"] = columns_of(view.to_frame())
        found[f"{name}: dict"] = view.to_dict()
        found[f"{name}: means"] = view.means()
        found[f"{name}: folds won"] = view.folds_won
        if view.tested:
            found[f"{name}: pairs"] = columns_of(view.to_frame(pairs=True))
            found[f"{name}: verdict"] = view.verdict
            found[f"{name}: flat"] = view.to_dict(flat=True)
            if not view.plan.baselines:
                found[f"{name}: known"] = (view.best_set, view.regret, view.letters)
            found[f"{name}: best"] = str(view.best(3)) + str(view.worst(3))
    return found


def columns_of(frame):
    """The columns of a frame of either library, with the index of one of pandas that has a name."""
    if hasattr(frame, "reset_index"):
        frame = frame.reset_index() if frame.index.name else frame
        return {name: column.tolist() for name, column in frame.items()}
    return {name: frame[name].to_list() for name in frame.columns}


def assert_alike(found, expected, where="", rel=0.0):
    """Check that nested values are equal, and of the same types; NaN equals NaN, numbers up to rounding."""
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray), where
        found = found.tolist()
        expected = expected.tolist()
    assert type(found) is type(expected), where
    if isinstance(expected, dict):
        assert list(map(repr, found)) == list(map(repr, expected)), where
        for (key, one), other in zip(found.items(), expected.values(), strict=True):
            assert_alike(one, other, f"{where} {key!r}", rel)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{where}[{place}]", rel)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=rel, abs=rel, nan_ok=True), where
    else:
        assert repr(found) == repr(expected), where

"""Tables of rows, and what ``evaluate`` makes of them in memory."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skrank_metrics import evaluate
from skrank_metrics.reports.report_data import data_of

METRICS = ["ndcg@5", "mrr", "map"]


def make_table(sizes, kind="int64"):
    """Rows of queries of these sizes, with labels, two scores, ids, weights, masks and slices."""
    rng = np.random.default_rng(0)
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    ids = {"int64": numbers * 3 - 7, "string": np.array([f"query {number}" for number in numbers])}
    ids["dictionary"] = pa.array(ids["string"]).dictionary_encode()
    ids["timestamp"] = np.datetime64("2001-01-01") + numbers
    return pa.table(
        {
            "y": rng.integers(0, 4, len(numbers)).astype(np.int8),
            "s": rng.normal(size=len(numbers)),
            "other": rng.normal(size=len(numbers)).astype(np.float32),
            "q": ids[kind],
            "w": numbers % 3 / 2,
            "r": rng.random(len(numbers)) < 0.9,
            "j": rng.random(len(numbers)) < 0.9,
            "b": np.array(["head", "tail"])[numbers % 2],
        }
    )


def in_memory(table, score="s", metrics=METRICS, **options):
    y_true, y_score, qid = (table[name].to_numpy() for name in ("y", score, "q"))
    return evaluate(y_true, y_score, qid=qid, metrics=metrics, **options)


def values_by_id(report, name):
    return dict(zip(report.qid.tolist(), report.per_query[name], strict=True))


def check(report, expected, error=1e-12):
    """Compare reports whose queries may be in different orders."""
    assert report.mean == pytest.approx(expected.mean, abs=error)
    for name in expected.per_query:
        assert values_by_id(report, name) == pytest.approx(values_by_id(expected, name), abs=error)
    assert report.n_undefined == expected.n_undefined
    assert report.n_documents == expected.n_documents
    for name, part in expected.slices.items():
        assert report.slices[name].mean == pytest.approx(part.mean, abs=error)


# Findings that are looked for where rows are kept.
OF_ROWS = ("tied scores", "Reversed?", "Swapped?", "No grade 0")


def almost(found, expected):
    """Whether all cells of two frames are equal, numbers up to rounding."""
    pd.testing.assert_frame_equal(
        found, expected, check_dtype=False, check_index_type=False, rtol=1e-9, atol=1e-12
    )


def without_top(finding):
    """A finding without the share of the first ranks, which is not known in batches."""
    return re.sub(r", [0-9]+% of the top [0-9]+", "", finding)


def assert_same(found, expected, own_findings=()):
    """Check all that two reports show; queries may be in other orders, and what needs rows may not be known."""
    almost(found.to_frame().sort_index(), expected.to_frame().sort_index())
    almost(found.to_frame("means"), expected.to_frame("means"))
    assert found.condensed == expected.condensed
    assert found.n_queries == expected.n_queries
    assert found.n_documents == expected.n_documents
    assert list(found.metrics) == list(expected.metrics)
    for name, metric in found.metrics.items():
        assert metric.greater_is_better == expected.metrics[name].greater_is_better
        # Of equal values, the first query comes first.
        worst = dict(found.worst(20, name))
        assert worst == pytest.approx(expected.worst(20, name), abs=1e-12)
    has_rows = data_of(found).has_documents and data_of(expected).has_documents
    skipped = own_findings if has_rows else (*OF_ROWS, *own_findings)
    one, other = (
        sorted(
            # Lists by id have ids that order tied documents, rows have not.
            without_top(line).replace("ordered by document id", "in the order of the rows")
            for line in report.health.findings
            if not any(words in line for words in skipped)
        )
        for report in (found, expected)
    )
    assert one == other

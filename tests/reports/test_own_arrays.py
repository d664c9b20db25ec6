"""Reports outlive the arrays that they were made of, and readers cannot change them by accident."""

import numpy as np
import pytest

from skrank_metrics import evaluate, make_metric


def first_price(labels, price, unranked=()):
    return float(price[0])


PRICE = make_metric(first_price, documents=["price"])


def rows(n_queries=8, n_documents=4):
    """Queries whose rows are contiguous, so that nothing needs to be sorted."""
    random = np.random.default_rng(0)
    shape = n_queries * n_documents
    qid = np.repeat(np.arange(n_queries), n_documents)
    return {
        "y_true": random.integers(0, 3, shape).astype(float),
        "y_score": random.random(shape),
        "qid": qid,
        "judged": random.random(shape) < 0.9,
        "retrieved": random.random(shape) < 0.9,
        "sample_weight": 1.0 + qid % 2,
        "by": qid % 2,
        "groups": qid // 2,
        "price": random.random(shape),
    }


def rectangle(n_queries=8, n_documents=4):
    """The same as one row per query."""
    columns = rows(n_queries, n_documents)
    del columns["qid"]
    of_documents = ("y_true", "y_score", "judged", "retrieved", "price")
    return {
        name: column.reshape(n_queries, n_documents)[
            slice(None) if name in of_documents else (slice(None), 0)
        ].copy()
        for name, column in columns.items()
    }


def report_of(price, **columns):
    return evaluate(**columns, metrics=["ndcg@3", PRICE], documents={"price": price})


def everything(report, path):
    report.save(path)
    shown = report.inspect(list(report.qid), n_ranks=4)
    return str(report), str(report.health), str(shown), path.read_text()


@pytest.mark.parametrize("make", [rows, rectangle])
@pytest.mark.parametrize("name", rows())
def test_arrays_may_be_used_again_after_evaluate(make, name, tmp_path):
    columns = make()
    if name not in columns:
        return
    expected = everything(report_of(**make()), tmp_path / "expected.json")
    report = report_of(**columns)
    columns[name][...] = columns[name][::-1].copy()
    assert everything(report, tmp_path / "report.json") == expected


def test_a_buffer_of_scores_may_hold_the_next_model():
    columns = rows()
    given = {name: columns[name] for name in ("y_true", "qid")}
    scores = columns["y_score"]
    report = evaluate(**given, y_score=scores)
    scores[:] = 0
    assert not any("Constant" in finding for finding in report.health.findings)


def test_values_and_ids_of_a_report_cannot_be_sorted_in_place():
    columns = rows()
    report = evaluate(columns["y_true"], columns["y_score"], qid=columns["qid"], metrics="mrr")
    for array in (report.per_query["mrr"], report.qid):
        with pytest.raises(ValueError, match="read-only"):
            array.sort()

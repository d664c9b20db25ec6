"""Facts of a report, declared once and shown everywhere."""

import numpy as np
import pytest
from support.shown import html_of

from skrank_metrics import evaluate
from skrank_metrics.reports import facts

Y = [1, 0, 0, 1, 0, 0]
SCORES = [2, 1, 2, 1, 2, 1]
QID = [0, 0, 1, 1, 2, 2]


@pytest.fixture
def report():
    # Reciprocal ranks 1, 1/2 and, without a relevant document, 0.
    return evaluate(Y, SCORES, qid=QID, metrics=["mrr", "dcg"], by=list("aabbbb"))


def test_a_new_fact_is_one_declaration(monkeypatch, report):
    largest = facts.Fact(
        ("largest",), "largest", lambda values: values.per_query.max(), of_slices=True
    )
    declared = largest, *facts.FACTS
    monkeypatch.setattr(facts, "FACTS", declared)
    monkeypatch.setattr(facts, "NAMES", ("largest", *facts.NAMES))
    whole, of_slices = html_of(report)[0]
    assert whole[0][:3] == ["metric", "largest", "mean"]
    assert of_slices[0] == ["slice", "metric", "queries", "largest", "mean", "95% interval"]
    assert report.to_dict()["mrr"]["largest"] == 1
    assert report.to_dict(flat=True)["mrr_largest_slice_b"] == 0.5
    assert report.to_frame("means")["largest"].tolist()[0] == 1


def test_frame_of_means(report):
    frame = report.to_frame("means")
    assert list(frame)[:3] == ["metric", "slice", "n_queries"]
    assert list(frame)[3:] == list(facts.NAMES)
    assert frame["metric"].tolist() == ["mrr", "dcg"] * 3
    assert frame["slice"].tolist() == ["all"] * 2 + ["a"] * 2 + ["b"] * 2
    assert frame["n_queries"].tolist() == [3, 3, 1, 1, 2, 2]
    assert report.to_frame("means", "polars").columns == list(frame)
    assert np.isnan(frame.iloc[3]["low"]), "one query has no interval of an unbounded metric"


def test_facts_by_hand(report):
    mrr = report.to_frame("means").iloc[0]
    values = [1, 1 / 2, 0]
    assert mrr["mean"] == pytest.approx(np.mean(values))
    assert mrr["std"] == pytest.approx(np.std(values))
    assert mrr["median"] == 1 / 2
    assert mrr["n_undefined"] == 1
    assert (mrr["low"], mrr["high"]) == report.intervals()["mrr"]


def test_a_report_without_slices_has_no_column_of_them():
    frame = evaluate(Y, SCORES, qid=QID, metrics="mrr").to_frame("means")
    assert "slice" not in frame


def test_a_frame_has_a_row_per_query_by_default(report):
    assert report.to_frame().equals(report.to_frame("queries"))
    assert report.to_frame("polars").columns == ["qid", "by", "mrr", "dcg"]
    assert report.to_frame("queries", "polars").equals(report.to_frame("polars"))


def test_the_short_name_of_a_report_computes_nothing(monkeypatch):
    def compute(*_):
        raise AssertionError("nothing is to be computed")

    found = evaluate(Y, SCORES, qid=QID, metrics=["mrr", "dcg"], by=list("aabbbb"))
    for name in ("per_query", "mean", "std", "median", "n_undefined", "interval"):
        monkeypatch.setattr(facts.MetricValues, name, property(compute))
    assert repr(found) == "<RankingReport: mrr, dcg of 3 queries>"
    assert not {"health", "slices", "own_ranking"} & vars(found).keys()

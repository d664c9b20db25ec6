"""What works for reports of rows works for reports of lists by id."""

import numpy as np
import pytest

from skrank_metrics import evaluate, evaluate_run
from skrank_metrics.conventions import explain_difference, match_convention
from skrank_metrics.reports import RankingReport

QRELS = {"q1": {"d1": 2, "d2": 1, "d3": 0, "d7": 1}, "q2": {"d1": 0, "d4": 0}}
RUN = {"q1": {"d2": 3.0, "d3": 2.0, "d1": 1.0, "d9": 0.5}, "q2": {"d4": 1.0}}


@pytest.fixture
def report():
    return evaluate_run(QRELS, RUN, ["ndcg@10", "mrr"])


def as_rows():
    """The same documents as rows: d7 is judged and not returned, d9 returned and not judged."""
    return {
        "y_true": [1, 0, 2, 0, 1, 0, 0],
        "y_score": [3.0, 2.0, 1.0, 0.5, 0.0, 1.0, 0.0],
        "qid": ["q1"] * 5 + ["q2"] * 2,
        "retrieved": np.array([1, 1, 1, 1, 0, 1, 0], dtype=bool),
        "judged": np.array([1, 1, 1, 0, 1, 1, 1], dtype=bool),
    }


def test_explained_as_rows_are(report):
    found = explain_difference(report)
    expected = explain_difference(evaluate(**as_rows()))
    assert str(found) == str(expected)
    assert found.start == report.mean["ndcg@10"]


def test_matched_as_rows_are(report):
    value = evaluate_run(QRELS, RUN, "ndcg@10", convention="lightgbm").mean["ndcg@10"]
    found = match_convention(report, metric="ndcg@10", value=value)
    expected = match_convention(evaluate(**as_rows()), metric="ndcg@10", value=value)
    # Lists by id have further ways: ties by id, and means without queries that have no list.
    alike = [way for way in found.ways if not way.by_id and way.missing == "zero"]
    assert {str(way.metric): way.value for way in alike} == {
        str(way.metric): way.value for way in expected.ways
    }
    assert "lightgbm" in found.matches[0].peers


@pytest.mark.parametrize("function", [explain_difference, match_convention])
def test_a_report_comes_alone(function, report, tmp_path):
    options = {} if function is explain_difference else {"value": 0.5}
    with pytest.raises(TypeError, match="Pass a report alone, without y_score and qid"):
        function(report, qid=[1], **options)
    with pytest.raises(TypeError, match="Pass a report alone, without y_score and qid"):
        function(report, [1.0], **options)
    with pytest.raises(TypeError, match="Pass labels and scores, y_true and y_score, or a report"):
        function([1, 0], qid=[1, 1], **options)
    report.save(tmp_path / "report.json")
    with pytest.raises(ValueError, match="keeps no labels or scores"):
        function(RankingReport.load(tmp_path / "report.json"), **options)


def test_inspection_names_documents_and_the_relevant_ones_that_were_not_returned(report):
    inspection = report.inspect("q1")
    ((query,),) = inspection.queries
    assert query.columns["id"].tolist() == ["d2", "d3", "d1", "d9"]
    assert query.unranked == ["d7"]
    text = str(inspection)
    assert "1 relevant document not ranked: d7." in text
    assert "row" not in text.splitlines()[2].split()
    assert inspection.to_frame()["id"].tolist() == ["d2", "d3", "d1", "d9"]


def test_many_relevant_documents_that_were_not_returned_are_cut():
    qrels = {"q": {f"d{number}": 1 for number in range(8)}}
    ((query,),) = (inspection := evaluate_run(qrels, {"q": ["d0"]}, "mrr").inspect("q")).queries
    assert query.unranked == [f"d{number}" for number in range(1, 8)]
    assert "7 relevant documents not ranked: d1, d2, d3, d4, d5, ..." in str(inspection)


def test_rows_that_were_not_ranked_are_numbered():
    ((query,),) = evaluate(**as_rows(), metrics="mrr").inspect("q1").queries
    assert query.unranked == [4]
    assert "id" not in query.columns


def test_slices_of_a_loaded_report(tmp_path):
    by = {"q1": "long", "q2": "short"}
    report = evaluate_run(QRELS, RUN, ["ndcg@10", "mrr"], by=by)
    report.save(tmp_path / "report.json")
    loaded = RankingReport.load(tmp_path / "report.json")
    assert loaded.slices.keys() == report.slices.keys()
    for value, expected in report.slices.items():
        found = loaded.slices[value]
        assert found.to_dict() == expected.to_dict()
        assert found.n_documents == expected.n_documents
        assert found.worst() == expected.worst()
        assert str(found).splitlines()[:3] == str(expected).splitlines()[:3]

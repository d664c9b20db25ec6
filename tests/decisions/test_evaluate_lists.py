"""Lists of labels in ranked order, without scores and ids."""

import numpy as np
import pandas as pd
import pytest

from skrank_metrics import evaluate, evaluate_lists
from skrank_metrics.metrics import get_metrics

LISTS = [[1, 0, 0], [0, 1], [], [0, 0, 3, 1]]
METRICS = ["mrr", "hit_rate@2", "recall@3", "ndcg(gain=exp2)"]


@pytest.mark.option("evaluate_lists.metrics", "evaluate_lists.labels")
def test_values_by_hand():
    report = evaluate_lists(LISTS, METRICS)
    assert report.per_query["mrr"].tolist() == [1, 1 / 2, 0, 1 / 3]
    assert report.per_query["hit_rate@2"].tolist() == [1, 1, 0, 0]
    assert report.per_query["recall@3"].tolist() == [1, 1, 0, 1 / 2]
    # Grade 3 gains 7. The last list has it at rank 3, before grade 1.
    second = 1 / np.log2(3)
    dcg = 7 / 2 + 1 / np.log2(5)
    ndcg = [1, second, 0, dcg / (7 + second)]
    np.testing.assert_allclose(report.per_query["ndcg(gain=exp2)"], ndcg, rtol=1e-12)
    assert report.qid.tolist() == [0, 1, 2, 3]
    assert report.n_undefined["mrr"] == 1
    assert list(evaluate_lists([[1, 0]]).mean) == ["ndcg@10", "map", "mrr"]


def test_forms_of_lists():
    array = np.array([[1, 0, 0], [0, 1, 0]])
    descending = [[2.0, 1.0, 0.0]] * 2
    expected = evaluate(array, descending, metrics=METRICS)
    forms = [array, array.tolist(), list(array), map(tuple, array)]
    for labels in forms:
        assert evaluate_lists(labels, METRICS).mean == expected.mean
    by_id = evaluate_lists({"a": [1], ("b", 2): (True, False)}, "mrr")
    assert by_id.qid.tolist() == ["a", ("b", 2)]
    assert by_id.mean == {"mrr": 1}
    series = pd.Series({"x": [0, 1], "y": [1]})
    assert evaluate_lists(series, "mrr").mean == {"mrr": (1 / 2 + 1) / 2}


@pytest.mark.option("evaluate_lists.convention")
def test_conventions_and_bound_metrics():
    assert evaluate_lists([[0]], "ndcg", convention="lightgbm").mean == {"ndcg": 1}
    left_out = get_metrics("mrr", replace_undefined_by=np.nan)
    assert evaluate_lists(LISTS, left_out).mean["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([1, 0, 1], TypeError, r"one flat list of labels per query, as in \[\[1, 0\], .*; got 1"),
        ("101", TypeError, "a sequence of lists of labels; got str"),
        (3, TypeError, "a sequence of lists of labels; got int"),
        ([], ValueError, "at least one list; got none"),
        ({"a": {"x": 1}}, TypeError, "Pass documents by their ids to evaluate_run"),
        ([["x"]], (TypeError, ValueError), "labels"),
        ([[[1]]], TypeError, "one flat list"),
        ([[-1]], ValueError, "Labels must be >= 0 for mrr"),
    ],
)
def test_bad_lists(labels, error, message):
    with pytest.raises(error, match=message):
        evaluate_lists(labels, "mrr")

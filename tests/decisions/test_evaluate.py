from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from skrank_metrics import cross_evaluate, evaluate, get_metric, map_score, ndcg_score
from skrank_metrics.metrics import get_metrics

NAMES = (
    "ndcg@10",
    "ndcg(gain=exp2)@3",
    "map",
    "mrr",
    "precision(average=micro)@2",
    "dcg(ties=worst)@5",
    "recall",
)


def test_equals_each_metric_on_its_own(rows):
    y_true, y_score, qid = rows
    report = evaluate(y_true, y_score, qid=qid, metrics=NAMES)
    assert tuple(report.mean) == tuple(report.per_query) == tuple(report.n_undefined) == NAMES
    for name in NAMES:
        metric = get_metric(name)
        assert report.mean[name] == metric(y_true, y_score, qid=qid)
        np.testing.assert_array_equal(
            report.per_query[name], metric(y_true, y_score, qid=qid, average=None)
        )


def test_ids_are_in_order_of_first_appearance(rows):
    report = evaluate(rows[0], rows[1], qid=rows[2])
    assert list(report.mean) == ["ndcg@10", "map", "mrr"], "the default"
    assert report.qid.tolist() == list(dict.fromkeys(rows[2].tolist()))
    assert report.n_documents == len(rows[0])


@pytest.mark.parametrize(
    ("metrics", "shared"),
    [
        (["map", get_metric("mrr", ties="best")], {"ties": "average"}),
        ([get_metric("ndcg", convention="lightgbm")], {"replace_undefined_by": 0}),
        (["mrr(replace_undefined_by=nan)"], {"replace_undefined_by": 0.0}),
        (["mrr(replace_undefined_by=0)"], {"replace_undefined_by": np.nan}),
    ],
)
def test_parameters_of_several_metrics_must_not_contradict_a_name(metrics, shared):
    ((name, value),) = shared.items()
    with pytest.raises(
        ValueError,
        match=rf"{name} must not contradict the metric; got {name}={value!r} and '.*{name}=",
    ):
        get_metrics(*metrics, **shared)


def test_nan_averages_all_metrics_of_relevance_over_the_same_queries():
    # Query "b" has no relevant document; the distance, a count, has a value there too.
    metrics = [
        "ndcg",
        "precision@1",
        "cg",
        "dcg",
        "err",
        "rbp",
        "pfound",
        "neg_kendall_tau_distance",
    ]
    rows = {"y_true": [1, 0, 0, 0], "y_score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]}
    report = evaluate(**rows, metrics=get_metrics(*metrics, replace_undefined_by=np.nan))
    expected = {
        "ndcg": 1,
        "precision@1": 1,
        "cg": 1,
        "dcg": 1,
        "err": 1 / 16,
        "rbp": 0.2,
        "pfound": 1,
    }
    assert report.mean == pytest.approx({**expected, "neg_kendall_tau_distance": 0})
    assert report.n_undefined == {**dict.fromkeys(expected, 1), "neg_kendall_tau_distance": 0}
    halves = {name: value / 2 for name, value in expected.items()}
    assert evaluate(**rows, metrics=metrics).mean == pytest.approx(
        {**halves, "neg_kendall_tau_distance": 0}
    )


def test_takes_functions_and_bound_metrics(rows):
    report = evaluate(
        rows[0],
        rows[1],
        qid=rows[2],
        metrics=[map_score, get_metric("ndcg", k=3, average="median")],
    )
    assert list(report.mean) == ["map", "ndcg(average=median)@3"]
    expected = ndcg_score(rows[0], rows[1], qid=rows[2], k=3, average="median")
    assert report.mean["ndcg(average=median)@3"] == expected
    assert list(evaluate(rows[0], rows[1], qid=rows[2], metrics=map_score).mean) == ["map"]


@pytest.mark.parametrize("metric", ["ndcg(average=none)", get_metric("ndcg", average=None)])
def test_a_report_has_one_number_per_metric(rows, metric):
    with pytest.raises(
        ValueError,
        match=r"average must not be None .*; got 'ndcg\(average=.*'\. Leave it out\.$",
    ):
        evaluate(rows[0], rows[1], qid=rows[2], metrics=["map", metric])
    with pytest.raises(ValueError, match="average must not be None"):
        cross_evaluate(Ridge(), np.zeros((len(rows[0]), 1)), rows[0], qid=rows[2], metrics=metric)


def test_no_metric_is_an_error(rows):
    with pytest.raises(ValueError, match="metrics must name at least one metric"):
        evaluate(rows[0], rows[1], qid=rows[2], metrics=[])


def test_slices_of_an_array_of_objects_have_plain_keys():
    by = np.array([np.str_("DE"), np.bool_(True)], dtype=object)
    slices = evaluate([[1, 0], [0, 1]], [[2, 1]] * 2, metrics="mrr", by=by).slices
    assert [(name, type(name)) for name in slices] == [("DE", str), (True, bool)]
    assert [part.mean["mrr"] for part in slices.values()] == [1, 1 / 2]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ([10, 9, 100], [9, 10, 100]),
        ([10, 9.5, 100], [9.5, 10.0, 100.0]),
        (["10", "9", "100"], ["10", "100", "9"]),
        ([True, False, True], [False, True]),
        ([("b", 1), ("a", 2), ("a", 1)], [("a", 1), ("a", 2), ("b", 1)]),
        (["b", 1, "a"], ["b", 1, "a"]),
        (
            np.array(["2001-01-02", "2001-01-01", "2001-01-03"], dtype="M8[ns]"),
            [datetime(2001, 1, d) for d in (1, 2, 3)],
        ),
        (
            pd.cut([9, 1, 5], [0, 2, 6, 10]),
            [pd.Interval(0, 2), pd.Interval(2, 6), pd.Interval(6, 10)],
        ),
    ],
)
def test_slices_are_sorted_if_they_have_an_order(by, expected):
    by = pd.Series(by)  # of tuples, too
    report = evaluate([[1, 0], [0, 1], [0, 0]], [[2, 1]] * 3, metrics="mrr", by=by)
    assert list(report.slices) == expected
    values = dict(zip(pd.Series(report.by).tolist(), [1, 1 / 2, 0], strict=True))
    if len(expected) == len(by):
        assert {name: part.mean["mrr"] for name, part in report.slices.items()} == values


def test_a_slice_of_weight_0_has_no_mean():
    names = ["mrr", "recall(average=micro)@1", "precision(average=micro)@1"]
    weights = [0, 0, 1, 1]
    by = ["x", "x", "y", "y"]
    report = evaluate(
        [[1, 0], [0, 1]] * 2, [[2, 1]] * 4, metrics=names, sample_weight=weights, by=by
    )
    assert list(report.slices["y"].mean.values()) == [(1 + 1 / 2) / 2, 1 / 2, 1 / 2]
    assert np.isnan(list(report.slices["x"].mean.values())).all()


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (
            ["x", "x"],
            r"by must hold one value per document, 3 in all; got shapes \[\(2,\)\]",
        ),
        (0, r"got shapes \[\(\)\]"),
        (np.zeros((3, 2)), r"got shapes \[\(3, 2\)\]"),
        ({"x": [1, 2, 2], "y": [1, 2]}, r"got shapes \[\(2,\), \(3,\)\]"),
        ({}, r"got shapes \[\]"),
        (["x", None, "y"], "by must be constant within a query; got None and y in query 'b'"),
    ],
)
def test_slices_are_one_value_a_document(by, message):
    with pytest.raises(ValueError, match=message):
        evaluate([1, 0, 1], [1, 2, 3], qid=["a", "b", "b"], by=by)


def test_the_name_of_a_column_is_no_slice():
    message = r"by got the text 'length'\. Pass the column, df\['length'\]"
    with pytest.raises(TypeError, match=message):
        evaluate([1, 0, 1], [1, 2, 3], qid=["a", "b", "b"], by="length")


def test_labels_that_nobody_gave_may_be_none():
    rows = {"y_score": [3, 2, 1, 2], "qid": ["a", "a", "a", "b"], "metrics": ["mrr", "bpref"]}
    judged = [False, True, True, True]
    given = evaluate(np.array([None, 0, 1, 1], dtype=object), judged=judged, **rows)
    expected = evaluate([0, 0, 1, 1], judged=judged, **rows)
    assert given.mean == expected.mean == {"mrr": (1 / 3 + 1) / 2, "bpref": expected.mean["bpref"]}
    with pytest.raises(TypeError, match="y_true must hold real numbers; got None"):
        evaluate(np.array([None, 0, 1, 1], dtype=object), **rows)

import sys

import numpy as np
import pandas as pd
import pytest

from skrank_metrics import evaluate, get_metric, map_score, ndcg_score

NAMES = (
    "ndcg@10",
    "ndcg@3",
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
        np.testing.assert_array_equal(report.per_query[name], metric(y_true, y_score, qid=qid, average=None))


def test_defaults_are_those_of_the_first_question(rows):
    assert list(evaluate(rows[0], rows[1], qid=rows[2]).mean) == ["ndcg@10", "map", "mrr"]


def test_ids_are_in_order_of_first_appearance(rows):
    report = evaluate(rows[0], rows[1], qid=rows[2])
    assert report.qid.tolist() == list(dict.fromkeys(rows[2].tolist()))
    assert report.n_documents == len(rows[0])


def test_counts_undefined_queries_and_replaces_them(rows):
    y_true, y_score, qid = rows
    report = evaluate(y_true, y_score, qid=qid, metrics=["map", "dcg"], replace_undefined_by=np.nan)
    without = [i for i in "abcdef" if not y_true[qid == i].any()]
    assert "c" in without
    assert report.n_undefined == {"map": len(without), "dcg": 0}
    assert np.isnan(report.per_query["map"][report.qid == "c"]).all()
    assert report.mean["map"] == pytest.approx(np.nanmean(report.per_query["map"]), abs=1e-12)


def test_policies_given_here_are_for_all_metrics(rows):
    y_true, y_score, qid = rows
    report = evaluate(y_true, y_score, qid=qid, metrics=["map", "ndcg(ties=best)"], ties="worst")
    assert report.mean["ndcg(ties=best)"] == ndcg_score(y_true, y_score, qid=qid, ties="worst")
    assert report.mean["map"] == map_score(y_true, y_score, qid=qid, ties="worst") < map_score(y_true, y_score, qid=qid)


def test_weights_and_two_dimensions():
    report = evaluate([[1, 0], [0, 1]], [[2, 1], [2, 1]], metrics="mrr", sample_weight=[3, 1])
    assert report.mean == {"mrr": (3 * 1 + 1 * 1 / 2) / 4}
    assert report.qid.tolist() == [0, 1]


def test_takes_functions_and_bound_metrics(rows):
    report = evaluate(rows[0], rows[1], qid=rows[2], metrics=[map_score, get_metric("ndcg", k=3, average=None)])
    assert list(report.mean) == ["map", "ndcg(average=None)@3"]
    assert report.mean["ndcg(average=None)@3"] == ndcg_score(rows[0], rows[1], qid=rows[2], k=3)
    assert list(evaluate(rows[0], rows[1], qid=rows[2], metrics=map_score).mean) == ["map"]


def test_no_metric_is_an_error(rows):
    with pytest.raises(ValueError, match="metrics must name at least one metric"):
        evaluate(rows[0], rows[1], qid=rows[2], metrics=[])


def test_frame_has_a_row_a_query(rows):
    report = evaluate(rows[0], rows[1], qid=rows[2])
    frame = report.to_frame()
    assert frame.index.name == "qid"
    assert frame.loc["d", "map"] == report.per_query["map"][report.qid == "d"]
    pd.testing.assert_series_equal(frame.mean(), pd.Series(report.mean))


def test_frame_without_pandas(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        evaluate(rows[0], rows[1], qid=rows[2]).to_frame()

import pickle
import re
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.ranks import N_DOCUMENTS, report_of_ranks

from skrank_metrics import evaluate
from skrank_metrics.datasets import make_ranking
from skrank_metrics.reports import RankingReport


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(80, random_state=0)
    return y, X[:, 0].round(1), qid


def test_no_interval_of_one_query():
    report = evaluate([1, 0], [2, 1], qid=["a", "a"], metrics="mrr")
    assert np.isnan(report.intervals()["mrr"]).all()
    assert "none" in str(report).splitlines()[2]
    assert repr(report) == "<RankingReport: mrr of 1 query>"
    assert report.to_dict(flat=True) == {
        "mrr": 1.0,
        "mrr_std": 0.0,
        "mrr_median": 1.0,
        "mrr_n_undefined": 0,
    }


def test_reads_well():
    report = evaluate(
        [1, 0, 0, 1, 0], [2, 1, 2, 1, 0], qid=["a", "a", "b", "b", "c"], metrics=["mrr", "recall@1"]
    )
    # With half an observation at 0 and at 1, MRR has the mean 1/2 and squares of 4/4 - 1/4.
    assert stats.t.ppf(0.975, 3) * np.sqrt(3 / 4 / 3 / 4) > 1 / 2, "so that both ends are cut"
    # Recall is 0 or 1, so z^2 / 2 observations are added at each.
    squared = stats.norm.ppf(0.975) ** 2
    n = 3 + squared
    share = (1 + squared / 2) / (3 + squared)
    half = np.sqrt(squared * share * (1 - share) / n)
    low = share - half
    high = share + half
    assert str(report).splitlines() == [
        "3 queries, 5 documents",
        "metric      mean      95% interval  undefined queries",
        "mrr       0.5000  [0.0000, 1.0000]                  1",
        f"recall@1  0.3333  [{low:.4f}, {high:.4f}]                  1",
        "1 query (c) has no relevant document and counts as 0.",
        "More: pass two rankings to compare them; intervals of single ones cannot do that",
    ]


def test_bad_arguments_of_methods(data):
    report = evaluate(*data[:2], qid=data[2])
    with pytest.raises(ValueError, match="n must be an int >= 1; got 0"):
        report.worst(0)
    with pytest.raises(ValueError, match=r"metric must be one of \['ndcg@10'.*Did you mean 'map'"):
        report.worst(3, "map@3")
    with pytest.raises(ValueError, match=r"rows must be one of .*; got 'arrow'"):
        report.to_frame("arrow")
    with pytest.raises(ValueError, match=r"library must be one of .*; got 'arrow'"):
        report.to_frame("means", "arrow")


def test_keys_of_dates_are_dates():
    qid = np.array(["2001-01-02", "2001-01-02", "2001-01-01", "2001-01-01"], dtype="M8[ns]")
    assert evaluate([1, 0, 0, 1], [2, 1] * 2, qid=qid, metrics="mrr").worst() == {
        datetime(2001, 1, 1): 1 / 2,
        datetime(2001, 1, 2): 1,
    }


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_spread_of_tiny_and_huge_values(size):
    labels = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 0.0]])
    scores = [[2, 1]] * 3
    values = evaluate(labels, scores, metrics="cg")
    scaled = evaluate(size * labels, scores, metrics="cg")
    assert scaled.std["cg"] == pytest.approx(size * values.std["cg"], rel=1e-12)
    expected = size * np.array(values.intervals()["cg"])  # cg has no upper bound
    np.testing.assert_allclose(scaled.intervals()["cg"], expected, rtol=1e-9)


def test_the_spread_of_a_pooled_ratio_is_that_of_the_queries():
    # Recall at 1 is 1 of 1 and 1 of 3; the pooled one is 2 of 4.
    name = "recall(average=micro)@1"
    labels = [[1, 0, 0], [1, 1, 1]]
    scores = [[3, 2, 1]] * 2
    report = evaluate(labels, scores, metrics=name)
    assert report.mean == {name: 2 / 4}
    assert report.std[name] == pytest.approx(np.std([1, 1 / 3]))


def test_flat_keys_suit_loggers_and_differ(rows):
    names = ["ndcg@10", "ndcg(gain=exp2, ties=worst)@3", "err(p=0.5)"]
    report = evaluate(rows[0], rows[1], qid=rows[2], metrics=names)
    flat = report.to_dict(flat=True)
    nested = report.to_dict()
    intervals = report.intervals()
    assert list(nested) == names
    for name, values in nested.items():
        low, high = intervals[name]
        assert values == {
            "mean": report.mean[name],
            "low": low,
            "high": high,
            "std": report.std[name],
            "median": np.median(report.per_query[name]),
            "n_undefined": report.n_undefined[name],
        }
    assert all(re.fullmatch(r"[a-z0-9_]+", key) for key in flat)
    assert all(
        type(value) is (int if key.endswith("n_undefined") else float)
        for key, value in flat.items()
    )
    assert len(flat) == 6 * len(names)
    assert flat["ndcg_at_10"] == report.mean["ndcg@10"]
    assert flat["ndcg_gain_exp2_ties_worst_at_3"] == report.mean["ndcg(gain=exp2, ties=worst)@3"]
    keys = {
        "": "mean",
        "_low": "low",
        "_high": "high",
        "_std": "std",
        "_median": "median",
        "_n_undefined": "n_undefined",
    }
    assert {key: flat[f"err_p_0_5{end}"] for end, key in keys.items()} == nested["err(p=0.5)"]


def test_survives_pickling_without_what_was_computed_on_the_way(data):
    report = evaluate(*data[:2], qid=data[2], by=data[2] % 2)
    pickled = pickle.dumps(report)
    assert str(pickle.loads(pickled)) == str(report)
    assert len(pickled) < 16 * len(data[0]) + 130 * len(report.qid) + 3000


def test_intervals_of_groups_are_those_of_their_means(data):
    y, scores, qid = data
    users = qid // 5
    report = evaluate(y, scores, qid=qid, groups=users, metrics="mrr")
    np.testing.assert_array_equal(report.groups, report.qid // 5)
    values, sizes = (
        np.bincount(report.groups, weights)[np.unique(report.groups)]
        for weights in (report.per_query["mrr"], None)
    )
    # One row per user, weighted by its number of queries, gives the same mean and interval.
    expected = RankingReport.from_frame(
        {"qid": np.arange(len(sizes)), "mrr": values / sizes, "weight": sizes}
    )
    assert report.mean["mrr"] == pytest.approx(expected.mean["mrr"])
    assert report.intervals()["mrr"] == pytest.approx(expected.intervals()["mrr"])
    assert report.std == evaluate(y, scores, qid=qid, metrics="mrr").std


def test_a_weight_of_two_counts_as_two_queries_of_the_group():
    ranks = np.array([1, 2, 3, 1, 2])
    users = np.array([0, 0, 1, 1, 2])
    twice = np.array([1, 2, 1, 1, 2])
    weighted = report_of_ranks(ranks, weights=twice, groups=np.repeat(users, N_DOCUMENTS))
    repeated = report_of_ranks(
        np.repeat(ranks, twice), groups=np.repeat(users, twice * N_DOCUMENTS)
    )
    assert weighted.intervals()["mrr"] == pytest.approx(repeated.intervals()["mrr"])
    assert "in 1 group," in str(report_of_ranks(ranks, groups=["one"] * len(ranks) * N_DOCUMENTS))


def test_queries_without_a_value_do_not_count_in_their_group():
    ranks = np.array([1, 2, 3, 0, 2, 1])
    users = np.array([0, 0, 1, 1, 2, 2])
    all_, defined = (
        report_of_ranks(
            ranks[some], groups=np.repeat(users[some], N_DOCUMENTS), replace_undefined_by=np.nan
        )
        for some in (ranks >= 0, ranks > 0)
    )
    assert all_.intervals() == defined.intervals()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 1, 1, 1], "groups must be constant within a query; got 0 and 1 in query 7"),
        ([0, 0, None, None], "groups must"),
        (
            [0, 0],
            r"groups must hold one value per document, 4 in all; got shapes \[\(2,\)\]",
        ),
        (pd.Series([0, 0, 1, 1], index=list("badc")), "groups must have the same index as y_true"),
    ],
)
def test_groups_that_do_not_fit(groups, message):
    labels = pd.Series([1, 0, 0, 1], index=list("abcd"))
    with pytest.raises(ValueError, match=message):
        evaluate(labels, [2, 1, 2, 1], qid=[7, 7, 8, 8], metrics="mrr", groups=groups)


def test_what_a_report_holds_cannot_be_written():
    report = evaluate(
        [1, 0, 0, 1],
        [2, 1, 2, 1],
        qid=[0, 0, 1, 1],
        metrics=["mrr", "map"],
        by=[5, 5, 6, 6],
        sample_weight=[1, 1, 2, 2],
    )
    for name in ("mean", "slices", "metrics"):
        of_report = getattr(report, name)
        before = dict(of_report)
        key = next(iter(before))
        with pytest.raises(
            TypeError, match=r"A dict of a report is read-only; change a copy, dict"
        ):
            of_report[key] = 0
        for change in (
            of_report.clear,
            of_report.popitem,
            lambda own=of_report: own.update({1: 1}),
        ):
            with pytest.raises(TypeError, match="read-only"):
                change()
        assert of_report == before
        assert repr(of_report) == repr(before)
        assert list(pickle.loads(pickle.dumps(report)).__getattribute__(name)) == list(before)
    for column in (report.weights, report.qid, report.per_query["mrr"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 5
    assert report.mean["mrr"] == (1 * 1 + 2 * (1 / 2)) / 3

"""The options of evaluate and of reports, against values by hand."""

import numpy as np
import pytest
from scipy import stats
from support.ranks import report_of_ranks

from skrank_metrics import evaluate, get_metric, kendall_tau_distance
from skrank_metrics.reports.mean_intervals import mean_interval, moments

LOG3 = np.log2(3)
# Query "a" has its relevant documents at ranks 1 and 3 of three, "b" at rank 2 of two, "c" none.
LABELS, SCORES = np.array([2, 0, 1, 0, 1, 0, 0]), np.array([9.0, 8, 7, 5, 4, 2, 1])
QID = np.array(["a", "a", "a", "b", "b", "c", "c"])
NAN = np.nan


@pytest.mark.parametrize("undefined", [0.0, NAN])
def test_weights_of_queries(undefined):
    weights = np.array([5, 5, 5, 2, 2, 3, 3.0])
    report = evaluate(
        LABELS,
        SCORES,
        qid=QID,
        metrics={"mrr": get_metric("mrr", replace_undefined_by=undefined)},
        sample_weight=weights,
    )
    assert report.mean["mrr"] == pytest.approx(
        (5 * 1 + 2 * 1 / 2) / (7 if np.isnan(undefined) else 10)
    )
    assert report.weights.tolist() == [5, 2, 3]
    assert report.per_query["mrr"].tolist()[:2] == [1, 1 / 2]
    shares = np.array([5, 2]) / 7 if np.isnan(undefined) else np.array([5, 2, 3]) / 10
    values = np.array([1, 1 / 2, 0])[: len(shares)]
    assert report.std["mrr"] == pytest.approx(np.sqrt(shares @ values**2 - (shares @ values) ** 2))
    assert evaluate(LABELS, SCORES, qid=QID, metrics="mrr").weights is None


@pytest.mark.parametrize("weighted", [False, True])
def test_slices_take_their_share_of_everything(weighted):
    """The reports of slices are those of their rows alone, with weights and documents that were not ranked."""
    random = np.random.default_rng(0)
    qid = np.repeat(np.arange(12), 5)
    labels, scores = random.integers(0, 3, 60), random.permutation(60)
    options = {
        "sample_weight": random.uniform(1, 3, 12)[qid] if weighted else None,
        "retrieved": random.random(60) < 0.7,
    }
    metrics = ["ndcg@3", "recall(average=micro)@2"]
    by = np.array(["x", "y", "z"])[qid % 3]
    report = evaluate(labels, scores, qid=qid, metrics=metrics, by=by, **options)
    assert report.by.tolist() == ["x", "y", "z"] * 4
    assert list(report.slices) == ["x", "y", "z"]
    for value, part in report.slices.items():
        rows = by == value
        own = {name: None if given is None else given[rows] for name, given in options.items()}
        alone = evaluate(labels[rows], scores[rows], qid=qid[rows], metrics=metrics, **own)
        assert part.mean == alone.mean
        assert part.std == alone.std
        assert part.intervals() == alone.intervals()
        assert str(part.health) == str(alone.health)
    plain = evaluate(labels, scores, qid=qid, metrics=metrics)
    assert plain.by is None
    assert plain.slices == {}


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_confidence_of_intervals(confidence):
    report = report_of_ranks([1, 2, 4, 1], metrics=["mrr", "dcg"])
    mrr, dcg = (report.intervals(confidence=confidence)[name] for name in ("mrr", "dcg"))
    gains = 1 / np.log2(1 + np.array([1, 2, 4, 1]))
    expected = stats.t.interval(confidence, 3, gains.mean(), stats.sem(gains))
    assert dcg == pytest.approx(np.clip(expected, 0, np.inf))
    # Values 1, 1/2, 1/4 and 1, and half an observation at 0 and at 1: squares 2.8125 - 5 (3.25 / 5)^2 = 0.7.
    half = stats.t.ppf((1 + confidence) / 2, 4) * np.sqrt(0.7 / 4 / 5)
    assert mrr == pytest.approx((0.65 - half, min(1, 0.65 + half)))
    with pytest.raises(
        ValueError, match=r"confidence must be a number in \[0\.01, 0\.9999\]; got 1"
    ):
        report.intervals(1)


def test_intervals_of_weighted_queries():
    # The values 1, 1/2 and 0 with weights 5, 2, 3: n is 10^2 / 38.
    report = report_of_ranks([1, 2, 0], weights=[5, 2, 3], metrics=["mrr", "dcg"])
    shares, n = np.array([5, 2, 3]) / 10, 100 / 38
    gains = np.array([1, 1 / LOG3, 0])
    error = np.sqrt((shares**2 @ (gains - shares @ gains) ** 2) * n / (n - 1))
    low, high = report.intervals(0.5)["dcg"]
    assert (low, high) == pytest.approx(stats.t.interval(0.5, n - 1, shares @ gains, error))
    values = np.array([1, 1 / 2, 0])
    mean = (n * 0.6 + 1 / 2) / (n + 1)
    squares = (
        n**2 * (shares**2 @ (values - 0.6) ** 2)
        + n * (0.6 - mean) ** 2
        + (mean**2 + (1 - mean) ** 2) / 2
    )
    half = stats.t.ppf(0.75, n) * np.sqrt(squares / n / (n + 1))
    assert report.intervals(0.5)["mrr"] == pytest.approx((mean - half, mean + half))


def test_interval_of_a_pooled_metric_with_weights():
    # Of "a", 1 of 2 relevant documents is in the top 1, of "b" 1 of 1, of "c" none; weights 3, 2 and 4 of the queries
    # are 6, 2 and 0 of the pooled mean, (6 * 1/2 + 2 * 1) / 8 = 5/8.
    labels, scores = [1, 1, 0, 1, 0, 0, 0], [3, 2, 1, 2, 1, 2, 1]
    name = "recall(average=micro)@1"
    report = evaluate(labels, scores, qid=QID, metrics=name, sample_weight=[3, 3, 3, 2, 2, 4, 4])
    assert report.mean[name] == 5 / 8
    assert report.intervals(0.5)[name] == pytest.approx(
        mean_interval(moments([1 / 2, 1], [6, 2]), (0, 1), 0.5)
    )


def test_worst_queries():
    report = report_of_ranks(
        [2, 1, 4, 0, 3, 2], list("abcdef"), metrics=["mrr", "recall@2", kendall_tau_distance]
    )
    assert list(report.worst().items()) == [
        ("c", 1 / 4),
        ("e", 1 / 3),
        ("a", 1 / 2),
        ("f", 1 / 2),
        ("b", 1),
    ]
    assert list(report.worst(n=2).items()) == [("c", 1 / 4), ("e", 1 / 3)]
    assert list(report.worst(n=3, metric="recall@2").items()) == [("c", 0), ("e", 0), ("a", 1)]
    # Documents above the relevant one are inversions; a query without one has none to make, and 0 is its count.
    assert list(report.worst(n=2, metric="kendall_tau_distance").items()) == [("c", 3), ("e", 2)]
    many = report_of_ranks([1, 2] * 8)
    assert len(many.worst()) == 10

"""The options of evaluate and of reports, against values by hand."""

import numpy as np
import pytest
from scipy import stats
from support.ranks import report_of_ranks

from skrank_metrics import evaluate, get_metric, kendall_tau_distance
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.mean_intervals import mean_interval, moments

# Query "a" has its relevant documents at ranks 1 and 3 of three, "b" at rank 2 of two, "c" none.
LABELS = np.array([2, 0, 1, 0, 1, 0, 0])
SCORES = np.array([9.0, 8, 7, 5, 4, 2, 1])
QID = np.array(["a", "a", "a", "b", "b", "c", "c"])


def weighted_mrr(**options):
    metric = get_metric("mrr", **options)
    weights = [5, 5, 5, 2, 2, 3, 3]
    return evaluate(LABELS, SCORES, qid=QID, metrics={"mrr": metric}, sample_weight=weights)


def test_weights_of_queries():
    report = weighted_mrr()
    assert report.mean["mrr"] == pytest.approx((5 * 1 + 2 * 1 / 2) / 10)
    assert report.weights.tolist() == [5, 2, 3]
    assert report.per_query["mrr"].tolist() == [1, 1 / 2, 0]
    mean_of_squares = (5 * 1 + 2 * 1 / 4) / 10
    assert report.std["mrr"] == pytest.approx(np.sqrt(mean_of_squares - 0.6**2))
    assert evaluate(LABELS, SCORES, qid=QID, metrics="mrr").weights is None


def test_weights_of_undefined_queries_that_are_left_out():
    report = weighted_mrr(replace_undefined_by=np.nan)
    mean = (5 * 1 + 2 * 1 / 2) / 7
    assert report.mean["mrr"] == pytest.approx(mean)
    mean_of_squares = (5 * 1 + 2 * 1 / 4) / 7
    assert report.std["mrr"] == pytest.approx(np.sqrt(mean_of_squares - mean**2))


@pytest.mark.parametrize("weights", [{}, {"weight": np.array([1.0, 2.0, 0.5] * 4)}])
def test_queries_that_are_left_out_do_not_count_in_the_interval_of_groups(weights):
    columns = {
        "qid": np.arange(12),
        "group": np.arange(12) // 3,
        "helpful": np.array([1, np.nan, 0.5, 2, 3, np.nan, np.nan, np.nan, np.nan, 1, 2, 4]),
        **weights,
    }
    has_value = ~np.isnan(columns["helpful"])
    without = {name: column[has_value] for name, column in columns.items()}
    low, high = RankingReport.from_frame(columns).intervals()["helpful"]
    assert (low, high) == pytest.approx(RankingReport.from_frame(without).intervals()["helpful"])


def test_slices_take_their_share_of_everything():
    """The reports of slices are those of their rows alone, with weights and documents that were not ranked."""
    random = np.random.default_rng(0)
    qid = np.repeat(np.arange(12), 5)
    rows = {
        "y_true": random.integers(0, 3, 60),
        "y_score": random.permutation(60),
        "qid": qid,
        "sample_weight": random.uniform(1, 3, 12)[qid],
        "retrieved": random.random(60) < 0.7,
    }
    metrics = ["ndcg@3", "recall(average=micro)@2"]
    by = np.array(["x", "y", "z"])[qid % 3]
    report = evaluate(**rows, metrics=metrics, by=by)
    assert report.by.tolist() == ["x", "y", "z"] * 4
    assert list(report.slices) == ["x", "y", "z"]
    for value, part in report.slices.items():
        own = {name: column[by == value] for name, column in rows.items()}
        alone = evaluate(**own, metrics=metrics)
        assert part.mean == alone.mean
        assert part.std == alone.std
        assert part.intervals() == alone.intervals()
        assert str(part.health) == str(alone.health)
    plain = evaluate(**rows)
    assert plain.by is None
    assert plain.slices == {}


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_confidence_of_intervals(confidence):
    report = report_of_ranks([1, 2, 4, 1], metrics="dcg")
    gains = 1 / np.log2([2, 3, 5, 2])
    low, high = stats.t.interval(confidence, 3, gains.mean(), stats.sem(gains))
    assert report.intervals(confidence)["dcg"] == pytest.approx((max(low, 0), high))
    with pytest.raises(ValueError, match=r"confidence must be a number in .*; got 1"):
        report.intervals(1)


def test_intervals_of_weighted_queries():
    report = report_of_ranks([1, 2, 0], weights=[5, 2, 3], metrics=["mrr", "dcg"])
    shares = np.array([0.5, 0.2, 0.3])
    n = 100 / 38  # 10^2 / (5^2 + 2^2 + 3^2)
    gains = np.array([1, 1 / np.log2(3), 0])
    mean = shares @ gains
    squares = shares**2 @ (gains - mean) ** 2
    error = np.sqrt(squares * n / (n - 1))
    expected = stats.t.interval(0.5, n - 1, mean, error)
    assert report.intervals(0.5)["dcg"] == pytest.approx(expected)


def test_intervals_of_weighted_queries_with_bounds():
    report = report_of_ranks([1, 2, 0], weights=[5, 2, 3])
    shares = np.array([0.5, 0.2, 0.3])
    n = 100 / 38
    from_mean = np.array([0.4, -0.1, -0.6])
    # Half an observation at 0, and half of one at 1.
    mean = (n * 0.6 + 1 / 2) / (n + 1)
    squares = n**2 * (shares**2 @ from_mean**2)
    squares += n * (0.6 - mean) ** 2
    squares += mean**2 / 2
    squares += (1 - mean) ** 2 / 2
    error = np.sqrt(squares / n / (n + 1))
    half = stats.t.ppf(0.75, n) * error
    assert report.intervals(0.5)["mrr"] == pytest.approx((mean - half, mean + half))


def test_interval_of_a_pooled_metric_with_weights():
    # Of "a", 1 of 2 relevant documents is in the top 1, of "b" 1 of 1, of "c" none; weights 3, 2 and 4 of the queries
    # are 6, 2 and 0 of the pooled mean, (6 * 1/2 + 2 * 1) / 8 = 5/8.
    labels = [1, 1, 0, 1, 0, 0, 0]
    weights = [3, 3, 3, 2, 2, 4, 4]
    name = "recall(average=micro)@1"
    report = evaluate(labels, SCORES, qid=QID, metrics=name, sample_weight=weights)
    assert report.mean[name] == 5 / 8
    expected = mean_interval(moments([1 / 2, 1], [6, 2]), (0, 1), 0.5)
    assert report.intervals(0.5)[name] == pytest.approx(expected)


def test_worst_queries():
    metrics = ["mrr", "recall@2", kendall_tau_distance]
    report = report_of_ranks([2, 1, 4, 0, 3, 2], list("abcdef"), metrics=metrics)
    worst = report.worst()
    assert list(worst) == ["c", "e", "a", "f", "b"]
    assert list(worst.values()) == [1 / 4, 1 / 3, 1 / 2, 1 / 2, 1]
    assert list(report.worst(n=2)) == ["c", "e"]
    by_recall = report.worst(n=3, metric="recall@2")
    assert list(by_recall.items()) == [("c", 0), ("e", 0), ("a", 1)]
    # Documents above the relevant one are inversions; a query without one has none to make, and 0 is its count.
    by_distance = report.worst(n=2, metric="kendall_tau_distance")
    assert list(by_distance.items()) == [("c", 3), ("e", 2)]
    assert len(report_of_ranks([1, 2] * 8).worst()) == 10

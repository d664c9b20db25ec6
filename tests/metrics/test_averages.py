"""Medians and geometric means over queries."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ranks import N_DOCUMENTS, report_of_ranks, rows_of_ranks

from skrank_metrics import compare, get_metric, make_ranking_scorer, mrr_score

rank_and_weight = st.tuples(st.integers(0, 6), st.integers(0, 4))
pairs = st.lists(rank_and_weight, min_size=1, max_size=9)
weighted_ranks = pairs.filter(lambda pairs: any(weight for _, weight in pairs))


def mean_of(ranks, average, weights=None, undefined=0.0):
    """MRR of queries of six documents whose only relevant one is at a rank, or that have none for rank 0."""
    labels, scores, qid = rows_of_ranks(ranks)
    weights = None if weights is None else np.repeat(weights, N_DOCUMENTS)
    options = {"average": average, "replace_undefined_by": undefined}
    return mrr_score(labels, scores, qid=qid, sample_weight=weights, **options)


def test_median_of_values():
    assert mean_of([1, 2, 5], "median") == 1 / 2
    assert mean_of([1, 2, 5, 4], "median") == (1 / 2 + 1 / 4) / 2
    assert mean_of([0, 0, 1], "median") == 0
    assert mean_of([0, 0, 1], "median", undefined=math.nan) == 1
    assert math.isnan(mean_of([0], "median", undefined=math.nan))


@pytest.mark.parametrize("average", ["median", "geometric", "macro"])
@given(
    pairs=weighted_ranks,
    undefined=st.sampled_from([0.0, math.nan]),
    scale=st.sampled_from([1.0, 0.1, 5e-324, 1e-200, 3e307]),
)
def test_whole_weights_count_like_repeated_queries(average, pairs, undefined, scale):
    ranks, weights = np.array(pairs).T
    weighted = mean_of(ranks, average, weights * scale, undefined)
    repeated = mean_of(np.repeat(ranks, weights), average, None, undefined)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


def test_geometric_mean_has_the_floor_of_trec_eval():
    assert mean_of([1, 2, 4], "geometric") == pytest.approx((1 / 8) ** (1 / 3), rel=1e-15)
    assert mean_of([1, 0], "geometric") == pytest.approx(math.sqrt(1e-5), rel=1e-12)


def test_names_reports_and_scorers_take_them():
    median, geometric = "mrr(average=median)", "mrr(average=geometric)"
    report = report_of_ranks([1, 2, 5, 0], metrics=[median, geometric, "mrr"])
    assert report.mean[median] == (1 / 2 + 1 / 5) / 2
    intervals = report.intervals()
    assert np.isnan(intervals[median]).all()
    assert np.isnan(intervals[geometric]).all()
    assert np.isfinite(intervals["mrr"]).all()
    flat = report.to_dict(flat=True)
    assert flat["mrr_average_median"] == (1 / 2 + 1 / 5) / 2
    comparison = compare([report] * 2, median)
    assert "This is no mean over queries, so nothing is tested" in " ".join(str(comparison).split())
    assert make_ranking_scorer("mrr(average=median)@5")


def test_smaller_is_better():
    # Three, no and one inverted pairs.
    rows = [[0, 1, 2], [2, 1, 0], [1, 2, 0]], [[3, 2, 1]] * 3
    distance = get_metric("neg_kendall_tau_distance")
    assert distance(*rows, average="median") == -1
    geometric = (3 * 1e-5 * 1) ** (1 / 3)
    assert distance(*rows, average="geometric") == pytest.approx(-geometric)


@pytest.mark.parametrize("name", ["kendall_tau", "spearman"])
def test_geometric_means_of_negative_values_are_refused(name):
    with pytest.raises(ValueError, match=r"average='geometric' is not defined for "):
        get_metric(name, average="geometric")

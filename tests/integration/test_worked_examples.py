"""Figures that readers of articles on ranking metrics bring along, the arithmetic spelled out."""

import itertools
from math import log2

import pytest

from skrank_metrics import (
    cg_score,
    dcg_score,
    err_score,
    hit_rate_score,
    kendall_tau_distance,
    map_score,
    mrr_score,
    ndcg_score,
    precision_at_k_score,
    rbp_score,
    recall_at_k_score,
)

A, B, IDEAL = [5, 1, 3, 2, 4], [5, 3, 4, 2, 1], [5, 4, 3, 2, 1]
SIX = [3, 2, 3, 0, 1, 2]


def ranked(metric, *labels, **params):
    """Value of a metric for labels that are in ranked order."""
    return metric([list(row) for row in labels], [list(range(len(row), 0, -1)) for row in labels], **params)


def test_1_to_4_gain_of_five_documents():
    assert ranked(cg_score, A) == ranked(cg_score, B) == 5 + 1 + 3 + 2 + 4 == 15
    of_a = 31 / 1 + 1 / log2(3) + 7 / 2 + 3 / log2(5) + 15 / log2(6)
    of_b = 31 / 1 + 7 / log2(3) + 15 / 2 + 3 / log2(5) + 1 / log2(6)
    ideal = 31 / 1 + 15 / log2(3) + 7 / 2 + 3 / log2(5) + 1 / log2(6)
    assert ranked(dcg_score, A, gain="exp2") == pytest.approx(of_a, abs=1e-12)
    assert of_a == pytest.approx(42.225751536309765, abs=1e-12)
    assert ranked(dcg_score, B, gain="exp2") == pytest.approx(of_b, abs=1e-12)
    assert of_b == pytest.approx(44.595390756454925, abs=1e-12)
    assert ranked(dcg_score, IDEAL, gain="exp2") == pytest.approx(ideal, abs=1e-12)
    assert ideal == pytest.approx(45.64282878502658, abs=1e-12)


def test_5_normalised_gain_of_five_documents():
    assert ranked(ndcg_score, A, k=5, gain="exp2") == pytest.approx(42.225751536309765 / 45.64282878502658, abs=1e-12)
    assert ranked(ndcg_score, A, k=5, gain="exp2") == pytest.approx(0.9251, abs=5e-5)
    assert ranked(ndcg_score, B, k=5, gain="exp2") == pytest.approx(0.9771, abs=5e-5)


def test_6_to_10_six_documents():
    linear = 3 + 2 / log2(3) + 3 / 2 + 0 + 1 / log2(6) + 2 / log2(7)
    # One article has 16.047 for the exponential gain: it added 2.585, the discount log2(6), as the fifth term.
    exp2 = 7 + 3 / log2(3) + 7 / 2 + 0 + 1 / log2(6) + 3 / log2(7)
    ideal = 3 + 3 / log2(3) + 2 / 2 + 2 / log2(5) + 1 / log2(6) + 0
    assert ranked(cg_score, SIX, k=6) == 11
    assert ranked(dcg_score, SIX, k=6) == pytest.approx(linear, abs=1e-12)
    assert linear == pytest.approx(6.861, abs=5e-4)
    assert ranked(dcg_score, SIX, k=6, gain="exp2") == pytest.approx(exp2, abs=1e-12)
    assert exp2 == pytest.approx(13.848, abs=5e-4)
    assert ranked(dcg_score, sorted(SIX, reverse=True), k=6) == pytest.approx(ideal, abs=1e-12)
    assert ideal == pytest.approx(7.141, abs=5e-4)
    assert ranked(ndcg_score, SIX, k=6) == pytest.approx(linear / ideal, abs=1e-12)
    assert linear / ideal == pytest.approx(0.961, abs=5e-4)


def test_11_ideal_with_judged_documents_that_were_not_retrieved():
    ideal = 3 + 3 / log2(3) + 3 / 2 + 2 / log2(5) + 2 / log2(6) + 2 / log2(7)
    assert ranked(dcg_score, [3, 3, 3, 2, 2, 2, 1, 0], k=6) == pytest.approx(ideal, abs=1e-12)
    assert ideal == pytest.approx(8.740, abs=5e-4)
    dcg = 3 + 2 / log2(3) + 3 / 2 + 0 + 1 / log2(6) + 2 / log2(7)
    # The two documents take no place in the ranking but one in the ideal order, whatever their scores.
    retrieved = [[True] * 6 + [False] * 2]
    for rest in ([9, 9], [float("nan")] * 2):
        value = ndcg_score([[*SIX, 3, 2]], [[6, 5, 4, 3, 2, 1, *rest]], k=6, retrieved=retrieved)
        assert value == pytest.approx(dcg / ideal, abs=1e-12)
        assert value == pytest.approx(0.785, abs=5e-4)


def test_12_and_13_cutoff_at_three():
    # One article has 6.43 for the ideal, and so 0.90.
    dcg, ideal = 3 + 2 / log2(3) + 3 / 2, 3 + 3 / log2(3) + 2 / 2
    assert ranked(dcg_score, [3, 2, 3, 0, 1], k=3) == pytest.approx(dcg, abs=1e-12)
    assert dcg == pytest.approx(5.76, abs=5e-3)
    assert ideal == pytest.approx(5.893, abs=5e-4)
    assert ranked(ndcg_score, [3, 2, 3, 0, 1], k=3) == pytest.approx(dcg / ideal, abs=1e-12)
    assert dcg / ideal == pytest.approx(0.978, abs=5e-4)


def test_14_to_16_fractional_relevance():
    relevance = dict(zip("ABCDE", [0.5, 0.9, 0.3, 0.6, 0.1], strict=True))
    first, second, ideal = ([relevance[item] for item in order] for order in ("ABCDE", "DAECB", "BDACE"))
    assert ranked(cg_score, first) == pytest.approx(2.4, abs=1e-12)
    assert ranked(cg_score, second) == pytest.approx(2.4, abs=1e-12)
    assert ranked(dcg_score, first) == pytest.approx(1.515, abs=5e-4)
    assert ranked(dcg_score, second) == pytest.approx(1.443, abs=5e-4)
    assert ranked(dcg_score, ideal) == pytest.approx(1.696, abs=5e-4)
    assert ranked(ndcg_score, first) == pytest.approx(ranked(dcg_score, first) / ranked(dcg_score, ideal), abs=1e-12)


def test_17_reciprocal_rank():
    assert ranked(mrr_score, [0, 1, 0], [1, 0, 0], [0, 0, 0]) == pytest.approx((1 / 2 + 1 + 0) / 3, abs=1e-12)


def test_18_precision_and_recall():
    seven = [1, 0, 1, 1, 0, 1, 0]
    assert ranked(precision_at_k_score, seven, k=5) == pytest.approx(3 / 5, abs=1e-12)
    assert ranked(recall_at_k_score, seven, k=5) == pytest.approx(3 / 4, abs=1e-12)


@pytest.mark.parametrize(("normalizer", "divisor"), [("hits", 3), ("relevant", 4), ("min", min(5, 4))])
def test_19_average_precision_and_its_divisors(normalizer, divisor):
    value = ranked(map_score, [1, 0, 1, 1, 0, 1, 0], k=5, normalizer=normalizer)
    assert value == pytest.approx((1 + 2 / 3 + 3 / 4) / divisor, abs=1e-12)


def test_20_average_precision():
    assert ranked(map_score, [0, 1, 0, 1, 1], k=5) == pytest.approx((1 / 2 + 2 / 4 + 3 / 5) / 3, abs=1e-12)


def test_21_products_bought_and_recommended():
    three_recommended = [1, 0, 0, 1, 1, 1]  # of the four products bought, one was recommended
    assert ranked(recall_at_k_score, three_recommended, k=3) == pytest.approx(1 / 4, abs=1e-12)
    assert ranked(precision_at_k_score, three_recommended, k=3) == pytest.approx(1 / 3, abs=1e-12)


def test_22_hit_rate_of_users_and_of_items():
    users = [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]
    assert ranked(hit_rate_score, *users, k=3) == pytest.approx(2 / 3, abs=1e-12)
    assert ranked(precision_at_k_score, *users, k=3, average="micro") == pytest.approx((2 + 0 + 1) / 9, abs=1e-12)


def test_23_rank_biased_precision():
    assert ranked(rbp_score, [1, 0, 1], p=0.5) == pytest.approx((1 - 0.5) * (1 + 0.5**2), abs=1e-12)
    graded = (1 - 0.8) * (0.5 + 0.8 * 0.9 + 0.8**2 * 0.3)
    assert ranked(rbp_score, [0.5, 0.9, 0.3], gain="linear") == pytest.approx(graded, abs=1e-12)


def test_24_expected_reciprocal_rank():
    first, second, third = 15 / 16, 3 / 16, 7 / 16
    p = 0.9
    expected = first + p * (1 - first) * second / 2 + p**2 * (1 - first) * (1 - second) * third / 3
    assert ranked(err_score, [4, 2, 3], p=p) == pytest.approx(expected, abs=1e-12)
    values = [ranked(err_score, order) for order in itertools.permutations([4, 3, 2, 1, 0])]
    assert max(values) == pytest.approx(ranked(err_score, [4, 3, 2, 1, 0]), abs=1e-12)
    assert min(values) == pytest.approx(ranked(err_score, [0, 1, 2, 3, 4]), abs=1e-12)


def test_25_kendall_tau_distance():
    assert ranked(kendall_tau_distance, [0, 2, 1]) == 2  # 0 above 2 and 0 above 1
    assert ranked(kendall_tau_distance, [2, 1, 0]) == 0
    assert ranked(kendall_tau_distance, [0, 1, 2, 2]) == 5  # of six pairs, one has equal labels


def test_precision_has_no_direction_in_k_and_recall_grows():
    labels = [0, 1, 0, 1, 1]
    assert [ranked(precision_at_k_score, labels, k=k) for k in (1, 2, 3)] == pytest.approx([0, 1 / 2, 1 / 3])
    recalls = [ranked(recall_at_k_score, labels, k=k) for k in range(1, 6)]
    assert recalls == sorted(recalls)


def test_average_precision_sees_what_precision_at_10_cannot():
    early, late = [1, 1] + [0] * 8, [0] * 8 + [1, 1]
    assert ranked(precision_at_k_score, early, k=10) == ranked(precision_at_k_score, late, k=10) == 2 / 10
    assert ranked(map_score, early) == pytest.approx((1 / 1 + 2 / 2) / 2, abs=1e-12)
    assert ranked(map_score, late) == pytest.approx((1 / 9 + 2 / 10) / 2, abs=1e-12)

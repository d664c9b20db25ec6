"""What each rank adds to a metric: by hand, and as a sum that is the value."""

import numpy as np
import pytest

from skrank_metrics import get_metric
from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.reports._contributions import adds_up, contributions, ideal_contributions

NO_SUMS = {"neg_kendall_tau_distance", "neg_fall_out", "kendall_tau", "pairwise_accuracy", "auc", "spearman"}
SUMS = sorted(set(REGISTRY) - NO_SUMS)
LABELS = np.array([0.5, 0, 1, 0, 0.25, 0, 0, 1, 0, 0, 0, 0.5, 0.5, 1])
SCORES = np.array([3, 3, 1, 1, 1, 0, 2, 2, 1, 5, 4, 4, 4, 4.0])
QID = np.repeat([0, 1, 2], [6, 3, 5])
RETRIEVED = np.array([True, True, False, True, True, True] + [True] * 3 + [True, False, True, True, True])
JUDGED = np.array([True, False, True, True, True, True] + [True] * 8)


def test_every_metric_is_a_sum_or_known_to_be_none():
    assert {name for name in REGISTRY if not adds_up(get_metric(name))} == NO_SUMS
    assert not adds_up(get_metric("map(normalizer=hits)"))


def lists_of(**masks):
    return query_lists(LABELS, SCORES, qid=QID, **masks)


@pytest.mark.parametrize("ties", ["average", "best", "worst", "stable"])
@pytest.mark.parametrize("masks", [{}, {"retrieved": RETRIEVED}, {"judged": JUDGED}], ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_ranks_add_up_to_the_value_and_none_takes_away(name, masks, ties):
    cutoff = "@4" if REGISTRY[name].record.has_cutoff else ""
    for metric in (get_metric(name + cutoff, ties=ties), get_metric(name, ties=ties)):
        found = contributions(lists_of(**masks), metric, 3)
        value = metric.replace(average=None, replace_undefined_by=np.nan)(LABELS, SCORES, qid=QID, **masks)
        np.testing.assert_allclose(found.values, value, atol=1e-12)
        assert (np.nan_to_num(found.added) >= 0).all()
        assert (np.nan_to_num(found.rest) >= 0).all()


@pytest.mark.parametrize("name", SUMS)
def test_ideal_is_the_value_of_the_order_by_label(name):
    metric = get_metric(name)
    best = metric.replace(average=None, replace_undefined_by=np.nan)(LABELS, LABELS, qid=QID)
    found = ideal_contributions(lists_of(retrieved=RETRIEVED), metric, 2)
    np.testing.assert_allclose(found.values, best, atol=1e-12)


def test_ideal_of_a_gain_that_falls_is_by_gain():
    metric = get_metric("dcg", gain=[0.0, 2.0, 1.0])
    lists = query_lists([[2, 1, 0]], [[3, 2, 1]])
    np.testing.assert_allclose(ideal_contributions(lists, metric, 3).added, [[2, 1 / np.log2(3), 0]], atol=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dcg", [0, 1 / np.log2(3), 0, 2 / np.log2(5)]),
        ("dcg(gain=exp2, discount=reciprocal)", [0, 1 / 2, 0, 3 / 4]),
        ("ndcg", np.array([0, 1 / np.log2(3), 0, 2 / np.log2(5)]) / (2 + 1 / np.log2(3))),
        ("mrr", [0, 1 / 2, 0, 0]),
        ("map", [0, 1 / 2 / 2, 0, 2 / 4 / 2]),
        ("rbp(p=0.5)", [0, 0.5 * 0.5, 0, 0.5 * 0.125]),
        ("err(max_grade=2)", [0, 1 / 2 * 1 / 4, 0, 1 / 4 * 3 / 4 * 3 / 4]),
        ("precision@4", [0, 1 / 4, 0, 1 / 4]),
        ("recall", [0, 1 / 2, 0, 1 / 2]),
        ("hit_rate@4", [0, 1, 0, 0]),
    ],
)
def test_by_hand(name, expected):
    # Labels 0, 1, 0, 2 in ranked order.
    found = contributions(query_lists([[0, 1, 0, 2]], [[4, 3, 2, 1]]), get_metric(name), 4)
    np.testing.assert_allclose(found.added[0], expected, atol=1e-15)
    assert found.rest.tolist() == [0]


def test_ranks_below_are_taken_together_up_to_the_cutoff():
    lists = query_lists([[0, 1, 1, 1]], [[4, 3, 2, 1]])
    assert contributions(lists, get_metric("recall@3"), 2).rest.tolist() == [1 / 3]
    assert contributions(lists, get_metric("recall"), 2).rest.tolist() == [2 / 3]


def test_undefined_queries_have_no_contributions():
    found = contributions(query_lists([[0, 0]], [[2, 1]]), get_metric("ndcg"), 2)
    assert np.isnan(found.added).all()
    assert np.isnan(found.values).all()

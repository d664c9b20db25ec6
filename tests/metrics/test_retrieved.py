"""Documents that were judged but not retrieved, where trec_eval has no such metric or another definition."""

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric

LOG3 = np.log2(3)
ONE_OF_FOUR = {
    "y_true": [[1, 1, 1, 1]],
    "y_score": [[4, 3, 2, 1]],
    "retrieved": [[True, False, False, False]],
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("map", 1 / 4),
        ("map@2", 1 / 2),
        ("map(normalizer=hits)", 1),
        ("q_measure", ((1 + 1) / (1 + 1)) / 4),
        ("map(normalizer=k)@2", 1 / 2),
        ("recall(normalizer=min)@2", 1 / 2),
        ("precision(divisor=min)@2", 1 / 2),
        ("ndcg@2", 1 / (1 + 1 / LOG3)),
        ("ndcg(ideal=shown)@2", 1),
        ("ndcg(ideal=all)@2", 1 / (1 + 1 / LOG3 + 1 / 2 + 1 / np.log2(5))),
        ("ndcg(ideal=retrieved)@2", 1),
        ("ndcg(ideal=top, ties=worst)@2", 1),
        ("ndcg(ideal=1)@2", 1 / (1 + 1 / LOG3)),
        ("ndcg(ideal=3)", 1 / 3),
        ("precision", 1),
        ("f1", 2 * 1 / (1 + 4)),
        ("f1@2", 2 * 1 / (2 + 4)),
        ("f1(divisor=retrieved)@2", 2 * 1 / (1 + 4)),
        ("rbp(normalize=True)@2", 1),
        ("bpref", 1 / 4),
    ],
)
def test_they_count_as_relevant_and_not_as_ranked(name, expected):
    assert evaluate(**ONE_OF_FOUR, metrics=name).mean[name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        *("map", "ndcg", "recall", "precision", "precision(divisor=retrieved)", "f1", "mrr"),
        *("map(normalizer=k)", "precision(divisor=min)", "ndcg(ideal=3)"),
        *(f"ndcg(ideal={ideal})" for ideal in ("shown", "all", "retrieved")),
        "ndcg(ideal=top, ties=stable)",
    ],
)
def test_where_nothing_was_retrieved_the_value_is_0_and_defined(name):
    metric = get_metric(name, replace_undefined_by=np.nan)
    assert metric([[1, 0]], [[2, 1]], retrieved=[[False, False]]) == 0


def test_where_nothing_was_retrieved_there_is_nothing_to_pool():
    pooled = get_metric("precision(average=micro)")
    value = pooled([[1, 0], [1, 1]], [[2, 1], [2, 1]], retrieved=[[True, True], [False, False]])
    assert value == pytest.approx(1 / 2, abs=1e-12)

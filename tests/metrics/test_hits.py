"""Hits in the top k against scikit-learn's metrics of the same name for one threshold of the ranking."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, fbeta_score, recall_score

from skrank_metrics import (
    bpref_score,
    evaluate,
    f1_at_k_score,
    fall_out_score,
    get_metric,
    rbp_score,
    recall_at_k_score,
)

rng = np.random.default_rng(0)
LABELS = rng.integers(0, 2, (30, 9))
LABELS[:, 0], LABELS[:, 1] = 0, 1
SCORES = rng.permuted(np.tile(np.arange(9.0), (30, 1)), axis=1)


def shown(k):
    """Whether each document is among the first k."""
    return 9 - k <= SCORES


@pytest.mark.parametrize("k", [1, 4, 9])
def test_fall_out_is_the_false_positive_rate(k):
    for labels, scores, top in zip(LABELS, SCORES, shown(k), strict=True):
        (true_negative, false_positive), _ = confusion_matrix(labels, top)
        expected = false_positive / (false_positive + true_negative)
        assert fall_out_score([labels], [scores], k=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.option("metrics.*.beta")
@pytest.mark.parametrize("beta", [0, 0.5, 1, 3])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_f_beta_is_that_of_scikit_learn(beta, k):
    for labels, scores, top in zip(LABELS, SCORES, shown(k), strict=True):
        expected = fbeta_score(labels, top, beta=beta)
        assert f1_at_k_score([labels], [scores], k=k, beta=beta) == pytest.approx(expected, abs=1e-12)


def test_capped_recall_gives_perfect_rankings_1():
    for k in (1, 3, 9):
        assert recall_at_k_score(LABELS, LABELS, k=k, normalizer="min") == 1
    labels, scores = [1, 1, 0, 1], [4, 3, 2, 1]
    assert recall_at_k_score([labels], [scores], k=1, normalizer="min") == 1 / min(1, 3)
    assert recall_at_k_score([labels], [scores], k=3, normalizer="min") == 2 / min(3, 3)
    assert recall_at_k_score([labels], [scores], k=3) == recall_score(labels, [1, 1, 1, 0])


def test_f1_divides_by_what_was_ranked_on_request():
    # Two of two ranked documents are relevant: precision 1 or 2/10, recall 1.
    assert f1_at_k_score([[1, 1]], [[2, 1]], k=10, divisor="retrieved") == 1
    assert f1_at_k_score([[1, 1]], [[2, 1]], k=10) == pytest.approx(2 * 0.2 * 1 / (0.2 + 1))


def test_normalized_rbp_is_a_weighted_mean_of_gains():
    assert rbp_score([[1, 1, 1]], [[3, 2, 1]], normalize=True) == 1
    assert rbp_score([[1, 0, 1]], [[3, 2, 1]], p=0.5, normalize=True) == (1 + 1 / 4) / (1 + 1 / 2 + 1 / 4)
    assert rbp_score([[1, 0, 1]], [[3, 2, 1]], p=0.5, k=2, normalize=True) == 1 / (1 + 1 / 2)
    assert rbp_score([[1, 0]], [[2, 1]], p=0.5, k=9, normalize=True) == 1 / (1 + 1 / 2)
    long = np.ones((1, 10_000))
    assert rbp_score(long, -np.arange(10_000.0)[None], p=1 - 1e-9, normalize=True) == pytest.approx(1, abs=1e-12)


def test_bpref_at_k_counts_relevant_documents_behind_k_as_0():
    rows = [[0, 1, 1, 0]], [[4, 3, 2, 1]]
    assert bpref_score(*rows) == ((1 - 1 / 2) + (1 - 1 / 2)) / 2
    assert bpref_score(*rows, k=2) == (1 - 1 / 2) / 2
    assert bpref_score(*rows, k=1) == 0
    # One of four tied documents is shown: with 1/2 it is relevant, and nothing is above it.
    assert bpref_score([[0, 1, 1, 0]], [[1, 1, 1, 1]], k=1) == (1 / 2 * 1) / 2


def test_smaller_fall_out_is_better():
    rows = {"y_true": [[1, 0], [0, 1]], "y_score": [[2, 1], [2, 1]]}
    assert get_metric("fall_out@1")(**rows, average=None).tolist() == [0, 1]
    assert get_metric("neg_fall_out@1")(**rows, average=None).tolist() == [0, -1]
    assert evaluate(**rows, metrics=["fall_out@1", "neg_fall_out@1"]).mean == {
        "fall_out@1": 0.5,
        "neg_fall_out@1": -0.5,
    }
    # Without documents that are not relevant there is nothing to show wrongly.
    assert np.isnan(fall_out_score([[1, 1]], [[2, 1]], replace_undefined_by=np.nan))

"""Hits in the top k against scikit-learn's metrics of the same name for one threshold of the ranking."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, fbeta_score

from skrank_metrics import f1_at_k_score, fall_out_score, rbp_score


@pytest.mark.parametrize("k", [1, 4, 9])
def test_the_first_k_are_those_that_scikit_learn_takes_for_positive(k, rng):
    for _ in range(12):
        one_of_each = np.r_[0, 1, rng.integers(0, 2, 7)]
        labels = rng.permutation(one_of_each)
        scores = rng.permutation(9)
        positive = scores >= 9 - k
        (true_negative, false_positive), _ = confusion_matrix(labels, positive)
        expected = false_positive / (false_positive + true_negative)
        assert fall_out_score([labels], [scores], k=k) == pytest.approx(expected, abs=1e-12)
        for beta in (0, 0.5, 1, 3):
            expected = fbeta_score(labels, positive, beta=beta)
            value = f1_at_k_score([labels], [scores], k=k, beta=beta)
            assert value == pytest.approx(expected, abs=1e-12)


def test_normalized_rbp_of_a_persistence_near_1():
    labels = np.ones((1, 10_000))
    scores = -np.arange(10_000.0)[None]
    value = rbp_score(labels, scores, p=1 - 1e-9, normalize=True)
    assert value == pytest.approx(1, abs=1e-12)

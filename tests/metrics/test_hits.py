"""Hits in the top k against scikit-learn's metrics of the same name for one threshold of the ranking."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, fbeta_score

from skrank_metrics import evaluate, f1_at_k_score, fall_out_score, get_metric, rbp_score

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


def test_normalized_rbp_of_a_persistence_near_1():
    long = np.ones((1, 10_000))
    assert rbp_score(long, -np.arange(10_000.0)[None], p=1 - 1e-9, normalize=True) == pytest.approx(1, abs=1e-12)

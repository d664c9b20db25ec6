from math import log2

import mpmath
import numpy as np
import pytest

from skrank_metrics import dcg_score, get_metric, ndcg_score, q_measure_score

RANKED = {"y_true": [[2, 0, 3]], "y_score": [[3, 2, 1]]}


def dcg(gains):
    return gains[0] / 1 + gains[1] / log2(3) + gains[2] / 2


@pytest.mark.parametrize(
    ("gain", "gains"),
    [
        ("linear", (2, 0, 3)),
        ("exp2", (3, 0, 7)),
        (np.square, (4, 0, 9)),
        (lambda labels: np.where(labels > 2, 5, 1), (1, 1, 5)),
        ([0.5, 1, 4, 10], (4, 0.5, 10)),
        ([1, 2, 4, 10], (4, 1, 10)),
        (np.array([0, 0, 1, 1], dtype=np.int8), (1, 0, 1)),
    ],
)
def test_gain_of_a_label(gain, gains):
    expected, ideal = dcg(gains), dcg(sorted(gains, reverse=True))
    assert dcg_score(**RANKED, gain=gain) == pytest.approx(expected, abs=1e-12)
    assert ndcg_score(**RANKED, gain=gain) == pytest.approx(expected / ideal, abs=1e-12)


@pytest.mark.parametrize(
    ("discount", "discounts"),
    [
        ("log2", (1, log2(3), 2)),
        ("reciprocal", (1, 2, 3)),
        (np.sqrt, (1, 2**0.5, 3**0.5)),
        (np.ones_like, (1, 1, 1)),
    ],
)
def test_discount_of_a_rank(discount, discounts):
    expected = 2 / discounts[0] + 0 / discounts[1] + 3 / discounts[2]
    assert dcg_score(**RANKED, discount=discount) == pytest.approx(expected, abs=1e-12)


def test_gain_that_falls_is_ranked_by_gain_in_the_ideal():
    scores = [[3, 2, 1]]
    # Grade 3 is worth less than grade 2, so that the order 2, 3, 0 is the best there is.
    gain = [0, 1, 5, 2]
    best = ndcg_score([[2, 3, 0]], scores, gain=gain)
    assert best == pytest.approx(1, abs=1e-12)
    assert ndcg_score([[3, 2, 0]], scores, gain=gain) < 0.9
    # Grade 2 is worth less than grade 1, but grade 3 is worth most: 3, 1, 2.
    value = ndcg_score([[3, 2, 1]], scores, gain=[0, 5, 1, 7])
    expected = dcg([7, 1, 5]) / dcg([7, 5, 1])
    assert value == pytest.approx(expected, abs=1e-12)


def test_exponential_gain_of_small_fractions_keeps_its_digits():
    for label in (1e-3, 1e-9, 1e-17, 1e-300):
        exponent = mpmath.mpf(label) * mpmath.log(2)
        gain = float(mpmath.expm1(exponent))
        dcg = dcg_score([[label]], [[1]], gain="exp2")
        err = get_metric("err")([[label]], [[1]])
        ndcg = ndcg_score([[0, label]], [[2, 1]], gain="exp2")
        assert dcg == pytest.approx(gain, rel=1e-15)
        assert err == pytest.approx(gain / 2**4, rel=1e-15)
        assert ndcg == pytest.approx(1 / log2(3), rel=1e-15)


def test_gain_of_no_document_is_not_counted_as_one():
    # Padding has no gain even where grade 0 has: two queries of different length in one block.
    labels = [0, 0, 0, 0, 0]
    scores = [1, 2, 3, 1, 2]
    qid = [1, 1, 1, 2, 2]
    values = dcg_score(labels, scores, qid=qid, gain=[1.0], average=None)
    of_two = 1 + 1 / log2(3)
    assert values == pytest.approx([of_two + 1 / 2, of_two], abs=1e-12)


def test_gain_of_grade_0_counts_in_the_ideal_of_the_q_measure():
    # At rank 2 there are 1 hit, a gain of 1 + 5, and an ideal gain of 5 + 1.
    assert q_measure_score([[0, 2]], [[2, 1]], gain=[1, 3, 5]) == (1 + 6) / (2 + 6)


def test_fractional_and_large_labels_have_an_ideal_too():
    for labels in ([0.5, 0.25, 7.5], [30, 0, 2], [255, 256, 1000]):
        expected = dcg(labels) / dcg(sorted(labels, reverse=True))
        assert ndcg_score([labels], [[3, 2, 1]]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"gain": [0, 1, 2]},
            "gain must have an entry for each label; got gains of the grades .* the label 3",
        ),
        ({"gain": lambda labels: labels[..., :1]}, "gain must return one number for each entry"),
        (
            {"gain": lambda labels: -labels},
            "gain must be finite and >= 0.*gives -2.0 for the label 2",
        ),
        ({"gain": lambda labels: labels / 0 if labels.any() else labels}, "gain must be finite"),
        (
            {"discount": lambda ranks: 1 / ranks},
            "discount must be finite, > 0 and never fall with the rank",
        ),
        ({"discount": lambda ranks: ranks - 1}, "discount must be finite, > 0"),
        ({"discount": lambda ranks: 1.0}, "discount must return one number for each entry"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_functions_that_are_no_gain_or_discount(params, message):
    for metric in ("dcg", "ndcg"):
        with pytest.raises(ValueError, match=message):
            get_metric(metric, **params)(**RANKED)


def test_a_gain_function_cannot_change_the_labels():
    def in_place(labels):
        labels *= 2
        return labels

    assert dcg_score(**RANKED, gain=in_place) == pytest.approx(4 / 1 + 0 + 6 / 2)
    assert ndcg_score(**RANKED, gain=in_place) == pytest.approx(ndcg_score(**RANKED))


def test_a_gain_function_sees_the_labels_that_there_are_and_no_others():
    def known(labels):
        return np.array([{1.0: 1, 2.0: 3, 3.0: 7}[label] for label in labels])

    y_true = [1, 2, 3, 1, 2]
    y_score = [5, 4, 3, 2, 1]
    qid = ["a", "a", "a", "b", "b"]
    for metric in (dcg_score, ndcg_score):
        own = metric(y_true, y_score, qid=qid, gain=known)
        exp2 = metric(y_true, y_score, qid=qid, gain="exp2")
        assert own == pytest.approx(exp2)

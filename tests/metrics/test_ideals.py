"""The documents of the ideal order of NDCG, and gains by grade."""

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric, ndcg_score

# Three of five documents are returned, in the order of their grades 1, 0, 2. The others have the grades 3 and 1.
RETURNED = {
    "y_true": [[1, 0, 2, 3, 1]],
    "y_score": [[5, 4, 3, 0, 0]],
    "retrieved": [[True, True, True, False, False]],
}
LOG3 = np.log2(3)
DCG = 1 + 2 / 2
SECOND = 1  # DCG of the first two


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ndcg", DCG / (3 + 2 / LOG3 + 1 / 2 + 1 / np.log2(5))),
        ("ndcg@2", SECOND / (3 + 2 / LOG3)),
        ("ndcg(ideal=shown)", DCG / (3 + 2 / LOG3 + 1 / 2)),
        ("ndcg(ideal=shown)@4", DCG / (3 + 2 / LOG3 + 1 / 2)),
        ("ndcg(ideal=all)@2", SECOND / (3 + 2 / LOG3 + 1 / 2 + 1 / np.log2(5))),
        ("ndcg(ideal=retrieved)", DCG / (2 + 1 / LOG3)),
        ("ndcg(ideal=retrieved)@2", SECOND / (2 + 1 / LOG3)),
        ("ndcg(ideal=top, ties=stable)", DCG / (2 + 1 / LOG3)),
        ("ndcg(ideal=top, ties=worst)@2", SECOND / 1),
        ("ndcg(ideal=3)@2", SECOND / (3 + 3 / LOG3)),
        ("ndcg(ideal=4)", DCG / (4 + 4 / LOG3 + 4 / 2)),
        ("ndcg(ideal=3, gain=exp2)@2", 1 / (7 + 7 / LOG3)),
    ],
)
@pytest.mark.option("ndcg_score.ideal")
def test_ideals(name, expected):
    assert evaluate(**RETURNED, metrics=name).mean[name] == pytest.approx(expected, rel=1e-12)


def test_a_list_without_hits_has_the_value_0_whatever_its_ideal():
    rows = {"y_true": [[0, 1]], "y_score": [[1, 0]], "retrieved": [[True, False]]}
    for ideal in ("judged", "shown", "all", "retrieved", "top", 1):
        value = ndcg_score(**rows, ideal=ideal, ties="stable", replace_undefined_by=np.nan)
        assert value == 0


def test_no_gain_may_exceed_that_of_the_ideal_grade():
    with pytest.raises(ValueError, match="got ideal=2 with the gain 2, and gains up to 3"):
        ndcg_score(**RETURNED, ideal=2)
    for ideal, message in (
        ("best", "ideal must be one of"),
        (0, r"ideal must be .* got 0"),
        (True, "ideal must be"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            ndcg_score(**RETURNED, ideal=ideal)


@pytest.mark.parametrize("gain", ["binary", [0, 1, 1, 1], {1: 1, 2: 1, 3: 1}, np.sign])
def test_labels_above_the_ideal_grade_are_fine_if_they_gain_no_more(gain):
    # Gains 1, 0 and 1 at the ranks 1 to 3, of at most 1 each.
    expected = (1 + 1 / 2) / (1 + 1 / LOG3 + 1 / 2)
    assert ndcg_score(**RETURNED, gain=gain, ideal=1) == pytest.approx(expected, rel=1e-12)


def test_a_lower_label_may_gain_more_than_the_ideal_grade():
    with pytest.raises(ValueError, match="got ideal=3 with the gain 1, and gains up to 5"):
        ndcg_score(**RETURNED, gain=[0, 5, 2, 1], ideal=3)


@pytest.mark.parametrize("name", ["ndcg(ideal=top)@3", "ndcg(gain=exp2, ideal=top)"])
def test_the_first_k_are_open_if_ties_are_averaged(name):
    with pytest.raises(ValueError, match=r"ideal='top' requires ties='stable', 'best' or 'worst'"):
        get_metric(name)
    with pytest.raises(ValueError, match="ideal='top' requires"):
        get_metric("ndcg@3", convention="quepid", ties="average")


@pytest.mark.parametrize(
    ("ties", "shown"), [("best", [3, 2]), ("worst", [3, 0]), ("stable", [3, 1])]
)
def test_the_first_k_of_settled_ties(ties, shown):
    # Three documents tie at rank 2, of which one is shown.
    first, second = shown
    value = ndcg_score([[1, 0, 2, 3]], [[1, 1, 1, 9]], ideal="top", ties=ties, k=2)
    expected = (first + second / LOG3) / (3 + second / LOG3)
    assert value == pytest.approx(expected, rel=1e-12)
    of_clicks = ndcg_score([[0.5, 0.25, 1.5, 2]], [[1, 1, 9, 1]], ideal="top", ties=ties, k=2)
    # 0.5, 0.25 and 2 tie below 1.5.
    shown = {"best": 2, "worst": 0.25, "stable": 0.5}[ties]
    best, other = max(1.5, shown), min(1.5, shown)
    assert of_clicks == pytest.approx((1.5 + shown / LOG3) / (best + other / LOG3), rel=1e-12)


@pytest.mark.parametrize("name", ["dcg", "ndcg", "q_measure"])
def test_gains_as_a_dict(name):
    rows = [[0, 1, 3, 1]], [[4, 3, 2, 1]]
    listed = get_metric(name, gain=[0, 2, 9, 5])
    without_zero = get_metric(name, gain={1: 2, 3: 5})
    with_zero = get_metric(name, gain={0: 0, 1: 2, 3: 5})
    assert without_zero(*rows) == with_zero(*rows) == listed(*rows)
    incomplete = get_metric(name, gain={1: 2})
    with pytest.raises(ValueError, match=r"got gains of the grades .* and the label 3"):
        incomplete(*rows)


@pytest.mark.parametrize("gain", [{"a": 1}, {1: -1}, {-1: 1}, {1: np.inf}, {1: [1, 2]}])
def test_bad_dicts_of_gains(gain):
    with pytest.raises((TypeError, ValueError), match="gain"):
        get_metric("dcg", gain=gain)


def test_fractions_as_grades():
    labels = [[0.5, 0, 1.5]]
    assert get_metric("dcg", gain={0.5: 1, 1.5: 6})(labels, [[3, 2, 1]]) == 1 + 6 / 2

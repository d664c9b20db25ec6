import itertools

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric, ndcg_score, with_qid
from skrank_metrics.conventions import explain_difference
from skrank_metrics.conventions._explain_difference import CAUSES
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import in_convention

D = 1 / np.log2(3)  # discount of the second rank


def effects(difference):
    return {cause.cause: cause.effect for cause in difference.causes}


def test_effects_that_interact_by_hand():
    # Labels 1 and 2 with equal scores: linear gains are 1 and 2 or 1.5 twice, exponential ones 1 and 3 or 2 twice.
    tied = 1.5 * (1 + D) / (2 + D)
    stable = (1 + 2 * D) / (2 + D)
    tied_exp2 = 2 * (1 + D) / (3 + D)
    stable_exp2 = (1 + 3 * D) / (3 + D)
    difference = explain_difference([1, 2], [1, 1], qid=[7, 7])
    assert difference.start == pytest.approx(tied)
    assert difference.end == pytest.approx(stable_exp2)
    of_gain = (tied_exp2 - tied) + (stable_exp2 - stable)
    of_ties = (stable - tied) + (stable_exp2 - tied_exp2)
    assert effects(difference) == {
        "gain": pytest.approx(of_gain / 2),
        "ties": pytest.approx(of_ties / 2),
        "queries without a value": 0,
    }


@pytest.mark.parametrize(
    "pair",
    [
        ("sklearn", "xgboost"),
        ("trec_eval", "catboost"),
        ("lightgbm", "catboost"),
    ],
)
@pytest.mark.parametrize("metric", ["ndcg", "map", "precision"])
def test_effects_are_means_over_all_orders(pair, metric):
    rng = np.random.default_rng(0)
    # In queries of few documents, some changes matter only after others.
    qid = np.repeat(range(10), [1, 2, 3, 3, 4, 4, 5, 5, 40, 60])
    labels = rng.integers(0, 10, len(qid)) / 4
    labels[qid == 3] = 0
    scores = rng.integers(0, 9, len(qid))
    scores[qid < 8] //= 4
    retrieved = rng.random(len(qid)) < 0.9
    rows = {"y_true": labels, "y_score": scores, "qid": qid, "retrieved": retrieved}
    weights = np.arange(1, 11)
    report = evaluate(**rows, sample_weight=weights[qid], metrics=metric)
    difference = explain_difference(report, metric=metric, conventions=pair)
    first, second = (get_metric(metric, convention=convention) for convention in pair)

    def weighted_mean(bound):
        values = bound(**rows, average=None)
        return np.average(values, weights=weights)

    names = [n for n in first.record.parameters if first.get(n) != second.get(n)]
    orders = list(itertools.permutations(names))
    changes = {name: [] for name in names}
    for order in orders:
        bound = first
        for name in order:
            changed = bound.replace(**{name: second.get(name)})
            changes[name].append(weighted_mean(changed) - weighted_mean(bound))
            bound = changed
    expected = {name: np.mean(of_orders) for name, of_orders in changes.items()}
    assert difference.start == first(**rows, sample_weight=weights[qid])
    assert difference.end == second(**rows, sample_weight=weights[qid])
    in_order = [name for name in CAUSES if name in names]
    assert len(difference.causes) == len(names) > 1
    for name, cause in zip(in_order, difference.causes, strict=True):
        assert cause.change == f"{first.get(name)} -> {second.get(name)}"
        assert cause.effect == pytest.approx(expected[name], abs=1e-14)
    total = sum(cause.effect for cause in difference.causes)
    assert total == pytest.approx(difference.end - difference.start, abs=1e-14)


def test_defaults():
    difference = explain_difference(with_qid([1, 2], [7, 7]), [1, 1])
    assert difference.conventions == ("sklearn", "lightgbm")
    assert difference.metric == "ndcg@10"


def test_same_conventions_have_no_gap():
    difference = explain_difference([1, 0], [1, 2], qid=[7, 7], conventions=("sklearn", "sklearn"))
    assert difference.causes == []
    assert str(difference).splitlines()[-1].split() == ["gap", "+0.0000"]


def test_undefined_queries_that_both_leave_out():
    metric = get_metric("ndcg", replace_undefined_by=np.nan)
    difference = explain_difference([1, 2, 0], [2, 1, 0], qid=[1, 1, 2], metric=metric)
    assert "queries without a value" not in effects(difference)
    assert difference.start == ndcg_score([1, 2], [2, 1], qid=[1, 1])


def test_a_mean_is_explained():
    with pytest.raises(ValueError, match="average must not be None where a single value"):
        explain_difference([1, 0], [1, 2], qid=[1, 1], metric=get_metric("ndcg", average=None))


@pytest.mark.parametrize("name", get_metric_names())
def test_every_parameter_that_conventions_set_is_a_cause(name):
    metrics = [in_convention(name, convention) for convention in CONVENTIONS]
    differing = {
        p
        for p in metrics[0].record.parameters
        if len({str(metric.get(p)) for metric in metrics}) > 1
    }
    assert differing <= set(CAUSES)


def test_a_gain_in_an_array_is_the_same_by_both():
    metric = get_metric("ndcg", gain=np.array([0.0, 1.0, 3.0]))
    found = explain_difference([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"], metric=metric)
    expected = explain_difference(
        [1, 2, 0], [2, 1, 0], qid=["a", "a", "b"], metric="ndcg(gain=exp2)"
    )
    assert [(c.cause, c.effect) for c in found.causes] == [
        (c.cause, c.effect) for c in expected.causes
    ]


def test_the_ideal_of_the_first_k_and_ties_change_together():
    # Grades 1, 3 and 0 tie; in row order, the first two are shown.
    rows = [1, 3, 0], [1, 1, 1]
    difference = explain_difference(
        *rows, qid=[0, 0, 0], metric="ndcg(gain=linear)@2", conventions=("sklearn", "quepid")
    )
    mean = (1 + 3) / 3
    start = mean * (1 + D) / (3 + D)
    end = (1 + 3 * D) / (3 + D)
    assert difference.start == pytest.approx(start)
    assert effects(difference) == {"ideal and ties": pytest.approx(end - start)}
    (cause,) = difference.causes
    assert cause.change == "judged -> top, average -> stable"

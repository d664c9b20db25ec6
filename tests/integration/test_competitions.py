"""The numbers of competitions, as docs/kaggle.md names them, against loops by their definitions."""

import math

import numpy as np
import pytest

from skrank_metrics import evaluate, evaluate_run


def problem(seed):
    """Returned lists of 25 of 60 items, and one to 30 right ones, for 40 users; some have no list."""
    rng = np.random.default_rng(seed)
    truth, lists = {}, {}
    for user in range(40):
        truth[user] = set(rng.choice(60, rng.integers(1, 31), replace=False).tolist())
        if user % 9:
            lists[user] = rng.choice(60, 25, replace=False).tolist()
    return truth, lists


def mean_of(truth, lists, metric):
    return evaluate_run(truth, lists, metric).mean[metric]


@pytest.mark.parametrize("seed", range(3))
def test_mean_average_precision_of_a_competition(seed):
    truth, lists = problem(seed)
    total = 0.0
    for user, right in truth.items():
        hits = 0
        for rank, item in enumerate(lists.get(user, [])[:12], start=1):
            if item in right:
                hits += 1
                total += hits / rank / min(len(right), 12)
    assert mean_of(truth, lists, "map@12") == pytest.approx(total / len(truth), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_recall_pooled_over_sessions(seed):
    truth, lists = problem(seed)
    hits = sum(len(right & set(lists.get(user, [])[:20])) for user, right in truth.items())
    possible = sum(min(len(right), 20) for right in truth.values())
    found = mean_of(truth, lists, "recall(normalizer=min, average=micro)@20")
    assert found == pytest.approx(hits / possible, abs=1e-12)


def test_ndcg_of_hotel_searches():
    rng = np.random.default_rng(0)
    search = np.repeat(np.arange(30), 45)
    labels = rng.choice([0, 0, 0, 1, 5], len(search))
    scores = rng.normal(size=len(search))

    def dcg(ranked):
        return sum((2**label - 1) / math.log2(i + 2) for i, label in enumerate(ranked[:38]))

    values = []
    for one in range(30):
        own = labels[search == one].tolist()
        order = np.argsort(-scores[search == one])
        values.append(dcg([own[place] for place in order]) / dcg(sorted(own, reverse=True)))
    found = evaluate(labels, scores, qid=search, metrics="ndcg(gain=exp2)@38").mean
    assert found["ndcg(gain=exp2)@38"] == pytest.approx(np.mean(values), abs=1e-12)

"""Scores and predictions of rankers at random: what they are, and when queries of the fit are warned of."""

import pickle
import warnings
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import make_pipeline

from skrank_metrics import QueryRanker, make_ranking_scorer, ndcg_score, ranking_scorers, with_qid


def chance(random, share=0.5):
    return bool(random.random() < share)


class Cached(RegressorMixin, BaseEstimator):
    """Returns the very same array for the same rows."""

    def fit(self, X, y):
        self.kept_ = {}
        return self

    def predict(self, X):
        scores = np.asarray(X)[:, 0].astype(float)
        return self.kept_.setdefault(len(X), scores)


class Odds(ClassifierMixin, BaseEstimator):
    """Probabilities of the labels that follow from the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        first_column = np.asarray(X)[:, :1]
        numbers = np.arange(1, 1 + len(self.classes_))
        odds = 1 + (first_column * numbers) % 3
        return odds / odds.sum(axis=1, keepdims=True)


class Decides(Odds):
    def decision_function(self, X):
        if len(self.classes_) == 2:
            return np.sin(np.asarray(X)[:, 0])
        return self.predict_proba(X)


# The same queries in other types.
TYPES = {
    "whole numbers": [np.asarray, lambda ids: ids.astype(float), lambda ids: ids.astype(np.uint8)],
    "text": [
        lambda ids: np.char.mod("q%d", ids),
        lambda ids: [f"q{one}" for one in ids],
        lambda ids: pd.Categorical([f"q{one}" for one in ids]),
    ],
    "pairs": [lambda ids: pd.Series([(int(one), "a") for one in ids]).to_numpy()],
    "days": [
        lambda ids: ids.astype("datetime64[D]"),
        lambda ids: pd.to_datetime(ids.astype("datetime64[D]")),
    ],
    "UUIDs": [lambda ids: pd.Series([UUID(int=int(one)) for one in ids]).to_numpy()],
}


def sizes(queries):
    numbers, counts = np.unique(queries, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_queries_of_the_fit_are_warned_of(seed):
    random = np.random.default_rng([seed, 1])
    query = random.permutation(np.repeat(np.arange(8), random.integers(1, 4, 8)))
    n = len(query)
    X = random.integers(0, 9, (n, 2))
    y = random.integers(0, 3, n)
    kinds = TYPES[str(random.choice(list(TYPES)))]
    of_fit, of_score = (kinds[random.integers(len(kinds))] for _ in range(2))
    train = np.flatnonzero(np.isin(query, random.permutation(8)[:4]))
    ways = [
        train,  # the very rows
        train[1:],
        np.flatnonzero(~np.isin(query, query[train])),
        np.arange(n),
        random.permutation(n)[: n // 2],
    ]
    test = random.permutation(ways[random.integers(len(ways))])
    model = QueryRanker(Cached())
    if chance(random):
        model = make_pipeline("passthrough", model)
    model.fit(X[train], with_qid(y[train], of_fit(query[train])))
    if chance(random, 0.3):
        model = pickle.loads(pickle.dumps(model))
    in_fit, scored = sizes(query[train]), sizes(query[test])
    shared = in_fit.keys() & scored.keys()
    warns = bool(shared) and in_fit != scored

    def scores():
        labels = with_qid(y[test], of_score(query[test]))
        scorers = ranking_scorers("ndcg@10", "map")
        yield scorers["ndcg@10"](model, X[test], labels)
        # Predictions are remembered one by one.
        yield make_ranking_scorer("ndcg@10", retrieved="scored")(model, X[test], labels)
        if isinstance(model, QueryRanker):
            yield model.score(X[test], labels)
            yield model.score(X[test], y[test], qid=of_score(query[test]))

    expected = ndcg_score(y[test], X[test][:, 0], qid=query[test], k=10)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = list(scores())
    assert found == pytest.approx([expected] * len(found))
    messages = [str(one.message) for one in caught]
    said = f"{len(shared)} of the {len(scored)} scored queries were also in the training set"
    assert [message.startswith(said) for message in messages] == [True] * len(found) * warns


@pytest.mark.parametrize("kind", [Odds, Decides, Cached])
@pytest.mark.parametrize("seed", range(8))
def test_predictions_are_expected_labels(kind, seed):
    random = np.random.default_rng([seed, 2])
    kinds_of_labels = [[0, 1], [0.0, 2.5, 7.0], [False, True], [3], [1, 2, 4, 8]]
    labels = kinds_of_labels[seed % 5]
    X = random.integers(0, 50, (30, 2))
    y = np.array(labels)[random.integers(0, len(labels), 30)]
    y[: len(labels)] = labels
    qid = np.repeat(np.arange(6), 5)
    ranker = QueryRanker(kind()).fit(X, y, qid=qid)
    rows = X[random.permutation(30)[:7]]
    found = ranker.predict(rows)
    expected = []
    for row in rows:
        if kind is Cached:
            expected.append(float(row[0]))
        elif kind is Decides and len(labels) == 2:
            expected.append(np.sin(row[0]))
        else:
            numbers = range(1, 1 + len(labels))
            odds = [1 + (row[0] * number) % 3 for number in numbers]
            pairs = zip(labels, odds, strict=True)
            total = sum(float(label) * share for label, share in pairs)
            expected.append(total / sum(odds))
    assert found.dtype == np.float64
    assert found == pytest.approx(expected)
    found[:] = 0
    again = ranker.predict(rows)
    assert again == pytest.approx(expected), "each call returns an array of its own"
    weights = random.choice([0.5, 2.0], 6)[qid]
    score = ranker.score(X, y, groups=qid, sample_weight=weights)
    scores = ranker.predict(X)
    assert score == pytest.approx(ndcg_score(y, scores, qid=qid, k=10, sample_weight=weights))

"""The demo's reports are those of plain loops over candidates and folds."""

import joblib
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import Bunch

from skrank_metrics import QueryKFold, _demo, compare, evaluate
from skrank_metrics.datasets import load_digits_retrieval

MODELS = {
    "Ridge": ("sklearn.linear_model", {"fit_intercept": False}, {"alpha": [1e7, 1e-3]}),
    "NoSuchRanker": ("no_such_package", {}, {"depth": [1]}),
    "DecisionTreeRegressor": ("sklearn.tree", {"random_state": 0}, {"max_depth": [1, 5]}),
}
CANDIDATES = {
    "Ridge": [Ridge(alpha=alpha, fit_intercept=False) for alpha in (1e7, 1e-3)],
    "DecisionTreeRegressor": [
        DecisionTreeRegressor(max_depth=depth, random_state=0) for depth in (1, 5)
    ],
}


def few_digits():
    data = load_digits_retrieval()
    rows = data.qid < 40
    kept = {name: data[name][rows] for name in ("data", "target", "qid")}
    return Bunch(**(data | kept))


def out_of_fold(model, data):
    """Scores of each row by a model that was fitted without its fold, and the mean over folds of NDCG@10."""
    scores = np.full(len(data.target), np.nan)
    values = []
    for train, test in QueryKFold(5).split(data.data, qid=data.qid):
        model.fit(data.data[train], data.target[train])
        scores[test] = model.predict(data.data[test])
        of_fold = evaluate(data.target[test], scores[test], qid=data.qid[test], metrics="ndcg@10")
        values.append(of_fold.mean["ndcg@10"])
    return scores, np.mean(values)


@pytest.mark.slow
def test_models_are_tuned_and_compared_out_of_fold(monkeypatch, capsys):
    data = few_digits()
    monkeypatch.setattr(_demo, "load_digits_retrieval", few_digits)
    monkeypatch.setattr(_demo, "MODELS", MODELS)
    with joblib.parallel_config("threading"):
        board = _demo.tune_and_compare()
    metrics = ["ndcg@10", "map", "mrr"]
    assert list(board.metrics) == metrics
    assert set(board.reports) == {"nearest pixels", *CANDIDATES}
    for name, candidates in CANDIDATES.items():
        found = [out_of_fold(model, data) for model in candidates]
        scores, _ = max(found, key=lambda one: one[1])
        expected = evaluate(data.target, scores, qid=data.qid, metrics=metrics)
        report = board.reports[name]
        for metric in metrics:
            np.testing.assert_allclose(report.per_query[metric], expected.per_query[metric])
    assert board.verdict == compare(board.reports, metrics).verdict
    printed = capsys.readouterr().out
    lines = printed.splitlines()[-3:]
    assert lines == [
        "Ridge ... done",
        "NoSuchRanker ... left out, since no_such_package is not installed",
        "DecisionTreeRegressor ... done",
    ]

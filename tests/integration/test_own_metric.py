"""A metric written in a notebook, from the search to the picture."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from support.consumers import problem

import skrank_metrics as package
from skrank_metrics import QueryKFold, QueryRanker, get_metric, make_metric, with_qid
from skrank_metrics.displays import MetricAtKDisplay

X, Y, QID = problem()
# The function as a notebook has it: in no module that another process can import.
NOTEBOOK = {"np": np, "__name__": "__main__"}
SOURCE = """
def discounted_share(labels, k=None, base=2.0):
    top = labels[:k]
    weights = base ** -np.arange(len(top))
    return float(weights @ (top > 0)) / (labels > 0).sum() if labels.any() else np.nan
"""
exec(SOURCE, NOTEBOOK)
discounted_share = NOTEBOOK["discounted_share"]


@pytest.mark.slow
def test_drives_a_search_in_two_processes():
    share = get_metric(make_metric(discounted_share, name="share"), k=3, base=1.5)
    loss = make_metric(
        lambda labels: 1 - discounted_share(labels), name="loss", greater_is_better=False
    )
    options = {"refit": "loss", "cv": QueryKFold(3), "n_jobs": 2, "error_score": "raise"}
    scoring, grid = package.ranking_scorers(share, loss), {"estimator__alpha": [0.1, 1e3]}
    search = GridSearchCV(QueryRanker(Ridge()), grid, scoring=scoring, **options).fit(
        X, with_qid(Y, QID)
    )
    for row, alpha in enumerate([0.1, 1e3]):
        for fold, (train, test) in enumerate(QueryKFold(3).split(X, Y, groups=QID)):
            scores = Ridge(alpha=alpha).fit(X[train], Y[train]).predict(X[test])
            for name, metric, sign in (("share(base=1.5)@3", share, 1), ("loss", loss, -1)):
                expected = sign * metric(Y[test], scores, qid=QID[test])
                assert search.cv_results_[f"split{fold}_test_{name}"][row] == pytest.approx(
                    expected, abs=1e-12
                )
    assert "loss" in str(package.model_selection.search_report(search, X, with_qid(Y, QID)))


def test_appears_in_reports_comparisons_and_pictures():
    metric = make_metric(discounted_share, bounds=(0, 2))
    models = {"weak": QueryRanker(Ridge(1e3)), "strong": QueryRanker(Ridge(0.1))}
    result = package.cross_evaluate(
        models, X, Y, qid=QID, metrics=["ndcg@3", metric], cv=QueryKFold(3)
    )
    expected = {name: metric(Y, scores, qid=QID) for name, scores in result.scores.items()}
    for name, report in result.reports.items():
        assert f"discounted_share  {expected[name]:.4f}" in str(report)
    (pair,) = package.compare(result.reports, "discounted_share").pairs()
    assert abs(pair.difference) == pytest.approx(abs(np.subtract(*expected.values())), abs=1e-12)
    at_k = [get_metric(metric, k=k) for k in (1, 4)]
    display = MetricAtKDisplay.from_result(
        package.evaluate(Y, result.scores["strong"], qid=QID, metrics=at_k)
    )
    values = [one(Y, result.scores["strong"], qid=QID) for one in at_k]
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), values, rtol=0, atol=1e-12)

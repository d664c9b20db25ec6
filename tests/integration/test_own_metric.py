"""A metric written in a notebook, from the search to the picture."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    compare,
    cross_evaluate,
    evaluate,
    get_metric,
    make_metric,
    ranking_scorers,
    search_report,
    with_qid,
)
from skrank_metrics.displays import MetricAtKDisplay

rng = np.random.default_rng(0)
QID = np.repeat(np.arange(60), rng.integers(3, 12, 60))
X = rng.normal(size=(len(QID), 5))
Y = np.digitize(X @ [1, 0.5, 0, 0, 0] + rng.normal(size=len(QID)), [0.5, 1.5])
CANDIDATES = {"estimator__alpha": [0.1, 1e3]}


SOURCE = """
def discounted_share(labels, k=None, base=2.0):
    top = labels[:k]
    weights = base ** -np.arange(len(top))
    return float(weights @ (top > 0)) / (labels > 0).sum() if labels.any() else np.nan
"""


def in_a_notebook():
    """The function as a notebook has it: in no module that another process can import."""
    space = {"np": np, "__name__": "__main__"}
    exec(SOURCE, space)
    return space["discounted_share"]


discounted_share = in_a_notebook()


def loss(labels):
    return 1 - discounted_share(labels)


def by_hand(function, y, scores, qid, **options):
    values = []
    for query in dict.fromkeys(qid):
        rows = np.flatnonzero(qid == query)
        values.append(function(y[rows[np.argsort(-scores[rows])]], **options))
    return np.nan_to_num(values)


def assert_scores_are_those_by_hand(found, name, function, sign=1, **options):
    for row, alpha in enumerate(CANDIDATES["estimator__alpha"]):
        for fold, (train, test) in enumerate(QueryKFold(3).split(X, Y, groups=QID)):
            scores = Ridge(alpha=alpha).fit(X[train], Y[train]).predict(X[test])
            expected = sign * by_hand(function, Y[test], scores, QID[test], **options).mean()
            assert found.cv_results_[f"split{fold}_test_{name}"][row] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_drives_a_search_in_two_processes():
    written = make_metric(discounted_share, name="share")
    unnamed = make_metric(lambda labels: 1 - discounted_share(labels), name="loss", greater_is_better=False)
    scorers = ranking_scorers(get_metric(written, k=3, base=1.5), unnamed)
    options = {"scoring": scorers, "refit": "loss", "cv": QueryKFold(3), "n_jobs": 2, "error_score": "raise"}
    found = GridSearchCV(QueryRanker(Ridge()), CANDIDATES, **options).fit(X, with_qid(Y, QID))
    assert_scores_are_those_by_hand(found, "share(base=1.5)@3", discounted_share, k=3, base=1.5)
    assert_scores_are_those_by_hand(found, "loss", loss, sign=-1)
    assert "loss" in str(search_report(found, X, with_qid(Y, QID)))


def test_appears_in_reports_comparisons_and_pictures():
    metric = make_metric(discounted_share, bounds=(0, 2))
    models = {f"{alpha:g}": QueryRanker(Ridge(alpha=alpha)) for alpha in CANDIDATES["estimator__alpha"]}
    result = cross_evaluate(models, X, Y, qid=QID, metrics=["ndcg@3", metric], cv=QueryKFold(3))
    expected = {name: by_hand(discounted_share, Y, scores, QID) for name, scores in result.scores.items()}
    for name, report in result.reports.items():
        np.testing.assert_allclose(report.per_query["discounted_share"], expected[name], rtol=0, atol=1e-12)
        assert f"discounted_share  {expected[name].mean():.4f}" in str(report)
    (pair,) = compare(result.reports, "discounted_share", test="t").pairs()
    assert abs(pair.difference) == pytest.approx(abs(np.subtract(*expected.values()).mean()), abs=1e-12)

    scores = result.scores["0.1"]
    report = evaluate(Y, scores, qid=QID, metrics=[get_metric(metric, k=k) for k in (1, 4)])
    display = MetricAtKDisplay.from_result(report)
    at_k = [by_hand(discounted_share, Y, scores, QID, k=k).mean() for k in (1, 4)]
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), at_k, rtol=0, atol=1e-12)

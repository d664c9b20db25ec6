"""A metric of a report goes by its name there, by another spelling, and by the metric itself."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from support.policies import with_policies

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    compare,
    evaluate,
    get_metric,
    make_metric,
    make_ranking_scorer,
    map_score,
    ndcg_score,
    with_qid,
)
from skrank_metrics.datasets import make_ranking
from skrank_metrics.displays import CVResultsDisplay
from skrank_metrics.model_selection import search_report

X, Y, QID = make_ranking(30, random_state=0)
first_hit = make_metric(
    lambda labels, k=None: float(labels[0] > 0), name="first_hit", bounds=(0, 1)
)
GAIN = np.array([0.0, 1.0, 5.0, 6.0, 7.0])
METRICS = [
    "ndcg",
    "ndcg@5",
    "map",
    first_hit,
    get_metric("ndcg", gain=GAIN, k=3),
    "ndcg(average=median)@5",
]
SPELLINGS = {
    "ndcg": [ndcg_score, get_metric("ndcg"), "NDCG", "ndcg(gain=linear)"],
    "ndcg@5": [
        "ndcg@5",
        "NDCG@5",
        "ndcg_at_5",
        get_metric("ndcg@5"),
        get_metric(ndcg_score, k=5, ties="average"),
    ],
    "map": [map_score, "MAP"],
    "first_hit": ["first_hit", first_hit, get_metric(first_hit)],
    str(METRICS[4]): [METRICS[4]],  # with an array as an option
}


def report(feature, metrics=METRICS, **options):
    return evaluate(Y, X[:, feature], qid=QID, **with_policies(metrics, **options))


@pytest.mark.parametrize(
    ("name", "metric"), [(name, metric) for name, all_ in SPELLINGS.items() for metric in all_]
)
def test_reports_find_a_metric_by_name_spelling_and_itself(name, metric):
    reports = {"a": report(0), "b": report(1)}
    found = compare(reports, metric)
    assert list(found.metrics) == [name]
    assert found.pairs()[0].p_value == compare(reports, name).pairs()[0].p_value
    assert reports["a"].worst(3, metric) == reports["a"].worst(3, name)
    reports["a"].plot(metric=metric, ax=Figure().subplots())


def test_reports_may_spell_a_metric_differently():
    reports = {"a": report(0, ["ndcg@5", "NDCG@5"]), "b": report(1, "ndcg_at_5")}
    expected = report(0, "ndcg@5").mean["ndcg@5"] - reports["b"].mean["ndcg_at_5"]
    for metric in ("ndcg@5", "ndcg_at_5", get_metric("ndcg@5")):
        found = compare(reports, metric)
        assert list(found.metrics) == ["ndcg@5"]
        assert found.pair("a", "b").difference == pytest.approx(expected)


def test_an_object_does_not_stand_for_a_column_that_is_computed_in_another_way():
    reports = [report(0, "ndcg@5", ties="worst"), report(1, "ndcg@5", ties="worst")]
    with pytest.raises(ValueError, match="missing from report '0', which has ndcg"):
        compare(reports, get_metric("ndcg@5"))
    for metric in ("ndcg@5", get_metric("ndcg(ties=worst)@5")):
        assert list(compare(reports, metric).metrics) == ["ndcg@5"]
    with pytest.raises(ValueError, match="metric must be one of"):
        reports[0].worst(metric=map_score)
    with pytest.raises(ValueError, match="metric '3' is missing"):
        compare(reports, 3)
    misses = report(0, ["neg_fall_out@2"])
    for other in ("fall_out@2", "neg_fall_out(replace_undefined_by=0.5)@2"):
        with pytest.raises(ValueError, match=r"metric must be one of \['neg_fall_out@2'\]"):
            misses.worst(metric=other)


@pytest.fixture(scope="module")
def search():
    scoring = {"own": make_ranking_scorer(first_hit), "five": make_ranking_scorer(ndcg_score, k=5)}
    grid = {"estimator__alpha": [1.0, 1e9]}
    found = GridSearchCV(QueryRanker(Ridge()), grid, scoring=scoring, refit="own", cv=QueryKFold(3))
    return found.fit(X, with_qid(Y, QID))


@pytest.mark.parametrize("metric", ["five", "ndcg@5", "NDCG@5", get_metric("ndcg@5")])
def test_searches_find_a_metric_by_key_name_and_itself(metric, search):
    assert next(iter(search_report(search, X, Y, qid=QID, metric=metric).metrics)) == "ndcg@5"
    drawn = [
        CVResultsDisplay.from_result(search, metric=one, ax=Figure().subplots())
        for one in (metric, "five")
    ]
    np.testing.assert_array_equal(drawn[0].scores, drawn[1].scores)


def test_slices_keep_what_metrics_say_of_negative_labels():
    report = evaluate([[1, -1], [1, 0]], [[1, 1], [2, 1]], metrics="kendall_tau", by=[0, 1])
    findings = [part.health.findings for part in report.slices.values()]
    assert "kendall_tau from -1.0000 to" in " ".join(findings[0])
    assert findings[1] == ()

"""Masks of documents and weights of queries in model selection: by routing, and as levels of the index of y."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    cross_evaluate,
    evaluate,
    get_metric,
    make_ranking_scorer,
    ndcg_score,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.model_selection import RacingSearchCV, search_report

NAMES = ("ndcg@5", "bpref", "judged@5", "recall@3")
COLUMNS = ("retrieved", "judged", "sample_weight")
CV = QueryKFold(3)


@pytest.fixture(scope="module")
def problem():
    """Features, labels, ids, and by name the masks and weights, of the rows of interleaved queries."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(4, 10, 30)
    qid = rng.permutation(np.repeat(np.arange(30), sizes))
    X = rng.normal(size=(len(qid), 3))
    n = len(qid)
    noisy = X[:, 0] + rng.normal(size=n)
    y = np.clip(np.round(noisy), 0, 3)
    return (
        X,
        y,
        qid,
        dict(zip(COLUMNS, (rng.random(n) < 0.8, rng.random(n) < 0.7, 1.0 + qid % 4), strict=True)),
    )


def folds_by_hand(name, X, y, qid, columns, alpha=1.0):
    """The metric of each fold, fitted and scored in a loop."""
    values = []
    for train, test in CV.split(X, y, groups=qid):
        model = Ridge(alpha=alpha).fit(X[train], y[train])
        scores = model.predict(X[test])
        rows = {column: values[test] for column, values in columns.items()}
        values.append(get_metric(name)(y[test], scores, qid=qid[test], **rows))
    return values


@pytest.mark.parametrize("given", [COLUMNS, ("retrieved",), ("judged",), ("sample_weight",)])
@pytest.mark.option("with_qid.retrieved", "with_qid.judged", "with_qid.sample_weight")
def test_scorers_take_them_with_routing_and_from_the_index_of_y(problem, given):
    X, y, qid, columns = problem
    columns = {name: columns[name] for name in given}
    expected = {name: folds_by_hand(name, X, y, qid, columns) for name in NAMES}
    without = folds_by_hand(NAMES[0], X, y, qid, {})
    assert expected[NAMES[0]] != without
    model = make_pipeline(StandardScaler(), QueryRanker(Ridge()))
    options = {"cv": CV, "error_score": "raise"}
    options["scoring"] = ranking_scorers(*NAMES)
    if "judged" in given:  # in a dict, what is computed once is the same for all
        assert expected["judged@5"] != [1.0] * 3
    found = cross_validate(model[-1], X, with_qid(y, qid, **columns), **options)
    with sklearn.config_context(enable_metadata_routing=True):
        if "sample_weight" in given:
            requests = dict.fromkeys(("qid", "groups", *COLUMNS), True)
            scorers = ranking_scorers(*NAMES)
            for scorer in scorers.values():
                scorer.set_score_request(**requests)
            options["scoring"] = scorers
        ranker = QueryRanker(Ridge()).set_fit_request(sample_weight=False)
        routed = cross_validate(ranker, X, y, params={"groups": qid, **columns}, **options)
    for name in NAMES:
        np.testing.assert_allclose(found[f"test_{name}"], expected[name], rtol=0, atol=1e-12)
        np.testing.assert_allclose(routed[f"test_{name}"], expected[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["sample_weight", "judged"])
def test_scorers_of_a_dict_may_request_different_columns(problem, name):
    X, y, qid, columns = problem
    column = {name: columns[name]}
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = QueryRanker(Ridge()).set_fit_request(sample_weight=False)
        scorers = ranking_scorers("ndcg@5", "ndcg@3")
        for metric, is_asked in (("ndcg@5", False), ("ndcg@3", True)):
            requests = {"qid": True, "groups": True, name: is_asked}
            scorers[metric].set_score_request(**{"sample_weight": False, **requests})
        params = {"groups": qid, **column}
        options = {"cv": CV, "error_score": "raise", "scoring": scorers}
        found = cross_validate(ranker, X, y, params=params, **options)
    for metric, given in (("ndcg@5", {}), ("ndcg@3", column)):
        expected = folds_by_hand(metric, X, y, qid, given)
        np.testing.assert_allclose(found[f"test_{metric}"], expected, rtol=0, atol=1e-12)


def test_out_of_fold_reports_take_them(problem):
    X, y, qid, columns = problem
    options = {"cv": CV, "metrics": NAMES}
    carried = cross_evaluate(Ridge(), X, with_qid(y, qid, **columns), **options)
    for name in NAMES:
        expected = folds_by_hand(name, X, y, qid, columns)
        found = carried.by_metric(name).fold_means()["Ridge"]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        whole = evaluate(y, carried.scores["Ridge"], qid=qid, metrics=name, **columns)
        assert carried.reports["Ridge"].mean[name] == pytest.approx(whole.mean[name], abs=1e-12)


@pytest.mark.slow
def test_searches_take_them(problem):
    X, y, qid, columns = problem
    grid = {"estimator__alpha": [1.0, 100.0]}
    scorer = make_ranking_scorer("ndcg@5")
    folds = [folds_by_hand("ndcg@5", X, y, qid, columns, alpha) for alpha in (1.0, 100.0)]
    expected = np.mean(folds, axis=1)
    labels = with_qid(y, qid, **columns)
    model = QueryRanker(Ridge())
    options = {"scoring": scorer, "cv": CV, "error_score": "raise"}
    search = GridSearchCV(model, grid, **options).fit(X, labels)
    race = RacingSearchCV(model, grid, **options).fit(X, labels)
    for fitted in (search, race):
        means = fitted.cv_results_["mean_test_score"]
        np.testing.assert_allclose(means, expected, rtol=0, atol=1e-12)
    masks = {name: columns[name] for name in ("retrieved", "judged")}
    with sklearn.config_context(enable_metadata_routing=True):
        routed = GridSearchCV(model, grid, **options).fit(X, y, qid=qid, **masks)
    assert search_report(search, X, labels, verbose=0).changed < 1e-12
    for name in masks:
        others = {key: column for key, column in columns.items() if key != name}
        without = with_qid(y, qid, **others)
        assert search_report(search, X, without, verbose=0).changed > 1e-4
    masked = with_qid(y, qid, **masks)
    assert search_report(routed, X, masked, verbose=0).changed < 1e-12


def test_the_index_of_y_serves_metrics_and_reports_and_not_the_fit(problem):
    X, y, qid, columns = problem
    labels = with_qid(y, qid, **columns)
    scores = X[:, 0]
    assert list(labels.index.names) == ["qid", *COLUMNS]
    expected = ndcg_score(y, scores, qid=qid, **columns)
    assert ndcg_score(labels, scores) == ndcg_score(labels, scores, **columns) == expected
    assert evaluate(labels, scores, metrics="ndcg").mean["ndcg"] == expected
    assert evaluate(labels, scores, metrics="ndcg", condense=True).condensed
    ranker = QueryRanker(Ridge()).fit(X, labels)
    plain = QueryRanker(Ridge()).fit(X, y, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X), plain.predict(X))
    value = ndcg_score(y, plain.predict(X), qid=qid, k=10, **columns)
    assert ranker.score(X, labels) == pytest.approx(value, abs=1e-12)


def test_rows_are_still_checked_by_their_labels(problem):
    X, y, qid, columns = problem
    index = pd.RangeIndex(500, 500 + len(y))
    frame = pd.DataFrame(X, index=index)
    labels = with_qid(pd.Series(y, index=index), qid, **columns)
    assert labels.index.nlevels == 5
    QueryRanker(Ridge()).fit(frame, labels)
    expected = ndcg_score(y, X[:, 0], qid=qid, **columns)
    assert ndcg_score(labels, frame[0]) == expected
    with pytest.raises(ValueError, match="must have the same index"):
        QueryRanker(Ridge()).fit(frame[::-1], labels)
    with pytest.raises(ValueError, match="judged must have the same index as"):
        with_qid(
            pd.Series(y, index=index), qid, judged=pd.Series(columns["judged"], index=index)[::-1]
        )
    again = with_qid(labels, qid)
    pd.testing.assert_index_equal(again.index, labels.index)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_that_contradicts_the_index_of_y_is_an_error(problem, name):
    _, y, qid, columns = problem
    labels = with_qid(y, qid, **columns)
    other = {name: columns[name][::-1] if name != "sample_weight" else qid + 1.0}
    message = f"{name} must agree with the index level '{name}' of the labels"
    with pytest.raises(ValueError, match=message):
        with_qid(labels, qid, **other)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ({"judged": [1, 0, 1]}, TypeError, "judged must be a mask of True and False"),
        (
            {"retrieved": [True, False]},
            ValueError,
            r"retrieved must have the same shape as y; got \(2,\) and \(3,\)",
        ),
        ({"sample_weight": [1, 2, 1]}, ValueError, "sample_weight must be constant within a query"),
        ({"sample_weight": [1, -1, 1]}, ValueError, "sample_weight contains -1.0, first at row 1"),
    ],
)
def test_bad_columns(bad, error, message):
    with pytest.raises(error, match=message):
        with_qid([1, 0, 2], ["a", "a", "b"], **bad)


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_bad_masks_and_unknown_requests_end_a_search(problem, error_score):
    X, y, qid, columns = problem
    options = {"cv": CV, "error_score": error_score, "params": {"groups": qid}}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("ndcg")
        options["params"]["judged"] = columns["judged"].astype(int)
        with pytest.raises(
            TypeError, match="judged must be a mask of True and False; got an array of dtype int64"
        ):
            cross_validate(QueryRanker(Ridge()), X, y, scoring=scorer, **options)
        scorer = make_ranking_scorer("ndcg").set_score_request(groups=True, colour=True)
        options["params"] = {"groups": qid, "colour": qid}
        with pytest.raises(
            TypeError, match="colour must not be requested by a ranking scorer, which takes qid, "
        ):
            cross_validate(QueryRanker(Ridge()), X, y, scoring=scorer, **options)


@pytest.mark.parametrize(
    "requests", [{"retrieved": True}, {"qid": True}, {"groups": "user", "qid": False}]
)
@pytest.mark.parametrize("scorers", [make_ranking_scorer, ranking_scorers], ids=["one", "dict"])
def test_ids_that_a_scorer_does_not_request(problem, requests, scorers):
    X, y, qid, columns = problem
    params, message = (
        {"groups": qid},
        r"and got none\. .*on which set_score_request was called needs qid=True",
    )
    if "retrieved" in requests:
        params = {"qid": qid, "groups": qid, "retrieved": columns["retrieved"]}
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = scorers("ndcg")
        for scorer in scoring.values() if isinstance(scoring, dict) else [scoring]:
            scorer.set_score_request(**requests)
        with pytest.raises(TypeError, match=message):
            cross_validate(QueryRanker(Ridge()), X, y, cv=CV, params=params, scoring=scoring)
        options = {
            "cv": CV,
            "scoring": scoring,
            "params": {},
            "error_score": "raise",
        }  # 1.6 needs params
        found = cross_validate(QueryRanker(Ridge()), X, with_qid(y, qid), **options)
    name = "test_ndcg" if isinstance(scoring, dict) else "test_score"
    np.testing.assert_allclose(
        found[name], folds_by_hand("ndcg", X, y, qid, {}), rtol=0, atol=1e-12
    )


def test_labels_that_models_are_fitted_on_must_be_numbers(problem):
    X, y, qid, columns = problem
    unknown = np.where(columns["judged"], y, np.nan)
    with pytest.raises(
        ValueError, match=r"y contains NaN, first at row .* Mark unjudged documents with judged="
    ):
        cross_evaluate(Ridge(), X, with_qid(unknown, qid, judged=columns["judged"]))

"""Ensembles of rankers, and callbacks of scikit-learn 1.9."""

import numpy as np
import pytest
import sklearn
from lightgbm import LGBMRanker
from sklearn.base import RegressorMixin, clone
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from support.by_hand import fit as fit_by_hand
from support.consumers import CV, SCORER, WAYS, folds, problem
from xgboost import XGBRanker

from skrank_metrics import (
    QueryRanker,
    get_metric,
    make_ranking_scorer,
    ndcg_score,
    ranking_scorers,
    with_qid,
)

BOOSTERS = {
    "lightgbm": LGBMRanker(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1),
    "xgboost": XGBRanker(n_estimators=4, n_jobs=1),
}
X, Y, QID = problem()


class Member(RegressorMixin, QueryRanker):
    """A QueryRanker that ensembles take for a regressor."""


def members(kind=Member):
    return [(name, kind(model)) for name, model in BOOSTERS.items()]


def fitted_by_hand(train):
    return [fit_by_hand(model, X[train], Y[train], QID[train]) for model in BOOSTERS.values()]


ALL = np.arange(len(Y))
BY_ROUTING = pytest.mark.parametrize("way", WAYS[:2], ids=lambda way: way.name)


def stacking(final):
    return StackingRegressor(members(), final_estimator=final, cv=CV)


@BY_ROUTING
def test_voting_is_the_mean_of_the_scores(way):
    with way.context():
        voting = VotingRegressor(members()).fit(X, Y, **way.keywords(QID))
    expected = np.mean([model.predict(X) for model in fitted_by_hand(ALL)], axis=0)
    np.testing.assert_allclose(voting.predict(X), expected, rtol=1e-12)


@pytest.mark.slow
@BY_ROUTING
def test_stacking_fits_a_ranker_on_out_of_fold_scores(way):
    final = LGBMRanker(n_estimators=3, min_child_samples=2, verbose=-1, n_jobs=1)
    with way.context():
        stacked = stacking(Member(final)).fit(X, Y, **way.keywords(QID))
    out_of_fold = np.empty((len(Y), 2))
    for train, test in folds(X, QID):
        out_of_fold[test] = np.column_stack([model.predict(X[test]) for model in fitted_by_hand(train)])
    second = fit_by_hand(final, out_of_fold, Y, QID)
    expected = second.predict(np.column_stack([model.predict(X) for model in fitted_by_hand(ALL)]))
    np.testing.assert_array_equal(stacked.predict(X), expected)


@pytest.mark.slow
def test_the_final_estimator_of_stacking_must_take_the_ids():
    with sklearn.config_context(enable_metadata_routing=True):
        assert stacking(Member(RidgeCV())).fit(X, Y, qid=QID).final_estimator_.estimator_.alpha_ > 0
        with pytest.raises(TypeError, match="qid"):
            stacking(Ridge()).fit(X, Y, qid=QID)


@pytest.mark.parametrize("kind", [VotingRegressor, StackingRegressor, lambda members: BaggingRegressor(members[0][1])])
def test_ensembles_drop_the_index_of_y(kind):
    with pytest.raises(TypeError, match=r"QueryRanker.fit needs the query id.*enable metadata routing"):
        kind(members()).fit(X, with_qid(Y, QID))


@pytest.mark.parametrize("kind", [VotingRegressor, StackingRegressor])
def test_ensembles_require_regressors(kind):
    with pytest.raises(ValueError, match="The estimator QueryRanker should be a regressor"):
        kind(members(QueryRanker)).fit(X, with_qid(Y, QID))


@pytest.fixture
def callback():
    return pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")


def search(monitor=None):
    made = GridSearchCV(
        QueryRanker(BOOSTERS["lightgbm"]), {"estimator__num_leaves": [3, 7]}, scoring=make_ranking_scorer(SCORER), cv=CV
    )
    return made if monitor is None else made.set_callbacks(monitor)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
@pytest.mark.slow
def test_a_scoring_monitor_logs_the_training_scores_of_every_fit(way, callback):
    monitor = callback.ScoringMonitor(scoring=ranking_scorers(SCORER, "map"))
    made = search()
    made.estimator.set_callbacks(monitor)
    with way.context():
        best = made.fit(X, way.labels(Y, QID), **way.keywords(QID)).best_estimator_
    expected = [
        fit_by_hand(clone(BOOSTERS["lightgbm"]).set_params(num_leaves=leaves), X[rows], Y[rows], QID[rows]).predict(
            X[rows]
        )
        for leaves in (3, 7)
        for rows, _ in folds(X, QID)
    ]
    rows = [train for _ in (3, 7) for train, _ in folds(X, QID)]
    logged = monitor.get_logs().data
    for name in (SCORER, "map"):
        metric = get_metric(name)
        values = [metric(Y[r], scores, qid=QID[r]) for r, scores in zip(rows, expected, strict=True)]
        values.append(metric(Y, best.predict(X), qid=QID))  # of the refit
        assert sorted(row[name] for row in logged) == pytest.approx(sorted(values), abs=1e-12)


def test_a_scoring_monitor_of_a_search_or_a_classifier_gets_no_ids(callback):
    monitor = callback.ScoringMonitor(scoring=make_ranking_scorer(SCORER))
    search(monitor).fit(X, with_qid(Y, QID))
    with pytest.raises(ValueError, match="No logs to retrieve"):
        monitor.get_logs()
    monitor = callback.ScoringMonitor(scoring=make_ranking_scorer(SCORER))
    with pytest.raises(TypeError, match="needs the query id"):
        LogisticRegression().set_callbacks(monitor).fit(X, with_qid(Y > 1, QID))
    monitor = callback.ScoringMonitor(scoring=make_ranking_scorer(SCORER))
    ranker = QueryRanker(LogisticRegression()).set_callbacks(monitor).fit(X, Y > 1, qid=QID)
    expected = ndcg_score(Y > 1, ranker.predict(X), qid=QID, k=5)
    assert monitor.get_logs().data[0]["score"] == pytest.approx(expected, abs=1e-12)


def test_callbacks_end_if_the_fit_fails(callback):
    ended = []

    class Watch:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context):
            ended.append(type(estimator).__name__)

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context): ...

    with pytest.raises(TypeError, match="needs the query id"):
        QueryRanker(Ridge()).set_callbacks(Watch()).fit(X, Y)
    assert ended == ["QueryRanker"]

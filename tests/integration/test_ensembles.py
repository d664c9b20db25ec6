"""Ensembles of rankers, and callbacks of scikit-learn 1.9."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn.base import RegressorMixin, clone
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from support.by_hand import fit as fit_by_hand
from support.consumers import CV, SCORER, WAYS, folds, problem
from xgboost import XGBRanker

from skrank_metrics import QueryRanker, get_metric, make_ranking_scorer, ranking_scorers, with_qid

BOOSTERS = {
    "lightgbm": LGBMRanker(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1),
    "xgboost": XGBRanker(n_estimators=4, n_jobs=1),
}
X, Y, QID = problem()


class Member(RegressorMixin, QueryRanker):
    """A QueryRanker that ensembles take for a regressor."""


MEMBERS = [(name, Member(model)) for name, model in BOOSTERS.items()]


def fitted_by_hand(train):
    return [fit_by_hand(model, X[train], Y[train], QID[train]) for model in BOOSTERS.values()]


ALL = np.arange(len(Y))
BY_ROUTING = pytest.mark.parametrize("way", WAYS[:2], ids=lambda way: way.name)


@BY_ROUTING
def test_voting_is_the_mean_of_the_scores(way):
    with way.context():
        voting = VotingRegressor(MEMBERS).fit(X, Y, **way.keywords(QID))
    expected = np.mean([model.predict(X) for model in fitted_by_hand(ALL)], axis=0)
    np.testing.assert_allclose(voting.predict(X), expected, rtol=1e-12)


@pytest.mark.slow
@BY_ROUTING
def test_stacking_fits_a_ranker_on_out_of_fold_scores(way):
    final = LGBMRanker(n_estimators=3, min_child_samples=2, verbose=-1, n_jobs=1)
    with way.context():
        stacking = StackingRegressor(MEMBERS, final_estimator=Member(final), cv=CV)
        stacked = stacking.fit(X, Y, **way.keywords(QID))
    out_of_fold = np.empty((len(Y), 2))
    for train, test in folds(X, QID):
        out_of_fold[test] = np.column_stack(
            [model.predict(X[test]) for model in fitted_by_hand(train)]
        )
    second = fit_by_hand(final, out_of_fold, Y, QID)
    expected = second.predict(np.column_stack([model.predict(X) for model in fitted_by_hand(ALL)]))
    np.testing.assert_array_equal(stacked.predict(X), expected)


@pytest.mark.parametrize(
    "kind", [VotingRegressor, StackingRegressor, lambda members: BaggingRegressor(members[0][1])]
)
def test_ensembles_drop_the_index_of_y(kind):
    with pytest.raises(
        TypeError, match=r"QueryRanker.fit needs the query id.*enable metadata routing"
    ):
        kind(MEMBERS).fit(X, with_qid(Y, QID))


@pytest.fixture
def callback():
    return pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
@pytest.mark.slow
def test_a_scoring_monitor_logs_the_training_scores_of_every_fit(way, callback):
    monitor = callback.ScoringMonitor(scoring=ranking_scorers(SCORER, "map"))
    booster, grid = BOOSTERS["lightgbm"], {"estimator__num_leaves": [3, 7]}
    ranker = QueryRanker(booster).set_callbacks(monitor)
    with way.context():
        search = GridSearchCV(ranker, grid, scoring=make_ranking_scorer(SCORER), cv=CV)
        best = search.fit(X, way.labels(Y, QID), **way.keywords(QID)).best_params_[
            "estimator__num_leaves"
        ]
    fits = [(leaves, train) for leaves in (3, 7) for train, _ in folds(X, QID)]
    values = {SCORER: [], "map": []}
    for leaves, rows in [*fits, (best, ALL)]:  # the last is the refit
        fitted = fit_by_hand(
            clone(booster).set_params(num_leaves=leaves), X[rows], Y[rows], QID[rows]
        )
        for name, found in values.items():
            found.append(get_metric(name)(Y[rows], fitted.predict(X[rows]), qid=QID[rows]))
    for name, found in values.items():
        assert sorted(row[name] for row in monitor.get_logs().data) == pytest.approx(
            sorted(found), abs=1e-12
        )


def test_callbacks_end_if_the_fit_fails(callback):
    ended = []

    class Watch:
        setup = on_fit_task_begin = on_fit_task_end = lambda self, estimator, context: None

        def teardown(self, estimator, context):
            ended.append(type(estimator).__name__)

    with pytest.raises(TypeError, match="needs the query id"):
        QueryRanker(Ridge()).set_callbacks(Watch()).fit(X, Y)
    assert ended == ["QueryRanker"]

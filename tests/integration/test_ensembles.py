"""Ensembles of rankers."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn.base import RegressorMixin
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from support.by_hand import fit as fit_by_hand
from support.consumers import CV, WAYS, folds, problem
from xgboost import XGBRanker

from skrank_metrics import QueryRanker, with_qid

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
        TypeError, match=r"QueryRanker.fit needs the query id.*enable_metadata_routing=True"
    ):
        kind(MEMBERS).fit(X, with_qid(Y, QID))

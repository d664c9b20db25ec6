"""What leans on the inside of scikit-learn, a test each, which says what changed if it did."""

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrank_metrics import QueryKFold
from skrank_metrics._sklearn_internals import (
    check_rows,
    copy_with_function,
    fail_in_search,
    is_first_warning,
    response_method,
    score_function,
    splits_of_search,
)

X, Y = np.arange(12.0)[:, None], np.arange(12.0)


def test_an_error_of_the_set_up_ends_a_search():
    def scorer(model, X, y):
        return fail_in_search(KeyError("the set-up"))

    search, ended = (
        GridSearchCV(Ridge(), {"alpha": [1, 2]}, scoring=scorer, cv=KFold(2), error_score=np.nan),
        None,
    )
    try:
        search.fit(X, Y)
    except BaseException as error:
        ended = error
    assert ended is not None, (
        "scorers are no longer called by _score in sklearn.model_selection._validation"
    )
    assert isinstance(ended, KeyError), (
        "scikit-learn no longer looks for .item of a score, or checks it before"
    )


def test_a_scorer_keeps_its_function():
    def loss(y_true, y_pred):
        return 0.0

    assert score_function(make_scorer(loss)) is loss, (
        "scorers of make_scorer no longer have _score_func"
    )
    assert score_function(lambda model, X, y: 0.0) is None
    for given in ("predict", ("predict_proba", "predict")):
        kept = response_method(make_scorer(loss, response_method=given))
        assert kept == given, "scorers of make_scorer no longer have _response_method"


def test_a_copy_of_a_scorer_has_another_function():
    scorer = make_scorer(lambda y_true, y_pred: 1.0, greater_is_better=False)
    copied = copy_with_function(scorer, lambda y_true, y_pred: 2.0)
    assert (scorer(Ridge().fit(X, Y), X, Y), copied(Ridge().fit(X, Y), X, Y)) == (-1.0, -2.0)


def test_a_warning_appears_once_per_search():
    seen = []

    def scorer(model, X, y):
        seen.append(is_first_warning())
        return 0.0

    search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, scoring=scorer, cv=KFold(3), refit=False)
    for _ in range(2):
        seen.clear()
        search.fit(X, Y)
        assert sum(seen) == 1, "_fit_and_score is no longer told which candidate and fold it runs"
    assert len(seen) == 6
    seen.clear()
    cross_validate(Ridge(), X, Y, scoring=scorer, cv=KFold(3))
    assert seen == [True] * 3


FRAME, SERIES = pd.DataFrame(X).set_axis(list("abcdefghijkl")), pd.Series(Y)


class Model(Ridge):
    def fit(self, X, y):
        returned.append(check_rows(X, y=y)["y"])
        return super().fit(X, y)


returned = []


@pytest.mark.parametrize(
    "run", [functools.partial(cross_validate, error_score="raise"), cross_val_predict]
)
def test_parts_are_checked_as_a_whole(run):
    returned.clear()
    run(Model(), FRAME, SERIES, cv=KFold(2))
    assert all(type(part) is np.ndarray for part in returned), (
        "scikit-learn no longer has local variables X and y"
    )
    with pytest.raises(ValueError, match="y must have the same index as X"):
        run(Model(), FRAME, SERIES.set_axis(FRAME.index[::-1]), cv=KFold(2))


@pytest.mark.parametrize(
    "outer", [make_pipeline(StandardScaler(), Model()), BaggingRegressor(Model(), n_estimators=1)]
)
def test_rows_are_checked_before_an_estimator_turns_them_into_arrays(outer):
    outer.fit(FRAME, SERIES)
    for misplaced in (SERIES.set_axis(FRAME.index[::-1]), SERIES.set_axis(FRAME.index)[::-1]):
        # Else, wrapper in sklearn.base no longer calls fit.
        with pytest.raises(ValueError, match="y must have the same index as X"):
            outer.fit(FRAME, misplaced)


def test_a_rule_to_refit_by_finds_the_splits():
    cv = ShuffleSplit(3, test_size=2, train_size=5, random_state=np.random.RandomState(0))
    found = []

    def rule(results):
        found.extend(splits_of_search() or [])
        return 0

    GridSearchCV(Ridge(), {"alpha": [1, 2]}, refit=rule, cv=cv).fit(X, Y)
    sizes = [(len(train), len(test)) for train, test in found]
    assert sizes == [(5, 2)] * 3, (
        "fit of a search in sklearn.model_selection._search no longer holds what it splits by"
    )
    state = np.random.RandomState(0)
    next(iter(ShuffleSplit(3, test_size=2, train_size=5, random_state=state).split(X)))
    for _ in range(2):
        state.permutation(12)
    assert cv.random_state.randint(1 << 30) == state.randint(1 << 30), (
        "the random state is as the search left it"
    )
    assert splits_of_search() is None


def test_a_scorer_hands_on_the_very_array_that_was_predicted():
    seen = []

    class Model(Ridge):
        def predict(self, X):
            seen.append(super().predict(X))
            return seen[0]

    make_scorer(lambda y_true, y_pred: seen.append(y_pred) or 0.0)(Model().fit(X, Y), X, Y)
    assert seen[0] is seen[1], (
        "scorers no longer hand on what predict returns, by which fitted queries are recognised"
    )


def test_rows_of_groups_are_those_of_a_search():
    X_frame, y, qid = pd.DataFrame(X), pd.Series(Y), pd.Series(np.arange(12) // 2)
    assert len(cross_val_predict(Ridge(), X_frame, y, groups=qid, cv=QueryKFold(2))) == 12
    with pytest.raises(ValueError, match="groups must have the same index as"):
        cross_val_predict(Ridge(), X_frame, y, groups=qid[::-1], cv=QueryKFold(2))

"""What leans on the inside of scikit-learn, a test each, which says what changed if it did."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold

from skrank_metrics._sklearn_internals import fail_in_search, score_function

X, Y = np.arange(12.0)[:, None], np.arange(12.0)


def test_an_error_of_the_set_up_ends_a_search():
    def scorer(model, X, y):
        return fail_in_search(KeyError("the set-up"))

    search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, scoring=scorer, cv=KFold(2), error_score=np.nan)
    try:
        search.fit(X, Y)
    except KeyError:
        return
    except BaseException as error:
        pytest.fail(
            f"a search ended with {error!r} in place of the scorer's own error: scikit-learn no longer looks for .item "
            "of a score, or checks it before"
        )
    pytest.fail(
        "a search went on with NaN: scorers are no longer called by _score in sklearn.model_selection._validation"
    )


def test_outside_a_search_an_error_is_an_error():
    with pytest.raises(KeyError):
        fail_in_search(KeyError("the set-up"))


def test_a_scorer_keeps_its_function():
    def loss(y_true, y_pred):
        return 0.0

    assert score_function(make_scorer(loss)) is loss, "scorers of make_scorer no longer have _score_func"
    assert score_function(lambda model, X, y: 0.0) is None


def test_a_scorer_hands_on_the_very_array_that_was_predicted():
    seen = []

    class Model(Ridge):
        def predict(self, X):
            seen.append(super().predict(X))
            return seen[0]

    make_scorer(lambda y_true, y_pred: seen.append(y_pred) or 0.0)(Model().fit(X, Y), X, Y)
    assert seen[0] is seen[1], "scorers no longer hand on what predict returns, by which fitted queries are recognised"

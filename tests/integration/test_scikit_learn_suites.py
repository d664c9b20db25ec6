"""scikit-learn's own tests, from the installed package: of its searches, and as far as they are about any scorer.

Without a race, RacingSearchCV has the results of GridSearchCV and RandomizedSearchCV, for any estimator and scorer.
The tests of scorers take them by name, here those of this package; the others of that module are about single metrics,
whose data have no query ids, or about code of scikit-learn that this package uses as it is, such as make_scorer.
"""

import warnings

import numpy as np
import pytest
import sklearn.metrics
import sklearn.model_selection
from sklearn.linear_model import Ridge
from sklearn.metrics import check_scoring
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator
from support.scikit_learn import chosen_tests, load

from skrank_metrics import make_ranking_scorer
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.model_selection import RacingSearchCV, racing_search

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture(autouse=True)
def names_of_classification(monkeypatch):
    """Scorers also by the names of classification, which scikit-learn's tests use and others must not."""

    def scorers_by_any_name(scoring, estimator):
        scorer = check_scoring(estimator, scoring)
        several = hasattr(scorer, "_scorers")
        return scorer._scorers if several else {"score": scorer}, several

    monkeypatch.setattr(racing_search, "scorers_by_name", scorers_by_any_name)


class Unraced(RacingSearchCV):
    """Without a race, and by default with folds of rows."""

    confidence, min_queries = None, 30

    def fit(self, X, y=None, **params):
        given = self.cv
        self.cv = 5 if given is None else given
        try:
            return super().fit(X, y, **params)
        finally:
            self.cv = given


class GridSearchCV(Unraced):
    n_iter = random_state = None

    def __init__(
        self, estimator, param_grid, *, scoring=None, n_jobs=None, refit=True, cv=None, verbose=0,
        pre_dispatch="2*n_jobs", error_score=np.nan, return_train_score=False,
    ):  # fmt: skip
        given = {
            name: value for name, value in locals().items() if name not in ("self", "__class__")
        }
        vars(self).update(given)


class RandomizedSearchCV(Unraced):
    def __init__(
        self, estimator, param_distributions, *, n_iter=10, scoring=None, n_jobs=None, refit=True, cv=None, verbose=0,
        pre_dispatch="2*n_jobs", random_state=None, error_score=np.nan, return_train_score=False,
    ):  # fmt: skip
        given = {
            name: value for name, value in locals().items() if name not in ("self", "__class__")
        }
        vars(self).update(given)

    @property
    def param_grid(self):
        return self.param_distributions


EXCLUDED = {
    "test_custom_run_search": "compares all attributes with those of another search, which counts no fits",
    "test_search_callbacks_no_propagation": "it has no callbacks",
    "test_search_callbacks_propagation": "it has no callbacks",
    "test_search_callbacks_receive_sample_weight": "it has no callbacks",
    "test_search_callbacks_with_partial_fit_failures": "it has no callbacks",
    "test_array_api_search_cv_classifier": "its parameters are a generator, which pytest refuses here",
}


KINDS = {kind.__name__: kind for kind in (GridSearchCV, RandomizedSearchCV)}
module = load("sklearn.model_selection.tests.test_search", sklearn.model_selection, **KINDS)
globals().update(chosen_tests(module, EXCLUDED))


@pytest.mark.parametrize(
    ("model", "grid"), [(Ridge(), {"alpha": [0.1, 1.0]}), (SVC(), {"C": [0.1, 1.0]})]
)
def test_estimator_checks_fail_where_those_of_grid_search_fail(model, grid):
    kinds = sklearn.model_selection.GridSearchCV, GridSearchCV
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = [
            check_estimator(kind(model, grid, cv=2), on_fail=None, on_skip=None) for kind in kinds
        ]
    (expected, found) = ({one["check_name"]: one["status"] for one in results} for results in both)
    assert found == expected
    assert sum(status == "passed" for status in found.values()) >= 40


SCORERS = ["test_all_scorers_repr", "test_scorer_set_score_request_raises"]
if not sklearn.__version__.startswith(
    "1.6."
):  # there, calls with metadata that is not requested must raise
    SCORERS.append("test_scorer_metadata_request")


def without_requests(name):
    """A scorer whose requests are taken back, as scikit-learn's scorers have none."""
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer(name)
        return scorer.set_score_request(
            qid=None, groups=None, retrieved=None, judged=None, sample_weight=None
        )


of_scorers = load(
    "sklearn.metrics.tests.test_score_objects", sklearn.metrics, get_scorer_names=get_metric_names
)
of_scorers.get_scorer = without_requests
globals().update({name: getattr(of_scorers, name) for name in SCORERS})

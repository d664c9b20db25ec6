"""What leans on the inside of scikit-learn, a test each, which says what changed if it did."""

import functools
import itertools
import re
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrank_metrics import QueryKFold, QueryRanker, _sklearn_internals, get_metric
from skrank_metrics._sklearn_internals import (
    check_parameters,
    check_rows,
    copy_with_function,
    fit_of_search,
    is_first_warning,
    kept_for_this_call,
    response_method,
    results_of_fits,
    say_which_fits_failed,
    score_function,
)
from skrank_metrics.model_selection import RacingSearchCV
from skrank_metrics.model_selection._rounds import FittedModel

X, Y = np.arange(12.0)[:, None], np.arange(12.0)


def test_an_error_of_the_set_up_ends_a_search():
    # A metric that has no query ids.
    scorer = make_scorer(get_metric("ndcg"))
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
    assert isinstance(ended, TypeError), (
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
    assert seen == [True, False, False], "cross_validate no longer has a variable parallel"


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


def test_a_fit_knows_whether_scikit_learn_split_its_rows():
    class Watching(Ridge):
        seen: ClassVar[list] = []

        def fit(self, X, y):
            self.seen.append((len(X), _sklearn_internals.fits_fold()))
            return super().fit(X, y)

    X = np.arange(12.0)[:, None]
    GridSearchCV(Watching(), {"alpha": [1]}, cv=KFold(3)).fit(X, X[:, 0])
    Watching().fit(X, X[:, 0])
    # Three folds, the refit of the search, and a fit alone.
    assert Watching.seen == [(8, True)] * 3 + [(12, False)] * 2


def test_rows_of_groups_are_those_of_a_search():
    X_frame, y, qid = pd.DataFrame(X), pd.Series(Y), pd.Series(np.arange(12) // 2)
    assert len(cross_val_predict(Ridge(), X_frame, y, groups=qid, cv=QueryKFold(2))) == 12
    with pytest.raises(ValueError, match="groups must have the same index as"):
        cross_val_predict(Ridge(), X_frame, y, groups=qid[::-1], cv=QueryKFold(2))


def test_scorers_of_a_dict_keep_things_for_the_time_of_one_call():
    found = []

    def loss(y_true, y_pred):
        kept = kept_for_this_call()
        found.append(kept.get("number"))
        kept["number"] = len(found)
        return 0.0

    scoring = {"one": make_scorer(loss), "other": make_scorer(loss)}
    cross_validate(Ridge(), X, Y, scoring=scoring, cv=KFold(2))
    assert found == [None, 1, None, 3], (
        "_score in sklearn.metrics._scorer no longer gets one new method_caller in each call"
    )
    assert kept_for_this_call() == {}


def test_a_search_that_calls_scikit_learn_for_each_fit_warns_once():
    seen = []

    def scorer(model, X, y):
        seen.append(is_first_warning())
        return 0.0

    split = range(6), range(6, 12)
    for _ in range(2):
        seen.clear()
        for fold, candidate in itertools.product(range(2), range(3)):
            with fit_of_search(candidate, fold):
                cross_validate(Ridge(), X, Y, scoring=scorer, cv=[split])
        assert seen == [True, *[False] * 5]


def test_results_have_the_columns_of_a_grid_search():
    grid = {"alpha": [1.0, 2.0], "solver": ["svd"]}
    scoring = {"r2": "r2", "other": "neg_mean_squared_error"}
    search = GridSearchCV(Ridge(), grid, cv=KFold(2), scoring=scoring, refit="r2")
    expected = search.fit(X, Y).cv_results_
    fits = []
    for row, fold in itertools.product(range(2), range(2)):
        scores = {name: expected[f"split{fold}_test_{name}"][row] for name in scoring}
        fits.append({"test_scores": scores, "fit_time": 1.0, "score_time": 3.0})
    found = results_of_fits(search, expected["params"], 2, fits)
    assert list(found) == list(expected), "_format_results of a search has changed"
    assert found["mean_score_time"].tolist() == [3.0, 3.0]
    for name, column in expected.items():
        if "time" not in name:
            np.testing.assert_array_equal(found[name], column)
            assert np.asarray(found[name]).dtype == np.asarray(column).dtype


def test_failed_fits_are_counted():
    fitted, failed = {"fit_error": None}, {"fit_error": "no rank"}
    say_which_fits_failed([fitted], 0.0)
    with pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 2"):
        say_which_fits_failed([fitted, failed], 0.0)
    with pytest.raises(ValueError, match=r"All the 2 fits failed(?s:.*)no rank"):
        say_which_fits_failed([failed, failed], 0.0)


def test_parameters_of_a_search_are_checked():
    with pytest.raises(ValueError, match="The 'error_score' parameter of GridSearchCV must be"):
        check_parameters(GridSearchCV(Ridge(), {}, error_score="none"))


# Such as "from sklearn.metrics._scorer import" and "from sklearn.utils import _safe_indexing".
PRIVATE_IMPORT = re.compile(
    r"^\s*(from|import) sklearn[\w.]*(\._| import .*\b_[a-z])", re.MULTILINE
)


def test_nothing_else_imports_private_parts_of_scikit_learn():
    folder = Path(_sklearn_internals.__file__).parent
    files = set(folder.rglob("*.py")) - {Path(_sklearn_internals.__file__)}
    found = [file for file in files if PRIVATE_IMPORT.search(file.read_text())]
    assert not found
    for line in ("from sklearn.metrics._scorer import x", "from sklearn.utils import a, _b"):
        assert PRIVATE_IMPORT.search(f"import sys\n{line}\n")


@pytest.mark.parametrize("kind", [RacingSearchCV, QueryRanker, QueryKFold, FittedModel])
def test_no_class_overrides_private_methods_of_scikit_learn(kind):
    own, private = set(), {"_abc_impl"}
    for base in kind.__mro__:
        if base.__module__.startswith("skrank_metrics"):
            own |= {name for name in vars(base) if re.match("_[a-z]", name)}
        elif base.__module__.startswith("sklearn"):
            private |= set(vars(base))
    assert own & private <= {"_abc_impl"}


def test_the_page_of_wishes_lists_all():
    page = Path(__file__).parents[1] / "docs" / "upstream.md"
    rows = page.read_text().partition("|---|---|\n")[2].partition("\n\n")[0].splitlines()
    assert len(rows) == _sklearn_internals.__doc__.count("\n- ")

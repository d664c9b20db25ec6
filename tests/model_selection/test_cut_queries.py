"""Folds that cut queries: a warning per search, naming a query, and an error for halving on rows."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    cross_val_score,
    learning_curve,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    make_ranking_scorer,
    ndcg_score,
    ranking_scorers,
    with_qid,
)

SIZES = [3, 8, 1, 5, 9, 2, 6, 4, 7, 5, 3, 8]
QID = np.repeat([f"q{number}" for number in range(len(SIZES))], SIZES)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(len(QID), 3))
Y = RANDOM.integers(0, 4, len(QID))
LABELS = with_qid(Y, QID)
SHUFFLED = KFold(3, shuffle=True, random_state=0)
SCORER = make_ranking_scorer("ndcg@10")
MODELS = {
    "ridge": Ridge(),
    "pipeline": make_pipeline(StandardScaler(), Ridge()),
    "ranker": QueryRanker(Ridge()),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def warned(call):
    """The warnings of a call that are about folds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    messages = [str(one.message) for one in caught]
    return [message for message in messages if message.startswith("The folds cut queries")]


def grid_of(model):
    (name,) = {name for name in model.get_params() if name.split("__")[-1] == "alpha"}
    return {name: [0.1, 1.0, 10.0]}


@models
@pytest.mark.parametrize(
    "scoring",
    [SCORER, make_scorer(ndcg_score, k=5), ranking_scorers("ndcg@10", "map")],
    ids=["scorer", "metric", "dict"],
)
def test_a_search_with_folds_of_rows_warns_once(model, scoring):
    refit = "map" if isinstance(scoring, dict) else True
    search = GridSearchCV(model, grid_of(model), cv=SHUFFLED, scoring=scoring, refit=refit)
    (message,) = warned(lambda: search.fit(X, LABELS))
    assert "cv=QueryKFold(5)" in message
    assert np.isfinite(
        search.cv_results_["rank_test_" + ("map" if refit == "map" else "score")]
    ).all()


def test_the_warning_names_a_query_with_its_documents():
    _, test = next(SHUFFLED.split(X))
    (message,) = warned(lambda: cross_val_score(Ridge(), X, LABELS, cv=SHUFFLED, scoring=SCORER))
    name = message.partition("query '")[2].partition("'")[0]
    whole, inside = np.sum(name == QID), np.sum(QID[test] == name)
    assert 0 < inside < whole
    assert f"a test set has {inside} of the {whole} documents of query '{name}'" in message


@models
@pytest.mark.parametrize("cv", [QueryKFold(3), GroupKFold(3)], ids=["QueryKFold", "GroupKFold"])
def test_folds_of_whole_queries_do_not_warn(model, cv):
    search = GridSearchCV(model, grid_of(model), cv=cv, scoring=SCORER)
    assert warned(lambda: search.fit(X, LABELS, groups=QID)) == []


@models
def test_ids_that_are_routed_are_seen(model):
    search = GridSearchCV(model, grid_of(model), cv=SHUFFLED, scoring=SCORER)
    whole = GridSearchCV(model, grid_of(model), cv=QueryKFold(3), scoring=SCORER)
    with sklearn.config_context(enable_metadata_routing=True):
        (message,) = warned(lambda: search.fit(X, Y, qid=QID))
        assert "query 'q" in message
        assert warned(lambda: whole.fit(X, Y, groups=QID)) == []


def test_groups_of_users_beside_the_ids_are_no_queries():
    users = np.repeat(np.arange(4), 3)[np.unique(QID, return_inverse=True)[1]]
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=QueryKFold(3), scoring=SCORER)
        assert warned(lambda: search.fit(X, LABELS, groups=users)) == []


def test_each_search_warns_again():
    call = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=SHUFFLED, scoring=SCORER).fit
    assert len(warned(lambda: call(X, LABELS))) == 1
    assert len(warned(lambda: call(X, LABELS))) == 1
    for _ in range(2):
        scores = warned(lambda: cross_val_score(Ridge(), X, LABELS, cv=SHUFFLED, scoring=SCORER))
        assert len(scores) == 1


def test_a_fit_warns_if_the_score_sees_no_queries():
    ranker = QueryRanker(Ridge())
    call = lambda cv: cross_val_score(ranker, X, LABELS, cv=cv, scoring="r2")  # noqa: E731
    (message,) = warned(lambda: call(SHUFFLED))
    assert "a training set has" in message
    assert warned(lambda: call(QueryKFold(3))) == []


@models
def test_a_learning_curve_of_rows_warns_once(model):
    options = {"scoring": SCORER, "train_sizes": [0.3, 0.9]}
    (message,) = warned(lambda: learning_curve(model, X, LABELS, cv=SHUFFLED, **options))
    assert "The folds cut queries" in message


def test_importances_of_a_sample_of_rows_warn_once():
    model = Ridge().fit(X, Y)
    call = lambda n: permutation_importance(  # noqa: E731
        model, X, LABELS, scoring=SCORER, max_samples=n, n_repeats=2, random_state=0
    )
    assert len(warned(lambda: call(0.3))) == 1
    assert warned(lambda: call(1.0)) == []


@models
def test_labels_that_are_permuted_with_their_ids_are_split_by_these(model):
    options = {"scoring": SCORER, "n_permutations": 3, "random_state": 0}
    # Calls with the same labels would count as one.
    call = lambda cv: permutation_test_score(model, X, with_qid(Y, QID), cv=cv, **options)  # noqa: E731
    (message,) = warned(lambda: call(SHUFFLED))
    assert "The folds cut queries" in message
    assert warned(lambda: call(QueryKFold(3))) == []


def test_features_that_are_eliminated_in_folds_of_rows_warn_once():
    with sklearn.config_context(enable_metadata_routing=True):
        for cv, number in ((SHUFFLED, 1), (QueryKFold(3), 0)):
            search = RFECV(Ridge(), cv=cv, scoring=SCORER)
            assert len(warned(lambda: search.fit(X, Y, qid=QID))) == number  # noqa: B023


@models
@pytest.mark.parametrize("cv", [SHUFFLED, QueryKFold(3)], ids=["KFold", "QueryKFold"])
@pytest.mark.filterwarnings("ignore:The folds cut queries")
def test_halving_on_rows_is_an_error(model, cv):
    search = HalvingGridSearchCV(model, grid_of(model), cv=cv, scoring=SCORER, min_resources=12)
    with pytest.raises(ValueError, match="resource='n_samples' cuts queries"):
        search.fit(X, LABELS)


def test_halving_on_trees_is_not():
    forest = RandomForestRegressor(random_state=0)
    grid = {"max_depth": [1, 2, 3]}
    options = {"resource": "n_estimators", "min_resources": 1, "max_resources": 9}
    search = HalvingGridSearchCV(forest, grid, cv=QueryKFold(3), scoring=SCORER, **options)
    assert warned(lambda: search.fit(X, LABELS)) == []

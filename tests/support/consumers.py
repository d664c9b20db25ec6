"""Every consumer of scikit-learn that can drive a ranker, as a function from (model, X, y, ids) to numbers.

Each is called once for every model and every way for the ids to travel, and has a second function that gives the same
numbers by hand.
"""

import contextlib
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import numpy as np
import pandas as pd
import sklearn
from catboost import CatBoostRanker
from joblib import parallel_backend
from lightgbm import LGBMRanker
from sklearn import model_selection
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the two halving searches importable
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRanker

from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, ndcg_score, with_qid

CV = QueryKFold(3)
SCORER = "ndcg@5"


@dataclass
class Way:
    """A way for the query ids to travel."""

    name: str
    routing: bool

    def labels(self, y, qid):
        return with_qid(y, qid) if self.name == "index of y" else y

    def keywords(self, qid):
        return {} if self.name == "index of y" else {self.name.removesuffix("="): qid}

    def context(self):
        return (
            sklearn.config_context(enable_metadata_routing=True)
            if self.routing
            else contextlib.nullcontext()
        )


WAYS = [Way("groups=", True), Way("qid=", True), Way("index of y", False)]


def models():
    """Models by name; a bare XGBRanker takes sorted rows and query ids as they are."""
    boosters = {
        "LGBMRanker": LGBMRanker(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1),
        "XGBRanker": XGBRanker(n_estimators=4, n_jobs=1),
        "CatBoostRanker": CatBoostRanker(
            n_estimators=4, verbose=False, allow_writing_files=False, thread_count=1
        ),
    }
    wrapped = {name: QueryRanker(model) for name, model in {"Ridge": Ridge(), **boosters}.items()}
    with sklearn.config_context(enable_metadata_routing=True):
        return {**wrapped, "bare XGBRanker": clone(boosters["XGBRanker"]).set_fit_request(qid=True)}


def problem(seed=0):
    """24 queries of 4 to 9 documents, sorted, with features of which the first two tell something."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(24), rng.integers(4, 10, 24))
    X = rng.normal(size=(len(qid), 4))
    y = np.clip(
        np.round(X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.5, size=len(qid))), 0, 3
    ).astype(int)
    return X, y, qid


# By hand: no part of scikit-learn's model selection, only fit and predict.


def fit(model, X, y, qid):
    return clone(model).fit(X, y, qid=qid)


def value(fitted, X, y, qid):
    return float(ndcg_score(y, np.asarray(fitted.predict(X), dtype=float), qid=qid, k=5))


def folds(X, qid):
    return CV.split(X, groups=qid)


def of_each_fold(score):
    """What ``score(model, train, test)`` gives for the folds, of columns (X, y, qid) to fit on and to score."""

    def scores(model, *columns):
        sides = [
            [[column[rows] for column in columns] for rows in fold]
            for fold in folds(columns[0], columns[-1])
        ]
        return np.array([score(model, train, test) for train, test in sides])

    return scores


@of_each_fold
def fold_scores(model, train, test):
    return value(fit(model, *train), *test)


def parameter(model):
    """A parameter to vary, and two values."""
    inner = getattr(model, "estimator", None)
    if isinstance(inner, Ridge):
        return "estimator__alpha", [0.1, 1000.0]
    return ("n_estimators" if inner is None else "estimator__n_estimators"), [2, 6]


def candidates(model):
    name, values = parameter(model)
    return [clone(model).set_params(**{name: v}) for v in values]


# The consumers: through scikit-learn, and by hand.


def options(**further):
    """Scorer and folds, with a scorer of its own for each call, made under the setting of routing there."""
    return {"scoring": make_ranking_scorer(SCORER), "cv": CV, **further}


def _of(name, chosen=np.asarray, wrapped=lambda model: model, **further):
    """A function of scikit-learn on a model, which may be wrapped, and what is chosen from its results."""

    def run(model, X, y, keywords):
        function = getattr(model_selection, name)
        return chosen(function(wrapped(model), X, y, **options(**further, params=keywords or None)))

    return run


def _search(kind, **further):
    def run(model, X, y, keywords):
        name, values = parameter(model)
        search = getattr(model_selection, kind)(
            model, {name: values}, **options(error_score="raise", **further)
        )
        found = search.fit(X, y, **keywords).cv_results_
        order = np.argsort([params[name] for params in found["params"]])
        return np.array([[found[f"split{i}_test_score"][c] for i in range(3)] for c in order])

    return run


def _search_by_hand(model, X, y, qid):
    return np.array([fold_scores(candidate, X, y, qid) for candidate in candidates(model)])


def _halving(kind, **further):
    def run(model, X, y, keywords):
        name = parameter(model)[0]
        rate = name.replace("n_estimators", "learning_rate")
        resource = {"resource": name, "min_resources": 2, "max_resources": 4, "factor": 2}
        fixed = {**resource, **options(error_score="raise", refit=False, **further)}
        search = getattr(model_selection, kind)(model, {rate: [0.05, 0.3]}, **fixed)
        found = search.fit(X, y, **keywords).cv_results_
        columns = (
            found["n_resources"],
            [params[rate] for params in found["params"]],
            found["mean_test_score"],
        )
        return np.array(sorted(zip(*columns, strict=True))[:2])

    return run


def _halving_by_hand(model, X, y, qid):
    name = parameter(model)[0]
    rate = name.replace("n_estimators", "learning_rate")
    rungs = [
        (2, r, fold_scores(clone(model).set_params(**{name: 2, rate: r}), X, y, qid))
        for r in (0.05, 0.3)
    ]
    return np.array([(n, r, np.mean(scores)) for n, r, scores in rungs])


@of_each_fold
def _cross_validate_by_hand(model, train, test):
    fitted = fit(model, *train)
    return value(fitted, *test), value(fitted, *train)


def _cross_val_predict(model, X, y, keywords):
    return model_selection.cross_val_predict(model, X, y, cv=CV, params=keywords or None)


def _cross_val_predict_by_hand(model, X, y, qid):
    predicted = np.zeros(len(y))
    for a, b in folds(X, qid):
        predicted[b] = fit(model, X[a], y[a], qid[a]).predict(X[b])
    return predicted


def _learning_curve_by_hand(model, X, y, qid):
    smallest = min(len(train) for train, _ in folds(X, qid))

    def score(model, train, test):
        return [
            value(fit(model, *(column[:n] for column in train)), *test)
            for n in (int(0.5 * smallest), smallest)
        ]

    return of_each_fold(score)(model, X, y, qid).T


def first_cut(X, qid):
    """The query that the shorter training set of the first fold of a learning curve cuts, as the warning says it."""
    trains = [train for train, _ in folds(X, qid)]
    inside = qid[trains[0][: int(0.5 * min(map(len, trains)))]]
    counts = {one: (np.sum(inside == one), np.sum(qid == one)) for one in np.unique(inside)}
    ((one, (seen, size)),) = [(one, both) for one, both in counts.items() if both[0] < both[1]]
    return f"set has {seen} of the {size} documents of query {one}."


def _validation_curve(model, X, y, keywords):
    name, values = parameter(model)
    further = {"param_name": name, "param_range": values, "error_score": "raise"}
    return _of("validation_curve", itemgetter(1), **further)(model, X, y, keywords)


def _above_permuted(found):
    assert (found[1] < found[0]).all()
    return found[0]


def _mean_by_hand(model, X, y, qid):
    return np.mean(fold_scores(model, X, y, qid))


def _selected(kind, chosen, **further):
    def run(model, X, y, keywords):
        return chosen(kind(model, **options(**further)).fit(X, y, **keywords))

    return run


def _sequential_selection_by_hand(model, X, y, qid):
    best = np.argmax([_mean_by_hand(model, X[:, [i]], y, qid) for i in range(X.shape[1])])
    return np.arange(X.shape[1]) == best


def _importance(model):
    inner = getattr(model, "estimator_", model)
    if isinstance(inner, CatBoostRanker):  # whose feature_importances_ would need the training data
        return inner.get_feature_importance(type="PredictionValuesChange")
    return np.abs(inner.coef_ if hasattr(inner, "coef_") else inner.feature_importances_)


@of_each_fold
def _rfecv_by_hand(model, train, test):
    (X_train, *train), (X_test, *test) = train, test
    every = fit(model, X_train, *train)
    kept = np.sort(np.argsort(_importance(every) ** 2)[1:])
    fewer = fit(model, X_train[:, kept], *train)
    return value(fewer, X_test[:, kept], *test), value(every, X_test, *test)


def _permutation_importance(model, X, y, keywords):
    fitted = clone(model).fit(X, y, **keywords)
    scorer = make_ranking_scorer(SCORER)
    with sklearn.config_context(enable_metadata_routing=False):
        return permutation_importance(
            fitted, X, y, scoring=scorer, n_repeats=2, random_state=0
        ).importances_mean[2:]


def _permutation_importance_by_hand(model, X, y, qid):
    fitted = fit(model, X, y, qid)
    base, seed, drops = (
        value(fitted, X, y, qid),
        np.random.RandomState(0).randint(np.iinfo(np.int32).max + 1),
        [],
    )
    for column in range(X.shape[1]):
        random, shuffled = np.random.RandomState(seed), X.copy()
        order, repeats = np.arange(len(X)), []
        for _ in range(2):
            random.shuffle(order)
            shuffled[:, column] = shuffled[order, column]
            repeats.append(base - value(fitted, shuffled, y, qid))
        drops.append(np.mean(repeats))
    return np.array(drops[2:])


def _nested(model, X, y, keywords):
    name, values = parameter(model)
    inner = model_selection.GridSearchCV(model, {name: values}, **options(error_score="raise"))
    return _of("cross_val_score", error_score="raise")(inner, X, y, keywords)


@of_each_fold
def _nested_by_hand(model, train, test):
    best = np.argmax(_search_by_hand(model, *train).mean(axis=1))
    return value(fit(candidates(model)[best], *train), *test)


@of_each_fold
def _pipeline_by_hand(model, train, test):
    (X_train, *train), (X_test, *test) = train, test
    mean, std = X_train.mean(axis=0), X_train.std(axis=0)
    return value(fit(model, (X_train - mean) / std, *train), (X_test - mean) / std, *test)


def _column_transformer(model, X, y, keywords):
    scaled = ColumnTransformer([("scale", StandardScaler(), list("abcd"))])
    frame = pd.DataFrame(X, columns=list("abcd"))
    return _of("cross_val_score")(make_pipeline(scaled, model), frame, y, keywords)


def _transformed_target(model):
    transformed = TransformedTargetRegressor(
        Ridge(), func=np.sqrt, inverse_func=np.square, check_inverse=False
    )
    return QueryRanker(transformed)


@of_each_fold
def _transformed_target_by_hand(model, train, test):
    (X_train, y_train, _), (X_test, y_test, ids) = train, test
    return ndcg_score(
        y_test, np.square(Ridge().fit(X_train, np.sqrt(y_train)).predict(X_test)), qid=ids, k=5
    )


def _with_backend(backend):
    def run(*arguments):
        with parallel_backend(backend, n_jobs=2):
            return _search("GridSearchCV", n_jobs=2)(*arguments)

    return run


RANDOM = {"n_candidates": 2, "random_state": 0}
CONSUMERS = {  # through scikit-learn, and by hand
    "GridSearchCV": (_search("GridSearchCV"), _search_by_hand),
    "GridSearchCV in 2 processes": (_with_backend("loky"), _search_by_hand),
    "GridSearchCV in 2 threads": (_with_backend("threading"), _search_by_hand),
    "RandomizedSearchCV": (_search("RandomizedSearchCV", n_iter=2, random_state=0), _search_by_hand),
    "HalvingGridSearchCV on n_estimators": (_halving("HalvingGridSearchCV"), _halving_by_hand),
    "HalvingRandomSearchCV on n_estimators": (_halving("HalvingRandomSearchCV", **RANDOM), _halving_by_hand),
    "cross_validate with train scores": (
        _of("cross_validate", lambda found: np.column_stack([found["test_score"], found["train_score"]]),
            return_train_score=True),
        _cross_validate_by_hand,
    ),
    "cross_val_score": (_of("cross_val_score"), fold_scores),
    "cross_val_predict": (_cross_val_predict, _cross_val_predict_by_hand),
    "learning_curve": (
        _of("learning_curve", itemgetter(2), train_sizes=[0.5, 1.0], error_score="raise"), _learning_curve_by_hand,
    ),
    "validation_curve": (_validation_curve, _search_by_hand),
    "permutation_test_score": (
        _of("permutation_test_score", _above_permuted, n_permutations=3, random_state=0), _mean_by_hand,
    ),
    "SequentialFeatureSelector": (
        _selected(SequentialFeatureSelector, lambda selector: selector.get_support(), n_features_to_select=1),
        _sequential_selection_by_hand,
    ),
    "RFECV": (
        _selected(RFECV, lambda selector: np.array([selector.cv_results_[f"split{i}_test_score"] for i in range(3)]),
                  step=1, min_features_to_select=3),
        _rfecv_by_hand,
    ),
    "permutation_importance": (_permutation_importance, _permutation_importance_by_hand),
    "nested cross-validation": (_nested, _nested_by_hand),
    "Pipeline": (_of("cross_val_score", wrapped=partial(make_pipeline, StandardScaler())), _pipeline_by_hand),
    "ColumnTransformer with pandas": (_column_transformer, _pipeline_by_hand),
    "TransformedTargetRegressor": (_of("cross_val_score", wrapped=_transformed_target), _transformed_target_by_hand),
}  # fmt: skip

"""Every consumer of scikit-learn that can drive a ranker, as a function from (model, X, y, ids) to numbers.

Each is called once for every model and every way for the ids to travel, and has a second function that gives the same
numbers by hand.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from catboost import CatBoostRanker
from joblib import parallel_backend
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the two halving searches importable
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
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

    def labels(self, y: Any, qid: Any) -> Any:
        return with_qid(y, qid) if self.name == "index of y" else y

    def keywords(self, qid: Any) -> dict[str, Any]:
        return {} if self.name == "index of y" else {self.name.removesuffix("="): qid}

    def context(self) -> Any:
        return sklearn.config_context(enable_metadata_routing=True) if self.routing else contextlib.nullcontext()


WAYS = [Way("groups=", True), Way("qid=", True), Way("index of y", False)]


def models() -> dict[str, Any]:
    """Models by name; a bare XGBRanker takes sorted rows and query ids as they are."""
    boosters = {
        "LGBMRanker": LGBMRanker(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1),
        "XGBRanker": XGBRanker(n_estimators=4, n_jobs=1),
        "CatBoostRanker": CatBoostRanker(n_estimators=4, verbose=False, allow_writing_files=False, thread_count=1),
    }
    wrapped = {name: QueryRanker(model) for name, model in {"Ridge": Ridge(), **boosters}.items()}
    with sklearn.config_context(enable_metadata_routing=True):
        bare = XGBRanker(n_estimators=4, n_jobs=1).set_fit_request(qid=True)
    return {**wrapped, "bare XGBRanker": bare}


def problem(seed: int = 0) -> tuple[Any, Any, Any]:
    """24 queries of 4 to 9 documents, sorted, with features of which the first two tell something."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(24), rng.integers(4, 10, 24))
    X = rng.normal(size=(len(qid), 4))
    y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.5, size=len(qid))), 0, 3).astype(int)
    return X, y, qid


# By hand: no part of scikit-learn's model selection, only fit and predict.


def fit(model: Any, X: Any, y: Any, qid: Any) -> Any:
    return clone(model).fit(X, y, qid=qid)


def value(fitted: Any, X: Any, y: Any, qid: Any) -> float:
    return float(ndcg_score(y, np.asarray(fitted.predict(X), dtype=float), qid=qid, k=5))


def folds(X: Any, qid: Any) -> Any:
    return CV.split(X, groups=qid)


def fold_scores(model: Any, X: Any, y: Any, qid: Any) -> list[float]:
    return [value(fit(model, X[a], y[a], qid[a]), X[b], y[b], qid[b]) for a, b in folds(X, qid)]


def parameter(model: Any) -> tuple[str, list[Any]]:
    """A parameter to vary, and two values."""
    inner = getattr(model, "estimator", None)
    if isinstance(inner, Ridge):
        return "estimator__alpha", [0.1, 1000.0]
    return ("n_estimators" if inner is None else "estimator__n_estimators"), [2, 6]


def candidates(model: Any) -> list[Any]:
    name, values = parameter(model)
    return [clone(model).set_params(**{name: v}) for v in values]


# The consumers: through scikit-learn, and by hand.


def _search(kind: Any, **options: Any) -> Any:
    def run(model: Any, X: Any, y: Any, keywords: Any) -> Any:
        name, values = parameter(model)
        search = kind(model, {name: values}, scoring=make_ranking_scorer(SCORER), cv=CV, error_score="raise", **options)
        found = search.fit(X, y, **keywords).cv_results_
        order = np.argsort([params[name] for params in found["params"]])
        return np.array([[found[f"split{i}_test_score"][c] for i in range(3)] for c in order])

    return run


def _search_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    return np.array([fold_scores(candidate, X, y, qid) for candidate in candidates(model)])


def _halving(kind: Any) -> Any:
    def run(model: Any, X: Any, y: Any, keywords: Any) -> Any:
        name = parameter(model)[0]
        depth = {n: n.replace("n_estimators", "learning_rate") for n in (name,)}[name]
        options = {"n_candidates": 2, "random_state": 0} if kind is HalvingRandomSearchCV else {}
        search = kind(
            model, {depth: [0.05, 0.3]}, resource=name, min_resources=2, max_resources=4, factor=2,
            scoring=make_ranking_scorer(SCORER), cv=CV, error_score="raise", refit=False, **options,
        )  # fmt: skip
        found = search.fit(X, y, **keywords).cv_results_
        rows = sorted(
            (n, params[depth], score)
            for n, params, score in zip(found["n_resources"], found["params"], found["mean_test_score"], strict=True)
        )
        return np.array(rows[:2])

    return run


def _halving_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    name = parameter(model)[0]
    rate = name.replace("n_estimators", "learning_rate")
    rungs = [(2, r, fold_scores(clone(model).set_params(**{name: 2, rate: r}), X, y, qid)) for r in (0.05, 0.3)]
    return np.array([(n, r, np.mean(scores)) for n, r, scores in rungs])


def _cross_validate(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    scorer = make_ranking_scorer(SCORER)
    found = cross_validate(model, X, y, scoring=scorer, cv=CV, return_train_score=True, params=keywords or None)
    return np.array([found["test_score"], found["train_score"]])


def _cross_validate_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    fitted = [(fit(model, X[a], y[a], qid[a]), a, b) for a, b in folds(X, qid)]
    return np.array([[value(m, X[rows[i]], y[rows[i]], qid[rows[i]]) for m, *rows in fitted] for i in (1, 0)])


def _cross_val_score(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    return cross_val_score(model, X, y, scoring=make_ranking_scorer(SCORER), cv=CV, params=keywords or None)


def _cross_val_predict(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    return cross_val_predict(model, X, y, cv=CV, params=keywords or None)


def _cross_val_predict_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    predicted = np.zeros(len(y))
    for a, b in folds(X, qid):
        predicted[b] = fit(model, X[a], y[a], qid[a]).predict(X[b])
    return predicted


def _learning_curve(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    scorer = make_ranking_scorer(SCORER)
    return learning_curve(
        model, X, y, scoring=scorer, cv=CV, train_sizes=[0.5, 1.0], params=keywords or None, error_score="raise"
    )[2]


def _learning_curve_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    smallest = min(len(a) for a, _ in folds(X, qid))
    sizes = [int(0.5 * smallest), smallest]
    return np.array(
        [
            [value(fit(model, X[a[:n]], y[a[:n]], qid[a[:n]]), X[b], y[b], qid[b]) for a, b in folds(X, qid)]
            for n in sizes
        ]
    )


def _validation_curve(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    name, values = parameter(model)
    return validation_curve(
        model, X, y, param_name=name, param_range=values, scoring=make_ranking_scorer(SCORER), cv=CV,
        params=keywords or None, error_score="raise",
    )[1]  # fmt: skip


def _permutation_test(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    scorer = make_ranking_scorer(SCORER)
    score, permuted, _ = permutation_test_score(
        model, X, y, scoring=scorer, cv=CV, n_permutations=3, random_state=0, params=keywords or None
    )
    assert (permuted < score).all()
    return score


def _mean_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    return np.mean(fold_scores(model, X, y, qid))


def _sequential_selection(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    selector = SequentialFeatureSelector(model, n_features_to_select=1, scoring=make_ranking_scorer(SCORER), cv=CV)
    return selector.fit(X, y, **keywords).get_support()


def _sequential_selection_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    best = np.argmax([_mean_by_hand(model, X[:, [i]], y, qid) for i in range(X.shape[1])])
    return np.arange(X.shape[1]) == best


def _importance(model: Any) -> Any:
    inner = getattr(model, "estimator_", model)
    if isinstance(inner, CatBoostRanker):  # whose feature_importances_ would need the training data
        return inner.get_feature_importance(type="PredictionValuesChange")
    return np.abs(getattr(inner, "coef_", None) if hasattr(inner, "coef_") else inner.feature_importances_)


def _rfecv(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    selector = RFECV(model, step=1, min_features_to_select=3, scoring=make_ranking_scorer(SCORER), cv=CV)
    return selector.fit(X, y, **keywords).cv_results_["mean_test_score"]


def _rfecv_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    scores = []
    for a, b in folds(X, qid):
        every = fit(model, X[a], y[a], qid[a])
        kept = np.sort(np.argsort(_importance(every) ** 2)[1:])
        fewer = fit(model, X[a][:, kept], y[a], qid[a])
        scores.append([value(fewer, X[b][:, kept], y[b], qid[b]), value(every, X[b], y[b], qid[b])])
    return np.mean(scores, axis=0)


def _permutation_importance(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    fitted = clone(model).fit(X, y, **keywords)
    scorer = make_ranking_scorer(SCORER)
    with sklearn.config_context(enable_metadata_routing=False):
        return permutation_importance(fitted, X, y, scoring=scorer, n_repeats=2, random_state=0).importances_mean[2:]


def _permutation_importance_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    fitted = fit(model, X, y, qid)
    base, seed, drops = value(fitted, X, y, qid), np.random.RandomState(0).randint(np.iinfo(np.int32).max + 1), []
    for column in range(X.shape[1]):
        random, shuffled = np.random.RandomState(seed), X.copy()
        order, repeats = np.arange(len(X)), []
        for _ in range(2):
            random.shuffle(order)
            shuffled[:, column] = shuffled[order, column]
            repeats.append(base - value(fitted, shuffled, y, qid))
        drops.append(np.mean(repeats))
    return np.array(drops[2:])


def _nested(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    name, values = parameter(model)
    scorer = make_ranking_scorer(SCORER)
    inner = GridSearchCV(model, {name: values}, scoring=scorer, cv=CV, error_score="raise")
    return cross_val_score(inner, X, y, scoring=scorer, cv=CV, params=keywords or None, error_score="raise")


def _nested_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    scores = []
    for a, b in folds(X, qid):
        best = np.argmax(_search_by_hand(model, X[a], y[a], qid[a]).mean(axis=1))
        scores.append(value(fit(candidates(model)[best], X[a], y[a], qid[a]), X[b], y[b], qid[b]))
    return np.array(scores)


def _pipeline(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    return _cross_val_score(make_pipeline(StandardScaler(), model), X, y, keywords)


def _pipeline_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    scores = []
    for a, b in folds(X, qid):
        mean, std = X[a].mean(axis=0), X[a].std(axis=0)
        scores.append(value(fit(model, (X[a] - mean) / std, y[a], qid[a]), (X[b] - mean) / std, y[b], qid[b]))
    return np.array(scores)


def _column_transformer(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    frame = pd.DataFrame(X, columns=list("abcd"))
    chosen = ColumnTransformer([("scale", StandardScaler(), list("abcd"))])
    return _cross_val_score(make_pipeline(chosen, model), frame, y, keywords)


def _transformed_target(model: Any, X: Any, y: Any, keywords: Any) -> Any:
    transformed = TransformedTargetRegressor(Ridge(), func=np.sqrt, inverse_func=np.square, check_inverse=False)
    return _cross_val_score(QueryRanker(transformed), X, y, keywords)


def _transformed_target_by_hand(model: Any, X: Any, y: Any, qid: Any) -> Any:
    scores = []
    for a, b in folds(X, qid):
        predicted = np.square(Ridge().fit(X[a], np.sqrt(y[a])).predict(X[b]))
        scores.append(ndcg_score(y[b], predicted, qid=qid[b], k=5))
    return np.array(scores)


def _with_backend(backend: str) -> Any:
    def run(*arguments: Any) -> Any:
        with parallel_backend(backend, n_jobs=2):
            return _search(GridSearchCV, n_jobs=2)(*arguments)

    return run


CONSUMERS = {
    "GridSearchCV": (_search(GridSearchCV), _search_by_hand),
    "GridSearchCV, 2 processes": (_with_backend("loky"), _search_by_hand),
    "GridSearchCV, 2 threads": (_with_backend("threading"), _search_by_hand),
    "RandomizedSearchCV": (_search(RandomizedSearchCV, n_iter=2, random_state=0), _search_by_hand),
    "HalvingGridSearchCV on n_estimators": (_halving(HalvingGridSearchCV), _halving_by_hand),
    "HalvingRandomSearchCV on n_estimators": (_halving(HalvingRandomSearchCV), _halving_by_hand),
    "cross_validate, with train scores": (_cross_validate, _cross_validate_by_hand),
    "cross_val_score": (_cross_val_score, fold_scores),
    "cross_val_predict": (_cross_val_predict, _cross_val_predict_by_hand),
    "learning_curve": (_learning_curve, _learning_curve_by_hand),
    "validation_curve": (_validation_curve, _search_by_hand),
    "permutation_test_score": (_permutation_test, _mean_by_hand),
    "SequentialFeatureSelector": (_sequential_selection, _sequential_selection_by_hand),
    "RFECV": (_rfecv, _rfecv_by_hand),
    "permutation_importance": (_permutation_importance, _permutation_importance_by_hand),
    "nested cross-validation": (_nested, _nested_by_hand),
    "Pipeline": (_pipeline, _pipeline_by_hand),
    "ColumnTransformer, pandas": (_column_transformer, _pipeline_by_hand),
    "TransformedTargetRegressor": (_transformed_target, _transformed_target_by_hand),
}

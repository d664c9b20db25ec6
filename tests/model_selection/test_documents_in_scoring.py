"""Columns of documents, such as prices, reach custom metrics wherever scikit-learn scores."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    cross_evaluate,
    evaluate,
    make_metric,
    make_ranking_scorer,
    ranking_scorers,
    spearman_score,
    with_qid,
)
from skrank_metrics.model_selection import RacingSearchCV, search_report

RNG = np.random.default_rng(0)
QID = RNG.permutation(np.repeat(np.arange(30), 6))
N = len(QID)
X = RNG.normal(size=(N, 3))
Y = np.clip(np.round(X[:, 0] + RNG.normal(size=N)), 0, 2)
PRICE = RNG.integers(1, 50, N) / 4
GENRE = np.array(["drama", "comedy", "news"])[RNG.integers(0, 3, N)]
COLUMNS = {"price": PRICE, "genre": GENRE}
CV = QueryKFold(3)
GRID = {"estimator__alpha": [1.0, 1e3]}


def revenue(labels, price, k=None):
    return float((labels * price)[:k].sum())


def variety(labels, genre, k=None):
    """The share of different genres among the first k documents."""
    shown = genre[:k]
    return len(set(shown)) / len(shown)


REVENUE = make_metric(revenue, documents=["price"])
VARIETY = make_metric(variety, documents=["genre"], bounds=(0, 1))
SCORERS = {"revenue": make_ranking_scorer(REVENUE, k=2), "variety": make_ranking_scorer(VARIETY)}


def by_hand(alpha=1.0, columns=(0, 1, 2)):
    """Revenue of the first two documents, in plain loops."""
    folds = []
    X_of = X[:, columns]
    for train, test in CV.split(X, groups=QID):
        model = Ridge(alpha=alpha).fit(X_of[train], Y[train])
        scores = model.predict(X_of[test])
        earned = []
        for query in np.unique(QID[test]):
            rows = np.flatnonzero(QID[test] == query)
            first = test[rows[np.argsort(-scores[rows])[:2]]]
            earned.append((Y[first] * PRICE[first]).sum())
        folds.append(np.mean(earned))
    return folds


EXPECTED = [by_hand(1.0), by_hand(1e3)]
FRAMES = [COLUMNS, pd.DataFrame(COLUMNS)]


@pytest.mark.option("with_qid.documents")
@pytest.mark.parametrize("columns", FRAMES, ids=["dict", "frame"])
def test_the_index_of_y_carries_them(columns):
    y = with_qid(Y, QID, documents=columns)
    assert list(y.index.names) == ["qid", "documents.price", "documents.genre"]
    found = cross_val_score(QueryRanker(Ridge()), X, y, cv=CV, scoring=SCORERS["revenue"])
    np.testing.assert_allclose(found, EXPECTED[0])
    options = {"scoring": SCORERS["revenue"], "cv": CV}
    for kind in (GridSearchCV, RacingSearchCV):
        search = kind(QueryRanker(Ridge()), GRID, **options).fit(X, y)
        means = search.cv_results_["mean_test_score"]
        np.testing.assert_allclose(means, np.mean(EXPECTED, axis=1))
        assert search_report(search, X, y, verbose=0).changed < 1e-12
    result = cross_evaluate(Ridge(), X, y, cv=CV, metrics=[REVENUE, VARIETY, "mrr"])
    whole = evaluate(Y, result.scores["Ridge"], qid=QID, metrics=REVENUE, documents=COLUMNS)
    assert result.reports["Ridge"].mean["revenue"] == whole.mean["revenue"]


@pytest.mark.parametrize("scoring", [SCORERS["revenue"], SCORERS], ids=["one", "dict"])
def test_metadata_routing_passes_a_frame(scoring):
    options = {"scoring": scoring, "cv": CV, "refit": False}
    given = {"groups": QID, "documents": pd.DataFrame(COLUMNS)}
    name = "mean_test_revenue" if isinstance(scoring, dict) else "mean_test_score"
    with sklearn.config_context(enable_metadata_routing=True):
        for kind in (GridSearchCV, RacingSearchCV):
            search = kind(QueryRanker(Ridge()), GRID, **options).fit(X, Y, **given)
            np.testing.assert_allclose(search.cv_results_[name], np.mean(EXPECTED, axis=1))
        message = "must have the same shape as y_true"
        with pytest.raises(ValueError, match=message):
            GridSearchCV(QueryRanker(Ridge()), GRID, **options).fit(
                X, Y, groups=QID, documents=COLUMNS
            )
        misplaced = pd.DataFrame(COLUMNS, index=np.arange(N)[::-1])
        search = GridSearchCV(QueryRanker(Ridge()), GRID, **options)
        with pytest.raises(ValueError, match="must have the same index as"):
            search.fit(pd.DataFrame(X), Y, groups=QID, documents=misplaced)


def test_feature_selection_takes_them():
    y = with_qid(Y, QID, documents=COLUMNS)
    selector = SequentialFeatureSelector(
        Ridge(), n_features_to_select=1, scoring=SCORERS["revenue"], cv=CV
    )
    best = np.argmax([np.mean(by_hand(columns=[column])) for column in range(3)])
    selected = selector.fit(X, y).get_support()
    assert selected.tolist() == [column == best for column in range(3)]


def test_functions_and_reports_take_them_from_labels():
    y = with_qid(Y, QID, documents=COLUMNS)
    expected = REVENUE(Y, X[:, 0], qid=QID, documents=COLUMNS, k=2)
    assert REVENUE(y, X[:, 0], k=2) == expected
    assert evaluate(y, X[:, 0], metrics=VARIETY).mean == (
        evaluate(Y, X[:, 0], qid=QID, metrics=VARIETY, documents=COLUMNS).mean
    )
    more = with_qid(with_qid(Y, QID, documents={"price": PRICE}), QID, documents={"genre": GENRE})
    assert set(more.index.names) == {"qid", "documents.price", "documents.genre"}
    with pytest.raises(ValueError, match=r"documents\.price must agree with the index level"):
        REVENUE(y, X[:, 0], documents={"price": PRICE + 1})


@pytest.mark.parametrize(
    "column",
    [
        PRICE.astype(np.float16),
        PRICE.astype(np.float32),
        np.arange(N).astype(np.int8),
        PRICE > 5,
        np.where(PRICE > 5, PRICE, np.nan),
        np.array([("a", n % 3) for n in range(N)] + [None], dtype=object)[:N],
        [frozenset({n % 2}) for n in range(N)],
        list(GENRE),
        pd.Categorical(GENRE),
        np.arange(N).astype("datetime64[D]"),
    ],
    ids=lambda column: str(getattr(column, "dtype", type(column).__name__)),
)
def test_columns_of_any_hashable_type(column):
    seen = []

    def keep(labels, thing):
        seen.append(list(thing))
        return 0.0

    metric = make_metric(keep, documents=["thing"])
    scores = np.arange(N, dtype=float)
    metric(with_qid(Y, QID, documents={"thing": column}), scores)
    carried, seen = seen, []
    metric(Y, scores, qid=QID, documents={"thing": column})
    for one, other in zip(carried, seen, strict=True):
        same = [a == b or (a != a and b != b) for a, b in zip(one, other, strict=True)]
        assert all(same)


def test_what_an_index_cannot_hold_is_an_error():
    with pytest.raises(TypeError, match=r"documents\['tags'\] must hold hashable entries.*got set"):
        with_qid([1, 0], ["a", "a"], documents={"tags": [{1}, {2}]})
    with pytest.raises(ValueError, match=r"documents\['price'\] must have the same shape as"):
        with_qid([1, 0], ["a", "a"], documents={"price": [1.0]})
    message = r"with the column 'price'\. Pass .* with_qid\(y, qid, documents=\{'price': \.\.\.\}\)"
    with pytest.raises(ValueError, match=message):
        cross_val_score(Ridge(), X, with_qid(Y, QID), scoring=SCORERS["revenue"], cv=CV)


# Recipes of docs/own_metrics.md


def test_a_weighted_sum_of_metrics_as_scoring():
    scorers = ranking_scorers("ndcg@5", "mrr")

    def blend(model, X, y):
        ndcg = scorers["ndcg@5"](model, X, y)
        mrr = scorers["mrr"](model, X, y)
        return 0.7 * ndcg + 0.3 * mrr

    y = with_qid(Y, QID)
    options = {"cv": CV, "error_score": "raise"}
    found = cross_val_score(Ridge(), X, y, scoring=blend, **options)
    parts = [cross_val_score(Ridge(), X, y, scoring=scorers[name], **options) for name in scorers]
    np.testing.assert_allclose(found, 0.7 * parts[0] + 0.3 * parts[1])


def test_the_sharpe_ratio_over_eras_as_scoring():
    def sharpe(model, X, y):
        per_era = spearman_score(y, model.predict(X), average=None)
        return per_era.mean() / per_era.std()

    y = with_qid(Y, QID)
    found = cross_val_score(Ridge(), X, y, scoring=sharpe, cv=CV, error_score="raise")
    for fold, (train, test) in enumerate(CV.split(X, groups=QID)):
        model = Ridge().fit(X[train], Y[train])
        rows = pd.DataFrame({"label": Y[test], "score": model.predict(X[test])})
        values = []
        for _, era in rows.groupby(QID[test]):
            ranks = era.rank()
            is_constant = ranks["label"].std() == 0
            values.append(0.0 if is_constant else ranks["label"].corr(ranks["score"]))
        ratio = np.mean(values) / np.std(values)
        assert found[fold] == pytest.approx(ratio)

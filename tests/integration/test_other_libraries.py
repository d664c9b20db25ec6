"""Searches, selection and logging of other libraries: the numbers of a loop by hand, or a listed limit."""

import lightgbm
import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from support.consumers import CONSUMERS, CV, SCORER, WAYS, fold_scores, problem
from xgboost import XGBRanker

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    cross_evaluate,
    evaluate,
    make_ranking_scorer,
    ndcg_score,
    with_qid,
)
from skrank_metrics.rankers import lightgbm_metric

MODEL = QueryRanker(LGBMRanker(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1))
LEAVES = "estimator__num_leaves"
X, Y, QID = problem()
GROUPS = WAYS[0]
BY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)


def with_leaves(leaves):
    return clone(MODEL).set_params(**{LEAVES: leaves})


@pytest.fixture(scope="module")
def by_hand():
    """The mean score of each candidate, from loops over the folds."""
    found = {leaves: np.mean(fold_scores(with_leaves(leaves), X, Y, QID)) for leaves in (3, 7)}
    assert found[3] != found[7]
    return found


@pytest.fixture
def optuna():
    module = pytest.importorskip("optuna", reason="needs optuna, of the extra 'consumers'")
    module.logging.set_verbosity(module.logging.WARNING)
    return module


def mean_of_cross_val_score(model, y, keywords):
    return cross_val_score(
        model, X, y, scoring=make_ranking_scorer(SCORER), cv=CV, params=keywords or None
    ).mean()


def mean_of_cross_evaluate(model, y, keywords):
    return (
        cross_evaluate(model, X, y, cv=CV, metrics=[SCORER], **keywords)
        .reports["QueryRanker"]
        .mean[SCORER]
    )


def mean_over_queries(leaves):
    predicted = CONSUMERS["cross_val_predict"][1](with_leaves(leaves), X, Y, QID)
    return ndcg_score(Y, predicted, qid=QID, k=5)


@pytest.mark.slow
@BY_WAY
def test_an_optuna_study(way, optuna, by_hand):
    for objective in (mean_of_cross_val_score, mean_of_cross_evaluate):
        sampler = optuna.samplers.GridSampler({"leaves": [3, 7]}, seed=0)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        with way.context():
            study.optimize(
                lambda trial, objective=objective: objective(
                    with_leaves(trial.suggest_categorical("leaves", [3, 7])),
                    way.labels(Y, QID),
                    way.keywords(QID),
                ),
                n_trials=2,
            )
        of_folds = objective is mean_of_cross_val_score
        expected = by_hand if of_folds else {leaves: mean_over_queries(leaves) for leaves in (3, 7)}
        found = {trial.params["leaves"]: trial.value for trial in study.trials}
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(experimental|deprecated)")
@pytest.mark.parametrize("way", WAYS[1:], ids=lambda way: way.name)
def test_optuna_search_cv(way, optuna, by_hand):
    search = pytest.importorskip("optuna_integration.sklearn", reason="needs optuna-integration").OptunaSearchCV(
        clone(MODEL), {LEAVES: optuna.distributions.CategoricalDistribution([3, 7])}, n_trials=4, random_state=0,
        scoring=make_ranking_scorer(SCORER), cv=CV, error_score="raise",
    )  # fmt: skip
    with way.context():
        search.fit(X, way.labels(Y, QID), **way.keywords(QID))
    found = {trial.params[LEAVES]: trial.value for trial in search.trials_}
    assert found == pytest.approx(by_hand, abs=1e-12)
    refitted = with_leaves(search.best_params_[LEAVES]).fit(X, Y, qid=QID)
    np.testing.assert_array_equal(search.predict(X), refitted.predict(X))


@pytest.mark.slow
@BY_WAY
def test_bayes_search_cv_of_scikit_optimize(way, by_hand):
    skopt = pytest.importorskip("skopt", reason="needs scikit-optimize, of the extra 'consumers'")
    search = skopt.BayesSearchCV(
        clone(MODEL), {LEAVES: skopt.space.Categorical([3, 7])}, n_iter=4, random_state=0, error_score="raise",
        scoring=make_ranking_scorer(SCORER), cv=CV, optimizer_kwargs={"base_estimator": "ET"},
    )  # fmt: skip
    with way.context():
        results = search.fit(X, way.labels(Y, QID), **way.keywords(QID)).cv_results_
    found = {
        params[LEAVES]: mean
        for params, mean in zip(results["params"], results["mean_test_score"], strict=True)
    }
    assert found == pytest.approx(by_hand, abs=1e-12)
    assert search.best_params_[LEAVES] == max(by_hand, key=by_hand.get)


@pytest.mark.slow
def test_sequential_feature_selector_of_mlxtend():
    selection = pytest.importorskip(
        "mlxtend.feature_selection", reason="needs mlxtend, of the extra 'consumers'"
    )
    found = {}
    for way in WAYS[1:]:
        options = {
            "k_features": 2,
            "forward": True,
            "scoring": make_ranking_scorer(SCORER),
            "cv": CV,
        }
        selector = selection.SequentialFeatureSelector(clone(MODEL), **options)
        with way.context():
            found[way.name] = selector.fit(X, way.labels(Y, QID), **way.keywords(QID)).subsets_
    chosen = ()
    for size in (1, 2):
        larger = [tuple(sorted({*chosen, new})) for new in range(X.shape[1]) if new not in chosen]
        means = {
            features: np.mean(fold_scores(MODEL, X[:, list(features)], Y, QID))
            for features in larger
        }
        chosen = max(means, key=means.get)
        for subsets in found.values():
            assert subsets[size]["feature_idx"] == chosen
            assert subsets[size]["avg_score"] == pytest.approx(means[chosen], abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of libraries that MLflow imports
def test_a_report_in_mlflow(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a database takes seconds to set up
    mlflow = pytest.importorskip("mlflow", reason="needs mlflow-skinny, of the extra 'consumers'")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    report = evaluate(
        [1, 0, 0, 1, 0], [1, 2, 0, 3, 1], qid=["a", "a", "a", "b", "b"], metrics=["ndcg@10", "mrr"]
    )
    with mlflow.start_run() as run:
        mlflow.log_metrics(report.to_dict(flat=True))
        mlflow.log_text(report._repr_html_(), "report.html")
    logged = mlflow.get_run(run.info.run_id).data.metrics
    assert logged["ndcg_at_10"] == pytest.approx((1 / np.log2(3) + 1) / 2)
    assert logged == pytest.approx(report.to_dict(flat=True), nan_ok=True)
    assert (
        mlflow.artifacts.load_text(f"{run.info.artifact_uri}/report.html") == report._repr_html_()
    )


def test_the_cross_validation_of_lightgbm_takes_a_splitter():
    X, y, qid = problem()
    params = {"objective": "lambdarank", "metric": "None", "verbose": -1, "num_threads": 1}
    params["min_data_in_leaf"] = 2

    def curve(folds):
        data = lightgbm.Dataset(X, y, group=np.bincount(qid), params={"verbose": -1})
        options = {"num_boost_round": 4, "feval": lightgbm_metric("ndcg@10")}
        return lightgbm.cv(params, data, folds=folds, **options)["valid ndcg@10-mean"]

    given = QueryKFold(5)
    assert curve(given) == curve(list(given.split(X, qid=qid)))
    assert curve(given) != curve(QueryKFold(4))


def test_unbiased_lambdarank_sees_the_order_of_rows_within_queries():
    X, y, qid = problem()
    clicks = (y > 1).astype(int)
    random = np.random.default_rng(0)
    # Queries are mixed, but each keeps the order of its rows.
    mixed = np.empty(len(qid), dtype=int)
    places = random.permutation(qid)
    for query in np.unique(qid):
        mixed[places == query] = np.flatnonzero(qid == query)
    shuffled = random.permutation(len(qid))
    model = QueryRanker(XGBRanker(n_estimators=4, n_jobs=1, lambdarank_unbiased=True))

    def predicted(rows):
        return model.fit(X[rows], clicks[rows], qid=qid[rows]).predict(X)

    expected = predicted(np.arange(len(qid)))
    np.testing.assert_array_equal(predicted(mixed), expected)
    assert (predicted(shuffled) != expected).any()


@pytest.mark.slow
def test_the_progress_bar_of_scikit_learn_shows_a_search_without_a_warning(capsys):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    X, y, qid = problem()
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 9]}, cv=QueryKFold(2))
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=0))
    search.fit(X, with_qid(y, qid))
    assert "100%" in capsys.readouterr().out

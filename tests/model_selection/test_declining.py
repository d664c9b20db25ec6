"""Models that decline documents, by a score of NaN or -inf, in searches that choose how many to return."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    cross_evaluate,
    evaluate,
    get_metric,
    make_ranking_scorer,
    ndcg_score,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.model_selection import RacingSearchCV, search_report

# 60 queries of 12 documents, the first three of which are relevant; the feature ranks them well, but not perfectly.
RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(60), 12)
PLACE = np.tile(np.arange(12), 60)
Y = (PLACE < 3).astype(int)
X = np.column_stack([Y + RNG.normal(scale=0.4, size=len(Y)), QID])
DEPTHS = [1, 3, 5, 12]
CV = QueryKFold(3)


class Depth(BaseEstimator):
    """Ranks by the first feature, and returns the first ``depth`` documents of each query, the second feature."""

    _estimator_type = "regressor"

    def __init__(self, depth=12, mark=-np.inf):
        self.depth, self.mark = depth, mark

    def fit(self, X, y):
        return self

    def predict(self, X):
        scores = X[:, 0].copy()
        qid = X[:, 1]
        for query in np.unique(qid):
            rows = np.flatnonzero(qid == query)
            from_best = np.argsort(-scores[rows])
            declined = rows[from_best[self.depth :]]
            scores[declined] = self.mark
        return scores


MODELS = {
    "plain": lambda mark: Depth(mark=mark),
    "ranker": lambda mark: QueryRanker(Depth(mark=mark)),
    "pipeline": lambda mark: make_pipeline(FunctionTransformer(), QueryRanker(Depth(mark=mark))),
}


def by_hand(metric, depth):
    """The metric of each fold, of lists that end at a depth."""
    folds = []
    for _, test in CV.split(X, groups=QID):
        scores = Depth(depth).fit(X, Y).predict(X[test])
        retrieved = scores > -np.inf
        value = get_metric(metric)(Y[test], scores, qid=QID[test], retrieved=retrieved)
        folds.append(value)
    return folds


def searched(kind, model, scoring, **options):
    name = next(name for name in model.get_params() if name.endswith("depth"))
    search = kind(model, {name: DEPTHS}, scoring=scoring, cv=CV, error_score="raise", **options)
    return search.fit(X, with_qid(Y, QID)), name


@pytest.mark.parametrize("mark", [-np.inf, np.nan])
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize(
    "metric", ["f1(divisor=retrieved)@12", "precision(divisor=retrieved)@12", "ndcg"]
)
@pytest.mark.option("make_ranking_scorer.retrieved")
def test_a_search_chooses_how_many_documents_to_return(metric, make, mark):
    scorer = make_ranking_scorer(metric, retrieved="scored")
    search, name = searched(GridSearchCV, make(mark), scorer)
    expected = [np.mean(by_hand(metric, depth)) for depth in DEPTHS]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=0, atol=1e-12)
    best_depths = {"f1": 3, "precision": 1, "ndcg": 12}
    family = metric.split("(")[0]
    assert search.best_params_[name] == best_depths[family]


@pytest.mark.parametrize("mark", [-np.inf, np.nan])
@pytest.mark.option("ranking_scorers.retrieved")
def test_races_and_reports_and_out_of_fold_evaluations_decline_alike(mark):
    metric = "f1(divisor=retrieved)@12"
    scorers = ranking_scorers(metric, "map", retrieved="scored")
    race, name = searched(
        RacingSearchCV, QueryRanker(Depth(mark=mark)), scorers, refit=metric, min_queries=10
    )
    assert race.best_params_[name] == 3
    assert race.cv_results_[f"mean_test_{metric}"][1] == pytest.approx(
        np.mean(by_hand(metric, 3)), abs=1e-12
    )
    search, _ = searched(GridSearchCV, QueryRanker(Depth(mark=mark)), scorers, refit=metric)
    report = search_report(search, X, Y, qid=QID, verbose=0)
    assert report.changed < 1e-12
    assert report.names[0] == "#2"
    assert report.metrics == (metric, "map")
    fold_means = report.by_metric("map").fold_means()["#1"]
    assert fold_means == pytest.approx(by_hand("map", 1), abs=1e-12)


def test_declining_agrees_with_a_mask_with_other_masks_and_with_a_leaderboard():
    scores = Depth(4, np.nan).predict(X)
    mask = RNG.random(len(Y)) < 0.7
    scorer = make_ranking_scorer("f1(divisor=retrieved)@12", retrieved="scored")
    value = scorer(Depth(4, np.nan), X, with_qid(Y, QID, retrieved=mask))
    expected = evaluate(
        Y, scores, qid=QID, metrics="f1(divisor=retrieved)@12", retrieved=mask & ~np.isnan(scores)
    )
    assert value == expected.mean["f1(divisor=retrieved)@12"]
    labels = with_qid(Y, QID, retrieved=mask)
    search = GridSearchCV(Depth(4, np.nan), {}, scoring=scorer, cv=CV).fit(X, labels)
    (report,) = search_report(search, X, labels, verbose=0).reports.values()
    assert report.mean == expected.mean
    board = evaluate(Y, {"4": scores, "all": X[:, 0]}, qid=QID, metrics="map")
    assert (
        make_ranking_scorer("map", retrieved="scored")(Depth(4, np.nan), X, with_qid(Y, QID))
        == board.means()["4"]
    )


def test_a_model_that_declines_everything_scores_zero():
    for metric in (
        "ndcg@10",
        "map",
        "mrr",
        "f1(divisor=retrieved)@5",
        "precision(divisor=retrieved)@5",
        "recall@5",
    ):
        scorer = make_ranking_scorer(metric, retrieved="scored")
        assert scorer(Depth(0, np.nan), X, with_qid(Y, QID)) == 0, metric


def test_by_default_nothing_is_declined():
    y = with_qid(Y, QID)
    assert make_ranking_scorer("ndcg")(Depth(3), X, y) == ndcg_score(
        Y, Depth(3).predict(X), qid=QID
    )
    declining = (
        r"y_score contains NaN.* Depth\. .* metrics=ranking_scorers\(\.\.\., retrieved='scored'\)"
    )
    with pytest.raises(ValueError, match=declining):
        cross_evaluate(Depth(3, np.nan), X, Y, qid=QID, cv=CV)
    for call in (make_ranking_scorer, ranking_scorers):
        with pytest.raises(
            ValueError, match=r"retrieved must be one of \['all', 'scored'\]; got 'some'"
        ):
            call("ndcg", retrieved="some")


@pytest.mark.parametrize("mark", [-np.inf, np.nan])
@pytest.mark.option("cross_evaluate.metrics")
def test_cross_evaluate_takes_scorers_that_decline(mark):
    metrics = ("f1(divisor=retrieved)@12", "map")
    models = {"3": Depth(3, mark), "5": QueryRanker(Depth(5, mark))}
    scorers = ranking_scorers(*metrics, retrieved="scored")
    found = cross_evaluate(models, X, Y, qid=QID, cv=CV, metrics=scorers)
    assert found.metrics == metrics
    for metric in metrics:
        means = found.by_metric(metric).fold_means()
        assert means["3"] == pytest.approx(by_hand(metric, 3), abs=1e-12)
        assert means["5"] == pytest.approx(by_hand(metric, 5), abs=1e-12)
    by_name = cross_evaluate(Depth(12), X, Y, qid=QID, cv=CV, metrics=metrics)
    by_scorer = cross_evaluate(Depth(12), X, Y, qid=QID, cv=CV, metrics=ranking_scorers(*metrics))
    assert by_name.means() == by_scorer.means()


@pytest.mark.parametrize(
    "change",
    [
        {
            "metrics": {
                "map": make_ranking_scorer("map"),
                **ranking_scorers("mrr", retrieved="scored"),
            }
        },
        {"metrics": {**ranking_scorers("map"), "mrr": "mrr"}},
        {"metrics": ranking_scorers("map"), "response_method": "predict_proba"},
    ],
)
def test_scorers_of_cross_evaluate_rank_alike(change):
    with pytest.raises(ValueError, match="metrics must be scorers of one call of ranking_scorers"):
        cross_evaluate(Depth(3), X, Y, qid=QID, cv=CV, **change)


def test_a_search_report_has_the_metrics_whose_scorers_decline_alike():
    scoring = ranking_scorers("f1(divisor=retrieved)@12", retrieved="scored") | ranking_scorers(
        "map"
    )
    search, _ = searched(GridSearchCV, Depth(), scoring, refit="map")
    assert search_report(search, X, Y, qid=QID, verbose=0).metrics == ("map",)


def test_unjudged_documents_are_left_out_as_condense_does():
    judged = RNG.random(len(Y)) < 0.6
    labels = with_qid(Y, QID, judged=judged, retrieved=judged)
    found = cross_evaluate(Depth(12), X, labels, cv=CV, metrics="ndcg@3")
    expected = evaluate(
        Y, X[:, 0], qid=QID, metrics="ndcg@3", judged=judged, condense=True
    ).per_query
    np.testing.assert_array_equal(found.reports["Depth"].per_query["ndcg@3"], expected["ndcg@3"])

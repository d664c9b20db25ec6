"""A race gives the numbers of a grid search, from fewer fits."""

import warnings

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from scipy.stats import t, uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ParameterSampler,
    PredefinedSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.consumers import WAYS
from support.searches import assert_same_results

from skrank_metrics import (
    PredefinedQuerySplit,
    QueryKFold,
    QueryRanker,
    RepeatedQueryKFold,
    kendall_tau_distance,
    make_ranking_scorer,
    ndcg_score,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.model_selection import RacingSearchCV, search_report, within_noise
from skrank_metrics.model_selection._race import Race
from skrank_metrics.model_selection.scorers import QueryScores

N_QUERIES, SIZE = 150, 6
NOISE = [3.0, 1.0, 0.6, 0.5, 0.45]


class Column(RegressorMixin, BaseEstimator):
    """Ranks by one of the columns; -1 fails to fit, -2 and -3 predict NaN."""

    def __init__(self, column=0, scale=1.0):
        self.column, self.scale = column, scale

    def fit(self, X, y, sample_weight=None):
        if self.column == -1:
            raise RuntimeError("column -1")
        self.n_features_in_ = np.shape(X)[1]
        self.fitted_ = sample_weight
        return self

    def predict(self, X):
        if self.column in (-2, -3):
            return np.full(len(X), np.nan)
        return np.asarray(X)[:, self.column] * self.scale


def made_up(seed=0):
    """Columns that are the labels with less and less noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N_QUERIES * SIZE)
    return (
        y[:, None] + rng.normal(size=(len(y), len(NOISE))) * NOISE,
        y,
        np.repeat(np.arange(N_QUERIES), SIZE),
    )


X, Y, QID = made_up()
LABELS = with_qid(Y, QID)
GRID = {"column": list(range(len(NOISE)))}


def race(estimator=None, grid=GRID, make=RacingSearchCV, **options):
    options = {
        "scoring": make_ranking_scorer("ndcg@3"),
        "cv": QueryKFold(5),
        "error_score": "raise",
        **options,
    }
    return make(Column() if estimator is None else estimator, grid, **options)


def grid_search(*arguments, **options):
    return race(*arguments, make=GridSearchCV, **options)


def assert_same_folds(raced, grid):
    """Scores of the folds that ran are those of the grid search, and the winner is the same."""
    assert {name for name in grid.cv_results_ if "time" not in name} <= raced.cv_results_.keys()
    n_ran = 0
    for name, column in grid.cv_results_.items():
        if name.startswith("split"):
            ran = ~np.isnan(raced.cv_results_[name])
            np.testing.assert_allclose(
                raced.cv_results_[name][ran], column[ran], rtol=0, atol=1e-12
            )
            n_ran += ran.sum()
    assert raced.cv_results_["params"] == grid.cv_results_["params"]
    assert raced.best_index_ == grid.best_index_
    return n_ran


@pytest.fixture(scope="module")
def raced():
    return race().fit(X, LABELS)


@pytest.mark.option("RacingSearchCV.scoring", "RacingSearchCV.cv")
def test_folds_that_ran_are_those_of_a_grid_search(raced):
    grid = grid_search().fit(X, LABELS)
    assert assert_same_folds(raced, grid) == raced.n_fits_ < 5 * len(NOISE)
    assert raced.best_params_ == grid.best_params_
    assert raced.best_score_ == pytest.approx(grid.best_score_, abs=1e-12)
    ran_all = ~np.isnan(raced.cv_results_["mean_test_score"])
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(
            raced.cv_results_[name][ran_all], grid.cv_results_[name][ran_all], atol=1e-12
        )
    assert raced.n_splits_ == grid.n_splits_
    np.testing.assert_array_equal(raced.predict(X), grid.predict(X))
    assert raced.score(X, LABELS) == grid.score(X, LABELS)


def test_results_say_when_and_why_candidates_were_dropped_and_rank_them(raced):
    found = raced.cv_results_
    ranks = raced.cv_results_["rank_test_score"]
    after = np.nan_to_num(found["dropped_after"], nan=5)
    dropped = ~np.isnan(found["dropped_after"])
    assert (
        after[0] == after.min() == 2
    )  # the worst; after one fold, nothing is known of how fits vary
    by_fold = [found[f"split{i}_test_score"] for i in range(5)]
    ran = ~np.isnan(np.column_stack(by_fold))
    np.testing.assert_array_equal(ran.sum(axis=1), after)
    np.testing.assert_array_equal(np.isnan(found["mean_test_score"]), dropped)
    np.testing.assert_array_equal(found["dropped_because"], np.where(dropped, "behind", ""))
    np.testing.assert_array_equal(found["p_adjusted"] <= 0.05, dropped)
    finished = np.count_nonzero(~dropped)
    np.testing.assert_array_equal(ranks > finished, dropped)
    assert list(search_report(raced).params.values())[-1] == {"column": 0}


def unequal_folds(sizes):
    """Splits whose folds test so many queries, in order."""
    numbers = np.repeat(np.arange(len(sizes)), sizes)[QID]
    return [
        (np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold))
        for fold in range(len(sizes))
    ]


def values_of(splits, column):
    return [
        ndcg_score(Y[test], X[test, column], qid=QID[test], k=3, average=None) for _, test in splits
    ]


def weighted_variance(values, weights):
    """Variance of values of so many queries of equal weight (Kish), and the number of these."""
    n = weights.sum() ** 2 / (weights**2).sum()
    mean = np.average(values, weights=weights)
    squares = (values - mean) ** 2
    return np.average(squares, weights=weights) * n / (n - 1), n


def variance_of_folds(values, weights):
    """Variance of the means of folds over what queries explain, and what these explain, by hand for two folds."""
    variances, n = np.transpose(list(map(weighted_variance, values, weights)))
    first, second = map(weighted_mean, values, weights)
    return (first - second) ** 2 / 2, variances, n


def pooled_by_hand(values, weights):
    """How much more the means of all candidates vary between two folds than their queries explain."""
    centred = [of_fold - np.mean(of_fold, axis=0) for of_fold in zip(*values, strict=True)]
    observed, explained = 0.0, 0.0
    for own in zip(*centred, strict=True):
        of_folds, variances, n = variance_of_folds(own, weights)
        observed += of_folds
        explained += np.mean(variances / n)
    return observed / explained


def p_by_hand(leads, weights, sizes, pooled, n_candidates):
    """One-sided p-value of the mean of fold means, of the first two folds, against that of all folds."""
    n_left = len(sizes) - 2
    of_folds, variances, n = variance_of_folds(leads, weights)
    n_degrees = np.sum(n - 1)
    s2 = np.sum((n - 1) * variances) / n_degrees
    to_come = n.sum() / sum(sizes[:2]) * np.array(sizes[2:])
    of_queries = np.sum(1 / n) / 2**2 + np.sum(1 / to_come) / n_left**2
    of_pair = of_folds / np.mean(s2 / n)
    h = max(1.0, pooled, (pooled + of_pair) / 2)
    if h > 1:
        # Two folds and two candidates leave one degree of freedom, for the pooled and for the pair's variance.
        n_degrees = 1 / (1 / n_degrees + 1 / (n_candidates - 1))
    variance = (n_left / len(sizes)) ** 2 * of_queries * s2 * h
    return t.sf(np.mean(list(map(weighted_mean, leads, weights))) / np.sqrt(variance), n_degrees)


def weighted_mean(values, weights):
    return np.average(values, weights=weights)


def test_nothing_is_compared_after_one_fold():
    found = race(cv=unequal_folds([100, 50]), confidence=0.5, min_queries=2).fit(X, LABELS)
    assert np.isnan(found.cv_results_["p_adjusted"]).all()
    assert found.n_fits_ == 2 * len(NOISE)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [[50, 50, 50], [70, 30, 50], [15, 15, 120]])
def test_the_lead_and_its_p_value_by_hand(sizes, weighted):
    splits = unequal_folds(sizes)
    weights = np.ones(N_QUERIES)
    if weighted:
        weights = np.random.default_rng(0).integers(0, 4, N_QUERIES).astype(float)
    labels = with_qid(Y, QID, sample_weight=weights[QID])
    options = {"cv": splits, "confidence": 0.9999999, "min_queries": 2}
    found = race(grid={"column": [2, 3, 4]}, **options).fit(X, labels).cv_results_
    # Two folds were run. Queries without weight do not count.
    of_folds = [weights[QID[test[::SIZE]]] for _, test in splits[:2]]
    positive = [of_fold[of_fold > 0] for of_fold in of_folds]
    values = []
    for column in (2, 3, 4):
        of_queries = zip(values_of(splits[:2], column), of_folds, strict=True)
        values.append([of_fold[weight > 0] for of_fold, weight in of_queries])
    means = [np.mean(list(map(weighted_mean, own, positive))) for own in values]
    pooled = pooled_by_hand(values, positive)
    leader = int(np.argmax(means))
    for row in {0, 1, 2} - {leader}:
        assert found["difference"][row] == pytest.approx(means[leader] - means[row])
        leads = [own - other for own, other in zip(values[leader], values[row], strict=True)]
        p = p_by_hand(leads, positive, sizes, pooled, n_candidates=3)
        # Two other candidates, after the second of three folds.
        p_adjusted = min(1, (3 - 2) * 2**0.25 * p)
        assert found["p_adjusted"][row] == pytest.approx(p_adjusted)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[600, 60, 50, 40, 30], [250, 200, 150, 100, 50]])
def test_unequal_folds_rarely_lose_the_winner_of_the_grid(sizes):
    n = sum(sizes)
    rng = np.random.default_rng(0)
    lost = 0
    n_dropped = 0
    fold_of_query = np.repeat(np.arange(5), sizes)
    fold_of_row = np.repeat(fold_of_query, 2)
    labels = with_qid([1, 0] * n, np.repeat(np.arange(n), 2))
    cv = PredefinedSplit(fold_of_row)
    grid = {"column": list(range(6))}
    for _ in range(20):
        # Six equal candidates that rank most queries alike.
        differs = rng.random((n, 6)) < 0.3
        own = rng.random((n, 6))
        shared = rng.random((n, 1))
        right = np.where(differs, own, shared) < 0.6
        pairs = np.stack([right, ~right], axis=1)
        scores = pairs.reshape(2 * n, 6).astype(float)
        found = race(grid=grid, scoring="mrr", cv=cv, refit=False).fit(scores, labels)
        of_folds = [right[fold_of_query == fold].mean(axis=0) for fold in range(5)]
        winner = np.argmax(np.mean(of_folds, axis=0))
        dropped = ~np.isnan(found.cv_results_["dropped_after"])
        lost += dropped[winner]
        n_dropped += dropped.sum()
    assert lost <= 1
    assert n_dropped > 0


def test_candidates_of_equal_values_stay():
    feature = X[:, 4]
    copies = np.column_stack([feature, 3 * feature, X[:, 0]])
    found = race(grid={"column": [0, 1, 2]}).fit(copies, LABELS).cv_results_
    assert np.isnan(found["dropped_after"]).tolist() == [True, True, False]
    assert found["difference"][1] == 0
    assert found["p_adjusted"][1] == 1


@pytest.mark.option("RacingSearchCV.fit.**params")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_ways_for_the_ids(way, raced):
    with way.context():
        search = race(
            QueryRanker(Ridge()),
            {"estimator__alpha": [1.0, 1e6]},
            scoring=ranking_scorers("ndcg@3"),
        )
        search.set_params(refit="ndcg@3").fit(X, way.labels(Y, QID), **way.keywords(QID))
        score = search.score(X, way.labels(Y, QID), **way.keywords(QID))
    other = clone(search).fit(X, LABELS)
    assert search.best_score_ == other.best_score_
    assert score == other.score(X, LABELS)


@pytest.mark.parametrize("routing", [False, True])
def test_without_ids_the_ways_out_are_named(routing):
    search = race(QueryRanker(Ridge()), {"estimator__alpha": [1.0, 1e6]}, cv=QueryKFold(3))
    with sklearn.config_context(enable_metadata_routing=routing):
        with pytest.raises(
            TypeError, match=r"RacingSearchCV needs the query id .* none\. Pass"
        ) as caught:
            search.fit(X, Y)
        named = str(caught.value).partition("Pass ")[2]
        assert named.startswith(
            "groups=qid to fit of a search" if routing else "with_qid(y, qid) as y"
        )
        for name in () if routing else ("groups", "qid"):
            with pytest.raises(TypeError, match=r"needs the query id .* with_qid\(y, qid\) as y"):
                search.fit(X, Y, **{name: QID})


@pytest.mark.slow
@pytest.mark.option("RacingSearchCV.refit")
def test_several_metrics_race_by_the_one_of_refit():
    scoring = ranking_scorers("ndcg@3", "mrr")
    raced, grid = (
        make(scoring=scoring, refit="mrr").fit(X, LABELS) for make in (race, grid_search)
    )
    assert_same_folds(raced, grid)
    assert raced.multimetric_
    assert raced.score(X, LABELS) == grid.score(X, LABELS)
    alone = race(scoring="mrr").fit(X, LABELS).cv_results_
    for name in ("dropped_after", "difference", "p_adjusted"):
        np.testing.assert_array_equal(raced.cv_results_[name], alone[name])
    for names in (("ndcg@3", "mrr"), {"ndcg@3": "ndcg@3", "mrr": "mrr"}):
        by_name = race(scoring=names, refit="mrr").fit(X, LABELS)
        np.testing.assert_array_equal(
            by_name.cv_results_["mean_test_ndcg@3"], raced.cv_results_["mean_test_ndcg@3"]
        )


def test_a_callable_refit_may_choose_a_candidate_that_was_dropped():
    search = race(refit=lambda results: int(np.argmin(results["split0_test_score"]))).fit(X, LABELS)
    assert search.best_index_ == 0
    assert search.best_estimator_.column == 0
    assert not hasattr(search, "best_score_")


@pytest.mark.slow
@pytest.mark.parametrize("routing", [False, True])
def test_within_noise_takes_the_splits_of_the_race(routing):
    refit = within_noise("ndcg@3", prefer="column", test_ratio=1 / 4)
    options = {"scoring": ranking_scorers("mrr", "ndcg@3"), "refit": refit}
    ids = {"groups": QID} if routing else {}
    with sklearn.config_context(enable_metadata_routing=routing):
        searches = race(min_queries=1000, **options), grid_search(**options), race(**options)
        all_run, grid, raced = (
            search.fit(X, Y if routing else LABELS, **ids) for search in searches
        )
    assert all_run.best_index_ == grid.best_index_ == 2
    by_ndcg = race().fit(X, LABELS)
    np.testing.assert_array_equal(
        raced.cv_results_["dropped_after"], by_ndcg.cv_results_["dropped_after"]
    )
    finished = np.isnan(raced.cv_results_["dropped_after"])
    assert raced.best_index_ == np.flatnonzero(finished)[0] > 2, (
        "the simplest of those that are not behind"
    )


@pytest.mark.option("RacingSearchCV.n_iter", "RacingSearchCV.random_state")
def test_candidates_are_drawn_from_distributions():
    distributions = {"column": [0, 3], "scale": uniform(1, 2)}
    search = race(grid=distributions, n_iter=4, random_state=0).fit(X, LABELS)
    assert search.cv_results_["params"] == list(ParameterSampler(distributions, 4, random_state=0))


@pytest.mark.option("RacingSearchCV.error_score")
@pytest.mark.filterwarnings("ignore")
def test_candidates_that_fail_are_dropped():
    grid = {"column": [4, -1, -2, 0]}
    # Four candidates in the first fold, two in the second, and then only the winner.
    n_fits = 4 + 2 + 1 + 1 + 1
    failed = pytest.warns(FitFailedWarning, match=f"1 fits failed out of a total of {n_fits}")
    with failed, pytest.warns(UserWarning, match="Scoring failed"):
        search = race(grid=grid, error_score=np.nan).fit(X, LABELS)
    found = search.cv_results_
    assert found["dropped_because"].tolist() == ["", "failed", "failed", "behind"]
    assert found["dropped_after"].tolist()[1:] == [1, 1, 2]
    assert found["rank_test_score"].tolist() == [1, 2, 2, 2]
    assert np.isnan(found["split0_test_score"][1:3]).all()
    assert search.best_index_ == 0
    found = race(grid=grid, error_score=0.0).fit(X, LABELS).cv_results_
    assert found["split0_test_score"].tolist()[1:3] == [0, 0]
    assert np.isnan(found["mean_test_score"][1:3]).all()
    for column, error, message in (
        (-1, RuntimeError, "column -1"),
        (-2, ValueError, "y_score contains NaN"),
    ):
        with pytest.raises(error, match=message):
            race(grid={"column": [4, column]}).fit(X, LABELS)


@pytest.mark.filterwarnings("ignore")
def test_all_candidates_fail():
    for confidence in (None, 0.95):
        options = {"error_score": np.nan, "confidence": confidence}
        with pytest.raises(ValueError, match=r"All the \d fits failed(?s:.*)column -1"):
            race(grid={"column": [-1]}, **options).fit(X, LABELS)
        unscored = race(grid={"column": [-2, -3]}, **options).fit(X, LABELS)
        grid = grid_search(grid={"column": [-2, -3]}, error_score=np.nan).fit(X, LABELS)
        assert_same_results(unscored, grid)
        assert unscored.best_params_ == grid.best_params_


class Stateless(Column):
    """Nothing shows that it is fitted."""

    def fit(self, X, y):
        return self


def test_models_that_learn_nothing_are_scored():
    found = race(Stateless()).fit(X, LABELS).cv_results_
    expected = race().fit(X, LABELS).cv_results_
    np.testing.assert_array_equal(found["mean_test_score"], expected["mean_test_score"])


def test_errors_of_the_set_up_abort_the_race():
    with_a_negative = np.where(np.arange(len(Y)) == 7, -1, Y)
    negative = with_qid(with_a_negative, QID)
    search = race(error_score=np.nan)
    cv = QueryKFold(4)
    with pytest.raises(ValueError, match=r"y_true contains -1\.0"):
        search.set_params(cv=cv).fit(X, negative)
    assert search.cv is cv
    weights = np.arange(len(Y)) + 1.0
    with pytest.raises(ValueError, match="sample_weight must be constant within a query"):
        race(error_score=np.nan).fit(X, with_qid(Y, QID, sample_weight=weights))


@pytest.mark.slow
@pytest.mark.option("RacingSearchCV.min_queries", "RacingSearchCV.confidence")
def test_options_that_keep_or_drop_candidates():
    def fits(**options):
        return race(**options).fit(X, LABELS).n_fits_

    usual = fits()
    assert fits(min_queries=61) > usual  # each fold has 30, and the first drops nobody
    assert fits(min_queries=N_QUERIES + 1) == 5 * len(NOISE)
    assert fits(confidence=0.5) <= usual <= fits(confidence=0.9999) < 5 * len(NOISE)


@pytest.mark.slow
def test_repeated_folds_count_queries_once():
    cv = RepeatedQueryKFold(5, n_repeats=2, random_state=0)
    raced = race(cv=cv, min_queries=N_QUERIES + 1).fit(X, LABELS)
    assert raced.n_fits_ == 10 * len(NOISE)
    assert_same_folds(race(cv=cv).fit(X, LABELS), grid_search(cv=cv).fit(X, LABELS))


def test_metrics_of_which_smaller_is_better():
    scorer = make_ranking_scorer(kendall_tau_distance)
    raced, grid = (make(scoring=scorer).fit(X, LABELS) for make in (race, grid_search))
    assert assert_same_folds(raced, grid) < 5 * len(NOISE)
    assert (
        raced.cv_results_["difference"][~np.isnan(raced.cv_results_["dropped_after"])] > 0
    ).all()


def test_queries_without_a_value_do_not_count_as_tested():
    labels = with_qid(np.where(QID < 30, 0, Y), QID)
    scorer = make_ranking_scorer("ndcg@3", replace_undefined_by=np.nan)
    raced, grid = (make(scoring=scorer).fit(X, labels) for make in (race, grid_search))
    assert_same_folds(raced, grid)
    # Four folds have 120 queries, of which 96 have a relevant document; the others are left out, or count as 0.
    for options in ({"scoring": scorer}, {}):
        assert race(min_queries=100, **options).fit(X, labels).n_fits_ == 5 * len(NOISE)
        assert race(min_queries=90, **options).fit(X, labels).n_fits_ < 5 * len(NOISE)


def test_queries_of_weight_0_do_not_count_as_tested():
    labels = with_qid(Y, QID, sample_weight=np.where(QID < 30, 0.0, 1.0))
    # Four folds have 120 queries, of which 96 have a weight.
    assert race(min_queries=100).fit(X, labels).n_fits_ == 5 * len(NOISE)
    assert race(min_queries=90).fit(X, labels).n_fits_ < 5 * len(NOISE)


def test_folds_are_as_large_as_their_queries_are_many():
    cv = PredefinedQuerySplit(QID // 50)
    plain = race(cv=cv).fit(X, LABELS).cv_results_
    # In one of the three folds, lists are longer, by irrelevant documents that all candidates rank last.
    added = np.flatnonzero(QID // 50 == 1)
    padding = np.full((len(added), X.shape[1]), -100.0)
    longer = np.append(X, padding, axis=0)
    grades = np.append(Y, np.zeros(len(added), dtype=int))
    qid = np.append(QID, QID[added])
    labels = with_qid(grades, qid)
    cv = PredefinedQuerySplit(qid // 50)
    found = race(cv=cv).fit(longer, labels).cv_results_
    for name in ("mean_test_score", "difference", "p_adjusted", "dropped_after"):
        np.testing.assert_allclose(found[name], plain[name], rtol=1e-9)


@pytest.mark.option("RacingSearchCV.verbose")
def test_progress_counts_the_folds(capsys):
    race().fit(X, LABELS)
    assert capsys.readouterr() == ("", "")
    raced = race(verbose=1).fit(X, LABELS)
    assert np.isnan(raced.cv_results_["dropped_after"]).sum() == 2
    said = "5 of 5 folds fitted (100%), 0 s left; 2 candidates remaining, best: column=4\n"
    assert capsys.readouterr() == ("", said)
    assert raced.best_params_ == {"column": 4}
    assert raced.verbose == 1


def test_progress_names_a_candidate_without_parameters(capsys):
    race(grid={}, verbose=1).fit(X, LABELS)
    _, said = capsys.readouterr()
    assert said.endswith("; 1 candidate remaining, best: the defaults\n")


def test_progress_without_a_race(capsys):
    race(confidence=None, verbose=1).fit(X, LABELS)
    assert capsys.readouterr() == ("", "5 of 5 folds fitted (100%), 0 s left\n")
    race(confidence=None, verbose=1, scoring="r2").fit(X, LABELS)
    printed, said = capsys.readouterr()
    assert "candidates, totalling" in printed, "scikit-learn ran the search"
    assert not said


def test_candidates_of_which_only_another_metric_fails_stay():
    def broken(model, X, y):
        raise RuntimeError("broken")

    scoring = {**ranking_scorers("ndcg@3"), "broken": broken}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        raced = race(scoring=scoring, refit="ndcg@3", error_score=np.nan).fit(X, LABELS)
    texts = {str(warning.message).partition(".")[0] for warning in caught}
    assert texts == {"Scoring failed"}
    assert "failed" not in raced.cv_results_["dropped_because"]
    assert raced.best_index_ == race().fit(X, LABELS).best_index_


@pytest.mark.option("RacingSearchCV.n_jobs")
def test_in_parallel_the_numbers_are_the_same(raced):
    with parallel_config(backend="threading"):
        assert_same_results(race(n_jobs=2).fit(X, LABELS), raced)


@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (ValueError, "confidence must be a number in", {"confidence": 1.0}),
        (ValueError, "confidence must be a number in", {"confidence": 0}),
        (ValueError, "min_queries must be an int >= 2; got 1", {"min_queries": 1}),
        (TypeError, "n_iter must be an int >= 1 or None", {"n_iter": 2.5}),
        (
            TypeError,
            r"random_state must be an int .*; got 'a' \(str\)",
            {"n_iter": 2, "random_state": "a"},
        ),
        (ValueError, "No fits were performed", {"grid": []}),
        (ValueError, "cv must keep every query whole; got KFold.*QueryKFold", {"cv": KFold(4)}),
        (ValueError, "cv must keep every query whole", {"cv": 4}),
        (
            ValueError,
            "scoring must have a scorer of skrank_metrics to race by.*make_scorer",
            {"scoring": "r2"},
        ),
        (
            ValueError,
            "scoring must have a scorer of skrank_metrics to race by",
            {"scoring": ndcg_score},
        ),
        (ValueError, "metric must be a mean over queries", {"scoring": "recall(average=micro)@3"}),
        (ValueError, "refit must be set to a scorer key", {"scoring": ["mrr", "map"]}),
        (ValueError, "Unknown metric 'ndgc'", {"scoring": "ndgc@3"}),
        (
            ValueError,
            r"make_ranking_scorer\('precision'\), or .*get_scorer",
            {"scoring": "precision"},
        ),
        (ValueError, "scoring='f1' can mean a metric of rankings, or", {"scoring": ["mrr", "f1"]}),
        (ValueError, r"make_ranking_scorer\('hit_rate'\)", {"scoring": ["accuracy", "recall"]}),
        (ValueError, "scoring='recall' can mean", {"scoring": {"mrr": "mrr", "own": "recall"}}),
        (ValueError, "list/tuple elements must be", {"scoring": [ndcg_score]}),
        (ValueError, "An empty dict was passed", {"scoring": {}}),
        (ValueError, "The 'error_score' parameter of GridSearchCV must be", {"error_score": "no"}),
    ],
)
def test_bad_input(error, message, options):
    with pytest.raises(error, match=message):
        race(**options).fit(X, LABELS)


def test_groups_go_to_the_splitter_without_routing_and_parameters_to_fit():
    equal_weights = np.ones(len(Y))
    search = race(cv=GroupKFold(5)).fit(X, LABELS, groups=QID, sample_weight=equal_weights)
    assert search.n_splits_ == 5
    np.testing.assert_array_equal(search.best_estimator_.fitted_, np.ones(len(Y)))


def test_parameters_of_any_name_and_a_single_candidate():
    class Steps(Column):
        """Not a Pipeline."""

        def __init__(self, column=0, scale=1.0, steps=7):
            super().__init__(column, scale)
            self.steps = steps

    search = race(QueryRanker(Steps()), {"estimator__column": [3]}).fit(X, LABELS)
    assert search.n_fits_ == 5
    assert search.best_score_ == race(grid={"column": [3]}).fit(X, LABELS).best_score_
    assert race(grid={}).fit(X, LABELS).best_params_ == {}


@pytest.mark.option("RacingSearchCV.scoring", "RacingSearchCV.cv")
def test_scoring_and_cv_by_default():
    model = QueryRanker(Ridge())
    grid = {"estimator__alpha": [1.0, 1e6]}
    for one, prefix in ((model, ""), (make_pipeline(StandardScaler(), model), "queryranker__")):
        params = {prefix + name: values for name, values in grid.items()}
        found = RacingSearchCV(one, params).fit(X, LABELS)
        assert_same_folds(found, GridSearchCV(one, params, cv=QueryKFold(5)).fit(X, LABELS))
    expected = RacingSearchCV(model, grid, scoring="ndcg@10").fit(X, LABELS).best_score_
    with sklearn.config_context(enable_metadata_routing=True):
        assert RacingSearchCV(model, grid).fit(X, Y, groups=QID).best_score_ == expected
    assert (
        RacingSearchCV(Column(), GRID, confidence=None, scoring="r2").fit(X, LABELS).n_splits_ == 5
    )


@pytest.mark.option("RacingSearchCV.return_train_score", "RacingSearchCV.pre_dispatch")
def test_options_of_grid_searches():
    options = {"return_train_score": True, "pre_dispatch": 1, "confidence": None}
    found = race(**options).fit(X, LABELS)
    expected = grid_search(return_train_score=True).fit(X, LABELS)
    assert_same_results(found, expected)
    assert found.cv_results_.keys() == expected.cv_results_.keys()
    assert found.n_fits_ == 25


@pytest.mark.option("RacingSearchCV.fit.y")
def test_without_labels():
    with pytest.raises(TypeError, match="RacingSearchCV needs the query id"):
        race().fit(X)


def test_a_dropped_candidate_still_counts_in_adjusted_p_values():
    """A candidate that fails in the first fold takes part in no comparison."""
    searches = (
        race(grid={"column": chosen}, confidence=0.9999999, cv=QueryKFold(3), error_score=np.nan)
        for chosen in ([-1, 3, 4], [3, 4])
    )
    with pytest.warns(FitFailedWarning):
        of_three, of_two = (search.fit(X, LABELS).cv_results_ for search in searches)
    assert np.nan_to_num(of_three["dropped_after"]).tolist() == [1, 0, 0]
    tested = ~np.isnan(of_two["p_adjusted"])
    expected = np.minimum(1, 2**0.25 * of_two["p_adjusted"][tested])
    assert (expected < 1).any()
    np.testing.assert_allclose(of_three["p_adjusted"][1:][tested], expected)


@pytest.mark.slow
@pytest.mark.parametrize("n_candidates", [2, 8])
@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (0, 2)])
def test_fits_that_vary_rarely_lose_the_winner_of_the_grid(sizes, n_candidates):
    """Also if only those of every other candidate vary."""
    random = np.random.default_rng(0)
    n = 50
    lost = 0
    defined = np.ones((n_candidates, n), dtype=bool)
    queries = np.arange(n)
    deviations = np.resize(sizes, n_candidates) / np.sqrt(n)
    for _ in range(200):
        found = Race(n_candidates, np.full(5, n))
        scores = []
        for _ in range(5):
            of_fits = random.normal(0, deviations)
            values = random.normal(size=(n_candidates, n)) + of_fits[:, None]
            scores.append(values.mean(axis=1))
            by_row = {row: scores[-1][row] for row in found.remaining}
            fold = QueryScores(queries, queries, values, defined, None, queries)
            found.finish_fold(by_row, fold)
        lost += int(np.argmax(np.mean(scores, axis=0))) not in found.remaining
    # 10 of 200 are nominal.
    assert lost <= 14


def test_a_pair_whose_lead_varies_more_than_the_others_is_compared_with_care():
    """Two of three candidates lead each other by turns; the third is the leader in each fold by as much."""
    n, queries = 40, np.arange(40)
    noise = np.random.default_rng(0).normal(0, 0.1, (3, n))
    noise -= noise.mean(axis=1, keepdims=True)
    p_adjusted = []
    for swing in (0.0, 0.09):
        found = Race(3, np.full(4, n))
        for sign in (-1, 1):
            means = np.array([0.5, 0.4, 0.4 + sign * swing])
            values = noise + means[:, None]
            fold = QueryScores(queries, queries, values, values > -1, None, queries)
            found.finish_fold(dict(enumerate(means)), fold)
        p_adjusted.append(found.columns["p_adjusted"])
    steady, swinging = p_adjusted
    assert steady[2] < 0.05 < swinging[2]
    assert swinging[1] < swinging[2], "of the other pair, only what is pooled varies"


def test_a_splitter_that_does_not_look_for_ids_in_y_gets_them():
    search = race(cv=GroupKFold(3))
    found = search.fit(X, LABELS).cv_results_
    assert_same_results(clone(search).fit(X, LABELS, groups=QID), search)
    assert not np.isnan(found["split2_test_score"]).all()
    unraced = race(cv=GroupKFold(3), confidence=None)
    with pytest.raises(ValueError, match="The 'groups' parameter should not be None"):
        unraced.fit(X, LABELS)
    assert unraced.fit(X, LABELS, groups=QID).n_splits_ == 3


def test_the_queries_of_a_group_are_one_observation():
    """Three copies of each query, in a group, say no more than the query itself."""
    copies = np.tile(np.arange(len(Y)), 3)
    features = X[copies]
    labels = with_qid(Y[copies], np.arange(len(copies)) // SIZE)
    once = race(confidence=0.9999).fit(X, LABELS)
    grouped = race(confidence=0.9999).fit(features, labels, groups=QID[copies])
    alone = race(confidence=0.9999).fit(features, labels)
    found = grouped.cv_results_
    for name in ("split0_test_score", "difference", "p_adjusted", "dropped_after"):
        np.testing.assert_allclose(found[name], once.cv_results_[name], rtol=1e-9)
    assert (alone.cv_results_["p_adjusted"] < found["p_adjusted"]).any()
    # The report of the race counts groups, too.
    of_groups = search_report(grouped).reports["#5"].groups
    _, n_copies = np.unique(of_groups, return_counts=True)
    assert n_copies.tolist() == [3] * N_QUERIES
    assert search_report(once).reports["#5"].groups is None


def test_groups_count_towards_the_least_number_of_queries():
    users = QID // 10
    found = race(min_queries=16).fit(X, LABELS, groups=users)
    assert found.n_fits_ == 5 * len(NOISE)

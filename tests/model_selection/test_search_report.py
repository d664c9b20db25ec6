import pickle
import re
import threading
from dataclasses import FrozenInstanceError, replace
from types import SimpleNamespace
from typing import ClassVar

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from lightgbm import LGBMRanker
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the halving search importable
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, LeaveOneGroupOut, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.fixes import parse_version
from xgboost import XGBRanker

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    RacingSearchCV,
    RepeatedQueryKFold,
    compare,
    cross_evaluate,
    kendall_tau_distance,
    make_ranking_scorer,
    ndcg_score,
    ranking_scorers,
    search_report,
    with_qid,
    within_noise,
)
from skrank_metrics.datasets import make_ranking
from skrank_metrics.displays import CVResultsDisplay
from skrank_metrics.model_selection._fitted_search import ranked_rows, spelled

X, Y, QID = make_ranking(60, random_state=0)
GRID = {"estimator__alpha": [1.0, 1e4, 1e12]}


def ridge_search(kind=GridSearchCV, **options):
    options = {"scoring": ranking_scorers("ndcg@10", "map"), "refit": "ndcg@10", "cv": QueryKFold(3), **options}
    return kind(QueryRanker(Ridge()), GRID, **options)


@pytest.fixture(scope="module")
def search():
    X_noisy = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 30)) * 100])
    return ridge_search().fit(X_noisy, with_qid(Y, QID)), X_noisy


@pytest.fixture(scope="module")
def found(search):
    return search_report(search[0], search[1], Y, qid=QID, random_state=0)


def test_order_and_folds_are_those_of_the_search(search, found):
    results = search[0].cv_results_
    assert [c.rank for c in found.candidates] == [1, 2, 3]
    assert [c.index for c in found.candidates] == np.argsort(-results["mean_test_ndcg@10"]).tolist()
    for candidate in found.candidates:
        assert candidate.params == results["params"][candidate.index]
        assert candidate.mean["map"] == results["mean_test_map"][candidate.index]
        assert candidate.std["map"] == results["std_test_map"][candidate.index]
    assert found.changed == pytest.approx(0, abs=1e-12), "fitted again on the same folds, the scores are the same"


def test_candidates_are_compared_as_on_the_leaderboard(found):
    best, *others = found.candidates
    assert best.pair is None
    board = found.evaluation.leaderboard
    expected = compare(found.evaluation.reports, "ndcg@10", random_state=0)
    for number, candidate in enumerate(others, start=1):
        for name in ("difference", "interval", "p_value", "p_adjusted", "wins", "ties", "losses", "effect_size"):
            assert getattr(candidate.pair, name) == getattr(expected.pairs[number - 1], name)
        assert candidate.pair.p_adjusted == expected.pair(candidate.pair.first, candidate.pair.second).p_adjusted
    assert board.compare().n_tests == 3, "all pairs, not only those with the best"
    text = [line.split() for line in str(found).splitlines()]
    for name, letters in board.compare().letters.items():
        assert [line[-1] for line in text if line[:1] == name.split()[1:]] == [letters]


def test_reads_well_and_converts(found):
    text = str(found)
    verdict, rest = text.split("3 candidates ranked by ndcg@10, mean ± std over folds\n")
    assert " ".join(verdict.split()) == found.verdict
    assert "paired sign-flip permutation test, 60 queries, Holm at 0.05, 3 pairs" in " ".join(text.split())
    assert re.search(r" \*0\.\d{4} ± ", rest.splitlines()[1])
    frame = found.to_frame()
    assert frame["rank"].tolist() == [1, 2, 3]
    assert frame["p_adjusted"].tolist()[1:] == [c.pair.p_adjusted for c in found.candidates[1:]]
    assert "alpha=" in found._repr_html_()


def test_text_and_frame_show_the_candidates(found):
    lines = [line.split() for line in str(found).splitlines()]
    for c in found.candidates:
        name = f"alpha={c.params['estimator__alpha']}"
        star = "*" * (c.pair is None)
        ranked_by = [f"{star}{c.mean['ndcg@10']:.4f}", "±", f"{c.std['ndcg@10']:.4f}"]
        letters = found.evaluation.leaderboard.compare().letters[f"{c.rank}: {name}"]
        assert [name, str(c.rank), *ranked_by, letters] in lines
        assert [str(c.rank), f"{c.mean['map']:.4f}", "±", f"{c.std['map']:.4f}"] in lines
    for c in found.candidates[1:]:
        low, high = c.pair.interval
        p = f"{c.pair.p_adjusted:.4f}"
        assert [str(c.rank), f"{c.pair.difference:+.4f}", f"[{low:+.4f},", f"{high:+.4f}]", p] in lines
    assert found.to_frame().iloc[1].to_dict() == {
        "rank": 2,
        "index": found.candidates[1].index,
        **found.candidates[1].params,
        **{f"mean {name}": value for name, value in found.candidates[1].mean.items()},
        **{f"std {name}": value for name, value in found.candidates[1].std.items()},
        **dict(zip(("low", "high"), found.candidates[1].pair.interval, strict=True)),
        "difference": found.candidates[1].pair.difference,
        "p_adjusted": found.candidates[1].pair.p_adjusted,
    }


def test_verdict_is_that_of_the_leaderboard(search, found):
    names = [f"alpha={candidate.params['estimator__alpha']}" for candidate in found.candidates]
    board = found.evaluation.leaderboard
    assert found.verdict == re.sub(r"\b\d: alpha", "alpha", board.verdict)
    fewer = search_report(search[0], search[1], Y, qid=QID, n_candidates=2)
    assert " by ndcg@10 among the best 2 of 3 candidates" in fewer.verdict
    assert names[2] not in fewer.verdict
    # The means over queries rank the candidates in another order than those over folds.
    swapped = replace(
        found,
        candidates=[
            replace(c, rank=rank, params=found.candidates[rank - 1].params)
            for c, rank in zip(found.candidates, (2, 1, 3), strict=True)
        ],
    )
    assert swapped.verdict == f"{found.verdict} The best of the search, by its mean over folds, is {names[1]}."


def test_candidates_are_records(found):
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'rank'"):
        found.candidates[0].rank = 2


def test_grids_with_different_parameters():
    grids = [{"estimator__alpha": [1.0, 1e12]}, {"estimator__solver": ["svd"]}]
    search = ridge_search().set_params(param_grid=grids).fit(X, with_qid(Y, QID))
    frame = search_report(search, X, Y, qid=QID, random_state=0).to_frame()
    assert frame["estimator__solver"].notna().sum() == 1
    assert frame["estimator__alpha"].notna().sum() == 2


@pytest.mark.option("search_report.n_candidates")
def test_only_so_many_are_fitted_again(search):
    found = search_report(search[0], search[1], Y, qid=QID, n_candidates=2)
    assert len(found.evaluation.reports) == 2
    assert found.candidates[2].pair is None
    assert "not tested" in str(found)
    assert np.isnan(found.to_frame()["difference"].iloc[2])


@pytest.mark.slow
@pytest.mark.option("search_report.metric", "search_report.qid")
def test_other_metrics_and_the_one_of_within_noise():
    search = ridge_search(refit=within_noise("map", prefer="-estimator__alpha")).fit(X, with_qid(Y, QID))
    assert search_report(search, X, Y, qid=QID).metric == "map"
    assert search_report(search, X, with_qid(Y, QID), metric="ndcg@10").metric == "ndcg@10"
    unsaid = ridge_search(refit=False).fit(X, with_qid(Y, QID))
    with pytest.raises(ValueError, match=r"metric must be one of \['ndcg@10', 'map'\] if refit did not name one"):
        search_report(unsaid, X, Y, qid=QID)
    with pytest.raises(ValueError, match=r"metric must be one of \['ndcg@10', 'map'\]; got 'mrr'"):
        search_report(search, X, Y, qid=QID, metric="mrr")


def test_of_a_distance_the_smallest_is_the_best():
    search = ridge_search(scoring=make_ranking_scorer(kendall_tau_distance), refit=True).fit(X, with_qid(Y, QID))
    found = search_report(search, X, Y, qid=QID)
    assert found.changed == pytest.approx(0, abs=1e-12)
    assert found.candidates[0].params == search.best_params_
    assert found.metric == "neg_kendall_tau_distance"
    best, *others = found.candidates
    for candidate in others:
        ahead = best.mean[found.metric] - candidate.mean[found.metric]
        assert candidate.pair.difference == pytest.approx(ahead, rel=1e-9), "three folds of as many queries"
        assert ahead >= 0
        assert candidate.pair.wins >= candidate.pair.losses
    assert CVResultsDisplay.from_estimator(search, ax=Figure().subplots()).ax_.get_xlabel().startswith(found.metric)


@pytest.mark.filterwarnings("ignore:\\s*[0-9] fits failed", "ignore:One or more of the test scores are non-finite")
def test_failed_candidates_are_last_and_not_fitted_again():
    search = ridge_search()
    search.set_params(param_grid={"estimator__alpha": [-1.0, 1e12, 1.0]}).fit(X, with_qid(Y, QID))
    found = search_report(search, X, Y, qid=QID, random_state=0)
    assert [candidate.params["estimator__alpha"] for candidate in found.candidates][-1] == -1.0
    assert len(found.evaluation.reports) == 2
    assert ["alpha=-1.0", "3", "none", "failed"] in [line.split() for line in str(found).splitlines()]
    assert found.candidates[2].pair is None
    assert found.changed == pytest.approx(0, abs=1e-12)
    search.set_params(param_grid={"estimator__alpha": [-1.0, 1.0]}).fit(X, with_qid(Y, QID))
    with pytest.raises(ValueError, match="search must have at least two candidates with a score in every fold; got 1"):
        search_report(search, X, Y, qid=QID)


def test_candidates_that_are_estimators_have_short_names():
    grid = {"estimator": [XGBRanker(n_estimators=2, n_jobs=1), Ridge()]}
    search = ridge_search().set_params(param_grid=grid).fit(X, with_qid(Y, QID))
    _, text = str(search_report(search, X, Y, qid=QID)).split("\n2 candidates")
    lines = text.splitlines()
    assert len(lines) == 14
    assert lines[2].startswith("estimator=Ridge() ")
    assert lines[3].startswith("estimator=XGBRanker(base_score=None,")
    assert max(map(len, lines)) <= 80


def test_a_value_that_is_one_long_word_keeps_its_start():
    long_word = f"Model({'x' * 40})"
    params = {"step__estimator": long_word, "kind": "...", "path": "a" * 40, "text": "a " * 21}
    assert spelled(params) == (f"estimator=Model({'x' * 31}..., kind=..., path={'a' * 40}, text={'a ' * 18}...")


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("fitted")


def test_bad_input_is_noticed_before_anything_is_fitted():
    scoring = ranking_scorers("ndcg@10", "recall(average=micro)@3")
    search = ridge_search(scoring=scoring).fit(X, with_qid(Y, QID)).set_params(estimator=QueryRanker(NeverFitted()))
    with pytest.raises(ValueError, match="metric must be a mean over queries; got 'recall"):
        search_report(search, X, Y, qid=QID, metric="recall(average=micro)@3")
    with pytest.raises(TypeError, match="random_state must be an int from 0"):
        search_report(search, X, Y, qid=QID, random_state="seed")
    with pytest.raises(AssertionError, match="fitted"):
        search_report(search, X, Y, qid=QID)


class InThread(Ridge):
    """Notes the thread that it is fitted in."""

    threads: ClassVar[list] = []

    def fit(self, X, y):
        self.threads.append(threading.get_ident())
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.option("search_report.n_jobs", "search_report.verbose")
def test_jobs_and_progress_are_those_of_joblib(capsys):
    search = GridSearchCV(QueryRanker(InThread()), GRID, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(3))
    search.fit(X, with_qid(Y, QID))
    for n_jobs, verbose in ((None, 0), (1, 0), (2, 10)):
        InThread.threads.clear()
        with parallel_config("threading"):
            found = search_report(search, X, Y, qid=QID, n_jobs=n_jobs, verbose=verbose)
        assert found.changed == 0
        assert len(InThread.threads) == 3 * 3  # candidates and folds
        assert (threading.get_ident() not in InThread.threads) == (n_jobs == 2)
        assert ("9 out of   9" in capsys.readouterr().err) == (verbose == 10)


@pytest.mark.slow
@pytest.mark.option("search_report.random_state")
def test_the_random_state_draws_the_signs_of_the_permutation_test():
    search = ridge_search().set_params(param_grid={"estimator__alpha": [1.0, 300.0]}).fit(X, with_qid(Y, QID))

    def p_value(random_state):
        return search_report(search, X, Y, qid=QID, random_state=random_state).candidates[1].pair.p_value

    assert 0.001 < p_value(0) < 0.999
    assert p_value(0) == p_value(0) != p_value(1)
    assert p_value(np.random.default_rng(5)) == p_value(np.random.default_rng(5)) != p_value(np.random.default_rng(6))


def test_folds_that_are_used_up():
    splits = QueryKFold(3).split(X, Y, QID)
    search = ridge_search(cv=splits).fit(X, with_qid(Y, QID))
    with pytest.raises(ValueError, match=r"search must have a cv that can be iterated again.*cv=list\(...\)"):
        search_report(search, X, Y, qid=QID)


def test_randomized_search_and_random_folds():
    search = ridge_search(RandomizedSearchCV, n_iter=2, random_state=0, cv=QueryKFold(3, shuffle=True))
    found = search_report(search.fit(X, with_qid(Y, QID)), X, Y, qid=QID)
    assert len(found.candidates) == 2
    assert "folds or models are random" in " ".join(str(found).split())


def test_other_rows_than_in_the_search_are_the_first_thing_to_read(search):
    half = slice(len(X) // 2)
    found = search_report(search[0], search[1][half], Y[half], qid=QID[half])
    assert found.changed > 0.01
    text = " ".join(str(found).split())
    warning = f"differ from the search by up to {found.changed:.4f}: folds or models are random, or the data, the order"
    assert text.index("Fitted again") < text.index(warning) < text.index("Candidates were fitted again")
    assert "Fitted again" not in str(search_report(*search, Y, qid=QID))


def test_the_folds_of_a_search_without_cv_are_those_of_scikit_learn():
    equal = np.flatnonzero(np.isin(QID, np.flatnonzero(np.bincount(QID) >= 8)))
    starts = np.flatnonzero(np.r_[True, np.diff(QID[equal]) > 0])
    rows = np.concatenate([equal[start : start + 8] for start in starts[:20]])  # KFold(5) keeps queries of 8 whole
    search = ridge_search(cv=None).fit(X[rows], with_qid(Y[rows], QID[rows]))
    assert search_report(search, X[rows], Y[rows], qid=QID[rows]).changed == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_another_number_of_folds_than_in_the_search():
    rows = QID < 12
    search = ridge_search(cv=LeaveOneGroupOut()).fit(X[rows], with_qid(Y[rows], QID[rows]), groups=QID[rows])
    fewer = QID < 8
    message = "X, y and qid must be those of the search; got data that its cv splits into 8 folds, .* search had 12"
    with pytest.raises(ValueError, match=message):
        search_report(search, X[fewer], Y[fewer], qid=QID[fewer])


def test_a_lead_that_is_negative_is_of_a_better_candidate(found):
    second = found.candidates[1]
    verdicts = {
        (lead, p): replace(second, pair=replace(second.pair, difference=lead, p_adjusted=p)).verdict
        for lead, p in [(0.1, 0.05), (-0.1, 0.05), (0.1, 0.06), (-0.1, 0.06), (0.1, np.nan)]
    }
    assert list(verdicts.values()) == ["worse", "better", "no", "no", "no"]


@pytest.mark.slow
def test_a_single_metric_goes_by_its_own_name():
    search = ridge_search(scoring=make_ranking_scorer("ndcg@10"), refit=True).fit(X, with_qid(Y, QID))
    for metric in ("ndcg@10", "score", None):
        assert search_report(search, X, Y, qid=QID, metric=metric).metric == "ndcg@10"
    with pytest.raises(ValueError, match=r"metric must be one of \['score'\]; got 'map'"):
        search_report(search, X, Y, qid=QID, metric="map")


@pytest.mark.slow
def test_halving_shows_each_candidate_on_its_last_rung():
    search = HalvingGridSearchCV(
        QueryRanker(LGBMRanker(verbose=-1, n_jobs=1)),
        {"estimator__num_leaves": [2, 4, 8, 16]},
        scoring=make_ranking_scorer("ndcg@10"),
        cv=QueryKFold(3),
        resource="estimator__n_estimators",
        max_resources=12,
        random_state=0,
    ).fit(X, with_qid(Y, QID))
    found = search_report(search, X, Y, qid=QID)
    leaves = [c.params["estimator__num_leaves"] for c in found.candidates]
    assert sorted(leaves) == [2, 4, 8, 16]
    rounds = [c.params["estimator__n_estimators"] for c in found.candidates]
    assert rounds == sorted(rounds, reverse=True)
    assert found.candidates[0].params == search.best_params_
    assert found.changed == pytest.approx(0, abs=1e-12)


def test_a_later_rung_ranks_before_a_higher_mean():
    params = [{"a": 1, "n": 2}, {"a": 2, "n": 2}, {"a": 3, "n": 2}, {"a": 1, "n": 4}]
    results = {"params": params, "iter": np.array([0, 0, 0, 1]), "mean_test_m": np.array([0.5, 0.8, 0.9, 0.4])}
    assert ranked_rows(SimpleNamespace(cv_results_=results, resource="n"), "m") == [3, 2, 1]


def selecting(n_features):
    """A step whose text is abbreviated."""
    return make_column_transformer(("passthrough", [f"feature_{number}" for number in range(n_features)]))


def test_candidates_with_the_same_text_are_different():
    frame = pd.DataFrame(np.column_stack([*[X[:, :1]] * 51, X]))
    frame.columns = [f"feature_{number}" for number in range(frame.shape[1])]
    pipeline = make_pipeline(selecting(1), QueryRanker(Ridge()))
    steps = [selecting(40), selecting(frame.shape[1]), selecting(50)]
    assert len({str(step) for step in steps}) < 3
    search = GridSearchCV(
        pipeline, {"columntransformer": steps}, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(3)
    )
    report = search_report(search.fit(frame, with_qid(Y, QID)), frame, Y, qid=QID)
    assert sorted(candidate.index for candidate in report.candidates) == [0, 1, 2]
    assert report.candidates[0].index == search.best_index_ == 1
    assert "Ship 1: columntransformer=" in str(report), "numbered, as their names are alike"


def test_rungs_of_candidates_with_the_same_text_are_told_apart(tmp_path):
    values = [np.arange(2000.0), np.arange(2000.0) + (np.arange(2000) == 1000), None, np.nan, "a"]
    assert str(values[0]) == str(values[1])
    params = [{"value": value, "n": n} for n in (1, 2) for value in values]
    results = {"params": params, "iter": np.repeat([0, 1], 5), "mean_test_m": np.arange(10.0)}
    search = SimpleNamespace(cv_results_=results, resource="n")
    joblib.dump(search, tmp_path / "search")
    for saved in (search, pickle.loads(pickle.dumps(search)), joblib.load(tmp_path / "search")):
        assert ranked_rows(saved, "m") == [9, 8, 7, 6, 5]


def test_candidates_of_a_race_rank_by_the_mean_of_the_folds_that_they_ran():
    results = {"params": [{"a": a} for a in range(4)], "left_after": np.array([np.nan, np.nan, 2, 2])}
    results |= {"split0_test_m": np.array([0.5, 1.0, 0.9, np.nan]), "split1_test_m": np.array([0.5, 1.0, 0.1, 0.6])}
    race = SimpleNamespace(cv_results_=results, n_splits_=2)
    assert ranked_rows(race, "m") == [1, 0, 3, 2]  # 1, 1/2, then 0.6 and (0.9 + 0.1) / 2


def test_no_search():
    with pytest.raises(TypeError, match="search must be a fitted GridSearchCV or similar; got QueryRanker"):
        search_report(QueryRanker(Ridge()).fit(X, Y, qid=QID), X, Y, qid=QID)


def test_unfitted_search():
    with pytest.raises(NotFittedError, match="GridSearchCV instance is not fitted yet"):
        search_report(ridge_search(), X, Y, qid=QID)


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({"scoring": "r2", "refit": True}, {}, "search must use scorers of skrank_metrics; got"),
        ({}, {"n_candidates": 1}, "n_candidates must be an int >= 2; got 1"),
        ({"cv": KFold(3)}, {}, r"cv must keep every query whole; got KFold\(n_splits=3"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*were also in the training set:UserWarning")
def test_bad_input(options, change, message):
    search = ridge_search(**options).fit(X, with_qid(Y, QID))
    with pytest.raises(ValueError, match=message):
        search_report(search, X, Y, qid=QID, **change)


def test_a_single_candidate():
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=make_ranking_scorer("map"), cv=QueryKFold(3))
    with pytest.raises(ValueError, match="search must have at least two candidates; got 1"):
        search_report(search.fit(X, with_qid(Y, QID)), X, Y, qid=QID)


def by_hand(model, method, weights=None):
    """NDCG@10 of each query out of fold, by a response method, and the means of folds."""
    values, folds = {}, []
    for train, test in QueryKFold(3).split(X, groups=QID):
        scores = getattr(clone(model).fit(X[train], BINARY[train]), method)(X[test])
        weight = None if weights is None else weights[test]
        folds.append(ndcg_score(BINARY[test], scores, qid=QID[test], k=10, sample_weight=weight))
        found = ndcg_score(BINARY[test], scores, qid=QID[test], k=10, average=None)
        values |= dict(zip(dict.fromkeys(QID[test]), found, strict=True))
    return np.array([values[query] for query in np.unique(QID)]), folds


BINARY = (Y > 1).astype(int)
CLASSIFIERS = [{"C": [1e-4], "class_weight": [{1: 10}]}, {"C": [1.0]}]


@pytest.mark.parametrize(
    ("given", "method", "best"),
    [("predict", "predict", 1.0), (("decision_function", "predict"), "decision_function", 1e-4)],
)
def test_candidates_are_compared_by_the_response_method_of_the_scorer(given, method, best):
    # By its labels, which tie most documents, the first candidate is far worse; by its scores, it is better.
    scorer = make_ranking_scorer("ndcg@10", response_method=given)
    search = GridSearchCV(LogisticRegression(), CLASSIFIERS, scoring=scorer, cv=QueryKFold(3))
    found = search_report(search.fit(X, with_qid(BINARY, QID)), X, BINARY, qid=QID, random_state=0)
    assert found.candidates[0].params["C"] == best
    assert found.changed == 0
    (first, _), (second, _) = (by_hand(LogisticRegression(**c.params), method) for c in found.candidates)
    assert found.candidates[1].pair.difference == pytest.approx((first - second).mean(), rel=1e-12)
    assert found.candidates[1].pair.difference > 0
    assert found.candidates[1].verdict == ("worse" if method == "predict" else "no")


WEIGHTS = np.where(QID % 4 == 0, 20.0, 0.25)


def weighted_search(model, scoring, params, **options):
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(model, {"C": [1e-4, 1.0]}, scoring=scoring, cv=QueryKFold(3), **options)
        return search.fit(X, BINARY, **params)


def requesting(name):
    with sklearn.config_context(enable_metadata_routing=True):
        return make_ranking_scorer("ndcg@10").set_score_request(qid=True, groups=True, sample_weight=name)


def fitted_with(name):
    with sklearn.config_context(enable_metadata_routing=True):
        return LogisticRegression().set_fit_request(sample_weight=name)


@pytest.mark.slow
@pytest.mark.parametrize("of_fit", [False, True])
@pytest.mark.parametrize("name", ["sample_weight", "importance"])
@pytest.mark.option("search_report.params")
def test_candidates_are_compared_with_the_weights_that_the_scorer_requests(name, of_fit):
    asked = True if name == "sample_weight" else name
    params = {"groups": QID, name: WEIGHTS}
    search = weighted_search(fitted_with(of_fit and asked), requesting(asked), params)
    found = search_report(search, X, BINARY, qid=QID, params=params)
    assert found.changed == 0
    first, second = found.evaluation.scores.values()
    options = {"qid": QID, "k": 10, "sample_weight": WEIGHTS}
    ahead = ndcg_score(BINARY, first, **options) - ndcg_score(BINARY, second, **options)
    assert found.candidates[1].pair.difference == pytest.approx(ahead, rel=1e-9)
    if not of_fit:
        for candidate, folds in zip(found.candidates, found.evaluation.folds.values(), strict=True):
            _, expected = by_hand(LogisticRegression(C=candidate.params["C"]), "decision_function", WEIGHTS)
            assert folds["ndcg@10"] == pytest.approx(expected, rel=1e-12)
    message = rf"params must hold '{name}', which the scorer of the search requests; got \[\]"
    with pytest.raises(ValueError, match=message):
        search_report(search, X, BINARY, qid=QID)


NOISY = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 20)) * 3])
WEIGHED = with_qid(Y, QID, sample_weight=WEIGHTS)
SCORES_WITH_WEIGHTS_OF_FIT = parse_version(sklearn.__version__) >= parse_version("1.7")  # without routing


def folds_by_hand(model, fit_weights, score_weights):
    folds = []
    for train, test in QueryKFold(3).split(NOISY, groups=QID):
        fitted = clone(model).fit(NOISY[train], Y[train], **({"sample_weight": WEIGHTS[train]} if fit_weights else {}))
        weights = WEIGHTS[test] if score_weights else None
        folds.append(ndcg_score(Y[test], fitted.predict(NOISY[test]), qid=QID[test], k=10, sample_weight=weights))
    return folds


RIDGE, OF_STEP = QueryRanker(Ridge()), "queryranker__sample_weight"
PIPELINE = make_pipeline(FunctionTransformer(), RIDGE)


@pytest.mark.slow
@pytest.mark.parametrize("routing_at_report", [False, True])
@pytest.mark.parametrize(
    ("kind", "model", "name", "of_index", "of_score"),
    [
        (GridSearchCV, RIDGE, "sample_weight", False, SCORES_WITH_WEIGHTS_OF_FIT),
        (GridSearchCV, RIDGE, "sample_weight", True, True),
        (GridSearchCV, RIDGE, None, True, True),
        (GridSearchCV, Ridge(), "sample_weight", False, SCORES_WITH_WEIGHTS_OF_FIT),
        (GridSearchCV, PIPELINE, OF_STEP, False, False),
        (GridSearchCV, PIPELINE, OF_STEP, True, True),
        (GridSearchCV, PIPELINE, None, True, True),
        (RacingSearchCV, RIDGE, "sample_weight", False, True),
    ],
)
def test_weights_without_routing_are_used_as_in_the_search(kind, model, name, of_index, of_score, routing_at_report):
    alpha = next(key for key in model.get_params() if key.endswith("alpha"))
    y, params = WEIGHED if of_index else with_qid(Y, QID), {name: WEIGHTS} if name else {}
    options = {"scoring": ranking_scorers("ndcg@10", "map"), "refit": "ndcg@10", "cv": QueryKFold(3)}
    search = kind(model, {alpha: [1.0, 1.1]}, **options).fit(NOISY, y, **params)
    with sklearn.config_context(enable_metadata_routing=routing_at_report):
        found = search_report(search, NOISY, y, params=params)
    assert found.changed < 1e-9
    assert len(found.evaluation.folds) == 2
    for candidate, folds in zip(found.candidates, found.evaluation.folds.values(), strict=True):
        expected = folds_by_hand(Ridge(alpha=candidate.params[alpha]), bool(name), of_score)
        assert folds["ndcg@10"] == pytest.approx(expected, rel=1e-9)
        assert [search.cv_results_[f"split{fold}_test_ndcg@10"][candidate.index] for fold in range(3)] == (
            pytest.approx(expected, rel=1e-9)
        )
        for others in {(True, False), (False, True), (False, False), (True, True)} - {(bool(name), of_score)}:
            assert folds["ndcg@10"] != pytest.approx(folds_by_hand(Ridge(), *others), rel=1e-4)
    assert ("Weighted by sample_weight, no query with weight 0." in str(found)) == of_score


@pytest.mark.slow
def test_without_routing_a_classifier_is_ranked_by_its_decision_function():
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, scoring=make_ranking_scorer("map"), cv=QueryKFold(3)
    )
    search.fit(X, with_qid(BINARY, QID), sample_weight=WEIGHTS)
    found = search_report(search, X, BINARY, qid=QID, params={"sample_weight": WEIGHTS})
    assert found.changed == 0


def test_weights_of_the_index_are_those_that_the_scorer_requests():
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(RIDGE, GRID, scoring=requesting(True), cv=QueryKFold(3)).fit(NOISY, WEIGHED)
    found = search_report(search, NOISY, WEIGHED)
    assert found.changed < 1e-12
    assert "Weighted by sample_weight" in str(found)


def test_weights_of_the_fit_that_are_missing_are_asked_for():
    search = ridge_search().fit(NOISY, WEIGHED, sample_weight=WEIGHTS)
    text = " ".join(str(search_report(search, NOISY, WEIGHED)).split())
    assert "Arguments of its fit, such as sample_weight, belong in params." in text


@pytest.mark.parametrize(
    ("model", "name", "error", "message"),
    [
        (RIDGE, "weights", TypeError, "QueryRanker.fit got an unexpected parameter 'weights'; it takes X, y, qid"),
        (PIPELINE, "sample_weight", ValueError, "stepname__parameter format"),
    ],
)
def test_parameters_that_no_search_passes_to_fit(model, name, error, message):
    alpha = next(key for key in model.get_params() if key.endswith("alpha"))
    search = GridSearchCV(model, {alpha: [1.0, 2.0]}, scoring=make_ranking_scorer("map"), cv=QueryKFold(3))
    search.fit(X, with_qid(Y, QID))
    with pytest.raises(error, match=message):
        search_report(search, X, Y, qid=QID, params={name: WEIGHTS})


def test_weights_that_the_scorer_does_not_request_are_for_the_fit_alone():
    params = {"groups": QID, "sample_weight": WEIGHTS}
    search = weighted_search(fitted_with(True), requesting(False), params)
    assert search_report(search, X, BINARY, qid=QID, params=params).changed == 0


@pytest.mark.slow
def test_scorers_of_one_search_may_score_in_different_ways():
    scoring = {
        "by label": make_ranking_scorer("ndcg@10", response_method="predict"),
        "by score": make_ranking_scorer("ndcg@10"),
        "weighted": requesting(True),
        "map": make_ranking_scorer("map"),
    }
    with sklearn.config_context(enable_metadata_routing=True):
        for name in ("by label", "by score", "map"):
            scoring[name].set_score_request(qid=True, groups=True, sample_weight=False)
    params = {"groups": QID, "sample_weight": WEIGHTS}
    search = weighted_search(fitted_with(False), scoring, params, refit="by score")
    for metric in scoring:
        weights = {"params": params} if metric == "weighted" else {}
        found = search_report(search, X, BINARY, qid=QID, metric=metric, **weights)
        assert found.metric == metric
        assert found.changed < 1e-12
        for c in found.candidates:
            assert list(c.mean) == list(scoring), "one metric, several scorers: they go by their keys"
            assert c.mean[metric] == search.cv_results_[f"mean_test_{metric}"][c.index]
        shared = {"by score": {"ndcg@10", "map"}, "map": {"ndcg@10", "map"}}.get(metric, {"ndcg@10"})
        assert set(next(iter(found.evaluation.reports.values())).mean) == shared


@pytest.mark.slow
def test_candidates_that_left_a_race_come_last_and_are_not_fitted_again():
    X, y, qid = make_ranking(150, random_state=0)
    grid = {"estimator__alpha": [1.0, 1e9, 1e12]}
    search = ridge_search(RacingSearchCV).set_params(param_grid=grid, cv=None).fit(X, with_qid(y, qid))
    found = search_report(search, X, y, qid=qid)
    assert [c.params["estimator__alpha"] for c in found.candidates] == [1e9, 1e12, 1.0]
    assert [c.verdict for c in found.candidates] == ["best", "no", "behind after fold 2"]
    assert [bool(c.pair) for c in found.candidates] == [False, True, False]
    assert len(found.evaluation.reports) == 2
    assert found.changed == pytest.approx(0, abs=1e-12)
    assert "1 candidate left the race before the last fold" in " ".join(str(found).split())


@pytest.mark.slow
def test_candidates_that_left_together_are_ordered_by_their_means_so_far():
    X, y, qid = make_ranking(150, random_state=0)
    grid = {"estimator__alpha": [1.0, 1e9, 3.0, 10.0, 30.0]}
    search = ridge_search(RacingSearchCV).set_params(param_grid=grid, cv=QueryKFold(5), confidence=0.5)
    found = search.fit(X, with_qid(y, qid)).cv_results_
    order = [c.index for c in search_report(search, X, y, qid=qid).candidates]
    last = np.nan_to_num(found["left_after"], nan=np.inf)
    means = np.nanmean([found[f"split{fold}_test_ndcg@10"] for fold in range(5)], axis=0)
    assert len(set(last)) < len(last)
    assert order == sorted(range(5), key=lambda row: (-last[row], -means[row]))


def test_a_race_that_one_candidate_finishes():
    X, y, qid = make_ranking(150, random_state=0)
    search = ridge_search(RacingSearchCV).set_params(param_grid={"estimator__alpha": [1.0, 1e9]})
    found = search_report(search.fit(X, with_qid(y, qid)), X, y, qid=qid)
    assert [c.verdict for c in found.candidates] == ["best", "behind after fold 1"]
    assert "lead of the best" not in str(found)
    assert np.isnan(found.to_frame()["difference"]).all()
    assert list(found.evaluation.reports) == ["1: alpha=1000000000.0"]


@pytest.mark.slow
def test_repeated_folds_are_refused_with_what_is_possible():
    search = ridge_search(cv=RepeatedQueryKFold(3, n_repeats=2, random_state=0)).fit(X, with_qid(Y, QID))
    message = (
        r"every query at most once, .*; got query .* in fold \d and in fold \d\. Search with QueryKFold, or evaluate"
    )
    with pytest.raises(ValueError, match=message):
        search_report(search, X, Y, qid=QID)
    models = {str(alpha): Ridge(alpha) for alpha in (1.0, 1e6)}
    assert compare(cross_evaluate(models, X, Y, qid=QID, cv=QueryKFold(5)).reports, "mrr").pairs[0].n_queries == 60

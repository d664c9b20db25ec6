"""Searches in which something goes wrong: the result is that of a loop by hand, or an error names the cause."""

import os
import signal

import numpy as np
import pytest
import sklearn
from joblib.externals.loky.process_executor import TerminatedWorkerError
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold

from skrank_metrics import (
    PredefinedQuerySplit,
    QueryKFold,
    QueryRanker,
    make_ranking_scorer,
    ndcg_score,
    with_qid,
)


class Candidate(BaseEstimator):
    """A ridge regression, or one that goes wrong as its parameter says."""

    def __init__(self, what="fine"):
        self.what = what

    def fit(self, X, y):
        if self.what == "fit raises":
            raise RuntimeError("this candidate cannot be fitted")
        self.ridge_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        scores = self.ridge_.predict(X)
        if self.what == "predict raises":
            raise RuntimeError("this candidate cannot predict")
        if self.what == "exits":
            os._exit(1)
        if self.what == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.what == "one nan":
            scores[len(scores) // 2] = np.nan
        wrong = {"nan": scores * np.nan, "constant": scores * 0, "reversed": -scores}
        return wrong.get(self.what, scores)


@pytest.fixture
def problem(rng):
    """Interleaved queries, features of which the first tells most, grades and ids."""
    qid = rng.permutation(np.repeat(np.arange(12), rng.integers(3, 9, 12)))
    X = rng.normal(size=(len(qid), 3))
    return X, np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=len(qid)) + 1), 0, 3), qid


def search_of(whats, model=None, scorer=None, **options):
    options = {"scoring": scorer or make_ranking_scorer("ndcg@5"), "cv": QueryKFold(3)} | options
    return GridSearchCV(model or QueryRanker(Candidate()), {"estimator__what": whats}, **options)


def searched(problem, whats, **options):
    X, y, qid = problem
    return search_of(whats, **options).fit(X, with_qid(y, qid))


def by_hand(problem, what, cv=None):
    X, y, qid = problem
    scores = []
    ids = {} if isinstance(cv, KFold) else {"groups": qid}  # of which KFold would warn
    for train, test in (cv or QueryKFold(3)).split(X, y, **ids):
        predicted = Candidate(what).fit(X[train], y[train]).predict(X[test])
        scores.append(ndcg_score(y[test], predicted, qid=qid[test], k=5))
    return scores


def split_scores(search, candidate):
    return [search.cv_results_[f"split{i}_test_score"][candidate] for i in range(search.n_splits_)]


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.filterwarnings("ignore:Scoring failed")  # which is said where the score is computed
def test_candidates_that_fail_never_win_and_spoil_no_other(problem, n_jobs):
    failing = ["nan", "one nan", "fit raises", "predict raises"]
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        search = searched(problem, [*failing, "reversed", "fine", "constant"], n_jobs=n_jobs)
    for candidate in range(4):
        assert np.isnan(split_scores(search, candidate)).all()
    assert search.cv_results_["rank_test_score"].tolist() == [4, 4, 4, 4, 3, 1, 2]
    assert search.best_params_ == {"estimator__what": "fine"}
    for candidate, what in enumerate(["reversed", "fine", "constant"], start=4):
        assert split_scores(search, candidate) == by_hand(problem, what)


@pytest.mark.slow
@pytest.mark.parametrize(("what", "error_score"), [("exits", np.nan), ("is killed", "raise")])
def test_a_worker_that_dies_ends_the_search(problem, what, error_score):
    X, y, qid = problem
    search = search_of(["fine", what], cv=QueryKFold(2), n_jobs=2, error_score=error_score)
    with pytest.raises(TerminatedWorkerError):
        search.fit(X, with_qid(y, qid))
    assert not hasattr(search, "cv_results_")
    # The next search gets new workers, and right numbers.
    assert split_scores(searched(problem, ["fine"], n_jobs=2), 0) == by_hand(problem, "fine")


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "error_score"), [(1, np.nan), (1, "raise"), (2, np.nan)])
def test_a_fold_without_a_relevant_document_counts_0_or_ends_the_search(
    problem, n_jobs, error_score
):
    X, y, qid = problem
    problem, cv = (X, np.where(qid % 3 == 1, 0.0, y), qid), PredefinedQuerySplit(qid % 3)
    options = {"cv": cv, "n_jobs": n_jobs, "error_score": error_score}
    search = searched(problem, ["reversed", "fine"], **options)
    for candidate, what in enumerate(["reversed", "fine"]):
        assert split_scores(search, candidate) == by_hand(problem, what, cv)
        assert split_scores(search, candidate)[1] == 0
    assert search.best_params_ == {"estimator__what": "fine"}
    # Where such queries are left out, every candidate would have a mean of NaN, and the first one would win.
    scorer = make_ranking_scorer("ndcg@5", replace_undefined_by=np.nan)
    with pytest.raises(
        ValueError, match=r"ndcg.* is undefined for all scored queries, and replace_undefined_by"
    ):
        searched(problem, ["reversed", "fine"], scorer=scorer, **options)


@pytest.mark.slow
def test_one_query_of_50000_documents(problem):
    rng = np.random.default_rng(1)
    more = rng.normal(size=(50_000, 3)), rng.integers(0, 4, 50_000), np.full(50_000, 99)
    long = [np.concatenate(both) for both in zip(problem, more, strict=True)]
    search = searched(long, ["constant", "reversed", "fine"])
    for candidate, what in enumerate(["constant", "reversed", "fine"]):
        assert split_scores(search, candidate) == by_hand(long, what)


def test_ids_on_both_sides_of_a_split_are_warned_of(problem):
    with pytest.warns(UserWarning, match="^The folds cut queries"):
        search = searched(problem, ["fine"], cv=KFold(2))
    assert split_scores(search, 0) == by_hand(problem, "fine", KFold(2))


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_weights_that_leave_no_query_end_the_search(problem, error_score):
    X, y, qid = problem
    with sklearn.config_context(enable_metadata_routing=True):
        model = QueryRanker(Candidate()).set_fit_request(sample_weight=False)
        scorer = make_ranking_scorer("ndcg@5").set_score_request(
            qid=True, groups=True, sample_weight=True
        )
        search = search_of(
            ["fine"], model, scorer, cv=PredefinedQuerySplit(qid % 3), error_score=error_score
        )
        with pytest.raises(ValueError, match="sample_weight must not be zero everywhere"):
            search.fit(X, y, groups=qid, sample_weight=(qid % 3 > 0).astype(float))

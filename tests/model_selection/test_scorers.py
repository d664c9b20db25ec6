import copy
import functools
import gc
import pickle
import re
import weakref

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB

from skrank_metrics import (
    QueryKFold,
    evaluate,
    get_metric,
    kendall_tau_distance,
    make_ranking_scorer,
    map_score,
    mrr_score,
    ndcg_score,
    ranking_scorers,
    with_qid,
)
from skrank_metrics._engine import per_query as _engine

NAMES = ("ndcg@10", "map", "mrr", "precision@3")


class Given(BaseEstimator):
    """Predicts the first feature, and counts how often it is asked."""

    calls = 0

    def fit(self, X, y):
        return self

    def predict(self, X):
        Given.calls += 1
        return np.asarray(X)[:, 0]


@pytest.fixture
def problem(rows):
    labels, scores, qid = rows
    return np.column_stack([scores, np.arange(len(scores))]), labels, qid


@pytest.fixture
def count_rankings(monkeypatch):
    calls = []
    original = _engine.ranked_blocks
    monkeypatch.setattr(
        _engine, "ranked_blocks", lambda *args: calls.append(args[1:]) or original(*args)
    )
    return calls


def test_is_a_genuine_scorer_with_requests():
    scorer = make_ranking_scorer("ndcg@10")
    assert type(scorer) is type(make_scorer(ndcg_score))
    requests = sklearn.utils.metadata_routing.get_routing_for_object(scorer).score.requests
    assert requests == {
        "qid": True,
        "groups": True,
        "retrieved": True,
        "judged": True,
        "documents": True,
        "sample_weight": None,
    }
    assert repr(scorer).startswith("make_scorer(ndcg@10, response_method=('decision_function',")


@pytest.mark.parametrize("keyword", ["qid", "groups"])
@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda scorer: pickle.loads(pickle.dumps(scorer))]
)
def test_copies_and_pickles_with_its_requests(duplicate, keyword, problem):
    X, y, qid = problem
    scorer = duplicate(make_ranking_scorer("ndcg@10", gain="exp2"))
    with sklearn.config_context(enable_metadata_routing=True):
        value = scorer(Given(), X, y, **{keyword: qid})
    assert value == ndcg_score(y, X[:, 0], qid=qid, k=10, gain="exp2")


def test_parameters_of_the_metric():
    assert repr(make_ranking_scorer(ndcg_score, k=5, gain="exp2")).startswith(
        "make_scorer(ndcg(gain=exp2)@5,"
    )
    assert repr(make_ranking_scorer("ndcg", k=5)).startswith("make_scorer(ndcg@5,")
    # What to do does not depend on who asks; a scorer has no report.
    with pytest.raises(ValueError, match=r"average must not be None .* got '.*'\. Leave it out\.$"):
        make_ranking_scorer("ndcg", average=None)
    with pytest.raises(ValueError, match="Did you mean 'exp2'"):
        make_ranking_scorer("ndcg", gain="exp3")


@pytest.mark.option("make_ranking_scorer.convention", "make_ranking_scorer.**params")
def test_convention_and_parameters_of_a_scorer(problem):
    X, y, qid = problem
    options = {"gain": "exp2", "ties": "stable", "replace_undefined_by": 1.0}
    by_default, as_lightgbm, by_hand = (
        make_ranking_scorer("ndcg@3", **given)(Given(), X, with_qid(y, qid))
        for given in ({}, {"convention": "lightgbm"}, options)
    )
    assert by_default == ndcg_score(y, X[:, 0], qid=qid, k=3)
    assert as_lightgbm == by_hand == ndcg_score(y, X[:, 0], qid=qid, k=3, **options) != by_default


def test_names():
    scorers = ranking_scorers("ndcg@10", map_score)
    assert list(scorers) == ["ndcg@10", "map"]
    with pytest.raises(ValueError, match="metrics must name at least one metric"):
        ranking_scorers()
    with pytest.raises(ValueError, match="average must not be None where a single value"):
        ranking_scorers("map(average=None)")
    with pytest.raises(TypeError, match=r"metric must be a name like .* got list"):
        ranking_scorers(["ndcg@10", "map"])


def test_scorers_of_a_dict_predict_once_and_rank_once(problem, count_rankings):
    X, y, qid = problem
    expected = evaluate(y, X[:, 0], qid=qid, metrics=NAMES).mean
    assert count_rankings == [(None, "average")]
    count_rankings.clear()
    Given.calls = 0
    cv = [(np.arange(3), np.arange(len(y)))]
    result = cross_validate(Given(), X, with_qid(y, qid), scoring=ranking_scorers(*NAMES), cv=cv)
    assert Given.calls == 1
    assert count_rankings == [(None, "average")]
    assert {name: result[f"test_{name}"][0] for name in NAMES} == expected


@pytest.mark.parametrize("options", [{"convention": "lightgbm"}, {"response_method": "predict"}])
def test_scorers_of_a_dict_have_the_convention_and_the_method(options, problem):
    class Reversible(ClassifierMixin, Given):
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return -X[:, 0]

    X, y, qid = problem
    labels = with_qid(y, qid)
    for name, scorer in ranking_scorers("ndcg@3", "map", **options).items():
        alone = make_ranking_scorer(name, **options)(Reversible(), X, labels)
        assert scorer(Reversible(), X, labels) == alone
        assert alone != make_ranking_scorer(name)(Reversible(), X, labels)


def test_scorers_of_a_dict_notice_other_data(problem):
    X, y, qid = problem
    predicted = X[:, 0].copy()

    class Same(Given):
        """Always predicts the same array, whatever it holds."""

        def predict(self, X):
            return predicted

    scorers = ranking_scorers("ndcg@10", "map")
    labels = with_qid(y, qid)
    assert scorers["ndcg@10"](Same(), X, labels) == ndcg_score(y, predicted, qid=qid, k=10)
    predicted *= -1
    assert scorers["map"](Same(), X, labels) == map_score(y, predicted, qid=qid)
    assert scorers["ndcg@10"](Same(), X, with_qid(y[::-1], qid)) == ndcg_score(
        y[::-1], predicted, qid=qid, k=10
    )
    renamed = np.where(qid == "a", "b", qid)
    assert scorers["map"](Same(), X, with_qid(y[::-1], renamed)) == map_score(
        y[::-1], predicted, qid=renamed
    )


def test_values_are_not_kept_from_one_call_to_the_next(problem):
    """Whatever changed in place: labels, ids, weights or masks in the index of y, scores in a Series, or the rows."""
    X, y, qid = problem
    scorers = ranking_scorers("ndcg@10", "map")
    labels = with_qid(y.astype(float), qid, judged=np.ones(len(y), bool))
    predicted = pd.Series(X[:, 0].copy())

    class Same(Given):
        def predict(self, X):
            return predicted

    def found():
        return {name: scorer(Same(), X, labels) for name, scorer in scorers.items()}

    def expected():
        judged = labels.index.get_level_values("judged")
        options = {"qid": labels.index.get_level_values("qid"), "judged": judged}
        report = evaluate(labels.to_numpy(), predicted.to_numpy(), metrics=list(scorers), **options)
        return report.mean

    def shuffle_predictions():
        predicted.iloc[:] = predicted.to_numpy()[::-1]

    def change_labels():
        labels.iloc[:] = 3 - labels.to_numpy()

    def change_ids():
        all_judged = np.ones(len(y), bool)
        shifted = with_qid(y, np.roll(qid, 1), judged=all_judged)
        labels.index = shifted.index

    def change_mask():
        judged = np.arange(len(y)) % 3 > 0
        labels.index = with_qid(y, qid, judged=judged).index

    before = found()
    assert before == expected()
    for change in (shuffle_predictions, change_labels, change_ids, change_mask):
        change()
        assert found() == expected(), change.__name__
    assert found() != before


def test_rows_that_were_reordered_between_two_scorers_are_noticed(problem):
    X, y, qid = problem
    scorers = ranking_scorers("ndcg@10", "map")
    frame = pd.DataFrame(X, index=np.arange(3, 3 + len(X)))
    labels = with_qid(pd.Series(y, index=frame.index), qid)
    predicted = X[:, 0]

    class Same(Given):
        def predict(self, X):
            return predicted

    scorers["ndcg@10"](Same(), frame, labels)
    with pytest.raises(ValueError, match="y_true must have the same index as X"):
        scorers["map"](Same(), frame[::-1], labels)


@pytest.mark.option("ranking_scorers.*names")
def test_nothing_stays_in_memory_after_a_call(problem):
    X, y, qid = problem
    labels = with_qid(y, qid)
    alive = []

    class Watched(Given):
        def predict(self, X):
            predicted = np.asarray(X)[:, 0].copy()
            alive.append(weakref.ref(predicted))
            return predicted

    alive.append(weakref.ref(labels))
    _MultimetricScorer(scorers=ranking_scorers("ndcg@10", "map"))(Watched(), X, labels)
    ranking_scorers("ndcg@10", "map")["map"](Watched(), X, labels)
    del labels
    gc.collect()
    assert [reference() for reference in alive] == [None] * 3


@pytest.mark.option("make_ranking_scorer.response_method")
def test_the_response_method_that_is_asked_for(problem):
    X, y, qid = problem
    binary = (y > 0).astype(int)
    model = LogisticRegression().fit(X, binary)
    by_label = make_ranking_scorer("map", response_method="predict")(
        model, X, with_qid(binary, qid)
    )
    assert by_label == map_score(binary, model.predict(X), qid=qid)
    assert by_label != make_ranking_scorer("map")(model, X, with_qid(binary, qid))


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (LogisticRegression(), "decision_function"),
        (GaussianNB(), "predict_proba"),
        (LinearRegression(), "predict"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_scorers_take_the_first_response_that_the_model_has(problem, model, method):
    X, y, qid = problem
    binary = (y > 1).astype(int)
    scorers = ranking_scorers(*NAMES)
    found = cross_validate(model, X, with_qid(binary, qid), scoring=scorers, cv=QueryKFold(2))
    for fold, (train, test) in enumerate(QueryKFold(2).split(X, groups=qid)):
        fitted = clone(model).fit(X[train], binary[train])
        response = getattr(fitted, method)(X[test])
        response = response[:, 1] if method == "predict_proba" else response
        expected = evaluate(binary[test], response, qid=qid[test], metrics=NAMES).mean
        assert {name: found[f"test_{name}"][fold] for name in NAMES} == expected
        if method != "predict":
            assert (
                expected
                != evaluate(
                    binary[test], fitted.predict(X[test]), qid=qid[test], metrics=NAMES
                ).mean
            )


TWO_WAYS = r"\(qid\), and got none\. Pass .*(with_qid\(y, qid\)|groups=qid)"


ONE, TWO = make_ranking_scorer("map"), ranking_scorers("map", "mrr")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scoring", "routing", "n_jobs"),
    [
        (ONE, False, 1),
        (ONE, True, 1),
        (TWO, False, 1),
        (TWO, True, 1),
        # An error ends the processes of workers, and new ones take long to start.
        (TWO, True, 2),
    ],
)
def test_missing_ids_end_a_search_whatever_its_error_score(problem, scoring, routing, n_jobs):
    X, y, _ = problem
    search = GridSearchCV(
        LinearRegression(), {}, scoring=scoring, refit=False, cv=KFold(2), n_jobs=n_jobs
    )
    assert np.isnan(search.error_score)
    with (
        sklearn.config_context(enable_metadata_routing=routing),
        pytest.raises(TypeError, match=TWO_WAYS),
    ):
        search.fit(X, y)


@pytest.mark.parametrize(
    "scoring", [ndcg_score, get_metric("ndcg@10"), {"a": map_score, "b": ndcg_score}]
)
def test_a_metric_function_as_scoring_names_make_ranking_scorer(problem, scoring):
    X, y, qid = problem
    with pytest.raises(TypeError, match="make_ranking_scorer"):
        cross_validate(LinearRegression(), X, with_qid(y, qid), scoring=scoring)


def test_a_candidate_that_fails_is_left_to_error_score(problem):
    class NotANumber(Given):
        def predict(self, X):
            return np.full(len(X), np.nan)

    X, y, qid = problem
    options = {"scoring": make_ranking_scorer("map"), "cv": QueryKFold(2)}
    with pytest.warns(UserWarning, match="y_score contains NaN"):
        assert np.isnan(cross_val_score(NotANumber(), X, with_qid(y, qid), **options)).all()


def fails(problem, match, scoring, y=None, error=ValueError, model=None):
    """A search whose set-up is wrong ends with the error, though error_score is NaN."""
    X, grades, qid = problem
    search = GridSearchCV(model or LinearRegression(), {}, scoring=scoring, cv=KFold(2))
    with pytest.raises(error, match=match):
        search.fit(X, with_qid(grades, qid) if y is None else y)


@pytest.mark.parametrize(
    "metric",
    [ndcg_score, get_metric("map@5"), functools.partial(mrr_score, k=3)],
    ids=["function", "bound", "partial"],
)
def test_a_metric_in_make_scorer_without_ids_ends_a_search(problem, metric):
    fails(problem, TWO_WAYS, make_scorer(metric), problem[1], TypeError)


def test_scorers_of_users_get_the_error_of_a_metric(problem):
    X, y, _ = problem
    caught = []

    def scorer(model, X, y):
        try:
            return ndcg_score(y, model.predict(X))
        except TypeError as error:
            caught.append(str(error))
            return 0.25

    def score(y_true, y_score):
        return scorer(LinearRegression().fit(X, y), X, y)

    for scoring in (scorer, make_scorer(score)):
        caught.clear()
        scores = cross_val_score(LinearRegression(), X, y, scoring=scoring, cv=KFold(2))
        assert scores.tolist() == [0.25, 0.25]
        assert len(caught) == 2
        assert "needs the query id of each document" in caught[0]


@pytest.mark.filterwarnings("ignore:The folds cut queries")
def test_labels_and_ids_that_no_candidate_can_help_end_a_search(problem):
    _, y, qid = problem
    scorer = make_ranking_scorer("map")
    fails(problem, "y_true contains -1.0", scorer, with_qid(y - 1.0, qid))
    ids = pd.Series(y, index=pd.Index([None, *qid[1:]], name="qid"))
    fails(problem, "qid must not hold missing ids; got (None|nan)", scorer, ids)
    message = (
        "one score per document; got [34] columns, one per class. Wrap the model in QueryRanker"
    )
    fails(problem, message, scorer, model=LogisticRegression(max_iter=1000))


def test_a_loss_is_negated_once_by_its_name_or_by_the_scorer(problem):
    X, y, qid = problem
    distance = kendall_tau_distance(y, X[:, 0], qid=qid)
    assert distance > 0
    for scorer in (
        make_ranking_scorer("neg_kendall_tau_distance"),
        make_ranking_scorer(kendall_tau_distance),
    ):
        assert scorer(Given(), X, with_qid(y, qid)) == -distance


AVERAGING = {
    "mean of two": lambda one, two: (one + two) / 2,
    "difference": lambda one, two: one - two,
    "f-measure": lambda one, two: 1 / (0.5 / one + 0.5 / two),
    "geometric mean": lambda one, two: (one * two) ** 0.5,
    "numpy average": lambda one, two: np.average([one, two], weights=[0.3, 0.7]),
    "loss": lambda one, two: -abs(1 - one),
}


@pytest.mark.parametrize("combine", AVERAGING.values(), ids=AVERAGING)
def test_an_error_behind_scores_that_are_averaged_ends_a_search(problem, combine):
    scorers = ranking_scorers("map", "mrr").values()
    fails(
        problem,
        TWO_WAYS,
        lambda *args: combine(*(s(*args) for s in scorers)),
        problem[1],
        TypeError,
    )


LOOKING = {
    "float": float,
    "round": lambda score: round(score, 2),
    "max": lambda score: max(score, 0.5),
    "truth": lambda score: 1.0 if score else 0.0,
    "equality": lambda score: float(score == 1),
    "numpy array": lambda score: np.array([score], dtype=float)[0],
    "clip": lambda score: float(np.clip(score, 0, 1)),
    "format": lambda score: float(f"{score:.3f}"),
    "set": lambda score: float(len({score})),
}


@pytest.mark.parametrize("look", LOOKING.values(), ids=LOOKING)
def test_a_user_who_looks_at_a_score_gets_the_error_behind_it(problem, look):
    X, y, _ = problem
    scorer = make_ranking_scorer("map")
    search = GridSearchCV(
        LinearRegression(), {}, cv=KFold(2), scoring=lambda *arguments: look(scorer(*arguments))
    )
    with (
        pytest.warns(UserWarning, match="non-finite"),
        pytest.warns(UserWarning, match="Scoring failed") as warned,
    ):
        search.fit(X, y)  # without ids
    failed = [
        str(warning.message) for warning in warned if "Scoring failed" in str(warning.message)
    ]
    assert len(failed) == 2
    last_lines = [text.strip().splitlines()[-1] for text in failed]
    assert all(re.search(TWO_WAYS, line) for line in last_lines)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_a_metric_that_refuses_the_labels_does_not_stop_the_others():
    X = [[1.0], [2.0], [3.0]]
    labels = with_qid([-1, 0, 2], ["a"] * 3)
    scorers = ranking_scorers("spearman", "mrr")
    assert scorers["spearman"](Given(), X, labels) == pytest.approx(1)
    with pytest.raises(ValueError, match=r"y_true contains -1\.0"):
        scorers["mrr"](Given(), X, labels)

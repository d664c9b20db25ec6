import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the halving search importable
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from skrank_metrics.datasets import make_ranking
from skrank_metrics.model_selection import within_noise

X, Y, QID = make_ranking(60, random_state=0)


def results(*folds, metric="score", params=None):
    found = {
        f"split{i}_test_{metric}": np.array(fold) for i, fold in enumerate(zip(*folds, strict=True))
    }
    return {"params": params or [{"size": number} for number in range(len(folds))], **found}


def by_hand(found, **options):
    """Call the rule with the ratio of k folds."""
    n_folds = sum(name.startswith("split") for name in found)
    return within_noise(**{"prefer": "size", "test_ratio": 1 / (n_folds - 1), **options})(found)


def spread(p, n_folds=5, ratio=1 / 4):
    """Scores on folds of a simple and of the best candidate, whose corrected one-sided p-value is ``p``."""
    noise = np.linspace(-1, 1, n_folds)
    noise /= noise.std(ddof=1)
    scale = np.sqrt(1 / n_folds + ratio)
    lead = stats.t.isf(p, n_folds - 1) * scale
    behind = 0.8 - 0.01 * (noise + lead)
    return behind, np.full(n_folds, 0.8)


@pytest.mark.parametrize(("p", "chosen"), [(0.03, 1), (0.049, 1), (0.051, 0), (0.3, 0)])
def test_level_of_the_corrected_test(p, chosen):
    assert by_hand(results(*spread(p))) == chosen


@pytest.mark.option("within_noise.level", "within_noise.test_ratio")
def test_other_levels_and_ratios():
    found = results(*spread(0.1))
    assert by_hand(found, level=0.2) == 1
    assert by_hand(found, test_ratio=1e-9) == 1, "as if training parts did not overlap"


@pytest.mark.parametrize("n_candidates", [3, 20])
def test_the_best_of_many_equal_candidates_does_not_reject_more(n_candidates):
    """If all are equally good, the simplest is rejected in at most 5% of the searches."""
    random = np.random.default_rng(0)
    chosen = []
    for _ in range(200):
        folds = random.normal(0.8, 0.01, (n_candidates, 5))
        sizes = [{"size": number} for number in range(n_candidates)]
        chosen.append(by_hand(results(*folds, params=sizes)))
    assert np.mean(np.array(chosen) > 0) < 0.05


def test_a_candidate_that_is_clearly_worse_than_the_best_of_many_is_rejected():
    noise = np.random.default_rng(0).normal(0.8, 0.01, (20, 5))
    noise[:5] -= 0.2
    assert by_hand(results(*noise)) == 5
    constant = np.full((4, 5), 0.7)
    constant[1:] = 0.75
    assert by_hand(results(*constant)) == 1


@pytest.mark.option("within_noise.prefer")
def test_directions_functions_and_ties_of_preference():
    params = [{"depth": 3, "rate": 0.1}, {"depth": 2, "rate": 0.1}, {"depth": 2, "rate": 0.3}]
    found = results([0.8, 0.7, 0.9], [0.81, 0.7, 0.89], [0.8, 0.7, 0.89], params=params)
    assert by_hand(found, prefer="depth") == 1, "of two, the better"
    assert by_hand(found, prefer="-depth") == 0
    assert by_hand(found, prefer=lambda p: (p["depth"], -p["rate"])) == 2
    found = results([0.9, 0.7, 0.9], [0.8, 0.7, 0.89], [0.81, 0.7, 0.89], params=params)
    assert by_hand(found, prefer="depth") == 2, "of two, the better, though it comes last"


@pytest.mark.option("within_noise.metric")
def test_the_metric_is_the_one_whose_folds_are_compared():
    near = [0.5, 0.6, 0.7]
    far = [0.1, 0.2, 0.1]
    found = results(far, near, metric="map") | results([0.6, 0.5, 0.7], near, metric="mrr")
    assert by_hand(found, metric="map") == 1, "the smaller one is worse in every fold"
    assert by_hand(found, metric="mrr") == 0, "the smaller one is as good on average"


def test_failed_candidates_are_not_chosen():
    assert by_hand(results([np.nan, 0.8], [0.7, 0.8], [0.71, 0.8])) == 1
    with pytest.raises(
        ValueError, match="must have a candidate with a score in every fold; got none for 'score'"
    ):
        by_hand(results([np.nan, 0.8], [0.7, np.nan]))


def test_only_candidates_on_the_last_rung_of_halving_are_chosen():
    found = results([0.9, 0.91], [0.7, 0.71], [0.7, 0.72], [0.9, 0.9])
    assert by_hand(found | {"iter": np.array([0, 0, 1, 0])}) == 2
    assert by_hand(found | {"iter": np.array([0, 1, 1, 0])}) == 1
    assert by_hand(found) == 0
    found = results([0.9, 0.91], [0.7, 0.71], [np.nan, 0.72])
    message = "must have a candidate with a score in every fold on its last rung; got none"
    with pytest.raises(ValueError, match=message):
        by_hand(found | {"iter": np.array([1, 0, 2])})


def test_equal_candidates_and_constant_distances():
    assert by_hand(results([0.5, 0.5], [0.75, 0.75])) == 1
    assert by_hand(results([0.75, 0.75], [0.75, 0.75])) == 0


ONE = [{"estimator__alpha": 1, "b": 2}]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: within_noise(prefer=3, test_ratio=1),
            "prefer must be the name of a parameter or a function of them",
        ),
        (lambda: by_hand(results([1, 2]), level=1), r"level must be a number in \(0, 1\); got 1"),
        (
            lambda: by_hand(results([1, 2]), test_ratio=0),
            r"test_ratio must be a number in \(0, inf\); got 0",
        ),
        (
            lambda: by_hand(results([1, 2]), metric="map"),
            "got 'map'. The name of a single scorer is",
        ),
        (
            lambda: by_hand(results([1, 2], metric="mrr"), metric="map"),
            "got 'map'. The name of a single scorer is",
        ),
        (
            lambda: by_hand(results([1, 2], params=ONE), prefer="-alpha"),
            "got 'alpha' for one with {'estimator__alpha'",
        ),
        (
            lambda: by_hand(results([1, 2]), prefer="sise"),
            "got 'sise' for one with .* Did you mean 'size'",
        ),
        (
            lambda: by_hand(results([1, 2], params=[{"size": None}])),
            "got 'size' for one with {'size': None}",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_scores_that_differ_by_rounding_are_equal():
    scores = [0.3, 0.1 + 0.2]
    results = {
        "params": [{"leaves": 7}, {"leaves": 31}],
        **{f"split{fold}_test_score": scores for fold in range(3)},
    }
    assert within_noise(prefer="leaves", test_ratio=1 / 2)(results) == 0


@pytest.mark.parametrize(("p", "level", "index"), [(0.052, 0.05, 0), (0.048, 0.05, 1)])
@pytest.mark.option("within_noise.test_ratio")
def test_a_search_takes_the_rule(p, level, index):
    values = iter(np.concatenate(spread(p, 5, 1 / 4)))
    rule = within_noise(prefer="alpha", level=level, test_ratio=1 / 4)
    refit = pickle.loads(pickle.dumps(rule))
    scoring = {"score": lambda *_: float(next(values)), "other": lambda model, X, y: model.alpha}
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=5, scoring=scoring, refit=refit)
    search.fit(np.arange(120.0)[:, None], np.tile([0, 1], 60))
    assert search.best_index_ == index
    with pytest.raises(TypeError, match="test_ratio"):
        within_noise(prefer="alpha")


@pytest.mark.parametrize("prefer", ["size", "-size", lambda params: float(params["size"])])
def test_candidates_that_have_no_order_are_refused(prefer):
    # Nothing is less than NaN, so that the first candidate would be the simplest.
    found = results([0.8, 0.8], [0.8, 0.8], params=[{"size": float("nan")}, {"size": 1}])
    with pytest.raises(ValueError, match="prefer must order the candidates; got NaN for"):
        by_hand(found, prefer=prefer)

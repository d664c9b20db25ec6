"""Out of fold, standard errors count that fits vary, which the means of all rankings in the folds show together."""

import itertools
import math
import statistics

import numpy as np
import pytest
from scipy import stats
from skrank_metrics.decisions.families import Family
from skrank_metrics.decisions.sign_flips import SignFlips

N_QUERIES = 100
N_FOLDS = 5
FOLD = np.arange(N_QUERIES) % N_FOLDS


def flips(values, folds=FOLD, weights=None):
    n = len(values)
    weights = np.ones(n) if weights is None else weights
    return SignFlips(values, weights, np.arange(n, dtype=np.uint64), seed=0, folds=folds)


def squared_errors(values, i, j):
    """Squared standard errors of the mean difference, over queries and over equal folds, in plain Python."""
    differences = [row[i] - row[j] for row in values]
    of_folds = [statistics.fmean(differences[fold::N_FOLDS]) for fold in range(N_FOLDS)]
    return [statistics.variance(part) / len(part) for part in (differences, of_folds)]


def expected_error(values, i, j):
    pairs = list(itertools.combinations(range(len(values[0])), 2))
    over_queries, over_folds = squared_errors(values, i, j)
    all_queries, all_folds = (
        statistics.fmean(squares)
        for squares in zip(*(squared_errors(values, *pair) for pair in pairs), strict=True)
    )
    of_fits = (over_folds + all_folds) / 2 - (over_queries + all_queries) / 2
    k = len(values[0])
    shared = (k - 2) / (k - 1) / 4
    return math.sqrt((1 + 5 * shared) * (over_queries + max(0.0, of_fits)))


def varying_fits(random, n_rankings, size, shared=0.0):
    """Values of rankings that are equal in expectation; ``size`` is relative to the error of a fold over queries."""
    noise = random.normal(0, 0.1, (N_QUERIES, n_rankings))
    scale = size * 0.1 / math.sqrt(N_QUERIES / N_FOLDS)
    by_fold = random.normal(0, scale * math.sqrt(1 - shared), (N_FOLDS, n_rankings))
    everywhere = random.normal(0, scale * math.sqrt(shared), n_rankings)
    return noise + by_fold[FOLD] + everywhere


@pytest.mark.parametrize("n_rankings", [2, 3, 6])
@pytest.mark.parametrize("size", [0, 3])
def test_the_formula(n_rankings, size):
    values = varying_fits(np.random.default_rng(n_rankings), n_rankings, size)
    tests = flips(values)
    for i, j in itertools.combinations(range(n_rankings), 2):
        of_folds = tests.statistics.of_folds.error[i, j]
        found = max(of_folds, tests.statistics.error[i, j])
        expected = expected_error(values.tolist(), i, j)
        assert tests.scale * found == pytest.approx(expected)
    assert tests.statistics.of_folds.fits_vary or not size


def test_degrees_of_freedom_of_two_rankings_are_those_of_the_folds():
    by_fold = np.array([0.3, 0.0, 0.1, 0.2, 0.05])
    values = np.stack([by_fold[FOLD], np.zeros(N_QUERIES)], axis=1)
    values[:, 0] += np.random.default_rng(0).normal(0, 1e-4, N_QUERIES)
    found = flips(values)
    of_folds = found.statistics.of_folds
    n_degrees = of_folds.n_degrees[0, 1]
    error = found.scale * of_folds.error[0, 1]
    assert n_degrees == pytest.approx(4, abs=0.2)
    p, _, interval, _ = Family([found], 0.05).pair(0, 0, 1)
    mean = values[:, 0].mean()
    student = stats.t(n_degrees)
    assert p == pytest.approx(2 * student.sf(mean / error), abs=0.01)
    half = student.ppf(0.975) * error
    assert interval == pytest.approx((mean - half, mean + half), abs=0.002)


def test_more_rankings_have_more_degrees_of_freedom():
    random = np.random.default_rng(0)
    degrees = [
        flips(varying_fits(random, n, 20)).statistics.of_folds.n_degrees[0, 1]
        for n in (2, 3, 6, 30)
    ]
    assert degrees == sorted(degrees)
    assert degrees[0] < 6 < 9 < degrees[-1]


def test_weights_count_in_queries_and_in_folds():
    random = np.random.default_rng(1)
    values = varying_fits(random, 3, 2)
    # In the means of folds, a query of weight 2 counts as two queries of weight 1.
    doubled = flips(np.repeat(values, 2, axis=0), np.repeat(FOLD, 2))
    weighted = flips(values, weights=np.full(N_QUERIES, 2.0))
    for of_twice, of_once in zip(doubled.by_fold, weighted.by_fold, strict=True):
        np.testing.assert_allclose(of_twice, 2 * of_once)
    # Without a single fold, there is nothing to compare.
    assert flips(values, np.zeros(N_QUERIES, dtype=int)).by_fold is None


def test_equal_rankings_stay_equal():
    values = varying_fits(np.random.default_rng(0), 3, 2)
    values[:, 1] = values[:, 0]
    found = flips(values)
    assert found.statistics.of_folds.error[0, 1] == 0
    assert Family([found], 0.05).p_values[0, 0, 1] == 1


@pytest.mark.slow
@pytest.mark.parametrize(("size", "shared"), [(0, 0), (1, 0.2), (1.4, 0.2), (3, 0.0)])
def test_claims_about_equal_models_are_rare(size, shared):
    random = np.random.default_rng(0)
    claims = 0
    excluded = 0
    for _ in range(100):
        tests = Family([flips(varying_fits(random, 6, size, shared))], 0.05)
        one, other = tests.indices
        claims += bool((tests.p_adjusted[0][one, other] <= 0.05).any())
        excluded += not tests.best_set().inside[0]
    # 5 of 100 are expected; the larger of the two standard errors of each pair makes up to 34 claims, and excludes 10.
    assert claims <= 8
    assert excluded <= 6

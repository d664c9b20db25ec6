import itertools
import os

import numpy as np
import pytest
from scipy import stats

from skrank_metrics.reports.statistics import TESTS, adjust, p_value, sign_flip_p

# 4,000 data sets as in ``python -m benchmarks.comparison`` take half a minute.
N_DATA_SETS = int(os.environ.get("SKRANK_SIMULATED_DATA_SETS", "1000"))


def scipy_p(differences, n_resamples, seed=0):
    return stats.permutation_test(
        (differences,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        batch=1000,
        random_state=np.random.default_rng(seed),
    ).pvalue


@pytest.mark.parametrize("seed", range(5))
def test_few_queries_are_enumerated_as_scipy_does(seed):
    random = np.random.default_rng(seed)
    differences = random.integers(-3, 5, 9) / 3
    expected = np.mean(
        [
            abs(np.dot(signs, differences)) >= abs(differences.sum()) - 1e-9
            for signs in itertools.product((-1, 1), repeat=9)
        ]
    )
    assert p_value(differences, "permutation", 9999, random) == pytest.approx(expected, abs=1e-12)
    assert scipy_p(differences, 9999) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_queries", [50, 300])
@pytest.mark.parametrize("effect", [0.0, 1.5, 2.5])
def test_equals_scipy_within_monte_carlo_error(n_queries, effect):
    random = np.random.default_rng(n_queries)
    differences = random.exponential(size=n_queries) - 1
    differences += effect / np.sqrt(n_queries)
    ours, theirs = sign_flip_p(differences, 5_000, random), scipy_p(differences, 5_000)
    error = np.sqrt(2 * max(theirs, 1e-4) / 5_000)
    assert abs(ours - theirs) < 4 * error


def test_is_never_0_and_repeats_with_its_seed():
    differences = np.ones(100)
    assert sign_flip_p(differences, 999, np.random.default_rng(0)) == 1 / 1000
    noisy = np.random.default_rng(0).normal(0.1, 1, 200)
    first, second = (sign_flip_p(noisy, 999, np.random.default_rng(3)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("test", TESTS)
def test_without_differences_is_1(test):
    assert p_value(np.zeros(30), test, 99, np.random.default_rng(0)) == 1.0
    assert p_value(np.ones(1), test, 99, np.random.default_rng(0)) == 1.0


@pytest.mark.parametrize("test", TESTS)
def test_all_equal_differences_are_no_chance(test):
    assert p_value(np.full(30, 0.25), test, 999, np.random.default_rng(0)) <= 1 / 1000


def test_t_and_wilcoxon_are_those_of_scipy():
    random = np.random.default_rng(0)
    a, b = random.random(40), random.random(40)
    assert p_value(a - b, "t", 1, None) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert p_value(a - b, "wilcoxon", 1, None) == pytest.approx(stats.wilcoxon(a, b).pvalue, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "n_queries"),
    [("permutation", 30), ("permutation", 100), ("t", 30), ("t", 100), ("wilcoxon", 100)],  # SciPy's is slow below 50
)
def test_rejects_5_of_100_data_sets_without_a_difference(test, n_queries):
    random = np.random.default_rng(5)
    draws = random.geometric(0.5, (2, N_DATA_SETS, n_queries))
    rejected = [p_value(d, test, 499, random) <= 0.05 for d in 1 / draws[0] - 1 / draws[1]]
    assert 0.035 <= np.mean(rejected) <= 0.065


def test_holm_by_hand():
    # 3 * 0.01, then 2 * 0.02, then 1 * 0.03, which may not be below the one before.
    np.testing.assert_allclose(adjust(np.array([0.03, 0.01, 0.02]), "holm"), [0.04, 0.03, 0.04])
    np.testing.assert_allclose(adjust(np.array([0.5, 0.6]), "holm"), [1.0, 1.0])


def test_benjamini_hochberg_by_hand():
    # 3/1 * 0.01, 3/2 * 0.02, 3/3 * 0.5.
    np.testing.assert_allclose(adjust(np.array([0.5, 0.01, 0.02]), "bh"), [0.5, 0.03, 0.03])


def test_no_correction_is_none():
    np.testing.assert_array_equal(adjust(np.array([0.5, 0.01]), None), [0.5, 0.01])

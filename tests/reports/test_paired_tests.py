import itertools
import os

import numpy as np
import pytest
from scipy import stats

from skrank_metrics.reports.statistics import TESTS, adjust, p_value, sign_flip_p, sign_flip_ps, without_rounding

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


def test_all_equal_differences_are_no_chance():
    differences = np.full(30, 0.25)
    assert p_value(differences, "permutation", 999, np.random.default_rng(0)) == 1 / 1000
    assert p_value(differences, "wilcoxon", 999, None) == 2 / 2**30


@pytest.mark.parametrize("n_queries", [2, 30])
def test_equal_differences_have_no_spread_for_a_t_test(n_queries):
    assert np.isnan(p_value(np.full(n_queries, 0.25), "t", 999, None))


def precision_at_10(hits):
    """As a sum of tenths, which rounds."""
    return np.array([sum([0.1] * n) for n in hits])


def test_differences_that_tie_up_to_rounding_get_the_same_rank():
    # Differences of -1, 1, 2, 3 and 4 tenths. The first two share the rank 1.5, so 3 of 2^5 patterns of signs have
    # negative ranks that sum to at most 1.5 (none, the first, the second), and as many positive ones: p = 6/32.
    one, other = precision_at_10([0, 3, 5, 6, 9]), precision_at_10([1, 2, 3, 3, 5])
    assert abs(one - other)[0] < abs(one - other)[1], "rounding gives them different ranks"
    assert p_value(one - other, "wilcoxon", 1, None) == 0.125
    differences = without_rounding(one - other, np.maximum(one, other))
    assert p_value(differences, "wilcoxon", 1, None) == 0.1875


@pytest.mark.parametrize("seed", range(60))
def test_wilcoxon_is_that_of_exact_fractions(seed):
    hits = np.random.default_rng(seed).integers(0, 11, (2, 8))
    one, other = precision_at_10(hits[0]), precision_at_10(hits[1])
    differences = without_rounding(one - other, np.maximum(one, other))
    whole = hits[0] - hits[1]
    assert (differences == 0).tolist() == (whole == 0).tolist()
    changed = whole[whole != 0]
    ranks = stats.rankdata(np.abs(changed))
    sums = np.array([np.dot(signs, ranks) for signs in itertools.product((-1, 1), repeat=len(changed))])
    expected = np.mean(np.abs(sums) >= abs(np.sign(changed) @ ranks))
    assert p_value(differences, "wilcoxon", 1, None) == pytest.approx(expected)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_rounding_is_relative_to_the_values(size):
    values = size * np.array([[0.3, 0.3 + 1e-15, 0.5, 0.7], [0.1 + 0.2, 0.2, 0.4, 0.6 + 1e-6]])
    zero, *others = without_rounding(values[0] - values[1], np.abs(values).max(axis=0))
    assert zero == 0
    assert others[0] == others[1] == pytest.approx(0.1 * size)
    assert others[2] == pytest.approx((0.1 - 1e-6) * size, rel=1e-9)
    assert others[2] != others[0]


def test_t_and_wilcoxon_are_those_of_scipy():
    random = np.random.default_rng(0)
    a, b = random.random(40), random.random(40)
    assert p_value(a - b, "t", 1, None) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert p_value(a - b, "wilcoxon", 1, None) == pytest.approx(stats.wilcoxon(a, b).pvalue, rel=1e-9)


@pytest.mark.parametrize("n_queries", [14, 30, 50, 51, 80])
def test_wilcoxon_is_that_of_scipy_with_the_method_named(n_queries):
    differences = np.random.default_rng(n_queries).normal(0.2, 1, n_queries)
    method = "exact" if n_queries <= 50 else "approx"
    expected = stats.wilcoxon(differences, method=method).pvalue
    assert p_value(differences, "wilcoxon", 1, None) == pytest.approx(expected, rel=1e-12)
    tied = differences.round(0)  # about a third are 0
    tied = np.concatenate([tied, [1.0] * (n_queries + 51 - np.count_nonzero(tied))])
    expected = stats.wilcoxon(tied, method="approx").pvalue
    assert p_value(tied, "wilcoxon", 1, None) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_changed", [2, 13, 14, 40, 50])
def test_wilcoxon_with_ties_is_exact_up_to_50_differences(n_changed):
    # Mean ranks: equal differences, and one against all others. Sums of ranks that are as far from their mean:
    # none or one of n equal ones on one side.
    differences = np.append(np.zeros(3), np.append(-1, np.ones(n_changed - 1)))
    expected = min(1, 2 * (1 + n_changed) / 2**n_changed)
    assert p_value(differences, "wilcoxon", 1, None) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "n_queries"),
    [("permutation", 30), ("permutation", 100), ("t", 30), ("t", 100), ("wilcoxon", 30), ("wilcoxon", 100)],
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


@pytest.mark.parametrize("correction", ["holm", "bh", None])
def test_pairs_that_are_not_tested_do_not_count(correction):
    with_others = adjust(np.array([np.nan, 0.5, 0.01, np.nan]), correction)
    np.testing.assert_array_equal(with_others[1:3], adjust(np.array([0.5, 0.01]), correction))
    assert np.isnan(with_others[[0, 3]]).all()


def test_no_correction_is_none():
    np.testing.assert_array_equal(adjust(np.array([0.5, 0.01]), None), [0.5, 0.01])


def test_signs_shared_by_pairs_are_those_of_each_pair_alone():
    random = np.random.default_rng(0)
    values = random.normal(size=(4, 45)) + 0.15 * np.arange(4)[:, None]
    pairs = np.array([(0, 1), (0, 2), (0, 3), (2, 3)])
    # More than are drawn at a time.
    found = sign_flip_ps(values, pairs, 25_000, np.random.default_rng(1))
    alone = [sign_flip_p(values[one] - values[other], 25_000, random) for one, other in pairs]
    assert found == pytest.approx(alone, abs=0.02)
    expected = [stats.ttest_rel(values[one], values[other]).pvalue for one, other in pairs]
    assert found == pytest.approx(expected, abs=0.03)
    again = sign_flip_ps(1e300 * values, pairs, 25_000, np.random.default_rng(1))
    np.testing.assert_array_equal(again, found)


def test_shared_signs_count_ties_whatever_rounding_makes_of_them():
    # The differences of the first two are 1/2 or 0; those of the third are large, and have sums with other roundings.
    first = np.array([1.0, 1 / 2] * 20)
    values = np.stack([first, first - np.tile([1 / 2, 0, 0, 0], 10), 1e3 * np.random.default_rng(0).random(40)])
    found = sign_flip_ps(values, np.array([(0, 1)]), 50_000, np.random.default_rng(0))
    # Ten equal differences: 2 of 2^10 signs are as extreme as the observed ones.
    assert found == pytest.approx([2 / 2**10], abs=0.0006)


def test_shared_p_values_are_never_zero():
    values = np.stack([np.ones(30), np.zeros(30), np.full(30, 0.5)])
    pairs = np.array([(0, 1), (0, 2)])
    np.testing.assert_array_equal(sign_flip_ps(values, pairs, 999, np.random.default_rng(0)), 1 / 1000)

"""Paired tests against SciPy and formulas by hand, at sizes that test_decisions.py does not reach, and their errors."""

import numpy as np
import pytest
from scipy import stats
from skrank_metrics.decisions.families import Family
from skrank_metrics.decisions.sign_flips import SignFlips, hash_units, without_rounding


def flips(values, weights=None, units=None, seed=0, span=1.0, **options):
    values = np.asarray(values, dtype=float)
    units = np.arange(len(values)) if units is None else np.asarray(units)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    return SignFlips(values, weights, units.astype(np.uint64), seed, span=span, **options)


def paired(differences, level=0.05, **options):
    """P-value and interval of the first of two rankings with these differences."""
    values = np.stack([differences, np.zeros(len(differences))], axis=1)
    family = Family([flips(values, **options)], level)
    p, adjusted, interval, together = family.pair(0, 0, 1)
    np.testing.assert_array_equal(
        (adjusted, *together), (p, *interval), err_msg="a single pair needs no correction"
    )
    return p, interval


def test_units_beyond_the_most_are_merged_but_counted_one_by_one():
    n = 5_000
    groups = np.repeat(np.arange(n), 2)
    values = np.random.default_rng(0).random((2 * n, 2))
    merged = flips(values, units=hash_units(groups))
    assert merged.n_units == n
    assert merged.n_effective == pytest.approx(n)
    assert len(merged.sums) <= 4_096
    differences = merged.totals[0] - merged.totals[1]
    expected = (values[:, 0] - values[:, 1]).sum()
    assert merged.scale * differences == pytest.approx(expected)


def test_many_queries_are_near_scipys_permutation_test():
    d = np.random.default_rng(0).normal(0.05, 0.3, 200)
    expected = stats.permutation_test(
        (d,),
        np.sum,
        permutation_type="samples",
        n_resamples=9_999,
        random_state=np.random.default_rng(1),
    ).pvalue
    error = np.sqrt(2 * expected / 9_999)
    assert paired(d)[0] == pytest.approx(expected, abs=4 * error)


def test_few_changes_are_bounded_by_their_number():
    # The test cannot reject at .05 with five changes; Clopper and Pearson's limits for 3 wins and 2 losses of 50.
    changes = [0.5, 0.25, 0.5, -0.25, -0.5]
    d = np.r_[changes, np.zeros(45)]
    most_losses = stats.beta.ppf(0.975, 3, 48)
    most_wins = stats.beta.ppf(0.975, 4, 47)
    found = paired(d, span=2.0)[1]
    assert found == pytest.approx((-2 * most_losses, 2 * most_wins))
    assert paired(d)[0] >= 2 * 2**-5
    assert np.isnan(paired(d, span=np.inf)[1]).all()
    equal = 1 - 0.025 ** (1 / 50)
    p, interval = paired(np.zeros(50))
    assert p == 1.0
    assert interval == pytest.approx((-equal, equal))
    p, interval = paired(np.array([0.5]))
    assert p == 1.0
    assert interval == pytest.approx((-0.975, 1.0))


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_t_is_scipys(confidence):
    d = np.random.default_rng(0).normal(0.05, 0.3, 25)
    expected = stats.ttest_1samp(d, 0)
    p, interval = paired(d, level=round(1 - confidence, 12), test="t")
    assert p == pytest.approx(expected.pvalue)
    assert interval == pytest.approx(tuple(expected.confidence_interval(confidence)))
    # Without a spread, t is infinite, and the signs decide: all of 5, and of 1,000, are wins.
    p, (low, high) = paired(np.full(5, 0.5), test="t")
    assert p == pytest.approx(2 / 2**5)
    assert low < 0 < high
    p, (low, high) = paired(np.full(1_000, 0.5), test="t")
    assert p < 1e-300
    assert 0.49 < low < 0.5 < high < 0.51


def test_folds_that_differ_more_than_queries_decide():
    fold = np.arange(200) % 4
    random = np.random.default_rng(0)
    by_fold = np.array([0.1, 0.0, 0.05, 0.07])
    noise = random.normal(0, 0.01, 200)
    noise -= np.bincount(fold, noise)[fold] / 50
    d = by_fold[fold] + noise
    expected = stats.ttest_1samp(by_fold, 0)
    p, interval = paired(d, folds=fold)
    assert interval == pytest.approx(tuple(expected.confidence_interval()), abs=0.003)
    assert p > 0.05 > paired(d)[0]
    # If queries differ more, folds change nothing.
    d = random.normal(0.02, 0.2, 200)
    d -= np.bincount(fold, random.normal(0, 1e-9, 200))[fold]
    means = np.bincount(fold, d) / 50
    even = d - means[fold] + d.mean()
    assert paired(even, folds=fold) == paired(even)


def test_size_does_not_matter():
    d = np.random.default_rng(0).normal(0.05, 0.3, 30)
    p, interval = paired(d, span=np.inf)
    for scale in (1e-300, 1e300):
        weights = np.full(30, scale)
        scaled_p, scaled = paired(scale * d, weights=weights, span=np.inf)
        assert scaled_p == p
        expected = scale * np.array(interval)
        np.testing.assert_allclose(scaled, expected, rtol=1e-9)


def test_differences_by_rounding_are_none():
    rows = [
        [0.1 + 0.2, 0.3, 0.5],
        [1.0, 1.0 + 1e-15, 0.0],
        [-0.3, -0.1 - 0.2, 0.0],
    ]
    values = np.array(rows)
    found = without_rounding(values)
    assert (found[:, 0] == found[:, 1]).all()
    np.testing.assert_allclose(found, values, rtol=1e-14)
    assert not flips(values).statistics.counts[0, 1].any()


def noise(random, kind, shape):
    if kind == "normal":
        return random.normal(0, 0.1, shape)
    if kind == "skewed":
        return random.exponential(0.1, shape) - 0.1
    is_changed = random.random(shape) < 0.15
    changes = random.choice([-0.25, 0.25], shape)
    return np.where(is_changed, changes, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "sparse", "skewed"])
def test_errors_power_and_the_truly_best(kind):
    random = np.random.default_rng(0)
    n_samples = 120
    shape = (100, 6)
    truth = np.array([0.04, 0, 0, 0, 0, 0])
    errors = []
    held = []
    kept = []
    power = []
    power_of_holm = []
    for seed in range(n_samples):
        of_queries = random.random((100, 1))
        values = of_queries + noise(random, kind, shape) + truth
        family = Family([flips(values, seed=seed)], 0.05)
        rejected = family.p_adjusted[0] <= 0.05
        best = family.best_set()
        errors.append(rejected[1:, 1:].any())
        kept.append(best.inside[0])
        held.append((0.04 - truth <= best.regret).all())
        holm = Family(family.parts, 0.05, "holm")
        power.append(rejected[0, 1:].mean())
        power_of_holm.append((holm.p_adjusted[0] <= 0.05)[0, 1:].mean())
    standard_error = np.sqrt(0.05 * 0.95 / n_samples)
    assert np.mean(errors) <= 0.05 + 3 * standard_error
    assert np.mean(kept) >= 0.95
    assert np.mean(held) >= 0.95
    assert np.mean(power) >= np.mean(power_of_holm)

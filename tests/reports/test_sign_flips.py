"""Paired tests against enumeration, SciPy and formulas by hand; p-values and intervals against each other.

Through arrays, as thousands of comparisons of reports would take minutes.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

from skrank_metrics.reports.corrections import adjust
from skrank_metrics.reports.families import Family
from skrank_metrics.reports.sign_flips import SignFlips, without_rounding


def flips(values, weights=None, units=None, seed=0, span=1.0, **options):
    values = np.asarray(values, dtype=float)
    units = np.arange(len(values)) if units is None else np.asarray(units)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    return SignFlips(values, weights, units.astype(np.uint64), seed, span=span, **options)


def paired(differences, level=0.05, **options):
    """P-value and interval of the first of two rankings with these differences."""
    values = np.stack([differences, np.zeros(len(differences))], axis=1)
    p, adjusted, interval, together = Family([flips(values, **options)], level).tested(0, 0, 1)
    np.testing.assert_array_equal(
        (adjusted, *together), (p, *interval), err_msg="a single pair needs no correction"
    )
    return p, interval


def statistic(columns, totals=None):
    """The statistic of the columns, or its null distribution for sums with random signs."""
    squares = (columns**2).sum(axis=0)
    if totals is None:
        return np.abs(columns.sum(axis=0)) / np.sqrt(squares + np.abs(columns).max(axis=0) ** 2 / 2)
    return np.abs(totals) / np.sqrt(squares)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_all_families_by_enumeration(weighted, grouped):
    random = np.random.default_rng(0)
    values = random.integers(0, 5, (10, 4)) / 4 + [0, 0.1, 0.3, 0.6]
    weights = random.integers(1, 4, 10) if weighted else np.ones(10)
    units = np.arange(10) // 2 if grouped else np.arange(10)
    pairs = list(itertools.combinations(range(4), 2))
    d = weights[:, None] * np.stack([values[:, i] - values[:, j] for i, j in pairs], axis=1)
    d = np.stack([d[units == unit].sum(axis=0) for unit in np.unique(units)])
    signs = np.array(list(itertools.product((1, -1), repeat=len(d))))
    z, null = statistic(d) - 1e-9, statistic(d, signs @ d)
    family = Family([flips(values, weights, units)], 0.05)
    n_changed = (np.abs(d) > 1e-12).sum(axis=0)
    alone = np.maximum((null >= z).mean(axis=0), 2.0 ** (1 - n_changed))
    assert [family.parts[0].alone(0.05)[0][pair] for pair in pairs] == pytest.approx(alone)
    # Step-down: each pair against the maximum over those with a statistic that is not larger.
    order, expected, largest = np.argsort(-z), np.empty(6), 0.0
    for place, own in enumerate(order):
        largest = max(largest, (null[:, order[place:]].max(axis=1) >= z[own]).mean())
        expected[own] = max(largest, alone[own])
    assert [family.p_adjusted[0][pair] for pair in pairs] == pytest.approx(expected)


def test_many_queries_are_near_scipys_permutation_test():
    d = np.random.default_rng(0).normal(0.05, 0.3, 200)
    expected = stats.permutation_test(
        (d,),
        np.sum,
        permutation_type="samples",
        n_resamples=9_999,
        random_state=np.random.default_rng(1),
    ).pvalue
    assert paired(d)[0] == pytest.approx(expected, abs=4 * np.sqrt(2 * expected / 9_999))


def test_the_interval_inverts_the_test():
    d, w = (
        np.random.default_rng(0).normal(0.05, 0.3, 40),
        np.random.default_rng(1).exponential(1, 40),
    )
    tests = flips(np.stack([d, np.zeros(40)], axis=1), w, span=np.inf)
    c, x = tests.alone(0.05)[1][0, 1], w * d
    for end in paired(d, weights=w, span=np.inf)[1]:
        distance = (x.sum() - end * w.sum()) ** 2
        spread = (
            (x**2).sum()
            - 2 * end * (w * x).sum()
            + end**2 * (w**2).sum()
            + np.abs(x).max() ** 2 / 2
        )
        assert distance == pytest.approx(c**2 * spread)


def test_few_changes_are_bounded_by_their_number():
    # The test cannot reject at .05 with five changes; Clopper and Pearson's limits for 3 wins and 2 losses of 50.
    d = np.r_[[0.5, 0.25, 0.5, -0.25, -0.5], np.zeros(45)]
    expected = -2 * stats.beta.ppf(0.975, 3, 48), 2 * stats.beta.ppf(0.975, 4, 47)
    assert paired(d, span=2.0)[1] == pytest.approx(expected)
    assert paired(d)[0] >= 2 * 2**-5
    assert np.isnan(paired(d, span=np.inf)[1]).all()
    equal = 1 - 0.025 ** (1 / 50)
    assert paired(np.zeros(50)) == (1.0, pytest.approx((-equal, equal)))
    assert paired(np.array([0.5])) == (1.0, pytest.approx((-0.975, 1.0)))


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


def test_t_of_groups_and_weights_is_that_of_a_ratio():
    random = np.random.default_rng(0)
    d, w, groups = random.normal(0.1, 0.3, 40), random.exponential(1, 40), np.arange(40) // 4
    x, mass = np.bincount(groups, w * d), np.bincount(groups, w)
    mean, n = x.sum() / mass.sum(), mass.sum() ** 2 / (mass**2).sum()
    error = np.sqrt(((x - mean * mass) ** 2).sum() * n / (n - 1)) / mass.sum()
    p, interval = paired(d, weights=w, units=groups, test="t")
    assert p == pytest.approx(2 * stats.t.sf(abs(mean) / error, n - 1))
    assert interval == pytest.approx(tuple(mean + stats.t.ppf([0.025, 0.975], n - 1) * error))


def test_folds_that_differ_more_than_queries_decide():
    fold, random = np.arange(200) % 4, np.random.default_rng(0)
    by_fold, noise = np.array([0.1, 0.0, 0.05, 0.07]), random.normal(0, 0.01, 200)
    noise -= np.bincount(fold, noise)[fold] / 50
    d = by_fold[fold] + noise
    expected = stats.ttest_1samp(by_fold, 0)
    p, interval = paired(d, folds=fold)
    assert interval == pytest.approx(tuple(expected.confidence_interval()), abs=0.003)
    assert p > 0.05 > paired(d)[0]
    # If queries differ more, folds change nothing.
    d = random.normal(0.02, 0.2, 200) - np.bincount(fold, random.normal(0, 1e-9, 200))[fold]
    even = d - (np.bincount(fold, d) / 50)[fold] + d.mean()
    assert paired(even, folds=fold) == paired(even)


def test_size_does_not_matter():
    d = np.random.default_rng(0).normal(0.05, 0.3, 30)
    p, interval = paired(d, span=np.inf)
    for scale in (1e-300, 1e300):
        found = paired(scale * d, weights=np.full(30, scale), span=np.inf)
        assert found == (p, pytest.approx((scale * interval[0], scale * interval[1]), rel=1e-9))


def test_differences_by_rounding_are_none():
    values = np.array([[0.1 + 0.2, 0.3, 0.5], [1.0, 1.0 + 1e-15, 0.0], [-0.3, -0.1 - 0.2, 0.0]])
    found = without_rounding(values)
    assert (found[:, 0] == found[:, 1]).all()
    np.testing.assert_allclose(found, values, rtol=1e-14)
    row = flips(values).row(0)
    assert not row.counts[1].any()


def test_corrections():
    p = np.array([0.01, 0.04, 0.03, 0.2])
    assert adjust(p, "holm") == pytest.approx([0.04, 0.09, 0.09, 0.2])
    assert adjust(p, "bh") == pytest.approx(stats.false_discovery_control(p))


def random_values(random, n, m):
    """Values of queries with ties, zeros, bounds, outliers or without a spread."""
    kind = random.integers(6)
    shift = np.r_[0, random.choice([0, 0.05, 0.5], m - 1)]
    if kind == 0:
        return 10 ** random.uniform(-6, 3) * (random.normal(size=(n, m)) + shift), np.inf
    if kind == 1:
        return 1 / random.geometric(0.4, (n, m)), 1.0
    if kind == 2:
        return (random.random((n, m)) < 0.5 + shift / 4).astype(float), 1.0
    if kind == 3:
        return np.where(
            random.random((n, m)) < 0.1, random.choice([0.2, 0.5, 1.0], (n, m)), 0.5
        ), 1.0
    if kind == 4:
        return np.round(
            random.random((n, 1)) + random.normal(0, 0.05, (n, m)) + 0.3 * shift, 1
        ), 2.0
    return np.repeat(random.random((n, 1)), m, axis=1) + random.choice([0, 1e-3, 1e-17], m), 2.0


@pytest.mark.parametrize("n_comparisons", [1_500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_intervals_and_p_values_agree(n_comparisons):
    random, n_compared = np.random.default_rng(0), 0
    while n_compared < n_comparisons:
        n, m = (
            int(np.exp(random.uniform(np.log(2), np.log(500)))),
            int(random.choice([2, 3, 10, 20])),
        )
        values, span = random_values(random, n, m)
        options = {
            "weights": random.choice([1.0, 2.0, 9.0], n)
            if random.random() < 0.5
            else 10.0 ** random.uniform(-3, 3, n),
            "units": random.integers(0, max(2, n // 4), n) if random.random() < 0.2 else None,
            "folds": random.integers(0, 5, n) if random.random() < 0.1 else None,
            "test": "t" if random.random() < 0.15 else "permutation",
        }
        level = float(random.choice([0.01, 0.05, 0.2]))
        tests = flips(values, seed=int(random.integers(99)), span=span, **options)
        family = Family(
            [tests], level, random.choice(["max", "holm", "bh", None]), random.choice([None, 0])
        )
        for i, j in family.pairs:
            p, adjusted, *intervals = family.tested(0, i, j)
            for own, (low, high) in zip((p, adjusted), intervals, strict=True):
                assert np.isnan(low) or low <= high
                assert np.isnan(low) or (low > 0 or high < 0) == (own <= level)
            low, high = tests.intervals(i, tests.alone(level)[1][i], level)[
                j
            ]  # before it is made to agree
            if not np.isnan(low) and min(abs(low), abs(high)) > 1e-9 * max(abs(low), abs(high)):
                assert (low > 0 or high < 0) == (p <= level)
        best = family.best_set()
        assert best.inside[np.argmax(tests.sums.sum(axis=0))]
        assert ((best.regret == 0) == (best.inside & (best.inside.sum() == 1))).all()
        n_compared += len(family.pairs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "sparse", "skewed"])
def test_errors_power_and_the_truly_best(kind):
    random, n_samples = np.random.default_rng(0), 300
    noise = {
        "normal": lambda: random.normal(0, 0.1, (100, 6)),
        "sparse": lambda: np.where(
            random.random((100, 6)) < 0.15, random.choice([-0.25, 0.25], (100, 6)), 0.0
        ),
        "skewed": lambda: random.exponential(0.1, (100, 6)) - 0.1,
    }[kind]
    truth = np.array([0.04, 0, 0, 0, 0, 0])
    errors, held, kept, powers = 0, 0, 0, []
    for seed in range(n_samples):
        family = Family([flips(random.random((100, 1)) + noise() + truth, seed=seed)], 0.05)
        rejected = family.p_adjusted[0] <= 0.05
        best = family.best_set()
        errors += rejected[1:, 1:].any()
        kept += best.inside[0]
        held += (0.04 - truth <= best.regret).all()
        holm = Family(family.parts, 0.05, "holm").p_adjusted[0] <= 0.05
        powers.append([rejected[0, 1:].mean(), holm[0, 1:].mean()])
    assert errors / n_samples <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_samples)
    assert kept / n_samples >= 0.95
    assert held / n_samples >= 0.95
    maximum, holm = np.mean(powers, axis=0)
    assert maximum >= holm

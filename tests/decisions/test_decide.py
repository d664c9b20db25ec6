"""One method from arrays to decisions: what it says of samples whose answer is known, and what must change nothing."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from skrank_metrics import compare
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics.decisions.decide import decide
from skrank_metrics.decisions.planning import detectable, queries_needed, queries_to_decide
from skrank_metrics.decisions.signs import MOST_UNITS, Sample
from skrank_metrics.reports import RankingReport


def sample_of(values, weights=None, units=None, bounds=(0.0, 1.0), folds=None):
    """Values with one row per query and one column per ranking."""
    values = np.asarray(values, dtype=float)
    n = len(values)
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    units = hash_ids(np.arange(n) if units is None else np.asarray(units))
    means = np.average(values, axis=0, weights=weights)
    return Sample(values, means, weights, units, bounds, folds)


def decided(values, *, weights=None, units=None, bounds=(0.0, 1.0), folds=None, **options):
    (decision,) = decide([sample_of(values, weights, units, bounds, folds)], **options)
    return decision


def random_values(seed, n, k, leads=0.0):
    random = np.random.default_rng(seed)
    values = random.random((n, 1)) + random.normal(0, 0.1, (n, k)) + leads
    return np.clip(values, 0, 1)


# The test and its interval


def test_all_of_six_queries_are_won():
    # 2 of 2^6 vectors of signs give as large a sum.
    values = np.column_stack([np.full(6, 0.5), [0.4, 0.3, 0.4, 0.2, 0.1, 0.3]])
    found = decided(values)
    assert found.p_value[0, 1] == found.p_adjusted[0, 1] == 2 / 2**6
    assert found.better.tolist() == [[False, True], [False, False]]
    five = decided(values[:5])
    assert five.p_value[0, 1] == 2 / 2**5
    assert not five.better.any()
    assert five.is_too_few
    assert five.least_units == 6
    assert not found.is_too_few


def test_the_interval_inverts_the_test():
    """At an end, the statistic of the shifted differences is the critical value."""
    d = np.random.default_rng(0).normal(0.05, 0.1, 50)
    found = decided(np.column_stack([0.5 + d, np.full(50, 0.5)]))
    half_largest = np.abs(d).max() ** 2 / 2
    for end in (found.low[0, 1], found.high[0, 1]):
        shifted = d - end
        statistic = abs(shifted.sum()) / math.sqrt((shifted**2).sum() + half_largest)
        assert statistic == pytest.approx(found.critical, abs=1e-8)
    assert found.critical == pytest.approx(1.96, abs=0.05)


def test_intervals_of_more_rankings_are_wider():
    values = random_values(0, 60, 6)
    widths = []
    for k in (2, 3, 6):
        found = decided(values[:, :k])
        assert found.n_tests == k * (k - 1) / 2
        widths.append(found.high[0, 1] - found.low[0, 1])
    beside = decided(values, baselines=[0])
    assert beside.n_tests == 5
    widths.insert(2, beside.high[0, 1] - beside.low[0, 1])
    assert widths == sorted(widths)
    assert np.isnan(beside.p_adjusted[1, 2]), "not in the family"


def test_significantly_better_is_transitive():
    for seed in range(40):
        random = np.random.default_rng(seed)
        k = 6
        leads = np.linspace(0, 0.15, k)
        noise = random.choice([0.02, 0.3], k)
        values = random.random((40, 1)) + random.normal(0, noise, (40, k)) + leads
        folds = random.integers(0, 4, 40) if seed % 2 else None
        better = decided(values, bounds=(-math.inf, math.inf), folds=folds).better
        for a, b, c in itertools.permutations(range(k), 3):
            assert better[a, c] or not (better[a, b] and better[b, c])


def test_a_few_heavy_queries_show_no_difference():
    # Ten queries with weights 1 to 512 are as informative as three of equal weight.
    weights = 2.0 ** np.arange(10)
    assert weights.sum() ** 2 / (weights**2).sum() == pytest.approx(3, abs=0.01)
    values = np.column_stack([np.linspace(0.6, 0.7, 10), np.full(10, 0.5)])
    found = decided(values, weights=weights)
    assert not found.better.any()
    assert found.low[0, 1] < 0
    assert decided(values).better[0, 1], "of equal weight"


def test_equal_rankings_are_bounded_by_their_number():
    # If none of n queries loses, less than a share x does, (1 - x)^n = .025.
    found = decided(np.full((40, 2), 0.5))
    assert found.high[0, 1] == pytest.approx(1 - 0.025 ** (1 / 40))
    unbounded = decided(np.full((40, 2), 0.5), bounds=(0.0, math.inf))
    assert unbounded.high[0, 1] == math.inf


def test_many_units_are_merged_and_still_detect():
    n = 3 * MOST_UNITS
    d = np.random.default_rng(0).normal(0.005, 0.1, n)
    found = decided(np.column_stack([0.5 + d, np.full(n, 0.5)]))
    assert found.n_units == found.n_effective == n
    z = d.mean() / (d.std(ddof=1) / math.sqrt(n))
    assert found.p_value[0, 1] == pytest.approx(2 * stats.norm.sf(z), abs=0.002)
    half = (found.high[0, 1] - found.low[0, 1]) / 2
    assert half == pytest.approx(1.96 * d.std(ddof=1) / math.sqrt(n), rel=0.06)


# Rounding


@pytest.mark.parametrize("size", [0.1 + 0.2 - 0.3, 1e-17, 1e-300])
def test_rounding_of_zero_is_no_difference(size):
    """On 40 queries, 0.1 + 0.2 - 0.3 would be better than 0 with p = 2 / 10,000."""
    assert size > 0
    reports = {
        name: RankingReport.from_frame({"qid": range(40), "mrr": np.full(40, value)})
        for name, value in {"a": size, "b": 0.0}.items()
    }
    comparison = compare(reports)
    assert comparison.pair("a", "b").p_value == 1
    assert comparison.pair("a", "b").ties == 40
    assert {row.status for row in comparison.standings()} == {"highest"}


def test_without_a_range_rounding_is_judged_against_the_values():
    tiny = np.column_stack([np.linspace(1e-17, 2e-17, 40), np.zeros(40)])
    assert decided(tiny, bounds=(0.0, math.inf)).better[0, 1], "values of this size"
    assert not decided(tiny, bounds=(0.0, 1.0)).better.any()
    large = 1e6 + np.column_stack([np.full(40, 1e-8), np.zeros(40)])
    assert not decided(large, bounds=(0.0, math.inf)).better.any(), "1e-14 of the values"


# What changes nothing


@pytest.mark.parametrize("seed", range(6))
def test_order_scale_and_constants_change_nothing(seed):
    random = np.random.default_rng(seed)
    n, k = 40, 4
    values = random_values(seed, n, k, leads=random.choice([0, 0.1], k))
    folds = random.integers(0, 5, n) if seed % 2 else None
    units = random.integers(0, 15, n) if seed % 3 == 0 else np.arange(n)
    plain = decided(values, units=units, folds=folds)
    queries = random.permutation(n)
    rankings = random.permutation(k)
    shuffled_folds = None if folds is None else folds[queries]
    shuffled = decided(values[queries][:, rankings], units=units[queries], folds=shuffled_folds)
    scaled = decided(300 * values, units=units, bounds=(0.0, 300.0), folds=folds)
    moved = decided(values - 5, units=units, bounds=(-5.0, -4.0), folds=folds)
    own = np.ix_(rankings, rankings)
    for name in ("low", "high", "difference"):
        expected = getattr(plain, name)
        np.testing.assert_allclose(getattr(shuffled, name), expected[own], atol=1e-9)
        np.testing.assert_allclose(getattr(scaled, name) / 300, expected, atol=1e-9)
        np.testing.assert_allclose(getattr(moved, name), expected, atol=1e-9)
    for other in (scaled, moved):
        assert np.array_equal(other.p_adjusted, plain.p_adjusted, equal_nan=True)
        assert other.statuses == plain.statuses
        assert other.letters == plain.letters
    assert np.array_equal(shuffled.p_adjusted, plain.p_adjusted[own], equal_nan=True)
    assert shuffled.statuses == [plain.statuses[i] for i in rankings]
    np.testing.assert_allclose(shuffled.regret, plain.regret[rankings], atol=1e-9)


# Statuses


def beside(low, high, margin, *, largest_loss=1.0):
    """The verdict on a ranking whose interval against a baseline is known."""
    found = decided(np.full((6, 2), 0.5), baselines=[1], margin=margin)
    ends = {
        "low": np.array([[-np.inf, low], [-high, -np.inf]]),
        "high": np.array([[np.inf, high], [-low, np.inf]]),
    }
    return dataclasses.replace(found, largest_loss=largest_loss, **ends).statuses[0]


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (0.01, 0.02, None, "better"),
        (0.01, 0.02, 0.1, "better"),
        (-0.02, -0.01, None, "worse"),
        (-0.02, 0.01, None, "undecided"),
        (-0.02, 0.01, 0.05, "equivalent"),
        (-0.02, 0.06, 0.05, "not worse"),
        (-0.02, -0.01, 0.05, "small loss"),
        (-0.06, -0.01, 0.05, "worse"),
        (-0.06, 0.01, 0.05, "undecided"),
        (-0.05, 0.01, 0.05, "undecided"),
        (-0.05, 0.0, 0.05, "undecided"),
    ],
)
def test_statuses_follow_from_the_interval(low, high, margin, expected):
    assert beside(low, high, margin) == expected


def test_a_margin_that_accepts_any_loss_lets_nothing_pass():
    assert beside(-0.02, 0.01, 0.05, largest_loss=0.05) == "undecided"
    assert beside(-0.02, -0.01, 0.05, largest_loss=0.05) == "worse"
    assert beside(0.01, 0.02, 0.05, largest_loss=0.05) == "better"


@pytest.mark.parametrize("seed", range(30))
def test_the_leader_has_the_least_regret(seed):
    random = np.random.default_rng(seed)
    k = int(random.integers(2, 7))
    values = np.round(random_values(seed, 30, k, leads=random.choice([0, 0.03], k)), 1)
    found = decided(values, weights=random.exponential(1, 30) + 0.01)
    regret = found.regret[found.order]
    assert np.all(np.diff(regret) >= -1e-12)
    for i in np.flatnonzero(found.inside):
        assert np.all(found.regret >= np.where(np.arange(k) == i, 0, found.high[i]) - 1e-12)
    outside = ~found.inside
    assert np.array_equal(outside, found.better.any(axis=0))


def test_the_best_alone_has_no_regret():
    found = decided(random_values(0, 100, 3, leads=[0.3, 0.0, 0.0]))
    assert found.statuses == ["best", "worse", "worse"]
    assert found.regret[0] == 0
    assert found.regret[1] == found.high[0, 1]


# Out of fold


def test_the_error_out_of_fold_has_a_share_that_folds_do_not_show():
    """With two rankings, the variance over queries and folds times 1 + 5/4 (F - 1) / F."""
    random = np.random.default_rng(0)
    for n_folds in (2, 5, 10):
        folds = np.arange(100) % n_folds
        d = random.normal(0, 0.1, 100) + np.repeat([0.05, -0.05], 50)
        for spread_of_fits in (0.0, 0.3):
            of_fits = spread_of_fits * np.linspace(-1, 1, n_folds)
            values = d + of_fits[folds]
            found = decided(
                np.column_stack([values, np.zeros(100)]), bounds=(-math.inf, math.inf), folds=folds
            )
            q = values.std(ddof=1) ** 2 / 100
            by_fold = [values[folds == fold].mean() for fold in range(n_folds)]
            f = np.var(by_fold, ddof=1) / n_folds
            # With two rankings, the pair is all pairs: (q + f + max(0, f - q)) / 2 is the larger, or their mean.
            total = max(q, f)
            factor = 1 + 5 / 4 * (n_folds - 1) / n_folds
            assert found.fold_error[0, 1] == pytest.approx(math.sqrt(factor * total))
            assert found.folds_vary == (f > q)
            if f > q:
                # Two ways to estimate a variance: 99 and n_folds - 1 degrees of freedom.
                expected = f**2 / (q**2 / 99 + f**2 / (n_folds - 1))
                assert found.n_degrees == pytest.approx(expected)
            else:
                assert found.n_degrees == pytest.approx(99)


def test_the_fold_error_of_several_is_half_that_of_all_pairs():
    random = np.random.default_rng(1)
    folds = np.repeat(np.arange(4), 10)
    values = random.normal(0, 0.1, (40, 3)) + random.normal(0, 0.2, (4, 3))[folds]
    found = decided(values, bounds=(-math.inf, math.inf), folds=folds)
    pairs = [(0, 1), (0, 2), (1, 2)]
    q = [np.var(values[:, i] - values[:, j], ddof=1) / 40 for i, j in pairs]
    means = np.array([values[folds == fold].mean(axis=0) for fold in range(4)])
    f = [np.var(means[:, i] - means[:, j], ddof=1) / 4 for i, j in pairs]
    added = np.mean(f) - np.mean(q)
    assert added > 0
    factor = 1 + 5 / 4 * 3 / 4
    for (i, j), of_queries, of_folds in zip(pairs, q, f, strict=True):
        total = max(of_queries, (of_queries + of_folds + added) / 2)
        assert found.fold_error[i, j] == pytest.approx(math.sqrt(factor * total))


def test_one_fold_allows_for_nothing():
    values = random_values(0, 50, 3)
    one = decided(values, folds=np.zeros(50, dtype=int))
    assert not one.fold_error.any()
    assert np.array_equal(one.low, decided(values).low)
    assert (decided(values, folds=np.arange(50) % 5).low < one.low).sum() == 6


# What to beware of


def test_few_queries_that_lose_much_are_noted():
    # Two of 20 queries lose .14, the others win .06.
    d = np.where(np.arange(20) < 2, -0.14, 0.06) + np.linspace(-0.01, 0.01, 20)
    found = decided(np.column_stack([0.5 + d, np.full(20, 0.5)]))
    assert found.better[0, 1]
    skew = found.skew
    assert (skew.first, skew.second, skew.n_tail) == (0, 1, 2)
    assert skew.ratio == pytest.approx(-d[:2].mean() / d[2:].mean())
    even = np.where(np.arange(20) < 4, -0.05, 0.06) + np.linspace(-0.01, 0.01, 20)
    assert decided(np.column_stack([0.5 + even, np.full(20, 0.5)])).skew is None
    unclear = np.where(np.arange(20) < 6, -0.14, 0.06)
    no_claim = decided(np.column_stack([0.5 + unclear, np.full(20, 0.5)]))
    assert not no_claim.better.any()
    assert no_claim.skew is None, "nothing is claimed"


def test_a_tail_of_many_queries_is_not_noted():
    # The first loses .004 on 4 of 20 queries; on the others it wins more, by up to .3.
    d = np.r_[np.full(4, -0.004), np.linspace(0.02, 0.06, 15), 0.3]
    values = np.column_stack([0.5 + d, np.full(20, 0.5)])
    found = decided(values)
    assert found.better[0, 1]
    assert found.asymmetry[0, 1] >= 0.2
    assert found.gain[0, 1] >= 2 * found.gain[1, 0]
    assert found.skew is None, "16 of 20 queries are not few"


def test_equal_differences_show_no_spread():
    found = decided(np.column_stack([np.full(20, 0.6), np.full(20, 0.5)]))
    assert found.better[0, 1]
    assert (found.skew.first, found.skew.second, found.skew.n_tail) == (0, 1, 0)
    one_differs = np.full(20, 0.6)
    one_differs[0] = 0.61
    assert decided(np.column_stack([one_differs, np.full(20, 0.5)])).skew is None


# Planning


def test_planning_out_of_fold_uses_students_quantiles():
    random = np.random.default_rng(0)
    folds = np.arange(90) % 3
    values = random.normal(0, 0.1, (90, 2)) + random.normal(0, 0.1, (3, 2))[folds]
    found = decided(values, bounds=(-math.inf, math.inf), folds=folds)
    tail = stats.norm.sf(found.critical)
    errors = stats.t.isf(tail, found.n_degrees) + stats.t.ppf(0.8, found.n_degrees)
    assert errors > 1.3 * (1.96 + 0.84), "few degrees of freedom"
    expected = errors * found.fold_error[0, 1]
    assert detectable(found) == pytest.approx(expected)
    half = (found.high[0, 1] - found.low[0, 1]) / 2
    assert half == pytest.approx(stats.t.isf(tail, found.n_degrees) * found.fold_error[0, 1])
    # Four times as many queries for half the difference.
    assert queries_needed(found, 0, 1, expected / 2) == pytest.approx(4 * 90, abs=1)


def test_two_values_differ_by_the_share_of_queries_that_change():
    """A hit rate that is to differ by .08 must change on at least 8% of the queries, though only 2% change today."""
    n = 1000
    one = (np.arange(n) % 2).astype(float)
    other = one.copy()
    other[:20] = 1 - other[:20]
    found = decided(np.column_stack([one, other]))
    assert found.step == 1
    difference, z = 0.08, 0.8416
    needed = queries_needed(found, 0, 1, difference)
    spread = math.sqrt(difference - difference**2)
    noise = found.critical * math.sqrt(difference + 1 / (2 * needed)) + z * spread
    assert needed == pytest.approx((noise / difference) ** 2, abs=1)
    three_values = np.column_stack([np.where(np.arange(n) < 9, 0.5, one), other])
    assert decided(three_values).step == 0


def test_what_is_detected_needs_as_many_queries_as_there_are():
    for seed in range(5):
        found = decided(random_values(seed, 200, 2))
        assert queries_needed(found, 0, 1, detectable(found)) == pytest.approx(200, abs=1)


def test_detectable_is_about_what_is_open():
    random = np.random.default_rng(0)
    noise = random.normal(0, 1, (200, 4)) * [0.01, 0.05, 0.3, 0.05]
    values = 0.5 + noise + [0.01, 0.0, 0.0, -0.3]
    found = decided(values, bounds=(-math.inf, math.inf))
    leader = found.order[0]
    still_open = [i for i in range(4) if i != leader and not found.better[leader, i]]
    assert 3 not in still_open
    of_pairs = [detectable(decided(values[:, [leader, i]])) for i in still_open]
    factor = (found.critical + 0.84) / (1.96 + 0.84)
    assert detectable(found) == pytest.approx(factor * np.median(of_pairs), rel=0.05)


def test_equal_rankings_need_so_many_queries():
    found = decided(np.full((100, 4), 0.5), baselines=[0], margin=0.01)
    # So many queries without a difference exclude, for three pairs together, that more than 1% of them differ.
    expected = math.ceil(math.log(0.05 / 3 / 2) / math.log(1 - 0.01))
    assert queries_to_decide(found, 1, 0) == expected
    assert queries_to_decide(dataclasses.replace(found, margin=None), 1, 0) is None

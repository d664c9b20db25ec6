"""Parts of families of tests that random comparisons seldom reach: chains of rankings, many units, many slices."""

import numpy as np
import pytest

from skrank_metrics import compare
from skrank_metrics.decisions.families import Family, lower_by_chains, make_transitive
from skrank_metrics.decisions.sign_flips import MOST_UNITS, SignFlips
from skrank_metrics.reports import RankingReport


def symmetric(p_values):
    """P-values of three rankings a, b and c from those of the pairs ab, bc and ac."""
    ab, bc, ac = p_values
    rows = [
        [np.nan, ab, ac],
        [ab, np.nan, bc],
        [ac, bc, np.nan],
    ]
    return np.array(rows)


TOTALS = np.array([3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # a beats b, and b beats c: without a and c, the weaker of these claims goes.
        ((0.01, 0.02, 0.2), (0.01, 0.2, 0.2)),
        ((0.02, 0.01, 0.2), (0.2, 0.01, 0.2)),
        ((0.01, 0.01, 0.2), (0.2, 0.2, 0.2)),
        ((0.01, 0.02, 0.02), (0.01, 0.02, 0.02)),
        ((0.3, 0.4, 0.001), (0.3, 0.4, 0.001)),
    ],
)
def test_significantly_better_is_transitive(given, expected):
    found = symmetric(given)
    make_transitive(found, TOTALS)
    np.testing.assert_array_equal(found, symmetric(expected))
    # The order of the rankings does not matter.
    order = [1, 2, 0]
    found = symmetric(given)[np.ix_(order, order)]
    make_transitive(found, TOTALS[order])
    np.testing.assert_array_equal(found, symmetric(expected)[np.ix_(order, order)])


def test_beside_a_baseline_chains_are_implied():
    found = symmetric((0.01, 0.02, 0.2))
    lower_by_chains(found, TOTALS)
    np.testing.assert_array_equal(found, symmetric((0.01, 0.02, 0.02)))


def test_better_than_a_baseline_that_is_better_than_a_third():
    random = np.random.default_rng(0)
    lead = random.normal(0, 0.1, 60)
    lead += 0.035 - lead.mean()
    middle = np.full(60, 0.5)
    others = 0.5 + random.normal(0, 0.1, (60, 6))
    values = np.column_stack([middle + lead, middle, middle - lead, others])
    units = np.arange(60, dtype=np.uint64)
    flips = SignFlips(values, np.ones(60), units, seed=0, span=1.0)
    family = Family([flips], 0.05, baselines=[1])
    # Compared with the baseline only, the two differ from it; among all pairs, nothing is significant.
    adjusted = family.p_adjusted[0]
    assert adjusted[0, 1] == adjusted[1, 2] < 0.05
    assert family.of_all_pairs.p_adjusted[0][0, 2] > 0.05
    assert family.deciding_p_values()[0, 2] == adjusted[0, 1]
    assert not family.best_set().inside[[1, 2]].any()


def test_a_chain_whose_ends_differ_much_but_vary_more():
    random = np.random.default_rng(0)
    noise = random.normal(0, 0.3, 60)
    noise -= noise.mean()
    # b is always a little better than c, whose difference from a varies much.
    b = np.full(60, 0.45)
    c = np.full(60, 0.44)
    values = np.stack([0.5 + noise, b, c], axis=1)
    flips = SignFlips(values, np.ones(60), np.arange(60, dtype=np.uint64), seed=0, span=1.0)
    family = Family([flips], 0.05)
    best = family.best_set()
    assert best.inside.tolist() == [True, True, False]
    # c is compared with b, the best one that is significantly better.
    assert best.rivals.tolist() == [1, 0, 1]
    assert family.simultaneous[0][2, 1, 1] < 0


def report_of(values, **columns):
    return RankingReport.from_frame({"qid": np.arange(len(values)), "mrr": values, **columns})


def test_more_queries_than_are_flipped_one_by_one():
    random = np.random.default_rng(0)
    n = 5 * MOST_UNITS
    first = random.random(n)
    second = np.clip(first + random.normal(0, 0.1, n), 0, 1)
    comparison = compare([report_of(first), report_of(second)])
    d = comparison.pair().differences
    low, high = comparison.pair().interval
    half = 1.96 * d.std() / np.sqrt(n)
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)
    needed = ((1.96 + 0.8416) * d.std() / 0.001) ** 2
    assert comparison.queries_needed(0.001) == pytest.approx(needed, rel=0.05)


def test_few_changes_among_many_queries():
    n = 5 * MOST_UNITS
    first = np.full(n, 0.5)
    second = first.copy()
    second[:3] = 1.0
    comparison = compare({"a": report_of(first), "b": report_of(second)})
    low, high = comparison.pair().interval
    assert low < 0 < high < 0.001, "three wins of 20,480"


def test_slices_keep_nothing_that_grows_with_the_number_of_signs():
    random = np.random.default_rng(0)
    by = np.repeat(np.arange(40), 10)
    reports = [report_of(random.random(400), by=by) for _ in range(3)]
    comparison = compare(reports)
    assert str(comparison)
    family = next(iter(comparison.slices.values())).outcome().tests.family
    for part in family.parts:
        held = [own for own in vars(part).values() if isinstance(own, np.ndarray)]
        assert sum(own.nbytes for own in held) < 10_000

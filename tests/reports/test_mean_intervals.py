import numpy as np
import pytest
from scipy import stats

from skrank_metrics import get_metric
from skrank_metrics.reports.mean_intervals import bounds_of, mean_interval, moments


def test_equal_weights_are_none_and_undefined_values_are_left_out():
    values = np.array([0.2, np.nan, 0.9, 0.4])
    expected = mean_interval(moments([0.2, 0.9, 0.4]))
    np.testing.assert_allclose(
        mean_interval(moments(values, np.full(4, 3.0))), expected, rtol=1e-12
    )
    np.testing.assert_allclose(
        mean_interval(moments([0.2, 7, 0.9, 0.4], [1, 0, 1, 1])), expected, rtol=1e-12
    )
    bounded = mean_interval(moments([0.2, 0.9, 0.4]), (0, 1))
    assert mean_interval(moments([0.2, 7, 0.9, 0.4], [1, 0, 1, 1]), (0, 1)) == pytest.approx(
        bounded
    ), "7 has no weight"


@pytest.mark.parametrize("values", [[], [0.5], [np.nan, 0.5], [np.nan, np.nan]])
@pytest.mark.parametrize("weights", [[1, 0], [1, 1e-20], [1e308, 0]])
def test_no_interval_of_a_single_query_or_without_spread_and_bounds(values, weights):
    assert np.isnan(mean_interval(moments(values))).all()
    assert np.isnan(mean_interval(moments([0.5, 0.25], weights), (0, 1))).all(), (
        "one has all the weight"
    )
    assert np.isnan(mean_interval(moments([0.3, 0.1 + 0.2, 0.3]), (0, np.inf))).all(), (
        "equal up to rounding"
    )


def test_equal_values_by_hand():
    # Half an observation at 0 and at 1: mean 2 / 4, squares 1/4, a variance of 1/4 / 3, three degrees of freedom.
    half = stats.t.ppf(0.975, 3) * np.sqrt(1 / 4 / 3 / 4)
    assert mean_interval(moments([0.5, 0.5, 0.5]), (0, 1)) == pytest.approx(
        (1 / 2 - half, 1 / 2 + half)
    )


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (-7, 2)])
@pytest.mark.parametrize("n_high", [0, 1, 5, 12])
def test_two_values_have_the_interval_of_agresti_and_coull(bounds, n_high):
    low, high = bounds
    values, z = np.r_[np.full(n_high, high), np.full(12 - n_high, low)], stats.norm.ppf(0.975)
    share = (n_high + z**2 / 2) / (12 + z**2)
    ends = share + np.array([-1, 1]) * z * np.sqrt(share * (1 - share) / (12 + z**2))
    assert mean_interval(moments(values), bounds) == pytest.approx(
        tuple(np.clip(low + (high - low) * ends, low, high))
    )


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (-7, 2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_bounds_add_half_an_observation_at_each(bounds, weighted):
    random = np.random.default_rng(0)
    values = random.uniform(0, 1, 12)
    with_ends = np.append(values, bounds)
    weights = np.append(np.full(12, 3.0), [1.5, 1.5])
    mean = np.average(with_ends, weights=weights)
    error = np.sqrt(weights / 3 @ (with_ends - mean) ** 2 / 12 / 13)
    expected = np.clip(mean + stats.t.ppf([0.025, 0.975], 12) * error, *bounds)
    np.testing.assert_allclose(
        mean_interval(moments(values, weights[:12] if weighted else None), bounds), expected
    )


def test_one_bound_only_cuts():
    values = [0.0, 0.0, 5.0]
    low, high = mean_interval(moments(values))
    assert low < 0
    assert mean_interval(moments(values), (0, np.inf)) == (0, high)


def test_bounds():
    distance, infinite = "neg_kendall_tau_distance", np.inf
    expected = {
        "ndcg@10": (0, 1),
        "dcg": (0, infinite),
        "kendall_tau": (-1, 1),
        distance: (-infinite, 0),
    }
    expected[f"{distance}(normalize=True)"] = -1, 0
    assert {name: bounds_of(get_metric(name)) for name in expected} == expected


@pytest.mark.parametrize(
    ("value", "extended"), [(-1, (-1, 1)), (1.25, (0, 1.25)), (np.nan, (0, 1))]
)
def test_values_beyond_the_bounds_extend_them(value, extended):
    found = moments([0.5, 0.75, value, 0.5])
    assert mean_interval(found, (0, 1)) == mean_interval(found, extended)


# Distributions of values in [0, 1] with their means; most queries have the same value in the first two.
BOUNDED = {
    "perfect": (
        lambda random, shape: np.where(random.random(shape) < 0.9, 1, random.random(shape)),
        0.95,
    ),
    "rare hits": (lambda random, shape: (random.random(shape) < 0.03).astype(float), 0.03),
    # The sum over ranks r of 2^-r / r.
    "reciprocal ranks": (lambda random, shape: 1 / random.geometric(0.5, shape), np.log(2)),
    "skewed": (lambda random, shape: random.beta(8, 2, shape), 0.8),
}


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [10, 30, 100])
@pytest.mark.parametrize("name", BOUNDED)
def test_covers_the_mean_of_bounded_values(name, n_queries):
    draw, truth = BOUNDED[name]
    samples = draw(np.random.default_rng(1), (2000, n_queries))
    ends = np.array([mean_interval(moments(values), (0, 1)) for values in samples])
    assert (ends >= 0).all()
    assert (ends <= 1).all()
    assert ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_queries", "weighted"), [(30, False), (100, False), (200, False), (100, True)]
)
def test_covers_the_mean_without_bounds(n_queries, weighted):
    (draw, truth), random = BOUNDED["reciprocal ranks"], np.random.default_rng(1)
    weights = random.uniform(0.5, 2, n_queries) if weighted else None
    ends = np.array(
        [mean_interval(moments(values, weights)) for values in draw(random, (1000, n_queries))]
    )
    assert 0.93 <= ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() <= 0.97

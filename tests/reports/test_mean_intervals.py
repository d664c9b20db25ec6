import numpy as np
import pytest
from scipy import stats

from skrank_metrics import get_metric
from skrank_metrics.reports.mean_intervals import bounds_of, mean_interval, moments


def test_equal_weights_are_none_and_values_without_weight_are_left_out():
    few = [0.2, 0.9, 0.4]
    equal = moments([0.2, np.nan, 0.9, 0.4], [3, 3, 3, 3])
    without = moments([0.2, 7, 0.9, 0.4], [1, 0, 1, 1])
    for bounds in ((-np.inf, np.inf), (0, 1)):
        expected = pytest.approx(mean_interval(moments(few), bounds), rel=1e-12)
        assert mean_interval(equal, bounds) == expected
        assert mean_interval(without, bounds) == expected


@pytest.mark.parametrize("values", [[], [0.5], [np.nan, 0.5], [np.nan, np.nan]])
def test_no_interval_of_a_single_query(values):
    assert np.isnan(mean_interval(moments(values))).all()


@pytest.mark.parametrize("weights", [[1, 0], [1, 1e-20], [1e308, 0]])
def test_no_interval_of_a_query_with_all_the_weight(weights):
    found = moments([0.5, 0.25], weights)
    assert np.isnan(mean_interval(found, (0, 1))).all()


def test_no_interval_of_equal_values_without_two_bounds():
    equal_up_to_rounding = moments([0.3, 0.1 + 0.2, 0.3])
    assert np.isnan(mean_interval(equal_up_to_rounding, (0, np.inf))).all()


def test_equal_values_by_hand():
    # Half an observation at 0 and at 1: mean 2 / 4, squares 1/4, a variance of 1/4 / 3, three degrees of freedom.
    error = np.sqrt(1 / 4 / 3 / 4)
    half = stats.t.ppf(0.975, 3) * error
    found = mean_interval(moments([0.5, 0.5, 0.5]), (0, 1))
    assert found == pytest.approx((1 / 2 - half, 1 / 2 + half))


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (-7, 2)])
@pytest.mark.parametrize("n_high", [0, 1, 5, 12])
def test_two_values_have_the_interval_of_agresti_and_coull(bounds, n_high):
    low, high = bounds
    values = [high] * n_high + [low] * (12 - n_high)
    z = stats.norm.ppf(0.975)
    n = 12 + z**2
    share = (n_high + z**2 / 2) / n
    variance = share * (1 - share) / n
    half = z * np.sqrt(variance)
    ends = np.clip([share - half, share + half], 0, 1)
    expected = low + (high - low) * ends
    found = mean_interval(moments(values), bounds)
    assert found == pytest.approx(tuple(expected))


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (-7, 2)])
@pytest.mark.parametrize("weights", [None, np.full(12, 3.0)])
def test_two_bounds_add_half_an_observation_at_each(bounds, weights):
    values = np.random.default_rng(0).uniform(0, 1, 12)
    counts = np.append(np.ones(12), [0.5, 0.5])
    with_ends = np.append(values, bounds)
    mean = np.average(with_ends, weights=counts)
    squares = counts @ (with_ends - mean) ** 2
    error = np.sqrt(squares / 12 / 13)
    half = stats.t.ppf(0.975, 12) * error
    expected = np.clip([mean - half, mean + half], *bounds)
    found = mean_interval(moments(values, weights), bounds)
    np.testing.assert_allclose(found, expected)


def test_one_bound_only_cuts():
    values = [0.0, 0.0, 5.0]
    low, high = mean_interval(moments(values))
    assert low < 0
    assert mean_interval(moments(values), (0, np.inf)) == (0, high)


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("ndcg@10", (0, 1)),
        ("dcg", (0, np.inf)),
        ("kendall_tau", (-1, 1)),
        ("neg_kendall_tau_distance", (-np.inf, 0)),
        ("neg_kendall_tau_distance(normalize=True)", (-1, 0)),
    ],
)
def test_bounds(name, bounds):
    assert bounds_of(get_metric(name)) == bounds


@pytest.mark.parametrize(
    ("value", "extended"), [(-1, (-1, 1)), (1.25, (0, 1.25)), (np.nan, (0, 1))]
)
def test_values_beyond_the_bounds_extend_them(value, extended):
    found = moments([0.5, 0.75, value, 0.5])
    assert mean_interval(found, (0, 1)) == mean_interval(found, extended)


def draw_mostly_perfect(random, shape):
    return np.where(random.random(shape) < 0.9, 1, random.random(shape))


def draw_rare_hits(random, shape):
    return (random.random(shape) < 0.03).astype(float)


def draw_reciprocal_ranks(random, shape):
    return 1 / random.geometric(0.5, shape)


def draw_skewed(random, shape):
    return random.beta(8, 2, shape)


# Distributions of values in [0, 1] with their means; most queries have the same value in the first two.
BOUNDED = {
    draw_mostly_perfect: 0.95,
    draw_rare_hits: 0.03,
    draw_reciprocal_ranks: np.log(2),  # the sum over ranks r of 2^-r / r
    draw_skewed: 0.8,
}


def covered(samples, truth, weights=None, bounds=(-np.inf, np.inf)):
    """Share of the samples whose interval contains the true mean."""
    intervals = [mean_interval(moments(values, weights), bounds) for values in samples]
    low, high = np.transpose(intervals)
    assert (low >= bounds[0]).all()
    assert (high <= bounds[1]).all()
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [10, 30, 100])
@pytest.mark.parametrize("draw", BOUNDED)
def test_covers_the_mean_of_bounded_values(draw, n_queries):
    samples = draw(np.random.default_rng(1), (2000, n_queries))
    assert covered(samples, BOUNDED[draw], bounds=(0, 1)) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_queries", "weighted"), [(30, False), (100, False), (200, False), (100, True)]
)
def test_covers_the_mean_without_bounds(n_queries, weighted):
    random = np.random.default_rng(1)
    weights = random.uniform(0.5, 2, n_queries) if weighted else None
    samples = draw_reciprocal_ranks(random, (1000, n_queries))
    assert 0.93 <= covered(samples, np.log(2), weights) <= 0.97

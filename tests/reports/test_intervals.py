import numpy as np
import pytest
from scipy import stats

from skrank_metrics.reports.statistics import check_confidence, mean_interval, moments


def test_is_student_t():
    values = np.random.default_rng(0).random(40)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    np.testing.assert_allclose(mean_interval(moments(values), confidence=0.9), expected, rtol=1e-12)


def test_equal_weights_are_none_and_undefined_values_are_left_out():
    values = np.array([0.2, np.nan, 0.9, 0.4])
    expected = mean_interval(moments([0.2, 0.9, 0.4]))
    np.testing.assert_allclose(mean_interval(moments(values, np.full(4, 3.0))), expected, rtol=1e-12)
    np.testing.assert_allclose(mean_interval(moments([0.2, 7, 0.9, 0.4], [1, 0, 1, 1])), expected, rtol=1e-12)


@pytest.mark.parametrize("values", [[], [0.5], [np.nan, 0.5], [np.nan, np.nan]])
def test_no_interval_of_fewer_than_two_values(values):
    assert np.isnan(mean_interval(moments(values))).all()


def test_without_spread_is_a_point():
    assert mean_interval(moments([0.5, 0.5, 0.5])) == (0.5, 0.5)


def test_weights_by_hand():
    # Mean 0.75; squared deviations 1/16 and 9/16 with shares 3/4 and 1/4; 1 / (9/16 + 1/16) = 1.6 queries that count.
    found = moments([1.0, 0.0], [3, 1])
    assert (found.mean, found.n_effective) == (0.75, pytest.approx(16 / 10))
    assert found.error**2 == pytest.approx((9 / 16 * 1 / 16 + 1 / 16 * 9 / 16) * 1.6 / 0.6)


@pytest.mark.parametrize(("n_queries", "weighted"), [(30, False), (100, False), (200, False), (100, True)])
def test_covers_the_mean_of_reciprocal_ranks_in_95_of_100_data_sets(n_queries, weighted):
    random = np.random.default_rng(1)
    truth = np.log(2)  # the sum over ranks r of 2^-r / r
    weights = random.uniform(0.5, 2, n_queries) if weighted else None
    ends = np.array([mean_interval(moments(1 / random.geometric(0.5, n_queries), weights)) for _ in range(1000)])
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize(("confidence", "error"), [(0, ValueError), (1, ValueError), ("high", TypeError)])
def test_confidence_is_a_share(confidence, error):
    with pytest.raises(error, match=r"confidence must be a number in \(0, 1\); got"):
        check_confidence(confidence)

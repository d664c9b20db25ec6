import numpy as np
import pytest
from sklearn.datasets import load_digits

from skrank_metrics import evaluate, pairwise_accuracy_score
from skrank_metrics.datasets import _MOST_SIMILAR, load_digits_retrieval, make_ranking


@pytest.fixture(scope="module")
def data():
    return load_digits_retrieval()


def test_about_300_queries_with_graded_lists_of_different_lengths(data):
    sizes = np.bincount(data.qid)
    assert len(sizes) == 300
    assert sizes.min() < 10 < 100 < sizes.max()
    assert data.data.shape == (sizes.sum(), len(data.feature_names)) == (10520, 22)
    assert np.bincount(data.target).tolist() == [7879, 1222, 1419]
    assert 0 < (np.bincount(data.qid, weights=data.target) == 0).sum() < 10
    # As recorded: any change of a feature would change what models score on machines with another version.
    means = [
        2.889,
        0.711,
        0.753,
        7.492,
        7.56,
        2.266,
        0.048,
        0.201,
        0.223,
        0.08,
        0.087,
        0.257,
        0.256,
        0.089,
        0.082,
    ]
    means += [0.301, 0.232, 0.112, 0.024, 0.207, 0.224, 0.13]
    np.testing.assert_allclose(data.data.mean(axis=0), means, atol=6e-4)


@pytest.mark.slow
@pytest.mark.option("datasets.load_digits_retrieval.return_X_y_qid")
def test_the_same_rows_every_time_also_as_three_arrays_and_the_digits_untouched(data):
    before = load_digits().images.copy()
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    np.testing.assert_array_equal(X, data.data)
    np.testing.assert_array_equal(y, data.target)
    np.testing.assert_array_equal(qid, data.qid)
    np.testing.assert_array_equal(load_digits().images, before)


def test_another_digit_has_the_nearest_mean_image():
    digits = load_digits()
    means = np.array([digits.data[digits.target == digit].mean(axis=0) for digit in range(10)])
    distances = np.linalg.norm(means[:, None] - means, axis=2) + np.diag([np.inf] * 10)
    np.testing.assert_array_equal(_MOST_SIMILAR, distances.argmin(axis=1))


def test_features_compare_and_tell_something_but_not_all(data):
    assert np.isfinite(data.data).all()
    of_pairs = [
        "pixel_distance",
        "cosine_similarity",
        "shifted_similarity",
        "row_profile_distance",
        "column_profile_distance",
        "ink_difference",
    ]
    cells = [f"cell_{row}{column}_difference" for row in range(4) for column in range(4)]
    assert data.feature_names == [*of_pairs, *cells]
    assert (data.data[:, data.feature_names.index("pixel_distance")] > 0).all()
    distance = evaluate(data.target, -data.data[:, 0], qid=data.qid, metrics="ndcg@10").mean[
        "ndcg@10"
    ]
    chance = evaluate(data.target, np.zeros(len(data.qid)), qid=data.qid, metrics="ndcg@10").mean[
        "ndcg@10"
    ]
    assert chance + 0.2 < distance < 0.9


@pytest.mark.option("datasets.make_ranking.n_queries", "datasets.make_ranking.mean_length")
@pytest.mark.option("datasets.make_ranking.n_features", "datasets.make_ranking.n_grades")
@pytest.mark.parametrize("mean_length", [1, 30])
def test_made_rankings_have_the_sizes_and_grades_asked_for(mean_length):
    X, y, qid = make_ranking(
        n_queries=500, n_features=6, mean_length=mean_length, n_grades=4, random_state=0
    )
    lengths = np.bincount(qid)
    assert X.shape == (len(y), 6)
    assert len(lengths) == 500
    assert lengths.min() >= 1
    if mean_length > 1:
        assert abs(lengths.mean() / mean_length - 1) < 0.1
        np.testing.assert_allclose(np.bincount(y) / len(y), [1 / 2, 1 / 4, 1 / 8, 1 / 8], atol=0.01)
        means = np.add.reduceat(X, np.cumsum(lengths) - lengths) / lengths[:, None]
        # Each query shifts its features by a variance of 1; the mean of documents adds that of its noise.
        assert means.var() == pytest.approx(1 + (1 / lengths).mean(), rel=0.1)


def test_made_rankings_can_be_learned_inside_queries():
    X, y, qid = make_ranking(200, 4, noise=0.5, random_state=1)
    told, untold = (
        evaluate(y, scores, qid=qid, metrics="ndcg@10").mean["ndcg@10"]
        for scores in (X[:, :2].sum(axis=1), X[:, 2:].sum(axis=1))
    )
    assert told > untold + 0.2
    assert len(np.unique(make_ranking(5, 1, n_grades=1, random_state=0)[1])) == 1


@pytest.mark.option("datasets.make_ranking.noise")
@pytest.mark.parametrize("noise", [0.0, 1.0, 3.0])
@pytest.mark.parametrize(("n_features", "n_informative"), [(1, 1), (9, 5)])
def test_noise_is_measured_in_standard_deviations_of_the_signal(noise, n_features, n_informative):
    # Informative features add up to the signal, shifted by query; grade 1 has the half with more signal and noise.
    X, y, qid = make_ranking(2000, n_features, n_grades=2, noise=noise, random_state=0)
    signal, noises = np.random.default_rng(1).standard_normal((2, 2, 200_000))
    above = signal + noise * noises > 0
    right = (signal[0] > signal[1])[above[0] & ~above[1]]  # of pairs of grades 1 and 0
    value = pairwise_accuracy_score(
        y, X[:, :n_informative].sum(axis=1), qid=qid, replace_undefined_by=np.nan
    )
    assert value == pytest.approx(right.mean(), abs=0.01 if noise else 1e-12)


WRONG = {
    ValueError: {"n_queries": 0, "n_features": 0, "n_grades": 0, "mean_length": 0.5, "noise": -1},
    TypeError: {"n_queries": 2.0, "n_features": True, "n_grades": "3", "noise": None},
}


@pytest.mark.parametrize(
    ("error", "name"), [(error, name) for error in WRONG for name in WRONG[error]]
)
def test_rankings_that_cannot_be_made(error, name):
    with pytest.raises(error, match=f"{name} must be (an int|a number in)"):
        make_ranking(**{name: WRONG[error][name]})


@pytest.mark.option("datasets.make_ranking.random_state")
def test_made_rankings_repeat_with_any_source_of_random_numbers():
    arrays = make_ranking(20, 2, random_state=5)
    for state in (5, np.random.RandomState(5)):
        for array, again in zip(arrays, make_ranking(20, 2, random_state=state), strict=True):
            np.testing.assert_array_equal(again, array)
    one, other, different = (
        make_ranking(20, 2, random_state=np.random.default_rng(seed))[0] for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(one, other)
    assert one[0, 0] not in (arrays[0][0, 0], different[0, 0])

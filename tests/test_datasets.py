import numpy as np
import pytest
from sklearn.datasets import load_digits

from skrank_metrics import evaluate, pairwise_accuracy_score
from skrank_metrics.datasets import load_digits_retrieval, make_ranking


@pytest.fixture(scope="module")
def data():
    return load_digits_retrieval()


@pytest.mark.slow
def test_about_300_queries_with_lists_of_different_lengths(data):
    sizes = np.bincount(data.qid)
    assert len(sizes) == 300
    assert sizes.min() < 10 < 100 < sizes.max()
    assert data.data.shape == (sizes.sum(), len(data.feature_names)) == (10520, 22)
    assert len(data.target) == len(data.qid) == sizes.sum()


@pytest.mark.slow
@pytest.mark.option("datasets.load_digits_retrieval.return_X_y_qid")
def test_rows_can_be_returned_as_three_arrays(data):
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    np.testing.assert_array_equal(X, data.data)
    np.testing.assert_array_equal(y, data.target)
    np.testing.assert_array_equal(qid, data.qid)


def test_relevance_is_graded_and_some_queries_have_none(data):
    assert np.bincount(data.target).tolist() == [7879, 1222, 1419]
    assert 0 < (np.bincount(data.qid, weights=data.target) == 0).sum() < 10


def test_features_compare_and_tell_something_but_not_all(data):
    assert np.isfinite(data.data).all()
    assert (data.data[:, data.feature_names.index("pixel_distance")] > 0).all()
    distance = evaluate(data.target, -data.data[:, 0], qid=data.qid, metrics="ndcg@10").mean["ndcg@10"]
    chance = evaluate(data.target, np.zeros(len(data.qid)), qid=data.qid, metrics="ndcg@10").mean["ndcg@10"]
    assert chance + 0.2 < distance < 0.9


@pytest.mark.slow
def test_the_same_rows_every_time_and_the_digits_untouched():
    before = load_digits().images.copy()
    one, other = load_digits_retrieval(), load_digits_retrieval()
    for name in ("data", "target", "qid"):
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_array_equal(load_digits().images, before)


@pytest.mark.option(
    "datasets.make_ranking.mean_length",
    "datasets.make_ranking.n_features",
    "datasets.make_ranking.n_grades",
    "datasets.make_ranking.n_queries",
)
def test_made_rankings_have_the_sizes_and_grades_asked_for():
    X, y, qid = make_ranking(n_queries=500, n_features=6, mean_length=30, n_grades=4, random_state=0)
    lengths = np.bincount(qid)
    assert X.shape == (len(y), 6)
    assert len(lengths) == 500
    assert lengths.min() >= 1
    assert abs(lengths.mean() / 30 - 1) < 0.1
    np.testing.assert_allclose(np.bincount(y) / len(y), [1 / 2, 1 / 4, 1 / 8, 1 / 8], atol=0.01)


def test_made_rankings_can_be_learned_inside_queries_and_repeat_with_the_seed():
    X, y, qid = make_ranking(200, 4, noise=0.5, random_state=1)
    for array, again in zip((X, y, qid), make_ranking(200, 4, noise=0.5, random_state=1), strict=True):
        np.testing.assert_array_equal(array, again)
    value = {
        name: evaluate(y, scores, qid=qid, metrics="ndcg@10").mean["ndcg@10"]
        for name, scores in {"told": X[:, :2].sum(axis=1), "untold": X[:, 2:].sum(axis=1)}.items()
    }
    assert value["told"] > value["untold"] + 0.2
    assert len(np.unique(make_ranking(5, 1, n_grades=1, random_state=0)[1])) == 1


def test_short_lists_have_a_document():
    sizes = np.bincount(make_ranking(300, mean_length=1, random_state=0)[2])
    assert (len(sizes), sizes.min()) == (300, 1)


@pytest.mark.option("datasets.make_ranking.noise")
@pytest.mark.parametrize("noise", [0.0, 1.0, 3.0])
@pytest.mark.parametrize(("n_features", "n_informative"), [(1, 1), (9, 5)])
def test_noise_is_measured_in_standard_deviations_of_the_signal(noise, n_features, n_informative):
    # Informative features add up to the signal, shifted by query; grade 1 has the half with more signal and noise.
    X, y, qid = make_ranking(2000, n_features, n_grades=2, noise=noise, random_state=0)
    signal, noises = np.random.default_rng(1).standard_normal((2, 2, 200_000))
    above = signal + noise * noises > 0
    right = (signal[0] > signal[1])[above[0] & ~above[1]]  # of pairs of grades 1 and 0
    value = pairwise_accuracy_score(y, X[:, :n_informative].sum(axis=1), qid=qid, replace_undefined_by=np.nan)
    assert value == pytest.approx(right.mean(), abs=0.01 if noise else 1e-12)


@pytest.mark.parametrize(
    "params", [{"n_queries": 0}, {"n_features": 0}, {"n_grades": 0}, {"mean_length": 0.5}, {"noise": -1}]
)
def test_rankings_that_cannot_be_made(params):
    with pytest.raises(ValueError, match=f"{next(iter(params))} must be (an int|a number in)"):
        make_ranking(**params)


@pytest.mark.option("datasets.make_ranking.random_state")
def test_made_rankings_take_any_source_of_random_numbers():
    X = make_ranking(20, 2, random_state=5)[0]
    np.testing.assert_array_equal(make_ranking(20, 2, random_state=np.random.RandomState(5))[0], X)
    one, other, different = (make_ranking(20, 2, random_state=np.random.default_rng(seed))[0] for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, other)
    assert one[0, 0] not in (X[0, 0], different[0, 0])


@pytest.mark.parametrize("params", [{"n_queries": 2.0}, {"n_features": True}, {"n_grades": "3"}, {"noise": None}])
def test_rankings_from_arguments_of_another_type(params):
    with pytest.raises(TypeError, match=f"{next(iter(params))} must be (an int|a number in)"):
        make_ranking(**params)

import numpy as np
from sklearn.datasets import load_digits

from skrank_metrics import evaluate
from skrank_metrics.datasets import load_digits_retrieval


def test_about_300_queries_with_lists_of_different_lengths():
    data = load_digits_retrieval()
    sizes = np.bincount(data.qid)
    assert len(sizes) == 300
    assert sizes.min() < 10 < 100 < sizes.max()
    assert data.data.shape == (sizes.sum(), len(data.feature_names)) == (10520, 22)
    assert len(data.target) == len(data.qid) == sizes.sum()
    assert str(sizes.sum()) in data.DESCR


def test_relevance_is_graded_and_some_queries_have_none():
    _, y, qid = load_digits_retrieval(return_X_y_qid=True)
    assert np.bincount(y).tolist() == [7879, 1222, 1419]
    assert 0 < (np.bincount(qid, weights=y) == 0).sum() < 10


def test_features_compare_and_tell_something_but_not_all():
    data = load_digits_retrieval()
    assert np.isfinite(data.data).all()
    assert (data.data[:, data.feature_names.index("pixel_distance")] > 0).all()
    distance = evaluate(data.target, -data.data[:, 0], qid=data.qid, metrics="ndcg@10").mean["ndcg@10"]
    chance = evaluate(data.target, np.zeros(len(data.qid)), qid=data.qid, metrics="ndcg@10").mean["ndcg@10"]
    assert chance + 0.2 < distance < 0.9


def test_the_same_rows_every_time_and_the_digits_untouched():
    before = load_digits().images.copy()
    one, other = load_digits_retrieval(), load_digits_retrieval()
    for name in ("data", "target", "qid"):
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_array_equal(load_digits().images, before)

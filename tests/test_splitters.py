import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_validate
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics import QueryKFold, get_ranking_scorer, with_qid


@pytest.fixture(scope="module")
def heavy_tailed():
    """Ids of 1,000 queries, interleaved, of 1 to some hundred documents."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(1, rng.lognormal(2.5, 1, 1000).astype(int))
    return rng.permutation(np.repeat(rng.permutation(1000), sizes))


@pytest.mark.parametrize(("n_splits", "shuffle"), [(5, False), (5, True), (7, True), (2, False)])
def test_folds_are_whole_queries_and_rows_ascend(n_splits, shuffle):
    qid = np.repeat(np.arange(40), np.arange(1, 41))
    folds = list(QueryKFold(n_splits, shuffle=shuffle).split(qid, groups=qid))
    assert len(folds) == n_splits
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(qid)))
    for train, test in folds:
        assert sorted(np.concatenate([train, test])) == list(range(len(qid)))
        assert not set(qid[train]) & set(qid[test])
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()


@pytest.mark.parametrize("params", [{}, {"shuffle": True, "random_state": 0}, {"shuffle": True, "random_state": 1}])
def test_balances_documents_and_queries(params, heavy_tailed):
    tests = [test for _, test in QueryKFold(7, **params).split(heavy_tailed, groups=heavy_tailed)]
    queries = [len(set(heavy_tailed[test])) for test in tests]
    documents = np.array([len(test) for test in tests])
    assert max(queries) - min(queries) <= 1
    assert abs(documents / documents.mean() - 1).max() < 0.01


@pytest.mark.parametrize("params", [{}, {"shuffle": True, "random_state": 0}])
def test_does_not_depend_on_the_order_of_rows(params, heavy_tailed):
    order = np.random.default_rng(1).permutation(len(heavy_tailed))
    pairs = zip(
        QueryKFold(**params).split(heavy_tailed, groups=heavy_tailed),
        QueryKFold(**params).split(heavy_tailed, groups=heavy_tailed[order]),
        strict=True,
    )
    for (_, one), (_, other) in pairs:
        assert set(heavy_tailed[one]) == set(heavy_tailed[order][other])


def test_does_not_depend_on_the_container_of_ids(heavy_tailed):
    names = np.char.mod("q%04d", heavy_tailed)
    expected = [test.tolist() for _, test in QueryKFold(3).split(heavy_tailed, groups=heavy_tailed)]
    for ids in (names, names.astype(object), pd.Series(names), pd.Series(names, dtype="category"), list(names)):
        assert [test.tolist() for _, test in QueryKFold(3).split(heavy_tailed, groups=ids)] == expected


def test_is_deterministic_for_a_seed_and_varies_between_seeds(heavy_tailed):
    def folds(seed):
        split = QueryKFold(3, shuffle=True, random_state=seed).split(heavy_tailed, groups=heavy_tailed)
        return [test.tolist() for _, test in split]

    assert folds(0) == folds(0)
    assert folds(0) != folds(1)
    assert folds(0) != [test.tolist() for _, test in QueryKFold(3).split(heavy_tailed, groups=heavy_tailed)]


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30), st.integers(2, 6), st.booleans())
def test_every_fold_has_queries(sizes, n_splits, shuffle):
    qid = np.repeat(np.arange(len(sizes)), sizes)
    splitter = QueryKFold(n_splits, shuffle=shuffle)
    if len(sizes) < n_splits:
        with pytest.raises(ValueError, match="n_splits must be at most the number of queries; got n_splits="):
            next(splitter.split(qid, groups=qid))
        return
    assert all(len(train) and len(test) for train, test in splitter.split(qid, groups=qid))


def test_where_ids_come_from():
    X, qid = np.zeros((6, 1)), np.array([1, 1, 2, 2, 3, 3])
    other = np.array([1, 1, 2, 2, 1, 1])  # other units, which hold queries as a whole
    expected = [test.tolist() for _, test in QueryKFold(2).split(X, groups=other)]
    assert [test.tolist() for _, test in QueryKFold(2).split(X, qid=other)] == expected
    assert [test.tolist() for _, test in QueryKFold(2).split(X, with_qid(qid, other))] == expected
    assert [test.tolist() for _, test in QueryKFold(2).split(X, with_qid(qid, qid), groups=other, qid=qid)] == expected
    assert [test.tolist() for _, test in QueryKFold(2).split(X, with_qid(qid, qid), qid=other)] == expected


def test_mixed_ids():
    ids = ["a", 1, "a", 2.5, "b", ("x", 1)]
    assert len(list(QueryKFold(3).split(ids, groups=ids))) == 3


def test_requests_ids_and_splits_by_user_while_ranking_by_query():
    requests = get_routing_for_object(QueryKFold()).split.requests
    assert requests == {"groups": True, "qid": True}
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(10), 12)
    qid = np.repeat(np.arange(40), 3)
    X, y = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)
    model = sklearn.linear_model.Ridge()
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_ranking_scorer("mrr")
        params = {"groups": user, "qid": qid}
        values = cross_validate(model, X, y, scoring=scorer, cv=QueryKFold(5), params=params)["test_score"]
        for value, (train, test) in zip(values, QueryKFold(5).split(X, groups=user), strict=True):
            assert not set(user[train]) & set(user[test])
            assert value == scorer(model.fit(X[train], y[train]), X[test], y[test], qid=qid[test])


def test_missing_ids():
    with pytest.raises(TypeError, match=r"Pass groups=.*with_qid\(y, qid\)"):
        next(QueryKFold(2).split(np.zeros((4, 1)), np.zeros(4)))


def test_lengths():
    with pytest.raises(ValueError, match="groups must have the same length as X; got 3 and 4"):
        next(QueryKFold(2).split(np.zeros((4, 1)), groups=[1, 2, 3]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        next(QueryKFold(2).split(np.zeros((4, 1)), np.zeros(3), groups=[1, 2, 3, 3]))


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"n_splits": 1}, ValueError, "n_splits must be an int >= 2; got 1"),
        ({"n_splits": 2.0}, TypeError, "n_splits must be an int >= 2; got 2.0"),
        ({"n_splits": True}, TypeError, "n_splits must be an int >= 2; got True"),
        ({"shuffle": "yes"}, TypeError, "shuffle must be True or False"),
        ({"random_state": 0}, ValueError, "random_state must be None where shuffle=False"),
    ],
)
def test_bad_parameters(params, error, message):
    with pytest.raises(error, match=message):
        QueryKFold(**params)


def test_follows_the_conventions_of_scikit_learn():
    splitter = QueryKFold(3, shuffle=True, random_state=7)
    assert repr(splitter) == "QueryKFold(n_splits=3, random_state=7, shuffle=True, stratify=None)"
    assert splitter.get_n_splits() == splitter.get_n_splits([[0]], [0], [0]) == 3
    assert isinstance(splitter, sklearn.model_selection.BaseCrossValidator)


def test_seeds_matter_for_few_queries_of_different_lengths_too():
    qid = np.repeat(np.arange(10), range(10, 0, -1))
    partitions = {
        frozenset(
            frozenset(qid[test]) for _, test in QueryKFold(5, shuffle=True, random_state=seed).split(qid, groups=qid)
        )
        for seed in range(30)
    }
    assert len(partitions) > 15

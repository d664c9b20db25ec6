import itertools
from datetime import UTC, timedelta

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.utils.metadata_routing import get_routing_for_object

import skrank_metrics
from skrank_metrics import (
    PredefinedQuerySplit,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    make_ranking_scorer,
    ndcg_score,
    query_train_test_split,
    with_qid,
)

# The rows of the contract: 24 queries of 1 to 24 documents, interleaved, and a part for each query.
CONTRACT_QID = np.random.default_rng(3).permutation(np.repeat(np.arange(24), np.arange(1, 25)))
CONTRACT_Y = np.random.default_rng(4).integers(0, 3, len(CONTRACT_QID)) * (CONTRACT_QID % 4 > 0)
CONTRACT_X = np.random.default_rng(5).normal(size=(len(CONTRACT_QID), 2))
DAYS = np.datetime64("2026-03-01") + 5 * CONTRACT_QID % 24  # one per query
SPLITTERS = [
    QueryKFold(4),
    *[
        QueryKFold(4, stratify=by, shuffle=True, random_state=0)
        for by in ("relevance", "size", "both")
    ],
    QueryKFold(4, stratify="both"),
    RepeatedQueryKFold(3, n_repeats=2, stratify="relevance", random_state=0),
    QueryShuffleSplit(3, test_size=0.2, random_state=0),
    QueryShuffleSplit(3, test_size=2, train_size=5, random_state=0),
    QueryTimeSeriesSplit(3),
    QueryTimeSeriesSplit(3, gap=2, max_train_size=4, test_size=3),
    PredefinedQuerySplit(CONTRACT_QID % 5),
    PredefinedQuerySplit(CONTRACT_QID % 5, validation=True),
    QueryTimeSeriesSplit(3, time=DAYS, gap="3D", test_size=4),
]
every_splitter = pytest.mark.parametrize(
    "splitter", SPLITTERS, ids=lambda s: repr(s).replace("\n", "")[:70]
)


def as_lists(splits):
    return [(train.tolist(), test.tolist()) for train, test in splits]


def split_contract(splitter, X=CONTRACT_X, y=CONTRACT_Y, **ids):
    return as_lists(splitter.split(X, y, **(ids or {"qid": CONTRACT_QID})))


def queries_of(splitter):
    """The queries of each test part, of 24."""
    tests = [test for _, test in split_contract(splitter)]
    return [sorted(set(CONTRACT_QID[test].tolist())) for test in tests]


def refused(splitter, message, X=CONTRACT_X, y=CONTRACT_Y, error=ValueError, **ids):
    with pytest.raises(error, match=message):
        next(splitter.split(X, y, **ids))


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30), st.integers(2, 6), st.booleans())
@pytest.mark.option("QueryKFold.n_splits")
def test_every_fold_has_queries_and_every_row_is_tested_once(sizes, n_splits, shuffle):
    qid = np.repeat(np.arange(len(sizes)), sizes)
    splitter = QueryKFold(n_splits, shuffle=shuffle)
    if len(sizes) < n_splits:
        refused(
            splitter,
            "n_splits must be at most the number of queries; got n_splits=",
            qid,
            None,
            groups=qid,
        )
        return
    folds = list(splitter.split(qid, groups=qid))
    assert len(folds) == n_splits
    assert all(len(train) and len(test) for train, test in folds)
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested) == list(range(len(qid)))


def test_mixed_ids():
    ids = ["a", 1, "a", 2.0, "b", ("x", 1)]
    orders = ids, ids[::-1], [*ids[2:], *ids[:2]]
    folds = [
        [{rows[row] for row in test} for _, test in QueryKFold(3).split(rows, groups=rows)]
        for rows in orders
    ]
    assert folds[0] == folds[1] == folds[2]
    assert len(folds[0]) == 3


def test_seeds_matter_for_few_queries_of_different_lengths_too():
    qid = np.repeat(np.arange(10), range(10, 0, -1))
    splitters = [QueryKFold(5, shuffle=True, random_state=seed) for seed in range(30)]
    tests = [
        [frozenset(qid[test]) for _, test in splitter.split(qid, groups=qid)]
        for splitter in splitters
    ]
    assert len(set(map(frozenset, tests))) > 15


@every_splitter
@pytest.mark.option(
    "*.get_n_splits.X", "*.get_n_splits.y", "*.get_n_splits.groups", "*.get_n_splits.qid"
)
def test_every_splitter_keeps_queries_whole(splitter):
    assert isinstance(splitter, sklearn.model_selection.BaseCrossValidator)
    splits = list(splitter.split(CONTRACT_X, CONTRACT_Y, groups=CONTRACT_QID))
    assert (
        len(splits)
        == splitter.get_n_splits()
        == splitter.get_n_splits(X=[[0]], y=[0], groups=[0], qid=[0])
    )
    for train, test in splits:
        assert not set(CONTRACT_QID[train]) & set(CONTRACT_QID[test])
        for side in (train, test):
            assert len(side)
            assert (np.diff(side) > 0).all()
            assert np.isin(CONTRACT_QID, CONTRACT_QID[side]).sum() == len(side)
    assert as_lists(splitter.split(CONTRACT_X, CONTRACT_Y, groups=CONTRACT_QID)) == as_lists(splits)


def test_every_public_splitter_is_tested():
    public = {
        name
        for name in skrank_metrics.__all__
        if hasattr(getattr(skrank_metrics, name), "get_n_splits")
    }
    assert {type(splitter).__name__ for splitter in SPLITTERS} == public


@pytest.mark.parametrize("splitter", SPLITTERS[:8], ids=repr)
def test_what_is_not_prescribed_does_not_depend_on_the_order_of_rows(splitter):
    def sides(y, qid):
        return [
            [set(qid[rows]) for rows in split] for split in splitter.split(CONTRACT_X, y, qid=qid)
        ]

    order = np.random.default_rng(1).permutation(len(CONTRACT_QID))
    assert sides(CONTRACT_Y[order], CONTRACT_QID[order]) == sides(CONTRACT_Y, CONTRACT_QID)


@every_splitter
@pytest.mark.parametrize("way", ["groups", "qid", "index"])
@pytest.mark.option("*.split.groups", "*.split.qid", "*.split.y")
def test_every_splitter_finds_ids_inside_cross_validate(splitter, way):
    assert get_routing_for_object(splitter).split.requests == {"groups": True, "qid": True}
    folds = list(splitter.split(CONTRACT_X, CONTRACT_Y, groups=CONTRACT_QID))
    y = with_qid(CONTRACT_Y, CONTRACT_QID) if way == "index" else CONTRACT_Y
    params = None if way == "index" else {way: CONTRACT_QID}
    with sklearn.config_context(enable_metadata_routing=way != "index"):
        scorer = make_ranking_scorer("ndcg@5")
        done = cross_validate(
            Ridge(),
            CONTRACT_X,
            y,
            cv=splitter,
            scoring=scorer,
            params=params,
            return_indices=True,
            error_score="raise",
        )
    assert as_lists(
        zip(done["indices"]["train"], done["indices"]["test"], strict=True)
    ) == as_lists(folds)
    assert np.isfinite(done["test_score"]).all()


@every_splitter
def test_every_splitter_refuses_bad_ids(splitter):
    message = r"A query-aware split needs the query id .* and got none\. Pass with_qid\(y, qid\) as y, or .* groups="
    refused(splitter, message, error=TypeError)
    refused(splitter, "qid must have the same length as X", qid=CONTRACT_QID[1:])
    groups = np.where(
        np.arange(len(CONTRACT_QID)) == np.flatnonzero(CONTRACT_QID == 7)[-1], -1, CONTRACT_QID
    )
    message = "groups must be constant within a query; got 7 and -1 in query 7"
    refused(splitter, message, groups=groups, qid=CONTRACT_QID)
    refused(splitter, message, y=with_qid(CONTRACT_Y, CONTRACT_QID), groups=groups)
    refused(splitter, "inconsistent numbers of samples", y=CONTRACT_Y[1:], qid=CONTRACT_QID)
    refused(
        splitter,
        r"queries|samples|(parts|time) must have the same length as X",
        [[0]],
        [1],
        qid=["only"],
    )


OTHER_QID = np.random.default_rng(6).permutation(CONTRACT_QID)
ROWS, OTHERS = (
    pd.Index([f"row {n + first}" for n in range(len(CONTRACT_QID))]) for first in (0, 1)
)


@every_splitter
def test_every_splitter_refuses_ids_that_disagree(splitter):
    y = with_qid(CONTRACT_Y, CONTRACT_QID)
    assert split_contract(splitter, y=y, qid=CONTRACT_QID) == split_contract(splitter)
    refused(
        splitter,
        r"qid must agree with the index level 'qid' of y, which must be constant",
        y=y,
        qid=OTHER_QID,
    )
    refused(splitter, "groups must be constant within a query", y=y, groups=OTHER_QID)
    X = pd.DataFrame(CONTRACT_X, index=pd.Index(OTHER_QID, name="qid"))
    for labels, ids in ((y, {}), (CONTRACT_Y, {"qid": CONTRACT_QID}), (y, {"qid": CONTRACT_QID})):
        refused(splitter, r"must agree with the index level 'qid' of X, .* got", X, labels, **ids)


@every_splitter
def test_every_splitter_refuses_rows_out_of_step(splitter):
    X = pd.DataFrame(CONTRACT_X, index=ROWS)
    y = pd.Series(CONTRACT_Y, index=ROWS)
    qid = pd.Series(CONTRACT_QID, index=ROWS)
    expected = split_contract(splitter)
    assert (
        split_contract(splitter, X, y, qid=qid)
        == as_lists(splitter.split(X, with_qid(y, qid)))
        == expected
    )
    # Integers may be a default index, which says nothing, or a part of it in nested cross-validation.
    for labels in (y.set_axis(2 * np.arange(len(y))), y.reset_index(drop=True)):
        assert split_contract(splitter, X, labels, qid=qid) == expected
    out_of_step = [
        {"X": X.iloc[::-1], "y": y, "qid": CONTRACT_QID},
        {"X": X.iloc[::-1], "y": with_qid(y, qid)},
        {"X": X.set_axis(OTHERS), "y": y, "qid": CONTRACT_QID},
        {"X": X, "y": y, "qid": qid.iloc[::-1]},
        {"X": X, "y": y, "groups": qid.iloc[::-1]},
        {"X": X, "y": y, "groups": qid.set_axis(OTHERS)},
    ]
    for rows in out_of_step:
        refused(
            splitter,
            r"must have the same index as (X|y); got .* rows are taken by position",
            **rows,
        )


def test_train_test_split_takes_any_sequence():
    parts = query_train_test_split(
        range(3), (4, 5, 6), "abc", qid=[1, 2, 2], test_size=1, random_state=0
    )
    assert parts == [[0], [1, 2], [4], [5, 6], ["a"], ["b", "c"]]


def test_train_test_split_refuses_arrays_that_disagree():
    y = with_qid(CONTRACT_Y, CONTRACT_QID)
    X = pd.DataFrame(CONTRACT_X, index=ROWS)
    assert len(query_train_test_split(X, y, y, qid=CONTRACT_QID)) == 6
    cases = [
        ((CONTRACT_X, y), {"qid": OTHER_QID}, r"of arrays\[1\], which"),
        ((y, CONTRACT_X, with_qid(CONTRACT_Y, OTHER_QID)), {}, r"of arrays\[2\], which"),
        ((X.set_axis(pd.Index(OTHER_QID, name="qid")), y), {}, r"of arrays\[1\], which"),
    ]
    for arrays, ids, message in cases:
        with pytest.raises(
            ValueError, match=f"qid must agree with the index level 'qid' {message}"
        ):
            query_train_test_split(*arrays, **ids)
    with pytest.raises(
        ValueError, match=r"must have the same index as arrays\[0\]; got .* taken by position"
    ):
        query_train_test_split(X, qid=pd.Series(CONTRACT_QID, index=ROWS[::-1]))


@pytest.mark.parametrize(
    "make",
    [
        lambda random: QueryKFold(4, shuffle=True, random_state=random),
        lambda random: QueryKFold(4, shuffle=np.True_, stratify="both", random_state=random),
        lambda random: RepeatedQueryKFold(3, n_repeats=2, random_state=random),
        lambda random: QueryShuffleSplit(3, random_state=random),
    ],
)
@pytest.mark.option("QueryKFold.shuffle", "QueryKFold.random_state")
def test_a_generator_is_a_random_state(make):
    def splits(seed):
        return split_contract(make(np.random.default_rng(seed)))

    assert splits(0) == splits(0) != splits(1)
    generator = np.random.default_rng(0)  # goes on where it stopped, like a RandomState
    assert split_contract(make(generator)) == splits(0) != split_contract(make(generator))


@pytest.mark.parametrize(
    ("make", "tests"),
    [
        (lambda n, seed: QueryShuffleSplit(n_splits=n, random_state=seed), 1),
        (lambda n, seed: RepeatedQueryKFold(n_splits=3, n_repeats=n, random_state=seed), 3),
    ],
    ids=["QueryShuffleSplit", "RepeatedQueryKFold"],
)
@pytest.mark.option("QueryShuffleSplit.n_splits", "QueryShuffleSplit.random_state")
@pytest.mark.option(
    "RepeatedQueryKFold.n_splits", "RepeatedQueryKFold.n_repeats", "RepeatedQueryKFold.random_state"
)
def test_every_draw_is_another_one_and_repeats_with_its_seed(make, tests):
    splits = queries_of(make(4, seed=0))
    assert len(splits) == len(set(map(tuple, splits))) == 4 * tests
    assert queries_of(make(4, seed=0)) == splits
    assert queries_of(make(2, seed=0)) == splits[: 2 * tests]
    assert all(one not in splits for one in queries_of(make(4, seed=1)))
    assert queries_of(make(4, seed=None)) != queries_of(make(4, seed=None)), "None draws anew"


@pytest.mark.option("QueryShuffleSplit.random_state")
def test_over_many_shuffle_splits_each_query_is_tested_as_often_as_its_share():
    tested = np.bincount(
        np.concatenate(queries_of(QueryShuffleSplit(400, test_size=6, random_state=0))),
        minlength=24,
    )
    assert tested.sum() == 400 * 6
    # Of 400 draws with probability 1/4, the standard deviation is sqrt(400 * 1/4 * 3/4), about 8.7.
    assert abs(tested - 100).max() < 4 * 8.7


def test_repeats_are_folds_and_the_first_is_the_single_draw_of_the_same_seed():
    splits = queries_of(RepeatedQueryKFold(3, n_repeats=4, random_state=0))
    for first in range(0, 3 * 4, 3):
        tested = itertools.chain(*splits[first : first + 3])
        assert sorted(tested) == list(range(24))
    assert queries_of(QueryKFold(3, shuffle=True, random_state=0)) == splits[:3]


@pytest.mark.option("RepeatedQueryKFold.stratify")
def test_every_repeat_is_stratified():
    # Half of the queries have a relevant document; without stratifying, some folds get more of them than others.
    qid = np.arange(40)
    y = np.arange(40) < 20
    counts = {}
    for stratify in (None, "relevance"):
        splitter = RepeatedQueryKFold(4, n_repeats=5, stratify=stratify, random_state=0)
        splits = splitter.split(qid, y, qid=qid)
        counts[stratify] = {int(y[test].sum()) for _, test in splits}
    assert counts["relevance"] == {20 // 4}
    assert len(counts[None]) > 1


@pytest.mark.option(
    "PredefinedQuerySplit.split_in_three.groups", "PredefinedQuerySplit.split_in_three.y"
)
def test_the_three_parts_take_ids_as_split_does():
    splitter = PredefinedQuerySplit(CONTRACT_QID % 3)
    expected = [
        [np.flatnonzero(part == CONTRACT_QID % 3).tolist() for part in parts]
        for parts in ((1, 2, 0), (2, 0, 1), (0, 1, 2))  # train, validation, test
    ]
    for ids in (
        {"groups": CONTRACT_QID},
        {"qid": CONTRACT_QID},
        {"y": with_qid(CONTRACT_Y, CONTRACT_QID)},
    ):
        found = splitter.split_in_three(CONTRACT_X, **ids)
        assert [[rows.tolist() for rows in triple] for triple in found] == expected
    cut = np.where(np.arange(len(CONTRACT_QID)) % 2, CONTRACT_QID, -1)
    with pytest.raises(ValueError, match="groups must be constant within a query"):
        next(splitter.split_in_three(CONTRACT_X, qid=CONTRACT_QID, groups=cut))


@pytest.mark.option("query_train_test_split.qid", "query_train_test_split.random_state")
def test_train_test_split_holds_out_the_queries_that_the_seed_draws():
    qid = np.repeat(np.arange(20), 2)

    def held_out(ids, seed):
        return set(query_train_test_split(ids, qid=ids, random_state=seed)[1].tolist())

    assert held_out(qid, 0) == held_out(qid, 0) != held_out(qid, 1)
    assert len(held_out(qid, 0)) == 20 / 4
    # Twice as many queries of half the length: the unit is the query.
    assert len(held_out(np.arange(40), 0)) == 40 / 4
    draws = {frozenset(held_out(qid, None)) for _ in range(5)}
    assert len(draws) > 1, "None draws anew"


# The fold of each query in turn, as recorded before Generators were accepted.
SEEDED = [
    (QueryKFold(3, shuffle=True, random_state=0), "210100222110010212202110"),
    (
        QueryKFold(3, stratify="both", shuffle=True, random_state=RandomState(1)),
        "012210102010021022221101",
    ),
    (
        RepeatedQueryKFold(2, n_repeats=2, random_state=2),
        "010110100110011100100011 100101001110101100100101",
    ),
]


@pytest.mark.parametrize(("splitter", "expected"), SEEDED, ids=lambda value: type(value).__name__)
def test_seeds_give_the_folds_they_always_gave(splitter, expected):
    tests = iter(queries_of(splitter))
    for folds in expected.split():
        for fold in range(splitter.n_splits):
            expected = [query for query in range(24) if folds[query] == str(fold)]
            assert next(tests) == expected
    assert list(tests) == []


def test_seeds_give_the_parts_they_always_gave():
    assert queries_of(QueryShuffleSplit(2, test_size=4, random_state=3)) == [
        [12, 15, 17, 22],
        [2, 3, 17, 18],
    ]
    _, test = query_train_test_split(CONTRACT_QID, qid=CONTRACT_QID, random_state=4)
    assert sorted(set(test.tolist())) == [0, 3, 10, 12, 21, 22]


@pytest.fixture(scope="module")
def sparse_relevance():
    """Labels and ids of 3,000 queries of very different sizes, about a quarter of them without a relevant document."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(1, rng.lognormal(2.5, 1, 3000).astype(int))
    chance = np.repeat(rng.beta(0.6, 3, 3000), sizes)
    is_relevant = rng.random(len(chance)) < chance
    qid = np.repeat(np.arange(3000), sizes)
    return is_relevant.astype(int), qid


@pytest.mark.parametrize(
    "shuffle", [{}, {"shuffle": True, "random_state": 0}, {"shuffle": True, "random_state": 1}]
)
@pytest.mark.parametrize(("stratify", "error"), [(None, 0.01), ("relevance", 0.02), ("both", 0.02)])
@pytest.mark.option("QueryKFold.stratify")
def test_balances_queries_documents_and_relevance(stratify, error, shuffle, sparse_relevance):
    y, qid = sparse_relevance
    is_empty = np.bincount(qid, weights=y) == 0
    splitter = QueryKFold(5, stratify=stratify, **shuffle)
    tests = [test for _, test in splitter.split(y, y, groups=qid)]
    queries = [np.unique(qid[test]) for test in tests]
    documents = np.array([len(test) for test in tests])
    assert abs(documents / documents.mean() - 1).max() < error
    assert np.ptp([len(own) for own in queries]) <= 1
    if stratify:
        shares = np.array([y[test].mean() for test in tests])
        assert abs(shares / y.mean() - 1).max() < 0.04
        assert np.ptp([is_empty[own].sum() for own in queries]) <= 1


@pytest.mark.parametrize("stratify", ["relevance", "both"])
def test_any_label_above_0_is_relevant(stratify):
    y = [0.5, 0.5, 0.25, 0.25, 0, 0, 0, 0]
    qid = np.arange(8)
    for _, test in QueryKFold(4, stratify=stratify).split(qid, y, qid=qid):
        assert sorted(np.array(y)[test] > 0) == [False, True]


@pytest.mark.parametrize(("shuffle", "most"), [({}, 1), ({"shuffle": True, "random_state": 0}, 4)])
def test_balances_the_distribution_of_lengths(shuffle, most, sparse_relevance):
    _, qid = sparse_relevance
    sizes = np.bincount(qid)
    splitter = QueryKFold(5, stratify="size", **shuffle)
    splits = splitter.split(qid, groups=qid)
    queries = [np.unique(qid[test]) for _, test in splits]
    for length in np.unique(sizes):
        n_longer = [(sizes[own] >= length).sum() for own in queries]
        assert np.ptp(n_longer) <= most


def test_stratifying_by_relevance_needs_labels():
    qid = np.arange(6)
    splitter = QueryKFold(2, stratify="both")
    of_relevance = QueryKFold(2, stratify="relevance")
    message = "y must be an array with one entry per document; got Non"
    refused(of_relevance, message, qid, None, TypeError, groups=qid)
    for stratified in (of_relevance, splitter):  # without a relevant document, by length alone
        assert len(list(stratified.split(qid, np.zeros(6), groups=qid))) == 2
    refused(splitter, "y must be 1-D, one label per document", qid, np.zeros((6, 2)), groups=qid)
    refused(splitter, "y contains NaN, first at row 2", qid, [0, 1, np.nan, 0, 0, 0], groups=qid)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, (22, 3)),
        ({"test_size": 0.1}, (22, 3)),
        ({"test_size": 0.25}, (18, 7)),
        ({"test_size": 0.28}, (17, 8)),  # as in scikit-learn: 0.28 * 25 > 7
        ({"train_size": 0.25}, (6, 19)),
        ({"test_size": 4, "train_size": 0.5}, (12, 4)),
        ({"test_size": 4, "train_size": 0.75}, (18, 4)),  # 18.75, rounded down
        ({"train_size": np.int64(4)}, (4, 21)),
        ({"test_size": 0.9, "train_size": 0.1}, (2, 23)),
    ],
)
@pytest.mark.option("QueryShuffleSplit.test_size", "QueryShuffleSplit.train_size")
@pytest.mark.option("query_train_test_split.test_size", "query_train_test_split.train_size")
def test_sizes_are_in_queries(sizes, expected):
    qid = np.repeat(np.arange(25), np.arange(1, 26))
    for train, test in QueryShuffleSplit(3, **sizes, random_state=0).split(qid, qid=qid):
        assert (len(set(qid[train])), len(set(qid[test]))) == expected
    parts = query_train_test_split(qid, qid=qid, random_state=0, **sizes)
    assert tuple(len(set(part)) for part in parts) == (expected if sizes else (18, 7)), (
        "by default, it tests a quarter"
    )


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"test_size": 4}, "test_size=4 should be either positive and smaller than the number"),
        ({"train_size": 0.1}, "the resulting train set will be empty"),
        ({"test_size": 2, "train_size": 3}, "The sum of train_size and test_size = 5"),
        ({"test_size": 0}, "test_size=0 should be either positive"),
        ({"train_size": 1.5}, "train_size=1.5 should be either positive"),
        ({"test_size": float("nan")}, "cannot convert float NaN to integer"),
        ({"test_size": 0.1, "train_size": 0.95}, "The sum of test_size and train_size = 1.05"),
    ],
)
def test_no_side_may_be_empty(sizes, message):
    refused(QueryShuffleSplit(**sizes), message, range(4), None, qid=range(4))
    with pytest.raises(ValueError, match=message):
        query_train_test_split([1, 2, 3, 4], qid=range(4), **sizes)


def test_time_series_takes_queries_in_order_of_first_appearance():
    qid = np.array(list("cabcdef"))
    splitter = QueryTimeSeriesSplit(2, gap=1, max_train_size=2, test_size=1)
    splits = splitter.split(qid, qid=qid)
    names = [("".join(qid[train]), "".join(qid[test])) for train, test in splits]
    assert names == [("ab", "e"), ("bd", "f")]
    message = "Too many splits=2 for number of samples=6 with test_size=2 and gap=2"
    refused(QueryTimeSeriesSplit(2, test_size=2, gap=2), message, qid, None, qid=qid)


@pytest.mark.option(
    "QueryTimeSeriesSplit.n_splits",
    "QueryTimeSeriesSplit.gap",
    "QueryTimeSeriesSplit.max_train_size",
    "QueryTimeSeriesSplit.test_size",
)
def test_time_series_is_that_of_scikit_learn_for_queries_of_one_document():
    for params in ({}, {"gap": np.int64(2)}, {"max_train_size": 3}, {"test_size": 2, "gap": 1}):
        expected = sklearn.model_selection.TimeSeriesSplit(3, **params).split(np.zeros(23))
        splits = QueryTimeSeriesSplit(n_splits=3, **params).split(np.zeros(23), qid=range(23))
        assert as_lists(splits) == as_lists(expected)


def by_day(qid, time, **params):
    """The queries of each part, with days in March as times."""
    times = np.datetime64("2026-02-28") + np.array(time)
    splits = QueryTimeSeriesSplit(2, time=times, **params).split(qid, qid=qid)
    return [tuple("".join(sorted(set(np.array(qid)[rows]))) for rows in split) for split in splits]


@pytest.mark.option("QueryTimeSeriesSplit.time")
def test_with_times_queries_are_whole_and_trained_on_only_if_they_have_ended():
    assert by_day(list("dcab"), [4, 3, 1, 2], test_size=1) == [("ab", "c"), ("abc", "d")]
    # When "c" begins, on day 3, "a" and "b" have not ended.
    with pytest.raises(ValueError, match="leave a query that ends before each test part begins"):
        by_day(list("aabbcd"), [1, 3, 2, 6, 3, 6], test_size=1)
    assert by_day(list("aabbcde"), [1, 2, 2, 6, 3, 6, 7], test_size=1) == [
        ("ac", "d"),
        ("abcd", "e"),
    ]
    # Queries of the same time are ordered by their ids.
    assert by_day(list("fedcba"), [1, 1, 2, 2, 3, 3], test_size=1) == [("cdef", "a"), ("cdef", "b")]


@pytest.mark.option("QueryTimeSeriesSplit.gap")
@pytest.mark.parametrize(
    "gap", ["2D", "48h", timedelta(2), np.timedelta64(2, "D"), pd.Timedelta("2D")]
)
def test_a_gap_in_time(gap):
    qid = list("abcdefg")
    days = [1, 2, 5, 6, 7, 8, 9]
    assert by_day(qid, days, gap=gap, test_size=1) == [("abc", "f"), ("abcd", "g")]
    assert by_day(qid, days, gap=gap, test_size=1, max_train_size=2) == [("bc", "f"), ("cd", "g")]
    assert by_day(qid, days, gap=2, test_size=1) == [("abc", "f"), ("abcd", "g")], "of queries"


@pytest.mark.option("query_train_test_split.groups")
def test_a_test_set_holds_whole_users():
    user = CONTRACT_QID % 7
    labels = with_qid(CONTRACT_Y, CONTRACT_QID)
    parts = query_train_test_split(labels, user, groups=user, test_size=2, random_state=0)
    train_users, test_users = (set(part.tolist()) for part in parts[2:])
    assert (len(train_users), len(test_users)) == (5, 2)
    assert train_users.isdisjoint(test_users)
    by_query = query_train_test_split(labels, user, test_size=2, random_state=0)
    assert set(by_query[3].tolist()) & set(by_query[2].tolist())
    with pytest.raises(ValueError, match="groups must be constant within a query"):
        query_train_test_split(labels, groups=np.arange(len(user)))


@pytest.mark.option("with_qid.time")
@pytest.mark.parametrize("gap", [0, "1D"])
def test_labels_carry_the_times_through_a_search_in_a_search(gap):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2))
    qid = random.permutation(80) % 20
    y = random.integers(0, 3, 80)
    day = (random.permutation(20) + np.datetime64("2026-03-01"))[qid]
    in_search = {
        "scoring": make_ranking_scorer("ndcg@3"),
        "cv": QueryTimeSeriesSplit(2, gap=gap),
        "error_score": "raise",
    }
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 100]}, **in_search)
    found = cross_val_score(search, X, with_qid(y, qid, time=day), **in_search)
    expected = []
    for train, test in QueryTimeSeriesSplit(2, gap=gap, time=day).split(X, qid=qid):
        inner = QueryTimeSeriesSplit(2, gap=gap, time=day[train])
        search.set_params(cv=inner).fit(X[train], with_qid(y[train], qid[train]))
        expected.append(ndcg_score(y[test], search.predict(X[test]), qid=qid[test], k=3))
        assert day[train].max() < day[test].min()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_times_of_the_labels_and_of_the_splitter_must_agree():
    day = np.arange(6)
    labels = with_qid([1, 0] * 3, day, time=day)
    expected = as_lists(QueryTimeSeriesSplit(2).split(day, labels))
    assert as_lists(QueryTimeSeriesSplit(2, time=day).split(day, labels)) == expected
    with pytest.raises(ValueError, match=r"qid\.time must agree with the index level"):
        list(QueryTimeSeriesSplit(2, time=day[::-1]).split(day, labels))


def test_times_of_any_kind_give_the_same_splits():
    days = [f"2026-03-{day:02}" for day in (4, 4, 2, 1, 3, 5)]
    qid = [0, 0, 1, 2, 3, 4]
    zoned = pd.Series(pd.to_datetime(days)).dt.tz_localize(UTC)
    expected = as_lists(QueryTimeSeriesSplit(2, time=days, test_size=1).split(qid, qid=qid))
    assert expected == [([2, 3, 4], [0, 1]), ([0, 1, 2, 3, 4], [5])]
    compact = [day.replace("-", "") for day in days]
    hours = [f"2026-03-04T{day:02}:00" for day in (4, 4, 2, 1, 3, 5)]
    for times in (
        np.array(days, dtype="M8[D]"),
        pd.to_datetime(days),
        zoned,
        list(zoned),
        [moment.date() for moment in zoned],
        compact,
        hours,
        [4, 4, 2, 1, 3, 5],
    ):
        assert (
            as_lists(QueryTimeSeriesSplit(2, time=times, test_size=1).split(qid, qid=qid))
            == expected
        )


@pytest.mark.parametrize(
    ("splitter", "name"),
    [(lambda time: QueryTimeSeriesSplit(2, time=time), "time"), (PredefinedQuerySplit, "parts")],
)
def test_values_of_other_rows_are_refused(splitter, name):
    values = pd.Series(CONTRACT_QID % 5, index=ROWS)
    X = pd.DataFrame(CONTRACT_X, index=ROWS)
    message = f"{name} must have the same index as X; got "
    assert split_contract(splitter(values), X, None) == split_contract(splitter(CONTRACT_QID % 5))
    refused(
        splitter(values.iloc[::-1]),
        f"{message}the same labels in different",
        X,
        None,
        qid=CONTRACT_QID,
    )
    refused(
        splitter(values.set_axis(OTHERS)), f"{message}different labels", X, None, qid=CONTRACT_QID
    )
    refused(
        splitter(values[1:]),
        r"inconsistent numbers of samples: \[300, 299\]",
        X,
        None,
        qid=CONTRACT_QID,
    )


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1, 2, np.nan, 3], "time must not be missing; got nan at row 2"),
        (np.array([1, 2, 3, np.inf]), "time must not be missing; got inf at row 3"),
        (
            pd.to_datetime(["2026-01-01", None, "2026-01-02", "2026-01-03"]),
            "missing; got NaT at row 1",
        ),
        (["yesterday", "today", "now", "later"], "yesterday is not ISO8601"),
    ],
)
def test_bad_times(time, message):
    refused(QueryTimeSeriesSplit(2, time=time, test_size=1), message, range(4), None, qid=range(4))


@pytest.mark.option("PredefinedQuerySplit.validation", "PredefinedQuerySplit.split_in_three.qid")
def test_the_folds_of_mslr():
    qid = np.repeat(np.arange(10), 3)
    parts = np.char.add("S", (qid % 5 + 1).astype(str))
    triples = PredefinedQuerySplit(parts).split_in_three(qid, qid=qid)
    found = [
        tuple("".join(sorted({p[1] for p in parts[rows]})) for rows in triple) for triple in triples
    ]
    assert found == [
        ("234", "5", "1"),
        ("345", "1", "2"),
        ("145", "2", "3"),
        ("125", "3", "4"),
        ("123", "4", "5"),
    ]
    left = [
        set(parts[train])
        for train, _ in PredefinedQuerySplit(parts, validation=True).split(qid, qid=qid)
    ]
    assert left == [{f"S{part}" for part in train} for train, _, _ in found]


def test_a_query_in_two_parts():
    message = "parts must be constant within a query; got 1 and 2 in query .b."
    refused(PredefinedQuerySplit([1, 1, 2]), message, [[0]] * 3, None, qid=["a", "b", "b"])
    with pytest.raises(ValueError, match="at least 3 different parts to split in three; got 2"):
        next(PredefinedQuerySplit([1, 2]).split_in_three([[0]] * 2, qid=["a", "b"]))


def test_train_test_split_keeps_types_and_takes_whole_queries():
    n = len(CONTRACT_QID)
    frame = pd.DataFrame({"row": np.arange(n)})
    arrays = (
        CONTRACT_X,
        frame,
        frame["row"],
        sparse.csr_array(np.arange(n)[:, None]),
        list(range(n)),
        CONTRACT_QID,
    )
    parts = query_train_test_split(*arrays, qid=CONTRACT_QID, random_state=0)
    assert len(parts) == 12
    for array, train, test in zip(arrays, parts[::2], parts[1::2], strict=True):
        assert type(train) is type(test) is type(array)
    rows = parts[8]
    assert rows == sorted(rows)
    assert (
        parts[2]["row"].tolist() == parts[4].tolist() == parts[6].toarray().ravel().tolist() == rows
    )
    assert np.array_equal(parts[0], CONTRACT_X[rows])
    assert not set(parts[10]) & set(parts[11])
    assert len(set(parts[10])) == 18
    assert len(set(parts[11])) == 6


def test_train_test_split_finds_ids_in_an_index():
    y = with_qid(CONTRACT_Y, CONTRACT_QID)
    _, _, y_train, y_test = query_train_test_split(CONTRACT_X, y, random_state=0)
    expected = query_train_test_split(CONTRACT_QID, qid=CONTRACT_QID, random_state=0)
    assert [y_train.index.tolist(), y_test.index.tolist()] == [part.tolist() for part in expected]
    with pytest.raises(TypeError, match="needs the query id of each document"):
        query_train_test_split(CONTRACT_X)
    with pytest.raises(TypeError, match="at least one array to split; got none"):
        query_train_test_split(qid=CONTRACT_QID)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        query_train_test_split(CONTRACT_X, [1], qid=CONTRACT_QID)
    with pytest.raises(TypeError, match=r"arrays\[1\] must have one row per document; got None"):
        query_train_test_split(CONTRACT_X, None, qid=CONTRACT_QID)


def split_by(time, **params):
    return next(
        QueryTimeSeriesSplit(2, test_size=1, time=time, **params).split([[0]] * 3, qid=[1, 2, 3])
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: QueryKFold(1), ValueError, "n_splits must be an int >= 2; got 1"),
        (lambda: QueryKFold(shuffle="yes"), TypeError, "shuffle must be True or False"),
        (
            lambda: QueryKFold(random_state=0),
            ValueError,
            "random_state must be None if shuffle=False",
        ),
        (
            lambda: QueryKFold(stratify="sizes"),
            ValueError,
            "stratify must be one of .* Did you mean 'size'",
        ),
        (
            lambda: QueryShuffleSplit(random_state="a"),
            TypeError,
            r"random_state must be an int .*; got 'a' \(str",
        ),
        (
            lambda: QueryKFold(shuffle=True, random_state="a"),
            TypeError,
            "random_state must be an int",
        ),
        (
            lambda: RepeatedQueryKFold(n_repeats=0),
            ValueError,
            "n_repeats must be an int >= 1; got 0",
        ),
        (lambda: QueryShuffleSplit(0), ValueError, "n_splits must be an int >= 1; got 0"),
        (
            lambda: QueryTimeSeriesSplit(test_size=0),
            ValueError,
            "test_size must be an int >= 1 or None; got 0",
        ),
        (lambda: QueryTimeSeriesSplit(gap=-1), ValueError, "gap must be an int >= 0; got -1"),
        (
            lambda: list(QueryTimeSeriesSplit(gap="7D").split(range(6), qid=range(6))),
            ValueError,
            "a number of queries unless time= holds dates; got '7D",
        ),
        (
            lambda: QueryTimeSeriesSplit(gap="a week", time=DAYS),
            ValueError,
            "a duration >= 0; got 'a week'",
        ),
        (
            lambda: QueryTimeSeriesSplit(gap=timedelta(-1), time=DAYS),
            ValueError,
            "a duration >= 0; got",
        ),
        (
            lambda: QueryTimeSeriesSplit(gap=np.timedelta64("NaT", "D"), time=DAYS),
            ValueError,
            "a duration >= 0; got",
        ),
        (
            lambda: split_by([1, 2, 3], gap="7D"),
            ValueError,
            "a number of queries unless time= holds dates; got '7D'",
        ),
        (
            lambda: split_by([[1, 1]] * 3),
            ValueError,
            r"one time per row; got shape \(3, 2\) with 3 rows",
        ),
        (
            lambda: split_by(["today", "x", "y"]),
            ValueError,
            "today is not ISO8601|x is not ISO8601",
        ),
        (
            lambda: split_by(["2020-01-25", "2020-01-31", "1580515200"]),
            ValueError,
            "1580515200 is not ISO8601",
        ),
        (
            lambda: QueryTimeSeriesSplit(max_train_size=0.5),
            TypeError,
            "max_train_size must be an int >= 1 or None",
        ),
        (
            lambda: PredefinedQuerySplit([1, 1]),
            ValueError,
            "parts must hold at least 2 different parts",
        ),
        (
            lambda: PredefinedQuerySplit([1, 2], validation=True),
            ValueError,
            "must hold at least 3 different parts",
        ),
        (lambda: PredefinedQuerySplit([1, None]), ValueError, "parts must not hold missing"),
        (
            lambda: PredefinedQuerySplit([]),
            ValueError,
            r"parts must hold the part of each row; got \[\]",
        ),
        (
            lambda: PredefinedQuerySplit(5),
            ValueError,
            "parts must hold the part of each row; got 5",
        ),
        (
            lambda: PredefinedQuerySplit("ab"),
            TypeError,
            "parts got the text 'ab'. Pass the column",
        ),
    ],
)
def test_bad_parameters(make, error, message):
    with pytest.raises(error, match=message):
        make()

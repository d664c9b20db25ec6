import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrank_metrics.splitters import query_fold

IDS = np.array([5, 3, 5, 2**40, -1, 3])


@pytest.mark.parametrize("kind", [np.int64, float, object, pd.Series, pl.Series, pa.array, list])
def test_folds_do_not_depend_on_the_type_of_ids(kind):
    ids = IDS.astype(kind) if kind in (np.int64, float, object) else kind(IDS)
    np.testing.assert_array_equal(query_fold(ids, 7), query_fold(IDS, 7))
    texts = IDS.astype(str)
    given = texts.astype(object) if kind in (np.int64, float, object) else kind(texts.tolist())
    np.testing.assert_array_equal(query_fold(given, 7), query_fold(texts, 7))


def test_a_tuple_is_one_id():
    ids = [("a", 1), ("a", 2), ("b", 1), ("a", 2)]
    folds = query_fold(ids, 1000).tolist()
    assert len(set(folds)) == 3
    assert folds[1] == folds[3]
    for same in (tuple(ids), pd.Series(ids), pd.MultiIndex.from_tuples(ids)):
        assert query_fold(same, 1000).tolist() == folds


def test_folds_depend_on_each_id_alone(rng):
    ids = rng.integers(0, 500, 2000)
    folds = query_fold(ids, 5)
    some = rng.permutation(2000)[:300]
    np.testing.assert_array_equal(query_fold(ids[some], 5), folds[some])
    assert len(set(zip(ids, folds, strict=True))) == len(set(ids))


@pytest.mark.option("query_fold.seed")
def test_folds_are_of_similar_size_and_independent_between_seeds():
    ids = np.arange(10_000)
    counts = np.zeros((4, 4))
    np.add.at(counts, (query_fold(ids, 4, seed=1), query_fold(ids, 4, seed=2)), 1)
    # 16 cells of 625 queries with a standard deviation of 24 each.
    assert abs(counts - 625).max() < 4 * 25


def test_folds_never_change():
    # As any change would move queries from training to test sets.
    assert query_fold([7, 8, 9, 10, "7", "query-0012"], 100).tolist() == [71, 98, 91, 5, 84, 68]
    assert query_fold(np.array(["2001-02-03"], dtype="M8[D]"), 100, seed=5).tolist() == [37]


def test_the_largest_number_of_folds_and_seed():
    folds = query_fold(np.arange(1000), 2**32 - 1, seed=2**32 - 1)
    assert 0.4 < folds.mean() / 2**32 < 0.6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], 1), "n_folds must be an int >= 2; got 1"),
        (([1, 2], 2**32), "n_folds and seed must be below"),
        (([1, 2], 2, -1), "seed must be an int >= 0; got -1"),
        (([1, 2], 2, 2**32), "n_folds and seed must be below"),
        (([1.0, np.nan], 2), "qid must not hold missing ids; got nan at row 1"),
        (([], 2), "qid must hold at least one value; got none"),
        ((None, 2), "qid must be 1-D, one value per document; got shape"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        query_fold(*arguments)

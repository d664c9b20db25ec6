import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from skrank_metrics import QueryRanker, qid_from_sizes, with_qid


@pytest.mark.option("qid_from_sizes.first")
def test_ids_of_sizes_number_on():
    np.testing.assert_array_equal(qid_from_sizes([2, 1, 3]), [0, 0, 1, 2, 2, 2])
    np.testing.assert_array_equal(qid_from_sizes((1, 2), first=3), [3, 4, 4])
    np.testing.assert_array_equal(qid_from_sizes(np.array([2.0, 0.0, 1.0])), [0, 0, 2])  # as np.loadtxt reads them
    assert qid_from_sizes(np.array([200, 200], dtype=np.uint8)).tolist() == [0] * 200 + [1] * 200


def test_train_and_test_that_number_on_share_no_ids():
    rng = np.random.default_rng(0)
    train, test = [3] * 20, [4] * 10
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 3, 100)
    ranker = QueryRanker(Ridge()).fit(X[:60], y[:60], qid=qid_from_sizes(train))
    with pytest.warns(UserWarning, match=r"make them differ: qid_from_sizes\(sizes, first=...\)"):
        ranker.score(X[60:], y[60:], qid=qid_from_sizes(test))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.score(X[60:], y[60:], qid=qid_from_sizes(test, first=len(train)))


@pytest.mark.parametrize(
    ("sizes", "first", "error", "message"),
    [
        ([2, -1], 0, ValueError, r"sizes must be 1-D and hold whole numbers >= 0, one per query; got \[2, -1\]"),
        ([2, 0.5], 0, ValueError, "sizes must be 1-D and hold whole numbers"),
        ([2, np.nan], 0, ValueError, "sizes must be 1-D and hold whole numbers"),
        ([2, np.inf], 0, ValueError, "sizes must be 1-D and hold whole numbers"),
        ([[2, 1]], 0, ValueError, "sizes must be 1-D and hold whole numbers"),
        ([], 0, ValueError, "sizes must hold at least one"),
        (["2"], 0, TypeError, "sizes must hold real numbers"),
        ([2], -1, ValueError, "first must be an int >= 0; got -1"),
        ([2], 1.0, TypeError, "first must be an int >= 0; got 1.0"),
        ([2, 1], 2**63 - 2, ValueError, "first must leave ids of all queries within int64"),
        ([2, 1], 2**63 - 1, ValueError, "first must leave ids of all queries within int64, .* got 9223372036854775807"),
    ],
)
def test_bad_sizes(sizes, first, error, message):
    with pytest.raises(error, match=message):
        qid_from_sizes(sizes, first=first)


def test_the_largest_ids():
    assert qid_from_sizes([1, 1], first=2**63 - 3).tolist() == [2**63 - 3, 2**63 - 2]


@pytest.mark.parametrize(
    "container", [pd.Categorical, pd.CategoricalIndex, lambda ids: pd.Series(ids, dtype="category")]
)
def test_categories_stay_categories(container):
    y = with_qid([1, 0, 2], container(["b", "a", "b"]))
    assert isinstance(y.index, pd.CategoricalIndex)
    assert y.index.name == "qid"
    assert y.index.tolist() == ["b", "a", "b"]
    labelled = with_qid(pd.Series([1, 0, 2], index=["x", "y", "z"]), pd.Categorical(["b", "a", "b"]))
    assert isinstance(labelled.index.get_level_values("qid"), pd.CategoricalIndex)


def test_the_name_of_the_labels_stays():
    assert with_qid(pd.Series([1, 0], name="grade"), ["a", "b"]).name == "grade"
    assert with_qid([1, 0], ["a", "b"]).name is None

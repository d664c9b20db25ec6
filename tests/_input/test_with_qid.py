import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from skrank_metrics import QueryRanker, ndcg_score, qid_from_sizes, with_qid

ROOT = Path(__file__).parents[2]


def test_ids_of_sizes():
    np.testing.assert_array_equal(qid_from_sizes([2, 1, 3]), [0, 0, 1, 2, 2, 2])
    np.testing.assert_array_equal(
        qid_from_sizes(np.array([2.0, 0.0, 1.0])), [0, 0, 2]
    )  # as np.loadtxt reads them
    sizes = np.array([200, 200], dtype=np.uint8)
    assert qid_from_sizes(sizes).tolist() == [0] * 200 + [1] * 200


def test_train_and_test_that_number_on_share_no_ids():
    rng = np.random.default_rng(0)
    train = [3] * 20
    test = [4] * 10
    X = rng.normal(size=(100, 2))
    y = rng.integers(0, 3, 100)
    qid_of_train = qid_from_sizes(train)
    ranker = QueryRanker(Ridge()).fit(X[:60], y[:60], qid=qid_of_train)
    with pytest.warns(
        UserWarning, match=r"make them differ: qid_from_sizes\(sizes\) \+ len\(train_sizes\)"
    ):
        ranker.score(X[60:], y[60:], qid=qid_from_sizes(test))
    ranker.score(X[60:], y[60:], qid=qid_from_sizes(test) + len(train))  # and does not warn


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        (
            [2, -1],
            ValueError,
            r"sizes must be 1-D and hold whole numbers >= 0, one per query; got \[2, -1\]",
        ),
        ([2, 0.5], ValueError, "sizes must be 1-D and hold whole numbers"),
        ([2, np.nan], ValueError, "sizes must be 1-D and hold whole numbers"),
        ([2, np.inf], ValueError, "sizes must be 1-D and hold whole numbers"),
        ([[2, 1]], ValueError, "sizes must be 1-D and hold whole numbers"),
        ([], ValueError, "sizes must hold at least one"),
        (["2"], TypeError, "sizes must hold real numbers"),
    ],
)
def test_bad_sizes(sizes, error, message):
    with pytest.raises(error, match=message):
        qid_from_sizes(sizes)


@pytest.mark.parametrize(
    "container", [pd.Categorical, pd.CategoricalIndex, lambda ids: pd.Series(ids, dtype="category")]
)
def test_categories_stay_categories(container):
    y = with_qid([1, 0, 2], container(["b", "a", "b"]))
    assert isinstance(y.index, pd.CategoricalIndex)
    assert y.index.name == "qid"
    assert y.index.tolist() == ["b", "a", "b"]
    labelled = with_qid(
        pd.Series([1, 0, 2], index=["x", "y", "z"]), pd.Categorical(["b", "a", "b"])
    )
    assert isinstance(labelled.index.get_level_values("qid"), pd.CategoricalIndex)


def test_labels_that_carry_other_ids_are_refused():
    labels = with_qid([1, 0, 2], ["a", "b", "b"])
    assert with_qid(labels, [5, 6, 6]).index.tolist() == [
        5,
        6,
        6,
    ]  # other names of the same queries
    with pytest.raises(
        ValueError,
        match=r"qid must agree with the index level 'qid' of y, .* got a and b in query",
    ):
        with_qid(labels, ["a", "a", "b"])


def test_all_levels_of_an_index_stay_after_the_others():
    rows = pd.MultiIndex.from_arrays([["x", "y"], [7, 8]], names=["shop", "item"])
    y = pd.Series([1, 0], index=rows)
    index = with_qid(y, ["a", "b"], judged=[True, False]).index
    assert index.names == ["qid", "judged", "shop", "item"]
    assert index.tolist() == [("a", True, "x", 7), ("b", False, "y", 8)]


def test_the_name_of_the_labels_stays():
    assert with_qid(pd.Series([1, 0], name="grade"), ["a", "b"]).name == "grade"
    assert with_qid([1, 0], ["a", "b"]).name is None


def test_arguments_that_look_swapped():
    with pytest.raises(TypeError, match=r"Call with_qid\(y, qid\), the labels first"):
        with_qid(["a", "a", "b"], [1, 0, 2])
    with pytest.raises(TypeError, match=r"Pass the column, df\['query'\]"):
        with_qid([1, 0], "query")
    ids = np.repeat(np.arange(50), 4)
    grades = np.tile([0, 1, 2, 4], 50)
    with pytest.warns(UserWarning, match="qid has only 4 different values.*and y has 50"):
        with_qid(ids, grades)
    with_qid(grades, ids)
    with_qid(np.arange(200) / 7, np.arange(200) // 40)  # few queries, and labels of any number
    with_qid(np.arange(40), np.arange(40) // 10)


@pytest.mark.parametrize("ids", [list("bbac"), [1, 0, 0, 0], [0, 1, 1, 1]])
def test_counts_of_ids_are_no_sizes_in_the_order_of_the_rows(ids):
    # The ids 1, 0, 0, 0 are counted as 3 and 1, but their first row is a query of its own.
    column = pd.Series(ids, name="q")
    counts = [column.value_counts(), column.to_frame().groupby("q").size()]
    counts += [column.groupby(column.to_numpy()[::-1]).size()[::-1]]
    for sizes in counts:
        with pytest.raises(ValueError, match="Pass these ids as qid, one per row"):
            qid_from_sizes(sizes)
    assert qid_from_sizes(pd.Series([1, 3])).tolist() == [0, 1, 1, 1]


def test_times_are_instants_or_numbers_in_the_index():
    zoned = pd.Series(pd.to_datetime(["2026-03-01 12:00", "2026-03-02 12:00"])).dt.tz_localize(
        "America/Lima"
    )
    labels = with_qid(pd.Series([1, 0], index=["x", "y"]), ["a", "b"], time=list(zoned))
    assert labels.index.names == ["qid", "qid.time", None]
    found = labels.index.get_level_values("qid.time")
    # Lima is five hours behind UTC.
    assert found.tolist() == [pd.Timestamp("2026-03-01 17:00"), pd.Timestamp("2026-03-02 17:00")]
    again = with_qid(labels[::-1], ["b", "a"], time=None)
    assert again.index.get_level_values("qid.time").tolist() == found.tolist()[::-1]
    numbers = with_qid([1, 0], ["a", "b"], time=np.array([3, 4], dtype=np.int8))
    assert numbers.index.get_level_values("qid.time").tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1.0], "time must have the same length as y|one time per row"),
        ([1.0, np.nan], "time must not be missing; got nan at row 1"),
    ],
)
def test_times_that_cannot_be(time, message):
    with pytest.raises(ValueError, match=message):
        with_qid([1, 0], ["a", "b"], time=time)


def test_labels_may_be_numbers_in_an_array_of_objects():
    mixed = np.array([np.float32(0.5), 3, True], dtype=object)
    labels = with_qid(mixed, [7, 7, 9])
    assert ndcg_score(labels, [3, 2, 1]) == ndcg_score([0.5, 3, 1], [3, 2, 1], qid=[7, 7, 9])
    with pytest.raises(TypeError, match="got text and numbers"):
        with_qid(np.array(["u1", "u1", "u2"], dtype=object), [2, 0, 1])


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'skrank-metrics\[pandas\]'") as error:
        with_qid([1, 0], ["a", "a"])
    assert "sklearn.set_config(enable_metadata_routing=True)" in str(error.value)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["pandas"] == ["pandas>=2.1"]

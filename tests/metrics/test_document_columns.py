"""Metrics of a user's function of one ranked list and columns of its documents."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrank_metrics import (
    evaluate,
    evaluate_run,
    get_metric,
    make_metric,
    with_qid,
)

documents = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
small_tables = st.lists(documents, min_size=1, max_size=12).map(lambda rows: np.array(rows).T)


def revenue(labels, price, k=None):
    return (labels * price)[:k].sum()


TAKINGS = make_metric(revenue, documents=["price"])


def test_columns_of_documents_come_in_ranked_order():
    rows = {"y_true": [0, 1, 1, 0, 1], "y_score": [1, 3, 2, 1, 2], "qid": [0, 0, 0, 1, 1], "k": 1}
    price = [10, 20, 30, 40, 50]
    for column in (np.array, pd.Series, pl.Series):
        values = TAKINGS(**rows, documents={"price": column(price)}, average=None)
        assert values.tolist() == [20, 50]
    for frame in (pd.DataFrame, pa.table):
        assert get_metric(TAKINGS)(**rows, documents=frame({"price": price})) == (20 + 50) / 2
    copied = pickle.loads(pickle.dumps(TAKINGS))
    assert copied(**rows, documents={"price": price}) == (20 + 50) / 2


def test_columns_of_documents_have_the_shape_of_the_labels():
    columns = {"price": [[1, 2], [3, 4]]}
    values = TAKINGS([[0, 1], [1, 0]], [[1, 2], [2, 1]], documents=columns, average=None)
    assert values.tolist() == [2, 3]


def test_texts_are_passed_as_they_are():
    seen = []

    def look(labels, text):
        seen.extend(text)
        return 1

    texts = make_metric(look, documents=["text"])
    texts([[1, 0, 0]], [[3, 2, 1]], documents={"text": [["a\0", "a", "b"]]})
    assert seen == ["a\0", "a", "b"]


def test_columns_of_documents_follow_rows_in_any_order():
    rows = np.array([[0, 1, 1, 0, 1], [1, 3, 2, 1, 2], [0, 0, 0, 1, 1], [10, 20, 30, 40, 50]])
    y_true, y_score, qid, price = rows[:, [4, 0, 3, 2, 1]]
    columns = {"price": price}
    values = TAKINGS(y_true, y_score, qid=qid, k=1, documents=columns, average=None)
    assert values.tolist() == [50, 20]


@pytest.mark.option("make_metric.documents")
@given(table=small_tables, seed=st.integers(0, 99), k=st.sampled_from([None, 1, 2]))
def test_columns_of_tied_documents_take_all_orders_with_the_labels(table, seed, k):
    y_true, y_score, qid = table
    colour = np.random.default_rng(seed).choice(["red", "blue"], len(qid))
    pair = make_metric(first_hit, name="pair", documents=["colour"])
    got = pair(y_true, y_score, qid=qid, k=k, documents={"colour": colour}, average=None)
    for value, query in zip(got, dict.fromkeys(qid.tolist()), strict=True):
        rows = np.flatnonzero(qid == query)
        if len(rows) > 7:
            continue
        orders = np.array(list(itertools.permutations(rows)))
        allowed = (np.diff(y_score[orders], axis=1) <= 0).all(axis=1)
        values = [first_hit(y_true[order], colour[order], k) for order in orders[allowed]]
        assert value == pytest.approx(np.mean(values), abs=1e-12)


def first_hit(labels, colour, k=None):
    """Depends on labels and colours in a way that no product of the two gives."""
    red = np.flatnonzero((colour[:k] == "red") & (labels[:k] > 0))
    if not len(red):
        return labels[0] / 2
    return 1 / (1 + red[0]) + labels[-1]


def test_columns_of_unranked_documents_follow_the_ranked_ones():
    seen = {}

    def look(labels, price, unranked=()):
        seen.update(labels=labels.tolist(), price=price.tolist(), unranked=unranked.tolist())
        with pytest.raises(ValueError, match="read-only"):
            price[0] = 0
        return 1.0

    rows = [[2, 0, 1, 3]], [[1, 4, 3, 2]]
    retrieved, price = [[True, False, True, True]], [["a", "b", "c", "d"]]
    make_metric(look, documents=["price"])(*rows, retrieved=retrieved, documents={"price": price})
    assert seen == {"labels": [1, 3, 2], "price": ["c", "d", "a", "b"], "unranked": [0]}


def test_labels_settle_ties_and_leave_those_of_equal_labels_open():
    rows = {
        "y_true": [[1, 0, 1, 1]],
        "y_score": [[5, 5, 5, 6]],
        "documents": {"price": [[1, 2, 4, 8]]},
        "k": 2,
    }
    assert [TAKINGS(**rows, ties=ties) for ties in ("best", "worst", "stable")] == [
        8 + (1 + 4) / 2,
        8 + 0,
        8 + 1,
    ]


def test_columns_of_documents_neither_ranked_nor_judged_are_left_out_with_them():
    known = {"retrieved": [[False, True, True]], "judged": [[False, True, True]]}
    assert TAKINGS([[0, 1, 1]], [[9, 2, 1]], **known, documents={"price": [[5, 2, 3]]}, k=1) == 2


def test_tied_documents_with_entries_that_cannot_be_hashed_take_all_orders():
    first = make_metric(lambda labels, sale: sale[0]["price"], name="first", documents=["sale"])
    sales = np.array([[{"price": 1}, {"price": 4}]])
    assert first([[1, 1]], [[2, 2]], documents={"sale": sales}) == (1 + 4) / 2


def test_missing_and_unfit_columns():
    rows = {"y_true": [1, 0], "y_score": [1, 2], "qid": [1, 1]}
    with pytest.raises(
        ValueError, match=r"^metric 'revenue' needs documents=\.\.\. with the column 'price'\.$"
    ):
        TAKINGS(**rows)
    with pytest.raises(ValueError, match=r"needs documents=.* with the column 'price'"):
        evaluate(**rows, metrics=["map", TAKINGS])
    with pytest.raises(
        ValueError, match=r"documents\['price'\] must have the same shape as y_true; got \(3,\)"
    ):
        TAKINGS(**rows, documents={"price": [1, 2, 3]})
    labels, price = pd.Series([1, 0], index=[8, 9]), pd.Series([1, 0], index=[9, 8])
    with pytest.raises(
        ValueError, match=r"documents\['price'\] must have the same index as y_true"
    ):
        TAKINGS(**{**rows, "y_true": labels}, documents={"price": price})
    with pytest.raises(TypeError, match="documents must be a dict or a frame of columns; got list"):
        TAKINGS(**rows, documents=[1, 2])
    first = make_metric(lambda labels: labels[0], name="first")
    with pytest.raises(TypeError, match=r"unexpected parameter 'documents'"):
        first(**rows, documents={"price": [1, 2]})


def n_tags(labels, tags, k=None):
    return float(sum(map(len, tags)))


TAGS = make_metric(n_tags, documents=["tags"], undefined="no document")


@pytest.mark.parametrize("kind", [list, tuple, np.array])
@pytest.mark.parametrize("tags", [["x", "xy", "", "z"], ["x", "y", "u", "z"]])
def test_lists_per_document_stay_objects(kind, tags):
    columns = {"tags": [kind(list(one)) for one in tags]}
    labels, scores, qid = [1, 0, 0, 1], [4, 3, 2, 1], [1, 1, 2, 2]
    found = TAGS(labels, scores, qid=qid, documents=columns, average=None)
    first, second, third, fourth = map(len, tags)
    expected = [first + second, third + fourth]
    assert found.tolist() == expected
    if kind is tuple:  # index levels are hashable
        y = with_qid(labels, qid, documents=columns)
        from_index = TAGS(y, scores, average=None)
        both = TAGS(y, scores, documents=columns, average=None)
        assert from_index.tolist() == both.tolist() == expected


LARGE = 2**60 + 1
ROUNDED = {
    "pandas": pd.Series([LARGE, None], dtype="Int64"),
    "array of pandas": pd.array([LARGE, None], dtype="Int64"),
    "Arrow in pandas": pd.Series([LARGE, None], dtype=pd.ArrowDtype(pa.int64())),
    "polars": pl.Series([LARGE, None]),
    "Arrow": pa.array([LARGE, None]),
    "chunks of Arrow": pa.chunked_array([[LARGE, None]]),
    "list": [LARGE, 0.5],
}


@pytest.mark.parametrize("kind", ROUNDED)
def test_large_integers_are_not_rounded_because_others_are_missing(kind):
    column, message = ROUNDED[kind], rf"^documents\['tags'\] must hold integers within .* {LARGE}"
    with pytest.raises(ValueError, match=message):
        evaluate([1, 0], [2, 1], qid=[1, 1], metrics=TAGS, documents={"tags": column})
    if kind in ("pandas", "Arrow in pandas", "polars"):
        frame = pl.DataFrame if kind == "polars" else pd.DataFrame
        documents = frame({"item": ["a", "b"], "tags": column})
        with pytest.raises(ValueError, match=message):
            evaluate_run({1: ["a"]}, {1: ["a", "b"]}, TAGS, documents=documents)


def test_a_dict_by_document_does_not_round_large_integers():
    with pytest.raises(ValueError, match=r"^documents\['tags'\] must hold integers within"):
        evaluate_run({1: ["a"]}, {1: ["a", "b"]}, TAGS, documents={"tags": {"a": LARGE, "b": 0.5}})


def test_masked_columns_of_documents_are_refused():
    column = np.ma.array([1, 2], mask=[0, 1])
    with pytest.raises(ValueError, match=r"^documents\['tags'\] must not be masked; got 1 masked"):
        evaluate([1, 0], [2, 1], qid=[1, 1], metrics=TAGS, documents={"tags": column})

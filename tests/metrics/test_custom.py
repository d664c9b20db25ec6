"""Metrics made of a user's function of one ranked list."""

import fractions
import functools
import inspect
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from support import reference
from test_contract import TIES

from skrank_metrics import (
    builtin_metric,
    evaluate,
    evaluate_run,
    get_metric,
    lightgbm_metric,
    make_metric,
    make_ranking_scorer,
    recall_at_k_score,
    with_qid,
    xgboost_metric,
)


def hits_until(labels, k=None, *, weight=1.0, relevance_threshold=1):
    """Weighted share of the relevant documents
    that are in the first k.
    """
    hits = labels >= relevance_threshold
    return weight * hits[:k].sum() / hits.sum() if hits.any() else math.nan


def depth_of_last(labels):
    hits = np.flatnonzero(labels)
    return (hits[-1] + 1) / len(labels) if len(hits) else math.nan


recall = make_metric(hits_until, name="own_recall", bounds=(0, 1), undefined="no relevant document")
depth = make_metric(depth_of_last, bounds=(0, 1), greater_is_better=False)
documents = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
tables = st.lists(documents, min_size=1, max_size=12).map(lambda rows: np.array(rows).T)


@given(table=tables, k=st.sampled_from([None, 1, 3]), ties=st.sampled_from(TIES))
def test_equals_the_built_in_metric_of_the_same_formula(table, k, ties):
    y_true, y_score, qid = table
    options = {"qid": qid, "k": k, "ties": ties, "relevance_threshold": 1}
    for average, value in itertools.product(("macro", None), (0.0, math.nan)):
        mine, theirs = (
            metric(y_true, y_score, average=average, replace_undefined_by=value, **options)
            for metric in (recall, recall_at_k_score)
        )
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", TIES)
def test_ties_are_those_of_the_enumeration(ties, rng):
    for _ in range(60):
        n = int(rng.integers(1, 7))
        labels, scores = rng.integers(0, 3, n), rng.integers(0, 3, n)
        rankings = reference.orders(tuple(labels.tolist()), tuple(scores.tolist()), ties)
        total = sum(count * depth_of_last(np.array(ranked)) for ranked, count in rankings.items())
        value = depth([labels], [scores], ties=ties, average=None, replace_undefined_by=math.nan)
        np.testing.assert_allclose(value, [total / rankings.total()], rtol=0, atol=1e-12)


def test_many_orders_are_drawn_and_the_report_says_so():
    rng = np.random.default_rng(1)
    labels, scores, qid = rng.integers(0, 3, 60), np.repeat([0, 1, 2, 3], 15), np.repeat([0, 1], 30)
    report = evaluate(labels, scores, qid=qid, metrics=[depth, "map"])
    assert (
        "Drawn orders: depth_of_last is the mean over 100 orders drawn at random for queries with more than 720 "
        "different orders of tied documents: 2 queries." in report.health.findings
    )
    # The last hit is the last of the relevant documents of the lowest group that has one.
    lowest = labels[:15]
    exact = np.mean([1 + max(rng.permutation(15)[lowest > 0]) for _ in range(4000)]) / 30 + 15 / 30
    assert report.per_query["depth_of_last"][0] == pytest.approx(exact, abs=0.005)


def test_a_query_is_undefined_if_one_of_its_tied_orders_is():
    first = make_metric(lambda labels: 1.0 if labels[0] else math.nan, name="first")
    assert np.isnan(first([[1, 0]], [[1, 1]], replace_undefined_by=math.nan))
    assert first([[1, 0]], [[2, 1]]) == first([[1, 1]], [[1, 1]]) == 1


def test_labels_are_in_ranked_order_whole_and_read_only():
    seen = []

    def look(labels, k=None):
        seen.append((labels.tolist(), labels.dtype, labels.flags.writeable, k))
        with pytest.raises(ValueError, match="WRITEABLE"):
            labels.flags.writeable = True
        return 1.0

    make_metric(look)([1, 0, 2, 5], [1, 3, 2, 0], qid=["a", "a", "a", "b"], k=2)
    assert sorted(seen) == [([0, 2, 1], np.float64, False, 2), ([5], np.float64, False, 2)]


def test_documents_that_were_not_ranked_are_passed_as_unranked():
    def true_recall(labels, k=None, unranked=()):
        return (labels[:k] > 0).sum() / ((labels > 0).sum() + np.sum(np.asarray(unranked) > 0))

    rows = {
        "y_true": [1, 0, 1, 1],
        "y_score": [1, 3, 2, 0],
        "qid": [1] * 4,
        "retrieved": [True, True, True, False],
    }
    assert make_metric(true_recall)(**rows, k=2) == 1 / 3 == recall_at_k_score(**rows, k=2)
    refused = r"retrieved must be True .* query 1, since depth_of_last .* got 1 .* unranked="
    with pytest.raises(ValueError, match=refused):
        depth(**rows)
    assert depth(**{**rows, "retrieved": [True] * 4}) == 1
    assert (
        make_metric(true_recall)(**{**rows, "retrieved": [False] * 4}, replace_undefined_by=-1) == 0
    )


def revenue(labels, price, k=None):
    return (labels * price)[:k].sum()


TAKINGS = make_metric(revenue, documents=["price"])


def test_columns_of_documents_come_in_ranked_order():
    rows = {"y_true": [0, 1, 1, 0, 1], "y_score": [1, 3, 2, 1, 2], "qid": [0, 0, 0, 1, 1], "k": 1}
    price = [10, 20, 30, 40, 50]
    for column in (np.array, pd.Series, pl.Series):
        assert TAKINGS(**rows, documents={"price": column(price)}, average=None).tolist() == [
            20,
            50,
        ]
    for frame in (pd.DataFrame, pa.table):
        assert get_metric(TAKINGS)(**rows, documents=frame({"price": price})) == (20 + 50) / 2
    two_dimensional = [[0, 1], [1, 0]], [[1, 2], [2, 1]]
    assert TAKINGS(
        *two_dimensional, documents={"price": [[1, 2], [3, 4]]}, average=None
    ).tolist() == [2, 3]
    assert "documents=None" in str(inspect.signature(TAKINGS))
    assert "documents : dict or frame, default=None" in TAKINGS.__doc__
    seen = []
    texts = make_metric(
        lambda labels, text: seen.extend(text) or 1, name="texts", documents=["text"]
    )
    texts([[1, 0, 0]], [[3, 2, 1]], documents={"text": [["a\0", "a", "b"]]})
    assert seen == ["a\0", "a", "b"]
    mixed = {
        name: np.array(column)[[4, 0, 3, 2, 1]]
        for name, column in {**rows, "price": price}.items()
        if name != "k"
    }
    prices = {"price": mixed.pop("price")}
    assert TAKINGS(**mixed, k=1, documents=prices, average=None).tolist() == [50, 20]


@pytest.mark.option("make_metric.documents")
@given(table=tables, seed=st.integers(0, 99), k=st.sampled_from([None, 1, 2]))
def test_columns_of_tied_documents_take_all_orders_with_the_labels(table, seed, k):
    y_true, y_score, qid = table
    colour = np.random.default_rng(seed).choice(["red", "blue"], len(qid))
    pair = make_metric(first_hit, name="pair", documents=["colour"])
    got = pair(y_true, y_score, qid=qid, k=k, documents={"colour": colour}, average=None)
    for value, query in zip(got, dict.fromkeys(qid.tolist()), strict=True):
        rows = np.flatnonzero(qid == query)
        if len(rows) > 7:
            continue
        orders = [p for p in itertools.permutations(rows) if (np.diff(y_score[list(p)]) <= 0).all()]
        expected = np.mean([first_hit(y_true[list(p)], colour[list(p)], k) for p in orders])
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)


def first_hit(labels, colour, k=None):
    """Depends on labels and colours in a way that no product of the two gives."""
    red = np.flatnonzero((colour[:k] == "red") & (labels[:k] > 0))
    return 1 / (1 + red[0]) + labels[-1] if len(red) else labels[0] / 2


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


def test_many_orders_are_drawn_alike_in_every_order_of_rows(rng):
    rows = {
        "y_true": rng.integers(0, 3, 60),
        "y_score": np.arange(60) // 15 % 2,
        "qid": np.arange(60) // 30,
    }
    orders = np.arange(60), np.arange(60)[::-1], rng.permutation(60)
    metric = make_metric(
        lambda labels, c: float(len(set(c[:3].tolist()))) + labels[0], name="m", documents=["c"]
    )
    assert len({depth(**{name: values[o] for name, values in rows.items()}) for o in orders}) == 1
    for column in (
        rng.integers(0, 9, 60),
        rng.choice(["a", "b"], 60),
        rng.choice([None, "a", 1], 60),
    ):
        drawn = [
            {name: values[o] for name, values in rows.items()} | {"documents": {"c": column[o]}}
            for o in orders
        ]
        assert len({metric(**arguments) for arguments in drawn}) == 1


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
    with pytest.raises(TypeError, match=r"unexpected parameter 'documents'"):
        depth(**rows, documents={"price": [1, 2]})


@pytest.mark.option("make_metric.undefined")
def test_what_undefined_says_is_documented_and_relevance_counts():
    count = make_metric(lambda labels: labels.sum(), name="count", undefined="no relevant document")
    plain = make_metric(lambda labels: labels.sum(), name="count")
    rows = [[0, 0], [1, 0]], [[1, 2], [1, 2]]
    assert count(*rows, average=None, replace_undefined_by=-1).tolist() == [-1, 1]
    assert plain(*rows, average=None, replace_undefined_by=-1).tolist() == [0, 1]
    assert "Undefined for a query with no relevant document." in count.__doc__


@pytest.mark.option("make_metric.name")
def test_looks_like_a_metric_function():
    assert str(inspect.signature(recall)) == (
        "(y_true, y_score, *, qid=None, k=None, ties='average', min_documents=1, replace_undefined_by=0.0, "
        "sample_weight=None, "
        "average='macro', retrieved=None, judged=None, weight=1.0, relevance_threshold=1)"
    )
    assert recall.__doc__.startswith(
        "Weighted share of the relevant documents\nthat are in the first k.\n\nUndefined"
    )
    assert "weight : object, default=1.0" in recall.__doc__
    assert repr(recall) == "make_metric(own_recall)"
    assert str(get_metric(recall, k=5, weight=0.5)) == "own_recall(weight=0.5)@5"
    assert recall.__name__ == "own_recall"


@pytest.mark.option("make_metric.bounds")
def test_bounds_limit_values_and_intervals():
    rows = {"y_true": [[1, 0]] * 5 + [[0, 1]], "y_score": [[2, 1]] * 6}
    bounded = make_metric(lambda labels: labels[0], name="first", bounds=(0, 1))
    unbounded = make_metric(lambda labels: labels[0], name="first")
    assert evaluate(**rows, metrics=bounded).intervals()["first"][1] <= 1
    assert evaluate(**rows, metrics=unbounded).intervals()["first"][1] > 1
    with pytest.raises(
        ValueError,
        match=r"within its bounds, 0 to 1, or NaN if it is undefined; got .*2\.0.* query 0",
    ):
        bounded([[2, 0]], [[2, 1]])
    for value, limits, expected in (
        (1 + 1e-12, (0, 1), 1),
        (-1e-12, (0, 1), 0),
        (1e6 + 1e-6, (0, 1e6), 1e6),
    ):
        almost = make_metric(lambda labels, value=0.0: value, name="almost", bounds=limits)
        assert almost([[1]], [[1]], value=value) == expected


@pytest.mark.option("make_metric.greater_is_better")
def test_smaller_is_better():
    model, X = LinearRegression().fit([[0], [1]], [1, 0]), [[0], [1], [2], [3]]
    y = with_qid([0, 1, 1, 0], ["a", "a", "b", "b"])
    assert make_ranking_scorer(depth)(model, X, y) == -(1 + 1 / 2) / 2
    assert not get_metric(depth).greater_is_better
    assert str(get_metric(depth)) == "depth_of_last"
    up = make_metric(depth_of_last, greater_is_better=True)
    assert make_ranking_scorer(up)(model, X, y) == (1 + 1 / 2) / 2


def test_works_with_boosters_and_convention():
    y, s = np.array([1.0, 0, 0, 1]), np.array([1.0, 1, 2, 1])
    assert lightgbm_metric(depth)(y, s, None, [2, 2]) == ("depth_of_last", 1.25 * 0.5 + 0.25, False)
    assert xgboost_metric(recall, k=1).__name__ == "own_recall@1"
    assert get_metric(depth, convention="lightgbm").get("ties") == "stable"
    with pytest.raises(ValueError, match="metric must be one that catboost computes"):
        builtin_metric(depth, "catboost")


def test_pickles_if_the_function_does():
    bound = pickle.loads(pickle.dumps(get_metric(recall, k=2)))
    assert bound([[0, 1, 1]], [[3, 2, 1]]) == 1 / 2
    assert bound.definition == get_metric(recall, k=2).definition
    scorer = pickle.loads(pickle.dumps(make_ranking_scorer(depth)))
    assert scorer._score_func.metric.function.__name__ == "depth_of_last"
    assert not get_metric(pickle.loads(pickle.dumps(depth))).greater_is_better
    assert (
        pickle.loads(pickle.dumps(TAKINGS))([[1, 0]], [[2, 1]], documents={"price": [[3, 4]]}) == 3
    )
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(make_metric(lambda labels: 1.0, name="one"))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ([1.0], r"\[1.0\] \(list\)"),
        (np.ones(1), r"array\(\[1.\]\) \(ndarray\)"),
        ("high", r"'high' \(str\)"),
        (None, r"None \(NoneType\)"),
        (1j, r"1j \(complex\)"),
        (-math.inf, r"-inf \(float\)"),
    ],
)
def test_refuses_what_is_no_number(result, expected):
    refused = (
        f"^mine must return one finite number within .* or NaN .* got {expected} for query 'a'"
    )
    with pytest.raises(ValueError, match=refused):
        make_metric(lambda labels: result, name="mine")([1, 0], [1, 2], qid=["a", "a"])


@pytest.mark.parametrize(
    "result", [1, True, np.True_, np.float32(1), np.array(1.0), fractions.Fraction(1)]
)
def test_takes_every_kind_of_number(result):
    assert make_metric(lambda labels: result, name="mine")([[1, 0]], [[1, 2]]) == 1


def test_errors_of_the_function_name_it_and_the_query():
    rows = {"y_true": [1, 0], "y_score": [1, 2], "qid": ["a", "a"]}
    with pytest.raises(
        ValueError, match=r"^mine failed for query 'a' with 2 labels: KeyError: 'x'"
    ) as raised:
        make_metric(lambda labels: {}["x"], name="mine")(**rows)
    assert isinstance(raised.value.__cause__, KeyError)
    with pytest.raises(
        ValueError,
        match=r"^mine failed for query 'a' .*read-only",
    ):
        evaluate(**rows, metrics=make_metric(lambda labels: labels.sort(), name="mine"))


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [
        (3, {}, TypeError, "function must be callable; got int"),
        (max, {}, TypeError, "once per query, .* as max.labels., .* got <built-in function max>"),
        (lambda: 1, {"name": "m"}, TypeError, r"as m\(labels\), .*: too many positional arguments"),
        (
            lambda y_true, y_score: 1,
            {"name": "m"},
            TypeError,
            r"m\(labels\), .* required argument: 'y_score'",
        ),
        (
            lambda labels, k=10: 1,
            {"name": "m"},
            TypeError,
            "Declare the cutoff as k=None; set 10 with get_metric",
        ),
        (
            lambda labels, ties=1: 1,
            {"name": "m"},
            TypeError,
            "must not have an option ties, which all metrics have",
        ),
        (
            lambda labels, convention=1: 1,
            {"name": "m"},
            TypeError,
            "must not have an option convention, which all",
        ),
        (
            lambda labels, metric=1: 1,
            {"name": "m"},
            TypeError,
            "must not have an option metric, which all",
        ),
        (
            lambda labels: 1,
            {},
            ValueError,
            "name must be at most 64 .* got '<lambda>'. Pass another name=",
        ),
        (
            functools.partial(depth_of_last),
            {},
            ValueError,
            r"name must be at most 64 .* got None\. Pass another name=",
        ),
        (depth_of_last, {"name": "My metric"}, ValueError, "name must be .* got 'My metric'"),
        (
            depth_of_last,
            {"name": "ndcg"},
            ValueError,
            "name must be new; 'ndcg' is the metric ndcg_score",
        ),
        (
            depth_of_last,
            {"name": "kendall_tau_distance"},
            ValueError,
            "'neg_kendall_tau_distance' is the metric",
        ),
        (
            depth_of_last,
            {"name": "neg_depth"},
            ValueError,
            "not with 'neg_' .pass greater_is_better=False",
        ),
        (
            depth_of_last,
            {"name": "ndcg_at_10"},
            ValueError,
            "not end in a cutoff rank.* got 'ndcg_at_10'",
        ),
        (
            depth_of_last,
            {"name": "weight"},
            ValueError,
            "not be that of another column.*, by, .* 'weight'",
        ),
        (
            depth_of_last,
            {"name": "n_queries"},
            ValueError,
            "not be that of another column.* got 'n_queries'",
        ),
        (depth_of_last, {"name": "d" * 65}, ValueError, "name must be at most 64 .* got 'd"),
        (
            depth_of_last,
            {"documents": "price"},
            ValueError,
            "documents must list columns as .* got 'price'",
        ),
        (
            lambda labels, qid: 1,
            {"name": "m", "documents": ["qid"]},
            ValueError,
            "documents must list columns as .*'qid'",
        ),
        (
            depth_of_last,
            {"documents": ["k"]},
            ValueError,
            r"documents must list columns as .* parameters; got \['k'\]",
        ),
        (
            depth_of_last,
            {"documents": ["price"]},
            TypeError,
            r"depth_of_last\(labels, price\), .* argument 'price'",
        ),
        (
            depth_of_last,
            {"documents": ["x", "x"]},
            ValueError,
            r"documents must list columns .* got \['x', 'x'\]",
        ),
        (
            depth_of_last,
            {"bounds": (1, 0)},
            ValueError,
            r"bounds must be a pair .* ascending order; got \(1, 0\)",
        ),
        (
            depth_of_last,
            {"bounds": (1, 1)},
            ValueError,
            r"bounds must be a pair .* ascending order; got \(1, 1\)",
        ),
        (
            depth_of_last,
            {"bounds": (0, 1, 2)},
            ValueError,
            r"bounds must be a pair .*; got \(0, 1, 2\)",
        ),
        (depth_of_last, {"bounds": "01"}, ValueError, "bounds must be a pair .*; got '01'"),
        (
            depth_of_last,
            {"greater_is_better": "no"},
            TypeError,
            "greater_is_better must be True or False",
        ),
    ],
)
def test_refuses(function, options, error, message):
    with pytest.raises(error, match=message):
        make_metric(function, **options)


def test_refuses_the_options_that_it_lacks():
    with pytest.raises(TypeError, match=r"depth_of_last.. got an unexpected parameter 'k'"):
        depth([[1]], [[1]], k=2)
    with pytest.raises(
        ValueError, match="average='micro' is not defined for depth_of_last, which cannot be pooled"
    ):
        depth([[1]], [[1]], average="micro")
    with pytest.raises(
        TypeError, match=r"metric must be a name .* got function. Make a metric from .* make_metric"
    ):
        evaluate([[1]], [[1]], metrics=[depth_of_last])
    with pytest.raises(
        TypeError, match="weight must not be an array, since options are compared; pass a tuple"
    ):
        recall([[1]], [[1]], weight=np.ones(2))
    with pytest.raises(ValueError, match="metrics must have different names; got two named 'same'"):
        evaluate(
            [[1]], [[1]], metrics=[make_metric(lambda labels, a=a: a, name="same") for a in (0, 1)]
        )


def n_tags(labels, tags, k=None):
    return float(sum(map(len, tags)))


TAGS = make_metric(n_tags, documents=["tags"], undefined="no document")


@pytest.mark.parametrize("kind", [list, tuple, np.array])
@pytest.mark.parametrize("tags", [["x", "xy", "", "z"], ["x", "y", "u", "z"]])
def test_lists_per_document_stay_objects(kind, tags):
    column = [kind(list(one)) for one in tags]
    rows = {"y_true": [1, 0, 0, 1], "y_score": [4, 3, 2, 1], "qid": [1, 1, 2, 2]}
    got = TAGS(**rows, documents={"tags": column}, average=None)
    assert got.tolist() == [len(tags[0] + tags[1]), len(tags[2] + tags[3])]
    if kind is tuple:  # index levels are hashable
        y = with_qid(rows["y_true"], rows["qid"], documents={"tags": column})
        for given in ({}, {"documents": {"tags": column}}):
            assert TAGS(y, rows["y_score"], **given, average=None).tolist() == got.tolist()


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

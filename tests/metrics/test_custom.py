"""Metrics made of a user's function of one ranked list."""

import fractions
import functools
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from support import reference
from test_contract import TIES

from skrank_metrics import (
    evaluate,
    get_metric,
    make_metric,
    make_ranking_scorer,
    recall_at_k_score,
    with_qid,
)
from skrank_metrics.rankers import builtin_metric, lightgbm_metric, xgboost_metric


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
        options |= {"average": average, "replace_undefined_by": value}
        mine = recall(y_true, y_score, **options)
        built_in = recall_at_k_score(y_true, y_score, **options)
        np.testing.assert_allclose(mine, built_in, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", TIES)
def test_ties_are_those_of_the_enumeration(ties, rng):
    for _ in range(60):
        n = int(rng.integers(1, 7))
        labels = rng.integers(0, 3, n)
        scores = rng.integers(0, 3, n)
        rankings = reference.orders(tuple(labels.tolist()), tuple(scores.tolist()), ties)
        total = 0.0
        for ranked, times in rankings.items():
            total += times * depth_of_last(np.array(ranked))
        value = depth([labels], [scores], ties=ties, replace_undefined_by=math.nan)
        assert value == pytest.approx(total / rankings.total(), abs=1e-12, nan_ok=True)


def test_many_orders_are_drawn():
    labels = np.random.default_rng(1).integers(0, 3, 60)
    scores = np.repeat([0, 1, 2, 3], 15)
    qid = np.repeat([0, 1], 30)
    report = evaluate(labels, scores, qid=qid, metrics=[depth, "map"])
    # The last hit is the last of the relevant documents of the lowest group that has one.
    n_relevant = np.count_nonzero(labels[:15])
    # The largest of r of the ranks 1 to n is r (n + 1) / (r + 1) in the mean.
    last = n_relevant * (15 + 1) / (n_relevant + 1)
    assert report.per_query["depth_of_last"][0] == pytest.approx((15 + last) / 30, abs=0.005)


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
        n_relevant = np.count_nonzero(labels) + np.count_nonzero(unranked)
        return np.count_nonzero(labels[:k]) / n_relevant

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
    rows["retrieved"] = [False] * 4
    assert make_metric(true_recall)(**rows, replace_undefined_by=-1) == 0


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


@pytest.mark.option("make_metric.undefined")
def test_what_undefined_says_and_relevance_counts():
    count = make_metric(lambda labels: labels.sum(), name="count", undefined="no relevant document")
    plain = make_metric(lambda labels: labels.sum(), name="count")
    rows = [[0, 0], [1, 0]], [[1, 2], [1, 2]]
    assert count(*rows, average=None, replace_undefined_by=-1).tolist() == [-1, 1]
    assert plain(*rows, average=None, replace_undefined_by=-1).tolist() == [0, 1]
    assert get_metric(count).undefined == "no relevant document"


@pytest.mark.option("make_metric.name")
def test_looks_like_a_metric_function():
    assert recall.__doc__ == "Weighted share of the relevant documents\nthat are in the first k."
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
        match=r"within its bounds, 0 to 1, or NaN if it is undefined; got 2\.0 for query 0",
    ):
        bounded([[2, 0]], [[2, 1]])
    almost_one = make_metric(lambda labels: 1 + 1e-12, name="almost", bounds=(0, 1))
    almost_zero = make_metric(lambda labels: -1e-12, name="almost", bounds=(0, 1))
    almost_a_million = make_metric(lambda labels: 1e6 + 1e-6, name="almost", bounds=(0, 1e6))
    for metric, expected in ((almost_one, 1), (almost_zero, 0), (almost_a_million, 1e6)):
        assert metric([[1]], [[1]]) == expected


@pytest.mark.option("make_metric.greater_is_better")
def test_smaller_is_better():
    model = LinearRegression().fit([[0], [1]], [1, 0])
    X = [[0], [1], [2], [3]]
    y = with_qid([0, 1, 1, 0], ["a", "a", "b", "b"])
    assert make_ranking_scorer(depth)(model, X, y) == -(1 + 1 / 2) / 2
    assert not get_metric(depth).greater_is_better
    assert str(get_metric(depth)) == "depth_of_last"
    up = make_metric(depth_of_last, greater_is_better=True)
    assert make_ranking_scorer(up)(model, X, y) == (1 + 1 / 2) / 2


def test_works_with_boosters_and_convention():
    y = np.array([1.0, 0, 0, 1])
    scores = np.array([1.0, 1, 2, 1])
    # Tied at ranks 1 and 2, and at rank 2 of 2.
    mean = ((1 / 2 + 2 / 2) / 2 + 2 / 2) / 2
    assert lightgbm_metric(depth)(y, scores, None, [2, 2]) == ("depth_of_last", mean, False)
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
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(make_metric(lambda labels: 1.0, name="one"))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ([1.0], "failed for query 'a' with 2 labels: TypeError: .*'list'"),
        (None, "failed for query 'a' with 2 labels: TypeError: .*'NoneType'"),
        ("0.5", "failed for query 'a' with 2 labels: TypeError: .*'str'"),
        (1j, "failed for query 'a' with 2 labels: TypeError: .* not 'complex'"),
        (-math.inf, "must return one finite number within .* or NaN .* got -inf for query 'a'"),
    ],
)
def test_refuses_what_is_no_number(result, expected):
    with pytest.raises(ValueError, match=f"^mine {expected}"):
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
            'A lambda has no name. Pass name="my_metric"',
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
            "name must be new; 'ndcg' is a metric of this package",
        ),
        (
            depth_of_last,
            {"name": "kendall_tau_distance"},
            ValueError,
            "'kendall_tau_distance' is a metric of this package",
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
            TypeError,
            r"depth_of_last\(labels, p, r, i, c, e\), .* argument 'p'",
        ),
        (
            depth_of_last,
            {"documents": ["price"]},
            TypeError,
            r"depth_of_last\(labels, price\), .* argument 'price'",
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
    with pytest.raises(ValueError, match="average='micro' is not defined for depth_of_last"):
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


def test_missing_values_of_columns_do_not_make_queries_undefined():
    def total(labels, price):
        return (labels * price).sum()

    def known(labels, price):
        return np.nansum(labels * price)

    rows = {"y_true": [1, 0, 1], "y_score": [3, 2, 1], "qid": [1, 1, 2]}
    prices = {"price": [2, np.nan, 3]}
    assert make_metric(known, documents=["price"])(**rows, documents=prices) == (2 + 3) / 2
    message = r"total must not be NaN because documents\['price'\] has missing values; got both for query 1"
    with pytest.raises(ValueError, match=message):
        make_metric(total, documents=["price"])(**rows, documents=prices)

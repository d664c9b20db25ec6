"""The check of a user's metric, which must find what is wrong."""

import os
import threading

import numpy as np
import pytest
from joblib import parallel_config

from skrank_metrics import make_metric
from skrank_metrics.metrics import check_metric


def test_a_metric_of_documents_is_checked_with_their_columns():
    def first_sale(labels, price, colour):
        return float(labels[0] * price[0] * {"red": 1, "blue": 0.5}[colour[0]])

    metric = make_metric(first_sale, documents=["price", "colour"])
    with parallel_config("threading"):  # other processes take seconds to start
        check_metric(metric, documents={"price": [1, 2, 3], "colour": ["red", "blue"]})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["ndcg(gain=exp2)", "map(normalizer=hits)", "mrr", "neg_fall_out", "bpref"]
)
def test_metrics_of_the_package_pass(name):
    check_metric(name)


@pytest.mark.slow
@pytest.mark.option("check_metric.labels")
def test_labels_that_a_metric_takes():
    check_metric("pfound@3", labels=[0, 0.4, 1])
    check_metric(make_metric(lambda labels: 1 / labels[0], name="inverse"), labels=(1, 2))
    with pytest.raises(
        AssertionError,
        match=r"pfound.* must accept the labels \[0, 1, 2, 3\], or be checked .*; got",
    ):
        check_metric("pfound")


def first(labels):
    return labels[0]


LOCK, CALLS, HOME = threading.Lock(), [], os.getpid()


@pytest.mark.parametrize(
    ("function", "bounds", "message"),
    [
        (
            lambda labels: CALLS.append(1) or len(CALLS),
            (0, 1e9),
            "must give the same values when called again",
        ),
        (lambda labels: labels[0], (0, 2), r"number within its bounds, 0 to 2, .*got .*3\.0"),
        (
            lambda labels, lock=LOCK: 1.0,
            (0, 1),
            "must be picklable to be used with n_jobs; got PicklingError",
        ),
        (
            lambda labels, k=None: float(k is None),
            (0, 1),
            "must give the same values with k=5 as without a cutoff",
        ),
        (
            lambda labels, home=HOME: float(os.getpid() == home),
            (0, 1),
            "must give the same values in another process",
        ),
    ],
)
@pytest.mark.slow
def test_finds_what_is_wrong_with_a_function(function, bounds, message):
    check_metric(make_metric(first))
    with pytest.raises(AssertionError, match=rf"^broken\(ties=average\).*{message}"):
        check_metric(make_metric(function, name="broken", bounds=bounds))


def test_columns_that_are_missing_are_named():
    tax = make_metric(lambda labels, rate: rate[0] * labels[0], name="tax", documents=["rate"])
    with pytest.raises(AssertionError, match=r"column 'rate' of tax\. Pass documents=\{'rate': "):
        check_metric(tax)


def test_documents_must_be_those_that_the_metric_takes():
    with pytest.raises(AssertionError, match="unexpected parameter 'documents'"):
        check_metric("mrr", documents={"price": [1, 2]})
    first_price = make_metric(lambda labels, price: price[0], name="own", documents=["price"])
    with pytest.raises(AssertionError, match="for the column 'price' of own"):
        check_metric(first_price)


def test_an_overflow_on_the_way_is_no_error():
    logistic = make_metric(
        lambda labels: (1 / (1 + np.exp(1000.0 * labels))).sum(), name="logistic"
    )
    with pytest.warns(RuntimeWarning, match="overflow encountered in exp"):
        assert logistic([[1, 0]], [[2, 1]]) == 1 / 2

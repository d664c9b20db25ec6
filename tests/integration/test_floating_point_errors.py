"""Callers may let NumPy raise whatever it warns of or ignores, to find mistakes of their own."""

import numpy as np
import pytest

from skrank_metrics import cg_score, compare, evaluate, get_metric
from skrank_metrics.metrics import get_metric_names

TIES = ("average", "best", "stable")
METRICS = [get_metric(name, ties=ties) for name in get_metric_names() for ties in TIES]


@pytest.fixture(autouse=True)
def all_raised():
    with np.errstate(all="raise"):
        yield


def rows():
    random = np.random.default_rng(0)
    qid = np.repeat(np.arange(12), 5)
    return random.integers(0, 2, 60), random.integers(0, 3, (60, 2)).astype(float), qid


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_no_metric_relies_on_what_callers_ignore(metric):
    y_true, y_score, qid = rows()
    report = evaluate(y_true, y_score[:, 0], qid=qid, metrics=metric)
    assert str(report)


def test_no_comparison_does():
    y_true, y_score, qid = rows()
    scores = {"a": y_score[:, 0], "b": y_score[:, 1]}
    comparison = evaluate(y_true, scores, qid=qid, by=qid % 2)
    assert str(compare(comparison).details())
    assert str(comparison.inspect(2))


def test_sums_that_overflow_are_still_refused():
    with pytest.raises(ValueError, match="The sum of gains overflows float64"):
        cg_score([1.7e308, 1.7e308], [1, 2], qid=[1, 2])

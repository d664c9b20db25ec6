"""Small results print as tables of four decimals."""

import copy
import pickle

import pytest
from support.ranks import report_of_ranks

from skrank_metrics import compare

PAIR = """\
mrr: new against old: undecided
new - old  interval  p alone  p with all pairs
    +0.1167  {}
new is better on 2 of 5 queries, old on 1."""
QUERIES = """\
qid     new     old  difference
  {}  0.3333  1.0000     -0.6667"""


@pytest.fixture
def comparison():
    ranks = {"new": [1, 2, 1, 3, 1], "old": [2, 2, 4, 1, 1]}
    return compare({name: report_of_ranks(own) for name, own in ranks.items()}, "mrr")


def test_a_pair(comparison):
    pair = comparison.pair()
    row = "[{:+.4f}, {:+.4f}]  {:.4f}  {:.4f}".format(*pair.interval, pair.p_value, pair.p_adjusted)
    assert pair.difference == pytest.approx((1 / 2 + 3 / 4 - 2 / 3) / 5)
    assert str(pair).split() == PAIR.format(row).split()
    assert repr(pair) == "<Pair: new - old by mrr, +0.1167, undecided>"
    assert pickle.loads(pickle.dumps(pair)).difference == pair.difference
    assert pair.to_frame()["p alone"].tolist() == [pair.p_value]


def test_queries_of_a_report():
    report = report_of_ranks([1, 3, 2], list("abc"))
    worst = report.worst(2)
    assert worst == {"b": 1 / 3, "c": 1 / 2}
    assert repr(worst) == "qid     mrr\nb    0.3333\nc    0.5000"
    assert worst._repr_html_().startswith("<table")
    for copied in (copy.copy(worst), pickle.loads(pickle.dumps(worst))):
        assert copied == worst
        assert repr(copied) == repr(worst)
    undefined = report_of_ranks([0]).worst()
    assert repr(undefined) == undefined._repr_html_() == "{}"


def test_queries(comparison):
    rows = comparison.worst()
    assert repr(rows) == QUERIES.format(rows[0].qid)
    assert rows._repr_html_().startswith("<table")
    assert [row.difference for row in rows] == pytest.approx([-2 / 3])
    assert copy.copy(rows) == pickle.loads(pickle.dumps(rows)) == rows
    assert repr(pickle.loads(pickle.dumps(rows))) == repr(rows)
    assert len(comparison.best(1)) == 1
    same = compare({"a": report_of_ranks([1, 2]), "b": report_of_ranks([1, 2])})
    assert repr(same.worst()) == same.worst()._repr_html_() == "[]"

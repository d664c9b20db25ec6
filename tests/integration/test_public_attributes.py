"""Results show what their documentation names, and nothing else; their representation computes nothing."""

import inspect
import re

import pytest

from skrank_metrics import compare, evaluate
from skrank_metrics.decisions import Comparison
from skrank_metrics.reports import RankingReport

Y = [1, 0, 1, 0, 1, 0]
QID = ["a", "a", "b", "b", "c", "c"]


def public(kind, thing):
    """Names of attributes that users see in completion, those of the instance included."""
    names = {*dir(kind), *vars(thing)}
    return {name for name in names if not name.startswith("_")}


def documented(kind):
    """Names in the section of attributes, and members with a docstring of their own."""
    section = inspect.getdoc(kind).partition("Attributes\n----------\n")[2].partition("\n\n")[0]
    described = set()
    for line in section.splitlines():
        if re.match(r"[a-z_, ]+ : ", line):
            described |= set(line.partition(" : ")[0].split(", "))
    members = {name: inspect.getattr_static(kind, name) for name in dir(kind)}
    return described | {name for name, member in members.items() if inspect.getdoc(member)}


def results():
    report = evaluate(Y, [3, 2, 1, 2, 3, 1], qid=QID, metrics="mrr")
    yield RankingReport, report
    yield Comparison, compare({"one": report, "other": evaluate(Y, Y, qid=QID, metrics="mrr")})


@pytest.mark.parametrize(
    ("kind", "result"), list(results()), ids=lambda value: type(value).__name__
)
def test_public_attributes_are_documented(kind, result):
    assert public(kind, result) - documented(kind) == set()


def test_a_report_has_at_most_thirty_public_attributes():
    _, report = next(results())
    names = public(RankingReport, report)
    assert len(names) <= 30
    internal = {"id_digests", "recorded_counts", "own_ranking", "ranking", "results", "queries"}
    assert names.isdisjoint(internal)


def test_a_comparison_and_its_pairs_keep_what_users_read():
    assert {"notes", "details", "means", "pairs", "verdict"} <= set(dir(Comparison))


@pytest.mark.parametrize(
    ("kind", "result"), list(results()), ids=lambda value: type(value).__name__
)
def test_a_representation_computes_nothing(kind, result):
    before = set(vars(result))
    assert repr(result).startswith(f"<{kind.__name__}: ")
    assert set(vars(result)) - before <= {"n_queries"}

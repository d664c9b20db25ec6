"""Hostile input, wherever it can come in: the right number, or an error that names the argument and the row."""

import itertools
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from support import hostile, reference
from support.hostile import Recorded
from support.hostile_cases import CASES, SCORES
from support.hostile_seams import CLEAN, SEAMS, X

from skrank_metrics import QueryRanker, get_metric, make_ranking_scorer, with_qid
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics._registry import REGISTRY

OPTIONS = {"pfound": {"gain": "exp2"}}
NAMES_OF = {"labels": "y_true|y", "scores": "y_score", "ids": "qid|groups", "k": "k"}


def given(k, name):
    """Parameters of a metric in a case."""
    return ({} if k is None else {"k": k}) | OPTIONS.get(name, {})


def metrics(labels, scores, ids, k):
    for name in get_metric_names():
        if k is None or REGISTRY[name].record.has_cutoff:
            yield (
                name,
                lambda name=name: get_metric(name, **given(k, name))(labels, scores, qid=ids),
            )


def of_ndcg(call):
    """A way in that computes NDCG alone."""
    return lambda **problem: [("ndcg", lambda: call(**problem))]


def scorer(way):
    def call(labels, scores, ids, k):
        by_index = way == "index of y"
        y, keywords = (with_qid(labels, ids), {}) if by_index else (labels, {way: ids})
        with sklearn.config_context(enable_metadata_routing=not by_index):
            return make_ranking_scorer("ndcg", **given(k, "ndcg"))(
                Recorded(scores), X, y, **keywords
            )

    return of_ndcg(call)


def ranker_fit(labels, scores, ids, k):
    return [("fit", lambda: QueryRanker(Recorded(SCORES)).fit(X, labels, qid=ids))]


WAYS_IN = {
    "metrics": metrics,
    "evaluate": of_ndcg(lambda **problem: hostile.evaluated(hostile.rows_of(**problem))),
    "scorer, qid=": scorer("qid"),
    "scorer, groups=": scorer("groups"),
    "scorer, index of y": scorer("index of y"),
    "QueryRanker.score": of_ndcg(lambda **problem: hostile.score(hostile.rows_of(**problem))),
    "QueryRanker.fit": ranker_fit,
}


def expected(name, labels, scores, ids, k):
    of = name.removeprefix("neg_")
    queries = [[i == query for i in ids] for query in dict.fromkeys(ids)]
    columns = [
        [list(itertools.compress(column, rows)) for column in (labels, scores)] for rows in queries
    ]
    values = [reference.expected(of, *pair, **given(k, name)) for pair in columns]
    value = np.nan_to_num(values).mean()
    return value if REGISTRY[name].record.greater_is_better else -value


def takes(way, case):
    if way == "evaluate" and case.what in ("a dict", "one column of a frame"):
        return case.argument != "scores"  # then it compares models by name
    if way == "QueryRanker.score" and case.argument == "scores" and "column" in case.what:
        return False  # predictions of shape (n, 1) are one column
    if case.argument == "k":
        return not way.startswith("QueryRanker")
    return way != "QueryRanker.fit" or case.argument != "scores"


PLACES = [(way, case) for case in CASES for way in WAYS_IN if takes(way, case)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "case"), [place for place in PLACES if not place[1].error], ids=str
)
def test_gives_the_right_number(way, case):
    for name, call in WAYS_IN[way](**case.passed):
        value = call()
        if name == "fit":
            assert sorted(value._fitted.sizes.tolist()) == sorted(
                Counter(case.meant["ids"]).values()
            )
        else:
            assert value == pytest.approx(expected(name, **case.meant), abs=1e-12), name


# Models are fitted on labels of any sign; metrics and boosters refuse those that they cannot use.
REFUSED = [
    (way, case)
    for way, case in PLACES
    if case.error and (way, case.what) != ("QueryRanker.fit", "negative")
]


@pytest.mark.parametrize(("way", "case"), REFUSED, ids=str)
def test_gives_an_error_that_names_the_argument(way, case):
    tried = 0
    for name, call in WAYS_IN[way](**case.passed):
        if case.what == "negative" and name in REGISTRY and REGISTRY[name].record.signed is True:
            continue  # only the order of labels counts
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        tried += 1
        assert re.search(case.error, str(caught.value)), (name, str(caught.value))
        if "too few" in case.what:  # of two lengths, either may be called wrong
            continue
        assert re.search(rf"\b({NAMES_OF[case.argument]})\b", str(caught.value)), (
            name,
            str(caught.value),
        )
    assert tried


SEAM_PLACES = [(way, seam) for seam in SEAMS for way in hostile.ways_of(seam)]


@pytest.mark.parametrize(("way", "seam"), SEAM_PLACES, ids=str)
def test_arguments_that_disagree_are_refused_and_others_change_nothing(way, seam):
    call = hostile.WAYS[way][1]
    if seam.error:
        with pytest.raises((TypeError, ValueError), match=seam.error):
            call(seam.passed)
    else:
        assert call(seam.passed) == call(CLEAN)


def test_every_seam_is_tried():
    assert {way for way, _ in SEAM_PLACES} == set(hostile.WAYS)
    assert len(SEAM_PLACES) > 60


@pytest.mark.slow
@pytest.mark.skipif(
    int(pd.__version__.split(".")[0]) < 3, reason="older versions give NA where newer ones give nan"
)
def test_the_documentation_holds_the_table():
    page = (Path(__file__).parents[2] / "docs" / "hostile_input.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- hostile -->\n(.*?)\n<!-- /hostile -->", page, re.DOTALL)
    assert found is not None
    assert found[1] == hostile.table(), (
        "python -m support.hostile, in tests/, prints the table that belongs there"
    )

"""Hostile input, wherever it can come in: the right number, or an error that names the argument and the row."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from support import hostile, reference
from support.hostile import CASES, LABELS, SCORES, SEAMS, Recorded

from skrank_metrics import QueryRanker, evaluate, get_metric, get_metric_names, make_ranking_scorer, with_qid
from skrank_metrics.metrics._registry import REGISTRY

OPTIONS = {"pfound": {"gain": "exp2"}}
NAMES_OF = {"labels": "y_true|y", "scores": "y_score", "ids": "qid|groups", "k": "k"}


def metrics(labels, scores, ids, k):
    for name in get_metric_names():
        if k is None or REGISTRY[name].record.has_cutoff:
            cutoff = {} if k is None else {"k": k}
            yield (
                name,
                lambda name=name, cutoff=cutoff: get_metric(name, **cutoff, **OPTIONS.get(name, {}))(
                    labels, scores, qid=ids
                ),
            )


def one(name, call):
    yield name, call


def evaluated(labels, scores, ids, k):
    metric = get_metric if k is None else lambda name: get_metric(name, k=k)
    return one("ndcg", lambda: evaluate(labels, scores, qid=ids, metrics=metric("ndcg")).mean.popitem()[1])


def scorer(way):
    def call(labels, scores, ids, k):
        cutoff = {} if k is None else {"k": k}
        if way == "index of y":
            y, keywords = with_qid(labels, ids), {}
        else:
            y, keywords = labels, {way: ids}
        with sklearn.config_context(enable_metadata_routing=way != "index of y"):
            return make_ranking_scorer("ndcg", **cutoff)(Recorded(scores), np.zeros((7, 1)), y, **keywords)

    return lambda **problem: one("ndcg", lambda: call(**problem))


def ranker_score(labels, scores, ids, k):
    ranker = QueryRanker(Recorded(scores)).fit(np.zeros((7, 1)), LABELS, qid=list("tuvwxyz"))
    return one("ndcg@10", lambda: ranker.score(np.zeros((7, 1)), labels, qid=ids))


def ranker_fit(labels, scores, ids, k):
    return one("fit", lambda: QueryRanker(Recorded(SCORES)).fit(np.zeros((7, 1)), labels, qid=ids))


WAYS_IN = {
    "metrics": metrics,
    "evaluate": evaluated,
    "scorer, qid=": scorer("qid"),
    "scorer, groups=": scorer("groups"),
    "scorer, index of y": scorer("index of y"),
    "QueryRanker.score": ranker_score,
    "QueryRanker.fit": ranker_fit,
}


def expected(name, labels, scores, ids, k):
    cutoff = {} if k is None else {"k": k}
    options = OPTIONS.get(name, {})
    values = []
    for query in dict.fromkeys(ids):
        rows = [row for row, i in enumerate(ids) if i == query]
        columns = [labels[row] for row in rows], [scores[row] for row in rows]
        values.append(reference.expected(name.removeprefix("neg_"), *columns, **cutoff, **options))
    value = np.nan_to_num(np.array(values)).mean()
    return value if REGISTRY[name].record.greater_is_better else -value


def takes(way, case):
    if case.argument == "k":
        return not way.startswith("QueryRanker")
    return way != "QueryRanker.fit" or case.argument != "scores"


PLACES = [(way, case) for case in CASES for way in WAYS_IN if takes(way, case)]


def named(place):
    return f"{place[0]}-{place[1].argument} {place[1].what}"


@pytest.mark.slow
@pytest.mark.parametrize("place", [p for p in PLACES if not p[1].error], ids=named)
def test_gives_the_right_number(place):
    way, case = place
    for name, call in WAYS_IN[way](**case.passed):
        value = call()
        if name == "fit":
            assert sorted(value._fitted.sizes.values()) == sorted(Counter(case.meant["ids"]).values())
        else:
            assert value == pytest.approx(expected(name.removesuffix("@10"), **case.meant), abs=1e-12), name


@pytest.mark.parametrize("place", [p for p in PLACES if p[1].error], ids=named)
def test_gives_an_error_that_names_the_argument(place):
    way, case = place
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
        assert re.search(rf"\b({NAMES_OF[case.argument]})\b", str(caught.value)), (name, str(caught.value))
    assert tried


SEAM_PLACES = [(way, seam) for seam in SEAMS for way in hostile.ways_of(seam)]


@pytest.mark.parametrize("place", SEAM_PLACES, ids=lambda place: f"{place[0]}-{place[1].what}")
def test_arguments_that_disagree_are_refused_and_others_change_nothing(place):
    way, seam = place
    call = hostile.WAYS[way][1]
    if seam.error:
        with pytest.raises((TypeError, ValueError), match=seam.error):
            call(seam.passed)
    else:
        assert call(seam.passed) == call(hostile.CLEAN)


def test_every_seam_is_tried():
    assert {way for way, _ in SEAM_PLACES} == set(hostile.WAYS)
    assert len(SEAM_PLACES) > 60


@pytest.mark.parametrize("name", ["dcg", "ndcg", "q_measure"])
def test_a_gain_that_overflows_is_named(name):
    with pytest.raises(ValueError, match="gain='exp2' gives inf for the label 2000"):
        get_metric(name, gain="exp2")([[1, 2000]], [[2, 1]])


@pytest.mark.slow
@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="older versions give NA where newer ones give nan")
def test_the_documentation_holds_the_table():
    page = (Path(__file__).parents[2] / "docs" / "hostile_input.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- hostile -->\n(.*?)\n<!-- /hostile -->", page, re.DOTALL)
    assert found is not None
    assert found[1] == hostile.table(), "python -m support.hostile, in tests/, prints the table that belongs there"

"""Of lists by id, the ids are known, by which some libraries order tied documents."""

import itertools

import numpy as np
import pytest
from support import peers

from skrank_metrics import evaluate, evaluate_run
from skrank_metrics.conventions import explain_difference, match_convention

NAMES = ("ndcg@3", "map", "mrr", "recall@3")
CONVENTIONS = ("sklearn", "trec_eval", "beir", "ranx", "lightgbm")


def lists(seed=0):
    qrels, run = peers.lists_by_id(seed)
    labels = {}
    for query, of_query in qrels.items():
        labels[query] = {document: max(label, 0) for document, label in of_query.items()}
    return labels, run


@pytest.mark.parametrize("convention", ["sklearn", "trec_eval", "ranx"])
@pytest.mark.parametrize("conventions", list(itertools.permutations(CONVENTIONS, 2)))
def test_an_explanation_starts_and_ends_at_the_values_of_evaluate_run(convention, conventions):
    qrels, run = lists(1)
    for name in NAMES:
        if name in ("mrr", "recall@3") and "lightgbm" in conventions:
            continue
        report = evaluate_run(qrels, run, name, convention=convention)
        found = explain_difference(report, metric=name, conventions=conventions)
        start, end = (evaluate_run(qrels, run, name, convention=one) for one in conventions)
        assert found.start == pytest.approx(start.mean[name], abs=1e-12)
        assert found.end == pytest.approx(end.mean[name], abs=1e-12)
        effects = sum(cause.effect for cause in found.causes)
        assert effects == pytest.approx(found.end - found.start, abs=1e-12)


def test_ties_by_id_are_a_cause_of_their_own():
    qrels, run = {"q": {"x": 1, "y": 0}}, {"q": {"x": 0.5, "y": 0.5}}
    report = evaluate_run(qrels, run, "ndcg")
    for first, old in (("sklearn", "average"), ("ranx", "stable")):
        found = explain_difference(report, metric="ndcg", conventions=(first, "ir_measures"))
        (cause,) = found.causes
        assert cause.change == f"{old} -> by document id"
        assert found.end == 1 / np.log2(3)
    assert explain_difference(report, metric="ndcg", conventions=("beir", "trec_eval")).causes == []
    # Rows have no ids, so their order stands for them.
    rows = evaluate([1, 0], [0.5, 0.5], qid=[0, 0], metrics="ndcg")
    assert explain_difference(rows, metric="ndcg", conventions=("ranx", "trec_eval")).causes == []


@pytest.mark.parametrize("convention", ["trec_eval", "beir", "ranx", "sklearn"])
@pytest.mark.parametrize("computed", ["sklearn", "trec_eval"])
def test_the_convention_of_a_value_is_found(convention, computed):
    qrels, run = lists(2)
    value = evaluate_run(qrels, run, "ndcg@3", convention=convention).mean["ndcg@3"]
    report = evaluate_run(qrels, run, "ndcg@3", convention=computed)
    match = match_convention(report, metric="ndcg@3", value=value, tolerance=1e-9)
    assert convention in match.matches[0].peers
    # Those that order by id, those of the order of the run, and averages are three values here.
    alike = {"trec_eval": "beir", "beir": "trec_eval", "ranx": "ranx", "sklearn": "sklearn"}
    assert alike[convention] in match.matches[0].peers
    assert len({peer in match.matches[0].peers for peer in ("trec_eval", "beir")}) == 1
    assert match.matches[0].by_id == (convention in ("trec_eval", "beir"))
    assert f"{convention!r}" in str(match).replace("\n", " ")


def test_queries_without_a_list_may_have_been_left_out():
    qrels, run = lists(3)
    del run["q2"], run["q7"]
    value = evaluate_run(qrels, run, "map", missing="skip", convention="trec_eval").mean["map"]
    report = evaluate_run(qrels, run, "map", convention="trec_eval")
    match = match_convention(report, metric="map", value=value, tolerance=1e-9)
    (best, *_) = match.matches
    assert (best.missing, best.by_id) == ("skip", True)
    assert "trec_eval" in best.peers
    assert "missing='skip'" in " ".join(str(match).split())
    # The mean over all queries is the value of another way.
    of_all = match_convention(report, metric="map", value=report.mean["map"], tolerance=1e-9)
    assert of_all.matches[0].missing == "zero"


def test_sums_over_hits_and_over_the_length_of_the_list():
    # Hits at ranks 1 and 4 of 5, and at rank 2 of 2.
    run = {"u": ["a", "x", "y", "b", "z"], "v": ["x", "c"]}
    report = evaluate_run({"u": ["a", "b", "c"], "v": ["c"]}, run, "mrr")
    arhr = match_convention(report, metric="mrr", value=((1 + 1 / 4) + 1 / 2) / 2, tolerance=1e-9)
    assert str(arhr.matches[0].metric) == "dcg(gain=binary, discount=reciprocal)"
    over_length = ((1 + 2 / 4) / 5 + (1 / 2) / 2) / 2
    match = match_convention(report, metric="map", value=over_length, tolerance=1e-9)
    assert match.matches[0].metric.get("normalizer") == "k"

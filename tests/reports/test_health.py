"""Sentences about ties and degenerate queries."""

import re

import numpy as np
import pytest
from support.shown import assert_shown, check_frame

from skrank_metrics import evaluate, evaluate_run, get_metric, ndcg_score

# Labels and scores of queries.
TIES = [1, 0, 0], [1.0, 1.0, 0.5]
CONSTANT = [0, 2, 1], [0.0, 0.0, 0.0]
SINGLE = [1], [3.0]
ALL_RELEVANT = [1, 2], [1.0, 2.0]
NONE_RELEVANT = [0, 0], [2.0, 1.0]
FIVE = [TIES, CONSTANT, SINGLE, ALL_RELEVANT, NONE_RELEVANT]


def rows_of(queries):
    labels, scores = zip(*queries, strict=True)
    sizes = list(map(len, labels))
    return {
        "y_true": np.concatenate(labels),
        "y_score": np.concatenate(scores),
        "qid": np.repeat(np.arange(len(sizes)), sizes),
    }


def health_of(*queries, **options):
    return evaluate(**rows_of(queries), **options).health


def told(health, kind):
    """The findings with some words."""
    return [finding for finding in health.findings if kind in finding]


def test_text_html_and_frame_show_each_finding():
    health = health_of(*FIVE, metrics=["ndcg@10", "dcg"])
    assert len(health.findings) == 2
    assert_shown(health, [], ["Findings about labels and scores", *health.findings])
    check_frame(health.to_frame(), {"finding": list(health.findings)})


@pytest.mark.parametrize("n_tied", [0, 1, 2, 3, 4, 5, 6, 12])
def test_ties_are_told_if_they_move_a_mean_by_a_tenth_of_its_interval(n_tied):
    # The relevant one of two documents is first or second in turn, or tied: 1, 1/2 or the mean of both.
    scores = [[2, 1], [1, 2]] * 10
    scores[:n_tied] = [[1, 1]] * n_tied
    report = evaluate([[1, 0]] * 20, scores, metrics="mrr")
    low, high = report.intervals()["mrr"]
    is_told = len(told(report.health, "tied scores")) == 1
    assert is_told == (n_tied * 1 / 4 / 20 > (high - low) / 10)
    assert is_told == (n_tied > 1), "both cases occur"


def test_ties_of_a_metric_are_a_sentence():
    # Many queries, so that intervals are narrow.
    health = health_of(*FIVE * 30, metrics=["ndcg@10", "dcg"])
    (ties,) = told(health, "tied scores")
    rows = rows_of(FIVE)
    worst, best = (ndcg_score(**rows, k=10, ties=policy) for policy in ("worst", "best"))
    assert ties == (
        f"60 queries have tied scores, averaged over all orders; single orders give ndcg@10 from {worst:.4f} to "
        f"{best:.4f}."
    )


def test_each_finding_is_a_sentence():
    health = health_of(*FIVE, metrics=["ndcg@10", "dcg"])
    assert health.findings == (
        "1 query (4) has no relevant document and counts as 0.",
        "1 query has the same score for all documents.",
    ), "ties matter less than how few queries there are"


def test_unjudged_documents_are_no_finding_where_only_relevant_ones_are_known():
    lists = {"a": ["x", "y"], "b": ["z", "u"]}
    for judged, n_findings in (({"x": 1}, 0), ({"x": 1, "v": 0}, 1)):
        health = evaluate_run({"a": judged, "b": {"z": 1}}, lists, "mrr").health
        assert len(told(health, "Nobody judged")) == n_findings
    # If lists are condensed, it matters what is left out of them.
    qrels = {"a": {"x": 1}, "b": {"z": 1}}
    assert told(evaluate_run(qrels, lists, "mrr", condense=True).health, "Nobody") == [
        "Nobody judged 50% of the ranked documents; they are left out."
    ]


DISTANCE = "neg_kendall_tau_distance(normalize=true, replace_undefined_by=2)"


@pytest.mark.parametrize(
    ("metrics", "n_undefined", "sentence"),
    [
        ("auc", 2, "2 queries (1, 2) have documents of only one class and count as 0."),
        (
            ["kendall_tau", "pairwise_accuracy"],
            1,
            "1 query (1) has no two documents with different labels and counts as 0.",
        ),
        (
            "spearman(replace_undefined_by=nan)",
            1,
            "1 query (1) has no two documents with different labels and is left out.",
        ),
        (
            ["map", "ndcg", "cg"],
            1,
            "1 query (1) has no relevant document and counts as 0.",
        ),
        (
            "map(relevance_threshold=2)",
            2,
            "2 queries (0, 1) have no relevant document and count as 0.",
        ),
        (
            DISTANCE,
            1,
            "1 query (1) has no two documents with different labels and counts as -2.",
        ),
    ],
)
def test_each_reason_for_undefined_values_is_a_sentence(metrics, n_undefined, sentence):
    # Two labels, one of them 0; one label, 0; two labels and another, none of them 0.
    queries = ([1, 0], [1, 2]), ([0, 0], [3, 2]), ([1, 1, 2], [1, 2, 3])
    report = evaluate(**rows_of(queries), metrics=metrics)
    assert [one for one in report.health.findings if " ha" in one] == [sentence]
    assert set(report.n_undefined.values()) == {n_undefined}


def test_a_count_of_pairs_is_defined():
    report = evaluate(**rows_of([NONE_RELEVANT]), metrics="neg_kendall_tau_distance")
    assert report.n_undefined == {"neg_kendall_tau_distance": 0}
    assert report.health.findings == ()


def test_a_query_without_a_gain_is_not_said_to_lack_relevant_documents():
    health = health_of(([1, 0], [2, 1]), metrics=[get_metric("ndcg", gain=[0, 0, 1])])
    expected = "1 query (0) has no document with a gain and counts as 0."
    assert health.findings == (expected,)


@pytest.mark.parametrize(
    ("scores", "n_constant", "is_tied"),
    [([2.0, 1.0, 1.0, 1.0], 0, False), ([2.0, 2.0, 1.0, 3.0], 1, True)],
)
def test_documents_that_were_not_ranked_do_not_tie(scores, n_constant, is_tied):
    retrieved = [True, True, False, False]
    health = health_of(([1, 0, 0, 1], scores), retrieved=retrieved)
    assert len(told(health, "1 query has the same score")) == n_constant
    assert len(told(health, "1 query has tied scores")) == is_tied


@pytest.mark.parametrize(("condense", "n"), [(False, "2 queries"), (True, "1 query")])
def test_documents_that_condensed_lists_leave_out_do_not_tie(condense, n):
    judged = [True, True, False, True, False, True]
    health = health_of(TIES, TIES, judged=judged, condense=condense)
    assert [finding.partition(" ha")[0] for finding in told(health, "tied scores")] == [n]


def test_nothing_found():
    health = evaluate([[1, 0, 2], [0, 1, 0]], [[2, 1, 3]] * 2).health
    assert health.findings == ()
    assert str(health).endswith("Nothing found that affects how to read the values.")


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_numbers_in_sentences_are_those_of_a_plain_count(decimals, rng):
    in_order = np.repeat(np.arange(90), rng.integers(1, 40, 90))
    qid = rng.permutation(in_order)
    n = len(qid)
    is_relevant = rng.random(n) < 0.05
    scores = rng.normal(size=n).round(decimals)
    is_infinite = rng.random(n) < 0.05
    scores[is_infinite] = -np.inf
    retrieved = rng.random(n) < 0.9
    report = evaluate(is_relevant.astype(int), scores, qid=qid, retrieved=retrieved)
    n_tied = n_constant = 0
    for query in range(90):
        ranked = scores[retrieved & (qid == query)]
        n_scores = len(set(ranked.tolist()))
        n_tied += n_scores < len(ranked)
        n_constant += n_scores == 1 < len(ranked)
    assert n_tied > 0
    ties = told(report.health, "tied scores")
    constant = told(report.health, "the same score")
    assert all(finding.startswith(f"{n_tied} quer") for finding in ties)
    assert all(finding.startswith(f"{n_constant} quer") for finding in constant)
    assert bool(ties) == (decimals == 0)
    assert bool(constant) == (n_constant > 0)


def test_ties_are_told_where_another_metric_is_undefined():
    metrics = ["auc(replace_undefined_by=nan)", "dcg"]
    (ties,) = told(health_of(([1, 2], [1.0, 1.0]), metrics=metrics), "tied scores")
    # Both labels at either rank: 1 + 2 / log2(3) or 2 + 1 / log2(3), and the mean of the two.
    assert ties.endswith("single orders give dcg from 2.2619 to 2.6309.")


def test_the_smaller_value_of_tied_orders_comes_first():
    falling = get_metric("ndcg", gain=[1, 0])
    health = health_of(([1, 0, 0], [2, 2, 1]), metrics=[falling])
    lowest, highest = re.search(r"from (\S+) to (\S+)\.$", health.findings[0]).groups()
    assert float(lowest) < float(highest), "the smaller label has the larger gain"


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("average", "averaged over all orders; single orders"),
        ("stable", "in the order of the rows; other orders"),
        ("best", "ordered by label, the highest first; other orders"),
        ("worst", "ordered by label, the lowest first; other orders"),
    ],
)
def test_the_order_of_tied_documents_is_named(ties, order):
    (finding,) = told(health_of(*[TIES] * 9, metrics={"m": f"mrr(ties={ties})"}), "tied scores")
    assert finding == f"9 queries have tied scores, {order} give m from 0.5000 to 1.0000."


def test_metrics_that_need_a_cutoff_are_named():
    query = [1, 0, 1, 0], [4, 3, 2, 1]
    metrics = ["recall", "recall@2", "mrr", "fall_out"]
    (finding,) = told(health_of(query, metrics=metrics), "No cutoff")
    same = "recall, fall_out is the same for every order of the documents"
    assert finding == f"No cutoff: without a cutoff rank, {same}. Pass one, as in recall@10."
    retrieved = [True, True, False, True]
    health = health_of(query, metrics="recall", retrieved=retrieved)
    assert told(health, "No cutoff") == [], "the share that was retrieved"


def test_findings_of_weighted_queries():
    health = evaluate([[1, 0]] * 2, [[1, 1], [2, 1]], metrics="mrr", sample_weight=[3, 1]).health
    assert told(health, "tied")[0].endswith("mrr from 0.6250 to 1.0000."), "(3 / 2 + 1) / 4"


def test_findings_of_queries_that_nobody_judged():
    judged = [[False] * 2, [True] * 2, [True] * 2]
    metrics = ["mrr", "recall(average=micro)@1"]
    labels = [[1, 0], [0, 0], [1, 0]]
    found = evaluate(labels, [[2, 1]] * 3, metrics=metrics, judged=judged).health.findings
    assert found[1:] == (
        "2 queries (0, 1) have no relevant document or no judged document and count as 0 in mrr.",
    )


@pytest.mark.parametrize(
    ("condense", "way"),
    [(False, "count as not relevant. condense=True leaves them out."), (True, "are left out.")],
)
def test_what_becomes_of_unjudged_documents(condense, way):
    query = [1, 0, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1]
    judged = [True, False, True, True, False, False]
    retrieved = [True] * 5 + [False]
    options = {"judged": judged, "retrieved": retrieved, "condense": condense}
    health = health_of(query, metrics="map", **options)
    expected = f"Nobody judged 40% of the ranked documents; they {way}"
    assert told(health, "Nobody judged") == [expected]

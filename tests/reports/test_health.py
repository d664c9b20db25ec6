from collections import Counter

import numpy as np
import pytest
from support.shown import assert_shown, check_frame

from skrank_metrics import evaluate, get_metric, ndcg_score

# Five queries: ties of two documents, a constant one, a single document, all relevant, none relevant.
QID = ["ties"] * 3 + ["constant"] * 3 + ["single"] + ["all"] * 2 + ["none"] * 2
LABELS = [*[1, 0, 0], *[0, 2, 1], *[1], *[1, 2], *[0, 0]]
SCORES = [*[1.0, 1.0, 0.5], *[0.0, 0.0, 0.0], *[3.0], *[1.0, 2.0], *[2.0, 1.0]]


@pytest.fixture
def health():
    return evaluate(LABELS, SCORES, qid=QID, metrics=["ndcg@10", "dcg"]).health


def test_text_html_and_frame_show_each_count_in_its_row():
    # Labels and scores of queries: constant, single, all relevant, none relevant, tied in float32, repeated rows.
    queries = [
        ([1, 0], [1, 1]),
        *[([1], [1])] * 2,
        *[([1, 1], [2, 1])] * 5,
        *[([0, 0], [2, 1])] * 4,
    ]
    queries += [([1, 0, 0], [1e6, 1e6 + 1e-3, 1e6 + 2e-3]), ([1, *[0] * 9], [*[5] * 9, 1])]
    labels, scores = (np.concatenate(column) for column in zip(*queries, strict=True))
    qid = np.repeat(range(14), [len(labels) for labels, _ in queries])
    health = evaluate(labels, scores, qid=qid, metrics=["mrr", "dcg@3"]).health
    counts = [
        ("tied documents", health.n_tied, 35),
        ("tied in float32 only", health.n_tied_in_float32, 35),
        ("constant queries", health.n_constant, 14),
        ("single-document queries", health.n_single_document, 14),
        ("all-relevant queries", health.n_all_relevant, 14),
        ("no-relevant queries", health.n_no_relevant, 14),
    ]
    assert [n for _, n, _ in counts] == [2 + 9, 3, 1, 2, 5, 4]
    first = [["", "number", "share"], *([name, str(n), f"{n / of:.1%}"] for name, n, of in counts)]
    second = [["tied labels", "ascending", "descending"]]
    second += [
        [name, f"{low:.4f}", f"{high:.4f}"] for name, (low, high) in health.tie_means.items()
    ]
    assert_shown(
        health, [first, second], ["Health of the labels and scores of 14 queries", *health.findings]
    )
    frame = {"count": [n for n, *_ in counts], "number": [n for _, n, _ in counts]}
    check_frame(health.to_frame(), {**frame, "share": [n / of for _, n, of in counts]})


@pytest.mark.parametrize("n_tied", [0, 1, 2, 3, 4, 5, 6, 12])
def test_ties_are_told_if_they_move_a_mean_by_a_tenth_of_its_interval(n_tied):
    # The relevant one of two documents is first or second in turn, or tied: 1, 1/2 or the mean of both.
    scores = [[2, 1], [1, 2]] * 10
    scores[:n_tied] = [[1, 1]] * n_tied
    report = evaluate([[1, 0]] * 20, scores, metrics="mrr")
    low, high = report.intervals()["mrr"]
    told = [finding for finding in report.health.findings if finding.startswith("Ties: ")]
    assert len(told) == (n_tied * 1 / 4 / 20 > (high - low) / 10)
    assert len(told) == (n_tied > 1), "both cases occur"


def test_ties_of_a_metric_are_a_sentence():
    repeated = np.repeat(np.arange(30), len(QID))  # as often, so that intervals are narrow
    qid = [f"{query} {number}" for query, number in zip(QID * 30, repeated, strict=True)]
    health = evaluate(LABELS * 30, SCORES * 30, qid=qid, metrics=["ndcg@10", "dcg"]).health
    ties = health.findings[0]
    metric = "dcg" if "; dcg, the most affected metric, is" in ties else "ndcg@10"
    worst, best = health.tie_means[metric]
    assert ties.startswith("Ties: 45.5% of the documents have the same score")
    assert (
        f"{worst:.4f} with tied documents in ascending order of their labels and {best:.4f} in descending"
        in ties
    )


def test_each_finding_is_a_sentence(health):
    constant, none = health.findings  # ties matter less than how few queries there are
    extremes = [ndcg_score(LABELS, SCORES, qid=QID, k=10, ties=ties) for ties in ("worst", "best")]
    assert health.tie_means["ndcg@10"] == tuple(extremes)
    assert constant == "Constant scores: 1 query with the same score for all documents."
    assert none == "1 query has no relevant document and counts as 0 in ndcg@10, dcg."
    assert all(finding in " ".join(str(health).split()) for finding in health.findings)


@pytest.mark.parametrize(
    ("metrics", "named"),
    [("ndcg", ""), (["map", "mrr"], "map, mrr"), (["map(relevance_threshold=2)", "mrr"], "mrr")],
)
def test_relevant_documents_only_for_metrics_without_a_threshold(metrics, named):
    health = evaluate([5, 3, 2, 4, 0], [1, 2, 3, 4, 5], qid=[0, 0, 0, 1, 1], metrics=metrics).health
    expected = [
        f"All relevant: 1 query with relevant documents only; for {named}, every order is correct."
    ]
    assert [one for one in health.findings if one.startswith("All relevant")] == expected * bool(
        named
    )
    assert health.n_all_relevant == 1


def test_each_reason_for_undefined_values_is_a_sentence():
    # Two labels, one of them 0; one label, 0; two labels and another, none of them 0.
    labels, qid = [1, 0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2, 2]
    names = [
        "auc",
        "kendall_tau",
        "spearman(replace_undefined_by=nan)",
        "pairwise_accuracy",
        "map",
        "ndcg",
    ]
    names += [
        "map(relevance_threshold=2)",
        "neg_kendall_tau_distance(normalize=true, replace_undefined_by=2)",
    ]
    report = evaluate(
        labels, [1, 2, 3, 2, 1, 2, 3], qid=qid, metrics=[*names, "neg_kendall_tau_distance", "cg"]
    )
    assert [finding for finding in report.health.findings if " ha" in finding] == [
        "2 queries have documents of only one class and count as 0 in auc.",
        "1 query has no two documents with different labels and counts as 0 in kendall_tau, pairwise_accuracy.",
        "1 query has no two documents with different labels and is left out of spearman(replace_undefined_by=nan).",
        "1 query has no relevant document and counts as 0 in map, ndcg, cg.",
        "2 queries have no relevant document and count as 0 in map(relevance_threshold=2).",
        "1 query has no two documents with different labels and counts as -2 in "
        "neg_kendall_tau_distance(normalize=true, replace_undefined_by=2).",
    ]
    assert [
        report.n_undefined[name] for name in ("auc", "kendall_tau", "map", names[-2], names[-1])
    ] == [2, 1, 1, 2, 1]


def test_a_query_without_a_gain_is_not_said_to_lack_relevant_documents():
    report = evaluate([[1, 0]], [[2, 1]], metrics=[get_metric("ndcg", gain=[0, 0, 1])])
    assert report.health.n_no_relevant == 0
    assert report.health.findings == (
        "1 query has no document with a gain and counts as 0 in ndcg(gain=[0, 0, 1]).",
    )


def test_collapse_in_float32():
    scores = 1e6 + np.array([0.0, 0.001, 0.002, 5.0])
    health = evaluate([1, 0, 2, 1], scores, qid=[0] * 4).health
    assert (health.n_tied, health.n_tied_in_float32) == (0, 3)
    (finding,) = health.findings
    expected = "Float32: 3 further documents would tie in float32; "
    assert finding == expected + "libraries that round scores to float32 give different values."
    assert (
        evaluate([1, 0, 2], [1e300, 2e300, -np.inf], qid=[0] * 3).health.n_tied_in_float32 == 2
    ), "no error"


def test_documents_that_were_not_ranked_do_not_tie():
    retrieved = [True, True, False, False]
    health = evaluate([1, 0, 0, 1], [2.0, 1.0, 1.0, 1.0], qid=[0] * 4, retrieved=retrieved).health
    assert (health.n_tied, health.n_constant, health.n_documents) == (0, 0, 4)
    health = evaluate([1, 0, 0, 1], [2.0, 2.0, 1.0, 3.0], qid=[0] * 4, retrieved=retrieved).health
    assert (health.n_tied, health.n_constant) == (2, 1), "both ranked documents have the same score"


def test_nothing_found():
    health = evaluate([[1, 0, 2], [0, 1, 0]], [[2, 1, 3]] * 2).health
    assert health.findings == ()
    assert str(health).endswith("Nothing found that affects how to read the values.")


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_counts_are_those_of_a_plain_count(decimals, rng):
    qid = rng.permutation(np.repeat(np.arange(90), rng.integers(1, 40, 90)))
    y, scores = rng.integers(0, 4, len(qid)) + 0.5, rng.normal(size=len(qid)).round(decimals)
    scores[rng.random(len(qid)) < 0.05] = -np.inf
    retrieved = rng.random(len(qid)) < 0.9
    health = evaluate(y, scores, qid=qid, retrieved=retrieved).health
    rows = list(zip(qid[retrieved], scores[retrieved], y[retrieved], strict=True))
    tied = Counter((query, score) for query, score, _ in rows)
    in_float32 = Counter((query, np.float32(score)) for query, score, _ in rows)
    ranked, n_scores = Counter(query for query, _, _ in rows), Counter(query for query, _ in tied)
    n_tied = sum(n for n in tied.values() if n > 1)
    assert health.n_tied == n_tied > 0
    assert health.n_tied_in_float32 == sum(n for n in in_float32.values() if n > 1) - n_tied
    assert health.n_constant == sum(n > 1 and n_scores[query] == 1 for query, n in ranked.items())


def test_without_ties_all_their_orders_give_the_mean(rng):
    qid = np.repeat(np.arange(30), 9)
    report = evaluate(
        rng.integers(0, 3, len(qid)),
        rng.permutation(len(qid)),
        qid=qid,
        metrics=["map", "kendall_tau"],
    )
    assert report.health.n_tied == 0
    assert report.health.tie_means == {name: (mean, mean) for name, mean in report.mean.items()}


def test_ties_are_told_where_another_metric_is_undefined():
    health = evaluate(
        [1, 2], [1.0, 1.0], qid=[0, 0], metrics=["auc(replace_undefined_by=nan)", "dcg"]
    ).health
    # Both labels at either rank: 1 + 2 / log2(3) or 2 + 1 / log2(3), and the mean of the two.
    assert health.findings[1].endswith(
        "would be 2.2619 with tied documents in ascending order of their labels and 2.6309 in descending order."
    )


def test_orders_of_ties_are_no_range():
    falling = get_metric("ndcg", gain=[1, 0])
    health = evaluate([1, 0, 0], [2, 2, 1], qid=[0, 0, 0], metrics=[falling]).health
    ((ascending, descending),) = health.tie_means.values()
    assert ascending > descending, "the smaller label has the larger gain"
    assert "worst" not in str(health)
    order = "with tied documents in ascending order of their labels"
    assert f"{ascending:.4f} {order} and {descending:.4f}" in health.findings[0]


def test_metrics_that_need_a_cutoff_are_named():
    rows = {"y_true": [1, 0, 1, 0], "y_score": [4, 3, 2, 1], "qid": [0] * 4}
    report = evaluate(**rows, metrics=["recall", "recall@2", "mrr", "fall_out"])
    (finding,) = [finding for finding in report.health.findings if finding.startswith("No cutoff")]
    assert finding.startswith(
        "No cutoff: without a cutoff rank, recall, fall_out is the same for every order"
    )
    assert finding.endswith(" Pass one, as in recall@10.")
    masked = evaluate(
        **rows, metrics="recall", retrieved=[True, True, False, True]
    )  # the share that was retrieved
    assert not any("cutoff" in finding for finding in masked.health.findings)


def test_queries_of_which_nothing_is_ranked_or_judged_count_as_neither_single_nor_relevant():
    # Of the first query one document was judged and none ranked, of the second one ranked and none judged, of the third
    # neither.
    masks = {
        "judged": [[1, 0], [0, 0], [0, 0], [1, 1]],
        "retrieved": [[0, 0], [1, 0], [0, 0], [1, 1]],
    }
    masks = {name: np.array(mask, dtype=bool) for name, mask in masks.items()}
    health = evaluate(
        np.where(masks["judged"], 1, np.nan), [[2, 1]] * 4, metrics="mrr", **masks
    ).health
    assert (health.n_single_document, health.n_all_relevant) == (2, 1)


def test_findings_of_weighted_queries_and_of_those_that_nobody_judged():
    health = evaluate([[1, 0]] * 2, [[1, 1], [2, 1]], metrics="mrr", sample_weight=[3, 1]).health
    assert health.tie_means == {"mrr": ((3 / 2 + 1) / 4, 1)}
    assert "; mrr is 0.8125, and would be 0.6250 with" in health.findings[0], "(3 * 3/4 + 1) / 4"
    judged, metrics = [[False] * 2, [True] * 2, [True] * 2], ["mrr", "recall(average=micro)@1"]
    found = evaluate(
        [[1, 0], [0, 0], [1, 0]], [[2, 1]] * 3, metrics=metrics, judged=judged
    ).health.findings
    expected = [
        f"1 query has no {what} document and counts as 0 in mrr." for what in ("judged", "relevant")
    ]
    assert list(found[1:]) == expected


@pytest.mark.parametrize(
    ("condense", "way"), [(False, "count as not relevant"), (True, "are left out")]
)
def test_what_becomes_of_unjudged_documents(condense, way):
    judged, retrieved = [True, False, True, True, False, False], [True] * 5 + [False]
    masks = {"judged": judged, "retrieved": retrieved, "condense": condense}
    report = evaluate([1, 0, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1], qid=[1] * 6, metrics="map", **masks)
    expected = f"Unjudged: nobody judged 2 ranked documents (40.0%); they {way}."
    assert [finding for finding in report.health.findings if finding.startswith("Unjudged")] == [
        expected
    ]

"""Findings about input that looks like a mistake."""

import numpy as np
import pandas as pd
import pytest

from skrank_metrics import evaluate, evaluate_run, make_metric

N = 40
QID = np.repeat(np.arange(N), 6)


@pytest.fixture
def labels(rng):
    return rng.integers(0, 3, 6 * N)


@pytest.fixture
def scores(rng, labels):
    """Better than chance."""
    return labels + rng.normal(size=6 * N)


def findings(*rows, **options):
    found = evaluate(*rows, qid=QID, **options).health.findings
    return [
        finding for finding in found if finding.startswith(("Reversed?", "Swapped?", "No grade"))
    ]


def test_scores_upside_down_are_noticed(labels, scores):
    (finding,) = findings(labels, -scores, metrics=["ndcg@10", "mrr"])
    given, instead = (
        evaluate(labels, own, qid=QID, metrics="ndcg@10").mean["ndcg@10"]
        for own in (-scores, scores)
    )
    assert finding == (
        f"Reversed? ndcg@10 is {given:.4f}; with the scores reversed, it would be {instead:.4f} over all 40 queries: "
        "are these distances or ranks? Pass their negatives."
    )
    assert "Reversed?" in str(evaluate(labels, -scores, qid=QID))


def test_good_and_random_scores_are_not_suspicious(rng, labels, scores):
    assert findings(labels, scores) == []
    assert findings(labels, np.zeros(6 * N)) == []
    # Three standard errors are exceeded by chance once in 700 samples; twice in a row far less often.
    assert sum(len(findings(labels, rng.random(6 * N))) for _ in range(50)) <= 1


def test_the_direction_of_the_metric_counts(labels, scores):
    for metric in ("neg_kendall_tau_distance", "kendall_tau"):
        assert findings(labels, scores, metrics=metric) == []
        assert len(findings(labels, -scores, metrics=metric)) == 1


def test_only_ranked_documents_are_reversed(rng, labels, scores):
    retrieved = rng.random(6 * N) < 0.7
    options = {"retrieved": retrieved, "metrics": "mrr"}
    (finding,) = findings(labels, np.where(retrieved, -scores, np.inf), **options)
    expected = evaluate(labels, scores, qid=QID, **options).mean["mrr"]
    assert f"would be {expected:.4f}" in finding


def test_few_queries_are_no_evidence():
    report = evaluate([1, 0] * 5, [1, 2] * 5, qid=np.repeat(np.arange(5), 2), metrics="mrr")
    assert not any("Reversed?" in finding for finding in report.health.findings)


@pytest.mark.parametrize(("n_pairs", "is_told"), [(9, False), (10, True)])
@pytest.mark.parametrize("missing", ["first", "second"])
def test_only_pairs_of_ranked_documents_count(n_pairs, is_told, missing):
    # 10 inverted pairs are more than three standard errors, 3 * sqrt(10.5); 9 are fewer than 3 * sqrt(9.5).
    n = n_pairs + 5
    retrieved = np.ones((n, 2), dtype=bool)
    retrieved[n_pairs:, ["first", "second"].index(missing)] = False
    report = evaluate([[1, 0]] * n, [[-1, 1]] * n, retrieved=retrieved, metrics="kendall_tau")
    assert any("Reversed?" in line for line in report.health.findings) == is_told


def test_custom_metrics_are_not_computed_again(labels, scores):
    calls = []

    def first(labels):
        calls.append(1)
        return labels[0] / 2

    metric = make_metric(first)
    report = evaluate(labels, -scores, qid=QID, metrics=metric)
    calls.clear()
    assert not any("Reversed?" in finding for finding in report.health.findings)
    assert not calls


def test_distances_of_lists_by_id(rng):
    qrels = {f"q{q}": [f"d{q}"] for q in range(20)}
    run = {q: {f"d{number}": rng.random() for number in range(20)} for q in qrels}
    for number, distances in enumerate(run.values()):
        distances[f"d{number}"] = 0.0  # the nearest
    (finding,) = (f for f in evaluate_run(qrels, run, "mrr").health.findings if "Reversed?" in f)
    assert "mrr is 0.0500; with the scores reversed, it would be 1.0000" in finding


def test_labels_and_scores_in_each_others_place(labels, scores):
    (finding,) = findings(np.abs(scores), labels)
    n = len(np.unique(np.abs(scores)))
    assert finding == (
        f"Swapped? Among the first 240 documents, labels have {n} different values, but scores only 0, 1, 2: are "
        "labels and scores, or qrels and run, in each other's place?"
    )
    assert findings(labels / 2, scores) == [], "labels between grades are fine"


def test_labels_and_query_ids_in_each_others_place(labels, scores):
    found = evaluate(QID, scores, qid=labels).health.findings
    assert any(
        "but query ids only 0, 1, 2: are labels and query ids, as in with_qid" in one
        for one in found
    )
    found = evaluate(labels, scores, qid=QID % 3).health.findings
    assert not any("Swapped?" in one for one in found), "three queries with grades as labels"


def test_ratings_from_one(labels, scores):
    (finding,) = findings(labels + 1, scores, metrics=["ndcg", "mrr", "map"])
    assert finding == (
        "No grade 0: all judged documents have labels above 0, up to 3, and count as relevant in mrr, map. If the "
        "lowest grade means not relevant, set relevance_threshold."
    )
    assert findings(labels + 1, scores, metrics="ndcg") == []
    assert findings(labels + 1, scores, metrics="mrr(relevance_threshold=2)") == []
    assert findings(labels, scores, metrics="mrr") == []


def test_purchases_are_all_relevant_and_no_ratings():
    frame = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "c"]})
    found = evaluate_run(frame, {1: ["a", "x"], 2: ["y", "c"]}, "mrr").health.findings
    assert not any(one.startswith("No grade") for one in found)


def test_queries_of_a_single_document_have_nothing_to_rank():
    start = "Nothing to rank: each query has a single document"
    alone = evaluate([1, 0, 2], [3.0, 2.0, 1.0], qid=[1, 2, 3]).health.findings
    assert any(finding.startswith(start) for finding in alone)
    several = evaluate([1, 0, 2], [3.0, 2.0, 1.0], qid=[1, 2, 2]).health.findings
    assert not any(finding.startswith(start) for finding in several)


def test_all_documents_that_are_relevant_are_a_finding_unless_others_were_returned():
    report = evaluate([1, 1, 1], [3.0, 2.0, 1.0], qid=[1, 2, 2], metrics=["mrr", "map"])
    assert report.mean == {"mrr": 1.0, "map": 1.0}
    (finding,) = report.health.findings
    assert finding.startswith("No grade 0: all judged documents have labels above 0, up to 1, and")
    bought = {"u": ["tea"], "v": ["rice"]}
    shown = {"u": ["tea", "salt"], "v": ["salt", "rice"]}
    assert evaluate_run(bought, shown, "mrr").health.findings == ()

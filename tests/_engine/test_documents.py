"""Many rankings share one truth, and what follows from its labels; no public name shows this."""

import weakref

import numpy as np

from skrank_metrics import evaluate, get_metric
from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.from_rows import documents_from_rows, rank_rows, ranking_from_rows
from skrank_metrics._engine.gains import check_discount, check_gain
from skrank_metrics._engine.per_query import per_query

LABELS = [[1, 0, 2], [0, 0, 1]]
SCORES = [[[3, 2, 1], [1, 2, 3]], [[1, 2, 3], [3, 2, 1]]]


def test_rankings_share_their_documents_and_what_follows_from_labels(monkeypatch):
    judged = np.array([[True, True, True], [True, False, True]])
    truth = documents_from_rows(LABELS, judged=judged)
    counted = []
    count = Documents._count_ideal
    monkeypatch.setattr(
        Documents, "_count_ideal", lambda *given: counted.append(given) or count(*given)
    )
    metrics = [get_metric(name).computation for name in ("ndcg@2", "bpref")]
    found = []
    for scores in SCORES:
        ranking = rank_rows(truth, scores)
        assert ranking.documents is truth
        assert ranking.seen("judged").documents is truth.only_judged[1]
        found.append([result.values.tolist() for result in per_query(ranking, metrics)])
    assert len(counted) == 1, "the ideal order of both rankings"
    for scores, values in zip(SCORES, found, strict=True):
        report = evaluate(LABELS, scores, judged=judged, metrics=["ndcg@2", "bpref"])
        assert values == [own.tolist() for own in report.per_query.values()]


def test_documents_know_no_score():
    truth = documents_from_rows(LABELS)
    first, second = (rank_rows(truth, scores) for scores in SCORES)
    ideal = truth.ideal(check_gain("linear"), check_discount("log2"), None)
    assert first.keys().tolist() == [3, 2, 1, 1, 2, 3]
    assert second.keys().tolist() == [1, 2, 3, 3, 2, 1]
    assert truth.ideal(check_gain("linear"), check_discount("log2"), None) is ideal


def test_documents_are_freed_without_the_garbage_collector():
    ranking = ranking_from_rows(LABELS, SCORES[0], judged=np.eye(2, 3, dtype=bool))
    per_query(ranking, [get_metric(name).computation for name in ("ndcg", "bpref")])
    references = [weakref.ref(ranking), weakref.ref(ranking.documents)]
    del ranking
    assert [reference() for reference in references] == [None, None]


def test_all_documents_are_seen_without_a_copy():
    ranking = ranking_from_rows(LABELS, SCORES[0])
    for unjudged in ("zero", "left out", "counted"):
        assert ranking.seen(ranking.sight(unjudged)) is ranking


def test_a_query_that_loses_all_documents_has_none_that_is_ranked():
    judged = np.array([[True, False], [False, False]])
    for retrieved in (None, np.array([[True, False], [True, True]])):
        ranking = ranking_from_rows(
            [[1, 0], [0, 0]], [[2, 1], [2, 1]], judged=judged, retrieved=retrieved
        ).seen("judged")
        assert ranking.n_retrieved.tolist() == [1, 0]
        assert ranking.documents.n_judged.tolist() == [1, 0]

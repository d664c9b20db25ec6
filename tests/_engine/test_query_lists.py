"""Lists of queries share what follows from labels, and are freed at once; no public name shows either."""

import weakref

import numpy as np

from skrank_metrics._engine.gains import check_discount, check_gain
from skrank_metrics._engine.query_lists import query_lists


def test_lists_with_other_scores_share_what_follows_from_labels():
    lists = query_lists(
        [[1, 0, 2], [0, 0, 1]], [[3, 2, 1], [1, 2, 3]], judged=np.ones((2, 3), dtype=bool)
    )
    ideal = lists.ideal(check_gain("linear"), check_discount("log2"), None)
    first_keys, condensed, n_judged = lists.keys, lists.seen("left out"), lists.n_judged
    other = lists.with_scores(np.array([1.0, 2, 3, 3, 2, 1]))
    assert other.ideal(check_gain("linear"), check_discount("log2"), None) is ideal
    assert other.grades is lists.grades
    assert other.n_judged is n_judged
    assert first_keys.tolist() == [3, 2, 1, 1, 2, 3]
    assert other.keys.tolist() == [1, 2, 3, 3, 2, 1]
    assert condensed.scores.tolist() == first_keys.tolist(), (
        "lists that depend on scores are made again"
    )
    assert other.seen("left out").scores.tolist() == other.keys.tolist()
    assert other._counts is not lists._counts


def test_lists_are_freed_without_the_garbage_collector():
    lists = query_lists([[1, 0, 2]], [[3, 2, 1]])
    assert lists.seen() is lists.seen("left out") is lists
    reference = weakref.ref(lists)
    del lists
    assert reference() is None


def test_a_query_that_loses_all_documents_has_none_that_is_ranked():
    judged = np.array([[True, False], [False, False]])
    for retrieved in (None, np.array([[True, False], [True, True]])):
        lists = query_lists(
            [[1, 0], [0, 0]], [[2, 1], [2, 1]], judged=judged, retrieved=retrieved
        ).seen("left out")
        assert (lists.n_retrieved.tolist(), lists.n_judged.tolist()) == ([1, 0], [1, 0])

"""Every small query there is: labels 0, 1 and 2, and scores in every weak order, against exact arithmetic.

Up to four documents, 6,456 queries; SKRANK_EXHAUSTIVE_DOCUMENTS=5 takes all 137,919 of up to five, and a few minutes.
"""

import functools
import itertools
import os

import numpy as np
import pytest
from support import reference
from test_enumeration import OPTIONS, TIES, bound_metrics

N_DOCUMENTS = int(os.environ.get("SKRANK_EXHAUSTIVE_DOCUMENTS", "4"))
CUTOFFS = (None, 1, 2, 3, 4, 5, 6)


def weak_orders(n):
    """Ways to rank n documents with ties, as scores: 1, 3, 13, 75, 541 for n = 1, ..., 5."""
    return [
        scores
        for scores in itertools.product(range(n), repeat=n)
        if set(scores) == set(range(max(scores) + 1))
    ]


QUERIES = [
    query
    for n in range(1, N_DOCUMENTS + 1)
    for query in itertools.product(itertools.product(range(3), repeat=n), weak_orders(n))
]
ROWS = [
    np.array(list(itertools.chain.from_iterable(column))) for column in zip(*QUERIES, strict=True)
]
QID = np.repeat(np.arange(len(QUERIES)), [len(labels) for labels, _ in QUERIES])


@functools.cache
def distinct_queries(ties):
    """The queries that differ in more than the order of rows, and the number of the one that each query equals."""

    def ranked(query):
        rows = sorted(
            zip(*query, strict=True), key=lambda row: (-row[1], 0 if ties == "stable" else row[0])
        )
        return tuple(zip(*rows, strict=True))

    numbers = {}
    each = [numbers.setdefault(ranked(query), len(numbers)) for query in QUERIES]
    return list(numbers), np.array(each)


def test_no_query_is_left_out():
    assert [len(weak_orders(n)) for n in range(1, 6)] == [1, 3, 13, 75, 541]
    assert len(QUERIES) == len(set(QUERIES))
    assert len(QUERIES) == sum(3**n * len(weak_orders(n)) for n in range(1, N_DOCUMENTS + 1))


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_equals_exact_arithmetic_on_every_query(name, ties):
    distinct, each = distinct_queries(ties)
    for metric, options in bound_metrics(name, ties, CUTOFFS):
        expected = [
            reference.expected(name.removeprefix("neg_"), *query, ties=ties, **options)
            for query in distinct
        ]
        values = metric(*ROWS, qid=QID)
        np.testing.assert_allclose(
            values, np.array(expected)[each], rtol=0, atol=1e-12, err_msg=f"{metric}"
        )

"""Each constant of a size, one below, at and one above: values against loops, orders against a plain stable sort."""

import itertools
import math

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric, make_metric, ndcg_score
from skrank_metrics._engine import documents, label_orders, ranked_blocks, rectangles
from skrank_metrics._input.grouping import group_rows, stable_order
from skrank_metrics._input.query_ids import SAMPLE, group_ids


def around(number):
    return [number - 1, number, number + 1]


def ndcg_by_loops(labels, scores, k, gain=lambda label: label):
    """NDCG of one query whose scores do not tie."""
    order = sorted(range(len(labels)), key=lambda row: -scores[row])
    gains = [gain(labels[row]) for row in order]
    best = sorted(gains, reverse=True)
    dcg = sum(own / math.log2(rank + 1) for rank, own in enumerate(gains[:k], start=1))
    ideal = sum(own / math.log2(rank + 1) for rank, own in enumerate(best[:k], start=1))
    return dcg / ideal if ideal else 0.0


@pytest.mark.parametrize("largest", [*around(2**16), *around(2**17), 3])
def test_rows_are_sorted_by_codes_of_any_size(rng, largest):
    codes = rng.integers(0, largest + 1, 5_000)
    codes[:4] = [largest, 0, largest, 0]
    np.testing.assert_array_equal(stable_order(codes), np.argsort(codes, kind="stable"))


@pytest.mark.parametrize("n_queries", [*around(2**16), 2**17 + 1])
def test_shuffled_rows_of_many_queries(rng, n_queries):
    ids = np.tile(rng.permutation(n_queries), 2)
    grouping = group_rows(ids)
    np.testing.assert_array_equal(
        grouping.order, np.concatenate([[row, row + n_queries] for row in range(n_queries)])
    )
    assert grouping.sizes.tolist() == [2] * n_queries


@pytest.mark.parametrize("width", around(4 * 300))
@pytest.mark.parametrize("low", [-(2**62), 0, 2**40])
def test_integers_that_are_near_or_far_apart(rng, low, width):
    # Up to four times their number, a table is faster than sorting.
    ids = low + rng.integers(0, width, 300)
    ids[:2] = low, low + width - 1
    grouping = group_rows(rng.permutation(ids))
    assert len(grouping.ids) == len(set(ids.tolist()))
    np.testing.assert_array_equal(grouping.ids[grouping.codes], grouping.spread(grouping.ids))


@pytest.mark.parametrize("n", around(SAMPLE))
@pytest.mark.parametrize("n_each", [1, 2, 3, 40])
def test_text_in_runs_of_any_length(n, n_each):
    ids = [f"q{row // n_each % 50}" for row in range(n)]
    grouping = group_ids(np.array(ids, dtype=object), n)
    assert grouping.ids.tolist() == list(dict.fromkeys(ids))
    assert grouping.ids[grouping.codes].tolist() == ids


@pytest.mark.parametrize("largest", around(documents.MAX_COUNTED_GRADE))
@pytest.mark.parametrize("k", [None, 3])
def test_labels_that_are_counted_or_sorted(rng, largest, k):
    labels, scores = rng.integers(0, largest + 1, 40), rng.permutation(40)
    labels[5] = largest
    expected = ndcg_by_loops(labels.tolist(), scores, k, lambda label: 2**label - 1)
    value = ndcg_score([labels], [scores], gain="exp2", k=k)
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", around(ranked_blocks.LEAST_TIMES_DEPTH * 5))
def test_lists_of_which_all_or_some_documents_are_sorted(rng, n):
    labels, scores = rng.integers(0, 3, (6, n)), rng.random((6, n))
    values = ndcg_score(labels, scores, k=5, average=None)
    expected = [ndcg_by_loops(*rows, 5) for rows in zip(labels.tolist(), scores, strict=True)]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


@pytest.mark.parametrize("cells", [rectangles.LEAST_BLOCK_CELLS, rectangles.BLOCK_CELLS])
@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_blocks_hold_each_list_once_and_no_more_cells_than_they_may(rng, cells, beyond):
    sizes = np.concatenate(
        [[cells + beyond, 1, cells // 2, cells // 2, 0], rng.integers(1, 60, 300)]
    )
    blocks = list(rectangles.blocks_of_queries(sizes, cells))
    assert sorted(itertools.chain.from_iterable(block.tolist() for block in blocks)) == list(
        range(len(sizes))
    )
    for block in blocks:
        assert len(block) == 1 or len(block) * sizes[block].max() <= cells


@pytest.mark.parametrize("n", around(rectangles.LEAST_BLOCK_CELLS))
def test_values_of_lists_as_long_as_a_block(rng, n):
    sizes = [n, 3, n + 1, 1]
    qid = np.repeat(np.arange(4), sizes)
    labels, scores = rng.integers(0, 3, len(qid)), rng.permutation(len(qid))
    values = ndcg_score(labels, scores, qid=qid, average=None)
    expected = [
        ndcg_by_loops(labels[qid == query].tolist(), scores[qid == query], None)
        for query in range(4)
    ]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def first_times_second(labels):
    return float(labels[0] * 10 + labels[1]) if len(labels) > 1 else 0.0


@pytest.mark.parametrize("sizes", [[6], [7], [3, 5], [4, 5], [2, 3, 2, 3]])
def test_orders_of_several_ties_are_counted_together(sizes):
    """6! = 3! 5! = 720 orders are all tried; 7!, 4! 5! are too many. 2! 3! 2! 3! = 144."""
    n_orders = math.prod(map(math.factorial, sizes))
    scores = np.repeat(-np.arange(len(sizes)), sizes)
    seen = []

    def count(labels):
        seen.append(tuple(labels))
        return 1.0

    metric = make_metric(count, name="count", undefined="no document")
    evaluate([np.arange(len(scores))], [scores], metrics=metric)
    if n_orders <= label_orders.MOST_ORDERS:
        assert len(set(seen)) == len(seen) == n_orders
    else:
        assert len(seen) == label_orders.N_DRAWN
    starts = np.cumsum(sizes) - sizes
    for start, size in zip(starts, sizes, strict=True):
        groups = {tuple(sorted(labels[start : start + size])) for labels in seen}
        assert groups == {tuple(range(start, start + size))}


def test_the_largest_cutoffs():
    rows = [[1, 0]], [[2, 1]]
    assert get_metric("ndcg", k=2**63 - 1)(*rows) == 1
    for k in (2**63, 10**400):
        with pytest.raises(
            ValueError, match=r"k must be an int >= 1 or None and below 2\*\*63; got"
        ):
            get_metric("ndcg", k=k)
    longest = ranked_blocks.LONGEST_IDEAL
    with pytest.raises(ValueError, match="k must be at most 10,000,000 if ideal is a grade"):
        get_metric("ndcg(ideal=1)", k=longest + 1)(*rows)
    # A binary list of this length: 1 / (1 + 1 / log2(3) + ...).
    depth = 1_000
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, depth + 1))
    assert get_metric("ndcg(ideal=1)", k=depth)(*rows) == pytest.approx(1 / ideal, rel=1e-12)


def test_parameters_beyond_any_float():
    with pytest.raises(ValueError, match=r"p must be a number in .* got a number beyond 1\.8e308"):
        get_metric("rbp", p=10**400)

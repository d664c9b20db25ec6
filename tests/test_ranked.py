"""Order, ties and cutoff, which are decided in one place."""

import numpy as np
import pytest

from skrank_metrics import _queries, evaluate, ndcg_score
from skrank_metrics._queries import query_lists
from skrank_metrics._ranked import ranked_blocks, sort_each_row


def _close_keys(rng, kind, shape):
    """Keys that differ in their last bits, where the columns are put while sorting."""
    if kind == "neighbours":
        return (1.0 + rng.integers(0, 50, shape) * np.spacing(1.0)) * rng.choice([-1, 1], shape)
    if kind == "denormal":
        return rng.integers(-50, 50, shape) * 5e-324
    if kind == "huge":
        return rng.choice([-1, 1], shape) * (np.finfo(float).max - rng.integers(0, 9, shape) * np.spacing(1e308))
    return rng.normal(size=shape)


@pytest.mark.parametrize("kind", ["neighbours", "denormal", "huge", "usual"])
@pytest.mark.parametrize("width", [1, 2, 17, 300])
def test_keys_that_differ_in_their_last_bits_are_sorted(rng, kind, width):
    keys = _close_keys(rng, kind, (40, width))
    keys[::3, width // 2 :] = np.inf
    before = keys.copy()
    order, ranked = sort_each_row(keys)
    np.testing.assert_array_equal(ranked, np.sort(keys, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(keys, order, axis=1), ranked)
    np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(width), (40, 1)))
    np.testing.assert_array_equal(keys, before)


def test_zeros_of_both_signs_tie():
    assert ndcg_score([0, 1], [0.0, -0.0], qid=[1, 1], k=1) == (0 + 1) / 2


@pytest.mark.parametrize("depth", [None, 1, 3, 1000])
def test_each_query_is_ranked_once(rng, depth):
    qid = np.sort(rng.integers(0, 500, 4_000))
    lists = query_lists(np.ones(4_000), rng.integers(0, 9, 4_000), qid=qid)
    ranked = [queries for queries, _ in ranked_blocks(lists, depth, "average")]
    np.testing.assert_array_equal(np.sort(np.concatenate(ranked)), np.arange(lists.n_queries))
    assert len(ranked) < len(list(lists.blocks())) or depth is None


@pytest.mark.parametrize("ties", ["average", "best", "worst", "stable"])
def test_blocks_of_any_size_give_the_same(rng, monkeypatch, ties):
    qid = rng.integers(0, 60, 3_000)
    rows = rng.integers(0, 4, 3_000), rng.normal(size=3_000).round(1)
    metrics = ["ndcg@3", "map", "err@5", "mrr", "kendall_tau"]
    expected = evaluate(*rows, qid=qid, metrics=metrics, ties=ties)
    for cells in (1, 400, 10**9):
        monkeypatch.setattr(_queries, "BLOCK_CELLS", cells)
        monkeypatch.setattr(_queries, "LEAST_BLOCK_CELLS", cells)
        got = evaluate(*rows, qid=qid, metrics=metrics, ties=ties)
        for name in metrics:
            np.testing.assert_allclose(got.per_query[name], expected.per_query[name], rtol=0, atol=1e-14)

"""Order, ties and cutoff, which are decided in one place."""

import numpy as np
import pytest
from support import reference

from skrank_metrics import evaluate, ndcg_score
from skrank_metrics._engine import query_lists as module
from skrank_metrics._engine import top_k
from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._engine.ranked_lists import ranked_blocks, sort_each_row


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


@pytest.mark.parametrize("ties", ["average", "best", "worst", "stable"])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinite_scores_rank_as_the_furthest_finite_ones(rng, infinite, ties):
    y_true, qid = rng.integers(0, 4, 400), rng.integers(0, 30, 400)
    furthest = np.copysign(9.0, infinite)
    y_score = rng.choice([0.0, 1.0, -1.0, furthest], 400)
    metrics = ["ndcg@3", "map", "mrr", "bpref", "kendall_tau"]
    expected = evaluate(y_true, y_score, qid=qid, metrics=metrics, ties=ties)
    got = evaluate(y_true, np.where(y_score == furthest, infinite, y_score), qid=qid, metrics=metrics, ties=ties)
    for name in metrics:
        np.testing.assert_array_equal(got.per_query[name], expected.per_query[name])


@pytest.mark.parametrize("depth", [None, 1, 3, 1000])
def test_each_query_is_ranked_once(rng, depth):
    qid = np.sort(rng.integers(0, 500, 4_000))
    lists = query_lists(np.ones(4_000), rng.integers(0, 9, 4_000), qid=qid)
    ranked = list(ranked_blocks(lists, depth, "average"))
    np.testing.assert_array_equal(
        np.sort(np.concatenate([queries for queries, _ in ranked])), np.arange(lists.n_queries)
    )
    assert len(ranked) < len(list(lists.blocks())) or depth is None
    assert all(len(queries) * block.depth <= lists.block_cells for queries, block in ranked)


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [9, 1], ids=["no ties", "ties"])
@pytest.mark.parametrize("name", ["ndcg", "map", "err"])
def test_first_ranks_of_long_lists(rng, name, decimals):
    sizes = rng.integers(150, 300, 300)
    rows = rng.integers(0, 4, sizes.sum()), rng.normal(size=sizes.sum()).round(decimals)
    got = evaluate(*rows, qid=np.repeat(np.arange(300), sizes), metrics=f"{name}@4", ties="worst").per_query[
        f"{name}@4"
    ]
    queries = zip(*(np.split(column, np.cumsum(sizes)[:-1]) for column in rows), strict=True)
    expected = [float(reference.expected(name, y.tolist(), s.tolist(), ties="worst", k=4)) for y, s in queries]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["few first", "many first"])
def test_too_few_candidates_of_one_query_and_too_many_of_another(order):
    # 2 of the one are retrieved; of the other 4 come among the first 3, as 2 tie: as many as if each query had 3.
    y_true = np.array([[3, 1, 0, 2, 0, 1, 2, 0]] * 2)[order]
    y_score = np.array([[8, 7, 6, 5, 4, 3, 2, 1], [4, 8, 6, 6, 1, 7, 3, 2]])[order]
    retrieved = np.array([[False, True, True] + [False] * 5, [True] * 8])[order]
    cg = evaluate(y_true, y_score, metrics="cg@3", retrieved=retrieved).per_query["cg@3"]
    assert cg.tolist() == [1 + 0, 1 + 1 + (0 + 2) / 2][order]


@pytest.mark.parametrize("ties", ["average", "best", "worst", "stable"])
def test_blocks_of_any_size_give_the_same(rng, monkeypatch, ties):
    qid = rng.integers(0, 60, 3_000)
    rows = rng.integers(0, 4, 3_000), rng.normal(size=3_000).round(1)
    metrics = ["ndcg@3", "map", "err@5", "mrr", "kendall_tau"]
    expected = evaluate(*rows, qid=qid, metrics=metrics, ties=ties)
    for cells in (1, 400, 10**9):
        monkeypatch.setattr(module, "BLOCK_CELLS", cells)
        monkeypatch.setattr(module, "LEAST_BLOCK_CELLS", cells)
        got = evaluate(*rows, qid=qid, metrics=metrics, ties=ties)
        for name in metrics:
            np.testing.assert_allclose(got.per_query[name], expected.per_query[name], rtol=0, atol=1e-14)


SCORES = {
    "random": lambda rng, n: rng.normal(size=n),
    "ascending": lambda rng, n: np.arange(n, dtype=float),
    "descending": lambda rng, n: -np.arange(n, dtype=float),
    "few values": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "zeros of both signs": lambda rng, n: rng.choice([0.0, -0.0, -1.0], n),
    "equal": lambda rng, n: np.zeros(n),
    "infinite": lambda rng, n: rng.choice([np.inf, -np.inf, 1.0], n),
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.02], ids=["all", "half", "few"])
def test_the_first_ranks_of_long_and_short_lists_in_turn(rng, monkeypatch, scores, share):
    monkeypatch.setattr(top_k, "SLAB", 500)
    sizes = rng.permutation(np.repeat([1, 3, 9, 40, 700], 6))
    qid, n = np.repeat(np.arange(len(sizes)), sizes), sizes.sum()
    y_true, y_score, retrieved = rng.integers(0, 4, n), scores(rng, n), rng.random(n) < share
    got = evaluate(y_true, y_score, qid=qid, metrics="cg@3", ties="stable", retrieved=retrieved).per_query["cg@3"]
    order = np.lexsort((np.arange(n), -y_score, ~retrieved, qid))
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    expected = np.bincount(qid[order], weights=(y_true * retrieved)[order] * (rank < 3), minlength=len(sizes))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", ">f8", "longdouble", "object"]
)
def test_labels_of_any_type_are_the_same_grades(rng, dtype):
    labels, qid = rng.integers(0, 2, 300), rng.integers(0, 9, 300)
    y_score, metrics = rng.normal(size=300), ["ndcg@5", "ndcg(gain=exp2)", "map", "err", "kendall_tau"]
    expected = evaluate(labels.astype(np.float64), y_score, qid=qid, metrics=metrics)
    got = evaluate(labels.astype(dtype), y_score, qid=qid, metrics=metrics)
    for name in metrics:
        np.testing.assert_array_equal(got.per_query[name], expected.per_query[name])
    assert str(got) == str(expected)

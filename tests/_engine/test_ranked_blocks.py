"""Order, ties and cutoff, which are decided in one place."""

import numpy as np
import pytest

from skrank_metrics import cg_score, evaluate, recall_at_k_score
from skrank_metrics._engine import rectangles
from skrank_metrics._engine.ranked_blocks import sort_each_row
from skrank_metrics.metrics import get_metrics

LARGEST, TINY = np.finfo(float).max, 5e-324


def neighbours(rng, shape):
    steps = rng.integers(0, 50, shape)
    signs = rng.choice([-1, 1], shape)
    return signs * (1 + steps * np.spacing(1.0))


def huge(rng, shape):
    signs = rng.choice([-1, 1], shape)
    steps = rng.integers(0, 9, shape)
    return signs * (LARGEST - steps * np.spacing(1e308))


# Keys that differ in their last bits, where the columns are put while sorting.
CLOSE_KEYS = {
    "neighbours": neighbours,
    "denormal": lambda rng, shape: rng.integers(-50, 50, shape) * TINY,
    "huge": huge,
    "usual": lambda rng, shape: rng.normal(size=shape),
}


@pytest.mark.parametrize("kind", CLOSE_KEYS)
@pytest.mark.parametrize("width", [1, 2, 17, 300])
def test_keys_that_differ_in_their_last_bits_are_sorted(rng, kind, width):
    keys = CLOSE_KEYS[kind](rng, (40, width))
    keys[::3, width // 2 :] = np.inf
    before = keys.copy()
    order, ranked = sort_each_row(keys)
    columns = np.tile(np.arange(width), (40, 1))
    np.testing.assert_array_equal(ranked, np.sort(keys, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(keys, order, axis=1), ranked)
    np.testing.assert_array_equal(np.sort(order, axis=1), columns)
    np.testing.assert_array_equal(keys, before)


@pytest.mark.parametrize(
    "order",
    [
        slice(None),
        slice(None, None, -1),
    ],
    ids=["few first", "many first"],
)
def test_too_few_candidates_of_one_query_and_too_many_of_another(order):
    # 2 of the one are retrieved; of the other 4 come among the first 3, as 2 tie: as many as if each query had 3.
    labels = [3, 1, 0, 2, 0, 1, 2, 0]
    scores = [
        [8, 7, 6, 5, 4, 3, 2, 1],
        [4, 8, 6, 6, 1, 7, 3, 2],
    ]
    retrieved = np.ones((2, 8), dtype=bool)
    retrieved[0, 0] = False
    retrieved[0, 3:] = False
    report = evaluate(
        [labels, labels],
        scores[order],
        metrics="cg@3",
        retrieved=retrieved[order],
    )
    first = 1 + 0
    second = 1 + 1 + (0 + 2) / 2
    assert report.per_query["cg@3"].tolist() == [first, second][order]


@pytest.mark.parametrize("ties", ["average", "best", "worst", "stable"])
def test_blocks_of_any_size_give_the_same(rng, monkeypatch, ties):
    qid = rng.integers(0, 60, 3_000)
    labels = rng.integers(0, 4, 3_000)
    scores = rng.normal(size=3_000).round(1)
    metrics = get_metrics("ndcg@3", "map", "err@5", "mrr", "kendall_tau", ties=ties)
    expected = evaluate(labels, scores, qid=qid, metrics=metrics).per_query
    for cells in (1, 400, 10**9):
        monkeypatch.setattr(rectangles, "BLOCK_CELLS", cells)
        monkeypatch.setattr(rectangles, "LEAST_BLOCK_CELLS", cells)
        got = evaluate(labels, scores, qid=qid, metrics=metrics).per_query
        assert list(got) == list(expected)
        for name, values in expected.items():
            np.testing.assert_allclose(got[name], values, rtol=0, atol=1e-14)


INFINITE = [np.inf, -np.inf]
ZEROS = [0.0, -0.0, -TINY, TINY]
LARGE = [LARGEST, -LARGEST]


def with_some(value, share):
    """Scores of which a share has a value."""

    def draw(rng, n):
        has_value = rng.random(n) < share
        return np.where(has_value, value, rng.normal(size=n))

    return draw


def some_of(*values):
    return lambda rng, n: rng.choice(values, n)


SCORES = {
    "random": lambda rng, n: rng.normal(size=n),
    "ascending": lambda rng, n: np.arange(n, dtype=float),
    "descending": lambda rng, n: -np.arange(n, dtype=float),
    "few values": some_of(0.0, 1.0, 2.0, 3.0),
    "equal": some_of(0.0),
    "infinite": some_of(*INFINITE, 1.0),
    "few infinite": with_some(np.inf, 0.02),
    "few below all": with_some(-np.inf, 0.5),
    "largest": some_of(*LARGE, np.nextafter(LARGEST, 0), np.inf, 0.0),
    "subnormal": lambda rng, n: rng.integers(-3, 4, n) * TINY,
    "zeros of both signs": some_of(*ZEROS),
    "all kinds": some_of(*INFINITE, *LARGE, *ZEROS, 1.0, 2.0),
}
SIZES = {
    "mixed": lambda rng: rng.permutation(np.repeat([1, 3, 9, 40, 700], 6)),
    "one long among short": lambda rng: rng.permutation([3_000, *rng.integers(1, 12, 200)]),
    "one short among long": lambda rng: rng.permutation([1, *rng.integers(100, 300, 20)]),
    "around groups of four": lambda rng: rng.integers(8, 20, 150),
}


def cg_by_full_sort(labels, scores, ties, k):
    """CG@k of the documents of one query, by definition; on average, each has the mean label of those that tie."""
    if ties == "average":
        _, group, sizes = np.unique(scores, return_inverse=True, return_counts=True)
        means = np.bincount(group, labels) / sizes
        labels = means[group]
    second = np.zeros(len(labels))
    if ties == "best":
        second = -labels
    if ties == "worst":
        second = labels
    order = np.lexsort((second, -scores))
    return labels[order][:k].sum()


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("share", [None, 0.5, 0.02], ids=["all", "half", "few"])
def test_every_selection_equals_a_full_sort(rng, monkeypatch, scores, sizes, share):
    monkeypatch.setattr(rectangles, "LEAST_BLOCK_CELLS", 500)
    sizes = sizes(rng)
    n = sizes.sum()
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y_true = rng.integers(0, 4, n)
    y_score = scores(rng, n)
    options = {}
    retrieved = np.full(n, True)
    if share is not None:
        retrieved = rng.random(n) < share
        options = {"retrieved": retrieved}
    cutoffs = rng.permutation([1, 2, 3, 5]).tolist()
    for ties, k in zip(["average", "best", "worst", "stable"], cutoffs, strict=True):
        metric = f"cg(ties={ties})@{k}"
        got = evaluate(y_true, y_score, qid=qid, metrics=metric, **options)
        expected = []
        for query in range(len(sizes)):
            rows = (qid == query) & retrieved
            expected.append(cg_by_full_sort(y_true[rows], y_score[rows], ties, k))
        np.testing.assert_allclose(got.per_query[metric], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("threshold", [None, 1.5])
def test_more_relevant_documents_are_counted_than_eight_bits_hold(rng, threshold):
    sizes = np.array([1, 3, 256, 9, 40])
    labels = rng.integers(1, 4, sizes.sum())
    labels[np.cumsum(sizes) - 1] = 3
    qid = np.repeat(np.arange(len(sizes)), sizes)
    options = {"k": 1, "relevance_threshold": threshold, "average": None}
    recall = recall_at_k_score(labels, labels, qid=qid, **options)
    n_relevant = np.bincount(qid, labels > (threshold or 0))
    assert recall.tolist() == (1 / n_relevant).tolist()


def test_a_list_does_not_go_on_into_the_next_one():
    # The first and the last are ranked together, and begin as far apart as the longer one is long.
    sizes = [4, 1, 5]
    labels = np.ones(10)
    descending = -np.arange(10.0)
    qid = np.repeat([0, 1, 2], sizes)
    values = cg_score(labels, descending, qid=qid, average=None)
    assert values.tolist() == sizes


@pytest.mark.parametrize("metric", ["ndcg@1", "mrr@2", "judged@1"])
def test_a_long_list_of_which_nothing_was_retrieved_is_empty(metric):
    n = 40
    report = evaluate(
        np.ones(n), np.zeros(n), qid=np.zeros(n), retrieved=np.zeros(n, dtype=bool), metrics=metric
    )
    assert report.mean == {metric: 0.0}
    assert len(report.inspect(0).to_frame()) == 0

"""Long lists to twelve digits, and no number that is none from input that is finite.

SKRANK_LONG_LIST=1000000 takes a million documents in place of three thousand, and twenty minutes.
"""

import itertools
import os

import numpy as np
import pytest
from support import precise

from skrank_metrics import get_metric, get_metric_names
from skrank_metrics.metrics._registry import REGISTRY

N = int(os.environ.get("SKRANK_LONG_LIST", "3000"))
OPTIONS = {
    "dcg": {"gain": "exp2"},
    "ndcg": {"gain": "exp2"},
    "err": {"max_grade": 20},
    "nerr": {"max_grade": 20},
    "pfound": {"gain": "exp2", "max_grade": 20, "p": 0.9999},
    "rbp": {"p": 0.9999},
}
# A value near 0 that is the rest of large terms has the rounding of these: as correlations do.
SCALE = {"kendall_tau": 1.0, "spearman": 1.0}


def long_list(ties, relevant_share):
    """Labels and scores of N documents, tied in groups of up to three or not at all, and the same to thirty digits."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(N) < relevant_share, rng.integers(1, 5, N), 0)
    ends = np.cumsum(rng.integers(1, 4 if ties else 2, N))
    groups = np.split(labels, ends[ends < N])
    scores = -np.repeat(np.arange(float(len(groups))), [len(part) for part in groups])
    return labels, scores, precise.LongList([tuple(part.tolist()) for part in groups])


LISTS = {
    "without ties": long_list(False, 0.5),
    "tied": long_list(True, 0.5),
    "tied, few relevant": long_list(True, 20 / N),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LISTS)
@pytest.mark.parametrize("name", [*get_metric_names(), "nerr"])
def test_long_lists_to_twelve_digits(name, case):
    labels, scores, exact = LISTS[case]
    shuffled = np.random.default_rng(1).permutation(N)
    for k in (None, N // 10) if get_metric(name).record.has_cutoff else (None,):
        cutoff = {} if k is None else {"k": k}
        value = get_metric(name, **cutoff, **OPTIONS.get(name, {}))(
            labels[None, shuffled], scores[None, shuffled]
        )
        expected = getattr(exact, name)(k)
        assert abs(value - expected) <= 1e-12 * max(abs(expected), SCALE.get(name, 0)), (
            k,
            value,
            expected,
        )


@pytest.mark.parametrize("k", [None, 10, N // 2])
@pytest.mark.parametrize("r", [3, N // 3])
def test_constant_scores_to_twelve_digits(r, k):
    labels = (np.arange(N) % (N // r) == 0).astype(int)
    r, depth, cutoff = int(labels.sum()), k or N, {} if k is None else {"k": k}

    def value(name, **params):
        return get_metric(name, **cutoff, **params)(labels[None], np.zeros((1, N)))

    assert value("map") == pytest.approx(float(precise.constant_map(N, r, depth)), rel=1e-12)
    expected = precise.constant_map_over_hits(N, r, depth)
    assert value("map", normalizer="hits") == pytest.approx(float(expected), rel=1e-12)
    if k is None:
        assert value("mrr") == pytest.approx(float(precise.constant_mrr(N, r)), rel=1e-12)
    assert value("recall") == pytest.approx(depth / N, rel=1e-12)


@pytest.mark.parametrize("max_grade", [4, 20, 50])
def test_constant_scores_of_grades_to_twelve_digits(max_grade):
    labels = np.arange(N) % 5
    value = get_metric("err@10", max_grade=max_grade)(labels[None], np.zeros((1, N)))
    assert value == pytest.approx(
        float(precise.constant_err(np.bincount(labels).tolist(), 10, max_grade)), rel=1e-12
    )


EXTREME_LABELS = [
    [1e308, 0, 1], [6e307, 6e307, 6e307], [3e307, 3e307, 0], [1e150, 1e150, 1], [1e308], [5e-324], [5e-324, 0, 0],
    [0, 1e-17, 1e-17], [1e-310, 2e-310, 0], [1e300, 5e-324, 0], [1023, 1023, 0], [1000, 3, 1e-300],
]  # fmt: skip
EXTREME_SCORES = [[1e308, 5e-324, -1e308], [5e-324, 5e-324, 0], [np.inf, -np.inf, np.inf]]
EXTREME_OPTIONS = {
    "dcg": [{}, {"gain": "exp2"}, {"discount": lambda ranks: np.full(ranks.shape, 1e-300)}],
    "ndcg": [{}, {"gain": "exp2"}, {"discount": lambda ranks: np.full(ranks.shape, 1e-300)}],
    "err": [
        {"normalize": n, **gain}
        for n in (True, False)
        for gain in ({"gain": "binary"}, {"max_grade": 1000})
    ],
    "q_measure": [{}, {"beta": 1e300}, {"gain": "exp2", "beta": 5e-324}],
} | {name: [{"gain": "binary"}, {"gain": "exp2", "max_grade": 1000}] for name in ("pfound", "rbp")}


@pytest.mark.slow
@pytest.mark.parametrize("name", get_metric_names())
def test_no_infinite_value_from_finite_input(name):
    undefined = {} if REGISTRY[name].record.undefined is None else {"replace_undefined_by": -1.0}
    metrics = [
        get_metric(name, ties=ties, **undefined, **options, **cutoff)
        for ties in ("average", "best")
        for options in EXTREME_OPTIONS.get(name, [{}])
        for cutoff in ([{}, {"k": 2}] if REGISTRY[name].record.has_cutoff else [{}])
    ]
    n_values = 0
    for labels, scores, metric in itertools.product(EXTREME_LABELS, EXTREME_SCORES, metrics):
        n = len(labels)
        query, qid = ([*labels, *labels], [*scores[:n], *scores[:n]]), np.repeat([0, 1], n)
        weights = (None, np.repeat([1e308, 1e308], n), np.repeat([5e-324, 0], n))
        try:
            values = [metric(*query, qid=qid, sample_weight=weight) for weight in weights]
        except ValueError as error:
            assert str(error).startswith(("y_true must", "gain must", "The sum of gains"))  # noqa: PT017
            continue
        n_values += 1
        assert values == pytest.approx([values[0]] * 3, rel=1e-15)
        assert -3 <= values[0] <= min(REGISTRY[name].record.upper, np.finfo(float).max)
    assert n_values > 50


def test_sums_over_queries_that_overflow_are_refused():
    assert get_metric("cg")([1e308], [1], qid=[0]) == 1e308
    for name, label, qid in (
        ("cg", 1e308, [0, 1]),
        ("dcg", 1e308, [0, 1]),
        ("q_measure", 8e307, [0, 0]),
    ):
        with pytest.raises(
            ValueError, match="The sum of gains overflows float64; rescale the labels"
        ):
            get_metric(name)([label, label], [1, 1], qid=qid)

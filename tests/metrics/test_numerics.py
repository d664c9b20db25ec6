"""Long lists to twelve digits, and no number that is none from input that is finite.

SKRANK_LONG_LIST=1000000 takes a million documents in place of three thousand, and twenty minutes.
"""

import itertools
import os

import numpy as np
import pytest
from support import precise

from skrank_metrics import get_metric
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics._registry import REGISTRY

N = int(os.environ.get("SKRANK_LONG_LIST", "3000"))
# One metric for each way of averaging over ties.
OPTIONS = {
    "ndcg": {"gain": "exp2"},
    "err": {"max_grade": 20},
    "map": {},
    "bpref": {},
    "kendall_tau": {},
}
# A value near 0 that is the rest of large terms has the rounding of these: as correlations do.
SCALE = {"kendall_tau": 1.0}


def long_list(ties, relevant_share):
    """Labels and scores of N documents, tied in groups of up to three or not at all, and the same to thirty digits."""
    rng = np.random.default_rng(0)
    is_relevant = rng.random(N) < relevant_share
    labels = np.where(is_relevant, rng.integers(1, 5, N), 0)
    largest_group = 3 if ties else 1
    sizes = rng.integers(1, largest_group + 1, N)
    ends = np.cumsum(sizes)
    groups = np.split(labels, ends[ends < N])
    number = np.arange(float(len(groups)))
    scores = -np.repeat(number, [len(group) for group in groups])
    exact = precise.LongList([tuple(group.tolist()) for group in groups])
    return labels, scores, exact


LISTS = {
    "without ties": long_list(False, 0.5),
    "tied": long_list(True, 0.5),
    "tied, few relevant": long_list(True, 20 / N),
}


def test_each_way_of_averaging_over_ties_is_calculated_precisely():
    ways = {REGISTRY[name].record.transform for name in OPTIONS}
    assert ways == {function.record.transform for function in REGISTRY.values()}


@pytest.mark.slow
@pytest.mark.parametrize("case", LISTS)
@pytest.mark.parametrize("name", OPTIONS)
def test_long_lists_to_twelve_digits(name, case):
    labels, scores, exact = LISTS[case]
    shuffled = np.random.default_rng(1).permutation(N)
    rows = labels[None, shuffled], scores[None, shuffled]
    metric = get_metric(name, **OPTIONS[name])
    exactly = getattr(exact, name)
    metrics = [(metric, exactly(None))]
    if metric.record.has_cutoff:
        k = N // 10
        metrics.append((metric.replace(k=k), exactly(k)))
    for chosen, expected in metrics:
        value = chosen(*rows)
        scale = max(abs(expected), SCALE.get(name, 0))
        assert abs(value - expected) <= 1e-12 * scale, (str(chosen), value, expected)


@pytest.mark.parametrize("k", [None, 10, N // 2])
@pytest.mark.parametrize("r", [3, N // 3])
def test_constant_scores_to_twelve_digits(r, k):
    labels = (np.arange(N) % (N // r) == 0).astype(int)
    n_relevant = int(labels.sum())
    depth = k or N
    expected = {
        "map": precise.constant_map(N, n_relevant, depth),
        "map(normalizer=hits)": precise.constant_map_over_hits(N, n_relevant, depth),
        "recall": depth / N,
    }
    if k is None:
        expected["mrr"] = precise.constant_mrr(N, n_relevant)
    for name, exact in expected.items():
        value = get_metric(name, k=k)(labels[None], np.zeros((1, N)))
        assert value == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("max_grade", [4, 20, 50])
def test_constant_scores_of_grades_to_twelve_digits(max_grade):
    labels = np.arange(N) % 5
    n_of_grade = np.bincount(labels).tolist()
    exact = precise.constant_err(n_of_grade, 10, max_grade)
    value = get_metric("err@10", max_grade=max_grade)(labels[None], np.zeros((1, N)))
    assert value == pytest.approx(float(exact), rel=1e-12)


EXTREME_LABELS = [
    [1e308, 0, 1], [6e307, 6e307, 6e307], [3e307, 3e307, 0], [1e150, 1e150, 1], [1e308], [5e-324], [5e-324, 0, 0],
    [0, 1e-17, 1e-17], [1e-310, 2e-310, 0], [1e300, 5e-324, 0], [1023, 1023, 0], [1000, 3, 1e-300],
]  # fmt: skip
EXTREME_SCORES = [[1e308, 5e-324, -1e308], [5e-324, 5e-324, 0], [np.inf, -np.inf, np.inf]]
EXTREME_OPTIONS = {
    "dcg": [{}, {"gain": "exp2"}, {"discount": lambda ranks: np.full(ranks.shape, 1e-300)}],
    "ndcg": [{}, {"gain": "exp2"}, {"discount": lambda ranks: np.full(ranks.shape, 1e-300)}],
    "err": [
        {"normalize": True, "gain": "binary"},
        {"normalize": True, "max_grade": 1000},
        {"normalize": False, "gain": "binary"},
        {"normalize": False, "max_grade": 1000},
    ],
    "q_measure": [{}, {"beta": 1e300}, {"gain": "exp2", "beta": 5e-324}],
} | {name: [{"gain": "binary"}, {"gain": "exp2", "max_grade": 1000}] for name in ("pfound", "rbp")}


@pytest.mark.slow
@pytest.mark.parametrize("name", get_metric_names())
def test_no_infinite_value_from_finite_input(name):
    record = REGISTRY[name].record
    undefined = {} if record.undefined is None else {"replace_undefined_by": -1.0}
    metrics = []
    for options, ties in itertools.product(EXTREME_OPTIONS.get(name, [{}]), ("average", "best")):
        metric = get_metric(name, ties=ties, **undefined, **options)
        metrics.append(metric)
        if record.has_cutoff:
            metrics.append(metric.replace(k=2))
    n_values = 0
    for labels, scores, metric in itertools.product(EXTREME_LABELS, EXTREME_SCORES, metrics):
        n = len(labels)
        twice = labels * 2, scores[:n] * 2
        qid = np.repeat([0, 1], n)
        weights = (None, np.repeat([1e308, 1e308], n), np.repeat([5e-324, 0], n))
        try:
            values = [metric(*twice, qid=qid, sample_weight=weight) for weight in weights]
        except ValueError as error:
            assert str(error).startswith(("y_true must", "gain must", "The sum of gains"))  # noqa: PT017
            continue
        n_values += 1
        assert values == pytest.approx([values[0]] * 3, rel=1e-15)
        assert -3 <= values[0] <= min(record.upper, np.finfo(float).max)
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

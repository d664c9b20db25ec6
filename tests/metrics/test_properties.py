"""Relations between rankings that hold for every metric and tie policy; test_contract.py has the first dozen.

HYPOTHESIS_PROFILE=nightly takes a thousand examples of each, drawn anew, in place of twenty fixed ones.
"""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from test_contract import bound, names, policies, tables

from skrank_metrics import get_metric
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics._record import NO_PAIRS, ONE_CLASS
from skrank_metrics.metrics._registry import REGISTRY

CUTOFFS = (None, 1, 2, 3, 5, 8)
KINDS = [
    list,
    pd.Series,
    pl.Series,
    pa.array,
    lambda values: pd.Series(values).convert_dtypes(),
    lambda values: values[::-1][::-1],
]
# Their sums over ranks have no term below 0 and no divisor that depends on k.
GROW_WITH_K = ("cg", "dcg", "err", "hit_rate", "mrr", "pfound", "rbp", "recall", "map")


def sees_the_bottom(name):
    """Whether irrelevant documents below all others change what a metric divides by."""
    record = REGISTRY[name].record
    return record.counts_others or record.undefined in (NO_PAIRS, ONE_CLASS)


def problem_of(table, k, seed):
    """Labels, scores, ids, a cutoff, and a source of random numbers."""
    labels, scores, qid = table
    return labels, scores, qid.astype(int), k, np.random.default_rng(seed)


problems = st.builds(problem_of, tables, st.sampled_from(CUTOFFS), st.integers(0, 2**32))


def each(name, k, ties):
    return bound(name, k, ties=ties, average=None)


@names
@given(ties=policies, problem=problems)
def test_a_query_has_its_value_whatever_the_others_are(name, ties, problem):
    labels, scores, qid, k, _ = problem
    metric = each(name, k, ties)
    alone = []
    for query in dict.fromkeys(qid):
        rows = qid == query
        alone += metric(labels[rows], scores[rows], qid=qid[rows]).tolist()
    np.testing.assert_allclose(metric(labels, scores, qid=qid), alone, rtol=0, atol=1e-12)


@names
@given(ties=policies, problem=problems)
def test_the_container_does_not_matter(name, ties, problem):
    labels, scores, qid, k, rng = problem
    metric = each(name, k, ties)
    label_kind, score_kind, id_kind = (KINDS[i] for i in rng.integers(0, len(KINDS), 3))
    values = metric(label_kind(labels), score_kind(scores), qid=id_kind(qid))
    np.testing.assert_array_equal(values, metric(labels, scores, qid=qid))


@pytest.mark.parametrize("name", GROW_WITH_K)
@given(ties=policies, problem=problems)
def test_grows_with_k(name, ties, problem):
    labels, scores, qid, _, _ = problem
    metric = each(name, None, ties)
    if name == "map":
        metric = metric.replace(normalizer="relevant")
    values = [metric.replace(k=k)(labels, scores, qid=qid) for k in (1, 2, 3, 5, 8, None)]
    for less, more in itertools.pairwise(values):
        assert (less <= more + 1e-12).all()


@pytest.mark.parametrize(
    "name", [name for name in get_metric_names() if REGISTRY[name].record.monotone]
)
@given(ties=policies, problem=problems)
def test_an_improving_swap_never_hurts(name, ties, problem):
    labels, scores, qid, k, rng = problem
    same_query = qid[:, None] == qid
    inverted = (labels[:, None] < labels) & (scores[:, None] > scores)
    pairs = np.argwhere(same_query & inverted)
    assume(len(pairs))
    above, below = rng.choice(pairs)
    swapped = labels.copy()
    swapped[[above, below]] = labels[[below, above]]
    metric = each(name, k, ties)
    before = metric(labels, scores, qid=qid)
    after = metric(swapped, scores, qid=qid)
    assert (after >= before - 1e-12).all()


def test_an_improving_swap_may_hurt_the_q_measure():
    # The document of grade 4 then has company above it, whose gain is held against the ideal one of 4 at rank 1.
    before, after = get_metric("q_measure", average=None)([[0, 4, 1], [1, 4, 0]], [[3, 2, 1]] * 2)
    assert before == pytest.approx(((1 + 4) / (2 + 5) + (2 + 5) / (3 + 5)) / 2, abs=1e-12)
    assert after == pytest.approx(((1 + 1) / (1 + 4) + (2 + 5) / (2 + 5)) / 2, abs=1e-12)
    assert after < before


@pytest.mark.parametrize("name", [name for name in get_metric_names() if not sees_the_bottom(name)])
@given(ties=policies, problem=problems)
def test_irrelevant_documents_at_the_bottom_change_nothing(name, ties, problem):
    labels, scores, qid, k, _ = problem
    if k is None and REGISTRY[name].record.divides_by_k:
        k = 4
    metric = each(name, k, ties)
    expected = metric(labels, scores, qid=qid)
    more = np.repeat(list(dict.fromkeys(qid)), 2)
    labels = np.append(labels, np.zeros(len(more)))
    scores = np.append(scores, np.full(len(more), -99.0))
    values = metric(labels, scores, qid=np.append(qid, more))
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "power"), [("cg", 1), ("dcg", 1), ("ndcg", 0), ("kendall_tau", 0), ("spearman", 0)]
)
@given(ties=policies, problem=problems, scale=st.floats(1e-3, 1e3))
def test_scale_of_linear_gains(name, power, ties, problem, scale):
    labels, scores, qid, k, _ = problem
    metric = each(name, k, ties)
    expected = metric(labels, scores, qid=qid) * scale**power
    scaled = metric(labels * scale, scores, qid=qid)
    np.testing.assert_allclose(scaled, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["kendall_tau", "spearman", "pairwise_accuracy", "auc"])
@pytest.mark.parametrize(
    ("ties", "opposite"), [("average", "average"), ("best", "worst"), ("worst", "best")]
)
@given(problem=problems)
def test_the_reverse_order_has_the_opposite_correlation(name, ties, opposite, problem):
    labels, scores, qid, _, _ = problem
    total = 0 if REGISTRY[name].record.lower < 0 else 1
    metric = get_metric(name, average=None, replace_undefined_by=total / 2)
    there = metric.replace(ties=ties)(labels, scores, qid=qid)
    back = metric.replace(ties=opposite)(labels, -scores, qid=qid)
    np.testing.assert_allclose(there + back, total, rtol=0, atol=1e-12)


@names
@given(problem=problems, n=st.integers(1, 4))
def test_the_average_is_the_mean_over_all_orders_of_rows(name, problem, n):
    labels, scores, _, k, _ = problem
    labels, scores = labels[:n], scores[:n]
    orders = np.array(list(itertools.permutations(range(len(labels)))))
    stable = each(name, k, "stable")(labels[orders], scores[orders])
    (average,) = each(name, k, "average")(labels[None], scores[None])
    assert average == pytest.approx(stable.mean(), abs=1e-12)


@pytest.mark.parametrize(
    "name", [n for n in get_metric_names() if not REGISTRY[n].record.graded and n != "judged"]
)
@given(ties=policies, problem=problems)
def test_binary_metrics_see_relevance_only(name, ties, problem):
    labels, scores, qid, k, _ = problem
    metric = each(name, k, ties)
    expected = metric(labels, scores, qid=qid)
    np.testing.assert_array_equal(metric(labels > 0, scores, qid=qid), expected)
    from_two = metric.replace(relevance_threshold=2)
    expected = from_two(labels, scores, qid=qid)
    np.testing.assert_array_equal(metric(labels >= 2, scores, qid=qid), expected)

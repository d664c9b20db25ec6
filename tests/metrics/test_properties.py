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

from skrank_metrics import get_metric, get_metric_names
from skrank_metrics.metrics._record import NO_PAIRS, ONE_CLASS
from skrank_metrics.metrics._registry import REGISTRY

CUTOFFS = (None, 1, 2, 3, 5, 8)
# Their sums over ranks have no term below 0 and no divisor that depends on k.
GROW_WITH_K = ("cg", "dcg", "err", "hit_rate", "mrr", "pfound", "rbp", "recall", "map")


def sees_the_bottom(name):
    """Whether irrelevant documents below all others change what a metric divides by."""
    record = REGISTRY[name].record
    return record.counts_others or record.undefined in (NO_PAIRS, ONE_CLASS)


problems = st.tuples(tables, st.sampled_from(CUTOFFS), st.integers(0, 2**32)).map(
    lambda drawn: (
        *drawn[0][:2],
        drawn[0][2].astype(int),
        drawn[1],
        np.random.default_rng(drawn[2]),
    )
)


def each(name, k, ties):
    return bound(name, k, ties=ties, average=None)


@names
@given(ties=policies, problem=problems)
def test_a_query_has_its_value_whatever_the_others_are(name, ties, problem):
    labels, scores, qid, k, _ = problem
    metric = each(name, k, ties)
    alone = [
        metric(labels[qid == q], scores[qid == q], qid=qid[qid == q])[0] for q in dict.fromkeys(qid)
    ]
    np.testing.assert_allclose(metric(labels, scores, qid=qid), alone, rtol=0, atol=1e-12)


@names
@given(ties=policies, problem=problems)
def test_the_container_does_not_matter(name, ties, problem):
    labels, scores, qid, k, rng = problem
    metric = each(name, k, ties)
    kinds = [
        list,
        pd.Series,
        pl.Series,
        pa.array,
        lambda a: pd.Series(a).convert_dtypes(),
        lambda a: a[::-1][::-1],
    ]
    label_kind, score_kind, id_kind = (kinds[i] for i in rng.integers(0, len(kinds), 3))
    values = metric(label_kind(labels), score_kind(scores), qid=id_kind(qid))
    np.testing.assert_array_equal(values, metric(labels, scores, qid=qid))


@pytest.mark.parametrize("name", GROW_WITH_K)
@given(ties=policies, problem=problems)
def test_grows_with_k(name, ties, problem):
    labels, scores, qid, _, _ = problem
    options = {"normalizer": "relevant"} if name == "map" else {}
    values = [
        each(name, k, ties).replace(**options)(labels, scores, qid=qid)
        for k in (1, 2, 3, 5, 8, None)
    ]
    for less, more in itertools.pairwise(values):
        assert (less <= more + 1e-12).all()


@pytest.mark.parametrize(
    "name", [name for name in get_metric_names() if REGISTRY[name].record.monotone]
)
@given(ties=policies, problem=problems)
def test_an_improving_swap_never_hurts(name, ties, problem):
    labels, scores, qid, k, rng = problem
    inverted = (qid[:, None] == qid) & (labels[:, None] < labels) & (scores[:, None] > scores)
    pairs = np.argwhere(inverted)
    assume(len(pairs))
    above, below = rng.choice(pairs)
    swapped = labels.copy()
    swapped[[above, below]] = labels[[below, above]]
    metric = each(name, k, ties)
    assert (metric(swapped, scores, qid=qid) >= metric(labels, scores, qid=qid) - 1e-12).all()


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
    metric = each(name, (k or 4) if REGISTRY[name].record.divides_by_k else k, ties)
    more = np.repeat(list(dict.fromkeys(qid)), 2)
    longer = (
        np.concatenate([labels, np.zeros(len(more))]),
        np.concatenate([scores, np.full(len(more), -99.0)]),
    )
    expected = metric(labels, scores, qid=qid)
    np.testing.assert_allclose(
        metric(*longer, qid=np.concatenate([qid, more])), expected, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("name", "power"), [("cg", 1), ("dcg", 1), ("ndcg", 0), ("kendall_tau", 0), ("spearman", 0)]
)
@given(ties=policies, problem=problems, scale=st.floats(1e-3, 1e3))
def test_scale_of_linear_gains(name, power, ties, problem, scale):
    labels, scores, qid, k, _ = problem
    metric = each(name, k, ties)
    expected = metric(labels, scores, qid=qid) * scale**power
    np.testing.assert_allclose(
        metric(labels * scale, scores, qid=qid), expected, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", ["kendall_tau", "spearman", "pairwise_accuracy", "auc"])
@pytest.mark.parametrize(
    ("ties", "opposite"), [("average", "average"), ("best", "worst"), ("worst", "best")]
)
@given(problem=problems)
def test_the_reverse_order_has_the_opposite_correlation(name, ties, opposite, problem):
    labels, scores, qid, _, _ = problem
    total = 0 if REGISTRY[name].record.lower < 0 else 1
    there, back = (
        get_metric(name, ties=policy, average=None, replace_undefined_by=total / 2)(
            labels, sign * scores, qid=qid
        )
        for policy, sign in ((ties, 1), (opposite, -1))
    )
    np.testing.assert_allclose(there + back, total, rtol=0, atol=1e-12)


@names
@given(problem=problems, n=st.integers(1, 4))
def test_the_average_is_the_mean_over_all_orders_of_rows(name, problem, n):
    labels, scores, _, k, _ = problem
    orders = np.array(list(itertools.permutations(range(len(labels[:n])))))
    stable = each(name, k, "stable")(labels[orders], scores[orders])
    average = each(name, k, "average")(labels[None, :n], scores[None, :n])
    np.testing.assert_allclose(average, [stable.mean()], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name", [n for n in get_metric_names() if not REGISTRY[n].record.graded and n != "judged"]
)
@given(ties=policies, problem=problems)
def test_binary_metrics_see_relevance_only(name, ties, problem):
    labels, scores, qid, k, _ = problem
    metric = each(name, k, ties)
    np.testing.assert_array_equal(
        metric(labels > 0, scores, qid=qid), metric(labels, scores, qid=qid)
    )
    threshold = metric.replace(relevance_threshold=2)(labels, scores, qid=qid)
    np.testing.assert_array_equal(metric(labels >= 2, scores, qid=qid), threshold)

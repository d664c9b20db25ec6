"""What each rank adds to a metric: by hand, and as a sum that is the value."""

from itertools import product

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric
from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.reports.inspection import adds_up, contributions, ideal_contributions

NO_SUMS = {"neg_kendall_tau_distance", "neg_fall_out", "kendall_tau", "pairwise_accuracy", "auc", "spearman"}
SUMS = sorted(set(REGISTRY) - NO_SUMS)
LABELS = np.array([0.5, 0, 1, 0, 0.25, 0, 0, 1, 0, 0, 0, 0.5, 0.5, 1])
SCORES = np.array([3, 3, 1, 1, 1, 0, 2, 2, 1, 5, 4, 4, 4, 4.0])
QID = np.repeat([0, 1, 2], [6, 3, 5])
RETRIEVED = np.array([True, True, False, True, True, True] + [True] * 3 + [True, False, True, True, True])
JUDGED = np.array([True, False, True, True, True, True] + [True] * 8)


def test_every_metric_is_a_sum_or_known_to_be_none():
    assert {name for name in REGISTRY if not adds_up(get_metric(name))} == NO_SUMS
    assert not adds_up(get_metric("map(normalizer=hits)"))


def values_of(found):
    """The sum of what the first ranks and those below add."""
    added, rest = found
    return added.sum(axis=1) + rest


def lists_of(**masks):
    return query_lists(LABELS, SCORES, qid=QID, **masks)


@pytest.mark.parametrize("ties", ["average", "best", "worst", "stable"])
@pytest.mark.parametrize("masks", [{}, {"retrieved": RETRIEVED}, {"judged": JUDGED}], ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_ranks_add_up_to_the_value_and_none_takes_away(name, masks, ties):
    cutoff = "@4" if REGISTRY[name].record.has_cutoff else ""
    for metric in (get_metric(name + cutoff, ties=ties), get_metric(name, ties=ties)):
        found = contributions(lists_of(**masks), metric, 3)
        value = metric.replace(average=None, replace_undefined_by=np.nan)(LABELS, SCORES, qid=QID, **masks)
        np.testing.assert_allclose(values_of(found), value, atol=1e-12)
        assert all((np.nan_to_num(part) >= 0).all() for part in found)


@pytest.mark.parametrize("name", sorted(set(SUMS) - {"judged"}))
def test_ideal_is_the_value_of_the_order_by_label(name):
    metric = get_metric(name)
    ranked = {} if name in ("precision", "f1") else {"retrieved": RETRIEVED}
    best = metric.replace(average=None, replace_undefined_by=np.nan)(LABELS, LABELS, qid=QID)
    found = ideal_contributions(lists_of(**ranked), metric, 2)
    np.testing.assert_allclose(values_of(found), best, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "ideal"),
    [
        ("precision", [1 / 2, 1 / 2, 0, 0]),
        ("f1", [2 / (2 + 3), 2 / (2 + 3), 0, 0]),
        ("precision(divisor=retrieved)@3", [1 / 2, 1 / 2, 0, 0]),
        ("rbp(normalize=True, p=0.5)", [1 / (1 + 0.5), 0.5 / (1 + 0.5), 0, 0]),
        ("precision@3", [1 / 3, 1 / 3, 1 / 3, 0]),
        ("dcg", [2, 1 / np.log2(3), 1 / 2, 0]),
    ],
)
def test_ideal_ranks_all_documents_unless_the_metric_divides_by_their_number(name, ideal):
    # Two of four documents are ranked; three of the four are relevant.
    lists = query_lists([[0, 1, 2, 1]], [[4, 3, 2, 1]], retrieved=[[True, True, False, False]])
    np.testing.assert_allclose(ideal_contributions(lists, get_metric(name), 4)[0][0], ideal, atol=1e-15)


def test_ideal_of_a_gain_that_falls_is_by_gain():
    metric = get_metric("dcg", gain=[0.0, 2.0, 1.0])
    lists = query_lists([[2, 1, 0]], [[3, 2, 1]])
    np.testing.assert_allclose(ideal_contributions(lists, metric, 3)[0], [[2, 1 / np.log2(3), 0]], atol=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dcg", [0, 1 / np.log2(3), 0, 2 / np.log2(5)]),
        ("dcg(gain=exp2, discount=reciprocal)", [0, 1 / 2, 0, 3 / 4]),
        ("ndcg", np.array([0, 1 / np.log2(3), 0, 2 / np.log2(5)]) / (2 + 1 / np.log2(3))),
        ("mrr", [0, 1 / 2, 0, 0]),
        ("map", [0, 1 / 2 / 2, 0, 2 / 4 / 2]),
        ("rbp(p=0.5)", [0, 0.5 * 0.5, 0, 0.5 * 0.125]),
        ("err(max_grade=2)", [0, 1 / 2 * 1 / 4, 0, 1 / 4 * 3 / 4 * 3 / 4]),
        ("precision@4", [0, 1 / 4, 0, 1 / 4]),
        ("recall", [0, 1 / 2, 0, 1 / 2]),
        ("hit_rate@4", [0, 1, 0, 0]),
    ],
)
def test_by_hand(name, expected):
    # Labels 0, 1, 0, 2 in ranked order.
    found = contributions(query_lists([[0, 1, 0, 2]], [[4, 3, 2, 1]]), get_metric(name), 4)
    np.testing.assert_allclose(found[0][0], expected, atol=1e-15)
    assert found[1].tolist() == [0]


def test_ranks_below_are_taken_together_up_to_the_cutoff():
    lists = query_lists([[0, 1, 1, 1]], [[4, 3, 2, 1]])
    assert contributions(lists, get_metric("recall@3"), 2)[1].tolist() == [1 / 3]
    assert contributions(lists, get_metric("recall"), 2)[1].tolist() == [2 / 3]


def test_undefined_queries_have_no_contributions():
    found = contributions(query_lists([[0, 0]], [[2, 1]]), get_metric("ndcg"), 2)
    assert np.isnan(found[0]).all()
    assert np.isnan(values_of(found)).all()


# Each option of the metrics that are sums, with gains that fall and gains of non-relevant documents.
VARIANTS = {
    "precision": [{}, {"divisor": "retrieved"}, {"relevance_threshold": 2}],
    "recall": [{}, {"normalizer": "min"}, {"relevance_threshold": 2}],
    "f1": [{}, {"beta": 0.5, "divisor": "retrieved"}, {"beta": 0}, {"relevance_threshold": 2}],
    "r_precision": [{}, {"relevance_threshold": 2}],
    "hit_rate": [{}, {"relevance_threshold": 2}],
    "judged": [{}],
    "mrr": [{}, {"relevance_threshold": 3}],
    "err": [
        {"normalize": normalize, **options}
        for normalize in (False, True)
        for options in ({}, {"p": 0.7, "max_grade": 3}, {"gain": "binary", "relevance_threshold": 2})
    ],
    "pfound": [
        {"gain": "exp2"},
        {"gain": "exp2", "p": 0.5, "max_grade": 3},
        {"gain": "binary", "relevance_threshold": 2},
    ],
    "rbp": [{}, {"p": 0.9, "normalize": True}, {"gain": "exp2", "max_grade": 3}, {"relevance_threshold": 2}],
    "map": [{}, {"normalizer": "relevant"}, {"relevance_threshold": 2}],
    "q_measure": [
        {},
        {"beta": 0.3, "gain": "exp2"},
        {"gain": [1, 1, 2, 2]},
        {"gain": [3, 1, 2, 0]},
        {"gain": [0, 2, 1, 1]},
    ],
    "bpref": [{}, {"relevance_threshold": 2}],
    "cg": [{}],
    "dcg": [{}, {"gain": [3, 1, 2, 0], "discount": "reciprocal"}],
    "ndcg": [{}, {"gain": [3, 1, 2, 0], "discount": "reciprocal"}],
}
WAYS = [
    (),
    ("retrieved",),
    ("judged",),
    ("retrieved", "judged"),
    ("judged", "condense"),
    ("retrieved", "judged", "condense"),
]


def test_variants_have_all_options():
    assert sorted(VARIANTS) == SUMS
    for name, variants in VARIANTS.items():
        assert set(REGISTRY[name].record.options) == {option for options in variants for option in options}


def random_rows(ways, seed):
    """Queries of one, three or six documents with labels 0 to 3, many ties, and masks."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(24), rng.choice([1, 3, 6], 24))
    rows = {"y_true": rng.integers(0, 4, len(qid)), "y_score": rng.integers(0, 5, len(qid)), "qid": qid}
    masks = {mask: rng.random(len(qid)) < 0.6 for mask in ("retrieved", "judged")}
    return rows | {way: masks.get(way, True) for way in ways}


@pytest.mark.slow
@pytest.mark.parametrize("ways", WAYS, ids=" ".join)
@pytest.mark.parametrize("name", SUMS)
def test_shown_ranks_add_up_and_nothing_exceeds_the_ideal(name, ways):
    cutoffs = [{}, {"k": 3}] if REGISTRY[name].record.has_cutoff else [{}]
    settings = [{**options, **cutoff} for options, cutoff in product(VARIANTS[name], cutoffs)]
    ties = ("average", "best", "worst", "stable")
    metrics = [get_metric(name, ties=ties[number % 4], **given) for number, given in enumerate(settings)]
    rows = random_rows(ways, seed=len(ways))
    report = evaluate(**rows, metrics=metrics)
    for number, metric in enumerate(metrics):
        inspection = report.inspect(report.qid, metric=metric, n_ranks=(None, 2)[number // 2 % 2])
        for (query,) in inspection.queries:
            if query.is_defined:
                assert query.columns["added"].sum() + query.rest == pytest.approx(query.value, abs=1e-12)
                assert len(query.columns["added"]) == len(query.columns["label"])
            if not np.isnan(query.ideal_value):
                assert query.value <= query.ideal_value + 1e-12
                assert query.columns["ideal"].sum() <= query.ideal_value + 1e-12
        has_ideal = any(not np.isnan(query.ideal_value) for (query,) in inspection.queries)
        falls = name == "q_measure" and metric.get("gain") in ([3, 1, 2, 0], [0, 2, 1, 1])
        assert has_ideal == (name != "judged" and not falls)
        assert ("of the ideal" in str(inspection)) == has_ideal

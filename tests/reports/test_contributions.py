"""What each rank adds to a metric: by hand, and as a sum that is the value."""

from itertools import product

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric
from skrank_metrics.metrics._registry import REGISTRY

NO_SUMS = {
    "neg_kendall_tau_distance",
    "neg_fall_out",
    "kendall_tau",
    "pairwise_accuracy",
    "auc",
    "spearman",
}
SUMS = sorted(set(REGISTRY) - NO_SUMS)


def inspected(metric, labels, n_ranks=None, **given):
    """The only query, with its documents in the given order."""
    report = evaluate([labels], [np.arange(len(labels), 0, -1)], metrics=[metric], **given)
    return report.inspect(0, n_ranks=n_ranks).queries[0][0]


@pytest.mark.parametrize("name", [*sorted(REGISTRY), "map(normalizer=hits)"])
def test_every_metric_is_a_sum_or_known_to_be_none(name):
    found = inspected(name, [1, 0, 0.5])
    is_none = name in NO_SUMS or "hits)" in name
    assert np.isnan(found.rest) == np.isnan(found.columns["added"]).all() == is_none


def test_ranks_below_the_cutoff_add_nothing():
    found = inspected("precision@2", [1, 1, 1, 0], n_ranks=4)
    assert found.columns["added"].tolist() == [1 / 2, 1 / 2, 0, 0]
    assert found.rest == 0


DCG_AT_2 = 1 / np.log2(3)
DCG_AT_4 = 2 / np.log2(5)
IDEAL = 2 + 1 / np.log2(3)


@pytest.mark.parametrize(
    ("name", "second", "fourth"),
    [
        ("dcg", DCG_AT_2, DCG_AT_4),
        ("dcg(gain=exp2, discount=reciprocal)", 1 / 2, 3 / 4),
        ("ndcg", DCG_AT_2 / IDEAL, DCG_AT_4 / IDEAL),
        ("mrr", 1 / 2, 0),
        ("map", 1 / 2 / 2, 2 / 4 / 2),
        ("rbp(p=0.5)", 0.5 * 0.5, 0.5 * 0.125),
        ("err(max_grade=2)", 1 / 2 * 1 / 4, 1 / 4 * 3 / 4 * 3 / 4),
        ("precision@4", 1 / 4, 1 / 4),
        ("recall", 1 / 2, 1 / 2),
        ("hit_rate@4", 1, 0),
    ],
)
def test_by_hand(name, second, fourth):
    found = inspected(name, [0, 1, 0, 2])
    expected = [0, second, 0, fourth]
    np.testing.assert_allclose(found.columns["added"], expected, atol=1e-15)
    assert found.rest == pytest.approx(0, abs=1e-15)


def test_ranks_below_are_taken_together_up_to_the_cutoff():
    assert inspected("recall@3", [0, 1, 1, 1], 2).rest == pytest.approx(1 / 3)
    assert inspected("recall", [0, 1, 1, 1], 2).rest == pytest.approx(2 / 3)


# Each option of the metrics that are sums, with gains that fall and gains of non-relevant documents.
BINARY = {"gain": "binary", "relevance_threshold": 2}
FALLING = ([3, 1, 2, 0], [0, 2, 1, 1])
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
        for normalize, options in product((False, True), ({}, {"p": 0.7, "max_grade": 3}, BINARY))
    ],
    "pfound": [{"gain": "exp2"}, {"gain": "exp2", "p": 0.5, "max_grade": 3}, BINARY],
    "rbp": [
        {},
        {"p": 0.9, "normalize": True},
        {"gain": "exp2", "max_grade": 3},
        {"relevance_threshold": 2},
    ],
    "map": [{}, {"normalizer": "relevant"}, {"relevance_threshold": 2}],
    "q_measure": [
        {},
        {"beta": 0.3, "gain": "exp2"},
        {"gain": [1, 1, 2, 2]},
        *({"gain": gain} for gain in FALLING),
    ],
    "bpref": [{}, {"relevance_threshold": 2}],
    "cg": [{}],
    "dcg": [{}, {"gain": [3, 1, 2, 0], "discount": "reciprocal"}],
    "ndcg": [
        {},
        {"gain": [3, 1, 2, 0], "discount": "reciprocal"},
        {"ideal": "shown"},
        {"ideal": 3},
    ],
}
WAYS = [
    "",
    "retrieved",
    "judged",
    "retrieved judged",
    "judged condense",
    "retrieved judged condense",
]


def test_variants_have_all_options():
    assert sorted(VARIANTS) == SUMS
    for name, variants in VARIANTS.items():
        assert set(REGISTRY[name].record.options) == {
            option for options in variants for option in options
        }


def random_rows(ways, seed):
    """Queries of one, three or six documents with labels 0 to 3, many ties, and masks."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(24), rng.choice([1, 3, 6], 24))
    rows = {
        "y_true": rng.integers(0, 4, len(qid)),
        "y_score": rng.integers(0, 5, len(qid)),
        "qid": qid,
    }
    masks = {mask: rng.random(len(qid)) < 0.6 for mask in ("retrieved", "judged")}
    return rows | {way: masks.get(way, True) for way in ways}


@pytest.mark.slow
@pytest.mark.parametrize("ways", [tuple(ways.split()) for ways in WAYS], ids=WAYS)
@pytest.mark.parametrize("name", SUMS)
def test_shown_ranks_add_up(name, ways):
    cutoffs = [{}, {"k": 3}] if REGISTRY[name].record.has_cutoff else [{}]
    settings = [{**options, **cutoff} for options, cutoff in product(VARIANTS[name], cutoffs)]
    ties = ("average", "best", "worst", "stable")
    metrics = [
        get_metric(name, ties=ties[number % 4], **given) for number, given in enumerate(settings)
    ]
    rows = random_rows(ways, seed=len(ways))
    report = evaluate(**rows, metrics=metrics)
    for number, metric in enumerate(metrics):
        inspection = report.inspect(report.qid, metric=metric, n_ranks=(None, 2)[number // 2 % 2])
        for (query,) in inspection.queries:
            if query.is_defined:
                assert query.columns["added"].sum() + query.rest == pytest.approx(
                    query.value, abs=1e-12
                )
                assert len(query.columns["added"]) == len(query.columns["label"])

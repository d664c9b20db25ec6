"""Every metric against the enumeration of all orders of tied documents.

Queries of up to six documents and four grades, drawn at random; test_exhaustive.py has all smaller ones.
SKRANK_ENUMERATED_QUERIES=20000 takes two hundred times as many queries, and a few minutes.
"""

import os

import numpy as np
import pytest
from support import reference

from skrank_metrics import get_metric
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics._registry import REGISTRY

TIES = ("average", "best", "worst", "stable")
CUTOFFS = (None, 1, 2, 3, 5, 9)
OPTIONS = {
    "f1": [
        {},
        {"relevance_threshold": 2},
        {"beta": 0.5, "divisor": "retrieved"},
        {"beta": 0},
        {"beta": 3},
    ],
    **{name: [{}] for name in ("cg", "judged", "kendall_tau", "pairwise_accuracy", "spearman")},
    **{
        name: [{}, {"relevance_threshold": 2}]
        for name in ("auc", "bpref", "hit_rate", "neg_fall_out", "r_precision")
    },
    "rbp": [
        {},
        {"p": 0.5, "gain": "exp2", "max_grade": 3},
        {"relevance_threshold": 2},
        {"normalize": True, "p": 0.9},
        {"normalize": True, "gain": "exp2"},
    ],
    "err": [
        {**normalize, **options}
        for normalize in ({}, {"normalize": True})
        for options in (
            {},
            {"p": 0.7, "max_grade": 3},
            {"gain": "binary", "p": 0.9, "relevance_threshold": 2},
        )
    ],
    "pfound": [
        {"gain": "exp2"},
        {"gain": "exp2", "p": 0.5, "max_grade": 3},
        {"gain": "binary", "relevance_threshold": 2},
    ],
    "neg_kendall_tau_distance": [{}, {"normalize": True}],
    "q_measure": [{}, {"beta": 0.3, "gain": "exp2"}],
    "dcg": [
        {},
        {"gain": "exp2"},
        {"gain": "exp2", "discount": "reciprocal"},
        {"gain": "binary", "discount": "jarvelin"},
    ],
    "ndcg": [
        {},
        {"gain": "exp2"},
        {"discount": "reciprocal"},
        {"gain": "binary", "discount": "jarvelin"},
        *({"ideal": ideal} for ideal in ("shown", "all", "retrieved", "top", 3)),
        {"ideal": "top", "gain": "exp2"},
        {"ideal": 5, "gain": "exp2", "discount": "jarvelin"},
    ],
    "precision": [{}, {"divisor": "retrieved"}, {"divisor": "min", "relevance_threshold": 2}],
    "recall": [{}, {"relevance_threshold": 2}, {"normalizer": "min"}],
    "mrr": [{}, {"relevance_threshold": 3}],
    "map": [
        {},
        {"normalizer": "relevant"},
        {"normalizer": "k"},
        {"normalizer": "hits"},
        {"normalizer": "hits", "relevance_threshold": 2},
    ],
}


def random_queries(n_queries, seed):
    """Queries of 1 to 6 documents with labels 0 to 3 and many ties; a few all tied, a few without relevant ones."""
    rng = np.random.default_rng(seed)
    for _ in range(n_queries):
        n_documents = int(rng.integers(1, 7))
        labels = rng.integers(0, rng.integers(1, 5), n_documents)
        scores = rng.integers(0, rng.integers(1, 5), n_documents) / 2 - 1
        yield labels.tolist(), scores.tolist()


QUERIES = list(random_queries(int(os.environ.get("SKRANK_ENUMERATED_QUERIES", "100")), seed=0))
ROWS = [np.concatenate(column) for column in zip(*QUERIES, strict=True)]
QID = np.repeat(np.arange(len(QUERIES)), [len(labels) for labels, _ in QUERIES])


def bound_metrics(name, ties, cutoffs):
    """The function of a metric with each set of options and each cutoff, and these."""
    function = REGISTRY[name]
    for options in OPTIONS[name]:
        if options.get("ideal") == "top" and ties == "average":
            continue  # refused, since ties may leave open which documents are the first
        nan = (
            {}
            if (name, options) == ("neg_kendall_tau_distance", {})
            else {"replace_undefined_by": np.nan}
        )
        for cutoff in [{"k": k} for k in cutoffs] if function.record.has_cutoff else [{}]:
            given = {**options, **cutoff}
            yield get_metric(function, ties=ties, average=None, **nan, **given), given


def test_every_metric_is_enumerated():
    assert set(OPTIONS) == set(get_metric_names())


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_option_of_a_metric_is_enumerated(name):
    assert set(REGISTRY[name].record.options) <= {
        option for options in OPTIONS[name] for option in options
    }


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", sorted(OPTIONS))
@pytest.mark.option("metrics.*.k", "metrics.*.ties")
def test_equals_the_mean_over_all_orders_of_tied_documents(name, ties):
    for metric, options in bound_metrics(name, ties, CUTOFFS):
        expected = [
            reference.expected(name.removeprefix("neg_"), *query, ties=ties, **options)
            for query in QUERIES
        ]
        np.testing.assert_allclose(
            metric(*ROWS, qid=QID), expected, rtol=0, atol=1e-12, err_msg=f"{metric}"
        )

"""Conventions of libraries that the tests need not have installed, against recorded and published values."""

import json
from typing import get_args

import numpy as np
import pytest
from metrics.test_conventions import INSTALLED, as_taken_by
from support import peers

from skrank_metrics import evaluate_run, get_metric
from skrank_metrics.conventions import explain_difference
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics.conventions import (
    CONVENTIONS,
    ConventionName,
    convention_defaults,
)

GOLDEN = json.loads(peers.GOLDEN.read_text(encoding="utf-8"))
RECORDED = [
    (convention, name) for convention, values in GOLDEN["values"].items() for name in values
]
# Rax computes in float32; ERR of ir_measures comes from gdeval, with five decimals, as has BEIR.
TOLERANCE = {"beir": 5.1e-6, "rax": 3e-6, "ERR@5": 5.1e-6, "ERR@20": 5.1e-6}

# From the documentation of each class, in TF-Ranking 0.5.5 and TorchMetrics 1.9.0.
ONE, TWO = ([0, 1, 1], [3, 1, 2], [0, 0, 0]), ([0, 1, 1, 2, 0], [2, 1, 2, 5, 4], [0, 0, 1, 1, 1])
GRADED = ([0, 1, 2], [3, 1, 2], [0, 0, 0])
TORCH = ([0, 0, 1, 0, 1, 0, 1], [0.2, 0.3, 0.5, 0.1, 0.3, 0.5, 0.2], [0, 0, 0, 1, 1, 1, 1])
HITS = ([1, 0, 0, 0, 1, 0, 1], *TORCH[1:])
FIVE = ([10, 0, 0, 1, 5], [0.1, 0.2, 0.3, 4, 70], [0] * 5)
# From the tests of Elasticsearch's ranking evaluation; documents without a score are rated, but no hits.
SIX = ([3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1], [0] * 6)
UNRATED = ([3, 2, 3, 0, 1, 0], *SIX[1:])
FOUR_HITS = ([3, 2, 3, 0, 1], [6, 5, 4, 3, -np.inf], [0] * 5)
ERR = ([3, 2, 0, 1], [4, 3, 2, 1], [0] * 4)
ONE_LATE = ([0] * 7 + [1, 0], [*range(9, 0, -1)], [0] * 9)
TWO_OF_FOUR = ([1, 1, 0, 1, 1], [3, 2, 1, -np.inf, -np.inf], [0] * 5)
# By the code of Quepid's scorers: of ten documents, those at ranks 3 to 5 have grade 3; better ones were not returned.
CASE = ([0, 0, 3, 3, 3, 0, 0, 0, 0, 0, 4, 4, 3], [*range(10, 0, -1), *[-np.inf] * 3], [0] * 13)
LOGS = 1 / np.log2(np.arange(2, 12))
PUBLISHED = [
    ("elasticsearch", "dcg", SIX, 13.84826362927298),
    ("elasticsearch", "dcg(normalize=true)", SIX, 13.84826362927298 / 14.595390756454922),
    ("elasticsearch", "dcg", UNRATED, 12.779642067948913),
    ("elasticsearch", "dcg(normalize=true)", UNRATED, 12.779642067948913 / 13.347184833073591),
    ("elasticsearch", "dcg", FOUR_HITS, 12.392789260714371),
    ("elasticsearch", "dcg(normalize=true)", FOUR_HITS, 12.392789260714371 / 13.347184833073591),
    (
        "elasticsearch",
        "expected_reciprocal_rank",
        ERR,
        (7 / 8 + 1 / 8 * 3 / 8 / 2 + 5 / 64 / 8 / 4, 3),
    ),
    ("elasticsearch", "mean_reciprocal_rank", ONE_LATE, 1 / 8),
    ("elasticsearch", "precision", TWO_OF_FOUR, 2 / 3),
    ("elasticsearch", "recall", TWO_OF_FOUR, 2 / 4),
    ("quepid", "nDCG@10", CASE, LOGS[2:5].sum() / LOGS[:3].sum()),
    ("quepid", "nDCG@10", FOUR_HITS, (7 + 3 / np.log2(3) + 7 / 2) / (7 + 7 / np.log2(3) + 3 / 2)),
    ("quepid", "DCG@10", CASE, 7 * LOGS[2:5].sum()),
    ("quepid", "CG@10", CASE, 9),
    ("quepid", "P@10", CASE, 3 / 10),
    ("quepid", "P@10", FOUR_HITS, 3 / 4),
    ("quepid", "AP@10", CASE, (1 / 3 + 2 / 4 + 3 / 5) / 6),
    ("quepid", "RR@10", CASE, 1 / 3),
    ("quepid", "ERR@3", ERR, (7 / 8 + 1 / 8 * 3 / 8 / 2, 3)),
    ("tf_ranking", "MRRMetric", ONE, 0.5),
    ("tf_ranking", "MRRMetric", TWO, 0.75),
    ("tf_ranking", "HitsMetric(topn=1)", ONE, 0.0),
    ("tf_ranking", "HitsMetric(topn=2)", ONE, 1.0),
    ("tf_ranking", "HitsMetric(topn=1)", TWO, 0.5),
    ("tf_ranking", "PrecisionMetric(topn=2)", ONE, 0.5),
    ("tf_ranking", "PrecisionMetric(topn=2)", TWO, 0.5),
    ("tf_ranking", "RecallMetric(topn=2)", ONE, 0.5),
    ("tf_ranking", "RecallMetric(topn=2)", TWO, 0.75),
    ("tf_ranking", "MeanAveragePrecisionMetric(topn=2)", ONE, 0.25),
    ("tf_ranking", "MeanAveragePrecisionMetric(topn=2)", TWO, 0.5),
    ("tf_ranking", "NDCGMetric", ONE, 0.6934264),
    ("tf_ranking", "NDCGMetric", TWO, 0.7974351),
    ("tf_ranking", "DCGMetric", ONE, 1.1309297),
    ("tf_ranking", "DCGMetric", TWO, 2.065465),
    ("tf_ranking", "OPAMetric", GRADED, 1 / 3),
    # Its tests: a cutoff beyond the list, no relevant document.
    ("tf_ranking", "PrecisionMetric(topn=6)", ([1, 0, 1], [3, 2, 1], [0, 0, 0]), 2 / 3),
    ("tf_ranking", "MeanAveragePrecisionMetric(topn=1)", ([1, 0, 2], [3, 2, 1], [0, 0, 0]), 1 / 2),
    ("tf_ranking", "MRRMetric", ([0, 0, 0], [1, 3, 2], [0, 0, 0]), 0.0),
    ("tf_ranking", "RecallMetric", ([0, 0, 0], [1, 3, 2], [0, 0, 0]), 0.0),
    ("torchmetrics", "RetrievalNormalizedDCG", TORCH, 0.8467),
    ("torchmetrics", "RetrievalNormalizedDCG", FIVE, 0.6957),
    ("torchmetrics", "RetrievalMAP", TORCH, 0.7917),
    ("torchmetrics", "RetrievalMRR", TORCH, 0.75),
    ("torchmetrics", "RetrievalPrecision(top_k=2)", TORCH, 0.5),
    ("torchmetrics", "RetrievalRecall(top_k=2)", TORCH, 0.75),
    ("torchmetrics", "RetrievalRPrecision", TORCH, 0.75),
    ("torchmetrics", "RetrievalHitRate(top_k=2)", HITS, 0.5),
    ("torchmetrics", "RetrievalFallOut(top_k=2)", TORCH, 0.5),
    ("torchmetrics", "RetrievalAUROC", TORCH, 0.75),
]
# Formulas in their documentation and code give these: ties in the order of rows, labels below 1, lists of more
# than ten, relevant documents that were not returned or are beyond the cutoff.
TIED, TIED_11 = ([1, 0, 0], [1, 1, 1], [0, 0, 0]), ([1, *[0] * 10], [1] * 11, [0] * 11)
HALF = ([0.5, 1, 0.5], [2, 1, -np.inf], [0, 0, 0])
LATE = ([*[0] * 10, 1], [*range(11, 0, -1)], [0] * 11)
SHOWN = ([3, 2, 1], [2, 1, -np.inf], [0, 0, 0])
THREE = ([1, 0, 1, 1], [4, 3, 2, 1], [0] * 4)
FORMULAS = [
    ("tf_ranking", "MeanAveragePrecisionMetric", HALF, 1 / 2),
    ("tf_ranking", "MRRMetric", HALF, 1 / 2),
    ("tf_ranking", "PrecisionMetric(topn=2)", HALF, 1 / 2),
    ("tf_ranking", "RecallMetric(topn=1)", HALF, 0),
    ("tf_ranking", "HitsMetric(topn=1)", HALF, 0),
    ("tf_ranking", "OPAMetric", TIED, 0),
    ("torchmetrics", "RetrievalMAP(top_k=2)", THREE, 1 / 1),
    ("torchmetrics", "RetrievalFallOut", ([1, 1], [2, 1], [0, 0]), 1),
    ("quepid", "DCG@1", TIED, 1),
    ("quepid", "CG@1", TIED, 1),
    ("quepid", "AP@10", TIED, 1),
    ("quepid", "AP@1", THREE, 1 / 3),
    ("quepid", "RR@10", TIED, 1),
    ("quepid", "P@1", TIED, 1),
    ("quepid", "ERR@1", TIED, (1 / 8, 3)),
    ("elasticsearch", "dcg(normalize=true)", SHOWN, 1),
    *(("elasticsearch", name, LATE, 0) for name in CONVENTIONS["elasticsearch"].metrics.values()),
    ("elasticsearch", "dcg(normalize=true)", TIED_11, 1),
    ("elasticsearch", "dcg", TIED_11, 1),
    ("elasticsearch", "mean_reciprocal_rank", TIED_11, 1),
    ("elasticsearch", "precision", TIED_11, 1 / 10),
    ("elasticsearch", "recall", TIED_11, 1),
    ("elasticsearch", "expected_reciprocal_rank", TIED_11, (1 / 8, 3)),
    ("elasticsearch", "mean_reciprocal_rank", HALF, 1 / 2),
    ("elasticsearch", "precision", HALF, 1 / 2),
    ("elasticsearch", "recall", HALF, 1),
    # The cutoff of LlamaIndex is the length of its lists.
    ("llama_index", "ndcg@2", THREE, 1 / (1 + LOGS[1] + LOGS[2])),
    ("llama_index", "map@2", THREE, 1 / 3),
    ("llama_index", "precision@1", TIED, 1),
    ("llama_index", "precision@3", ([1, 0], [2, 1], [0, 0]), 1 / 2),
    ("llama_index", "recall@1", TIED, 1),
    ("llama_index", "hit_rate@1", TIED, 1),
]


def seen_by(convention):
    labels, scores, qid = (
        np.array(GOLDEN["queries"][name]) for name in ("labels", "scores", "qid")
    )
    seen = peers.LABELS.get(convention, np.asarray)(labels)
    return seen, peers.scores_of(convention, scores, qid), qid


def rows_of(labels, scores, qid):
    """Arguments of a metric, for scores of minus infinity if a document was not retrieved."""
    return {"y_true": labels, "y_score": scores, "qid": qid, "retrieved": scores > -np.inf}


def agrees(convention, name, expected):
    metric = get_metric(name, convention=convention)
    average = "macro" if np.isscalar(expected) else None
    values = metric(**rows_of(*seen_by(convention)), average=average)
    tolerance = TOLERANCE.get(name, TOLERANCE.get(convention, 1e-9))
    np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("convention", "name"), RECORDED)
def test_recorded_values(convention, name):
    agrees(convention, name, GOLDEN["values"][convention][name])


# --- Lists by id, with ties and negative labels


def agrees_by_id(convention, name, expected, seed=0):
    qrels, run = peers.lists_by_id(seed)
    report = evaluate_run(qrels, run, name, convention=convention)
    found = report.mean[name] if np.isscalar(expected) else report.per_query[name]
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE.get(convention, 1e-9))
    assert report.origin.convention == convention


@pytest.mark.parametrize("convention", peers.RECORDED_BY_ID)
def test_recorded_values_of_lists_by_id(convention):
    assert set(GOLDEN["by_id"][convention]) == set(peers.NAMES_BY_ID[convention].split())
    for name, expected in GOLDEN["by_id"][convention].items():
        agrees_by_id(convention, name, expected)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("convention", ["trec_eval", "ir_measures"])
def test_the_installed_library_on_lists_by_id(convention, seed):
    pytest.importorskip({"trec_eval": "pytrec_eval"}.get(convention, convention))
    for name in peers.NAMES_BY_ID[convention].split():
        expected = peers.BY_ID[convention](name, *peers.lists_by_id(seed))
        agrees_by_id(convention, name, expected, seed)


def test_every_convention_that_knows_ids_is_held_against_lists_by_id():
    knowing = {name for name, convention in CONVENTIONS.items() if convention.ties_by_id}
    assert set(peers.NAMES_BY_ID) == knowing
    for convention, names in peers.NAMES_BY_ID.items():
        held = {get_metric(name, convention=convention).record.name for name in names.split()}
        # Whatever breaks ties in another way is said to differ; pytrec_eval has no rbp.
        others = set(CONVENTIONS[convention].names) - held
        assert others <= {*CONVENTIONS[convention].differs, "rbp"}


# --- Rows


# Rax and Spark take seconds to start, as does gdeval, a Perl script, for each ERR.
@pytest.mark.slow  # as Numba compiles ranx, and warns of it
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("convention", ["ranx", "ir_measures", *peers.OF_RETRIEVAL])
def test_the_installed_library(convention):
    pytest.importorskip(peers.MODULES.get(convention, convention))
    for name in GOLDEN["values"][convention]:
        if not name.startswith("ERR"):
            agrees(convention, name, peers.PEERS[convention](name, *seen_by(convention)))


def stored(convention):
    """Metrics with rows, and the value of the library."""
    for name, expected in GOLDEN["values"].get(convention, {}).items():
        yield get_metric(name, convention=convention), rows_of(*seen_by(convention)), expected
    for one, name, lists, expected in [*PUBLISHED, *FORMULAS]:
        options = {}
        if isinstance(expected, tuple):
            expected, options["max_grade"] = expected
        if one == convention:
            metric = get_metric(name, convention=convention, **options)
            yield metric, rows_of(*map(np.asarray, lists)), expected


def is_value(metric, rows, expected, convention):
    average = "macro" if np.isscalar(expected) else None
    found = np.abs(metric(**rows, average=average))
    tolerance = {**TOLERANCE, "torchmetrics": 5e-5}.get(convention, 1e-6)
    name = str(metric).partition("(")[0]
    return np.allclose(found, expected, rtol=0, atol=max(tolerance, 5.1e-6 * (name == "err")))


NEW = sorted({one for one, *_ in [*RECORDED, *PUBLISHED]})


@pytest.mark.parametrize("convention", NEW)
def test_stored_values(convention):
    for metric, rows, expected in stored(convention):
        assert is_value(metric, rows, expected, convention), (str(metric), expected)


def without(metric, parameter, convention):
    """A metric as it would be if a parameter of the convention were left out."""
    default = get_metric(metric.record.name).get(parameter)
    if parameter == "ties" and "ties" in CONVENTIONS[convention].own[metric.record.name]:
        default = CONVENTIONS[convention].ties
    return metric.replace(**{parameter: default})


def changes(metric, parameter, rows, expected, convention):
    """Whether a value is another one without a parameter of the convention, or is refused."""
    try:
        return not is_value(without(metric, parameter, convention), rows, expected, convention)
    except ValueError:
        return True


@pytest.mark.parametrize("convention", NEW)
def test_each_parameter_of_a_convention_is_held_by_a_stored_value(convention):
    values = list(stored(convention))
    for name in CONVENTIONS[convention].own:
        for parameter in convention_defaults(convention, name):
            held = [one for one in values if one[0].record.name == get_metric(name).record.name]
            assert any(changes(metric, parameter, *rest, convention) for metric, *rest in held), (
                name,
                parameter,
            )


@pytest.mark.parametrize("convention", INSTALLED)
def test_each_parameter_changes_the_value_of_an_installed_library(convention):
    lists = peers.queries()
    for name in CONVENTIONS[convention].own:
        labels, scores, qid = as_taken_by(convention, name, lists)
        for parameter in convention_defaults(convention, name):
            metric = get_metric(name, convention=convention)
            if parameter != "k" and "k" in metric.record.parameters:
                metric = metric.replace(k=3)
            rows = {"y_true": labels, "y_score": scores, "qid": qid}
            if parameter == "k":  # of XGBoost, beyond which lists go on
                rows = {"y_true": [0] * 32 + [1], "y_score": range(33, 0, -1), "qid": [0] * 33}
            assert changes(metric, parameter, rows, abs(metric(**rows)), convention), (
                name,
                parameter,
            )


def test_the_mean_over_pairs_of_tf_ranking():
    labels, scores, qid = TWO
    assert (
        get_metric("OPAMetric", convention="tf_ranking", average="micro")(labels, scores, qid=qid)
        == 0.5
    )


def test_every_metric_of_these_conventions_is_held_against_a_value():
    held = {
        (c, get_metric(name, convention=c).record.name) for c, name, *_ in [*RECORDED, *PUBLISHED]
    }
    new = {convention for convention, _ in held}
    assert held == {
        (convention, metric) for convention in new for metric in CONVENTIONS[convention].names
    }
    assert new | set(INSTALLED) == set(CONVENTIONS), "a convention without a comparison"
    assert not new & set(INSTALLED)


def test_parameters_in_the_table_are_those_of_metrics_in_the_table():
    for convention in CONVENTIONS.values():
        assert set(convention.own) <= set(convention.names)
        assert set(convention.names) | set(convention.differs) <= set(get_metric_names())
    assert set(get_args(ConventionName)) == set(CONVENTIONS)


def test_an_explanation_names_what_no_parameter_gives():
    labels, scores, qid = seen_by("ir_measures")
    difference = explain_difference(
        labels, scores, qid=qid, metric="mrr@3", conventions=("sklearn", "ir_measures")
    )
    (remark,) = difference.not_imitated
    assert remark.startswith(
        "Not reproduced from ir_measures: RR@k breaks ties by document id, ascending"
    )
    assert " ".join(str(difference).split()).endswith(remark)
    plain = explain_difference(
        labels, scores, qid=qid, metric="ndcg", conventions=("sklearn", "ir_measures")
    )
    assert plain.not_imitated == []

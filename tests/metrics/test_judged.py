"""Documents that nobody judged: not relevant, left out by bpref and condensed lists, counted by judged@k."""

import itertools

import numpy as np
import pytest
from support import reference
from test_contract import TIES, bound, by_id, names

from skrank_metrics import compare, evaluate, get_metric, make_metric, ndcg_score
from skrank_metrics.conventions import explain_difference
from skrank_metrics.metrics._registry import REGISTRY

pytrec_eval = pytest.importorskip("pytrec_eval")


def random_rows(n_queries, seed, largest=6, grades=4, levels=4):
    """Labels, None if nobody judged the document, scores with ties, query ids in any order, and the mask."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, n_queries)
    qid = rng.permutation(np.repeat(np.arange(n_queries), sizes))
    n_rows = len(qid)
    labels = rng.integers(0, grades, n_rows).astype(object)
    judged = rng.random(n_rows) >= 0.4
    labels[~judged] = None
    scores = rng.integers(0, levels, n_rows) / 2.0
    return labels, scores, qid, judged


def each(name, k=None, **params):
    return bound(name, k, average=None, replace_undefined_by=np.nan, **params)


def by_hand(metric, labels, scores, qid, **options):
    params = {name: value for name, value in metric.params.items() if name in ("k", "ties", "gain")}
    plain = metric.record.name.removeprefix("neg_")
    members = [np.flatnonzero(qid == query) for query in dict.fromkeys(qid.tolist())]
    values = [
        reference.expected(plain, labels[rows], scores[rows], **params, **options)
        for rows in members
    ]
    # A count of pairs is 0 if nobody judged them.
    return np.nan_to_num(values) if metric.always_defined else values


@names
@pytest.mark.option("metrics.*.judged", "evaluate.condense", "evaluate.judged")
@pytest.mark.slow
def test_equals_the_mean_over_all_orders_of_tied_documents(name):
    labels, scores, qid, judged = random_rows(60, seed=1)
    record = REGISTRY[name].record
    sign = 1 if record.greater_is_better else -1
    exactly = {"rtol": 0, "atol": 1e-12}
    cutoffs = (None, 1, 3) if record.has_cutoff else (None,)
    for ties, k in itertools.product(TIES, cutoffs):
        metric = each(name, k, ties=ties)
        values = sign * metric(labels, scores, qid=qid, judged=judged)
        expected = by_hand(metric, labels, scores, qid)
        np.testing.assert_allclose(values, expected, **exactly, err_msg=f"{metric}")
        metric = metric.replace(average="macro")
        report = evaluate(labels, scores, qid=qid, judged=judged, condense=True, metrics=metric)
        expected = by_hand(metric, labels, scores, qid, condense=True)
        (values,) = report.per_query.values()
        np.testing.assert_allclose(
            sign * values, expected, **exactly, err_msg=f"condensed {metric}"
        )


MEASURES = {
    "map": "map", "recip_rank": "mrr", "ndcg": "ndcg", "ndcg_cut_5": "ndcg@5", "P_5": "precision@5",
    "recall_10": "recall@10", "Rprec": "r_precision", "success_5": "hit_rate@5", "map_cut_10": "map@10",
    "bpref": "bpref",
}  # fmt: skip


@pytest.mark.parametrize("condense", [False, True])
def test_pytrec_eval(condense):
    rng = np.random.default_rng(2)
    labels, scores, qid, judged = random_rows(40, seed=2, largest=20, levels=9)
    retrieved = rng.random(len(qid)) < 0.8
    # Among equal scores, trec_eval ranks by document id, descending.
    ids = [f"d{number:04}" for number in range(len(qid), 0, -1)]
    rows = list(zip(qid.tolist(), ids, labels, scores.tolist(), retrieved, strict=True))
    qrels, run = {}, {}
    for query, document, label, score, shown in rows:
        if label is not None:
            qrels.setdefault(str(query), {})[document] = label
        if shown:
            run.setdefault(str(query), {})[document] = score
    measures = {*MEASURES, "gm_map"}
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels, measures, judged_docs_only_flag=condense
    ).evaluate(run)
    options = {"convention": "trec_eval", "condense": condense}
    masks = {"retrieved": retrieved, "judged": judged}
    report = evaluate(labels, scores, qid=qid, metrics=list(MEASURES.values()), **masks, **options)
    compared = [place for place, query in enumerate(report.qid) if str(query) in theirs]
    assert len(compared) > 30
    for measure, name in MEASURES.items():
        values = [theirs[str(report.qid[place])][measure] for place in compared]
        np.testing.assert_allclose(
            report.per_query[name][compared], values, rtol=0, atol=1e-12, err_msg=measure
        )
    kept = np.isin(qid, report.qid[compared])
    masks = {name: mask[kept] for name, mask in masks.items()}
    report = evaluate(
        labels[kept],
        scores[kept],
        qid=qid[kept],
        metrics="map(average=geometric)",
        **masks,
        **options,
    )
    theirs = pytrec_eval.compute_aggregated_measure(
        "gm_map", [found["gm_map"] for found in theirs.values()]
    )
    assert list(report.mean.values()) == [pytest.approx(theirs, rel=1e-9)]


# Relevant at ranks 2 and 5; nobody judged ranks 1 and 3, and there is one document of label 0 at rank 4.
HAND = {"y_true": [[np.nan, 2, np.nan, 0, 1]], "y_score": [[5, 4, 3, 2, 1]]}
JUDGED = [[False, True, False, True, True]]


@names
def test_all_judged_is_as_none_and_labels_of_the_others_are_never_read(name):
    labels, scores, qid, judged = random_rows(30, seed=3)
    zero = np.where(judged, labels, 0)
    everything = np.ones(len(qid), dtype=bool)
    metric = each(name, ties="stable")
    all_judged = metric(zero, scores, qid=qid, judged=everything)
    np.testing.assert_array_equal(all_judged, metric(zero, scores, qid=qid))

    def values(labels):
        return metric(labels, scores, qid=qid, judged=judged)

    expected = values(labels)
    for other in (np.nan, -1, np.inf, 9):
        given = np.where(judged, zero, other).astype(float)
        np.testing.assert_array_equal(values(given), expected)
    for typed in (zero.astype("int8"), zero.astype("float32"), zero > 1):
        np.testing.assert_array_equal(values(typed), values(typed.astype(float)))


@names
def test_documents_neither_ranked_nor_judged_change_nothing(name):
    labels, scores, qid, judged = random_rows(30, seed=4)
    retrieved = np.random.default_rng(4).random(len(qid)) < 0.7
    gain = {"gain": [0.5, 1, 2, 3]} if name in ("dcg", "ndcg") else {}
    metric = each(name, **gain)

    def values(rows):
        masks = {"judged": judged[rows], "retrieved": retrieved[rows]}
        return by_id(metric, labels[rows], scores[rows], qid[rows], **masks)

    known = judged | retrieved
    # A query of which nothing is known is left out of the comparison.
    with_unknown = np.isin(qid, qid[known])
    assert values(with_unknown) == pytest.approx(values(known), abs=0, rel=0, nan_ok=True)


@names
def test_a_query_that_nobody_judged_is_undefined(name):
    always_defined = (
        name == "judged" or REGISTRY[name].record.undefined is None
    )  # a count of pairs, 0 here
    rows = {
        "y_true": [[2, 1], [1, 0]],
        "y_score": [[2, 1], [2, 1]],
        "judged": [[False, False], [True, True]],
    }
    for condense in (False, True):
        report = evaluate(**rows, metrics=each(name).replace(average="macro"), condense=condense)
        assert report.n_undefined == {next(iter(report.mean)): 0 if always_defined else 1}
        (values,) = report.per_query.values()
        assert values[0] == 0 if always_defined else np.isnan(values[0])
    if not always_defined and name != "neg_fall_out":
        assert "or no judged document and is left out" in " ".join(str(report).split())


def test_a_metric_of_a_function_sees_what_was_judged():
    seen = []

    def recorded(labels, unranked=()):
        seen.append((labels.tolist(), list(unranked)))
        return 1.0

    metric = make_metric(recorded)
    rows = {"y_true": [3, 2, 1, 1, 0], "y_score": [5, 4, 3, 2, 1], "qid": [0, 0, 0, 0, 1]}
    masks = {
        "retrieved": [True, True, False, False, True],
        "judged": [False, True, True, False, False],
    }
    values = get_metric(metric, replace_undefined_by=np.nan, average=None)(**rows, **masks)
    np.testing.assert_array_equal(values, [1, np.nan])
    assert sorted(seen) == [([0], []), ([0, 2], [1])]
    seen.clear()
    evaluate(**rows, **masks, metrics=metric, condense=True)
    assert seen == [([2], [1])]


def test_a_difference_between_conventions_is_explained_with_them():
    report = evaluate(**HAND, judged=JUDGED)
    difference = explain_difference(report, metric="ndcg", conventions=("sklearn", "lightgbm"))
    assert difference.start == ndcg_score(**HAND, judged=JUDGED)
    assert difference.end == ndcg_score(**HAND, judged=JUDGED, gain="exp2")


def test_rankings_with_unjudged_documents_of_their_own_are_compared():
    labels, scores, qid, judged = random_rows(30, seed=5)
    rows = {"metrics": ["ndcg", "bpref"], "judged": judged}
    whole = evaluate(labels, scores, qid=qid, **rows)
    fewer = judged | (np.arange(len(qid)) % 2 == 0)
    fewer |= ~np.isin(qid, qid[fewer])
    part = evaluate(
        labels[fewer], -scores[fewer], qid=qid[fewer], metrics=rows["metrics"], judged=judged[fewer]
    )
    compare([whole, part], "ndcg")
    condensed = evaluate(labels, scores, qid=qid, **rows, condense=True)
    with pytest.raises(
        ValueError, match=r"in the same way; got ndcg in '0' and ndcg in '1'.* condense"
    ):
        compare([whole, condensed], "ndcg")
    others = evaluate(np.where(judged, labels, 0), scores, qid=qid, metrics=rows["metrics"])
    with pytest.raises(ValueError, match=r"reports must have the same documents .* judged="):
        compare([whole, others], "ndcg")


def test_condensed_lists_need_judgments():
    with pytest.raises(ValueError, match="condense=True requires judged="):
        evaluate([[1, 0]], [[2, 1]], condense=True)
    with pytest.raises(TypeError, match="condense must be True or False; got 1"):
        evaluate([[1, 0]], [[2, 1]], judged=[[True, True]], condense=1)
    with pytest.raises(TypeError, match="judged must be passed with the data"):
        get_metric("ndcg", judged=[True])
    with pytest.raises(
        ValueError, match=r"y_true contains NaN, first at row 1. Mark .* with judged="
    ):
        evaluate([1, np.nan, 0], [3, 2, 1], qid=[0, 0, 0])
    with pytest.raises(TypeError, match="y_true must hold real numbers"):
        ndcg_score(["a", "b"], [2, 1], qid=[0, 0], judged=[False] * 2)


def test_a_count_of_pairs_is_defined_even_if_nobody_judged_them():
    rows = {
        "y_true": [[0, 1], [0, 1]],
        "y_score": [[2, 1], [2, 1]],
        "judged": [[True, True], [False, False]],
    }
    report = evaluate(
        **rows, metrics=["kendall_tau_distance", "kendall_tau_distance(normalize=true)"]
    )
    assert report.per_query["kendall_tau_distance"].tolist() == [1, 0]
    assert report.n_undefined == {
        "kendall_tau_distance": 0,
        "kendall_tau_distance(normalize=true)": 1,
    }

"""Each convention against the installed peer, which is the judge."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import dcg_score as sklearn_dcg_score
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from support import peers

from skrank_metrics import evaluate, get_metric, make_ranking_scorer
from skrank_metrics.conventions import explain_difference
from skrank_metrics.metrics.conventions import CONVENTIONS

CUTOFFS = (1, 5, 10)
CATBOOST = ("ndcg", "dcg", "map", "mrr", "precision", "recall", "err", "pfound")
N_QUERIES = 80
WEIGHTS = np.arange(1.0, 1 + N_QUERIES)


@pytest.fixture(params=range(3))
def lists(request):
    """Queries with many ties, of one document, without relevant documents, and with relevant ones only."""
    rng = np.random.default_rng(request.param)
    sizes = rng.integers(1, 40, N_QUERIES)
    sizes[:4] = 1
    qid = np.repeat(np.arange(N_QUERIES), sizes)
    labels = rng.integers(0, 4, len(qid))
    scores = rng.integers(0, 12, len(qid)) / 8
    labels[np.isin(qid, [4, 5, 6])] = 0
    labels[qid == 7] = 3
    return labels, scores, qid


def ours(name, convention, lists, **params):
    labels, scores, qid = lists
    return get_metric(name, convention=convention, **params)(labels, scores, qid=qid)


def lightgbm_value(lists, name, k, weights=None, **own):
    lightgbm = pytest.importorskip("lightgbm")
    labels, scores, qid = lists
    of_data = {"verbose": -1, **own}
    params = {
        "objective": "lambdarank",
        "metric": name,
        "eval_at": [k],
        "num_threads": 1,
        **of_data,
    }
    data = lightgbm.Dataset(
        np.arange(len(labels), dtype=float)[:, None],
        labels,
        group=np.bincount(qid),
        init_score=scores,
        weight=None if weights is None else weights[qid],
        params=of_data,
    )
    return lightgbm.Booster(params, data).eval_train()[0][2]


def xgboost_value(lists, weights=None, **params):
    xgboost = pytest.importorskip("xgboost")
    labels, scores, qid = lists
    no_features = np.zeros((len(labels), 1))
    data = xgboost.DMatrix(no_features, labels, qid=qid, base_margin=scores, weight=weights)
    params = {"objective": "rank:ndcg", "base_score": 0.0, **params}
    booster = xgboost.train(params, data, num_boost_round=0)
    return float(booster.eval(data).rpartition(":")[2])


def catboost_value(lists, name, **weights):
    utils = pytest.importorskip("catboost.utils")
    labels, scores, qid = lists
    (value,) = utils.eval_metric(labels, scores, name, group_id=qid, **weights)
    return value


def binary(lists):
    labels, scores, qid = lists
    return (labels > 1).astype(int), scores, qid


def sklearn_value(lists, spelled, k):
    """The mean over queries of more than one document, which scikit-learn needs."""
    labels, scores, qid = lists
    peer = {"ndcg_score": sklearn_ndcg_score, "dcg_score": sklearn_dcg_score}[spelled]
    rows_of_queries = [qid == query for query in np.unique(qid)]
    return np.mean([peer([labels[rows]], [scores[rows]], k=k) for rows in rows_of_queries])


def trec_eval_value(lists, spelled, k):
    """What pytrec_eval gives, with tied documents in the order of rows; it has no rbp."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    labels, scores, qid = lists
    if spelled == "rbp":
        ranked = np.lexsort((-scores, qid))
        place = np.arange(len(qid)) - np.searchsorted(qid, qid)
        return ((1 - 0.9) * 0.9**place * labels[ranked]).sum() / len(np.unique(qid))
    qrel, run = peers.runs(labels, scores, qid)
    word, _, cut = spelled.rpartition("_")
    measure = f"{word}.{k}" if cut == "k" else spelled
    values = pytrec_eval.RelevanceEvaluator(qrel, {measure}).evaluate(run)
    found = measure.replace(".", "_")
    return np.mean([values[query][found] for query in qrel])


def xgboost_of(lists, spelled, k):
    return xgboost_value(lists, eval_metric=spelled.replace("@k", f"@{k}"))


def catboost_of(lists, spelled, k):
    return catboost_value(lists, spelled.replace("=k", f"={k}"))


def lightgbm_of(lists, spelled, k):
    return lightgbm_value(lists, spelled, k)


# What the tests have installed: a function of lists, the peer's name of a metric, and a cutoff.
INSTALLED = {
    "sklearn": sklearn_value,
    "trec_eval": trec_eval_value,
    "lightgbm": lightgbm_of,
    "xgboost": xgboost_of,
    "catboost": catboost_of,
}
ROWS = [(convention, name) for convention in INSTALLED for name in CONVENTIONS[convention].names]


def as_taken_by(convention, name, lists):
    """Labels and queries that the peer takes for a metric."""
    labels, scores, qid = lists
    if convention == "sklearn":
        several = np.isin(qid, np.flatnonzero(np.bincount(qid) > 1))
        return labels[several], scores[several], qid[several]
    if (convention == "xgboost" and name != "ndcg") or name == "auc":
        return binary(lists)
    if name == "rbp" or (convention == "catboost" and "cg" not in name):
        return labels / 4, scores, qid
    return lists


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize(("convention", "name"), ROWS)
def test_every_row_of_the_table(convention, name, k, lists):
    taken = as_taken_by(convention, name, lists)
    spelled = CONVENTIONS[convention].names[name].split(", ")[-1]
    has_cutoff = "k" in get_metric(name).record.parameters
    cut = {}
    if has_cutoff and spelled not in ("recip_rank", "rbp", "bpref"):
        cut["k"] = k
    expected = INSTALLED[convention](taken, spelled, k)
    tolerance = 1e-6 if convention == "xgboost" else 1e-9
    assert ours(name, convention, taken, **cut) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("k", CUTOFFS)
def test_linear_gains_of_lightgbm(k, lists):
    expected = lightgbm_value(lists, "ndcg", k, label_gain=[0, 1, 2, 3])
    linear = ours(f"ndcg(gain=linear)@{k}", "lightgbm", lists)
    assert linear == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("name", "peer"), [("ndcg", "ndcg"), ("map", "map"), ("precision", "pre")])
def test_xgboost_without_a_cutoff(name, peer, lists):
    lists = lists if name == "ndcg" else binary(lists)
    expected = xgboost_value(lists, eval_metric=peer)
    assert ours(name, "xgboost", lists) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("k", CUTOFFS)
def test_exponential_gains_of_catboost(k, lists):
    expected = catboost_value(lists, f"NDCG:top={k};type=Exp")
    exponential = ours(f"ndcg(gain=exp2)@{k}", "catboost", lists)
    assert exponential == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_xgboost_counts_pairs_of_equal_labels_in_its_auc(weights, lists):
    """Why auc is no metric of the convention: the pairs by label, in order of rows, of at least three documents."""
    labels, scores, qid = lists
    shares = []
    for query in np.flatnonzero(np.bincount(qid) > 2):
        rows = qid == query
        by_label = np.argsort(-labels[rows], kind="stable")
        pairs = itertools.combinations(scores[rows][by_label], 2)
        shares.append(np.mean([(above > below) + (above == below) / 2 for above, below in pairs]))
    found = xgboost_value(lists, weights, eval_metric="auc")
    assert found == pytest.approx(np.mean(shares), abs=1e-9)
    relevant = (labels > 0).astype(int)
    assert abs(found - ours("auc", "sklearn", (relevant, scores, qid))) > 1e-3
    conventions = ("sklearn", "xgboost")
    difference = explain_difference(labels, scores, qid=qid, metric="auc", conventions=conventions)
    assert "auc counts pairs" in str(difference)


@pytest.mark.parametrize(("kind", "name"), [("Classic", "auc"), ("Ranking", "pairwise_accuracy")])
def test_catboost_ignores_weights_in_the_auc_of_queries(kind, name, lists):
    lists = binary(lists) if kind == "Classic" else lists
    peer = f"QueryAUC:type={kind}"
    by_group = WEIGHTS[lists[2]]
    expected = catboost_value(lists, peer, group_weight=by_group)
    assert ours(name, "catboost", lists) == pytest.approx(expected, abs=1e-9)
    assert ours(peer, "catboost", lists) == ours(name, "catboost", lists)


@pytest.mark.parametrize(
    ("peer", "params"),
    [
        ({"eval_metric": "ndcg@5-"}, {"k": 5, "replace_undefined_by": 0}),
        ({"eval_metric": "ndcg-"}, {"replace_undefined_by": 0}),
        ({"eval_metric": "ndcg@5", "ndcg_exp_gain": False}, {"k": 5, "gain": "linear"}),
        ({"eval_metric": "ndcg", "lambdarank_num_pair_per_sample": 3}, {}),
        ({"lambdarank_num_pair_per_sample": 3}, {"k": 3}),
        ({"lambdarank_pair_method": "mean"}, {"k": None}),
    ],
)
def test_options_of_xgboost(peer, params, lists):
    xgboost = pytest.importorskip("xgboost")
    if "ndcg_exp_gain" in peer and xgboost.__version__ < "3.1":
        pytest.skip("metrics of this XGBoost ignore ndcg_exp_gain")
    expected = xgboost_value(lists, **peer)
    assert ours("ndcg", "xgboost", lists, **params) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("name", "weighs_them"), [("ndcg", False), ("map", True)])
@pytest.mark.parametrize("convention", ["lightgbm", "xgboost"])
def test_boosters_do_not_weight_queries_without_relevant_documents_in_ndcg(
    convention, name, weighs_them, lists
):
    labels, scores, qid = lists = lists if name == "ndcg" else binary(lists)
    if convention == "xgboost":
        found = xgboost_value(lists, WEIGHTS, eval_metric=f"{name}@5")
    else:
        found = lightgbm_value(lists, name, 5, WEIGHTS)
    values = get_metric(f"{name}@5", convention=convention, average=None)(labels, scores, qid=qid)
    undefined = np.bincount(qid, weights=labels) == 0
    assert undefined.sum() > 2
    shares = WEIGHTS.copy()
    if not weighs_them:
        shares[undefined] = 1
    assert found == pytest.approx((shares * values).sum() / WEIGHTS.sum(), abs=1e-6)


def test_catboost_ranks_scores_of_nan_anywhere():
    utils = pytest.importorskip("catboost.utils")
    rows = [0, 1], [1.0, np.nan]
    assert utils.eval_metric(*rows, "MRR", group_id=[0, 0]) == [1 / 2]  # last
    assert utils.eval_metric(*rows, "QueryAUC", group_id=[0, 0]) == [1.0]  # first


@pytest.mark.parametrize("name", CATBOOST)
def test_catboost_ignores_group_weights_in_three_metrics(name, lists):
    labels, scores, qid = lists = binary(lists)
    weights = (np.random.default_rng(0).integers(1, 8, N_QUERIES) / 2)[qid]
    spelled = CONVENTIONS["catboost"].names[name].replace("=k", "=5")
    expected = catboost_value(lists, spelled, group_weight=weights)
    metric = get_metric(f"{name}@5", convention="catboost")
    weighted = metric(labels, scores, qid=qid, sample_weight=weights)
    plain = metric(labels, scores, qid=qid)
    found = plain if name in ("map", "precision", "recall") else weighted
    assert found == pytest.approx(expected, abs=1e-9)
    assert abs(weighted - plain) > 1e-4


def test_rbp_of_trec_eval_has_its_persistence_and_linear_gains():
    rows = [[1, 0, 0.5]], [[3, 2, 1]]
    rbp = get_metric("rbp", convention="trec_eval")
    # Its m_rbp.c computes this.
    assert rbp(*rows) == pytest.approx((1 - 0.9) * (1 + 0.9**2 * 0.5), rel=1e-15)
    with_persistence = get_metric("rbp(p=0.5)", convention="trec_eval")
    assert with_persistence(*rows) == (1 - 0.5) * (1 + 0.5**2 * 0.5)
    assert get_metric("rbp")(*rows) == pytest.approx((1 - 0.8) * (1 + 0.8**2), rel=1e-15)
    with pytest.raises(ValueError, match="y_true must be at most 1 for gain='linear'"):
        rbp([[2, 0]], [[2, 1]])


@pytest.mark.option("get_metric.convention", "get_metric.**params")
def test_parameters_set_explicitly_win():
    shown = "ndcg(ties=stable, gain=exp2, replace_undefined_by=1.0)@5"
    assert str(get_metric("ndcg@5", convention="lightgbm")) == shown
    assert get_metric("ndcg(gain=linear)", convention="lightgbm").get("gain") == "linear"
    assert get_metric("ndcg", convention="lightgbm", ties="best").get("ties") == "best"
    assert get_metric("ndcg@5", convention="xgboost").k == 5
    assert get_metric("ndcg", convention="xgboost", k=None).k is None


def test_unknown_conventions_are_named():
    unknown = r"convention must be one of .* got 'lightgmb'. Did you mean 'lightgbm'"
    rows = [[1, 0]], [[1, 2]]
    for call in (get_metric, make_ranking_scorer):
        with pytest.raises(ValueError, match=unknown):
            call("ndcg", convention="lightgmb")
    with pytest.raises(ValueError, match=unknown):
        explain_difference(*rows, conventions=("sklearn", "lightgmb"))
    with pytest.raises(ValueError, match="got 's'"):
        explain_difference(*rows, conventions="sklearn")


def test_a_metric_that_cannot_be_imitated_is_refused():
    expected = "'auc' of convention='xgboost' cannot be reproduced: auc counts pairs with equal .* Leave out the conv"
    with pytest.raises(ValueError, match=expected):
        get_metric("auc", convention="xgboost")
    with pytest.raises(ValueError, match=expected):
        evaluate([0, 1], [1, 2], qid=[0, 0], metrics=["ndcg", "auc"], convention="xgboost")
    with pytest.raises(ValueError, match="'bpref' of convention='ranx' cannot"):
        get_metric("bpref", convention="ranx")
    assert (
        get_metric("err", convention="ir_measures").get("ties") == "stable"
    )  # differs only in rounding


def test_another_base_of_the_logarithm_is_a_factor_as_the_table_says(rng):
    labels, scores = rng.integers(0, 4, (2, 5, 8))
    theirs = sklearn_dcg_score(labels, scores, log_base=3)
    assert theirs == pytest.approx(np.log2(3) * get_metric("dcg")(labels, scores), rel=1e-12)
    assert "With log_base=b, DCG is log2(b) times as large." in CONVENTIONS["sklearn"].not_imitated

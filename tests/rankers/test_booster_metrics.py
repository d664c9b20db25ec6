"""Metrics inside the boosters, against the numbers of this package on the same rows."""

import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostRanker, Pool
from lightgbm import LGBMRanker
from xgboost import XGBRanker

from skrank_metrics import get_metric, kendall_tau_distance, make_ranking_scorer, with_qid
from skrank_metrics.rankers import builtin_metric, lightgbm_metric, xgboost_metric

NAMES = [
    "ndcg@10",
    "ndcg(gain=exp2)@3",
    "map",
    "mrr@5",
    "precision@5",
    "kendall_tau",
    "err(ties=worst)@10",
]


@pytest.fixture(scope="module")
def halves():
    """Train and test rows, ids and weights, sorted by query; features are coarse, so that scores tie."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 25, 60)
    qid = np.repeat(np.arange(60), sizes)
    X = np.round(rng.normal(size=(len(qid), 3)))
    noisy = X[:, 0] + rng.normal(size=len(qid))
    y = np.clip(np.round(noisy), 0, 3).astype(int)
    y[np.isin(qid, [3, 33])] = 0
    weights = rng.integers(1, 5, 60)[qid] / 2
    sides = (qid < 30, qid >= 30)
    return [(X[side], y[side], qid[side], weights[side]) for side in sides]


def sizes_of(qid):
    return np.unique(qid, return_counts=True)[1]


def first_of(qid):
    return np.unique(qid, return_index=True)[1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_lightgbm_train_and_ranker_give_the_score_of_the_same_rows(name, weighted, halves):
    (X, y, qid, w), (Xv, yv, qv, wv) = halves
    w, wv = (w, wv) if weighted else (None, None)
    metric = lightgbm_metric(name)
    params = {"verbose": -1, "num_threads": 1, "metric": "None"}
    params["objective"] = "lambdarank"
    data = lightgbm.Dataset(X, y, group=sizes_of(qid), weight=w)
    valid = lightgbm.Dataset(Xv, yv, group=sizes_of(qv), weight=wv, reference=data)
    found = {}
    recorder = lightgbm.record_evaluation(found)
    booster = lightgbm.train(
        params, data, 5, valid_sets=[valid], feval=metric, callbacks=[recorder]
    )
    values = [
        get_metric(name)(yv, booster.predict(Xv, num_iteration=i), qid=qv, sample_weight=wv)
        for i in range(1, 6)
    ]
    np.testing.assert_allclose(found["valid_0"][metric.__name__], values, rtol=0, atol=1e-9)
    model = LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1, metric="None")
    new = "eval_X" in LGBMRanker.fit.__code__.co_varnames
    valid = {"eval_X": (Xv,), "eval_y": (yv,)} if new else {"eval_set": [(Xv, yv)]}
    valid |= {"eval_group": [sizes_of(qv)], "eval_sample_weight": [wv] if weighted else None}
    model.fit(X, y, group=sizes_of(qid), sample_weight=w, eval_metric=metric, **valid)
    np.testing.assert_allclose(
        model.evals_result_["valid_0"][metric.__name__], values, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("matrix", [xgboost.DMatrix, xgboost.QuantileDMatrix])
def test_xgboost_train_gives_the_score_of_the_same_rows(matrix, name, weighted, halves):
    (X, y, qid, w), (Xv, yv, qv, wv) = halves
    w, wv = (w, wv) if weighted else (None, None)
    data = matrix(X, y, qid=qid, weight=w[first_of(qid)] if weighted else None)
    valid = xgboost.DMatrix(Xv, yv, qid=qv, weight=wv[first_of(qv)] if weighted else None)
    params = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1}
    found = {}
    metric = xgboost_metric(name)
    options = {"evals": [(valid, "valid")], "evals_result": found, "verbose_eval": False}
    booster = xgboost.train(params, data, 5, custom_metric=metric, **options)
    scores = [booster.predict(valid, iteration_range=(0, i)) for i in range(1, 6)]
    values = [get_metric(name)(yv, score, qid=qv, sample_weight=wv) for score in scores]
    np.testing.assert_allclose(found["valid"][metric.__name__], values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["mrr@5", "err@10", "neg_kendall_tau_distance"])
def test_xgboost_stops_early_in_the_direction_that_its_callback_is_told(name, halves):
    (X, y, qid, _), (Xv, yv, qv, _) = halves
    data = xgboost.DMatrix(X, y, qid=qid)
    valid = xgboost.DMatrix(Xv, yv, qid=qv)
    found = {}
    metric = xgboost_metric(name)
    stop = xgboost.callback.EarlyStopping(
        rounds=4, data_name="valid", metric_name=metric.__name__, maximize=True
    )
    booster = xgboost.train(
        {"objective": "rank:ndcg", "nthread": 1}, data, 30, evals=[(valid, "valid")], custom_metric=metric,
        callbacks=[stop], evals_result=found, verbose_eval=False,
    )  # fmt: skip
    values = found["valid"][metric.__name__]
    assert booster.best_iteration == int(np.argmax(values))
    assert booster.best_score == max(values) > min(values)


@pytest.mark.parametrize(
    ("name", "own"),
    [(name, f"{name}_skrank") for name in ("ndcg@3", "map", "auc")]
    + [("mrr@3",) * 2, ("ndcg(gain=exp2)@3",) * 2],
)
def test_xgboost_keeps_the_values_apart_from_those_of_its_own_metrics(name, own, halves):
    (X, y, qid, _), _ = halves
    found = {}
    data = xgboost.DMatrix(X, y > 1, qid=qid)
    params = {"objective": "rank:ndcg", "eval_metric": ["ndcg@3", "map"], "nthread": 1}
    options = {"evals": [(data, "train")], "evals_result": found, "verbose_eval": False}
    xgboost.train(params, data, 3, custom_metric=xgboost_metric(name), **options)
    assert {key: len(values) for key, values in found["train"].items()} == {
        "ndcg@3": 3,
        "map": 3,
        own: 3,
    }


XGBOOST = {"ndcg@10": "ndcg@10", "ndcg": "ndcg@32", "map@5": "map@5", "precision@5": "pre@5"}
CATBOOST = {
    "ndcg@10": "NDCG:top=10;type=Base",
    "ndcg": "NDCG:type=Base",
    "ndcg(gain=exp2)@3": "NDCG:top=3;type=Exp",
    "dcg(gain=exp2)@3": "DCG:top=3;type=Exp",
    "dcg@3": "DCG:top=3;type=Base",
    "map@10": "MAP:top=10",
    "mrr": "MRR",
    "precision@5": "PrecisionAt:top=5",
    "recall@5": "RecallAt:top=5",
    "pfound@10": "PFound:top=10",
    "err": "ERR",
    "auc": "QueryAUC:type=Classic",
    "pairwise_accuracy": "QueryAUC:type=Ranking",
}


@pytest.mark.parametrize(("name", "expected"), XGBOOST.items())
def test_builtin_names_of_xgboost_compute_the_same_number(name, expected, halves):
    assert builtin_metric(name, "xgboost") == expected
    (X, y, qid, _), (Xv, yv, qv, _) = halves
    objective = "rank:ndcg"
    if "ndcg" not in name:
        y = (y > 1).astype(int)
        yv = (yv > 1).astype(int)
        objective = "rank:map"
    model = XGBRanker(n_estimators=5, n_jobs=1, eval_metric=expected, objective=objective)
    model.fit(X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv])
    value = make_ranking_scorer(name, convention="xgboost")(model, Xv, with_qid(yv, qv))
    assert model.evals_result()["validation_0"][expected][-1] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("name", "expected"), CATBOOST.items())
def test_builtin_names_of_catboost_compute_the_same_number(name, expected, halves):
    assert builtin_metric(name, "catboost") == expected
    (X, y, qid, _), (Xv, yv, qv, _) = halves
    if name.startswith(("pfound", "err", "map", "mrr", "precision", "recall", "auc")):
        y, yv = (y > 1).astype(float), (yv > 1).astype(float)
    options = {
        "verbose": False,
        "allow_writing_files": False,
        "thread_count": 1,
        "use_best_model": False,
    }
    model = CatBoostRanker(iterations=5, eval_metric=expected, **options)
    model.fit(X, y, group_id=qid, eval_set=Pool(Xv, yv, group_id=qv))
    value = get_metric(name, convention="catboost")(yv, model.predict(Xv), qid=qv)
    found = model.get_evals_result()["validation"][expected]
    assert found[-1] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "booster", "message"),
    [
        (
            "mrr@10",
            "xgboost",
            "metric must be one that xgboost computes, ndcg, map, precision; got mrr",
        ),
        ("bpref", "catboost", "metric must be one that catboost computes, ndcg, .*; got bpref"),
        (
            "ndcg(gain=linear)@10",
            "xgboost",
            r"as xgboost computes it, ndcg\(.*gain=exp2.*\)@10; got ndcg\(.*\)@10\.$",
        ),
        (
            "ndcg(ties=average)@10",
            "catboost",
            r"as catboost computes it, ndcg\(.*ties=worst.*\)@10; got ndcg",
        ),
        (
            "ndcg(discount=reciprocal, gain=exp2)@10",
            "catboost",
            r"as catboost computes it, ndcg.*; got ndcg\(.*discount=reciprocal",
        ),
        (
            "pfound(p=0.5)@10",
            "catboost",
            r"as catboost computes it, pfound.*; got pfound.*p=0\.5",
        ),
        (
            "map(relevance_threshold=2)",
            "catboost",
            r"as catboost computes it, map.*; got map\(.*relevance_threshold=2",
        ),
        (
            "ndcg(replace_undefined_by=nan)@3",
            "xgboost",
            "as xgboost computes it, ndcg.*replace_undefined_by=1.*; got ndcg.*replace_undefined_by=nan",
        ),
        (
            "ndcg@10",
            "lightgbm",
            r"booster must be one of \['xgboost', 'catboost'\]; got 'lightgbm'",
        ),
    ],
)
def test_no_builtin_name(metric, booster, message):
    with pytest.raises(ValueError, match=message):
        builtin_metric(metric, booster)


@pytest.mark.option(
    "lightgbm_metric.**params", "xgboost_metric.**params", "builtin_metric.**params"
)
def test_parameters_are_those_of_the_metric():
    # Labels 1 and 3 of one query, in the wrong order; the discounts are log2(2) and log2(3).
    labels = [1, 3]
    scores = np.array([2.0, 1.0])
    discount = np.log2(3)
    dmatrix = xgboost.DMatrix(np.ones((2, 1)), labels, qid=[0, 0])
    for params, expected in (
        ({}, (1 + 3 / discount) / (3 + 1 / discount)),
        ({"gain": "exp2"}, (1 + 7 / discount) / (7 + 1 / discount)),
        ({"k": 1}, 1 / 3),
        ({"k": 1, "gain": "exp2"}, 1 / 7),
    ):
        assert lightgbm_metric("ndcg", **params)(labels, scores, None, [2])[1] == pytest.approx(
            expected, rel=1e-12
        )
        assert xgboost_metric("ndcg", **params)(scores, dmatrix)[1] == pytest.approx(
            expected, rel=1e-12
        )
    assert builtin_metric("ndcg", "catboost") == "NDCG:type=Base"
    assert builtin_metric("ndcg", "catboost", k=3, gain="exp2") == "NDCG:top=3;type=Exp"
    assert builtin_metric("map", "xgboost", k=7) == "map@7"
    with pytest.raises(ValueError, match=r"as xgboost computes it, ndcg.*@32; got ndcg"):
        builtin_metric("ndcg", "xgboost", k=None)
    with pytest.raises(
        ValueError,
        match=r"as catboost computes it, ndcg.*; got ndcg.*gain=\[0, 1, 5\]",
    ):
        builtin_metric("ndcg", "catboost", gain=[0, 1, 5])


def test_direction_convention_name_and_pickle():
    rows = [1, 0, 2], [1.0, 2.0, 3.0], None, [2, 1]
    assert lightgbm_metric(kendall_tau_distance)(*rows) == ("kendall_tau_distance", 0.5, False)
    assert lightgbm_metric("neg_kendall_tau_distance")(*rows) == (
        "neg_kendall_tau_distance",
        -0.5,
        True,
    )
    metric = lightgbm_metric("ndcg@10", convention="lightgbm")
    assert metric.__name__ == "ndcg(ties=stable,gain=exp2,replace_undefined_by=1.0)@10"
    assert pickle.loads(pickle.dumps(metric))(*rows) == metric(*rows)
    assert pickle.loads(pickle.dumps(xgboost_metric("mrr@10"))).__name__ == "mrr@10"


def test_what_is_wrong_is_said(halves):
    (X, y, qid, _), _ = halves
    for make in (lightgbm_metric, xgboost_metric):
        with pytest.raises(
            ValueError, match="average must not be None where a single value is needed"
        ):
            make("ndcg", average=None)
        with pytest.raises(ValueError, match=r"Unknown metric 'ndgc'. Did you mean 'ndcg'"):
            make("ndgc")
    with pytest.raises(ValueError, match="ndcg needs queries, but the data hold none"):
        lightgbm_metric("ndcg")(y, X[:, 0])
    with pytest.raises(ValueError, match="sample_weight must be constant within a query"):
        lightgbm_metric("ndcg")(y, X[:, 0], np.arange(1.0, len(y) + 1), sizes_of(qid))
    with pytest.raises(ValueError, match="mrr needs queries, but the data hold none"):
        xgboost_metric("mrr")(X[:, 0], xgboost.DMatrix(X, y))
    with pytest.raises(TypeError, match=r"dmatrix must be an xgboost.DMatrix.*builtin_metric"):
        XGBRanker(eval_metric=xgboost_metric("ndcg")).fit(
            X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid]
        )

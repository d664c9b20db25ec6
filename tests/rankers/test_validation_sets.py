"""Validation sets of users: rows in any order, queries and weights in the index of the labels."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from catboost import CatBoostRanker, Pool
from lightgbm import LGBMRanker, LGBMRegressor, early_stopping
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from support.rankers import RANKERS, RECORDED, of_name
from xgboost import XGBRanker

from skrank_metrics import QueryKFold, QueryRanker, get_metric, make_ranking_scorer, with_qid

LIGHTGBM, XGBOOST, CATBOOST = RANKERS
N_ROUNDS = {
    "LGBMRanker": "n_estimators",
    "XGBRanker": "n_estimators",
    "CatBoostRanker": "iterations",
}


@pytest.fixture(scope="module")
def parts(problem):
    """Rows to fit, and rows to validate on in random order with other ids than those of the fit."""
    X, y, qid = problem
    fit = qid < 20
    order = np.random.default_rng(3).permutation(np.flatnonzero(~fit))
    names = np.char.mod("query %d", qid)
    to_fit = (X[fit], y[fit], names[fit])
    to_validate = (X[order], y[order], names[order])
    return to_fit, to_validate


def sorted_by_query(X, y, qid, *others):
    """Rows sorted by query, in order of first appearance, and the size of each query."""
    codes = pd.factorize(qid)[0]
    order = np.argsort(codes, kind="stable")
    return X[order], y[order], codes[order], *(other[order] for other in others)


def by_hand(model, X, y, codes, X_val, y_val, codes_val, weights=None, of_fit=None):
    """Fit with the interface of each booster; weights are one per row to validate on, or to fit."""
    first = np.flatnonzero(np.diff(codes_val, prepend=-1))
    if isinstance(model, CatBoostRanker):
        pool = Pool(X_val, y_val, group_id=codes_val, group_weight=weights)
        return model.fit(X, y, group_id=codes, group_weight=of_fit, eval_set=[pool])
    if isinstance(model, XGBRanker):
        of_queries = None if weights is None else [weights[first]]
        sets = {"eval_set": [(X_val, y_val)], "eval_qid": [codes_val]}
        sets |= {"sample_weight_eval_set": of_queries, "verbose": False}
        first_of_fit = np.flatnonzero(np.diff(codes, prepend=-1))
        firsts = None if of_fit is None else of_fit[first_of_fit]
        return model.fit(X, y, qid=codes, sample_weight=firsts, **sets)
    sets = {"eval_group": [np.bincount(codes_val)], "eval_sample_weight": [weights]}
    if "eval_X" in LGBMRanker.fit.__annotations__:
        sets |= {"eval_X": (X_val,), "eval_y": (y_val,)}
    else:
        sets |= {"eval_set": [(X_val, y_val)]}
    return model.fit(X, y, group=np.bincount(codes), sample_weight=of_fit, **sets)


@pytest.mark.option("QueryRanker.fit.eval_set")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", RECORDED, **of_name)
def test_the_curve_is_that_of_the_booster_on_sorted_rows(model, weighted, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    weights = np.where(np.char.endswith(qid_val, "5"), 4.0, 0.5) if weighted else None
    given = [(X_val, with_qid(y_val, qid_val, sample_weight=weights))]
    fitted = QueryRanker(model).fit(X, y, qid=qid, eval_set=given).estimator_
    of_rows = [] if weights is None else [weights]
    sorted_val = sorted_by_query(X_val, y_val, qid_val, *of_rows)
    expected = by_hand(clone(model), *sorted_by_query(X, y, qid), *sorted_val)
    assert fitted.curve().keys() == expected.curve().keys()
    for name, curve in expected.curve().items():
        np.testing.assert_array_equal(fitted.curve()[name], curve)
    curve = next(iter(expected.curve().values()))
    assert len(set(curve)) > 3


def random_part(random, n, prefix):
    """Rows of queries of unequal lengths, mixed, and a weight for each query."""
    in_order = np.repeat(np.arange(n), random.integers(1, 9, n))
    query = random.permutation(in_order)
    X = random.normal(size=(len(query), 4))
    noise = random.normal(size=len(query))
    grades = np.round(X[:, 0] + noise)
    y = np.clip(grades, 0, 3).astype(int)
    qid = np.array([f"{prefix}{number}" for number in query])
    weights = random.choice([0.5, 1.0, 4.0], n)
    return X, y, qid, weights[query]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", RECORDED, **of_name)
def test_weights_ids_and_sets_crossed_are_those_of_the_booster_by_hand(model, seed):
    random = np.random.default_rng(seed)
    X, y, qid, of_fit = random_part(random, 25, "fit")
    X_val, y_val, qid_val, weights = random_part(random, 12, "val")
    if seed == 0:
        of_fit = None
    if seed == 2:
        weights = None
    labels = with_qid(y_val, qid_val, sample_weight=weights)
    sets = {"eval_set": [(X_val, labels)]} if seed % 2 else {"X_val": X_val, "y_val": labels}
    ids = {"groups": qid} if seed == 2 else {"qid": qid}
    found = QueryRanker(model).fit(X, y, sample_weight=of_fit, **ids, **sets)
    weights_of_fit = [] if of_fit is None else [of_fit]
    X_fit, y_fit, codes, *own = sorted_by_query(X, y, qid, *weights_of_fit)
    of_rows = [] if weights is None else [weights]
    expected = by_hand(
        clone(model),
        *(X_fit, y_fit, codes),
        *sorted_by_query(X_val, y_val, qid_val, *of_rows),
        of_fit=own[0] if own else None,
    )
    np.testing.assert_array_equal(found.predict(X_val), expected.predict(X_val))
    for name, curve in expected.curve().items():
        np.testing.assert_array_equal(found.estimator_.curve()[name], curve)


def test_the_last_value_is_the_metric_of_the_set(parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    given = [(X_val, with_qid(y_val, qid_val))]
    ranker = QueryRanker(LIGHTGBM).fit(X, y, qid=qid, eval_set=given, eval_at=[10])
    last = ranker.estimator_.evals_result_["valid_0"]["ndcg@10"][-1]
    metric = get_metric("ndcg@10", convention="lightgbm")
    assert last == pytest.approx(metric(y_val, ranker.predict(X_val), qid=qid_val), abs=1e-12)


@pytest.mark.parametrize("model", RANKERS, **of_name)
def test_early_stopping_on_a_set_of_the_user(model, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    model = clone(model).set_params(**{N_ROUNDS[type(model).__name__]: 200})
    ranker = QueryRanker(model, early_stopping_rounds=5)
    ranker.fit(X, y, qid=qid, eval_set=[(X_val, with_qid(y_val, qid_val))])
    best = ranker.best_iteration_
    assert 1 <= best < 150

    def scores_after(n_rounds):
        shorter = clone(model).set_params(**{N_ROUNDS[type(model).__name__]: n_rounds})
        return QueryRanker(shorter).fit(X, y, qid=qid).predict(X_val)

    conventions = {XGBRanker: "xgboost", CatBoostRanker: "catboost"}
    convention = conventions.get(type(model), "sklearn")
    metric = get_metric("ndcg@10", convention=convention)
    scores = [scores_after(n_rounds) for n_rounds in range(1, best + 6)]
    values = [metric(y_val, own, qid=qid_val) for own in scores]
    assert values[best - 1] == pytest.approx(max(values), abs=1e-6)
    np.testing.assert_allclose(ranker.predict(X_val), scores[best - 1], rtol=1e-6)


@pytest.mark.option("QueryRanker.fit.X_val")
@pytest.mark.option("QueryRanker.fit.y_val")
@pytest.mark.parametrize("model", RECORDED, **of_name)
def test_a_pipeline_transforms_the_set(model, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    steps = [("scale", StandardScaler()), ("rank", QueryRanker(model))]
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = Pipeline(steps, transform_input=["X_val"])
        pipeline.fit(100 * X, y, qid=qid, X_val=100 * X_val, y_val=with_qid(y_val, qid_val))
    scaler = StandardScaler().fit(100 * X)
    seen = pipeline[-1].estimator_.validation_rows
    expected = scaler.transform(100 * X_val)[:, 0]
    np.testing.assert_allclose(np.sort(seen), np.sort(expected), rtol=1e-5)


@pytest.mark.parametrize("model", RANKERS, **of_name)
def test_several_sets_are_watched(model, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    sets = [(X, with_qid(y, qid)), (X_val, with_qid(y_val, qid_val))]
    fitted = QueryRanker(model).fit(X, y, qid=qid, eval_set=sets).estimator_
    names = ("evals_result_",) if hasattr(fitted, "evals_result_") else ()
    found = getattr(fitted, names[0]) if names else fitted.get_evals_result()
    curves = [curve for name, curve in found.items() if name != "learn"]
    assert len(curves) == 2
    assert curves[0] != curves[1]


@pytest.mark.parametrize("model", RANKERS, **of_name)
def test_scores_to_start_from_have_none_of_the_set_beside_them(model, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    names = {LGBMRanker: "init_score", XGBRanker: "base_margin", CatBoostRanker: "baseline"}
    start = {names[type(model)]: X[:, 1].copy()}
    ranker = QueryRanker(model)
    with pytest.raises(
        ValueError, match=rf"{names[type(model)]} must be None.*validation_fraction"
    ):
        ranker.fit(X, y, qid=qid, eval_set=[(X_val, with_qid(y_val, qid_val))], **start)
    ranker.fit(X, y, qid=qid, **start)


def test_callbacks_of_the_user_stop_early_on_the_set(parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    seen = []
    callbacks = [early_stopping(2, verbose=False), lambda step: seen.append(step.iteration)]
    model = clone(LIGHTGBM).set_params(n_estimators=200)
    given = {"eval_set": [(X_val, with_qid(y_val, qid_val))], "callbacks": callbacks}
    fitted = QueryRanker(model).fit(X, y, qid=qid, **given).estimator_
    assert fitted.best_iteration_ + 2 == len(seen) < 200


def test_estimators_without_queries_get_the_set_as_it_is(parts):
    (X, y, qid), (X_val, y_val, _) = parts
    model = LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)
    if "eval_X" in LGBMRegressor.fit.__annotations__:
        given = {"eval_X": (X_val,), "eval_y": (y_val,)}
    else:
        given = {"eval_set": [(X_val, y_val)]}
    fitted = QueryRanker(model).fit(X, y, qid=qid, **given).estimator_
    assert len(fitted.evals_result_["valid_0"]["l2"]) == 5
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'eval_set'"):
        QueryRanker(Ridge()).fit(X, y, qid=qid, eval_set=[(X_val, y_val)])


@pytest.mark.parametrize("name", ["eval_group", "eval_qid", "eval_sample_weight", "eval_X"])
def test_queries_in_the_format_of_the_booster_are_refused(name, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    sets = {"eval_set": [(X_val, with_qid(y_val, qid_val))], name: [np.ones(3)]}
    message = rf"unexpected parameter '{name}'.*eval_set=\[\(X_val, with_qid\("
    with pytest.raises(TypeError, match=message):
        QueryRanker(LIGHTGBM).fit(X, y, qid=qid, **sets)


@pytest.mark.parametrize("model", RANKERS, **of_name)
def test_sets_that_cannot_be_used(model, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    labels = with_qid(y_val, qid_val)

    def refused(error, message, **given):
        ranker = QueryRanker(model, **given.pop("params", {}))
        with pytest.raises(error, match=message):
            ranker.fit(X, y, qid=qid, **given)

    refused(TypeError, r"eval_set\[0\] needs the query id.*with_qid", eval_set=[(X_val, y_val)])
    refused(TypeError, r"eval_set\[1\] must be a pair", eval_set=[(X_val, labels), X_val])
    refused(TypeError, r"eval_set\[0\] must be a pair.*got ndarray", eval_set=X_val)
    refused(ValueError, "inconsistent numbers of samples", eval_set=[(X_val[1:], labels)])
    refused(TypeError, "either as eval_set, or as X_val and y_val", X_val=X_val)
    refused(TypeError, "either as eval_set, or as X_val and y_val", y_val=labels)
    refused(TypeError, "either as eval_set", X_val=X_val, y_val=labels, eval_set=[(X_val, labels)])
    stop = {"early_stopping_rounds": 5}
    refused(
        ValueError,
        "exactly one validation set.*got validation_fraction=None and 0 sets",
        params=stop,
    )
    refused(ValueError, "and 2 sets", params=stop, eval_set=[(X_val, labels)] * 2)
    message = "shares 20 of its 20 queries with the training rows"
    refused(ValueError, message, params=stop, eval_set=[(X, with_qid(y, qid))])
    both = {**stop, "validation_fraction": 0.25}
    refused(
        ValueError,
        "got validation_fraction=0.25 and 1 sets",
        params=both,
        eval_set=[(X_val, labels)],
    )


def test_a_pipeline_passes_the_set_by_the_name_of_the_step(parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    pipeline = make_pipeline(QueryRanker(LIGHTGBM))
    given = {"queryranker__eval_set": [(X_val, with_qid(y_val, qid_val))]}
    pipeline.fit(X, with_qid(y, qid), **given)
    assert pipeline[-1].estimator_.evals_result_["valid_0"]


COLUMNS = {
    "another order": (lambda frame: frame[list("dcba")], "in the same order as they were in fit"),
    "other names": (lambda frame: frame.rename(columns={"c": "price"}), "unseen at fit time"),
    "too few": (lambda frame: frame.to_numpy()[:, :3], "X has 3 features, but QueryRanker"),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(("change", "message"), COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("model", RANKERS, **of_name)
def test_a_set_has_the_columns_of_the_fit(model, change, message, parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    frame, other = (pd.DataFrame(rows, columns=list("abcd")) for rows in (X, X_val))
    sets = [(other, with_qid(y_val, qid_val)), (change(other), with_qid(y_val, qid_val))]
    with pytest.raises(ValueError, match=rf"(?s)eval_set\[1\]: .*{message}"):
        QueryRanker(model).fit(frame, y, qid=qid, eval_set=sets)
    assert QueryRanker(model).fit(frame, y, qid=qid, eval_set=sets[:1])


def test_a_regressor_gets_only_sets_with_the_columns_of_the_fit(parts):
    (X, y, qid), (X_val, y_val, _) = parts
    frame, other = (pd.DataFrame(rows, columns=list("abcd")) for rows in (X, X_val))
    model = LGBMRegressor(n_estimators=2, verbose=-1, n_jobs=1)

    def fit(rows):
        if "eval_X" in LGBMRegressor.fit.__annotations__:
            QueryRanker(model).fit(frame, y, qid=qid, eval_X=rows, eval_y=y_val)
            return QueryRanker(model).fit(frame, y, qid=qid, eval_X=(rows,), eval_y=(y_val,))
        return QueryRanker(model).fit(frame, y, qid=qid, eval_set=[(rows, y_val)])

    assert fit(other)
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        fit(other[list("badc")])


def test_a_set_as_long_as_the_rows_is_not_split_by_a_search(problem):
    X, y, qid = problem
    X_val, labels = X[::-1].copy(), with_qid(y, np.char.mod("new %d", qid))
    scorer = make_ranking_scorer("ndcg@10")
    in_search = {"cv": QueryKFold(3), "scoring": scorer, "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=True):
        steps = [("scale", StandardScaler()), ("rank", QueryRanker(LIGHTGBM))]
        pipeline = Pipeline(steps, transform_input=["X_val"])
        search = GridSearchCV(pipeline, {"rank__estimator__num_leaves": [4]}, **in_search)
        with pytest.raises(ValueError, match=r"X_val must not have as many rows.*Pass eval_set="):
            search.fit(X, y, qid=qid, X_val=X_val, y_val=labels)
        found = search.fit(X, y, qid=qid, X_val=X_val[:-1], y_val=labels[:-1])
        pipeline.fit(X, y, qid=qid, X_val=X_val, y_val=labels)
    assert "valid_0" in found.best_estimator_[-1].estimator_.evals_result_
    search = GridSearchCV(QueryRanker(LIGHTGBM), {}, **in_search)
    search.fit(X, with_qid(y, qid), eval_set=[(X_val, labels)])


def test_a_pool_is_no_pair(parts):
    (X, y, qid), (X_val, y_val, qid_val) = parts
    pool = Pool(X_val, y_val, group_id=sorted(qid_val))
    with pytest.raises(TypeError, match=r"got Pool\. Pass eval_set=\[\(X_val, with_qid\("):
        QueryRanker(CATBOOST).fit(X, y, qid=qid, eval_set=pool)

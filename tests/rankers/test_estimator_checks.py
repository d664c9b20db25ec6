"""scikit-learn's own checks of estimators, for QueryRanker with ids supplied."""

import numpy as np
import pytest
import sklearn
from catboost import CatBoostRanker
from lightgbm import LGBMModel, LGBMRanker
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.metadata_routing import get_routing_for_object
from xgboost import XGBRanker

from skrank_metrics import QueryRanker

LIGHTGBM = LGBMRanker(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1)
XGBOOST = XGBRanker(n_estimators=3, n_jobs=1)
# CatBoost does not follow these conventions: it takes 1-D X, and raises errors of its own.
CATBOOST = CatBoostRanker(iterations=3, verbose=False, allow_writing_files=False, thread_count=1)
of_name = {"ids": lambda model: type(model).__name__}


class Supplied(QueryRanker):
    """Takes every three rows for a query, as the checks know of no ids."""

    def fit(self, X, y, *, qid=None, groups=None, sample_weight=None):
        return super().fit(X, y, qid=supplied(y, qid), groups=groups, sample_weight=sample_weight)

    def score(self, X, y, *, qid=None, groups=None, sample_weight=None):
        return super().score(X, y, qid=supplied(y, qid), groups=groups, sample_weight=sample_weight)


def supplied(y, qid):
    return np.arange(np.asarray(y).size) // 3 if qid is None else qid


TYPE = {
    "check_complex_data": "labels that are no real numbers are a TypeError here, and a ValueError there"
}
REPEATED = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "a document that is repeated makes another list of its query, which no weight does",
)
XGBOOST_ALONE = dict.fromkeys(
    [
        "check_n_features_in_after_fitting",
        "check_fit2d_predict1d",
        "check_estimators_empty_data_messages",
    ],
    "XGBoost says so in words of its own",
) | {
    "check_sample_weights_not_overwritten": "weights are those of queries, and these vary within one"
}


# The boosters tell that they convert the rarer formats of sparse matrices.
@pytest.mark.filterwarnings(
    "ignore:Converting data to scipy sparse matrix", "ignore:Unknown data type"
)
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Ridge(), TYPE),
        (HistGradientBoostingRegressor(max_iter=5), TYPE),
        pytest.param(
            LIGHTGBM,
            TYPE | REPEATED,
            marks=pytest.mark.skipif(
                "__sklearn_tags__" not in vars(LGBMModel),
                reason="this LightGBM does not tell its tags",
            ),
        ),
        (XGBOOST, TYPE | REPEATED | XGBOOST_ALONE),
    ],
    **of_name,
)
@pytest.mark.slow
def test_checks_of_scikit_learn(model, expected):
    results = check_estimator(
        Supplied(model), expected_failed_checks=expected, on_fail=None, on_skip=None
    )
    assert {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"} == {}
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)
    assert sum(r["status"] == "passed" for r in results) >= 40


def test_tags_are_those_of_the_estimator():
    assert get_tags(QueryRanker(HistGradientBoostingRegressor())).input_tags.allow_nan
    assert not get_tags(QueryRanker(Ridge())).input_tags.allow_nan
    for model in (
        Ridge(),
        HistGradientBoostingRegressor(),
    ):  # which tags are set differs by version
        assert get_tags(QueryRanker(model)).input_tags.sparse == get_tags(model).input_tags.sparse
    assert get_tags(QueryRanker(Ridge())).target_tags.positive_only
    X = sparse.csr_array(np.eye(6))
    ranker = QueryRanker(Ridge()).fit(X, [1, 0] * 3, qid=[0, 0, 1, 1, 2, 2])
    assert ranker.predict(X).shape == (6,)


def test_requests_are_found_by_introspection():
    requests = get_routing_for_object(QueryRanker(Ridge()))
    for method in ("fit", "score"):
        found = getattr(requests, method).requests
        assert (found["qid"], found["groups"], found["sample_weight"]) == (True, True, None)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(QueryRanker(CATBOOST).set_fit_request(sample_weight=True))
    assert asking.get_metadata_routing().fit.requests["sample_weight"] is True

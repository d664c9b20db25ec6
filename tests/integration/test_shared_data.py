"""The five lines of the README on real rows, against a fold loop written by hand and an independent NDCG."""

from math import log2

import numpy as np
import pytest
import sklearn
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from support.by_hand import fit as fit_by_hand
from xgboost import XGBRanker

from skrank_metrics import QueryKFold, QueryRanker, ranking_scorers, with_qid

SCORERS = ("ndcg@10", "map", "mrr")
MODELS = [
    (Ridge(), "alpha", [1.0, 1000.0]),
    (LGBMRanker(n_estimators=10, verbose=-1, n_jobs=1), "num_leaves", [7, 15]),
    (XGBRanker(n_estimators=10, n_jobs=1), "max_depth", [2, 4]),
    (CatBoostRanker(iterations=10, verbose=False, allow_writing_files=False, thread_count=1), "depth", [2, 4]),
]


def ndcg_by_hand(labels, scores):
    """NDCG@10 with the gains of tied documents averaged, one document after the other."""
    if not any(labels):
        return 0.0
    mean_gain = {
        score: np.mean([g for g, s in zip(labels, scores, strict=True) if s == score]) for score in set(scores)
    }
    ranked = [mean_gain[score] for score in sorted(scores, reverse=True)]
    dcg, ideal = (
        sum(gain / log2(rank + 1) for rank, gain in enumerate(gains[:10], start=1))
        for gains in (ranked, sorted(labels, reverse=True))
    )
    return dcg / ideal


@pytest.mark.slow
@pytest.mark.parametrize(("model", "name", "values"), MODELS, ids=lambda value: type(value).__name__)
def test_search_equals_a_loop_by_hand_with_routing_on_and_off(model, name, values, lambdarank):
    X, y, qid = lambdarank
    search = GridSearchCV(
        QueryRanker(model), {f"estimator__{name}": values}, scoring=ranking_scorers(*SCORERS), refit="ndcg@10",
        cv=QueryKFold(3), error_score="raise",
    )  # fmt: skip
    off = search.fit(X, with_qid(y, qid)).cv_results_
    with sklearn.config_context(enable_metadata_routing=True):
        on = search.fit(X, y, groups=qid).cv_results_
    for scorer in SCORERS:
        for split in range(3):
            np.testing.assert_array_equal(on[f"split{split}_test_{scorer}"], off[f"split{split}_test_{scorer}"])
    for candidate, value in enumerate(values):
        for split, (train, test) in enumerate(QueryKFold(3).split(X, groups=qid)):
            fitted = fit_by_hand(sklearn.base.clone(model).set_params(**{name: value}), X[train], y[train], qid[train])
            scores = fitted.predict(X[test]).astype(float)
            queries = [qid[test] == query for query in np.unique(qid[test])]
            by_hand = [ndcg_by_hand(y[test][rows].tolist(), scores[rows].tolist()) for rows in queries]
            assert off[f"split{split}_test_ndcg@10"][candidate] == pytest.approx(np.mean(by_hand), abs=1e-12)

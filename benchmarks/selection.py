"""``python -m benchmarks.selection``: the share of a grid search that is spent on scoring, against a per-query loop."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV

from benchmarks.timing import machine
from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, with_qid
from skrank_metrics.datasets import make_ranking


def loop_scorer(estimator: Any, X: Any, y: Any) -> float:
    """NDCG@10 as people write it: scikit-learn's function, query by query."""
    scores = estimator.predict(X)
    qid = y.index.get_level_values("qid").to_numpy()
    ends = np.flatnonzero(qid[1:] != qid[:-1]) + 1
    labels = np.split(y.to_numpy(), ends)
    return float(
        np.mean(
            [
                ndcg_score([a], [b], k=10)
                for a, b in zip(labels, np.split(scores, ends), strict=True)
            ]
        )
    )


def searched(
    estimator: Any, grid: dict[str, Any], scoring: Any, X: Any, y: Any
) -> tuple[float, float, Any]:
    """Time of the search, seconds of it spent on scoring (prediction included), and the scores of the candidates."""
    search = GridSearchCV(
        estimator, grid, scoring=scoring, cv=QueryKFold(5), refit=False, error_score="raise"
    )
    started = time.perf_counter()
    search.fit(X, y)
    total = time.perf_counter() - started
    return (
        total,
        float(search.cv_results_["mean_score_time"].sum() * 5),
        search.cv_results_["mean_test_score"],
    )


def main() -> None:
    print(machine())
    X, labels, qid = make_ranking(n_queries=1_000, n_features=20, mean_length=120, random_state=0)
    y = with_qid(labels, qid)
    print(f"\nGridSearchCV, 4 candidates, 5 folds, {len(y):,} documents in 1,000 queries\n")
    print("| estimator | scoring | search, s | scoring, s | share |\n|---|---|--:|--:|--:|")
    ranker = LGBMRanker(n_estimators=50, num_leaves=15, verbose=-1, n_jobs=1)
    for name, estimator, grid in (
        ("Ridge", Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]}),
        ("LGBMRanker", QueryRanker(ranker), {"estimator__learning_rate": [0.03, 0.1, 0.2, 0.3]}),
    ):
        means = []
        for how, scoring in (
            ("ndcg@10", make_ranking_scorer("ndcg@10")),
            ("a loop over ndcg_score", loop_scorer),
        ):
            total, scored, mean = searched(estimator, grid, scoring, X, y)
            print(
                f"| {name} | {how} | {total:.2f} | {scored:.2f} | {scored / total:.0%} |",
                flush=True,
            )
            means.append(mean)
        np.testing.assert_allclose(means[0], means[1], rtol=1e-12)


if __name__ == "__main__":
    main()

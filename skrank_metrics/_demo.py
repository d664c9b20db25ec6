"""The demo: tune ranking models by NDCG@10 on the digits data, and compare them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import sklearn
from sklearn.utils import Bunch

from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.decisions._compare import compare
from skrank_metrics.decisions._evaluate import evaluate
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.displays import style
from skrank_metrics.model_selection._cross_evaluate import cross_evaluate
from skrank_metrics.model_selection.racing_search import RacingSearchCV
from skrank_metrics.rankers.query_ranker import QueryRanker
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.splitters.query_kfold import QueryKFold

METRICS = ("ndcg@10", "map", "mrr")
BASELINE = "nearest pixels"
# Models by name, as their module, parameters and grid.
MODELS: dict[str, tuple[str, dict[str, Any], dict[str, list[Any]]]] = {
    "HistGradientBoostingRegressor": (
        "sklearn.ensemble",
        {"max_iter": 60, "random_state": 0},
        {"max_leaf_nodes": [7, 15, 31]},
    ),
    # One thread per booster, since the search already fits two at a time.
    "LGBMRanker": ("lightgbm", {"verbose": -1, "n_jobs": 1}, {"num_leaves": [7, 15, 31]}),
    "XGBRanker": ("xgboost", {"n_estimators": 50, "n_jobs": 1}, {"max_depth": [2, 3, 4]}),
    "CatBoostRanker": (
        "catboost",
        {"iterations": 60, "verbose": False, "thread_count": 1, "allow_writing_files": False},
        {"depth": [3, 4, 5]},
    ),
}


def run(picture: Path) -> None:
    """Tune and compare the models, print a table with the verdict, and draw the picture."""
    board = tune_and_compare()
    print(f"\n{board}\n")
    try:
        with style.offscreen():
            board.plot(metric=METRICS[0]).figure_.savefig(picture, dpi=150)
        print(f"Picture of the models, with the best highlighted: {picture}")
    except ImportError:
        print(f"Left out: {picture}, since matplotlib is not installed.")


def tune_and_compare() -> Comparison:
    """Tune the models whose packages are installed, with progress, and compare them."""
    data = load_digits_retrieval()
    print(
        f"Query-by-image retrieval over digits: {len(data.target)} documents, {data.qid[-1] + 1} queries."
    )
    print(f"Every model is tuned by RacingSearchCV on {METRICS[0]}, with QueryKFold(5),")
    print("which takes about half a minute on two idle cores.\n")
    nearness = -data.data[:, data.feature_names.index("pixel_distance")]
    reports = {BASELINE: evaluate(data.target, nearness, qid=data.qid, metrics=METRICS)}
    for name, (package, params, grid) in MODELS.items():
        print(f"{name} ...", end=" ", flush=True)
        try:
            model = getattr(importlib.import_module(package), name)(**params)
        except ImportError:
            print(f"left out, since {package} is not installed")
            continue
        reports[name] = _tune(model, grid, data)
        print("done", flush=True)
    return compare(reports, METRICS)


def _tune(model: Any, grid: dict[str, list[Any]], data: Bunch) -> RankingReport:
    """Out-of-fold report of the best candidate."""
    cv = QueryKFold(5)
    search = RacingSearchCV(
        QueryRanker(model),
        {f"estimator__{name}": values for name, values in grid.items()},
        scoring=METRICS[0],
        cv=cv,
        n_jobs=2,
        error_score="raise",
    )
    # Ids in the index of y would need pandas.
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(data.data, data.target, groups=data.qid)
    best = {"best": search.best_estimator_}
    evaluation = cross_evaluate(
        best, data.data, data.target, qid=data.qid, cv=cv, metrics=METRICS, n_jobs=2
    )
    return evaluation.reports["best"]

"""The demo: tune ranking models by NDCG@10 on the digits data, and compare them."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils import Bunch

from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.displays import style
from skrank_metrics.model_selection.cross_evaluate import cross_evaluate
from skrank_metrics.model_selection.racing_search import RacingSearchCV
from skrank_metrics.model_selection.scorers import ranking_scorers
from skrank_metrics.rankers.query_ranker import QueryRanker
from skrank_metrics.reports.compare import compare
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.splitters.query_kfold import QueryKFold

METRICS = ("ndcg@10", "map", "mrr")
BASELINE = "nearest pixels"
BOOSTERS = {
    "LGBMRanker": ("lightgbm", {"verbose": -1, "n_jobs": 1}, {"num_leaves": [7, 15, 31]}),
    "XGBRanker": ("xgboost", {"n_estimators": 50, "n_jobs": 1}, {"max_depth": [2, 3, 4]}),
    "CatBoostRanker": (
        "catboost",
        {"iterations": 60, "verbose": False, "thread_count": 1, "allow_writing_files": False},
        {"depth": [3, 4, 5]},
    ),
}
# Shares of the time that all models take, to estimate the time left.
SHARES = {"HistGradientBoostingRegressor": 0.2, "LGBMRanker": 0.2, "XGBRanker": 0.1, "CatBoostRanker": 0.5}


def run(picture: Path) -> None:
    """Tune and compare the models, print a table with the verdict, and draw the picture."""
    started = time.perf_counter()
    data = load_digits_retrieval()
    print(f"Query-by-image retrieval over digits: {len(data.target)} documents, {data.qid[-1] + 1} queries.")
    print(f"Every model is tuned by RacingSearchCV on {METRICS[0]}, with QueryKFold(5),")
    print("which takes about half a minute on two idle cores.\n")
    models, left_out = _models()
    nearness = -data.data[:, data.feature_names.index("pixel_distance")]
    reports = {BASELINE: evaluate(data.target, nearness, qid=data.qid, metrics=METRICS)}
    seconds = _tune_all(models, data, reports)
    board = compare(reports, METRICS)
    print(f"\n{board}\n")
    for name, package in left_out.items():
        print(f"Left out: {name}, since {package} is not installed.")
    print(_fastest(board, seconds), end="")
    _draw(board, picture)
    print(f"This took {time.perf_counter() - started:.0f} s.")


def _tune_all(models: dict[str, Any], data: Bunch, reports: dict[str, RankingReport]) -> dict[str, float]:
    """Tune each model and add its report. Print progress with the time left, and return the times."""
    seconds: dict[str, float] = {}
    n_fits = n_saved = 0
    for number, (name, (model, grid)) in enumerate(models.items(), start=1):
        left = f" (about {_seconds_left(seconds, list(models)):.0f} s left)" if seconds else ""
        print(f"[{number}/{len(models)}] {name}{left} ...", end=" ", flush=True)
        started = time.perf_counter()
        reports[name], best, fits = _tune(model, grid, data)
        seconds[name] = time.perf_counter() - started
        n_fits, n_saved = n_fits + fits[0], n_saved + fits[1]
        print(f"best {best}, {fits[0]} fits, {seconds[name]:.1f} s", flush=True)
    print(f"\nThe races took {n_fits} fits; grid searches would take {n_fits + n_saved}.")
    return seconds


def _seconds_left(seconds: dict[str, float], models: list[str]) -> float:
    """Time that the remaining models take if their shares are as usual."""
    share = {name: SHARES.get(name, 1.0) for name in models}
    done = sum(share[name] for name in seconds)
    return sum(seconds.values()) / done * (sum(share.values()) - done)


def _fastest(board: Comparison, seconds: dict[str, float]) -> str:
    """Which of several models that may be best took the least time to tune, as a line; or nothing."""
    tuned = [name for name in board.best_set if name in seconds]
    if len(tuned) < 2:
        return ""
    fastest = min(tuned, key=lambda name: seconds[name])
    return f"Of the models that may be best, {fastest} was the fastest to tune: {seconds[fastest]:.1f} s.\n"


def _models() -> tuple[dict[str, tuple[Any, dict[str, list[Any]]]], dict[str, str]]:
    """Models with their grids, and the missing packages of others."""
    regressor = HistGradientBoostingRegressor(max_iter=60, random_state=0)
    models = {"HistGradientBoostingRegressor": (regressor, {"max_leaf_nodes": [7, 15, 31]})}
    left_out = {}
    for name, (package, params, grid) in BOOSTERS.items():
        try:
            models[name] = (getattr(importlib.import_module(package), name)(**params), grid)
        except ImportError:
            left_out[name] = package
    return models, left_out


def _tune(model: Any, grid: dict[str, list[Any]], data: Bunch) -> tuple[RankingReport, str, tuple[int, int]]:
    """Out-of-fold report of the best candidate, its parameters, and the number of fits that ran and that were saved."""
    grid = {f"estimator__{name}": values for name, values in grid.items()}
    options: dict[str, Any] = {"refit": METRICS[0], "cv": QueryKFold(5), "n_jobs": 2, "error_score": "raise"}
    search = RacingSearchCV(QueryRanker(model), grid, scoring=ranking_scorers(*METRICS), **options)
    with sklearn.config_context(enable_metadata_routing=True):  # ids in the index of y would need pandas
        search.fit(data.data, data.target, groups=data.qid)
    best = {"best": search.best_estimator_}
    evaluation = cross_evaluate(best, data.data, data.target, qid=data.qid, cv=search.cv, metrics=METRICS, n_jobs=2)
    chosen = ", ".join(f"{name.removeprefix('estimator__')}={value}" for name, value in search.best_params_.items())
    n_fits, n_of_grid = int(search.n_fits_), len(search.cv_results_["params"]) * search.n_splits_
    return evaluation.reports["best"], chosen, (n_fits, n_of_grid - n_fits)


def _draw(board: Comparison, picture: Path) -> None:
    try:
        with style.offscreen(style.WIDTH):
            board.plot(metric=METRICS[0]).figure_.savefig(picture, dpi=150)
    except ImportError:
        print(f"Left out: {picture}, since matplotlib is not installed.")
    else:
        print(f"Picture of the models, with the best highlighted: {picture}")

"""The demo: ranking models on the digits data, tuned by NDCG@10 in GridSearchCV and compared."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils import Bunch

from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.evaluation import evaluate
from skrank_metrics.ranker import QueryRanker
from skrank_metrics.scorers import ranking_scorers
from skrank_metrics.splitters import QueryKFold

METRICS = ("ndcg@10", "map", "mrr")
CUTOFFS = range(1, 21)
BOOSTERS = {
    "LGBMRanker": ("lightgbm", {"verbose": -1, "n_jobs": 1}, {"num_leaves": [7, 15, 31]}),
    "XGBRanker": ("xgboost", {"n_estimators": 50, "n_jobs": 1}, {"max_depth": [2, 3, 4]}),
    "CatBoostRanker": (
        "catboost",
        {"iterations": 60, "verbose": False, "thread_count": 1, "allow_writing_files": False},
        {"depth": [3, 4, 5]},
    ),
}


def run(picture: Path) -> None:
    """Compare the models, print a table, draw the picture."""
    data = load_digits_retrieval()
    print(f"Query-by-image retrieval over digits: {len(data.target)} documents, {data.qid[-1] + 1} queries.")
    print(f"Every model is tuned by GridSearchCV on {METRICS[0]}, with QueryKFold(5).\n")
    models, left_out = _models()
    folds = QueryKFold(5)
    table, curves = {}, {}
    table["baseline: nearest pixels"], curves["baseline: nearest pixels"] = _baseline(data, folds)
    with sklearn.config_context(enable_metadata_routing=True):
        for number, (name, (model, grid)) in enumerate(models.items(), start=1):
            print(f"[{number}/{len(models)}] {name} ...", end=" ", flush=True)
            started = time.perf_counter()
            table[name], curves[name], best = _tune(model, grid, data, folds)
            print(f"best {best} after {time.perf_counter() - started:.1f} s", flush=True)
    print("\n" + _format(table))
    for name, package in left_out.items():
        print(f"Left out: {name}, as {package} is not installed.")
    _draw(curves, picture)


def _models() -> tuple[dict[str, tuple[Any, dict[str, list[Any]]]], dict[str, str]]:
    """Models with their grids, and what cannot be run here."""
    regressor = HistGradientBoostingRegressor(max_iter=60, random_state=0)
    models = {"HistGradientBoostingRegressor": (regressor, {"max_leaf_nodes": [7, 15, 31]})}
    left_out = {}
    for name, (package, params, grid) in BOOSTERS.items():
        try:
            models[name] = (getattr(importlib.import_module(package), name)(**params), grid)
        except ImportError:
            left_out[name] = package
    return models, left_out


def _baseline(data: Bunch, folds: QueryKFold) -> tuple[dict[str, tuple[float, float]], list[float]]:
    scores = -data.data[:, data.feature_names.index("pixel_distance")]
    reports = [
        evaluate(data.target[test], scores[test], qid=data.qid[test], metrics=METRICS).mean
        for _, test in folds.split(data.data, groups=data.qid)
    ]
    values = {metric: [report[metric] for report in reports] for metric in METRICS}
    return {metric: (float(np.mean(v)), float(np.std(v))) for metric, v in values.items()}, _curve(data, scores)


def _tune(
    model: Any, grid: dict[str, list[Any]], data: Bunch, folds: QueryKFold
) -> tuple[dict[str, tuple[float, float]], list[float], str]:
    """Mean and spread over folds of each metric, NDCG against k out of fold, and the best parameters."""
    search = GridSearchCV(
        QueryRanker(model),
        {f"estimator__{name}": values for name, values in grid.items()},
        scoring=ranking_scorers(*METRICS),
        refit=METRICS[0],
        cv=folds,
        n_jobs=2,
        error_score="raise",
    ).fit(data.data, data.target, groups=data.qid)
    found, best = search.cv_results_, search.best_index_
    row = {m: (float(found[f"mean_test_{m}"][best]), float(found[f"std_test_{m}"][best])) for m in METRICS}
    scores = cross_val_predict(
        search.best_estimator_, data.data, data.target, cv=folds, params={"groups": data.qid}, n_jobs=2
    )
    chosen = ", ".join(f"{name.removeprefix('estimator__')}={value}" for name, value in search.best_params_.items())
    return row, _curve(data, scores), chosen


def _curve(data: Bunch, scores: Any) -> list[float]:
    return list(evaluate(data.target, scores, qid=data.qid, metrics=[f"ndcg@{k}" for k in CUTOFFS]).mean.values())


def _format(table: dict[str, dict[str, tuple[float, float]]]) -> str:
    width = max(len(name) for name in table)
    lines = [f"{'mean +- std over 5 folds':<{width}}" + "".join(f"{metric:>18}" for metric in METRICS)]
    for name, row in sorted(table.items(), key=lambda item: item[1][METRICS[0]]):
        lines.append(f"{name:<{width}}" + "".join(f"{mean:>9.4f} +- {std:.4f}" for mean, std in row.values()))
    return "\n".join(lines)


def _draw(curves: dict[str, list[float]], picture: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"Left out: {picture}, as matplotlib is not installed.")
        return
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot()
    # Colours of Okabe and Ito, which colour-blind readers can tell apart, and a marker each.
    styles = zip(("#000000", "#E69F00", "#56B4E9", "#009E73", "#D55E00"), "osD^v", strict=True)
    for (name, values), (colour, marker) in zip(curves.items(), styles, strict=False):
        axes.plot(CUTOFFS, values, color=colour, marker=marker, markersize=4, label=name)
    axes.set(xlabel="cutoff rank k", ylabel="NDCG@k, mean over queries, out of fold", xticks=[1, 5, 10, 15, 20])
    axes.set_title("Retrieval of digits by image")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(picture, dpi=150)
    print(f"NDCG@k against k: {picture}")

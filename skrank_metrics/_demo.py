"""The demo: ranking models tuned by NDCG@10 on the digits data, and compared."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils import Bunch

from skrank_metrics._output.result import text_of
from skrank_metrics._output.table import Table
from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.displays.comparison import ComparisonDisplay
from skrank_metrics.displays.metric_at_k import MetricAtKDisplay
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
CUTOFFS = [f"ndcg@{k}" for k in (1, 3, 5, 10, 15, 20)]
COMPUTED = tuple(dict.fromkeys([*METRICS, *CUTOFFS]))  # by the table and by the picture
BASELINE = "baseline: nearest pixels"
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
    """Tune and compare the models, print a table, and draw the picture."""
    data = load_digits_retrieval()
    print(f"Query-by-image retrieval over digits: {len(data.target)} documents, {data.qid[-1] + 1} queries.")
    print(f"Every model is tuned by RacingSearchCV on {METRICS[0]}, with QueryKFold(5).\n")
    models, left_out = _models()
    nearness = -data.data[:, data.feature_names.index("pixel_distance")]
    reports = {BASELINE: evaluate(data.target, nearness, qid=data.qid, metrics=COMPUTED)}
    n_fits = n_saved = 0
    for number, (name, (model, grid)) in enumerate(models.items(), start=1):
        print(f"[{number}/{len(models)}] {name} ...", end=" ", flush=True)
        started = time.perf_counter()
        reports[name], best, fits = _tune(model, grid, data)
        n_fits, n_saved = n_fits + fits[0], n_saved + fits[1]
        print(f"best {best}, {fits[0]} fits, {time.perf_counter() - started:.1f} s", flush=True)
    print(f"\nThe races took {n_fits} fits; grid searches take {n_fits + n_saved}.")
    reports = dict(sorted(reports.items(), key=lambda item: -item[1].mean[METRICS[0]]))
    comparison = compare(reports, METRICS[0], random_state=0)
    print("\n" + _format(reports, comparison))
    for name, package in left_out.items():
        print(f"Left out: {name}, as {package} is not installed.")
    _draw(reports, comparison, picture)


def _models() -> tuple[dict[str, tuple[Any, dict[str, list[Any]]]], dict[str, str]]:
    """Models with their grids, and the packages that are missing."""
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
    """Out-of-fold report of the best candidate, its parameters, and the number of fits that ran and were saved."""
    grid = {f"estimator__{name}": values for name, values in grid.items()}
    options: dict[str, Any] = {"refit": METRICS[0], "cv": QueryKFold(5), "n_jobs": 2, "error_score": "raise"}
    search = RacingSearchCV(QueryRanker(model), grid, scoring=ranking_scorers(*METRICS), **options)
    with sklearn.config_context(enable_metadata_routing=True):  # ids in the index of y would need pandas
        search.fit(data.data, data.target, groups=data.qid)
    best = {"best": search.best_estimator_}
    evaluation = cross_evaluate(best, data.data, data.target, qid=data.qid, cv=search.cv, metrics=COMPUTED, n_jobs=2)
    chosen = ", ".join(f"{name.removeprefix('estimator__')}={value}" for name, value in search.best_params_.items())
    n_fits, n_of_grid = int(search.n_fits_), len(search.cv_results_["params"]) * search.n_splits_
    return evaluation.reports["best"], chosen, (n_fits, n_of_grid - n_fits)


def _format(reports: dict[str, RankingReport], comparison: Comparison) -> str:
    """One row per model, best first, with the numbers of the models that it is significantly different from."""
    numbers = {name: number for number, name in enumerate(reports, start=1)}
    pairs = {(pair.first, pair.second) for pair in comparison.significant()}
    first, *others = METRICS
    rows = []
    for name, report in reports.items():
        differs = ", ".join(str(numbers[other]) for other in reports if {(name, other), (other, name)} & pairs)
        means = [report.mean[metric] for metric in others]
        rows.append((numbers[name], name, report.mean[first], report.intervals()[first], *means, differs or "none"))
    table = Table(("", "out of fold", first, "95% interval", *others, "differs from"), rows)
    how = f"Differs: significantly by {first}, per query; permutation test at 0.05 with Holm's correction."
    return text_of([table, how])


def _draw(reports: dict[str, RankingReport], comparison: Comparison, picture: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"Left out: {picture}, as matplotlib is not installed.")
        return
    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, report in reports.items():
        MetricAtKDisplay.from_report(report, name=name, ax=left)
    ComparisonDisplay.from_comparison(comparison, ax=right)
    figure.savefig(picture, dpi=150)
    print(f"NDCG@k against k, and the best two models per query: {picture}")

"""Ranking metrics, scorers and query-aware splitters for scikit-learn's model selection."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Used as skrank_metrics.datasets.load_digits_retrieval, and loaded only then: most need further libraries.
_NAMESPACES = ("dask", "datasets", "displays", "spark", "trec")
# Names are loaded when first used, so that a metric alone does not import scikit-learn. Metric functions are not listed
# here, but in their registry.
_MODULES = {
    "_input.with_qid": "qid_from_sizes with_qid",
    "conventions._explain_difference": "explain_difference",
    "conventions._match_convention": "match_convention",
    "decisions._compare": "compare",
    "decisions._evaluate": "evaluate",
    "decisions._evaluate_lists": "evaluate_lists",
    "decisions.comparison": "Comparison",
    "metrics.custom": "check_metric make_metric",
    "metrics.names": "get_metric get_metric_names get_metrics",
    "model_selection._cross_evaluate": "cross_evaluate",
    "model_selection._search_report": "search_report",
    "model_selection._within_noise": "within_noise",
    "model_selection.racing_search": "RacingSearchCV",
    "model_selection.scorers": "make_ranking_scorer ranking_scorers",
    "rankers.booster_metrics": "builtin_metric lightgbm_metric xgboost_metric",
    "rankers.query_ranker": "QueryRanker",
    "reports.ranking_report": "RankingReport",
    "sources._evaluate_run": "evaluate_run",
    "sources.accumulator": "RankingAccumulator",
    "sources.batches": "evaluate_batches",
    "splitters._query_fold": "query_fold",
    "splitters.audit": "audit_splits",
    "splitters.predefined_split": "PredefinedQuerySplit",
    "splitters.query_kfold": "QueryKFold RepeatedQueryKFold",
    "splitters.shuffle_split": "QueryShuffleSplit query_train_test_split",
    "splitters.time_series_split": "QueryTimeSeriesSplit",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return import_module(f"skrank_metrics.{name}")
    if name == "__all__":
        value = sorted([*_MODULE_OF, *import_module("skrank_metrics.metrics").__all__])
    elif name in _MODULE_OF or (not name.startswith("_") and name in __getattr__("__all__")):
        value = getattr(import_module(f"skrank_metrics.{_MODULE_OF.get(name, 'metrics')}"), name)
    else:
        raise AttributeError(f"module 'skrank_metrics' has no attribute {name!r}")
    # From now on, Python finds the name in the module and does not call this function for it.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return ["__version__", *_NAMESPACES, *__getattr__("__all__")]

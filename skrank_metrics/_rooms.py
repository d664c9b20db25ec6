"""The public names: the room that shows each of them, and the module that defines it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

PACKAGE = "skrank_metrics"
# Names by room and module; "" is the front door, skrank_metrics itself. Metric functions are not listed: they are in
# their registry. Names are loaded on first use, so that a metric alone does not import scikit-learn.
ROOMS = {
    "": {
        "_input.with_qid": "qid_from_sizes with_qid",
        "decisions._compare": "compare",
        "decisions._evaluate": "evaluate evaluate_lists",
        "metrics": "get_metric make_metric",
        "model_selection._cross_evaluate": "cross_evaluate",
        "model_selection.scorers": "make_ranking_scorer ranking_scorers",
        "rankers": "QueryRanker",
        "sources._evaluate_run": "evaluate_run",
        "splitters": "PredefinedQuerySplit QueryKFold QueryShuffleSplit QueryTimeSeriesSplit RepeatedQueryKFold "
        "query_train_test_split",
    },
    "conventions": {
        "conventions._explain_difference": "explain_difference",
        "conventions._match_convention": "match_convention",
    },
    "decisions": {"decisions.comparison": "Comparison"},
    "metrics": {
        "metrics.custom": "check_metric make_metric",
        "metrics.names": "get_metric get_metric_names get_metrics",
    },
    "model_selection": {
        "model_selection._search_report": "search_report",
        "model_selection._within_noise": "within_noise",
        "model_selection.racing_search": "RacingSearchCV",
    },
    "rankers": {
        "rankers.booster_metrics": "builtin_metric lightgbm_metric xgboost_metric",
        "rankers.query_ranker": "QueryRanker",
    },
    "reports": {"reports.ranking_report": "RankingReport"},
    "sources": {
        "sources.accumulator": "RankingAccumulator",
        "sources.batches": "evaluate_batches",
    },
    "splitters": {
        "splitters._query_fold": "query_fold",
        "splitters.audit": "audit_splits",
        "splitters.predefined_split": "PredefinedQuerySplit",
        "splitters.query_kfold": "QueryKFold RepeatedQueryKFold",
        "splitters.shuffle_split": "QueryShuffleSplit query_train_test_split",
        "splitters.time_series_split": "QueryTimeSeriesSplit",
    },
}
# These modules define what they show, and most need further libraries.
SINGLE_MODULES = ["dask", "datasets", "displays", "spark", "trec"]
NAMESPACES = sorted([*filter(None, ROOMS), *SINGLE_MODULES])


def modules_of_names(room: str) -> dict[str, str]:
    """Map the public names of a room to the modules that define them."""
    modules: dict[str, str] = {}
    for module, names in ROOMS[room].items():
        modules |= dict.fromkeys(names.split(), module)
    if room in ("", "metrics"):
        registry = import_module(f"{PACKAGE}.metrics._registry").REGISTRY
        for function in registry.values():
            modules[function.__name__] = "metrics"
    return modules


def public_place(name: str) -> str | None:
    """Name the room that shows a name: the front door if it does, or else the first that does."""
    for room in ROOMS:
        if name in modules_of_names(room):
            return f"{PACKAGE}.{room}".rstrip(".")
    return None


def open_room(room: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__``, which loads a name on first use, and ``__dir__`` of a room."""
    place = f"{PACKAGE}.{room}".rstrip(".")
    namespaces = [] if room else NAMESPACES

    def load(name: str) -> Any:
        if name in namespaces:
            return import_module(f"{PACKAGE}.{name}")
        if name == "__all__":
            value: Any = sorted(modules_of_names(room))
        elif name.startswith("_") or name not in (modules := modules_of_names(room)):
            raise AttributeError(_reason(place, name))
        else:
            value = getattr(import_module(f"{PACKAGE}.{modules[name]}"), name)
        # From now on, Python finds the name in the room and does not call this function for it.
        setattr(sys.modules[place], name, value)
        return value

    def names() -> list[str]:
        return [*namespaces, *load("__all__")]

    return load, names


def _reason(place: str, name: str) -> str:
    elsewhere = None if name.startswith("_") else public_place(name)
    if elsewhere:
        return f"{name} is in {elsewhere}"
    return f"module {place!r} has no attribute {name!r}"

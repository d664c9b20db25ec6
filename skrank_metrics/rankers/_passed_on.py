"""Parameters of an estimator's ``fit`` that QueryRanker passes on, besides rows, queries and weights."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._input.arrays import count_rows, is_column, nearest, refuse_masked
from skrank_metrics.rankers._fitting import fit_signature, refuse_class

_OWN = ("qid", "groups", "sample_weight")
# These always hold one value per row.
_PER_ROW = ("base_margin", "baseline", "init_score", "position", "subgroup_id")
# These never do, even if there are as many features as rows.
_PER_FEATURE = ("feature_name", "feature_weights")
_VALIDATION = re.compile(r"(^|_)(eval|val)(_|$)")  # of validation rows, such as eval_set and sample_weight_eval_set
_WITH_EARLY_STOPPING = ("eval_at", "eval_metric", "eval_names")
_TO_STOP_EARLY = (
    " To stop early, set validation_fraction and early_stopping_rounds of QueryRanker, which holds out queries."
)
_NUMBERS_OF_ROWS = (
    " It holds row numbers, which change when rows are sorted by query. Fit the estimator itself, on rows sorted by "
    "query."
)
_REFUSED = {
    "group": " Pass query ids; qid_from_sizes(group) makes them from group sizes.",
    "group_id": " Pass query ids as qid.",
    "group_weight": " Pass one weight per document as sample_weight.",
    "pairs": _NUMBERS_OF_ROWS,
    "pairs_weight": _NUMBERS_OF_ROWS,
    "graph": _NUMBERS_OF_ROWS,
}


def check_names(estimator: Any, given: dict[str, Any], *, stops_early: bool) -> None:
    """Refuse what the estimator's ``fit`` does not take, and what QueryRanker passes itself; say what to do instead."""
    accepted, takes_any = fit_signature(estimator)
    for name in given:
        expected = f"QueryRanker.fit got an unexpected parameter {name!r}; {_taken(estimator, accepted)}."
        if name in _REFUSED:
            raise TypeError(expected + _REFUSED[name])
        early = name == "early_stopping_rounds" or (_VALIDATION.search(name) and name not in _WITH_EARLY_STOPPING)
        if early and stops_early:
            raise TypeError(
                f"QueryRanker.fit must not get {name} if validation_fraction is set, which holds out queries for "
                "validation. Leave out one of the two."
            )
        if name == "early_stopping_rounds" and "eval_set" not in given:
            raise TypeError(expected + _TO_STOP_EARLY)
        if name not in accepted and not takes_any:
            raise TypeError(expected + (_TO_STOP_EARLY if early else nearest(name, {*_OWN, *accepted})))


def _taken(estimator: Any, accepted: set[str]) -> str:
    """Say which parameters QueryRanker.fit takes for an estimator, except those that depend on other parameters."""
    further = sorted(name for name in accepted.difference(_OWN, _REFUSED) if not _VALIDATION.search(name))
    further = [name for name in further if name != "early_stopping_rounds"]
    whose = f"parameters of {type(estimator).__name__}.fit such as {', '.join(further)}"
    return "it takes X, y, qid, groups, sample_weight" + (f" and {whose}" if further else "")


def per_row(given: dict[str, Any], n_rows: int) -> dict[str, Any]:
    """Parameters with one value per row, recognized by name, else by length, as in scikit-learn."""
    found = {name: value for name, value in given.items() if _is_per_row(name, value, n_rows)}
    for name, value in found.items():
        refuse_masked(value, name)
        found[name] = value if hasattr(value, "shape") else np.asarray(value)
        if found[name].ndim == 0 or count_rows(found[name]) != n_rows:
            shape = found[name].shape
            raise ValueError(f"{name} must hold one value per document, {n_rows} in all; got shape {shape}.")
    return found


def _is_per_row(name: str, value: Any, n_rows: int) -> bool:
    if name in _PER_ROW:
        return True
    return name not in _PER_FEATURE and not _VALIDATION.search(name) and is_column(value, n_rows)


def requests_of_fit(estimator: Any) -> dict[str, Any]:
    """Metadata requests by name: all parameters that are passed on, or the estimator's own requests."""
    refuse_class(estimator)
    requests = getattr(get_routing_for_object(estimator), "fit", None)
    said = {} if requests is None else requests.requests
    names = sorted(fit_signature(estimator)[0] - {*_OWN, *_REFUSED})
    return {name: True if said.get(name) is None else said[name] for name in names}

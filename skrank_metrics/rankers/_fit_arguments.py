"""Rows and queries in the form that the ``fit`` of an estimator takes."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, check_weights, take_rows
from skrank_metrics._input.grouping import Grouping, query_weights


@dataclass(frozen=True)
class SortedRows:
    """Rows sorted by query."""

    X: Any
    y: NDArray[Any]
    sizes: IntArray  # documents of each query
    weights: FloatArray | None  # one per row

    @property
    def codes(self) -> IntArray:
        """The number of the query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def weights_of_queries(self) -> FloatArray | None:
        """The weight of the first row of each query."""
        return None if self.weights is None else self.weights[np.cumsum(self.sizes) - self.sizes]

    @property
    def mean_weights(self) -> FloatArray | None:
        """The mean weight of its query for each row."""
        if self.weights is None:
            return None
        totals = np.add.reduceat(self.weights, np.cumsum(self.sizes) - self.sizes)
        return np.repeat(totals / self.sizes, self.sizes)

    def of_queries(self, chosen: NDArray[np.bool_]) -> SortedRows:
        """Rows of the chosen queries."""
        rows = np.flatnonzero(np.repeat(chosen, self.sizes))
        weights = None if self.weights is None else self.weights[rows]
        return SortedRows(take_rows(self.X, rows), self.y[rows], self.sizes[chosen], weights)


def sorted_rows(estimator: Any, X: Any, y: NDArray[Any], grouping: Grouping, sample_weight: Any) -> SortedRows:
    """Sort rows by query, and check that the estimator takes the weights."""
    weights = None if sample_weight is None else _row_weights(estimator, grouping, sample_weight)
    if grouping.order is not None:
        X = take_rows(X, grouping.order)
    return SortedRows(X, grouping.sort(y), grouping.sizes, weights)


def _row_weights(estimator: Any, grouping: Grouping, sample_weight: Any) -> FloatArray:
    way, accepted = way_of_queries(estimator), accepted_by_fit(estimator)
    if ("group_weight" if way == "group_id" else "sample_weight") not in accepted:
        raise TypeError(f"sample_weight must be None, as {type(estimator).__name__}.fit takes no weights.")
    if way in ("group_id", "qid"):
        return np.repeat(query_weights(sample_weight, grouping), grouping.sizes)
    return grouping.sort(check_weights(sample_weight, int(grouping.sizes.sum()), "document"))


def fit_arguments(estimator: Any, rows: SortedRows) -> dict[str, Any]:
    """Translate queries and weights into the keywords of an estimator's ``fit``."""
    way = way_of_queries(estimator)
    if way == "group_id":
        arguments, weights = {"group_id": rows.codes}, {"group_weight": rows.weights}
    elif way == "qid":
        arguments, weights = {"qid": rows.codes}, {"sample_weight": rows.weights_of_queries}
    else:
        arguments, weights = {"group": rows.sizes} if way else {}, {"sample_weight": rows.weights}
    return arguments if rows.weights is None else {**arguments, **weights}


def way_of_queries(estimator: Any) -> str | None:
    """Keyword by which ``fit`` takes queries: "group_id" (CatBoost), "qid" (XGBoost), "group" (LightGBM), or None."""
    accepted = accepted_by_fit(estimator)
    # XGBoost also takes sizes; numbers come first, as it checks their length.
    return next((way for way in ("group_id", "qid", "group") if way in accepted), None)


def accepted_by_fit(estimator: Any) -> set[str]:
    """Names of the parameters of ``fit``, and if it takes ``**kwargs``, of those of base classes."""
    if hasattr(estimator, "steps") and way_of_queries(estimator.steps[-1][1]):
        raise TypeError(
            "estimator must be the ranker itself; got a Pipeline that ends in one, which does not pass the queries on. "
            "Put QueryRanker(ranker) at the end of the Pipeline instead."
        )
    names: set[str] = set()
    for base in type(estimator).__mro__:
        if "fit" in vars(base):
            parameters = inspect.signature(vars(base)["fit"]).parameters.values()
            names |= {parameter.name for parameter in parameters}
            if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
                break
    return names

"""Candidates of a search, and metadata of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from skrank_metrics._input.arrays import IntArray, count_rows, is_column, take_rows


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Make a candidate of a search. Parameter values that are estimators are cloned, too."""
    return clone(estimator).set_params(**clone(dict(params), safe=False))


def rows_of(params: Mapping[str, Any], X: Any, rows: IntArray) -> dict[str, Any]:
    """Select rows of metadata that is as long as X; pass other values on unchanged."""
    n_rows = count_rows(X)
    return {name: take_rows(value, rows) if is_column(value, n_rows) else value for name, value in params.items()}

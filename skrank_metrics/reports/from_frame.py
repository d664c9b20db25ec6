"""Reports of values per query from anywhere, as columns of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skrank_metrics._engine.documents import Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import check_weights, to_float64
from skrank_metrics._input.columns import frame_columns
from skrank_metrics._input.parameters import by_text, check_choice
from skrank_metrics._input.query_ids import check_aligned, group_ids
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.mean_intervals import bounds_of
from skrank_metrics.reports.recorded_metrics import metric_of_column

# Values may exceed the bounds of their metric by this much, due to rounding.
_ROUNDING = 1e-9
# Columns that hold no values of a metric.
_ABOUT = ("qid", "weight", "by", "group")
# Columns that hold query ids, not values, though they may be numbers.
_LIKE_QID = ("query", "query_id", "topic", "user", "user_id")


def frame_fields(frame: Any, metrics: Any) -> dict[str, Any]:
    """The fields of a report from a frame with one row per query."""
    columns = by_text(frame_columns(frame, "frame"), "frame", " Rename the columns.")
    if not columns:
        raise TypeError(f"frame must be a frame or a dict of columns; got {type(frame).__name__}.")
    index = getattr(frame, "index", None)
    if "qid" not in columns and index is None:
        raise TypeError("frame must have a column 'qid', or the query ids as its index.")
    unnamed = [name for name in columns if name.casefold() in _LIKE_QID]
    if "qid" not in columns and metrics is None and unnamed:
        raise ValueError(
            f"frame must have the query ids as its column 'qid', or as its index; got {unnamed[0]!r}. Rename it."
        )
    # A column of ids comes before the index, which is often just a count of rows.
    columns.setdefault("qid", index)
    if len(set(map(np.shape, columns.values()))) > 1:
        raise ValueError(
            "frame must hold one value per query in each column; got columns of different lengths."
        )
    check_aligned(**columns)
    qid = _queries(columns)
    results = {}
    bound = _metrics_of(columns, metrics)
    for name, metric in bound.items():
        results[name] = _result_of(columns[name], name, metric)
    return {"metrics": bound, "queries": qid, "results": results}


def _queries(columns: Mapping[str, Any]) -> Queries:
    """Ids, weights, slices and groups of the queries."""
    ids = columns["qid"]
    qid = group_ids(ids, len(ids), rows_of="frame").ids
    if len(qid) < len(ids):
        raise ValueError(
            "frame must have one row per query, but query ids repeat. Average the rows of a query first."
        )
    weights = by = groups = None
    if "weight" in columns:
        weights = check_weights(columns["weight"], len(qid), "query").copy()
    if "by" in columns:
        by = slice_of_query(columns["by"], ids=qid)
    if "group" in columns:
        groups = slice_of_query(columns["group"], ids=qid, name="groups")
    return Queries(qid, weights, by, groups)


def _metrics_of(columns: Mapping[str, Any], metrics: Any) -> dict[str, BoundMetric]:
    """The metrics of columns by their names."""
    if metrics is None:
        metrics = [name for name in columns if name not in _ABOUT]
    if isinstance(metrics, Mapping):
        bound = {str(name): get_metric(metric) for name, metric in metrics.items()}
    else:
        names = [metrics] if isinstance(metrics, str) else map(str, metrics)
        bound = {name: metric_of_column(name) for name in names}
    if not bound:
        raise ValueError("frame must have at least one column of values; got none.")
    for name in bound:
        check_choice(name, "metrics", columns)
    return bound


def _result_of(column: Any, name: str, metric: BoundMetric) -> PerQuery:
    """The values of a column, which must be within the range of its metric."""
    values = to_float64(column, name)
    low, high = bounds_of(metric)
    is_outside = (values < low - _ROUNDING) | (values > high + _ROUNDING) | np.isinf(values)
    if is_outside.any():
        raise ValueError(
            f"Column {name!r} holds {values[is_outside][0]:g}, outside the range of {metric}, {low:g} to {high:g}. "
            "Divide percentages by 100; rename the column if it is another metric."
        )
    # Reports keep values with the sign of the metric itself, of which neg_ has the negative.
    numerators = 0.0 - values if metric.negative else values.copy()
    return PerQuery(numerators, np.ones(len(values)))

"""Find the column of a report or of a search that holds a metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skrank_metrics._input.arrays import check_choice
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import bind


def column_of(metric: Any, columns: Mapping[str, BoundMetric | None]) -> str | None:
    """Name of the column that holds a metric; None if there is none.

    The metric is the name of the column, or a metric or name with the same definition, such as "NDCG@5".
    """
    if isinstance(metric, str) and metric in columns:
        return metric
    bound, name = _bound(metric), spelled(metric)
    same = [
        column
        for column, own in columns.items()
        # The name of a user's metric cannot be parsed.
        if own is not None and (_definition(own) == _definition(bound) if bound else str(own) == name)
    ]
    if len(same) > 1 and name in same:
        return name
    return same[0] if len(same) == 1 else None


def check_column(metric: Any, columns: Mapping[str, BoundMetric | None]) -> str:
    """Name of the column that holds a metric; raise an error if there is none."""
    return str(check_choice(column_of(metric, columns) or metric, "metric", columns))


def spelled(metric: Any) -> str:
    """A metric as text; anything else as str."""
    bound = _bound(metric)
    return str(bound) if bound else str(metric)


def _bound(metric: Any) -> BoundMetric | None:
    try:
        return bind(metric)
    except (TypeError, ValueError):
        return None


def _definition(bound: BoundMetric) -> tuple[Any, ...]:
    return bound.definition, bound.average

"""Types of the options that functions of columns share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from skrank_metrics._input.types import Order
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName


class TableOptions(TypedDict, total=False):
    """Options of a function that evaluates columns of a table."""

    metrics: Metrics
    convention: ConventionName
    sample_weight: str | None
    retrieved: str | None
    judged: str | None
    condense: bool
    documents: str | Sequence[str] | None
    by: str | Sequence[str] | None
    groups: str | None
    order: Order


class BatchOptions(TableOptions, total=False):
    """Options of evaluate_batches."""

    batch_rows: int
    n_threads: int
    verbose: int | None

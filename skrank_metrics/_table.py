"""The table of metrics, from the registry."""

from __future__ import annotations

from skrank_metrics._metric import MetricFunction
from skrank_metrics._registry import REGISTRY


def metrics_table() -> str:
    """All metrics as a Markdown table."""
    columns = ["name", "function", "value of a query", "range", "labels", "undefined for a query with"]
    columns += ["own parameters", "source"]
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(head + [_row(function) for _, function in sorted(REGISTRY.items())])


def _row(function: MetricFunction) -> str:
    record = function.metric
    name = record.name + ("@k" if record.has_cutoff else "")
    value = record.summary.partition(": ")[2].rstrip(".")
    labels = "graded" if record.graded else "relevant or not"
    empty = record.undefined or "(never)"
    own = ", ".join(f"`{parameter}`" for parameter in record.defaults)
    cells = [
        f"`{name}`",
        f"`{function.__name__}`",
        value,
        record.bounds,
        labels,
        empty,
        own,
        f"[{record.reference.short}]({record.reference.url})",
    ]
    return "| " + " | ".join(cells) + " |"

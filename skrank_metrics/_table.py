"""The table of metrics, from the registry."""

from __future__ import annotations

from skrank_metrics._metric import MetricFunction
from skrank_metrics._registry import REGISTRY


def metrics_table() -> str:
    """All metrics as a Markdown table."""
    head = ["| name | function | value of a query | range | labels | no relevant document | own parameters | source |"]
    head.append("|---|---|---|---|---|---|---|---|")
    return "\n".join(head + [_row(function) for _, function in sorted(REGISTRY.items())])


def _row(function: MetricFunction) -> str:
    record = function.metric
    name = record.name + ("@k" if record.has_cutoff else "")
    value = record.summary.partition(": ")[2].rstrip(".")
    bounds = "[0, 1]" if record.upper == 1 else "[0, ∞)"
    labels = "graded" if record.graded else "relevant or not"
    empty = "undefined" if record.needs_relevant else "0"
    own = ", ".join(f"`{parameter}`" for parameter in record.defaults)
    cells = [f"`{name}`", f"`{function.__name__}`", value, bounds, labels, empty, own, record.reference]
    return "| " + " | ".join(cells) + " |"

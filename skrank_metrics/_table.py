"""The documentation of metrics that follows from the registry: the table of the README and the page of metrics."""

from __future__ import annotations

import inspect

from skrank_metrics._metric import TRANSFORMS, MetricFunction
from skrank_metrics._registry import REGISTRY
from skrank_metrics.conventions import CONVENTIONS


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


def metrics_page() -> str:
    """Give each metric a section of Markdown: formula, range, ties, empty queries, peers, paper and an example."""
    return "\n\n".join(_section(function) for _, function in sorted(REGISTRY.items()))


def _section(function: MetricFunction) -> str:
    record = function.metric
    kernel_doc = inspect.cleandoc(record.kernel.__doc__ or "")
    front, _, example = kernel_doc.partition("Examples\n--------\n")
    text, _, code = example.partition(">>> ")
    parameters = ", ".join(f"{name}={default!r}" for name, default in record.defaults.items())
    peers = [
        f"{name} (`{convention.names[record.name]}`)"
        for name, convention in CONVENTIONS.items()
        if record.name in convention.names
    ]
    lines = [
        f"- **In strings:** `{record.name}{'@k' if record.has_cutoff else ''}`"
        + (f", with {parameters}" if parameters else "")
        + ("" if record.greater_is_better else ", the negative of the function"),
        f"- **Range:** {record.bounds}. **Labels:** {'graded' if record.graded else 'relevant or not'}.",
        f"- **Undefined for** a query with {record.undefined}." if record.undefined else "- **Always defined.**",
        f"- **Ties, averaged:** {TRANSFORMS[record.transform]}.",
        f"- **Computed by:** {', '.join(peers) or 'none of the peers compared'}.",
        f"- **Source:** {record.reference.text} <{record.reference.url}>",
    ]
    code = code.replace("\n\n>>> ", "\n>>> ").rstrip()
    return (
        f"### `{function.__name__}`\n\n{front.strip()}\n\n    {record.formula}\n\n"
        + "\n".join(lines)
        + f"\n\n{text.strip()}\n\n```python\n>>> {code}\n\n```"
    )


def conventions_table() -> str:
    """What each peer counts differently, as Markdown tables."""
    parts = []
    for name, convention in CONVENTIONS.items():
        lines = [f"**{name}** ({convention.peer})", "", "| here | there | defaults |", "|---|---|---|"]
        for metric, peer in convention.names.items():
            defaults = {**convention.shared, **convention.own.get(metric, {})}
            spelled = (
                ", ".join(f"{parameter}={value!r}" for parameter, value in defaults.items()) or "those of this package"
            )
            lines.append(f"| `{metric}` | {peer} | {spelled} |")
        lines += ["", *(f"- Not imitated: {remark}" for remark in convention.not_imitated)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)

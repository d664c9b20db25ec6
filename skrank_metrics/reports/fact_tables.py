"""The facts of all metrics, of all queries and of slices: as dicts, columns and printed tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._output.result import Table, counted
from skrank_metrics.metrics._record import flat_name
from skrank_metrics.reports.facts import (
    FACTS,
    NAMES,
    MetricValues,
    facts_of,
)
from skrank_metrics.reports.mean_intervals import bounds_of
from skrank_metrics.reports.slices import ALL, flat_slice, names_of_slices

ByMetric: TypeAlias = Mapping[str, MetricValues]


def nested_facts(whole: ByMetric, slices: Mapping[Any, ByMetric]) -> dict[str, Any]:
    """Facts by metric, with those of slices by name in "slices"."""
    names = names_of_slices(slices)
    found: dict[str, Any] = {metric: facts_of(values) for metric, values in whole.items()}
    for value, block in slices.items():
        for metric, values in block.items():
            of_slices = found[metric].setdefault("slices", {})
            of_slices[names[value]] = {"n_queries": values.n_queries, **facts_of(values)}
    return found


def flat_facts(whole: ByMetric, slices: Mapping[Any, ByMetric]) -> dict[str, float]:
    """Facts by keys that experiment trackers accept; the mean has no ending."""
    blocks = [("", whole)]
    blocks += [(f"_slice_{flat_slice(value)}", part) for value, part in slices.items()]
    found: dict[str, float] = {}
    for end, block in blocks:
        for metric, values in block.items():
            for name, number in facts_of(values).items():
                key = f"{flat_name(metric)}_{name}".removesuffix("_mean") + end
                # Numbering such keys would make them depend on the other metrics of the report.
                if key in found:
                    raise ValueError(
                        f"to_dict(flat=True) needs metrics and slices whose names differ; {metric!r} gives the key "
                        f"{key!r} of another one. Evaluate with metrics={{'other name': {metric!r}, ...}}."
                    )
                found[key] = number
    return found


def fact_columns(whole: ByMetric, slices: Mapping[Any, ByMetric]) -> dict[str, list[Any]]:
    """Columns of facts: first of all queries, then of the slices."""
    names = names_of_slices(slices)
    blocks = {ALL: whole} | {names[value]: part for value, part in slices.items()}
    rows = []
    for block, part in blocks.items():
        for metric, values in part.items():
            row = {"metric": metric, "slice": block, "n_queries": values.n_queries}
            # Some facts do not exist, such as the interval of a median.
            rows.append(row | dict.fromkeys(NAMES, np.nan) | facts_of(values))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    if not slices:
        del columns["slice"]
    return columns


def table_of_facts(whole: ByMetric) -> Table:
    """One row per metric."""
    printed = [fact for fact in FACTS if fact.head]
    heads = [fact.column for fact in printed]
    rows = [(name, *(fact.compute(values) for fact in printed)) for name, values in whole.items()]
    return Table(("metric", *heads), rows)


def table_of_slices(slices: Mapping[str, ByMetric]) -> Table:
    """One row per slice and metric."""
    printed = [fact for fact in FACTS if fact.of_slices]
    heads = [fact.column for fact in printed]
    rows = []
    for name, part in slices.items():
        for metric, values in part.items():
            facts = [fact.compute(values) for fact in printed]
            rows.append((name, metric, values.n_queries, *facts))
    return Table(("slice", "metric", "queries", *heads), rows)


def interval_method(whole: ByMetric) -> str:
    """Which interval is printed."""
    over = "queries"
    groups = next(iter(whole.values())).groups
    if groups is not None:
        over = counted(len(set(groups.tolist())), "group")
    # Unbounded metrics have the plain interval, so they do not change the name of the method.
    bounds = {bounds_of(values.metric) for values in whole.values()}
    bounded = {ends for ends in bounds if np.isfinite(ends).all()}
    method = f"Student's t over {over}"
    if bounded == {(0.0, 1.0)}:
        method += ", widened for metrics between 0 and 1"
    elif bounded:
        method += ", widened for metrics with two bounds"
    return method

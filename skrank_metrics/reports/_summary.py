"""Means as flat dicts for loggers, and a histogram of the values per query."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count, pairwise

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.chart import LARGEST, Chart, Mark
from skrank_metrics.metrics._record import flat_name

# Number of bars of the histogram.
N_BINS = 10
# What is known of each metric. All are reserved, so that keys do not depend on whether there is an interval.
_KEPT = ("mean", "low", "high", "std", "n_undefined")


def flatten(
    nested: Mapping[str, Mapping[str, float]], of_slices: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> dict[str, float]:
    """Flatten the values of metrics and of slices, with keys made of letters, digits and underscores."""
    flat: dict[str, float] = {}
    taken: set[str] = set()
    for name, values in nested.items():
        short = _unused(flat_name(name), taken)
        flat |= _with_prefix(short, values)
        for part, of_part in of_slices.items():
            flat |= _with_prefix(_unused(f"{short}_slice_{flat_name(part)}", taken), of_part[name])
    return flat


def _unused(prefix: str, taken: set[str]) -> str:
    """The prefix, numbered if one of its keys is taken: "ndcg@10", "ndcg_at_10" become "ndcg_at_10", "ndcg_at_10_2"."""
    for one in chain([prefix], (f"{prefix}_{number}" for number in count(2))):
        keys = {_key(one, part) for part in _KEPT}
        if taken.isdisjoint(keys):
            break
    taken |= keys
    return one


def _with_prefix(prefix: str, values: Mapping[str, float]) -> dict[str, float]:
    return {_key(prefix, part): value for part, value in values.items()}


def _key(prefix: str, part: str) -> str:
    return prefix if part == "mean" else f"{prefix}_{part}"


def distribution(name: str, values: FloatArray) -> Chart:
    """Number of queries by value."""
    values = values[np.abs(values) < LARGEST]
    within = len(values) and 0 <= values.min() <= values.max() <= 1
    counts, edges = np.histogram(values, bins=N_BINS, range=(0, 1) if within else None)
    marks = [
        Mark(f"{low:.4g} to {high:.4g}", float(number), f"{number:,}", base=0.0)
        for number, (low, high) in zip(counts, pairwise(edges), strict=True)
    ]
    return Chart(f"Number of queries by {name}", marks[::-1])

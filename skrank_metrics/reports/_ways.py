"""All ways of computing a metric: the values of its parameters, combined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._engine.ranked_lists import TIE_POLICIES
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import in_convention
from skrank_metrics.reports.explain_difference import CAUSES

# Values to try of each parameter, besides those of the conventions; options skip words that they do not know.
CUTOFFS = (None, 1, 3, 5, 10, 20, 50, 100, 1000)
UNDEFINED = (0.0, 1.0, math.nan)
WORDS = {
    "gain": ("binary", "linear", "exp2"),
    "normalizer": ("min", "relevant", "hits"),
    "divisor": ("k", "retrieved"),
}
# Values that differ by less, relative to the larger, are equal up to rounding.
ROUNDING, DECIMALS = 1e-12, 12
# Number of values per query that are in memory at a time.
MOST_VALUES = 4_000_000

_Options = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, eq=False)
class Way:
    """One way of computing a metric.

    Attributes
    ----------
    value : float
        The value that it gives.
    distance : float
        This value minus the target value.
    options : dict of str to tuple
        Values of each parameter; those in the same tuple give the same result on these data.
    peers : tuple of str
        Names of the conventions that compute the metric this way. The cutoff is not compared, since users choose it
        in every library.
    metric : BoundMetric
        The metric with these parameters, to call or to pass to evaluate.
    """

    value: float
    distance: float
    options: dict[str, tuple[Any, ...]]
    peers: tuple[str, ...]
    metric: BoundMetric


def all_ways(
    lists: QueryLists, bound: BoundMetric, value: float
) -> tuple[list[Way], dict[str, list[tuple[Any, ...]]], dict[str, str]]:
    """Ways of computing a metric, the nearest to a value first.

    Also returns the values of each parameter in sets that give the same results, and the options that the labels do
    not allow, with the reason.
    """
    peers = _peers(bound)
    levels, failed = _allowed(lists, bound, _levels(bound, peers))
    grid, alike = _merge(_values(lists, bound, levels), levels)
    ways = [_way(bound, options, found, value, peers) for options, found in _cells(grid, alike)]
    return sorted(ways, key=lambda way: _place(way, bound)), alike, failed


def _peers(bound: BoundMetric) -> dict[str, BoundMetric]:
    """The metric in each convention whose library has it."""
    name = bound.record.name
    return {peer: in_convention(bound, peer) for peer, convention in CONVENTIONS.items() if name in convention.names}


def _levels(bound: BoundMetric, peers: Mapping[str, BoundMetric]) -> dict[str, list[Any]]:
    """Values to try of each parameter that the metric leaves open."""
    usual: dict[str, Sequence[Any]] = {"k": CUTOFFS, "ties": TIE_POLICIES, "replace_undefined_by": UNDEFINED}
    levels = {}
    for name in (name for name in CAUSES if _is_open(bound, name)):
        option = bound.record.options.get(name)
        tried = [bound.get(name), *usual.get(name, WORDS.get(name, ())), *(peer.get(name) for peer in peers.values())]
        known = {str(value): value for value in tried if option is None or _takes(option, value, name)}
        levels[name] = sorted(known.values(), key=lambda k: k or math.inf) if name == "k" else list(known.values())
    return levels


def _is_open(bound: BoundMetric, name: str) -> bool:
    """Whether a metric has a parameter, does not set it, and gives it the usual meaning."""
    if name in bound.params or name not in bound.values or (name == "replace_undefined_by" and bound.always_defined):
        return False
    return name not in bound.record.options or bound.record.options[name].annotation != "Any"


def _takes(option: Any, value: Any, name: str) -> bool:
    try:
        option.check(value, name)
    except ValueError:
        return False
    return True


def _allowed(
    lists: QueryLists, bound: BoundMetric, levels: dict[str, list[Any]]
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """The levels without the gains that the labels do not allow, and the reasons."""
    failed, gains = {}, []
    for gain in levels.get("gain", []):
        try:
            per_query(lists, [bound.replace(gain=gain).computation])
        except ValueError as error:
            failed[f"gain={gain}"] = str(error)
        else:
            gains.append(gain)
    if failed and not gains:
        raise ValueError("; ".join(failed.values()))
    return (levels | {"gain": gains} if gains else levels), failed


def _values(lists: QueryLists, bound: BoundMetric, levels: _Options) -> FloatArray:
    """Value of each combination of levels, one axis per parameter; NaN for invalid combinations or undefined values."""
    # The value of undefined queries needs no second pass; it is the last of the causes.
    fillers = levels.get("replace_undefined_by", [bound.replace_undefined_by])
    ranked = {name: values for name, values in levels.items() if name != "replace_undefined_by"}
    name = "relevance_threshold"
    if len(same := _same_relevance(lists, levels.get(name, []))) > len(set(same)):
        # Most labels are whole numbers, which all thresholds up to 1 divide alike, so only one of them is computed.
        kept = sorted(set(same))
        fewer = _values(lists, bound, {**levels, name: [levels[name][number] for number in kept]})
        return np.take(fewer, [kept.index(number) for number in same], axis=list(levels).index(name))
    grid = np.full([*map(len, ranked.values()), len(fillers)], np.nan)
    metrics = list(_metrics(bound, ranked))
    at_once = max(1, MOST_VALUES // max(1, lists.n_queries))
    for some in (metrics[start : start + at_once] for start in range(0, len(metrics), at_once)):
        results = per_query(lists, [metric.computation for _, metric in some])
        for (place, metric), result in zip(some, results, strict=True):
            for number, filler in enumerate(fillers):
                chosen = metric if bound.always_defined else metric.replace(replace_undefined_by=filler)
                grid[(*place, number)] = chosen.aggregate(result, lists.weights)
    return grid if "replace_undefined_by" in levels else grid[..., 0]


def _same_relevance(lists: QueryLists, thresholds: Sequence[float | None]) -> list[int]:
    """For each threshold, the number of the first one with the same relevant documents."""
    relevant = [lists.labels > 0 if least is None else lists.labels >= least for least in thresholds]
    return [next(number for number, other in enumerate(relevant) if np.array_equal(one, other)) for one in relevant]


def _metrics(bound: BoundMetric, levels: _Options) -> Iterator[tuple[tuple[int, ...], BoundMetric]]:
    """The metric with each valid combination of levels, and its place, by ties first."""
    for place in product(*(range(len(values)) for values in levels.values())):
        params = {name: values[number] for number, (name, values) in zip(place, levels.items(), strict=True)}
        with suppress(ValueError):  # a relevance threshold needs binary gains
            yield place, bound.replace(**params)


def _merge(grid: FloatArray, levels: _Options) -> tuple[FloatArray, dict[str, list[tuple[Any, ...]]]]:
    """Merge levels that give the same values, whatever the other parameters are."""
    alike: dict[str, list[tuple[Any, ...]]] = {}
    for axis, (name, values) in enumerate(levels.items()):
        slices, sets, kept = list(np.moveaxis(grid, axis, 0)), list[list[Any]](), list[int]()
        for number, value in enumerate(values):
            same = (place for place, first in enumerate(kept) if _equal(slices[first], slices[number]))
            place = next(same, len(kept))
            if place == len(kept):
                kept.append(number)
                sets.append([])
            sets[place].append(value)
        grid, alike[name] = np.take(grid, kept, axis=axis), [tuple(one) for one in sets]
    return grid, alike


def _cells(grid: FloatArray, alike: Mapping[str, list[tuple[Any, ...]]]) -> Iterator[tuple[dict[str, Any], float]]:
    """Options and value of each cell; cells with the same value that differ in one option are merged."""
    cells = {
        (round(float(found), DECIMALS), *options): float(found)
        for options, found in zip(product(*alike.values()), grid.ravel(), strict=True)
        if not math.isnan(found)
    }
    for place in range(1, 1 + len(alike)):
        merged: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for cell in cells:
            merged.setdefault((*cell[:place], *cell[place + 1 :]), []).append(cell)
        cells = {
            (*same[0][:place], tuple(value for cell in same for value in cell[place]), *same[0][place + 1 :]): cells[
                same[0]
            ]
            for same in merged.values()
        }
    for (_, *options), found in cells.items():
        yield dict(zip(alike, options, strict=True)), found


def _equal(one: FloatArray, other: FloatArray) -> bool:
    return np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)


def _way(
    bound: BoundMetric,
    options: dict[str, tuple[Any, ...]],
    found: float,
    value: float,
    peers: Mapping[str, BoundMetric],
) -> Way:
    spelled_ones = {name: [str(one) for one in values] for name, values in options.items()}
    fixed = {name: known for name, known in spelled_ones.items() if name != "k"}  # users of all libraries choose it
    alike = [peer for peer, own in peers.items() if all(str(own.get(name)) in known for name, known in fixed.items())]
    params = {}
    for name, values in options.items():
        if str(bound.get(name)) not in spelled_ones[name]:
            params[name] = peers[alike[0]].get(name) if alike and name != "k" else values[0]
    return Way(found, found - value, options, tuple(alike), bound.replace(**params))


def _place(way: Way, bound: BoundMetric) -> tuple[float, bool, int]:
    """Sort key: the distance up to rounding, then ways of other libraries, then those with few changes."""
    return round(abs(way.distance), DECIMALS), not way.peers, len(way.metric.params) - len(bound.params)

"""Find the ways of computing a metric that give a known value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.query_lists import QueryLists, query_lists
from skrank_metrics._engine.ranked_lists import TIE_POLICIES
from skrank_metrics._input.arrays import FloatArray, check_number
from skrank_metrics._output.result import Part, Result
from skrank_metrics._output.table import Column, Table
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import bind, in_convention
from skrank_metrics.reports.explain_difference import CAUSES

# Values to try of each parameter, besides those of the conventions.
TRIED: dict[str, tuple[Any, ...]] = {
    "k": (None, 1, 3, 5, 10, 20, 50, 100, 1000),
    "gain": ("binary", "linear", "exp2"),
    "normalizer": ("min", "relevant", "hits"),
    "divisor": ("k", "retrieved"),
    "ties": TIE_POLICIES,
    "replace_undefined_by": (0.0, 1.0, math.nan),
}
# Values that differ by less, relative to the larger, are equal up to rounding.
ROUNDING, DECIMALS = 1e-12, 12
# Number of values per query that are in memory at a time.
MOST_VALUES = 4_000_000
# The tolerance is half a unit of the last digit, within these limits relative to the value: float32 values are rounded
# by less than the first. Numbers lose trailing zeros, so 0.8 may be 0.80, hence the second.
LEAST_TOLERANCE, LARGEST_TOLERANCE = 1e-6, 5e-3
# Number of matches that are printed, and of the nearest ways if none matches.
MOST_PRINTED, MOST_NEAREST = 10, 3

# Names of the parameters in the table.
HEADS = CAUSES | {"relevance_threshold": "relevant", "replace_undefined_by": "undefined"}

# By parameter, values that give the same result.
Sets: TypeAlias = dict[str, list[tuple[Any, ...]]]


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
        Values of each parameter; those in the same tuple give the same result, whatever the other parameters are.
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


@dataclass(frozen=True, repr=False, eq=False)
class ConventionMatch(Result):
    """Ways of computing a metric, sorted by how near they come to a known value.

    Prints the ways that match, or the nearest if none does, and the parameters that the data cannot distinguish.
    ``to_frame()`` gives one row per way, with its value, distance, parameters and peers.

    Attributes
    ----------
    metric : str
        Name of the metric.
    value : float
        The target value.
    tolerance : float
        Largest distance of a match from the target value.
    ways : list of Way
        All ways tried, nearest first, with attributes ``value``, ``distance``, ``options``, ``peers`` and ``metric``.
        Among equally near ones, those of other libraries come first, then those closest to the defaults.
    undecided : dict of str to list of tuple
        Values of each parameter that give the same result on these data, whatever the other parameters are.
    failed : dict of str to str
        Options that the labels do not allow, such as "gain=linear", with the reason.
    """

    metric: str
    value: float
    tolerance: float
    ways: list[Way]
    undecided: dict[str, list[tuple[Any, ...]]]
    failed: dict[str, str]

    @property
    def matches(self) -> list[Way]:
        """The ways that give the value within the tolerance."""
        return [way for way in self.ways if abs(way.distance) <= self.tolerance + ROUNDING]

    def _brief(self) -> str:
        return f"{self.metric} = {self.value:.10g}, {len(self.ways)} ways"

    def _parts(self) -> list[Part]:
        spec = f".{max(4, math.ceil(-math.log10(self.tolerance or ROUNDING)))}f"
        shown = self.matches[:MOST_PRINTED] or self.ways[:MOST_NEAREST]
        columns: list[str | Column] = [
            *(Column(HEADS[name], str) for name in self._varied),
            Column("value", lambda value: format(value, spec)),
            Column("distance", lambda value: format(value, f"+z{spec}")),
            Column("as in" if any(way.peers for way in shown) else None),
        ]
        rows = [
            (*(_text(name, way.options[name]) for name in self._varied), way.value, way.distance, ", ".join(way.peers))
            for way in shown
        ]
        return [self._verdict(), *([Table(columns, rows)] if rows else []), *self._remarks()]

    @property
    def _varied(self) -> list[str]:
        """Parameters that can make a difference on these data."""
        names = self.ways[0].options if self.ways else ()
        return [name for name in names if len({str(way.options[name]) for way in self.ways}) > 1]

    def _verdict(self) -> str:
        n_matches, within = len(self.matches), f"{self.tolerance:.12f}".rstrip("0").rstrip(".")
        what = f"{self.metric} = {self.value:.10g}: {n_matches or 'none'} of {len(self.ways)} ways of computing it"
        return f"{what} {'match' if n_matches > 1 else 'matches'}, within {within}"

    def _remarks(self) -> Iterator[str]:
        if self.ways and not self.matches:
            yield (
                f"The nearest is {abs(self.ways[0].distance):.2g} away. Check that the value was computed from these "
                "labels, scores, ids and weights."
            )
        if len(self.matches) > MOST_PRINTED:
            yield f"{len(self.matches) - MOST_PRINTED} more match: see .matches."
        if len(self.matches) > 1:
            yield "A value with more digits, or over more queries, could distinguish them."
        if idle := [HEADS[name] for name in self.undecided if name not in self._varied]:
            yield f"No effect on these data: {', '.join(idle)}."
        alike = {name: sets for name, sets in self.undecided.items() if name in self._varied}
        if texts := [f"{HEADS[name]} {_text(name, values)}" for name, sets in alike.items() for values in sets]:
            yield f"These data do not distinguish: {'; '.join(texts)}."
        for option, why in self.failed.items():
            yield f"Not tried: {option}. {why}"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            name: [getattr(way, name) for way in self.ways] for name in ("value", "distance")
        }
        for name in self.ways[0].options if self.ways else ():
            columns[name] = [_text(name, way.options[name]) for way in self.ways]
        return columns | {"peers": [", ".join(way.peers) for way in self.ways]}


def _text(name: str, values: Sequence[Any]) -> str:
    if name == "k" and None in values and len(values) > 1:
        return f"{min(k for k in values if k)} or more, none"
    return ", ".join(_spelled(name, value) for value in values)


def _spelled(name: str, value: Any) -> str:
    if name == "relevance_threshold":
        return "> 0" if value is None else "> 0.5" if 0.5 < value < 0.5 + ROUNDING else f">= {value:g}"
    if name == "replace_undefined_by":
        return "left out" if math.isnan(value) else f"{value:g}"
    return "none" if value is None else str(value)


def match_convention(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    value: float | str,
    metric: Any = "ndcg",
    tolerance: float | None = None,
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
) -> ConventionMatch:
    """Find the ways of computing a metric that give the value reported by another library or a paper.

    Tries all combinations of gain, ties, value of queries without a relevant document, cutoff, divisor and relevance
    threshold that the metric has and its name does not set: common values, and those of all conventions.

    Parameters
    ----------
    y_true, y_score, qid : array-like
        As in evaluate.
    value : float or str
        The value to find, in the range of the metric. Text such as "0.80" also tells to how many digits it is rounded.
    metric : str, metric function or bound metric, default="ndcg"
        Metric of the value, as in get_metric. Parameters that it sets are not varied, such as the cutoff of "ndcg@10".
    tolerance : float, default=None
        Largest distance of a match from the value. If None, half a unit of the last digit of the value: at least 1e-6
        and, unless the value is text, at most 5e-3; for values above 1, both limits are multiplied by the value.
    sample_weight, retrieved, judged : array-like, default=None
        As in evaluate.

    Returns
    -------
    match : ConventionMatch
        Prints the ways that match, or the nearest if none does.

    See Also
    --------
    explain_difference : How much each difference between two conventions matters.

    Examples
    --------
    In query "a", a document of grade 1 is ranked above one of grade 2. With exponential gains, its NDCG is (1 + 3 /
    log2(3)) / (3 + 1 / log2(3)) = 0.7967. Query "b" has no relevant document. If it counts as 1, as in LightGBM, the
    mean is 0.8984:

    >>> from skrank_metrics import match_convention
    >>> print(match_convention([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"], value=0.8984))
    ndcg = 0.8984: 1 of 12 ways of computing it matches, within 0.00005
    cutoff           gain  undefined    value  distance  as in
    3 or more, none  exp2  1          0.89835  -0.00005  lightgbm, xgboost
    No effect on these data: ties. These data do not distinguish: cutoff 3 or more, none.
    """
    bound = bind(metric)
    if bound.average is None:
        raise ValueError("metric must not have average=None, since a single value is matched; leave average out.")
    value, half_a_unit = _value_and_tolerance(value)
    tolerance = check_number(tolerance, "tolerance", "[0, inf)", other="None")
    tolerance = half_a_unit if tolerance is None else tolerance
    low, high = bound.record.lower, bound.record.upper
    low, high = (0.0 - high, 0.0 - low) if bound.negative else (low, high)
    if not low - tolerance <= value <= high + tolerance:
        hint = " Divide percentages by 100." if high == 1 < value <= 100 else ""
        raise ValueError(f"value must be in the range of {bound}, from {low:g} to {high:g}; got {value}.{hint}")
    masks = {"retrieved": retrieved, "judged": judged}
    lists = query_lists(y_true, y_score, qid=qid, sample_weight=sample_weight, **masks)
    ways, alike, failed = _all_ways(lists, bound, value)
    sets = {name: [one for one in sets if len(one) > 1] for name, sets in alike.items()}
    undecided = {name: several for name, several in sets.items() if several}
    return ConventionMatch(str(bound), value, tolerance, ways, undecided, failed)


def _value_and_tolerance(value: Any) -> tuple[float, float]:
    """The value as a number, and half a unit of its last digit; only text keeps trailing zeros."""
    try:
        exact = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        raise ValueError(f"value must be a number, or text such as '0.80'; got {value!r}.") from None
    number: float = check_number(value if exact is None else float(exact), "value")
    exponent = (Decimal(repr(number)).normalize() if exact is None else exact).as_tuple().exponent
    half, scale = 0.5 * 10.0 ** int(exponent), max(1.0, abs(number))
    return number, max(half if exact is not None else min(half, LARGEST_TOLERANCE * scale), LEAST_TOLERANCE * scale)


def _all_ways(lists: QueryLists, bound: BoundMetric, value: float) -> tuple[list[Way], Sets, dict[str, str]]:
    """Ways of computing a metric, the nearest to a value first.

    Also returns the values of each parameter in sets that give the same results, and the options that the labels do
    not allow, with the reason.
    """
    named = [peer for peer, convention in CONVENTIONS.items() if bound.record.name in convention.names]
    peers = {peer: in_convention(bound, peer) for peer in named}
    levels, failed = _levels(lists, bound, peers)
    grid, alike = _distinct(_values(lists, bound, levels), levels)
    ways = [
        _way(bound, dict(zip(alike, sets, strict=True)), float(found), value, peers)
        for sets, found in zip(product(*alike.values()), grid.ravel(), strict=True)
        if not math.isnan(found)
    ]
    # The nearest up to rounding, then the ways of other libraries, then those with few changes.
    ways.sort(key=lambda way: (round(abs(way.distance), DECIMALS), not way.peers, len(way.metric.params)))
    return ways, alike, failed


def _levels(lists: QueryLists, bound: BoundMetric, peers: Mapping[str, BoundMetric]) -> tuple[Sets, dict[str, str]]:
    """Values to try of each parameter that the metric leaves open, and those that the labels do not allow."""
    levels: Sets = {}
    failed: dict[str, str] = {}
    for name in (name for name in CAUSES if _is_open(bound, name)):
        tried = [bound.get(name), *TRIED.get(name, ()), *(peer.get(name) for peer in peers.values())]
        sets: dict[Any, tuple[Any, ...]] = {}
        for one in {str(one): one for one in tried}.values():
            with suppress(ValueError):  # options skip words that they do not know
                if name in bound.record.options:
                    bound.record.options[name].check(one, name)
                try:
                    if name == "gain":
                        per_query(lists, [bound.replace(gain=one).computation])
                except ValueError as error:
                    failed[f"gain={one}"] = str(error)
                else:
                    key = _key(lists, name, one)
                    sets[key] = (*sets.get(key, ()), one)
        if not sets:
            raise ValueError("; ".join(failed.values()))
        levels[name] = sorted(sets.values(), key=lambda k: k[0] or math.inf) if name == "k" else list(sets.values())
    return levels, failed


def _key(lists: QueryLists, name: str, value: Any) -> Any:
    """The same for values that must give the same result; most thresholds up to 1 divide whole numbers alike."""
    if name != "relevance_threshold":
        return str(value)
    return (lists.labels > 0 if value is None else lists.labels >= value).tobytes()


def _is_open(bound: BoundMetric, name: str) -> bool:
    """Whether a metric has a parameter, does not set it, and gives it the usual meaning."""
    if name in bound.params or name not in bound.values or (name == "replace_undefined_by" and bound.always_defined):
        return False
    return name not in bound.record.options or bound.record.options[name].annotation != "Any"


def _values(lists: QueryLists, bound: BoundMetric, levels: Sets) -> FloatArray:
    """Value of each combination of levels, one axis per parameter; NaN for invalid combinations or undefined values."""
    # The value of undefined queries needs no second pass; it is the last of the causes.
    fillers = levels.get("replace_undefined_by", [()])
    ranked = {name: sets for name, sets in levels.items() if name != "replace_undefined_by"}
    grid = np.full([*map(len, ranked.values()), len(fillers)], np.nan)
    metrics = []
    for place in np.ndindex(grid.shape[:-1]):
        with suppress(ValueError):  # a relevance threshold needs binary gains
            chosen = {name: sets[number][0] for number, (name, sets) in zip(place, ranked.items(), strict=True)}
            metrics.append((place, bound.replace(**chosen)))
    at_once = max(1, MOST_VALUES // max(1, lists.n_queries))
    for some in (metrics[start : start + at_once] for start in range(0, len(metrics), at_once)):
        results = per_query(lists, [metric.computation for _, metric in some])
        for (place, metric), result in zip(some, results, strict=True):
            for number, filler in enumerate(fillers):
                filled = metric.replace(replace_undefined_by=filler[0]) if filler else metric
                grid[(*place, number)] = filled.aggregate(result, lists.weights)
    return grid if "replace_undefined_by" in levels else grid[..., 0]


def _distinct(grid: FloatArray, levels: Sets) -> tuple[FloatArray, Sets]:
    """Join the levels that give the same values, whatever the other parameters are."""
    alike: Sets = {}
    for axis, (name, sets) in enumerate(levels.items()):
        joined: dict[int, tuple[Any, ...]] = {}
        for number, values in enumerate(sets):
            own = np.take(grid, number, axis=axis)
            same = (first for first in joined if _equal(np.take(grid, first, axis=axis), own))
            first = next(same, number)
            joined[first] = (*joined.get(first, ()), *values)
        grid, alike[name] = np.take(grid, list(joined), axis=axis), list(joined.values())
    return grid, alike


def _equal(one: FloatArray, other: FloatArray) -> bool:
    return np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)


def _way(
    bound: BoundMetric, sets: dict[str, tuple[Any, ...]], found: float, value: float, peers: Mapping[str, BoundMetric]
) -> Way:
    """A way from the values of each parameter that give the same result."""
    spelled = {name: list(map(str, values)) for name, values in sets.items()}
    fixed = {name: known for name, known in spelled.items() if name != "k"}  # users of all libraries choose it
    alike = [peer for peer, own in peers.items() if all(str(own.get(name)) in known for name, known in fixed.items())]
    params = {}
    for name, values in sets.items():
        if str(bound.get(name)) not in spelled[name]:
            params[name] = peers[alike[0]].get(name) if alike and name != "k" else values[0]
    return Way(found, found - value, sets, tuple(alike), bound.replace(**params))

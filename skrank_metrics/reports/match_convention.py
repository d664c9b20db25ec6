"""Find the ways of computing a metric that give a known value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._input.arrays import check_number
from skrank_metrics._output.result import Part, Result
from skrank_metrics._output.table import Column, Table
from skrank_metrics.metrics.names import bind
from skrank_metrics.reports._ways import ROUNDING, Way, all_ways
from skrank_metrics.reports.explain_difference import CAUSES

# The tolerance is half a unit of the last digit, within these limits relative to the value: float32 values are rounded
# by less than the first. Numbers lose trailing zeros, so 0.8 may be 0.80, hence the second.
LEAST_TOLERANCE, LARGEST_TOLERANCE = 1e-6, 5e-3
# No value is reported with fewer digits, so that no larger tolerance is proposed.
COARSEST = 0.05
# Number of matches that are printed, and of the nearest ways if none matches.
MOST_PRINTED, MOST_NEAREST = 10, 3

# Names of the parameters in the table.
HEADS = CAUSES | {"relevance_threshold": "relevant", "replace_undefined_by": "undefined"}


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

    def _parts(self) -> list[Part]:
        spec = f".{max(4, math.ceil(-math.log10(self.tolerance or ROUNDING)))}f"
        columns: list[str | Column] = [
            *(Column(HEADS[name], str) for name in self._varied),
            Column("value", lambda value: format(value, spec)),
            Column("distance", lambda value: format(value, f"+z{spec}")),
            Column("as in" if any(way.peers for way in self._shown) else None),
        ]
        rows = [
            (*(self._text(name, way) for name in self._varied), way.value, way.distance, ", ".join(way.peers))
            for way in self._shown
        ]
        return [self._verdict(), *([Table(columns, rows)] if rows else []), *self._remarks()]

    @property
    def _shown(self) -> list[Way]:
        return self.matches[:MOST_PRINTED] or self.ways[:MOST_NEAREST]

    @property
    def _varied(self) -> list[str]:
        """Parameters that can make a difference on these data."""
        return [name for name in self._names if len({str(way.options[name]) for way in self.ways}) > 1]

    def _text(self, name: str, way: Way) -> str:
        return "any" if len(way.options[name]) == self._n_tried[name] > 1 else _text(name, way.options[name])

    @cached_property
    def _n_tried(self) -> dict[str, int]:
        tried = {name: dict.fromkeys(way.options[name] for way in self.ways) for name in self._names}
        return {name: len({str(value) for values in sets for value in values}) for name, sets in tried.items()}

    @property
    def _names(self) -> list[str]:
        return list(self.ways[0].options) if self.ways else []

    def _verdict(self) -> str:
        n_matches, within = len(self.matches), f"{self.tolerance:.12f}".rstrip("0").rstrip(".")
        what = f"{self.metric} = {self.value:.10g}: {n_matches or 'none'} of {len(self.ways)} ways of computing it"
        return f"{what} {'match' if n_matches > 1 else 'matches'}, within {within}"

    def _remarks(self) -> Iterator[str]:
        if self.ways and not self.matches:
            away = abs(self.ways[0].distance)
            rounded = _rounded_up(away)
            is_digit = rounded <= COARSEST * max(1.0, abs(self.value))
            yield (
                f"The nearest is {away:.2g} away. Check that the value was computed from these labels, scores, ids and "
                "weights" + (f", or pass tolerance={rounded:g} if it is rounded that much." if is_digit else ".")
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
            "value": [way.value for way in self.ways],
            "distance": [way.distance for way in self.ways],
        }
        columns |= {name: [self._text(name, way) for way in self.ways] for name in self._names}
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
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document.
    value : float or str
        The value to find, in the range of the metric. Text such as "0.80" also tells to how many digits it is rounded.
    metric : str, metric function or bound metric, default="ndcg"
        Metric of the value, as in get_metric. Parameters that it sets are not varied, such as the cutoff of "ndcg@10".
    tolerance : float, default=None
        Largest distance of a match from the value. If None, half a unit of the last digit of the value: at least 1e-6
        and, unless the value is text, at most 5e-3; for values above 1, both limits are multiplied by the value.
    sample_weight : array-like of shape (n_documents,), or (n_queries,) if y_true is 2-D, default=None
        Weights of the queries in the mean, which must not vary within a query.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged, as in evaluate.

    Returns
    -------
    match : ConventionMatch
        Prints the ways that match, or the nearest if none does.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If the metric is unknown, the value is out of its range, or the data are invalid.

    See Also
    --------
    explain_difference : How much each difference between two conventions matters.

    Examples
    --------
    In query "a", a document of grade 1 is ranked above one of grade 2. With exponential gains, its NDCG is (1 + 3 /
    log2(3)) / (3 + 1 / log2(3)) = 0.7967. Query "b" has no relevant document. If it counts as 1, as in LightGBM, the
    mean is 0.8984:

    >>> from skrank_metrics import match_convention
    >>> match_convention([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"], value=0.8984)
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
    ways, alike, failed = all_ways(lists, bound, value)
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


def _rounded_up(distance: float) -> float:
    """Half a unit of a digit, at least the distance."""
    return 0.5 * 10.0 ** math.ceil(math.log10(2 * distance))

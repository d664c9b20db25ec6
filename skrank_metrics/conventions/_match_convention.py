"""Find the ways of computing a metric that give a known value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, product
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._engine.documents import taken
from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.ranked_blocks import TIE_POLICIES
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.parameters import check_number
from skrank_metrics._input.types import Ids, Numbers
from skrank_metrics._output.result import Column, Result, Section, Table
from skrank_metrics.conventions._explain_difference import (
    CAUSES,
    UNDEFINED,
    option_in_words,
    orders_by_id,
    rows_or_report,
)
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._options import IDEALS
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import bind, in_convention
from skrank_metrics.reports.ranking_report import RankingReport

# Values to try of each parameter, besides those of the conventions.
TRIED: dict[str, tuple[Any, ...]] = {
    "k": (None, 1, 3, 5, 10, 20, 50, 100, 1000),
    "gain": ("binary", "linear", "exp2"),
    "discount": ("log2", "jarvelin", "reciprocal"),
    "ideal": IDEALS,
    "normalizer": ("min", "relevant", "hits", "k"),
    "divisor": ("k", "retrieved", "min"),
    "ties": TIE_POLICIES,
    UNDEFINED: (0.0, 1.0, math.nan),
    "average": ("macro", "micro"),
}
# Grades from 2 to this one are tried as thresholds; with more of them, some would match by chance.
LARGEST_THRESHOLD = 5
AVERAGE = "average"
# What happens to values per query, after everything that depends on documents.
AFTERWARDS = (UNDEFINED, AVERAGE)
# The average reciprocal hit rank, which some call MRR.
ARHR = "dcg(gain=binary, discount=reciprocal)"
# Values that agree to so many decimals are equal up to rounding.
DECIMALS = 12
# Number of values per query that are in memory at a time.
MOST_VALUES = 4_000_000
# The tolerance is half a unit of the last digit, within these limits relative to the value: float32 values are rounded
# by less than the first. Numbers lose trailing zeros, so 0.8 may be 0.80, hence the second.
LEAST_TOLERANCE, LARGEST_TOLERANCE = 1e-6, 5e-3
# Number of different values that are printed.
MOST_PRINTED = 5
# Options of a metric, without those that have their default.
Options: TypeAlias = tuple[tuple[str, Any], ...]
WAY_COLUMNS = (
    "metric",
    "ways",
    Column("value", "{:.5f}".format),
    Column("distance", "{:+z.5f}".format),
    Column("as in", name="peers"),
)
CHECK = "Check that the value was computed from these labels, scores, ids and weights."


@dataclass(frozen=True, eq=False)
class Way:
    """One way of computing a metric."""

    value: float
    distance: float
    peers: tuple[str, ...]
    metric: BoundMetric
    by_id: bool = False
    missing: str = "zero"

    @property
    def name(self) -> str:
        """The metric, and what its parameters do not say."""
        name = str(self.metric)
        if self.by_id:
            name += ", ties by document id"
        return name if self.missing == "zero" else f"{name}, missing='skip'"


@dataclass(frozen=True, repr=False, eq=False)
class ConventionMatch(Result):
    """Ways of computing a metric, sorted by how near they come to a known value.

    Prints the values that match, or the nearest if none does, each with one of the ways that give it, their number, and
    the conventions that give it on these data. ``to_frame()`` gives these rows.

    Attributes
    ----------
    metric : str
        Name of the metric.
    value, tolerance : float
        The target value, and the largest distance of a match from it.
    ways : list of Way
        All ways that the labels allow, nearest first; among equally near ones, those of other libraries, then those
        closest to the defaults. Each has attributes ``value``; ``distance``, the value minus the target; ``peers``, the
        conventions that compute the metric this way, whatever the cutoff; ``metric``, to call or to pass to evaluate;
        and for lists by id, ``by_id``, whether tied documents are in the order of their ids, and ``missing``, "skip" if
        queries without a list are left out, as in evaluate_run.
    """

    metric: str
    value: float
    tolerance: float
    ways: list[Way]

    @property
    def matches(self) -> list[Way]:
        """The ways that give the value within the tolerance."""
        return [way for way in self.ways if abs(way.distance) <= self.tolerance + 10**-DECIMALS]

    def _brief(self) -> str:
        return f"{self.metric} = {self.value:.10g}, {len(self.ways)} ways"

    def _sections(self) -> list[Section]:
        n = len(self.matches)
        by_value: dict[float, list[Way]] = {}
        for way in self.matches or self.ways:
            by_value.setdefault(round(way.value, DECIMALS), []).append(way)
        rows = []
        for ways in list(by_value.values())[:MOST_PRINTED]:
            found = set(chain.from_iterable(way.peers for way in ways))
            peers = ", ".join(name for name in CONVENTIONS if name in found)
            rows.append((ways[0].name, len(ways), ways[0].value, ways[0].distance, peers))
        within = np.format_float_positional(self.tolerance, trim="-")
        title = (
            f"{self.metric} = {self.value:.10g}: {n or 'none'} of {len(self.ways)} ways of computing it "
            f"{'match' if n > 1 else 'matches'}, within {within}"
        )
        sections: list[Section] = [title, Table(WAY_COLUMNS, rows, wraps=True)]
        if n == 0:
            sections.append(f"These are the nearest. {CHECK}")
        conventions = dict.fromkeys(chain.from_iterable(way.peers for way in self.matches))
        if conventions:
            sections.append(f"Pass convention={' or '.join(map(repr, conventions))}.")
        return sections


def match_convention(
    y_true: Numbers | RankingReport,
    y_score: Numbers | None = None,
    *,
    qid: Ids | None = None,
    value: float,
    metric: MetricLike = "ndcg",
    tolerance: float | None = None,
) -> ConventionMatch:
    """Find the ways of computing a metric that give the value reported by another library or a paper.

    Tries the parameters of explain_difference: common values, and those of all conventions, in all combinations except
    those of an unusual discount with an unusual ideal. Ratios such as precision are also pooled over documents, queries
    without a list are also left out, and MRR is also ARHR, with a sum over hits: dcg(gain=binary, discount=reciprocal).
    No further ways are tried if the value has six digits or more, and a convention, or the change of one parameter
    besides the cutoff, gives it.

    Parameters
    ----------
    y_true, y_score, qid : array-like
        As in evaluate. For weights, masks and lists by id, pass only a RankingReport, that of evaluate or evaluate_run,
        as y_true.
    value : float
        The value to find.
    metric : str, metric function or bound metric, default="ndcg"
        Metric of the value. Parameters that it sets are not varied, such as the cutoff of "ndcg@10".
    tolerance : float, default=None
        Largest distance of a match from the value. If None, half a unit of the last digit of the value, from 1e-6 to
        5e-3; for values above 1, both limits are multiplied by the value.

    Returns
    -------
    match : ConventionMatch
        Prints the ways that match, or the nearest if none does.

    See Also
    --------
    explain_difference : How much each difference between two conventions matters.

    Examples
    --------
    The data of explain_difference, where LightGBM's NDCG is 0.8984:

    >>> from skrank_metrics.conventions import match_convention
    >>> print(match_convention([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"], metric="ndcg@10", value=0.8984))
    ndcg@10 = 0.8984: 19 of 279 ways of computing it match, within 0.00005
    metric                        ways    value  distance  as in
    ndcg(gain=exp2, ties=stable,    19  0.89835  -0.00005  lightgbm, xgboost
    replace_undefined_by=1.0)@10
    Pass convention='lightgbm' or 'xgboost'.
    """
    bound = bind(metric)
    bound.check_one_value()
    value = check_number(value, "value")
    tolerance = check_number(tolerance, "tolerance", "[0, inf)", other="None")
    if tolerance is None:
        tolerance = _half_a_unit(value)
    ranking = rows_or_report(y_true, y_score, qid)
    peers = {
        peer: in_convention(bound, peer)
        for peer, own in CONVENTIONS.items()
        if bound.record.name in own.names
    }
    bounds = {bound: peers}
    if bound.record.name == "mrr":
        bounds[bind(ARHR).replace(k=bound.k)] = {}
    rankings = [ranking.as_given()]
    if ranking.documents.document_ids is not None:
        rankings.append(ranking.by_id())
    ways: list[Way] = []
    # A match of six digits or more is no coincidence.
    is_exact = tolerance <= LEAST_TOLERANCE * max(1.0, abs(value))
    for likely in (True, False):
        for (one, of_one), seen in product(bounds.items(), rankings):
            ways += _ways(seen, one, of_one, value, likely)
        if is_exact and ConventionMatch(str(bound), value, tolerance, ways).matches:
            break
    # The nearest come first; among equally near ones, those of other libraries, then those with few changes.
    ways.sort(
        key=lambda way: (round(abs(way.distance), DECIMALS), not way.peers, len(way.metric.params))
    )
    return ConventionMatch(str(bound), value, tolerance, ways)


def _half_a_unit(value: float) -> float:
    """Half a unit of the last digit of a value, within limits."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    scale = max(1.0, abs(value))
    half = 0.5 * 10.0 ** int(exponent)
    return max(min(half, LARGEST_TOLERANCE * scale), LEAST_TOLERANCE * scale)


def _tried(
    ranking: Ranking, bound: BoundMetric, peers: Mapping[str, BoundMetric]
) -> dict[str, list[Options]]:
    """Settings of each parameter that the metric leaves open, without those that the labels do not allow."""
    tried: dict[str, list[Options]] = {}
    largest = ranking.documents.largest_label
    for name in (*CAUSES, AVERAGE):
        if not _is_open(bound, name):
            continue
        values = [*TRIED.get(name, ()), *(peer.get(name) for peer in peers.values())]
        if name == "relevance_threshold":
            values += range(2, int(min(largest, LARGEST_THRESHOLD)) + 1)
        # An ideal that is a number is a list of documents of this grade, most likely the highest one.
        if name == "ideal":
            values.append(float(largest))
        # Values are compared by their text, since NaN, one of them, is not equal to itself.
        distinct = {str(value): value for value in values}
        distinct.pop(str(bound.get(name)), None)
        settings: list[Options] = [(), *(((name, value),) for value in distinct.values())]
        if name in ("gain", "ideal"):
            settings = [setting for setting in settings if _is_allowed(ranking, bound, setting)]
        tried[name] = settings
    return tried


def _is_allowed(ranking: Ranking, bound: BoundMetric, setting: Options) -> bool:
    """Whether these labels have such gains, and no larger one than an ideal grade."""
    try:
        # Gains do not depend on ties, of which not all go with each ideal.
        per_query(ranking, [bound.replace(**dict(setting), ties="stable").computation])
    except ValueError:
        return False
    return True


def _is_open(bound: BoundMetric, name: str) -> bool:
    """Whether a parameter of a metric is not set and has an effect."""
    option = bound.record.options.get(name)
    # An option of a custom metric has a meaning of its own.
    is_custom = option is not None and option.annotation == "Any"
    is_idle = name == UNDEFINED and bound.always_defined
    is_not_pooled = name == AVERAGE and bound.record.pooled is not True
    if is_custom or is_idle or is_not_pooled:
        return False
    return name in bound.values and name not in bound.params


def _ways(
    ranking: Ranking,
    bound: BoundMetric,
    peers: Mapping[str, BoundMetric],
    value: float,
    likely: bool,
) -> Iterator[Way]:
    """The likely combinations that are valid and have a value, or all others."""
    tried = _tried(ranking, bound, peers)
    # Users of all libraries choose the cutoff.
    fixed = [name for name in tried if name != "k"]
    settings = {
        peer: _setting(metric, orders_by_id(peer, ranking), fixed) for peer, metric in peers.items()
    }
    listed = ranking.n_retrieved > 0
    kept = {"zero": np.arange(len(listed))}
    # Libraries that loop over the run never see the queries that it lacks.
    if listed.any() and not listed.all():
        kept["skip"] = np.flatnonzero(listed)
    # What is done with the values per query needs no second pass over the documents.
    afterwards = _combined(tried, [name for name in AFTERWARDS if name in tried])
    metrics = _metrics(ranking, bound, peers, tried, likely)
    at_once = max(1, MOST_VALUES // ranking.documents.n_queries)
    for first in range(0, len(metrics), at_once):
        some = metrics[first : first + at_once]
        results = per_query(ranking, [metric.computation for metric in some])
        for computed, result in zip(some, results, strict=True):
            for options, (missing, places) in product(afterwards, kept.items()):
                metric = computed.replace(**options)
                weights = taken(ranking.documents.weights, places)
                found = float(metric.aggregate(result.take(places), weights))
                # A mean over no defined query has no distance from the value.
                if not math.isnan(found):
                    setting = _setting(metric, ranking.is_by_id, fixed)
                    alike = tuple(peer for peer, own in settings.items() if own == setting)
                    yield Way(found, found - value, alike, metric, ranking.is_by_id, missing)


def _metrics(
    ranking: Ranking,
    bound: BoundMetric,
    peers: Mapping[str, BoundMetric],
    tried: Mapping[str, list[Options]],
    likely: bool,
) -> list[BoundMetric]:
    """The metrics of conventions and those with one change besides the cutoff, or all others."""
    before = [name for name in tried if name not in AFTERWARDS]
    fixed = [name for name in before if name != "k"]
    of_peers = {_setting(metric, False, fixed) for metric in peers.values()}
    metrics = []
    for options in _combined(tried, before):
        # Nobody has both; all combinations would take too long, and match by chance.
        if "ideal" in options and "discount" in options:
            continue
        # Some are words of other metrics, or do not go together.
        with suppress(ValueError):
            metric = bound.replace(**options)
            n_changed = len(options.keys() - {"k"})
            is_likely = n_changed <= 1 or _setting(metric, False, fixed) in of_peers
            has_order = metric.get("ties") == "stable" or not ranking.is_by_id
            if is_likely == likely and has_order:
                metrics.append(metric)
    return metrics


def _combined(tried: Mapping[str, list[Options]], names: list[str]) -> list[dict[str, Any]]:
    """All combinations of the settings of some parameters."""
    combinations = product(*(tried[name] for name in names))
    return [dict(chain.from_iterable(combination)) for combination in combinations]


def _setting(metric: BoundMetric, by_id: bool, names: list[str]) -> tuple[str, ...]:
    """Parameters of a metric, equal if they are computed alike."""
    return tuple(option_in_words(metric, by_id, name) for name in names)

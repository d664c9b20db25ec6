"""The facts of a report, each declared once: print, frame of means, dict and flat keys read them here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.grouping import group_rows
from skrank_metrics._output.result import Column
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.mean_intervals import (
    AVERAGES_WITHOUT_INTERVAL,
    Moments,
    bounds_of,
    mean_interval,
    moments,
)

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, eq=False)
class MetricValues:
    """The values of one metric, from which its facts are computed."""

    metric: BoundMetric
    result: PerQuery
    weights: FloatArray | None
    groups: NDArray[Any] | None

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.result.numerators)

    @cached_property
    def per_query(self) -> FloatArray:
        """One value per query; undefined values are replaced by ``replace_undefined_by``."""
        values = np.asarray(self.metric.aggregate(self.result, None, average=None))
        values.setflags(write=False)  # sorting them in place would part them from their queries
        return values

    @cached_property
    def mean(self) -> float:
        """Mean of the values of queries, without those that are NaN, or another average if the metric has one."""
        average = self.metric.average or "macro"
        return float(self.metric.aggregate(self.result, self.weights, average=average))

    @property
    def median(self) -> float:
        """Weighted median over queries."""
        return float(self.metric.aggregate(self.result, self.weights, average="median"))

    @property
    def std(self) -> float:
        """Weighted standard deviation over queries; queries with the value NaN are left out."""
        return moments(self.per_query, self.weights).std

    @property
    def n_undefined(self) -> int:
        """Number of queries for which the metric is undefined."""
        return int(np.isnan(self.result.values).sum())

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the mean; both ends are NaN if there is none."""
        if self.metric.average in AVERAGES_WITHOUT_INTERVAL:
            return np.nan, np.nan
        return mean_interval(self._moments, bounds_of(self.metric), confidence)

    @cached_property
    def _moments(self) -> Moments:
        """Mean and spread of what varies independently: queries, or groups of them."""
        values, weights = self.per_query, self.weights
        if self.metric.average == "micro":
            # A pooled ratio is the mean of the ratios of the queries, each weighted by its denominator.
            sizes = self.result.denominators
            weights = sizes if weights is None else sizes * weights
        if self.groups is not None:
            values, weights = _by_group(values, weights, self.groups)
        return moments(values, weights)


def values_of(ranking: Ranking, metrics: Mapping[Name, BoundMetric]) -> dict[Name, MetricValues]:
    """Several metrics of one ranking, computed in one pass."""
    results = per_query(ranking, [metric.computation for metric in metrics.values()])
    queries = ranking.documents.queries
    return {
        name: MetricValues(metric, result, queries.weights, queries.groups)
        for (name, metric), result in zip(metrics.items(), results, strict=True)
    }


def _by_group(
    values: FloatArray, weights: FloatArray | None, groups: NDArray[Any]
) -> tuple[FloatArray, FloatArray]:
    """Mean and total weight of each group; a mean over queries is the mean of these."""
    codes = group_rows(groups).codes
    # Values that are left out of the mean have no weight in their group.
    shares = np.where(np.isnan(values), 0.0, 1.0 if weights is None else weights)
    totals = np.bincount(codes, shares).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return np.bincount(codes, shares * np.nan_to_num(values)) / totals, totals


@dataclass(frozen=True)
class Fact:
    """Something known about a metric: its names in frames and dicts, its printed column, and how it is computed."""

    names: tuple[str, ...]
    head: str | None  # of the printed column; None if it is not printed
    compute: Callable[[MetricValues], Any]  # one number, or one for each of several names
    meaning: str = ""  # of the printed column, in a sentence
    of_slices: bool = False  # also printed of slices, whose tables have their number of queries
    is_optional: bool = False  # not in dicts if it is NaN

    @property
    def column(self) -> Column:
        """The printed column."""
        return Column(self.head, meaning=self.meaning)

    def named(self, values: MetricValues) -> dict[str, float]:
        """The numbers by name."""
        found = self.compute(values)
        numbers = found if len(self.names) > 1 else (found,)
        return dict(zip(self.names, numbers, strict=True))


# To add a fact, declare it here.
FACTS = (
    Fact(
        ("mean",), "mean", lambda values: values.mean, "Average over the queries.", of_slices=True
    ),
    Fact(
        ("low", "high"),
        "95% interval",
        lambda values: values.interval(),
        "The mean over all queries of this kind is probably between these numbers.",
        of_slices=True,
        is_optional=True,
    ),
    Fact(
        ("std",),
        "std over queries",
        lambda values: values.std,
        "Standard deviation, which shows how much the values of single queries differ.",
    ),
    Fact(("median",), None, lambda values: values.median),
    Fact(
        ("n_undefined",),
        "undefined queries",
        lambda values: values.n_undefined,
        "Queries that have no value of the metric, such as those without a relevant document.",
    ),
)
NAMES = tuple(name for fact in FACTS for name in fact.names)


def facts_of(values: MetricValues) -> dict[str, float]:
    """All facts by name, without those that do not exist."""
    found: dict[str, float] = {}
    for fact in FACTS:
        numbers = fact.named(values)
        if not (fact.is_optional and np.isnan(list(numbers.values())).any()):
            found |= numbers
    return found

"""The contents of a report that keeps no documents: sums and, optionally, values per query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.exact import ExactSum, products
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.health import Counts, Health
from skrank_metrics.reports.mean_intervals import Moments

NO_ROWS = "this report was made in batches and keeps no labels or scores"
NO_QUERIES = "this report was made with keep='means' and has no values per query; use keep='queries'"


class NoValues(dict[str, FloatArray]):
    """Stands in for the values per query if none were kept."""

    def __missing__(self, name: str) -> FloatArray:
        raise ValueError(f"per_query[{name!r}] is not available: {NO_QUERIES}.")


@dataclass
class Spread:
    """Exact sums of w, w x, w x^2, w^2, w^2 x and w^2 x^2 over queries with weight w and value x, and their range."""

    sums: list[ExactSum] = field(default_factory=lambda: [ExactSum() for _ in range(6)])
    extremes: tuple[float, float] = (np.inf, -np.inf)

    def add(self, values: FloatArray, weights: FloatArray | None) -> None:
        """Add queries; those with the value NaN or the weight 0 are left out."""
        weights = np.ones_like(values) if weights is None else weights
        counted = ~np.isnan(values) & (weights > 0)
        values, weights = values[counted], weights[counted]
        if not len(values):
            return
        powers = [[weights], products([weights], weights)]
        terms = []
        for of_weight in powers:
            once = products(of_weight, values)
            terms += [of_weight, once, products(once, values)]
        for total, parts in zip(self.sums, terms, strict=True):
            for part in parts:
                total.add(part)
        low, high = self.extremes
        self.extremes = min(low, float(values.min())), max(high, float(values.max()))

    def __iadd__(self, other: Spread) -> Spread:
        for mine, theirs in zip(self.sums, other.sums, strict=True):
            mine += theirs
        self.extremes = min(self.extremes[0], other.extremes[0]), max(self.extremes[1], other.extremes[1])
        return self

    def moments(self) -> Moments:
        """Mean and spread, as ``statistics.moments`` computes them from values."""
        w, wx, wxx, ww, wwx, wwxx = (total.fraction for total in self.sums)
        if not w:
            return Moments(np.nan, np.nan, 0.0, np.nan, (np.nan, np.nan))
        mean, n = wx / w, w * w / ww
        std, error = float(wxx / w - mean * mean) ** 0.5, np.nan
        if n > 1:
            error = float((wwxx - 2 * mean * wwx + mean * mean * ww) / (w * w) * n / (n - 1)) ** 0.5
        return Moments(float(mean), std, float(n), error, self.extremes)


@dataclass
class MetricSums:
    """Exact sums of one metric over queries."""

    mean: list[ExactSum] = field(default_factory=lambda: [ExactSum(), ExactSum()])  # numerator and denominator
    values: Spread = field(default_factory=Spread)
    pooled: Spread = field(default_factory=Spread)  # weighted by the denominators, if the metric is pooled

    def add(self, metric: BoundMetric, result: PerQuery, weights: FloatArray | None) -> None:
        """Add queries."""
        values = np.asarray(metric.aggregate(result, None, average=None))
        self.values.add(values, weights)
        if metric.average == "micro":
            self.pooled.add(values, result.denominators if weights is None else result.denominators * weights)
        for total, part in zip(self.mean, metric.terms(result, weights), strict=True):
            total.add(part)

    def __iadd__(self, other: MetricSums) -> MetricSums:
        for mine, theirs in zip(self.mean, other.mean, strict=True):
            mine += theirs
        self.values += other.values
        self.pooled += other.pooled
        return self


@dataclass(frozen=True)
class Totals:
    """Metrics with their results over queries whose documents were not kept."""

    metrics: Mapping[str, BoundMetric]
    results: Mapping[str, PerQuery]  # empty if only the sums were kept
    sums: Mapping[str, MetricSums]  # empty if the values of queries were kept
    weights: FloatArray | None
    n_all: IntArray  # documents per query; like the arrays below, empty if only the sums were kept
    sizes: IntArray  # judged documents
    digests: NDArray[np.uint64]  # of the labels of each query
    ids: NDArray[Any]
    health: Health
    n_undefined: dict[str, int]
    condensed: bool = False

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.health.n_queries

    @property
    def n_documents(self) -> int:
        """Number of documents of all queries."""
        return self.health.n_documents

    def without_caches(self) -> Totals:
        """Itself, as there are no intermediate results."""
        return self

    def mean(self, name: str) -> float:
        """Value over all queries; ``average=None`` is taken as the macro average."""
        metric = self.metrics[name]
        if self.results:
            return float(metric.aggregate(self.results[name], self.weights, average=metric.average or "macro"))
        terms, shares = self.sums[name].mean
        return metric.of_sums(float(terms), float(shares))

    def per_query(self, name: str) -> FloatArray:
        """One value per query, undefined ones replaced."""
        return np.asarray(self.metrics[name].aggregate(self.results[name], None, average=None))

    def part(self, queries: IntArray) -> Totals:
        """Select some of the queries."""
        if not self.results:
            raise ValueError(f"parts of a report need values per query; {NO_QUERIES}.")
        results = {name: PerQuery(r.numerators[queries], r.denominators[queries]) for name, r in self.results.items()}
        return replace(
            self,
            results=results,
            weights=None if self.weights is None else self.weights[queries],
            sizes=self.sizes[queries],
            digests=self.digests[queries],
            ids=self.ids[queries],
            health=Counts(n_queries=len(queries), n_documents=int(self.n_all[queries].sum())).of_a_part(),
            n_undefined={name: int(np.isnan(result.values).sum()) for name, result in results.items()},
            n_all=self.n_all[queries],
        )

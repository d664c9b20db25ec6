"""The values of several rankings by one metric, on the queries that count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.mean_intervals import ROUNDING, bounds_of, is_mean, moments
from skrank_metrics.reports.ranking_report import RankingReport


@dataclass(frozen=True, eq=False)
class Sample:
    """The values of all rankings, on the queries with a weight above 0 and a value in every ranking."""

    metric: str
    bound: BoundMetric
    names: tuple[str, ...]
    n_queries: int  # also those that do not count
    n_undefined: int  # queries without a value in some ranking
    means: FloatArray  # (n_rankings,)
    values: FloatArray  # (n_counted, n_rankings)
    queries: Queries  # that count

    @property
    def n_counted(self) -> int:
        """Number of queries that count."""
        return len(self.values)

    @property
    def weights(self) -> FloatArray:
        """Weights of the queries, 1 unless there are others."""
        given = self.queries.weights
        return np.ones(self.n_counted) if given is None else given

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values are better."""
        return bool(self.bound.greater_is_better)

    @property
    def can_be_tested(self) -> bool:
        """Whether there are two rankings, and the metric is a mean over queries."""
        return len(self.names) > 1 and is_mean(self.bound)

    @property
    def units(self) -> NDArray[Any]:
        """Ids of what is independent: queries, or groups of them."""
        return self.queries.ids if self.queries.groups is None else self.queries.groups

    def turned(self, values: FloatArray) -> FloatArray:
        """Values, or differences, of which larger ones are better."""
        return values if self.greater_is_better else -values

    @cached_property
    def order(self) -> list[int]:
        """Numbers of the rankings, best first; those without a mean last."""
        order: list[int] = np.argsort(-self.turned(self.means), kind="stable").tolist()
        return order

    @property
    def largest_loss(self) -> float:
        """The most that a query could lose: from the best value of all to the worst that the metric can have."""
        # Values can lie outside the range: replace_undefined_by may be -1.
        values = self.turned(self.values)
        worst = self.turned(np.array(bounds_of(self.bound))).min()
        return float(values.max() - values.min(initial=worst))

    def folds_won(self) -> dict[str, int]:
        """Folds in which each ranking alone has the best mean, by name; none for other averages, and without folds."""
        folds = self.queries.folds
        if folds is None or not is_mean(self.bound):
            return {}
        won = dict.fromkeys(self.names, 0)
        values = self.turned(self.values)
        for fold in np.unique(folds):
            means = np.average(values[folds == fold], axis=0, weights=self.weights[folds == fold])
            is_best = means >= means.max() - ROUNDING * abs(means.max())
            if is_best.sum() == 1:  # else the order of the rankings would choose a winner
                won[self.names[np.argmax(is_best)]] += 1
        return won


def sample_of(reports: Mapping[str, RankingReport], metric: str) -> Sample:
    """The values of reports over the same queries in the same order."""
    first = next(iter(reports.values()))
    bound = first.metrics[metric]
    values = np.stack([report.per_query[metric] for report in reports.values()], axis=1)
    # Pairs, intervals and letters must be about the same queries, or they could contradict each other.
    undefined = np.isnan(values)
    incomplete = undefined.any(axis=1)
    counts = ~incomplete
    if first.weights is not None:
        counts &= first.weights > 0
    queries = first.queries.take(np.flatnonzero(counts))
    # If a query without a value has none in any ranking, the means are those of the reports, to the last digit.
    alike = np.array_equal(incomplete, undefined.all(axis=1))
    if alike or not is_mean(bound):
        means = [report.mean[metric] for report in reports.values()]
    else:
        means = [moments(column, queries.weights).mean for column in values[counts].T]
    return Sample(
        metric,
        bound,
        names=tuple(reports),
        n_queries=len(values),
        n_undefined=int(incomplete.sum()),
        means=np.array(means),
        values=values[counts],
        queries=queries,
    )

"""Rankings by one metric: their means, the tests of pairs, and the set that contains the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports import verdict as words
from skrank_metrics.reports.mean_intervals import bounds_of, moments, quantile
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.sign_flips import BestSet, Family, Interval, SignFlips, without_rounding

# Power for the smallest detectable difference.
POWER = 0.8
NOTHING = (np.nan, (np.nan, np.nan), np.nan)


class Standing(NamedTuple):
    """What is known about one ranking."""

    name: str
    mean: float
    difference: float
    interval: Interval
    p_value: float
    status: str
    regret: float


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared.

    Attributes
    ----------
    first, second, metric : str
        Names of the rankings and of the metric.
    difference : float
        Mean of the first minus mean of the second.
    interval, simultaneous : tuple of float
        Interval of the difference for this pair alone, and one that holds together with those of all other pairs. They
        exclude 0 exactly if p_value, or p_adjusted, is at most 1 - confidence. NaN if the metric is unbounded and too
        few queries differ.
    p_value, p_adjusted : float
        P-value before and after the correction for the number of pairs.
    wins, ties, losses, n_queries : int
        Number of queries on which the first ranking is better, equal and worse, and of all that count.
    qid, differences : ndarray of shape (n_queries,)
        Ids of the queries with a value and a weight above 0, and their differences.
    values : tuple of two ndarrays of shape (n_queries,)
        Their values in the first and in the second ranking.
    verdict : {"better", "not worse", "worse", "undecided"}
        Read off the simultaneous interval: "better" if the first ranking is significantly better; "not worse", only
        with a margin, if it loses at most the margin or is equal on all of at least 6 queries; else "worse" if it is
        significantly worse.
    """

    first: str
    second: str
    metric: str
    difference: float
    interval: Interval
    simultaneous: Interval
    p_value: float
    p_adjusted: float
    wins: int
    ties: int
    losses: int
    n_queries: int
    qid: NDArray[Any]
    differences: FloatArray
    values: tuple[FloatArray, FloatArray]
    verdict: str


class QueryDifference(NamedTuple):
    """A query with the values of two rankings and their difference."""

    qid: Any
    first: float
    second: float
    difference: float


class Standings:
    """The rankings of a Comparison by one of its metrics. Nothing is computed before it is asked for."""

    def __init__(self, comparison: Any, metric: str) -> None:
        self.comparison, self.metric = comparison, metric
        self.names: tuple[str, ...] = comparison.names
        self.report: RankingReport = next(iter(comparison.reports.values()))
        self.bound: BoundMetric = self.report.metrics[metric]
        self.greater_is_better = bool(self.bound.greater_is_better)
        # A single ranking has nothing to be compared with, and other averages have no values per query.
        self.tested = len(self.names) > 1 and is_mean(self.bound)

    def values(self, *names: str) -> FloatArray:
        """Values of some rankings, of shape (n_queries, n_names)."""
        return np.stack([self.comparison.reports[name].per_query[self.metric] for name in names], axis=1)

    @cached_property
    def used(self) -> Mask:
        """Whether each query counts: it has a weight above 0 and a value in every ranking."""
        defined: Any = ~np.isnan(self.values(*self.names)).any(axis=1)
        return defined if self.report.weights is None else defined & (self.report.weights > 0)

    @property
    def _weights(self) -> FloatArray | None:
        return None if self.report.weights is None else self.report.weights[self.used]

    @cached_property
    def means(self) -> dict[str, float]:
        """Means over the queries with a value in every ranking."""
        undefined = np.isnan(values := self.values(*self.names))
        if not is_mean(self.bound) or (undefined.any(axis=1) == undefined.all(axis=1)).all():
            return {name: report.mean[self.metric] for name, report in self.comparison.reports.items()}
        columns = zip(self.names, values[self.used].T, strict=True)
        return {name: moments(column, self._weights).mean for name, column in columns}

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(words.best_first(self.means, greater_is_better=self.greater_is_better))

    def check(self) -> None:
        """Refuse a metric that cannot be tested."""
        check_by_query(self.metric, self.bound)
        if len(self.names) < 2:
            raise ValueError(f"reports must hold at least two reports to compare; got {len(self.names)}.")
        if not self.used.any():
            raise ValueError(
                f"reports must have a query with a weight above 0 and a value of {self.metric!r} in every ranking; got "
                f"none among {counted(self.report.n_queries, 'query')}. Leave out the metric, or evaluate with "
                "replace_undefined_by=0 to count queries without a value."
            )

    @cached_property
    def flips(self) -> SignFlips:
        """Tests of all pairs. Larger values are better."""
        own, report, used = self.comparison, self.report, self.used
        values, (low, high) = self.values(*self.names)[used], bounds_of(self.bound)
        return SignFlips(
            values if self.greater_is_better else -values,
            np.ones(len(values)) if self._weights is None else self._weights,
            _unit_hashes(report.qid if report.groups is None else report.groups)[used],
            own.random_state,
            own.test,
            high - low,
            None if own.folds is None else own.folds[used],
            enumerates=own._whole is None,
        )

    @cached_property
    def _corrected(self) -> list[Standings]:
        """What is corrected together: this alone, or all slices with a query to compare."""
        whole = self.comparison._whole
        if whole is None:
            return [self]
        return [part for own in whole.slices.values() if (part := own.by_metric(self.metric)).used.any()]

    @cached_property
    def family(self) -> Family:
        """The tests that are corrected together; those of slices belong to the first of them."""
        self.check()
        if self._corrected[0] is not self:
            return self._corrected[0].family
        own = self.comparison
        base = None if own.baseline is None else self.names.index(own.baseline)
        return Family([part.flips for part in self._corrected], own.level, own.correction, base)

    @cached_property
    def number(self) -> int:
        """The number of these rankings among the parts of the family."""
        return next(number for number, part in enumerate(self._corrected) if part is self)

    @cached_property
    def best(self) -> BestSet:
        """The tests of each ranking against all others."""
        return self.family.best_set(self.number)

    @property
    def best_set(self) -> tuple[str, ...]:
        """The rankings that may be the best, best first."""
        inside = dict(zip(self.names, self.best.inside, strict=True))
        return tuple(name for name in self.ranked if inside[name])

    @property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses, with confidence, by name; infinite if unknown."""
        return dict(zip(self.names, self.best.regret.tolist(), strict=True))

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name, best first; two rankings share one exactly if they do not differ significantly."""
        places = [self.names.index(name) for name in self.ranked]
        adjusted = replace(self.family, baseline=None).p_adjusted[self.number]
        return words.letters(self.ranked, adjusted[np.ix_(places, places)] <= self.comparison.level)

    @property
    def verdict(self) -> str:
        """What is known about the best ranking, in one or two sentences."""
        return words.of_standings(self) if len(self.names) > 1 else ""

    def pair(self, first: str, second: str) -> Pair:
        """Two rankings."""
        i, j = self.names.index(first), self.names.index(second)
        p, adjusted, interval, together = self.family.tested(self.number, i, j)
        one, other = without_rounding(self.values(first, second)[self.used]).T
        differences = one - other
        better = differences if self.greater_is_better else -differences
        return Pair(
            first,
            second,
            self.metric,
            difference=moments(differences, self._weights).mean,
            interval=self._directed(interval),
            simultaneous=self._directed(together),
            p_value=p,
            p_adjusted=adjusted,
            wins=int((better > 0).sum()),
            ties=int((better == 0).sum()),
            losses=int((better < 0).sum()),
            n_queries=len(differences),
            qid=self.report.qid[self.used],
            differences=differences,
            values=(one, other),
            verdict=words.of_pair(together, self.comparison.margin, 0 if differences.any() else len(differences)),
        )

    def _directed(self, ends: Interval) -> Interval:
        """An interval of differences that are better if larger, in the direction of the metric."""
        return ends if self.greater_is_better else (0.0 - ends[1], 0.0 - ends[0])

    @cached_property
    def rows(self) -> tuple[Standing, ...]:
        """One row per ranking, best first."""
        if not self.tested:
            return tuple(Standing(name, self.means[name], *NOTHING, "", np.nan) for name in self.ranked)
        rows = self._against_best() if self.comparison.baseline is None else self._against_baseline()
        return tuple(Standing(name, self.means[name], *row, self.regret[name]) for name, row in rows)

    def _against_best(self) -> Iterator[tuple[str, tuple[float, Interval, float, str]]]:
        may_be = self.best_set
        for number, name in enumerate(self.ranked):
            place = self.names.index(name)
            lead = self.means[name] - self.means[self.ranked[0 if number else 1]]
            first = "best" if len(may_be) == 1 else "leads"
            status = "worse" if name not in may_be else "may be best" if number else first
            low, high = self.best.intervals[place].tolist()
            yield name, (lead, self._directed((low, high)), float(self.best.p_values[place]), status)

    def _against_baseline(self) -> Iterator[tuple[str, tuple[float, Interval, float, str]]]:
        base = str(self.comparison.baseline)
        for name in self.ranked:
            if name == base:
                yield name, (*NOTHING, "baseline")
            else:
                pair = self.pair(name, base)
                yield name, (pair.difference, pair.simultaneous, pair.p_adjusted, pair.verdict)

    @property
    def folds_won(self) -> dict[str, int]:
        """Number of folds in which each ranking has the best mean, by name; empty unless they are out of fold."""
        if self.comparison.folds is None:
            return {}
        of_used = np.where(self.used, self.comparison.folds, -1)
        rows = [np.flatnonzero(of_used == fold) for fold in np.unique(of_used[of_used >= 0])]
        won = [self.comparison._part(row).by_metric(self.metric).ranked[0] for row in rows]
        return {name: won.count(name) for name in self.names}

    @property
    def detectable(self) -> float:
        """The difference that is detected with a power of 0.8: the median over the rivals of one ranking."""
        row = self.flips.row(self.names.index(self.comparison.baseline or self.names[0]))
        found = (self.critical + quantile(2 * POWER - 1, np.inf)) * np.maximum(row.error, row.fold_error)
        return float(self.flips.scale * np.median(found[found > 0])) if found.any() else np.nan

    @property
    def critical(self) -> FloatArray:
        """Critical values of each ranking against another one, for the question that is asked."""
        if self.comparison.baseline is None:
            return self.best.critical
        return np.full(len(self.names), self.family.critical)

    def error_of(self, pair: Pair) -> float:
        """Standard error of the difference of a pair; 0 if all differences are equal."""
        row = self.flips.row(self.names.index(pair.first))
        return float(row.error[self.names.index(pair.second)])

    def queries_needed(self, pair: Pair, wanted: float, power: float, error: float) -> int:
        """Number of queries needed to detect a difference between two rankings with this power."""
        spread = error * self.flips.scale * self.flips.n_effective**0.5
        most, normal = float(np.abs(pair.differences).max()), quantile(abs(2 * power - 1), np.inf)
        critical = self.critical[self.names.index(pair.second)]
        needed = _units_needed(wanted / spread, most / spread, critical, normal if power > 0.5 else -normal)
        return int(np.ceil(needed * pair.n_queries / self.flips.n_effective))


def is_mean(metric: BoundMetric) -> bool:
    """Whether a metric is a mean over queries."""
    return metric.average in ("macro", None)


def check_by_query(name: str, metric: BoundMetric) -> None:
    """Refuse metrics that are not means over queries."""
    if not is_mean(metric):
        raise ValueError(
            f"metric must be a mean over queries; got {name!r}, which has average={metric.average!r} and cannot be "
            "compared per query. Evaluate without this average."
        )


def _unit_hashes(ids: NDArray[Any]) -> Any:
    """A number per query or group that does not depend on its place, if the ids can be recognized anywhere."""
    try:
        return hash_ids(ids)
    except (TypeError, ValueError):
        numbers: dict[Any, int] = {}
        return hash_ids(np.array([numbers.setdefault(one, len(numbers)) for one in as_python(ids)]))


def _units_needed(effect: float, most: float, critical: float, normal: float) -> float:
    """Number of units at which the test rejects; effect and largest difference in standard deviations."""
    n = 6.0
    for _ in range(100):
        spread = (1 + effect**2 + most**2 / (2 * n)) ** 0.5
        n = max(6.0, (critical * spread + normal) ** 2 / effect**2)
    return n

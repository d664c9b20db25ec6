"""What is known about several rankings by one metric on one set of queries, in numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, p_text, signed
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.families import BestSet, Family, Interval
from skrank_metrics.reports.letters import letters
from skrank_metrics.reports.mean_intervals import ROUNDING, bounds_of, is_mean, moments
from skrank_metrics.reports.plan import Plan
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.sign_flips import SignFlips, without_rounding
from skrank_metrics.reports.signs import hash_units

PairVerdict: TypeAlias = Literal["better", "not worse", "worse", "undecided"]
Status: TypeAlias = Literal["best", "leads", "may be best", "baseline", "", PairVerdict]

NO_INTERVAL: Interval = (math.nan, math.nan)


@dataclass(frozen=True, eq=False, repr=False)
class Pair(Result):
    """Two rankings compared.

    The verdict follows from the simultaneous interval: "better" or "worse" if significant; "not worse", only with a
    margin, if no loss in the interval is as large; else "undecided". Intervals exclude 0 exactly if p_value, or
    p_adjusted, is at most 1 - confidence; NaN if too few values of an unbounded metric differ.
    """

    first: str
    second: str
    metric: str
    difference: float  # mean of the first minus mean of the second
    interval: Interval  # of the difference, for this pair alone
    simultaneous: Interval  # which holds together with those of all other pairs
    p_value: float
    p_adjusted: float  # corrected for the number of pairs
    wins: int  # number of queries on which the first is better
    ties: int
    losses: int
    n_queries: int  # with a value and a weight above 0
    qid: NDArray[Any] = field(repr=False)
    differences: FloatArray = field(repr=False)  # of shape (n_queries,)
    # Values of the first and of the second, by query.
    values: tuple[FloatArray, FloatArray] = field(repr=False)
    verdict: PairVerdict

    def _brief(self) -> str:
        return f"{self.first} - {self.second} by {self.metric}, {signed(self.difference)}, {self.verdict}"

    def _parts(self) -> list[Part]:
        columns = (
            Column("", str, "family"),
            Column(f"{self.first} - {self.second}", signed, "difference"),
            Column("interval", signed),
            Column("p", p_text),
        )
        rows = [
            ("this pair alone", self.difference, self.interval, self.p_value),
            ("with all pairs", self.difference, self.simultaneous, self.p_adjusted),
        ]
        wins = f"{self.first} is better on {self.wins} of {counted(self.n_queries, 'query')}"
        return [
            f"{self.metric}: {self.first} against {self.second}: {self.verdict}",
            Table(columns, rows),
            f"{wins}, {self.second} on {self.losses}.",
        ]


class Standing(NamedTuple):
    """What is known about one ranking.

    The status is "best" (alone), "leads", "may be best" or "worse". A ranking is compared with the best other one that
    may be the best; one that is worse, with the best one that is significantly better. The difference, the simultaneous
    interval and the adjusted p-value are those of this pair; so the interval excludes 0 exactly if the status is "best"
    or "worse". With a baseline, they are those of the ranking and the baseline, and the status is the pair's verdict.
    """

    name: str
    mean: float
    difference: float = math.nan
    interval: Interval = NO_INTERVAL
    p_value: float = math.nan
    status: Status = ""
    regret: float = math.nan
    rival: str = ""  # that it is compared with


@dataclass(frozen=True, eq=False)
class Sample:
    """The values of all rankings by one metric, on the queries that count."""

    metric: str
    bound: BoundMetric
    names: tuple[str, ...]
    n_queries: int  # also those that do not count
    n_undefined: int  # queries without a value in some ranking, which do not count
    means: FloatArray  # (n_rankings,)
    counts: Mask  # (n_queries,); whether a query has a weight above 0 and a value in every ranking
    # Of the queries that count, one row per query:
    values: FloatArray  # (n_counted, n_rankings)
    qid: NDArray[Any]
    weights: FloatArray | None
    units: NDArray[Any]  # ids of what is independent: queries, or groups of them
    is_grouped: bool
    folds: IntArray | None

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values are better."""
        return bool(self.bound.greater_is_better)

    @property
    def n_counted(self) -> int:
        """Number of queries that count."""
        return len(self.values)

    @property
    def can_be_tested(self) -> bool:
        """Whether there are two rankings, and the metric is a mean over queries."""
        return len(self.names) > 1 and is_mean(self.bound)

    @cached_property
    def order(self) -> list[int]:
        """Numbers of the rankings, best first; those without a mean last."""
        keys = self.means if not self.greater_is_better else -self.means
        return sorted(range(len(keys)), key=lambda i: (math.isnan(keys[i]), keys[i]))


def sample_of(reports: Mapping[str, RankingReport], metric: str) -> Sample:
    """The values of reports over the same queries in the same order."""
    first = next(iter(reports.values()))
    bound, weights = first.metrics[metric], first.weights
    values = np.stack([report.per_query[metric] for report in reports.values()], axis=1)
    undefined = np.isnan(values)
    incomplete = undefined.any(axis=1)
    counts: Mask = np.logical_not(incomplete)
    if weights is not None:
        counts &= weights > 0
        weights = weights[counts]
    alike = bool(np.all(incomplete == undefined.all(axis=1)))
    if alike or not is_mean(bound):
        means = [report.mean[metric] for report in reports.values()]
    else:
        means = [moments(column, weights).mean for column in values[counts].T]
    return Sample(
        metric,
        bound,
        tuple(reports),
        n_queries=len(values),
        n_undefined=int(incomplete.sum()),
        means=np.array(means),
        counts=counts,
        values=values[counts],
        qid=first.qid[counts],
        weights=weights,
        units=(first.qid if first.groups is None else first.groups)[counts],
        is_grouped=first.groups is not None,
        folds=None if first.folds is None else first.folds[counts],
    )


@dataclass(frozen=True, eq=False)
class JointTests:
    """Samples whose tests are corrected together: that of all queries, or those of all slices."""

    samples: Sequence[Sample]
    plan: Plan
    are_slices: bool = False

    def __getstate__(self) -> dict[str, Any]:  # without what was computed
        return {"samples": self.samples, "plan": self.plan, "are_slices": self.are_slices}

    @cached_property
    def family(self) -> Family:
        """The tests of all pairs in all samples. Larger values are better."""
        plan, names = self.plan, self.samples[0].names
        baseline = None if plan.baseline is None else names.index(plan.baseline)
        flips = [self._flips_of(sample) for sample in self.samples]
        return Family(flips, plan.level, plan.correction, baseline)

    def _flips_of(self, sample: Sample) -> SignFlips:
        low, high = bounds_of(sample.bound)
        n_counted = len(sample.values)
        return SignFlips(
            sample.values if sample.greater_is_better else -sample.values,
            np.ones(n_counted) if sample.weights is None else sample.weights,
            hash_units(sample.units),
            self.plan.random_state,
            self.plan.test,
            high - low,
            sample.folds,
            enumerates=not self.are_slices,
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is known by one metric on one set of queries. Rankings are numbered in the order of ``names``."""

    tests: JointTests
    place: int = 0  # of the sample among those that are tested together

    def __getstate__(self) -> dict[str, Any]:  # without what was computed
        return {"tests": self.tests, "place": self.place}

    @property
    def plan(self) -> Plan:
        """What was asked."""
        return self.tests.plan

    @property
    def sample(self) -> Sample:
        """The values."""
        return self.tests.samples[self.place]

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.sample.metric

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rankings."""
        return self.sample.names

    @property
    def margin(self) -> float | None:
        """The loss that does not matter; None if none is given."""
        return self.plan.margin_of(self.metric)

    @property
    def ranked(self) -> tuple[str, ...]:
        """Names of the rankings, best first."""
        return tuple(self.names[i] for i in self.sample.order)

    @property
    def tested(self) -> bool:
        """Whether there is a test."""
        return self.sample.can_be_tested

    @property
    def flips(self) -> SignFlips:
        """The tests of this sample."""
        return self.tests.family.parts[self.place]

    def better_than(self, name: str) -> list[str]:
        """Names of the rankings that are significantly better than one, best first."""
        i = self.names.index(name)
        totals = self.flips.totals
        p_values = self.tests.family.decided(self.place)[i]
        better = (p_values <= self.plan.level) & (totals > totals[i])
        return [self.names[j] for j in self.sample.order if better[j]]

    def equal_to(self, name: str) -> list[str]:
        """Names of the rankings that have the same values as one on every query that counts, itself included."""
        values = without_rounding(self.sample.values)
        is_equal = (values == values[:, [self.names.index(name)]]).all(axis=0)
        return [self.names[j] for j in self.sample.order if is_equal[j]]

    @cached_property
    def best(self) -> BestSet:
        """The rankings that may be the best, by their numbers."""
        return self.tests.family.best_set(self.place)

    @property
    def best_set(self) -> tuple[str, ...]:
        """Names of the rankings that may be the best, best first."""
        return tuple(self.names[i] for i in self.sample.order if self.best.inside[i])

    @cached_property
    def means(self) -> dict[str, float]:
        """Means by name, over the queries that count."""
        return dict(zip(self.names, self.sample.means.tolist(), strict=True))

    @cached_property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses, by name."""
        return dict(zip(self.names, self.best.regret.tolist(), strict=True))

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name, best first."""
        order = self.sample.order
        decided = self.tests.family.decided(self.place)[np.ix_(order, order)]
        return dict(zip(self.ranked, letters(decided <= self.plan.level), strict=True))

    def pairs(self, names: Iterable[str]) -> list[Pair]:
        """All pairs, those that are named earlier first, or all rankings and the baseline."""
        baseline = self.plan.baseline
        if baseline is None:
            return [self.pair(one, other) for one, other in itertools.combinations(names, 2)]
        return [self.pair(name, baseline) for name in names if name != baseline]

    def pair(self, first: str, second: str) -> Pair:
        """Two rankings; the second is subtracted."""
        sample, i, j = self.sample, self.names.index(first), self.names.index(second)
        p, adjusted, interval, together = self.tests.family.tested(self.place, i, j)
        one, other = without_rounding(sample.values[:, [i, j]]).T
        differences = one - other
        better = differences if sample.greater_is_better else -differences
        return Pair(
            first,
            second,
            sample.metric,
            difference=moments(differences, sample.weights).mean,
            interval=self._directed(interval),
            simultaneous=self._directed(together),
            p_value=p,
            p_adjusted=adjusted,
            wins=int((better > 0).sum()),
            ties=int((better == 0).sum()),
            losses=int((better < 0).sum()),
            n_queries=len(differences),
            qid=sample.qid,
            differences=differences,
            values=(one, other),
            verdict=self._verdict(together),
        )

    def _directed(self, ends: Interval) -> Interval:
        """An interval of differences that are better if larger, in the direction of the metric."""
        if self.sample.greater_is_better:
            return ends
        low, high = ends
        return (0.0 - high, 0.0 - low)

    def _verdict(self, ends: Interval) -> PairVerdict:
        """Verdict from an interval of a difference, where larger is better."""
        low, high = ends
        margin = self.margin
        if low > 0:
            return "better"
        if margin is not None and low > -margin and not self.accepts_any_loss:
            return "not worse"
        return "worse" if high < 0 else "undecided"

    @property
    def largest_loss(self) -> float:
        """The most that a query could lose: from the best value of all to the worst that the metric can have."""
        values = self.sample.values
        low, high = bounds_of(self.sample.bound)
        if self.sample.greater_is_better:
            return float(values.max() - values.min(initial=low))
        return float(values.max(initial=high) - values.min())

    @property
    def accepts_any_loss(self) -> bool:
        """Whether no loss is larger than the margin, so that it must not let a ranking pass.

        So it is, for example, if no query has a relevant document.
        """
        return self.margin is not None and self.largest_loss <= self.margin

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """What is known about each ranking, best first."""
        return tuple(self._standings())

    def _standings(self) -> Iterator[Standing]:
        baseline = self.plan.baseline
        for name in self.ranked:
            if not self.tested:
                yield Standing(name, self.means[name])
            elif name == baseline:
                yield Standing(name, self.means[name], status="baseline", regret=self.regret[name])
            elif baseline is not None:
                yield self._against_baseline(name, baseline)
            else:
                yield self._against_best(name)

    def _against_baseline(self, name: str, baseline: str) -> Standing:
        pair = self.pair(name, baseline)
        return Standing(
            name,
            self.means[name],
            pair.difference,
            pair.simultaneous,
            pair.p_adjusted,
            pair.verdict,
            self.regret[name],
            baseline,
        )

    def _against_best(self, name: str) -> Standing:
        i = self.names.index(name)
        rival = self.names[self.best.rivals[i]]
        low, high = self.best.intervals[i].tolist()
        return Standing(
            name,
            self.means[name],
            self.means[name] - self.means[rival],
            self._directed((low, high)),
            float(self.best.p_values[i]),
            self._status(i),
            self.regret[name],
            rival,
        )

    def _status(self, i: int) -> Status:
        if not self.best.inside[i]:
            return "worse"
        if i != self.sample.order[0]:
            return "may be best"
        return "leads" if self.best.inside.sum() > 1 else "best"

    @property
    def folds_won(self) -> dict[str, int]:
        """Number of folds in which each ranking has the best mean; empty for other averages, and without folds."""
        sample = self.sample
        if sample.folds is None or not is_mean(sample.bound):
            return {}
        won = dict.fromkeys(self.names, 0)
        for fold in np.unique(sample.folds):
            queries = sample.folds == fold
            weights = None if sample.weights is None else sample.weights[queries]
            means = [moments(column, weights).mean for column in sample.values[queries].T]
            won[self.names[_place_of_best(means, larger=sample.greater_is_better)]] += 1
        return won


def _place_of_best(means: Sequence[float], *, larger: bool) -> int:
    """The first of the best means, despite rounding."""
    array = np.array(means) if larger else -np.array(means)
    best = array.max()
    return int(np.argmax(array >= best - ROUNDING * abs(best)))


def outcome_of(reports: Mapping[str, RankingReport], metric: str, plan: Plan) -> Outcome:
    """Compare rankings by a metric on all queries."""
    return Outcome(JointTests([sample_of(reports, metric)], plan))


def outcomes_of_slices(
    slices: Mapping[Any, Mapping[str, RankingReport]], metric: str, plan: Plan
) -> dict[Any, Outcome]:
    """Compare rankings by a metric in all slices in which a query counts, corrected together."""
    samples = {value: sample_of(reports, metric) for value, reports in slices.items()}
    counted = {value: sample for value, sample in samples.items() if sample.counts.any()}
    tests = JointTests(list(counted.values()), plan, are_slices=True)
    return {value: Outcome(tests, place) for place, value in enumerate(counted)}

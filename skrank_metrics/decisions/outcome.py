"""What is known about several rankings by one metric on one set of queries: a decision with names and directions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics._input.parameters import check_int
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import (
    Column,
    Result,
    Rows,
    Section,
    Table,
    counted,
    p_text,
    signed,
)
from skrank_metrics.decisions.decide import Decision, Status, Verdict, decide
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.decisions.signs import Sample
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.mean_intervals import ROUNDING, bounds_of, is_mean, moments
from skrank_metrics.reports.ranking_report import RankingReport, subset
from skrank_metrics.reports.report_data import data_of

Interval: TypeAlias = tuple[float, float]
Gate: TypeAlias = Literal["ship", "do not ship", "undecided"]

NO_INTERVAL: Interval = (math.nan, math.nan)


class Standing(NamedTuple):
    """What is known about one ranking.

    It is compared with a reference, whose mean is subtracted: the leader, or the baseline that says least in its
    favour. The reference itself, and baselines, have NaN. The interval is simultaneous. The status is "best" (all
    others are worse), "highest", "may be as good" or "worse"; with baselines, "better", "equivalent", "not worse",
    "small loss", "undecided", "worse" or "baseline".
    """

    name: str
    mean: float
    difference: float = math.nan
    interval: Interval = NO_INTERVAL
    p_value: float = math.nan
    status: Status = ""
    regret: float = math.nan  # the most that choosing it loses; NaN with baselines
    reference: str = ""
    worse_than: str = ""  # a ranking that is better, if the leader is not known to be


@dataclass(frozen=True, eq=False, repr=False)
class Pair(Result):
    """Two rankings compared.

    The verdict follows from the interval: "better" or "worse" if it excludes 0, that is if ``p_adjusted`` is at most
    1 - confidence. With a margin, and the second a baseline, it can be "equivalent", "not worse" or "small loss"; else
    it is "undecided". With baselines, two rankings of which not exactly one is a baseline are not compared, and have
    NaN.
    """

    first: str
    second: str
    metric: str
    difference: float  # mean of the first minus mean of the second
    interval: Interval  # of the difference, simultaneous with those of all other pairs
    p_value: float  # of this pair alone; out of fold, the variance is pooled over all pairs
    p_adjusted: float  # corrected for the number of pairs
    wins: int  # number of queries on which the first is better
    ties: int
    losses: int
    qid: NDArray[Any]
    values: tuple[FloatArray, FloatArray]  # of the first and of the second, by query
    verdict: Verdict

    @property
    def differences(self) -> FloatArray:
        """Values of the first minus those of the second, by query."""
        return self.values[0] - self.values[1]

    def _brief(self) -> str:
        return f"{self.first} - {self.second} by {self.metric}, {signed(self.difference)}, {self.verdict}"

    def _sections(self) -> list[Section]:
        columns = (
            Column(f"{self.first} - {self.second}", signed, "difference"),
            Column("interval", signed),
            Column("p alone", p_text),
            Column("p with all pairs", p_text),
        )
        row = (self.difference, self.interval, self.p_value, self.p_adjusted)
        queries = counted(len(self.qid), "query")
        return [
            f"{self.metric}: {self.first} against {self.second}: {self.verdict}",
            Table(columns, [row]),
            f"{self.first} is better on {self.wins} of {queries}, {self.second} on {self.losses}.",
        ]


@dataclass(frozen=True, eq=False)
class Family:
    """Outcomes by one metric that are decided together once something is asked for: those of all slices."""

    outcomes: Sequence[Outcome]

    @cached_property
    def decisions(self) -> list[Decision]:
        """A decision per outcome."""
        first, plan = self.outcomes[0], self.outcomes[0].plan
        return decide(
            [outcome.sample() for outcome in self.outcomes],
            level=plan.level,
            baselines=[first.names.index(name) for name in plan.baselines],
            margin=first.margin,
            seed=plan.random_state,
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """Values of all rankings by one metric, on the queries with a weight above 0 and a value in every ranking."""

    metric: str
    bound: BoundMetric
    plan: Plan
    names: tuple[str, ...]
    means: FloatArray  # (n_rankings,)
    values: FloatArray  # (n_counted, n_rankings)
    queries: Queries  # that count
    n_queries: int  # also those that do not count
    n_undefined: int  # queries without a value in some ranking
    family: Family | None = None  # that it is decided with; None if alone
    place: int = 0  # in the family

    @cached_property
    def decision(self) -> Decision:
        """What is known, in numbers; the rankings are those of ``names``, and larger is better.

        It is made when something is asked for, as most comparisons have metrics and slices that nobody looks at.
        """
        family = self.family or Family([self])
        return family.decisions[self.place]

    def sample(self) -> Sample:
        """What is decided about: larger values are better."""
        queries = self.queries
        low, high = sorted(self.turned(np.array(bounds_of(self.bound))).tolist())
        return Sample(
            self.turned(self.values),
            self.turned(self.means),
            np.ones(len(self.values)) if queries.weights is None else queries.weights,
            hash_ids(queries.ids if queries.groups is None else queries.groups),
            (low, high),
            queries.folds,
        )

    @property
    def tested(self) -> bool:
        """Whether there are two rankings, and the metric is a mean over queries."""
        return len(self.names) > 1 and is_mean(self.bound)

    @property
    def margin(self) -> float | None:
        """The loss that does not matter; None if none is given."""
        return self.plan.margin_of(self.metric)

    def turned(self, values: FloatArray) -> FloatArray:
        """Values, or differences, of which larger ones are better."""
        return values if self.bound.greater_is_better else 0.0 - values

    @cached_property
    def order(self) -> list[int]:
        """Numbers of the rankings, best first; those without a mean last."""
        order: list[int] = np.argsort(-self.turned(self.means), kind="stable").tolist()
        return order

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Names of the rankings, best first."""
        return tuple(self.names[i] for i in self.order)

    def by_name(self, of_rankings: Iterable[Any]) -> dict[str, Any]:
        """What is known of the rankings by their names, best first."""
        found = list(of_rankings)
        return {self.names[i]: found[i] for i in self.order}

    def folds_won(self) -> dict[str, int]:
        """Folds in which each ranking alone has the best mean, by name; none for other averages, and without folds."""
        folds = self.queries.folds
        if folds is None or not is_mean(self.bound):
            return {}
        won = dict.fromkeys(self.names, 0)
        sample = self.sample()
        for fold in np.unique(folds):
            own = folds == fold
            means = np.average(sample.values[own], axis=0, weights=sample.weights[own])
            is_best = means >= means.max() - ROUNDING * abs(means.max())
            if is_best.sum() == 1:  # else the order of the rankings would choose a winner
                won[self.names[np.argmax(is_best)]] += 1
        return won

    # Pairs

    def pairs(self, names: Iterable[str]) -> list[Pair]:
        """All pairs, those that are named earlier first, or all rankings and each baseline."""
        baselines = self.plan.baselines
        if not baselines:
            return [self.pair(one, other) for one, other in itertools.combinations(names, 2)]
        others = [name for name in names if name not in baselines]
        return [self.pair(name, baseline) for name in others for baseline in baselines]

    def pair(self, first: str, second: str) -> Pair:
        """Two rankings; the second is subtracted."""
        i, j = self.names.index(first), self.names.index(second)
        decision = self.decision
        one, other = self.values[:, [i, j]].T
        lead = self.turned(one - other)
        wins, losses = int((lead > decision.tie).sum()), int((lead < -decision.tie).sum())
        return Pair(
            first,
            second,
            self.metric,
            difference=float(self.means[i] - self.means[j]),
            interval=self._interval(i, j),
            p_value=float(decision.p_value[i, j]),
            p_adjusted=float(decision.p_adjusted[i, j]),
            wins=wins,
            ties=len(lead) - wins - losses,
            losses=losses,
            qid=self.queries.ids,
            values=(one, other),
            verdict=decision.verdict(i, j),
        )

    def _interval(self, i: int, j: int) -> Interval:
        """The simultaneous interval in the direction of the metric; NaN if these rankings are not compared."""
        decision = self.decision
        if np.isnan(decision.p_adjusted[i, j]):
            return NO_INTERVAL
        low, high = sorted(
            self.turned(np.array([decision.low[i, j], decision.high[i, j]])).tolist()
        )
        return low, high

    # Standings

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """What is known about each ranking, best first."""
        return tuple(self._standing(i) for i in self.order)

    def _standing(self, i: int) -> Standing:
        name, mean = self.names[i], float(self.means[i])
        if not self.tested:
            return Standing(name, mean)
        decision = self.decision
        status = decision.statuses[i]
        regret = math.nan if decision.baselines else float(decision.regret[i])
        reference = int(decision.references[i])
        if i == reference or i in decision.baselines:
            return Standing(name, mean, status=status, regret=regret)
        worse_than = ""
        if status == "worse" and not decision.better[reference, i]:
            better = decision.order[decision.better[decision.order, i]]
            worse_than = self.names[better[0]]
        return Standing(
            name,
            mean,
            # The difference of means as they are printed, so that a reader can check it.
            difference=mean - float(self.means[reference]),
            interval=self._interval(i, reference),
            p_value=float(decision.p_adjusted[i, reference]),
            status=status,
            regret=regret,
            reference=self.names[reference],
            worse_than=worse_than,
        )


def outcome_of(reports: Mapping[str, RankingReport], metric: str, plan: Plan) -> Outcome:
    """Take the values of reports over the same queries in the same order, of which some may be NaN."""
    first = next(iter(reports.values()))
    bound = first.metrics[metric]
    values = np.stack([report.per_query[metric] for report in reports.values()], axis=1)
    # Pairs, intervals and letters must be about the same queries, or they could contradict each other.
    undefined = np.isnan(values)
    incomplete = undefined.any(axis=1)
    counts = ~incomplete
    if first.weights is not None:
        counts &= first.weights > 0
    queries = data_of(first).queries.take(np.flatnonzero(counts))
    # If a query without a value has none in any ranking, the means are those of the reports, to the last digit.
    alike = np.array_equal(incomplete, undefined.all(axis=1))
    if alike or not is_mean(bound):
        means = [report.mean[metric] for report in reports.values()]
    else:
        means = [moments(column, queries.weights).mean for column in values[counts].T]
    return Outcome(
        metric,
        bound,
        plan,
        names=tuple(reports),
        means=np.array(means),
        values=values[counts],
        queries=queries,
        n_queries=len(values),
        n_undefined=int(incomplete.sum()),
    )


def outcomes_of_slices(
    slices: Mapping[Any, Mapping[str, RankingReport]], metric: str, plan: Plan
) -> dict[Any, Outcome]:
    """Compare rankings by a metric in all slices in which a query counts, decided together."""
    found = {value: outcome_of(reports, metric, plan) for value, reports in slices.items()}
    # Other slices have no values to test.
    not_empty = {value: outcome for value, outcome in found.items() if len(outcome.values)}
    family = Family(list(not_empty.values()))
    return {
        value: replace(outcome, family=family, place=place)
        for place, (value, outcome) in enumerate(not_empty.items())
    }


def split_outcomes(
    reports: Mapping[str, RankingReport],
    slices: Iterable[tuple[Any, IntArray]],
    metrics: Sequence[str],
    plan: Plan,
) -> dict[Any, tuple[dict[str, RankingReport], dict[str, Outcome]]]:
    """Reports and outcomes by metric of each slice, given by its queries, in which a query counts."""
    parts = {}
    for value, queries in slices:
        parts[value] = {name: subset(report, queries) for name, report in reports.items()}
    by_metric = {metric: outcomes_of_slices(parts, metric, plan) for metric in metrics}
    found = {}
    for value in by_metric[metrics[0]]:
        # For other metrics, it may be that no query of the slice counts.
        outcomes = {metric: own[value] for metric, own in by_metric.items() if value in own}
        found[value] = parts[value], outcomes
    return found


# The gate: one decision for text and exit codes


def gate_of(names: Sequence[str], outcomes: Sequence[Outcome]) -> dict[str, Gate]:
    """The decision on each of some rankings by several metrics, each at its own confidence."""
    statuses = [{row.name: row.status for row in outcome.standings} for outcome in outcomes]
    return {name: _gate([own[name] for own in statuses]) for name in names}


def _gate(statuses: Sequence[Status]) -> Gate:
    # No correction for the number of metrics is needed: that all must pass does not make errors more frequent.
    if "worse" in statuses:
        return "do not ship"
    return "undecided" if "undecided" in statuses else "ship"


def worst_of(gates: Iterable[Gate]) -> Gate:
    """One decision: all rankings must pass."""
    found = set(gates)
    if "do not ship" in found:
        return "do not ship"
    return "undecided" if "undecided" in found else "ship"


# Single queries


class QueryDifference(NamedTuple):
    """A query with the values of two rankings and their difference."""

    qid: Any
    first: float
    second: float
    difference: float


def largest_leads(pair: Pair, lead: FloatArray, n: int) -> list[QueryDifference]:
    """At most n queries of a pair with a lead above 0, the largest first; it prints as a table."""
    order = np.argsort(-lead, kind="stable")[: check_int(n, "n", 1)]
    order = order[lead[order] > 0]
    ids = as_python(pair.qid[order])
    columns = (*pair.values, pair.differences)
    values = [column[order].tolist() for column in columns]
    heads = (pair.first, pair.second, "difference")
    return Rows(map(QueryDifference, ids, *values), heads=heads)


def most_different(pair: Pair, n: int) -> list[Any]:
    """Ids of the n queries on which two rankings differ most."""
    order = np.argsort(-np.abs(pair.differences), kind="stable")
    return as_python(pair.qid[order[:n]])

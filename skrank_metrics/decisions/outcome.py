"""What is known about several rankings by one metric on one set of queries, in numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics.decisions.families import BestSet, Family, Interval
from skrank_metrics.decisions.letters import letters
from skrank_metrics.decisions.pair import Pair, PairVerdict
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.decisions.sign_flips import SignFlips, hash_units, without_rounding
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.mean_intervals import ROUNDING, bounds_of, is_mean, moments
from skrank_metrics.reports.ranking_report import RankingReport

Status: TypeAlias = Literal["best", "leads", "may be best", "baseline", "", PairVerdict]

NO_INTERVAL: Interval = (math.nan, math.nan)
# Verdicts on a ranking, those that say least in its favour first.
_LEAST_FIRST: tuple[PairVerdict, ...] = ("worse", "undecided", "not worse", "better")


class Standing(NamedTuple):
    """What is known about one ranking.

    The status is "best" (alone), "leads", "may be best" or "worse". A ranking is compared with the best other one that
    may be the best; one that is worse, with the best one that is significantly better. The difference, the simultaneous
    interval and the adjusted p-value are those of this pair; so the interval excludes 0 exactly if the status is "best"
    or "worse". With a baseline, they are those of the ranking and the baseline, and the status is the pair's verdict;
    with several, those of the baseline that says least in favour of the ranking, which is the rival.
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


@dataclass(frozen=True, eq=False)
class JointTests:
    """Samples whose tests are corrected together: that of all queries, or those of all slices."""

    samples: Sequence[Sample]
    plan: Plan
    are_slices: bool = False

    # It is made when something is asked for, as most comparisons have metrics and slices that nobody looks at.
    @cached_property
    def family(self) -> Family:
        """The tests of all pairs in all samples. Larger values are better."""
        plan, names = self.plan, self.samples[0].names
        baselines = [names.index(name) for name in plan.baselines]
        flips = [self._flips_of(sample) for sample in self.samples]
        return Family(flips, plan.level, plan.correction, baselines)

    def _flips_of(self, sample: Sample) -> SignFlips:
        low, high = bounds_of(sample.bound)
        return SignFlips(
            sample.turned(sample.values),
            sample.weights,
            hash_units(sample.units),
            self.plan.random_state,
            self.plan.test,
            span=high - low,
            folds=sample.queries.folds,
            enumerates=not self.are_slices,
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is known by one metric on one set of queries."""

    tests: JointTests
    place: int = 0  # of the sample among those that are tested together

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
    def tested(self) -> bool:
        """Whether there is a test."""
        return self.sample.can_be_tested

    @property
    def flips(self) -> SignFlips:
        """The tests of this sample."""
        return self.tests.family.parts[self.place]

    def by_name(self, numbers: FloatArray) -> dict[str, float]:
        """Numbers of the rankings by their names, best first."""
        return {self.names[i]: float(numbers[i]) for i in self.sample.order}

    def best_first(self, wanted: Mask) -> tuple[str, ...]:
        """Names of some of the rankings, best first."""
        return tuple(self.names[i] for i in self.sample.order if wanted[i])

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Names of the rankings, best first."""
        return tuple(self.means)

    @cached_property
    def means(self) -> dict[str, float]:
        """Means by name, over the queries that count."""
        return self.by_name(self.sample.means)

    @property
    def leaders(self) -> list[str]:
        """Names of the rankings with the best mean; of several, it is by chance which comes first."""
        best = self.means[self.ranked[0]]
        return [name for name, mean in self.means.items() if mean == best]

    # What differs

    def better_than(self, name: str) -> tuple[str, ...]:
        """Names of the rankings that are significantly better than one, best first."""
        # The tests are about totals; means of reports may differ in the last digit where totals are equal.
        i, totals = self.names.index(name), self.flips.totals
        differs = self.tests.family.deciding_p_values(self.place)[i] <= self.plan.level
        return self.best_first(differs & (totals > totals[i]))

    @cached_property
    def best_numbers(self) -> BestSet:
        """The rankings that may be the best, by their numbers."""
        return self.tests.family.best_set(self.place)

    @property
    def best_set(self) -> tuple[str, ...]:
        """Names of the rankings that may be the best, best first."""
        return self.best_first(self.best_numbers.inside)

    @cached_property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses, by name."""
        return self.by_name(self.best_numbers.regret)

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name, best first."""
        order = self.sample.order
        p_values = self.tests.family.deciding_p_values(self.place)[np.ix_(order, order)]
        return dict(zip(self.ranked, letters(p_values <= self.plan.level), strict=True))

    # Pairs

    def pairs(self, names: Iterable[str]) -> list[Pair]:
        """All pairs, those that are named earlier first, or all rankings and each baseline."""
        baselines = self.plan.baselines
        if not baselines:
            return [self.pair(one, other) for one, other in itertools.combinations(names, 2)]
        candidates = [name for name in names if name not in baselines]
        return [pair for name in candidates for pair in self.against_baselines(name)]

    def against_baselines(self, name: str) -> list[Pair]:
        """A ranking and each baseline."""
        return [self.pair(name, baseline) for baseline in self.plan.baselines]

    def deciding(self, name: str) -> Pair:
        """A ranking and the baseline that says least in its favour: by the verdict, then by the difference.

        So the ranking is better, or not worse, only if it is so against all baselines.
        """

        def favour(pair: Pair) -> tuple[int, float]:
            sign = 1 if self.sample.greater_is_better else -1
            return _LEAST_FIRST.index(pair.verdict), sign * pair.difference

        return min(self.against_baselines(name), key=favour)

    def pair(self, first: str, second: str) -> Pair:
        """Two rankings; the second is subtracted."""
        sample, i, j = self.sample, self.names.index(first), self.names.index(second)
        test = self.tests.family.pair(self.place, i, j)
        # A query on which both differ in the last digit only is a tie, not a win.
        one, other = without_rounding(sample.values[:, [i, j]]).T
        differences = one - other
        signs = np.sign(sample.turned(differences)).astype(int)
        losses, ties, wins = np.bincount(signs + 1, minlength=3).tolist()
        return Pair(
            first,
            second,
            sample.metric,
            difference=moments(differences, sample.queries.weights).mean,
            interval=self._directed(test.interval),
            simultaneous=self._directed(test.simultaneous),
            p_value=test.p_value,
            p_adjusted=test.p_adjusted,
            wins=wins,
            ties=ties,
            losses=losses,
            n_queries=sample.n_counted,
            qid=sample.queries.ids,
            differences=differences,
            values=(one, other),
            verdict=self._verdict(test.simultaneous),
        )

    def _directed(self, ends: Interval) -> Interval:
        """An interval of differences that are better if larger, in the direction of the metric."""
        if self.sample.greater_is_better:
            return ends
        low, high = ends
        return (0.0 - high, 0.0 - low)  # no -0.0

    def _verdict(self, ends: Interval) -> PairVerdict:
        """Verdict from an interval of a difference, where larger is better."""
        # Shifting the differences by the margin, and testing them, would be too liberal if few queries differ.
        low, high = ends
        margin = self.margin
        if low > 0:
            return "better"
        if margin is not None and low > -margin and not self.accepts_any_loss:
            return "not worse"
        return "worse" if high < 0 else "undecided"

    @property
    def accepts_any_loss(self) -> bool:
        """Whether no loss is larger than the margin, so that it must not let a ranking pass.

        So it is, for example, if no query has a relevant document.
        """
        return self.margin is not None and self.sample.largest_loss <= self.margin

    # Standings

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """What is known about each ranking, best first."""
        return tuple(self._standing(name) for name in self.ranked)

    @property
    def by_verdict(self) -> dict[PairVerdict, list[str]]:
        """Names by what is known about them beside baselines, best first; what is decided comes first."""
        names: dict[PairVerdict, list[str]] = {}
        for verdict in get_args(PairVerdict):
            names[verdict] = [row.name for row in self.standings if row.status == verdict]
        return names

    def _standing(self, name: str) -> Standing:
        mean, baselines = self.means[name], self.plan.baselines
        if not self.tested:
            return Standing(name, mean)
        regret = self.regret[name]
        if name in baselines:
            return Standing(name, mean, status="baseline", regret=regret)
        if baselines:
            pair = self.deciding(name)
            known = (pair.difference, pair.simultaneous, pair.p_adjusted, pair.verdict)
            return Standing(name, mean, *known, regret, rival=pair.second)
        i = self.names.index(name)
        j = int(self.best_numbers.rivals[i])
        rival = self.names[j]
        test = self.tests.family.pair(self.place, i, j)
        status: Status = "worse"
        if self.best_numbers.inside[i]:
            status = "may be best"
            if name == self.ranked[0]:
                status = "leads" if self.best_numbers.inside.sum() > 1 else "best"
        # The difference of means as they are printed, so that a reader can check it.
        difference = mean - self.means[rival]
        interval = self._directed(test.simultaneous)
        return Standing(name, mean, difference, interval, test.p_adjusted, status, regret, rival)

    def status_of(self, row: Standing) -> str:
        """The status in words, which name the ranking that it is worse than unless it is the leader or a baseline."""
        usual = self.plan.baselines or self.ranked[:1]
        if row.status == "worse" and row.rival not in usual:
            return f"worse than {row.rival}"
        return row.status


def sample_of(reports: Mapping[str, RankingReport], metric: str) -> Sample:
    """The values of reports over the same queries in the same order, of which some may be NaN."""
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


def outcome_of(reports: Mapping[str, RankingReport], metric: str, plan: Plan) -> Outcome:
    """Compare rankings by a metric on all queries."""
    return Outcome(JointTests([sample_of(reports, metric)], plan))


def outcomes_of_slices(
    slices: Mapping[Any, Mapping[str, RankingReport]], metric: str, plan: Plan
) -> dict[Any, Outcome]:
    """Compare rankings by a metric in all slices in which a query counts, corrected together."""
    samples = {value: sample_of(reports, metric) for value, reports in slices.items()}
    # Other slices have no values to test.
    not_empty = {value: sample for value, sample in samples.items() if sample.n_counted}
    tests = JointTests(list(not_empty.values()), plan, are_slices=True)
    return {value: Outcome(tests, place) for place, value in enumerate(not_empty)}

"""Decide between rankings of the same queries: randomised Tukey HSD in a single step, and the intervals that invert it.

All pairs of a family are compared with one distribution, that of the largest statistic under random signs of the units
(Carterette 2012, https://doi.org/10.1145/2094072.2094076). Its quantile is the critical value of every pair and of the
simultaneous intervals. Everything that is said follows from these intervals.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics.decisions.signs import TIED, PairTests, Sample, divided, null_statistics, square

Verdict: TypeAlias = Literal[
    "worse", "undecided", "small loss", "not worse", "equivalent", "better"
]
Status: TypeAlias = Literal["best", "highest", "may be as good", "baseline", "", Verdict]

# Verdicts, those that say least in favour of a ranking first.
_LEAST_FIRST: tuple[Verdict, ...] = (
    "worse",
    "undecided",
    "small loss",
    "not worse",
    "equivalent",
    "better",
)


class Skew(NamedTuple):
    """A pair whose few queries on one side weigh more than the many on the other.

    If all differences are equal, ``n_tail`` is 0.
    """

    first: int
    second: int
    n_tail: int  # units on which the second is better than the first, by much
    ratio: float  # mean size of differences on these units, divided by that on the others


@dataclass(frozen=True, eq=False)
class Decision:
    """What is known of the rankings of one sample. Rankings are numbers: the columns of the sample.

    Matrices are (n_rankings, n_rankings), about the ranking of a row minus that of a column; larger is better. Pairs
    outside the family, and the diagonal, have NaN for ``p_adjusted`` and infinite ends. Differences, ends, spreads and
    errors are in the units of the metric. Units are queries, or groups of queries.
    """

    level: float  # the probability of any wrong difference
    baselines: tuple[int, ...]  # compared with all others; without any, all pairs are compared
    margin: float | None  # the loss that does not matter; only with baselines

    means: FloatArray  # (n_rankings,)
    difference: FloatArray
    low: FloatArray  # simultaneous interval
    high: FloatArray
    p_value: FloatArray  # of each pair alone; out of fold, the variance is pooled over all pairs
    p_adjusted: FloatArray
    spread: FloatArray  # standard deviation of the differences of units
    largest: FloatArray  # largest absolute difference of a unit
    n_won: FloatArray  # number of units on which the ranking of the row is better
    gain: FloatArray  # mean difference on these units
    asymmetry: FloatArray  # skewness of the differences, divided by the root of n_units
    fold_error: FloatArray  # standard error of the mean that allows for other training data; 0 if not out of fold

    critical: float  # what the statistic of a pair must exceed
    n_tests: int  # pairs in the family, in all samples that are decided together
    n_queries: int
    n_units: int
    n_effective: float  # number of units of equal weight as informative
    n_degrees: float  # of freedom of fold_error
    folds_vary: bool  # whether differences vary more between folds than queries explain
    span: float  # largest difference possible, infinite if the metric has no bound
    largest_loss: (
        float  # the most that a query can lose: from the best value of all to the worst possible
    )
    tie: float  # smaller differences of queries are rounding
    step: float  # the difference of the two values if there are no others, else 0

    @cached_property
    def order(self) -> IntArray:
        """The rankings, best first."""
        return np.argsort(-self.means, kind="stable")

    @cached_property
    def better(self) -> Mask:
        """Whether the ranking of a row is significantly better than that of a column."""
        return np.asarray(np.greater(self.low, 0.0), dtype=np.bool_)

    @property
    def least_units(self) -> int:
        """So many units must differ before the test can reject."""
        return int(np.ceil(1 - np.log2(self.level)))

    @property
    def n_changed(self) -> FloatArray:
        """Number of units that differ, by pair."""
        return self.n_won + self.n_won.T

    @property
    def is_too_few(self) -> bool:
        """Whether so few units differ, in every pair of the family, that nothing can be shown."""
        in_family = ~np.isnan(self.p_adjusted)
        return bool(self.n_changed[in_family].max(initial=0.0) < self.least_units)

    @property
    def effect(self) -> FloatArray:
        """Mean difference divided by the standard deviation of the differences; 0 if that is 0."""
        return divided(self.difference, self.spread)

    # All pairs

    @cached_property
    def inside(self) -> Mask:
        """The rankings that may be the best: no other is significantly better."""
        return np.logical_not(self.better.any(axis=0))

    @cached_property
    def regret(self) -> FloatArray:
        """The most that choosing a ranking loses against one that may be the best; 0 for the best one alone.

        A ranking has at least the regret of those with a larger mean, so the leader has the least.
        """
        may_gain = np.where(self.inside[:, None], self.high, -np.inf)
        np.fill_diagonal(may_gain, 0.0)  # nothing against itself
        regret = may_gain.max(axis=0)
        is_ahead_or_equal = self.difference >= 0
        return np.asarray(np.where(is_ahead_or_equal, regret[:, None], 0.0).max(axis=0))

    @cached_property
    def letters(self) -> list[str]:
        """Letters of the rankings, of which two share one if and only if they do not differ significantly.

        They come in the order of the rankings, best first.
        """
        differs = (self.better | self.better.T)[np.ix_(self.order, self.order)]
        texts = np.empty(len(differs), dtype=object)
        texts[self.order] = letters(differs)
        return texts.tolist()

    # What is said about each ranking

    @cached_property
    def references(self) -> IntArray:
        """The ranking that each is compared with: the baseline that says least in its favour, else the leader."""
        if not self.baselines:
            return np.full(len(self.means), self.order[0])
        return np.array([self._deciding(i) for i in range(len(self.means))])

    def _deciding(self, i: int) -> int:
        """The baseline that says least in favour of a ranking: by the verdict, then by the difference."""
        return min(
            self.baselines,
            key=lambda j: (_LEAST_FIRST.index(self.verdict(i, j)), self.difference[i, j]),
        )

    @cached_property
    def statuses(self) -> list[Status]:
        """What is known of each ranking."""
        if self.baselines:
            statuses: list[Status] = [
                self.verdict(i, int(j)) for i, j in enumerate(self.references)
            ]
            for i in self.baselines:
                statuses[i] = "baseline"
            return statuses
        return [self._status(i) for i in range(len(self.means))]

    def _status(self, i: int) -> Status:
        if not self.inside[i]:
            return "worse"
        if self.inside.sum() == 1:
            return "best"
        leader = self.order[0]
        is_level = i == leader or self.difference[i, leader] >= 0
        return "highest" if is_level else "may be as good"

    def verdict(self, i: int, j: int) -> Verdict:
        """What the simultaneous interval says about a ranking and another, or a baseline."""
        low, high = self.low[i, j], self.high[i, j]
        if low > 0:
            return "better"
        # No loss is larger than such a margin, so it must not let a ranking pass.
        if self.margin is not None and self.margin < self.largest_loss and low > -self.margin:
            if high < 0:
                return "small loss"
            return "equivalent" if high < self.margin else "not worse"
        return "worse" if high < 0 else "undecided"

    # What to beware of

    @cached_property
    def skew(self) -> Skew | None:
        """The most skewed pair of the family, if something is claimed that few queries could turn round."""
        passes = {"equivalent", "not worse", "small loss"}
        if not self.better.any() and passes.isdisjoint(self.statuses):
            return None
        return self._equal_differences() or self._largest_tail()

    def _equal_differences(self) -> Skew | None:
        is_equal = self.better & (self.spread == 0) & (self.n_won == self.n_units)
        for i, j in np.argwhere(is_equal):
            return Skew(int(i), int(j), 0, 1.0)
        return None

    def _largest_tail(self) -> Skew | None:
        # The second ranking is better on few queries, by much.
        ratio = divided(self.gain.T, self.gain)
        is_twice = ratio >= 2 - TIED
        # Many queries show how often they differ, whatever the tail.
        is_few = self.n_won > self.n_won.T
        is_skewed = (self.asymmetry <= -0.2) & is_twice & is_few & ~np.isnan(self.p_adjusted)
        if not is_skewed.any():
            return None
        # A pair that is claimed says more to a reader than another one.
        is_claimed = is_skewed & self.better
        if is_claimed.any():
            is_skewed = is_claimed
        i, j = np.unravel_index(np.argmax(np.where(is_skewed, ratio, 0.0)), ratio.shape)
        return Skew(int(i), int(j), int(self.n_won[j, i]), float(ratio[i, j]))


# From samples to decisions


def decide(
    samples: Sequence[Sample],
    *,
    level: float = 0.05,
    baselines: Sequence[int] = (),
    margin: float | None = None,
    seed: int = 0,
) -> list[Decision]:
    """Compare rankings in one sample, or in several slices, whose pairs are one family.

    Each sample has the same rankings, at least two.
    """
    tests = [PairTests(sample) for sample in samples]
    one, other = np.isin(np.triu_indices(samples[0].values.shape[1], 1), baselines)
    in_family = (one != other) | (not baselines)
    n_tests = int(in_family.sum()) * len(tests)
    p_values, largest = _permute(tests, in_family, seed)
    largest.sort()
    critical = _quantile(largest, level)
    decisions = []
    for sample, own, p_value in zip(samples, tests, p_values, strict=True):
        n_reaching = len(largest) - np.searchsorted(largest, own.least_z, side="left")
        p_adjusted = np.maximum(n_reaching / len(largest), own.least_p)
        p_adjusted[~in_family] = np.nan
        low, high = own.intervals(critical, level, n_tests)
        low[~in_family], high[~in_family] = -np.inf, np.inf
        decision = Decision(
            level=level,
            baselines=tuple(baselines),
            margin=margin,
            means=sample.means,
            low=square(low, 0.0 - high, -np.inf),
            high=square(high, 0.0 - low, np.inf),
            p_value=square(p_value, p_value, np.nan),
            p_adjusted=square(p_adjusted, p_adjusted, np.nan),
            critical=critical,
            n_tests=n_tests,
            **own.facts(),
        )
        decisions.append(decision)
    return decisions


def _permute(
    tests: Sequence[PairTests], in_family: Mask, seed: int
) -> tuple[FloatArray, FloatArray]:
    """P-values of each pair alone, (n_samples, n_pairs), and the largest statistic of the family, (n_signs,)."""
    p_values = np.empty((len(tests), len(in_family)))
    largest = np.zeros(1)
    for number, own in enumerate(tests):
        start = 0
        for null in null_statistics(own.units, own.pairs, seed, enumerates=len(tests) == 1):
            row = slice(start, start + len(null))
            p_values[number, row] = np.mean(null >= own.least_z[row, None], axis=1)
            largest = np.maximum(largest, null[in_family[row]].max(axis=0, initial=0.0))
            start += len(null)
        p_values[number] = np.maximum(p_values[number], own.least_p)
    return p_values, largest


def _quantile(ascending: FloatArray, level: float) -> float:
    """The smallest value of a null distribution that at most a share ``level`` of it exceeds."""
    # A product such as 0.29 * 100 is rounded to slightly less than the whole number.
    place = len(ascending) - 1 - int(np.floor(level * len(ascending) + 1e-9))
    return float(ascending[place])


# Letters


def letters(different: Mask) -> list[str]:
    """Letters of items, of which two share one if and only if they are not different.

    A compact letter display (Piepho 2004, https://doi.org/10.1198/1061860043515). Each letter is a clique of items that
    are not different, found greedily (Gramm et al. 2007), so that the work is bounded by the number of pairs.
    """
    texts = [""] * len(different)
    for number, clique in enumerate(_cliques(different)):
        for item in clique:
            texts[item] += _letter(number)
    return texts


def _letter(number: int) -> str:
    """The letter with a number, or beyond the alphabet the number in parentheses."""
    if number < len(string.ascii_letters):
        return string.ascii_letters[number]
    return f"({number + 1})"


def _cliques(different: Mask) -> list[list[int]]:
    """Sets of items that are not different, in order, which together cover all pairs that are not."""
    alike = ~different
    np.fill_diagonal(alike, val=False)
    cliques = [[int(item)] for item in np.flatnonzero(~alike.any(axis=0))]
    # Each pair that is not different needs a letter of its own, unless an earlier one has covered it.
    uncovered = alike.copy()
    while uncovered.any():
        clique = np.argwhere(uncovered)[0].tolist()
        candidates = alike[clique].all(axis=0)
        # Those are added first that cover most pairs.
        while candidates.any():
            gain = uncovered[clique].sum(axis=0)
            clique.append(int(np.argmax(np.where(candidates, gain, -1))))
            candidates &= alike[clique[-1]]
        uncovered[np.ix_(clique, clique)] = False
        cliques.append(sorted(clique))
    return sorted(cliques)

"""Decide which candidates of a race are dropped, given their values per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask

# Differences below this share of a value are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Rules:
    """The rules by which candidates are dropped.

    The winner of the grid search has the best mean of fold means, so the test is about these. The level, 1 -
    confidence, is split evenly over the folds after which candidates can be dropped, and over all candidates but one,
    since any of them may lead (Bonferroni). The winner of the grid search is then dropped with a probability of at most
    1 - confidence, whatever the true differences: if values are normal and queries independent, the difference between
    a mean so far and the final mean is independent of all final means.
    """

    n_candidates: int
    n_folds: int  # candidates can be dropped after all but the last
    confidence: float = 0.95
    indifference: float = 0.0
    min_queries: int = 30

    @property
    def level(self) -> float:
        """Largest adjusted p-value with which a candidate is dropped."""
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1


@dataclass(frozen=True)
class FoldValues:
    """Values per query of all candidates in one fold; larger is better."""

    ids: NDArray[Any]  # of the queries
    values: FloatArray  # (n_candidates, n_queries); NaN for undefined queries and for candidates that did not run
    # (n_queries,), False if the metric is undefined for the query, even if its value was replaced
    defined: Mask
    weights: FloatArray | None = None  # (n_queries,)


@dataclass(frozen=True)
class LeaderGap:
    """A candidate compared with the leader, on the folds so far."""

    leader: int
    difference: float  # mean over folds, leader minus candidate
    p_adjusted: float  # for the number of candidates and folds; NaN if there are too few queries to test


@dataclass(frozen=True)
class _Lead:
    """The leader minus each of the others, on the queries of one fold."""

    means: FloatArray
    squares: FloatArray  # sums around the means, in units of queries of equal weight
    n_effective: float  # as many queries of equal weight have the same variance of the mean (Kish 1965)
    tested: list[Any]  # queries with a defined value and a weight


def _lead(fold: FoldValues, leader: int, others: Sequence[int]) -> _Lead:
    weights = np.ones(len(fold.ids)) if fold.weights is None else fold.weights
    counted = ~np.isnan(fold.values[leader]) & (weights > 0)
    best, weights = fold.values[leader, counted], weights[counted]
    differences = best - fold.values[np.ix_(others, counted)]
    differences[np.abs(differences) <= _ROUNDING * np.abs(best)] = 0
    total = weights.sum()
    means = differences @ weights / total if total else np.full(len(others), np.nan)
    n_effective = total**2 / (weights**2).sum() if total else 0.0
    squares = (differences - means[:, None]) ** 2 @ weights * (n_effective / total if total else 0.0)
    return _Lead(means, squares, n_effective, fold.ids[counted & fold.defined].tolist())


def standings(
    folds: Sequence[FoldValues], n_queries: IntArray, leader: int, others: Sequence[int], rules: Rules
) -> dict[int, LeaderGap]:
    """Compare candidates with the leader by one-sided t-tests of the mean of fold means at the end of the race.

    Fold means so far and to come are independent samples of queries, of a variance that is pooled within folds. The
    mean of all folds can only differ from that so far by what is still to come.
    """
    leads = [_lead(fold, leader, others) for fold in folds]
    differences = np.mean([lead.means for lead in leads], axis=0)
    n_effective = np.array([lead.n_effective for lead in leads])
    n_tests, freedom = (rules.n_folds - 1) * (rules.n_candidates - 1), n_effective.sum() - len(folds)
    adjusted = np.full(len(others), np.nan)
    n_tested = len(set().union(*(lead.tested for lead in leads)))  # repeated folds test queries again
    if n_effective.min() > 0 and freedom >= 1 and n_tested >= rules.min_queries:
        errors = np.sqrt(
            _share_to_come(n_effective, n_queries) * np.sum([lead.squares for lead in leads], axis=0) / freedom
        )
        beyond = differences + rules.indifference
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(errors > 0, special.stdtr(freedom, -beyond / errors), np.where(beyond > 0, 0.0, 1.0))
        adjusted = np.minimum(1, n_tests * p)
    return {
        row: LeaderGap(leader, *pair)
        for row, *pair in zip(others, differences.tolist(), adjusted.tolist(), strict=True)
    }


def _share_to_come(n_effective: FloatArray, n_queries: IntArray) -> float:
    """Variance of the mean of fold means so far around the final one, for values of variance 1."""
    n_run, n_folds = len(n_effective), len(n_queries)
    # Weights and undefined queries count in the folds to come as they did so far.
    n_to_come = n_queries[n_run:] * (n_effective.sum() / n_queries[:n_run].sum())
    so_far, to_come = np.sum(1 / n_effective) / n_run**2, np.sum(1 / n_to_come) / (n_folds - n_run) ** 2
    return float((1 - n_run / n_folds) ** 2 * (so_far + to_come))


@dataclass
class Race:
    """The candidates of a race, fold by fold."""

    rules: Rules
    remaining: list[int] = field(init=False)
    scores: list[FloatArray] = field(default_factory=list)  # of all candidates, one array per fold
    folds: list[FoldValues] = field(default_factory=list)
    dropped: dict[int, tuple[int, str]] = field(default_factory=dict)  # number of folds run, and why it was dropped
    standings: dict[int, LeaderGap] = field(default_factory=dict)  # the last of each candidate

    def __post_init__(self) -> None:
        self.remaining = list(range(self.rules.n_candidates))

    def finish_fold(self, scores: Mapping[int, float], fold: FoldValues, n_queries: IntArray) -> None:
        """Record a fold, given those that did not fail and the queries of all folds; drop those that are behind."""
        self.scores.append(np.array([scores.get(row, np.nan) for row in range(self.rules.n_candidates)]))
        self.folds.append(fold)
        self._drop([row for row in self.remaining if row not in scores], "failed")
        if not self.remaining or len(self.scores) == self.rules.n_folds:
            return
        others = [row for row in self.remaining if row != self.leader]
        found = standings(self.folds, n_queries, self.leader, others, self.rules) if others else {}
        self.standings |= found
        self._drop([row for row, standing in found.items() if standing.p_adjusted <= self.rules.level], "behind")

    @property
    def means(self) -> FloatArray:
        """Means over the folds so far; NaN for candidates that were dropped."""
        return np.mean(self.scores, axis=0)

    @property
    def leader(self) -> int:
        """The remaining candidate with the best mean, the first of several."""
        means = self.means
        return max(self.remaining, key=lambda row: means[row])

    def _drop(self, rows: Iterable[int], why: str) -> None:
        for row in rows:
            self.dropped[row] = len(self.scores), why
            self.remaining.remove(row)

    def columns(self) -> dict[str, Any]:
        """Columns of ``cv_results_`` on when and why candidates were dropped, and how far behind they were."""
        rows = range(self.rules.n_candidates)
        last = [self.standings.get(row, LeaderGap(-1, np.nan, np.nan)) for row in rows]
        dropped = [self.dropped.get(row, (np.nan, "")) for row in rows]
        return {
            "dropped_after": np.array([after for after, _ in dropped], dtype=np.float64),
            "dropped_because": np.array([why for _, why in dropped], dtype=object),
            "leader": np.array([standing.leader for standing in last]),
            "difference": np.array([standing.difference for standing in last]),
            "p_adjusted": np.array([standing.p_adjusted for standing in last]),
        }

"""The candidates of a race: which are compared after each fold, and which are dropped.

The winner of a grid search has the best mean of fold means, so the test is about these. After r of F folds, the mean
can only differ from the final one by what is still to come. For the difference of two candidates, the variance of a
fold's mean over its n queries is h s^2 / n, so the error is

    error^2 = (1 - r/F)^2 (sum over folds seen of v / r^2 + sum over folds to come of v / (F - r)^2),  v = h s^2 / n

- s^2 is pooled within folds. Queries of unequal weights count as fewer (Kish 1965). The queries of a group, such as a
  user, depend on each other, so they count as one observation, with their weighted mean and the sum of their weights.
- h is how many times as much as their queries explain the means of candidates vary from fold to fold, since fits vary.
  It is pooled over the candidates still racing (their interaction with folds), averaged with that of the pair alone if
  this is larger, and at least 1. Folds are needed to see it, so candidates are compared from the second one on.
- The level, 1 - confidence, is split evenly over the folds after which candidates can be dropped. The leader is not
  compared with one candidate chosen beforehand, but the winner must lead all others at the end, so its lead grows with
  their number. Bonferroni's correction, a factor of k - 1 for k candidates, would count that twice; the factor is its
  fourth root, which was fitted by simulation, not derived.

The winner of the grid search is then dropped with a probability of about 1 - confidence at most, whatever the true
differences. ``python -m benchmarks.racing`` measures it, see docs/measurements.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics.decisions.signs import divided
from skrank_metrics.model_selection.scorers import QueryScores
from skrank_metrics.reports.mean_intervals import ROUNDING


class Spread(NamedTuple):
    """Differences between the leader and each other candidate on the queries of one fold."""

    # Sums of squares around their means, in units of observations of equal weight.
    squares: FloatArray
    n_effective: FloatArray  # number of such observations
    tested: list[int]  # observations with a value


@dataclass
class Race:
    """The candidates of a race, fold by fold."""

    n_candidates: int
    sizes: IntArray  # of the folds; candidates can be dropped after all but the last
    confidence: float = 0.95
    min_queries: int = 30

    def __post_init__(self) -> None:
        n, self.n_folds = self.n_candidates, len(self.sizes)
        self.remaining = list(range(n))
        # One entry per fold: scores of all candidates, and their values, NaN for those that did not run.
        self.scores: list[FloatArray] = []
        self.folds: list[QueryScores] = []
        # Of ``cv_results_``: when and why candidates were dropped, and their last comparison with the leader.
        self.columns: dict[str, Any] = {
            "dropped_after": np.full(n, np.nan),
            "dropped_because": np.full(n, "", dtype=object),
            # Mean over folds, leader minus candidate.
            "difference": np.full(n, np.nan),
            # For the number of candidates and folds.
            "p_adjusted": np.full(n, np.nan),
        }

    def finish_fold(self, scores: Mapping[int, float], fold: QueryScores) -> None:
        """Record a fold, given the scores of those that did not fail; drop those that are behind."""
        self.folds.append(fold)
        self.scores.append(np.array([scores.get(row, np.nan) for row in range(self.n_candidates)]))
        self._drop([row for row in self.remaining if row not in scores], "failed")
        if 1 < len(self.folds) < self.n_folds:
            self._compare([row for row in self.remaining if row != self.leader])

    @property
    def leader(self) -> int:
        """The remaining candidate with the best mean, the first of several."""
        return max(self.remaining, key=np.mean(self.scores, axis=0).__getitem__)

    def _compare(self, others: Sequence[int]) -> None:
        """Compare candidates with the leader by one-sided t-tests of the mean of fold means at the end of the race."""
        leader = self.leader
        scores = np.array(self.scores)
        means = scores.mean(axis=0)
        differences = leads(means[leader], means[others])
        p_adjusted = np.full(len(others), np.nan)
        spreads = [_spread(fold, leader, others) for fold in self.folds]
        # Repeated folds test queries again, which then count once.
        tested = set().union(*(spread.tested for spread in spreads))
        if len(tested) >= self.min_queries:
            of_folds = leads(scores[:, [leader]], scores[:, others])
            p = _one_sided(differences, *self._variance(spreads, of_folds))
            n_tests = (self.n_folds - 2) * (self.n_candidates - 1) ** 0.25
            p_adjusted = np.minimum(1.0, n_tests * p)

        self.columns["difference"][others] = differences
        self.columns["p_adjusted"][others] = p_adjusted
        # In binary, 1 - 0.9 is less than 0.1.
        level = round(1 - self.confidence, 12)
        behind = np.asarray(others, dtype=np.intp)[p_adjusted <= level]
        self._drop(behind.tolist(), "behind")

    def _variance(
        self, spreads: Sequence[Spread], of_folds: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Variance of the mean of fold means so far around the final one, given the leads in each fold.

        Returns it with its degrees of freedom, after Satterthwaite (1946); NaN if a fold has no values.
        """
        n_run = len(spreads)
        n_to_come = self.n_folds - n_run
        sizes = np.array([spread.n_effective for spread in spreads])
        squares = np.array([spread.squares for spread in spreads])
        n_degrees = sizes.sum(axis=0) - n_run
        # A pair without common values in a fold, or with a single one in all, is not compared.
        known = (sizes.min(axis=0) > 0) & (n_degrees >= 1)
        sizes, n_degrees = np.where(known, sizes, np.nan), np.where(known, n_degrees, np.nan)

        # Weights and undefined queries count in the folds to come as they did so far.
        share = sizes.sum(axis=0) / self.sizes[:n_run].sum()
        sizes_to_come = self.sizes[n_run:, None] * share
        so_far = (1 / sizes).sum(axis=0) / n_run**2
        to_come = (1 / sizes_to_come).sum(axis=0) / n_to_come**2
        of_query = squares.sum(axis=0) / n_degrees
        of_queries = (n_to_come / self.n_folds) ** 2 * (so_far + to_come) * of_query

        pooled, n_pooled = self._instability()
        explained = of_query * (1 / sizes).mean(axis=0)
        of_pair = divided(of_folds.var(axis=0, ddof=1), explained)
        h = np.maximum(1.0, np.maximum(pooled, (pooled + of_pair) / 2))
        both = 1 / (1 / n_degrees + 1 / n_pooled)
        return h * of_queries, np.where(h > 1, both, n_degrees)

    def _instability(self) -> tuple[float, int]:
        """The variance of candidates between folds over what their queries explain, and its degrees of freedom."""
        rows = self.remaining
        scores = np.array(self.scores)[:, rows]
        centred = scores - scores.mean(axis=0)
        centred -= centred.mean(axis=1, keepdims=True)
        n_degrees = (len(scores) - 1) * (len(rows) - 1)
        explained = float(np.mean([_variance_of_mean(fold, rows) for fold in self.folds]))
        of_folds = float((centred**2).sum()) / n_degrees
        return of_folds / explained if explained > 0 else 0.0, n_degrees

    def _drop(self, rows: Sequence[int], why: str) -> None:
        for row in rows:
            self.columns["dropped_after"][row] = len(self.folds)
            self.columns["dropped_because"][row] = why
            self.remaining.remove(row)


def leads(best: FloatArray, others: FloatArray) -> FloatArray:
    """How far the best is ahead of the others."""
    differences = best - others
    # Equal values that were summed in another order must not seem to vary.
    differences[np.abs(differences) <= ROUNDING * np.abs(best)] = 0.0
    return differences


def _one_sided(differences: FloatArray, variance: FloatArray, n_degrees: FloatArray) -> FloatArray:
    """P-values of the leads; 0 or 1 if nothing varies."""
    errors = np.sqrt(variance)
    certain = np.where(differences > 0, 0.0, 1.0)
    p = special.stdtr(n_degrees, -divided(differences, errors))
    return np.asarray(np.where(errors == 0, certain, p))


def _groups_of(fold: QueryScores) -> IntArray:
    """The number of the group of each query; every query is one of its own if there are no groups."""
    return np.arange(len(fold.ids)) if fold.groups is None else fold.groups


def _observations(
    fold: QueryScores, values: FloatArray, counted: Mask
) -> tuple[FloatArray, FloatArray]:
    """The mean and the weight of each group of queries, over those that count, by candidate."""
    weights = counted * (1.0 if fold.weights is None else fold.weights)
    values = np.where(counted, values, 0.0) * weights
    groups = _groups_of(fold)
    order = np.argsort(groups, kind="stable")
    first = np.unique(groups[order], return_index=True)[1]
    totals = np.add.reduceat(weights[:, order], first, axis=1)
    return divided(np.add.reduceat(values[:, order], first, axis=1), totals), totals


def _spread(fold: QueryScores, leader: int, others: Sequence[int]) -> Spread:
    """How the leader minus each of the others varies over the queries of one fold that both define."""
    differences = leads(fold.values[leader], fold.values[others])
    counted = ~np.isnan(differences)
    if fold.weights is not None:
        counted &= fold.weights > 0
    is_tested = counted.any(axis=0) & fold.defined[leader]

    differences, weights = _observations(fold, differences, counted)
    total = weights.sum(axis=1)
    n_effective = divided(total**2, (weights**2).sum(axis=1))
    means = divided((differences * weights).sum(axis=1), total)
    squares = ((differences - means[:, None]) ** 2 * weights).sum(axis=1)
    tested = _groups_of(fold)[is_tested]
    return Spread(squares * divided(n_effective, total), n_effective, tested.tolist())


def _variance_of_mean(fold: QueryScores, rows: Sequence[int]) -> float:
    """Variance of the mean of a candidate around that of all, over the queries of a fold, pooled; NaN if unknown."""
    values = fold.values[rows]
    counted = np.broadcast_to(~np.isnan(values).any(axis=0), values.shape)
    values, weights_of_each = _observations(fold, values, counted)
    weights = weights_of_each[0]
    # A single observation says nothing of how they vary.
    if np.count_nonzero(weights) < 2:
        return np.nan
    weights = weights / weights.sum()
    centred = values - values.mean(axis=0)
    centred -= (centred @ weights)[:, None]
    # The variance of a weighted mean of n_effective values is s^2 / n_effective, and s^2 has n_effective - 1 below it.
    n_effective = 1 / (weights @ weights)
    squares = float((centred**2 @ weights).sum())
    return squares / (n_effective - 1) / (len(rows) - 1)

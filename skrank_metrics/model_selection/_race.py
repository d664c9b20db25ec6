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
from typing import Any

import numpy as np
from scipy import special

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics.decisions.signs import divided
from skrank_metrics.model_selection.scorers import QueryScores
from skrank_metrics.reports.mean_intervals import ROUNDING


@dataclass
class Race:
    """The candidates of a race, fold by fold."""

    n_candidates: int
    sizes: IntArray  # of the folds; candidates can be dropped after all but the first and the last
    confidence: float = 0.95
    min_queries: int = 30

    def __post_init__(self) -> None:
        n, self.n_folds = self.n_candidates, len(self.sizes)
        self.remaining = list(range(n))
        # Both have one entry per fold, for all candidates; NaN means that one did not run.
        self.scores: list[FloatArray] = []
        self.folds: list[QueryScores] = []
        # These columns of ``cv_results_`` say when and why candidates were dropped, with their last comparison.
        self.columns: dict[str, Any] = {
            "dropped_after": np.full(n, np.nan),
            "dropped_because": np.full(n, "", dtype=object),
            # The difference is the leader's mean over folds minus the candidate's.
            "difference": np.full(n, np.nan),
            # These are adjusted for the number of candidates and folds.
            "p_adjusted": np.full(n, np.nan),
        }

    def finish_fold(self, scores: Mapping[int, float], fold: QueryScores) -> None:
        """Record a fold, given the scores of those that did not fail; drop those that are behind."""
        self.folds.append(fold)
        of_all = np.full(self.n_candidates, np.nan)
        of_all[list(scores)] = list(scores.values())
        self.scores.append(of_all)
        self._drop([row for row in self.remaining if row not in scores], "failed")
        if 1 < len(self.folds) < self.n_folds and len(self.remaining) > 1:
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
        # Repeated folds test queries again, which then count once.
        tested: set[int] = set()
        for fold in self.folds:
            is_tested = fold.defined[leader] & (_weights(fold) > 0)
            tested.update(fold.groups[is_tested].tolist())
        if len(tested) >= self.min_queries:
            spreads = [
                _spread(fold, leads(fold.values[leader], fold.values[others]))
                for fold in self.folds
            ]
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
        self, spreads: Sequence[tuple[FloatArray, FloatArray]], of_folds: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Variance of the mean of fold means so far around the final one, given the leads in each fold.

        Returns it with its degrees of freedom, after Satterthwaite (1946); NaN if a fold has no values.
        """
        n_run = len(spreads)
        n_to_come = self.n_folds - n_run
        squares, sizes = (np.array(one) for one in zip(*spreads, strict=True))
        n_degrees = sizes.sum(axis=0) - n_run
        # A pair without common values in a fold, or with a single one in all, is not compared.
        known = (sizes.min(axis=0) > 0) & (n_degrees >= 1)
        sizes, n_degrees = np.where(known, sizes, np.nan), np.where(known, n_degrees, np.nan)

        # Weights and undefined queries count in the folds to come as they did so far.
        share = sizes.sum(axis=0) / self.sizes[:n_run].sum()
        so_far = (1 / sizes).sum(axis=0)
        to_come = (1 / self.sizes[n_run:]).sum() / share
        of_query = squares.sum(axis=0) / n_degrees
        left = (n_to_come / self.n_folds) ** 2
        of_queries = left * of_query * (so_far / n_run**2 + to_come / n_to_come**2)

        pooled = self._instability()
        of_pair = divided(of_folds.var(axis=0, ddof=1), of_query * so_far / n_run)
        h = np.maximum(1.0, np.maximum(pooled, (pooled + of_pair) / 2))
        n_pooled = (n_run - 1) * (len(self.remaining) - 1)
        both = 1 / (1 / n_degrees + 1 / n_pooled)
        return h * of_queries, np.where(h > 1, both, n_degrees)

    def _instability(self) -> float:
        """How many times as much as their queries explain the means of candidates vary from fold to fold."""
        scores = np.array(self.scores)[:, self.remaining]
        centred = scores - scores.mean(axis=1, keepdims=True)
        explained = 0.0
        for fold in self.folds:
            values = fold.values[self.remaining]
            squares, sizes = _spread(fold, values - values.mean(axis=0))
            explained += divided(squares, sizes * (sizes - 1)).sum() / len(self.folds)
        return float(centred.var(axis=0, ddof=1).sum() / explained) if explained > 0 else 0.0

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


def _weights(fold: QueryScores) -> FloatArray:
    return np.ones(len(fold.ids)) if fold.weights is None else fold.weights


def _spread(fold: QueryScores, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How rows of values vary over the queries of a fold, NaN for those that do not count.

    A group of queries is one observation, with their weighted mean and the sum of their weights. Returns sums of
    squares around the means, in units of observations of equal weight, and the numbers of such observations.
    """
    counted = ~np.isnan(values)
    order = np.argsort(fold.groups, kind="stable")
    starts = np.unique(fold.groups[order], return_index=True)[1]
    each = counted * _weights(fold)
    weights = np.add.reduceat(each[:, order], starts, axis=1)
    weighted = np.where(counted, values, 0.0) * each
    sums = np.add.reduceat(weighted[:, order], starts, axis=1)

    total = weights.sum(axis=1)
    # Kish's number of observations of equal weight that are as informative.
    sizes = divided(total**2, (weights**2).sum(axis=1))
    means = divided(sums.sum(axis=1), total)
    squares = ((divided(sums, weights) - means[:, None]) ** 2 * weights).sum(axis=1)
    return squares * divided(sizes, total), sizes

"""Decide which candidates of a race are dropped, given their values per query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics.model_selection.scorers import QueryScores

# Differences below this share of a value are rounding.
_ROUNDING = 1e-12


@dataclass
class Race:
    """The candidates of a race, fold by fold.

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

    def __post_init__(self) -> None:
        n = self.n_candidates
        self.remaining = list(range(n))
        self.scores: list[FloatArray] = []  # of all candidates, one array per fold
        self.folds: list[QueryScores] = []  # values with one row per candidate, NaN for those that did not run
        # Of ``cv_results_``: when and why candidates were dropped, and their last comparison with the leader.
        self.columns: dict[str, Any] = {
            "dropped_after": np.full(n, np.nan),
            "dropped_because": np.full(n, "", dtype=object),
            "leader": np.full(n, -1),
            "difference": np.full(n, np.nan),  # mean over folds, leader minus candidate
            "p_adjusted": np.full(n, np.nan),  # for the number of candidates and folds
        }

    def finish_fold(self, scores: Mapping[int, float], fold: QueryScores, n_queries: IntArray) -> None:
        """Record a fold, given those that did not fail and the queries of all folds; drop those that are behind."""
        self.folds.append(fold)
        self.scores.append(np.array([scores.get(row, np.nan) for row in range(self.n_candidates)]))
        self._drop([row for row in self.remaining if row not in scores], "failed")
        if self.remaining and len(self.folds) < self.n_folds:
            self._compare([row for row in self.remaining if row != self.leader], n_queries)

    @property
    def means(self) -> FloatArray:
        """Means over the folds so far; NaN for candidates that were dropped."""
        return np.mean(self.scores, axis=0)

    @property
    def leader(self) -> int:
        """The remaining candidate with the best mean, the first of several."""
        means = self.means
        return max(self.remaining, key=lambda row: means[row])

    def _compare(self, others: Sequence[int], n_queries: IntArray) -> None:
        """Compare candidates with the leader by one-sided t-tests of the mean of fold means at the end of the race.

        Fold means so far and to come are independent samples of queries, of a variance that is pooled within folds. The
        mean of all folds can only differ from that so far by what is still to come.
        """
        leads = [_lead(fold, self.leader, others) for fold in self.folds]
        means, squares, n_effective, tested = (list(parts) for parts in zip(*leads, strict=True))
        differences, sizes, p_adjusted = np.mean(means, axis=0), np.array(n_effective), np.full(len(others), np.nan)
        freedom = sizes.sum() - len(self.folds)
        n_tested = len(set().union(*tested))  # repeated folds test queries again
        if sizes.min() > 0 and freedom >= 1 and n_tested >= self.min_queries:
            errors = np.sqrt(_share_to_come(sizes, n_queries) * np.sum(squares, axis=0) / freedom)
            beyond = differences + self.indifference
            with np.errstate(divide="ignore", invalid="ignore"):
                p = np.where(errors > 0, special.stdtr(freedom, -beyond / errors), np.where(beyond > 0, 0.0, 1.0))
            p_adjusted = np.minimum(1, (self.n_folds - 1) * (self.n_candidates - 1) * p)
        for name, found in (("leader", self.leader), ("difference", differences), ("p_adjusted", p_adjusted)):
            self.columns[name][others] = found
        level = round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1
        self._drop([row for row, p in zip(others, p_adjusted, strict=True) if p <= level], "behind")

    def _drop(self, rows: Sequence[int], why: str) -> None:
        for row in rows:
            self.columns["dropped_after"][row], self.columns["dropped_because"][row] = len(self.folds), why
            self.remaining.remove(row)


def _lead(fold: QueryScores, leader: int, others: Sequence[int]) -> tuple[FloatArray, FloatArray, float, list[Any]]:
    """The leader minus each of the others on the queries of one fold: means, and sums of squares around them.

    Squares are in units of queries of equal weight, followed by how many such queries have the same variance of the
    mean (Kish 1965), and by the queries with a defined value and a weight.
    """
    weights = np.ones(len(fold.ids)) if fold.weights is None else fold.weights
    counted = ~np.isnan(fold.values[leader]) & (weights > 0)
    best, weights = fold.values[leader, counted], weights[counted]
    differences = best - fold.values[np.ix_(others, counted)]
    differences[np.abs(differences) <= _ROUNDING * np.abs(best)] = 0
    total = weights.sum()
    means = differences @ weights / total if total else np.full(len(others), np.nan)
    n_effective = total**2 / (weights**2).sum() if total else 0.0
    squares = (differences - means[:, None]) ** 2 @ weights * (n_effective / total if total else 0.0)
    return means, squares, n_effective, fold.ids[counted & fold.defined].tolist()


def _share_to_come(n_effective: FloatArray, n_queries: IntArray) -> float:
    """Variance of the mean of fold means so far around the final one, for values of variance 1."""
    n_run, n_folds = len(n_effective), len(n_queries)
    # Weights and undefined queries count in the folds to come as they did so far.
    n_to_come = n_queries[n_run:] * (n_effective.sum() / n_queries[:n_run].sum())
    so_far, to_come = np.sum(1 / n_effective) / n_run**2, np.sum(1 / n_to_come) / (n_folds - n_run) ** 2
    return float((1 - n_run / n_folds) ** 2 * (so_far + to_come))

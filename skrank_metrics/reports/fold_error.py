"""The standard error of a difference between models out of fold.

Two things vary: the queries that are tested, and the fits, one per fold. With q the standard error over queries and f
the one over the means of F folds (equal to q on average if only queries vary), the standard error of a pair is

    error^2 = (1 + F s) (q^2 + max(0, f^2 - q^2)),    s = (k - 2) / (k - 1) / (F - 1) for k rankings

- A few folds estimate a variance badly, and among many pairs some get one that is far too small: with f of the pair
  alone, some pair of six equal models differs significantly in up to 13% of all comparisons. Most of what varies is
  common to the rankings, so f^2 - q^2 is the mean of that of the pair and of that of all pairs. All pairs alone would
  miss that a few models are less stable than the others.
- Training sets overlap, so part of what a fit does is the same in every fold, and no difference between folds shows it.
  Nadeau & Bengio (2003) multiply the variance of a fold by 1/F + 1/(F - 1) in place of 1/F, where 1/(F - 1) is the
  number of tested queries over that of fitted ones. Here, the second term counts as far as the variance is pooled: not
  for two rankings, as the quantile of Student's t for F - 1 degrees of freedom is large already, and the test would
  find next to nothing; and nearly in full for many. It counts for q^2 as well: fits that are alike in all folds, such
  as stumps that choose the same feature, more than double the variance of a difference although folds do not differ.
- Degrees of freedom are those of a sum of variances (Satterthwaite 1946).

``python -m benchmarks.folds`` measures this with real fits; docs/measurements.md has the figures.

References
----------
C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
https://doi.org/10.1023/A:1024068626366
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics.reports.mean_intervals import ROUNDING


@dataclass(frozen=True)
class WeightedSums:
    """Weighted sums of values, centred over the rankings, by query or by fold."""

    sums: FloatArray  # (n, n_rankings)
    masses: FloatArray  # (n,), the sums of the weights

    @property
    def n_effective(self) -> float:
        """Number of sums of equal mass that would be as informative (Kish 1965)."""
        return float(self.masses.sum() ** 2 / (self.masses @ self.masses))

    def errors(self, i: int) -> FloatArray:
        """Standard errors of the mean of ranking ``i`` minus that of each ranking."""
        return standard_error(self.sums[:, i, None] - self.sums, self.masses)

    def mean_square(self) -> float:
        """Mean of the squared standard errors of all pairs."""
        # The squared differences of all pairs of n centred numbers add up to n times the sum of their squares.
        n_rankings = self.sums.shape[1]
        squares = standard_error(self.sums, self.masses) ** 2
        return float(2 * squares.sum() / (n_rankings - 1))


@dataclass(frozen=True)
class FoldError:
    """Standard errors of differences out of fold, with their degrees of freedom."""

    error: FloatArray  # 0 if folds add nothing to the standard error over queries
    n_degrees: FloatArray


NO_FOLDS = FoldError(np.zeros(1), np.ones(1))


class FoldVariation:
    """How differences between rankings vary over at least two folds, pooled over the rankings."""

    def __init__(self, by_fold: WeightedSums, by_query: WeightedSums) -> None:
        self.by_fold = by_fold
        self.by_query = by_query
        self._mean_square_of_folds = by_fold.mean_square()
        self._mean_square_of_queries = by_query.mean_square()

    @property
    def fits_vary(self) -> bool:
        """Whether differences vary more between folds than queries explain."""
        return self._mean_square_of_folds > self._mean_square_of_queries

    def error(self, i: int, differs: Mask) -> FoldError:
        """Standard errors of ranking ``i`` minus each ranking; only some differ from it."""
        n_folds, n_rankings = self.by_fold.sums.shape
        shared = (n_rankings - 2) / (n_rankings - 1) / (n_folds - 1)
        over_queries = self.by_query.errors(i) ** 2
        # Half of the pair and half of all pairs.
        over_folds = (self.by_fold.errors(i) ** 2 + self._mean_square_of_folds) / 2
        expected = (over_queries + self._mean_square_of_queries) / 2

        factor = 1 + n_folds * shared
        of_queries = factor * over_queries
        of_fits = factor * (over_folds - expected)
        # With one query per fold both are equal but for rounding, on which degrees of freedom must not depend.
        of_fits[over_folds <= expected * (1 + ROUNDING)] = 0.0
        total = of_queries + of_fits

        uncertainty = of_queries**2 / max(self.by_query.n_effective - 1, ROUNDING)
        uncertainty += (of_fits > 0) * (factor * over_folds) ** 2 / self._n_degrees_of_folds()
        n_degrees = np.ones_like(total)
        np.divide(total**2, uncertainty, out=n_degrees, where=uncertainty > 0)

        adds = differs & (total > over_queries)
        return FoldError(np.where(adds, np.sqrt(total), 0.0), n_degrees)

    def _n_degrees_of_folds(self) -> float:
        """Degrees of freedom of a variance that is half of a pair and half of all pairs, of rankings alike.

        The pair itself is one of n - 1 independent parts of all pairs.
        """
        n_rankings = self.by_fold.sums.shape[1]
        n_degrees = max(self.by_fold.n_effective - 1, ROUNDING)
        if n_rankings == 2:
            return n_degrees
        of_pair = (1 + 1 / (n_rankings - 1)) / 2
        of_others = 1 - of_pair
        return n_degrees / (of_pair**2 + of_others**2 / (n_rankings - 2))


def standard_error(differences: FloatArray, masses: FloatArray) -> FloatArray:
    """Standard errors of ratio estimates; 0 if all differences are equal, or there is only one."""
    mass = masses.sum()
    n_effective = mass**2 / (masses @ masses)
    if n_effective <= 1 + ROUNDING:
        return np.zeros(differences.shape[1])
    residuals = differences - masses[:, None] * (differences.sum(axis=0) / mass)
    squares = (residuals * residuals).sum(axis=0)
    squares[squares <= ROUNDING**2 * (differences * differences).sum(axis=0)] = 0.0
    return np.asarray(np.sqrt(squares * n_effective / (n_effective - 1)) / mass)

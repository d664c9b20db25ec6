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

from typing import NamedTuple

import numpy as np

from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics.reports.mean_intervals import ROUNDING, n_effective, standard_error


class FoldErrors(NamedTuple):
    """Standard errors of all pairs out of fold, (n_rankings, n_rankings), with their degrees of freedom."""

    error: FloatArray  # 0 if folds add nothing to the standard error over queries
    n_degrees: FloatArray
    fits_vary: bool  # whether differences vary more between folds than queries explain


def fold_errors(
    over_queries: FloatArray,
    n_queries: float,
    sums: FloatArray,
    masses: FloatArray,
    differs: Mask,
) -> FoldErrors:
    """Standard errors that count how differences vary over folds, pooled over the rankings; only some pairs differ.

    ``over_queries`` are those over so many queries of equal weight; ``sums`` and ``masses`` are those of the folds.
    """
    n_folds, n_rankings = sums.shape
    over_folds = np.stack(
        [standard_error(sums[:, i, None] - sums, masses) for i in range(n_rankings)]
    )
    of_queries = over_queries**2
    all_folds, all_queries = _mean_of_pairs(over_folds**2), _mean_of_pairs(of_queries)
    # Half of the pair and half of all pairs.
    pooled = (over_folds**2 + all_folds) / 2
    expected = (of_queries + all_queries) / 2

    shared = (n_rankings - 2) / (n_rankings - 1) / (n_folds - 1)
    factor = 1 + n_folds * shared
    of_fits = factor * (pooled - expected)
    # With one query per fold both are equal but for rounding, on which degrees of freedom must not depend.
    of_fits[pooled <= expected * (1 + ROUNDING)] = 0.0
    total = factor * of_queries + of_fits

    uncertainty = (factor * of_queries) ** 2 / max(n_queries - 1, ROUNDING)
    uncertainty += (
        (of_fits > 0) * (factor * pooled) ** 2 / _n_degrees(n_effective(masses), n_rankings)
    )
    n_degrees = np.ones_like(total)
    np.divide(total**2, uncertainty, out=n_degrees, where=uncertainty > 0)

    adds = differs & (total > of_queries)
    error = np.where(adds, np.sqrt(total), 0.0)
    return FoldErrors(error, n_degrees, fits_vary=all_folds > all_queries)


def _mean_of_pairs(squares: FloatArray) -> float:
    n_rankings = len(squares)
    return float(squares.sum() / (n_rankings * (n_rankings - 1)))


def _n_degrees(n_folds: float, n_rankings: int) -> float:
    """Degrees of freedom of a variance that is half of a pair and half of all pairs, of rankings alike.

    The pair itself is one of n - 1 independent parts of all pairs.
    """
    n_degrees = max(n_folds - 1, ROUNDING)
    if n_rankings == 2:
        return n_degrees
    of_pair = (1 + 1 / (n_rankings - 1)) / 2
    of_others = 1 - of_pair
    return n_degrees / (of_pair**2 + of_others**2 / (n_rankings - 2))

"""Two rankings compared: the difference of their means, and the differences per query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared.

    Attributes
    ----------
    first, second : str
        Names of the rankings.
    difference : float
        Mean of the first minus mean of the second.
    interval : tuple of float
        Lower and upper end of the interval of the difference; NaN if fewer than two queries have a value in both, or
        if the metric is unbounded and all differences are equal.
    p_value, p_adjusted : float
        P-value before and after the correction for the number of pairs. NaN for the t-test if all differences are
        equal and thus have no spread.
    wins, ties, losses : int
        Number of queries on which the first ranking is better, equal and worse.
    effect_size : float
        The difference divided by the standard deviation of the differences; NaN if there is only one query.
    n_queries : int
        Number of queries with a value in both rankings and a weight above 0.
    differences, qid : ndarray of shape (n_queries,)
        Differences and ids of these queries.
    values : tuple of two ndarrays of shape (n_queries,)
        Their values in the first and in the second ranking.
    """

    first: str
    second: str
    difference: float
    interval: tuple[float, float]
    p_value: float
    p_adjusted: float
    wins: int
    ties: int
    losses: int
    effect_size: float
    n_queries: int
    differences: FloatArray
    qid: NDArray[Any]
    values: tuple[FloatArray, FloatArray]
    # Number of queries that count as one of equal weights, at least 1 (Kish 1965).
    _per_effective: float = 1.0

    @property
    def is_equal(self) -> bool:
        """Whether both rankings have the same value on every query."""
        return self.wins == self.losses == 0

    def reversed(self) -> Pair:
        """The second compared with the first."""
        low, high = self.interval
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,  # and not -0.0
            interval=(0.0 - high, 0.0 - low),
            wins=self.losses,
            losses=self.wins,
            effect_size=0.0 - self.effect_size,
            differences=0.0 - self.differences,
            values=self.values[::-1],
        )


class QueryDifference(NamedTuple):
    """A query with the values of two rankings and their difference."""

    qid: Any
    first: float
    second: float
    difference: float

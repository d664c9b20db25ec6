"""The result of comparing rankings of the same queries: pairs with their differences and significance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.chart import MOST_MARKS, Chart, Mark
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, p_text, signed
from skrank_metrics.reports import statistics

# Of the number of queries that would show a difference, and how many pairs have theirs printed.
POWER, MOST_PAIRS = 0.8, 4


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
        the metric is unbounded and all differences are equal.
    p_value, p_adjusted : float
        Before and after the correction for the number of pairs. NaN for the t-test of equal differences, which have no
        spread to test against.
    wins, ties, losses : int
        Number of queries on which the first is better, equal and worse.
    effect_size : float
        The difference divided by the standard deviation of the differences; NaN if there is only one query.
    n_queries : int
        Number of queries with a value in both and a weight above 0.
    differences, qid : ndarray of shape (n_queries,)
        Their differences and ids.
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


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Differences between rankings of the same queries, with their significance.

    Prints as a table, also in notebooks. ``to_frame()`` gives one row per pair, with the ends of the interval as "low"
    and "high".

    Attributes
    ----------
    metric : str
        Name of the metric.
    names : tuple of str
        Names of the rankings.
    test : str
        The test that gave the p-values.
    correction : str or None
        How p-values are corrected for the number of pairs.
    confidence : float
        Confidence level of the intervals. Two rankings are significantly different if the adjusted p-value is at most
        1 - confidence.
    pairs : tuple of Pair
        One per pair of rankings, with attributes ``first``, ``second``, ``difference``, ``interval``, ``p_value``,
        ``p_adjusted``, ``wins``, ``ties``, ``losses``, ``effect_size``, ``n_queries``, ``differences`` and ``qid``.
    greater_is_better : bool
        Whether larger values of the metric are better.
    weights : ndarray or None
        Weights of the queries that all reports have; None if there are none.
    n_resamples : int
        Number of random signs of the permutation test; 0 for the other tests.
    """

    metric: str
    names: tuple[str, ...]
    test: str
    correction: str | None
    confidence: float
    pairs: tuple[Pair, ...]
    greater_is_better: bool
    weights: FloatArray | None
    n_resamples: int
    _drawn: tuple[str, ...] = ()

    def significant(self) -> list[Pair]:
        """List the pairs that are significantly different.

        Returns
        -------
        pairs : list of Pair
            Those of ``pairs`` whose adjusted p-value is at most 1 - confidence.
        """
        return [pair for pair in self.pairs if pair.p_adjusted <= self._level]

    @property
    def _level(self) -> float:
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1

    def _parts(self) -> list[Part]:
        adjusted = ""
        if self.correction:
            adjusted = f"Adjusted: {statistics.CORRECTIONS[self.correction]}, {counted(len(self.pairs), 'pair')}. "
        fewest, most = (extreme(pair.n_queries for pair in self.pairs) for extreme in (min, max))
        none = statistics.NONE if any(np.isnan(pair.interval[0]) for pair in self.pairs) else ""
        queries = f"{f'{fewest} to ' * (fewest < most)}{counted(most, 'query')}"
        return [
            f"{self.metric}, {queries}, {statistics.TESTS[self.test]}",
            self._table(),
            f"{adjusted}Intervals: {statistics.METHOD}, not adjusted{none}.",
            *statistics.weighting(self.weights),
            *self._drawn,
            *self._lack_of_power(),
            f"Significantly different at {self._level:.2g}: {_named(self.significant()) or 'none'}.",
            *self._untested(),
            *self._queries_needed(),
        ]

    def _table(self) -> Table:
        """One row per pair."""
        columns = (
            Column(None, names=("first",)),
            Column(None, names=("second",)),
            Column("first - second", names=()),
            Column("difference", signed),
            Column(f"{100 * self.confidence:g}% interval", signed, ("low", "high")),
            *("wins", "ties", "losses"),
            Column("effect size", _effect_text, ("effect_size",)),
            Column("p", p_text, ("p_value",)),
            Column("adjusted p" if self.correction else None, p_text, ("p_adjusted",)),
            Column(None, names=("n_queries",)),
        )
        rows = [
            (
                *(p.first, p.second, f"{p.first} - {p.second}", p.difference, p.interval),
                *(p.wins, p.ties, p.losses, p.effect_size, p.p_value, p.p_adjusted, p.n_queries),
            )
            for p in self.pairs
        ]
        return Table(columns, rows)

    def _untested(self) -> Iterator[str]:
        if untested := [pair for pair in self.pairs if np.isnan(pair.p_value)]:
            yield f"Not tested, as all differences are equal: {_named(untested)}."

    def _charts(self) -> list[Chart]:
        marks = [
            Mark(f"{pair.first} - {pair.second}", pair.difference, signed(pair.difference), pair.interval)
            for pair in self.pairs
        ]
        title = f"{self.metric}: difference and its {100 * self.confidence:g}% interval"
        return [Chart(title, marks[:MOST_MARKS], reference=0.0)]

    def _lack_of_power(self) -> Iterator[str]:
        """Say that no difference, however clear, could have been significant."""
        n_tests = len(self.pairs) if self.correction == "holm" else 1
        changed = max(pair.wins + pair.losses for pair in self.pairs)
        least = statistics.smallest_p(changed, self.test, self.n_resamples) * n_tests
        if least > self._level and changed:
            pairs = f" for {n_tests} pairs" if n_tests > 1 else ""
            few_signs = self.test == "permutation" and 2**changed > self.n_resamples
            more = "a larger n_resamples" if few_signs else "reports of more queries"
            yield f"No difference could be significant: p is at least {min(least, 1):.4f}{pairs}. Pass {more}."

    def _queries_needed(self) -> Iterator[str]:
        """Say how many queries would show the differences that are not significant, if they are as large as they seem.

        Of several pairs, each is to be significant even if the correction multiplies its p-value by their number.
        """
        confidence = 1 - self._level / (len(self.pairs) if self.correction else 1)
        unequal = 1.0
        if self.weights is not None:
            n_effective = statistics.moments(self.weights, self.weights).n_effective
            unequal = round(np.sum(self.weights > 0) / n_effective, 9)
        needed = [
            (statistics.n_for_power(pair.effect_size, POWER, confidence) * unequal, pair)
            for pair in self.pairs
            if pair.p_adjusted > self._level and statistics.NO_EFFECT <= abs(pair.effect_size) < np.inf
        ]
        if needed:
            fewest = sorted(needed, key=lambda found: found[0])
            texts = [f"{np.ceil(n):,.0f} for {pair.first} and {pair.second}" for n, pair in fewest[:MOST_PAIRS]]
            rest = ["more for the others"] if len(fewest) > MOST_PAIRS else []
            yield f"Queries needed to detect the difference seen, with a power of {POWER}: {', '.join(texts + rest)}."


def _named(pairs: Iterable[Pair]) -> str:
    return ", ".join(f"{pair.first} and {pair.second}" for pair in pairs)


def _effect_text(size: float) -> str:
    return "none" if np.isnan(size) else f"{size:+.2f}"

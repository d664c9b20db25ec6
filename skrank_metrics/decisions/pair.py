"""Two rankings compared by one metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.result import Column, Result, Section, Table, counted, p_text, signed
from skrank_metrics.decisions.families import Interval

PairVerdict: TypeAlias = Literal["better", "not worse", "worse", "undecided"]


@dataclass(frozen=True, eq=False, repr=False)
class Pair(Result):
    """Two rankings compared.

    The verdict follows from the simultaneous interval: "better" or "worse" if significant; "not worse", only with a
    margin, if no loss in the interval is as large; else "undecided". Intervals exclude 0 exactly if p_value, or
    p_adjusted, is at most 1 - confidence; NaN if too few values of an unbounded metric differ.
    """

    first: str
    second: str
    metric: str
    difference: float  # mean of the first minus mean of the second
    interval: Interval  # of the difference, for this pair alone
    simultaneous: Interval  # which holds together with those of all other pairs
    p_value: float
    p_adjusted: float  # corrected for the number of pairs
    wins: int  # number of queries on which the first is better
    ties: int
    losses: int
    n_queries: int  # with a value and a weight above 0
    qid: NDArray[Any]
    differences: FloatArray  # of shape (n_queries,)
    # Values of the first and of the second, by query.
    values: tuple[FloatArray, FloatArray]
    verdict: PairVerdict

    def _brief(self) -> str:
        return f"{self.first} - {self.second} by {self.metric}, {signed(self.difference)}, {self.verdict}"

    def _sections(self) -> list[Section]:
        columns = (
            Column("", str, "family"),
            Column(f"{self.first} - {self.second}", signed, "difference"),
            Column("interval", signed),
            Column("p", p_text),
        )
        rows = [
            ("this pair alone", self.difference, self.interval, self.p_value),
            ("with all pairs", self.difference, self.simultaneous, self.p_adjusted),
        ]
        wins = f"{self.first} is better on {self.wins} of {counted(self.n_queries, 'query')}"
        return [
            f"{self.metric}: {self.first} against {self.second}: {self.verdict}",
            Table(columns, rows),
            f"{wins}, {self.second} on {self.losses}.",
        ]

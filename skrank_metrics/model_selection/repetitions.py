"""Folds that test every query several times: which of them are a repetition, and the mean over repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import Grouping
from skrank_metrics.reports.ranking_report import RankingReport

# Rows to train on, and to test.
Split = tuple[IntArray, IntArray]


def number_repetitions(queries: Grouping, splits: Sequence[Split]) -> tuple[list[int], IntArray]:
    """The repetition of each fold, and the fold of each query in the first one, -1 if it is never tested.

    A fold is in the first repetition that has tested none of its queries. All of them test the same queries.
    """
    numbers: list[int] = []
    n_times = np.zeros(len(queries.ids), dtype=np.intp)
    folds = np.full(len(queries.ids), -1)
    for _, test in splits:
        tested = np.unique(queries.codes[test])
        _check_equal(queries, tested, n_times)
        number = int(n_times[tested].max(initial=0))
        if number == 0:
            folds[tested] = numbers.count(0)
        numbers.append(number)
        n_times[tested] += 1
    # Queries that are never tested, such as the first ones of a split by time, may be left out.
    _check_equal(queries, np.flatnonzero(n_times), n_times)
    return numbers, folds


def _check_equal(queries: Grouping, places: IntArray, n_times: IntArray) -> None:
    """Raise an error unless these queries have been tested equally often."""
    counts = n_times[places]
    if len(counts) and np.ptp(counts) > 0:
        rarest, most = queries.ids[places[[np.argmin(counts), np.argmax(counts)]]]
        raise ValueError(
            f"cv must test all queries equally often; got query {rarest!s}, tested less often than query {most!s}. "
            "Use QueryKFold or RepeatedQueryKFold."
        )


def mean_report(reports: Sequence[RankingReport]) -> RankingReport:
    """A report whose values are means over reports of the same queries; it has no ranking, as these have several."""
    first = reports[0]
    if len(reports) == 1:
        return first
    results = {}
    for name in first.metrics:
        values = np.mean([report.results[name].values for report in reports], axis=0)
        denominators = np.mean([report.results[name].denominators for report in reports], axis=0)
        results[name] = PerQuery(values * denominators, denominators)
    return replace(
        first,
        results=results,
        ranking=None,
        recorded_counts=first.counts,
        recorded_health=first.health,
    )

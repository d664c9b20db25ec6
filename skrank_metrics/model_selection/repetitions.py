"""Folds that test every query several times: which of them are a repetition, and the mean over repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import Grouping
from skrank_metrics.reports.ranking_report import RankingReport

Split = tuple[IntArray, IntArray]  # rows to train on, and to test


def split_into_repetitions(queries: Grouping, splits: Sequence[Split]) -> list[list[Split]]:
    """Folds by repetition: a fold is in the first one that has tested none of its queries."""
    repetitions: list[list[Split]] = []
    n_tested = np.zeros(len(queries.ids), dtype=np.intp)
    for split in splits:
        tested = np.unique(queries.codes[split[1]])
        number = int(n_tested[tested].max(initial=0))
        _check_equal(queries, tested, n_tested[tested])
        if number == len(repetitions):
            repetitions.append([])
        repetitions[number].append(split)
        n_tested[tested] += 1
    return repetitions


def folds_of_queries(queries: Grouping, splits: Sequence[Split]) -> IntArray:
    """The fold of each query; -1 if it is never tested."""
    folds = np.full(len(queries.ids), -1)
    for number, (_, test) in enumerate(splits):
        tested = np.unique(queries.codes[test])
        again = tested[folds[tested] >= 0]
        if again.size:
            raise ValueError(
                f"cv must test every query at most once; got query {queries.ids[again[0]]!s} in fold "
                f"{folds[again[0]]} and in fold {number}. Use QueryKFold."
            )
        folds[tested] = number
    return folds


def check_repetitions(queries: Grouping, folds: Sequence[IntArray]) -> None:
    """Raise an error unless all repetitions test the same queries."""
    n_times = (np.array(folds) >= 0).sum(axis=0)
    tested = np.flatnonzero(n_times)
    _check_equal(queries, tested, n_times[tested])


def _check_equal(queries: Grouping, tested: IntArray, n_times: IntArray) -> None:
    """Raise an error unless queries have been tested equally often."""
    if len(n_times) and np.ptp(n_times) > 0:
        rarest = queries.ids[tested[np.argmin(n_times)]]
        most = queries.ids[tested[np.argmax(n_times)]]
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

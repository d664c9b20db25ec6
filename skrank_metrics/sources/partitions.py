"""Reports of tables that hold whole queries, shared by batches, Dask and Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._input.arrays import check_arrays, check_bool
from skrank_metrics._input.grouping import query_weights
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import slice_of_query
from skrank_metrics.sources.accumulator import CAME_BACK, RankingAccumulator
from skrank_metrics.sources.tables import Columns, array_of, columns_of, first_null, selected

SPLIT = (
    "qid must have all rows of a query in one partition if shuffle=False; {query} is in several. Leave out "
    "shuffle=False."
)
SPLIT_AFTER_SHUFFLE = (
    "qid must have all rows of a query in one partition after the shuffle; {query} is in several, or two ids share a "
    "64-bit hash. Write the frame to files, and use evaluate_batches(..., order='shuffle')."
)


class Reports:
    """An accumulator per score column."""

    def __init__(
        self,
        columns: Columns,
        metrics: Any,
        options: Mapping[str, Any],
        *,
        complete: bool = False,
        came_back: str = CAME_BACK,
    ) -> None:
        self.columns, self._came_back = columns, came_back
        # One accumulator is enough to notice that a query comes back.
        self.accumulators = {
            name: RankingAccumulator(metrics, assume_complete=complete or name != columns.scores[0], **options)
            for name in columns.scores
        }

    def add(self, table: Any, *, contiguous: bool = False) -> None:
        """Add a table of whole queries."""
        columns, arrays = self.columns, {name: array_of(table[name]) for name in table.column_names}
        given = {argument: arrays[name] for argument, name in columns.others.items()}
        masks: dict[str, Any] = {name: given.get(name) for name in ("retrieved", "judged")}
        labels = arrays[columns.label]
        lists = query_lists(labels, arrays[columns.scores[0]], qid=arrays[columns.qid], **masks)
        if contiguous and lists.grouping.shuffled is not None:
            codes = lists.grouping.codes
            returning = codes[1:][codes[1:] < np.maximum.accumulate(codes)[1:]]
            if len(returning):  # very short queries are numbered row by row even if their rows are contiguous
                query = as_python(lists.grouping.ids[returning[:1]])[0]
                raise ValueError(
                    f"source must have all rows of a query next to each other; query {query!r} came back. Pass "
                    "order='shuffle' if rows can be in any order."
                )
        if "sample_weight" in given:
            lists = replace(lists, weights=query_weights(given["sample_weight"], lists.grouping, may_be_zero=True))
        slices = slice_of_query(given["by"], lists.grouping, two_dimensional=False) if "by" in given else None
        for name, accumulator in self.accumulators.items():
            if name != columns.scores[0]:
                scores = check_arrays(labels, arrays[name], *masks.values())[1]
                lists = replace(lists, scores=lists.grouping.sort(scores))
            accumulator._add_lists(lists, slices)

    def copy(self) -> Reports:
        """A copy that can be added to on its own."""
        return deepcopy(self)

    def without_metrics(self) -> Reports:
        """Remove the metrics before a process sends reports back.

        After pickling, custom functions no longer equal the originals.
        """
        for accumulator in self.accumulators.values():
            accumulator._metrics = {}
        return self

    def merge(self, part: Reports) -> Reports:
        """Add the queries of a part."""
        for name, accumulator in self.accumulators.items():
            accumulator._absorb(part.accumulators[name], self._came_back)
        return self

    def results(self, score: Any) -> RankingReport | dict[str, RankingReport]:
        """A report, or one per score column if ``score`` is a list."""
        if not next(iter(self.accumulators.values())).n_queries:
            raise ValueError(f"{self.columns.holder} must hold at least one document; got none.")
        reports = {name: accumulator.result() for name, accumulator in self.accumulators.items()}
        return reports[score] if isinstance(score, str) else reports


@contextmanager
def located(columns: Columns, start: str) -> Iterator[None]:
    """Add to errors which columns and rows they are about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        scores = ", ".join(map(repr, columns.scores))
        error.add_note(f"y_true is column {columns.label!r}, y_score {scores}; rows count from {start}.")
        raise


def reports_of_frame(
    label: Any,
    score: Any,
    qid: Any,
    *,
    metrics: Any,
    options: Mapping[str, Any],
    others: Mapping[str, Any],
    shuffle: bool,
) -> Reports:
    """Empty reports of a frame on a cluster, with its columns by name."""
    columns = columns_of(label, score, qid, others, holder="frame")
    shuffled = check_bool(shuffle, "shuffle")
    reports = Reports(columns, metrics, options, came_back=SPLIT_AFTER_SHUFFLE if shuffled else SPLIT)
    for name, metric in reports.accumulators[columns.scores[0]].metrics.items():
        if shuffled and metric.get("ties") == "stable":
            raise ValueError(
                f"ties must not be 'stable' if rows are shuffled, since their order is lost; got it for {name!r}. Pass "
                "ties='average', or shuffle=False if all rows of a query are in one partition."
            )
    return reports


def evaluate_partition(empty: Reports, table: Any) -> Reports:
    """Evaluate a table that holds all rows of its queries, in any process."""
    columns, part = empty.columns, empty.copy()
    if not len(table):
        return part.without_metrics()
    table = selected(table, columns)
    if null := first_null(table):
        name, row = null
        query = "" if name == columns.qid else f" for query {table[columns.qid][row].as_py()!r}"
        raise ValueError(f"column {name!r} must not hold nulls; got one{query}.")
    with located(columns, "the first of a partition"):
        part.add(table)
    return part.without_metrics()

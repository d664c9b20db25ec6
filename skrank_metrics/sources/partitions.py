"""Reports of tables that hold whole queries, shared by batches, Dask and Spark."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._input.arrays import check_arrays, check_bool, check_choice
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.accumulator import CAME_BACK, RankingAccumulator, with_columns
from skrank_metrics.sources.tables import Columns, array_of, bad_cell, selected

ORDERS = ("check", "shuffle")
OTHERS = ("sample_weight", "retrieved", "judged", "by", "groups")
OPTIONS = ("convention", "ties", "replace_undefined_by", "condense")
SPLIT = (
    "qid must have all rows of a query in one partition if order='check'; {query} is in several. Leave out "
    "order='check'."
)
SPLIT_AFTER_SHUFFLE = (
    "qid must have all rows of a query in one partition after the shuffle; {query} is in several, or two ids share a "
    "64-bit hash. Write the frame to files, and use evaluate_batches(..., order='shuffle')."
)


class Reports:
    """An accumulator per score column, from the arguments of a function that evaluates columns."""

    def __init__(self, given: Mapping[str, Any], *, complete: bool = False, came_back: str = CAME_BACK) -> None:
        columns = Columns.of(
            given["label"], given["score"], given["qid"], {name: given[name] for name in OTHERS}, given["documents"]
        )
        options = {name: given[name] for name in OPTIONS}
        self._came_back, self._condense = came_back, check_bool(given["condense"], "condense")
        if self._condense and "judged" not in columns.others:
            raise ValueError("condense=True requires judged=, the column of judged documents.")
        # One accumulator is enough to notice that a query comes back.
        self.accumulators = {
            name: RankingAccumulator(given["metrics"], assume_complete=complete or name != columns.scores[0], **options)
            for name in columns.scores
        }
        bound = self.accumulators[columns.scores[0]].metrics.values()
        signed = "judged" not in columns.others and all(metric.computation.signed for metric in bound)
        self.columns = replace(columns, signed=signed)

    def add(self, table: Any, *, contiguous: bool = False) -> None:
        """Add a table of whole queries."""
        columns, arrays = self.columns, {name: array_of(table[name]) for name in table.column_names}
        given = {argument: arrays[name] for argument, name in columns.others.items()}
        masks: dict[str, Any] = {name: given.get(name) for name in ("retrieved", "judged")}
        labels, qid = arrays[columns.label], arrays[columns.qid]
        own = {name: np.asarray(arrays[name]) for name in columns.documents}
        first = arrays[columns.scores[0]]
        lists = query_lists(labels, first, qid=qid, condense=self._condense, documents=own, **masks)
        if contiguous and lists.grouping.shuffled is not None:
            codes = lists.grouping.codes
            returning = codes[1:][codes[1:] < np.maximum.accumulate(codes)[1:]]
            if len(returning):  # very short queries are numbered row by row even if their rows are contiguous
                query = as_python(lists.grouping.ids[returning[:1]])[0]
                raise ValueError(
                    f"source must have all rows of a query next to each other; query {query!r} came back. Pass "
                    "order='shuffle' if rows can be in any order."
                )
        lists, slices, clusters = with_columns(lists, *(given.get(name) for name in ("sample_weight", "by", "groups")))
        for name, accumulator in self.accumulators.items():
            if name != columns.scores[0]:
                scores = check_arrays(labels, arrays[name], *masks.values())[1]
                lists = replace(lists, scores=lists.grouping.sort(scores))
            accumulator._add_lists(lists, slices, clusters)

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

    def results(self, score: Any, holder: str = "source") -> RankingReport | dict[str, RankingReport]:
        """A report, or one per score column if ``score`` is a list."""
        if not next(iter(self.accumulators.values())).n_queries:
            raise ValueError(f"{holder} must hold at least one document; got none.")
        reports = {name: accumulator.result() for name, accumulator in self.accumulators.items()}
        return reports[score] if isinstance(score, str) else reports


def reports_of_frame(given: Mapping[str, Any]) -> Reports:
    """Empty reports of a frame on a cluster, from the arguments of ``evaluate``."""
    shuffled = check_choice(given["order"], "order", ORDERS) == "shuffle"
    reports = Reports(given, came_back=SPLIT_AFTER_SHUFFLE if shuffled else SPLIT)
    for name, metric in reports.accumulators[reports.columns.scores[0]].metrics.items():
        if shuffled and metric.get("ties") == "stable":
            raise ValueError(
                f"ties must not be 'stable' if rows are shuffled, since their order is lost; got it for {name!r}. Pass "
                "ties='average', or order='check' if all rows of a query are in one partition."
            )
    return reports


def evaluate_partition(empty: Reports, table: Any) -> Reports:
    """Evaluate a table that holds all rows of its queries, in any process."""
    columns, part = empty.columns, deepcopy(empty)
    if not len(table):
        return part.without_metrics()
    table = selected(table, columns, "the frame")
    if found := bad_cell(table, columns):
        row, what = found
        query = table[columns.qid][row].as_py()
        raise ValueError(what + (f" for query {query!r}." if query is not None else "."))
    part.add(table)
    return part.without_metrics()

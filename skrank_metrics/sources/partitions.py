"""What functions that evaluate columns compute from tables that hold whole queries: batches, or partitions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skrank_metrics._engine.from_rows import documents_from_rows, rank_rows
from skrank_metrics._input.arrays import check_bool, check_choice
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.compare import compare_reports
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.accumulator import CAME_BACK, Evaluation, QueryValues
from skrank_metrics.sources.tables import Columns, array_of, bad_cell, readable, selected

if TYPE_CHECKING:
    from skrank_metrics.reports.comparison import Comparison

OTHERS = ("sample_weight", "retrieved", "judged", "by", "groups")


@dataclass(frozen=True)
class TableEvaluation(Evaluation):
    """The checked arguments of a function that evaluates columns."""

    columns: Columns

    @classmethod
    def of_arguments(
        cls, given: Mapping[str, Any], *, keeps_order: bool = False
    ) -> TableEvaluation:
        """Check the arguments of a function, whose shuffle may keep the order of the rows of a query."""
        shuffled = check_choice(given["order"], "order", ("check", "shuffle")) == "shuffle"
        others = {name: given[name] for name in OTHERS}
        columns = Columns.of(
            given["label"], given["score"], given["qid"], others, given["documents"]
        )
        metrics = bind_metrics(given["metrics"], given["convention"])
        condense = check_bool(given["condense"], "condense")
        if condense and "judged" not in columns.others:
            raise ValueError("condense=True requires judged=, the column of judged documents.")
        stable = [name for name, metric in metrics.items() if metric.get("ties") == "stable"]
        if shuffled and stable and not keeps_order:
            raise ValueError(
                f"ties must not be 'stable' if rows are shuffled, since their order is lost; got it for {stable[0]!r}. "
                "Pass ties='average', or order='check' if all rows of a query are in one partition."
            )
        signed = "judged" not in columns.others and all(
            metric.computation.signed for metric in metrics.values()
        )
        return cls(metrics, condense, replace(columns, signed=signed))

    def of_table(self, table: Any, *, contiguous: bool = False) -> QueryValues:
        """Evaluate a checked table of whole queries."""
        arrays = {name: array_of(table[name]) for name in table.column_names}
        given = {argument: arrays[name] for argument, name in self.columns.others.items()}
        masks: dict[str, Any] = {name: given.pop(name, None) for name in ("retrieved", "judged")}
        own = {name: np.asarray(arrays[name]) for name in self.columns.documents}
        labels, qid = arrays[self.columns.label], arrays[self.columns.qid]
        truth = documents_from_rows(
            labels,
            qid=qid,
            judged=masks["judged"],
            condense=self.condense,
            documents=own,
            by=given.get("by"),
            groups=given.get("groups"),
        )
        if contiguous and truth.grouping.shuffled is not None:
            codes = truth.grouping.codes
            returning = codes[1:][codes[1:] < np.maximum.accumulate(codes)[1:]]
            if len(
                returning
            ):  # very short queries are numbered row by row even if their rows are contiguous
                raise ValueError(CAME_BACK.format(as_python(truth.queries.ids[returning[:1]])[0]))
        rankings = {
            name: rank_rows(truth, arrays[name], retrieved=masks["retrieved"])
            for name in self.columns.scores
        }
        return self.of_rankings(truth, rankings, given.get("sample_weight"))

    def of_partition(self, rows: Any) -> QueryValues:
        """Evaluate all rows of some queries, a table of pandas or pyarrow, in any process."""
        import pyarrow as pa

        if not len(rows):
            return QueryValues()
        with readable("a partition"):
            table = (
                pa.Table.from_pandas(rows, preserve_index=False) if hasattr(rows, "iloc") else rows
            )
        table = selected(table, self.columns, "the frame")
        found = bad_cell(table, self.columns)
        if found is not None:
            row, what = found
            query = table[self.columns.qid][row].as_py()
            raise ValueError(what + (f" for query {query!r}." if query is not None else "."))
        return self.of_table(table)

    def result(
        self, parts: Iterable[QueryValues], score: str | Sequence[str]
    ) -> RankingReport | Comparison:
        """The report of all parts, which may have no query in common; a Comparison of several columns."""
        total = QueryValues()
        for part in parts:
            total.add(part)
        if not len(total):
            raise ValueError("frame must hold at least one document; got none.")
        reports = {name: self.report(total, name) for name in self.columns.scores}
        if isinstance(score, str):
            return reports[score]
        return compare_reports(reports)


def import_engine(engine: str, module: str) -> tuple[Any, Any]:
    """Import what an engine needs, or raise an error that says how to install it; return its package and pyarrow."""
    try:
        importlib.import_module("pyarrow")
        importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f'{engine}.evaluate needs {module}: pip install ".[{engine}]" in a clone of the repository. ({error})'
        ) from None
    return sys.modules[module.partition(".")[0]], sys.modules["pyarrow"]


def wrong_frame(frame: Any, engine: str) -> TypeError:
    """The error for a frame that is not one of an engine."""
    kind = type(frame)
    return TypeError(f"frame must be a {engine} DataFrame; got {kind.__module__}.{kind.__name__}.")

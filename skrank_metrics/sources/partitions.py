"""What functions that evaluate columns compute from tables that hold whole queries: batches, or partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from skrank_metrics._engine.from_rows import documents_from_rows
from skrank_metrics._input.parameters import check_choice
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._input.types import Order
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.accumulator import CAME_BACK, ONLY, Evaluation, QueryValues
from skrank_metrics.sources.columns import Columns
from skrank_metrics.sources.table_files import readable
from skrank_metrics.sources.tables import array_of, selected, with_stream

if TYPE_CHECKING:
    from skrank_metrics.reports.comparison import Comparison


@dataclass(frozen=True)
class TableEvaluation(Evaluation):
    """What a function that evaluates columns computes, checked, and the columns."""

    columns: Columns

    def __post_init__(self) -> None:
        super().__post_init__()
        for argument in ("label", "score"):
            if not self.columns.of(argument):
                raise ValueError(f"{argument} must name at least one column; got none.")
        if self.condense and self.columns.judged is None:
            raise ValueError("condense=True requires judged=, the column of judged documents.")

    @property
    def signed(self) -> bool:
        """Whether labels may be negative; those that nobody judged are 0."""
        # One metric that needs labels >= 0 is enough to refuse negative ones.
        every = all(metric.computation.signed for metric in self.metrics.values())
        return every and self.columns.judged is None

    def check_shuffle(self, order: Order) -> None:
        """Refuse metrics that need the order of rows if it is lost."""
        stable = [name for name, metric in self.metrics.items() if metric.get("ties") == "stable"]
        if check_order(order) == "shuffle" and stable:
            raise ValueError(
                f"ties must not be 'stable' if rows are shuffled, since their order is lost; got it for {stable[0]!r}. "
                "Pass ties='average', or order='check' if all rows of a query are in one partition."
            )

    def of_table(self, table: Any, *, contiguous: bool = False) -> QueryValues:
        """Evaluate a checked table of whole queries."""
        arrays = {name: array_of(table[name]) for name in table.column_names}
        take = partial(self.columns.take, arrays=arrays)
        truth = documents_from_rows(
            take("label"),
            qid=take("qid"),
            judged=take("judged"),
            condense=self.condense,
            documents={name: np.asarray(arrays[name]) for name in self.columns.of("documents")},
            by=take("by"),
            groups=take("groups"),
        )
        if contiguous and truth.grouping.shuffled is not None:
            # Very short queries are numbered row by row even if their rows are contiguous.
            codes = truth.grouping.codes
            back = truth.queries.ids[codes[codes < np.maximum.accumulate(codes)]]
            if len(back):
                raise ValueError(CAME_BACK.format(as_python(back[:1])[0]))
        scores = take("score")
        if not isinstance(scores, dict):
            scores = {ONLY: scores}
        return self.of_scores(truth, scores, take("retrieved"), take("sample_weight"))

    def of_partition(self, rows: Any) -> QueryValues:
        """Evaluate all rows of some queries, a table of pandas or pyarrow, in any process."""
        import pyarrow as pa

        if not len(rows):
            return QueryValues()
        with readable("a partition"):
            # pyarrow may find columns of mixed types in frames of pandas.
            table = pa.table(with_stream(rows))
        table = selected(table, self.columns, "the frame")
        bad = self.columns.bad_cell(table, signed=self.signed)
        if bad is not None:
            row, what = bad
            raise ValueError(f"{what} for query {table[self.columns.qid][row].as_py()!r}.")
        return self.of_table(table)

    def result_of(self, parts: Iterable[QueryValues]) -> RankingReport | Comparison:
        """The report of all parts, which may have no query in common; a Comparison of several columns."""
        total = QueryValues()
        for part in parts:
            total.add(part)
        if not len(total):
            raise ValueError("frame must hold at least one document; got none.")
        return self.result(total)


def check_order(order: Order) -> Order:
    """Check the option of all functions that evaluate columns."""
    return check_choice(order, "order", ("check", "shuffle"))


def check_frame(frame: Any, kind: type, engine: str) -> None:
    """Refuse anything but a frame of an engine."""
    if not isinstance(frame, kind):
        given = type(frame)
        raise TypeError(
            f"frame must be a {engine} DataFrame; got {given.__module__}.{given.__name__}."
        )

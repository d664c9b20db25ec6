"""Metrics of a ranking that arrives in parts."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import DocumentCounts, Documents, Queries
from skrank_metrics._engine.from_rows import documents_from_rows, rank_rows
from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._input.arrays import places_in, to_objects
from skrank_metrics._input.grouping import query_weights
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.parameters import check_bool, check_choice
from skrank_metrics._input.query_ids import as_python, carried
from skrank_metrics._input.types import Booleans, Columns, Ids, Numbers, Order, Slices
from skrank_metrics._output.result import counted
from skrank_metrics.decisions._compare import compare_reports
from skrank_metrics.decisions._evaluate import scores_by_model
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.health import Counts, count, describe
from skrank_metrics.reports.ranking_report import RankingReport, values_of_report, with_data
from skrank_metrics.reports.report_data import ReportData
from skrank_metrics.sources.columns import TableColumns
from skrank_metrics.sources.tables import array_of, reading, selected, with_stream

if TYPE_CHECKING:
    from skrank_metrics.decisions.comparison import Comparison


ONLY = ""  # the name of a ranking that has none
_OPTIONAL = {"sample_weight", "by", "groups"}
CAME_BACK = (
    "query {!r} came back: all its documents must be in one update, batch or partition, and next to each other in a "
    "file. Sort or shuffle the rows by query id first, as order='shuffle' does."
)


class RankingAccumulator:
    """Compute the report of a ranking that arrives in parts, such as batches of a file or partitions of a cluster.

    Labels and scores are not kept, only the values per query. All documents of a query must be in the same update; a
    query that comes back, in a later update or in another accumulator, is an error, noticed by a 64-bit hash of its id.
    Different integers have different hashes; for other ids, 10^8 queries raise a false alarm about once in 3,700 runs.
    Means do not depend on the order in which parts are added and merged. Accumulators can be pickled.

    Parameters
    ----------
    metrics, convention, condense : as in evaluate
        Metrics to compute, and their defaults. With ``condense=True``, updates need ``judged``.

    See Also
    --------
    evaluate_batches : Evaluate files and streams.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b", so MRR is (1 + 1/2) / 2:

    >>> from skrank_metrics.sources import RankingAccumulator
    >>> one, other = RankingAccumulator("mrr"), RankingAccumulator("mrr")
    >>> one.update([1, 0], [2.0, 1.0], qid=["a", "a"]).merge(other.update([0, 1], [2.0, 1.0], qid=["b", "b"]))
    RankingAccumulator(['mrr'], 2 queries)
    >>> one.result().mean
    {'mrr': 0.75}
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        convention: ConventionName = "sklearn",
        condense: bool = False,
    ) -> None:
        self._evaluation = PartialEvaluation(bind_metrics(metrics, convention), condense)
        self._values = PartialValues()

    def __repr__(self) -> str:
        return f"RankingAccumulator({list(self._evaluation.metrics)}, {counted(self.n_queries, 'query')})"

    def __copy__(self) -> RankingAccumulator:
        # Later updates of one must not show in the other.
        return copy.deepcopy(self)

    @property
    def n_queries(self) -> int:
        """Number of queries so far."""
        return len(self._values)

    def update(
        self,
        y_true: Numbers,
        y_score: Numbers | Mapping[str, Numbers],
        *,
        qid: Ids,
        sample_weight: Numbers | None = None,
        retrieved: Booleans | None = None,
        judged: Booleans | None = None,
        documents: Columns | None = None,
        by: Slices | None = None,
        groups: Ids | None = None,
    ) -> RankingAccumulator:
        """Add documents of complete queries. A call that fails adds nothing.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Relevance labels.
        y_score : array-like of shape (n_documents,), or dict or frame of these
            Scores to rank by, or the scores of several models by name, the same in all updates.
        qid : array-like of shape (n_documents,)
            The query id of each document: integers, strings, dates, or tuples of these.
        sample_weight, retrieved, judged, documents, by, groups : default=None
            As in evaluate. Weights, slices and groups must each be passed in all updates or in none.

        Returns
        -------
        self : RankingAccumulator
            The accumulator. Earlier reports do not change.

        Raises
        ------
        TypeError, ValueError
            As in evaluate, and if a query was added before.
        """
        rows = carried(y_true, sample_weight=sample_weight, retrieved=retrieved)
        truth = documents_from_rows(
            y_true,
            qid=qid,
            judged=judged,
            condense=self._evaluation.condense,
            documents=documents,
            by=by,
            groups=groups,
            beside={"y_score": y_score, **rows},
        )
        scores = scores_by_model(y_true, y_score) or {ONLY: y_score}
        self._values.add(self._evaluation.of_scores(truth, scores, **rows))
        return self

    def merge(self, other: RankingAccumulator) -> RankingAccumulator:
        """Add the queries of another accumulator.

        Parameters
        ----------
        other : RankingAccumulator
            Accumulator with the same metrics and options, and other queries. It is not changed.

        Returns
        -------
        self : RankingAccumulator
            The accumulator.

        Raises
        ------
        TypeError, ValueError
            If other is not such an accumulator.
        """
        if not isinstance(other, RankingAccumulator):
            raise TypeError(f"other must be a RankingAccumulator; got {type(other).__name__}.")
        if self._evaluation.definition != other._evaluation.definition:
            raise ValueError("other must be made with the same metrics and options.")
        self._values.add(other._values)
        return self

    def result(self) -> RankingReport | Comparison:
        """Make the report of all documents so far.

        Returns
        -------
        report : RankingReport, or Comparison of several models
            Means, intervals, counts of undefined queries, and the part of the health that needs no rows. Methods that
            need labels and scores raise an error.

        Raises
        ------
        ValueError
            If there are no documents, or all weights are zero.
        """
        if not self.n_queries:
            raise ValueError("The accumulator holds no query; call update before result.")
        return self._evaluation.result(self._values)


@dataclass(frozen=True)
class PartialEvaluation:
    """What to compute, checked."""

    metrics: Mapping[str, BoundMetric]
    condense: bool

    def __post_init__(self) -> None:
        check_bool(self.condense, "condense")

    @property
    def definition(self) -> tuple[Any, ...]:
        """Equal if values can be added up."""
        # Averages are no part of a metric's definition, but decide what is kept.
        metrics = {
            name: (metric.definition, metric.average) for name, metric in self.metrics.items()
        }
        return metrics, self.condense

    def of_scores(
        self, documents: Documents, scores: Mapping[str, Any], retrieved: Any, sample_weight: Any
    ) -> PartialValues:
        """Evaluate rankings of the same documents, given scores, a mask and weights of the rows."""
        queries, ids = documents.queries, documents.grouping.ids
        weights = None
        if sample_weight is not None:
            weights = query_weights(sample_weight, documents.grouping, may_be_zero=True)
        optional = {"sample_weight": weights, "by": queries.by, "groups": queries.groups}
        kept: dict[Any, NDArray[Any]] = {
            "qid": ids,
            # Reports can be compared if their labels have the same digests.
            "digests": documents.digests,
            "sizes": documents.grouping.sizes.astype(np.uint32),
            "n_judged": documents.n_judged.astype(np.uint32),
        }
        kept |= {name: column for name, column in optional.items() if column is not None}
        values = PartialValues()
        computations = [metric.computation for metric in self.metrics.values()]
        for ranking, of_rows in scores.items():
            ranked = rank_rows(documents, of_rows, retrieved=retrieved)
            results = dict(zip(self.metrics, per_query(ranked, computations), strict=True))
            values.counts[ranking] = count(ranked)
            for name, result in results.items():
                if self.metrics[name].average != "micro":
                    kept[ranking, name] = result.values
                    continue
                # Pooled values are ratios over all documents, so both of their parts are kept.
                kept[ranking, name] = result.numerators
                kept[ranking, name, "shares"] = result.denominators
        # Columns are copied, since slices of large arrays would keep these in memory.
        values.parts = [{key: column.copy() for key, column in kept.items()}]
        values.seen = [np.sort(hash_ids(ids))]
        return values

    def result(self, values: PartialValues) -> RankingReport | Comparison:
        """The report of the only ranking, or the comparison of all."""
        reports = {ranking: self._report(values, ranking) for ranking in values.counts}
        if ONLY in reports:
            return reports[ONLY]
        return compare_reports(reports)

    def _report(self, values: PartialValues, ranking: str) -> RankingReport:
        kept = values.joined()
        weights = kept.get("sample_weight")
        if weights is not None and not weights.any():
            raise ValueError("sample_weight must not be zero everywhere.")
        results = {}
        for name in self.metrics:
            # Only pooled metrics have shares; to all others, each query is one.
            shares = kept.get((ranking, name, "shares"), np.broadcast_to(1.0, len(values)))
            results[name] = PerQuery(kept[ranking, name], shares)
        data = ReportData(
            Queries(kept["qid"], weights, kept.get("by"), kept.get("groups")),
            results,
            recorded_counts=DocumentCounts(kept["sizes"], kept["n_judged"], kept["digests"]),
        )
        report = RankingReport(self.metrics, data, self.condense)
        report.mean  # noqa: B018  sums that overflow raise here
        health = describe(
            values.counts[ranking], values_of_report(report), report.qid, condense=self.condense
        )
        return with_data(report, recorded_health=health)


class PartialValues:
    """Values of queries that arrive in parts, for one or several rankings of the same documents."""

    def __init__(self) -> None:
        # Arrays with one entry per query.
        self.parts: list[dict[Hashable, NDArray[Any]]] = []
        self.counts: dict[str, Counts] = {}  # by ranking
        # Sorted hashes of ids, in arrays that are at least twice as long as the next one.
        self.seen: list[Hashes] = []

    def __len__(self) -> int:
        return sum(len(part["qid"]) for part in self.parts)

    def add(self, other: PartialValues) -> None:
        """Add other queries."""
        if self.parts and other.parts:
            self._check_same(other)
        common = np.concatenate([np.empty(0, np.uint64), *map(self._common, other.seen)])
        if len(common):
            ids = other.joined()["qid"]
            back = ids[np.isin(hash_ids(ids), common)]
            raise ValueError(CAME_BACK.format(as_python(back)[0]))
        # From here on, nothing can fail.
        for hashes in other.seen:
            while self.seen and len(self.seen[-1]) < 2 * len(hashes):
                # For sorted arrays, this sort is a merge.
                hashes = np.sort(np.concatenate((self.seen.pop(), hashes)), kind="stable")
            self.seen.append(hashes)
        self.parts += map(dict, other.parts)
        for ranking, found in other.counts.items():
            self.counts.setdefault(ranking, Counter()).update(found)

    def _check_same(self, other: PartialValues) -> None:
        """Refuse queries with other rankings or columns."""
        if self.counts.keys() != other.counts.keys():
            raise ValueError(
                f"y_score must have the same models in all updates; got {list(other.counts)} after "
                f"{list(self.counts)}."
            )
        uneven = _OPTIONAL & (self.parts[0].keys() ^ other.parts[0].keys())
        if uneven:
            raise ValueError(
                f"Pass {min(uneven)} in all updates or in none; got some with and some without it."
            )

    def _common(self, hashes: Hashes) -> Hashes:
        """The sorted hashes that were seen, or occur twice."""
        again = [hashes[seen[places_in(seen, hashes)] == hashes] for seen in self.seen]
        return np.concatenate([hashes[1:][hashes[1:] == hashes[:-1]], *again])

    def joined(self) -> dict[Hashable, NDArray[Any]]:
        """Each array as one."""
        columns = {}
        for key in list(self.parts[0]):
            # Columns are joined one by one, so that nothing is in memory twice for long.
            columns[key] = _joined_parts([part.pop(key) for part in self.parts])
        self.parts = [columns]
        return columns


def _joined_parts(parts: list[NDArray[Any]]) -> NDArray[Any]:
    if len({(part.dtype.kind, part.dtype.kind in "mM" and part.dtype) for part in parts}) > 1:
        # NumPy would turn numbers into strings, and times far from 1970 into others.
        parts = [to_objects(as_python(part)) for part in parts]
    return np.concatenate(parts)


# What functions that evaluate columns compute from tables that hold whole queries: batches, or partitions.


@dataclass(frozen=True)
class TableEvaluation(PartialEvaluation):
    """What a function that evaluates columns computes, checked, and the columns."""

    columns: TableColumns

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

    def of_table(self, table: Any, *, contiguous: bool = False) -> PartialValues:
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

    def of_partition(self, rows: Any) -> PartialValues:
        """Evaluate all rows of some queries, a table of pandas or pyarrow, in any process."""
        import pyarrow as pa

        if not len(rows):
            return PartialValues()
        with reading("a partition"):
            # pyarrow may find columns of mixed types in frames of pandas.
            table = pa.table(with_stream(rows))
        table = selected(table, self.columns, "the frame")
        bad = self.columns.bad_cell(table, signed=self.signed)
        if bad is not None:
            row, what = bad
            raise ValueError(f"{what} for query {table[self.columns.qid][row].as_py()!r}.")
        return self.of_table(table)

    def result_of(self, parts: Iterable[PartialValues]) -> RankingReport | Comparison:
        """The report of all parts, which may have no query in common; a Comparison of several columns."""
        total = PartialValues()
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

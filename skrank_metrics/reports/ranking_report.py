"""The values of several metrics for one ranking: means with intervals, queries, slices, and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import FloatArray, IntArray, check_weights, to_float64
from skrank_metrics._input.columns import OF_QUERIES, find_column, frame_columns, role_of
from skrank_metrics._input.parameters import (
    by_text,
    check_bool,
    check_choice,
    check_int,
    check_number,
)
from skrank_metrics._input.query_ids import as_python, check_aligned, counts_rows, group_ids
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics._output.result import (
    LIBRARIES,
    MOST_NOTES,
    Note,
    QueryValues,
    ReadOnly,
    Result,
    Section,
    counted,
    make_frame,
)
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import check_column, get_metric
from skrank_metrics.reports.facts import (
    UNKNOWN,
    ByMetric,
    MetricValues,
    Origin,
    fact_columns,
    flat_facts,
    largest,
    name_of_slice,
    names_of_slices,
    nested_facts,
    note_on_largest,
    queries_of_slices,
    table_of_facts,
    table_of_slices,
)
from skrank_metrics.reports.health import Health, examine
from skrank_metrics.reports.inspection import Inspection, inspect_reports
from skrank_metrics.reports.mean_intervals import CONFIDENCES, bounds_of, weighting
from skrank_metrics.reports.report_data import ReportData
from skrank_metrics.reports.saved import (
    metric_of_column,
    read_saved,
    restored_fields,
    saved_fields,
    write_saved,
)

# Reports of values per query from anywhere, as columns of a frame.

# Values may exceed the bounds of their metric by this much, due to rounding.
_ROUNDING = 1e-9
# Columns that hold no values of a metric.
_ABOUT = ("qid", "weight", "by", "group")


def frame_fields(frame: Any, metrics: Any) -> dict[str, Any]:
    """The fields of a report from a frame with one row per query."""
    columns = by_text(frame_columns(frame, "frame"), "frame", " Rename the columns.")
    if not columns:
        raise TypeError(f"frame must be a frame or a dict of columns; got {type(frame).__name__}.")
    columns["qid"] = _ids_of_rows(frame, columns)
    if len(set(map(np.shape, columns.values()))) > 1:
        raise ValueError(
            "frame must hold one value per query in each column; got columns of different lengths."
        )
    check_aligned(**columns)
    qid = _queries(columns)
    results = {}
    bound = _metrics_of(columns, metrics)
    for name, metric in bound.items():
        results[name] = _result_of(columns[name], name, metric)
    return {"metrics": bound, "_data": ReportData(qid, results)}


def _ids_of_rows(frame: Any, columns: dict[str, Any]) -> Any:
    """The query ids: a column, or else the index, which is often just a count of rows."""
    index = getattr(frame, "index", None)
    name = "qid"
    if name not in columns:
        name = find_column("query", list(columns), {}, "frame")
    if name is None:
        if index is None:
            raise TypeError("frame must have a column 'qid', or the query ids as its index.")
        return index
    if name != "qid" and index is not None and not counts_rows(index):
        raise ValueError(
            f"frame has an index and a column {name!r}, and either may hold the query ids. Rename the column to 'qid', "
            "or drop it."
        )
    return columns.pop(name)


def _queries(columns: Mapping[str, Any]) -> Queries:
    """Ids, weights, slices and groups of the queries."""
    ids = columns["qid"]
    qid = group_ids(ids, len(ids), rows_of="frame").ids
    if len(qid) < len(ids):
        raise ValueError(
            "frame must have one row per query, but query ids repeat. Average the rows of a query first."
        )
    weights = by = groups = None
    if "weight" in columns:
        weights = check_weights(columns["weight"], len(qid), "query").copy()
    if "by" in columns:
        by = slice_of_query(columns["by"], ids=qid)
    if "group" in columns:
        groups = slice_of_query(columns["group"], ids=qid, name="groups")
    return Queries(qid, weights, by, groups)


def _metrics_of(columns: Mapping[str, Any], metrics: Any) -> dict[str, BoundMetric]:
    """The metrics of columns by their names."""
    if metrics is None:
        metrics = [name for name in columns if name not in _ABOUT]
        for name in metrics:
            if role_of(name) in ("query", "document", *OF_QUERIES):
                raise ValueError(
                    f"Column {name!r} holds no values of a metric, by its name. Rename it to 'weight', 'group' or "
                    "'by', drop it, or name the columns of values with metrics=."
                )
    if isinstance(metrics, Mapping):
        bound = {str(name): get_metric(metric) for name, metric in metrics.items()}
    else:
        names = [metrics] if isinstance(metrics, str) else map(str, metrics)
        bound = {name: metric_of_column(name) for name in names}
    if not bound:
        raise ValueError("frame must have at least one column of values; got none.")
    for name in bound:
        check_choice(name, "metrics", columns)
    return bound


def _result_of(column: Any, name: str, metric: BoundMetric) -> PerQuery:
    """The values of a column, which must be within the range of its metric."""
    values = to_float64(column, name)
    low, high = bounds_of(metric)
    is_outside = (values < low - _ROUNDING) | (values > high + _ROUNDING) | np.isinf(values)
    if is_outside.any():
        raise ValueError(
            f"Column {name!r} holds {values[is_outside][0]:g}, outside the range of {metric}, {low:g} to {high:g}. "
            "Divide percentages by 100; rename the column if it is another metric."
        )
    # Reports keep values with the sign of the metric itself, of which neg_ has the negative.
    numerators = 0.0 - values if metric.negative else values.copy()
    return PerQuery(numerators, np.ones(len(values)))


# The values of several metrics for one ranking: means with intervals, queries, slices, and warnings.


@dataclass(frozen=True, repr=False, eq=False)
class RankingReport(Result):
    """Values of ranking metrics, as means and per query.

    Prints as a table in terminals and notebooks. ``to_frame()`` gives one row per query, with the ids as index (in
    polars, as the first column, "qid"), and columns "by", "group" and "weight" if there are any.

    ``health`` and ``slices`` are computed from labels and scores on first use, which includes printing. Arrays of
    float64 that are sorted by query are not copied, so do not overwrite the scores before that. Reports that were made
    in batches, loaded from a file, or made from a frame keep no labels and scores, so their health says nothing of
    ties. Where an argument ``metric`` is None, the first metric is meant; it may also be passed as to evaluate.

    Attributes
    ----------
    metrics : dict of str to BoundMetric
        The metrics by name, as returned by get_metric; ``greater_is_better`` is one of their attributes.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance, which is the order of the arrays in ``per_query``.
    weights : ndarray of shape (n_queries,) or None
        Weights of the queries; None if there are none.
    by : ndarray of shape (n_queries,) or None
        The slice of each query: its value, None for a missing value, or a tuple of the values of several columns. None
        if there are no slices.
    groups : ndarray of shape (n_queries,) or None
        The group of each query, such as its user; None if queries are independent.
    condensed : bool
        Whether documents that nobody judged were left out of the lists.
    folds : ndarray of int of shape (n_queries,) or None
        The fold in which each query was tested, if the ranking is out of fold.
    origin : Origin
        ``convention`` of an evaluation of lists by id, and ``files``, how each was read: ``name``, ``form`` such as
        "TREC judgments", and ``n_queries``.

    Examples
    --------
    The relevant documents are at ranks 1 and 3 in query "a", and at rank 2 in query "b":

    >>> from skrank_metrics import evaluate
    >>> report = evaluate([1, 0, 1, 0, 1], [3.0, 2.0, 1.0, 2.0, 1.0], qid=list("aaabb"), metrics=["dcg@3", "mrr"])
    >>> report.to_dict(flat=True)["mrr"], dict(report.worst(1, metric="mrr"))
    (0.75, {'b': 0.5})
    """

    _index: ClassVar[str | None] = "qid"
    _display: ClassVar[str | None] = "QueryScoreDisplay"

    metrics: Mapping[str, BoundMetric]
    _data: ReportData
    condensed: bool = False
    _: KW_ONLY
    origin: Origin = UNKNOWN

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", ReadOnly(self.metrics))

    @property
    def qid(self) -> NDArray[Any]:
        """Query ids."""
        ids = self._data.queries.ids.view()
        ids.setflags(write=False)  # as of the values
        return ids

    @property
    def weights(self) -> FloatArray | None:
        """Weights of the queries."""
        if self._data.queries.weights is None:
            return None
        weights = self._data.queries.weights.view()
        weights.setflags(write=False)
        return weights

    @property
    def by(self) -> NDArray[Any] | None:
        """The slice of each query."""
        return self._data.queries.by

    @property
    def groups(self) -> NDArray[Any] | None:
        """The group of each query."""
        return self._data.queries.groups

    @property
    def folds(self) -> IntArray | None:
        """The fold in which each query was tested."""
        return self._data.queries.folds

    @cached_property
    def _values(self) -> dict[str, MetricValues]:
        """The values of each metric, from which its facts are computed."""
        return {
            name: MetricValues(metric, self._data.results[name], self.weights, self.groups)
            for name, metric in self.metrics.items()
        }

    @cached_property
    def mean(self) -> dict[str, float]:
        """Mean over queries by name of the metric, or another average if the metric has one."""
        return ReadOnly({name: values.mean for name, values in self._values.items()})

    @cached_property
    def per_query(self) -> dict[str, FloatArray]:
        """One value per query by name of the metric; undefined values are replaced by ``replace_undefined_by``."""
        return {name: values.per_query for name, values in self._values.items()}

    @cached_property
    def n_undefined(self) -> dict[str, int]:
        """Number of queries for which each metric is undefined, such as those without relevant documents."""
        return {name: values.n_undefined for name, values in self._values.items()}

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.qid)

    @property
    def n_documents(self) -> int | None:
        """Number of documents of all queries; None if unknown, as in reports from a frame."""
        counts = self._data.counts
        if counts is None:
            return None
        return int(counts.n_documents.sum())

    @property
    def std(self) -> dict[str, float]:
        """Weighted standard deviation over queries by name of the metric; queries with the value NaN are left out."""
        return {name: values.std for name, values in self._values.items()}

    def intervals(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Confidence intervals of the means by name of the metric, over queries, or over groups if there are any.

        They are Student's t; for bounded metrics, half an observation is added at each bound, and for metrics that are
        0 or 1 they are those of Agresti and Coull. Both ends are NaN if fewer than two queries or groups have a value,
        if all values of an unbounded metric are equal, or for medians and geometric means.
        """
        check_number(confidence, "confidence", CONFIDENCES)
        return {name: values.interval(confidence) for name, values in self._values.items()}

    @cached_property
    def slices(self) -> dict[Any, RankingReport]:
        """One report per slice, keyed by the value of ``by``, sorted if possible; empty without ``by``."""
        if self.by is None:
            return {}
        places = dict(queries_of_slices(self.by))
        return ReadOnly({name: subset(self, of_slice) for name, of_slice in places.items()})

    @cached_property
    def health(self) -> Health:
        """Findings about ties, queries without a value and likely mistakes, one sentence each."""
        if self._data.has_documents:
            by_id = self.origin.convention == "trec_eval"
            return examine(self._data.own_ranking, self._values, self._data.left_out, by_id=by_id)
        return self._data.recorded_health or Health()

    def worst(self, n: int = 10, metric: Any = None) -> QueryValues:
        """Values of the n worst queries by id, the worst first, without those for which the metric is undefined."""
        check_int(n, "n", 1)
        name = self._name(metric)
        # An undefined value says nothing about the model, even though it may count as 0.
        defined = np.flatnonzero(~np.isnan(self._data.results[name].values))
        values = self.per_query[name][defined]
        if not self.metrics[name].greater_is_better:
            values = -values
        order = defined[np.argsort(values, kind="stable")][:n]
        worst = self.per_query[name][order].tolist()
        return QueryValues(zip(as_python(self.qid[order]), worst, strict=True), name=name)

    def _name(self, metric: Any) -> str:
        if metric is None:
            return next(iter(self.metrics))
        return check_column(metric, self.metrics)

    def inspect(self, qid: Any, *, metric: Any = None, n_ranks: int | None = None) -> Inspection:
        """Show one or several queries rank by rank: labels, scores, and what each rank adds to a metric.

        What a rank adds is the difference between the values with the cutoff at this rank and at the rank above, both
        divided as at the cutoff of the metric, so that all ranks add up to the value. The ideal order also ranks the
        documents that were not retrieved; metrics that divide by the number of ranked documents then have none.

        Columns that were passed as ``documents`` to evaluate, such as texts, are shown beside the ranks. ``n_ranks`` is
        None for all ranks up to the cutoff of the metric, at most 20.
        """
        return inspect_reports({"": self}, self._name(metric), qid, n_ranks)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Means with their intervals and standard deviations, for each metric and, in "slices", for each slice.

        The values are named as the columns of ``to_frame("means")``, such as "mean" and "std". Those of slices also
        have "n_queries", and if there is no interval, its ends "low" and "high" are left out. If flat, the dict has a
        single level of keys made of ASCII letters, digits and underscores, as experiment trackers require:
        "ndcg_at_10", "ndcg_at_10_low", "ndcg_at_10_slice_de", "ndcg_at_10_low_slice_de" and so on. Other characters of
        slices become "_x", their code in hexadecimal digits and "_": "C++" is "C_x2b__x2b_". The values of several
        columns are joined by "_x_".
        """
        if check_bool(flat, "flat"):
            return flat_facts(self._values, self._values_of_slices())
        return nested_facts(self._values, self._values_of_slices())

    def _values_of_slices(self) -> dict[Any, ByMetric]:
        return {value: report._values for value, report in self.slices.items()}

    def to_frame(  # type: ignore[override]  # what the rows are comes first
        self,
        rows: Literal["queries", "means", "pandas", "polars"] = "queries",
        library: Literal["pandas", "polars"] = "pandas",
    ) -> Any:
        """Put the values into a data frame of "pandas" or "polars", with one row per query, or "means" of each metric.

        Means come with their intervals, standard deviations and other facts, first of all queries, then of each slice.
        The library can also be the first argument, as in other results.
        """
        if check_choice(rows, "rows", ["queries", "means", *LIBRARIES]) == "means":
            return make_frame(library, mean_columns(self), None)
        # All other results have the library first.
        chosen = rows if rows in LIBRARIES else library
        return make_frame(chosen, self._columns(), self._index)

    def save(self, path: Any) -> None:
        """Write the report to a file, to compare it with later ones.

        The file is JSON, with a version of the format and a checksum. It holds the values per query, the ids with their
        types, the metrics, weights, slices, groups, the health, and digests of the labels and document ids of each
        query, with which ``compare`` notices other judgments, but neither labels nor scores. Ids, slices and groups
        must be numbers, text, dates with or without a time, bytes or tuples of these; documents by id can also have
        UUIDs, but not objects of your own class. An existing file is replaced only by a complete one.
        """
        write_saved("report", saved_report(self), path)

    @classmethod
    def load(cls, path: Any) -> RankingReport:
        """Read a report that ``save`` wrote; it has no labels and scores.

        Functions are not written to files, so an own metric, or one with a function as parameter, keeps its name,
        bounds and direction, but cannot be computed. Such metrics compare with others that were saved and loaded.
        """
        return cls(**restored_fields(*read_saved("report", path)))

    @classmethod
    def from_frame(cls, frame: Any, *, metrics: Any = None) -> RankingReport:
        """Make a report of values per query from anywhere, such as another library or a judge.

        Parameters
        ----------
        frame : frame of pandas, polars or pyarrow, or dict of columns
            One row per query, with one column of numbers per metric. A column named like a metric of this package, such
            as "ndcg@10" or trec_eval's "ndcg_cut_10", has its bounds and direction. For any other name, larger values
            are better: pass negatives otherwise. NaN is an undefined value, which counts as 0 for metrics of this
            package, as in evaluate, and is left out of the mean of others. The column "qid", or else one with another
            usual name, such as "query_id" or "user", or else the index of the frame, holds the query ids; columns named
            "weight", "by" and "group" are those of evaluate. Columns with similar names are refused as metrics.
        metrics : sequence of str, or dict of str to metric, default=None
            Columns to take as metrics, or the metric that each of them holds. None means all others.

        Returns
        -------
        report : RankingReport
            A report without labels and scores.

        Examples
        --------
        >>> import pandas as pd
        >>> from skrank_metrics.reports import RankingReport
        >>> frame = pd.DataFrame({"recip_rank": [1.0, 0.5], "helpful": [4, 2]}, index=["q1", "q2"])
        >>> RankingReport.from_frame(frame).mean
        {'recip_rank': 0.75, 'helpful': 3.0}
        """
        return cls(**frame_fields(frame, metrics))

    # Text and frames

    def _brief(self) -> str:
        return f"{', '.join(self.metrics)} of {counted(self.n_queries, 'query')}"

    def _headline(self) -> str:
        name, mean = next(iter(self.mean.items()))
        return f"{name} is {mean:.4f} over {counted(self.n_queries, 'query')}"

    def _explanations(self) -> list[str]:
        docs = {name: metric.function.__doc__ for name, metric in self.metrics.items()}
        return [f"{name}: {doc.splitlines()[0]}" for name, doc in docs.items() if doc]

    def _columns(self) -> dict[str, Any]:
        by: Any = self.by
        # A library of frames would take tuples for rows or lists.
        if by is not None and by.dtype == object:
            values = as_python(by)
            by = [name_of_slice(one) if isinstance(one, tuple) else one for one in values]
        columns = {"qid": self.qid, "by": by, "group": self.groups, "weight": self.weights}
        known = {name: column for name, column in columns.items() if column is not None}
        return known | self.per_query

    def _sections(self) -> list[Section]:
        tables, notes = self._printed()
        more = "More: pass two rankings to compare them; intervals of single ones cannot do that"
        n_further = len(notes) - MOST_NOTES
        if n_further > 0:
            more = f"More: .health has {counted(n_further, 'more finding')}"
        return [*tables, *notes[:MOST_NOTES], *self.origin.note, Note("", more)]

    def _whole(self) -> list[Section]:
        tables, notes = self._printed()
        return [*tables, *notes, *self.origin.note]

    def _printed(self) -> tuple[list[Section], list[Section]]:
        """The tables, and the sentences below them."""
        title = f"{self.origin.run}: {counted(self.n_queries, 'query')}".removeprefix(": ")
        if self.groups is not None:
            title += f" in {counted(len(set(self.groups.tolist())), 'group')}"
        if self.n_documents is not None:
            title += f", {counted(self.n_documents, 'document')}"
        title += self.origin.title
        tables: list[Section] = [table_of_facts(self._values, title)]
        slices = {name: report._values for name, report in shown_slices(self).items()}
        notes: list[Section] = [*weighting(self.weights), *self.health.findings]
        if slices:
            tables.append(table_of_slices(slices))
            notes = [*note_on_largest(len(slices), len(self.slices), '.to_frame("means")'), *notes]
        return tables, notes


def values_of_report(report: RankingReport) -> dict[str, MetricValues]:
    """The values of each metric, from which its facts are computed."""
    return report._values


def with_data(report: RankingReport, **changes: Any) -> RankingReport:
    """The report with other data; nothing is computed again."""
    return replace(report, _data=replace(report._data, **changes))


def with_queries(report: RankingReport, **columns: Any) -> RankingReport:
    """The report with other slices, groups, folds or weights of its queries."""
    return with_data(report, queries=replace(report._data.queries, **columns))


def with_metrics(report: RankingReport, columns: Mapping[str, str]) -> RankingReport:
    """The report with some of its metrics, by other names."""
    metrics = {name: report.metrics[column] for name, column in columns.items()}
    results = {name: report._data.results[column] for name, column in columns.items()}
    return replace(report, metrics=metrics, _data=replace(report._data, results=results))


def subset(report: RankingReport, places: IntArray) -> RankingReport:
    """The report of some of the queries, by position, without slices."""
    return replace(report, _data=report._data.take(places))


def mean_columns(report: RankingReport) -> dict[str, list[Any]]:
    """Columns of means: first of all queries, then of the slices."""
    return fact_columns(report._values, report._values_of_slices())


def shown_slices(report: RankingReport) -> dict[str, RankingReport]:
    """The largest slices by name."""
    names = names_of_slices(report.slices)
    return {names[value]: part for value, part in largest(report.slices).items()}


def saved_report(report: RankingReport) -> dict[str, Any]:
    """What a file holds, as JSON's types."""
    counts = report._data.counts
    if counts is not None:
        # These alone notice that labels moved between the documents of a query.
        counts = replace(counts, id_digests=report._data.id_digests(in_this_process=False))
    return saved_fields(
        report.metrics,
        report._data.queries,
        report._data.results,
        report.condensed,
        counts,
        report.health,
    )


def share_documents(one: RankingReport, other: RankingReport) -> bool:
    """Whether both rank the very same documents, which then need no comparison."""
    first, second = one._data, other._data
    if first.ranking is None or second.ranking is None or first.places is not second.places:
        return False
    return first.ranking.documents is second.ranking.documents

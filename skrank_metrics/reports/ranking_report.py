"""The values of several metrics for one ranking: means with intervals, queries, slices, and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.label_orders import MOST_ORDERS, N_DRAWN
from skrank_metrics._input.arrays import FloatArray, IntArray, check_bool, check_int
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.chart import Chart, Mark
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Table, as_text
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports._columns import check_column
from skrank_metrics.reports._evaluation import Evaluation
from skrank_metrics.reports._slices import (
    ALL,
    check_parts,
    column_of_slices,
    largest,
    names_of_slices,
    queries_of_slices,
)
from skrank_metrics.reports._summary import distribution, flatten
from skrank_metrics.reports._totals import NO_QUERIES, NO_ROWS, NoValues, Totals
from skrank_metrics.reports.health import Health, count_drawn, examine, may_draw
from skrank_metrics.reports.inspection import Inspection, inspect_rankings, places_of
from skrank_metrics.reports.mean_intervals import (
    METHOD,
    NO_INTERVAL,
    Moments,
    bounds_of,
    check_confidence,
    mean_interval,
    moments,
    weighting,
    why_none,
)

_SUMMARY = ("n_queries", "mean", "low", "high", "std", "n_undefined")


@dataclass(frozen=True, repr=False, eq=False)
class RankingReport(Result):
    """Values of ranking metrics, as means and per query.

    Prints as a table, also in notebooks. ``to_frame()`` gives one row per query, with the ids as index (in polars, as
    the first column, "qid"), a column "by" if there are slices, and a column "weight" if there are weights.

    ``health`` and ``slices`` are computed from labels and scores on first use, which includes printing. Arrays of
    float64 that are sorted by query are not copied, so do not overwrite the scores before that. Reports of
    RankingAccumulator and evaluate_batches keep no labels and scores, so their health has no counts of ties.

    Attributes
    ----------
    mean : dict of str to float
        Mean over queries by name of the metric, or another average if the metric has one.
    per_query : dict of str to ndarray of shape (n_queries,)
        One value per query by name of the metric; undefined values are replaced by ``replace_undefined_by``.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance, which is the order of the arrays in ``per_query``.
    n_undefined : dict of str to int
        Number of queries for which each metric is undefined, such as those without relevant documents.
    n_documents : int
        Number of documents of all queries.
    weights : ndarray of shape (n_queries,) or None
        Weights of the queries; None if there are none.
    by : ndarray of shape (n_queries,) or None
        The slice of each query: its value, None for a missing value, or a tuple of the values of several columns. None
        if there are no slices.
    """

    _index: ClassVar[str | None] = "qid"

    mean: dict[str, float]
    per_query: dict[str, FloatArray]
    qid: NDArray[Any]
    n_undefined: dict[str, int]
    n_documents: int
    weights: FloatArray | None = None
    by: NDArray[Any] | None = None
    _evaluation: Evaluation | Totals = field(kw_only=True)

    @property
    def n_queries(self) -> int:
        """Number of queries, even if no values per query were kept."""
        return self._evaluation.n_queries

    @property
    def has_documents(self) -> bool:
        """Whether the labels and scores were kept; False for reports made in batches."""
        return isinstance(self._evaluation, Evaluation)

    @property
    def label_digests(self) -> tuple[IntArray, NDArray[np.uint64]]:
        """Number of judged documents of each query, and a number that depends on their labels."""
        evaluation = self._evaluation
        sizes = evaluation.sizes if isinstance(evaluation, Totals) else evaluation.lists.n_judged
        return sizes, evaluation.digests

    @property
    def documents(self) -> tuple[IntArray, FloatArray]:
        """Number of judged documents of each query, and their labels, largest first within each query."""
        if isinstance(self._evaluation, Totals):
            raise ValueError(f"documents are not available: {NO_ROWS}.")
        lists = self._evaluation.lists
        judged = slice(None) if lists.judged is None else lists.judged
        queries, labels = np.repeat(np.arange(lists.n_queries), lists.grouping.sizes)[judged], lists.labels[judged]
        return lists.n_judged, labels[np.lexsort((-labels, queries))]

    @property
    def grouping(self) -> Grouping | None:
        """The evaluated rows, grouped by query; None if they were not kept."""
        return None if isinstance(self._evaluation, Totals) else self._evaluation.lists.grouping

    @property
    def condensed(self) -> bool:
        """Whether documents that nobody judged were left out of the lists."""
        return self._evaluation.condensed

    @property
    def metrics(self) -> Mapping[str, BoundMetric]:
        """The metrics by name, as returned by get_metric; ``greater_is_better`` is one of their attributes."""
        return self._evaluation.metrics

    @property
    def std(self) -> dict[str, float]:
        """Weighted standard deviation over queries by name of the metric; queries with the value NaN are left out."""
        return {name: self._moments(name, pooled=False).std for name in self.mean}

    def intervals(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Compute confidence intervals of the means with Student's t distribution over queries.

        The queries are treated as a random sample. If the metric is bounded, half an observation is added at each bound
        and the interval is clipped to the bounds. In simulations with 10, 30 and 100 queries, at least 93% of such 95%
        intervals covered the population mean, even if nearly all queries had the same value. For metrics that are 0 or
        1, coverage fluctuates with the number of queries: it is 95% on average and 85% in the worst case. For unbounded
        metrics such as DCG, it depends on the distribution of the values, and is close to nominal from 30 queries on.

        Parameters
        ----------
        confidence : float, default=0.95
            Share of intervals that should cover the population mean, in (0, 1).

        Returns
        -------
        intervals : dict of str to tuple of float
            Lower and upper end by name of the metric; NaN if fewer than two queries have a value, if all values of an
            unbounded metric are equal, or if the average is a median or a geometric mean.
        """
        check_confidence(confidence)
        return {
            name: (np.nan, np.nan)
            if self.metrics[name].average in NO_INTERVAL
            else mean_interval(self._moments(name), bounds_of(self.metrics[name]), confidence)
            for name in self.mean
        }

    def _moments(self, name: str, *, pooled: bool = True) -> Moments:
        evaluation = self._evaluation
        if isinstance(evaluation, Totals) and evaluation.sums:
            sums = evaluation.sums[name]
            return (sums.pooled if pooled and self.metrics[name].average == "micro" else sums.values).moments()
        return moments(self.per_query[name], self._weights_of(name) if pooled else self.weights)

    def _weights_of(self, name: str) -> FloatArray | None:
        # A pooled ratio is the mean of the ratios of the queries, each weighted by its denominator.
        if self.metrics[name].average != "micro":
            return self.weights
        sizes = self._evaluation.results[name].denominators
        return sizes if self.weights is None else sizes * self.weights

    @cached_property
    def slices(self) -> dict[Any, RankingReport]:
        """One report per slice, keyed by the value of ``by``, sorted if possible; empty without ``by``."""
        if self.by is None:
            return {}
        return {name: make_report(self._evaluation.part(queries)) for name, queries in queries_of_slices(self.by)}

    @cached_property
    def health(self) -> Health:
        """Counts of ties, repeated rows and degenerate queries, with one sentence per finding that matters."""
        return self._evaluation.health if isinstance(self._evaluation, Totals) else examine(self._evaluation)

    @cached_property
    def _n_drawn(self) -> int:
        """Number of queries for which custom metrics are means over orders of ties drawn at random."""
        evaluation = self._evaluation
        return 0 if isinstance(evaluation, Totals) else count_drawn(evaluation)

    def means_by(self, codes: IntArray) -> dict[str, FloatArray]:
        """Average the metrics over parts of the queries, such as the folds in which they were tested.

        Parameters
        ----------
        codes : array-like of int of shape (n_queries,)
            The part of each query: 0, 1 and so on.

        Returns
        -------
        means : dict of str to ndarray of shape (n_parts,)
            Mean of each part by name of the metric.

        Raises
        ------
        TypeError
            If the parts are not integers.
        ValueError
            If there is not one part per query, a part is negative, or the index of a Series holds the query ids in
            another order.
        """
        self._check_queries("means_by")
        numbers = check_parts(codes, self.qid)
        parts = [self._evaluation.part(np.flatnonzero(numbers == part)) for part in range(int(numbers.max()) + 1)]
        return {name: np.array([part.mean(name) for part in parts]) for name in self.mean}

    def worst(self, n: int = 10, metric: Any = None) -> dict[Any, float]:
        """List the queries with the worst values.

        Parameters
        ----------
        n : int, default=10
            Number of queries.
        metric : str, metric function or bound metric, default=None
            A metric of the report, by its name there or as passed to evaluate; None means the first.

        Returns
        -------
        values : dict
            Value by query id, the worst first. Queries for which the metric is undefined are left out.
        """
        check_int(n, "n", 1)
        self._check_queries("worst")
        name = next(iter(self.mean)) if metric is None else check_column(metric, self.metrics)
        values = self._evaluation.results[name].values
        # An undefined value says nothing about the model, even though it may count as 0.
        defined = np.flatnonzero(~np.isnan(values))
        sign = 1 if self.metrics[name].greater_is_better else -1
        order = defined[np.argsort(sign * self.per_query[name][defined], kind="stable")][:n]
        return dict(zip(as_python(self.qid[order]), self.per_query[name][order].tolist(), strict=True))

    def inspect(self, qid: Any, *, metric: Any = None, documents: Any = None, n_ranks: int | None = None) -> Inspection:
        """Show single queries rank by rank: labels, scores, and what each rank adds to a metric.

        DCG, average precision, the reciprocal rank, RBP, ERR and most other metrics are sums over ranks: of gain /
        discount, of the precision at each relevant document, or of the probability of stopping there. What a rank adds
        is the difference between the values with the cutoff at this rank and at the rank above. Both are divided as at
        the cutoff of the metric, so that the contributions of all ranks add up to the value. The ideal order also ranks
        the documents that were not retrieved, except for metrics that divide by the number of ranked documents.

        Parameters
        ----------
        qid : query id, or sequence of query ids
            The queries to show, such as ``report.worst(3)``.
        metric : str, metric function or bound metric, default=None
            A metric of the report, by its name there or as passed to evaluate; None means the first.
        documents : frame, Series, array-like or list with one entry per row, default=None
            Features or texts of the documents, in the order of the rows that were evaluated. At most 8 features and 160
            characters are shown.
        n_ranks : int, default=None
            Number of ranks to show. None means up to the cutoff of the metric, at most 20.

        Returns
        -------
        inspection : Inspection
            Prints as one table per query.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If an id or the metric is not in the report, ``documents`` has the wrong length, or the report kept no
            labels and scores because it was made in batches.

        Examples
        --------
        The relevant documents are at ranks 1 and 3, where they add 1 / log2(2) = 1 and 1 / log2(4) = 1/2. In the ideal
        order, the second one adds 1 / log2(3) = 0.63:

        >>> from skrank_metrics import evaluate
        >>> report = evaluate([1, 0, 1], [0.9, 0.5, 0.1], qid=["a", "a", "a"], metrics="dcg@3")
        >>> print(report.inspect("a"))
        dcg@3 of 1 query
        Query a: 1.5000, 92% of the ideal; 3 ranked documents, 2 relevant documents
        rank  row  label  score  discount    adds   ideal  share
        1       0      1    0.9    1.0000  1.0000  1.0000    61%  ##########
        2       1      0    0.5    1.5850  0.0000  0.6309     0%  ......
        3       2      1    0.1    2.0000  0.5000  0.0000    31%  #####
        <BLANKLINE>
        adds: what a rank adds to dcg@3; ...
        """
        name = next(iter(self.mean)) if metric is None else check_column(metric, self.metrics)
        return inspect_reports({"": (self, name)}, qid, documents, n_ranks)

    def _check_queries(self, who: str) -> None:
        if not self.per_query:
            raise ValueError(f"{who} needs values per query; {NO_QUERIES}.")

    def _columns(self) -> dict[str, Any]:
        self._check_queries("to_frame")
        by = {} if self.by is None else {"by": column_of_slices(self.by)}
        weight = {} if self.weights is None else {"weight": self.weights}
        return {"qid": self.qid, **by, **weight, **self.per_query}

    def to_frame(self, library: str = "pandas", *, summary: bool = False) -> Any:
        """Put the values per query, or the means, into a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Library of the frame.
        summary : bool, default=False
            Whether to return one row per metric, and per slice if there are any, with the columns "metric", "slice",
            "n_queries", "mean", "low", "high", "std" and "n_undefined". To print it, pandas has ``to_markdown``, which
            needs the package tabulate, and ``to_latex``.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Without ``summary``, one row per query.

        Raises
        ------
        ImportError
            If the library is not installed.
        """
        if check_bool(summary, "summary"):
            return self._frame(library, self._summary(), "metric")
        return super().to_frame(library)

    def _summary(self) -> dict[str, list[Any]]:
        """Columns of means: first of all queries, then of the slices."""
        reports = [(ALL, self), *zip(names_of_slices(self.slices).values(), self.slices.values(), strict=True)]
        columns: dict[str, list[Any]] = {name: [] for name in ("metric", "slice", *_SUMMARY)}
        for name, report in reports:
            intervals, std = report.intervals(), report.std
            for metric, mean in report.mean.items():
                low, high = intervals[metric]
                values = [metric, name, report.n_queries, mean, low, high, std[metric], report.n_undefined[metric]]
                for column, value in zip(columns.values(), values, strict=True):
                    column.append(value)
        if not self.slices:
            del columns["slice"]
        return columns

    @overload
    def to_dict(self, *, flat: Literal[False] = ...) -> dict[str, dict[str, Any]]: ...
    @overload
    def to_dict(self, *, flat: Literal[True]) -> dict[str, float]: ...
    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Put the means with their intervals and standard deviations into a dict.

        Parameters
        ----------
        flat : bool, default=False
            Whether to return a single level of keys made of letters, digits and underscores, as experiment trackers
            require: "ndcg_at_10", "ndcg_at_10_low" and so on.

        Returns
        -------
        values : dict
            For each metric, "mean", "std", "n_undefined" and, if there is an interval, "low" and "high". With slices,
            "slices" holds the same for each slice by name, and "n_queries". If flat, keys of slices look like
            "ndcg_at_10_slice_de" and "ndcg_at_10_slice_de_low". Numbers of queries are integers.
        """
        slices = list(zip(names_of_slices(self.slices).values(), self.slices.values(), strict=True))
        nested, of_slices = self._values(), {name: part._values() for name, part in slices}
        if flat:
            return flatten(nested, of_slices)
        if not slices:
            return nested
        return {
            name: values | {"slices": {s: {"n_queries": part.n_queries, **of_slices[s][name]} for s, part in slices}}
            for name, values in nested.items()
        }

    def _values(self) -> dict[str, dict[str, float]]:
        std, intervals = self.std, self.intervals()
        values = {}
        for name, mean in self.mean.items():
            low, high = intervals[name]
            ends = {} if np.isnan(low) else {"low": low, "high": high}
            values[name] = {"mean": mean, **ends, "std": std[name], "n_undefined": self.n_undefined[name]}
        return values

    @cached_property
    def _shown_slices(self) -> list[tuple[str, RankingReport]]:
        """The largest slices by name, and all others together."""
        sizes = {value: part.n_queries for value, part in self.slices.items()}
        shown, names = largest(self.slices, sizes), names_of_slices(self.slices)
        named = [(names[value], part) for value, part in shown.items()]
        if self.by is not None and len(shown) < len(sizes):
            rest = np.concatenate([queries for value, queries in queries_of_slices(self.by) if value not in shown])
            others = make_report(self._evaluation.part(np.sort(rest)))
            named.append((f"{len(sizes) - len(shown)} others", others))
        return named

    def _parts(self) -> list[Part]:
        intervals, std = self.intervals(), self.std
        parts: list[Part] = [
            f"{counted(self.n_queries, 'query')}, {counted(self.n_documents, 'document')}",
            Table(
                ("metric", "mean", "95% interval", "std over queries", "undefined queries"),
                [(m, mean, intervals[m], std[m], self.n_undefined[m]) for m, mean in self.mean.items()],
            ),
        ]
        ends = list(intervals.items())
        if self.slices:
            rows = []
            for value, report in self._shown_slices:
                of_slice = report.intervals()
                rows += [(value, m, report.n_queries, mean, of_slice[m]) for m, mean in report.mean.items()]
                ends += of_slice.items()
            parts.append(Table(("slice", "metric", "queries", "mean", "95% interval"), rows))
        none = why_none((self.metrics[name], interval) for name, interval in ends)
        return [*parts, f"Intervals: {METHOD}{none}.", *weighting(self.weights), *self.health.findings]

    def _charts(self) -> list[Chart]:
        name = next(iter(self.mean))
        charts = []
        if self.slices:
            marks = [
                Mark(value, part.mean[name], as_text(part.mean[name]), part.intervals()[name])
                for value, part in self._shown_slices
            ]
            title = f"{name} by slice, with 95% intervals; the line is the mean of all queries"
            charts.append(Chart(title, marks, reference=self.mean[name]))
        if self.per_query:
            charts.append(distribution(name, self.per_query[name]))
        return charts


def make_report(evaluation: Evaluation | Totals, by: NDArray[Any] | None = None) -> RankingReport:
    """Average the results of an evaluation."""
    return RankingReport(
        mean={name: evaluation.mean(name) for name in evaluation.metrics},
        per_query={name: evaluation.per_query(name) for name in evaluation.results} or NoValues(),
        qid=evaluation.ids,
        n_undefined=evaluation.n_undefined,
        n_documents=evaluation.n_documents,
        weights=evaluation.weights,
        by=by,
        _evaluation=evaluation.without_caches(),
    )


def inspect_reports(
    reports: Mapping[str, tuple[RankingReport, str]], qid: Any, documents: Any, n_ranks: int | None
) -> Inspection:
    """Show queries by a metric; each report comes with its name for the metric."""
    evaluations = {name: report._evaluation for name, (report, _) in reports.items()}
    kept = {name: evaluation for name, evaluation in evaluations.items() if isinstance(evaluation, Evaluation)}
    if len(kept) < len(evaluations):
        raise ValueError(
            f"inspect needs labels and scores; {NO_ROWS}. Read the rows of these queries, and call "
            "evaluate(...).inspect."
        )
    columns = {name: column for name, (_, column) in reports.items()}
    places = {name: places_of(qid, evaluation.ids) for name, evaluation in kept.items()}
    return inspect_rankings(kept, columns, places, documents, n_ranks)


def drawn_orders(reports: Mapping[str, RankingReport], metrics: Mapping[str, BoundMetric]) -> list[str]:
    """One sentence if metrics of the reports are means over orders drawn at random."""
    names = [name for name, metric in metrics.items() if may_draw(metric)]
    drawn = [f"{report._n_drawn:,} of {name!r}" for name, report in reports.items() if names and report._n_drawn]
    if not drawn:
        return []
    return [
        f"Drawn orders: {', '.join(names)} is the mean over {N_DRAWN} orders drawn at random for queries with more "
        f"than {MOST_ORDERS} different orders of tied labels: {', '.join(drawn)}."
    ]


def share_documents(one: RankingReport, other: RankingReport) -> bool:
    """Whether both were made from the same arrays of ids and labels, which then need no comparison."""
    first, second = one._evaluation, other._evaluation
    if isinstance(first, Totals) or isinstance(second, Totals):
        return False
    return first.lists.grouping is second.lists.grouping and first.lists.given_labels is second.lists.given_labels

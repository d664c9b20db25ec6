"""What several metrics say of one ranking: means with intervals, queries, slices, and what to beware of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, check_choice, check_int
from skrank_metrics._input.grouping import number_rows
from skrank_metrics._output.result import Framed, Part, Printed, Table, counted, interval_text
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import flat_name
from skrank_metrics.reports._evaluation import Evaluation
from skrank_metrics.reports.health import Health, examine
from skrank_metrics.reports.statistics import METHOD, TOO_FEW, check_confidence, mean_interval


@dataclass(frozen=True, repr=False, eq=False)
class RankingReport(Printed, Framed):
    """Values of ranking metrics, as means and query by query.

    Prints as a table, in notebooks too; ``to_frame()`` gives the values per query, with the ids as index (as a first
    column "qid" of polars) and a column "by" where there are slices.

    It keeps the labels and scores that it was computed of, for ``health`` and ``slices``, which are computed when first
    asked for, printing included. Where these were float64 and sorted by query, they are not copied: scores that are
    overwritten afterwards are what ``health`` then sees.

    Attributes
    ----------
    mean : dict of str to float
        Mean over queries (or the pooled value, for a metric with ``average=micro``) by name of the metric.
    per_query : dict of str to ndarray of shape (n_queries,)
        Value of each query by name of the metric; undefined ones are replaced as ``evaluate`` was told.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance, the order of the arrays in ``per_query``.
    n_undefined : dict of str to int
        Number of queries for which each metric is undefined, such as those without relevant documents.
    n_documents : int
        Number of documents of all queries.
    weights : ndarray of shape (n_queries,) or None
        Weights of the queries, where there are any.
    by : ndarray of shape (n_queries,) or None
        The slice that each query belongs to, where ``evaluate`` was told.
    """

    _index: ClassVar[str | None] = "qid"
    _same_as: ClassVar[str] = "per_query"

    mean: dict[str, float]
    per_query: dict[str, FloatArray]
    qid: NDArray[Any]
    n_undefined: dict[str, int]
    n_documents: int
    weights: FloatArray | None = None
    by: NDArray[Any] | None = None
    _evaluation: Evaluation = field(kw_only=True)

    @property
    def documents(self) -> tuple[IntArray, FloatArray]:
        """Number of documents of each query, and the sum of their labels."""
        lists = self._evaluation.lists
        return lists.grouping.sizes, np.add.reduceat(lists.labels, lists.grouping.starts)

    @property
    def metrics(self) -> Mapping[str, BoundMetric]:
        """The metrics by name, as get_metric gives them; ``greater_is_better`` is one of their attributes."""
        return self._evaluation.metrics

    @property
    def std(self) -> dict[str, float]:
        """Standard deviation over queries by name of the metric, undefined ones left out where they have no value."""
        defined = {name: values[~np.isnan(values)] for name, values in self.per_query.items()}
        return {name: float(values.std()) if len(values) else float("nan") for name, values in defined.items()}

    def intervals(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Compute confidence intervals of the means, by Student's t over queries.

        Queries are taken for a sample of those that there could be. The interval covers what it should from about 30
        queries on, and from 100 on where most queries have the value 0; where all values are equal, it is a point.

        Parameters
        ----------
        confidence : float, default=0.95
            Share of intervals that shall cover the mean over all queries that there could be, in (0, 1).

        Returns
        -------
        intervals : dict of str to tuple of float
            Lower and upper end by name of the metric; NaN where fewer than two queries have a value.
        """
        confidence = check_confidence(confidence)
        return {
            name: mean_interval(values, self._weights_of(name), confidence) for name, values in self.per_query.items()
        }

    def _weights_of(self, name: str) -> FloatArray | None:
        # A pooled ratio is the mean of the ratios of queries, each weighted with its denominator.
        if self.metrics[name].average != "micro":
            return self.weights
        sizes = self._evaluation.results[name].denominators
        return sizes if self.weights is None else sizes * self.weights

    @cached_property
    def slices(self) -> dict[Any, RankingReport]:
        """A report of each slice, by the values of ``by`` in order of first appearance; empty without ``by``."""
        if self.by is None:
            return {}
        slices = number_rows(self.by)
        return {
            name: make_report(self._evaluation.part(np.flatnonzero(slices.codes == number)))
            for number, name in enumerate(slices.ids.tolist())
        }

    @cached_property
    def health(self) -> Health:
        """What to beware of in labels and scores, with a sentence for each finding that changes the reading.

        Counts ties, also those that float32 would make, repeated rows, and queries of constant scores, of a single
        document, of relevant documents only and without any; and computes how far ties could move each metric.
        """
        return examine(self._evaluation)

    def means_by(self, codes: IntArray) -> dict[str, FloatArray]:
        """Aggregate parts of the queries, such as the folds in which they were tested.

        Parameters
        ----------
        codes : array-like of int of shape (n_queries,)
            The part that each query belongs to, as 0, 1, and so on.

        Returns
        -------
        means : dict of str to ndarray of shape (n_parts,)
            Mean of each part by name of the metric.
        """
        parts = [self._evaluation.part(np.flatnonzero(codes == part)) for part in range(int(np.max(codes)) + 1)]
        return {name: np.array([part.mean(name) for part in parts]) for name in self.mean}

    def worst(self, n: int = 10, metric: str | None = None) -> dict[Any, float]:
        """Find the queries to look at.

        Parameters
        ----------
        n : int, default=10
            How many.
        metric : str, default=None
            By which metric of the report; None means the first.

        Returns
        -------
        values : dict
            Value by query id, the worst first. Queries for which the metric is undefined are left out.
        """
        check_int(n, "n", 1)
        name = next(iter(self.mean)) if metric is None else check_choice(metric, "metric", self.per_query)
        values = self._evaluation.results[name].values
        # What is undefined says nothing of the model, though it may count as 0.
        defined = np.flatnonzero(~np.isnan(values))
        sign = 1 if self.metrics[name].greater_is_better else -1
        order = defined[np.argsort(sign * self.per_query[name][defined], kind="stable")][:n]
        return dict(zip(self.qid[order].tolist(), self.per_query[name][order].tolist(), strict=True))

    def _columns(self) -> dict[str, Any]:
        by = {} if self.by is None else {"by": self.by}
        return {"qid": self.qid, **by, **self.per_query}

    @overload
    def to_dict(self, *, flat: Literal[False] = ...) -> dict[str, dict[str, float]]: ...
    @overload
    def to_dict(self, *, flat: Literal[True]) -> dict[str, float]: ...
    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Put the means and what belongs to them into a dict.

        Parameters
        ----------
        flat : bool, default=False
            Whether to give one level of keys that consist of letters, digits and underscores, as loggers of experiments
            want them: "ndcg_at_10", "ndcg_at_10_low" and so on.

        Returns
        -------
        values : dict
            By metric "mean", "std", "n_undefined", and, where there is an interval, "low" and "high".
        """
        std, intervals = self.std, self.intervals()
        nested = {}
        for name, mean in self.mean.items():
            low, high = intervals[name]
            ends = {} if np.isnan(low) else {"low": low, "high": high}
            nested[name] = {"mean": mean, **ends, "std": std[name], "n_undefined": float(self.n_undefined[name])}
        return _flatten(nested) if flat else nested

    def _parts(self) -> list[Part]:
        std, intervals = self.std, self.intervals()
        heads = ("metric", "mean", "95% interval", "std over queries", "undefined queries")
        rows = [
            (name, f"{mean:.4f}", interval_text(intervals[name]), f"{std[name]:.4f}", str(self.n_undefined[name]))
            for name, mean in self.mean.items()
        ]
        title = f"{counted(len(self.qid), 'query')}, {counted(self.n_documents, 'document')}"
        reports = (self, *self.slices.values())
        some_lack_one = any(np.isnan(low) for report in reports for low, _ in report.intervals().values())
        method = f"Intervals: {METHOD}{TOO_FEW if some_lack_one else ''}."
        return [title, Table(heads, rows), *self._parts_of_slices(), method, *self.health.findings]

    def _parts_of_slices(self) -> list[Part]:
        if not self.slices:
            return []
        rows = []
        for value, report in self.slices.items():
            intervals = report.intervals()
            halves = {name: (high - low) / 2 for name, (low, high) in intervals.items()}
            means = [
                f"{mean:.4f} ± {halves[name]:.4f}".replace("± nan", "(no interval)")
                for name, mean in report.mean.items()
            ]
            rows.append((str(value), str(len(report.qid)), *means))
        return [Table(("slice ± half of the interval", "queries", *self.mean), rows)]


def make_report(evaluation: Evaluation, by: NDArray[Any] | None = None) -> RankingReport:
    """Aggregate the results of an evaluation."""
    lists = evaluation.lists
    return RankingReport(
        mean={name: evaluation.mean(name) for name in evaluation.metrics},
        per_query={name: evaluation.per_query(name) for name in evaluation.metrics},
        qid=lists.grouping.ids,
        n_undefined={name: int(np.isnan(result.values).sum()) for name, result in evaluation.results.items()},
        n_documents=len(lists.labels),
        weights=lists.weights,
        by=by,
        _evaluation=evaluation.without_caches(),
    )


def _flatten(nested: dict[str, dict[str, float]]) -> dict[str, float]:
    flat: dict[str, float] = {}
    for name, values in nested.items():
        short = flat_name(name)
        number = 1
        while short in flat:  # "ndcg@10" and "ndcg_at_10" in one report
            number += 1
            short = f"{flat_name(name)}_{number}"
        flat |= {short if part == "mean" else f"{short}_{part}": value for part, value in values.items()}
    return flat

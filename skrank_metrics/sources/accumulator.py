"""Metrics of a ranking that arrives in parts."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import PerQuery, refuse_overflow
from skrank_metrics._engine.query_lists import QueryLists, query_lists
from skrank_metrics._input.arrays import check_bool, check_choice
from skrank_metrics._input.grouping import query_weights
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.query_ids import as_python, check_aligned
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports._evaluation import Evaluation, evaluate_lists
from skrank_metrics.reports._slices import check_by_aligned, slice_of_query
from skrank_metrics.reports._totals import MetricSums, Totals
from skrank_metrics.reports.evaluate import bind_metrics
from skrank_metrics.reports.health import Counts, count
from skrank_metrics.reports.ranking_report import RankingReport, make_report

KEPT = ("queries", "means")
CAME_BACK = (
    "qid must have all documents of a query in one update; {query} came back. Sort or shuffle the documents by query "
    "id first, as evaluate_batches(..., order='shuffle') does."
)


class RankingAccumulator:
    """Compute the report of a ranking that arrives in parts, such as batches of a file or partitions of a cluster.

    Labels and scores are not kept. All documents of a query must be in the same update; a query that comes back, in a
    later update or in another accumulator, is an error. To notice this, accumulators keep a 64-bit hash of each id,
    which is the same in every process and for every dtype. Different integers have different hashes; for other ids,
    10^8 queries raise a false alarm about once in 3,700 runs. Sums are exact, so means do not depend on the order in
    which parts are added and merged. Accumulators can be pickled.

    Parameters
    ----------
    metrics : sequence of str, metric functions or bound metrics
        Metrics to compute, as in evaluate.
    convention : str, default="sklearn"
        Library whose defaults apply, as in evaluate.
    ties : {"average", "best", "worst", "stable"}, default=None
        How documents with equal scores are ordered, as in evaluate.
    replace_undefined_by : float, default=None
        Value of undefined queries, as in evaluate.
    keep : {"queries", "means"}, default="queries"
        What to keep. "queries" keeps ids and values per query, for slices, worst queries and comparisons. "means" keeps
        sums only, for more queries than fit into memory.
    assume_complete : bool, default=False
        Whether to assume that no query comes back, and keep no hashes. If one does, its parts count as two queries.

    See Also
    --------
    evaluate_batches : Evaluate files and streams.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b", so MRR is (1 + 1/2) / 2:

    >>> from skrank_metrics import RankingAccumulator
    >>> one, other = RankingAccumulator("mrr"), RankingAccumulator("mrr")
    >>> one.update([1, 0], [2.0, 1.0], qid=["a", "a"]).merge(other.update([0, 1], [2.0, 1.0], qid=["b", "b"]))
    RankingAccumulator(['mrr'], 2 queries, 4 documents)
    >>> one.result().mean
    {'mrr': 0.75}
    """

    def __init__(
        self,
        metrics: Any,
        *,
        convention: str = "sklearn",
        ties: str | None = None,
        replace_undefined_by: float | None = None,
        keep: str = "queries",
        assume_complete: bool = False,
    ) -> None:
        self._metrics = bind_metrics(metrics, convention, ties=ties, replace_undefined_by=replace_undefined_by)
        self._keep = check_choice(keep, "keep", KEPT)
        self._seen = None if check_bool(assume_complete, "assume_complete") else _Seen()
        self._counts = Counts()
        self._any_weight = False
        self._columns: tuple[str, ...] | None = None  # optional columns that every update must have
        self._kept: dict[str, list[NDArray[Any]]] = {}  # parts of arrays with one entry per query
        self._sums = {name: MetricSums() for name in self._metrics} if keep == "means" else {}
        for name, metric in self._metrics.items():
            if keep == "means" and metric.average == "median":
                raise ValueError(f"keep must be 'queries' for a median, which needs all values; got {name!r}.")

    def __repr__(self) -> str:
        n_queries, n_documents = self._counts.n_queries, self._counts.n_documents
        return (
            f"RankingAccumulator({list(self._metrics)}, {counted(n_queries, 'query')}, "
            f"{counted(n_documents, 'document')})"
        )

    @property
    def metrics(self) -> Mapping[str, BoundMetric]:
        """The metrics by name, as returned by get_metric."""
        return self._metrics

    @property
    def n_queries(self) -> int:
        """Number of queries so far."""
        return self._counts.n_queries

    def update(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any,
        sample_weight: Any = None,
        retrieved: Any = None,
        judged: Any = None,
        by: Any = None,
    ) -> RankingAccumulator:
        """Add documents of complete queries. A call that fails adds nothing.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Relevance labels, finite and >= 0.
        y_score : array-like of shape (n_documents,)
            Scores to rank by, largest first.
        qid : array-like of shape (n_documents,)
            Query id of each document: integers, strings, dates, or tuples of these.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights of the queries, as in evaluate. Must be passed in all updates or in none.
        retrieved : array-like of bool of shape (n_documents,), default=None
            False for documents that were judged but not ranked, as in evaluate.
        judged : array-like of bool of shape (n_documents,), default=None
            False for documents that nobody judged, as in evaluate.
        by : array-like of shape (n_documents,), default=None
            Slices of the report, as in evaluate. Must be passed in all updates or in none. Requires keep="queries".

        Returns
        -------
        self : RankingAccumulator
            The accumulator. Updates do not change reports that ``result`` returned before.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If the data are invalid, or a query was added before.
        """
        check_by_aligned(y_true, by)
        lists = query_lists(y_true, y_score, qid=qid, retrieved=retrieved, judged=judged)
        if sample_weight is not None:
            check_aligned(y_true=y_true, sample_weight=sample_weight)
            lists = replace(lists, weights=query_weights(sample_weight, lists.grouping, may_be_zero=True))
        slices = None if by is None else slice_of_query(by, lists.grouping, two_dimensional=False)
        self._add_lists(lists, slices)
        return self

    @refuse_overflow()
    def _add_lists(self, lists: QueryLists, slices: NDArray[Any] | None = None) -> None:
        """Add validated documents, with the slice of each query."""
        given = {"sample_weight": lists.weights, "by": slices}
        columns = self._check_columns(tuple(name for name, column in given.items() if column is not None))
        hashes = None if self._seen is None else np.sort(hash_ids(lists.grouping.ids))
        if self._seen is not None and hashes is not None:
            _refuse_returning(self._seen.common(hashes), lists.grouping.ids)
        evaluation = evaluate_lists(lists, self._metrics)
        counts = count(evaluation)
        # From here on, only the sums of "means" can fail, and these are replaced as a whole.
        if self._keep == "means":
            self._sums = {name: self._sum(name, evaluation) for name in self._metrics}
        else:
            self._keep_queries(lists, slices, evaluation.results, evaluation.digests)
        self._counts += counts
        self._any_weight |= lists.weights is not None and bool(lists.weights.any())
        self._columns = columns
        if self._seen is not None and hashes is not None:
            self._seen.add(hashes)

    def _sum(self, name: str, evaluation: Evaluation) -> MetricSums:
        total = copy.deepcopy(self._sums[name])
        total.add(self._metrics[name], evaluation.results[name], evaluation.weights)
        return total

    def _keep_queries(
        self, lists: QueryLists, slices: NDArray[Any] | None, results: Mapping[str, PerQuery], digests: Hashes
    ) -> None:
        parts: dict[str, Any] = {
            "qid": lists.grouping.ids,
            "n_all": lists.grouping.sizes,
            "sizes": lists.n_judged,
            "digests": digests,
            "sample_weight": lists.weights,
            "by": slices,
        }
        for name, result in results.items():
            parts[f"numerators of {name}"], parts[f"denominators of {name}"] = result.numerators, result.denominators
        for name, part in parts.items():
            if part is not None:
                self._kept.setdefault(name, []).append(part.copy())

    def _check_columns(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        if self._columns is not None and columns != self._columns:
            (name,) = sorted(set(columns) ^ set(self._columns))[:1]
            had, has = ("without", "with") if name in columns else ("with", "without")
            raise ValueError(f"{name} must be part of all updates or of none; got some {had} and some {has} it.")
        if self._keep == "means" and "by" in columns:
            raise ValueError("by must be left out if keep='means', since slices need values per query; got an array.")
        return columns

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
        TypeError
            If other is not an accumulator.
        ValueError
            If the two have different metrics or options, or a query in common.
        """
        self._check_alike(other)
        return self._absorb(other)

    def _absorb(self, other: RankingAccumulator, returned: str = CAME_BACK) -> RankingAccumulator:
        """Add the queries of another accumulator with the same metrics and options."""
        if not other._counts.n_queries:
            return self
        columns = self._check_columns(other._columns or ())
        if self._seen is not None and other._seen is not None:
            for run in other._seen.runs:
                if len(common := self._seen.common(run)):
                    ids = _joined(other._kept["qid"]) if self._keep == "queries" else None
                    _refuse_returning(common, ids, returned)
            for run in other._seen.runs:
                self._seen.add(run)
        for name, total in self._sums.items():
            total += other._sums[name]
        for name, parts in other._kept.items():
            self._kept.setdefault(name, []).extend(parts)
        self._counts += other._counts
        self._any_weight |= other._any_weight
        self._columns = columns
        return self

    def _check_alike(self, other: Any) -> None:
        if not isinstance(other, RankingAccumulator):
            raise TypeError(f"other must be a RankingAccumulator; got {type(other).__name__}.")
        ways = [
            (
                {name: (metric.definition, metric.average) for name, metric in one._metrics.items()},
                one._keep,
                one._seen is None,
            )
            for one in (self, other)
        ]
        for what, mine, theirs in zip(("metrics", "keep", "assume_complete"), *ways, strict=True):
            if mine != theirs:
                raise ValueError(f"other must have the same {what}; make both accumulators with the same arguments.")

    def result(self) -> RankingReport:
        """Make the report of all documents so far.

        Returns
        -------
        report : RankingReport
            Means, intervals, counts of undefined queries, and the part of the health that needs no rows. Methods that
            need labels and scores raise an error, and with keep="means", so do those that need values per query.

        Raises
        ------
        ValueError
            If there are no documents, or all weights are zero.
        """
        if not self._counts.n_queries:
            raise ValueError("the accumulator must hold at least one query before result(); got none.")
        kept = {name: _joined(parts) for name, parts in self._kept.items()}
        weights, health = kept.get("sample_weight"), self._counts.describe(self._metrics)
        weighted = "sample_weight" in (self._columns or ())
        if weighted and not self._any_weight:
            raise ValueError("sample_weight must not be zero everywhere.")
        if weighted and weights is None:
            health = replace(health, findings=("Weighted by sample_weight.", *health.findings))
        empty = np.empty(0, dtype=np.intp)
        names = self._metrics if kept else ()
        totals = Totals(
            self._metrics,
            {name: PerQuery(kept[f"numerators of {name}"], kept[f"denominators of {name}"]) for name in names},
            copy.deepcopy(self._sums),
            weights,
            kept.get("n_all", empty),
            kept.get("sizes", empty),
            kept.get("digests", empty.astype(np.uint64)),
            kept.get("qid", empty),
            health,
            {name: self._counts.n_undefined[name] for name in self._metrics},
        )
        return make_report(totals, kept.get("by"))


class _Seen:
    """A growing set of 64-bit hashes: sorted arrays, each at least twice as long as the next."""

    def __init__(self) -> None:
        self.runs: list[Hashes] = []

    def common(self, hashes: Hashes) -> Hashes:
        """The sorted hashes that are in the set or occur twice."""
        found = [hashes[1:][hashes[1:] == hashes[:-1]]]
        for run in self.runs:
            places = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            found.append(hashes[run[places] == hashes])
        return np.concatenate(found)

    def add(self, hashes: Hashes) -> None:
        """Add sorted hashes, none of which are in the set."""
        while self.runs and len(self.runs[-1]) < 2 * len(hashes):
            # For sorted runs, this sort is a merge.
            hashes = np.sort(np.concatenate((self.runs.pop(), hashes)), kind="stable")
        self.runs.append(hashes)


def _refuse_returning(common: Hashes, ids: NDArray[Any] | None, message: str = CAME_BACK) -> None:
    if not len(common):
        return
    named = "a query" if ids is None else f"query {as_python(ids[np.isin(hash_ids(ids), common)])[0]!r}"
    raise ValueError(message.replace("{query}", named))


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    if len({part.dtype.kind for part in parts}) > 1:  # NumPy would turn numbers into strings
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)

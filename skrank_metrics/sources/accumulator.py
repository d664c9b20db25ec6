"""Metrics of a ranking that arrives in parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.query_lists import QueryLists, query_lists
from skrank_metrics._input.arrays import check_bool
from skrank_metrics._input.grouping import query_weights
from skrank_metrics._input.id_hash import Hashes, hash_ids
from skrank_metrics._input.query_ids import as_python, check_aligned
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.evaluate import bind_metrics
from skrank_metrics.reports.health import Counts, count, describe
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.saved_reports import Kept, digests_of
from skrank_metrics.reports.slices import slices_and_groups

# Optional columns of updates.
_OPTIONAL = ("sample_weight", "by", "groups")
CAME_BACK = (
    "Pass all documents of a query in one update; {query} came back. Sort or shuffle the documents by query id first, "
    "as evaluate_batches(..., order='shuffle') does."
)


class RankingAccumulator:
    """Compute the report of a ranking that arrives in parts, such as batches of a file or partitions of a cluster.

    Labels and scores are not kept, only the values per query. All documents of a query must be in the same update; a
    query that comes back, in a later update or in another accumulator, is an error. To notice this, accumulators keep a
    64-bit hash of each id, which is the same in every process and for every dtype. Different integers have different
    hashes; for other ids, 10^8 queries raise a false alarm about once in 3,700 runs. Means do not depend on the order
    in which parts are added and merged. Accumulators can be pickled.

    Parameters
    ----------
    metrics : sequence of str, metric functions or bound metrics
        Metrics to compute, as in evaluate.
    convention, ties, replace_undefined_by : default="sklearn", None, None
        As in evaluate.
    condense : bool, default=False
        Whether to leave out documents that nobody judged, as in evaluate. Updates then need ``judged``.
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
        condense: bool = False,
        assume_complete: bool = False,
    ) -> None:
        self._metrics = bind_metrics(metrics, convention, ties=ties, replace_undefined_by=replace_undefined_by)
        self._condense = check_bool(condense, "condense")
        self._seen = None if check_bool(assume_complete, "assume_complete") else _Seen()
        self._counts: Counts = Counter()
        self._any_weight = False
        self._columns: tuple[str, ...] | None = None  # optional columns that every update must have
        self._kept: dict[str, list[NDArray[Any]]] = {}  # parts of arrays with one entry per query

    def __repr__(self) -> str:
        n_documents = counted(self._counts[("n_documents",)], "document")
        return f"RankingAccumulator({list(self._metrics)}, {counted(self.n_queries, 'query')}, {n_documents})"

    @property
    def metrics(self) -> Mapping[str, BoundMetric]:
        """The metrics by name, as returned by get_metric."""
        return self._metrics

    @property
    def n_queries(self) -> int:
        """Number of queries so far."""
        return self._counts[("n_queries",)]

    def update(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any,
        sample_weight: Any = None,
        retrieved: Any = None,
        judged: Any = None,
        documents: Any = None,
        by: Any = None,
        groups: Any = None,
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
        sample_weight, retrieved, judged, documents, by, groups : default=None
            As in evaluate. Weights, slices and groups must each be passed in all updates or in none.

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
        check_aligned(y_true=y_true, sample_weight=sample_weight)
        masks = {"retrieved": retrieved, "judged": judged, "condense": self._condense}
        lists = query_lists(y_true, y_score, qid=qid, documents=documents, **masks)
        self._add_lists(*with_columns(lists, sample_weight, by, groups, y_true))
        return self

    def _add_lists(self, lists: QueryLists, by: NDArray[Any] | None = None, groups: NDArray[Any] | None = None) -> None:
        """Add validated documents, with the slice and the group of each query."""
        given = {"sample_weight": lists.weights, "by": by, "groups": groups}
        columns = self._check_columns(tuple(name for name in _OPTIONAL if given[name] is not None))
        hashes = None if self._seen is None else np.sort(hash_ids(lists.grouping.ids))
        if self._seen is not None and hashes is not None:
            _refuse_returning(self._seen.common(hashes), lists.grouping.ids)
        results = per_query(lists, [metric.computation for metric in self._metrics.values()])
        named = dict(zip(self._metrics, results, strict=True))
        for name, metric in self._metrics.items():
            if np.isinf(metric.record.upper):
                metric.aggregate(named[name], None, average=metric.average or "macro")  # sums that overflow raise here
        counts = count(lists, self._metrics, named)
        # From here on, nothing can fail.
        kept = {"qid": lists.grouping.ids, "digests": digests_of(lists), **given, **self._values(named)}
        kept["sizes"], kept["n_judged"] = (n.astype(np.uint32) for n in (lists.grouping.sizes, lists.n_judged))
        for name, part in kept.items():
            if part is not None:
                self._kept.setdefault(name, []).append(part.copy())
        self._counts.update(counts)
        self._any_weight |= lists.weights is not None and bool(lists.weights.any())
        self._columns = columns
        if self._seen is not None and hashes is not None:
            self._seen.add(hashes)

    def _values(self, results: Mapping[str, PerQuery]) -> dict[str, NDArray[Any]]:
        """Values of the queries, or numerators and denominators of metrics that are pooled over documents."""
        found = {}
        for name, result in results.items():
            if self._metrics[name].average == "micro":
                found[f"numerators of {name}"], found[f"denominators of {name}"] = (
                    result.numerators,
                    result.denominators,
                )
            else:
                found[f"numerators of {name}"] = result.values
        return found

    def _check_columns(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        if self._columns is not None and columns != self._columns:
            (name,) = sorted(set(columns) ^ set(self._columns))[:1]
            had, has = ("without", "with") if name in columns else ("with", "without")
            raise ValueError(f"Pass {name} in all updates or in none; got some {had} and some {has} it.")
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
        if not other.n_queries:
            return self
        columns = self._check_columns(other._columns or ())
        if self._seen is not None and other._seen is not None:
            for run in other._seen.runs:
                if len(common := self._seen.common(run)):
                    _refuse_returning(common, _joined(other._kept["qid"]), returned)
            for run in other._seen.runs:
                self._seen.add(run)
        for name, parts in other._kept.items():
            self._kept.setdefault(name, []).extend(parts)
        self._counts.update(other._counts)
        self._any_weight |= other._any_weight
        self._columns = columns
        return self

    def _check_alike(self, other: Any) -> None:
        if not isinstance(other, RankingAccumulator):
            raise TypeError(f"other must be a RankingAccumulator; got {type(other).__name__}.")
        for what in ("metrics", "condense", "assume_complete"):
            if self._option(what) != other._option(what):
                raise ValueError(f"other has another {what}: make both accumulators with the same arguments.")

    def _option(self, what: str) -> Any:
        if what == "metrics":
            return {name: (metric.definition, metric.average) for name, metric in self._metrics.items()}
        return self._condense if what == "condense" else self._seen is None

    def result(self) -> RankingReport:
        """Make the report of all documents so far.

        Returns
        -------
        report : RankingReport
            Means, intervals, counts of undefined queries, and the part of the health that needs no rows. Methods that
            need labels and scores raise an error.

        Raises
        ------
        ValueError
            If there are no documents, or all weights are zero.
        """
        if not self.n_queries:
            raise ValueError("The accumulator holds no query; call update before result.")
        if "sample_weight" in (self._columns or ()) and not self._any_weight:
            raise ValueError("sample_weight must not be zero everywhere.")
        for parts in self._kept.values():  # one by one, so that nothing is in memory twice for long
            parts[:] = [_joined(parts)]
        kept = {name: part for name, (part,) in self._kept.items()}
        one = np.broadcast_to(1.0, self.n_queries)
        results = {
            m: PerQuery(kept[f"numerators of {m}"], kept.get(f"denominators of {m}", one)) for m in self._metrics
        }
        health = describe(self._counts, self._metrics, self._condense)
        report = RankingReport(
            self._metrics,
            kept["qid"],
            kept.get("sample_weight"),
            kept.get("by"),
            kept.get("groups"),
            self._condense,
            _results=results,
            _kept=Kept(kept["sizes"], kept["n_judged"], kept["digests"]),
            _health=health,
        )
        report.mean  # noqa: B018  sums that overflow raise here
        return report


def with_columns(
    lists: QueryLists, sample_weight: Any, by: Any, groups: Any, y_true: Any = None
) -> tuple[QueryLists, NDArray[Any] | None, NDArray[Any] | None]:
    """The lists with their weights, the slices and the groups of the queries, all from columns of documents."""
    if sample_weight is not None:
        lists = replace(lists, weights=query_weights(sample_weight, lists.grouping, may_be_zero=True))
    parts = slices_and_groups(lists.grouping, y_true, by=by, groups=groups)
    return lists, parts.get("by"), parts.get("groups")


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


def _refuse_returning(common: Hashes, ids: NDArray[Any], message: str = CAME_BACK) -> None:
    if len(common):
        query = as_python(ids[np.isin(hash_ids(ids), common)])[0]
        raise ValueError(message.replace("{query}", f"query {query!r}"))


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    if len({part.dtype.kind for part in parts}) > 1:  # NumPy would turn numbers into strings
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)

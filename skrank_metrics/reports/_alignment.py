"""Reports over the same queries and documents, aligned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, by_text
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import column_of, spelled
from skrank_metrics.reports.ranking_report import RankingReport, drawn_orders, share_documents
from skrank_metrics.reports.slices import check_slices, shapes_of, slice_of_query, what_came
from skrank_metrics.reports.statistics import bounds_of


@dataclass(frozen=True)
class Aligned:
    """Values of a metric for several rankings, per query."""

    metric: str  # its name in the first report
    values: dict[str, FloatArray]  # by name of the ranking
    qid: NDArray[Any]
    weights: FloatArray | None
    greater_is_better: bool
    largest_difference: float  # possible in the range of the metric
    reports: dict[str, tuple[RankingReport, str]]  # with their names for the metric
    drawn: tuple[str, ...]  # a sentence if orders of ties were drawn at random
    by: NDArray[Any] | None = None  # the slice of each query

    def part(self, queries: IntArray) -> Aligned:
        """Select some of the queries."""
        return replace(
            self,
            values={name: values[queries] for name, values in self.values.items()},
            qid=self.qid[queries],
            weights=None if self.weights is None else self.weights[queries],
            by=None,
        )


def align_reports(reports: Any, metric: Any, align: str | None, by: Any = None) -> Aligned:
    """Check that reports are comparable, and align their queries with the first report."""
    named = named_reports(reports)
    columns = _columns(named, metric)
    places = _places(named, align)
    _check_documents(named, places)
    name, first = next(iter(named.items()))
    values = {name: report.per_query[columns[name]][places[name]] for name, report in named.items()}
    bound = first.metrics[columns[name]]
    low, high = bounds_of(bound)
    return Aligned(
        columns[name],
        values,
        first.qid[places[name]],
        _common_weights(named, places),
        bound.greater_is_better,
        high - low,
        {name: (report, columns[name]) for name, report in named.items()},
        tuple(drawn_orders(named, {columns[name]: bound})),
        None if by is None else _slices(by, first)[places[name]],
    )


def _slices(by: Any, report: RankingReport) -> NDArray[Any]:
    """One slice per query, from one value per query or per evaluated row."""
    grouping, shapes = report.grouping, shapes_of(by)
    if grouping is not None and shapes == {grouping.codes.shape} != {report.qid.shape}:
        return slice_of_query(by, grouping, two_dimensional=False)
    if shapes != {report.qid.shape}:
        rows = "" if grouping is None else f", or per document, {len(grouping.codes)} in all"
        raise ValueError(f"by must hold one value per query, {len(report.qid)} in all{rows}; got {what_came(by)}.")
    return check_slices(by, report.qid)


def named_reports(reports: Any) -> dict[str, RankingReport]:
    """At least two reports by name; those in a sequence are numbered."""
    if not isinstance(reports, Iterable):
        hint = " Pass its reports." if hasattr(reports, "reports") else ""
        raise TypeError(f"reports must be a dict or a sequence of reports; got {type(reports).__name__}.{hint}")
    named = by_text(reports.items() if isinstance(reports, Mapping) else enumerate(reports), "reports")
    for name, report in named.items():
        if not isinstance(report, RankingReport):
            raise TypeError(f"reports must hold RankingReport objects; got {type(report).__name__} for {name!r}.")
    if len(named) < 2:
        raise ValueError(f"reports must hold at least two reports; got {len(named)}.")
    return named


def _columns(named: dict[str, RankingReport], metric: Any) -> dict[str, str]:
    """Name of the metric in each report. All reports must compute it in the same way, per query."""
    columns: dict[str, str] = {}
    first = next(iter(named))
    for name, report in named.items():
        column = column_of(metric, report.metrics)
        if column is None:
            raise ValueError(_missing(metric if isinstance(metric, str) else spelled(metric), name, report))
        columns[name] = column
        bound, one = report.metrics[column], named[first].metrics[columns[first]]
        check_by_query(column, bound)
        if bound.definition != one.definition:
            alike = str(one) == str(bound) and one.function is not bound.function
            way_out = "Evaluate with the same convention, ties and replace_undefined_by."
            raise ValueError(
                f"reports must compute {column!r} in the same way; got {one} in {first!r} and {bound} in {name!r}"
                + (
                    ", which are not the same function. Evaluate all reports with one of them."
                    if alike
                    else f". {way_out}"
                )
            )
        if report.condensed != named[first].condensed:
            raise ValueError(
                f"reports must have the same condense; got {named[first].condensed} in {first!r} and "
                f"{report.condensed} in {name!r}."
            )
    return columns


def _missing(metric: str, name: str, report: RankingReport) -> str:
    if metric in report.metrics:  # an object was passed, not this name
        return (
            f"metric must be one that all reports have; got {metric}, but {metric!r} in report {name!r} is computed "
            f"differently, as {report.metrics[metric]}. Pass the name {metric!r} to use the metric of the reports."
        )
    return (
        f"metric {metric!r} is missing from report {name!r}, which has {', '.join(map(repr, report.mean))}. "
        "Pass a metric that all reports have, or evaluate with this one."
    )


def check_by_query(name: str, metric: BoundMetric) -> None:
    """Refuse metrics that are not means over queries."""
    if metric.average not in ("macro", None):
        raise ValueError(
            f"metric must be a mean over queries; got {name!r}, which has average={metric.average!r} and cannot be "
            "compared per query. Evaluate without this average."
        )


def _places(named: dict[str, RankingReport], align: str | None) -> dict[str, IntArray]:
    """Positions in each report of the queries to compare, in the order of the first report."""
    if _share(named):
        every = np.arange(len(next(iter(named.values())).qid))
        return dict.fromkeys(named, every)
    numbers = {
        name: {query: place for place, query in enumerate(as_python(report.qid))} for name, report in named.items()
    }
    first, *others = numbers
    common = [query for query in numbers[first] if all(query in numbers[other] for other in others)]
    for name in named:
        if align is None and len(numbers[name]) > len(common):
            other = next(other for other in named if numbers[other].keys() != numbers[name].keys())
            both = len(numbers[name].keys() & numbers[other].keys())
            way_out = "Pass align='intersection' to compare on the queries that all reports have."
            raise ValueError(
                f"reports must be over the same queries; got {len(numbers[name])} in {name!r} and "
                f"{len(numbers[other])} in {other!r}, {both} of them in both. "
                f"{way_out if common else 'Check that their ids have the same type.'}"
            )
    if not common:
        raise ValueError("reports must have a query in common; got none. Check that their ids have the same type.")
    return {name: np.array([place[query] for query in common]) for name, place in numbers.items()}


def _share(named: dict[str, RankingReport]) -> bool:
    """Whether all reports were made from the same arrays of ids and labels, as in a leaderboard."""
    first, *others = named.values()
    return all(share_documents(first, other) for other in others)


def _check_documents(named: dict[str, RankingReport], places: dict[str, IntArray]) -> None:
    """Refuse queries with different documents or labels, whose differences are not due to the rankings alone.

    Documents that nobody judged are ignored, since each ranking may have its own.
    """
    if _share(named):
        return
    if any(report.label_digests is None for report in named.values()):
        return
    if not all(report.has_documents for report in named.values()):
        _check_digests(named, places)
        return
    labels = {}
    for name, report in named.items():
        sizes, of_queries = report.documents
        split = np.split(of_queries, np.cumsum(sizes)[:-1])
        labels[name] = [split[place] for place in places[name]]
    first, *others = labels
    for name in others:
        for place, (one, other) in enumerate(zip(labels[first], labels[name], strict=True)):
            if not np.array_equal(one, other):
                query = as_python(named[first].qid[places[first]])[place]
                raise ValueError(
                    f"reports must have the same documents with the same labels; got {_spelled(one)} in {first!r} and "
                    f"{_spelled(other)} in {name!r} for query {query!r}. Evaluate both on all documents; mark those "
                    "that a ranking lacks with retrieved=, and those that nobody judged with judged=."
                )


def _check_digests(named: dict[str, RankingReport], places: dict[str, IntArray]) -> None:
    """Do the same for reports made in batches, which keep a digest of the labels of each query."""
    digests = {
        name: np.stack([column[places[name]].astype(np.uint64) for column in report.label_digests or ()])
        for name, report in named.items()
    }
    first, *others = digests
    for name in others:
        differs = (digests[name] != digests[first]).any(axis=0)
        if differs.any():
            query = as_python(named[first].qid[places[first]])[int(np.argmax(differs))]
            raise ValueError(
                f"reports must have the same documents with the same labels; {first!r} and {name!r} differ for query "
                f"{query!r}. Evaluate both on all documents; mark those that a ranking lacks with retrieved=, and "
                "those that nobody judged with judged=."
            )


def _spelled(labels: FloatArray) -> str:
    shown = ", ".join(f"{label:g}" for label in labels[:10]) + ", ..." * (len(labels) > 10)
    return f"{counted(len(labels), 'document')} with labels {shown}"


def _common_weights(named: dict[str, RankingReport], places: dict[str, IntArray]) -> FloatArray | None:
    weights: dict[str, Any] = {
        name: None if report.weights is None else report.weights[places[name]] for name, report in named.items()
    }
    first = next(iter(weights))
    for name, of_queries in weights.items():
        if not np.array_equal(of_queries, weights[first]):
            raise ValueError(
                f"reports must have the same weights; {first!r} and {name!r} differ. Evaluate with the same "
                "sample_weight."
            )
    common: FloatArray | None = weights[first]
    return common

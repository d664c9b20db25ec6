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
from skrank_metrics.reports.slices import check_slices, shapes_of, slice_of_query, what_came
from skrank_metrics.reports.ranking_report import RankingReport, share_documents


@dataclass(frozen=True)
class Aligned:
    """Reports over the same queries, which are in the order of the first report."""

    reports: dict[str, RankingReport]
    columns: dict[str, dict[str, str]]  # name of each metric in each report
    places: dict[str, IntArray]  # of the queries in each report
    qid: NDArray[Any]
    weights: FloatArray | None
    by: NDArray[Any] | None  # the slice of each query
    groups: NDArray[Any] | None
    folds: IntArray | None

    def values(self, metric: str) -> FloatArray:
        """Values per query and ranking, of shape (n_queries, n_rankings)."""
        columns = self.columns[metric]
        found = [report.per_query[columns[name]][self.places[name]] for name, report in self.reports.items()]
        return np.stack(found, axis=1)

    def part(self, rows: IntArray) -> Aligned:
        """Select some of the queries."""

        def taken(column: Any) -> Any:
            return None if column is None else column[rows]

        places = {name: place[rows] for name, place in self.places.items()}
        columns = {name: taken(getattr(self, name)) for name in ("qid", "weights", "groups", "folds")}
        return replace(self, places=places, by=None, **columns)

    def in_order(self, names: Iterable[str]) -> Aligned:
        """The same with the reports in another order."""
        return replace(self, reports={name: self.reports[name] for name in names})


def align_reports(
    reports: Mapping[str, RankingReport],
    metrics: Any = None,
    align: str | None = None,
    *,
    by: Any = None,
    groups: Any = None,
    folds: Any = None,
) -> Aligned:
    """Check that reports are comparable, and align their queries with the first report."""
    first = next(iter(reports.values()))
    columns = _columns(reports, metrics)
    places = _places(reports, align)
    _check_documents(reports, places)
    own = places[next(iter(reports))]
    slices = _shared(reports, places, "by") if by is None else _of_queries(by, first, "by")[own]
    clusters = _shared(reports, places, "groups") if groups is None else _of_queries(groups, first, "groups")[own]
    return Aligned(
        dict(reports),
        columns,
        places,
        first.qid[own],
        _common_weights(reports, places),
        slices,
        clusters,
        None if folds is None else np.asarray(folds)[own],
    )


def named_reports(reports: Any, least: int = 2) -> dict[str, RankingReport]:
    """Reports by name; those in a sequence are numbered."""
    if not isinstance(reports, Iterable):
        hint = " Pass its reports." if hasattr(reports, "reports") else ""
        raise TypeError(f"reports must be a dict or a sequence of reports; got {type(reports).__name__}.{hint}")
    named = by_text(reports.items() if isinstance(reports, Mapping) else enumerate(reports), "reports")
    for name, report in named.items():
        if not isinstance(report, RankingReport):
            raise TypeError(f"reports must hold RankingReport objects; got {type(report).__name__} for {name!r}.")
    if len(named) < least:
        raise ValueError(f"reports must hold at least two reports; got {len(named)}.")
    return named


def is_mean(metric: BoundMetric) -> bool:
    """Whether a metric is a mean over queries."""
    return metric.average in ("macro", None)


def check_by_query(name: str, metric: BoundMetric) -> None:
    """Refuse metrics that are not means over queries."""
    if not is_mean(metric):
        raise ValueError(
            f"metric must be a mean over queries; got {name!r}, which has average={metric.average!r} and cannot be "
            "compared per query. Evaluate without this average."
        )


def _of_queries(given: Any, report: RankingReport, name: str) -> NDArray[Any]:
    """One slice or group per query, from one value per query or per evaluated row."""
    grouping, shapes = report.grouping, shapes_of(given)
    if grouping is not None and shapes == {grouping.codes.shape} != {report.qid.shape}:
        return slice_of_query(given, grouping, two_dimensional=False)
    if shapes != {report.qid.shape}:
        rows = "" if grouping is None else f", or per document, {len(grouping.codes)} in all"
        raise ValueError(
            f"{name} must hold one value per query, {len(report.qid)} in all{rows}; got {what_came(given)}."
        )
    return check_slices(given, report.qid)


def _shared(reports: Mapping[str, RankingReport], places: Mapping[str, IntArray], name: str) -> NDArray[Any] | None:
    """The slices or groups of the reports, which must agree; None unless all reports have them."""
    found = {own: getattr(report, name, None) for own, report in reports.items()}
    if any(column is None for column in found.values()):
        return None
    first, *others = reports
    expected: NDArray[Any] = found[first][places[first]]
    for other in others:
        differs = [a != b for a, b in zip(as_python(expected), as_python(found[other][places[other]]), strict=True)]
        if any(differs):
            at = int(np.argmax(differs))
            query = as_python(reports[first].qid[places[first]])[at]
            raise ValueError(
                f"reports must have the same {name}; query {query!r} has {as_python(expected)[at]!r} in {first!r} and "
                f"{as_python(found[other][places[other]])[at]!r} in {other!r}. Evaluate with the same {name}."
            )
    return expected


def _columns(reports: Mapping[str, RankingReport], metrics: Any) -> dict[str, dict[str, str]]:
    """Names of the metrics in each report, by their names in the first."""
    first, *others = reports.values()
    if metrics is None:
        wanted = [name for name in first.mean if all(column_of(name, other.metrics) for other in others)]
        if not wanted:
            raise ValueError(f"reports must have a metric in common; the first has {', '.join(first.mean)}.")
    else:
        wanted = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
        if not wanted:
            raise ValueError("metrics must name at least one metric; got none.")
    found = [_columns_of(reports, metric) for metric in wanted]
    return {next(iter(columns.values())): columns for columns in found}


def _columns_of(reports: Mapping[str, RankingReport], metric: Any) -> dict[str, str]:
    """Name of one metric in each report. All reports must compute it in the same way."""
    columns: dict[str, str] = {}
    first = next(iter(reports))
    for name, report in reports.items():
        column = column_of(metric, report.metrics)
        if column is None:
            raise ValueError(_missing(metric if isinstance(metric, str) else spelled(metric), name, report))
        columns[name] = column
        bound, one = report.metrics[column], reports[first].metrics[columns[first]]
        if bound.definition != one.definition or bound.average != one.average:
            alike = str(one) == str(bound) and one.function is not bound.function
            why = ", which are not the same function. Evaluate all reports with one of them."
            way_out = why if alike else ". Evaluate with the same convention, ties and replace_undefined_by."
            raise ValueError(
                f"reports must compute {column!r} in the same way; got {one} in {first!r} and {bound} in {name!r}{way_out}"
            )
        if report.condensed != reports[first].condensed:
            raise ValueError(
                f"reports must have the same condense; got {reports[first].condensed} in {first!r} and "
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


def _places(reports: Mapping[str, RankingReport], align: str | None) -> dict[str, IntArray]:
    """Positions in each report of the queries to compare, in the order of the first report."""
    if _share(reports):
        every = np.arange(len(next(iter(reports.values())).qid))
        return dict.fromkeys(reports, every)
    numbers = {
        name: {query: place for place, query in enumerate(as_python(report.qid))} for name, report in reports.items()
    }
    first, *others = numbers
    common = [query for query in numbers[first] if all(query in numbers[other] for other in others)]
    for name in reports:
        if align is None and len(numbers[name]) > len(common):
            other = next(other for other in reports if numbers[other].keys() != numbers[name].keys())
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


def _share(reports: Mapping[str, RankingReport]) -> bool:
    """Whether all reports were made from the same arrays of ids and labels, as in a leaderboard."""
    first, *others = reports.values()
    return all(share_documents(first, other) for other in others)


def _check_documents(reports: Mapping[str, RankingReport], places: Mapping[str, IntArray]) -> None:
    """Refuse queries with different documents or labels, whose differences are not due to the rankings alone.

    Documents that nobody judged are ignored, since each ranking may have its own.
    """
    if _share(reports):
        return
    exact = all(report.has_documents for report in reports.values())
    first, *others = reports
    expected = _judged(reports[first], places[first], exact=exact)
    for name in others:
        own = _judged(reports[name], places[name], exact=exact)
        differs = [not np.array_equal(a, b) for a, b in zip(expected, own, strict=True)]
        if any(differs):
            at = int(np.argmax(differs))
            query = as_python(reports[first].qid[places[first]])[at]
            got = f"got {_spelled(expected[at])} in {first!r} and {_spelled(own[at])} in {name!r} for query {query!r}"
            if not exact:
                got = f"{first!r} and {name!r} differ for query {query!r}"
            raise ValueError(
                f"reports must have the same documents with the same labels; {got}. Evaluate both on all documents; "
                "mark those that a ranking lacks with retrieved=, and those that nobody judged with judged=."
            )


def _judged(report: RankingReport, places: IntArray, *, exact: bool) -> Any:
    """The sorted labels of each query, or their number and a digest if a report was made in batches."""
    if not exact:
        return np.stack([column[places].astype(np.uint64) for column in report.label_digests], axis=1)
    sizes, labels = report.documents
    split = np.split(labels, np.cumsum(sizes)[:-1])
    return [split[place] for place in places]


def _spelled(labels: FloatArray) -> str:
    shown = ", ".join(f"{label:g}" for label in labels[:10]) + ", ..." * (len(labels) > 10)
    return f"{counted(len(labels), 'document')} with labels {shown}"


def _common_weights(reports: Mapping[str, RankingReport], places: Mapping[str, IntArray]) -> FloatArray | None:
    found: list[Any] = [
        None if report.weights is None else report.weights[places[name]] for name, report in reports.items()
    ]
    for name, weights in zip(reports, found, strict=True):
        if not np.array_equal(weights, found[0]):
            raise ValueError(
                f"reports must have the same weights; {next(iter(reports))!r} and {name!r} differ. Evaluate with the "
                "same sample_weight."
            )
    return found[0]  # type: ignore[no-any-return]

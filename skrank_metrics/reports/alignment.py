"""Reports over the same queries and documents, aligned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray, by_text
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import counted
from skrank_metrics.metrics.names import column_of, spelled
from skrank_metrics.reports.ranking_report import RankingReport, share_documents
from skrank_metrics.reports.slices import check_slices, shapes_of, slice_of_query, what_came

Reports = Mapping[str, RankingReport]


def align_reports(
    reports: Reports, metrics: Any = None, *, align: str | None = None, by: Any = None, groups: Any = None
) -> tuple[dict[str, RankingReport], tuple[str, ...]]:
    """Check that reports are comparable; give all the queries, names of metrics, slices and groups of the first."""
    columns, places = _names_of_metrics(reports, metrics), _places(reports, align)
    first = next(iter(reports))
    given = {"by": by, "groups": groups}
    common = {
        name: None if own is None else _one_per_query(own, reports[first], name)[places[first]]
        for name, own in given.items()
    }
    aligned = {name: _with_queries(report, places[name]) for name, report in reports.items()}
    for name in ("by", "groups"):
        if given[name] is None:
            common[name] = _shared(aligned, name)
    _check_same_documents(aligned)
    _check_weights(aligned)
    renamed = {name: {metric: own[name] for metric, own in columns.items()} for name in reports}
    return {name: _with(report, renamed[name], common) for name, report in aligned.items()}, tuple(columns)


def _with_queries(report: RankingReport, places: IntArray) -> RankingReport:
    """The report of these queries in this order, with its slices."""
    if np.array_equal(places, np.arange(report.n_queries)):
        return report
    return replace(report._part(places), by=None if report.by is None else report.by[places])


def _with(report: RankingReport, columns: Mapping[str, str], common: Mapping[str, Any]) -> RankingReport:
    """The report with other slices and groups, and other names of metrics."""
    changes = {name: column for name, column in common.items() if column is not getattr(report, name)}
    if any(name != column for name, column in columns.items()):
        changes["metrics"] = {name: report.metrics[column] for name, column in columns.items()}
        changes["_results"] = {name: report._results[column] for name, column in columns.items()}
    return replace(report, **changes) if changes else report


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


def _one_per_query(given: Any, report: RankingReport, name: str) -> NDArray[Any]:
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


def _shared(reports: Reports, name: str) -> NDArray[Any] | None:
    """The slices or groups of the reports, which must agree; None unless all reports have them."""
    found = {own: getattr(report, name) for own, report in reports.items()}
    without = [own for own, column in found.items() if column is None]
    if name == "groups" and 0 < len(without) < len(found):  # the p-values of dependent queries would be too small
        some = next(own for own in found if own not in without)
        raise ValueError(
            f"Either all reports or none must have groups; {some!r} has them, {without[0]!r} does not. Evaluate all "
            "with the same groups, or pass groups to compare."
        )
    if without:
        return None
    first, *others = reports
    expected = as_python(found[first])
    for other in others:
        if found[other] is found[first]:
            continue
        own = as_python(found[other])
        for query, one, another in zip(as_python(reports[first].qid), expected, own, strict=True):
            if one != another:
                raise ValueError(
                    f"reports must have the same {name}; query {query!r} has {one!r} in {first!r} and {another!r} in "
                    f"{other!r}. Evaluate with the same {name}."
                )
    return found[first]


def _names_of_metrics(reports: Reports, metrics: Any) -> dict[str, dict[str, str]]:
    """Names of the metrics in each report, by their names in the first."""
    first, *others = reports.values()
    wanted = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    if metrics is None:
        wanted = [name for name in first.mean if all(column_of(name, other.metrics) for other in others)]
    if not wanted:
        none = f"reports must have a metric in common; the first has {', '.join(first.mean)}."
        raise ValueError(none if metrics is None else "metrics must name at least one metric; got none.")
    found = [_names_of_metric(reports, metric) for metric in wanted]
    return {next(iter(columns.values())): columns for columns in found}


def _names_of_metric(reports: Reports, metric: Any) -> dict[str, str]:
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
            way_out = "Evaluate with the same convention, ties and replace_undefined_by."
            why = ", which are not the same function. Evaluate all reports with one of them."
            raise ValueError(
                f"reports must compute {column!r} in the same way; got {one} in {first!r} and {bound} in "
                f"{name!r}{why if alike else f'. {way_out}'}"
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


def _places(reports: Reports, align: str | None) -> dict[str, IntArray]:
    """Positions in each report of the queries to compare, in the order of the first report."""
    first, *others = reports.values()
    if all(share_documents(first, other) for other in others):
        return dict.fromkeys(reports, np.arange(first.n_queries))
    numbers = {
        name: {query: place for place, query in enumerate(as_python(report.qid))} for name, report in reports.items()
    }
    common = [query for query in as_python(first.qid) if all(query in own for own in numbers.values())]
    for name, own in numbers.items():
        if align is None and len(own) > len(common):
            other = next(other for other in reports if numbers[other].keys() != own.keys())
            way_out = "Pass align='intersection' to compare on the queries that all reports have."
            raise ValueError(
                f"reports must be over the same queries; got {len(own)} in {name!r} and {len(numbers[other])} in "
                f"{other!r}, {len(own.keys() & numbers[other].keys())} of them in both. "
                f"{way_out if common else 'Check that their ids have the same type.'}"
            )
    if not common:
        raise ValueError("reports must have a query in common; got none. Check that their ids have the same type.")
    return {name: np.array([place[query] for query in common]) for name, place in numbers.items()}


def _check_same_documents(reports: Reports) -> None:
    """Refuse queries with different documents or labels, whose differences are not due to the rankings alone.

    Documents that nobody judged are ignored, since each ranking may have its own. Reports without documents have a
    digest of the labels of each query, unless they are of unknown origin.
    """
    (first, one), *others = reports.items()
    for name, other in others:
        if share_documents(one, other):
            continue
        found = [report.label_digests for report in (one, other)]
        differs = np.any([a != b for a, b in zip(*found, strict=True)], axis=0) if all(found) else np.array([False])
        if differs.any():
            place = int(np.argmax(differs))
            got = [f"{_labels(report, place)} in {own!r}" for own, report in ((first, one), (name, other))]
            raise ValueError(
                f"reports must have the same documents with the same labels; got {' and '.join(got)} for query "
                f"{as_python(one.qid)[place]!r}. Evaluate both on all documents; mark those that a ranking lacks with "
                "retrieved=, and those that nobody judged with judged=."
            )


def _labels(report: RankingReport, place: int) -> str:
    """The labels of a query, if they were kept."""
    if not report.has_documents:
        return "other labels"
    sizes, labels = report.documents
    own = np.split(labels, np.cumsum(sizes)[:-1])[place]
    shown = ", ".join(f"{label:g}" for label in own[:10]) + ", ..." * (len(own) > 10)
    return f"{counted(len(own), 'document')} with labels {shown}"


def _check_weights(reports: Reports) -> None:
    (first, one), *others = reports.items()
    for name, other in others:
        if not np.array_equal(one.weights, other.weights):  # type: ignore[arg-type]
            raise ValueError(
                f"reports must have the same weights; {first!r} and {name!r} differ. Evaluate with the same "
                "sample_weight."
            )

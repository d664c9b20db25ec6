"""Single queries, rank by rank, with what each rank adds to the value of a metric."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    check_int,
    count_rows,
    document_columns,
    take_rows,
)
from skrank_metrics._input.query_ids import as_python, check_aligned
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, as_text
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.mean_intervals import ROUNDING

# Number of ranks shown, unless the cutoff of the metric is smaller or the caller passes a number.
MOST_RANKS = 20
# Number of characters shown of a document, and of ranks of missed documents that are listed.
MOST_CHARACTERS, MOST_MISSED = 160, 5
# Tie transforms of the metrics whose numerator is a sum over ranks.
_SUMS = ("gains", "hazards", "products", "misses")
# Columns of the printed table by their names in the frame.
_SHOWN = {
    "row": Column("row"),
    "id": Column("id"),
    "label": Column("label", lambda label: "?" if np.isnan(label) else f"{label:g}"),
    "score": Column("score", "{:z.4g}".format),
    "discount": Column("discount"),
    "added": Column("adds", as_text),
    "ideal": Column("ideal"),
    "document": Column("document"),
}


@dataclass(frozen=True, eq=False)
class InspectedQuery:
    """The first ranks of one query by one ranking; see Inspection."""

    qid: Any
    ranking: str
    value: float
    is_defined: bool
    columns: dict[str, Any]
    rest: float
    ideal_value: float
    n_ranked: int
    n_relevant: int
    n_unranked: int
    missed: list[int]
    unranked: list[Any]

    def _parts(self) -> Iterator[Part]:
        ranks = [
            f"{rank}{'=' * tied}"
            for rank, tied in enumerate(self.columns["tied"].tolist(), start=1)
        ]
        unknown = {"added", "discount"} if np.isnan(self.rest) else set()
        unknown |= {"ideal"} if np.isnan(self.ideal_value) else set()
        if "id" in self.columns:  # lists by id have no rows that a user could look up
            unknown.add("row")
        shown = [name for name in _SHOWN if name in self.columns and name not in unknown]
        rows = list(zip(ranks, *(self.columns[name] for name in shown), strict=True))
        heads = [_SHOWN[name] for name in shown]
        yield Table(["rank", *heads], rows) if rows else "No documents are ranked."
        if abs(self.rest) >= 5e-5:
            yield f"Ranks below {len(ranks)} add {self.rest:.4f}."
        if self.missed:
            below = _first_few(self.missed)
            yield f"{counted(len(self.missed), 'relevant document')} below, at rank {below}."
        if self.n_unranked:
            which = ""
            if "id" in self.columns:
                which = f": {_first_few(self.unranked)}"
            yield f"{counted(self.n_unranked, 'relevant document')} not ranked{which}."

    def _value(self) -> str:
        if not self.is_defined:
            return f"undefined, {'left out of the mean' if np.isnan(self.value) else f'counted as {self.value:g}'}"
        share = (
            f", {self.value / self.ideal_value:.0%} of the ideal" if self.ideal_value > 0 else ""
        )
        return f"{self.value:z.4f}{share}"


def _first_few(values: list[Any]) -> str:
    few = ", ".join(map(str, values[:MOST_MISSED]))
    return few if len(values) <= MOST_MISSED else f"{few}, ..."


@dataclass(frozen=True, repr=False, eq=False)
class Inspection(Result):
    """Single queries, rank by rank.

    Prints as one table per query and ranking. ``to_frame()`` gives one row per ranked document, with the columns "qid",
    "ranking" if there are several, "rank", and those of the queries.

    Attributes
    ----------
    metric : str
        Name of the metric.
    queries : list of list of InspectedQuery
        For each query, one entry per ranking, with attributes ``qid``; ``ranking``, its name, "" if there is only one;
        ``value`` and ``is_defined``; the numbers of documents ``n_ranked``, ``n_relevant``, and ``n_unranked``, which
        are relevant but not ranked; ``unranked``, the ids of these, or their rows; ``missed``, the ranks of relevant
        ones that are not shown; and the following.

        ``columns`` is a dict of the documents by rank: "row" in the evaluated arrays; "id", in lists by id; "label",
        NaN if nobody judged the document; "score"; whether it is "tied" with another; "discount", if the metric has
        one; what the rank has "added" to the value; what it adds in the "ideal" order; and "document", if known.
        ``rest`` is what all further ranks add, NaN if the metric is undefined or not a sum over ranks.

        ``ideal_value`` is the value of the ideal order, in which all documents are ranked; NaN if ``rest`` is, or if
        there is none: labels define none, or not all documents are ranked and the metric divides by their number.
    """

    metric: str
    queries: list[list[InspectedQuery]]
    _notes: tuple[str, ...] = ()

    def _brief(self) -> str:
        return f"{self.metric} of {counted(len(self.queries), 'query')}"

    def _parts(self) -> list[Part]:
        parts: list[Part] = [self._brief()]
        for ranking in chain.from_iterable(self.queries):
            name = f", {ranking.ranking}" if ranking.ranking else ""
            ranked = counted(ranking.n_ranked, "ranked document")
            about = (
                f"{ranking._value()}; {ranked}, {counted(ranking.n_relevant, 'relevant document')}"
            )
            parts += [f"Query {ranking.qid}{name}: {about}", *ranking._parts()]
        return [*parts, *self._notes]

    def _columns(self) -> dict[str, Any]:
        parts = []
        for ranking in chain.from_iterable(self.queries):
            n = len(ranking.columns["row"])
            name = {"ranking": [ranking.ranking] * n} if ranking.ranking else {}
            parts.append(
                {"qid": [ranking.qid] * n, **name, "rank": range(1, n + 1), **ranking.columns}
            )
        shared = [
            name for name in parts[0] if all(name in part for part in parts)
        ]  # not all reports keep documents
        return {name: list(chain.from_iterable(part[name] for part in parts)) for name in shared}


def inspect_reports(
    reports: Mapping[str, tuple[Any, str]],
    qid: Any,
    documents: Any = None,
    n_ranks: int | None = None,
) -> Inspection:
    """Inspect the same queries of one or several reports; each comes with its name for the metric."""
    check_int(n_ranks, "n_ranks", 1, or_none=True)
    places = {name: _places_of(qid, report.qid) for name, (report, _) in reports.items()}
    if documents is not None:
        is_arrow_array = hasattr(documents, "to_pylist") and not hasattr(documents, "to_batches")
        if is_arrow_array:
            documents = documents.to_pylist()
        inspected = {name: (report, places[name]) for name, (report, _) in reports.items()}
        _check_documents(documents, inspected)
    by_ranking = [
        _inspected(name, report, column, places[name], documents, n_ranks)
        for name, (report, column) in reports.items()
    ]
    queries = [list(query) for query in zip(*by_ranking, strict=True)]
    report, column = next(iter(reports.values()))
    return Inspection(column, queries, tuple(_notes(report.metrics[column], column, queries)))


def _places_of(wanted: Any, ids: NDArray[Any]) -> IntArray:
    """Positions of one or several query ids in a report."""
    known = {query: place for place, query in enumerate(as_python(ids))}
    queries = _as_list(wanted, known)
    if not queries:
        raise ValueError("qid must name at least one query; got none.")
    for query in queries:
        if query not in known:
            alike = [one for one in known if str(one) == str(query)]
            hints = [f" Did you mean {one!r}, of type {type(one).__name__}?" for one in alike]
            raise ValueError(f"qid {query!r} is not in the report.{''.join(hints)}")
    return np.array([known[query] for query in dict.fromkeys(queries)])


def _as_list(wanted: Any, known: Mapping[Any, int]) -> list[Any]:
    """One id or several; a tuple may be an id."""
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable):
        return [wanted]
    if isinstance(wanted, Hashable) and wanted in known:
        return [wanted]
    return as_python(wanted) if isinstance(wanted, np.ndarray) else list(wanted)


def _notes(
    metric: BoundMetric, name: str, queries: Sequence[Sequence[InspectedQuery]]
) -> Iterator[str]:
    rankings = list(chain.from_iterable(queries))
    if not adds_up(metric):
        yield f"{name} is not computed as a sum over ranks, so only the order is shown."
    elif any(ranking.is_defined for ranking in rankings):
        known = not all(np.isnan(ranking.ideal_value) for ranking in rankings)
        yield f"adds: what a rank adds to {name}{'; ideal: what it adds in the ideal order' * known}."
    if any(ranking.columns["tied"].any() for ranking in rankings):
        ties = metric.computation.ties
        orders = {
            "average": f"{name} is the mean over all orders",
            "stable": "they are in the order of the rows",
        }
        yield f"=: tied with another document; {orders.get(ties, f'the {ties} order by label is taken')}."
    if any(np.isnan(ranking.columns["label"]).any() for ranking in rankings):
        yield "?: nobody judged the document."


# --- Documents


def _check_documents(documents: Any, reports: Mapping[str, tuple[Any, IntArray]]) -> None:
    """Refuse documents that are not those of the rows, or of the ids, that were evaluated."""
    by_id = [report.ranking.documents.document_ids is not None for report, _ in reports.values()]
    if any(by_id):
        if not all(by_id) or not hasattr(documents, "get") or hasattr(documents, "columns"):
            raise TypeError(
                f"documents must be a dict or a Series by document id; got {type(documents).__name__}."
            )
        return
    for report, _ in reports.values():
        n_rows, n_given = report.ranking.documents.n_documents, count_rows(documents)
        if n_given != n_rows or isinstance(documents, str | Mapping):
            given = f"{type(documents).__name__} of {n_given}"
            raise ValueError(
                f"documents must hold one entry per row that was evaluated, {n_rows} in all; got {given}."
            )
        row_labels = report.ranking.documents.row_labels
        if row_labels is not None:
            check_aligned(y_true=row_labels.to_series(), documents=documents)
    first, *others = reports
    rows = _rows_and_labels(*reports[first])
    for name in others:
        if not all(map(np.array_equal, rows, _rows_and_labels(*reports[name]))):
            raise ValueError(
                f"documents must match the rows of all reports; got {first!r} and {name!r} with the rows in "
                "different orders. Evaluate both on the same rows, or inspect each report."
            )


def _rows_and_labels(report: Any, places: IntArray) -> list[NDArray[Any]]:
    """The rows of each of some queries, and the labels of all of them."""
    labels = report.own_ranking.documents.take(places).labels
    return [*(_rows_of(report, place) for place in places), labels]


def _rows_of(report: Any, place: int) -> IntArray:
    """The evaluated rows of a query of the report, in the order of the lists."""
    grouping = report.ranking.documents.grouping
    query = place if report.places is None else report.places[place]
    if grouping.shuffled is not None:
        return np.flatnonzero(grouping.shuffled == query)
    return grouping.starts[query] + np.arange(grouping.sizes[query])


def _texts(documents: Any) -> list[str]:
    """Documents as text: named features, or the values themselves."""
    if isinstance(documents, Mapping) or hasattr(documents, "columns"):
        columns = {
            name: np.asarray(column).tolist()
            for name, column in document_columns(documents).items()
        }
        named = [[f"{name}={_in_words(one)}" for one in column] for name, column in columns.items()]
        texts = [", ".join(row) for row in zip(*named, strict=True)]
    else:
        if hasattr(documents, "toarray"):
            documents = documents.toarray()
        if hasattr(documents, "tolist"):
            documents = documents.tolist()
        texts = [_in_words(row) for row in documents]
    return [_shortened(" ".join(text.split())) for text in texts]


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "..."


def _in_words(document: Any) -> str:
    if isinstance(document, list | tuple):
        return ", ".join(map(_in_words, document))
    return f"{document:.4g}" if isinstance(document, float) else str(document)


# --- Ranks


def _inspected(
    name: str, report: Any, column: str, places: IntArray, documents: Any, n_ranks: int | None
) -> Iterator[InspectedQuery]:
    """The first ranks of some queries, given by their positions in a report."""
    metric, ranking = report.metrics[column], report.own_ranking.take(places)
    of_queries = ranking.documents
    longest = int(of_queries.grouping.sizes.max())
    depth = min(n_ranks or min(metric.k or MOST_RANKS, MOST_RANKS), longest)
    added = ideal = np.full((len(places), depth), np.nan)
    rest = below = np.full(len(places), np.nan)
    if adds_up(metric):
        added, rest = contributions(ranking, metric, depth)
        ideal, below = ideal_contributions(ranking, metric, depth)
    values, result = report.per_query[column], report.results[column].values
    for number, (query, place) in enumerate(
        zip(as_python(of_queries.queries.ids), places.tolist(), strict=True)
    ):
        columns, of_query = _first_ranks(ranking, metric, number, depth)
        first, n = columns["row"], len(columns["row"])
        rows = _rows_of(report, place)
        names: list[Any] = rows.tolist()
        if of_queries.document_ids is not None:
            in_query = of_queries.rows_of(np.array([number]))
            names = of_queries.document_ids.take(in_query).tolist()
            columns["id"] = [names[place] for place in first.tolist()]
        of_query["unranked"] = [names[place] for place in of_query["unranked"].tolist()]
        columns["row"] = rows[first]
        columns["added"], columns["ideal"] = added[number, :n], ideal[number, :n]
        if documents is not None and "id" in columns:
            columns["document"] = _texts([documents.get(name, "") for name in columns["id"]])
        elif documents is not None:
            columns["document"] = _texts(take_rows(documents, columns["row"]))
        elif of_queries.columns:
            cells = of_queries.grouping.starts[number] + first
            features = {name: values[cells] for name, values in of_queries.columns.items()}
            columns["document"] = _texts(features)
        yield InspectedQuery(
            query,
            name,
            value=float(values[place]),
            is_defined=not np.isnan(result[place]),
            columns=columns,
            rest=float(rest[number]),
            ideal_value=float(ideal[number].sum() + below[number]),
            **of_query,
        )


def _first_ranks(
    ranking: Ranking, metric: BoundMetric, number: int, depth: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first documents of a query, with their positions as "row", and what is known of the others."""
    documents = ranking.documents
    start = documents.grouping.starts[number]
    cells = slice(start, start + documents.grouping.sizes[number])
    labels, scores = documents.labels[cells], ranking.scores[cells]
    judged, ranked = (
        np.ones(len(labels), dtype=bool) if mask is None else mask[cells]
        for mask in (documents.judged, ranking.retrieved)
    )
    if ranking.sight(metric.record.unjudged) == "judged":
        ranked = ranked & judged
    options = documents.with_rounded_threshold(metric.computation.options)
    threshold = options.get("relevance_threshold")
    relevant = judged & (labels > 0 if threshold is None else labels >= threshold)
    by_label = {"best": -labels, "worst": labels}.get(
        metric.computation.ties, np.zeros(len(labels))
    )
    order = np.lexsort((by_label, -scores))  # stable
    order = order[ranked[order]]
    _, codes, numbers = np.unique(scores[order], return_inverse=True, return_counts=True)
    first, hits = order[:depth], relevant[order]
    columns = {
        "row": first,
        "label": np.where(judged, labels, np.nan)[first],
        "score": scores[first],
        "tied": numbers[codes[:depth]] > 1,
    }
    discount = metric.computation.options.get("discount")
    if callable(discount):
        columns["discount"] = discount(np.arange(1.0, depth + 1))[: len(first)]
    return columns, {
        "n_ranked": len(order),
        "n_relevant": int(relevant.sum()),
        "n_unranked": int(relevant.sum() - hits.sum()),
        "unranked": np.flatnonzero(relevant & ~np.isin(np.arange(len(labels)), order)),
        "missed": (np.flatnonzero(hits[depth:]) + depth + 1).tolist(),
    }


def adds_up(metric: BoundMetric) -> bool:
    """Whether the value of a query is a sum of non-negative contributions of its ranks."""
    # The mean precision over the hits found can fall when another hit is found, as can the share of the best order of
    # the first ranks.
    options = metric.computation.options
    mean_over_hits = options.get("normalizer") == "hits" or options.get("ideal") == "top"
    grows = metric.record.greater_is_better and metric.record.lower >= 0
    return metric.record.transform in _SUMS and grows and not mean_over_hits


def contributions(
    ranking: Ranking, metric: BoundMetric, depth: int
) -> tuple[FloatArray, FloatArray]:
    """What each of the first ranks adds to the value of each query, and what all ranks below add up to the cutoff.

    These are the differences of the values at the cutoffs 1, 2, ..., depth, divided as at the metric's own cutoff.
    """
    whole = metric.computation
    *cut, total = per_query(ranking, [*(replace(whole, k=k) for k in range(1, depth + 1)), whole])
    sums = np.stack(
        [np.zeros(ranking.documents.n_queries), *(result.numerators for result in cut)], axis=1
    )
    # A query may have gains, but none above a cutoff.
    sums = np.where(np.isnan(sums) & ~np.isnan(total.numerators)[:, None], 0.0, sums)
    steps = np.diff(np.column_stack([sums, total.numerators]), axis=1)
    steps[np.abs(steps) <= ROUNDING * np.abs(total.numerators)[:, None]] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = steps / total.denominators[:, None]
    return steps[:, :-1], steps[:, -1]


def ideal_contributions(
    ranking: Ranking, metric: BoundMetric, depth: int
) -> tuple[FloatArray, FloatArray]:
    """Contributions in the ideal order, which ranks all documents; NaN if labels or their number define none."""
    seen = ranking.seen(ranking.sight(metric.computation.unjudged))
    labels = seen.documents.labels
    gain: Any = metric.computation.options.get("gain")
    rises = callable(gain) and bool((np.diff(gain(seen.documents.distinct_labels)) >= 0).all())
    by_gain = callable(gain) and metric.record.transform == "gains"
    everything = Ranking(seen.documents, gain(labels) if by_gain else labels)
    given, ideal = (
        per_query(each, [metric.computation])[0].denominators for each in (seen, everything)
    )
    none = (
        (given != ideal)
        | (metric.record.unjudged == "counted")
        | (not (metric.record.monotone or rises))
    )
    added, rest = contributions(everything, metric, depth)
    return np.where(none[:, None], np.nan, added), np.where(none, np.nan, rest)

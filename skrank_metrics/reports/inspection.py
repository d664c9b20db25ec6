"""Single queries, rank by rank, with what each rank adds to the value of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import per_query, seen_lists
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_int, nearest, take_rows
from skrank_metrics._input.query_ids import as_python, check_aligned
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, as_text, signed
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.slices import part_of

# Number of ranks shown, unless the cutoff of the metric is smaller or the caller passes a number.
MOST_RANKS = 20
# Number of features and of characters shown of a document, and of ranks of missed documents that are listed.
MOST_FEATURES, MOST_CHARACTERS, MOST_MISSED = 8, 160, 5
# Tie transforms of the metrics whose numerator is a sum over ranks.
_SUMS = ("gains", "hazards", "products", "misses")
# Differences of sums that are smaller than this share of them are rounding.
_ROUNDING = 1e-12
# Columns of the printed table by their names in the frame.
_SHOWN = {
    "row": Column("row"),
    "label": Column("label", lambda label: "?" if np.isnan(label) else f"{label:g}"),
    "score": Column("score", "{:z.4g}".format),
    "discount": Column("discount"),
    "added": Column("adds", as_text),
    "ideal": Column("ideal"),
    "document": Column("document"),
}


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """The first ranks of one query by one ranking.

    Attributes
    ----------
    qid : object
        Query id.
    ranking : str
        Name of the ranking, "" if there is only one.
    value : float
        Value of the metric; undefined values are replaced as in the report.
    is_defined : bool
        Whether the metric is defined for the query.
    columns : dict of str to array-like of shape (n_ranks,)
        The documents by rank: "row" in the evaluated arrays; "label", NaN if nobody judged the document; "score";
        whether it is "tied" with another; "discount", if the metric has one; what the rank has "added" to the value,
        NaN if ``rest`` is; what it adds in the "ideal" order, NaN if ``ideal_value`` is; and "document", if known.
    rest : float
        What all further ranks add; NaN if the metric is undefined or not a sum over ranks.
    ideal_value : float
        Value of the ideal order, in which all documents are ranked, or as many as in the ranking if the metric divides
        by their number; NaN if the metric is undefined, not a sum over ranks, or has no ideal order by label.
    n_ranked, n_relevant, n_unranked : int
        Number of ranked documents, of relevant ones, and of relevant ones that are not ranked.
    missed : list of int
        Ranks of the relevant documents that are ranked further down.
    """

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

    def _parts(self) -> Iterator[Part]:
        """Its table, and what the ranks shown leave out."""
        ranks = [f"{rank}{'=' * tied}" for rank, tied in enumerate(self.columns["tied"].tolist(), start=1)]
        unknown = {"added", "discount"} if np.isnan(self.rest) else set()
        unknown |= {"ideal"} if np.isnan(self.ideal_value) else set()
        shown = [name for name in _SHOWN if name in self.columns and name not in unknown]
        columns = [self.columns[name] for name in shown]
        rows = list(
            zip(ranks, *(column if type(column) is list else column.tolist() for column in columns), strict=True)
        )
        yield Table(["rank", *map(_SHOWN.__getitem__, shown)], rows) if rows else "No documents are ranked."
        if abs(self.rest) >= 5e-5:
            yield f"Ranks below {len(ranks)} add {self.rest:.4f}."
        if self.missed:
            below = ", ".join(map(str, self.missed[:MOST_MISSED])) + ", ..." * (len(self.missed) > MOST_MISSED)
            yield f"{counted(len(self.missed), 'relevant document')} below, at rank {below}."
        if self.n_unranked:
            yield f"{counted(self.n_unranked, 'relevant document')} not ranked."

    def _value(self) -> str:
        if not self.is_defined:
            left_out = np.isnan(self.value)
            return "undefined, left out of the mean" if left_out else f"undefined, counted as {self.value:g}"
        share = f", {self.value / self.ideal_value:.0%} of the ideal" if self.ideal_value > 0 else ""
        return f"{self.value:z.4f}{share}"


@dataclass(frozen=True, repr=False, eq=False)
class Inspection(Result):
    """Single queries, rank by rank.

    Prints as one table per query and ranking. ``to_frame()`` gives one row per ranked document, with the columns "qid",
    "ranking" if there are several, "rank", and those of the queries.

    Attributes
    ----------
    metric : str
        Name of the metric.
    queries : list of list of RankedQuery
        For each query, one entry per ranking, with attributes ``qid``, ``ranking``, ``value``, ``is_defined``,
        ``columns``, ``rest``, ``ideal_value``, ``n_ranked``, ``n_relevant``, ``n_unranked`` and ``missed``.
    """

    metric: str
    queries: list[list[RankedQuery]]
    _notes: tuple[str, ...] = ()

    def _brief(self) -> str:
        return f"{self.metric} of {counted(len(self.queries), 'query')}"

    def _parts(self) -> list[Part]:
        parts: list[Part] = [self._brief()]
        for first, *others in self.queries:
            relevant = counted(first.n_relevant, "relevant document")
            if others:
                values = [f"{ranking.ranking} {ranking.value:z.4f}" for ranking in (first, *others)]
                values += [f"difference {signed(first.value - other.value)}" for other in others if len(others) == 1]
                parts.append(f"Query {first.qid}: {', '.join(values)}; {relevant}")
            else:
                ranked = counted(first.n_ranked, "ranked document")
                parts.append(f"Query {first.qid}: {first._value()}; {ranked}, {relevant}")
            for ranking in (first, *others):
                parts += [f"{ranking.ranking}: {ranking._value()}"] if others else []
                parts += ranking._parts()
        return [*parts, *self._notes]

    def _columns(self) -> dict[str, Any]:
        rankings = list(chain.from_iterable(self.queries))
        sizes = [len(ranking.columns["row"]) for ranking in rankings]
        of_query = {"qid": [ranking.qid for ranking in rankings], "ranking": [ranking.ranking for ranking in rankings]}
        columns: dict[str, Any] = {
            name: [value for value, size in zip(values, sizes, strict=True) for _ in range(size)]
            for name, values in of_query.items()
            if name == "qid" or any(values)
        }
        columns["rank"] = [rank for size in sizes for rank in range(1, size + 1)]
        return columns | {
            name: list(chain.from_iterable(ranking.columns[name] for ranking in rankings)) if name == "document"
            else np.concatenate([ranking.columns[name] for ranking in rankings])
            for name in rankings[0].columns
        }  # fmt: skip


def inspect_reports(
    reports: Mapping[str, tuple[Any, str]], qid: Any, documents: Any = None, n_ranks: int | None = None
) -> Inspection:
    """Inspect the same queries of one or several reports; each comes with its name for the metric."""
    check_int(n_ranks, "n_ranks", 1, or_none=True)
    places = {name: _places_of(qid, report._lists.grouping.ids) for name, (report, _) in reports.items()}
    if documents is not None:
        documents = documents.to_pylist() if hasattr(documents, "to_pylist") and not _is_table(documents) else documents
        _check_documents(documents, {name: (report, places[name]) for name, (report, _) in reports.items()})
    found = [_ranked_queries(name, *of, places[name], documents, n_ranks) for name, of in reports.items()]
    queries = [list(query) for query in zip(*found, strict=True)]
    report, column = next(iter(reports.values()))
    return Inspection(column, queries, tuple(_notes(report.metrics[column], column, queries)))


def _places_of(wanted: Any, ids: NDArray[Any]) -> IntArray:
    """Positions of one or several query ids in a report."""
    known = {query: place for place, query in enumerate(as_python(ids))}
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable) or _is_in(wanted, known):
        several = [wanted]
    else:
        several = as_python(wanted) if isinstance(wanted, np.ndarray) else list(wanted)
    if not several:
        raise ValueError("qid must name at least one query; got none.")
    for query in several:
        if not _is_in(query, known):
            raise ValueError(f"qid {query!r} is not in the report.{_near(query, known)}")
    return np.array([known[query] for query in dict.fromkeys(several)])


def _is_in(query: Any, known: Mapping[Any, int]) -> bool:
    try:
        return query in known
    except TypeError:  # it cannot be hashed
        return False


def _near(query: Any, known: Mapping[Any, int]) -> str:
    same = [one for one in known if str(one) == str(query)]
    if same:
        return f" Did you mean {same[0]!r}, of type {type(same[0]).__name__}?"
    # Suggest no numbers: those with similar digits are no more likely to be meant.
    return nearest(query, [one for one in known if isinstance(one, str)]) if isinstance(query, str) else ""


def _notes(metric: BoundMetric, name: str, queries: Sequence[Sequence[RankedQuery]]) -> Iterator[str]:
    """Explain the columns and marks that are present."""
    rankings = list(chain.from_iterable(queries))
    if not adds_up(metric):
        yield f"{name} is not computed as a sum over ranks, so only the order is shown."
    elif any(ranking.is_defined for ranking in rankings):
        no_ideal = all(np.isnan(ranking.ideal_value) for ranking in rankings)
        ideal = (
            ". Labels define no ideal order for this metric" if no_ideal else "; ideal: what it adds in the ideal order"
        )
        yield f"adds: what a rank adds to {name}{ideal}."
    if any(ranking.columns["tied"].any() for ranking in rankings):
        ties = metric.computation.ties
        orders = {"average": f"{name} is the mean over all orders", "stable": "they are in the order of the rows"}
        yield f"=: tied with another document; {orders.get(ties, f'the {ties} order by label is taken')}."
    if any(np.isnan(ranking.columns["label"]).any() for ranking in rankings):
        yield "?: nobody judged the document."


# --- Documents


def _check_documents(documents: Any, reports: Mapping[str, tuple[Any, IntArray]]) -> None:
    """Refuse documents that are not those of the rows that were evaluated."""
    shape = getattr(documents, "shape", None)
    if isinstance(documents, str | Mapping) or not (shape or hasattr(documents, "__len__")):
        raise TypeError(
            f"documents must be a frame, Series, array or list with one entry per row; got {type(documents).__name__}."
        )
    length = shape[0] if shape else len(documents)
    for report, _ in reports.values():
        if length != (n_rows := report._whole.n_documents):
            raise ValueError(
                f"documents must hold one entry per row that was evaluated, {n_rows} in all; got {length}."
            )
        if report._row_labels is not None:
            check_aligned(y_true=report._row_labels.to_series(), documents=documents)
    (first, given), *others = ((name, _rows_and_labels(*of)) for name, of in reports.items())
    for name, other in others:
        if not all(np.array_equal(*pair) for pair in zip(given, other, strict=True)):
            raise ValueError(
                f"documents must match the rows of all reports; got {first!r} and {name!r} with the rows in "
                "different orders. Evaluate both on the same rows, or inspect each report."
            )


def _rows_and_labels(report: Any, places: IntArray) -> list[Any]:
    rows = [_rows_of(report, place) for place in places.tolist()]
    return [np.concatenate(rows), part_of(report._lists, places).labels]


def _rows_of(report: Any, place: int) -> IntArray:
    """The evaluated rows of a query of the report, in the order of the lists."""
    grouping, query = report._whole.grouping, place if report._queries is None else report._queries[place]
    if grouping.shuffled is not None:
        return np.flatnonzero(grouping.shuffled == query)
    return grouping.starts[query] + np.arange(grouping.sizes[query])


def _texts(taken: Any) -> list[str]:
    """Documents as text: named features, or the values themselves."""
    taken = taken.toarray() if hasattr(taken, "toarray") else taken
    named = list(taken) if isinstance(taken, dict) else None
    names = getattr(taken, "column_names" if _is_table(taken) else "columns", named)
    if names is None:
        return [_cut(_spelled(value)) for value in (taken.tolist() if hasattr(taken, "tolist") else taken)]
    columns = [
        [f"{name}={_spelled(value)}" for value in np.asarray(taken[name]).tolist()] for name in names[:MOST_FEATURES]
    ]
    more = ", ..." * (len(names) > MOST_FEATURES)
    return [_cut(", ".join(row) + more) for row in zip(*columns, strict=True)]


def _is_table(documents: Any) -> bool:
    """Whether documents are a pyarrow table, whose ``columns`` are not names."""
    return hasattr(documents, "to_batches")


def _spelled(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_spelled, value[:MOST_FEATURES])) + ", ..." * (len(value) > MOST_FEATURES)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "..."


# --- Ranks


def _ranked_queries(
    name: str, report: Any, column: str, places: IntArray, documents: Any, n_ranks: int | None
) -> Iterator[RankedQuery]:
    """The first ranks of some queries, given by their positions in a report."""
    metric, lists = report.metrics[column], part_of(report._lists, places)
    depth = min(n_ranks or min(metric.k or MOST_RANKS, MOST_RANKS), int(lists.grouping.sizes.max()))
    nowhere = np.full((lists.n_queries, depth), np.nan), np.full(lists.n_queries, np.nan)
    sums = (contributions, ideal_contributions) if adds_up(metric) else ()
    (added, rest), (ideal, below) = [find(lists, metric, depth) for find in sums] or [nowhere, nowhere]
    values, result = report.per_query[column], report._results[column].values
    for number, (query, place) in enumerate(zip(as_python(lists.grouping.ids), places.tolist(), strict=True)):
        columns, of_query = _first_ranks(lists, metric, number, depth)
        first, n = columns["row"], len(columns["row"])
        columns |= {"row": _rows_of(report, place)[first], "added": added[number, :n], "ideal": ideal[number, :n]}
        if documents is not None:
            columns["document"] = _texts(take_rows(documents, columns["row"]))
        elif lists.documents:
            cells = lists.grouping.starts[number] + first
            columns["document"] = _texts({name: values[cells] for name, values in lists.documents.items()})
        yield RankedQuery(
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
    lists: QueryLists, metric: BoundMetric, number: int, depth: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first documents of a query, with their positions as "row", and what is known of the others."""
    start, size = lists.grouping.starts[number], lists.grouping.sizes[number]
    cells, everything = slice(start, start + size), np.ones(int(size), dtype=bool)
    labels, scores = lists.labels[cells], lists.scores[cells]
    judged = everything if lists.judged is None else lists.judged[cells]
    ranked = everything if lists.retrieved is None else lists.retrieved[cells]
    if metric.record.unjudged == "left out" or (lists.condense and metric.record.unjudged != "counted"):
        ranked = ranked & judged
    threshold = lists.comparable(metric.computation.options).get("relevance_threshold")
    relevant = judged & (labels > 0 if threshold is None else labels >= threshold)
    by_label = {"best": -labels, "worst": labels}.get(metric.computation.ties, np.zeros(int(size)))
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
    if callable(discount := metric.computation.options.get("discount")):
        columns["discount"] = discount(np.arange(1.0, depth + 1))[: len(first)]
    return columns, {
        "n_ranked": len(order),
        "n_relevant": int(relevant.sum()),
        "n_unranked": int(relevant.sum() - hits.sum()),
        "missed": (np.flatnonzero(hits[depth:]) + depth + 1).tolist(),
    }


def adds_up(metric: BoundMetric) -> bool:
    """Whether the value of a query is a sum of non-negative contributions of its ranks."""
    # The mean precision over the hits found can fall when another hit is found.
    mean_over_hits = metric.computation.options.get("normalizer") == "hits"
    grows = metric.record.greater_is_better and metric.record.lower >= 0
    return metric.record.transform in _SUMS and grows and not mean_over_hits


def contributions(lists: QueryLists, metric: BoundMetric, depth: int) -> tuple[FloatArray, FloatArray]:
    """What each of the first ranks adds to the value of each query, and what all ranks below add up to the cutoff.

    These are the differences of the values at the cutoffs 1, 2, ..., depth, divided as at the metric's own cutoff.
    """
    whole = metric.computation
    *cut, total = per_query(lists, [*(replace(whole, k=k) for k in range(1, depth + 1)), whole])
    sums = np.stack([np.zeros(lists.n_queries), *(result.numerators for result in cut)], axis=1)
    # A query may have gains, but none above a cutoff.
    sums = np.where(np.isnan(sums) & ~np.isnan(total.numerators)[:, None], 0.0, sums)
    steps = np.diff(np.column_stack([sums, total.numerators]), axis=1)
    steps[np.abs(steps) <= _ROUNDING * np.abs(total.numerators)[:, None]] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = steps / total.denominators[:, None]
    return steps[:, :-1], steps[:, -1]


def ideal_contributions(lists: QueryLists, metric: BoundMetric, depth: int) -> tuple[FloatArray, FloatArray]:
    """Contributions in the ideal order, the best documents first; NaN if labels define none.

    All documents are ranked, except in queries whose divisor depends on how many are, such as precision without a
    cutoff: there, the value is compared with that of as many of the best documents.
    """
    seen = seen_lists(lists, metric.computation.unjudged)
    if not _has_ideal(seen, metric):
        unknown = np.full((lists.n_queries, depth), np.nan)
        return unknown, unknown[:, 0]
    everything = replace(seen, scores=_goodness(seen, metric), retrieved=None)
    added, rest = contributions(everything, metric, depth)
    if seen.retrieved is None:
        return added, rest
    given, ideal = (per_query(each, [metric.computation])[0].denominators for each in (seen, everything))
    as_many = replace(everything, retrieved=_best(everything, seen.n_retrieved))
    fewer, below = contributions(as_many, metric, depth)
    alike = given == ideal
    return np.where(alike[:, None], added, fewer), np.where(alike, rest, below)


def _has_ideal(lists: QueryLists, metric: BoundMetric) -> bool:
    """Whether no order has a larger value than the one with the best documents first."""
    if metric.record.unjudged == "counted":  # whatever their labels
        return False
    gain = metric.computation.options.get("gain")
    return metric.record.monotone or (callable(gain) and bool((np.diff(gain(lists.distinct_labels)) >= 0).all()))


def _goodness(lists: QueryLists, metric: BoundMetric) -> FloatArray:
    """What the ideal order sorts by: gains if the metric is a sum of them, else labels."""
    gain = metric.computation.options.get("gain")
    return gain(lists.labels) if callable(gain) and metric.record.transform == "gains" else lists.labels


def _best(lists: QueryLists, numbers: IntArray) -> Mask:
    """Mask of as many documents of each query as given, those with the largest scores."""
    starts, sizes = lists.grouping.starts, lists.grouping.sizes
    order = np.lexsort((-lists.scores, np.repeat(np.arange(len(sizes)), sizes)))
    mask = np.empty(len(order), dtype=bool)
    mask[order] = np.arange(len(order)) < np.repeat(starts + numbers, sizes)
    return mask

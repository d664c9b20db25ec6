"""Single queries, rank by rank, with what each rank adds to the value of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import PerQuery, per_query, seen_lists
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
# Columns of the frame, by attribute.
_FRAME = {
    "row": "rows",
    "label": "labels",
    "score": "scores",
    "tied": "tied",
    "discount": "discounts",
    "added": "added",
    "ideal": "ideal",
    "document": "documents",
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
    ideal_value : float
        Value of the ideal order, in which all documents are ranked, or as many as in the ranking if the metric divides
        by their number; NaN if the metric is undefined, not a sum over ranks, or has no ideal order by label.
    rows : ndarray of shape (n_ranks,)
        Row of each document in the evaluated arrays.
    labels, scores : ndarray of shape (n_ranks,)
        Label and score at each rank; the label is NaN if nobody judged the document.
    tied : ndarray of shape (n_ranks,)
        Whether another document of the ranking has the same score.
    discounts : ndarray of shape (n_ranks,) or None
        What gains are divided by; None if the metric has no discounts.
    added, ideal : ndarray of shape (n_ranks,)
        What each rank adds to the value, NaN if ``rest`` is, and what it adds in the ideal order, NaN if
        ``ideal_value`` is.
    rest : float
        What all further ranks add; NaN if the metric is undefined or not a sum over ranks.
    documents : list of str
        Text of each document; empty if no documents were given.
    n_ranked, n_relevant, n_unranked : int
        Number of ranked documents, of relevant ones, and of relevant ones that are not ranked.
    missed : list of int
        Ranks of the relevant documents that are ranked further down.
    """

    qid: Any
    ranking: str
    value: float
    is_defined: bool
    ideal_value: float
    rows: IntArray
    labels: FloatArray
    scores: FloatArray
    tied: Mask
    discounts: FloatArray | None
    added: FloatArray
    ideal: FloatArray
    rest: float
    documents: list[str]
    n_ranked: int
    n_relevant: int
    n_unranked: int
    missed: list[int]

    def _columns(self) -> Iterator[tuple[Column, Sequence[Any]]]:
        """The columns of its table, as far as they are known."""
        yield Column("rank"), [f"{rank}{'=' * tied}" for rank, tied in enumerate(self.tied.tolist(), start=1)]
        yield Column("row"), self.rows.tolist()
        yield Column("label", lambda label: "?" if np.isnan(label) else f"{label:g}"), self.labels.tolist()
        yield Column("score", "{:z.4g}".format), self.scores.tolist()
        if not np.isnan(self.rest):
            if self.discounts is not None:
                yield Column("discount"), self.discounts.tolist()
            yield Column("adds", as_text), self.added.tolist()
        if not np.isnan(self.ideal_value):
            yield Column("ideal"), self.ideal.tolist()
            yield Column("share", "{:.0%}".format), (self.added / (self.ideal_value or 1.0)).tolist()
        if self.documents:
            yield Column("document"), self.documents

    def _parts(self) -> Iterator[Part]:
        """Its table, and what the ranks shown leave out."""
        n_shown = len(self.labels)
        if n_shown:
            columns = list(self._columns())
            rows = list(zip(*(values for _, values in columns), strict=True))
            yield Table([column for column, _ in columns], rows)
        else:
            yield "No documents are ranked."
        if abs(self.rest) >= 5e-5:
            yield f"Ranks below {n_shown} add {self.rest:.4f}."
        if self.missed:
            ranks = ", ".join(map(str, self.missed[:MOST_MISSED])) + ", ..." * (len(self.missed) > MOST_MISSED)
            yield f"{counted(len(self.missed), 'relevant document')} below, at rank {ranks}."
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
    "ranking" if there are several, "rank" and, as far as they are known, "row", "label", "score", "tied", "discount",
    "added", "ideal" and "document".

    Attributes
    ----------
    metric : str
        Name of the metric.
    queries : list of list of RankedQuery
        For each query, one entry per ranking, with attributes ``qid``, ``ranking``, ``value``, ``is_defined``,
        ``ideal_value``, ``rows``, ``labels``, ``scores``, ``tied``, ``discounts``, ``added``, ``ideal``, ``rest``,
        ``documents``, ``n_ranked``, ``n_relevant``, ``n_unranked`` and ``missed``.
    """

    metric: str
    queries: list[list[RankedQuery]]
    _notes: tuple[str, ...] = ()

    def _brief(self) -> str:
        return f"{self.metric} of {counted(len(self.queries), 'query')}"

    def _parts(self) -> list[Part]:
        parts: list[Part] = [self._brief()]
        for rankings in self.queries:
            first, *others = rankings
            relevant = counted(first.n_relevant, "relevant document")
            if others:
                values = [f"{ranking.ranking} {ranking.value:z.4f}" for ranking in rankings]
                values += [f"difference {signed(first.value - other.value)}" for other in others if len(others) == 1]
                parts.append(f"Query {first.qid}: {', '.join(values)}; {relevant}")
            else:
                ranked = counted(first.n_ranked, "ranked document")
                parts.append(f"Query {first.qid}: {first._value()}; {ranked}, {relevant}")
            for ranking in rankings:
                parts += [f"{ranking.ranking}: {ranking._value()}"] if others else []
                parts += ranking._parts()
        return [*parts, *self._notes]

    def _columns(self) -> dict[str, Any]:
        rankings = list(chain.from_iterable(self.queries))
        each = [(ranking, len(ranking.labels)) for ranking in rankings]
        columns: dict[str, Any] = {"qid": [ranking.qid for ranking, size in each for _ in range(size)]}
        if any(ranking.ranking for ranking in rankings):
            columns["ranking"] = [ranking.ranking for ranking, size in each for _ in range(size)]
        columns["rank"] = [rank for _, size in each for rank in range(1, size + 1)]
        for column, name in _FRAME.items():
            parts = [getattr(ranking, name) for ranking in rankings]
            if all(part is not None and len(part) == size for part, (_, size) in zip(parts, each, strict=True)):
                columns[column] = list(chain.from_iterable(parts)) if name == "documents" else np.concatenate(parts)
        return columns


@dataclass(frozen=True)
class Inspected:
    """One ranking to inspect, by one metric."""

    lists: QueryLists  # that were evaluated
    queries: IntArray  # which of their queries are in the report
    metric: BoundMetric
    name: str  # of the metric
    result: PerQuery
    values: FloatArray  # undefined ones replaced
    row_labels: Any = None  # index of the original rows, if they had one

    def rows_of(self, place: int) -> IntArray:
        """The original rows of a query of the report, in the order of the lists."""
        grouping, query = self.lists.grouping, self.queries[place]
        if grouping.shuffled is not None:
            return np.flatnonzero(grouping.shuffled == query)
        return grouping.starts[query] + np.arange(grouping.sizes[query])


def inspect_rankings(
    rankings: Mapping[str, Inspected], qid: Any, documents: Any = None, n_ranks: int | None = None
) -> Inspection:
    """Inspect the same queries of one or several rankings."""
    check_int(n_ranks, "n_ranks", 1, or_none=True)
    places = {name: _places_of(qid, ranking.lists.grouping.ids[ranking.queries]) for name, ranking in rankings.items()}
    if documents is not None:
        documents = documents.to_pylist() if hasattr(documents, "to_pylist") and not _is_table(documents) else documents
        _check_documents(documents, rankings, places)
    found = []
    for name, ranking in rankings.items():
        ranked = ranked_queries(name, ranking, places[name], n_ranks)
        found.append(ranked if documents is None else _with_documents(ranked, documents))
    queries = [list(query) for query in zip(*found, strict=True)]
    first = next(iter(rankings.values()))
    return Inspection(first.name, queries, tuple(_notes(first.metric, first.name, queries)))


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
        if all(np.isnan(ranking.ideal_value) for ranking in rankings):
            yield f"adds: what a rank adds to {name}. Labels define no ideal order for this metric."
        else:
            yield (
                f"adds: what a rank adds to {name}; ideal: what it adds in the ideal order; share: what it adds, as a "
                "share of the ideal value."
            )
    if any(ranking.tied.any() for ranking in rankings):
        ties = metric.computation.ties
        orders = {"average": f"{name} is the mean over all orders", "stable": "they are in the order of the rows"}
        yield f"=: tied with another document; {orders.get(ties, f'the {ties} order by label is taken')}."
    if any(np.isnan(ranking.labels).any() for ranking in rankings):
        yield "?: nobody judged the document."


# --- Documents


def _check_documents(documents: Any, rankings: Mapping[str, Inspected], places: Mapping[str, IntArray]) -> None:
    """Refuse documents that are not those of the rows that were evaluated."""
    shape = getattr(documents, "shape", None)
    if isinstance(documents, str | Mapping) or not (shape or hasattr(documents, "__len__")):
        raise TypeError(
            f"documents must be a frame, Series, array or list with one entry per row; got {type(documents).__name__}."
        )
    length = shape[0] if shape else len(documents)
    for ranking in rankings.values():
        if length != ranking.lists.n_documents:
            raise ValueError(
                f"documents must hold one entry per row that was evaluated, {ranking.lists.n_documents} in all; got "
                f"{length}."
            )
        if ranking.row_labels is not None:
            check_aligned(y_true=ranking.row_labels.to_series(), documents=documents)
    (first, given), *others = ((name, _rows_and_labels(of, places[name])) for name, of in rankings.items())
    for name, other in others:
        if not all(np.array_equal(*pair) for pair in zip(given, other, strict=True)):
            raise ValueError(
                f"documents must match the rows of all reports; got {first!r} and {name!r} with the rows in "
                "different orders. Evaluate both on the same rows, or inspect each report."
            )


def _rows_and_labels(ranking: Inspected, places: IntArray) -> list[Any]:
    rows = [ranking.rows_of(place) for place in places.tolist()]
    return [np.concatenate(rows), part_of(ranking.lists, ranking.queries[places]).labels]


def _with_documents(queries: list[RankedQuery], documents: Any) -> list[RankedQuery]:
    texts = iter(_texts(take_rows(documents, np.concatenate([query.rows for query in queries]))))
    return [replace(query, documents=[next(texts) for _ in query.labels]) for query in queries]


def _own_documents(lists: QueryLists, number: int, ranked: IntArray) -> list[str]:
    """Texts of the columns that were passed to evaluate, if any."""
    cells = lists.grouping.starts[number] + ranked
    return _texts({name: column[cells] for name, column in lists.documents.items()}) if lists.documents else []


def _texts(taken: Any) -> list[str]:
    """Documents as text: named features, or the values themselves."""
    taken = taken.toarray() if hasattr(taken, "toarray") else taken
    named = list(taken) if isinstance(taken, dict) else None
    names = getattr(taken, "column_names" if _is_table(taken) else "columns", named)
    if names is not None:
        columns = [map(_spelled, np.asarray(taken[name]).tolist()) for name in names[:MOST_FEATURES]]
        rows = (
            [f"{name}={value}" for name, value in zip(names, row, strict=False)] for row in zip(*columns, strict=True)
        )
        more = ", ..." * (len(names) > MOST_FEATURES)
        return [_cut(", ".join(row) + more) for row in rows]
    return [_cut(_spelled(value)) for value in (taken.tolist() if hasattr(taken, "tolist") else taken)]


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


def ranked_queries(name: str, ranking: Inspected, places: IntArray, n_ranks: int | None) -> list[RankedQuery]:
    """The first ranks of some queries, given by their positions in a report."""
    metric, lists = ranking.metric, part_of(ranking.lists, ranking.queries[places])
    depth = min(n_ranks or min(metric.k or MOST_RANKS, MOST_RANKS), int(lists.grouping.sizes.max()))
    defined = ~np.isnan(ranking.result.values[places])
    orders = [_Order(lists, metric, number) for number in range(len(places))]
    sums = _sums(lists, metric, depth, [min(depth, len(order.order)) for order in orders])
    return [
        RankedQuery(
            qid=query,
            ranking=name,
            value=float(ranking.values[place]),
            is_defined=bool(defined[number]),
            **_first_ranks(orders[number], metric, depth, ranking.rows_of(place)),
            **of_query,
            documents=_own_documents(lists, number, orders[number].order[:depth]),
        )
        for number, (query, place, of_query) in enumerate(
            zip(as_python(lists.grouping.ids), places.tolist(), sums, strict=True)
        )
    ]


def _sums(lists: QueryLists, metric: BoundMetric, depth: int, lengths: Sequence[int]) -> Iterator[dict[str, Any]]:
    """What the first ranks add in each query; NaN if the metric is not a sum over ranks."""
    if not adds_up(metric):
        for n in lengths:
            nowhere = np.full(n, np.nan)
            yield {"added": nowhere, "ideal": nowhere, "rest": np.nan, "ideal_value": np.nan}
        return
    (added, rest), (ideal, below) = contributions(lists, metric, depth), ideal_contributions(lists, metric, depth)
    for number, n in enumerate(lengths):
        yield {
            "added": added[number, :n],
            "rest": float(rest[number]),
            "ideal": ideal[number, :n],
            "ideal_value": float(ideal[number].sum() + below[number]),
        }


def _first_ranks(order: _Order, metric: BoundMetric, depth: int, rows: IntArray) -> dict[str, Any]:
    first = order.order[:depth]
    discount = metric.computation.options.get("discount")
    relevant = order.relevant[order.order]
    return {
        "rows": rows[first],
        "labels": np.where(order.judged, order.labels, np.nan)[first],
        "scores": order.scores[first],
        "tied": order.tied[:depth],
        "discounts": discount(np.arange(1.0, len(first) + 1)) if callable(discount) and len(first) else None,
        "n_ranked": len(order.order),
        "n_relevant": int(order.relevant.sum()),
        "n_unranked": int(order.relevant.sum() - relevant.sum()),
        "missed": (np.flatnonzero(relevant[depth:]) + depth + 1).tolist(),
    }


class _Order:
    """The documents of one query, which of them are relevant, and the order of those that are ranked."""

    def __init__(self, lists: QueryLists, metric: BoundMetric, number: int) -> None:
        start, size = lists.grouping.starts[number], lists.grouping.sizes[number]
        cells, everything = slice(start, start + size), np.ones(int(size), dtype=bool)
        self.labels, self.scores = lists.labels[cells], lists.scores[cells]
        self.judged = everything if lists.judged is None else lists.judged[cells]
        ranked = everything if lists.retrieved is None else lists.retrieved[cells]
        if metric.record.unjudged == "left out" or (lists.condense and metric.record.unjudged != "counted"):
            ranked = ranked & self.judged
        threshold = lists.comparable(metric.computation.options).get("relevance_threshold")
        self.relevant = self.judged & (self.labels > 0 if threshold is None else self.labels >= threshold)
        by_label = {"best": -self.labels, "worst": self.labels}.get(metric.computation.ties, np.zeros(int(size)))
        order = np.lexsort((by_label, -self.scores))  # stable
        self.order: IntArray = order[ranked[order]]
        # Not by differences: those of infinite scores are NaN.
        ordered = self.scores[self.order]
        equal = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
        self.tied: Mask = (equal[1:] | equal[:-1])[: len(ordered)]


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

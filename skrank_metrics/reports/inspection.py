"""Single queries, rank by rank, with what each rank adds to the value of a metric."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, IntArray, to_objects
from skrank_metrics._input.parameters import check_int
from skrank_metrics._input.query_ids import OF_DOCUMENTS, as_python
from skrank_metrics._output.result import (
    ROUNDED_TO_0,
    Column,
    Result,
    Section,
    Table,
    counted,
    rows_of,
)
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.report_data import data_of

# Number of ranks shown, unless the cutoff of the metric is smaller or the caller passes a number.
MOST_RANKS = 20
# Number of documents that are not ranked.
MOST_UNRANKED = 5
# Tie transforms of the metrics whose numerator is a sum over ranks.
_SUMS = ("gains", "hazards", "products", "misses")
# Columns of the printed table that differ from those of the frame.
_PRINTED = {
    "label": Column("label", lambda label: "?" if np.isnan(label) else f"{label:g}"),
    "score": Column("score", "{:z.4g}".format),
    "tied": Column("tied", lambda tied: "=" if tied else ""),
    "added": Column("adds", lambda added: "" if np.isnan(added) else f"{added:z.4f}"),
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
    n_ranked: int
    n_relevant: int
    unranked: list[Any]

    def _sections(self) -> Iterator[Section]:
        yield self._title()
        # Ids, and what documents have, can be of any type; a tuple is not an interval here.
        heads = [
            _PRINTED.get(name, Column(name.removeprefix(OF_DOCUMENTS), str))
            for name in self.columns
        ]
        yield Table(heads, list(zip(*self.columns.values(), strict=True)), wraps=True)
        if abs(self.rest) >= ROUNDED_TO_0:
            yield f"Ranks below {len(self.columns['rank'])} add {self.rest:.4f}."
        if self.unranked:
            first = ", ".join(map(str, self.unranked[:MOST_UNRANKED]))
            more = ", ..." if len(self.unranked) > MOST_UNRANKED else ""
            yield f"{counted(len(self.unranked), 'relevant document')} not ranked: {first}{more}."

    def _title(self) -> str:
        name = f"Query {self.qid}"
        if self.ranking:
            name += f", {self.ranking}"
        value = f"{self.value:z.4f}"
        if not self.is_defined:
            value += " (undefined)"
        ranked = counted(self.n_ranked, "ranked document")
        return f"{name}: {value}; {ranked}, {counted(self.n_relevant, 'relevant document')}"


@dataclass(frozen=True, repr=False, eq=False)
class Inspection(Result):
    """Single queries, rank by rank.

    Prints as one table per query and ranking. ``to_frame()`` gives one row per ranked document, with the columns "qid",
    "ranking" if there are several, and those of the queries, with None where one does not have it.

    Attributes
    ----------
    metric : str
        Name of the metric.
    queries : list of list of InspectedQuery
        For each query, one entry per ranking, with attributes ``qid``; ``ranking``, its name, "" if there is only one;
        ``value`` and ``is_defined``; the numbers of documents ``n_ranked`` and ``n_relevant``; ``unranked``, the ids,
        or rows, of relevant documents that are not ranked; and the following.

        ``columns`` is a dict of the documents by "rank": "row" in the evaluated arrays, or "id", in lists by id;
        "label", NaN if nobody judged the document; "score"; whether it is "tied" with another; what the rank has
        "added" to the value; and columns that evaluate got as ``documents``, such as "documents.price". ``rest`` is
        what all further ranks add. What ranks add is NaN if the metric is undefined or not a sum over ranks.
    """

    metric: str
    queries: list[list[InspectedQuery]]

    def _brief(self) -> str:
        return f"{self.metric} of {counted(len(self.queries), 'query')}"

    def _sections(self) -> list[Section]:
        sections: list[Section] = [self._brief()]
        for query in chain.from_iterable(self.queries):
            sections += query._sections()
        legend = f"adds: what a rank adds to {self.metric}, if it is a sum over ranks; =: tied; ?: not judged."
        return [*sections, legend]

    def _columns(self) -> dict[str, list[Any]]:
        rows: list[dict[str, Any]] = []
        for query in chain.from_iterable(self.queries):
            rows += rows_of(query.columns, {"qid": query.qid, "ranking": query.ranking})
        # Columns do not come from rows, as there may be none. All queries of a ranking have the same columns.
        rankings = self.queries[0]
        names = dict.fromkeys(chain(("qid", "ranking"), *(query.columns for query in rankings)))
        if len(rankings) == 1:
            del names["ranking"]
        return {name: [row.get(name) for row in rows] for name in names}


class Report(Protocol):
    """What an inspection reads of a RankingReport."""

    @property
    def metrics(self) -> Mapping[str, BoundMetric]:
        """The metrics by name."""

    @property
    def qid(self) -> NDArray[Any]:
        """Query ids."""

    @property
    def per_query(self) -> Mapping[str, FloatArray]:
        """Values by name of the metric."""


def inspect_reports(
    reports: Mapping[str, Report],
    metric: str,
    qid: Any,
    n_ranks: int | None = None,
) -> Inspection:
    """Inspect the same queries of one or several reports."""
    check_int(n_ranks, "n_ranks", 1, or_none=True)
    by_ranking = []
    for name, report in reports.items():
        places = _places_of(qid, report.qid)
        by_ranking.append(_inspected(name, report, metric, places, n_ranks))
    return Inspection(metric, list(map(list, zip(*by_ranking, strict=True))))


def _places_of(wanted: Any, ids: NDArray[Any]) -> IntArray:
    """Positions of one or several query ids in a report."""
    known = dict(zip(as_python(ids), count()))
    is_known = isinstance(wanted, Hashable) and wanted in known  # a tuple may be an id
    if is_known or isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable):
        wanted = [wanted]
    elif isinstance(wanted, np.ndarray):
        wanted = as_python(wanted)
    places = []
    for query in dict.fromkeys(wanted):
        if query not in known:
            first = next(iter(known))
            raise ValueError(f"qid {query!r} is not in the report, whose first id is {first!r}.")
        places.append(known[query])
    if not places:
        raise ValueError("qid must name at least one query; got none.")
    return np.array(places)


# --- Ranks


def _inspected(
    name: str,
    report: Report,
    metric_name: str,
    places: IntArray,
    n_ranks: int | None,
) -> Iterator[InspectedQuery]:
    """The first ranks of some queries, given by their positions in a report."""
    metric = report.metrics[metric_name]
    ranking = data_of(report).own_ranking.take(places)
    depth = n_ranks or min(metric.k or MOST_RANKS, MOST_RANKS)
    # Each rank costs another cutoff of the metric, and below the longest list there is nothing.
    depth = min(depth, int(ranking.documents.grouping.sizes.max()))
    # All queries are done at once, since each cutoff is a pass over the documents.
    added, rest = contributions(ranking, metric, depth)
    values = report.per_query[metric_name][places].tolist()
    ids = as_python(report.qid[places])
    for number, place in enumerate(places.tolist()):
        of_query = ranking.take(np.array([number]))
        order = _ranked(of_query, metric)
        is_relevant = _is_relevant(of_query.documents, metric)
        unranked = np.setdiff1d(np.flatnonzero(is_relevant), order)
        kind, names = _names(of_query.documents, data_of(report).rows_of(place))
        shown = order[:depth]
        columns = {
            "rank": range(1, len(shown) + 1),
            kind: names[shown],
            **_columns_of_ranks(of_query, order, depth),
            "added": added[number, : len(shown)],
        }
        for key, column in of_query.documents.columns.items():
            columns[OF_DOCUMENTS + key] = column[shown]
        yield InspectedQuery(
            ids[number],
            name,
            values[number],
            is_defined=not np.isnan(data_of(report).results[metric_name].values[place]),
            columns=columns,
            rest=float(rest[number]),
            n_ranked=len(order),
            n_relevant=int(is_relevant.sum()),
            unranked=names[unranked].tolist(),
        )


def _names(documents: Documents, rows: IntArray) -> tuple[str, NDArray[Any]]:
    """The name of the column that says which documents they are, and its values."""
    if documents.document_ids is None:
        return "row", rows
    return "id", to_objects(documents.document_ids.tolist())


def _ranked(ranking: Ranking, metric: BoundMetric) -> IntArray:
    """Positions of the ranked documents of a query, first rank first."""
    documents = ranking.documents
    is_ranked = np.ones(documents.n_documents, dtype=bool)
    if ranking.retrieved is not None:
        is_ranked &= ranking.retrieved
    if documents.judged is not None and ranking.sight(metric.record.unjudged) == "judged":
        is_ranked &= documents.judged
    labels = documents.labels
    if documents.judged is not None:
        # An order by label puts documents that were not judged last.
        labels = np.where(documents.judged, labels, -1.0)
    sign = {"best": -1.0, "worst": 1.0}.get(metric.computation.ties, 0.0)
    # The sort is stable, so tied documents stay in the order of the rows unless labels decide.
    order = np.lexsort((sign * labels, -ranking.scores))
    return order[is_ranked[order]]


def _is_relevant(documents: Documents, metric: BoundMetric) -> NDArray[np.bool_]:
    """Mask of the documents of a query that the metric counts as relevant; unjudged ones have the label 0."""
    options = documents.with_rounded_threshold(metric.computation.options)
    threshold = options.get("relevance_threshold") or math.ulp(0.0)
    return documents.labels >= threshold


def _columns_of_ranks(ranking: Ranking, order: IntArray, depth: int) -> dict[str, NDArray[Any]]:
    """Labels, scores and ties of the first ranked documents of a query."""
    documents = ranking.documents
    labels = documents.labels
    if documents.judged is not None:
        labels = np.where(documents.judged, labels, np.nan)
    scores = ranking.scores[order]
    _, codes, numbers = np.unique(scores, return_inverse=True, return_counts=True)
    return {
        "label": labels[order][:depth],
        "score": scores[:depth],
        "tied": numbers[codes][:depth] > 1,
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

    These are the differences of the values at the cutoffs 1, 2, ..., depth, divided as at the metric's own cutoff; NaN
    if the metric is not a sum over ranks.
    """
    if not adds_up(metric):
        unknown = np.full((ranking.documents.n_queries, depth + 1), np.nan)
        return unknown[:, 1:], unknown[:, 0]
    return steps_of_ranks(ranking, metric, depth)


def steps_of_ranks(
    ranking: Ranking, metric: BoundMetric, depth: int
) -> tuple[FloatArray, FloatArray]:
    """How the value changes with each rank, also if a rank can lower it."""
    whole = metric.computation
    # Ranks below the cutoff of the metric add nothing.
    cutoffs = [min(rank, whole.k or rank) for rank in range(1, depth + 1)]
    # A query may have gains, but none above a cutoff.
    cut = [replace(whole, k=k, needs_relevant=False) for k in cutoffs]
    *at_ranks, total = per_query(ranking, [*cut, whole])
    before = [np.zeros_like(total.numerators), *(result.numerators for result in at_ranks)]
    steps = np.diff(np.column_stack([*before, total.numerators]), axis=1)
    steps[np.isnan(total.values)] = np.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        steps /= total.denominators[:, None]
    return steps[:, :-1], steps[:, -1]

"""Single queries, rank by rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, check_int, nearest, take_rows
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports._contributions import adds_up
from skrank_metrics.reports._evaluation import Evaluation
from skrank_metrics.reports._query_view import QueryView, Sums
from skrank_metrics.reports._ranked_query import RankedQuery, ranked_queries

# Number of queries that are not folded.
MOST_OPEN = 3
# Number of features and of characters shown of a document.
MOST_FEATURES, MOST_CHARACTERS = 8, 160
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


@dataclass(frozen=True, repr=False, eq=False)
class Inspection(Result):
    """Single queries, rank by rank.

    Prints as one table per query and ranking, with two rankings side by side if they fit; notebooks and pages fold the
    queries. ``to_frame()`` gives one row per ranked document, with the columns "qid", "ranking" if there are several,
    "rank" and, as far as they are known, "row", "label", "score", "tied", "discount", "added", "ideal" and "document".

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
    _notes: tuple[Part, ...] = ()

    def _parts(self) -> list[Part]:
        views = [QueryView(query, number < MOST_OPEN) for number, query in enumerate(self.queries)]
        return [f"{self.metric} of {counted(len(self.queries), 'query')}", *views, *self._notes]

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


def places_of(wanted: Any, ids: NDArray[Any]) -> IntArray:
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
            raise ValueError(f"qid must be in the report; got {query!r}.{_near(query, known)}")
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


def inspect_rankings(
    evaluations: Mapping[str, Evaluation],
    columns: Mapping[str, str],
    places: Mapping[str, IntArray],
    documents: Any = None,
    n_ranks: int | None = None,
) -> Inspection:
    """Inspect the same queries, given by their positions in each report; ``columns`` names the metric in each."""
    check_int(n_ranks, "n_ranks", 1, or_none=True)
    if documents is not None:
        documents = documents.to_pylist() if hasattr(documents, "to_pylist") and not _is_table(documents) else documents
        _check_documents(documents, evaluations, places)
    found = []
    for name, evaluation in evaluations.items():
        ranked = ranked_queries(name, evaluation, columns[name], places[name], n_ranks)
        found.append(ranked if documents is None else _with_documents(ranked, documents))
    queries = [list(query) for query in zip(*found, strict=True)]
    (name, column), *_ = columns.items()
    return Inspection(column, queries, tuple(_notes(evaluations[name].metrics[column], column, queries)))


def _check_documents(documents: Any, evaluations: Mapping[str, Evaluation], places: Mapping[str, IntArray]) -> None:
    """Refuse documents that are not those of the rows that were evaluated."""
    shape = getattr(documents, "shape", None)
    if isinstance(documents, str | Mapping) or not (shape or hasattr(documents, "__len__")):
        raise TypeError(
            f"documents must be a frame, Series, array or list with one entry per row; got {type(documents).__name__}."
        )
    length = shape[0] if shape else len(documents)
    for evaluation in evaluations.values():
        if evaluation.is_part:
            raise ValueError(
                "documents must be left out for a slice, whose rows are not known. Inspect the whole report."
            )
        if length != evaluation.n_documents:
            raise ValueError(
                f"documents must hold one entry per row that was evaluated, {evaluation.n_documents} in all; got "
                f"{length}."
            )
    (first, given), *others = ((name, _given(of, places[name])) for name, of in evaluations.items())
    for name, other in others:
        if not all(np.array_equal(*pair) for pair in zip(given, other, strict=True)):
            raise ValueError(
                f"documents must match the rows of all reports; got {first!r} and {name!r} with the rows in "
                "different orders. Evaluate both on the same rows, or inspect each report."
            )


def _given(evaluation: Evaluation, places: IntArray) -> list[FloatArray]:
    """Rows of each query and their labels."""
    lists = evaluation.part(places).lists
    rows = [evaluation.rows_of(place) for place in places.tolist()]
    return [np.concatenate(rows), lists.labels]


def _with_documents(queries: list[RankedQuery], documents: Any) -> list[RankedQuery]:
    rows = [query.rows for query in queries if query.rows is not None]
    texts = iter(_texts(take_rows(documents, np.concatenate(rows))))
    return [replace(query, documents=[next(texts) for _ in query.labels]) for query in queries]


def _texts(taken: Any) -> list[str]:
    """Documents as text: named features, or the values themselves."""
    taken = taken.toarray() if hasattr(taken, "toarray") else taken
    names = getattr(taken, "column_names" if _is_table(taken) else "columns", None)
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


def _notes(metric: BoundMetric, name: str, queries: Sequence[Sequence[RankedQuery]]) -> Iterator[Part]:
    """Explain the columns and marks that are present."""
    rankings = list(chain.from_iterable(queries))
    if not adds_up(metric):
        yield f"{name} is not computed as a sum over ranks, so only the order is shown."
    elif any(ranking.is_defined for ranking in rankings):
        has_ideal = not all(np.isnan(ranking.ideal_value) for ranking in rankings)
        yield Sums(name, alone=len(queries[0]) == 1, has_ideal=has_ideal)
    if any(ranking.tied.any() for ranking in rankings):
        ties = metric.computation.ties
        orders = {"average": f"{name} is the mean over all orders", "stable": "they are in the order of the rows"}
        yield f"=: tied with another document; {orders.get(ties, f'the {ties} order by label is taken')}."
    if any(np.isnan(ranking.labels).any() for ranking in rankings):
        yield "?: nobody judged the document."

"""Properties of labels and scores that affect how to read a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._engine.label_orders import MOST_ORDERS, N_DRAWN
from skrank_metrics._engine.per_query import PerQuery, per_query, seen_lists
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._engine.ranked_lists import ranked_blocks
from skrank_metrics._input.arrays import IntArray, Mask
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import NO_RELEVANT
from skrank_metrics.reports.slices import part_of

# A mean is shown with four decimals; ties that move it by less are not reported.
SHOWN = 5e-5
# Counts of Health, and what they are shares of.
_ROWS = {
    "tied documents": ("n_tied", "n_documents"),
    "tied in float32 only": ("n_tied_in_float32", "n_documents"),
    "constant queries": ("n_constant", "n_queries"),
    "single-document queries": ("n_single_document", "n_queries"),
    "all-relevant queries": ("n_all_relevant", "n_queries"),
    "no-relevant queries": ("n_no_relevant", "n_queries"),
}
_NOT_COUNTED = "Ties were not counted, since the documents were not kept."
_NOTHING_COUNTED = "Ties and degenerate queries were not counted, since the documents were not kept."

Metrics = Mapping[str, BoundMetric]
Results = Mapping[str, PerQuery]
# Counts that add up over batches, by ("n_queries",) etc., ("all relevant", metrics) or ("undefined", metric, reason).
Counts: TypeAlias = Counter[tuple[str, ...]]


@dataclass(frozen=True, repr=False, eq=False)
class Health(Result):
    """Counts of ties and degenerate queries, with one sentence per finding that affects how to read the values.

    Prints as tables in terminals and notebooks. ``to_frame()`` gives the counts, one row per kind, with "number" and
    "share". A count is None if it needs documents that the report did not keep.

    Attributes
    ----------
    n_queries, n_documents : int
        Number of queries and of documents.
    n_tied : int
        Documents with the same score as another document of their query.
    n_tied_in_float32 : int
        Further documents that would tie if scores were rounded to float32, as many libraries do.
    n_constant : int
        Queries of several documents that all have the same score.
    n_single_document : int
        Queries of one document.
    n_all_relevant : int
        Queries of several documents, all of them relevant (label > 0).
    n_no_relevant : int
        Queries without a relevant document.
    tie_means : dict of str to tuple of float
        Mean of each metric with tied documents in ascending and in descending order of their labels, as with
        ``ties="worst"`` and ``ties="best"``. For most metrics, these are the smallest and the largest possible value.
    findings : tuple of str
        One sentence per finding.
    """

    n_queries: int
    n_documents: int | None
    n_tied: int | None = None
    n_tied_in_float32: int | None = None
    n_constant: int | None = None
    n_single_document: int | None = None
    n_all_relevant: int | None = None
    n_no_relevant: int | None = None
    tie_means: dict[str, tuple[float, float]] = field(default_factory=dict)
    findings: tuple[str, ...] = (_NOTHING_COUNTED,)

    def _brief(self) -> str:
        return f"{counted(self.n_queries, 'query')}, {counted(len(self.findings), 'finding')}"

    def _parts(self) -> list[Part]:
        counts = [(kind, getattr(self, number), getattr(self, total)) for kind, (number, total) in _ROWS.items()]
        ends = [(name, *ends) for name, ends in self.tie_means.items()]
        return [
            "Health of the labels and scores of " + counted(self.n_queries, "query"),
            Table(
                (Column("", name="count"), "number", Column("share", "{:.1%}".format)),
                [(kind, number, number / total) for kind, number, total in counts if number is not None],
            ),
            *[Table(("tied labels", "ascending", "descending"), ends) for ends in [ends] if ends],
            *(self.findings or ["Nothing found that affects how to read the values."]),
        ]


def count(lists: QueryLists, metrics: Metrics, results: Results) -> Counts:
    """Count what can be counted without sorting."""
    seen, n_documents = lists.counted, lists.n_documents
    starts, sizes = seen.grouping.starts, _sizes(seen)
    ranked: Any = True if seen.retrieved is None else seen.retrieved
    low = np.minimum.reduceat(seen.scores if ranked is True else np.where(ranked, seen.scores, np.inf), starts)
    high = np.maximum.reduceat(seen.scores if ranked is True else np.where(ranked, seen.scores, -np.inf), starts)
    numbers = {
        "n_queries": seen.n_queries,
        "n_documents": n_documents,
        "n_constant": ((low == high) & (seen.n_retrieved > 1)).sum(),
        "n_single_document": (sizes == 1).sum(),
        "n_all_relevant": _count_all_relevant(seen, None),
        "n_no_relevant": (seen.n_relevant(None) == 0).sum(),
        "n_ranked": lists.n_retrieved.sum(),
        "n_unjudged": 0 if lists.judged is None else (~lists.judged & _ranked(lists)).sum(),
        "n_not_ranked": n_documents - lists.n_retrieved.sum(),
    }
    counts: Counts = Counter({(name,): int(number) for name, number in numbers.items()})
    counts.update({("all relevant", where): n for where, n in _all_relevant(seen, metrics)})
    reasons = ((name, *reason) for name, metric in metrics.items() for reason in _reasons(lists, metric, results[name]))
    counts.update({("undefined", name, why): n for name, why, n in reasons})
    return counts


def examine(lists: QueryLists, metrics: Metrics, results: Results, left_out: tuple[str, ...]) -> Health:
    """Count ties and degenerate queries, and describe them in sentences."""
    counts, (ties, tied) = count(lists, metrics, results), _count_ties(lists.counted)
    counts.update({(name,): n for name, n in ties.items()})
    worst, best = (_means(lists, metrics, results, policy, tied) for policy in ("worst", "best"))
    means = {
        name: (worst[name], float(metric.aggregate(results[name], lists.weights)), best[name])
        for name, metric in metrics.items()
    }
    return describe(counts, metrics, lists.condense, left_out, means, count_drawn(lists, metrics))


def describe(
    counts: Counts,
    metrics: Metrics,
    condense: bool,
    left_out: tuple[str, ...] = (),
    means: Mapping[str, tuple[float, float, float]] | None = None,
    drawn: Mapping[str, int] | None = None,
) -> Health:
    """Put counts into sentences; ``means`` are those of the worst, given and best order, None if ties are unknown."""
    known = [name for name, _ in _ROWS.values() if means is not None or "tied" not in name]
    numbers: dict[str, Any] = {name: counts[(name,)] for name in ("n_queries", "n_documents", *known)}
    health = Health(**numbers, tie_means={name: (worst, best) for name, (worst, _, best) in (means or {}).items()})
    findings = (
        *_of_scores(health, means or {}),
        *drawn_orders({"": drawn or {}}),
        *_of_labels(counts, metrics, condense),
        *_of_undefined(counts, metrics),
        *left_out,
        *([_NOT_COUNTED] if means is None else ()),
    )
    return replace(health, findings=findings)


def _ranked(lists: QueryLists) -> Any:
    return True if lists.retrieved is None else lists.retrieved


def _sizes(lists: QueryLists) -> IntArray:
    """Number of documents of each query, 0 if none of them is ranked or judged."""
    return np.where((lists.n_retrieved > 0) | (lists.n_judged > 0), lists.grouping.sizes, 0)


def _count_all_relevant(lists: QueryLists, relevance_threshold: float | None) -> int:
    """Count the queries of several documents that are all relevant."""
    sizes = _sizes(lists)
    return int(((lists.n_relevant(relevance_threshold) == sizes) & (sizes > 1)).sum())


def _count_ties(lists: QueryLists) -> tuple[dict[str, int], IntArray]:
    """Count ties, and find the queries that have any."""
    n_tied, n_in_float32, tied = 0, 0, []
    # NaN equals nothing: it pads the rows and replaces the scores of documents that are not ranked.
    scores = lists.scores if lists.retrieved is None else np.where(lists.retrieved, lists.scores, np.nan)
    for queries in lists.blocks():
        ranked = np.sort(lists.windows(scores, queries, np.nan), axis=1)
        equal = ranked[:, 1:] == ranked[:, :-1]
        with np.errstate(over="ignore"):
            rounded = ranked.astype(np.float32)  # still sorted, since rounding is monotone
        n_tied += _members(equal)
        n_in_float32 += _members(rounded[:, 1:] == rounded[:, :-1])
        tied.append(queries[equal.any(axis=1)])
    return {"n_tied": n_tied, "n_tied_in_float32": n_in_float32 - n_tied}, np.sort(np.concatenate(tied))


def _members(tied_with_previous: Mask) -> int:
    """Count the entries of tie groups of two or more."""
    either = np.pad(tied_with_previous, ((0, 0), (0, 1)))
    either[:, 1:] |= tied_with_previous
    return int(either.sum())


def _means(lists: QueryLists, metrics: Metrics, results: Results, ties: str, tied: IntArray) -> dict[str, float]:
    """Means with another order of ties; only the given queries have ties."""
    means, ordered = {}, [metric.replace(ties=ties) for metric in metrics.values()]
    part = lists if len(tied) == lists.n_queries else part_of(lists, tied) if len(tied) else None
    changed = per_query(part, [metric.computation for metric in ordered]) if part else []
    for place, (name, metric) in enumerate(zip(metrics, ordered, strict=True)):
        result = results[name]
        if changed:
            result = PerQuery(result.numerators.copy(), result.denominators.copy())
            result.numerators[tied], result.denominators[tied] = changed[place].numerators, changed[place].denominators
        means[name] = float(metric.aggregate(result, lists.weights))
    return means


def _of_scores(health: Health, means: Mapping[str, tuple[float, float, float]]) -> Iterator[str]:
    # A metric that is undefined for all queries has no means.
    spread = {name: float(np.nan_to_num(abs(best - worst))) for name, (worst, _, best) in means.items()}
    widest = max(spread, key=lambda name: spread[name], default="")
    if health.n_tied and spread[widest] >= SHOWN:
        worst, given, best = means[widest]
        most = ", the most affected metric," if len(spread) > 1 else ""  # the others are in tie_means
        yield (
            f"Ties: {health.n_tied / (health.n_documents or 1):.1%} of the documents have the same score as another "
            f"document of their query; {widest}{most} is {given:.4f}, and would be {worst:.4f} with tied documents in "
            f"ascending order of their labels and {best:.4f} in descending order."
        )
    if health.n_constant:
        yield f"Constant scores: {counted(health.n_constant, 'query')} with the same score for all documents."
    if health.n_tied_in_float32:
        yield (
            f"Float32: {counted(health.n_tied_in_float32, 'further document')} would tie in float32; libraries that "
            "round scores to float32 give different values."
        )


def count_drawn(lists: QueryLists, metrics: Metrics) -> dict[str, int]:
    """For each own metric, the number of queries with too many orders of ties to go through, if there are any."""
    computations = {name: m.computation for name, m in metrics.items() if m.record.transform == "orders"}
    ways = {name: (own.unjudged, own.ties, own.documents) for name, own in computations.items()}
    drawn = {
        (unjudged, ties, documents): sum(
            not query.enumerable
            for _, ranked in ranked_blocks(seen_lists(lists, unjudged), None, ties)
            for query in ranked.each(documents)
        )
        for unjudged, ties, documents in set(ways.values())
    }
    return {name: drawn[way] for name, way in ways.items() if drawn[way]}


def drawn_orders(drawn: Mapping[str, Mapping[str, int]]) -> list[str]:
    """One sentence for each metric that is a mean over orders drawn at random, in some queries of some rankings."""
    by_metric: dict[str, list[str]] = {}
    for name, numbers in drawn.items():
        for metric, number in numbers.items():
            by_metric.setdefault(metric, []).append(f"{number:,} of {name!r}" if name else counted(number, "query"))
    return [
        f"Drawn orders: {metric} is the mean over {N_DRAWN} orders drawn at random for queries with more than "
        f"{MOST_ORDERS} different orders of tied documents: {', '.join(numbers)}."
        for metric, numbers in by_metric.items()
    ]


def _of_labels(counts: Counts, metrics: Metrics, condense: bool) -> Iterator[str]:
    names = [name for name, metric in metrics.items() if metric.record.needs_cutoff and metric.k is None]
    if names and not counts[("n_not_ranked",)]:
        yield (
            f"No cutoff: without a cutoff rank, {', '.join(names)} is the same for every order of the documents. Pass "
            f"one, as in {metrics[names[0]].replace(k=10)}."
        )
    if n_unjudged := counts[("n_unjudged",)]:
        way = "are left out" if condense else "count as not relevant"
        share = n_unjudged / counts[("n_ranked",)]
        yield f"Unjudged: nobody judged {counted(n_unjudged, 'ranked document')} ({share:.1%}); they {way}."
    if n_single := counts[("n_single_document",)]:
        yield f"Single documents: {counted(n_single, 'query')} with only one document."
    for kind, *where in counts:
        if kind == "all relevant":
            number = counted(counts[(kind, *where)], "query")
            yield f"All relevant: {number} with relevant documents only; for {where[0]}, every order is correct."


def _all_relevant(lists: QueryLists, metrics: Metrics) -> Iterator[tuple[str, int]]:
    """Number of queries of several documents that are all relevant, by the metrics to which they are."""
    names_at = dict[float | None, list[str]]()
    for name, metric in metrics.items():
        options = lists.comparable(metric.computation.options)
        if "relevance_threshold" in options:
            names_at.setdefault(options["relevance_threshold"], []).append(name)
    for threshold, names in (names_at or {None: []}).items():
        if n_queries := _count_all_relevant(lists, threshold):
            yield "metrics of binary relevance" if list(names_at) in ([], [None]) else ", ".join(names), n_queries


def _of_undefined(counts: Counts, metrics: Metrics) -> Iterator[str]:
    """One sentence per reason, number of queries and what they count as."""
    found: dict[tuple[str, int, float], list[str]] = {}
    for (_, name, reason), number in ((key, n) for key, n in counts.items() if key[0] == "undefined"):
        metric = metrics[name]
        if metric.average != "micro":  # pooled queries have no value to replace
            value = 0.0 - metric.replace_undefined_by if metric.negative else metric.replace_undefined_by
            found.setdefault((reason, number, np.nan if np.isnan(value) else value), []).append(name)
    for (reason, number, value), names in found.items():
        have, are, count_as = ("has", "is", "counts") if number == 1 else ("have", "are", "count")
        way = f"{are} left out of" if np.isnan(value) else f"{count_as} as {value:g} in"
        yield f"{counted(number, 'query')} {have} {reason} and {way} {', '.join(names)}."


def _reasons(lists: QueryLists, metric: BoundMetric, result: PerQuery) -> Iterator[tuple[str, int]]:
    """Reasons why a metric is undefined, and the number of queries for each."""
    undefined = np.isnan(result.values)
    if metric.record.unjudged != "counted" and (n_unjudged := int((undefined & (lists.n_judged == 0)).sum())):
        yield "no judged document", n_unjudged
        undefined &= lists.n_judged > 0
    if undefined.any():
        threshold = lists.comparable(metric.computation.options).get("relevance_threshold")
        gainless = metric.undefined == NO_RELEVANT and lists.n_relevant(threshold)[undefined].any()
        yield "no document with a gain" if gainless else metric.undefined or "no value", int(undefined.sum())

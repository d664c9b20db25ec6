"""Properties of labels and scores that affect how to read a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.label_orders import MOST_ORDERS, N_DRAWN
from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranked_blocks import ranked_blocks
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import NO_RELEVANT
from skrank_metrics.reports.suspicions import binary_metrics, suspicions

# A mean is shown with four decimals; ties that move it by less, or by less than this share of its interval, are not
# reported.
SHOWN, SHARE_OF_INTERVAL = 5e-5, 0.1
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
_NOTHING_COUNTED = (
    "Ties and degenerate queries were not counted, since the documents were not kept."
)

Metrics = Mapping[str, BoundMetric]
# Means with ties in ascending order of labels, as given, and in descending order, by name of the metric.
Ends = Mapping[str, tuple[float, float, float]]
# Counts that add up over batches, by ("n_queries",) etc. or ("undefined", metric, reason).
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
    n_tied, n_tied_in_float32 : int
        Documents with the same score as another document of their query, and further ones that would tie if scores
        were rounded to float32, as many libraries do.
    n_constant, n_all_relevant : int
        Queries of several documents that all have the same score, or are all relevant (label > 0).
    n_single_document, n_no_relevant : int
        Queries of one document, and queries without a relevant document.
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
        counts = [
            (kind, getattr(self, number), getattr(self, total))
            for kind, (number, total) in _ROWS.items()
        ]
        ends = [(name, *ends) for name, ends in self.tie_means.items()]
        return [
            "Health of the labels and scores of " + counted(self.n_queries, "query"),
            Table(
                (Column("", name="count"), "number", Column("share", "{:.1%}".format)),
                [
                    (kind, number, number / total)
                    for kind, number, total in counts
                    if number is not None
                ],
            ),
            *[Table(("tied labels", "ascending", "descending"), ends) for ends in [ends] if ends],
            *(self.findings or ["Nothing found that affects how to read the values."]),
        ]


def count(ranking: Ranking, metrics: Metrics, results: Mapping[str, PerQuery]) -> Counts:
    """Count what can be counted without sorting."""
    documents, seen = ranking.documents, ranking.seen(ranking.sight("zero"))
    starts, scores = seen.documents.grouping.starts, _ranked_scores(seen)
    constant = np.fmin.reduceat(scores, starts) == np.fmax.reduceat(scores, starts)
    # A query keeps a document even if none is ranked or judged.
    is_empty = (seen.n_retrieved == 0) & (seen.documents.n_judged == 0)
    sizes = np.where(is_empty, 0, seen.documents.grouping.sizes)
    n_relevant = seen.documents.n_relevant(None)
    numbers = {
        "n_queries": documents.n_queries,
        "n_documents": documents.n_documents,
        "n_constant": (constant & (seen.n_retrieved > 1)).sum(),
        "n_single_document": (sizes == 1).sum(),
        "n_all_relevant": ((n_relevant == sizes) & (sizes > 1)).sum(),
        "n_no_relevant": (n_relevant == 0).sum(),
        "n_ranked": ranking.n_retrieved.sum(),
        "n_unjudged": _count_unjudged(ranking),
    }
    counts: Counts = Counter({(name,): int(number) for name, number in numbers.items()})
    for name, metric in metrics.items():
        for reason, number in _reasons(documents, metric, results[name]):
            counts[("undefined", name, reason)] = number
    return counts


def _count_unjudged(ranking: Ranking) -> int:
    """Number of ranked documents that nobody judged."""
    judged = ranking.documents.judged
    if judged is None:
        return 0
    unjudged = ~judged if ranking.retrieved is None else ~judged & ranking.retrieved
    return int(unjudged.sum())


def _reasons(
    documents: Documents, metric: BoundMetric, result: PerQuery
) -> Iterator[tuple[str, int]]:
    """Reasons why a metric is undefined, and the number of queries for each."""
    undefined = np.isnan(result.values)
    if metric.record.unjudged != "counted":
        n_unjudged = int((undefined & (documents.n_judged == 0)).sum())
        if n_unjudged:
            yield "no judged document", n_unjudged
            undefined &= documents.n_judged > 0
    least = metric.computation.min_documents
    too_short = undefined & (documents.grouping.sizes < least)
    if too_short.any():
        yield f"fewer than {least} documents", int(too_short.sum())
        undefined &= ~too_short
    if not undefined.any():
        return
    reason = metric.undefined_by_labels or "no value"
    if reason == NO_RELEVANT:
        options = documents.with_rounded_threshold(metric.computation.options)
        n_relevant = documents.n_relevant(options.get("relevance_threshold"))
        if n_relevant[undefined].any():
            reason = "no document with a gain"
    yield reason, int(undefined.sum())


def _ranked_scores(ranking: Ranking) -> FloatArray:
    """Scores, with NaN, which equals nothing, for documents that are not ranked."""
    if ranking.retrieved is None:
        return ranking.scores
    return np.where(ranking.retrieved, ranking.scores, np.nan)


def examine(
    ranking: Ranking,
    metrics: Metrics,
    results: Mapping[str, PerQuery],
    left_out: tuple[str, ...],
    intervals: Mapping[str, tuple[float, float]],
) -> Health:
    """Count ties and degenerate queries, and describe them in sentences."""
    counts = count(ranking, metrics, results)
    ties, tied = _count_ties(ranking.seen(ranking.sight("zero")))
    means = _means(ranking, metrics, results, tied)
    orders = _of_orders(ranking, metrics)
    condense = ranking.documents.condense
    health = describe(counts + ties, metrics, condense, left_out, means, orders, intervals)
    return replace(health, findings=(*suspicions(ranking, metrics, results), *health.findings))


def describe(
    counts: Counts,
    metrics: Metrics,
    condense: bool,
    left_out: tuple[str, ...] = (),
    means: Ends | None = None,
    of_orders: Iterable[str] = (),
    intervals: Mapping[str, tuple[float, float]] | None = None,
) -> Health:
    """Put counts into sentences; ``means`` are None if ties are unknown."""
    ties_are_known = means is not None
    means = means or {}
    known = [name for name, _ in _ROWS.values() if ties_are_known or "tied" not in name]
    numbers: dict[str, Any] = {
        name: counts[(name,)] for name in ("n_queries", "n_documents", *known)
    }
    tie_means = {name: (worst, best) for name, (worst, _, best) in means.items()}
    health = Health(**numbers, tie_means=tie_means)
    moved = _moved_by_ties(means, intervals or {})
    findings = [*_of_scores(health, means, moved), *of_orders]
    findings += _of_labels(counts, metrics, condense)
    findings += _of_undefined(counts, metrics)
    findings += left_out
    if not ties_are_known:
        findings.append(_NOT_COUNTED)
    return replace(health, findings=tuple(findings))


def _count_ties(ranking: Ranking) -> tuple[Counts, IntArray]:
    """Count ties, and find the queries that have any."""
    n_tied, n_in_float32, tied = 0, 0, []
    documents, scores = ranking.documents, _ranked_scores(ranking)
    for queries in documents.blocks():
        ranked = np.sort(documents.windows(scores, queries, np.nan), axis=1)
        equal = ranked[:, 1:] == ranked[:, :-1]
        with np.errstate(over="ignore"):
            rounded = ranked.astype(np.float32)  # still sorted, since rounding is monotone
        n_tied += _members(equal)
        n_in_float32 += _members(rounded[:, 1:] == rounded[:, :-1])
        tied.append(queries[equal.any(axis=1)])
    counts: Counts = Counter({("n_tied",): n_tied, ("n_tied_in_float32",): n_in_float32 - n_tied})
    return counts, np.sort(np.concatenate(tied))


def _members(tied_with_previous: Mask) -> int:
    """Count the entries of tie groups of two or more."""
    either = np.pad(tied_with_previous, ((0, 0), (0, 1)))
    either[:, 1:] |= tied_with_previous
    return int(either.sum())


def _means(
    ranking: Ranking, metrics: Metrics, results: Mapping[str, PerQuery], tied: IntArray
) -> Ends:
    """Means by order of ties; only the given queries have any."""
    weights = ranking.documents.weights
    given = {
        name: float(metric.aggregate(results[name], weights)) for name, metric in metrics.items()
    }
    if not len(tied):
        return {name: (mean, mean, mean) for name, mean in given.items()}
    some = ranking.take(tied)
    worst, best = dict[str, float](), dict[str, float]()
    for ties, means in (("worst", worst), ("best", best)):
        computations = [metric.replace(ties=ties).computation for metric in metrics.values()]
        for (name, metric), changed in zip(
            metrics.items(), per_query(some, computations), strict=True
        ):
            whole = PerQuery(results[name].numerators.copy(), results[name].denominators.copy())
            whole.numerators[tied] = changed.numerators
            whole.denominators[tied] = changed.denominators
            means[name] = float(metric.aggregate(whole, weights))
    return {name: (worst[name], given[name], best[name]) for name in metrics}


def _moved_by_ties(means: Ends, intervals: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """How far ties can move each mean, in widths of its interval, if that is worth a sentence."""
    moved = dict[str, float]()
    for name, (worst, given, best) in means.items():
        low, high = intervals.get(name, (np.nan, np.nan))
        distance = float(np.fmax(abs(worst - given), abs(best - given)))
        share = distance / (high - low) if high > low else np.inf  # some means have no interval
        if distance >= SHOWN and share > SHARE_OF_INTERVAL:
            moved[name] = share
    return moved


def _of_scores(health: Health, means: Ends, moved: Mapping[str, float]) -> Iterator[str]:
    if health.n_tied and moved:
        widest = max(moved, key=lambda name: moved[name])
        worst, given, best = means[widest]
        # The others are in tie_means.
        most = ", the most affected metric," if len(means) > 1 else ""
        share = health.n_tied / (health.n_documents or 1)
        yield (
            f"Ties: {share:.1%} of the documents have the same score as another "
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


def _of_orders(ranking: Ranking, metrics: Metrics) -> Iterator[str]:
    """One sentence for each custom metric with too many orders of ties to go through in some queries."""
    for name, metric in metrics.items():
        if metric.record.transform != "orders":
            continue
        computation = metric.computation
        seen = ranking.seen(ranking.sight(computation.unjudged))
        n_drawn = 0
        for _, block in ranked_blocks(seen, None, computation.ties):
            n_drawn += sum(not query.enumerable for query in block.each(computation.documents))
        if n_drawn:
            yield (
                f"Drawn orders: {name} is the mean over {N_DRAWN} orders drawn at random for queries with more than "
                f"{MOST_ORDERS} different orders of tied documents: {counted(n_drawn, 'query')}."
            )


def _of_labels(counts: Counts, metrics: Metrics, condense: bool) -> Iterator[str]:
    names = [
        name for name, metric in metrics.items() if metric.record.needs_cutoff and metric.k is None
    ]
    if names and counts[("n_ranked",)] == counts[("n_documents",)]:
        yield (
            f"No cutoff: without a cutoff rank, {', '.join(names)} is the same for every order of the documents. Pass "
            f"one, as in {metrics[names[0]].replace(k=10)}."
        )
    n_unjudged = counts[("n_unjudged",)]
    if n_unjudged:
        way = "are left out" if condense else "count as not relevant"
        share = n_unjudged / counts[("n_ranked",)]
        yield f"Unjudged: nobody judged {counted(n_unjudged, 'ranked document')} ({share:.1%}); they {way}."
    n_single = counts[("n_single_document",)]
    if n_single:
        yield f"Single documents: {counted(n_single, 'query')} with only one document."
    binary = binary_metrics(metrics)
    n_all = counts[("n_all_relevant",)]
    if binary and n_all:
        queries = counted(n_all, "query")
        yield f"All relevant: {queries} with relevant documents only; for {', '.join(binary)}, every order is correct."


def _of_undefined(counts: Counts, metrics: Metrics) -> Iterator[str]:
    """One sentence per reason, number of queries and what they count as."""
    names_of: dict[tuple[str, int, float], list[str]] = {}
    for kind, *about in counts:
        if kind != "undefined":
            continue
        name, reason = about
        metric = metrics[name]
        if metric.average == "micro":  # pooled queries have no value to replace
            continue
        value = metric.replace_undefined_by
        if metric.negative:
            value = 0.0 - value
        if np.isnan(value):
            value = np.nan  # one object, since it is a key
        number = counts[(kind, name, reason)]
        names_of.setdefault((reason, number, value), []).append(name)
    for (reason, number, value), names in names_of.items():
        have, are, count_as = ("has", "is", "counts") if number == 1 else ("have", "are", "count")
        way = f"{are} left out of" if np.isnan(value) else f"{count_as} as {value:g} in"
        yield f"{counted(number, 'query')} {have} {reason} and {way} {', '.join(names)}."

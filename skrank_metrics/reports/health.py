"""Properties of labels and scores that affect how to read a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
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
from skrank_metrics.reports.facts import MetricValues
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
_COUNTED = ("n_queries", "n_documents", *(name for name, _ in _ROWS.values()))
_NOT_COUNTED = "Ties were not counted, since the documents were not kept."
_NOTHING_COUNTED = (
    "Ties and degenerate queries were not counted, since the documents were not kept."
)

# Counts that add up over batches, such as "n_queries", and of queries by metric and the reason why it is undefined.
Counts: TypeAlias = Counter[str | tuple[str, str]]


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
        rows = []
        for kind, (name, of) in _ROWS.items():
            number = getattr(self, name)
            if number is not None:
                rows.append((kind, number, number / getattr(self, of)))
        columns = (Column("", name="count"), "number", Column("share", "{:.1%}".format))
        title = f"Health of the labels and scores of {counted(self.n_queries, 'query')}"
        parts: list[Part] = [title, Table(columns, rows)]
        ends = [(name, *ends) for name, ends in self.tie_means.items()]
        if ends:
            parts.append(Table(("tied labels", "ascending", "descending"), ends))
        return [*parts, *(self.findings or ["Nothing found that affects how to read the values."])]


def count(
    ranking: Ranking, metrics: Mapping[str, BoundMetric], results: Mapping[str, PerQuery]
) -> Counts:
    """Count what can be counted without sorting."""
    documents, seen = ranking.documents, ranking.seen(ranking.sight("zero"))
    starts, scores = seen.documents.grouping.starts, _ranked_scores(seen)
    # Unlike minimum and maximum, fmin and fmax pass over documents that are not ranked.
    is_constant = np.fmin.reduceat(scores, starts) == np.fmax.reduceat(scores, starts)
    # A query keeps a document even if none is ranked or judged.
    is_empty = (seen.n_retrieved == 0) & (seen.documents.n_judged == 0)
    sizes = np.where(is_empty, 0, seen.documents.grouping.sizes)
    n_relevant = seen.documents.n_relevant(None)
    n_ranked = ranking.n_retrieved.sum()
    numbers = {
        "n_queries": documents.n_queries,
        "n_documents": documents.n_documents,
        "n_constant": (is_constant & (seen.n_retrieved > 1)).sum(),
        "n_single_document": (sizes == 1).sum(),
        # Orders matter to queries that miss a document.
        "n_all_relevant": ((n_relevant == sizes) & (seen.n_retrieved == sizes) & (sizes > 1)).sum(),
        "n_no_relevant": (n_relevant == 0).sum(),
        "n_ranked": n_ranked,
        "n_unjudged": n_ranked - ranking.seen("judged").n_retrieved.sum(),
        "n_judged_irrelevant": documents.n_judged.sum() - n_relevant.sum(),
    }
    counts: Counts = Counter()
    for name, number in numbers.items():
        counts[name] = int(number)
    for name, metric in metrics.items():
        for reason, number in _reasons(documents, metric, results[name]):
            counts[name, reason] = number
    return counts


def _reasons(
    documents: Documents, metric: BoundMetric, result: PerQuery
) -> Iterator[tuple[str, int]]:
    """Reasons why a metric is undefined, and the number of queries for each."""
    undefined = np.isnan(result.values)
    least = metric.computation.min_documents
    earlier = {f"fewer than {least} documents": documents.grouping.sizes < least}
    if metric.record.unjudged != "counted":
        earlier = {"no judged document": documents.n_judged == 0, **earlier}
    # Each query counts for the first reason that it has.
    for reason, has_reason in earlier.items():
        yield reason, int((undefined & has_reason).sum())
        undefined &= ~has_reason
    if not undefined.any():
        return
    reason = metric.undefined_by_labels or "no value"
    if reason == NO_RELEVANT:
        options = documents.with_rounded_threshold(metric.computation.options)
        n_relevant = documents.n_relevant(options.get("relevance_threshold"))
        # With gains of one's own, a relevant document may gain nothing.
        if n_relevant[undefined].any():
            reason = "no document with a gain"
    yield reason, int(undefined.sum())


def _ranked_scores(ranking: Ranking) -> FloatArray:
    """Scores, with NaN, which equals nothing, for documents that are not ranked."""
    if ranking.retrieved is None:
        return ranking.scores
    return np.where(ranking.retrieved, ranking.scores, np.nan)


def describe(counts: Counts, metrics: Mapping[str, BoundMetric], condense: bool) -> Health:
    """Put counts of documents that were not kept into sentences."""
    findings = [*_about_scores(counts), *_about_labels(counts, metrics, condense), _NOT_COUNTED]
    return Health(**_numbers(counts), findings=tuple(findings))


def examine(
    ranking: Ranking, values: Mapping[str, MetricValues], left_out: tuple[str, ...]
) -> Health:
    """Count ties and degenerate queries, and describe them in sentences, before those on queries left out."""
    metrics = {name: own.metric for name, own in values.items()}
    counts = count(ranking, metrics, {name: own.result for name, own in values.items()})
    # Documents that metrics leave out cannot tie.
    ties, tied = _count_ties(ranking.seen(ranking.sight("zero")))
    counts.update(ties)
    tie_means = _means_by_order(ranking, values, tied)
    findings = [
        *suspicions(ranking, values),
        *_about_ties(counts, values, tie_means),
        *_about_scores(counts),
        *_about_drawn_orders(ranking, metrics),
        *_about_labels(counts, metrics, ranking.documents.condense),
        *left_out,
    ]
    return Health(
        **_numbers(counts),
        tie_means=tie_means,
        findings=tuple(findings),
    )


def _numbers(counts: Counts) -> dict[str, Any]:
    """The numbers that Health holds; those of ties are not known without documents."""
    return {name: counts[name] for name in _COUNTED if name in counts}


# --- Ties


def _count_ties(ranking: Ranking) -> tuple[Counts, IntArray]:
    """Count ties, and find the queries that have any."""
    counts: Counts = Counter()
    tied = []
    documents, scores = ranking.documents, _ranked_scores(ranking)
    for queries in documents.blocks():
        ranked = np.sort(documents.windows(scores, queries, np.nan), axis=1)
        # Padding and unranked documents are NaN, so they are never tied.
        equal = ranked[:, 1:] == ranked[:, :-1]
        # Scores beyond the range of float32 become infinite and tie, as in those libraries.
        with np.errstate(over="ignore"):
            rounded = ranked.astype(np.float32)  # still sorted, since rounding is monotone
        n_tied = _members(equal)
        counts["n_tied"] += n_tied
        counts["n_tied_in_float32"] += _members(rounded[:, 1:] == rounded[:, :-1]) - n_tied
        tied.append(queries[equal.any(axis=1)])
    return counts, np.sort(np.concatenate(tied))


def _members(tied_with_previous: Mask) -> int:
    """Count the entries of tie groups of two or more."""
    either = np.pad(tied_with_previous, ((0, 0), (0, 1)))
    either[:, 1:] |= tied_with_previous
    return int(either.sum())


def _means_by_order(
    ranking: Ranking, values: Mapping[str, MetricValues], tied: IntArray
) -> dict[str, tuple[float, float]]:
    """Means with ties in ascending and in descending order of labels; only the given queries have any."""
    if not len(tied):
        return {name: (own.mean, own.mean) for name, own in values.items()}
    # In one pass, since the documents of each tie policy are ranked once for all metrics.
    metrics = [
        own.metric.replace(ties=ties) for ties in ("worst", "best") for own in values.values()
    ]
    changed = per_query(ranking.take(tied), [metric.computation for metric in metrics])
    means = []
    for own, result in zip([*values.values()] * 2, changed, strict=True):
        whole = PerQuery(own.result.numerators.copy(), own.result.denominators.copy())
        whole.numerators[tied] = result.numerators
        whole.denominators[tied] = result.denominators
        means.append(replace(own, result=whole).mean)
    n = len(values)
    return dict(zip(values, zip(means[:n], means[n:], strict=True), strict=True))


def _about_ties(
    counts: Counts,
    values: Mapping[str, MetricValues],
    tie_means: Mapping[str, tuple[float, float]],
) -> Iterator[str]:
    """A sentence about the mean that ties can move most, in widths of its interval, if that matters."""
    shares = {name: _moved_by_ties(values[name], ends) for name, ends in tie_means.items()}
    name = max(shares, key=lambda name: shares[name])
    if shares[name] <= SHARE_OF_INTERVAL:
        return
    worst, best = tie_means[name]
    # The others are in tie_means.
    most = ", the most affected metric," if len(values) > 1 else ""
    share = counts["n_tied"] / counts["n_documents"]
    yield (
        f"Ties: {share:.1%} of the documents have the same score as another document of their query; {name}{most} is "
        f"{values[name].mean:.4f}, and would be {worst:.4f} with tied documents in ascending order of their labels and "
        f"{best:.4f} in descending order."
    )


def _moved_by_ties(own: MetricValues, ends: tuple[float, float]) -> float:
    """How far ties can move a mean, in widths of its interval; 0 if four decimals do not show it."""
    distance = np.fmax.reduce(np.abs(np.array(ends) - own.mean))
    low, high = own.interval()
    # Negated, so that a distance of NaN is not reported either.
    if not distance >= SHOWN:
        return 0.0
    return float(distance / (high - low)) if high > low else np.inf  # some means have no interval


def _about_drawn_orders(ranking: Ranking, metrics: Mapping[str, BoundMetric]) -> Iterator[str]:
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


# --- Sentences from counts


def _about_scores(counts: Counts) -> Iterator[str]:
    n_constant, n_in_float32 = counts["n_constant"], counts["n_tied_in_float32"]
    if n_constant:
        queries = counted(n_constant, "query")
        yield f"Constant scores: {queries} with the same score for all documents."
    if n_in_float32:
        yield (
            f"Float32: {counted(n_in_float32, 'further document')} would tie in float32; libraries that round scores "
            "to float32 give different values."
        )


def _about_labels(
    counts: Counts, metrics: Mapping[str, BoundMetric], condense: bool
) -> Iterator[str]:
    cut = [
        name for name, metric in metrics.items() if metric.record.needs_cutoff and metric.k is None
    ]
    # If only some documents are ranked, recall is the share of the relevant ones that were retrieved.
    if cut and counts["n_ranked"] == counts["n_documents"]:
        yield (
            f"No cutoff: without a cutoff rank, {', '.join(cut)} is the same for every order of the documents. Pass "
            f"one, as in {metrics[cut[0]].replace(k=10)}."
        )
    n_unjudged = counts["n_unjudged"]
    # Purchases name only what is relevant, so that all other documents are unjudged.
    if n_unjudged and (condense or counts["n_judged_irrelevant"]):
        documents = counted(n_unjudged, "ranked document")
        share = n_unjudged / counts["n_ranked"]
        way = "are left out" if condense else "count as not relevant"
        yield f"Unjudged: nobody judged {documents} ({share:.1%}); they {way}."
    binary = ", ".join(binary_metrics(metrics))
    if binary and counts["n_all_relevant"]:
        queries = counted(counts["n_all_relevant"], "query")
        yield f"All relevant: {queries} with relevant documents only; for {binary}, every order is correct."
    yield from _about_undefined(counts, metrics)


def _about_undefined(counts: Counts, metrics: Mapping[str, BoundMetric]) -> Iterator[str]:
    """One sentence per reason, number of queries and what they count as."""
    names_of: dict[str, list[str]] = {}
    for key, number in counts.items():
        # Pooled queries have no value to replace.
        if number and isinstance(key, tuple) and metrics[key[0]].average != "micro":
            name, reason = key
            sentence = _undefined(number, reason, metrics[name])
            names_of.setdefault(sentence, []).append(name)
    for sentence, names in names_of.items():
        yield f"{sentence} {', '.join(names)}."


def _undefined(number: int, reason: str, metric: BoundMetric) -> str:
    """What undefined queries count as, up to the name of the metric."""
    have, are, count_as = ("has", "is", "counts") if number == 1 else ("have", "are", "count")
    queries = f"{counted(number, 'query')} {have} {reason}"
    value = metric.replace_undefined_by
    if np.isnan(value):
        return f"{queries} and {are} left out of"
    if metric.negative:
        value = 0.0 - value
    return f"{queries} and {count_as} as {value:g} in"

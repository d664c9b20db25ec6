"""Properties of labels and scores that affect how to read a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from skrank_metrics._engine.label_orders import MOST_ORDERS, N_DRAWN
from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranked_blocks import ranked_blocks
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.facts import MetricValues
from skrank_metrics.reports.suspicions import suspicions

# A mean is shown with four decimals; ties that move it by less, or by less than this share of its interval, are not
# reported.
SHOWN, SHARE_OF_INTERVAL = 5e-5, 0.1
# Counts of Health, and what they are shares of.
_ROWS = {
    "tied documents": ("n_tied", "n_documents"),
    "constant queries": ("n_constant", "n_queries"),
    "no-relevant queries": ("n_no_relevant", "n_queries"),
}
_NOT_COUNTED = "Ties were not counted, since the documents were not kept."
_NOTHING_COUNTED = (
    "Ties and degenerate queries were not counted, since the documents were not kept."
)

# Counts that add up over batches, such as "n_queries".
Counts: TypeAlias = Counter[str]


@dataclass(frozen=True, repr=False, eq=False)
class Health(Result):
    """Counts of ties and degenerate queries, with one sentence per finding that affects how to read the values.

    Prints as a table in terminals and notebooks. ``to_frame()`` gives the counts, one row per kind, with "number" and
    "share". A count is None if it needs documents that the report did not keep.

    Attributes
    ----------
    n_queries, n_documents : int
        Number of queries and of documents.
    n_tied : int
        Documents with the same score as another document of their query.
    n_constant, n_no_relevant : int
        Queries of several documents that all have the same score, and queries without a relevant document (label > 0).
    tie_means : dict of str to tuple of float
        Mean of each metric with tied documents in ascending and in descending order of their labels, as with
        ``ties="worst"`` and ``ties="best"``. For most metrics, these are the smallest and the largest possible value.
    findings : tuple of str
        One sentence per finding.
    """

    n_queries: int
    n_documents: int | None
    n_tied: int | None = None
    n_constant: int | None = None
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
        findings = self.findings or ["Nothing found that affects how to read the values."]
        return [title, Table(columns, rows), *findings]


def count(ranking: Ranking) -> Counts:
    """Count what can be counted without sorting."""
    documents, scores = ranking.documents, _ranked_scores(ranking)
    # Unlike minimum and maximum, fmin and fmax pass over documents that are not ranked.
    starts = documents.grouping.starts
    is_constant = np.fmin.reduceat(scores, starts) == np.fmax.reduceat(scores, starts)
    n_relevant = documents.n_relevant(None)
    n_ranked = ranking.n_retrieved.sum()
    numbers = {
        "n_queries": documents.n_queries,
        "n_documents": documents.n_documents,
        "n_constant": (is_constant & (ranking.n_retrieved > 1)).sum(),
        "n_no_relevant": (n_relevant == 0).sum(),
        "n_not_judged": (documents.n_judged == 0).sum(),
        "n_ranked": n_ranked,
        "n_unjudged": n_ranked - ranking.seen("judged").n_retrieved.sum(),
        "n_judged_irrelevant": documents.n_judged.sum() - n_relevant.sum(),
    }
    return Counter({name: int(number) for name, number in numbers.items()})


def _ranked_scores(ranking: Ranking) -> FloatArray:
    """Scores, with NaN, which equals nothing, for documents that are not ranked."""
    if ranking.retrieved is None:
        return ranking.scores
    return np.where(ranking.retrieved, ranking.scores, np.nan)


def describe(counts: Counts, values: Mapping[str, MetricValues], condense: bool) -> Health:
    """Put counts of documents that were not kept into sentences."""
    return _health(counts, {}, [*_about_counts(counts, values, condense), _NOT_COUNTED])


def examine(
    ranking: Ranking, values: Mapping[str, MetricValues], left_out: tuple[str, ...]
) -> Health:
    """Count ties and degenerate queries, and describe them in sentences, before those on queries left out."""
    counts = count(ranking)
    # Documents that metrics leave out cannot tie.
    counts["n_tied"], tied = _count_ties(ranking.seen(ranking.sight("zero")))
    tie_means = _means_by_order(ranking, values, tied)
    findings = [
        *suspicions(ranking, values),
        *_about_ties(counts, values, tie_means),
        *_about_drawn_orders(ranking, values),
        *_about_counts(counts, values, ranking.documents.condense),
        *left_out,
    ]
    return _health(counts, tie_means, findings)


def _health(
    counts: Counts, tie_means: dict[str, tuple[float, float]], findings: Sequence[str]
) -> Health:
    # Those of ties are not known without documents.
    known = {name: counts[name] for name, _ in _ROWS.values() if name in counts}
    return Health(
        counts["n_queries"],
        counts["n_documents"],
        **known,
        tie_means=tie_means,
        findings=tuple(findings),
    )


# --- Ties


def _count_ties(ranking: Ranking) -> tuple[int, IntArray]:
    """Count tied documents, and find the queries that have any."""
    n_tied = 0
    tied = []
    documents, scores = ranking.documents, _ranked_scores(ranking)
    for queries in documents.blocks():
        ranked = np.sort(documents.windows(scores, queries, np.nan), axis=1)
        # Padding and unranked documents are NaN, so they are never tied.
        equal = ranked[:, 1:] == ranked[:, :-1]
        is_tied = np.pad(equal, ((0, 0), (0, 1)))
        is_tied[:, 1:] |= equal
        n_tied += int(is_tied.sum())
        tied.append(queries[equal.any(axis=1)])
    return n_tied, np.sort(np.concatenate(tied))


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
    """A sentence about the first mean that ties can move far, in widths of its interval."""
    share = counts["n_tied"] / counts["n_documents"]
    for name, (worst, best) in tie_means.items():
        mean = values[name].mean
        low, high = values[name].interval()
        distance = np.fmax(abs(worst - mean), abs(best - mean))
        # Some means have no interval, and then four decimals alone decide.
        if distance >= SHOWN and not distance <= SHARE_OF_INTERVAL * (high - low):
            yield (
                f"Ties: {share:.1%} of the documents have the same score as another document of their query; {name} is "
                f"{mean:.4f}, and would be {worst:.4f} with tied documents in ascending order of their labels and "
                f"{best:.4f} in descending order."
            )
            return


def _about_drawn_orders(ranking: Ranking, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """One sentence for each custom metric with too many orders of ties to go through in some queries."""
    for name, own in values.items():
        computation = own.metric.computation
        if own.metric.record.transform != "orders":
            continue
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


def _about_counts(
    counts: Counts, values: Mapping[str, MetricValues], condense: bool
) -> Iterator[str]:
    if counts["n_constant"]:
        queries = counted(counts["n_constant"], "query")
        yield f"Constant scores: {queries} with the same score for all documents."
    metrics = {name: own.metric for name, own in values.items()}
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
    names_of: dict[str, list[str]] = {}
    for name, own in values.items():
        # Pooled queries have no value to replace.
        if own.n_undefined and own.metric.average != "micro":
            sentence = _undefined(own.n_undefined, own.metric, counts["n_not_judged"])
            names_of.setdefault(sentence, []).append(name)
    for sentence, names in names_of.items():
        yield f"{sentence} {', '.join(names)}."


def _undefined(number: int, metric: BoundMetric, n_not_judged: int) -> str:
    """Why queries are undefined and what they count as, up to the name of the metric."""
    have, are, count_as = ("has", "is", "counts") if number == 1 else ("have", "are", "count")
    queries = f"{counted(number, 'query')} {have} {metric.undefined}"
    if n_not_judged:
        queries += " or no judged document"
    value = metric.replace_undefined_by
    if np.isnan(value):
        return f"{queries} and {are} left out of"
    if metric.negative:
        value = 0.0 - value
    return f"{queries} and {count_as} as {value:g} in"

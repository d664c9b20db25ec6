"""Properties of labels and scores that affect how to read a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._output.result import ROUNDED_TO_0, Result, Section, counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.facts import MetricValues
from skrank_metrics.reports.suspicions import suspicions

# Ties are not reported if they move a mean by less than this share of its interval, or by less than is shown.
SHARE_OF_INTERVAL = 0.1
_NOT_COUNTED = "Ties were not counted, since the documents were not kept."

# Counts that add up over batches, such as "n_ranked".
Counts: TypeAlias = Counter[str]


@dataclass(frozen=True, repr=False, eq=False)
class Health(Result):
    """Findings about labels and scores that affect how to read the values: ties, queries without a value, mistakes.

    Prints as sentences. ``to_frame()`` has the column "finding".

    Attributes
    ----------
    findings : tuple of str
        One sentence per finding.
    """

    findings: tuple[str, ...] = (_NOT_COUNTED,)

    def _brief(self) -> str:
        return counted(len(self.findings), "finding")

    def _sections(self) -> list[Section]:
        nothing = ["Nothing found that affects how to read the values."]
        return ["Findings about labels and scores", *(self.findings or nothing)]

    def _columns(self) -> dict[str, Any]:
        return {"finding": list(self.findings)}


def count(ranking: Ranking) -> Counts:
    """Count what can be counted without sorting."""
    documents, scores = ranking.documents, _ranked_scores(ranking)
    # Unlike minimum and maximum, fmin and fmax pass over documents that are not ranked.
    starts = documents.grouping.starts
    is_constant = np.fmin.reduceat(scores, starts) == np.fmax.reduceat(scores, starts)
    n_ranked = ranking.n_retrieved.sum()
    numbers = {
        "n_documents": documents.n_documents,
        "n_constant": (is_constant & (ranking.n_retrieved > 1)).sum(),
        "n_not_judged": (documents.n_judged == 0).sum(),
        "n_ranked": n_ranked,
        "n_unjudged": n_ranked - ranking.seen("judged").n_retrieved.sum(),
        "n_judged_irrelevant": documents.n_judged.sum() - documents.n_relevant(None).sum(),
    }
    return Counter({name: int(number) for name, number in numbers.items()})


def _ranked_scores(ranking: Ranking) -> FloatArray:
    """Scores, with NaN, which equals nothing, for documents that are not ranked."""
    if ranking.retrieved is None:
        return ranking.scores
    return np.where(ranking.retrieved, ranking.scores, np.nan)


def describe(counts: Counts, values: Mapping[str, MetricValues], condense: bool) -> Health:
    """Put counts of documents that were not kept into sentences."""
    return Health((*_about_counts(counts, values, condense), _NOT_COUNTED))


def examine(
    ranking: Ranking, values: Mapping[str, MetricValues], left_out: tuple[str, ...]
) -> Health:
    """Describe ties and degenerate queries in sentences, before those on queries left out."""
    findings = [
        *suspicions(ranking, values),
        *_about_ties(ranking, values),
        *_about_counts(count(ranking), values, ranking.documents.condense),
        *left_out,
    ]
    return Health(tuple(findings))


# --- Ties


def _about_ties(ranking: Ranking, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """A sentence about the first mean that ties can move far, in widths of its interval."""
    # Documents that metrics leave out cannot tie.
    tied = _queries_with_ties(ranking.seen(ranking.sight("zero")))
    if not len(tied):
        return
    taken = ranking.take(tied)
    worst = _means(taken, values, tied, "worst")
    best = _means(taken, values, tied, "best")
    for name, own in values.items():
        low, high = own.interval()
        distance = np.fmax(abs(worst[name] - own.mean), abs(best[name] - own.mean))
        # Some means have no interval, and then four decimals alone decide.
        if distance >= ROUNDED_TO_0 and not distance <= SHARE_OF_INTERVAL * (high - low):
            yield (
                f"Ties: {counted(len(tied), 'query')} with documents of equal scores; {name} is {own.mean:.4f}, and "
                f"would be {worst[name]:.4f} with tied documents in ascending order of their labels and "
                f"{best[name]:.4f} in descending order."
            )
            return


def _queries_with_ties(ranking: Ranking) -> IntArray:
    tied = []
    documents, scores = ranking.documents, _ranked_scores(ranking)
    for queries in documents.blocks():
        ranked = np.sort(documents.windows(scores, queries, np.nan), axis=1)
        # Padding and unranked documents are NaN, so they are never tied.
        equal = ranked[:, 1:] == ranked[:, :-1]
        tied.append(queries[equal.any(axis=1)])
    return np.sort(np.concatenate(tied))


def _means(
    taken: Ranking, values: Mapping[str, MetricValues], tied: IntArray, ties: str
) -> dict[str, float]:
    """Means by another tie policy; only the queries that were taken have any ties."""
    computations = [own.metric.replace(ties=ties).computation for own in values.values()]
    changed = per_query(taken, computations)
    means = {}
    for (name, own), result in zip(values.items(), changed, strict=True):
        whole = PerQuery(own.result.numerators.copy(), own.result.denominators.copy())
        whole.numerators[tied] = result.numerators
        whole.denominators[tied] = result.denominators
        means[name] = replace(own, result=whole).mean
    return means


# --- Sentences from counts


def _about_counts(
    counts: Counts, values: Mapping[str, MetricValues], condense: bool
) -> Iterator[str]:
    if counts["n_constant"]:
        queries = counted(counts["n_constant"], "query")
        yield f"Constant scores: {queries} with the same score for all documents."
    cut = []
    for name, own in values.items():
        if own.metric.record.needs_cutoff and own.metric.k is None:
            cut.append(name)
    # If only some documents are ranked, recall is the share of the relevant ones that were retrieved.
    if cut and counts["n_ranked"] == counts["n_documents"]:
        yield (
            f"No cutoff: without a cutoff rank, {', '.join(cut)} is the same for every order of the documents. Pass "
            f"one, as in {values[cut[0]].metric.replace(k=10)}."
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

"""Properties of labels and scores that affect how to read a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import ROUNDED_TO_0, Result, Section, counted
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.facts import MetricValues

# Findings about input that looks like a mistake: reversed scores, swapped arguments, labels without a grade 0.

# The sample for reversed scores has at most this many pairs.
MOST_PAIRS = 4_000
# Pairs are inverted by this many standard errors.
SUSPICIOUS = 3.0
# Documents that are looked at for swapped arguments.
FIRST = 1_000
# Labels have at most so many grades; more than the second number of different values are hardly labels.
MOST_GRADES, MANY_VALUES = 6, 20
# Where else they are mixed up.
_AS_IN = {"scores": ", or qrels and run,", "query ids": ", as in with_qid(qid, y),"}


def suspicions(ranking: Ranking, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """One sentence for each likely mistake."""
    yield from _swapped(ranking)
    yield from _reversed(ranking, values)
    documents = ranking.documents
    yield from _no_grade_zero(documents, values)
    if documents.n_documents == documents.n_queries:
        yield "Nothing to rank: each query has a single document, so all models get the same values."


def _reversed(ranking: Ranking, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """Scores that rank much better upside down, such as distances."""
    names = []
    for name, own in values.items():
        # A custom metric may be slow.
        if own.metric.greater_is_better and own.metric.record.transform != "orders":
            names.append(name)
    if not names or not _most_pairs_are_inverted(ranking):
        return
    given = values[names[0]]
    # The last rank remains the last, since -inf marks what a model declined.
    scores = np.where(ranking.scores == -np.inf, -np.inf, 0.0 - ranking.scores)
    upside_down = Ranking(ranking.documents, scores, ranking.retrieved)
    (result,) = per_query(upside_down, [given.metric.computation])
    instead = replace(given, result=result)
    # Means without an interval have ends of NaN, which are not above each other.
    if instead.interval()[0] > given.interval()[1]:
        yield (
            f"Reversed? {names[0]} is {given.mean:.4f}; with the scores reversed, it would be {instead.mean:.4f} over "
            f"all {ranking.documents.n_queries} queries: are these distances or ranks? Pass their negatives."
        )


def _most_pairs_are_inverted(ranking: Ranking) -> bool:
    """Whether documents with higher labels mostly have lower scores, in pairs of neighbours from all over the data."""
    documents = ranking.documents
    n_sampled = min(documents.n_documents - 1, MOST_PAIRS)
    first = np.linspace(0, documents.n_documents - 2, n_sampled).astype(np.intp)
    starts = documents.grouping.starts
    query, next_query = (np.searchsorted(starts, rows, "right") for rows in (first, first + 1))
    first = first[query == next_query]
    if ranking.retrieved is not None:
        first = first[ranking.retrieved[first] & ranking.retrieved[first + 1]]
    second = first + 1
    labels, scores = documents.compact_labels, ranking.scores
    # Signs are 1, 0 or -1, by which document of a pair has more.
    by_label = _signs(labels[first], labels[second])
    by_score = _signs(scores[first], scores[second])
    agreement = by_label * by_score
    n_compared = np.count_nonzero(agreement)
    return bool(-agreement.sum() > SUSPICIOUS * (n_compared + 0.5) ** 0.5)


def _signs(first: NDArray[Any], second: NDArray[Any]) -> IntArray:
    # Differences of small or unsigned integers, or of infinities, would be wrong.
    return (first > second).astype(np.intp) - (first < second)


def _swapped(ranking: Ranking) -> Iterator[str]:
    """Labels in the place of scores or of query ids."""
    documents = ranking.documents
    first = documents.compact_labels[:FIRST]
    n_values = len(np.unique(first))
    # A run in the place of qrels may have the scores 10 - rank or 1 / rank.
    by_id = documents.document_ids is not None
    if n_values <= MANY_VALUES and not (by_id and _all_differ(documents)):
        return
    ids = documents.queries.ids
    others = {"scores": ranking.scores[:FIRST]}
    if not by_id and len(ids) <= MOST_GRADES and ids.dtype.kind in "iuf":
        others["query ids"] = ids
    for name, column in others.items():
        values = np.unique(column)
        few = 2 <= len(values) <= MOST_GRADES
        # A few small whole numbers from 0, as labels are.
        if few and values[0] == 0 and values[-1] < 10 and (values == np.floor(values)).all():
            yield (
                f"Swapped? Among the first {len(first)} documents, labels have {n_values} different values, but {name} "
                f"only {', '.join(map('{:g}'.format, values))}: are labels and {name}{_AS_IN[name]} in each other's "
                "place?"
            )


def _all_differ(documents: Documents) -> bool:
    """Whether the labels of each list differ, as scores and reciprocal ranks do, among the first documents."""
    n = min(FIRST, documents.n_documents)
    judged = np.arange(n)
    if documents.judged is not None:
        judged = np.flatnonzero(documents.judged[:n])
    codes = np.searchsorted(documents.grouping.starts, judged, side="right")
    pairs = np.stack([codes, documents.compact_labels[judged]], axis=1)
    n_values = len(np.unique(pairs[:, 1]))
    return n_values > MOST_GRADES and len(np.unique(pairs, axis=0)) == len(pairs)


def _no_grade_zero(documents: Documents, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """Ratings from 1 on, of which binary metrics count every one as relevant."""
    binary = []
    for name, own in values.items():
        if own.metric.computation.options.get("relevance_threshold", 0) is None:
            binary.append(name)
    # Lists by id may name only the relevant documents, such as purchases.
    is_partly_judged = documents.judged is not None or documents.document_ids is not None
    is_binary = is_partly_judged and documents.largest_label <= 1
    if not binary or not documents.are_grades or is_binary:
        return
    if documents.n_relevant(None).sum() == documents.n_judged.sum():
        yield (
            f"No grade 0: all judged documents have labels above 0, up to {documents.largest_label:g}, and count as "
            f"relevant in {', '.join(binary)}. If the lowest grade means not relevant, set relevance_threshold."
        )


# Properties of labels and scores that affect how to read a report.

# Ties are not reported if they move a mean by less than this share of its interval, or by less than is shown.
SHARE_OF_INTERVAL = 0.1
# More ids of queries are not listed.
MOST_IDS = 4
NOT_CHECKED = "Not checked for tied scores, because the rows were not kept."

# How tied documents are ordered, and what else could be.
_ORDERS = {
    "average": ("averaged over all orders", "single orders"),
    "stable": ("in the order of the rows", "other orders"),
    "best": ("ordered by label, the highest first", "other orders"),
    "worst": ("ordered by label, the lowest first", "other orders"),
}

# Counts that add up over batches, such as "n_ranked".
Counts: TypeAlias = Counter[str]


@dataclass(frozen=True, repr=False, eq=False)
class Health(Result):
    """Findings about labels and scores that affect how to read the values: mistakes, queries without a value, ties.

    Prints as sentences. ``to_frame()`` has the column "finding".

    Attributes
    ----------
    findings : tuple of str
        One sentence per finding.
    """

    findings: tuple[str, ...] = (NOT_CHECKED,)

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


def describe(
    counts: Counts, values: Mapping[str, MetricValues], ids: NDArray[Any], *, condense: bool
) -> Health:
    """Put counts of documents that were not kept into sentences."""
    return Health((*_about_counts(counts, values, ids, condense=condense), NOT_CHECKED))


def examine(
    ranking: Ranking,
    values: Mapping[str, MetricValues],
    left_out: tuple[str, ...],
    *,
    by_id: bool = False,
) -> Health:
    """Describe likely mistakes, queries left out, unjudged documents, degenerate queries and ties, in this order."""
    documents = ranking.documents
    counts = count(ranking)
    top = ""
    if counts["n_unjudged"]:
        top = _unjudged_at_the_top(ranking, values)
    about_counts = _about_counts(
        counts, values, documents.queries.ids, condense=documents.condense, top=top
    )
    findings = [
        *suspicions(ranking, values),
        *left_out,
        *about_counts,
        *_about_ties(ranking, values, by_id=by_id),
    ]
    return Health(tuple(findings))


def _unjudged_at_the_top(ranking: Ranking, values: Mapping[str, MetricValues]) -> str:
    """The share of the first ranks that nobody judged, for the largest cutoff; nothing without one."""
    cutoff = max([own.metric.k or 0 for own in values.values()])
    if not cutoff:
        return ""
    (judged,) = per_query(ranking, [get_metric("judged", k=cutoff).computation])
    return f", {1 - np.nanmean(judged.values):.0%} of the top {cutoff}"


# --- Ties


def _about_ties(
    ranking: Ranking, values: Mapping[str, MetricValues], *, by_id: bool
) -> Iterator[str]:
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
            have = "has" if len(tied) == 1 else "have"
            order, others = _ORDERS[own.metric.computation.ties]
            if by_id and own.metric.computation.ties == "stable":
                order = "ordered by document id"
            lowest, highest = sorted((worst[name], best[name]))
            yield (
                f"{counted(len(tied), 'query')} {have} tied scores, {order}; {others} give {name} from {lowest:.4f} "
                f"to {highest:.4f}."
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
    counts: Counts,
    values: Mapping[str, MetricValues],
    ids: NDArray[Any],
    *,
    condense: bool,
    top: str = "",
) -> Iterator[str]:
    n_unjudged = counts["n_unjudged"]
    # Purchases name only what is relevant, so that all other documents are unjudged.
    if n_unjudged and (condense or counts["n_judged_irrelevant"]):
        share = f"{n_unjudged / counts['n_ranked']:.0%} of the ranked documents{top}"
        way = "they are left out."
        if not condense:
            way = "they count as not relevant. condense=True leaves them out."
        yield f"Nobody judged {share}; {way}"
    yield from _about_undefined(values, ids, counts["n_not_judged"])
    if counts["n_constant"]:
        have = "has" if counts["n_constant"] == 1 else "have"
        yield f"{counted(counts['n_constant'], 'query')} {have} the same score for all documents."
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


def _about_undefined(
    values: Mapping[str, MetricValues], ids: NDArray[Any], n_not_judged: int
) -> Iterator[str]:
    """Why queries are undefined, what they count as, and in which metrics, unless in all."""
    names_of: dict[str, list[str]] = {}
    for name, own in values.items():
        # Pooled queries have no value to replace.
        if own.n_undefined and own.metric.average != "micro":
            sentence = _undefined(own, ids, n_not_judged)
            names_of.setdefault(sentence, []).append(name)
    for sentence, names in names_of.items():
        if len(names) < len(values):
            sentence += f" in {', '.join(names)}"
        yield f"{sentence}."


def _undefined(own: MetricValues, ids: NDArray[Any], n_not_judged: int) -> str:
    """Why queries are undefined and what they count as, up to the name of the metric."""
    number, metric = own.n_undefined, own.metric
    have, are, count_as = ("has", "is", "counts") if number == 1 else ("have", "are", "count")
    queries = counted(number, "query") + named_ids(ids[np.isnan(own.result.values)])
    why = f"{queries} {have} {metric.undefined}"
    if n_not_judged:
        why += " or no judged document"
    value = metric.replace_undefined_by
    if np.isnan(value):
        return f"{why} and {are} left out"
    if metric.negative:
        value = 0.0 - value
    return f"{why} and {count_as} as {value:g}"


def named_ids(ids: Any) -> str:
    """Ids in parentheses; none if there are more than four."""
    if len(ids) > MOST_IDS:
        return ""
    return f" ({', '.join(sorted(map(str, as_python(ids))))})"

"""Findings about input that looks like a mistake: reversed scores, swapped arguments, labels without a grade 0.

Each says what was checked. On large data they look at a sample, so they cost at most a few hundredths of an evaluation;
only what looks wrong in the sample is computed on all documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.grouping import concatenate_ranges
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.facts import MetricValues

# The sample for reversed scores has about this many documents.
SAMPLED_DOCUMENTS = 4_000
# Pairs are inverted, and reversed scores better, by this many standard errors; ten queries can reach it.
SUSPICIOUS = 3.0
# Documents that are looked at for swapped arguments.
FIRST = 1_000
# Labels have at most so many grades; more than the second number of different values are hardly labels.
MOST_GRADES, MANY_VALUES = 6, 20


def suspicions(ranking: Ranking, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """One sentence for each likely mistake."""
    yield from _swapped(ranking)
    yield from _reversed(ranking, values)
    yield from _no_grade_zero(ranking.documents, {name: own.metric for name, own in values.items()})


def _reversed(ranking: Ranking, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """Scores that rank much better upside down, such as distances."""
    # A custom metric may be slow.
    names = [name for name, own in values.items() if own.metric.record.transform != "orders"]
    if not names or not _most_pairs_are_inverted(ranking):
        return
    given = values[names[0]]
    (result,) = per_query(_reversed_ranking(ranking), [given.metric.computation])
    instead = replace(given, result=result)
    gained = np.nan_to_num(instead.per_query - given.per_query)
    if not given.metric.greater_is_better:
        gained = -gained
    # As in comparisons: as if half a win and half a loss of the largest size had been seen, too.
    spread = np.sqrt((gained**2).sum() + np.abs(gained).max() ** 2 / 2)
    if gained.sum() > SUSPICIOUS * spread:
        yield (
            f"Reversed? {names[0]} is {given.mean:.4f}; with the scores reversed, it would be {instead.mean:.4f} over "
            f"all {ranking.documents.n_queries} queries: are these distances or ranks? Pass their negatives."
        )


def _most_pairs_are_inverted(ranking: Ranking) -> bool:
    """Whether documents with higher labels mostly have lower scores, in separate pairs from some queries."""
    documents = ranking.documents
    queries = _sampled_queries(documents)
    halves = documents.grouping.sizes[queries] // 2
    first = concatenate_ranges(documents.grouping.starts[queries], halves)
    second = first + np.repeat(halves, halves)
    if ranking.retrieved is not None:
        both = ranking.retrieved[first] & ranking.retrieved[second]
        first, second = first[both], second[both]
    labels, scores = documents.given_labels, ranking.scores
    # 1, 0 or -1 by which document of a pair has more.
    by_label = _signs(labels[first], labels[second])
    by_score = _signs(scores[first], scores[second])
    agreement = by_label * by_score
    n_compared = np.count_nonzero(agreement)
    return bool(-agreement.sum() > SUSPICIOUS * (n_compared + 0.5) ** 0.5)


def _signs(first: NDArray[Any], second: NDArray[Any]) -> IntArray:
    # Differences of small or unsigned integers, or of infinities, would be wrong.
    return (first > second).astype(np.intp) - (first < second)


def _sampled_queries(documents: Documents) -> IntArray:
    """Queries from all over the data, with few documents together."""
    share = SAMPLED_DOCUMENTS / documents.n_documents
    n_sampled = min(documents.n_queries, max(10, int(documents.n_queries * share)))
    return np.linspace(0, documents.n_queries - 1, n_sampled).astype(np.intp)


def _reversed_ranking(ranking: Ranking) -> Ranking:
    # The last rank remains the last, since -inf marks what a model declined.
    scores = np.where(ranking.scores == -np.inf, -np.inf, 0.0 - ranking.scores)
    return Ranking(ranking.documents, scores, ranking.retrieved)


def _swapped(ranking: Ranking) -> Iterator[str]:
    """Labels in the place of scores or of query ids."""
    documents = ranking.documents
    labels = np.unique(documents.given_labels[:FIRST])
    if len(labels) <= MANY_VALUES:
        return
    checked = min(FIRST, documents.n_documents)
    about = f"Swapped? Among the first {checked} documents, labels have {len(labels)} different values, and"
    scores = np.unique(ranking.scores[:FIRST])
    if _are_grades(scores):
        yield (
            f"{about} scores only {_listed(scores)}: are labels and scores, or qrels and run, in each other's place?"
        )
    ids = documents.queries.ids
    if len(ids) <= MOST_GRADES and ids.dtype.kind in "iuf" and _are_grades(np.sort(ids)):
        yield (
            f"{about} all query ids are {_listed(np.sort(ids))}: are labels and query ids in each other's place, as in "
            "with_qid(qid, y)?"
        )


def _are_grades(values: FloatArray) -> bool:
    """Whether sorted values are a few small whole numbers from 0, as labels are."""
    few = 2 <= len(values) <= MOST_GRADES
    return few and values[0] == 0 and values[-1] < 10 and bool((values == np.floor(values)).all())


def _listed(values: FloatArray) -> str:
    return ", ".join(f"{value:g}" for value in as_python(values))


def binary_metrics(metrics: Mapping[str, BoundMetric]) -> list[str]:
    """Names of the metrics to which every label above 0 is relevant."""
    return [
        name
        for name, metric in metrics.items()
        if metric.computation.options.get("relevance_threshold", 0) is None
    ]


def _no_grade_zero(documents: Documents, metrics: Mapping[str, BoundMetric]) -> Iterator[str]:
    """Ratings from 1 on, of which binary metrics count every one as relevant."""
    binary = binary_metrics(metrics)
    if not binary or documents.grades is None or documents.largest_label <= 1:
        return
    if documents.n_relevant(None).sum() < documents.n_judged.sum():
        return
    yield (
        f"No grade 0: all judged documents have labels above 0, up to {documents.largest_label:g}, and count as "
        f"relevant in {', '.join(binary)}. If the lowest grade means not relevant, set relevance_threshold."
    )

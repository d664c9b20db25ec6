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
from skrank_metrics._input.arrays import IntArray
from skrank_metrics.reports.facts import MetricValues

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
    # 1, 0 or -1 by which document of a pair has more.
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
    if n_values <= MANY_VALUES:
        return
    ids = documents.queries.ids
    others = {"scores": ranking.scores[:FIRST]}
    if len(ids) <= MOST_GRADES and ids.dtype.kind in "iuf":
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


def _no_grade_zero(documents: Documents, values: Mapping[str, MetricValues]) -> Iterator[str]:
    """Ratings from 1 on, of which binary metrics count every one as relevant."""
    binary = []
    for name, own in values.items():
        if own.metric.computation.options.get("relevance_threshold", 0) is None:
            binary.append(name)
    # Of lists by id, only relevant documents may be known, as of purchases.
    is_binary = documents.judged is not None and documents.largest_label <= 1
    if not binary or not documents.are_grades or is_binary:
        return
    if documents.n_relevant(None).sum() == documents.n_judged.sum():
        yield (
            f"No grade 0: all judged documents have labels above 0, up to {documents.largest_label:g}, and count as "
            f"relevant in {', '.join(binary)}. If the lowest grade means not relevant, set relevance_threshold."
        )

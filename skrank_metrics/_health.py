"""What in labels and scores changes the reading of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from skrank_metrics._evaluated import Evaluation
from skrank_metrics._metric import NO_RELEVANT, BoundMetric
from skrank_metrics._printed import Part, Printed, Table, counted
from skrank_metrics._queries import QueryLists
from skrank_metrics._validation import Mask

# A mean is shown with four decimals; ties that move it by less are no finding.
SHOWN = 5e-5


@dataclass(frozen=True, repr=False, eq=False)
class Health(Printed):
    """Counts of what can mislead, and a sentence for each that changes the reading of the numbers.

    Attributes
    ----------
    n_queries, n_documents : int
        Number of queries, and of their documents.
    n_tied : int
        Documents that share their score with another one of their query.
    n_tied_in_float32 : int
        Further documents that would, were scores rounded to float32 as many libraries do.
    n_repeated : int
        Rows whose query, label and score are those of an earlier row.
    n_constant : int
        Queries of several documents with one score for all of them.
    n_single_document : int
        Queries of one document.
    n_all_relevant : int
        Queries of several documents, all of them relevant (label > 0).
    n_no_relevant : int
        Queries without a relevant document.
    tie_range : dict of str to tuple of float
        Mean of each metric with all ties at their worst and at their best.
    findings : tuple of str
        The sentences.
    """

    n_queries: int
    n_documents: int
    n_tied: int
    n_tied_in_float32: int
    n_repeated: int
    n_constant: int
    n_single_document: int
    n_all_relevant: int
    n_no_relevant: int
    tie_range: dict[str, tuple[float, float]]
    findings: tuple[str, ...] = ()

    def _parts(self) -> list[Part]:
        rows = [
            ("tied documents", self.n_tied, self.n_documents),
            ("tied in float32 only", self.n_tied_in_float32, self.n_documents),
            ("repeated rows", self.n_repeated, self.n_documents),
            ("constant queries", self.n_constant, self.n_queries),
            ("single-document queries", self.n_single_document, self.n_queries),
            ("all-relevant queries", self.n_all_relevant, self.n_queries),
            ("no-relevant queries", self.n_no_relevant, self.n_queries),
        ]
        shares = [(name, str(number), f"{number / total:.1%}") for name, number, total in rows]
        ranges = [(name, f"{worst:.4f}", f"{best:.4f}") for name, (worst, best) in self.tie_range.items()]
        return [
            f"{counted(self.n_queries, 'query')}, {counted(self.n_documents, 'document')}",
            Table(("", "number", "share"), shares),
            Table(("ties", "at worst", "at best"), ranges),
            *(self.findings or ["Nothing found that changes the reading of the numbers."]),
        ]


def examine(evaluation: Evaluation) -> Health:
    """Look for all that can mislead."""
    lists, metrics = evaluation.lists, evaluation.metrics
    n_relevant, sizes, ties = lists.n_relevant(None), lists.grouping.sizes, _count_ties(lists)
    # Of a distance, the best order of ties gives the smallest value.
    extremes = [evaluation.with_ties(policy) for policy in ("worst", "best")]
    health = Health(
        n_queries=lists.n_queries,
        n_documents=len(lists.labels),
        n_tied=ties["tied"],
        n_tied_in_float32=ties["tied_in_float32"],
        n_repeated=ties["repeated"],
        n_constant=ties["constant"],
        n_single_document=int((sizes == 1).sum()),
        n_all_relevant=int(((n_relevant == sizes) & (sizes > 1)).sum()),
        n_no_relevant=int((n_relevant == 0).sum()),
        tie_range={name: (extremes[0].mean(name), extremes[1].mean(name)) for name in metrics},
    )
    means = {name: evaluation.mean(name) for name in metrics}
    return replace(health, findings=(*_findings_of_scores(health, means), *_findings_of_labels(health, metrics)))


def _count_ties(lists: QueryLists) -> dict[str, int]:
    query = np.repeat(np.arange(lists.n_queries), lists.grouping.sizes)
    scores, labels = lists.scores, lists.labels
    if lists.retrieved is not None:
        query, scores, labels = query[lists.retrieved], scores[lists.retrieved], labels[lists.retrieved]
    order = np.lexsort((labels, scores, query))
    query, scores, labels = query[order], scores[order], labels[order]
    same_query = query[1:] == query[:-1]
    tied = same_query & (scores[1:] == scores[:-1])
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32)  # in the same order, as rounding is monotone
    n_tied = _members(tied)
    steps, ranked = np.bincount(query[1:][same_query & ~tied], minlength=lists.n_queries), lists.n_retrieved
    return {
        "tied": n_tied,
        "tied_in_float32": _members(same_query & (rounded[1:] == rounded[:-1])) - n_tied,
        "repeated": int((tied & (labels[1:] == labels[:-1])).sum()),
        "constant": int(((steps == 0) & (ranked > 1)).sum()),
    }


def _members(tied_with_previous: Mask) -> int:
    """Rows in groups of two or more."""
    return int((np.append(tied_with_previous, False) | np.append(False, tied_with_previous)).sum())


def _findings_of_scores(health: Health, means: Mapping[str, float]) -> Iterator[str]:
    spread = {name: abs(best - worst) for name, (worst, best) in health.tie_range.items()}
    widest = max(spread, key=lambda name: spread[name])
    if health.n_tied and spread[widest] >= SHOWN:
        worst, best = health.tie_range[widest]
        yield (
            f"Ties: {health.n_tied / health.n_documents:.1%} of the documents share their score with another one of "
            f"their query; {widest} is {means[widest]:.4f}, and would be {worst:.4f} with ties at worst, {best:.4f} "
            "at best."
        )
    if health.n_constant:
        yield f"Constant scores: {counted(health.n_constant, 'query')} in no order at all, one score for all documents."
    if health.n_tied_in_float32:
        yield (
            f"Float32: {counted(health.n_tied_in_float32, 'further document')} would tie in float32; libraries that "
            "round scores so give other numbers."
        )
    if health.n_repeated and health.n_repeated >= health.n_tied / 2:
        yield (
            f"Repeated rows: {counted(health.n_repeated, 'row')} with the query, label and score of an earlier one; a "
            "document that is listed twice counts twice."
        )


def _findings_of_labels(health: Health, metrics: Mapping[str, BoundMetric]) -> Iterator[str]:
    if health.n_single_document:
        yield (
            f"Single documents: {counted(health.n_single_document, 'query')} of one document, where no order can be "
            "wrong."
        )
    if health.n_all_relevant:
        yield (
            f"All relevant: {counted(health.n_all_relevant, 'query')} of relevant documents only, where metrics that "
            "do not tell grades apart cannot be wrong."
        )
    ways: dict[str, list[str]] = {}
    for name, metric in metrics.items():
        if metric.metric.undefined == NO_RELEVANT and metric.average != "micro":
            value = metric.replace_undefined_by
            ways.setdefault("left out of" if np.isnan(value) else f"counted {value:g} by", []).append(name)
    if health.n_no_relevant and ways:
        spelled = " and ".join(f"{way} {', '.join(names)}" for way, names in ways.items())
        yield f"No relevant document: {counted(health.n_no_relevant, 'query')}, {spelled}."

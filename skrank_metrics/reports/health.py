"""Properties of labels and scores that affect how to read a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skrank_metrics._engine.label_orders import MOST_ORDERS, N_DRAWN
from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._engine.ranked_lists import ranked_blocks, sort_each_row
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import NO_RELEVANT
from skrank_metrics.reports._evaluation import Evaluation

# A mean is shown with four decimals; ties that move it by less are not reported.
SHOWN = 5e-5


@dataclass(frozen=True, repr=False, eq=False)
class Health(Result):
    """Counts of ties and degenerate queries, with one sentence per finding that affects how to read the values.

    Prints as tables, also in notebooks. ``to_frame()`` gives the counts, one row per kind, with "number" and "share".
    A count is None if it needs documents that the report did not keep.

    Attributes
    ----------
    n_queries, n_documents : int
        Number of queries and of documents.
    n_tied : int
        Documents with the same score as another document of their query.
    n_tied_in_float32 : int
        Further documents that would tie if scores were rounded to float32, as many libraries do.
    n_repeated : int
        Rows with the same query, label and score as an earlier row.
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
    n_documents: int
    n_tied: int | None
    n_tied_in_float32: int | None
    n_repeated: int | None
    n_constant: int | None
    n_single_document: int | None
    n_all_relevant: int | None
    n_no_relevant: int | None
    tie_means: dict[str, tuple[float, float]]
    findings: tuple[str, ...] = ()

    def _parts(self) -> list[Part]:
        counts = [
            ("tied documents", self.n_tied, self.n_documents),
            ("tied in float32 only", self.n_tied_in_float32, self.n_documents),
            ("repeated rows", self.n_repeated, self.n_documents),
            ("constant queries", self.n_constant, self.n_queries),
            ("single-document queries", self.n_single_document, self.n_queries),
            ("all-relevant queries", self.n_all_relevant, self.n_queries),
            ("no-relevant queries", self.n_no_relevant, self.n_queries),
        ]
        ends = [(name, *ends) for name, ends in self.tie_means.items()]
        return [
            f"{counted(self.n_queries, 'query')}, {counted(self.n_documents, 'document')}",
            Table(
                (Column("", names=("count",)), "number", Column("share", "{:.1%}".format)),
                [(name, number, number / total) for name, number, total in counts if number is not None],
            ),
            *[Table(("tied labels", "ascending", "descending"), ends) for ends in [ends] if ends],
            *(self.findings or ["Nothing found that affects how to read the values."]),
        ]


def examine(evaluation: Evaluation) -> Health:
    """Count ties and degenerate queries, and describe them in sentences."""
    lists, metrics = evaluation.lists.counted, evaluation.metrics
    n_relevant, (counts, tied) = lists.n_relevant(None), _count_ties(lists)
    sizes = _sizes(lists)
    ordered = [evaluation.with_ties(policy, tied) for policy in ("worst", "best")]
    health = Health(
        n_queries=lists.n_queries,
        n_documents=evaluation.lists.n_documents,
        **counts,
        n_single_document=int((sizes == 1).sum()),
        n_all_relevant=_count_all_relevant(lists, None),
        n_no_relevant=int((n_relevant == 0).sum()),
        tie_means={name: (ordered[0].mean(name), ordered[1].mean(name)) for name in metrics},
    )
    means = {name: evaluation.mean(name) for name in metrics}
    findings = (
        *_findings_of_scores(health, means),
        *_findings_of_orders(evaluation),
        *_findings_of_cutoffs(evaluation),
        *_findings_of_judgments(evaluation.lists),
        *_findings_of_labels(health, _all_relevant(evaluation)),
        *_undefined(metrics, {name: dict(_reasons(evaluation, name)) for name in metrics}),
        *evaluation.left_out,
    )
    return replace(health, findings=findings)


@dataclass
class Counts:
    """Counts that can be collected batch by batch."""

    n_queries: int = 0
    n_documents: int = 0
    n_constant: int = 0
    n_single_document: int = 0
    n_all_relevant: int = 0
    n_no_relevant: int = 0
    n_ranked: int = 0
    n_unjudged: int = 0
    n_undefined: Counter[str] = field(default_factory=Counter)
    all_relevant: Counter[str] = field(default_factory=Counter)  # by the metrics to which they are
    reasons: dict[str, Counter[str]] = field(default_factory=dict)  # by metric

    def __iadd__(self, other: Counts) -> Counts:
        for name, number in vars(other).items():
            if name != "reasons":
                setattr(self, name, getattr(self, name) + number)
        for name, reasons in other.reasons.items():
            self.reasons[name] = self.reasons.get(name, Counter()) + reasons
        return self

    def describe(self, metrics: Mapping[str, BoundMetric]) -> Health:
        """Put the counts into sentences."""
        names = ("n_constant", "n_single_document", "n_all_relevant", "n_no_relevant")
        health = replace(self.of_a_part(), **{name: getattr(self, name) for name in names})
        findings = (
            *_constant(health),
            *_unjudged(self.n_unjudged, self.n_ranked, condense=False),
            *_findings_of_labels(health, self.all_relevant),
            *_undefined(metrics, self.reasons),
            "Ties and repeated rows were not counted, since the rows were not kept.",
        )
        return replace(health, findings=findings)

    def of_a_part(self) -> Health:
        """Make the health of some of the queries, for which nothing was counted separately."""
        findings = ("Ties and queries of this part were not counted, since the rows were not kept.",)
        names = [name for name in Health.__annotations__ if name.startswith("n_")][2:]
        unknown: dict[str, Any] = dict.fromkeys(names)
        return Health(self.n_queries, self.n_documents, tie_means={}, findings=findings, **unknown)


def count(evaluation: Evaluation) -> Counts:
    """Count what can be counted without sorting."""
    lists, starts = evaluation.lists.counted, evaluation.lists.counted.grouping.starts
    n_ranked = lists.n_retrieved
    ranked = True if lists.retrieved is None else lists.retrieved
    low = np.minimum.reduceat(lists.scores if ranked is True else np.where(ranked, lists.scores, np.inf), starts)
    high = np.maximum.reduceat(lists.scores if ranked is True else np.where(ranked, lists.scores, -np.inf), starts)
    undefined = evaluation.n_undefined
    return Counts(
        lists.n_queries,
        evaluation.n_documents,
        int(((low == high) & (n_ranked > 1)).sum()),
        int((_sizes(lists) == 1).sum()),
        _count_all_relevant(lists, None),
        int((lists.n_relevant(None) == 0).sum()),
        int(n_ranked.sum()),
        0 if lists.judged is None else int((~lists.judged & ranked).sum()),
        Counter(undefined),
        Counter(_all_relevant(evaluation)),
        {name: Counter(dict(_reasons(evaluation, name))) for name in evaluation.metrics if undefined[name]},
    )


def _sizes(lists: QueryLists) -> IntArray:
    """Number of documents of each query, 0 if none of them is ranked or judged."""
    return np.where((lists.n_retrieved > 0) | (lists.n_judged > 0), lists.grouping.sizes, 0)


def _count_all_relevant(lists: QueryLists, relevance_threshold: float | None) -> int:
    """Count the queries of several documents that are all relevant."""
    sizes = _sizes(lists)
    return int(((lists.n_relevant(relevance_threshold) == sizes) & (sizes > 1)).sum())


def _count_ties(lists: QueryLists) -> tuple[dict[str, Any], IntArray]:
    """Count ties, and find the queries that have any."""
    counts, tied = dict.fromkeys(("n_tied", "n_tied_in_float32", "n_repeated", "n_constant"), 0), []
    # NaN equals nothing: it pads the rows and replaces the scores of documents that are not ranked.
    scores = lists.scores if lists.retrieved is None else np.where(lists.retrieved, lists.scores, np.nan)
    for queries in lists.blocks():
        windows = lists.windows(scores, queries, np.nan)
        ranked = np.sort(windows, axis=1)
        equal = ranked[:, 1:] == ranked[:, :-1]
        with np.errstate(over="ignore"):
            rounded = ranked.astype(np.float32)  # still sorted, since rounding is monotone
        n_tied, n_ranked = _members(equal), lists.n_retrieved[queries]
        counts["n_tied"] += n_tied
        counts["n_tied_in_float32"] += _members(rounded[:, 1:] == rounded[:, :-1]) - n_tied
        counts["n_constant"] += int(((equal.sum(axis=1) == n_ranked - 1) & (n_ranked > 1)).sum())
        some = np.flatnonzero(equal.any(axis=1))
        if len(some):
            tied.append(queries[some])
            labels, (order, _) = lists.windows(lists.labels, queries, 0.0)[some], sort_each_row(windows[some])
            counts["n_repeated"] += _count_repeated(np.take_along_axis(labels, order, axis=1), equal[some])
    return counts, np.sort(np.concatenate(tied)) if tied else np.empty(0, dtype=np.intp)


def _members(tied_with_previous: Mask) -> int:
    """Count the entries of tie groups of two or more."""
    either = np.pad(tied_with_previous, ((0, 0), (0, 1)))
    either[:, 1:] |= tied_with_previous
    return int(either.sum())


def _count_repeated(labels: FloatArray, tied_with_previous: Mask) -> int:
    """Count the entries with the label of an earlier entry of their tie group."""
    groups = np.zeros(labels.shape, dtype=np.intp)
    np.cumsum(~tied_with_previous, axis=1, out=groups[:, 1:])
    distinct, codes = np.unique(labels, return_inverse=True)
    pairs = np.sort(groups * len(distinct) + codes.reshape(labels.shape), axis=1)
    return int((pairs[:, 1:] == pairs[:, :-1]).sum())


def _findings_of_scores(health: Health, means: Mapping[str, float]) -> Iterator[str]:
    # A metric that is undefined for all queries has no means.
    spread = {name: float(np.nan_to_num(abs(best - worst))) for name, (worst, best) in health.tie_means.items()}
    widest = max(spread, key=lambda name: spread[name])
    if health.n_tied and spread[widest] >= SHOWN:
        worst, best = health.tie_means[widest]
        # The others are in tie_means.
        most = ", the most affected metric," if len(spread) > 1 else ""
        yield (
            f"Ties: {health.n_tied / health.n_documents:.1%} of the documents have the same score as another document "
            f"of their query; {widest}{most} is {means[widest]:.4f}; it would be {worst:.4f} with tied documents in "
            f"ascending order of their labels and {best:.4f} in descending order."
        )
    yield from _constant(health)
    if health.n_tied_in_float32:
        yield (
            f"Float32: {counted(health.n_tied_in_float32, 'further document')} would tie in float32; libraries that "
            "round scores to float32 give different values."
        )
    if health.n_tied and health.n_repeated and health.n_repeated >= health.n_tied / 2:
        yield (
            f"Repeated rows: {counted(health.n_repeated, 'row')} with the same query, label and score as an earlier "
            "row; a document that is listed twice counts twice."
        )


def _constant(health: Health) -> Iterator[str]:
    if health.n_constant:
        yield f"Constant scores: {counted(health.n_constant, 'query')} with the same score for all documents."


def _findings_of_orders(evaluation: Evaluation) -> Iterator[str]:
    names = [name for name, metric in evaluation.metrics.items() if may_draw(metric)]
    if names and (n_drawn := count_drawn(evaluation)):
        yield (
            f"Drawn orders: {counted(n_drawn, 'query')} with more than {MOST_ORDERS} different orders of tied labels, "
            f"for which {', '.join(names)} is the mean over {N_DRAWN} orders drawn at random."
        )


def may_draw(metric: BoundMetric) -> bool:
    """Whether a metric is a mean over orders of tied labels, which are drawn if there are too many."""
    return metric.record.transform == "orders" and metric.computation.ties == "average"


def count_drawn(evaluation: Evaluation) -> int:
    """Count the queries with too many orders of tied labels to go through."""
    blocks = ranked_blocks(evaluation.lists.counted, None, "average")
    return sum(not query.enumerable for _, ranked in blocks for query in ranked.each())


def _findings_of_cutoffs(evaluation: Evaluation) -> Iterator[str]:
    """Name the metrics that cannot tell one order from another; what was retrieved may still differ."""
    if evaluation.lists.retrieved is not None:
        return
    names = [name for name, metric in evaluation.metrics.items() if metric.record.needs_cutoff and metric.k is None]
    if names:
        yield (
            f"No cutoff: without a cutoff rank, {', '.join(names)} is the same for every order of the documents. Pass "
            f"one, as in {evaluation.metrics[names[0]].replace(k=10)}."
        )


def _findings_of_judgments(lists: QueryLists) -> Iterator[str]:
    if lists.judged is None:
        return
    unjudged = ~lists.judged if lists.retrieved is None else lists.retrieved & ~lists.judged
    yield from _unjudged(int(unjudged.sum()), int(lists.n_retrieved.sum()), lists.condense)


def _unjudged(n_unjudged: int, n_ranked: int, condense: bool) -> Iterator[str]:
    if n_unjudged:
        way = "are left out" if condense else "count as not relevant"
        share = n_unjudged / n_ranked
        yield f"Unjudged: {counted(n_unjudged, 'ranked document')} ({share:.1%}) that nobody judged; they {way}."


def _findings_of_labels(health: Health, all_relevant: Mapping[str, int]) -> Iterator[str]:
    if health.n_single_document:
        yield (
            f"Single documents: {counted(health.n_single_document, 'query')} with only one document; every order is "
            "correct."
        )
    for where, n_queries in all_relevant.items():
        yield (
            f"All relevant: {counted(n_queries, 'query')} with relevant documents only; for {where}, every order "
            "is correct."
        )


def _all_relevant(evaluation: Evaluation) -> dict[str, int]:
    """Number of queries of several documents that are all relevant, by the metrics to which they are."""
    lists, names_at = evaluation.lists.counted, dict[float | None, list[str]]()
    for name, metric in evaluation.metrics.items():
        options = lists.comparable(metric.computation.options)
        if "relevance_threshold" in options:
            names_at.setdefault(options["relevance_threshold"], []).append(name)
    found = {}
    for threshold, names in (names_at or {None: []}).items():
        if n_queries := _count_all_relevant(lists, threshold):
            where = "metrics of binary relevance" if list(names_at) in ([], [None]) else ", ".join(names)
            found[where] = n_queries
    return found


def _undefined(metrics: Mapping[str, BoundMetric], reasons_of: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """One sentence per reason for undefined values, with the number of queries and what they count as."""
    reasons: dict[str, dict[int, dict[str, list[str]]]] = {}
    for name, metric in metrics.items():
        if metric.average == "micro":  # pooled queries have no value to replace
            continue
        value = 0.0 - metric.replace_undefined_by if metric.negative else metric.replace_undefined_by
        way = "left out of" if np.isnan(value) else f"counted as {value:g} in"
        for reason, n_undefined in reasons_of.get(name, {}).items():
            reasons.setdefault(reason, {}).setdefault(n_undefined, {}).setdefault(way, []).append(name)
    for reason, by_number in reasons.items():
        spelled = (
            f"{counted(n, 'query')}, " + " and ".join(f"{way} {', '.join(names)}" for way, names in ways.items())
            for n, ways in by_number.items()
        )
        yield f"{reason[0].upper()}{reason[1:]}: {'; '.join(spelled)}."


def _reasons(evaluation: Evaluation, name: str) -> Iterator[tuple[str, int]]:
    """Reasons why a metric is undefined, and the number of queries for each."""
    lists, metric = evaluation.lists, evaluation.metrics[name]
    undefined = np.isnan(evaluation.results[name].values)
    if metric.record.unjudged != "counted" and (n_unjudged := int((undefined & (lists.n_judged == 0)).sum())):
        yield "no judged document", n_unjudged
        undefined &= lists.n_judged > 0
    if undefined.any():
        threshold = lists.comparable(metric.computation.options).get("relevance_threshold")
        gainless = metric.undefined == NO_RELEVANT and lists.n_relevant(threshold)[undefined].any()
        yield "no document with a gain" if gainless else metric.undefined or "no value", int(undefined.sum())

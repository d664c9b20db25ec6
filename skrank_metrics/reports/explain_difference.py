"""Explain why two libraries give different values for the same metric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from skrank_metrics._engine.from_rows import ranking_from_rows
from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.types import Booleans, Ids, Numbers
from skrank_metrics._output.result import Part, Result
from skrank_metrics._output.table import Column, Table, signed
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.conventions import CONVENTIONS, ConventionName
from skrank_metrics.metrics.names import get_metric, in_convention
from skrank_metrics.reports.ranking_report import RankingReport

# Parameters in which conventions differ, and their names in the explanation.
CAUSES = {
    "k": "cutoff",
    "relevance_threshold": "relevance threshold",
    "gain": "gain",
    "discount": "discount",
    "ideal": "ideal",
    "p": "p",
    "normalizer": "divisor",
    "divisor": "divisor",
    "ties": "ties",
    "replace_undefined_by": "queries without a value",
}


@dataclass(frozen=True)
class Cause:
    """One difference between two conventions."""

    cause: str
    change: str
    effect: float
    n_queries: int
    shown: str  # cause and change in the printed table


@dataclass(frozen=True, repr=False, eq=False)
class Difference(Result):
    """The gap between two conventions, attributed to its causes.

    Prints as a table that adds up to the gap, in terminals and notebooks. ``to_frame()`` gives one row per cause.

    Attributes
    ----------
    metric : str
        Name of the metric, as given.
    conventions : tuple of str
        The two conventions.
    start, end : float
        Values by the first and the second convention.
    causes : list of Cause
        Causes with attributes ``cause``, ``change`` (old and new parameter), ``effect`` (its part of the gap) and
        ``n_queries`` (number of queries whose value it changes). The effects add up to ``end - start``.
    not_imitated : list of str
        Behaviour of the two libraries that these values do not reproduce.
    """

    _display = "DifferenceDisplay"

    metric: str
    conventions: tuple[str, str]
    start: float
    end: float
    causes: list[Cause]
    not_imitated: list[str]

    def _brief(self) -> str:
        return f"{self.metric} by {' and '.join(self.conventions)}"

    def _parts(self) -> list[Part]:
        (first, second), gap = self.conventions, self.end - self.start
        rows = [(cause.shown, cause.effect, cause.n_queries) for cause in self.causes]
        return [
            f"{self.metric}: {self.start:z.4f} by {first}, {self.end:z.4f} by {second}",
            Table(("", Column("effect", signed), "queries affected"), [*rows, ("gap", gap, None)]),
            *([f"To get {second}'s value, pass convention={second!r}."] if rows else []),
            *self.not_imitated,
        ]

    def _columns(self) -> dict[str, list[Any]]:
        names = ("cause", "change", "effect", "n_queries")
        return {name: [getattr(cause, name) for cause in self.causes] for name in names}


def explain_difference(
    y_true: Numbers | RankingReport,
    y_score: Numbers | None = None,
    *,
    qid: Ids | None = None,
    metric: MetricLike = "ndcg@10",
    conventions: tuple[ConventionName, ConventionName] = ("sklearn", "lightgbm"),
    sample_weight: Numbers | None = None,
    retrieved: Booleans | None = None,
    judged: Booleans | None = None,
) -> Difference:
    """Attribute the gap between two conventions to its causes.

    Causes are the parameters that differ: cutoff, relevance threshold, gain, discount, ideal, divisor, ties, and the
    value of undefined queries. Since the effect of a change can depend on the other changes, each cause is assigned
    its mean effect over all orders of the changes (the Shapley value). Swapping the conventions only changes the
    signs.

    Parameters
    ----------
    y_true, y_score, qid : array-like
        As in evaluate. Or pass only a RankingReport, such as the one of evaluate_run, as y_true.
    metric : str, metric function or bound metric, default="ndcg@10"
        Metric to compute, as in get_metric. Parameters that it sets are the same for both conventions.
    conventions : tuple of two str, default=("sklearn", "lightgbm")
        Names of conventions, as in evaluate.
    sample_weight, retrieved, judged : array-like, default=None
        As in evaluate.

    Returns
    -------
    difference : Difference
        Prints as a table that adds up to the gap.

    References
    ----------
    L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games II, 307-317.
    https://doi.org/10.1515/9781400881970-018

    Examples
    --------
    In query "a", a document of grade 1 is ranked above one of grade 2. Its NDCG is (1 + 2 / log2(3)) / (2 + 1 /
    log2(3)) = 0.8597 with linear gains and (1 + 3 / log2(3)) / (3 + 1 / log2(3)) = 0.7967 with exponential ones. Query
    "b" has no relevant document and counts as 0 or 1, so the means of both queries are 0.4299 and 0.8984:

    >>> from skrank_metrics import explain_difference
    >>> print(explain_difference([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"]))
    ndcg@10: 0.4299 by sklearn, 0.8984 by lightgbm
                                                      effect  queries affected
    gain: linear -> exp2                                 -0.0315                 1
    ties: average -> stable                              +0.0000                 0
    queries with no relevant document count as 1, not 0  +0.5000                 1
    gap                                                  +0.4685
    To get lightgbm's value, pass convention='lightgbm'.
    """
    if isinstance(conventions, str) or len(conventions) != 2:
        raise ValueError(f"conventions must be a pair of names; got {conventions!r}.")
    first, second = (in_convention(metric, convention) for convention in conventions)
    if first.average is None:
        raise ValueError(
            "metric must not have average=None, since a single value is explained; leave average out."
        )
    pairs = {
        name: (first.get(name), second.get(name))
        for name in CAUSES
        if name in first.record.parameters
    }
    changed = {
        name: (old, new) for name, (old, new) in pairs.items() if str(old) != str(new)
    }  # both may be NaN
    subsets = [
        frozenset(some) for n in range(len(changed) + 1) for some in combinations(changed, n)
    ]
    metrics = [first.replace(**{name: changed[name][1] for name in subset}) for subset in subsets]
    ranking = rows_or_report(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        retrieved=retrieved,
        judged=judged,
    )
    means, values = {}, {}
    results = per_query(ranking, [metric.computation for metric in metrics])
    for subset, bound, result in zip(subsets, metrics, results, strict=True):
        means[subset] = float(bound.aggregate(result, ranking.documents.weights))
        # Undefined queries that are left out are NaN, which differs from itself. No metric can be -inf.
        values[subset] = np.nan_to_num(
            np.asarray(bound.aggregate(result, None, average=None)), nan=-np.inf
        )
    causes = [_cause(name, *changed[name], first.undefined, means, values) for name in changed]
    remarks = {one: CONVENTIONS[one].differs.get(first.record.name) for one in conventions}
    return Difference(
        metric if isinstance(metric, str) else str(get_metric(metric)),
        (conventions[0], conventions[1]),
        means[subsets[0]],
        means[subsets[-1]],
        causes,
        [f"Not reproduced from {one}: {remark}" for one, remark in remarks.items() if remark],
    )


def rows_or_report(y_true: Any, y_score: Any, **columns: Any) -> Ranking:
    """The ranking of a report, or of rows."""
    if not isinstance(y_true, RankingReport):
        if y_score is None:
            raise TypeError("Pass labels and scores, y_true and y_score, or a report of evaluate.")
        return ranking_from_rows(y_true, y_score, **columns)
    given = {"y_score": y_score, **columns}
    for name, column in given.items():
        if column is not None:
            raise TypeError(f"{name} must be left out with a report, which holds its documents.")
    return y_true.own_ranking


def _cause(
    name: str,
    old: Any,
    new: Any,
    undefined: str | None,
    means: Mapping[frozenset[str], float],
    values: Mapping[frozenset[str], FloatArray],
) -> Cause:
    """The mean effect of a parameter, and the queries that it changes, over all orders of changing the parameters."""
    n, before = max(map(len, means)), [subset for subset in means if name not in subset]
    # Of the n! orders, |subset|! (n - 1 - |subset|)! change exactly the subset before this parameter.
    effect = math.fsum(
        (means[s | {name}] - means[s]) / (n * math.comb(n - 1, len(s))) for s in before
    )
    affected = np.any([values[s | {name}] != values[s] for s in before], axis=0)
    shown = f"{CAUSES[name]}: {old} -> {new}"
    if name == "replace_undefined_by":
        was = "left out" if math.isnan(old) else f"{old:g}"
        way = f"count as {new:g}, not {was}"
        if math.isnan(new):
            way = f"are left out, not counted as {was}"
        shown = f"queries with {undefined} {way}"
    return Cause(CAUSES[name], f"{old} -> {new}", effect, int(affected.sum()), shown)

"""Why two libraries give different values of the same metric."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._output.result import Part, Result
from skrank_metrics._output.table import Column, Table, signed
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import get_metric

# Parameters in the order in which they are changed, and what the explanation calls them.
CAUSES = {
    "k": "cutoff",
    "gain": "gain",
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
    value: float
    effect: float
    n_queries: int


@dataclass(frozen=True, repr=False, eq=False)
class Difference(Result):
    """The gap between two conventions, attributed to its causes.

    Prints as a table that adds up to the gap, in notebooks too. ``to_frame()`` gives one row per cause.

    Attributes
    ----------
    metric : str
        Name of the metric, as given.
    conventions : tuple of str
        The two conventions.
    start, end : float
        Values by the first and the second convention.
    causes : list of Cause
        Each with ``cause``, ``change`` (old and new parameter), ``value`` (after the change), ``effect`` (the change of
        the value) and ``n_queries`` (number of queries whose value changed). The effects add up to ``end - start``.
    """

    metric: str
    conventions: tuple[str, str]
    start: float
    end: float
    causes: list[Cause]

    def _parts(self) -> list[Part]:
        first, second = self.conventions
        rows: list[tuple[Any, ...]] = [(first, self.start, None, None)]
        rows += [(f"{c.cause}: {c.change}", c.value, c.effect, c.n_queries) for c in self.causes]
        rows += [(second, self.end, None, None), ("gap", None, self.end - self.start, None)]
        return [
            f"{self.metric}, from {first} to {second}",
            Table(("", "value", Column("effect", signed), "queries affected"), rows),
        ]

    def _columns(self) -> dict[str, list[Any]]:
        return {field.name: [getattr(cause, field.name) for cause in self.causes] for field in fields(Cause)}


def explain_difference(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    metric: Any = "ndcg@10",
    conventions: tuple[str, str] = ("sklearn", "lightgbm"),
    sample_weight: Any = None,
    retrieved: Any = None,
) -> Difference:
    """Attribute the gap between two conventions to its causes.

    The parameters that differ are changed one after the other: cutoff, gain, divisor, ties, and the value of undefined
    queries. The effect of a parameter is the change of the value in its step.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. In 2-D each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, the largest first. May be infinite, not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document.
    metric : str, metric function or bound metric, default="ndcg@10"
        What to compute, as in get_metric. Parameters that it sets are the same for both.
    conventions : tuple of two str, default=("sklearn", "lightgbm")
        Names of conventions, as in evaluate.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of the queries in the mean, which must not vary within a query.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked.

    Returns
    -------
    difference : Difference
        Prints as a table that adds up to the gap.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If a convention or metric is unknown, or the data are not valid.

    Examples
    --------
    In query "a" a document of grade 1 is ranked above one of grade 2: with linear gains its NDCG is
    (1 + 2 / log2(3)) / (2 + 1 / log2(3)) = 0.8597. Query "b" has no relevant document, so the mean is 0.4299:

    >>> from skrank_metrics import explain_difference
    >>> explain_difference([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"])
    ndcg@10, from sklearn to lightgbm
                                          value   effect  queries affected
    sklearn                              0.4299
    gain: linear -> exp2                 0.3984  -0.0315                 1
    ties: average -> stable              0.3984  +0.0000                 0
    queries without a value: 0.0 -> 1.0  0.8984  +0.5000                 1
    lightgbm                             0.8984
    gap                                          +0.4685
    """
    if isinstance(conventions, str) or len(conventions) != 2:
        raise ValueError(f"conventions must be a pair of names; got {conventions!r}.")
    first, second = (get_metric(metric, convention=convention) for convention in conventions)
    if first.average is None:
        raise ValueError("average must be 'macro' or 'micro', as a mean is explained; got None.")
    lists = query_lists(y_true, y_score, qid=qid, sample_weight=sample_weight, retrieved=retrieved)
    steps, changes = [first], []
    for name, cause in CAUSES.items():
        old, new = steps[-1].get(name), second.get(name)
        both_nan = old != old and new != new
        if name in first.metric.parameters and old != new and not both_nan:
            steps.append(steps[-1].replace(**{name: new}))
            changes.append((cause, f"{old} -> {new}"))
    results = per_query(lists, [step.computation for step in steps])
    values = [float(step.aggregate(result, lists.weights)) for step, result in zip(steps, results, strict=True)]
    per = [_values(step, result) for step, result in zip(steps, results, strict=True)]
    causes = [
        Cause(cause, change, values[i + 1], values[i + 1] - values[i], int((per[i] != per[i + 1]).sum()))
        for i, (cause, change) in enumerate(changes)
    ]
    name = metric if isinstance(metric, str) else str(get_metric(metric))
    return Difference(name, (conventions[0], conventions[1]), values[0], values[-1], causes)


def _values(step: BoundMetric, result: PerQuery) -> FloatArray:
    """One value per query; -inf, which no metric takes, stands for undefined ones that are left out."""
    return np.nan_to_num(np.asarray(step.replace(average=None).aggregate(result, None)), nan=-np.inf)

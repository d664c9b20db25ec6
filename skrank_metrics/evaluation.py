"""Several metrics of one ranking, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine import per_query
from skrank_metrics._parse import get_metric
from skrank_metrics._queries import query_lists
from skrank_metrics._validation import FloatArray

__all__ = ["RankingReport", "evaluate"]


@dataclass(frozen=True, repr=False, eq=False)
class RankingReport:
    """Values of ranking metrics, as means and query by query.

    Attributes
    ----------
    mean : dict of str to float
        Mean over queries (or the pooled value, for a metric with ``average=micro``) by name of the metric.
    per_query : dict of str to ndarray of shape (n_queries,)
        Value of each query by name of the metric; undefined ones are replaced as ``evaluate`` was told.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance, the order of the arrays in ``per_query``.
    n_undefined : dict of str to int
        Number of queries for which each metric is undefined, such as those without relevant documents.
    n_documents : int
        Number of documents of all queries.
    """

    mean: dict[str, float]
    per_query: dict[str, FloatArray]
    qid: NDArray[Any]
    n_undefined: dict[str, int]
    n_documents: int

    def __str__(self) -> str:
        width = max(len(name) for name in ("metric", *self.mean))
        lines = [
            f"{len(self.qid)} queries, {self.n_documents} documents",
            f"{'metric':<{width}}     mean  std over queries  undefined queries",
        ]
        for name, mean in self.mean.items():
            values = self.per_query[name][~np.isnan(self.per_query[name])]
            std = f"{values.std():.4f}" if len(values) else "nan"
            lines.append(f"{name:<{width}}  {mean:>7.4f}  {std:>16}  {self.n_undefined[name]:>17}")
        return "\n".join(lines)

    __repr__ = __str__

    def to_frame(self) -> Any:
        """Put the values per query into a table.

        Returns
        -------
        frame : pandas.DataFrame of shape (n_queries, n_metrics)
            Values of ``per_query``, with the query ids as index.

        Raises
        ------
        ImportError
            Where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas (pip install pandas); per_query holds the same.") from None
        return pd.DataFrame(self.per_query, index=pd.Index(self.qid, name="qid"))


def evaluate(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    convention: str = "sklearn",
    ties: str | None = None,
    replace_undefined_by: float | None = None,
    sample_weight: Any = None,
    retrieved: Any = None,
) -> RankingReport:
    """Compute several metrics of a ranking in one pass over the documents.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. In 2-D each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, the largest first. May be infinite, not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. May be left out where y_true is 2-D or is a Series
        with an index level named "qid", see with_qid.
    metrics : sequence of str, metric functions or bound metrics, default=("ndcg@10", "map", "mrr")
        What to compute, by name ("ndcg(gain=exp2)@10") or as get_metric gives it.
    convention : {"sklearn", "trec_eval", "lightgbm", "xgboost", "catboost"}, default="sklearn"
        Whose defaults the metrics take where their names set nothing, so as to give the numbers of that library.
    ties : {"average", "best", "worst", "stable"}, default=None
        Order of documents with equal scores, for all metrics. None leaves each metric its own, "average" unless its
        name or the convention says otherwise.
    replace_undefined_by : float, default=None
        Value of a query for which a metric is undefined, for all metrics; NaN leaves such queries out of the mean.
        None leaves each metric its own, 0 unless its name or the convention says otherwise.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of the queries in the mean, which must not vary within a query.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.

    Returns
    -------
    report : RankingReport
        ``mean`` and ``per_query`` are keyed by the names as given.

    Raises
    ------
    TypeError
        Where a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        Where labels, scores, ids or weights are not valid, or a metric is unknown.

    Examples
    --------
    In query "a" the relevant document is at rank 1, in query "b" at rank 2, where the discount is log2(3):

    >>> from skrank_metrics import evaluate
    >>> report = evaluate([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=["a", "a", "b", "b"], metrics=["mrr", "recall@1"])
    >>> report.mean
    {'mrr': 0.75, 'recall@1': 0.5}
    >>> report.per_query["mrr"]
    array([1. , 0.5])
    """
    given = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence | np.ndarray) else list(metrics)
    if not given:
        raise ValueError("metrics must name at least one metric; got none.")
    shared = {"ties": ties, "replace_undefined_by": replace_undefined_by}
    overrides = {name: value for name, value in shared.items() if value is not None}
    bound = {
        str(m if isinstance(m, str) else get_metric(m)): get_metric(m, convention=convention, **overrides)
        for m in given
    }
    lists = query_lists(y_true, y_score, qid=qid, sample_weight=sample_weight, retrieved=retrieved)
    results = dict(zip(bound, per_query(lists, [m.computation for m in bound.values()]), strict=True))
    return RankingReport(
        mean={
            name: float(m.replace(average=m.average or "macro").aggregate(results[name], lists.weights))
            for name, m in bound.items()
        },
        per_query={
            name: np.asarray(m.replace(average=None).aggregate(results[name], None)) for name, m in bound.items()
        },
        qid=lists.grouping.ids,
        n_undefined={name: int(np.isnan(result.values).sum()) for name, result in results.items()},
        n_documents=len(lists.labels),
    )

"""Metrics of lists that are given by the labels of their documents, in ranked order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, take_rows, to_float64
from skrank_metrics._input.grouping import places_within
from skrank_metrics._input.types import SupportsArray
from skrank_metrics.decisions._evaluate import evaluate
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.reports.ranking_report import RankingReport


def evaluate_lists(
    labels: SupportsArray | Iterable[Iterable[float]] | Mapping[Any, Iterable[float]],
    metrics: Metrics = ("ndcg@10", "map", "mrr"),
    *,
    convention: ConventionName = "sklearn",
) -> RankingReport:
    """Evaluate lists without scores and ids: the labels of what was returned, first rank first.

    Only the documents in the lists are known. If relevant ones are missing from them, use evaluate_run, which finds
    them by their ids; otherwise recall, MAP and NDCG are too high.

    Parameters
    ----------
    labels : sequence of lists, dict of lists by query id, or array of shape (n_queries, n_ranks)
        Relevance labels of each list in ranked order, 0/1 or graded. Lists may have different lengths; some may be
        empty.
    metrics : str, metric, sequence or dict of them, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate.
    convention : str, default="sklearn"
        Library whose defaults apply, as in evaluate.

    Returns
    -------
    report : RankingReport
        Report with one query per list: its key in a dict, else its number.

    Raises
    ------
    TypeError, ValueError
        If ``labels`` is not a sequence of lists of numbers, or as in evaluate.

    See Also
    --------
    evaluate_run : Evaluate lists of document ids.

    Examples
    --------
    The first relevant document is at rank 1 and at rank 2:

    >>> from skrank_metrics import evaluate_lists
    >>> evaluate_lists([[1, 0, 0], [0, 1]], ["mrr", "hit_rate@1"]).mean
    {'mrr': 0.75, 'hit_rate@1': 0.5}
    """
    named = _named_lists(labels)
    lists = [_checked_list(values, name) for name, values in named.items()]
    n_ranked = np.array([len(values) for values in lists])
    # A list without any document has one that was not returned, so that the query counts.
    sizes = np.maximum(n_ranked, 1)
    query = np.repeat(np.arange(len(lists)), sizes)
    place = places_within(sizes)
    retrieved = place < n_ranked[query]
    y_true = np.zeros(len(query))
    y_true[retrieved] = np.concatenate(lists)
    # Places stand for scores, so that nothing ties.
    return evaluate(
        y_true,
        -place.astype(np.float64),
        qid=take_rows(list(named), query),
        metrics=metrics,
        convention=convention,
        retrieved=retrieved,
    )


def _named_lists(labels: Any) -> Mapping[Any, Any]:
    """The lists by query id."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(
            f"labels must be a sequence of lists of labels; got {type(labels).__name__}."
        )
    named = dict(labels) if isinstance(labels, Mapping) else dict(enumerate(labels))
    if not named:
        raise ValueError("labels must hold at least one list; got none.")
    return named


def _checked_list(values: Any, name: Any) -> FloatArray:
    is_list = isinstance(values, Iterable) and not isinstance(values, str | Mapping)
    entries = list(values) if is_list else None
    array = to_float64(entries, "labels") if entries else np.zeros(0)
    if not is_list or array.ndim != 1:
        raise TypeError(
            f"labels must hold one flat list of labels per query, as in [[1, 0], [0, 1, 0]]; got {values!r} for query "
            f"{name!r}. Pass documents by their ids to evaluate_run."
        )
    return array

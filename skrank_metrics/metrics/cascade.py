"""Readers who go down the list and stop: MRR."""

from __future__ import annotations

import numpy as np

from skrank_metrics._metric import Reference
from skrank_metrics._options import RelevanceThreshold
from skrank_metrics._ranked import RankedLists
from skrank_metrics._registry import metric
from skrank_metrics._validation import FloatArray

__all__ = ["mrr_score"]


_CRASWELL = Reference(
    "Craswell 2009",
    "N. Craswell (2009). Mean reciprocal rank. Encyclopedia of Database Systems.",
    "10.1007/978-0-387-39940-9_488",
)


@metric("mrr", graded=False, reference=_CRASWELL)
def mrr_score(lists: RankedLists, *, relevance_threshold: RelevanceThreshold = None) -> FloatArray:
    """Mean reciprocal rank: 1 / rank of the first relevant document, 0 where it is not among the first k.

    Examples
    --------
    Relevant at rank 2, at rank 1 and nowhere: (1/2 + 1 + 0) / 3.

    >>> from skrank_metrics import mrr_score
    >>> mrr_score([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1], [3, 2, 1]])
    0.5
    """
    stops = lists.stops(relevance_threshold)
    reaches = np.cumprod(np.hstack([np.ones((len(stops), 1)), 1 - stops[:, :-1]]), axis=1)
    return (reaches * stops) @ (1 / lists.ranks)

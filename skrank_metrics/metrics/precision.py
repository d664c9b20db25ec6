"""Precision at the ranks of the relevant documents: MAP."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from skrank_metrics._engine import KernelResult
from skrank_metrics._metric import Reference
from skrank_metrics._options import RelevanceThreshold, choice
from skrank_metrics._ranked import RankedLists
from skrank_metrics._registry import metric

__all__ = ["map_score"]

_BUCKLEY = Reference(
    "Buckley & Voorhees 2000",
    "C. Buckley, E. M. Voorhees (2000). Evaluating evaluation measure stability. SIGIR 2000.",
    "10.1145/345508.345543",
)

_Normalizer = Annotated[
    Any,
    choice(
        "normalizer",
        "What the sum of precisions is divided by: min(k, R), so that a perfect ranking has 1 at any k; R, as "
        "trec_eval has it; or the number of relevant documents found in the top k.",
        "min",
        "relevant",
        "hits",
    ),
]


@metric("map", graded=False, reference=_BUCKLEY)
def map_score(
    lists: RankedLists, *, normalizer: _Normalizer = "min", relevance_threshold: RelevanceThreshold = None
) -> KernelResult:
    """Mean average precision: precision at the ranks of the relevant documents, averaged over these documents.

    Examples
    --------
    Relevant at ranks 2, 4 and 5: (1/2 + 2/4 + 3/5) / 3.

    >>> from skrank_metrics import map_score
    >>> round(map_score([[0, 1, 0, 1, 1]], [[5, 4, 3, 2, 1]]), 4)
    0.5333
    """
    if normalizer == "hits":
        return lists.precision_over_hits(relevance_threshold)
    precisions = lists.hit_products(relevance_threshold) @ (1 / lists.ranks)
    n_relevant = lists.n_relevant(relevance_threshold)
    return precisions, n_relevant if normalizer == "relevant" else np.minimum(n_relevant, lists.cutoff)

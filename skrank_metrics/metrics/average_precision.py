"""Precision and related ratios at the ranks of the relevant documents: MAP, Q-measure, bpref."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from skrank_metrics._engine.per_query import KernelResult
from skrank_metrics._engine.ranked_blocks import RankedBlock
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics.metrics._options import ABOVE_ZERO, Gain, RelevanceThreshold, choice, number
from skrank_metrics.metrics._record import Reference
from skrank_metrics.metrics._registry import metric

_BUCKLEY = Reference(
    "C. Buckley, E. M. Voorhees (2000). Evaluating evaluation measure stability. SIGIR 2000.",
    "10.1145/345508.345543",
)

_SAKAI = Reference(
    "T. Sakai (2007). On the reliability of information retrieval metrics based on graded relevance. Information "
    "Processing & Management 43(2).",
    "10.1016/j.ipm.2006.07.020",
)
_BPREF = Reference(
    "C. Buckley, E. M. Voorhees (2004). Retrieval evaluation with incomplete information. SIGIR 2004.",
    "10.1145/1008992.1009000",
)

_Beta = Annotated[Any, number("Weight of gains relative to hits.", "[0, inf)")]
_Normalizer = Annotated[
    Any,
    choice(
        "Divisor of the sum of precisions: min(k, R), so that perfect rankings have 1 at any k; R, as in trec_eval; "
        "the number of relevant documents in the top k; or k. The first two differ only if k < R.",
        ("min", "relevant", "hits", "k"),
    ),
]


@metric(
    "map",
    formula=r"\mathrm{AP}@k = \frac{1}{\min(k, R)} \sum_{i=1}^{k} \mathrm{rel}_i \, \frac{\mathrm{hits}_i}{i}, "
    r"\quad \mathrm{hits}_i = \sum_{j=1}^{i} \mathrm{rel}_j",
    transform="products",
    reference=_BUCKLEY,
)
def map_score(
    ranked: RankedBlock,
    *,
    normalizer: _Normalizer = "min",
    relevance_threshold: RelevanceThreshold = None,
) -> KernelResult:
    """Mean average precision: the mean of the precision at the ranks of the relevant documents.

    Examples
    --------
    Relevant at ranks 2, 4 and 5: (1/2 + 2/4 + 3/5) / 3.

    >>> from skrank_metrics import map_score
    >>> round(map_score([[0, 1, 0, 1, 1]], [[5, 4, 3, 2, 1]]), 4)
    0.5333
    """
    # The number of hits depends on the order of ties, so this mean is no ratio of two means.
    if normalizer == "hits":
        return ranked.precision_over_hits(relevance_threshold)
    precisions = ranked.hit_products(relevance_threshold) @ (1 / ranked.ranks)
    if normalizer == "relevant":
        return precisions, ranked.n_relevant(relevance_threshold)
    if normalizer == "k":
        return precisions, np.maximum(ranked.cutoff, ABOVE_ZERO)
    return precisions, ranked.n_reachable(relevance_threshold)


@metric(
    "q_measure",
    formula=r"\mathrm{Q}@k = \frac{1}{\min(k, R)} \sum_{i=1}^{k} \mathrm{rel}_i \,"
    r" \frac{\mathrm{hits}_i + \beta \, \mathrm{CG}_i}{i + \beta \, \mathrm{CG}_i \text{ of the ideal order}}",
    transform="products",
    monotone=False,
    reference=_SAKAI,
)
def q_measure_score(
    ranked: RankedBlock, *, gain: Gain = "linear", beta: _Beta = 1.0
) -> tuple[FloatArray, FloatArray | IntArray]:
    """Q-measure: average precision that blends precision with gains.

    With beta=0, it is average precision, whatever the gain.

    Examples
    --------
    At rank 2, there is 1 hit, the gain is 2 and the ideal gain 2: (1 + 2) / (2 + 2).

    >>> from skrank_metrics import q_measure_score
    >>> q_measure_score([[0, 2]], [[2, 1]])
    0.75
    """
    hits = ranked.hit_products(None)
    # Ties make relevance and the sums dependent, so their products are averaged over orders.
    gains = ranked.running_products(None, gain)
    ideal = np.cumsum(ranked.ideal_order().gains(gain), axis=1)[:, : ranked.depth]
    blended = ((hits + beta * gains) / (ranked.ranks + beta * ideal)).sum(axis=1)
    return blended, ranked.n_reachable(None)


@metric(
    "bpref",
    formula=r"\mathrm{bpref} = \frac{1}{R} \sum_{i=1}^{n} \mathrm{rel}_i"
    r" \left( 1 - \frac{\min(\text{non-relevant documents above } i, R)}{\min(R, N)} \right)",
    transform="misses",
    has_cutoff=False,
    counts_others=True,
    unjudged="left out",
    reference=_BPREF,
)
def bpref_score(
    ranked: RankedBlock, *, relevance_threshold: RelevanceThreshold = None
) -> tuple[FloatArray, FloatArray | IntArray]:
    """Binary preference: the mean over relevant documents of 1 - non-relevant documents above / min(R, N).

    N is the number of non-relevant documents, of which at most R count, as in trec_eval. Mark documents that nobody
    judged with ``judged`` instead of labelling them 0: they are left out of the list before anything else. Relevant
    documents that were not retrieved count 0.

    Examples
    --------
    Relevant at ranks 1 and 3, with 0 and 1 others above; R = 2 and N = 2: (1 + (1 - 1/2)) / 2.

    >>> from skrank_metrics import bpref_score
    >>> bpref_score([[1, 0, 1, 0]], [[4, 3, 2, 1]])
    0.75
    """
    n_relevant = ranked.n_relevant(relevance_threshold)
    # The bound is at least 1: without other documents, nothing is missed and 0 / 1 is 0.
    bound = np.maximum(np.minimum(n_relevant, ranked.n_documents - n_relevant), 1)
    misses = ranked.capped_misses(relevance_threshold, n_relevant)
    return ranked.n_hits(relevance_threshold) - misses / bound, n_relevant

"""Shares of the top k: precision, recall, F1, fall-out, R-precision, hit rate, judged documents."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from skrank_metrics._engine.gains import RelevanceGain
from skrank_metrics._engine.ranked_blocks import RankedBlock
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics.metrics._options import ABOVE_ZERO, RelevanceThreshold, choice, number
from skrank_metrics.metrics._record import NO_RANKED, Reference
from skrank_metrics.metrics._registry import metric

_MANNING = Reference(
    "C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval, chapter 8.",
    "10.1017/CBO9780511809071",
)

_RIJSBERGEN = Reference(
    "C. J. van Rijsbergen (1974). Foundation of evaluation. Journal of Documentation 30(4).",
    "10.1108/eb026584",
)

_SWETS = Reference(
    "J. A. Swets (1963). Information retrieval systems. Science 141(3577).",
    "10.1126/science.141.3577.245",
)

_MACAVANEY = Reference(
    "S. MacAvaney, C. Macdonald, I. Ounis (2022). Streamlining evaluation with ir-measures. ECIR 2022.",
    "10.1007/978-3-030-99739-7_38",
)

_Divisor = Annotated[
    Any,
    choice("Divide by k even if fewer documents were ranked, or by min(k, n).", ("k", "retrieved")),
]
_PrecisionDivisor = Annotated[
    Any,
    choice(
        "Divide by k even if fewer documents were ranked; by min(k, n); or by min(k, R), so that perfect rankings have "
        "1 at any k, as in implicit, which pools over queries (micro).",
        ("k", "retrieved", "min"),
    ),
]
_Normalizer = Annotated[
    Any,
    choice(
        "Divide by R, or by min(k, R), so that perfect rankings have 1 at any k, as in BEIR (capped recall).",
        ("relevant", "min"),
    ),
]
_Beta = Annotated[Any, number("Weight of recall relative to precision.", "[0, 1000]")]


def _ranks(ranked: RankedBlock, divisor: str) -> IntArray:
    return ranked.cutoff if divisor == "k" else ranked.n_shown


@metric(
    "precision",
    formula=r"\mathrm{P}@k = \frac{1}{k} \sum_{i=1}^{k} \mathrm{rel}_i",
    pooled=True,
    divides_by_k=True,
    needs_cutoff=True,
    reference=_MANNING,
)
def precision_at_k_score(
    ranked: RankedBlock,
    *,
    divisor: _PrecisionDivisor = "k",
    relevance_threshold: RelevanceThreshold = None,
) -> tuple[FloatArray, FloatArray | IntArray]:
    """Precision at k: relevant documents among the first k, divided by k.

    With ``average="micro"``, hits and recommended items are pooled over queries: the item-level hit rate.

    Examples
    --------
    Three of the first five documents are relevant:

    >>> from skrank_metrics import precision_at_k_score
    >>> precision_at_k_score([[1, 0, 1, 1, 0, 1, 0]], [[7, 6, 5, 4, 3, 2, 1]], k=5)
    0.6
    """
    hits = ranked.n_hits(relevance_threshold)
    if divisor == "min":
        return hits, ranked.n_reachable(relevance_threshold)
    # If nothing was retrieved, the precision is 0 and there is nothing to pool.
    return hits, np.maximum(_ranks(ranked, divisor), ABOVE_ZERO)


@metric(
    "recall",
    formula=r"\mathrm{recall}@k = \frac{1}{R} \sum_{i=1}^{k} \mathrm{rel}_i",
    pooled=True,
    needs_cutoff=True,
    reference=_MANNING,
)
def recall_at_k_score(
    ranked: RankedBlock,
    *,
    normalizer: _Normalizer = "relevant",
    relevance_threshold: RelevanceThreshold = None,
) -> tuple[FloatArray, IntArray]:
    """Recall at k: relevant documents among the first k, divided by R, the number of relevant documents.

    Examples
    --------
    Three of the four relevant documents are among the first five:

    >>> from skrank_metrics import recall_at_k_score
    >>> recall_at_k_score([[1, 0, 1, 1, 0, 1, 0]], [[7, 6, 5, 4, 3, 2, 1]], k=5)
    0.75
    """
    hits = ranked.n_hits(relevance_threshold)
    if normalizer == "min":
        return hits, ranked.n_reachable(relevance_threshold)
    return hits, ranked.n_relevant(relevance_threshold)


@metric(
    "f1",
    formula=r"\mathrm{F}_1@k = \frac{2}{k + R} \sum_{i=1}^{k} \mathrm{rel}_i",
    pooled=True,
    divides_by_k=True,
    needs_cutoff=True,
    reference=_RIJSBERGEN,
)
def f1_at_k_score(
    ranked: RankedBlock,
    *,
    beta: _Beta = 1.0,
    divisor: _Divisor = "k",
    relevance_threshold: RelevanceThreshold = None,
) -> tuple[FloatArray, FloatArray]:
    """F1 at k: the harmonic mean of precision and recall at k, 2 hits / (k + R).

    With ``beta``, it is F-beta, (1 + beta^2) hits / (k + beta^2 R): precision if beta is 0, close to recall if beta is
    large.

    Examples
    --------
    Three of the first five documents are relevant, and four overall: 2 * 3 / (5 + 4).

    >>> from skrank_metrics import f1_at_k_score
    >>> round(f1_at_k_score([[1, 0, 1, 1, 0, 1, 0]], [[7, 6, 5, 4, 3, 2, 1]], k=5), 4)
    0.6667
    """
    n_relevant = ranked.n_relevant(relevance_threshold)
    # With beta=0 and nothing retrieved, the sum is 0, which would mean undefined.
    total = np.maximum(_ranks(ranked, divisor) + beta**2 * n_relevant, ABOVE_ZERO)
    # Queries without relevant documents are not pooled.
    total[n_relevant == 0] = 0.0
    return (1 + beta**2) * ranked.n_hits(relevance_threshold), total


@metric(
    "neg_fall_out",
    formula=r"\mathrm{fallout}@k = \frac{1}{N} \sum_{i=1}^{\min(k, n)} (1 - \mathrm{rel}_i)",
    undefined="relevant documents only",
    pooled=True,
    counts_others=True,
    needs_cutoff=True,
    reference=_SWETS,
)
def fall_out_score(
    ranked: RankedBlock, *, relevance_threshold: RelevanceThreshold = None
) -> tuple[FloatArray, IntArray]:
    """Fall-out at k: non-relevant documents among the first k, divided by N, the number of non-relevant documents.

    This is the false positive rate of showing the first k. Smaller is better; strings and scorers use the negative.
    Documents that were not judged count as not relevant in both numbers.

    Examples
    --------
    One of the first three documents is not relevant, and three are not relevant overall:

    >>> from skrank_metrics import fall_out_score
    >>> round(fall_out_score([[1, 0, 1, 0, 1, 0]], [[6, 5, 4, 3, 2, 1]], k=3), 4)
    0.3333
    """
    # These are all that are not relevant, ranked or not; if there are none, the rate is undefined.
    others = ranked.n_documents - ranked.n_relevant(relevance_threshold)
    return ranked.n_shown - ranked.n_hits(relevance_threshold), others


@metric(
    "r_precision",
    formula=r"\mathrm{P}@R = \frac{1}{R} \sum_{i=1}^{R} \mathrm{rel}_i",
    has_cutoff=False,
    depth_is_relevant=True,
    reference=_MANNING,
)
def r_precision_score(
    ranked: RankedBlock, *, relevance_threshold: RelevanceThreshold = None
) -> tuple[FloatArray, IntArray]:
    """R-precision: precision at rank R, the number of relevant documents; it equals recall at R.

    Examples
    --------
    Two of the three relevant documents are among the first three:

    >>> from skrank_metrics import r_precision_score
    >>> round(r_precision_score([[1, 0, 1, 0, 1]], [[5, 4, 3, 2, 1]]), 4)
    0.6667
    """
    n_relevant = ranked.n_relevant(relevance_threshold)
    # The cutoff differs from query to query, so ranks are masked instead of cut.
    within = ranked.ranks <= n_relevant[:, None]
    return (ranked.relevance(relevance_threshold) * within).sum(axis=1), n_relevant


@metric(
    "hit_rate",
    formula=r"\mathrm{HR}@k = 1 - \prod_{i=1}^{k} (1 - \mathrm{rel}_i)",
    transform="hazards",
    needs_cutoff=True,
    reference=_MANNING,
)
def hit_rate_score(
    ranked: RankedBlock, *, relevance_threshold: RelevanceThreshold = None
) -> FloatArray:
    """Hit rate: 1 if any of the first k documents is relevant, else 0.

    The mean is the share of queries with a hit: the user-level hit rate. The item-level hit rate, hits divided by
    recommended items, is precision with ``average="micro"``.

    Examples
    --------
    Of two users, only the first has a relevant item among the first two:

    >>> from skrank_metrics import hit_rate_score
    >>> hit_rate_score([[0, 1, 0], [0, 0, 1]], [[3, 2, 1], [3, 2, 1]], k=2)
    0.5
    """
    # No hit means not stopping at any rank; stops are such that this holds for ties as well.
    return 1 - np.prod(1 - ranked.stops(RelevanceGain(relevance_threshold)), axis=1)


@metric(
    "judged",
    formula=r"\mathrm{judged}@k = \frac{1}{\min(k, n)} \sum_{i=1}^{\min(k, n)} \mathrm{judged}_i",
    undefined=NO_RANKED,
    pooled=True,
    unjudged="counted",
    needs_cutoff=True,
    reference=_MACAVANEY,
)
def judged_score(ranked: RankedBlock) -> tuple[FloatArray, IntArray]:
    """Judged at k: the share of the first k documents that were judged, relevant or not.

    If it differs between rankings, comparisons that count unjudged documents as not relevant favour the ranking with
    more judgments, such as the one that the judgments were made for. It is 1 if ``judged`` is None.

    Examples
    --------
    The second of the first two documents was not judged:

    >>> from skrank_metrics import judged_score
    >>> judged_score([[1, 0, 2]], [[3, 2, 1]], k=2, judged=[[True, False, True]])
    0.5
    """
    return ranked.judged().sum(axis=1), ranked.n_shown

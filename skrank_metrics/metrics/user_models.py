"""User models: MRR, ERR, pFound, RBP."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from skrank_metrics._engine.gains import GainFunction, Probability, RelevanceGain
from skrank_metrics._engine.per_query import KernelResult
from skrank_metrics._engine.ranked_blocks import RankedBlock
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._options import (
    ABOVE_ZERO,
    MaxGrade,
    Persistence,
    Probabilities,
    RelevanceThreshold,
    number,
    switch,
)
from skrank_metrics.metrics._record import Reference
from skrank_metrics.metrics._registry import metric

_CRASWELL = Reference(
    "N. Craswell (2009). Mean reciprocal rank. Encyclopedia of Database Systems.",
    "10.1007/978-0-387-39940-9_488",
)
_CHAPELLE = Reference(
    "O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan (2009). Expected reciprocal rank for graded relevance. CIKM 2009.",
    "10.1145/1645953.1646033",
)
_MOFFAT = Reference(
    "A. Moffat, J. Zobel (2008). Rank-biased precision for measurement of retrieval effectiveness. ACM TOIS 27(1).",
    "10.1145/1416950.1416952",
)
_CASCADE = Reference(
    "N. Craswell, O. Zoeter, M. Taylor, B. Ramsey (2008). An experimental comparison of click position-bias models. "
    "WSDM 2008.",
    "10.1145/1341531.1341545",
)


_RbpPersistence = Annotated[
    Any, number("Probability that the reader goes on to the next rank.", "(0, 1)")
]
_Normalize = Annotated[
    Any,
    switch(
        "Whether to divide by the largest possible value for a list of this length, cut at k: 1 - p^min(k, n)."
    ),
]
_Normalized = Annotated[Any, switch("Whether to divide by the value of the ideal order: nERR.")]


def _stopping(ranked: RankedBlock, probability: GainFunction) -> FloatArray:
    """Probability that a reader who never gives up stops at each rank."""
    stops = ranked.stops(probability)
    # Rank i is reached by those who did not stop above it; all reach rank 1.
    reaches = np.cumprod(np.hstack([np.ones((len(stops), 1)), 1 - stops[:, :-1]]), axis=1)
    return reaches * stops


def _err(ranked: RankedBlock, p: float, probability: GainFunction) -> FloatArray:
    return _stopping(ranked, probability) @ (p ** (ranked.ranks - 1) / ranked.ranks)


@metric(
    "mrr",
    formula=r"\mathrm{RR}@k = \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{i} \prod_{j=1}^{i-1} (1 - \mathrm{rel}_j)",
    transform="hazards",
    reference=_CRASWELL,
)
def mrr_score(ranked: RankedBlock, *, relevance_threshold: RelevanceThreshold = None) -> FloatArray:
    """Mean reciprocal rank: 1 / rank of the first relevant document, 0 if it is not among the first k.

    Examples
    --------
    Relevant at rank 2, at rank 1 and nowhere: (1/2 + 1 + 0) / 3.

    >>> from skrank_metrics import mrr_score
    >>> mrr_score([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1], [3, 2, 1]])
    0.5
    """
    # A reader who never gives up and stops at the first relevant document: ERR is 1 / its rank.
    return _err(ranked, 1.0, RelevanceGain(relevance_threshold))


@metric(
    "err",
    formula=r"\mathrm{ERR}@k = \sum_{i=1}^{k} \frac{s_i}{i} \prod_{j=1}^{i-1} p \, (1 - s_j), "
    r"\quad \text{by default } s_i = \frac{2^{\mathrm{label}_i} - 1}{2^{\mathrm{max\_grade}}}",
    transform="hazards",
    reference=_CHAPELLE,
)
def err_score(
    ranked: RankedBlock,
    *,
    p: Persistence = 1.0,
    gain: Probabilities = "exp2",
    max_grade: MaxGrade = 4,
    normalize: _Normalized = False,
    relevance_threshold: RelevanceThreshold = None,
) -> KernelResult:
    """Expected reciprocal rank: the mean of 1 / rank at which the reader is satisfied, 0 if the reader never is.

    A document satisfies the reader with the probability given by ``gain``; otherwise the reader goes on with
    probability p. With ``normalize=True``, it is divided by its value for the ideal order; "nerr" is a name for this.

    Examples
    --------
    The reader is satisfied at rank 1 with probability 15/16, else at rank 2 with 3/16: 15/16 + 1/2 * 1/16 * 3/16.

    >>> from skrank_metrics import err_score
    >>> err_score([[4, 2, 0]], [[3, 2, 1]])
    0.943359375
    """
    probability = Probability(gain, max_grade, relevance_threshold)
    err = _err(ranked, p, probability)
    if not normalize:
        return err
    ideal = _err(ranked.ideal_order(), p, probability)
    return err.clip(max=ideal), ideal  # the two sums are rounded differently


@metric(
    "pfound",
    formula=r"\mathrm{pFound}@k = \sum_{i=1}^{k} s_i \prod_{j=1}^{i-1} p \, (1 - s_j), "
    r"\quad \text{by default } s_i = \mathrm{label}_i",
    transform="hazards",
    reference=_CASCADE,
)
def pfound_score(
    ranked: RankedBlock,
    *,
    p: Persistence = 0.85,
    gain: Probabilities = "linear",
    max_grade: MaxGrade = 4,
    relevance_threshold: RelevanceThreshold = None,
) -> FloatArray:
    """PFound: the probability that a reader who stops with probability 1 - p at each rank finds a satisfying document.

    This is Yandex's metric, based on the cascade model of clicks.

    Examples
    --------
    The reader is satisfied at rank 1 with probability 0.4, or else goes on with 0.6 * 0.85 to rank 2: 0.4 + 0.51 * 1.

    >>> from skrank_metrics import pfound_score
    >>> round(pfound_score([[0.4, 1.0]], [[2, 1]]), 4)
    0.91
    """
    return _stopping(ranked, Probability(gain, max_grade, relevance_threshold)) @ p ** (
        ranked.ranks - 1
    )


@metric(
    "rbp",
    formula=r"\mathrm{RBP}@k = (1 - p) \sum_{i=1}^{k} p^{i-1} \, \mathrm{gain}(\mathrm{label}_i)",
    reference=_MOFFAT,
)
def rbp_score(
    ranked: RankedBlock,
    *,
    p: _RbpPersistence = 0.8,
    gain: Probabilities = "binary",
    max_grade: MaxGrade = 4,
    normalize: _Normalize = False,
    relevance_threshold: RelevanceThreshold = None,
) -> KernelResult:
    """Rank-biased precision: (1 - p) times the sum over ranks of p^(rank - 1) * gain.

    This is the rate at which a reader who goes on to the next rank with probability p finds relevant documents. It is
    below 1 even if all documents are relevant, since lists end. With ``normalize=True``, it is 1 for such a list, but
    not relative to the ideal order, which is what LensKit calls normalized.

    Examples
    --------
    Relevant at ranks 1 and 3: (1 - 1/2) * (1 + 1/4).

    >>> from skrank_metrics import rbp_score
    >>> rbp_score([[1, 0, 1]], [[3, 2, 1]], p=0.5)
    0.625
    """
    gains = ranked.gains(Probability(gain, max_grade, relevance_threshold))
    weights = p ** (ranked.ranks - 1)
    if not normalize:
        return (1 - p) * (gains @ weights)
    # The largest sums of lists of 0, 1, 2, ... documents.
    sums = np.cumsum(np.append(ABOVE_ZERO, weights))[ranked.n_shown]
    # The factor (1 - p) is in both and left out.
    # The two sums are rounded differently.
    return (gains @ weights).clip(max=sums), sums

"""Pairs ranked correctly or not, and rank correlations."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from skrank_metrics._engine.gains import RelevanceGain, linear_gain
from skrank_metrics._engine.ranked_blocks import RankedBlock
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._options import RelevanceThreshold, switch
from skrank_metrics.metrics._record import NO_PAIRS, ONE_CLASS, Reference
from skrank_metrics.metrics._registry import metric

_KENDALL = Reference(
    "M. G. Kendall (1938). A new measure of rank correlation. Biometrika 30.",
    "10.1093/biomet/30.1-2.81",
)
_KENDALL_TIES = Reference(
    "M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3).",
    "10.1093/biomet/33.3.239",
)
_SPEARMAN = Reference(
    "C. Spearman (1904). The proof and measurement of association between two things. The American Journal of "
    "Psychology 15(1).",
    "10.2307/1412159",
)
_JOACHIMS = Reference(
    "T. Joachims (2002). Optimizing search engines using clickthrough data. KDD 2002.",
    "10.1145/775047.775067",
)
_HANLEY = Reference(
    "J. A. Hanley, B. J. McNeil (1982). The meaning and use of the area under a receiver operating characteristic "
    "(ROC) curve. Radiology 143(1).",
    "10.1148/radiology.143.1.7063747",
)

_Normalize = Annotated[
    Any, switch("Whether to divide by the number of pairs with different labels.")
]


@metric(
    "neg_kendall_tau_distance",
    formula=r"\left| \{ (i, j) : i < j, \; \mathrm{label}_i < \mathrm{label}_j \} \right|",
    transform="pairs",
    upper=np.inf,
    undefined=None,
    has_cutoff=False,
    pooled="normalize",
    signed=True,
    reference=_KENDALL,
)
def kendall_tau_distance(
    ranked: RankedBlock, *, normalize: _Normalize = False
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Kendall tau distance: the number of pairs of documents with the less relevant one ranked above.

    Pairs with tied scores count 1/2. Smaller is better; strings and scorers use the negative. With ``normalize=True``,
    it is the share of the pairs with different labels, undefined if there are none. The number itself is always
    defined, and is 0 for a query that nobody judged.

    Examples
    --------
    Two of the three pairs are inverted, 0 above 1 and 0 above 2:

    >>> from skrank_metrics import kendall_tau_distance
    >>> kendall_tau_distance([[0, 2, 1]], [[3, 2, 1]])
    2.0
    """
    inverted, pairs = ranked.pairs(linear_gain)
    # As a pair, the share is undefined without pairs, and micro averages can pool it.
    return (inverted, pairs) if normalize else inverted


@metric(
    "kendall_tau",
    formula=r"\tau_b = \frac{\text{concordant pairs} - \text{discordant pairs}}"
    r"{\sqrt{\text{pairs with different labels} \cdot n (n - 1) / 2}}",
    transform="pairs",
    lower=-1.0,
    undefined=NO_PAIRS,
    has_cutoff=False,
    signed=True,
    reference=_KENDALL_TIES,
)
def kendall_tau_score(ranked: RankedBlock) -> tuple[FloatArray, FloatArray]:
    """Kendall tau-b: (concordant - discordant) / geometric mean of all pairs and the pairs with different labels.

    Tau-b corrects for equal labels. For tied scores, it is the expectation over the orders of the tied documents, so
    constant scores give 0. Without tied scores, it equals ``scipy.stats.kendalltau``.

    Examples
    --------
    One pair is in order and two are inverted: (1 - 2) / sqrt(3 * 3).

    >>> from skrank_metrics import kendall_tau_score
    >>> round(kendall_tau_score([[0, 2, 1]], [[3, 2, 1]]), 4)
    -0.3333
    """
    # No order of tied documents has ties in scores, so one factor is the number of all pairs.
    inverted, pairs = ranked.pairs(linear_gain)
    n = ranked.n_retrieved
    return pairs - 2 * inverted, np.sqrt(pairs * (n * (n - 1) / 2))


@metric(
    "pairwise_accuracy",
    formula=r"\frac{\text{concordant pairs}}{\text{pairs with different labels}}",
    transform="pairs",
    undefined=NO_PAIRS,
    has_cutoff=False,
    pooled=True,
    signed=True,
    reference=_JOACHIMS,
)
def pairwise_accuracy_score(ranked: RankedBlock) -> tuple[FloatArray, FloatArray]:
    """Pairwise accuracy: the share of pairs of documents with different labels that are ranked correctly.

    Pairs with tied scores count 1/2.

    Examples
    --------
    Only one of the three pairs is in order, 2 above 1:

    >>> from skrank_metrics import pairwise_accuracy_score
    >>> round(pairwise_accuracy_score([[0, 2, 1]], [[3, 2, 1]]), 4)
    0.3333
    """
    inverted, pairs = ranked.pairs(linear_gain)
    return pairs - inverted, pairs


@metric(
    "auc",
    formula=r"\mathrm{AUC} = \frac{\text{concordant pairs}}"
    r"{\text{pairs of a relevant and a non-relevant document}}",
    transform="pairs",
    undefined=ONE_CLASS,
    has_cutoff=False,
    pooled=True,
    signed="relevance_threshold",
    reference=_HANLEY,
)
def auc_score(
    ranked: RankedBlock, *, relevance_threshold: RelevanceThreshold = None
) -> tuple[FloatArray, FloatArray]:
    """Area under the ROC curve: the share of relevant/non-relevant pairs ranked correctly.

    The mean over queries is known as group AUC (GAUC). Labels may be negative if ``relevance_threshold`` is set.

    Examples
    --------
    The relevant document is above one of the two others:

    >>> from skrank_metrics import auc_score
    >>> auc_score([[0, 1, 0]], [[3, 2, 1]])
    0.5
    """
    # Pairs of a relevant and another document are those with different gains of 0 and 1.
    inverted, pairs = ranked.pairs(RelevanceGain(relevance_threshold))
    return pairs - inverted, pairs


@metric(
    "spearman",
    formula=r"\rho = \frac{\operatorname{cov}(r_i, i)}{\operatorname{std}(r_i) \operatorname{std}(i)}, "
    r"\quad r_i \text{ the rank by label of the document at rank } i",
    lower=-1.0,
    undefined=NO_PAIRS,
    has_cutoff=False,
    signed=True,
    reference=_SPEARMAN,
)
def spearman_score(ranked: RankedBlock) -> tuple[FloatArray, FloatArray]:
    """Spearman's rho: the correlation of ranks by label with ranks by score.

    Documents with equal labels share their mean rank. For tied scores, it is the expectation over the orders of the
    tied documents, so constant scores give 0. Without tied scores, it equals ``scipy.stats.spearmanr``.

    Examples
    --------
    The first two of three documents are swapped: 1 - 6 * (1 + 1 + 0) / (3 * (9 - 1)).

    >>> from skrank_metrics import spearman_score
    >>> spearman_score([[1, 2, 0]], [[3, 2, 1]])
    0.5
    """
    n = ranked.n_retrieved.astype(np.float64)
    # The counts are float64, since the cube of the length of a long list overflows integers.
    by_label, by_score, squares = ranked.centred_ranks()
    # Ranks by score are 1 to n, with a sum of squared deviations of n (n^2 - 1) / 12.
    return (by_label * by_score).sum(axis=1), np.sqrt(squares * (n * (n**2 - 1) / 12))

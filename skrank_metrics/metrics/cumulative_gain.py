"""Cumulative gain: CG, DCG, NDCG."""

from __future__ import annotations

import numpy as np

from skrank_metrics._engine.gains import DiscountFunction, GainFunction, linear_gain
from skrank_metrics._engine.ranked_blocks import RankedBlock
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._options import ABOVE_ZERO, Discount, Gain, Ideal
from skrank_metrics.metrics._record import Reference
from skrank_metrics.metrics._registry import metric

_JARVELIN = Reference(
    "K. Järvelin, J. Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4).",
    "10.1145/582415.582418",
)


@metric(
    "cg",
    formula=r"\mathrm{CG}@k = \sum_{i=1}^{k} \mathrm{label}_i",
    upper=float("inf"),
    needs_cutoff=True,
    reference=_JARVELIN,
)
def cg_score(ranked: RankedBlock) -> FloatArray:
    """Cumulative gain: the sum of the labels of the first k documents.

    Without a cutoff, it does not depend on the order.

    Examples
    --------
    The first three labels in ranked order are 3, 2 and 3:

    >>> from skrank_metrics import cg_score
    >>> cg_score([[3, 2, 3, 0, 1, 2]], [[6, 5, 4, 3, 2, 1]], k=3)
    8.0
    """
    return ranked.gains(linear_gain).sum(axis=1)


@metric(
    "dcg",
    formula=r"\mathrm{DCG}@k = \sum_{i=1}^{k} \frac{\mathrm{gain}(\mathrm{label}_i)}{\mathrm{discount}(i)}, "
    r"\quad \text{by default } \sum_{i=1}^{k} \frac{\mathrm{label}_i}{\log_2(i + 1)}",
    upper=float("inf"),
    reference=_JARVELIN,
)
def dcg_score(
    ranked: RankedBlock, *, gain: Gain = "linear", discount: Discount = "log2"
) -> FloatArray:
    """Discounted cumulative gain: the sum over ranks of gain / discount.

    The defaults agree with ``sklearn.metrics.dcg_score``; ``gain="exp2"`` is the default gain of LightGBM and XGBoost.
    For labels 0 and 1, linear and exponential gains are the same.

    Examples
    --------
    The gains at ranks 1 and 3 are 3 and 7, and their discounts log2(2) = 1 and log2(4) = 2: 3/1 + 7/2.

    >>> from skrank_metrics import dcg_score
    >>> dcg_score([[2, 0, 3]], [[0.9, 0.5, 0.1]], gain="exp2")
    6.5
    """
    return ranked.gains(gain) @ (1 / discount(ranked.ranks))


@metric(
    "ndcg",
    formula=r"\mathrm{NDCG}@k = \frac{\mathrm{DCG}@k}{\mathrm{DCG}@k \text{ of the ideal order}}",
    reference=_JARVELIN,
)
def ndcg_score(
    ranked: RankedBlock,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    ideal: Ideal = "judged",
) -> tuple[FloatArray, FloatArray]:
    """Normalized discounted cumulative gain: DCG / DCG of the ideal order.

    The defaults agree with ``sklearn.metrics.ndcg_score`` for each query; ``gain="exp2"`` is the default gain of
    LightGBM and XGBoost. Other ideals than that of all judged documents reproduce the values of other tools, but let a
    list look better for what it lacks.

    Examples
    --------
    Query "a" is in ideal order. In query "b", the only relevant document is at rank 3, with discount log2(4) = 2:

    >>> from skrank_metrics import ndcg_score
    >>> qid = ["a", "b", "a", "b", "b"]
    >>> ndcg_score([2, 0, 1, 0, 1], [0.9, 0.8, 0.1, 0.4, 0.2], qid=qid, average=None)
    array([1. , 0.5])
    """
    dcg = ranked.gains(gain) @ (1 / discount(ranked.ranks))
    best = _ideal_dcg(ranked, gain, discount, ideal)
    # The two sums are rounded differently. Without the clip, an ideal ranking could exceed 1 in the last digit.
    return dcg.clip(max=best), best


def _ideal_dcg(
    ranked: RankedBlock, gain: GainFunction, discount: DiscountFunction, ideal: str | float
) -> FloatArray:
    if ideal == "judged":
        return ranked.ideal(gain, discount)
    if ideal == "all":
        return ranked.cut(None).ideal(gain, discount)
    if ideal == "top":
        best = ranked.ideal_of_top(gain, discount)
    elif isinstance(ideal, str):
        of_list = ideal == "retrieved"
        best = ranked.ideal_of_ranks_filled(gain, discount, only_retrieved=of_list)
    else:
        best = _dcg_of_grade(ranked, gain, discount, ideal)
    # A list without any gain has the value 0, even if its own ideal is 0, too.
    return np.maximum(best, ABOVE_ZERO)


def _dcg_of_grade(
    ranked: RankedBlock, gain: GainFunction, discount: DiscountFunction, ideal: float
) -> FloatArray:
    # A higher grade is no better if it gains no more, as with binary gains.
    largest = ranked.largest_gain(gain)
    of_ideal = gain(np.array([ideal])).item()
    if largest > of_ideal:
        raise ValueError(
            f"ideal must be a grade whose gain no label exceeds; got ideal={ideal:g} with the gain {of_ideal:g}, and "
            f"gains up to {largest:g}."
        )
    return ranked.ideal_of_grade(gain, discount, ideal)

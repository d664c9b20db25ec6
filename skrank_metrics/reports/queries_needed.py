"""Compute the number of queries that a test set needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._input.arrays import check_number
from skrank_metrics.reports.compare import compare
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.statistics import NO_EFFECT, check_confidence, moments, n_for_power


def queries_needed(
    first: RankingReport,
    second: RankingReport,
    *,
    metric: Any,
    difference: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
) -> int:
    """Compute how many queries are needed to detect the difference between two rankings.

    The number is for a two-sided paired t-test over queries whose differences vary as much as those of the reports. It
    is as uncertain as their spread and, without ``difference``, as the observed difference, which is often too large if
    the rankings were chosen because they differ.

    Parameters
    ----------
    first, second : RankingReport
        Reports of two rankings of the same queries, from evaluate or cross_evaluate.
    metric : str, metric function or bound metric
        A metric that both reports have, by its name there or as passed to evaluate.
    difference : float, default=None
        The smallest difference that matters, above 0. None means the difference between the reports.
    power : float, default=0.8
        Probability of detecting the difference, in (0, 1).
    confidence : float, default=0.95
        One minus the level of the test, in (0, 1).

    Returns
    -------
    n_queries : int
        Number of queries, at least 2. If queries are weighted, the weights are assumed to vary as in the reports.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the reports cannot be compared, have fewer than two queries with a value in both, or differ by the same
        amount on all queries; if their means are equal and ``difference`` is None; or if a parameter is out of range.

    See Also
    --------
    compare : Test whether rankings are significantly different.

    References
    ----------
    T. Sakai (2016). Topic set size design. Information Retrieval Journal 19.
    https://doi.org/10.1007/s10791-015-9273-z

    Examples
    --------
    Differences of 1/2 and 0 on two queries each have a mean of 0.25 and a standard deviation of 0.29. At a level of
    0.05, a mean of 0.87 standard deviations is detected with a probability of 0.8 on 13 queries:

    >>> from skrank_metrics import evaluate, queries_needed
    >>> qid = [0, 0, 1, 1, 2, 2, 3, 3]
    >>> good = evaluate([1, 0] * 4, [2, 1] * 4, qid=qid, metrics="mrr")
    >>> bad = evaluate([1, 0] * 4, [2, 1, 2, 1, 1, 2, 1, 2], qid=qid, metrics="mrr")
    >>> queries_needed(good, bad, metric="mrr"), queries_needed(good, bad, metric="mrr", difference=0.1)
    (13, 68)
    """
    check_number(difference, "difference", "(0, inf)", other="None")
    check_number(power, "power", "(0, 1)")
    check_confidence(confidence)
    compared = compare({"first": first, "second": second}, metric, n_resamples=1)
    (pair,) = compared.pairs
    counted = set(pair.qid.tolist())
    weights = None
    if compared.weights is not None:
        weights = compared.weights[[query in counted for query in first.qid.tolist()]]
    found = moments(pair.differences, weights)
    if found.n_effective < 2:
        of_weights = f" of unequal weights, which count as {found.n_effective:.3g}" if pair.n_queries > 1 else ""
        raise ValueError(
            f"reports must have at least two queries with a value in both; got {pair.n_queries}{of_weights}."
        )
    if not found.sample_std > 0 and (difference is not None or pair.difference):
        raise ValueError(
            f"reports must differ by different amounts on different queries, since the number depends on that spread; "
            f"got differences of {pair.difference:g} on all {pair.n_queries} queries. Pass reports over more queries."
        )
    if difference is None and abs(pair.difference) <= NO_EFFECT * found.sample_std:
        raise ValueError(
            f"difference must be given if the reports have the same mean {compared.metric}; got None. Pass the "
            "smallest difference that matters."
        )
    looked_for = pair.difference if difference is None else difference
    effect_size = looked_for / found.sample_std
    if abs(effect_size) < NO_EFFECT:
        raise ValueError(
            f"difference must be at least {NO_EFFECT:g} standard deviations of the differences, which are "
            f"{found.sample_std:g}; got {difference}."
        )
    unequal = round(pair.n_queries / found.n_effective, 9)  # 1 if weights are equal
    return int(np.ceil(n_for_power(effect_size, power, confidence) * unequal))

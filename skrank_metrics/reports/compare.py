"""Which of several rankings of the same queries is better, and whether the difference is significant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import check_choice, check_int, check_random_state
from skrank_metrics._output.call import records_call
from skrank_metrics.reports import statistics
from skrank_metrics.reports._alignment import Aligned, align_reports
from skrank_metrics.reports.comparison import Comparison, Pair
from skrank_metrics.reports.ranking_report import RankingReport

# Of the permutation test, unless it is given.
N_RESAMPLES = 9999


@records_call
def compare(
    reports: Mapping[str, RankingReport] | Any,
    metric: Any = "ndcg@10",
    *,
    test: str = "permutation",
    correction: str | None = "holm",
    align: str | None = None,
    confidence: float = 0.95,
    n_resamples: int | None = None,
    random_state: Any = None,
) -> Comparison:
    """Compare rankings of the same queries, per query.

    Differences are taken per query, which makes small ones visible: values vary much more between queries than between
    good models on the same query. If there are several reports, every pair is compared.

    Parameters
    ----------
    reports : dict of str to RankingReport, or sequence of RankingReport
        At least two reports, whose queries may be in different orders. Reports of a sequence are named by their
        position: "0", "1", and so on.
    metric : str, metric function or bound metric, default="ndcg@10"
        A metric that all reports have, by its name there or as passed to evaluate. Queries without a value in one of
        the two reports are left out.
    test : {"permutation", "t", "wilcoxon"}, default="permutation"
        Source of the p-values: random signs of the differences (all signs, if there are at most n_resamples), Student's
        t, or signed ranks. The first two test whether the mean of the differences is 0, the third whether the
        differences are symmetric around 0: without the differences of 0, with mean ranks for equal ones, exact for up
        to 50 differences, else by the normal approximation.
    correction : {"holm", "bh"} or None, default="holm"
        Correction for several pairs. Holm bounds the probability of any false discovery, Benjamini-Hochberg the
        expected share of false discoveries among all.
    align : {"intersection"} or None, default=None
        What to do with reports over different queries: compare on the queries that all have, or raise an error.
    confidence : float, default=0.95
        Confidence level of the intervals, in (0, 1).
    n_resamples : int, default=None
        Number of resamples of the permutation test; None means 9999. Only for test="permutation".
    random_state : int, RandomState or Generator instance or None, default=None
        Source of the random signs. Only for test="permutation".

    Returns
    -------
    comparison : Comparison
        Prints as a table, also in notebooks.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are fewer than two reports, one lacks the metric, they differ in queries, documents, labels or weights,
        or no query has a value in both; or if ``n_resamples`` or ``random_state`` is given for a test that draws no
        signs.

    Notes
    -----
    Weights of the queries must be the same in all reports. The difference, its interval and the permutation test are
    then those of the weighted mean. The other two tests are not defined for weights and raise an error.

    References
    ----------
    M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
    retrieval evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528

    Examples
    --------
    In each of five queries, the first ranking has the relevant document at rank 1, the second at rank 2. Of the 2^5
    ways to assign signs to five equal differences, two (all plus, all minus) are as extreme, so p = 2/32:

    >>> from skrank_metrics import compare, evaluate
    >>> qid = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    >>> good = evaluate([1, 0] * 5, [2, 1] * 5, qid=qid, metrics="mrr")
    >>> bad = evaluate([1, 0] * 5, [1, 2] * 5, qid=qid, metrics="mrr")
    >>> comparison = compare({"good": good, "bad": bad}, "mrr")
    >>> comparison.pairs[0].difference, comparison.pairs[0].p_value
    (0.5, 0.0625)
    """
    check_choice(test, "test", statistics.TESTS)
    check_choice(correction, "correction", statistics.CORRECTIONS)
    n_signs = _n_signs(test, n_resamples, random_state)
    aligned = align_reports(reports, metric, check_choice(align, "align", ("intersection", None)))
    if aligned.weights is not None and test != "permutation":
        raise ValueError(f"test must be 'permutation' for reports with weights; got {test!r}.")
    how = How(test, statistics.check_confidence(confidence), n_signs, check_random_state(random_state), correction)
    pairs = compare_pairs(aligned, combinations(aligned.values, 2), how)
    names, better = tuple(aligned.values), aligned.greater_is_better
    return Comparison(
        aligned.metric,
        names,
        test,
        correction,
        how.confidence,
        pairs,
        better,
        aligned.weights,
        how.n_resamples,
        aligned.drawn,
    )


def _n_signs(test: str, n_resamples: int | None, random_state: Any) -> int:
    """Number of random signs to draw, 0 for tests that draw none."""
    check_int(n_resamples, "n_resamples", 1, or_none=True)
    if test == "permutation":
        return N_RESAMPLES if n_resamples is None else n_resamples
    for name, value in {"n_resamples": n_resamples, "random_state": random_state}.items():
        if value is not None:
            raise ValueError(
                f"{name} must be left out unless test='permutation', since it has no other effect; got "
                f"{name}={value!r} and test={test!r}."
            )
    return 0


@dataclass(frozen=True)
class How:
    """How pairs are tested."""

    test: str
    confidence: float
    n_resamples: int
    random: Any
    correction: str | None


def compare_pairs(aligned: Aligned, names: Iterable[tuple[str, str]], how: How) -> tuple[Pair, ...]:
    """Compare pairs of rankings, and correct the p-values for their number."""
    pairs = [_compare_two(aligned, first, second, how) for first, second in names]
    adjusted = statistics.adjust(np.array([pair.p_value for pair in pairs]), how.correction)
    return tuple(replace(pair, p_adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True))


def _compare_two(aligned: Aligned, first: str, second: str, how: How) -> Pair:
    """Compare two rankings, the p-value not yet corrected."""
    values = np.stack([aligned.values[first], aligned.values[second]])
    counted = ~np.isnan(values).any(axis=0) & (aligned.weights is None or aligned.weights > 0)
    if not counted.any():
        raise ValueError(f"reports must have a query with a value in both; got none for {first!r} and {second!r}.")
    one, other = values[:, counted]
    differences = statistics.without_rounding(one - other, np.fmax(np.abs(one), np.abs(other)))
    # Only their ratios matter, and products with large ones overflow.
    weights = None if aligned.weights is None else aligned.weights[counted] / aligned.weights.max()
    weighted = differences if weights is None else weights * differences
    found = statistics.moments(differences, weights)
    better = differences if aligned.greater_is_better else -differences
    return Pair(
        first,
        second,
        difference=found.mean,
        interval=statistics.mean_interval(found, aligned.bounds, how.confidence),
        p_value=statistics.p_value(weighted, how.test, how.n_resamples, how.random),
        p_adjusted=np.nan,
        wins=int((better > 0).sum()),
        ties=int((better == 0).sum()),
        losses=int((better < 0).sum()),
        effect_size=found.effect_size,
        n_queries=len(differences),
        differences=differences,
        qid=aligned.qid[counted],
    )

"""Compare rankings of the same queries, and test whether they differ significantly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, overload

import numpy as np

from skrank_metrics._input.arrays import FloatArray, Mask, check_choice, check_int, check_random_state
from skrank_metrics.reports import statistics
from skrank_metrics.reports._alignment import Aligned, align_reports
from skrank_metrics.reports.comparison import Comparison, Comparisons
from skrank_metrics.reports.pair import Pair
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import names_of_slices, queries_of_slices

# Default number of resamples of the permutation test, and the most that the default can become.
N_RESAMPLES, MOST_RESAMPLES = 9_999, 199_999


@overload
def compare(
    reports: Mapping[str, RankingReport] | Any,
    metric: list[Any] | tuple[Any, ...],
    *,
    test: str = ...,
    correction: str | None = ...,
    align: str | None = ...,
    confidence: float = ...,
    n_resamples: int | None = ...,
    random_state: Any = ...,
    by: Any = ...,
) -> Comparisons: ...
@overload
def compare(
    reports: Mapping[str, RankingReport] | Any,
    metric: str | Callable[..., Any] = ...,
    *,
    test: str = ...,
    correction: str | None = ...,
    align: str | None = ...,
    confidence: float = ...,
    n_resamples: int | None = ...,
    random_state: Any = ...,
    by: Any = ...,
) -> Comparison: ...
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
    by: Any = None,
) -> Comparison | Comparisons:
    """Compare rankings of the same queries, per query.

    Comparing query by query reveals small differences: values vary much more between queries than between good models
    on the same query. If there are more than two reports, all pairs are compared.

    Parameters
    ----------
    reports : dict of str to RankingReport, or sequence of RankingReport
        At least two reports, whose queries may be in different orders. Reports in a sequence are named by position:
        "0", "1" and so on. Names become text, by which they must differ.
    metric : str, metric function or bound metric, or list of them, default="ndcg@10"
        A metric that all reports have, by its name there or as passed to evaluate. Queries without a value in one of
        the two reports are left out.
    test : {"permutation", "t", "wilcoxon"}, default="permutation"
        Test that gives the p-values. "permutation" flips the signs of the differences at random, or goes through all
        signs if there are at most n_resamples. "t" is the paired t-test. Both test whether the mean difference is 0.
        "wilcoxon" is the signed-rank test, which tests whether the differences are symmetric around 0: it drops zeros,
        gives ties their mean rank, and is exact for up to 50 differences, else a normal approximation.
    correction : {"holm", "bh"} or None, default="holm"
        Correction of the p-values for the number of pairs. Holm's bounds the probability of any false discovery,
        Benjamini and Hochberg's ("bh") the expected share of false ones among the discoveries.
    align : {"intersection"} or None, default=None
        How to treat reports over different queries: "intersection" compares on the queries that all reports have, None
        raises an error.
    confidence : float, default=0.95
        Confidence level of the intervals, in (0, 1).
    n_resamples : int, default=None
        Number of resamples of the permutation test; no p-value can be below 1 / (n_resamples + 1). None means 9999, or,
        for many tests with Holm's correction, up to 199,999. Only for test="permutation".
    random_state : int, RandomState or Generator instance or None, default=None
        Source of the random signs. Only for test="permutation".
    by : array-like of shape (n_queries,) or (n_documents,), default=None
        Slices to also compare within, such as the country or the type of a query: one value per query of the first
        report, in the order of its qid, or per row that it was evaluated on. A data frame, a dict of columns, or tuples
        make one slice per combination of values, as in evaluate. The p-values of all slices are corrected together.

    Returns
    -------
    comparison : Comparison or Comparisons
        Prints as a table, also in notebooks. A list of metrics gives Comparisons, a mapping with one Comparison per
        metric.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are fewer than two reports, one lacks the metric, they differ in queries, documents, labels or weights,
        or no query has a value in both; if ``by`` has the wrong length, varies within a query or has an index that
        holds the query ids in another order; or if ``n_resamples`` or ``random_state`` is passed for a test that is not
        random.

    Notes
    -----
    Weights of the queries must be the same in all reports. The difference, its interval and the permutation test then
    use the weighted mean. The other two tests are not defined for weights and raise an error.

    Intervals are based on Student's t. If the metric is bounded, half an observation is added on either side, at the
    geometric mean of the largest possible and the largest observed difference, and intervals are clipped to the bounds.

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
    how = check_how(test, correction, confidence, n_resamples, random_state)
    check_choice(align, "align", ("intersection", None))
    if isinstance(metric, list | tuple):
        if not metric:
            raise ValueError("metric must name at least one metric; got none.")
        found = [_compare(align_reports(reports, one, align, by), how) for one in metric]
        return Comparisons({comparison.metric: comparison for comparison in found})
    return _compare(align_reports(reports, metric, align, by), how)


@dataclass(frozen=True)
class How:
    """How pairs are tested."""

    test: str
    confidence: float
    n_resamples: int | None
    random: Any
    correction: str | None

    def n_signs(self, n_tests: int) -> int:
        """Number of random signs; grows with the number of tests, by which Holm's correction multiplies p-values."""
        if self.test != "permutation":
            return 0
        if self.n_resamples is not None:
            return self.n_resamples
        needed = 10 * n_tests / (1 - self.confidence) if self.correction == "holm" else 0
        return int(np.clip(np.ceil(needed), N_RESAMPLES, MOST_RESAMPLES))


def check_how(test: Any, correction: Any, confidence: Any, n_resamples: Any, random_state: Any) -> How:
    """Check how pairs are to be tested."""
    check_choice(test, "test", statistics.TESTS)
    check_choice(correction, "correction", statistics.CORRECTIONS)
    check_int(n_resamples, "n_resamples", 1, or_none=True)
    for name, value in {"n_resamples": n_resamples, "random_state": random_state}.items():
        if test != "permutation" and value is not None:
            raise ValueError(
                f"{name} must be left out unless test='permutation', since it has no effect otherwise; got "
                f"{name}={value!r} and test={test!r}."
            )
    confidence = statistics.check_confidence(confidence)
    return How(test, confidence, n_resamples, check_random_state(random_state), correction)


def _compare(aligned: Aligned, how: How) -> Comparison:
    """Compare all pairs, over all queries and by slice."""
    check_weights(aligned.weights is not None, how)
    names = list(combinations(aligned.values, 2))
    whole = _comparison(aligned, names, how, len(names))
    if aligned.by is None:
        return whole
    parts = {value: aligned.part(rows) for value, rows in queries_of_slices(aligned.by)}
    filled = {value: part for value, part in parts.items() if has_values(part)}
    found = [_comparison(part, names, how, len(names) * len(filled)) for part in filled.values()]
    p_values = [pair.p_value for comparison in found for pair in comparison.pairs]
    adjusted = iter(statistics.adjust(np.array(p_values), how.correction).tolist())
    slices = {
        value: replace(part, pairs=tuple(replace(pair, p_adjusted=next(adjusted)) for pair in part.pairs))
        for value, part in zip(filled, found, strict=True)
    }
    names_left = {value: name for value, name in names_of_slices(parts).items() if value not in filled}
    return replace(whole, slices=slices, _left_out=tuple(names_left.values()))


def check_weights(weighted: bool, how: How) -> None:
    """Refuse tests that are not defined for weights."""
    if weighted and how.test != "permutation":
        raise ValueError(f"test must be 'permutation' for weighted queries; got {how.test!r}.")


def _comparison(aligned: Aligned, names: list[tuple[str, str]], how: How, n_tests: int) -> Comparison:
    return Comparison(
        aligned.metric,
        tuple(aligned.values),
        how.test,
        how.correction,
        how.confidence,
        compare_pairs(aligned, names, how, n_tests),
        aligned.greater_is_better,
        aligned.weights,
        how.n_signs(n_tests),
        n_tests,
        _means={name: _mean(aligned, name) for name in aligned.values},
        _drawn=aligned.drawn,
        _reports=aligned.reports,
    )


def _mean(aligned: Aligned, name: str) -> float:
    """Mean of a ranking over the aligned queries; that of the report if these are all of its queries."""
    report, column = aligned.reports[name]
    if len(aligned.qid) == report.n_queries:
        return report.mean[column]
    return statistics.moments(aligned.values[name], aligned.weights).mean


def compare_pairs(
    aligned: Aligned, names: Sequence[tuple[str, str]], how: How, n_tests: int | None = None
) -> tuple[Pair, ...]:
    """Compare pairs of rankings, and correct the p-values for their number."""
    n_signs = how.n_signs(len(names) if n_tests is None else n_tests)
    pairs = [_compare_two(aligned, first, second, how) for first, second in names]
    p_values = _p_values(aligned, pairs, how, n_signs)
    adjusted = statistics.adjust(p_values, how.correction)
    return tuple(
        replace(pair, p_value=float(p), p_adjusted=float(corrected))
        for pair, p, corrected in zip(pairs, p_values, adjusted, strict=True)
    )


def _p_values(aligned: Aligned, pairs: list[Pair], how: How, n_signs: int) -> FloatArray:
    """P-values of the pairs. If there are more pairs than rankings, all pairs share the random signs."""
    weighted = [_weighted(aligned, pair) for pair in pairs]
    p_values = np.full(len(pairs), np.nan)
    shared: list[int] = []
    usable = _usable(aligned, list(aligned.values))
    if how.test == "permutation" and len(pairs) > len(aligned.values):
        n_changed = [np.count_nonzero(differences) for differences in weighted]
        few = np.log2(n_signs + 1)
        shared = [i for i, n in enumerate(n_changed) if n > few and len(weighted[i]) == np.count_nonzero(usable)]
    for i in sorted(set(range(len(pairs))).difference(shared)):
        p_values[i] = statistics.p_value(weighted[i], how.test, n_signs, how.random)
    if shared:
        place = {name: number for number, name in enumerate(aligned.values)}
        numbers = np.array([(place[pairs[i].first], place[pairs[i].second]) for i in shared])
        values = np.stack(list(aligned.values.values()))[:, usable] * _scaled_weights(aligned)[usable]
        p_values[shared] = statistics.sign_flip_ps(values, numbers, n_signs, how.random)
    return p_values


def _usable(aligned: Aligned, names: Iterable[str]) -> Mask:
    """Queries with a weight above 0 and a value in these rankings."""
    lacks_one: Mask = np.any([np.isnan(aligned.values[name]) for name in names], axis=0)
    return ~lacks_one if aligned.weights is None else ~lacks_one & (aligned.weights > 0)


def has_values(aligned: Aligned) -> bool:
    """Whether every pair of rankings has a query with a value in both."""
    return all(_usable(aligned, pair).any() for pair in combinations(aligned.values, 2))


def _scaled_weights(aligned: Aligned) -> FloatArray:
    # Only the ratios of weights matter, and products with large weights overflow.
    return np.ones(len(aligned.qid)) if aligned.weights is None else aligned.weights / aligned.weights.max()


def _weighted(aligned: Aligned, pair: Pair) -> FloatArray:
    weights = _scaled_weights(aligned)[_usable(aligned, (pair.first, pair.second))]
    return pair.differences if aligned.weights is None else weights * pair.differences


def _compare_two(aligned: Aligned, first: str, second: str, how: How) -> Pair:
    """Compare two rankings, without the p-values."""
    usable = _usable(aligned, (first, second))
    if not usable.any():
        raise ValueError(f"reports must have a query with a value in both; got none for {first!r} and {second!r}.")
    kept = slice(None) if usable.all() else usable  # with many pairs, copies would fill the memory
    one, other = aligned.values[first][kept], aligned.values[second][kept]
    differences = statistics.without_rounding(one - other, np.fmax(np.abs(one), np.abs(other)))
    weights = None if aligned.weights is None else _scaled_weights(aligned)[usable]
    found = statistics.moments(differences, weights)
    better = differences if aligned.greater_is_better else -differences
    return Pair(
        first,
        second,
        difference=found.mean,
        interval=statistics.difference_interval(found, aligned.largest_difference, how.confidence),
        p_value=np.nan,
        p_adjusted=np.nan,
        wins=int((better > 0).sum()),
        ties=int((better == 0).sum()),
        losses=int((better < 0).sum()),
        effect_size=found.effect_size,
        n_queries=len(differences),
        differences=differences,
        qid=aligned.qid[kept],
        values=(one, other),
        _per_effective=1.0 if weights is None else round(len(differences) / found.n_effective, 9),
    )

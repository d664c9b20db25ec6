"""Which of several rankings of the same queries is better, and whether the difference is significant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, check_choice, check_int, check_random_state
from skrank_metrics._output.call import records_call
from skrank_metrics._output.chart import MOST_MARKS, Chart, Mark
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, p_text, signed
from skrank_metrics.reports import statistics
from skrank_metrics.reports._alignment import Aligned, align_reports
from skrank_metrics.reports.ranking_report import RankingReport

# Of the permutation test, unless it is given.
N_RESAMPLES = 9999
# Of the number of queries that would show a difference, and how many pairs have theirs printed.
POWER, MOST_PAIRS = 0.8, 4


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared.

    Attributes
    ----------
    first, second : str
        Names of the rankings.
    difference : float
        Mean of the first minus mean of the second.
    interval : tuple of float
        Lower and upper end of the interval of the difference; NaN if fewer than two queries have a value in both, or
        the metric is unbounded and all differences are equal.
    p_value, p_adjusted : float
        Before and after the correction for the number of pairs. NaN for the t-test of equal differences, which have no
        spread to test against.
    wins, ties, losses : int
        Number of queries on which the first is better, equal and worse.
    effect_size : float
        The difference divided by the standard deviation of the differences; NaN if there is only one query.
    n_queries : int
        Number of queries with a value in both and a weight above 0.
    differences, qid : ndarray of shape (n_queries,)
        Their differences and ids.
    """

    first: str
    second: str
    difference: float
    interval: tuple[float, float]
    p_value: float
    p_adjusted: float
    wins: int
    ties: int
    losses: int
    effect_size: float
    n_queries: int
    differences: FloatArray
    qid: NDArray[Any]


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Differences between rankings of the same queries, with their significance.

    Prints as a table, also in notebooks. ``to_frame()`` gives one row per pair, with the ends of the interval as "low"
    and "high".

    Attributes
    ----------
    metric : str
        Name of the metric.
    names : tuple of str
        Names of the rankings.
    test : str
        The test that gave the p-values.
    correction : str or None
        How p-values are corrected for the number of pairs.
    confidence : float
        Confidence level of the intervals. Two rankings are significantly different if the adjusted p-value is at most
        1 - confidence.
    pairs : tuple of Pair
        One per pair of rankings, with attributes ``first``, ``second``, ``difference``, ``interval``, ``p_value``,
        ``p_adjusted``, ``wins``, ``ties``, ``losses``, ``effect_size``, ``n_queries``, ``differences`` and ``qid``.
    greater_is_better : bool
        Whether larger values of the metric are better.
    weights : ndarray or None
        Weights of the queries that all reports have; None if there are none.
    n_resamples : int
        Number of random signs of the permutation test; 0 for the other tests.
    """

    metric: str
    names: tuple[str, ...]
    test: str
    correction: str | None
    confidence: float
    pairs: tuple[Pair, ...]
    greater_is_better: bool
    weights: FloatArray | None
    n_resamples: int
    _drawn: tuple[str, ...] = ()

    def significant(self) -> list[Pair]:
        """List the pairs that are significantly different.

        Returns
        -------
        pairs : list of Pair
            Those of ``pairs`` whose adjusted p-value is at most 1 - confidence.
        """
        return [pair for pair in self.pairs if pair.p_adjusted <= self._level]

    @property
    def _level(self) -> float:
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1

    def _parts(self) -> list[Part]:
        correction = statistics.CORRECTIONS[self.correction]
        columns = (
            Column(None, names=("first",)),
            Column(None, names=("second",)),
            Column("first - second", names=()),
            Column("difference", signed),
            Column(f"{100 * self.confidence:g}% interval", signed, ("low", "high")),
            *("wins", "ties", "losses"),
            Column("effect size", _effect_text, ("effect_size",)),
            Column("p", p_text, ("p_value",)),
            Column("adjusted p" if correction else None, p_text, ("p_adjusted",)),
            Column(None, names=("n_queries",)),
        )
        rows = [
            (
                *(p.first, p.second, f"{p.first} - {p.second}", p.difference, p.interval),
                *(p.wins, p.ties, p.losses, p.effect_size, p.p_value, p.p_adjusted, p.n_queries),
            )
            for p in self.pairs
        ]
        fewest, most = (extreme(pair.n_queries for pair in self.pairs) for extreme in (min, max))
        some_lack_one = any(np.isnan(pair.interval[0]) for pair in self.pairs)
        different, untested = (
            ", ".join(f"{pair.first} and {pair.second}" for pair in pairs)
            for pairs in (self.significant(), [pair for pair in self.pairs if np.isnan(pair.p_value)])
        )
        adjusted = f"Adjusted: {correction}, {counted(len(self.pairs), 'pair')}. " if correction else ""
        queries = f"{f'{fewest} to ' * (fewest < most)}{counted(most, 'query')}"
        return [
            f"{self.metric}, {queries}, {statistics.TESTS[self.test]}",
            Table(columns, rows),
            f"{adjusted}Intervals: {statistics.METHOD}, not adjusted{statistics.NONE if some_lack_one else ''}.",
            *statistics.weighting(self.weights),
            *self._drawn,
            *self._lack_of_power(),
            f"Significantly different at {self._level:.2g}: {different or 'none'}.",
            *([f"Not tested, as all differences are equal: {untested}."] if untested else []),
            *self._queries_needed(),
        ]

    def _charts(self) -> list[Chart]:
        marks = [
            Mark(f"{pair.first} - {pair.second}", pair.difference, signed(pair.difference), pair.interval)
            for pair in self.pairs
        ]
        title = f"{self.metric}: difference and its {100 * self.confidence:g}% interval"
        return [Chart(title, marks[:MOST_MARKS], reference=0.0)]

    def _lack_of_power(self) -> Iterator[str]:
        """Say that no difference, however clear, could have been significant."""
        n_tests = len(self.pairs) if self.correction == "holm" else 1
        changed = max(pair.wins + pair.losses for pair in self.pairs)
        least = statistics.smallest_p(changed, self.test, self.n_resamples) * n_tests
        if least > self._level and changed:
            pairs = f" for {n_tests} pairs" if n_tests > 1 else ""
            few_signs = self.test == "permutation" and 2**changed > self.n_resamples
            more = "a larger n_resamples" if few_signs else "reports of more queries"
            yield f"No difference could be significant: p is at least {min(least, 1):.4f}{pairs}. Pass {more}."

    def _queries_needed(self) -> Iterator[str]:
        """Say how many queries would show the differences that are not significant, if they are as large as they seem.

        Of several pairs, each is to be significant even if the correction multiplies its p-value by their number.
        """
        confidence = 1 - self._level / (len(self.pairs) if self.correction else 1)
        unequal = 1.0
        if self.weights is not None:
            n_effective = statistics.moments(self.weights, self.weights).n_effective
            unequal = round(np.sum(self.weights > 0) / n_effective, 9)
        needed = [
            (statistics.n_for_power(pair.effect_size, POWER, confidence) * unequal, pair)
            for pair in self.pairs
            if pair.p_adjusted > self._level and statistics.NO_EFFECT <= abs(pair.effect_size) < np.inf
        ]
        if needed:
            fewest = sorted(needed, key=lambda found: found[0])
            texts = [f"{np.ceil(n):,.0f} for {pair.first} and {pair.second}" for n, pair in fewest[:MOST_PAIRS]]
            rest = ["more for the others"] if len(fewest) > MOST_PAIRS else []
            yield f"Queries needed to detect the difference seen, with a power of {POWER}: {', '.join(texts + rest)}."


def _effect_text(size: float) -> str:
    return "none" if np.isnan(size) else f"{size:+.2f}"


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

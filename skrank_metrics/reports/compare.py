"""Which of several rankings of the same queries is better, and whether that can be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, check_choice, check_int, check_random_state
from skrank_metrics._output.result import Framed, Part, Printed, Table, columns_of, counted, interval_text, p_text
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.statistics import (
    CORRECTIONS,
    METHOD,
    TESTS,
    TOO_FEW,
    Moments,
    adjust,
    check_confidence,
    mean_interval,
    moments,
    p_value,
)


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Printed, Framed):
    """Differences between rankings of the same queries, with what can be told of them.

    Prints as a table, in notebooks too; ``to_frame()`` gives a row a pair, with the ends of the interval as "low" and
    "high".

    Attributes
    ----------
    metric : str
        What is compared.
    names : tuple of str
        Names of the rankings.
    test : str
        Of which test the p-values are.
    correction : str or None
        For how many tests p-values are corrected, and how.
    confidence : float
        Of the intervals; pairs are told apart where the adjusted p-value is at most 1 - confidence.
    pairs : tuple
        Every two rankings: ``first`` and ``second``; ``difference`` (mean of the first minus mean of the second) and
        its ``interval`` (low, high), NaN for fewer than two queries; ``p_value`` and ``p_adjusted``; ``wins``, ``ties``
        and ``losses`` (queries for which the first is better, as good, worse); ``effect_size`` (the difference in
        standard deviations of the differences); ``n_queries`` with a value in both, their ``qid`` and ``differences``.
    greater_is_better : bool
        Whether larger values of the metric are better.
    """

    _same_as: ClassVar[str] = "pairs"

    metric: str
    names: tuple[str, ...]
    test: str
    correction: str | None
    confidence: float
    pairs: tuple[Pair, ...]
    greater_is_better: bool

    def told_apart(self) -> list[Pair]:
        """List the pairs that can be told apart.

        Returns
        -------
        pairs : list
            Those of ``pairs`` whose adjusted p-value is at most 1 - confidence.
        """
        return [pair for pair in self.pairs if pair.p_adjusted <= 1 - self.confidence]

    def _columns(self) -> dict[str, list[Any]]:
        hidden = ("differences", "qid", "interval")
        rows = [
            {
                **{name: value for name, value in vars(pair).items() if name not in hidden},
                "low": pair.interval[0],
                "high": pair.interval[1],
            }
            for pair in self.pairs
        ]
        return columns_of(rows)

    def _parts(self) -> list[Part]:
        heads = ["first - second", "difference", f"{self.confidence:.0%} interval", "wins", "ties", "losses"]
        heads += ["effect size", "p", "adjusted p"]
        rows = [
            (
                f"{pair.first} - {pair.second}",
                f"{pair.difference:+.4f}",
                interval_text(pair.interval, "+"),
                *map(str, (pair.wins, pair.ties, pair.losses)),
                f"{pair.effect_size:+.2f}",
                p_text(pair.p_value),
                p_text(pair.p_adjusted),
            )
            for pair in self.pairs
        ]
        n_queries = sorted({pair.n_queries for pair in self.pairs})
        counts = " to ".join(str(number) for number in dict.fromkeys((n_queries[0], n_queries[-1])))
        apart = [f"{pair.first} and {pair.second}" for pair in self.told_apart()]
        return [
            f"{self.metric}, {counts} {'query' if counts == '1' else 'queries'}, {TESTS[self.test]}",
            Table(heads, rows),
            f"Adjusted: {CORRECTIONS[self.correction]}, {counted(len(self.pairs), 'pair')}. "
            f"Intervals: {METHOD}, not adjusted{TOO_FEW if n_queries[0] < 2 else ''}.",
            f"Told apart at {1 - self.confidence:.2g}: {', '.join(apart) or 'none'}.",
        ]


def compare(
    reports: Mapping[str, RankingReport] | Any,
    metric: str = "ndcg@10",
    *,
    test: str = "permutation",
    correction: str | None = "holm",
    align: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Comparison:
    """Compare rankings of the same queries, query by query.

    Differences are taken query by query, which is what makes small ones visible: queries differ much more from each
    other than good models do on one of them. Of several reports every pair is compared.

    Parameters
    ----------
    reports : dict of str to RankingReport, or sequence of RankingReport
        What to compare, two reports at least. They may hold their queries in different orders. Those of a sequence are
        called by their places, "0", "1", and so on.
    metric : str, default="ndcg@10"
        A metric that all reports have, by its name there. A query without a value in one of two reports is left out.
    test : {"permutation", "t", "wilcoxon"}, default="permutation"
        Where the p-values come from: random signs of the differences (all of them, where they are at most
        n_resamples), Student's t, or signed ranks. The first two test the mean of the differences, the third another
        null hypothesis: that the differences are symmetric around 0.
    correction : {"holm", "bh"} or None, default="holm"
        For several pairs: Holm keeps the chance of one false discovery or more at the level, Benjamini and Hochberg
        keep the expected share of false ones among the discoveries.
    align : {"intersection"} or None, default=None
        What to do with reports over different queries: compare on those that all have, or refuse.
    confidence : float, default=0.95
        Of the intervals, in (0, 1).
    n_resamples : int, default=9999
        Number of random signs of the permutation test.
    random_state : int, RandomState or Generator instance or None, default=None
        Where the random signs come from.

    Returns
    -------
    comparison : Comparison
        Prints as a table, in notebooks too.

    Raises
    ------
    TypeError
        Where an argument is of the wrong type.
    ValueError
        Where there are fewer than two reports, one of them lacks the metric, they are over different queries or
        weighted differently, or no query has a value in both.

    Notes
    -----
    Weights of the queries, which have to be the same in all reports, weight the differences: the mean, its interval
    and the permutation test are of the weighted mean. The other two tests are not defined with weights and are refused.

    References
    ----------
    M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
    retrieval evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528

    Examples
    --------
    The first ranking has the relevant document at rank 1 in all of five queries, the second at rank 2. Of the 2^5 ways
    to give signs to five equal differences, two (all plus, all minus) are as extreme, so that p = 2/32:

    >>> from skrank_metrics import compare, evaluate
    >>> qid = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    >>> good = evaluate([1, 0] * 5, [2, 1] * 5, qid=qid, metrics="mrr")
    >>> bad = evaluate([1, 0] * 5, [1, 2] * 5, qid=qid, metrics="mrr")
    >>> comparison = compare({"good": good, "bad": bad}, "mrr")
    >>> comparison.pairs[0].difference, comparison.pairs[0].p_value
    (0.5, 0.0625)
    """
    check_choice(test, "test", TESTS)
    check_choice(correction, "correction", CORRECTIONS)
    check_int(n_resamples, "n_resamples", 1)
    aligned = align_reports(reports, metric, check_choice(align, "align", ("intersection", None)))
    if aligned.weights is not None and test != "permutation":
        raise ValueError(f"test must be 'permutation' for reports with weights; got {test!r}.")
    how = How(test, check_confidence(confidence), n_resamples, check_random_state(random_state))
    pairs = [compare_two(aligned, first, second, how) for first, second in combinations(aligned.values, 2)]
    adjusted = adjust(np.array([pair.p_value for pair in pairs]), correction)
    pairs = [replace(pair, p_adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]
    return Comparison(
        metric, tuple(aligned.values), test, correction, how.confidence, tuple(pairs), aligned.greater_is_better
    )


# Values that differ by less are sums of the same terms in another order.
ROUNDING = 1e-12


@dataclass(frozen=True)
class How:
    """How pairs are tested."""

    test: str
    confidence: float
    n_resamples: int
    random: Any


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared; see Comparison."""

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


def compare_two(aligned: Aligned, first: str, second: str, how: How) -> Pair:
    """All that is known of two rankings but the p-value that accounts for the others."""
    differences = aligned.values[first] - aligned.values[second]
    defined = ~np.isnan(differences)
    if not defined.any():
        raise ValueError(f"reports must have a query with a value in both; got none for {first!r} and {second!r}.")
    differences = differences[defined]
    differences[np.abs(differences) < ROUNDING] = 0.0
    weights = None if aligned.weights is None else aligned.weights[defined]
    weighted = differences if weights is None else weights * differences
    found = moments(differences, weights)
    better = differences if aligned.greater_is_better else -differences
    return Pair(
        first,
        second,
        difference=found.mean,
        interval=mean_interval(differences, weights, how.confidence),
        p_value=p_value(weighted, how.test, how.n_resamples, how.random),
        p_adjusted=np.nan,
        wins=int((better > 0).sum()),
        ties=int((better == 0).sum()),
        losses=int((better < 0).sum()),
        effect_size=_effect_size(found),
        n_queries=len(differences),
        differences=differences,
        qid=aligned.qid[defined],
    )


def _effect_size(found: Moments) -> float:
    if found.std > 0 or np.isnan(found.std):
        return found.mean / found.std
    return float(np.copysign(np.inf, found.mean)) if found.mean else 0.0


@dataclass(frozen=True)
class Aligned:
    """A metric of several rankings, query by query."""

    values: dict[str, FloatArray]  # by name of the ranking
    qid: NDArray[Any]
    weights: FloatArray | None
    greater_is_better: bool


def align_reports(reports: Any, metric: str, align: str | None) -> Aligned:
    """Check that reports can be compared, and order them alike."""
    named = _named(reports)
    _check_metric(named, metric)
    places = _places(named, align)
    _check_documents(named, places)
    first = next(iter(named))
    return Aligned(
        {name: report.per_query[metric][places[name]] for name, report in named.items()},
        named[first].qid[places[first]],
        _common_weights(named, places),
        named[first].metrics[metric].greater_is_better,
    )


def _named(reports: Any) -> dict[str, RankingReport]:
    if not isinstance(reports, Iterable):
        hint = " Pass its reports." if hasattr(reports, "reports") else ""
        raise TypeError(f"reports must be a dict or a sequence of reports; got {type(reports).__name__}.{hint}")
    named = dict(reports) if isinstance(reports, Mapping) else {str(i): report for i, report in enumerate(reports)}
    for name, report in named.items():
        if not isinstance(report, RankingReport):
            raise TypeError(f"reports must hold reports of evaluate; got {type(report).__name__} as {name!r}.")
    if len(named) < 2:
        raise ValueError(f"reports must hold at least two reports, as two are compared; got {len(named)}.")
    return named


def _check_metric(named: dict[str, RankingReport], metric: str) -> None:
    for name, report in named.items():
        if metric not in report.mean:
            raise ValueError(
                f"metric must be one that every report has; got {metric!r}, and {name!r} has {', '.join(report.mean)}. "
                "Pass another, or evaluate with it."
            )
        check_by_query(metric, report.metrics[metric])
    first = next(iter(named))
    for name, report in named.items():
        if report.metrics[metric].definition != named[first].metrics[metric].definition:
            raise ValueError(
                f"reports must compute {metric!r} alike; got {named[first].metrics[metric]} in {first!r} and "
                f"{report.metrics[metric]} in {name!r}. Evaluate with the same convention, ties and "
                "replace_undefined_by."
            )


def check_by_query(name: str, metric: BoundMetric) -> None:
    """Refuse what has no mean over queries."""
    if metric.average == "micro":
        raise ValueError(
            f"metric must be a mean over queries; got {name!r}, which is pooled over documents and cannot be compared "
            "query by query. Evaluate without average=micro."
        )


def _places(named: dict[str, RankingReport], align: str | None) -> dict[str, IntArray]:
    """Where each report has the queries of the first one that are compared."""
    numbers = {
        name: {query: place for place, query in enumerate(report.qid.tolist())} for name, report in named.items()
    }
    first, *others = numbers
    common = [query for query in numbers[first] if all(query in numbers[other] for other in others)]
    for name in named:
        if align is None and len(numbers[name]) > len(common):
            other = next(other for other in named if numbers[other].keys() != numbers[name].keys())
            both = len(numbers[name].keys() & numbers[other].keys())
            raise ValueError(
                f"reports must be over the same queries; got {len(numbers[name])} in {name!r} and "
                f"{len(numbers[other])} in {other!r}, {both} of them in both. Pass align='intersection' to compare on "
                "those that all have."
            )
    if not common:
        raise ValueError("reports must have a query in common; got none. Are their ids of the same type?")
    return {name: np.array([place[query] for query in common]) for name, place in numbers.items()}


def _check_documents(named: dict[str, RankingReport], places: dict[str, IntArray]) -> None:
    """Refuse queries with other documents or labels, whose differences are not those of the rankings alone."""
    first = next(iter(named))
    found = {}
    for name, report in named.items():
        sizes, labels = report.documents
        found[name] = sizes[places[name]], labels[places[name]]
        differs = (found[name][0] != found[first][0]) | ~np.isclose(found[name][1], found[first][1], rtol=1e-9, atol=0)
        if differs.any():
            place = int(np.flatnonzero(differs)[0])
            query = named[first].qid[places[first]].tolist()[place]
            one, other = (f"{found[n][0][place]} with a sum of labels of {found[n][1][place]:g}" for n in (first, name))
            raise ValueError(
                f"reports must be of the same documents with the same labels; got {one} in {first!r} and {other} in "
                f"{name!r} for the query {query!r}. Evaluate on all documents of "
                "either; retrieved= tells which of them a ranking has."
            )


def _common_weights(named: dict[str, RankingReport], places: dict[str, IntArray]) -> FloatArray | None:
    weights = {name: report.weights[places[name]] for name, report in named.items() if report.weights is not None}
    if not weights:
        return None
    first = next(iter(weights))
    for name in named:
        if name not in weights or not np.array_equal(weights[name], weights[first]):
            raise ValueError(
                f"reports must weight their queries alike; got other weights in {name!r} than in {first!r}. Evaluate "
                "with the same sample_weight."
            )
    return weights[first]

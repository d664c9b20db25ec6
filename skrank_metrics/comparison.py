"""Which of several rankings of the same queries is better, and whether that can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from skrank_metrics._alignment import align_reports
from skrank_metrics._differences import How, Pair, compare_two
from skrank_metrics._frames import Framed, columns_of
from skrank_metrics._intervals import METHOD, TOO_FEW, check_confidence
from skrank_metrics._paired_tests import CORRECTIONS, TESTS, adjust
from skrank_metrics._printed import Part, Printed, Table, counted, interval_text, p_text
from skrank_metrics._validation import check_choice, check_int, check_random_state
from skrank_metrics.report import RankingReport

__all__ = ["Comparison", "compare"]


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

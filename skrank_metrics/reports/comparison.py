"""The result of comparing rankings of the same queries by one or several metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, check_int
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, p_text, signed
from skrank_metrics.reports import statistics
from skrank_metrics.reports._standings import LETTERS, best_first, letters
from skrank_metrics.reports.inspection import Inspection
from skrank_metrics.reports.pair import Pair, QueryDifference
from skrank_metrics.reports.ranking_report import RankingReport, inspect_reports
from skrank_metrics.reports.slices import ALL, names_of_slices

# Power for the number of queries needed, and the number of pairs for which that number is printed.
POWER, MOST_PAIRS = 0.8, 4
# More pairs than this are printed as a matrix of significant differences, if it fits into 80 columns.
MOST_ROWS, WIDEST_MATRIX = 10, 20


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Differences between rankings of the same queries, with their significance.

    Prints as a table of all pairs, also in notebooks. If there are more than ten pairs, it prints the differences from
    the best and a matrix of the significant ones. ``to_frame()`` gives one row per pair, with the ends of the interval
    as "low" and "high". With slices, a column "slice" holds "all", and rows for the pairs of each slice follow.

    Attributes
    ----------
    metric : str
        Name of the metric.
    names : tuple of str
        Names of the rankings.
    test : str
        The test that gave the p-values.
    correction : str or None
        Correction of the p-values for the number of pairs.
    confidence : float
        Confidence level of the intervals. Two rankings are significantly different if the adjusted p-value is at most
        1 - confidence.
    pairs : tuple of Pair
        One per pair of rankings, with attributes ``first``, ``second``, ``difference``, ``interval``, ``p_value``,
        ``p_adjusted``, ``wins``, ``ties``, ``losses``, ``effect_size``, ``n_queries``, ``differences``, ``qid`` and
        ``values``.
    greater_is_better : bool
        Whether larger values of the metric are better.
    weights : ndarray or None
        Weights of the queries, which all reports share; None if there are none.
    n_resamples : int
        Number of random signs of the permutation test; 0 for the other tests.
    n_tests : int
        Number of p-values that are corrected together: one per pair, or, in a slice, those of all slices.
    slices : dict of object to Comparison
        Comparison within each slice; empty without ``by``.
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
    n_tests: int
    slices: dict[Any, Comparison] = field(default_factory=dict)
    _means: Mapping[str, float] = field(default_factory=dict)
    _drawn: tuple[str, ...] = ()
    _reports: Mapping[str, tuple[RankingReport, str]] = field(default_factory=dict)  # with their names for the metric
    _left_out: tuple[str, ...] = ()  # slices without values

    def significant(self) -> list[Pair]:
        """List the pairs that are significantly different.

        Returns
        -------
        pairs : list of Pair
            Those of ``pairs`` whose adjusted p-value is at most 1 - confidence.
        """
        return [pair for pair in self.pairs if pair.p_adjusted <= self.level]

    def inspect(
        self,
        n: int | None = None,
        first: str | None = None,
        second: str | None = None,
        *,
        qid: Any = None,
        documents: Any = None,
        n_ranks: int | None = None,
    ) -> Inspection:
        """Show two rankings side by side for the queries on which they differ most.

        Parameters
        ----------
        n : int, default=None
            Number of queries to show: those with the largest differences in either direction. None means 3. Must be
            left out if ``qid`` is passed.
        first : str, default=None
            Name of the first ranking. None, for both, takes the first pair.
        second : str, default=None
            Name of the second ranking.
        qid : query id, or sequence of query ids, default=None
            Queries to show instead of those with the largest differences.
        documents, n_ranks : default=None
            As in RankingReport.inspect. The documents must belong to the rows of both reports.

        Returns
        -------
        inspection : Inspection
            Prints as one table per query and ranking.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If the comparison has no such pair, ``n`` is less than 1, an id is not in the reports, or a report did not
            keep labels and scores.

        Examples
        --------
        The relevant document is at rank 1 or at rank 2:

        >>> from skrank_metrics import compare, evaluate
        >>> labels, qid = [1, 0, 1, 0], ["a", "a", "b", "b"]
        >>> new = evaluate(labels, [2, 1, 2, 1], qid=qid, metrics="mrr")
        >>> old = evaluate(labels, [2, 1, 1, 2], qid=qid, metrics="mrr")
        >>> print(compare({"new": new, "old": old}, "mrr").inspect(1))
        mrr of 1 query
        Query b: new 1.0000, old 0.5000, difference +0.5000; 1 relevant document
        new: 1.0000, 100% of the ideal
        rank  row  label  score    adds   ideal  share
        1       2      1      2  1.0000  1.0000   100%
        2       3      0      1  0.0000  0.0000     0%
        old: 0.5000, 50% of the ideal
        rank  row  label  score    adds   ideal  share
        1       3      0      2  0.0000  1.0000     0%
        2       2      1      1  0.5000  0.0000    50%
        adds: what a rank adds to mrr; ideal: what it adds in the ideal order; share:
        what it adds, as a share of the ideal value.
        """
        if n is not None and qid is not None:
            raise ValueError(f"n must be left out if qid names the queries; got n={n} and qid={qid!r}.")
        shown = 3 if check_int(n, "n", 1, or_none=True) is None else n
        pair = self.pair(first, second)
        if qid is None:
            largest = np.argsort(-np.abs(pair.differences), kind="stable")[:shown]
            qid = as_python(pair.qid[largest])
        chosen = {name: self._reports[name] for name in (pair.first, pair.second)}
        return inspect_reports(chosen, qid, documents, n_ranks)

    @property
    def level(self) -> float:
        """Significance level, 1 - confidence."""
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """The names, best mean first."""
        return tuple(best_first(self._means, greater_is_better=self.greater_is_better))

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letters by name, best first: two names share a letter if and only if they are not significantly different."""
        return letters(self.ranking, ((pair.first, pair.second) for pair in self.significant()))

    def pair(self, first: str | None = None, second: str | None = None) -> Pair:
        """Select a pair, in either direction.

        Parameters
        ----------
        first : str, default=None
            Name of the first ranking. None, for both, takes the first pair.
        second : str, default=None
            Name of the second ranking, whose values are subtracted.

        Returns
        -------
        pair : Pair
            The pair.

        Raises
        ------
        ValueError
            If the comparison has no such pair.
        """
        if first is None and second is None:
            return self.pairs[0]
        wanted = (str(first), str(second))
        for pair in self.pairs:
            if (pair.first, pair.second) == wanted:
                return pair
            if (pair.second, pair.first) == wanted:
                return pair.reversed()
        known = ", ".join(self.names)
        raise ValueError(f"first and second must be two of {known}; got {first!r} and {second!r}.")

    def worst(self, n: int = 10, first: str | None = None, second: str | None = None) -> list[QueryDifference]:
        """List the queries on which the first ranking loses most against the second.

        Parameters
        ----------
        n : int, default=10
            Number of queries; if the first loses on fewer queries, only those are listed.
        first : str, default=None
            Name of the first ranking. None, for both, takes the first pair.
        second : str, default=None
            Name of the second ranking.

        Returns
        -------
        queries : list of QueryDifference
            Named tuples of ``qid``, the two values, ``first`` and ``second``, and their ``difference``, the largest
            loss first. Pass them to ``pandas.DataFrame`` to get a table.

        Raises
        ------
        ValueError
            If the comparison has no such pair, or n is less than 1.
        """
        return self._by_lead(check_int(n, "n", 1), self.pair(first, second), -1)

    def best(self, n: int = 10, first: str | None = None, second: str | None = None) -> list[QueryDifference]:
        """List the queries on which the first ranking wins most against the second.

        Parameters
        ----------
        n : int, default=10
            Number of queries; if the first wins on fewer queries, only those are listed.
        first : str, default=None
            Name of the first ranking. None, for both, takes the first pair.
        second : str, default=None
            Name of the second ranking.

        Returns
        -------
        queries : list of QueryDifference
            As returned by ``worst``, the largest win first.

        Raises
        ------
        ValueError
            If the comparison has no such pair, or n is less than 1.
        """
        return self._by_lead(check_int(n, "n", 1), self.pair(first, second), 1)

    def _by_lead(self, n: int | None, pair: Pair, sign: int) -> list[QueryDifference]:
        lead = sign * (pair.differences if self.greater_is_better else -pair.differences)
        order = np.argsort(-lead, kind="stable")[:n]
        order = order[lead[order] > 0]
        columns = (as_python(pair.qid[order]), *(own[order].tolist() for own in (*pair.values, pair.differences)))
        return [QueryDifference(*row) for row in zip(*columns, strict=True)]

    def _parts(self) -> list[Part]:
        fewest, most = (extreme(pair.n_queries for pair in self.pairs) for extreme in (min, max))
        none = statistics.NONE if any(np.isnan(pair.interval[0]) for pair in self.pairs) else ""
        queries = f"{f'{fewest} to ' * (fewest < most)}{counted(most, 'query')}"
        return [
            f"{self.metric}, {queries}, {statistics.TESTS[self.test]}",
            *([self._table()] if len(self.pairs) <= MOST_ROWS else [self._standings(), LETTERS, *self._matrix()]),
            f"{self.adjustment}Intervals: {statistics.METHOD}, not adjusted{none}.",
            *statistics.weighting(self.weights),
            *self._drawn,
            *lack_of_power(self),
            f"Significantly different at {self.level:.2g}: {self._named(self.significant())}.",
            *self._untested(),
            *queries_needed(self, self.pairs),
            *self._parts_of_slices(),
        ]

    @property
    def adjustment(self) -> str:
        """How p-values are corrected, in a sentence; empty if they are not."""
        pairs = counted(self.n_tests, "pair")
        return f"Adjusted: {statistics.CORRECTIONS[self.correction]}, {pairs}. " if self.correction else ""

    def _named(self, pairs: Sequence[Pair]) -> str:
        if len(pairs) > MOST_ROWS:
            return f"{len(pairs)} of {counted(len(self.pairs), 'pair')}"
        return ", ".join(f"{pair.first} and {pair.second}" for pair in pairs) or "none"

    def _standings(self) -> Table:
        """One row per ranking, best first, compared with the best."""
        best, *others = self.ranking
        pairs = [None, *(self.pair(other, best) for other in others)]
        rows = [
            (number, name, self.letters[name], *((p.difference, p.interval, p.p_adjusted) if p else (None,) * 3))
            for number, (name, p) in enumerate(zip(self.ranking, pairs, strict=True), start=1)
        ]
        return Table((Column("", str), Column("", str), "letters", *self.heads_of_leads), rows)

    @property
    def heads_of_leads(self) -> tuple[Column, Column, Column]:
        """Columns of the differences from the best."""
        interval, p = f"{100 * self.confidence:g}% interval", "adjusted p" if self.correction else "p"
        return Column("minus best", signed), Column(interval, signed), Column(p, p_text)

    def _matrix(self) -> Iterator[Part]:
        """Matrix of the significant differences, one row and one column per ranking, best first."""
        if len(self.names) > WIDEST_MATRIX:
            yield f"The matrix of pairs is left out for more than {WIDEST_MATRIX} rankings: see significant()."
            return
        ahead: dict[tuple[str, str], int] = {}
        for pair in self.significant():
            sign = 1 if (pair.difference > 0) == self.greater_is_better else -1
            ahead |= {(pair.first, pair.second): sign, (pair.second, pair.first): -sign}
        marks = {1: "+", -1: "-", 0: "."}
        rows = [
            (str(number), *(None if other == name else marks[ahead.get((name, other), 0)] for other in self.ranking))
            for number, name in enumerate(self.ranking, start=1)
        ]
        yield Table(["", *map(str, range(1, len(self.ranking) + 1))], rows)
        yield "+: row significantly better than column, -: significantly worse, .: not significantly different."

    def _table(self) -> Table:
        """One row per pair."""
        columns = (
            Column(None, names=("first",)),
            Column(None, names=("second",)),
            Column("first - second", names=()),
            Column("difference", signed),
            Column(f"{100 * self.confidence:g}% interval", signed, ("low", "high")),
            *("wins", "ties", "losses"),
            Column("effect size", _effect_text, ("effect_size",)),
            Column("p", p_text, ("p_value",)),
            Column("adjusted p" if self.correction else None, p_text, ("p_adjusted",)),
            Column(None, names=("n_queries",)),
        )
        rows = [
            (
                *(p.first, p.second, f"{p.first} - {p.second}", p.difference, p.interval),
                *(p.wins, p.ties, p.losses, p.effect_size, p.p_value, p.p_adjusted, p.n_queries),
            )
            for p in self.pairs
        ]
        return Table(columns, rows)

    def _columns(self) -> dict[str, Any]:
        columns = self._table().for_frame()
        if not self.slices:
            return columns
        names = names_of_slices(self.slices)
        parts = [(ALL, columns), *((names[value], part._columns()) for value, part in self.slices.items())]
        named = {"slice": [value for value, part in parts for _ in part["first"]]}
        return named | {name: [one for _, part in parts for one in part[name]] for name in columns}

    def _parts_of_slices(self) -> Iterator[Part]:
        """Differences by slice; if there are many, only the significant ones."""
        if not self.slices:
            return
        parts = list(zip(names_of_slices(self.slices).values(), self.slices.values(), strict=True))
        pairs = [(name, pair) for name, part in parts for pair in part.pairs]
        different = [(name, pair) for name, part in parts for pair in part.significant()]
        shown = pairs if len(pairs) <= MOST_ROWS else different
        _, interval, p = self.heads_of_leads
        heads = ("slice", "first - second", "queries", Column("difference", signed), interval, p)
        rows = [
            (value, f"{pair.first} - {pair.second}", pair.n_queries, pair.difference, pair.interval, pair.p_adjusted)
            for value, pair in shown
        ]
        if rows:
            yield Table(heads, rows)
        adjusted = f", adjusted for {len(pairs)} tests" if self.correction else ""
        named = ", ".join(f"{pair.first} and {pair.second} in {name}" for name, pair in different)
        many = f"{len(different)} of {len(pairs)}; the table shows these"
        yield f"Significantly different in slices{adjusted}: {(named if shown is pairs else many) or 'none'}."
        if self._left_out:
            yield f"Slices in which no query has a value: {', '.join(self._left_out)}."

    def _untested(self) -> Iterator[str]:
        if untested := [pair for pair in self.pairs if np.isnan(pair.p_value)]:
            yield f"Not tested, since all differences are equal: {self._named(untested)}."


@dataclass(frozen=True, repr=False, eq=False)
class Comparisons(Result, Mapping[str, Comparison]):
    """Comparisons of the same rankings by several metrics.

    A mapping from the name of each metric to its Comparison. P-values are corrected for the number of pairs, but not
    for the number of metrics. Prints as one table per metric. ``to_frame()`` puts them into one frame, with the metric
    in a column "metric".

    See Also
    --------
    compare : Returns Comparisons for a list of metrics.
    """

    _found: dict[str, Comparison]

    def __getitem__(self, metric: str) -> Comparison:
        return self._found[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _parts(self) -> list[Part]:
        return [part for comparison in self.values() for part in comparison._parts()]

    def _columns(self) -> dict[str, Any]:
        parts = [(metric, comparison._columns()) for metric, comparison in self.items()]
        named = {"metric": [metric for metric, columns in parts for _ in columns["first"]]}
        return named | {name: [one for _, columns in parts for one in columns[name]] for name in parts[0][1]}


def lack_of_power(found: Comparison) -> Iterator[str]:
    """Say so if no difference, however clear, could have been significant."""
    n_tests = found.n_tests if found.correction == "holm" else 1
    changed = max(pair.wins + pair.losses for pair in found.pairs)
    least = statistics.smallest_p(changed, found.test, found.n_resamples) * n_tests
    if least > found.level and changed:
        pairs = f" for {n_tests} pairs" if n_tests > 1 else ""
        few_signs = found.test == "permutation" and 2**changed > found.n_resamples
        more = "Pass a larger n_resamples" if few_signs else "Evaluate more queries"
        yield f"No difference could be significant: p is at least {min(least, 1):.4f}{pairs}. {more}."


def queries_needed(found: Comparison, pairs: Iterable[Pair]) -> Iterator[str]:
    """Say how many queries would be needed to detect the differences that are not significant.

    True differences are assumed to be as large as the observed ones. If there are several pairs, each must be
    significant even if the correction multiplies its p-value by their number.
    """
    confidence = 1 - found.level / (found.n_tests if found.correction else 1)
    needed = [
        (statistics.n_for_power(pair.effect_size, POWER, confidence) * pair._per_effective, pair)
        for pair in pairs
        if pair.p_adjusted > found.level and statistics.NO_EFFECT <= abs(pair.effect_size) < np.inf
    ]
    if needed:
        fewest = sorted(needed, key=lambda one: one[0])
        texts = [f"{np.ceil(n):,.0f} for {pair.first} and {pair.second}" for n, pair in fewest[:MOST_PAIRS]]
        rest = ["more for the others"] if len(fewest) > MOST_PAIRS else []
        yield f"Queries needed to detect the observed difference with a power of {POWER}: {', '.join(texts + rest)}."


def _effect_text(size: float) -> str:
    return "none" if np.isnan(size) else f"{size:+z.2f}"

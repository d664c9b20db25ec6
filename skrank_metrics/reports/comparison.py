"""The result of comparing rankings of the same queries by one or several metrics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray, check_bool, check_int, check_number
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports import verdict as words
from skrank_metrics.reports.inspection import Inspection, inspect_reports
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.saved_reports import read_saved, restored_fields, saved_fields, write_saved
from skrank_metrics.reports.slices import ALL, names_of_slices, queries_of_slices
from skrank_metrics.reports.standings import POWER, Pair, QueryDifference, Standing, Standings

# With fewer queries that differ, their spread is too uncertain to plan with.
FEW_CHANGED = 30
# Fields that are saved as they are.
_OPTIONS = ("metrics", "confidence", "test", "correction", "baseline", "margin", "random_state")


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Rankings of the same queries, compared by one or several metrics.

    Prints a verdict and a table of rankings in terminals and notebooks. Nothing is tested before it is asked for, and
    p-values do not depend on the order of queries or rankings. ``to_frame()`` gives one row per ranking, best first.

    Attributes
    ----------
    reports : dict of str to RankingReport
        Reports over the same queries in the same order by name, best first by the first metric.
    metrics : tuple of str
        Names of the metrics. Where an argument ``metric`` is None, the first one is meant.
    folds : ndarray of int of shape (n_queries,) or None
        The fold in which each query was tested, if rankings are out of fold.
    confidence : float
        Confidence level. Two rankings are significantly different if the adjusted p-value is at most 1 - confidence.
    test, correction : str or None
        The test that gives the p-values, and their correction for the number of pairs.
    baseline : str or None
        The ranking that all others are compared with; None compares all pairs.
    margin : float or None
        The loss that does not matter.
    random_state : int
        Seed of the random signs.
    """

    _index: ClassVar[str | None] = "ranking"
    _display: ClassVar[str | None] = "ComparisonDisplay"

    reports: dict[str, RankingReport]
    metrics: tuple[str, ...]
    folds: IntArray | None = None
    confidence: float = 0.95
    test: str = "permutation"
    correction: str | None = "max"
    baseline: str | None = None
    margin: float | None = None
    random_state: int = 0
    _whole: Comparison | None = field(default=None, kw_only=True)  # of which this is a slice
    _standings: dict[str, Standings] = field(default_factory=dict, init=False)

    def __getstate__(self) -> dict[str, Any]:
        return {name: own for name, own in vars(self).items() if name != "slices"} | {"_standings": {}}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rankings, best first by the first metric."""
        return tuple(self.reports)

    @property
    def _first(self) -> RankingReport:
        return next(iter(self.reports.values()))

    @property
    def qid(self) -> NDArray[Any]:
        """Ids of the queries."""
        return self._first.qid

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self._first.n_queries

    @property
    def level(self) -> float:
        """Significance level, 1 - confidence."""
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1

    def _metric(self, metric: Any) -> str:
        own = self._first.metrics
        return self.metrics[0] if metric is None else check_column(metric, {name: own[name] for name in self.metrics})

    def by_metric(self, metric: Any = None) -> Standings:
        """What is known about the rankings by one metric, computed when it is first asked for.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison, by its name there or as passed to it. None means the first.

        Returns
        -------
        standings : Standings
            With attributes such as ``best_set``, ``letters``, ``regret`` and ``verdict``.
        """
        name = self._metric(metric)
        if name not in self._standings:
            self._standings[name] = Standings(self, name)
        return self._standings[name]

    def tested(self, metric: Any = None) -> bool:
        """Whether there are two rankings, and the metric is a mean over queries, so that it can be tested.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison, by its name there or as passed to it. None means the first.

        Returns
        -------
        tested : bool
            False if there is one ranking, or the average is another one.
        """
        return self.by_metric(metric).tested

    def greater_is_better(self, metric: Any = None) -> bool:
        """Whether larger values of a metric are better.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison, by its name there or as passed to it. None means the first.

        Returns
        -------
        greater_is_better : bool
            False for metrics such as "fall_out".
        """
        return self.by_metric(metric).greater_is_better

    def means(self, metric: Any = None) -> dict[str, float]:
        """Means of a metric by name of the ranking, over the queries with a value in every ranking.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison, by its name there or as passed to it. None means the first.

        Returns
        -------
        means : dict of str to float
            Best first.
        """
        return {name: self.by_metric(metric).means[name] for name in self.names}

    @property
    def best_set(self) -> tuple[str, ...]:
        """The rankings that may be the best by the first metric; with confidence, the truly best one is among them."""
        return self.by_metric().best_set

    @property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses by the first metric, with confidence, by name; infinite if unknown."""
        return self.by_metric().regret

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name; two rankings share one exactly if they do not differ significantly by the first metric."""
        return self.by_metric().letters

    @property
    def verdict(self) -> str:
        """What is known about the best ranking by the first metric, in one or two sentences."""
        return self.by_metric().verdict

    def pairs(self, metric: Any = None) -> tuple[Pair, ...]:
        """Compare all pairs, or all rankings with the baseline.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison, by its name there or as passed to evaluate.

        Returns
        -------
        pairs : tuple of Pair
            The better of the two by the first metric comes first, or the ranking before the baseline.
        """
        own = self.by_metric(metric)
        return tuple(own.pair(self.names[i], self.names[j]) for i, j in own.family.pairs)

    def pair(self, first: str | None = None, second: str | None = None, metric: Any = None) -> Pair:
        """Compare two rankings, in either direction.

        Parameters
        ----------
        first, second : str, default=None
            Names of the rankings; values of the second are subtracted. None, for both, takes the best (other than the
            baseline), and the baseline or the next best.
        metric : str, metric function or bound metric, default=None
            A metric of the comparison.

        Returns
        -------
        pair : Pair
            The pair. If neither is the baseline, it is in no family, and ``p_adjusted`` and ``simultaneous`` are NaN.
        """
        own = self.by_metric(metric)
        own.check()
        if first is None and second is None:
            first = next(name for name in self.names if name != self.baseline)
            second = self.baseline or self.names[1]
        one, other = str(first), str(second)
        if not {one, other} <= set(self.names) or one == other:
            known = ", ".join(self.names)
            raise ValueError(f"first and second must be two of {known}; got {first!r} and {second!r}.")
        return own.pair(one, other)

    def standings(self, metric: Any = None) -> tuple[Standing, ...]:
        """List the rankings, best first, with what is known about each.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison.

        Returns
        -------
        standings : tuple of Standing
            Named tuples of ``name``, ``mean``, ``difference``, ``interval``, ``p_value``, ``status`` and ``regret``.
            The difference is that to the best other ranking; the end of its interval on the better side is 0 exactly if
            the ranking is not in the set that contains the best, and the other end is 0 exactly if it is alone there.
            The status is "best" (alone), "leads", "may be best" or "worse". With a baseline, the difference is that to
            the baseline, with its simultaneous interval and adjusted p-value, and the status is "baseline" or the
            verdict of the pair.
        """
        return self.by_metric(metric).rows

    # Planning

    @property
    def detectable(self) -> float:
        """The difference by the first metric that these queries detect with a power of 0.8; NaN if unknown.

        It is the median over the comparisons of the best ranking, or of the baseline, with all others.
        """
        return self.by_metric().detectable if self.tested() else np.nan

    def queries_needed(
        self, difference: float, *, power: float = POWER, first: str | None = None, second: str | None = None
    ) -> int:
        """Compute how many queries are needed to detect a difference between two rankings by the first metric.

        Parameters
        ----------
        difference : float
            The smallest difference that matters, above 0 and within the range of the metric.
        power : float, default=0.8
            Probability of detecting it, in (0, 1).
        first, second : str, default=None
            Names of two rankings, whose differences show how much queries vary, as in ``pair``.

        Returns
        -------
        n_queries : int
            Number of queries, for the confidence and the number of pairs of this comparison. It is as uncertain as the
            spread of the differences. Weights and groups are assumed to vary as they do here.

        Raises
        ------
        ValueError
            If the comparison has no such rankings, a parameter is out of range, or all differences are equal.

        Warns
        -----
        UserWarning
            If fewer than 30 queries differ, so that the number is uncertain.

        References
        ----------
        T. Sakai (2016). Topic set size design. Information Retrieval Journal 19.
        https://doi.org/10.1007/s10791-015-9273-z

        Examples
        --------
        Differences of 1/2 and 0 have a standard deviation of 0.25. At a level of 0.05, a mean of 0.4 standard
        deviations is detected with a probability of 0.8 on (1.96 + 0.84)^2 / 0.4^2 = 49 queries, and a few more because
        the mean adds to the spread:

        >>> from skrank_metrics import compare, evaluate
        >>> qid = [query for query in range(80) for _ in range(2)]
        >>> good = evaluate([1, 0] * 80, [2, 1] * 80, qid=qid, metrics="mrr")
        >>> bad = evaluate([1, 0] * 80, [2, 1, 1, 2] * 40, qid=qid, metrics="mrr")
        >>> compare({"good": good, "bad": bad}).queries_needed(0.1)
        54
        """
        chance, wanted = check_number(power, "power", "(0, 1)"), check_number(difference, "difference", "(0, inf)")
        pair, own = self.pair(first, second), self.by_metric()
        if wanted > own.flips.span:
            raise ValueError(
                f"difference must be at most {own.flips.span:g}, the range of {pair.metric}; got {difference}."
            )
        if not (error := own.error_of(pair)) > 0:
            raise ValueError(
                f"{pair.first!r} and {pair.second!r} must differ by different amounts on different queries, since the "
                f"number depends on that spread; all {pair.n_queries} differences are equal. Compare over more queries."
            )
        if (changed := pair.wins + pair.losses) < FEW_CHANGED:
            what = f"Only {counted(changed, 'query')} of {pair.first} and {pair.second} differ"
            warnings.warn(f"{what}, so the number of queries needed is uncertain.", UserWarning, stacklevel=2)
        return own.queries_needed(pair, wanted, chance, error)

    # Queries and slices

    def _part(self, rows: IntArray, **changes: Any) -> Any:
        """Select some of the queries."""
        folds, reports = None if self.folds is None else self.folds[rows], self.reports
        return replace(self, reports={name: own._part(rows) for name, own in reports.items()}, folds=folds, **changes)

    @cached_property
    def slices(self) -> dict[Any, Comparison]:
        """One comparison per slice, with rankings in the same order; empty without slices. All are tested together."""
        metrics = tuple(name for name in self.metrics if self.tested(name))
        if self._first.by is None or not metrics:
            return {}
        rows_of = queries_of_slices(self._first.by)
        return {value: self._part(rows, _whole=self, metrics=metrics) for value, rows in rows_of}

    def _named_slices(self) -> dict[str, Comparison]:
        """The slices with a query to compare, by name."""
        names = names_of_slices(self.slices)
        return {names[value]: part for value, part in self.slices.items() if part.by_metric().used.any()}

    def folds_won(self, metric: Any = None) -> dict[str, int]:
        """Number of folds in which each ranking has the best mean, by name; empty unless they are out of fold.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison, by its name there or as passed to it. None means the first.

        Returns
        -------
        folds_won : dict of str to int
            Number of folds by name of the ranking.
        """
        return self.by_metric(metric).folds_won

    def worst(self, n: int = 10, first: str | None = None, second: str | None = None) -> list[QueryDifference]:
        """List the queries on which the first ranking loses most against the second by the first metric.

        Parameters
        ----------
        n : int, default=10
            Largest number of queries. Those on which the first ranking does not lose are left out.
        first, second : str, default=None
            Names of the rankings, as in ``pair``.

        Returns
        -------
        queries : list of QueryDifference
            Named tuples of ``qid``, the two values, ``first`` and ``second``, and their ``difference``; the largest
            loss first.
        """
        return self._by_lead(n, self.pair(first, second), -1)

    def best(self, n: int = 10, first: str | None = None, second: str | None = None) -> list[QueryDifference]:
        """List the queries on which the first ranking wins most against the second by the first metric.

        Parameters
        ----------
        n : int, default=10
            Largest number of queries. Those on which the first ranking does not win are left out.
        first, second : str, default=None
            Names of the rankings, as in ``pair``.

        Returns
        -------
        queries : list of QueryDifference
            As in ``worst``, the largest win first.
        """
        return self._by_lead(n, self.pair(first, second), 1)

    def _by_lead(self, n: int, pair: Pair, sign: int) -> list[QueryDifference]:
        lead = sign * (pair.differences if self.greater_is_better(pair.metric) else -pair.differences)
        order = np.argsort(-lead, kind="stable")[: check_int(n, "n", 1)]
        order = order[lead[order] > 0]
        columns = (as_python(pair.qid[order]), *(own[order].tolist() for own in (*pair.values, pair.differences)))
        return [QueryDifference(*row) for row in zip(*columns, strict=True)]

    def inspect(
        self,
        n: int | None = None,
        first: str | None = None,
        second: str | None = None,
        *,
        metric: Any = None,
        qid: Any = None,
        documents: Any = None,
        n_ranks: int | None = None,
    ) -> Inspection:
        """Show two rankings for the queries on which they differ most.

        Parameters
        ----------
        n : int, default=None
            Number of queries to show: those with the largest differences in either direction. None means 3. Must be
            left out if ``qid`` is passed.
        first, second : str, default=None
            Names of the rankings, as in ``pair``.
        metric : str, metric function or bound metric, default=None
            A metric of the comparison.
        qid : query id, or sequence of query ids, default=None
            Queries to show instead of those with the largest differences.
        documents, n_ranks : default=None
            As in RankingReport.inspect. The documents must belong to the rows of both reports.

        Returns
        -------
        inspection : Inspection
            Prints as one table per query and ranking. The reports must have kept labels and scores.
        """
        if n is not None and qid is not None:
            raise ValueError(f"n must be left out if qid names the queries; got n={n} and qid={qid!r}.")
        shown = 3 if check_int(n, "n", 1, or_none=True) is None else n
        pair = self.pair(first, second, metric)
        if qid is None:
            qid = as_python(pair.qid[np.argsort(-np.abs(pair.differences), kind="stable")[:shown]])
        chosen = {own: (self.reports[own], pair.metric) for own in (pair.first, pair.second)}
        return inspect_reports(chosen, qid, documents, n_ranks)

    def save(self, path: Any) -> None:
        """Write the reports and the options to a file, as RankingReport.save does.

        Parameters
        ----------
        path : str or path-like
            File to write. An existing file is replaced only once the new one is complete.
        """
        options = {name: getattr(self, name) for name in _OPTIONS}
        reports = [[name, saved_fields(report)] for name, report in self.reports.items()]
        folds = None if self.folds is None else self.folds.tolist()
        write_saved("comparison", {"reports": reports, "folds": folds, **options}, path)

    @classmethod
    def load(cls, path: Any) -> Comparison:
        """Read a comparison that ``save`` wrote; its reports keep no labels and scores.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        comparison : Comparison
            The same comparison.
        """
        saved = read_saved("comparison", path)
        reports = {name: RankingReport(**restored_fields(report)) for name, report in saved.pop("reports")}
        folds, metrics = saved.pop("folds"), tuple(saved.pop("metrics"))
        return Comparison(reports, metrics, None if folds is None else np.array(folds), **saved)

    # Text and frames

    def _brief(self) -> str:
        return f"{counted(len(self.names), 'ranking')} by {', '.join(self.metrics)}, {counted(self.n_queries, 'query')}"

    def _parts(self) -> list[Part]:
        return [*filter(None, [self.verdict]), self._brief(), *words.tables(self), *self._notes(), *words.slices(self)]

    def _notes(self) -> Iterator[str]:
        """Sentences below the tables; subclasses add theirs."""
        return words.notes(self)

    def to_frame(self, library: str = "pandas", *, pairs: bool = False, slices: bool = False) -> Any:
        """Put the rankings or the pairs into a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Library of the frame.
        pairs : bool, default=False
            Whether to return one row per metric and pair instead of one row per ranking.
        slices : bool, default=False
            Whether to add rows for each slice, with its name in a column "slice".

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Rankings are best first. For each metric, there are the mean with its interval, and the entries of
            ``standings`` and ``letters``.
        """
        parts = {ALL: self} | (self._named_slices() if check_bool(slices, "slices") else {})
        by_pair = check_bool(pairs, "pairs")
        found = {value: words.columns_of_pairs(part) if by_pair else part._columns() for value, part in parts.items()}
        named = {"slice": [value for value, own in found.items() for _ in next(iter(own.values()))]} if slices else {}
        columns = {name: [one for own in found.values() for one in own[name]] for name in found[ALL]}
        return self._frame(library, named | columns, None if pairs or slices else self._index)

    def _columns(self) -> dict[str, Any]:
        return words.columns_of_rankings(self)

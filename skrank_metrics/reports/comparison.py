"""The result of comparing rankings of the same queries by one or several metrics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_bool, check_int, check_number
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports import verdict as words
from skrank_metrics.reports.alignment import check_by_query, is_mean
from skrank_metrics.reports.inspection import Inspection, inspect_reports
from skrank_metrics.reports.mean_intervals import bounds_of, moments, quantile
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.saved_reports import read_saved, restored_fields, saved_fields, write_saved
from skrank_metrics.reports.sign_flips import BestSet, Family, SignFlips, without_rounding
from skrank_metrics.reports.slices import ALL, names_of_slices, queries_of_slices

T = TypeVar("T")

# Power for the smallest detectable difference.
POWER = 0.8
# With fewer queries that differ, their spread is too uncertain to plan with.
FEW_CHANGED = 30


_OPTIONS = ("metrics", "confidence", "test", "correction", "baseline", "margin", "random_state")


class Standing(NamedTuple):
    """What is known about one ranking."""

    name: str
    mean: float
    difference: float
    interval: tuple[float, float]
    p_value: float
    status: str
    regret: float


class QueryDifference(NamedTuple):
    """A query with the values of two rankings and their difference."""

    qid: Any
    first: float
    second: float
    difference: float


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared.

    Attributes
    ----------
    first, second, metric : str
        Names of the rankings and of the metric.
    difference : float
        Mean of the first minus mean of the second.
    interval, simultaneous : tuple of float
        Interval of the difference for this pair alone, and one that holds together with those of all other pairs. They
        exclude 0 exactly if p_value, or p_adjusted, is at most 1 - confidence. NaN if the metric is unbounded and too
        few queries differ.
    p_value, p_adjusted : float
        P-value before and after the correction for the number of pairs.
    wins, ties, losses, n_queries : int
        Number of queries on which the first ranking is better, equal and worse, and of all that count.
    qid, differences : ndarray of shape (n_queries,)
        Ids of the queries with a value and a weight above 0, and their differences.
    values : tuple of two ndarrays of shape (n_queries,)
        Their values in the first and in the second ranking.
    verdict : {"better", "not worse", "worse", "undecided"}
        Read off the simultaneous interval: "better" if the first ranking is significantly better; "not worse", only
        with a margin, if it loses at most the margin or no query differs; else "worse" if it is significantly worse.
    """

    first: str
    second: str
    metric: str
    difference: float
    interval: tuple[float, float]
    simultaneous: tuple[float, float]
    p_value: float
    p_adjusted: float
    wins: int
    ties: int
    losses: int
    n_queries: int
    qid: NDArray[Any]
    differences: FloatArray
    values: tuple[FloatArray, FloatArray]
    verdict: str


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
    _display: ClassVar[str | None] = "comparison.ComparisonDisplay"

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
    _found: dict[Any, Any] = field(default_factory=dict, init=False)  # tests by metric

    def __getstate__(self) -> dict[str, Any]:
        return {name: own for name, own in vars(self).items() if name != "slices"} | {"_found": {}}

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

    def tested(self, metric: Any = None) -> bool:
        """Whether there are two rankings, and the metric is a mean over queries, so that it can be tested."""
        return len(self.reports) > 1 and is_mean(self._first.metrics[self._metric(metric)])

    def greater_is_better(self, metric: Any = None) -> bool:
        """Whether larger values of a metric are better."""
        return bool(self._first.metrics[self._metric(metric)].greater_is_better)

    def _once(self, what: str, metric: str, compute: Callable[[], T]) -> T:
        """Compute something about a metric when it is first needed."""
        if (what, metric) not in self._found:
            self._found[what, metric] = compute()
        return self._found[what, metric]

    def means(self, metric: Any = None) -> dict[str, float]:
        """Means of a metric by name of the ranking, over the queries with a value in every ranking."""
        name = self._metric(metric)
        return dict(zip(self.names, self._once("means", name, lambda: self._means(name)), strict=True))

    def _means(self, metric: str) -> list[float]:
        values, weights, used = self._values(metric), self._first.weights, self.used(metric)
        same = (np.isnan(values).any(axis=1) == np.isnan(values).all(axis=1)).all()
        if same or not is_mean(self._first.metrics[metric]):
            return [report.mean[metric] for report in self.reports.values()]
        return [moments(own[used], None if weights is None else weights[used]).mean for own in values.T]

    def _values(self, metric: str) -> FloatArray:
        return np.stack([report.per_query[metric] for report in self.reports.values()], axis=1)

    def used(self, metric: Any = None) -> Mask:
        """Whether each query counts: it has a weight above 0 and a value in every ranking."""
        name, weights = self._metric(metric), self._first.weights
        defined: Any = self._once("used", name, lambda: ~np.isnan(self._values(name)).any(axis=1))
        return defined if weights is None else defined & (weights > 0)

    def _ranked(self, metric: str) -> list[str]:
        return words.best_first(self.means(metric), greater_is_better=self.greater_is_better(metric))

    # Tests

    def _flips(self, metric: str) -> SignFlips:
        used, first, bound = self.used(metric), self._first, self._first.metrics[metric]
        values, (low, high) = self._values(metric)[used], bounds_of(bound)
        return SignFlips(
            values if bound.greater_is_better else -values,
            np.ones(len(values)) if first.weights is None else first.weights[used],
            _unit_hashes(first.qid if first.groups is None else first.groups)[used],
            self.random_state,
            self.test,
            high - low,
            None if self.folds is None else self.folds[used],
            enumerates=self._whole is None,
        )

    def check_values(self, metric: str) -> None:
        """Refuse a metric that cannot be tested."""
        check_by_query(metric, self._first.metrics[metric])
        if len(self.reports) < 2:
            raise ValueError(f"reports must hold at least two reports to compare; got {len(self.reports)}.")
        if not self.used(metric).any():
            raise ValueError(
                f"reports must have a query with a weight above 0 and a value of {metric!r} in every ranking; got none "
                f"among {counted(self.n_queries, 'query')}. Leave out the metric, or evaluate with "
                "replace_undefined_by=0 to count queries without a value."
            )

    def family(self, metric: Any = None) -> tuple[Family, int]:
        """The tests that are corrected together, and the number of this comparison among those of all slices."""
        name, whole = self._metric(metric), self._whole or self
        self.check_values(name)
        parts = [self] if self._whole is None else [own for own in whole.slices.values() if own.used(name).any()]
        base = None if self.baseline is None else self.names.index(self.baseline)

        def make() -> Family:
            flips = [part._once("flips", name, partial(part._flips, name)) for part in parts]
            return Family(flips, self.level, self.correction, base)

        tests = whole._once("family" if self._whole is None else "family of slices", name, make)
        return tests, next(number for number, part in enumerate(parts) if part is self)

    def _best(self, metric: str) -> BestSet:
        tests, number = self.family(metric)
        return self._once("best", metric, lambda: tests.best_set(number))

    @property
    def best_set(self) -> tuple[str, ...]:
        """The rankings that may be the best by the first metric; with confidence, the truly best one is among them."""
        return self.best_set_of(self.metrics[0])

    def best_set_of(self, metric: Any) -> tuple[str, ...]:
        """The rankings that may be the best by a metric, best first."""
        name = self._metric(metric)
        inside = dict(zip(self.names, self._best(name).inside, strict=True))
        return tuple(own for own in self._ranked(name) if inside[own])

    @property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses by the first metric, with confidence, by name; infinite if unknown."""
        return dict(zip(self.names, self._best(self.metrics[0]).regret.tolist(), strict=True))

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name; two rankings share one exactly if they do not differ significantly by the first metric."""
        return self.letters_of(self.metrics[0])

    def letters_of(self, metric: Any) -> dict[str, str]:
        """Letters by name for a metric, best first."""
        (tests, number), order = self.family(metric), self._ranked(self._metric(metric))
        places = [self.names.index(own) for own in order]
        of_all = replace(tests, baseline=None).p_adjusted[number] <= self.level
        return words.letters(order, of_all[np.ix_(places, places)])

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

        Raises
        ------
        ValueError
            If the comparison lacks the metric, or it is not a mean over queries.
        """
        name = self._metric(metric)
        return tuple(self._pair(name, i, j) for i, j in self.family(name)[0].pairs)

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

        Raises
        ------
        ValueError
            If the comparison has no such rankings or metric.
        """
        name = self._metric(metric)
        self.check_values(name)
        if first is None and second is None:
            first = next(own for own in self.names if own != self.baseline)
            second = self.baseline or self.names[1]
        places = [self.names.index(str(own)) if str(own) in self.names else -1 for own in (first, second)]
        if -1 in places or places[0] == places[1]:
            known = ", ".join(self.names)
            raise ValueError(f"first and second must be two of {known}; got {first!r} and {second!r}.")
        return self._pair(name, *places)

    def _pair(self, metric: str, i: int, j: int) -> Pair:
        used, weights, (tests, number) = self.used(metric), self._first.weights, self.family(metric)
        both = [self.reports[self.names[place]].per_query[metric][used] for place in (i, j)]
        one, other = without_rounding(np.stack(both, axis=1)).T
        differences = one - other
        better = differences if self.greater_is_better(metric) else -differences
        p, adjusted, interval, together = tests.tested(number, i, j)
        return Pair(
            self.names[i],
            self.names[j],
            metric,
            difference=moments(differences, None if weights is None else weights[used]).mean,
            interval=self._directed(metric, interval),
            simultaneous=self._directed(metric, together),
            p_value=p,
            p_adjusted=adjusted,
            wins=int((better > 0).sum()),
            ties=int((better == 0).sum()),
            losses=int((better < 0).sum()),
            n_queries=len(differences),
            qid=self.qid[used],
            differences=differences,
            values=(one, other),
            verdict=words.of_pair(together, self.margin, is_equal=not differences.any()),
        )

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
        name = self._metric(metric)
        return self._once("standings", name, lambda: tuple(self._standings(name)))

    def _standings(self, metric: str) -> Iterator[Standing]:
        order, means, nothing = self._ranked(metric), self.means(metric), (np.nan, (np.nan, np.nan), np.nan)
        if not self.tested(metric):
            yield from (Standing(name, means[name], *nothing, "", np.nan) for name in order)
            return
        found, best = self._best(metric), self.best_set_of(metric)
        for number, name in enumerate(order):
            place = self.names.index(name)
            row: tuple[float, tuple[float, float], float, str] = (*nothing, "baseline")
            if self.baseline is None:
                leads = "best" if len(best) == 1 else "leads"
                status = "worse" if name not in best else "may be best" if number else leads
                ends = self._directed(metric, tuple(found.intervals[place].tolist()))
                row = means[name] - means[order[0 if number else 1]], ends, float(found.p_values[place]), status
            elif name != self.baseline:
                pair = self.pair(name, self.baseline, metric)
                row = pair.difference, pair.simultaneous, pair.p_adjusted, pair.verdict
            yield Standing(name, means[name], *row, float(found.regret[place]))

    def _directed(self, metric: str, ends: tuple[float, float]) -> tuple[float, float]:
        """An interval of differences that are better if larger, in the direction of the metric."""
        return ends if self.greater_is_better(metric) else (0.0 - ends[1], 0.0 - ends[0])

    @property
    def verdict(self) -> str:
        """What is known about the best ranking by the first metric, in one or two sentences."""
        return self.verdict_of(self.metrics[0])

    def verdict_of(self, metric: Any) -> str:
        """What is known about the best ranking by a metric, in one or two sentences."""
        return words.of_comparison(self, self._metric(metric)) if len(self.reports) > 1 else ""

    # Planning

    @property
    def detectable(self) -> float:
        """The difference by the first metric that these queries detect with a power of 0.8; NaN if unknown.

        It is the median over the comparisons of the best ranking, or of the baseline, with all others.
        """
        tests, number = self.family()
        row = tests.parts[number].row(self.names.index(self.baseline or self.names[0]))
        errors = np.maximum(row.error, row.fold_error)
        errors = errors[errors > 0] * tests.parts[number].scale * (tests.critical + quantile(2 * POWER - 1, np.inf))
        return float(np.median(errors)) if len(errors) else np.nan

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
        TypeError
            If an argument has the wrong type.
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
        pair, (tests, number) = self.pair(first, second), self.family()
        flips = tests.parts[number]
        if wanted > flips.span:
            raise ValueError(
                f"difference must be at most {flips.span:g}, the range of {pair.metric}; got {difference}."
            )
        error = flips.row(self.names.index(pair.first)).error[self.names.index(pair.second)]
        if not error > 0:
            raise ValueError(
                f"{pair.first!r} and {pair.second!r} must differ by different amounts on different queries, since the "
                f"number depends on that spread; all {pair.n_queries} differences are equal. Compare over more queries."
            )
        if (changed := pair.wins + pair.losses) < FEW_CHANGED:
            what = f"Only {counted(changed, 'query')} of {pair.first} and {pair.second} differ"
            warnings.warn(f"{what}, so the number of queries needed is uncertain.", UserWarning, stacklevel=2)
        spread = float(error) * flips.scale * flips.n_effective**0.5
        most, normal = float(np.abs(pair.differences).max()), quantile(abs(2 * chance - 1), np.inf)
        needed = _units_needed(wanted / spread, most / spread, tests.critical, normal if chance > 0.5 else -normal)
        return int(np.ceil(needed * pair.n_queries / flips.n_effective))

    # Queries and slices

    def part(self, rows: IntArray, **changes: Any) -> Any:
        """Select some of the queries."""
        folds = None if self.folds is None else self.folds[rows]
        return replace(
            self, reports={name: own._part(rows) for name, own in self.reports.items()}, folds=folds, **changes
        )

    @cached_property
    def slices(self) -> dict[Any, Comparison]:
        """One comparison per slice, with rankings in the same order; empty without slices. All are tested together."""
        metrics = tuple(name for name in self.metrics if self.tested(name))
        if self._first.by is None or not metrics:
            return {}
        rows_of = queries_of_slices(self._first.by)
        return {value: self.part(rows, _whole=self, metrics=metrics) for value, rows in rows_of}

    def named_slices(self) -> dict[str, Comparison]:
        """The slices with a query to compare, by name."""
        names = names_of_slices(self.slices)
        return {names[value]: part for value, part in self.slices.items() if part.used().any()}

    def folds_won(self, metric: Any = None) -> dict[str, int]:
        """Number of folds in which each ranking has the best mean, by name; empty unless they are out of fold."""
        if self.folds is None:
            return {}
        name, folds = self._metric(metric), np.where(self.used(metric), self.folds, -1)
        rows = [np.flatnonzero(folds == fold) for fold in np.unique(folds[folds >= 0])]
        won = [self.part(row)._ranked(name)[0] for row in rows]
        return {own: won.count(own) for own in self.names}

    def worst(self, n: int = 10, first: str | None = None, second: str | None = None) -> list[QueryDifference]:
        """List the queries on which the first ranking loses most against the second by the first metric.

        Parameters
        ----------
        n : int, default=10
            Number of queries; if the first ranking loses on fewer queries, only those are listed.
        first, second : str, default=None
            Names of the rankings, as in ``pair``.

        Returns
        -------
        queries : list of QueryDifference
            Named tuples of ``qid``, the two values, ``first`` and ``second``, and their ``difference``, the largest
            loss first. Pass them to ``pandas.DataFrame`` to get a table.
        """
        return self._by_lead(n, self.pair(first, second), -1)

    def best(self, n: int = 10, first: str | None = None, second: str | None = None) -> list[QueryDifference]:
        """List the queries on which the first ranking wins most against the second, as ``worst`` does."""
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
            Prints as one table per query and ranking.

        Raises
        ------
        ValueError
            If the comparison has no such rankings or metric, ``n`` is less than 1, an id is not in the reports, or a
            report did not keep labels and scores.
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

    def _headline(self) -> str:
        return self.verdict

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

        Raises
        ------
        ImportError
            If the library is not installed.
        """
        parts = {ALL: self} | (self.named_slices() if check_bool(slices, "slices") else {})
        by_pair = check_bool(pairs, "pairs")
        found = {value: part._pair_columns() if by_pair else part._columns() for value, part in parts.items()}
        named = {"slice": [value for value, own in found.items() for _ in next(iter(own.values()))]} if slices else {}
        columns = {name: [one for own in found.values() for one in own[name]] for name in found[ALL]}
        return self._frame(library, named | columns, None if pairs or slices else self._index)

    def _columns(self) -> dict[str, Any]:
        return words.columns_of_rankings(self)

    def _pair_columns(self) -> dict[str, Any]:
        return words.columns_of_pairs(self)


def _unit_hashes(ids: NDArray[Any]) -> Any:
    """A number per query or group that does not depend on its place, if the ids can be recognized anywhere."""
    try:
        return hash_ids(ids)
    except (TypeError, ValueError):
        numbers: dict[Any, int] = {}
        return hash_ids(np.array([numbers.setdefault(one, len(numbers)) for one in as_python(ids)]))


def _units_needed(effect: float, most: float, critical: float, normal: float) -> float:
    """Number of units at which the test rejects; effect and largest difference in standard deviations."""
    n = 6.0
    for _ in range(100):
        spread = (1 + effect**2 + most**2 / (2 * n)) ** 0.5
        n = max(6.0, (critical * spread + normal) ** 2 / effect**2)
    return n

"""The result of comparing rankings of the same queries by one or several metrics."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_bool, check_int, check_number
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, as_text, p_text, signed
from skrank_metrics.reports import verdict as words
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.slices import largest, names_of_slices, queries_of_slices
from skrank_metrics.reports.families import CORRECTIONS, BestSet, Family
from skrank_metrics.reports.alignment import Aligned, check_by_query, is_mean
from skrank_metrics.reports.inspection import Inspection
from skrank_metrics.reports.mean_intervals import bounds_of, mean_interval, moments, quantile, weighting
from skrank_metrics.reports.ranking_report import RankingReport, drawn_orders, inspect_reports
from skrank_metrics.reports.sign_flips import SignFlips, without_rounding

TESTS = {"permutation": "paired sign-flip permutation test", "t": "paired t-test"}
# Power for the smallest detectable difference.
POWER = 0.8
# With fewer queries that differ, their spread is too uncertain to plan with.
FEW_CHANGED = 30
# Number of metrics that fit side by side into 80 columns, and of rankings whose values are printed per slice.
BESIDE, FEW = 4, 4


class Standing(NamedTuple):
    """One ranking among others."""

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
    first, second : str
        Names of the rankings.
    metric : str
        Name of the metric.
    difference : float
        Mean of the first minus mean of the second.
    interval : tuple of float
        Interval of the difference for this pair alone; it excludes 0 exactly if p_value <= 1 - confidence. NaN if the
        metric is unbounded and too few queries differ.
    simultaneous : tuple of float
        Interval that holds together with those of all other pairs; it excludes 0 exactly if p_adjusted <= 1 -
        confidence.
    p_value, p_adjusted : float
        P-value before and after the correction for the number of pairs.
    wins, ties, losses : int
        Number of queries on which the first ranking is better, equal and worse.
    qid, differences : ndarray of shape (n_queries,)
        Ids of the queries with a value and a weight above 0, and their differences.
    values : tuple of two ndarrays of shape (n_queries,)
        Their values in the first and in the second ranking.
    verdict : {"better", "not worse", "worse", "undecided"}
        Read off the simultaneous interval: "better" if the first is significantly better than the second; "not worse",
        only with a margin, if it loses at most the margin; else "worse" if it is significantly worse.
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
    qid: NDArray[Any]
    differences: FloatArray
    values: tuple[FloatArray, FloatArray]
    verdict: str
    _verdict_reversed: str

    @property
    def n_queries(self) -> int:
        """Number of queries with a value and a weight above 0."""
        return self.wins + self.ties + self.losses

    @property
    def is_equal(self) -> bool:
        """Whether both rankings have the same value on every query."""
        return self.wins == self.losses == 0

    def reversed(self) -> Pair:
        """The second compared with the first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,  # and not -0.0
            interval=_negated(self.interval),
            simultaneous=_negated(self.simultaneous),
            wins=self.losses,
            losses=self.wins,
            differences=0.0 - self.differences,
            values=self.values[::-1],
            verdict=self._verdict_reversed,
            _verdict_reversed=self.verdict,
        )


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Rankings of the same queries, compared by one or several metrics.

    Prints a verdict and a table of rankings in terminals and notebooks. Nothing is tested before it is asked for, and
    p-values do not depend on the order of queries or rankings. ``to_frame()`` gives one row per ranking, best first;
    ``to_frame(pairs=True)`` one row per pair, ``to_frame(slices=True)`` one row per slice and ranking.

    Attributes
    ----------
    reports : dict of str to RankingReport
        Reports by name, best first by the first metric.
    metrics : tuple of str
        Names of the metrics.
    confidence : float
        Confidence level. Two rankings are significantly different if the adjusted p-value is at most 1 - confidence.
    test : str
        The test that gave the p-values.
    correction : str or None
        Correction of the p-values for the number of pairs.
    baseline : str or None
        The ranking that all others are compared with; None compares all pairs.
    margin : float or None
        The loss that does not matter.
    random_state : int
        Seed of the random signs.
    """

    _index: ClassVar[str | None] = "ranking"
    _display: ClassVar[str] = "comparison.ComparisonDisplay"

    reports: dict[str, RankingReport]
    metrics: tuple[str, ...]
    confidence: float = 0.95
    test: str = "permutation"
    correction: str | None = "max"
    baseline: str | None = None
    margin: float | None = None
    random_state: int = 0
    _aligned: Aligned = field(kw_only=True)
    _whole: Comparison | None = field(default=None, kw_only=True)  # of which this is a slice
    _cache: dict[Any, Any] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(self.names)} by {', '.join(self.metrics)}>"

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name not in ("slices", "_signs")}
        return kept | {"_cache": {}}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rankings, best first by the first metric."""
        return tuple(self.reports)

    @property
    def level(self) -> float:
        """Significance level, 1 - confidence."""
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1

    @property
    def qid(self) -> NDArray[Any]:
        """Ids of the queries, in the order of the first report."""
        return self._aligned.qid

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.qid)

    @property
    def weights(self) -> FloatArray | None:
        """Weights of the queries; None if there are none."""
        return self._aligned.weights

    @property
    def by(self) -> NDArray[Any] | None:
        """The slice of each query; None if there are no slices."""
        return self._aligned.by

    @property
    def groups(self) -> NDArray[Any] | None:
        """The group of each query, such as its user; None if queries are independent."""
        return self._aligned.groups

    @property
    def folds(self) -> IntArray | None:
        """The fold in which each query was tested; None unless rankings are out of fold."""
        return self._aligned.folds

    # Values and levels

    def _bound(self, metric: str) -> Any:
        name, report = next(iter(self.reports.items()))
        return report.metrics[self._aligned.columns[metric][name]]

    def _metric(self, metric: Any = None) -> str:
        if metric is None:
            return self.metrics[0]
        return check_column(metric, {name: self._bound(name) for name in self.metrics})

    def tested(self, metric: Any = None) -> bool:
        """Whether there are at least two rankings and the metric is a mean over queries, so that it can be tested."""
        return len(self.reports) > 1 and is_mean(self._bound(self._metric(metric)))

    def greater_is_better(self, metric: Any = None) -> bool:
        """Whether larger values of the metric are better."""
        return bool(self._bound(self._metric(metric)).greater_is_better)

    def values(self, metric: Any = None) -> dict[str, FloatArray]:
        """Values per query of a metric by name of the ranking, in the order of ``qid``."""
        return dict(zip(self.names, self._aligned.values(self._metric(metric)).T, strict=True))

    def _used(self, metric: str) -> Mask:
        """Queries with a weight above 0 and a value in every ranking."""
        used: Mask = ~np.isnan(self._aligned.values(metric)).any(axis=1)
        return used if self.weights is None else used & (self.weights > 0)

    def means(self, metric: Any = None) -> dict[str, float]:
        """Means of a metric by name of the ranking, over the queries that are compared."""
        name = self._metric(metric)
        columns = self._aligned.columns[name]
        values = self._aligned.values(name)
        every = all(report.n_queries == len(values) for report in self.reports.values())
        if (
            every
            and (np.isnan(values).any(axis=1) == np.isnan(values).all(axis=1)).all()
            or not is_mean(self._bound(name))
        ):
            return {own: report.mean[columns[own]] for own, report in self.reports.items()}
        used, weights = self._used(name), self.weights
        found = (moments(v[used], None if weights is None else weights[used]).mean for v in values.T)
        return dict(zip(self.names, found, strict=True))

    # Tests

    def _flips(self, metric: str) -> SignFlips:
        if ("flips", metric) not in self._cache:
            check_by_query(metric, self._bound(metric))
            self._check_several()
            used = self._used(metric)
            self._check_values(metric, used)
            values = self._aligned.values(metric)[used]
            low, high = bounds_of(self._bound(metric))
            self._cache["flips", metric] = SignFlips(
                values if self.greater_is_better(metric) else -values,
                np.ones(len(values)) if self.weights is None else self.weights[used],
                _hashes(self.qid if self.groups is None else self.groups)[used],
                self.random_state,
                self.test,
                float(high - low),
                None if self.folds is None else self.folds[used],
                enumerates=self._whole is None,
            )
        return self._cache["flips", metric]  # type: ignore[no-any-return]

    def _check_several(self) -> None:
        if len(self.reports) < 2:
            raise ValueError(f"reports must hold at least two reports to compare; got {len(self.reports)}.")

    def _check_values(self, metric: str, used: Mask) -> None:
        if not used.any():
            raise ValueError(
                f"reports must have a query with a weight above 0 and a value of {metric!r} in every ranking; got none "
                f"among {counted(len(used), 'query')}. Leave out the metric, or evaluate with replace_undefined_by=0 to "
                "count queries without a value."
            )

    def _family(self, metric: str) -> tuple[Family, int]:
        """The tests that are corrected together, and the number of this part among them."""
        whole = self if self._whole is None else self._whole
        key = "family", metric, whole is self
        if key not in whole._cache:
            parts = [self] if whole is self else whole._slices_with(metric)
            base = None if self.baseline is None else self.names.index(self.baseline)
            flips = [part._flips(metric) for part in parts]
            whole._cache[key] = Family(flips, self.level, self.correction, base), parts
        family, parts = whole._cache[key]
        return family, next((number for number, part in enumerate(parts) if part is self), 0)

    def _slices_with(self, metric: str) -> list[Comparison]:
        """The slices with a query to compare."""
        return [part for part in self.slices.values() if part._used(metric).any()]

    def _best(self, metric: Any) -> BestSet:
        name = self._metric(metric)
        if ("best", name) not in self._cache:
            family, number = self._family(name)
            self._cache["best", name] = family.best_set(number)
        return self._cache["best", name]  # type: ignore[no-any-return]

    @property
    def best_set(self) -> tuple[str, ...]:
        """The rankings that may be the best by the first metric; the truly best one is among them with confidence."""
        return self.best_set_of(self.metrics[0])

    def best_set_of(self, metric: Any) -> tuple[str, ...]:
        """The rankings that may be the best by a metric, in the order of ``names``."""
        inside = self._best(metric).inside
        return tuple(name for name, may_be in zip(self.names, inside, strict=True) if may_be)

    @property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses by the first metric, with confidence, by name; infinite if unknown."""
        return dict(zip(self.names, self._best(None).regret.tolist(), strict=True))

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name: two rankings share one exactly if they are not significantly different by the first metric."""
        return self.letters_of(self.metrics[0])

    def letters_of(self, metric: Any) -> dict[str, str]:
        """Letters by name for a metric, best first; for all pairs, whatever the baseline."""
        name = self._metric(metric)
        family, number = self._family(name)
        if self.baseline is not None:
            family = replace(family, baseline=None)
        order = self._ranked(name)
        places = [self.names.index(own) for own in order]
        return words.letters(order, (family.p_adjusted[number] <= self.level)[np.ix_(places, places)])

    def _ranked(self, metric: str) -> list[str]:
        return words.best_first(self.means(metric), greater_is_better=self.greater_is_better(metric))

    def pairs(self, metric: Any = None) -> tuple[Pair, ...]:
        """Compare all pairs, or all rankings with the baseline.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison, by its name there or as passed to evaluate. None means the first.

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
        return tuple(self._pair(name, i, j) for i, j in self._family(name)[0].pairs)

    def significant(self, metric: Any = None) -> list[Pair]:
        """List the pairs that are significantly different.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison. None means the first.

        Returns
        -------
        pairs : list of Pair
            Those of ``pairs`` whose adjusted p-value is at most 1 - confidence.
        """
        return [pair for pair in self.pairs(metric) if pair.p_adjusted <= self.level]

    def pair(self, first: str | None = None, second: str | None = None, metric: Any = None) -> Pair:
        """Compare two rankings, in either direction.

        Parameters
        ----------
        first : str, default=None
            Name of the first ranking. None, for both, takes the best, or the best other than the baseline.
        second : str, default=None
            Name of the second ranking, whose values are subtracted. None, for both, takes the next one or the baseline.
        metric : str, metric function or bound metric, default=None
            A metric of the comparison. None means the first.

        Returns
        -------
        pair : Pair
            The pair. Outside the family, such as for two others if there is a baseline, ``p_adjusted`` is NaN.

        Raises
        ------
        ValueError
            If the comparison has no such rankings or metric.
        """
        if first is None and second is None:
            self._check_several()
            first = next(name for name in self.names if name != self.baseline)
            second = self.baseline or self.names[1]
        places = [self.names.index(str(name)) if str(name) in self.names else -1 for name in (first, second)]
        if -1 in places or places[0] == places[1]:
            known = ", ".join(self.names)
            raise ValueError(f"first and second must be two of {known}; got {first!r} and {second!r}.")
        return self._pair(self._metric(metric), *places)

    def _pair(self, metric: str, i: int, j: int) -> Pair:
        used, weights = self._used(metric), self.weights
        values = self._aligned.values(metric)[used][:, [i, j]]
        one, other = without_rounding(values).T
        differences = one - other
        better = differences if self.greater_is_better(metric) else -differences
        family, number = self._family(metric)
        p, adjusted, interval, together = family.tested(number, i, j)
        verdicts = [_verdict(ends, self.margin) for ends in (together, _negated(together))]
        if not self.greater_is_better(metric):
            interval, together = _negated(interval), _negated(together)
        return Pair(
            self.names[i],
            self.names[j],
            metric,
            difference=moments(differences, None if weights is None else weights[used]).mean,
            interval=interval,
            simultaneous=together,
            p_value=p,
            p_adjusted=adjusted,
            wins=int((better > 0).sum()),
            ties=int((better == 0).sum()),
            losses=int((better < 0).sum()),
            qid=self.qid[used],
            differences=differences,
            values=(values[:, 0], values[:, 1]),
            verdict=verdicts[0],
            _verdict_reversed=verdicts[1],
        )

    def standings(self, metric: Any = None) -> tuple[Standing, ...]:
        """List the rankings, best first, with what is known about each.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison. None means the first.

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
        if not self.tested(name):
            nothing = (np.nan, (np.nan, np.nan), np.nan, "", np.nan)
            means = self.means(name)
            return tuple(Standing(own, means[own], *nothing) for own in self._ranked(name))
        return tuple(self._against_baseline(name) if self.baseline else self._against_others(name))

    def _against_baseline(self, metric: str) -> Iterator[Standing]:
        means, regret = self.means(metric), self._best(metric).regret
        for name in self._ranked(metric):
            lost = float(regret[self.names.index(name)])
            if name == self.baseline:
                yield Standing(name, means[name], np.nan, (np.nan, np.nan), np.nan, "baseline", lost)
            else:
                pair = self.pair(name, self.baseline, metric)
                ends = pair.simultaneous
                yield Standing(name, means[name], pair.difference, ends, pair.p_adjusted, pair.verdict, lost)

    def _against_others(self, metric: str) -> Iterator[Standing]:
        means, found, ranked = self.means(metric), self._best(metric), self._ranked(metric)
        for number, name in enumerate(ranked):
            place = self.names.index(name)
            low, high = found.intervals[place].tolist()
            ends = (low, high) if self.greater_is_better(metric) else _negated((low, high))
            status = "worse" if not found.inside[place] else "may be best" if number else "leads"
            if found.inside[place] and found.inside.sum() == 1:
                status = "best"
            difference = means[name] - means[ranked[0 if number else 1]]
            lost = float(found.regret[place])
            yield Standing(name, means[name], difference, ends, float(found.p_values[place]), status, lost)

    @property
    def verdict(self) -> str:
        """What is known about the best ranking by the first metric, in one or two sentences."""
        return self.verdict_of(self.metrics[0])

    def verdict_of(self, metric: Any) -> str:
        """What is known about the best ranking by a metric, in one or two sentences."""
        name = self._metric(metric)
        if len(self.reports) < 2:
            return ""
        ranked, level = self._ranked(name), self.confidence
        if not self.tested(name):
            return f"{ranked[0]} is ahead by {name}, which is not a mean over queries and cannot be tested."
        if self.baseline is not None:
            status = {one.name: one.status for one in self.standings(name) if one.name != self.baseline}
            return words.against(self.baseline, status, self.margin, level)
        n_queries = int(self._used(name).sum())
        found = words.verdict(ranked, self._in_order(self.best_set_of(name), ranked), n_queries, level)
        if self.margin is None:
            return found
        regret = dict(zip(self.names, self._best(name).regret.tolist(), strict=True))
        return f"{words.release(ranked, regret, self.margin, level)} {found}"

    @staticmethod
    def _in_order(names: Sequence[str], ranked: Sequence[str]) -> list[str]:
        return [name for name in ranked if name in names]

    # Planning

    def _spread(self, metric: str, i: int, j: int) -> tuple[float, float, float]:
        """Standard error of a difference, its standard deviation over units, and their critical value in the family."""
        family, number = self._family(metric)
        row, flips = family.parts[number].row(i), family.parts[number]
        error = float(max(row.error[j], row.fold_error[j]) * flips.scale)
        return error, float(row.error[j] * flips.scale) * flips.n_effective**0.5, family.critical

    @property
    def detectable(self) -> float:
        """The difference by the first metric that these queries detect with a power of 0.8; NaN if unknown.

        It is the median over the comparisons of the best ranking, or of the baseline, with all others.
        """
        name = self.metrics[0]
        base = self.names.index(self.baseline or self.names[0])
        found = [self._spread(name, base, j) for j in range(len(self.names)) if j != base]
        power = quantile(2 * POWER - 1, np.inf)
        errors = [(critical + power) * error for error, _, critical in found if error > 0]
        return float(np.median(errors)) if errors else np.nan

    def queries_needed(
        self,
        difference: float,
        *,
        power: float = POWER,
        first: str | None = None,
        second: str | None = None,
        metric: Any = None,
    ) -> int:
        """Compute how many queries are needed to detect a difference between two rankings.

        Parameters
        ----------
        difference : float
            The smallest difference that matters, above 0 and within the range of the metric.
        power : float, default=0.8
            Probability of detecting it, in (0, 1).
        first, second : str, default=None
            Names of two rankings, whose differences show how much queries vary. None takes the pair that ``pair()``
            returns.
        metric : str, metric function or bound metric, default=None
            A metric of the comparison. None means the first.

        Returns
        -------
        n_queries : int
            Number of queries, for the confidence and the number of comparisons of this comparison. It is as uncertain
            as the spread of the differences. Weights and groups are assumed to vary as they do here.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If the comparison has no such rankings or metric, a parameter is out of range, or all differences are equal.

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
        Differences of 1/2 and 0 on four queries each have a mean of 0.25 and a standard deviation of 0.27:

        >>> import warnings
        >>> from skrank_metrics import compare, evaluate
        >>> qid = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
        >>> good = evaluate([1, 0] * 8, [2, 1] * 8, qid=qid, metrics="mrr")
        >>> bad = evaluate([1, 0] * 8, [2, 1, 1, 2] * 4, qid=qid, metrics="mrr")
        >>> comparison = compare({"good": good, "bad": bad})
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # too few queries differ
        ...     comparison.queries_needed(0.1)
        61
        """
        name, chance = self._metric(metric), check_number(power, "power", "(0, 1)")
        wanted = check_number(difference, "difference", "(0, inf)")
        pair = self.pair(first, second, name)
        flips = self._flips(name)
        if wanted > flips.span:
            raise ValueError(
                f"difference must be at most {flips.span:g}, the range of {name}; got {difference}. Pass the difference "
                "of two means."
            )
        _, spread, critical = self._spread(name, self.names.index(pair.first), self.names.index(pair.second))
        if not spread > 0:
            raise ValueError(
                f"{pair.first!r} and {pair.second!r} must differ by different amounts on different queries, since the "
                f"number depends on that spread; all {pair.n_queries} differences are equal. Compare over more queries."
            )
        if (changed := pair.wins + pair.losses) < FEW_CHANGED:
            warnings.warn(
                f"Only {counted(changed, 'query')} differ between {pair.first} and {pair.second}, so the number of "
                "queries needed is uncertain.",
                UserWarning,
                stacklevel=2,
            )
        most = float(np.abs(pair.differences).max())
        needed = _units_needed(wanted / spread, most / spread, critical, quantile(2 * chance - 1, np.inf))
        return int(np.ceil(needed * pair.n_queries / flips.n_effective))

    # Queries and slices

    @cached_property
    def slices(self) -> dict[Any, Comparison]:
        """One comparison per slice, keyed by its value, with rankings in the same order; empty without slices.

        All slices are corrected together.
        """
        metrics = tuple(name for name in self.metrics if self.tested(name))
        if self.by is None or not metrics:
            return {}
        return {
            value: replace(self, _aligned=self._aligned.part(rows), _whole=self, metrics=metrics)
            for value, rows in queries_of_slices(self.by)
        }

    def worst(
        self, n: int = 10, first: str | None = None, second: str | None = None, metric: Any = None
    ) -> list[QueryDifference]:
        """List the queries on which the first ranking loses most against the second.

        Parameters
        ----------
        n : int, default=10
            Number of queries; if the first loses on fewer queries, only those are listed.
        first, second : str, default=None
            Names of the rankings. None, for both, takes the pair that ``pair()`` returns.
        metric : str, metric function or bound metric, default=None
            A metric of the comparison. None means the first.

        Returns
        -------
        queries : list of QueryDifference
            Named tuples of ``qid``, the two values, ``first`` and ``second``, and their ``difference``, the largest
            loss first. Pass them to ``pandas.DataFrame`` to get a table.

        Raises
        ------
        ValueError
            If the comparison has no such rankings or metric, or n is less than 1.
        """
        return self._by_lead(check_int(n, "n", 1), self.pair(first, second, metric), -1)

    def best(
        self, n: int = 10, first: str | None = None, second: str | None = None, metric: Any = None
    ) -> list[QueryDifference]:
        """List the queries on which the first ranking wins most against the second.

        Parameters
        ----------
        n, first, second, metric : object
            As in ``worst``.

        Returns
        -------
        queries : list of QueryDifference
            As returned by ``worst``, the largest win first.

        Raises
        ------
        ValueError
            If the comparison has no such rankings or metric, or n is less than 1.
        """
        return self._by_lead(check_int(n, "n", 1), self.pair(first, second, metric), 1)

    def _by_lead(self, n: int | None, pair: Pair, sign: int) -> list[QueryDifference]:
        lead = sign * (pair.differences if self.greater_is_better(pair.metric) else -pair.differences)
        order = np.argsort(-lead, kind="stable")[:n]
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
        """Show two rankings side by side for the queries on which they differ most.

        Parameters
        ----------
        n : int, default=None
            Number of queries to show: those with the largest differences in either direction. None means 3. Must be
            left out if ``qid`` is passed.
        first, second : str, default=None
            Names of the rankings. None, for both, takes the pair that ``pair()`` returns.
        metric : str, metric function or bound metric, default=None
            A metric of the comparison. None means the first.
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
            If the comparison has no such rankings or metric, ``n`` is less than 1, an id is not in the reports, or a
            report did not keep labels and scores.

        Examples
        --------
        The relevant document is at rank 1 or at rank 2:

        >>> from skrank_metrics import compare, evaluate
        >>> labels, qid = [1, 0, 1, 0], ["a", "a", "b", "b"]
        >>> new = evaluate(labels, [2, 1, 2, 1], qid=qid, metrics="mrr")
        >>> old = evaluate(labels, [2, 1, 1, 2], qid=qid, metrics="mrr")
        >>> print(compare({"new": new, "old": old}).inspect(1))
        mrr of 1 query
        Query b: new 1.0000, old 0.5000, difference +0.5000; 1 relevant document
        new: 1.0000, 100% of the ideal     old: 0.5000, 50% of the ideal
        rank  row  label  score    adds    rank  row  label  score    adds
        1       2      1      2  1.0000    1       3      0      2  0.0000
        2       3      0      1  0.0000    2       2      1      1  0.5000
        <BLANKLINE>
        adds: what a rank adds to mrr.
        """
        if n is not None and qid is not None:
            raise ValueError(f"n must be left out if qid names the queries; got n={n} and qid={qid!r}.")
        shown = 3 if check_int(n, "n", 1, or_none=True) is None else n
        pair = self.pair(first, second, metric)
        if qid is None:
            largest_first = np.argsort(-np.abs(pair.differences), kind="stable")[:shown]
            qid = as_python(pair.qid[largest_first])
        columns = self._aligned.columns[pair.metric]
        chosen = {name: (self.reports[name], columns[name]) for name in (pair.first, pair.second)}
        return inspect_reports(chosen, qid, documents, n_ranks)

    # Text and frames

    def _parts(self) -> list[Part]:
        heading = f"{counted(len(self.reports), 'ranking')}, {counted(self.n_queries, 'query')}"
        return [*filter(None, [self.verdict]), heading, *self._tables(), *self._notes(), *self._parts_of_slices()]

    def _tables(self) -> Iterator[Part]:
        """The rankings by the first metric with what is known about each, then by the other metrics."""
        first, *others = self.metrics
        if len(self.reports) == 2 and any(map(self.tested, self.metrics)):
            yield self._levels(self.metrics)
            yield self._table_of_pair()
            return
        if not self.tested(first):
            yield self._levels(self.metrics)
            return
        yield self._table_of_standings(first)
        for start in range(0, len(others), BESIDE):
            yield self._levels(others[start : start + BESIDE])

    def _table_of_standings(self, metric: str) -> Table:
        other = f"minus {self.baseline}" if self.baseline else "minus best other"
        columns = ("", metric), Column(other, signed), self._interval_head, Column("p", p_text), Column("status", str)
        rows = [
            (one.name, one.mean, *((None,) * 3 if np.isnan(one.p_value) else one[2:5]), one.status)
            for one in self.standings(metric)
        ]
        return Table((*columns[0], *columns[1:]), rows)

    @property
    def _interval_head(self) -> Column:
        return Column(f"{100 * self.confidence:g}% interval", signed, ("low", "high"))

    def _table_of_pair(self) -> Table:
        """The only pair, by each metric."""
        pairs = [self.pair(metric=metric) for metric in self.metrics if self.tested(metric)]
        head = Column(f"{pairs[0].first} - {pairs[0].second}", signed)
        rows = [(p.metric, p.difference, p.interval, p.wins, p.ties, p.losses, p.p_value) for p in pairs]
        counts = ("wins", "ties", "losses")
        return Table((Column("", str), head, self._interval_head, *counts, Column("p", p_text)), rows)

    def _levels(self, metrics: Sequence[str]) -> Table:
        """Mean of each ranking; a star marks those that may be the best."""
        means = {metric: self.means(metric) for metric in metrics}
        stars = {metric: self.best_set_of(metric) if self._stars(metric) else () for metric in metrics}
        columns = (Column("", str), *(Column(metric, _starred) for metric in metrics))
        rows = [(name, *((means[m][name], name in stars[m]) for m in metrics)) for name in self.names]
        return Table(columns, rows)

    def _stars(self, metric: str) -> bool:
        return self.tested(metric) and len(self.reports) > 2

    def _notes(self) -> Iterator[str]:
        """How rankings were compared, and what to keep in mind."""
        tested = [metric for metric in self.metrics if self.tested(metric)]
        if tested:
            yield self._how()
            if any(self._stars(metric) for metric in tested if metric != self.metrics[0]):
                yield "*: may be the best by this metric."
            yield from self._contradictions(tested)
            yield from self._counts(tested[0])
        yield from weighting(self.weights)
        bound = {metric: self._bound(metric) for metric in self.metrics}
        yield from drawn_orders(self.reports, bound)

    def _how(self) -> str:
        test = TESTS[self.test] + ("" if self.groups is None else ", by group")
        n_others = len(self.reports) - 1
        if n_others == 1:
            return f"Intervals and p: {test}."
        if self.baseline is not None:
            corrected = CORRECTIONS[self.correction]
            return f"Intervals and p: {test}, {f'{corrected} ' if corrected else 'not adjusted '}for {n_others} pairs."
        return (
            f"p: that it is the best, by {test} against all {n_others} others together. An interval that ends at 0 "
            "excludes it."
        )

    def _contradictions(self, metrics: Sequence[str]) -> Iterator[str]:
        """Name the metrics by which the leader is not among the best."""
        for metric in metrics[1:]:
            best = self.best_set_of(metric)
            if self.baseline is None and self.names[0] not in best:
                yield f"But by {metric}, {self.names[0]} is worse: the best is {words.listed(best, 'or')}."

    def _counts(self, metric: str) -> Iterator[str]:
        """Sentences on queries that do not count in full, and on what they can detect."""
        used, flips = self._used(metric), self._flips(metric)
        n_units = len(flips.hashes)
        if undefined := int(np.isnan(self._aligned.values(metric)).any(axis=1).sum()):
            yield f"{counted(undefined, 'query')} without a value of {metric} in every ranking left out."
        if self.groups is not None:
            yield f"{counted(n_units, 'group')} of queries."
        if flips.n_effective < n_units / 2:
            yield (
                f"With these weights, {n_units} {'groups' if self.groups is not None else 'queries'} count as "
                f"{flips.n_effective:.0f}."
            )
        if self.folds is not None:
            yield from self._about_folds(metric)
        if len(self.best_set_of(metric)) > 1 and np.isfinite(self.detectable):
            yield (
                f"{counted(int(used.sum()), 'query')} can detect a difference of {self.detectable:.4f} with a power of "
                f"{POWER}."
            )

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"ranking": list(self.names)}
        for metric in self.metrics:
            found = {one.name: one for one in self.standings(metric)}
            rows = [found[name] for name in self.names]
            ends = [self._interval_of_mean(metric, name) for name in self.names]
            columns |= {
                metric: [one.mean for one in rows],
                f"{metric} low": [low for low, _ in ends],
                f"{metric} high": [high for _, high in ends],
            }
            if not self.tested(metric):
                continue
            letters = self.letters_of(metric)
            columns |= {
                f"{metric} difference": [one.difference for one in rows],
                f"{metric} difference low": [one.interval[0] for one in rows],
                f"{metric} difference high": [one.interval[1] for one in rows],
                f"{metric} p": [one.p_value for one in rows],
                f"{metric} status": [one.status for one in rows],
                f"{metric} regret": [one.regret for one in rows],
                f"{metric} letters": [letters[name] for name in self.names],
            }
        return columns

    def _interval_of_mean(self, metric: str, name: str) -> tuple[float, float]:
        if not is_mean(self._bound(metric)):
            return self.reports[name].intervals(self.confidence)[self._aligned.columns[metric][name]]
        values = self.values(metric)[name]
        return mean_interval(moments(values, self.weights), bounds_of(self._bound(metric)), self.confidence)

    def to_frame(self, library: str = "pandas", *, pairs: bool = False, slices: bool = False) -> Any:
        """Put the rankings, the pairs, or the rankings in each slice, into a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Library of the frame.
        pairs : bool, default=False
            Whether to return one row per metric and pair, and per slice if there are any.
        slices : bool, default=False
            Whether to return one row per slice and ranking.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            By default, one row per ranking, best first.

        Raises
        ------
        ImportError
            If the library is not installed.
        ValueError
            If ``slices`` is True without slices, or with ``pairs``.
        """
        if check_bool(pairs, "pairs"):
            if slices:
                raise ValueError("slices must be False with pairs=True, which has a column of slices; got True.")
            return self._frame(library, self._columns_of_pairs(), None)
        if not check_bool(slices, "slices"):
            return super().to_frame(library)
        if not self.slices:
            raise ValueError("slices must be False for a comparison without slices; got True. Pass by= to make some.")
        return self._frame(library, self._columns_of_slices(), "slice")

    def _named_slices(self) -> list[tuple[str, Comparison]]:
        names = names_of_slices(self.slices)
        return [(names[value], part) for value, part in self.slices.items() if part._used(part.metrics[0]).any()]

    def _columns_of_pairs(self) -> dict[str, list[Any]]:
        parts = [("all", self), *self._named_slices()]
        rows = [
            (value, pair)
            for value, part in parts
            for metric in part.metrics
            if part.tested(metric) and part._used(metric).any()
            for pair in part.pairs(metric)
        ]
        columns: dict[str, list[Any]] = {"slice": [value for value, _ in rows]} if self.slices else {}
        for name in ("metric", "first", "second", "difference", "p_value", "p_adjusted", "wins", "ties", "losses"):
            columns[name] = [getattr(pair, name) for _, pair in rows]
        for name, ends in (("", "interval"), ("simultaneous ", "simultaneous")):
            for side, end in enumerate(("low", "high")):
                columns[f"{name}{end}"] = [getattr(pair, ends)[side] for _, pair in rows]
        columns["verdict"] = [pair.verdict for _, pair in rows]
        return columns

    def _columns_of_slices(self) -> dict[str, list[Any]]:
        rows = [(value, part, number) for value, part in self._named_slices() for number in range(len(self.names))]
        columns: dict[str, list[Any]] = {
            "slice": [value for value, _, _ in rows],
            "ranking": [self.names[number] for *_, number in rows],
            "n_queries": [part.n_queries for _, part, _ in rows],
        }
        for metric in next(iter(self.slices.values())).metrics:
            found = [{one.name: one for one in part.standings(metric)}[self.names[i]] for _, part, i in rows]
            columns[metric] = [one.mean for one in found]
            columns[f"{metric} difference"] = [one.difference for one in found]
            columns[f"{metric} p"] = [one.p_value for one in found]
            columns[f"{metric} status"] = [one.status for one in found]
        return columns

    def _parts_of_slices(self) -> Iterator[Part]:
        """The means in the largest slices."""
        if not self.slices:
            return
        found = dict(self._named_slices())
        shown = largest(found, {value: part.n_queries for value, part in found.items()})
        metric = next(iter(self.slices.values())).metrics[0]
        yield self._few_in_slices(shown, metric) if len(self.names) <= FEW else self._best_in_slices(shown, metric)
        many = f"The largest {len(shown)} of {len(found)}; to_frame(slices=True) has all. " * (len(shown) < len(found))
        family = self._family_of_slices(metric)
        yield f"{many}*: may be the best in the slice by {metric}, all {family} in all slices together."
        if empty := [name for value, name in names_of_slices(self.slices).items() if name not in found]:
            yield f"Slices in which no query has a value: {', '.join(empty)}."

    def _family_of_slices(self, metric: str) -> str:
        part = self._slices_with(metric)[0]
        return counted(part._family(metric)[0].n_tests, "comparison")

    def _few_in_slices(self, shown: Mapping[str, Comparison], metric: str) -> Table:
        """The mean of each ranking in each slice."""
        columns = (Column("slice", str), Column("queries"), *(Column(name, _starred) for name in self.names))
        rows = []
        for value, part in shown.items():
            means, best = part.means(metric), part.best_set_of(metric)
            rows.append((value, part.n_queries, *((means[name], name in best) for name in self.names)))
        return Table(columns, rows)

    def _best_in_slices(self, shown: Mapping[str, Comparison], metric: str) -> Table:
        """The overall best ranking and the best ranking of each slice."""
        rows = []
        for value, part in shown.items():
            means, best = part.means(metric), part.best_set_of(metric)
            first = part._ranked(metric)[0]
            ends = [(means[name], name in best) for name in (self.names[0], first)]
            rows.append((value, part.n_queries, ends[0], first, ends[1]))
        heads = (Column("slice", str), Column("queries"), Column(f"{metric} of {self.names[0]}", _starred))
        return Table((*heads, Column("best in slice", str), Column(metric, _starred)), rows)

    def _about_folds(self, metric: str) -> Iterator[str]:
        """How many folds each ranking won, and what the intervals cover."""
        won = self.folds_won(metric)
        counts = ", ".join(f"{name} {number}" for name, number in won.items() if number)
        yield f"Best in {counted(len(np.unique(self.folds)), 'fold')}: {counts}."
        family, number = self._family(metric)
        wider = any(family.parts[number].row(i).fold_error.any() for i in range(len(self.names)))
        covers = (
            "folds differ more than queries, so they cover fitting again" if wider else "queries differ more than folds"
        )
        yield f"Standard errors: the larger of those over queries and over folds; here, {covers}."

    def folds_won(self, metric: Any = None) -> dict[str, int]:
        """Number of folds in which each ranking has the best mean, by name.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison. None means the first.

        Returns
        -------
        n_folds : dict of str to int
            If several share the best mean, the first one by the first metric counts.

        Raises
        ------
        ValueError
            If the rankings are not out of fold.
        """
        if self.folds is None:
            raise ValueError("folds_won needs rankings that are out of fold, such as those of cross_evaluate.")
        name = self._metric(metric)
        rows = [np.flatnonzero(self._used(name) & (self.folds == fold)) for fold in np.unique(self.folds)]
        parts = (replace(self, _aligned=self._aligned.part(row)) for row in rows if len(row))
        found = Counter(part._ranked(name)[0] for part in parts)
        return {own: found[own] for own in self.names}


def _negated(ends: tuple[float, float]) -> tuple[float, float]:
    return 0.0 - ends[1], 0.0 - ends[0]


def _verdict(ends: tuple[float, float], margin: float | None) -> str:
    """Verdict from the simultaneous interval of a difference; larger is better."""
    low, high = ends
    if low > 0:
        return "better"
    if margin is not None and low > -margin:
        return "not worse"
    return "worse" if high < 0 else "undecided"


def _starred(value: tuple[float, bool]) -> str:
    mean, is_best = value
    return f"{'*' * is_best}{as_text(mean)}"


def _hashes(ids: NDArray[Any]) -> Any:
    """A number per query or group that does not depend on its place, if the ids can be recognized anywhere."""
    try:
        return hash_ids(ids)
    except (TypeError, ValueError):
        numbers: dict[Any, int] = {}
        places = [numbers.setdefault(one, len(numbers)) for one in as_python(ids)]
        return hash_ids(np.array(places))


def _units_needed(effect: float, most: float, critical: float, power: float) -> float:
    """Number of units at which the test rejects with a given power; effect and largest difference in deviations."""
    n = ((critical + power) / effect) ** 2
    for _ in range(100):
        needed = (critical * (1 + effect**2 + most**2 / (2 * n)) ** 0.5 + power) ** 2 / effect**2
        if abs(needed - n) < 1e-6 * n:
            break
        n = needed
    return max(float(n), 6.0)

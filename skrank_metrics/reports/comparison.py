"""The result of comparing rankings of the same queries by one or several metrics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    Mask,
    check_bool,
    check_int,
    check_number,
)
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import visible
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports import verdict as words
from skrank_metrics.reports.inspection import Inspection, inspect_reports
from skrank_metrics.reports.mean_intervals import (
    bounds_of,
    check_by_query,
    is_mean,
    moments,
    quantile,
)
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.saved_reports import (
    read_saved,
    restored_fields,
    saved_fields,
    write_saved,
)
from skrank_metrics.reports.sign_flips import BestSet, Family, SignFlips, hash_units
from skrank_metrics.reports.slices import ALL, names_of_slices, queries_of_slices
from skrank_metrics.reports.verdict import Pair, QueryDifference, Standing

# Power for the smallest detectable difference.
POWER = 0.8
# With fewer queries that differ, their spread is too uncertain to plan with.
FEW_CHANGED = 30
# Fields that are saved as they are.
_OPTIONS = ("metrics", "confidence", "test", "correction", "baseline", "margin", "random_state")


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Rankings of the same queries, compared by one or several metrics.

    Prints a verdict and a table of rankings in terminals and notebooks. Nothing is tested before it is asked for.

    An argument ``metric`` is a metric of the comparison, by name or as passed to evaluate; None means the first. The
    names ``first`` and ``second`` may be left out together, for the best ranking and the baseline or the next best.

    Attributes
    ----------
    reports : dict of str to RankingReport
        Reports over the same queries in the same order by name, best first by the first metric.
    metrics : tuple of str
        Names of the metrics. All attributes and methods are about the first, unless they take ``metric``.
    folds : ndarray of int of shape (n_queries,) or None
        The fold in which each query was tested, if rankings are out of fold.
    confidence, test, correction, baseline, margin, random_state : object
        As passed to compare. Rankings are significantly different if the adjusted p-value is at most 1 - confidence.
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
    _slice_of: tuple[Any, Any] | None = field(
        default=None, kw_only=True
    )  # a comparison of all queries, and the slice
    _by_metric: dict[str, Self] = field(default_factory=dict, init=False)

    def __getstate__(self) -> dict[str, Any]:  # without what was computed
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"_by_metric": {}}

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

    def _metric(self, metric: Any) -> str:
        own = self._first.metrics
        return (
            self.metrics[0]
            if metric is None
            else check_column(metric, {name: own[name] for name in self.metrics})
        )

    def by_metric(self, metric: Any = None) -> Self:
        """Put a metric first, so that all attributes are about it. Rankings keep their order."""
        name = self._metric(metric)
        if name == self.metrics[0]:
            return self
        if self._slice_of is not None:
            whole, value = self._slice_of
            return whole.by_metric(name).slices[value]
        if name not in self._by_metric:
            self._by_metric[name] = replace(
                self, metrics=(name, *(one for one in self.metrics if one != name))
            )
        return self._by_metric[name]

    @property
    def _bound(self) -> BoundMetric:
        return self._first.metrics[self.metrics[0]]

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values are better."""
        return bool(self._bound.greater_is_better)

    @property
    def tested(self) -> bool:
        """Whether there are two rankings, and the metric is a mean over queries, so that it can be tested."""
        return len(self.names) > 1 and is_mean(self._bound)

    # Values

    @cached_property
    def _values(self) -> FloatArray:
        """Values of shape (n_queries, n_rankings)."""
        return np.stack(
            [report.per_query[self.metrics[0]] for report in self.reports.values()], axis=1
        )

    @cached_property
    def used(self) -> Mask:
        """Whether each query counts: it has a weight above 0 and a value in every ranking."""
        defined: Any = ~np.isnan(self._values).any(axis=1)
        return defined if self._first.weights is None else defined & (self._first.weights > 0)

    @property
    def _weights(self) -> FloatArray | None:
        return None if self._first.weights is None else self._first.weights[self.used]

    @cached_property
    def _means(self) -> dict[str, float]:
        undefined = np.isnan(self._values)
        if not is_mean(self._bound) or (undefined.any(axis=1) == undefined.all(axis=1)).all():
            return {name: report.mean[self.metrics[0]] for name, report in self.reports.items()}
        columns = zip(self.names, self._values[self.used].T, strict=True)
        return {name: moments(column, self._weights).mean for name, column in columns}

    def means(self, metric: Any = None) -> dict[str, float]:
        """Means by name of the ranking, over the queries with a value in every ranking."""
        return dict(self.by_metric(metric)._means)

    @cached_property
    def _ranked(self) -> tuple[str, ...]:
        """Names, best first by this metric; those without a mean last."""
        means, sign = self._means, -1 if self.greater_is_better else 1
        return tuple(sorted(means, key=lambda name: (math.isnan(means[name]), sign * means[name])))

    # Tests

    def check(self) -> None:
        """Raise an error if the metric cannot be tested."""
        check_by_query(self.metrics[0], self._bound)
        if len(self.names) < 2:
            raise ValueError(
                f"reports must hold at least two reports to compare; got {len(self.names)}."
            )

    @cached_property
    def _flips(self) -> SignFlips:
        """Tests of all pairs. Larger values are better."""
        report, used, (low, high) = self._first, self.used, bounds_of(self._bound)
        values = self._values[used]
        return SignFlips(
            values if self.greater_is_better else -values,
            np.ones(len(values)) if self._weights is None else self._weights,
            hash_units(report.qid if report.groups is None else report.groups)[used],
            self.random_state,
            self.test,
            high - low,
            None if self.folds is None else self.folds[used],
            enumerates=self._slice_of is None,
        )

    @cached_property
    def _family(self) -> Family:
        """What is corrected together: the tests of these rankings alone, or in all slices."""
        self.check()
        parts = [self] if self._slice_of is None else list(self._slice_of[0].slices.values())
        if parts[0] is not self:
            return parts[0]._family
        base = None if self.baseline is None else self.names.index(self.baseline)
        level = round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1
        return Family([part._flips for part in parts], level, self.correction, base)

    @property
    def _number(self) -> int:
        """The number of these rankings among the parts of the family."""
        return (
            0 if self._slice_of is None else list(self._slice_of[0].slices).index(self._slice_of[1])
        )

    @cached_property
    def _best(self) -> BestSet:
        return self._family.best_set(self._number)

    @property
    def best_set(self) -> tuple[str, ...]:
        """The rankings that may be the best, best first; with confidence, the truly best one is among them."""
        inside = dict(zip(self.names, self._best.inside, strict=True))
        return tuple(name for name in self._ranked if inside[name])

    @property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses, with confidence, by name; infinite if unknown."""
        return dict(zip(self.names, self._best.regret.tolist(), strict=True))

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name, best first; two rankings share one exactly if they do not differ significantly."""
        places = [self.names.index(name) for name in self._ranked]
        family = self._family.of_all_pairs
        return words.letters(
            self._ranked, family.p_adjusted[self._number][np.ix_(places, places)] <= family.level
        )

    @property
    def verdict(self) -> str:
        """What is known about the best ranking, in one or two sentences."""
        return visible(words.verdict_of(self))

    # Pairs and rankings

    def pairs(self, metric: Any = None) -> tuple[Pair, ...]:
        """All pairs, the better by the first metric first, or all rankings and the baseline."""
        own = self.by_metric(metric)
        return tuple(words.pair_of(own, self.names[i], self.names[j]) for i, j in own._family.pairs)

    def pair(self, first: str | None = None, second: str | None = None, metric: Any = None) -> Pair:
        """Two rankings; values of the second are subtracted. The class says which, if they are left out.

        If neither is the baseline, they are in no family, and ``p_adjusted`` and ``simultaneous`` are NaN.
        """
        own = self.by_metric(metric)
        own.check()
        if first is None and second is None:
            first = next(name for name in self.names if name != self.baseline)
            second = self.baseline or self.names[1]
        one, other = str(first), str(second)
        if one == other or not {one, other} <= self.reports.keys():
            raise ValueError(
                f"first and second must be two of {', '.join(self.names)}; got {first!r} and {second!r}."
            )
        return words.pair_of(own, one, other)

    def standings(self, metric: Any = None) -> tuple[Standing, ...]:
        """What is known about each ranking by a metric, best first."""
        return tuple(words.standings_of(self.by_metric(metric)))

    @property
    def folds_won(self) -> dict[str, int]:
        """Number of folds in which each ranking has the best mean, by name; empty unless they are out of fold."""
        if self.folds is None:
            return {}
        rows = [
            np.flatnonzero(self.used & (self.folds == fold))
            for fold in np.unique(self.folds[self.used])
        ]
        won = [self._part(row)._ranked[0] for row in rows]
        return {name: won.count(name) for name in self.names}

    # Planning

    @property
    def _critical(self) -> FloatArray:
        """Critical values of each ranking against another one, for the question that is asked."""
        return (
            self._best.critical
            if self.baseline is None
            else np.full(len(self.names), self._family.critical)
        )

    @property
    def detectable(self) -> float:
        """The difference that these queries detect with a power of 0.8; NaN if unknown.

        It is the median over the comparisons of the best ranking, or of the baseline, with all others.
        """
        if not self.tested:
            return np.nan
        row = self._flips.row(self.names.index(self.baseline or self._ranked[0]))
        found = (self._critical + quantile(2 * POWER - 1, np.inf)) * np.maximum(
            row.error, row.fold_error
        )
        return float(self._flips.scale * np.median(found[found > 0])) if found.any() else np.nan

    def queries_needed(
        self,
        difference: float,
        *,
        power: float = POWER,
        first: str | None = None,
        second: str | None = None,
    ) -> int:
        """Compute how many queries are needed to detect a difference with this power.

        Two rankings show how much queries vary, which is uncertain (UserWarning) if fewer than 30 queries differ.
        After T. Sakai (2016), Topic set size design. https://doi.org/10.1007/s10791-015-9273-z
        """
        power, wanted = (
            check_number(power, "power", "(0, 1)"),
            check_number(difference, "difference", "(0, inf)"),
        )
        pair, flips = self.pair(first, second), self._flips
        one, other = self.names.index(pair.first), self.names.index(pair.second)
        if wanted > flips.span:
            raise ValueError(
                f"difference must be at most {flips.span:g}, the range of {pair.metric}; got {difference}."
            )
        if not (error := float(flips.row(one).error[other])) > 0:
            raise ValueError(
                f"{pair.first!r} and {pair.second!r} must differ by different amounts on different queries; all "
                f"{pair.n_queries} differences are equal. Compare over more queries."
            )
        if (changed := pair.wins + pair.losses) < FEW_CHANGED:
            what = f"Only {counted(changed, 'query')} of {pair.first} and {pair.second} differ"
            warnings.warn(
                f"{what}, so the number of queries needed is uncertain.", UserWarning, stacklevel=2
            )
        spread = error * flips.scale * flips.n_effective**0.5
        effect, most = wanted / spread, float(np.abs(pair.differences).max()) / spread
        normal, needed = quantile(2 * power - 1, np.inf), 6.0
        for _ in range(
            100
        ):  # the test rejects at this number of units, on which the statistic itself depends
            noise = self._critical[other] * (1 + effect**2 + most**2 / (2 * needed)) ** 0.5
            needed = max(6.0, (noise + normal) ** 2 / effect**2)
        return int(np.ceil(needed * pair.n_queries / flips.n_effective))

    # Queries and slices

    def _part(self, rows: IntArray, **changes: Any) -> Self:
        """Select some of the queries."""
        folds = None if self.folds is None else self.folds[rows]
        reports = {name: report._part(rows) for name, report in self.reports.items()}
        return replace(self, reports=reports, folds=folds, **changes)

    @cached_property
    def slices(self) -> dict[Any, Self]:
        """One comparison per slice with a query to compare, tested together; rankings are in the same order."""
        tested = {name: own.used for name in self.metrics if (own := self.by_metric(name)).tested}
        if self._first.by is None or not tested:
            return {}
        if self.metrics[0] not in tested:
            return self.by_metric(next(iter(tested))).slices
        found = {}
        for value, rows in queries_of_slices(self._first.by):
            metrics = tuple(name for name, used in tested.items() if used[rows].any())
            if self.metrics[0] in metrics:
                found[value] = self._part(rows, metrics=metrics, _slice_of=(self, value))
        return found

    def _named_slices(self) -> dict[str, Self]:
        return dict(zip(names_of_slices(self.slices).values(), self.slices.values(), strict=True))

    def worst(
        self, n: int = 10, first: str | None = None, second: str | None = None
    ) -> list[QueryDifference]:
        """List at most n queries on which the first ranking loses against the second, the largest loss first."""
        return self._by_lead(n, -1, first, second)

    def best(
        self, n: int = 10, first: str | None = None, second: str | None = None
    ) -> list[QueryDifference]:
        """List at most n queries on which the first ranking wins against the second, the largest win first."""
        return self._by_lead(n, 1, first, second)

    def _by_lead(
        self, n: int, sign: int, first: str | None, second: str | None
    ) -> list[QueryDifference]:
        pair = self.pair(first, second)
        lead = sign * (pair.differences if self.greater_is_better else -pair.differences)
        order = np.argsort(-lead, kind="stable")[: check_int(n, "n", 1)]
        order = order[lead[order] > 0]
        columns = (
            as_python(pair.qid[order]),
            *(own[order].tolist() for own in (*pair.values, pair.differences)),
        )
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
        """Show two rankings for the queries on which they differ most, or for the queries ``qid``.

        The number of queries n is 3 by default; other arguments are as in RankingReport.inspect.
        """
        if n is not None and qid is not None:
            raise ValueError(
                f"n must be left out if qid names the queries; got n={n} and qid={qid!r}."
            )
        check_int(n, "n", 1, or_none=True)
        pair = self.pair(first, second, metric)
        if qid is None:
            qid = as_python(
                pair.qid[np.argsort(-np.abs(pair.differences), kind="stable")[: n or 3]]
            )
        chosen = {own: (self.reports[own], pair.metric) for own in (pair.first, pair.second)}
        return inspect_reports(chosen, qid, documents, n_ranks)

    # Files, text and frames

    def save(self, path: Any) -> None:
        """Write the reports and the options to a file, as RankingReport.save does."""
        options = {name: getattr(self, name) for name in _OPTIONS}
        reports = [[name, saved_fields(report)] for name, report in self.reports.items()]
        folds = None if self.folds is None else self.folds.tolist()
        write_saved("comparison", {"reports": reports, "folds": folds, **options}, path)

    @classmethod
    def load(cls, path: Any) -> Comparison:
        """Read a comparison that ``save`` wrote; its reports keep no labels and scores."""
        saved = read_saved("comparison", path)
        reports = {
            name: RankingReport(**restored_fields(report)) for name, report in saved.pop("reports")
        }
        folds, metrics = saved.pop("folds"), tuple(saved.pop("metrics"))
        return Comparison(reports, metrics, None if folds is None else np.array(folds), **saved)

    def _brief(self) -> str:
        return f"{counted(len(self.names), 'ranking')} by {', '.join(self.metrics)}, {counted(self.n_queries, 'query')}"

    def _parts(self) -> list[Part]:
        return [
            *filter(None, [self.verdict]),
            self._brief(),
            *words.tables(self),
            *self._notes(),
            *words.slices(self),
        ]

    def _notes(self) -> Iterator[Part]:
        """Sentences below the tables; subclasses add theirs."""
        return words.notes(self)

    def to_frame(
        self, library: str = "pandas", *, pairs: bool = False, slices: bool = False
    ) -> Any:
        """Put the rankings, or the pairs, into a frame of pandas or polars, with further rows for slices on request.

        Rankings are best first. For each metric, there are the mean with its interval, and the entries of ``standings``
        and ``letters``.
        """
        parts = {ALL: self} | (self._named_slices() if check_bool(slices, "slices") else {})
        columns_of = words.columns_of_pairs if check_bool(pairs, "pairs") else type(self)._columns
        found = {value: columns_of(part) for value, part in parts.items()}
        sizes = {value: len(next(iter(own.values()))) for value, own in found.items()}
        named = (
            {"slice": [value for value, size in sizes.items() for _ in range(size)]}
            if slices
            else {}
        )
        columns = {  # a slice may lack values of a metric
            name: [
                one
                for value, own in found.items()
                for one in own.get(name, [np.nan] * sizes[value])
            ]
            for name in found[ALL]
        }
        return self._frame(library, named | columns, None if pairs or slices else self._index)

    def _columns(self) -> dict[str, Any]:
        return words.columns_of_rankings(self)

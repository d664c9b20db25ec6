"""The facts of a report, each declared once: print, frame of means, dict and flat keys read them here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.grouping import group_rows
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Column, Note, Table, counted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import flat_name
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.reports.mean_intervals import (
    AVERAGES_WITHOUT_INTERVAL,
    Moments,
    bounds_of,
    mean_interval,
    moments,
)

Name = TypeVar("Name", bound=Hashable)

# How a report of lists by id came about: the convention, and how each file was read.

DEFAULT_CONVENTION: ConventionName = "sklearn"


@dataclass(frozen=True)
class ReadFile:
    """A file of lists by id, and how it was read."""

    name: str
    form: str  # such as "TREC judgments"
    n_queries: int


@dataclass(frozen=True)
class Origin:
    """The convention of a report, and the files that it was computed from."""

    convention: str = DEFAULT_CONVENTION
    files: tuple[ReadFile, ...] = ()

    @property
    def title(self) -> str:
        """What the title adds."""
        if self.convention == DEFAULT_CONVENTION:
            return ""
        return f", convention {self.convention}"

    @property
    def noun(self) -> str:
        """What a ranking is called."""
        if self.files or self.convention == "trec_eval":
            return "run"
        return "ranking"

    @property
    def run(self) -> str:
        """Name of the file of the run without its extension; empty if it is not known."""
        if len(self.files) < 2:
            return ""
        return os.path.basename(self.files[-1].name).partition(".")[0]

    @property
    def note(self) -> list[str]:
        """How the files were read, in a sentence; nothing without files."""
        if not self.files:
            return []
        first, *others = self.files
        words = [f"{_read_as(first)} ({counted(first.n_queries, 'query')})"]
        words += [f"{_read_as(file)} ({file.n_queries})" for file in others]
        return [f"Read: {', '.join(words)}."]


UNKNOWN = Origin()


def _read_as(file: ReadFile) -> str:
    return f"{os.path.basename(file.name)} as {file.form}"


# The values of metrics, and what is computed from them.


@dataclass(frozen=True, eq=False)
class MetricValues:
    """The values of one metric, from which its facts are computed."""

    metric: BoundMetric
    result: PerQuery
    weights: FloatArray | None
    groups: NDArray[Any] | None

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.result.numerators)

    @cached_property
    def per_query(self) -> FloatArray:
        """One value per query; undefined values are replaced by ``replace_undefined_by``."""
        values = np.asarray(self.metric.aggregate(self.result, None, average=None))
        values.setflags(write=False)  # sorting them in place would part them from their queries
        return values

    @cached_property
    def mean(self) -> float:
        """Mean of the values of queries, without those that are NaN, or another average if the metric has one."""
        average = self.metric.average or "macro"
        return float(self.metric.aggregate(self.result, self.weights, average=average))

    @property
    def median(self) -> float:
        """Weighted median over queries."""
        return float(self.metric.aggregate(self.result, self.weights, average="median"))

    @property
    def std(self) -> float:
        """Weighted standard deviation over queries; queries with the value NaN are left out."""
        return moments(self.per_query, self.weights).std

    @property
    def n_undefined(self) -> int:
        """Number of queries for which the metric is undefined."""
        return int(np.isnan(self.result.values).sum())

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the mean; both ends are NaN if there is none."""
        if self.metric.average in AVERAGES_WITHOUT_INTERVAL:
            return np.nan, np.nan
        return mean_interval(self._moments, bounds_of(self.metric), confidence)

    @cached_property
    def _moments(self) -> Moments:
        """Mean and spread of what varies independently: queries, or groups of them."""
        values, weights = self.per_query, self.weights
        if self.metric.average == "micro":
            # A pooled ratio is the mean of the ratios of the queries, each weighted by its denominator.
            sizes = self.result.denominators
            if weights is not None:
                sizes = sizes * weights
            weights = sizes
        if self.groups is not None:
            values, weights = _by_group(values, weights, self.groups)
        return moments(values, weights)


def values_of(ranking: Ranking, metrics: Mapping[Name, BoundMetric]) -> dict[Name, MetricValues]:
    """Several metrics of one ranking, computed in one pass."""
    results = per_query(ranking, [metric.computation for metric in metrics.values()])
    queries = ranking.documents.queries
    return {
        name: MetricValues(metric, result, queries.weights, queries.groups)
        for (name, metric), result in zip(metrics.items(), results, strict=True)
    }


def _by_group(
    values: FloatArray, weights: FloatArray | None, groups: NDArray[Any]
) -> tuple[FloatArray, FloatArray]:
    """Mean and total weight of each group; a mean over queries is the mean of these."""
    codes = group_rows(groups).codes
    # Values that are left out of the mean have no weight in their group.
    if weights is None:
        weights = np.ones(len(values))
    shares = np.where(np.isnan(values), 0.0, weights)
    totals = np.bincount(codes, shares).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return np.bincount(codes, shares * np.nan_to_num(values)) / totals, totals


@dataclass(frozen=True)
class Fact:
    """Something known about a metric: its names in frames and dicts, its printed column, and how it is computed."""

    names: tuple[str, ...]
    head: str | None  # of the printed column; None if it is not printed
    compute: Callable[[MetricValues], Any]  # one number, or one for each of several names
    meaning: str = ""  # of the printed column, in a sentence
    of_slices: bool = False  # also printed of slices, whose tables have their number of queries
    is_optional: bool = False  # not in dicts if it is NaN

    @property
    def column(self) -> Column:
        """The printed column."""
        return Column(self.head, meaning=self.meaning)

    def named(self, values: MetricValues) -> dict[str, float]:
        """The numbers by name."""
        found = self.compute(values)
        numbers = found if len(self.names) > 1 else (found,)
        return dict(zip(self.names, numbers, strict=True))


# To add a fact, declare it here.
FACTS = (
    Fact(
        ("mean",), "mean", lambda values: values.mean, "Average over the queries.", of_slices=True
    ),
    Fact(
        ("low", "high"),
        "95% interval",
        lambda values: values.interval(),
        "The mean over all queries of this kind is probably between these numbers.",
        of_slices=True,
        is_optional=True,
    ),
    Fact(("std",), None, lambda values: values.std),
    Fact(("median",), None, lambda values: values.median),
    Fact(
        ("n_undefined",),
        "undefined queries",
        lambda values: values.n_undefined,
        "Queries that have no value of the metric, such as those without a relevant document.",
    ),
)
NAMES = tuple(name for fact in FACTS for name in fact.names)


def facts_of(values: MetricValues) -> dict[str, float]:
    """All facts by name, without those that do not exist."""
    found: dict[str, float] = {}
    for fact in FACTS:
        numbers = fact.named(values)
        if not (fact.is_optional and np.isnan(list(numbers.values())).any()):
            found |= numbers
    return found


# Parts of the queries of a report: slices from ``by``, their order and their names.

# Number of slices shown: the largest ones, since the mean of a few queries says little.
MOST_SLICES = 12
# Name of all queries together, beside slices.
ALL = "all"


class Slice(Protocol):
    """A report or a comparison of some of the queries."""

    @property
    def n_queries(self) -> int:
        """Number of queries."""


T = TypeVar("T", bound=Slice)


def queries_of_slices(by: NDArray[Any]) -> list[tuple[Any, IntArray]]:
    """Slices with the positions of their queries, sorted if they have an order, missing values last."""
    slices = group_rows(by)
    numbered = list(enumerate(as_python(slices.ids)))
    try:
        numbered.sort(key=lambda item: [(part is None, part) for part in _as_tuple(item[1])])
    except (TypeError, ValueError):
        numbered.sort(key=lambda item: item[1] is None)
    return [(name, np.flatnonzero(slices.codes == number)) for number, name in numbered]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return (value,)


def name_of_slice(value: Any) -> str:
    """A slice as text: "missing" for a missing value, and the values of several columns in one line."""
    return ", ".join("missing" if part is None else str(part) for part in _as_tuple(value))


def names_of_slices(values: Iterable[Any]) -> dict[Any, str]:
    """A distinct name for each slice, also different from that of all queries, and the same everywhere.

    If 1 and "1" are both slices, the second becomes "1 (2)".
    """
    names: dict[Any, str] = {}
    taken = {ALL}
    for value in values:
        name = unused = name_of_slice(value)
        number = 1
        while unused in taken:
            number += 1
            unused = f"{name} ({number})"
        taken.add(unused)
        names[value] = unused
    return names


def largest(slices: Mapping[Any, T]) -> dict[Any, T]:
    """The slices to show in their order: if there are many, the largest."""
    shown = set(sorted(slices, key=lambda value: -slices[value].n_queries)[:MOST_SLICES])
    return {value: part for value, part in slices.items() if value in shown}


def note_on_largest(n_shown: int, n_all: int, everywhere: str) -> list[Note]:
    """Say where all slices are; no sentence if all are shown."""
    if n_shown == n_all:
        return []
    return [Note(f"These are the largest {n_shown} of {n_all} slices", f"{everywhere} has all")]


def flat_slice(value: Any) -> str:
    """Spell a slice with letters, digits and underscores, as described in to_dict."""
    parts = [name_of_slice(part) for part in _as_tuple(value)]
    # An underscore is encoded only if it would begin a code.
    return "_x_".join(re.sub(r"[^A-Za-z0-9_]|_(?=x)", _code, part) for part in parts)


def _code(found: re.Match[str]) -> str:
    return f"_x{ord(found[0]):x}_"


# The facts of all metrics, of all queries and of slices: as dicts, columns and printed tables.

ByMetric: TypeAlias = Mapping[str, MetricValues]


def nested_facts(whole: ByMetric, slices: Mapping[Any, ByMetric]) -> dict[str, Any]:
    """Facts by metric, with those of slices by name in "slices"."""
    names = names_of_slices(slices)
    found: dict[str, Any] = {metric: facts_of(values) for metric, values in whole.items()}
    for value, block in slices.items():
        for metric, values in block.items():
            of_slices = found[metric].setdefault("slices", {})
            of_slices[names[value]] = {"n_queries": values.n_queries, **facts_of(values)}
    return found


def flat_facts(whole: ByMetric, slices: Mapping[Any, ByMetric]) -> dict[str, float]:
    """Facts by keys that experiment trackers accept; the mean has no ending."""
    blocks = [("", whole)]
    blocks += [(f"_slice_{flat_slice(value)}", part) for value, part in slices.items()]
    found: dict[str, float] = {}
    for end, block in blocks:
        for metric, values in block.items():
            for name, number in facts_of(values).items():
                key = f"{flat_name(metric)}_{name}".removesuffix("_mean") + end
                # Numbering such keys would make them depend on the other metrics of the report.
                if key in found:
                    raise ValueError(
                        f"to_dict(flat=True) needs metrics and slices whose names differ; {metric!r} gives the key "
                        f"{key!r} of another one. Evaluate with metrics={{'other name': {metric!r}, ...}}."
                    )
                found[key] = number
    return found


def fact_columns(whole: ByMetric, slices: Mapping[Any, ByMetric]) -> dict[str, list[Any]]:
    """Columns of facts: first of all queries, then of the slices."""
    names = names_of_slices(slices)
    blocks = {ALL: whole} | {names[value]: part for value, part in slices.items()}
    rows = []
    for block, part in blocks.items():
        for metric, values in part.items():
            row = {"metric": metric, "slice": block, "n_queries": values.n_queries}
            # Some facts do not exist, such as the interval of a median.
            rows.append(row | dict.fromkeys(NAMES, np.nan) | facts_of(values))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    if not slices:
        del columns["slice"]
    return columns


def table_of_facts(whole: ByMetric, title: str) -> Table:
    """One row per metric."""
    printed = [fact for fact in FACTS if fact.head]
    heads = [fact.column for fact in printed]
    rows = [(name, *(fact.compute(values) for fact in printed)) for name, values in whole.items()]
    return Table(("metric", *heads), rows, title)


def table_of_slices(slices: Mapping[str, ByMetric]) -> Table:
    """One row per slice and metric."""
    printed = [fact for fact in FACTS if fact.of_slices]
    heads = [fact.column for fact in printed]
    rows = []
    for name, part in slices.items():
        for metric, values in part.items():
            facts = [fact.compute(values) for fact in printed]
            rows.append((name, metric, values.n_queries, *facts))
    return Table(("slice", "metric", "queries", *heads), rows)

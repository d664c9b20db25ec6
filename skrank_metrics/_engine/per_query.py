"""Compute one value per query, and aggregate the values of all queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._engine.documents import Documents, OfQueries
from skrank_metrics._engine.ranked_blocks import ranked_blocks
from skrank_metrics._engine.ranking import Ranking, Sight
from skrank_metrics._input.arrays import UNJUDGED, FloatArray, IntArray

AVERAGES = ("macro", "micro", "median", "geometric", None)
# trec_eval has the same floor: a single query with value 0 would make a geometric mean 0.
GEOMETRIC_FLOOR = 1e-5

# What a kernel returns for a block: one value per query, or its numerator and denominator.
KernelResult: TypeAlias = FloatArray | tuple[FloatArray, FloatArray | IntArray]
Kernel: TypeAlias = Callable[..., KernelResult]


@dataclass(frozen=True)
class Computation:
    """A kernel with all its parameters, but without data."""

    kernel: Kernel
    options: Mapping[str, Any]
    k: int | None
    ties: str
    needs_relevant: bool  # undefined for a query without relevant documents
    needs_all_ranks: bool = False  # even with a cutoff
    always_defined: bool = False  # even if no document was judged
    min_documents: int = 1  # undefined for a query with fewer, ranked or not
    # How documents that nobody judged are treated: as label 0 ("zero"), "left out", or "counted".
    unjudged: str = "zero"
    name: str = ""  # of the metric, in errors
    signed: bool = False  # whether labels may be negative
    documents: tuple[str, ...] = ()  # columns that the kernel needs


@dataclass(frozen=True)
class PerQuery(OfQueries):
    """Numerators and denominators of each query; NaN and 0 / 0 are undefined values."""

    numerators: FloatArray
    denominators: FloatArray

    @property
    def values(self) -> FloatArray:
        """One value per query, NaN if undefined."""
        with np.errstate(invalid="ignore"):
            return self.numerators / self.denominators


@contextmanager
def refuse_overflow() -> Iterator[None]:
    """Raise an error if a sum of finite gains is infinite."""
    try:
        # Whatever else the caller wants to raise is no overflow.
        with np.errstate(over="raise", divide="warn", invalid="warn", under="ignore"):
            yield
    except (FloatingPointError, OverflowError):
        raise ValueError(
            "The sum of gains overflows float64; rescale the labels of y_true."
        ) from None


@refuse_overflow()
def per_query(ranking: Ranking, computations: Sequence[Computation]) -> list[PerQuery]:
    """Compute all metrics in one pass, ranking each block once per tie policy."""
    documents = ranking.documents
    results = []
    # Metrics that see the same documents, with the same tie policy, share one pass.
    passes: dict[tuple[Sight, str], list[tuple[Computation, PerQuery]]] = {}
    for given in computations:
        _check_suitable(documents, given)
        computation = replace(given, options=documents.with_rounded_threshold(given.options))
        result = PerQuery(np.zeros(documents.n_queries), np.ones(documents.n_queries))
        results.append(result)
        key = ranking.sight(computation.unjudged), computation.ties
        passes.setdefault(key, []).append((computation, result))
    for (sight, ties), members in passes.items():
        _compute(ranking.seen(sight), ties, members)
    for computation, result in zip(computations, results, strict=True):
        result.numerators[documents.grouping.sizes < computation.min_documents] = np.nan
        if computation.unjudged != "counted" and not computation.always_defined:
            result.numerators[documents.n_judged == 0] = np.nan
    return results


def _check_suitable(documents: Documents, computation: Computation) -> None:
    """Refuse documents without what a metric needs."""
    if documents.negative and not computation.signed:
        raise ValueError(
            f"{documents.negative}. Labels must be >= 0 for {computation.name}. {UNJUDGED}"
        )
    for column in computation.documents:
        if column not in documents.columns:
            raise ValueError(
                f"metric {computation.name!r} needs documents=... with the column {column!r}."
            )


def _compute(ranking: Ranking, ties: str, members: Sequence[tuple[Computation, PerQuery]]) -> None:
    needs_all = any(one.needs_all_ranks or one.k is None for one, _ in members)
    depth = None if needs_all else max(one.k or 0 for one, _ in members)
    for queries, block in ranked_blocks(ranking, depth, ties):
        for computation, result in members:
            values = computation.kernel(block.cut(computation.k), **computation.options)
            undefined = np.zeros(len(queries), dtype=bool)
            if computation.needs_relevant:
                threshold = computation.options.get("relevance_threshold")
                undefined = block.n_relevant(threshold) == 0
            if isinstance(values, tuple):
                result.numerators[queries], result.denominators[queries] = values
            else:
                result.numerators[queries] = values
                # A sum need not be 0 if non-relevant documents have gains.
                undefined &= values == 0
            result.numerators[queries[undefined]] = np.nan


@refuse_overflow()
def aggregate(
    result: PerQuery,
    weights: FloatArray | None,
    *,
    average: str | None,
    replace_undefined_by: float,
) -> float | FloatArray:
    """Average over queries, pooled ratio or all values, with undefined ones replaced (NaN leaves them out)."""
    if average is None:
        return _replaced(result, replace_undefined_by)
    if weights is not None:
        if not weights.any():
            # The mean of no queries is NaN, too.
            return float("nan")
        weights = _at_most_one(weights)
    if average == "median":
        return _median(_replaced(result, replace_undefined_by), weights)
    terms, shares = ratio_terms(result, weights, average, replace_undefined_by)
    # Exact sums do not depend on the order of the queries.
    numerator = math.fsum(terms.tolist())
    return ratio(numerator, math.fsum(shares.tolist()), average, replace_undefined_by)


def ratio_terms(
    result: PerQuery, weights: FloatArray | None, average: str, replace_undefined_by: float
) -> tuple[FloatArray, FloatArray]:
    """Terms of the numerator and of the denominator of an average other than the median."""
    if average == "micro":
        terms, shares = _pooled_terms(result, replace_undefined_by)
    else:
        values = _replaced(result, replace_undefined_by)
        if average == "geometric":
            values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        defined = ~np.isnan(values)
        terms = values[defined]
        shares = np.ones(len(terms))
        if weights is not None:
            weights = weights[defined]
    if weights is None:
        return terms, shares
    return weights * terms, weights * shares


def _pooled_terms(result: PerQuery, replace_undefined_by: float) -> tuple[FloatArray, FloatArray]:
    undefined = np.isnan(result.values)
    if np.isnan(replace_undefined_by):
        terms = np.where(undefined, 0.0, result.numerators)
        return terms, np.where(undefined, 0.0, result.denominators)
    # A query weighs as much as its denominator in a pooled ratio, so 0 / 0 adds nothing.
    replaced = replace_undefined_by * result.denominators
    return np.where(undefined, replaced, result.numerators), result.denominators


def ratio(numerator: float, denominator: float, average: str, replace_undefined_by: float) -> float:
    """The average, given the sums of its terms."""
    if not denominator:
        return replace_undefined_by if average == "micro" else float("nan")
    mean = numerator / denominator
    if average == "geometric":
        return math.exp(mean)
    return mean


def _replaced(result: PerQuery, replace_undefined_by: float) -> FloatArray:
    values = result.values
    values[np.isnan(values)] = replace_undefined_by
    return values


def _median(values: FloatArray, weights: FloatArray | None) -> float:
    """Value at half of the total weight; the mean of this value and the next if it ends at exactly half."""
    if weights is None:
        weights = np.ones_like(values)
    counted = np.flatnonzero(~np.isnan(values) & (weights > 0))
    if not counted.size:
        return float("nan")
    order = counted[np.argsort(values[counted], kind="stable")]
    up_to = np.cumsum(weights[order])
    # Sums that equal half of the weight up to rounding count as half of it.
    half = up_to[-1] / 2
    low, high = np.searchsorted(up_to, [half * (1 - 1e-12), half * (1 + 1e-12)])
    return float((values[order[low]] + values[order[high]]) / 2)


def _at_most_one(weights: FloatArray) -> FloatArray:
    # Sums of huge weights overflow, and tiny weights lose digits; dividing by a power of two is exact.
    return np.ldexp(weights, -np.frexp(weights.max())[1])

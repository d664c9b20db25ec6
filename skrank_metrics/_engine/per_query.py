"""Compute one value per query, and aggregate the values of all queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.ranked_blocks import RankedBlock, ranked_blocks
from skrank_metrics._engine.ranking import Ranking, Sight
from skrank_metrics._input.arrays import FloatArray, IntArray

AVERAGES = ("macro", "micro", "median", "geometric", None)
# As in trec_eval: a single query with value 0 would make a geometric mean 0.
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
    unjudged: str = (
        "zero"  # how documents that nobody judged are treated: as label 0, "left out", or "counted"
    )
    name: str = ""  # of the metric, in errors
    signed: bool = False  # whether labels may be negative
    documents: tuple[str, ...] = ()  # columns that the kernel needs


@dataclass(frozen=True)
class PerQuery:
    """Numerators and denominators of each query; NaN and 0 / 0 are undefined values."""

    numerators: FloatArray
    denominators: FloatArray

    def take(self, places: IntArray) -> PerQuery:
        """Those of some of the queries, by position."""
        return PerQuery(self.numerators[places], self.denominators[places])

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
    for computation in computations:
        _check_suitable(documents, computation)
    results = []
    # Metrics that see the same documents, with the same tie policy, share one pass.
    passes: dict[Sight, dict[str, list[tuple[Computation, PerQuery]]]] = {}
    for given in computations:
        computation = replace(given, options=documents.with_rounded_threshold(given.options))
        result = PerQuery(np.zeros(documents.n_queries), np.ones(documents.n_queries))
        results.append(result)
        by_ties = passes.setdefault(ranking.sight(computation.unjudged), {})
        by_ties.setdefault(computation.ties, []).append((computation, result))
    for sight, by_ties in passes.items():
        seen = ranking.seen(sight)
        for ties, members in by_ties.items():
            _compute(seen, ties, members)
    for computation, result in zip(computations, results, strict=True):
        if computation.min_documents > 1:
            result.numerators[documents.grouping.sizes < computation.min_documents] = np.nan
    if documents.judged is not None:
        for computation, result in zip(computations, results, strict=True):
            if computation.unjudged != "counted" and not computation.always_defined:
                result.numerators[documents.n_judged == 0] = np.nan
    return results


def _check_suitable(documents: Documents, computation: Computation) -> None:
    """Refuse documents without what a metric needs."""
    if documents.negative and not computation.signed:
        raise ValueError(
            f"{documents.negative}. Labels must be >= 0 for {computation.name}. Mark unjudged documents with "
            "judged= or leave them out; a label that means 'not relevant' is 0."
        )
    for column in computation.documents:
        if column not in documents.columns:
            raise ValueError(
                f"metric {computation.name!r} needs documents=... with the column {column!r}."
            )


def _compute(ranking: Ranking, ties: str, members: Sequence[tuple[Computation, PerQuery]]) -> None:
    cutoffs = [None if computation.needs_all_ranks else computation.k for computation, _ in members]
    depth = None if None in cutoffs else max(k for k in cutoffs if k is not None)
    for queries, block in ranked_blocks(ranking, depth, ties):
        for computation, result in members:
            _compute_block(computation, block, queries, result)


def _compute_block(
    computation: Computation, block: RankedBlock, queries: IntArray, result: PerQuery
) -> None:
    values = computation.kernel(block.cut(computation.k), **computation.options)
    is_ratio = isinstance(values, tuple)
    numerators, denominators = values if isinstance(values, tuple) else (values, 1.0)
    result.numerators[queries] = numerators
    result.denominators[queries] = denominators
    if computation.needs_relevant:
        threshold = computation.options.get("relevance_threshold")
        undefined = block.n_relevant(threshold) == 0
        if not is_ratio:  # a sum, which need not be 0 if non-relevant documents have gains
            undefined &= numerators == 0
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
            return float("nan")  # as for no queries at all
        weights = _at_most_one(weights)
    if average == "median":
        values = _replaced(result, replace_undefined_by)
        defined = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
        ones = np.ones_like(values) if weights is None else weights
        return _median(values[defined], ones[defined]) if defined.any() else float("nan")
    terms, shares = ratio_terms(result, weights, average, replace_undefined_by)
    equal = average != "micro" and weights is None
    total = math.fsum(terms.tolist())  # exact, so it does not depend on the order of the queries
    return ratio(
        total, len(shares) if equal else math.fsum(shares.tolist()), average, replace_undefined_by
    )


def ratio_terms(
    result: PerQuery, weights: FloatArray | None, average: str, replace_undefined_by: float
) -> tuple[FloatArray, FloatArray]:
    """Terms of the numerator and of the denominator of an average other than the median."""
    if average == "micro":
        undefined, left_out = np.isnan(result.values), np.isnan(replace_undefined_by)
        replaced = 0.0 if left_out else replace_undefined_by * result.denominators
        terms = np.where(undefined, replaced, result.numerators)
        shares = np.where(undefined & left_out, 0.0, result.denominators)
    else:
        values = _replaced(result, replace_undefined_by)
        defined = ~np.isnan(values)
        terms, shares = values[defined], np.ones(int(defined.sum()))
        weights = None if weights is None else weights[defined]
        terms = np.log(np.maximum(terms, GEOMETRIC_FLOOR)) if average == "geometric" else terms
    return (terms, shares) if weights is None else (weights * terms, weights * shares)


def ratio(numerator: float, denominator: float, average: str, replace_undefined_by: float) -> float:
    """The average, given the sums of its terms."""
    if not denominator:
        return replace_undefined_by if average == "micro" else float("nan")
    mean = numerator / denominator
    return math.exp(mean) if average == "geometric" else mean


def _replaced(result: PerQuery, replace_undefined_by: float) -> FloatArray:
    values = result.values
    values[np.isnan(values)] = replace_undefined_by
    return values


def _median(values: FloatArray, weights: FloatArray) -> float:
    """Value at half of the total weight; the mean of this value and the next if it ends at exactly half."""
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    up_to = np.cumsum(weights[order])
    # Sums that equal half of the weight up to rounding count as half of it.
    low, high = np.searchsorted(up_to, up_to[-1] / 2 * np.array([1 - 1e-12, 1 + 1e-12]))
    return float((values[order[low]] + values[order[high]]) / 2)


def _at_most_one(weights: FloatArray) -> FloatArray:
    # Sums of huge weights overflow, and tiny weights lose digits; dividing by a power of two is exact.
    return np.ldexp(weights, -np.frexp(weights.max())[1])

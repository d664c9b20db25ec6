"""Custom metrics from a kernel over blocks of ranked lists.

Options of kernels that are annotated with ``Gain``, ``Discount`` or ``RelevanceThreshold`` are checked and documented.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from skrank_metrics._engine.per_query import Kernel, KernelResult
from skrank_metrics._engine.ranked_lists import RankedLists
from skrank_metrics._input.arrays import check_bool
from skrank_metrics.metrics._declared import NAN, RESERVED, check_bounds, check_spelling, outside
from skrank_metrics.metrics._options import Discount, Gain, RelevanceThreshold
from skrank_metrics.metrics._record import (
    NO_RELEVANT,
    MetricFunction,
    Reference,
)
from skrank_metrics.metrics._registry import REGISTRY, metric

__all__ = ["Discount", "Gain", "RankedLists", "RelevanceThreshold", "register_metric"]


def register_metric(
    name: str,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    greater_is_better: bool = True,
    undefined: str | None = None,
    has_cutoff: bool = True,
    pooled: bool = False,
    formula: str = "",
    reference: str | None = None,
) -> Callable[[Kernel], MetricFunction]:
    """Register a kernel, vectorized over queries, as a metric that can be used by name.

    The metrics of this package are made in this way, and registered ones are as fast. This function is provisional: the
    interface of kernels can change between versions, with a note in the changelog. make_metric, which takes a function
    of one list, is stable.

    A kernel is called with a block of ranked queries, ``ranked``, cut at k. It returns one value per query, or a pair
    of arrays, numerators and denominators, where 0 / 0 is undefined. Arrays of a block have one row per query and one
    column per rank, and are 0 after the last document. Under ``ties="average"``, they are expectations over tied
    documents, so use them only in sums over ranks, or in the way given here:

    - ``ranked.relevance(threshold)`` is 1 for relevant documents, and ``ranked.gains(gain)`` is the gain of each;
    - ``ranked.stops(gain)`` is the probability of stopping at a rank once there, for products of 1 - stop over ranks;
    - ``ranked.hit_products(threshold)`` is relevance times the hits up to and including the rank;
    - ``ranked.ranks``, ``ranked.cutoff``, ``ranked.n_documents``, ``ranked.n_relevant(threshold)`` and
      ``ranked.ideal(gain, discount)`` do not depend on the order.

    Parameters
    ----------
    name : str
        Name in strings and reports: lower-case letters, digits and underscores, and not that of another column of
        reports, such as "qid" or "model". Must start with ``neg_`` if smaller values are better.
    bounds : tuple of two float, default=(-inf, inf)
        Smallest and largest possible value. Intervals of means respect them, and values outside raise an error.
    greater_is_better : bool, default=True
        Whether larger values are better. If not, strings and scorers use the negative.
    undefined : str, default=None
        What makes the metric undefined, as a continuation of "a query with". If it is "no relevant document", queries
        without a label above 0 (or of at least ``relevance_threshold``, if the metric has it) are undefined.
    has_cutoff : bool, default=True
        Whether the metric takes a cutoff rank k.
    pooled : bool, default=False
        Whether average="micro" is allowed: the sum of numerators divided by the sum of denominators.
    formula : str, default=""
        Formula in LaTeX, for the docstring of the metric.
    reference : str, default=None
        Publication that defines the metric, for its documentation.

    Returns
    -------
    decorator : callable
        Takes the kernel and returns the metric function, with the parameters of all metrics and the keyword-only
        parameters of the kernel. Parameters annotated with ``Gain``, ``Discount`` or ``RelevanceThreshold`` from
        ``skrank_metrics.metrics.custom`` are checked.

    Raises
    ------
    ValueError
        If the name is invalid or belongs to another metric. When called, if the kernel returns anything but one finite
        number within the bounds, or NaN, per query.

    See Also
    --------
    make_metric : Make a metric from a function of one ranked list.
    check_metric : Check that a metric follows the rules.

    Examples
    --------
    The share of relevant documents that are in the first half of the first k ranks, here one of three:

    >>> from skrank_metrics import get_metric, register_metric
    >>> @register_metric("early_recall", bounds=(0, 1), undefined="no relevant document")
    ... def early_recall_score(ranked):
    ...     hits = ranked.relevance(None)
    ...     return hits[:, : hits.shape[1] // 2].sum(axis=1), ranked.n_relevant(None)

    >>> round(get_metric("early_recall@4")([[0, 1, 0, 1, 1]], [[5, 4, 3, 2, 1]]), 4)
    0.3333
    """
    low, high = check_bounds(bounds)
    own = check_spelling(name)

    def register(kernel: Kernel) -> MetricFunction:
        known = REGISTRY.get(own)
        if known and (known.__module__, getattr(known, "__qualname__", None)) == (
            kernel.__module__,
            kernel.__qualname__,
        ):
            del REGISTRY[own]  # a notebook cell that is run again
        _check_options(kernel)
        return metric(
            own,
            formula=formula,
            transform="own",
            graded=True,
            reference=None if reference is None else Reference(reference),
            lower=low,
            upper=high,
            undefined=undefined or NAN,
            has_cutoff=check_bool(has_cutoff, "has_cutoff"),
            pooled=check_bool(pooled, "pooled"),
            greater_is_better=check_bool(greater_is_better, "greater_is_better"),
        )(_checked(kernel, (low, high), undefined))

    return register


def _check_options(kernel: Kernel) -> None:
    """Refuse options that all metrics have, and parameters that would not become options."""
    for p in list(inspect.signature(kernel).parameters.values())[1:]:
        if p.kind is not p.KEYWORD_ONLY:
            raise TypeError(f"kernel must take its options by name, after a *; {kernel.__name__} takes {p}.")
        if p.name in RESERVED or p.name == "k":
            hint = " Read ranked.k." if p.name == "k" else ""
            raise TypeError(
                f"kernel must not have an option {p.name}, which all metrics have; got {kernel.__name__}.{hint}"
            )


def _checked(kernel: Kernel, bounds: tuple[float, float], undefined: str | None) -> Kernel:
    """Refuse results that would be broadcast, cast or infinite, and values outside the bounds."""

    @functools.wraps(kernel)
    def checked(ranked: RankedLists, **options: Any) -> KernelResult:
        try:
            with np.errstate(over="warn"):  # an intermediate overflow, as of np.exp, may be harmless
                values = kernel(ranked, **options)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise ValueError(
                f"{kernel.__name__} must not change arrays of ranked, which other metrics share; got {error}. Change "
                "a copy."
            ) from error
        parts = values if isinstance(values, tuple) else (values,)
        for part in parts:
            _check_part(part, kernel.__name__, len(ranked.n_documents))
        if len(parts) == 2 and ((np.asarray(parts[1]) == 0) & (np.asarray(parts[0]) != 0)).any():
            raise ValueError(f"{kernel.__name__} must not divide by 0; only 0 / 0 is undefined.")
        _check_within(values, kernel.__name__, bounds, _counted(ranked, values, undefined, options))
        return values

    return checked


def _counted(ranked: RankedLists, values: KernelResult, undefined: str | None, options: Mapping[str, Any]) -> Any:
    """Mask of the queries whose value counts; the others are undefined, whatever the kernel returns."""
    if undefined != NO_RELEVANT:
        return True
    relevant = ranked.n_relevant(options.get("relevance_threshold")) > 0
    return relevant if isinstance(values, tuple) else relevant | (np.asarray(values) != 0)


def _check_within(values: KernelResult, name: str, bounds: tuple[float, float], counted: Any) -> None:
    """Refuse values or ratios outside the bounds."""
    with np.errstate(invalid="ignore"):
        found = np.divide(*values) if isinstance(values, tuple) else np.asarray(values)
    wrong = np.flatnonzero(outside(found, bounds) & counted)
    if len(wrong):
        low, high = bounds
        raise ValueError(f"{name} must return values within its bounds, {low:g} to {high:g}; got {found[wrong[0]]}.")


def _check_part(part: Any, name: str, n_queries: int) -> None:
    if np.shape(part) != (n_queries,):
        raise ValueError(
            f"{name} must return one value per query, or a pair of numerators and denominators; got an array of shape "
            f"{np.shape(part)} for {n_queries} queries."
        )
    if np.ma.isMaskedArray(part) or np.asarray(part).dtype.kind not in "biuf":
        got = "a masked array" if np.ma.isMaskedArray(part) else f"an array of dtype {np.asarray(part).dtype}"
        raise ValueError(f"{name} must return real numbers, NaN if undefined; got {got}.")
    if np.isinf(part).any():
        raise ValueError(f"{name} must return finite numbers, or NaN if it is undefined; got inf.")

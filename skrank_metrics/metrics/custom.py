"""Metrics of users: from a function of one ranked list, or from a kernel of blocks of ranked lists.

``Gain``, ``Discount`` and ``RelevanceThreshold`` annotate options of kernels that are checked and documented.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from skrank_metrics._engine.label_orders import RankedQuery
from skrank_metrics._engine.per_query import Kernel, KernelResult
from skrank_metrics._engine.ranked_lists import RankedLists
from skrank_metrics._input.arrays import FloatArray, check_bool
from skrank_metrics.metrics._options import Discount, Gain, Option, RelevanceThreshold, unchecked
from skrank_metrics.metrics._record import (
    DATA_KEYWORDS,
    NEGATIVE,
    NO_RELEVANT,
    SHARED_DEFAULTS,
    Metric,
    MetricFunction,
    Reference,
)
from skrank_metrics.metrics._registry import REGISTRY, call, check_new, docstring, metric, signature_of

__all__ = ["Discount", "Gain", "RankedLists", "RelevanceThreshold", "make_metric", "register_metric"]

# Parameters of a function that are not options: they are given by the ranking.
_GIVEN = ("k", "unranked")
_RESERVED = {"y_true", "y_score", "convention", "metric", *DATA_KEYWORDS, *SHARED_DEFAULTS} - {"k"}
# What queries have for which a metric is undefined, if it is not told.
NAN = "a value of NaN"
# A ratio may exceed its bounds by what rounding adds.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class FunctionKernel:
    """The kernel of a function of one list: calls it for every query and every order of ties."""

    function: Callable[..., Any]
    name: str
    given: frozenset[str]  # which of _GIVEN it takes
    bounds: tuple[float, float]

    def __call__(self, ranked: RankedLists, **options: Any) -> FloatArray:
        """Compute one value per query, the mean over its orders."""
        if "k" in self.given:
            options["k"] = ranked.k
        with np.errstate(over="warn"):  # an overflow on the way, as of np.exp, need not matter
            values = [self._mean(query, options) for query in ranked.each()]
        return np.array(values, dtype=np.float64)

    def _mean(self, query: RankedQuery, options: dict[str, Any]) -> float:
        if not len(query.labels) and not len(query.unranked):  # nobody judged what was ranked
            return math.nan
        if "unranked" in self.given:
            options = {**options, "unranked": query.unranked}
        elif len(query.unranked):
            raise ValueError(
                f"retrieved must be True for all documents of query {query.shown_id}, as {self.name} does not take the "
                f"others into account; got {len(query.unranked)} that were not ranked. Give the function a parameter "
                "unranked=(), the labels of these documents."
            )
        values = [self._value(labels, query, options) for labels in query.orders()]
        return math.fsum(values) / len(values)

    def _value(self, labels: FloatArray, query: RankedQuery, options: Mapping[str, Any]) -> float:
        try:
            result = self.function(labels, **options)
        except Exception as error:
            hint = " Change a copy: labels.copy()." if "read-only" in str(error) else ""
            raise ValueError(
                f"{self.name} failed for query {query.shown_id} with {len(labels)} labels: {type(error).__name__}: "
                f"{str(error).rstrip('.')}.{hint}"
            ) from error
        if not isinstance(result, numbers.Real | np.bool_) and not _is_0d(result):
            self._refuse("one real number", f"{reprlib.repr(result)} ({type(result).__name__})", query)
        try:
            value, (low, high) = float(result), self.bounds
        except OverflowError:  # an int or a fraction beyond the largest float
            value = math.inf
        if math.isinf(value):
            got = f"{value}" if isinstance(result, float | np.floating) else reprlib.repr(result)
            self._refuse("finite numbers, or NaN if it is undefined", got, query)
        if _outside(value, self.bounds):
            self._refuse(f"numbers within its bounds, {low:g} to {high:g}", f"{value!r}", query)
        return min(max(value, low), high) if value == value else value

    def _refuse(self, expected: str, got: str, query: RankedQuery) -> NoReturn:
        raise ValueError(f"{self.name} must return {expected}; got {got} for query {query.shown_id}.")


def _outside(values: Any, bounds: tuple[float, float]) -> Any:
    """Whether values are beyond the bounds by more than rounding; NaN is not."""
    low, high = bounds
    return (values < low - _ROUNDING * max(1.0, abs(low))) | (values > high + _ROUNDING * max(1.0, abs(high)))


def _is_0d(result: Any) -> bool:
    return isinstance(result, np.ndarray) and result.ndim == 0 and result.dtype.kind in "biuf"


class FunctionMetric:
    """A metric made of a function of one ranked list, see ``make_metric``.

    Called like any metric function: ``metric(y_true, y_score, qid=..., ties=..., average=...)``.
    """

    def __init__(self, function: Callable[..., Any], record: Metric, settings: Mapping[str, Any]) -> None:
        self.function = function
        self.record = record
        self._settings = dict(settings)
        self.__name__ = record.name.removeprefix(NEGATIVE)
        first = (inspect.getdoc(function) or "").partition("\n\n")[0]
        self.__doc__ = docstring(record, first or f"Metric {self.__name__}.")
        self.__signature__ = signature_of(record)

    def __call__(self, y_true: Any, y_score: Any, *misplaced: Any, **keywords: Any) -> Any:
        """Compute the metric."""
        return call(self, y_true, y_score, misplaced, keywords)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.function, self._settings)

    def __repr__(self) -> str:
        return f"make_metric({self.__name__})"


def _remake(function: Callable[..., Any], settings: Mapping[str, Any]) -> FunctionMetric:
    return make_metric(function, **settings)


def make_metric(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    greater_is_better: bool = True,
    undefined: str | None = None,
    reference: str | None = None,
) -> FunctionMetric:
    """Make a metric of a function of the labels of one query in ranked order.

    The metric is like any other of this package: it can be called with query ids, ties, averages and weights, and
    passed wherever a metric is expected, as in evaluate, get_metric and make_ranking_scorer.

    Parameters
    ----------
    function : callable
        Called as ``function(labels)`` with the labels of all ranked documents of one query, the first rank first: a
        1-D array of float64 that is read-only. It returns a number, or NaN if the metric is undefined for the query.

        Parameters with defaults are options of the metric. Two have a meaning: a parameter ``k=None`` gets the cutoff
        rank, as in "@10", or None; a parameter ``unranked=()`` gets the labels of documents that were judged but not
        ranked, see ``retrieved``.
    name : str, default=None
        Name in reports; lower-case letters, digits and underscores. If None, that of the function.
    bounds : tuple of two float, default=(-inf, inf)
        Smallest and largest possible value. Intervals of means respect them, and values outside raise an error.
    greater_is_better : bool, default=True
        Whether larger values are better. If not, scorers use the negative.
    undefined : str, default=None
        What makes the metric undefined, to be read after "a query with". If it is "no relevant document", queries
        without labels above 0 are undefined if the function returns 0 for them, as in the metrics of this package.
    reference : str, default=None
        Where the metric is defined, for its documentation.

    Returns
    -------
    metric : callable
        Called like the metric functions: ``metric(y_true, y_score, qid=..., k=..., ties=..., average=...)``. Pickles
        if the function does.

    Raises
    ------
    TypeError
        If function is not callable, or takes parameters that are not named or have no defaults.
    ValueError
        If the name is not valid or belongs to another metric. In a call, if the function fails or returns anything but
        a number within the bounds.

    See Also
    --------
    get_metric : Binds parameters, as in get_metric(metric, k=10).

    Notes
    -----
    If scores tie, ``ties="average"`` is the mean over all different orders of the tied labels, which is exact, if a
    query has at most 720 of them. Otherwise it is the mean over 100 orders drawn at random, the same in every run, and
    ``report.health`` says so. If the function returns NaN for one of these orders, the query is undefined.

    The function is called once per query and order, which takes longer than the metrics of this package.

    Examples
    --------
    The rank of the last relevant document, relative to the length of the list: 2 of 4, and 3 of 3.

    >>> import numpy as np
    >>> from skrank_metrics import make_metric
    >>> def last_hit(labels):
    ...     hits = np.flatnonzero(labels)
    ...     return (hits[-1] + 1) / len(labels) if len(hits) else np.nan
    >>> metric = make_metric(last_hit, bounds=(0, 1), greater_is_better=False)
    >>> metric([1, 1, 0, 0, 0, 0, 1], [4, 3, 2, 1, 3, 2, 1], qid=["a"] * 4 + ["b"] * 3, average=None)
    array([0.5, 1. ])
    """
    if not callable(function):
        raise TypeError(f"function must be callable; got {type(function).__name__}.")
    settings = {
        "name": name,
        "bounds": bounds,
        "greater_is_better": greater_is_better,
        "undefined": undefined,
        "reference": reference,
    }
    if name is None and not hasattr(function, "__name__"):
        raise ValueError(
            f"name must be given for a function without a __name__; got {type(function).__name__}. Pass name=..."
        )
    own = _check_name(getattr(function, "__name__", None) if name is None else name)
    better, (low, high), parameters = (
        check_bool(greater_is_better, "greater_is_better"),
        _check_bounds(bounds),
        _parameters(function, own),
    )
    options = {p: default for p, default in parameters.items() if p not in _GIVEN}
    record = Metric(
        name=own if better else NEGATIVE + own,
        kernel=FunctionKernel(function, own, frozenset(parameters) & frozenset(_GIVEN), (low, high)),
        options={p: _option(p) for p in options},
        defaults=options,
        formula="",
        transform="orders",
        graded=True,
        reference=None if reference is None else Reference(reference),
        lower=low,
        upper=high,
        undefined=undefined or NAN,
        has_cutoff="k" in parameters,
        greater_is_better=better,
        needs_all_ranks=True,
    )
    return FunctionMetric(function, record, settings)


def _check_name(name: Any) -> str:
    own = _check_spelling(name)
    if own.startswith(NEGATIVE):
        raise ValueError(
            f"name must not start with 'neg_'; got {own!r}. If smaller values are better, pass greater_is_better=False."
        )
    check_new(own)
    return own


def _check_spelling(name: Any) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise ValueError(
            "name must be at most 64 lower-case letters, digits and underscores and begin with a letter; got "
            f"{name!r}. Pass name=..."
        )
    if re.search(r"_at_[1-9][0-9]*$", name):
        raise ValueError(f"name must not end in a cutoff rank, as ndcg_at_10 means ndcg@10; got {name!r}.")
    return name


def _check_bounds(bounds: Any) -> tuple[float, float]:
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds must be a pair of numbers, the smallest and the largest value; got {bounds!r}."
        ) from None
    if not low < high:
        raise ValueError(f"bounds must be in ascending order; got {bounds!r}.")
    return low, high


def _parameters(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Parameters of a function behind the first, with their defaults."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise TypeError(
            f"function must have a signature; got {function!r}. Call it in a function of your own."
        ) from None
    if not parameters or parameters[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise TypeError(
            f"function must take the labels as its first argument; got {name}{inspect.signature(function)}."
        )
    others = parameters[1:]
    for p in others:
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise TypeError(f"function must name its options, param=default; {name} takes {p}.")
        if p.default is p.empty:
            raise TypeError(f"function must give its options defaults; {name} has none for {p.name}.")
        if p.name in _RESERVED:
            raise TypeError(f"function must not have an option {p.name}, which all metrics have; got {name}.")
        if p.name == "k" and p.default is not None:
            raise TypeError(
                f"function must have k=None, which means no cutoff; {name} has k={p.default!r}. labels[:None] are all."
            )
    return {p.name: p.default for p in parameters[1:]}


def _option(name: str) -> Option:
    if name == "relevance_threshold":
        known: Option = RelevanceThreshold.__metadata__[0]
        return replace(known, gain=None)
    return unchecked()


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
    """Register a kernel, vectorised over queries, as a metric that names in strings find.

    This is how the metrics of this package are made, and as fast. It is provisional: what a kernel gets can change
    between versions, with a note in the changelog. make_metric takes a function of one list, and is stable.

    A kernel is called with a block of ranked queries, ``ranked``, cut at k, and returns one value per query; or a pair
    of arrays, numerators and denominators, where 0 / 0 is undefined. Arrays of a block have one row per query and one
    column per rank, and are 0 behind the last document. Under ``ties="average"`` they are expectations over tied
    documents, so use each in sums over ranks only, or in the one way that is given here:

    - ``ranked.relevance(threshold)`` is 1 for relevant documents, and ``ranked.gains(gain)`` the gain of each;
    - ``ranked.stops(gain)`` is the probability to stop at a rank once there, for products of 1 - stop over ranks;
    - ``ranked.hit_products(threshold)`` is relevance times the hits up to and including the rank;
    - ``ranked.ranks``, ``ranked.cutoff``, ``ranked.n_documents``, ``ranked.n_relevant(threshold)`` and
      ``ranked.ideal(gain, discount)`` do not depend on the order.

    Parameters
    ----------
    name : str
        Name in strings and reports; lower-case letters, digits and underscores. It starts with "neg_" if smaller values
        are better.
    bounds : tuple of two float, default=(-inf, inf)
        Smallest and largest possible value. Intervals of means respect them, and values outside raise an error.
    greater_is_better : bool, default=True
        Whether larger values are better. If not, names and scorers mean the negative.
    undefined : str, default=None
        What makes the metric undefined, to be read after "a query with". If it is "no relevant document", queries
        without labels above 0, or at least ``relevance_threshold``, are undefined.
    has_cutoff : bool, default=True
        Whether the metric takes a cutoff rank k.
    pooled : bool, default=False
        Whether average="micro" is the sum of numerators divided by that of denominators.
    formula : str, default=""
        Formula, for documentation.
    reference : str, default=None
        Where the metric is defined, for its documentation.

    Returns
    -------
    decorator : callable
        Takes the kernel and returns the metric function, with the parameters of all metrics and, as its own, the
        keyword-only parameters of the kernel. The types ``Gain``, ``Discount`` and ``RelevanceThreshold`` of
        ``skrank_metrics.metrics.custom``, used as annotations, make it check them.

    Raises
    ------
    ValueError
        If the name is not valid or belongs to another metric. In a call, if the kernel returns anything but one finite
        number within the bounds, or NaN, per query.

    See Also
    --------
    make_metric : A metric of a function of one ranked list.
    check_metric : Tests whether a metric keeps the rules.

    Examples
    --------
    The share of the relevant documents that are in the first half of the first k ranks, here one of three:

    >>> from skrank_metrics import get_metric, register_metric
    >>> @register_metric("early_recall", bounds=(0, 1), undefined="no relevant document")
    ... def early_recall_score(ranked):
    ...     hits = ranked.relevance(None)
    ...     return hits[:, : hits.shape[1] // 2].sum(axis=1), ranked.n_relevant(None)
    >>> round(get_metric("early_recall@4")([[0, 1, 0, 1, 1]], [[5, 4, 3, 2, 1]]), 4)
    0.3333
    """
    low, high = _check_bounds(bounds)
    own = _check_spelling(name)

    def register(kernel: Kernel) -> MetricFunction:
        known = REGISTRY.get(own)
        if known and (known.__module__, getattr(known, "__qualname__", None)) == (
            kernel.__module__,
            kernel.__qualname__,
        ):
            del REGISTRY[own]  # a cell of a notebook that runs once more
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
    """Refuse options that the metric has anyway, and parameters that would not become options."""
    for p in list(inspect.signature(kernel).parameters.values())[1:]:
        if p.kind is not p.KEYWORD_ONLY:
            raise TypeError(f"kernel must take its options by name, after a *; {kernel.__name__} takes {p}.")
        if p.name in _RESERVED or p.name == "k":
            hint = " Read ranked.k." if p.name == "k" else ""
            raise TypeError(
                f"kernel must not have an option {p.name}, which all metrics have; got {kernel.__name__}.{hint}"
            )


def _checked(kernel: Kernel, bounds: tuple[float, float], undefined: str | None) -> Kernel:
    """Refuse results that would be broadcast, cast or infinite, and values outside the bounds."""

    @functools.wraps(kernel)
    def checked(ranked: RankedLists, **options: Any) -> KernelResult:
        try:
            with np.errstate(over="warn"):  # an overflow on the way, as of np.exp, need not matter
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
    """Mask of the queries whose value counts; the others are undefined whatever the kernel returns."""
    if undefined != NO_RELEVANT:
        return True
    relevant = ranked.n_relevant(options.get("relevance_threshold")) > 0
    return relevant if isinstance(values, tuple) else relevant | (np.asarray(values) != 0)


def _check_within(values: KernelResult, name: str, bounds: tuple[float, float], counted: Any) -> None:
    """Refuse values of queries, or ratios, outside the bounds."""
    with np.errstate(invalid="ignore"):
        found = np.divide(*values) if isinstance(values, tuple) else np.asarray(values)
    outside = np.flatnonzero(_outside(found, bounds) & counted)
    if len(outside):
        low, high = bounds
        raise ValueError(f"{name} must return values within its bounds, {low:g} to {high:g}; got {found[outside[0]]}.")


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

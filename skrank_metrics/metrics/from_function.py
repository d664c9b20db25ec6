"""Custom metrics from a function of one ranked list."""

from __future__ import annotations

import inspect
import math
import numbers
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from skrank_metrics._engine.label_orders import TiedQuery
from skrank_metrics._engine.ranked_lists import RankedLists
from skrank_metrics._input.arrays import FloatArray, check_bool
from skrank_metrics.metrics._options import Option, RelevanceThreshold, unchecked
from skrank_metrics.metrics._record import DATA_KEYWORDS, NEGATIVE, SHARED_DEFAULTS, Metric
from skrank_metrics.metrics._registry import call, check_new, docstring, signature_of

# Parameters of a function that are not options, since the ranking provides them.
_GIVEN = ("k", "unranked")
# Options that all metrics have.
_RESERVED = {"y_true", "y_score", "convention", "metric", "documents", *DATA_KEYWORDS, *SHARED_DEFAULTS} - {"k"}
# Columns of the frames of reports and comparisons, beside those of the metrics.
COLUMNS = ("qid", "by", "group", "weight", "model", "slice", "n_queries")
# Rounding may push a ratio beyond its bounds by this much.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class FunctionKernel:
    """The kernel of a function of one list: calls it for every query and every order of ties."""

    function: Callable[..., Any]
    name: str
    given: frozenset[str]  # those of _GIVEN that it takes
    bounds: tuple[float, float]
    documents: tuple[str, ...] = ()  # columns that it takes

    def __call__(self, ranked: RankedLists, **options: Any) -> FloatArray:
        """Compute one value per query, the mean over its orders."""
        if "k" in self.given:
            options["k"] = ranked.k
        with np.errstate(over="warn"):  # an intermediate overflow, as of np.exp, may be harmless
            values = [self._mean(query, options) for query in ranked.each(self.documents)]
        return np.array(values, dtype=np.float64)

    def _mean(self, query: TiedQuery, options: dict[str, Any]) -> float:
        if not len(query.labels) and not len(query.unranked):  # nobody judged what was ranked
            return math.nan
        if "unranked" in self.given:
            options = {**options, "unranked": query.unranked}
        elif len(query.unranked):
            raise ValueError(
                f"retrieved must be True for all documents of query {query.shown_id}, since {self.name} ignores the "
                f"others; got {len(query.unranked)} that were not ranked. Add a parameter unranked=() to the function, "
                "for the labels of these documents."
            )
        values = [
            self._value(labels, query, {**options, **columns} if columns else options)
            for labels, columns in query.orders()
        ]
        return math.fsum(values) / len(values)

    def _value(self, labels: FloatArray, query: TiedQuery, options: Mapping[str, Any]) -> float:
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

    def _refuse(self, expected: str, got: str, query: TiedQuery) -> NoReturn:
        raise ValueError(f"{self.name} must return {expected}; got {got} for query {query.shown_id}.")


def _is_0d(result: Any) -> bool:
    return isinstance(result, np.ndarray) and result.ndim == 0 and result.dtype.kind in "biuf"


class FunctionMetric:
    """A metric made from a function of one ranked list, see ``make_metric``.

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
    documents: Sequence[str] = (),
    bounds: tuple[float, float] = (-math.inf, math.inf),
    greater_is_better: bool = True,
    undefined: str | None = None,
) -> FunctionMetric:
    """Make a metric from a function of the labels of one query in ranked order.

    The result is like any other metric of this package: it can be called with query ids, ties, averages and weights,
    and passed wherever a metric is expected, as in evaluate, get_metric and make_ranking_scorer.

    Parameters
    ----------
    function : callable
        Called as ``function(labels)`` with the labels of all ranked documents of one query, first rank first, as a
        read-only 1-D array of float64. It returns a number, or NaN if the metric is undefined for the query.

        Parameters with defaults are options of the metric. Two have a special meaning: a parameter ``k=None`` gets the
        cutoff rank, as in "@10", or None; a parameter ``unranked=()`` gets the labels of documents that were judged but
        not ranked, see ``retrieved``.
    name : str, default=None
        Name in reports: lower-case letters, digits and underscores, and not that of another column, such as "qid" or
        "model". If None, that of the function.
    documents : sequence of str, default=()
        Columns of documents that the function takes as keywords, such as ``["price"]`` for
        ``def revenue(labels, price, k=None)``. They come from ``documents=`` of evaluate or of the metric itself, and
        are passed in ranked order, with the labels; the entries of unranked documents follow if the function takes
        ``unranked``.
    bounds : tuple of two float, default=(-inf, inf)
        Smallest and largest possible value. Intervals of means respect them, and values outside raise an error.
    greater_is_better : bool, default=True
        Whether larger values are better. If not, scorers use the negative.
    undefined : str, default=None
        What makes the metric undefined, as a continuation of "a query with". If it is "no relevant document", queries
        without labels above 0 are undefined if the function returns 0 for them, as in the metrics of this package.

    Returns
    -------
    metric : callable
        Called like the metric functions: ``metric(y_true, y_score, qid=..., k=..., ties=..., average=...)``. Can be
        pickled if the function can.

    Raises
    ------
    TypeError
        If function is not callable, or takes parameters that are not named or have no defaults.
    ValueError
        If the name is invalid or belongs to another metric. When called, if the function fails or returns anything but
        a number within the bounds.

    See Also
    --------
    get_metric : Bind parameters, as in get_metric(metric, k=10).

    Notes
    -----
    If scores are tied, ``ties="average"`` is the exact mean over all different orders of the tied documents, if a query
    has at most 720 of them; documents with equal labels, and equal entries in ``documents``, are alike. Otherwise, it
    is the mean over 100 random orders, which are the same in every run; ``report.health`` says so. ``ties="best"`` and
    "worst" settle the order by label, and take the mean over that of equal labels if there are ``documents``. If the
    function returns NaN for one of the orders, the query is undefined.

    The function is called once per query and order, which is slower than the metrics of this package.

    Examples
    --------
    The rank of the last relevant document, relative to the length of the list, is 2 of 4 and 3 of 3:

    >>> import numpy as np
    >>> from skrank_metrics import make_metric
    >>> def last_hit(labels):
    ...     hits = np.flatnonzero(labels)
    ...     return (hits[-1] + 1) / len(labels) if len(hits) else np.nan

    >>> metric = make_metric(last_hit, bounds=(0, 1), greater_is_better=False)
    >>> metric([1, 1, 0, 0, 0, 0, 1], [4, 3, 2, 1, 3, 2, 1], qid=["a"] * 4 + ["b"] * 3, average=None)
    array([0.5, 1. ])

    The price of what was bought among the first k: the second of three documents, at 20.

    >>> def revenue(labels, price, k=None):
    ...     return (labels * price)[:k].sum()

    >>> metric = make_metric(revenue, documents=["price"])
    >>> metric([[0, 1, 1]], [[3, 2, 1]], k=2, documents={"price": [[10, 20, 30]]})
    20.0
    """
    if not callable(function):
        raise TypeError(f"function must be callable; got {type(function).__name__}.")
    own = _check_name(getattr(function, "__name__", None) if name is None else name)
    low, high = _check_bounds(bounds)
    columns = _check_columns(documents)
    better, parameters = check_bool(greater_is_better, "greater_is_better"), _parameters(function, own, columns)
    options = {p: default for p, default in parameters.items() if p not in _GIVEN}
    record = Metric(
        name=own if better else NEGATIVE + own,
        kernel=FunctionKernel(function, own, frozenset(parameters) & frozenset(_GIVEN), (low, high), columns),
        options={p: _option(p) for p in options},
        defaults=options,
        formula="",
        transform="orders",
        graded=True,
        reference=None,
        lower=low,
        upper=high,
        undefined=undefined or "a value of NaN",
        has_cutoff="k" in parameters,
        greater_is_better=better,
        needs_all_ranks=True,
        documents=columns,
    )
    settings = {"name": name, "documents": documents, "bounds": bounds, "greater_is_better": greater_is_better}
    return FunctionMetric(function, record, {**settings, "undefined": undefined})


def _check_name(name: Any) -> str:
    """Refuse names that a metric cannot have."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise ValueError(
            "name must be at most 64 lower-case letters, digits and underscores and begin with a letter; got "
            f"{name!r}. Pass name=..."
        )
    if re.search(r"_at_[1-9][0-9]*$", name):
        raise ValueError(f"name must not end in a cutoff rank, since ndcg_at_10 means ndcg@10; got {name!r}.")
    if name in COLUMNS:
        raise ValueError(
            f"name must not be that of another column of the frames of reports, {', '.join(COLUMNS)}; got {name!r}. "
            "Pass another name."
        )
    if name.startswith(NEGATIVE):
        raise ValueError(
            f"name must not start with 'neg_'; got {name!r}. If smaller values are better, pass "
            "greater_is_better=False."
        )
    check_new(name)
    return name


def _check_bounds(bounds: Any) -> tuple[float, float]:
    """The smallest and the largest value."""
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds must be a pair of numbers, the smallest and the largest value; got {bounds!r}."
        ) from None
    if not low < high:
        raise ValueError(f"bounds must be in ascending order; got {bounds!r}.")
    return low, high


def _outside(values: Any, bounds: tuple[float, float]) -> Any:
    """Whether values are beyond the bounds by more than rounding; False for NaN."""
    low, high = bounds
    return (values < low - _ROUNDING * max(1.0, abs(low))) | (values > high + _ROUNDING * max(1.0, abs(high)))


def _check_columns(documents: Any) -> tuple[str, ...]:
    if isinstance(documents, str) or not isinstance(documents, Sequence):
        raise TypeError(f"documents must be a list of names of columns; got {documents!r}.")
    for name in documents:
        if not isinstance(name, str) or not name.isidentifier() or name in (*_RESERVED, *_GIVEN):
            raise ValueError(f"documents must name columns as the function names its parameters; got {name!r}.")
    return tuple(documents)


def _parameters(function: Callable[..., Any], name: str, columns: tuple[str, ...]) -> dict[str, Any]:
    """Options of a function, with their defaults: the parameters after the first that are not columns."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise TypeError(
            f"function must have a signature; got {function!r}. Wrap it in a function of your own."
        ) from None
    if not parameters or parameters[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise TypeError(
            f"function must take the labels as its first argument; got {name}{inspect.signature(function)}."
        )
    if [p.name for p in parameters[:2]] in (["y_true", "y_score"], ["y_true", "y_pred"]):
        raise TypeError(
            f"{name} takes {parameters[0].name} and {parameters[1].name}, but make_metric calls a function once per "
            "query, with the labels in ranked order: function(labels)."
        )
    missing = [column for column in columns if column not in {p.name for p in parameters[1:]}]
    if missing:
        raise TypeError(
            f"function must take the column {missing[0]!r} as a parameter; got {name}{inspect.signature(function)}."
        )
    others = [p for p in parameters[1:] if p.name not in columns]
    for p in others:
        _check_option(p, name)
    return {p.name: p.default for p in others}


def _check_option(p: inspect.Parameter, name: str) -> None:
    if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
        raise TypeError(f"function must take options by name, param=default; {name} takes {p}.")
    if p.default is p.empty:
        raise TypeError(f"function must give its options defaults; {name} has none for {p.name}.")
    if p.name in _RESERVED:
        raise TypeError(f"function must not have an option {p.name}, which all metrics have; got {name}.")
    if p.name == "k" and p.default is not None:
        raise TypeError(f"Declare the cutoff as k=None; set {p.default!r} with get_metric(metric, k={p.default!r}).")


def _option(name: str) -> Option:
    if name == "relevance_threshold":
        known: Option = RelevanceThreshold.__metadata__[0]
        return replace(known, gain=None)
    return unchecked()

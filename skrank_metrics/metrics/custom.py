"""Custom metrics from a function of one ranked list."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._engine.label_orders import TiedQuery
from skrank_metrics._engine.ranked_blocks import TIE_POLICIES, RankedBlock
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.parameters import check_bool
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._options import Option
from skrank_metrics.metrics._record import (
    COLUMNS,
    DATA_KEYWORDS,
    NEGATIVE,
    SHARED_DEFAULTS,
    Metric,
    MetricLike,
)
from skrank_metrics.metrics._registry import check_new
from skrank_metrics.metrics.names import get_metric

# Parameters of a function that are not options, since the ranking provides them.
_GIVEN = ("k", "unranked")
# Options that all metrics have.
_RESERVED = {
    "y_true",
    "y_score",
    "convention",
    "metric",
    "documents",
    *DATA_KEYWORDS,
    *SHARED_DEFAULTS,
} - {"k"}
# Names that strings can spell, so neither the prefix of negatives nor a cutoff, as in "ndcg_at_10".
_NAME = re.compile(r"(?!neg_)(?!.*_at_[1-9][0-9]*\Z)[a-z][a-z0-9_]{0,63}")
# Values beyond the bounds by less are rounded.
_ROUNDING = 1e-9


def _no_array(value: Any, name: str) -> Any:
    # Equal options must be recognised as equal, and == of arrays is an array.
    if isinstance(value, np.ndarray):
        raise TypeError(f"{name} must not be an array, since options are compared; pass a tuple.")
    return value


_OPTION = Option("Option of this metric.", _no_array, "object", "Any")  # passed on unchanged


@dataclass(frozen=True)
class FunctionKernel:
    """The kernel of a function of one list: calls it for every query and every order of ties."""

    function: Callable[..., Any]
    name: str
    given: frozenset[str]  # those of _GIVEN that it takes
    bounds: tuple[float, float]
    documents: tuple[str, ...] = ()  # columns that it takes

    def __call__(self, ranked: RankedBlock, **options: Any) -> FloatArray:
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
            # This is a new dict, since the options are those of all queries.
            options = {**options, "unranked": query.unranked}
        elif len(query.unranked):
            raise ValueError(
                f"retrieved must be True for all documents of query {query.shown_id}, since {self.name} ignores the "
                f"others; got {len(query.unranked)} that were not ranked. Add a parameter unranked=() to the function, "
                "for the labels of these documents."
            )
        values = [
            self._value(labels, query, {**options, **columns}) for labels, columns in query.orders()
        ]
        # The sum of fsum does not depend on the order of the orders.
        return math.fsum(values) / len(values)

    def _check_columns(self, query: TiedQuery, options: Mapping[str, Any]) -> None:
        """Refuse columns with missing values, which would make the query undefined by mistake."""
        for name in self.documents:
            column = options[name]
            if column.dtype.kind == "f" and np.isnan(column).any():
                raise ValueError(
                    f"{self.name} must not be NaN because documents[{name!r}] has missing values; got both for query "
                    f"{query.shown_id}. Fill them, or leave them out in the function."
                )

    def _value(self, labels: FloatArray, query: TiedQuery, options: Mapping[str, Any]) -> float:
        try:
            # Text such as "0.5" is a mistake, but float would read it.
            value = float(0.0 + self.function(labels, **options))
        # Whatever the function raises, its user needs to know for which query it does.
        except Exception as error:
            raise ValueError(
                f"{self.name} failed for query {query.shown_id} with {len(labels)} labels: {type(error).__name__}: "
                f"{error}"
            ) from error
        if math.isnan(value):
            self._check_columns(query, options)
            return value
        low, high = self.bounds
        within = min(max(value, low), high)
        # Rounding may push a ratio beyond its bounds.
        if not abs(value - within) <= _ROUNDING * max(1.0, abs(within)):
            raise ValueError(
                f"{self.name} must return one finite number within its bounds, {low:g} to {high:g}, or NaN if it is "
                f"undefined; got {value} for query {query.shown_id}."
            )
        return within


class FunctionMetric:
    """A metric made from a function of one ranked list, see ``make_metric``.

    Called like any metric function: ``metric(y_true, y_score, qid=..., ties=..., average=...)``.
    """

    def __init__(self, function: Callable[..., Any], record: Metric) -> None:
        self.function = function
        self.record = record
        self.__name__ = record.name.removeprefix(NEGATIVE)
        self.__doc__ = inspect.getdoc(function)

    def __call__(self, y_true: Any, y_score: Any, *misplaced: Any, **keywords: Any) -> Any:
        """Compute the metric."""
        return BoundMetric(self, {})(y_true, y_score, *misplaced, **keywords)

    def __repr__(self) -> str:
        return f"make_metric({self.__name__})"


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

    Parameters
    ----------
    function : callable
        Called as ``function(labels)`` with the labels of all ranked documents of one query, first rank first, as a
        read-only 1-D array of float64. It returns a number, or NaN if the metric is undefined for the query.

        Parameters with defaults are options of the metric. Two have a special meaning: ``k=None`` gets the cutoff rank,
        as in "@10", or None; ``unranked=()`` gets the labels of documents that were judged but not ranked, see
        ``retrieved``.
    name : str, default=None
        Name in reports: lower-case letters, digits and underscores. If None, that of the function.
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
        Called like the metric functions, and passed wherever a metric is. Can be pickled if the function can.

    Raises
    ------
    TypeError
        If function cannot be called as above.
    ValueError
        If the name is invalid or belongs to another metric. When called, if the function fails or returns anything but
        a number within the bounds.

    See Also
    --------
    get_metric : Bind parameters, as in get_metric(metric, k=10).

    Notes
    -----
    The function is called once per query and order. ``ties="average"`` is the mean over all different orders of the
    tied documents, or over 100 random ones, the same in every run, if there are more than 720. ``ties="best"`` and
    "worst" settle the order by label only, so ``documents`` may leave several orders. If the function returns NaN for
    one of the orders, the query is undefined.

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
    """
    if not callable(function):
        raise TypeError(f"function must be callable; got {type(function).__name__}.")
    own = _check_name(getattr(function, "__name__", None) if name is None else name)
    columns = tuple(documents)
    # The comparison is negated, so that bounds of NaN are refused as well.
    if np.shape(bounds) != (2,) or not bounds[0] < bounds[1]:
        raise ValueError(f"bounds must be a pair of numbers in ascending order; got {bounds!r}.")
    low, high = map(float, bounds)
    better = check_bool(greater_is_better, "greater_is_better")
    parameters = _parameters(function, own, columns)
    options = {p: default for p, default in parameters.items() if p not in _GIVEN}
    given = frozenset(parameters).intersection(_GIVEN)
    record = Metric(
        name=own if better else NEGATIVE + own,
        kernel=FunctionKernel(function, own, given, (low, high), columns),
        options=dict.fromkeys(options, _OPTION),
        defaults=options,
        formula="",
        transform="orders",
        lower=low,
        upper=high,
        undefined=undefined or "a value of NaN",
        has_cutoff="k" in given,
        greater_is_better=better,
        documents=columns,
    )
    return FunctionMetric(function, record)


def _check_name(name: Any) -> str:
    """Refuse names that a metric cannot have."""
    if name == "<lambda>":
        raise ValueError('A lambda has no name. Pass name="my_metric".')
    if not isinstance(name, str) or name in COLUMNS or not _NAME.fullmatch(name):
        raise ValueError(
            "name must be at most 64 lower-case letters, digits and underscores, begin with a letter but not with "
            "'neg_' (pass greater_is_better=False), not end in a cutoff rank, as 'ndcg_at_10' does, and not be that of "
            f"another column of the frames of reports, {', '.join(COLUMNS)}; got {name!r}. Pass another name=..."
        )
    check_new(name)
    return str(name)


def _parameters(
    function: Callable[..., Any], name: str, columns: tuple[str, ...]
) -> dict[str, Any]:
    """Options of a function, with their defaults: the parameters after the first that are not columns."""
    try:
        signature = inspect.signature(function)
        # A call that cannot work is an error now and not at the first query.
        signature.bind([], **dict.fromkeys(columns))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"make_metric calls the function once per query, with the labels in ranked order, as "
            f"{name}({', '.join(['labels', *columns])}), and sets options by name; got {function!r}: {error}."
        ) from None
    options = {}
    for parameter in list(signature.parameters.values())[1:]:
        # A column with a default is still a column.
        if parameter.default is not parameter.empty and parameter.name not in columns:
            options[parameter.name] = parameter.default
    for reserved in options.keys() & _RESERVED:
        raise TypeError(
            f"function must not have an option {reserved}, which all metrics have; got {name}."
        )
    k = options.get("k")
    # A default cutoff would apply to "revenue" but not show in its name.
    if k is not None:
        raise TypeError(
            f"Declare the cutoff as k=None; set {k!r} with get_metric(metric, k={k!r})."
        )
    return options


# Check that a metric follows the rules of all metrics of this package.

N_QUERIES, LONGEST = 30, 5
# The last cutoff is below every list.
CUTOFFS = (None, 1, 3, LONGEST, LONGEST + 5)
# Sums over ranks are rounded differently in another order.
ROUNDING = 1e-9


def check_metric(
    metric: MetricLike,
    *,
    labels: Sequence[float] = (0, 1, 2, 3),
    documents: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """Check that a metric follows the rules of all metrics of this package.

    On small random queries with ties, with a single document and without relevant documents, it checks that values

    - are numbers within the bounds, and the same when computed again, for each tie policy;
    - are the same without a cutoff and with a cutoff at the length of the list, and exist for larger cutoffs;
    - are the same in another process;

    and that labels, scores and ids are not modified. Ties, the order of rows, query ids, weights, 2-D labels and
    undefined queries are handled outside the metric, so there is nothing to check.

    Parameters
    ----------
    metric : str, metric function or bound metric
        Metric to check, as in get_metric. Bind parameters with get_metric, for instance
        ``get_metric(metric, alpha=0.5)``. Cutoffs are always tried.
    labels : sequence of float, default=(0, 1, 2, 3)
        Labels that the metric accepts.
    documents : dict of sequences, default=None
        Entries to draw for each column that the metric needs, such as ``{"price": [1, 2, 5]}``.

    Raises
    ------
    AssertionError
        If the metric breaks a rule. The message shows a query for which it does.

    See Also
    --------
    make_metric : Make a metric from a function of one ranked list.

    Examples
    --------
    >>> from skrank_metrics import make_metric
    >>> from skrank_metrics.metrics import check_metric
    >>> check_metric(make_metric(lambda labels: labels[0], name="first_label"))
    >>> seen = []
    >>> check_metric(make_metric(lambda labels: seen.append(1) or len(seen), name="calls"))
    Traceback (most recent call last):
        ...
    AssertionError: calls(ties=average) must give the same values when called again; got ...
    """
    bound = get_metric(metric, ties="average")
    for column in bound.computation.documents:
        if column not in (documents or {}):
            raise AssertionError(
                f"check_metric needs entries to draw for the column {column!r} of {bound.record.name}. Pass "
                f"documents={{{column!r}: [1, 2, 5]}}, with such entries as your data have."
            )
    rows = _rows(labels, documents)
    cutoffs: list[dict[str, Any]] = [{}]
    if bound.record.has_cutoff:
        cutoffs = [{"k": k} for k in CUTOFFS]
    try:
        for ties, cutoff in itertools.product(TIE_POLICIES, cutoffs):
            changed = bound.replace(ties=ties, **cutoff)
            _check_equal(changed, rows, "when called again", changed(**rows), changed(**rows))
        whole = bound(**rows)
        if bound.record.has_cutoff:
            # A cutoff below the end of a shorter list may count its missing ranks, as precision does.
            is_longest = np.bincount(rows["qid"]) == LONGEST
            cut = bound.replace(k=LONGEST)(**rows)
            expected = np.where(is_longest, whole, cut)
            _check_equal(bound, rows, f"with k={LONGEST} as without a cutoff", cut, expected)
        # This check is the last, since processes take long to start.
        _check_equal(bound, rows, "in another process", _values_elsewhere(bound, rows), whole)
    except (TypeError, ValueError) as error:
        raise AssertionError(
            f"{bound} must accept the labels {list(labels)}, or be checked with others, labels=...; got "
            f"{type(error).__name__}: {error}"
        ) from error


def _rows(labels: Sequence[float], documents: Mapping[str, Sequence[Any]] | None) -> dict[str, Any]:
    """Small queries with many ties, as arguments of the metric."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(N_QUERIES), rng.integers(1, LONGEST + 1, N_QUERIES))
    drawn = rng.choice(np.asarray(labels, dtype=np.float64), len(qid))
    # A few queries have equal labels, such as no relevant ones.
    drawn[qid % 6 == 0] = min(labels)
    drawn[qid % 6 == 1] = max(labels)
    # With three different scores, every list of more than three documents has ties.
    scores = rng.integers(0, 3, len(qid)) / 2
    for array in (drawn, scores, qid):
        array.flags.writeable = False  # a metric that modifies them raises an error
    rows: dict[str, Any] = {"y_true": drawn, "y_score": scores, "qid": qid, "average": None}
    if documents:
        rows["documents"] = {name: rng.choice(own, len(qid)) for name, own in documents.items()}
    return rows


def _check_equal(
    metric: BoundMetric, rows: Mapping[str, Any], where: str, values: Any, expected: Any
) -> None:
    """Raise an error that shows the first query for which values differ."""
    close = np.isclose(values, expected, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if close.all():
        return
    query = close.argmin()
    own = rows["qid"] == query
    raise AssertionError(
        f"{metric} must give the same values {where}; got {values[query]:g} instead of {expected[query]:g} for labels "
        f"{rows['y_true'][own].tolist()} with scores {rows['y_score'][own].tolist()}."
    )


def _values_elsewhere(metric: BoundMetric, rows: Mapping[str, Any]) -> Any:
    from joblib import Parallel, delayed

    try:
        (values,) = Parallel(n_jobs=2)([delayed(metric)(**rows)])
    except Exception as error:
        raise AssertionError(
            f"{metric} must be picklable to be used with n_jobs; got {type(error).__name__}: {error}"
        ) from error
    return values

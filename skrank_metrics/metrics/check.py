"""Check that a metric follows the rules of all metrics of this package."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.ranked_blocks import TIE_POLICIES
from skrank_metrics._input.arrays import FloatArray, IntArray, check_choice
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.names import get_metric

# Lists of five have at most 120 orders, few enough to go through all of them.
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

    - are within the bounds, and the same when computed again;
    - are correct for each tie policy: under "average", the mean over all orders of tied documents;
    - are the same without a cutoff and with a cutoff at the length of the list, and exist for larger cutoffs;
    - are the same in another process;

    and that labels, scores and ids are not modified. The order of rows, query ids, weights, 2-D labels and undefined
    queries are handled outside the metric, so there is nothing to check.

    Parameters
    ----------
    metric : str, metric function or bound metric
        Metric to check, as in get_metric. Bind parameters with get_metric, for instance
        ``get_metric(metric, alpha=0.5)``. Cutoffs are always tried.
    labels : sequence of float, default=(0, 1, 2, 3)
        Labels that the metric accepts.
    documents : dict of sequences, default=None
        Entries to draw for each column that the metric needs, such as ``{"price": [1, 2, 5]}``. Columns that are not
        named here hold 1, 2 and 3.

    Raises
    ------
    AssertionError
        If the metric breaks a rule. The message shows a query for which it does.

    See Also
    --------
    make_metric : Make a metric from a function of one ranked list.

    Examples
    --------
    >>> from skrank_metrics import check_metric, make_metric
    >>> check_metric(make_metric(lambda labels: labels[0], name="first_label"))
    >>> seen = []
    >>> check_metric(make_metric(lambda labels: seen.append(1) or len(seen), name="calls"))
    Traceback (most recent call last):
        ...
    AssertionError: calls(ties=average) must give the same values when called again; got ...
    """
    bound = get_metric(metric, ties="average")
    given = dict(documents or {})
    for name in given:
        check_choice(name, "documents", bound.record.documents)
    entries = {name: given.get(name, (1, 2, 3)) for name in bound.record.documents}
    problem = _problem(labels, entries)
    cutoffs: list[dict[str, Any]] = [{}]
    if bound.record.has_cutoff:
        cutoffs = [{"k": k} for k in CUTOFFS]
    try:
        for ties, cutoff in itertools.product(TIE_POLICIES, cutoffs):
            _check_values(bound.replace(ties=ties, **cutoff), problem)
        if bound.record.has_cutoff:
            _check_whole_lists(bound, problem)
        # Last, since processes take long to start.
        _check_elsewhere(bound, problem)
    except (TypeError, ValueError) as error:
        raise AssertionError(
            f"{bound} must accept the labels {list(labels)}, or be checked with others, labels=...; got "
            f"{type(error).__name__}: {error}"
        ) from error


@dataclass(frozen=True)
class _Problem:
    """Small queries with many ties."""

    labels: FloatArray
    scores: FloatArray
    qid: IntArray
    documents: dict[str, NDArray[Any]]
    queries: list[IntArray]  # rows of each

    def values(self, metric: BoundMetric, rows: Any = slice(None), **changed: Any) -> FloatArray:
        """One value per query, NaN if undefined."""
        arguments = {
            "y_true": self.labels[rows],
            "y_score": self.scores[rows],
            "qid": self.qid[rows],
            "average": None,
            **changed,
        }
        if self.documents:
            columns = {name: column[rows] for name, column in self.documents.items()}
            arguments["documents"] = columns
        if not metric.always_defined:
            # An undefined query must not look like one with the value that replaces it.
            arguments["replace_undefined_by"] = np.nan
        return np.asarray(metric(**arguments))


def _problem(labels: Sequence[float], documents: Mapping[str, Sequence[Any]]) -> _Problem:
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(N_QUERIES), rng.integers(1, LONGEST + 1, N_QUERIES))
    drawn = rng.choice(np.asarray(labels, dtype=np.float64), len(qid))
    # A few queries have equal labels, such as no relevant ones, and a few have equal scores.
    drawn[qid % 6 == 0] = min(labels)
    drawn[qid % 6 == 1] = max(labels)
    # With three different scores, every list of more than three documents has ties.
    scores = rng.integers(0, 3, len(qid)) / 2
    scores[qid % 5 == 0] = 0.0
    columns = {name: rng.choice(entries, len(qid)) for name, entries in documents.items()}
    for array in (drawn, scores, qid):
        array.flags.writeable = False  # a metric that modifies them raises an error
    # Rows of each query, for errors that show one.
    queries = [np.flatnonzero(qid == query) for query in range(N_QUERIES)]
    return _Problem(drawn, scores, qid, columns, queries)


def _check_equal(
    metric: BoundMetric, problem: _Problem, rule: str, values: FloatArray, expected: FloatArray
) -> None:
    """Raise an error that shows the first query for which values differ."""
    close = np.isclose(values, expected, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if close.all():
        return
    query = close.argmin()
    rows = problem.queries[query]
    raise AssertionError(
        f"{metric} must {rule}; got {values[query]:g} instead of {expected[query]:g} for labels "
        f"{problem.labels[rows].tolist()} with scores {problem.scores[rows].tolist()}."
    )


def _check_values(metric: BoundMetric, problem: _Problem) -> None:
    values = problem.values(metric)
    again = problem.values(metric)
    _check_equal(metric, problem, "give the same values when called again", again, values)
    low, high = metric.record.lower, metric.record.upper
    if metric.negative:
        low, high = -high, -low
    rule = f"be within its bounds, {low:g} to {high:g}"
    _check_equal(metric, problem, rule, values, values.clip(low, high))
    rule = "be the mean over all orders of tied documents that the policy allows"
    _check_equal(metric, problem, rule, values, _means_over_orders(metric, problem))


def _check_whole_lists(metric: BoundMetric, problem: _Problem) -> None:
    whole = problem.values(metric)
    # A cutoff below the end of a shorter list may count its missing ranks, as precision does.
    cut = problem.values(metric.replace(k=LONGEST))
    are_longest = np.bincount(problem.qid) == LONGEST
    rule = f"be the same with k={LONGEST} as without a cutoff"
    _check_equal(metric, problem, rule, cut, np.where(are_longest, whole, cut))


def _check_elsewhere(metric: BoundMetric, problem: _Problem) -> None:
    from joblib import Parallel, delayed

    try:
        (values,) = Parallel(n_jobs=2)([delayed(problem.values)(metric)])
    except Exception as error:
        raise AssertionError(
            f"{metric} must be picklable to be used with n_jobs; got {type(error).__name__}: {error}"
        ) from error
    _check_equal(metric, problem, "be the same in another process", values, problem.values(metric))


def _means_over_orders(metric: BoundMetric, problem: _Problem) -> FloatArray:
    orders = list[IntArray]()
    for rows in problem.queries:
        orders += _orders(rows, problem, metric.computation.ties)
    flat = np.concatenate(orders)
    # Each order is a query of its own, without ties.
    number = np.repeat(np.arange(len(orders)), [len(order) for order in orders])
    of_order = problem.values(metric, flat, y_score=-np.arange(float(len(flat))), qid=number)
    query = problem.qid[[order[0] for order in orders]]
    means: FloatArray = np.bincount(query, of_order) / np.bincount(query)
    return means


def _orders(rows: IntArray, problem: _Problem, ties: str) -> list[IntArray]:
    """Orders of the rows of a query that a tie policy allows, equally likely."""
    labels = problem.labels[rows]
    # Under "best" and "worst", equal labels stay tied, since documents may differ in other columns.
    second = {"average": 0 * rows, "best": -labels, "worst": labels, "stable": rows}[ties]
    keys = list(zip(-problem.scores[rows], second, strict=True))
    allowed = sorted(keys)
    orders = itertools.permutations(range(len(rows)))
    return [rows[list(order)] for order in orders if [keys[place] for place in order] == allowed]

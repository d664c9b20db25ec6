"""Check that a metric follows the rules of all metrics of this package."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.ranked_blocks import TIE_POLICIES
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_choice
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.names import get_metric

N_QUERIES, LONGEST = 30, 5
CUTOFFS = (None, 1, 3, LONGEST + 5)
# What must be equal: the rule as "must ...", values and expected values, of all queries or of their mean.
_Rules = Iterator[tuple[str, Any, Any]]
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

    - are within the bounds, and are averaged over queries by weight;
    - do not depend on the order of rows and queries, on the values of ids, or on scores other than by their order;
    - are correct for each tie policy: under "average", the mean over all orders of tied documents;
    - are the same without a cutoff and with a cutoff at the length of the list, and exist for larger cutoffs;
    - are replaced by ``replace_undefined_by`` for the same queries, whatever its value;
    - are the same for 2-D labels, for ``retrieved`` of only True, and in another process;

    and that labels, scores and ids are not modified.

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
    bound = get_metric(metric)
    cutoffs = CUTOFFS if bound.record.has_cutoff else (None,)
    for name in documents or ():
        check_choice(name, "documents", bound.record.documents)
    problem = _problem(
        labels, {name: (documents or {}).get(name, (1, 2, 3)) for name in bound.record.documents}
    )
    for k, ties in itertools.product(cutoffs, TIE_POLICIES):
        chosen = bound.replace(ties=ties, **({"k": k} if bound.record.has_cutoff else {}))
        try:
            for check in (_values, _order_of_rows, _ties, _undefined_and_weights, _other_forms):
                for rule, values, expected in check(chosen, problem):
                    _check_equal(chosen, problem, rule, np.asarray(values), np.asarray(expected))
        except (TypeError, ValueError) as error:
            raise AssertionError(
                f"{chosen} must accept the labels {list(labels)}, or be checked with others, labels=...; got "
                f"{type(error).__name__}: {error}"
            ) from error


@dataclass(frozen=True)
class _Problem:
    """Small queries with many ties."""

    labels: FloatArray
    scores: FloatArray
    qid: IntArray
    longest: Mask  # which queries have the most documents
    documents: dict[str, NDArray[Any]]
    queries: list[IntArray]  # rows of each

    def data(self, rows: Any = slice(None)) -> dict[str, Any]:
        """Arguments of a metric for some of the rows."""
        columns = {name: column[rows] for name, column in self.documents.items()}
        data = {"y_true": self.labels[rows], "y_score": self.scores[rows], "qid": self.qid[rows]}
        return {**data, "documents": columns} if columns else data

    def values(
        self,
        metric: BoundMetric,
        undefined: float = np.nan,
        rows: Any = slice(None),
        **changed: Any,
    ) -> Any:
        """One value per query."""
        given = {} if metric.always_defined else {"replace_undefined_by": undefined}
        return np.asarray(metric(**{**self.data(rows), **changed}, average=None, **given))


def _problem(labels: Sequence[float], documents: Mapping[str, Sequence[Any]]) -> _Problem:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, LONGEST + 1, N_QUERIES)
    qid = np.repeat(np.arange(N_QUERIES), sizes)
    # A few queries have equal labels, such as no relevant ones, and a few have equal scores.
    drawn = rng.choice(np.asarray(labels, dtype=np.float64), len(qid))
    drawn[qid % 6 == 0] = min(labels)
    drawn[qid % 6 == 1] = max(labels)
    scores = rng.integers(0, 3, len(qid)) * (qid % 5 > 0) / 2
    columns = {
        name: rng.choice(np.asarray(entries), len(qid)) for name, entries in documents.items()
    }
    for array in (drawn, scores, qid):
        array.flags.writeable = False  # a metric that modifies them raises an error
    queries = [np.flatnonzero(qid == query) for query in range(N_QUERIES)]
    return _Problem(drawn, scores, qid, sizes == LONGEST, columns, queries)


def _check_equal(
    metric: BoundMetric, problem: _Problem, rule: str, values: Any, expected: Any
) -> None:
    """Raise an error that shows the first query for which values differ."""
    close = np.isclose(values, expected, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if not close.all():
        query, where = int(np.flatnonzero(~close)[0]), ""
        if values.ndim:
            rows = problem.queries[query]
            where = f" for labels {problem.labels[rows].tolist()} with scores {problem.scores[rows].tolist()}"
        got, wanted = values.flat[query], expected.flat[query]
        raise AssertionError(f"{metric} must {rule}; got {got:g} instead of {wanted:g}{where}.")


def _values(metric: BoundMetric, problem: _Problem) -> _Rules:
    values, (low, high) = problem.values(metric), (metric.record.lower, metric.record.upper)
    yield "give the same values when called again", problem.values(metric), values
    low, high = (-high, -low) if metric.negative else (low, high)
    yield f"be within its bounds, {low:g} to {high:g}", values, values.clip(low, high)
    if metric.k == LONGEST + 5:
        whole, cut = (problem.values(metric.replace(k=k)) for k in (None, LONGEST))
        yield (
            f"be the same with k={LONGEST} as without a cutoff",
            cut,
            np.where(problem.longest, whole, cut),
        )


def _order_of_rows(metric: BoundMetric, problem: _Problem) -> _Rules:
    values, mixed = problem.values(metric), np.random.default_rng(1).permutation(len(problem.qid))
    names = np.array([f"q{query}" for query in problem.qid])
    yield "not depend on the values of ids", problem.values(metric, qid=names), values
    raised = problem.values(metric, y_score=np.exp(problem.scores) - 7)
    yield "depend only on the order of scores", raised, values
    if metric.computation.ties != "stable":  # which depends on the order of rows
        moved = problem.values(metric, rows=mixed)
        queries = list(dict.fromkeys(problem.qid[mixed].tolist()))
        yield "not depend on the order of rows", moved[np.argsort(queries)], values


def _ties(metric: BoundMetric, problem: _Problem) -> _Rules:
    ties = metric.computation.ties
    orders = [_orders(rows, problem, ties) for rows in problem.queries]
    flat = list(itertools.chain.from_iterable(orders))
    sizes = [len(order) for order in flat]
    # Each order is a query of its own, without ties.
    of_order = problem.values(
        metric,
        rows=np.concatenate(flat),
        y_score=np.concatenate([-np.arange(size, dtype=np.float64) for size in sizes]),
        qid=np.repeat(np.arange(len(sizes)), sizes),
    )
    ends = np.cumsum([len(of_query) for of_query in orders])
    expected = [part.mean() for part in np.split(of_order, ends[:-1])]
    what = (
        "be the mean over all orders of tied documents"
        if ties == "average"
        else "order tied documents correctly"
    )
    yield f"{what} under ties={ties!r}", problem.values(metric), expected


def _orders(rows: IntArray, problem: _Problem, ties: str) -> list[IntArray]:
    """Orders of the rows of a query that a tie policy allows, equally likely."""
    scores = problem.scores[rows]
    groups = [rows[scores == score] for score in np.unique(scores)[::-1]]
    if ties == "stable":
        return [np.concatenate(groups)]
    if ties in (
        "best",
        "worst",
    ):  # equal labels stay tied, since documents may differ in other columns
        by_label = [
            [g[problem.labels[g] == label] for label in np.unique(problem.labels[g])]
            for g in groups
        ]
        groups = [part for parts in by_label for part in parts[:: -1 if ties == "best" else 1]]
    return [
        np.concatenate(parts) for parts in itertools.product(*map(itertools.permutations, groups))
    ]


def _undefined_and_weights(metric: BoundMetric, problem: _Problem) -> _Rules:
    values, given = (
        problem.values(metric),
        {} if metric.always_defined else {"replace_undefined_by": 0.25},
    )
    replaced = np.where(np.isnan(values), -0.25 if metric.negative else 0.25, values)
    yield "be replaced by replace_undefined_by if undefined", problem.values(metric, 0.25), replaced
    data, weights = {**problem.data(), "average": "macro", **given}, 1.0 + np.arange(N_QUERIES) % 3
    yield "be averaged over queries", metric(**data), replaced.mean()
    weighted = metric(**data, sample_weight=weights[problem.qid])
    yield "be averaged over queries by weight", weighted, np.average(replaced, weights=weights)


def _other_forms(metric: BoundMetric, problem: _Problem) -> _Rules:
    from joblib import Parallel, delayed

    values, two_dimensional = problem.values(metric), problem.values(metric)
    ranked = problem.values(metric, retrieved=np.ones(len(problem.qid), dtype=bool))
    yield "be the same if all documents are marked as retrieved", ranked, values
    rows = np.array([rows for rows in problem.queries if len(rows) == LONGEST])
    two_dimensional[problem.longest] = problem.values(metric, rows=rows, qid=None)
    yield "be the same for 2-D labels", two_dimensional, values
    try:
        (elsewhere,) = Parallel(n_jobs=2)([delayed(problem.values)(metric)])
    except Exception as error:
        raise AssertionError(
            f"{metric} must be picklable to be used with n_jobs; got {type(error).__name__}: {error}"
        ) from error
    yield "be the same in another process", elsewhere, values

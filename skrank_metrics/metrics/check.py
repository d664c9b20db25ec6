"""Check that a metric follows the rules of all metrics of this package."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._engine.ranked_blocks import TIE_POLICIES
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.names import get_metric

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
    >>> from skrank_metrics import check_metric, make_metric
    >>> check_metric(make_metric(lambda labels: labels[0], name="first_label"))
    >>> seen = []
    >>> check_metric(make_metric(lambda labels: seen.append(1) or len(seen), name="calls"))
    Traceback (most recent call last):
        ...
    AssertionError: calls(ties=average) must give the same values when called again; got ...
    """
    bound = get_metric(metric, ties="average")
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
        # Last, since processes take long to start.
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

"""What the tests of a comparison say about two rankings, and about each ranking among the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.reports.mean_intervals import moments
from skrank_metrics.reports.sign_flips import Interval, without_rounding

# Fewer queries cannot show a difference at a level of 0.05, so being equal on them shows nothing.
LEAST_EQUAL = 6


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared.

    The verdict is read off the simultaneous interval: "better" if the first ranking is significantly better; "not
    worse", only with a margin, if it loses at most the margin or is equal on all of at least 6 queries; "worse" if it
    is significantly worse; else "undecided". Intervals exclude 0 exactly if p_value, or p_adjusted, is at most
    1 - confidence. They are NaN if the metric is unbounded and too few queries differ.
    """

    first: str
    second: str
    metric: str
    difference: float  # mean of the first minus mean of the second
    interval: Interval  # of the difference, for this pair alone
    simultaneous: Interval  # which holds together with those of all other pairs
    p_value: float
    p_adjusted: float  # corrected for the number of pairs
    wins: int  # number of queries on which the first is better
    ties: int
    losses: int
    n_queries: int  # with a value and a weight above 0
    qid: NDArray[Any] = field(repr=False)
    differences: FloatArray = field(repr=False)  # of shape (n_queries,)
    values: tuple[FloatArray, FloatArray] = field(repr=False)  # of the first and the second, by query
    verdict: str


class QueryDifference(NamedTuple):
    """A query with the values of two rankings and their difference."""

    qid: Any
    first: float
    second: float
    difference: float


class Standing(NamedTuple):
    """What is known about one ranking.

    The difference is that to the best other ranking; the end of its interval on the better side is 0 exactly if the
    ranking is not in the set that contains the best, and the other end is 0 exactly if it is alone there. The status is
    "best" (alone), "leads", "may be best" or "worse". With a baseline, the difference is that to the baseline, with its
    simultaneous interval and adjusted p-value, and the status is "baseline" or the verdict of the pair.
    """

    name: str
    mean: float
    difference: float = np.nan
    interval: Interval = (np.nan, np.nan)
    p_value: float = np.nan
    status: str = ""
    regret: float = np.nan


def pair_of(found: Any, first: str, second: str) -> Pair:
    """Compare two rankings by the first metric of a comparison."""
    places = [found.names.index(first), found.names.index(second)]
    p, adjusted, interval, together = found._family.tested(found._number, *places)
    one, other = without_rounding(found._values[found.used][:, places]).T
    differences = one - other
    better = differences if found.greater_is_better else -differences
    return Pair(
        first,
        second,
        found.metrics[0],
        difference=moments(differences, found._weights).mean,
        interval=_directed(found, interval),
        simultaneous=_directed(found, together),
        p_value=p,
        p_adjusted=adjusted,
        wins=int((better > 0).sum()),
        ties=int((better == 0).sum()),
        losses=int((better < 0).sum()),
        n_queries=len(differences),
        qid=found.qid[found.used],
        differences=differences,
        values=(one, other),
        verdict=_verdict_of_pair(together, found.margin, 0 if differences.any() else len(differences)),
    )


def _directed(found: Any, ends: Interval) -> Interval:
    """An interval of differences that are better if larger, in the direction of the metric."""
    return ends if found.greater_is_better else (0.0 - ends[1], 0.0 - ends[0])


def _verdict_of_pair(ends: Interval, margin: float | None, n_equal: int) -> str:
    """Verdict from the simultaneous interval of a difference, where larger is better; n_equal if no query differs."""
    low, high = ends
    if low > 0:
        return "better"
    # A change without any effect on these queries passes a release gate, if as many could have shown one.
    if margin is not None and (low > -margin or n_equal >= LEAST_EQUAL):
        return "not worse"
    return "worse" if high < 0 else "undecided"


def standings_of(found: Any) -> Iterator[Standing]:
    """What is known about each ranking by the first metric of a comparison, best first."""
    means, best, may_be = found._means, found._ranked[0], found.best_set if found.tested else ()
    regret = found.regret if found.tested else {}
    for name in found._ranked:
        row = Standing(name, means[name], regret=regret.get(name, np.nan))
        if not found.tested:
            yield row
        elif name == found.baseline:
            yield row._replace(status="baseline")
        elif found.baseline is not None:
            pair = pair_of(found, name, found.baseline)
            yield Standing(*row[:2], pair.difference, pair.simultaneous, pair.p_adjusted, pair.verdict, row.regret)
        else:
            tested, place = found._best, found.names.index(name)
            low, high = tested.intervals[place].tolist()
            leads = "best" if len(may_be) == 1 else "leads"
            yield row._replace(
                difference=means[name] - means[found._ranked[1] if name == best else best],
                interval=_directed(found, (low, high)),
                p_value=float(tested.p_values[place]),
                status="worse" if name not in may_be else leads if name == best else "may be best",
            )


def check_by_query(name: str, metric: BoundMetric) -> None:
    """Refuse metrics that are not means over queries."""
    if not is_mean(metric):
        raise ValueError(
            f"metric must be a mean over queries; got {name!r}, which has average={metric.average!r} and cannot be "
            "compared per query. Evaluate without this average."
        )


def is_mean(metric: BoundMetric) -> bool:
    """Whether a metric is a mean over queries."""
    return metric.average in ("macro", None)


def n_needed(effect: float, most: float, critical: float, power: float) -> float:
    """Number of units at which the test rejects; effect and largest difference in standard deviations."""
    normal, n = float(special.ndtri(power)), 6.0
    for _ in range(100):
        spread = (1 + effect**2 + most**2 / (2 * n)) ** 0.5
        n = max(6.0, (critical * spread + normal) ** 2 / effect**2)
    return n

"""The expectation over all orders of tied documents, as transforms of a ranked block.

Each transform replaces the entries of a tie group so that a metric which knows nothing of ties, applied to the
result, gives its expected value over the equally likely orders of the group. Notation: a group of ``t`` documents,
``r`` of them relevant, ``h`` hits ranked before it, and ``j = 0, ..., t - 1`` the place inside it.

References
----------
F. McSherry, M. Najork (2008). Computing information retrieval performance measures efficiently in the presence of
tied scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.grouping import concatenate_ranges, places_within

T = TypeVar("T", np.float64, np.intp)


@dataclass(frozen=True)
class TieGroups:
    """The groups of equal scores in a block: each cell belongs to one, usually alone."""

    starts: IntArray  # first cell of each group, cells counted row by row
    sizes: IntArray
    shape: tuple[int, ...]

    @classmethod
    def from_tied(cls, tied: NDArray[np.bool_]) -> TieGroups:
        """Form groups from a mask of the cells that tie with the cell before them."""
        starts = np.flatnonzero(~tied)
        return cls(starts, np.diff(starts, append=tied.size), tied.shape)

    def total(self, values: FloatArray | IntArray) -> FloatArray:
        """Sum the values of each group."""
        return np.add.reduceat(values.ravel(), self.starts)

    def spread(self, of_groups: NDArray[T]) -> NDArray[T]:
        """Give each cell the value of its group."""
        return np.repeat(of_groups, self.sizes).reshape(self.shape)

    @cached_property
    def place(self) -> FloatArray:
        """The place ``j`` of each cell inside its group."""
        cells = np.arange(self.shape[0] * self.shape[1]).reshape(self.shape)
        return (cells - self.spread(self.starts)).astype(np.float64)

    def at_column(self, column: int) -> IntArray:
        """Give the number of the group that each row has in a column."""
        cells = np.arange(self.shape[0]) * self.shape[1] + column
        return np.searchsorted(self.starts, cells, side="right") - 1


def ties_with_previous(keys: FloatArray) -> NDArray[np.bool_]:
    """Find the cells of sorted rows that equal the cell before them; infinite keys are padding, which never ties."""
    tied = np.zeros(keys.shape, dtype=bool)
    np.equal(keys[:, 1:], keys[:, :-1], out=tied[:, 1:])
    tied &= keys < np.inf
    return tied


def mean_gains(gains: FloatArray, groups: TieGroups | None) -> FloatArray:
    """Replace each gain by the mean of its group, which makes a weighted sum over ranks its expectation."""
    if groups is None:
        return gains
    return groups.spread(groups.total(gains) / groups.sizes)


def hazards(stops: FloatArray, groups: TieGroups | None, depth: int) -> FloatArray:
    """Make a product over ranks of 1 - stop its expectation: hazard_j = (Q_j - Q_{j+1}) / Q_j.

    Q_j is the mean over subsets of j documents of the group of the product of (1 - stop), the probability to be still
    reading after j of them. Where all stop probabilities are 0 or 1, hazard_j = r / (t - j). Behind ``depth``, and
    where Q_j is 0, no hazard is ever used.
    """
    if groups is None:
        return stops
    total = groups.total(stops)
    if ((stops == 0) | (stops == 1)).all():
        r, t = groups.spread(total), groups.spread(groups.sizes)
        return np.minimum(r / (t - groups.place), 1.0)
    effective = stops.copy()
    open_groups = (groups.sizes > 1) & (total > 0)
    largest = 4
    while largest < 4 * groups.sizes.max():  # groups of similar size together, or one large group would widen them all
        chosen = np.flatnonzero(open_groups & (groups.sizes > largest // 4) & (groups.sizes <= largest))
        if len(chosen):
            # Q_j is at most the j-th power of its mean factor (Maclaurin), which underflows somewhere.
            lowest = (total[chosen] / groups.sizes[chosen]).min()
            reached = math.inf if lowest >= 1 else -746 / math.log1p(-lowest)
            width = math.ceil(min(groups.sizes[chosen].max(), depth, reached))
            _set_hazards(effective.ravel(), stops.ravel(), groups.starts[chosen], groups.sizes[chosen], width)
        largest *= 4
    return effective


def _set_hazards(effective: FloatArray, stops: FloatArray, starts: IntArray, sizes: IntArray, width: int) -> None:
    n = len(sizes)
    cells, owner = concatenate_ranges(starts, sizes), np.repeat(np.arange(n), sizes)
    values = stops.take(cells)
    can_stop = np.flatnonzero(values)
    counts = np.bincount(owner.take(can_stop), minlength=n)
    by_count = np.argsort(-counts)
    column = np.empty_like(by_count)
    column[by_count] = np.arange(n)
    columns = column.take(owner)
    steps = np.zeros((int(counts.max()), n))
    steps.ravel()[places_within(counts) * n + columns.take(can_stop)] = values.take(can_stop)
    left = _stops_left(steps, counts[by_count], (sizes - counts)[by_count], width)

    place = places_within(sizes)
    if width < sizes.max():
        within = place < width
        cells, place, columns, owner = cells[within], place[within], columns[within], owner[within]
    effective[cells] = np.minimum(left.take(place * n + columns) / (sizes.take(owner) - place), 1.0)


def _stops_left(stops: FloatArray, counts: IntArray, zeros: IntArray, width: int) -> FloatArray:
    """Give y_j for j < ``width``: the sum of the stops of the other documents, given that nobody stopped at j of them.

    A column a group, those with most stops first: ``counts`` stops above 0 and ``zeros`` others. Let e_j be the sum
    over subsets of j documents of the product of (1 - stop), and D_j the same with each product times the stops of the
    others. These overflow; y_j = D_j / e_j and x_j = e_j / e_{j-1} do not. Another document adds (1 - stop) e_{j-1} to
    e_j, and (1 - stop) D_{j-1} + stop e_j to D_j. All terms are positive, and documents without stop need no step.
    """
    j = np.arange(1.0, width)[:, None]
    x, y = np.maximum(zeros + 1 - j, 0.0) / j, np.zeros((width, len(zeros)))
    survivals = np.maximum(1 - stops, np.finfo(np.float64).tiny)  # so that nothing is divided by 0
    for m in range(len(stops)):
        n_groups = int(np.searchsorted(-counts, -m))
        last = min(width, int(zeros[:n_groups].max()) + m + 2)
        x_m, y_m, survival = x[: last - 1, :n_groups], y[:last, :n_groups], survivals[m, :n_groups]
        sums = x_m + survival
        inverse = 1 / sums
        from_previous = survival * y_m[:-1]
        y_m += stops[m, :n_groups]
        y_m[1:] *= x_m
        y_m[1:] += from_previous
        y_m[1:] *= inverse
        share = x_m[:-1] * inverse[:-1]
        x_m[:1] = sums[:1]
        np.multiply(share, sums[1:], out=x_m[1:])
    return y


def running_products(a: FloatArray, b: FloatArray | IntArray, groups: TieGroups | None) -> FloatArray:
    """E[a_i * sum of b up to and including i], for instance relevance times hits, the numerators of precision.

    With A, B and S the sums over the group of a, b and a * b, and h the sum of b before it:
    (A h + S + j (A B - S) / (t - 1)) / t. For a = b = relevance that is r/t * (h + 1 + j (r - 1)/(t - 1)).
    """
    if groups is None:
        products: FloatArray = a * np.cumsum(b, axis=1)
        return products
    t, total_a, total_b, both = groups.sizes, groups.total(a), groups.total(b), groups.total(a * b)
    first = (total_a * _sum_before(b, groups) + both) / t
    step = (total_a * total_b - both) / (t * np.maximum(t - 1, 1))
    return groups.spread(first) + groups.place * groups.spread(step)


def capped_misses(relevant: FloatArray, groups: TieGroups | None, cap: FloatArray | IntArray) -> FloatArray:
    """E[sum over relevant documents of min(non-relevant documents ranked above, cap)], one value per query.

    Of the q non-relevant documents of its group, a relevant one has 0, 1, ..., q above it with equal probability.
    """
    groups = groups or TieGroups.from_tied(np.zeros(relevant.shape, dtype=bool))
    missed = 1 - relevant  # counts padding too, which is above nothing
    above, q = _sum_before(missed, groups), groups.total(missed)
    limit = cap[groups.starts // groups.shape[1]]
    below_cap = np.clip(limit - above, 0, q + 1)  # of the q + 1 cases
    total = below_cap * above + below_cap * (below_cap - 1) / 2 + (q + 1 - below_cap) * limit
    return groups.spread(groups.total(relevant) / groups.sizes * total / (q + 1)).sum(axis=1)


def mean_precision_over_hits(relevant: FloatArray, groups: TieGroups | None, depth: int) -> FloatArray:
    """E[sum of precision at the hits of the first ``depth`` ranks / number of these hits].

    Only the group at the cutoff leaves the number of hits open. Of its ``s`` places inside the cutoff, ``x`` are
    hits with hypergeometric probability, and given ``x`` they are spread over the ``s`` places like any tie group.
    """
    groups = groups or TieGroups.from_tied(np.zeros(relevant.shape, dtype=bool))
    last = groups.at_column(depth - 1)
    a = groups.starts[last] % groups.shape[1]
    r, t, s = groups.total(relevant)[last], groups.sizes[last], depth - a
    h = _sum_before(relevant, groups)[last]

    ranks = np.arange(1, depth + 1)
    in_last = ranks > a[:, None]
    precisions = running_products(relevant, relevant, groups)[:, :depth] / ranks
    before = np.where(in_last, 0.0, precisions).sum(axis=1)
    w0 = (in_last / ranks).sum(axis=1)
    w1 = (in_last * (ranks - 1 - a[:, None]) / ranks).sum(axis=1)

    x = np.arange(int(np.minimum(r, s).max()) + 1)[:, None]
    inside = x / s * ((h + 1) * w0 + (x - 1) / np.maximum(s - 1, 1) * w1)
    mean = (before + inside) / np.maximum(h + x, 1)
    expected: FloatArray = (_hypergeometric(x, t, r, s) * mean).sum(axis=0)
    return expected


def _sum_before(values: FloatArray | IntArray, groups: TieGroups) -> FloatArray:
    """Sum over the ranks before each group."""
    up_to: FloatArray = np.cumsum(values, axis=1)
    return (up_to - values).ravel()[groups.starts]


def _hypergeometric(x: IntArray, t: IntArray, r: FloatArray, s: IntArray) -> FloatArray:
    """Probability of x = 0, 1, ... hits among s of t documents, r of them relevant; one column per query.

    Summing the logarithms of ratios of neighbours keeps all digits, which gamma functions lose on long lists, and takes
    a thousandth of the time of ``scipy.stats.hypergeom``.
    """
    low, high = np.maximum(0, s - (t - r)), np.minimum(r, s)
    later = (x > low) & (x <= high)
    ratios = np.divide((r - x + 1) * (s - x + 1), x * (t - r - s + x), out=np.ones(later.shape), where=later)
    logs = np.where((x < low) | (x > high), -np.inf, np.cumsum(np.log(ratios), axis=0, dtype=np.longdouble))
    weights = np.exp((logs - logs.max(axis=0)).astype(np.float64))
    return weights / weights.sum(axis=0)

"""The expectation over all orders of tied documents, as transforms of a ranked block.

Each transform replaces the entries of a tie group so that a metric that ignores ties, applied to the result, gives its
expected value over the equally likely orders of the group. Notation: a group has ``t`` documents, ``r`` of them
relevant, with ``h`` hits ranked before it; ``j = 0, ..., t - 1`` is the place inside the group.

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
from skrank_metrics._input.grouping import places_within

T = TypeVar("T", np.float64, np.intp)

# Up to this group size, sums over subsets do not overflow, and several groups are done at once.
LONGEST_SHORT = 1000
# Below this mean stop probability, differences lose too many digits.
WEAK_STOP = 1 / 32


@dataclass(frozen=True)
class TieGroups:
    """The groups of equal scores in a block: each cell belongs to one, usually of its own."""

    starts: IntArray  # first cell of each group, cells counted row by row
    sizes: IntArray
    shape: tuple[int, ...]

    @classmethod
    def from_tied(cls, tied: NDArray[np.bool_]) -> TieGroups:
        """Form groups from a mask of the cells that are tied with the cell before them."""
        starts = np.flatnonzero(~tied)
        return cls(starts, np.diff(starts, append=tied.size), tied.shape)

    def total(self, values: FloatArray | IntArray) -> FloatArray:
        """Sum the values of each group."""
        return np.add.reduceat(values.ravel(), self.starts)

    def spread(self, of_groups: NDArray[T]) -> NDArray[T]:
        """Repeat the value of each group for its cells."""
        return np.repeat(of_groups, self.sizes).reshape(self.shape)

    @cached_property
    def place(self) -> FloatArray:
        """The place ``j`` of each cell inside its group."""
        cells = np.arange(self.shape[0] * self.shape[1]).reshape(self.shape)
        return (cells - self.spread(self.starts)).astype(np.float64)

    def at_column(self, column: int) -> IntArray:
        """The number of the group of each row in a column."""
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
    """Replace stop probabilities by hazards, whose product of 1 - hazard is the expected product of 1 - stop.

    Let e_j be the sum over subsets of j documents of the group of the product of q = 1 - stop, and D_j the same with
    each product times the sum of the stops of the other documents. The probability of still reading after j documents
    is Q_j = e_j / binomial(t, j), and hazard_j = 1 - Q_{j+1} / Q_j = D_j / (e_j (t - j)), which has no cancellation. If
    all stops are 0 or 1, it is r / (t - j). Hazards beyond ``depth`` or behind Q_j = 0 are not used.
    """
    if groups is None:
        return stops
    total, sizes = groups.total(stops), groups.sizes
    if ((stops == 0) | (stops == 1)).all():
        return np.minimum(groups.spread(total) / (groups.spread(sizes) - groups.place), 1.0)
    effective = stops.copy()
    open_groups, weak = (sizes > 1) & (total > 0), total < WEAK_STOP * sizes

    def width(chosen: IntArray) -> int:
        # By Maclaurin's inequality Q_j is at most (1 - mean stop)^j, which underflows at some j.
        lowest = (total[chosen] / sizes[chosen]).min()
        reached = math.inf if lowest >= 1 else -746 / math.log1p(-lowest)
        return math.ceil(min(sizes[chosen].max(), depth, reached))

    for group in np.flatnonzero(open_groups & (sizes > LONGEST_SHORT)):
        cells = slice(groups.starts[group], groups.starts[group] + sizes[group])
        _set_long_group(effective.ravel()[cells], width(np.array([group])))
    largest = 4
    while largest < 4 * min(
        sizes.max(), LONGEST_SHORT
    ):  # by size, since the largest group sets the width
        similar = open_groups & (sizes > largest // 4) & (sizes <= min(largest, LONGEST_SHORT))
        for chosen in (np.flatnonzero(similar & weak), np.flatnonzero(similar & ~weak)):
            if len(chosen):
                _set_short_groups(
                    effective.ravel(),
                    groups.starts[chosen],
                    sizes[chosen],
                    width(chosen),
                    weak[chosen[0]],
                )
        largest *= 4
    return effective


def _set_short_groups(
    stops: FloatArray, starts: IntArray, sizes: IntArray, width: int, weak: bool
) -> None:
    """Replace the stops of several groups by hazards, adding document by document to all at once."""
    n = len(sizes)
    place, owner = places_within(sizes), np.repeat(np.arange(n), sizes)
    cells = starts.take(owner) + place
    values = stops.take(cells)
    can_stop = np.flatnonzero(values)
    counts = np.bincount(owner.take(can_stop), minlength=n)
    by_count = np.argsort(-counts)  # groups with a further document come first
    column = np.empty_like(by_count)
    column[by_count] = np.arange(n)
    columns = column.take(owner)
    steps = np.zeros((int(counts.max()), n))
    steps.ravel()[places_within(counts) * n + columns.take(can_stop)] = values.take(can_stop)
    left = _stops_left(steps, counts[by_count], sizes[by_count], width, weak)

    if width < sizes.max():
        within = place < width
        cells, place, columns, owner = cells[within], place[within], columns[within], owner[within]
    stops[cells] = np.minimum(left.take(place * n + columns) / (sizes.take(owner) - place), 1.0)


def _stops_left(
    stops: FloatArray, counts: IntArray, sizes: IntArray, width: int, weak: bool
) -> FloatArray:
    """D_j / e_j for j < ``width``, one column per group; groups with most stops above 0 come first.

    Each document adds q e_{j-1} to e_j, and q D_{j-1} + stop e_j to D_j. Documents with stop 0 need no step: for z of
    them, e_j is binomial(z, j).
    """
    j = np.arange(width + 1.0)[:, None]
    zeros = sizes - counts
    z = np.arange(zeros.max() + 1)
    e = np.cumprod(
        np.vstack([np.ones(len(z)), np.maximum(z + 1 - j[1:], 0.0) / j[1:]]), axis=0
    ).take(zeros, axis=1)
    d = np.zeros(e.shape if weak else (0, 0))
    active = np.searchsorted(
        -counts, -np.arange(len(stops))
    )  # number of groups with a further document
    last = np.minimum(
        width + 1, np.maximum.accumulate(zeros)[active - 1] + np.arange(len(stops)) + 2
    )
    for stop, n_groups, end in zip(stops, active.tolist(), last.tolist(), strict=True):
        e_m, d_m, stop = e[:end, :n_groups], d[:end, :n_groups], stop[:n_groups]
        if weak:
            from_previous = (1 - stop) * d_m[:-1]
            d_m += stop * e_m
            d_m[1:] += from_previous
        e_m[1:] += (1 - stop) * e_m[:-1]
    known = np.maximum(e[:-1], np.finfo(np.float64).tiny)
    # The difference gives D_j / e_j in a third of the time, but loses digits if stops are weak.
    return d[:-1] / known if weak else np.maximum(sizes - j[:-1] - j[1:] * (e[1:] / known), 0.0)


def _set_long_group(stops: FloatArray, width: int) -> None:
    """Replace the first ``width`` stops of one group by hazards, adding document by document.

    Sums over subsets would overflow, so these are means. A further document is among the j documents of a subset of
    m + 1 with probability j / (m + 1): then it multiplies the mean of j - 1 documents by q = 1 - stop. With Q_j the
    mean of the products, and S_j that of the products times the stop of another document, hazard_j = S_j / Q_j.
    """
    can_stop = stops[stops > 0]
    n_zero = len(stops) - len(can_stop)
    j = np.arange(width, dtype=np.float64)
    q_mean, s_mean = np.zeros(width), np.zeros(width)
    q_mean[: n_zero + 1] = 1.0
    for m, stop in enumerate(can_stop.tolist(), start=n_zero):
        end = min(m + 2, width)
        inside, q, s = j[:end] / (m + 1), q_mean[:end], s_mean[:end]
        added_q, added_s = (1 - stop) * inside[1:] * q[:-1], (1 - stop) * inside[1:] * s[:-1]
        # The document itself is the other one with probability 1 / (m + 1).
        s *= 1 - (j[:end] + 1) / (m + 1)
        s += stop / (m + 1) * q
        s[1:] += added_s
        q *= 1 - inside
        q[1:] += added_q
    known = np.maximum(q_mean, np.finfo(np.float64).tiny)
    stops[:width] = np.minimum(s_mean / known, 1.0)


def running_products(
    a: FloatArray, b: FloatArray | IntArray, groups: TieGroups | None
) -> FloatArray:
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


def capped_misses(
    relevant: FloatArray, groups: TieGroups | None, cap: FloatArray | IntArray
) -> FloatArray:
    """E[min(non-relevant documents ranked above, cap)] of the hits, by rank; a tie group shares its sum evenly.

    Of the q non-relevant documents of its group, a relevant one has 0, 1, ..., q above it with equal probability.
    """
    groups = groups or TieGroups.from_tied(np.zeros(relevant.shape, dtype=bool))
    missed = 1 - relevant  # also counts padding, which is above no document
    above, q = _sum_before(missed, groups), groups.total(missed)
    limit = cap[groups.starts // groups.shape[1]]
    below_cap = np.clip(limit - above, 0, q + 1)  # of the q + 1 cases
    total = below_cap * above + below_cap * (below_cap - 1) / 2 + (q + 1 - below_cap) * limit
    shares = groups.total(relevant) / groups.sizes
    return groups.spread(shares * total / (q + 1))


def mean_precision_over_hits(
    relevant: FloatArray, groups: TieGroups | None, depth: int
) -> FloatArray:
    """E[sum of precision at the hits of the first ``depth`` ranks / number of these hits].

    Only the group at the cutoff leaves the number of hits open. Of its ``s`` places inside the cutoff, ``x`` are
    hits with hypergeometric probability, and given ``x`` they are spread over the ``s`` places like any tie group.
    """
    ranks = np.arange(1, depth + 1)
    precisions = running_products(relevant, relevant, groups)[:, :depth] / ranks
    if groups is None:
        return precisions.sum(axis=1) / np.maximum(relevant[:, :depth].sum(axis=1), 1)
    from scipy import stats  # takes half a second to load, and is not needed by other metrics

    last = groups.at_column(depth - 1)
    a = groups.starts[last] % groups.shape[1]
    r, t, s = groups.total(relevant)[last], groups.sizes[last], depth - a
    h = _sum_before(relevant, groups)[last]

    in_last = ranks > a[:, None]
    before = np.where(in_last, 0.0, precisions).sum(axis=1)
    w0 = (in_last / ranks).sum(axis=1)
    w1 = (in_last * (ranks - 1 - a[:, None]) / ranks).sum(axis=1)

    x = np.arange(int(np.minimum(r, s).max()) + 1)[:, None]
    inside = x / s * ((h + 1) * w0 + (x - 1) / np.maximum(s - 1, 1) * w1)
    mean = (before + inside) / np.maximum(h + x, 1)
    expected: FloatArray = (stats.hypergeom.pmf(x, t, r, s) * mean).sum(axis=0)
    return expected


def _sum_before(values: FloatArray | IntArray, groups: TieGroups) -> FloatArray:
    """Sum over the ranks before each group."""
    up_to: FloatArray = np.cumsum(values, axis=1)
    return (up_to - values).ravel()[groups.starts]


# Pairs of documents are counted without visiting each pair.


def count_inversions(codes: IntArray) -> FloatArray:
    """Number of pairs in each row whose first code is smaller than the second.

    Documents that are sorted by code are put back in their order by one merge per bit, in which a code passes all
    larger ones that come before it. A table of all pairs would take the square of the length.
    """
    n_rows = len(codes)
    n_bits = int(codes.max()).bit_length()
    # Each row is read from its end, so that larger codes come before.
    codes = (np.arange(n_rows)[:, None] << n_bits | codes[:, ::-1]).ravel()
    place = np.argsort(codes, kind="stable")
    codes = codes[place]
    counts = np.zeros(n_rows)
    for bit in range(1, n_bits + 1):
        # Codes that agree in all bits from this one on, in two halves. This kind of sort merges what is in order.
        order = np.argsort((codes >> bit) * len(codes) + place, kind="stable")
        n_passed = np.maximum(np.arange(len(codes)) - order, 0)
        codes, place = codes[order], place[order]
        counts += np.bincount(codes >> n_bits, weights=n_passed)
    return counts


def average_ranks(values: FloatArray, padding: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Rank of each value in its row, largest first, and the number of pairs of equal values.

    Equal values share their mean rank. Padding has rank 0 and is in no pair.
    """
    keys = np.where(padding, np.inf, -values)
    order = np.argsort(keys, axis=1)
    keys = np.take_along_axis(keys, order, axis=1)
    groups = TieGroups.from_tied(ties_with_previous(keys))
    first = groups.starts % keys.shape[1] + 1
    mean = groups.spread(first + (groups.sizes - 1) / 2)
    ranks = np.empty_like(mean)
    np.put_along_axis(ranks, order, mean, axis=1)
    pairs = groups.spread((groups.sizes - 1) / 2).sum(axis=1)
    return np.where(padding, 0.0, ranks), pairs

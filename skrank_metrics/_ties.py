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

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._validation import FloatArray, IntArray

T = TypeVar("T", np.float64, np.intp)


@dataclass(frozen=True)
class TieGroups:
    """The groups of equal scores of a block; every cell of the block is in one, most are alone in theirs."""

    starts: IntArray  # first cell of each group, cells counted row by row
    sizes: IntArray
    shape: tuple[int, ...]

    @classmethod
    def from_tied(cls, tied: NDArray[np.bool_]) -> TieGroups:
        """Groups from a mask that says which cells tie with the cell before them."""
        starts = np.flatnonzero(~tied)
        return cls(starts, np.diff(starts, append=tied.size), tied.shape)

    @classmethod
    def singles(cls, shape: tuple[int, ...]) -> TieGroups:
        """Groups of a block without ties."""
        return cls.from_tied(np.zeros(shape, dtype=bool))

    def total(self, values: FloatArray) -> FloatArray:
        """Sum over each group."""
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
        """Number of the group that each row has in a column."""
        cells = np.arange(self.shape[0]) * self.shape[1] + column
        return np.searchsorted(self.starts, cells, side="right") - 1


def mean_gains(gains: FloatArray, groups: TieGroups | None) -> FloatArray:
    """Make a sum over ranks of gains and weights its expectation: each gain becomes the mean of its group."""
    if groups is None:
        return gains
    return groups.spread(groups.total(gains) / groups.sizes)


def hazards(relevant: FloatArray, groups: TieGroups | None) -> FloatArray:
    """Make a product over ranks of 1 - stop its expectation: hazard_j = r / (t - j).

    It is the probability that the document at ``j`` is relevant where none before it in the group was. Behind the
    last rank that can be reached without meeting a relevant document it is never used, and held at 1.
    """
    if groups is None:
        return relevant
    r, t = groups.spread(groups.total(relevant)), groups.spread(groups.sizes)
    return np.minimum(r / (t - groups.place), 1.0)


def hit_products(relevant: FloatArray, groups: TieGroups | None) -> FloatArray:
    """E[rel_i * hits up to and including i] = r/t * (h + 1 + j (r - 1)/(t - 1)), the numerators of precision."""
    if groups is None:
        return relevant * np.cumsum(relevant, axis=1)
    r, t = groups.total(relevant), groups.sizes
    share, others = groups.spread(r / t), groups.spread((r - 1) / np.maximum(t - 1, 1))
    h = groups.spread(_hits_before(relevant, groups))
    return share * (h + 1 + groups.place * others)


def mean_precision_over_hits(relevant: FloatArray, groups: TieGroups | None, depth: int) -> FloatArray:
    """E[sum of precision at the hits of the first ``depth`` ranks / number of these hits].

    Only the group at the cutoff leaves the number of hits open. Of its ``s`` places inside the cutoff, ``x`` are
    hits with hypergeometric probability, and given ``x`` they are spread over the ``s`` places like any tie group.
    """
    groups = groups or TieGroups.singles(relevant.shape)
    last = groups.at_column(depth - 1)
    a = groups.starts[last] % groups.shape[1]
    r, t, s = groups.total(relevant)[last], groups.sizes[last], depth - a
    h = _hits_before(relevant, groups)[last]

    ranks = np.arange(1, depth + 1)
    in_last = ranks > a[:, None]
    precisions = hit_products(relevant, groups)[:, :depth] / ranks
    before = np.where(in_last, 0.0, precisions).sum(axis=1)
    w0 = (in_last / ranks).sum(axis=1)
    w1 = (in_last * (ranks - 1 - a[:, None]) / ranks).sum(axis=1)

    x = np.arange(int(np.minimum(r, s).max()) + 1)[:, None]
    inside = x / s * ((h + 1) * w0 + (x - 1) / np.maximum(s - 1, 1) * w1)
    mean = (before + inside) / np.maximum(h + x, 1)
    expected: FloatArray = (_hypergeometric(x, t, r, s) * mean).sum(axis=0)
    return expected


def _hits_before(relevant: FloatArray, groups: TieGroups) -> FloatArray:
    return (np.cumsum(relevant, axis=1) - relevant).ravel()[groups.starts]


def _hypergeometric(x: IntArray, t: IntArray, r: FloatArray, s: IntArray) -> FloatArray:
    """Probability of x = 0, 1, ... hits among s of t documents with r relevant, a column a query.

    From ratios of neighbours in logarithms: gamma functions of lists of thousands lose four digits to cancellation.
    """
    possible = (x >= s - (t - r)) & (x <= np.minimum(r, s))
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.log((r - x + 1) * (s - x + 1)) - np.log(x * (t - r - s + x))
    # The walk starts at the smallest possible x, whose own step leads in from an impossible one.
    steps[~possible | ~np.roll(possible, 1, axis=0)] = 0.0
    steps[0] = 0.0
    logs = np.where(possible, np.cumsum(steps, axis=0), -np.inf)
    weights = np.exp(logs - logs.max(axis=0))
    return weights / weights.sum(axis=0)

"""Ranked lists: the only place where order, ties and cutoff are decided."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine import ties as _ties
from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.gains import DiscountFunction, GainFunction, RelevanceGain
from skrank_metrics._engine.label_orders import TiedQuery
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._engine.rectangles import blocks_of_queries, windows
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, ordinal_codes

# The documents that can be among the first ranks, many queries at a time; the others need no order.

# Few documents of each query are chosen, so that a block can have more queries, of more different lengths.
BLOCKS_AT_ONCE = 4
# Sorting all documents of a shorter list is faster than choosing some.
LEAST_TIMES_DEPTH = 4


@dataclass(frozen=True)
class TopDocuments:
    """Documents of some queries that can be among the first ranks; within a query, they keep their given order."""

    queries: IntArray
    keys: FloatArray  # -inf is padding
    starts: IntArray  # of each query, among the chosen documents
    chosen: IntArray | None  # their positions in grouped order; None if these are all documents

    def positions(self, columns: IntArray) -> IntArray:
        """Positions in grouped order of documents in some columns of each row."""
        places = self.starts[:, None] + columns
        # If no document of all these lists was ranked, none is chosen, and any place is padding.
        if self.chosen is None or not self.chosen.size:
            return places
        return self.chosen.take(places, mode="clip")


def top_documents(ranking: Ranking, depth: int | None) -> Iterator[TopDocuments]:
    """Yield the documents that can be among the first ``depth``, for many queries at a time."""
    keys, grouping = ranking.keys(), ranking.documents.grouping
    starts, sizes = grouping.starts, grouping.sizes
    block_cells = ranking.documents.block_cells
    if depth is None:
        depth = len(keys)
    else:
        block_cells *= BLOCKS_AT_ONCE
    # No key reaches NaN.
    bounds = np.full(len(sizes), np.nan)
    for queries in blocks_of_queries(sizes, block_cells):
        of_queries = windows(keys, starts[queries], sizes[queries], -np.inf)
        if of_queries.shape[1] < LEAST_TIMES_DEPTH * depth:
            yield TopDocuments(queries, of_queries, starts[queries], chosen=None)
        else:
            bounds[queries] = _lower_bounds(of_queries, depth)
    long = np.flatnonzero(~np.isnan(bounds))
    if not long.size:
        return
    chosen = np.flatnonzero(keys >= np.repeat(bounds, sizes))
    keys = keys[chosen]
    starts = np.searchsorted(chosen, starts[long])
    sizes = np.diff(starts, append=len(chosen))
    for block in blocks_of_queries(sizes, ranking.documents.block_cells):
        of_queries = windows(keys, starts[block], sizes[block], -np.inf)
        yield TopDocuments(long[block], of_queries, starts[block], chosen)


def _lower_bounds(keys: FloatArray, depth: int) -> FloatArray:
    """Keys that at least ``depth`` documents of a query reach, and few more: the depth-th largest maximum of four."""
    quarter = keys.shape[1] // 4
    first_two = np.maximum(keys[:, :quarter], keys[:, quarter : 2 * quarter])
    last_two = np.maximum(keys[:, 2 * quarter : 3 * quarter], keys[:, 3 * quarter : 4 * quarter])
    largest = np.maximum(first_two, last_two)
    # Each maximum is the key of another document, so depth maxima are reached by depth documents.
    largest.partition(quarter - depth, axis=1)
    # Padding never counts.
    return np.maximum(largest[:, quarter - depth], -np.finfo(np.float64).max)


# Ranked lists: the only place where order, ties and cutoff are decided.

T = TypeVar("T", bound=np.generic)

# An ideal list of a grade is made up to the cutoff, however short the lists are.
LONGEST_IDEAL = 10_000_000

TIE_POLICIES = ("average", "best", "worst", "stable")


@dataclass(frozen=True, eq=False)
class RankedBlock:
    """A block of queries in ranked order, as passed to a kernel.

    Arrays have one row per query and one column per rank up to ``depth``, and are 0 after the last document of a query.
    Under ``ties="average"`` they hold expectations, so kernels need not handle ties.
    """

    _ranking: Ranking
    _queries: IntArray
    _labels: FloatArray
    _padding: NDArray[np.bool_]
    _groups: _ties.TieGroups | None  # None if the order is settled
    # The rows in grouped order, and which are alike to the previous one; empty for an order by label.
    _rows: IntArray
    _alike: Mask
    k: int | None = None
    _judged: Mask | None = None  # None if all were
    _computed: dict[Hashable, FloatArray] = field(default_factory=dict)

    @property
    def _documents(self) -> Documents:
        return self._ranking.documents

    def cut(self, k: int | None) -> RankedBlock:
        """Cut the same lists at rank k; all cutoffs share intermediate results."""
        return replace(self, k=k)

    @property
    def depth(self) -> int:
        """The last rank that counts."""
        width: int = self._labels.shape[1]
        return width if self.k is None else min(self.k, width)

    @property
    def ranks(self) -> FloatArray:
        return np.arange(1.0, self.depth + 1)

    @property
    def n_retrieved(self) -> IntArray:
        """Number of ranked documents of each query."""
        return self._ranking.n_retrieved[self._queries]

    @property
    def cutoff(self) -> IntArray:
        """The cutoff rank of each query: k, or the length of its list if k is None."""
        return self.n_retrieved if self.k is None else np.full(len(self._queries), self.k)

    @property
    def n_shown(self) -> IntArray:
        """Number of documents of each query up to the cutoff rank: k, or the length of a shorter list."""
        return np.minimum(self.cutoff, self.n_retrieved)

    @property
    def n_documents(self) -> IntArray:
        """Number of documents of each query, ranked or not."""
        return self._documents.grouping.sizes[self._queries]

    def n_relevant(self, relevance_threshold: float | None) -> IntArray:
        """R, the number of relevant documents of each query at any rank."""
        return self._documents.n_relevant(relevance_threshold)[self._queries]

    def n_reachable(self, relevance_threshold: float | None) -> IntArray:
        """min(k, R), the number of relevant documents of each query that a perfect ranking shows."""
        n_relevant = self.n_relevant(relevance_threshold)
        return n_relevant if self.k is None else np.minimum(n_relevant, self.k)

    def n_hits(self, relevance_threshold: float | None) -> FloatArray:
        """Number of relevant documents of each query that are shown."""
        hits: FloatArray = self.relevance(relevance_threshold).sum(axis=1)
        return hits

    def gains(self, gain: GainFunction) -> FloatArray:
        """Gain at each rank, for weighted sums over ranks."""
        return self._once(
            ("gains", gain), lambda: _ties.mean_gains(self._gains(gain), self._groups)
        )

    def relevance(self, relevance_threshold: float | None) -> FloatArray:
        """1 if the document at a rank is relevant, else 0, for weighted sums over ranks."""
        return self.gains(RelevanceGain(relevance_threshold))

    def judged(self) -> FloatArray:
        """1 if the document at a rank was judged, else 0, for weighted sums over ranks."""
        judged = ~self._padding
        if self._judged is not None:
            judged &= self._judged
        return self._once(
            "judged", lambda: _ties.mean_gains(judged.astype(np.float64), self._groups)
        )

    def stops(self, probability: GainFunction) -> FloatArray:
        """Probability of stopping at a rank once there, given the probability of stopping at each label."""
        return self._once(
            ("stops", probability, self.depth),
            lambda: _ties.hazards(self._gains(probability), self._groups, self.depth),
        )

    def hit_products(self, relevance_threshold: float | None) -> FloatArray:
        """Relevance at a rank times the number of hits up to and including it."""
        return self.running_products(relevance_threshold, RelevanceGain(relevance_threshold))

    def running_products(self, relevance_threshold: float | None, gain: GainFunction) -> FloatArray:
        """Relevance at a rank times the sum of gains up to and including it."""

        def compute() -> FloatArray:
            relevant = self._gains(RelevanceGain(relevance_threshold))
            gains: NDArray[Any] = self._gains(gain)
            if isinstance(gain, RelevanceGain):
                # Running sums of integers are five times as fast as those of floats.
                gains = relevant.astype(np.intp)
            return _ties.running_products(relevant, gains, self._groups)

        return self._once(("running_products", relevance_threshold, gain), compute)

    def precision_over_hits(self, relevance_threshold: float | None) -> FloatArray:
        """Mean precision at the hits up to the cutoff, 0 if there are none; one value per query."""
        relevant = self._gains(RelevanceGain(relevance_threshold))
        return _ties.mean_precision_over_hits(relevant, self._groups, self.depth)

    def capped_misses(
        self, relevance_threshold: float | None, cap: FloatArray | IntArray
    ) -> FloatArray:
        """Sum over hits of the number of non-relevant documents above, at most ``cap`` each; one value per query."""
        relevant = self._gains(RelevanceGain(relevance_threshold))
        misses: FloatArray = _ties.capped_misses(relevant, self._groups, cap)[:, : self.depth].sum(
            axis=1
        )
        return misses

    def pairs(self, gain: GainFunction) -> tuple[FloatArray, FloatArray]:
        """Number of inverted pairs, the lower gain above the higher one, and of all pairs with different gains."""
        gains = self._gains(gain)
        # Padding is in no inverted pair, even if labels are negative.
        gains = np.where(self._padding, gains.min(), gains)
        n = (~self._padding).sum(axis=1)
        n_unequal = n * (n - 1) / 2 - _ties.average_ranks(gains, self._padding)[1]
        codes = ordinal_codes(gains)
        if self._groups is None:
            return _ties.count_inversions(codes), n_unequal
        # A tied pair counts half: it is inverted in the worst order, but not in the best.
        best = _ties.count_inversions(codes.take(_settled_places(self._groups, -codes)))
        worst = _ties.count_inversions(codes.take(_settled_places(self._groups, codes)))
        return (best + worst) / 2, n_unequal

    def centred_ranks(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Deviations of the ranks by label and by score from their mean, and the sum of squares of the former.

        Documents with equal labels share their mean rank, so the deviations are exactly 0 if all labels are equal.
        """
        mean = (self.n_retrieved[:, None] + 1) / 2
        by_label = np.where(
            self._padding, 0.0, _ties.average_ranks(self._labels, self._padding)[0] - mean
        )
        by_score = np.where(self._padding, 0.0, self.ranks - mean)
        return _ties.mean_gains(by_label, self._groups), by_score, (by_label**2).sum(axis=1)

    def ideal_order(self) -> RankedBlock:
        """Order the same queries by label."""
        # Metrics with an ideal order need labels >= 0, so -1 marks padding and is sorted last.
        labels = -np.sort(
            -self._documents.windows(self._documents.labels, self._queries, -1.0), axis=1
        )
        padding = labels < 0
        labels = np.where(padding, 0.0, labels)
        rows, alike = self._rows[:0], self._alike[:0]
        return RankedBlock(self._ranking, self._queries, labels, padding, None, rows, alike, self.k)

    def ideal(self, gain: GainFunction, discount: DiscountFunction) -> FloatArray:
        """Largest sum of gain / discount over all orders of the documents; one value per query."""
        return self._documents.ideal(gain, discount, self.k)[self._queries]

    def ideal_of_ranks_filled(
        self, gain: GainFunction, discount: DiscountFunction, *, only_retrieved: bool
    ) -> FloatArray:
        """Largest sum of gain / discount over as many ranks as the list fills, of all or of the ranked documents."""
        labels = self._documents.windows(self._documents.labels, self._queries, -1.0)
        left_out = labels < 0
        retrieved = self._ranking.retrieved
        if only_retrieved and retrieved is not None:
            left_out |= ~self._documents.windows(retrieved, self._queries, False)
        gains = self._documents.gains(gain, np.where(left_out, 0.0, labels))
        weights = 1 / discount(self.ranks)
        return _best_sums(np.where(left_out, 0.0, gains), weights, self.n_shown)

    def ideal_of_top(self, gain: GainFunction, discount: DiscountFunction) -> FloatArray:
        """Largest sum of gain / discount over all orders of the documents down to the cutoff; ties must be settled."""
        gains = self._gains(gain)[:, : self.depth]
        return _best_sums(gains, 1 / discount(self.ranks), self.n_shown)

    def ideal_of_grade(
        self, gain: GainFunction, discount: DiscountFunction, grade: float
    ) -> FloatArray:
        """Sum of gain / discount over a list of documents of this grade down to the cutoff; one value per query."""
        cutoff = self.cutoff
        if cutoff.max(initial=0) > LONGEST_IDEAL:
            raise ValueError(
                f"k must be at most {LONGEST_IDEAL:,} if ideal is a grade, since the ideal list is as long; got "
                f"k={self.k}."
            )
        weights = 1 / discount(np.arange(1.0, cutoff.max(initial=0) + 1))
        sums = np.cumsum(np.append(0.0, weights))
        return gain(np.array([grade])) * sums[cutoff]

    def largest_gain(self, gain: GainFunction) -> float:
        """The largest gain of all documents, ranked or not."""
        return float(gain(self._documents.distinct_labels).max())

    def each(self, columns: Sequence[str] = ()) -> Iterator[TiedQuery]:
        """Yield the queries one by one, for functions of a single list, with some columns of documents.

        Needs lists that are ranked to the end.
        """
        documents = self._documents
        unranked = self._ranking.unranked()
        all_tied = self._tied_ranks(with_columns=bool(columns))
        sizes = self.n_retrieved.tolist()
        for row, query in enumerate(self._queries.tolist()):
            labels = self._labels[row, : sizes[row]]
            tied = all_tied.get(row, [])
            rows = self._rows[row, : sizes[row]]
            kinds: FloatArray | IntArray = labels
            if tied and columns:
                kinds = _kinds(labels, [documents.column_codes(name)[rows] for name in columns])
            others = rows[:0]
            if unranked is not None:
                others = documents.rows_of(np.array([query]))
                others = others[unranked[others]]
                rows = np.concatenate([rows, others])
            values = {name: documents.columns[name][rows] for name in columns}
            qid = documents.grouping.ids[query]
            yield TiedQuery(qid, labels, tied, documents.labels[others], values, kinds)

    def _tied_ranks(self, with_columns: bool) -> dict[int, list[slice]]:
        """Ranges of tied ranks whose order can matter, by row: all, or without columns those of different labels."""
        if not self._alike.any():
            return {}
        groups = _ties.TieGroups.from_tied(self._alike)
        labels = self._labels.ravel()
        starts = groups.starts
        differ = np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts)
        matters = (groups.sizes > 1) & (differ | with_columns)
        rows, firsts = np.divmod(starts[matters], self._labels.shape[1])
        lasts = firsts + groups.sizes[matters]
        found: dict[int, list[slice]] = {}
        for row, first, last in zip(rows.tolist(), firsts.tolist(), lasts.tolist(), strict=True):
            found.setdefault(row, []).append(slice(first, last))
        return found

    def _once(self, key: Hashable, compute: Callable[[], FloatArray]) -> FloatArray:
        if key not in self._computed:
            self._computed[key] = compute()
            # A kernel that wrote into it would change other metrics.
            self._computed[key].flags.writeable = False
        return self._computed[key][:, : self.depth]

    def _gains(self, gain: GainFunction) -> FloatArray:
        return np.where(self._padding, 0.0, self._documents.gains(gain, self._labels))


def _best_sums(gains: FloatArray, weights: FloatArray, n_ranks: IntArray) -> FloatArray:
    """Largest sum of gain times weight over the first ranks, one number of ranks and one value per query.

    Rows of ``gains`` are in any order, and end in zeros after the last document.
    """
    n_weighted = min(gains.shape[1], len(weights))
    best = -np.sort(-gains, axis=1)[:, :n_weighted]
    sums = np.zeros((len(gains), n_weighted + 1))
    np.cumsum(best * weights[:n_weighted], axis=1, out=sums[:, 1:])
    return sums[np.arange(len(gains)), np.minimum(n_ranks, n_weighted)]


def ranked_blocks(
    ranking: Ranking, depth: int | None, ties: str
) -> Iterator[tuple[IntArray, RankedBlock]]:
    """Yield the numbers of some queries and their lists ranked down to ``depth`` and the tie group there."""
    for top in top_documents(ranking, depth):
        yield top.queries, _rank(ranking, top, depth, ties)


def _rank(ranking: Ranking, top: TopDocuments, depth: int | None, ties: str) -> RankedBlock:
    """Put the labels of each query in ranked order."""
    documents = ranking.documents
    # Unlike negation, a difference from 0 never gives -0.0, which sorts before 0.0.
    order, keys = sort_each_row(0.0 - top.keys, depth)
    padding = keys == np.inf
    rows = top.positions(order)
    labels = documents.labels_at(rows)
    if documents.judged is not None:
        # An order by label puts documents that were not judged last.
        labels[~documents.judged.take(rows, mode="clip")] = -1.0
    labels[padding] = 0.0

    tied = _ties.ties_with_previous(keys)
    groups = _ties.TieGroups.from_tied(tied) if tied.any() else None
    if groups is not None and ties != "average":
        second = {"best": -labels, "worst": labels, "stable": rows}[ties]
        places = _settled_places(groups, second)
        labels = labels.take(places)
        rows = rows.take(places)
        # Documents with equal scores and labels are alike to all metrics but those of further columns.
        tied[:, 1:] &= (labels[:, 1:] == labels[:, :-1]) & (ties != "stable")
        groups = None
    judged = None
    if documents.judged is not None:
        judged = labels >= 0
        labels = labels.clip(min=0.0)
    return RankedBlock(ranking, top.queries, labels, padding, groups, rows, tied, _judged=judged)


def sort_each_row(keys: FloatArray, depth: int | None = None) -> tuple[IntArray, FloatArray]:
    """Columns of the keys of each row in ascending order, equal keys in any order, and the keys in that order.

    Rows are cut at ``depth`` unless keys are equal there; then there must be no -0.0. Since sorting takes a third of
    the time of argsort, the columns are packed into the last bits of the keys, and rows in which these bits mattered
    are sorted again.
    """
    width = keys.shape[1]
    in_column = (1 << (width - 1).bit_length()) - 1
    packed = _in_order_of_integers(keys)
    packed &= ~in_column
    packed |= np.arange(width)
    packed.sort(axis=1)
    if depth is not None and depth < width:
        last = packed[:, depth - 1] | in_column
        is_tied = (packed[:, depth] | in_column) == last
        # Padding equals padding, but has no order that could be wrong.
        is_padding = last == np.array(np.inf).view(np.int64) | in_column
        if not (is_tied & ~is_padding).any():
            packed = packed[:, :depth]
    packed = packed & in_column
    order = packed.astype(np.intp, copy=False)
    ranked = keys.take(_flat_places(order, width))
    descents = ranked[:, 1:] < ranked[:, :-1]
    if descents.any():
        wrong = np.flatnonzero(descents.any(axis=1))
        order[wrong] = np.argsort(keys[wrong], axis=1)[:, : order.shape[1]]
        ranked[wrong] = np.take_along_axis(keys[wrong], order[wrong], axis=1)
    return order, ranked


def _in_order_of_integers(keys: FloatArray) -> NDArray[np.int64]:
    """Integers in the same order as floats."""
    bits = keys.view(np.int64)
    # All other bits of negative floats are flipped, since their size falls with the number.
    flipped = bits >> 63
    flipped &= np.iinfo(np.int64).max
    flipped ^= bits
    return flipped


def _flat_places(columns: IntArray, width: int) -> IntArray:
    """Positions in a flattened block; indexing by them takes half the time of take_along_axis."""
    return columns + np.arange(len(columns))[:, None] * width


def _settled_places(groups: _ties.TieGroups, second_keys: NDArray[Any]) -> IntArray:
    """Positions in a flattened block that order the documents of each tie group by a second key, ascending."""
    places = np.arange(second_keys.size).reshape(second_keys.shape)
    cells = np.flatnonzero(groups.spread(groups.sizes) > 1)
    group = groups.spread(np.arange(len(groups.sizes))).ravel()[cells]
    places.ravel()[cells] = cells[np.lexsort((second_keys.ravel()[cells], group))]
    return places


def _kinds(labels: FloatArray, codes: Sequence[IntArray]) -> IntArray:
    """Equal numbers for documents of a query with equal labels and equal entries in all columns."""
    table = np.column_stack([ordinal_codes(labels), *codes])
    # NumPy 2.0 returns a 2-D inverse if an axis is given.
    return np.unique(table, axis=0, return_inverse=True)[1].ravel()

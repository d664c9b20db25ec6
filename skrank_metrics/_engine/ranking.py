"""One ranking of documents: scores, and which documents were returned. Many rankings share the same documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from skrank_metrics._engine.documents import Documents, taken
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, ordinal_codes

# Which documents a metric sees.
Sight: TypeAlias = Literal["all", "judged", "judged or ranked"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scores over documents, which are held by reference."""

    documents: Documents
    scores: FloatArray  # in grouped order
    retrieved: Mask | None = None  # in grouped order; the others are not ranked
    exact: FloatArray | None = None  # the scores before ``by_id`` rounded them

    def keys(self) -> FloatArray:
        """Keys to rank documents by, largest first; always above -inf, which marks padding."""
        keys = self.scores
        # Such scores would be taken for padding; their places in ascending order rank the same way.
        if keys.min() == -np.inf:
            keys = ordinal_codes(keys).astype(np.float64)
        return keys if self.retrieved is None else np.where(self.retrieved, keys, -np.inf)

    @cached_property
    def n_retrieved(self) -> IntArray:
        """Number of ranked documents of each query."""
        return self.documents.count_in(self.retrieved)

    def unranked(self) -> Mask | None:
        """Mask of the documents that were judged but not ranked; None if there can be none."""
        if self.retrieved is None:
            return None
        judged = self.documents.judged
        return ~self.retrieved if judged is None else judged & ~self.retrieved

    def detached(self) -> Ranking:
        """The same with arrays of its own; see ``Documents.detached``."""
        if self.documents.grouping.order is not None:
            return self
        return self._of(self.documents, np.arange(len(self.scores)), self.retrieved)

    def take(self, places: IntArray) -> Ranking:
        """The ranking of some of the queries, by position."""
        documents = self.documents.take(places)
        return self._of(documents, self.documents.rows_of(places), self.retrieved)

    def sight(self, unjudged: str) -> Sight:
        """Which documents a metric sees, given how it treats documents that nobody judged; see ``Computation``."""
        if self.documents.judged is None or unjudged == "counted":
            return "all"
        if self.documents.condense or unjudged == "left out":
            return "judged"
        return "all" if self.retrieved is None else "judged or ranked"

    def seen(self, sight: Sight) -> Ranking:
        """The ranking of the documents that a metric sees.

        A query that loses all documents keeps one that is neither ranked nor judged.
        """
        judged = self.documents.judged
        if sight == "all" or judged is None:
            return self
        if sight == "judged":
            seen, (rows, documents) = judged, self.documents.only_judged
        else:
            # The others were returned only by other rankings of the same documents.
            seen = judged if self.retrieved is None else judged | self.retrieved
            if seen.all():
                return self
            rows, documents = self.documents.restricted(seen)
        retrieved = seen if self.retrieved is None else seen & self.retrieved
        return self._of(documents, rows, retrieved)

    def by_id(self) -> Ranking:
        """The same in descending order of score and id, as in trec_eval, which also compares scores in float32."""
        ids = self.documents.document_ids
        if ids is None or self.is_by_id:
            return self
        scores = self.scores
        if ids.in_float32:
            # Beyond float32, scores are infinite.
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
        # Documents that were not returned have no order, and NaN ties with nothing.
        keys = scores if self.retrieved is None else np.where(self.retrieved, scores, np.nan)
        codes = self.documents.grouping.codes
        order = np.arange(len(keys))
        # Most runs are in this order already.
        if ((codes[1:] == codes[:-1]) & (keys[1:] > keys[:-1])).any():
            order = np.lexsort((-keys, codes))
            keys = keys[order]
        with_next = (codes[1:] == codes[:-1]) & (keys[1:] == keys[:-1])
        tied = np.append(with_next, False) | np.append(False, with_next)
        # Most documents are not tied, and need no text. Python compares code points, which are in the order of their
        # bytes in UTF-8.
        rows = order[tied]
        names = list(map(str, ids.take(rows).tolist()))
        descending = sorted(range(len(rows)), key=names.__getitem__, reverse=True)
        places = np.argsort(np.array(descending, dtype=np.intp))
        order[tied] = rows[np.lexsort((places, -keys[tied], codes[tied]))]
        if (order[1:] > order[:-1]).all():  # nothing moves
            return replace(self, scores=scores, exact=self.scores)
        return replace(self._in_order(order), scores=scores[order], exact=self.scores[order])

    @property
    def is_by_id(self) -> bool:
        """Whether tied documents are in the order of their ids."""
        return self.exact is not None

    def as_given(self) -> Ranking:
        """The same with scores and order of the run, whatever ``by_id`` did."""
        ids = self.documents.document_ids
        if ids is None or self.exact is None:
            return self
        order = np.lexsort((ids.rows, self.documents.grouping.codes))
        return replace(self._in_order(order), scores=self.exact[order], exact=None)

    def _in_order(self, order: IntArray) -> Ranking:
        """The same documents in another order within their queries."""
        documents = self.documents
        documents = documents.subset(order, documents.grouping, documents.queries)
        return self._of(documents, order, self.retrieved)

    def _of(self, documents: Documents, rows: IntArray | Mask, retrieved: Mask | None) -> Ranking:
        """The same scores for some of the documents."""
        retrieved = taken(retrieved, rows)
        if retrieved is not None and retrieved.all():
            retrieved = None
        return Ranking(documents, self.scores[rows], retrieved, taken(self.exact, rows))

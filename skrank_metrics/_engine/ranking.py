"""One ranking of documents: scores, and which documents were returned. Many rankings share the same documents."""

from __future__ import annotations

from dataclasses import dataclass
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

    def _of(self, documents: Documents, rows: IntArray | Mask, retrieved: Mask | None) -> Ranking:
        """The same scores for some of the documents."""
        retrieved = taken(retrieved, rows)
        if retrieved is not None and retrieved.all():
            retrieved = None
        return Ranking(documents, self.scores[rows], retrieved)

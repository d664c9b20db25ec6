"""Base of all query-aware splitters: query ids, random numbers, and the rows of whole queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length, check_random_state

from skrank_metrics._input.arrays import IntArray, Mask, count_rows
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics._input.parameters import check_seed
from skrank_metrics._input.query_ids import group_by_query
from skrank_metrics._sklearn_internals import check_rows, how_to_pass_ids


class QuerySplitter(BaseCrossValidator):  # type: ignore[misc]
    """Base class of the splitters: subclasses choose queries, this class finds their rows."""

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}

    n_splits: int
    n_repeats: int = 1
    _per_row: ClassVar[str] = ""  # name of the parameter that has a value per row, if there is one

    def get_n_splits(
        self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None
    ) -> int:
        """Return the number of splits, over all repeats; arguments are ignored, and present for API consistency."""
        return self.n_splits * self.n_repeats

    def split(
        self, X: Any, y: Any = None, groups: Any = None, qid: Any = None
    ) -> Iterator[tuple[IntArray, ...]]:
        """Generate the row numbers of the training and test part of each split.

        Parameters
        ----------
        X, y : array-like of shape (n_documents, n_features) and (n_documents,)
            Features, of which only length and index are used, and labels, which may carry the ids, see with_qid.
        groups, qid : array-like of shape (n_documents,), default=None
            Units to keep together, which take precedence, and query ids.

        Yields
        ------
        train, test : ndarray of int
            Row numbers, ascending.

        Raises
        ------
        TypeError, ValueError
            If there are no ids, too few queries, lengths differ, ids disagree, or a query is in two groups.
        """
        return self._rows(self._sides, X, y, groups, qid)

    def _rows(
        self, sides: Any, X: Any, y: Any, groups: Any, qid: Any
    ) -> Iterator[tuple[IntArray, ...]]:
        """The rows of the queries on each side of each split, after grouping them by the unit to keep together."""
        columns = {"y": y, "qid": qid, "groups": groups}
        if self._per_row:
            columns[self._per_row] = getattr(self, self._per_row)
        # Ids have checks of their own, which say where they come from.
        check_consistent_length(X, y, columns.get(self._per_row))
        grouping = group_by_query(
            count_rows(X),
            "A query-aware split",
            unit=True,
            rows_of="X",
            hint=how_to_pass_ids("groups"),
            X=X,
            **check_rows(X, **columns),
        )
        # The numbers of the queries of all rows take longer to compute than the rows of a split.
        codes = grouping.codes
        for queries in sides(grouping, y):
            yield tuple(np.flatnonzero(side[codes]) for side in queries)

    @abstractmethod
    def _sides(self, grouping: Grouping, y: Any) -> Iterable[tuple[Mask, Mask]]:
        """Masks of the queries to train on and to test on."""


def random_source(random_state: Any) -> Any:
    """Random number generator as in scikit-learn, or a NumPy Generator."""
    seed = check_seed(random_state)
    if isinstance(seed, np.random.Generator):
        return seed
    return check_random_state(seed)


def mask_at(places: Any, size: int) -> Mask:
    """A mask of this size that is True at these places."""
    mask = np.zeros(size, dtype=bool)
    mask[places] = True
    return mask


def count_by_query(grouping: Grouping, rows: Mask) -> IntArray:
    """Number of rows of each query among the chosen rows."""
    return np.bincount(grouping.codes[rows], minlength=len(grouping.ids))


def canonical_order(ids: NDArray[Any]) -> IntArray:
    """Queries in an order that depends on their ids alone."""
    try:
        return np.argsort(ids, kind="stable")
    except TypeError:  # of different types
        return np.argsort(hash_ids(ids), kind="stable")

"""One ranking for the scorers of a dict, which scikit-learn calls one by one."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine import PerQuery, per_query
from skrank_metrics._metric import BoundMetric
from skrank_metrics._queries import query_lists
from skrank_metrics._validation import FloatArray


class SharedResults(threading.local):
    """The last results of metrics that were bound together, until each has been taken once.

    The first scorer of a dict ranks for all; the others find the same data and take their result. Whether the data are
    the same is decided by comparing them, as arrays can change in place.
    """

    def __init__(self) -> None:
        self._together: tuple[BoundMetric, ...] = ()
        self._data: list[NDArray[Any] | None] = []
        self._weights: FloatArray | None = None
        self._left: dict[int, PerQuery] = {}

    def take(
        self, together: tuple[BoundMetric, ...], number: int, data: tuple[Any, Any, Any, Any]
    ) -> tuple[PerQuery, FloatArray | None]:
        """Result of one of the metrics on (y_true, y_score, qid, sample_weight), and the weights of the queries."""
        arrays = _to_arrays(data)
        if together is not self._together or number not in self._left or not _same(arrays, self._data):
            self._compute(together, number, data)
            self._together = together
            self._data = [array if array is None else array.copy() for array in arrays] if len(together) > 1 else []
        result, weights = self._left.pop(number), self._weights
        if not self._left:
            self._data = []
        return result, weights

    def _compute(self, together: tuple[BoundMetric, ...], number: int, data: tuple[Any, Any, Any, Any]) -> None:
        self._left = {}
        y_true, y_score, qid, sample_weight = data
        lists = query_lists(y_true, y_score, qid=qid, sample_weight=sample_weight)
        self._weights = lists.weights
        try:
            self._left = dict(enumerate(per_query(lists, [metric.computation for metric in together])))
        except ValueError:
            # A metric that refuses these labels fails in its own scorer, not in those of the others.
            self._left = {number: per_query(lists, [together[number].computation])[0]}


def _to_arrays(data: tuple[Any, ...]) -> list[NDArray[Any] | None]:
    try:
        return [None if part is None else np.asarray(part) for part in data]
    except ValueError:  # ragged, which equals nothing; the checks to come say what is wrong with it
        return []


def _same(arrays: list[NDArray[Any] | None], others: list[NDArray[Any] | None]) -> bool:
    return len(arrays) == len(others) and all(
        a is b if a is None or b is None else a.dtype == b.dtype and np.array_equal(a, b)
        for a, b in zip(arrays, others, strict=True)
    )


shared_results = SharedResults()

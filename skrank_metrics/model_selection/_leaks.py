"""Which queries a ranker was fitted on, for the scores that are computed of its predictions."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray

Queries = dict[Any, int]

# The queries behind an array of predictions, by its identity. scikit-learn's scorers hand on what predict returned as
# it is; if anything made a new array of it, nothing is known about it here, and nothing is said.
_known: dict[int, tuple[weakref.ref[NDArray[Any]], Queries]] = {}


def queries_of(ids: NDArray[Any], sizes: IntArray) -> Queries:
    """Queries with their numbers of documents."""
    return dict(zip(ids.tolist(), sizes.tolist(), strict=True))


def remember(predictions: NDArray[Any], fitted: Queries) -> None:
    """Remember, as long as the predictions live, what the model that made them was fitted on."""
    key = id(predictions)
    _known[key] = weakref.ref(predictions, lambda _: _known.pop(key, None)), fitted


def warn_of_fitted(predictions: Any, ids: NDArray[Any], sizes: IntArray) -> None:
    """Warn if some of the queries that are scored are among those of the fit.

    If they are the very same, with as many documents each, the training part is scored on purpose, as by
    ``return_train_score=True``.
    """
    reference, fitted = _known.get(id(predictions), (None, {}))
    if reference is None or reference() is not predictions:
        return
    scored = queries_of(ids, sizes)
    both = len(scored.keys() & fitted.keys())
    if both and scored != fitted:
        warnings.warn(
            f"{both} of the {len(scored)} queries that are scored were among the {len(fitted)} that the ranker was "
            "fitted on, so that the score is too good. Split by query, as QueryKFold does; audit_splits(cv, X, y, "
            "qid=qid) shows what a splitter does. If ids were numbered anew for each part, number them together.",
            UserWarning,
            stacklevel=2,
        )

"""Which queries a ranker was fitted on, for the scores that are computed of its predictions."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.grouping import Grouping, NumberedRows, number_rows
from skrank_metrics._input.query_ids import check_ids

Queries = dict[Any, int]

# The queries behind an array of predictions, by its identity. scikit-learn's scorers hand on what predict returned as
# it is; where anything made a new array of it, nothing is known of it here, and nothing is said.
_known: dict[int, tuple[weakref.ref[NDArray[Any]], Queries]] = {}


def queries_of(grouping: Grouping | NumberedRows) -> Queries:
    """Queries with their numbers of documents."""
    return dict(zip(grouping.ids.tolist(), grouping.sizes.tolist(), strict=True))


def remember(predictions: NDArray[Any], fitted: Queries) -> None:
    """Remember, as long as the predictions live, what the model that made them was fitted on."""
    key = id(predictions)
    _known[key] = weakref.ref(predictions, lambda _: _known.pop(key, None)), fitted


def warn_of_fitted(predictions: Any, ids: Any) -> None:
    """Warn where some of the queries that are scored are among those of the fit.

    Where they are the very same, with as many documents each, the training part is scored on purpose, as by
    ``return_train_score=True``.
    """
    reference, fitted = _known.get(id(predictions), (None, {}))
    if reference is None or reference() is not predictions:
        return
    scored = queries_of(number_rows(check_ids(ids, len(np.asarray(predictions)))))
    both = len(scored.keys() & fitted.keys())
    if both and scored != fitted:
        warnings.warn(
            f"{both} of the {len(scored)} queries that are scored were among the {len(fitted)} that the ranker was "
            "fitted on, so that the score is too good. Split by query, as QueryKFold does; audit_splits(cv, X, y, "
            "qid=qid) shows what a splitter does. Where ids were numbered anew for each part, number them together.",
            UserWarning,
            stacklevel=2,
        )

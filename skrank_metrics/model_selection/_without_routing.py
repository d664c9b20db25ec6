"""Models fitted as in a search that ran without metadata routing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRequest, process_routing

from skrank_metrics.model_selection.with_qid import with_qid


def was_routed(search: Any, params: Mapping[str, Any]) -> bool:
    """Whether a search can have been fitted with these parameters while metadata routing was enabled.

    Routing refuses what nobody requests, such as weights by default. Without routing, ``fit`` of the estimator gets
    everything but ``groups``.
    """
    given = {name: value for name, value in params.items() if name not in ("qid", "groups")}
    if not given:
        return True
    try:
        with sklearn.config_context(enable_metadata_routing=True):
            process_routing(search, "fit", **given)
    except (TypeError, ValueError, NotImplementedError):  # the last if the estimator does not support routing
        return False
    return True


class FittedWithoutRouting(BaseEstimator):  # type: ignore[misc]
    """Requests parameters with routing, and passes them to ``fit`` of an estimator without; ids go into y."""

    def __init__(self, estimator: Any, names: Any) -> None:
        self.estimator = estimator
        self.names = names

    def get_metadata_routing(self) -> MetadataRequest:
        """Request the query ids and the parameters."""
        requests = MetadataRequest(owner=self)
        for name in ("qid", *self.names):
            requests.fit.add_request(param=name, alias=True)
        return requests

    def fit(self, X: Any, y: Any, *, qid: Any, **params: Any) -> FittedWithoutRouting:
        """Fit the estimator."""
        with sklearn.config_context(enable_metadata_routing=False):
            self.estimator.fit(X, with_qid(y, qid), **params)
        return self

    def __getattr__(self, name: str) -> Any:
        # Only predictions; anything else, such as special methods, is not that of a fitted model.
        if name in ("predict", "predict_proba", "decision_function"):
            return getattr(self.estimator, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

"""What of a fitted estimator gives the scores to rank by."""

from __future__ import annotations

from typing import Any

import numpy as np

# Rankers have only predict; a classifier's predict would tie nearly all documents, so it comes last.
RESPONSE_METHODS = ("decision_function", "predict_proba", "predict")


def predict_scores(estimator: Any, X: Any) -> Any:
    """Scores of documents by the first response method that a fitted estimator has, as the scorers take them."""
    method = next((name for name in RESPONSE_METHODS if hasattr(estimator, name)), None)
    if method is None:
        raise TypeError(
            f"estimator must have one of {', '.join(RESPONSE_METHODS)}; got {type(estimator).__name__}. A fitted "
            "model is needed."
        )
    scores = getattr(estimator, method)(X)
    if method == "predict_proba" and np.ndim(scores) == 2 and np.shape(scores)[1] == 2:
        return np.asarray(scores)[:, 1]
    if np.ndim(scores) == 2:
        raise ValueError(one_a_class_message(np.shape(scores)[1]) + ".")
    return scores


def one_a_class_message(n_classes: int) -> str:
    """Say that a classifier gave a score for each class, and what to do; without the stop, for further ways out."""
    if n_classes == 1:
        return "y_score must be 1-D; the model gave a single column. Let it predict what .ravel() makes of that"
    return (
        f"y_score must hold one score a document; the model gave {n_classes}, one a class. Wrap it in QueryRanker, "
        "which ranks by the expected grade"
    )

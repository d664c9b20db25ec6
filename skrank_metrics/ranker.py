"""Any ranker, regressor or classifier as a ranker that scikit-learn's model selection can drive."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skrank_metrics._ids import Grouping, check_aligned, check_ids, group_rows, missing_ids_message, resolve_ids
from skrank_metrics._parse import get_metric
from skrank_metrics._queries import query_weights
from skrank_metrics._validation import FloatArray, check_labels, check_weights, to_float64
from skrank_metrics.scorers import RankingScore

__all__ = ["QueryRanker"]


class QueryRanker(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an estimator on rows that are grouped by query ids.

    Rankers want their rows sorted by query, and the queries as group sizes (LightGBM), as sorted numbers (XGBoost) or
    as ids (CatBoost); none of these survives the slicing of cross-validation. This takes rows in any order with query
    ids of any type, and gives the estimator what its ``fit`` asks for. Regressors and classifiers are fitted on the
    rows as they are, which is pointwise ranking.

    The query ids are found in ``qid`` or ``groups``, both of which are requested where metadata routing is enabled, or
    else in the index level "qid" of ``y``, see with_qid.

    Parameters
    ----------
    estimator : estimator object
        LGBMRanker, XGBRanker, CatBoostRanker, or any regressor or classifier of scikit-learn's conventions. It is
        cloned; its parameters are tuned as ``estimator__<name>``.

    Attributes
    ----------
    estimator_ : estimator object
        The fitted clone.
    n_features_in_ : int
        Number of features, where the fitted estimator tells.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, where the fitted estimator tells.

    See Also
    --------
    ranking_scorers : Scorers for the search.
    QueryKFold : Folds of whole queries.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from skrank_metrics import QueryRanker
    >>> X, y, qid = [[1], [0], [3], [2]], [1, 0, 1, 0], ["a", "a", "b", "b"]
    >>> ranker = QueryRanker(LinearRegression()).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "groups": True}

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, *, qid: Any = None, groups: Any = None, sample_weight: Any = None) -> QueryRanker:
        """Fit a clone of the estimator.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Features; rows in any order.
        y : array-like of shape (n_documents,)
            Relevance labels, finite and >= 0. May carry the query ids in an index level named "qid".
        qid : array-like of shape (n_documents,), default=None
            Query ids.
        groups : array-like of shape (n_documents,), default=None
            Query ids where ``qid`` is not given.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights. XGBoost and CatBoost weigh queries: for them, weights must not vary within a query.

        Returns
        -------
        self : QueryRanker
            This object.

        Raises
        ------
        TypeError
            Where the query ids are missing, or weights are given to an estimator that takes none.
        ValueError
            Where labels, ids or weights are not valid, or lengths differ.
        """
        labels = to_float64(y, "y")
        if labels.ndim != 1:
            raise ValueError(f"y must be 1-D, one label a document; got shape {labels.shape}.")
        check_labels(labels, "y")
        check_consistent_length(X, labels)
        check_aligned(X=X, y=y, qid=qid, groups=groups, sample_weight=sample_weight)
        ids, name = resolve_ids(y, qid=qid, groups=groups)
        if ids is None:
            raise TypeError(missing_ids_message("QueryRanker.fit"))
        grouping = group_rows(check_ids(ids, len(labels), name, "y"))
        targets = np.asarray(y)
        targets = targets if targets.dtype.kind in "biuf" else labels
        if grouping.order is not None:
            X, targets = _take_rows(X, grouping.order), targets[grouping.order]
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(X, targets, **_fit_arguments(self.estimator_, grouping, sample_weight))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict scores to rank by.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_documents,)
            What the estimator predicts; of a classifier, the decision function or probability of the higher of two
            labels, or the expected label from the probabilities of several.

        Raises
        ------
        TypeError
            Where a classifier of more than two labels gives no probabilities.
        """
        check_is_fitted(self, "estimator_")
        model = self.estimator_
        if not is_classifier(model):
            return np.asarray(model.predict(X), dtype=np.float64)
        if len(model.classes_) == 2 and hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X), dtype=np.float64)
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"estimator must have predict_proba to rank by {len(model.classes_)} labels; got "
                f"{type(model).__name__}. Wrap it in CalibratedClassifierCV, or use a regressor."
            )
        return np.asarray(model.predict_proba(X), dtype=np.float64) @ np.asarray(model.classes_, dtype=np.float64)

    def score(self, X: Any, y: Any, *, qid: Any = None, groups: Any = None, sample_weight: Any = None) -> float:
        """Compute NDCG@10 of the predicted ranking.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,)
            Relevance labels. May carry the query ids in an index level named "qid".
        qid : array-like of shape (n_documents,), default=None
            Query ids.
        groups : array-like of shape (n_documents,), default=None
            Query ids where ``qid`` is not given.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights, which must not vary within a query.

        Returns
        -------
        score : float
            Mean over queries, in [0, 1].

        Raises
        ------
        TypeError
            Where the query ids are missing.
        ValueError
            Where labels, ids or weights are not valid.
        """
        score = RankingScore((get_metric("ndcg@10"),), 0)
        return score(y, self.predict(X), qid=qid, groups=groups, sample_weight=sample_weight)


def _fit_arguments(estimator: Any, grouping: Grouping, sample_weight: Any) -> dict[str, Any]:
    """Translate queries and weights into the keywords of an estimator's ``fit``; its rows are sorted by query."""
    accepted = _accepted_by_fit(estimator)
    codes = np.repeat(np.arange(len(grouping.sizes)), grouping.sizes)
    # XGBoost takes sizes as well as numbers; the numbers come first, as with them it checks the number of rows.
    ways = {
        "group_id": ({"group_id": codes}, "group_weight"),  # CatBoost
        "qid": ({"qid": codes}, "sample_weight"),  # XGBoost, whose weights are one a query
        "group": ({"group": grouping.sizes}, "sample_weight"),  # LightGBM
    }
    way = next((way for way in ways if way in accepted), None)
    arguments, weight_name = ways[way] if way else ({}, "sample_weight")
    if sample_weight is None:
        return arguments
    if weight_name not in accepted:
        raise TypeError(f"sample_weight must be None, as {type(estimator).__name__}.fit takes no weights.")
    rows = check_weights(sample_weight, len(codes), "document")
    if way == "qid":
        weights = query_weights(rows, grouping)
    elif way == "group_id":
        weights = np.repeat(query_weights(rows, grouping), grouping.sizes)
    else:
        weights = rows if grouping.order is None else rows[grouping.order]
    return {**arguments, weight_name: weights}


def _accepted_by_fit(estimator: Any) -> set[str]:
    """Names of the parameters of ``fit``; where it takes ``**kwargs``, also of those that it may pass them on to."""
    if hasattr(estimator, "steps") and _accepted_by_fit(estimator.steps[-1][1]) & {"group_id", "qid", "group"}:
        raise TypeError(
            "estimator must be the ranker itself; got a Pipeline that ends in one and would not hand on the queries. "
            "Put QueryRanker(ranker) at the end of the Pipeline instead."
        )
    names: set[str] = set()
    for base in type(estimator).__mro__:
        if "fit" in vars(base):
            parameters = inspect.signature(vars(base)["fit"]).parameters.values()
            names |= {parameter.name for parameter in parameters}
            if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
                break
    return names


def _take_rows(X: Any, rows: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "to_batches"):  # a table of pyarrow
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]

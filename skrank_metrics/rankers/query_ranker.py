"""Rankers, regressors and classifiers in scikit-learn's model selection, fitted by query."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from skrank_metrics._input.arrays import FloatArray, check_label_column, count_rows, to_float64
from skrank_metrics._input.parameters import check_seed
from skrank_metrics._input.query_ids import group_by_query
from skrank_metrics._input.types import Seed
from skrank_metrics._sklearn_internals import (
    check_rows,
    how_to_pass_ids,
    remember,
    warn_of_cut_queries,
)
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.model_selection.scorers import RankingScore
from skrank_metrics.rankers._fitting import (
    BOOSTERS,
    METRIC,
    FittedQueries,
    SortedRows,
    best_iteration,
    check_gets_queries,
    check_is_estimator,
    check_names,
    check_prefixes,
    check_starts,
    clone_estimator,
    clone_to_fit,
    fit_arguments,
    hold_out,
    label_column,
    passed_on,
    per_row,
    requests_of_fit,
    sorted_rows,
    way_of_queries,
)
from skrank_metrics.rankers._validation import (
    ARGUMENTS_OF_VALIDATION,
    check_early_stopping,
    check_new_queries,
    check_sets_of_lightgbm,
    check_unsplit,
    given_sets,
    own_fraction,
    sorted_set,
)


class QueryRanker(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an estimator on rows that are grouped by query ids.

    QueryRanker takes rows in any order with query ids of any type, which survive the slicing of cross-validation, and
    passes the estimator what its ``fit`` expects: sorted rows, with the queries as group sizes (LightGBM), numbers
    (XGBoost) or ids (CatBoost). Regressors and classifiers get the rows as they are, without the queries (pointwise
    ranking).

    The query ids are taken from ``qid``, else from the index level "qid" of ``y`` (see with_qid), else from ``groups``.
    With metadata routing, ``fit`` requests these and all that the estimator's ``fit`` takes but ``sample_weight``.

    Parameters
    ----------
    estimator : estimator object
        LGBMRanker, XGBRanker, CatBoostRanker or a subclass, or any regressor or classifier with scikit-learn's
        interface. Another ranker needs ``fit(X, y, qid=)``; it gets rows sorted by query, and for each row the number
        of its query. The estimator is cloned, but its callbacks are used as they are. Tune its parameters as
        ``estimator__<name>``.
    validation_fraction : float, default=None
        Share of the queries to hold out for early stopping, in (0, 1), or of the groups if ``fit`` gets ``groups``
        beside query ids. Requires early_stopping_rounds, and LGBMRanker, XGBRanker or CatBoostRanker. The ranker
        watches the metric that it sets, or else NDCG@10. None for a validation set of your own, the ``eval_set`` of
        ``fit``.
    early_stopping_rounds : int, default=None
        Number of boosting rounds without improvement after which to stop, at least 1.
    random_state : int, RandomState or Generator instance or None, default=None
        Controls which queries are held out.

    Attributes
    ----------
    estimator_ : estimator object
        The fitted clone.
    n_queries_ : int
        Number of queries of the fit, including held-out ones.
    best_iteration_ : int
        Number of boosting rounds used by predictions, counted from 1 for all boosters. Only with early stopping.
    n_features_in_, feature_names_in_
        Number of features, and their names if ``X`` is a DataFrame with string column names.

    Notes
    -----
    The HistGradientBoosting estimators stop early by default if there are more than 10,000 rows. Here, they hold out
    queries or groups for that (with scikit-learn 1.7 or later). Other estimators that would hold out single rows raise
    an error.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from skrank_metrics import QueryRanker
    >>> X, y, qid = [[1], [0], [3], [2]], [1, 0, 1, 0], ["a", "a", "b", "b"]
    >>> ranker = QueryRanker(LinearRegression()).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    """

    # For races: the metric of ``score``; and the first trees of the fitted estimator are those of a smaller one.
    _scored_by = METRIC
    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("qid", "groups", "eval_set", "X_val", "y_val"), True
    )
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "groups": True}

    def __init__(
        self,
        estimator: Any,
        *,
        validation_fraction: float | None = None,
        early_stopping_rounds: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.validation_fraction = validation_fraction
        self.early_stopping_rounds = early_stopping_rounds
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.positive_only = True
        check_is_estimator(self.estimator)
        # CatBoost has no tags before 1.2.7.
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = self.estimator.__sklearn_tags__().input_tags
        return tags

    def __sklearn_clone__(self) -> QueryRanker:
        without = copy.copy(self)
        without.estimator = None
        cloned: QueryRanker = super(QueryRanker, without).__sklearn_clone__()
        cloned.estimator = clone_estimator(self.estimator)
        return cloned

    def set_params(self, **params: Any) -> QueryRanker:
        """Set parameters of the ranker, or of its estimator as ``estimator__<name>``.

        Parameters
        ----------
        **params
            Parameters by name.

        Returns
        -------
        self : QueryRanker
            This object.

        Raises
        ------
        ValueError
            If there is no such parameter; the error says so if the estimator has it.
        """
        check_prefixes(self, params)
        super().set_params(**params)
        return self

    def get_metadata_routing(self) -> Any:
        """Request what the estimator's ``fit`` takes, too, as requested there, else by its own names.

        Returns
        -------
        routing : MetadataRequest
            What ``fit`` and ``score`` request.
        """
        routing = super().get_metadata_routing()
        for name, alias in requests_of_fit(self.estimator).items():
            routing.fit.add_request(param=name, alias=alias)
        return routing

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        **fit_params: Any,
    ) -> QueryRanker:
        """Fit a clone of the estimator.

        Parameters
        ----------
        X, y : array-like of shape (n_documents, n_features) and (n_documents,)
            Features, in any order of rows, and relevance labels, finite, which may carry the query ids.
        qid, groups : array-like of shape (n_documents,), default=None
            Query ids; ``groups`` if neither ``qid`` nor the index of ``y`` holds them. Otherwise, ``groups`` are held
            out as a whole, such as the users of the queries.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights. They must not vary within a query for XGBoost and CatBoost, which weight queries.
        eval_set : list of (X_val, y_val) pairs, default=None
            Validation sets of LGBMRanker, XGBRanker or CatBoostRanker, in any order of rows, with the columns of ``X``.
            The labels carry the query ids, and weights if there are any: ``(X_val, with_qid(y_val, qid_val))``. With
            early_stopping_rounds, there is one set. Other estimators get it as it is.
        X_val, y_val : array-like, default=None
            The same for one validation set, in two parameters, as a Pipeline needs it:
            ``Pipeline(steps, transform_input=["X_val"])`` transforms the rows like those of the fit. In a search, it
            must not be as long as ``X``.
        **fit_params
            Further parameters of the estimator's ``fit``, such as ``cat_features`` or ``init_score``. Those with one
            value per row are sorted along with the rows. A model to continue from may be a QueryRanker.

        Returns
        -------
        self : QueryRanker
            This object.

        Raises
        ------
        TypeError, ValueError
            If the query ids are missing, something is invalid, the estimator does not support weights, early stopping
            or a parameter of ``fit``, settings of early stopping disagree, the estimator needs queries but would not
            get them, or too few queries could be held out.
        """
        check_is_estimator(self.estimator)
        check_gets_queries(self.estimator)
        check_seed(self.random_state)
        labels = label_column(y)
        check_unsplit(X_val, X)
        sets = {"eval_set": eval_set, "X_val": X_val, "y_val": y_val}
        takes_sets = way_of_queries(self.estimator) in BOOSTERS
        pairs = given_sets(**sets) if takes_sets else []
        given = passed_on(fit_params if takes_sets else {**fit_params, **sets})
        check_names(given, takes_sets=takes_sets)
        rounds = check_early_stopping(self, len(pairs), given, takes_sets=takes_sets)
        fraction, random_state = self.validation_fraction, self.random_state
        if fraction is None and X_val is None:
            fraction = own_fraction(self.estimator, len(labels))
            # Its own seed made its own hold-out reproducible.
            if random_state is None:
                random_state = self.estimator.get_params().get("random_state")
        columns = {"y": y, "qid": qid, "groups": groups, "sample_weight": sample_weight}
        rows = self._checked_rows(X, labels, columns, given, hold_out=fraction is not None)
        if pairs:
            check_starts(rows.further)
        self.n_queries_ = len(rows.ids)
        self._fitted = FittedQueries.of(rows.ids, rows.sizes)
        validation = []
        for number, pair in enumerate(pairs):
            validation.append(sorted_set(self, pair, f"eval_set[{number}]"))
        check_sets_of_lightgbm(self, given)
        if fraction is not None:
            rows, *validation = hold_out(rows, fraction, random_state)
        elif rounds is not None:
            check_new_queries(self._fitted, validation[0])
        self._fit_sorted(rows, validation, rounds, given)
        return self

    def _checked_rows(
        self,
        X: Any,
        labels: NDArray[Any],
        columns: dict[str, Any],
        given: dict[str, Any],
        *,
        hold_out: bool,
    ) -> SortedRows:
        """Clone the estimator, and check and sort the rows for it."""
        check_consistent_length(X, labels)
        further = per_row(given, len(labels))
        columns = check_rows(X, **columns, **further)
        further = {name: columns.pop(name) for name in further}
        ids = {"hint": how_to_pass_ids("qid"), "X": X, **columns}
        grouping = units = group_by_query(len(labels), "QueryRanker.fit", **ids)
        if hold_out and columns["groups"] is not None:
            units = group_by_query(len(labels), "QueryRanker.fit", unit=True, **ids)
        warn_of_cut_queries(len(labels), "a training set", columns["qid"], columns["groups"])
        validate_data(self, X, skip_check_array=True)
        self.estimator_ = clone_to_fit(self.estimator)
        weights = columns["sample_weight"]
        return sorted_rows(self.estimator_, X, labels, grouping, units, weights, further)

    def _fit_sorted(
        self,
        rows: SortedRows,
        validation: list[SortedRows],
        rounds: int | None,
        arguments: dict[str, Any],
    ) -> None:
        # An earlier fit may have left it.
        self.__dict__.pop("best_iteration_", None)
        if validation:
            add_validation = ARGUMENTS_OF_VALIDATION[way_of_queries(self.estimator_)]
            arguments = add_validation(self.estimator_, validation, rounds, arguments)
        # Values per row come sorted in place of those that were given.
        arguments = {**arguments, **fit_arguments(self.estimator_, rows)}
        self.estimator_.fit(rows.X, rows.y, **arguments)
        if rounds is not None:
            self.best_iteration_ = best_iteration(self.estimator_)

    @property
    def feature_importances_(self) -> FloatArray:
        """Importances of the features, if the fitted estimator has them, for RFE, RFECV and SelectFromModel."""
        check_is_fitted(self, "estimator_")
        importances = np.asarray(self.estimator_.feature_importances_)
        # CatBoostRanker has none, since its default type needs the rows of the fit.
        if importances.ndim == 0:
            model = self.estimator_
            importances = np.asarray(model.get_feature_importance(type="PredictionValuesChange"))
        return importances

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the features, if the fitted estimator has them, for RFE, RFECV and SelectFromModel."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.coef_

    def predict(self, X: Any) -> FloatArray:
        """Predict scores to rank by.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_documents,)
            Predictions of the estimator. For a classifier with two labels, the decision function if there is one; for
            other classifiers, the expected label, from predict_proba.
        """
        check_is_fitted(self, "estimator_")
        # A Pipeline can select columns by name, so it may get others than in fit.
        if not isinstance(self.estimator_, Pipeline):
            # This checks only names: the estimator checks the shape.
            validate_data(self, X, reset=False, skip_check_array=True, ensure_2d=False)
        scores = _scores_to_rank_by(self.estimator_, X)
        remember(scores, self._fitted)
        return scores

    def score(
        self, X: Any, y: Any, *, qid: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> float:
        """Compute NDCG@10 of the predicted ranking.

        Parameters
        ----------
        X, y, qid, groups, sample_weight : array-like
            As in fit; weights must not vary within a query.

        Returns
        -------
        score : float
            Mean over queries, in [0, 1].

        Warns
        -----
        UserWarning
            If some, but not all, of the queries were used in the fit; all are assumed to be scored on purpose.
        """
        check_consistent_length(X, check_label_column(y))
        score = RankingScore((get_metric(METRIC),), 0, "QueryRanker.score")
        return score(y, self.predict(X), X=X, qid=qid, groups=groups, sample_weight=sample_weight)


def _scores_to_rank_by(model: Any, X: Any) -> FloatArray:
    if not is_classifier(model):
        scores = model.predict(X)
        if getattr(scores, "shape", ())[1:] == (1,):
            scores = np.ravel(scores)
        # Predictions are remembered by identity, so each call must return a new array.
        return to_float64(scores, "y_score").copy()
    labels = np.asarray(model.classes_, dtype=np.float64)
    # Some classifiers return two columns of probabilities even then.
    if len(labels) == 1:
        return np.full(count_rows(X), labels[0])
    if len(labels) == 2 and hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"estimator must have predict_proba to rank by {len(labels)} labels; got "
            f"{type(model).__name__}. Wrap it in CalibratedClassifierCV, or use a regressor."
        )
    return np.asarray(model.predict_proba(X), dtype=np.float64) @ labels

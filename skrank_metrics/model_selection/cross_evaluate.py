"""Reports of models on queries that they were not fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._input.arrays import FloatArray, IntArray, check_label_column, count_rows, take_rows
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import query_ids
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table
from skrank_metrics.model_selection.scorers import predict_scores
from skrank_metrics.reports.evaluate import bind_metrics, evaluate
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.statistics import METHOD
from skrank_metrics.splitters.audit import audit_splits, split_rows
from skrank_metrics.splitters.query_kfold import QueryKFold

Splits = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, repr=False, eq=False)
class CrossEvaluation(Result):
    """Out-of-fold reports of one or several models on the same folds.

    Prints as a table, in notebooks too. ``to_frame()`` gives one row per model and metric, with the mean over queries,
    the ends of its interval as "low" and "high", and the mean and standard deviation over folds.

    Attributes
    ----------
    reports : dict of str to RankingReport
        By name of the model, over all tested queries, each scored by a model that was not fitted on it; ``mean`` is
        the mean over queries. Pass them to compare.
    folds : dict of str to dict of str to ndarray of shape (n_folds,)
        One value per fold by name of the model and of the metric. Their mean, the mean over folds, is what
        scikit-learn reports.
    fold : ndarray of shape (n_queries,)
        The fold in which each query of the reports was tested.
    scores : dict of str to ndarray of shape (n_documents,)
        Out-of-fold scores of the rows by name of the model; NaN for rows that no fold tests.
    """

    reports: dict[str, RankingReport]
    folds: dict[str, dict[str, FloatArray]]
    fold: IntArray
    scores: dict[str, FloatArray]

    def _parts(self) -> list[Part]:
        columns = ("model", "metric", "mean over queries", Column("95% interval", names=("low", "high")))
        rows = []
        for model, report in self.reports.items():
            intervals = report.intervals()
            for metric, values in self.folds[model].items():
                rows.append((model, metric, report.mean[metric], intervals[metric], values.mean(), values.std()))
        return [
            f"{counted(len(self.fold), 'query')} out of fold, {counted(int(self.fold.max()) + 1, 'fold')}",
            Table((*columns, "mean over folds", "std over folds"), rows),
            f"Intervals: {METHOD}; they ignore the variance from retraining.",
        ]


def cross_evaluate(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    cv: Any = None,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    verbose: int = 0,
) -> CrossEvaluation:
    """Evaluate models on queries that they were not fitted on, query by query.

    scikit-learn's cross_validate gives a number a fold, and a test of five numbers can tell little apart. This keeps
    the values of all queries, on the same folds for all models, so that compare can pair them.

    Parameters
    ----------
    estimators : estimator or dict of str to estimator
        What to fit, such as QueryRanker(...). They are cloned. A single one is called by the name of its class.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Features.
    y : array-like of shape (n_documents,)
        Relevance labels. May carry the query ids in an index level named "qid", see with_qid.
    qid : array-like of shape (n_documents,), default=None
        Query ids; None means those in the index of ``y``.
    cv : splitter, int, iterable of (train, test) or None, default=None
        As in scikit-learn; None is QueryKFold(5). Every query has to be whole and tested once at the most; queries that
        are never tested, as the first ones in a split by time, are in no report.
    metrics : sequence of str, metric functions or bound metrics, default=("ndcg@10", "map", "mrr")
        What to compute, as in evaluate.
    n_jobs : int, default=None
        Number of processes in which models are fitted, as in scikit-learn; predictions are made in this one.
    params : dict, default=None
        Further metadata for ``split`` and ``fit``, such as ``groups`` or ``sample_weight``, which goes to those that
        request it: metadata routing is enabled here, whether it is elsewhere or not.
    verbose : int, default=0
        Progress, as joblib reports it; 10 reports every fit.

    Returns
    -------
    result : CrossEvaluation
        Prints as a table with both aggregates, the mean over queries and the mean over folds.

    Raises
    ------
    TypeError
        Where the query ids are missing, or an argument is of the wrong type.
    ValueError
        Where a fold cuts queries, a query is tested more than once, or the data are not valid.

    Examples
    --------
    Two models on four queries of two documents each; one feature tells the relevant one, the other the opposite:

    >>> from sklearn.linear_model import LinearRegression
    >>> from skrank_metrics import QueryKFold, QueryRanker, cross_evaluate
    >>> X, y, qid = [[1.0], [0.0]] * 4, [1, 0] * 4, [0, 0, 1, 1, 2, 2, 3, 3]
    >>> result = cross_evaluate(QueryRanker(LinearRegression()), X, y, qid=qid, cv=QueryKFold(2), metrics="mrr")
    >>> result.reports["QueryRanker"].per_query["mrr"]
    array([1., 1., 1., 1.])
    >>> result.folds["QueryRanker"]["mrr"]
    array([1., 1.])
    """
    if not isinstance(estimators, Mapping) and not hasattr(estimators, "fit"):
        raise TypeError(f"estimators must be an estimator or a dict of them by name; got {type(estimators).__name__}.")
    models = dict(estimators) if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    if not models:
        raise ValueError("estimators must hold at least one estimator; got none.")
    bind_metrics(metrics)  # what is wrong with the metrics shall not come out after hours of fitting
    queries = query_ids(len(check_label_column(y)), "cross_evaluate", y=y, qid=qid, X=X)
    params, ids = dict(params or {}), queries.ids[queries.codes]
    units = ids if params.get("groups") is None else params["groups"]
    splitter = QueryKFold(5) if cv is None else check_cv(cv)
    splits = list(split_rows(splitter, X, y, units, ids))
    replace(audit_splits(splits, X, y, qid=ids, groups=units), splitter=str(splitter)).check()
    fold = _fold_of_query(splits, queries)
    fits = _Fits(X, y, splits, {"qid": ids, **params}, n_jobs, verbose)
    scores = {name: fits.out_of_fold(model) for name, model in models.items()}
    tested = np.flatnonzero(fold[queries.codes] >= 0)
    reports = {
        name: evaluate(np.asarray(y)[tested], of_rows[tested], qid=ids[tested], metrics=metrics)
        for name, of_rows in scores.items()
    }
    fold = fold[fold >= 0]
    return CrossEvaluation(reports, {name: report.means_by(fold) for name, report in reports.items()}, fold, scores)


def _fold_of_query(splits: Splits, queries: Grouping) -> IntArray:
    """In which fold each query is tested, -1 for none."""
    fold = np.full(len(queries.ids), -1)
    for number, (_, test) in enumerate(splits):
        tested = np.unique(queries.codes[test])
        again = tested[fold[tested] >= 0]
        if len(again):
            raise ValueError(
                f"cv must test every query once at the most; got query {queries.ids[again[0]]!s} in fold "
                f"{fold[again[0]]} and in fold {number}. Use QueryKFold, or call once for each repetition."
            )
        fold[tested] = number
    return fold


@dataclass(frozen=True)
class _Fits:
    """Fits on the training parts of folds, of models that may differ."""

    X: Any
    y: Any
    splits: Splits
    params: Mapping[str, Any]  # metadata of the rows, for those that request it
    n_jobs: int | None
    verbose: int

    def out_of_fold(self, model: Any) -> FloatArray:
        """Score each row by the clone that was not fitted on it; NaN for rows that no fold tests."""
        with sklearn.config_context(enable_metadata_routing=True):
            requested = self._requested(model)
            parts = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
                delayed(_fit_and_predict)(clone(model), self.X, self.y, train, test, requested)
                for train, test in self.splits
            )
        scores = np.full(count_rows(self.X), np.nan)
        for (_, test), predicted in zip(self.splits, parts, strict=True):
            scores[test] = predicted
        return scores

    def _requested(self, model: Any) -> dict[str, Any]:
        """What of the metadata the fit of a model requests; what nobody requests is an error, as in scikit-learn."""
        router = MetadataRouter(owner="cross_evaluate")
        router.add(estimator=model, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        # Query ids are for the reports and the folds in any case.
        router.validate_metadata(
            method="fit", params={n: v for n, v in self.params.items() if n not in ("qid", "groups")}
        )
        return dict(router.route_params(params=self.params, caller="fit").estimator.fit)


def _fit_and_predict(model: Any, X: Any, y: Any, train: IntArray, test: IntArray, params: Mapping[str, Any]) -> Any:
    n_rows = count_rows(X)
    sliced = {
        name: take_rows(value, train) if np.ndim(value) and count_rows(value) == n_rows else value
        for name, value in params.items()
    }
    model.fit(take_rows(X, train), take_rows(y, train), **sliced)
    return predict_scores(model, take_rows(X, test))

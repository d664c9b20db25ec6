"""Out-of-fold reports: models evaluated on queries that they were not fitted on."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._input.arrays import FloatArray, IntArray, by_text, check_label_column, take_rows
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import carried, check_aligned, check_columns, query_ids, without_labels
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table
from skrank_metrics.model_selection._fold_scores import rows_of
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS, predict_scores
from skrank_metrics.reports.board import Leaderboard
from skrank_metrics.reports.evaluate import bind_metrics, evaluate
from skrank_metrics.reports.health import drawn_orders
from skrank_metrics.reports.mean_intervals import METHOD, weighting, why_none
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.splitters.audit import check_splits, split_rows
from skrank_metrics.splitters.query_kfold import QueryKFold

Splits = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, repr=False, eq=False)
class CrossEvaluation(Result):
    """Out-of-fold reports of one or more models on the same folds.

    Prints as a table, or as a leaderboard if there are several models, also in notebooks. ``to_frame()`` gives one row
    per model and metric, with the mean over queries, the ends of its interval as "low" and "high", and the mean and
    standard deviation over folds.

    Attributes
    ----------
    reports : dict of str to RankingReport
        Reports by model name, over all tested queries, each scored by a clone that was not fitted on it. Can be passed
        to compare.
    folds : dict of str to dict of str to ndarray of shape (n_folds,)
        One value per fold by model name and metric name. scikit-learn reports their mean.
    fold : ndarray of shape (n_queries,)
        The fold in which each query of the reports was tested.
    scores : dict of str to ndarray of shape (n_documents,)
        Out-of-fold scores of the rows by model name; NaN for rows that are never tested.
    """

    reports: dict[str, RankingReport]
    folds: dict[str, dict[str, FloatArray]]
    fold: IntArray
    scores: dict[str, FloatArray]
    _random_state: Any = 0

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The models ranked by the first metric, and compared per query by ``compare`` with ``random_state=0``.

        In a search_report, ``random_state`` is that of the report.
        """
        return Leaderboard(self.reports, {"random_state": self._random_state})

    def _parts(self) -> list[Part]:
        title = f"{counted(len(self.fold), 'query')} out of fold, {counted(int(self.fold.max()) + 1, 'fold')}"
        table = self._table()
        some_folds_lack_one = any(np.isnan(mean) for *_, mean, _ in table.rows)
        folds = "Means over folds are nan if a fold has no value with a weight above 0."
        notes = [folds] if some_folds_lack_one else []
        if len(self.reports) > 1:
            verdict, _, *shown = self.leaderboard._parts()
            columns = (*table.columns[:2], *table.columns[4:])
            table = Table(columns, [(*row[:2], *row[4:]) for row in table.rows])
            return [verdict, title, *shown, "Intervals ignore the variance from retraining.", table, *notes]
        report = next(iter(self.reports.values()))
        none = why_none((report.metrics[name], interval) for _, name, _, interval, _, _ in table.rows)
        return [
            title,
            table,
            f"Intervals: {METHOD}; they ignore the variance from retraining{none}.",
            *weighting(report.weights),
            *drawn_orders(self.reports, report.metrics),
            *notes,
        ]

    def _table(self) -> Table:
        """One row per model and metric."""
        columns = ("model", "metric", "mean over queries", Column("95% interval", names=("low", "high")))
        rows: list[tuple[Any, ...]] = []
        for model, report in self.reports.items():
            intervals = report.intervals()
            for metric, values in self.folds[model].items():
                rows.append((model, metric, report.mean[metric], intervals[metric], values.mean(), values.std()))
        return Table((*columns, "mean over folds", "std over folds"), rows)

    def _columns(self) -> Mapping[str, Any]:
        return self._table().for_frame()


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
    response_method: Any = RESPONSE_METHODS,
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
) -> CrossEvaluation:
    """Evaluate models on queries that they were not fitted on, query by query.

    scikit-learn's cross_validate returns one score per fold, and five fold scores rarely separate two models. This
    function keeps the values of all queries, on the same folds for all models, so that compare can pair them.

    Parameters
    ----------
    estimators : estimator or dict of str to estimator
        Models to fit, such as QueryRanker(...). They are cloned. A single estimator is named after its class. Names
        become text, by which they must differ.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Features.
    y : array-like of shape (n_documents,)
        Relevance labels. May carry the query ids in an index level named "qid", see with_qid.
    qid : array-like of shape (n_documents,), default=None
        Query ids. None means those in the index of ``y``, else ``params["groups"]``.
    cv : splitter, int, iterable of (train, test) or None, default=None
        As in scikit-learn; None means QueryKFold(5). Folds must keep queries whole and test each query at most once.
        Queries that are never tested, such as the first ones in a split by time, are missing from the reports.
    metrics : sequence of str, metric functions or bound metrics, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate.
    n_jobs : int, default=None
        Number of processes to fit and predict in, as in scikit-learn.
    params : dict, default=None
        Further metadata for ``split`` and ``fit``, such as ``groups`` or ``sample_weight``. It is passed to the objects
        that request it: metadata routing is always enabled here.
    verbose : int, default=0
        Verbosity of joblib; 10 reports every fit.
    response_method : str or sequence of str, default=("decision_function", "predict_proba", "predict")
        Method of the estimators that gives the scores, as in make_ranking_scorer.
    sample_weight : array-like of shape (n_documents,), default=None
        Weights of the queries in the means, which must not vary within a query. Pass weights for ``fit`` in params.
    retrieved, judged : array-like of bool of shape (n_documents,), default=None
        False for documents that are not ranked, and for those that nobody judged, as in evaluate. Models are fitted on
        all documents, so documents that nobody judged must have a numeric label, usually 0.

    Returns
    -------
    result : CrossEvaluation
        Prints as a table of the mean over queries and the mean over folds.

    Raises
    ------
    TypeError
        If the query ids are missing, an argument has the wrong type, or a ranker of LightGBM, XGBoost or CatBoost is
        not wrapped in QueryRanker and does not request ``qid``.
    ValueError
        If a fold cuts queries or ``groups``, a query is tested more than once, or the data are invalid.

    Examples
    --------
    Four queries of two documents each; the feature is 1 for the relevant one:

    >>> from sklearn.linear_model import LinearRegression
    >>> from skrank_metrics import QueryKFold, QueryRanker, cross_evaluate
    >>> X, y, qid = [[1.0], [0.0]] * 4, [1, 0] * 4, [0, 0, 1, 1, 2, 2, 3, 3]
    >>> result = cross_evaluate(QueryRanker(LinearRegression()), X, y, qid=qid, cv=QueryKFold(2), metrics="mrr")
    >>> result.reports["QueryRanker"].per_query["mrr"]
    array([1., 1., 1., 1.])
    >>> result.folds["QueryRanker"]["mrr"]
    array([1., 1.])
    """
    models = _named(estimators)
    bind_metrics(metrics)  # to raise their errors now, not after hours of fitting
    params = dict(params or {})
    if qid is not None and "qid" in params:
        raise ValueError("qid must be passed once; got it as qid= and in params. Leave it out of params.")
    columns = carried(y, sample_weight=sample_weight, retrieved=retrieved, judged=judged)
    sources = {"qid": params.pop("qid", qid), "groups": params.get("groups"), **columns}
    queries = query_ids(len(check_label_column(y)), "cross_evaluate", y=y, X=X, **sources)
    columns = check_columns(columns, queries)
    check_aligned(X=X, y=y, **params)
    for name, model in models.items():
        _refuse_bare_ranker(name, model)
    # Check labels now: in folds, a default index no longer counts from 0.
    y, params = without_labels(y), {name: without_labels(value) for name, value in params.items()}
    ids = queries.ids[queries.codes]
    units = ids if params.get("groups") is None else params["groups"]
    splits = _whole_splits(QueryKFold(5) if cv is None else check_cv(cv), X, y, units, ids)
    fold = _fold_of_query(splits, queries)
    with sklearn.config_context(enable_metadata_routing=True):
        requested = {name: _requested(model, {"qid": ids, **params}) for name, model in models.items()}
        predicted = Parallel(n_jobs=n_jobs, verbose=verbose)(
            delayed(_fit_and_predict)(clone(models[name]), X, y, train, test, requested[name], response_method)
            for name, (train, test) in product(models, splits)
        )
    scores = {name: np.full(len(ids), np.nan) for name in models}
    for (name, (_, test)), values in zip(product(models, splits), predicted, strict=True):
        scores[name][test] = values
    tested = np.flatnonzero(fold[queries.codes] >= 0)
    labels, ids, fold = np.asarray(y)[tested], ids[tested], fold[fold >= 0]
    options = {"qid": ids, "metrics": metrics, **{name: column[tested] for name, column in columns.items()}}
    reports = {name: evaluate(labels, found[tested], **options) for name, found in scores.items()}
    return CrossEvaluation(reports, {name: _of_folds(report, fold) for name, report in reports.items()}, fold, scores)


def _named(estimators: Any) -> dict[str, Any]:
    """Estimators by their names."""
    if not isinstance(estimators, Mapping) and not hasattr(estimators, "fit"):
        raise TypeError(f"estimators must be an estimator or a dict of estimators; got {type(estimators).__name__}.")
    named = estimators.items() if isinstance(estimators, Mapping) else [(type(estimators).__name__, estimators)]
    models = by_text(named, "estimators")
    if not models:
        raise ValueError("estimators must hold at least one estimator; got none.")
    return models


class QueriesTestedAgainError(ValueError):
    """Folds that test a query more than once."""

    def __init__(self, query: str) -> None:
        super().__init__(
            f"cv must test every query at most once; got {query}. Use QueryKFold, or call once per repetition."
        )
        self.query = query


def _whole_splits(cv: Any, X: Any, y: Any, units: Any, ids: Any) -> Splits:
    splits = list(split_rows(cv, X, y, units, ids))
    check_splits(splits, cv, X, y, qid=ids, groups=units)
    return splits


def _fold_of_query(splits: Splits, queries: Grouping) -> IntArray:
    """Fold in which each query is tested; -1 if it is never tested."""
    fold = np.full(len(queries.ids), -1)
    for number, (_, test) in enumerate(splits):
        tested = np.unique(queries.codes[test])
        again = tested[fold[tested] >= 0]
        if len(again):
            raise QueriesTestedAgainError(
                f"query {queries.ids[again[0]]!s} in fold {fold[again[0]]} and in fold {number}"
            )
        fold[tested] = number
    return fold


def _refuse_bare_ranker(name: str, model: Any) -> None:
    """Refuse a booster's ranker that would not get the queries: it takes group sizes, or does not request ids."""
    ranker = model
    while hasattr(ranker, "steps"):
        ranker = ranker.steps[-1][1]
    taken = inspect.signature(ranker.fit).parameters if hasattr(ranker, "fit") else ()
    if ("group" in taken or "group_id" in taken) and not get_routing_for_object(model).consumes("fit", ["qid"]):
        kind = type(ranker).__name__
        raise TypeError(
            f"estimators must take the query id of each document in fit; got {kind} as {name!r}, which does not. Pass "
            f"QueryRanker({kind}(...)) instead."
        )


def _requested(model: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata that the fit of a model requests. As in scikit-learn, metadata that nobody requests is an error."""
    router = MetadataRouter(owner="cross_evaluate")
    router.add(estimator=model, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    # Ids are used here even if the model does not request them.
    others = {name: value for name, value in params.items() if name not in ("qid", "groups")}
    router.validate_metadata(method="fit", params=others)
    return dict(router.route_params(params=params, caller="fit").estimator.fit)


def _fit_and_predict(
    model: Any, X: Any, y: Any, train: IntArray, test: IntArray, params: Mapping[str, Any], response_method: Any
) -> Any:
    model.fit(take_rows(X, train), take_rows(y, train), **rows_of(params, X, train))
    return predict_scores(model, take_rows(X, test), response_method)


def _of_folds(report: RankingReport, fold: IntArray) -> dict[str, FloatArray]:
    """Mean of each fold by name of the metric."""
    folds = replace(report, by=fold).slices.values()
    return {name: np.array([part.mean[name] for part in folds]) for name in report.mean}

"""Out-of-fold comparisons: models evaluated on queries that they were not fitted on."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    by_text,
    check_bool,
    check_label_column,
    check_scores,
    count_rows,
    is_column,
    take_rows,
)
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import carried, check_aligned, check_columns, group_ids, query_ids, without_labels
from skrank_metrics._output.result import Part
from skrank_metrics._output.table import Column, Table, plus_minus
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS, predict_scores
from skrank_metrics.reports.compare import compare_reports
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.evaluate import bind_metrics, evaluate_lists
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import slices_and_groups
from skrank_metrics.splitters.audit import check_splits, split_rows
from skrank_metrics.splitters.query_kfold import QueryKFold

# Number of metrics that fit side by side into 80 columns.
BESIDE = 3


@dataclass(frozen=True, repr=False, eq=False)
class CrossEvaluation(Comparison):
    """Models compared on queries that they were not fitted on; also of a single model.

    Prints a verdict and tables in terminals and notebooks, as a Comparison does, and the means over folds. Where folds
    vary more than queries, intervals and tests follow from folds. ``to_frame()`` gives one row per model.

    Attributes
    ----------
    reports : dict of str to RankingReport
        Reports by model name, best first by the first metric, over all tested queries, each scored by a clone that was
        not fitted on it.
    folds : ndarray of shape (n_queries,)
        The fold in which each query of the reports was tested.
    scores : dict of str to ndarray of shape (n_documents,)
        Out-of-fold scores of the rows by model name; NaN for rows that are never tested.
    """

    scores: dict[str, FloatArray] = field(default_factory=dict)

    def fold_means(self, metric: Any = None) -> dict[str, FloatArray]:
        """Mean over the queries of each fold by name of the model; scikit-learn's searches report their mean.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the comparison.

        Returns
        -------
        means : dict of str to ndarray of shape (n_folds,)
            NaN for a fold that has no value with a weight above 0.
        """
        name = self._metric(metric)
        parts = [self._part(np.flatnonzero(self.folds == fold)) for fold in np.unique(np.asarray(self.folds))]
        return {own: np.array([part.reports[own].mean[name] for part in parts]) for own in self.names}

    def to_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Put the means into a dict, for JSON.

        Returns
        -------
        values : dict
            By model and metric, with the "mean" over queries and the list of means over "folds".
        """
        folds = {metric: self.fold_means(metric) for metric in self.metrics}
        return {
            name: {m: {"mean": report.mean[m], "folds": folds[m][name].tolist()} for m in self.metrics}
            for name, report in self.reports.items()
        }

    def _parts(self) -> list[Part]:
        parts, n_folds = super()._parts(), len(np.unique(np.asarray(self.folds)))
        if not self.verdict:
            return [f"Out of fold, in {n_folds} folds.", *parts]
        covers = f"Out of fold, in {n_folds} folds: this is about fitting such models, not about {n_folds} fits alone."
        return [parts[0], covers, *parts[1:]]

    def _notes(self) -> Iterator[Any]:
        for start in range(0, len(self.metrics), BESIDE):
            shown = self.metrics[start : start + BESIDE]
            found = [self.fold_means(metric) for metric in shown]
            columns = (Column("mean ± std over folds", str), *(Column(metric, plus_minus) for metric in shown))
            rows = [(name, *((means[name].mean(), means[name].std()) for means in found)) for name in self.names]
            yield Table(columns, rows)
        yield from super()._notes()

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        for metric in self.metrics:
            found = self.fold_means(metric).values()
            columns[f"{metric} mean over folds"] = [means.mean() for means in found]
            columns[f"{metric} std over folds"] = [means.std() for means in found]
        return columns


def cross_evaluate(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    cv: Any = None,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    convention: str = "sklearn",
    ties: str | None = None,
    replace_undefined_by: float | None = None,
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
    condense: bool = False,
    documents: Any = None,
    by: Any = None,
    groups: Any = None,
    baseline: str | None = None,
    margin: float | None = None,
    test: str = "permutation",
    correction: str | None = "max",
    confidence: float = 0.95,
    random_state: Any = 0,
    params: Mapping[str, Any] | None = None,
    response_method: Any = RESPONSE_METHODS,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CrossEvaluation:
    """Compare models, query by query, on queries that they were not fitted on.

    scikit-learn's cross_validate returns one score per fold, and five fold scores rarely separate two models. This
    function keeps the values of all queries, on the same folds for all models.

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
        Query ids. None means those in the index of ``y``, else ``groups``.
    cv : splitter, int, iterable of (train, test) or None, default=None
        As in scikit-learn; None means QueryKFold(5). Folds must keep queries whole and test each query at most once.
        Queries that are never tested, such as the first ones in a split by time, are missing from the reports.
    metrics, convention, ties, replace_undefined_by : object
        Metrics to compute, and their options, as in evaluate. The first metric ranks the models.
    sample_weight : array-like of shape (n_documents,), default=None
        Weights of the queries in the means, which must not vary within a query. Pass weights for ``fit`` in params.
    retrieved, judged : array-like of bool of shape (n_documents,), default=None
        False for documents that are not ranked, and for those that nobody judged, as in evaluate. Models are fitted on
        all documents, so documents that nobody judged must have a numeric label, usually 0.
    condense, documents, by : object
        As in evaluate.
    groups : array-like of shape (n_documents,), default=None
        Units to keep together, such as users. They are passed to the splitter, and the tests treat their queries as
        dependent.
    baseline, margin, test, correction, confidence, random_state : object
        As in compare.
    params : dict, default=None
        Metadata for ``fit``, such as ``sample_weight``. It is passed to the models that request it: metadata routing is
        always enabled here.
    response_method : str or sequence of str, default=("decision_function", "predict_proba", "predict")
        Method of the estimators that gives the scores, as in make_ranking_scorer.
    n_jobs : int, default=None
        Number of processes to fit and predict in, as in scikit-learn.
    verbose : int, default=0
        Verbosity of joblib; 10 reports every fit.

    Returns
    -------
    result : CrossEvaluation
        Prints as a verdict and tables in terminals and notebooks.

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
    >>> result.fold_means()
    {'QueryRanker': array([1., 1.])}
    """
    models = _named_estimators(estimators)
    bound = bind_metrics(metrics, convention, ties=ties, replace_undefined_by=replace_undefined_by)
    columns = {"sample_weight": sample_weight, "retrieved": retrieved, "judged": judged}
    ids, others = {"qid": qid, "groups": groups}, {"by": by, "documents": documents}
    rows = out_of_fold_rows("cross_evaluate", X, y, QueryKFold(5) if cv is None else cv, params, columns, ids, **others)
    with sklearn.config_context(enable_metadata_routing=True):
        arguments = rows.requested_by_fit(models)
        scores = rows.predict(models, arguments, response_method, n_jobs=n_jobs, verbose=verbose)
    reports = rows.evaluate(scores, bound, condense=condense, **others)
    options: dict[str, Any] = {"baseline": baseline, "margin": margin, "test": test, "correction": correction}
    options |= {"confidence": confidence, "random_state": random_state}
    return compare_reports(CrossEvaluation, reports, folds=rows.folds, scores=scores, **options)


def _named_estimators(estimators: Any) -> dict[str, Any]:
    """Estimators by their names, without boosters' rankers that would not get the queries."""
    if not isinstance(estimators, Mapping) and not hasattr(estimators, "fit"):
        raise TypeError(f"estimators must be an estimator or a dict of estimators; got {type(estimators).__name__}.")
    named = estimators.items() if isinstance(estimators, Mapping) else [(type(estimators).__name__, estimators)]
    models = by_text(named, "estimators")
    if not models:
        raise ValueError("estimators must hold at least one estimator; got none.")
    for name, model in models.items():
        ranker = model
        while hasattr(ranker, "steps"):
            ranker = ranker.steps[-1][1]
        taken = inspect.signature(ranker.fit).parameters if hasattr(ranker, "fit") else ()
        if ("group" in taken or "group_id" in taken) and not get_routing_for_object(model).consumes("fit", ["qid"]):
            kind = type(ranker).__name__
            raise TypeError(
                f"estimators must take the query id of each document in fit; got {kind} as {name!r}, which does not. "
                f"Pass QueryRanker({kind}(...)) instead."
            )
    return models


@dataclass(frozen=True)
class OutOfFoldRows:
    """Checked rows without labels, as a default index does not count from 0 in a fold."""

    X: Any
    y: Any
    queries: Grouping
    ids: Any  # the query of each row
    units: Any  # what a split must keep together, one per row
    columns: Mapping[str, Any]  # masks and weights
    params: Mapping[str, Any]  # of fit
    splits: list[tuple[IntArray, IntArray]]
    fold_of_query: IntArray  # -1 if it is never tested

    @property
    def folds(self) -> IntArray:
        """The fold of each tested query."""
        return self.fold_of_query[self.fold_of_query >= 0]

    def requested_by_fit(self, models: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Metadata that the fit of each model requests. As in scikit-learn, metadata that it does not is an error."""
        found, known = {}, {"qid": self.ids, "groups": self.units, **self.params}
        for name, model in models.items():
            router = MetadataRouter(owner="cross_evaluate")
            router.add(estimator=model, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
            # Ids are used here even if the model does not request them.
            router.validate_metadata(method="fit", params=self.params)
            found[name] = dict(router.route_params(params=known, caller="fit").estimator.fit)
        return found

    def predict(
        self, models: Mapping[str, Any], arguments: Mapping[str, Any], response_method: Any, **parallel: Any
    ) -> dict[str, FloatArray]:
        """Scores of the rows by models that were fitted on the training rows of their fold; NaN if never tested."""
        predicted = Parallel(**parallel)(
            delayed(_fit_and_predict)(clone(model), self.X, self.y, train, test, arguments[name], response_method)
            for (name, model), (train, test) in product(models.items(), self.splits)
        )
        scores = {name: np.full(len(self.queries.codes), np.nan) for name in models}
        for (name, (_, test)), values in zip(product(models, self.splits), predicted, strict=True):
            scores[name][test] = values
        return scores

    def evaluate(
        self,
        scores: Mapping[str, FloatArray],
        metrics: Mapping[str, BoundMetric],
        *,
        condense: bool = False,
        by: Any = None,
        documents: Any = None,
    ) -> dict[str, RankingReport]:
        """Reports over the tested rows."""
        tested = np.flatnonzero(self.fold_of_query[self.queries.codes] >= 0)
        columns = {name: column[tested] for name, column in self.columns.items()}
        columns |= {"documents": _take_rows_of(documents, tested), "condense": check_bool(condense, "condense")}
        lists = query_lists(np.asarray(self.y)[tested], np.zeros(len(tested)), qid=self.ids[tested], **columns)
        units = group_ids(self.units, len(self.queries.codes), "groups", "y")
        same = np.array_equal(units.codes, self.queries.codes)
        given = {"by": _take_rows_of(by, tested), "groups": None if same else units.ids[units.codes][tested]}
        parts = slices_and_groups(lists.grouping, **given)
        reports = {}
        for name, found in scores.items():
            checked = check_scores(found[tested], (len(tested),), columns.get("retrieved"))
            reports[name] = evaluate_lists(lists.with_scores(lists.grouping.sort(checked)), metrics, **parts)
        return reports


def out_of_fold_rows(
    who: str,
    X: Any,
    y: Any,
    cv: Any,
    params: Mapping[str, Any] | None,
    columns: Mapping[str, Any],
    ids: Mapping[str, Any],
    **others: Any,
) -> OutOfFoldRows:
    """Check folds, labels, ids, which may be in ``params`` too, masks and weights, and the row labels of others."""
    params, ids = dict(params or {}), dict(ids)
    for name, given in ids.items():
        if given is not None and name in params:
            raise ValueError(f"{name} must be passed once; got it as {name}= and in params. Leave it out of params.")
        ids[name] = params.pop(name, given)
    columns = carried(y, **columns)
    queries = query_ids(len(check_label_column(y)), who, y=y, X=X, **ids, **columns)
    columns, qid = check_columns(columns, queries), queries.ids[queries.codes]
    others |= params
    check_aligned(X=X, y=y, **{name: value for name, value in others.items() if not isinstance(value, Mapping)})
    params = {name: without_labels(value) for name, value in params.items()}
    y, units = without_labels(y), qid if ids["groups"] is None else without_labels(ids["groups"])
    splits = split_rows(cv := check_cv(cv), X, y, units, qid)
    check_splits(splits, cv, X, y, qid=qid, groups=units)
    return OutOfFoldRows(X, y, queries, qid, units, columns, params, splits, _fold_of_query(queries, splits))


def _fold_of_query(queries: Grouping, splits: list[tuple[IntArray, IntArray]]) -> IntArray:
    fold = np.full(len(queries.ids), -1)
    for number, (_, test) in enumerate(splits):
        tested = np.unique(queries.codes[test])
        again = tested[fold[tested] >= 0]
        if len(again):
            raise ValueError(
                f"cv must test every query at most once, since models are compared per query; got query "
                f"{queries.ids[again[0]]!s} in fold {fold[again[0]]} and in fold {number}. Use QueryKFold, or "
                "call cross_evaluate once per repetition."
            )
        fold[tested] = number
    return fold


def _take_rows_of(value: Any, rows: IntArray) -> Any:
    """Rows of a column, or of each column of a dict."""
    if isinstance(value, Mapping):
        return {name: take_rows(column, rows) for name, column in value.items()}
    return None if value is None else take_rows(value, rows)


def _fit_and_predict(
    model: Any, X: Any, y: Any, train: IntArray, test: IntArray, params: Mapping[str, Any], response_method: Any
) -> Any:
    n_rows = count_rows(X)
    params = {name: take_rows(value, train) if is_column(value, n_rows) else value for name, value in params.items()}
    model.fit(take_rows(X, train), take_rows(y, train), **params)
    return predict_scores(model, take_rows(X, test), response_method)

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
from sklearn.metrics import make_scorer
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    by_text,
    check_choice,
    check_label_column,
    count_rows,
    is_column,
    take_rows,
)
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import (
    CARRIED,
    carried,
    check_aligned,
    check_columns,
    group_ids,
    named_columns,
    query_ids,
    without_labels,
)
from skrank_metrics._output.result import Part
from skrank_metrics._output.table import Column, Table, plus_minus
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS, one_column
from skrank_metrics.model_selection.with_qid import with_qid
from skrank_metrics.reports.compare import compare_reports
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.plan import Correction, Plan, Test
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.splitters.audit import check_splits, split_rows
from skrank_metrics.splitters.query_kfold import QueryKFold


@dataclass(frozen=True, repr=False, eq=False)
class CrossEvaluation(Comparison):
    """A Comparison of models on queries that they were not fitted on; also of a single model.

    Also prints the means over folds. If folds vary more than queries, intervals and tests follow from folds.

    Attributes
    ----------
    scores : dict of str to ndarray of shape (n_documents,)
        Out-of-fold scores of the rows by model name; NaN for rows that are never tested.
    """

    scores: dict[str, FloatArray] = field(default_factory=dict)

    def fold_means(self) -> dict[str, FloatArray]:
        """Mean over the queries of each fold, by model; NaN for a fold that has no value with a weight above 0."""
        metric, folds = self.metrics[0], np.asarray(self.folds)
        queries = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        return {
            name: np.array([report.subset(some).mean[metric] for some in queries])
            for name, report in self.reports.items()
        }

    def to_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The "mean" over queries and the list of means over "folds", by model and metric, for JSON."""
        folds = {metric: self.by_metric(metric).fold_means() for metric in self.metrics}
        return {
            name: {
                m: {"mean": report.mean[m], "folds": folds[m][name].tolist()} for m in self.metrics
            }
            for name, report in self.reports.items()
        }

    def _parts(self) -> list[Part]:
        parts, n_folds = super()._parts(), len(np.unique(np.asarray(self.folds)))
        if not self.verdict:
            return [f"Out of fold, in {n_folds} folds.", *parts]
        covers = f"Out of fold, in {n_folds} folds: this is about fitting such models, not about {n_folds} fits alone."
        return [parts[0], covers, *parts[1:]]

    def _notes(self) -> Iterator[Any]:
        for start in range(0, len(self.metrics), 3):  # which fit side by side into 80 columns
            shown = self.metrics[start : start + 3]
            found = [self.by_metric(metric).fold_means() for metric in shown]
            columns = (
                Column("mean ± std over folds", str),
                *(Column(metric, plus_minus) for metric in shown),
            )
            rows = [
                (name, *((means[name].mean(), means[name].std()) for means in found))
                for name in self.names
            ]
            yield Table(columns, rows)
        yield from super()._notes()


def cross_evaluate(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    cv: Any = None,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    convention: str = "sklearn",
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
    condense: bool = False,
    documents: Any = None,
    by: Any = None,
    groups: Any = None,
    baseline: str | None = None,
    margin: float | None = None,
    test: Test = "permutation",
    correction: Correction | None = "max",
    confidence: float = 0.95,
    random_state: Any = 0,
    params: Mapping[str, Any] | None = None,
    response_method: Any = RESPONSE_METHODS,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CrossEvaluation:
    """Compare models, query by query, on queries that they were not fitted on.

    Parameters
    ----------
    estimators : estimator or dict of str to estimator
        Models to clone and fit, such as QueryRanker(...). A single estimator is named after its class. Rankers of
        LightGBM, XGBoost and CatBoost must be in a QueryRanker, or request ``qid``.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Features.
    y, qid : array-like of shape (n_documents,)
        Relevance labels and query ids. ``qid=None`` means the ids in the index of ``y``, see with_qid, else ``groups``.
    cv : splitter, int, iterable of (train, test) or None, default=None
        As in scikit-learn; None means QueryKFold(5). Folds must keep queries whole and test each query at most once.
        Queries that are never tested are missing from the reports.
    metrics, convention : object
        As in evaluate. The first metric ranks the models.
    sample_weight, retrieved, judged : array-like of shape (n_documents,), default=None
        Weights of the queries in the means, and masks, as in evaluate. Models are fitted on all documents, without
        weights, so what nobody judged must have a label too. ``retrieved="scored"`` is as in make_ranking_scorer.
    condense, documents, by : object
        As in evaluate.
    groups : array-like of shape (n_documents,), default=None
        Units to keep together in folds, such as users, whose queries are dependent in the tests.
    baseline, margin, test, correction, confidence, random_state : object
        As in compare, which does not know the folds, though: it takes only queries to vary.
    params : dict, default=None
        Further arguments of ``fit``, such as ``sample_weight``: passed by metadata routing to a model that requests
        them, else as they are.
    response_method : str or sequence of str, default=("decision_function", "predict_proba", "predict")
        Method of the estimators that gives the scores, as in make_ranking_scorer.
    n_jobs, verbose : int or None
        Number of processes to fit and predict in, and verbosity of joblib; 10 reports every fit.

    Returns
    -------
    result : CrossEvaluation
        A Comparison that also has the folds.

    Raises
    ------
    TypeError, ValueError
        If ids are missing, data are invalid, a fold cuts queries or groups, or a query is tested more than once.

    Examples
    --------
    Four queries of two documents each; the feature is 1 for the relevant one:

    >>> from sklearn.linear_model import LinearRegression
    >>> from skrank_metrics import QueryKFold, QueryRanker, cross_evaluate
    >>> X, y, qid = [[1.0], [0.0]] * 4, [1, 0] * 4, [0, 0, 1, 1, 2, 2, 3, 3]
    >>> result = cross_evaluate(QueryRanker(LinearRegression()), X, y, qid=qid, cv=QueryKFold(2), metrics="mrr")
    >>> result.reports["QueryRanker"].per_query["mrr"]
    array([1., 1., 1., 1.])
    """
    declines = isinstance(retrieved, str) and bool(check_choice(retrieved, "retrieved", ["scored"]))
    columns = {
        "sample_weight": sample_weight,
        "retrieved": None if declines else retrieved,
        "judged": judged,
    }
    columns |= {"groups": groups, "by": by, "documents": documents}
    how = {
        "metrics": metrics,
        "convention": convention,
    }
    how |= {"condense": condense}
    models, params, n_rows = _estimators(estimators), dict(params or {}), len(check_label_column(y))
    queries = _check_rows(n_rows, X, y, qid, columns, params)
    ids = {
        "qid": columns["qid"],
        "groups": columns["qid"] if groups is None else without_labels(groups),
    }
    y = without_labels(y)
    evaluate(
        np.asarray(y), np.arange(n_rows), **columns, **how
    )  # bad input is noticed before anything is fitted
    splits = split_rows(cv := check_cv(QueryKFold(5) if cv is None else cv), X, y, **ids)
    check_splits(splits, cv, X, y, **ids)
    folds = _folds(queries, splits)
    scores = _scores(
        models, X, y, splits, params, ids, response_method, n_jobs=n_jobs, verbose=verbose
    )
    tested, reports = np.flatnonzero(folds[queries.codes] >= 0), {}
    columns = {name: _part_of(column, tested) for name, column in columns.items()}
    for name, found in scores.items():
        own = (
            {"retrieved": (found[tested] > -np.inf) & columns.get("retrieved", True)}
            if declines
            else {}
        )
        reports[name] = evaluate(np.asarray(y)[tested], found[tested], **{**columns, **own}, **how)
    plan = Plan(baseline, margin, test, correction, confidence, random_state)
    return comparison_of_folds(reports, folds[folds >= 0], scores, plan)


def comparison_of_folds(
    reports: Mapping[str, RankingReport],
    folds: IntArray,
    scores: dict[str, FloatArray],
    plan: Plan,
) -> CrossEvaluation:
    """Compare reports whose queries were tested in these folds."""
    tested = {name: report.with_queries(folds=folds) for name, report in reports.items()}
    found = compare_reports(tested, None, plan)
    return CrossEvaluation(found.reports, found.metrics, found.plan, scores=scores)


def _estimators(estimators: Any) -> dict[str, Any]:
    models = (
        estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    )
    if not models or not all(hasattr(model, "fit") for model in models.values()):
        raise TypeError(
            f"estimators must be an estimator or a dict of estimators; got {estimators!r}."
        )
    for model in models.values():  # the errors of boosters do not say how to pass them the queries
        ranker = model.steps[-1][1] if isinstance(model, Pipeline) else model
        takes_groups = {"group", "group_id"} & inspect.signature(ranker.fit).parameters.keys()
        if takes_groups and not get_routing_for_object(ranker).consumes("fit", ["qid"]):
            kind = type(ranker).__name__
            raise TypeError(
                f"estimators must take query ids in fit; got {kind}. Pass QueryRanker({kind}(...)) instead."
            )
    return by_text(models.items(), "estimators")


def _check_rows(
    n_rows: int, X: Any, y: Any, qid: Any, columns: dict[str, Any], params: dict[str, Any]
) -> Grouping:
    """Check what has an entry per row, and drop its labels, as a default index does not count from 0 in a fold."""
    masks = carried(y, **{name: columns.pop(name) for name in CARRIED})
    queries = query_ids(
        n_rows, "cross_evaluate", y=y, X=X, qid=qid, groups=columns["groups"], **masks
    )
    check_aligned(X=X, y=y, **named_columns(**columns), **params)
    params |= {name: without_labels(value) for name, value in params.items()}
    if (groups := columns["groups"]) is not None:
        units = group_ids(groups, n_rows, "groups", "y").codes
        columns["groups"] = None if np.array_equal(units, queries.codes) else without_labels(groups)
    columns |= {"qid": queries.ids[queries.codes], **check_columns(masks, queries)}
    return queries


def _folds(queries: Grouping, splits: list[tuple[IntArray, IntArray]]) -> IntArray:
    """The fold of each query; -1 if it is never tested."""
    folds = np.full(len(queries.ids), -1)
    for number, (_, test) in enumerate(splits):
        tested = np.unique(queries.codes[test])
        if (again := tested[folds[tested] >= 0]).size:
            raise ValueError(
                f"cv must test every query at most once; got query {queries.ids[again[0]]!s} in fold {folds[again[0]]} "
                f"and in fold {number}. Use QueryKFold, or call cross_evaluate once per repetition."
            )
        folds[tested] = number
    return folds


def _part_of(value: Any, rows: IntArray) -> Any:
    """Rows of a column, or of each column of a dict."""
    if isinstance(value, Mapping):
        return {name: take_rows(column, rows) for name, column in value.items()}
    return None if value is None else take_rows(value, rows)


def _scores(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    splits: list[tuple[IntArray, IntArray]],
    params: dict[str, Any],
    ids: dict[str, Any],
    response_method: Any,
    **parallel: Any,
) -> dict[str, FloatArray]:
    """Scores of the rows by models that were fitted on the training rows of their fold; NaN if never tested."""
    scorer = make_scorer(_predictions, response_method=response_method)
    fits = [(model, X, scorer, *_arguments(model, y, params, ids)) for model in models.values()]
    predicted = Parallel(**parallel)(
        delayed(_fit_and_predict)(*fit, *split) for fit, split in product(fits, splits)
    )
    scores = {name: np.full(count_rows(X), np.nan) for name in models}
    for (name, (_, test)), values in zip(product(models, splits), predicted, strict=True):
        scores[name][test] = values
    return scores


def _arguments(
    model: Any, y: Any, params: dict[str, Any], ids: dict[str, Any]
) -> tuple[Any, dict[str, Any], bool]:
    """Labels and arguments of fit, and whether they are routed; if not, ids travel with the labels."""
    router = MetadataRouter(owner="cross_evaluate")
    router.add(estimator=model, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    with sklearn.config_context(enable_metadata_routing=True):
        try:
            router.validate_metadata(method="fit", params=params)
            return (
                y,
                dict(router.route_params(params=dict(**params, **ids), caller="fit").estimator.fit),
                True,
            )
        except (TypeError, ValueError):
            return with_qid(np.asarray(y), ids["qid"]), params, False


def _fit_and_predict(
    model: Any,
    X: Any,
    scorer: Any,
    y: Any,
    params: Any,
    routed: bool,
    train: IntArray,
    test: IntArray,
) -> Any:
    n_rows = count_rows(X)
    params = {
        name: take_rows(value, train) if is_column(value, n_rows) else value
        for name, value in params.items()
    }
    of_train, of_test = take_rows(X, train), take_rows(X, test)
    if (
        hasattr(model, "__sklearn_tags__") and get_tags(model).input_tags.pairwise
    ):  # a column per training row
        of_train, of_test = np.asarray(of_train)[:, train], np.asarray(of_test)[:, train]
    with sklearn.config_context(enable_metadata_routing=routed):
        fitted = clone(model).fit(of_train, take_rows(y, train), **params)
    return scorer(fitted, of_test, take_rows(y, test))


def _predictions(y_true: Any, y_score: Any) -> Any:
    return one_column(y_score)

"""Out-of-fold comparisons: models evaluated on queries that they were not fitted on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.types import Features, Ids, Numbers, Slices, Splits, SupportsFit
from skrank_metrics._output.result import Column, Section, Table, plus_minus
from skrank_metrics._sklearn_internals import score_function
from skrank_metrics.decisions._compare import compare_reports
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.model_selection._fitted_search import metric_of_scorer
from skrank_metrics.model_selection.out_of_fold import (
    Evaluation,
    OutOfFold,
    check_rows_of_models,
    evaluate_out_of_fold,
)
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS
from skrank_metrics.reports.ranking_report import subset, with_queries


@dataclass(frozen=True, repr=False, eq=False)
class CrossEvaluation(Comparison):
    """A Comparison of models on queries that they were not fitted on; also of a single model.

    If folds vary more than queries, intervals and tests follow from folds. ``details()`` has the means over folds.

    Attributes
    ----------
    scores : dict of str to ndarray of shape (n_documents,)
        Out-of-fold scores of the rows by model name, means over repetitions of the folds; NaN for rows that are never
        tested.
    """

    scores: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def _noun(self) -> str:
        return "model"

    def fold_means(self) -> dict[str, FloatArray]:
        """Mean over the queries of each fold, by model; NaN for a fold that has no value with a weight above 0."""
        metric, folds = self.metrics[0], np.asarray(self.folds)
        queries = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        return {
            name: np.array([subset(report, some).mean[metric] for some in queries])
            for name, report in self.reports.items()
        }

    def _details(self) -> Iterator[Section]:
        yield from super()._details()
        means = [self.by_metric(metric).fold_means() for metric in self.metrics]
        columns = [
            Column("mean ± std over folds", str),
            *(Column(metric, plus_minus) for metric in self.metrics),
        ]
        rows = []
        for name in self.names:
            of_folds = [by_name[name] for by_name in means]
            rows.append((name, *((values.mean(), values.std()) for values in of_folds)))
        yield Table(columns, rows)


def cross_evaluate(
    estimators: SupportsFit | Mapping[str, SupportsFit],
    X: Features,
    y: Numbers,
    *,
    qid: Ids | None = None,
    cv: Splits = None,
    metrics: Metrics = ("ndcg@10", "map", "mrr"),
    convention: ConventionName = "sklearn",
    by: Slices | None = None,
    groups: Ids | None = None,
    params: Mapping[str, Any] | None = None,
    response_method: str | Sequence[str] = RESPONSE_METHODS,
    n_jobs: int | None = None,
    verbose: int | None = None,
) -> CrossEvaluation:
    """Compare models, query by query, on queries that they were not fitted on.

    For a baseline, a margin or another test, pass the result to compare.

    Parameters
    ----------
    estimators : estimator or dict of str to estimator
        Models to clone and fit, such as QueryRanker(...). A single estimator is named after its class. Rankers of
        LightGBM, XGBoost and CatBoost must be in a QueryRanker, or request ``qid``.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Features.
    y : array-like of shape (n_documents,)
        Relevance labels. They carry masks, weights of the queries in the means, and columns for custom metrics: see
        with_qid. Models are fitted on all documents, without weights, so what nobody judged must have a label too.
    qid : array-like of shape (n_documents,), default=None
        Query ids. None means the ids in the index of ``y``, see with_qid, else ``groups``.
    cv : splitter, int, iterable of (train, test) or None, default=None
        As in scikit-learn; None means QueryKFold(5). Folds must keep queries whole and test all queries equally often.
        If they test them several times, as RepeatedQueryKFold does, the value of a query is its mean over the
        repetitions, and ``folds`` are those of the first. Queries that are never tested are missing from the reports.
    metrics, convention : object
        As in evaluate. The first metric ranks the models. Or the dict of ranking_scorers, as for ``scoring=``: with
        ``retrieved="scored"``, models can decline documents here, too.
    by : array-like of shape (n_documents,), default=None
        Slices to report separately, as in evaluate.
    groups : array-like of shape (n_documents,), default=None
        Units to keep together in folds, such as users, whose queries are dependent in the tests.
    params : dict, default=None
        Further arguments of ``fit``, such as ``sample_weight``: passed by metadata routing to a model that requests
        them, else as they are. A model does not get those that it refuses, as set_fit_request(sample_weight=False)
        says.
    response_method : str or sequence of str, default=("decision_function", "predict_proba", "predict")
        Method of the estimators that gives the scores, as in make_ranking_scorer.
    n_jobs, verbose : int or None
        Number of processes to fit and predict in, and whether to say on standard error how many models were fitted, and
        how long the rest takes. If verbose is None, only on a terminal or in a notebook; 0 is silent.

    Returns
    -------
    result : CrossEvaluation
        A Comparison that also has the folds.

    Raises
    ------
    TypeError, ValueError
        If ids are missing, data are invalid, a fold cuts queries or groups, or some queries are tested more often than
        others.

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
    rows = check_rows_of_models(X, y, qid=qid, by=by, groups=groups, params=params)
    how = _evaluation(metrics, convention, response_method)
    return comparison_of_folds(
        evaluate_out_of_fold(
            estimators, rows, cv, how, may_repeat=True, n_jobs=n_jobs, verbose=verbose
        )
    )


def _evaluation(metrics: Any, convention: ConventionName, response_method: Any) -> Evaluation:
    """Metrics by name, or those of scorers, which also say how to rank."""
    scorers: Mapping[str, Any] = metrics if isinstance(metrics, Mapping) else {}
    of_scorers = {name: metric_of_scorer(scorer) for name, scorer in scorers.items()}
    if not any(of_scorers.values()):
        return Evaluation(bind_metrics(metrics, convention), response_method)
    functions = [score_function(scorer) for scorer in scorers.values()]
    alike = None not in of_scorers.values() and len({one.together for one in functions}) == 1
    if not alike or response_method != RESPONSE_METHODS:
        raise ValueError(
            "metrics must be scorers of one call of ranking_scorers, without response_method= beside them; got "
            f"{list(scorers)}."
        )
    first = next(iter(scorers))
    return Evaluation.like(scorers[first], bind_metrics(of_scorers, convention))


def comparison_of_folds(found: OutOfFold) -> CrossEvaluation:
    """Compare models on the queries that they were not fitted on."""
    tested = {
        name: with_queries(report, folds=found.folds) for name, report in found.reports.items()
    }
    comparison = compare_reports(tested)
    return CrossEvaluation(
        comparison.reports, comparison.metrics, comparison.plan, scores=found.scores
    )

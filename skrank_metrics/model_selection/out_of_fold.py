"""Fit models on folds, and evaluate them on the queries that they were not fitted on."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.from_rows import documents_from_rows, rank_rows
from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    Mask,
    NaNScoreError,
    check_label_column,
    check_mask,
    count_rows,
    is_column,
    take_rows,
)
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.parameters import by_text
from skrank_metrics._input.query_ids import (
    carried,
    check_aligned,
    group_by_query,
    group_ids,
    named_columns,
    without_labels,
)
from skrank_metrics._input.with_qid import with_qid
from skrank_metrics._output.progress import Progress
from skrank_metrics._sklearn_internals import response_method, score_function
from skrank_metrics.decisions._evaluate import evaluate_ranking
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.model_selection.scorers import one_column, returned
from skrank_metrics.reports.ranking_report import RankingReport, with_data
from skrank_metrics.reports.report_data import data_of
from skrank_metrics.splitters.audit import check_splits, split_rows
from skrank_metrics.splitters.query_kfold import QueryKFold

# Folds that test every query several times: which of them are a repetition, and the mean over repetitions.

# Rows to train on, and to test.
Split = tuple[IntArray, IntArray]


def number_repetitions(queries: Grouping, splits: Sequence[Split]) -> tuple[list[int], IntArray]:
    """The repetition of each fold, and the fold of each query in the first one, -1 if it is never tested.

    A fold is in the first repetition that has tested none of its queries. All of them test the same queries.
    """
    numbers: list[int] = []
    n_times = np.zeros(len(queries.ids), dtype=np.intp)
    folds = np.full(len(queries.ids), -1)
    for _, test in splits:
        tested = np.unique(queries.codes[test])
        _check_equal(queries, tested, n_times)
        number = int(n_times[tested].max(initial=0))
        if number == 0:
            folds[tested] = numbers.count(0)
        numbers.append(number)
        n_times[tested] += 1
    # Queries that are never tested, such as the first ones of a split by time, may be left out.
    _check_equal(queries, np.flatnonzero(n_times), n_times)
    return numbers, folds


def _check_equal(queries: Grouping, places: IntArray, n_times: IntArray) -> None:
    """Raise an error unless these queries have been tested equally often."""
    counts = n_times[places]
    if len(counts) and np.ptp(counts) > 0:
        rarest, most = queries.ids[places[[np.argmin(counts), np.argmax(counts)]]]
        raise ValueError(
            f"cv must test all queries equally often; got query {rarest!s}, tested less often than query {most!s}. "
            "Use QueryKFold or RepeatedQueryKFold."
        )


def mean_report(reports: Sequence[RankingReport]) -> RankingReport:
    """A report whose values are means over reports of the same queries; it has no ranking, as these have several."""
    first = reports[0]
    if len(reports) == 1:
        return first
    results = {}
    for name in first.metrics:
        found = [data_of(report).results[name] for report in reports]
        values = np.mean([result.values for result in found], axis=0)
        denominators = np.mean([result.denominators for result in found], axis=0)
        results[name] = PerQuery(values * denominators, denominators)
    return with_data(
        first,
        results=results,
        ranking=None,
        recorded_counts=data_of(first).counts,
        recorded_health=first.health,
    )


# Fit models on folds, and evaluate them on the queries that they were not fitted on.


@dataclass(frozen=True)
class ModelRows:
    """What models are fitted on and evaluated on, checked, without labels of rows.

    In a fold, a default index would no longer count from 0.
    """

    X: Any
    y: Any
    documents: Documents  # with slices, groups, masks and weights
    retrieved: Mask | None
    qid: NDArray[Any]  # of each row
    groups: NDArray[Any]  # the units that splits keep together
    params: dict[str, Any]  # of fit

    def ranking(self, scores: FloatArray, tested: Mask, *, declines: bool = False) -> Ranking:
        """Rank the documents of the tested queries by the scores of all rows."""
        mask = returned(scores, self.retrieved) if declines else self.retrieved
        if tested.all():
            return rank_rows(self.documents, scores, retrieved=mask)
        # The other queries have no scores.
        has_scores = self.documents.grouping.spread(tested)
        mask = has_scores if mask is None else mask & has_scores
        return rank_rows(self.documents, scores, retrieved=mask).take(np.flatnonzero(tested))


def check_rows_of_models(
    X: Any, y: Any, *, qid: Any, by: Any, groups: Any, params: Mapping[str, Any] | None
) -> ModelRows:
    """Check all that belongs to the rows, before anything is fitted."""
    given = dict(params or {})
    labels = check_label_column(y)
    retrieved = carried(y, retrieved=None)["retrieved"]
    check_aligned(X=X, y=y, groups=groups, **named_columns(by=by), **given)
    queries = group_by_query(len(labels), "cross_evaluate", y=y, X=X, qid=qid, groups=groups)
    units = queries if groups is None else group_ids(groups, len(labels), "groups", "y")
    # Units of one query each say nothing about which queries depend on each other.
    depend = not np.array_equal(units.codes, queries.codes)
    ids = queries.spread(queries.ids)
    documents = documents_from_rows(
        without_labels(y),
        qid=ids,
        by=by,
        groups=without_labels(groups) if depend else None,
    )
    return ModelRows(
        X,
        without_labels(y),
        documents,
        None if retrieved is None else check_mask(retrieved, "retrieved", labels.shape, "y"),
        ids,
        ids if groups is None else units.spread(units.ids),
        {name: without_labels(value) for name, value in given.items()},
    )


@dataclass(frozen=True)
class Evaluation:
    """How the predictions of models are evaluated."""

    metrics: Mapping[str, BoundMetric]
    response_method: Any
    declines: bool = False  # whether documents with a score of NaN or -inf are not ranked

    @classmethod
    def like(cls, scorer: Any, metrics: Mapping[str, BoundMetric]) -> Evaluation:
        """Rank by the same scores as a scorer of this package."""
        return cls(metrics, response_method(scorer), score_function(scorer).declines)


@dataclass(frozen=True)
class OutOfFold:
    """Models that were fitted on folds, and evaluated on the queries of the other folds."""

    reports: dict[str, RankingReport]
    folds: IntArray  # of each query of the reports, in the first repetition
    scores: dict[str, FloatArray]  # of all rows, NaN if never tested; means over repetitions


def evaluate_out_of_fold(
    estimators: Any,
    rows: ModelRows,
    cv: Any,
    how: Evaluation,
    *,
    may_repeat: bool = False,
    n_jobs: int | None,
    verbose: int | None,
) -> OutOfFold:
    """Fit models on the training rows of each fold, and evaluate them on its test rows.

    If every query is tested several times, as by RepeatedQueryKFold, its value is the mean over the repetitions.
    """
    models = _estimators(estimators)
    grouping = rows.documents.grouping
    # Metrics that the labels do not allow are noticed before anything is fitted.
    computations = [metric.computation for metric in how.metrics.values()]
    constant = np.zeros(rows.documents.n_documents)
    per_query(rank_rows(rows.documents, constant, retrieved=rows.retrieved), computations)
    splitter = check_cv(QueryKFold(5) if cv is None else cv)
    ids = {"qid": rows.qid, "groups": rows.groups}
    splits = split_rows(splitter, rows.X, rows.y, **ids)
    check_splits(splits, splitter, rows.X, rows.y, **ids)
    numbers, folds = number_repetitions(grouping, splits)
    n_repetitions = max(numbers) + 1
    if n_repetitions > 1 and not may_repeat:
        raise ValueError(
            f"cv must test every query at most once; got {splitter}, which tests each {n_repetitions} times. Use "
            "QueryKFold."
        )
    with Progress(verbose) as progress:
        fit_in_parallel = ParallelFits(progress, len(models) * len(splits), n_jobs)
        numbered = list(zip(numbers, splits, strict=True))
        scores = _scores(models, rows, numbered, how.response_method, fit_in_parallel)
    reports, means = {}, {}
    for name, of_model in scores.items():
        of_repetitions = [_report(name, rows, values, folds >= 0, how) for values in of_model]
        reports[name] = mean_report(of_repetitions)
        means[name] = of_model.mean(axis=0)
    return OutOfFold(reports, folds[folds >= 0], means)


class ParallelFits(Parallel):  # type: ignore[misc]  # scikit-learn has no types
    """Runs fits in joblib, which calls ``print_progress`` after each."""

    def __init__(self, progress: Progress, n_fits: int, n_jobs: int | None) -> None:
        super().__init__(n_jobs=n_jobs)
        self._progress, self._n_fits = progress, n_fits

    def print_progress(self) -> None:
        """Say how many models were fitted."""
        self._progress.say_done(self.n_completed_tasks, self._n_fits, "models fitted")


def _report(
    name: str, rows: ModelRows, scores: FloatArray, tested: Mask, how: Evaluation
) -> RankingReport:
    """Evaluate the scores of one model."""
    try:
        ranking = rows.ranking(scores, tested, declines=how.declines)
    except NaNScoreError as error:
        raise NaNScoreError(
            f"{error} These are scores of {name}. If it declines documents, pass "
            "metrics=ranking_scorers(..., retrieved='scored') to cross_evaluate."
        ) from error
    return evaluate_ranking(ranking, how.metrics)


def _estimators(estimators: Any) -> dict[str, Any]:
    models = (
        estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    )
    if not models or not all(hasattr(model, "fit") for model in models.values()):
        raise TypeError(
            f"estimators must be an estimator or a dict of estimators; got {estimators!r}."
        )
    # The errors of boosters do not say how to pass them the queries.
    for model in models.values():
        ranker = model[-1] if isinstance(model, Pipeline) else model
        takes_groups = {"group", "group_id"} & inspect.signature(ranker.fit).parameters.keys()
        if takes_groups and not get_routing_for_object(ranker).consumes("fit", ["qid"]):
            kind = type(ranker).__name__
            raise TypeError(
                f"estimators must take query ids in fit; got {kind}. Pass QueryRanker({kind}(...)) instead."
            )
    return by_text(models.items(), "estimators")


def _scores(
    models: Mapping[str, Any],
    rows: ModelRows,
    splits: list[tuple[int, Split]],
    response_method: Any,
    fit_in_parallel: ParallelFits,
) -> dict[str, FloatArray]:
    """Scores by repetition and row, of models that were fitted on the training rows; NaN if never tested."""
    scorer = make_scorer(_predictions, response_method=response_method)
    fits = [_Fit(model, rows.X, scorer, *_arguments(model, rows)) for model in models.values()]
    predicted = fit_in_parallel(
        delayed(_fit_and_predict)(fit, *split) for fit in fits for _, split in splits
    )
    shape = (max(number for number, _ in splits) + 1, count_rows(rows.X))
    scores = {name: np.full(shape, np.nan) for name in models}
    for (name, (number, (_, test))), values in zip(product(models, splits), predicted, strict=True):
        scores[name][number, test] = values
    return scores


@dataclass(frozen=True)
class _Fit:
    """A model, and what it is fitted on in each fold."""

    model: Any
    X: Any
    scorer: Any
    y: Any
    params: dict[str, Any]
    routed: bool  # whether parameters are requested; if not, ids travel with the labels


def _arguments(model: Any, rows: ModelRows) -> tuple[Any, dict[str, Any], bool]:
    """Labels and arguments of fit, and whether they are routed."""
    router = MetadataRouter(owner="cross_evaluate")
    router.add(estimator=model, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    # A model may refuse what others take, as set_fit_request(sample_weight=False) says.
    requests = getattr(get_routing_for_object(model), "fit", None)
    said = getattr(requests, "requests", {})
    params = {name: value for name, value in rows.params.items() if said.get(name) is not False}
    given = {**params, "qid": rows.qid, "groups": rows.groups}
    with sklearn.config_context(enable_metadata_routing=True):
        try:
            router.validate_metadata(method="fit", params=params)
            routed = router.route_params(params=given, caller="fit").estimator.fit
        except (TypeError, ValueError):
            # The model requests no ids, or the parameters are not requested: they are passed as without routing.
            return with_qid(np.asarray(rows.y), rows.qid), params, False
    return rows.y, dict(routed), True


_OF_VALIDATION = ("X_val", "y_val", "sample_weight_val")


def _fit_and_predict(fit: _Fit, train: IntArray, test: IntArray) -> Any:
    n_rows, params = count_rows(fit.X), dict(fit.params)
    for name, value in fit.params.items():
        # A validation set stays whole, whatever its length.
        if is_column(value, n_rows) and not name.endswith(_OF_VALIDATION):
            params[name] = take_rows(value, train)
    of_train = take_rows(fit.X, train)
    with sklearn.config_context(enable_metadata_routing=fit.routed):
        fitted = clone(fit.model).fit(of_train, take_rows(fit.y, train), **params)
    # These rows go before the test rows are copied, so that memory holds one copy of each row at most.
    del of_train
    return fit.scorer(fitted, take_rows(fit.X, test), take_rows(fit.y, test))


def _predictions(y_true: Any, y_score: Any) -> Any:
    return one_column(y_score)

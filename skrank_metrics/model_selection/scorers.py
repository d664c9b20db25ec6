"""Scorers for the ``scoring=`` of scikit-learn's model selection."""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.metrics import make_scorer
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.query_lists import QueryLists, query_lists
from skrank_metrics._input.arrays import FloatArray, Mask, NaNScoreError, to_array
from skrank_metrics._input.query_ids import carried, ids_in_index
from skrank_metrics._sklearn_internals import (
    check_rows,
    fail_in_search,
    routing_enabled,
    running_scorer,
    scored_rows,
    warn_of_fitted,
    ways_out,
)
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import expand, get_metric, get_metric_names

# Rankers only have predict. The labels predicted by a classifier would tie most documents, so predict comes last.
RESPONSE_METHODS = ("decision_function", "predict_proba", "predict")


class Scored(NamedTuple):
    """The results of a scorer before it takes the mean."""

    result: PerQuery
    weights: FloatArray | None  # one per query
    ids: NDArray[Any]  # one per query


Results: TypeAlias = dict[int, Scored]  # by number of the metric


@dataclass(frozen=True)
class RankingScore:
    """The score function of a scorer: finds the query ids and computes the metric."""

    together: tuple[BoundMetric, ...]  # the metrics of all scorers made in one call
    number: int  # of this metric among them
    who: str = ""  # name of the caller, if it is not a scorer

    @property
    def metric(self) -> BoundMetric:
        """The metric to compute."""
        return self.together[self.number]

    @property
    def __name__(self) -> str:
        return str(self.metric)

    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        *,
        X: Any = None,
        qid: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        retrieved: Any = None,
        judged: Any = None,
        **unknown: Any,
    ) -> float:
        """Compute the metric on predictions."""
        try:
            if unknown:
                taken = "qid, groups, sample_weight, retrieved and judged"
                raise TypeError(
                    f"{next(iter(unknown))} must not be requested by a ranking scorer, which takes {taken}."
                )
            columns = carried(y_true, sample_weight=sample_weight, retrieved=retrieved, judged=judged)
            scored = self._result(y_true, y_score, X, qid=qid, groups=groups, **columns)
            value = float(self.metric.aggregate(scored.result, scored.weights))
            if np.isnan(value):  # for all candidates, so a search would pick the first one
                raise ValueError(
                    f"y_true must have a query for which {self.metric} is defined if replace_undefined_by is nan; got "
                    "none in the rows that are scored. Set replace_undefined_by=0.0, or balance the folds, as "
                    "QueryKFold(stratify='relevance') does."
                )
        except NaNScoreError:
            raise
        except (TypeError, ValueError) as error:
            if _kept.recording:
                _kept.recording.error = error
            return cast(float, fail_in_search(error))
        if _kept.recording and _kept.recording.score is self:
            _kept.recording.keep(scored)
        return value

    def _result(self, y_true: Any, y_score: Any, X: Any, **columns: Any) -> Scored:
        """Values and weights of the queries, computed once for all metrics that were made together."""
        check_one_column(to_array(y_score, "y_score"), ", or pass response_method='predict'")
        given = []
        if len(self.together) > 1:
            given = [to_array(y_true, "y_true"), to_array(y_score, "y_score"), ids_in_index(y_true), *columns.values()]
        results, contents = _last.take(self.together, given)
        if self.number not in results:
            X = scored_rows() if X is None else X
            columns = check_rows(X, y_true=y_true, **columns)
            who, ways = self.who or f"The scorer {self.metric}", ways_out("qid" if self.who else "")
            if columns["qid"] is None and columns["groups"] is None:
                ways = _unrequested_ids() or ways
            lists = query_lists(y_score=y_score, X=X, **columns, who=who, ways_out=ways)
            warn_of_fitted(y_score, lists.grouping.ids, lists.grouping.sizes)
            results = self._ranked(lists)
        result = results.pop(self.number)
        if results:
            _last.keep(self.together, contents, results, y_score)
        return result

    def _ranked(self, lists: QueryLists) -> Results:
        try:
            results = dict(enumerate(per_query(lists, [metric.computation for metric in self.together])))
        except ValueError:  # a metric that refuses these labels must fail in its own scorer only
            results = {self.number: per_query(lists, [self.metric.computation])[0]}
        return {number: Scored(result, lists.weights, lists.grouping.ids) for number, result in results.items()}


def _unrequested_ids() -> str:
    """Say how to request ids if routing is enabled and the running scorer does not request all of them."""
    scorer = running_scorer()
    if scorer is None or not routing_enabled():
        return ""
    requests = get_routing_for_object(scorer).score.requests
    missing = [name for name in ("qid", "groups") if requests.get(name) in (None, False)]
    if not missing:
        return ""
    return (
        f"It does not request {' and '.join(missing)}, and set_score_request replaces all requests. Call "
        "set_score_request(qid=True, groups=True, retrieved=True, judged=True), and add sample_weight=True to weight "
        "the score; or pass with_qid(y, qid) as y."
    )


class _Last(threading.local):
    """Results for the rows that were scored last, until all scorers of a dict have taken theirs.

    scikit-learn passes one array of predictions to all scorers of a dict. Results are kept no longer than this array.
    """

    def __init__(self) -> None:
        self.kept: list[Any] = []  # always the same list in a thread, so that another thread can clear it

    def take(self, together: tuple[BoundMetric, ...], given: list[Any]) -> tuple[Results, list[Any]]:
        """Hand over the results kept for these metrics and contents, with a copy of the contents, and drop them.

        Contents are compared, since arrays can change in place.
        """
        kept, self.kept[:] = list(self.kept), []
        if kept and kept[0] is together and all(map(_same, given, kept[1])):
            return kept[2], kept[1]
        return {}, [copy.deepcopy(part) for part in given]

    def keep(self, together: tuple[BoundMetric, ...], contents: list[Any], results: Results, predictions: Any) -> None:
        """Keep results for as long as the predictions live."""
        kept = self.kept
        try:
            reference = weakref.ref(predictions, lambda _: kept.clear())
        except TypeError:  # a list; each scorer ranks it
            return
        kept[:] = [together, contents, results, reference]


def _same(given: Any, kept: Any) -> bool:
    if hasattr(kept, "equals"):  # of pandas, polars or pyarrow; as arrays of NumPy, strings would become objects
        return type(given) is type(kept) and bool(given.equals(kept))
    return np.array_equal(given, kept)


_last = _Last()


class QueryScores(NamedTuple):
    """Values per query behind a score: larger is better, and undefined values are replaced."""

    ids: NDArray[Any]
    values: FloatArray
    defined: Mask
    weights: FloatArray | None


@dataclass
class Recording:
    """The results of a score function while it is recorded."""

    score: RankingScore
    found: QueryScores | None = None
    error: Exception | None = None  # an error in the input, which is wrong for all models

    def keep(self, scored: Scored) -> None:
        """Keep the values of a call."""
        metric = self.score.metric
        values = np.asarray(metric.aggregate(scored.result, None, average=None))
        values = values if metric.greater_is_better else 0.0 - values
        self.found = QueryScores(scored.ids, values, ~np.isnan(scored.result.values), scored.weights)


class _Kept(threading.local):
    recording: Recording | None = None


_kept = _Kept()


@contextmanager
def recorded(score: RankingScore) -> Iterator[Recording]:
    """Record the values per query that a score function computes inside the block."""
    recording = Recording(score)
    before, _kept.recording = _kept.recording, recording
    try:
        yield recording
    finally:
        _kept.recording = before


def make_ranking_scorer(
    metric: Any, *, response_method: Any = RESPONSE_METHODS, convention: str = "sklearn", **params: Any
) -> Any:
    """Make a scorer of a ranking metric, for ``scoring=`` in scikit-learn's model selection.

    The scorer takes the query ids of a fold from ``qid``, else from the index level "qid" of ``y`` (see with_qid), else
    from ``groups``. It is made by ``sklearn.metrics.make_scorer``, works with and without metadata routing, and can be
    pickled. Like all scorers, it takes ``qid=`` and ``groups=`` only if routing is enabled; otherwise pass
    ``with_qid(y, qid)`` as ``y``.

    The scorer takes ``retrieved`` and ``judged``, the masks of the metric functions, in the same two ways: without
    routing, they are index levels of ``y``, as in ``with_qid(y, qid, judged=judged)``. It requests ``qid``, ``groups``,
    ``retrieved`` and ``judged`` by default, so routing needs no set_score_request.

    Like QueryRanker.score, the scorer warns if queries of the fit are scored. It recognizes them only if a QueryRanker
    made the predictions, alone or at the end of a Pipeline. For other estimators, and if predictions are transformed,
    use audit_splits.

    Parameters
    ----------
    metric : str, metric function or bound metric
        Metric to compute, as in get_metric.
    response_method : str or sequence of str, default=("decision_function", "predict_proba", "predict")
        Method of the estimator that gives the scores. If there are several, the first that the estimator has.
    convention : str, default="sklearn"
        Library whose defaults apply to parameters that are not set, to reproduce its values: "sklearn", "trec_eval",
        "lightgbm", "xgboost", "catboost", "ranx", "ir_measures", "rax", "spark", "tf_ranking" or "torchmetrics".
    **params
        Parameters of the metric, such as ``k=10`` or ``gain="exp2"``.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y)``; larger is better.

    Raises
    ------
    ValueError
        If the metric or the value of a parameter is unknown.
    TypeError
        If a parameter is unknown or has the wrong type.

    Notes
    -----
    To score with weights, pass ``with_qid(y, qid, sample_weight=weights)`` as ``y``, or enable metadata routing and
    request them. Since set_score_request replaces all requests, repeat the others: ``scorer.set_score_request(qid=True,
    groups=True, retrieved=True, judged=True, sample_weight=True)``. A mask that is not requested does not reach the
    scorer.

    Examples
    --------
    The only feature ranks the three documents of the query in the wrong order:

    >>> from sklearn.linear_model import LinearRegression
    >>> from skrank_metrics import make_ranking_scorer, mrr_score, with_qid
    >>> model = LinearRegression().fit([[0], [1]], [0, 1])
    >>> scorer = make_ranking_scorer(mrr_score, k=10)
    >>> round(scorer(model, [[1], [2], [3]], with_qid([1, 0, 0], ["a", "a", "a"])), 4)
    0.3333
    """
    return _scorers([get_metric(metric, convention=convention, **params)], response_method)[0]


def get_ranking_scorer(name: str) -> Any:
    """Get a scorer by name, such as "ndcg@10" or "map".

    Parameters
    ----------
    name : str
        Name of a metric, as in get_metric.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y)``; larger is better. See make_ranking_scorer.

    Raises
    ------
    ValueError
        If there is no metric of that name.

    Examples
    --------
    >>> from skrank_metrics import get_ranking_scorer
    >>> get_ranking_scorer("ndcg@10")
    make_scorer(ndcg@10, response_method=('decision_function', 'predict_proba', 'predict'))
    """
    return make_ranking_scorer(name)


def get_ranking_scorer_names() -> list[str]:
    """List the names that get_ranking_scorer accepts; parameters and "@k" can be added.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from skrank_metrics import get_ranking_scorer_names
    >>> "map" in get_ranking_scorer_names()
    True
    """
    return get_metric_names()


def ranking_scorers(*names: Any) -> dict[str, Any]:
    """Make a dict of scorers that share one prediction and one ranking.

    Parameters
    ----------
    *names : str, metric functions or bound metrics
        Metrics to compute, as in get_metric. "ndcg@1,5,10" is short for three names.

    Returns
    -------
    scorers : dict of str to callable
        Scorers for ``scoring=``, keyed by the names as given.

    Raises
    ------
    ValueError
        If there are no names, names repeat, or a metric is unknown.

    Examples
    --------
    >>> from skrank_metrics import ranking_scorers
    >>> list(ranking_scorers("ndcg@10", "map"))
    ['ndcg@10', 'map']
    """
    if not names:
        raise ValueError('names must name at least one metric, as in ranking_scorers("ndcg@10", "map"); got none.')
    if any(isinstance(name, list | tuple | set) for name in names):
        raise TypeError("names must be separate arguments; got a sequence of names. Write ranking_scorers(*names).")
    names = tuple(expand(names))
    bound = [get_metric(name) for name in names]
    keys = [name if isinstance(name, str) else str(metric) for name, metric in zip(names, bound, strict=True)]
    if len(set(keys)) < len(keys):
        raise ValueError(f"names must differ; got {', '.join(keys)}.")
    return dict(zip(keys, _scorers(bound, RESPONSE_METHODS), strict=True))


def _scorers(metrics: list[BoundMetric], response_method: Any) -> list[Any]:
    for metric in metrics:
        if metric.average is None:
            raise ValueError("average must not be None in a scorer, which returns a single number; leave it out.")
    together = tuple(metrics)
    scorers = []
    # A scorer keeps its requests outside the context, where they do no harm. Weights are also for fit, so their request
    # is left open: if they are passed but neither requested nor refused, scikit-learn raises an error.
    requests = {"qid": True, "groups": True, "retrieved": True, "judged": True, "sample_weight": None}
    with sklearn.config_context(enable_metadata_routing=True):
        for number, metric in enumerate(metrics):
            score = RankingScore(together, number)
            scorer = make_scorer(score, response_method=response_method, greater_is_better=metric.greater_is_better)
            scorers.append(scorer.set_score_request(**requests))
    return scorers


def predict_scores(estimator: Any, X: Any, response_method: Any = RESPONSE_METHODS) -> Any:
    """Predict the scores that a scorer with this response method would use."""
    methods = (response_method,) if isinstance(response_method, str) else response_method
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        raise TypeError(
            f"estimator must have one of {', '.join(methods)}; got {type(estimator).__name__}. Pass a fitted "
            "model that has one, or another response_method."
        )
    scores = getattr(estimator, method)(X)
    if method == "predict_proba" and np.ndim(scores) == 2 and np.shape(scores)[1] == 2:
        return np.asarray(scores)[:, 1]
    check_one_column(scores)
    return scores


def check_one_column(y_score: Any, way_out: str = "") -> None:
    """Refuse the several columns of a classifier, and a single column that is 2-D."""
    shape = np.shape(y_score)
    if len(shape) != 2:
        return
    if shape[1] == 1:
        raise ValueError(f"y_score must be 1-D; got a single column. Make the model predict a 1-D array{way_out}.")
    raise ValueError(
        f"y_score must hold one score per document; got {shape[1]} columns, one per class. Wrap the model in "
        f"QueryRanker, which ranks by the expected grade{way_out}."
    )

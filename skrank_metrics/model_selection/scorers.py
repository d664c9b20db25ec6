"""Scorers for the ``scoring=`` of scikit-learn's model selection."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.metrics import make_scorer

from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._input.arrays import FloatArray, NaNScoreError, to_array
from skrank_metrics._input.query_ids import ids_in_index
from skrank_metrics._sklearn_internals import fail_in_search, warn_of_fitted
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import get_metric, get_metric_names

# Rankers have only predict; a classifier's predict would tie nearly all documents, so it comes last.
RESPONSE_METHODS = ("decision_function", "predict_proba", "predict")


@dataclass(frozen=True)
class RankingScore:
    """The score function of a scorer: finds the query ids and computes the metric."""

    together: tuple[BoundMetric, ...]  # the metrics of all scorers that were made at once
    number: int  # of this one among them

    @property
    def metric(self) -> BoundMetric:
        """The metric that is computed."""
        return self.together[self.number]

    @property
    def __name__(self) -> str:
        return str(self.metric)

    def __call__(
        self, y_true: Any, y_score: Any, *, qid: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> float:
        """Compute the metric on predictions."""
        data = {"y_true": y_true, "y_score": y_score, "qid": qid, "groups": groups, "sample_weight": sample_weight}
        try:
            return self._score(data)
        except NaNScoreError:
            raise
        except (TypeError, ValueError) as error:
            return cast(float, fail_in_search(error))

    def _score(self, data: Mapping[str, Any]) -> float:
        scores = to_array(data["y_score"], "y_score").shape
        if len(scores) == 2:
            raise ValueError(one_per_class_message(scores[1]) + ", or pass response_method='predict'.")
        result, weights = shared_results.take(self.together, self.number, data)
        value = float(self.metric.aggregate(result, weights))
        if np.isnan(value):  # of every candidate, so that a search would take the first one
            raise ValueError(
                f"y_true must leave a query for which {self.metric} is defined if replace_undefined_by is nan; got "
                "none in the rows that are scored. Set replace_undefined_by=0.0, or balance the folds, as "
                "QueryKFold(stratify='relevance') does."
            )
        return value


def make_ranking_scorer(
    metric: Any, *, response_method: Any = RESPONSE_METHODS, convention: str = "sklearn", **params: Any
) -> Any:
    """Make a scorer of a ranking metric, for ``scoring=`` in scikit-learn's model selection.

    The scorer finds the query ids of a fold in ``qid`` or ``groups``, which it requests where metadata routing is
    enabled, or else in the index level "qid" of ``y``, see with_qid. It is a scorer of ``sklearn.metrics.make_scorer``,
    works with routing enabled and not, and pickles.

    It does not see the estimator, and knows what a QueryRanker was fitted on from the array that it predicted. So it
    warns, as QueryRanker.score does, where queries of the fit are scored, for a QueryRanker alone or at the end of a
    Pipeline. Around other estimators, and where predictions are transformed, audit_splits is the guard.

    Parameters
    ----------
    metric : str, metric function or bound metric
        What to compute, as in get_metric.
    response_method : str or sequence of str, default=("decision_function", "predict_proba", "predict")
        What of the estimator gives the scores; of several, the first that it has.
    convention : {"sklearn", "trec_eval", "lightgbm", "xgboost", "catboost"}, default="sklearn"
        Whose defaults to take where nothing else is set, so as to give the number of that library.
    **params
        Parameters of the metric, such as ``k=10`` or ``gain="exp2"``.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y)``; larger is better.

    Raises
    ------
    ValueError
        Where there is no metric, or no parameter value, of that name.
    TypeError
        Where a parameter is unknown or of the wrong type.

    Notes
    -----
    Where weights are to be scored with, request them as well, with routing enabled:
    ``scorer.set_score_request(qid=True, groups=True, sample_weight=True)``.

    Examples
    --------
    The only feature orders the three documents of the query the wrong way round:

    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> from skrank_metrics import make_ranking_scorer, mrr_score, with_qid
    >>> model = LinearRegression().fit([[0], [1]], [0, 1])
    >>> scorer = make_ranking_scorer(mrr_score, k=10)
    >>> round(scorer(model, [[1], [2], [3]], with_qid([1, 0, 0], ["a", "a", "a"])), 4)
    0.3333
    """
    return _scorers([get_metric(metric, convention=convention, **params)], response_method)[0]


def get_ranking_scorer(name: str) -> Any:
    """Get the scorer that a name stands for, such as "ndcg@10" or "map".

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
        Where there is no metric of that name.

    Examples
    --------
    >>> from skrank_metrics import get_ranking_scorer
    >>> get_ranking_scorer("ndcg@10")
    make_scorer(ndcg@10, response_method=('decision_function', 'predict_proba', 'predict'))
    """
    return make_ranking_scorer(name)


def get_ranking_scorer_names() -> list[str]:
    """List the names that get_ranking_scorer takes, to which parameters and "@k" can be added.

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
    """Make a dict of scorers that predict and rank once for all of them.

    Parameters
    ----------
    *names : str, metric functions or bound metrics
        What to compute, as in get_metric.

    Returns
    -------
    scorers : dict of str to callable
        For ``scoring=``, keyed by the names as given.

    Raises
    ------
    ValueError
        Where no name is given, one is given twice, or there is no metric of that name.

    Examples
    --------
    >>> from skrank_metrics import ranking_scorers
    >>> list(ranking_scorers("ndcg@10", "map"))
    ['ndcg@10', 'map']
    """
    if not names:
        raise ValueError('names must name at least one metric, as in ranking_scorers("ndcg@10", "map"); got none.')
    if any(isinstance(name, list | tuple | set) for name in names):
        raise TypeError("names must be given one by one; got several in one argument. Write ranking_scorers(*names).")
    bound = [get_metric(name) for name in names]
    keys = [name if isinstance(name, str) else str(metric) for name, metric in zip(names, bound, strict=True)]
    if len(set(keys)) < len(keys):
        raise ValueError(f"names must differ; got {', '.join(keys)}.")
    return dict(zip(keys, _scorers(bound, RESPONSE_METHODS), strict=True))


def _scorers(metrics: list[BoundMetric], response_method: Any) -> list[Any]:
    for metric in metrics:
        if metric.average is None:
            raise ValueError("average must be 'macro' or 'micro' in a scorer, which returns one number; got None.")
    together = tuple(metrics)
    scorers = []
    # A scorer keeps its requests outside the context, and they do no harm there. Weights are left undecided: passing
    # them without having requested or refused them is an error of scikit-learn's, not a silent choice.
    with sklearn.config_context(enable_metadata_routing=True):
        for number, metric in enumerate(metrics):
            score = RankingScore(together, number)
            scorer = make_scorer(score, response_method=response_method, greater_is_better=metric.greater_is_better)
            scorers.append(scorer.set_score_request(qid=True, groups=True, sample_weight=None))
    return scorers


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
        raise ValueError(one_per_class_message(np.shape(scores)[1]) + ".")
    return scores


def one_per_class_message(n_classes: int) -> str:
    """Say that a classifier gave a score for each class, and what to do; without the stop, for further ways out."""
    if n_classes == 1:
        return "y_score must be 1-D; got a single column. Let the model predict what .ravel() makes of it"
    return (
        f"y_score must hold one score per document; got {n_classes} columns, one per class. Wrap the model in "
        "QueryRanker, which ranks by the expected grade"
    )


class SharedResults(threading.local):
    """The last results of metrics that were bound together, until each has been taken once.

    The first scorer of a dict ranks for all; the others find the same data and take their result. Whether the data are
    the same is decided by comparing them, as arrays can change in place.
    """

    def __init__(self) -> None:
        self._together: tuple[BoundMetric, ...] = ()
        self._data: list[NDArray[Any] | None] = []
        self._weights: FloatArray | None = None
        self._left: dict[int, PerQuery] = {}

    def take(
        self, together: tuple[BoundMetric, ...], number: int, data: Mapping[str, Any]
    ) -> tuple[PerQuery, FloatArray | None]:
        """Result of one of the metrics on data, and the weights of the queries."""
        arrays = _to_arrays([*data.values(), ids_in_index(data["y_true"])])
        if together is not self._together or number not in self._left or not _same(arrays, self._data):
            self._compute(together, number, data)
            self._together = together
            self._data = [array if array is None else array.copy() for array in arrays] if len(together) > 1 else []
        result, weights = self._left.pop(number), self._weights
        if not self._left:
            self._data = []
        return result, weights

    def _compute(self, together: tuple[BoundMetric, ...], number: int, data: Mapping[str, Any]) -> None:
        self._left = {}
        lists = query_lists(**data, who=f"The scorer {together[number]}")
        warn_of_fitted(data["y_score"], lists.grouping.ids, lists.grouping.sizes)
        self._weights = lists.weights
        try:
            self._left = dict(enumerate(per_query(lists, [metric.computation for metric in together])))
        except ValueError:
            # A metric that refuses these labels fails in its own scorer, not in those of the others.
            self._left = {number: per_query(lists, [together[number].computation])[0]}


def _to_arrays(data: Sequence[Any]) -> list[NDArray[Any] | None]:
    try:
        return [None if part is None else np.asarray(part) for part in data]
    except ValueError:  # ragged, which equals nothing; the checks to come say what is wrong with it
        return []


def _same(arrays: list[NDArray[Any] | None], others: list[NDArray[Any] | None]) -> bool:
    return len(arrays) == len(others) and all(
        a is b if a is None or b is None else a.dtype == b.dtype and np.array_equal(a, b)
        for a, b in zip(arrays, others, strict=True)
    )


shared_results = SharedResults()

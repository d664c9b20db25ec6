"""Scorers for the ``scoring=`` of scikit-learn's model selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import sklearn
from sklearn.metrics import make_scorer

from skrank_metrics._fitted_queries import warn_of_fitted
from skrank_metrics._ids import missing_ids_message, resolve_ids
from skrank_metrics._metric import BoundMetric
from skrank_metrics._parse import get_metric
from skrank_metrics._registry import get_metric_names
from skrank_metrics._response import RESPONSE_METHODS, one_a_class_message
from skrank_metrics._search_errors import fail_in_search
from skrank_metrics._shared_results import shared_results
from skrank_metrics._validation import NaNScoreError, to_array

__all__ = ["get_ranking_scorer", "get_ranking_scorer_names", "make_ranking_scorer", "ranking_scorers"]


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
        try:
            return self._score(y_true, y_score, resolve_ids(y_true, qid=qid, groups=groups)[0], sample_weight)
        except NaNScoreError:
            raise
        except (TypeError, ValueError) as error:
            return cast(float, fail_in_search(error))

    def _score(self, y_true: Any, y_score: Any, ids: Any, sample_weight: Any) -> float:
        if ids is None:
            raise TypeError(missing_ids_message(f"The scorer {self.metric}"))
        scores = to_array(y_score, "y_score")
        if scores.ndim == 2:
            raise ValueError(one_a_class_message(scores.shape[1]) + ", or pass response_method='predict'.")
        warn_of_fitted(y_score, ids)
        result, weights = shared_results.take(self.together, self.number, (y_true, y_score, ids, sample_weight))
        value = float(self.metric.aggregate(result, weights))
        if np.isnan(value):  # of every candidate, so that a search would take the first one
            raise ValueError(
                f"y_true must leave a query for which {self.metric} is defined where replace_undefined_by is nan; got "
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

"""Scorers for the ``scoring=`` of scikit-learn's model selection."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.metrics import check_scoring, get_scorer_names, make_scorer
from sklearn.pipeline import Pipeline

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.from_rows import documents_from_rows, rank_rows
from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    Mask,
    NaNScoreError,
    check_mask,
    to_array,
    to_float64,
)
from skrank_metrics._input.columns import document_columns
from skrank_metrics._input.parameters import check_choice
from skrank_metrics._input.query_ids import carried, named_columns
from skrank_metrics._sklearn_internals import (
    check_rows,
    copy_with_function,
    fail_in_search,
    given_to_scorer,
    how_to_pass_ids,
    kept_for_this_call,
    score_function,
    warn_of_cut_queries,
    warn_of_fitted,
)
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import bind_metrics, get_metric

Returned: TypeAlias = Literal["all", "scored"]
# Rankers only have predict. The labels predicted by a classifier would tie most documents, so predict comes last.
RESPONSE_METHODS = ("decision_function", "predict_proba", "predict")
# Weights are also for fit, so their request is left open: if they are passed but neither requested nor refused,
# scikit-learn raises an error.
REQUESTS = {
    "qid": True,
    "groups": True,
    "retrieved": True,
    "judged": True,
    "documents": True,
    "sample_weight": None,
}


# Names that scikit-learn and this package understand as different metrics, and what they are called for rankings.
ALSO_CLASSIFICATION = {
    "accuracy": "hit_rate",
    "f1": "f1",
    "precision": "precision",
    "recall": "recall",
}


class QueryScores(NamedTuple):
    """Values per query behind a score: larger is better, and undefined values are replaced.

    Of several candidates, ``values`` and ``defined`` have one row per candidate: whether a metric is defined for a
    query can depend on the ranking.
    """

    ids: NDArray[Any]
    first_rows: IntArray  # the first row of each query, among the scored rows
    values: FloatArray
    defined: Mask
    weights: FloatArray | None
    groups: IntArray  # numbers of what is independent: of the queries, or of groups of them


@dataclass(frozen=True)
class RankingScore:
    """The score function of a scorer: finds the query ids and computes the metric."""

    together: tuple[BoundMetric, ...]  # the metrics of all scorers made in one call
    number: int  # of this metric among them
    caller: str = ""  # name of the caller, if it is not a scorer
    kept: list[QueryScores] | None = None  # where to put the values behind each score
    declines: bool = False  # whether documents with a score of NaN or -inf are not ranked

    @property
    def metric(self) -> BoundMetric:
        """The metric to compute."""
        return self.together[self.number]

    @property
    def __name__(self) -> str:
        return str(self.metric)

    def __call__(
        self, y_true: Any, y_score: Any, *, X: Any = None, sample_weight: Any = None, **columns: Any
    ) -> Any:
        """Compute the metric on predictions; scikit-learn looks for sample_weight in the signature."""
        columns["sample_weight"] = sample_weight
        try:
            for unknown in columns.keys() - REQUESTS.keys():
                raise TypeError(
                    f"{unknown} must not be requested by a ranking scorer, which takes {', '.join(REQUESTS)}."
                )
            rows = {name: columns.get(name) for name in REQUESTS}
            ranking, result = self._evaluated(y_true, y_score, X, rows)
            value = self._mean(ranking.documents, result)
        except NaNScoreError:
            # This is the fault of one candidate, which gets the error_score.
            raise
        except (TypeError, ValueError) as error:
            return fail_in_search(error)
        if self.kept is not None:
            self.kept.append(self._values(ranking.documents, result))
        return value

    def _mean(self, documents: Documents, result: PerQuery) -> float:
        value = float(self.metric.aggregate(result, documents.weights))
        # It would be NaN for all candidates, so a search would pick the first one.
        if np.isnan(value):
            raise ValueError(
                f"{self.metric} is undefined for all scored queries, and replace_undefined_by is nan. Set "
                "replace_undefined_by=0.0, or balance the folds with QueryKFold(stratify='relevance')."
            )
        return value

    def _values(self, documents: Documents, result: PerQuery) -> QueryScores:
        values = np.asarray(self.metric.aggregate(result, None, average=None))
        if not self.metric.greater_is_better:
            values = 0.0 - values
        queries, defined = documents.grouping, ~np.isnan(result.values)
        rows = queries.first_rows
        return QueryScores(queries.ids, rows, values, defined, documents.weights, rows)

    def _evaluated(
        self, y_true: Any, y_score: Any, X: Any, columns: dict[str, Any]
    ) -> tuple[Ranking, PerQuery]:
        """The scored documents, and the values per query of this metric.

        In one call of scikit-learn, the values of all metrics that were made together are computed once. They are kept
        for the time of that call, in which the scorers of a dict get the very same objects.
        """
        X = given_to_scorer("X") if X is None else X
        given = (self.together, y_true, y_score, X, *columns.values())
        kept = kept_for_this_call()
        before, ranking, results = kept.get("evaluated", ((), None, {}))
        # Not all metrics have results if the labels do not allow one of them.
        if self.number in results and all(map(operator.is_, given, before)):
            return ranking, results[self.number]
        ranking = self._ranking(y_true, y_score, X, columns)
        results = self._results(ranking)
        kept["evaluated"] = given, ranking, results
        return ranking, results[self.number]

    def _results(self, ranking: Ranking) -> dict[int, PerQuery]:
        try:
            found = per_query(ranking, [metric.computation for metric in self.together])
        except ValueError:
            # Another metric refuses the labels, which its own scorer will say.
            return {self.number: per_query(ranking, [self.metric.computation])[0]}
        return dict(enumerate(found))

    def _ranking(self, y_true: Any, y_score: Any, X: Any, columns: dict[str, Any]) -> Ranking:
        documents = document_columns(columns.pop("documents"))
        ids = {name: columns.pop(name) for name in ("qid", "groups")}
        masks = carried(y_true, **columns)
        beside = named_columns(documents=documents)
        rows = check_rows(X, y_true=y_true, **masks, **ids, **beside)
        documents = {name: rows.pop(of) for name, of in zip(documents, beside, strict=True)}
        groups, retrieved = rows.pop("groups"), rows.pop("retrieved")
        scores = one_column(y_score)
        if self.declines:
            scores = to_float64(y_score, "y_score")
            retrieved = returned(scores, retrieved)
        truth = documents_from_rows(
            X=X,
            **rows,
            documents=documents,
            ids_as_groups=groups,
            beside={"y_score": scores, "retrieved": retrieved},
            caller=self.caller or f"The scorer {self.metric}",
            hint=how_to_pass_ids("qid" if self.caller else ""),
        )
        for column in self.metric.computation.documents:
            if column not in truth.columns and not self.caller:
                raise ValueError(
                    f"metric {self.metric.record.name!r} needs documents=... with the column {column!r}. Pass the "
                    f"labels as with_qid(y, qid, documents={{{column!r}: ...}})."
                )
        ranking = rank_rows(truth, scores, retrieved=retrieved)
        warn_of_cut_queries(len(scores), "a test set", **ids)
        warn_of_fitted(y_score, truth.queries.ids, truth.grouping.sizes)
        return ranking


def returned(scores: FloatArray, retrieved: Any) -> Mask:
    """The retrieved documents that a model did not decline by a score of NaN or -inf."""
    mask: Mask = scores > -np.inf
    return mask if retrieved is None else mask & check_mask(retrieved, "retrieved", scores.shape)


def keep_values(scorer: Any, kept: list[QueryScores]) -> Any:
    """Copy a scorer of this package such that it puts the values per query behind each score into a list."""
    return copy_with_function(scorer, replace(score_function(scorer), kept=kept))


def scorers_by_name(scoring: Any, estimator: Any) -> tuple[dict[str, Any], bool]:
    """Scorers that a ``scoring=`` of this package means, and whether there are several, which have names.

    Strings name metrics of this package or of scikit-learn; the few names that both have are refused. As in
    scikit-learn, a single scorer is called "score".
    """
    if isinstance(scoring, list | tuple | set) and set(map(type, scoring)) == {str}:
        names = list(map(check_name_in_scoring, scoring))
        is_known = set(names) <= set(get_scorer_names())
        scoring = dict(zip(names, names, strict=True)) if is_known else ranking_scorers(*names)
    if isinstance(scoring, Mapping) and scoring:
        return {name: _scorer(one, estimator) for name, one in scoring.items()}, True
    return {"score": _scorer(scoring, estimator)}, False


def _scorer(scoring: Any, estimator: Any) -> Any:
    if isinstance(scoring, str) and check_name_in_scoring(scoring) not in get_scorer_names():
        return make_ranking_scorer(scoring)
    if scoring is None:
        while isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        # The score method of a QueryRanker is this metric.
        metric = getattr(estimator, "_scored_by", None)
        if metric is not None:
            return make_ranking_scorer(metric)
    return check_scoring(estimator, scoring)


def check_name_in_scoring(name: Any) -> Any:
    """Refuse a name of scikit-learn's metrics of classification that means another metric for rankings."""
    if name in ALSO_CLASSIFICATION:
        raise ValueError(
            f"scoring={name!r} can mean a metric of rankings, or scikit-learn's metric of classification. Pass "
            f"make_ranking_scorer({ALSO_CLASSIFICATION[name]!r}), or sklearn.metrics.get_scorer({name!r})."
        )
    return name


def make_ranking_scorer(
    metric: MetricLike,
    *,
    response_method: str | Sequence[str] = RESPONSE_METHODS,
    convention: ConventionName = "sklearn",
    retrieved: Returned = "all",
    **params: Any,
) -> Any:
    """Make a scorer of a ranking metric, for ``scoring=`` in scikit-learn's model selection.

    The scorer takes the query ids of a fold from ``qid``, else from the index level "qid" of ``y``, else from
    ``groups``; likewise ``retrieved`` and ``judged``, the masks of the metric functions. It requests all of these, so
    metadata routing needs no set_score_request. Without routing, no arguments reach a scorer: pass
    ``with_qid(y, qid, judged=judged)`` as ``y``. It warns if queries of the fit of a QueryRanker are scored.

    Parameters
    ----------
    metric : str, metric function or bound metric
        Metric to compute, as in get_metric.
    response_method : str or sequence of str, default=("decision_function", "predict_proba", "predict")
        Method of the estimator that gives the scores. If there are several, the first that the estimator has.
    convention : str, default="sklearn"
        As in get_metric.
    retrieved : {"all", "scored"}, default="all"
        With "scored", a model declines documents by a score of NaN or -inf: they are not ranked, but stay in the ideal,
        as in ``evaluate(retrieved=...)``. With "all", -inf is the last rank, and NaN is an error.
    **params
        Parameters of the metric, such as ``k=10`` or ``gain="exp2"``.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y)``; larger is better.

    Raises
    ------
    TypeError, ValueError
        If the metric, a parameter or its value is unknown.

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
    bound = get_metric(metric, convention=convention, **params)
    return _scorers_of_metrics([bound], response_method, retrieved)[0]


def ranking_scorers(
    *names: MetricLike | Mapping[str, MetricLike],
    convention: ConventionName = "sklearn",
    response_method: str | Sequence[str] = RESPONSE_METHODS,
    retrieved: Returned = "all",
) -> dict[str, Any]:
    """Make a dict of scorers that share one prediction and one ranking.

    Parameters
    ----------
    *names : str, metric functions or bound metrics
        Metrics to compute, as in evaluate; or the dict that get_metrics returns.
    convention, response_method, retrieved : object
        As in make_ranking_scorer, for all metrics.

    Returns
    -------
    scorers : dict of str to callable
        Scorers for ``scoring=``, keyed by the names as given.

    Raises
    ------
    ValueError
        If there are no names or a metric is unknown.

    Examples
    --------
    >>> from skrank_metrics import ranking_scorers
    >>> list(ranking_scorers("ndcg@10", "map"))
    ['ndcg@10', 'map']
    """
    of_dict = len(names) == 1 and isinstance(names[0], Mapping)
    bound = bind_metrics(names[0] if of_dict else names, convention)
    scorers = _scorers_of_metrics(list(bound.values()), response_method, retrieved)
    return dict(zip(bound, scorers, strict=True))


def _scorers_of_metrics(
    metrics: list[BoundMetric], response_method: Any, retrieved: str
) -> list[Any]:
    declines = check_choice(retrieved, "retrieved", ("all", "scored")) == "scored"
    for metric in metrics:
        metric.check_one_value()
    together = tuple(metrics)
    scorers = []
    # A scorer keeps its requests outside the context, where they do no harm.
    with sklearn.config_context(enable_metadata_routing=True):
        for number, metric in enumerate(metrics):
            score = RankingScore(together, number, declines=declines)
            scorer = make_scorer(
                score, response_method=response_method, greater_is_better=metric.greater_is_better
            )
            scorers.append(scorer.set_score_request(**REQUESTS))
    return scorers


def one_column(y_score: Any) -> Any:
    """Refuse the several columns of a classifier."""
    scores = to_array(y_score, "y_score")
    if scores.ndim == 2:
        raise ValueError(
            f"y_score must hold one score per document; got {scores.shape[1]} columns, one per class. Wrap the model "
            "in QueryRanker, which ranks by the expected grade, or pass response_method='predict'."
        )
    return y_score

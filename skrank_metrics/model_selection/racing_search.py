"""A grid search that drops candidates after a few folds if they are significantly worse."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.utils import Bunch, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skrank_metrics._input.arrays import (
    check_choice,
    check_int,
    check_number,
    check_seed,
)
from skrank_metrics._input.query_ids import without_labels
from skrank_metrics._output.result import counted
from skrank_metrics._sklearn_internals import check_rows, routing_enabled
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.model_selection._callbacks import CallbackSupportMixin, start_task, with_callbacks
from skrank_metrics.model_selection._fitted_search import metric_of_scorer
from skrank_metrics.model_selection._fold_scores import Task, results_table, with_params
from skrank_metrics.model_selection._race import Race, Rules
from skrank_metrics.model_selection._rounds import Rounds, Splits, check_rungs, departures, stages_of, whole_splits
from skrank_metrics.model_selection.scorers import get_ranking_scorer, ranking_scorers
from skrank_metrics.model_selection.within_noise import WithinNoise
from skrank_metrics.reports._alignment import check_by_query
from skrank_metrics.reports.mean_intervals import check_confidence
from skrank_metrics.splitters.query_kfold import QueryKFold


def _best_has(name: str) -> Callable[[Any], bool]:
    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(f"{name} needs the best candidate to be fitted again; got refit=False.")
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


def _delegated(name: str) -> Any:
    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    method.__name__, method.__doc__ = name, f"Call {name} of the best estimator."
    return available_if(_best_has(name))(method)


class RacingSearchCV(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Grid search that stops candidates once they are significantly worse than the leader, query by query.

    All candidates run the first fold. After each fold, every candidate is compared with the leader, the candidate with
    the best mean so far, on all queries tested so far. Candidates that are significantly behind skip the other folds.
    The leader can change. At the end, the best mean over all folds wins, as in GridSearchCV, which usually picks the
    same candidate but needs two to three times as many fits.

    The probability that the winner of the grid search leaves is at most 1 - confidence, over all rounds and candidates,
    if the queries still to come are like the previous ones. The bound is not exact, since they are scored by other
    models, whose training queries overlap; docs/measurements.md has simulations.

    Parameters
    ----------
    estimator : estimator object
        Model to fit, such as QueryRanker(...). It is cloned.
    param_grid : dict or list of dicts
        Values to try by parameter name, as in GridSearchCV. With ``n_iter``, also distributions, as in
        RandomizedSearchCV.
    scoring : str, scorer of this package, sequence of str, or dict
        Metric to optimize: a name such as "ndcg@10", a scorer, or several of them. Candidates race by one of them,
        which must be a mean over queries. Scorers of other packages can only be reported in addition.
    cv : splitter, int, iterable of (train, test) or None
        As in GridSearchCV; None means QueryKFold(5). Folds must keep queries whole.
    refit : bool, str or callable, default=True
        As in GridSearchCV. With several metrics, the name of the one to race by, or a callable. Candidates then race by
        the attribute ``metric`` of the callable if it has one, as within_noise does, else by the first metric.
    n_iter : int, default=None
        Number of candidates to draw at random. None means the whole grid.
    n_jobs : int, default=None
        Number of candidates to fit in parallel, with the backend of joblib.
    confidence : float, default=0.95
        One minus the largest probability that the winner of the grid search leaves, in (0, 1).
    indifference : float, default=0.0
        Difference that does not matter. A candidate also leaves if it is significantly less than this ahead of the
        leader. This saves more fits, but any of the candidates that differ by less may win.
    min_queries : int, default=30
        Number of queries with a defined value that must be tested before any candidate can leave.
    max_fits : int, default=None
        Largest number of fits on folds. If it does not suffice, the candidates with the worst means leave without a
        test.
    rungs : sequence of float, default=None
        Shares of the training queries of the first fold to fit on before the rounds on all of them, such as
        ``(1 / 8, 1 / 2, 1)``; the last must be 1. Whole queries are drawn. This saves more fits, but models that need
        many queries look worse on small shares, and the bound on losing the winner of the grid search no longer holds.
    rung_margin : float, default=0.01
        Candidates leave on a rung if they are significantly behind by more than this. Only with rungs.
    error_score : "raise" or float, default=nan
        Score of a candidate on a fold in which it fails or predicts NaN, after which it leaves. "raise" aborts the
        search. Invalid ids or labels always abort it.
    verbose : int, default=0
        1 reports the rounds, larger values also the fits.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing candidates with n_iter, and queries with rungs; otherwise it must be None.

    Attributes
    ----------
    cv_results_ : dict of str to array
        One row per candidate, as in GridSearchCV. If a candidate did not run a fold, its score there and its mean are
        NaN. "left_after" is the number of folds after which it left, NaN if it did not; "left_because" is "behind",
        "failed", "max_fits", "behind on 0.125 of the training queries" or "". The other columns describe its last
        comparison with the leader: "leader" is the row of the leader (-1 if never compared), "difference" the lead of
        the leader, with the ends of its interval "low" and "high", and "p_adjusted" the p-value, adjusted for rounds
        and candidates.
    best_estimator_ : estimator
        The best candidate, fitted on all rows. Missing with refit=False.
    best_index_ : int
        Row of the best candidate in ``cv_results_``.
    best_params_ : dict
        Parameters of the best candidate.
    best_score_ : float
        Mean score of the best candidate over folds. Missing if ``refit`` is callable.
    n_fits_ : int or float
        Number of fits on folds; a grid search needs the number of candidates times ``n_splits_``. Fits on rungs count
        as their share of the training queries.
    n_splits_ : int
        Number of folds.
    scorer_ : callable or dict of str to callable
        As in GridSearchCV.
    multimetric_ : bool
        Whether there are several metrics.
    refit_time_ : float
        Seconds it took to fit the best estimator. Missing with refit=False.

    See Also
    --------
    search_report : Test which candidates are significantly different from the best.

    References
    ----------
    O. Maron, A. W. Moore (1994). Hoeffding races. Advances in Neural Information Processing Systems 6.
    https://proceedings.neurips.cc/paper/1993/hash/02a32ad2669e6fe298e607fe7cc0e1a0-Abstract.html

    Examples
    --------
    The first candidate leaves, since it is behind on the 50 queries of the first fold:

    >>> from sklearn.linear_model import Ridge
    >>> from skrank_metrics import QueryKFold, QueryRanker, RacingSearchCV
    >>> from skrank_metrics.datasets import make_ranking
    >>> import sklearn
    >>> X, y, qid = make_ranking(150, random_state=0)
    >>> grid = {"estimator__alpha": [1.0, 1e9, 1e12]}
    >>> search = RacingSearchCV(QueryRanker(Ridge()), grid, scoring="ndcg@10", cv=QueryKFold(3))
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     search = search.fit(X, y, qid=qid)

    >>> search.n_fits_
    7
    >>> search.cv_results_["left_after"].tolist()
    [1.0, nan, nan]
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any,
        cv: Any,
        refit: Any = True,
        n_iter: int | None = None,
        n_jobs: int | None = None,
        confidence: float = 0.95,
        indifference: float = 0.0,
        min_queries: int = 30,
        max_fits: int | None = None,
        rungs: Sequence[float] | None = None,
        rung_margin: float = 0.01,
        error_score: Any = np.nan,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.n_iter = n_iter
        self.n_jobs = n_jobs
        self.confidence = confidence
        self.indifference = indifference
        self.min_queries = min_queries
        self.max_fits = max_fits
        self.rungs = rungs
        self.rung_margin = rung_margin
        self.error_score = error_score
        self.verbose = verbose
        self.random_state = random_state

    predict = _delegated("predict")
    predict_proba = _delegated("predict_proba")
    predict_log_proba = _delegated("predict_log_proba")
    decision_function = _delegated("decision_function")
    score_samples = _delegated("score_samples")
    transform = _delegated("transform")
    inverse_transform = _delegated("inverse_transform")

    @property
    def classes_(self) -> Any:
        """Labels of a classifier."""
        _best_has("classes_")(self)
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> Any:
        """Number of features."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit, or with refit=False.")
        return self.best_estimator_.n_features_in_

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = deepcopy(inner.classifier_tags), deepcopy(inner.regressor_tags)
        tags.target_tags.required, tags.input_tags.sparse = True, inner.input_tags.sparse
        return tags

    def get_metadata_routing(self) -> Any:
        """Get the metadata routing of the search, its estimator, scorers and splitter.

        Returns
        -------
        router : MetadataRouter
            As in GridSearchCV.
        """
        router = MetadataRouter(owner=self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        scored = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router.add(scorer=check_scoring(self.estimator, self._scorers()), method_mapping=scored)
        splitter = MethodMapping().add(caller="fit", callee="split")
        return router.add(splitter=self._splitter(), method_mapping=splitter)

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, **params: Any) -> RacingSearchCV:
        """Race the candidates, and fit the best one on all rows.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,)
            Relevance labels. May carry the query ids in an index level named "qid", see with_qid.
        **params : dict of str to object
            Metadata, as in GridSearchCV. With metadata routing, pass ``qid`` or ``groups`` and whatever the estimator
            requests. Without it, ``groups`` is passed to the splitter, everything else to the ``fit`` of the estimator,
            and ``sample_weight`` also to the scorers.

        Returns
        -------
        self : RacingSearchCV
            This object.

        Raises
        ------
        TypeError
            If the query ids are missing, or a parameter has the wrong type.
        ValueError
            If ids or labels are invalid, a fold cuts queries, there are no candidates, the metric to race by has no
            values per query, a parameter is out of range, or all candidates fail.
        """
        scorers = self._scorers()
        key = self._race_key(scorers)
        metric = _metric_per_query(scorers[key], key)
        candidates = self._candidates()
        X, y = indexable(X, y)
        columns = check_rows(X, y=y, **params)  # in folds, a default index no longer counts from 0
        labels = without_labels(y)
        routed = self._routed({name: without_labels(value) for name, value in params.items()})
        splits, queries, n_queries = whole_splits(self._splitter(), X, y, columns, routed.splitter.split)
        shares = check_rungs(self.rungs, self.max_fits)
        stages = stages_of(splits, shares, queries, self.random_state)
        race = Race(self._rules(len(candidates), len(splits), n_queries, len(shares)))
        task = Task(clone(self.estimator), scorers, key, routed.estimator.fit, routed.scorer.score, self.error_score)
        with self._subtask(None, "fit", max_subtasks=1 + bool(self.refit)) as root:
            with self._subtask(root, "race", max_subtasks=len(stages)) as context:
                rounds = Rounds(race, task, candidates, self.n_jobs, self.verbose)
                folds = rounds.run(X, labels, stages, lambda: self._subtask(context, "round"))
            self.cv_results_ = results_table(candidates, folds) | departures(race, metric)
            self._choose(race, key, splits)
            self.multimetric_ = self._is_multimetric()
            self.scorer_: Any = scorers if self.multimetric_ else scorers[key]
            self.n_splits_, self.n_fits_ = len(splits), race.n_fits
            if self.refit:
                with self._subtask(root, "refit-with-best-params"):
                    self._refit(X, y, routed.estimator.fit)
        return self

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score the best estimator by the metric that the candidates raced by.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,)
            Relevance labels. May carry the query ids in an index level named "qid".
        **params : dict of str to object
            Metadata for the scorer. Only with metadata routing.

        Returns
        -------
        score : float
            Larger is better.

        Raises
        ------
        TypeError
            If the query ids are missing.
        ValueError
            If ids or labels are invalid, or metadata is passed without metadata routing.
        """
        _best_has("score")(self)
        check_is_fitted(self)
        if params and not routing_enabled():
            raise ValueError(
                f"params must be empty without metadata routing; got {', '.join(params)}. Pass with_qid(y, qid) as "
                "y, or call sklearn.set_config(enable_metadata_routing=True)."
            )
        given = process_routing(self, "score", **params).scorer.score if params else {}
        scorer = self.scorer_[self._race_key(self.scorer_)] if self.multimetric_ else self.scorer_
        return float(scorer(self.best_estimator_, X, y, **given))

    def _is_multimetric(self) -> bool:
        return isinstance(self.scoring, Mapping | list | tuple | set)

    def _scorers(self) -> dict[str, Any]:
        """Scorers by name; a single one is named as in GridSearchCV."""
        if isinstance(self.scoring, Mapping):
            scorers = {name: _scorer(scoring) for name, scoring in self.scoring.items()}
        elif isinstance(self.scoring, list | tuple | set):
            scorers = ranking_scorers(*self.scoring)
        else:
            scorers = {"score": _scorer(self.scoring)}
        if not scorers:
            raise ValueError("scoring must hold at least one scorer; got an empty dict.")
        return scorers

    def _race_key(self, scorers: Mapping[str, Any]) -> str:
        """Name of the metric to race by."""
        first = next(iter(scorers))
        if not self._is_multimetric():
            return first
        if callable(self.refit) or self.refit is False:
            named = str(getattr(self.refit, "metric", None))
            return named if named in scorers else first
        if not isinstance(self.refit, str):
            raise ValueError(
                f"refit must be the name of a metric, a callable or False if there are several metrics; got "
                f"{self.refit!r}. Pass refit={first!r}."
            )
        return str(check_choice(self.refit, "refit", scorers))

    def _rules(self, n_candidates: int, n_rounds: int, n_queries: int | None, n_rungs: int) -> Rules:
        least, max_fits = n_candidates + n_rounds - 1, check_int(self.max_fits, "max_fits", 1, or_none=True)
        if max_fits is not None and max_fits < least:
            raise ValueError(
                f"max_fits must be at least {least}, so that {counted(n_candidates, 'candidate')} can run the first "
                f"fold and one the other {n_rounds - 1}; got {max_fits}."
            )
        return Rules(
            n_rounds,
            n_candidates,
            n_queries,
            check_confidence(self.confidence),
            check_number(self.indifference, "indifference", "[0, inf)"),
            int(check_int(self.min_queries, "min_queries", 2) or 0),
            max_fits,
            n_rungs,
            float(check_number(self.rung_margin, "rung_margin", "[0, inf)")),
        )

    def _candidates(self) -> list[dict[str, Any]]:
        if self.n_iter is None and self.rungs is None and self.random_state is not None:
            raise ValueError(
                "random_state must be None without n_iter and rungs, since nothing is drawn at random; got "
                f"{self.random_state!r}. It does not seed cv or the estimator."
            )
        check_seed(self.random_state)
        check_int(self.n_iter, "n_iter", 1, or_none=True)
        if self.n_iter is None:
            candidates = list(ParameterGrid(self.param_grid))
        else:
            candidates = list(ParameterSampler(self.param_grid, self.n_iter, random_state=self.random_state))
        if not candidates:
            raise ValueError(f"param_grid must hold at least one candidate; got {self.param_grid!r}.")
        return candidates

    def _routed(self, params: dict[str, Any]) -> Any:
        if not isinstance(self.error_score, Real) and self.error_score != "raise":
            raise ValueError(f"error_score must be 'raise' or a number; got {self.error_score!r}.")
        if routing_enabled():
            return process_routing(self, "fit", **params)
        groups = params.pop("groups", None)
        weights = {"sample_weight": params["sample_weight"]} if params.get("sample_weight") is not None else {}
        return Bunch(estimator=Bunch(fit=params), splitter=Bunch(split={"groups": groups}), scorer=Bunch(score=weights))

    def _splitter(self) -> Any:
        return QueryKFold(5) if self.cv is None else check_cv(self.cv)

    def _choose(self, race: Race, key: str, splits: Splits) -> None:
        """Choose the best candidate, as GridSearchCV does."""
        found = self.cv_results_
        if isinstance(self.refit, WithinNoise):
            self.best_index_ = self.refit.choose(found, splits)
        elif callable(self.refit):
            self.best_index_ = self.refit(found)
            if not isinstance(self.best_index_, Integral):
                raise TypeError(f"refit must return a row of cv_results_; got {self.best_index_!r}.")
            if not 0 <= self.best_index_ < race.rules.n_candidates:
                raise IndexError(f"refit must return a row below {race.rules.n_candidates}; got {self.best_index_}.")
        else:
            self.best_index_ = int(found[f"rank_test_{key}"].argmin())
        if not callable(self.refit):
            self.best_score_ = found[f"mean_test_{key}"][self.best_index_]
        self.best_params_ = found["params"][self.best_index_]

    def _refit(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        self.best_estimator_ = with_params(self.estimator, self.best_params_)
        started = time.time()
        self.best_estimator_.fit(X, y, **fit_params)
        self.refit_time_ = time.time() - started
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    @contextmanager
    def _subtask(self, parent: Any, name: str, **size: Any) -> Iterator[Any]:
        """Tell the callbacks of scikit-learn where a task begins and ends. The fit itself has no parent."""
        context = start_task(self, parent, name, **size)
        yield context
        if context:
            context.call_on_fit_task_end(estimator=self)


def _scorer(scoring: Any) -> Any:
    if not isinstance(scoring, str):
        return scoring
    return get_scorer(scoring) if scoring in get_scorer_names() else get_ranking_scorer(scoring)


def _metric_per_query(scorer: Any, key: str) -> BoundMetric:
    metric = metric_of_scorer(scorer)
    if metric is None:
        raise ValueError(
            f"scoring must have a scorer of skrank_metrics to race by, since others have no values per query; got "
            f"{scorer!r}. Pass a name such as 'ndcg@10', or make_ranking_scorer(...)."
        )
    check_by_query(str(metric), metric)
    return metric

"""A grid search that drops candidates after a few folds if they are significantly worse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv

# The base of all searches of scikit-learn, which documents how to subclass it.
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

from skrank_metrics._input.parameters import check_int, check_number, check_seed
from skrank_metrics._input.query_ids import group_by_query
from skrank_metrics._input.types import Seed, Splits, SupportsFit
from skrank_metrics._output.progress import Progress
from skrank_metrics._output.result import counted
from skrank_metrics._sklearn_internals import how_to_pass_ids
from skrank_metrics.model_selection._fitted_search import metric_of_scorer, named_by, spelled_params
from skrank_metrics.model_selection._race import Race
from skrank_metrics.model_selection._rounds import Folds, Rounds, Watched
from skrank_metrics.model_selection.scorers import (
    QueryScores,
    keep_values,
    make_ranking_scorer,
    ranking_scorers,
)
from skrank_metrics.model_selection.tree_paths import candidates_of, groups_of
from skrank_metrics.reports.mean_intervals import check_by_query
from skrank_metrics.splitters.audit import check_splits, split_rows
from skrank_metrics.splitters.query_kfold import QueryKFold


class RacingSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Grid search that drops candidates once they are significantly worse than the leader, query by query.

    All candidates run the first fold. After each fold, every candidate is compared with the leader, the candidate with
    the best mean so far, on all queries tested so far, and skips the other folds if it is significantly behind. At the
    end, the best mean over all folds wins, as in GridSearchCV. If ``fit`` gets ``groups`` beside the query ids, such as
    users, the queries of a group count as one observation.

    Candidates that differ only in the number of trees share one fit per fold, that of the largest remaining model: its
    first trees are the smaller models, to the bit, if the class and all parameters are among those that the guide
    to boosters lists. As a check, the smallest model of each path is also fitted on the first fold, and compared.
    Other candidates are fitted one by one.

    Parameters
    ----------
    estimator : estimator object
        Model to fit, such as QueryRanker(...). It is cloned.
    param_grid : dict or list of dicts
        Values to try by parameter name, as in GridSearchCV. With ``n_iter``, also distributions, as in
        RandomizedSearchCV.
    scoring : str, callable, sequence of str, dict or None, default=None
        As in GridSearchCV, and names such as "ndcg@10". Candidates race by one metric, which must be of this package.
        None means the score method of the estimator, which is NDCG@10 for QueryRanker.
    cv : splitter, int, iterable of (train, test) or None, default=None
        As in GridSearchCV, except that None means QueryKFold(5). In a race, folds must keep queries whole.
    refit : bool, str or callable, default=True
        As in GridSearchCV. It also says which of several metrics to race by: a name, or the attribute ``metric`` of a
        callable, as within_noise has, else the first.
    n_iter : int, default=None
        Number of candidates to draw at random. None means the whole grid.
    confidence : float or None, default=0.95
        What it bounds: the winner of GridSearchCV on these folds is dropped with a probability of about 1 -
        ``confidence`` at most. Tests count that queries vary, and that fits vary from fold to fold, which all
        candidates together show from the second fold on. After the first fold, fits are taken to vary three times as
        much as the mean of a fold does because of its queries; if they vary more, the winner is dropped more often.
        It says nothing about the truly best candidate, which GridSearchCV can miss, too. None means that no candidate
        is dropped: the results are those of GridSearchCV.
    min_queries : int, default=30
        Number of queries with a defined value to test before any candidate can be dropped.
    error_score : "raise" or float, default=nan
        Score of a candidate on a fold in which it fails, as in GridSearchCV. A race then drops it, unless all
        candidates fail in that fold.
    n_jobs, return_train_score, pre_dispatch, verbose, random_state : int, bool or str
        As in GridSearchCV and RandomizedSearchCV. In a race, ``verbose=1`` says on standard error how many folds are
        done, how long the rest takes, how many candidates remain, and which of them leads.

    Attributes
    ----------
    cv_results_ : dict of str to array
        One row per candidate, as in GridSearchCV. Scores of folds that a candidate did not run, and their mean, are
        NaN, so that it ranks last. A race adds "dropped_after" (number of folds, NaN if not dropped) and
        "dropped_because" ("behind", "failed" or ""), and of the last comparison with the leader its lead
        ("difference", a mean over folds) and "p_adjusted", for folds and candidates.
    n_fits_ : int
        Number of fits on folds, including the check of shared fits.
    best_estimator_, best_index_, best_params_, best_score_, n_splits_, scorer_, multimetric_, refit_time_
        As in GridSearchCV.

    References
    ----------
    O. Maron, A. W. Moore (1994). Hoeffding races. Advances in Neural Information Processing Systems 6.
    https://proceedings.neurips.cc/paper/1993/hash/02a32ad2669e6fe298e607fe7cc0e1a0-Abstract.html

    Examples
    --------
    The first candidate is dropped, since it is behind on the queries of the first two folds:

    >>> from sklearn.linear_model import Ridge
    >>> from skrank_metrics import QueryKFold, QueryRanker, with_qid
    >>> from skrank_metrics.model_selection import RacingSearchCV
    >>> from skrank_metrics.datasets import make_ranking
    >>> X, y, qid = make_ranking(150, random_state=0)
    >>> grid = {"estimator__alpha": [1.0, 1e9, 1e12]}
    >>> search = RacingSearchCV(QueryRanker(Ridge()), grid, scoring="ndcg@10", cv=QueryKFold(4))
    >>> search = search.fit(X, with_qid(y, qid))
    >>> search.n_fits_, search.cv_results_["dropped_after"].tolist()
    (10, [2.0, nan, nan])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        # Names of metrics of this package are valid, too, so scikit-learn must not check them.
        "scoring": "no_validation",
    }
    cv: Any
    verbose: int
    # During a fit: the scorers that also keep values per query.
    _watched: Any = None

    def __init__(
        self,
        estimator: SupportsFit,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        scoring: Any = None,
        cv: Splits = None,
        refit: bool | str | Callable[..., Any] = True,
        n_iter: int | None = None,
        confidence: float | None = 0.95,
        min_queries: int = 30,
        error_score: float | Literal["raise"] = np.nan,
        n_jobs: int | None = None,
        return_train_score: bool = False,
        pre_dispatch: int | str = "2*n_jobs",
        verbose: int = 0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_grid = param_grid
        self.n_iter = n_iter
        self.confidence = confidence
        self.min_queries = min_queries
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> RacingSearchCV:
        """Race the candidates, and fit the best one on all rows.

        Parameters
        ----------
        X, y : array-like of shape (n_documents, n_features) and (n_documents,)
            Features, and relevance labels, which may carry the query ids, see with_qid.
        **params : dict of str to object
            As in GridSearchCV, and with metadata routing ``qid`` or ``groups``.

        Returns
        -------
        self : RacingSearchCV
            This object.

        Raises
        ------
        TypeError, ValueError
            If query ids are missing, something is invalid, a fold cuts queries, the metric to race by has no values
            per query, or all candidates fail.
        """
        check_int(self.min_queries, "min_queries", 2)
        scorers, _ = self._get_scorers()
        several = hasattr(scorers, "_scorers")
        by_name = scorers._scorers if several else {"score": scorers}
        candidates = candidates_of(self.estimator, self._drawn(), params, by_name.values())
        watched = self._watch(by_name, has_paths=any(one.path for one in candidates))
        rows, labels = indexable(X, y)
        folds = self._split(self._splitter(y), rows, labels, params)
        groups = groups_of(candidates, range(len(candidates)))
        if self.confidence is None and len(groups) == len(candidates):
            # No fit depends on another one, so all of them may run at once.
            folds.fold = None
        given = self.cv, self.verbose
        # For the time of the fit, as scikit-learn looks for the first two in the search.
        self.cv, self._watched, self._candidates = folds, watched, candidates
        self._key = self._raced_by(by_name) if several else None
        try:
            super().fit(X, y, **params)
        finally:
            self.cv, self.verbose = given
            del self._watched, self._candidates, self._key
        self.n_splits_, self.scorer_ = len(folds.splits), by_name if several else scorers
        return self

    def _splitter(self, y: Any) -> Any:
        if self.cv is None:
            return QueryKFold(5)
        return check_cv(self.cv, y, classifier=is_classifier(self.estimator))

    def _split(self, cv: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Folds:
        """The folds, which must keep queries whole in a race."""
        ids = {name: params.get(name) for name in ("qid", "groups")}
        codes = None
        if self.confidence is None:
            splits = split_rows(cv, X, y, **ids)
        else:
            given = {"y": y, "hint": how_to_pass_ids(), **ids}
            n_rows = 0 if y is None else len(y)
            queries = group_by_query(n_rows, "RacingSearchCV", **given)
            units = group_by_query(n_rows, "RacingSearchCV", unit=True, **given)
            codes = units.codes
            # Splitters of scikit-learn do not look for ids in the index of y, so they get them as groups.
            ids = {"qid": queries.spread(queries.ids), "groups": units.spread(units.ids)}
            splits = split_rows(cv, X, y, **ids)
            check_splits(splits, cv, X, np.asarray(y), **ids)
        return Folds(cv, splits, codes)

    def _get_scorers(self) -> Any:
        """Scorers as in scikit-learn, and also those of names of this package; while fitting, they are watched."""
        # The search itself must keep the scoring that the user passed.
        translated = copy(self)
        translated.scoring = _as_scorers(self.scoring, self.estimator)
        scorers, refit_metric = super(RacingSearchCV, translated)._get_scorers()
        return self._watched or scorers, refit_metric

    def _raced_by(self, scorers: Mapping[str, Any]) -> str:
        """Name of the scorer to race by."""
        return named_by(self.refit, scorers) or next(iter(scorers))

    def _watch(self, scorers: Mapping[str, Any], *, has_paths: bool) -> Watched | None:
        """Scorers that keep values per query and score first trees; None if there is neither."""
        key = self._raced_by(scorers)
        metric = metric_of_scorer(scorers[key])
        if self.confidence is not None:
            check_number(self.confidence, "confidence", "(0, 1)")
            if metric is None:
                raise ValueError(
                    "scoring must have a scorer of skrank_metrics to race by, since others have no values per query; "
                    f"got {scorers[key]!r}. Pass a name such as 'ndcg@10', or make_ranking_scorer(...); with "
                    "confidence=None, any scorer will do."
                )
            check_by_query(str(metric), metric)
        if metric is None and not has_paths:
            return None
        watched = dict(scorers)
        if metric is not None:
            watched[key] = keep_values(watched[key])
        return Watched(scorers=watched, raise_exc=self.error_score == "raise")

    def _drawn(self) -> list[dict[str, Any]]:
        """The parameters of all candidates."""
        check_seed(self.random_state)
        if check_int(self.n_iter, "n_iter", 1, or_none=True) is None:
            return list(ParameterGrid(self.param_grid))
        return list(ParameterSampler(self.param_grid, self.n_iter, random_state=self.random_state))

    def _format_results(
        self, candidate_params: Any, n_splits: Any, out: Any, more_results: Any = None
    ) -> Any:
        """Pass on what ran so far; the table is made at the end of the search."""
        return {"out": out}

    def _run_search(self, evaluate_candidates: Any) -> None:
        folds, progress = self.cv, Progress(self.verbose)
        rounds = Rounds(folds, evaluate_candidates, self._candidates, self._watched, self._key)
        n_candidates, n_folds = len(rounds.candidates), len(folds.splits)
        if folds.fold is None:
            rounds.run_at_once()
        race = None
        if self.confidence is not None:
            sizes = [len(np.unique(folds.units[test])) for _, test in folds.splits]
            race = Race(n_candidates, np.array(sizes), self.confidence, self.min_queries)
            # scikit-learn would announce the fits of each fold.
            self.verbose = 0
        # Values per query, with one row per candidate and the rows of X: search_report needs no other fits.
        self._key_of_values = self._key or "score"
        self._fold_values: list[QueryScores] = []
        # Without candidates or folds, the first fit raises scikit-learn's error.
        with progress:
            for fold in range(max(1, n_folds)):
                if folds.fold is not None:
                    rounds.run(race.remaining if race else range(n_candidates), fold)
                scores, values = rounds.values(fold)
                if race:
                    race.finish_fold(scores, values)
                    remaining = counted(len(race.remaining), "candidate")
                    best = spelled_params(rounds.candidates[race.leader].params) or "the defaults"
                    further = f"; {remaining} remaining, best: {best}"
                    progress.say_done(fold + 1, n_folds, "folds fitted", further)
                self._fold_values.append(values)
        if rounds.error and not rounds.returned:
            raise rounds.error
        self.n_fits_ = rounds.n_fits
        # scikit-learn keeps what it returned last.
        rounds.returned.clear()
        rounds.returned.update(self._table(rounds, race, n_folds))

    def _table(self, rounds: Rounds, race: Race | None, n_folds: int) -> dict[str, Any]:
        """``cv_results_`` of scikit-learn; in a race, with what is known of dropped candidates."""
        params = [candidate.params for candidate in rounds.candidates]
        columns = race.columns if race else {}
        with warnings.catch_warnings():
            # The means of dropped candidates are not finite, which is no cause for a warning.
            if race and len(race.remaining) < len(params):
                warnings.filterwarnings(
                    "ignore", "One or more of the (test|train) scores are non-finite", UserWarning
                )
            return super()._format_results(params, n_folds, rounds.table(n_folds)) | columns


def _as_scorers(scoring: Any, estimator: Any) -> Any:
    """What scikit-learn takes for scoring, from names of metrics of this package, too."""
    if scoring is None:
        while isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        # QueryRanker.score is a metric of this package.
        return make_ranking_scorer("ndcg@10") if hasattr(estimator, "_shares_fits") else None
    known = set(get_scorer_names())
    if isinstance(scoring, str):
        return scoring if scoring in known else make_ranking_scorer(scoring)
    if isinstance(scoring, Mapping):
        return {name: _as_scorers(one, estimator) for name, one in scoring.items()}
    if isinstance(scoring, list | tuple | set) and set(map(type, scoring)) == {str}:
        return scoring if known.issuperset(scoring) else ranking_scorers(*scoring)
    return scoring

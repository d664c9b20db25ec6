"""Report which candidates of a fitted search are significantly different from the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._input.arrays import check_int, check_random_state
from skrank_metrics._input.query_ids import carried
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, p_text, plus_minus, signed
from skrank_metrics._sklearn_internals import passes_weights_to_scorers, response_method
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.model_selection._fitted_search import (
    check_search,
    cv_of,
    is_race,
    left_race,
    metric_of,
    metrics_of,
    ranked_rows,
    scorers_of,
    spelled,
)
from skrank_metrics.model_selection._fold_scores import with_params
from skrank_metrics.model_selection._without_routing import FittedWithoutRouting, was_routed
from skrank_metrics.model_selection.cross_evaluate import CrossEvaluation, QueriesTestedAgainError, cross_evaluate
from skrank_metrics.reports._alignment import check_by_query
from skrank_metrics.reports._standings import LETTERS
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.health import drawn_orders
from skrank_metrics.reports.mean_intervals import TESTS, weighting
from skrank_metrics.reports.pair import Pair

# Significance level of the tests against the best.
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Candidate:
    """One candidate of a search.

    Attributes
    ----------
    rank : int
        Rank by the metric; 1 is the best.
    params : dict of str to object
        Parameters.
    mean, std : dict of str to float
        Mean and standard deviation over folds, by name of the metric.
    index : int
        Row of ``cv_results_``.
    pair : Pair or None
        Comparison of the best candidate with this one, corrected for all pairs. None for the best itself and for
        candidates that were not fitted again.
    left : str
        When and why it left a race, such as "behind after fold 1"; "" if it did not.
    """

    rank: int
    params: dict[str, Any]
    mean: dict[str, float]
    std: dict[str, float]
    index: int
    pair: Pair | None
    left: str = ""

    @property
    def verdict(self) -> str:
        """Whether it is significantly different from the best, or why that is unknown."""
        if self.pair is not None:
            # Per query, even the best of the search may be behind.
            different = "worse" if self.pair.difference > 0 else "better"
            return different if self.pair.p_adjusted <= LEVEL else "no"
        if self.left:
            return self.left
        failed = np.isnan(list(self.mean.values())).any()
        return "best" if self.rank == 1 else "failed" if failed else "not tested"


@dataclass(frozen=True, repr=False, eq=False)
class SearchReport(Result):
    """The candidates of a search, best first.

    Prints as a table, also in notebooks, with the verdict, stars and letters of ``evaluation.leaderboard``.
    ``to_frame()`` gives one row per candidate, with its parameters, means and standard deviations over folds, and the
    lead of the best: "difference", "low", "high" and "p_adjusted", which are NaN if not tested. If a parameter has the
    name of another column, such as "rank", its column is called "param rank".

    Attributes
    ----------
    metric : str
        The metric that ranks the candidates. Distances are negated, as in the search, so that larger is better.
    candidates : list of Candidate
        Candidates, best first, with attributes ``rank``, ``params``, ``mean``, ``std``, ``index`` and ``pair``.
    evaluation : CrossEvaluation
        Evaluation of the candidates that were fitted again, by rank. It uses the response method and weights of the
        scorer that ranks them, and the metrics of all scorers that share these. Its reports can be passed to compare.
    changed : float
        Largest difference between the score of a fold here and in the search. Above 0 if folds or models are random, or
        if the data, the order of the rows or the weights differ from those of the search.
    """

    metric: str
    candidates: list[Candidate]
    evaluation: CrossEvaluation
    changed: float

    @property
    def verdict(self) -> str:
        """One sentence on which candidate to ship, from the leaderboard of ``evaluation``."""
        found, named = self.candidates, {_name(c): spelled(c.params) or "the defaults" for c in self.candidates}
        if len(set(named.values())) < len(named):  # long values are cut
            named = {name: name for name in named}
        first, n_tested = named[_name(found[0])], len(self.evaluation.reports)
        if n_tested < 2:
            return f"Ship {first}: no other candidate ran all folds."
        by = self.metric + (f" among the best {n_tested} of {len(found)} candidates" if n_tested < len(found) else "")
        board = self.evaluation.leaderboard
        of_search = f" The best of the search, by its mean over folds, is {first}." * (board.best != _name(found[0]))
        return board._decision(by, named) + of_search

    def _parts(self) -> list[Part]:
        tested = [(c.rank, c.pair) for c in self.candidates if c.pair]
        compared = self.evaluation.leaderboard.compare() if tested else None
        parts: list[Part] = [
            self.verdict,
            f"{counted(len(self.candidates), 'candidate')} ranked by {self.metric}, mean ± std over folds",
            self._standings(compared),
        ]
        if tested:
            lead = Column("lead of the best", signed), Column("95% interval", signed), Column("adjusted p", p_text)
            rows = [(rank, pair.difference, pair.interval, pair.p_adjusted) for rank, pair in tested]
            parts.append(Table(("rank", *lead), rows))
        if others := [name for name in self.candidates[0].mean if name != self.metric]:
            means = [(c.rank, *((c.mean[name], c.std[name]) for name in others)) for c in self.candidates]
            parts.append(Table(("rank", *(Column(name, plus_minus) for name in others)), means))
        parts += [*self._notes(), *(self._how(compared) if compared else ())]
        return [*parts, *weighting(next(iter(self.evaluation.reports.values())).weights)]

    def _standings(self, compared: Comparison | None) -> Table:
        """The candidates with their means over folds, letters and stars as on the leaderboard."""
        stars = self.evaluation.leaderboard._stars() if compared else set()
        letters = compared.letters if compared else {}
        rows = []
        for c in self.candidates:
            mean = c.mean[self.metric], c.std[self.metric], _name(c) in stars
            rows.append((spelled(c.params), c.rank, mean, letters.get(_name(c), c.verdict)))
        return Table(("candidate", "rank", Column(self.metric, _starred), Column("letters", str)), rows)

    def _how(self, compared: Comparison) -> Iterator[str]:
        """How the candidates were compared."""
        reports = self.evaluation.reports
        yield f"*: best mean over queries. {LETTERS}"
        yield (
            "Candidates were fitted again and compared per query, out of fold: "
            f"{TESTS['permutation']}, {counted(len(self.evaluation.fold), 'query')}, Holm at {LEVEL}, "
            f"{counted(compared.n_tests, 'pair')}. The best was chosen on these data, so it looks better than it is."
        )
        yield from drawn_orders(reports, next(iter(reports.values())).metrics)

    def _notes(self) -> Iterator[str]:
        """Notes that affect how to read the table."""
        if self.changed > 1e-9:
            yield (
                f"Fitted again, fold scores differ from the search by up to {self.changed:.4f}: folds or models are "
                "random, or the data, the order of the rows or the weights differ from those of the search. Arguments "
                "of its fit, such as sample_weight, belong in params."
            )
        if left := sum(bool(c.left) for c in self.candidates):
            yield (
                f"{counted(left, 'candidate')} left the race before the last fold, so they have no mean over "
                "folds; cv_results_ shows how far behind the leader they were."
            )

    def _columns(self) -> dict[str, Any]:
        found, leads = self.candidates, ("difference", "low", "high", "p_adjusted")
        columns: dict[str, Any] = {"rank": [c.rank for c in found], "index": [c.index for c in found]}
        taken = {*columns, *leads}
        for name in dict.fromkeys(name for c in found for name in c.params):
            columns[f"param {name}" if name in taken else name] = [c.params.get(name) for c in found]
        for name in found[0].mean:
            columns |= {f"mean {name}": [c.mean[name] for c in found], f"std {name}": [c.std[name] for c in found]}
        ahead = [(c.pair.difference, *c.pair.interval, c.pair.p_adjusted) if c.pair else (np.nan,) * 4 for c in found]
        return columns | dict(zip(leads, zip(*ahead, strict=True), strict=True))


def _named(rank: int, params: Mapping[str, Any]) -> str:
    return f"{rank}: {spelled(params)}"


def _name(candidate: Candidate) -> str:
    """The candidate's name in the evaluation."""
    return _named(candidate.rank, candidate.params)


def _starred(value: tuple[float, float, bool]) -> str:
    mean, std, is_best = value
    return "*" * is_best + plus_minus((mean, std))


def search_report(
    search: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    metric: Any = None,
    n_candidates: int = 10,
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> SearchReport:
    """Rank the candidates of a fitted search, and test which ones are significantly different from the best.

    A search keeps one score per fold, and five fold scores rarely separate two models. This function fits the best
    candidates again on the folds of the search, and compares all pairs of them per query, as a leaderboard does. It
    costs n_candidates fits per fold.

    Parameters
    ----------
    search : fitted GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV, HalvingRandomSearchCV or RacingSearchCV
        A search that uses scorers of this package. For halving searches, each candidate is shown on its last rung.
        Candidates that left a race come after those that ran all folds, the last to leave first, and are not fitted
        again.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Features that the search was fitted on.
    y : array-like of shape (n_documents,)
        Relevance labels that the search was fitted on. May carry the query ids in an index level named "qid".
    qid : array-like of shape (n_documents,), default=None
        Query ids. None means those in the index of ``y``.
    metric : str, metric function or bound metric, default=None
        Metric to rank by: a key of the search's ``scoring``, or the metric of one of its scorers. None means the metric
        that the search used for ``refit``.
    n_candidates : int, default=10
        Number of candidates to fit again, best first, at least 2. Other candidates, and those that failed in a fold of
        the search, are ranked but not tested.
    n_jobs : int, default=None
        As in cross_evaluate.
    params : dict, default=None
        The arguments of the search's ``fit`` besides X and y, such as ``{"sample_weight": weights}``. They are used as
        in the search, with or without metadata routing: weights for fitting, scoring or both. Weights and masks that
        were in the index of y are taken from there.
    verbose : int, default=0
        As in cross_evaluate.
    random_state : int, RandomState or Generator instance or None, default=None
        Source of the random signs of the permutation test.

    Returns
    -------
    report : SearchReport
        Prints as a table, also in notebooks.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the search is not fitted.
    TypeError
        If the query ids are missing, or an argument has the wrong type.
    ValueError
        If the search has scorers of other packages, or fewer than two candidates that did not fail; if ``metric`` is
        not one of its metrics; if its ``cv`` is an iterator, tests queries more than once, or splits the data into a
        different number of folds than in the search; or if weights are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrank_metrics import QueryKFold, QueryRanker, get_ranking_scorer, search_report, with_qid
    >>> from skrank_metrics.datasets import make_ranking
    >>> X, y, qid = make_ranking(30, random_state=0)
    >>> grid = {"estimator__alpha": [1.0, 1e9]}
    >>> search = GridSearchCV(QueryRanker(Ridge()), grid, scoring=get_ranking_scorer("ndcg@10"), cv=QueryKFold(3))
    >>> report = search_report(search.fit(X, with_qid(y, qid)), X, y, qid=qid)
    >>> [(candidate.rank, candidate.params["estimator__alpha"]) for candidate in report.candidates]
    [(1, 1.0), (2, 1000000000.0)]
    """
    check_search(search)
    check_int(n_candidates, "n_candidates", 2)
    check_random_state(random_state)
    metrics = metrics_of(search)
    key = metric_of(search, metrics, metric)
    check_by_query(str(metrics[key]), metrics[key])
    rows, cv = ranked_rows(search, key), cv_of(search)
    means = search.cv_results_[f"mean_test_{key}"]
    names = {row: _named(rank, search.cv_results_["params"][row]) for rank, row in enumerate(rows, start=1)}
    fitted = {row: names[row] for row in rows[:n_candidates] if not np.isnan(means[row])}
    if len(fitted) < 2 and not is_race(search):
        raise ValueError(f"search must have at least two candidates with a score in every fold; got {len(fitted)}.")
    models = {name: with_params(search.estimator, search.cv_results_["params"][row]) for row, name in fitted.items()}
    alike = _scored_alike(search, metrics, key)
    models, as_in_search = _as_in_search(search, key, models, y, dict(params or {}))
    options = {"qid": qid, "cv": cv, "n_jobs": n_jobs, "verbose": verbose, **as_in_search}
    try:
        evaluation = cross_evaluate(models, X, y, metrics=list(alike.values()), **options)
    except QueriesTestedAgainError as error:
        raise ValueError(
            f"search must test every query at most once, since candidates are compared per query; got {error.query}. "
            "Search with QueryKFold, or evaluate the candidates with cross_evaluate(..., cv=QueryKFold(5)) and pass "
            "its reports to compare."
        ) from None
    evaluation = replace(evaluation, _random_state=random_state)
    (_, best), *others = fitted.items()
    pairs = {row: evaluation.leaderboard.compare().pair(best, other) for row, other in others}
    shown = _shown_names(metrics)
    candidates = [_candidate(search, row, rank, shown, pairs.get(row)) for rank, row in enumerate(rows, start=1)]
    return SearchReport(shown[key], candidates, evaluation, _changed(search, list(fitted), alike, evaluation))


def _shown_names(metrics: Mapping[str, BoundMetric]) -> dict[str, str]:
    """Names of the metrics in the report, by those of the scorers."""
    shown = {name: str(metric) for name, metric in metrics.items()}
    # Scorers of the same metric can differ in the response method, so their keys distinguish them.
    return shown if len(set(shown.values())) == len(shown) else {name: name for name in metrics}


def _scored_alike(search: Any, metrics: Mapping[str, BoundMetric], key: str) -> dict[str, BoundMetric]:
    """Metrics whose scorers take the same response and weights as one of them, which comes first."""
    scorers = scorers_of(search)
    same = [name for name, scorer in scorers.items() if _scores_by(scorer) == _scores_by(scorers[key])]
    return {name: metrics[name] for name in sorted(same, key=lambda name: name != key)}


def _scores_by(scorer: Any) -> tuple[Any, Any]:
    """Response method of a scorer, and its request for weights: True, an alias, or anything else for none."""
    return response_method(scorer), get_routing_for_object(scorer).score.requests.get("sample_weight") or None


def _as_in_search(
    search: Any, key: str, models: dict[str, Any], y: Any, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Models and options of cross_evaluate that fit and score with the same parameters as the search."""
    scorer, routed = scorers_of(search)[key], was_routed(search, params)
    method, requested = _scores_by(scorer)
    weights = None
    if not routed:
        passed_on = passes_weights_to_scorers(search) or is_race(search)
        weights = params.get("sample_weight") if passed_on else None
    elif requested:
        weights = _requested_weights("sample_weight" if requested is True else requested, models, y, params)
    requests = get_routing_for_object(scorer).score.requests
    masks = {}
    for mask in ("retrieved", "judged"):  # no fit takes these
        name = mask if requests.get(mask) is True else requests.get(mask)
        masks[mask] = params.pop(name, None)
    if not routed:
        names = [name for name in params if name not in ("qid", "groups")]
        models = {name: FittedWithoutRouting(model, names) for name, model in models.items()}
    return models, {"response_method": method, "params": params, "sample_weight": weights, **masks}


def _requested_weights(name: str, models: Mapping[str, Any], y: Any, params: dict[str, Any]) -> Any:
    """The weights that the scorer requests by a name, which stay in the parameters only if a fit requests them."""
    if name not in params:
        if carried(y, sample_weight=None)["sample_weight"] is not None:
            return None  # cross_evaluate takes them from there
        raise ValueError(
            f"params must hold {name!r}, which the scorer of the search requests; got {list(params)}. Pass the weights "
            "of the search."
        )
    fitted = any(get_routing_for_object(model).consumes("fit", [name]) for model in models.values())
    return params[name] if fitted else params.pop(name)


def _candidate(search: Any, row: int, rank: int, shown: Mapping[str, str], pair: Pair | None) -> Candidate:
    found = search.cv_results_
    mean, std = (
        {label: float(found[f"{kind}_test_{name}"][row]) for name, label in shown.items()} for kind in ("mean", "std")
    )
    return Candidate(rank, found["params"][row], mean, std, row, pair, left_race(search, row))


def _changed(search: Any, rows: list[int], metrics: Mapping[str, BoundMetric], evaluation: CrossEvaluation) -> float:
    """Largest difference between the scores of folds here and in the search."""
    n_folds = len(next(iter(next(iter(evaluation.folds.values())).values())))
    if n_folds != search.n_splits_:
        raise ValueError(
            f"X, y and qid must be those of the search; got data that its cv splits into {n_folds} folds, but the "
            f"search had {search.n_splits_}."
        )
    differences = [
        abs(value - search.cv_results_[f"split{fold}_test_{name}"][row])
        for row, folds in zip(rows, evaluation.folds.values(), strict=True)
        for name, metric in metrics.items()
        for fold, value in enumerate(folds[str(metric)])
    ]
    return float(np.nanmax(differences, initial=0.0))

"""What a fitted search says: its metrics, scores and candidates, and how these compare, query by query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skrank_metrics._engine.documents import Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.parameters import check_int
from skrank_metrics._input.types import Features, Ids, Numbers
from skrank_metrics._output.result import Section, Table
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.model_selection._cross_evaluate import CrossEvaluation, comparison_of_folds
from skrank_metrics.model_selection._fitted_search import (
    check_search,
    fold_scores,
    metric_of,
    ranked_rows,
    scored_metrics,
    scorers_of,
    spelled_value,
    whole_rows,
)
from skrank_metrics.model_selection.out_of_fold import (
    Evaluation,
    ModelRows,
    OutOfFold,
    check_rows_of_models,
    evaluate_out_of_fold,
)
from skrank_metrics.reports.mean_intervals import check_by_query
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.report_data import ReportData


@dataclass(frozen=True, repr=False, eq=False)
class SearchReport(CrossEvaluation):
    """A CrossEvaluation of the best candidates of a search; also if a single one ran all folds.

    Candidates are numbered in the order of ``cv_results_``, so a number means the same candidate by every metric: "#1"
    is the first row, ``cv_results_["params"][0]``. Distances are negated, as in the search. ``to_frame()`` also gives
    parameters.

    Attributes
    ----------
    params : dict of str to dict
        Parameters of all candidates by number, such as "#1", best first by the search.
    not_compared : dict of str to str
        Why other candidates were not compared: "failed", when they were dropped, or "not among the best 10".
    naive_score, expected_score : float
        The best mean over folds, which is too good, and one without this optimism: in each fold, the score of the
        candidate that is best on all other folds.
    changed : float
        Largest difference between the score of a fold here and in the search, as if folds are random or data differ.
    """

    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    not_compared: dict[str, str] = field(default_factory=dict)
    naive_score: float = np.nan
    expected_score: float = np.nan
    changed: float = 0.0

    @property
    def _noun(self) -> str:
        return "candidate"

    def _verdict(self) -> list[Section]:
        verdict = super()._verdict()
        best = next(iter(self.params), "")
        is_optimistic = f"{self.naive_score:.4f}" != f"{self.expected_score:.4f}"
        if not verdict or self._n_whole() < 2 or not is_optimistic:
            return verdict
        return [
            f"{verdict[0]} Expect about {self.expected_score:.3f} on new queries, not {self.naive_score:.4f}: {best} "
            "was chosen because it did well on these.",
            *verdict[1:],
        ]

    def labels(self) -> dict[str, str]:
        """Candidates with the parameters that vary."""
        table = self._table_of_params()
        heads = [str(column) for column in table.columns[1:]]
        found = {}
        for name, *values in table.rows:
            params = ", ".join(f"{head}={value}" for head, value in zip(heads, values, strict=True))
            found[name] = f"{name} {params}"
        return found

    def _n_whole(self) -> int:
        """Number of candidates that ran all folds."""
        reasons = self.not_compared.values()
        return len(self.names) + sum(reason.startswith("not among") for reason in reasons)

    def _more(self) -> str:
        outcome = self.outcome()
        if outcome.tested and not self.plan.baselines and outcome.decision.inside.sum() > 1:
            return "refit=within_noise(...) takes the simplest that may be as good"
        return super()._more()

    def _further_tables(self) -> list[Section]:
        table = self._table_of_params()
        return [table] if table.rows else []

    def _table_of_params(self) -> Table:
        """The parameters that vary, of the candidates that were compared; no rows if none varies."""
        varying = []
        for name in self._names_of_params(self.params):
            # What some candidates lack varies, too.
            texts = {repr(params.get(name, "")) for params in self.params.values()}
            if len(texts) > 1:
                varying.append(name)
        if not varying:
            return Table((), [])
        heads = [name.rpartition("__")[2] for name in varying]
        if len(set(heads)) < len(heads):
            heads = varying
        rows = []
        for candidate in self.names:
            params = self.params[candidate]
            rows.append((candidate, *(spelled_value(params.get(name, "")) for name in varying)))
        return Table(("", *heads), rows)

    def _names_of_params(self, candidates: Iterable[str]) -> Iterable[str]:
        # Candidates of several grids have different parameters.
        return dict.fromkeys(name for own in candidates for name in self.params[own])

    def _notes(self) -> list[Section]:
        notes: list[Section] = []
        reasons = Counter(self.not_compared.values())
        if self._n_whole() > 1 and not self.outcome().decision.n_changed.any():
            notes.append(
                "All candidates have the same value for every query, so what varies had no effect. Check the names of "
                "the parameters, as some models ignore unknown ones."
            )
        if reasons:
            counts = (f"{number} {reason}" for reason, number in reasons.items())
            notes.append(f"Not compared: {', '.join(counts)}.")
        if self.changed > 1e-9:
            notes.append(
                f"Fitted again, fold scores differ from the search by up to {self.changed:.4f}: folds or models are "
                "random, or rows, weights or masks differ. Pass with_qid(y, qid, ...) as y if the search scored with "
                "weights or masks, and arguments of fit in params."
            )
        return [*notes, *super()._notes()]

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        for name in self._names_of_params(self.names):
            values = [self.params[own].get(name) for own in self.names]
            columns[f"param {name}" if name in columns else name] = values
        return columns


def search_report(
    search: Any,
    X: Features | None = None,
    y: Numbers | None = None,
    *,
    qid: Ids | None = None,
    metric: MetricLike | None = None,
    n_candidates: int = 10,
    params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    verbose: int | None = None,
) -> SearchReport:
    """Compare the best candidates of a fitted search, query by query.

    This is a cross_evaluate of the best candidates on the folds of the search. A RacingSearchCV has kept the values per
    query, so nothing is fitted for the metric that it raced by. Like the method of Tsamardinos et al.,
    ``report.expected_score`` removes most of the optimism of a chosen winner. For a baseline, a margin or another test,
    pass the report to compare.

    Parameters
    ----------
    search : fitted GridSearchCV or similar
        A search that ranks by a scorer of this package. Of a halving search, only the last rung is compared.
    X, y, qid : array-like, default=None
        What the search was fitted on, as in cross_evaluate; masks, weights and columns of documents that the scorers
        took are index levels of ``y``, see with_qid. Not needed for a RacingSearchCV.
    metric : str, metric function or bound metric, default=None
        Metric to rank by: a key of the search's ``scoring``, or the metric of a scorer. None means that of ``refit``.
    n_candidates : int, default=10
        Number of candidates to compare, at least 2.
    params : dict, default=None
        Further arguments of the search's ``fit``: ``groups``, and those of the estimator's ``fit``.
    n_jobs, verbose : int or None
        As in cross_evaluate.

    Returns
    -------
    report : SearchReport
        A CrossEvaluation that also has the parameters.

    Raises
    ------
    TypeError, ValueError
        If X or y are missing, the search is not fitted, has no score by ``metric`` or one of another package, or no
        candidate that ran all folds; and as in cross_evaluate.

    References
    ----------
    I. Tsamardinos, E. Greasidou, G. Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient and
    accurate cross-validation. Machine Learning 107. https://doi.org/10.1007/s10994-018-5714-4

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, with_qid
    >>> from skrank_metrics.model_selection import search_report
    >>> from skrank_metrics.datasets import make_ranking
    >>> X, y, qid = make_ranking(30, random_state=0)
    >>> grid = {"estimator__alpha": [1.0, 1e9]}
    >>> search = GridSearchCV(QueryRanker(Ridge()), grid, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(3))
    >>> report = search_report(search.fit(X, with_qid(y, qid)), X, y, qid=qid)
    >>> report.params
    {'#1': {'estimator__alpha': 1.0}, '#2': {'estimator__alpha': 1000000000.0}}
    """
    check_search(search)
    check_int(n_candidates, "n_candidates", 2)
    metrics = scored_metrics(search)
    key = metric_of(search, metrics, metric)
    bound = metrics[key]
    if bound is None:
        raise ValueError(
            f"search must rank by a scorer of skrank_metrics, as ranking_scorers; got {search.scorer_!r}."
        )
    check_by_query(str(bound), bound)
    scores, ranked = fold_scores(search.cv_results_, key), ranked_rows(search.cv_results_, key)
    whole = whole_rows(search.cv_results_, key)
    compared = {row: _number(row) for row in whole[:n_candidates]}
    of_fit = dict(params or {})
    groups = of_fit.pop("groups", None)
    # A race keeps values with its own groups, which need not be these.
    found = _kept(search, key, bound, compared) if groups is None else None
    if found is None:
        if X is None or y is None:
            raise TypeError(
                "X and y must be the data of the search, which kept no values per query; got None."
            )
        data = check_rows_of_models(X, y, qid=qid, by=None, groups=groups, params=of_fit)
        found = _fitted_again(search, _alike(search, key, metrics), compared, data, n_jobs, verbose)
    comparison = comparison_of_folds(found)
    others = [row for row in ranked if row not in compared]
    return SearchReport(
        comparison.reports,
        comparison.metrics,
        comparison.plan,
        scores=comparison.scores,
        params={_number(row): search.cv_results_["params"][row] for row in ranked},
        not_compared={_number(row): _reason(search, row, scores, n_candidates) for row in others},
        naive_score=float(scores[whole].mean(axis=1).max()),
        expected_score=expected_score(scores[whole]),
        changed=_change(comparison, compared, scores),
    )


def _number(row: int) -> str:
    """The name of a candidate, given its row in the results."""
    return f"#{row + 1}"


def _change(found: CrossEvaluation, names: Mapping[int, str], scores: FloatArray) -> float:
    """Largest difference between the score of a fold here and in the search."""
    means = found.fold_means()
    changes = [np.abs(means[name] - scores[row]) for row, name in names.items()]
    return float(np.nanmax(changes))


def expected_score(scores: FloatArray) -> float:
    """Mean over folds of the score of the candidate that is best on all other folds; candidates are rows."""
    # The sum over all other folds orders candidates as their mean does.
    others = scores.sum(axis=1, keepdims=True) - scores
    return float(scores[others.argmax(axis=0), np.arange(scores.shape[1])].mean())


def _reason(search: Any, row: int, scores: FloatArray, n_candidates: int) -> str:
    """Why a candidate was not compared."""
    results = search.cv_results_
    if "dropped_after" in results and results["dropped_because"][row] == "behind":
        return f"dropped after fold {results['dropped_after'][row]:.0f}"
    return "failed" if np.isnan(scores[row]).any() else f"not among the best {n_candidates}"


def _kept(search: Any, key: str, metric: BoundMetric, names: Mapping[int, str]) -> OutOfFold | None:
    """The values per query that a race kept; None if it kept none of this metric, or not those of all candidates."""
    folds = getattr(search, "_fold_values", [])
    if not folds or key != getattr(search, "_key_of_values", None):
        return None
    ids, first_rows, values, defined, weights, groups = zip(*folds, strict=True)
    rows = list(names)
    # If error_score is a number, candidates that failed in a fold have a score there, but no values.
    failed = any(np.isnan(of_fold[rows]).all(axis=1).any() for of_fold in values)
    # Queries are in order of first appearance, as in a report of rows: random signs are drawn in this order.
    order = np.argsort(np.concatenate(first_rows))
    qid = np.concatenate(ids)[order]
    # Queries that are tested several times have several values, of which a report has one.
    if failed or len(set(qid.tolist())) < len(qid):
        return None
    units = _joined(groups, order)
    # Groups of one query each say nothing about which queries depend on each other.
    if units is not None and len(np.unique(units)) == len(units):
        units = None
    queries = Queries(qid, _joined(weights, order), groups=units)
    of_candidates = np.concatenate(values, axis=1)[:, order]
    of_candidates[~np.concatenate(defined, axis=1)[:, order]] = np.nan
    reports = {}
    for row, name in names.items():
        of_row = -of_candidates[row] if metric.negative else of_candidates[row]
        result = PerQuery(of_row, np.ones(len(qid)))
        reports[name] = RankingReport(
            {str(metric): metric}, ReportData(queries, {str(metric): result})
        )
    numbers = np.repeat(np.arange(len(folds)), list(map(len, ids)))
    return OutOfFold(reports, numbers[order], {})


def _joined(of_folds: Sequence[Any], order: IntArray) -> Any:
    """What belongs to the queries of all folds; None if nothing does."""
    return None if of_folds[0] is None else np.concatenate(of_folds)[order]


def _alike(search: Any, key: str, metrics: Mapping[str, BoundMetric | None]) -> Evaluation:
    """The metrics that rank by the same scores as one of them, which comes first: models predict once."""
    scorers = scorers_of(search)
    how = Evaluation.like(scorers[key], {})
    known = [name for name in dict.fromkeys((key, *scorers)) if metrics[name] is not None]
    alike = [metrics[name] for name in known if Evaluation.like(scorers[name], {}) == how]
    return replace(how, metrics=bind_metrics(alike))


def _fitted_again(
    search: Any,
    how: Evaluation,
    names: Mapping[int, str],
    rows: ModelRows,
    n_jobs: int | None,
    verbose: int | None,
) -> OutOfFold:
    """Candidates that are fitted again."""
    models = {}
    for row, name in names.items():
        params = clone(dict(search.cv_results_["params"][row]), safe=False)
        models[name] = clone(search.estimator).set_params(**params)
    found = evaluate_out_of_fold(
        models,
        rows,
        # Without cv, folds of a race are queries, and those of scikit-learn rows.
        search.cv if hasattr(search, "_fold_values") else check_cv(search.cv),
        how,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    n_folds = len(np.unique(found.folds))
    if n_folds != search.n_splits_:
        raise ValueError(
            f"X, y and qid must be those of the search; got data that its cv splits into {n_folds} folds, but the "
            f"search had {search.n_splits_}."
        )
    return found

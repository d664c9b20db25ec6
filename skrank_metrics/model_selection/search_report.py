"""What a fitted search says: its metrics, scores and candidates, and how these compare, query by query."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from skrank_metrics._engine.documents import Queries
from skrank_metrics._engine.per_query import PerQuery
from skrank_metrics._input.arrays import FloatArray, check_int, nearest
from skrank_metrics._input.query_ids import carried
from skrank_metrics._input.types import Features, Ids, Numbers
from skrank_metrics._output.result import Part
from skrank_metrics._output.table import Table
from skrank_metrics._sklearn_internals import response_method, score_function
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.names import bind_metrics, check_column
from skrank_metrics.model_selection.cross_evaluate import CrossEvaluation, comparison_of_folds
from skrank_metrics.model_selection.out_of_fold import (
    Evaluation,
    check_rows_of_models,
    evaluate_out_of_fold,
)
from skrank_metrics.model_selection.scorers import RankingScore
from skrank_metrics.reports.mean_intervals import check_by_query
from skrank_metrics.reports.ranking_report import RankingReport

# Longer parameter values would leave no room for other columns of a table.
VALUE_WIDTH = 40


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

    def _parts(self) -> list[Part]:
        parts = super()._parts()
        table = self._table_of_params()
        if table.rows:
            place = next(i for i, part in enumerate(parts) if isinstance(part, Table))
            parts.insert(place + 1, table)
        return parts

    def _table_of_params(self) -> Table:
        """The parameters that vary, of the candidates that were compared; no rows if none varies."""
        names = _varying(list(self.params.values()))
        if not names:
            return Table((), [])
        heads = [name.rpartition("__")[2] for name in names]
        if len(set(heads)) < len(heads):
            heads = names
        rows = []
        for candidate in self.names:
            params = self.params[candidate]
            texts = [_short(params[name]) if name in params else "" for name in names]
            rows.append((candidate, *texts))
        return Table(("", *heads), rows)

    def _notes(self) -> Iterator[Any]:
        reasons = list(self.not_compared.values())
        n_whole = len(self.names) + sum(reason.startswith("not among") for reason in reasons)
        if n_whole > 1 and f"{self.naive_score:.4f}" != f"{self.expected_score:.4f}":
            yield (
                f"{next(iter(self.params))} has the best mean over folds, {self.naive_score:.4f}. The best of "
                f"{n_whole} candidates looks better than it is: chosen without the fold that it is scored on, it "
                f"scores {self.expected_score:.4f}."
            )
        if reasons:
            counts = (f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons))
            yield f"Not compared: {', '.join(counts)}."
        if self.changed > 1e-9:
            yield (
                f"Fitted again, fold scores differ from the search by up to {self.changed:.4f}: folds or models are "
                "random, or rows, weights or masks differ. Pass with_qid(y, qid, ...) as y if the search scored with "
                "weights or masks, and arguments of fit in params."
            )
        yield from super()._notes()

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        for name in dict.fromkeys(name for own in self.names for name in self.params[own]):
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
        A search that uses scorers of this package. Of a halving search, only the last rung is compared.
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
        If X, y or weights that the scorers took are missing, the search is not fitted, has scorers of other packages,
        no score by ``metric``, or no candidate that ran all folds; and as in cross_evaluate.

    References
    ----------
    I. Tsamardinos, E. Greasidou, G. Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient and
    accurate cross-validation. Machine Learning 107. https://doi.org/10.1007/s10994-018-5714-4

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, search_report, with_qid
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
    results = search.cv_results_
    metrics = {name: one for name, one in scored_metrics(search).items() if one}
    if len(metrics) < len(scorers_of(search)):
        raise ValueError(
            f"search must use scorers of skrank_metrics, as ranking_scorers; got {search.scorer_!r}."
        )
    key = metric_of(search, metrics, metric)
    check_by_query(str(metrics[key]), metrics[key])
    rows, scores = ranked_rows(search, key), fold_scores(results, key)
    names = {row: f"#{row + 1}" for row in rows}
    whole = [row for row in rows if not np.isnan(scores[row]).any()]
    if not whole:
        raise ValueError(
            "search must have a candidate with a score in every fold; each has NaN in some fold."
        )
    compared = {row: names[row] for row in whole[:n_candidates]}
    found = _kept(search, key, compared, metrics[key])
    if found is None:
        found = _fitted_again(search, key, metrics, compared, X, y, qid, params, n_jobs, verbose)
    means = found.fold_means()
    return SearchReport(
        **{part.name: getattr(found, part.name) for part in fields(found) if part.init},
        params={names[row]: results["params"][row] for row in rows},
        not_compared={
            names[row]: _reason(search, row, scores, n_candidates)
            for row in rows
            if row not in compared
        },
        naive_score=float(scores[whole].mean(axis=1).max()),
        expected_score=expected_score(scores[whole]),
        changed=max(
            float(np.nanmax(np.abs(means[name] - scores[row]))) for row, name in compared.items()
        ),
    )


def expected_score(scores: FloatArray) -> float:
    """Mean over folds of the score of the candidate that is best on all other folds; candidates are rows."""
    others = scores.sum(axis=1, keepdims=True) - scores
    return float(scores[others.argmax(axis=0), np.arange(scores.shape[1])].mean())


def _reason(search: Any, row: int, scores: FloatArray, n_candidates: int) -> str:
    """Why a candidate was not compared."""
    results = search.cv_results_
    if "dropped_after" in results and results["dropped_because"][row] == "behind":
        return f"dropped after fold {results['dropped_after'][row]:.0f}"
    return "failed" if np.isnan(scores[row]).any() else f"not among the best {n_candidates}"


def _kept(
    search: Any,
    key: str,
    compared: Mapping[int, str],
    metric: BoundMetric,
) -> CrossEvaluation | None:
    """Compare the values per query that a race kept; None if it kept none of this metric."""
    parts = getattr(search, "_fold_values", None)
    if not parts or key != search._key_of_values:
        return None
    failed = [np.isnan(part.values[row]).all() for part in parts for row in compared]
    if any(failed) or len(parts) < search.n_splits_:  # a number as error_score stands for values
        return None
    # Queries in order of first appearance, as in a report of rows, since random signs are drawn in this order.
    order = np.argsort(np.concatenate([part.first_rows for part in parts]))
    qid = np.concatenate([part.ids for part in parts])[order]
    if len(set(qid.tolist())) < len(qid):
        return None  # tested again; cross_evaluate says what to do
    weights = None
    if parts[0].weights is not None:
        weights = np.concatenate([part.weights for part in parts])[order]
    folds = np.repeat(np.arange(len(parts)), [len(part.ids) for part in parts])[order]
    reports = {}
    for row, name in compared.items():
        values = np.concatenate([part.values[row] for part in parts])[order]
        values = -values if metric.negative else values
        values[~np.concatenate([part.defined[row] for part in parts])[order]] = np.nan
        reports[name] = RankingReport(
            {str(metric): metric},
            Queries(qid, weights),
            {str(metric): PerQuery(values, np.ones(len(values)))},
        )
    return comparison_of_folds(reports, folds, {})


def _fitted_again(
    search: Any,
    key: str,
    metrics: Mapping[str, BoundMetric],
    compared: Mapping[int, str],
    X: Any,
    y: Any,
    qid: Any,
    params: Mapping[str, Any] | None,
    n_jobs: int | None,
    verbose: int | None,
) -> CrossEvaluation:
    """Compare candidates after fitting them again, by all metrics that rank by the same response."""
    if X is None or y is None:
        raise TypeError(
            "X and y must be the data of the search, which kept no values per query; got None."
        )
    scorers = scorers_of(search)
    requests = get_routing_for_object(scorers[key]).score.requests
    if requests.get("sample_weight") and carried(y, sample_weight=None)["sample_weight"] is None:
        raise ValueError(
            "y must carry the weights that the scorers of the search took; got none. Pass "
            "with_qid(y, qid, sample_weight=...) as y."
        )
    others = dict(params or {})
    rows = check_rows_of_models(
        X, y, qid=qid, by=None, groups=others.pop("groups", None), params=others
    )
    response = response_method(scorers[key])
    alike = [name for name in (key, *metrics) if response_method(scorers[name]) == response]
    models = {name: _candidate(search, row) for row, name in compared.items()}
    bound = bind_metrics([metrics[name] for name in alike])
    how = Evaluation(bound, response, score_function(scorers[key]).declines)
    found = evaluate_out_of_fold(
        models, rows, check_cv(search.cv), how, n_jobs=n_jobs, verbose=verbose
    )
    n_folds = len(np.unique(found.folds))
    if n_folds != search.n_splits_:
        raise ValueError(
            f"X, y and qid must be those of the search; got data that its cv splits into {n_folds} folds, but the "
            f"search had {search.n_splits_}."
        )
    return comparison_of_folds(found.reports, found.folds, found.scores)


def _candidate(search: Any, row: int) -> Any:
    """A clone of the estimator of a search with the parameters of a candidate."""
    params = clone(dict(search.cv_results_["params"][row]), safe=False)
    return clone(search.estimator).set_params(**params)


def check_search(search: Any) -> None:
    """Refuse anything but a fitted search."""
    if not hasattr(search, "refit"):
        raise TypeError(
            f"search must be a fitted GridSearchCV or similar; got {type(search).__name__}."
        )
    check_is_fitted(search, "cv_results_")


def scorers_of(search: Any) -> Mapping[str, Any]:
    """Scorers by their names in the results."""
    return search.scorer_ if isinstance(search.scorer_, Mapping) else {"score": search.scorer_}


def metric_of_scorer(scorer: Any) -> BoundMetric | None:
    """Metric of a scorer of this package, with distances negated as in the results; None for other scorers."""
    score = score_function(scorer)
    if not isinstance(score, RankingScore):
        return None
    return score.metric if score.metric.greater_is_better else replace(score.metric, negative=True)


def scored_metrics(search: Any) -> dict[str, BoundMetric | None]:
    """Metrics by the names of the scorers in the results; None for scorers of other packages."""
    scorers, found = scorers_of(search), {}
    for name in _names_after("mean_test_", search.cv_results_):
        found[name] = metric_of_scorer(scorers.get(name))
    return found


def _names_after(start: str, cv_results: Mapping[str, Any]) -> list[str]:
    """What follows in the names of columns that start like this."""
    return [name.removeprefix(start) for name in cv_results if name.startswith(start)]


def metric_of(search: Any, metrics: Mapping[str, BoundMetric | None], metric: Any) -> str:
    """Key of the metric to rank by, by default that of ``refit``."""
    if metric is None:
        chosen = search.refit
        if not isinstance(chosen, str):
            chosen = getattr(chosen, "metric", None)
        metric = chosen if chosen in metrics else next(iter(metrics))
        if chosen is None and len(metrics) > 1:
            raise ValueError(
                f"metric must be one of {list(metrics)} if refit did not name one; got None."
            )
    return check_column(metric, metrics)


def fold_scores(cv_results: Mapping[str, Any], metric: str) -> FloatArray:
    """Scores with one row per candidate and one column per fold."""
    columns = []
    for fold in itertools.count():
        name = f"split{fold}_test_{metric}"
        if name not in cv_results:
            break
        columns.append(cv_results[name])
    if len(columns) < 2:
        known = _names_after("split0_test_", cv_results)
        raise ValueError(
            f"metric must be scored by the search, on at least two folds; got {metric!r} and a search by "
            f"{', '.join(known)}.{nearest(metric, known) * (metric not in known)}"
        )
    return np.column_stack(columns)


def ranked_rows(search: Any, metric: str) -> list[int]:
    """Rows of the results, best first, then those that a race dropped, the last one first, and failed ones last."""
    found = search.cv_results_
    means, last = found[f"mean_test_{metric}"], np.zeros(len(found["params"]))
    if "dropped_after" in found:
        means = mean_so_far(fold_scores(found, metric))
        last = np.nan_to_num(found["dropped_after"], nan=np.inf)
    rungs = np.asarray(found.get("iter", np.zeros(len(last))))  # of a halving search
    order = np.lexsort((-means, -last, np.isnan(means)))
    return [int(row) for row in order if rungs[row] == rungs.max()]


def mean_so_far(folds: FloatArray) -> FloatArray:
    """Mean over the folds that each candidate ran without failing; NaN if there are none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(folds, axis=1) / np.sum(~np.isnan(folds), axis=1))


def _varying(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the parameters that differ between candidates, or that some candidates lack."""
    texts: dict[str, list[str]] = {}
    for params in candidates:
        for name, value in params.items():
            texts.setdefault(name, []).append(repr(value))
    found = []
    for name, of_name in texts.items():
        if len(set(of_name)) > 1 or len(of_name) < len(candidates):
            found.append(name)
    return found


def spelled_params(params: Mapping[str, Any]) -> str:
    """Parameters as text; estimators by their class alone."""
    parts = []
    for name, value in params.items():
        if hasattr(value, "get_params"):
            parts.append(type(value).__name__)
        else:
            parts.append(f"{name.rpartition('__')[2]}={_short(value)}")
    return ", ".join(parts)


def _short(value: Any) -> str:
    """One line of a value; that of an object may take several."""
    text = getattr(value, "__name__", None) or str(value)
    if isinstance(value, float) and float(f"{value:g}") == value:
        text = f"{value:g}"
    text = " ".join(text.split())
    if len(text) <= VALUE_WIDTH:
        return text
    return f"{text[: VALUE_WIDTH - 3]}..."

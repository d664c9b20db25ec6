"""Which candidates of a fitted search can be told apart from the best."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skrank_metrics._input.arrays import check_choice, check_int, check_random_state
from skrank_metrics._output.result import Framed, Part, Printed, Table, columns_of, counted, interval_text, p_text
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.model_selection.cross_evaluate import CrossEvaluation, cross_evaluate
from skrank_metrics.model_selection.scorers import RankingScore
from skrank_metrics.reports.compare import How, Pair, align_reports, check_by_query, compare_two
from skrank_metrics.reports.statistics import TESTS, adjust


@dataclass(frozen=True, repr=False, eq=False)
class SearchReport(Printed, Framed):
    """The leaderboard of a search.

    Prints as a table, in notebooks too; ``to_frame()`` gives a row a candidate, with its parameters, means and standard
    deviations over folds, and what the best is ahead by: "difference", "low", "high", "p_adjusted", NaN if not tested.

    Attributes
    ----------
    metric : str
        By which candidates are ranked; of a distance its negative, as in the search, so that larger is better.
    candidates : list of dict
        Each with ``rank``, ``params``, ``mean`` and ``std`` over folds of every metric (dicts), ``index`` (its row in
        ``cv_results_``) and ``pair``: the best compared with it, as in ``Comparison.pairs``; None for the best itself
        and for those that were not fitted again.
    evaluation : CrossEvaluation
        Of the candidates that were fitted again, by rank; their reports are what compare takes.
    changed : float
        By how much a fold's value of a candidate differs at most from that of the search; above 0 where folds or
        models are random, or the data are not those of the search.
    """

    _same_as: ClassVar[str] = "candidates"

    metric: str
    candidates: list[dict[str, Any]]
    evaluation: CrossEvaluation
    changed: float

    def _columns(self) -> dict[str, list[Any]]:
        rows = []
        for candidate in self.candidates:
            row = {"rank": candidate["rank"], "index": candidate["index"], **candidate["params"]}
            for name, mean in candidate["mean"].items():
                row |= {f"mean {name}": mean, f"std {name}": candidate["std"][name]}
            pair = candidate["pair"]
            low, high = (np.nan, np.nan) if pair is None else pair.interval
            row["difference"] = np.nan if pair is None else pair.difference
            rows.append({**row, "low": low, "high": high, "p_adjusted": np.nan if pair is None else pair.p_adjusted})
        return columns_of(rows)

    def _parts(self) -> list[Part]:
        names = list(self.candidates[0]["mean"])
        heads = ["candidate", "rank", *names, "best ahead by", "95% interval"]
        rows = []
        for candidate in self.candidates:
            means = [f"{candidate['mean'][name]:.4f} ± {candidate['std'][name]:.4f}" for name in names]
            rows.append((spelled(candidate["params"]), str(candidate["rank"]), *means, *_verdict(candidate)))
        n_tested = sum(candidate["pair"] is not None for candidate in self.candidates)
        parts: list[Part] = [
            f"{counted(len(self.candidates), 'candidate')} ranked by {self.metric}, mean ± std over folds",
            Table((*heads, "adjusted p", "told apart"), rows),
            f"Compared with the best query by query, out of fold, each fitted again: {TESTS['permutation']}, "
            f"{counted(len(self.evaluation.fold), 'query')}, Holm at 0.05, {counted(n_tested, 'pair')}. Being chosen "
            "on these data, the best looks better than it is.",
        ]
        if self.changed > 1e-9:
            parts.append(
                f"Fitted again, folds differ by up to {self.changed:.4f}: folds or models are random, or data or "
                "weights are not those of the search."
            )
        return parts


def _verdict(candidate: dict[str, Any]) -> tuple[str, str, str, str]:
    pair = candidate["pair"]
    if pair is None:
        failed = any(np.isnan(mean) for mean in candidate["mean"].values())
        return ("", "", "", "best" if candidate["rank"] == 1 else "failed" if failed else "not tested")
    apart = "yes" if pair.p_adjusted <= 0.05 else "no"
    return f"{pair.difference:+.4f}", interval_text(pair.interval, "+"), p_text(pair.p_adjusted), apart


def search_report(
    search: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    metric: str | None = None,
    n_candidates: int = 10,
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> SearchReport:
    """Rank the candidates of a fitted search, and tell which of them are worse than the best.

    A search keeps a number a fold, and five folds can tell little apart. So the best candidates are fitted again on
    the folds of the search, and compared query by query with the best one. That costs as many fits as there are folds
    for each of n_candidates.

    Parameters
    ----------
    search : fitted GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV or HalvingRandomSearchCV
        Scored by scorers of this package. Of halving, candidates are taken on their last rung.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Features that the search was fitted on.
    y : array-like of shape (n_documents,)
        Relevance labels that it was fitted on. May carry the query ids in an index level named "qid".
    qid : array-like of shape (n_documents,), default=None
        Query ids; None means those in the index of ``y``.
    metric : str, default=None
        By which to rank, a key of the search's ``scoring``; None means that by which it refitted.
    n_candidates : int, default=10
        How many of the best to fit again, at least 2. The others are ranked, and not tested, nor are those that failed
        in a fold of the search.
    n_jobs, params, verbose : int, dict and int, default=None, None and 0
        As in cross_evaluate.
    random_state : int, RandomState or Generator instance or None, default=None
        Where the random signs of the permutation test come from.

    Returns
    -------
    report : SearchReport
        Prints as a table, in notebooks too.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        Where the search is not fitted.
    TypeError
        Where the query ids are missing, or an argument is of the wrong type.
    ValueError
        Where the search has other scorers or fewer than two candidates that did not fail, ``metric`` is none of its
        metrics, or its ``cv`` is an iterator.

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
    >>> [candidate["rank"] for candidate in report.candidates]
    [1, 2]
    """
    check_search(search)
    check_int(n_candidates, "n_candidates", 2)
    how = How("permutation", 0.95, 9999, check_random_state(random_state))
    metrics = metrics_of(search)
    metric = metric_of(search, metrics, metric)
    by = str(metrics[metric])
    check_by_query(by, metrics[metric])
    rows = ranked_rows(search, metric)
    candidates = [candidate_of(search, row, rank, metrics) for rank, row in enumerate(rows, start=1)]
    fitted = [candidate for candidate in candidates[:n_candidates] if not np.isnan(candidate["mean"][by])]
    if len(fitted) < 2:
        raise ValueError(f"search must have two candidates with a score in every fold; got {len(fitted)}.")
    evaluation = cross_evaluate(
        _models(search, fitted),
        X,
        y,
        qid=qid,
        cv=_cv_of(search),
        metrics=list(metrics.values()),
        n_jobs=n_jobs,
        params=params,
        verbose=verbose,
    )
    for candidate, pair in zip(fitted[1:], _against_best(evaluation, by, how), strict=True):
        candidate["pair"] = pair
    return SearchReport(by, candidates, evaluation, _changed(search, rows, metrics, evaluation))


def _models(search: Any, candidates: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{candidate['rank']}: {spelled(candidate['params'])}": clone(search.estimator).set_params(
            **clone(candidate["params"], safe=False)
        )
        for candidate in candidates
    }


def _cv_of(search: Any) -> Any:
    if hasattr(search.cv, "__next__"):
        raise ValueError(
            "search must have a cv that gives its folds again; got an iterator, which is used up. Search with "
            "cv=list(...) of it, or with a splitter."
        )
    return 5 if search.cv is None else search.cv  # for a search, None is five folds of rows


def _against_best(evaluation: CrossEvaluation, metric: str, how: How) -> list[Pair]:
    aligned = align_reports(evaluation.reports, metric, None)
    best, *others = aligned.values
    pairs = [compare_two(aligned, best, other, how) for other in others]
    adjusted = adjust(np.array([pair.p_value for pair in pairs]), "holm")
    return [replace(pair, p_adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]


def _changed(search: Any, rows: list[int], metrics: Mapping[str, BoundMetric], evaluation: CrossEvaluation) -> float:
    """By how much folds differ from those of the search, where there are as many."""
    largest = 0.0
    for row, folds in zip(rows, evaluation.folds.values(), strict=False):
        for name, metric in metrics.items():
            values = folds[str(metric)]
            before = [search.cv_results_[f"split{fold}_test_{name}"][row] for fold in range(search.n_splits_)]
            if len(before) == len(values):
                largest = max(largest, float(np.nanmax(np.abs(values - before), initial=0.0)))
    return largest


# Longer values of parameters leave no room for the numbers of a table.
VALUE_WIDTH = 40


def check_search(search: Any) -> None:
    """Refuse what is no search, or not fitted."""
    if not hasattr(search, "refit"):
        raise TypeError(f"search must be a search such as GridSearchCV; got {type(search).__name__}.")
    check_is_fitted(search, "cv_results_")


def metrics_of(search: Any) -> dict[str, BoundMetric]:
    """Metrics by the names that the search has for them."""
    scorers = search.scorer_ if isinstance(search.scorer_, Mapping) else {"score": search.scorer_}
    metrics = {}
    for name, scorer in scorers.items():
        metric = metric_of_scorer(scorer)
        if metric is None:
            raise ValueError(
                f"search must be scored by scorers of skrank_metrics; got {scorer!r}. Pass "
                "scoring=ranking_scorers(...)."
            )
        metrics[name] = metric
    return metrics


def metric_of_scorer(scorer: Any) -> BoundMetric | None:
    """Metric of a scorer of this package, the negative of a distance as in the results; None of other scorers."""
    score = getattr(scorer, "_score_func", None)
    if not isinstance(score, RankingScore):
        return None
    return score.metric if score.metric.greater_is_better else replace(score.metric, negative=True)


def metric_of(search: Any, metrics: Mapping[str, Any], metric: str | None) -> str:
    """Name of the metric to rank by, that of ``refit`` where none is asked for."""
    if metric is None:
        chosen = search.refit if isinstance(search.refit, str) else getattr(search.refit, "metric", None)
        metric = chosen if chosen in metrics else next(iter(metrics))
        if chosen is None and len(metrics) > 1:
            raise ValueError(f"metric must name one of {list(metrics)}, as the search does not say; got None.")
    return str(check_choice(metric, "metric", metrics))


def ranked_rows(search: Any, metric: str) -> list[int]:
    """Rows of the results from the best to the worst, of halving those of the last rung of each; failed ones last."""
    found = search.cv_results_
    rungs = np.asarray(found.get("iter", np.zeros(len(found["params"]), dtype=int)))
    resource = getattr(search, "resource", None)
    last = {
        repr(sorted((name, value) for name, value in params.items() if name != resource)): row
        for row, params in enumerate(found["params"])
    }
    rows = np.array(list(last.values()))
    means = found[f"mean_test_{metric}"][rows]
    if len(rows) < 2:
        raise ValueError(f"search must have at least two candidates to tell apart; got {len(rows)}.")
    return [int(row) for row in rows[np.lexsort((-means, -rungs[rows], np.isnan(means)))]]


def candidate_of(search: Any, row: int, rank: int, metrics: Mapping[str, BoundMetric]) -> dict[str, Any]:
    """What the results say of a candidate."""
    found = search.cv_results_
    return {
        "rank": rank,
        "params": found["params"][row],
        "mean": {str(metric): float(found[f"mean_test_{name}"][row]) for name, metric in metrics.items()},
        "std": {str(metric): float(found[f"std_test_{name}"][row]) for name, metric in metrics.items()},
        "index": row,
        "pair": None,
    }


def spelled(params: Mapping[str, Any]) -> str:
    """A candidate as text."""
    # A value may be an estimator, whose text has several lines.
    values = [textwrap.shorten(str(value), VALUE_WIDTH, placeholder=" ...") for value in params.values()]
    return ", ".join(f"{name.rpartition('__')[2]}={value}" for name, value in zip(params, values, strict=True))

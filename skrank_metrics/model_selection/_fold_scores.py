"""One candidate fitted and scored on one fold, and the table of all candidates."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from traceback import format_exc
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import check_scoring

from skrank_metrics._input.arrays import FloatArray, IntArray, count_rows, take_rows
from skrank_metrics._sklearn_internals import ends_search
from skrank_metrics.model_selection.scorers import QueryScores, keep_values


@dataclass(frozen=True)
class Task:
    """The settings that all fits of a search share."""

    estimator: Any
    scorers: Mapping[str, Any]
    key: str  # of the scorer whose values per query are recorded
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    error_score: Any


@dataclass(frozen=True)
class Outcome:
    """The result of a candidate on a fold."""

    scores: dict[str, float]
    fit_time: float
    score_time: float
    error: str | None  # of the fit
    queries: QueryScores | None  # None if fitting or scoring failed


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Make a candidate of a search. Parameter values that are estimators are cloned, too."""
    return clone(estimator).set_params(**clone(dict(params), safe=False))


def fit_and_score(task: Task, params: Mapping[str, Any], X: Any, y: Any, train: IntArray, test: IntArray) -> Outcome:
    """Fit a candidate on the training rows of a fold and score it on its test rows."""
    model = with_params(task.estimator, params)
    started = time.time()
    try:
        model.fit(take_rows(X, train), take_rows(y, train), **rows_of(task.fit_params, X, train))
    except Exception:
        if task.error_score == "raise":
            raise
        return Outcome(dict.fromkeys(task.scorers, task.error_score), time.time() - started, 0.0, format_exc(), None)
    fitted = time.time()
    scores, queries = _score(task, model, X, y, test)
    return Outcome(scores, fitted - started, time.time() - fitted, None, queries)


def _score(task: Task, model: Any, X: Any, y: Any, test: IntArray) -> tuple[dict[str, float], QueryScores | None]:
    scorers = {**task.scorers, task.key: keep_values(task.scorers[task.key])}
    rows, given = (take_rows(X, test), take_rows(y, test)), rows_of(task.score_params, X, test)
    try:
        scores = check_scoring(model, scorers, raise_exc=True)(model, *rows, **given)
    except Exception as error:
        if task.error_score == "raise" or ends_search(error):
            raise
        scores = check_scoring(model, scorers, raise_exc=False)(model, *rows, **given)  # others may succeed
    for name, score in scores.items():
        if isinstance(score, str):
            message = f"Scoring {name} failed. The score on this fold will be set to {task.error_score}. Details: \n"
            warnings.warn(message + score, UserWarning, stacklevel=2)
            scores[name] = task.error_score
        elif not isinstance(score := score.item() if hasattr(score, "item") else score, Number):
            raise ValueError(f"scoring must return a number; got {score!r} from {name!r}.")
    queries = getattr(scores[task.key], "queries", None)
    return {name: float(score) for name, score in scores.items()}, queries


def rows_of(params: Mapping[str, Any], X: Any, rows: IntArray) -> dict[str, Any]:
    """Select rows of metadata that is as long as X; pass other values on unchanged."""
    n_rows = count_rows(X)
    return {
        name: take_rows(value, rows) if np.ndim(value) and count_rows(value) == n_rows else value
        for name, value in params.items()
    }


def results_table(candidates: Sequence[Mapping[str, Any]], folds: Sequence[Mapping[int, Outcome]]) -> dict[str, Any]:
    """Make ``cv_results_`` from the outcomes of each fold by number of the candidate; some candidates skipped folds.

    Times are means over the folds that a candidate ran. Scores are means over all folds, NaN if it did not run all.
    """
    table: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        times = np.ma.masked_invalid(_column(candidates, folds, lambda outcome, name=name: getattr(outcome, name)))
        table |= {f"mean_{name}": times.mean(axis=1).filled(np.nan), f"std_{name}": times.std(axis=1).filled(np.nan)}
    table |= dict(_param_columns(candidates))
    table["params"] = list(candidates)
    for name in next(iter(folds[0].values())).scores:
        scores = _column(candidates, folds, lambda outcome, name=name: outcome.scores[name])
        table |= {f"split{fold}_test_{name}": column for fold, column in enumerate(scores.T)}
        means = table[f"mean_test_{name}"] = scores.mean(axis=1)
        table[f"std_test_{name}"] = scores.std(axis=1)
        table[f"rank_test_{name}"] = _ranks(means)
    return table


def _column(candidates: Sequence[Any], folds: Sequence[Mapping[int, Outcome]], value: Any) -> FloatArray:
    found = np.full((len(candidates), len(folds)), np.nan)
    for fold, outcomes in enumerate(folds):
        for candidate, outcome in outcomes.items():
            found[candidate, fold] = value(outcome)
    return found


def _ranks(means: FloatArray) -> NDArray[np.int32]:
    """Rank 1 for the best; candidates without a mean share the last rank."""
    return rankdata(-np.nan_to_num(means, nan=-np.inf), method="min").astype(np.int32)


def _param_columns(candidates: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, Any]]:
    """Values of each parameter as an array, masked for candidates that do not have it."""
    for name in dict.fromkeys(name for params in candidates for name in params):
        values = [params.get(name) for params in candidates]
        column = np.empty(len(values), dtype=object)
        column[:] = values
        missing = [name not in params for params in candidates]
        if all(isinstance(value, Number) for value in values):
            column = column.astype(np.asarray(values).dtype)
        yield f"param_{name}", np.ma.MaskedArray(column, mask=missing)

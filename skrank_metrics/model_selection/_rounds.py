"""Fit candidates on one fold after the other, and those that differ only in the number of trees at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from traceback import format_exc
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._sklearn_internals import (
    fit_of_search,
    results_of_fits,
    say_which_fits_failed,
)
from skrank_metrics.model_selection._tree_paths import Candidate, groups_of, trees_of
from skrank_metrics.model_selection.out_of_fold import Split
from skrank_metrics.model_selection.scorers import QueryScores, keep_values


class FoldResult(NamedTuple):
    """Scores of a candidate on a fold, and the values per query behind the one to race by."""

    test_scores: Mapping[str, float]
    train_scores: Mapping[str, float]
    queries: QueryScores | None = None  # None if the candidate failed
    score_time: float = 0.0
    fit_time: float = 0.0
    fit_error: str | None = None  # of a fit that failed


@dataclass(frozen=True)
class Fits:
    """Fits a model on a fold and scores it, each by a call of scikit-learn, and so its first trees."""

    search: GridSearchCV  # with the same estimator and options
    X: Any
    y: Any
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    scorers: Mapping[str, Any]
    raced_by: str  # the scorer whose values per query are kept

    def run(
        self,
        params: Mapping[str, Any],
        n_trees: Sequence[int],
        split: Split,
        place: tuple[int, int],
    ) -> dict[int, FoldResult]:
        """Results by number of trees: of the whole model, which comes first, and of its first trees if possible."""
        model = clone(self.search.estimator).set_params(**clone(dict(params), safe=False))
        # Parameters that contradict each other end the search, as in GridSearchCV.
        get_tags(model)
        started = time.time()
        with fit_of_search(*place):
            try:
                fitted = cross_validate(
                    model,
                    self.X,
                    self.y,
                    # Models are scored after their fit.
                    scoring=lambda model, X, y: 0.0,
                    cv=[split],
                    params=self.fit_params,
                    error_score="raise",
                    return_estimator=True,
                )
            except Exception:
                if self.search.error_score == "raise":
                    raise
                failed = dict.fromkeys(self.scorers, self.search.error_score)
                result = FoldResult(
                    failed, failed, fit_time=time.time() - started, fit_error=format_exc()
                )
                return {n_trees[0]: result}
            found = self._scored(fitted["estimator"][0], n_trees, split)
        fit_time = fitted["fit_time"][0]
        return {number: result._replace(fit_time=fit_time) for number, result in found.items()}

    def _scored(self, model: Any, n_trees: Sequence[int], split: Split) -> dict[int, FoldResult]:
        whole, *smaller = n_trees
        found = {whole: self._score(model, split, self.search.error_score)}
        # A model that stopped early does not tell what smaller ones predict.
        trees = trees_of(model, fitted=True) if smaller else None
        if trees is not None:
            _, leaf, family = trees
            for number in smaller:
                family.use_first(leaf, number)
                # After an error, the smaller model is fitted on its own instead, and says it again.
                with suppress(Exception):
                    found[number] = self._score(model, split, "raise")
        return found

    def _score(self, model: Any, split: Split, error_score: Any) -> FoldResult:
        kept: list[QueryScores] = []
        scorers = dict(self.scorers)
        scorers[self.raced_by] = keep_values(scorers[self.raced_by], kept)
        scored = GridSearchCV(
            FittedModel(model),
            {},
            scoring=scorers,
            cv=[split],
            n_jobs=1,
            refit=False,
            error_score=error_score,
            return_train_score=self.search.return_train_score,
        )
        # Values per query are kept in this process, so no other may score.
        with joblib.parallel_config("threading"), warnings.catch_warnings():
            # The search says it once, of its own means.
            warnings.filterwarnings("ignore", "One or more of the", UserWarning)
            found = scored.fit(self.X, self.y, **self.score_params).cv_results_
        of_test, of_train = (
            {name: found.get(f"split0_{part}_{name}", [np.nan])[0] for name in scorers}
            for part in ("test", "train")
        )
        return FoldResult(of_test, of_train, kept[0] if kept else None, found["mean_score_time"][0])


class FittedModel(FrozenEstimator):  # type: ignore[misc]
    """A fitted model that a search only scores, also if nothing shows that it is fitted."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> FittedModel:
        """Keep the model."""
        return self

    def set_params(self, **params: Any) -> FittedModel:
        """Return the model, which FrozenEstimator forgets."""
        return self


@dataclass
class Rounds:
    """Runs candidates on one fold after the other, and keeps the results."""

    fits: Fits
    parallel: Parallel
    candidates: list[Candidate]
    results: list[dict[int, FoldResult]] = field(
        default_factory=list
    )  # one dict per fold, by candidate
    n_fits: int = 0

    def run(self, rows: Sequence[int], split: Split) -> None:
        """Fit candidates on a fold; on the first, also the smallest of each path, to check those that share fits."""
        groups = groups_of(self.candidates, rows)
        found = self._fitted(groups, split)
        smallest = [] if self.results else [group[-1:] for group in groups if len(group) > 1]
        checks = self._fitted(smallest, split, place=len(groups))
        for row, own in checks.items():
            is_fitted = row in found and own.fit_error is None
            if is_fitted and found[row].test_scores != own.test_scores:
                warnings.warn(
                    f"The first {self.candidates[row].n_trees} trees of a model do not predict what a model of as many "
                    "trees predicts, so each candidate is fitted on its own. If fits are random, set random_state.",
                    UserWarning,
                    stacklevel=2,
                )
                self.candidates = [Candidate(candidate.params) for candidate in self.candidates]
                found = {group[0]: found[group[0]] for group in groups}
                break
        found |= checks
        others = [[row] for row in rows if row not in found]
        found |= self._fitted(others, split, place=len(groups))
        self.results.append(found)

    def _fitted(
        self, groups: Sequence[Sequence[int]], split: Split, place: int = 0
    ) -> dict[int, FoldResult]:
        """Results of candidates that share the fit of the first of their group; some may not have any."""
        self.n_fits += len(groups)
        tasks = []
        for number, group in enumerate(groups, start=place):
            n_trees = list(dict.fromkeys(self.candidates[row].n_trees for row in group))
            params = self.candidates[group[0]].params
            run = delayed(self.fits.run)
            tasks.append(run(params, n_trees, split, (number, len(self.results))))
        found = {}
        for group, of_model in zip(groups, self.parallel(tasks), strict=True):
            for row in group:
                if self.candidates[row].n_trees in of_model:
                    found[row] = of_model[self.candidates[row].n_trees]
        return found

    def values(self, split: Split, name: str, units: Any) -> tuple[dict[int, float], QueryScores]:
        """Scores of the candidates that did not fail on the last fold, and their values per query, NaN for the others.

        If all failed, these are all scores, which are equal, and no queries.
        """
        of_fold = self.results[-1]
        known = {row: result.queries for row, result in of_fold.items() if result.queries}
        scores = {row: of_fold[row].test_scores[name] for row in known or of_fold}
        none: Any = np.empty(0, dtype=np.intp)
        first = next(iter(known.values()), QueryScores(none, none, none, none, None, none))
        values = np.full((len(self.candidates), len(first.ids)), np.nan)
        defined = np.zeros(values.shape, dtype=bool)
        for row, queries in known.items():
            values[row], defined[row] = queries.values, queries.defined
        # Scorers number the rows that they score, and all others those of X.
        first_rows = split[1][first.first_rows]
        groups = first_rows if units is None else units[first_rows]
        return scores, QueryScores(first.ids, first_rows, values, defined, first.weights, groups)

    def table(self) -> dict[str, Any]:
        """``cv_results_`` of scikit-learn, NaN where a candidate did not run; an error if all fits failed."""
        fitted = [result._asdict() for of_fold in self.results for result in of_fold.values()]
        say_which_fits_failed(fitted, self.fits.search.error_score)
        nothing = dict.fromkeys(self.fits.scorers, np.nan)
        blank = FoldResult(nothing, nothing, None, np.nan, np.nan)
        cells = product(range(len(self.candidates)), self.results)
        results = [of_fold.get(row, blank)._asdict() for row, of_fold in cells]
        params = [candidate.params for candidate in self.candidates]
        return results_of_fits(self.fits.search, params, len(self.results), results)

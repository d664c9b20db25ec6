"""Fit candidates on one fold after the other, and those that differ only in the number of trees at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from traceback import format_exc
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._sklearn_internals import fit_of_search
from skrank_metrics.model_selection._tree_paths import Candidate, groups_of, trees_of
from skrank_metrics.model_selection.out_of_fold import Split
from skrank_metrics.model_selection.scorers import QueryScores, keep_values


class Result(NamedTuple):
    """What scikit-learn says of a candidate on a fold, and the values per query behind the score to race by."""

    test_scores: dict[str, float]
    train_scores: dict[str, float] | None
    queries: QueryScores | None  # None if the metric has none, or the candidate failed
    fit_time: float = 0.0
    score_time: float = 0.0
    error: str | None = None  # of a fit that failed


class Scoring:
    """The scorer of one fit: scores the model by all metrics, and in the same way its first trees.

    ``results`` has one dict per call, first of the test rows and then of the training rows, by number of trees; 0
    stands for the whole model.
    """

    def __init__(self, model: Any, fits: Fits, n_trees: Sequence[int]) -> None:
        self._n_trees, self._error_score = n_trees, fits.error_score
        self._kept: list[QueryScores] = []
        scorers = dict(fits.scorers)
        if fits.raced_by is not None:
            scorers[fits.raced_by] = keep_values(scorers[fits.raced_by], self._kept)
        self._scorer = check_scoring(model, scorers, raise_exc=fits.error_score == "raise")
        self.results: list[dict[int, Result]] = []

    def get_metadata_routing(self) -> Any:
        """Request what all scorers do."""
        return self._scorer.get_metadata_routing()

    def __call__(
        self, model: Any, X: Any, y: Any, sample_weight: Any = None, **params: Any
    ) -> float:
        """Score a fitted model; scikit-learn looks for sample_weight in the signature."""
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        found: dict[int, Result] = {}
        self.results.append(found)
        found[0] = self._result(model, X, y, params)
        # A model that stopped early does not tell what smaller ones predict.
        trees = trees_of(model, fitted=True) if self._n_trees else None
        if trees is not None:
            for n_trees in self._n_trees:
                trees.use_first(n_trees)
                try:
                    found[n_trees] = self._result(model, X, y, params)
                except Exception:
                    # The smaller model is fitted on its own instead, and says it again if it is an error.
                    continue
            trees.use_first(trees.n_trees)
        # The search wants a number.
        return 0.0

    def _result(self, model: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Result:
        self._kept.clear()
        scores = self._scorer(model, X, y, **params)
        for name, score in scores.items():
            # The traceback of a scorer that failed.
            if isinstance(score, str):
                warnings.warn(
                    f"Scoring failed. {name} is set to {self._error_score}. Details:\n{score}",
                    UserWarning,
                    stacklevel=2,
                )
                scores[name] = self._error_score
        # An error in the set-up of a scorer is raised here, as its score is no number.
        scores = {name: float(score) for name, score in scores.items()}
        return Result(scores, None, self._kept[0] if self._kept else None)


@dataclass(frozen=True)
class Fits:
    """Fits and scores one model on one fold, with a search of scikit-learn that has only this candidate."""

    estimator: Any
    X: Any
    y: Any
    params: Mapping[str, Any]  # of fit
    scorers: Mapping[str, Any]
    raced_by: str | None  # the scorer whose values per query are kept
    error_score: Any
    return_train_score: bool

    def run(
        self,
        params: Mapping[str, Any],
        split: Split,
        n_trees: Sequence[int],
        place: tuple[int, int],
    ) -> dict[int, Result]:
        """Results of a model, under the number 0, and those of its first trees that could be scored."""
        model = clone(self.estimator).set_params(**clone(dict(params), safe=False))
        scoring = Scoring(model, self, n_trees)
        search = GridSearchCV(
            model,
            {},
            scoring=scoring,
            cv=[split],
            n_jobs=1,
            refit=False,
            error_score="raise",
            return_train_score=self.return_train_score,
        )
        started = time.time()
        try:
            with fit_of_search(*place):
                search.fit(self.X, self.y, **self.params)
        except Exception:
            # A scorer raises only errors in its set-up, which end the search.
            if self.error_score == "raise" or scoring.results:
                raise
            scores = dict.fromkeys(self.scorers, self.error_score)
            return {0: Result(scores, scores, None, time.time() - started, error=format_exc())}
        fit_time, score_time = (
            float(search.cv_results_[name][0]) for name in ("mean_fit_time", "mean_score_time")
        )
        test, *train = scoring.results
        found = {}
        for number, result in test.items():
            # First trees may predict on test rows only.
            if not train or number in train[0]:
                of_train = train[0][number].test_scores if train else None
                found[number] = result._replace(
                    train_scores=of_train, fit_time=fit_time, score_time=score_time
                )
        return found


@dataclass
class Rounds:
    """Runs candidates on folds, and keeps the results by candidate and fold."""

    fits: Fits
    parallel: Parallel
    candidates: list[Candidate]
    results: dict[tuple[int, int], Result] = field(default_factory=dict)
    n_fits: int = 0

    def run(self, rows: Sequence[int], fold: int, split: Split) -> None:
        """Fit candidates on a fold; on the first, also the smallest of each path, to check those that share fits."""
        groups = groups_of(self.candidates, rows)
        smallest = []
        if fold == 0:
            smallest = [group[-1] for group in groups if self._smaller(group)]
        tasks = [(group[0], self._smaller(group)) for group in groups]
        models = self._fitted([*tasks, *((row, []) for row in smallest)], fold, split)
        found = {}
        for group, of_model in zip(groups, models, strict=False):
            for row in group:
                is_largest = self.candidates[row].n_trees == self.candidates[group[0]].n_trees
                number = 0 if is_largest else self.candidates[row].n_trees
                if number in of_model:
                    found[row] = of_model[number]
        alone = {
            row: of_model[0] for row, of_model in zip(smallest, models[len(groups) :], strict=True)
        }
        for row, own in alone.items():
            if row in found and own.error is None and found[row].test_scores != own.test_scores:
                self._share_no_more(row)
                found = {
                    group[0]: of_model[0] for group, of_model in zip(groups, models, strict=False)
                }
                break
        found |= alone
        others = [row for row in rows if row not in found]
        of_others = self._fitted([(row, []) for row in others], fold, split)
        found |= {row: of_model[0] for row, of_model in zip(others, of_others, strict=True)}
        self.results |= {(row, fold): result for row, result in found.items()}
        self._warn_of_failures(list(found.values()), fold)

    def _smaller(self, group: Sequence[int]) -> list[int]:
        """Numbers of trees of the candidates that are smaller than the first of their path."""
        numbers = {self.candidates[row].n_trees for row in group}
        return sorted(numbers - {self.candidates[group[0]].n_trees})

    def _fitted(
        self, tasks: Sequence[tuple[int, Sequence[int]]], fold: int, split: Split
    ) -> list[dict[int, Result]]:
        self.n_fits += len(tasks)
        results: Iterable[dict[int, Result]] = self.parallel(
            delayed(self.fits.run)(self.candidates[row].params, split, n_trees, (place, fold))
            for place, (row, n_trees) in enumerate(tasks)
        )
        return list(results)

    def _share_no_more(self, row: int) -> None:
        """Fit each candidate on its own, since first trees predict otherwise than the smaller model."""
        warnings.warn(
            f"The first {self.candidates[row].n_trees} trees of a model do not predict what a model of as many trees "
            "predicts, so each candidate is fitted on its own. If fits are random, set random_state.",
            UserWarning,
            stacklevel=2,
        )
        self.candidates = [Candidate(candidate.params) for candidate in self.candidates]

    def _warn_of_failures(self, results: Sequence[Result], fold: int) -> None:
        errors = [result.error for result in results if result.error is not None]
        if errors:
            warnings.warn(
                f"In fold {fold}: {len(errors)} fits failed out of a total of {len(results)}. Their scores are "
                f"{self.fits.error_score}; error_score='raise' stops at the first. The first error:\n{errors[0]}",
                FitFailedWarning,
                stacklevel=2,
            )

    def check_any_fitted(self) -> None:
        """Raise an error, in the words of scikit-learn, if all fits failed."""
        errors = [result.error for result in self.results.values()]
        if None not in errors:
            raise ValueError(
                f"\nAll the {len(errors)} fits failed.\nIt is very likely that your model is misconfigured.\nYou can "
                "try to debug the error by setting error_score='raise'.\n\nBelow are more details about the "
                f"failures:\n{errors[0]}"
            )

    def values(
        self, fold: int, split: Split, name: str, units: Any
    ) -> tuple[dict[int, float], QueryScores]:
        """Scores of the candidates that did not fail on a fold, and their values per query, NaN for the others.

        If all failed, these are all scores, which are equal, and no queries.
        """
        of_fold = {row: result for (row, number), result in self.results.items() if number == fold}
        known = {
            row: result.queries for row, result in of_fold.items() if result.queries is not None
        }
        scores = {row: of_fold[row].test_scores[name] for row in known or of_fold}
        if not known:
            nothing = np.empty(0, dtype=np.intp)
            empty = np.empty((len(self.candidates), 0))
            return scores, QueryScores(nothing, nothing, empty, empty > 0, None)
        first = next(iter(known.values()))
        values = np.full((len(self.candidates), len(first.ids)), np.nan)
        defined = np.zeros(values.shape, dtype=bool)
        for row, queries in known.items():
            values[row], defined[row] = queries.values, queries.defined
        # Scorers number the rows that they score, and all others those of X.
        first_rows = split[1][first.first_rows]
        groups = None if units is None else units[first_rows]
        return scores, first._replace(
            first_rows=first_rows, values=values, defined=defined, groups=groups
        )

    def table(self, n_folds: int) -> list[dict[str, Any]]:
        """Results by candidate and fold in the form of scikit-learn, NaN where a candidate did not run."""
        one = next(iter(self.results.values()))
        nothing = dict.fromkeys(one.test_scores, np.nan)
        blank = Result(nothing, nothing, None, np.nan, np.nan)
        cells = [(row, fold) for row in range(len(self.candidates)) for fold in range(n_folds)]
        return [self.results.get(cell, blank)._asdict() for cell in cells]

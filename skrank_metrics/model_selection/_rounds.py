"""Run the folds of a search one after the other: what is fitted in each.

scikit-learn fits, scores and keeps only numbers, so what else a race needs travels with these numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from numbers import Number
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._sklearn_internals import results_of_failed_fits
from skrank_metrics.model_selection.out_of_fold import Split
from skrank_metrics.model_selection.scorers import QueryScores, ScoreOfQueries
from skrank_metrics.model_selection.tree_paths import Candidate, groups_of, trees_of

_NOTHING: Any = np.empty(0, dtype=np.intp)
NO_QUERIES = QueryScores(_NOTHING, _NOTHING, _NOTHING, _NOTHING, None)


class Folds:
    """The splits of a search, made once and handed out one by one."""

    def __init__(self, cv: Any, splits: list[Split], units: Any) -> None:
        self.cv, self.splits = cv, splits
        # Of a race: the number of the query of each row, or of the group of queries that is an observation.
        self.units = units
        # The one to hand out; None for all of them.
        self.fold: int | None = 0

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows, since workers get those of their fold from scikit-learn."""
        return {**vars(self), "splits": [], "units": None}

    def get_metadata_routing(self) -> Any:
        """Request what the splitter does."""
        return get_routing_for_object(self.cv)

    def get_n_splits(self, X: Any = None, y: Any = None, **given: Any) -> int:
        """How many folds scikit-learn gets in each call, which compares this number with that of the splits."""
        if self.fold is None:
            return int(self.cv.get_n_splits(X, y, **given))
        return len(self.split())

    def split(self, *_: Any, **__: Any) -> list[Split]:
        """The chosen fold, or all; none if there is none at all."""
        if self.fold is None:
            return self.splits
        return self.splits[self.fold : self.fold + 1]


class Watched(_MultimetricScorer):  # type: ignore[misc]
    """Scores a fitted model and, if others of its path are in the search, its first trees, side by side."""

    n_trees: frozenset[int] = frozenset()  # to score

    def __call__(self, estimator: Any, X: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Score a model by all metrics, and its first trees."""
        scores: dict[str, Any] = super().__call__(estimator, X, *args, **kwargs)
        if not self.n_trees:
            return scores
        trees = trees_of(estimator, fitted=True)
        # A model that stopped early does not tell what smaller ones predict.
        if trees is None:
            return scores
        for n_trees in self.n_trees:
            if n_trees >= trees.n_trees:
                continue
            trees.use_first(n_trees)
            try:
                of_first = super().__call__(estimator, X, *args, **kwargs)
            except Exception:
                # Whatever it is, the smaller model is fitted on its own instead, and says it again if it is an error.
                continue
            for name, score in of_first.items():
                if isinstance(score, Number):
                    scores[_of_first(n_trees, name)] = score
        trees.use_first(trees.n_trees)
        return scores


def _of_first(n_trees: int, name: str) -> str:
    """The key of a score of the first trees, unlike any name of a metric."""
    return f"{name}\n{n_trees}"


class Rounds:
    """Fits candidates on folds, those that differ only in the number of trees at once."""

    def __init__(
        self,
        folds: Folds,
        evaluate_candidates: Callable[[list[Any]], dict[str, Any]],
        candidates: list[Candidate],
        watched: Watched | None,
        key: str | None,
    ) -> None:
        self._folds = folds
        # Of scikit-learn: fits parameters on the chosen fold, and returns all results so far.
        self._evaluate_candidates = evaluate_candidates
        # What it returned last, and its error if all fits failed.
        self.returned: dict[str, Any] = {}
        self.error: ValueError | None = None
        self.candidates = candidates
        # None if there are neither values per query nor paths.
        self._watched = watched
        # Of the metric by which candidates are compared, if there are several.
        self._key = key
        # Of scikit-learn, by candidate and fold.
        self.results: dict[tuple[int, int], dict[str, Any]] = {}
        self.n_fits = 0

    def run_at_once(self) -> None:
        """Fit all candidates on all folds, as GridSearchCV does."""
        self.returned = self._evaluate_candidates([one.params for one in self.candidates])
        results = self.returned["out"]
        self.n_fits = len(results)
        cells = product(range(len(self.candidates)), range(len(self._folds.splits)))
        for cell, result in zip(cells, results, strict=True):
            self.results[cell] = self._of_model(result)

    def run(self, rows: Sequence[int], fold: int) -> None:
        """Fit candidates on a fold; on the first, also the smallest of each path, to check those that share fits."""
        groups = groups_of(self.candidates, rows)
        if self._watched:
            others = [row for group in groups for row in group[1:]]
            self._watched.n_trees = frozenset(self.candidates[row].n_trees for row in others)
        smallest = []
        if not self.results:
            smallest = [group[-1] for group in groups if self._differ(group[0], group[-1])]
        models = self._fitted([*(group[0] for group in groups), *smallest], fold)
        found = self._first_trees(groups, models)
        own = {row: self._of_model(result) for row, result in models.items()}
        wrong = [row for row in smallest if row in found and not _agree(found[row], own[row])]
        if wrong:
            self._share_no_more(wrong[0])
            found = {}
        found |= own
        alone = [row for row in rows if row not in found]
        if alone:
            fitted = self._fitted(alone, fold)
            found |= {row: self._of_model(result) for row, result in fitted.items()}
        self.results |= {(row, fold): result for row, result in found.items()}

    def _differ(self, large: int, small: int) -> bool:
        return self.candidates[large].n_trees > self.candidates[small].n_trees

    def _fitted(self, rows: Sequence[int], fold: int) -> dict[int, dict[str, Any]]:
        self.n_fits += len(rows)
        self._folds.fold = fold
        try:
            self.returned = self._evaluate_candidates([self.candidates[row].params for row in rows])
            results = self.returned["out"][-len(rows) :]
        except ValueError as error:
            results = results_of_failed_fits(error)
            if results is None:
                raise
            self.error = error
            # As scikit-learn does if only some fits of a search fail.
            warnings.warn(f"In fold {fold}: {error}", FitFailedWarning, stacklevel=2)
        return dict(zip(rows, results, strict=True))

    def _first_trees(
        self, groups: Sequence[Sequence[int]], models: Mapping[int, dict[str, Any]]
    ) -> dict[int, dict[str, Any]]:
        """Results of candidates from those of the largest of their path, if its first trees were scored."""
        found = {}
        for head, *others in groups:
            for row in others:
                n_trees = self.candidates[row].n_trees if self._differ(head, row) else None
                parts = self._scores(models[head], n_trees)
                if parts is not None:
                    found[row] = models[head] | parts
        return found

    def _of_model(self, result: dict[str, Any]) -> dict[str, Any]:
        """Put the scores of a model where scikit-learn expects them."""
        result |= self._scores(result, None) or {}
        return result

    def _scores(self, result: Mapping[str, Any], n_trees: int | None) -> dict[str, Any] | None:
        """Scores of a model, or of its first trees, in the form of scikit-learn; None if these were not scored."""
        if not self._watched:
            return None
        parts = {}
        for part in {"test_scores", "train_scores"} & result.keys():
            scores = {}
            for name in self._watched._scorers:
                of_model = name if n_trees is None else _of_first(n_trees, name)
                scores[name] = result[part].get(of_model)
            if None in scores.values():
                return None
            parts[part] = scores if self._key else scores["score"]
        return parts

    def _share_no_more(self, row: int) -> None:
        """Fit each candidate on its own, since first trees predict otherwise than the smaller model."""
        warnings.warn(
            f"The first {self.candidates[row].n_trees} trees of a model do not predict what a model of as many trees "
            "predicts, so each candidate is fitted on its own. If fits are random, set random_state.",
            UserWarning,
            stacklevel=2,
        )
        self.candidates = [Candidate(candidate.params) for candidate in self.candidates]

    def values(self, fold: int) -> tuple[dict[int, float], QueryScores]:
        """Scores of the candidates that did not fail on a fold, and their values per query, NaN for the others.

        If all failed, these are all scores, which are equal, and no queries.
        """
        scores: dict[int, float] = {}
        for (row, number), result in self.results.items():
            if number == fold:
                of_row = result["test_scores"]
                # A callable names its scores itself, and is no race's.
                named = isinstance(of_row, dict)
                scores[row] = of_row.get(self._key, np.nan) if named else of_row
        done = {row: score for row, score in scores.items() if isinstance(score, ScoreOfQueries)}
        first = next((score.queries for score in done.values()), NO_QUERIES)
        shape = (len(self.candidates), len(first.ids))
        values, defined = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
        for row, score in done.items():
            values[row] = score.queries.values
            defined[row] = score.queries.defined
        of_all = {row: float(score) for row, score in (done or scores).items()}
        # Scorers number the rows that they score, and all others those of X.
        first_rows = self._folds.splits[fold][1][first.first_rows]
        groups = None
        if self._folds.units is not None:
            groups = self._folds.units[first_rows]
        return of_all, QueryScores(first.ids, first_rows, values, defined, first.weights, groups)

    def table(self, n_folds: int) -> list[dict[str, Any]]:
        """Results by candidate and fold in the form of scikit-learn, NaN where a candidate did not run."""
        # scikit-learn makes columns of the entries of the first result.
        blank = {}
        for name, value in next(iter(self.results.values())).items():
            blank[name] = dict.fromkeys(value, np.nan) if isinstance(value, dict) else np.nan
        cells = product(range(len(self.candidates)), range(n_folds))
        return [self.results.get(cell, blank) for cell in cells]


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether scores are equal to the bit; those of a model that failed are not compared."""
    return other["fit_error"] is not None or one["test_scores"] == other["test_scores"]

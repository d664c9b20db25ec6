"""Run the folds of a search one after the other: what is fitted in each.

scikit-learn fits, scores and keeps only numbers, so what else a race needs travels with these numbers.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from numbers import Number
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._input.arrays import IntArray, count_rows
from skrank_metrics._input.query_ids import group_by_query
from skrank_metrics._sklearn_internals import how_to_pass_ids
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS, QueryScores, ScoreOfQueries
from skrank_metrics.model_selection.tree_paths import Candidate, first_trees, groups_of, n_trees_of
from skrank_metrics.splitters.audit import check_splits, split_rows

# Of scikit-learn, by candidate and fold.
Results = dict[tuple[int, int], dict[str, Any]]


class Folds:
    """The splits of a search, made once and handed out one by one."""

    def __init__(self, cv: Any, ids: Mapping[str, Any] | None) -> None:
        self.cv = cv
        # By argument of fit; None if queries need not be whole.
        self.ids = ids
        self.splits: list[tuple[IntArray, IntArray]] = []
        # Tested in each fold.
        self.n_queries: Any = None
        # The one to hand out; None for all of them.
        self.fold: int | None = 0

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows, since workers get those of their fold from scikit-learn."""
        return {**vars(self), "splits": [], "ids": None}

    def get_metadata_routing(self) -> Any:
        """Request what the splitter does."""
        return get_routing_for_object(self.cv)

    def get_n_splits(self, X: Any = None, y: Any = None, **given: Any) -> int:
        """How many folds scikit-learn gets in each call; it asks before the first one."""
        splits = self.cv.split(X, y, **given) if self.ids is None else self._whole(X, y)
        # A side may be a mask, too.
        rows = np.arange(count_rows(X))
        self.splits = [(rows[train], rows[test]) for train, test in splits]
        if self.fold is None:
            # scikit-learn compares this with the number of results.
            n_folds: int = self.cv.get_n_splits(X, y, **given)
            return n_folds
        return len(self.split())

    def split(self, *_: Any, **__: Any) -> list[tuple[IntArray, IntArray]]:
        """The chosen fold, or all; none if there is none at all."""
        if self.fold is None:
            return self.splits
        return self.splits[self.fold : self.fold + 1]

    def _whole(self, X: Any, y: Any) -> list[tuple[IntArray, IntArray]]:
        """The folds of a race, which must keep queries whole."""
        ids = dict(self.ids or {})
        n_rows = 0 if y is None else len(y)
        # Splitters of scikit-learn do not look for ids in the index of y, so they get them as groups.
        queries = group_by_query(n_rows, "RacingSearchCV", y=y, **ids, hint=how_to_pass_ids())
        qid = queries.spread(queries.ids)
        units = qid if ids["groups"] is None else ids["groups"]
        splits = split_rows(self.cv, X, y, units, qid)
        check_splits(splits, self.cv, X, np.asarray(y), qid=qid, groups=ids["groups"])
        self.n_queries = np.array([len(np.unique(queries.codes[test])) for _, test in splits])
        return splits


class FirstTrees(float):
    """What is known of the first trees of a model, as a number, since scikit-learn takes nothing else for a score."""

    def __init__(self) -> None:
        # By number of trees, and by metric.
        self.scores: dict[int, dict[str, Any]] = {}
        # Of predictions, by number of trees.
        self.digests: dict[int, int] = {}


# The key of the FirstTrees among the scores of a model, unlike any name of a metric.
FIRST_TREES = "(first trees)"


class Watched(_MultimetricScorer):  # type: ignore[misc]
    """Scores a fitted model and, if others of its path are in the search, its first trees, side by side."""

    n_trees: frozenset[int] = frozenset()  # to score
    checked: frozenset[int] = frozenset()  # whose predictions to compare with a model of that size

    def __call__(self, estimator: Any, X: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Score a model by all metrics, and its first trees."""
        scores: dict[str, Any] = super().__call__(estimator, X, *args, **kwargs)
        first = FirstTrees()
        n_trees = n_trees_of(estimator)
        if n_trees in self.checked and _succeeded(scores):
            first.digests[n_trees] = _digest(estimator, X)
        for number in self.n_trees:
            if number >= n_trees:
                continue
            try:
                model = first_trees(estimator, number)
                of_model = super().__call__(model, X, *args, **kwargs)
                if number in self.checked:
                    first.digests[number] = _digest(model, X)
            except Exception:
                # Whatever it is, the smaller model is fitted on its own instead, and says it again if it is an error.
                continue
            if _succeeded(of_model):
                first.scores[number] = of_model
        return scores | {FIRST_TREES: first}


def _succeeded(scores: Mapping[str, Any]) -> bool:
    return all(isinstance(score, Number) for score in scores.values())


def _digest(model: Any, X: Any) -> int:
    """A number that differs if predictions differ in any bit."""
    method = next(name for name in RESPONSE_METHODS if hasattr(model, name))
    predictions = np.ascontiguousarray(getattr(model, method)(X)).tobytes()
    return int.from_bytes(hashlib.blake2b(predictions, digest_size=8).digest(), "little")


@dataclass
class Rounds:
    """Fits candidates on folds, those that differ only in the number of trees at once."""

    # By candidate, on the fold with this number; for None, by candidate and fold.
    fit: Callable[[Sequence[Mapping[str, Any]], int | None], list[dict[str, Any]]]
    candidates: list[Candidate]
    watched: Watched | None  # None if there are neither values per query nor paths
    key: str | None  # of the metric by which candidates are compared, if there are several
    results: Results = field(default_factory=dict)
    n_fits: int = 0
    n_trees: int = 0

    def run_at_once(self, n_folds: int) -> None:
        """Fit all candidates on all folds, as GridSearchCV does."""
        results = self.fit([candidate.params for candidate in self.candidates], None)
        cells = product(range(len(self.candidates)), range(n_folds))
        for (row, fold), result in zip(cells, results, strict=True):
            self._keep(row, fold, result)

    def run(self, rows: Sequence[int], fold: int) -> None:
        """Fit candidates on a fold; the first call checks those that share a fit."""
        groups = groups_of(self.candidates, rows)
        checks = [] if self.results else self._checks(groups)
        if self.watched:
            self.watched.n_trees = self._counts(row for group in groups for row in group[1:])
            self.watched.checked = self._counts(small for _, small in checks)
        heads = [group[0] for group in groups]
        self._fit([*heads, *(small for _, small in checks)], fold)
        for large, small in checks:
            self._compare(large, small, fold)
        # Fewer share a fit now if a check has failed.
        for head, *others in groups_of(self.candidates, rows):
            for row in others:
                self._take_first_trees(row, head, fold)
        alone = [row for row in rows if (row, fold) not in self.results]
        if alone:
            self._fit(alone, fold)

    def _counts(self, rows: Iterable[int]) -> frozenset[int]:
        return frozenset(self.candidates[row].n_trees for row in rows)

    def _checks(self, groups: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        """For each path, the largest model and the smallest one, which is to be part of it."""
        checks = []
        for large, *_, small in (group for group in groups if len(group) > 1):
            if self.candidates[large].n_trees > self.candidates[small].n_trees:
                checks.append((large, small))
        return checks

    def _fit(self, rows: Sequence[int], fold: int) -> None:
        results = self.fit([self.candidates[row].params for row in rows], fold)
        for row, result in zip(rows, results, strict=True):
            self._keep(row, fold, result)

    def _keep(self, row: int, fold: int, result: dict[str, Any]) -> None:
        self.n_fits += 1
        self.n_trees += self.candidates[row].n_trees
        if self.watched:
            self._unpack(result)
        self.results[row, fold] = result

    def _unpack(self, result: dict[str, Any]) -> None:
        """Put the scores of a model where scikit-learn expects them, and what is known of its first trees elsewhere."""
        result[FIRST_TREES] = {}
        for part in ("test_scores", "train_scores"):
            if part in result:
                # If the fit failed, there is an error_score by metric alone.
                result[FIRST_TREES][part] = result[part].pop(FIRST_TREES, FirstTrees())
                result[part] = self._plain(result[part])

    def _plain(self, scores: dict[str, Any]) -> Any:
        """Scores by metric, or that of the only one."""
        return scores if self.key else scores["score"]

    def _compare(self, large: int, small: int, fold: int) -> None:
        """Give up sharing for a class if the first trees of a model predict otherwise than the smaller model."""
        kind, n_trees = self.candidates[small].kind, self.candidates[small].n_trees
        digests = set()
        for row in (large, small):
            digests.add(self.results[row, fold][FIRST_TREES]["test_scores"].digests.get(n_trees))
        # A digest of None means that one of the two failed. A class without paths has had its warning.
        if self.candidates[small].path is None or None in digests or len(digests) == 1:
            return
        warnings.warn(
            f"The first {n_trees} trees of a {kind} do not predict what a model of as many trees predicts, so each "
            "candidate is fitted on its own. If fits are random, set random_state.",
            UserWarning,
            stacklevel=2,
        )
        for row, candidate in enumerate(self.candidates):
            if candidate.kind == kind:
                self.candidates[row] = replace(candidate, path=None)

    def _take_first_trees(self, row: int, head: int, fold: int) -> None:
        """Results of a candidate from those of the largest of its path, if its first trees were scored."""
        largest, n_trees = self.results[head, fold], self.candidates[row].n_trees
        first = largest[FIRST_TREES]
        if n_trees == self.candidates[head].n_trees:
            self.results[row, fold] = largest
        elif all(n_trees in known.scores for known in first.values()):
            scores = {part: self._plain(known.scores[n_trees]) for part, known in first.items()}
            self.results[row, fold] = largest | scores

    def values(self, fold: int) -> tuple[dict[int, float], QueryScores]:
        """Scores of the candidates that did not fail on a fold, and their values per query, NaN for the others.

        If all failed, these are all scores, which are equal, and no queries.
        """
        scores = {}
        for (row, number), result in self.results.items():
            if number == fold:
                of_row = result["test_scores"]
                # A callable names its scores itself, and is no race's.
                named = isinstance(of_row, dict)
                scores[row] = of_row.get(self.key, np.nan) if named else of_row
        done = {row: score for row, score in scores.items() if isinstance(score, ScoreOfQueries)}
        first = next((score.queries for score in done.values()), NO_QUERIES)
        shape = (len(self.candidates), len(first.ids))
        values, defined = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
        for row, score in done.items():
            values[row] = score.queries.values
            defined[row] = score.queries.defined
        of_all = {row: float(score) for row, score in (done or scores).items()}
        return of_all, QueryScores(first.ids, first.first_rows, values, defined, first.weights)

    def table(self, n_folds: int) -> list[dict[str, Any]]:
        """Results by candidate and fold in the form of scikit-learn, NaN where a candidate did not run."""
        # scikit-learn makes columns of the entries of the first result.
        blank = {}
        for name, value in next(iter(self.results.values())).items():
            blank[name] = dict.fromkeys(value, np.nan) if isinstance(value, dict) else np.nan
        cells = product(range(len(self.candidates)), range(n_folds))
        return [self.results.get(cell, blank) for cell in cells]


NO_QUERIES = QueryScores(
    ids=np.empty(0, dtype=np.intp),
    first_rows=np.empty(0, dtype=np.intp),
    values=np.empty(0),
    defined=np.empty(0, dtype=bool),
    weights=None,
)

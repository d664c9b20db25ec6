"""Run the folds of a search one after the other: what is fitted in each, and what scikit-learn's results hold of it.

scikit-learn fits and scores. Its searches let subclasses choose what runs next, but call scorers with models only and
keep numbers only, so what else a race needs travels with these numbers.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any, cast

import numpy as np
from sklearn.metrics._scorer import _MultimetricScorer

from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import ids_in_index, query_ids
from skrank_metrics._sklearn_internals import routing_enabled, ways_out
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS, QueryScores
from skrank_metrics.model_selection.tree_paths import Candidate, first_trees, groups_of, n_trees_of
from skrank_metrics.splitters.audit import check_splits

Scores = float | dict[str, float]


class Folds:
    """The splits of a search, made once and handed out one by one, or all at once."""

    def __init__(self, cv: Any, ids: Mapping[str, Any], *, whole: bool, at_once: bool) -> None:
        self.cv = cv
        self.at_once = at_once
        self.ids = ids  # by argument of fit
        self.whole = whole  # whether queries must be
        self.splits: list[tuple[IntArray, IntArray]] | None = None
        self.n_queries: IntArray = np.zeros(0, dtype=np.intp)  # tested in each fold
        self.n_folds = 0
        self.chosen: Sequence[int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows, which workers get otherwise."""
        return {**vars(self), "splits": None, "ids": {}}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "cv":
            raise AttributeError(name)
        return getattr(self.cv, name)  # such as the metadata that it requests

    def get_n_splits(self, *args: Any, **given: Any) -> int:
        """How many folds scikit-learn gets in each call."""
        self.n_folds = self.cv.get_n_splits(*args, **given)
        return self.n_folds if self.at_once else min(1, self.n_folds)

    def split(self, X: Any, y: Any = None, **given: Any) -> list[tuple[IntArray, IntArray]]:
        """The chosen folds, or all."""
        if self.splits is None:
            queries = self._queries(y) if self.whole else None
            self.splits = list(self.cv.split(X, y, **given))
            if len(self.splits) != self.n_folds and not self.at_once:  # otherwise, scikit-learn says so
                raise ValueError(f"cv must split as often as it says; got {len(self.splits)} for {self.n_folds}.")
            if queries is not None:
                groups = self.ids.get("groups")
                check_splits(self.splits, self.cv, X, np.asarray(y), qid=queries.ids[queries.codes], groups=groups)
                self.n_queries = np.array([len(np.unique(queries.codes[test])) for _, test in self.splits])
        return self.splits if self.chosen is None or self.at_once else [self.splits[number] for number in self.chosen]

    def _queries(self, y: Any) -> Grouping:
        qid, groups = self.ids.get("qid"), self.ids.get("groups")
        ways = ways_out("groups" if routing_enabled() else "")
        if not routing_enabled() and ids_in_index(y) is None and (qid is not None or groups is not None):
            raise TypeError(
                f"{ways} Without metadata routing, scorers get no query ids but those in the index of y; got "
                f"{'groups' if qid is None else 'qid'}=."
            )
        return query_ids(0 if y is None else len(y), "RacingSearchCV", y=y, qid=qid, groups=groups, ways_out=ways)


class Score(float):
    """A score with the values per query behind it, and the scores of models of fewer trees."""

    queries: QueryScores | None
    first: dict[int, tuple[Scores, float]]  # by number of trees, with the seconds it took to score
    digests: dict[int, bytes]  # of predictions, by number of trees


class Watched:
    """Scores a fitted model and, if others of its path are in the search, its first trees."""

    def __init__(self, scorers: Any, key: str) -> None:
        self.scorers = scorers
        self.key = key  # of the scorer by which candidates are compared, which keeps values if it is of this package
        self.n_trees: frozenset[int] = frozenset()  # to score
        self.checked: frozenset[int] = frozenset()  # whose predictions to compare with a model of that size

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "scorers":
            raise AttributeError(name)
        return getattr(self.scorers, name)

    def __call__(self, estimator: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Score a model; the score of the key is a Score."""
        scores = self._scores(estimator, X, args, kwargs)
        kept = scores[self.key] if isinstance(scores, dict) else scores
        if not isinstance(kept, Score):  # scikit-learn handles failures
            return scores
        n_trees = n_trees_of(estimator)
        kept.first, kept.digests = {}, {}
        if n_trees in self.checked:
            kept.digests[n_trees] = _digest(estimator, X)
        for number in (n for n in self.n_trees if n_trees is not None and n < n_trees):
            started = time.time()
            try:
                model = first_trees(estimator, number)
                found: Any = None if model is None else self._scores(model, X, args, kwargs)
                if number in self.checked and model is not None:
                    kept.digests[number] = _digest(model, X)
            except Exception:  # the model is fitted on its own instead
                continue
            if all(isinstance(one, Number) for one in (found.values() if isinstance(found, dict) else [found])):
                kept.first[number] = found, time.time() - started
        return scores

    def _scores(self, estimator: Any, X: Any, args: Any, kwargs: Any) -> Any:
        scores = self.scorers(estimator, X, *args, **kwargs)
        found: Any = scores[self.key] if isinstance(scores, dict) else scores
        if not isinstance(found, Number):
            return scores
        kept = Score(cast(float, found))
        kept.queries = getattr(found, "queries", None)
        return {**scores, self.key: kept} if isinstance(scores, dict) else kept


class WatchedMultimetric(Watched, _MultimetricScorer):  # type: ignore[misc]
    """The same for several metrics, which scikit-learn tells by the class."""


def _digest(model: Any, X: Any) -> bytes:
    method = next(name for name in RESPONSE_METHODS if hasattr(model, name))
    return hashlib.blake2b(np.ascontiguousarray(getattr(model, method)(X)).tobytes()).digest()


@dataclass
class Rounds:
    """Fits candidates on folds, those that differ only in the number of trees at once."""

    fit: Callable[[Sequence[Mapping[str, Any]], Sequence[int]], list[dict[str, Any]]]  # by candidate, then by fold
    candidates: list[Candidate]
    watched: Watched | None
    results: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)  # by candidate and fold
    n_fits: int = 0
    n_trees: int = 0

    def run(self, rows: Sequence[int], folds: Sequence[int]) -> None:
        """Fit candidates on folds; the first call checks paths, so it may only be about one fold."""
        groups = list(groups_of(self.candidates, rows))
        checks = {} if self.results else self._checks(groups)
        if self.watched is not None:
            self.watched.n_trees = frozenset(self._n_trees(row) for group in groups for row in group[1:])
            self.watched.checked = frozenset(self._n_trees(small) for _, small in checks.values())
        first = self._fit([*(group[0] for group in groups), *(small for _, small in checks.values())], folds)
        failed = {row for (row, _), result in first.items() if result["fit_error"] is not None}
        broken = self._broken(checks, folds[0], first)
        for fold in folds:
            alone: list[int] = []
            for group in groups:
                self.results[group[0], fold] = first[group[0], fold]
                given_up = self.candidates[group[0]].kind in broken
                alone += group[1:] if given_up else self._of_path(group, fold, first[group[0], fold])
            if alone:
                # If all fits of a call fail, scikit-learn raises an error, so one that did not fail goes with them.
                sound = [row for row, _ in first if row not in failed and row not in alone]
                found = self._fit([*alone, *sound[:1]], [fold])
                self.results |= {(row, fold): found[row, fold] for row in alone}
        # Whose largest model fails may fit with fewer trees.
        paths = {self.candidates[row].path for row in failed}
        self.candidates = [
            replace(one, path=None) if one.kind in broken or one.path in paths else one for one in self.candidates
        ]

    def _n_trees(self, row: int) -> int:
        return self.candidates[row].n_trees or 0

    def _fit(self, rows: Sequence[int], folds: Sequence[int]) -> dict[tuple[int, int], dict[str, Any]]:
        found = self.fit([self.candidates[row].params for row in rows], folds)
        self.n_fits += len(found)
        self.n_trees += len(folds) * sum(map(self._n_trees, rows))
        return dict(zip(((row, fold) for row in rows for fold in folds), found, strict=True))

    def _of_path(self, group: Sequence[int], fold: int, result: dict[str, Any]) -> list[int]:
        """Record the candidates that share a fit, and return those that must be fitted on their own."""
        kept: dict[str, Any] = {
            name: self._kept(result[name]) for name in ("test_scores", "train_scores") if name in result
        }
        alone = []
        for row in group[1:]:
            n_trees = self._n_trees(row)
            if n_trees == self._n_trees(group[0]):
                self.results[row, fold] = result
            elif all(isinstance(one, Score) and n_trees in one.first for one in kept.values()):
                scores = {name: one.first[n_trees][0] for name, one in kept.items()}
                self.results[row, fold] = {**result, **scores, "score_time": kept["test_scores"].first[n_trees][1]}
            else:
                alone.append(row)
        return alone

    def _kept(self, scores: Any) -> Any:
        return scores[self.watched.key] if isinstance(scores, dict) and self.watched else scores

    def _checks(self, groups: Iterable[Sequence[int]]) -> dict[str, tuple[int, int]]:
        """The cheapest check of each class of estimators: rows of a model, and of one of fewer trees."""
        checks: dict[str, tuple[int, int]] = {}
        for large, *_, small in (group for group in groups if self._n_trees(group[0]) > self._n_trees(group[-1])):
            kind = self.candidates[large].kind
            if kind not in checks or self._n_trees(small) < self._n_trees(checks[kind][1]):
                checks[kind] = large, small
        return checks

    def _broken(self, checks: Mapping[str, tuple[int, int]], fold: int, first: Mapping[Any, Any]) -> set[str]:
        """Classes of estimators whose first trees predict otherwise than a model of that size, in any bit."""
        broken = set()
        for kind, (large, small) in checks.items():
            n_trees, kept = (
                self._n_trees(small),
                [self._kept(first[row, fold]["test_scores"]) for row in (large, small)],
            )
            digests = [getattr(score, "digests", {}).get(n_trees) for score in kept]
            if None not in digests and digests[0] != digests[1]:
                warnings.warn(
                    f"The first {n_trees} trees of a {kind} do not predict what a model of as many trees "
                    "predicts, so each candidate is fitted on its own. If fits are random, set random_state.",
                    UserWarning,
                    stacklevel=2,
                )
                broken.add(kind)
        return broken

    def values(self, fold: int) -> tuple[dict[int, float], QueryScores | None]:
        """Scores of the candidates that did not fail on a fold, and their values per query, NaN for the others."""
        found = {row: self._kept(one["test_scores"]) for (row, number), one in self.results.items() if number == fold}
        done = {row: score for row, score in found.items() if isinstance(score, Score) and score.queries is not None}
        if not done:
            return {}, None
        first: Any = next(iter(done.values())).queries
        values = np.full((len(self.candidates), len(first.ids)), np.nan)
        for row, score in done.items():
            values[row] = cast(QueryScores, score.queries).values
        return {row: float(score) for row, score in done.items()}, first._replace(values=values)

    def table(self, n_folds: int) -> list[dict[str, Any]]:
        """Results by candidate and fold in the form of scikit-learn, NaN where a candidate did not run."""
        one = next(iter(self.results.values()))
        blank = {
            name: dict.fromkeys(value, np.nan) if isinstance(value, dict) else None if name == "fit_error" else np.nan
            for name, value in one.items()
        }
        return [self.results.get((row, fold), blank) for row in range(len(self.candidates)) for fold in range(n_folds)]

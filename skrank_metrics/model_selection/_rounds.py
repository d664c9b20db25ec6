"""Run the folds of a search one after the other: what is fitted in each.

scikit-learn fits, scores and keeps only numbers, so what else a race needs travels with these numbers.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import group_by_query, ids_in_index
from skrank_metrics._sklearn_internals import how_to_pass_ids, routing_enabled
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS, QueryScores, ScoreOfQueries
from skrank_metrics.model_selection.tree_paths import Candidate, first_trees, groups_of, n_trees_of
from skrank_metrics.splitters.audit import check_splits

Results = dict[tuple[int, int], dict[str, Any]]  # of scikit-learn, by candidate and fold


class Folds:
    """The splits of a search, made once and handed out one by one, or all at once."""

    def __init__(self, cv: Any, ids: Mapping[str, Any] | None, *, at_once: bool) -> None:
        self.cv = cv
        self.ids = ids  # by argument of fit, if queries must be whole
        self.at_once = at_once
        self.splits: list[tuple[IntArray, IntArray]] = []
        self.n_folds = 0
        self.n_queries: Any = None  # tested in each fold
        self.chosen: Sequence[int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows, which workers get otherwise, and what checks them."""
        return {**vars(self), "splits": [], "ids": None}

    def get_metadata_routing(self) -> Any:
        """Request what the splitter does."""
        return get_routing_for_object(self.cv)

    def get_n_splits(self, X: Any = None, y: Any = None, **given: Any) -> int:
        """How many folds scikit-learn gets in each call."""
        self.n_folds = (
            self.cv.get_n_splits(X, y, **given) if self.at_once else len(self.split(X, y, **given))
        )
        return self.n_folds if self.at_once else min(1, self.n_folds)

    def _made(self, X: Any, y: Any, given: Mapping[str, Any]) -> list[tuple[IntArray, IntArray]]:
        try:
            return list(self.cv.split(X, y, **given))
        except ValueError as error:
            advice = _needs_groups(self.cv, error)
            if advice is None:
                raise
            raise ValueError(advice) from error

    def split(self, X: Any, y: Any = None, **given: Any) -> list[tuple[IntArray, IntArray]]:
        """The chosen folds, or all."""
        if not self.splits:
            queries = None if self.ids is None else _queries(y, self.ids)
            self.splits = self._made(X, y, given)
            if self.ids and queries:
                qid, groups = queries.ids[queries.codes], self.ids["groups"]
                check_splits(self.splits, self.cv, X, np.asarray(y), qid=qid, groups=groups)
                self.n_queries = np.array(
                    [len(np.unique(queries.codes[test])) for _, test in self.splits]
                )
        return (
            self.splits
            if self.chosen is None or self.at_once
            else [self.splits[number] for number in self.chosen]
        )


def _needs_groups(cv: Any, error: Exception) -> str | None:
    """What to do if a splitter of scikit-learn, which does not look for ids in y, got no groups."""
    if "'groups' parameter should not be None" not in str(error):
        return None
    kind = type(cv).__name__
    return (
        f"{error} {kind} needs groups=qid in fit: it does not look for query ids in the index of y. "
        "Or use cv=QueryKFold(5), which does."
    )


def _queries(y: Any, ids: Mapping[str, Any]) -> Grouping:
    ways = how_to_pass_ids("groups" if routing_enabled() else "")
    given = [f"{name}=" for name, value in ids.items() if value is not None]
    if given and not routing_enabled() and ids_in_index(y) is None:
        raise TypeError(
            f"{ways} Without metadata routing, scorers get no query ids but those in the index of y; got {given[0]}."
        )
    return group_by_query(0 if y is None else len(y), "RacingSearchCV", y=y, **ids, hint=ways)


class Watched(_MultimetricScorer):  # type: ignore[misc]
    """Scores a fitted model and, if others of its path are in the search, its first trees, side by side."""

    n_trees: frozenset[int] = frozenset()  # to score
    checked: frozenset[int] = frozenset()  # whose predictions to compare with a model of that size

    def __call__(self, estimator: Any, X: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Score a model by all metrics; keys of first trees are those of ``_key_of``."""
        n_trees, scores = n_trees_of(estimator), super().__call__(estimator, X, *args, **kwargs)
        if n_trees in self.checked and _succeeded(scores):
            scores[_key_of(n_trees, "digest")] = _digest(estimator, X)
        for number in (n for n in self.n_trees if n < n_trees):
            started = time.time()
            try:
                if (model := first_trees(estimator, number)) is None:
                    continue
                first = super().__call__(model, X, *args, **kwargs)
                known = {
                    "seconds": time.time() - started,
                    "digest": _digest(model, X) if number in self.checked else 0,
                }
            except Exception:  # the model is fitted on its own instead
                continue
            if _succeeded(first):
                known |= {
                    repr(name): one for name, one in first.items()
                }  # quotes tell metrics from the others
                scores |= {_key_of(number, name): one for name, one in known.items()}
        return scores


def _succeeded(scores: Mapping[str, Any]) -> bool:
    return all(isinstance(score, Number) for score in scores.values())


def _key_of(n_trees: int, name: str) -> str:
    """Under which the score of first trees, or something else that is known of them, is found."""
    return f"{name} of the first {n_trees} trees"


def _digest(model: Any, X: Any) -> int:
    """A number, so that scikit-learn takes it for a score."""
    method = next(name for name in RESPONSE_METHODS if hasattr(model, name))
    predictions = np.ascontiguousarray(getattr(model, method)(X)).tobytes()
    return int.from_bytes(hashlib.blake2b(predictions, digest_size=8).digest(), "little")


@dataclass
class Rounds:
    """Fits candidates on folds, those that differ only in the number of trees at once."""

    fit: Callable[
        [Sequence[Mapping[str, Any]], Sequence[int]], list[dict[str, Any]]
    ]  # by candidate, then by fold
    candidates: list[Candidate]
    watched: Watched | None  # None if there are neither values per query nor paths
    key: str | None  # of the metric by which candidates are compared, if there are several
    results: Results = field(default_factory=dict)
    n_fits: int = 0
    n_trees: int = 0

    def run(self, rows: Sequence[int], folds: Sequence[int]) -> None:
        """Fit candidates on folds; on a single one if some share a fit, which the first call checks."""
        groups = groups_of(self.candidates, rows)
        checks = [] if self.results else self._checks(groups)
        if self.watched:
            first_trees_of = (row for group in groups for row in group[1:])
            self.watched.n_trees = self._counts(first_trees_of)
            self.watched.checked = self._counts(small for _, small in checks)
        heads = [group[0] for group in groups]
        found = self._fit([*heads, *(small for _, small in checks)], folds)
        self._give_up_paths_that_differ(rows, checks, found, folds[0])
        self.results |= found
        for head, *others in groups_of(self.candidates, rows):
            for row in others:
                self._take_first_trees(row, head, folds[0])
        alone = [row for row in rows if (row, folds[0]) not in self.results]
        if alone:
            self.results |= self._fit(alone, folds)
            self._give_up(alone)

    def _counts(self, rows: Iterable[int]) -> frozenset[int]:
        return frozenset(self.candidates[row].n_trees for row in rows)

    def _take_first_trees(self, row: int, head: int, fold: int) -> None:
        """Results of a candidate from those of the largest of its path, if its first trees were scored."""
        largest, n_trees = self.results[head, fold], self.candidates[row].n_trees
        if n_trees == self.candidates[head].n_trees:
            self.results[row, fold] = largest
        elif n_trees in largest["first"]:
            self.results[row, fold] = largest | largest["first"][n_trees]

    def _give_up_paths_that_differ(
        self,
        rows: Sequence[int],
        checks: Sequence[tuple[int, int]],
        found: Results,
        fold: int,
    ) -> None:
        """Fit all candidates of a class on their own if the first trees of one are not the smaller model."""
        broken: set[str] = set()
        for large, small in checks:
            kind = self.candidates[small].kind
            if kind not in broken and self._differ(large, small, found, fold):
                broken.add(kind)
        self._give_up(row for row in rows if self.candidates[row].kind in broken)

    def _give_up(self, rows: Iterable[int]) -> None:
        for row in rows:
            self.candidates[row] = replace(self.candidates[row], path=None)

    def _fit(self, rows: Sequence[int], folds: Sequence[int]) -> Results:
        found = self.fit([self.candidates[row].params for row in rows], folds)
        self.n_fits += len(found)
        self.n_trees += len(folds) * sum(self.candidates[row].n_trees for row in rows)
        if self.watched:
            for result in found:
                self._unpack(result, self.watched)
        return dict(zip(((row, fold) for row in rows for fold in folds), found, strict=True))

    def _unpack(self, result: dict[str, Any], watched: Watched) -> None:
        """Put the scores of a model where scikit-learn expects them, and what is known of its first trees elsewhere."""
        packed = {part: result[part] for part in ("test_scores", "train_scores") if part in result}
        first: dict[int, dict[str, Any]] = {}
        for number in watched.n_trees if result["fit_error"] is None else ():
            keys, seconds = (
                {name: _key_of(number, repr(name)) for name in watched._scorers},
                _key_of(number, "seconds"),
            )
            if all(seconds in scores for scores in packed.values()):
                first[number] = {part: self._plain(scores, keys) for part, scores in packed.items()}
                first[number]["score_time"] = packed["test_scores"][seconds]
        digests = {
            number: packed["test_scores"].get(_key_of(number, "digest"))
            for number in watched.checked
        }
        own = {name: name for name in watched._scorers}
        result |= {part: self._plain(scores, own) for part, scores in packed.items()}
        result |= {"first": first, "digests": digests}

    def _plain(self, scores: Mapping[str, Any], keys: Mapping[str, str]) -> Any:
        """Scores by metric, or that of the only one."""
        return (
            {name: scores[key] for name, key in keys.items()} if self.key else scores[keys["score"]]
        )

    def _checks(self, groups: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        """For each path, the largest model and the smallest one, which is to be part of it."""
        ends = ((group[0], group[-1]) for group in groups)
        n_trees = [one.n_trees for one in self.candidates]
        return [(large, small) for large, small in ends if n_trees[large] > n_trees[small]]

    def _differ(self, large: int, small: int, found: Results, fold: int) -> bool:
        """Whether a model predicts otherwise than the first trees of a larger one, in any bit."""
        n_trees = self.candidates[small].n_trees
        digests = {found[row, fold]["digests"][n_trees] for row in (large, small)}
        if None in digests or len(digests) == 1:
            return False
        warnings.warn(
            f"The first {n_trees} trees of a {self.candidates[small].kind} do not predict what a model of as many "
            "trees predicts, so each candidate is fitted on its own. If fits are random, set random_state.",
            UserWarning,
            stacklevel=2,
        )
        return True

    def values(self, fold: int) -> tuple[dict[int, float], QueryScores | None]:
        """Scores of the candidates that did not fail on a fold, and their values per query, NaN for the others."""
        scores = {
            row: one["test_scores"] for (row, number), one in self.results.items() if number == fold
        }
        kept = {row: one[self.key] if self.key else one for row, one in scores.items()}
        done = {row: score for row, score in kept.items() if isinstance(score, ScoreOfQueries)}
        if not done:
            return {}, None
        first = next(iter(done.values())).queries
        shape = (len(self.candidates), len(first.ids))
        values, defined = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
        for row, score in done.items():
            values[row] = score.queries.values
            defined[row] = score.queries.defined
        whole = first._replace(values=values, defined=defined)
        return {row: float(score) for row, score in done.items()}, whole

    def table(self, n_folds: int) -> list[dict[str, Any]]:
        """Results by candidate and fold in the form of scikit-learn, NaN where a candidate did not run."""
        one = next(iter(self.results.values()))
        blank = {
            name: dict.fromkeys(value, np.nan) if isinstance(value, dict) else np.nan
            for name, value in one.items()
        }
        return [
            self.results.get((row, fold), blank)
            for row in range(len(self.candidates))
            for fold in range(n_folds)
        ]

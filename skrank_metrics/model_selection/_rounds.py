"""The rounds of a race: the rows to fit and score in each round, and the fits of the remaining candidates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.parallel import Parallel, delayed

from skrank_metrics._input.arrays import IntArray, check_number, check_random_state, count_rows
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import ids_in_index, query_ids
from skrank_metrics._output.result import counted
from skrank_metrics._sklearn_internals import routing_enabled, ways_out
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.model_selection._fold_scores import Outcome, Task, fit_and_score
from skrank_metrics.model_selection._race import FoldValues, Race, Standing
from skrank_metrics.model_selection.scorers import QueryScores
from skrank_metrics.reports.mean_intervals import mean_interval, moments
from skrank_metrics.splitters.audit import check_splits

Splits = list[tuple[IntArray, IntArray]]
Stage = tuple[float, IntArray, IntArray]  # share of the training queries, rows to fit on and to score


def whole_splits(
    splitter: Any, X: Any, y: Any, columns: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Splits, Grouping, int | None]:
    """Splits, the queries, and the number of tested queries, None if some are tested again."""
    labels, qid, groups = columns["y"], columns.get("qid"), columns.get("groups")
    ways = ways_out("groups" if routing_enabled() else "")
    if not routing_enabled() and ids_in_index(labels) is None and (qid is not None or groups is not None):
        raise TypeError(
            "y must carry the query ids in its index unless metadata routing is enabled, since scorers get no "
            f"others; got {'groups' if qid is None else 'qid'}=. {ways}"
        )
    queries = query_ids(count_rows(X), "RacingSearchCV", y=labels, qid=qid, groups=groups, ways_out=ways)
    splits = list(splitter.split(X, y, **given))
    check_splits(splits, splitter, X, np.asarray(y), qid=queries.ids[queries.codes], groups=groups)
    times = np.sum([np.bincount(queries.codes[test], minlength=len(queries.ids)) > 0 for _, test in splits], axis=0)
    return splits, queries, int(times.sum()) if times.max() == 1 else None


def check_rungs(rungs: Sequence[float] | None, max_fits: int | None) -> list[float]:
    """Shares of the training queries to fit on before the folds; empty without rungs."""
    if rungs is None:
        return []
    shares = [float(check_number(share, "rungs", "(0, 1]")) for share in rungs]
    if len(shares) < 2 or sorted(set(shares)) != shares or shares[-1] != 1:
        raise ValueError(f"rungs must be at least two shares in ascending order, the last 1; got {rungs!r}.")
    if max_fits is not None:
        raise ValueError(f"max_fits must be None with rungs; got {max_fits}.")
    return shares[:-1]


def stages_of(splits: Splits, shares: Sequence[float], queries: Grouping, random_state: Any) -> list[Stage]:
    """The folds, preceded by parts of the first one, with whole queries drawn from its training queries."""
    train, test = splits[0]
    train = np.arange(len(queries.codes))[train]
    drawn = check_random_state(random_state).permutation(np.unique(queries.codes[train]))
    rungs: list[Stage] = []
    for share in shares:
        chosen = drawn[: int(np.ceil(share * len(drawn)))]
        rungs.append((share, train[np.isin(queries.codes[train], chosen)], test))
    return [*rungs, *((1, *split) for split in splits)]


@dataclass
class Rounds:
    """Runs the rounds of a race."""

    race: Race
    task: Task
    candidates: Sequence[Mapping[str, Any]]
    n_jobs: int | None
    verbose: int

    def run(
        self, X: Any, y: Any, stages: Sequence[Stage], in_round: Callable[[], AbstractContextManager[Any]]
    ) -> list[dict[int, Outcome]]:
        """Run one round per stage, and return the outcomes of each fold by number of the candidate."""
        numbers: dict[Any, int] = {}  # of queries
        folds: list[dict[int, Outcome]] = []
        with Parallel(n_jobs=self.n_jobs, verbose=max(0, self.verbose - 1)) as parallel:
            for share, train, test in stages:
                with in_round():
                    running = self.race.start_round(share)
                    calls = (delayed(fit_and_score)(self.task, self.candidates[i], X, y, train, test) for i in running)
                    outcomes = dict(zip(running, parallel(calls), strict=True))
                    self._finish(outcomes, numbers, share)
                if share == 1:
                    folds.append(outcomes)
        return folds

    def _finish(self, outcomes: Mapping[int, Outcome], numbers: dict[Any, int], share: float) -> None:
        """Let candidates leave, given the outcomes of a round."""
        _warn_of_failures(outcomes, self.task.error_score)
        done = {i: found.queries for i, found in outcomes.items() if found.queries is not None}
        if not done:
            raise _all_failed(self.race, outcomes)
        scores = {i: outcomes[i].scores[self.task.key] for i in done}
        values = _fold_values(done, numbers, len(self.candidates))
        if share < 1:
            self.race.finish_rung(scores, values, share)
        else:
            self.race.finish_round(scores, values)
        if self.verbose:
            self._report(len(outcomes), share)

    def _report(self, n_running: int, share: float) -> None:
        race = self.race
        n_rounds, n_left = race.rules.n_rounds, len(race.remaining)
        saved = race.rules.n_candidates * n_rounds - race.n_fits - n_left * (n_rounds - len(race.scores))
        step = f"round {len(race.scores)}/{n_rounds}" if share == 1 else f"{share:g} of the training queries"
        print(
            f"[{step}] {counted(n_running, 'fit')}, {n_left} of {counted(race.rules.n_candidates, 'candidate')} left, "
            f"{saved:g} fits saved",
            flush=True,
        )


def _fold_values(done: Mapping[int, QueryScores], numbers: dict[Any, int], n_candidates: int) -> FoldValues:
    """Values of the candidates that ran a fold. New queries get the next free numbers."""
    first = next(iter(done.values()))
    queries = np.array([numbers.setdefault(query, len(numbers)) for query in first.ids.tolist()])
    values = np.full((n_candidates, len(queries)), np.nan)
    for candidate, found in done.items():
        values[candidate] = found.values
    return FoldValues(queries, values, first.defined, first.weights)


def _warn_of_failures(outcomes: Mapping[int, Outcome], error_score: Any) -> None:
    errors = [outcome.error for outcome in outcomes.values() if outcome.error]
    if errors:
        warnings.warn(
            f"{len(errors)} of {counted(len(outcomes), 'fit')} failed. Their score on this fold is {error_score}, and "
            f"the candidates leave. The first error:\n{errors[0]}",
            FitFailedWarning,
            stacklevel=5,
        )


def _all_failed(race: Race, outcomes: Mapping[int, Outcome]) -> ValueError:
    errors = [outcome.error for outcome in outcomes.values() if outcome.error]
    return ValueError(
        f"all {counted(len(outcomes), 'candidate')} failed in fold {len(race.scores)}, so there is no best one. Pass "
        f"error_score='raise' to see where.{' The first error:' * bool(errors)}\n{''.join(errors[:1])}"
    )


def departures(race: Race, metric: BoundMetric) -> dict[str, Any]:
    """Columns of ``cv_results_`` on when and why candidates left, and how far behind they were."""
    none = Standing(-1, moments([]), np.nan)
    last = [race.standings.get(row, none) for row in range(race.rules.n_candidates)]
    left = [race.left.get(row, (np.nan, "")) for row in range(race.rules.n_candidates)]
    low, high = bounds_of(metric)
    intervals = [mean_interval(found.lead, confidence=race.rules.confidence) for found in last]
    return {
        "left_after": np.array([after for after, _ in left], dtype=np.float64),
        "left_because": np.array([why for _, why in left], dtype=object),
        "leader": np.array([standing.leader for standing in last]),
        "difference": np.array([standing.lead.mean for standing in last]),
        "low": np.array([low for low, _ in intervals]),
        "high": np.array([high for _, high in intervals]),
        "p_adjusted": np.array([standing.p_adjusted for standing in last]),
    }

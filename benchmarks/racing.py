"""``python -m benchmarks.racing``: what races and shared fits save, and how often they lose the winner of the grid.

Every candidate is run once on every fold, and all ways to search are replayed on its values per query.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from lightgbm import LGBMRanker
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the halving search importable
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, ParameterGrid
from xgboost import XGBRanker

from benchmarks.timing import machine
from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, ndcg_score, with_qid
from skrank_metrics._output.result import Table
from skrank_metrics.datasets import load_digits_retrieval, make_ranking
from skrank_metrics.model_selection import RacingSearchCV
from skrank_metrics.model_selection._race import Race
from skrank_metrics.model_selection.scorers import QueryScores

N_FOLDS, N_ORDERS, N_ROUNDS = 5, 10, 3
SPREAD = 0.1  # of the simulated values of a candidate
DATA = Path(os.environ.get("SKRANK_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
RATES, COUNTS = [0.02, 0.05, 0.1, 0.2], [10, 20, 40, 60, 80, 120]
SCORER = make_ranking_scorer("ndcg@10")
# Each model with the name of its number of trees, and 16 settings; with six numbers of trees, 96 candidates.
MODELS: dict[str, tuple[Any, str, dict[str, list[Any]]]] = {
    "LGBMRanker": (
        LGBMRanker(verbose=-1, n_jobs=1),
        "n_estimators",
        {"learning_rate": RATES, "num_leaves": [3, 7, 15, 31]},
    ),
    "XGBRanker": (
        XGBRanker(n_jobs=1),
        "n_estimators",
        {"learning_rate": RATES, "max_depth": [2, 3, 4, 6]},
    ),
    "HistGradientBoosting": (
        HistGradientBoostingRegressor(random_state=0, early_stopping=False),
        "max_iter",
        {"learning_rate": RATES, "max_leaf_nodes": [3, 7, 15, 31]},
    ),
}
AIMS = {"fits": 0.13, "trees": 0.25, "time": 0.35}  # largest shares of a race with shared fits
Values = NDArray[np.float64]
Ran = NDArray[np.bool_]  # which candidate ran which fold


@dataclass(frozen=True)
class Grid:
    """What a grid search computes, and what it costs."""

    folds: list[QueryScores]
    n_trees: NDArray[np.int64]  # of each candidate
    path: NDArray[np.intp]  # equal for candidates that differ only in the number of trees
    fit_seconds: Values  # of each candidate, on its own
    score_seconds: Values

    @property
    def scores(self) -> Values:
        """Scores by candidate and fold."""
        return np.transpose([np.nanmean(fold.values, axis=1) for fold in self.folds])

    def cost(self, ran: Ran, *, shared: bool) -> Values:
        """Fits, trees and seconds of a search, with one fit per path and fold or one per candidate and fold."""
        fitted = ran
        if shared:
            fitted = np.zeros_like(ran)
            for fold in range(ran.shape[1]):
                running = np.flatnonzero(ran[:, fold])
                largest = {
                    self.path[row]: row
                    for row in sorted(running, key=lambda row: self.n_trees[row])
                }
                fitted[list(largest.values()), fold] = True
        costs = np.array([np.ones(len(ran)), self.n_trees, self.fit_seconds])
        total = (costs @ fitted).sum(axis=1)
        if shared:  # the smallest model of each path is fitted as a check
            smallest = self.n_trees == self.n_trees.min()
            total += costs[:, smallest].sum(axis=1)
        total[2] += (self.score_seconds @ ran).sum()
        return total


def run_grid(model: Any, resource: str, settings: dict[str, Any], X: Any, y: Any) -> Grid:
    """Values of all candidates on all folds, and the time of each fit, on the first fold."""
    grid = {f"estimator__{name}": values for name, values in {**settings, resource: COUNTS}.items()}
    options = {"scoring": SCORER, "refit": False}
    search = RacingSearchCV(
        QueryRanker(model), grid, cv=QueryKFold(N_FOLDS), confidence=None, **options
    ).fit(X, y)
    first = next(iter(QueryKFold(N_FOLDS).split(X, y)))
    timed = GridSearchCV(QueryRanker(model), grid, cv=[first], **options).fit(X, y).cv_results_
    params = search.cv_results_["params"]
    names = [
        tuple(value for name, value in one.items() if not name.endswith(resource)) for one in params
    ]
    path = np.unique(names, axis=0, return_inverse=True)[1]
    n_trees = np.array([one[f"estimator__{resource}"] for one in params])
    return Grid(
        search._fold_values, n_trees, path, timed["mean_fit_time"], timed["mean_score_time"]
    )


def race(grid: Grid, order: NDArray[np.intp], confidence: float = 0.95) -> Ran:
    """A race over the folds in some order."""
    scores, sizes = grid.scores, np.array([len(grid.folds[fold].ids) for fold in order])
    found = Race(len(scores), sizes, confidence)
    ran = np.zeros(scores.shape, dtype=bool)
    for fold in order:
        ran[found.remaining, fold] = True
        found.finish_fold({row: scores[row, fold] for row in found.remaining}, grid.folds[fold])
    return ran


def halve_by_folds(grid: Grid, order: NDArray[np.intp]) -> Ran:
    """Keep the better half after each fold."""
    scores = grid.scores
    remaining, ran = np.arange(len(scores)), np.zeros(scores.shape, dtype=bool)
    for n_run, fold in enumerate(order, start=1):
        ran[remaining, fold] = True
        means = scores[remaining][:, order[:n_run]].mean(axis=1)
        remaining = remaining[np.argsort(-means, kind="stable")[: (len(remaining) + 1) // 2]]
    return ran


def prune(grid: Grid, order: NDArray[np.intp]) -> Ran:
    """Optuna: candidates one after the other, pruned by a Wilcoxon test of their values per query."""
    scores, ran = grid.scores, np.zeros(grid.scores.shape, dtype=bool)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        direction="maximize", pruner=optuna.pruners.WilcoxonPruner(p_threshold=0.1)
    )
    starts = np.cumsum([0, *(len(fold.ids) for fold in grid.folds)])
    for row in np.random.default_rng(order).permutation(len(scores)):
        trial = study.ask()
        for fold in order:
            ran[row, fold] = True
            for place, value in enumerate(grid.folds[fold].values[row]):
                trial.report(value, int(starts[fold]) + place)
            if trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, scores[row].mean())
    return ran


def everything(grid: Grid, order: NDArray[np.intp]) -> Ran:
    return np.ones(grid.scores.shape, dtype=bool)


WAYS: dict[str, tuple[Callable[[Grid, NDArray[np.intp]], Ran], bool]] = {
    "grid": (everything, False),
    "race": (race, False),
    "shared fits": (everything, True),
    "race, shared fits": (race, True),
    "race at confidence 0.5, shared fits": (lambda grid, order: race(grid, order, 0.5), True),
    "best half after each fold": (halve_by_folds, False),
    "Optuna, Wilcoxon pruner": (prune, False),
}


def halve(
    model: Any, resource: str, settings: dict[str, Any], X: Any, y: Any, grid: Grid
) -> tuple[float, ...]:
    """Shares of fits, trees and time, and regret, of halving on the number of trees."""
    search = HalvingGridSearchCV(
        QueryRanker(clone(model).set_params(**{resource: COUNTS[-1]})),
        {f"estimator__{name}": values for name, values in settings.items()},
        resource=f"estimator__{resource}",
        max_resources=COUNTS[-1],
        min_resources=COUNTS[-1] // 9,
        scoring=SCORER,
        cv=QueryKFold(N_FOLDS),
        refit=False,
    )
    found = search.fit(X, y).cv_results_
    times = N_FOLDS * (found["mean_fit_time"] + found["mean_score_time"]).sum()
    costs = np.array(
        [N_FOLDS * len(found["params"]), N_FOLDS * np.sum(found["n_resources"]), times]
    )
    best = grid.scores.mean(axis=1).max()
    last = found["iter"] == found["iter"].max()
    regret = best - found["mean_test_score"][last].max()
    return *(costs / grid.cost(everything(grid, np.arange(N_FOLDS)), shared=False)), float(regret)


def data_sets() -> Iterator[tuple[str, Any, Any]]:
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    yield f"digits, {qid.max() + 1} queries", X, with_qid(y, qid)
    folder = DATA / "lambdarank"
    if folder.is_dir():
        X, y = load_svmlight_file(str(folder / "rank.train"))
        sizes = np.loadtxt(folder / "rank.train.query", dtype=int)
        labels = with_qid(y, np.repeat(np.arange(len(sizes)), sizes))
        yield f"LightGBM's example, {len(sizes)} queries", X.toarray(), labels
    else:
        print(f"LightGBM's example rows are left out, as they are not in {folder}.")
    X, y, qid = make_ranking(1500, random_state=0)
    yield "generated, 1,500 queries", X, with_qid(y, qid)


def against_others(data: str, models: list[str]) -> None:
    """Shares of fits, trees and time, the same winner and the loss of the mean, over orders of the folds."""
    for name, X, y in data_sets():
        for label in models if data in name else ():
            model, resource, settings = MODELS[label]
            grid = run_grid(model, resource, settings, X, y)
            means, rows = grid.scores.mean(axis=1), []
            whole = grid.cost(everything(grid, np.arange(N_FOLDS)), shared=False)
            for way, (schedule, shared) in WAYS.items():
                found = []
                for seed in range(N_ORDERS):
                    ran = schedule(grid, np.random.default_rng(seed).permutation(N_FOLDS))
                    winner = int(np.argmax(np.where(ran.all(axis=1), means, -np.inf)))
                    same = means[winner] == means.max()
                    found.append(
                        (
                            *(grid.cost(ran, shared=shared) / whole),
                            float(same),
                            means.max() - means[winner],
                        )
                    )
                rows.append((way, *np.mean(found, axis=0)))
            *shares, regret = halve(model, resource, settings, X, y, grid)
            rows.append(("halving on trees", *shares, float(regret <= 0), regret))
            columns = ("search", "fits", "trees", "time", "same winner", "mean regret")
            print(f"\n{name}, {label}: {whole[0]:.0f} fits, {whole[1]:.0f} trees, {whole[2]:.1f} s")
            print(Table(columns, rows).as_text(), flush=True)
            met = all(share <= aim for share, aim in zip(rows[3][1:4], AIMS.values(), strict=True))
            print(f"Aims {AIMS} {'met' if met else 'missed'}.", flush=True)


def predictions_of_prefixes(model: Any, X: Any) -> dict[int, Any]:
    """What the first trees of a fitted model predict, by their number, as each library offers it."""
    if isinstance(model, LGBMRanker):
        return {n_trees: model.predict(X, num_iteration=n_trees) for n_trees in COUNTS}
    if isinstance(model, XGBRanker):
        return {n_trees: model.predict(X, iteration_range=(0, n_trees)) for n_trees in COUNTS}
    staged = enumerate(model.staged_predict(X), start=1)
    return {n_trees: scores for n_trees, scores in staged if n_trees in COUNTS}


def loop_over_prefixes(
    model: Any, resource: str, settings: dict[str, Any], X: Any, labels: Any
) -> float:
    """The loop that people write: the largest model of each setting and fold, scored at each number of trees.

    Rows are sorted by query. Returns the best mean over folds.
    """
    qid, y = labels.index.to_numpy(), labels.to_numpy()
    scores: dict[Any, list[float]] = {}
    for train, test in QueryKFold(N_FOLDS).split(X, labels):
        for setting in ParameterGrid(settings):
            largest = clone(model).set_params(**setting, **{resource: COUNTS[-1]})
            queries: dict[str, Any] = {}
            if isinstance(model, LGBMRanker):
                queries["group"] = np.unique(qid[train], return_counts=True)[1]
            elif isinstance(model, XGBRanker):
                queries["qid"] = qid[train]
            largest.fit(X[train], y[train], **queries)
            for n_trees, predicted in predictions_of_prefixes(largest, X[test]).items():
                candidate = (n_trees, *setting.values())
                score = ndcg_score(y[test], predicted, qid=qid[test], k=10)
                scores.setdefault(candidate, []).append(score)
    return max(float(np.mean(of_folds)) for of_folds in scores.values())


def by_the_clock(data: str, models: list[str]) -> None:
    """Processor time of real searches, which other work on the machine changes less than that of the clock."""
    n_candidates = len(RATES) * len(COUNTS)
    print(f"\n{n_candidates} candidates on {N_FOLDS} folds, n_jobs=1, medians of {N_ROUNDS} rounds")
    for name, X, y in list(data_sets())[:2]:
        for label in models if data in name else ():
            model, resource, settings = MODELS[label]
            rates = {"learning_rate": settings["learning_rate"]}
            searched = (clone(model), {**rates, resource: COUNTS}, X, y)
            ways: list[Callable[[], float]] = [
                partial(search, GridSearchCV, *searched),
                partial(search, RacingSearchCV, *searched),
                partial(loop_over_prefixes, model, resource, rates, X, y),
            ]
            seconds, best = np.zeros((N_ROUNDS, len(ways))), []
            for turn, way in product(range(N_ROUNDS), range(len(ways))):
                started = time.process_time()
                best.append(ways[way]())
                seconds[turn, way] = time.process_time() - started
            grid, race, loop = np.median(seconds, axis=0)
            print(
                f"{name}, {label}: grid {grid:.1f} s; of that, race {race / grid:.2f}, loop over prefixes "
                f"{loop / grid:.2f}; {'the same' if len(set(best)) == 1 else 'ANOTHER'} best mean",
                flush=True,
            )


def search(make: Any, model: Any, values: dict[str, list[Any]], X: Any, y: Any) -> float:
    """The best mean over folds that a search of scikit-learn's kind finds."""
    grid = {f"estimator__{name}": of_one for name, of_one in values.items()}
    options = {"scoring": SCORER, "cv": QueryKFold(N_FOLDS), "refit": False}
    return float(make(QueryRanker(model), grid, **options).fit(X, y).best_score_)


def normal(random: np.random.Generator, n_candidates: int, n: int) -> Values:
    """Differences between candidates of a standard deviation of 0.14, of queries that differ more."""
    return 0.2 * random.normal(size=n) + SPREAD * random.normal(size=(n_candidates, n))


def hits(random: np.random.Generator, n_candidates: int, n: int) -> Values:
    """Whether there is a hit; equal candidates agree on most queries."""
    easy, noise = random.random(n), random.random((n_candidates, n)) < 0.1
    return np.asarray(np.where(noise, random.random((n_candidates, n)), easy) < 0.8, dtype=float)


FOLDS = {
    "equal": (150, 150, 150, 150, 150),
    "few queries": (30, 30, 30, 30, 30),
    "unequal": (250, 200, 150, 100, 50),
    "one large": (600, 60, 50, 40, 30),
}


def simulate_errors(rounds: int) -> bool:
    """How often the winner of the grid is dropped among equal candidates, whose fits vary; at most in about 5%."""
    rows = []
    for name, sizes in FOLDS.items():
        for n_candidates in (2, 8):
            for size in (0.0, 0.5, 1.0, 2.0, 3.0):
                lost, share = simulate_races(rounds, sizes, normal, n_candidates, size)
                rows.append((name, "normal", n_candidates, size, lost, share))
        lost, share = simulate_races(rounds, sizes, hits, 8, 0.0)
        rows.append((name, "hits", 8, 0.0, lost, share))
    met = max(row[4] for row in rows) <= 0.055
    heads = (
        "folds",
        "values",
        "candidates",
        "sd of fits / error of a fold",
        "winner dropped",
        "fits",
    )
    print(f"\n{rounds} simulations of equal candidates")
    print(Table(heads, rows).as_text())
    aim = "the winner of the grid is dropped in at most about 5%"
    print(f"Aim {'met' if met else 'missed'}: {aim}.", flush=True)
    return met


def simulate_races(
    rounds: int, sizes: Sequence[int], draw: Any, n_candidates: int, size: float
) -> tuple[float, float]:
    """Share of races that drop the winner of the grid, and of fits that they need."""
    random, lost, share = np.random.default_rng(0), 0, 0.0
    for _ in range(rounds):
        folds = []
        for n in sizes:
            values = draw(random, n_candidates, n)
            # The error of the mean of a candidate over the queries of an average fold; SPREAD as in normal().
            of_fits = size * SPREAD / np.sqrt(np.mean(sizes)) * random.normal(size=n_candidates)
            defined = np.ones((n_candidates, n), dtype=bool)
            folds.append(
                QueryScores(np.arange(n), np.arange(n), values + of_fits[:, None], defined, None)
            )
        nothing = np.zeros(n_candidates)
        grid = Grid(folds, nothing.astype(int), np.arange(n_candidates), nothing, nothing)
        ran = race(grid, random.permutation(len(sizes)))
        lost += not ran[int(grid.scores.mean(axis=1).argmax())].all()
        share += ran.mean() / rounds
    return lost / rounds, share


PARTS = ["searches", "clock", "errors"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=PARTS, default=[])
    parser.add_argument("--data", default="", help="part of the name of a data set")
    parser.add_argument("--models", nargs="*", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--simulations", type=int, default=2000)
    given = parser.parse_args()
    print(machine())
    warnings.filterwarnings("ignore", category=UserWarning)
    parts = given.part or PARTS
    if "searches" in parts:
        against_others(given.data, given.models)
    if "clock" in parts:
        by_the_clock(given.data, given.models)
    if "errors" in parts:
        simulate_errors(given.simulations)


if __name__ == "__main__":
    main()

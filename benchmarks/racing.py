"""``python -m benchmarks.racing``: what races save, and how often they and others lose the winner of the grid.

Every candidate is fitted once on every fold. Then races, scikit-learn's halving and Optuna's median pruner run on these
scores, in several orders of the folds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from lightgbm import LGBMRanker
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the halving search importable
from sklearn.model_selection import HalvingGridSearchCV

from benchmarks.timing import machine
from skrank_metrics import QueryKFold, QueryRanker, with_qid
from skrank_metrics._output.result import Table
from skrank_metrics.datasets import load_digits_retrieval, make_ranking
from skrank_metrics.model_selection._race import Race
from skrank_metrics.model_selection.racing_search import RacingSearchCV
from skrank_metrics.model_selection.scorers import QueryScores

N_ORDERS = 10
SPREAD = 0.1  # of the simulated values of a candidate
RATES, LEAVES, PENALTIES = [0.03, 0.06, 0.12, 0.25], [3, 7, 15, 31], [0.0, 1.0, 10.0, 100.0]
COUNTS = [8, 32]  # of trees; candidates have the last one, and halving starts with the first
Order = NDArray[np.intp]
Values = NDArray[np.float64]
# Each model with the names of its number of trees, of leaves, and of a penalty.
MODELS: dict[str, tuple[Any, str, str, str]] = {
    "LightGBM": (LGBMRanker(verbose=-1, n_jobs=1), "n_estimators", "num_leaves", "reg_lambda"),
    "HistGradientBoosting": (
        HistGradientBoostingRegressor(random_state=0, early_stopping=False),
        "max_iter",
        "max_leaf_nodes",
        "l2_regularization",
    ),
}


@dataclass(frozen=True)
class Grid:
    """Scores of 64 settings with each number of trees, (n_counts, n_settings, n_folds), and their values per query."""

    scores: Values
    folds: list[QueryScores]  # of the largest models


def run_grid(kind: str, X: Any, y: Any, n_folds: int) -> Grid:
    """Fit all candidates on all folds."""
    model, count, leaves, penalty = MODELS[kind]
    values = {count: COUNTS, "learning_rate": RATES, leaves: LEAVES, penalty: PENALTIES}
    grid = {f"estimator__{name}": of_one for name, of_one in values.items()}
    options: dict[str, Any] = {"scoring": "ndcg@10", "cv": QueryKFold(n_folds), "refit": False}
    search = RacingSearchCV(QueryRanker(model), grid, confidence=None, **options).fit(X, y)
    numbers = np.array([one[f"estimator__{count}"] for one in search.cv_results_["params"]])
    columns = [search.cv_results_[f"split{fold}_test_score"] for fold in range(n_folds)]
    scores = np.column_stack(columns)
    by_count = np.array([scores[numbers == n_trees] for n_trees in COUNTS])
    largest = np.flatnonzero(numbers == COUNTS[-1])
    return Grid(by_count, [of_rows(fold, largest) for fold in search._fold_values])


def part_of(grid: Grid, rows: Order) -> Grid:
    """Some of the settings."""
    folds = [of_rows(fold, rows) for fold in grid.folds]
    return Grid(grid.scores[:, rows], folds)


def of_rows(fold: QueryScores, rows: Order) -> QueryScores:
    return fold._replace(values=fold.values[rows], defined=fold.defined[rows])


def race(grid: Grid, order: Order) -> tuple[int, float]:
    """The winner of a race over the folds in some order, and its fits and trees as a share of the grid's."""
    scores = grid.scores[-1]
    found = Race(len(scores), np.array([len(grid.folds[fold].ids) for fold in order]))
    n_fits = 0
    for fold in order:
        n_fits += len(found.remaining)
        found.finish_fold({row: scores[row, fold] for row in found.remaining}, grid.folds[fold])
    return found.leader, n_fits / scores.size


def prune(grid: Grid, order: Order) -> tuple[int, float]:
    """Optuna: candidates one after the other, pruned if their mean so far is below the median of the others' means."""
    scores, n_fits = grid.scores[-1], 0
    pruner = optuna.pruners.MedianPruner(n_startup_trials=5)
    study = optuna.create_study(direction="maximize", pruner=pruner)
    best = -1, -np.inf
    for row in np.random.default_rng(order).permutation(len(scores)):
        trial = study.ask()
        for step in range(len(order)):
            n_fits += 1
            mean = scores[row, order[: step + 1]].mean()
            trial.report(mean, step)
            if step + 1 < len(order) and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, mean)
            best = max(best, (int(row), mean), key=lambda one: one[1])
    return best[0], n_fits / scores.size


class Replay(BaseEstimator):  # type: ignore[misc]
    """A model whose scores are known."""

    def __init__(self, row: int = 0, n_trees: int = COUNTS[-1]) -> None:
        self.row, self.n_trees = row, n_trees

    def fit(self, X: Any, y: Any) -> Replay:
        """Nothing is left to fit."""
        return self


def halve(grid: Grid, order: Order) -> tuple[int, float]:
    """HalvingGridSearchCV on the number of trees: a quarter of the settings gets the largest number."""

    def score(model: Replay, X: Any, y: Any) -> float:
        return float(grid.scores[COUNTS.index(model.n_trees), model.row, int(X[0, 0])])

    n_settings, n_folds = grid.scores.shape[1:]
    search = HalvingGridSearchCV(
        Replay(),
        {"row": list(range(n_settings))},
        resource="n_trees",
        factor=4,
        min_resources=COUNTS[0],
        max_resources=COUNTS[-1],
        scoring=score,
        cv=[(np.arange(n_folds), np.array([fold])) for fold in order],
        refit=False,
    ).fit(np.arange(n_folds)[:, None], np.zeros(n_folds))
    n_trees = np.sum(search.cv_results_["n_resources"])
    return search.best_params_["row"], float(n_trees / (n_settings * COUNTS[-1]))


WAYS: dict[str, Callable[[Grid, Order], tuple[int, float]]] = {
    "race": race,
    "Optuna, MedianPruner": prune,
    "HalvingGridSearchCV": halve,
}


def data_sets() -> Iterator[tuple[str, Any, Any]]:
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    yield "digits", X, with_qid(y, qid)
    X, y, qid = make_ranking(300, random_state=0)
    yield "generated", X, with_qid(y, qid)


def against_others(runs: Sequence[tuple[str, int]]) -> bool:
    """Trees, the winner lost, and the loss of the mean, over grids of 64 and of 16 candidates and orders of folds."""
    found: dict[tuple[int, int, str], list[tuple[float, float, float]]] = {}
    for name, X, y in data_sets():
        for kind, n_folds in runs:
            grid = run_grid(kind, X, y, n_folds)
            for seed in range(N_ORDERS):
                random = np.random.default_rng(seed)
                order = random.permutation(n_folds)
                for n_candidates in (64, 16):
                    part = part_of(grid, np.sort(random.choice(64, n_candidates, replace=False)))
                    means = part.scores[-1].mean(axis=1)
                    for way, search in WAYS.items():
                        winner, cost = search(part, order)
                        loss = float(means.max() - means[winner])
                        key = n_folds, n_candidates, way
                        found.setdefault(key, []).append((cost, float(loss > 0), loss))
            print(f"{name}, {kind}, {n_folds} folds done", flush=True)
    heads = (
        "folds",
        "candidates",
        "search",
        "trees",
        "winner lost",
        "loss of the mean",
        "searches",
    )
    rows = [(*key, *np.mean(of_key, axis=0), len(of_key)) for key, of_key in sorted(found.items())]
    print(Table(heads, rows).as_text(), flush=True)
    met = all(
        np.mean(of_key, axis=0)[1] <= 0.05 for key, of_key in found.items() if key[2] == "race"
    )
    print(f"Aim {'met' if met else 'missed'}: a race loses the winner in at most 0.05.", flush=True)
    return met


def shared_fits() -> None:
    """Fits of grids of 16 settings with three numbers of trees: those of a grid search, shared, raced, and both."""
    rows = []
    for name, X, y in data_sets():
        for kind, (model, count, leaves, _) in MODELS.items():
            values = {count: [8, 16, 32], "learning_rate": RATES, leaves: LEAVES}
            grid = {f"estimator__{one}": of_one for one, of_one in values.items()}
            options: dict[str, Any] = {"scoring": "ndcg@10", "cv": QueryKFold(5), "refit": False}
            whole, raced = (
                RacingSearchCV(QueryRanker(model), grid, confidence=one, **options).fit(X, y)
                for one in (None, 0.95)
            )
            n_fits = 5 * len(whole.cv_results_["params"])
            ran = np.nan_to_num(raced.cv_results_["dropped_after"], nan=5).sum()
            same = whole.best_index_ == raced.best_index_
            shares = [n / n_fits for n in (ran, whole.n_fits_, raced.n_fits_)]
            rows.append((name, kind, n_fits, *shares, "yes" if same else "no"))
    heads = ("data", "model", "fits of the grid", "race", "shared", "race, shared", "same winner")
    print(Table(heads, rows).as_text(), flush=True)


FOLDS = {
    "equal": (50, 50, 50, 50, 50),
    "unequal": (120, 50, 40, 20, 20),
    "10 folds": (50,) * 10,
}


def simulate_errors(rounds: int) -> bool:
    """How often the winner of the grid is dropped among equal candidates, whose fits vary; at most in about 5%."""
    rows = []
    for name, sizes in FOLDS.items():
        for n_candidates in (2, 8, 64):
            for size in (0.0, 1.0, 3.0):
                lost, share = simulate_races(rounds, sizes, np.full(n_candidates, size))
                rows.append((name, n_candidates, f"{size:g}", lost, share))
            # Only every other candidate has fits that vary.
            halves = np.where(np.arange(n_candidates) % 2, 2.0, 0.0)
            rows.append((name, n_candidates, "0 or 2", *simulate_races(rounds, sizes, halves)))
    met = max(row[3] for row in rows if row[2] != "0 or 2") <= 0.055
    heads = ("folds", "candidates", "sd of fits / error of a fold", "winner dropped", "fits")
    print(f"\n{rounds} simulations of equal candidates")
    print(Table(heads, rows).as_text())
    print(f"Aim {'met' if met else 'missed'}: it is dropped in at most about 5%.", flush=True)
    return met


def simulate_races(rounds: int, sizes: Sequence[int], of_fits: Values) -> tuple[float, float]:
    """Share of races that drop the winner of the grid, and of fits that they need."""
    random, lost, share = np.random.default_rng(0), 0, 0.0
    n_candidates = len(of_fits)
    for _ in range(rounds):
        folds = []
        for n in sizes:
            values = 0.2 * random.normal(size=n) + SPREAD * random.normal(size=(n_candidates, n))
            error = SPREAD / np.sqrt(np.mean(sizes))
            values += (error * of_fits * random.normal(size=n_candidates))[:, None]
            defined = np.ones((n_candidates, n), dtype=bool)
            queries = np.arange(n)
            folds.append(QueryScores(queries, queries, values, defined, None, queries))
        scores = np.transpose([fold.values.mean(axis=1) for fold in folds])
        grid = Grid(scores[None], folds)
        winner, cost = race(grid, random.permutation(len(sizes)))
        lost += winner != int(scores.mean(axis=1).argmax())
        share += cost / rounds
    return lost / rounds, share


PARTS = ["searches", "shared", "errors"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=PARTS, default=[])
    parser.add_argument("--folds", nargs="*", type=int, default=[5, 10])
    parser.add_argument("--models", nargs="*", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--simulations", type=int, default=500)
    given = parser.parse_args()
    print(machine())
    warnings.filterwarnings("ignore", category=UserWarning)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    parts = given.part or PARTS
    if "searches" in parts:
        against_others([(kind, n_folds) for n_folds in given.folds for kind in given.models])
    if "shared" in parts:
        shared_fits()
    if "errors" in parts:
        simulate_errors(given.simulations)


if __name__ == "__main__":
    main()

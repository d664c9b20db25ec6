"""``python -m benchmarks.racing``: fits and time that a race saves, and how often it loses the best candidate."""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the halving search importable
from sklearn.model_selection import HalvingGridSearchCV, ParameterGrid
from xgboost import XGBRanker

from benchmarks.timing import machine
from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, with_qid
from skrank_metrics._output.table import Table
from skrank_metrics.datasets import load_digits_retrieval, make_ranking
from skrank_metrics.model_selection._fold_scores import Task, fit_and_score
from skrank_metrics.model_selection._race import FoldValues, Race, Rules

N_FOLDS, N_TREES = 5, 40
DATA = Path(os.environ.get("SKRANK_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
RATES = [0.02, 0.05, 0.1, 0.2]
# Each model with the name of its number of trees, and its grid.
MODELS = {
    "LGBMRanker": (
        LGBMRanker(n_estimators=N_TREES, verbose=-1, n_jobs=1),
        "n_estimators",
        {"learning_rate": RATES, "num_leaves": [3, 10, 31]},
    ),
    "XGBRanker": (
        XGBRanker(n_estimators=N_TREES, n_jobs=1),
        "n_estimators",
        {"learning_rate": RATES, "max_depth": [2, 3, 5]},
    ),
    "CatBoostRanker": (
        CatBoostRanker(iterations=N_TREES, verbose=False, thread_count=1, allow_writing_files=False),
        "iterations",
        {"learning_rate": RATES, "depth": [2, 3, 5]},
    ),
    "HistGradientBoosting": (
        HistGradientBoostingRegressor(max_iter=N_TREES, random_state=0),
        "max_iter",
        {"learning_rate": RATES, "max_leaf_nodes": [3, 10, 31]},
    ),
}
# For resampling, 32 candidates.
LARGE_GRID = {"n_estimators": [10, 30, 60, 100], "num_leaves": [3, 7, 15, 31], "learning_rate": [0.03, 0.1]}
SIZES = (100, 300, 750, 1500)
TARGETS = {300: 0.55, 750: 0.4}  # largest share of the fits
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """What a grid search computes: everything that a race or a race by folds would have seen of it."""

    candidates: list[dict[str, Any]]
    scores: Values  # (n_candidates, n_folds)
    times: Values  # (n_candidates, n_folds), s
    folds: list[FoldValues]

    @property
    def values(self) -> Values:
        """Values of all candidates for all queries, out of fold."""
        return np.concatenate([fold.values for fold in self.folds], axis=1)


def run_grid(model: Any, grid: Any, X: Any, y: Any, shares: Sequence[float] = (1,) * N_FOLDS) -> Grid:
    """Run all candidates in all folds, or on shares of the training queries of as many first folds."""
    scorer, qid = make_ranking_scorer("ndcg@10"), y.index.get_level_values("qid").to_numpy()
    candidates = [{f"estimator__{name}": value for name, value in params.items()} for params in ParameterGrid(grid)]
    task = Task(QueryRanker(model), {"score": scorer}, "score", {}, {}, "raise")
    folds, scores, times, n_before = [], [], [], 0
    splits = list(QueryKFold(N_FOLDS).split(X, y))
    for share, (train, test) in zip(
        shares, splits if len(shares) == N_FOLDS else splits[:1] * len(shares), strict=True
    ):
        drawn = np.random.default_rng(0).permutation(np.unique(qid[train]))
        train = train[np.isin(qid[train], drawn[: int(np.ceil(share * len(drawn)))])]
        outcomes = [fit_and_score(task, params, X, y, train, test) for params in candidates]
        found = [outcome.queries for outcome in outcomes if outcome.queries]
        numbers = n_before + np.arange(len(found[0].ids))
        folds.append(FoldValues(numbers, np.array([queries.values for queries in found]), found[0].defined))
        scores.append([outcome.scores["score"] for outcome in outcomes])
        times.append([outcome.fit_time + outcome.score_time for outcome in outcomes])
        n_before += len(numbers)
    return Grid(candidates, np.transpose(scores), np.transpose(times), folds)


def race(folds: Sequence[FoldValues], scores: Values, indifference: float = 0.0) -> Race:
    """Race over values that are known already."""
    n_queries = sum(len(fold.queries) for fold in folds)
    found = Race(Rules(len(folds), len(scores), n_queries, indifference=indifference))
    for number, fold in enumerate(folds):
        running = found.start_round()
        found.finish_round({i: scores[i, number] for i in running}, fold)
    return found


def ran_in(found: Race, n_folds: int) -> NDArray[np.bool_]:
    """Which candidate ran which fold."""
    after = np.array([found.left.get(i, (n_folds, ""))[0] for i in range(found.rules.n_candidates)])
    return np.arange(n_folds) < after[:, None]


def race_over_folds(scores: Values) -> NDArray[np.bool_]:
    """A race as tune_race_anova holds: from the third fold on, by a paired test of fold scores, level 0.05."""
    remaining, ran = np.ones(len(scores), dtype=bool), np.zeros(scores.shape, dtype=bool)
    for fold in range(scores.shape[1]):
        ran[remaining, fold] = True
        if 2 <= fold < scores.shape[1] - 1:
            so_far = scores[:, : fold + 1]
            leader = int(np.argmax(np.where(remaining, so_far.mean(axis=1), -np.inf)))
            lead = so_far[leader] - so_far
            p = [1.0 if not np.ptp(d) else stats.ttest_1samp(d, 0, alternative="greater").pvalue for d in lead]
            remaining &= np.array(p) > 0.05
    return ran


def winner(ran: NDArray[np.bool_], scores: Values) -> int:
    return int(np.argmax(np.where(ran.all(axis=1), scores.mean(axis=1), -np.inf)))


def halve(model: Any, resource: str, grid: Any, X: Any, y: Any) -> tuple[dict[str, Any], float]:
    """Parameters that halving on the number of trees chooses, and its time, s."""
    search = HalvingGridSearchCV(
        QueryRanker(clone(model)),
        {f"estimator__{name}": values for name, values in grid.items()},
        resource=f"estimator__{resource}",
        max_resources=N_TREES,
        min_resources=N_TREES // 9,
        factor=3,
        scoring=make_ranking_scorer("ndcg@10"),
        cv=QueryKFold(N_FOLDS),
        refit=False,
    )
    found = search.fit(X, y).cv_results_
    times = N_FOLDS * (found["mean_fit_time"] + found["mean_score_time"]).sum()
    return {name: value for name, value in search.best_params_.items() if not name.endswith(resource)}, float(times)


def data_sets() -> Iterator[tuple[str, Any, Any]]:
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    yield f"digits, {qid.max() + 1} queries", X, with_qid(y, qid)
    folder = DATA / "lambdarank"
    if folder.is_dir():
        X, y = load_svmlight_file(str(folder / "rank.train"))
        sizes = np.loadtxt(folder / "rank.train.query", dtype=int)
        yield (
            f"LightGBM's example, {len(sizes)} queries",
            X.toarray(),
            with_qid(y, np.repeat(np.arange(len(sizes)), sizes)),
        )
    else:
        print(f"LightGBM's example rows are left out, as they are not in {folder}.")
    X, y, qid = make_ranking(1500, random_state=0)
    yield "made up, 1,500 queries", X, with_qid(y, qid)


def against_others() -> None:
    """Share of the fits and of the time, and regret, of all ways to search; regret is the loss of the mean."""
    for name, X, y in data_sets():
        rows: list[tuple[Any, ...]] = []
        for label, (model, resource, grid) in MODELS.items():
            found = run_grid(model, grid, X, y)
            means, total = found.scores.mean(axis=1), found.times.sum()
            started = time.perf_counter()
            raced = race(found.folds, found.scores)
            overhead = time.perf_counter() - started
            ways = {"race": ran_in(raced, N_FOLDS)}
            ways["race, indifference 0.002"] = ran_in(race(found.folds, found.scores, 0.002), N_FOLDS)
            ways["race over folds"] = race_over_folds(found.scores)
            for way, ran in ways.items():
                spent = found.times[ran].sum() + overhead * way.startswith("race,") + overhead * (way == "race")
                rows.append((label, way, ran.mean(), spent / total, means.max() - means[winner(ran, found.scores)]))
            chosen, spent = halve(model, resource, grid, X, y)
            regret = means.max() - means[found.candidates.index(chosen)]
            rows.append((label, f"halving {resource}", "", spent / total, regret))
            rows.append((label, "grid", 1.0, f"{total:.1f} s", 0.0))
        table = Table(("model", "search", "fits", "time", "regret"), rows)
        print(f"\n{name}, {len(means)} candidates\n{table.as_text()}", flush=True)


def resampled(found: Grid, n_queries: int, indifference: float, rounds: int) -> tuple[float, float, float]:
    """Share of the fits, share of resamples with the winner of the grid, and mean regret."""
    random, values = np.random.default_rng(n_queries), found.values
    shares, same, regrets = [], [], []
    for _ in range(rounds):
        drawn = random.choice(values.shape[1], n_queries, replace=n_queries == values.shape[1])
        parts = [values[:, part] for part in np.array_split(drawn, N_FOLDS)]
        ends = np.cumsum([0, *(part.shape[1] for part in parts)])
        folds = [
            FoldValues(np.arange(start, end), part, np.ones(end - start, dtype=bool))
            for part, start, end in zip(parts, ends[:-1], ends[1:], strict=True)
        ]
        scores = np.transpose([part.mean(axis=1) for part in parts])
        ran = ran_in(race(folds, scores, indifference), N_FOLDS)
        best = scores.mean(axis=1)
        shares.append(ran.mean())
        same.append(winner(ran, scores) == int(best.argmax()))
        regrets.append(best.max() - best[winner(ran, scores)])
    return float(np.mean(shares)), float(np.mean(same)), float(np.mean(regrets))


def resample(rounds: int) -> bool:
    """Races over resampled queries of one grid search."""
    X, y, qid = make_ranking(1500, random_state=0)
    found = run_grid(MODELS["LGBMRanker"][0], LARGE_GRID, X, with_qid(y, qid))
    rows, met = [], True
    for n_queries in SIZES:
        for indifference in (0.0, 0.002):
            share, same, regret = resampled(found, n_queries, indifference, rounds)
            rows.append((n_queries, indifference, share, same, regret))
            if not indifference:
                met &= same >= 0.99 and share <= TARGETS.get(n_queries, 1.0)
    columns = ("queries", "indifference", "fits", "same winner", "mean regret")
    print(f"\n{len(found.candidates)} LGBMRankers, {rounds} resamples\n{Table(columns, rows).as_text()}")
    print(f"Targets {'met' if met else 'missed'}: same winner in 99%, at most {TARGETS} of the fits.", flush=True)
    return bool(met)


RUNGS, MARGINS, RUNG_ROUNDS, RUNG_DATA = (0.125, 0.5), (0.0, 0.01, 0.02, 0.05, np.inf), 50, 3


def climb(rungs: Grid, found: Grid, margin: float, random: np.random.Generator) -> tuple[float, bool, float]:
    """Share of the fits, whether the winner is that of the grid, and regret, of a race with rungs on a resample."""
    drawn = [random.integers(len(fold.queries), size=len(fold.queries)) for fold in found.folds]
    folds = [replace(fold, values=fold.values[:, rows]) for fold, rows in zip(found.folds, drawn, strict=True)]
    scores = np.transpose([fold.values.mean(axis=1) for fold in folds])
    n_rungs = len(RUNGS) if margin < np.inf else 0
    n_queries = sum(map(len, drawn))
    raced = Race(Rules(N_FOLDS, len(scores), n_queries, n_rungs=n_rungs, rung_margin=margin))
    for share, fold in zip(RUNGS[:n_rungs], rungs.folds, strict=False):
        values = fold.values[:, drawn[0]]
        running = raced.start_round(share)
        rung = FoldValues(np.arange(len(drawn[0])), values, np.ones(len(drawn[0]), dtype=bool))
        raced.finish_rung({i: values[i].mean() for i in running}, rung, share)
    for number, fold in enumerate(folds):
        running = raced.start_round()
        raced.finish_round({i: scores[i, number] for i in running}, fold)
    best, chosen = scores.mean(axis=1), max(raced.remaining, key=lambda i: scores[i].mean())
    return raced.n_fits / scores.size, chosen == int(best.argmax()), float(best.max() - best[chosen])


def rungs() -> None:
    """What small rungs say about the final order, and what the margin costs and saves."""
    grid, rows = {**LARGE_GRID, "min_child_samples": [5]}, []
    kept: dict[float, list[tuple[float, bool, float]]] = {margin: [] for margin in MARGINS}
    for seed in range(RUNG_DATA):
        X, y, qid = make_ranking(500, random_state=seed)
        labels, model = with_qid(y, qid), MODELS["LGBMRanker"][0]
        found, small = run_grid(model, grid, X, labels), run_grid(model, grid, X, labels, RUNGS)
        best = int(found.scores.mean(axis=1).argmax())
        for number, share in enumerate((*RUNGS, 1.0)):
            at = small.scores[:, number] if share < 1 else found.scores[:, 0]
            rank = stats.kendalltau(at, found.scores.mean(axis=1)).statistic
            rows.append((seed, f"{share:g}", rank, int((at > at[best]).sum()) + 1, at.max() - at[best]))
        random = np.random.default_rng(seed)
        for margin, results in kept.items():
            results += [climb(small, found, margin, random) for _ in range(RUNG_ROUNDS)]
    columns = ("data", "rung", "tau with the grid", "rank of the winner", "behind the leader")
    print(f"\nFirst fold of {RUNG_DATA} data sets of 500 queries\n{Table(columns, rows).as_text()}")
    rows = [("no rungs" if np.isinf(margin) else f"{margin:g}", *np.mean(kept[margin], axis=0)) for margin in MARGINS]
    print(f"\n{Table(('margin', 'fits', 'same winner', 'mean regret'), rows).as_text()}", flush=True)


def normal(random: np.random.Generator, means: Values, n: int) -> Values:
    """Differences between candidates of a standard deviation of 0.14, of queries that differ more."""
    return means[:, None] + 0.2 * random.normal(size=n) + 0.1 * random.normal(size=(len(means), n))


def hits(random: np.random.Generator, means: Values, n: int) -> Values:
    """Whether there is a hit; most candidates agree on most queries."""
    easy, noise = random.random(n), random.random((len(means), n)) < 0.1
    return np.asarray(np.where(noise, random.random((len(means), n)), easy) < 0.8 + means[:, None], dtype=float)


N_CANDIDATES = 8
TRUTHS = {
    "all equal": np.zeros(N_CANDIDATES),
    "two best, others 0.02 behind": np.r_[0, 0, np.full(N_CANDIDATES - 2, -0.02)],
    "each 0.005 behind the next": -0.005 * np.arange(N_CANDIDATES),
}


def errors_of(
    draw: Callable[..., Values], means: Values, n_queries: int, spread: float, rounds: int
) -> tuple[float, float]:
    """How often the best candidate, and the winner of the grid, leave the race."""
    random = np.random.default_rng(0)
    n = n_queries // N_FOLDS
    lost_best = lost_winner = 0
    for _ in range(rounds):
        # What a training set does to all queries of its fold; folds share three of four training queries.
        shared = random.normal(size=(len(means), 1))
        effects = spread * (0.75**0.5 * shared + 0.25**0.5 * random.normal(size=(len(means), N_FOLDS)))
        effects -= spread * 0.75**0.5 * shared  # which is a property of the candidate on these data, and no error
        parts = [draw(random, means + effects[:, fold], n) for fold in range(N_FOLDS)]
        everywhere = np.ones(n, dtype=bool)
        folds = [FoldValues(n * i + np.arange(n), part, everywhere) for i, part in enumerate(parts)]
        scores = np.transpose([part.mean(axis=1) for part in parts])
        left = race(folds, scores).left
        lost_best += 0 in left
        lost_winner += int(scores.mean(axis=1).argmax()) in left
    return lost_best / rounds, lost_winner / rounds


def simulate_errors(rounds: int) -> bool:
    """How often the truly best candidate and the winner of the grid leave; the second at most in 5%."""
    rows, met = [], True
    for name, means in TRUTHS.items():
        for kind, draw in {"normal": normal, "hits": hits}.items():
            for n_queries, spread in ((150, 0.0), (750, 0.0), (750, 0.01)):
                best, of_grid = errors_of(draw, means, n_queries, spread, rounds)
                rows.append((name, kind, n_queries, f"{spread:g}", best, of_grid))
                met &= of_grid <= 0.05
    columns = ("truth", "values", "queries", "std of a fit", "best leaves", "winner leaves")
    print(f"\n{rounds} simulations of {N_CANDIDATES} candidates\n{Table(columns, rows).as_text()}")
    print(f"Target {'met' if met else 'missed'}: the winner of the grid leaves in at most 5%.", flush=True)
    return bool(met)


PARTS = ["searches", "resamples", "rungs", "errors"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=PARTS, default=[])
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--simulations", type=int, default=4000)
    given = parser.parse_args()
    print(machine())
    warnings.filterwarnings("ignore", category=UserWarning)
    parts = given.part or PARTS
    if "searches" in parts:
        against_others()
    if "resamples" in parts:
        resample(given.resamples)
    if "rungs" in parts:
        rungs()
    if "errors" in parts:
        simulate_errors(given.simulations)


if __name__ == "__main__":
    main()

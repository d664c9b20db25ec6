"""``python -m benchmarks.comparison``: speed of tests and leaderboards, coverage of intervals, errors of tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from skrank_metrics import Leaderboard, RankingReport, evaluate, leaderboard
from skrank_metrics._output.table import Table
from skrank_metrics.datasets import make_ranking
from skrank_metrics.reports.statistics import TESTS, difference_interval, mean_interval, moments, p_value, sign_flip_p

N_QUERIES, N_RESAMPLES, ROUNDS = 20_000, 9_999, 3
N_MODELS, N_BOARD_QUERIES = 10, 3_000
N_DATA_SETS = 4_000
# Of the methods that resample or solve equations for each interval.
N_SLOW_DATA_SETS = 1_000
SIZES = (10, 30, 100)
Values = NDArray[np.float64]
Interval = tuple[float, float]


def timed(call: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Shortest time in s, and the p-value."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        p = call()
        times.append(time.perf_counter() - started)
    return min(times), p


def scipy_p(differences: Values) -> float:
    """The same test by SciPy, in batches that fit into memory."""
    result = stats.permutation_test(
        (differences,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=N_RESAMPLES,
        batch=200,
    )
    return float(result.pvalue)


def speed() -> None:
    random = np.random.default_rng(0)
    differences = random.normal(0.003, 0.3, N_QUERIES)
    ours, p = timed(lambda: sign_flip_p(differences, N_RESAMPLES, random), ROUNDS)
    theirs, p_scipy = timed(lambda: scipy_p(differences), 1)
    print(f"sign-flip test, {N_QUERIES:,} queries, {N_RESAMPLES:,} resamples")
    print(f"  skrank_metrics {ours:7.3f} s  p = {p:.4f}\n  SciPy          {theirs:7.3f} s  p = {p_scipy:.4f}")
    print(f"  SciPy takes {theirs / ours:.0f} times as long\n")


def cpu_seconds(call: Callable[[], object], rounds: int) -> float:
    """Shortest CPU time, which other programs lengthen less than the time that passes."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def boards() -> None:
    """A leaderboard against one report per model, with ids of any type and rows in any order."""
    X, y, qid = make_ranking(N_BOARD_QUERIES, mean_length=100, random_state=0)
    random = np.random.default_rng(0)
    scores = X[:, :1] + 0.1 * np.arange(N_MODELS) * random.normal(size=(len(y), N_MODELS))
    print(f"leaderboard, {N_MODELS} models, {N_BOARD_QUERIES:,} queries, {len(y):,} documents, CPU time")
    for name, ids, order in (
        ("integers, sorted", qid, np.arange(len(y))),
        ("integers, any order", qid, random.permutation(len(y))),
        ("strings, sorted", qid.astype(str), np.arange(len(y))),
        ("strings, any order", qid.astype(str), random.permutation(len(y))),
    ):
        models = {f"model {number}": column for number, column in enumerate(scores[order].T.copy())}
        board, each, shown = _board_times(y[order], models, ids[order])
        print(f"  {name:20} {board:.3f} s, {N_MODELS} reports {each:.3f} s: ratio {board / each:.2f}; ", end="")
        print(f"to print {shown:.2f} s")
    print()


def _board_times(labels: NDArray[Any], models: dict[str, Values], ids: NDArray[Any]) -> tuple[float, float, float]:
    def board() -> Leaderboard:
        return leaderboard(labels, models, qid=ids)

    def reports() -> list[RankingReport]:
        return [evaluate(labels, own, qid=ids) for own in models.values()]

    return cpu_seconds(board, ROUNDS), cpu_seconds(reports, ROUNDS), cpu_seconds(lambda: str(board()), 1)


def reciprocal_ranks(random: np.random.Generator, n_queries: int, p: float = 0.5) -> Values:
    """1 / rank of the first relevant document, which is at the top of a share p of the lists."""
    return 1.0 / random.geometric(p, n_queries)


def mean_reciprocal_rank(p: float) -> float:
    return float(-p * np.log(p) / (1 - p))  # sum of p (1 - p)^(r - 1) / r


# Values of queries by what they are: their bounds, their mean, and a sample.
DISTRIBUTIONS: dict[str, tuple[Interval, float, Callable[[np.random.Generator, int], Values]]] = {
    "90 % perfect": ((0, 1), 0.95, lambda r, n: np.where(r.random(n) < 0.9, 1.0, r.random(n))),
    "hits, 90 %": ((0, 1), 0.9, lambda r, n: (r.random(n) < 0.9).astype(float)),
    "hits, 50 %": ((0, 1), 0.5, lambda r, n: (r.random(n) < 0.5).astype(float)),
    "hits, 3 %": ((0, 1), 0.03, lambda r, n: (r.random(n) < 0.03).astype(float)),
    "1 / rank, mean rank 2": ((0, 1), mean_reciprocal_rank(1 / 2), reciprocal_ranks),
    "1 / rank, mean rank 30": ((0, 1), mean_reciprocal_rank(1 / 30), lambda r, n: reciprocal_ranks(r, n, 1 / 30)),
    "beta(2, 1)": ((0, 1), 2 / 3, lambda r, n: r.beta(2, 1, n)),
    "beta(8, 2)": ((0, 1), 0.8, lambda r, n: r.beta(8, 2, n)),
    "1 / rank - 1 / rank": (
        (-1, 1),
        mean_reciprocal_rank(0.5) - mean_reciprocal_rank(0.4),
        lambda r, n: reciprocal_ranks(r, n) - reciprocal_ranks(r, n, 0.4),
    ),
    "95 % without difference": ((-1, 1), 0.05 / 3, lambda r, n: (r.random(n) < 0.05) * r.choice([1.0, -0.5, 0.5], n)),
    "difference, std 0.05": ((-1, 1), 0.01, lambda r, n: r.normal(0.01, 0.05, n)),
    "rare large differences": ((-1, 1), 0.0255, lambda r, n: r.normal(0, 0.03, n) + 0.85 * (r.random(n) < 0.03)),
}


def student_t(values: Values, bounds: Interval) -> Interval:
    return mean_interval(moments(values))


def with_bounds(values: Values, bounds: Interval) -> Interval:
    if bounds[0] < 0:
        return difference_interval(moments(values), bounds[1], 0.95)
    return mean_interval(moments(values), bounds)


def bca(values: Values, bounds: Interval) -> Interval:
    if not np.ptp(values):
        return values[0], values[0]
    with np.errstate(all="ignore"):
        ends = stats.bootstrap((values,), np.mean, n_resamples=999, rng=np.random.default_rng(0)).confidence_interval
    return float(ends.low), float(ends.high)


def empirical_likelihood(values: Values, bounds: Interval) -> Interval:
    """Owen's interval, calibrated by F, over distributions that may also have mass at the bounds."""
    (low, high), mean = bounds, values.mean()
    limit, margin = stats.f.ppf(0.95, 1, len(values) - 1), 1e-7 * (high - low)

    def excess(candidate: float) -> float:
        deviations = values - candidate
        ends = np.array([-1 / (high - candidate), 1 / (candidate - low)]) * (1 - 1e-9)
        slope = [np.sum(deviations / (1 + end * deviations)) for end in ends]
        if slope[0] > 0 > slope[1]:
            multiplier = optimize.brentq(lambda m: np.sum(deviations / (1 + m * deviations)), *ends)
        else:
            multiplier = ends[0] if slope[0] <= 0 else ends[1]
        return float(2 * np.log1p(multiplier * deviations).sum() - limit)

    inside = float(np.clip(mean, low + 2 * margin, high - 2 * margin))
    return tuple(  # type: ignore[return-value]
        end if excess(start) <= 0 else optimize.brentq(excess, *sorted((start, inside)))
        for end, start in ((low, low + margin), (high, high - margin))
    )


METHODS: dict[str, Callable[[Values, Interval], Interval]] = {
    "t": student_t,
    "t and bounds": with_bounds,
    "BCa": bca,
    "likelihood": empirical_likelihood,
}


def coverage(method: str, name: str, n_queries: int) -> tuple[float, float]:
    """Share of 95 % intervals that hold the mean, and their mean width."""
    bounds, truth, draw = DISTRIBUTIONS[name]
    random = np.random.default_rng(0)
    n_data_sets = N_DATA_SETS if METHODS[method] in (student_t, with_bounds) else N_SLOW_DATA_SETS
    samples = [draw(random, n_queries) for _ in range(n_data_sets)]
    # Without a spread there is no interval, which does not cover.
    low, high = np.array([METHODS[method](values, bounds) for values in samples]).T
    return float(((low <= truth + 1e-12) & (truth <= high + 1e-12)).mean()), float(np.nanmean(high - low))


def intervals() -> None:
    rows = []
    for name in DISTRIBUTIONS:
        for n_queries in SIZES:
            found = (coverage(method, name, n_queries) for method in METHODS)
            cells = [f"{share:.3f} / {width:.2f}" for share, width in found]
            rows.append((name if n_queries == SIZES[0] else None, n_queries, *cells))
    print(Table(("coverage / mean width", "queries", *METHODS), rows).as_text(), flush=True)


def errors() -> None:
    random = np.random.default_rng(0)
    print(f"\nType-I error at 5 % in {N_DATA_SETS:,} data sets of " + ", ".join(TESTS))
    for n_queries in (30, 100, 200):
        rejected = dict.fromkeys(TESTS, 0)
        for _ in range(N_DATA_SETS):
            differences = reciprocal_ranks(random, n_queries) - reciprocal_ranks(random, n_queries)
            for test in TESTS:
                rejected[test] += p_value(differences, test, 999, random) <= 0.05
        print(f"  {n_queries:>4} queries  " + "  ".join(f"{n / N_DATA_SETS:.3f}" for n in rejected.values()))


def main() -> None:
    speed()
    boards()
    intervals()
    errors()


if __name__ == "__main__":
    main()

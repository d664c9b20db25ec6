"""``python -m benchmarks.comparison``: the sign-flip test against SciPy's, and what intervals and tests keep to."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skrank_metrics.reports.statistics import TESTS, mean_interval, moments, p_value, sign_flip_p

N_QUERIES, N_RESAMPLES, ROUNDS = 20_000, 9_999, 3
N_DATA_SETS = 4_000
Values = NDArray[np.float64]


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


def reciprocal_ranks(random: np.random.Generator, n_queries: int) -> Values:
    """1 / rank of the first relevant document, which is at the top of half of the lists."""
    return 1.0 / random.geometric(0.5, n_queries)


def speed() -> None:
    random = np.random.default_rng(0)
    differences = random.normal(0.003, 0.3, N_QUERIES)
    ours, p = timed(lambda: sign_flip_p(differences, N_RESAMPLES, random), ROUNDS)
    theirs, p_scipy = timed(lambda: scipy_p(differences), 1)
    print(f"sign-flip test, {N_QUERIES:,} queries, {N_RESAMPLES:,} resamples")
    print(f"  skrank_metrics {ours:7.3f} s  p = {p:.4f}\n  SciPy          {theirs:7.3f} s  p = {p_scipy:.4f}")
    print(f"  SciPy takes {theirs / ours:.0f} times as long\n")


def calibration() -> None:
    random = np.random.default_rng(0)
    truth = float(2 * np.log(2) - np.log(2))  # sum of 2^-r / r
    print(f"{N_DATA_SETS:,} data sets: coverage of the 95 % interval, then type-I error at 5 % of " + ", ".join(TESTS))
    for n_queries in (30, 100, 200):
        ends = np.array([mean_interval(moments(reciprocal_ranks(random, n_queries))) for _ in range(N_DATA_SETS)])
        covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
        rejected = dict.fromkeys(TESTS, 0)
        for _ in range(N_DATA_SETS):
            differences = reciprocal_ranks(random, n_queries) - reciprocal_ranks(random, n_queries)
            for test in TESTS:
                rejected[test] += p_value(differences, test, 999, random) <= 0.05
        print(
            f"  {n_queries:>4} queries  {covered:.3f}  "
            + "  ".join(f"{n / N_DATA_SETS:.3f}" for n in rejected.values())
        )


def main() -> None:
    speed()
    calibration()


if __name__ == "__main__":
    main()

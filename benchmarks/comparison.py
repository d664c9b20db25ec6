"""``python -m benchmarks.comparison [--samples N]``: errors, power and coverage of comparisons, and their speed."""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skrank_metrics import RankingReport, compare, evaluate
from skrank_metrics._output.result import Table
from skrank_metrics.datasets import make_ranking
from skrank_metrics.decisions import sign_flips
from skrank_metrics.decisions.families import Family
from skrank_metrics.decisions.sign_flips import SignFlips
from skrank_metrics.model_selection._search_report import expected_score
from skrank_metrics.reports.mean_intervals import mean_interval, moments

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, Any], Any]
LEVEL, SPREAD = 0.05, 0.1
RANDOM = np.random.default_rng(0)


def sparse(random: np.random.Generator, shape: Any) -> Values:
    """Most values do not change."""
    return np.where(random.random(shape) < 0.15, random.choice([-0.25, 0.25], shape), 0.0)


NOISE: dict[str, Draw] = {
    "normal": lambda r, shape: r.normal(0, SPREAD, shape),
    "sparse": sparse,
    "skewed": lambda r, shape: r.exponential(SPREAD, shape) - SPREAD,
}
TRUTHS: dict[str, Callable[[int], Values]] = {
    "all equal": lambda n: np.zeros(n),
    "one is better": lambda n: np.r_[0.025, np.zeros(n - 1)],
    "graded": lambda n: np.linspace(0.06, 0, n),
}
# Differences of two rankings by what they are, with their mean.
DIFFERENCES: dict[str, tuple[Draw, float]] = {
    "normal, sd .2": (lambda r, n: r.normal(0.05, 0.2, n), 0.05),
    "normal, sd .01": (lambda r, n: r.normal(0.002, 0.01, n), 0.002),
    "reciprocal ranks": (
        lambda r, n: 1 / r.geometric(0.5, n) - 1 / r.geometric(0.4, n),
        float(-np.log(0.5) + 0.4 / 0.6 * np.log(0.4)),
    ),
    "30% differ": (lambda r, n: (r.random(n) < 0.3) * r.normal(0.1, 0.2, n), 0.03),
    "5% differ": (lambda r, n: (r.random(n) < 0.05) * r.choice([1, -0.5, 0.5], n), 0.05 / 3),
    "hits, 10% change": (lambda r, n: (r.random(n) < 0.1) * r.choice([1.0, 1, -1], n), 0.1 / 3),
    "hits, 2% change": (lambda r, n: (r.random(n) < 0.02) * r.choice([1.0, 1, -1], n), 0.02 / 3),
    "exponential": (lambda r, n: r.exponential(0.1, n) - 0.05, 0.05),
    "10% lose .45, rest wins .05": (lambda r, n: np.where(r.random(n) < 0.1, -0.45, 0.05), 0.0),
}
# Values of one ranking by what they are, with their mean.
VALUES: dict[str, tuple[Draw, float]] = {
    "hits, 50%": (lambda r, n: np.where(r.random(n) < 0.5, 1.0, 0.0), 0.5),
    "hits, 90%": (lambda r, n: np.where(r.random(n) < 0.9, 1.0, 0.0), 0.9),
    "hits, 3%": (lambda r, n: np.where(r.random(n) < 0.03, 1.0, 0.0), 0.03),
    "90% perfect": (lambda r, n: np.where(r.random(n) < 0.9, 1.0, r.random(n)), 0.95),
    "reciprocal ranks": (lambda r, n: 1 / r.geometric(0.5, n), float(np.log(2))),
    "beta(8, 2)": (lambda r, n: r.beta(8, 2, n), 0.8),
}

WEIGHTS: dict[str, Draw] = {
    "equal": lambda r, n: np.ones(n),
    "exponential": lambda r, n: r.exponential(1, n) + 0.01,
    "10 for a tenth": lambda r, n: np.where(r.random(n) < 0.1, 10.0, 1.0),
}


def flips(values: Values, units: Any = None, weights: Any = None, folds: Any = None) -> SignFlips:
    """Tests with other random signs in each sample."""
    n, seed = len(values), int(RANDOM.integers(2**32))
    units = (np.arange(n) if units is None else units).astype(np.uint64)
    return SignFlips(
        values, np.ones(n) if weights is None else weights, units, seed, span=1.0, folds=folds
    )


def paired(differences: Values, **options: Any) -> tuple[float, tuple[float, float]]:
    """P-value and interval of differences."""
    tests = Family(
        [flips(np.stack([differences, np.zeros(len(differences))], axis=1), **options)], LEVEL
    )
    p, _, interval, _ = tests.pair(0, 0, 1)
    return p, interval


def show(title: str, heads: Sequence[str], rows: Iterable[Any]) -> None:
    print(f"\n{title}\n{Table(heads, list(rows)).as_text()}", flush=True)


def rounded(values: Any) -> list[str]:
    return [f"{value:.3f}" for value in np.mean(values, axis=0)]


def families(n_samples: int) -> None:
    """Error and power of corrections over all pairs; the set that contains the best, and regret."""
    rows = []
    for kind, noise in NOISE.items():
        for n_queries, n_rankings in ((50, 5), (200, 5), (200, 12), (300, 36), (1000, 12)):
            for name, truth in TRUTHS.items():
                n = n_samples if n_rankings < 36 else n_samples // 5
                found = [_family(truth(n_rankings), noise, n_queries) for _ in range(n)]
                rows.append((kind, n_queries, n_rankings, name, *rounded(found)))
    heads = ("noise", "queries", "rankings", "truth", "error Holm", "max", "power Holm", "max")
    show("Families of all pairs at .05", (*heads, "best in set", "size", "regret held"), rows)


def _family(truth: Values, noise: Draw, n_queries: int) -> tuple[float, ...]:
    values = RANDOM.random((n_queries, 1)) + noise(RANDOM, (n_queries, len(truth))) + truth
    tests = Family([flips(values)], LEVEL)
    one, other = tests.indices
    equal = truth[one] == truth[other]
    rejected = [
        own.p_adjusted[0][one, other] <= LEVEL
        for own in (Family(tests.parts, LEVEL, "holm"), tests)
    ]
    errors = [bool((own & equal).any()) for own in rejected]
    powers = [float(own[~equal].mean()) if not equal.all() else np.nan for own in rejected]
    found, best = tests.best_set(), int(np.argmax(truth))
    held = bool((truth.max() - truth <= found.regret).all())
    return *errors, *powers, bool(found.inside[best]), int(found.inside.sum()), held


def differences(n_samples: int) -> None:
    rows = []
    for name, (draw, mean) in DIFFERENCES.items():
        cells = []
        for n in (10, 30, 100, 300):
            ends = [paired(draw(RANDOM, n))[1] for _ in range(n_samples)]
            student = [mean_interval(moments(draw(RANDOM, n))) for _ in range(n_samples)]
            low, high = np.array(ends).T
            width = np.median(high - low) / np.nanmedian(np.diff(student))
            cells.append(f"{np.mean((low <= mean) & (mean <= high)):.3f} / {width:.2f}")
        rows.append((name, *cells))
    show(
        "Intervals of differences: coverage / width relative to Student's t",
        ("", "10", "30", "100", "300"),
        rows,
    )


def means(n_samples: int) -> None:
    rows = []
    for name, (draw, mean) in VALUES.items():
        shares = []
        for n in (10, 30, 100, 300):
            ends = np.array(
                [mean_interval(moments(draw(RANDOM, n)), (0, 1)) for _ in range(10 * n_samples)]
            )
            shares.append(f"{np.mean((ends[:, 0] <= mean) & (mean <= ends[:, 1])):.3f}")
        rows.append((name, *shares))
    show("Intervals of means: coverage", ("", "10", "30", "100", "300"), rows)


def dependence(n_samples: int) -> None:
    """Queries of the same user, unequal weights, and queries that are undefined for all rankings."""
    rows = []
    for n_users in (15, 30, 60):
        users = np.repeat(np.arange(n_users), 20)

        def draw(users: Any = users, n: int = n_users) -> Values:
            return RANDOM.normal(0, 0.3**0.5, n)[users] + RANDOM.normal(0, 0.7**0.5, len(users))

        found = [
            [p <= LEVEL for p in (paired(d)[0], paired(d, units=users)[0])]
            for d in (draw() for _ in range(n_samples))
        ]
        rows.append((f"{n_users} users of 20 queries, ICC .3", *rounded(found)))
    show("Error at .05", ("", "queries", "groups"), rows)
    rows = []
    for name, weigh in WEIGHTS.items():
        for n in (30, 100, 300):
            ends = [
                paired(d, weights=weigh(RANDOM, n))[1]
                for d in RANDOM.normal(0, SPREAD, (n_samples, n))
            ]
            rows.append((name, str(n), *rounded([[low <= 0 <= high] for low, high in ends])))
    show("Weights: coverage", ("weights", "queries", "coverage"), rows)


def folds(n_samples: int) -> None:
    """Two exchangeable models, whose difference changes by .01 from fit to fit."""
    rows = []
    for n in (100, 400, 1500):
        fold = np.arange(n) % 5
        found = []
        for _ in range(n_samples):
            d = RANDOM.normal(0, 0.01, 5)[fold] + RANDOM.normal(0, 0.14, n)
            found.append([paired(d)[0] <= LEVEL, paired(d, folds=fold)[0] <= LEVEL])
        rows.append((n, *rounded(found)))
    show("Error at .05, out of fold", ("queries", "over queries", "also over folds"), rows)


def planning(n_samples: int) -> None:
    """Power with the number of queries that a pilot of 100 queries asks for, and margins of rankings that lose it."""
    rows = []
    cases: dict[str, Draw] = {
        **NOISE,
        "1% differ": lambda r, n: (r.random(n) < 0.01) * r.choice([-0.5, 0.5], n),
    }
    for name, noise in cases.items():
        needed, detected = [], []
        for _ in range(n_samples):
            pilot = noise(RANDOM, 100)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    needed.append(_report(pilot).queries_needed(0.02))
                except ValueError:  # no query differs
                    continue
            detected.append(paired(noise(RANDOM, needed[-1]) + 0.02)[0] <= LEVEL)
        rows.append((name, int(np.median(needed)), *rounded([[found] for found in detected])))
    show("queries_needed(0.02) from 100 queries", ("differences", "median", "power"), rows)
    rows = []
    for share in (0.01, 0.02, 0.05, 0.2):
        for n in (100, 300, 1000):
            found = []
            for _ in range(n_samples):
                d = np.where(RANDOM.random(n) < share, -0.005 / share, 0.0)
                found.append([paired(d)[1][0] > -0.005, paired(d + 0.005)[1][0] > 0])
            rows.append((f"{share:.0%} lose {0.005 / share:g}", n, *rounded(found)))
    show(
        "Called not worse by a margin that is lost (nominal .025)",
        ("", "queries", "interval", "shifted test"),
        rows,
    )


def winners(n_samples: int) -> None:
    """The score of the best of many candidates in 5 folds minus its true mean: as it is, and without the optimism."""
    rows = []
    truths = {"all equal": 0.0, "one is better by .01": 0.01, "one is better by .05": 0.05}
    for n_queries in (100, 1000):
        for n_candidates in (8, 96):
            for name, lead in truths.items():
                truth = np.r_[lead, np.zeros(n_candidates - 1)]
                found = [_winner(truth, n_queries) for _ in range(max(n_samples // 5, 20))]
                rows.append(
                    (
                        n_queries,
                        n_candidates,
                        name,
                        *(f"{bias:+.3f}" for bias in np.mean(found, axis=0)),
                    )
                )
    heads = (
        "queries",
        "candidates",
        "truth",
        "mean of the best",
        "best on other folds",
        "bootstrap",
    )
    show("Optimism of the winner's score", heads, rows)


def _winner(truth: Values, n_queries: int) -> tuple[float, float, float]:
    """Optimism of the winner's mean, of its estimate from the other folds, and of Tsamardinos et al.'s by bootstrap."""
    values = truth[:, None] + RANDOM.normal(0, 0.14, (len(truth), n_queries))
    folds = values.reshape(len(truth), 5, -1).mean(axis=2)
    best = int(folds.mean(axis=1).argmax())
    out_of_bag = []
    for _ in range(100):
        counts = np.bincount(RANDOM.integers(n_queries, size=n_queries), minlength=n_queries)
        out_of_bag.append(values[int((values @ counts).argmax()), counts == 0].mean())
    estimates = folds[best].mean(), expected_score(folds), np.mean(out_of_bag)
    return tuple(float(estimate - truth[best]) for estimate in estimates)  # type: ignore[return-value]


def _report(differences: Values) -> Any:
    ids = np.arange(len(differences))
    values = {"a": 0.5 + differences / 2, "b": 0.5 - differences / 2}
    frames = {name: {"qid": ids, "mrr": own} for name, own in values.items()}
    import pandas as pd

    return compare(
        {name: RankingReport.from_frame(pd.DataFrame(own)) for name, own in frames.items()}
    )


def speed() -> None:
    d = RANDOM.normal(0.003, 0.3, 20_000)
    started = time.perf_counter()
    paired(d)
    ours = time.perf_counter() - started
    started = time.perf_counter()
    stats.permutation_test((d,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", vectorized=True,
                           n_resamples=9_999, batch=200)  # fmt: skip
    print(
        f"One pair, 20,000 queries: {ours:.2f} s; SciPy's permutation_test {time.perf_counter() - started:.1f} s"
    )
    X, y, qid = make_ranking(3_000, mean_length=100, random_state=0)
    scores = {f"model {i}": X[:, 0] + 0.1 * i * RANDOM.normal(size=len(y)) for i in range(36)}
    started = time.process_time()
    board = evaluate(y, scores, qid=qid)
    made = time.process_time() - started
    text = str(board)
    print(
        f"36 models, 3,000 queries, 3 metrics: {made:.2f} s to evaluate, {time.process_time() - started - made:.2f} s"
    )
    print(text.splitlines()[0])


def growth() -> None:
    """CPU time of printing many models of many queries, and the memory of many slices."""
    n_queries = 100_000
    base = RANDOM.random(n_queries)
    reports = {}
    for i in range(36):
        metrics = ("ndcg@10", "map", "mrr")
        drawn = [base + RANDOM.normal(0.002 * i, 0.14, n_queries) for _ in metrics]
        values = {name: own.clip(0, 1) for name, own in zip(metrics, drawn, strict=True)}
        reports[f"model {i}"] = RankingReport.from_frame({"qid": np.arange(n_queries), **values})
    comparison = compare(reports)
    started = time.process_time()
    str(comparison)
    print(f"36 models, 100,000 queries, 3 metrics: {time.process_time() - started:.1f} s to print")

    by = np.repeat(np.arange(8_000), 10)
    columns = {"qid": np.arange(len(by)), "by": by}
    pair = [RankingReport.from_frame({**columns, "mrr": RANDOM.random(len(by))}) for _ in range(2)]
    tracemalloc.start()
    text = str(compare(pair))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"8,000 slices of two rankings: {most / 1e6:.0f} MB to print {len(text)} characters")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200, help="number of simulated data sets")
    n_samples = parser.parse_args().samples
    speed()
    growth()
    sign_flips.N_SIGNS = 2_000
    for part in (families, differences, means, dependence, folds, planning, winners):
        part(n_samples)


if __name__ == "__main__":
    main()

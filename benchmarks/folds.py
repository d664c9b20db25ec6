"""``python -m benchmarks.folds [--samples N] [--models N ...] [--folds N]``: errors and power out of fold.

All models of a sample are equal in expectation, or the first one sees its features with less noise than the others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from skrank_metrics import ndcg_score
from skrank_metrics._output.result import Table
from skrank_metrics.decisions import signs
from skrank_metrics.decisions.decide import decide

Values = NDArray[np.float64]
Random = np.random.Generator
Row = tuple[str, ...]
LEVEL, N_DOCUMENTS = 0.05, 10
WEIGHTS = np.array([1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
THRESHOLDS = [0.5, 1.5, 2.5, 3.5]  # of the grades


@dataclass(frozen=True)
class Models:
    """Models that are equal in expectation: one kind of estimator, and what makes them differ."""

    make: Callable[[int], Ridge | DecisionTreeRegressor]  # from a seed
    noise: float = 0.0  # in the features that each model sees, of its own
    bootstrap: str = ""  # of training queries: one per "fit", or one per "model"
    worse: float = 0.3  # noise added to the features of all models but the first, if that is better


def ridge(seed: int) -> Ridge:
    return Ridge()


def stump(seed: int) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(max_depth=1, random_state=seed)


def tree(seed: int) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(max_depth=6, random_state=seed)


def random_tree(seed: int) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(max_features=2, random_state=seed)


MODELS = {
    "ridge, other features": Models(ridge, noise=0.5, worse=0.2),
    "ridge, other bootstraps": Models(ridge, bootstrap="fit", worse=0.2),
    "stumps, other features": Models(stump, noise=0.5),
    "stumps, other bootstraps": Models(stump, bootstrap="model"),
    "trees, other features": Models(tree, noise=0.5),
    "trees, other bootstraps": Models(tree, bootstrap="fit"),
    "trees, other seeds": Models(random_tree),
}


def draw_queries(random: Random, n_queries: int) -> tuple[Values, Values]:
    """Features and grades of lists of ten documents."""
    X = random.normal(size=(n_queries, N_DOCUMENTS, len(WEIGHTS)))
    curved = 0.5 * np.sin(2 * X[..., 0]) + 0.7 * X[..., 1] * X[..., 2]
    relevance = X @ WEIGHTS + curved + random.normal(0, 1.5, X.shape[:2])
    return X, np.digitize(relevance, THRESHOLDS).astype(float)


def real_fits(
    models: Models, random: Random, n_queries: int, n_models: int, n_folds: int, *, better: bool
) -> Values:
    """NDCG out of fold with one row per query and one column per model."""
    X, y = draw_queries(random, n_queries)
    fold = np.arange(n_queries) % n_folds
    scores = np.empty((*y.shape, n_models))
    for model in range(n_models):
        noise = models.noise + (models.worse if better and model else 0.0)
        features = X + noise * random.normal(size=X.shape)
        drawn = bootstrap_of(random, n_queries)
        for number in range(n_folds):
            train, test = fold != number, fold == number
            counts = np.ones(n_queries)
            if models.bootstrap:
                counts = drawn if models.bootstrap == "model" else bootstrap_of(random, n_queries)
            estimator = models.make(int(random.integers(2**31)))
            rows = features[train].reshape(-1, len(WEIGHTS))
            weights = np.repeat(counts[train], N_DOCUMENTS)
            estimator.fit(rows, y[train].ravel(), sample_weight=weights)
            predicted = estimator.predict(features[test].reshape(-1, len(WEIGHTS)))
            scores[test, :, model] = predicted.reshape(-1, N_DOCUMENTS)
    columns = [ndcg_score(y, scores[..., model], average=None) for model in range(n_models)]
    return np.stack(columns, axis=1)


def bootstrap_of(random: Random, n: int) -> Values:
    return np.bincount(random.integers(n, size=n), minlength=n).astype(float)


def simulated_fits(
    random: Random, n_queries: int, n_models: int, n_folds: int, size: float, shared: float
) -> Values:
    """Values of equal models whose fits vary.

    ``size`` is the standard deviation of fits over the error of the mean of a fold, and ``shared`` the part of its
    square that is the same in all folds.
    """
    fold = np.arange(n_queries) % n_folds
    scale = size * 0.1 / np.sqrt(n_queries / n_folds)
    by_fold = random.normal(0, scale * np.sqrt(1 - shared), (n_folds, n_models))
    everywhere = random.normal(0, scale * np.sqrt(shared), n_models)
    return random.normal(0, 0.1, (n_queries, n_models)) + by_fold[fold] + everywhere


@dataclass(frozen=True)
class Found:
    """What is claimed about one sample."""

    pairs: Values  # 1 for each pair that is rejected, (n_models, n_models)
    family: Values  # the same, adjusted
    best_stays: bool  # the first model, in the set that contains the best


def ours(values: Values, n_folds: int) -> Found:
    """The tests of this package; with one fold, over queries only."""
    n_queries = len(values)
    sample = signs.Sample(
        values,
        values.mean(axis=0),
        np.ones(n_queries),
        np.arange(n_queries, dtype=np.uint64),
        folds=np.arange(n_queries) % n_folds,
    )
    (decision,) = decide([sample], level=LEVEL, seed=n_queries)
    pairs = (decision.p_value <= LEVEL).astype(float)
    family = (decision.p_adjusted <= LEVEL).astype(float)
    return Found(pairs, family, bool(decision.inside[0]))


def nadeau_bengio(values: Values, n_folds: int) -> Found:
    """Their corrected resampled t-test of each pair, corrected by Holm's method."""
    n_models = values.shape[1]
    means = np.stack([values[number::n_folds].mean(axis=0) for number in range(n_folds)])
    differences = means[:, :, None] - means[:, None, :]
    error = np.sqrt((1 / n_folds + 1 / (n_folds - 1)) * differences.var(axis=0, ddof=1))
    lead = differences.mean(axis=0)
    one, other = np.triu_indices(n_models, 1)
    t = np.abs(lead[one, other]) / error[one, other]
    p = 2 * special.stdtr(n_folds - 1, -t)
    adjusted = holm(p)
    pairs, family = np.zeros((2, n_models, n_models))
    pairs[one, other] = pairs[other, one] = p <= LEVEL
    family[one, other] = family[other, one] = adjusted <= LEVEL
    return Found(pairs, family, not (family[0] * (lead[0] < 0)).any())


def holm(p_values: Values) -> Values:
    """P-values adjusted by Holm's method."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    n_left = np.arange(len(p_values), 0, -1)
    adjusted[order] = np.maximum.accumulate(p_values[order] * n_left)
    return adjusted


WAYS: dict[str, Callable[[Values, int], Found]] = {
    "queries only": lambda values, _: ours(values, 1),
    "queries and fits": ours,
    "Nadeau & Bengio": nadeau_bengio,
}


def measured(title: str, samples: Sequence[Values], n_folds: int, *, equal: bool) -> list[Row]:
    """One row per way, of samples of equal models, or of those in which the first model is the best."""
    rows = []
    n_models = samples[0].shape[1]
    pairs = np.triu_indices(n_models, 1) if equal else (0, slice(1, None))
    for name, way in WAYS.items():
        found = [way(values, n_folds) for values in samples]
        of_family = [one.family.any() if equal else one.family[0, 1:] for one in found]
        shares = (
            np.mean([one.pairs[pairs] for one in found]),
            np.mean(of_family),
            np.mean([one.best_stays for one in found]),
        )
        rows.append((title, name, *(f"{share:.3f}" for share in shares)))
    return rows


def measure_fits(n_models: int, options: argparse.Namespace) -> None:
    """Real fits of so many models."""
    errors: list[Row] = []
    powers: list[Row] = []
    for n_queries in options.queries:
        for name, models in MODELS.items():
            random = np.random.default_rng([n_queries, n_models])
            title = f"{n_queries} queries, {name}"
            for better, rows in ((False, errors), (True, powers)):
                samples = [
                    real_fits(models, random, n_queries, n_models, options.folds, better=better)
                    for _ in range(options.samples)
                ]
                rows += measured(title, samples, options.folds, equal=not better)
    heads = ("", "standard error", "pairs", "any of the family", "best stays")
    print(
        f"{n_models} models that are equal in expectation, {options.folds} folds: shares rejected"
    )
    print(Table(heads, errors).as_text())
    print("\nThe first model is better: shares of its pairs that are found")
    print(Table(("", "standard error", "pairs", "in the family", "best stays"), powers).as_text())


def measure_simulated_fits(n_models: int, options: argparse.Namespace) -> None:
    """Normal noise of equal models, whose fits vary by fold."""
    rows: list[Row] = []
    for size in (0.0, 0.7, 1.4, 2.8):
        for shared in (0.0, 0.2):
            random = np.random.default_rng(0)
            samples = [
                simulated_fits(random, 200, n_models, options.folds, size, shared)
                for _ in range(options.samples)
            ]
            title = f"fits {size}, {shared:.0%} shared"
            rows += measured(title, samples, options.folds, equal=True)
    heads = ("", "standard error", "pairs", "any of the family", "best stays")
    print(f"\nNormal noise, {n_models} equal models, 200 queries")
    print(Table(heads, rows).as_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=300, help="number of data sets per row")
    parser.add_argument("--models", type=int, nargs="*", default=[2, 6], help="number of models")
    parser.add_argument("--folds", type=int, default=5, help="number of folds")
    parser.add_argument("--queries", type=int, nargs="*", default=[100, 400])
    options = parser.parse_args()
    signs.N_SIGNS = 2_000
    started = time.perf_counter()
    for n_models in options.models:
        measure_fits(n_models, options)
        measure_simulated_fits(n_models, options)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

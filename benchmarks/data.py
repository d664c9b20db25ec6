"""Made-up rankings of the sizes that people have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[Any], NDArray[np.float64], NDArray[Any]]


def rows_of(sizes: NDArray[Any], seed: int = 0) -> Rows:
    """Labels 0 to 4, scores and sorted ids of queries of these sizes."""
    rng = np.random.default_rng(seed)
    labels = np.minimum(4, rng.geometric(0.55, sizes.sum()) - 1).astype(float)
    scores = rng.normal(size=len(labels)) + 0.3 * labels
    return labels, scores, np.repeat(np.arange(len(sizes)), sizes)


def msl_like(n_queries: int = 6000, seed: int = 0, sigma: float = 0.6) -> Rows:
    """Queries whose lengths are log-normal with a mean of about 120, as in MSLR-WEB."""
    lengths = np.random.default_rng(seed).lognormal(np.log(119) - sigma**2 / 2, sigma, n_queries)
    return rows_of(np.maximum(1, lengths.astype(int)), seed)


def skewed() -> Rows:
    """Lengths that differ more, and labels of int64, as most data sets have them."""
    labels, scores, qid = msl_like(sigma=0.8)
    return labels.astype(np.int64), scores, qid


def short_lists(n_queries: int = 200_000) -> Rows:
    """Many queries of 20 documents, as in recommendation."""
    return rows_of(np.full(n_queries, 20))


def one_long_list() -> Rows:
    """One query of 200,000 documents among 20,000 of 20."""
    return rows_of(np.concatenate([[200_000], np.full(20_000, 20)]))


def shuffled(rows: Rows) -> Rows:
    """Rows in random order."""
    order = np.random.default_rng(1).permutation(len(rows[0]))
    return rows[0][order], rows[1][order], rows[2][order]


def tied(rows: Rows, decimals: int | None) -> Rows:
    """Scores rounded so that they tie in every query, or all made equal."""
    scores = np.zeros_like(rows[1]) if decimals is None else rows[1].round(decimals)
    return rows[0], scores, rows[2]

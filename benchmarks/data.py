"""Made-up rankings of the sizes that people have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any]]


def msl_like(n_queries: int = 6000, seed: int = 0) -> Rows:
    """Labels 0 to 4, scores and sorted ids; lengths are log-normal with a mean of about 120, as in MSLR-WEB."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(1, rng.lognormal(np.log(119) - 0.6**2 / 2, 0.6, n_queries).astype(int))
    labels = np.minimum(4, rng.geometric(0.55, sizes.sum()) - 1).astype(float)
    scores = rng.normal(size=len(labels)) + 0.3 * labels
    return labels, scores, np.repeat(np.arange(n_queries), sizes)

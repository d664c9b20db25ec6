"""A rule for ``refit``: the simplest candidate that is not significantly worse than the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import stats

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.parameters import check_number, nearest
from skrank_metrics.model_selection._fitted_search import fold_scores, whole_rows
from skrank_metrics.model_selection._race import leads

# Random rotations of the folds.
N_ROTATIONS = 4_000


@dataclass(frozen=True)
class WithinNoise:
    """The callable returned by within_noise."""

    metric: str
    prefer: str | Callable[[Mapping[str, Any]], Any]
    test_ratio: float
    level: float

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Choose a row of ``cv_results_``."""
        folds = fold_scores(cv_results, self.metric)
        rows = whole_rows(cv_results, self.metric)
        params = cv_results["params"]
        p_worse = _p_worse(folds[rows], self.test_ratio)
        kept = [row for row, p in zip(rows, p_worse, strict=True) if p > self.level]
        # The best come first, and the first of equally simple ones wins.
        return min(kept, key=lambda row: self._order(params[row]))

    def _order(self, params: Mapping[str, Any]) -> Any:
        order = self._given_order(params)
        # Nothing is less than NaN, so that the first of the candidates would win. Tuples are orders, too.
        if order != order:
            raise ValueError(f"prefer must order the candidates; got NaN for {dict(params)}.")
        return order

    def _given_order(self, params: Mapping[str, Any]) -> Any:
        if callable(self.prefer):
            return self.prefer(params)
        name = self.prefer.removeprefix("-")
        if not isinstance(params.get(name), Real):
            raise ValueError(
                f"prefer must name a numeric parameter of all candidates; got {name!r} for one with "
                f"{dict(params)}.{nearest(name, params)} Or pass a function of the parameters that returns a number."
            )
        return -params[name] if self.prefer.startswith("-") else params[name]


def _p_worse(folds: FloatArray, test_ratio: float) -> FloatArray:
    """One-sided p-values of how far each candidate, a row, is behind the first, which is the best of them.

    Each is the probability that, among candidates that are equally good, the best one is as far ahead of this one. It
    is the share of random rotations of the folds in which it is, as in a permutation test, for which there are too few
    folds (Langsrud 2005, https://doi.org/10.1007/s11222-005-4789-5). For two candidates, it is Student's tail.
    """
    n_candidates, n_folds = folds.shape
    ahead = leads(folds[0], folds)
    errors = np.sqrt((1 / n_folds + test_ratio) * ahead.var(axis=1, ddof=1))
    means = ahead.mean(axis=1)
    # A lead that is the same on every fold is certain.
    t = np.where(means > 0, 1e9, -1e9)
    np.divide(means, errors, out=t, where=errors > 0)
    p = np.asarray(stats.t.sf(t, n_folds - 1))
    if n_candidates == 2:
        return p

    directions = np.random.default_rng(0).normal(size=(n_folds, N_ROTATIONS))
    directions /= np.linalg.norm(directions, axis=0)
    rotated = folds @ directions
    best = rotated.argmax(axis=0)
    for row in range(1, n_candidates):
        distances = ((folds - folds[row]) ** 2).sum(axis=1)[best]
        lead = rotated.max(axis=0) - rotated[row]
        within = np.sqrt(np.maximum(distances - lead**2, 0.0) / (n_folds - 1))
        p[row] = max(p[row], np.mean(lead > t[row] * within))
    return p


def within_noise(
    metric: str = "score",
    *,
    prefer: str | Callable[[Mapping[str, Any]], Any],
    test_ratio: float,
    level: float = 0.05,
) -> Callable[[Mapping[str, Any]], int]:
    """Make a ``refit=`` callable that picks the simplest candidate not significantly worse than the best.

    Each candidate is compared with the best, fold by fold, by the corrected resampled t-test: since training sets
    overlap, it enlarges the variance of differences, by n_test / n_train. As the best of many candidates leads by
    chance, too, p-values are those of the largest lead. With five folds the test has little power, so small differences
    favour the simpler candidate. Halving searches ignore a callable ``refit``; call it on their
    ``cv_results_`` instead.

    Parameters
    ----------
    metric : str, default="score"
        Key of the search's ``scoring``; "score" if it has a single scorer.
    prefer : str or callable
        Name of a numeric parameter whose smallest value is the simplest, or with "-" before it, the largest; or a
        function of the dict of parameters that is smallest for the simplest. Of equally simple ones, the best wins.
    test_ratio : float
        Number of test rows per training row in each fold of the search: 1 / (k - 1) for k folds, so 1 / 4 for five
        folds, also if they are repeated.
    level : float, default=0.05
        Level of the one-sided test, in (0, 1): the probability of rejecting the simplest candidate if all are equally
        good. If higher, fewer candidates count as good as the best.

    Returns
    -------
    refit : callable
        Takes ``cv_results_`` and returns a row number. Can be pickled.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or is out of range; when called, if the search lacks the metric or parameter.

    References
    ----------
    C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52(3).
    https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    15 leaves are worse than 31 by 0.02, 0.00 and 0.01, and 7 leaves by 0.10, 0.11 and 0.12:

    >>> from skrank_metrics.model_selection import within_noise
    >>> results = {
    ...     "params": [{"leaves": 7}, {"leaves": 15}, {"leaves": 31}],
    ...     "split0_test_score": [0.70, 0.78, 0.80],
    ...     "split1_test_score": [0.70, 0.81, 0.81],
    ...     "split2_test_score": [0.70, 0.81, 0.82],
    ... }
    >>> within_noise(prefer="leaves", test_ratio=1 / 2)(results)
    1
    """
    if not isinstance(prefer, str) and not callable(prefer):
        raise TypeError(
            f"prefer must be the name of a parameter or a function of them; got {prefer!r}."
        )
    check_number(level, "level", "(0, 1)")
    check_number(test_ratio, "test_ratio", "(0, inf)")
    return WithinNoise(metric, prefer, test_ratio, level)

"""Which candidate a search refits: the simplest of those that are as good as the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import stats

from skrank_metrics._input.arrays import FloatArray, check_number, nearest


@dataclass(frozen=True)
class WithinNoise:
    """The callable that within_noise makes."""

    metric: str
    prefer: str | Callable[[Mapping[str, Any]], Any]
    level: float
    test_ratio: float | None

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Choose a row of the results of a search."""
        folds = fold_scores(cv_results, self.metric)
        usable = ~np.isnan(folds).any(axis=1)
        if not usable.any():
            raise ValueError(f"within_noise needs a candidate with a score in all folds; got none for {self.metric!r}.")
        rungs = np.asarray(cv_results.get("iter", np.zeros(len(folds))))
        usable &= rungs == rungs[usable].max()  # halving compares on the last rung
        means = np.where(usable, folds.mean(axis=1), -np.inf)
        best = int(means.argmax())
        n_folds = folds.shape[1]
        ratio = 1 / (n_folds - 1) if self.test_ratio is None else self.test_ratio
        kept = [row for row in np.flatnonzero(usable) if _p_worse(folds[best] - folds[row], ratio) > self.level]
        params = cv_results["params"]
        return int(min(kept, key=lambda row: (self._order(params[row]), -means[row])))

    def _order(self, params: Mapping[str, Any]) -> Any:
        if callable(self.prefer):
            return self.prefer(params)
        name = self.prefer.removeprefix("-")
        if name not in params:
            raise ValueError(
                f"prefer must name a parameter of all candidates; got {name!r}.{nearest(name, params)} Where only some "
                "have it, pass a function of the parameters."
            )
        if not isinstance(params[name], Real):
            raise TypeError(
                f"prefer must name a parameter of numbers; got {params[name]!r} of {name!r}. Pass a function of the "
                "parameters that gives a number."
            )
        return -params[name] if self.prefer.startswith("-") else params[name]


def fold_scores(cv_results: Mapping[str, Any], metric: str) -> FloatArray:
    """Scores, a row a candidate and a column a fold."""
    columns: list[Any] = []
    while f"split{len(columns)}_test_{metric}" in cv_results:
        columns.append(cv_results[f"split{len(columns)}_test_{metric}"])
    if len(columns) < 2:
        known = [name.removeprefix("split0_test_") for name in cv_results if name.startswith("split0_test_")]
        raise ValueError(
            f"metric must be scored by the search, on two folds at least; got {metric!r} and a search by "
            f"{', '.join(known)}.{nearest(metric, known)}"
        )
    return np.column_stack(columns)


def _p_worse(ahead: FloatArray, ratio: float) -> float:
    """One-sided p-value of differences over folds, whose training parts overlap."""
    mean, variance = ahead.mean(), ahead.var(ddof=1)
    if variance == 0:
        return 0.0 if mean > 0 else 1.0
    return float(stats.t.sf(mean / np.sqrt((1 / len(ahead) + ratio) * variance), len(ahead) - 1))


def within_noise(
    metric: str = "score",
    *,
    prefer: str | Callable[[Mapping[str, Any]], Any],
    level: float = 0.05,
    test_ratio: float | None = None,
) -> Callable[[Mapping[str, Any]], int]:
    """Make a ``refit=`` for a search that picks the simplest candidate not significantly worse than the best.

    Candidates are paired with the best over folds. As the training parts of folds overlap, their differences vary less
    than those of independent data would; the corrected resampled t-test adds what is missing, n_test / n_train, to the
    variance. It errs on the side of the simpler candidate: with five folds, small differences are not seen.

    Parameters
    ----------
    metric : str, default="score"
        A key of the search's ``scoring``; "score" where it has one scorer only.
    prefer : str or callable
        What is simple: the name of a parameter of numbers, the smallest of which is preferred, or the largest with "-"
        before the name; or a function of the dict of parameters whose smallest value is preferred. Among equals, the
        best.
    level : float, default=0.05
        Of the one-sided test, in (0, 1); the higher, the fewer candidates count as being as good as the best.
    test_ratio : float, default=None
        Rows to test on for each row to train on. None means 1 / (number of folds - 1), that of k folds; pass it for
        repeated folds and shuffle splits.

    Returns
    -------
    refit : callable
        From ``cv_results_`` to a row of it. Pickles.

    Raises
    ------
    TypeError
        Where an argument is of the wrong type.
    ValueError
        Where ``level`` or ``test_ratio`` is not valid; and, in the search, where it has no such metric or parameter.

    References
    ----------
    C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52(3).
    https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    The best has 31 leaves; over folds, 15 leaves are behind by 0.02, 0.00 and 0.01, and 7 leaves by 0.10, 0.11, 0.12:

    >>> from skrank_metrics import within_noise
    >>> results = {
    ...     "params": [{"leaves": 7}, {"leaves": 15}, {"leaves": 31}],
    ...     "split0_test_score": [0.70, 0.78, 0.80],
    ...     "split1_test_score": [0.70, 0.81, 0.81],
    ...     "split2_test_score": [0.70, 0.81, 0.82],
    ... }
    >>> within_noise(prefer="leaves")(results)
    1
    """
    if not isinstance(prefer, str) and not callable(prefer):
        raise TypeError(f"prefer must be the name of a parameter or a function of them; got {prefer!r}.")
    check_number(level, "level", "(0, 1)")
    check_number(test_ratio, "test_ratio", "(0, inf)", or_else=None)
    return WithinNoise(metric, prefer, level, test_ratio)

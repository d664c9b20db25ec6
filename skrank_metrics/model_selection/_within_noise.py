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
        ahead = leads(folds[rows[0]], folds)
        kept = [row for row in rows if _p_worse(ahead[row], self.test_ratio) > self.level]
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


def _p_worse(ahead: FloatArray, ratio: float) -> float:
    """One-sided p-value of differences on folds with overlapping training sets."""
    mean, error = float(ahead.mean()), float(np.sqrt((1 / len(ahead) + ratio) * ahead.var(ddof=1)))
    return float(stats.t.sf(mean / error, len(ahead) - 1)) if error else float(mean <= 0)


def within_noise(
    metric: str = "score",
    *,
    prefer: str | Callable[[Mapping[str, Any]], Any],
    test_ratio: float,
    level: float = 0.05,
) -> Callable[[Mapping[str, Any]], int]:
    """Make a ``refit=`` callable that picks the simplest candidate not significantly worse than the best.

    Each candidate is compared with the best, fold by fold, by the corrected resampled t-test: since training sets
    overlap, it enlarges the variance of differences, by n_test / n_train. With five folds it has little power, so small
    differences favour the simpler candidate. Halving searches ignore a callable ``refit``; call it on their
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
        Level of the one-sided test, in (0, 1). If higher, fewer candidates count as good as the best.

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

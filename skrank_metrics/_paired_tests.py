"""Whether differences of pairs have a mean of 0: tests, and the correction of several at once.

References
----------
B. Phipson, G. K. Smyth (2010). Permutation p-values should never be zero: calculating exact p-values when permutations
are randomly drawn. Statistical Applications in Genetics and Molecular Biology 9(1). https://doi.org/10.2202/1544-6115.1585
M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information retrieval
evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import stats

from skrank_metrics._validation import FloatArray

TESTS = {
    "permutation": "paired sign-flip permutation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", None: "no correction"}

# The sums of all signs of eight differences are looked up by a random byte: one step where there would be eight.
BITS = 8
# Tables of so many bytes' worth of differences (128 KiB) stay in the second-level cache.
TABLES = 64


def p_value(differences: FloatArray, test: str, n_resamples: int, random: Any) -> float:
    """Two-sided p-value of a mean (Wilcoxon: a centre) of 0; 1 where no two queries differ."""
    changed = differences[differences != 0]
    if len(differences) < 2 or not len(changed):
        return 1.0
    if test == "permutation":
        return sign_flip_p(changed, n_resamples, random)
    if test == "wilcoxon":
        return float(stats.wilcoxon(changed).pvalue)
    with warnings.catch_warnings():
        # Where all differences are equal, SciPy gives p = 0 and says that this is not precise.
        warnings.filterwarnings("ignore", message="Precision loss occurred", category=RuntimeWarning)
        return float(stats.ttest_rel(differences, np.zeros_like(differences)).pvalue)


def sign_flip_p(differences: FloatArray, n_resamples: int, random: Any) -> float:
    """Share of random signs that give a sum at least as far from 0; of all signs, where they are few enough.

    With random signs the observed ones count among them (Phipson & Smyth 2010), so that p is never 0.
    """
    # Sums that are equal but for rounding count as equal: per-query values are few, and ties of sums frequent.
    observed = abs(differences.sum()) - 1e-12 * np.abs(differences).sum()
    if 2 ** len(differences) <= n_resamples:
        return float((np.abs(_all_sums(differences)) >= observed).mean())
    sums = _random_sums(differences, n_resamples, random)
    return (int((np.abs(sums) >= observed).sum()) + 1) / (n_resamples + 1)


def _all_sums(differences: FloatArray) -> FloatArray:
    """Sums of the differences with all 2^n combinations of signs, along the last axis."""
    sums = np.zeros((*differences.shape[:-1], 1))
    for difference in np.moveaxis(differences, -1, 0):
        sums = np.concatenate((sums - difference[..., None], sums + difference[..., None]), axis=-1)
    return sums


def _random_sums(differences: FloatArray, n_resamples: int, random: Any) -> FloatArray:
    """Sums of the differences with random signs."""
    padded = np.append(differences, np.zeros(-len(differences) % BITS))
    groups = padded.reshape(-1, BITS)
    sums = np.zeros(n_resamples)
    for first in range(0, len(groups), TABLES):
        tables = _all_sums(groups[first : first + TABLES])
        shape = (n_resamples, len(tables))
        signs = np.frombuffer(random.bytes(shape[0] * shape[1]), dtype=np.uint8).reshape(shape)
        sums += tables.ravel().take(signs + (1 << BITS) * np.arange(len(tables))).sum(axis=1)
    return sums


def adjust(p_values: FloatArray, correction: str | None) -> FloatArray:
    """P-values to be compared with the level of all tests together (Holm) or a false discovery rate (BH)."""
    if correction is None:
        return p_values
    if correction == "bh":
        return np.asarray(stats.false_discovery_control(p_values, method="bh"))
    order = np.argsort(p_values)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1)).clip(max=1)
    return adjusted

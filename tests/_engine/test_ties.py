"""The expectation over orders of tied documents, where exact arithmetic is at hand."""

import os
from collections import Counter
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import stats

from skrank_metrics import bpref_score, err_score, pfound_score
from skrank_metrics._engine import ties as module
from skrank_metrics._engine.ties import TieGroups, hazards

STOPS = (0.0, 1 / 16, 3 / 16, 7 / 16, 15 / 16, 1e-9, 1.0)


def exact_hazards(stops):
    """P(stop at j | not before): all subsets of j documents, as coefficients of a product, in fractions."""
    survive = np.array([Fraction(1)])  # e_j
    falls = np.array([Fraction(0)])  # e_j times the stop of another document
    for value in map(Fraction, stops):
        falls = np.convolve(falls, [1, 1 - value])
        falls[:-1] += value * survive
        survive = np.convolve(survive, [1, 1 - value])
    exact = []
    for j in range(len(stops)):
        if survive[j] == 0:  # nobody comes so far
            break
        n_left = len(stops) - j
        exact.append(float(falls[j] / n_left / survive[j]))
    return exact


@pytest.mark.parametrize("largest", [3, 9, 12, 40])
@pytest.mark.parametrize("n_kinds", [2, 3, 5, 6, 7])
def test_hazards_against_fractions(rng, largest, n_kinds):
    sizes = np.append(rng.integers(1, largest + 1, 6), largest)
    stops = rng.choice(STOPS[:n_kinds], sizes.sum())
    n = sizes.sum()
    starts = np.cumsum(sizes) - sizes
    groups = TieGroups(starts, sizes, (1, n))
    (got,) = hazards(stops[None], groups, n)
    for start, size in zip(starts, sizes, strict=True):
        of_group = stops[start : start + size].tolist()
        expected = exact_hazards(of_group)
        reached = got[start : start + len(expected)]
        assert reached == pytest.approx(expected, rel=1e-13, abs=0)


def one_group(stops, depth=None):
    """The hazards of documents that all tie."""
    n = len(stops)
    groups = TieGroups(np.array([0]), np.array([n]), (1, n))
    (found,) = hazards(stops[None], groups, depth or n)
    return found


def precise_hazards(stops):
    """The chance of each document to be among the first j, from that for j - 1 (Chen, Dempster & Liu 1994).

    The recursion loses a digit for every few documents, so it is given as many as there are documents.
    """
    n = len(stops)
    result = []
    with mpmath.workdps(60 + n):
        # Documents that stop alike, by how many they are.
        grades = [(mpmath.mpf(stop), count) for stop, count in Counter(stops.tolist()).items()]
        after = [mpmath.mpf(1)] * len(grades)
        for j in range(n):
            if j:
                weights = [
                    (1 - stop) * chance for (stop, _), chance in zip(grades, after, strict=True)
                ]
                total = sum(
                    count * weight for (_, count), weight in zip(grades, weights, strict=True)
                )
                after = [1 - j * weight / total for weight in weights]
            left = sum(
                count * stop * chance for (stop, count), chance in zip(grades, after, strict=True)
            )
            result.append(float(left / (n - j)))
    return np.array(result)


GRADES = {
    "as found": [0.55, 0.25, 0.11, 0.05, 0.04],
    "one of the best": [1, 0, 0, 0, 0],
    "half of the best": [0.5, 0, 0, 0, 0.5],
    "all alike": [0, 0, 1, 0, 0],
}


@pytest.mark.slow
@pytest.mark.parametrize("n", [400, int(os.environ.get("SKRANK_LONG_GROUP", "1200"))])
@pytest.mark.parametrize("mix", GRADES)
@pytest.mark.parametrize("max_grade", [4, 10, 20, 1000])
def test_hazards_of_long_groups_against_many_digits(rng, max_grade, mix, n):
    labels = rng.choice(5, n, p=GRADES[mix])
    labels[n // 2] = 4
    stops = (2.0**labels - 1) / 2.0**max_grade
    got = one_group(stops)
    expected = precise_hazards(stops)
    reached = is_reached(expected)
    np.testing.assert_allclose(got[reached], expected[reached], rtol=1e-12, atol=0)
    first = np.flatnonzero(reached)[: n // 2]
    np.testing.assert_allclose(got[first], expected[first], rtol=1e-13, atol=0)


def is_reached(hazards):
    """Whether the chance to come to a rank is far from the smallest number."""
    survive = 1 - hazards[:-1]
    return np.cumprod(np.append(1, survive)) > 1e-290


def weak_and_strong(rng, n):
    is_strong = rng.random(n) < 0.2
    strong = 1 - 1e-3 * rng.random(n)
    weak = 1e-3 * rng.random(n)
    return np.where(is_strong, strong, weak)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.random(n),
        lambda rng, n: 1e-3 * rng.random(n),
        lambda rng, n: 1 - np.exp(-9 * rng.random(n)),
        weak_and_strong,
        lambda rng, n: rng.choice([0.0, 1e-9, 0.3, 1.0], n, p=[0.4, 0.3, 0.2, 0.1]),
    ],
    ids=["all", "weak", "strong", "weak and strong", "with 0 and 1"],
)
def test_long_groups_of_many_values_as_document_by_document(rng, draw, monkeypatch):
    stops = draw(rng, 900)
    expected = one_group(stops)
    monkeypatch.setattr(module, "LONGEST_SHORT", 800)
    got = one_group(stops)
    reached = is_reached(expected)
    np.testing.assert_allclose(got[reached], expected[reached], rtol=1e-12, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1_001, 160_000])
@pytest.mark.parametrize("stop", [1e-9, 0.25, 1 - 1e-9])
def test_one_document_that_can_stop(n, stop):
    # It is at each rank with probability 1 / n: ERR is stop * (1 + 1/2 + ... + 1/n) / n, pFound stop * (1 + p + ...)/n.
    labels = np.where(np.arange(n) == n // 3, stop, 0.0)[None]
    scores = np.zeros((1, n))
    harmonic = float(mpmath.harmonic(n))
    of_three = 1 + 1 / 2 + 1 / 3
    err = partial(err_score, labels, scores, gain="linear")
    pfound = partial(pfound_score, labels, scores)
    assert err() == pytest.approx(stop * harmonic / n, rel=1e-12)
    assert err(k=3) == pytest.approx(stop * of_three / n, rel=1e-12)
    assert err(normalize=True) == pytest.approx(harmonic / n, rel=1e-12)
    assert pfound(p=1) == pytest.approx(stop, rel=1e-12)
    assert pfound(p=0.5) == pytest.approx(2 * stop / n, rel=1e-12)


def test_hazards_up_to_a_depth(rng):
    stops = rng.choice(STOPS[:5], 40)
    got = one_group(stops, depth=7)
    expected = exact_hazards(stops.tolist())
    np.testing.assert_allclose(got[:7], expected[:7], rtol=1e-13)


def test_long_groups_neither_overflow_nor_take_all_ranks():
    # The chance to reach rank j is (1/2)^j at the most, which is 0 in float64 long before the last of these ranks.
    stops = np.full(20_000, 0.5)
    stops[:100] = 0.75
    got = one_group(stops)
    mean = (100 * 0.75 + 19_900 * 0.5) / 20_000
    assert got[0] == pytest.approx(mean, rel=1e-13)
    assert np.isfinite(got).all()


def test_stop_probabilities_so_small_that_reading_never_ends():
    groups = TieGroups.from_tied(np.array([[False, True, True]]))
    stops = np.array([[2e-307, 1e-307, 0.0]])
    found = hazards(stops, groups, 3)
    mean = (2e-307 + 1e-307) / 3
    np.testing.assert_allclose(found, [[mean, mean, mean]], rtol=1e-12)


@pytest.mark.parametrize(("n", "n_relevant"), [(5, 2), (40, 39), (40, 3), (500, 100), (300, 150)])
def test_bpref_of_one_group(n, n_relevant):
    # Of the x documents ranked above a relevant one, the number of other relevant ones is hypergeometric.
    x = np.arange(n)[:, None]
    hits = np.arange(n_relevant)
    chances = stats.hypergeom.pmf(hits, n - 1, n_relevant - 1, x)
    misses = np.minimum(x - hits, n_relevant)
    mean_misses = (chances * misses).sum(axis=1)
    cap = min(n_relevant, n - n_relevant)
    of_ranks = 1 - mean_misses / cap
    is_relevant = np.arange(n) < n_relevant
    got = bpref_score([is_relevant], np.zeros((1, n)))
    np.testing.assert_allclose(got, of_ranks.sum() / n, rtol=0, atol=1e-11)


def test_bpref_has_no_cutoff():
    with pytest.raises(TypeError, match="got an unexpected parameter 'k'"):
        bpref_score([[1, 0]], [[1, 0]], k=1)


@pytest.mark.parametrize(
    "n", [module.LONGEST_SHORT - 1, module.LONGEST_SHORT, module.LONGEST_SHORT + 1]
)
def test_groups_around_the_longest_short_one(n):
    # With r of t documents that stop for sure, and the others never, hazard_j = r / (t - j).
    stops = (np.arange(n) < 40) * 0.5
    got = one_group(stops)
    of_all = np.append(stops, np.zeros(1_200 - n))
    # A tie of all documents with equal stops in another size: P(stop at 0) is the mean.
    assert got[0] == pytest.approx(40 * 0.5 / n, rel=1e-13)
    assert one_group(of_all)[0] == pytest.approx(40 * 0.5 / 1_200, rel=1e-13)
    expected = precise_hazards(stops)
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=0)

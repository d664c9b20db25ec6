"""The expectation over orders of tied documents, where exact arithmetic is at hand."""

import os
from collections import Counter
from fractions import Fraction

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
    t = len(stops)
    return [float(falls[j] / (t - j) / survive[j]) if survive[j] else None for j in range(t)]


@pytest.mark.parametrize("largest", [3, 9, 12, 40])
@pytest.mark.parametrize("n_kinds", [2, 3, 5, 6, 7])
def test_hazards_against_fractions(rng, largest, n_kinds):
    sizes = np.append(rng.integers(1, largest + 1, 6), largest)
    stops = rng.choice(STOPS[:n_kinds], sizes.sum())
    starts = np.cumsum(sizes) - sizes
    got = hazards(stops[None], TieGroups(starts, sizes, (1, sizes.sum())), sizes.sum())[0]
    for start, size in zip(starts, sizes, strict=True):
        for j, expected in enumerate(exact_hazards(stops[start : start + size].tolist())):
            if expected is None:
                break  # nobody comes so far
            assert got[start + j] == pytest.approx(expected, rel=1e-13, abs=0)


def one_group(stops, depth=None):
    """The hazards of documents that all tie."""
    n = len(stops)
    return hazards(stops[None], TieGroups(np.array([0]), np.array([n]), (1, n)), depth or n)[0]


def precise_hazards(stops):
    """The chance of each document to be among the first j, from that for j - 1 (Chen, Dempster & Liu 1994).

    The recursion loses a digit for every few documents, so it is given as many as there are documents.
    """
    n = len(stops)
    with mpmath.workdps(60 + n):
        grades = [
            (1 - mpmath.mpf(stop), mpmath.mpf(stop), count)
            for stop, count in Counter(stops.tolist()).items()
        ]
        among, result = [mpmath.mpf(0)] * len(grades), []
        for j in range(n):
            if j:
                next_ones = [
                    q * (1 - chance) for (q, _, _), chance in zip(grades, among, strict=True)
                ]
                total = sum(
                    count * share for (_, _, count), share in zip(grades, next_ones, strict=True)
                )
                among = [j * share / total for share in next_ones]
            left = sum(
                count * stop * (1 - chance)
                for (_, stop, count), chance in zip(grades, among, strict=True)
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
    got, expected = one_group(stops), precise_hazards(stops)
    reached = np.cumprod(np.append(1, 1 - expected[:-1])) > 1e-290
    np.testing.assert_allclose(got[reached], expected[reached], rtol=1e-12, atol=0)
    first = np.flatnonzero(reached)[: n // 2]
    np.testing.assert_allclose(got[first], expected[first], rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.random(n),
        lambda rng, n: 1e-3 * rng.random(n),
        lambda rng, n: 1 - np.exp(-9 * rng.random(n)),
        lambda rng, n: np.where(
            rng.random(n) < 0.2, 1 - 1e-3 * rng.random(n), 1e-3 * rng.random(n)
        ),
        lambda rng, n: rng.choice([0.0, 1e-9, 0.3, 1.0], n, p=[0.4, 0.3, 0.2, 0.1]),
    ],
    ids=["all", "weak", "strong", "weak and strong", "with 0 and 1"],
)
def test_long_groups_of_many_values_as_document_by_document(rng, draw, monkeypatch):
    stops = draw(rng, 900)
    expected = one_group(stops)
    monkeypatch.setattr(module, "LONGEST_SHORT", 800)
    reached = np.cumprod(np.append(1, 1 - expected[:-1])) > 1e-290
    np.testing.assert_allclose(one_group(stops)[reached], expected[reached], rtol=1e-12, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1_001, 160_000])
@pytest.mark.parametrize("stop", [1e-9, 0.25, 1 - 1e-9])
def test_one_document_that_can_stop(n, stop):
    # It is at each rank with probability 1 / n: ERR is stop * (1 + 1/2 + ... + 1/n) / n, pFound stop * (1 + p + ...)/n.
    labels = np.where(np.arange(n) == n // 3, stop, 0.0)[None]
    scores = np.zeros((1, n))
    harmonic = float(mpmath.harmonic(n))
    assert err_score(labels, scores, gain="linear") == pytest.approx(stop * harmonic / n, rel=1e-12)
    assert err_score(labels, scores, gain="linear", k=3) == pytest.approx(
        stop * (1 + 1 / 2 + 1 / 3) / n, rel=1e-12
    )
    assert err_score(labels, scores, gain="linear", normalize=True) == pytest.approx(
        harmonic / n, rel=1e-12
    )
    assert pfound_score(labels, scores, p=1) == pytest.approx(stop, rel=1e-12)
    assert pfound_score(labels, scores, p=0.5) == pytest.approx(2 * stop / n, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("max_grade", [4, 20, 1000])
def test_groups_of_many_documents_end(rng, max_grade):
    # A square of their number would take hours.
    n = 160_000
    labels = np.minimum(4, rng.geometric(0.55, n) - 1)
    assert 0 < err_score(labels[None], np.zeros((1, n)), max_grade=max_grade) < 1


def test_hazards_up_to_a_depth(rng):
    stops = rng.choice(STOPS[:5], 40)
    got = one_group(stops, depth=7)
    np.testing.assert_allclose(got[:7], exact_hazards(stops.tolist())[:7], rtol=1e-13)


def test_long_groups_neither_overflow_nor_take_all_ranks():
    # The chance to reach rank j is (1/2)^j at the most, which is 0 in float64 long before the last of these ranks.
    stops = np.full(20_000, 0.5)
    stops[:100] = 0.75
    got = one_group(stops)
    assert got[0] == pytest.approx((100 * 0.75 + 19_900 * 0.5) / 20_000, rel=1e-13)
    assert np.isfinite(got).all()


def test_stop_probabilities_so_small_that_reading_never_ends():
    groups = TieGroups.from_tied(np.array([[False, True, True]]))
    value = hazards(np.array([[2e-307, 1e-307, 0.0]]), groups, 3)
    np.testing.assert_allclose(value, np.full((1, 3), (2e-307 + 1e-307) / 3), rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "n_relevant", "k"),
    [
        (5, 2, 3),
        (40, 39, 20),
        (40, 3, 39),
        (500, 100, 1),
        (300, 60, 299),
        (300, 150, 180),
        (1_000, 20, 900),
    ],
)
def test_bpref_of_one_group_across_the_cutoff(n, n_relevant, k):
    # Of the x documents ranked above a relevant one, the number of other relevant ones is hypergeometric.
    x, hits = np.arange(k)[:, None], np.arange(n_relevant)
    chances = stats.hypergeom.pmf(hits, n - 1, n_relevant - 1, x)
    misses = (chances * np.minimum(x - hits, n_relevant)).sum(axis=1)
    got = bpref_score([np.arange(n) < n_relevant], np.zeros((1, n)), k=k)
    expected = (1 - misses / min(n_relevant, n - n_relevant)).sum() / n
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11)


def test_bpref_of_a_long_group_that_reaches_the_cap_at_its_end():
    # Sums that subtract chances step by step grow without bound here.
    labels = np.r_[np.ones(2_999), np.zeros(4_000), np.ones(1_000)]
    scores = np.r_[np.ones(2_999), np.zeros(5_000)]
    value = bpref_score([labels], [scores], k=len(labels) - 1)
    cap = 2_999 + 1_000
    x = np.arange(4_999)  # only all 4,000 misses are more than the cap
    misses = x * 4_000 / 4_999 - stats.hypergeom.pmf(4_000, 4_999, 4_000, x)
    expected = (2_999 + 1_000 / 5_000 * (1 - misses / cap).sum()) / cap
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)


def test_bpref_of_many_documents_ends(rng):
    # A square of their number would take minutes.
    labels = rng.integers(0, 2, (1, 400_000))
    assert 0.3 < bpref_score(labels, np.zeros((1, 400_000)), k=200_000) < 0.5

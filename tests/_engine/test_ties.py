"""The expectation over orders of tied documents, where exact arithmetic is at hand."""

from fractions import Fraction

import numpy as np
import pytest

from skrank_metrics._engine.ties import TieGroups, hazards

STOPS = (0.0, 1 / 16, 3 / 16, 7 / 16, 15 / 16, 1e-9, 1.0)


def exact_hazards(stops):
    """P(stop at j | not before): all subsets of j documents, as coefficients of a product, in fractions."""
    survive, falls = [Fraction(1)], [Fraction(0)]  # e_j, and e_j times the stop of another document
    for value in map(Fraction, stops):
        falls = [
            (falls[j] if j < len(falls) else 0) + ((1 - value) * falls[j - 1] if j else 0)
            + (value * survive[j] if j < len(survive) else 0)
            for j in range(len(survive) + 1)
        ]  # fmt: skip
        survive = [
            (survive[j] if j < len(survive) else 0) + ((1 - value) * survive[j - 1] if j else 0)
            for j in range(len(survive) + 1)
        ]
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


def test_hazards_up_to_a_depth(rng):
    stops = rng.choice(STOPS[:5], 40)
    got = hazards(stops[None], TieGroups(np.array([0]), np.array([40]), (1, 40)), 7)[0]
    np.testing.assert_allclose(got[:7], exact_hazards(stops.tolist())[:7], rtol=1e-13)


def test_long_groups_neither_overflow_nor_take_all_ranks():
    # The chance to reach rank j is (1/2)^j at the most, which is 0 in float64 long before the last of these ranks.
    stops = np.full(20_000, 0.5)
    stops[:100] = 0.75
    got = hazards(stops[None], TieGroups(np.array([0]), np.array([20_000]), (1, 20_000)), 20_000)[0]
    assert got[0] == pytest.approx((100 * 0.75 + 19_900 * 0.5) / 20_000, rel=1e-13)
    assert np.isfinite(got).all()


def test_stop_probabilities_so_small_that_reading_never_ends():
    groups = TieGroups.from_tied(np.array([[False, True, True]]))
    value = hazards(np.array([[2e-307, 1e-307, 0.0]]), groups, 3)
    np.testing.assert_allclose(value, np.full((1, 3), (2e-307 + 1e-307) / 3), rtol=1e-12)

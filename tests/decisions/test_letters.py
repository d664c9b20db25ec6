"""Letters: exact for any pattern of differences, as few as possible for intervals, and with bounded work.

Through arrays, since patterns of differences cannot be chosen in reports.
"""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrank_metrics.decisions.decide import letters


def split(text):
    """Letters of one name; beyond the alphabet, they are numbers in parentheses."""
    return set(text.replace("(", " (").split()) if "(" in text else set(text)


def check(different):
    found = letters(different)
    assert len(found) == len(different)
    for i, j in itertools.combinations(range(len(found)), 2):
        assert bool(split(found[i]) & split(found[j])) != different[i, j]
    assert all(found)
    return found


@given(st.integers(1, 12), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_names_share_a_letter_exactly_if_they_are_not_different(n, share, seed):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < share, 1)
    check(upper | upper.T)


def test_letters_of_intervals_by_hand():
    # Names at 0, 1, 2 and 3 differ if they are more than 1 apart.
    places = np.arange(4)
    distances = np.abs(places[:, None] - places)
    assert check(distances > 1) == ["a", "ab", "bc", "c"]
    equal = np.zeros((5, 5), bool)
    assert set(check(equal)) == {"a"}
    found = check(~np.eye(54, dtype=bool))
    assert [found[25], found[51], found[53]] == ["z", "Z", "(54)"]


@pytest.mark.parametrize("n", [40, 200])
def test_near_twins_do_not_explode(n):
    # Pairs of twins that differ from each other only: 2^(n / 2) largest sets of names that do not differ.
    different = np.zeros((n, n), bool)
    different[np.arange(0, n, 2), np.arange(1, n, 2)] = different[
        np.arange(1, n, 2), np.arange(0, n, 2)
    ] = True
    started = time.process_time()
    found = letters(different)
    assert time.process_time() - started < 5
    assert len(set().union(*map(split, found))) < n
    if n == 40:
        check(different)

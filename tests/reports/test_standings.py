"""Letters of models that cannot be separated, and the sentence that says what to ship."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrank_metrics.reports._standings import letters, listed, verdict


@st.composite
def significant(draw):
    """Names and the pairs of them that differ."""
    names = [f"m{number}" for number in range(draw(st.integers(1, 7)))]
    return names, [pair for pair in combinations(names, 2) if draw(st.booleans())]


@given(significant())
def test_two_share_a_letter_if_and_only_if_they_do_not_differ(given):
    names, different = given
    found = letters(names, different)
    assert list(found) == names
    assert all(found.values())
    for pair in combinations(names, 2):
        one, other = (set(found[name]) for name in pair)
        assert bool(one & other) == (pair not in different)


@given(significant())
def test_no_letter_can_be_left_out(given):
    names, different = given
    found = letters(names, different)
    for letter in set("".join(found.values())):
        rest = {name: set(own) - {letter} for name, own in found.items()}
        lost = [pair for pair in combinations(names, 2) if pair not in different and not rest[pair[0]] & rest[pair[1]]]
        assert lost or not all(rest.values())


def test_letters_by_hand():
    # As in a table of an analysis of variance: neighbours do not differ, others do.
    chain = [pair for pair in combinations("wxyz", 2) if ord(pair[1]) - ord(pair[0]) > 1]
    assert letters("wxyz", chain) == {"w": "a", "x": "ab", "y": "bc", "z": "c"}
    assert letters("wxyz", []) == dict.fromkeys("wxyz", "a")
    assert letters("wxyz", combinations("wxyz", 2)) == {"w": "a", "x": "b", "y": "c", "z": "d"}
    # "w" and "y" differ, and both are like "x" and "z", which differ, too.
    assert letters("wxyz", [("w", "y"), ("x", "z")]) == {"w": "ab", "x": "ac", "y": "cd", "z": "bd"}


def test_many_models_have_letters_in_no_time():
    values = np.sort(np.random.default_rng(0).normal(size=60))
    names = [f"m{number}" for number in range(60)]
    pairs = [(names[i], names[j]) for i, j in combinations(range(60), 2) if values[j] - values[i] > 0.5]
    found = letters(names, pairs)
    assert found["m0"] == "a"
    assert len(set("".join(found.values()))) < 52


def test_more_groups_than_letters_have_numbers():
    names = [f"m{number}" for number in range(54)]
    found = letters(names, combinations(names, 2))
    assert [found["m25"], found["m26"], found["m51"], found["m53"]] == ["z", "A", "Z", "(54)"]


@pytest.mark.parametrize(
    ("open_to", "worse", "expected"),
    [
        ([], ["b"], "Ship a: by mrr, it is significantly better than b."),
        ([], ["b", "c"], "Ship a: by mrr, it is significantly better than b and c."),
        ([], list("bcde"), "Ship a: by mrr, it is significantly better than all 4 others."),
        (["b"], [], "Ship a or b: by mrr, a is ahead, but not significantly."),
        (["b", "c"], ["d"], "Ship a, b or c: by mrr, a is ahead, but not significantly; d is significantly worse."),
        (["b"], ["c", "d"], "Ship a or b: by mrr, a is ahead, but not significantly; c and d are significantly worse."),
        (list("bcde"), [], "Ship a or any of 4 models that are not significantly worse by mrr."),
        (
            list("bcde"),
            list("fghi"),
            "Ship a or any of 4 models that are not significantly worse by mrr; all 4 others are significantly worse.",
        ),
    ],
)
def test_verdict(open_to, worse, expected):
    assert verdict("a", open_to, worse, "mrr") == expected


@pytest.mark.parametrize(
    ("open_to", "level", "expected"),
    [
        (["b"], {"b": True}, "Ship a or b: by mrr, they are equal on every query."),
        (["b"], {"b": False}, "Ship a or b: by mrr, their means are equal."),
        (["b", "c"], {"b": True, "c": False}, "Ship a, b or c: by mrr, their means are equal."),
        (
            ["b", "c"],
            {"b": True},
            "Ship a, b or c: by mrr, a and b have equal means and are ahead, but not significantly.",
        ),
        (
            list("bcde"),
            dict.fromkeys("bcde", True),
            "Ship a or any of 4 others: by mrr, they are equal on every query.",
        ),
    ],
)
def test_verdict_on_equal_means(open_to, level, expected):
    assert verdict("a", open_to, [], "mrr", level) == expected


def test_names_in_a_sentence():
    assert [listed(list(names)) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]

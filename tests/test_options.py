"""Every public option has a test that is marked to hold it: changing the option changes the result as documented.

A test holds an option with ``@pytest.mark.option("QueryKFold.shuffle")``, and all options of a name with a pattern,
``@pytest.mark.option("metrics.*.k")``, if it runs over all that match.
"""

from support.options import TESTS, holds, marks, public_options

MARKS = marks()
OPTIONS = public_options()
NOT_HELD_YET = set((TESTS / "options_not_held_yet.txt").read_text(encoding="utf-8").split())


def test_every_option_has_a_test_that_holds_it():
    missing = [option for option in OPTIONS if not any(holds(mark, option) for mark in MARKS)]
    assert set(missing) - NOT_HELD_YET == set(), "mark the tests of these with pytest.mark.option, or write them"


def test_what_is_not_held_yet_is_an_option_without_a_test():
    assert {option for option in NOT_HELD_YET if any(holds(mark, option) for mark in MARKS)} == set()
    assert set(OPTIONS) >= NOT_HELD_YET


def test_marks_name_options_that_exist():
    assert [mark for mark in MARKS if not any(holds(mark, option) for option in OPTIONS)] == []


def test_tests_mention_the_options_that_they_hold():
    assert [mark for mark in MARKS if not mark.mentions] == []

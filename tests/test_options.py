"""Every public option has a test that is marked to hold it: changing the option changes the result as documented.

A test holds an option with ``@pytest.mark.option("QueryKFold.shuffle")``, and all options of a name with a pattern,
``@pytest.mark.option("metrics.*.k")``, if it runs over all that match.
"""

import pytest
from support.options import holds, marks, public_options

OPTIONS = public_options()


@pytest.fixture(scope="module")
def found():
    return marks()


def test_every_option_has_a_test_that_holds_it(found):
    missing = [option for option in OPTIONS if not any(holds(mark, option) for mark in found)]
    assert missing == [], "mark the tests of these with pytest.mark.option, or write them"


def test_marks_name_options_that_exist(found):
    assert [mark for mark in found if not any(holds(mark, option) for option in OPTIONS)] == []


def test_tests_mention_the_options_that_they_hold(found):
    assert [mark for mark in found if not mark.mentions] == []

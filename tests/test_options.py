"""Every option of metrics and splitters has a test that is marked to hold it: changing it changes the result.

A test holds an option with ``@pytest.mark.option("QueryKFold.shuffle")``, and all options of a name with a pattern,
``@pytest.mark.option("metrics.*.k")``, if it runs over all that match.
"""

from support.options import holds, marks, public_options

OPTIONS = public_options()


def test_every_option_has_a_test_that_holds_it():
    found = marks()
    missing = [option for option in OPTIONS if not any(holds(mark, option) for mark in found)]
    assert missing == [], "mark the tests of these with pytest.mark.option, or write them"


def test_marks_name_options_that_exist():
    covered = {option.partition(".")[0] for option in OPTIONS}
    found = [mark for mark in marks() if mark.partition(".")[0] in covered]
    assert [mark for mark in found if not any(holds(mark, option) for option in OPTIONS)] == []

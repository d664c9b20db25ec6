"""Slices and groups of queries."""

import pytest

from skrank_metrics import evaluate


@pytest.mark.parametrize("argument", ["qid", "by", "groups"])
def test_the_name_of_a_column_is_no_column(argument):
    given = {"qid": ["a", "a"], argument: "category"}
    message = rf"{argument} got the text 'category'\. Pass the column, df\['category'\]"
    with pytest.raises(TypeError, match=message):
        evaluate([1, 0], [2.0, 1.0], **given)
